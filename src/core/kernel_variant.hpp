// Other kernels than a device's numbers ask for, with the same results: `impipe bench --variant`
// shows by them what each choice is worth, as the papers do that it follows.
#pragma once

#include <string>

namespace impipe {

struct KernelVariant {
  enum class Windows {
    usual,
    pixels,     // a pixel a work-item, each neighbour from memory
    local,      // a pixel a work-item, neighbours from the local memory of its group
    aligned,    // as local, loaded from multiples of 128 bytes
    conflicts,  // as local, and pixels side by side lie in one bank
  } windows = Windows::usual;
  enum class Loops { usual, rolled, unrolled } loops = Loops::usual;
  enum class Counts {
    usual,
    atomic,  // one addition to global memory a pixel
    tagged,  // without atomic additions: who finds its own tag has counted
  } counts = Counts::usual;
  int pixels = 0;       // of a work-item, side by side, where points alone are; 0: as usual
  int copy_bytes = 16;  // of a work-item of the plain copy

  std::string form;  // that makes each image which it can make; empty: the cheapest one

  bool operator==(const KernelVariant&) const = default;
  bool is_usual() const { return *this == KernelVariant{}; }
  // Whether every kernel that reads around its pixels makes one a work-item.
  bool single_pixels() const { return windows != Windows::usual; }
};

}  // namespace impipe
