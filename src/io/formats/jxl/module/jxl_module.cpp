// The codec module for JPEG XL, through libjxl: lossless unless asked otherwise.
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "io/formats/jxl/module/matrix_profile.hpp"
#include "io/module/library_codec.hpp"
#include "io/module/quiet.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// libjxl ends the process where it gets no memory: an Error before it begins, where there is
// clearly too little for the pixels as it holds them.
void check_room(const ImageInfo& info) {
  constexpr std::int64_t sample_bytes = 4 + 4, rest = std::int64_t{64} << 20;
  const auto bytes =
      static_cast<size_t>(info.stored.pixels() * stored_channels(info.type) * sample_bytes + rest);
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, bytes);
}

// A decoder that has been given the whole of a file.
class Decoder {
 public:
  Decoder(InputBytes bytes, int events) : decoder_(JxlDecoderCreate(nullptr)), size_(bytes.size()) {
    if (decoder_ == nullptr) throw std::bad_alloc();
    JxlDecoderSubscribeEvents(get(), events);
    JxlDecoderSetUnpremultiplyAlpha(get(), JXL_TRUE);
    JxlDecoderSetDecompressBoxes(get(), JXL_TRUE);
    JxlDecoderSetInput(get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    JxlDecoderCloseInput(get());
  }
  JxlDecoder* get() const { return decoder_.get(); }
  // The next event; an Error where the file ends or makes no sense.
  JxlDecoderStatus next() const {
    const JxlDecoderStatus status = JxlDecoderProcessInput(get());
    if (status == JXL_DEC_NEED_MORE_INPUT) fail("truncated JPEG XL: it ends at byte ", size_);
    if (status == JXL_DEC_ERROR) fail("damaged JPEG XL: it cannot be decoded");
    return status;
  }
  JxlBasicInfo basic_info() const {
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(get(), &info) != JXL_DEC_SUCCESS) {
      fail("damaged JPEG XL: its header cannot be read");
    }
    return info;
  }

 private:
  Made<JxlDecoder, JxlDecoderDestroy> decoder_;
  size_t size_;
};

JxlPixelFormat pixel_format(const ImageType& type) {
  const JxlDataType kind = type.cls == PixelClass::single   ? JXL_TYPE_FLOAT
                           : type.cls == PixelClass::uint16 ? JXL_TYPE_UINT16
                                                            : JXL_TYPE_UINT8;
  return {static_cast<std::uint32_t>(stored_channels(type)), kind, JXL_NATIVE_ENDIAN, 0};
}

ImageInfo info_of(const JxlBasicInfo& basic) {
  ImageInfo info{.format = Format::jxl};
  info.stored = {basic.xsize, basic.ysize};
  const bool floats = basic.exponent_bits_per_sample > 0;
  const PixelClass cls = floats                       ? PixelClass::single
                         : basic.bits_per_sample <= 8 ? PixelClass::uint8
                                                      : PixelClass::uint16;
  if (!floats && basic.bits_per_sample > 16) {
    fail("JPEG XL of ", basic.bits_per_sample, " bits is not supported");
  }
  info.type = type_of(cls, static_cast<int>(basic.num_color_channels), basic.alpha_bits > 0);
  info.lossy = basic.uses_original_profile == JXL_FALSE;
  info.detail = std::to_string(basic.bits_per_sample) + "-bit" + (floats ? " float" : "") +
                (info.lossy ? ", lossy" : "") + (basic.have_animation != 0 ? ", animated" : "");
  return info;
}

// Whether the colours are what everybody takes colours without a profile for.
bool is_srgb(const JxlColorEncoding& c) {
  const bool primaries =
      c.color_space == JXL_COLOR_SPACE_GRAY ||
      (c.color_space == JXL_COLOR_SPACE_RGB && c.primaries == JXL_PRIMARIES_SRGB);
  return primaries && c.white_point == JXL_WHITE_POINT_D65 &&
         c.transfer_function == JXL_TRANSFER_FUNCTION_SRGB;
}

