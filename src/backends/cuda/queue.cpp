// Transfers through pinned memory and launches on a stream.
#include "backends/cuda/queue.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.hpp"

namespace impipe::cuda {
namespace {

// Transfers go in pieces, so that copying one piece on the host overlaps with sending the other.
constexpr std::size_t largest_piece = StagingPool::largest;
// Below this many bytes one thread copies as fast as several.
constexpr std::int64_t bytes_a_thread = std::int64_t{512} << 10;

// y and z of a grid.
constexpr std::int64_t max_groups = 65535;

std::size_t bytes_of(std::span<const std::span<const std::byte>> parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  return bytes;
}

std::int64_t bytes_of(const jit::PooledPlane& plane) {
  return plane.stride() * plane.size().height * plane.channels() * plane.count();
}

}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<const DeviceContext> context,
                     std::shared_ptr<jit::MemoryPool> memory, std::shared_ptr<StagingPool> staging,
                     std::shared_ptr<jit::PageLocks> locks, ThreadPool& pool)
    : GpuQueue(std::move(memory), std::move(locks)),
      context_(std::move(context)),
      staging_(std::move(staging)),
      pool_(pool) {
  context_->use();
  check(driver().api.stream_create(&stream_, stream_non_blocking), "cuStreamCreate");
  start_.emplace(0u);
  now_.emplace(0u);
  check(driver().api.event_record(start_->get(), stream_), "cuEventRecord");
}

CudaQueue::~CudaQueue() {
  const bool usable = context_->try_use();
  if (usable) driver().api.stream_wait(stream_);
  events_.clear();
  if (usable) driver().api.stream_destroy(stream_);
}

std::unique_ptr<Queue> CudaQueue::make_beside() {
  return std::make_unique<CudaQueue>(context_, memory_, staging_, locks_, pool_);
}

template <class CopyRow>
void CudaQueue::for_rows(std::int64_t first, std::int64_t count, std::int64_t row_bytes,
                         CopyRow copy_row) {
  const std::int64_t rows_a_task = std::max<std::int64_t>(1, bytes_a_thread / row_bytes);
  const auto task = [&](std::int64_t t) {
    const std::int64_t end = first + std::min(count, (t + 1) * rows_a_task);
    for (std::int64_t y = first + t * rows_a_task; y < end; ++y) copy_row(y);
  };
  const std::int64_t tasks = (count + rows_a_task - 1) / rows_a_task;
  if (tasks == 1) return task(0);
  pool_.for_each(tasks, task);
}

std::shared_ptr<DevicePlane> CudaQueue::upload_stack(std::span<const Planes> images) {
  const bool reached = reaches_all(images);
  context_->use();
  const Plane& first = images.front().front();
  const auto made = allocate_stack(first.cls(), static_cast<int>(images.front().size()),
                                   first.size(), static_cast<int>(images.size()));
  const auto& to = static_cast<const jit::PooledPlane&>(*made);
  const std::size_t begin = mark();
  if (reached) {
    for (std::size_t i = 0; i < images.size(); ++i) send(images[i], 0, to, i);
  } else {
    send_copies(images, to);
  }
  const auto bytes = static_cast<double>(bytes_of(to));
  note(Activity::Kind::upload, begin, bytes, reached ? 0 : bytes);
  return made;
}

std::vector<Planes> CudaQueue::download_stack(const DevicePlane& device_images) {
  const auto& from = static_cast<const jit::PooledPlane&>(device_images);
  Planes planes = new_planes(from.cls(), from.count() * from.channels(), from.size());
  const bool reached = reaches(planes);
  context_->use();
  const auto bytes = static_cast<double>(bytes_of(from));
  const std::size_t begin = mark();
  if (reached) {
    fetch(from, 0, planes, 0, from.size().height);
    note(Activity::Kind::download, begin, bytes);
    wait();
  } else {
    fetch_copies(from, planes);
    note(Activity::Kind::download, begin, bytes, bytes);
    if (noting_) noted_.back().host_end = steady_seconds();
    let_go();
  }
  std::vector<Planes> images;
  for (auto plane = planes.begin(); plane != planes.end(); plane += from.channels()) {
    images.emplace_back(plane, plane + from.channels());
  }
  return images;
}

