// Bytes of a file by offset, whether the file is in memory or on disk: what the header parsers
// read.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.hpp"

namespace impipe::io {

class ByteSource {
 public:
  explicit ByteSource(std::span<const std::byte> bytes)
      : bytes_(bytes), size_(static_cast<std::int64_t>(bytes.size())) {}
  ByteSource(int file, std::int64_t size) : file_(file), size_(size) {}

  std::int64_t size() const { return size_; }

  // Up to `count` bytes from `offset`; fewer at the end of the file. Throws Error when the system
  // can't read them.
  std::string read_some(std::int64_t offset, std::int64_t count) const {
    if (offset < 0 || offset >= size_ || count <= 0) return {};
    count = std::min(count, size_ - offset);
    if (file_ < 0) {
      return std::string(reinterpret_cast<const char*>(bytes_.data()) + offset,
                         static_cast<size_t>(count));
    }
    std::string out(static_cast<size_t>(count), '\0');
    const ssize_t got = pread(file_, out.data(), out.size(), offset);
    if (got < 0) throw system_error(errno);
    out.resize(static_cast<size_t>(got));
    return out;
  }

  // Exactly `count` bytes, or an Error saying that the file is truncated.
  std::string read(std::int64_t offset, std::int64_t count) const {
    std::string out = read_some(offset, count);
    if (static_cast<std::int64_t>(out.size()) != count) {
      throw Error("truncated: the header ends at byte " + std::to_string(size_),
                  ExitCode::file_failed);
    }
    return out;
  }

 private:
  std::span<const std::byte> bytes_;
  int file_ = -1;
  std::int64_t size_ = 0;
};

// Bytes as text, and the other way round.
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void append(std::vector<std::byte>& out, std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), begin, begin + text.size());
}
inline std::vector<std::byte> bytes_of_text(std::string_view text) {
  std::vector<std::byte> out;
  append(out, text);
  return out;
}

// An unsigned number of up to 8 bytes at `at`; 0 when the text is too short for it.
inline std::uint64_t number_at(std::string_view text, size_t at, int bytes, bool big_endian) {
  if (at + static_cast<size_t>(bytes) > text.size()) return 0;
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
    value |= std::uint64_t{byte} << (8 * (big_endian ? bytes - 1 - i : i));
  }
  return value;
}
inline std::uint64_t big_at(std::string_view t, size_t at, int n) {
  return number_at(t, at, n, true);
}
inline std::uint64_t little_at(std::string_view t, size_t at, int n) {
  return number_at(t, at, n, false);
}
// Such a number as text, of 1 to 8 bytes.
inline std::string number_text(std::uint64_t value, int bytes, bool big_endian) {
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * (big_endian ? bytes - 1 - i : i)));
  }
  return out;
}
inline std::string big(std::uint64_t value, int bytes) { return number_text(value, bytes, true); }
inline std::string little(std::uint64_t value, int bytes) {
  return number_text(value, bytes, false);
}

// Texts and numbers, one behind the other.
template <class... Parts>
std::string message(const Parts&... parts) {
  std::string out;
  const auto add = [&]<class Part>(const Part& part) {
    if constexpr (std::is_enum_v<Part>) {  // which would be taken for a character
      out += std::to_string(static_cast<int>(part));
    } else if constexpr (std::is_arithmetic_v<Part> && !std::is_same_v<Part, char>) {
      out += std::to_string(part);
    } else {
      out += part;
    }
  };
  (add(parts), ...);
  return out;
}
// Throws what a file fails for, in such parts.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(message(parts...), ExitCode::file_failed);
}

}  // namespace impipe::io
