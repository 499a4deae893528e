// Reads the text files that a pipeline or a flag names, each within a limit, whatever the name
// leads to: a folder, a device without end, a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace impipe {

// No kernel and no pipeline comes near this.
inline constexpr std::int64_t longest_text_file = std::int64_t{64} << 20;  // bytes
// Far above the longest path of any system.
inline constexpr std::size_t longest_list_line = std::size_t{64} << 10;  // bytes

// The bytes of a file, a pipe or a terminal, but for UTF-8's mark before them. Throws Error "PATH:
// REASON".
std::string read_text_file(const std::string& path);
// The same of a file that is read several times in a run, as for each type of image: the text of a
// pipe, which can be read only once, is remembered. Any thread.
std::string read_text_once(const std::string& path);
// For the next run of the process.
void forget_pipes();
// The same of stdin; the reason follows "stdin: ".
std::string read_text_stdin();

// Calls `line` with each line of a list, which may be of any length. "-" is stdin. Lines end in
// `end`, the last one perhaps not. Throws Error "PATH: REASON".
void read_lines(const std::string& path, char end,
                const std::function<void(std::string_view)>& line);

}  // namespace impipe
