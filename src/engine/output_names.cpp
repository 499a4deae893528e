// Where the results of every input go, settled before any work: no two in one place, and none in
// the place of something that the run reads.
#include "engine/output_names.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/volume.hpp"
#include "engine/batch/object_text.hpp"
#include "engine/run_settings.hpp"
#include "engine/sandbox.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/result_bounds.hpp"
#include "io/files/written_names.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;
using Kind = io::OutputTarget::Kind;

// Throws Error for what EXR alone holds.
void check_half(const NamingTask& task, const io::Input& input, io::Format format) {
  if (!task.options.half || format == io::Format::exr) return;
  throw Error("-d half: only EXR holds floats of 16 bits, and " + input.path.string() +
              " goes to " + std::string(io::name_of(format)));
}

std::vector<std::string> extensions_of(std::span<const io::Input> inputs,
                                       std::vector<Picture>& pictures, const NamingTask& task) {
  const io::OutputTarget& target = *task.target;
  std::vector<std::string> extensions;
  for (size_t i = 0; i < pictures.size(); ++i) {
    Picture& picture = pictures[i];
    std::string extension = inputs[i].path.extension().string();
    if (!extension.empty()) extension.erase(0, 1);
    if (picture.program) {
      const Plan& plan = picture.last_part().plan;
      const io::ImageInfo* info = task.pipeline.has_source() ? nullptr : picture.info;
      std::optional<io::Format> wanted = target.format;
      if (target.kind == Kind::in_place) wanted = picture.info->format;
      if (plan.writes_image) {
        const ImageType& type = plan.values[plan.result].type;
        const io::OutputType output = io::output_type(info, type, wanted, task.options.cls);
        check_half(task, inputs[i], output.format);
        picture.output_format = output.format;
        picture.output_class = output.cls;
        extension = io::output_extension(inputs[i].path, output, type.channels);
      } else {
        picture.output_format = io::Format::npy;
        picture.output_class = PixelClass::single;
        extension = "npy";
        if (const auto name = target.name; name && last_table(plan) && table_format(target)) {
          extension = std::filesystem::path(name->text()).extension().string().substr(1);
        }
      }
    }
    extensions.push_back(std::move(extension));
  }
  return extensions;
}

// The plans of the parts that a picture goes through.
std::vector<const Plan*> plans_of(const Picture& picture) {
  std::vector<const Plan*> out;
  for (const Program* part : picture.parts()) out.push_back(&part->plan);
  return out;
}

// A `save` of one of them.
struct SaveOfPart {
  const PlanSave& save;
  size_t part = 0;
};
std::vector<SaveOfPart> saves_of(const Picture& picture) {
  std::vector<SaveOfPart> out;
  const std::vector<const Plan*> plans = plans_of(picture);
  for (size_t part = 0; part < plans.size(); ++part) {
    for (const PlanSave& save : plans[part]->saves) out.push_back({save, part});
  }
  return out;
}

// What a name's fields are for a page, from 0, of those that reach a part of the picture.
io::NameFields fields_of_page(const io::Input& input, const std::string& extension, size_t index,
                              const Picture& picture, size_t part, int page) {
  io::NameFields out = io::fields_of(input, extension, index, page);
  out.axes = picture.pages_before(part).axes;
  return out;
}

// Whether a file of the format holds pages that are none of an input's.
bool holds_any_pages(io::Format format) {
  return format == io::Format::tiff || format == io::Format::npy || format == io::Format::zarr ||
         format == io::Format::fits;
}

