// Lists of frame numbers as farms write them: 1-100x2,120.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace impipe {

struct FrameList {
  std::vector<std::int64_t> frames;  // in the order of the text
  bool has_range = false;            // "1-3" or "1,3", not "7" alone
};

// Numbers and ranges behind commas, each with a step behind an 'x' (1-100x2) or, as Open Job
// Description writes it, a ':'; behind a 'y' the frames that such a step leaves out, as in
// OpenImageIO. Nothing for other texts, ranges that run backwards, and for more than a million
// frames.
std::optional<FrameList> parse_frame_list(std::string_view text);

// "1-3, 7": of sorted numbers.
std::string frame_list_text(std::span<const std::int64_t> frames);

// With zeros in front up to so many digits: "0012", "-0003".
std::string frame_text(std::int64_t frame, int digits);

// The last number in a file's name before its extension, with a sign when it stands behind a point
// or alone: 12 of "shot2.0012.exr", -3 of "in.-0003.exr".
std::optional<std::int64_t> frame_number(const std::filesystem::path& file);

}  // namespace impipe
