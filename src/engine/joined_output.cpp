// Results that follow each other in one file or on stdout.
#include "engine/joined_output.hpp"

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/fits/fits_cards.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/formats/zarr/zarr_format.hpp"

namespace impipe::engine {
namespace {

// What x and y measure, and not where the first of them lies: that is another in each file.
std::vector<io::MeasuredAxis> sizes_of_pixels(std::vector<io::MeasuredAxis> measured) {
  std::erase_if(measured,
                [](const io::MeasuredAxis& axis) { return axis.name != "x" && axis.name != "y"; });
  for (io::MeasuredAxis& axis : measured) axis.translation = 0;
  return measured;
}

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
    format_ = picture.output_format;
    add_axes(result.axes);
    output_ = picture.output;
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

void JoinedOutput::add_axes(const io::FileAxes& of) {
  const std::vector<io::MeasuredAxis> sizes = sizes_of_pixels(of.measured);
  if (!output_) {
    axes_ = {.measured = sizes, .is_ome = of.is_ome, .of_files = true};
    has_one_size_ = true;
  }
  has_one_size_ = has_one_size_ && sizes == axes_.measured;
  if (!has_one_size_ && format_ == io::Format::zarr) {
    io::fail(
        "its pixels have another size in the scene than those of the inputs before it, and a "
        "Zarr says one of all; -o '{stem}.zarr' names each");
  }
}

void JoinedOutput::write_pages(const PictureSettings& settings) {
  const std::string_view maker = is_whole_ ? std::string_view(settings.maker) : "incomplete";
  std::vector<std::string> lost;
  if (!has_one_size_) {
    axes_.measured.clear();
    lost.emplace_back("the sizes of pixels, which differ");
  }
  if (format_ == io::Format::zarr) {
    io::write_picture(*output_, io::join_zarr_pages(pages_, axes_, lost), maker,
                      settings.disks.get());
  } else {
    io::Bytes joined = format_ == io::Format::tiff   ? io::join_tiff_pages(pages_, axes_, lost)
                       : format_ == io::Format::fits ? io::join_fits_pages(pages_, axes_, lost)
                                                     : io::join_npy_pages(pages_, nullptr);
    file_ = std::make_unique<io::GrowingFile>(*output_);
    file_->write(joined);
  }
  if (!lost.empty()) {
    note_ = fmt::format("'{}' is written without {}", *output_, fmt::join(lost, ", "));
  }
}

bool JoinedOutput::end(const PictureSettings& settings) {
  const bool is_missing = !is_whole_ && !pages_.empty();
  if (is_missing) {
    pages_.clear();
    note_ = "'" + *output_ + "' is not written: of its pages some are missing, since inputs failed";
  }
  const std::string_view maker = is_whole_ ? std::string_view(settings.maker) : "incomplete";
  if (!pages_.empty()) write_pages(settings);
  pages_.clear();
  if (file_) file_->commit(maker, settings.disks.get());
  file_.reset();
  output_.reset();
  is_whole_ = true;
  return !is_missing;
}

}  // namespace impipe::engine
