// Means over rectangles whose sides need not be whole numbers of pixels.
#include "io/formats/exr/module/levels.hpp"

#include <algorithm>

namespace impipe::io {
namespace {

// The input pixels that an output pixel of a smaller level covers, and their share of it.
struct Cover {
  std::int64_t first = 0;
  std::vector<double> parts;
};

std::vector<Cover> covers_of(std::int64_t from, std::int64_t to) {
  std::vector<Cover> out(static_cast<size_t>(to));
  // In units of 1 / to of a pixel, all are whole numbers.
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t begin = i * from, end = begin + from;
    Cover& cover = out[static_cast<size_t>(i)];
    cover.first = begin / to;
    for (std::int64_t pixel = cover.first; pixel * to < end; ++pixel) {
      const std::int64_t inside = std::min(end, (pixel + 1) * to) - std::max(begin, pixel * to);
      cover.parts.push_back(static_cast<double>(inside) / static_cast<double>(from));
    }
  }
  return out;
}

float mean_of(const ExrLevel::Channel& from, const Cover& across, const Cover& down) {
  double sum = 0;
  for (size_t j = 0; j < down.parts.size(); ++j) {
    const float* row = from.row(down.first + static_cast<std::int64_t>(j)) + across.first;
    double line = 0;
    for (size_t i = 0; i < across.parts.size(); ++i) {
      line += across.parts[i] * static_cast<double>(row[i]);
    }
    sum += down.parts[j] * line;
  }
  return static_cast<float>(sum);
}

float middle_of(const ExrLevel::Channel& from, const Cover& across, const Cover& down) {
  const auto middle = [](const Cover& cover) {
    return cover.first + static_cast<std::int64_t>(cover.parts.size() / 2);
  };
  return from.row(middle(down))[middle(across)];
}

}  // namespace

ExrLevel reduced(const ExrLevel& from, Size size, const std::vector<bool>& means) {
  const std::vector<Cover> across = covers_of(from.size.width, size.width);
  const std::vector<Cover> down = covers_of(from.size.height, size.height);
  ExrLevel out{size, {}};
  for (size_t c = 0; c < from.channels.size(); ++c) {
    ExrLevel::Channel& to = out.channels.emplace_back();
    to.memory.reserve(static_cast<size_t>(size.pixels()));
    for (const Cover& y : down) {
      for (const Cover& x : across) {
        to.memory.push_back(means[c] ? mean_of(from.channels[c], x, y)
                                     : middle_of(from.channels[c], x, y));
      }
    }
    to.pixels = to.memory.data();
    to.stride = size.width;
  }
  return out;
}

}  // namespace impipe::io
