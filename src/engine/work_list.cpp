// Lists the inputs of a run, reads their headers and plans their pipelines.
#include "engine/work_list.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/frame_list.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "core/volume.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/file_cost.hpp"
#include "engine/output_names.hpp"
#include "engine/run_settings.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;

void fail(Picture& picture, const char* stage, const Error& error) {
  picture.failure.reset(new Picture::Failure{stage, error.what()});
}

// Takes no memory: there is none.
void fail_out_of_memory(Picture& picture) { picture.failure.reset(&Picture::out_of_memory); }

// The one work of a pipeline that makes its own image.
WorkList source_alone(const RunOptions& options, const pipeline::Pipeline& pipeline) {
  const std::string name(pipeline.stages.front().call->op().name);
  if (!options.frames.empty()) {
    throw Error("--frames selects among inputs, and the pipeline makes its own image, with " +
                name);
  }
  if (!options.inputs.empty() || !options.files_from.empty()) {
    throw Error("the pipeline makes its own image, with " + name + ", and takes no inputs");
  }
  WorkList work;
  work.inputs.push_back({.path = name, .relative = name});
  work.pictures.resize(1);
  work.pictures.front().path = name;
  return work;
}

void make_pictures(WorkList& work) {
  work.pictures.resize(work.inputs.size());
  for (size_t i = 0; i < work.inputs.size(); ++i) {
    Picture& picture = work.pictures[i];
    picture.path = work.inputs[i].path.string();
    picture.is_stdin = work.inputs[i].is_stdin;
    picture.missing_frame = work.inputs[i].missing_frame;
  }
}

// The numbers of the parts of these names.
std::vector<int> parts_named(const io::ImageInfo& info, const std::vector<std::string>& names) {
  std::vector<int> out;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(info.page_names, name);
    if (found == info.page_names.end()) {
      const std::string has =
          info.page_names.empty()
              ? "it has no parts"
              : fmt::format("it has no part {}, but {}", name, fmt::join(info.page_names, ", "));
      io::fail("--parts: ", has, did_you_mean(name, info.page_names));
    }
    out.push_back(static_cast<int>(found - info.page_names.begin()));
  }
  return out;
}

// Of so many pages those of the ranges, from 0, in the order in which they are named, each once;
// all of them without ranges.
std::vector<int> pages_in(const std::vector<PageRange>& ranges, int count) {
  std::vector<int> out;
  std::vector<bool> is_there(static_cast<std::size_t>(count));
  const std::vector<PageRange> all{{1, count}};
  for (const PageRange& range : ranges.empty() ? all : ranges) {
    for (int page = range.first; page <= std::min(range.last, count); ++page) {
      const auto at = static_cast<std::size_t>(page - 1);
      if (!is_there[at]) out.push_back(page - 1);
      is_there[at] = true;
    }
  }
  return out;
}

// Says which page --pages names twice, since it is taken once.
void note_repeated_page(std::vector<PageRange> ranges, Progress& progress) {
  std::ranges::sort(ranges, {}, &PageRange::first);
  int last = 0;
  for (const PageRange& range : ranges) {
    if (range.first <= last) {
      return progress.note("--pages names page " + std::to_string(range.first) +
                           " twice, and each is taken once");
    }
    last = std::max(last, range.last);
  }
}

// Which pages of a file are asked for, and what the first of them is.
void choose_pages(Picture& picture, const RunOptions& options, const io::Reading& reading,
                  ImageInfos& infos) {
  if (picture.stream) {  // whose frames are looked at as they come
    const auto is_before = [](const PageRange& a, const PageRange& b) { return b.first < a.first; };
    if (std::ranges::adjacent_find(options.pages, is_before) != options.pages.end()) {
      io::fail("--pages: frames of a stream come in their order, and are asked for in another");
    }
    return;
  }
  const int count = picture.info->pages;
  const std::vector<PageRange>& wanted = options.pages;
  const std::vector<int> chosen =
      options.parts.empty() ? picture.info->pictures : parts_named(*picture.info, options.parts);
  const bool keeps_others = wanted.empty() && !chosen.empty();
  std::vector<int> pages, others;
  if (keeps_others) {
    for (int page = 0; page < count; ++page) {
      (std::ranges::find(chosen, page) != chosen.end() ? pages : others).push_back(page);
    }
  } else {
    pages = pages_in(wanted, count);
  }
  if (pages.empty()) {
    if (count == 1) io::fail("it has one page, which --pages does not ask for");
    io::fail("it has ", count, " pages, none of which --pages asks for");
  }
  if (options.session.strict) {
    const std::string missing = missing_pages(options, count, "page");
    if (!missing.empty()) throw Error(missing);
  }
  if (count == 1 || !io::reads_pages(picture.info->format)) return;
  if (pages.front() != picture.info->page) {
    picture.info = infos.keep(picture.content ? io::probe(*picture.content, pages.front(), reading)
                                              : io::probe(picture.path, pages.front(), reading));
  }
  picture.pages = std::make_unique<Picture::Pages>(Picture::Pages{.numbers = std::move(pages),
                                                                  .others = std::move(others),
                                                                  .outputs = {},
                                                                  .axes = picture.info->axes});
}

