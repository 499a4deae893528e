// Flips and transposition of a tile.
#include "backends/cpu/permute.hpp"

#include <cstring>

namespace impipe::cpu {
namespace {

template <int Bytes>
struct Pixel {
  std::byte bytes[Bytes];
};

// out row y, column x = in[y * row_step + x * column_step], steps in bytes.
template <int Bytes>
void gather_pixels(const std::byte* in, std::int64_t row_step, std::int64_t column_step,
                   std::int64_t width, std::int64_t height, TileOut out) {
  using P = Pixel<Bytes>;
  // Blocks keep the lines of a transposition in the first cache.
  constexpr std::int64_t block = 32;
  for (std::int64_t y0 = 0; y0 < height; y0 += block) {
    for (std::int64_t x0 = 0; x0 < width; x0 += block) {
      const std::int64_t y1 = std::min(y0 + block, height), x1 = std::min(x0 + block, width);
      for (std::int64_t y = y0; y < y1; ++y) {
        P* to = reinterpret_cast<P*>(out.data + y * out.stride);
        for (std::int64_t x = x0; x < x1; ++x) {
          std::memcpy(&to[x], in + y * row_step + x * column_step, Bytes);
        }
      }
    }
  }
}

}  // namespace

void run_permute(const Permute& permute, const TileImage& in, const Region& region, TileOut out,
                 CpuLevel level) {
  (void)level;
  const Region from = permuted(permute, region, in.size);
  const std::int64_t pixel = in.pixel_bytes();
  // Steps through the input for one output column and one output row.
  std::int64_t across = permute.transpose ? in.stride : pixel;
  std::int64_t down = permute.transpose ? pixel : in.stride;
  std::int64_t x = from.x0, y = from.y0;  // under the output's first pixel
  if (permute.flip_x) {
    across = -across;
    (permute.transpose ? y : x) = (permute.transpose ? from.y1 : from.x1) - 1;
  }
  if (permute.flip_y) {
    down = -down;
    (permute.transpose ? x : y) = (permute.transpose ? from.x1 : from.y1) - 1;
  }
  const std::byte* first = in.at(x, y);
  const std::int64_t w = region.width(), h = region.height();
  switch (pixel) {
    case 1: return gather_pixels<1>(first, down, across, w, h, out);
    case 2: return gather_pixels<2>(first, down, across, w, h, out);
    case 3: return gather_pixels<3>(first, down, across, w, h, out);
    case 4: return gather_pixels<4>(first, down, across, w, h, out);
    case 6: return gather_pixels<6>(first, down, across, w, h, out);
    default: return gather_pixels<12>(first, down, across, w, h, out);
  }
}

}  // namespace impipe::cpu
