// Connected components, and what is measured in objects, have the CPU's bits on a GPU, at sizes
// around their tiles and on contents that wind through many of them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/opencl/device.hpp"
#include "core/object_table.hpp"
#include "support/backend_compare.hpp"

namespace impipe::testing {
namespace {

using Kind = Label::Kind;

constexpr Backend opencl_backend{"opencl", opencl::devices, opencl::open};
constexpr Backend cuda_backend{"cuda", cuda::devices, cuda::open};

SpecCase label_case(Kind kind, int connectivity, PixelClass cls, PixelClass result) {
  const int inputs = kind == Kind::reconstruct ? 2 : 1;
  Node node{.primitive = Label{kind, connectivity}, .cls = result, .channels = 1};
  KernelSpec spec;
  for (int i = 0; i < inputs; ++i) {
    node.images.push_back({true, i});
    spec.inputs.push_back({.cls = cls, .channels = 1, .white = class_max(cls)});
  }
  if (kind == Kind::large) node.arguments.push_back({.value = 7});
  spec.nodes = {node};
  spec.outputs = {0};
  return {"label " + std::to_string(static_cast<int>(kind)) + " conn " +
              std::to_string(connectivity) + " " + std::string(name_of(cls)),
          spec, 1};
}

Planes drawn(PixelClass cls, Size size,
             const std::function<double(std::int64_t, std::int64_t)>& f) {
  Plane plane(cls, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double v = f(x, y);
      if (cls == PixelClass::single)
        plane.row_as<float>(y)[x] = static_cast<float>(v);
      else if (cls == PixelClass::uint16)
        plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(v);
      else
        plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(v);
    }
  }
  return {plane};
}

// Rings with one gap each, now left, now right: one long way through all of them.
bool in_maze(std::int64_t x, std::int64_t y, Size size) {
  const std::int64_t ring =
      std::min(std::min(x, size.width - 1 - x), std::min(y, size.height - 1 - y));
  if (ring % 2 == 0) return true;
  return y == size.height / 2 && (ring / 2 % 2 == 0) == (x < size.width / 2);
}

// 0 or 1: what components are looked for in.
using Content = std::function<int(std::int64_t x, std::int64_t y)>;
std::vector<Content> contents(Size size) {
  std::vector<Content> out = {
      [size](std::int64_t x, std::int64_t y) { return in_maze(x, y, size); },
      [size](std::int64_t x, std::int64_t y) { return !in_maze(x, y, size); },
      [](std::int64_t x, std::int64_t y) { return (x + y) % 2; },
      [](std::int64_t, std::int64_t) { return 1; },
      [](std::int64_t, std::int64_t) { return 0; },
      [](std::int64_t x, std::int64_t y) { return x % 2 == 0 || y % 66 == 65; }};
  for (const int part : {30, 45, 59, 80}) {
    out.push_back(
        [part, random = std::make_shared<std::mt19937>(part)](std::int64_t, std::int64_t) {
          return static_cast<int>((*random)() % 100) < part;
        });
  }
  return out;
}

constexpr Size sizes[] = {{1, 1}, {1, 300}, {300, 1}, {64, 64}, {65, 129}, {131, 67}, {200, 290}};

void compare_with_cpu(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const auto check = [&](const SpecCase& spec, const auto& planes_of) {
    try {
      Comparison comparison(spec, *cpu, *device);
      for (const Size size : sizes) {
        int which = 0;
        for (const Content& content : contents(size)) {
          EXPECT_EQ(comparison.difference(planes_of(size, content)), "")
              << spec.name << " at " << to_string(size) << " of content " << which;
          ++which;
        }
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  };
  const auto random = std::make_shared<std::mt19937>(5);
  for (const int conn : {4, 8}) {
    const PixelClass bits = PixelClass::logical;
    const auto as_bits = [](Size size, const Content& content) {
      return std::vector<Planes>{drawn(PixelClass::logical, size, content)};
    };
    check(label_case(Kind::components, conn, bits, PixelClass::single), as_bits);
    check(label_case(Kind::large, conn, bits, bits), as_bits);
    check(label_case(Kind::holes, conn, bits, bits), as_bits);
    check(label_case(Kind::reconstruct, conn, bits, bits), [&](Size size, const Content& content) {
      return std::vector<Planes>{
          drawn(PixelClass::logical, size, [&](auto, auto) { return (*random)() % 90 == 0; }),
          drawn(PixelClass::logical, size, content)};
    });
    // Plateaus, here and there higher by one, or NaN.
    const auto as_heights = [&](PixelClass cls, int rare) {
      return [&, cls, rare](Size size, const Content& content) {
        return std::vector<Planes>{drawn(cls, size, [&](auto x, auto y) {
          if (cls == PixelClass::single && (*random)() % 70 == 0) return std::nan("");
          return 100.0 + 50.0 * content(x, y) + ((*random)() % rare == 0 ? 1.0 : 0.0);
        })};
      };
    };
    check(label_case(Kind::maxima, conn, PixelClass::uint8, bits),
          as_heights(PixelClass::uint8, 500));
    for (const Kind kind : {Kind::minima, Kind::maxima}) {
      check(label_case(kind, conn, PixelClass::single, bits), as_heights(PixelClass::single, 50));
    }
  }
}

// Pictures in which values spread: heights of several kinds, for a mask.
std::vector<Content> heights(Size size, int most) {
  std::vector<Content> out = {
      [](auto, auto) { return 7; },
      [size, most](auto x, auto y) { return in_maze(x, y, size) ? most : most / 3; },
      // Along the way through the maze it falls, so that each pixel waits for the one before it.
      [size, most](auto x, auto y) {
        const std::int64_t ring =
            std::min(std::min(x, size.width - 1 - x), std::min(y, size.height - 1 - y));
        return in_maze(x, y, size) ? std::max<int>(most - static_cast<int>(ring), 1) : 0;
      },
      [most](auto x, auto y) { return static_cast<int>((x * 3 + y * 5) % (most + 1)); },
      [most](auto x, auto y) { return static_cast<int>((x / 9 * 37 + y / 5 * 91) % (most + 1)); }};
  for (const int levels : {3, 40, most}) {
    out.push_back([levels, most, random = std::make_shared<std::mt19937>(levels)](auto, auto) {
      return static_cast<int>((*random)() % levels) * (most / levels);
    });
  }
  return out;
}

void compare_spreading(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  std::mt19937 random(9);
  const auto check = [&](const SpecCase& spec, int most, const auto& planes_of) {
    Comparison comparison(spec, *cpu, *device);
    for (const Size size : sizes) {
      int which = 0;
      for (const Content& content : heights(size, most)) {
        EXPECT_EQ(comparison.difference(planes_of(size, content)), "")
            << spec.name << " at " << to_string(size) << " of content " << which;
        ++which;
      }
    }
  };
  for (const int conn : {4, 8}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      const int most = cls == PixelClass::uint8 ? 255 : 60000;
      // Numbers below 0, 0 of either sign, and NaN among those of single.
      const auto value = [cls](double v) {
        if (cls != PixelClass::single) return v;
        const double of_sign = (v - 7) * 0.125 * (static_cast<int>(v) % 2 ? -1 : 1);
        return static_cast<int>(v) % 50 == 20 ? std::nan("") : of_sign;
      };
      check(label_case(Kind::holes, conn, cls, cls), most, [&](Size size, const Content& content) {
        return std::vector<Planes>{
            drawn(cls, size, [&](auto x, auto y) { return value(content(x, y)); })};
      });
      for (const int rare : {1, 3000}) {
        check(label_case(Kind::reconstruct, conn, cls, cls), most,
              [&](Size size, const Content& content) {
                return std::vector<Planes>{
                    drawn(cls, size,
                          [&](auto, auto) {
                            return value(random() % rare == 0 ? static_cast<double>(random() % most)
                                                              : 0);
                          }),
                    drawn(cls, size, [&](auto x, auto y) { return value(content(x, y)); })};
              });
      }
    }
  }
  const PixelClass codes = PixelClass::uint8;
  check(label_case(Kind::reach, 8, codes, PixelClass::logical), 255,
        [&](Size size, const Content& content) {
          return std::vector<Planes>{drawn(codes, size, [&](auto x, auto y) {
            const int code = content(x, y) * 5 / 256;
            return code == 0 ? 0.0 : (1 << (code - 1)) + (random() % 200 == 0 ? 16.0 : 0.0);
          })};
        });
  // Straight lines, and a staircase in which the direction changes at every pixel.
  for (const int code : {1, 2, 4, 8, 9}) {
    check(label_case(Kind::reach, 8, codes, PixelClass::logical), 255,
          [&](Size size, const Content& content) {
            return std::vector<Planes>{drawn(codes, size, [&](std::int64_t x, std::int64_t y) {
              if (code == 9) {
                const std::int64_t step = x - y;
                if (x == 0 && y == 0) return 20.0;
                return step == 0 ? 4.0 : step == 1 ? 1.0 : 0.0;
              }
              if (content(x, y) % 11 == 0) return 0.0;
              return random() % 300 == 0 ? code + 16.0 : static_cast<double>(code);
            })};
          });
  }
}

SpecCase objects_case(PixelClass cls, int count, std::optional<PixelClass> codes) {
  KernelSpec spec;
  spec.inputs.push_back({.cls = cls, .channels = 1, .white = class_max(cls)});
  Node node{.primitive = Objects{}, .images = {{true, 0}}, .is_measure = true};
  if (codes) {
    spec.inputs.push_back({.cls = *codes, .channels = 1, .white = class_max(*codes)});
    node.images.push_back({true, 1});
  }
  node.channels = 1;
  node.values = (count + 1) * object_record::length(codes.has_value());
  spec.nodes = {node};
  spec.outputs = {0};
  return {"objects " + std::string(name_of(cls)), spec, 1};
}

// Long outlines and many short ones, holes with other objects in them, objects of many pieces, and
// labels that want the same place of a table.
void compare_objects(const Backend& backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  using Number = std::function<double(const Content&, std::int64_t, std::int64_t)>;
  const Number numbers[] = {
      [](const Content& content, auto x, auto y) { return content(x, y); },
      [](const Content& content, auto x, auto y) { return 3 - 2 * content(x, y); },
      [](const Content& content, auto x, auto y) {
        return content(x, y) * static_cast<double>(1 + (x / 7 + y / 50 * 5) % 200);
      },
      [](const Content& content, auto x, auto y) {
        return content(x, y) * static_cast<double>(1 + (x / 40 + y / 30) % 4 * 256);
      }};
  const auto check = [&](PixelClass cls, int count, std::optional<PixelClass> codes,
                         double faulty) {
    const SpecCase spec = objects_case(cls, count, codes);
    Comparison comparison(spec, *cpu, *device);
    std::mt19937 random(3);
    for (const Size size : sizes) {
      for (std::size_t number = 0; number < std::size(numbers); ++number) {
        int which = 0;
        for (const Content& content : contents(size)) {
          std::vector<Planes> images{drawn(cls, size, [&](auto x, auto y) {
            return numbers[number](content, x, y) +
                   (faulty != 0 && random() % 50 == 0 ? faulty : 0);
          })};
          if (codes) {
            images.push_back(drawn(*codes, size, [&](auto, auto) {
              return static_cast<double>(random() % (static_cast<int>(class_max(*codes)) + 1));
            }));
          }
          EXPECT_EQ(comparison.difference(images), "")
              << to_string(size) << " of content " << which << ", numbers " << number;
          ++which;
        }
      }
    }
  };
  check(PixelClass::single, 800, std::nullopt, 0);
  check(PixelClass::single, 150, std::nullopt, 0.5);
  check(PixelClass::uint8, 255, PixelClass::uint16, 0);
  check(PixelClass::uint16, 800, PixelClass::uint8, -1);
}

// Meyer's flooding from pixels here and there, over heights of several kinds. OpenCL devices whose
// groups may not wait leave larger images to the CPU.
void compare_floods(const Backend& backend, const std::vector<Size>& sizes_of_backend) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> device = device_of(backend, pool);
  if (device == nullptr) GTEST_SKIP() << "no " << backend.name << " device";
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  std::mt19937 random(17);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int connectivity : {4, 8}) {
      SpecCase flood{"flood", {}, 1};
      flood.spec.inputs = {{.cls = cls}, {.cls = PixelClass::single}};
      flood.spec.nodes = {{.primitive = Label{Kind::flood, connectivity},
                           .images = {{true, 0}, {true, 1}},
                           .cls = PixelClass::single,
                           .white = 0}};
      flood.spec.outputs = {0};
      Comparison comparison(flood, *cpu, *device);
      for (const Size size : sizes_of_backend) {
        int which = 0;
        for (const Content& content : heights(size, cls == PixelClass::uint8 ? 250 : 3000)) {
          const Planes labels = drawn(PixelClass::single, size, [&](auto, auto) {
            return random() % 300 == 0 ? static_cast<double>(1 + random() % 900) : 0.0;
          });
          EXPECT_EQ(comparison.difference({drawn(cls, size, content), labels}), "")
              << name_of(cls) << " by " << connectivity << " at " << to_string(size)
              << " of content " << which;
          ++which;
        }
      }
    }
  }
}

TEST(OpenClFloods, HaveTheBitsOfTheCpu) {
  compare_floods(opencl_backend, {{1, 1}, {1, 300}, {70, 33}, {200, 230}});
}
TEST(CudaFloods, HaveTheBitsOfTheCpu) {
  compare_floods(cuda_backend, {{1, 1}, {1, 300}, {300, 1}, {70, 33}, {200, 230}, {259, 253}});
}

TEST(OpenClObjects, HaveTheSumsOfTheCpu) { compare_objects(opencl_backend); }
TEST(CudaObjects, HaveTheSumsOfTheCpu) { compare_objects(cuda_backend); }

TEST(OpenClSpreading, HasTheBitsOfTheCpu) { compare_spreading(opencl_backend); }
TEST(CudaSpreading, HasTheBitsOfTheCpu) { compare_spreading(cuda_backend); }

TEST(OpenClLabels, HaveTheBitsOfTheCpu) { compare_with_cpu(opencl_backend); }
TEST(CudaLabels, HaveTheBitsOfTheCpu) { compare_with_cpu(cuda_backend); }

}  // namespace
}  // namespace impipe::testing