// Reads the header of a picture, and of its partners.
void probe(Picture& picture, const io::Input& input, bool black, const RunOptions& options,
           const std::optional<MadeImage>& source, PictureSettings& settings, ImageInfos& infos) {
  if (source) {
    picture.info = infos.keep({.type = source->type, .stored = source->size, .detail = {}});
  } else if (picture.is_stdin || !picture.missing_frame || !black) {
    io::Bytes content;
    std::shared_ptr<io::FrameReader> frames;
    std::shared_ptr<io::FrameReader>* const reader = settings.by_frames ? &frames : nullptr;
    if (picture.is_stdin) {
      content = io::read_picture(STDIN_FILENO, settings.pipes, reader);
      picture.info = infos.keep(frames ? io::info_of(frames->header())
                                       : io::probe(content, {}, settings.decode.reading));
    } else {
      picture.info = infos.keep(
          io::probe(picture.path, content, settings.pipes, settings.decode.reading, reader));
    }
    if (!content.empty()) picture.content = std::make_unique<io::Bytes>(std::move(content));
    if (picture.info->format == io::Format::y4m && settings.by_frames) {
      if (picture.info->stored.pixels() > settings.decode.max_pixels) {
        io::fail("too many pixels: ", to_string(picture.info->stored),
                 " is more than the limit of ", settings.decode.max_pixels, " (--max-pixels)");
      }
      picture.stream = std::make_unique<Picture::Stream>();
      picture.stream->reader = std::move(frames);
    }
  }
  if (!source && !picture.missing_frame) {
    choose_pages(picture, options, settings.decode.reading, infos);
  }
  if (!settings.operands.empty()) picture.partners = std::make_unique<Picture::Partners>();
  for (const auto& operand : settings.operands) {
    std::vector<fs::path>& paths = picture.partners->paths;
    paths.push_back(operand->partner(input.relative));
    const io::ImageInfo info = operand->info(paths.back(), settings.pipes, settings.decode.reading);
    picture.partners->types[operand->name()] = info.type;
    picture.partners->sizes[operand->name()] = info.size();
    picture.partners->infos.push_back(infos.keep(info));
  }
}

// Reads what is known of a picture before it is decoded, into a copy of its own: a thread that
// hangs may come back when the picture was given up.
class Probing : public FileWork {
 public:
  using Probe = std::function<void(Picture&, const io::Input&)>;
  Probing(const Picture& picture, const io::Input& input, const Probe& probe)
      : input_(input), probe_(probe) {
    probed_.path = picture.path;
    probed_.is_stdin = picture.is_stdin;
    probed_.missing_frame = picture.missing_frame;
    probed_.is_new = picture.is_new;
  }
  std::optional<std::int64_t> prepare() override {
    const FileAtWork at_work(probed_.path.c_str());
    probe_(probed_, input_);
    return {};
  }
  bool may_repeat() const override { return !probed_.is_stdin; }
  // Once, of a work that has ended.
  Picture take() const { return std::move(probed_); }

 private:
  mutable Picture probed_;
  const io::Input input_;
  const Probe probe_;
};

