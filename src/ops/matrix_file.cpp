// Reads a matrix from a text file.
#include "ops/matrix_file.hpp"

#include "core/text.hpp"
#include "core/text_file.hpp"

namespace impipe::ops {
namespace {

constexpr std::string_view separators = " \t\r,";
constexpr std::size_t longest_shown = 40;  // bytes of a word that is no number

// Cuts the next piece up to one of `ends` off the front of `text`.
std::string_view cut(std::string_view& text, std::string_view ends) {
  const std::size_t end = text.find_first_of(ends);
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return piece;
}

std::string shown(std::string_view word) {
  if (word.size() <= longest_shown) return std::string(word);
  std::size_t end = longest_shown;
  while (end > 0 && (word[end] & 0xC0) == 0x80) --end;  // between characters
  return std::string(word.substr(0, end)) + "…";
}

[[noreturn]] void fail_size(const std::string& where) {
  throw Error(where + "a matrix has at most " + std::to_string(largest_matrix_side) +
              " rows and columns");
}

}  // namespace

Matrix parse_matrix(std::string_view text, const std::string& name, int most_rows) {
  Matrix m;
  int line_number = 0, lines = 0;  // all, and those with numbers
  while (!text.empty()) {
    ++line_number;
    std::string_view line = cut(text, "\n");
    line = line.substr(0, line.find('#'));
    const std::string where = name + ", line " + std::to_string(line_number) + ": ";
    const int rows_before = m.rows;
    while (!line.empty()) {
      std::string_view row = cut(line, ";");
      int columns = 0;
      while (!row.empty()) {
        const std::string_view word = cut(row, separators);
        if (word.empty()) continue;
        const auto value = is_number(word) ? number_value(word) : std::nullopt;
        if (!value) throw Error(where + "'" + shown(word) + "' is not a number");
        m.values.push_back(*value);
        if (++columns > largest_matrix_side) fail_size(where);
      }
      if (columns == 0) continue;
      if (m.rows > 0 && columns != m.columns) {
        throw Error(where + std::to_string(columns) + " numbers in this row, " +
                    std::to_string(m.columns) + " in the first");
      }
      m.columns = columns;
      ++m.rows;
      if (m.rows > most_rows) fail_size(where);
    }
    if (m.rows > rows_before) ++lines;
  }
  if (m.rows == 0) throw Error(name + " has no numbers");
  if (m.columns == 1 && lines > 1 && m.rows > lines) {
    throw Error(name + ": a semicolon ends a row; numbers of a row have blanks or commas between");
  }
  return m;
}

Matrix read_matrix_file(const Call& call, std::string_view parameter) {
  const std::string& path = call.value(parameter).path;
  try {
    return parse_matrix(read_text_once(path), path);
  } catch (const Error& error) {
    call.fail(parameter, error.what());
  }
}

}  // namespace impipe::ops
