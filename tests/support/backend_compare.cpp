// Runs a kernel of the table on two devices and compares every bit of the results.
#include "support/backend_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "core/primitive_facts.hpp"
#include "support/picked.hpp"
#include "support/pipeline_runner.hpp"

IMPIPE_SCALAR_BODY(compare_ramp, {
  const int n = (int)args[0];
  for (int i = 0; i < n; ++i) out[i] = in[0] / 100.0 + 0.6 * i / n;
})

namespace impipe::testing {
namespace {

// nans: floats of the upper left quarter are NaN, so that windows hold nothing else.
Planes random_image(PixelClass cls, int channels, Size size, std::mt19937& random, bool nans) {
  Planes planes = new_planes(cls, channels, size);
  std::uniform_real_distribution<float> unit(-0.1f, 1.1f);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t i = 0; i < size.width * channels; ++i) {
      Plane& plane = planes[static_cast<std::size_t>(i % channels)];
      const std::int64_t x = i / channels;
      switch (cls) {
        case PixelClass::logical: plane.row_as<std::uint8_t>(y)[x] = random() % 2; break;
        case PixelClass::uint8: plane.row_as<std::uint8_t>(y)[x] = random() % 256; break;
        case PixelClass::uint16:
          plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(random() % 65536);
          break;
        case PixelClass::single: {
          // In some squares there are zeros alone, of both signs.
          const bool zeros = x / 8 % 2 == 1 && y / 8 % 2 == 1;
          const float value = unit(random);
          plane.row_as<float>(y)[x] = nans && 2 * x < size.width && 2 * y < size.height ? NAN
                                      : zeros ? std::copysign(0.0f, value - 0.5f)
                                              : value;
          break;
        }
      }
    }
  }
  return planes;
}

// A measurement for an input, other values in each channel. There is no upload of measurements: a
// sum and a scalar node make it.
std::shared_ptr<DeviceMeasure> measured_input(const KernelInput& input, Device& device,
                                              Queue& queue, int count = 1) {
  Planes image = new_planes(PixelClass::uint8, input.channels, {1, 1});
  std::uint8_t value = 5;
  for (Plane& plane : image) *plane.row_as<std::uint8_t>(0) = value += 5;
  Node sum{.primitive = Reduce{},
           .images = {{true, 0}},
           .is_measure = true,
           .cls = PixelClass::single,
           .channels = input.channels,
           .values = 1};
  Node ramp{.primitive = Scalar{&bodies::compare_ramp, static_cast<int>(input.values)},
            .measures = {{false, 0}},
            .arguments = {{.value = static_cast<double>(input.values)}},
            .is_measure = true,
            .cls = PixelClass::single,
            .channels = input.channels,
            .values = input.values};
  const KernelSpec spec = plane_kernel({{{.channels = input.channels}}, {sum, ramp}, {1}}).spec;
  if (count == 1) {
    const std::unique_ptr<Kernel> kernel = device.prepare(spec);
    auto made = queue.allocate_measure(input.channels, input.values);
    queue.run(*kernel, {&spec, {{.plane = queue.upload(image)}}, {{.measure = made}}});
    return made;
  }
  const std::unique_ptr<Kernel> kernel = device.prepare_stacked(spec);
  const std::vector<Planes> images(static_cast<std::size_t>(count), image);
  auto made = queue.allocate_measure_stack(input.channels, input.values, count);
  queue.run(*kernel, {&spec, {{.plane = queue.upload_stack(images)}}, {{.measure = made}}});
  return made;
}

bool same_number(double a, double b) { return a == b || (a != a && b != b); }

bool same_float(const std::byte* a, const std::byte* b) {
  float x, y;
  std::memcpy(&x, a, 4);
  std::memcpy(&y, b, 4);
  return std::memcmp(a, b, 4) == 0 || (x != x && y != y);
}

