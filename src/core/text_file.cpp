// Reads text files within limits.
#include "core/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/error.hpp"

namespace impipe {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // UTF-8's

bool same_device(const struct stat& status, const char* path) {
  struct stat other {};
  return stat(path, &other) == 0 && S_ISCHR(other.st_mode) && other.st_rdev == status.st_rdev;
}

// A file that is open for reading, or stdin.
class TextInput {
 public:
  explicit TextInput(const std::string& path) : name_(path) {
    // Opening a pipe waits for its writer, as it does for every program.
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0) fail(errno);
    is_ours_ = true;
    check();
  }
  TextInput() : name_("stdin"), file_(STDIN_FILENO) { check(); }
  ~TextInput() { close_file(); }
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  // Some bytes; none at the end.
  std::string_view read_some() {
    for (;;) {
      const ssize_t got = read(file_, buffer_.data(), buffer_.size());
      if (got >= 0) return {buffer_.data(), static_cast<std::size_t>(got)};
      if (errno != EINTR) fail(errno);
    }
  }
  [[noreturn]] void fail(const std::string& reason) const { throw Error(name_ + ": " + reason); }

 private:
  [[noreturn]] void fail(int code) const { fail(std::string(std::strerror(code))); }

  // The destructor does not run when the constructor throws.
  void close_file() {
    if (is_ours_) close(file_);
    is_ours_ = false;
  }

  void check() {
    struct stat status {};
    std::string reason;
    if (fstat(file_, &status) != 0) {
      reason = std::strerror(errno);
    } else if (S_ISDIR(status.st_mode)) {
      reason = "is a folder";
    } else if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && isatty(file_) == 0 &&
                                           !same_device(status, "/dev/null"))) {
      reason = "is a device, not a text file";
    }
    if (reason.empty()) return;
    close_file();
    fail(reason);
  }

  std::string name_;
  int file_ = -1;
  bool is_ours_ = false;
  std::array<char, 1 << 16> buffer_;
};

std::string read_all(TextInput& input) {
  std::string out;
  for (;;) {
    const std::string_view bytes = input.read_some();
    if (bytes.empty()) break;
    out += bytes;
    if (static_cast<std::int64_t>(out.size()) > longest_text_file) {
      input.fail("is longer than " + std::to_string(longest_text_file >> 20) +
                 " MiB, which is the most that is read of a text file");
    }
  }
  if (out.starts_with(byte_order_mark)) out.erase(0, byte_order_mark.size());
  return out;
}

struct ReadPipes {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
};
ReadPipes& read_pipes() {
  static ReadPipes pipes;
  return pipes;
}

void split_lines(TextInput& input, char end, const std::function<void(std::string_view)>& line) {
  std::string begun;
  bool is_first = end == '\n';  // a line that a mark may stand before
  const auto tell = [&] {
    std::string_view whole = begun;
    if (is_first && whole.starts_with(byte_order_mark)) whole.remove_prefix(byte_order_mark.size());
    is_first = false;
    line(whole);
  };
  const auto add = [&](std::string_view piece) {
    begun += piece;
    if (begun.size() > longest_list_line) {
      input.fail("a line is longer than " + std::to_string(longest_list_line) +
                 " bytes: this is no list of files");
    }
  };
  for (;;) {
    std::string_view bytes = input.read_some();
    if (bytes.empty()) break;
    for (std::size_t at; (at = bytes.find(end)) != bytes.npos; bytes.remove_prefix(at + 1)) {
      add(bytes.substr(0, at));
      tell();
      begun.clear();
    }
    add(bytes);
  }
  if (!begun.empty()) tell();
}

}  // namespace

std::string read_text_file(const std::string& path) {
  TextInput input(path);
  return read_all(input);
}

std::string read_text_once(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind != std::filesystem::file_type::fifo && kind != std::filesystem::file_type::character &&
      kind != std::filesystem::file_type::socket) {
    return read_text_file(path);
  }
  const std::lock_guard lock(read_pipes().mutex);
  auto& texts = read_pipes().texts;
  const auto known = texts.find(path);
  if (known != texts.end()) return known->second;
  return texts.emplace(path, read_text_file(path)).first->second;
}

void forget_pipes() {
  const std::lock_guard lock(read_pipes().mutex);
  read_pipes().texts.clear();
}

std::string read_text_stdin() {
  TextInput input;
  return read_all(input);
}

void read_lines(const std::string& path, char end,
                const std::function<void(std::string_view)>& line) {
  if (path == "-") {
    TextInput input;
    return split_lines(input, end, line);
  }
  TextInput input(path);
  split_lines(input, end, line);
}

}  // namespace impipe
