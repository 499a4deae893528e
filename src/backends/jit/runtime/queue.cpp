// Memory and launches, as a kernel's program asks for them.
#include "backends/jit/runtime/queue.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

// Of constants that a queue keeps.
constexpr std::size_t max_constants = 16, max_constant_bytes = std::size_t{1} << 20;

ValueShape shape_of(const DeviceValue& value) {
  if (!value.plane) {
    const DeviceMeasure& measure = *value.measure;
    return {.size = {},
            .stride = 0,
            .step = measure.values() * static_cast<std::int64_t>(sizeof(double)),
            .channels = measure.channels(),
            .count = measure.count()};
  }
  const DevicePlane& plane = *value.plane;
  const std::int64_t stride = row_bytes(plane.cls(), plane.size());
  return {.size = plane.size(),
          .stride = stride,
          .step = stride * plane.size().height,
          .channels = plane.channels(),
          .count = plane.count()};
}

// Planes that the launch works on.
int count_of(const Launch& launch) {
  const DeviceValue& value = launch.outputs.front();
  const int images = value.plane ? value.plane->count() : value.measure->count();
  return launch.spec == nullptr ? images : images * launch.spec->planes;
}

LaunchPlan plan_of(const Program& program, const Launch& launch) {
  std::vector<ValueShape> inputs, outputs;
  for (const DeviceValue& value : launch.inputs) inputs.push_back(shape_of(value));
  for (const DeviceValue& value : launch.outputs) outputs.push_back(shape_of(value));
  return program.launch({.spec = launch.spec,
                         .inputs = inputs,
                         .outputs = outputs,
                         .count = count_of(launch),
                         .jpegs = launch.jpegs,
                         .packed = launch.packed,
                         .packing = launch.packing,
                         .glows = launch.glows,
                         .array = launch.array});
}

}  // namespace

GpuQueue::GpuQueue(std::shared_ptr<MemoryPool> memory, std::shared_ptr<PageLocks> locks)
    : memory_(std::move(memory)), locks_(std::move(locks)), lane_(memory_->open_lane()) {}

GpuQueue::~GpuQueue() {
  tickets_ = {};
  memory_->close_lane(lane_);
}

std::shared_ptr<DevicePlane> GpuQueue::allocate(PixelClass cls, int channels, Size size) {
  return allocate_stack(cls, channels, size, 1);
}
std::shared_ptr<DevicePlane> GpuQueue::allocate_stack(PixelClass cls, int channels, Size size,
                                                      int count) {
  const std::int64_t bytes = row_bytes(cls, size) * size.height * channels * count;
  return std::make_shared<PooledPlane>(cls, channels, size, count, take(bytes));
}

std::shared_ptr<DeviceMeasure> GpuQueue::allocate_measure(int channels, std::int64_t values) {
  return allocate_measure_stack(channels, values, 1);
}
std::shared_ptr<DeviceMeasure> GpuQueue::allocate_measure_stack(int channels, std::int64_t values,
                                                                int count) {
  const auto bytes = static_cast<std::int64_t>(sizeof(double)) * channels * values * count;
  return std::make_shared<PooledMeasure>(channels, values, count, take(bytes));
}

std::shared_ptr<DeviceMeasure> GpuQueue::upload_measure(std::span<const double> numbers,
                                                        int channels, int count) {
  const std::vector<std::span<const std::byte>> parts(static_cast<std::size_t>(count),
                                                      std::as_bytes(numbers));
  return std::make_shared<PooledMeasure>(channels, std::ssize(numbers) / channels, count,
                                         filled(parts));
}

std::shared_ptr<DevicePlane> GpuQueue::upload(const Planes& image) {
  return upload_stack({&image, 1});
}
Planes GpuQueue::download(const DevicePlane& image) {
  return std::move(download_stack(image).front());
}

bool GpuQueue::has_parts(PixelClass cls, int channels, Size size) const {
  return row_bytes(cls, size) * size.height * channels % part_alignment() == 0;
}

std::shared_ptr<DevicePlane> GpuQueue::part(const std::shared_ptr<DevicePlane>& stack, int first,
                                            int count) {
  const auto& whole = static_cast<const PooledPlane&>(*stack);
  auto handle = part_of(whole.handle(), first * whole.image_bytes(), count * whole.image_bytes());
  if (!handle) return nullptr;
  return std::make_shared<PooledPlane>(whole, DevicePlane::Part{stack, first}, count,
                                       std::move(handle));
}

std::shared_ptr<DevicePlane> GpuQueue::plane_in_place(const DeviceArray& array) {
  // What kernels read between the end of a row and the next multiple of row_alignment belongs to
  // the same allocation: those begin and end at multiples of it.
  const std::int64_t stride = row_bytes(array.cls, array.size);
  const bool has_rows =
      array.step_x == bytes_of(array.cls) && (array.step_y == stride || array.size.height == 1);
  const bool has_planes =
      array.channels * array.count == 1 || array.step_channel == stride * array.size.height;
  const std::uint64_t handle = handle_at(array.memory, array.offset);
  if (!has_rows || !has_planes || handle == 0) return nullptr;
  return std::make_shared<PooledPlane>(array.cls, array.channels, array.size, array.count,
                                       MemoryBlock::of_others(handle));
}

