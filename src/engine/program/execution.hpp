// What a program reads on a device, and what comes of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/display_window.hpp"
#include "engine/program/program.hpp"
#include "engine/program/shrunk.hpp"

namespace impipe::engine {

// An image in a device's memory.
struct DeviceImage {
  std::shared_ptr<DevicePlane> pixels, alpha;
};

// What a program reads: the image, and those of --with by name.
struct Material {
  HostImage image;
  std::map<std::string, HostImage> operands;
  std::optional<DisplayWindow> display = {};  // see io::ImageInfo
  // How the image was read. Of less than its size: the program is one for any scale.
  Shrunk read = {};
  // Instead of the image's pixels, one of these: what the device makes them of.
  std::shared_ptr<const CodedJpeg> coded = nullptr;
  std::shared_ptr<const PackedPicture> packed = nullptr;
  // Instead of their pixels: images that are in the device's memory; the name of `image` is "". It
  // and the operands have types and no planes then. Their memory is read only.
  std::map<std::string, DeviceImage> there = {};
  bool is_coded() const { return coded || packed; }
  Size size() const {
    const auto found = there.find("");
    return found != there.end() ? found->second.pixels->size()
           : coded              ? coded->form.size
           : packed             ? packed->form.size
                                : image.size();
  }
};

// A device has not decoded a picture: it is damaged, or one that is left to the host. Whatever was
// computed of it means nothing.
class NotDecoded : public Error {
 public:
  NotDecoded() : Error("the device does not decode this picture", ExitCode::file_failed) {}
};

// A measurement on the host: [channels][values].
struct Measurement {
  int channels = 1;
  std::int64_t values = 0;
  std::vector<double> numbers;
  int columns = 1;  // above 1: the values of a channel are a matrix, row by row
};

// Tags of the activity that is no step's: uploads and downloads, and kernels that decode and that
// encode pictures.
inline constexpr int no_step = -1, decoding_tag = -2, encoding_tag = -3;

// What a device's codec did for an image.
struct CodecWork {
  std::int64_t launches = 0;  // of a stack: all of them with the first image
  double bytes = 0;           // that must be read and written, for one image; 0: nothing was done
};

struct Outcome {
  HostImage image;    // empty pixels unless the plan writes an image
  DeviceImage there;  // instead of them, where they stay on the device
  // Instead of the image's pixels: the data of a JPEG of them, or the chunks that they are packed
  // in, which are in a plane that pictures of a stack share; and the image's size.
  std::shared_ptr<const Plane> coded_plane;
  std::vector<std::span<const std::byte>> coded;
  Size coded_size;
  bool glows = false;  // decoded on the device: colours lie under an associated alpha of 0
  // Of a stack: the device has not decoded this image, see NotDecoded, and there is nothing else.
  bool not_decoded = false;
  std::vector<double> columns;  // one a column of the plan
  // One a measurement of the plan. Of a table the values are a matrix, a row an object.
  std::vector<Measurement> measurements;
  std::vector<HostImage> saves;          // one a save of the plan
  std::vector<DeviceImage> saves_there;  // instead of their pixels, where they stay on the device
  // When timed. Of a stack: the first image has what was done for all.
  std::vector<double> step_bytes;           // that each step must read and write, for one image
  std::vector<std::int64_t> step_launches;  // of kernels
  std::vector<Activity> activity;           // the queue's; a kernel's tag is its step, or a codec's
  CodecWork decoding, encoding;
  std::vector<Activity> kernel_waits;  // of the thread, until kernels were compiled
};

// What a result is to become on the device: a JPEG, or packed without loss; by the encoder of such.
struct CodedOutput {
  std::shared_ptr<const Kernel> encoder;  // null: it is not encoded there
  std::shared_ptr<const CodedJpeg> jpeg;
  std::optional<PackedForm> packed;
  bool glows = false;  // see Launch::glows
  bool is_like(const CodedOutput& other) const {
    return encoder == other.encoder && packed == other.packed &&
           (jpeg == nullptr) == (other.jpeg == nullptr) &&
           (jpeg == nullptr || jpeg->form == other.jpeg->form);
  }
};

struct ExecuteOptions {
  bool timed = false;
  // Waits for all kernels before the first step: where they are compiled by the processor that is
  // to run them, they would only take each other's time.
  bool kernels_first = false;
  // Asked between steps and while a kernel compiles; true ends the work with an Error.
  std::function<bool()> stop = [] { return false; };
  // Results and saves stay in the device's memory: of one image alone, with one_nan where it has
  // results of single.
  bool stays = false;
  // Device::prepare_one_nan's; null: NaNs are the host's work.
  std::shared_ptr<const Kernel> one_nan = nullptr;
  // Of what is coded: the device's decoder of such pictures.
  std::shared_ptr<const Kernel> decoder = nullptr;
  // What the device makes of the result of each image of the stack; nothing where there are no
  // results that it encodes. glows: see Outcome.
  std::function<CodedOutput(std::size_t, const ImageType&, Size, bool glows)> coded_output = {};
};

}  // namespace impipe::engine
