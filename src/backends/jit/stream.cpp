// A pass over all pixels of an image by groups that take bands of rows in turn.
#include "backends/jit/stream.hpp"

#include <algorithm>

#include "backends/jit/dialect.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

// Four loads are under way before the first is used.
constexpr const char* wide_rows = R"(    const int across = $across;
    for (int y = GROUP_X * ($items / across) + ITEM / across; y < $height;
         y += GROUPS_X * ($items / across)) {
      GLOBAL const $pixel* const row = $row;
      int x = ITEM % across * $wide;
      for (; x + (3 * across + 1) * $wide <= $width; x += 4 * across * $wide) {
        const $vector v0 = $load(row + x);
        const $vector v1 = $load(row + x + across * $wide);
        const $vector v2 = $load(row + x + 2 * across * $wide);
        const $vector v3 = $load(row + x + 3 * across * $wide);
        { const $vector v = v0; $chunk }
        { const $vector v = v1; $chunk }
        { const $vector v = v2; $chunk }
        { const $vector v = v3; $chunk }
      }
      for (; x + $wide <= $width; x += across * $wide) {
        const $vector v = $load(row + x);
        $chunk
      }
      for (; x < $width; ++x) {
        const $pixel p = row[x];
        $each
      }
    }
)";

constexpr const char* narrow_rows = R"(    const int across = $across;
    for (int y = GROUP_X * ($items / across) + ITEM / across; y < $height;
         y += GROUPS_X * ($items / across)) {
      for (int x = ITEM % across; x < $width; x += across) {
        const $pixel p = $value;
        $each
      }
    }
)";

// Work-items side by side in a row: a power of two that gives each four loads of it.
int across_of(std::int64_t width, int items, int wide) {
  const std::int64_t loads = (width + wide - 1) / wide;
  int across = 1;
  while (across < items && 8 * across <= loads) across *= 2;
  return across;
}

}  // namespace

bool Stream::wide(const Builder& to) const {
  const bool plane = image.external || to.output_of(image.index) >= 0;
  return to.fast() && plane && to.channels(image) == 1;
}

std::int64_t Stream::groups_for(const LaunchContext& at, int values_a_load) const {
  const Size size = at.size_of(image);
  const int rows = items / across_of(size.width, items, values_a_load);
  return std::min<std::int64_t>(groups, (size.height + rows - 1) / rows);
}

int values_a_load(const Builder& to, const Stream& stream) {
  return stream.wide(to) ? 16 / bytes_of(to.cls(stream.image)) : 1;
}

std::string stream_rows(Builder& to, const Stream& stream, const std::string& chunk,
                        const std::string& pixel) {
  const Operand image = stream.image;
  const int wide = values_a_load(to, stream), items = stream.items;
  const std::string across =
      to.parameter(ParameterType::int32, Builder::name(image) + "_across_" + std::to_string(items),
                   [image, items, wide](const LaunchContext& at, int) {
                     return static_cast<double>(across_of(at.size_of(image).width, items, wide));
                   });
  const bool is_wide = stream.wide(to), single = to.cls(image) == PixelClass::single;
  return filled(is_wide ? wide_rows : narrow_rows,
                {{"across", across},
                 {"items", std::to_string(items)},
                 {"width", to.width(image)},
                 {"height", to.height(image)},
                 {"pixel", type_of(to.cls(image))},
                 {"vector", single ? "float4" : "uint4"},
                 {"load", single ? "*(GLOBAL const float4*)" : "load_words_once"},
                 {"row", is_wide ? to.plane(image).row("y") : ""},
                 {"value", is_wide ? "" : to.value(image, "x", "y", "c")},
                 {"wide", std::to_string(wide)},
                 {"chunk", chunk},
                 {"each", pixel}});
}

}  // namespace impipe::jit
