// Pictures that a device packs: zlib unpacks them, to what a plain definition of each format's
// order and filter says. Sizes beside zlib's own at level 6.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/jit/codec/codec.hpp"
#include "backends/opencl/device.hpp"
#include "engine/tools/made_image.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Alpha = PackedForm::Alpha;
using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Sample = PackedForm::Sample;

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};
constexpr Backend cuda_backend{"cuda", cuda::devices, cuda::open};

// -- What is to come out.

// Nearest, ties to even; no number stays none.
std::uint32_t half_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  if (std::isnan(value)) {
    return sign | 0x7c00U | std::max<std::uint32_t>(bits >> 13 & 0x3ffU, 1);
  }
  const double size = std::abs(static_cast<double>(value));
  if (size >= 65520) return sign | 0x7c00U;
  const int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return sign | (steps + (static_cast<std::uint32_t>(exponent + 14) << 10));
}

// OpenEXR's colours are multiplied by alpha, and where it is 0 they are light of their own.
float associated(float colour, float alpha, bool glows) {
  return alpha != 0 ? colour * alpha : glows ? colour : 0;
}

// Of the k-th sample of a pixel. glows: the picture does.
std::uint32_t stored_sample(const PackedForm& form, const Planes& planes, std::size_t k,
                            std::int64_t x, std::int64_t y, bool glows) {
  const std::size_t channel = form.channel_of[k];
  const Plane& plane = planes[channel];
  x = std::min(x, form.size.width - 1);
  y = std::min(y, form.size.height - 1);
  const std::uint32_t largest = form.bits == 32 ? 0xffffffffU : (std::uint32_t{1} << form.bits) - 1;
  std::uint32_t value = 0;
  switch (form.cls) {
    case PixelClass::logical: value = plane.row_as<std::uint8_t>(y)[x] != 0 ? largest : 0; break;
    case PixelClass::uint8: value = plane.row_as<std::uint8_t>(y)[x]; break;
    case PixelClass::uint16: value = plane.row_as<std::uint16_t>(y)[x]; break;
    case PixelClass::single: {
      float number = plane.row_as<float>(y)[x];
      const bool is_colour = channel < static_cast<std::size_t>(form.colours());
      if (form.alpha == Alpha::associated && is_colour) {
        number = associated(number, planes.back().row_as<float>(y)[x], glows);
      }
      if (form.sample == Sample::half) return half_of(number);
      std::memcpy(&value, &number, sizeof value);
    }
  }
  return form.inverted && k == 0 ? largest - value : value;
}

// The samples of one row, in the order of the file.
std::vector<std::uint32_t> row_samples(const PackedForm& form, const Planes& planes,
                                       std::int64_t left, std::int64_t y, std::int64_t width,
                                       std::size_t chunk_channel, bool glows) {
  std::vector<std::uint32_t> out;
  const auto add = [&](std::size_t k, std::int64_t x) {
    out.push_back(stored_sample(form, planes, k, x, y, glows));
  };
  const auto channels = static_cast<std::size_t>(form.channels);
  if (form.order == Order::by_pixel) {
    for (std::int64_t x = left; x < left + width; ++x) {
      for (std::size_t k = 0; k < channels; ++k) add(k, x);
    }
  } else if (form.order == Order::by_row) {
    for (std::size_t k = 0; k < channels; ++k) {
      for (std::int64_t x = left; x < left + width; ++x) add(k, x);
    }
  } else {
    for (std::int64_t x = left; x < left + width; ++x) add(chunk_channel, x);
  }
  return out;
}

std::size_t pixel_samples(const PackedForm& form) {
  return form.order == Order::by_pixel ? static_cast<std::size_t>(form.channels) : 1;
}

