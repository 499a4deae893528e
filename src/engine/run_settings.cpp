// Options as what the work on every file reads of them.
#include "engine/run_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/fnv.hpp"
#include "core/object_table.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/batch/object_text.hpp"
#include "io/formats.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/picture/value_window.hpp"

namespace impipe::engine {
namespace {

// A hash of the program's version, the pipeline with the files that it reads, and the options that
// decide what results are.
std::string maker_of(const RunOptions& options, const pipeline::Pipeline& pipeline,
                     std::span<const std::string> files) {
  std::string text = IMPIPE_VERSION;
  const auto add = [&](std::string_view word) { (text += '\0') += word; };
  for (const pipeline::BoundStage& stage : pipeline.stages) add(stage.text);
  for (const std::string& file : files) add(file);
  for (const auto* words : {&options.with, &options.channels, &options.parts}) {
    for (const std::string& word : *words) add(word);
    add("");
  }
  add(options.cls ? name_of(*options.cls) : "");
  add(options.frame_rate);
  add(options.axes);
  const auto& subsampling = options.subsampling.value_or(std::array<int, 2>{});
  for (const int number :
       {options.matrix, options.half ? 1 : 0, options.quality.value_or(-1),
        options.lossless ? 1 : 0, subsampling[0], subsampling[1], options.strip ? 1 : 0}) {
    add(std::to_string(number));
  }
  for (const PageRange& range : options.pages) {
    add("pages " + std::to_string(range.first) + "-" + std::to_string(range.last));
  }
  if (options.shrink_on_load) add("shrink on load");
  if (!options.window.empty()) add("window " + options.window);
  if (options.by_opencv) add("opencv");
  if (options.zarr_version != 0) add("zarr " + std::to_string(options.zarr_version));
  if (options.chunk != 0) add("chunk " + std::to_string(options.chunk));
  if (options.tiff_storage != io::TiffStorage::usual) {
    add("TIFF " + std::to_string(static_cast<int>(options.tiff_storage)));
  }
  if (options.compression != io::Compression::as_input) {
    add("compression " + std::to_string(static_cast<int>(options.compression)));
  }
  return fmt::format("{:016x}", fnv1a(text));
}

io::YcbcrMatrix matrix_of(const RunOptions& options) {
  return options.matrix == 601   ? io::YcbcrMatrix::bt601
         : options.matrix == 709 ? io::YcbcrMatrix::bt709
                                 : io::YcbcrMatrix::bt2020;
}

// Whether there is a file alone, or none: of a pipeline that makes its image.
bool is_one_file(const RunOptions& options) {
  if (!options.files_from.empty() || !options.watch.empty() || options.inputs.size() > 1) {
    return false;
  }
  if (options.inputs.empty() || options.inputs.front() == "-") return true;
  std::error_code ignored;
  const auto kind = std::filesystem::status(options.inputs.front(), ignored).type();
  return kind != std::filesystem::file_type::directory &&
         kind != std::filesystem::file_type::not_found;
}

}  // namespace

std::vector<std::string> read_files(const pipeline::Pipeline& pipeline) {
  std::vector<std::string> files;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    if (!stage.call) continue;
    for (const Parameter& parameter : stage.call->op().parameters) {
      const std::string& path = stage.call->value(parameter.name).path;
      if (!path.empty()) files.emplace_back(path);
    }
    if (stage.call->op().files == nullptr) continue;
    for (std::string& file : stage.call->op().files(*stage.call)) files.push_back(std::move(file));
  }
  return files;
}

std::int64_t max_files(const RunOptions& options) {
  constexpr std::int64_t at_a_glance = 200;
  constexpr std::uintmax_t large = 512 << 20;  // bytes
  std::uintmax_t bytes = 0;
  if (!options.files_from.empty() || !options.watch.empty() || options.recursive) return 0;
  std::int64_t count = options.inputs.empty() ? 1 : 0;
  for (const std::string& input : options.inputs) {
    std::error_code error;
    const auto kind = std::filesystem::status(input, error).type();
    if (kind == std::filesystem::file_type::regular) {
      ++count;
      bytes += std::filesystem::file_size(input, error);
    } else if (kind == std::filesystem::file_type::directory) {
      std::filesystem::directory_iterator at(input, error);
      for (; !error && at != std::filesystem::directory_iterator() && count <= at_a_glance;
           at.increment(error)) {
        ++count;
      }
      if (error) return 0;
    } else {  // a pattern, a range of frames, a pipe
      return 0;
    }
    if (count > at_a_glance || bytes > large) return 0;
  }
  return count;
}

std::optional<io::OutputTarget> target_of(const RunOptions& options) {
  std::optional<io::Format> format;
  if (!options.format.empty()) {
    format = io::written_format(options.format);
    if (!format) {
      throw Error("--format: '" + options.format + "' is no known format; there are " +
                  io::written_extensions());
    }
  }
  if (options.output.empty() && !options.in_place) return std::nullopt;
  io::OutputTarget target = io::parse_target(options.output, options.in_place, format);
  if (target.kind == io::OutputTarget::Kind::folder && format && is_one_file(options) &&
      io::is_meant_as_file(target.folder)) {
    target.kind = io::OutputTarget::Kind::name_template;
    target.name = io::NameTemplate::parse(options.output);
  }
  return target;
}

