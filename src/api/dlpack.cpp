// Structures of DLPack 1.0 (dlpack.h), by which array libraries hand arrays to each other.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/result_array.hpp"

namespace impipe::api {
namespace {

enum class DeviceKind : std::int32_t { cpu = 1, cuda = 2, opencl = 4 };
enum class ItemKind : std::uint8_t { unsigned_integer = 1, floating = 2, boolean = 6 };

struct Tensor {
  void* data;
  DeviceKind device;
  std::int32_t device_number;
  std::int32_t axes;
  ItemKind kind;
  std::uint8_t bits;
  std::uint16_t lanes;
  const std::int64_t* shape;
  const std::int64_t* steps;
  std::uint64_t offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*free)(ManagedTensor*);
};

struct VersionedTensor {
  std::uint32_t major, minor;
  void* context;
  void (*free)(VersionedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};

// A tensor with what it points to.
template <class Managed>
struct Holder {
  Managed managed{};
  std::shared_ptr<const ResultArray> array;
  std::vector<std::int64_t> shape, steps;

  static void free(Managed* managed) { delete static_cast<Holder*>(managed->context); }
};

Tensor tensor_of(const ResultArray& array) {
  const std::string_view device = array.device();
  const impipe_image& image = array.description();
  Tensor out{};
  out.data = image.data;
  out.device = device == "cpu"               ? DeviceKind::cpu
               : device.starts_with("cuda:") ? DeviceKind::cuda
                                             : DeviceKind::opencl;
  const std::size_t colon = device.find(':');
  if (colon != device.npos) out.device_number = std::stoi(std::string(device.substr(colon + 1)));
  out.kind = image.type == IMPIPE_LOGICAL  ? ItemKind::boolean
             : image.type == IMPIPE_SINGLE ? ItemKind::floating
                                           : ItemKind::unsigned_integer;
  out.bits = static_cast<std::uint8_t>(8 * image.step_x);
  out.lanes = 1;
  return out;
}

template <class Managed>
Managed* made(std::shared_ptr<const ResultArray> array, int axes, const std::int64_t* shape,
              const std::int64_t* steps) {
  auto holder = std::make_unique<Holder<Managed>>();
  holder->shape.assign(shape, shape + axes);
  holder->steps.assign(steps, steps + axes);
  Tensor& tensor = holder->managed.tensor;
  tensor = tensor_of(*array);
  tensor.axes = axes;
  tensor.shape = holder->shape.data();
  tensor.steps = holder->steps.data();
  holder->managed.context = holder.get();
  holder->managed.free = Holder<Managed>::free;
  array->share();
  holder->array = std::move(array);
  return &holder.release()->managed;
}

}  // namespace

void* dlpack_tensor(std::shared_ptr<const ResultArray> array, int axes, const std::int64_t* shape,
                    const std::int64_t* steps, bool is_versioned) {
  if (!is_versioned) return made<ManagedTensor>(std::move(array), axes, shape, steps);
  auto* const tensor = made<VersionedTensor>(std::move(array), axes, shape, steps);
  tensor->major = 1;
  return tensor;
}

}  // namespace impipe::api
