// One lane of work on an OpenCL device.
#include "backends/opencl/queue.hpp"

#include <algorithm>
#include <cstring>

namespace impipe::opencl {
OpenClQueue::OpenClQueue(cl_context context, cl_device_id device, bool is_gpu,
                         std::shared_ptr<jit::MemoryPool> memory,
                         std::shared_ptr<jit::PageLocks> locks)
    : GpuQueue(std::move(memory), std::move(locks)),
      context_(context),
      device_(device),
      is_gpu_(is_gpu) {
  constexpr int bits_a_byte = 8;
  cl_uint bits = 0;
  check(
      calls()->clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr),
      "the alignment of buffers");
  part_alignment_ = std::max<std::int64_t>(bits / bits_a_byte, 1);
  cl_int code = CL_SUCCESS;
  queue_ = calls()->clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code, "clCreateCommandQueue");
  start_ = clock();
}

OpenClQueue::~OpenClQueue() {
  calls()->clFinish(queue_);
  forget_notes();
  calls()->clReleaseCommandQueue(queue_);
}

std::unique_ptr<Queue> OpenClQueue::make_beside() {
  return std::make_unique<OpenClQueue>(context_, device_, is_gpu_, memory_, locks_);
}

std::shared_ptr<DevicePlane> OpenClQueue::upload_stack(std::span<const Planes> images) {
  const Plane& first = images.front().front();
  const auto channels = static_cast<int>(images.front().size());
  const auto made =
      allocate_stack(first.cls(), channels, first.size(), static_cast<int>(images.size()));
  if (first.size().pixels() == 0) return made;
  const bool reached = reaches_all(images);
  // The planes of an image lie behind each other, and so do the images of a stack.
  std::size_t place = 0;
  for (const Planes& image : images) {
    if (reached) hold(image);
    for (const Plane& channel : image) {
      send(channel, 0, static_cast<const jit::PooledPlane&>(*made), place++, reached);
    }
  }
  check(calls()->clFlush(queue_), "clFlush");
  return made;
}

std::vector<Planes> OpenClQueue::download_stack(const DevicePlane& images) {
  const auto& from = static_cast<const jit::PooledPlane&>(images);
  std::vector<Planes> made;
  std::size_t place = 0;
  for (int i = 0; i < from.count(); ++i) {
    Planes& image = made.emplace_back(new_planes(from.cls(), from.channels(), from.size()));
    if (from.size().pixels() == 0) continue;
    const bool reached = reaches(image);
    if (reached) hold(image);
    for (const Plane& channel : image) {
      fetch(from, place++, 0, channel, 0, from.size().height, reached);
    }
  }
  wait();
  return made;
}

std::shared_ptr<DevicePlane> OpenClQueue::upload_rows(const Planes& image, std::int64_t begin,
                                                      std::int64_t end) {
  const Plane& first = image.front();
  const auto made =
      allocate(first.cls(), static_cast<int>(image.size()), {first.size().width, end - begin});
  hold(image);
  for (std::size_t c = 0; c < image.size(); ++c) {
    send(image[c], begin, static_cast<const jit::PooledPlane&>(*made), c, true);
  }
  check(calls()->clFlush(queue_), "clFlush");
  return made;
}

void OpenClQueue::download_rows(const DevicePlane& image, std::int64_t first, const Planes& to,
                                std::int64_t begin, std::int64_t end) {
  hold(to);
  for (std::size_t c = 0; c < to.size(); ++c) {
    fetch(static_cast<const jit::PooledPlane&>(image), c, first, to[c], begin, end, true);
  }
  check(calls()->clFlush(queue_), "clFlush");
}

