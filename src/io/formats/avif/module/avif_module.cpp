// The codec module for AVIF, through libavif: lossless unless asked otherwise.
#include <avif/avif.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "io/module/library_codec.hpp"
#include "io/module/quiet.hpp"
#include "io/picture/cicp.hpp"
#include "io/picture/pixel_rows.hpp"
#include "io/picture/wide_samples.hpp"

namespace impipe::io {
namespace {

void check(avifResult result, size_t file_bytes) {
  if (result == AVIF_RESULT_OK) return;
  if (result == AVIF_RESULT_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result == AVIF_RESULT_TRUNCATED_DATA) fail("truncated AVIF: it ends at byte ", file_bytes);
  fail("damaged AVIF: ", avifResultToString(result));
}

// A decoder that has read all but the pixels.
class Decoder {
 public:
  // `pixels`: of the picture, where they are known; streams that are much larger are refused.
  explicit Decoder(InputBytes bytes, std::int64_t pixels = 0)
      : decoder_(avifDecoderCreate()), size_(bytes.size()) {
    if (decoder_ == nullptr) throw std::bad_alloc();
    decoder_->maxThreads = 1;
    // Older writers (libheif before 1.12) leave out the property of bits a channel, and others the
    // size of the alpha; what an invalid clean aperture says is refused by the probe.
    decoder_->strictFlags = AVIF_STRICT_CLAP_VALID;
    constexpr std::int64_t margin = std::int64_t{4} << 20;  // pixels, for whole blocks
    if (pixels > 0) {
      const std::int64_t limit =
          std::min<std::int64_t>(2 * pixels + margin, AVIF_DEFAULT_IMAGE_SIZE_LIMIT);
      decoder_->imageSizeLimit = static_cast<std::uint32_t>(limit);
    }
    check(avifDecoderSetIOMemory(get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), size_),
          size_);
    check(avifDecoderParse(get()), size_);
  }
  avifDecoder* get() const { return decoder_.get(); }
  const avifImage& image() const { return *decoder_->image; }
  void read_frame(int frame) const {
    const Quiet quiet;
    check(avifDecoderNthImage(get(), static_cast<std::uint32_t>(frame)), size_);
  }

 private:
  Made<avifDecoder, avifDecoderDestroy> decoder_;
  size_t size_;
};

// EXIF's number for AVIF's turn (by 90 degrees against the clock) and the mirroring after it.
int orientation_of(const avifImage& image) {
  static constexpr int turned[] = {1, 8, 3, 6};
  static constexpr int upside_down[] = {4, 5, 2, 7}, left_right[] = {2, 7, 4, 5};
  const bool turns = (image.transformFlags & AVIF_TRANSFORM_IROT) != 0;
  const int angle = turns ? image.irot.angle & 3 : 0;
  if ((image.transformFlags & AVIF_TRANSFORM_IMIR) == 0) return turned[angle];
  return image.imir.mode != 0 ? left_right[angle] : upside_down[angle];
}

Bytes bytes_of_data(const avifRWData& data) {
  const auto* begin = reinterpret_cast<const std::byte*>(data.data);
  return data.size == 0 ? Bytes() : Bytes(begin, begin + data.size);
}

class Frames final : public PageDecoder {
 public:
  Frames(InputBytes bytes, MakeImage make_image) : bytes_(bytes), make_image_(make_image) {}
  // The library goes on where it is, or from the last frame that needs none before it.
  HostImage decode(const ImageInfo& info) override {
    if (!decoder_) decoder_.emplace(bytes_, info.stored.pixels());
    decoder_->read_frame(info.page);
    const avifImage& image = decoder_->image();
    check_header(image.width == info.stored.width && image.height == info.stored.height, "AVIF");
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, &image);
    const bool wide = info.type.cls == PixelClass::uint16;
    // Red, green and blue themselves come as they are, without the library's rounding.
    const bool exact = image.matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_IDENTITY;
    rgb.depth = !wide ? 8 : exact ? image.depth : 16;
    rgb.format = info.type.alpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.rowBytes = rgb.width * avifRGBImagePixelSize(&rgb);
    std::vector<std::uint16_t> pixels(size_t{rgb.rowBytes} * rgb.height / 2 + 1);
    rgb.pixels = reinterpret_cast<std::uint8_t*>(pixels.data());
    check(avifImageYUVToRGB(&image, &rgb), bytes_.size());
    if (wide && exact) widen(pixels, static_cast<int>(image.depth));
    HostImage out = make_image_(info.type, info.stored);
    // A gray picture has its value three times.
    HostImage three = out;
    if (info.type.channels == 1) three.planes.assign(3, out.planes.front());
    three.type.channels = 3;
    RowSplitter(three).put_all(rgb.pixels, rgb.rowBytes);
    return out;
  }

