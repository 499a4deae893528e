// What the headers of an EXR say of its parts, as they stand in the file. Read without OpenEXR.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// Bits of the word behind the magic number.
inline constexpr std::uint32_t tiled_flag = 0x200, deep_flag = 0x800, parts_flag = 0x1000;

struct ExrCompression {
  const char* name;
  int rows;  // that are stored together
};
inline constexpr ExrCompression exr_compressions[] = {
    {"no compression", 1}, {"RLE", 1},  {"ZIPS", 1},  {"ZIP", 16},  {"PIZ", 32},
    {"PXR24", 16},         {"B44", 32}, {"B44A", 32}, {"DWAA", 32}, {"DWAB", 256}};

struct ExrChannel {
  std::string name;
  ExrType type = ExrType::whole;
  std::uint64_t x_sampling = 1, y_sampling = 1;
  // "diffuse." of diffuse.R, and R.
  std::string layer() const { return name.substr(0, base_at()); }
  std::string base() const { return name.substr(base_at()); }
  size_t base_at() const { return name.rfind('.') == name.npos ? 0 : name.rfind('.') + 1; }
  bool is_full() const { return x_sampling == 1 && y_sampling == 1; }
};

// The header of one part.
struct ExrPart {
  std::vector<ExrAttribute> attributes;  // all, in their order
  std::string name, type;                // empty where the header has none
  std::vector<ExrChannel> channels;
  std::array<int, 4> data_window{}, display_window{};
  bool has_data_window = false, has_channels = false;
  std::uint64_t compression = 0, line_order = 0;
  float dwa_level = 45.0f, pixel_aspect = 1.0f;
  ExrTiles tiles;  // of no size where the part is of lines
  std::int64_t chunk_count = 0;
  bool is_deep = false;
  std::int64_t width() const { return std::int64_t{data_window[2]} - data_window[0] + 1; }
  std::int64_t height() const { return std::int64_t{data_window[3]} - data_window[1] + 1; }
  std::int64_t pixels() const { return width() * height(); }
  // How many rows of lines are stored together.
  int rows() const { return exr_compressions[compression].rows; }
};

struct ExrHeaders {
  std::vector<ExrPart> parts;  // one at least
  bool several = false;        // a file of parts, be it of one alone
  std::int64_t end = 0;        // the first byte after them
};
// Throws Error where they are damaged.
ExrHeaders read_exr_headers(const ByteSource& source);

// The number that the four bytes of an attribute's value stand for.
float exr_float(const std::string& value);
// Whether an attribute says how pixels are stored, which the writer of a file decides.
bool is_exr_structure(const std::string& name);

}  // namespace impipe::io
