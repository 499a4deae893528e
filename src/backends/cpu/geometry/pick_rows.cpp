// Rows whose pixels are picked from another row, for each instruction set.
#include "backends/cpu/geometry/pick_rows.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

constexpr int block_bytes = 16;
constexpr int max_vectors = 4;

// What an instruction set brings along.
struct PickKernels {
  void (*pick[max_vectors + 1])(const PickTable& table, std::byte* out, const std::byte* in);
  // n: multiples of pick_lanes; behind: the second of each two pixels at `in`.
  void (*every_second)(std::byte* out, const std::byte* in, bool behind, std::int64_t n);
  std::int64_t pick_lanes;
  std::int64_t (*reverse)(std::byte* out, const std::byte* last, std::int64_t n, int pixel_bytes);
};

#if IMPIPE_HAS_INTRINSICS
// The bytes of a block by pixels from the last to the first.
struct Backwards {
  std::uint8_t places[block_bytes];
  explicit constexpr Backwards(int pixel_bytes) : places{} {
    for (int i = 0; i < block_bytes; ++i) {
      const int pixel = block_bytes - pixel_bytes - i / pixel_bytes * pixel_bytes;
      places[i] = static_cast<std::uint8_t>(pixel + i % pixel_bytes);
    }
  }
};
constexpr Backwards backwards[] = {Backwards(1), Backwards(2), Backwards(4)};

#define IMPIPE_KERNELS "backends/cpu/geometry/pick_rows.inc"
#include "backends/cpu/simd/vector_levels.inc"

const PickKernels& kernels_of(CpuLevel level) {
  return level == CpuLevel::v4 ? v4::kernels : v3::kernels;
}
#endif

bool has_kernels(CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  return level != CpuLevel::baseline;
#else
  static_cast<void>(level);
  return false;
#endif
}

template <int pixel_bytes>
void pick_each(std::byte* out, const std::byte* in, const std::int32_t* places, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * pixel_bytes, in + std::int64_t{places[i]} * pixel_bytes, pixel_bytes);
  }
}

bool is_every_second(const std::int32_t* places, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (places[i] != places[0] + 2 * i) return false;
  }
  return n > 0;
}

template <int pixel_bytes>
void reverse_pixels(std::byte* out, const std::byte* last, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * pixel_bytes, last - i * pixel_bytes, pixel_bytes);
  }
}

}  // namespace

PickTable::PickTable(const std::int32_t* the_places, std::int64_t count, std::int64_t width,
                     int bytes, CpuLevel the_level)
    : places(the_places), n(count), pixel_bytes(bytes), level(the_level) {
#if IMPIPE_HAS_INTRINSICS
  if (has_kernels(level) && bytes == 4 && is_every_second(places, n)) {
    // Both of two pixels are read, up to the end of the row.
    const std::int64_t lanes = kernels_of(level).pick_lanes;
    every_second = std::min(n, (width - places[0] / 2 * 2) / 2) / lanes * lanes;
    if (every_second > 0) return;
  }
#endif
  const int pixels = block_bytes / bytes;
  const std::int64_t blocks = n / pixels;
  if (!has_kernels(level) || blocks == 0) return;
  std::int64_t longest = 1;  // pixels that a block reads, from its first to its last
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t last = places[b * pixels + pixels - 1];
    longest = std::max(longest, last - places[b * pixels] + 1);
  }
  const std::int64_t read = (longest * bytes + block_bytes - 1) / block_bytes;
  const std::int64_t rounded = read == 3 ? 4 : read;
  if (rounded > max_vectors || rounded * block_bytes > width * bytes) return;
  vectors = static_cast<int>(rounded);
  shuffles.assign(static_cast<std::size_t>(blocks * vectors * block_bytes), 0x80);
  for (std::int64_t b = 0; b < blocks; ++b) {
    // Nothing beyond the row is read.
    const std::int64_t start = std::min<std::int64_t>(std::int64_t{places[b * pixels]} * bytes,
                                                      width * bytes - vectors * block_bytes);
    first.push_back(static_cast<std::int32_t>(start));
    for (int i = 0; i < block_bytes; ++i) {
      const std::int64_t from =
          std::int64_t{places[b * pixels + i / bytes]} * bytes + i % bytes - start;
      const std::int64_t vector = b * vectors + from / block_bytes;
      shuffles[static_cast<std::size_t>(vector * block_bytes + i)] =
          static_cast<std::uint8_t>(from % block_bytes);
    }
  }
}

void pick_row(const PickTable& table, std::byte* out, const std::byte* in) {
  std::int64_t done = 0;
#if IMPIPE_HAS_INTRINSICS
  if (table.every_second > 0) {
    const std::int64_t first = table.places[0];
    done = table.every_second;
    kernels_of(table.level)
        .every_second(out, in + first / 2 * 2 * table.pixel_bytes, first % 2 != 0, done);
  } else if (table.vectors > 0) {
    kernels_of(table.level).pick[table.vectors](table, out, in);
    done = static_cast<std::int64_t>(table.first.size()) * (block_bytes / table.pixel_bytes);
  }
#endif
  pick_pixels(out + done * table.pixel_bytes, in, table.places + done, table.n - done,
              table.pixel_bytes);
}

void pick_pixels(std::byte* out, const std::byte* in, const std::int32_t* places, std::int64_t n,
                 int pixel_bytes) {
  switch (pixel_bytes) {
    case 1: return pick_each<1>(out, in, places, n);
    case 2: return pick_each<2>(out, in, places, n);
    default: return pick_each<4>(out, in, places, n);
  }
}

void reverse_row(std::byte* out, const std::byte* last, std::int64_t n, int pixel_bytes,
                 CpuLevel level) {
  std::int64_t done = 0;
#if IMPIPE_HAS_INTRINSICS
  if (has_kernels(level)) done = kernels_of(level).reverse(out, last, n, pixel_bytes);
#endif
  static_cast<void>(level);
  const auto rest = [&](auto reverse) {
    reverse(out + done * pixel_bytes, last - done * pixel_bytes, n - done);
  };
  switch (pixel_bytes) {
    case 1: return rest(reverse_pixels<1>);
    case 2: return rest(reverse_pixels<2>);
    default: return rest(reverse_pixels<4>);
  }
}

}  // namespace impipe::cpu
