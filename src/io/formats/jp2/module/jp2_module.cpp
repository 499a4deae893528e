// The codec module for JPEG 2000, through OpenJPEG: written without loss.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "io/bytes/boxes.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

using Codec = Made<opj_codec_t, opj_destroy_codec>;
using Stream = Made<opj_stream_t, opj_stream_destroy>;
using Picture = Made<opj_image_t, opj_image_destroy>;

// A file in memory, as OpenJPEG's streams want it.
struct File {
  InputBytes input;
  Bytes output;
  size_t at = 0;
  std::string error;  // the library's first
};

void keep_error(const char* text, void* data) {
  std::string& error = static_cast<File*>(data)->error;
  if (!error.empty()) return;
  error = text;
  while (!error.empty() && (error.back() == '\n' || error.back() == '.')) error.pop_back();
}

OPJ_SIZE_T read_bytes(void* to, OPJ_SIZE_T count, void* data) {
  File& file = *static_cast<File*>(data);
  const size_t n =
      std::min<size_t>(count, file.input.size() - std::min(file.at, file.input.size()));
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, file.input.data() + file.at, n);
  file.at += n;
  return n;
}

OPJ_SIZE_T write_bytes(void* from, OPJ_SIZE_T count, void* data) {
  File& file = *static_cast<File*>(data);
  try {
    file.output.resize(std::max(file.output.size(), file.at + count));
  } catch (const std::bad_alloc&) {
    return static_cast<OPJ_SIZE_T>(-1);
  }
  std::memcpy(file.output.data() + file.at, from, count);
  file.at += count;
  return count;
}

OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void* data) {
  static_cast<File*>(data)->at += static_cast<size_t>(count);
  return count;
}

OPJ_BOOL seek_byte(OPJ_OFF_T to, void* data) {
  static_cast<File*>(data)->at = static_cast<size_t>(to);
  return OPJ_TRUE;
}

Stream stream_of(File& file, bool reads) {
  Stream stream(opj_stream_default_create(reads ? OPJ_TRUE : OPJ_FALSE));
  if (stream == nullptr) throw std::bad_alloc();
  opj_stream_set_user_data(stream.get(), &file, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.input.size());
  opj_stream_set_read_function(stream.get(), read_bytes);
  opj_stream_set_write_function(stream.get(), write_bytes);
  opj_stream_set_skip_function(stream.get(), skip_bytes);
  opj_stream_set_seek_function(stream.get(), seek_byte);
  return stream;
}

// What the boxes say of the channels; OpenJPEG tells only after decoding.
struct Boxes {
  bool palette = false, has_definitions = false;
  int alpha = -1;  // the channel that is opacity
  bool premultiplied = false;
  std::uint64_t colours = 0;  // 16 sRGB, 17 gray, 18 YCC, 12 CMYK; 0 for a profile
};

void read_definitions(const std::string& text, Boxes& boxes) {
  boxes.has_definitions = true;
  size_t at = 2;
  for (std::uint64_t n = big_at(text, 0, 2); n > 0; --n, at += 6) {
    const std::uint64_t kind = big_at(text, at + 2, 2);
    if (kind != 1 && kind != 2) continue;
    boxes.alpha = static_cast<int>(big_at(text, at, 2));
    boxes.premultiplied = kind == 2;
  }
}

// Those between two offsets, up to the code stream.
void read_boxes(const ByteSource& source, std::int64_t begin, std::int64_t end, Boxes& boxes) {
  bool done = false;
  visit_boxes(source, begin, end, [&](const Box& box) {
    done = done || box.kind == "jp2c";
    if (done) return;
    if (box.kind == "jp2h") read_boxes(source, box.begin, box.end, boxes);
    if (box.kind == "pclr") boxes.palette = true;
    if (box.kind == "cdef") read_definitions(content_of(source, box), boxes);
    const std::string head = source.read_some(box.begin, 7);
    if (box.kind == "colr" && big_at(head, 0, 1) == 1) boxes.colours = big_at(head, 3, 4);
  });
}

Boxes boxes_of(InputBytes bytes) {
  Boxes boxes;
  const ByteSource source(bytes);
  if (big_at(source.read_some(0, 4), 0, 4) == 12) read_boxes(source, 0, source.size(), boxes);
  return boxes;
}

