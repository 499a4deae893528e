// The codec module on OpenCV's imgcodecs: reads Sun raster, and other formats as a second opinion.
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "core/interleave.hpp"
#include "io/formats/sun/sun_raster.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// OpenCV's own limits; CV_IO_MAX_IMAGE_PIXELS and its siblings.
constexpr std::int64_t most_side = 1 << 20, most_pixels = 1 << 30;

cv::Mat decode_by_opencv(InputBytes bytes, const ImageInfo& info, int flags) {
  const Size size = info.stored;
  if (std::max(size.width, size.height) > most_side || size.pixels() > most_pixels ||
      bytes.size() > most_pixels) {
    fail("OpenCV reads at most 2^20 pixels a side, 2^30 pixels and files of 1 GiB");
  }
  cv::Mat out;
  try {
    const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8U,
                       const_cast<std::byte*>(bytes.data()));
    out = cv::imdecode(file, flags);
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    fail("OpenCV cannot decode it: ", error.err);
  }
  if (out.empty()) fail("OpenCV cannot decode it, and does not say why");
  if (out.cols != size.width || out.rows != size.height) {
    fail("OpenCV gives ", out.cols, "x", out.rows, " pixels where the file has ", size.width, "x",
         size.height);
  }
  return out;
}

// Puts pixels in OpenCV's order, blue, green, red and alpha, into planes.
HostImage image_of(const cv::Mat& pixels, const ImageInfo& info, MakeImage make_image) {
  HostImage image = make_image(info.type, info.stored);
  std::vector<Plane*> planes;
  for (Plane& plane : image.planes) planes.insert(planes.begin(), &plane);
  if (image.type.alpha) planes.push_back(&image.alpha);
  std::vector<std::byte*> rows(planes.size());
  for (int y = 0; y < pixels.rows; ++y) {
    for (size_t c = 0; c < rows.size(); ++c) rows[c] = planes[c]->row(y);
    split_row(rows.data(), reinterpret_cast<const std::byte*>(pixels.ptr(y)), pixels.channels(),
              static_cast<int>(pixels.elemSize1()), pixels.cols);
  }
  return image;
}

// The file without run lengths and with colours in the order blue, green, red: OpenCV 4.6 refuses
// others, since it compares their type with its own.
Bytes standard_form(InputBytes file, const SunHeader& header) {
  constexpr size_t kind_at = 23;  // the last byte of the type
  const auto data = static_cast<size_t>(header.data);
  const size_t end = data + static_cast<size_t>(header.row_bytes * header.info.stored.height);
  Bytes out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(data));
  out[kind_at] = std::byte{SunHeader::standard};
  out.reserve(end);
  if (!header.in_run_lengths()) {
    out.insert(out.end(), file.begin() + static_cast<std::ptrdiff_t>(data), file.end());
    return out;
  }
  constexpr std::byte mark{0x80};
  for (size_t at = data; out.size() < end; ++at) {
    const auto byte_at = [&](size_t i) {
      if (i >= file.size()) fail("truncated Sun raster: it ends at byte ", file.size());
      return file[i];
    };
    const std::byte byte = byte_at(at);
    // A mark and 0 is one byte of that value; a mark, n and a value is n + 1 of the latter.
    const auto count = byte == mark ? std::to_integer<size_t>(byte_at(++at)) : 0;
    const std::byte value = count > 0 ? byte_at(++at) : byte;
    out.insert(out.end(), std::min(count + 1, end - out.size()), value);
  }
  return out;
}

// As colours even where the pixels are gray: OpenCV 4.6 makes grays without a colour map black.
HostImage decode_sun(InputBytes file, const ImageInfo& info, MakeImage make_image) {
  const SunHeader header = sun_header(ByteSource(file));
  Bytes standard;
  if (header.kind > SunHeader::standard) standard = standard_form(file, header);
  cv::Mat pixels =
      decode_by_opencv(standard.empty() ? file : InputBytes(standard), info, cv::IMREAD_COLOR);
  if (header.kind == SunHeader::rgb && header.bits > 8) {
    HostImage image = image_of(pixels, info, make_image);
    std::swap(image.planes[0], image.planes[2]);
    return image;
  }
  if (info.type.channels == 3) return image_of(pixels, info, make_image);
  cv::Mat gray;
  cv::extractChannel(pixels, gray, 0);
  // Ones are black in the file.
  if (info.type.cls == PixelClass::logical) gray = (gray == 0) / 255;
  return image_of(gray, info, make_image);
}

// "4 channels of 8 bits"
std::string samples_text(int channels, int bits, bool are_float) {
  return std::to_string(channels) + (channels == 1 ? " channel of " : " channels of ") +
         std::to_string(bits) + (bits == 1 ? " bit" : " bits") + (are_float ? ", float" : "");
}

void check_samples(const cv::Mat& pixels, const ImageType& type) {
  const int depth = pixels.depth();
  const std::string given =
      samples_text(pixels.channels(), 8 * static_cast<int>(pixels.elemSize1()),
                   depth == CV_32F || depth == CV_64F);
  const std::string wanted =
      samples_text(stored_channels(type),
                   type.cls == PixelClass::logical ? 1 : 8 * static_cast<int>(bytes_of(type.cls)),
                   type.cls == PixelClass::single);
  const bool has_sign = depth == CV_8S || depth == CV_16S || depth == CV_32S;
  if (given == wanted && !has_sign) return;
  fail("OpenCV gives ", given, has_sign ? " with a sign" : "", " where impipe reads ", wanted,
       "; leave out --codec opencv");
}

class OpenCv final : public CodecModule {
 public:
  OpenCv() {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
  }

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    if (info.format == Format::sun) return decode_sun(bytes, info, make_image);
    if (info.page > 0) fail("OpenCV reads the first picture of a file alone");
    if (info.format == Format::tiff && (info.orientation != 1 || info.type.alpha)) {
      fail(
          "OpenCV turns TIFFs and multiplies their colours by alpha itself; leave out --codec "
          "opencv");
    }
    const cv::Mat pixels = decode_by_opencv(bytes, info, cv::IMREAD_UNCHANGED);
    check_samples(pixels, info.type);
    return image_of(pixels, info, make_image);
  }

  Bytes encode(const HostImage&, Format, const EncodeOptions&) const override {
    fail("OpenCV reads pictures here, and writes none");
  }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(OpenCv)