std::string compare_planes(const Plane& a, const Plane& b, std::size_t channel) {
  const int bytes = bytes_of(a.cls());
  for (std::int64_t y = 0; y < a.size().height; ++y) {
    for (std::int64_t i = 0; i < a.size().width; ++i) {
      const std::byte* x = a.row(y) + i * bytes;
      const std::byte* z = b.row(y) + i * bytes;
      const bool same = a.cls() == PixelClass::single
                            ? same_float(x, z)
                            : std::memcmp(x, z, static_cast<std::size_t>(bytes)) == 0;
      if (same) continue;
      std::ostringstream out;
      out.precision(9);
      out << "pixel (" << i << ", " << y << ") channel " << channel << ": ";
      if (a.cls() == PixelClass::single) {
        out << a.row_as<float>(y)[i] << " expected, " << b.row_as<float>(y)[i] << " found";
      } else if (bytes == 2) {
        out << a.row_as<std::uint16_t>(y)[i] << " expected, " << b.row_as<std::uint16_t>(y)[i]
            << " found";
      } else {
        out << static_cast<int>(*x) << " expected, " << static_cast<int>(*z) << " found";
      }
      return out.str();
    }
  }
  return "";
}

// Which inputs are tables for a look-up.
bool is_table(const KernelSpec& spec, int input) {
  for (const Node& node : spec.nodes) {
    const auto* point = std::get_if<Point>(&node.primitive);
    if (point != nullptr && point->lookup && node.images[1] == Operand{true, input}) return true;
  }
  return false;
}

// Whether an input has labels, which are always numbers: those that a kernel before it has made.
bool takes_labels(const KernelSpec& spec) {
  return std::any_of(spec.nodes.begin(), spec.nodes.end(), [](const Node& node) {
    const auto* label = std::get_if<Label>(&node.primitive);
    return label != nullptr && label->kind == Label::Kind::flood;
  });
}

}  // namespace

Comparison::Comparison(const SpecCase& spec, Device& expected, Device& tested)
    : spec_(spec.spec),
      planes_(plane_kernel(spec.spec)),
      expected_(prepare(expected)),
      tested_(prepare(tested)) {}

Comparison::Side Comparison::prepare(Device& device) const {
  Side side{device, device.prepare(planes_.spec), device.make_queue(), {}};
  for (const KernelInput& input : spec_.inputs) {
    side.measures.push_back(input.is_measure ? measured_input(input, device, *side.queue)
                                             : nullptr);
  }
  return side;
}

Comparison::Results Comparison::run(Side& side, const std::vector<Planes>& images) const {
  Queue& queue = *side.queue;
  Launch launch{.spec = &spec_};
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
    launch.inputs.push_back({.measure = side.measures[i]});
    if (!spec_.inputs[i].is_measure) launch.inputs.back().plane = queue.upload(images[i]);
  }
  const std::vector<Size> sizes = sizes_of_nodes(images);
  for (const int output : spec_.outputs) {
    const Node& node = spec_.nodes[output];
    if (node.is_measure) {
      launch.outputs.push_back({.measure = queue.allocate_measure(node.channels, node.values)});
    } else {
      launch.outputs.push_back({.plane = queue.allocate(node.cls, node.channels, sizes[output])});
    }
  }
  queue.run(*side.kernel, {.spec = &planes_.spec,
                           .inputs = picked(launch.inputs, planes_.inputs),
                           .outputs = picked(launch.outputs, planes_.outputs)});
  Results results;
  for (const DeviceValue& value : launch.outputs) {
    results.images.push_back(value.plane ? queue.download(*value.plane) : Planes());
    results.measures.push_back(value.measure ? queue.download(*value.measure)
                                             : std::vector<double>());
  }
  return results;
}

