// Blocks of an affine map, from copies of what they read.
#pragma once

#include <cstddef>
#include <span>

#include "backends/cpu/geometry/blocks.hpp"
#include "backends/cpu/geometry/place_rule.hpp"
#include "backends/cpu/geometry/turned_part.hpp"
#include "backends/cpu/geometry/warp_rows.hpp"
#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {

// The channels of an image, and what is common to all ways to move them.
struct Moved {
  std::span<const Plane* const> in;
  std::span<Plane* const> out;
  CpuLevel level;
  Resample resample;
  PlaceRule rule;
  PixelClass cls;
  int pixel;  // bytes
  float outside;
  std::byte beside[sizeof(float)] = {};  // the pixel outside

  Moved(const Node& node, std::span<const Plane* const> from, double value,
        std::span<Plane* const> to, CpuLevel l);

  // Whether the planes are laid out alike, and places in them are numbers of 32 bits.
  bool alike() const;
};

// Of the channels one by one, or of some together.
class Turned {
 public:
  explicit Turned(const Moved& moved);

  bool fits() const;
  Blocks blocks() const;
  // False where the part that the block reads is too large.
  bool make(const Region& block) const;

 private:
  // Where places have a value, bounds included.
  struct Bounds {
    double left, top, right, bottom;
  };
  // Of each row of a block the outputs that have one: [begin, end).
  struct Ends {
    bool whole;  // all have
    std::int32_t begin[max_rows], end[max_rows];
  };
  // What a block's channels have in common.
  struct Made {
    const TurnedPart& part;
    const Region& block;
    const Ends& ends;
    WordPlaces places;
  };

  TurnedPart part_of(const Region& block) const;
  void find_ends(const Region& block, Ends& ends) const;
  void find_places(const Made& made) const;
  void blend(const Made& made, std::size_t c, const std::byte* memory) const;
  void pick(const Made& made, std::size_t c, const std::byte* memory) const;
  void pick_channels(const Made& made, std::size_t first, std::size_t count,
                     const std::byte* memory) const;
  void fill(const Region& block) const;
  void ask_beside(Region block) const;
  std::byte* target(std::size_t c, const Region& block, std::int64_t v) const;
  std::size_t channels_together() const { return word_ == PartWord::channels ? 4 : 1; }
  std::span<const Plane* const> group(std::size_t first) const;

  const Moved& moved_;
  bool nearest_, cubic_, on_image_, spills_;
  bool far_;  // inputs are more than stays in the caches
  PartWord word_;
  Bounds bounds_;
};

}  // namespace impipe::cpu
