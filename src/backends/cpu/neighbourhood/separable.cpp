// What each method of separable sums costs, in nanoseconds a pixel, measured for boxes and
// Gaussians of 3 to 31 taps on one core of an EPYC with AVX-512 (docs/decisions/0111).
#include "backends/cpu/neighbourhood/separable.hpp"

#include "backends/cpu/neighbourhood/box_sums.hpp"
#include "backends/cpu/neighbourhood/separable_bytes.hpp"

namespace impipe::cpu {
namespace {

int taps_of(const SeparableQuestion& q) {
  const Separable& separable = std::get<Separable>(q.node.primitive);
  return separable.row.count() + separable.column.count();
}

Cost small_box_cost(const SeparableQuestion& q) {
  if (!has_small_box(q)) return std::nullopt;
  const int width = std::get<Separable>(q.node.primitive).row.width;
  return q.level == CpuLevel::v4 ? 0.06 + 0.011 * width : 0.09 + 0.0095 * width;
}

Cost running_box_cost(const SeparableQuestion& q) {
  if (!has_running_box(q)) return std::nullopt;
  return (bytes_of(q.in) == 1 ? 0.195 : 0.23) * (q.level == CpuLevel::v4 ? 1 : 1.5);
}

Cost bytes_cost(const SeparableQuestion& q) {
  if (!has_separable_bytes(q)) return std::nullopt;
  return (0.2 + 0.008 * taps_of(q)) * (q.level == CpuLevel::v4 ? 1 : 1.5);
}

Cost floats_cost(const SeparableQuestion& q) {
  constexpr double factor[cpu_levels] = {4, 1.5, 1};
  return (0.2 + 0.0125 * taps_of(q)) * factor[static_cast<int>(q.level)];
}

constexpr MethodRow<SeparableMethod, SeparableQuestion> separable_methods[] = {
    {SeparableMethod::small_box, "small box in 16 bits", small_box_cost},
    {SeparableMethod::running_box, "running box", running_box_cost},
    {SeparableMethod::bytes, "blocks of bytes", bytes_cost},
    {SeparableMethod::floats, "rows of float32", floats_cost},
};

}  // namespace

std::vector<Offer<SeparableMethod>> separable_offers(const SeparableQuestion& question) {
  return offers_of(separable_methods, question);
}

}  // namespace impipe::cpu
