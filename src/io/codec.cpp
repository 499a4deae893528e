// Pictures in memory: recognised, decoded and encoded by the rows of the table of formats.
#include "io/codec.hpp"

#include <algorithm>
#include <utility>

#include "io/colour/colour_maps.hpp"
#include "io/formats/camera/camera_raw.hpp"
#include "io/metadata/colours.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/convert.hpp"
#include "io/picture/numbers.hpp"
#include "io/picture/orient.hpp"
#include "io/picture/value_window.hpp"

namespace impipe::io {
namespace {

// The first bytes, printable, for "not an image (starts with '…')".
std::string shown(std::span<const std::byte> bytes) {
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else {
      constexpr const char* digits = "0123456789abcdef";
      out += {'\\', 'x', digits[c >> 4], digits[c & 15]};
    }
  }
  return out;
}

// What the header says by the row of its format. Errors say what is truncated.
ImageInfo read_header(const HeaderInput& input) {
  try {
    ImageInfo info = traits(input.format).header(input);
    info.format = input.format;
    return info;
  } catch (const Error& error) {
    const std::string_view what = error.what();
    if (!what.starts_with("truncated: ")) throw;
    fail("truncated ", name_of(input.format), what.substr(9));
  }
}

ImageInfo probe_as(const HeaderInput& input) {
  const Format format = input.format;
  const std::string name(name_of(format));
  ImageInfo info = read_header(input);
  if (!input.reading.channels.empty() && format != Format::exr) {
    fail("--channels names channels of an EXR, and this is ", name);
  }
  if (!input.reading.window.empty() && !takes_window(format)) {
    fail("--window is of DICOM and NIfTI, and this is ", name, "; mat2gray LOW,HIGH does that");
  }
  const int page = input.page.value_or(info.page);
  if (page >= info.pages || (page > 0 && !reads_pages(format))) fail("it has no page ", page + 1);
  info.page = page;
  if (info.stored.width <= 0 || info.stored.height <= 0) {
    fail(name, " without pixels (", to_string(info.stored), ")");
  }
  if (info.stored.width > max_side || info.stored.height > max_side) {
    fail("too large: a side of ", to_string(info.stored), " exceeds ", max_side, " pixels");
  }
  return info;
}

ImageInfo probe_source(HeaderInput input) {
  const std::string head = input.source.read_some(0, sniffed_bytes);
  const Format sniffed = sniff_or_fail(std::as_bytes(std::span(head)));
  const bool is_raw = sniffed == Format::tiff && is_camera_raw(input.source);
  input.format = is_raw ? Format::camera : sniffed;
  // A DICOM begins with 128 bytes that may be anything, also the beginning of another format, and
  // some are files of both.
  if (input.format == Format::dicom || !traits(Format::dicom).sniff(head)) return probe_as(input);
  try {
    return probe_as(input);
  } catch (const Error&) {
    input.format = Format::dicom;
    return probe_as(input);
  }
}

// The image with its alpha, which may have kept another class, in the class of the pixels.
HostImage with_alpha_of(HostImage image, PixelClass cls) {
  if (!image.type.alpha || image.alpha.cls() == cls) return image;
  HostImage alpha;
  alpha.type = type_of(image.alpha.cls(), 1, false);
  alpha.planes = {image.alpha};
  image.alpha = convert(alpha, cls).planes.front();
  return image;
}

// Whatever a header claims is compared with the limits and with the file before memory is taken.
void check_claims(const ImageInfo& info, std::int64_t file_bytes, std::int64_t max_pixels,
                  bool any_page) {
  const bool one = info.pages == 1 || info.pictures.size() == 1;
  if (!one && (!any_page || !reads_pages(info.format))) {
    const std::string count = "it has " + std::to_string(info.pages);
    if (reads_pages(info.format)) fail(count, " pages, and one is wanted here");
    fail(count, " pictures, and a ", name_of(info.format), " of one is read");
  }
  const bool tile_counts = info.tile.pixels() > info.stored.pixels();
  const Size size = tile_counts ? info.tile : info.stored;
  const std::string what = (tile_counts ? "a tile of " : "") + to_string(size);
  if (size.pixels() > max_pixels) {
    fail("too many pixels: ", what, " is more than the limit of ", max_pixels, " (--max-pixels)");
  }
  // They may take what the four channels of the largest picture take.
  if (static_cast<double>(info.carried) * static_cast<double>(size.pixels()) >
      4.0 * static_cast<double>(max_pixels)) {
    fail("too many pixels: ", info.carried, " further channels of ", what,
         " are more than 4 times the limit of ", max_pixels, " (--max-pixels)");
  }
  if (file_bytes < info.min_bytes) {
    fail("truncated ", name_of(info.format), ": ", what, " needs at least ", info.min_bytes,
         " bytes", info.min_why.empty() ? "" : " (" + info.min_why + ")", ", and the file has ",
         file_bytes);
  }
}

// What probe says, and less of it said twice where the pages before have been read.
ImageInfo probe_page(std::span<const std::byte> bytes, const DecodeOptions& options) {
  OpenPages* pages = options.open_pages;
  if (pages == nullptr || !options.page) return probe(bytes, options.page, options.reading);
  if (pages->frame && *options.page < pages->frame->pages) {
    pages->frame->page = *options.page;
    return *pages->frame;
  }
  const ByteSource source(bytes);
  ImageInfo info = probe_source({{}, source, bytes, options.page, options.reading, &pages->tiff});
  info.tiff_pages = pages->tiff;
  const FormatTraits& format = traits(info.format);
  // Parts of an EXR differ, and frames of a Y4M are found by counting.
  if (format.pages == Pages::like_frames || format.pages == Pages::alike) pages->frame = info;
  return info;
}

// The plan was made for what the header said.
void check_decoded(const Decoded& out) {
  const Size wanted = shrunk(out.info.stored, out.info.shrink);
  if (out.image.type == out.info.type && out.image.size() == wanted) return;
  fail("damaged ", name_of(out.info.format), ": its header says ", to_string(out.info.stored), ", ",
       to_string(out.info.type), ", its pixels are ", to_string(out.image.size()), ", ",
       to_string(out.image.type));
}

// Integer planes go to .npy as they are; elsewhere an integer file promises a white.
bool is_raw(const ImageType& type, Format format, PixelClass cls) {
  return traits(format).can[Can::numbers] && cls == type.cls;
}
bool is_counted(const ImageType& type, Format format, PixelClass cls) {
  return type.white == 0 && cls != PixelClass::single && !is_raw(type, format, cls);
}

[[maybe_unused]] const bool maps_colours = [] {
  make_colour_map = colour_map;
  make_space_maps = space_maps;
  find_space_files = space_files;
  return true;
}();

}  // namespace

