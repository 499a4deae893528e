// Where results go: what -o means, and the name of every output before any work is done.
#include "io/files/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/frame_list.hpp"
#include "core/text.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/written_names.hpp"
#include "io/formats.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

// A template that gives each input a name of its own, as it is written after -o; empty when none of
// `candidates` does.
std::string first_without_collision(std::span<const Input> inputs,
                                    std::span<const std::string> extensions,
                                    std::span<const std::string> candidates) {
  for (const std::string& text : candidates) {
    const NameTemplate candidate = NameTemplate::parse(text);
    WrittenNames names;
    bool good = true;
    for (size_t i = 0; good && i < inputs.size(); ++i) {
      good = !names.add(candidate.expand(fields_of(inputs[i], extensions[i], i)), 0);
    }
    for (size_t i = 0; good && i < inputs.size(); ++i) {
      good = inputs[i].is_stdin || !names.replacing(inputs[i].path);
    }
    if (good) return text;
  }
  return {};
}

// Where `folder` lies when it is put below another one.
std::string below_another(const fs::path& folder) {
  fs::path out;
  for (const fs::path& part : folder.lexically_normal().relative_path()) {
    if (!part.empty() && part != "..") out /= part;
  }
  return out.empty() ? "." : out.string();
}

// A literal piece of a template.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

// The name of what is packed, where the last extension tells that alone: "a.nii" of a.nii.gz.
fs::path unpacked_name(const fs::path& name) {
  const fs::path inside = name.parent_path() / name.stem();
  const bool is_packed = (name.extension() == ".gz" && inside.extension() == ".nii") ||
                         (name.extension() == ".zip" && inside.extension() == ".zarr");
  return is_packed ? inside : name;
}

// "; -o 'out/{name}.{ext}' keeps them apart".
std::string advice(std::span<const Input> inputs, std::span<const std::string> extensions,
                   const OutputTarget& target) {
  std::vector<std::string> candidates;
  if (target.kind == OutputTarget::Kind::folder) {
    const std::string folder = escaped((target.folder / "").string());
    candidates.push_back(folder + "{dir}/{stem}.{ext}");
    candidates.push_back(folder + "{name}.{ext}");
    candidates.push_back(folder + "{index:05}_{stem}.{ext}");
  } else {
    const std::string& text = target.name->text();
    const size_t file = text.rfind('/') == text.npos ? 0 : text.rfind('/') + 1;
    const auto with_field = [&](const char* field) {
      return std::string(text).insert(file, std::string(field) + "_");
    };
    if (const size_t stem = text.find("{stem}", file); stem != text.npos) {
      candidates.push_back(std::string(text).replace(stem, 6, "{name}"));
    } else {
      candidates.push_back(with_field("{stem}"));
    }
    candidates.push_back(with_field("{index:05}"));
  }
  const std::string found = first_without_collision(inputs, extensions, candidates);
  return found.empty() ? "" : "; -o '" + found + "' keeps them apart";
}

[[noreturn]] void fail_collision(const fs::path& output, const Input& one, const Input& two,
                                 const std::string& advice) {
  throw Error("two inputs would be written to '" + output.string() + "': '" + one.path.string() +
              "' and '" + two.path.string() + "'" + advice);
}

void name_by_template(std::span<const Input> inputs, std::span<const std::string> extensions,
                      const OutputTarget& target, std::vector<fs::path>& outputs) {
  const bool streams = target.format && writes_stream(*target.format);
  if (!target.name->has_fields() && (streams || target.joins_pages)) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      outputs.emplace_back(target.name->expand(fields_of(inputs[i], extensions[i], i)));
    }
    return;
  }
  if (!target.name->has_fields() && inputs.size() > 1) {
    throw Error("-o '" + target.name->text() + "' is one file, but there are " +
                std::to_string(inputs.size()) + " inputs, '" + inputs[0].path.string() + "' and '" +
                inputs[1].path.string() + (inputs.size() > 2 ? "' among them" : "'") +
                advice(inputs, extensions, target));
  }
  WrittenNames names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    outputs.emplace_back(target.name->expand(fields_of(inputs[i], extensions[i], i)));
    if (const auto other = names.add(outputs[i], static_cast<std::int64_t>(i))) {
      fail_collision(outputs[i], inputs[static_cast<size_t>(*other)], inputs[i],
                     advice(inputs, extensions, target));
    }
  }
}

