// The work on one picture file, as a batch runs it.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch/batch.hpp"
#include "engine/batch/file_report.hpp"
#include "engine/batch/operands.hpp"
#include "engine/batch/profile.hpp"
#include "engine/batch/timeline.hpp"
#include "engine/device/lanes.hpp"
#include "engine/device/session.hpp"
#include "io/codec.hpp"
#include "io/files/file_stamp.hpp"
#include "io/files/inputs.hpp"
#include "io/files/outputs.hpp"
#include "io/files/picture_rows.hpp"
#include "io/files/read_picture.hpp"
#include "io/files/unsynced_disks.hpp"
#include "io/formats/y4m/frame_reader.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::engine {

// What is settled for one input before the batch starts. There may be millions: it is kept small.
struct Picture {
  // What came before the batch failed.
  struct Failure {
    std::string stage;
    std::string message;
    int tries = 1;
  };
  // The images that --with gives it.
  struct Partners {
    std::vector<std::filesystem::path> paths;  // one an operand
    std::map<std::string, ImageType> types;
    std::map<std::string, Size> sizes;
    std::vector<const io::ImageInfo*> infos;  // as `paths`; see Picture::info
  };

  // Those that are asked for, of a file of several.
  struct Pages {
    std::vector<int> numbers;          // from 0
    std::vector<int> others;           // parts of an EXR that an EXR of the result has as they are
    bool apart = false;                // each page has a file of its own
    std::vector<std::string> outputs;  // instead of `output`, a file a page; or empty
  };

  // What a `save` of the plan writes.
  struct Save {
    io::Format format = io::Format::png;
    bool apart = false;                        // each page has a file of its own
    std::vector<std::filesystem::path> files;  // one, or one a page
    // which: of the pages that are processed.
    const std::filesystem::path& file_of(std::size_t which) const {
      return files.size() == 1 ? files.front() : files[which];
    }
  };

  // Of a stream of frames: each is done as a picture of its own.
  struct Stream {
    struct Name {
      io::NameTemplate name;
      io::NameFields fields;
      std::string of(int frame) const;  // from 1
    };
    std::shared_ptr<io::FrameReader> reader;  // of a pipe, whose header is read
    std::optional<Name> output;               // if each frame's result has a file
    std::vector<Name> saves;                  // one a save of the plan
  };

  // One failure takes no memory: that there is none.
  static const Failure out_of_memory;
  struct FailureDeleter {
    void operator()(const Failure* failure) const {
      if (failure != &out_of_memory) delete failure;
    }
  };

  std::string path;                     // as it is opened
  const io::ImageInfo* info = nullptr;  // shared by all that are alike; null until it is known
  std::unique_ptr<io::Bytes> content;   // of stdin or a pipe, which can be read only once
  std::unique_ptr<Partners> partners;   // null without operands
  std::unique_ptr<const Failure, FailureDeleter> failure;
  std::shared_ptr<const Program> program;
  io::Format output_format : 8 = io::Format::png;
  PixelClass output_class : 8 = PixelClass::uint8;
  bool is_stdin : 1 = false;
  bool missing_frame : 1 = false;
  bool joined : 1 = false;         // its result follows others in `output`
  bool is_new : 1 = false;         // came while the run went on: what is there already is older
  int frame = 0;                   // of a stream, from 1; 0: none
  std::string output;              // "-": stdout; empty when nothing is written
  std::unique_ptr<Pages> pages;    // of a file that has several, else null
  std::unique_ptr<Stream> stream;  // of a stream, else null
  std::unique_ptr<std::vector<Save>> saves;  // one a save of the plan, or null

  const std::map<std::string, ImageType>& partner_types() const;
  const std::map<std::string, Size>& partner_sizes() const;
};

// What all pictures of a run share.
struct PictureSettings {
  Lanes* lanes = nullptr;
  std::vector<std::unique_ptr<Operand>> operands;
  io::PipeBudget pipes = 0;  // bytes of pipes that may be kept, of those that --memory allows
  io::DecodeOptions decode;
  io::EncodeOptions encode;
  bool shrink_on_load = false;
  JpegCodec jpeg_codec = JpegCodec::automatic;
  double max_memory = 0;    // bytes that there are
  std::int64_t memory = 0;  // bytes that pictures may take (--memory)
  bool in_place = false;
  std::optional<PixelClass> cls;  // -d
  bool dry_run = false;
  bool update = false;
  std::string maker;  // of the results: what a later run with -u compares
  std::vector<std::filesystem::path> pipeline_files;  // that the pipeline reads: @kernel.txt
  std::vector<io::FileStamp> pipeline_stamps;         // of these, when they were read
  std::unique_ptr<io::UnsyncedDisks> disks;           // that results go to; null: --no-sync
  bool no_clobber = false;
  bool strict = false;  // what would be left out of a result is an error
  bool hash = false;
  std::vector<std::string> stage_texts;
  std::function<bool()> stop;
  std::atomic<std::int64_t> largest = 0;  // bytes of a picture, as they were estimated
  // For a profile: where times are told.
  Timeline* timeline = nullptr;
  StepTimes step_times;
};

