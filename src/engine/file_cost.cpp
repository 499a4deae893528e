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
    {io::Format::png, 3, 6},     {io::Format::jpeg, 1.3, 1.5}, {io::Format::tiff, 4, 8},
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

// Whether a GPU decodes or encodes pictures of a format and type, as far as these say it.
bool is_coded_on_gpu(io::Format format, const ImageType& type) {
  if (type.alpha) return false;
  if (format != io::Format::jpeg) return io::traits(format).packed_form != nullptr;
  return type.cls == PixelClass::uint8 && (type.channels == 1 || type.channels == 3);
}

// A half of a file's cost: reading, or writing.
void add_half(WorkCost& cost, io::Format format, bool on_gpu, double seconds, double bytes,
              double pixels) {
  cost.file_seconds += seconds;
  if (!on_gpu) {
    cost.file_seconds_beside_gpu += seconds;
    return;
  }
  (format == io::Format::jpeg ? cost.coded_pixels : cost.packed_bytes) +=
      format == io::Format::jpeg ? pixels : bytes;
  cost.transfer_bytes -= bytes;
}

}  // namespace

void add_files(WorkCost& cost, const FileKind& kind, CodecPlace codec, double pixels,
               double images) {
  constexpr double nano = 1e-9;
  const bool on_gpu = codec != CodecPlace::cpu;
  const io::ImageInfo& info = kind.info;
  const double in = bytes_of(info.type) * pixels, out = bytes_of(kind.result) * pixels;
  cost.file_seconds += images * a_file;
  cost.file_seconds_beside_gpu += images * a_file;
  const bool is_read = on_gpu && info.orientation == 1 && is_coded_on_gpu(info.format, info.type);
  add_half(cost, info.format, is_read, cost_of(info.format).read * nano * in, in, pixels);
  if (!kind.output) return;
  const bool is_written = on_gpu && is_coded_on_gpu(*kind.output, kind.result);
  add_half(cost, *kind.output, is_written, cost_of(*kind.output).write * nano * out, out, pixels);
}

}  // namespace impipe::engine