Bytes icc_of(const Decoder& decoder, const ImageType& type, JxlColorProfileTarget target) {
  const JxlPixelFormat format = pixel_format(type);
  size_t size = 0;
  if (JxlDecoderGetICCProfileSize(decoder.get(), &format, target, &size) != JXL_DEC_SUCCESS) {
    return {};
  }
  Bytes profile(size);
  auto* to = reinterpret_cast<std::uint8_t*>(profile.data());
  const bool read =
      JxlDecoderGetColorAsICCProfile(decoder.get(), &format, target, to, size) == JXL_DEC_SUCCESS;
  return read ? profile : Bytes();
}

// An ICC profile to which libjxl cannot convert colours.
struct OwnProfile {
  Bytes icc;
  std::optional<MatrixProfile> matrix;  // by which we bring linear light to it
};

// Of integer pixels that are stored with loss beside an ICC profile which no JxlColorEncoding
// describes, libjxl makes linear light, of which 8 bits have few dark levels. Asks the decoder, at
// the event of its colour encoding, for light of the profile's primaries, or, where the profile is
// no matrix with curves, for pixels of the widest primaries with sRGB's curve.
std::optional<OwnProfile> own_profile(const Decoder& decoder, const ImageType& type) {
  const JxlPixelFormat format = pixel_format(type);
  constexpr JxlColorProfileTarget original = JXL_COLOR_PROFILE_TARGET_ORIGINAL;
  JxlColorEncoding colours = {};
  if (type.cls == PixelClass::single || decoder.basic_info().uses_original_profile != JXL_FALSE ||
      JxlDecoderGetColorAsEncodedProfile(decoder.get(), &format, original, &colours) ==
          JXL_DEC_SUCCESS) {
    return {};
  }
  OwnProfile out{icc_of(decoder, type, original), {}};
  out.matrix = matrix_profile(out.icc);
  if (out.matrix && out.matrix->curves.size() != static_cast<size_t>(type.channels)) {
    out.matrix.reset();
  }
  colours = {};
  colours.color_space = type.channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
  colours.white_point = JXL_WHITE_POINT_D65;
  colours.primaries = JXL_PRIMARIES_2100;
  colours.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
  colours.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
  if (out.matrix) colours.transfer_function = JXL_TRANSFER_FUNCTION_LINEAR;
  if (out.matrix && out.matrix->chromaticities) {
    constexpr double d50[] = {0.345703, 0.358538};  // to which profiles are relative
    colours.white_point = JXL_WHITE_POINT_CUSTOM;
    std::copy_n(d50, 2, colours.white_point_xy);
    const auto& [red, green, blue] = *out.matrix->chromaticities;
    colours.primaries = JXL_PRIMARIES_CUSTOM;
    std::copy_n(red.begin(), 2, colours.primaries_red_xy);
    std::copy_n(green.begin(), 2, colours.primaries_green_xy);
    std::copy_n(blue.begin(), 2, colours.primaries_blue_xy);
  }
  if (JxlDecoderSetPreferredColorProfile(decoder.get(), &colours) != JXL_DEC_SUCCESS) {
    fail("JPEG XL with loss and an ICC profile of such primaries is not supported");
  }
  return out;
}

// The profile of the pixels that decoding gives.
Bytes profile_of(const Decoder& decoder, const ImageType& type, MetadataRead& out) {
  const JxlPixelFormat format = pixel_format(type);
  const std::optional<OwnProfile> own = own_profile(decoder, type);
  if (own && own->matrix) return own->icc;
  if (own) out.lose("its ICC profile, a table of colours (pixels are of Rec. 2020 instead)");
  JxlColorEncoding encoding;
  const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
  if (JxlDecoderGetColorAsEncodedProfile(decoder.get(), &format, target, &encoding) ==
          JXL_DEC_SUCCESS &&
      is_srgb(encoding)) {
    return {};
  }
  return icc_of(decoder, type, target);
}