void OpenClQueue::send(const Plane& plane, std::int64_t begin, const jit::PooledPlane& to,
                       std::size_t place, bool reached) {
  const auto height = static_cast<std::size_t>(to.size().height);
  const auto width = static_cast<std::size_t>(plane.row_bytes());
  const std::size_t start[3] = {0, 0, 0}, at[3] = {0, place * height, 0};
  const std::size_t region[3] = {width, height, 1};
  const auto bytes = static_cast<double>(width * height);
  check(calls()->clEnqueueWriteBufferRect(
            queue_, buffer_of(to.handle()), reached ? CL_FALSE : CL_TRUE, at, start, region,
            static_cast<std::size_t>(to.stride()), 0, static_cast<std::size_t>(plane.stride()), 0,
            plane.row(begin), 0, nullptr, note(Activity::Kind::upload, bytes, reached ? 0 : bytes)),
        "an upload");
}

void OpenClQueue::fetch(const jit::PooledPlane& from, std::size_t place, std::int64_t first,
                        Plane plane, std::int64_t begin, std::int64_t end, bool reached) {
  const auto height = static_cast<std::size_t>(from.size().height);
  const auto width = static_cast<std::size_t>(plane.row_bytes());
  const std::size_t start[3] = {0, place * height + static_cast<std::size_t>(first), 0};
  const std::size_t to[3] = {0, 0, 0};
  const std::size_t region[3] = {width, static_cast<std::size_t>(end - begin), 1};
  const auto bytes = static_cast<double>(width) * static_cast<double>(end - begin);
  check(
      calls()->clEnqueueReadBufferRect(
          queue_, buffer_of(from.handle()), reached ? CL_FALSE : CL_TRUE, start, to, region,
          static_cast<std::size_t>(from.stride()), 0, static_cast<std::size_t>(plane.stride()), 0,
          plane.row(begin), 0, nullptr, note(Activity::Kind::download, bytes, reached ? 0 : bytes)),
      "a download");
}

std::vector<double> OpenClQueue::download(const DeviceMeasure& measure) {
  std::vector<double> out(
      static_cast<std::size_t>(measure.count() * measure.channels() * measure.values()));
  if (out.empty()) return out;
  const std::uint64_t from = static_cast<const jit::PooledMeasure&>(measure).handle();
  const auto bytes = static_cast<double>(out.size() * sizeof(double));
  check(
      calls()->clEnqueueReadBuffer(queue_, buffer_of(from), CL_TRUE, 0, out.size() * sizeof(double),
                                   out.data(), 0, nullptr, note(Activity::Kind::download, bytes)),
      "a download");
  return out;
}

void OpenClQueue::run(const Kernel& kernel, const Launch& launch) {
  const Calls& cl = *calls();
  const auto& compiled = static_cast<const OpenClKernel&>(kernel);
  const PreparedLaunch work = prepared(compiled.program, launch);
  std::lock_guard lock(compiled.mutex);
  for (const jit::Pass& pass : work.plan.passes) {
    const cl_kernel entry = compiled.entries[static_cast<std::size_t>(pass.entry)];
    cl_uint place = 0;
    for (const std::uint64_t handle : buffers_of(pass, launch, work)) {
      const cl_mem memory = buffer_of(handle);
      check(cl.clSetKernelArg(entry, place++, sizeof memory, &memory), "clSetKernelArg");
    }
    const std::vector<std::byte>& parameters = work.plan.parameters_of(pass);
    check(cl.clSetKernelArg(entry, place, parameters.size(), parameters.data()), "clSetKernelArg");
    std::size_t global[3], local[3];
    for (int i = 0; i < 3; ++i) {
      local[i] = static_cast<std::size_t>(pass.shape.group[i]);
      global[i] = static_cast<std::size_t>(pass.shape.groups[i]) * local[i];
    }
    const auto place_of_entry = static_cast<std::size_t>(pass.entry);
    const bool first = !compiled.launched[place_of_entry];
    compiled.launched[place_of_entry] = true;
    check(cl.clEnqueueNDRangeKernel(queue_, entry, 3, nullptr, global, local, 0, nullptr,
                                    note(Activity::Kind::kernel, 0, 0, first)),
          "the launch of " + compiled.program.entries[static_cast<std::size_t>(pass.entry)]);
    ++launches_;
  }
  check(cl.clFlush(queue_), "clFlush");
}

