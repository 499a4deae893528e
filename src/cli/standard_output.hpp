// What the program prints. stdout: results only, and every failure to write them is an error.
// stderr: messages, with what a terminal would obey escaped.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace impipe::cli {

// Throws Error (file_failed), as for a full disk or a closed pipe.
void write_stdout(std::string_view text);
void write_stdout(std::span<const std::byte> bytes);

// Writes a message and a line's end to stderr: the only way there for texts that may have names of
// files in them. See printable_message.
void write_stderr(std::string_view message);

// Whether stderr is a terminal, where a line may be drawn over.
bool stderr_is_terminal();

}  // namespace impipe::cli
