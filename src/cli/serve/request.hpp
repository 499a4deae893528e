// What a client asks the server to run, and its form as bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace impipe::cli::serve {

// No command line with its variables comes near this: bytes.
inline constexpr std::size_t longest_request = std::size_t{16} << 20;

struct Request {
  std::vector<std::string> process;    // process_facts of the client
  std::vector<std::string> variables;  // "NAME=VALUE", of its environment
  std::vector<std::string> arguments;  // without the program's name
  int umask = 0;
  bool operator==(const Request&) const = default;
};

// Strings that end in NUL: the umask, then each list behind its length. No string has a NUL in it.
std::string to_bytes(const Request& request);
// Throws Error for bytes that to_bytes does not make.
Request parse_request(std::string_view bytes);

}  // namespace impipe::cli::serve
