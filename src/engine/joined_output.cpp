// Results that follow each other in one file or on stdout.
#include "engine/joined_output.hpp"

#include "core/error.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/formats/zarr/zarr_format.hpp"

namespace impipe::engine {
namespace {

std::string note_of_raw(const std::string& kind) {
  const size_t space = kind.find(' ');
  return "raw samples of " + kind + ": ffmpeg -f rawvideo -pixel_format " + kind.substr(space + 1) +
         " -video_size " + kind.substr(0, space) + " -i FILE";
}

}  // namespace

std::span<const std::byte> JoinedOutput::add(const Picture& picture, const PictureResult& result,
                                             const PictureSettings& settings) {
  if (output_ && *output_ != picture.output) end(settings);
  const std::span<const std::byte> bytes(result.bytes);
  if (settings.dry_run || (bytes.empty() && result.pages.empty())) return {};
  std::span<const std::byte> rest = bytes;
  if (picture.output != "-" && !io::writes_stream(picture.output_format)) {
    output_ = picture.output;
    format_ = picture.output_format;
    if (!bytes.empty()) pages_.push_back(result.bytes);
    pages_.insert(pages_.end(), result.pages.begin(), result.pages.end());
    return {};
  }
  if (!output_) {
    output_ = picture.output;
    common_ = result.common;
    if (picture.output_format == io::Format::raw) note_ = note_of_raw(common_);
    if (picture.output != "-") file_ = std::make_unique<io::GrowingFile>(picture.output);
  } else if (result.common != common_) {
    io::fail("the result is ", result.common, ", and those before it in '", *output_, "' are ",
             common_);
  } else {
    rest = bytes.subspan(result.head);
  }
  if (picture.output == "-") return rest;
  if (file_) file_->write(rest);
  return {};
}

void JoinedOutput::end(const PictureSettings& settings) {
  if (!is_whole_ && !pages_.empty()) {
    pages_.clear();
    note_ = "'" + *output_ + "' is not written: of its pages some are missing, since inputs failed";
  }
  const std::string_view maker = is_whole_ ? std::string_view(settings.maker) : "incomplete";
  if (!pages_.empty() && format_ == io::Format::zarr) {
    io::write_picture(*output_, io::join_zarr_pages(pages_, {}, {}), maker, settings.disks.get());
    pages_.clear();
  }
  if (!pages_.empty()) {
    file_ = std::make_unique<io::GrowingFile>(*output_);
    std::string lost;
    file_->write(format_ == io::Format::tiff ? io::join_tiff_pages(pages_, false, &lost)
                                             : io::join_npy_pages(pages_, nullptr));
    if (!lost.empty()) {
      note_ = "'" + *output_ + "' is written without " + lost + " of the first file, which says " +
              "nothing of the pages of the others";
    }
    pages_.clear();
  }
  if (file_) file_->commit(maker, settings.disks.get());
  file_.reset();
  output_.reset();
  is_whole_ = true;
}

}  // namespace impipe::engine
