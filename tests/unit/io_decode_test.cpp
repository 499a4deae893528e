// Decoding: every kind of file in tests/data/io (made by other programs, see make.py there), and
// the whole message for every way in which a file can be broken.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <random>

#include "core/error.hpp"
#include "io/codec.hpp"
#include "io/files/read_picture.hpp"

namespace impipe::io {
namespace {

const std::filesystem::path data = IMPIPE_TEST_DATA "/io";

Decoded decode_file(const std::string& name, const DecodeOptions& options = {}) {
  return decode(read_picture(data / name), options);
}

// The formula of make.py.
int sample(std::int64_t x, std::int64_t y, int c) {
  return static_cast<int>((37 * x + 91 * y + 53 * c + 11) % 256);
}

double value_at(const Plane& plane, std::int64_t x, std::int64_t y) {
  switch (plane.cls()) {
    case PixelClass::uint16: return plane.row_as<std::uint16_t>(y)[x];
    case PixelClass::single: return plane.row_as<float>(y)[x];
    default: return plane.row_as<std::uint8_t>(y)[x];
  }
}

// What a picture should hold at x, y, channel; alpha is the channel after the colours.
using Expected = std::function<double(std::int64_t, std::int64_t, int)>;

double in_class(PixelClass cls, std::int64_t x, int v) {
  switch (cls) {
    case PixelClass::logical: return v > 127;
    case PixelClass::uint8: return v;
    case PixelClass::uint16: return std::max<double>(v * 257 - static_cast<double>(x), 0);
    case PixelClass::single: return static_cast<float>(v) / 255.0f;
  }
  return 0;
}

void expect_pixels(const std::string& name, const HostImage& image, const Expected& expected,
                   double tolerance = 0) {
  double worst = 0;
  const int channels = image.type.channels;
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    for (std::int64_t x = 0; x < image.size().width; ++x) {
      for (int c = 0; c < channels + (image.type.alpha ? 1 : 0); ++c) {
        const Plane& plane = c < channels ? image.planes[static_cast<size_t>(c)] : image.alpha;
        const double value = value_at(plane, x, y);
        worst = std::max(worst, std::abs(value - expected(x, y, c)));
      }
    }
  }
  EXPECT_LE(worst, tolerance) << name;
}

TEST(Decode, ExactFormats) {
  struct Row {
    const char* file;
    const char* type;
    const char* detail;
  };
  const Row rows[] = {
      {"gray8.png", "uint8 x1, white 255", "8-bit"},
      {"rgb8.png", "uint8 x3, white 255", "8-bit"},
      {"rgba8.png", "uint8 x3 + alpha, white 255", "8-bit"},
      {"gray_alpha8.png", "uint8 x1 + alpha, white 255", "8-bit"},
      {"gray16.png", "uint16 x1, white 65535", "16-bit"},
      {"rgb16.png", "uint16 x3, white 65535", "16-bit"},
      {"rgba16.png", "uint16 x3 + alpha, white 65535", "16-bit"},
      {"gray_alpha16.png", "uint16 x1 + alpha, white 65535", "16-bit"},
      {"bit1.png", "logical x1, white 1", "1-bit"},
      {"interlaced.png", "uint8 x3, white 255", "8-bit palette, interlaced"},
      {"interlaced_alpha.png", "uint8 x3 + alpha, white 255", "8-bit palette, interlaced"},
      {"rgb8.tif", "uint8 x3, white 255", "8-bit, LZW"},
      {"gray8.tif", "uint8 x1, white 255", "8-bit, no compression"},
      {"gray16.tif", "uint16 x1, white 65535", "16-bit, LZW, predictor 2"},
      {"rgb16.tif", "uint16 x3, white 65535", "16-bit, LZW, predictor 2"},
      {"float.tif", "single x1, white 1", "32-bit float, no compression"},
      {"bit1.tif", "logical x1, white 1", "1-bit, CCITT group 4"},
      {"rgba8.tif", "uint8 x3 + alpha, white 255", "8-bit, no compression"},
      {"tiled.tif", "uint8 x3, white 255", "8-bit, deflate, predictor 2"},
      {"planar.tif", "uint8 x3, white 255", "8-bit, deflate, predictor 2"},
      {"gray8.bmp", "uint8 x1, white 255", "8-bit palette"},
      {"rgb8.bmp", "uint8 x3, white 255", "24-bit"},
      {"rgb8.webp", "uint8 x3, white 255", "lossless"},
      {"rgba8.webp", "uint8 x3 + alpha, white 255", "lossless"},
      {"plain.pgm", "uint8 x1, white 255", "8-bit, plain"},
      {"plain.ppm", "uint8 x3, white 255", "8-bit, plain"},
      {"plain.pbm", "logical x1, white 1", "1-bit, plain"},
      {"raw.pbm", "logical x1, white 1", "1-bit"},
      {"raw.pgm", "uint8 x1, white 255", "8-bit"},
      {"raw.ppm", "uint8 x3, white 255", "8-bit"},
      {"raw16.pgm", "uint16 x1, white 65535", "16-bit"},
      {"little.pfm", "single x1, white 1", "32-bit float"},
      {"big.pfm", "single x3, white 1", "32-bit float"},
      {"rgb.exr", "single x3, white 1", "32-bit float, ZIP"},
      {"gray.exr", "single x1, white 1", "32-bit float, ZIP"},
      {"gray8.npy", "uint8 x1, white 255", "8-bit"},
      {"version2.npy", "uint8 x1, white 255", "8-bit"},
      {"rgb8.npy", "uint8 x3, white 255", "8-bit"},
      {"rgba8.npy", "uint8 x4, white 255", "8-bit, axes YXC (guessed)"},
      {"gray_alpha8.npy", "uint8 x2, white 255", "8-bit, axes YXC (guessed)"},
      {"one_channel.npy", "uint8 x1, white 255", "8-bit"},
      {"gray16_big.npy", "uint16 x1, white 65535", "16-bit"},
      {"float32.npy", "single x1, white 1", "32-bit float"},
      {"float64_big.npy", "single x1, white 1", "64-bit float"},
      {"bool.npy", "logical x1, white 1", "1-bit"},
      {"fortran.npy", "uint8 x3, white 255", "8-bit, Fortran order"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    const Decoded decoded = decode_file(row.file);
    const ImageInfo header = probe(data / row.file);
    EXPECT_EQ(to_string(decoded.image.type), row.type);
    EXPECT_EQ(header.type, decoded.image.type) << "probe promised something else";
    EXPECT_EQ(header.size(), decoded.image.size());
    EXPECT_EQ(decoded.info.detail, row.detail);
    EXPECT_EQ(decoded.image.size(), (Size{7, 5}));
    const PixelClass cls = decoded.image.type.cls;
    expect_pixels(row.file, decoded.image,
                  [&](auto x, auto y, int c) { return in_class(cls, x, sample(x, y, c)); });
  }
}

TEST(Decode, FewBitsPalettesAndTransparency) {
  expect_pixels("gray4.png", decode_file("gray4.png").image,
                [](auto x, auto y, int) { return (sample(x, y, 0) >> 4) * 17; });
  expect_pixels("maxval100.pgm", decode_file("maxval100.pgm").image, [](auto x, auto, int) {
    return x == 0 ? 0 : x == 1 ? 128 : 255;
  });
  for (const char* name : {"row.npy", "int32.npy"}) {
    expect_pixels(name, decode_file(name).image,
                  [](auto x, auto y, int) { return sample(x, y, 0); });
  }
  EXPECT_EQ(to_string(decode_file("int32.npy").image.type), "single x1, no white");
  const int colours[4][4] = {{0, 0, 0, 0}, {255, 0, 0, 128}, {0, 255, 0, 255}, {10, 20, 30, 255}};
  for (const char* name : {"palette.png", "palette_trns.png", "palette.tif"}) {
    const HostImage image = decode_file(name).image;
    EXPECT_EQ(image.type.alpha, std::string(name) == "palette_trns.png");
    expect_pixels(name, image,
                  [&](auto x, auto y, int c) { return colours[sample(x, y, 0) % 4][c]; });
  }
  expect_pixels("gray_trns.png", decode_file("gray_trns.png").image, [](auto x, auto y, int c) {
    return c == 0 ? sample(x, y, 0) : sample(x, y, 0) == sample(0, 0, 0) ? 0 : 255;
  });
}

TEST(Decode, AssociatedAlphaBecomesStraight) {
  const HostImage image = decode_file("associated.tif").image;
  ASSERT_TRUE(image.type.alpha);
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 7; ++x) {
      const int alpha = sample(x, y, 3);
      EXPECT_EQ(image.alpha.row_as<std::uint8_t>(y)[x], alpha);
      if (alpha == 0) continue;
      for (int c = 0; c < 3; ++c) {
        // Stored was the product, rounded to 8 bits.
        EXPECT_NEAR(value_at(image.planes[static_cast<size_t>(c)], x, y), sample(x, y, c),
                    0.5 + 127.5 / alpha);
      }
    }
  }
}

