// rgb2ind: an image of few colours, or its palette. Median cut of the distinct colours: the box of
// most pixels is cut at the middle pixel of its widest channel, again and again.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "core/plane_rows.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

// Red, green and blue of 8 bits each as one number.
using Code = std::uint32_t;
using Codes = std::vector<Code>;

struct Colour {
  std::array<std::uint8_t, 3> value{};
  std::int64_t pixels = 0;
};
using Colours = std::vector<Colour>;

Codes codes_of(const Planes& planes) {
  Codes codes;
  const Size size = planes.front().size();
  codes.reserve(static_cast<std::size_t>(size.pixels()));
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      Code code = 0;
      for (const Plane& plane : planes) code = code << 8 | plane.row_as<std::uint8_t>(y)[x];
      codes.push_back(code);
    }
  }
  return codes;
}

Code code_of(const Colour& colour) {
  return Code{colour.value[0]} << 16 | Code{colour.value[1]} << 8 | colour.value[2];
}

Colours colours_of(const Codes& codes) {
  std::map<Code, std::int64_t> counts;
  for (const Code code : codes) ++counts[code];
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

std::vector<Colours> boxes_of(const Codes& codes, int colours) {
  std::vector<Colours> boxes{colours_of(codes)};
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
std::array<std::uint8_t, 3> mean_of_box(const Colours& box) {
  std::array<std::uint8_t, 3> out{};
  const std::int64_t pixels = pixels_of(box);
  for (std::size_t c = 0; c < 3; ++c) {
    std::int64_t sum = 0;
    for (const Colour& one : box) sum += one.pixels * one.value[c];
    out[c] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
  }
  return out;
}

// Each pixel's entry in the palette, counted from 0, or its colour there.
void paint(const Planes& bytes, int colours, Planes& result) {
  const Codes codes = codes_of(bytes);
  const std::vector<Colours> boxes = boxes_of(codes, colours);
  std::unordered_map<Code, std::size_t> box_of;
  std::vector<std::array<std::uint8_t, 3>> means;
  for (const Colours& box : boxes) {
    for (const Colour& one : box) box_of[code_of(one)] = means.size();
    means.push_back(mean_of_box(box));
  }
  const Size size = result.front().size();
  with_pixel(result.front().cls(), [&]<class T>(T) {
    for (std::int64_t i = 0; i < size.pixels(); ++i) {
      const std::size_t box = box_of.at(codes[static_cast<std::size_t>(i)]);
      for (std::size_t c = 0; c < result.size(); ++c) {
        result[c].row_as<T>(i / size.width)[i % size.width] =
            static_cast<T>(result.size() == 1 ? box : means[box][c]);
      }
    }
  });
}

// A row of red, green and blue for each colour of an image whose pixels are codes.
std::vector<double> palette_of(const Plane& image, int colours) {
  Codes codes;
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    const float* row = image.row_as<float>(y);
    for (std::int64_t x = 0; x < image.size().width; ++x) {
      codes.push_back(static_cast<Code>(row[x]));
    }
  }
  std::vector<double> rows;
  for (const Colours& box : boxes_of(codes, colours)) {
    for (const std::uint8_t value : mean_of_box(box)) rows.push_back(value / 255.0);
  }
  return rows;
}

// The codes, which float32 holds exactly, as one channel.
ImageValue image_of_codes(const Call& call, PlanBuilder& plan, const ImageValue& bytes) {
  const auto make = [](std::span<const Planes> images, Planes& result) {
    const Codes codes = codes_of(images.front());
    const std::int64_t width = result.front().size().width;
    for (std::int64_t y = 0; y < result.front().size().height; ++y) {
      std::copy_n(codes.begin() + y * width, width, result.front().row_as<float>(y));
    }
  };
  return on_host(call, plan, {bytes}, {.cls = PixelClass::single, .white = 0, .channels = 1},
                 {.name = "codes", .make = make, .bytes_a_pixel = sizeof(Code)});
}

ImageValue lower_rgb2ind(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const int colours = static_cast<int>(call.number("n"));
  const std::string& out = call.word("out");
  if (out == "map") {
    const ImageValue codes = image_of_codes(call, plan, to_uint8(plan, image).without_alpha());
    plan.report_objects("rgb2ind", {.labels = codes.id,
                                    .columns = {"Red", "Green", "Blue"},
                                    .rows = [colours](const Plane& of, const Plane*) {
                                      return palette_of(of, colours);
                                    }});
    return image;
  }
  if (out == "index") plan.drop_alpha();
  const ImageValue bytes = to_uint8(plan, plan.current());
  Result result = like(bytes);
  if (out == "index") {
    result.cls = colours > 256 ? PixelClass::uint16 : PixelClass::uint8;
    result.white = class_max(result.cls);
    result.channels = 1;
  }
  const auto make = [colours](std::span<const Planes> images, Planes& made) {
    paint(images.front(), colours, made);
  };
  return on_host(call, plan, {bytes}, result, {.make = make, .bytes_a_pixel = 64});
}

const RegisterOperator rgb2ind_operator{{
    .name = "rgb2ind",
    .help = "a palette of few colours by median cut: indices into it, the palette, or the image",
    .parameters = {{.name = "n",
                    .letter = 'n',
                    .help = "how many colours at most",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536},
                    .required = true},
                   {.name = "out",
                    .help = "index: each pixel's place in the palette, from 0; map: the palette as "
                            "a table; image: the pixels in its colours",
                    .words = {"index", "map", "image"},
                    .fallback = "index"}},
    .colour = true,
    .table = true,
    .details =
        R"(Of the values of im2uint8, without dithering: the box of most pixels (of equals the oldest) that has two
colours is cut in its widest channel (of equals r, g, b) behind the smallest value that half of its pixels
do not exceed (before the largest value, if that is it), until there are n boxes. The lower part keeps the
box's number, the upper one has the next. The colour of a box is the mean of its pixels, rounded half up.
index is uint8, for n above 256 uint16. map measures instead: a row of red, green and blue in [0,1] for
each colour; -o '{stem}.npy' or '.tsv' saves them, and ind2rgb takes them as text. On the host.)",
    .example = "rgb2ind 16 image",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::zero, "Inf saturates"},
    .matlab = "[X,map] = rgb2ind(A,n,'nodither') (there minimum variance quantisation)",
    .lower = lower_rgb2ind,
}};

}  // namespace
}  // namespace impipe::ops
