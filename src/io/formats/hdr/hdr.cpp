// Radiance HDR files: colours as three bytes with an exponent that they share.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/printable.hpp"
#include "io/formats/format_traits.hpp"

namespace impipe::io {
namespace {

struct HdrHeader {
  ImageInfo info;
  bool by_columns = false, bottom_up = false, right_to_left = false;
  std::int64_t data = 0;
};
constexpr int exponent_bias = 128 + 8;  // of the shared byte, and of a mantissa of 8 bits
constexpr std::int64_t shortest_packed = 8, longest_packed = 32767;  // pixels in a row

// A line of the header, without its end; moves `at` behind it.
std::string line_of(const std::string& text, size_t& at) {
  const size_t end = text.find('\n', at);
  if (end == text.npos) fail("damaged Radiance HDR: its header has no end");
  std::string line = text.substr(at, end - at);
  at = end + 1;
  return line;
}

// "-Y 480 +X 640": how lines follow each other and pixels in them, and how many there are. The
// first axis is that of the lines, which are columns where it is X.
void read_size(HdrHeader& header, const std::string& line) {
  char sign[2] = {}, axis[2] = {};
  long long count[2] = {};
  const int read = std::sscanf(line.c_str(), "%c%c %lld %c%c %lld", &sign[0], &axis[0], &count[0],
                               &sign[1], &axis[1], &count[1]);
  const auto is_axis = [&](int i) {
    return (axis[i] == 'X' || axis[i] == 'Y') && (sign[i] == '+' || sign[i] == '-');
  };
  if (read != 6 || !is_axis(0) || !is_axis(1) || axis[0] == axis[1]) {
    fail("damaged Radiance HDR: its size is '", printable(line.substr(0, 40)), "'");
  }
  const int x = axis[0] == 'X' ? 0 : 1;
  header.by_columns = x == 0;
  header.bottom_up = sign[1 - x] == '+';
  header.right_to_left = sign[x] == '-';
  header.info.stored = {count[x], count[1 - x]};
}

// Rows of RGBE, packed in one of the format's three ways.
class RowReader {
 public:
  RowReader(std::span<const std::byte> bytes, size_t at) : bytes_(bytes), at_(at) {}

  // 4 bytes a pixel.
  void read(std::vector<std::uint8_t>& row) {
    const std::int64_t width = static_cast<std::int64_t>(row.size() / 4);
    if (width >= shortest_packed && width <= longest_packed && starts_packed_row(width)) {
      at_ += 4;
      for (size_t c = 0; c < 4; ++c) read_channel(row, c);
      return;
    }
    int shift = 0;  // of the old run lengths: the count grows by a byte a time
    for (size_t x = 0; x < row.size();) {
      std::uint8_t pixel[4];
      for (std::uint8_t& value : pixel) value = take();
      if (pixel[0] != 1 || pixel[1] != 1 || pixel[2] != 1) {
        std::copy_n(pixel, 4, row.data() + x);
        x += 4;
        shift = 0;
        continue;
      }
      const size_t run = shift < 24 ? size_t{pixel[3]} << shift : row.size();
      if (x == 0 || run > (row.size() - x) / 4) fail("damaged Radiance HDR: a run too long");
      for (size_t n = 0; n < run; ++n, x += 4) std::copy_n(row.data() + x - 4, 4, row.data() + x);
      shift += 8;
    }
  }

 private:
  bool starts_packed_row(std::int64_t width) const {
    if (at_ + 4 > bytes_.size()) return false;
    const auto at = [&](size_t i) { return std::to_integer<int>(bytes_[at_ + i]); };
    return at(0) == 2 && at(1) == 2 && (at(2) << 8 | at(3)) == width;
  }
  void read_channel(std::vector<std::uint8_t>& row, size_t channel) {
    for (size_t x = channel; x < row.size();) {
      const unsigned code = take();
      const size_t count = code > 128 ? code - 128 : code;
      if (count == 0 || count > (row.size() - x + 3) / 4) {
        fail("damaged Radiance HDR: a run too long");
      }
      const std::uint8_t same = code > 128 ? take() : std::uint8_t{0};
      for (size_t n = 0; n < count; ++n, x += 4) row[x] = code > 128 ? same : take();
    }
  }
  std::uint8_t take() {
    if (at_ >= bytes_.size()) fail("truncated Radiance HDR: it ends at byte ", bytes_.size());
    return std::to_integer<std::uint8_t>(bytes_[at_++]);
  }

