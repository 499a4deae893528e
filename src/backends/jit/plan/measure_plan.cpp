// Decides which measurements share kernels, and how histograms are counted.
#include "backends/jit/plan/measure_plan.hpp"

#include <algorithm>

#include "backends/jit/plan/point_plan.hpp"
#include "backends/jit/program/quotients.hpp"
#include "core/body_tree.hpp"
#include "core/pair_code.hpp"

namespace impipe::jit {
namespace {

constexpr int max_local = 2048;       // counters a group keeps for itself
constexpr int max_local_bins = 6144;  // of few codes; more are made of the counts apart
constexpr int max_slices = 5;         // each reads the whole image: 32 KB are enough for that
constexpr int max_cell_reach = 2;  // of a neighbourhood whose rows registers hold beside the sums

bool goes_by_cells(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const ReduceKind kind = as<Reduce>(node)->kind;
  if (kind == ReduceKind::min || kind == ReduceKind::max) return false;
  const bool codes = is_integer(of.cls(node.images[0]));
  return !codes || kind == ReduceKind::squared_deviation || kind == ReduceKind::count ||
         kind == ReduceKind::user;
}

// Whether all that a node reads besides its image comes from outside the kernel.
bool ready(const Node& node) {
  return std::all_of(node.measures.begin(), node.measures.end(),
                     [](const Operand& m) { return m.external; });
}

// Whether the bins of 16-bit codes fit a table of bytes: one a code.
bool has_table_of_bins(const Histogram& histogram) {
  return histogram.rule == BinRule::centred && histogram.bins <= 256;
}

// 16-bit codes, or as many bins of floats, which are counted at once.
bool has_two_byte_codes(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  const Histogram& histogram = *as<Histogram>(node);
  const PixelClass cls = of.cls(node.images[0]);
  const bool codes = cls == PixelClass::uint16 && !has_table_of_bins(histogram);
  const bool bins = cls == PixelClass::single && histogram.rule != BinRule::codes &&
                    histogram.bins > max_local && histogram.bins <= two_byte_codes;
  return of.tuning.fast && (codes || bins);
}

// The least number of slices one of which local memory holds; 0: too many.
int slices_of_two_bytes(const Tuning& tuning) {
  for (int slices = 1; slices <= max_slices; ++slices) {
    if (4 * two_byte_pitch * two_byte_rows_of(slices) <= tuning.max_local_bytes) return slices;
  }
  return 0;
}

// Whether a point makes the codes of two planes of bytes.
bool is_pair_in_memory(const KernelContext& of, const Planes& planes, const Operand& image) {
  if (planes.has(image)) return false;
  const Node& node = of.node(image.index);
  const auto* point = as<Point>(node);
  return point != nullptr && point->body == &pair_code_body() &&
         std::all_of(node.images.begin(), node.images.end(), [&](const Operand& part) {
           return bytes_of(of.cls(part)) == 1 && planes.has(part);
         });
}

// Whether a point is made of what a neighbourhood in the kernel makes.
bool is_made_around(const KernelContext& of, const Planes& planes, int n) {
  if (as<Point>(of.node(n)) == nullptr) return reads_again(of.node(n));
  const auto images = pixel_images(of.node(n));
  return std::ranges::any_of(images, [&](const Operand& image) {
    return !planes.has(image) && is_made_around(of, planes, image.index);
  });
}

}  // namespace

MeasuredImage measured_image(const KernelContext& of, const Planes& planes, const Operand& image) {
  if (planes.has(image)) return {.in_memory = true};
  if (!of.tuning.fast || as<Point>(of.node(image.index)) == nullptr) return {};
  const std::optional<Operand> codes = coded_by(of, planes, image);
  return {.codes = codes && planes.has(*codes) ? codes : std::nullopt};
}

bool measures_plane(const KernelContext& of, const Planes& planes, int n, int reader) {
  if (as<Point>(of.node(n)) == nullptr) return reads_again(of.node(n));
  if (is_made_around(of, planes, n)) return true;
  const bool counts = as<Histogram>(of.node(reader)) != nullptr;
  if (!counts && as<Reduce>(of.node(reader)) == nullptr)
    return as<Select>(of.node(reader)) != nullptr;
  const PixelClass cls = of.node(n).cls;
  if (!is_integer(cls) || (!counts && goes_by_cells(of, reader))) return false;
  if (measured_image(of, planes, {false, n}).codes) return false;
  if (counts && is_pair_in_memory(of, planes, {false, n})) return false;
  // Blocks make those faster, with their tables, ramps and reciprocals.
  return bytes_of(cls) == 1 || (in_double(of, n) && !is_curve_of_codes(of, n));
}

Reductions reductions_with(const KernelContext& of, const Planes& planes, int n) {
  const Node& first = of.node(n);
  const Operand image = first.images[0];
  Reductions found{.nodes = {n}, .image = measured_image(of, planes, image)};
  const bool single = of.cls(image) == PixelClass::single;
  for (int m = n + 1; m < of.count() && of.tuning.fast && ready(first); ++m) {
    const Node& node = of.node(m);
    if (as<Reduce>(node) == nullptr || node.images[0] != image || !ready(node)) continue;
    // Everything of a single image can go by cells; integers are streamed where they can be.
    if (single || goes_by_cells(of, m) == goes_by_cells(of, n)) found.nodes.push_back(m);
  }
  found.cells = std::any_of(found.nodes.begin(), found.nodes.end(),
                            [&](int m) { return goes_by_cells(of, m); });
  return found;
}

bool fits_cell_rows(const KernelContext& of, const Planes& planes, int n) {
  const Node& node = of.node(n);
  const auto* stencil = as<Stencil>(node);
  // Sub-groups exchange what lies beside their pixels, and the last group ends the pass.
  if (!of.features().exchanges || !of.ends_in_last_group() || stencil == nullptr) return false;
  if (node.cls != PixelClass::single || node.images.size() != 1) return false;
  // One that goes over its window by itself fills a kernel.
  if (stencil->body != nullptr && !whole_body(stencil->body->text)) return false;
  if (!planes.has(node.images[0]) || !stays(*stencil) || stencil->combine != Combine::sum ||
      stencil->expression != nullptr) {
    return false;
  }
  const Footprint f = stencil->footprint();
  return (stencil->border == Border::constant || stencil->border == Border::replicate) &&
         std::min({f.left, f.right, f.up, f.down}) >= 0 &&
         std::max({f.left, f.right, f.up, f.down}) <= max_cell_reach;
}

CountedCodes counted_codes(const KernelContext& of, const Planes& planes, int n) {
  using Way = CountedCodes::Way;
  const Node& node = of.node(n);
  const Histogram& histogram = *as<Histogram>(node);
  const PixelClass cls = of.cls(node.images[0]);
  switch (of.tuning.variant.counts) {
    case KernelVariant::Counts::usual: break;
    case KernelVariant::Counts::atomic: return {.way = Way::global, .bins_apart = is_integer(cls)};
    case KernelVariant::Counts::tagged: return {.way = Way::tagged, .bins_apart = is_integer(cls)};
  }
  const MeasuredImage image = measured_image(of, planes, node.images[0]);
  if (image.codes) {
    const bool few = histogram.bins <= max_local_bins;
    return {.way = Way::local,
            .image = image,
            .bins_apart = !few,
            .one_launch = few && of.ends_in_last_group() && !of.tuning.stacked};
  }
  const int slices = has_two_byte_codes(of, n) ? slices_of_two_bytes(of.tuning) : 0;
  if (slices > 0) {
    return {.way = Way::two_bytes,
            .slices = slices,
            .pairs = is_pair_in_memory(of, planes, node.images[0]),
            .image = image,
            .bins_apart = cls == PixelClass::uint16 && histogram.rule != BinRule::codes};
  }
  // What is counted first: the codes of an integer class, else bins at once.
  const bool codes = is_integer(cls);
  const int counters = codes ? count_of_codes(cls) : histogram.bins;
  const bool few = counters <= max_local;
  const bool table = codes && has_table_of_bins(histogram);
  if (!few && !table) return {.way = Way::global, .bins_apart = codes};
  if (few && histogram.bins > max_local_bins) {
    return {.way = Way::local, .image = image, .bins_apart = true};
  }
  return {.way = few ? Way::local : Way::table,
          .image = image,
          .one_launch = of.ends_in_last_group() && !of.tuning.stacked};
}

std::vector<int> scalars_of(const KernelContext& of, std::vector<int> made,
                            const std::set<int>& known, bool groups) {
  std::vector<int> scalars;
  const auto is_made = [&](const Operand& m) {
    return m.external || std::find(made.begin(), made.end(), m.index) != made.end();
  };
  for (int n = 0; n < of.count(); ++n) {
    const Node& node = of.node(n);
    if (as<Scalar>(node) == nullptr || known.contains(n)) continue;
    if (as<Scalar>(node)->body->by_group && !groups) continue;
    if (as<Scalar>(node)->groups > 1) continue;
    if (!std::all_of(node.measures.begin(), node.measures.end(), is_made)) continue;
    made.push_back(n);
    scalars.push_back(n);
  }
  return scalars;
}

}  // namespace impipe::jit
