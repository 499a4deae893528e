// Zarr's files: those of its metadata, which are written here, and those of chunks.
#pragma once

#include <span>
#include <vector>

#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {

// One Zarr of the pages, each a Zarr of its own, along these axes; without axes that count as many
// they lie along z. Throws Error where pages differ.
Bytes join_zarr_pages(std::span<const Bytes> pages, const std::vector<PageAxis>& axes,
                      std::span<const MeasuredAxis> measured);

}  // namespace impipe::io
