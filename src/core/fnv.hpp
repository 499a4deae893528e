// FNV-1a of 64 bits (Fowler, Noll, Vo): a hash that is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace impipe {

class Fnv1a {
 public:
  constexpr explicit Fnv1a(std::uint64_t basis = 0xcbf29ce484222325) : value_(basis) {}
  constexpr std::uint64_t value() const { return value_; }

  constexpr void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  constexpr void add(std::span<const std::byte> bytes) {
    Fnv1a hash = *this;  // not this one: bytes may be anything's, and so be changed by it
    for (const std::byte b : bytes) hash.add_byte(static_cast<std::uint64_t>(b));
    *this = hash;
  }
  constexpr void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  // Its eight bytes, the lowest first.
  constexpr void add_number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(number >> shift & 255);
  }

 private:
  std::uint64_t value_;
};

inline std::uint64_t fnv1a(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value();
}

}  // namespace impipe