Bytes bytes_of_samples(const PackedForm& form, const std::vector<std::uint32_t>& samples) {
  Bytes out;
  if (form.bits == 1) {
    out.resize((samples.size() + 7) / 8);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | samples[i] << (7 - i % 8));
    }
    return out;
  }
  const int bytes = form.bits / 8;
  for (const std::uint32_t sample : samples) {
    for (int i = 0; i < bytes; ++i) {
      out.push_back(
          static_cast<std::uint8_t>(sample >> (8 * (form.big_endian ? bytes - 1 - i : i))));
    }
  }
  return out;
}

// A row under TIFF's predictors, or as it is.
Bytes predicted_row(const PackedForm& form, std::vector<std::uint32_t> samples) {
  const std::size_t before = pixel_samples(form);
  if (form.filter == Filter::differences) {
    for (std::size_t i = samples.size() - 1; i >= before; --i) samples[i] -= samples[i - before];
  }
  if (form.filter != Filter::float_differences) return bytes_of_samples(form, samples);
  Bytes out;
  for (int byte = form.bits / 8 - 1; byte >= 0; --byte) {
    for (const std::uint32_t sample : samples) {
      out.push_back(static_cast<std::uint8_t>(sample >> (8 * byte)));
    }
  }
  for (std::size_t i = out.size() - 1; i >= before; --i) {
    out[i] = static_cast<std::uint8_t>(out[i] - out[i - before]);
  }
  return out;
}

