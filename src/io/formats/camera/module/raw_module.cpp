// The codec module for camera raw, through LibRaw; read alone.
#include <libraw/libraw.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "io/module/library_codec.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

void check(int status, size_t file_bytes) {
  if (status == LIBRAW_SUCCESS) return;
  if (status == ENOMEM || status == LIBRAW_UNSUFFICIENT_MEMORY) throw std::bad_alloc();
  if (status == LIBRAW_IO_ERROR) fail("truncated camera raw: it ends at byte ", file_bytes);
  fail("damaged camera raw: ", libraw_strerror(status));
}

// The file, and how many bytes were asked for beyond its end: not every loader of LibRaw minds.
class FileBytes final : public LibRaw_buffer_datastream {
 public:
  explicit FileBytes(InputBytes bytes)
      : LibRaw_buffer_datastream(const_cast<std::byte*>(bytes.data()), bytes.size()) {}
  int read(void* to, size_t bytes, size_t count) override {
    const auto left = static_cast<size_t>(std::max<INT64>(size() - tell(), 0));
    missing_ += bytes * count - std::min(bytes * count, left);
    return LibRaw_buffer_datastream::read(to, bytes, count);
  }
  int get_char() override {
    const int byte = LibRaw_buffer_datastream::get_char();
    if (byte < 0) ++missing_;
    return byte;
  }
  size_t missing() const { return missing_; }

 private:
  size_t missing_ = 0;
};

// Colours as dcraw makes them with the camera's white balance, in sRGB, of 16 bits; how bright one
// picture is says nothing about the next.
class Camera {
 public:
  explicit Camera(InputBytes bytes)
      : bytes_(bytes.size()), file_(bytes), raw_(new LibRaw(LIBRAW_OPTIONS_NONE)) {
    constexpr double srgb_exponent = 1 / 2.4, srgb_slope = 12.92;
    constexpr int srgb = 1, adaptive_homogeneity = 3;
    libraw_output_params_t& how = raw_->imgdata.params;
    how.use_camera_wb = 1;
    how.no_auto_bright = 1;
    how.output_color = srgb;
    how.user_qual = adaptive_homogeneity;
    how.output_bps = 16;
    how.gamm[0] = srgb_exponent;
    how.gamm[1] = srgb_slope;
    raw_->set_dataerror_handler(nullptr, nullptr);
    check(raw_->open_datastream(&file_), bytes_);
  }
  LibRaw* operator->() const { return raw_.get(); }
  size_t bytes() const { return bytes_; }
  // Reads the sensor's values. Panasonic's last block may go on beyond the end of the file.
  void unpack() {
    constexpr size_t block = 0x4000;
    const size_t before = file_.missing();
    check(raw_->unpack(), bytes_);
    // LibRaw goes on with what it has.
    if (file_.missing() - before > block) check(LIBRAW_IO_ERROR, bytes_);
    if (raw_->error_count() > 0) fail("truncated or damaged camera raw");
  }

 private:
  size_t bytes_;
  FileBytes file_;
  std::unique_ptr<LibRaw> raw_;
};

// Of every two by two filters two are green, side by side in no row, and the others red and blue:
// the interpolation reads what it never wrote where they lie otherwise.
void check_filters(const Camera& camera) {
  constexpr unsigned first_mosaic = 1000;  // below: no filters, or a pattern of another kind
  const libraw_iparams_t& made_by = camera->imgdata.idata;
  if (made_by.filters < first_mosaic || made_by.colors != 3) return;
  constexpr int rows = 8;  // after which they repeat
  const auto filter = [&](int row, int column) {
    return made_by.cdesc[camera->COLOR(row, column)];
  };
  for (int row = 0; row < rows; ++row) {
    const char a = filter(row, 0), b = filter(row, 1), c = filter(row + 1, 0),
               d = filter(row + 1, 1);
    const bool falling = a == 'G' && d == 'G' && ((b == 'R' && c == 'B') || (b == 'B' && c == 'R'));
    const bool rising = b == 'G' && c == 'G' && ((a == 'R' && d == 'B') || (a == 'B' && d == 'R'));
    if (!falling && !rising) fail("camera raw with other filters than red, green and blue by twos");
  }
}

class Raw final : public CodecModule {
 public:
  ImageInfo probe(InputBytes bytes, int) const override {
    const Camera camera(bytes);
    check(camera->adjust_sizes_info_only(), camera.bytes());
    const libraw_image_sizes_t& sizes = camera->imgdata.sizes;
    const libraw_iparams_t& made_by = camera->imgdata.idata;
    ImageInfo info{.format = Format::camera};
    info.stored = {sizes.iwidth, sizes.iheight};
    info.type = type_of(PixelClass::uint16, made_by.colors == 1 ? 1 : 3, false);
    info.detail = std::string(made_by.make) + " " + made_by.model;
    return info;
  }

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    Camera camera(bytes);
    check_filters(camera);
    camera.unpack();
    check(camera->dcraw_process(), camera.bytes());
    int width = 0, height = 0, colours = 0, bits = 0;
    camera->get_mem_image_format(&width, &height, &colours, &bits);
    if (width != info.stored.width || height != info.stored.height ||
        colours != info.type.channels || bits != 16) {
      fail("damaged camera raw: contradictory headers");
    }
    HostImage image = make_image(info.type, info.stored);
    const auto row = static_cast<size_t>(stored_bytes(info.type, info.stored.width));
    Bytes pixels(row * static_cast<size_t>(height));
    check(camera->copy_mem_image(pixels.data(), static_cast<int>(row), 0), camera.bytes());
    RowSplitter(image).put_all(pixels.data(), row);
    return image;
  }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Raw)
