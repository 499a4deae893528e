// What a primitive costs, and whether an intermediate is better computed twice than stored.
#include "pipeline/cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/body_tree.hpp"
#include "core/one_of.hpp"

namespace impipe::pipeline {
namespace {

// The tile that halos are weighed against; see backends/cpu.
constexpr double tile_width = 512;
constexpr double tile_height = 64;
// A halo beyond this ends fusion whatever the costs.
constexpr int largest_halo = 48;

class Cost {
 public:
  explicit Cost(const Node& of) : node(of) {}
  double operator()(const Point& p) const {
    if (p.lookup) return 2;
    // All channels are read for each time one is made.
    const double inputs = p.mixes_channels && p.body != nullptr ? p.body->inputs : 0;
    if (inputs > 1) return inputs * (1 + bytes_of(node.cls)) / node.channels;
    const bool powers = p.body != nullptr && traits_of(*p.body).functions;
    if (powers && node.cls == PixelClass::single) return 20;
    return is_integer(node.cls) && node.images.size() == 1 ? 1 : 2.0 * node.images.size();
  }
  double operator()(const Permute&) const { return 2; }
  double operator()(const Stencil& s) const {
    if (s.fourier_side > 0) return whole;
    return s.body != nullptr ? 5 : 2 + 0.5 * s.taps.count() + (s.expression ? 10 : 0);
  }
  double operator()(const Separable& s) const {
    return 3 + 0.35 * (s.row.count() + s.column.count());
  }
  double operator()(const Extremum& e) const {
    const double bytes = bytes_of(node.cls);
    if (e.mask.full()) return 2 * bytes;
    return bytes * (2 + e.mask.height);
  }
  double operator()(const Rank& r) const {
    const double cells = r.mask.count();
    return bytes_of(node.cls) * (cells <= 9 ? 4 : cells <= 25 ? 16 : 2 * cells);
  }
  double operator()(const Reduce&) const { return 3; }
  double operator()(const Histogram&) const { return 4; }
  double operator()(const Select&) const { return 20; }
  double operator()(const Scalar&) const { return 0; }
  double operator()(const Window&) const { return 2; }
  // Those that stand alone are never computed twice.
  template <OneOf<Distance, Project, Diffuse, Label, Resample, Morph, Moments, BetweenTables,
                  Objects, OnHost>
                Other>
  double operator()(const Other&) const {
    return whole;
  }

 private:
  static constexpr double whole = 100;
  const Node& node;
};

}  // namespace

double cost_of(const Node& node) { return node.channels * std::visit(Cost(node), node.primitive); }

double cost_of_storing(const Node& node) {
  // Written, fetched for being written, and read.
  return 3.0 * node.channels * bytes_of(node.cls);
}

bool better_recomputed(const Recomputation& r, double storing) {
  const int across = std::max(r.halo.left, r.halo.right);
  const int along = std::max(r.halo.up, r.halo.down);
  if (across > largest_halo || along > largest_halo) return false;
  const double growth = (1 + (r.halo.left + r.halo.right) / tile_width) *
                        (1 + (r.halo.up + r.halo.down) / tile_height);
  return r.chain * (r.readers * growth - 1) <= storing;
}

}  // namespace impipe::pipeline