// Keeps a box of metadata, without the offset in front of EXIF.
void keep_box(MetadataRead& out, const std::string& kind, Bytes content) {
  Metadata& m = out.metadata;
  if (kind == "Exif") {
    if (!m.exif.empty()) return out.lose("a second EXIF block");
    if (content.size() > 4) m.exif.assign(content.begin() + 4, content.end());
  } else {
    if (!m.xmp.empty()) return out.lose("a second XMP packet");
    m.xmp = text_of(content);
  }
}

// What of a file is not the picture itself: how it is laid out, and what a JPEG is made of again.
bool is_structure(const std::string& box) {
  static constexpr const char* kinds[] = {"JXL ", "ftyp", "jxll", "jxlc", "jxlp", "jxli", "jbrd"};
  return std::ranges::any_of(kinds, [&](const char* k) { return box == k; });
}

const char* name_of_channel(JxlExtraChannelType type) {
  switch (type) {
    case JXL_CHANNEL_ALPHA: return "a second alpha";
    case JXL_CHANNEL_DEPTH: return "a depth map";
    case JXL_CHANNEL_SPOT_COLOR: return "a spot colour";
    case JXL_CHANNEL_SELECTION_MASK: return "a selection mask";
    case JXL_CHANNEL_CFA: return "a colour filter array";
    case JXL_CHANNEL_THERMAL: return "a thermal image";
    default: return "a further channel";
  }
}

// Names what an image cannot hold of what the header announces.
void name_channels(const Decoder& decoder, const JxlBasicInfo& basic, MetadataRead& out) {
  bool has_alpha = false;
  for (std::uint32_t i = 0; i < basic.num_extra_channels; ++i) {
    JxlExtraChannelInfo extra;
    if (JxlDecoderGetExtraChannelInfo(decoder.get(), i, &extra) != JXL_DEC_SUCCESS) continue;
    if (extra.type == JXL_CHANNEL_ALPHA && !has_alpha) {
      has_alpha = true;
      continue;
    }
    std::string name(extra.name_length + 1, '\0');
    JxlDecoderGetExtraChannelName(decoder.get(), i, name.data(), name.size());
    name.resize(extra.name_length);
    out.lose(name_of_channel(extra.type) + (name.empty() ? name : " '" + name + "'"));
  }
  if (basic.have_preview != 0) out.lose("a preview");
}

// Names the layers that are put together when they are read.
void name_layers(InputBytes bytes, const JxlBasicInfo& basic, MetadataRead& out) {
  if (basic.have_animation != 0) return;
  Decoder decoder(bytes, JXL_DEC_FRAME);
  JxlDecoderSetCoalescing(decoder.get(), JXL_FALSE);
  int frames = 0;
  while (decoder.next() == JXL_DEC_FRAME) ++frames;
  if (frames > 1) out.lose("layers (" + std::to_string(frames) + ")");
}

// The content of a box, whose beginning the decoder has come to; `status` becomes the next event.
// Nothing where it has more than `most` bytes: then the decoder is of no more use.
std::optional<Bytes> read_box(Decoder& decoder, std::uint64_t most, JxlDecoderStatus& status) {
  const auto limit = static_cast<size_t>(most) + 1;
  Bytes content(std::min<size_t>(1 << 16, limit));
  size_t done = 0;
  const auto give = [&] {
    JxlDecoderSetBoxBuffer(decoder.get(), reinterpret_cast<std::uint8_t*>(content.data()) + done,
                           content.size() - done);
  };
  give();
  status = decoder.next();
  while (status == JXL_DEC_BOX_NEED_MORE_OUTPUT) {
    done = content.size() - JxlDecoderReleaseBoxBuffer(decoder.get());
    if (content.size() == limit) return {};
    content.resize(std::min(2 * content.size(), limit));
    give();
    status = decoder.next();
  }
  content.resize(content.size() - JxlDecoderReleaseBoxBuffer(decoder.get()));
  if (content.size() > most) return {};
  return content;
}

