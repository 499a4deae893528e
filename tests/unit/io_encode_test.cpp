// Encoding: what comes back after a round trip, conversions between classes, the rule for the
// output's type, and metadata carried over.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "core/error.hpp"
#include "io/codec.hpp"
#include "io/files/read_picture.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/picture/convert.hpp"

namespace impipe::io {
namespace {

const std::filesystem::path data = IMPIPE_TEST_DATA "/io";

HostImage image_of(const ImageType& type, Size size) {
  HostImage image(type, size);
  const auto fill = [&](Plane& plane, std::int64_t step, int salt) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        const auto v = static_cast<int>((37 * step * x + 91 * y + salt) % 256);
        switch (plane.cls()) {
          case PixelClass::logical: plane.row_as<std::uint8_t>(y)[x] = v > 127; break;
          case PixelClass::uint8:
            plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(v);
            break;
          case PixelClass::uint16:
            plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(v * 257 - (v > 0));
            break;
          case PixelClass::single:
            plane.row_as<float>(y)[x] = static_cast<float>(v) / 255.0f;
            break;
        }
      }
    }
  };
  for (int c = 0; c < type.channels; ++c) {
    fill(image.planes[static_cast<size_t>(c)], type.channels, 37 * c + 11);
  }
  if (type.alpha) fill(image.alpha, 1, 64);
  return image;
}

bool equal(const Plane& a, const Plane& b) {
  if (a.cls() != b.cls() || !(a.size() == b.size())) return false;
  for (std::int64_t y = 0; y < a.size().height; ++y) {
    if (std::memcmp(a.row(y), b.row(y), static_cast<size_t>(a.row_bytes())) != 0) return false;
  }
  return true;
}

bool equal(const Planes& a, const Planes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Plane& x, const Plane& y) { return equal(x, y); });
}

// EXR stores colours times alpha: floats come back to their last bit, and as 0 where alpha is 0.
void expect_through_product(const HostImage& back, const HostImage& image) {
  for (size_t c = 0; c < image.planes.size(); ++c) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      for (std::int64_t x = 0; x < image.size().width; ++x) {
        const bool covered = image.alpha.row_as<float>(y)[x] != 0;
        EXPECT_FLOAT_EQ(back.planes[c].row_as<float>(y)[x],
                        covered ? image.planes[c].row_as<float>(y)[x] : 0.0f);
      }
    }
  }
}

// A row of single values, with its white.
HostImage row_of(const std::vector<float>& values, double white) {
  HostImage image({.cls = PixelClass::single, .channels = 1, .alpha = false, .white = white},
                  {static_cast<std::int64_t>(values.size()), 1});
  std::copy(values.begin(), values.end(), image.planes.front().row_as<float>(0));
  return image;
}

// AVIF has no more bits: the nearest of 4096 codes.
void expect_12_bits(const Plane& plane, const Plane& before) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      const double code = std::round(before.row_as<std::uint16_t>(y)[x] * 4095.0 / 65535);
      ASSERT_EQ(plane.row_as<std::uint16_t>(y)[x], std::round(code * 65535 / 4095));
    }
  }
}

