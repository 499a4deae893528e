// The body rgb2gray without its divisions: an approximation whose error has a bound, and the body
// itself for the few pixels that lie that close to a half.
#include "backends/cpu/luminance.hpp"

#include <algorithm>
#include <string_view>

#include "backends/cpu/level.hpp"
#include "backends/cpu/rows.hpp"

namespace impipe::cpu {
namespace {

constexpr double red = 0.298936, green = 0.587043, blue = 0.114021;
constexpr std::int64_t block = 64;  // pixels

// In which numbers, and how far from a tie a sum must be to have the body's code.
template <class T>
struct Approximation;
template <>
struct Approximation<std::uint8_t> {
  using real = float;
  // Ten roundings of numbers up to 255, of the weights and of the sums with a half: less than
  // 256 * 10 / 2^25. The body's own error is below 1e-12.
  static constexpr float near = 0x1p-13f;
};
template <>
struct Approximation<std::uint16_t> {
  using real = double;
  // Far more than the error of either sum, 65536 * 10 / 2^53.
  static constexpr double near = 1e-9;
};

// Whole blocks; sets unsafe[k] where block k has a sum close to a tie.
template <class T>
IMPIPE_INLINE void codes_body(void* out, const std::byte* const* in, std::int64_t blocks,
                              std::uint8_t* unsafe) {
  using real = typename Approximation<T>::real;
  constexpr real near = Approximation<T>::near;
  const T* r = reinterpret_cast<const T*>(in[0]);
  const T* g = reinterpret_cast<const T*>(in[1]);
  const T* b = reinterpret_cast<const T*>(in[2]);
  T* to = static_cast<T*>(out);
  for (std::int64_t k = 0; k < blocks; ++k, r += block, g += block, b += block, to += block) {
    std::int32_t ties = 0;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < block; ++i) {
      const real sum = static_cast<real>(red) * static_cast<real>(std::int32_t{r[i]}) +
                       static_cast<real>(green) * static_cast<real>(std::int32_t{g[i]}) +
                       static_cast<real>(blue) * static_cast<real>(std::int32_t{b[i]}) + real(0.5);
      const std::int32_t code = static_cast<std::int32_t>(sum);
      const real part = sum - static_cast<real>(code);
      ties |= static_cast<std::int32_t>(part < near) | static_cast<std::int32_t>(part > 1 - near);
      to[i] = static_cast<T>(code);
    }
    unsafe[k] = ties != 0;
  }
}
IMPIPE_CPU_KERNEL(codes,
                  (void* out, const std::byte* const* in, std::int64_t blocks,
                   std::uint8_t* unsafe),
                  (out, in, blocks, unsafe))

struct Exact {
  const PointBody& body;
  const double* args;
  PixelClass cls;
  CpuLevel level;
};

// The body itself, in double; n <= block.
void run_exactly(std::byte* out, const std::byte* const* in, std::int64_t n, const Exact& exact) {
  double channels[3][block], result[block];
  const double* rows[] = {channels[0], channels[1], channels[2]};
  for (int c = 0; c < 3; ++c) load_row(channels[c], in[c], exact.cls, n, exact.level);
  exact.body.rows_double[static_cast<int>(exact.level)](result, rows, n, exact.args);
  store_row(out, result, exact.cls, n, exact.level);
}

}  // namespace

bool has_luminance(const PointBody& body, PixelClass from, PixelClass to,
                   const std::vector<double>& args, CpuLevel level) {
  return level != CpuLevel::baseline && std::string_view(body.name) == "rgb2gray" && from == to &&
         (from == PixelClass::uint8 || from == PixelClass::uint16) && args.at(0) == class_max(from);
}

void run_luminance(std::byte* out, const std::byte* const* in, PixelClass cls, std::int64_t n,
                   const PointBody& body, const std::vector<double>& args, CpuLevel level) {
  const Exact exact{body, args.data(), cls, level};
  const std::int64_t bytes = bytes_of(cls);
  constexpr std::int64_t max_blocks = 64;
  for (std::int64_t at = 0; at < n;) {
    const std::byte* rows[] = {in[0] + at * bytes, in[1] + at * bytes, in[2] + at * bytes};
    const std::int64_t blocks = std::min(max_blocks, (n - at) / block);
    if (blocks == 0) return run_exactly(out + at * bytes, rows, n - at, exact);
    std::uint8_t unsafe[max_blocks];
    (cls == PixelClass::uint8 ? codes<std::uint8_t> : codes<std::uint16_t>)[static_cast<int>(
        level)](out + at * bytes, rows, blocks, unsafe);
    for (std::int64_t k = 0; k < blocks; ++k, at += block) {
      if (unsafe[k] == 0) continue;
      const std::byte* of[] = {in[0] + at * bytes, in[1] + at * bytes, in[2] + at * bytes};
      run_exactly(out + at * bytes, of, block, exact);
    }
  }
}

}  // namespace impipe::cpu