// What a `save` writes of an input, and whether it can hold what there is. A stream of frames gets
// the name of each.
Picture::Save save_of(const SaveOfPart& of, const io::Input& input, size_t index, Picture& picture,
                      const NamingTask& task) {
  const PlanSave& save = of.save;
  const auto name = io::NameTemplate::parse(
      input.frame ? io::with_frame_field(save.name_template) : save.name_template, "save");
  const ImageType& type = plans_of(picture)[of.part]->values[save.value].type;
  const std::vector<int> all = picture.pages_before(of.part).numbers;
  const io::OutputType output =
      io::output_type(picture.info, type, io::written_format(save.name_template), task.options.cls);
  check_half(task, input, output.format);
  const std::string extension = io::output_extension(input.path, output, type.channels);
  Picture::Save out{.format = output.format, .apart = name.has_page(), .files = {}};
  const std::vector<int> pages = out.apart || all.size() == 1 ? all : std::vector<int>{0};
  for (const int page : pages) {
    out.files.emplace_back(
        name.expand(fields_of_page(input, extension, index, picture, of.part, page)));
  }
  if (picture.stream) {
    picture.stream->saves.push_back({name, io::fields_of(input, extension, index)});
  }
  std::string what;
  if (picture.stream && !out.apart) what = "is a stream of frames";
  const bool are_its_own = picture.pages && all == picture.pages->numbers;
  const bool holds = are_its_own ? io::writes_pages(out.format) : holds_any_pages(out.format);
  if (all.size() > 1 && !out.apart && !holds) {
    what = "has " + std::to_string(are_its_own ? picture.info->pages : std::ssize(all)) + " pages";
  }
  if (!what.empty()) {
    picture.failure.reset(
        new Picture::Failure{"plan", "it " + what + ", and '" + save.name_template +
                                         "' of `save` is one " + std::string(name_of(out.format)) +
                                         "; save '{stem}_{page}." + extension + "' names each"});
  }
  return out;
}

// Sets `saves` of each picture. Throws Error in a sandbox for what check_save refuses.
void name_saves(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                const NamingTask& task) {
  for (size_t i = 0; i < pictures.size(); ++i) {
    Picture& picture = pictures[i];
    if (!picture.program || saves_of(picture).empty()) continue;
    picture.saves = std::make_unique<std::vector<Picture::Save>>();
    if (picture.stream) picture.stream->saves.clear();
    for (const SaveOfPart& save : saves_of(picture)) {
      picture.saves->push_back(save_of(save, inputs[i], i, picture, task));
      if (!task.options.sandbox.on) continue;
      for (const fs::path& file : picture.saves->back().files) {
        check_save(task.pipeline, save.save.stage, file, task.target);
      }
    }
  }
}

// Several pictures follow each other on stdout only in formats whose readers go on after the first.
void check_stdout(const std::vector<Picture>& pictures) {
  const bool streams = std::ranges::any_of(
      pictures, [](const Picture& picture) { return picture.stream != nullptr; });
  if (pictures.size() < 2 && !streams) return;
  for (const Picture& picture : pictures) {
    const io::Format format = picture.output_format;
    if (!picture.program || format == io::Format::npy || format == io::Format::pnm ||
        io::writes_stream(format)) {
      continue;
    }
    throw Error("-o -: " +
                (streams ? std::string("a stream of pictures")
                         : std::to_string(pictures.size()) + " pictures") +
                ", and stdout is one " + std::string(name_of(format)) +
                "; --format y4m, raw, npy and ppm hold several, -o FOLDER takes each");
  }
}

// A stream goes into a stream, or each of its frames into a file of its own.
void name_frames(const io::Input& input, size_t index, Picture& picture,
                 const std::string& extension, const NamingTask& task) {
  const io::OutputTarget* target = task.target;
  std::string why;
  if (target != nullptr && target->kind == Kind::in_place) {
    why = "it is a stream of frames, which --in-place cannot replace; give -o";
  } else if (target != nullptr && target->name && target->name->has_page()) {
    picture.stream->output = {*target->name, io::fields_of(input, extension, index)};
    picture.output = picture.stream->output->of(1);
  } else if (target != nullptr && target->kind != Kind::standard_output &&
             !io::writes_stream(picture.output_format)) {
    why = "it is a stream of frames, and " + std::string(name_of(picture.output_format)) +
          " holds one picture; -o '{stem}_{page}." + extension +
          "' names each, --format y4m keeps them together";
  } else {
    picture.joined = target != nullptr;
  }
  if (!why.empty()) picture.failure.reset(new Picture::Failure{"plan", why});
}

