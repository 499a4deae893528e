// The inputs of a run: files, folders, globs, frame ranges and lists of files, as one ordered list.
#include "io/inputs.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <unordered_set>

#include "core/error.hpp"
#include "core/frame_list.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "io/codec.hpp"
#include "io/unread_formats.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

// What tells two folders apart, however they are reached.
using FolderId = std::pair<dev_t, ino_t>;
std::optional<FolderId> folder_id(const fs::path& path) {
  struct stat status = {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return {};
  return FolderId{status.st_dev, status.st_ino};
}

class Collector {
 public:
  Collector(InputList& list, const InputOptions& options) : list_(list), options_(options) {
    output_ = folder_id(options.output_folder);
    for (const Input& input : list.inputs) seen_.insert(input.path.lexically_normal().string());
  }

  void add(Input input) {
    if (seen_.insert(input.path.lexically_normal().string()).second) {
      list_.inputs.push_back(std::move(input));
    }
  }

  // The pictures of a folder; `relative` is where it lies below the argument.
  void add_folder(const fs::path& root) {
    std::vector<Input> found;
    const std::int64_t skipped_before = list_.skipped;
    const size_t unreadable_before = list_.unreadable.size();
    std::set<FolderId> above;
    walk(root, {}, above, found);
    std::sort(found.begin(), found.end(),
              [](const Input& a, const Input& b) { return a.relative < b.relative; });
    if (found.empty() && list_.unreadable.size() == unreadable_before) {
      const std::int64_t skipped = list_.skipped - skipped_before;
      list_.unmatched.push_back(
          {root.string(), "no picture in the folder '" + root.string() + "'" +
                              (skipped > 0 ? " (" + std::to_string(skipped) + " other file" +
                                                 (skipped > 1 ? "s)" : ")")
                                           : "") +
                              (options_.recursive ? "" : "; -r looks into its folders")});
    }
    for (Input& input : found) add(std::move(input));
  }

 private:
  // `above` holds the folders on the way down: meeting one again is a loop of symbolic links.
  void walk(const fs::path& folder, const fs::path& relative, std::set<FolderId>& above,
            std::vector<Input>& found) {
    const auto id = folder_id(folder);
    if (id && !above.insert(*id).second) return;
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      const fs::path name = at->path().filename();
      if (name.native().starts_with('.')) continue;
      std::error_code ignored;
      if (at->is_directory(ignored)) {
        if (!options_.recursive) continue;
        if (output_ && folder_id(at->path()) == output_) continue;
        walk(at->path(), relative / name, above, found);
      } else if (at->exists(ignored) && !at->is_regular_file(ignored)) {
        ++list_.skipped;  // a pipe or device: to read it could wait for ever
      } else if (is_picture_file(at->path())) {
        found.push_back({.path = at->path(), .relative = relative / name});
      } else {
        ++list_.skipped;
        const std::string kind = unread_extension(name.native());
        if (!kind.empty()) ++list_.unread[kind];
      }
    }
    if (error == std::errc::not_enough_memory) throw std::bad_alloc();
    if (error) list_.unreadable.push_back({folder.string(), error.message()});
    if (id) above.erase(*id);
  }

  InputList& list_;
  const InputOptions& options_;
  std::optional<FolderId> output_;
  std::unordered_set<std::string> seen_;
};

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

// The folders of a pattern in front of its first special character: what is below is mirrored.
fs::path fixed_folder(const std::string& pattern) {
  const std::string fixed = pattern.substr(0, pattern.find_first_of("*?["));
  const size_t slash = fixed.rfind('/');
  return slash == fixed.npos ? fs::path() : fs::path(fixed.substr(0, slash + 1));
}

// Where a file lies below another folder that has its name: with the folders of a name that goes
// downward alone, else in that folder itself.
fs::path mirrored(const fs::path& name) {
  const fs::path normal = name.lexically_normal();
  return normal.is_relative() && *normal.begin() != ".." ? normal : name.filename();
}

void add_glob(Collector& collector, InputList& list, const std::string& pattern) {
  glob_t matches = {};
  std::vector<std::string> names;
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
    names.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  std::sort(names.begin(), names.end());
  if (names.empty()) {
    list.unmatched.push_back({pattern, "no file matches '" + pattern + "'"});
    return;
  }
  const fs::path root = fixed_folder(pattern);
  for (const std::string& name : names) {
    std::error_code ignored;
    if (fs::is_directory(name, ignored)) {
      collector.add_folder(name);
    } else {
      collector.add(
          {.path = name,
           .relative = mirrored(name.starts_with(root.native()) ? name.substr(root.native().size())
                                                                : name)});
    }
  }
}