int paeth(int left, int above, int corner) {
  const int p = left + above - corner;
  const int a = std::abs(p - left), b = std::abs(p - above), c = std::abs(p - corner);
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

// As the PNG specification has it, the first filter with the least sum of differences.
void append_png_row(Bytes& to, const PackedForm& form, const Bytes& row, const Bytes& above) {
  const auto pixel = static_cast<std::size_t>(std::max(form.channels * form.bits / 8, 1));
  Bytes best;
  long least = -1;
  for (int filter = 0; filter < (form.bits < 8 ? 1 : 5); ++filter) {
    Bytes left(row.size());
    long sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int a = i >= pixel ? row[i - pixel] : 0, b = above.empty() ? 0 : above[i];
      const int c = i >= pixel && !above.empty() ? above[i - pixel] : 0;
      const int guesses[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
      left[i] = static_cast<std::uint8_t>(row[i] - guesses[filter]);
      sum += std::abs(static_cast<std::int8_t>(left[i]));
    }
    if (least >= 0 && sum >= least) continue;
    least = sum;
    best = left;
    best.insert(best.begin(), static_cast<std::uint8_t>(filter));
  }
  to.insert(to.end(), best.begin(), best.end());
}

Bytes exr_filtered(const Bytes& raw) {
  Bytes parted;
  for (std::size_t i = 0; i < raw.size(); i += 2) parted.push_back(raw[i]);
  for (std::size_t i = 1; i < raw.size(); i += 2) parted.push_back(raw[i]);
  Bytes out = parted;
  for (std::size_t i = 1; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(parted[i] - parted[i - 1] + 128);
  }
  return out;
}

// The bytes of each chunk before zlib gets them; unfiltered: as EXR has them where it stores them.
std::vector<Bytes> expected_chunks(const PackedForm& form, const Planes& planes, bool glows,
                                   bool unfiltered = false) {
  std::vector<Bytes> chunks;
  const int each = form.order == Order::by_plane ? form.channels : 1;
  for (int channel = 0; channel < each; ++channel) {
    for (std::int64_t y = 0; y < form.size.height; y += form.chunk.height) {
      for (std::int64_t x = 0; x < form.size.width; x += form.chunk.width) {
        const std::int64_t width =
            form.padded ? form.chunk.width : std::min(form.chunk.width, form.size.width - x);
        const std::int64_t height =
            form.padded ? form.chunk.height : std::min(form.chunk.height, form.size.height - y);
        Bytes chunk, above;
        for (std::int64_t row = y; row < y + height; ++row) {
          const Bytes bytes = predicted_row(
              form,
              row_samples(form, planes, x, row, width, static_cast<std::size_t>(channel), glows));
          if (form.filter == Filter::png) {
            append_png_row(chunk, form, bytes, above);
          } else {
            chunk.insert(chunk.end(), bytes.begin(), bytes.end());
          }
          above = bytes;
        }
        const bool splits = form.filter == Filter::exr && !unfiltered;
        chunks.push_back(splits ? exr_filtered(chunk) : chunk);
      }
    }
  }
  return chunks;
}

// -- What a device makes.

struct Packed {
  bool is_left = false;       // to the host
  std::vector<Bytes> chunks;  // none where it is left
};

class Packer {
 public:
  Packer(Device& device, const PackedForm& form, DeflateEffort effort)
      : kernel_(device.prepare_packer(form, effort)), queue_(device.make_queue()) {}

  // images: alpha is the last of the planes where the form has it. glows: of each image.
  std::vector<Packed> packed(const PackedForm& form, const std::vector<Planes>& images,
                             const std::vector<std::uint8_t>& glows = {}) {
    const int count = static_cast<int>(images.size());
    const auto values = static_cast<std::size_t>(2 + form.chunks());
    const DeviceValue room{
        queue_->allocate_stack(PixelClass::uint8, 1, {packed_room(form), 1}, count), nullptr};
    const DeviceValue measured{
        nullptr, queue_->allocate_measure_stack(1, static_cast<std::int64_t>(values), count)};
    std::vector<Planes> colours, alphas;
    for (const Planes& image : images) {
      const auto end = image.begin() + form.colours();
      colours.emplace_back(image.begin(), end);
      alphas.emplace_back(end, image.end());
    }
    Launch launch{.spec = nullptr,
                  .inputs = {{queue_->upload_stack(colours), nullptr}},
                  .outputs = {room, measured}};
    if (form.alpha != Alpha::none) {
      launch.inputs.push_back({queue_->upload_stack(alphas), nullptr});
    }
    launch.packing = &form;
    launch.glows = glows;
    queue_->run(*kernel_, launch);
    const std::vector<double> numbers = queue_->download(*measured.measure);
    const CodedPlaces places(numbers, values);
    Plane bytes;
    if (places.size.height > 0) {
      const DeviceValue taken{queue_->allocate(PixelClass::uint8, 1, places.size), nullptr};
      queue_->run(*kernel_, {.spec = nullptr, .inputs = {room, measured}, .outputs = {taken}});
      bytes = queue_->download(*taken.plane).front();
    }
    std::vector<Packed> out(images.size());
    for (std::size_t i = 0; i < images.size(); ++i) {
      const double* own = numbers.data() + values * i;
      out[i].is_left = own[1] != 0;
      if (out[i].is_left) continue;
      const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.row(0)) + places.begins[i];
      const auto* end = at + places.bytes[i];
      EXPECT_LE(places.bytes[i], packed_room(form));
      for (std::size_t c = 2; c < values; ++c) {
        out[i].chunks.emplace_back(at, at + static_cast<std::int64_t>(own[c]));
        at += static_cast<std::int64_t>(own[c]);
      }
      EXPECT_EQ(at, end);
    }
    return out;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Queue> queue_;
};

// What zlib makes of a whole stream; nothing where it is damaged, or more follows.
Bytes unpacked(const Bytes& chunk, std::size_t bytes) {
  Bytes out(bytes + 1);
  uLongf found = out.size();
  uLong taken = chunk.size();
  if (uncompress2(out.data(), &found, chunk.data(), &taken) != Z_OK) return {};
  if (taken != chunk.size()) return {};
  out.resize(found);
  return out;
}

// A strip in LZW, as section 13 of TIFF 6.0 has it; nothing where it is damaged.
Bytes unpacked_lzw(const Bytes& strip) {
  constexpr unsigned clear = 256, end = 257, none = 4096;
  std::vector<Bytes> table;
  unsigned before = none, bits = 9;
  Bytes out;
  for (std::size_t at = 0; at + bits <= 8 * strip.size();) {
    unsigned code = 0;
    for (unsigned i = 0; i < bits; ++i, ++at) {
      code = code << 1 | (strip[at / 8] >> (7 - at % 8) & 1U);
    }
    if (code == end) return at + 7 < 8 * strip.size() ? Bytes{} : out;
    if (code == clear) {
      table.clear();
      for (unsigned i = 0; i < 258; ++i) table.push_back({static_cast<std::uint8_t>(i)});
      before = none;
      bits = 9;
      continue;
    }
    if (before != none) {
      Bytes next = table[before];
      if (code > table.size()) return {};
      next.push_back(code < table.size() ? table[code].front() : next.front());
      table.push_back(next);
    }
    if (code >= table.size()) return {};
    out.insert(out.end(), table[code].begin(), table[code].end());
    before = code;
    bits = table.size() + 1 >= 2048   ? 12
           : table.size() + 1 >= 1024 ? 11
           : table.size() + 1 >= 512  ? 10
                                      : 9;
  }
  return {};
}

std::size_t bytes_by_zlib(const std::vector<Bytes>& chunks) {
  std::size_t all = 0;
  for (const Bytes& chunk : chunks) {
    uLongf bytes = compressBound(chunk.size());
    Bytes out(bytes);
    EXPECT_EQ(compress2(out.data(), &bytes, chunk.data(), chunk.size(), 6), Z_OK);
    all += bytes;
  }
  return all;
}

std::size_t bytes_in(const std::vector<Bytes>& chunks) {
  std::size_t all = 0;
  for (const Bytes& chunk : chunks) all += chunk.size();
  return all;
}

void expect_expected(const PackedForm& form, const Planes& image, const Packed& packed,
                     const std::string& name, bool glows = false) {
  ASSERT_FALSE(packed.is_left) << name;
  const std::vector<Bytes> expected = expected_chunks(form, image, glows);
  const std::vector<Bytes> raw = expected_chunks(form, image, glows, true);
  ASSERT_EQ(packed.chunks.size(), expected.size()) << name;
  for (std::size_t c = 0; c < expected.size(); ++c) {
    const Bytes& chunk = packed.chunks[c];
    const std::string at = name + ", chunk " + std::to_string(c);
    if (form.packing == Packing::none) {
      EXPECT_TRUE(chunk == expected[c]) << at;
    } else if (form.packing == Packing::lzw) {
      EXPECT_TRUE(unpacked_lzw(chunk) == expected[c])
          << at << " of " << expected[c].size() << " bytes in " << chunk.size();
    } else if (form.filter == Filter::exr && chunk.size() >= raw[c].size()) {
      EXPECT_TRUE(chunk == raw[c]) << at << " is stored";
    } else {
      EXPECT_TRUE(unpacked(chunk, expected[c].size()) == expected[c])
          << at << " of " << expected[c].size() << " bytes in " << chunk.size();
    }
  }
}

// -- Pictures.

PackedForm form_of(PixelClass cls, int channels, Size size, Filter filter) {
  PackedForm form;
  form.cls = cls;
  form.channels = channels;
  form.size = size;
  form.packing = Packing::zlib;
  form.filter = filter;
  form.bits = cls == PixelClass::logical ? 1 : 8 * bytes_of(cls);
  form.sample = cls == PixelClass::single ? Sample::floating : Sample::integer;
  for (int k = 0; k < channels; ++k) form.channel_of.push_back(static_cast<std::uint8_t>(k));
  form.chunk = size;
  return form;
}

struct Box {
  std::int64_t left, top, right, bottom;
  std::uint32_t value;
};
std::vector<Box> boxes_in(Size size, std::mt19937& random) {
  std::vector<Box> boxes(80);
  for (Box& box : boxes) {
    box.left = static_cast<std::int64_t>(random()) % size.width;
    box.top = static_cast<std::int64_t>(random()) % size.height;
    box.right = box.left + 4 + static_cast<std::int64_t>(random()) % 90;
    box.bottom = box.top + 4 + static_cast<std::int64_t>(random()) % 90;
    box.value = 0x1111U * (static_cast<std::uint32_t>(random()) >> 8 & 15U);
  }
  return boxes;
}
std::uint32_t drawn_at(const std::vector<Box>& boxes, std::int64_t x, std::int64_t y) {
  for (const Box& box : boxes) {
    if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) return box.value;
  }
  return 0xffffU;
}

