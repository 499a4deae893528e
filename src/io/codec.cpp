// Pictures as files: reads, recognises, decodes and encodes them, by the built-in formats or the
// codec module.
#include "io/codec.hpp"
#include "core/kept_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <thread>

#include "io/boxes.hpp"
#include "io/camera_raw.hpp"
#include "io/dpx.hpp"
#include "io/encodable.hpp"
#include "io/exr_layout.hpp"
#include "io/exr_parts.hpp"
#include "io/file_metadata.hpp"
#include "io/frame_reader.hpp"
#include "io/headers.hpp"
#include "io/jpeg_scan.hpp"
#include "io/module.hpp"
#include "io/module/wide_samples.hpp"
#include "io/module_call.hpp"
#include "io/numbers.hpp"
#include "io/orient.hpp"
#include "io/read_picture.hpp"
#include "io/tiff_blocks.hpp"
#include "io/tiff_header.hpp"
#include "io/y4m.hpp"

namespace impipe::io {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ >= 0) return;
    const int error = errno;
    if (error == ENOENT) fail("no such file");
    if (error == EACCES) fail("permission denied");
    throw system_error(error);
  }
  ~OpenFile() { close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

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

// A DICOM file begins with 128 bytes that may be anything, also the beginning of a TIFF.
bool is_dicom(std::string_view head) { return head.size() >= 132 && head.substr(128, 4) == "DICM"; }
[[noreturn]] void fail_dicom() { fail("DICOM is not read; dcmj2pnm of DCMTK writes it as TIFF"); }

Format sniff_or_fail(std::span<const std::byte> head) {
  if (head.empty()) fail("empty file");
  const auto format = sniff(head);
  if (!format && is_dicom({reinterpret_cast<const char*>(head.data()), head.size()})) fail_dicom();
  if (!format) fail("not an image (starts with '" + shown(head) + "')");
  return *format;
}

// Reads until `out` is full or the file ends; returns the number of bytes.
size_t read_fully(int file, std::byte* out, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = read(file, out + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EISDIR) fail("is a directory");
    if (got < 0) throw system_error(errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Bytes read_regular(int file, size_t size) {
  std::byte head[sniffed_bytes];
  const size_t head_bytes = read_fully(file, head, sizeof head);
  sniff_or_fail({head, head_bytes});
  Bytes bytes = kept_bytes(std::max(size, head_bytes));
  std::copy_n(head, head_bytes, bytes.data());
  const size_t rest = read_fully(file, bytes.data() + head_bytes, bytes.size() - head_bytes);
  bytes.resize(head_bytes + rest);
  return bytes;
}

Bytes read_irregular(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) throw system_error(errno);
  if (S_ISDIR(status.st_mode)) fail("is a directory");
  PipeBudget no_limit = std::numeric_limits<std::int64_t>::max();
  return read_picture(file, no_limit);
}

// Of formats whose headers only their libraries read. memory: the file, where it is there already.
ImageInfo probe_by_module(const ByteSource& source, std::span<const std::byte> memory,
                          Format format, int page) {
  std::string file;
  if (memory.empty()) {
    file = source.read(0, source.size());
    memory = std::as_bytes(std::span(file));
  }
  const CodecModule& module = codec_module(format);
  ImageInfo info = from_module([&] { return module.probe(memory, page); });
  info.format = format;
  if (format == Format::jp2) info.orientation = jp2_orientation(source);
  if (format == Format::jxl && big_at(source.read_some(0, 4), 0, 4) == 12) {
    visit_boxes(source, 0, source.size(), [&](const Box& box) {
      if (box.kind == "brob") info.metadata_bytes = max_metadata;
    });
  }
  return info;
}

// What is known of the pages is used, and kept where it is null.
ImageInfo tiff_info(const ByteSource& source, int page, std::shared_ptr<const TiffPages>* known) {
  std::shared_ptr<const TiffPages> pages = known == nullptr ? nullptr : *known;
  if (!pages) pages = std::make_shared<const TiffPages>(find_tiff_pages(source));
  if (known != nullptr && pages->count > 1) *known = pages;
  return tiff_header(read_tiff(source, page, pages.get()));
}

ImageInfo probe_source(const ByteSource& source, std::optional<int> wanted, const Reading& reading,
                       std::span<const std::byte> memory = {},
                       std::shared_ptr<const TiffPages>* tiff_pages = nullptr) {
  int page = wanted.value_or(0);
  const std::string head = source.read_some(0, sniffed_bytes);
  ImageInfo info;
  const Format sniffed = sniff_or_fail(std::as_bytes(std::span(head)));
  const bool is_raw = sniffed == Format::tiff && is_camera_raw(source);
  const Format format = is_raw ? Format::camera : sniffed;
  try {
    switch (format) {
      case Format::png: info = png_header(source); break;
      case Format::jpeg: info = jpeg_header(source); break;
      case Format::tiff: info = tiff_info(source, page, tiff_pages); break;
      case Format::bmp: info = bmp_header(source); break;
      case Format::webp: info = webp_header(source); break;
      case Format::exr: info = exr_layout(source, wanted, reading.channels).info; break;
      case Format::pnm:
      case Format::pam:
      case Format::pfm: info = pnm_header(source).info; break;
      case Format::npy: info = npy_header(source, reading.axes).info; break;
      case Format::gif: info = gif_header(source); break;
      case Format::qoi: info = qoi_header(source); break;
      case Format::y4m: info = y4m_info(source); break;
      case Format::dpx: info = dpx_header(source).info; break;
      case Format::raw: break;  // has no signature
      case Format::tga: info = tga_header(source).info; break;
      case Format::hdr: info = hdr_header(source).info; break;
      case Format::jxl:
      case Format::avif:
      case Format::heif:
      case Format::fits:
      case Format::camera:
      case Format::jp2:
        if (sniffed == Format::tiff) check_dng(source);
        info = probe_by_module(source, memory, format, page);
    }
  } catch (const Error& error) {
    if (is_dicom(head)) fail_dicom();
    const std::string_view what = error.what();
    if (!what.starts_with("truncated: ")) throw;
    fail("truncated " + std::string(name_of(format)) + std::string(what.substr(9)));
  }
  if (!reading.channels.empty() && format != Format::exr) {
    fail("--channels names channels of an EXR, and this is " + std::string(name_of(format)));
  }
  if (format == Format::exr) page = info.page;
  if (page >= info.pages || (page > 0 && !reads_pages(format))) {
    fail("it has no page " + std::to_string(page + 1));
  }
  info.page = page;
  if (info.stored.width <= 0 || info.stored.height <= 0) {
    if (is_dicom(head)) fail_dicom();
    fail(std::string(name_of(format)) + " without pixels (" + to_string(info.stored) + ")");
  }
  if (info.stored.width > max_side || info.stored.height > max_side) {
    fail("too large: a side of " + to_string(info.stored) + " exceeds " + std::to_string(max_side) +
         " pixels");
  }
  return info;
}

// The image with its alpha, which may have kept another class, in the class of the pixels.
HostImage with_alpha_of(HostImage image, PixelClass cls) {
  if (!image.type.alpha || image.alpha.cls() == cls) return image;
  HostImage alpha;
  alpha.type = {.cls = image.alpha.cls(),
                .channels = 1,
                .alpha = false,
                .white = class_max(image.alpha.cls())};
  alpha.planes = {image.alpha};
  image.alpha = convert(alpha, cls).planes.front();
  return image;
}

HostImage make_image(const ImageType& type, Size size) { return HostImage(type, size); }

// Whatever a header claims is compared with the limits and with the file before memory is taken.
void check_claims(const ImageInfo& info, std::int64_t file_bytes, std::int64_t max_pixels,
                  bool any_page) {
  const bool one = info.pages == 1 || info.pictures.size() == 1;
  if (!one && (!any_page || !reads_pages(info.format))) {
    const std::string count = "it has " + std::to_string(info.pages);
    if (reads_pages(info.format)) fail(count + " pages, and one is wanted here");
    fail(count + " pictures, and a " + std::string(name_of(info.format)) + " of one is read");
  }
  const bool tile_counts = info.tile.pixels() > info.stored.pixels();
  const Size size = tile_counts ? info.tile : info.stored;
  const std::string what = (tile_counts ? "a tile of " : "") + to_string(size);
  if (size.pixels() > max_pixels) {
    fail("too many pixels: " + what + " is more than the limit of " + std::to_string(max_pixels) +
         " (--max-pixels)");
  }
  // They may take what the four channels of the largest picture take.
  if (static_cast<double>(info.carried) * static_cast<double>(size.pixels()) >
      4.0 * static_cast<double>(max_pixels)) {
    fail("too many pixels: " + std::to_string(info.carried) + " further channels of " + what +
         " are more than 4 times the limit of " + std::to_string(max_pixels) + " (--max-pixels)");
  }
  if (file_bytes < info.min_bytes) {
    fail("truncated " + std::string(name_of(info.format)) + ": " + what + " needs at least " +
         std::to_string(info.min_bytes) + " bytes" +
         (info.min_why.empty() ? "" : " (" + info.min_why + ")") + ", and the file has " +
         std::to_string(file_bytes));
  }
}

// The picture of out.info, from an EXR that may have other parts.
void decode_exr(std::span<const std::byte> file, bool with_attributes, Decoded& out) {
  std::shared_ptr<const Bytes> part;
  if (out.info.pages > 1) part = std::make_shared<const Bytes>(exr_part(file, out.info.page));
  const std::span<const std::byte> bytes = part ? std::span<const std::byte>(*part) : file;
  const CodecModule& module = codec_module(Format::exr);
  out.image = from_module([&] { return module.decode(bytes, out.info, make_image); });
  ExrStorage storage = exr_layout(ByteSource(bytes), 0, out.info.named).storage;
  if (!with_attributes) storage.attributes.clear();
  MetadataRead read;
  std::erase_if(storage.attributes, [&](const ExrAttribute& attribute) {
    return !read.takes(attribute.value.size(), "EXR attribute '" + attribute.name + "'");
  });
  out.lost.insert(out.lost.end(), read.lost.begin(), read.lost.end());
  if (!storage.carried.empty()) {
    storage.carried.file = part ? part : std::make_shared<const Bytes>(file.begin(), file.end());
  }
  if (out.image.type.alpha) storage.glows = unassociate_alpha(out.image);
  out.metadata.exr = std::move(storage);
}

// Whether a device may decode the JPEG, which `out` has then. It would not turn it.
bool keep_coded(std::span<const std::byte> file, Decoded& out) {
  if (out.info.orientation != 1) return false;
  std::optional<CodedJpeg> coded = scan_jpeg(file);
  if (!coded || coded->form.size != out.info.stored) return false;
  if (coded->form.components != out.info.type.channels) return false;
  const auto keep = [](CodedJpeg* jpeg) {
    keep_bytes(std::move(jpeg->bytes));
    delete jpeg;
  };
  out.coded = std::shared_ptr<const CodedJpeg>(new CodedJpeg(std::move(*coded)), keep);
  return true;
}

// Codes of 16 bits that fewer do not hold.
void name_lost_bits(const HostImage& image, Format format, const EncodeOptions& options, int bits,
                    std::vector<std::string>& lost) {
  const auto changes = [&](std::uint16_t value) {
    std::uint16_t again[] = {narrowed(value, bits)};
    widen(again, bits);
    return again[0] != value;
  };
  const auto loses = [&](const Plane& plane) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      const auto* row = plane.row_as<std::uint16_t>(y);
      if (std::any_of(row, row + image.size().width, changes)) return true;
    }
    return false;
  };
  bool any = image.type.alpha && loses(image.alpha);
  any = any || std::any_of(image.planes.begin(), image.planes.end(), loses);
  if (!any) return;
  const std::string kept = std::to_string(bits);
  if (options.lossless) {
    fail(std::string(name_of(format)) + " of " + kept +
         " bits cannot hold these 16-bit pixels without loss");
  }
  lost.push_back("the lowest " + std::to_string(16 - bits) + " of 16 bits");
}

}  // namespace

