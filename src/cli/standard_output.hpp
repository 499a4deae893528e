// stdout: results only, and every failure to write them is an error.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace impipe::cli {

// Throws Error (file_failed), as for a full disk or a closed pipe.
void write_stdout(std::string_view text);
void write_stdout(std::span<const std::byte> bytes);

// Whether stderr is a terminal, where a line may be drawn over.
bool stderr_is_terminal();

}  // namespace impipe::cli
