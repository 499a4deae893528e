// Runs hand-made kernels on the CPU backend, with guard bytes in the planes.
#include "support/spec_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/simd/level.hpp"
#include "core/plane_kernel.hpp"
#include "core/primitive_facts.hpp"
#include "support/picked.hpp"

namespace impipe::testing {
namespace {

constexpr std::byte guard{0xA5};

void set_guards(Plane& plane) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    std::fill(plane.row(y) + plane.row_bytes(), plane.row(y) + plane.stride(), guard);
  }
}

bool guards_intact(const Plane& plane) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    if (!std::all_of(plane.row(y) + plane.row_bytes(), plane.row(y) + plane.stride(),
                     [](std::byte b) { return b == guard; })) {
      return false;
    }
  }
  return true;
}

double element(const Plane& plane, std::int64_t y, std::int64_t x) {
  if (plane.cls() == PixelClass::single) return plane.row_as<float>(y)[x];
  if (plane.cls() == PixelClass::uint16) return plane.row_as<std::uint16_t>(y)[x];
  return plane.row_as<std::uint8_t>(y)[x];
}

void set_element(Plane& plane, std::int64_t y, std::int64_t x, double v) {
  if (plane.cls() == PixelClass::single)
    plane.row_as<float>(y)[x] = static_cast<float>(v);
  else if (plane.cls() == PixelClass::uint16)
    plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(v);
  else
    plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(v);
}

Planes to_planes(const SpecImage& image) {
  Planes planes = new_planes(image.cls, image.channels, {image.width, image.height});
  for (Plane& plane : planes) set_guards(plane);
  const double* value = image.values.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (Plane& plane : planes) set_element(plane, y, x, *value++);
    }
  }
  return planes;
}

SpecImage from_planes(const Planes& planes) {
  const Size size = planes.front().size();
  SpecImage image{
      planes.front().cls(), static_cast<int>(planes.size()), size.width, size.height, {}};
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (const Plane& plane : planes) image.values.push_back(element(plane, y, x));
    }
  }
  return image;
}

// The size of a node's result, from the inputs' images.
Size size_of_node(const KernelSpec& spec, const std::vector<SpecResult>& inputs, int n) {
  const Operand& from = spec.nodes[n].images[0];
  const Size size = from.external
                        ? Size{inputs[from.index].image.width, inputs[from.index].image.height}
                        : size_of_node(spec, inputs, from.index);
  return result_size(spec.nodes[n], size);
}

}  // namespace

Operand SpecBuilder::input(PixelClass cls, int channels, double white) {
  spec_.inputs.push_back({.cls = cls, .channels = channels, .white = white});
  return {true, static_cast<int>(spec_.inputs.size()) - 1};
}

Operand SpecBuilder::add(Primitive primitive, std::vector<Operand> images,
                         std::vector<double> arguments, PixelClass cls, int channels) {
  Node node;
  node.primitive = std::move(primitive);
  node.images = std::move(images);
  for (const double value : arguments) node.arguments.push_back({.value = value});
  node.cls = cls;
  node.channels = channels;
  node.white = class_max(cls);
  spec_.nodes.push_back(std::move(node));
  return {false, static_cast<int>(spec_.nodes.size()) - 1};
}

Operand SpecBuilder::measure(Primitive primitive, Operand image, std::vector<double> arguments,
                             int channels, std::int64_t values) {
  const Operand result =
      add(std::move(primitive), {image}, std::move(arguments), PixelClass::single, channels);
  last().is_measure = true;
  last().values = values;
  return result;
}

KernelSpec SpecBuilder::finish(const std::vector<Operand>& outputs) {
  for (const Operand& output : outputs) spec_.outputs.push_back(output.index);
  return spec_;
}

Mask rectangle(int width, int height, int origin_x, int origin_y) {
  return {width, height, origin_x, origin_y,
          std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height, 1)};
}

SpecResult random_image(std::mt19937& random, PixelClass cls, int channels, Size size,
                        bool with_nan) {
  SpecImage image{cls, channels, size.width, size.height, {}};
  for (std::int64_t i = 0; i < size.pixels() * channels; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    double v = static_cast<double>(bits % static_cast<std::uint32_t>(class_max(cls) + 1));
    if (cls == PixelClass::single) {
      v = static_cast<float>(bits % 100000) / 333.0f - 20.0f;
      if (with_nan && bits % 37 == 0) v = std::numeric_limits<double>::quiet_NaN();
    }
    image.values.push_back(v);
  }
  return {std::move(image), {}};
}