 private:
  InputBytes bytes_;
  MakeImage make_image_;
  std::optional<Decoder> decoder_;
};

class Libavif final : public CodecModule {
 public:
  Libavif() { Quiet::watch_stderr(); }
  ImageInfo probe(InputBytes bytes, int page) const override {
    const Decoder decoder(bytes);
    const avifImage& image = decoder.image();
    if ((image.transformFlags & AVIF_TRANSFORM_CLAP) != 0) {
      fail("AVIF with a clean aperture is not supported");
    }
    ImageInfo info;
    info.stored = {image.width, image.height};
    info.type = type_of(image.depth > 8 ? PixelClass::uint16 : PixelClass::uint8,
                        image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3,
                        decoder.get()->alphaPresent != 0);
    info.orientation = orientation_of(image);
    info.lossy = image.matrixCoefficients != AVIF_MATRIX_COEFFICIENTS_IDENTITY;
    info.pages = std::max(decoder.get()->imageCount, 1);
    info.page = page;
    info.detail = std::to_string(image.depth) + "-bit " + avifPixelFormatToString(image.yuvFormat) +
                  (info.pages > 1 ? ", animated" : "");
    return info;
  }

  std::unique_ptr<PageDecoder> open_pages(InputBytes bytes, const ImageInfo&,
                                          MakeImage make_image) const override {
    return std::make_unique<Frames>(bytes, make_image);
  }

  MetadataRead read_metadata(InputBytes bytes, int) const override {
    const Decoder decoder(bytes);
    const avifImage& image = decoder.image();
    MetadataRead out;
    out.metadata.avif_bits = static_cast<int>(image.depth);
    if (out.takes(image.icc.size, "ICC profile")) out.metadata.icc = bytes_of_data(image.icc);
    if (out.takes(image.exif.size, "EXIF")) out.metadata.exif = bytes_of_data(image.exif);
    if (image.xmp.size > 0 && out.takes(image.xmp.size, "XMP")) {
      out.metadata.xmp.assign(reinterpret_cast<const char*>(image.xmp.data), image.xmp.size);
    }
    if (image.icc.size == 0) {
      out.metadata.cicp = {image.colorPrimaries, image.transferCharacteristics};
      out.lose(name_of_colours(image.colorPrimaries, image.transferCharacteristics));
    }
    const bool oblong = (image.transformFlags & AVIF_TRANSFORM_PASP) != 0 &&
                        image.pasp.hSpacing != image.pasp.vSpacing;
    if (oblong && image.pasp.hSpacing > 0 && image.pasp.vSpacing > 0) {
      // Pixels so wide and high: the wider, the fewer.
      out.metadata.resolution =
          Resolution{static_cast<double>(image.pasp.vSpacing),
                     static_cast<double>(image.pasp.hSpacing), Resolution::Unit::none};
    }
    return out;
  }

  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override;
};

// The planes themselves: green, blue and red are what "identity" calls Y, U and V.
void fill_planes(const HostImage& image, avifImage& to) {
  static constexpr size_t source[] = {1, 2, 0};
  const auto width = static_cast<size_t>(image.size().width);
  const auto copy = [&](const Plane& plane, std::uint8_t* out, std::uint32_t stride) {
    for (std::int64_t y = 0; y < image.size().height; ++y, out += stride) {
      if (to.depth == 8) {
        std::memcpy(out, plane.row(y), width);
        continue;
      }
      const auto* from = plane.row_as<std::uint16_t>(y);
      std::transform(from, from + width, reinterpret_cast<std::uint16_t*>(out),
                     [&](std::uint16_t v) { return narrowed(v, static_cast<int>(to.depth)); });
    }
  };
  for (size_t c = 0; c < image.planes.size(); ++c) {
    copy(image.planes[image.planes.size() == 1 ? 0 : source[c]], to.yuvPlanes[c],
         to.yuvRowBytes[c]);
  }
  if (image.type.alpha) copy(image.alpha, to.alphaPlane, to.alphaRowBytes);
}

