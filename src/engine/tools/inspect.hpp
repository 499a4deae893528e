// What a picture file holds, and how two of them differ.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/display_window.hpp"
#include "core/image.hpp"
#include "core/plan.hpp"
#include "io/picture/image_info.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

struct FileFacts {
  std::string format;  // "PNG"
  ImageType type;      // of the decoded image
  Size size;
  int orientation = 1;  // EXIF, 1 to 8
  int pages = 1;
  std::vector<io::PageAxis> axes = {};          // of the pages
  std::vector<io::MeasuredAxis> measured = {};  // of the image and of the pages
  std::string detail;                           // "8-bit palette, interlaced"
  std::optional<DisplayWindow> display = {};    // see io::ImageInfo
};
// Of stdin where the path is "-". Throws Error (file_failed) with the reason alone.
// axes: of an NPY, see io::Reading; so for what follows.
FileFacts inspect(const std::filesystem::path& path, const std::string& axes = "");

// "1/4, as 480x270": how --shrink-on-load reads the file for this plan; empty: as it is.
std::string shrunk_reading(const std::filesystem::path& path, const Plan& lowered,
                           const std::string& axes = "");

// Where a JPEG is decoded, and a JPEG of the result encoded, when a GPU computes; why, where that
// is by the processor. Empty for files of other formats.
std::string codec_note(const std::filesystem::path& path, const Plan& plan,
                       const std::string& axes = "");

// Throws Error where the result of the plan, of this size, can't be written: as `format` names it,
// an extension or a file's name, or in the file's own format where it names none.
void check_writable(const std::filesystem::path& path, const Plan& plan, Size size,
                    const std::string& format, const std::string& axes = "");

// What an image takes in memory, and why it can't be done some rows at a time. sizes: of all
// values.
std::string memory_note(const pipeline::Pipeline& pipeline, const Plan& lowered, const Plan& plan,
                        const std::vector<Size>& sizes);

struct DifferenceOptions {
  // Differences are fractions of white, where the images have one.
  double fail = 1e-6;       // a larger difference makes a pixel a failing one
  double fail_percent = 0;  // so many percent of the pixels may fail
  double hard_fail = -1;    // no pixel may differ by more; negative: no such limit
};

struct Difference {
  std::string unlike;  // not empty: why they cannot be compared ("640x480 and 320x240")
  double mean = 0, rms = 0, max = 0;
  std::int64_t max_x = 0, max_y = 0;
  int max_channel = 0;  // 3 or 1 is alpha: the one after the colours
  std::int64_t pixels = 0, failing = 0;
  bool same = true;  // within the limits
};
// NaN equals NaN, and is infinitely far from any number.
Difference compare(const HostImage& a, const HostImage& b, const DifferenceOptions& options);
// Without metadata; of stdin where the path is "-". Throws Error (file_failed) that names the file,
// also where single does not hold a value of it.
HostImage decode_file(const std::filesystem::path& path, const std::string& axes = "");

}  // namespace impipe::engine
