// A Zarr is a folder of many files. To the program it is one picture, whose bytes are a ZIP of
// them.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "io/picture/image_info.hpp"

namespace impipe::io {

class UnsyncedDisks;

// Whether it is a folder that holds the metadata of a Zarr, whatever it is called.
bool is_zarr_folder(const std::filesystem::path& path);
// A ZIP of what is needed for its picture; of its metadata alone, for its header. Throws Error.
Bytes read_zarr_folder(const std::filesystem::path& folder, bool metadata_alone = false);

// As write_file; a Zarr whose name ends in .zarr becomes a folder, and one that is there is
// replaced.
void write_picture(const std::filesystem::path& target, std::span<const std::byte> bytes,
                   std::string_view maker = "", UnsyncedDisks* disks = nullptr);

}  // namespace impipe::io
