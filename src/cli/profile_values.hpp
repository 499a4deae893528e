// What the forms of a profile have in common: its figures, and the JSON of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/batch/profile.hpp"

namespace impipe::cli {

inline constexpr double giga = 1e9;
inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// A part of the wall clock, and the limit that it is to be seen against.
struct WallBar {
  std::string key;   // of the JSON
  std::string name;  // as people read it
  double seconds = 0;
  std::string limit;
};
// In the order in which a file goes through them; none that did not happen.
std::vector<WallBar> wall_bars(const engine::Profile& profile);

struct StepFigures {
  double us_an_image = 0;
  double launches = 0;    // an image
  double speed = 0;       // bytes a second
  double share = 0;       // of a large copy's speed; never above 1
  bool in_cache = false;  // it would be above: what is read or written stays in a cache
};
StepFigures figures_of(const engine::StepProfile& step, double copy_speed);

nlohmann::ordered_json profile_value(const engine::Profile& profile);
// Names of files may hold any byte; invalid UTF-8 is replaced.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace impipe::cli