std::vector<SpecResult> run_spec(const KernelSpec& spec, const std::vector<SpecResult>& inputs,
                                 CpuLevel level, int threads) {
  ThreadPool pool(threads - 1);
  const std::unique_ptr<Device> device = cpu::open_at(level, pool);
  const PlaneKernel planar = plane_kernel(spec);
  const std::unique_ptr<Kernel> kernel = device->prepare(planar.spec);
  const std::unique_ptr<Queue> queue = device->make_queue();
  Launch launch{.spec = &spec};
  std::vector<std::unique_ptr<Queue>> none;
  std::vector<Planes> images;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!spec.inputs[i].is_measure) {
      images.push_back(to_planes(inputs[i].image));
      launch.inputs.push_back({.plane = queue->upload(images.back())});
      continue;
    }
    // A measurement gets onto the device as the result of a scalar that copies its arguments.
    static const ScalarBody copy{
        "copy", "", [](const double*, const std::int64_t*, const double* args, double* out) {
          const int n = static_cast<int>(args[0]);
          for (int k = 0; k < n; ++k) out[k] = args[k + 1];
        }};
    Node node;
    const std::vector<double>& values = inputs[i].measure;
    node.primitive = Scalar{&copy, static_cast<int>(values.size())};
    node.is_measure = true;
    node.values = static_cast<std::int64_t>(values.size());
    node.arguments.push_back({.value = static_cast<double>(values.size())});
    for (const double v : values) node.arguments.push_back({.value = v});
    KernelSpec copying{.nodes = {node}, .outputs = {0}};
    Launch copy_launch{.spec = &copying};
    copy_launch.outputs = {{.measure = queue->allocate_measure(1, node.values)}};
    queue->run(*device->prepare(copying), copy_launch);
    launch.inputs.push_back(copy_launch.outputs[0]);
  }
  for (const int output : spec.outputs) {
    const Node& node = spec.nodes[output];
    if (node.is_measure) {
      launch.outputs.push_back({.measure = queue->allocate_measure(node.channels, node.values)});
      continue;
    }
    auto plane = queue->allocate(node.cls, node.channels, size_of_node(spec, inputs, output));
    Planes pixels = queue->download(*plane);
    for (Plane& channel : pixels) set_guards(channel);
    launch.outputs.push_back({.plane = std::move(plane)});
  }
  queue->run(*kernel, {.spec = &planar.spec,
                       .inputs = picked(launch.inputs, planar.inputs),
                       .outputs = picked(launch.outputs, planar.outputs)});
  queue->wait();
  const auto expect_intact = [&](const Planes& planes) {
    for (const Plane& plane : planes) EXPECT_TRUE(guards_intact(plane)) << spec.key();
  };
  for (const Planes& image : images) expect_intact(image);
  std::vector<SpecResult> results;
  for (const DeviceValue& value : launch.outputs) {
    if (value.measure) {
      results.push_back({{}, queue->download(*value.measure)});
      continue;
    }
    const Planes planes = queue->download(*value.plane);
    expect_intact(planes);
    results.push_back({from_planes(planes), {}});
  }
  return results;
}

std::vector<SpecResult> run_unfused(const KernelSpec& spec, const std::vector<SpecResult>& inputs,
                                    CpuLevel level, int threads) {
  std::vector<SpecResult> made;
  for (const Node& node : spec.nodes) {
    KernelSpec one;
    one.nodes = {node};
    one.outputs = {0};
    std::vector<SpecResult> read;
    const auto move_outside = [&](Operand& operand) {
      if (operand.external) {
        one.inputs.push_back(spec.inputs[operand.index]);
        read.push_back(inputs[operand.index]);
      } else {
        const Node& from = spec.nodes[operand.index];
        one.inputs.push_back({from.is_measure, from.cls, from.channels, from.white, from.values});
        read.push_back(made[operand.index]);
      }
      operand = {true, static_cast<int>(one.inputs.size()) - 1};
    };
    for (Operand& operand : one.nodes[0].images) move_outside(operand);
    for (Operand& operand : one.nodes[0].measures) move_outside(operand);
    made.push_back(run_spec(one, read, level, threads)[0]);
  }
  std::vector<SpecResult> out;
  for (const int output : spec.outputs) out.push_back(made[output]);
  return out;
}

std::string difference(const SpecResult& a, const SpecResult& b) {
  const std::vector<double>& va = a.image.values.empty() ? a.measure : a.image.values;
  const std::vector<double>& vb = b.image.values.empty() ? b.measure : b.image.values;
  if (va.size() != vb.size()) {
    return std::to_string(va.size()) + " values against " + std::to_string(vb.size());
  }
  for (std::size_t i = 0; i < va.size(); ++i) {
    if (va[i] == vb[i] || (std::isnan(va[i]) && std::isnan(vb[i]))) continue;
    std::string where = "value " + std::to_string(i);
    if (a.image.width > 0) {
      const std::int64_t pixel = static_cast<std::int64_t>(i) / a.image.channels;
      where = "(" + std::to_string(pixel % a.image.width) + ", " +
              std::to_string(pixel / a.image.width) + ") of " + std::to_string(a.image.width) +
              "x" + std::to_string(a.image.height);
    }
    return where + ": " + std::to_string(va[i]) + " against " + std::to_string(vb[i]);
  }
  return "";
}

std::vector<CpuLevel> usable_levels() {
  std::vector<CpuLevel> out;
  for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::v3, CpuLevel::v4}) {
    if (cpu::has_level(level)) out.push_back(level);
  }
  return out;
}

}  // namespace impipe::testing
