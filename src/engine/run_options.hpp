// What a run is asked to do.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/session.hpp"
#include "engine/sandbox.hpp"
#include "io/codec.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::engine {

enum class MissingFrame { error, skip, black };

// How files are shared out among the parts of a job. order: one after the other in the order of
// their names; bytes: parts have about as many bytes; name: by a hash of each name alone, so that
// other files change nothing; chunks: parts do rows of chunks of each file, and write one Zarr.
enum class ShardBy { order, bytes, name, chunks };

// Pages, from 1, the last one included.
struct PageRange {
  int first = 1, last = 1;
  bool is_open() const { return last == std::numeric_limits<int>::max(); }
};

struct RunOptions {
  DeviceChoice device;
  SessionOptions session;

  std::vector<std::string> inputs;
  bool recursive = false;
  std::string watch;  // a folder whose pictures are done as they come; instead of inputs
  double idle = 0;    // of a watch: it ends when nothing has come for so many seconds; or never
  std::string files_from;  // a list of inputs, "-" is stdin
  bool nul_separated = false;
  std::vector<std::int64_t> frames;  // of numbered inputs, sorted; none: all inputs
  std::vector<PageRange> pages;      // of files that have several; none: all
  std::vector<std::string> parts;    // of EXRs: those that are processed; none: all with pictures
  MissingFrame missing_frame = MissingFrame::error;
  std::vector<std::string> with;  // "b=masks/"
  int shard_index = 1, shard_count = 1;
  ShardBy shard_by = ShardBy::order;
  std::int64_t max_pixels = pipeline::default_max_pixels;

  Sandbox sandbox;

  // Files beside the pictures that belong to the run: no result may replace them, nor a written one
  // what is read.
  struct OtherFile {
    std::string option;  // as errors name it: "--errors"
    std::string path;
    bool written = false;
  };
  std::vector<OtherFile> other_files;

  std::string output;  // empty: none
  bool in_place = false;
  int matrix = 601;                   // of Y4M's colours: ITU-R BT.601, 709, 2020
  std::string frame_rate;             // see io::EncodeOptions
  std::string format;                 // an extension; empty: the output's, else the input's
  std::optional<PixelClass> cls;      // of the outputs
  bool half = false;                  // of class single: 16 bits of each value
  std::vector<std::string> channels;  // of EXRs, see io::Reading
  std::string axes;                   // of NPYs, see io::Reading
  std::string window;                 // of DICOMs and NIfTIs, see io::Reading
  std::optional<int> quality;         // given: also of formats that can do without loss
  bool lossless = false;
  io::Compression compression = io::Compression::as_input;
  std::optional<std::array<int, 2>> subsampling;  // see io::EncodeOptions
  int zarr_version = 0;                           // likewise
  std::int64_t chunk = 0;                         // likewise
  io::TiffStorage tiff_storage = io::TiffStorage::usual;
  bool shrink_on_load = false;  // see engine/program/shrunk.hpp
  CodecPlace codec_place = CodecPlace::automatic;
  bool by_opencv = false;   // see io::DecodeOptions; JPEGs are encoded by the processor then
  bool fast_codec = false;  // one level of difference would do, if anything were faster with it
  bool strip = false;
  bool dry_run = false;
  bool update = false;
  bool no_clobber = false;
  bool sync = true;  // results are on the disk before they are reported as done
  bool hash = false;

  int threads = 1;
  std::int64_t memory = 0;      // bytes in flight; 0: half of what the machine has
  std::string scratch;          // a folder for images that wait; empty: the system's
  std::int64_t gpu_memory = 0;  // bytes of device memory at most; 0: what there is
  std::string dump_kernels;     // a folder for the kernels' texts; empty: none
  bool fail_fast = false;
  int retries = 0;     // see BatchOptions
  double timeout = 0;  // see BatchOptions
  bool profile = false;
  std::size_t profile_slices = 0;  // that the profile keeps, for pictures of what went on when
  std::function<bool()> stop = [] { return false; };
  // The process ends after the run: what a GPU holds is left to the system, and so is one that is
  // still being opened. See must_end_at_once.
  bool process_ends = false;
  // When the program started, for the profile.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

}  // namespace impipe::engine