std::string last_operator(const pipeline::Pipeline& pipeline) {
  for (auto stage = pipeline.stages.rbegin(); stage != pipeline.stages.rend(); ++stage) {
    if (stage->call) return std::string(stage->call->op().name);
  }
  return "";
}

void check_target(const io::OutputTarget* target, const Plan& plan,
                  const pipeline::Pipeline& pipeline, const RunOptions& options) {
  if (plan.writes_image) {
    if (target == nullptr && !options.dry_run && !options.hash) {
      throw Error(
          "the result is an image, and nothing says where it goes: give -o FOLDER, "
          "-o FILE.png, -o - for stdout, or --in-place");
    }
    if (target != nullptr && !target->format && table_format(*target)) {
      throw Error("-o '" + target->name->text() +
                  "' names a table of measurements, and the result is an image; give -o FILE.png, "
                  "or --format EXT for files of any name");
    }
    const bool folder = target != nullptr && target->kind == io::OutputTarget::Kind::folder;
    if (folder && options.format.empty() && is_one_file(options)) {
      io::check_folder_of_one(target->folder);
    }
  } else if (target != nullptr && last_table(plan) != nullptr && table_format(*target)) {
    if (table_format(*target) == TableFormat::geojson &&
        !has_outlines(columns_of(*last_table(plan)->objects))) {
      throw Error("GeoJSON holds outlines, and the table of " + last_table(plan)->name +
                  " has none; write it with -o '{stem}.csv', '{stem}.tsv' or '{stem}.json'");
    }
  } else if (target != nullptr && target->format != io::Format::npy) {
    throw Error(
        "the pipeline ends in " + last_operator(pipeline) +
        ", a measurement: there is no image to write; leave -o out and rows go to stdout (--csv, "
        "--json), or write the numbers with -o '{stem}.npy'" +
        (last_table(plan) != nullptr ? ", '{stem}.csv', '{stem}.tsv' or '{stem}.json'" : ""));
  }
}

void check_in_place(const RunOptions& options, const pipeline::Pipeline& pipeline) {
  if (!options.in_place) return;
  if (pipeline.has_source()) {
    throw Error("--in-place replaces the inputs, and a pipeline that makes its image has none");
  }
  // The result is always there, and as new as its input: it is the input.
  if (options.update) throw Error("--in-place and -u exclude each other");
  if (options.no_clobber) throw Error("--in-place and --no-clobber exclude each other");
}

void fill_settings(PictureSettings& settings, const RunOptions& options,
                   const pipeline::Pipeline& pipeline, std::int64_t memory) {
  io::check_axes(options.axes);
  io::check_window(options.window);
  settings.operands = parse_operands(options.with, pipeline.operands);
  settings.decode = {
      .max_pixels = options.max_pixels,
      .metadata = !options.strip,
      .profile = options.strip || pipeline.reads_profile(),
      .page = {},
      .reading = {options.channels, options.axes, options.window, pipeline.converts_colours()},
      .matrix = matrix_of(options),
      .by_opencv = options.by_opencv};
  settings.encode.matrix = settings.decode.matrix;
  settings.encode.frame_rate = options.frame_rate;
  settings.encode.quality = options.quality.value_or(settings.encode.quality);
  settings.encode.lossless = options.lossless;
  settings.encode.compression = options.compression;
  settings.encode.lossy = options.quality && !options.lossless;
  settings.encode.asked = options.cls;
  const bool full = options.cls == PixelClass::single || options.cls == PixelClass::uint16;
  settings.encode.exr_floats = options.half ? io::ExrFloats::half
                               : full       ? io::ExrFloats::full
                                            : io::ExrFloats::as_input;
  settings.encode.subsampling = options.subsampling;
  settings.encode.zarr_version = options.zarr_version;
  settings.encode.chunk = options.chunk;
  settings.encode.zarr_part = options.shard_by == ShardBy::chunks;
  if (settings.encode.zarr_part) {
    if (options.no_clobber) throw Error("--shard-by chunks and --no-clobber exclude each other");
    settings.part = options.shard_index;
    settings.parts = options.shard_count;
  }
  settings.encode.tiff_storage = options.tiff_storage;
  settings.by_frames = !pipeline.has_reduction();
  settings.shrink_on_load = options.shrink_on_load && !options.by_opencv;
  settings.codec_place = options.codec_place;
  settings.pipes = memory;
  settings.memory = memory;
  settings.scratch = options.scratch;
  settings.in_place = options.in_place;
  settings.cls = options.cls;
  settings.dry_run = options.dry_run;
  settings.update = options.update;
  if (options.sync) settings.disks = std::make_unique<io::UnsyncedDisks>();
  const std::vector<std::string> files = read_files(pipeline);
  settings.maker = maker_of(options, pipeline, files);
  for (const std::string& file : files) {
    settings.pipeline_files.emplace_back(file);
    settings.pipeline_stamps.push_back(io::stamp_of(settings.pipeline_files.back()));
  }
  settings.no_clobber = options.no_clobber;
  settings.strict = options.session.strict;
  settings.hash = options.hash;
  settings.stop = options.stop;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    settings.stage_texts.push_back(stage.text);
  }
  settings.max_memory = 2 * static_cast<double>(default_memory());
}

}  // namespace impipe::engine
