// Parts of EXR files, moved as the chunks in which their pixels are packed.
#include "io/formats/exr/exr_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "io/formats/exr/exr_header.hpp"

namespace impipe::io {
namespace {

using InputBytes = std::span<const std::byte>;

constexpr std::uint32_t magic = 20000630, version = 2, long_names_flag = 0x400;
constexpr std::int64_t max_chunks = std::int64_t{1} << 31;

std::string which(const ExrPart& part) { return part.name.empty() ? "it" : "part " + part.name; }

struct Level {
  int x = 0, y = 0;                   // how often it was halved
  std::int64_t across = 0, down = 0;  // tiles
  std::int64_t tiles() const { return across * down; }
};

// The sides of a picture, halved until the longer of those that count is 1.
std::vector<std::int64_t> halved(std::int64_t side, std::int64_t longest, int rounding) {
  std::vector<std::int64_t> out{std::max<std::int64_t>(side, 1)};
  while (longest > 1) {
    longest = (longest + rounding) / 2;
    // Of the whole side, rounded once: 7 has 7, 4, 2, 1 or 7, 3, 1.
    const auto shift = static_cast<int>(out.size());
    const std::int64_t up = rounding == 1 ? (std::int64_t{1} << shift) - 1 : 0;
    out.push_back(std::max<std::int64_t>((side + up) >> shift, 1));
  }
  return out;
}

// In the order of the table of chunks.
std::vector<Level> levels_of(const ExrPart& part) {
  const ExrTiles& tiles = part.tiles;
  const auto count = [](std::int64_t side, std::uint32_t tile) { return (side + tile - 1) / tile; };
  std::vector<Level> out;
  const auto add = [&](size_t x, size_t y, std::int64_t width, std::int64_t height) {
    out.push_back({static_cast<int>(x), static_cast<int>(y), count(width, tiles.width),
                   count(height, tiles.height)});
  };
  if (tiles.levels > 2 || tiles.rounding > 1) fail("damaged EXR: its tiles are of no known kind");
  if (tiles.levels == 0) {
    add(0, 0, part.width(), part.height());
    return out;
  }
  const bool is_mip = tiles.levels == 1;
  const std::int64_t longest = std::max(part.width(), part.height());
  const auto widths = halved(part.width(), is_mip ? longest : part.width(), tiles.rounding);
  const auto heights = halved(part.height(), is_mip ? longest : part.height(), tiles.rounding);
  for (size_t y = 0; y < heights.size(); ++y) {
    if (is_mip) {
      add(y, y, widths[y], heights[y]);
    } else {
      for (size_t x = 0; x < widths.size(); ++x) add(x, y, widths[x], heights[y]);
    }
  }
  return out;
}

std::int64_t chunk_count(const ExrPart& part) {
  if (part.width() <= 0 || part.height() <= 0) fail("damaged EXR: its data window is empty");
  std::int64_t count = 0;
  if (part.tiles.empty()) {
    count = (part.height() + part.rows() - 1) / part.rows();
  } else {
    for (const Level& level : levels_of(part)) {
      if (level.across > max_chunks / std::max<std::int64_t>(level.down, 1)) return max_chunks;
      count += level.tiles();
    }
  }
  return std::min(count, max_chunks);
}

// The four numbers that say where the pixels of each chunk lie: y alone of lines.
std::vector<std::array<std::int32_t, 4>> places_of(const ExrPart& part, std::int64_t count) {
  std::vector<std::array<std::int32_t, 4>> out;
  out.reserve(static_cast<size_t>(count));
  if (part.tiles.empty()) {
    for (std::int64_t i = 0; i < count; ++i) {
      out.push_back({static_cast<std::int32_t>(part.data_window[1] + i * part.rows())});
    }
    return out;
  }
  for (const Level& level : levels_of(part)) {
    for (std::int64_t y = 0; y < level.down; ++y) {
      for (std::int64_t x = 0; x < level.across; ++x) {
        out.push_back(
            {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), level.x, level.y});
      }
    }
  }
  return out;
}

// From the place of its pixels on: without the number of its part.
struct Chunk {
  std::int64_t begin = 0, bytes = 0;
};

class Reader {
 public:
  explicit Reader(InputBytes file) : source_(file), headers_(read_exr_headers(source_)) {
    places_.push_back(headers_.end);
    for (const ExrPart& part : headers_.parts) {
      const std::int64_t count = chunk_count(part);
      if (headers_.several && part.chunk_count != count) {
        fail("damaged EXR: ", which(part), " has ", count, " chunks, and its header says ",
             part.chunk_count);
      }
      if (count > (source_.size() - places_.back()) / 8) fail_truncated(part);
      places_.push_back(places_.back() + 8 * count);
    }
  }