HostImage ready_for(const HostImage& image, Format format, PixelClass cls, Encoded& out) {
  HostImage ready = is_raw(image.type, format, cls) ? with_alpha_of(image, cls)
                                                    : convert(image, cls, &out.clipped);
  if (is_counted(image.type, format, cls)) {
    if (out.clipped > 0) {
      fail(out.clipped,
           " values of an image without white (distances, labels, other "
           "numbers) do not fit ",
           name_of(cls), "; add `mat2gray`, or write .npy, .tif or .pfm");
    }
    ready.type.white = class_max(cls);  // that of the file
  }
  if (ready.type.alpha && !traits(format).can[Can::alpha]) {
    ready.type.alpha = false;
    ready.alpha = Plane();
    out.alpha_dropped = true;
    out.lost.emplace_back("alpha");
  }
  // No format has 1-bit pixels beside an alpha or of several channels.
  if ((ready.type.alpha || image.type.channels > 1) && cls == PixelClass::logical &&
      !traits(format).can[Can::numbers]) {
    ready = convert(ready, PixelClass::uint8);
  }
  return ready;
}

Format sniff_or_fail(std::span<const std::byte> head) {
  if (head.empty()) fail("empty file");
  const auto format = sniff(head);
  if (!format) fail("not an image (starts with '", shown(head), "')");
  return *format;
}

