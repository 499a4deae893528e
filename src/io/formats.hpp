// The table of formats: a file's by its first bytes, a name's by its extension.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/image.hpp"
#include "io/formats/format_traits.hpp"

namespace impipe::io {

std::span<const std::reference_wrapper<const FormatTraits>> all_formats();
// By content, never by name. Enough are the first `sniffed_bytes`.
inline constexpr std::size_t sniffed_bytes = 132;
std::optional<Format> sniff(std::span<const std::byte> bytes);
// "png", ".PNG" and "photo.png" alike; nothing for an unknown extension.
std::optional<Format> format_of_extension(std::string_view name);
// The same, of formats that are read, or written.
std::optional<Format> read_format(std::string_view name);
std::optional<Format> written_format(std::string_view name);
// The extension that says what was written: "jpg"; "pbm", "pgm" or "ppm" by what an image holds.
std::string_view extension_for(Format format, PixelClass cls, int channels);

// Of picture formats that nothing here reads or writes: what names them is no folder, and a folder
// that holds them says so.
// The extension in small letters, "heic" for "a.HEIC"; empty for what is no such picture.
std::string unread_extension(std::string_view name);

// "png, jpg, tif, …": the usual extension of each format that is written.
std::string written_extensions();

// The class among those that the format holds that is nearest to the wanted one.
PixelClass nearest_class(Format format, PixelClass wanted);

}  // namespace impipe::io
