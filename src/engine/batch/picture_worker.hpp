// One way of working on a picture: as a whole, page by page, or in bands of rows.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/batch/picture_job.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {

// Whether the bytes of a picture's result are from the pool of buffers (core/kept_bytes).
bool is_pooled(const Picture& picture, const PictureResult& result);

// The parts are FileWork's.
class PictureWorker {
 public:
  // What becomes of the work is added to `result`; both outlive this.
  PictureWorker(const PictureJob& job, PictureResult& result)
      : job_(job), picture_(job.picture), settings_(job.settings), result_(result) {}
  virtual ~PictureWorker() = default;
  virtual void decode() {}
  virtual void compute(int lane) = 0;
  virtual void encode() {}
  virtual FileWork::Within within_compute() const { return {}; }
  virtual FileWork::Stack stack() const { return {}; }

 protected:
  // The bytes of the file; what came through a pipe is used up.
  io::Bytes read_file(io::FileStamp& stamp);
  // Those of --with. stamp: of the file, the last of the sources.
  void decode_operands(const io::FileStamp& stamp);
  // Whether an operand's file has as many pages as the input: each goes with one of the input's.
  bool is_by_page(size_t operand) const;
  // Reads an operand that goes by page; here the page that goes with the input's only one.
  virtual io::FileStamp read_by_page(size_t operand);
  // Takes over what was decoded of an operand.
  void take_operand(size_t operand, Operand::Decoded read);
  // Takes over what a decoder made.
  void take(io::Decoded decoded);
  // What `material_` holds.
  void compute_image(int lane);
  std::optional<size_t> compute_material(const Lanes::Turn& turn);  // see ComputedAt::device
  void compute_on(Session& session, Queue& queue, Material material);
  // The part of the pipeline that `material_` and `outcome_` belong to.
  const Program& part() const { return part_of(*picture_.program, part_); }
  // Asked while `material_` is there.
  virtual ExecuteOptions execute_options(Session& session) const;
  virtual std::shared_ptr<const Program> program_on(Session& session, Queue& queue,
                                                    const Material& material);
  // Makes the pixels of a material that was meant for a device.
  virtual void decode_for_cpu() {}
  // Where and when something was computed.
  struct ComputedAt {
    std::optional<size_t> device;  // of the lanes; none: the CPU, for want of a device's memory
    int lane = 0;
    double begin = 0;  // on the steady clock
  };
  void computed(const ComputedAt& turn);  // the outcome is there
  void add_note(std::string note);        // once
  // In the place of the one that was planned; reports what that did not know.
  void take_program(std::shared_ptr<const Program> program);
  void add_row(int page);
  // Nothing of what was computed counts: it is done again, to be written as floats.
  void forget_results();

  // An image of the plan, of a page of the input, and the kind of file that it goes into.
  struct PlanImage {
    ValueId value = 0;
    const io::ImageInfo& input;
    Size size;
    io::OutputType type;
    bool apart = false;  // each page has a file of its own
  };
  // What became of the pixels of an input on the way to a value of the plan, which has this size.
  PixelChange change_of(const io::ImageInfo& input, ValueId value, Size size, bool apart) const;
  // The profile of a value of the plan becomes that of the metadata; false where it is already.
  // Reports colours that --strip makes others.
  bool follow_profile(const ImageType& result);
  // What the metadata have to know of this run before an image is encoded.
  void tell_change(const io::ImageInfo& input, ValueId value, Size size, bool apart = false);
  // Tells the metadata whether the file that the image goes into is an OME-TIFF, by its name, and
  // whether the image is a page of several there.
  void tell_file(const std::filesystem::path& path, bool is_page);
  // The parts of an EXR beside the picture: those that its result has, and those that are lost.
  void tell_parts(bool apart);
  io::Encoded encode_image(const HostImage& image, const PlanImage& of);
  // One file of pages, each a file, and of the input's other parts.
  io::Bytes with_parts(io::Format format, io::Bytes bytes, bool apart);
  io::Bytes joined(io::Format format, std::span<const io::Bytes> pages, bool is_image,
                   const io::FileAxes& file);
  // Reports pages whose coordinates along the axes are not known, as some between them are missing.
  io::Bytes joined_zarr(std::span<const io::Bytes> pages, const io::FileAxes& file);
  io::Bytes joined_npy(std::span<const io::Bytes> pages, const io::FileAxes& file) const;
  // What a file of this name holds where the pipeline ends in a measurement.
  io::Bytes encode_measured(const std::filesystem::path& path) const;
  void write(const std::filesystem::path& path, io::Bytes bytes);
  // Says what gets lost on the way to `path`. In place nothing may, nor with --strict: Error.
  void tell_losses(const io::Encoded& encoded);
  // Adds to the result what encoding did, as tell_losses does, and hands the file on.
  io::Encoded noted(io::Encoded encoded);

  const PictureJob& job_;
  Picture& picture_;
  PictureSettings& settings_;
  PictureResult& result_;
  Material material_;
  std::vector<io::FileStamp> stamps_;  // of the sources, when they were read
  io::Metadata metadata_;
  std::vector<std::string> lost_;  // what the file holds beside the image and its metadata
  Outcome outcome_;
  int part_ = 0;
  io::Bytes file_;  // as long as there is more to read in it

 private:
  // What was noted of this image, or of all that were computed with it.
  void tell_times(const ComputedAt& turn, const StepTimes::Places& steps) const;
};

}  // namespace impipe::engine