// Frames that are missing look like the first one there is, and are black.
void give_missing_frames_a_size(std::vector<Picture>& pictures) {
  const auto model = std::ranges::find_if(
      pictures, [](const Picture& p) { return !p.missing_frame && !p.failure; });
  for (Picture& picture : pictures) {
    if (!picture.missing_frame || picture.failure) continue;
    if (model == pictures.end()) {
      fail(picture, "decode", Error("no frame of the range exists, so that its size is unknown"));
    } else {
      picture.info = model->info;
    }
  }
}

// Bytes of a file; none of a pipe, or of what is missing.
std::uintmax_t file_bytes(const io::Input& input) {
  std::error_code error;
  const std::uintmax_t bytes = input.is_stdin ? 0 : std::filesystem::file_size(input.path, error);
  return error ? 0 : bytes;
}

// From 1, the shard of each input.
std::vector<int> shards_of(const std::vector<io::Input>& inputs, ShardBy by, int count) {
  std::vector<int> shards(inputs.size());
  if (by == ShardBy::name) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      shards[i] = io::shard_of(inputs[i].relative, count);
    }
    return shards;
  }
  std::vector<size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto name = [&](size_t i) {
    return std::tie(inputs[i].relative.native(), inputs[i].path.native());
  };
  std::ranges::sort(order, [&](size_t a, size_t b) { return name(a) < name(b); });
  if (by == ShardBy::order) {
    for (size_t k = 0; k < order.size(); ++k) {
      shards[order[k]] = static_cast<int>(k % static_cast<size_t>(count)) + 1;
    }
    return shards;
  }
  // The largest file first, each to the part that has the fewest bytes, of equals the fewest files.
  std::vector<std::uintmax_t> bytes;
  for (const io::Input& input : inputs) bytes.push_back(file_bytes(input));
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  using Load = std::tuple<std::uintmax_t, std::size_t, int>;  // bytes, files, shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int shard = 1; shard <= count; ++shard) loads.emplace(0, 0, shard);
  for (const size_t i : order) {
    const auto [sum, files, shard] = loads.top();
    loads.pop();
    shards[i] = shard;
    loads.emplace(sum + bytes[i], files + 1, shard);
  }
  return shards;
}

// Leaves those that `is_kept` says of; returns how many went. Takes no memory: with none, names
// would get lost on the way.
template <class Predicate>
size_t keep_inputs(WorkList& work, const Predicate& is_kept) {
  const size_t before = work.inputs.size();
  size_t kept = 0;
  for (size_t i = 0; i < before; ++i) {
    if (!is_kept(work.inputs[i])) continue;
    if (kept != i) {
      work.inputs[kept] = std::move(work.inputs[i]);
      work.pictures[kept] = std::move(work.pictures[i]);
    }
    ++kept;
  }
  work.inputs.resize(kept);
  work.pictures.resize(kept);
  return before - kept;
}

// "3 pictures were left unread: 2 .heic, 1 .gif".
std::string note_of_unread(const std::map<std::string, std::int64_t>& unread) {
  std::int64_t all = 0;
  std::string kinds;
  for (const auto& [extension, count] : unread) {
    all += count;
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " ." + extension;
  }
  return std::to_string(all) + (all == 1 ? " picture was" : " pictures were") +
         " left unread: " + kinds;
}

}  // namespace

std::string missing_pages(const RunOptions& options, std::int64_t count, const char* what) {
  std::string missing;
  for (const PageRange& range : options.pages) {
    const std::int64_t first = std::max<std::int64_t>(range.first, count + 1);
    if (range.last < first || (range.is_open() && range.first <= count)) continue;
    if (!missing.empty()) missing += ", ";
    missing += std::to_string(first);
    if (range.last > first) missing += range.is_open() ? "-" : "-" + std::to_string(range.last);
  }
  if (missing.empty()) return "";
  return fmt::format("{}it has {} {}{}, and --pages asks for {} too",
                     options.session.strict ? "--strict: " : "", count, what, count == 1 ? "" : "s",
                     missing);
}

