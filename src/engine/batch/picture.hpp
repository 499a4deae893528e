// A picture file of a run, what all of them share, and what is reported of each.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch/file_report.hpp"
#include "engine/batch/operands.hpp"
#include "engine/batch/page_groups.hpp"
#include "engine/batch/profile.hpp"
#include "engine/batch/stack_sink.hpp"
#include "engine/batch/timeline.hpp"
#include "engine/device/lanes.hpp"
#include "engine/device/session.hpp"
#include "io/codec.hpp"
#include "io/files/file_stamp.hpp"
#include "io/files/inputs.hpp"
#include "io/files/outputs.hpp"
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
    std::vector<io::PageAxis> axes;    // of all pages of the file
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
  std::shared_ptr<const Program> program;  // of its first part, see Program::then
  io::Format output_format : 8 = io::Format::png;
  PixelClass output_class : 8 = PixelClass::uint8;
  // The part that it begins with: that of the result of `stack` is behind those of the files.
  std::uint8_t first_part = 0;
  bool is_stdin : 1 = false;
  bool missing_frame : 1 = false;
  bool joined : 1 = false;         // its result follows others in `output`
  bool is_new : 1 = false;         // came while the run went on: what is there already is older
  int frame = 0;                   // of a stream, from 1; 0: none
  std::string output;              // "-": stdout; empty when nothing is written
  std::unique_ptr<Pages> pages;    // of a file that has several, else null
  std::unique_ptr<Stream> stream;  // of a stream, else null
  std::unique_ptr<std::vector<Save>> saves;  // one a save of its parts' plans, or null

  const std::map<std::string, ImageType>& partner_types() const;
  const std::map<std::string, Size>& partner_sizes() const;
  // The parts of the pipeline that it goes through, as it has a program: to `stack`, or to the end.
  std::vector<const Program*> parts() const;
  PageList all_pages() const;  // of the file
  // The pages that reach a part, of those above: those of the file, the ones that they become, or
  // those of a volume of another size.
  PageList pages_before(size_t part) const;
  // Whether what reaches the part, of those above, is one image of all its pages.
  bool is_one_image(size_t part) const;
  // Of the last one of them.
  const Program& last_part() const { return *parts().back(); }
  // The page that it is, of the file or stream that it is taken of alone; 0: none, or several.
  int only_page() const;
  bool has_one_result() const { return is_one_image(parts().size() - 1); }
  bool is_stack() const { return first_part > 0; }
};

// What all pictures of a run share.
struct PictureSettings {
  Lanes* lanes = nullptr;
  std::vector<std::unique_ptr<Operand>> operands;
  io::PipeBudget pipes = 0;  // bytes of pipes that may be kept, of those that --memory allows
  io::DecodeOptions decode;
  io::EncodeOptions encode;
  bool by_frames = true;  // frames of a stream go by themselves, as they come; else they are pages
  bool shrink_on_load = false;
  CodecPlace codec_place = CodecPlace::automatic;
  ThreadPool* pool = nullptr;
  std::string scratch;         // a folder for images that wait; empty: the system's
  StackSink* stack = nullptr;  // where the images go that `stack` takes
  double max_memory = 0;       // bytes that there are
  std::int64_t memory = 0;     // bytes that pictures may take (--memory)
  int part = 1, parts = 1;     // of the chunks of each result
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
  io::Bytes bytes;               // the encoded result that goes to stdout, or behind others
  std::vector<io::Bytes> pages;  // instead of `bytes`, of several that go behind others' pages
  io::FileAxes axes;             // of these
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

// Whether it is a table of outlines that -o writes: its rows, often millions, are not told, too.
bool is_written_outline(const PlanMeasurement& measurement, const Plan& plan,
                        const Picture& picture);

// The rows that a picture has, without numbers: one, or one for each table of objects.
std::vector<FileReport::Row> kinds_of_rows(const Plan& plan, const Picture& picture);

}  // namespace impipe::engine