enum class Content { photograph, flat, noise, drawing };

Planes image_of(PixelClass cls, int channels, Size size, Content content, unsigned seed) {
  if (content == Content::photograph && cls != PixelClass::logical) {
    return engine::make_natural_image(cls, channels, size, seed).planes;
  }
  std::mt19937 random(seed);
  Planes planes = new_planes(cls, channels, size);
  const std::vector<Box> boxes = boxes_in(size, random);
  for (Plane& plane : planes) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        const auto noise = static_cast<std::uint32_t>(random());
        const std::uint32_t value = content == Content::noise     ? noise
                                    : content == Content::drawing ? drawn_at(boxes, x, y)
                                                                  : 0x4d00U;
        switch (cls) {
          case PixelClass::logical: plane.row_as<std::uint8_t>(y)[x] = value >> 12 & 1U; break;
          case PixelClass::uint8:
            plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value >> 8);
            break;
          case PixelClass::uint16:
            plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(value);
            break;
          case PixelClass::single:
            plane.row_as<float>(y)[x] = static_cast<float>(value & 0xffffU) / 3.0F;
        }
      }
    }
  }
  return planes;
}

PackedForm halves_form(Size size) {
  PackedForm form = form_of(PixelClass::single, 1, size, Filter::none);
  form.packing = Packing::none;
  form.sample = Sample::half;
  form.bits = 16;
  form.order = Order::by_row;
  return form;
}

