// The row of whole-slide images in the table of formats.
#include <random>

#include "io/formats/by_module.hpp"
#include "io/formats/slide/slide_note.hpp"

namespace impipe::io {
namespace {

const std::string& head_of_notes() {
  static const std::string head = [] {
    std::random_device random;
    return message("impipe slide ", random(), " ", random(), "\n");
  }();
  return head;
}

}  // namespace

Bytes slide_note(const SlidePart& slide) {
  return bytes_of_text(head_of_notes() + slide.file + '\0' + slide.part);
}

bool is_slide_note(std::string_view head) { return head.starts_with(head_of_notes()); }

const FormatTraits slide_format{
    .format = Format::slide,
    .name = "slide",
    .extensions = "ndpi scn mrxs vms vmu bif svslide",
    .module = "impipe_codec_openslide",
    .library = "OpenSlide",
    .can = {Can::eight},
    .sniff = is_slide_note,
    .header = header_by_module,
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata = metadata_by_module,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
