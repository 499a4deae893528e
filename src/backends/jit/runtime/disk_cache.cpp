// Files of the cache: a header with lengths and a checksum, the key (without a source), a title
// and the contents. Written under a temporary name and renamed, so that a reader sees all or
// nothing.
#include "backends/jit/runtime/disk_cache.hpp"
#include "backends/jit/runtime/trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/fnv.hpp"

namespace impipe::jit {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::array<char, 16> magic = {'i', 'm', 'p', 'i', 'p', 'e', ' ', 'c',
                                        'a', 'c', 'h', 'e', ' ', '0', '1', '\n'};
constexpr std::string_view kernel_extension = ".kernel", verdict_extension = ".verdict";
constexpr std::string_view temporary_extension = ".part";
// Temporary files of processes that died are swept after this long.
constexpr auto stale_after = std::chrono::hours(1);

struct Header {
  std::array<char, 16> word = magic;
  std::uint64_t identity_bytes = 0;
  std::uint64_t title_bytes = 0;
  std::uint64_t contents_bytes = 0;
  std::uint64_t checksum = 0;  // of identity, title and contents
};

constexpr std::uint64_t second_basis = 0x9ae16a3b2f90404f;

// With a final mix so that short texts spread over all bits.
std::uint64_t hash_of(std::span<const std::byte> bytes, Fnv1a basis = Fnv1a()) {
  basis.add(bytes);
  std::uint64_t hash = basis.value();
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ (hash >> 32);
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string hexadecimal(std::string_view text) {
  std::string out;
  for (const Fnv1a basis : {Fnv1a(), Fnv1a(second_basis)}) {
    const std::uint64_t hash = hash_of(bytes_of_text(text), basis);
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[hash >> shift & 15];
  }
  return out;
}

// The key as it stands in a file. The source is told by its hash and length.
std::string identity_of(const CacheKey& key, std::string_view compiler) {
  std::string out = "source " + hexadecimal(key.source) + " " + std::to_string(key.source.size());
  out += "\noptions " + key.options;
  out += "\ndevice " + key.device;
  out += "\ndriver " + key.driver;
  out += "\ncompiler ";
  out += compiler;
  return out;
}

// Without the compiler: a file made by one is to be found where there is none.
std::string file_name(const CacheKey& key) {
  return hexadecimal(identity_of(key, "")) + std::string(kernel_extension);
}

std::string identity_of(const VerdictKey& key) {
  return "verdict " + key.question + "\ndevice " + key.device + "\ndriver " + key.driver;
}

// A descriptor that is closed when it goes. A symbolic link is not followed, and a pipe in a file's
// place is not waited for.
class File {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
  }
  // See why_distrusted.
  std::string why_not() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) != 0 ? "" : why_distrusted(status);
  }
  // Nothing when it can't be read.
  std::optional<Bytes> read_all() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    Bytes bytes(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return std::nullopt;
      done += static_cast<std::size_t>(n);
    }
    return bytes;
  }
  bool close() {
    const int status = ::close(descriptor_);
    descriptor_ = -1;
    return status == 0;
  }

 private:
  int descriptor_;
};

// Whether the cache gave a file this name: the folder may be shared, with somebody's downloads say.
bool is_cache_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t digits = name.find_first_not_of("0123456789abcdef");
  if (digits != 32) return false;
  std::string_view rest = std::string_view(name).substr(digits);
  const bool kernel = rest.starts_with(kernel_extension);
  if (!kernel && !rest.starts_with(verdict_extension)) return false;
  rest.remove_prefix((kernel ? kernel_extension : verdict_extension).size());
  // Of a temporary: ".PID.N.part".
  return rest.empty() ||
         (rest[0] == '.' && rest.ends_with(temporary_extension) &&
          rest.find_first_not_of("0123456789.") == rest.size() - temporary_extension.size() + 1);
}

struct Found {
  fs::path path;
  std::int64_t bytes;
  fs::file_time_type time;
};

// Those of a folder that is not there: none.
std::vector<Found> files_in(const fs::path& folder, std::error_code& error) {
  std::vector<Found> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may remove it meanwhile
    if (!is_cache_file(at->path()) || !at->is_regular_file(gone)) continue;
    const auto bytes = static_cast<std::int64_t>(at->file_size(gone));
    const fs::file_time_type time = at->last_write_time(gone);
    if (!gone) found.push_back({at->path(), bytes, time});
  }
  if (error == std::errc::no_such_file_or_directory) error.clear();
  return found;
}

