// The work on one picture file, as a batch runs it.
#pragma once

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
#include "io/frame_reader.hpp"
#include "io/inputs.hpp"
#include "io/outputs.hpp"

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
  };

  // Those that are asked for, of a file of several.
  struct Pages {
    std::vector<int> numbers;          // from 0
    std::vector<std::string> outputs;  // instead of `output`, a file a page; or empty
  };

  // Of a stream of frames: each is done as a picture of its own.
  struct Stream {
    std::shared_ptr<io::FrameReader> reader;  // of a pipe, whose header is read
    // Where each frame goes, if each has a file.
    std::optional<io::NameTemplate> name;
    io::NameFields fields;
    // frame: from 1. all: the output of the stream.
    std::string output_of(int frame, const std::string& all) const;
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
  bool is_stdin = false;
  bool missing_frame = false;
  bool joined = false;             // its result follows others in `output`
  int frame = 0;                   // of a stream, from 1; 0: none
  bool is_new = false;             // came while the run went on: what is there already is older
  std::string output;              // "-": stdout; empty when nothing is written
  std::unique_ptr<Pages> pages;    // of a file that has several, else null
  std::unique_ptr<Stream> stream;  // of a stream, else null
  std::unique_ptr<std::vector<std::filesystem::path>> saves;  // one a save of the plan, or null

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
  double max_memory = 0;  // bytes that there are
  bool in_place = false;
  std::optional<PixelClass> cls;  // -d
  bool dry_run = false;
  bool update = false;
  std::string maker;  // of the results: what a later run with -u compares
  std::vector<std::filesystem::path> pipeline_files;  // that the pipeline reads: @kernel.txt
  bool no_clobber = false;
  bool strict = false;  // what would be left out of a result is an error
  bool hash = false;
  std::vector<std::string> stage_texts;
  std::function<bool()> stop;
  std::atomic<std::int64_t> largest = 0;  // bytes of a picture, as they were estimated
  std::string array_name;                 // of a measurement that a row has whole
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
  void compute_stack(int lane, std::span<FileWork* const> files) override;
  void encode() override;
  // Not what came through a pipe and is used up.
  bool may_repeat() const override { return !piped_ && !picture_.failure; }
  void release() override;

  const Picture& picture() const { return picture_; }
  const PictureResult& result() const { return result_; }
  // Whether there is anything left to make: a file, or something for stdout.
  bool is_wanted() const;

 private:
  // Whether the run stops, or this file has had its time.
  bool is_over() const { return is_late() || (settings_.stop && settings_.stop()); }
  // Throws Error when the file has had its time.
  void check_time() const;
  // Whether -u and --no-clobber let this file be written.
  bool may_write(const std::filesystem::path& path) const;
  void compute_on(Session& session, Queue& queue, Material material);
  void compute_image(int lane);  // what `material_` holds
  // Where and when something was computed.
  struct Turn {
    std::optional<size_t> device;  // of the lanes; none: the CPU, for want of a device's memory
    int lane = 0;
    double begin = 0;  // on the steady clock
  };
  void computed(const Turn& turn);  // the outcome is there
  // What was noted of this image, or of all that were computed with it.
  void tell_times(const Turn& turn, const std::vector<int>& steps) const;
  bool has_pages() const { return picture_.pages && picture_.pages->numbers.size() > 1; }
  // Takes over what a decoder made.
  void take(io::Decoded decoded);
  // Of several pages one after the other, so that no more than one is in memory, as pixels.
  void compute_pages(int lane);
  // Encodes what was computed, of page `which` of those that are asked for; writes it where each
  // page has a file.
  void encode_page(size_t which, const io::ImageInfo& info);
  void add_row(int page);
  void write(const std::filesystem::path& path, io::Bytes bytes);
  // Puts a page behind those before it, in `result_`.
  void append_page(io::Encoded encoded);
  // Says what gets lost on the way to `path`. In place nothing may, nor with --strict: Error.
  void tell_losses(const io::Encoded& encoded);
  io::Bytes encode_measurement() const;
  io::Bytes encode_objects() const;

  Picture& picture_;
  PictureSettings& settings_;
  const std::int64_t index_;
  Material material_;
  io::Metadata metadata_;
  std::vector<std::string> lost_;  // what the file holds beside the image and its metadata
  Outcome outcome_;
  bool piped_ = false;              // the file came through a pipe
  io::Bytes file_;                  // of several pages
  std::vector<io::Bytes> encoded_;  // of the pages, each a file
  size_t pages_done_ = 0;
  PictureResult result_;
};

// The columns of a picture's row, and the measurement that it has whole, without its numbers.
void add_columns(FileReport::Row& row, const Plan& plan, const Picture& picture,
                 const PictureSettings& settings);

// FNV-1a, 64 bits, of the class, channels, size and pixels: 16 hexadecimal digits. Equal images
// have equal hashes, whatever the format of their files.
std::string pixel_hash(const HostImage& image);
// 16 hexadecimal digits.
std::string text_hash(std::string_view text);

}  // namespace impipe::engine
