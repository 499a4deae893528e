// An image moved by an affine map, a block of the output at a time. Where the map turns, what a
// block reads is copied first; places are found once for all channels.
#include "backends/cpu/geometry/affine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/geometry/blocks.hpp"
#include "backends/cpu/geometry/resample_rows.hpp"
#include "backends/cpu/geometry/results.hpp"
#include "backends/cpu/geometry/turned_part.hpp"
#include "backends/cpu/geometry/warp_rows.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

bool turns(const AffinePlace& place) { return place.b != 0 || place.d != 0; }

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

bool are_nearest(const Node& node) {
  return std::get<Resample>(node.primitive).method == Resample::Method::nearest;
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
// The same where none is -1. Places are loaded in twos: three loads for two pixels.
template <class T>
void pick_inside(std::byte* out, const std::byte* data, const std::int32_t* offsets,
                 std::int64_t n) {
  constexpr std::int64_t bytes = sizeof(T), together = 8;
  std::int64_t i = 0;
  for (; i + together <= n; i += together) {
#pragma GCC unroll 4
    for (std::int64_t k = i; k < i + together; k += 2) {
      std::uint64_t two = 0;
      std::memcpy(&two, offsets + k, sizeof two);
      std::memcpy(out + k * bytes, data + static_cast<std::uint32_t>(two), bytes);
      std::memcpy(out + (k + 1) * bytes, data + (two >> 32), bytes);
    }
  }
  for (; i < n; ++i) std::memcpy(out + i * bytes, data + offsets[i], bytes);
}

// The channels of an image, and what is common to all ways to move them.
struct Moved {
  std::span<const Plane* const> in;
  std::span<Plane* const> out;
  CpuLevel level;
  AffinePlace place;
  PixelClass cls;
  int pixel;  // bytes
  float outside;
  std::byte beside[sizeof(float)] = {};  // the pixel outside

  Moved(const Node& node, std::span<const Plane* const> from, double value,
        std::span<Plane* const> to, CpuLevel l)
      : in(from),
        out(to),
        level(l),
        place(affine_place(node, from[0]->size())),
        cls(to[0]->cls()),
        pixel(bytes_of(cls)),
        outside(static_cast<float>(value)) {
    float number = outside;
    if (cls == PixelClass::logical) number = number >= 0.5f ? 1.0f : 0.0f;
    store_row(beside, &number, cls, 1, level);
  }

  // Whether the planes are laid out alike, and places in them are numbers of 32 bits.
  bool alike() const {
    const Plane& first = *in[0];
    return first.cls() == cls &&
           first.stride() * first.size().height <= std::numeric_limits<std::int32_t>::max() &&
           std::ranges::all_of(in, [&](const Plane* plane) {
             return plane->stride() == first.stride() && plane->size() == first.size() &&
                    plane->cls() == cls;
           });
  }
  std::int64_t bytes_out() const {
    return std::ssize(out) * out[0]->size().height * out[0]->row_bytes();
  }
  // Whether rows of blocks that are read in place go past the caches; bytes are too few a row.
  bool spills() const { return pixel > 1 && bytes_out() > kept_in_caches; }
};

// One row after the other, as numbers, read where the image lies.
void make_rows(const Moved& moved, bool nearest, std::size_t channel, const Region& block) {
  static thread_local std::vector<float> numbers;  // one a column
  const Plane& in = *moved.in[channel];
  Plane& out = *moved.out[channel];
  if (std::ssize(numbers) < block.x1) numbers.resize(static_cast<std::size_t>(out.size().width));
  fetch_block(moved.place, in, block);
  const Results stored(out, moved.spills(), moved.level);
  AffineRow row{.data = in.row(0),
                .stride = in.stride(),
                .width = in.size().width,
                .height = in.size().height,
                .outside = moved.outside};
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    to_row(moved.place, block, v, row);
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
    fetch_block(moved_.place, first, block);
    AffineRow row{
        .stride = first.stride(), .width = first.size().width, .height = first.size().height};
    for (std::int64_t v = block.y0; v < block.y1; ++v) {
      to_row(moved_.place, block, v, row);
      nearest_offsets(row, moved_.pixel, moved_.level, offsets + (v - block.y0) * block.width());
    }
    for (std::size_t c = 0; c < moved_.in.size(); ++c) {
      if (c > 0) fetch_block(moved_.place, *moved_.in[c], block);
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

// Results of as many bytes go past the caches in lines of the blocks below: what a block reads lies
// there, and lines that are written over would have to be read.
constexpr std::int64_t spilled_bytes = 8 << 20;

// Blocks of a map that turns, from copies of what they read: of the channels one by one, or of some
// together.
class Turned {
 public:
  Turned(const Moved& moved, bool nearest)
      : moved_(moved),
        nearest_(nearest),
        spills_(moved.bytes_out() >= spilled_bytes),
        far_(std::ssize(moved.in) * moved.in[0]->size().height * moved.in[0]->row_bytes() >=
             kept_in_caches),
        word_(!nearest                                 ? PartWord::below
              : moved.in.size() > 1 && moved.pixel < 4 ? PartWord::channels
                                                       : PartWord::pixel) {}

  // Between pixels and a value outside that is no code the definition rounds more than once; of a
  // float other than 0 a blend with itself may be another.
  bool fits() const {
    if (moved_.level == CpuLevel::baseline || !turns(moved_.place) || !moved_.alike()) return false;
    if (nearest_) return true;
    if (moved_.cls == PixelClass::single) {
      return moved_.outside == 0 && !std::signbit(moved_.outside);
    }
    return is_code(moved_.outside, moved_.cls);
  }

  Blocks blocks() const {
    if (!turns(moved_.place)) return {};
    const int bytes = moved_.pixel * pixels_of(word_);
    if (bytes <= 2) return {128, 64};
    if (bytes > 4) return {64, 32};
    return word_ == PartWord::below ? Blocks{128, 32} : Blocks{64, 64};
  }

  // False where the part is too large, or its edges are no numbers.
  bool make(const Region& block) const {
    const TurnedPart part(moved_.place, block, moved_.in[0]->size(), moved_.pixel, word_);
    if (!part.fits()) return false;
    if (part.is_outside()) {
      fill(block);
      return true;
    }
    alignas(64) std::byte memory[TurnedPart::room + TurnedPart::beyond];
    alignas(64) std::int32_t offsets[max_pixels];
    alignas(64) float across[max_pixels], down[max_pixels];
    const WordPlaces places{offsets, across, down};
    find_places(part, block, places);
    const std::size_t together = channels_together();
    for (std::size_t c = 0; c < moved_.in.size(); c += together) {
      const auto channels = group(c);
      part.copy(channels, moved_.beside, memory, moved_.level);
      if (far_ && c + together < moved_.in.size()) {
        part.ask_for(group(c + together));
      } else if (far_) {
        ask_beside(block);
      }
      if (!nearest_) {
        if (!blend(part, c, block, memory, places)) return false;
      } else if (together == 1) {
        pick(c, block, memory, offsets);
      } else {
        pick_channels(c, channels.size(), block, memory, offsets);
      }
    }
    if (spills_) end_streams();
    return true;
  }

 private:
  static std::int64_t pitch_of(const Region& block) {
    return (block.width() + words_together - 1) / words_together * words_together;
  }

  std::size_t channels_together() const { return word_ == PartWord::channels ? 4 : 1; }
  // Those from channel `first` on that are copied together.
  std::span<const Plane* const> group(std::size_t first) const {
    return moved_.in.subspan(first, std::min(channels_together(), moved_.in.size() - first));
  }
  // In line, as TurnedPart::ask_for.
  [[gnu::always_inline]] void ask_beside(Region block) const {
    const std::int64_t width = block.width();
    block.x0 += width;
    block.x1 += width;
    if (block.x0 >= moved_.out[0]->size().width) return;
    const TurnedPart next(moved_.place, block, moved_.in[0]->size(), moved_.pixel, word_);
    if (next.fits()) next.ask_for(group(0));
  }

  // Rows `pitch_of` behind each other; the places behind their ends are some of the copy.
  void find_places(const TurnedPart& part, const Region& block, const WordPlaces& to) const {
    const std::int64_t pitch = pitch_of(block);
    AffineRow row{.stride = part.stride(), .base = part.base()};
    for (std::int64_t v = block.y0; v < block.y1; ++v) {
      to_row(moved_.place, block, v, row);
      const std::int64_t at = (v - block.y0) * pitch;
      find_words(row, part.word_bytes(), nearest_, moved_.level,
                 {to.offsets + at, to.across + at, to.down + at});
      for (std::int64_t i = block.width(); i < pitch; ++i) to.offsets[at + i] = 0;
    }
  }

  bool blend(const TurnedPart& part, std::size_t c, const Region& block, const std::byte* memory,
             const WordPlaces& places) const {
    // Where a place is -1 the definition has the value outside, not a pixel 0 times.
    if (moved_.cls == PixelClass::single && !part.has_numbers_at_edges(memory)) return false;
    const Results stored(*moved_.out[c], spills_, moved_.level);
    const std::int64_t pitch = pitch_of(block), rows = max_words / pitch;
    alignas(64) float numbers[max_words];
    for (std::int64_t y = block.y0; y < block.y1; y += rows) {
      const std::int64_t end = std::min(y + rows, block.y1), at = (y - block.y0) * pitch;
      blend_words(moved_.cls, moved_.level, memory,
                  {places.offsets + at, places.across + at, places.down + at},
                  static_cast<int>((end - y) * pitch), numbers);
      for (std::int64_t v = y; v < end; ++v) {
        stored.store(block.x0, v, numbers + (v - y) * pitch, block.width());
      }
    }
    return true;
  }

  std::byte* target(std::size_t c, const Region& block, std::int64_t v) const {
    return moved_.out[c]->row(v) + block.x0 * moved_.pixel;
  }

  void pick(std::size_t c, const Region& block, const std::byte* memory,
            const std::int32_t* offsets) const {
    const auto pick_pixels = moved_.pixel == 1   ? pick_inside<std::uint8_t>
                             : moved_.pixel == 2 ? pick_inside<std::uint16_t>
                                                 : pick_inside<std::uint32_t>;
    for (std::int64_t v = block.y0; v < block.y1; ++v, offsets += pitch_of(block)) {
      std::byte* to = target(c, block, v);
      if (!spills_) {
        pick_pixels(to, memory, offsets, block.width());
        continue;
      }
      alignas(64) std::byte pixels[max_columns * sizeof(float)];
      pick_pixels(pixels, memory, offsets, block.width());
      stream_row(to, pixels, block.width() * moved_.pixel, moved_.level);
    }
  }

  // Several rows of words first: what was stored in pieces is not yet there for a vector.
  void pick_channels(std::size_t first, std::size_t count, const Region& block,
                     const std::byte* memory, const std::int32_t* offsets) const {
    const std::int64_t n = block.width(), pitch = pitch_of(block), rows = max_words / pitch;
    const int word = 4 * moved_.pixel;
    alignas(64) std::byte words[max_words * 8], pixels[max_columns * 2];
    for (std::int64_t y = block.y0; y < block.y1; y += rows) {
      const std::int64_t end = std::min(y + rows, block.y1);
      (moved_.pixel == 1 ? pick_inside<std::uint32_t>
                         : pick_inside<std::uint64_t>)(words, memory,
                                                       offsets + (y - block.y0) * pitch,
                                                       (end - y) * pitch);
      for (std::size_t c = 0; c < count; ++c) {
        for (std::int64_t v = y; v < end; ++v) {
          std::byte* to = target(first + c, block, v);
          split_words(words + (v - y) * pitch * word, spills_ ? pixels : to, static_cast<int>(c),
                      moved_.pixel, n, moved_.level);
          if (spills_) stream_row(to, pixels, n * moved_.pixel, moved_.level);
        }
      }
    }
  }

  void fill(const Region& block) const {
    alignas(64) std::byte pixels[max_columns * sizeof(float)];
    fill_row(pixels, moved_.beside, moved_.pixel, block.width());
    const std::int64_t bytes = block.width() * moved_.pixel;
    for (std::size_t c = 0; c < moved_.out.size(); ++c) {
      for (std::int64_t v = block.y0; v < block.y1; ++v) {
        std::byte* to = target(c, block, v);
        if (spills_) {
          stream_row(to, pixels, bytes, moved_.level);
        } else {
          std::memcpy(to, pixels, static_cast<std::size_t>(bytes));
        }
      }
    }
    if (spills_) end_streams();
  }

  const Moved& moved_;
  bool nearest_, spills_;
  bool far_;  // inputs are more than stays in the caches
  PartWord word_;
};

}  // namespace

void run_affine(const Node& node, std::span<const Plane* const> in, double outside,
                std::span<Plane* const> out, ThreadPool& pool, CpuLevel level) {
  const Moved moved(node, in, outside, out, level);
  const bool nearest = are_nearest(node);
  const Turned turned(moved, nearest);
  const bool fits = turned.fits(), copies = nearest && moved.alike();
  for_blocks(out[0]->size(), turned.blocks(), pool, [&](const Region& block) {
    if (fits && turned.make(block)) return;
    if (copies) return Nearest(moved).make(block);
    for (std::size_t c = 0; c < in.size(); ++c) make_rows(moved, nearest, c, block);
  });
}

}  // namespace impipe::cpu
