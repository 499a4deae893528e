// The second codec module: BMP and EXR through OpenCV, whose many libraries take long to load.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <streambuf>

#include "io/byte_source.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {
namespace {

// Copies between OpenCV's interleaved blue, green, red, alpha and our planes.
template <class T>
void from_bgra(const cv::Mat& mat, HostImage& image) {
  const int from_channels = mat.channels();
  const int colours = image.type.channels;
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    const T* from = mat.ptr<T>(static_cast<int>(y));
    T* to = image.pixels.row_as<T>(y);
    for (std::int64_t x = 0; x < image.size().width; ++x, from += from_channels) {
      for (int c = 0; c < colours; ++c) to[colours * x + c] = from[colours - 1 - c];
      if (image.type.alpha) image.alpha.row_as<T>(y)[x] = from[colours];
    }
  }
}
template <class T>
void to_bgra(const HostImage& image, cv::Mat& mat) {
  const int to_channels = mat.channels();
  const int colours = image.type.channels;
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    T* to = mat.ptr<T>(static_cast<int>(y));
    const T* from = image.pixels.row_as<T>(y);
    for (std::int64_t x = 0; x < image.size().width; ++x, to += to_channels) {
      for (int c = 0; c < std::min(to_channels, 3); ++c) {
        to[std::min(to_channels, 3) - 1 - c] = from[colours * x + (colours == 3 ? c : 0)];
      }
      if (to_channels == 4) to[3] = image.alpha.row_as<T>(y)[x];
    }
  }
}

// OpenCV reports broken files on std::cerr; only cli prints. Silent while any of these lives.
class SilentCerr {
 public:
  SilentCerr() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) before_ = std::cerr.rdbuf(&nowhere_);
  }
  ~SilentCerr() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) std::cerr.rdbuf(before_);
  }
  SilentCerr(const SilentCerr&) = delete;
  SilentCerr& operator=(const SilentCerr&) = delete;

 private:
  struct Nowhere : std::streambuf {
    int overflow(int c) override { return c; }
  };
  static inline std::mutex mutex_;
  static inline int users_ = 0;
  static inline std::streambuf* before_ = nullptr;
  static inline Nowhere nowhere_;
};

class OpenCv final : public CodecModule {
 public:
  OpenCv() {
    // The program has its own limit, checked before; OpenCV reads these when first used.
    setenv("OPENCV_IO_MAX_IMAGE_PIXELS", "1099511627776", 1);
    setenv("OPENCV_IO_MAX_IMAGE_WIDTH", "16777216", 1);
    setenv("OPENCV_IO_MAX_IMAGE_HEIGHT", "16777216", 1);
    setenv("OPENCV_IO_ENABLE_OPENEXR", "1", 1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
  }

  HostImage decode(std::span<const std::byte> bytes, const ImageInfo& info,
                   MakeImage make_image) const override {
    const std::string name(info.format == Format::bmp ? "BMP" : "EXR");
    const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8U,
                       const_cast<std::byte*>(bytes.data()));
    cv::Mat mat;
    const SilentCerr silent;
    try {
      mat = cv::imdecode(file, cv::IMREAD_UNCHANGED);
    } catch (const cv::Exception& error) {
      fail("damaged " + name + ": " + error.err);
    }
    if (mat.empty()) fail("damaged " + name + ": it cannot be decoded");
    if (mat.cols != info.stored.width || mat.rows != info.stored.height) {
      fail("damaged " + name + ": contradictory headers");
    }
    const PixelClass cls = mat.depth() == CV_32F ? PixelClass::single : PixelClass::uint8;
    HostImage image = make_image({.cls = cls,
                                  .channels = mat.channels() >= 3 ? 3 : 1,
                                  .alpha = mat.channels() == 4,
                                  .white = class_max(cls)},
                                 info.stored);
    if (cls == PixelClass::single) {
      from_bgra<float>(mat, image);
    } else {
      from_bgra<std::uint8_t>(mat, image);
    }
    return image;
  }

  Bytes encode(const HostImage& image, Format format, const EncodeOptions&) const override {
    const bool single = image.type.cls == PixelClass::single;
    const int channels = image.type.alpha ? 4 : image.type.channels;
    cv::Mat mat(static_cast<int>(image.size().height), static_cast<int>(image.size().width),
                CV_MAKETYPE(single ? CV_32F : CV_8U, channels));
    if (single) {
      to_bgra<float>(image, mat);
    } else {
      to_bgra<std::uint8_t>(image, mat);
    }
    std::vector<uchar> out;
    const SilentCerr silent;
    const std::string name(format == Format::bmp ? ".bmp" : ".exr");
    try {
      if (!cv::imencode(name, mat, out)) fail("OpenCV cannot write " + name);
    } catch (const cv::Exception& error) {
      fail("OpenCV cannot write " + name + ": " + error.err);
    }
    const auto* begin = reinterpret_cast<const std::byte*>(out.data());
    return Bytes(begin, begin + out.size());
  }

  Metadata read_metadata(std::span<const std::byte>, Format) const override { return {}; }
  Bytes add_metadata(Bytes file, Format, const Metadata&, Size) const override { return file; }
};

}  // namespace
}  // namespace impipe::io

extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule* impipe_open_codec(
    const char* version) {
  static const impipe::io::OpenCv open_cv;
  return std::strcmp(version, impipe::io::codec_version) == 0 ? &open_cv : nullptr;
}
