// Small text tools used by every parser: numbers, names, the nearest of several names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace impipe {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_name_start(char c) { return is_letter(c) || c == '_'; }
constexpr bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

// Length of the longest name (a letter or '_', then letters, digits and '_') that `text` starts
// with; 0 when there is none.
std::size_t name_length(std::string_view text);
bool is_name(std::string_view text);

// Length of the longest decimal number (digits with an optional point and exponent, no sign) that
// `text` starts with; 0 when there is none. "inf" and "nan" are not numbers.
std::size_t number_length(std::string_view text);

// Whether the whole text is a number with an optional sign.
bool is_number(std::string_view text);

// The value of a text for which `is_number` holds; nothing when it does not fit a double
// (overflows, or is not zero and vanishes).
// inf, -inf and nan, whatever the case of their letters is; they are words where no number of that
// kind is wanted.
std::optional<double> special_number(std::string_view text);
std::optional<double> number_value(std::string_view text);

// The shortest text that reads back as the same number.
std::string number_text(double value);

// "NaN", "Infinity" or "-Infinity": what JSON has strings for, as it has no such numbers; empty for
// finite numbers.
std::string_view json_word(double value);

// Offset of the first byte that is not part of valid UTF-8; nothing when all of it is.
std::optional<std::size_t> invalid_utf8(std::string_view text);

// The candidate that a mistyped `name` most likely means; empty when none is near. Letter case is
// free; a swap, a missing, extra or wrong letter cost 1 each, one third of the letters may differ.
std::string nearest(std::string_view name, std::span<const std::string> candidates);
std::string nearest(std::string_view name, std::span<const std::string_view> candidates);

// "; did you mean 'CANDIDATE'?", or nothing: the end of a message about an unknown name.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace impipe
