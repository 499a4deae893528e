// Small text tools used by every parser: numbers, names, the nearest of several names.
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace impipe {
namespace {

constexpr std::size_t longest_compared = 64;  // longer names are nobody's typing mistake

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Damerau-Levenshtein distance in its restricted form: no letter takes part in two edits.
int edit_distance(std::string_view a, std::string_view b) {
  std::array<std::vector<int>, 3> rows;  // two letters ago, one letter ago, now
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    rows[2][0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int changed = rows[1][j - 1] + (a[i - 1] != b[j - 1]);
      rows[2][j] = std::min({changed, rows[1][j] + 1, rows[2][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[2][j] = std::min(rows[2][j], rows[0][j - 2] + 1);
      }
    }
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  return rows[1][b.size()];
}

template <class Text>
std::string nearest_of(std::string_view name, std::span<const Text> candidates) {
  if (name.empty() || name.size() > longest_compared) return {};
  const std::string wanted = lower_case(name);
  std::string_view best;
  int best_distance = 1 + std::max(1, static_cast<int>(name.size()) / 3);
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    // A one-letter name is near everything, so it must match but for its case.
    const int distance = edit_distance(wanted, lower_case(candidate));
    if (distance >= static_cast<int>(std::max(wanted.size(), candidate.size()))) continue;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

}  // namespace

std::size_t name_length(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return 0;
  std::size_t n = 1;
  while (n < text.size() && is_name_char(text[n])) ++n;
  return n;
}

bool is_name(std::string_view text) { return !text.empty() && name_length(text) == text.size(); }

std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  const auto skip_digits = [&] {
    const std::size_t begin = n;
    while (n < text.size() && is_digit(text[n])) ++n;
    return n - begin;
  };
  std::size_t digits = skip_digits();
  if (n < text.size() && text[n] == '.') {
    ++n;
    digits += skip_digits();
  }
  if (digits == 0) return 0;
  const std::size_t mantissa = n;
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    ++n;
    if (n < text.size() && (text[n] == '+' || text[n] == '-')) ++n;
    if (skip_digits() == 0) return mantissa;
  }
  return n;
}

bool is_number(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return !text.empty() && number_length(text) == text.size();
}

std::optional<double> special_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string lower(text.substr(negative || text.starts_with('+') ? 1 : 0));
  for (char& c : lower) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (lower == "inf") return negative ? -infinity : infinity;
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<double> number_value(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";  // of either sign
  std::array<char, 32> buffer;
  char* const end = buffer.data() + buffer.size();
  // 1000000 rather than 1e+06, as far as every digit of a whole number is one of the value's.
  const bool plain = std::fabs(value) < 1e15 && value == std::floor(value);
  const auto result = plain ? std::to_chars(buffer.data(), end, value, std::chars_format::fixed)
                            : std::to_chars(buffer.data(), end, value);
  return std::string(buffer.data(), result.ptr);
}

std::string_view json_word(double value) {
  if (std::isfinite(value)) return "";
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::optional<std::size_t> invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    const int more = lead < 0x80   ? 0
                     : lead < 0xC2 ? -1
                     : lead < 0xE0 ? 1
                     : lead < 0xF0 ? 2
                     : lead < 0xF5 ? 3
                                   : -1;
    if (more < 0) return i;
    for (int k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return i;
    }
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    const unsigned second = byte(i + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return i;
    }
    i += 1 + more;
  }
  return std::nullopt;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  return nearest_of(name, candidates);
}

std::string nearest(std::string_view name, std::span<const std::string_view> candidates) {
  return nearest_of(name, candidates);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string candidate = nearest(name, candidates);
  return candidate.empty() ? "" : "; did you mean '" + candidate + "'?";
}

}  // namespace impipe