void fill_converted(const HostImage& image, avifImage& to) {
  Bytes pixels;
  append_rows(pixels, image, 0, image.size().height, 1);
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, &to);
  rgb.depth = static_cast<std::uint32_t>(8 * bytes_of(image.type.cls));
  rgb.format = image.type.alpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  rgb.pixels = reinterpret_cast<std::uint8_t*>(pixels.data());
  rgb.rowBytes = rgb.width * avifRGBImagePixelSize(&rgb);
  check(avifImageRGBToYUV(&to, &rgb), 0);
}

void add_metadata(avifImage& image, const Metadata& m) {
  const auto* icc = reinterpret_cast<const std::uint8_t*>(m.icc.data());
  if (!m.icc.empty()) avifImageSetProfileICC(&image, icc, m.icc.size());
  const auto* exif = reinterpret_cast<const std::uint8_t*>(m.exif.data());
  if (!m.exif.empty()) avifImageSetMetadataExif(&image, exif, m.exif.size());
  const auto* xmp = reinterpret_cast<const std::uint8_t*>(m.xmp.data());
  if (!m.xmp.empty()) avifImageSetMetadataXMP(&image, xmp, m.xmp.size());
}

Bytes Libavif::encode(const HostImage& image, Format, const EncodeOptions& options) const {
  const bool gray = image.type.channels == 1;
  const int bits = image.type.cls == PixelClass::uint16 ? options.avif_bits : 8;
  const Made<avifImage, avifImageDestroy> picture(avifImageCreate(
      static_cast<std::uint32_t>(image.size().width),
      static_cast<std::uint32_t>(image.size().height), static_cast<std::uint32_t>(bits),
      gray ? AVIF_PIXEL_FORMAT_YUV400 : AVIF_PIXEL_FORMAT_YUV444));
  const Made<avifEncoder, avifEncoderDestroy> encoder(avifEncoderCreate());
  if (picture == nullptr || encoder == nullptr) throw std::bad_alloc();
  const bool planes = gray || !options.lossy;
  picture->yuvRange = AVIF_RANGE_FULL;
  picture->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
  picture->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
  picture->matrixCoefficients =
      planes && !gray ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
  avifImageAllocatePlanes(picture.get(),
                          AVIF_PLANES_YUV | (image.type.alpha ? AVIF_PLANES_A : AVIF_PLANES_YUV));
  planes ? fill_planes(image, *picture) : fill_converted(image, *picture);
  add_metadata(*picture, options.metadata);
  // 0 is smallest, 10 fastest. Without loss 6 takes 1.7 times as long as 8, for 0.3 % fewer bytes.
  encoder->speed = level_of(options.compression, 9, options.lossy ? 6 : 8, 3);
  encoder->maxThreads = 1;
  // avifenc's relation of quality and quantizer; alpha stays without loss.
  const int quantizer = options.lossy
                            ? ((100 - options.quality) * AVIF_QUANTIZER_WORST_QUALITY + 50) / 100
                            : AVIF_QUANTIZER_LOSSLESS;
  encoder->minQuantizer = encoder->maxQuantizer = quantizer;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
  avifRWData data = AVIF_DATA_EMPTY;
  const avifResult result = avifEncoderWrite(encoder.get(), picture.get(), &data);
  Bytes out = result == AVIF_RESULT_OK ? bytes_of_data(data) : Bytes();
  avifRWDataFree(&data);
  if (result == AVIF_RESULT_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result != AVIF_RESULT_OK) fail("AVIF encoder: ", avifResultToString(result));
  return out;
}

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Libavif)