SampleType wanted_samples(const ImageType& stored, const Metadata& metadata, Format format,
                          const EncodeOptions& options) {
  const bool holds_types = format == Format::tiff || format == Format::npy;
  if (!holds_types || options.as_asked || stored.cls != PixelClass::single) {
    return SampleType::of_class;
  }
  // What has a white is a picture that was made of whole numbers.
  const bool is_picture = metadata.samples != SampleType::float64 && stored.white != 0;
  return is_picture ? SampleType::of_class : metadata.samples;
}

JpegStorage jpeg_storage_for(const Metadata& metadata, const EncodeOptions& options) {
  JpegStorage storage = metadata.jpeg.value_or(JpegStorage{});
  if (options.subsampling) {
    storage.across = (*options.subsampling)[0];
    storage.down = (*options.subsampling)[1];
  }
  return storage;
}

Bytes read_picture(const std::filesystem::path& path) {
  FileStamp stamp;
  return read_picture(path, stamp);
}

Bytes read_picture(const std::filesystem::path& path, FileStamp& stamp) {
  return read_unchanged(path, stamp, read_regular);
}

Bytes read_unchanged(const std::filesystem::path& path, FileStamp& stamp, const ReadFile& read) {
  constexpr int max_reads = 5;
  for (int reads = 1;; ++reads) {
    // Opened each time: another file may have taken the name.
    const OpenFile file(path);
    stamp = stamp_before_reading(file.get());
    if (stamp == FileStamp{}) return read_irregular(file.get());
    const auto is_changed = [&] { return stamp_of(file.get()) != stamp; };
    try {
      Bytes bytes = read(file.get(), static_cast<size_t>(stamp.size));
      if (!is_changed()) return bytes;
    } catch (const Error&) {
      if (!is_changed()) throw;
    }
    if (reads == max_reads) {
      throw Error(
          "it was written to while it was read, " + std::to_string(max_reads) + " times in a row",
          ExitCode::file_failed, true);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 << reads));
  }
}

