// Whether a picture can be computed some rows at a time, and which rows of the input that takes
// (decision 0053).
#pragma once

#include <string>

#include "engine/program/program.hpp"

namespace impipe::engine {

// Rows that a result's row reads above and below its own place.
struct Halo {
  std::int64_t up = 0, down = 0;
  bool operator==(const Halo&) const = default;
};

struct Banding {
  // Why the image is needed as a whole, "radon needs the whole image"; empty when it is not.
  std::string why_not;
  Halo halo;
  int measured_bytes = 0;  // a pixel, of all images that are measured
  bool measures() const { return measured_bytes > 0; }
};
Banding banding_of(const Program& program);

// Rows [y, y_end) of a result, and those of the input that make them.
struct Band {
  std::int64_t y = 0, y_end = 0;
  std::int64_t input_y = 0, input_end = 0;
  bool operator==(const Band&) const = default;
};
// The band whose result begins at row y, of an image of `height` rows: its input ends at a multiple
// of `step` rows, so that rows of tiles are read once, with `rows` rows after y or a few more.
Band band_at(std::int64_t y, std::int64_t height, const Halo& halo, std::int64_t rows,
             std::int64_t step);

}  // namespace impipe::engine