struct Case {
  std::string name;
  PackedForm form;
};

// What is not packed is compiled sooner: an order of samples or a filter is the same with zlib.
std::vector<Case> cases() {
  std::vector<Case> out;
  PackedForm form = form_of(PixelClass::uint8, 3, {67, 45}, Filter::png);
  out.push_back({"PNG of colours", form});
  form = form_of(PixelClass::uint16, 1, {61, 33}, Filter::png);
  form.big_endian = true;
  form.packing = Packing::none;
  out.push_back({"PNG of 16 bits", form});
  form = form_of(PixelClass::logical, 1, {43, 29}, Filter::png);
  form.packing = Packing::none;
  form.inverted = true;
  out.push_back({"PNG of 1 bit, inverted", form});
  form = form_of(PixelClass::uint16, 4, {50, 41}, Filter::differences);
  form.chunk.height = 7;
  form.big_endian = true;
  form.packing = Packing::none;
  out.push_back({"TIFF in strips, big endian", form});
  form = form_of(PixelClass::uint8, 3, {70, 50}, Filter::differences);
  form.order = Order::by_plane;
  form.chunk = {32, 16};
  form.padded = true;
  form.inverted = true;
  form.channel_of = {2, 0, 1};
  form.packing = Packing::none;
  out.push_back({"TIFF in tiles of one channel, inverted", form});
  form = form_of(PixelClass::uint8, 3, {67, 45}, Filter::differences);
  form.chunk.height = 8;
  form.packing = Packing::lzw;
  out.push_back({"TIFF in LZW", form});
  form = form_of(PixelClass::single, 3, {39, 21}, Filter::float_differences);
  form.chunk.height = 5;
  form.packing = Packing::none;
  out.push_back({"TIFF of floats", form});
  form = form_of(PixelClass::single, 3, {53, 40}, Filter::exr);
  form.sample = Sample::half;
  form.bits = 16;
  form.order = Order::by_row;
  form.channel_of = {2, 1, 0};
  form.chunk.height = 16;
  out.push_back({"EXR of halves", form});
  form = halves_form({53, 40});
  form.chunk = {32, 32};
  out.push_back({"EXR of halves in tiles, not packed", form});
  form = form_of(PixelClass::logical, 2, {33, 31}, Filter::none);
  form.packing = Packing::none;
  form.bits = 8;
  out.push_back({"black and white in bytes, not packed", form});
  form = form_of(PixelClass::uint8, 2, {35, 24}, Filter::png);
  form.alpha = Alpha::straight;
  form.packing = Packing::none;
  out.push_back({"PNG of gray and alpha", form});
  form = form_of(PixelClass::uint16, 4, {35, 24}, Filter::png);
  form.alpha = Alpha::straight;
  form.big_endian = true;
  form.packing = Packing::none;
  out.push_back({"PNG of colours and alpha of 16 bits", form});
  return out;
}