std::vector<Size> Comparison::sizes_of_nodes(const std::vector<Planes>& images) const {
  std::vector<Size> sizes;
  for (const Node& node : spec_.nodes) {
    Size size;
    if (!node.images.empty()) {
      const Operand& first = node.images[0];
      size = result_size(node,
                         first.external ? images[first.index].front().size() : sizes[first.index]);
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<Planes> Comparison::random_images(Size size, unsigned seed, bool nans) const {
  std::mt19937 random(seed);
  std::vector<Planes> images;
  nans = nans && !takes_labels(spec_);
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
    const KernelInput& input = spec_.inputs[i];
    const Size own = is_table(spec_, static_cast<int>(i)) ? Size{32, 8} : size;
    images.push_back(input.is_measure ? Planes()
                                      : random_image(input.cls, input.channels, own, random, nans));
  }
  return images;
}

std::string Comparison::difference(Size size, unsigned seed, bool nans) {
  return difference(random_images(size, seed, nans));
}

std::string Comparison::difference(const std::vector<Planes>& images) {
  return compare(run(expected_, images), run(tested_, images));
}

std::string Comparison::stack_difference(Size size, unsigned seed) {
  constexpr unsigned count = 3;
  std::vector<std::vector<Planes>> images;
  for (unsigned k = 0; k < count; ++k) images.push_back(random_images(size, seed + k, false));
  Queue& queue = *tested_.queue;
  const std::unique_ptr<Kernel> kernel = tested_.device.prepare_stacked(planes_.spec);
  Launch launch{.spec = &spec_};
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
    if (spec_.inputs[i].is_measure) {
      launch.inputs.push_back(
          {.measure = measured_input(spec_.inputs[i], tested_.device, queue, count)});
      continue;
    }
    std::vector<Planes> stack;
    for (const std::vector<Planes>& inputs : images) stack.push_back(inputs[i]);
    launch.inputs.push_back({.plane = queue.upload_stack(stack)});
  }
  const std::vector<Size> sizes = sizes_of_nodes(images.front());
  for (const int output : spec_.outputs) {
    const Node& node = spec_.nodes[output];
    if (node.is_measure) {
      launch.outputs.push_back(
          {.measure = queue.allocate_measure_stack(node.channels, node.values, count)});
    } else {
      launch.outputs.push_back(
          {.plane = queue.allocate_stack(node.cls, node.channels, sizes[output], count)});
    }
  }
  queue.run(*kernel, {.spec = &planes_.spec,
                      .inputs = picked(launch.inputs, planes_.inputs),
                      .outputs = picked(launch.outputs, planes_.outputs)});
  std::vector<Results> found(count);
  for (const DeviceValue& value : launch.outputs) {
    std::vector<Planes> made(count);
    if (value.plane) made = queue.download_stack(*value.plane);
    std::vector<double> numbers;
    if (value.measure) numbers = queue.download(*value.measure);
    const auto each = static_cast<std::ptrdiff_t>(numbers.size() / count);
    for (unsigned k = 0; k < count; ++k) {
      found[k].images.push_back(made[k]);
      const auto begin = numbers.begin() + k * each;
      found[k].measures.emplace_back(begin, begin + each);
    }
  }
  for (unsigned k = 0; k < count; ++k) {
    const std::string wrong = compare(run(expected_, images[k]), found[k]);
    if (!wrong.empty()) return "image " + std::to_string(k) + ", " + wrong;
  }
  return "";
}

std::string Comparison::compare(const Results& a, const Results& b) {
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    for (std::size_t c = 0; c < a.images[i].size(); ++c) {
      const std::string found = compare_planes(a.images[i][c], b.images[i][c], c);
      if (!found.empty()) return "output " + std::to_string(i) + ", " + found;
    }
    for (std::size_t k = 0; k < a.measures[i].size(); ++k) {
      if (same_number(a.measures[i][k], b.measures[i][k])) continue;
      std::ostringstream out;
      out.precision(17);
      out << "output " << i << ", value " << k << ": " << a.measures[i][k] << " expected, "
          << b.measures[i][k] << " found";
      return out.str();
    }
  }
  return "";
}

void compile(Device& device, const std::vector<SpecCase>& specs, bool stacked) {
  if (std::getenv("IMPIPE_TEST_EXACT_BUFFERS") != nullptr) return;
  ThreadPool pool(static_cast<int>(std::thread::hardware_concurrency()));
  pool.for_each(static_cast<std::int64_t>(specs.size()), [&](std::int64_t i) {
    const KernelSpec spec = plane_kernel(specs[static_cast<std::size_t>(i)].spec).spec;
    try {
      stacked ? device.prepare_stacked(spec) : device.prepare(spec);
    } catch (const std::exception&) {  // the comparison tells
    }
  });
}

std::unique_ptr<Device> device_of(const Backend& backend, ThreadPool& pool) {
  const std::vector<DeviceInfo> devices = backend.devices();
  for (const bool is_gpu : {true, false}) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].usable && devices[i].is_gpu == is_gpu) {
        return backend.open(static_cast<int>(i), pool);
      }
    }
  }
  if (test::is_required(backend.name)) {
    throw std::runtime_error(std::string(backend.name) + " is required: " +
                             (devices.empty() ? "no device" : devices.front().why_not));
  }
  return nullptr;
}

}  // namespace impipe::testing
