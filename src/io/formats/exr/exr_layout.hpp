// What an EXR's header says, and which of its channels make the picture. Read without OpenEXR: by
// the program to know the image before it is decoded, and by the module to decode the same one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/picture/encoding.hpp"

namespace impipe::io {

struct ExrLayout {
  ImageInfo info;
  ExrStorage storage;
  // Red, green, blue or the one gray channel or, of luma_chroma, Y, RY, BY; then alpha where there
  // is one. By their full names.
  std::vector<std::string> channels;
  std::vector<ExrType> types;  // of each
  bool luma_chroma = false;
};
// page: the part, from 0; without it the first that holds a picture. named: the channels to take,
// each as it is stored, {"all"} being all; without them those of a picture. Throws Error for what
// the file has and an image cannot hold: deep data, channels of which none or several make a
// picture; and for names that it has not.
ExrLayout exr_layout(const ByteSource& source, std::optional<int> page = {},
                     const std::vector<std::string>& named = {});

// EXR's colours are multiplied by alpha, an image's are not. Divides, and says whether there are
// colours under an alpha of 0, which stay as they are.
bool unassociate_alpha(HostImage& image);
// Multiplies; `glows`: colours under an alpha of 0 stay as they are, else they become 0.
HostImage associate_alpha(const HostImage& image, bool glows);

constexpr float largest_half = 65504.0f;
// Values that are larger become it; adds how many there were.
void clip_to_half(HostImage& image, std::int64_t& clipped);

// How an image is stored as EXR: like the EXR it was made from, as far as it is of that kind.
// planes: one a channel, then that of alpha; none where half holds their values, as is known.
ExrStorage exr_storage_for(const ImageType& type, Size size, const Planes& planes,
                           PixelClass made_as, const std::optional<ExrStorage>& input,
                           const PixelChange& change, const EncodeOptions& options);
// "Z, id"
std::string names_of(const ExrCarried& carried);
std::string names_of_parts(const ExrStorage& storage);
// Whether its picture is so large.
bool has_size(const ExrStorage& storage, Size size);
// Throws Error where channels or parts are carried and the result's pixels lie elsewhere than
// theirs.
void check_carried(const ExrStorage& input, const PixelChange& change, Size result);
// Whether the picture has a place in a display window, or an aspect ratio, that another file
// would not have.
bool has_place(const ExrStorage& storage);
// Whether the result is all of the display window, of square pixels, and nothing else.
bool fills_display(const ExrStorage& input, const PixelChange& change);
// Whether the windows and the pixel aspect ratio follow the picture through such a change.
bool windows_follow(const ExrStorage& input, const PixelChange& change);
// The names of the attributes of `before` that `after` is without: "owner, timeCode".
std::string attributes_lost(const ExrStorage& before, const ExrStorage& after);

}  // namespace impipe::io
