// A picture that would take more memory than it may, some rows at a time: the rows of a band and
// those that its filters read beside it are an image to the program, and what its borders spoilt at
// a cut is cut off.
#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/batch/picture.hpp"
#include "engine/program/bands.hpp"
#include "io/atomic_file.hpp"

namespace impipe::engine {
namespace {

// Rows [from, to) of `image` at row `at` of `into`.
void copy_rows(const HostImage& image, std::int64_t from, std::int64_t to, HostImage& into,
               std::int64_t at) {
  const auto copy = [&](const Plane& source, Plane& target) {
    for (std::int64_t y = from; y < to; ++y) {
      std::memcpy(target.row(at + y - from), source.row(y),
                  static_cast<size_t>(source.row_bytes()));
    }
  };
  for (size_t c = 0; c < image.planes.size(); ++c) copy(image.planes[c], into.planes[c]);
  if (!image.alpha.empty()) copy(image.alpha, into.alpha);
}

// An image of the same kind; its alpha may have another class than its pixels.
HostImage image_like(const HostImage& image, std::int64_t rows) {
  HostImage out;
  out.type = image.type;
  const Size size{image.size().width, rows};
  out.planes = new_planes(image.type.cls, image.type.channels, size);
  if (!image.alpha.empty()) out.alpha = Plane(image.alpha.cls(), size);
  return out;
}

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
constexpr std::int64_t least_rows = 16;

}  // namespace

std::string PictureWork::why_not_in_bands() const {
  const io::ImageInfo& info = *picture_.info;
  const Plan& plan = picture_.program->plan;
  if (info.format != io::Format::tiff || info.orientation != 1) {
    return "only upright TIFFs are read some rows at a time";
  }
  if (picture_.is_stdin || picture_.content || picture_.missing_frame ||
      settings_.lanes->pipeline().has_source() || picture_.pages) {
    return "it is no file of one picture";
  }
  const bool to_file = !picture_.output.empty();
  if (to_file && (picture_.output_format != io::Format::tiff || settings_.in_place ||
                  picture_.output == "-" || io::is_written_into(picture_.output))) {
    return "only files of TIFF are written some rows at a time";
  }
  Banding banding = banding_of(*picture_.program);
  if (!banding.why_not.empty()) return banding.why_not;
  const ImageType& result = plan.values[plan.result].type;
  if (result.white == 0 && picture_.output_class != PixelClass::single) {
    return "a distance or label image is looked at whole before it is written";
  }
  if (plan.result_alpha && settings_.hash) return "a hash goes over its alpha after its pixels";
  return "";
}

std::int64_t PictureWork::plan_bands(std::int64_t memory) {
  const Program& program = *picture_.program;
  const Halo halo = banding_of(program).halo;
  const Size size = picture_.info->size();
  const std::int64_t step = std::max<std::int64_t>(1, picture_.info->tile.height);
  const auto bytes_of = [&](std::int64_t rows) {
    const Size part{size.width, std::min(size.height, rows + halo.up + halo.down + step)};
    const ImageBytes bytes = image_bytes(program, sizes_of(program, part, {}), 0);
    // Decoded rows are kept for the next band; a row of tiles waits until it is whole.
    const double tiles = static_cast<double>(size.width * step) *
                         bytes_per_pixel(program.plan.values[program.plan.result]);
    const double alphas = picture_.info->type.alpha ? 12.0 * static_cast<double>(part.pixels()) : 0;
    return 2 * bytes.input + bytes.on_device + 3 * bytes.result + tiles + alphas;
  };
  // More rows than a few hundred MB hold gain nothing.
  constexpr double enough = 384 << 20;
  const double most = std::min(enough, static_cast<double>(memory) / 2);
  std::int64_t rows = least_rows;
  while (2 * rows < size.height && bytes_of(2 * rows) <= most) rows *= 2;
  band_rows_ = rows;
  return static_cast<std::int64_t>(bytes_of(rows));
}

void PictureWork::compute_bands(int lane) {
  const io::ImageInfo& info = *picture_.info;
  const std::unique_ptr<io::PictureRows> rows = io::open_rows(picture_.path, info);
  if (!rows) {
    throw Error("out of memory: its samples lie in planes apart, or in YCbCr, and are read whole",
                ExitCode::file_failed);
  }
  if (settings_.decode.metadata) {
    io::MetadataRead read = io::read_metadata(picture_.path, info);
    metadata_ = std::move(read.metadata);
    lost_ = std::move(read.lost);
  }
  const Plan& plan = picture_.program->plan;
  const Size size = info.size();
  std::optional<io::RowsFile> file;
  if (!picture_.output.empty() && !settings_.dry_run) {
    ImageType type = plan.values[plan.result].type;
    type.alpha = plan.result_alpha.has_value();
    io::Encoded losses;
    losses.lost = lost_;
    file.emplace(picture_.output, io::RowsTarget{type, picture_.output_class, size, info.tile},
                 metadata_, settings_.encode, losses.lost);
    tell_losses(losses);
  }
  const Halo halo = banding_of(*picture_.program).halo;
  BandReader reader(*rows);
  PixelHash hash;
  for (std::int64_t y = 0; y < size.height;) {
    check_time();
    const Band band =
        band_at(y, size.height, halo, band_rows_, std::max<std::int64_t>(1, info.tile.height));
    material_ = {.image = reader.read(band), .operands = {}};
    compute_image(lane);
    HostImage made = image_like(outcome_.image, band.y_end - band.y);
    copy_rows(outcome_.image, band.y - band.input_y, band.y_end - band.input_y, made, 0);
    outcome_.image = {};
    if (settings_.hash) hash.add(made.planes, size.height);
    if (file) file->write(made, result_.clipped);
    y = band.y_end;
  }
  if (file) file->commit(settings_.maker);
  FileReport::Row row{.page = 0, .columns = {}, .values = {}, .hash = {}};
  if (settings_.hash) row.hash = hash.text();
  result_.rows.push_back(std::move(row));
}

}  // namespace impipe::engine