// The one image of all pages of a file.
void name_projection(const io::Input& input, size_t index, Picture& picture,
                     const std::string& extension, const NamingTask& task) {
  const io::OutputTarget* target = task.target;
  if (target == nullptr) return;
  if (target->kind == Kind::in_place && picture.info->pages > 1) {
    picture.failure.reset(new Picture::Failure{
        "plan", "it has " + std::to_string(picture.info->pages) +
                    " pages, and --in-place would leave the one image that is made of them"});
  } else if (target->name && target->name->has_page()) {
    picture.output = target->name->expand(io::fields_of(input, extension, index, 0));
  }
}

bool is_one_name(const io::OutputTarget& target) {
  return target.kind == Kind::name_template && !target.name->has_fields() &&
         !target.name->has_page();
}

// Whether several results are written into one file, one behind the other.
bool is_one_stream(const io::OutputTarget& target) {
  return target.kind == Kind::standard_output ||
         (is_one_name(target) && target.format && io::writes_stream(*target.format));
}

// Whether the results of several files are the pages of one.
bool is_one_file_of_pages(const std::vector<Picture>& pictures, const io::OutputTarget& target) {
  if (pictures.size() < 2 || !is_one_name(target)) return false;
  return std::ranges::all_of(pictures, [](const Picture& picture) {
    return !picture.program ||
           (picture.last_part().plan.writes_image && holds_any_pages(picture.output_format));
  });
}

// Why pages can't go along the axis that a stage names; empty where they can.
std::string why_not_along(const Picture& picture) {
  const std::vector<const Program*> parts = picture.parts();
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const Plan& plan = parts[i]->plan;
    std::string why = why_not_along(parts[i]->then->reduction, picture.pages_before(i),
                                    plan.values[plan.result].type.channels);
    if (!why.empty()) return why;
  }
  return "";
}

// Why results whose pages are not those of the file have no names; empty where they have, or are no
// such.
std::string why_not_resized(const Picture& picture, const NamingTask& task) {
  const std::int64_t pages = picture.pages ? std::ssize(picture.pages->numbers) : 1;
  const std::int64_t made = std::ssize(picture.pages_before(picture.parts().size() - 1).numbers);
  if (made == pages || task.target == nullptr || picture.has_one_result()) return "";
  const bool names_pages = task.target->name && task.target->name->has_page();
  const bool holds = holds_any_pages(picture.output_format);
  const bool in_place = task.target->kind == Kind::in_place;
  const bool on_stdout = picture.joined && task.target->kind == Kind::standard_output;
  if (names_pages ? picture.pages != nullptr : holds && !in_place && !on_stdout) return "";
  return "its " + std::to_string(pages) + " pages become " + std::to_string(made) +
         (in_place ? ", which --in-place does not replace; give -o"
          : on_stdout
              ? ", and stdout takes one of each of several inputs"
              : ", which one " + std::string(name_of(picture.output_format)) +
                    " does not hold; TIFF, NPY, FITS and Zarr do, and so do names with {page}");
}

