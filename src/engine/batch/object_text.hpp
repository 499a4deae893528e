// Tables of objects as files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "io/outputs.hpp"

namespace impipe::engine {

enum class TableFormat { tsv, csv, json };
// What a file of this name holds; nothing for other extensions.
std::optional<TableFormat> table_format(const std::filesystem::path& name);
std::optional<TableFormat> table_format(const io::OutputTarget& target);

// The columns of the plan's object table; none where it has no such table.
std::vector<std::string> object_columns(const Plan& plan);

// numbers: row after row. Numbers that are none are empty cells, and null in JSON.
std::string table_text(const std::vector<std::string>& columns, const std::vector<double>& numbers,
                       TableFormat format);

}  // namespace impipe::engine