  const ExrPart& part(int number) const { return headers_.parts.at(static_cast<size_t>(number)); }
  bool has_long_names() const {
    return (little_at(source_.read_some(4, 4), 0, 4) & long_names_flag) != 0;
  }

  // In the order of the table.
  std::vector<Chunk> chunks(int number) const {
    const auto index = static_cast<size_t>(number);
    const ExrPart& of = headers_.parts.at(index);
    const std::int64_t begin = places_[index], count = (places_[index + 1] - begin) / 8;
    const std::string table = source_.read(begin, 8 * count);
    const auto places = places_of(of, count);
    std::vector<Chunk> out;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const std::uint64_t at = little_at(table, 8 * i, 8);
      if (at < static_cast<std::uint64_t>(places_.back())) {
        fail("truncated EXR: chunk ", i + 1, " of ", which(of), " is missing");
      }
      if (at > static_cast<std::uint64_t>(source_.size())) fail_truncated(of);
      out.push_back(chunk_at(static_cast<std::int64_t>(at), of, number, places[i]));
    }
    check_apart(out, of);
    return out;
  }

  std::string bytes(const Chunk& chunk) const { return source_.read(chunk.begin, chunk.bytes); }

 private:
  [[noreturn]] void fail_truncated(const ExrPart& part) const {
    fail("truncated EXR: it ends at byte ", source_.size(), ", before ", which(part), " does");
  }

  Chunk chunk_at(std::int64_t at, const ExrPart& of, int number,
                 const std::array<std::int32_t, 4>& place) const {
    const std::int64_t before = headers_.several ? 4 : 0;
    const size_t coordinates = of.tiles.empty() ? 1 : 4;
    const std::int64_t head_bytes =
        4 * static_cast<std::int64_t>(coordinates) + (of.is_deep ? 24 : 4);
    const std::string head = source_.read_some(at, before + head_bytes);
    if (static_cast<std::int64_t>(head.size()) < before + head_bytes) fail_truncated(of);
    bool right = before == 0 || little_at(head, 0, 4) == static_cast<std::uint64_t>(number);
    size_t next = static_cast<size_t>(before);
    for (size_t i = 0; i < coordinates; ++i, next += 4) {
      right = right && static_cast<std::int32_t>(little_at(head, next, 4)) == place[i];
    }
    if (!right) {
      fail("damaged EXR: where a chunk of ", which(of), " should be, at byte ", at,
           ", is something else");
    }
    // Of deep data: how many samples there are, and then these.
    std::uint64_t data = little_at(head, next, of.is_deep ? 8 : 4);
    const std::uint64_t more = of.is_deep ? little_at(head, next + 8, 8) : 0;
    const auto left = static_cast<std::uint64_t>(source_.size() - at - before - head_bytes);
    if (data > left || more > left - data) fail_truncated(of);
    return {at + before, head_bytes + static_cast<std::int64_t>(data + more)};
  }

  // No byte is of two chunks: a short file would make a long one.
  static void check_apart(std::vector<Chunk> chunks, const ExrPart& of) {
    std::ranges::sort(chunks, {}, &Chunk::begin);
    for (size_t i = 1; i < chunks.size(); ++i) {
      if (chunks[i].begin < chunks[i - 1].begin + chunks[i - 1].bytes) {
        fail("damaged EXR: two chunks of ", which(of), " lie on each other");
      }
    }
  }

  const ByteSource source_;
  const ExrHeaders headers_;
  std::vector<std::int64_t> places_;  // of the tables, and of what follows the last
};

// The numbers of chunks in the order in which they lie in their file.
std::vector<size_t> order_in_file(const std::vector<Chunk>& chunks) {
  std::vector<size_t> order(chunks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return chunks[i].begin; });
  return order;
}

std::string attribute_text(const ExrAttribute& attribute) {
  return attribute.name + '\0' + attribute.type + '\0' + little(attribute.value.size(), 4) +
         attribute.value;
}

// Writes chunks, and notes where they lie.
class Writer {
 public:
  // `head`: up to the tables of so many chunks.
  Writer(const std::string& head, std::int64_t chunks) {
    append(out_, head);
    table_ = out_.size();
    append(out_, std::string(8 * static_cast<size_t>(chunks), '\0'));
  }
  void reserve(std::int64_t bytes) { out_.reserve(out_.size() + static_cast<size_t>(bytes)); }
  // before: what stands in front of each.
  void add(const Reader& from, const std::vector<Chunk>& chunks, const std::string& before) {
    for (const size_t i : order_in_file(chunks)) {
      const std::string place = little(out_.size(), 8);
      std::ranges::copy(std::as_bytes(std::span(place)),
                        out_.begin() + static_cast<std::ptrdiff_t>(table_ + 8 * i));
      append(out_, before);
      append(out_, from.bytes(chunks[i]));
    }
    table_ += 8 * chunks.size();
  }
  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
  size_t table_ = 0;  // the entry of the next part's first chunk
};