// The colour profile and what the header announces, which it returns.
JxlBasicInfo read_codestream(InputBytes bytes, MetadataRead& out) {
  const Decoder decoder(bytes, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING);
  JxlBasicInfo basic = {};
  for (JxlDecoderStatus status = decoder.next(); status != JXL_DEC_SUCCESS;
       status = decoder.next()) {
    if (status == JXL_DEC_BASIC_INFO) {
      basic = decoder.basic_info();
      name_channels(decoder, basic, out);
    } else if (status == JXL_DEC_COLOR_ENCODING) {
      Bytes profile = profile_of(decoder, info_of(basic).type, out);
      if (out.takes(profile.size(), "ICC profile")) out.metadata.icc = std::move(profile);
    }
  }
  return basic;
}

void read_boxes(InputBytes bytes, MetadataRead& out) {
  Decoder decoder(bytes, JXL_DEC_BOX);
  for (JxlDecoderStatus status = decoder.next(); status != JXL_DEC_SUCCESS;) {
    JxlBoxType kind = {};
    if (status == JXL_DEC_BOX &&
        JxlDecoderGetBoxType(decoder.get(), kind, JXL_TRUE) == JXL_DEC_SUCCESS) {
      const std::string name(kind, sizeof kind);
      if (name == "Exif" || name == "xml ") {
        std::optional<Bytes> content = read_box(decoder, out.room, status);
        // The decoder cannot pass over the rest without unpacking it.
        if (!content) return out.lose(beyond_limit("box '" + name + "' and those behind it"));
        out.takes(content->size(), name);
        keep_box(out, name, std::move(*content));
        continue;
      }
      if (!is_structure(name)) out.lose("box '" + name + "'");
    }
    status = decoder.next();
  }
}

class Frames final : public PageDecoder {
 public:
  Frames(InputBytes bytes, MakeImage make_image) : bytes_(bytes), make_image_(make_image) {}
  HostImage decode(const ImageInfo& info) override {
    const Quiet quiet;
    check_room(info);
    if (!decoder_ || info.page < next_) {
      decoder_.emplace(bytes_, JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE);
      next_ = 0;
    }
    if (info.page > next_) {
      JxlDecoderSkipFrames(decoder_->get(), static_cast<size_t>(info.page - next_));
    }
    next_ = info.page + 1;
    const std::vector<std::byte> pixels = frame_of(info);
    HostImage image = make_image_(info.type, info.stored);
    if (!pixels_.empty()) {
      put_light(reinterpret_cast<const float*>(pixels.data()), image);
      return image;
    }
    RowSplitter(image).put_all(pixels.data(),
                               pixels.size() / static_cast<size_t>(info.stored.height));
    return image;
  }

 private:
  // The next frame's samples, row by row: of the image's class, or light where `pixels_` has
  // curves.
  std::vector<std::byte> frame_of(const ImageInfo& info) {
    std::vector<std::byte> out;
    for (JxlDecoderStatus status = decoder_->next(); status != JXL_DEC_FULL_IMAGE;
         status = decoder_->next()) {
      if (status == JXL_DEC_COLOR_ENCODING) {
        choose_colours(info.type);
        continue;
      }
      if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER) fail("damaged JPEG XL: a frame is missing");
      ImageType type = info.type;
      if (!pixels_.empty()) type.cls = PixelClass::single;
      const JxlPixelFormat format = pixel_format(type);
      size_t size = 0;
      JxlDecoderImageOutBufferSize(decoder_->get(), &format, &size);
      if (size != static_cast<size_t>(stored_bytes(type, info.stored.pixels()))) {
        fail("damaged JPEG XL: contradictory headers");
      }
      out.resize(size);
      JxlDecoderSetImageOutBuffer(decoder_->get(), &format, out.data(), size);
    }
    return out;
  }

  void choose_colours(const ImageType& type) {
    pixels_.clear();
    const std::optional<OwnProfile> own = own_profile(*decoder_, type);
    if (!own || !own->matrix) return;
    const int white = static_cast<int>(type.white);
    for (const ToneCurve& curve : own->matrix->curves) pixels_.emplace_back(curve, white);
    if (type.alpha) pixels_.emplace_back(ToneCurve(), white);
  }

  void put_light(const float* light, HostImage& image) const {
    const auto put = [&]<class T>(T) {
      for (std::int64_t y = 0; y < image.size().height; ++y) {
        for (size_t c = 0; c < pixels_.size(); ++c) {
          Plane& plane = c < image.planes.size() ? image.planes[c] : image.alpha;
          T* row = plane.row_as<T>(y);
          for (std::int64_t x = 0; x < image.size().width; ++x) {
            row[x] = static_cast<T>(pixels_[c](light[pixels_.size() * static_cast<size_t>(x) + c]));
          }
        }
        light += pixels_.size() * static_cast<size_t>(image.size().width);
      }
    };
    image.type.cls == PixelClass::uint8 ? put(std::uint8_t()) : put(std::uint16_t());
  }

  InputBytes bytes_;
  MakeImage make_image_;
  std::optional<Decoder> decoder_;
  std::vector<LightToPixel> pixels_;  // of each channel, where light is decoded
  int next_ = 0;                      // the frame that comes next
};

