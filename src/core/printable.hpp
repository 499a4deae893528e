// Texts that come from outside, such as names of files, in a form that is safe to show: nothing in
// them moves a cursor, turns the writing direction or forges a line.
#pragma once

#include <string>
#include <string_view>

namespace impipe {

// Whether showing the character could do more than show it: controls (C0, DEL, C1), line and
// paragraph separators, and what turns the writing direction.
bool is_unsafe(char32_t character);

// One line. Control characters are written \t, \n, \r, \xNN or \uNNNN, bytes that are not UTF-8
// \xNN. A backslash stays as it is.
std::string printable(std::string_view text);

// As `printable`, for a cell of a table: a backslash is doubled, so that every name can be read
// back, byte for byte.
std::string printable_cell(std::string_view text);

// A message of several lines: those after the first are indented, so that no name with a line's end
// in it can look like a message of its own.
std::string printable_message(std::string_view text);

// For a line that carets stand under: each unsafe character and each byte that is not UTF-8 becomes
// one character.
std::string printable_in_place(std::string_view text);

}  // namespace impipe
