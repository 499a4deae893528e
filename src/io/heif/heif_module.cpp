// The codec module for HEIF, through libheif; read alone.
#include <libheif/heif.h>

#include <cstring>
#include <memory>

#include "io/byte_source.hpp"
#include "io/heif_items.hpp"
#include "io/module/cicp.hpp"
#include "io/module/codec_module.hpp"
#include "io/module/wide_samples.hpp"
#include "io/pixel_rows.hpp"

namespace impipe::io {
namespace {

using InputBytes = std::span<const std::byte>;

struct Release {
  void operator()(heif_context* context) const { heif_context_free(context); }
  void operator()(heif_image_handle* handle) const { heif_image_handle_release(handle); }
  void operator()(heif_color_profile_nclx* colours) const { heif_nclx_color_profile_free(colours); }
  void operator()(heif_image* image) const { heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { heif_decoding_options_free(options); }
};

void check(const heif_error& error, size_t file_bytes) {
  if (error.code == heif_error_Ok) return;
  if (error.code == heif_error_Memory_allocation_error &&
      error.subcode != heif_suberror_Security_limit_exceeded) {
    throw std::bad_alloc();
  }
  if (error.subcode == heif_suberror_End_of_data) {
    fail("truncated HEIF: it ends at byte " + std::to_string(file_bytes));
  }
  fail(std::string("damaged HEIF: ") + error.message);
}

// One picture of a file.
class File {
 public:
  // `side`: a larger one than this is an error when the pixels are decoded; 0: no limit.
  File(InputBytes bytes, int page, std::int64_t side = 0)
      : size_(bytes.size()), context_(heif_context_alloc()) {
    if (context_ == nullptr) throw std::bad_alloc();
    check(heif_context_read_from_memory_without_copy(context_.get(), bytes.data(), size_, nullptr),
          size_);
    // Of this picture alone: others may be larger.
    if (side > 0) heif_context_set_maximum_image_size_limit(context_.get(), static_cast<int>(side));
    pages_ = heif_context_get_number_of_top_level_images(context_.get());
    if (page < 0 || page >= pages_) fail("it has no page " + std::to_string(page + 1));
    std::vector<heif_item_id> ids(static_cast<size_t>(pages_));
    heif_context_get_list_of_top_level_image_IDs(context_.get(), ids.data(), pages_);
    heif_image_handle* handle = nullptr;
    item_ = ids[static_cast<size_t>(page)];
    check(heif_context_get_image_handle(context_.get(), item_, &handle), size_);
    handle_.reset(handle);
  }
  const heif_image_handle* get() const { return handle_.get(); }
  int pages() const { return pages_; }
  heif_item_id item() const { return item_; }

  std::unique_ptr<heif_image, Release> decode(heif_chroma layout) const {
    const std::unique_ptr<heif_decoding_options, Release> options(heif_decoding_options_alloc());
    if (options == nullptr) throw std::bad_alloc();
    // What the library would pass over is damage.
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    check(heif_decode_image(get(), &decoded, heif_colorspace_RGB, layout, options.get()), size_);
    std::unique_ptr<heif_image, Release> image(decoded);
    heif_error warning = {};
    if (heif_image_get_decoding_warnings(image.get(), 0, &warning, 1) > 0) check(warning, size_);
    return image;
  }

  // By their numbers, where they are unlike those of pictures without a profile.
  std::string colours() const {
    heif_color_profile_nclx* said = nullptr;
    check(heif_image_handle_get_nclx_color_profile(get(), &said), size_);
    const std::unique_ptr<heif_color_profile_nclx, Release> owner(said);
    return name_of_colours(said->color_primaries, said->transfer_characteristics);
  }

  // The first block of this kind, by its type and content type.
  Bytes metadata(const char* kind, std::string_view content) const {
    const int count = heif_image_handle_get_number_of_metadata_blocks(get(), kind);
    std::vector<heif_item_id> ids(static_cast<size_t>(count));
    heif_image_handle_get_list_of_metadata_block_IDs(get(), kind, ids.data(), count);
    for (const heif_item_id id : ids) {
      const char* said = heif_image_handle_get_metadata_content_type(get(), id);
      if (!content.empty() && (said == nullptr || content != said)) continue;
      Bytes out(heif_image_handle_get_metadata_size(get(), id));
      check(heif_image_handle_get_metadata(get(), id, out.data()), size_);
      return out;
    }
    return {};
  }

