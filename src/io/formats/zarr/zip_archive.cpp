// Reads and writes ZIPs (PKWARE's APPNOTE 6.3) without compression, with the numbers of 64 bits
// where they are needed. Compiled into the program and into the codec module.
#include "io/formats/zarr/zip_archive.hpp"

#include <algorithm>

namespace impipe::io {
namespace {

constexpr std::uint64_t full32 = 0xffffffff, full16 = 0xffff;
constexpr std::int64_t end_bytes = 22, end64_bytes = 56, locator_bytes = 20, local_bytes = 30,
                       central_bytes = 46;
constexpr std::string_view end_mark("PK\5\6", 4), end64_mark("PK\6\6", 4),
    locator_mark("PK\6\7", 4), local_mark("PK\3\4", 4), central_mark("PK\1\2", 4);

[[noreturn]] void fail_damaged(const std::string& why) { fail("damaged Zarr: its ZIP ", why); }

// Of the numbers of 64 bits in an entry's extra field, which stand for those that are full.
class Wide {
 public:
  explicit Wide(std::string_view extra) {
    while (extra.size() >= 4) {
      const std::uint64_t id = little_at(extra, 0, 2);
      const std::string_view field = extra.substr(4, little_at(extra, 2, 2));
      if (id == 1) field_ = field;
      extra.remove_prefix(std::min(extra.size(), 4 + field.size()));
    }
  }
  std::uint64_t of(std::uint64_t number) {
    if (number != full32) return number;
    const std::uint64_t wide = little_at(field_, at_, 8);
    at_ += 8;
    return wide;
  }

 private:
  std::string_view field_;
  std::size_t at_ = 0;
};

constexpr auto crc_table = [] {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
    table[0][i] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    }
  }
  return table;
}();

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  const auto byte = [](std::byte b) { return static_cast<std::uint32_t>(b); };
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::uint32_t with = i < 4 ? crc >> (8 * i) & 255 : 0;
      next ^= crc_table[7 - i][byte(bytes[i]) ^ with];
    }
    crc = next;
  }
  for (const std::byte b : bytes) crc = crc >> 8 ^ crc_table[0][(crc ^ byte(b)) & 255];
  return ~crc;
}

ZipReader::Directory ZipReader::find_directory() const {
  const std::int64_t tail_begin =
      std::max<std::int64_t>(0, source_.size() - end_bytes - static_cast<std::int64_t>(full16));
  const std::string tail = source_.read_some(tail_begin, source_.size() - tail_begin);
  const std::size_t end = tail.rfind(end_mark);
  if (end == tail.npos || end + end_bytes > tail.size()) fail_damaged("has no directory");
  std::uint64_t bytes = little_at(tail, end + 12, 4), begin = little_at(tail, end + 16, 4);
  const std::int64_t locator = tail_begin + static_cast<std::int64_t>(end) - locator_bytes;
  const std::string at = source_.read_some(locator, locator_bytes);
  if (at.starts_with(locator_mark)) {
    const auto place = static_cast<std::int64_t>(little_at(at, 8, 8));
    const std::string wide = source_.read_some(place, end64_bytes);
    if (!wide.starts_with(end64_mark)) fail_damaged("has no directory");
    bytes = little_at(wide, 40, 8);
    begin = little_at(wide, 48, 8);
  }
  const auto size = static_cast<std::uint64_t>(source_.size());
  if (begin > size || bytes > size - begin) fail_damaged("has a directory behind its end");
  return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(bytes)};
}

