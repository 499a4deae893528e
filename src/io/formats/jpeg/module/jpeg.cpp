// JPEG through libjpeg-turbo. Its errors are thrown through its frames, as in png.cpp.
#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "io/formats/jpeg/module/jpeg.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

std::string message_of(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX] = {};
  info->err->format_message(info, text);
  return text;
}

[[noreturn]] void on_error(j_common_ptr info) {
  if (info->err->msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
  fail("damaged JPEG: ", message_of(info));
}

// libjpeg goes on after a warning with grey pixels; only the harmless ones are let pass.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA:
    case JWRN_BOGUS_PROGRESSION: return;
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER: fail("truncated JPEG: ", message_of(info));
    default: on_error(info);
  }
}
void on_output(j_common_ptr) {}

jpeg_error_mgr error_handlers() {
  jpeg_error_mgr handlers = {};
  jpeg_std_error(&handlers);
  handlers.error_exit = on_error;
  handlers.emit_message = on_message;
  handlers.output_message = on_output;
  return handlers;
}

// Has a constructor to delegate to, so that the destructor also runs when libjpeg throws in the
// other one.
template <class Jpeg, auto create, auto destroy>
class Handle {
 public:
  Handle() : Handle(error_handlers()) { create(&jpeg); }
  ~Handle() { destroy(&jpeg); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  explicit Handle(const jpeg_error_mgr& handlers) : handlers_(handlers) { jpeg.err = &handlers_; }
  jpeg_error_mgr handlers_;

 public:
  Jpeg jpeg = {};
};
// Those that create are macros.
using Decompressor =
    Handle<jpeg_decompress_struct, [](j_decompress_ptr jpeg) { jpeg_create_decompress(jpeg); },
           jpeg_destroy_decompress>;
using Compressor =
    Handle<jpeg_compress_struct, [](j_compress_ptr jpeg) { jpeg_create_compress(jpeg); },
           jpeg_destroy_compress>;

// Where libjpeg writes. Its own memory destination frees what it has given away when it grows and
// an error comes.
struct Output : jpeg_destination_mgr {
  explicit Output(jpeg_compress_struct& jpeg) : jpeg_destination_mgr{} {
    init_destination = [](j_compress_ptr j) { of(j).grow(); };
    empty_output_buffer = [](j_compress_ptr j) -> boolean {
      Output& output = of(j);
      output.free_in_buffer = 0;  // all of it is used, whatever libjpeg says here
      output.grow();
      return TRUE;
    };
    term_destination = [](j_compress_ptr j) {
      Output& output = of(j);
      output.bytes.resize(output.bytes.size() - output.free_in_buffer);
    };
    jpeg.dest = this;
  }
  static Output& of(j_compress_ptr jpeg) { return *static_cast<Output*>(jpeg->dest); }
  void grow() {
    const size_t used = bytes.size();
    bytes.resize(std::max<size_t>(size_t{1} << 16, 2 * used));
    next_output_byte = reinterpret_cast<JOCTET*>(bytes.data() + used);
    free_in_buffer = bytes.size() - used;
  }

  Bytes bytes;
};

void invert(JSAMPLE* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) row[i] = static_cast<JSAMPLE>(255 - row[i]);
}

// Ink to light; `to` may be `from`. Adobe writes its CMYK inverted: 255 is no ink.
void cmyk_to_rgb(const JSAMPLE* from, std::uint8_t* to, std::int64_t count, bool inverted) {
  for (std::int64_t x = 0; x < count; ++x) {
    const int black = inverted ? from[4 * x + 3] : 255 - from[4 * x + 3];
    for (int c = 0; c < 3; ++c) {
      const int ink = inverted ? from[4 * x + c] : 255 - from[4 * x + c];
      to[3 * x + c] = static_cast<std::uint8_t>((ink * black * 2 + 255) / 510);
    }
  }
}

// The rows of a JPEG, which come from the first to the last.
class JpegRows final : public PictureRows {
 public:
  JpegRows(InputBytes bytes, const ImageInfo& info, MakeImage make_image)
      : bytes_(bytes), info_(info), make_image_(make_image) {
    begin();
  }