// make.py's smooth picture.
double ramp(std::int64_t x, std::int64_t y, int c) {
  const int first = static_cast<int>((4 * x + 5 * y) % 256);
  return c == 0 ? first : c == 1 ? 255 - first : first / 2 + 64;
}

TEST(Decode, LossyFormatsAndInks) {
  struct Row {
    const char* file;
    const char* detail;
    double tolerance;
  };
  const Row rows[] = {{"gray.jpg", "8-bit", 4},
                      {"rgb.jpg", "8-bit", 6},
                      {"progressive.jpg", "8-bit, progressive", 6},
                      {"cmyk.jpg", "8-bit CMYK", 10},
                      {"cmyk.tif", "8-bit CMYK, no compression", 2},
                      {"lossy.webp", "lossy", 20}};
  for (const Row& row : rows) {
    const Decoded decoded = decode_file(row.file);
    EXPECT_EQ(decoded.info.detail, row.detail);
    EXPECT_EQ(decoded.info.lossy, std::string(row.file) != "cmyk.tif");
    EXPECT_EQ(decoded.image.size(), (Size{32, 24}));
    expect_pixels(row.file, decoded.image, ramp, row.tolerance);
  }
}

TEST(Decode, EveryOrientationComesOutUpright) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const char* kind : {"png", "tif", "webp", "jpg"}) {
      const std::string name = "orient" + std::to_string(orientation) + "." + kind;
      const Decoded decoded = decode_file(name);
      EXPECT_EQ(decoded.info.orientation, orientation) << name;
      EXPECT_EQ(probe(data / name).size(), decoded.image.size()) << name;
      const bool jpeg = std::string(kind) == "jpg";
      ASSERT_EQ(decoded.image.size(), (jpeg ? Size{32, 24} : Size{7, 5})) << name;
      if (jpeg) {
        expect_pixels(name, decoded.image, ramp, 4);
      } else {  // WebP has an alpha plane, which turns too
        expect_pixels(name, decoded.image, [](auto x, auto y, int c) { return sample(x, y, c); });
      }
    }
  }
}

