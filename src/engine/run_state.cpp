// The devices and the batch of a run.
#include "engine/run_state.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/unpacks.hpp"
#include "engine/run_settings.hpp"
#include "engine/stream.hpp"
#include "engine/watching.hpp"
#include "io/packed_encoding.hpp"

namespace impipe::engine {

const Picture* first_planned(const std::vector<Picture>& pictures) {
  const auto found =
      std::ranges::find_if(pictures, [](const Picture& p) { return p.program != nullptr; });
  return found == pictures.end() ? nullptr : &*found;
}

namespace {

bool has_format(const std::vector<Picture>& pictures, bool (*is_one)(io::Format)) {
  return std::any_of(pictures.begin(), pictures.end(), [&](const Picture& picture) {
    return picture.info != nullptr && is_one(picture.info->format);
  });
}
bool has_jpegs(const std::vector<Picture>& pictures) {
  return has_format(pictures, [](io::Format format) { return format == io::Format::jpeg; });
}
bool is_decodable(io::Format format) {  // by devices
  return format == io::Format::jpeg || io::traits(format).packed_form != nullptr;
}
bool has_decodable(const std::vector<Picture>& pictures) {
  return has_format(pictures, is_decodable);
}

// The codecs that the run wants of a device: of each format those of its first picture.
Lanes::CodecsOf codecs_of(const RunState& state, const RunOptions& options) {
  if (options.codec_place == CodecPlace::cpu) return {};
  std::map<io::Format, io::ImageInfo> inputs;
  for (const Picture& picture : state.work.pictures) {
    if (picture.info && is_decodable(picture.info->format)) {
      inputs.try_emplace(picture.info->format, *picture.info);
    }
  }
  const std::optional<io::OutputTarget> target = target_of(options);
  return [inputs = std::move(inputs), cls = options.cls,
          wanted = target ? target->format : std::optional<io::Format>{},
          encode = state.settings.encode](Session& session, const auto& programs) {
    std::vector<CodecKernel*> codecs;
    for (const auto& [format, info] : inputs) {
      const bool is_jpeg = format == io::Format::jpeg;
      codecs.push_back(is_jpeg ? &session.jpeg_decoder() : &session.unpacker());
      for (const std::shared_ptr<const Program>& program : programs) {
        if (!program->plan.writes_image) continue;
        const ImageType& type = program->plan.values[program->plan.result].type;
        const io::OutputType output = io::output_type(&info, type, wanted, cls);
        if (output.format == io::Format::jpeg) codecs.push_back(&session.jpeg_encoder());
        const auto form = io::packed_output(type, {64, 64}, {}, output, encode);
        if (form && packs(*form)) codecs.push_back(&session.packer(*form, DeflateEffort::copies));
      }
    }
    return codecs;
  };
}

// What --codec comes to on these devices; a processor has no codecs but its own.
// gpu_joins: the first device works until a GPU is there.
void settle_codec(const DeviceInfo& first, bool gpu_joins, const std::vector<Picture>& pictures,
                  const RunOptions& options, Progress& progress) {
  if (options.fast_codec && has_jpegs(pictures)) {
    progress.detail(
        "--codec fast: nothing that is within one level of the exact codec is faster; it is auto");
  }
  if (gpu_joins) {
    if (has_decodable(pictures) && options.codec_place == CodecPlace::automatic) {
      progress.detail("--codec auto: pictures are decoded and encoded where images are computed");
    }
    return;
  }
  const bool is_cpu = first.id == "cpu";
  if (options.codec_place == CodecPlace::device && is_cpu) {
    constexpr const char* why =
        "--codec device: the images are computed on the CPU, which decodes and encodes them by "
        "its own codecs";
    if (is_automatic(options.device)) return progress.note(why);
    throw Error(std::string(why) + "; give another device, or --codec cpu", ExitCode::backend);
  }
  if (!has_decodable(pictures) || options.codec_place != CodecPlace::automatic) return;
  if (first.is_gpu) {
    progress.detail("--codec auto: pictures of the usual forms are decoded and encoded on " +
                    first.id + ", which is a GPU");
  } else {
    progress.detail(
        "--codec auto: pictures are decoded and encoded by the processor: " +
        (is_cpu ? std::string("it computes the images, too") : first.id + " is no GPU"));
  }
}

}  // namespace

void open_lanes(RunState& state, const RunOptions& options, std::vector<OpenDevice> devices,
                Progress& progress, RunEnd& end) {
  const bool is_watch = !options.watch.empty();
  bool gpu_joins = false;
  double wait = 0;
  if (devices.empty()) {
    WorkCost cost = cost_of(state.work.pictures, state.pipeline, options);
    if (is_watch) cost = cost_of_watch(cost);
    gpu_joins = !is_watch && options.codec_place != CodecPlace::device &&
                gpu_may_join(cost, options.threads);
    if (gpu_joins) wait = seconds_to_wait_for_gpu(cost, options.threads);
    devices.push_back(gpu_joins ? cpu_until_then(cost, options.threads, state.pool)
                                : choose_device(cost, options.threads, state.pool));
  }
  for (const OpenDevice& device : devices) {
    if (!device.warning.empty()) progress.note(device.warning);
  }
  const std::string why = devices.front().why;
  const DeviceInfo first = devices.front().device->info();
  Lanes& lanes = state.lanes.emplace(state.pipeline, std::move(devices), options.session);
  progress.detail(lanes.names() + ": " + why);
  settle_codec(first, gpu_joins, state.work.pictures, options, progress);
  if (gpu_joins) {
    lanes.open_later([pool = &state.pool] { return open_any_gpu(*pool); }, options.session,
                     codecs_of(state, options), wait);
  }
  state.settings.lanes = &lanes;
  end.devices = lanes.devices();
}

namespace {

BatchOptions batch_options_of(const PictureSettings& settings, const RunOptions& options,
                              std::int64_t memory, const WatchedBatch& watched) {
  return {.threads = options.threads,
          .in_flight = options.threads + std::max(1, options.threads / 4),
          .memory = memory,
          .fail_fast = options.fail_fast,
          .retries = options.retries,
          .timeout = options.timeout,
          .stop = options.stop,
          .no_more = watched.no_more,
          .idle = [lanes = settings.lanes,
                   threads = options.threads] { return lanes->idle_threads(threads); },
          .first_lane = watched.first_lane,
          .timeline = settings.timeline};
}

// How many frames of a stream may be read and not yet told: so many that no thread waits for one
// while another is told, if there is memory.
std::int64_t frames_ahead(const Picture& stream, const BatchOptions& batch) {
  const double bytes = 4.0 * std::max<double>(1, static_cast<double>(stream.info->decoded_bytes()));
  const auto fits = static_cast<std::int64_t>(static_cast<double>(batch.memory) / bytes);
  return std::clamp<std::int64_t>(fits, 1, batch.in_flight + batch.threads);
}

// The frames of the stream that picture `index` is, one after the other. The end counts files.
BatchEnd run_stream(std::vector<Picture>& pictures, size_t index, PictureSettings& settings,
                    const RunOptions& options, std::int64_t memory, ThreadPool& pool,
                    Reports& reports, const WatchedBatch& watched) {
  Picture& picture = pictures[index];
  const auto number = static_cast<std::int64_t>(index);
  BatchOptions batch = batch_options_of(settings, options, memory, watched);
  batch.first_file = number;
  batch.is_one_file = true;
  batch.no_more = {};  // what is begun comes to its end
  BatchEnd end;
  end.threads = options.threads;  // of one that is skipped none was asked for
  bool skipped = false;
  std::string failure, note;
  try {
    skipped = picture.joined && !PictureJob{picture, settings, number}.is_wanted();
    if (!skipped) {
      std::shared_ptr<io::FrameReader> reader = std::move(picture.stream->reader);
      if (!reader) reader = std::make_shared<io::FrameReader>(picture.path);
      FrameFeed feed(*reader, options.pages, frames_ahead(picture, batch));
      batch.arrivals = &feed;
      end = run_batch(
          std::numeric_limits<std::int64_t>::max(),
          [&](std::int64_t i) { return frame_work(picture, feed.take(i), settings, number); },
          batch, pool,
          [&](std::int64_t, const FileWork* file, const FileEnd& frame_end) {
            const bool goes_on = reports.frame(number, file, frame_end);
            feed.told();
            return goes_on;
          },
          [&] {
            watched.tick();
            reports.tick();
          });
      feed.stop();
      failure = feed.failure();
      if (failure.empty() && end.done + end.failed + end.skipped == 0 && !end.stopped) {
        failure = feed.frames() == 0 ? "Y4M without frames"
                                     : "it has " + std::to_string(feed.frames()) +
                                           " frames, none of which --pages asks for";
      } else if (failure.empty() && end.failed == 0 && !end.stopped) {
        (settings.strict ? failure : note) = missing_pages(options, feed.frames(), "frame");
      }
    }
  } catch (const Error& error) {
    failure = error.what();
  }
  const bool stopped = options.stop();
  if (stopped || reports.is_over()) {
    end.stopped = true;
    end.done = end.skipped = end.failed = 0;
    return end;
  }
  const FileEnd::State state = reports.stream(number, skipped, failure, note);
  end.done = state == FileEnd::State::done ? 1 : 0;
  end.skipped = state == FileEnd::State::skipped ? 1 : 0;
  end.failed = state == FileEnd::State::failed ? 1 : 0;
  end.stopped = end.failed > 0 && options.fail_fast;
  return end;
}

// Adds one batch to those before it.
void add_batch(BatchEnd& sum, const BatchEnd& batch) {
  sum.done += batch.done;
  sum.skipped += batch.skipped;
  sum.failed += batch.failed;
  sum.stopped = batch.stopped;
  sum.hung += batch.hung;
  sum.threads = std::min(sum.threads, batch.threads);
  sum.times += batch.times;
}

// Pictures [begin, end), none of which is a stream.
BatchEnd run_files_of(std::vector<Picture>& pictures, size_t begin, size_t end,
                      PictureSettings& settings, const BatchOptions& options, ThreadPool& pool,
                      Reports& reports, const WatchedBatch& watched) {
  return run_batch(
      static_cast<std::int64_t>(end - begin),
      [&, begin](std::int64_t i) {
        const size_t index = begin + static_cast<size_t>(i);
        return std::make_unique<PictureWork>(pictures[index], settings,
                                             static_cast<std::int64_t>(index));
      },
      options, pool,
      [&, begin](std::int64_t i, const FileWork* file, const FileEnd& file_end) {
        return reports.file(static_cast<std::int64_t>(begin) + i, file, file_end);
      },
      [&] {
        watched.tick();
        reports.tick();
      });
}

}  // namespace

BatchEnd run_pictures(RunState& state, const RunOptions& options, std::int64_t memory,
                      Reports& reports, const WatchedBatch& watched) {
  std::vector<Picture>& pictures = state.work.pictures;
  PictureSettings& settings = state.settings;
  ThreadPool& pool = state.pool;
  const auto is_stream = [](const Picture& p) { return p.stream != nullptr && !p.failure; };
  BatchEnd sum;
  sum.threads = options.threads;
  WatchedBatch next = watched;
  for (size_t at = 0; at < pictures.size() && !sum.stopped;) {
    BatchEnd batch;
    if (is_stream(pictures[at])) {
      batch = run_stream(pictures, at, settings, options, memory, pool, reports, next);
      ++at;
    } else {
      const auto begin = pictures.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end =
          static_cast<size_t>(std::find_if(begin, pictures.end(), is_stream) - pictures.begin());
      BatchOptions batch_options = batch_options_of(settings, options, memory, next);
      batch_options.first_file = static_cast<std::int64_t>(at);
      batch = run_files_of(pictures, at, end, settings, batch_options, pool, reports, next);
      at = end;
    }
    add_batch(sum, batch);
    if (batch.hung > 0) next.first_lane += options.threads + batch.hung;
    if (watched.no_more && watched.no_more()) break;
  }
  return sum;
}

}  // namespace impipe::engine
