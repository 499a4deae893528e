// Escapes what a terminal would obey.
#include "core/printable.hpp"

#include <cstdio>

#include "core/text.hpp"

namespace impipe {
namespace {

// The character that valid UTF-8 starts with, and its length.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t code = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3F);
  return {code, bytes};
}

std::string escape(char32_t code) {
  switch (code) {
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\r': return "\\r";
    default: break;
  }
  char out[16];
  std::snprintf(out, sizeof out, code < 0x80 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
  return out;
}

std::string escape_byte(char c) {
  char out[8];
  std::snprintf(out, sizeof out, "\\x%02x", static_cast<unsigned char>(c));
  return out;
}

// The text with unsafe characters and wrong bytes replaced; `special` may replace others too, or
// returns an empty text to keep one.
template <class Unsafe, class Wrong, class Special>
std::string replaced(std::string_view text, Unsafe unsafe, Wrong wrong, Special special) {
  std::string out;
  out.reserve(text.size());
  // Where the next byte that is not part of UTF-8 stands.
  std::size_t next_wrong = invalid_utf8(text).value_or(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (at == next_wrong) {
      out += wrong(text[at]);
      ++at;
      next_wrong = at + invalid_utf8(text.substr(at)).value_or(text.size() - at);
      continue;
    }
    const auto [code, bytes] = first_character(text.substr(at));
    const std::string other = special(code);
    if (!other.empty()) {
      out += other;
    } else if (is_unsafe(code)) {
      out += unsafe(code);
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

std::string nothing(char32_t) { return ""; }

}  // namespace

bool is_unsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C ||  // Arabic letter mark
         c == 0x200E || c == 0x200F ||                          // direction marks
         (c >= 0x2028 && c <= 0x202E) ||                        // separators; overrides
         (c >= 0x2066 && c <= 0x2069);                          // isolates
}

std::string printable(std::string_view text) {
  return replaced(text, escape, escape_byte, nothing);
}

std::string printable_cell(std::string_view text) {
  return replaced(text, escape, escape_byte,
                  [](char32_t c) { return std::string(c == '\\' ? "\\\\" : ""); });
}

std::string printable_message(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = text.substr(begin, end - begin);
    if (begin > 0) out += line.empty() || line.starts_with("  ") ? "\n" : "\n  ";
    out += printable(line);
    if (end == text.npos) return out;
    begin = end + 1;
  }
}

std::string printable_in_place(std::string_view text) {
  return replaced(
      text, [](char32_t c) { return std::string(c < 0x80 ? " " : "\xEF\xBF\xBD"); },
      [](char) { return std::string("?"); }, nothing);
}

}  // namespace impipe
