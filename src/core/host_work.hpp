// What the host makes of whole images: the work of the primitive OnHost.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/image.hpp"
#include "core/spectral_work.hpp"

namespace impipe {

struct HostWork {
  std::string name = {};  // for `plan`
  std::string text = {};  // the stage: works of equal texts do the same
  // The result's size, given the images'. Null: all of them have one size.
  std::function<Size(std::span<const Size>)> size = {};
  std::size_t unread = 0;  // of the first images only the sizes matter; `make` gets no planes
  // images: one an operand. result: of that size, not initialised.
  std::function<void(std::span<const Planes> images, Planes& result)> make = {};
  double bytes_a_pixel = 0;  // of scratch memory, for each pixel of the first image
  // GPUs do this instead, with the same bits.
  std::optional<SpectralWork> spectral = {};
  // Throws Error where the images have other sizes than the work can take. Null: all may be.
  std::function<void(std::span<const Size>)> check = {};
};

}  // namespace impipe