// Where each page goes: into a file of its own where the template names pages, else into one file.
// What cannot hold them fails alone.
void name_pages(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                std::span<const std::string> extensions, const NamingTask& task) {
  const io::OutputTarget* target = task.target;
  for (size_t i = 0; i < pictures.size(); ++i) {
    Picture& picture = pictures[i];
    if (!picture.failure && picture.stream) {
      name_frames(inputs[i], i, picture, extensions[i], task);
    }
    if (!picture.failure && picture.program) {
      std::string why = why_not_along(picture);
      if (why.empty()) why = why_not_resized(picture, task);
      if (!why.empty()) picture.failure.reset(new Picture::Failure{"plan", why});
    }
    if (picture.failure || !picture.pages) continue;
    const size_t last = picture.parts().size() - 1;
    const std::vector<int> pages = picture.pages_before(last).numbers;
    const bool names_pages = target != nullptr && target->name && target->name->has_page();
    if (picture.has_one_result()) {
      name_projection(inputs[i], i, picture, extensions[i], task);
      continue;
    }
    picture.pages->apart = names_pages;
    const auto name_of_page = [&](int page) {
      return target->name->expand(fields_of_page(inputs[i], extensions[i], i, picture, last, page));
    };
    if (names_pages && pages.size() > 1) {
      for (const int page : pages) picture.pages->outputs.push_back(name_of_page(page));
    } else if (names_pages) {
      picture.output = name_of_page(pages.front());
    }
    const Plan& plan = picture.last_part().plan;
    const bool is_table = !plan.writes_image && last_table(plan) != nullptr;
    const std::string count = "it has " + std::to_string(picture.info->pages) + " pages, and ";
    std::string why;
    if (picture.joined && pages.size() > 1 && target->kind == Kind::standard_output &&
        !io::writes_stream(picture.output_format)) {
      why = count +
            "stdout takes one of each of several inputs; --pages takes some, project makes one of "
            "them";
    } else if (target != nullptr && target->kind == Kind::in_place &&
               (pages.size() + picture.pages->others.size() <
                    static_cast<size_t>(picture.info->pages) ||
                !io::writes_pages(picture.output_format))) {
      why = count + "--in-place would not keep all of them";
    } else if (target != nullptr && pages.size() > 1 && picture.pages->outputs.empty() &&
               (!io::writes_pages(picture.output_format) || is_table)) {
      const std::string table = fs::path(picture.output).extension().string();
      const bool is_file = is_table && !table.empty();
      why = count +
            (is_file ? table + " holds the rows of one"
                     : std::string(name_of(picture.output_format)) + " holds one") +
            "; -o '{stem}_{page}" + (is_file ? table : "." + extensions[i]) +
            "' names each, --pages takes some";
    }
    if (!why.empty()) picture.failure.reset(new Picture::Failure{"plan", why});
  }
}

// Throws Error (usage) for a result that would lie outside of the folder that its -o or `save`
// begins with: there nothing is replaced that the user has not named.
class Bounds {
 public:
  Bounds(std::span<const io::Input> inputs, const std::vector<Picture>& pictures,
         const io::OutputTarget* target)
      : inputs_(inputs), pictures_(pictures), target_(target) {}

  void check() {
    for (size_t i = 0; i < pictures_.size(); ++i) {
      check_outputs(i);
      check_saves(i);
    }
  }

 private:
  void check_outputs(size_t i) {
    const Picture& picture = pictures_[i];
    if (target_ == nullptr || picture.failure) return;
    std::string root, origin;
    if (target_->name) {
      root = target_->name->root(io::fields_of(inputs_[i], "", i));
      origin = "-o '" + target_->name->text() + "'";
    } else if (target_->kind == Kind::folder) {
      root = (target_->folder / "").string();
      origin = "-o '" + target_->folder.string() + "'";
    } else {
      return;
    }
    check(i, picture.output, root, origin);
    if (!picture.pages) return;
    for (const std::string& page : picture.pages->outputs) check(i, page, root, origin);
  }

  void check_saves(size_t i) {
    const Picture& picture = pictures_[i];
    if (!picture.saves) return;
    for (size_t k = 0; k < picture.saves->size(); ++k) {
      const std::string& text = saves_of(picture)[k].save.name_template;
      const std::string root =
          io::NameTemplate::parse(text, "save").root(io::fields_of(inputs_[i], "", i));
      for (const fs::path& file : (*picture.saves)[k].files) {
        check(i, file.string(), root, "save '" + text + "'");
      }
    }
  }

