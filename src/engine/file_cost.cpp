#include "engine/file_cost.hpp"

namespace impipe::engine {
namespace {

// Nanoseconds of a thread for a byte of pixels, as `impipe bench --suite io` has them (of colour
// JPEGs of 4:2:0, which have half as many samples).
struct CodecCost {
  io::Format format;
  double read, write;
};
constexpr CodecCost costs[] = {
    {io::Format::png, 3, 2.5},   {io::Format::jpeg, 1.3, 1.5}, {io::Format::tiff, 4, 8},
    {io::Format::webp, 14, 100}, {io::Format::exr, 5, 28},     {io::Format::bmp, 1, 0.1},
    {io::Format::jxl, 40, 200},  {io::Format::avif, 40, 400},  {io::Format::heif, 40, 400},
    {io::Format::jp2, 60, 100},  {io::Format::camera, 40, 0},  {io::Format::gif, 5, 0}};
constexpr double of_others = 0.2;
// What opening, naming and writing a file takes, in seconds.
constexpr double a_file = 60e-6;

CodecCost cost_of(io::Format format) {
  for (const CodecCost& cost : costs) {
    if (cost.format == format) return cost;
  }
  return {format, of_others, of_others};
}

double bytes_of(const ImageType& type) {
  return static_cast<double>(impipe::bytes_of(type.cls)) * (type.channels + (type.alpha ? 1 : 0));
}

bool is_jpeg_of(const ImageType& type) {
  return type.cls == PixelClass::uint8 && !type.alpha && (type.channels == 1 || type.channels == 3);
}

}  // namespace

void add_files(WorkCost& cost, const FileKind& kind, JpegCodec codec, double pixels,
               double images) {
  constexpr double nano = 1e-9;
  const bool on_gpu = codec != JpegCodec::cpu;
  const double in = bytes_of(kind.info.type) * pixels, out = bytes_of(kind.result) * pixels;
  const double reading = cost_of(kind.info.format).read * nano * in;
  cost.file_seconds += reading + images * a_file;
  cost.file_seconds_beside_gpu += images * a_file;
  if (on_gpu && kind.info.format == io::Format::jpeg && kind.info.orientation == 1) {
    cost.coded_pixels += pixels;
    cost.transfer_bytes -= in;
  } else {
    cost.file_seconds_beside_gpu += reading;
  }
  if (!kind.output) return;
  const double writing = cost_of(*kind.output).write * nano * out;
  cost.file_seconds += writing;
  if (on_gpu && *kind.output == io::Format::jpeg && is_jpeg_of(kind.result)) {
    cost.coded_pixels += pixels;
    cost.transfer_bytes -= out;
  } else {
    cost.file_seconds_beside_gpu += writing;
  }
}

}  // namespace impipe::engine
