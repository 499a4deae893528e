// Masks and footprints of neighbourhoods, and names of borders and reductions.
#include "core/kernel_spec.hpp"

#include <algorithm>

namespace impipe {

std::string_view name_of(Border border) {
  switch (border) {
    case Border::constant: return "constant";
    case Border::replicate: return "replicate";
    case Border::symmetric: return "symmetric";
    case Border::reflect: return "reflect";
    case Border::circular: return "circular";
    case Border::absent: return "absent";
  }
  return "?";
}

std::string_view name_of(Moments::Of of) {
  switch (of) {
    case Moments::Of::deviation: return "deviation";
    case Moments::Of::variance: return "variance";
    case Moments::Of::covariance: return "covariance";
    case Moments::Of::mean: return "mean";
    case Moments::Of::weighted: return "weighted";
  }
  return "?";
}

std::string_view name_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::sum: return "sum";
    case ReduceKind::squared_deviation: return "squared deviation";
    case ReduceKind::spread: return "spread";
    case ReduceKind::absolute_sum: return "absolute sum";
    case ReduceKind::min: return "min";
    case ReduceKind::max: return "max";
    case ReduceKind::count: return "count";
    case ReduceKind::user: return "expression";
  }
  return "?";
}

bool Mask::full() const {
  return std::all_of(cells.begin(), cells.end(), [](std::uint8_t c) { return c != 0; });
}

int Mask::count() const {
  return static_cast<int>(
      std::count_if(cells.begin(), cells.end(), [](std::uint8_t c) { return c != 0; }));
}

Footprint Stencil::footprint() const {
  return body != nullptr ? body->footprint : taps.footprint();
}

Footprint Separable::footprint() const {
  const Footprint r = row.footprint(), c = column.footprint();
  return {r.left, r.right, c.up, c.down};
}

}  // namespace impipe