Bytes read_picture(int file_descriptor, PipeBudget& budget, std::shared_ptr<FrameReader>* frames) {
  Bytes bytes(1 << 16);
  size_t done = read_fully(file_descriptor, bytes.data(), sniffed_bytes);
  if (sniff_or_fail({bytes.data(), done}) == Format::y4m && frames != nullptr) {
    std::string head(reinterpret_cast<const char*>(bytes.data()), done);
    *frames = std::make_shared<FrameReader>(file_descriptor, std::move(head));
    return {};
  }
  budget -= static_cast<std::int64_t>(done);
  for (;;) {
    const size_t got = read_fully(file_descriptor, bytes.data() + done, bytes.size() - done);
    if (got == 0) break;
    done += got;
    if (budget.fetch_sub(static_cast<std::int64_t>(got)) < static_cast<std::int64_t>(got)) {
      fail("a pipe gave more than fits into the memory for pictures (--memory)");
    }
    if (done == bytes.size()) bytes.resize(2 * bytes.size());
  }
  bytes.resize(done);
  return bytes;
}

bool is_picture(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  std::byte head[sniffed_bytes];
  const ssize_t got = read(file, head, sizeof head);
  close(file);
  return got > 0 && sniff({head, static_cast<size_t>(got)}).has_value();
}