// -- The tests, of a device.

void expect_all_forms(Device& device) {
  for (const Case& c : cases()) {
    ASSERT_TRUE(packs(c.form)) << c.name;
    Packer packer(device, c.form, DeflateEffort::codes);
    for (const Content content : {Content::photograph, Content::flat, Content::noise}) {
      const Planes image = image_of(c.form.cls, c.form.channels, c.form.size, content, 3);
      expect_expected(c.form, image, packer.packed(c.form, {image}).front(),
                      c.name + ", content " + std::to_string(static_cast<int>(content)));
    }
    // The kernel serves other sizes.
    for (const Size size : {Size{1, 1}, Size{2, 3}, Size{1, 50}, Size{131, 1}}) {
      PackedForm other = c.form;
      other.size = size;
      if (c.form.chunk.width == c.form.size.width) other.chunk.width = size.width;
      if (c.form.chunk.height == c.form.size.height) other.chunk.height = size.height;
      const Planes image = image_of(other.cls, other.channels, size, Content::photograph, 4);
      expect_expected(other, image, packer.packed(other, {image}).front(),
                      c.name + ", " + to_string(size));
    }
  }
}

// Bytes beside those of zlib at level 6, of the same filtered bytes.
void expect_small(const PackedForm& form, const Planes& image, const Packed& packed, double most) {
  const auto theirs = static_cast<double>(bytes_by_zlib(expected_chunks(form, image, false)));
  EXPECT_LE(static_cast<double>(bytes_in(packed.chunks)), most * theirs) << theirs;
}

// Chunks of several parts, of some that are stored and some that are not.
void expect_parts_and_stacks(Device& device, const PackedForm& form, DeflateEffort effort) {
  Packer packer(device, form, effort);
  std::vector<Planes> images;
  for (unsigned i = 0; i < 4; ++i) {
    images.push_back(image_of(form.cls, form.channels, form.size, static_cast<Content>(i), i));
  }
  Planes mixed = new_planes(form.cls, form.channels, form.size);
  for (std::size_t c = 0; c < mixed.size(); ++c) {
    for (std::int64_t y = 0; y < form.size.height; ++y) {
      const Plane& from = images[y < form.size.height / 2 ? 2 : 3][c];
      std::memcpy(mixed[c].row(y), from.row(y), static_cast<std::size_t>(from.row_bytes()));
    }
  }
  images.push_back(mixed);
  const std::vector<Packed> packed = packer.packed(form, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    expect_expected(form, images[i], packed[i], "picture " + std::to_string(i));
  }
  const std::vector<Packed> again = packer.packed(form, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_TRUE(again[i].chunks == packed[i].chunks) << "picture " << i << " the second time";
  }
  if (form.filter != Filter::png) return;
  expect_small(form, images[0], packed[0], 1.1);
  if (effort == DeflateEffort::copies) expect_small(form, images[3], packed[3], 1.15);
}

// More parts than have tokens at the same time.
void expect_many_chunks(Device& device) {
  PackedForm form = form_of(PixelClass::uint8, 1, {20, 2100}, Filter::png);
  form.chunk.height = 1;
  const Planes image = image_of(form.cls, 1, form.size, Content::drawing, 9);
  Packer packer(device, form, DeflateEffort::copies);
  expect_expected(form, image, packer.packed(form, {image}).front(), "2,100 chunks");
}

