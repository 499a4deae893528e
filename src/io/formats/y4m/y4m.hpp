// YUV4MPEG2 ("Y4M"): a line that says what all frames are, then frame after frame, each behind a
// line of its own. Frames are read as pages; a frame alone is a whole file of one page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::io {

// What the first line says.
struct Y4mHeader {
  Size size;
  int across = 2, down = 2;  // pixels that a sample of Cb and Cr stands for
  int bits = 8;
  bool mono = false, alpha = false, full_range = false;
  std::vector<std::string> words;  // all of the line, "YUV4MPEG2" aside, in their order

  std::int64_t sample_bytes() const { return bits > 8 ? 2 : 1; }
  std::int64_t chroma_width() const { return (size.width + across - 1) / across; }
  std::int64_t chroma_height() const { return (size.height + down - 1) / down; }
  // Bytes of a frame behind its line.
  std::int64_t frame_bytes() const {
    const std::int64_t chroma = mono ? 0 : 2 * chroma_width() * chroma_height();
    return (size.pixels() * (alpha ? 2 : 1) + chroma) * sample_bytes();
  }
};

inline constexpr std::string_view y4m_signature = "YUV4MPEG2";
inline constexpr std::size_t y4m_longest_line = 1024;

// `line`: without its end. Throws Error for what is no such line, or of colours that are not known.
Y4mHeader parse_y4m_header(std::string_view line);
// Throws Error, naming the frame (from 0), when this is no frame's line.
void check_y4m_frame_line(std::string_view line, std::int64_t frame);

// What probe says of such a file. pages: as many frames as begin in it.
ImageInfo y4m_info(const ByteSource& source);
ImageInfo info_of(const Y4mHeader& header);

}  // namespace impipe::io