ImageInfo probe(std::span<const std::byte> bytes, std::optional<int> page, const Reading& reading) {
  return probe_source(ByteSource(bytes), page, reading, bytes);
}

ImageInfo probe(const std::filesystem::path& path, std::optional<int> page,
                const Reading& reading) {
  const OpenFile file(path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) throw system_error(errno);
  if (S_ISREG(status.st_mode)) {
    return probe_source(ByteSource(file.get(), status.st_size), page, reading);
  }
  Bytes content;
  PipeBudget no_limit = std::numeric_limits<std::int64_t>::max();
  return probe(path, content, no_limit, reading);
}

ImageInfo probe(const std::filesystem::path& path, Bytes& content, PipeBudget& budget,
                const Reading& reading, std::shared_ptr<FrameReader>* frames) {
  const OpenFile file(path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) throw system_error(errno);
  if (S_ISDIR(status.st_mode)) fail("is a directory");
  if (!S_ISREG(status.st_mode)) {
    content = read_picture(file.get(), budget, frames);
    if (frames != nullptr && *frames) return info_of((*frames)->header());
    return probe(content, {}, reading);
  }
  return probe_source(ByteSource(file.get(), status.st_size), {}, reading);
}

namespace {

HostImage decode_by(const CodecModule& module, std::span<const std::byte> bytes,
                    const ImageInfo& info, OpenPages* pages) {
  if (pages == nullptr || info.pages == 1) return module.decode(bytes, info, make_image);
  if (!pages->decoder) pages->decoder = module.open_pages(bytes, info, make_image);
  if (!pages->decoder) return module.decode(bytes, info, make_image);
  try {
    return pages->decoder->decode(info);
  } catch (...) {
    pages->decoder.reset();
    throw;
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
  ImageInfo info =
      probe_source(ByteSource(bytes), options.page, options.reading, bytes, &pages->tiff);
  info.tiff_pages = pages->tiff;
  const bool alike = info.format == Format::gif || info.format == Format::webp ||
                     info.format == Format::jxl || info.format == Format::avif;
  if (alike) pages->frame = info;
  return info;
}

}  // namespace

Decoded decode(std::span<const std::byte> bytes, const DecodeOptions& options) {
  Decoded out;
  out.info = probe_page(bytes, options);
  check_claims(out.info, static_cast<std::int64_t>(bytes.size()), options.max_pixels,
               options.page.has_value());
  out.info.inexact = std::make_shared<Inexact>();
  const Format format = out.info.format;
  if (format == Format::npy) {
    const NpyHeader header = npy_header(ByteSource(bytes), options.reading.axes);
    out.image = decode_npy(bytes, out.info, options.reading.axes);
    out.metadata.npy = std::make_shared<const NpyAxes>(header.axes);
  } else if (format == Format::pnm || format == Format::pam || format == Format::pfm) {
    out.image = decode_pnm(bytes);
  } else if (format == Format::bmp) {
    out.image = decode_bmp(bytes);
  } else if (format == Format::qoi) {
    out.image = decode_qoi(bytes);
  } else if (format == Format::tga) {
    out.image = decode_tga(bytes);
  } else if (format == Format::hdr) {
    out.image = decode_hdr(bytes);
  } else if (format == Format::dpx) {
    out.image = decode_dpx(bytes);
    if (options.metadata) out.metadata.dpx = dpx_storage(bytes, out.lost);
  } else if (format == Format::y4m) {
    DecodedFrame frame = decode_y4m(bytes, options.page.value_or(0), options.matrix);
    out.image = std::move(frame.image);
    out.metadata.y4m = std::make_shared<const Y4mStorage>(std::move(frame.storage));
  } else if (format == Format::exr) {
    decode_exr(bytes, options.metadata, out);
  } else if (format == Format::jpeg && options.keep_coded && keep_coded(bytes, out)) {
    out.image.type = out.info.type;
  } else {
    if (format == Format::jpeg && options.shrink) out.info.shrink = options.shrink(out.info);
    out.image = out.info.blocks ? decode_blocks(bytes, out.info) : from_module([&] {
      return decode_by(codec_module(format), bytes, out.info, options.open_pages);
    });
    // The plan was made for what the header said.
    const Size wanted = shrunk(out.info.stored, out.info.shrink);
    if (!(out.image.type == out.info.type && out.image.size() == wanted)) {
      fail("damaged " + std::string(name_of(format)) + ": its header says " +
           to_string(out.info.stored) + ", " + to_string(out.info.type) + ", its pixels are " +
           to_string(out.image.size()) + ", " + to_string(out.image.type));
    }
    out.image = orient(std::move(out.image), out.info.orientation);
  }
  if (options.metadata && format != Format::exr && format != Format::y4m && format != Format::dpx) {
    MetadataRead read =
        from_module([&] { return read_metadata(bytes, out.info, options.pages_together); });
    read.metadata.npy = std::move(out.metadata.npy);
    out.metadata = std::move(read.metadata);
    out.lost = std::move(read.lost);
  }
  out.metadata.samples = out.info.samples;
  return out;
}

namespace {

// The type of the result's samples, where its class has none of its own.
SampleType samples_for(const HostImage& ready, const Metadata& metadata, Format format,
                       const EncodeOptions& options, Encoded& out) {
  const SampleType wanted = wanted_samples(ready.type, metadata, format, options);
  if (wanted == SampleType::of_class || holds(wanted, ready)) return wanted;
  out.widened = wanted;
  return SampleType::of_class;
}

// Integer planes go to .npy as they are; elsewhere an integer file promises a white.
bool is_raw(const ImageType& type, Format format, PixelClass cls) {
  return format == Format::npy && cls == type.cls;
}
bool is_counted(const ImageType& type, Format format, PixelClass cls) {
  return type.white == 0 && cls != PixelClass::single && !is_raw(type, format, cls);
}

// The longest side that the format has numbers for; 0 where that is no limit.
std::int64_t longest_side(Format format) {
  switch (format) {
    case Format::jpeg: return 65500;  // libjpeg's
    case Format::webp: return 16383;
    case Format::tga: return 65535;
    default: return 0;
  }
}

// The image as the format has it; what it clips and drops is in `out`.
HostImage ready_for(const HostImage& image, Format format, PixelClass cls, Encoded& out) {
  HostImage ready = is_raw(image.type, format, cls) ? with_alpha_of(image, cls)
                                                    : convert(image, cls, &out.clipped);
  if (is_counted(image.type, format, cls)) {
    if (out.clipped > 0) {
      fail(std::to_string(out.clipped) +
           " values of an image without white (distances, labels, other "
           "numbers) do not fit " +
           std::string(name_of(cls)) + "; add `mat2gray`, or write .npy, .tif or .pfm");
    }
    ready.type.white = class_max(cls);  // that of the file
  }
  if (ready.type.alpha && !traits(format).alpha) {
    ready.type.alpha = false;
    ready.alpha = Plane();
    out.alpha_dropped = true;
    out.lost.emplace_back("alpha");
  }
  // No format has 1-bit pixels beside an alpha or of several channels.
  if ((ready.type.alpha || image.type.channels > 1) && cls == PixelClass::logical &&
      format != Format::npy) {
    ready = convert(ready, PixelClass::uint8);
  }
  return ready;
}

// What the header of an EXR has that the file does not hold.
struct ExrLosses {
  std::string attributes;
  bool place = false;
};

Bytes encoded_exr(const HostImage& image, HostImage& ready, const Metadata& metadata,
                  const EncodeOptions& options, ExrLosses& losses, Encoded& out) {
  const std::optional<ExrStorage>& exr = metadata.exr;
  if (ready.type.alpha) ready = associate_alpha(ready, exr && exr->glows);
  if (options.exr_floats == ExrFloats::half) {
    clip_to_half(ready, out.clipped);
  }
  EncodeOptions stored = options;
  stored.exr = exr_storage_for(ready, image.type.cls, exr, metadata.change, options.exr_floats);
  const bool was_whole =
      exr && exr->type == ExrType::whole && options.exr_floats == ExrFloats::as_input;
  if (was_whole && stored.exr.type != ExrType::whole) out.widened = SampleType::uint32;
  losses.place = losses.place && !has_place(stored.exr) && !windows_follow(*exr, metadata.change);
  if (exr) losses.attributes = attributes_lost(*exr, stored.exr);
  const CodecModule& module = codec_module(Format::exr);
  return from_module([&] { return module.encode(ready, Format::exr, stored); });
}

Bytes encoded_by_module(const HostImage& ready, const Metadata& metadata, Format format,
                        PixelClass cls, const EncodeOptions& options, Encoded& out) {
  const CodecModule& module = codec_module(format);
  EncodeOptions stored = options;
  stored.jpeg = jpeg_storage_for(metadata, options);
  stored.samples = samples_for(ready, metadata, format, options, out);
  stored.big_endian_tiff =
      metadata.exif.empty() ? metadata.big_endian : text_of(metadata.exif).starts_with("MM");
  if ((format == Format::avif || format == Format::heif) && cls == PixelClass::uint16) {
    stored.avif_bits = metadata.avif_bits == 10 ? 10 : 12;
    name_lost_bits(ready, format, options, stored.avif_bits, out.lost);
  }
  if (module_reads_header(format)) {
    stored.metadata = metadata_of_module(metadata, format, ready, out.lost);
  }
  Bytes bytes = from_module([&] { return module.encode(ready, format, stored); });
  return format == Format::jp2 ? with_jp2_metadata(bytes, stored.metadata, out.lost) : bytes;
}

void name_parts_lost(const std::optional<ExrStorage>& exr, Format format, Encoded& out) {
  if (format == Format::exr || !exr) return;
  if (!exr->carried.empty()) out.lost.push_back("channels (" + names_of(exr->carried) + ")");
  if (!exr->other_parts.empty()) out.lost.push_back("parts (" + names_of_parts(*exr) + ")");
}

}  // namespace

void check_encodable(const ImageType& type, Size size, bool named, Format format, PixelClass cls,
                     const EncodeOptions& options) {
  const std::string name(name_of(format));
  if (nearest_class(format, cls) != cls) {
    fail(name + " cannot hold " + std::string(name_of(cls)) + " pixels");
  }
  if (options.lossless && traits(format).lossy) {
    fail(name + " is always written with loss; --lossless needs another");
  }
  if (type.channels != 1 && type.channels != 3 && !traits(format).any_channels && !named) {
    fail(name + " cannot hold " + std::to_string(type.channels) + " channels; write .tif or .npy");
  }
  const std::int64_t longest = longest_side(format);
  if (longest > 0 && std::max(size.width, size.height) > longest) {
    fail(name + " cannot hold " + to_string(size) + " (at most " + std::to_string(longest) +
         " pixels a side)");
  }
  const bool whole = cls == PixelClass::uint8 || cls == PixelClass::uint16;
  if (is_counted(type, format, cls) && !(whole && options.as_asked)) {
    fail("cannot write " + name + " of class " + std::string(name_of(cls)) +
         ": a distance or label image has no white; add `mat2gray`, give -d uint16 if its values "
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
  name_parts_lost(metadata.exr, format, out);
  ExrLosses losses;
  if (const auto& exr = metadata.exr) {
    losses = {attributes_lost(*exr, {}), has_place(*exr) && !fills_display(*exr, metadata.change)};
  }
  switch (format) {
    case Format::npy:
      out.bytes =
          encode_npy(ready, metadata.npy.get(), samples_for(ready, metadata, format, options, out));
      break;
    case Format::bmp: out.bytes = encode_bmp(ready); break;
    case Format::pnm: out.bytes = encode_pnm(ready); break;
    case Format::pam: out.bytes = encode_pam(ready); break;
    case Format::pfm: out.bytes = encode_pfm(ready); break;
    case Format::qoi: out.bytes = encode_qoi(ready); break;
    case Format::tga: out.bytes = encode_tga(ready); break;
    case Format::hdr: out.bytes = encode_hdr(ready); break;
    case Format::raw:
      out.bytes = encode_raw(ready);
      out.common = raw_kind(ready);
      break;
    case Format::dpx: out.bytes = encode_dpx(ready, metadata, out.lost); break;
    case Format::y4m:
      out.bytes = encode_y4m(ready, metadata.y4m.get(), options, out.lost);
      out.common = text_of(out.bytes).substr(0, text_of(out.bytes).find('\n'));
      out.head = out.common.size() + 1;
      break;
    case Format::exr: out.bytes = encoded_exr(image, ready, metadata, options, losses, out); break;
    default: out.bytes = encoded_by_module(ready, metadata, format, cls, options, out);
  }
  if (format != Format::dpx && metadata.dpx) name_losses(*metadata.dpx, out.lost);
  if (format != Format::y4m && metadata.y4m) name_losses(*metadata.y4m, out.lost);
  if (losses.place) out.lost.emplace_back("display window and pixel aspect ratio");
  if (!losses.attributes.empty()) out.lost.push_back("EXR attributes (" + losses.attributes + ")");
  if (module_reads_header(format)) return out;
  out.bytes = file_with_metadata(std::move(out.bytes), format, metadata, ready, out.lost);
  return out;
}

Bytes file_with_metadata(Bytes file, Format format, const Metadata& metadata,
                         const HostImage& image, std::vector<std::string>& lost) {
  return from_module([&] {
    return with_metadata(std::move(file), format, metadata, {image.size(), image}, lost);
  });
}

}  // namespace impipe::io