ImageInfo probe(std::span<const std::byte> bytes, std::optional<int> page, const Reading& reading) {
  return probe_source({{}, ByteSource(bytes), bytes, page, reading});
}

ImageInfo probe(const ByteSource& source, std::optional<int> page, const Reading& reading) {
  return probe_source({{}, source, {}, page, reading});
}

Decoded decode(std::span<const std::byte> bytes, const DecodeOptions& options) {
  Decoded out;
  out.info = probe_page(bytes, options);
  check_claims(out.info, static_cast<std::int64_t>(bytes.size()), options.max_pixels,
               options.page.has_value());
  out.info.inexact = std::make_shared<Inexact>();
  const FormatTraits& format = traits(out.info.format);
  out.image = format.decode({bytes, options}, out);
  if (!out.coded && !out.packed) {
    check_decoded(out);
    out.image = orient(std::move(out.image), out.info.orientation);
  }
  const bool reads_metadata = options.metadata || options.profile;
  if (reads_metadata && !format.read_metadata.is(no_metadata)) {
    MetadataRead read = from_module(
        [&] { return read_metadata(bytes, out.info, options.pages_together, options.axes); });
    if (options.profile) out.image.type.profile = profile_of(read.metadata);
    if (options.metadata) {
      out.metadata = std::move(read.metadata);
      out.lost = std::move(read.lost);
    }
  }
  out.metadata.samples = out.info.samples;
  out.metadata.tiff = out.info.tiff;
  return out;
}

MetadataRead read_metadata(std::span<const std::byte> file, const ImageInfo& info,
                           std::span<const int> pages_together, std::span<const PageAxis> axes) {
  const FormatTraits& format = traits(info.format);
  MetadataRead out = format.read_metadata({file, info, pages_together, axes});
  if (info.orientation >= 5 && out.metadata.resolution) {
    std::swap(out.metadata.resolution->x, out.metadata.resolution->y);
  }
  out.metadata.measured = info.measured;
  if (const auto scene = resolution_of(info.measured)) {
    const bool turned = info.orientation >= 5;
    out.metadata.resolution =
        turned ? Resolution{.x = scene->y, .y = scene->x, .unit = scene->unit} : *scene;
  }
  if (format.has_frames() && info.pages > 1) out.lost.emplace_back("the times of its frames");
  return out;
}

void check_encodable(const ImageType& type, Size size, bool named, Format format, PixelClass cls,
                     const EncodeOptions& options) {
  const std::string name(name_of(format));
  if (nearest_class(format, cls) != cls) fail(name, " cannot hold ", name_of(cls), " pixels");
  if (options.lossless && traits(format).lossy) {
    fail(name, " is always written with loss; --lossless needs another");
  }
  if (options.compression == Compression::g4 &&
      (format != Format::tiff || cls != PixelClass::logical || type.channels != 1 || type.alpha)) {
    fail("--compression g4 writes logical images of one channel as .tif, and this is ",
         name_of(cls),
         type.channels == 1 ? "" : " of " + std::to_string(type.channels) + " channels",
         type.alpha ? " with alpha" : "", " as ", name);
  }
  if (type.channels != 1 && type.channels != 3 && !traits(format).can[Can::any_channels] &&
      !named) {
    fail(name, " cannot hold ", type.channels, " channels; write .tif or .npy");
  }
  const std::int64_t longest = traits(format).longest_side;
  if (longest > 0 && std::max(size.width, size.height) > longest) {
    fail(name, " cannot hold ", to_string(size), " (at most ", longest, " pixels a side)");
  }
  const bool whole = cls == PixelClass::uint8 || cls == PixelClass::uint16;
  // Numbers of an integer class are asked for by an operator: class=uint8.
  const bool asked = options.asked || type.cls == cls;
  if (is_counted(type, format, cls) && !(whole && asked)) {
    fail("cannot write ", name, " of class ", name_of(cls),
         ": an image of distances, labels or spectra has no white; add `mat2gray`, give -d uint16 "
         "if its values "
         "fit, or write .npy, .tif or .pfm");
  }
  if (format == Format::exr && options.exr_floats == ExrFloats::half && type.white == 0) {
    fail("cannot write 16-bit floats: a distance or label image needs more bits; give -d single");
  }
}