// Those of `group`, inputs with one output name, that have to give it up: all but the one that has
// the name already, else the first by name. By their names, whatever the order of the inputs.
std::vector<size_t> renamed(std::vector<size_t> group, std::span<const Input> inputs,
                            const fs::path& name) {
  std::ranges::sort(group, [&](size_t a, size_t b) {
    return std::pair(inputs[a].relative != name, inputs[a].relative) <
           std::pair(inputs[b].relative != name, inputs[b].relative);
  });
  group.erase(group.begin());
  return group;
}

// "x.jpg.png" for x.jpg, or "x.jpg-2.png" where that is taken.
fs::path name_with_old_extension(const fs::path& folder, const fs::path& relative,
                                 const std::string& extension, WrittenNames& taken,
                                 std::int64_t writer) {
  for (int number = 1;; ++number) {
    fs::path name = folder / relative;
    if (number > 1) name += "-" + std::to_string(number);
    name += "." + extension;
    if (!taken.add(name, writer)) return name;
  }
}

void name_in_folder(std::span<const Input> inputs, std::span<const std::string> extensions,
                    const OutputTarget& target, PlannedOutputs& out) {
  WrittenNames names;
  std::map<size_t, std::vector<size_t>> groups;  // of one name, by the first that has it
  for (size_t i = 0; i < inputs.size(); ++i) {
    fs::path name = unpacked_name(inputs[i].relative);
    // What follows the last point of "scan.v2" is no extension of ours: it stays.
    if (!format_of_extension(name.extension().native())) name += ".";
    name.replace_extension(extensions[i]);
    out.paths.push_back(target.folder / name);
    const auto other = names.add(out.paths[i], static_cast<std::int64_t>(i));
    if (!other) continue;
    const auto first = static_cast<size_t>(*other);
    std::vector<size_t>& group = groups.try_emplace(first, 1, first).first->second;
    for (const size_t member : group) {
      if (inputs[member].relative == inputs[i].relative) {
        fail_collision(out.paths[i], inputs[member], inputs[i], advice(inputs, extensions, target));
      }
    }
    group.push_back(i);
  }
  if (groups.empty()) return;
  std::vector<size_t> all;
  for (const auto& [first, group] : groups) {
    const fs::path name = out.paths[first].lexically_relative(target.folder);
    const std::vector<size_t> some = renamed(group, inputs, name);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all,
                    [&](size_t a, size_t b) { return inputs[a].relative < inputs[b].relative; });
  const std::string plain = out.paths[all.front()].string();
  for (const size_t i : all) {
    out.paths[i] = name_with_old_extension(target.folder, inputs[i].relative, extensions[i], names,
                                           static_cast<std::int64_t>(i));
  }
  const size_t first = all.front();
  out.note = "'" + inputs[first].path.string() + "' is written to '" + out.paths[first].string() +
             "', since '" + plain + "' is another input's" +
             (all.size() > 1 ? "; " + std::to_string(all.size() - 1) + " more like it" : "") +
             advice(inputs, extensions, target);
}

// Whether it looks as extensions do, and not like the end of "results.v2" or "2026.11".
bool is_like_an_extension(std::string_view extension) {
  constexpr std::string_view digits = "0123456789";
  const std::string_view word = extension.substr(1);
  const auto is_plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digits.find(c) != digits.npos;
  };
  const bool version = word[0] == 'v' && word.find_first_not_of(digits, 1) == word.npos;
  return word.size() >= 2 && word.size() <= 5 && digits.find(word[0]) == digits.npos && !version &&
         std::ranges::all_of(word, is_plain);
}

[[noreturn]] void fail_unwritten(const std::string& output, const std::string& extension) {
  const bool is_template = output.find_first_of("{}") != output.npos;
  throw Error("-o '" + output + "': nothing here writes " + extension + "; there are " +
              written_extensions() + ", and --format EXT for files of any name" +
              (is_template ? "" : "; a folder is '" + output + "/'"));
}

// Throws Error when a name ends like a file's, and nothing writes such files. A template is always
// a file's name, anything else may be a folder's, such as "results.v2".
void check_extension(const std::string& output, const fs::path& last, bool is_template) {
  const std::string extension = last.extension().string();
  if (extension.size() < 2 || written_format(extension)) return;
  const bool has_field = extension.find_first_of("{}") != extension.npos;
  const bool is_read = format_of_extension(extension).has_value();
  if (has_field || (!is_template && !is_read && unread_extension(extension).empty())) return;
  fail_unwritten(output, extension);
}

// The place of the page along one of its file's axes, from 1.
std::int64_t place_along(char letter, const NameFields& fields) {
  std::int64_t rest = fields.page - 1;
  for (auto axis = fields.axes.rbegin(); axis != fields.axes.rend(); ++axis) {
    if (axis->letter == letter) return rest % axis->count + 1;
    rest /= axis->count;
  }
  if (fields.axes.empty() && fields.page > 1) {
    throw Error("{" + std::string(1, letter) + "}: the pages of '" + fields.input.string() +
                "' have no axes, but for an NPY --axes names them; {page} is their number");
  }
  return 1;
}

}  // namespace

