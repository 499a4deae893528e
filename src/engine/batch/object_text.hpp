// Tables of objects as files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/files/outputs.hpp"

namespace impipe::engine {

enum class TableFormat { tsv, csv, json, geojson };
// What a file of this name holds; nothing for other extensions.
std::optional<TableFormat> table_format(const std::filesystem::path& name);
std::optional<TableFormat> table_format(const io::OutputTarget& target);

// Whether the rows are the points of lines or polygons, which GeoJSON holds.
bool has_outlines(const std::vector<std::string>& columns);

// numbers: row after row. GeoJSON: of a table that has outlines, a Feature for each.
std::string table_text(const std::vector<std::string>& columns, const std::vector<double>& numbers,
                       TableFormat format);

}  // namespace impipe::engine
