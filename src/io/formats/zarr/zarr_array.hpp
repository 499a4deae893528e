// What the metadata of a Zarr say: an array, how its chunks are stored, and what its dimensions
// are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/picture/array_items.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// What the bytes of a chunk went through; zlib and gzip are both unpacked by `inflate`.
enum class ZarrPacking { inflate, zstd, blosc, crc32c };

struct ZarrArray {
  // Several chunks in a file, behind or before an index of them.
  struct Shards {
    std::vector<std::int64_t> shape;
    std::vector<ZarrPacking> index;  // as `packings`
    bool index_at_end = true;
  };
  std::string folder;  // that its keys begin with: "", "0/"
  int version = 2;     // of Zarr
  std::vector<std::int64_t> shape, chunk;
  ArrayType type;
  std::string fill;                   // the item of chunks that are not there
  std::vector<int> order;             // the dimensions as they lie in a chunk, the slowest first
  std::vector<ZarrPacking> packings;  // in the order in which they were applied
  std::optional<Shards> shards;
  std::string key_begin;  // of chunks, behind the folder: "c/" or nothing
  char separator = '.';
  std::vector<std::string> names;  // of the dimensions; empty: they have none

  // Of a chunk, or of a shard.
  std::string key(std::span<const std::int64_t> place) const {
    std::string out = folder + key_begin;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (i > 0) out += separator;
      out += std::to_string(place[i]);
    }
    return out;
  }
  std::int64_t chunk_bytes() const {
    std::int64_t bytes = type.bytes;
    for (const std::int64_t side : chunk) bytes *= side;
    return bytes;
  }
};

// An array whose dimensions are known: what is read of a Zarr.
struct ZarrImage {
  ZarrArray array;
  std::vector<MeasuredAxis> axes;    // of the dimensions
  int x = -1, y = -1, channel = -1;  // the dimensions that are those; -1: none
  std::vector<int> pages;            // the others
  ImageInfo info;
  std::vector<std::string> lost;  // what else it says
};

// A document of the metadata; none where there is no such key.
using ReadZarrKey = std::function<std::optional<std::string>(const std::string& key)>;
// The array itself, or the largest of an OME-Zarr's pyramid. axes: see Reading. Throws Error.
ZarrImage zarr_image(const ReadZarrKey& read, const std::string& axes);
// Which files are needed for it.
struct ZarrFiles {
  std::vector<std::string> documents;  // the keys that were read
  std::string chunks;                  // the folder of chunks, "" or "0/"
};
ZarrFiles zarr_files(const ReadZarrKey& read);

// The document of a pyramid (.zattrs, zarr.json) as one of this array of its alone; empty where it
// has none of such a path.
std::string zarr_of_level(const std::string& document, const std::string& level);

// The documents of a Zarr are not larger.
inline constexpr std::int64_t max_zarr_document = std::int64_t{16} << 20;
// Whether a key is that of a document: ".zarray", "0/zarr.json".
bool is_zarr_document(std::string_view key);

}  // namespace impipe::io
