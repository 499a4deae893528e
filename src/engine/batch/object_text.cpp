// Tables of objects as files: a header and a line a row, or an array of objects.
#include "engine/batch/object_text.hpp"

#include "core/text.hpp"

namespace impipe::engine {

std::optional<TableFormat> table_format(const std::filesystem::path& name) {
  const std::string extension = name.extension().string();
  if (extension == ".tsv") return TableFormat::tsv;
  if (extension == ".csv") return TableFormat::csv;
  if (extension == ".json") return TableFormat::json;
  return std::nullopt;
}

std::optional<TableFormat> table_format(const io::OutputTarget& target) {
  return target.name ? table_format(std::filesystem::path(target.name->text())) : std::nullopt;
}

std::string table_text(const std::vector<std::string>& columns, const std::vector<double>& numbers,
                       TableFormat format) {
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
