// Blocks of an affine map, from copies of what they read.
#include "backends/cpu/geometry/turned_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/geometry/results.hpp"

namespace impipe::cpu {
namespace {

// Copies the pixels at byte `offsets` of `data`. Places are loaded in twos: three loads for two
// pixels.
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

std::int64_t pitch_of(const Region& block) {
  return (block.width() + words_together - 1) / words_together * words_together;
}

PartWord word_of(const Moved& moved) {
  switch (moved.resample.method) {
    case Resample::Method::nearest:
      return moved.in.size() > 1 && moved.pixel < 4 ? PartWord::channels : PartWord::pixel;
    case Resample::Method::bicubic:
      return moved.pixel == 1   ? PartWord::column
             : moved.pixel == 2 ? PartWord::below
                                : PartWord::pixel;
    default: return PartWord::below;
  }
}

// Outputs [from, end) of a row, whose places in one coordinate lie within bounds.
struct Within {
  std::int64_t from, end;
};
// Those of a row of a block. From those of the row above: ends move little from row to row.
void find_within(const PlaceRow& row, const PlaceAxis& axis, double low, double high,
                 const Region& block, Within& within) {
  const auto at = [&](std::int64_t u) { return place_at(row, axis, static_cast<double>(u)); };
  // To the first output that `has` is true of, and then of all behind it.
  const auto walk = [&](std::int64_t& u, const auto& has) {
    while (u > block.x0 && has(u - 1)) --u;
    while (u < block.x1 && !has(u)) ++u;
  };
  if (axis.slope < 0) {
    walk(within.from, [&](std::int64_t u) { return at(u) <= high; });
    walk(within.end, [&](std::int64_t u) { return at(u) < low; });
  } else {
    walk(within.from, [&](std::int64_t u) { return at(u) >= low; });
    walk(within.end, [&](std::int64_t u) { return at(u) > high; });
  }
}

// Results of as many bytes go past the caches in lines of the blocks below: what a block reads lies
// there, and lines that are written over would have to be read.
constexpr std::int64_t spilled_bytes = 8 << 20;

}  // namespace

Moved::Moved(const Node& node, std::span<const Plane* const> from, double value,
             std::span<Plane* const> to, CpuLevel l)
    : in(from),
      out(to),
      level(l),
      resample(std::get<Resample>(node.primitive)),
      rule(node, from[0]->size()),
      cls(to[0]->cls()),
      pixel(bytes_of(cls)),
      outside(static_cast<float>(value)) {
  float number = outside;
  if (cls == PixelClass::logical) number = number >= 0.5f ? 1.0f : 0.0f;
  store_row(beside, &number, cls, 1, level);
}

bool Moved::alike() const {
  const Plane& first = *in[0];
  return first.cls() == cls &&
         first.stride() * first.size().height <= std::numeric_limits<std::int32_t>::max() &&
         std::ranges::all_of(in, [&](const Plane* plane) {
           return plane->stride() == first.stride() && plane->size() == first.size() &&
                  plane->cls() == cls;
         });
}

Turned::Turned(const Moved& moved)
    : moved_(moved),
      nearest_(moved.resample.method == Resample::Method::nearest),
      cubic_(moved.resample.method == Resample::Method::bicubic),
      on_image_(moved.resample.beside == Resample::Beside::on_image),
      spills_(std::ssize(moved.out) * moved.out[0]->size().height * moved.out[0]->row_bytes() >=
              spilled_bytes),
      far_(std::ssize(moved.in) * moved.in[0]->size().height * moved.in[0]->row_bytes() >=
           kept_in_caches),
      word_(word_of(moved)) {
  const Size size = moved.in[0]->size();
  const double right = static_cast<double>(size.width - 1);
  const double bottom = static_cast<double>(size.height - 1);
  if (on_image_) {
    const double more = cubic_ ? 0.5 : 0;
    bounds_ = {-more, -more, right + more, bottom + more};
    return;
  }
  // Between the bounds; the least and the largest numbers there.
  const double reach = cubic_ ? 2 : 1, low = std::nextafter(-reach, 0.0);
  bounds_ = {low, low, std::nextafter(right + reach, 0.0), std::nextafter(bottom + reach, 0.0)};
}

// Beside an image that is filled pixels are blended with the value outside as it is, which a copy
// has where it is a code.
bool Turned::fits() const {
  if (moved_.resample.kind != Resample::Kind::affine) return false;
  if (moved_.level == CpuLevel::baseline || !moved_.alike()) {
    return false;
  }
  return nearest_ || on_image_ || moved_.cls == PixelClass::single ||
         is_code(moved_.outside, moved_.cls);
}

// As large as pays, or smaller, so that their parts fit: about, with what is read around places.
Blocks Turned::blocks() const {
  if (moved_.resample.kind != Resample::Kind::affine) return {};
  const int word_bytes = moved_.pixel * pixels_of(word_);
  Blocks blocks = word_bytes <= 2                       ? Blocks{128, 64}
                  : word_bytes > 4                      ? Blocks{64, 32}
                  : word_ == PartWord::below && !cubic_ ? Blocks{128, 32}
                                                        : Blocks{64, 64};
  const AffinePlace& place = moved_.rule.place();
  const auto fits_part = [&] {
    constexpr double around = 8, most = 240, line = 128;
    const auto columns = static_cast<double>(blocks.columns),
               rows = static_cast<double>(blocks.rows);
    const double wide = std::abs(place.a) * columns + std::abs(place.b) * rows + around;
    const double tall = std::abs(place.d) * columns + std::abs(place.e) * rows + around;
    return wide < most && tall < most &&
           (wide * word_bytes + line) * tall <= static_cast<double>(TurnedPart::room);
  };
  constexpr std::int64_t least = 16;
  while (!fits_part() && blocks.columns + blocks.rows > 2 * least) {
    (blocks.columns > blocks.rows ? blocks.columns : blocks.rows) /= 2;
  }
  return blocks;
}

bool Turned::make(const Region& block) const {
  const TurnedPart part = part_of(block);
  if (!part.fits()) return false;
  if (part.is_outside()) {
    fill(block);
    return true;
  }
  alignas(64) std::byte memory[TurnedPart::room + TurnedPart::beyond];
  alignas(64) std::int32_t offsets[max_pixels];
  alignas(64) float across[max_pixels], down[max_pixels];
  Ends ends;
  find_ends(block, ends);
  const Made made{part, block, ends, {offsets, across, down}};
  find_places(made);
  const std::size_t together = channels_together();
  for (std::size_t c = 0; c < moved_.in.size(); c += together) {
    const auto channels = group(c);
    part.copy(channels, on_image_ ? PartFrame::mirrored : PartFrame::outside, moved_.beside, memory,
              moved_.level);
    if (far_ && c + together < moved_.in.size()) {
      part.ask_for(group(c + together));
    } else if (far_) {
      ask_beside(block);
    }
    if (!nearest_) {
      blend(made, c, memory);
    } else if (together == 1) {
      pick(made, c, memory);
    } else {
      pick_channels(made, c, channels.size(), memory);
    }
  }
  if (spills_) end_streams();
  return true;
}

TurnedPart Turned::part_of(const Region& block) const {
  return {moved_.rule.place(), block, moved_.in[0]->size(), moved_.pixel, word_, cubic_ ? 1 : 0};
}

// Those from channel `first` on that are copied together.
std::span<const Plane* const> Turned::group(std::size_t first) const {
  return moved_.in.subspan(first, std::min(channels_together(), moved_.in.size() - first));
}

// In line, as TurnedPart::ask_for.
[[gnu::always_inline]] inline void Turned::ask_beside(Region block) const {
  const std::int64_t width = block.width();
  block.x0 += width;
  block.x1 += width;
  if (block.x0 >= moved_.out[0]->size().width) return;
  const TurnedPart next = part_of(block);
  if (next.fits()) next.ask_for(group(0));
}

// Places do not fall or do not rise along a row or a column: the corners tell of all.
void Turned::find_ends(const Region& block, Ends& ends) const {
  ends.whole = true;
  for (const std::int64_t v : {block.y0, block.y1 - 1}) {
    const PlaceRow row = moved_.rule.row(v);
    for (const std::int64_t u : {block.x0, block.x1 - 1}) {
      const double x = place_at(row, row.x, static_cast<double>(u));
      const double y = place_at(row, row.y, static_cast<double>(u));
      ends.whole = ends.whole && x >= bounds_.left && x <= bounds_.right && y >= bounds_.top &&
                   y <= bounds_.bottom;
    }
  }
  if (ends.whole) return;
  Within across{block.x0, block.x0}, down = across;
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    const PlaceRow row = moved_.rule.row(v);
    find_within(row, row.x, bounds_.left, bounds_.right, block, across);
    find_within(row, row.y, bounds_.top, bounds_.bottom, block, down);
    const std::int64_t begin = std::max(across.from, down.from);
    const std::int64_t end = std::max(begin, std::min(across.end, down.end));
    ends.begin[v - block.y0] = static_cast<std::int32_t>(begin - block.x0);
    ends.end[v - block.y0] = static_cast<std::int32_t>(end - block.x0);
  }
}

