// Where results go: what -o means, and the name of every output before any work is done.
#include "io/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

std::string padded(std::int64_t value, int digits) {
  std::string text = std::to_string(std::abs(value));
  if (text.size() < static_cast<size_t>(digits)) {
    text.insert(0, static_cast<size_t>(digits) - text.size(), '0');
  }
  return value < 0 ? "-" + text : text;
}

}  // namespace

std::string FileIdentities::of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  auto [entry, is_new] = folders_.try_emplace(folder.string());
  if (is_new) {
    std::error_code error;
    const fs::path absolute = fs::absolute(folder.empty() ? fs::path(".") : folder, error);
    const fs::path real = fs::weakly_canonical(absolute, error);
    entry->second = (error ? absolute.lexically_normal() : real).string();
  }
  return entry->second + "/" + path.filename().string();
}

NameTemplate NameTemplate::parse(std::string_view text, std::string_view origin) {
  static const std::array<std::string, 6> names{"dir", "stem", "name", "ext", "index", "frame"};
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
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      const std::string hint = did_you_mean(name, names);
      throw error(at + 1, at + 1 + std::max<size_t>(colon, 1),
                  "unknown field '" + name + "'" +
                      (hint.empty() ? "; fields are dir, stem, name, ext, index, frame" : hint));
    }
    Part part{.field = static_cast<Field>(1 + (known - names.begin())), .literal = {}};
    if (colon < inside.size()) {
      const std::string_view width = inside.substr(colon + 1);
      const bool number = part.field == Field::index || part.field == Field::frame;
      const bool digits = !width.empty() && width.size() <= 2 &&
                          width.find_first_not_of("0123456789") == width.npos;
      if (!number || !digits) {
        throw error(at + 1 + colon, close,
                    number ? "the width of '" + name + "' is a number such as 05"
                           : "'" + name + "' has no width; index and frame have");
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

std::string NameTemplate::expand(const NameFields& fields) const {
  std::string out;
  for (const Part& part : parts_) {
    switch (part.field) {
      case Field::none: out += part.literal; break;
      case Field::dir: {
        const fs::path folder = fields.input.parent_path();
        out += folder.empty() ? "." : folder.string();
        break;
      }
      case Field::stem: out += fields.input.stem().string(); break;
      case Field::name: out += fields.input.filename().string(); break;
      case Field::ext: out += fields.extension; break;
      case Field::index: out += padded(fields.index, part.digits); break;
      case Field::frame:
        if (!fields.frame) {
          throw Error("'" + text_ + "' has {frame}, but '" + fields.input.string() +
                      "' is of no frame range such as in.1-100#.png");
        }
        out += padded(*fields.frame, part.digits);
        break;
    }
  }
  return out;
}

bool NameTemplate::has_fields() const {
  for (const Part& part : parts_) {
    if (part.field != Field::none && part.field != Field::ext) return true;
  }
  return false;
}

OutputTarget parse_target(const std::string& output, bool in_place, std::optional<Format> format) {
  using Kind = OutputTarget::Kind;
  if (in_place) {
    if (!output.empty()) throw Error("--in-place and -o exclude each other");
    if (format) throw Error("--in-place keeps the format; --format needs -o");
    return {.kind = Kind::in_place, .folder = {}, .name = {}, .format = {}};
  }
  if (output.empty()) throw Error("no output: -o FOLDER, -o TEMPLATE, -o - or --in-place");
  if (output == "-")
    return {.kind = Kind::standard_output, .folder = {}, .name = {}, .format = format};
  std::error_code ignored;
  const bool brace = output.find_first_of("{}") != output.npos;
  const fs::path last = fs::path(output).filename();
  const bool known = last.has_extension() && format_of_extension(last.native());
  if (!brace && (!known || fs::is_directory(output, ignored))) {
    return {.kind = Kind::folder, .folder = output, .name = {}, .format = format};
  }
  OutputTarget target{.kind = Kind::name_template,
                      .folder = {},
                      .name = NameTemplate::parse(output),
                      .format = format};
  if (!target.format && known) target.format = format_of_extension(last.native());
  return target;
}

std::string output_extension(const fs::path& input, OutputType type, int channels) {
  const std::string own = input.extension().string();
  const std::string_view usual = extension_for(type.format, type.cls, channels);
  if (own.size() > 1 && format_of_extension(own) == type.format &&
      (type.format != Format::pnm || own == ".pnm")) {
    return own.substr(1);
  }
  return std::string(usual);
}

std::vector<fs::path> plan_outputs(std::span<const Input> inputs,
                                   std::span<const std::string> extensions,
                                   const OutputTarget& target) {
  using Kind = OutputTarget::Kind;
  std::vector<fs::path> outputs;
  outputs.reserve(inputs.size());
  if (target.kind == Kind::name_template && !target.name->has_fields() && inputs.size() > 1) {
    throw Error("-o '" + target.name->text() + "' is one file, but there are " +
                std::to_string(inputs.size()) + " inputs, '" + inputs[0].path.string() + "' and '" +
                inputs[1].path.string() + (inputs.size() > 2 ? "' among them" : "'") +
                "; use a folder, or a field such as {stem}");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    switch (target.kind) {
      case Kind::standard_output: outputs.emplace_back("-"); break;
      case Kind::in_place: outputs.push_back(input.path); break;
      case Kind::folder: {
        fs::path name = input.relative;
        // What follows the last point of "scan.v2" is no extension of ours: it stays.
        if (!format_of_extension(name.extension().native())) name += ".";
        name.replace_extension(extensions[i]);
        outputs.push_back(target.folder / name);
        break;
      }
      case Kind::name_template:
        outputs.emplace_back(
            target.name->expand({.input = input.is_stdin ? fs::path("stdin") : input.path,
                                 .extension = extensions[i],
                                 .index = static_cast<std::int64_t>(i) + 1,
                                 .frame = input.frame}));
        break;
    }
  }
  if (target.kind == Kind::standard_output) return outputs;
  if (target.kind == Kind::in_place) {
    for (const Input& input : inputs) {
      if (input.is_stdin) throw Error("--in-place cannot write to stdin");
    }
    return outputs;
  }
  FileIdentities identities;
  std::unordered_map<std::string, size_t> writers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [entry, is_new] = writers.try_emplace(identities.of(outputs[i]), i);
    if (!is_new) {
      throw Error("two inputs would be written to '" + outputs[i].string() + "': '" +
                  inputs[entry->second].path.string() + "' and '" + inputs[i].path.string() + "'");
    }
  }
  for (const Input& input : inputs) {
    if (input.is_stdin) continue;
    const auto writer = writers.find(identities.of(input.path));
    if (writer == writers.end()) continue;
    throw Error("the output of '" + inputs[writer->second].path.string() +
                "' would replace the input '" + input.path.string() +
                "'; choose another -o, or --in-place");
  }
  return outputs;
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
