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
#include <span>
#include <string>
#include <system_error>

#include "io/codec.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/picture_rows.hpp"
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

constexpr std::string_view part_note = ".impipe-part-";

std::string note_end(const ZarrPart& part) { return "-of-" + std::to_string(part.count); }
std::string note_of(const ZarrPart& part) {
  return std::string(part_note) + std::to_string(part.index) + note_end(part);
}

}  // namespace

bool is_zarr_folder(const fs::path& path) {
  std::error_code error;
  for (const char* name : {".zattrs", ".zgroup", ".zarray", "zarr.json"}) {
    if (fs::is_regular_file(path / name, error)) return true;
  }
  return false;
}

fs::path zarr_root(const fs::path& folder) { return level_of(folder).root; }

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

ZarrFolder::ZarrFolder(fs::path target)
    : target_(std::move(target)), made_(temporary_beside(target_)) {
  std::error_code error;
  is_there_ = fs::exists(fs::symlink_status(target_, error));
  if (is_there_ && !is_zarr_folder(target_)) {
    made_.clear();
    throw Error("cannot write '" + target_.string() + "': what is there is no Zarr",
                ExitCode::file_failed);
  }
  fs::create_directories(made_, error);
  if (error) fail_with(error.value());
  lock_ = OpenFile(open(made_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  flock(lock_.get(), LOCK_EX | LOCK_NB);
}

ZarrFolder::~ZarrFolder() {
  std::error_code ignored;
  if (!made_.empty()) fs::remove_all(made_, ignored);
}

void ZarrFolder::fail_with(int number) const {
  throw system_error(number, "cannot write '" + target_.string() + "': ");
}

void ZarrFolder::add(const std::string& key, std::span<const std::byte> bytes) {
  try {
    const fs::path path = made_ / key;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    file.close();
  } catch (const std::system_error& failed) {  // of files and of folders
    fail_with(errno != 0 ? errno : failed.code().value());
  }
}

void ZarrFolder::commit(UnsyncedDisks* disks) {
  if (disks != nullptr) {
    if (is_there_) syncfs(lock_.get());
    disks->add(lock_.get(), target_);
  }
  if (is_there_ &&
      renameat2(AT_FDCWD, made_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return;  // the old one is removed
  }
  // File systems that do not exchange names leave it without one for a moment.
  const fs::path old = temporary_beside(target_);
  std::error_code error;
  if (is_there_) fs::rename(target_, old, error);
  if (rename(made_.c_str(), target_.c_str()) != 0) {
    const int number = errno;
    if (is_there_) fs::rename(old, target_, error);
    fail_with(number);
  }
  made_.clear();
  if (is_there_) fs::remove_all(old, error);
}

SharedZarr::SharedZarr(fs::path folder) : path_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(path_, error);
  folder_ = OpenFile(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.get() < 0) fail_with(errno);
}

void SharedZarr::fail_with(int number) const {
  throw system_error(number, "cannot write '" + path_.string() + "': ");
}

void SharedZarr::write(const std::string& key, std::string_view text) const {
  std::error_code error;
  fs::create_directories((path_ / key).parent_path(), error);
  write_file(path_ / key, std::as_bytes(std::span(text)));
}

void SharedZarr::add(const std::string& key, std::string_view text) const {
  const auto there = text_in(path_ / key);
  if (there == text) return;
  // Zarr 2's or 3's, whichever this is not.
  const std::string other_version = key.ends_with("zarr.json") ? ".zgroup" : "zarr.json";
  if (there || has(other_version)) {
    throw Error("cannot write '" + path_.string() +
                    "': what is there is another Zarr, or one that was not made in parts",
                ExitCode::file_failed);
  }
  write(key, text);
}

bool SharedZarr::has(const std::string& key) const {
  struct stat status = {};
  return fstatat(folder_.get(), key.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_size > 0;
}

void SharedZarr::remove(const std::string& key) const {
  if (unlinkat(folder_.get(), key.c_str(), 0) != 0 && errno != ENOENT && errno != ENOTDIR) {
    fail_with(errno);
  }
}

bool SharedZarr::is_made_by(const ZarrPart& part) const {
  return text_in(path_ / note_of(part)) == part.maker;
}

void SharedZarr::forget_makers(const ZarrPart& part) const {
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(part_note)) continue;
    const bool is_of_others = name != note_of(part) && name.ends_with(note_end(part)) &&
                              text_in(at->path()) == part.maker;
    if (!is_of_others) remove(name);
  }
  if (error) fail_with(error.value());
}

void SharedZarr::note_maker(const ZarrPart& part) const { write(note_of(part), part.maker); }

void write_picture(const fs::path& target, std::span<const std::byte> bytes, std::string_view maker,
                   UnsyncedDisks* disks) {
  const bool is_zarr =
      target.extension() == ".zarr" && !is_written_into(target) && sniff(bytes) == Format::zarr;
  if (!is_zarr) return write_file(target, bytes, maker, disks);
  ZarrFolder folder(target);
  const ZipReader zip{ByteSource(bytes)};
  for (const auto& [name, entry] : zip.entries()) {
    folder.add(name, bytes.subspan(static_cast<std::size_t>(zip.begin_of(name, entry)),
                                   static_cast<std::size_t>(entry.bytes)));
  }
  folder.commit(disks);
}

}  // namespace impipe::io
