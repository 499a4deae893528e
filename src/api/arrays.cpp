#include "api/arrays.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/plane_rows.hpp"
#include "io/picture/pixel_rows.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::api {
namespace {

// What the types of the header are: bytes of an item, the class they become, and its white.
struct TypeFacts {
  const char* name;
  int bytes;
  PixelClass cls;
  double white;
};
constexpr std::array<TypeFacts, 12> types{{{"logical", 1, PixelClass::logical, 1},
                                           {"uint8", 1, PixelClass::uint8, 255},
                                           {"uint16", 2, PixelClass::uint16, 65535},
                                           {"single", 4, PixelClass::single, 1},
                                           {"half", 2, PixelClass::single, 1},
                                           {"double", 8, PixelClass::single, 1},
                                           {"int8", 1, PixelClass::single, 0},
                                           {"int16", 2, PixelClass::single, 0},
                                           {"int32", 4, PixelClass::single, 0},
                                           {"int64", 8, PixelClass::single, 0},
                                           {"uint32", 4, PixelClass::single, 0},
                                           {"uint64", 8, PixelClass::single, 0}}};

const TypeFacts& facts_of(const impipe_image& array) {
  return types[static_cast<std::size_t>(array.type)];
}

std::string shape_of(const impipe_image& array) {
  return to_string(Size{array.width, array.height}) + " x " + std::to_string(array.channels);
}

// Items of one channel to a row of its plane.
template <class Item, class Pixel, class Convert>
void read_rows(const std::byte* from, const impipe_image& array, Plane& plane, Convert convert) {
  for (std::int64_t y = 0; y < array.height; ++y) {
    const std::byte* at = from + y * array.step_y;
    Pixel* row = plane.row_as<Pixel>(y);
    for (std::int64_t x = 0; x < array.width; ++x, at += array.step_x) {
      Item item;
      std::memcpy(&item, at, sizeof item);
      row[x] = convert(item);
    }
  }
}

template <class Item>
void read_numbers(const std::byte* from, const impipe_image& array, Plane& plane,
                  io::Inexact& inexact) {
  read_rows<Item, float>(from, array, plane,
                         [&](Item item) { return io::to_single(item, inexact); });
}

template <class Pixel>
void read_pixels(const std::byte* from, const impipe_image& array, Plane& plane) {
  read_rows<Pixel, Pixel>(from, array, plane, [](Pixel pixel) { return pixel; });
}

void read_channel(const std::byte* from, const impipe_image& array, Plane& plane,
                  io::Inexact& inexact) {
  switch (array.type) {
    case IMPIPE_LOGICAL:
      return read_rows<std::uint8_t, std::uint8_t>(
          from, array, plane, [](std::uint8_t item) { return item != 0 ? 1 : 0; });
    case IMPIPE_UINT8: return read_pixels<std::uint8_t>(from, array, plane);
    case IMPIPE_UINT16: return read_pixels<std::uint16_t>(from, array, plane);
    case IMPIPE_SINGLE: return read_pixels<float>(from, array, plane);
    case IMPIPE_HALF: return read_rows<std::uint16_t, float>(from, array, plane, io::half_to_float);
    case IMPIPE_DOUBLE: return read_numbers<double>(from, array, plane, inexact);
    case IMPIPE_INT8: return read_numbers<std::int8_t>(from, array, plane, inexact);
    case IMPIPE_INT16: return read_numbers<std::int16_t>(from, array, plane, inexact);
    case IMPIPE_INT32: return read_numbers<std::int32_t>(from, array, plane, inexact);
    case IMPIPE_INT64: return read_numbers<std::int64_t>(from, array, plane, inexact);
    case IMPIPE_UINT32: return read_numbers<std::uint32_t>(from, array, plane, inexact);
    default: return read_numbers<std::uint64_t>(from, array, plane, inexact);
  }
}

// Whether rows of the array are as files have them, and aligned.
bool has_file_rows(const impipe_image& array, const std::byte* from) {
  const std::int64_t bytes = facts_of(array).bytes;
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(from) % static_cast<std::uintptr_t>(bytes) == 0 &&
      array.step_y % bytes == 0;
  return is_aligned && array.step_x == bytes * array.channels &&
         (array.channels == 1 || array.step_channel == bytes);
}

bool is_class(int type) { return type >= IMPIPE_LOGICAL && type <= IMPIPE_SINGLE; }

}  // namespace

ImageType type_of(const impipe_image& array) {
  if (array.type < 0 || array.type >= static_cast<int>(types.size())) {
    throw Error("an image of type " + std::to_string(array.type) + ": there is no such type");
  }
  const TypeFacts& facts = facts_of(array);
  const bool has_alpha = array.alpha != 0;
  const std::int64_t colours = array.channels - (has_alpha ? 1 : 0);
  if (array.width < 1 || array.height < 1 || array.pages < 1) {
    throw Error("the image is " + shape_of(array) + ", and has " + std::to_string(array.pages) +
                    " pages: there is nothing in it",
                ExitCode::file_failed);
  }
  if (colours < 1 || colours > max_channels) {
    throw Error("the image is " + shape_of(array) + ": 1 to " + std::to_string(max_channels) +
                    " channels are taken, and perhaps an alpha",
                ExitCode::file_failed);
  }
  constexpr std::int64_t max_pages = 1 << 30;
  if (array.pages > max_pages) {
    throw Error("the image has " + std::to_string(array.pages) + " pages, more than the limit of " +
                    std::to_string(max_pages),
                ExitCode::file_failed);
  }
  if (has_alpha && facts.white == 0) {
    throw Error(std::string("numbers of type ") + facts.name + " have no white, and so no alpha",
                ExitCode::file_failed);
  }
  if (array.width > pipeline::default_max_pixels / array.height) {
    throw Error("too many pixels: " + to_string(Size{array.width, array.height}) +
                    " is more than the limit of " + std::to_string(pipeline::default_max_pixels),
                ExitCode::file_failed);
  }
  return {facts.cls, static_cast<int>(colours), has_alpha, facts.white};
}