WorkList list_work(const RunOptions& options, const pipeline::Pipeline& pipeline,
                   const io::OutputTarget* target, Progress& progress) {
  if (pipeline.has_source()) return source_alone(options, pipeline);
  note_repeated_page(options.pages, progress);
  WorkList work;
  io::InputOptions input_options{.recursive = options.recursive,
                                 .output_folder = {},
                                 .frames = options.frames,
                                 .fill_gaps = options.missing_frame == MissingFrame::black,
                                 .repeats = pipeline.file_reduction() != nullptr ||
                                            (target != nullptr && takes_results_in_turn(*target))};
  if (target != nullptr && target->kind == io::OutputTarget::Kind::folder) {
    input_options.output_folder = target->folder;
  }
  io::InputList list = io::list_inputs(options.inputs, input_options);
  if (!options.files_from.empty()) {
    io::add_names(list, io::read_names(options.files_from, options.nul_separated), input_options);
  }
  for (const std::string& gap : list.gaps) {
    if (options.missing_frame == MissingFrame::skip) continue;
    if (options.session.strict) throw Error("--strict: " + gap, ExitCode::nothing_found);
    progress.note(gap);
  }
  if (!list.unread.empty()) progress.note(note_of_unread(list.unread));
  if (list.skipped > 0) {
    progress.detail(list.skipped == 1
                        ? "1 file is no picture and was skipped"
                        : std::to_string(list.skipped) + " files are no pictures and were skipped");
  }
  work.unmatched = std::move(list.unmatched);
  work.inputs = std::move(list.inputs);
  if (options.missing_frame == MissingFrame::skip) {
    work.skipped = static_cast<std::int64_t>(
        std::erase_if(work.inputs, [](const io::Input& input) { return input.missing_frame; }));
  }
  const size_t readable = work.inputs.size();
  for (const io::InputProblem& problem : list.unreadable) {
    work.inputs.push_back({.path = problem.subject, .relative = problem.subject});
  }
  make_pictures(work);
  for (size_t i = readable; i < work.pictures.size(); ++i) {
    fail(work.pictures[i], "list", Error(list.unreadable[i - readable].reason));
  }
  return work;
}

WorkList work_of(std::vector<io::Arrival> arrivals) {
  WorkList work;
  for (io::Arrival& arrival : arrivals) {
    io::Input& input = work.inputs.emplace_back(std::move(arrival.input));
    input.frame = frame_number(input.relative);
  }
  make_pictures(work);
  for (size_t i = 0; i < arrivals.size(); ++i) work.pictures[i].is_new = arrivals[i].is_new;
  return work;
}

// On several threads: on a network folder each header costs a round trip.
bool probe_all(WorkList& work, const RunOptions& options, const std::optional<MadeImage>& source,
               PictureSettings& settings, ThreadPool& pool, ImageInfos& infos) {
  const bool black = options.missing_frame == MissingFrame::black;
  const auto probe_one = [&, black](Picture& picture, const io::Input& input) {
    probe(picture, input, black, options, source, settings, infos);
  };
  std::vector<size_t> wanted;
  for (size_t i = 0; i < work.pictures.size(); ++i) {
    if (!work.pictures[i].failure) wanted.push_back(i);
  }
  const auto report = [&](std::int64_t at, const FileWork* file, const FileEnd& end) {
    Picture& picture = work.pictures[wanted[static_cast<size_t>(at)]];
    work.retries += end.tries - 1;
    if (end.state != FileEnd::State::failed) {
      picture = static_cast<const Probing*>(file)->take();
      return true;
    }
    try {
      picture.failure.reset(new Picture::Failure{"decode", end.message, end.tries});
    } catch (const std::bad_alloc&) {
      fail_out_of_memory(picture);
    }
    return true;
  };
  const bool is_watch = !options.watch.empty();
  const std::function<bool()> never = [] { return false; };
  const BatchEnd end = run_batch(
      static_cast<std::int64_t>(wanted.size()),
      [&](std::int64_t at) {
        const size_t i = wanted[static_cast<size_t>(at)];
        return std::make_unique<Probing>(work.pictures[i], work.inputs[i], probe_one);
      },
      {.threads = options.threads,
       .retries = options.retries,
       .timeout = options.timeout,
       .stop = is_watch ? never : options.stop,
       .no_more = is_watch ? options.stop : never},
      pool, report);
  if (is_watch) {
    keep_inputs(work, [&](const io::Input& input) {
      const Picture& picture = work.pictures[static_cast<size_t>(&input - work.inputs.data())];
      return picture.info != nullptr || picture.failure;
    });
  } else {
    infos.finish();
  }
  if (end.stopped) return false;
  if (black) give_missing_frames_a_size(work.pictures);
  return true;
}