// What stays of the work for the report.
struct PictureResult {
  std::vector<FileReport::Row> rows;
  io::Bytes bytes;  // the encoded result that goes to stdout, or behind others
  // Of those that follow each other, see io::Encoded.
  std::string common;
  std::size_t head = 0;
  std::int64_t clipped = 0;
  // What the file has beside its picture and the result has not, for a warning.
  std::vector<std::string> lost;
  std::vector<std::string> notes;  // what else the user should know of this file
  io::Inexact inexact;             // of the input's values
  // The type of the input's samples, where that does not hold the result.
  io::SampleType widened = io::SampleType::of_class;
  int shrink = 1;  // so many pixels of each side were read as one
  bool decoded_on_device = false, encoded_on_device = false;
};

class PictureWork : public FileWork {
 public:
  // index: of the file, among those of the run.
  PictureWork(Picture& picture, PictureSettings& settings, std::int64_t index)
      : picture_(picture), settings_(settings), index_(index) {}

  std::optional<std::int64_t> prepare() override;
  void decode() override;
  void compute(int lane) override;
  Stack stack() const override;
  std::vector<const FileWork*> compute_stack(int lane, std::span<FileWork* const> files) override;
  void encode() override;
  Within within_compute() const override { return within_; }
  // Not what came through a pipe and is used up.
  bool may_repeat() const override { return !piped_ && !picture_.failure; }
  void release() override;

  const Picture& picture() const { return picture_; }
  const PictureResult& result() const { return result_; }
  // Why the picture, which can't be done some rows at a time, takes more than --memory allows;
  // empty where it does not. Throws as `prepare` does.
  std::string why_too_large();
  // Whether there is anything left to make: a file, or something for stdout.
  bool is_wanted() const;

