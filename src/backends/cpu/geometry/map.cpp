// An image moved by a map, a block of the output at a time. What a block of an affine map reads is
// copied first; places are found once for all channels.
#include "backends/cpu/geometry/map.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cpu/geometry/blocks.hpp"
#include "backends/cpu/geometry/map_rows.hpp"
#include "backends/cpu/geometry/resample_rows.hpp"
#include "backends/cpu/geometry/results.hpp"
#include "backends/cpu/geometry/turned_blocks.hpp"
#include "backends/cpu/geometry/warp_rows.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

// Row v of a block.
void to_row(const AffinePlace& place, const Region& block, std::int64_t v, AffineRow& row) {
  const double down = static_cast<double>(v);
  row.a = place.a;
  row.x = __builtin_fma(place.b, down, place.c);
  row.d = place.d;
  row.y = __builtin_fma(place.e, down, place.f);
  row.begin = block.x0;
  row.n = block.x1;
}

// Copies the pixels at byte `offsets` of `data`; where that is -1, `beside`.
template <class T>
void pick_at(std::byte* out, const std::byte* data, const std::int32_t* offsets, std::int64_t n,
             const std::byte* beside) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)),
                offsets[i] < 0 ? beside : data + offsets[i], sizeof(T));
  }
}
// One row after the other, as numbers, read where the image lies.
void make_rows(const Moved& moved, bool nearest, std::size_t channel, const Region& block) {
  static thread_local std::vector<float> numbers;  // one a column
  const Plane& in = *moved.in[channel];
  Plane& out = *moved.out[channel];
  if (std::ssize(numbers) < block.x1) numbers.resize(static_cast<std::size_t>(out.size().width));
  fetch_block(moved.rule.place(), in, block);
  const Results stored(out, moved.spills(), moved.level);
  AffineRow row{.data = in.row(0),
                .stride = in.stride(),
                .width = in.size().width,
                .height = in.size().height,
                .outside = moved.outside};
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    to_row(moved.rule.place(), block, v, row);
    if (nearest) {
      warp_row(in.cls(), true, moved.level)(row, numbers.data());
    } else {
      warp_in_vectors(row, in.cls(), moved.level, numbers.data());
    }
    stored.store(block.x0, v, numbers.data() + block.x0, block.width());
  }
  stored.end();
}

// The nearest pixels, copied as they are.
class Nearest {
 public:
  explicit Nearest(const Moved& moved)
      : moved_(moved),
        spills_(moved.spills()),
        pick_(moved.pixel == 1   ? pick_at<std::uint8_t>
              : moved.pixel == 2 ? pick_at<std::uint16_t>
                                 : pick_at<std::uint32_t>) {}

  void make(const Region& block) const {
    const Plane& first = *moved_.in[0];
    std::int32_t offsets[max_pixels];  // of a row behind those of the one before
    fetch_block(moved_.rule.place(), first, block);
    AffineRow row{
        .stride = first.stride(), .width = first.size().width, .height = first.size().height};
    for (std::int64_t v = block.y0; v < block.y1; ++v) {
      to_row(moved_.rule.place(), block, v, row);
      nearest_offsets(row, moved_.pixel, moved_.level, offsets + (v - block.y0) * block.width());
    }
    for (std::size_t c = 0; c < moved_.in.size(); ++c) {
      if (c > 0) fetch_block(moved_.rule.place(), *moved_.in[c], block);
      for (std::int64_t v = block.y0; v < block.y1; ++v) {
        store(c, block, v, offsets + (v - block.y0) * block.width());
      }
    }
    if (spills_) end_streams();
  }

 private:
  void store(std::size_t c, const Region& block, std::int64_t v,
             const std::int32_t* offsets) const {
    const std::byte* data = moved_.in[c]->row(0);
    std::byte* to = moved_.out[c]->row(v) + block.x0 * moved_.pixel;
    if (!spills_) return pick_(to, data, offsets, block.width(), moved_.beside);
    alignas(64) std::byte pixels[max_columns * sizeof(float)];
    pick_(pixels, data, offsets, block.width(), moved_.beside);
    stream_row(to, pixels, block.width() * moved_.pixel, moved_.level);
  }

  const Moved& moved_;
  bool spills_;
  void (*pick_)(std::byte*, const std::byte*, const std::int32_t*, std::int64_t, const std::byte*);
};

// Rows of any map, as numbers, read where the image lies: places first, then what lies there.
void map_rows(const Moved& moved, const MappedPlace& place, std::size_t channel,
              const Region& block) {
  const Plane& in = *moved.in[channel];
  const MapRow row = map_row(in.cls(), moved.resample, moved.level);
  const Results stored(*moved.out[channel], moved.level);
  float numbers[max_columns];
  fetch_block(place, in, block);
  MapPart made{.place = &place,
               .data = in.row(0),
               .stride = in.stride(),
               .width = in.size().width,
               .height = in.size().height,
               .first = block.x0,
               .n = block.width(),
               .outside = moved.outside};
  for (made.row = block.y0; made.row < block.y1; ++made.row) {
    row(made, numbers);
    stored.store(block.x0, made.row, numbers, block.width());
  }
  stored.end();
}

}  // namespace

void run_map(const Node& node, std::span<const Plane* const> in, double outside,
             std::span<Plane* const> out, ThreadPool& pool, CpuLevel level) {
  const Moved moved(node, in, outside, out, level);
  const bool nearest = moved.is_nearest(), plain = is_plain_affine(moved.resample);
  const MappedPlace place = mapped_place(node, in[0]->size());
  const Turned turned(moved);
  const bool fits = turned.fits(), copies = nearest && moved.alike();
  for_blocks(out[0]->size(), turned.blocks(), pool, [&](const Region& block) {
    if (fits && turned.make(block)) return;
    if (plain && copies) return Nearest(moved).make(block);
    for (std::size_t c = 0; c < in.size(); ++c) {
      if (plain) {
        make_rows(moved, nearest, c, block);
      } else {
        map_rows(moved, place, c, block);
      }
    }
  });
}

}  // namespace impipe::cpu
