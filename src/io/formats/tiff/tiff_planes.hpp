// Planes of a TIFF that have no directory of their own: they follow those of a directory, as its
// description, MetaMorph's tags or an ImageDepth say.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/bytes/tiff_entry.hpp"
#include "io/formats/tiff/tiff_header.hpp"

namespace impipe::io {

// What a directory says of where its pixels are, and of planes.
struct TiffPixels {
  TiffLayout layout;
  TiffEntry offsets;  // of strips or tiles
  std::int64_t rows_per_strip = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t predictor = 1;
  std::int64_t stack_planes = 1;  // MetaMorph's
  std::string description;        // where it may be of a stack
  // Where the first of the directory's values begins that lies behind its pixels' first byte.
  std::int64_t next_value = std::numeric_limits<std::int64_t>::max();

  std::int64_t data() const { return static_cast<std::int64_t>(offsets.at()); }
  bool claims_planes() const {
    return layout.depth > 1 || stack_planes > 1 || !description.empty();
  }
};

// The planes of a file's directories.
class PlaneFinder {
 public:
  // begins: where directories and their pixels begin, sorted.
  PlaneFinder(const ByteSource& source, const std::vector<std::int64_t>& begins)
      : source_(source), begins_(begins), left_(source.size()) {}

  // What a description says is believed where nothing else of the file lies between the planes.
  // Throws Error for planes that are there by their format and cannot be read.
  TiffPlanes planes_of(const TiffPixels& storage, bool is_only_page);

 private:
  TiffPlanes volume(const TiffPixels& storage);
  TiffPlanes described(const TiffPixels& storage);
  // Whether the strips of `images` images lie one behind the other, as unpacked rows.
  bool is_in_one_piece(const TiffPixels& storage, std::int64_t images);
  // Whether the file is long enough.
  bool fits(const TiffPixels& storage, std::int64_t planes) const;

  const ByteSource& source_;
  const std::vector<std::int64_t>& begins_;
  std::int64_t left_;  // bytes of offsets that a sound file may still have: none share theirs
};

}  // namespace impipe::io