TEST(Decode, BrokenFilesSayWhy) {
  struct Row {
    const char* file;
    const char* message;
  };
  const Row rows[] = {
      {"broken_half.png", "truncated PNG: it ends at byte 55"},
      {"broken_no_end.png", "truncated PNG: it ends at byte 81"},
      {"broken_header.png", "truncated PNG: the header ends at byte 9"},
      {"broken_crc.png", "damaged PNG: IDAT: incorrect data check"},
      {"broken_half.jpg", "truncated JPEG: Premature end of JPEG file"},
      {"broken_no_end.jpg", "truncated JPEG: Premature end of JPEG file"},
      {"broken_header.jpg", "truncated JPEG: the header ends at byte 86"},
      {"broken_half.tif", "truncated TIFF: the header ends at byte 97"},
      {"broken_data.tif", "truncated TIFF: got 19 bytes, expected 35"},
      {"broken_half.bmp", "truncated BMP: 121 bytes, 171 needed"},
      {"broken_half.webp", "truncated WebP: it ends at byte 36"},
      {"broken_half.exr", "truncated EXR: it ends at byte 488"},
      {"broken_half.ppm", "truncated PNM: 70 bytes of pixels, 105 needed"},
      {"broken_half.pgm", "truncated PNM: the text ends before the last pixel"},
      {"broken_half.pfm", "truncated PFM: 94 bytes of pixels, 140 needed"},
      {"broken_half.npy", "truncated NPY: 81 bytes of pixels, 105 needed"},
      {"empty.png", "empty file"},
      {"garbage.png", "not an image (starts with '\\x05N\\x97\\xe0)r\\xbb\\x04')"},
      {"text.png", "not an image (starts with 'hello, I')"},
      {"missing.png", "no such file"},
      {".", "is a directory"},
      {"four_d.npy",
       "NPY of shape (2, 1, 2, 8) does not say what its axes are; give --axes, a letter for each, "
       "as TZCYX"},
      {"bomb.png",
       "too many pixels: 100000x100000 is more than the limit of 1073741824 (--max-pixels)"},
      {"bomb.npy",
       "too many pixels: 4000000x4000000 is more than the limit of 1073741824 (--max-pixels)"},
      {"wide.pgm", "too large: a side of 99999999x1 exceeds 16777215 pixels"},
  };
  for (const Row& row : rows) {
    const std::int64_t peak = plane_memory().peak;
    testing::internal::CaptureStderr();
    try {
      decode_file(row.file);
      ADD_FAILURE() << row.file << " was decoded";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), row.message) << row.file;
      EXPECT_EQ(error.code(), ExitCode::file_failed) << row.file;
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << row.file;
    EXPECT_LT(plane_memory().peak - peak, 1 << 20) << row.file;
  }
}

