// Reads a stream of frames as it comes.
#include "io/formats/y4m/frame_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/kept_bytes.hpp"

namespace impipe::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
// Memory is taken as the bytes come: a header alone may claim anything.
constexpr std::size_t first_bytes = std::size_t{1} << 22;
constexpr int look_interval = 50;  // milliseconds between two looks at `stop`

bool never() { return false; }

}  // namespace

FrameReader::FrameReader(int file, std::string head)
    : file_(fcntl(file, F_DUPFD_CLOEXEC, 0)), buffer_(std::move(head)) {
  read_header();
}

FrameReader::FrameReader(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  read_header();
}

void FrameReader::read_header() {
  if (file_.get() < 0) throw system_error(errno);
  const std::optional<std::string> first = line(never);
  if (!first) fail("truncated Y4M: its header has no end");
  header_line_ = *first + "\n";
  header_ = parse_y4m_header(*first);
  if (header_.size.width > max_side || header_.size.height > max_side) {
    fail("too large: a side of ", to_string(header_.size), " exceeds ", max_side, " pixels");
  }
}

std::size_t FrameReader::read_some(std::byte* out, std::size_t count,
                                   const std::function<bool()>& stop) {
  while (!stop()) {
    pollfd wait{.fd = file_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&wait, 1, look_interval);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = read(file_.get(), out, count);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN) throw system_error(errno);
  }
  return 0;
}

bool FrameReader::fill(const std::function<bool()>& stop) {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + buffer_bytes);
  const std::size_t got =
      read_some(reinterpret_cast<std::byte*>(buffer_.data()) + before, buffer_bytes, stop);
  buffer_.resize(before + got);
  return got > 0;
}

// Without its end; nothing where the stream ends first.
std::optional<std::string> FrameReader::line(const std::function<bool()>& stop) {
  while (true) {
    const std::size_t end = buffer_.find('\n', at_);
    if (end != buffer_.npos && end - at_ <= y4m_longest_line) {
      std::string text = buffer_.substr(at_, end - at_);
      at_ = end + 1;
      return text;
    }
    if (buffer_.size() - at_ > y4m_longest_line) {
      fail(frames_ == 0 && header_line_.empty()
               ? "damaged Y4M: its header is longer than " + std::to_string(y4m_longest_line)
               : "damaged Y4M: frame " + std::to_string(frames_ + 1) +
                     " does not begin where it should");
    }
    if (!fill(stop)) return {};
  }
}

// Passes over bytes; returns how many there were.
std::size_t FrameReader::skip(std::size_t count, const std::function<bool()>& stop) {
  std::size_t done = 0;
  while (true) {
    const std::size_t some = std::min(count - done, buffer_.size() - at_);
    at_ += some;
    done += some;
    if (done == count || !fill(stop)) return done;
  }
}

std::optional<Bytes> FrameReader::next(bool wanted, const std::function<bool()>& stop) {
  const std::optional<std::string> first = line(stop);
  if (stop()) return {};
  const std::string name = "frame " + std::to_string(frames_ + 1);
  if (!first && at_ == buffer_.size()) return {};
  if (!first) fail("truncated Y4M: ", name, " ends within its first line");
  check_y4m_frame_line(*first, frames_);
  const auto needs = static_cast<std::size_t>(header_.frame_bytes());
  Bytes out;
  std::size_t has = 0;
  if (!wanted) {
    has = skip(needs, stop);
  } else {
    const std::string lines = header_line_ + *first + "\n";
    const std::size_t start = lines.size();
    out = kept_bytes(start + std::min(needs, first_bytes));
    std::memcpy(out.data(), lines.data(), start);
    has = std::min(needs, buffer_.size() - at_);
    std::memcpy(out.data() + start, buffer_.data() + at_, has);
    at_ += has;
    while (has < needs) {
      if (start + has == out.size()) out.resize(start + std::min(needs, 2 * has));
      const std::size_t got = read_some(out.data() + start + has, out.size() - start - has, stop);
      if (got == 0) break;
      has += got;
    }
  }
  if (stop()) return {};
  if (has < needs) fail("truncated Y4M: ", name, " has ", has, " of ", needs, " bytes");
  ++frames_;
  return out;
}

}  // namespace impipe::io
