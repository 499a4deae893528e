// JPEG through libjpeg-turbo. Its errors are thrown through its frames, as in png.cpp.
#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <new>
#include <utility>

#include "io/module/codecs.hpp"
#include "io/pixel_rows.hpp"

namespace impipe::io {
namespace {

std::string message_of(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX] = {};
  info->err->format_message(info, text);
  return text;
}

[[noreturn]] void on_error(j_common_ptr info) {
  if (info->err->msg_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
  fail("damaged JPEG: " + message_of(info));
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
    case JWRN_HIT_MARKER: fail("truncated JPEG: " + message_of(info));
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

// Each has a constructor to delegate to, so that the destructor also runs when libjpeg throws in
// the second one.
class Decompressor {
 public:
  Decompressor() : Decompressor(error_handlers()) { jpeg_create_decompress(&jpeg); }
  ~Decompressor() { jpeg_destroy_decompress(&jpeg); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

 private:
  explicit Decompressor(const jpeg_error_mgr& handlers) : handlers_(handlers) {
    jpeg.err = &handlers_;
  }
  jpeg_error_mgr handlers_;

 public:
  jpeg_decompress_struct jpeg = {};
};

class Compressor {
 public:
  Compressor() : Compressor(error_handlers()) { jpeg_create_compress(&jpeg); }
  ~Compressor() { jpeg_destroy_compress(&jpeg); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

 private:
  explicit Compressor(const jpeg_error_mgr& handlers) : handlers_(handlers) {
    jpeg.err = &handlers_;
  }
  jpeg_error_mgr handlers_;

 public:
  jpeg_compress_struct jpeg = {};
};

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

}  // namespace

HostImage decode_jpeg(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  Decompressor d;
  jpeg_mem_src(&d.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&d.jpeg, TRUE);
  const bool four = d.jpeg.num_components == 4;
  d.jpeg.out_color_space = four ? JCS_CMYK : d.jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  d.jpeg.scale_num = 1;
  d.jpeg.scale_denom = static_cast<unsigned>(info.shrink);
  jpeg_start_decompress(&d.jpeg);
  const Size size = shrunk(info.stored, info.shrink);
  check_header(d.jpeg.image_width == info.stored.width &&
                   d.jpeg.image_height == info.stored.height && d.jpeg.output_width >= size.width &&
                   d.jpeg.output_height >= size.height &&
                   (d.jpeg.output_components == 1) == (info.type.channels == 1),
               "JPEG");
  HostImage image = make_image(info.type, size);
  RowSplitter splitter(image);
  std::vector<JSAMPLE> joined(static_cast<size_t>(d.jpeg.output_components) *
                              static_cast<size_t>(d.jpeg.output_width));
  JSAMPROW row = joined.data();
  while (d.jpeg.output_scanline < d.jpeg.output_height) {
    const std::int64_t y = d.jpeg.output_scanline;
    jpeg_read_scanlines(&d.jpeg, &row, 1);
    if (four) cmyk_to_rgb(row, row, size.width, d.jpeg.saw_Adobe_marker != 0);
    if (y < size.height) splitter.put(row, y);
  }
  jpeg_finish_decompress(&d.jpeg);
  return image;
}

Bytes encode_jpeg(const HostImage& image, const EncodeOptions& options) {
  const Size size = image.size();
  if (size.width > JPEG_MAX_DIMENSION || size.height > JPEG_MAX_DIMENSION) {
    fail("JPEG cannot hold " + text_of(size) + " (at most 65500 pixels a side)");
  }
  Compressor c;
  Output output(c.jpeg);
  c.jpeg.image_width = static_cast<JDIMENSION>(size.width);
  c.jpeg.image_height = static_cast<JDIMENSION>(size.height);
  c.jpeg.input_components = image.type.channels;
  c.jpeg.in_color_space = image.type.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&c.jpeg);
  jpeg_set_quality(&c.jpeg, options.quality, TRUE);
  if (image.type.channels == 3) {
    c.jpeg.comp_info[0].h_samp_factor = options.jpeg.across;
    c.jpeg.comp_info[0].v_samp_factor = options.jpeg.down;
  }
  c.jpeg.optimize_coding = options.compression == Compression::small ? TRUE : FALSE;
  if (options.jpeg.progressive) jpeg_simple_progression(&c.jpeg);
  jpeg_start_compress(&c.jpeg, TRUE);
  RowJoiner joiner(image);
  while (c.jpeg.next_scanline < c.jpeg.image_height) {
    auto* row = const_cast<JSAMPLE*>(joiner.row<JSAMPLE>(c.jpeg.next_scanline));
    jpeg_write_scanlines(&c.jpeg, &row, 1);
  }
  jpeg_finish_compress(&c.jpeg);
  return std::move(output.bytes);
}

}  // namespace impipe::io
