// Finds planes without directories. Compiled into the program and into the codec module.
#include "io/formats/tiff/tiff_planes.hpp"

#include <algorithm>
#include <cmath>

#include "io/formats/tiff/tiff_description.hpp"

namespace impipe::io {
namespace {

constexpr std::uint64_t uncompressed = 1, apart = 2;

// Without tiles, where sizes and samples are those of some picture.
bool has_plain_strips(const TiffLayout& l) {
  return l.tile.pixels() == 0 && !l.is_ycbcr() && l.size.width > 0 && l.size.height > 0 &&
         l.size.width <= max_side && l.size.height <= max_side && l.bits >= 1 && l.bits <= 64 &&
         l.samples >= 1 && l.samples <= static_cast<std::uint64_t>(max_channels);
}

std::int64_t row_bytes(const TiffLayout& l) {
  const std::uint64_t samples = l.planar == apart ? 1 : l.samples;
  const auto bits = static_cast<std::int64_t>(samples * l.bits);
  return (l.size.width * bits + 7) / 8;
}

// Images of a plane that each have strips of their own.
std::int64_t parts(const TiffLayout& l) {
  return l.planar == apart ? static_cast<std::int64_t>(l.samples) : 1;
}

std::int64_t plane_bytes(const TiffLayout& l) { return parts(l) * l.size.height * row_bytes(l); }

std::int64_t rows_of_strip(const TiffPixels& s) {
  return std::clamp<std::int64_t>(s.rows_per_strip, 1, s.layout.size.height);
}

std::int64_t strips_of_image(const TiffPixels& s) {
  const std::int64_t rows = rows_of_strip(s);
  return (s.layout.size.height + rows - 1) / rows;
}

[[noreturn]] void fail_truncated(const TiffPixels& s, std::int64_t planes, const char* by) {
  fail("truncated TIFF: ", by, " says that there are ", planes, " planes of ",
       to_string(s.layout.size), ", and the file ends before");
}

// Some compressions pack the slices of a tile as they would more rows of it.
bool unpacks_deep_tiles(const TiffLayout& l) {
  constexpr std::uint64_t known[] = {uncompressed, 5, 8, 32946, 32773, 34925, 50000};
  return !l.is_ycbcr() && std::ranges::find(known, l.compression) != std::end(known);
}

}  // namespace

bool PlaneFinder::fits(const TiffPixels& s, std::int64_t planes) const {
  return s.data() > 0 && s.data() <= source_.size() &&
         planes <= (source_.size() - s.data()) / plane_bytes(s.layout);
}

bool PlaneFinder::is_in_one_piece(const TiffPixels& s, std::int64_t images) {
  const TiffLayout& l = s.layout;
  const std::int64_t strips = strips_of_image(s), rows = rows_of_strip(s);
  if (l.compression != uncompressed || s.offsets.count == 0 ||
      static_cast<std::int64_t>(s.offsets.count) != strips * images) {
    return false;
  }
  left_ -= strips * images * tiff_type_bytes(s.offsets.type);
  if (left_ < 0) return false;
  std::int64_t expected = s.data(), strip = 0;
  for (const std::int64_t offset : s.offsets.numbers(source_)) {
    if (offset != expected) return false;
    expected += std::min(rows, l.size.height - strip * rows) * row_bytes(l);
    strip = (strip + 1) % strips;
  }
  return true;
}

// Some scanners write an ImageDepth where there is one plane: strips and tiles decide.
TiffPlanes PlaneFinder::volume(const TiffPixels& s) {
  const TiffLayout& l = s.layout;
  TiffPlanes out{.claimed = l.depth, .claimant = "its ImageDepth"};
  if (l.tile.width > 0 && l.tile.height > 0) {
    const auto many = [](std::int64_t side, std::int64_t tile) {
      return std::ceil(static_cast<double>(side) / static_cast<double>(tile));
    };
    const double tiles = many(l.size.width, l.tile.width) * many(l.size.height, l.tile.height) *
                         many(l.depth, l.tile_depth) * static_cast<double>(parts(l));
    const bool has_all = tiles == static_cast<double>(s.offsets.count);
    if (has_all && (l.tile_depth == 1 || unpacks_deep_tiles(l))) out.count = l.depth;
    return out;
  }
  if (!has_plain_strips(l)) return out;
  const double strips =
      static_cast<double>(strips_of_image(s) * parts(l)) * static_cast<double>(l.depth);
  if (strips != static_cast<double>(s.offsets.count)) return out;
  if (parts(l) != 1 || l.compression != uncompressed) {
    fail(
        "TIFF of a volume in strips is not supported where they are compressed or apart; write "
        "it uncompressed, in tiles or with a directory for each plane");
  }
  if (!fits(s, l.depth)) fail_truncated(s, l.depth, out.claimant);
  if (!is_in_one_piece(s, l.depth)) {
    fail(
        "TIFF of a volume in strips that do not follow each other is not supported; write it in "
        "tiles or with a directory for each plane");
  }
  out.count = l.depth;
  out.stride = plane_bytes(l);
  return out;
}

TiffPlanes PlaneFinder::described(const TiffPixels& s) {
  TiffPlanes out{.claimed = described_planes(s.description, s.layout),
                 .claimant = "its description"};
  if (out.claimed <= 1 || !has_plain_strips(s.layout) || !fits(s, out.claimed)) return out;
  const std::int64_t end = s.data() + out.claimed * plane_bytes(s.layout);
  // The first of these is its own.
  const auto own = std::lower_bound(begins_.begin(), begins_.end(), s.data());
  const bool has_next = own + 1 < begins_.end() && *(own + 1) < end;
  if (has_next || s.next_value < end || !is_in_one_piece(s, parts(s.layout))) return out;
  out.count = out.claimed;
  out.stride = plane_bytes(s.layout);
  return out;
}

TiffPlanes PlaneFinder::planes_of(const TiffPixels& s, bool is_only_page) {
  if (s.layout.depth > 1) return volume(s);
  if (s.stack_planes <= 1 || !is_only_page) return described(s);
  const char* claimant = "MetaMorph's tag";
  const bool plain = has_plain_strips(s.layout) && s.layout.compression == uncompressed;
  if (plain && !fits(s, s.stack_planes)) fail_truncated(s, s.stack_planes, claimant);
  if (!plain || !is_in_one_piece(s, parts(s.layout))) {
    fail("TIFF of ", s.stack_planes,
         " planes by MetaMorph is not supported where they are compressed or apart; write it with "
         "a directory for each plane");
  }
  return {.count = s.stack_planes,
          .stride = plane_bytes(s.layout),
          .claimed = s.stack_planes,
          .claimant = claimant};
}

}  // namespace impipe::io
