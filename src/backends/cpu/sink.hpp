// Sinks: nodes that take an image a tile at a time and end in a measurement.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/arguments.hpp"
#include "backends/cpu/scratch.hpp"
#include "backends/cpu/tile_image.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// Cells of float reductions; tiles start at multiples of it.
inline constexpr std::int64_t cell_side = 32;

// What a sink is made for.
struct SinkImage {
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  Size size;
  double white = 0;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Takes the pixels of one tile, which starts at a multiple of a cell in both directions, of the
  // image or, when it counts pairs, of two. Called from several threads with distinct `tile`
  // numbers; `worker` numbers distinct threads' work.
  virtual void take(const TileImage* images, const Region& region, std::int64_t tile, int worker,
                    Scratch& scratch) = 0;
  // The measurement, [channels][values], when all tiles were taken.
  virtual std::vector<double> finish() = 0;
};

// For a Reduce or Histogram node. tiles, workers: how many there are at most.
std::unique_ptr<Sink> make_reduce(const Node& node, const Arguments& arguments,
                                  const SinkImage& image, std::int64_t tiles, CpuLevel level);
// Of an integer image.
std::unique_ptr<Sink> make_code_sum(const SinkImage& image, std::int64_t tiles, CpuLevel level);
std::unique_ptr<Sink> make_histogram(const Node& node, const SinkImage& image, int workers,
                                     CpuLevel level);

// The node that makes one code of two bytes, where a histogram can count pairs of its two images
// instead of its codes; else null.
const Node* counted_pairs(const KernelSpec& spec, const Node& node);
// Takes those two images. arguments: of the node that makes the codes.
std::unique_ptr<Sink> make_pair_histogram(const Node& node, const Arguments& arguments,
                                          int channels, int workers);

// The sum of values in pairs, (v0 + v1) + (v2 + v3) ..., as if padded with zeros to a power of two.
double pairwise_sum(double* values, std::int64_t n);

}  // namespace impipe::cpu
