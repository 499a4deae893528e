// The interface of a backend: devices, memory, kernels and queues. Typed, small, no source text.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/coded_jpeg.hpp"
#include "core/error.hpp"
#include "core/image.hpp"
#include "core/kernel_spec.hpp"
#include "core/packed_picture.hpp"
#include "core/thread_pool.hpp"

namespace impipe {

// The memory of a device is out, even after what was kept for reuse was given back. The engine
// then does the image on the CPU.
class OutOfDeviceMemory : public Error {
 public:
  explicit OutOfDeviceMemory(const std::string& message) : Error(message, ExitCode::backend) {}
};

struct DeviceInfo {
  std::string id;    // "cpu", "cuda:0", "opencl:1"
  std::string name;  // of the processor or card
  std::string driver;
  std::int64_t memory = 0;  // bytes
  bool is_gpu = false;      // auto takes no other device than these and the cpu
  bool transforms = false;  // kernels make Fourier transforms of whole images, not the host
  bool doubles = true;      // double precision; kernels compute in double by integers without
  bool usable = true;
  std::string why_not;  // what is missing and what to install, when not usable
};

// Pixels on a device: one plane of an image, or of each of a stack of equal images. Made by a
// Device, freed when the last owner lets go.
class DevicePlane {
 public:
  virtual ~DevicePlane() = default;
  virtual int count() const { return 1; }  // images
  virtual PixelClass cls() const = 0;
  virtual int channels() const = 0;
  virtual Size size() const = 0;
  // The stack in whose memory Queue::part has made the plane, and the index of its first image.
  struct Part {
    std::shared_ptr<DevicePlane> stack;
    int first = 0;
  };
  virtual Part part() const { return {}; }
};

// An array of doubles on a device, [images of the stack][channels][values].
class DeviceMeasure {
 public:
  virtual ~DeviceMeasure() = default;
  virtual int count() const { return 1; }
  virtual int channels() const = 0;
  virtual std::int64_t values() const = 0;
};

// Pixels in a device's memory that another library of the process has put there. Steps are bytes
// between neighbours, of either sign; the offset and the steps are multiples of a pixel's bytes.
struct DeviceArray {
  std::uint64_t memory = 0;  // CUDA: an address; OpenCL: a buffer object
  std::int64_t offset = 0;   // bytes, of the first pixel
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  Size size;
  std::int64_t step_x = 0, step_y = 0, step_channel = 0;
  int count = 1;  // images; step_channel leads from the last channel of one to the next one, too
};

// One of the two.
struct DeviceValue {
  std::shared_ptr<DevicePlane> plane;
  std::shared_ptr<DeviceMeasure> measure;
};

// A prepared kernel. Immutable; used by any queue of its device, from several threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
};

// What other kernels are measured against: nothing but 16-byte loads and stores.
enum class Baseline {
  copy,  // the bytes of a plane, padding included, to a plane of the same class and size
  read,  // the bytes of a plane; the output is a measurement of one value
};

// One launch. `spec` has the kernel's key and this launch's argument values, null for a Baseline;
// `inputs` one a kernel input; `outputs` one a kernel output, allocated by the caller. All of them
// are stacks of as many images.
struct Launch {
  const KernelSpec* spec = nullptr;
  std::vector<DeviceValue> inputs;
  std::vector<DeviceValue> outputs;
  // Of a decoder alone: pictures of one form.
  std::vector<const CodedJpeg*> jpegs = {};
  // Of a decoder of lossless formats alone: pictures of one form.
  std::vector<const PackedPicture*> packed = {};
  // Of an encoder of lossless formats alone.
  const PackedForm* packing = nullptr;
  // And of associated alpha: for each picture whether colours under an alpha of 0 stay as they are;
  // otherwise they become 0.
  std::vector<std::uint8_t> glows = {};
  // Of Device::prepare_gather alone.
  const DeviceArray* array = nullptr;
};

// The host's steady clock, in seconds since its epoch.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What a queue did, and when on the host's steady clock.
struct Activity {
  // compile: what a driver makes of a kernel at its first launch, as PoCL does.
  enum class Kind { upload, kernel, download, compile };
  Kind kind = Kind::kernel;
  int tag = 0;  // of Queue::note_as, when the work was given
  double begin = 0, end = 0;
  double bytes = 0;  // that a transfer moved
  // Of these, bytes that the host copied between the image and memory that the device reads.
  double copied = 0;
};

// Bytes a second between the host's memory and a device's.
struct LinkSpeed {
  double up = 0, down = 0;  // 0: not known, or no link
};

