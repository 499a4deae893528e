// Where results go: what -o means, and the name of every output before any work is done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/codec.hpp"
#include "io/files/inputs.hpp"

namespace impipe::io {

// What a template's fields stand for.
struct NameFields {
  std::filesystem::path input;  // {dir} {stem} {name}
  std::string extension;        // {ext}, without a point
  std::int64_t index = 1;       // {index}: from 1, in the order of the inputs
  std::optional<std::int64_t> frame;
  std::int64_t page = 1;       // {page}: from 1
  std::vector<PageAxis> axes;  // of the pages: {z} {t} {c}
};

// "out/{stem}_{index:05}.png", taken apart. `{{` and `}}` are braces.
class NameTemplate {
 public:
  // Throws Error with a caret for an unknown field or a lone brace. `origin` names the option.
  static NameTemplate parse(std::string_view text, std::string_view origin = "-o");

  // Throws Error when {frame} is asked for and the input is none. A {dir} at the beginning is the
  // folder of the input; behind other text it is that folder below another one, without a "/" or
  // ".." in front: "a" of "../a/x.png", "data/a" of "/data/a/x.png".
  std::string expand(const NameFields& fields) const;
  // The folder that names begin with, with a '/' at its end, or empty: of what stands before the
  // first field, a {dir} at the beginning included.
  std::string root(const NameFields& fields) const;
  // Whether different inputs can get different names.
  bool has_fields() const;
  bool has_page() const;  // whether pages of one input get different names
  const std::string& text() const { return text_; }

 private:
  enum class Field { none, dir, stem, name, ext, index, frame, page, z, t, c };
  struct Part {
    Field field = Field::none;
    std::string literal;
    int digits = 0;  // filled up with zeros to this width
  };
  std::string text_;
  std::vector<Part> parts_;
};

// The template in which {frame:04} stands where `text` has ####, %04d or another mark of a frame's
// number; a template that has fields stays.
std::string with_frame_field(const std::string& text);

// What -o, --in-place and --format say.
struct OutputTarget {
  enum class Kind { folder, name_template, standard_output, in_place };
  Kind kind = Kind::folder;
  std::filesystem::path folder;      // of Kind::folder
  std::optional<NameTemplate> name;  // of Kind::name_template
  std::optional<Format> format;      // --format, else the template's extension
  bool joins_pages = false;  // a name without fields is of one file, whose pages results are
};
// `output` is the text after -o, empty when there is none (then in_place must be set). A folder,
// unless it has a brace or a known extension and is not an existing folder.
OutputTarget parse_target(const std::string& output, bool in_place = false,
                          std::optional<Format> format = {});
// Whether a folder for the result of a single file is not there, and has a name with an extension.
bool is_meant_as_file(const std::filesystem::path& folder);
// Throws Error (usage) when it is: nothing writes such files.
void check_folder_of_one(const std::filesystem::path& folder);

// The extension (no point) for an output of this type: the input's own spelling when it fits.
std::string output_extension(const std::filesystem::path& input, OutputType type, int channels);

struct PlannedOutputs {
  std::vector<std::filesystem::path> paths;  // of the inputs, in their order; stdout is "-"
  std::string note;                          // what the user should know, or empty
};
// `extensions` are from output_extension, one an input. Inputs of a folder that differ in their
// extensions alone and would get one name keep them in it, all but one: "x.jpg.png" beside "x.png".
// Which ones follows from the set of inputs, not from their order. Throws Error (usage) when two
// inputs would still get one output, or a template without a field has several inputs.
PlannedOutputs plan_outputs(std::span<const Input> inputs, std::span<const std::string> extensions,
                            const OutputTarget& target);

// What the fields of a name template stand for, for this page, from 0, of this input.
NameFields fields_of(const Input& input, std::string extension, std::size_t index, int page = 0);

// Makes the folder and looks whether files can be made in it. Throws Error (usage).
void prepare_folder(const std::filesystem::path& folder);

}  // namespace impipe::io