namespace {

// Pictures of one type and format.
struct AlikePictures {
  const Picture* picture = nullptr;
  double pixels = 0, images = 0, pages = 0;  // of all pages; images: files, and frames of streams
};

std::map<std::string, AlikePictures> alike_pictures(const std::vector<Picture>& pictures) {
  std::map<std::string, AlikePictures> groups;
  for (const Picture& picture : pictures) {
    if (picture.failure) continue;
    std::string types =
        std::string(io::name_of(picture.info->format)) + " " + to_string(picture.info->type);
    for (const auto& [name, type] : picture.partner_types()) types += ";" + to_string(type);
    AlikePictures& group = groups[types];
    group.picture = &picture;
    // How many a pipe has nobody knows: enough for a device's start to pay.
    constexpr int many_frames = 100;
    const double images = !picture.stream          ? 1
                          : picture.stream->reader ? many_frames
                                                   : picture.info->pages;
    const double pages = picture.stream ? images : std::ssize(picture.all_pages().numbers);
    group.pixels += pages * static_cast<double>(picture.info->size().pixels());
    group.images += images;
    group.pages += pages;
  }
  return groups;
}

// Adds what a pipeline's parts compute of pictures; returns the type of the result, where it is an
// image.
std::optional<ImageType> add_parts(WorkCost& cost, const std::vector<pipeline::PlanPart>& parts,
                                   const AlikePictures& of, bool fuse) {
  double pixels = of.pixels, pages = of.pages;
  for (const pipeline::PlanPart& part : parts) {
    const Plan plan = fuse ? pipeline::fuse(part.plan) : pipeline::without_unread(part.plan);
    const ImageType& type = plan.values[plan.result].type;
    if (!plan.steps.empty() || parts.size() == 1) cost.add(plan, pixels, pages);
    if (!part.reduction) return plan.writes_image ? std::optional(type) : std::nullopt;
    const auto planes = static_cast<std::int64_t>(pages / of.images);
    if (const Volume& volume = part.reduction->volume; volume && !plan.result_alpha) {
      const Size size = of.picture->info->size();
      for (const PlaneRing& ring : volume->rings(type, size, planes)) {
        cost.add(ring, type, pixels, pages);
      }
    }
    const double kept =
        static_cast<double>(images_made(*part.reduction, planes)) / static_cast<double>(planes);
    pixels *= kept;
    pages *= kept;
  }
  return {};
}

}  // namespace

WorkCost cost_of(const std::vector<Picture>& pictures, const pipeline::Pipeline& pipeline,
                 const RunOptions& options) {
  const std::optional<io::OutputTarget> target = target_of(options);
  WorkCost cost;
  for (const auto& [types, group] : alike_pictures(pictures)) {
    const int kernels = std::exchange(cost.kernels, 0);  // all pictures may have the same ones
    try {
      const io::ImageInfo& info = *group.picture->info;
      const auto parts =
          pipeline::lower_parts(pipeline, info.type, group.picture->partner_types(),
                                {.strict = options.session.strict, .display = info.display});
      const std::optional<ImageType> result = add_parts(cost, parts, group, options.session.fuse);
      cost.images += group.images;
      FileKind kind{info, result.value_or(ImageType()), {}};
      if (result && target) kind.output = target->format.value_or(info.format);
      add_files(cost, kind, options.codec_place, group.pixels, group.images);
    } catch (const Error&) {
    }
    cost.kernels = std::max(cost.kernels, kernels);
  }
  return cost;
}

void order_slices(WorkList& work, const io::OutputTarget* target, Progress& progress) {
  const bool is_one_file = target != nullptr &&
                           target->kind == io::OutputTarget::Kind::name_template &&
                           !target->name->has_fields() && !target->name->has_page();
  const auto has_slice = [](const Picture& picture) {
    return !picture.failure && picture.info != nullptr && picture.info->slice.has_value();
  };
  if (!is_one_file || !std::ranges::all_of(work.pictures, has_slice)) return;
  std::vector<std::size_t> order(work.pictures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *work.pictures[i].info->slice; });
  if (std::ranges::is_sorted(order)) return;
  WorkList sorted;
  for (const std::size_t i : order) {
    sorted.pictures.push_back(std::move(work.pictures[i]));
    sorted.inputs.push_back(std::move(work.inputs[i]));
  }
  work.pictures = std::move(sorted.pictures);
  work.inputs = std::move(sorted.inputs);
  progress.note("the DICOMs follow each other as their slices lie, not by their names");
}