std::shared_ptr<DevicePlane> CudaQueue::upload_rows(const Planes& image, std::int64_t begin,
                                                    std::int64_t end) {
  context_->use();
  const Plane& first = image.front();
  const auto made =
      allocate(first.cls(), static_cast<int>(image.size()), {first.size().width, end - begin});
  const auto& to = static_cast<const jit::PooledPlane&>(*made);
  const std::size_t start = mark();
  send(image, begin, to, 0);
  note(Activity::Kind::upload, start, static_cast<double>(bytes_of(to)));
  return made;
}

void CudaQueue::download_rows(const DevicePlane& image, std::int64_t first, const Planes& to,
                              std::int64_t begin, std::int64_t end) {
  context_->use();
  const auto& from = static_cast<const jit::PooledPlane&>(image);
  const std::size_t start = mark();
  hold(to);
  fetch(from, first, to, begin, end);
  const std::int64_t rows = (end - begin) * static_cast<std::int64_t>(to.size());
  note(Activity::Kind::download, start, static_cast<double>(rows * from.stride()));
}

// The planes of an image lie behind each other, and so do the images of a stack.
void CudaQueue::send(const Planes& image, std::int64_t begin, const jit::PooledPlane& to,
                     std::size_t place) {
  const std::int64_t step = to.stride() * to.size().height;
  hold(image);
  for (std::size_t c = 0; c < image.size(); ++c) {
    const Plane& plane = image[c];
    const auto before = static_cast<std::int64_t>(place * image.size() + c);
    Copy2d copy;
    copy.from = {.kind = memory_of_host,
                 .host = plane.row(begin),
                 .pitch = static_cast<std::size_t>(plane.stride())};
    copy.to = {.kind = memory_of_device,
               .device = to.handle() + static_cast<DevicePointer>(before * step),
               .pitch = static_cast<std::size_t>(to.stride())};
    copy.width = static_cast<std::size_t>(plane.row_bytes());
    copy.height = static_cast<std::size_t>(to.size().height);
    check(driver().api.copy_rows(&copy, stream_), "cuMemcpy2DAsync");
  }
}

void CudaQueue::fetch(const jit::PooledPlane& from, std::int64_t first, const Planes& to,
                      std::int64_t begin, std::int64_t end) {
  for (std::size_t c = 0; c < to.size(); ++c) {
    Plane plane = to[c];  // shares its memory
    const std::int64_t row = static_cast<std::int64_t>(c) * from.size().height + first;
    Copy2d copy;
    copy.from = {.kind = memory_of_device,
                 .device = from.handle() + static_cast<DevicePointer>(row * from.stride()),
                 .pitch = static_cast<std::size_t>(from.stride())};
    copy.to = {.kind = memory_of_host,
               .host = plane.row(begin),
               .pitch = static_cast<std::size_t>(plane.stride())};
    copy.width = static_cast<std::size_t>(plane.row_bytes());
    copy.height = static_cast<std::size_t>(end - begin);
    check(driver().api.copy_rows(&copy, stream_), "cuMemcpy2DAsync");
  }
}

void CudaQueue::send_copies(std::span<const Planes> images, const jit::PooledPlane& to) {
  const std::size_t channels = images.front().size();
  const std::int64_t stride = to.stride();
  const std::int64_t height = to.size().height;
  const std::int64_t all = height * static_cast<std::int64_t>(channels * images.size());
  const std::int64_t rows =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(largest_piece) / stride);
  for (std::int64_t y = 0; y < all; y += rows) {
    const std::int64_t count = std::min(rows, all - y);
    StagingPool::Lease piece = staging_->take(static_cast<std::size_t>(count * stride));
    for_rows(y, count, stride, [&](std::int64_t row) {
      const auto which = static_cast<std::size_t>(row / height);
      const Plane& plane = images[which / channels][which % channels];
      std::memcpy(piece.data() + (row - y) * stride, plane.row(row % height),
                  static_cast<std::size_t>(plane.row_bytes()));
    });
    check(driver().api.copy_to_device(to.handle() + static_cast<DevicePointer>(y * stride),
                                      piece.data(), static_cast<std::size_t>(count * stride),
                                      stream_),
          "cuMemcpyHtoDAsync");
    piece.record(stream_);
  }
}

