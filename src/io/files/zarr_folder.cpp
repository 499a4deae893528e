#include "io/files/zarr_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "io/codec.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/unsynced_disks.hpp"
#include "io/formats/zarr/zarr_array.hpp"
#include "io/formats/zarr/zip_archive.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

// A regular file; none where there is none of that name. Links may lead anywhere.
std::optional<Bytes> file_in(const fs::path& path, std::int64_t most) {
  const OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return {};
  struct stat status = {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    throw system_error(errno, "'" + path.string() + "': ");
  }
  if (!S_ISREG(status.st_mode)) fail("'", path.string(), "' is no file");
  if (status.st_size > most) fail("'", path.string(), "' has more than ", most, " bytes");
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(errno, "'" + path.string() + "': ");
    if (got == 0) fail("it was written to while it was read");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

// A document of a Zarr.
std::optional<std::string> text_in(const fs::path& path) {
  const auto bytes = file_in(path, max_zarr_document);
  if (!bytes) return {};
  return std::string(text_of(*bytes));
}

// A Zarr, or a level of the pyramid of one above, which alone says what its axes are.
struct Level {
  fs::path root;               // of the Zarr
  std::string document, text;  // of the root, with this level alone; empty: all of it as it is
};
// The level in a document that may be of something else, and need not be readable.
std::string level_in(const fs::path& document, const std::string& path) {
  try {
    const auto text = text_in(document);
    return text ? zarr_of_level(*text, path) : "";
  } catch (const Error&) {
    return "";
  }
}

Level level_of(const fs::path& folder) {
  constexpr int most_names = 4;  // of the path of a level: "0", "scale0/image"
  std::string path;
  fs::path root = fs::absolute(folder).lexically_normal();
  if (!root.has_filename()) root = root.parent_path();
  for (int names = 0; names < most_names && root.has_relative_path(); ++names) {
    path = root.filename().string() + (path.empty() ? "" : "/" + path);
    root = root.parent_path();
    for (const char* name : {"zarr.json", ".zattrs"}) {
      std::string text = level_in(root / name, path);
      if (!text.empty()) return {root, name, std::move(text)};
    }
  }
  return {folder, {}, {}};
}

// The files of chunks, by their keys.
void add_chunks(ZipWriter& zip, const fs::path& folder, const std::string& begin) {
  // A Zarr of chunks that are all left out has no folder of them.
  std::error_code error;
  const fs::path root = folder / begin;
  fs::recursive_directory_iterator at(root, error);
  if (error == std::errc::no_such_file_or_directory) return;
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_symlink()) fail("'", at->path().string(), "' is a link, and none is followed");
    if (name.starts_with('.') || name == "zarr.json") continue;
    if (at->is_directory()) continue;
    const auto bytes = file_in(at->path(), std::numeric_limits<std::int64_t>::max());
    if (bytes) zip.add(begin + at->path().lexically_relative(root).generic_string(), *bytes);
  }
  if (error) throw system_error(error.value(), "'" + root.string() + "': ");
}

// Removes a folder that is being made, unless it has got its name.
struct Unfinished {
  fs::path path;
  OpenFile lock;  // tells that somebody is at it
  ~Unfinished() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

void write_files(const fs::path& folder, std::span<const std::byte> bytes) {
  const ZipReader zip{ByteSource(bytes)};
  for (const auto& [name, entry] : zip.entries()) {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.write(reinterpret_cast<const char*>(bytes.data()) + zip.begin_of(name, entry),
               static_cast<std::streamsize>(entry.bytes));
    file.close();
  }
}

void write_folder(const fs::path& target, std::span<const std::byte> bytes, UnsyncedDisks* disks) {
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(target, error));
  if (is_there && !is_zarr_folder(target)) {
    throw Error("cannot write '" + target.string() + "': what is there is no Zarr",
                ExitCode::file_failed);
  }
  Unfinished made{temporary_beside(target), OpenFile(-1)};
  try {
    fs::create_directories(made.path);
    made.lock = OpenFile(open(made.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    flock(made.lock.get(), LOCK_EX | LOCK_NB);
    write_files(made.path, bytes);
    if (disks != nullptr) {
      if (is_there) syncfs(made.lock.get());
      disks->add(made.lock.get(), target);
    }
  } catch (const std::system_error& failed) {  // of files and of folders
    const int number = errno != 0 ? errno : failed.code().value();
    throw system_error(number, "cannot write '" + target.string() + "': ");
  }
  if (is_there &&
      renameat2(AT_FDCWD, made.path.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    return;  // the old one goes
  }
  // File systems that do not exchange names leave it without one for a moment.
  Unfinished old{temporary_beside(target), OpenFile(-1)};
  if (is_there) fs::rename(target, old.path, error);
  if (rename(made.path.c_str(), target.c_str()) != 0) {
    const int number = errno;
    if (is_there) fs::rename(old.path, target, error);
    throw system_error(number, "cannot write '" + target.string() + "': ");
  }
  made.path.clear();
}

}  // namespace

bool is_zarr_folder(const fs::path& path) {
  std::error_code error;
  for (const char* name : {".zattrs", ".zgroup", ".zarray", "zarr.json"}) {
    if (fs::is_regular_file(path / name, error)) return true;
  }
  return false;
}

Bytes read_zarr_folder(const fs::path& folder, bool metadata_alone) {
  const Level level = level_of(folder);
  const ReadZarrKey read = [&](const std::string& key) -> std::optional<std::string> {
    if (key == level.document) return level.text;
    return text_in(level.root / key);
  };
  const ZarrFiles files = zarr_files(read);
  ZipWriter zip;
  for (const std::string& key : files.documents) zip.add(key, *read(key));
  if (!metadata_alone) add_chunks(zip, level.root, files.chunks);
  return zip.finish();
}

void write_picture(const fs::path& target, std::span<const std::byte> bytes, std::string_view maker,
                   UnsyncedDisks* disks) {
  const bool is_zarr =
      target.extension() == ".zarr" && !is_written_into(target) && sniff(bytes) == Format::zarr;
  if (!is_zarr) return write_file(target, bytes, maker, disks);
  write_folder(target, bytes, disks);
}

}  // namespace impipe::io