TEST(Encode, LosslessFormatsGiveTheSamePixelsBack) {
  for (const FormatTraits& format : all_formats()) {
    for (const PixelClass cls :
         {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      for (const int channels : {1, 3}) {
        for (const bool alpha : {false, true}) {
          // Widths around whole bytes of 1-bit pixels, and single rows and columns.
          for (const Size size : {Size{1, 1}, Size{1, 9}, Size{8, 1}, Size{31, 17}}) {
            if (!format.writes() || !format.reads() || format.lossy) continue;
            if (nearest_class(format.format, cls) != cls) continue;
            if (alpha && !format.can[Can::alpha]) continue;
            // Frames of Y4M have luma and chroma; only gray goes through as it is.
            if (format.format == Format::y4m && (alpha || channels != 1)) continue;
            const ImageType type{
                .cls = cls, .channels = channels, .alpha = alpha, .white = class_max(cls)};
            SCOPED_TRACE(std::string(format.name) + " " + to_string(type) + " " + to_string(size));
            const HostImage image = image_of(type, size);
            // HEIF is without loss where that is asked for, and then has 12 bits at most.
            const bool heif = format.format == Format::heif;
            if (heif && cls == PixelClass::uint16) continue;
            const Encoded file = encode(image, {}, format.format, cls, {.lossless = heif});
            EXPECT_EQ(file.clipped, 0);
            EXPECT_FALSE(file.alpha_dropped);
            const bool in_12_bits = format.format == Format::avif && cls == PixelClass::uint16;
            if (!in_12_bits) {
              EXPECT_EQ(file.lost, std::vector<std::string>{});
            }
            // An NPY does not say that it has an alpha.
            const Reading reading{.channels = {}, .axes = alpha ? "YXA" : ""};
            const Decoded back = decode(file.bytes, {.reading = reading});
            EXPECT_EQ(back.info.format, format.format);
            // Where a format has no 1-bit pixels of this kind they come back as 0 and 255, and
            // where it knows no grey a grey comes back three times.
            HostImage expected =
                back.image.type.cls == cls ? image : convert(image, PixelClass::uint8);
            if (back.image.type.channels != channels) {
              EXPECT_TRUE(heif || format.format == Format::webp || format.format == Format::qoi ||
                          alpha)
                  << to_string(back.image.type);
              ASSERT_EQ(back.image.planes.size(), 3u);
              for (const Plane& plane : back.image.planes) {
                ASSERT_TRUE(equal(plane, expected.planes.front()));
              }
            } else if (format.format == Format::exr && alpha) {
              expect_through_product(back.image, expected);
            } else if (in_12_bits) {
              for (size_t c = 0; c < expected.planes.size(); ++c) {
                expect_12_bits(back.image.planes[c], expected.planes[c]);
              }
            } else {
              EXPECT_TRUE(equal(back.image.planes, expected.planes));
            }
            ASSERT_EQ(back.image.type.alpha, alpha);
            if (alpha && in_12_bits) {
              expect_12_bits(back.image.alpha, expected.alpha);
            } else if (alpha) {
              EXPECT_TRUE(equal(back.image.alpha, expected.alpha));
            }
          }
        }
      }
    }
  }
}

TEST(Encode, OneBitWhereTheFormatHasIt) {
  const HostImage mask =
      image_of({.cls = PixelClass::logical, .channels = 1, .alpha = false, .white = 1}, {31, 17});
  for (const auto& [format, detail] : {std::pair{Format::png, "1-bit"},
                                       {Format::tiff, "1-bit, deflate"},
                                       {Format::pnm, "1-bit"},
                                       {Format::npy, "1-bit"}}) {
    EXPECT_EQ(probe(encode(mask, {}, format, PixelClass::logical).bytes).detail, detail);
  }
}

TEST(Encode, JpegIsCloseAndDropsAlpha) {
  HostImage image({.cls = PixelClass::uint8, .channels = 3, .alpha = true, .white = 255}, {64, 48});
  for (std::int64_t y = 0; y < 48; ++y) {
    for (int c = 0; c < 3; ++c) {
      auto* row = image.planes[static_cast<size_t>(c)].row_as<std::uint8_t>(y);
      for (std::int64_t x = 0; x < 64; ++x) row[x] = static_cast<std::uint8_t>(3 * x + c + y);
    }
    std::memset(image.alpha.row(y), 128, 64);
  }
  const Encoded good = encode(image, {}, Format::jpeg, PixelClass::uint8);
  const Encoded poor = encode(image, {}, Format::jpeg, PixelClass::uint8, {.quality = 20});
  EXPECT_TRUE(good.alpha_dropped);
  EXPECT_LT(poor.bytes.size(), good.bytes.size());
  const HostImage back = decode(good.bytes).image;
  for (std::int64_t y = 0; y < 48; ++y) {
    for (size_t c = 0; c < 3; ++c) {
      for (std::int64_t x = 0; x < 64; ++x) {
        ASSERT_NEAR(back.planes[c].row_as<std::uint8_t>(y)[x],
                    image.planes[c].row_as<std::uint8_t>(y)[x], 8);
      }
    }
  }
}

TEST(Encode, SingleIsRoundedHalfAwayAndSaturated) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const HostImage image = row_of(
      {-3, -0.4f, 0, 0.5f, 1.5f, 2.5f, 254.49f, 254.5f, 255.4f, 255.5f, 300, nan, inf, -inf}, 255);
  const Encoded file = encode(image, {}, Format::png, PixelClass::uint8);
  const HostImage back = decode(file.bytes).image;
  const int expected[] = {0, 0, 0, 1, 2, 3, 254, 255, 255, 255, 255, 0, 255, 0};
  for (int i = 0; i < 14; ++i)
    EXPECT_EQ(back.planes.front().row_as<std::uint8_t>(0)[i], expected[i]) << i;
  EXPECT_EQ(file.clipped, 6);  // -3, 255.5, 300, NaN and both infinities
}

