// Ranks of values with offsets: no two windows share any, so each selects from its own.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

struct Cell {
  int row = 0;
  std::int64_t place = 0;  // elements from the window's first
  float offset = 0;
};

// Codes and offsets are whole numbers that floats hold.
template <class T>
T with_offset(T value, float offset, PixelClass cls) {
  const float sum = static_cast<float>(value) + offset;
  if constexpr (std::is_same_v<T, float>) {
    return sum;
  } else {
    return static_cast<T>(std::clamp(sum, 0.0f, static_cast<float>(class_max(cls))));
  }
}

// Orders NaN behind everything else.
template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

template <class T>
void run_class(const Rank& rank, const float* offsets, PixelClass cls, const RowsView& in,
               TileOut out) {
  std::vector<Cell> cells;
  for (int y = 0; y < rank.mask.height; ++y) {
    for (int x = 0; x < rank.mask.width; ++x) {
      if (!rank.mask.at(x, y)) continue;
      cells.push_back({y, x - rank.mask.origin_x, offsets[cells.size()]});
    }
  }
  std::vector<T> window(cells.size());
  const auto wanted = window.begin() + rank.rank;
  for (std::int64_t y = 0; y < in.height; ++y) {
    T* to = reinterpret_cast<T*>(out.data + y * out.stride);
    for (std::int64_t i = 0; i < in.width; ++i) {
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const T* row = reinterpret_cast<const T*>(in.rows[y + cells[k].row]);
        window[k] = with_offset(row[i + cells[k].place], cells[k].offset, cls);
      }
      std::nth_element(window.begin(), wanted, window.end(), before<T>);
      to[i] = one_zero(*wanted);
    }
  }
}

}  // namespace

void run_offset_rank(const Rank& rank, const float* offsets, PixelClass cls, const RowsView& in,
                     TileOut out) {
  with_pixel(cls, [&](auto pixel) { run_class<decltype(pixel)>(rank, offsets, cls, in, out); });
}

}  // namespace impipe::cpu
