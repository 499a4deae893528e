// What is to be done with one picture file, however it is done.
#pragma once

#include <algorithm>

#include "engine/batch/batch.hpp"
#include "engine/batch/picture.hpp"

namespace impipe::engine {

// What lies between a JPEG's data and its pixels on a device, and between the result's pixels and
// its data; and between the chunks of a lossless picture and its pixels, a byte of them.
constexpr double coded_bytes_a_pixel = 16, packed_bytes_a_byte = 8;

struct PictureJob {
  Picture& picture;
  PictureSettings& settings;
  const std::int64_t index;        // of the file, among those of the run
  const FileWork* file = nullptr;  // whose time is limited; null: it is not

  bool is_late() const { return file != nullptr && file->is_late(); }
  // Whether the run stops, or this file has had its time.
  bool is_over() const { return is_late() || (settings.stop && settings.stop()); }
  std::function<bool()> stop() const {
    return [this] { return is_over(); };
  }
  // Throws Error when the file has had its time.
  void check_time() const;
  // Whether -u and --no-clobber let this file be written.
  bool may_write(const std::filesystem::path& path) const;
  template <class Paths>
  bool may_write_any(const Paths& paths) const {
    return std::ranges::any_of(paths, [this](const auto& path) { return may_write(path); });
  }
  // What a result is made of: files that the pipeline reads, partners, the input.
  std::vector<std::filesystem::path> sources() const;
  // Whether there is anything left to make: a file, or something for stdout.
  bool is_wanted() const;
  bool has_pages() const { return picture.pages && picture.pages->numbers.size() > 1; }
  // Whether the pipeline makes one image of several.
  bool has_reduction() const { return picture.is_stack() || picture.program->then; }
  // Whether the work goes page by page.
  bool is_paged() const { return has_pages() || has_reduction(); }
  // A part of the pipeline that the picture goes through, and the sizes of its values. Throws Error
  // for images that are too large.
  struct SizedPart {
    const Program* program = nullptr;
    std::vector<Size> sizes;
  };
  std::vector<SizedPart> sized_parts() const;
  // Whether an EXR of the result, if pages share it, has parts of the input as they are.
  bool has_other_parts() const { return picture.pages && !picture.pages->others.empty(); }
  // Whether each page of the result has a file of its own.
  bool is_apart() const { return picture.pages && picture.pages->apart; }
  // How many pixels of each side are read as one.
  int shrink_of(const io::ImageInfo& info) const;
  // Whether a JPEG may stay as it is until it is on a device.
  bool keeps_coded() const;
  // Whether arguments of the pipeline are numbers that are measured in the picture first: it is
  // decoded by the host, as a whole and alone.
  bool measures_arguments() const;
  // The same of a lossless picture: whether there is a device that could unpack any, and whether it
  // unpacks those of this form.
  bool may_keep_packed() const;
  bool keeps_packed(const PackedForm& form) const;
  // Whether the result becomes a file of which nothing else is wanted, and that file a JPEG.
  bool encodes_on_device() const;
  bool encodes_jpeg() const {
    return encodes_on_device() && picture.output_format == io::Format::jpeg;
  }
  // The kernel of a device's codec, as --codec wants it; null where the host does its work.
  std::shared_ptr<const Kernel> kernel_of(CodecKernel& codec, const Session& session) const;
  // Bytes on a device between the data of a picture of so many pixels and those.
  double coded_bytes(double pixels) const;
  // Whether images of pixels come back from a device.
  bool writes_pixels() const;
  // The picture as a whole.
  struct Needs {
    std::int64_t bytes = 0;  // at most at the same time
    double on_device = 0;    // of its images alone
    bool coded_fits = true;  // what lies between a JPEG's data and its pixels on a device
  };
  // Throws Error for results that are too large or could not be encoded.
  Needs needs() const;
  // Throws Error for what could not be encoded, as far as types and sizes tell.
  void check_results(const std::vector<SizedPart>& parts) const;
  ImageBytes bytes_of_parts(const std::vector<SizedPart>& parts, double& waiting) const;
  // Throws Error where nothing may get lost, in place or with --strict, and something would.
  // alpha: it is part of that.
  void check_losses(const std::vector<std::string>& lost, bool alpha) const;
  // The same where single does not hold values of a file. of: what stands before the reason.
  void check_inexact(const io::Inexact& inexact, const std::string& of = "") const;
};

}  // namespace impipe::engine