std::vector<Found> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<Found> found = files_in(folder, error);
  if (error) throw Error(folder.string() + ": " + error.message(), ExitCode::file_failed);
  return found;
}

// Makes the folder and those above it for the user alone: what lies in it is run.
std::error_code make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  if (const std::error_code above = make_folder(folder.parent_path())) return above;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return {errno, std::generic_category()};
  }
  return fs::is_directory(folder, error) ? std::error_code()
                                         : std::make_error_code(std::errc::not_a_directory);
}

std::string error_text(int code) {
  return std::error_code(code, std::generic_category()).message();
}

}  // namespace

struct DiskCache::Entry {
  std::string identity, title;
  Bytes contents;

  // Nothing unless the file is whole and ours.
  static std::optional<Entry> of(std::span<const std::byte> file);
  Bytes file() const;
};

std::optional<DiskCache::Entry> DiskCache::Entry::of(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  if (header.word != magic || header.identity_bytes > bytes.size() ||
      header.title_bytes > bytes.size() - header.identity_bytes ||
      header.contents_bytes != bytes.size() - header.identity_bytes - header.title_bytes ||
      header.checksum != hash_of(bytes)) {
    return std::nullopt;
  }
  const auto take = [&](std::uint64_t n) {
    const auto part = bytes.first(n);
    bytes = bytes.subspan(n);
    return std::string(reinterpret_cast<const char*>(part.data()), part.size());
  };
  Entry entry;
  entry.identity = take(header.identity_bytes);
  entry.title = take(header.title_bytes);
  entry.contents.assign(bytes.begin(), bytes.end());
  return entry;
}

Bytes DiskCache::Entry::file() const {
  Header header{.identity_bytes = identity.size(),
                .title_bytes = title.size(),
                .contents_bytes = contents.size()};
  Bytes out(sizeof header);
  for (const std::span<const std::byte> part :
       {bytes_of_text(identity), bytes_of_text(title), std::span<const std::byte>(contents)}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  header.checksum = hash_of(std::span(out).subspan(sizeof header));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

DiskCache::DiskCache(fs::path folder, std::int64_t capacity)
    : folder_(std::move(folder)), capacity_(capacity) {}

void DiskCache::warn(std::string text) {
  std::lock_guard lock(mutex_);
  if (said_.insert(text).second) warnings_.push_back(std::move(text));
}

void DiskCache::forget_warnings() {
  std::lock_guard lock(mutex_);
  said_.clear();
  warnings_.clear();
}

std::vector<std::string> DiskCache::take_warnings() {
  std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

bool DiskCache::is_trusted() {
  const std::string reason = why_distrusted(folder_);
  if (!reason.empty()) warn("the kernel cache is not used: " + reason);
  return reason.empty();
}

std::optional<DiskCache::Entry> DiskCache::read(const std::string& name) {
  if (folder_.empty() || !is_trusted()) return std::nullopt;
  const fs::path path = folder_ / name;
  const File file(path, O_RDONLY);
  if (!file.is_open()) {
    const int code = errno;
    if (code != ENOENT && code != ENOTDIR) {
      // A folder that can't be looked into is one fault, not one a file.
      const bool all = ::faccessat(AT_FDCWD, folder_.c_str(), X_OK, AT_EACCESS) != 0;
      warn("the kernel cache can't be read: " + (all ? folder_ : path).string() + ": " +
           error_text(code));
    }
    return std::nullopt;
  }
  if (const std::string reason = file.why_not(); !reason.empty()) {
    warn("a file of the kernel cache is not used: " + path.string() + " " + reason);
    return std::nullopt;
  }
  const std::optional<Bytes> bytes = file.read_all();
  std::optional<Entry> entry = bytes ? Entry::of(*bytes) : std::nullopt;
  if (!entry) {
    warn("the kernel cache has a damaged file, which is made anew: " + path.string());
    return std::nullopt;
  }
  ::futimens(file.descriptor(), nullptr);  // it was used; fails on a read-only cache
  return entry;
}

bool DiskCache::write(const std::string& name, const Entry& entry) {
  if (folder_.empty()) {
    warn("there is no folder for the kernel cache: set IMPIPE_CACHE_DIR");
    return false;
  }
  const auto fail = [this](const std::string& reason) {
    warn("kernels can't be kept for the next run: " + folder_.string() + ": " + reason);
    return false;
  };
  std::error_code error;
  // One that can't be trusted is not made either.
  if (folder_.is_absolute()) error = make_folder(folder_);
  if (error) return fail(error.message());
  if (!is_trusted()) return false;
  const Bytes bytes = entry.file();
  static std::atomic<int> counter = 0;
  const fs::path temporary =
      folder_ / (name + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) +
                 std::string(temporary_extension));
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) return fail(error_text(errno));
  if (!file.write(bytes) || !file.close()) {
    const int code = errno;
    fs::remove(temporary, error);
    return fail(error_text(code));
  }
  fs::rename(temporary, folder_ / name, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(temporary, error);
    return fail(reason);
  }
  keep_below_capacity(static_cast<std::int64_t>(bytes.size()));
  return true;
}

std::optional<Bytes> DiskCache::load(const CacheKey& key) {
  std::optional<Entry> entry = read(file_name(key));
  if (!entry) return std::nullopt;
  const std::string expected = identity_of(key, key.compiler);
  const bool same =
      key.compiler.empty() ? entry->identity.starts_with(expected) : entry->identity == expected;
  if (!same) return std::nullopt;  // an older compiler's
  return std::move(entry->contents);
}

void DiskCache::store(const CacheKey& key, std::span<const std::byte> contents,
                      std::string_view title) {
  const Entry entry{identity_of(key, key.compiler), std::string(title),
                    Bytes(contents.begin(), contents.end())};
  if (!write(file_name(key), entry)) ++not_kept_;
}

std::optional<std::string> DiskCache::load(const VerdictKey& key) {
  const std::string identity = identity_of(key);
  const std::optional<Entry> entry = read(hexadecimal(identity) + std::string(verdict_extension));
  if (!entry || entry->identity != identity) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(entry->contents.data()), entry->contents.size());
}