ZipReader::ZipReader(const ByteSource& source) : source_(source) {
  const Directory directory = find_directory();
  const std::string all = source_.read(directory.begin, directory.bytes);
  for (std::size_t at = 0; at + central_bytes <= all.size();) {
    const std::string_view entry = std::string_view(all).substr(at);
    if (!entry.starts_with(central_mark)) fail_damaged("has a damaged directory");
    const std::size_t name = little_at(entry, 28, 2), extra = little_at(entry, 30, 2),
                      comment = little_at(entry, 32, 2);
    if (central_bytes + name + extra > entry.size()) fail_damaged("has a damaged directory");
    Wide wide(entry.substr(central_bytes + name, extra));
    const std::uint64_t bytes = wide.of(little_at(entry, 24, 4));
    const std::uint64_t packed = wide.of(little_at(entry, 20, 4));
    const std::uint64_t header = wide.of(little_at(entry, 42, 4));
    if (header > static_cast<std::uint64_t>(source_.size())) {
      fail_damaged("has an entry behind its end");
    }
    Entry& out = entries_[std::string(entry.substr(central_bytes, name))];
    out.header = static_cast<std::int64_t>(header);
    out.bytes = static_cast<std::int64_t>(
        std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(source_.size()) + 1));
    out.is_packed = little_at(entry, 10, 2) != 0 || packed != bytes || little_at(entry, 8, 2) % 2;
    at += central_bytes + name + extra + comment;
  }
}

std::int64_t ZipReader::begin_of(std::string_view name, const Entry& entry) const {
  if (entry.is_packed) {
    fail("its ZIP packs '", std::string(name), "', and Zarr's are without compression (zip -0)");
  }
  const std::string head = source_.read_some(entry.header, local_bytes);
  if (!head.starts_with(local_mark)) fail_damaged("has a damaged entry");
  const std::int64_t begin =
      entry.header + local_bytes +
      static_cast<std::int64_t>(little_at(head, 26, 2) + little_at(head, 28, 2));
  if (begin > source_.size() || entry.bytes > source_.size() - begin) {
    fail("truncated Zarr: '", std::string(name), "' is behind the end of its ZIP");
  }
  return begin;
}

std::optional<std::string> ZipReader::read(std::string_view name, std::int64_t most) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return {};
  const std::int64_t begin = begin_of(name, found->second);
  if (found->second.bytes > most) fail("'", std::string(name), "' has more than ", most, " bytes");
  return source_.read(begin, found->second.bytes);
}

void ZipWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size(), header = out_.size();
  const bool is_wide = size >= full32 || header >= full32;
  const std::string extra =
      is_wide ? little(1, 2) + little(24, 2) + little(size, 8) + little(size, 8) + little(header, 8)
              : "";
  const std::uint64_t size32 = is_wide ? full32 : size;
  // Version 2.0 or 4.5, names in UTF-8, no compression, 1 January 1980.
  const std::string common = little(is_wide ? 45 : 20, 2) + little(0x800, 2) + little(0, 2) +
                             little(0, 2) + little(0x21, 2) + little(crc32_of(bytes), 4) +
                             little(size32, 4) + little(size32, 4) + little(name.size(), 2) +
                             little(extra.size(), 2);
  append(out_, std::string(local_mark) + common);
  append(out_, name);
  append(out_, extra);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  directory_ += std::string(central_mark) + little(is_wide ? 45 : 20, 2) + common + little(0, 2) +
                little(0, 4) + little(0, 4) + little(is_wide ? full32 : header, 4) +
                std::string(name) + extra;
  ++count_;
}

Bytes ZipWriter::finish() {
  const std::uint64_t begin = out_.size(), bytes = directory_.size();
  append(out_, directory_);
  if (count_ >= full16 || begin >= full32 || bytes >= full32) {
    const std::uint64_t end64 = out_.size();
    append(out_, std::string(end64_mark) + little(44, 8) + little(45, 2) + little(45, 2) +
                     little(0, 4) + little(0, 4) + little(count_, 8) + little(count_, 8) +
                     little(bytes, 8) + little(begin, 8));
    append(out_, std::string(locator_mark) + little(0, 4) + little(end64, 8) + little(1, 4));
  }
  const std::uint64_t count16 = std::min(count_, full16);
  append(out_, std::string(end_mark) + little(0, 2) + little(0, 2) + little(count16, 2) +
                   little(count16, 2) + little(std::min(bytes, full32), 4) +
                   little(std::min(begin, full32), 4) + little(0, 2));
  return std::move(out_);
}

}  // namespace impipe::io
