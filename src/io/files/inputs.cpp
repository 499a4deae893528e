// The inputs of a run: files, folders, globs, frame ranges and lists of files, as one ordered list.
#include "io/files/inputs.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <unordered_set>

#include "core/error.hpp"
#include "core/fnv.hpp"
#include "core/frame_list.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "io/files/read_picture.hpp"
#include "io/files/slide_path.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  Collector(InputList& list, const InputOptions& options) : list_(list), options_(options) {
    output_ = folder_id(options.output_folder);
    for (const Input& input : list.inputs) seen_.insert(input.path.lexically_normal().string());
  }

  void add(Input input) {
    const bool is_new = seen_.insert(input.path.lexically_normal().string()).second;
    if (is_new || (options_.repeats && input.named && !input.is_stdin)) {
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
    std::ranges::sort(found,
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
      if (at->is_directory(ignored) && is_zarr_folder(at->path())) {
        found.push_back({.path = at->path(), .relative = relative / name});
      } else if (at->is_directory(ignored)) {
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
  std::ranges::sort(names);
  if (names.empty()) {
    list.unmatched.push_back({pattern, "no file matches '" + pattern + "'"});
    return;
  }
  const fs::path root = fixed_folder(pattern);
  for (const std::string& name : names) {
    std::error_code ignored;
    if (fs::is_directory(name, ignored) && !is_zarr_folder(name)) {
      collector.add_folder(name);
    } else {
      collector.add(
          {.path = name,
           .relative = mirrored(name.starts_with(root.native()) ? name.substr(root.native().size())
                                                                : name)});
    }
  }
}

// The frames of a pattern that there are, in order: names with as many digits, or with more and no
// zero in front.
std::vector<std::int64_t> frames_on_disk(const FrameRange& pattern) {
  const fs::path before(pattern.before);
  const std::string prefix = before.filename().string();
  const fs::path folder = before.has_parent_path() ? before.parent_path() : fs::path(".");
  std::vector<std::int64_t> frames;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.size() <= prefix.size() + pattern.after.size() || !name.starts_with(prefix) ||
        !name.ends_with(pattern.after)) {
      continue;
    }
    const std::string number =
        name.substr(prefix.size(), name.size() - prefix.size() - pattern.after.size());
    const auto list = parse_frame_list(number);
    if (list && frame_text(list->frames.front(), pattern.digits) == number) {
      frames.push_back(list->frames.front());
    }
  }
  std::ranges::sort(frames);
  return frames;
}

// Those between the first and the last that are not there, of no more than a million.
std::vector<std::int64_t> gaps_of(const std::vector<std::int64_t>& frames) {
  constexpr std::int64_t most = 1'000'000;
  std::vector<std::int64_t> gaps;
  if (frames.empty() || frames.back() - frames.front() > most) return gaps;
  for (size_t i = 1; i < frames.size(); ++i) {
    for (std::int64_t gap = frames[i - 1] + 1; gap < frames[i]; ++gap) gaps.push_back(gap);
  }
  return gaps;
}

std::string text_of_gaps(const std::string& pattern, const std::vector<std::int64_t>& gaps) {
  constexpr size_t longest = 200;
  std::string list = frame_list_text(gaps);
  if (list.size() > longest) list = list.substr(0, list.rfind(", ", longest)) + ", ...";
  return "'" + pattern + "' has no frame" + (gaps.size() == 1 ? " " : "s ") + list;
}

void add_frames(Collector& collector, InputList& list, const std::string& text, FrameRange range,
                const InputOptions& options) {
  const bool is_open = range.frames.empty();
  if (is_open) range.frames = options.frames;
  if (range.frames.empty()) {
    range.frames = frames_on_disk(range);
    const std::vector<std::int64_t> gaps = gaps_of(range.frames);
    if (options.fill_gaps) {
      range.frames.insert(range.frames.end(), gaps.begin(), gaps.end());
      std::ranges::sort(range.frames);
    } else if (!gaps.empty()) {
      list.gaps.push_back(text_of_gaps(text, gaps));
    }
  }
  std::vector<Input> frames;
  bool any = false;
  for (const std::int64_t frame : range.frames) {
    Input input{.path = range.before + frame_text(frame, range.digits) + range.after,
                .frame = frame};
    input.relative = input.path.filename();
    std::error_code ignored;
    input.missing_frame = !fs::exists(input.path, ignored);
    any = any || !input.missing_frame;
    frames.push_back(std::move(input));
  }
  if (!any) {
    list.unmatched.push_back(
        {text, "no frame of '" + text + "' exists" + (is_open ? ", nor a file of that name" : "")});
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

// The mark that begins here, if one does.
std::optional<FrameMark> mark_at(std::string_view text, size_t begin) {
  std::string_view rest = text.substr(begin);
  FrameMark mark{.begin = begin};
  if (take(rest, '%')) {
    const auto digits = take_printf_digits(rest);
    if (!digits) return {};
    mark.digits = *digits;
  } else {
    int hashes = 0, ats = 0;
    while (!rest.empty() && (rest[0] == '#' || rest[0] == '@')) {
      ++(rest[0] == '#' ? hashes : ats);
      rest.remove_prefix(1);
    }
    if (hashes + ats == 0) return {};
    mark.digits = (hashes == 1 ? 4 : hashes) + ats;
  }
  mark.end = text.size() - rest.size();
  return mark;
}

std::vector<FrameMark> marks_of(std::string_view text) {
  std::vector<FrameMark> marks;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto mark = mark_at(text, at);
    if (!mark) continue;
    marks.push_back(*mark);
    at = mark->end - 1;
  }
  return marks;
}

// Where the list of frames before a mark begins.
size_t begin_of_list(std::string_view text, size_t mark) {
  size_t begin = mark;
  while (begin > 0 &&
         (is_digit(text[begin - 1]) || std::strchr("-xy,", text[begin - 1]) != nullptr)) {
    --begin;
  }
  // A separator that belongs to the name: "shot-1-10#.exr", "pix10-20#.exr".
  while (begin < mark && !is_digit(text[begin]) &&
         !(text[begin] == '-' && (begin == 0 || text[begin - 1] == '.'))) {
    ++begin;
  }
  return begin;
}

}  // namespace

std::optional<FrameMark> frame_mark(std::string_view name) {
  const std::vector<FrameMark> marks = marks_of(name);
  const size_t slash = name.rfind('/');
  if (marks.empty() || (slash != name.npos && marks.back().begin < slash)) return {};
  return marks.back();
}

std::optional<FrameRange> parse_frame_range(std::string_view text) {
  for (const FrameMark& mark : marks_of(text)) {
    const size_t begin = begin_of_list(text, mark.begin);
    auto list = parse_frame_list(text.substr(begin, mark.begin - begin));
    if (!list || !list->has_range) continue;
    return FrameRange{std::string(text.substr(0, begin)), std::string(text.substr(mark.end)),
                      mark.digits, std::move(list->frames)};
  }
  const auto mark = is_glob(text) ? std::optional<FrameMark>() : frame_mark(text);
  if (!mark) return {};
  return FrameRange{std::string(text.substr(0, mark->begin)),
                    std::string(text.substr(mark->end)),
                    mark->digits,
                    {}};
}

std::optional<FolderId> folder_id(const fs::path& path) {
  struct stat status = {};
  if (path.empty() || stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  return FolderId{status.st_dev, status.st_ino};
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
    const bool is_there = fs::exists(status);
    if (argument == "-") {
      collector.add({.path = "-", .relative = "stdin", .named = true, .is_stdin = true});
    } else if (fs::is_directory(status) && !is_zarr_folder(argument)) {
      collector.add_folder(argument);
    } else if (const auto range = is_there ? std::nullopt : parse_frame_range(argument)) {
      add_frames(collector, list, argument, *range, options);
    } else if (!is_there && is_glob(argument)) {
      add_glob(collector, list, argument);
    } else {
      // A folder's name may end in a slash.
      const fs::path path =
          fs::path(argument).has_filename() ? fs::path(argument) : fs::path(argument).parent_path();
      const auto slide = slide_of(path);
      const bool is_in_slide = slide && slide->file != path;
      const fs::path above = is_in_slide ? path.parent_path().filename() : fs::path();
      collector.add({.path = path, .relative = above / path.filename(), .named = true});
    }
  }
  return list;
}

std::vector<std::string> read_names(const std::string& list, bool nul_separated) {
  std::vector<std::string> names;
  try {
    read_lines(list, nul_separated ? '\0' : '\n', [&](std::string_view name) {
      if (!nul_separated && name.ends_with('\r')) name.remove_suffix(1);
      if (name.find('\0') != name.npos) {
        throw Error(list + ": a line has a NUL in it; -0 takes lists whose names end in NUL");
      }
      if (!name.empty()) names.emplace_back(name);
    });
  } catch (const Error& error) {
    throw Error(std::string("--files-from ") + error.what());
  }
  return names;
}

void add_names(InputList& list, std::span<const std::string> names, const InputOptions& options) {
  Collector collector(list, options);
  for (const std::string& name : names) {
    collector.add({.path = name, .relative = mirrored(name), .named = true});
  }
}

int shard_of(const fs::path& relative, int count) {
  std::uint64_t hash = fnv1a(relative.generic_string());
  hash ^= hash >> 32;  // the low bits of FNV alone are poor
  return static_cast<int>(hash % static_cast<std::uint64_t>(count)) + 1;
}

}  // namespace impipe::io