void DiskCache::store(const VerdictKey& key, std::string_view verdict, std::string_view title) {
  const std::string identity = identity_of(key);
  const std::span<const std::byte> bytes = bytes_of_text(verdict);
  write(hexadecimal(identity) + std::string(verdict_extension),
        {identity, std::string(title), Bytes(bytes.begin(), bytes.end())});
}

void DiskCache::keep_below_capacity(std::int64_t added) {
  std::lock_guard lock(mutex_);
  if (size_ >= 0 && (size_ += added) <= capacity_) return;
  std::error_code error;
  std::vector<Found> files = files_in(folder_, error);
  size_ = 0;
  const auto now = fs::file_time_type::clock::now();
  std::erase_if(files, [&](const Found& file) {
    if (file.path.extension() != temporary_extension) return false;
    if (now - file.time > stale_after) fs::remove(file.path, error);
    return true;
  });
  for (const Found& file : files) size_ += file.bytes;
  if (size_ <= capacity_) return;
  std::sort(files.begin(), files.end(),
            [](const Found& a, const Found& b) { return a.time < b.time; });
  // A quarter below the capacity, so that the folder is not read again for the next entry.
  for (const Found& file : files) {
    if (size_ <= capacity_ / 4 * 3) break;
    if (fs::remove(file.path, error)) size_ -= file.bytes;
  }
}

fs::path cache_folder() {
  if (const char* folder = std::getenv("IMPIPE_CACHE_DIR"); folder && *folder) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) {
    return fs::path(folder) / "impipe";
  }
  if (const char* home = std::getenv("HOME"); home && *home) {
    return fs::path(home) / ".cache" / "impipe";
  }
  return {};
}

DiskCache& disk_cache() {
  static DiskCache cache(cache_folder());
  return cache;
}

std::string DiskCache::title_of(const fs::path& path) {
  const File file(path, O_RDONLY);
  const auto bytes = file.is_open() ? file.read_all() : std::nullopt;
  const std::optional<Entry> entry = bytes ? Entry::of(*bytes) : std::nullopt;
  return entry ? entry->title : "";
}

std::vector<CacheEntry> list_cache(const fs::path& folder) {
  std::vector<CacheEntry> entries;
  for (const Found& found : files_in(folder)) {
    CacheEntry entry{
        .file = found.path, .bytes = found.bytes, .title = DiskCache::title_of(found.path)};
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry& a, const CacheEntry& b) { return a.file < b.file; });
  return entries;
}

std::int64_t clear_cache(const fs::path& folder) {
  std::int64_t removed = 0;
  for (const Found& file : files_in(folder)) {
    std::error_code error;
    removed += fs::remove(file.path, error) ? 1 : 0;
    if (error) throw Error(file.path.string() + ": " + error.message(), ExitCode::file_failed);
  }
  return removed;
}

}  // namespace impipe::jit
