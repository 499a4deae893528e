#include "cli/serve/connection.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"

namespace impipe::cli::serve {
namespace {

namespace fs = std::filesystem;

// Before a request; another form of it has another number. The length follows.
constexpr std::string_view magic = "impipe 1";
struct Head {
  char magic[8];
  std::uint64_t bytes;
};
static_assert(magic.size() == sizeof Head::magic);

[[noreturn]] void fail(const std::string& what) {
  if (errno == EAGAIN) throw Error("the server is at work");
  throw Error(what + ": " + std::strerror(errno), ExitCode::file_failed);
}

Descriptor new_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) fail("no socket");
  return made;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error("'" + path + "' is too long for a socket's name: " +
                std::to_string(sizeof address.sun_path - 1) + " bytes at most");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whoever can write there could put a server of his own in this one's place.
void check_folder(const fs::path& folder) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) fail("'" + folder.string() + "'");
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    throw Error("the socket's folder '" + folder.string() +
                "' has to be yours, and closed to others (chmod 700)");
  }
}

void send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail("the server's socket");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

// Waits for all of them; false at the end.
bool receive_all(const Descriptor& socket, char* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(socket.get(), to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) fail("the server's socket");
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

// A message of one byte with room for descriptors.
struct Message {
  Message() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(descriptor_count * sizeof(int))] = {};
  msghdr message = {};
};

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::string socket_path(const std::string& given) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (given.empty() && (folder == nullptr || *folder != '/')) {
    throw Error(
        "there is no folder for the socket: set XDG_RUNTIME_DIR, or IMPIPE_SOCKET=PATH for "
        "the server and the runs");
  }
  const fs::path path = given.empty() ? fs::path(folder) / "impipe.sock" : fs::absolute(given);
  check_folder(path.parent_path());
  address_of(path);
  return path;
}

Listener listen_at(const std::string& path) {
  const std::string lock = path + ".lock";
  Listener listener;
  listener.lock = Descriptor(open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (listener.lock.get() < 0) fail("'" + lock + "'");
  if (flock(listener.lock.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error("another server is at '" + path + "'");
  }
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode)) {
    throw Error("'" + path + "' is there, and no socket");
  }
  unlink(path.c_str());
  listener.socket = new_socket();
  const sockaddr_un address = address_of(path);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  const mode_t mask = umask(0077);
  const bool bound = bind(listener.socket.get(), any, sizeof address) == 0;
  umask(mask);
  if (!bound || chmod(path.c_str(), 0700) != 0 || listen(listener.socket.get(), SOMAXCONN) != 0) {
    fail("'" + path + "'");
  }
  return listener;
}

Descriptor connect_to(const std::string& path) {
  Descriptor socket = new_socket();
  const sockaddr_un address = address_of(path);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (connect(socket.get(), any, sizeof address) != 0) {
    throw Error("there is no server at '" + path + "'");
  }
  if (!is_own(socket)) throw Error("the server at '" + path + "' is another user's");
  return socket;
}

bool is_own(const Descriptor& socket) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid();
}

void set_patience(const Descriptor& socket, std::chrono::milliseconds patience) {
  const auto milliseconds = patience.count();
  const timeval time = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void send_request(const Descriptor& socket, const Request& request) {
  const std::string bytes = to_bytes(request);
  Head head = {.magic = {}, .bytes = bytes.size()};
  magic.copy(head.magic, magic.size());
  send_all(socket, {reinterpret_cast<const char*>(&head), sizeof head});
  send_all(socket, bytes);
}

Request receive_request(const Descriptor& socket) {
  Head head = {};
  const bool is_whole = receive_all(socket, reinterpret_cast<char*>(&head), sizeof head);
  if (!is_whole || std::string_view(head.magic, sizeof head.magic) != magic) {
    throw Error("the server has another build of impipe");
  }
  if (head.bytes > longest_request) throw Error("the command line is too long");
  std::string bytes(head.bytes, '\0');
  if (!receive_all(socket, bytes.data(), bytes.size())) throw Error("the request has no end");
  return parse_request(bytes);
}

void send_descriptors(const Descriptor& socket, const std::array<int, descriptor_count>& numbers) {
  Message message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof numbers);
  std::memcpy(CMSG_DATA(control), numbers.data(), sizeof numbers);
  if (sendmsg(socket.get(), &message.message, MSG_NOSIGNAL) != 1) fail("the server's socket");
}

std::optional<Descriptors> receive_descriptors(const Descriptor& socket) {
  Message message;
  if (recvmsg(socket.get(), &message.message, MSG_CMSG_CLOEXEC) != 1) return std::nullopt;
  Descriptors descriptors;
  size_t count = 0;
  for (cmsghdr* at = CMSG_FIRSTHDR(&message.message); at != nullptr;
       at = CMSG_NXTHDR(&message.message, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    for (size_t byte = 0; byte < at->cmsg_len - CMSG_LEN(0); byte += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(at) + byte, sizeof number);
      descriptors.at(count++) = Descriptor(number);  // the message has room for no more
    }
  }
  if (count != descriptor_count) return std::nullopt;
  return descriptors;
}

void send_text(const Descriptor& socket, std::string_view text) {
  constexpr size_t most = 255;
  text = text.substr(0, most);
  send_all(socket, static_cast<char>(text.size()) + std::string(text));
}

std::string receive_text(const Descriptor& socket) {
  const std::optional<int> size = receive_byte(socket);
  if (!size) throw Error("the server has ended");
  std::string text(static_cast<size_t>(*size), '\0');
  if (!receive_all(socket, text.data(), text.size())) throw Error("the server has ended");
  return text;
}

std::optional<int> receive_byte(const Descriptor& socket) {
  char byte = 0;
  if (!receive_all(socket, &byte, 1)) return std::nullopt;
  return static_cast<unsigned char>(byte);
}

}  // namespace impipe::cli::serve
