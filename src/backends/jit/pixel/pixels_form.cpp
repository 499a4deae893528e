// What it takes to make a pixel a work-item.
#include <algorithm>
#include <cmath>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/pixel_tile_plan.hpp"
#include "backends/jit/plan/rank_windows.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

// Instructions for each cell of a neighbourhood, or for a node that reads none.
double operations_of(const Tuning& tuning, const Node& node) {
  if (const auto* rank = as<Rank>(node)) {
    const int cells = rank->mask.count();
    if (!ranks_by_network(tuning, *rank, node.cls)) {
      return 130.0 * bytes_of(node.cls) * cells;  // a search for the rank, bit by bit
    }
    return cells * (12 + 1.5 * std::log2(cells) * std::log2(cells));
  }
  if (const auto* extremum = as<Extremum>(node)) return 15.0 * extremum->mask.count();
  if (const auto* stencil = as<Stencil>(node)) {
    const Footprint f = stencil->footprint();
    const int area = (f.left + 1 + f.right) * (f.up + 1 + f.down);
    return 12.0 * (stencil->body != nullptr ? area : stencil->taps.count());
  }
  if (const auto* separable = as<Separable>(node)) {
    return 12.0 * (separable->row.count() + separable->column.count());
  }
  return as<Resample>(node) != nullptr ? 200 : 12;
}

// Adds the work of an operand's pixel and of what it is made of.
void add_work(const KernelContext& context, const Planes& planes, const Operand& operand,
              Work& work) {
  if (planes.has(operand)) return;
  const Node& node = context.node(operand.index);
  work.operations += operations_of(context.tuning, node);
  if (as<Separable>(node) != nullptr) {
    work.bytes += 8;  // the row pass in single, written and read
    ++work.launches;
  }
  for (const Operand& image : pixel_images(node)) add_work(context, planes, image, work);
}

Offer offer_pixels(const FormQuestion& question) {
  const KernelContext& context = question.context;
  const Node& node = question.node();
  const auto* rank = as<Rank>(node);
  if (rank != nullptr && rank->entropy) return vetoed("an entropy takes counts");
  const Planes others = question.planes.without(question.n);
  Offer offer{.work = {.bytes = bytes_moved(context, question.n), .operations = 30},
              .form = Pixels{},
              .reason = "no block holds what it reads",
              .veto = {}};
  add_work(context, others, {false, question.n}, offer.work);
  if (!context.tuning.fast) {
    offer.form = Pixels{as<Separable>(node) != nullptr
                            ? pixel_tile_of_columns(context, question.n)
                            : pixel_tile_of(context, question.planes, question.n)};
    offer.reason = context.tuning.variant.single_pixels() ? "a variant asks for pixels"
                                                          : "IMPIPE_JIT_STAGED asks for pixels";
  } else if (rank != nullptr && ranks_by_network(context.tuning, *rank, node.cls)) {
    offer.reason += "; a network orders the few cells";
  } else if (const auto tile = framed_tile_of(context, others, question.n)) {
    offer.form = Pixels{tile};
    offer.reason += ", and each pixel is read often";
  }
  return offer;
}

}  // namespace

bool ranks_by_network(const Tuning& tuning, const Rank& rank, PixelClass cls) {
  // Of any window; of one that has hardly more cells than its longer side.
  constexpr int max_cells = 41, max_line = 63, max_of_bytes = 25;
  const int cells = rank.mask.count(), side = std::max(rank.mask.width, rank.mask.height);
  const bool line = cells <= 2 * side;
  // Histograms of bytes slide faster than a network orders many cells of few rows or columns.
  const bool slides = bytes_of(cls) == 1 && (!line || rank.mask.width <= max_narrow_columns);
  const int most = !tuning.sorted_tiles || slides ? max_of_bytes : line ? max_line : max_cells;
  return tuning.fast && cells <= most;
}

const FormRow pixels_form = {"pixels", offer_pixels, nullptr};

}  // namespace impipe::jit
