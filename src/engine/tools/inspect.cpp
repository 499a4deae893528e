// Reads headers, and compares images value by value.
#include "engine/tools/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/unpacks.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/program/bands.hpp"
#include "engine/program/program.hpp"
#include "engine/program/shrunk.hpp"
#include "io/codec.hpp"
#include "io/files/read_picture.hpp"
#include "io/formats/jpeg/jpeg_scan.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::engine {
namespace {

double value_at(const Plane& plane, std::int64_t y, std::int64_t x) {
  switch (plane.cls()) {
    case PixelClass::uint16: return plane.row_as<std::uint16_t>(y)[x];
    case PixelClass::single: return plane.row_as<float>(y)[x];
    default: return plane.row_as<std::uint8_t>(y)[x];
  }
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

// A class's own white for planes of alpha, the image's for pixels; 1 when there is none.
double scale_of(const HostImage& image, const Plane& plane) {
  if (&plane == &image.alpha && plane.cls() != PixelClass::single) return class_max(plane.cls());
  return image.type.white == 0 ? 1.0 : image.type.white;
}

std::string channels_text(const HostImage& image) {
  std::string text = std::to_string(image.type.channels);
  text += image.type.channels == 1 ? " channel" : " channels";
  return image.alpha.empty() ? text : text + " and alpha";
}

std::filesystem::path opened(const std::filesystem::path& path) {
  return path == "-" ? "/dev/stdin" : path;
}

}  // namespace

FileFacts inspect(const std::filesystem::path& path, const std::string& axes) {
  io::check_axes(axes);
  const io::ImageInfo info = io::probe(opened(path), {}, {.channels = {}, .axes = axes});
  return {std::string(io::name_of(info.format)),
          info.type,
          info.size(),
          info.orientation,
          info.pages,
          info.axes,
          info.measured,
          info.detail,
          info.display};
}

std::string shrunk_reading(const std::filesystem::path& path, const Plan& lowered,
                           const std::string& axes) {
  const io::ImageInfo info = io::probe(opened(path), {}, {.channels = {}, .axes = axes});
  const int by = shrink_for(lowered, info);
  if (by == 1) return "";
  return "1/" + std::to_string(by) + ", as " + to_string(io::shrunk(info.size(), by));
}

namespace {

// Why the processor decodes a picture even where a GPU computes; nothing where the GPU does.
std::string why_on_processor(const std::filesystem::path& path, const io::ImageInfo& info) {
  if (info.orientation != 1) return ", which EXIF turns";
  const io::Bytes bytes = io::read_picture(path);
  if (info.format == io::Format::jpeg) {
    return io::scan_jpeg(bytes) ? "" : ", since it is progressive or of another unusual form";
  }
  bool is_known = false;
  io::DecodeOptions options{.metadata = false, .page = info.page, .reading = {}};
  options.keep_packed = [&](const PackedForm& form) { return is_known = unpacks(form); };
  try {
    io::decode(bytes, options);
  } catch (const Error&) {  // the run says what is wrong with it
  }
  return is_known ? "" : ", since it is packed or stored in an unusual form";
}

}  // namespace

std::string codec_note(const std::filesystem::path& path, const Plan& plan,
                       const std::string& axes) {
  if (!std::filesystem::is_regular_file(path)) return "";  // a pipe has been read by now
  const io::ImageInfo info = io::probe(path, {}, {.channels = {}, .axes = axes});
  const bool is_jpeg = info.format == io::Format::jpeg;
  if (!is_jpeg && io::traits(info.format).packed_form == nullptr) return "";
  const std::string name(io::name_of(info.format)), why = why_on_processor(path, info);
  std::string note = "--codec auto: where a GPU computes, ";
  note += why.empty() ? "it decodes this " + name : "the processor decodes this " + name + why;
  if (!plan.writes_image) return note;
  const ImageType& type = plan.values[plan.result].type;
  const std::string result = "a " + name + " of the result";
  const PixelClass cls = io::output_type(&info, type).cls;
  if (type.cls != (is_jpeg ? PixelClass::uint8 : cls)) {
    return note + "; " + result + " is encoded by the processor, since pixels are " +
           std::string(name_of(type.cls));
  }
  return note + "; it encodes " + result + ", too";
}

void check_writable(const std::filesystem::path& path, const Plan& plan, Size size,
                    const std::string& format, const std::string& axes) {
  if (!plan.writes_image || !std::filesystem::is_regular_file(path)) return;
  const io::ImageInfo info = io::probe(path, {}, {.channels = {}, .axes = axes});
  const ImageType& type = plan.values[plan.result].type;
  const io::OutputType output = io::output_type(&info, type, io::written_format(format));
  const bool named = output.format == io::Format::exr && info.format == io::Format::exr &&
                     type.channels == info.type.channels;
  io::check_encodable(type, size, named, output.format, output.cls, {});
}

std::string memory_note(const pipeline::Pipeline& pipeline, const Plan& lowered, const Plan& plan,
                        const std::vector<Size>& sizes) {
  const Program program = make_program(pipeline, lowered, plan);
  const ImageBytes bytes = image_bytes(program, sizes, 0);
  const double most = std::max({bytes.input, bytes.on_device + bytes.tables, 2 * bytes.result});
  const std::string whole = banding_of(program).why_not;
  return fmt::format("memory: at least {} as a whole; {}",
                     memory_text(static_cast<std::int64_t>(most)),
                     whole.empty() ? "TIFFs and JPEGs may be done some rows at a time" : whole);
}

Difference compare(const HostImage& a, const HostImage& b, const DifferenceOptions& options) {
  Difference out;
  if (!(a.size() == b.size())) {
    out.unlike = to_string(a.size()) + " and " + to_string(b.size());
  } else if (a.type.channels != b.type.channels || a.alpha.empty() != b.alpha.empty()) {
    out.unlike = channels_text(a) + ", and " + channels_text(b);
  }
  if (!out.unlike.empty()) {
    out.same = false;
    return out;
  }
  const int colours = a.type.channels;
  const Size size = a.size();
  out.pixels = size.pixels();
  std::int64_t samples = 0;
  double sum = 0, squares = 0;
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      bool fails = false;
      const auto look = [&](const Plane& pa, const Plane& pb, int channel) {
        const double va = value_at(pa, y, x) / scale_of(a, pa);
        const double vb = value_at(pb, y, x) / scale_of(b, pb);
        const double d = distance(va, vb);
        ++samples;
        sum += d;
        squares += d * d;
        if (d > out.max) {
          out.max = d;
          out.max_x = x;
          out.max_y = y;
          out.max_channel = channel;
        }
        fails = fails || d > options.fail;
      };
      for (int c = 0; c < colours; ++c) {
        look(a.planes[static_cast<std::size_t>(c)], b.planes[static_cast<std::size_t>(c)], c);
      }
      if (!a.alpha.empty()) look(a.alpha, b.alpha, colours);
      out.failing += fails ? 1 : 0;
    }
  }
  out.mean = samples == 0 ? 0 : sum / static_cast<double>(samples);
  out.rms = samples == 0 ? 0 : std::sqrt(squares / static_cast<double>(samples));
  const double percent =
      out.pixels == 0 ? 0
                      : 100.0 * static_cast<double>(out.failing) / static_cast<double>(out.pixels);
  out.same =
      percent <= options.fail_percent && (options.hard_fail < 0 || out.max <= options.hard_fail);
  return out;
}

HostImage decode_file(const std::filesystem::path& path, const std::string& axes) {
  io::check_axes(axes);
  try {
    io::Decoded decoded =
        io::decode(io::read_picture(opened(path)),
                   {.metadata = false, .reading = {.channels = {}, .axes = axes}});
    if (decoded.info.inexact->count > 0) io::fail(decoded.info.inexact->text());
    return std::move(decoded.image);
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what(), ExitCode::file_failed);
  }
}

}  // namespace impipe::engine
