// The codec module for HEIF, through libheif, whose encoder is x265.
#include <libheif/heif.h>

#include <cstring>
#include <memory>

#include "io/formats/heif/heif_items.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/cicp.hpp"
#include "io/picture/pixel_rows.hpp"
#include "io/picture/wide_samples.hpp"

namespace impipe::io {
namespace {

using Context = Made<heif_context, heif_context_free>;
using Handle = Made<heif_image_handle, heif_image_handle_release>;
using Picture = Made<heif_image, heif_image_release>;
using Colours = Made<heif_color_profile_nclx, heif_nclx_color_profile_free>;

void check(const heif_error& error, size_t file_bytes) {
  if (error.code == heif_error_Ok) return;
  if (error.code == heif_error_Memory_allocation_error &&
      error.subcode != heif_suberror_Security_limit_exceeded) {
    throw std::bad_alloc();
  }
  if (error.subcode == heif_suberror_End_of_data) {
    fail("truncated HEIF: it ends at byte ", file_bytes);
  }
  fail("damaged HEIF: ", error.message);
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
    if (page < 0 || page >= pages_) fail("it has no page ", page + 1);
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

  Picture decode(heif_chroma layout) const {
    const Made<heif_decoding_options, heif_decoding_options_free> options(
        heif_decoding_options_alloc());
    if (options == nullptr) throw std::bad_alloc();
    // What the library would pass over is damage.
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    check(heif_decode_image(get(), &decoded, heif_colorspace_RGB, layout, options.get()), size_);
    Picture image(decoded);
    heif_error warning = {};
    if (heif_image_get_decoding_warnings(image.get(), 0, &warning, 1) > 0) check(warning, size_);
    return image;
  }

  CodePoints colours() const {
    heif_color_profile_nclx* said = nullptr;
    check(heif_image_handle_get_nclx_color_profile(get(), &said), size_);
    const Colours owner(said);
    return {said->color_primaries, said->transfer_characteristics};
  }

  // The first block of a kind; nothing where there is none, or `read` has no room for it.
  Bytes metadata(const char* kind, std::string_view content, MetadataRead& read) const {
    const int count = heif_image_handle_get_number_of_metadata_blocks(get(), kind);
    std::vector<heif_item_id> ids(static_cast<size_t>(count));
    heif_image_handle_get_list_of_metadata_block_IDs(get(), kind, ids.data(), count);
    for (const heif_item_id id : ids) {
      const char* said = heif_image_handle_get_metadata_content_type(get(), id);
      if (!content.empty() && (said == nullptr || content != said)) continue;
      const size_t bytes = heif_image_handle_get_metadata_size(get(), id);
      if (!read.takes(bytes, content.empty() ? "EXIF" : "XMP")) return {};
      Bytes out(bytes);
      check(heif_image_handle_get_metadata(get(), id, out.data()), size_);
      return out;
    }
    return {};
  }

 private:
  size_t size_;
  int pages_ = 0;
  heif_item_id item_ = 0;
  Context context_;
  Handle handle_;
};

// Colours side by side, with an alpha or none.
heif_chroma interleaved(bool wide, bool alpha) {
  if (wide) return alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
  return alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
}

class Libheif final : public CodecModule {
 public:
  ImageInfo probe(InputBytes bytes, int page) const override {
    const File file(bytes, page);
    const int bits = heif_image_handle_get_luma_bits_per_pixel(file.get());
    if (bits < 1) {
      fail(
          "damaged HEIF, or one of a coding that libheif does not know: its samples have no number "
          "of bits");
    }
    if (bits > 16) fail("HEIF of ", bits, " bits is not supported");
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
    info.type = type_of(bits > 8 ? PixelClass::uint16 : PixelClass::uint8,
                        is_gray(ByteSource(bytes), file.item()) ? 1 : 3,
                        heif_image_handle_has_alpha_channel(file.get()) != 0);
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
    const auto decoded = file.decode(interleaved(wide, info.type.alpha));
    const heif_channel all = heif_channel_interleaved;
    check_header(heif_image_get_width(decoded.get(), all) == info.stored.width &&
                     heif_image_get_height(decoded.get(), all) == info.stored.height,
                 "HEIF");
    int stride = 0;
    const std::uint8_t* pixels = heif_image_get_plane_readonly(decoded.get(), all, &stride);
    const int bits = heif_image_get_bits_per_pixel_range(decoded.get(), all);
    if (pixels == nullptr) fail("damaged HEIF: it has no pixels");
    ImageType colour = info.type;  // gray is decoded as three channels of the same numbers
    colour.channels = 3;
    HostImage image = make_image(colour, info.stored);
    RowSplitter splitter(image);
    const auto row_bytes = static_cast<size_t>(stored_bytes(colour, info.stored.width));
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
    image.planes.resize(static_cast<size_t>(info.type.channels));
    image.type = info.type;
    return image;
  }

