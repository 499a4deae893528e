// What the parts of the spike share: the kernel text and a device that runs it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/body.hpp"

namespace impipe::bodies {
extern const PointBody adjust, ratio, code, power, square;
extern const StencilBody prewitt;
}  // namespace impipe::bodies

namespace spike {

constexpr std::int64_t side = 2048;
constexpr std::int64_t pixels = side * side;

inline const impipe::PointBody* const points[] = {&impipe::bodies::adjust, &impipe::bodies::ratio,
                                                  &impipe::bodies::code, &impipe::bodies::power,
                                                  &impipe::bodies::square};

// A launch argument by value: a buffer, a count or a parameter.
struct Argument {
  template <class T>
  Argument(T value) : size(sizeof value) {
    std::memcpy(bytes, &value, sizeof value);
  }
  unsigned char bytes[8] = {};
  std::size_t size;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() = 0;
  virtual std::uint64_t buffer(std::size_t size, const void* data) = 0;
  // Runs to the end and returns the device's milliseconds. Groups are group x 1.
  virtual double run(const std::string& kernel, std::int64_t x, std::int64_t y, int group,
                     std::vector<Argument> arguments) = 0;
  virtual void read(std::uint64_t buffer, void* to, std::size_t size) = 0;
};

// The whole program in one dialect ("opencl" or "cuda"), from the texts the macros keep.
std::string kernel_text(const std::string& dialect, const std::string& folder);

std::vector<std::unique_ptr<Device>> opencl_devices(const std::string& text);
// Compiles with NVRTC for sm_90 and saves the machine code, or loads it where there is no NVRTC.
std::unique_ptr<Device> cuda_device(const std::string& text, const std::string& cubin);

}  // namespace spike