// Counts of bytes like Fibonacci's numbers make the deepest tree: codes are cut to 15 bits.
void expect_deep_trees(Device& device) {
  const PackedForm form = form_of(PixelClass::uint8, 1, {60000, 1}, Filter::none);
  Planes image = new_planes(form.cls, 1, form.size);
  auto* bytes = image.front().row_as<std::uint8_t>(0);
  std::int64_t at = 0, count = 1, before = 1;
  for (std::uint8_t value = 0; at < form.size.width; ++value) {
    for (std::int64_t i = 0; i < count && at < form.size.width; ++i) bytes[at++] = value;
    std::swap(count, before);
    count += before;
  }
  Packer packer(device, form, DeflateEffort::codes);
  expect_expected(form, image, packer.packed(form, {image}).front(), "Fibonacci's numbers");
}

void expect_halves(Device& device) {
  const PackedForm form = halves_form({64, 2});
  Planes image = new_planes(form.cls, 1, form.size);
  const float infinity = std::numeric_limits<float>::infinity();
  const float numbers[] = {0.0F,      -0.0F,     1.0F,     1.00048828125F, 1.00146484375F,
                           65504.0F,  -65504.0F, infinity, -infinity,      std::nanf(""),
                           6.1e-5F,   6.0e-5F,   5.96e-8F, 2.98e-8F,       2.9802322e-8F,
                           2.981e-8F, 1e-30F,    -1e-7F,   0.333333F,      2049.0F,
                           2051.0F,   1e-40F,    -3.5F,    8.9407e-8F,     6.1035e-5F};
  std::mt19937 random(5);
  for (std::int64_t y = 0; y < 2; ++y) {
    float* row = image.front().row_as<float>(y);
    for (std::int64_t x = 0; x < 64; ++x) {
      const auto spread = static_cast<float>(random()) / 4294967296.0F;
      row[x] = y == 0 && x < static_cast<std::int64_t>(std::size(numbers))
                   ? numbers[x]
                   : std::ldexp(spread - 0.5F, static_cast<int>(x % 40) - 25);
    }
  }
  Packer packer(device, form, DeflateEffort::codes);
  std::vector<Planes> images{image, {}, image};
  images[1] = new_planes(form.cls, 1, form.size);
  for (std::int64_t y = 0; y < 2; ++y) {
    std::memcpy(images[1].front().row(y), image.front().row(y), 256);
  }
  images[1].front().row_as<float>(1)[63] = 65505.0F;  // which rounds to 65504
  const std::vector<Packed> packed = packer.packed(form, images);
  expect_expected(form, image, packed[0], "halves");
  EXPECT_TRUE(packed[1].is_left);
  expect_expected(form, image, packed[2], "halves behind those that are left");
}

// Colours of floats times alpha; under an alpha of 0 those of pictures that glow stay.
void expect_associated_alpha(Device& device) {
  const auto sample = [](bool is_half) {
    PackedForm form = form_of(PixelClass::single, 4, {53, 20}, Filter::none);
    form.packing = Packing::none;
    form.alpha = Alpha::associated;
    form.order = Order::by_row;
    form.channel_of = {3, 2, 1, 0};
    form.chunk.height = 16;
    if (is_half) {
      form.sample = Sample::half;
      form.bits = 16;
    }
    return form;
  };
  for (const bool is_half : {false, true}) {
    const PackedForm form = sample(is_half);
    std::vector<Planes> images;
    for (unsigned i = 0; i < 3; ++i) {
      images.push_back(image_of(form.cls, 4, form.size, Content::photograph, i));
      for (std::int64_t y = 0; y < form.size.height; ++y) {
        float* alpha = images.back()[3].row_as<float>(y);
        for (std::int64_t x = 0; x < form.size.width; x += 3) alpha[x] = x % 2 == 0 ? 0.0F : -0.0F;
      }
    }
    Packer packer(device, form, DeflateEffort::codes);
    const std::vector<Packed> packed = packer.packed(form, images, {0, 1, 0});
    for (std::size_t i = 0; i < images.size(); ++i) {
      expect_expected(form, images[i], packed[i], "picture " + std::to_string(i), i == 1);
    }
  }
}

