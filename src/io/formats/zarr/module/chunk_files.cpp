#include "io/formats/zarr/module/chunk_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "io/bytes/open_file.hpp"

namespace impipe::io {
namespace {

[[noreturn]] void fail_with(int number, const std::string& key) {
  fail("'", key, "': ", std::strerror(number));
}

// Calls move(done) until all `count` bytes are moved.
template <class Move>
void move_all(std::int64_t count, const std::string& key, Move move) {
  for (std::int64_t done = 0; done < count;) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) fail_with(errno, key);
    if (moved == 0) fail("'", key, "' was written to while it was read");
    done += moved;
  }
}

void write_chunk(int folder, const std::string& name, const ChunkTarget::Chunk& chunk) {
  const OpenFile file(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) fail_with(errno, chunk.key);
  const std::int64_t bytes = std::ssize(chunk.bytes);
  move_all(bytes, chunk.key, [&](std::int64_t done) {
    return write(file.get(), chunk.bytes.data() + done, static_cast<std::size_t>(bytes - done));
  });
}

}  // namespace

std::int64_t ZippedChunks::bytes_of(const std::string& key) const {
  const auto found = zip_.entries().find(key);
  return found == zip_.entries().end() ? -1 : found->second.bytes;
}

InputBytes ZippedChunks::part(const std::string& key, std::int64_t begin, std::int64_t bytes,
                              Bytes&) const {
  const std::int64_t file = zip_.begin_of(key, zip_.entries().find(key)->second);
  return file_.subspan(static_cast<std::size_t>(file + begin), static_cast<std::size_t>(bytes));
}

std::int64_t FolderChunks::bytes_of(const std::string& key) const {
  struct stat status = {};
  if (fstatat(folder_, key.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return -1;
    fail_with(errno, key);
  }
  if (S_ISLNK(status.st_mode)) fail("'", key, "' is a link, and none is followed");
  if (!S_ISREG(status.st_mode)) fail("'", key, "' is no file");
  return status.st_size;
}

InputBytes FolderChunks::part(const std::string& key, std::int64_t begin, std::int64_t bytes,
                              Bytes& room) const {
  const OpenFile file(openat(folder_, key.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) fail_with(errno, key);
  room.resize(static_cast<std::size_t>(bytes));
  move_all(bytes, key, [&](std::int64_t done) {
    return pread(file.get(), room.data() + done, static_cast<std::size_t>(bytes - done),
                 begin + done);
  });
  return room;
}

void ZipTarget::put(const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) zip_.add(chunk.key, chunk.bytes);
}

void FolderTarget::put(const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) {
    const std::string folder = chunk.key.substr(0, chunk.key.rfind('/'));
    if (folder == made_) continue;
    for (std::size_t end = 0; end != folder.npos;) {
      end = folder.find('/', end + 1);
      const std::string part = folder.substr(0, end);
      if (mkdirat(folder_, part.c_str(), 0777) != 0 && errno != EEXIST) fail_with(errno, part);
    }
    made_ = folder;
  }
  for_each_(std::ssize(chunks), [&](std::int64_t i) {
    const Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    if (!in_parts_) return write_chunk(folder_, chunk.key, chunk);
    const std::size_t name = chunk.key.rfind('/') + 1;
    const std::string unfinished =
        chunk.key.substr(0, name) + "." + chunk.key.substr(name) + ".tmp";
    write_chunk(folder_, unfinished, chunk);
    if (renameat(folder_, unfinished.c_str(), folder_, chunk.key.c_str()) != 0) {
      fail_with(errno, chunk.key);
    }
  });
}

}  // namespace impipe::io
