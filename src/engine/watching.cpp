#include "engine/watching.hpp"

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;
using Kind = io::OutputTarget::Kind;

// Of a picture that might come.
io::NameFields sample_fields(const RunOptions& options, std::int64_t index = 1) {
  return {.input = fs::path(options.watch) / "x.png",
          .extension = "png",
          .index = index,
          .frame = 1,
          .page = 1};
}

// Names have to be the same when the watch starts again, and to be apart.
void check_template(const std::string& origin, const io::NameTemplate& name,
                    const RunOptions& options) {
  if (!name.has_fields()) {
    throw Error("--watch: " + origin + " '" + name.text() +
                "' is one file for all that come; put {stem} or {name} into it, or give a folder");
  }
  if (name.expand(sample_fields(options, 1)) != name.expand(sample_fields(options, 2))) {
    throw Error("--watch: {index} in " + origin + " '" + name.text() +
                "' would be another number when the watch starts again; {stem}, {name} and "
                "{frame} stay");
  }
}

// What all that is to be made has in common, over the results of a picture.
template <class Visit>
void each_result(Picture& picture, const Visit& visit) {
  if (picture.pages && !picture.pages->outputs.empty()) {
    for (const std::string& output : picture.pages->outputs) visit(output);
  } else if (!picture.output.empty() && picture.output != "-") {
    visit(picture.output);
  }
  if (!picture.saves) return;
  for (const Picture::Save& save : *picture.saves) {
    for (const fs::path& file : save.files) {
      if (file != "-") visit(file.string());
    }
  }
}

}  // namespace

void check_watch_options(const RunOptions& options, const pipeline::Pipeline& pipeline,
                         const io::OutputTarget* target) {
  if (pipeline.has_source()) {
    throw Error("--watch: the pipeline makes its own image, and takes none that comes");
  }
  if (!options.inputs.empty()) {
    throw Error("--watch takes the place of inputs, and '" + options.inputs.front() +
                "' is one; one folder is watched, with -r all below it");
  }
  if (!options.files_from.empty()) throw Error("--watch and --files-from exclude each other");
  if (!options.frames.empty()) throw Error("--watch and --frames exclude each other");
  if (options.in_place) {
    throw Error("--watch and --in-place exclude each other: each result would come as a new file");
  }
  if (options.profile) {
    throw Error(
        "--watch: there are no times of a run without an end; leave --profile and --trace "
        "out");
  }
  if (options.shard_count > 1 && options.shard_by != ShardBy::name) {
    throw Error(
        "--watch: nobody knows the order or the sizes of what will come; give --shard-by "
        "name with --shard");
  }
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    if (stage.save_template.empty() || stage.save_template == "-") continue;
    check_template("save", io::NameTemplate::parse(stage.save_template, "save"), options);
  }
  if (target == nullptr) return;
  if (target->name) check_template("-o", *target->name, options);
  if (target->kind == Kind::standard_output && target->format != io::Format::npy &&
      target->format != io::Format::pnm) {
    throw Error(
        "--watch: pictures follow each other on stdout in formats that hold several; give "
        "--format npy or --format ppm with -o -");
  }
}

void check_feeding(const io::Watch& watch, const RunOptions& options,
                   const pipeline::Pipeline& pipeline, const io::OutputTarget* target) {
  const auto check = [&](const std::string& origin, const fs::path& result) {
    if (!watch.covers(result)) return;
    throw Error("--watch: " + origin + " puts results into the watched folder '" + options.watch +
                "', and they would come as new pictures; choose a folder outside of it");
  };
  if (target != nullptr && target->kind == Kind::folder) {
    check("-o " + target->folder.string(), target->folder / "x.png");
  }
  if (target != nullptr && target->name) {
    check("-o '" + target->name->text() + "'", target->name->expand(sample_fields(options)));
  }
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    if (stage.save_template.empty() || stage.save_template == "-") continue;
    const auto name = io::NameTemplate::parse(stage.save_template, "save");
    check("save '" + name.text() + "'", name.expand(sample_fields(options)));
  }
  for (const RunOptions::OtherFile& file : options.other_files) {
    if (!file.written || !watch.covers(file.path) || !io::is_picture_file(file.path)) continue;
    throw Error("--watch: '" + file.path + "' of " + file.option +
                " lies in the watched folder, and would be taken for a picture");
  }
}

// How much will come nobody knows. A start that pays within a thousand times what is there does.
WorkCost cost_of_watch(WorkCost first) {
  constexpr double times = 1000;
  for (double WorkCost::*part :
       {&WorkCost::units, &WorkCost::launches, &WorkCost::transfer_bytes, &WorkCost::images,
        &WorkCost::file_seconds, &WorkCost::file_seconds_beside_gpu, &WorkCost::coded_pixels}) {
    first.*part *= times;
  }
  return first;
}

std::string WatchedNames::settle(WorkList& work, const NamingTask& task) {
  std::string note;
  try {
    note = name_outputs(work.inputs, work.pictures, task);
  } catch (const Error&) {  // some picture's, or some together
    for (size_t i = 0; i < work.pictures.size(); ++i) {
      Picture& picture = work.pictures[i];
      picture.output.clear();
      picture.saves.reset();
      if (picture.pages) picture.pages->outputs.clear();
      std::vector<Picture> alone;
      alone.push_back(std::move(picture));
      try {
        name_outputs({&work.inputs[i], 1}, alone, task);
      } catch (const Error& error) {
        alone.front().failure.reset(new Picture::Failure{"plan", error.what()});
      }
      picture = std::move(alone.front());
    }
  }
  for (Picture& picture : work.pictures) {
    if (!picture.failure) claim(picture);
  }
  forget_gone();
  return note;
}

void WatchedNames::claim(Picture& picture) {
  std::string why;
  each_result(picture, [&](const std::string& result) {
    if (why.empty()) why = why_not(result, picture.path);
  });
  if (!why.empty()) {
    picture.failure.reset(new Picture::Failure{"plan", why});
    return;
  }
  each_result(picture, [&](const std::string& result) { inputs_[result] = picture.path; });
}

// Why the result may not be written; empty when it may.
std::string WatchedNames::why_not(const std::string& result, const std::string& input) {
  if (watch_.covers(result)) {
    return "its result '" + result +
           "' would lie in the watched folder and come as a new picture; choose another -o";
  }
  const auto other = inputs_.find(result);
  std::error_code error;
  if (other == inputs_.end() || other->second == input || !fs::exists(other->second, error)) {
    return "";
  }
  return "'" + result + "' is the result of '" + other->second +
         "' already; -o 'FOLDER/{name}.EXT' keeps the two apart";
}

// A name is free again when its input is gone. Looked for now and then, since it takes time.
void WatchedNames::forget_gone() {
  if (inputs_.size() < enough_) return;
  std::erase_if(inputs_, [](const auto& one) {
    std::error_code error;
    return !fs::exists(one.second, error) && !error;
  });
  enough_ = 1000 + 2 * inputs_.size();
}

}  // namespace impipe::engine
