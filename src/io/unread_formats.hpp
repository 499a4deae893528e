// Picture formats that nothing here reads or writes, by their extensions: what names them is no
// folder, and a folder that holds them says so.
#pragma once

#include <string>
#include <string_view>

namespace impipe::io {

// The extension in small letters, "heic" for "a.HEIC"; empty for what is no such picture.
std::string unread_extension(std::string_view name);

// "png, jpg, tif, …": the usual extension of each format that is written.
std::string written_extensions();

}  // namespace impipe::io