engine::PageList pages_of(const impipe_image& array) {
  engine::PageList out;
  out.numbers.resize(static_cast<std::size_t>(array.pages));
  std::iota(out.numbers.begin(), out.numbers.end(), 0);
  const std::string_view text = array.page_axes == nullptr ? "" : array.page_axes;
  const char* const end = text.data() + text.size();
  std::int64_t pages = 1;
  for (const char* at = text.data(); at != end;) {
    io::PageAxis axis{*at++, 0};
    const auto read = std::from_chars(at, end, axis.count);
    if (read.ec != std::errc() || axis.count < 1 || pages > array.pages) break;
    at = read.ptr;
    pages *= axis.count;
    out.axes.push_back(axis);
  }
  if (!text.empty() && pages != array.pages) {
    throw Error("page_axes: " + std::string(text) + " are not axes of " +
                std::to_string(array.pages) + " pages; t3z4 are those of 12");
  }
  return out;
}

HostImage page_of(const impipe_image& array, std::int64_t page, io::Inexact& inexact,
                  ThreadPool& pool) {
  if (array.data == nullptr) throw Error("an image without data");
  HostImage image(type_of(array), {array.width, array.height});
  const std::byte* from = static_cast<const std::byte*>(array.data) + page * array.step_page;
  if (is_class(array.type) && array.type != IMPIPE_LOGICAL && has_file_rows(array, from)) {
    for_rows(image.size(), pool, [&](RowRange range) {
      io::RowSplitter rows(image);
      for (std::int64_t y = range.begin; y < range.end; ++y) rows.put(from + y * array.step_y, y);
    });
    return image;
  }
  for (std::int64_t c = 0; c < array.channels; ++c) {
    Plane& plane =
        c < image.type.channels ? image.planes[static_cast<std::size_t>(c)] : image.alpha;
    read_channel(from + c * array.step_channel, array, plane, inexact);
  }
  return image;
}

DeviceArray channels_there(const impipe_image& array, std::int64_t page) {
  const TypeFacts& facts = facts_of(array);
  if (array.data == nullptr) throw Error("an image without data");
  if (!is_class(array.type)) {
    throw Error(std::string("an array of ") + facts.name +
                    " on a device is not converted: make it bool, uint8, uint16 or float32 there",
                ExitCode::file_failed);
  }
  for (const std::int64_t step :
       {array.step_x, array.step_y, array.step_channel, array.step_page}) {
    if (step % facts.bytes != 0) {
      throw Error("an array on a device whose steps are no multiples of its items",
                  ExitCode::file_failed);
    }
  }
  return {.memory = reinterpret_cast<std::uintptr_t>(array.data),
          .offset = page * array.step_page,
          .cls = facts.cls,
          .channels = static_cast<int>(array.channels) - (array.alpha != 0 ? 1 : 0),
          .size = {array.width, array.height},
          .step_x = array.step_x,
          .step_y = array.step_y,
          .step_channel = array.step_channel};
}

DeviceArray pages_there(const impipe_image& array) {
  DeviceArray out = channels_there(array, 0);
  if (out.channels == 1) out.step_channel = array.step_page;
  const bool is_regular = out.channels * out.step_channel == array.step_page;
  if (is_regular && array.alpha == 0) out.count = static_cast<int>(array.pages);
  return out;
}

DeviceArray alpha_there(const impipe_image& array, std::int64_t page) {
  DeviceArray out = channels_there(array, page);
  out.offset += out.channels * array.step_channel;
  out.channels = 1;
  return out;
}

impipe_image described(const ImageType& type, Size size) {
  const std::int64_t channels = io::stored_channels(type), bytes = bytes_of(type.cls);
  impipe_image out{};
  out.type = static_cast<std::int32_t>(type.cls);
  out.alpha = type.alpha ? 1 : 0;
  out.width = size.width;
  out.height = size.height;
  out.channels = channels;
  out.pages = 1;
  out.step_channel = bytes;
  out.step_x = channels * bytes;
  out.step_y = size.width * out.step_x;
  out.step_page = size.height * out.step_y;
  out.white = type.white;
  return out;
}

void copy_to(const HostImage& image, const impipe_image& to, ThreadPool& pool) {
  const impipe_image from = described(image.type, image.size());
  if (to.data == nullptr || to.type != from.type || to.width != from.width ||
      to.height != from.height || to.channels != from.channels) {
    throw Error("the image is " + shape_of(from) + " of type " + facts_of(from).name +
                ", and what it is to be copied to is not");
  }
  auto* out = static_cast<std::byte*>(to.data);
  if (has_file_rows(to, out)) {
    for_rows(image.size(), pool, [&](RowRange range) {
      io::RowJoiner rows(image);
      for (std::int64_t y = range.begin; y < range.end; ++y) rows.copy(y, out + y * to.step_y);
    });
    return;
  }
  const auto bytes = static_cast<std::size_t>(from.step_channel);
  for (std::int64_t c = 0; c < to.channels; ++c) {
    const Plane& plane =
        c < image.type.channels ? image.planes[static_cast<std::size_t>(c)] : image.alpha;
    for (std::int64_t y = 0; y < to.height; ++y) {
      const std::byte* row = plane.row(y);
      std::byte* at = out + c * to.step_channel + y * to.step_y;
      for (std::int64_t x = 0; x < to.width; ++x, row += bytes, at += to.step_x) {
        std::memcpy(at, row, bytes);
      }
    }
  }
}

}  // namespace impipe::api
