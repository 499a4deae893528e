// OpenSlide reads files by name, some of them several files together, where the program hands the
// bytes of one to its codecs. A slide's bytes are therefore a note of where it lies.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

// A picture of a slide: a level of its pyramid ("0" is the largest), or an image with a name, such
// as the photograph of its label.
struct SlidePart {
  std::string file, part;
};

// Such a note. It holds a random number of this process, so that no file is taken for one.
Bytes slide_note(const SlidePart& slide);
bool is_slide_note(std::string_view head);

inline SlidePart part_of_note(std::span<const std::byte> note) {
  const std::string_view text = text_of(note), names = text.substr(text.find('\n') + 1);
  const std::size_t end = names.find('\0');
  return {std::string(names.substr(0, end)), std::string(names.substr(end + 1))};
}

}  // namespace impipe::io
