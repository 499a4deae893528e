#include "io/formats/exr/module/scan.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfHeader.h>

#include <cstring>

#include "io/bytes/byte_source.hpp"
#include "io/formats/exr/exr_form.hpp"
#include "io/formats/exr/exr_layout.hpp"
#include "io/formats/exr/module/streams.hpp"

namespace impipe::io {

Imath::Box2i box_of(const std::array<int, 4>& window) {
  return {Imath::V2i(window[0], window[1]), Imath::V2i(window[2], window[3])};
}

void check_headers(const Imf::InputFile& file, const ExrLayout& layout) {
  const Imf::Header& header = file.header();
  for (size_t i = 0; i < layout.channels.size(); ++i) {
    const Imf::Channel* channel = header.channels().findChannel(layout.channels[i]);
    if (channel == nullptr ||
        static_cast<int>(channel->type) != static_cast<int>(layout.types[i])) {
      fail("damaged EXR: contradictory headers");
    }
  }
  if (header.dataWindow() != box_of(layout.storage.data_window)) {
    fail("damaged EXR: contradictory headers");
  }
  if (!file.isComplete()) fail("truncated EXR: parts of its picture are missing");
}

namespace {

template <class Number>
Number number_at(std::span<const std::byte> file, size_t at) {
  Number number;
  std::memcpy(&number, file.data() + at, sizeof number);
  return number;
}

// The form of the picture, where its channels are alike.
std::optional<PackedForm> form_of(const ExrLayout& layout, const ExrPart& part,
                                  const ImageInfo& info) {
  const bool is_alike = std::all_of(layout.types.begin(), layout.types.end(),
                                    [&](ExrType type) { return type == layout.types.front(); });
  if (!part.tiles.empty() || !is_alike || layout.luma_chroma) return {};
  return exr_form(info.type, info.stored, layout.channels, layout.types.front(),
                  layout.storage.compression, layout.storage.carried);
}

}  // namespace

std::optional<PackedPicture> scan_exr(std::span<const std::byte> file, const ImageInfo& info) {
  const ByteSource source(file);
  const ExrHeaders headers = read_exr_headers(source);
  if (headers.several || headers.parts.size() != 1) return {};
  const ExrPart& part = headers.parts.front();
  const ExrLayout layout = exr_layout(source, 0, info.named);
  auto form = form_of(layout, part, info);
  if (!form) return {};
  // OpenEXR says what is wrong with a header, on the way to a device, too.
  Input stream(file);
  const Imf::InputFile opened(stream, no_threads);
  check_headers(opened, layout);
  const Imf::Header& header = opened.header();
  if (static_cast<int>(header.compression()) != layout.storage.compression ||
      header.lineOrder() != Imf::INCREASING_Y) {
    return {};
  }
  PackedPicture out{.form = std::move(*form), .chunks = {}, .parts = {file}};
  constexpr size_t offset_bytes = 8, head_bytes = 8;
  const auto table = static_cast<size_t>(headers.end);
  const auto count = static_cast<size_t>(out.form.chunks());
  if (table > file.size() || (file.size() - table) / offset_bytes < count) return {};
  for (size_t i = 0; i < count; ++i) {
    const auto at = number_at<std::uint64_t>(file, table + offset_bytes * i);
    if (at < table || at > file.size() || file.size() - at < head_bytes) return {};
    const auto top = static_cast<std::int64_t>(i) * out.form.chunk.height;
    const auto line = number_at<std::int32_t>(file, at);
    const auto bytes = number_at<std::int32_t>(file, at + 4);
    if (line != part.data_window[1] + top || bytes < 0 ||
        static_cast<size_t>(bytes) > file.size() - at - head_bytes) {
      return {};
    }
    const std::int64_t rows = std::min(out.form.chunk.height, out.form.size.height - top);
    const int pixel = out.form.channels * (out.form.sample == PackedForm::Sample::half ? 2 : 4);
    const std::int64_t whole = rows * out.form.size.width * (pixel + out.form.carried);
    const bool is_stored = bytes == whole;
    if (out.form.packing == PackedForm::Packing::none && !is_stored) return {};
    // PXR24 filters chunks that are packed; others have samples of another width.
    if (out.form.filter == PackedForm::Filter::pxr24 && is_stored) return {};
    out.chunks.push_back(
        {.begin = static_cast<std::int64_t>(at + head_bytes), .bytes = bytes, .stored = is_stored});
  }
  return out;
}

}  // namespace impipe::io