NameTemplate NameTemplate::parse(std::string_view text, std::string_view origin) {
  static const std::array<std::string, 10> names{"dir",   "stem", "name", "ext", "index",
                                                 "frame", "page", "z",    "t",   "c"};
  NameTemplate out;
  out.text_ = text;
  const auto error = [&](size_t begin, size_t end, const std::string& message) {
    return error_at(text, {static_cast<int>(begin), static_cast<int>(end)}, message, origin);
  };
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) out.parts_.push_back({.literal = std::exchange(literal, {})});
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c == '{' || c == '}') && text.substr(at + 1).starts_with(c)) {
      literal += c;
      at += 2;
      continue;
    }
    if (c == '}') throw error(at, at + 1, "a lone '}'; '}}' is a brace in the name");
    if (c != '{') {
      literal += c;
      ++at;
      continue;
    }
    const size_t close = text.find('}', at);
    if (close == text.npos) throw error(at, at + 1, "'{' without '}'; '{{' is a brace in the name");
    const std::string_view inside = text.substr(at + 1, close - at - 1);
    const size_t colon = std::min(inside.find(':'), inside.size());
    const std::string name(inside.substr(0, colon));
    const auto known = std::ranges::find(names, name);
    if (known == names.end()) {
      const std::string hint = did_you_mean(name, names);
      throw error(
          at + 1, at + 1 + std::max<size_t>(colon, 1),
          "unknown field '" + name + "'" +
              (hint.empty() ? "; fields are dir, stem, name, ext, index, frame, page, z, t, c"
                            : hint));
    }
    Part part{.field = static_cast<Field>(1 + (known - names.begin())), .literal = {}};
    if (colon < inside.size()) {
      const std::string_view width = inside.substr(colon + 1);
      const bool number = part.field >= Field::index;
      const bool digits = !width.empty() && width.size() <= 2 &&
                          width.find_first_not_of("0123456789") == width.npos;
      if (!number || !digits) {
        throw error(at + 1 + colon, close,
                    number ? "the width of '" + name + "' is a number such as 05"
                           : "'" + name + "' has no width; index, frame, page, z, t and c have");
      }
      part.digits = std::stoi(std::string(width));
    }
    end_literal();
    out.parts_.push_back(part);
    at = close + 1;
  }
  end_literal();
  return out;
}

std::string NameTemplate::root(const NameFields& fields) const {
  NameTemplate beginning;
  for (const Part& part : parts_) {
    const bool is_first = beginning.parts_.empty();
    if (part.field != Field::none && !(part.field == Field::dir && is_first)) break;
    beginning.parts_.push_back(part);
  }
  const std::string text = beginning.expand(fields);
  return text.substr(0, text.rfind('/') + 1);
}

std::string NameTemplate::expand(const NameFields& fields) const {
  std::string out;
  for (const Part& part : parts_) {
    switch (part.field) {
      case Field::none: out += part.literal; break;
      case Field::dir: {
        const fs::path folder = fields.input.parent_path();
        const bool is_first = &part == &parts_.front();
        out += folder.empty() ? "." : is_first ? folder.string() : below_another(folder);
        break;
      }
      case Field::stem: out += unpacked_name(fields.input).stem().string(); break;
      case Field::name: out += fields.input.filename().string(); break;
      case Field::ext: out += fields.extension; break;
      case Field::index: out += frame_text(fields.index, part.digits); break;
      case Field::frame:
        if (!fields.frame) {
          throw Error("'" + text_ + "' has {frame}, but '" + fields.input.string() +
                      "' is of no frame range such as in.1-100#.png, nor is there --frames");
        }
        out += frame_text(*fields.frame, part.digits);
        break;
      case Field::page: out += frame_text(fields.page, part.digits); break;
      case Field::z: out += frame_text(place_along('z', fields), part.digits); break;
      case Field::t: out += frame_text(place_along('t', fields), part.digits); break;
      case Field::c: out += frame_text(place_along('c', fields), part.digits); break;
    }
  }
  return out;
}

std::string with_frame_field(const std::string& text) {
  const auto mark = text.find_first_of("{}") == text.npos ? frame_mark(text) : std::nullopt;
  if (!mark) return text;
  return text.substr(0, mark->begin) + "{frame:" + std::to_string(mark->digits) + "}" +
         text.substr(mark->end);
}

