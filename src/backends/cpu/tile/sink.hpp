// Sinks: nodes that take a plane a tile at a time and end in a measurement.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/scratch.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Cells of float reductions; tiles start at multiples of it.
inline constexpr std::int64_t cell_side = 32;

// What a sink is made for.
struct SinkImage {
  PixelClass cls = PixelClass::uint8;
  Size size;
  double white = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Takes the pixels of one tile, which starts at a multiple of a cell in both directions, of the
  // plane or, when it counts pairs, of two. Called from several threads with distinct `tile`
  // numbers; `worker` numbers distinct threads' work.
  virtual void take(const TileImage* images, const Region& region, std::int64_t tile, int worker,
                    Scratch& scratch) = 0;
  // The measurement, when all tiles were taken.
  virtual std::vector<double> finish() = 0;
};

// For a Reduce or Histogram node. tiles, workers: how many there are at most.
std::unique_ptr<Sink> make_reduce(const Node& node, const Arguments& arguments,
                                  const SinkImage& image, std::int64_t tiles, CpuLevel level);
// Of an integer plane.
std::unique_ptr<Sink> make_code_sum(const SinkImage& image, std::int64_t tiles, CpuLevel level);
std::unique_ptr<Sink> make_code_spread(const SinkImage& image, std::int64_t tiles, CpuLevel level);
std::unique_ptr<Sink> make_histogram(const Node& node, const SinkImage& image, int workers,
                                     CpuLevel level);

// Takes two planes of bytes: the sum of the squares of how far apart they are.
std::unique_ptr<Sink> make_difference_squares(std::int64_t tiles, CpuLevel level);

// Whether the node counts codes that an earlier one makes of two bytes each: its histogram can then
// count pairs of that node's two images.
bool counts_pairs(const KernelSpec& spec, const Node& node);
// Takes planes of those two images. arguments: of the node that makes the codes.
std::unique_ptr<Sink> make_pair_histogram(const Node& node, const Arguments& arguments,
                                          int workers);

// The sum of values in pairs, (v0 + v1) + (v2 + v3) ..., as if padded with zeros to a power of two.
double pairwise_sum(double* values, std::int64_t n);

}  // namespace impipe::cpu
