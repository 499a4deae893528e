// The values of a node's launch arguments.
#pragma once

#include <span>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// A measurement: [channels][values].
struct MeasureView {
  const double* data = nullptr;
  int channels = 1;
  std::int64_t values = 0;
};

struct Arguments {
  // One list for all channels, or one a channel when some argument differs between them.
  std::vector<std::vector<double>> channels;
  std::vector<std::vector<float>> channels_float;

  // Point::in_table: the table, one for all channels or one a channel.
  std::vector<std::span<const double>> tables;

  bool differ() const { return channels.size() > 1; }
  const std::vector<double>& of(int channel) const { return channels[differ() ? channel : 0]; }
  const std::vector<float>& float_of(int channel) const {
    return channels_float[differ() ? channel : 0];
  }
  // The border's value: the last argument, 0 when there is none.
  double last() const { return channels[0].empty() ? 0 : channels[0].back(); }
};

// measures: those of the node's measure operands, in their order. size: of its first image.
Arguments evaluate_arguments(const Node& node, std::span<const MeasureView> measures, Size size);

}  // namespace impipe::cpu