// Rows `pitch_of` behind each other; the places behind their ends are some of the copy.
void Turned::find_places(const Made& made) const {
  const auto& [part, block, ends, to] = made;
  const std::int64_t pitch = pitch_of(block);
  WordGrid grid{part.stride(), part.base(), part.word_bytes()};
  // From the first of the pixels that are read.
  if (cubic_) grid.base += part.stride() + part.word_bytes();
  for (std::int64_t v = block.y0; v < block.y1; ++v) {
    const std::int64_t at = (v - block.y0) * pitch;
    std::int32_t* offsets = to.offsets + at;
    find_words(moved_.rule.row(v), block.x0, block.x1, grid, nearest_, moved_.level,
               {offsets, to.across + at, to.down + at});
    std::fill(offsets + block.width(), offsets + pitch, 0);
    if (!nearest_ || ends.whole) continue;
    const auto beside = static_cast<std::int32_t>(TurnedPart::room);
    std::fill(offsets, offsets + ends.begin[v - block.y0], beside);
    std::fill(offsets + ends.end[v - block.y0], offsets + block.width(), beside);
  }
}

void Turned::blend(const Made& made, std::size_t c, const std::byte* memory) const {
  const auto& [part, block, ends, places] = made;
  const Results stored(*moved_.out[c], spills_, moved_.level);
  const std::int64_t pitch = pitch_of(block), rows = max_words / pitch;
  alignas(64) float numbers[max_words];
  for (std::int64_t y = block.y0; y < block.y1; y += rows) {
    const std::int64_t end = std::min(y + rows, block.y1), at = (y - block.y0) * pitch;
    const WordPlaces these{places.offsets + at, places.across + at, places.down + at};
    const auto n = static_cast<int>((end - y) * pitch);
    if (cubic_) {
      blend_cubic(moved_.cls, moved_.level, memory, part.stride(), these, n, numbers);
    } else {
      blend_words(moved_.cls, moved_.level, memory, these, n, numbers);
    }
    for (std::int64_t v = y; v < end; ++v) {
      float* row = numbers + (v - y) * pitch;
      if (!ends.whole) {
        std::fill(row, row + ends.begin[v - block.y0], moved_.outside);
        std::fill(row + ends.end[v - block.y0], row + block.width(), moved_.outside);
      }
      stored.store(block.x0, v, row, block.width());
    }
  }
}

std::byte* Turned::target(std::size_t c, const Region& block, std::int64_t v) const {
  return moved_.out[c]->row(v) + block.x0 * moved_.pixel;
}

void Turned::pick(const Made& made, std::size_t c, const std::byte* memory) const {
  const Region& block = made.block;
  const std::int32_t* offsets = made.places.offsets;
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
void Turned::pick_channels(const Made& made, std::size_t first, std::size_t count,
                           const std::byte* memory) const {
  const Region& block = made.block;
  const std::int64_t n = block.width(), pitch = pitch_of(block), rows = max_words / pitch;
  const int word = 4 * moved_.pixel;
  alignas(64) std::byte words[max_words * 8], pixels[max_columns * 2];
  for (std::int64_t y = block.y0; y < block.y1; y += rows) {
    const std::int64_t end = std::min(y + rows, block.y1);
    (moved_.pixel == 1 ? pick_inside<std::uint32_t>
                       : pick_inside<std::uint64_t>)(words, memory,
                                                     made.places.offsets + (y - block.y0) * pitch,
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

void Turned::fill(const Region& block) const {
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

}  // namespace impipe::cpu