void OpenClQueue::clear(std::uint64_t handle, std::int64_t bytes) {
  const cl_uchar zero = 0;
  check(calls()->clEnqueueFillBuffer(queue_, buffer_of(handle), &zero, 1, 0,
                                     static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
        "a fill");
}

std::shared_ptr<const std::uint64_t> OpenClQueue::part_of(std::uint64_t memory, std::int64_t offset,
                                                          std::int64_t bytes) const {
  const cl_buffer_region region{static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)};
  cl_int code = CL_SUCCESS;
  const cl_mem made = calls()->clCreateSubBuffer(buffer_of(memory), CL_MEM_READ_WRITE,
                                                 CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  if (code != CL_SUCCESS) return nullptr;
  const auto release = [made](const std::uint64_t* handle) {
    calls()->clReleaseMemObject(made);
    delete handle;
  };
  return {new std::uint64_t(reinterpret_cast<std::uint64_t>(made)), release};
}

void OpenClQueue::copy(const jit::PooledPlane& from, const jit::PooledPlane& to,
                       std::int64_t first) {
  const std::int64_t bytes = from.stride() * from.size().height * from.channels();
  check(calls()->clEnqueueCopyBuffer(queue_, buffer_of(from.handle()), buffer_of(to.handle()), 0,
                                     static_cast<std::size_t>(first * to.stride()),
                                     static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
        "a copy");
}

jit::MemoryBlock OpenClQueue::filled(std::span<const std::span<const std::byte>> parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  jit::MemoryBlock block = take(static_cast<std::int64_t>(bytes));
  std::size_t at = 0;
  for (const auto& part : parts) {
    check(calls()->clEnqueueWriteBuffer(queue_, buffer_of(block.handle()), CL_TRUE, at, part.size(),
                                        part.data(), 0, nullptr, nullptr),
          "an upload");
    at += part.size();
  }
  return block;
}

void OpenClQueue::wait() {
  check(calls()->clFinish(queue_), "clFinish");
  let_go();
}

cl_event OpenClQueue::mark() {
  cl_event event = nullptr;
  check(calls()->clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "a marker");
  return event;
}

double OpenClQueue::time_at(cl_event mark) const {
  const Calls& cl = *calls();
  cl_ulong end = 0;
  cl_int code = cl.clWaitForEvents(1, &mark);
  if (code == CL_SUCCESS) {
    code = cl.clGetEventProfilingInfo(mark, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  }
  cl.clReleaseEvent(mark);
  check(code, "a time");
  return static_cast<double>(end) * 1e-9;
}

double OpenClQueue::clock() { return time_at(mark()); }

cl_event* OpenClQueue::note(Activity::Kind kind, double bytes, double copied, bool first) {
  if (!noting_) return nullptr;
  noted_.push_back({kind, tag_, bytes, copied, first, nullptr});
  return &noted_.back().event;
}

void OpenClQueue::forget_notes() {
  for (const Noted& noted : noted_) {
    if (noted.event != nullptr) calls()->clReleaseEvent(noted.event);
  }
  noted_.clear();
}

void OpenClQueue::begin_notes() {
  forget_notes();
  Queue::begin_notes();
  if (offset_) return;
  // The host learns of a mark a little after it was reached: the least of a few.
  constexpr int tries = 3;
  for (int i = 0; i < tries; ++i) {
    const double device = clock();
    const double offset = steady_seconds() - device;
    offset_ = std::min(offset_.value_or(offset), offset);
  }
}

double OpenClQueue::profiled(cl_event event, cl_profiling_info what) {
  cl_ulong nanoseconds = 0;
  check(calls()->clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr),
        "a time");
  return static_cast<double>(nanoseconds) * 1e-9;
}

std::vector<Activity> OpenClQueue::take_notes() {
  // A driver that makes a kernel's code at its first launch (PoCL) does so before it starts.
  constexpr double compiles = 1e-3;  // seconds; no launch takes so long
  noting_ = false;
  wait();
  double before = 0;  // when the command before it has ended
  for (const Noted& noted : noted_) {
    if (noted.event == nullptr) continue;  // it was refused
    const double begin = profiled(noted.event, CL_PROFILING_COMMAND_START);
    const double end = profiled(noted.event, CL_PROFILING_COMMAND_END);
    const double given = profiled(noted.event, CL_PROFILING_COMMAND_SUBMIT);
    const double idle = std::max(before, given);
    if (noted.first && begin - idle > compiles) {
      notes_.push_back({.kind = Activity::Kind::compile,
                        .tag = noted.tag,
                        .begin = idle + *offset_,
                        .end = begin + *offset_});
    }
    notes_.push_back(
        {noted.kind, noted.tag, begin + *offset_, end + *offset_, noted.bytes, noted.copied});
    before = end;
  }
  forget_notes();
  return std::exchange(notes_, {});
}

std::vector<double> OpenClQueue::time_of(const std::function<void()>& give, int times) {
  if (!is_gpu_) return Queue::time_of(give, times);
  // The device fills memory while the host gives it the work; twice as often until that was long
  // enough.
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int max_fills = 1024;
  const jit::MemoryBlock filled = take(bytes);
  const Calls& cl = *calls();
  std::vector<double> seconds;
  for (int fills = 4; static_cast<int>(seconds.size()) < times;) {
    const cl_uint zero = 0;
    for (int i = 0; i < fills; ++i) {
      check(cl.clEnqueueFillBuffer(queue_, buffer_of(filled.handle()), &zero, sizeof zero, 0, bytes,
                                   0, nullptr, nullptr),
            "a fill");
    }
    const cl_event start = mark();
    check(cl.clFlush(queue_), "clFlush");
    give();
    const cl_event end = mark();
    cl_int state = CL_COMPLETE;
    const cl_int code =
        cl.clGetEventInfo(start, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
    const double began = time_at(start), took = time_at(end) - began;
    check(code, "a marker's state");
    if (state == CL_COMPLETE && fills < max_fills) {
      fills *= 2;
    } else {
      seconds.push_back(took);
    }
  }
  return seconds;
}

double OpenClQueue::measure_copy() {
  return measured_copy([this](const jit::MemoryBlock& from, const jit::MemoryBlock& to,
                              std::int64_t bytes) {
    const double start = clock();
    check(calls()->clEnqueueCopyBuffer(queue_, buffer_of(from.handle()), buffer_of(to.handle()), 0,
                                       0, static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
          "a copy");
    return clock() - start;
  });
}

LinkSpeed OpenClQueue::measure_link() {
  const std::size_t bytes = std::size_t{is_gpu_ ? 64u : 16u} << 20;
  constexpr int runs = 4;
  LinkSpeed best;
  Plane there(PixelClass::uint8, {static_cast<std::int64_t>(bytes), 1});
  std::memset(there.row(0), 1, bytes);
  const jit::MemoryBlock block = take(bytes);
  const Calls& cl = *calls();
  for (int run = 0; run < runs; ++run) {
    const double start = clock();
    check(cl.clEnqueueWriteBuffer(queue_, buffer_of(block.handle()), CL_TRUE, 0, bytes,
                                  there.row(0), 0, nullptr, nullptr),
          "an upload");
    const double between = clock();
    check(cl.clEnqueueReadBuffer(queue_, buffer_of(block.handle()), CL_TRUE, 0, bytes, there.row(0),
                                 0, nullptr, nullptr),
          "a download");
    const double end = clock();
    best.up = std::max(best.up, static_cast<double>(bytes) / std::max(between - start, 1e-9));
    best.down = std::max(best.down, static_cast<double>(bytes) / std::max(end - between, 1e-9));
  }
  return best;
}

double OpenClQueue::time() { return clock() - start_; }

}  // namespace impipe::opencl
