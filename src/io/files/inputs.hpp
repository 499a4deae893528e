// The inputs of a run: files, folders, globs, frame ranges and lists of files, as one ordered list.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace impipe::io {

struct Input {
  std::filesystem::path path;  // as it is opened; "-" is stdin
  std::filesystem::path
      relative;        // below the folder it was found in: mirrored, and hashed by shards
  bool named = false;  // given by the user, not found by us
  bool is_stdin = false;
  std::optional<std::int64_t> frame;  // of a frame range
  bool missing_frame = false;         // the range asks for it and there is no such file
};

struct InputOptions {
  bool recursive = false;  // -r
  std::filesystem::path
      output_folder;  // left out when it lies inside an input folder; may be empty
  // Of patterns that name none, such as in.####.exr; none: all that there are.
  std::vector<std::int64_t> frames = {};
  bool fill_gaps = false;  // frames between those that there are count as missing
  bool repeats = false;    // a file that is named twice is there twice
};

struct InputProblem {
  std::string subject;  // the argument or folder
  std::string reason;   // a whole message without the subject's name in front
};

struct InputList {
  std::vector<Input> inputs;                   // no path twice, but for `repeats`
  std::int64_t skipped = 0;                    // files in folders that are no pictures
  std::map<std::string, std::int64_t> unread;  // pictures among them, by extension
  std::vector<InputProblem> unmatched;         // arguments that stand for no file at all
  std::vector<InputProblem> unreadable;  // folders that could not be read: each counts as a failure
  std::vector<std::string> gaps;         // "'in.####.exr' has no frames 3, 7-8"
};

// A file of an argument's literal name wins over its meaning as a pattern. Files in a folder are
// taken in the order of their names: those with the extension of a known format, unseen, so that a
// broken one is reported, and others whose content is a picture. Hidden files are left out. A named
// file that does not exist is listed all the same; to read it will fail.
InputList list_inputs(std::span<const std::string> arguments, const InputOptions& options = {});
// What tells two folders apart, however they are reached; nothing of what is no folder.
using FolderId = std::pair<dev_t, ino_t>;
std::optional<FolderId> folder_id(const std::filesystem::path& path);

// Whether a file that a folder has is taken for a picture, by its name or by what it holds.
bool is_picture_file(const std::filesystem::path& file);

// The names in a --files-from list: lines, or parts that end in NUL. Throws Error when the list
// cannot be read. "-" is stdin.
std::vector<std::string> read_names(const std::string& list, bool nul_separated);
// The names in such a list become inputs as they are; relative ones keep their folders.
void add_names(InputList& list, std::span<const std::string> names,
               const InputOptions& options = {});

// What stands for the number of a frame in a name: '#' (four digits; each of several is one), '@'
// (each is one), %04d, %d. digits: at least.
struct FrameMark {
  std::size_t begin = 0, end = 0;  // in the name
  int digits = 1;
};
// The last one in the file's name, that of its folder aside.
std::optional<FrameMark> frame_mark(std::string_view name);

// "in.1-100x2#.exr", "in.%04d.exr" and the like: what stands before and after the numbers, how many
// digits they have at least, and the numbers in order; none where the name has none.
struct FrameRange {
  std::string before;
  std::string after;
  int digits = 1;
  std::vector<std::int64_t> frames;
};
std::optional<FrameRange> parse_frame_range(std::string_view text);

// Which of `count` shards, from 1, has a file of this name; the same on every machine.
int shard_of(const std::filesystem::path& relative, int count);

}  // namespace impipe::io