// One lane of work; used by one thread at a time. Work is done in the order in which it was given.
class Queue {
 public:
  virtual ~Queue() = default;
  // The image's pixels on the device; the image may be let go at once, and is written by nobody
  // before the queue has done the upload.
  virtual std::shared_ptr<DevicePlane> upload(const Planes& image) = 0;
  virtual Planes download(const DevicePlane& image) = 0;
  // Another queue, for work that runs at the same time as this one's; null where the device has one
  // lane of work alone. It lives as long as this one. number: 0, 1, ...
  virtual Queue* beside(int /*number*/) { return nullptr; }
  // Of a queue that has others beside it. Whether the device reads and writes these planes' memory
  // by itself, from now on too.
  virtual bool reaches(const Planes& /*image*/) { return false; }
  // Where it does: rows [begin, end) of an image on the device; and an image's rows from `first` on
  // to rows [begin, end) of planes of its class and width, which are there after `wait`.
  virtual std::shared_ptr<DevicePlane> upload_rows(const Planes& /*image*/, std::int64_t /*begin*/,
                                                   std::int64_t /*end*/) {
    return nullptr;
  }
  virtual void download_rows(const DevicePlane& /*image*/, std::int64_t /*first*/,
                             const Planes& /*to*/, std::int64_t /*begin*/, std::int64_t /*end*/) {}
  // A plane or measurement for results, contents unspecified. Throws OutOfDeviceMemory.
  virtual std::shared_ptr<DevicePlane> allocate(PixelClass cls, int channels, Size size) = 0;
  virtual std::shared_ptr<DeviceMeasure> allocate_measure(int channels, std::int64_t values) = 0;
  virtual std::vector<double> download(const DeviceMeasure& measure) = 0;
  // These numbers, all channels of a measurement, for each image of a stack.
  virtual std::shared_ptr<DeviceMeasure> upload_measure(std::span<const double> numbers,
                                                        int channels, int count) = 0;
  // The same for stacks of at most Device::max_stacked() images; upload: of equal ones.
  virtual std::shared_ptr<DevicePlane> upload_stack(std::span<const Planes> images) {
    return upload(images.front());
  }
  virtual std::vector<Planes> download_stack(const DevicePlane& images) {
    return {download(images)};
  }
  virtual std::shared_ptr<DevicePlane> allocate_stack(PixelClass cls, int channels, Size size,
                                                      int) {
    return allocate(cls, channels, size);
  }
  virtual std::shared_ptr<DeviceMeasure> allocate_measure_stack(int channels, std::int64_t values,
                                                                int) {
    return allocate_measure(channels, values);
  }
  virtual void run(const Kernel& kernel, const Launch& launch) = 0;
  // Whether `part` takes stacks of such images apart.
  virtual bool has_parts(PixelClass, int /*channels*/, Size) const { return false; }
  // Images [first, first + count) of a stack, in its memory; null where the device has no buffer
  // that begins there.
  virtual std::shared_ptr<DevicePlane> part(const std::shared_ptr<DevicePlane>& /*stack*/,
                                            int /*first*/, int /*count*/) {
    return nullptr;
  }
  // GPUs: memory that other libraries of the process use, too.
  // Work that is given to the queue from now on begins after the work in this stream (CUDA).
  virtual void wait_for_stream(std::uint64_t /*stream*/) {}
  // A plane for inputs of kernels in the array's own memory, which has to stay as long; null where
  // they don't read it as it lies.
  virtual std::shared_ptr<DevicePlane> plane_in_place(const DeviceArray& /*array*/) {
    return nullptr;
  }
  // A copy of it, by Device::prepare_gather's.
  virtual std::shared_ptr<DevicePlane> gathered(const DeviceArray& /*array*/, const Kernel&) {
    return nullptr;
  }
  // A copy of planes of one class and size: their channels behind each other.
  virtual std::shared_ptr<DevicePlane> joined(
      std::span<const std::shared_ptr<DevicePlane>> /*planes*/) {
    return nullptr;
  }
  virtual DeviceArray array_of(const DevicePlane& /*plane*/) { return {}; }
  // From now on the queue notes when its work runs; it waits for nothing more because of that.
  virtual void begin_notes() {
    notes_.clear();
    noting_ = true;
  }
  // What follows is noted with this number.
  void note_as(int tag) { tag_ = tag; }
  // What was noted, in the order in which it ran; noting ends. Waits for the work.
  virtual std::vector<Activity> take_notes() {
    noting_ = false;
    return std::exchange(notes_, {});
  }
  // Kernels that `run` has launched so far; a Kernel may take several.
  std::int64_t launches() const { return launches_; }
  virtual void wait() = 0;
  // Seconds on the device's clock since the queue was made, at this point of the lane's work.
  virtual double time() = 0;
  // Gives the same work to the lane `times` times over and returns the seconds that each took on
  // the device's clock. GPUs: without the host's part, the launches back to back. `give` is called
  // one or more times.
  virtual std::vector<double> time_of(const std::function<void()>& give, int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
      const double start = time();
      give();
      seconds.push_back(time() - start);
    }
    return seconds;
  }

 protected:
  std::int64_t launches_ = 0;
  bool noting_ = false;
  int tag_ = 0;
  std::vector<Activity> notes_;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Whether its kernels make a neighbourhood of what another one makes with no memory in between.
  virtual bool nests_neighbourhoods() const { return true; }
  // Throws Error (ExitCode::backend) when the kernel can't be made: our bug. Any thread.
  virtual std::unique_ptr<Kernel> prepare(const KernelSpec& spec) = 0;
  // The kernel for stacks. Only of nodes that do not stand alone.
  virtual std::unique_ptr<Kernel> prepare_stacked(const KernelSpec& spec) { return prepare(spec); }
  // Images of a stack at most.
  virtual int max_stacked() const { return 1; }
  virtual std::unique_ptr<Kernel> prepare_baseline(Baseline baseline) = 0;
  // Launched with pictures of one form alone, each of which scan_jpeg knows. Outputs: the stack of
  // images; for each a number, which is not 0 where the picture is left to the host's decoder. Null
  // where the device has no such kernel.
  virtual std::unique_ptr<Kernel> prepare_jpeg_decoder() { return nullptr; }
  // Launched with a stack of images of bytes, and for each a CodedJpeg that says what it is to
  // become, all of one form. Outputs: a stack of planes of jpeg_room bytes; a measurement of two
  // values for each: the bytes of its data, before zeros are stuffed into them, and a number that
  // is not 0 where there is no room for them. Then launched with these and no CodedJpeg: the output
  // is a plane of the data alone, see CodedPlaces.
  virtual std::unique_ptr<Kernel> prepare_jpeg_encoder() { return nullptr; }
  // The same for lossless formats. The decoder is launched with pictures of one form that
  // core/unpacks.hpp knows; outputs: the stack of images; for each two numbers; and where the form
  // has alpha, a stack of its planes. The first number is not 0 where the picture is left to the
  // host's decoder, which knows what to say of it; the second where colours that are not 0 lie
  // under an associated alpha of 0.
  virtual std::unique_ptr<Kernel> prepare_unpacker() { return nullptr; }
  // Launched with a stack of images, one of their alpha where the form has it, and the form that
  // each is to be packed in (zlib or none).
  // Outputs: a stack of planes of packed_room bytes; a measurement of 2 + form.chunks() values for
  // each: all bytes, a number that is not 0 where there is no room, and the bytes of each chunk.
  // Then launched with these and no form: the output is a plane of the bytes alone, a picture's
  // chunks right behind each other, see CodedPlaces.
  virtual std::unique_ptr<Kernel> prepare_packer(const PackedForm&, DeflateEffort) {
    return nullptr;
  }
  // Replaces every NaN of an image of single by the one NaN of one_nan.hpp: launched with it as its
  // output. Null where that is the host's work.
  virtual std::unique_ptr<Kernel> prepare_one_nan() { return nullptr; }
  // Copies a DeviceArray to planes. Null where there is none: see Queue::gathered.
  virtual std::unique_ptr<Kernel> prepare_gather() { return nullptr; }
  // Until the result goes, the calling thread may work for the device; then its state in the driver
  // is what it was before.
  virtual std::shared_ptr<void> as_guest() { return nullptr; }
  // Waits for all work on the device, that of other libraries of the process included.
  virtual void wait_for_all() {}
  virtual std::unique_ptr<Queue> make_queue() = 0;
  // Bytes a second, read plus written, of a copy within the device's memory, measured now; 0 when
  // that is not known. For reports.
  virtual double measure_copy() { return 0; }
  // The same of transfers, as large as they can be.
  virtual LinkSpeed measure_link() { return {}; }
  // Bytes of its memory that were held at most, for images in work or for reuse; 0: it is the
  // host's.
  virtual std::int64_t peak_memory() const { return 0; }
};

