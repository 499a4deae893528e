// Reads PNG through libpng. Its errors are thrown through its frames, which the system's C
// libraries allow: they are compiled with unwind tables.
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "io/formats/png/module/png.hpp"
#include "io/formats/png/module/png_direct.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

struct Input {
  InputBytes bytes;
  size_t at = 0;
};

[[noreturn]] void on_error(png_structp, png_const_charp message) {
  fail("damaged PNG: " + std::string(message));
}
void on_warning(png_structp, png_const_charp) {}

void read_input(png_structp png, png_bytep to, size_t count) {
  auto& input = *static_cast<Input*>(png_get_io_ptr(png));
  if (count > input.bytes.size() - input.at) {
    fail("truncated PNG: it ends at byte " + std::to_string(input.bytes.size()));
  }
  std::memcpy(to, input.bytes.data() + input.at, count);
  input.at += count;
}

class Reader {
 public:
  explicit Reader(InputBytes bytes) : input_{bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, &input_, read_input);
    png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // the caller has looked at the size
    // Profiles are carried over, not looked into.
    png_set_option(png_, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  png_structp png() const { return png_; }
  png_infop info() const { return info_; }

 private:
  Input input_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

HostImage decode_png(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  if (auto image = decode_png_directly(bytes, info, make_image)) return std::move(*image);
  const Reader reader(bytes);
  png_structp png = reader.png();
  png_read_info(png, reader.info());
  HostImage image = make_image(info.type, info.stored);
  if (info.type.cls == PixelClass::logical) {
    png_set_packing(png);  // one byte a pixel, 0 or 1
  } else {
    png_set_expand(png);  // palette to colours, transparency to alpha, few bits to 8
  }
  png_set_swap(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader.info());
  check_header(
      png_get_channels(png, reader.info()) == stored_channels(info.type) &&
          png_get_image_width(png, reader.info()) == info.stored.width &&
          png_get_image_height(png, reader.info()) == info.stored.height &&
          (png_get_bit_depth(png, reader.info()) == 16) == (info.type.cls == PixelClass::uint16),
      "PNG");
  // One row is enough unless the passes of an interlaced file add to what is there.
  const std::int64_t height = info.stored.height;
  const auto row_bytes = static_cast<size_t>(png_get_rowbytes(png, reader.info()));
  std::vector<png_byte> joined(row_bytes * (passes > 1 ? static_cast<size_t>(height) : 1));
  RowSplitter splitter(image);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t y = 0; y < height; ++y) {
      png_byte* row = joined.data() + (passes > 1 ? static_cast<size_t>(y) * row_bytes : 0);
      png_read_row(png, row, nullptr);
      if (pass + 1 == passes) splitter.put(row, y);
    }
  }
  png_read_end(png, nullptr);  // a file without its end is truncated
  return image;
}

std::string inflate_text(std::string_view packed, std::int64_t most) {
  z_stream stream = {};
  constexpr int zlib_or_gzip = 32;
  if (inflateInit2(&stream, MAX_WBITS + zlib_or_gzip) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int status = Z_OK;
  const size_t limit = static_cast<size_t>(most) + 1;
  while (status == Z_OK && text.size() < limit) {
    const size_t done = text.size();
    text.resize(std::min(std::max<size_t>(4096, 2 * done), limit));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + done);
    stream.avail_out = static_cast<uInt>(text.size() - done);
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  return status == Z_STREAM_END || text.size() == limit ? text : std::string();
}

std::string deflate_text(std::string_view text) {
  uLongf bytes = compressBound(static_cast<uLong>(text.size()));
  std::string packed(bytes, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
               reinterpret_cast<const Bytef*>(text.data()),
               static_cast<uLong>(text.size())) != Z_OK) {
    throw std::bad_alloc();
  }
  packed.resize(bytes);
  return packed;
}

}  // namespace impipe::io