std::shared_ptr<DevicePlane> GpuQueue::gathered(const DeviceArray& array, const Kernel& gather) {
  const auto from = std::make_shared<PooledPlane>(array.cls, array.channels, array.size, 1,
                                                  MemoryBlock::of_others(array.memory));
  const auto made = allocate(array.cls, array.channels, array.size);
  run(gather, {.inputs = {{from, nullptr}}, .outputs = {{made, nullptr}}, .array = &array});
  return made;
}

std::shared_ptr<DevicePlane> GpuQueue::joined(
    std::span<const std::shared_ptr<DevicePlane>> planes) {
  const DevicePlane& first = *planes.front();
  int channels = 0;
  for (const auto& plane : planes) channels += plane->channels();
  const auto made = allocate(first.cls(), channels, first.size());
  std::int64_t row = 0;
  for (const auto& plane : planes) {
    copy(static_cast<const PooledPlane&>(*plane), static_cast<const PooledPlane&>(*made), row);
    row += plane->size().height * plane->channels();
  }
  return made;
}

DeviceArray GpuQueue::array_of(const DevicePlane& plane) {
  const auto& pooled = static_cast<const PooledPlane&>(plane);
  return {.memory = pooled.handle(),
          .cls = pooled.cls(),
          .channels = pooled.channels(),
          .size = pooled.size(),
          .step_x = bytes_of(pooled.cls()),
          .step_y = pooled.stride(),
          .step_channel = pooled.stride() * pooled.size().height};
}

Queue* GpuQueue::beside(int number) {
  while (beside_.size() <= static_cast<std::size_t>(number)) beside_.push_back(make_beside());
  return beside_[static_cast<std::size_t>(number)].get();
}

bool GpuQueue::reaches(const Planes& image) {
  return std::ranges::all_of(image, [&](const Plane& plane) { return locks_->covers(plane); });
}

bool GpuQueue::reaches_all(std::span<const Planes> images) {
  return std::ranges::all_of(images, [&](const Planes& image) { return reaches(image); });
}

GpuQueue::PreparedLaunch GpuQueue::prepared(const Program& program, const Launch& launch) {
  // Those of the last launch are no longer needed, in the lane's order.
  while (constants_.size() > max_constants) constants_.pop_front();
  PreparedLaunch made{plan_of(program, launch), {}, {}};
  for (const Scratch& wanted : made.plan.scratch) {
    if (wanted.kept) {
      if (tickets_.bytes() == 0) {
        tickets_ = take(ticket_bytes);
        clear(tickets_.handle(), ticket_bytes);
      }
      made.scratch.push_back(tickets_.handle());
    } else if (!wanted.contents.empty()) {
      made.scratch.push_back(constants_of(wanted, made.blocks));
    } else {
      made.blocks.push_back(take(wanted.bytes));
      made.scratch.push_back(made.blocks.back().handle());
      if (wanted.cleared && wanted.bytes > 0) clear(made.scratch.back(), wanted.bytes);
    }
  }
  return made;
}

std::uint64_t GpuQueue::constants_of(const Scratch& wanted, std::vector<MemoryBlock>& blocks) {
  const bool kept = wanted.parts.empty() && wanted.contents.size() <= max_constant_bytes;
  if (kept) {
    const auto same = std::ranges::find(constants_, wanted.contents, &Constants::contents);
    if (same != constants_.end()) return same->block.handle();
  }
  std::vector<std::span<const std::byte>> parts{wanted.contents};
  parts.insert(parts.end(), wanted.parts.begin(), wanted.parts.end());
  MemoryBlock block = filled(parts);
  const std::uint64_t handle = block.handle();
  if (kept && copies_at_once()) {
    constants_.push_back({wanted.contents, std::move(block)});
  } else {
    blocks.push_back(std::move(block));
  }
  return handle;
}

std::vector<std::uint64_t> GpuQueue::buffers_of(const Pass& pass, const Launch& launch,
                                                const PreparedLaunch& prepared) {
  std::vector<std::uint64_t> buffers;
  for (const Buffer& buffer : pass.buffers) {
    const auto index = static_cast<std::size_t>(buffer.index);
    switch (buffer.kind) {
      case Buffer::Kind::input: buffers.push_back(handle_of(launch.inputs[index])); break;
      case Buffer::Kind::output: buffers.push_back(handle_of(launch.outputs[index])); break;
      case Buffer::Kind::scratch: buffers.push_back(prepared.scratch[index]); break;
    }
  }
  return buffers;
}

double GpuQueue::measured_copy(
    const std::function<double(const MemoryBlock& from, const MemoryBlock& to, std::int64_t)>&
        seconds) {
  return jit::measured_copy(*memory_, lane_, seconds);
}

}  // namespace impipe::jit
