// Parts of a thin tall tile, one beside another.
#include "backends/cpu/tile/side_by_side.hpp"

#include <cstring>
#include <type_traits>
#include <vector>

#include "backends/cpu/tile/rows.hpp"
#include "core/plane_bytes.hpp"

namespace impipe::cpu {
namespace {

// Up to this width a row costs more than its pixels, and so do the pixels that parts read around
// themselves, up to this width with them.
constexpr std::int64_t max_width = 32, max_width_around = 96;
// Pixels of a row of parts, and of all of them: they stay in the L2 cache.
constexpr std::int64_t row_pixels = 1024, all_pixels = 65536;

// Rows of `in` to rows of parts: row y of part p is from rows[p * part_rows + y], column x of it
// from columns[x]. -1: outside, which has the value `beside`.
template <class T>
void lay_out(T* out, std::int64_t stride, const PartsPlan& plan, std::int64_t height,
             const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
             const TileImage& in, T beside) {
  const auto width = static_cast<std::int64_t>(columns.size());
  std::int64_t from[max_width_around], outside[max_width_around], outsides = 0;
  for (std::int64_t x = 0; x < width; ++x) {
    from[x] = columns[x] < 0 ? 0 : columns[x] - in.region.x0;
    if (columns[x] < 0) outside[outsides++] = x;
  }
  for (std::int64_t y = 0; y < height; ++y, out += stride) {
    T* to = out;
    for (std::int64_t p = 0; p < plan.parts; ++p, to += width) {
      const std::int64_t row = rows[static_cast<std::size_t>(p * plan.rows + y)];
      if (row < 0) {
        std::fill_n(to, width, beside);
        continue;
      }
      const T* pixels = reinterpret_cast<const T*>(in.at(in.region.x0, row));
      for (std::int64_t x = 0; x < width; ++x) to[x] = pixels[from[x]];
      for (std::int64_t i = 0; i < outsides; ++i) to[outside[i]] = beside;
    }
  }
}

// Where `n` places from `first` on are read, in an image that is `length` long.
std::vector<std::int64_t> places(std::int64_t first, std::int64_t n, std::int64_t length,
                                 Border border) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = first + i;
    out[i] = at >= 0 && at < length ? at : map_outside(at, length, border);
  }
  return out;
}

// f is called with a value of the type that has this many bytes.
template <class F>
void with_pixel(int bytes, F&& f) {
  if (bytes == 1) {
    f(std::uint8_t{});
  } else if (bytes == 2) {
    f(std::uint16_t{});
  } else {
    f(std::uint32_t{});
  }
}

}  // namespace

PartsPlan plan_parts(const PrimitiveFacts& facts, const Region& region) {
  const Footprint& f = facts.footprint;
  const std::int64_t around = f.up + f.down, apart = region.width() + f.left + f.right;
  if (region.width() > max_width || apart > max_width_around) return {};
  const std::int64_t least_rows = std::max<std::int64_t>(16, 2 * around);
  PartsPlan plan;
  plan.parts = std::min(row_pixels / apart, region.height() / least_rows);
  if (plan.parts < 2) return {};
  const std::int64_t most_rows = std::max(least_rows, all_pixels / (plan.parts * apart) - around);
  plan.rows = std::min((region.height() + plan.parts - 1) / plan.parts, most_rows);
  plan.region_rows = plan.parts * plan.rows;
  return plan;
}

SideBySide::SideBySide(const PartsPlan& plan, const PrimitiveFacts& facts, const TileImage& in,
                       const Region& region, const Outside& outside, Scratch& scratch)
    : plan_(plan), region_(region) {
  const Footprint& f = facts.footprint;
  const Region read = under(facts, region);
  apart_ = read.width();
  const std::int64_t width = plan.parts * apart_, height = plan.rows + f.up + f.down;
  const std::int64_t stride = plane_stride(width * in.pixel_bytes());
  std::byte* data = scratch.take<std::byte>(stride * height);
  image_ = {data, stride, {0, 0, width, height}, {width, height}, in.cls};
  const std::int64_t x = f.left - facts.shift_x, y = f.up - facts.shift_y;
  results_ = {x, y, x + width - f.left - f.right, y + plan.rows};

  // The last part may have rows below the region: they read what the region's last row reads.
  std::vector<std::int64_t> rows = places(read.y0, read.height(), in.size.height, outside.border);
  rows.resize(static_cast<std::size_t>(plan.region_rows + f.up + f.down), rows.back());
  const std::vector<std::int64_t> columns = places(read.x0, apart_, in.size.width, outside.border);
  with_pixel(in.pixel_bytes(), [&](auto beside) {
    using T = decltype(beside);
    fill_elements(reinterpret_cast<std::byte*>(&beside), in.cls, outside.value, 1);
    lay_out(reinterpret_cast<T*>(data), stride / in.pixel_bytes(), plan, height, rows, columns, in,
            beside);
  });
}

void SideBySide::stack(const TileOut& made, TileOut out, int pixel_bytes) const {
  with_pixel(pixel_bytes, [&](auto pixel) {
    using T = decltype(pixel);
    const std::int64_t width = region_.width();
    for (std::int64_t row = 0; row < region_.height(); ++row) {
      const std::byte* from = made.data + row % plan_.rows * made.stride;
      std::copy_n(reinterpret_cast<const T*>(from) + row / plan_.rows * apart_, width,
                  reinterpret_cast<T*>(out.data + row * out.stride));
    }
  });
}

}  // namespace impipe::cpu