class Libjxl final : public CodecModule {
 public:
  Libjxl() { Quiet::watch_stderr(); }
  ImageInfo probe(InputBytes bytes, int page) const override {
    const Quiet quiet;
    Decoder decoder(bytes, JXL_DEC_BASIC_INFO | JXL_DEC_FRAME);
    if (decoder.next() != JXL_DEC_BASIC_INFO) fail("damaged JPEG XL: it has no header");
    const JxlBasicInfo basic = decoder.basic_info();
    ImageInfo info = info_of(basic);
    if (basic.have_animation != 0) {
      info.pages = 0;
      while (decoder.next() == JXL_DEC_FRAME) ++info.pages;
    }
    info.page = page;
    for (std::uint32_t i = 0; i < basic.num_extra_channels; ++i) {
      JxlExtraChannelInfo extra;
      if (JxlDecoderGetExtraChannelInfo(decoder.get(), i, &extra) == JXL_DEC_SUCCESS &&
          extra.type == JXL_CHANNEL_BLACK) {
        fail("JPEG XL of CMYK is not supported");
      }
    }
    return info;
  }

  std::unique_ptr<PageDecoder> open_pages(InputBytes bytes, const ImageInfo&,
                                          MakeImage make_image) const override {
    return std::make_unique<Frames>(bytes, make_image);
  }

  MetadataRead read_metadata(InputBytes bytes, int) const override {
    const Quiet quiet;
    MetadataRead out;
    const JxlBasicInfo basic = read_codestream(bytes, out);
    read_boxes(bytes, out);
    name_layers(bytes, basic, out);
    return out;
  }

  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override;
};

void check(JxlEncoderStatus status, const char* what) {
  if (status != JXL_ENC_SUCCESS) fail("JPEG XL encoder: ", what, " failed");
}

JxlBasicInfo basic_info_of(const HostImage& image, bool lossy) {
  JxlBasicInfo basic;
  JxlEncoderInitBasicInfo(&basic);
  const bool floats = image.type.cls == PixelClass::single;
  basic.xsize = static_cast<std::uint32_t>(image.size().width);
  basic.ysize = static_cast<std::uint32_t>(image.size().height);
  basic.bits_per_sample = static_cast<std::uint32_t>(8 * bytes_of(image.type.cls));
  basic.exponent_bits_per_sample = floats ? 8 : 0;
  basic.num_color_channels = static_cast<std::uint32_t>(image.type.channels);
  if (image.type.alpha) {
    basic.num_extra_channels = 1;
    basic.alpha_bits = basic.bits_per_sample;
    basic.alpha_exponent_bits = basic.exponent_bits_per_sample;
  }
  basic.uses_original_profile = lossy ? JXL_FALSE : JXL_TRUE;
  return basic;
}