void CudaQueue::fetch_copies(const jit::PooledPlane& from, Planes& to) {
  const std::int64_t stride = from.stride();
  const std::int64_t height = from.size().height;
  const std::int64_t all = height * static_cast<std::int64_t>(to.size());
  const std::int64_t rows =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(largest_piece) / stride);
  // The piece that is on its way while the one before it is copied out.
  struct Piece {
    StagingPool::Lease lease;
    std::int64_t y, count;
  };
  const auto copy_out = [&](const Piece& piece) {
    piece.lease.wait();
    for_rows(piece.y, piece.count, stride, [&](std::int64_t row) {
      Plane& plane = to[static_cast<std::size_t>(row / height)];
      std::memcpy(plane.row(row % height), piece.lease.data() + (row - piece.y) * stride,
                  static_cast<std::size_t>(plane.row_bytes()));
    });
  };
  std::optional<Piece> before;
  for (std::int64_t y = 0; y < all; y += rows) {
    const std::int64_t count = std::min(rows, all - y);
    const auto bytes = static_cast<std::size_t>(count * stride);
    auto lease = before ? staging_->try_take(bytes) : std::nullopt;
    if (before && !lease) {
      copy_out(*before);
      before.reset();
    }
    if (!lease) lease.emplace(staging_->take(bytes));
    check(
        driver().api.copy_to_host(
            lease->data(), from.handle() + static_cast<DevicePointer>(y * stride), bytes, stream_),
        "cuMemcpyDtoHAsync");
    lease->record(stream_);
    if (before) copy_out(*before);
    before.emplace(Piece{std::move(*lease), y, count});
  }
  if (before) copy_out(*before);
}

std::vector<double> CudaQueue::download(const DeviceMeasure& measure) {
  context_->use();
  std::vector<double> numbers(
      static_cast<std::size_t>(measure.count() * measure.channels() * measure.values()));
  const std::size_t bytes = numbers.size() * sizeof(double);
  if (bytes == 0) return numbers;
  auto* to = reinterpret_cast<std::byte*>(numbers.data());
  const std::size_t begin = mark();
  for (std::size_t done = 0; done < bytes; done += largest_piece) {
    const std::size_t count = std::min(bytes - done, largest_piece);
    const StagingPool::Lease piece = staging_->take(count);
    check(driver().api.copy_to_host(piece.data(),
                                    static_cast<const jit::PooledMeasure&>(measure).handle() + done,
                                    count, stream_),
          "cuMemcpyDtoHAsync");
    wait();
    std::memcpy(to + done, piece.data(), count);
  }
  note(Activity::Kind::download, begin, static_cast<double>(bytes));
  return numbers;
}

// Whole pieces of pinned memory: a part may be a small piece of one, or go through several.
void CudaQueue::copy_in(DevicePointer to, std::span<const std::span<const std::byte>> parts) {
  if (recording_) {
    auto& kept = recorded_.emplace_back();
    for (const auto& part : parts) kept.insert(kept.end(), part.begin(), part.end());
    check(driver().api.copy_to_device(to, kept.data(), kept.size(), stream_), "cuMemcpyHtoDAsync");
    return;
  }
  std::size_t left = bytes_of(parts), done = 0;  // done: bytes of the first of `parts`
  while (left > 0) {
    const std::size_t count = std::min(left, largest_piece);
    StagingPool::Lease piece = staging_->take(count);
    for (std::size_t there = 0; there < count;) {
      const std::span<const std::byte> rest = parts.front().subspan(done);
      const std::size_t some = std::min(rest.size(), count - there);
      std::memcpy(piece.data() + there, rest.data(), some);
      there += some;
      done += some;
      if (some < rest.size()) continue;
      parts = parts.subspan(1);
      done = 0;
    }
    check(driver().api.copy_to_device(to, piece.data(), count, stream_), "cuMemcpyHtoDAsync");
    piece.record(stream_);
    to += count;
    left -= count;
  }
}

void CudaQueue::clear(std::uint64_t handle, std::int64_t bytes) {
  check(driver().api.fill(handle, 0, static_cast<std::size_t>(bytes), stream_), "cuMemsetD8Async");
}

std::uint64_t CudaQueue::handle_at(std::uint64_t memory, std::int64_t offset) const {
  const std::uint64_t address = memory + static_cast<std::uint64_t>(offset);
  return address % jit::row_alignment == 0 ? address : 0;
}