TEST(Decode, EveryPrefixOfAFileIsAnErrorAndNeverACrash) {
  for (const char* name :
       {"rgb8.png", "interlaced_alpha.png", "gray.jpg", "rgb8.tif", "tiled.tif", "bit1.tif",
        "rgba8.webp", "rgb8.bmp", "rgb.exr", "raw.ppm", "rgb8.npy"}) {
    const Bytes whole = read_picture(data / name);
    for (size_t length = 16; length < whole.size(); length += 1 + whole.size() / 97) {
      const std::span<const std::byte> part(whole.data(), length);
      EXPECT_THROW(
          {
            const Decoded decoded = decode(part);
            // TIFF, WebP and BMP may end in bytes that the picture does not need.
            const Format format = decoded.info.format;
            if (decoded.image.size() == probe(whole).size() &&
                (format == Format::tiff || format == Format::webp ||
                 (format == Format::bmp && length + 4 > whole.size()))) {
              throw Error("complete", ExitCode::file_failed);
            }
          },
          Error)
          << name << ", " << length << " bytes";
    }
  }
}

std::vector<std::filesystem::path> all_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    if (is_picture(entry.path())) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Decode, DamagedFilesGiveAnErrorOrAPictureOfTheSizePromised) {
  std::mt19937 random(2024);
  const char* times = std::getenv("IMPIPE_TEST_MUTATIONS");  // more of them, by hand
  const int mutations = times != nullptr ? std::atoi(times) : 10;
  for (const auto& path : all_files()) {
    const Bytes whole = read_picture(path);
    for (int i = 0; i < mutations; ++i) {
      Bytes damaged = whole;
      for (int change = 0; change <= i % 4; ++change) {
        const size_t at = i % 3 == 0 ? random() % std::min<size_t>(damaged.size(), 64)
                                     : random() % damaged.size();
        damaged[at] = static_cast<std::byte>(i % 2 == 0 ? random() : 0xff);
      }
      try {
        const Decoded decoded = decode(damaged, {.max_pixels = 1 << 20});
        EXPECT_EQ(decoded.image.size(), probe(damaged).size()) << path;
      } catch (const Error&) {  // anything else thrown fails the test
      }
    }
  }
}