void add_frames(Collector& collector, InputList& list, const std::string& text,
                const FrameRange& range) {
  std::vector<Input> frames;
  bool any = false;
  for (const std::int64_t frame : range.frames) {
    std::string digits = std::to_string(std::abs(frame));
    const auto wanted = static_cast<size_t>(range.digits);
    if (digits.size() < wanted) digits.insert(0, wanted - digits.size(), '0');
    if (frame < 0) digits.insert(0, "-");
    Input input{.path = range.before + digits + range.after, .frame = frame};
    input.relative = input.path.filename();
    std::error_code ignored;
    input.missing_frame = !fs::exists(input.path, ignored);
    any = any || !input.missing_frame;
    frames.push_back(std::move(input));
  }
  if (!any) {
    list.unmatched.push_back({text, "no frame of '" + text + "' exists"});
    return;
  }
  for (Input& input : frames) collector.add(std::move(input));
}

// How many digits "04d" or "d" asks for, with zeros in front or none; nothing for another text.
std::optional<int> take_printf_digits(std::string_view& text) {
  const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view width = text.substr(0, length);
  if (length > 3 || length == text.size() || text[length] != 'd') return {};
  text.remove_prefix(length + 1);
  if (width.empty()) return 1;
  const int digits = std::stoi(std::string(width));
  if (digits < 1 || digits > 20) return {};
  return width.front() == '0' ? digits : 1;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<FrameRange> parse_frame_range(std::string_view text) {
  // Back from the placeholder over the characters of a list of ranges.
  size_t mark = text.find_first_of("#@%");
  for (; mark != text.npos; mark = text.find_first_of("#@%", mark + 1)) {
    size_t begin = mark;
    while (begin > 0 &&
           (is_digit(text[begin - 1]) || std::strchr("-x,", text[begin - 1]) != nullptr)) {
      --begin;
    }
    // A separator that belongs to the name: "shot-1-10#.exr", "pix10-20#.exr".
    while (begin < mark && !is_digit(text[begin]) &&
           !(text[begin] == '-' && (begin == 0 || text[begin - 1] == '.'))) {
      ++begin;
    }
    if (begin == mark) continue;
    FrameRange range;
    range.before = text.substr(0, begin);
    auto list = parse_frame_list(text.substr(begin, mark - begin));
    if (!list || !list->has_range) continue;
    range.frames = std::move(list->frames);
    std::string_view rest = text.substr(mark);
    if (take(rest, '%')) {
      const auto digits = take_printf_digits(rest);
      if (!digits) continue;
      range.digits = *digits;
    } else {
      range.digits = 0;
      while (rest.starts_with('#') || rest.starts_with('@')) {
        range.digits += rest[0] == '#' ? 4 : 1;
        rest.remove_prefix(1);
      }
    }
    range.after = rest;
    return range;
  }
  return {};
}

bool is_picture_file(const fs::path& file) {
  return read_format(file.filename().native()) || is_picture(file);
}

InputList list_inputs(std::span<const std::string> arguments, const InputOptions& options) {
  InputList list;
  Collector collector(list, options);
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    const fs::file_status status = fs::status(argument, ignored);
    if (argument == "-") {
      collector.add({.path = "-", .relative = "stdin", .named = true, .is_stdin = true});
    } else if (fs::is_directory(status)) {
      collector.add_folder(argument);
    } else if (fs::exists(status)) {
      collector.add({.path = argument, .relative = fs::path(argument).filename(), .named = true});
    } else if (const auto range = parse_frame_range(argument)) {
      add_frames(collector, list, argument, *range);
    } else if (is_glob(argument)) {
      add_glob(collector, list, argument);
    } else {
      collector.add({.path = argument, .relative = fs::path(argument).filename(), .named = true});
    }
  }
  return list;
}

std::vector<std::string> read_names(const std::string& list, bool nul_separated) {
  std::vector<std::string> names;
  try {
    read_lines(list, nul_separated ? '\0' : '\n', [&](std::string_view name) {
      if (!nul_separated && name.ends_with('\r')) name.remove_suffix(1);
      if (!name.empty()) names.emplace_back(name);
    });
  } catch (const Error& error) {
    throw Error(std::string("--files-from ") + error.what());
  }
  return names;
}

void add_names(InputList& list, std::span<const std::string> names) {
  const InputOptions options;
  Collector collector(list, options);
  for (const std::string& name : names) {
    collector.add({.path = name, .relative = mirrored(name), .named = true});
  }
}

int shard_of(const fs::path& relative, int count) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : relative.generic_string()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  hash ^= hash >> 32;  // the low bits of FNV alone are poor
  return static_cast<int>(hash % static_cast<std::uint64_t>(count)) + 1;
}

}  // namespace impipe::io