  void check(size_t i, const std::string& path, const std::string& root,
             const std::string& origin) {
    if (path.empty() || path == "-") return;
    const std::string why = bounds_.why_outside(path, root);
    if (why.empty()) return;
    throw Error(origin + " would write the result of '" + pictures_[i].path + "' to '" + path +
                "', outside of " + (root.empty() ? "this folder" : "'" + root + "'") + ": " + why +
                "; give a name that begins with the folder it is to be in");
  }

  std::span<const io::Input> inputs_;
  const std::vector<Picture>& pictures_;
  const io::OutputTarget* target_;
  io::ResultBounds bounds_;
};

// Finds collisions among all that a run writes and reads.
class Guard {
 public:
  Guard(std::span<const io::Input> inputs, const std::vector<Picture>& pictures,
        const NamingTask& task)
      : inputs_(inputs), pictures_(pictures), task_(task) {}

  void check() {
    for (const RunOptions::OtherFile& file : task_.options.other_files) {
      if (file.written) add(file.path, other_writer(file));
    }
    for (size_t i = 0; i < pictures_.size(); ++i) add_results(i);
    for (const RunOptions::OtherFile& file : task_.options.other_files) {
      if (!file.written) look_at(file.path, "'" + file.path + "' of " + file.option);
    }
    for (const std::string& path : read_files(task_.pipeline)) {
      look_at(path, "'" + path + "', which the pipeline reads");
    }
    for (size_t i = 0; i < pictures_.size(); ++i) look_at_what_is_read(i);
  }

 private:
  // A number for who writes a file: the picture's result, one of its saves, or another file of the
  // run, such as that of --errors.
  enum class What { output, save, other };
  static std::int64_t writer(size_t index, What what) {
    return static_cast<std::int64_t>(index) * 3 + static_cast<int>(what);
  }
  static size_t index_of(std::int64_t writer) { return static_cast<size_t>(writer) / 3; }
  static What what_of(std::int64_t writer) { return static_cast<What>(writer % 3); }
  std::int64_t other_writer(const RunOptions::OtherFile& file) const {
    return writer(static_cast<size_t>(&file - task_.options.other_files.data()), What::other);
  }
  bool in_place() const { return task_.target != nullptr && task_.target->kind == Kind::in_place; }

  std::string name_of(std::int64_t writer) const {
    const size_t index = index_of(writer);
    switch (what_of(writer)) {
      case What::output: return "the output of '" + pictures_[index].path + "'";
      case What::save: return "what `save` writes of '" + pictures_[index].path + "'";
      case What::other: break;
    }
    const RunOptions::OtherFile& file = task_.options.other_files[index];
    return "'" + file.path + "' of " + file.option;
  }

  void add(const fs::path& path, std::int64_t writer) {
    const auto other = names_.add(path, writer);
    if (!other) return;
    throw Error(name_of(*other) + " and " + name_of(writer) + " would both be written to '" +
                path.string() + "'" + advice_on(*other, writer, path));
  }

  // A template for `save` that keeps the two apart; one of them is a save.
  std::string advice_on(std::int64_t one, std::int64_t two, const fs::path& path) const {
    if (what_of(one) == What::other || what_of(two) == What::other) return "";
    if (index_of(one) == index_of(two)) return "; give them different names";
    if (path == "-") return "; save to a file, such as '{stem}.png'";
    const Picture& picture = pictures_[index_of(what_of(two) == What::save ? two : one)];
    const auto save = std::ranges::find_if(*picture.saves, [&](const Picture::Save& written) {
      return std::ranges::find(written.files, path) != written.files.end();
    });
    if (save == picture.saves->end()) return "";
    const auto number = static_cast<size_t>(save - picture.saves->begin());
    std::string text = saves_of(picture)[number].save.name_template;
    const bool has_fields = io::NameTemplate::parse(text, "save").has_fields();
    const size_t slash = text.rfind('/');
    text.insert(slash == text.npos ? 0 : slash + 1, has_fields ? "{index:05}_" : "{stem}_");
    return "; save '" + text + "' keeps them apart";
  }