Encoded encode(const HostImage& image, const Metadata& metadata, Format format, PixelClass cls,
               const EncodeOptions& options) {
  const bool named = format == Format::exr && metadata.exr &&
                     metadata.exr->named.size() == static_cast<size_t>(image.type.channels);
  check_encodable(image.type, image.size(), named, format, cls, options);
  Encoded out;
  HostImage ready = ready_for(image, format, cls, out);
  out.bytes = traits(format).encode(ready, {image, metadata, format, cls, options}, out);
  name_lost_bits({format, cls}, options, out.lost);
  finish_encoded(out, format, metadata, {ready.size(), ready});
  return out;
}

void name_lost_bits(const OutputType& written, const EncodeOptions& options,
                    std::vector<std::string>& lost) {
  if (!options.asked || written.cls >= *options.asked) return;
  lost.push_back(message("the bits of -d ", name_of(*options.asked), " (", name_of(written.format),
                         " holds ", name_of(written.cls), ")"));
}

void name_lost_storage(Format format, const Metadata& metadata, std::vector<std::string>& lost) {
  for (const FormatTraits& other : all_formats()) {
    if (other.format != format && other.name_storage != nullptr) {
      other.name_storage(metadata, lost);
    }
  }
  if (format != Format::zarr && format != Format::tiff && format != Format::fits) {
    // Arrays with one axis of pages are read as planes along z; an NPY of an NPY is as that was.
    const bool is_plain = metadata.pages.size() == 1 && metadata.pages.front().letter == 'z';
    const bool is_known = format == Format::npy && (is_plain || metadata.npy);
    name_axes(is_known ? std::vector<PageAxis>() : metadata.pages, metadata.measured, lost);
  }
}

void finish_encoded(Encoded& out, Format format, const Metadata& metadata,
                    const PictureOfFile& picture) {
  name_lost_storage(format, metadata, out.lost);
  out.bytes = with_metadata(std::move(out.bytes), format, metadata, picture, out.lost);
}

Bytes with_metadata(Bytes file, Format format, const Metadata& metadata,
                    const PictureOfFile& picture, std::vector<std::string>& lost) {
  const bool has_axes = format == Format::tiff && (metadata.wants_ome || !metadata.pages.empty() ||
                                                   !metadata.measured.empty());
  if (metadata.empty() && metadata.pieces.empty() && !has_axes) return file;
  return from_module(
      [&] { return traits(format).with_metadata(std::move(file), metadata, picture, lost); });
}

OutputType output_type(const ImageInfo* input, const ImageType& result,
                       std::optional<Format> wanted, std::optional<PixelClass> wanted_class) {
  // What is read alone goes to PNG.
  if (input != nullptr && !wanted && !traits(input->format).writes()) wanted = Format::png;
  PixelClass cls = result.cls;
  if (wanted_class) {
    cls = *wanted_class;
  } else if (result.cls == PixelClass::single && result.white != 0) {
    // The depth of the input; a threshold's 1-bit input would throw a filter's result away.
    cls = input == nullptr ? PixelClass::uint8 : input->type.cls;
    if (cls == PixelClass::logical) cls = PixelClass::uint8;
    const bool as_input = !wanted && input != nullptr;
    // Arrays of numbers.
    const std::optional<Format> written = as_input ? input->format : wanted;
    if (written == Format::npy || written == Format::fits) cls = PixelClass::single;
  }
  Format format = Format::png;
  if (wanted) {
    format = *wanted;
  } else if (input != nullptr) {
    // Loss would spoil a mask: its values would no longer be two. EXR is then written without.
    const bool spoils = input->lossy && input->format != Format::exr;
    format = cls == PixelClass::logical && spoils ? Format::png : input->format;
  }
  // PNM and PFM are one family: a float result of a PFM stays float, an integer one becomes PGM.
  return {format, nearest_class(format, cls), cls};
}

}  // namespace impipe::io
