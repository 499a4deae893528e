// Reads a matrix from a text file.
#include "ops/matrix_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "core/text.hpp"

namespace impipe::ops {
namespace {

constexpr std::string_view separators = " \t\r,;";
constexpr int largest_side = 4096;
// Sixteen bytes a number.
constexpr std::size_t most_bytes = std::size_t{16} * largest_side * largest_side;

// Cuts the next piece up to one of `ends` off the front of `text`.
std::string_view cut(std::string_view& text, std::string_view ends) {
  const std::size_t end = text.find_first_of(ends);
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return piece;
}

// Throws Error without a place.
std::string read_whole(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char piece[1 << 16];
  while (file.read(piece, sizeof piece), file.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) {
      throw Error(path + " is larger than " + std::to_string(most_bytes >> 20) +
                  " MiB, more than any matrix takes");
    }
  }
  if (!file.is_open() || file.bad()) {
    throw Error("cannot read " + path + ": " + std::strerror(errno));
  }
  return text;
}

// The text of a file. A pipe can be read only once, but a pipeline is planned for each type of
// image: its text is kept.
std::string read_text(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> pipes;
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind != std::filesystem::file_type::fifo && kind != std::filesystem::file_type::character &&
      kind != std::filesystem::file_type::socket) {
    return read_whole(path);
  }
  const std::lock_guard lock(mutex);
  const auto known = pipes.find(path);
  if (known != pipes.end()) return known->second;
  return pipes.emplace(path, read_whole(path)).first->second;
}

}  // namespace

Matrix parse_matrix(std::string_view text, const std::string& name) {
  Matrix m;
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    std::string_view line = cut(text, "\n");
    line = line.substr(0, line.find('#'));
    const std::string where = name + ", line " + std::to_string(line_number) + ": ";
    int columns = 0;
    while (!line.empty()) {
      const std::string_view word = cut(line, separators);
      if (word.empty()) continue;
      const auto value = is_number(word) ? number_value(word) : std::nullopt;
      if (!value) throw Error(where + "'" + std::string(word) + "' is not a number");
      m.values.push_back(*value);
      ++columns;
    }
    if (columns == 0) continue;
    if (m.rows > 0 && columns != m.columns) {
      throw Error(where + std::to_string(columns) + " numbers in this row, " +
                  std::to_string(m.columns) + " in the first");
    }
    m.columns = columns;
    ++m.rows;
    if (m.rows > largest_side || m.columns > largest_side) {
      throw Error(where + "a matrix has at most " + std::to_string(largest_side) +
                  " rows and columns");
    }
  }
  if (m.rows == 0) throw Error(name + " has no numbers");
  return m;
}

Matrix read_matrix_file(const Call& call, std::string_view parameter) {
  const std::string& path = call.value(parameter).path;
  try {
    return parse_matrix(read_text(path), path);
  } catch (const Error& error) {
    call.fail(parameter, error.what());
  }
}

}  // namespace impipe::ops
