// What is measured of an image whose rows come one after the other, with the bits that backends
// find in it as a whole (decision 0053).
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::engine {

// All measurements of one image.
class RowStatistics {
 public:
  struct Wanted {
    const Node* node = nullptr;
    std::vector<std::vector<double>> arguments;  // of each channel
  };
  // Whether what this node measures of such an image can be found row by row.
  static bool measures(const Node& node, const ImageType& image);
  RowStatistics(const ImageType& image, Size size, std::vector<Wanted> wanted);
  // The next rows.
  void add(const HostImage& rows);
  // Of wanted[which], after the last row: [channels][values].
  std::vector<double> found(std::size_t which);

 private:
  // Sums by cells, or the extremum, of a channel of single.
  struct OfSingle {
    std::vector<double> columns;  // of a row of cells, padded to whole cells
    std::vector<double> cells;
    std::int64_t rows = 0;  // in `columns`
    double best = 0;
  };
  void add_single(const Wanted& wanted, std::size_t channel, const Plane& rows, OfSingle& found);
  std::vector<double> of_counts(const Wanted& wanted, std::size_t channel) const;

  const ImageType image_;
  const Size size_;
  const std::vector<Wanted> wanted_;
  std::vector<std::vector<std::int64_t>> counts_;  // [channels][codes], of integers
  std::vector<std::vector<OfSingle>> singles_;     // [wanted][channels]
};

}  // namespace impipe::engine