std::shared_ptr<const std::uint64_t> CudaQueue::part_of(std::uint64_t memory, std::int64_t offset,
                                                        std::int64_t) const {
  return std::make_shared<const std::uint64_t>(memory + static_cast<std::uint64_t>(offset));
}

// The driver refuses copies of bytes beyond an allocation, such as those behind a last row.
void CudaQueue::copy(const jit::PooledPlane& from, const jit::PooledPlane& to, std::int64_t first) {
  context_->use();
  const auto pitch = static_cast<std::size_t>(from.stride());
  Copy2d copy;
  copy.from = {.kind = memory_of_device, .device = from.handle(), .pitch = pitch};
  copy.to = {.kind = memory_of_device,
             .device = to.handle() + static_cast<DevicePointer>(first * to.stride()),
             .pitch = pitch};
  copy.width = static_cast<std::size_t>(from.size().width * impipe::bytes_of(from.cls()));
  copy.height = static_cast<std::size_t>(from.size().height * from.channels());
  check(driver().api.copy_rows(&copy, stream_), "cuMemcpy2DAsync");
}

jit::MemoryBlock CudaQueue::filled(std::span<const std::span<const std::byte>> parts) {
  jit::MemoryBlock block = take(static_cast<std::int64_t>(bytes_of(parts)));
  copy_in(block.handle(), parts);
  return block;
}

std::size_t CudaQueue::mark() {
  if (!noting_) return 0;
  if (marks_ == events_.size()) events_.emplace_back(0u);
  check(driver().api.event_record(events_[marks_].get(), stream_), "cuEventRecord");
  return marks_++;
}

void CudaQueue::note(Activity::Kind kind, std::size_t begin, double bytes, double copied) {
  if (noting_) noted_.push_back({kind, tag_, bytes, copied, begin, mark(), 0});
}

void CudaQueue::begin_notes() {
  context_->use();
  Queue::begin_notes();
  marks_ = 0;
  noted_.clear();
  if (origin_) return;
  // The host learns of a mark a little after it was reached: the least of a few.
  constexpr int tries = 3;
  for (int i = 0; i < tries; ++i) {
    const double device = time();
    const double origin = steady_seconds() - device;
    origin_ = std::min(origin_.value_or(origin), origin);
  }
}

std::vector<Activity> CudaQueue::take_notes() {
  context_->use();
  noting_ = false;
  for (const Noted& noted : noted_) {
    const OwnedEvent& begin = events_[noted.begin];
    const double from = *origin_ + seconds_between(*start_, begin);
    const double to = from + seconds_between(begin, events_[noted.end]);
    notes_.push_back(
        {noted.kind, noted.tag, from, std::max(to, noted.host_end), noted.bytes, noted.copied});
  }
  noted_.clear();
  return std::exchange(notes_, {});
}

// What runs is timed by marks in the stream. The device is still busy with the image's upload or
// the step before when they are given, so that a launch's way to the device is not in them.
void CudaQueue::run(const Kernel& kernel, const Launch& launch) {
  context_->use();
  const auto& compiled = static_cast<const CudaKernel&>(kernel);
  const PreparedLaunch work = prepared(compiled.program(), launch);
  const std::size_t begin = mark();
  for (const jit::Pass& pass : work.plan.passes) {
    std::vector<std::uint64_t> pointers = buffers_of(pass, launch, work);
    std::vector<void*> parameters;
    for (std::uint64_t& pointer : pointers) parameters.push_back(&pointer);
    const std::vector<std::byte>& given = work.plan.parameters_of(pass);
    if (!given.empty()) parameters.push_back(const_cast<std::byte*>(given.data()));
    const auto& groups = pass.shape.groups;
    const std::string& name = compiled.entry_name(pass.entry);
    if (groups[0] > std::numeric_limits<int>::max() || groups[1] > max_groups ||
        groups[2] > max_groups) {
      throw Error("cuda: " + name + ": the image is too large for one launch", ExitCode::backend);
    }
    const auto grid = [&](int axis) { return static_cast<unsigned>(groups[axis]); };
    const auto block = [&](int axis) { return static_cast<unsigned>(pass.shape.group[axis]); };
    check(driver().api.launch(compiled.entry(pass.entry), grid(0), grid(1), grid(2), block(0),
                              block(1), block(2),
                              static_cast<unsigned>(compiled.local_bytes(pass.entry)), stream_,
                              parameters.data(), nullptr),
          ("launch of " + name).c_str());
    ++launches_;
  }
  note(Activity::Kind::kernel, begin);
}

