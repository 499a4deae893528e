// Decides which images have kernels made for their primitive.
#include "backends/jit/plan/image_plan.hpp"

#include <algorithm>

#include "core/placement.hpp"

namespace impipe::jit {
namespace {

constexpr int min_histogram_cells = 26;  // windows that networks don't take

}  // namespace

bool is_rectangle(const KernelContext& of, int n) {
  const auto* extremum = as<Extremum>(of.node(n));
  if (extremum == nullptr || !extremum->mask.full()) return false;
  const Footprint f = extremum->mask.footprint();
  return f.left >= 0 && f.right >= 0 && f.up >= 0 && f.down >= 0 &&
         std::max(extremum->mask.width, extremum->mask.height) >= min_van_herk_side;
}

bool fits_rank_histogram(const KernelContext& of, int n) {
  const auto* rank = as<Rank>(of.node(n));
  return of.tuning.fast && rank != nullptr && !rank->offsets &&
         rank->mask.count() >= min_histogram_cells;
}

bool fits_transposition(const KernelContext& of, const Planes& planes, int n) {
  const auto* permute = as<Permute>(of.node(n));
  return permute != nullptr && permute->transpose && planes.has(of.node(n).images[0]);
}

bool is_affine(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && is_plain_affine(*resample);
}

bool is_nearest_resize(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->kind == Resample::Kind::resize &&
         resample->method == Resample::Method::nearest;
}

bool is_whole_resize(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->phases > 0;
}

bool fits_resize_tiles(const Node& node) {
  const auto* resample = as<Resample>(node);
  return resample != nullptr && resample->kind == Resample::Kind::resize &&
         resample->method != Resample::Method::nearest;
}

}  // namespace impipe::jit
