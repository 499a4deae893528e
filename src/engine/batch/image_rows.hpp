// Rows of images in host memory.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace impipe::engine {

// Rows [from, to) of `image` at row `at` of `into`, which is of its kind.
void copy_rows(const HostImage& image, std::int64_t from, std::int64_t to, HostImage& into,
               std::int64_t at);

// An image of the same kind; its alpha may have another class than its pixels.
HostImage image_like(const HostImage& image, std::int64_t rows);

}  // namespace impipe::engine