void set_colours(JxlEncoder* encoder, const HostImage& image, const Bytes& icc) {
  if (!icc.empty()) {
    check(JxlEncoderSetICCProfile(encoder, reinterpret_cast<const std::uint8_t*>(icc.data()),
                                  icc.size()),
          "the ICC profile");
    return;
  }
  JxlColorEncoding colours;
  JxlColorEncodingSetToSRGB(&colours, image.type.channels == 1 ? JXL_TRUE : JXL_FALSE);
  check(JxlEncoderSetColorEncoding(encoder, &colours), "the colour encoding");
}

void add_boxes(JxlEncoder* encoder, const Metadata& metadata) {
  const auto add = [&](const char* kind, const std::string& content) {
    check(JxlEncoderAddBox(encoder, kind, reinterpret_cast<const std::uint8_t*>(content.data()),
                           content.size(), JXL_FALSE),
          "a box of metadata");
  };
  if (!metadata.exif.empty()) add("Exif", std::string(4, '\0').append(text_of(metadata.exif)));
  if (!metadata.xmp.empty()) add("xml ", metadata.xmp);
}

Bytes finish(JxlEncoder* encoder) {
  JxlEncoderCloseInput(encoder);
  Bytes out(1 << 16);
  size_t done = 0;
  for (;;) {
    auto* next = reinterpret_cast<std::uint8_t*>(out.data()) + done;
    size_t left = out.size() - done;
    const JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
    done = out.size() - left;
    if (status == JXL_ENC_SUCCESS) break;
    if (status != JXL_ENC_NEED_MORE_OUTPUT) check(status, "encoding");
    out.resize(2 * out.size());
  }
  out.resize(done);
  return out;
}

Bytes Libjxl::encode(const HostImage& image, Format, const EncodeOptions& options) const {
  const Quiet quiet;
  const Made<JxlEncoder, JxlEncoderDestroy> owner(JxlEncoderCreate(nullptr));
  JxlEncoder* encoder = owner.get();
  if (encoder == nullptr) throw std::bad_alloc();
  const Metadata& metadata = options.metadata;
  if (!metadata.exif.empty() || !metadata.xmp.empty()) {
    check(JxlEncoderUseContainer(encoder, JXL_TRUE), "the container");
    check(JxlEncoderUseBoxes(encoder), "boxes");
  }
  const JxlBasicInfo basic = basic_info_of(image, options.lossy);
  check(JxlEncoderSetBasicInfo(encoder, &basic), "the header");
  if (const int level = JxlEncoderGetRequiredCodestreamLevel(encoder); level > 5) {
    check(JxlEncoderSetCodestreamLevel(encoder, level), "the level");
  }
  if (image.type.alpha) {
    JxlExtraChannelInfo alpha;
    JxlEncoderInitExtraChannelInfo(JXL_CHANNEL_ALPHA, &alpha);
    alpha.bits_per_sample = basic.alpha_bits;
    alpha.exponent_bits_per_sample = basic.alpha_exponent_bits;
    check(JxlEncoderSetExtraChannelInfo(encoder, 0, &alpha), "alpha");
  }
  set_colours(encoder, image, metadata.icc);
  add_boxes(encoder, metadata);
  JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder, nullptr);
  if (options.lossy) {
    // cjxl's relation of quality and distance.
    const auto q = static_cast<float>(options.quality);
    const float distance =
        q >= 30 ? 0.1f + (100 - q) * 0.09f : 53.0f / 3000.0f * q * q - 23.0f / 20.0f * q + 25.0f;
    check(JxlEncoderSetFrameDistance(settings, std::min(distance, 25.0f)), "the quality");
  } else {
    check(JxlEncoderSetFrameLossless(settings, JXL_TRUE), "lossless");
    const int effort = level_of(options.compression, 1, 3, 7);  // 1 is fastest, 9 smallest
    check(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, effort),
          "the effort");
  }
  Bytes pixels;
  append_rows(pixels, image, 0, image.size().height, 1);
  const JxlPixelFormat format = pixel_format(image.type);
  check(JxlEncoderAddImageFrame(settings, &format, pixels.data(), pixels.size()), "the image");
  return finish(encoder);
}

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Libjxl)