TEST(Encode, FloatFormatsHoldValueOverWhiteAndNpyTheValueItself) {
  const HostImage image = row_of({-51, 0, 127.5f, 255, 510}, 255);
  for (const Format format : {Format::tiff, Format::pfm, Format::exr}) {
    const HostImage back = decode(encode(image, {}, format, PixelClass::single).bytes).image;
    EXPECT_EQ(back.type.white, 1);
    for (int i = 0; i < 5; ++i) {
      EXPECT_FLOAT_EQ(back.planes.front().row_as<float>(0)[i],
                      image.planes.front().row_as<float>(0)[i] / 255);
    }
  }
  const HostImage raw = decode(encode(image, {}, Format::npy, PixelClass::single).bytes).image;
  EXPECT_TRUE(equal(raw.planes, image.planes));
}

TEST(Encode, AnImageWithoutWhiteNeedsAFloatFormat) {
  const HostImage distances = row_of({0, 1, 1.5f, 700}, 0);
  const auto message = [&](Format format, PixelClass cls) -> std::string {
    try {
      encode(distances, {}, format, cls);
    } catch (const Error& error) {
      return error.what();
    }
    return "written";
  };
  EXPECT_EQ(
      message(Format::png, PixelClass::uint8),
      "cannot write PNG of class uint8: an image of distances, labels or spectra has no white; "
      "add "
      "`mat2gray`, give -d uint16 if its values fit, or write .npy, .tif or .pfm");
  EXPECT_EQ(message(Format::tiff, PixelClass::single), "written");
  EXPECT_EQ(message(Format::png, PixelClass::single), "PNG cannot hold single pixels");
  const HostImage back = decode(encode(distances, {}, Format::pfm, PixelClass::single).bytes).image;
  EXPECT_TRUE(equal(back.planes, distances.planes)) << "values as they are";
}

TEST(Convert, AlphaOfAnotherClassGoesToTheFullRange) {
  // A filter's result: single with white 255, beside the alpha that was read.
  HostImage image = row_of({0, 255}, 255);
  image.type.alpha = true;
  image.alpha = Plane(PixelClass::uint8, {2, 1});
  image.alpha.row_as<std::uint8_t>(0)[0] = 51;
  image.alpha.row_as<std::uint8_t>(0)[1] = 255;
  const HostImage png = decode(encode(image, {}, Format::png, PixelClass::uint16).bytes).image;
  EXPECT_EQ(png.alpha.row_as<std::uint16_t>(0)[0], 51 * 257);
  for (const Format format : {Format::npy, Format::tiff}) {
    const std::string axes = format == Format::npy ? "YXA" : "";
    const Bytes file = encode(image, {}, format, PixelClass::single).bytes;
    const HostImage back = decode(file, {.reading = {.channels = {}, .axes = axes}}).image;
    EXPECT_EQ(back.alpha.row_as<float>(0)[0], 0.2f);
    EXPECT_EQ(back.alpha.row_as<float>(0)[1], 1.0f);
  }
  // And a picture of floats that became integers.
  HostImage bytes({.cls = PixelClass::uint8, .channels = 1, .alpha = true, .white = 255}, {1, 1});
  *bytes.planes.front().row_as<std::uint8_t>(0) = 7;
  bytes.alpha = Plane(PixelClass::single, {1, 1});
  *bytes.alpha.row_as<float>(0) = 0.5f;
  const HostImage back = decode(encode(bytes, {}, Format::png, PixelClass::uint8).bytes).image;
  EXPECT_EQ(*back.planes.front().row_as<std::uint8_t>(0), 7);
  EXPECT_EQ(*back.alpha.row_as<std::uint8_t>(0), 128);
}