#define IMPIPE_PACK_TESTS(suite, backend)                                           \
  class suite : public ::testing::Test {                                            \
   protected:                                                                       \
    void SetUp() override {                                                         \
      device_ = device_of(backend, pool_);                                          \
      if (device_ == nullptr) GTEST_SKIP() << "no device of " << backend.name;      \
    }                                                                               \
    ThreadPool pool_{0};                                                            \
    std::unique_ptr<Device> device_;                                                \
  };                                                                                \
  TEST_F(suite, HasTheBytesOfEveryForm) { expect_all_forms(*device_); }             \
  TEST_F(suite, PacksStacksInParts) {                                               \
    const PackedForm form = form_of(PixelClass::uint8, 3, {317, 211}, Filter::png); \
    expect_parts_and_stacks(*device_, form, DeflateEffort::codes);                  \
  }                                                                                 \
  TEST_F(suite, PacksStacksInPartsWithCopies) {                                     \
    const PackedForm form = form_of(PixelClass::uint8, 1, {517, 401}, Filter::png); \
    expect_parts_and_stacks(*device_, form, DeflateEffort::copies);                 \
  }                                                                                 \
  TEST_F(suite, PacksStacksInLzw) {                                                 \
    PackedForm form = form_of(PixelClass::uint16, 1, {317, 211}, Filter::none);     \
    form.packing = Packing::lzw;                                                    \
    expect_parts_and_stacks(*device_, form, DeflateEffort::copies);                 \
    form.filter = Filter::differences;                                              \
    form.chunk.height = 30;                                                         \
    expect_parts_and_stacks(*device_, form, DeflateEffort::copies);                 \
  }                                                                                 \
  TEST_F(suite, PacksManyChunks) { expect_many_chunks(*device_); }                  \
  TEST_F(suite, LimitsTheLengthOfCodes) { expect_deep_trees(*device_); }            \
  TEST_F(suite, MultipliesByAssociatedAlpha) { expect_associated_alpha(*device_); } \
  TEST_F(suite, RoundsHalvesAndLeavesWhatTheyDoNotHold) { expect_halves(*device_); }

IMPIPE_PACK_TESTS(OpenClPack, opencl_backend)
IMPIPE_PACK_TESTS(CudaPack, cuda_backend)

TEST(Packs, LeavesToTheHostWhatItDoesNotKnow) {
  const PackedForm png = form_of(PixelClass::uint8, 3, {10, 10}, Filter::png);
  EXPECT_TRUE(packs(png));
  const auto with = [&](auto change) {
    PackedForm form = png;
    change(form);
    return packs(form);
  };
  EXPECT_FALSE(with([](PackedForm& f) { f.packing = Packing::lzw; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.packing = Packing::packbits; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.bits = 16; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.order = Order::by_row; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.channel_of.pop_back(); }));
  EXPECT_FALSE(with([](PackedForm& f) { f.size = f.chunk = {40000, 40000}; }));
  EXPECT_FALSE(with([](PackedForm& f) {
    f.size = {1, 65536};
    f.chunk = {1, 1};
  }));
  EXPECT_FALSE(with([](PackedForm& f) { f.filter = Filter::float_differences; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.palette = true; }));
  EXPECT_TRUE(with([](PackedForm& f) { f.alpha = Alpha::straight; }));
  EXPECT_FALSE(with([](PackedForm& f) { f.alpha = Alpha::associated; }));  // of integers
}

}  // namespace
}  // namespace impipe::testing