bool NameTemplate::has_fields() const {
  for (const Part& part : parts_) {
    if (part.field != Field::none && part.field != Field::ext && part.field < Field::page) {
      return true;
    }
  }
  return false;
}

bool NameTemplate::has_page() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.field >= Field::page; });
}

OutputTarget parse_target(const std::string& output, bool in_place, std::optional<Format> format) {
  using Kind = OutputTarget::Kind;
  if (in_place) {
    if (!output.empty()) throw Error("--in-place and -o exclude each other");
    if (format) throw Error("--in-place keeps the format; --format needs -o");
    return {.kind = Kind::in_place};
  }
  if (output.empty()) throw Error("no output: -o FOLDER, -o TEMPLATE, -o - or --in-place");
  if (output == "-") return {.kind = Kind::standard_output, .format = format};
  if (output.ends_with('/')) {  // a Zarr is a folder
    const std::string name = output.substr(0, output.find_last_not_of('/') + 1);
    if (format_of_extension(name) == Format::zarr) return parse_target(name, in_place, format);
  }
  for (fs::path above = fs::path(output).parent_path(); above.has_relative_path();
       above = above.parent_path()) {
    if (format_of_extension(above.native()) != Format::zarr) continue;
    throw Error("-o " + output + ": '" + above.native() +
                "' is a Zarr, which is written as a whole");
  }
  std::error_code ignored;
  const bool brace = output.find_first_of("{}") != output.npos;
  // A pipe, >(…) say, or a device is a file of its name, whatever that looks like.
  if (is_written_into(output)) {
    return {.kind = Kind::name_template,
            .name = NameTemplate::parse(escaped(output)),
            .format = format ? format : written_format(output)};
  }
  const fs::path last = fs::path(output).filename();
  // Tables of measurements are no pictures.
  const std::string extension = last.extension().string();
  const bool table =
      extension == ".csv" || extension == ".tsv" || extension == ".json" || extension == ".geojson";
  if (!table && !format && !fs::is_directory(output, ignored)) {
    check_extension(output, last, brace);
  }
  const bool known = table || (last.has_extension() && written_format(last.native()));
  // A Zarr is a folder by nature, which is replaced.
  const bool is_folder = fs::is_directory(output, ignored) &&
                         (written_format(last.native()) != Format::zarr || !last.has_extension());
  if (!brace && (!known || is_folder)) {
    return {.kind = Kind::folder, .folder = output, .format = format};
  }
  OutputTarget target{
      .kind = Kind::name_template, .name = NameTemplate::parse(output), .format = format};
  if (!target.format && known) target.format = written_format(last.native());
  return target;
}

bool is_meant_as_file(const fs::path& folder) {
  const std::string extension = folder.filename().extension().string();
  std::error_code ignored;
  return extension.size() >= 2 && is_like_an_extension(extension) &&
         !fs::is_directory(folder, ignored);
}

void check_folder_of_one(const fs::path& folder) {
  if (!is_meant_as_file(folder)) return;
  fail_unwritten(folder.string(), folder.filename().extension().string());
}

std::string output_extension(const fs::path& input, OutputType type, int channels) {
  const std::string own = input.extension().string();
  const std::string_view usual = extension_for(type.format, type.cls, channels);
  if (own.size() > 1 && written_format(own) == type.format &&
      (type.format != Format::pnm || own == ".pnm")) {
    return own.substr(1);
  }
  return std::string(usual);
}

NameFields fields_of(const Input& input, std::string extension, std::size_t index, int page) {
  return {.input = input.is_stdin ? fs::path("stdin") : input.path,
          .extension = std::move(extension),
          .index = static_cast<std::int64_t>(index) + 1,
          .frame = input.frame,
          .page = std::int64_t{page} + 1};
}

PlannedOutputs plan_outputs(std::span<const Input> inputs, std::span<const std::string> extensions,
                            const OutputTarget& target) {
  using Kind = OutputTarget::Kind;
  PlannedOutputs out;
  out.paths.reserve(inputs.size());
  switch (target.kind) {
    case Kind::standard_output: out.paths.assign(inputs.size(), "-"); break;
    case Kind::in_place:
      for (const Input& input : inputs) {
        if (input.is_stdin) throw Error("--in-place cannot write to stdin");
        out.paths.push_back(input.path);
      }
      break;
    case Kind::folder: name_in_folder(inputs, extensions, target, out); break;
    case Kind::name_template: name_by_template(inputs, extensions, target, out.paths); break;
  }
  return out;
}

void prepare_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && access(folder.c_str(), W_OK | X_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) {
    throw Error("cannot write into the folder '" + folder.string() + "': " + error.message());
  }
}

}  // namespace impipe::io