// A form in which a device's kernels can make an image, with an estimate for a plane of 2048x2048.
struct FormCost {
  std::string_view form;
  double microseconds = 0;
};

// How a node of a kernel is made, in words.
struct NodeForm {
  std::string form;    // "blocks of 8x16 packed, 4 groups at once"
  std::string reason;  // "it leaves the kernel: registers hold the codes that it reads"
  std::vector<FormCost> costs = {};  // of the forms that can make it, the cheapest first
};

// What a device makes of kernels, for people (`impipe plan --device`), found without opening it.
struct KernelForms {
  std::string device;  // its id and name, or that none is here and whose numbers are taken
  bool nests_neighbourhoods = true;
  std::function<std::vector<NodeForm>(const KernelSpec& spec)> of;  // one a node, in their order
};

// A backend that was compiled in. The registry (backends/registry.hpp) has the list.
struct Backend {
  const char* name;
  std::vector<DeviceInfo> (*devices)();
  // index: into devices(). The pool outlives the device.
  std::unique_ptr<Device> (*open)(int index, ThreadPool& pool);
  // Of a device of devices(), or where the backend finds none. Throws Error (backend) for an index
  // that is none of several.
  KernelForms (*forms)(int index);
  // False when it surely has no GPU; asked by `auto` before devices(), which may load a driver of
  // many megabytes. Cheap: looks at files only.
  bool (*may_have_gpu)();
};

}  // namespace impipe