  std::span<const std::byte> bytes_;
  size_t at_;
};

// One channel of a packed row, in runs and literals.
void pack_channel(Bytes& out, const std::vector<std::uint8_t>& row, size_t channel) {
  const size_t width = row.size() / 4;
  const auto value = [&](size_t x) { return row[4 * x + channel]; };
  const auto run_at = [&](size_t x) {
    size_t n = 1;
    while (x + n < width && n < 127 && value(x + n) == value(x)) ++n;
    return n;
  };
  for (size_t x = 0; x < width;) {
    if (const size_t run = run_at(x); run >= 4) {
      out.push_back(static_cast<std::byte>(128 + run));
      out.push_back(static_cast<std::byte>(value(x)));
      x += run;
      continue;
    }
    const size_t begin = x;
    while (x < width && x - begin < 128 && (x == begin || run_at(x) < 4)) ++x;
    out.push_back(static_cast<std::byte>(x - begin));
    for (size_t i = begin; i < x; ++i) out.push_back(static_cast<std::byte>(value(i)));
  }
}

constexpr float most = 1.6947657e38f;  // 255 * 2^(255 - 136)

// The colour's bytes; what is below 0 or no number becomes 0.
void pack_colour(const float* rgb, std::uint8_t* to) {
  float clean[3];
  for (int c = 0; c < 3; ++c) clean[c] = rgb[c] > 0 ? std::min(rgb[c], most) : 0.0f;
  const float top = std::max({clean[0], clean[1], clean[2]});
  std::fill_n(to, 4, std::uint8_t{0});
  if (top < 1e-32f) return;
  int exponent = 0;
  std::frexp(top, &exponent);
  for (int c = 0; c < 3; ++c) {
    to[c] = static_cast<std::uint8_t>(std::ldexp(clean[c], 8 - exponent));
  }
  to[3] = static_cast<std::uint8_t>(exponent + 128);
}

HdrHeader hdr_header(const ByteSource& source) {
  constexpr std::int64_t longest = 1 << 16;
  const std::string text = source.read_some(0, longest);
  HdrHeader header;
  size_t at = 0;
  for (std::string line = line_of(text, at); !line.empty(); line = line_of(text, at)) {
    if (line == "FORMAT=32-bit_rle_xyze") {
      fail("Radiance HDR of CIE XYZ (32-bit_rle_xyze) is not supported; ra_xyze -r makes it RGB");
    }
    if (line.starts_with("FORMAT=") && !line.starts_with("FORMAT=32-bit_rle_rgbe")) {
      fail("Radiance HDR of '", printable(line.substr(7, 40)), "' is not supported");
    }
  }
  read_size(header, line_of(text, at));
  header.data = static_cast<std::int64_t>(at);
  header.info.type = {.cls = PixelClass::single, .channels = 3, .alpha = false, .white = 1};
  header.info.detail = "RGBE";
  const Size size = header.info.stored;
  if (size.width > 0 && size.height > 0 && size.width <= max_side && size.height <= max_side) {
    // Old run lengths repeat whole rows' pixels by 4 bytes, new ones 127 of a channel by two.
    const std::int64_t length = header.by_columns ? size.height : size.width;
    const std::int64_t lines = header.by_columns ? size.width : size.height;
    const bool may_pack = length >= shortest_packed && length <= longest_packed;
    header.info.min_bytes = header.data + lines * (may_pack ? 8 : 4);
    header.info.min_why = std::string(header.by_columns ? "a column" : "a row") + " has at least " +
                          (may_pack ? "8" : "4") + " bytes";
  }
  return header;
}

HostImage decode(const DecodeInput& input, Decoded&) {
  const HdrHeader header = hdr_header(ByteSource(input.file));
  const Size size = header.info.stored;
  HostImage image(header.info.type, size);
  const std::int64_t length = header.by_columns ? size.height : size.width;
  std::vector<std::uint8_t> line(4 * static_cast<size_t>(length));
  RowReader reader(input.file, static_cast<size_t>(header.data));
  for (std::int64_t i = 0; i < size.pixels() / length; ++i) {
    reader.read(line);
    for (std::int64_t j = 0; j < length; ++j) {
      const std::uint8_t* pixel = line.data() + 4 * j;
      const std::int64_t across = header.by_columns ? i : j, down = header.by_columns ? j : i;
      const std::int64_t x = header.right_to_left ? size.width - 1 - across : across;
      const std::int64_t y = header.bottom_up ? size.height - 1 - down : down;
      for (size_t c = 0; c < 3; ++c) {
        image.planes[c].row_as<float>(y)[x] =
            pixel[3] == 0 ? 0.0f
                          : std::ldexp(static_cast<float>(pixel[c]), pixel[3] - exponent_bias);
      }
    }
  }
  return image;
}

Bytes encode(HostImage& image, const EncodeInput&, Encoded& made) {
  const Size size = image.size();
  const std::string head = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " +
                           std::to_string(size.height) + " +X " + std::to_string(size.width) + "\n";
  Bytes out = bytes_of_text(head);
  const bool gray = image.type.channels == 1;
  std::vector<std::uint8_t> row(4 * static_cast<size_t>(size.width));
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (const Plane& plane : image.planes) {
      const auto* values = plane.row_as<float>(y);
      made.clipped += std::count_if(values, values + size.width,
                                    [](float value) { return !(value >= 0 && value <= most); });
    }
    for (std::int64_t x = 0; x < size.width; ++x) {
      float rgb[3];
      for (size_t c = 0; c < 3; ++c) rgb[c] = image.planes[gray ? 0 : c].row_as<float>(y)[x];
      pack_colour(rgb, row.data() + 4 * x);
    }
    if (size.width < shortest_packed || size.width > longest_packed) {
      for (const std::uint8_t value : row) out.push_back(static_cast<std::byte>(value));
      continue;
    }
    append(out, "\2\2" + big(static_cast<std::uint64_t>(size.width), 2));
    for (size_t c = 0; c < 4; ++c) pack_channel(out, row, c);
  }
  return out;
}

// A line "NAME=value" of a Radiance header.
void read_hdr_variable(const std::string& line, MetadataRead& out) {
  const size_t equals = line.find('=');
  const std::string name = line.substr(0, equals);
  const bool is_name =
      equals != line.npos && !name.empty() && name.find_first_of(" \t") == name.npos;
  if (!is_name) return out.lose("its history");  // a program and its arguments
  if (name == "FORMAT" || name == "SOFTWARE") return;
  if (name == "PIXASPECT") {
    const double aspect = std::strtod(line.c_str() + equals + 1, nullptr);  // height over width
    if (aspect > 0 && aspect < 1e6 && aspect != 1) {
      out.metadata.resolution = Resolution{aspect, 1, Resolution::Unit::none};
    }
    return;
  }
  out.lose(name);
}

MetadataRead read_metadata(const MetadataInput& input) {
  MetadataRead out;
  const std::string_view text = text_of(input.file);
  for (size_t at = text.find('\n'); at != text.npos;) {
    const size_t end = std::min(text.find('\n', at + 1), text.size());
    const std::string line(text.substr(at + 1, end - at - 1));
    if (line.empty() || end == text.size()) break;
    if (line.front() == '#') {
      out.metadata.comments.push_back(
          line.substr(std::min(line.find_first_not_of("# "), line.size())));
    } else {
      read_hdr_variable(line, out);
    }
    at = end;
  }
  return out;
}

}  // namespace

const FormatTraits hdr_format{
    .format = Format::hdr,
    .name = "Radiance HDR",
    .extensions = "hdr rgbe pic",
    .can = {Can::floats},
    .lossy = true,
    .sniff =
        [](std::string_view head) {
          return head.starts_with("#?RADIANCE") || head.starts_with("#?RGBE");
        },
    .header = [](const HeaderInput& input) { return hdr_header(input.source).info; },
    .decode = decode,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