// All bytes of the pixels and of the alpha.
std::string bytes_of_image(const HostImage& image) {
  std::string out;
  Planes planes = image.planes;
  planes.push_back(image.alpha);
  for (const Plane& plane : planes) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      out.append(reinterpret_cast<const char*>(plane.row(y)),
                 static_cast<size_t>(plane.row_bytes()));
    }
  }
  return out;
}

// What decoding makes when the memory that it gets is full of `fill`; empty for an error.
std::string decoded_over(const Bytes& bytes, int fill) {
  release_plane_memory();
  {
    // Small planes come from blocks of whole pages, four to each size up to 64 KiB.
    Planes planes;
    for (std::int64_t size = 4096; size <= 65536; size += 4096) {
      for (int i = 0; i < 4; ++i) {
        planes.emplace_back(PixelClass::uint8, Size{size - 100, 1});
        std::memset(planes.back().row(0), fill, static_cast<size_t>(size - 100));
      }
    }
  }
  try {
    return bytes_of_image(decode(bytes, {.max_pixels = 1 << 16}).image);
  } catch (const Error&) {
    return {};
  }
}

// A TIFF of 8x4 pixels with a palette and a straight alpha.
Bytes palette_with_alpha() {
  Bytes out;
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  put(0x002a4949, 4);
  put(8, 4);
  const std::uint32_t directory_end = 8 + 2 + 11 * 12 + 4;
  const std::uint32_t entries[][4] = {{256, 3, 1, 8},          {257, 3, 1, 4},
                                      {258, 3, 2, 0x00080008}, {259, 3, 1, 1},
                                      {262, 3, 1, 3},          {273, 4, 1, directory_end},
                                      {277, 3, 1, 2},          {278, 3, 1, 4},
                                      {279, 4, 1, 64},         {320, 3, 768, directory_end + 64},
                                      {338, 3, 1, 2}};
  put(11, 2);
  for (const auto& [tag, type, count, value] : entries) {
    put(tag, 2), put(type, 2), put(count, 4), put(value, 4);
  }
  put(0, 4);
  for (int i = 0; i < 32; ++i) put(static_cast<std::uint64_t>(i), 1), put(255 - i, 1);
  for (int i = 0; i < 768; ++i) put(static_cast<std::uint64_t>(257 * (i % 256)), 2);
  return out;
}

TEST(Decode, PalettesOfTiffHaveAlphaToo) {
  const Bytes bytes = palette_with_alpha();
  EXPECT_EQ(to_string(probe(bytes).type), "uint8 x3 + alpha, white 255");
  expect_pixels("palette and alpha", decode(bytes).image, [](auto x, auto y, int c) {
    return static_cast<double>(c < 3 ? 8 * y + x : 255 - 8 * y - x);
  });
}

TEST(Decode, NoByteOfAnImageIsLeftUnwritten) {
  std::vector<Bytes> files{palette_with_alpha()};
  for (const auto& path : all_files()) files.push_back(read_picture(path));
  std::mt19937 random(7);
  for (size_t i = 0, count = files.size(); i < count; ++i) {
    for (int damages = 0; damages < 4; ++damages) {
      Bytes damaged = files[i];
      for (int change = 0; change <= damages % 2; ++change) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      }
      files.push_back(std::move(damaged));
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(decoded_over(files[i], 0x5a), decoded_over(files[i], 0xa5)) << "file " << i;
  }
}