TEST(Convert, TheRulesOfTheIm2Functions) {
  struct Row {
    PixelClass from;
    double value, white;
    PixelClass to;
    double expected;
  };
  const auto l = PixelClass::logical, b = PixelClass::uint8, w = PixelClass::uint16,
             s = PixelClass::single;
  // semantics.md 2.1
  const Row rows[] = {
      {b, 128, 255, w, 128 * 257},
      {w, 128, 65535, b, 0},
      {w, 129, 65535, b, 1},
      {w, 385, 65535, b, 1},
      {w, 386, 65535, b, 2},
      {w, 65535, 65535, b, 255},
      {l, 1, 1, b, 255},
      {l, 1, 1, w, 65535},
      {l, 1, 1, s, 1},
      {b, 51, 255, s, 51 / 255.0f},
      {w, 1, 65535, s, 1 / 65535.0f},
      {s, 0.5, 1, b, 128},
      {s, 0.5, 1, w, 32768},
      {s, 127.5, 255, w, 32768},
      {s, 65535, 65535, b, 255},
      {s, 128.5, 65535, b, 1},
      {s, 0.25, 1, l, 1},
      {b, 0, 255, l, 0},
      {b, 1, 255, l, 1},
      {s, 51, 255, s, 0.2f},
      {w, 100, 255, w, 25700},
  };
  for (const Row& row : rows) {
    HostImage image({.cls = row.from, .channels = 1, .alpha = false, .white = row.white}, {1, 1});
    switch (row.from) {
      case PixelClass::uint16:
        *image.planes.front().row_as<std::uint16_t>(0) = static_cast<std::uint16_t>(row.value);
        break;
      case PixelClass::single:
        *image.planes.front().row_as<float>(0) = static_cast<float>(row.value);
        break;
      default: *image.planes.front().row_as<std::uint8_t>(0) = static_cast<std::uint8_t>(row.value);
    }
    const HostImage out = convert(image, row.to);
    const double value = row.to == PixelClass::uint16 ? *out.planes.front().row_as<std::uint16_t>(0)
                         : row.to == PixelClass::single
                             ? *out.planes.front().row_as<float>(0)
                             : *out.planes.front().row_as<std::uint8_t>(0);
    EXPECT_EQ(value, row.expected) << name_of(row.from) << " " << row.value << " of " << row.white
                                   << " to " << name_of(row.to);
    EXPECT_EQ(out.type.white, class_max(row.to));
  }
}

TEST(OutputType, KeepsTheInputsFormatAndDepth) {
  const auto input = [](Format format, PixelClass cls, bool lossy = false) {
    return ImageInfo{.format = format,
                     .type = {.cls = cls, .channels = 1, .alpha = false, .white = class_max(cls)},
                     .lossy = lossy};
  };
  const auto l = PixelClass::logical, b = PixelClass::uint8, w = PixelClass::uint16,
             s = PixelClass::single;
  const ImageInfo png8 = input(Format::png, b), png16 = input(Format::png, w),
                  png1 = input(Format::png, l), jpeg = input(Format::jpeg, b, true),
                  webp = input(Format::webp, b), lossy = input(Format::webp, b, true),
                  tiff_float = input(Format::tiff, s), tiff8 = input(Format::tiff, b),
                  npy8 = input(Format::npy, b), pfm = input(Format::pfm, s);
  struct Row {
    const ImageInfo* in;
    PixelClass cls;
    double white;
    std::optional<Format> wanted;
    std::optional<PixelClass> wanted_class;
    OutputType expected;
  };
  const Row rows[] = {
      {&png8, b, 255, {}, {}, {Format::png, b}},
      {&png8, s, 255, {}, {}, {Format::png, b}},  // a filter's result
      {&png16, s, 65535, {}, {}, {Format::png, w}},
      {&png1, s, 1, {}, {}, {Format::png, b}},      // 1 bit would lose it
      {&png8, w, 65535, {}, {}, {Format::png, w}},  // im2uint16 was asked for
      {&png8, l, 1, {}, {}, {Format::png, l}},
      {&jpeg, l, 1, {}, {}, {Format::png, l}},  // loss would spoil a mask
      {&jpeg, s, 255, {}, {}, {Format::jpeg, b}},
      {&jpeg, w, 65535, {}, {}, {Format::jpeg, b}},
      {&jpeg, l, 1, Format::jpeg, {}, {Format::jpeg, b}},
      {&webp, l, 1, {}, {}, {Format::webp, b}},
      {&lossy, l, 1, {}, {}, {Format::png, l}},
      {&tiff_float, s, 1, {}, {}, {Format::tiff, s}},
      {&tiff8, s, 255, {}, {}, {Format::tiff, b}},
      {&png8, s, 0, {}, {}, {Format::png, w}},  // no white: encode refuses it
      {&tiff8, s, 0, {}, {}, {Format::tiff, s}},
      {&png8, s, 0, Format::npy, {}, {Format::npy, s}},
      {&npy8, s, 255, {}, {}, {Format::npy, s}},
      {&png8, s, 255, Format::npy, {}, {Format::npy, s}},
      {&png8, s, 255, Format::tiff, {}, {Format::tiff, b}},
      {&png8, s, 255, Format::pfm, {}, {Format::pfm, s}},
      {&png8, s, 255, Format::exr, {}, {Format::exr, s}},
      {&pfm, b, 255, {}, {}, {Format::pfm, s}},
      {&png8, s, 255, {}, w, {Format::png, w}},
      {&png8, b, 255, Format::jpeg, w, {Format::jpeg, b}},
      {&jpeg, b, 255, {}, l, {Format::png, l}},
      {&png8, b, 255, Format::tiff, s, {Format::tiff, s}},
      {nullptr, s, 1, {}, {}, {Format::png, b}},  // a source such as phantom
      {nullptr, s, 1, Format::npy, {}, {Format::npy, s}},
      {nullptr, s, 1, Format::tiff, {}, {Format::tiff, b}},
  };
  int number = 0;
  for (const Row& row : rows) {
    const ImageType result{.cls = row.cls, .channels = 1, .alpha = false, .white = row.white};
    const OutputType type = output_type(row.in, result, row.wanted, row.wanted_class);
    EXPECT_EQ(type.format, row.expected.format) << "row " << number;
    EXPECT_EQ(type.cls, row.expected.cls) << "row " << number;
    ++number;
  }
}

