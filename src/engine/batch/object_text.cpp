// Tables of objects as files: a header and a line a row, an array of objects, or GeoJSON.
#include "engine/batch/object_text.hpp"

#include <algorithm>
#include <span>

#include "core/text.hpp"

namespace impipe::engine {
namespace {

// Outlines as Features. Columns are properties, then perhaps Part and Ring, then Index, X and Y; a
// line is a `Boundary`, anything else a polygon.
class FeatureText {
 public:
  explicit FeatureText(const std::vector<std::string>& columns)
      : columns_(columns),
        has_parts_(std::ranges::count(columns, "Ring") > 0),
        is_line_(columns.front() == "Boundary"),
        properties_(columns.size() - (has_parts_ ? 5 : 3)) {}

  std::string of(std::span<const double> numbers) {
    std::string out = R"({"type": "FeatureCollection", "features": [)";
    for (std::size_t begin = 0; begin < numbers.size();) {
      std::size_t end = begin;
      while (end < numbers.size() && same(numbers, begin, end, 0, properties_)) {
        end += columns_.size();
      }
      out += begin == 0 ? "\n" : ",\n";
      add_feature(out, numbers.subspan(begin, end - begin));
      begin = end;
    }
    return out + (numbers.empty() ? "]}\n" : "\n]}\n");
  }

 private:
  // Whether the rows at a and b have equal numbers in the columns [from, to).
  static bool same(std::span<const double> numbers, std::size_t a, std::size_t b, std::size_t from,
                   std::size_t to) {
    return std::ranges::equal(numbers.subspan(a + from, to - from),
                              numbers.subspan(b + from, to - from));
  }

  void add_feature(std::string& out, std::span<const double> rows) const {
    out += R"({"type": "Feature", "properties": {)";
    for (std::size_t c = 0; c < properties_; ++c) {
      out += (c > 0 ? ", \"" : "\"") + columns_[c] + "\": " + number_text(rows[c]);
    }
    const double last_part = rows[rows.size() - columns_.size() + properties_];
    const bool is_multiple = has_parts_ && last_part != 1;
    out += R"(}, "geometry": {"type": ")";
    out += is_line_ ? "LineString" : is_multiple ? "MultiPolygon" : "Polygon";
    out += R"(", "coordinates": )";
    if (is_line_) {
      add_points(out, rows);
    } else {
      add_rings(out, rows, is_multiple);
    }
    out += "}}";
  }

  void add_rings(std::string& out, std::span<const double> rows, bool is_multiple) const {
    out += is_multiple ? "[[" : "[";
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t end = begin;
      const std::size_t parts = has_parts_ ? 2 : 0;
      while (end < rows.size() && same(rows, begin, end, properties_, properties_ + parts)) {
        end += columns_.size();
      }
      const bool is_next = begin > 0 && !same(rows, begin - columns_.size(), begin, properties_,
                                              properties_ + parts / 2);
      if (begin > 0) out += is_next ? "], [" : ", ";
      add_points(out, rows.subspan(begin, end - begin));
      begin = end;
    }
    out += is_multiple ? "]]" : "]";
  }

  void add_points(std::string& out, std::span<const double> rows) const {
    out += "[";
    for (std::size_t row = 0; row < rows.size(); row += columns_.size()) {
      const std::size_t y = row + columns_.size() - 1;
      out += row > 0 ? ", [" : "[";
      out += number_text(rows[y - 1]) + ", " + number_text(rows[y]) + "]";
    }
    out += "]";
  }

  const std::vector<std::string>& columns_;
  const bool has_parts_, is_line_;
  const std::size_t properties_;
};

}  // namespace

bool has_outlines(const std::vector<std::string>& columns) {
  return std::ranges::count(columns, "Index") > 0;
}

std::optional<TableFormat> table_format(const std::filesystem::path& name) {
  const std::string extension = name.extension().string();
  if (extension == ".tsv") return TableFormat::tsv;
  if (extension == ".csv") return TableFormat::csv;
  if (extension == ".json") return TableFormat::json;
  if (extension == ".geojson") return TableFormat::geojson;
  return std::nullopt;
}

std::optional<TableFormat> table_format(const io::OutputTarget& target) {
  return target.name ? table_format(std::filesystem::path(target.name->text())) : std::nullopt;
}

std::string table_text(const std::vector<std::string>& columns, const std::vector<double>& numbers,
                       TableFormat format) {
  if (format == TableFormat::geojson) return FeatureText(columns).of(numbers);
  const bool json = format == TableFormat::json;
  const char* const between = json ? ", " : format == TableFormat::csv ? "," : "\t";
  std::string out = json ? "[" : "";
  for (std::size_t c = 0; c < columns.size() && !json; ++c)
    out += (c > 0 ? between : "") + columns[c];
  if (!json) out += "\n";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t c = i % columns.size();
    if (json && c == 0) out += i == 0 ? "\n  {" : ",\n  {";
    if (c > 0) out += between;
    if (json) out += "\"" + columns[c] + "\": ";
    const std::string_view word = json ? json_word(numbers[i]) : "";
    out += word.empty() ? number_text(numbers[i]) : "\"" + std::string(word) + "\"";
    if (c + 1 == columns.size()) out += json ? "}" : "\n";
  }
  return json ? out + (numbers.empty() ? "]\n" : "\n]\n") : out;
}

}  // namespace impipe::engine
