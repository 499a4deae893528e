// How long files take to be decoded and encoded, roughly: enough for `auto`.
#pragma once

#include <optional>

#include "engine/device/session.hpp"
#include "io/codec.hpp"

namespace impipe::engine {

// What becomes of a picture.
struct FileKind {
  const io::ImageInfo& info;
  ImageType result;                  // of the pipeline's image
  std::optional<io::Format> output;  // none: no image is written
};

// Adds `images` files of `pixels` in all.
void add_files(WorkCost& cost, const FileKind& kind, CodecPlace codec, double pixels,
               double images);

}  // namespace impipe::engine
