// WebP through libwebp: lossless to the last bit unless asked otherwise.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include <algorithm>
#include <memory>
#include <new>

#include "io/formats/webp/module/webp.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {

namespace {

// Frames stand on what the frames before them left.
class Frames final : public PageDecoder {
 public:
  Frames(InputBytes bytes, MakeImage make_image)
      : data_{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
        make_image_(make_image) {}
  HostImage decode(const ImageInfo& info) override {
    if (decoder_ == nullptr || info.page < next_) open(info.stored);
    std::uint8_t* pixels = nullptr;
    for (; next_ <= info.page; ++next_) {
      int end = 0;  // when it ends, in milliseconds
      if (WebPAnimDecoderGetNext(decoder_.get(), &pixels, &end) == 0) {
        fail("damaged WebP: frame ", next_ + 1, " cannot be read");
      }
    }
    HostImage image = make_image_(info.type, info.stored);
    RowSplitter splitter(image);
    const auto width = static_cast<size_t>(info.stored.width);
    std::vector<std::uint8_t> row(4 * width);
    const size_t samples = info.type.alpha ? 4 : 3;
    for (std::int64_t y = 0; y < info.stored.height; ++y, pixels += 4 * width) {
      for (size_t x = 0; x < width; ++x) {
        std::copy_n(pixels + 4 * x, samples, row.data() + samples * x);
      }
      splitter.put(row.data(), y);
    }
    return image;
  }

 private:
  void open(Size size) {
    next_ = 0;
    WebPAnimDecoderOptions options;
    WebPAnimDecoderOptionsInit(&options);
    options.color_mode = MODE_RGBA;
    decoder_.reset(WebPAnimDecoderNew(&data_, &options));
    WebPAnimInfo animation;
    if (decoder_ == nullptr || WebPAnimDecoderGetInfo(decoder_.get(), &animation) == 0) {
      fail("damaged WebP: its animation cannot be read");
    }
    check_header(animation.canvas_width == size.width && animation.canvas_height == size.height,
                 "WebP");
  }

  WebPData data_;
  MakeImage make_image_;
  Made<WebPAnimDecoder, WebPAnimDecoderDelete> decoder_;
  int next_ = 0;  // the frame that comes next
};

}  // namespace

std::unique_ptr<PageDecoder> open_webp_pages(InputBytes bytes, MakeImage make_image) {
  return std::make_unique<Frames>(bytes, make_image);
}

HostImage decode_webp(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  if (info.pages > 1) return Frames(bytes, make_image).decode(info);
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const VP8StatusCode known = WebPGetFeatures(data, bytes.size(), &config.input);
  if (known == VP8_STATUS_OK) {
    if (config.input.has_animation != 0) fail("an animated WebP is not supported");
    // A smaller picture than ours would leave the rest of the planes unwritten.
    check_header(config.input.width == info.stored.width &&
                     config.input.height == info.stored.height &&
                     (config.input.has_alpha != 0) == info.type.alpha,
                 "WebP");
  }
  HostImage image = make_image(info.type, info.stored);
  const auto width = static_cast<size_t>(info.stored.width);
  const auto height = static_cast<size_t>(info.stored.height);
  const size_t pixel = info.type.alpha ? 4 : 3;
  std::vector<std::uint8_t> joined(pixel * width * height);
  config.output.is_external_memory = 1;
  config.output.colorspace = info.type.alpha ? MODE_RGBA : MODE_RGB;
  WebPRGBABuffer& target = config.output.u.RGBA;
  target = {joined.data(), static_cast<int>(pixel * width), joined.size()};
  const VP8StatusCode status =
      known == VP8_STATUS_OK ? WebPDecode(data, bytes.size(), &config) : known;
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED) {
    fail("truncated WebP: it ends at byte ", bytes.size());
  }
  if (status != VP8_STATUS_OK) fail("damaged WebP: decoder status ", status);
  RowSplitter(image).put_all(joined.data(), pixel * width);
  return image;
}

Bytes encode_webp(const HostImage& image, const EncodeOptions& options) {
  const Size size = image.size();
  // WebP knows no grey: one channel is written three times.
  const int channels = image.type.alpha ? 4 : 3;
  const auto row_bytes = static_cast<size_t>(size.width * channels);
  std::vector<std::uint8_t> joined(row_bytes * static_cast<size_t>(size.height));
  HostImage colour = image;
  if (image.type.channels == 1) colour.planes.assign(3, image.planes.front());
  colour.type.channels = 3;
  RowJoiner joiner(colour);
  for (std::int64_t y = 0; y < size.height; ++y) {
    joiner.copy(y, joined.data() + row_bytes * static_cast<size_t>(y));
  }
  WebPConfig config;
  WebPConfigInit(&config);
  config.quality = static_cast<float>(options.quality);
  if (!options.lossy) {
    WebPConfigLosslessPreset(&config, level_of(options.compression, 0, 1, 9));
    config.exact = 1;  // colours under full transparency stay
  }
  struct Picture : WebPPicture {
    Picture() { WebPPictureInit(this); }
    ~Picture() { WebPPictureFree(this); }
  } picture;
  picture.use_argb = options.lossy ? 0 : 1;
  picture.width = static_cast<int>(size.width);
  picture.height = static_cast<int>(size.height);
  Bytes out;
  picture.custom_ptr = &out;
  picture.writer = [](const std::uint8_t* data, size_t bytes, const WebPPicture* p) {
    auto& target = *static_cast<Bytes*>(p->custom_ptr);
    const auto* begin = reinterpret_cast<const std::byte*>(data);
    try {
      target.insert(target.end(), begin, begin + bytes);
      return 1;
    } catch (const std::bad_alloc&) {
      return 0;  // libwebp has memory of its own to free
    }
  };
  const int stride = static_cast<int>(row_bytes);
  const int imported = image.type.alpha ? WebPPictureImportRGBA(&picture, joined.data(), stride)
                                        : WebPPictureImportRGB(&picture, joined.data(), stride);
  if (imported == 0 || WebPEncode(&config, &picture) == 0) {
    fail("WebP encoder error ", picture.error_code);
  }
  return out;
}

}  // namespace impipe::io
