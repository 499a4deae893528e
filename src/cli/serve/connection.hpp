// The socket between runs and the server.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/serve/request.hpp"

namespace impipe::cli::serve {

// An open file.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return number_; }

 private:
  int number_ = -1;
};

// What a run has of its process: stdin, stdout, stderr, and its folder.
inline constexpr std::size_t descriptor_count = 4;
using Descriptors = std::array<Descriptor, descriptor_count>;

// `given`, or impipe.sock in XDG_RUNTIME_DIR. Throws Error where that can't be, and where others
// than the user may enter its folder.
std::string socket_path(const std::string& given);

// A socket that nobody else listens at, of mode 0700, and what keeps others from it. Removes one
// that a server left behind which was killed. Throws Error where a server is at work.
struct Listener {
  Descriptor socket, lock;
};
Listener listen_at(const std::string& path);

// All of these throw Error when the other side is gone or does not answer within the time that
// set_patience gives.

// To the server, of the same user.
Descriptor connect_to(const std::string& path);
// Whether the other side is the same user's.
bool is_own(const Descriptor& socket);
void set_patience(const Descriptor& socket, std::chrono::milliseconds patience);

void send_request(const Descriptor& socket, const Request& request);
Request receive_request(const Descriptor& socket);
// Once the server has answered: a client that waits no longer leaves nothing open in the server's
// queue, which somebody may read to its end. They stay open here.
void send_descriptors(const Descriptor& socket, const std::array<int, descriptor_count>& numbers);
// Nothing where the client has gone.
std::optional<Descriptors> receive_descriptors(const Descriptor& socket);
// A text of up to 255 bytes; longer ones are cut.
void send_text(const Descriptor& socket, std::string_view text);
std::string receive_text(const Descriptor& socket);
// Nothing where the other side has ended.
std::optional<int> receive_byte(const Descriptor& socket);

}  // namespace impipe::cli::serve
