#include "engine/batch/picture_bands.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/kept_bytes.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/batch/image_rows.hpp"
#include "engine/batch/pixel_hash.hpp"
#include "engine/program/bands.hpp"
#include "io/files/read_picture.hpp"
#include "io/metadata/colours.hpp"

namespace impipe::engine {
namespace {

// The rows of a file that a band reads; those that the next one reads, too, are kept.
class BandReader {
 public:
  explicit BandReader(io::PictureRows& rows) : rows_(rows) {}

  HostImage read(const Band& band) {
    const std::int64_t known = kept_.empty() ? band.input_y : kept_y_ + kept_.size().height;
    HostImage fresh = rows_.read(known, band.input_end);
    if (kept_.empty()) {
      kept_ = std::move(fresh);
    } else {
      HostImage joined = image_like(fresh, band.input_end - band.input_y);
      copy_rows(kept_, band.input_y - kept_y_, kept_.size().height, joined, 0);
      copy_rows(fresh, 0, fresh.size().height, joined, known - band.input_y);
      kept_ = std::move(joined);
    }
    kept_y_ = band.input_y;
    return kept_;  // shares its memory
  }

 private:
  io::PictureRows& rows_;
  HostImage kept_;
  std::int64_t kept_y_ = 0;
};

// The next band reads what this one's end has read.
constexpr std::int64_t min_rows = 16;

// Bytes of a band of a picture that would fit into memory as a whole.
constexpr std::int64_t enough_for_bands = 32 << 20;

// The file of the result; its size is the input's.
io::RowsTarget rows_target(const PictureJob& job) {
  const Plan& plan = job.picture.program->plan;
  ImageType type = plan.values[plan.result].type;
  type.alpha = plan.result_alpha.has_value();
  const io::ImageInfo& info = *job.picture.info;
  const bool is_tiff =
      info.format == io::Format::tiff && job.settings.encode.tiff_storage == io::TiffStorage::usual;
  return {type, job.picture.output_format, job.picture.output_class, info.size(),
          is_tiff ? info.tile : Size{}};
}

double bytes_of_band(const PictureJob& job, std::int64_t rows) {
  const Program& program = *job.picture.program;
  const Banding banding = banding_of(program);
  const Halo halo = banding.halo;
  const Size size = job.picture.info->size();
  const std::int64_t step = io::rows_together(*job.picture.info);
  const Size part{size.width, std::min(size.height, rows + halo.up + halo.down + step)};
  const ImageBytes bytes = image_bytes(program, sizes_of(program, part, {}), 0);
  // Decoded rows are kept for the next band; a row of tiles waits until it is whole.
  const std::int64_t waiting =
      job.picture.output.empty()
          ? 0
          : io::rows_that_wait(rows_target(job), *job.picture.info, job.settings.encode);
  const double tiles = static_cast<double>(size.width * std::max(step, waiting)) *
                       bytes_per_pixel(program.plan.values[program.plan.result]);
  const double alphas =
      job.picture.info->type.alpha ? 12.0 * static_cast<double>(part.pixels()) : 0;
  const double measured = 2.0 * banding.measured_bytes * static_cast<double>(part.pixels());
  return 2 * bytes.input + bytes.on_device + std::max(3 * bytes.result, measured) + tiles + alphas;
}

std::int64_t rows_of_bands(const PictureJob& job, std::int64_t memory) {
  std::int64_t rows = min_rows;
  while (2 * rows < job.picture.info->size().height &&
         bytes_of_band(job, 2 * rows) <= static_cast<double>(memory)) {
    rows *= 2;
  }
  return rows;
}

}  // namespace

// Reasons that a file has of which no rows can be opened.
static std::string why_read_whole(io::Format format) {
  return format == io::Format::zarr
             ? "a ZIP of a Zarr is read whole, its folder is not"
             : "its samples lie in planes apart, or in YCbCr, and are read whole";
}

std::string why_not_in_bands(const PictureJob& job) {
  const io::ImageInfo& info = *job.picture.info;
  const Plan& plan = job.picture.program->plan;
  const bool jpeg = info.format == io::Format::jpeg;
  if (!io::reads_rows(info)) {
    return "only TIFFs and JPEGs that are upright, NPYs, slides, and Zarrs of one page are read "
           "some "
           "rows at a time";
  }
  if (job.has_reduction()) return "several images become one";
  if (job.measures_arguments()) return "arguments of its pipeline are measured first";
  if (job.settings.decode.by_opencv) return "OpenCV reads whole pictures";
  if (info.progressive) return "progressive JPEGs are read whole";
  if (info.blocks) return "a TIFF of pictures of another format is read whole";
  if (job.picture.is_stdin || job.picture.content || job.picture.missing_frame ||
      job.settings.lanes->pipeline().has_source() || job.picture.pages) {
    return "it is no file of one picture";
  }
  if (job.shrink_of(info) != 1) return "it is read smaller";
  if (!job.picture.output.empty()) {
    if (!plan.writes_image) return "its numbers go into a file";
    if (jpeg ? job.picture.output_format != info.format
             : job.settings.in_place ||
                   !io::writes_rows(job.picture.output, job.picture.output_format)) {
      return "only files of TIFF, NPY and folders of Zarr are written some rows at a time, and "
             "JPEGs "
             "of JPEGs";
    }
    if (jpeg && (job.settings.encode.compression == io::Compression::small ||
                 job.settings.encode.lossless || plan.result_alpha)) {
      return "a JPEG of this kind is written whole";
    }
  }
  Banding banding = banding_of(*job.picture.program);
  if (!banding.why_not.empty()) return banding.why_not;
  const ImageType& result = plan.values[plan.result].type;
  if (plan.writes_image && result.white == 0 && job.picture.output_class != PixelClass::single) {
    return "a distance or label image is looked at whole before it is written";
  }
  if (plan.result_alpha && job.settings.hash) return "a hash goes over its alpha after its pixels";
  if ((info.format == io::Format::tiff || info.format == io::Format::zarr) &&
      !io::open_rows(job.picture.path, info, job.settings.decode.reading)) {
    return why_read_whole(info.format);
  }
  return "";
}

std::string why_not_in_parts(const PictureJob& job) {
  const auto& output = job.picture.output;
  if (job.picture.output_format != io::Format::zarr || output.empty() ||
      !io::writes_rows(output, io::Format::zarr)) {
    return "the result is no folder of a Zarr";
  }
  if (job.settings.hash) return "--hash is of a whole picture";
  return why_not_in_bands(job);
}

bool prefers_bands(const PictureJob& job, std::int64_t estimate) {
  constexpr std::int64_t large = 96 << 20;
  if (estimate < large || job.picture.info->format != io::Format::jpeg) return false;
  // A GPU computes a picture at once, and so do plain loops where nothing is written.
  if (job.settings.lanes->first().device().id != "cpu" || job.picture.output.empty()) return false;
  if (!why_not_in_bands(job).empty()) return false;
  // Rows that two bands compute are computed twice.
  constexpr std::int64_t rows_a_row_beside = 16;
  const Banding banding = banding_of(*job.picture.program);
  if (banding.measures()) return false;  // it would be decoded twice
  const Halo& halo = banding.halo;
  return rows_of_bands(job, enough_for_bands) >= rows_a_row_beside * (halo.up + halo.down);
}

BandPlan plan_bands(const PictureJob& job, std::int64_t memory) {
  const std::int64_t rows = rows_of_bands(job, memory);
  std::error_code error;
  // A JPEG lies in memory, before and after.
  const double files =
      job.picture.info->format == io::Format::jpeg
          ? 2.0 * static_cast<double>(std::filesystem::file_size(job.picture.path, error))
          : 0;
  return {rows, static_cast<std::int64_t>(bytes_of_band(job, rows) + (error ? 0 : files))};
}

BandPlan plan_small_bands(const PictureJob& job) { return plan_bands(job, enough_for_bands); }

void BandedPicture::within(Part part, int lane, const std::function<void()>& work) {
  const double begin = steady_seconds();
  try {
    work();
  } catch (const Error& error) {
    throw PartError(part, error);
  }
  const double end = steady_seconds();
  const bool decodes = part == Part::decode;
  (decodes ? within_.decode : within_.encode) += end - begin;
  if (settings_.timeline == nullptr) return;
  settings_.timeline->add({.kind = decodes ? Slice::Kind::decode : Slice::Kind::encode,
                           .lane = lane,
                           .file = job_.index,
                           .begin = begin,
                           .end = end});
}

std::unique_ptr<io::PictureRows> BandedPicture::open_bands(int lane) {
  std::unique_ptr<io::PictureRows> rows;
  within(Part::decode, lane, [&] { rows = opened(); });
  return rows;
}

std::unique_ptr<io::PictureRows> BandedPicture::opened() {
  const io::ImageInfo& info = *picture_.info;
  std::unique_ptr<io::PictureRows> rows;
  if (info.format == io::Format::jpeg) {
    io::FileStamp stamp;
    file_ = io::read_picture(picture_.path, stamp);
    stamps_ = settings_.pipeline_stamps;
    stamps_.push_back(stamp);
    const io::ImageInfo now = io::probe(file_, {}, settings_.decode.reading);
    if (now.format != info.format || now.type != info.type || now.stored != info.stored ||
        now.orientation != info.orientation) {
      throw Error("it was written to while it was read", ExitCode::file_failed, true);
    }
    rows = io::open_rows(file_, info);
  } else {
    io::ImageInfo counted = info;
    counted.inexact = inexact_ = std::make_shared<io::Inexact>();
    rows = io::open_rows(picture_.path, counted, settings_.decode.reading);
  }
  if (!rows) io::fail("out of memory: ", why_read_whole(info.format));
  // The axes of an NPY are no metadata that --strip leaves out.
  const bool has_metadata = settings_.decode.metadata || info.format == io::Format::npy;
  if (has_metadata || settings_.decode.profile) {
    io::MetadataRead read = io::read_metadata(picture_.path, info, settings_.decode.reading);
    if (settings_.decode.profile) take_profile(io::profile_of(read.metadata));
    if (has_metadata) {
      metadata_ = std::move(read.metadata);
      metadata_.measured = info.measured;
      lost_ = std::move(read.lost);
    }
  }
  metadata_.samples = as_floats_ ? io::SampleType::of_class : info.samples;
  metadata_.tiff = info.tiff;
  return rows;
}

void BandedPicture::take_profile(std::shared_ptr<const ColourProfile> profile) {
  profile_ = std::move(profile);
  ImageType type = picture_.info->type;
  type.profile = profile_;
  take_program(settings_.lanes->first().program(type, {}));
}

struct BandedPicture::BandTarget {
  std::optional<io::RowsFile> file;
  std::optional<io::RowsJpeg> jpeg;
};

std::unique_ptr<BandedPicture::BandTarget> BandedPicture::make_band_target() {
  auto target = std::make_unique<BandTarget>();
  const io::ImageInfo& info = *picture_.info;
  io::RowsTarget rows = rows_target(job_);
  if (settings_.encode.zarr_part) {
    std::vector<io::FileStamp> stamps;
    for (const auto& source : job_.sources()) stamps.push_back(io::stamp_of(source));
    rows.part = {settings_.part, settings_.parts, io::made_note(settings_.maker, stamps),
                 settings_.update};
  }
  tell_change(info, picture_.program->plan.result, info.size());
  if (info.format == io::Format::jpeg) {
    target->jpeg.emplace(rows.type, info.size(), metadata_, settings_.encode);
    return target;
  }
  tell_file(picture_.output, false);
  tell_losses(io::RowsFile::losses(rows, metadata_, settings_.encode));
  if (settings_.dry_run) return target;
  target->file.emplace(picture_.output, rows, metadata_, settings_.encode);
  rows_ = target->file->rows();
  return target;
}

void BandedPicture::finish_bands(BandTarget& target) {
  if (target.file) return target.file->commit(settings_.maker, settings_.disks.get());
  if (!target.jpeg) return;
  write(picture_.output, noted(target.jpeg->finish()).bytes);
}

std::shared_ptr<const Program> BandedPicture::program_on(Session& session, Queue& queue,
                                                         const Material& material) {
  if (!plan_) return PictureWorker::program_on(session, queue, material);
  std::shared_ptr<const Program>& known = programs_[&session];
  if (!known) known = session.made_program(*plan_);
  return known;
}

void BandedPicture::each_band(int lane, std::unique_ptr<io::PictureRows> rows,
                              const std::function<bool(const Band& band)>& take) {
  const std::int64_t height = picture_.info->size().height;
  const std::int64_t step = io::rows_together(*picture_.info);
  BandReader reader(*rows);
  for (std::int64_t y = rows_.begin; y < rows_.end;) {
    job_.check_time();
    Band band = band_at(y, std::min(height, rows_.end + halo_.down), halo_, band_rows_, step);
    band.y_end = std::min(band.y_end, rows_.end);
    within(Part::decode, lane, [&] {
      material_ = {.image = reader.read(band), .operands = {}};
      material_.image.type.profile = profile_;
      if (inexact_) job_.check_inexact(*inexact_);
    });
    if (!take(band)) return;
    y = band.y_end;
  }
  rows.reset();
  if (inexact_) result_.inexact = *inexact_;
  keep_bytes(std::exchange(file_, {}));
}

HostImage BandedPicture::own_rows(const HostImage& image, const Band& band) {
  HostImage out = image_like(image, band.y_end - band.y);
  copy_rows(image, band.y - band.input_y, band.y_end - band.input_y, out, 0);
  return out;
}

void BandedPicture::measure(int lane) {
  const auto program = picture_.program;
  const Size size = picture_.info->size();
  BandMeasures measures(program->lowered, sizes_of(*program, size, {}));
  rows_ = {0, size.height};
  while (!measures.images().empty()) {
    plan_ = measures.pass();
    programs_.clear();
    const bool is_of_input = measures.images() == std::vector<ValueId>{0};
    each_band(lane, open_bands(lane), [&](const Band& band) {
      if (is_of_input) {
        measures.add(0, own_rows(material_.image, band));
        return true;
      }
      compute_image(lane);
      for (std::size_t i = 0; i < outcome_.saves.size(); ++i) {
        measures.add(i, own_rows(outcome_.saves[i], band));
      }
      return true;
    });
    measures.finish_pass();
  }
  picture_.program = program;
  plan_ = measures.settled();
  programs_.clear();
  outcome_ = {};
  if (!program->plan.writes_image) report(measures);
}

void BandedPicture::report(const BandMeasures& measures) {
  const Plan& plan = picture_.program->lowered;
  for (const PlanColumn& column : plan.columns) {
    const auto values = plan.values[static_cast<std::size_t>(column.value)].values;
    outcome_.columns.push_back(measures.numbers(
        column.value)[static_cast<std::size_t>(column.channel * values + column.element)]);
  }
  for (const PlanMeasurement& one : plan.measurements) {
    const PlanValue& value = plan.values[static_cast<std::size_t>(one.value)];
    outcome_.measurements.push_back(
        {value.channels, value.values, measures.numbers(one.value), one.matrix_columns});
  }
  add_row(0);
}

void BandedPicture::compute(int lane) {
  const Banding banding = banding_of(*picture_.program);
  halo_ = banding.halo;
  if (banding.measures()) measure(lane);
  if (!picture_.program->plan.writes_image || bands_are_alike(lane)) return;
  result_.widened = metadata_.samples;
  forget_results();
  as_floats_ = true;
  bands_are_alike(lane);
}

bool BandedPicture::bands_are_alike(int lane) {
  std::unique_ptr<BandTarget> target;
  rows_ = {0, picture_.info->size().height};
  PixelHash hash;
  bool fits = true;
  auto rows = open_bands(lane);
  if (!picture_.output.empty()) {
    within(Part::encode, lane, [&] { target = make_band_target(); });
  }
  each_band(lane, std::move(rows), [&](const Band& band) {
    compute_image(lane);
    const HostImage made = own_rows(outcome_.image, band);
    outcome_.image = {};
    if (settings_.hash) hash.add(made.planes, picture_.info->size().height);
    if (target) {
      within(Part::encode, lane, [&] {
        if (target->file) fits = target->file->write(made, result_.clipped);
        if (target->jpeg) target->jpeg->write(made);
      });
    }
    if (!fits && settings_.encode.zarr_part) {
      io::fail("--shard-by chunks: the input's type does not hold the result; give -d single");
    }
    return fits;
  });
  if (!fits) return false;
  if (target) within(Part::encode, lane, [&] { finish_bands(*target); });
  FileReport::Row row;
  if (settings_.hash) row.hash = hash.text();
  result_.rows.push_back(std::move(row));
  return true;
}

}  // namespace impipe::engine