std::string flags_text(std::uint32_t flags) {
  return little(magic, 4) + little(version | flags, 4);
}

std::array<int, 4> union_of(const std::array<int, 4>& a, const std::array<int, 4>& b) {
  return {std::min(a[0], b[0]), std::min(a[1], b[1]), std::max(a[2], b[2]), std::max(a[3], b[3])};
}

std::string box_value(const std::array<int, 4>& box) {
  std::string out;
  for (const int side : box) out += little(static_cast<std::uint32_t>(side), 4);
  return out;
}

std::string header_in_file(const ExrPart& part, const ExrPartSource& source,
                           const std::array<int, 4>& display, std::int64_t chunks) {
  std::string out;
  for (const ExrAttribute& attribute : part.attributes) {
    const std::string& name = attribute.name;
    const bool stored = is_exr_structure(name) || name.starts_with("screenWindow") ||
                        (part.is_deep && (name == "version" || name == "maxSamplesPerPixel"));
    if (name == "name" || name == "type" || name == "chunkCount" || name == "displayWindow" ||
        (!stored && !source.with_metadata)) {
      continue;
    }
    out += attribute_text(attribute);
  }
  const std::string type = part.is_deep         ? part.tiles.empty() ? "deepscanline" : "deeptile"
                           : part.tiles.empty() ? "scanlineimage"
                                                : "tiledimage";
  out += attribute_text({"displayWindow", "box2i", box_value(display)});
  out += attribute_text({"name", "string", part.name.empty() ? source.name : part.name});
  out += attribute_text({"type", "string", type});
  out += attribute_text({"chunkCount", "int", little(static_cast<std::uint64_t>(chunks), 4)});
  return out + '\0';
}

}  // namespace

Bytes exr_part(std::span<const std::byte> file, int number) {
  const Reader reader(file);
  const ExrPart& part = reader.part(number);
  std::string head =
      flags_text((part.tiles.empty() || part.is_deep ? 0 : tiled_flag) |
                 (part.is_deep ? deep_flag : 0) | (reader.has_long_names() ? long_names_flag : 0));
  for (const ExrAttribute& attribute : part.attributes) head += attribute_text(attribute);
  const std::vector<Chunk> chunks = reader.chunks(number);
  Writer writer(head + '\0', static_cast<std::int64_t>(chunks.size()));
  std::int64_t bytes = 0;
  for (const Chunk& chunk : chunks) bytes += chunk.bytes;
  writer.reserve(bytes);
  writer.add(reader, chunks, "");
  return writer.take();
}

Bytes join_exr_parts(std::span<const ExrPartSource> parts) {
  std::map<const std::byte*, Reader> files;
  std::vector<const Reader*> readers;
  std::vector<std::vector<Chunk>> chunks;
  std::uint32_t flags = parts_flag;
  std::int64_t count = 0, bytes = 0;
  for (const ExrPartSource& source : parts) {
    const Reader& reader = files.try_emplace(source.file.data(), source.file).first->second;
    readers.push_back(&reader);
    chunks.push_back(reader.chunks(source.part));
    if (reader.has_long_names()) flags |= long_names_flag;
    if (reader.part(source.part).is_deep) flags |= deep_flag;
    count += static_cast<std::int64_t>(chunks.back().size());
    for (const Chunk& chunk : chunks.back()) bytes += 4 + chunk.bytes;
  }
  std::array<int, 4> display = readers.front()->part(parts.front().part).display_window;
  for (size_t i = 1; i < parts.size(); ++i) {
    display = union_of(display, readers[i]->part(parts[i].part).display_window);
  }
  std::string head = flags_text(flags);
  for (size_t i = 0; i < parts.size(); ++i) {
    head += header_in_file(readers[i]->part(parts[i].part), parts[i], display,
                           static_cast<std::int64_t>(chunks[i].size()));
  }
  Writer writer(head + '\0', count);
  writer.reserve(bytes);
  for (size_t i = 0; i < parts.size(); ++i) writer.add(*readers[i], chunks[i], little(i, 4));
  return writer.take();
}

}  // namespace impipe::io