TEST(Decode, ThreadsDoNotDisturbEachOther) {
  const auto sums = [] {
    std::vector<double> out;
    for (const auto& path : all_files()) {
      double sum = -1;
      try {
        const Decoded decoded = decode(read_picture(path));
        const HostImage& image = decoded.image;
        sum = static_cast<double>(decoded.metadata.exif.size() + decoded.metadata.icc.size());
        for (std::int64_t y = 0; y < image.size().height; ++y) {
          for (std::int64_t x = 0; x < image.size().width; ++x) {
            sum += value_at(image.planes.front(), x, y) * static_cast<double>(x + 7 * y);
          }
        }
      } catch (const Error&) {
      }
      out.push_back(sum);
    }
    return out;
  };
  const std::vector<double> alone = sums();
  std::vector<std::future<std::vector<double>>> others;
  for (int i = 0; i < 4; ++i) others.push_back(std::async(std::launch::async, sums));
  for (auto& other : others) EXPECT_EQ(other.get(), alone);
}

TEST(Decode, TheLimitOfPixelsIsExact) {
  EXPECT_NO_THROW(decode_file("rgb8.png", {.max_pixels = 35}));
  EXPECT_THROW(decode_file("rgb8.png", {.max_pixels = 34}), Error);
}

// A classic TIFF of one directory, in memory by holes: the pixels of 65 planes of 64 MiB begin at
// byte 4096, as ImageJ writes a stack.
class HugeStack {
 public:
  static constexpr std::int64_t side = 8192, planes = 65, begin = 4096;

  HugeStack() : file_(memfd_create("stack", 0)), size_(begin + planes * side * side) {
    std::string out("II*\0\x08\0\0\0", 8);
    const auto add = [&](std::uint64_t value, int bytes) {
      for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    };
    const std::string text = "ImageJ=1.53t\nimages=65\n";
    const std::uint32_t entries[][4] = {
        {256, 4, 1, side}, {257, 4, 1, side},       {258, 3, 1, 8},     {259, 3, 1, 1},
        {262, 3, 1, 1},    {270, 2, 25, 512},       {273, 4, 1, begin}, {277, 3, 1, 1},
        {278, 4, 1, side}, {279, 4, 1, side * side}};
    add(std::size(entries), 2);
    for (const auto& [tag, type, count, value] : entries) {
      add(tag, 2);
      add(type, 2);
      add(count, 4);
      add(value, 4);
    }
    out.resize(512);
    out += text;
    EXPECT_EQ(ftruncate(file_, size_), 0);
    put(out, 0);
    bytes_ = mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_SHARED, file_, 0);
    EXPECT_NE(bytes_, MAP_FAILED);
  }
  ~HugeStack() {
    munmap(bytes_, static_cast<size_t>(size_));
    close(file_);
  }
  HugeStack(const HugeStack&) = delete;
  HugeStack& operator=(const HugeStack&) = delete;

  void put(std::string_view text, std::int64_t at) const {
    EXPECT_EQ(pwrite(file_, text.data(), text.size(), at), static_cast<ssize_t>(text.size()));
  }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(bytes_), static_cast<size_t>(size_)};
  }

 private:
  int file_;
  std::int64_t size_;
  void* bytes_ = nullptr;
};

TEST(Decode, PlanesOfATiffLieBehind4GiB) {
  const HugeStack stack;
  const std::int64_t last = HugeStack::begin + 64 * HugeStack::side * HugeStack::side;
  ASSERT_GT(last, std::int64_t{1} << 32);
  stack.put("last", last);
  EXPECT_EQ(probe(stack.bytes()).pages, 65);
  const HostImage image = decode(stack.bytes(), {.page = 64}).image;
  const auto* row = image.planes.front().row_as<std::uint8_t>(0);
  EXPECT_EQ(std::string(row, row + 6), std::string("last\0\0", 6));
  // A byte less, and there is one plane.
  EXPECT_EQ(probe(stack.bytes().first(stack.bytes().size() - 1)).pages, 1);
}

TEST(Decode, ContentDecidesNotTheName) {
  EXPECT_FALSE(is_picture(data / "text.png"));
  EXPECT_FALSE(is_picture(data / "empty.png"));
  EXPECT_FALSE(is_picture(data / "missing.png"));
  EXPECT_FALSE(is_picture(data));
  EXPECT_TRUE(is_picture(data / "rgb8.png"));
  EXPECT_TRUE(is_picture(data / "maxval100.pgm"));
}

}  // namespace
}  // namespace impipe::io