void note_single_pages(const WorkList& work, const pipeline::Pipeline& pipeline,
                       Progress& progress) {
  const auto stage = std::ranges::find_if(pipeline.stages, [](const pipeline::BoundStage& one) {
    return one.call && pipeline::takes_several(*one.call);
  });
  const auto is_single = [](const Picture& picture) {
    return !picture.failure && picture.info != nullptr && picture.info->pages == 1;
  };
  if (stage == pipeline.stages.end() || work.pictures.size() < 2 ||
      !std::ranges::all_of(work.pictures, is_single)) {
    return;
  }
  const Operator& op = stage->call->op();
  if (op.reduction(*stage->call).across == ImageReduction::Across::files) return;
  progress.note(std::string(op.name) + " takes the pages of a file, and each of these " +
                std::to_string(work.pictures.size()) + " has one; " +
                (op.name == "project" ? "`stack` takes files"
                                      : "impipe '' FILES -o pages.tif makes one file of them"));
}

void note_missing_pages(const WorkList& work, const RunOptions& options, Progress& progress) {
  std::string first;
  std::int64_t others = -1;
  for (const Picture& picture : work.pictures) {
    if (picture.failure || picture.info == nullptr) continue;
    if (picture.stream || picture.missing_frame) continue;
    const std::string missing = missing_pages(options, picture.info->pages, "page");
    if (missing.empty()) continue;
    if (++others == 0) first = printable(picture.path) + ": " + missing;
  }
  if (others < 0) return;
  progress.note(first + (others == 0   ? ""
                         : others == 1 ? "; another file lacks pages, too"
                                       : fmt::format("; {} other files lack pages, too", others)));
}

void note_axes(const WorkList& work, const RunOptions& options, Progress& progress) {
  struct Kind {
    std::int64_t files = 0;
    std::string first, what = "NPY";
  };
  std::map<std::string, Kind> guesses;
  Kind others;
  const auto look = [&](const fs::path& path, const io::ImageInfo& info) {
    const bool is_array = info.format == io::Format::npy || info.format == io::Format::zarr ||
                          info.format == io::Format::fits;
    if (!options.axes.empty() && !is_array && others.files++ == 0) {
      others.first = printable(path.string());
    }
    if (info.guess.empty()) return;
    Kind& kind = guesses[info.guessed_axes];
    if (kind.files++ > 0) return;
    kind.first = printable(path.string()) + ": " + info.guess;
    if (info.format == io::Format::zarr) kind.what = "array";
  };
  for (const Picture& picture : work.pictures) {
    if (picture.info == nullptr || picture.failure) continue;
    look(picture.path, *picture.info);
    for (size_t i = 0; picture.partners && i < picture.partners->infos.size(); ++i) {
      look(picture.partners->paths[i], *picture.partners->infos[i]);
    }
  }
  for (const auto& [axes, kind] : guesses) {
    const std::string more =
        kind.files == 1 ? "" : ", and " + std::to_string(kind.files - 1) + " more alike";
    progress.note(kind.first + more + "; an " + kind.what + " does not name its axes, --axes does");
  }
  if (others.files == 0) return;
  progress.note("--axes names the axes of NPYs, which '" + others.first + "'" +
                (others.files == 1 ? " is" : " and others are") + " not");
}

namespace {

// Throws Error for an image that a stage of any part of the pipeline would make too large.
void check_sizes(const Picture& picture, const Program& program, const pipeline::Pipeline& pipeline,
                 std::int64_t max_pixels) {
  Size size = picture.info->size();
  PageList pages = picture.all_pages();
  for (const Program* part = &program;; part = part->then->program.get()) {
    const std::vector<Size> sizes =
        pipeline::planned_sizes(pipeline, part->lowered, size, picture.partner_sizes(), max_pixels);
    size = sizes[static_cast<size_t>(part->lowered.result)];
    if (!part->then || size.width < 1 || size.height < 1) return;
    const ImageReduction& reduction = part->then->reduction;
    if (reduction.volume) {
      size = reduction.volume->size(size, std::ssize(pages.numbers));
      pipeline::check_size(pipeline, part->then->stage, size, max_pixels);
    }
    pages = pages_after(reduction, pages);
  }
}

}  // namespace

