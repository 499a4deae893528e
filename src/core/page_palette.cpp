// Median cut of the distinct colours of a page: the box of most pixels is cut at the middle pixel
// of its widest channel, again and again.
#include "core/page_operation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

struct Colour {
  std::array<std::uint8_t, 3> value{};
  std::int64_t pixels = 0;
};
using Colours = std::vector<Colour>;

std::uint32_t code_at(const HostImage& page, std::int64_t x, std::int64_t y) {
  std::uint32_t code = 0;
  for (const Plane& plane : page.planes) code = code << 8 | plane.row_as<std::uint8_t>(y)[x];
  return code;
}

std::uint32_t code_of(const Colour& colour) {
  return std::uint32_t{colour.value[0]} << 16 | std::uint32_t{colour.value[1]} << 8 |
         colour.value[2];
}

Colours colours_of(const HostImage& page) {
  std::map<std::uint32_t, std::int64_t> counts;
  for (std::int64_t y = 0; y < page.size().height; ++y) {
    for (std::int64_t x = 0; x < page.size().width; ++x) ++counts[code_at(page, x, y)];
  }
  Colours out;
  for (const auto& [code, count] : counts) {
    out.push_back({{static_cast<std::uint8_t>(code >> 16), static_cast<std::uint8_t>(code >> 8),
                    static_cast<std::uint8_t>(code)},
                   count});
  }
  return out;
}

std::int64_t pixels_of(const Colours& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{0},
                         [](std::int64_t sum, const Colour& one) { return sum + one.pixels; });
}

// Takes the part above the cut out of the box.
Colours cut(Colours& box) {
  std::size_t widest = 0;
  int range = -1, most = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto [low, high] =
        std::ranges::minmax_element(box, {}, [c](const Colour& one) { return one.value[c]; });
    if (high->value[c] - low->value[c] <= range) continue;
    range = high->value[c] - low->value[c];
    most = high->value[c];
    widest = c;
  }
  std::ranges::stable_sort(box, {}, [widest](const Colour& one) { return one.value[widest]; });
  const std::int64_t all = pixels_of(box);
  std::int64_t below = 0;
  int at = 0, before = 0;
  for (const Colour& one : box) {
    if (one.value[widest] != at) before = at;
    at = one.value[widest];
    below += one.pixels;
    if (2 * below >= all) break;
  }
  const int last = at == most ? before : at;
  const auto end =
      std::ranges::find_if(box, [&](const Colour& one) { return one.value[widest] > last; });
  Colours above(end, box.end());
  box.erase(end, box.end());
  return above;
}

std::vector<Colours> boxes_of(const HostImage& page, int colours) {
  std::vector<Colours> boxes{colours_of(page)};
  std::vector<std::int64_t> pixels{pixels_of(boxes.front())};
  while (std::ssize(boxes) < colours) {
    std::size_t largest = boxes.size();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (boxes[i].size() < 2) continue;
      if (largest == boxes.size() || pixels[i] > pixels[largest]) largest = i;
    }
    if (largest == boxes.size()) break;
    Colours above = cut(boxes[largest]);
    pixels.push_back(pixels_of(above));
    pixels[largest] -= pixels.back();
    boxes.push_back(std::move(above));
  }
  return boxes;
}

// The mean of a box's pixels, rounded half up.
std::array<std::uint8_t, 3> mean_of(const Colours& box) {
  std::array<std::uint8_t, 3> out{};
  const std::int64_t pixels = pixels_of(box);
  for (std::size_t c = 0; c < 3; ++c) {
    std::int64_t sum = 0;
    for (const Colour& one : box) sum += one.pixels * one.value[c];
    out[c] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
  }
  return out;
}

void paint(const HostImage& page, const std::vector<Colours>& boxes, PaletteResult what,
           HostImage& result) {
  std::unordered_map<std::uint32_t, std::uint32_t> box_of;
  for (std::uint32_t i = 0; i < boxes.size(); ++i) {
    for (const Colour& one : boxes[i]) box_of[code_of(one)] = i;
  }
  std::vector<std::array<std::uint8_t, 3>> means;
  for (const Colours& box : boxes) means.push_back(mean_of(box));
  with_pixel(result.type.cls, [&]<class T>(T) {
    for (std::int64_t y = 0; y < page.size().height; ++y) {
      for (std::int64_t x = 0; x < page.size().width; ++x) {
        const std::uint32_t box = box_of.at(code_at(page, x, y));
        for (std::size_t c = 0; c < result.planes.size(); ++c) {
          result.planes[c].row_as<T>(y)[x] =
              static_cast<T>(what == PaletteResult::index ? box : means[box][c]);
        }
      }
    }
  });
}

}  // namespace

Volume palette_pages(int colours, PaletteResult result) {
  return each_page(
      {.type =
           [=](ImageType type) {
             if (result == PaletteResult::image) return type;
             type.cls = colours > 256 ? PixelClass::uint16 : PixelClass::uint8;
             type.white = class_max(type.cls);
             type.channels = 1;
             return type;
           },
       .size = {},
       .make = [=](const HostImage& page, HostImage& made,
                   ThreadPool&) { paint(page, boxes_of(page, colours), result, made); },
       .bytes_a_pixel = 64});
}

Volume palette_table(int colours) {
  return table_of_pages(
      {.columns = {"Red", "Green", "Blue"}, .make = [=](const HostImage& page, ThreadPool&) {
         std::vector<double> rows;
         for (const Colours& box : boxes_of(page, colours)) {
           for (const std::uint8_t value : mean_of(box)) {
             rows.push_back(value / 255.0);
           }
         }
         return rows;
       }});
}

}  // namespace impipe
