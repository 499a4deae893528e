// Parts of a thin tall tile, one beside another: rows of a few pixels cost as much as rows of
// hundreds.
#pragma once

#include "backends/cpu/tile/border_view.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

// How a region of a neighbourhood's results is cut into parts, from top to bottom. Each part stands
// beside the one above it, with what it reads around itself.
struct PartsPlan {
  std::int64_t parts = 1;        // 1: the region is wide enough, or too low
  std::int64_t rows = 0;         // of results in a part
  std::int64_t region_rows = 0;  // of results that are made together, in all parts
};
PartsPlan plan_parts(const PrimitiveFacts& facts, const Region& region);

// The input of a neighbourhood, laid out so.
class SideBySide {
 public:
  // The results are `region`; outside: what is read beside the image. Memory is taken from
  // `scratch`.
  SideBySide(const PartsPlan& plan, const PrimitiveFacts& facts, const TileImage& in,
             const Region& region, const Outside& outside, Scratch& scratch);

  // An image that holds all that `results` of it read: its border is never asked for.
  const TileImage& image() const { return image_; }
  const Region& results() const { return results_; }

  // Puts the parts of the results below each other.
  void stack(const TileOut& made, TileOut out, int pixel_bytes) const;

 private:
  PartsPlan plan_;
  Region region_;
  std::int64_t apart_;  // pixels from a part to the next
  TileImage image_;
  Region results_;
};

}  // namespace impipe::cpu