void CudaQueue::wait() {
  context_->use();
  check(driver().api.stream_wait(stream_), "cuStreamSynchronize");
  let_go();
}

void CudaQueue::wait_for_stream(std::uint64_t stream) {
  context_->use();
  const auto theirs = reinterpret_cast<Stream>(stream);
  if (driver().api.stream_query(theirs) == 0) return;  // a kernel behind an event begins later
  check(driver().api.event_record(now_->get(), theirs), "cuEventRecord");
  check(driver().api.stream_wait_event(stream_, now_->get(), 0), "cuStreamWaitEvent");
}

double CudaQueue::measure_copy() {
  context_->use();
  return measured_copy([this](const jit::MemoryBlock& from, const jit::MemoryBlock& to,
                              std::int64_t bytes) {
    const double start = time();
    check(driver().api.copy(to.handle(), from.handle(), static_cast<std::size_t>(bytes), stream_),
          "cuMemcpyDtoDAsync");
    return time() - start;
  });
}

LinkSpeed CudaQueue::measure_link() {
  context_->use();
  constexpr int pieces = 16, runs = 4;
  constexpr double bytes = pieces * static_cast<double>(largest_piece);
  const StagingPool::Lease piece = staging_->take(largest_piece);
  const jit::MemoryBlock block = take(largest_piece);
  const auto speed = [&](auto&& copy) {
    double best = 0;
    for (int run = 0; run < runs; ++run) {
      const double start = time();
      for (int i = 0; i < pieces; ++i) copy();
      best = std::max(best, bytes / std::max(time() - start, 1e-9));
    }
    return best;
  };
  const Driver& api = driver().api;
  LinkSpeed link;
  link.up = speed([&] {
    check(api.copy_to_device(block.handle(), piece.data(), largest_piece, stream_),
          "cuMemcpyHtoDAsync");
  });
  link.down = speed([&] {
    check(api.copy_to_host(piece.data(), block.handle(), largest_piece, stream_),
          "cuMemcpyDtoHAsync");
  });
  return link;
}

double CudaQueue::seconds_between(const OwnedEvent& start, const OwnedEvent& end) const {
  check(driver().api.event_wait(end.get()), "cuEventSynchronize");
  float milliseconds = 0;
  check(driver().api.event_elapsed(&milliseconds, start.get(), end.get()), "cuEventElapsedTime");
  return milliseconds * 1e-3;
}

double CudaQueue::time() {
  context_->use();
  check(driver().api.event_record(now_->get(), stream_), "cuEventRecord");
  return seconds_between(*start_, *now_);
}

std::vector<double> CudaQueue::time_of(const std::function<void()>& give, int times) {
  context_->use();
  const Driver& api = driver().api;
  Graph graph = nullptr;
  GraphRun run = nullptr;
  const auto clean_up = [&] {
    if (run != nullptr) api.graph_run_destroy(run);
    if (graph != nullptr) api.graph_destroy(graph);
    recording_ = false;
    recorded_.clear();
  };
  std::vector<double> seconds;
  try {
    // Relaxed: what is given may take memory.
    check(api.capture_begin(stream_, capture_relaxed), "cuStreamBeginCapture");
    recording_ = true;
    try {
      give();
    } catch (...) {
      api.capture_end(stream_, &graph);
      throw;
    }
    recording_ = false;
    check(api.capture_end(stream_, &graph), "cuStreamEndCapture");
    check(api.graph_prepare(&run, graph, 0), "cuGraphInstantiate");
    check(api.graph_upload(run, stream_), "cuGraphUpload");
    const OwnedEvent start(0u), end(0u);
    for (int i = 0; i < times; ++i) {
      wait();
      check(api.event_record(start.get(), stream_), "cuEventRecord");
      check(api.graph_launch(run, stream_), "cuGraphLaunch");
      check(api.event_record(end.get(), stream_), "cuEventRecord");
      seconds.push_back(seconds_between(start, end));
    }
  } catch (...) {
    clean_up();
    throw;
  }
  clean_up();
  return seconds;
}

}  // namespace impipe::cuda