void plan_all(WorkList& work, Lanes& lanes, const RunOptions& options, Progress& progress) {
  std::set<std::string> notes;
  std::string reason;
  bool all_failed = true;
  for (Picture& picture : work.pictures) {
    if (picture.failure) continue;
    try {
      ImageType type = picture.info->type;
      if (lanes.pipeline().reads_profile()) type.profile = unread_profile();
      auto program = lanes.program(type, picture.partner_types(), picture.info->display);
      check_sizes(picture, *program, lanes.pipeline(), options.max_pixels);
      picture.program = std::move(program);
      all_failed = false;
      for (const Program* part = picture.program.get(); part != nullptr;
           part = part->then ? part->then->program.get() : nullptr) {
        for (const std::string& note : part->plan.notes) {
          if (notes.insert(note).second) progress.note(note);
        }
      }
    } catch (const Error& error) {
      if (error.code() == ExitCode::backend) throw;
      fail(picture, "plan", error);
      all_failed = all_failed && (reason.empty() || reason == picture.failure->message);
      reason = picture.failure->message;
    }
  }
  // A part may have the only files that the pipeline does not fit.
  const bool is_all = !work.is_part && options.watch.empty();
  if (all_failed && !reason.empty() && is_all) throw Error(reason);
}

void number_frames(WorkList& work, const RunOptions& options, Progress& progress) {
  if (options.frames.empty()) return;
  std::set<std::int64_t> there;
  for (io::Input& input : work.inputs) {
    if (!input.frame && !input.is_stdin) input.frame = frame_number(input.relative);
    if (input.frame) there.insert(*input.frame);
  }
  const size_t unnumbered =
      keep_inputs(work, [](const io::Input& input) { return input.frame.has_value(); });
  std::vector<std::int64_t> missing;
  std::set_difference(options.frames.begin(), options.frames.end(), there.begin(), there.end(),
                      std::back_inserter(missing));
  if (unnumbered > 0) {
    progress.note(
        "--frames leaves out " + std::to_string(unnumbered) +
        (unnumbered == 1 ? " file whose name has no number" : " files whose names have no number"));
  }
  if (missing.size() == options.frames.size()) {
    throw Error("--frames: no input has one of the frames " + frame_list_text(missing),
                ExitCode::nothing_found);
  }
  if (missing.empty()) return;
  const std::string text = (missing.size() == 1 ? "--frames: no input has frame "
                                                : "--frames: no input has the frames ") +
                           frame_list_text(missing);
  if (options.session.strict) throw Error("--strict: " + text, ExitCode::nothing_found);
  progress.note(text);
}

bool names_are_apart(const WorkList& work, const io::OutputTarget* target,
                     const pipeline::Pipeline& pipeline) {
  const auto saves = [](const pipeline::BoundStage& stage) { return !stage.save_template.empty(); };
  if (std::ranges::any_of(pipeline.stages, saves)) return false;
  if (target == nullptr) return true;
  if (target->kind != io::OutputTarget::Kind::folder) return false;
  std::vector<std::string> names;
  names.reserve(work.inputs.size());
  for (const io::Input& input : work.inputs) {
    names.push_back(std::filesystem::path(input.relative).replace_extension().string());
  }
  std::ranges::sort(names);
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

void keep_part(WorkList& work, const RunOptions& options) {
  if (work.is_part) return;
  work.is_part = options.shard_count > 1 || !options.frames.empty();
  if (!options.frames.empty()) {
    keep_inputs(work, [&](const io::Input& input) {
      return std::binary_search(options.frames.begin(), options.frames.end(), *input.frame);
    });
  }
  if (options.shard_count == 1 || options.shard_by == ShardBy::chunks) return;
  const std::vector<int> shards = shards_of(work.inputs, options.shard_by, options.shard_count);
  keep_inputs(work, [&](const io::Input& input) {
    return shards[static_cast<size_t>(&input - work.inputs.data())] == options.shard_index;
  });
}

}  // namespace impipe::engine
