// A grid-stride loop over the pixels of an image: groups take bands of rows in turn.
#include "backends/jit/measure/grid_stride.hpp"

#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// Work-items side by side in a row: a power of two that gives each four loads of it.
int across_of(std::int64_t width, int items, int wide) {
  const std::int64_t loads = (width + wide - 1) / wide;
  int across = 1;
  while (across < items && 8 * across <= loads) across *= 2;
  return across;
}

}  // namespace

std::int64_t GridStride::groups_for(const LaunchContext& at, int values_a_load) const {
  const Size size = at.size_of(image);
  const int rows = items / across_of(size.width, items, values_a_load);
  const std::int64_t most = std::max<std::int64_t>(1, groups_of_plane(at, at_once) * loads / items);
  return std::min(most, (size.height + rows - 1) / rows);
}

int values_a_load(const Builder& builder, const GridStride& stream) {
  return stream.wide(builder) ? 16 / bytes_of(builder.cls(stream.image)) : 1;
}

std::string grid_stride_rows(Builder& builder, const GridStride& stream, const std::string& chunk,
                             const std::string& pixel) {
  const Operand image = stream.image;
  const int wide = values_a_load(builder, stream), items = stream.items;
  const std::string across =
      builder.of_size(Builder::name(image) + "_across_" + std::to_string(items), image,
                      [items, wide](Size size) { return across_of(size.width, items, wide); });
  const bool is_wide = stream.wide(builder), single = builder.cls(image) == PixelClass::single;
  return Substitutions({{"across", across},
                        {"items", std::to_string(items)},
                        {"width", builder.width(image)},
                        {"height", builder.height(image)},
                        {"pixel", type_of(builder.cls(image))},
                        {"vector", single ? "float4" : "uint4"},
                        {"load", single ? "*(GLOBAL const float4*)" : "load_words_once"},
                        {"row", is_wide ? builder.plane(image).row("y") : ""},
                        {"value", is_wide ? "" : builder.value(image, "x", "y")},
                        {"wide", std::to_string(wide)},
                        {"chunk", chunk},
                        {"each", pixel}})
      .filled(part(kernels::grid_stride, is_wide ? "wide_rows" : "narrow_rows"));
}

}  // namespace impipe::jit
