#include "engine/batch/picture_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/kept_bytes.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/batch/picture_bands.hpp"
#include "engine/batch/picture_pages.hpp"
#include "engine/batch/picture_whole.hpp"

namespace impipe::engine {

std::string why_too_large(const PictureJob& job) {
  if (job.picture.failure || !job.is_wanted()) return "";
  const PictureJob::Needs all = job.needs();
  const bool fits = all.bytes <= job.settings.memory && all.on_device <= job.settings.max_memory;
  std::string why_not = fits ? "" : why_not_in_bands(job);
  if (why_not.empty()) return "";
  return fmt::format("it takes at least {} as a whole, and --memory allows {}: {}",
                     memory_text(all.bytes), memory_text(job.settings.memory), why_not);
}

PictureWork::~PictureWork() {
  if (is_pooled(picture(), result_)) keep_bytes(std::move(result_.bytes));
}

std::optional<std::int64_t> PictureWork::prepare() {
  const FileAtWork at_work(job_.picture.path.c_str());
  if (job_.picture.failure) throw Error(job_.picture.failure->message, ExitCode::file_failed);
  PictureSettings& settings = job_.settings;
  if (!job_.is_wanted()) return std::nullopt;
  const PictureJob::Needs all = job_.needs();
  std::int64_t estimate = all.bytes;
  std::optional<BandPlan> bands;
  if (settings.encode.zarr_part) {
    if (const std::string why_not = why_not_in_parts(job_); !why_not.empty()) {
      io::fail("--shard-by chunks: ", why_not);
    }
    bands = plan_bands(job_, std::min<std::int64_t>(settings.memory / 2, 384 << 20));
  } else if (estimate > settings.memory || all.on_device > settings.max_memory) {
    const std::string why_not = why_not_in_bands(job_);
    if (why_not.empty()) {
      // More rows than a few hundred MB hold gain nothing.
      bands = plan_bands(job_, std::min<std::int64_t>(settings.memory / 2, 384 << 20));
    } else if (all.on_device > settings.max_memory) {
      constexpr double giga = 1 << 30;
      io::fail(fmt::format("out of memory: its images take {:.1f} GiB, and there are {:.1f}; {}",
                           all.on_device / giga, settings.max_memory / giga, why_not));
    }
  }
  if (!bands && !job_.has_reduction() && prefers_bands(job_, estimate))
    bands = plan_small_bands(job_);
  if (bands) {
    estimate = bands->bytes;
    worker_ = std::make_unique<BandedPicture>(job_, result_, bands->rows);
  } else if (job_.is_paged()) {
    worker_ = std::make_unique<PagedPicture>(job_, result_);
  } else {
    worker_ = std::make_unique<WholePicture>(job_, result_, all.coded_fits);
  }
  std::int64_t known = settings.largest;
  while (known < estimate && !settings.largest.compare_exchange_weak(known, estimate)) {
  }
  return estimate;
}

void PictureWork::decode() {
  const FileAtWork at_work(job_.picture.path.c_str());
  worker_->decode();
}

void PictureWork::compute(int lane) {
  const FileAtWork at_work(job_.picture.path.c_str());
  worker_->compute(lane);
}

void PictureWork::encode() {
  const FileAtWork at_work(job_.picture.path.c_str());
  worker_->encode();
}

std::vector<const FileWork*> PictureWork::compute_stack(int lane,
                                                        std::span<FileWork* const> files) {
  std::vector<WholePicture*> pictures;  // no others have a stack
  for (FileWork* file : files) {
    pictures.push_back(static_cast<WholePicture*>(static_cast<PictureWork*>(file)->worker_.get()));
  }
  return pictures.front()->compute_stack(lane, pictures);
}

}  // namespace impipe::engine
