// The smaller images of a pyramid, made while the rows of the largest come.
#include "io/picture/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace impipe::io {
namespace {

// Sums of two neighbours each; the last may be alone.
template <class Number>
void add_pairs(const Number* row, std::int64_t width, std::vector<double>& pairs) {
  for (std::int64_t x = 0; x < width / 2; ++x) {
    pairs[static_cast<std::size_t>(x)] =
        0.0 + static_cast<double>(row[2 * x]) + static_cast<double>(row[2 * x + 1]);
  }
  if (width % 2 != 0) pairs.back() = 0.0 + static_cast<double>(row[width - 1]);
}

}  // namespace

Pyramid::Pyramid(const std::vector<Size>& levels, int channels, bool means, std::int64_t first_row)
    : means_(means) {
  Channel all;
  std::int64_t by = 1;
  for (const Size& size : levels) {
    all.push_back({.size = size, .by = by, .pairs = {}, .sums = {}, .row = {}});
    by *= 2;
  }
  all.front().y = first_row;
  channels_.assign(static_cast<std::size_t>(channels), all);
}

std::int64_t Pyramid::rows_after(std::size_t level, std::int64_t y) const {
  const Level& of = channels_.front()[level];
  const bool is_whole = y == channels_.front().front().size.height;
  return is_whole ? of.size.height : (y + (means_ ? 0 : of.by - 1)) / of.by;
}

void Pyramid::add(int channel, const Plane& rows, std::int64_t y, std::int64_t y_end,
                  const Take& take) {
  const auto add_all = [&]<class Pixel>(const Pixel*) {
    for (std::int64_t at = y; at < y_end; ++at) {
      const auto* row = rows.row_as<Pixel>(at);
      means_ ? add_row(channel, row, take) : add_first_pixels(channel, row, take);
    }
  };
  switch (rows.cls()) {
    case PixelClass::logical:
    case PixelClass::uint8: return add_all(static_cast<const std::uint8_t*>(nullptr));
    case PixelClass::uint16: return add_all(static_cast<const std::uint16_t*>(nullptr));
    case PixelClass::single: return add_all(static_cast<const float*>(nullptr));
  }
}

// Divides the sums of squares by the pixels in each.
template <class Pixel>
void Pyramid::finish_row(Level& level) {
  const Size whole = channels_.front().front().size;
  const std::int64_t width = level.size.width, by = level.by;
  const std::int64_t high = std::min(by, whole.height - level.y * by);
  level.row.resize(static_cast<std::size_t>(width) * sizeof(Pixel));
  auto* out = reinterpret_cast<Pixel*>(level.row.data());
  const auto pixel = [&](std::int64_t x, std::int64_t wide) {
    const double mean = level.sums[static_cast<std::size_t>(x)] / static_cast<double>(high * wide);
    out[x] = static_cast<Pixel>(std::is_integral_v<Pixel> ? std::floor(mean + 0.5) : mean);
  };
  for (std::int64_t x = 0; x + 1 < width; ++x) pixel(x, by);
  pixel(width - 1, whole.width - (width - 1) * by);
}

template <class Pixel>
void Pyramid::add_row(int channel, const Pixel* row, const Take& take) {
  Channel& levels = channels_[static_cast<std::size_t>(channel)];
  Level& image = levels.front();
  take(0, image.y++, reinterpret_cast<const std::byte*>(row));
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const Level& before = levels[i - 1];
    Level& level = levels[i];
    level.pairs.resize(static_cast<std::size_t>(level.size.width));
    if (i == 1) {
      add_pairs(row, before.size.width, level.pairs);
    } else {
      add_pairs(before.sums.data(), before.size.width, level.pairs);
    }
    if (level.waits) {
      for (std::size_t x = 0; x < level.sums.size(); ++x) level.sums[x] += level.pairs[x];
    } else {
      level.sums.swap(level.pairs);
    }
    level.waits = !level.waits && before.y < before.size.height;
    if (level.waits) return;
    finish_row<Pixel>(level);
    take(static_cast<int>(i), level.y++, level.row.data());
  }
}

template <class Pixel>
void Pyramid::add_first_pixels(int channel, const Pixel* row, const Take& take) {
  Channel& levels = channels_[static_cast<std::size_t>(channel)];
  const std::int64_t y = levels.front().y;
  for (std::size_t i = 0; i < levels.size() && y % levels[i].by == 0; ++i) {
    Level& level = levels[i];
    level.row.resize(static_cast<std::size_t>(level.size.width) * sizeof(Pixel));
    auto* out = reinterpret_cast<Pixel*>(level.row.data());
    for (std::int64_t x = 0; x < level.size.width; ++x) out[x] = row[x * level.by];
    take(static_cast<int>(i), level.y++, level.row.data());
  }
}

}  // namespace impipe::io