  // In place one file may have several names; each would be replaced.
  void add_results(size_t i) {
    const Picture& picture = pictures_[i];
    if (in_place()) {
      if (const auto other = names_.replacing(picture.output)) {
        throw Error("--in-place: '" + pictures_[index_of(*other)].path + "' and '" + picture.path +
                    "' are the same file");
      }
    }
    if (picture.pages && !picture.pages->outputs.empty()) {
      for (const std::string& path : picture.pages->outputs) add(path, writer(i, What::output));
    } else if (!picture.output.empty()) {
      add_once(picture.output, writer(i, What::output));
    }
    if (!picture.saves) return;
    for (const Picture::Save& save : *picture.saves) {
      for (const fs::path& file : save.files) add_once(file, writer(i, What::save));
    }
  }

  // Results to stdout follow each other; those of `save` have no order among them.
  void add_once(const fs::path& path, std::int64_t writer) {
    if (path != "-") {
      const bool joined = what_of(writer) == What::output && pictures_[index_of(writer)].joined;
      if (!joined || !std::exchange(has_joined_[path.string()], true)) add(path, writer);
      return;
    }
    const What what = what_of(writer);
    if (stdout_writer_ && (what == What::save || what_of(*stdout_writer_) == What::save)) {
      throw Error(name_of(*stdout_writer_) + " and " + name_of(writer) +
                  " would both be written to stdout" + advice_on(*stdout_writer_, writer, path));
    }
    stdout_writer_ = writer;
  }

  void look_at_what_is_read(size_t i) {
    const io::Input& input = inputs_[i];
    const bool is_file = !input.is_stdin && !task_.pipeline.has_source();
    if (is_file) look_at(input.path, "the input '" + input.path.string() + "'", i);
    if (!pictures_[i].partners) return;
    for (size_t k = 0; k < pictures_[i].partners->paths.size(); ++k) {
      const fs::path& path = pictures_[i].partners->paths[k];
      look_at(path, "'" + path.string() + "' of --with " + task_.operands[k]->name());
    }
  }

  // Throws when something is to be written where `path` is read; `input` is the one it belongs to.
  void look_at(const fs::path& path, const std::string& what, std::optional<size_t> input = {}) {
    if (path.empty() || path == "-") return;
    const auto found = names_.replacing(path);
    if (!found) return;
    const bool is_output = what_of(*found) == What::output;
    if (in_place() && is_output && input) return;  // as was asked for
    std::string message = name_of(*found) + " would replace " + what;
    const fs::path written = path_of(*found, path);
    if (!written.empty()) message += ", which is '" + written.string() + "' too";
    if (what_of(*found) == What::save) {
      message += "; choose another name for `save`";
    } else if (is_output) {
      message += in_place() ? "; give -o instead of --in-place" : "; choose another -o";
      if (input && !in_place()) message += ", or --in-place";
    }
    throw Error(message);
  }

  // The name by which the writer has this file, when that is another spelling.
  fs::path path_of(std::int64_t writer, const fs::path& read) const {
    const auto differs = [&](const fs::path& path) {
      return path.lexically_normal() != read.lexically_normal();
    };
    if (what_of(writer) == What::other) return {};
    const Picture& picture = pictures_[index_of(writer)];
    if (what_of(writer) == What::output) {
      return differs(picture.output) ? fs::path(picture.output) : fs::path();
    }
    io::WrittenNames alone;
    for (const Picture::Save& save : *picture.saves) {
      for (const fs::path& file : save.files) {
        alone.add(file, 0);
        if (alone.replacing(read)) return differs(file) ? file : fs::path();
      }
    }
    return {};
  }