// OpenJPEG takes memory for all tiles that the header announces before it looks for the first. Each
// of them has at least the two markers of a tile part.
void check_tiles(InputBytes bytes) {
  constexpr size_t most = 16 << 20;       // bytes in front of the code stream
  constexpr std::uint64_t min_tile = 14;  // bytes
  const std::string_view text = text_of(bytes.first(std::min(bytes.size(), most)));
  const size_t at = text.find("\xff\x4f\xff\x51");
  if (at == text.npos) return;
  const auto number = [&](int index) {  // sizes and offsets, across before down
    return big_at(text, at + 8 + 4 * static_cast<size_t>(index), 4);
  };
  double tiles = 1;
  for (const int axis : {0, 1}) {
    const std::uint64_t end = number(axis), tile = number(4 + axis), begin = number(6 + axis);
    if (tile == 0 || end <= begin) return;  // the library says what is wrong
    tiles *= static_cast<double>((end - begin + tile - 1) / tile);
  }
  if (tiles * min_tile > static_cast<double>(bytes.size())) {
    fail("truncated JPEG 2000: its header announces ", static_cast<long>(tiles),
         " tiles, and the file has ", bytes.size(), " bytes");
  }
}

class Decoder {
 public:
  explicit Decoder(InputBytes bytes) {
    check_tiles(bytes);
    file_.input = bytes;
    const bool boxed = std::to_integer<int>(bytes[0]) == 0;
    codec_.reset(opj_create_decompress(boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
    if (codec_ == nullptr) throw std::bad_alloc();
    opj_set_error_handler(codec_.get(), keep_error, &file_);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    stream_ = stream_of(file_, true);
    opj_image_t* image = nullptr;
    const bool read = opj_setup_decoder(codec_.get(), &parameters) != 0 &&
                      opj_read_header(stream_.get(), codec_.get(), &image) != 0;
    image_.reset(image);
    if (!read) fail_decoding();
  }
  const opj_image_t& image() const { return *image_; }
  void decode() {
    if (opj_decode(codec_.get(), stream_.get(), image_.get()) == 0 ||
        opj_end_decompress(codec_.get(), stream_.get()) == 0) {
      fail_decoding();
    }
  }

 private:
  [[noreturn]] void fail_decoding() const {
    const std::string end = "it ends at byte " + std::to_string(file_.input.size());
    if (file_.at >= file_.input.size()) fail("truncated JPEG 2000: ", end);
    fail("damaged JPEG 2000: ", file_.error.empty() ? "it cannot be decoded" : file_.error);
  }

  File file_;
  Codec codec_;
  Stream stream_;
  Picture image_;
};

void check_supported(const opj_image_t& image, const Boxes& boxes) {
  if (boxes.palette) fail("JPEG 2000 with a palette is not supported");
  if (boxes.colours == 18) fail("JPEG 2000 of YCC colours is not supported");
  if (boxes.colours == 12) fail("JPEG 2000 of CMYK is not supported");
  if (boxes.colours != 0 && boxes.colours != 16 && boxes.colours != 17) {
    fail("JPEG 2000 of the colour space ", boxes.colours, " is not supported");
  }
  if (boxes.premultiplied) fail("JPEG 2000 with premultiplied alpha is not supported");
  if (image.numcomps < 1 || image.numcomps > 4) {
    fail("JPEG 2000 of ", image.numcomps, " channels is not supported");
  }
  for (OPJ_UINT32 c = 0; c < image.numcomps; ++c) {
    const opj_image_comp_t& one = image.comps[c];
    if (one.prec < 1 || one.prec > 16) fail("JPEG 2000 of ", one.prec, " bits is not supported");
    if (one.dx != image.comps[0].dx || one.dy != image.comps[0].dy || one.w != image.comps[0].w ||
        one.h != image.comps[0].h) {
      fail("JPEG 2000 with subsampled channels is not supported");
    }
    if (one.sgnd != image.comps[0].sgnd) {
      fail("JPEG 2000 with signed channels beside unsigned ones is not supported");
    }
  }
}

ImageInfo info_of(const opj_image_t& image, const Boxes& boxes) {
  check_supported(image, boxes);
  const int count = static_cast<int>(image.numcomps);
  OPJ_UINT32 bits = 0;
  for (int c = 0; c < count; ++c) bits = std::max(bits, image.comps[c].prec);
  // Without definitions the second or fourth is opacity, as other programs have it.
  const bool alpha = boxes.has_definitions ? boxes.alpha >= 0 : count == 2 || count == 4;
  if (alpha && boxes.has_definitions && boxes.alpha != count - 1) {
    fail("JPEG 2000 whose alpha is not its last channel is not supported");
  }
  const int channels = count - (alpha ? 1 : 0);
  if (channels != 1 && channels != 3) fail("JPEG 2000 of ", channels, " colours is not supported");
  ImageInfo info{.format = Format::jp2};
  info.stored = {image.comps[0].w, image.comps[0].h};
  info.type = type_of(bits <= 8 ? PixelClass::uint8 : PixelClass::uint16, channels, alpha);
  info.detail = std::to_string(bits) + "-bit";
  if (image.comps[0].sgnd == 0) return info;
  if (alpha) fail("JPEG 2000 of signed numbers beside alpha is not supported");
  info.type.cls = PixelClass::single;
  info.type.white = 0;
  info.samples = bits <= 8 ? SampleType::int8 : SampleType::int16;
  info.detail += " signed";
  return info;
}

// Signed values of a component, as they are.
void copy_numbers(const opj_image_comp_t& from, Plane& to) {
  const auto width = static_cast<size_t>(to.size().width);
  for (std::int64_t y = 0; y < to.size().height; ++y) {
    std::copy_n(from.data + width * static_cast<size_t>(y), width, to.row_as<float>(y));
  }
}

// Values of a component, brought to the full range of T.
template <class T>
void copy_component(const opj_image_comp_t& from, Plane& to) {
  const std::int64_t top = (std::int64_t{1} << from.prec) - 1;
  constexpr std::int64_t white = sizeof(T) == 1 ? 255 : 65535;
  const OPJ_INT32* value = from.data;
  for (std::int64_t y = 0; y < to.size().height; ++y) {
    T* row = to.row_as<T>(y);
    for (std::int64_t x = 0; x < to.size().width; ++x) {
      const std::int64_t code = std::clamp<std::int64_t>(*value++, 0, top);
      row[x] = static_cast<T>((2 * code * white + top) / (2 * top));
    }
  }
}

class OpenJpeg final : public CodecModule {
 public:
  ImageInfo probe(InputBytes bytes, int) const override {
    return info_of(Decoder(bytes).image(), boxes_of(bytes));
  }
  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    Decoder decoder(bytes);
    decoder.decode();
    const opj_image_t& image = decoder.image();
    HostImage out = make_image(info.type, info.stored);
    for (size_t c = 0; c < image.numcomps; ++c) {
      const opj_image_comp_t& from = image.comps[c];
      check_header(
          from.data != nullptr && from.w == info.stored.width && from.h == info.stored.height,
          "JPEG 2000");
      Plane& to = c < out.planes.size() ? out.planes[c] : out.alpha;
      switch (info.type.cls) {
        case PixelClass::single: copy_numbers(from, to); break;
        case PixelClass::uint16: copy_component<std::uint16_t>(from, to); break;
        default: copy_component<std::uint8_t>(from, to);
      }
    }
    return out;
  }
  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override;
};

Picture picture_of(const HostImage& image) {
  const auto width = static_cast<OPJ_UINT32>(image.size().width);
  const auto height = static_cast<OPJ_UINT32>(image.size().height);
  const auto count = static_cast<OPJ_UINT32>(stored_channels(image.type));
  opj_image_cmptparm_t one = {};
  one.dx = one.dy = 1;
  one.w = width;
  one.h = height;
  one.prec = static_cast<OPJ_UINT32>(8 * bytes_of(image.type.cls));
  std::vector<opj_image_cmptparm_t> parameters(count, one);
  Picture out(opj_image_create(count, parameters.data(),
                               image.type.channels == 1 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB));
  if (out == nullptr) throw std::bad_alloc();
  out->x1 = width;
  out->y1 = height;
  for (OPJ_UINT32 c = 0; c < count; ++c) {
    const Plane& plane = c < image.planes.size() ? image.planes[c] : image.alpha;
    OPJ_INT32* to = out->comps[c].data;
    for (std::int64_t y = 0; y < image.size().height; ++y, to += width) {
      if (plane.cls() == PixelClass::uint8) {
        std::copy_n(plane.row_as<std::uint8_t>(y), width, to);
      } else {
        std::copy_n(plane.row_as<std::uint16_t>(y), width, to);
      }
    }
  }
  if (image.type.alpha) out->comps[count - 1].alpha = 1;
  return out;
}

Bytes OpenJpeg::encode(const HostImage& image, Format, const EncodeOptions&) const {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.tcp_mct = image.type.channels == 3 ? 1 : 0;
  // Each resolution halves the sides.
  const std::int64_t side = std::min(image.size().width, image.size().height);
  while (parameters.numresolution > 1 &&
         (std::int64_t{1} << (parameters.numresolution - 1)) > side) {
    --parameters.numresolution;
  }
  File file;
  const Picture picture = picture_of(image);
  const Codec codec(opj_create_compress(OPJ_CODEC_JP2));
  if (codec == nullptr) throw std::bad_alloc();
  opj_set_error_handler(codec.get(), keep_error, &file);
  const Stream stream = stream_of(file, false);
  if (opj_setup_encoder(codec.get(), &parameters, picture.get()) == 0 ||
      opj_start_compress(codec.get(), picture.get(), stream.get()) == 0 ||
      opj_encode(codec.get(), stream.get()) == 0 ||
      opj_end_compress(codec.get(), stream.get()) == 0) {
    fail("JPEG 2000 encoder: ", file.error.empty() ? "failed" : file.error);
  }
  return std::move(file.output);
}

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(OpenJpeg)