  MetadataRead read_metadata(InputBytes bytes, int page) const override {
    const File file(bytes, page);
    MetadataRead out;
    Metadata& m = out.metadata;
    const Bytes exif = file.metadata("Exif", "", out);
    // Four bytes say where the TIFF structure begins behind them.
    const std::uint64_t begin = 4 + big_at(text_of(exif), 0, 4);
    if (begin < exif.size()) m.exif.assign(exif.begin() + static_cast<long>(begin), exif.end());
    m.xmp = text_of(file.metadata("mime", "application/rdf+xml", out));
    m.avif_bits = heif_image_handle_get_luma_bits_per_pixel(file.get());
    const auto kind = heif_image_handle_get_color_profile_type(file.get());
    if (kind == heif_color_profile_type_rICC || kind == heif_color_profile_type_prof) {
      const size_t profile = heif_image_handle_get_raw_color_profile_size(file.get());
      if (profile == 0 || !out.takes(profile, "ICC profile")) return out;
      m.icc.resize(profile);
      check(heif_image_handle_get_raw_color_profile(file.get(), m.icc.data()), bytes.size());
    } else if (kind == heif_color_profile_type_nclx) {
      m.cicp = file.colours();
      out.lose(name_of_colours(m.cicp->primaries, m.cicp->transfer));
    }
    return out;
  }

  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override;
};

void check_written(const heif_error& error) {
  if (error.code == heif_error_Ok) return;
  if (error.code == heif_error_Memory_allocation_error) throw std::bad_alloc();
  fail("HEIF encoder: ", error.message);
}

Picture make_library_image(const HostImage& image, heif_colorspace colours, heif_chroma layout) {
  heif_image* made = nullptr;
  check_written(heif_image_create(static_cast<int>(image.size().width),
                                  static_cast<int>(image.size().height), colours, layout, &made));
  return Picture(made);
}

// Fills a channel of the library's image with rows of ours, of `bits`.
void fill(heif_image* to, heif_channel channel, const HostImage& from, int bits) {
  check_written(heif_image_add_plane(to, channel, static_cast<int>(from.size().width),
                                     static_cast<int>(from.size().height), bits));
  int stride = 0;
  std::uint8_t* row = heif_image_get_plane(to, channel, &stride);
  RowJoiner joiner(from);
  std::vector<std::uint16_t> words(joiner.row_bytes() / 2 + 1);
  for (std::int64_t y = 0; y < from.size().height; ++y, row += stride) {
    if (bits == 8) {
      joiner.copy(y, row);
      continue;
    }
    joiner.copy(y, words.data());
    for (std::uint16_t& value : words) value = narrowed(value, bits);
    std::memcpy(row, words.data(), joiner.row_bytes());
  }
}

void fill(heif_image* to, heif_channel channel, const Plane& plane, int bits) {
  HostImage one;
  one.type = type_of(plane.cls(), 1, false);
  one.planes = {plane};
  fill(to, channel, one, bits);
}

// Colours side by side, for the library to convert, or each in a plane as they are: green, blue and
// red are what "identity" calls Y, Cb and Cr. One channel is a plane in either case.
Picture library_image(const HostImage& image, int bits, bool converted) {
  if (image.type.channels == 3 && converted) {
    Picture out =
        make_library_image(image, heif_colorspace_RGB, interleaved(bits > 8, image.type.alpha));
    fill(out.get(), heif_channel_interleaved, image, bits);
    return out;
  }
  const bool gray = image.type.channels == 1;
  Picture out = make_library_image(image, gray ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
                                   gray ? heif_chroma_monochrome : heif_chroma_444);
  fill(out.get(), heif_channel_Y, image.planes[gray ? 0 : 1], bits);
  if (!gray) {
    fill(out.get(), heif_channel_Cb, image.planes[2], bits);
    fill(out.get(), heif_channel_Cr, image.planes[0], bits);
  }
  if (image.type.alpha) fill(out.get(), heif_channel_Alpha, image.alpha, bits);
  return out;
}

// Without loss red, green and blue are stored as they are, which few programs show; else it is what
// cameras write.
void set_encoder(heif_encoder* encoder, const EncodeOptions& options) {
  const auto set = [&](const char* name, const char* value) {
    check_written(heif_encoder_set_parameter(encoder, name, value));
  };
  set("preset", options.compression == Compression::fast    ? "ultrafast"
                : options.compression == Compression::small ? "veryslow"
                                                            : "medium");
  if (options.lossless) {
    check_written(heif_encoder_set_lossless(encoder, 1));
    set("chroma", "444");
    return;
  }
  const auto& less = options.subsampling;
  check_written(heif_encoder_set_lossy_quality(encoder, options.quality));
  set("chroma", !less || (*less)[1] == 2 ? "420" : (*less)[0] == 2 ? "422" : "444");
}

void add_metadata(heif_context* context, const heif_image_handle* handle, const Metadata& m) {
  if (!m.exif.empty()) {
    check_written(heif_context_add_exif_metadata(context, handle, m.exif.data(),
                                                 static_cast<int>(m.exif.size())));
  }
  if (!m.xmp.empty()) {
    check_written(heif_context_add_XMP_metadata(context, handle, m.xmp.data(),
                                                static_cast<int>(m.xmp.size())));
  }
}

Bytes written(heif_context* context) {
  Bytes out;
  heif_writer writer{1, [](heif_context*, const void* data, size_t size, void* to) {
                       const auto* bytes = static_cast<const std::byte*>(data);
                       try {
                         static_cast<Bytes*>(to)->assign(bytes, bytes + size);
                       } catch (const std::bad_alloc&) {
                         return heif_error{heif_error_Memory_allocation_error,
                                           heif_suberror_Unspecified, "out of memory"};
                       }
                       return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
                     }};
  check_written(heif_context_write(context, &writer, &out));
  return out;
}

Bytes Libheif::encode(const HostImage& image, Format, const EncodeOptions& options) const {
  const int bits = image.type.cls == PixelClass::uint16 ? options.avif_bits : 8;
  const Picture picture = library_image(image, bits, !options.lossless);
  const Colours colours(heif_nclx_color_profile_alloc());
  const Context context(heif_context_alloc());
  const Made<heif_encoding_options, heif_encoding_options_free> how(heif_encoding_options_alloc());
  if (colours == nullptr || context == nullptr || how == nullptr) throw std::bad_alloc();
  colours->color_primaries = heif_color_primaries_ITU_R_BT_709_5;
  colours->transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1;
  colours->matrix_coefficients =
      options.lossless ? heif_matrix_coefficients_RGB_GBR : heif_matrix_coefficients_ITU_R_BT_601_6;
  colours->full_range_flag = 1;
  check_written(heif_image_set_nclx_color_profile(picture.get(), colours.get()));
  how->output_nclx_profile = colours.get();
  how->macOS_compatibility_workaround_no_nclx_profile = 0;
  how->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
  const Metadata& m = options.metadata;
  if (!m.icc.empty()) {
    check_written(
        heif_image_set_raw_color_profile(picture.get(), "prof", m.icc.data(), m.icc.size()));
  }
  heif_encoder* found = nullptr;
  check_written(heif_context_get_encoder_for_format(context.get(), heif_compression_HEVC, &found));
  const Made<heif_encoder, heif_encoder_release> encoder(found);
  set_encoder(encoder.get(), options);
  heif_image_handle* stored = nullptr;
  check_written(
      heif_context_encode_image(context.get(), picture.get(), encoder.get(), how.get(), &stored));
  const Handle handle(stored);
  add_metadata(context.get(), handle.get(), m);
  return written(context.get());
}

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Libheif)
