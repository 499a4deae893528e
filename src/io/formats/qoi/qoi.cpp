// QOI files, read and written as the format's one page specifies (qoiformat.org).
#include <array>
#include <cstring>

#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

constexpr size_t header_bytes = 14;
constexpr size_t end_bytes = 8;
constexpr int longest_run = 62;  // pixels

struct Pixel {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  bool operator==(const Pixel&) const = default;
  size_t hash() const { return (r * 3u + g * 5u + b * 7u + a * 11u) % 64; }
};

std::uint8_t wrapped(int value) { return static_cast<std::uint8_t>(value & 255); }

// Makes one pixel after another of the codes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Pixel next() {
    if (run_ > 0) {
      --run_;
      return pixel_;
    }
    const int code = take();
    if (code >= 0xfe) {
      pixel_.r = wrapped(take());
      pixel_.g = wrapped(take());
      pixel_.b = wrapped(take());
      if (code == 0xff) pixel_.a = wrapped(take());
    } else if (code >> 6 == 0) {
      pixel_ = seen_[static_cast<size_t>(code)];
    } else if (code >> 6 == 1) {
      add((code >> 4 & 3) - 2, (code >> 2 & 3) - 2, (code & 3) - 2);
    } else if (code >> 6 == 2) {
      const int green = (code & 63) - 32, rest = take();
      add(green - 8 + (rest >> 4), green, green - 8 + (rest & 15));
    } else {
      run_ = code & 63;
    }
    seen_[pixel_.hash()] = pixel_;
    return pixel_;
  }

 private:
  int take() {
    if (at_ >= bytes_.size()) fail("truncated QOI: it ends at byte ", bytes_.size());
    return std::to_integer<int>(bytes_[at_++]);
  }
  void add(int r, int g, int b) {
    pixel_.r = wrapped(pixel_.r + r);
    pixel_.g = wrapped(pixel_.g + g);
    pixel_.b = wrapped(pixel_.b + b);
  }

  std::span<const std::byte> bytes_;
  size_t at_ = header_bytes;
  int run_ = 0;
  Pixel pixel_;
  std::array<Pixel, 64> seen_{Pixel{0, 0, 0, 0}};
};

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  void put(Pixel pixel) {
    if (pixel == last_) {
      if (++run_ == longest_run) end_run();
      return;
    }
    end_run();
    Pixel& seen = seen_[pixel.hash()];
    if (seen == pixel) {
      byte(static_cast<int>(pixel.hash()));
    } else {
      put_new(pixel);
    }
    seen = pixel;
    last_ = pixel;
  }
  void end_run() {
    if (run_ > 0) byte(0xc0 + run_ - 1);
    run_ = 0;
  }

 private:
  void byte(int value) { out_.push_back(static_cast<std::byte>(value)); }
  void put_new(Pixel p) {
    const auto difference = [](std::uint8_t a, std::uint8_t b) {
      return static_cast<int>(static_cast<std::int8_t>(wrapped(a - b)));
    };
    const int r = difference(p.r, last_.r), g = difference(p.g, last_.g),
              b = difference(p.b, last_.b);
    const auto within = [](int value, int low, int high) { return value >= low && value <= high; };
    if (p.a != last_.a) {
      for (const int value : {0xff, int{p.r}, int{p.g}, int{p.b}, int{p.a}}) byte(value);
    } else if (within(r, -2, 1) && within(g, -2, 1) && within(b, -2, 1)) {
      byte(0x40 | (r + 2) << 4 | (g + 2) << 2 | (b + 2));
    } else if (within(g, -32, 31) && within(r - g, -8, 7) && within(b - g, -8, 7)) {
      byte(0x80 | (g + 32));
      byte((r - g + 8) << 4 | (b - g + 8));
    } else {
      for (const int value : {0xfe, int{p.r}, int{p.g}, int{p.b}}) byte(value);
    }
  }

  Bytes& out_;
  int run_ = 0;
  Pixel last_;
  std::array<Pixel, 64> seen_{Pixel{0, 0, 0, 0}};
};

ImageInfo qoi_header(const ByteSource& source) {
  const std::string head = source.read(0, header_bytes);
  ImageInfo info;
  info.stored = size_of(big_at(head, 4, 4), big_at(head, 8, 4));
  const auto channels = big_at(head, 12, 1);
  if (channels != 3 && channels != 4) fail("damaged QOI: ", channels, " channels");
  info.type = type_of(PixelClass::uint8, 3, channels == 4);
  info.detail = depth_text(8);
  constexpr std::int64_t most = std::int64_t{1} << 48;  // keeps the product within 64 bits
  if (info.stored.width < max_side && info.stored.pixels() < most) {
    info.min_bytes = static_cast<std::int64_t>(header_bytes) + info.stored.pixels() / longest_run;
    info.min_why = "QOI has at least a byte for 62 pixels";
  }
  return info;
}

HostImage decode(const DecodeInput& input, Decoded&) {
  const ImageInfo info = qoi_header(ByteSource(input.file));
  HostImage image(info.type, info.stored);
  RowSplitter splitter(image);
  const size_t channels = info.type.alpha ? 4 : 3;
  std::vector<std::uint8_t> row(channels * static_cast<size_t>(info.stored.width));
  Reader reader(input.file);
  for (std::int64_t y = 0; y < info.stored.height; ++y) {
    for (size_t at = 0; at < row.size(); at += channels) {
      const Pixel pixel = reader.next();
      std::memcpy(row.data() + at, &pixel, channels);
    }
    splitter.put(row.data(), y);
  }
  return image;
}

Bytes encode(HostImage& image, const EncodeInput&, Encoded&) {
  const Size size = image.size();
  constexpr char srgb_with_linear_alpha = 0;
  Bytes out = bytes_of_text("qoif" + big(static_cast<std::uint64_t>(size.width), 4) +
                            big(static_cast<std::uint64_t>(size.height), 4) +
                            (image.type.alpha ? '\4' : '\3') + srgb_with_linear_alpha);
  Writer writer(out);
  const bool gray = image.type.channels == 1;
  for (std::int64_t y = 0; y < size.height; ++y) {
    const auto row = [&](size_t c) { return image.planes[gray ? 0 : c].row_as<std::uint8_t>(y); };
    const std::uint8_t *r = row(0), *g = row(1), *b = row(2);
    const std::uint8_t* a = image.type.alpha ? image.alpha.row_as<std::uint8_t>(y) : nullptr;
    for (std::int64_t x = 0; x < size.width; ++x) {
      writer.put({r[x], g[x], b[x], a == nullptr ? std::uint8_t{255} : a[x]});
    }
  }
  writer.end_run();
  out.resize(out.size() + end_bytes - 1);
  out.push_back(std::byte{1});
  return out;
}

MetadataRead read_metadata(const MetadataInput& input) {
  constexpr std::int64_t space_at = 13;
  MetadataRead out;
  const bool linear = big_at(ByteSource(input.file).read_some(space_at, 1), 0, 1) == 1;
  if (linear) out.lose("that its colours are linear");
  return out;
}

}  // namespace

const FormatTraits qoi_format{
    .format = Format::qoi,
    .name = "QOI",
    .extensions = "qoi",
    .can = {Can::eight, Can::alpha},
    .sniff = [](std::string_view head) { return head.starts_with("qoif"); },
    .header = [](const HeaderInput& input) { return qoi_header(input.source); },
    .decode = decode,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