  std::span<const io::Input> inputs_;
  const std::vector<Picture>& pictures_;
  const NamingTask& task_;
  io::WrittenNames names_;
  std::optional<std::int64_t> stdout_writer_;
  std::map<std::string, bool> has_joined_;  // by the name of what results follow each other in
};

void refuse_unreplaceable(std::vector<Picture>& pictures) {
  for (Picture& picture : pictures) {
    if (picture.failure) continue;
    const std::string why = io::why_not_replaceable(picture.path);
    if (why.empty()) continue;
    picture.failure.reset(new Picture::Failure{"encode", "--in-place cannot replace it: " + why});
  }
}

// The target where frames are inputs: in out.####.png each has its number.
std::optional<io::OutputTarget> target_of_frames(std::span<const io::Input> inputs,
                                                 const io::OutputTarget* target) {
  const bool are_frames =
      std::ranges::all_of(inputs, [](const io::Input& in) { return in.frame.has_value(); });
  if (target == nullptr || !target->name || !are_frames) return {};
  std::optional<io::OutputTarget> out(*target);
  out->name = io::NameTemplate::parse(io::with_frame_field(target->name->text()));
  return out;
}

}  // namespace

bool takes_results_in_turn(const io::OutputTarget& target) {
  if (!target.format) return false;
  return io::writes_stream(*target.format) ? is_one_stream(target)
                                           : is_one_name(target) && holds_any_pages(*target.format);
}

std::string name_outputs(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                         const NamingTask& given) {
  const std::optional<io::OutputTarget> of_frames = target_of_frames(inputs, given.target);
  const NamingTask task{of_frames ? &*of_frames : given.target, given.pipeline, given.operands,
                        given.options};
  std::string note;
  std::vector<std::string> extensions(pictures.size());
  if (task.target != nullptr) {
    extensions = extensions_of(inputs, pictures, task);
    if (task.target->kind == Kind::standard_output) check_stdout(pictures);
    io::OutputTarget target = *task.target;
    target.joins_pages = is_one_file_of_pages(pictures, target);
    io::PlannedOutputs outputs = io::plan_outputs(inputs, extensions, target);
    for (size_t i = 0; i < pictures.size(); ++i) pictures[i].output = outputs.paths[i].string();
    note = std::move(outputs.note);
    if (is_one_stream(target) || target.joins_pages) {
      const bool alone = pictures.size() == 1 && task.target->kind != Kind::standard_output;
      if (!alone && task.options.update) {
        throw Error("-u looks at files, and here several results go to '" +
                    pictures.front().output + "'");
      }
      for (Picture& picture : pictures) picture.joined = !alone;
    }
    if (task.target->kind == Kind::in_place) refuse_unreplaceable(pictures);
  }
  name_saves(inputs, pictures, task);
  name_pages(inputs, pictures, extensions, task);
  Bounds(inputs, pictures, task.target).check();
  Guard(inputs, pictures, task).check();
  return note;
}

void sweep_folders(const std::vector<Picture>& pictures, bool in_place,
                   std::set<std::string>& swept) {
  std::set<std::string> folders;
  std::error_code error;
  const auto add = [&](const fs::path& path) {
    if (path.empty() || path == "-") return;
    const bool link = in_place && fs::is_symlink(path, error);  // its file is what is written
    const fs::path folder = (link ? fs::weakly_canonical(path, error) : path).parent_path();
    folders.insert(folder.empty() ? "." : folder.string());
  };
  for (const Picture& picture : pictures) {
    add(picture.output);
    if (picture.pages) {
      for (const std::string& path : picture.pages->outputs) add(path);
    }
    if (!picture.saves) continue;
    for (const Picture::Save& save : *picture.saves) {
      for (const fs::path& file : save.files) add(file);
    }
  }
  for (const std::string& folder : folders) {
    if (swept.insert(folder).second) io::sweep_stale_temporaries(folder);
  }
}

}  // namespace impipe::engine