std::string text_of(const Bytes& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST(Metadata, IsCarriedToFormatsThatHoldItUpright) {
  const Decoded source = decode(read_picture(data / "metadata.jpg"));
  EXPECT_EQ(source.info.orientation, 6);
  EXPECT_EQ(source.image.size(), (Size{24, 32}));
  ASSERT_FALSE(source.metadata.exif.empty());
  ASSERT_FALSE(source.metadata.icc.empty());
  EXPECT_EQ(source.metadata.xmp.find("tiff:Orientation=\"6\""), std::string::npos);
  for (const Format format : {Format::png, Format::jpeg, Format::tiff, Format::webp}) {
    SCOPED_TRACE(name_of(format));
    const Encoded file = encode(source.image, source.metadata, format, PixelClass::uint8);
    const Decoded back = decode(file.bytes);
    EXPECT_EQ(back.info.orientation, 1);
    EXPECT_EQ(back.image.size(), (Size{24, 32}));
    EXPECT_EQ(back.metadata.icc, source.metadata.icc);
    const std::string exif = text_of(back.metadata.exif);
    EXPECT_NE(exif.find("Model 7"), std::string::npos);
    EXPECT_NE(exif.find("2024:05:06 07:08:09"), std::string::npos);
    EXPECT_NE(back.metadata.xmp.find("a test"), std::string::npos);
    // Without it nothing is left.
    EXPECT_TRUE(decode(encode(source.image, {}, format, PixelClass::uint8).bytes).metadata.empty());
    EXPECT_TRUE(decode(file.bytes, {.metadata = false}).metadata.empty());
  }
}

TEST(Metadata, AColourProfileIsNotGivenToAGreyImage) {
  const Decoded source = decode(read_picture(data / "metadata.jpg"));
  const HostImage grey =
      image_of({.cls = PixelClass::uint8, .channels = 1, .alpha = false, .white = 255}, {9, 9});
  const Decoded back = decode(encode(grey, source.metadata, Format::png, PixelClass::uint8).bytes);
  EXPECT_TRUE(back.metadata.icc.empty());
  EXPECT_FALSE(back.metadata.exif.empty());
}

TEST(EncodeNpy, MeasurementsAreDoubles) {
  const double values[] = {1, 2.5, -3, 4, 5, 6};
  const std::int64_t shape[] = {2, 3};
  const std::string file = text_of(encode_npy(values, shape));
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(file.substr(10, header.size()), header);
  ASSERT_EQ(file.size(), 128 + sizeof values);
  EXPECT_EQ(std::memcmp(file.data() + 128, values, sizeof values), 0);
  const std::int64_t vector[] = {6};
  EXPECT_NE(text_of(encode_npy(values, vector)).find("'shape': (6,), }"), std::string::npos);
}

}  // namespace
}  // namespace impipe::io
