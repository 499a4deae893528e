#include "io/files/slide_path.hpp"

#include <system_error>

#include "io/formats.hpp"

namespace impipe::io {

std::optional<SlidePart> slide_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path above = path.parent_path();
  if (!above.empty() && path.has_filename() && std::filesystem::is_regular_file(above, error)) {
    return SlidePart{above.string(), path.filename().string()};
  }
  if (format_of_extension(path.native()) != Format::slide) return {};
  return SlidePart{path.string(), "0"};
}

}  // namespace impipe::io