 private:
  size_t size_;
  int pages_ = 0;
  heif_item_id item_ = 0;
  std::unique_ptr<heif_context, Release> context_;
  std::unique_ptr<heif_image_handle, Release> handle_;
};

class Libheif final : public CodecModule {
 public:
  ImageInfo probe(InputBytes bytes, int page) const override {
    const File file(bytes, page);
    const int bits = heif_image_handle_get_luma_bits_per_pixel(file.get());
    if (bits < 1 || bits > 16) fail("HEIF of " + std::to_string(bits) + " bits is not supported");
    if (heif_image_handle_is_premultiplied_alpha(file.get()) != 0) {
      fail("HEIF with premultiplied alpha is not supported");
    }
    check_pieces(ByteSource(bytes));
    check_coded_sizes(ByteSource(bytes));
    ImageInfo info{.format = Format::heif};
    // As turned and mirrored by the library.
    info.stored = {heif_image_handle_get_width(file.get()),
                   heif_image_handle_get_height(file.get())};
    if (turned_before_its_size(ByteSource(bytes), file.item())) {
      std::swap(info.stored.width, info.stored.height);
    }
    const PixelClass cls = bits > 8 ? PixelClass::uint16 : PixelClass::uint8;
    info.type = {.cls = cls,
                 .channels = 3,
                 .alpha = heif_image_handle_has_alpha_channel(file.get()) != 0,
                 .white = class_max(cls)};
    info.lossy = true;
    info.pages = file.pages();
    info.page = page;
    info.detail = std::to_string(bits) + "-bit";
    return info;
  }

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    // A grid says once more how large it is.
    constexpr std::int64_t margin = 512;  // pixels, for whole blocks
    const File file(bytes, info.page, std::max(info.stored.width, info.stored.height) + margin);
    const bool wide = info.type.cls == PixelClass::uint16;
    const auto layout = wide              ? info.type.alpha ? heif_chroma_interleaved_RRGGBBAA_LE
                                                            : heif_chroma_interleaved_RRGGBB_LE
                        : info.type.alpha ? heif_chroma_interleaved_RGBA
                                          : heif_chroma_interleaved_RGB;
    const auto decoded = file.decode(layout);
    const heif_channel all = heif_channel_interleaved;
    if (heif_image_get_width(decoded.get(), all) != info.stored.width ||
        heif_image_get_height(decoded.get(), all) != info.stored.height) {
      fail("damaged HEIF: contradictory headers");
    }
    int stride = 0;
    const std::uint8_t* pixels = heif_image_get_plane_readonly(decoded.get(), all, &stride);
    const int bits = heif_image_get_bits_per_pixel_range(decoded.get(), all);
    if (pixels == nullptr) fail("damaged HEIF: it has no pixels");
    HostImage image = make_image(info.type, info.stored);
    RowSplitter splitter(image);
    const auto row_bytes = static_cast<size_t>(stored_bytes(info.type, info.stored.width));
    std::vector<std::uint16_t> row(wide ? row_bytes / 2 : 0);
    for (std::int64_t y = 0; y < info.stored.height; ++y) {
      const std::uint8_t* from = pixels + y * stride;
      if (wide) {
        std::memcpy(row.data(), from, row_bytes);
        widen(row, bits);
        splitter.put(row.data(), y);
      } else {
        splitter.put(from, y);
      }
    }
    return image;
  }

  MetadataRead read_metadata(InputBytes bytes, int page) const override {
    const File file(bytes, page);
    MetadataRead out;
    Metadata& m = out.metadata;
    const Bytes exif = file.metadata("Exif", "");
    // Four bytes say where the TIFF structure begins behind them.
    const std::string head(reinterpret_cast<const char*>(exif.data()),
                           std::min<size_t>(exif.size(), 4));
    const std::uint64_t begin = 4 + big_at(head, 0, 4);
    if (begin < exif.size()) m.exif.assign(exif.begin() + static_cast<long>(begin), exif.end());
    const Bytes xmp = file.metadata("mime", "application/rdf+xml");
    m.xmp.assign(reinterpret_cast<const char*>(xmp.data()), xmp.size());
    const auto kind = heif_image_handle_get_color_profile_type(file.get());
    if (kind == heif_color_profile_type_rICC || kind == heif_color_profile_type_prof) {
      m.icc.resize(heif_image_handle_get_raw_color_profile_size(file.get()));
      if (m.icc.empty()) return out;
      check(heif_image_handle_get_raw_color_profile(file.get(), m.icc.data()), bytes.size());
    } else if (kind == heif_color_profile_type_nclx) {
      out.lose(file.colours());
    }
    return out;
  }

  Bytes encode(const HostImage&, Format, const EncodeOptions&) const override {
    fail("HEIF is read alone");
  }
};

}  // namespace
}  // namespace impipe::io

extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule* impipe_open_codec(
    const char* version) {
  static const impipe::io::Libheif library;
  return std::strcmp(version, impipe::io::codec_version) == 0 ? &library : nullptr;
}
