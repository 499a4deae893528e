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

// "impipe: NAME: STAGE: out of memory", and without a stage when that is empty; plainly when there
// is none for the message.
void say_out_of_memory(std::string_view name, std::string_view stage = "") noexcept;
// Takes no memory and throws nothing even inside: all but ASCII is shown as "?".
void say_out_of_memory_plainly(std::string_view name, std::string_view stage = "") noexcept;

// Whether stderr is a terminal, where a line may be drawn over.
bool stderr_is_terminal();
bool stdout_is_terminal();

}  // namespace impipe::cli
