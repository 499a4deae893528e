// Reads many damaged pictures in one process, for a build with sanitizers;
// scripts/campaign/pictures.py drives it.
//
//   picture_campaign PICTURES FIRST
//
// PICTURES is a file of pictures one after the other, each behind its number of bytes (64 bits,
// little endian). Every page of those from number FIRST on is decoded, its metadata too, written as
// a TIFF and read again; of every eighth picture also as the format that it came in. A line each:
// its number and "read", a hash of all that up to a page that is an error, or "error", the message.
// A picture that breaks a law, or takes longer than 20 seconds of the processor or five minutes,
// ends the program: it is the one behind the last line. At the end "peak" and the most memory in
// MiB.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "io/codec.hpp"
#include "io/formats.hpp"

namespace {

namespace io = impipe::io;

constexpr std::int64_t max_pixels = 2'000'000;  // most of the sizes that a header may claim exceed
constexpr time_t processor_seconds = 20;
constexpr unsigned wall_seconds = 300;

// FNV-1a, 64 bits.
class Hash {
 public:
  void add(const void* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
    }
  }
  void add(const std::string& text) { add(text.c_str(), text.size() + 1); }
  void add(const impipe::Plane& plane) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      add(plane.row(y), static_cast<std::size_t>(plane.row_bytes()));
    }
  }
  void add(const impipe::HostImage& image) {
    add(impipe::to_string(image.type) + impipe::to_string(image.size()));
    for (const impipe::Plane& plane : image.planes) add(plane);
    if (image.type.alpha) add(image.alpha);
  }
  unsigned long long value() const { return value_; }

 private:
  unsigned long long value_ = 0xcbf29ce484222325;
};

void require(bool holds, const char* law) {
  if (!holds) throw std::logic_error(law);
}

// The file, if the format can hold such a picture.
io::Bytes written(const io::Decoded& picture, io::Format format, Hash& hash) {
  io::Encoded file;
  try {
    file = io::encode(picture.image, picture.metadata, format,
                      io::nearest_class(format, picture.image.type.cls));
  } catch (const impipe::Error& error) {
    hash.add(error.what());
    return {};
  }
  for (const std::string& one : file.lost) hash.add(one);
  hash.add(file.bytes.data(), file.bytes.size());
  return std::move(file.bytes);
}

void judge_page(const io::Decoded& picture, bool also_same, Hash& hash) {
  hash.add(picture.image);
  for (const std::string& one : picture.lost) hash.add(one);
  const io::Bytes file = written(picture, io::Format::tiff, hash);
  if (!file.empty()) {
    const io::Decoded again = io::decode(file);
    require(again.image.size() == picture.image.size(), "a TIFF of another size");
    require(again.image.type.channels == picture.image.type.channels, "a TIFF of other channels");
  }
  if (also_same && io::traits(picture.info.format).writes()) {
    written(picture, picture.info.format, hash);
  }
}

// A line about a picture, without its number. Throws what is no failure of the picture's.
std::string judged(const io::Bytes& bytes, bool also_same) {
  Hash hash;
  int read = 0;
  try {
    const int pages = io::probe(bytes).pages;
    for (; read < pages; ++read) {
      judge_page(io::decode(bytes, {.max_pixels = max_pixels, .metadata = true, .page = read}),
                 also_same, hash);
    }
  } catch (const impipe::Error& error) {
    std::string message = error.what();
    hash.add(message);
    require(!message.empty(), "an error without a message");
    for (char& c : message) c = c == '\n' ? ' ' : c;
    if (read == 0) return "error " + message;  // else the pages before count
  } catch (const std::bad_alloc&) {
    return "error out of memory";
  }
  char text[32];
  std::snprintf(text, sizeof text, "read %016llx", hash.value());
  return text;
}

// The next picture; false at the end.
bool take(std::ifstream& file, io::Bytes& bytes) {
  std::uint64_t size = 0;
  if (!file.read(reinterpret_cast<char*>(&size), sizeof size)) return false;
  bytes.resize(size);
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)));
}

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc == 3 ? argv[1] : "", std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "usage: picture_campaign PICTURES FIRST\n");
    return 2;
  }
  const long first = std::strtol(argv[2], nullptr, 10);
  io::Bytes bytes;
  for (long i = 0; take(file, bytes); ++i) {
    if (i < first) continue;
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = processor_seconds}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    alarm(wall_seconds);
    std::string line;
    try {
      line = judged(bytes, i % 8 == 0);
    } catch (const std::exception& broken) {
      std::fprintf(stderr, "broken law: %s\n", broken.what());
      return 1;
    }
    std::printf("%ld %s\n", i, line.c_str());
    std::fflush(stdout);
    // Memory that is used again would hide bytes that were never written.
    impipe::release_plane_memory();
  }
  std::printf("peak %ld\n", peak_mib());
  return 0;
}