  HostImage read(std::int64_t y, std::int64_t y_end) override {
    if (y < next_) begin();
    jpeg_decompress_struct& jpeg = d_->jpeg;
    const std::int64_t height = size().height;
    HostImage image = make_image_(info_.type, {size().width, y_end - y});
    RowSplitter splitter(image);
    JSAMPROW row = joined_.data();
    // The last rows may be followed by some that the picture does not have.
    const std::int64_t stop = y_end < height ? y_end : jpeg.output_height;
    while (next_ < stop) {
      jpeg_read_scanlines(&jpeg, &row, 1);
      const bool inverted = jpeg.saw_Adobe_marker != 0;
      if (four_ && info_.type.channels == 3) cmyk_to_rgb(row, row, size().width, inverted);
      if (info_.type.channels == 4 && inverted) invert(row, 4 * size().width);
      if (next_ >= y && next_ < y_end) splitter.put(row, next_ - y);
      ++next_;
    }
    if (y_end == height) jpeg_finish_decompress(&jpeg);
    return image;
  }

 private:
  Size size() const { return shrunk(info_.stored, info_.shrink); }

  void begin() {
    jpeg_decompress_struct& jpeg = d_.emplace().jpeg;
    next_ = 0;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_read_header(&jpeg, TRUE);
    four_ = jpeg.num_components == 4;
    jpeg.out_color_space = four_ ? JCS_CMYK : jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg.scale_num = 1;
    jpeg.scale_denom = static_cast<unsigned>(info_.shrink);
    jpeg_start_decompress(&jpeg);
    check_header(jpeg.image_width == info_.stored.width &&
                     jpeg.image_height == info_.stored.height &&
                     jpeg.output_width >= size().width && jpeg.output_height >= size().height &&
                     (jpeg.output_components == 1) == (info_.type.channels == 1),
                 "JPEG");
    joined_.resize(static_cast<size_t>(jpeg.output_components) *
                   static_cast<size_t>(jpeg.output_width));
  }

  InputBytes bytes_;
  const ImageInfo info_;
  MakeImage make_image_;
  std::optional<Decompressor> d_;
  bool four_ = false;
  std::vector<JSAMPLE> joined_;
  std::int64_t next_ = 0;  // row
};

// Rows into a JPEG in memory.
class JpegSink final : public PictureSink {
 public:
  JpegSink(const ImageType& type, Size size, const EncodeOptions& options) : output_(c_.jpeg) {
    if (size.width > JPEG_MAX_DIMENSION || size.height > JPEG_MAX_DIMENSION) {
      fail("JPEG cannot hold ", text_of(size), " (at most 65500 pixels a side)");
    }
    jpeg_compress_struct& jpeg = c_.jpeg;
    jpeg.image_width = static_cast<JDIMENSION>(size.width);
    jpeg.image_height = static_cast<JDIMENSION>(size.height);
    jpeg.input_components = type.channels;
    jpeg.in_color_space = type.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, options.quality, TRUE);
    if (type.channels == 3) {
      jpeg.comp_info[0].h_samp_factor = options.jpeg.across;
      jpeg.comp_info[0].v_samp_factor = options.jpeg.down;
    }
    jpeg.optimize_coding = options.compression == Compression::small ? TRUE : FALSE;
    if (options.jpeg.progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
  }

  void write(const HostImage& rows) override {
    RowJoiner joiner(rows);
    for (std::int64_t y = 0; y < rows.size().height; ++y) {
      auto* row = const_cast<JSAMPLE*>(joiner.row<JSAMPLE>(y));
      jpeg_write_scanlines(&c_.jpeg, &row, 1);
    }
  }

  Bytes finish() override {
    jpeg_finish_compress(&c_.jpeg);
    return std::move(output_.bytes);
  }

 private:
  Compressor c_;
  Output output_;
};

}  // namespace

HostImage decode_jpeg(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  return JpegRows(bytes, info, make_image).read(0, shrunk(info.stored, info.shrink).height);
}

Bytes encode_jpeg(const HostImage& image, const EncodeOptions& options) {
  JpegSink sink(image.type, image.size(), options);
  sink.write(image);
  return sink.finish();
}

std::unique_ptr<PictureRows> open_jpeg_rows(InputBytes bytes, const ImageInfo& info,
                                            MakeImage make_image) {
  return std::make_unique<JpegRows>(bytes, info, make_image);
}

std::unique_ptr<PictureSink> make_jpeg_rows(const ImageType& type, Size size,
                                            const EncodeOptions& options) {
  return std::make_unique<JpegSink>(type, size, options);
}

}  // namespace impipe::io