 private:
  // Whether the run stops, or this file has had its time.
  bool is_over() const { return is_late() || (settings_.stop && settings_.stop()); }
  std::function<bool()> stop() const {
    return [this] { return is_over(); };
  }
  // Throws Error when the file has had its time.
  void check_time() const;
  // Whether -u and --no-clobber let this file be written.
  bool may_write(const std::filesystem::path& path) const;
  template <class Paths>
  bool may_write_any(const Paths& paths) const {
    return std::any_of(paths.begin(), paths.end(),
                       [this](const auto& path) { return may_write(path); });
  }
  // What a result is made of: files that the pipeline reads, partners, the input.
  std::vector<std::filesystem::path> sources() const;
  void compute_on(Session& session, Queue& queue, Material material);
  void compute_image(int lane);                                     // what `material_` holds
  std::optional<size_t> compute_material(const Lanes::Turn& turn);  // see Turn::device
  // Whether a JPEG may stay as it is until it is on a device.
  bool keeps_coded() const;
  // Whether images of pixels come back from a device.
  bool writes_pixels() const;
  // Whether the result becomes a JPEG of which nothing else is wanted.
  bool encodes_jpeg() const;
  // What makes the result a JPEG while it is on the session's device; null where nothing is to.
  std::shared_ptr<const Kernel> encoder_of(Session& session) const;
  // Makes the pixels of a JPEG that was meant for a device. Fails as the decoding part.
  void decode_on_host();
  // Where and when something was computed.
  struct Turn {
    std::optional<size_t> device;  // of the lanes; none: the CPU, for want of a device's memory
    int lane = 0;
    double begin = 0;  // on the steady clock
  };
  void computed(const Turn& turn);  // the outcome is there
  // What was noted of this image, or of all that were computed with it.
  void tell_times(const Turn& turn, const StepTimes::Places& steps) const;
  bool has_pages() const { return picture_.pages && picture_.pages->numbers.size() > 1; }
  // Whether an EXR of the result, if pages share it, has parts of the input as they are.
  bool has_other_parts() const { return picture_.pages && !picture_.pages->others.empty(); }
  // Whether each page of the result has a file of its own.
  bool is_apart() const { return picture_.pages && picture_.pages->apart; }
  // How many pixels of each side are read as one.
  int shrink_of(const io::ImageInfo& info) const;
  // Takes over what a decoder made.
  void take(io::Decoded decoded);
  // Of several pages one after the other, so that no more than one is in memory, as pixels.
  void compute_pages(int lane);
  // False where a page has values that the type of those before it in the file does not hold.
  bool pages_are_alike(int lane, const std::map<std::string, HostImage>& operands);
  // Nothing of what was computed counts: it is done again, to be written as floats.
  void begin_again_with_floats();
  // Says that single does not hold values of a file. In place nothing may get lost, nor with
  // --strict: Error. of: what stands before the reason.
  void tell_inexact(const io::Inexact& inexact, const std::string& of = "") const;
  void note_widened(const io::Encoded& encoded);
  // Why the picture has to be computed as a whole; empty when it may be done in bands of rows.
  std::string why_not_in_bands() const;
  // Whether it goes in bands though it fits into memory as a whole, which takes `estimate` bytes.
  bool prefers_bands(std::int64_t estimate) const;
  // Settles how many rows a band has so that it takes no more than `memory`, or little where there
  // is no need to save; returns the bytes that it takes.
  std::int64_t plan_bands(std::int64_t memory);
  std::int64_t plan_small_bands();
  double bytes_of_band(std::int64_t rows) const;
  std::int64_t rows_of_bands(std::int64_t memory) const;
  // From file to file.
  void compute_bands(int lane);
  // False as pages_are_alike.
  bool bands_are_alike(int lane);
  std::unique_ptr<io::PictureRows> open_bands();
  // Where the rows of the result go.
  struct BandTarget;
  std::unique_ptr<BandTarget> make_band_target();
  void finish_bands(BandTarget& target);
  // A part of the work on a band that belongs to decoding or encoding.
  void within(Part part, int lane, const std::function<void()>& work);
  // An image of the plan, of a page of the input, and the kind of file that it goes into.
  struct PlanImage {
    ValueId value = 0;
    const io::ImageInfo& input;
    Size size;
    io::OutputType type;
    bool apart = false;  // each page has a file of its own
  };
  // The pages of one file, each encoded as a file; those of a stream are one behind the other in
  // the first.
  struct EncodedPages {
    std::vector<io::Bytes> files;
    std::string common;  // see io::Encoded
    std::size_t head = 0;
  };
  // What became of the pixels of an input on the way to a value of the plan, which has this size.
  PixelChange change_of(const io::ImageInfo& input, ValueId value, Size size, bool apart) const;
  // What the metadata have to know of this run before an image is encoded.
  void tell_change(const io::ImageInfo& input, ValueId value, Size size, bool apart = false);
  // The parts of an EXR beside the picture: those that its result has, and those that are lost.
  void tell_parts(bool apart);
  io::Encoded encode_image(const HostImage& image, const PlanImage& of);
  // One file of pages, each a file, and of the input's other parts.
  io::Bytes with_parts(io::Format format, io::Bytes bytes, bool apart) const;
  io::Bytes joined(io::Format format, std::span<const io::Bytes> pages, bool is_image = true) const;
  void write_pages(const std::filesystem::path& path, io::Format format, EncodedPages pages,
                   bool is_image = true);
  // Encodes what was computed, of page `which` of those that are asked for; writes it where each
  // page has a file.
  // False where a file of pages is of a type that does not hold this one.
  [[nodiscard]] bool encode_page(size_t which, const io::ImageInfo& info);
  // The same of one image, which goes into `path`, or `pages` if they share a file.
  [[nodiscard]] bool encode_page_of(HostImage image, const PlanImage& of, EncodedPages& pages,
                                    const std::filesystem::path& path);
  void add_row(int page);
  void add_objects(const FileReport::Row& kind, std::span<const double> numbers);
  void write(const std::filesystem::path& path, io::Bytes bytes);
  // Puts a page of a stream behind those before it.
  static void append_page(io::Encoded encoded, EncodedPages& pages);
  // Bytes of the picture as a whole: at most at the same time, and those of its images alone.
  struct Needs {
    std::int64_t bytes = 0;
    double on_device = 0;
  };
  // Throws Error for results that are too large or could not be encoded.
  Needs needs();
  // Throws Error for what could not be encoded, as far as types and sizes tell.
  void check_results(const std::vector<Size>& sizes) const;
  // Says what gets lost on the way to `path`. In place nothing may, nor with --strict: Error.
  void tell_losses(const io::Encoded& encoded);
  // Throws Error where nothing may get lost, and something would. alpha: it is part of that.
  void check_losses(const std::vector<std::string>& lost, bool alpha) const;
  void encode_result();  // of a file of one picture
  Measurement last_measurement() const;
  // What a file of this name holds where the pipeline ends in a measurement.
  io::Bytes encode_measured(const std::filesystem::path& path) const;

  Picture& picture_;
  PictureSettings& settings_;
  const std::int64_t index_;
  Material material_;
  std::vector<io::FileStamp> stamps_;  // of the sources, when they were read
  io::Metadata metadata_;
  std::vector<std::string> lost_;  // what the file holds beside the image and its metadata
  Outcome outcome_;
  bool as_floats_ = false;      // whatever the type of the input's samples is
  bool coded_fits_ = true;      // what lies between a JPEG's data and its pixels on a device
  bool host_decodes_ = false;   // a JPEG that a device has found to be none for it
  bool piped_ = false;          // the file came through a pipe
  std::int64_t band_rows_ = 0;  // of a picture that is computed in bands
  std::shared_ptr<io::Inexact> inexact_;  // counted while bands of a TIFF are read
  Within within_;                         // of its computing
  // Of several pages, or with parts that go into the result, or a JPEG that is decoded later.
  io::Bytes file_;
  EncodedPages encoded_;                     // of several pages, the result
  std::vector<EncodedPages> encoded_saves_;  // and what `save` writes
  size_t pages_done_ = 0;
  PictureResult result_;
};

// The rows that a picture has, without numbers: one, or one for each table of objects.
std::vector<FileReport::Row> kinds_of_rows(const Plan& plan, const Picture& picture);

}  // namespace impipe::engine
