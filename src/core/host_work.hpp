// What the host makes of whole images: the work of the primitive OnHost.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/image.hpp"

namespace impipe {

struct HostWork {
  std::string name;  // for `plan`
  std::string text;  // the stage: works of equal texts do the same
  // Of the result, given the first image's.
  std::function<Size(Size)> size = [](Size of) { return of; };
  // images: one an operand. result: of that size, not initialised.
  std::function<void(std::span<const Planes> images, Planes& result)> make;
};

}  // namespace impipe
