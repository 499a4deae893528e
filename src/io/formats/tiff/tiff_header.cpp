// Reads TIFF directories. Compiled into the program and into the codec module.
#include "io/formats/tiff/tiff_header.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "io/bytes/tiff_entry.hpp"
#include "io/formats/tiff/tiff_description.hpp"
#include "io/formats/tiff/tiff_planes.hpp"

namespace impipe::io {
namespace {

// At most as many as libtiff follows.
constexpr int max_directories = 65535;
// More than any packet that says how a picture is to be turned.
constexpr std::uint64_t max_xmp = 16 << 20;  // bytes
// More than a description of a stack by ImageJ or tifffile.
constexpr std::int64_t max_description = 64 << 10;  // bytes

// A tag with one value for each sample, which have to be equal.
std::uint64_t common_value(const TiffEntry& entry, const char* what) {
  std::string all;
  bool equal = true;
  for (const std::uint64_t value : entry.first(32)) {
    equal = equal && value == entry.at();
    all += (all.empty() ? "" : ", ") + std::to_string(value);
  }
  if (!equal) fail("TIFF whose samples differ in ", what, " (", all, ") is not supported");
  return entry.at();
}

// A directory, as one of the chain: what it holds, and whether it is a page.
struct Directory {
  TiffPixels storage;
  bool is_page = true;
  bool has_children = false;  // sub-directories: a raw photo keeps its pixels there
  bool says_orientation = false;
  TiffEntry description;
  double x_resolution = 0, y_resolution = 0;
  std::int64_t xmp_offset = 0, xmp_bytes = 0;  // of the XMP packet
  std::int64_t next = 0;                       // where the next directory begins
};

// Of one value; 0 where it is none.
double rational_of(const TiffEntry& entry) {
  constexpr std::uint64_t rational = 5;
  if (entry.type != rational || entry.values.size() < 8) return 0;
  const auto part = [&](size_t at) {
    return static_cast<double>(number_at(entry.values, at, 4, entry.big_endian));
  };
  return part(4) > 0 ? part(0) / part(4) : 0;
}

// Takes what a tag says of where and how the pixels are stored; false for other tags.
bool read_storage(TiffPixels& s, std::uint64_t tag, const TiffEntry& entry) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  switch (tag) {
    case 273:
    case 324: s.offsets = entry; return true;
    case 278: s.rows_per_strip = static_cast<std::int64_t>(entry.at()); return true;
    case 317: s.predictor = entry.at(); return true;
    case 32997: s.layout.depth = static_cast<std::int64_t>(entry.at()); return true;
    case 32998: s.layout.tile_depth = static_cast<std::int64_t>(entry.at()); return true;
    case 33629:
      s.stack_planes = static_cast<std::int64_t>(std::min(entry.count, most));
      return true;
    default: return false;
  }
}

// The same of pixels for each unit of length.
bool read_resolution(Directory& directory, std::uint64_t tag, const TiffEntry& entry) {
  if (tag == 282) directory.x_resolution = rational_of(entry);
  if (tag == 283) directory.y_resolution = rational_of(entry);
  return tag == 282 || tag == 283;
}

Directory read_directory(const ByteSource& source, const TiffOrder& order, std::int64_t begin) {
  Directory out;
  TiffPixels& s = out.storage;
  TiffLayout& l = s.layout;
  std::map<std::uint64_t, std::string> seen;
  std::vector<std::int64_t> values;  // where they begin
  const TiffTable table(source, order, begin);
  if (table.count() > TiffTable::most) {
    fail("damaged TIFF: its directory claims ", table.count(), " entries");
  }
  out.next = table.visit([&](const TiffTable::Entry& stored) {
    const TiffEntry entry(source, order, stored);
    const std::uint64_t tag = stored.tag;
    const auto number = [&](std::uint64_t& to) { to = entry.at(); };
    const auto side = [&](std::int64_t& to) { to = static_cast<std::int64_t>(entry.at()); };
    if (entry.offset >= 0) values.push_back(entry.offset);
    if (read_storage(s, tag, entry) || read_resolution(out, tag, entry)) return;
    switch (tag) {
      case 254: out.is_page = (entry.at() & 5) == 0; break;  // bit 0: reduced, bit 2: a mask
      case 255: out.is_page = out.is_page && entry.at() != 2; break;  // its elder: 2 is reduced
      case 256: side(l.size.width); break;
      case 257: side(l.size.height); break;
      case 258: l.bits = common_value(entry, "bits"); break;
      case 259: number(l.compression); break;
      case 262: number(l.photometric); break;
      case 270: out.description = entry; return;
      case 274:
        l.orientation = valid_tiff_orientation(entry.at());
        out.says_orientation = true;
        break;
      case 277: number(l.samples); break;
      case 284: number(l.planar); break;
      case 322: side(l.tile.width); break;
      case 323: side(l.tile.height); break;
      case 330: out.has_children = true; return;
      case 332: number(l.ink_set); break;
      case 338:
        for (const std::uint64_t kind : entry.first(max_channels)) l.extra.push_back(kind);
        break;
      case 339: l.numbers = common_value(entry, "kind of number"); break;
      case 700:
        out.xmp_offset = entry.offset;
        out.xmp_bytes = static_cast<std::int64_t>(std::min(entry.count, max_xmp));
        return;
      default: return;
    }
    // Of a tag that stands twice some programs take the first and some the last.
    const std::string all =
        std::to_string(entry.type) + " " + std::to_string(entry.count) + " " + entry.values;
    const auto [before, is_new] = seen.emplace(tag, all);
    if (!is_new && before->second != all) {
      fail("damaged TIFF: tag ", tag, " stands twice in its directory");
    }
  });
  l.name_all_samples();
  for (const std::int64_t value : values) {
    if (value > s.data()) s.next_value = std::min(s.next_value, value);
  }
  return out;
}

std::string many(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

// Samples beside the colours of gray and RGB are channels, but for an alpha. Beside a palette's
// places and inks there can be an alpha only.
void check_samples(const TiffLayout& l) {
  const char* words = l.is_palette() ? "of a palette"
                      : l.is_gray()  ? "of gray"
                      : l.is_cmyk()  ? "of ink"
                                     : "of colour";
  const std::uint64_t colours = l.colours();
  if (l.samples < colours) {
    fail("damaged TIFF: ", many(l.samples, l.samples == 1 ? "channel" : "channels"), ", where ",
         many(colours, words), " are needed");
  }
  if (l.samples > static_cast<std::uint64_t>(max_channels)) {
    fail("TIFF of ", many(l.samples, "channels"), " is not supported: impipe reads ", max_channels,
         " at most");
  }
  const std::uint64_t more = l.samples - colours;
  if (l.extra.size() > more) fail("damaged TIFF: more channels are declared than there are");
  if (more == 0 || l.is_gray() || l.photometric == tiff_rgb) return;
  if (more > 1 || l.alpha_sample() < 0 || l.is_ycbcr()) {
    fail("TIFF of ", many(l.samples, "channels"), ": ", many(colours, words), " and ",
         more == 1 && !l.is_ycbcr() ? "1 that is not declared as alpha" : many(more, "more"),
         "; beside those impipe reads an alpha only");
  }
}

[[noreturn]] void refuse(const std::string& what) { fail("TIFF ", what, " is not supported"); }

// Class and white of the samples. Numbers that no class holds become single without a white:
// heights, counts and labels have none (docs/decisions/0024-number-types-in-and-out.md).
ImageType type_of_numbers(const TiffLayout& l) {
  const std::string bits = std::to_string(l.bits) + "-bit ";
  const auto type = [](PixelClass cls, double white) {
    return ImageType{.cls = cls, .channels = 1, .alpha = false, .white = white};
  };
  switch (l.numbers) {
    case tiff_unsigned:
    case tiff_untyped:
      if (l.bits == 1 && l.samples == 1 && l.is_gray()) return type(PixelClass::logical, 1);
      if (l.bits >= 1 && l.bits <= 8) return type(PixelClass::uint8, 255);
      if (l.bits >= 9 && l.bits <= 16) return type(PixelClass::uint16, 65535);
      if (l.bits == 32 || l.bits == 64) return type(PixelClass::single, 0);
      refuse("of " + bits + "samples");
    case tiff_signed:
      if (l.bits == 8 || l.bits == 16 || l.bits == 32 || l.bits == 64) {
        return type(PixelClass::single, 0);
      }
      refuse("of " + bits + "signed samples");
    case tiff_float:
      if (l.bits == 16 || l.bits == 32 || l.bits == 64) return type(PixelClass::single, 1);
      refuse("of " + bits + "float samples");
    default: refuse("of complex samples");
  }
}

// Says what of the colours cannot be read in this depth.
void check_colours(const TiffLayout& l, const ImageType& numbers) {
  const bool whole = l.numbers == tiff_unsigned || l.numbers == tiff_untyped;
  const bool premultiplied = std::ranges::find(l.extra, tiff_associated_alpha) != l.extra.end();
  switch (l.photometric) {
    case tiff_white_is_zero:
      if (numbers.white == 0) refuse("of numbers without a white whose white is 0");
      return;
    case tiff_black_is_zero:
    case tiff_rgb: return;
    case tiff_palette:
      if (!whole || l.bits > 8) refuse("with a palette of more than 256 colours");
      if (premultiplied) refuse("with a palette and associated alpha");
      return;
    case tiff_cmyk:
      if (l.ink_set != 1) refuse("of inks other than CMYK");
      if (!whole || (l.bits != 8 && l.bits != 16)) refuse("of CMYK, other than of 8 or 16 bits,");
      if (premultiplied) refuse("of CMYK with associated alpha");
      return;
    case tiff_ycbcr:
      if (!whole || l.bits != 8) refuse("of YCbCr, other than of 8 bits,");
      return;
    default: {
      // libtiff converts CIELab, but not to sRGB: its grays come out yellow.
      const char* name = l.photometric == 4       ? " (a mask)"
                         : l.photometric == 8     ? " (CIELab)"
                         : l.photometric == 9     ? " (ICCLab)"
                         : l.photometric == 10    ? " (ITULab)"
                         : l.photometric == 32803 ? " (colour filters)"
                         : l.photometric == 32844 ? " (LogL)"
                         : l.photometric == 32845 ? " (LogLuv)"
                         : l.photometric == 34892 ? " (linear raw)"
                                                  : "";
      refuse("of photometric interpretation " + std::to_string(l.photometric) + name);
    }
  }
}

}  // namespace

namespace {

// The chain of directories of a file.
struct Chain {
  struct Page {
    std::int64_t directory = 0;
    TiffPixels storage;  // of a directory that claims planes
  };
  std::vector<Page> pages;
  std::vector<std::int64_t> begins;     // of directories and their pixels, sorted
  std::optional<std::int64_t> reduced;  // the first directory that is no page
  int directories = 0;
  bool has_children = false;
  std::string description;                    // of the first page
  double x_resolution = 0, y_resolution = 0;  // likewise
  Size size;                                  // likewise
};

void read_description(Directory& directory, const ByteSource& source) {
  const TiffEntry& entry = directory.description;
  if (!may_describe_stack(entry.values) && !is_aperio(entry.values)) return;
  const auto bytes = static_cast<std::int64_t>(
      std::min<std::uint64_t>(entry.count, static_cast<std::uint64_t>(max_description)));
  std::string text = entry.offset < 0 ? entry.values : source.read_some(entry.offset, bytes);
  text.resize(std::min(text.find('\0'), text.size()));
  directory.storage.description = std::move(text);
}

Chain read_chain(const ByteSource& source) {
  Chain out;
  const TiffOrder order = order_of_head(source);
  std::set<std::int64_t> seen;
  for (std::int64_t begin = order.first, next; begin != 0; begin = next) {
    if (!seen.insert(begin).second) fail("damaged TIFF: its directories form a ring");
    if (seen.size() > max_directories) fail("TIFF of more than ", max_directories, " directories");
    Directory directory;
    try {
      directory = read_directory(source, order, begin);
    } catch (const Error& error) {
      if (seen.size() == 1) throw;
      throw Error("damaged TIFF: directory " + std::to_string(seen.size()) + ": ", error);
    }
    next = directory.next;
    out.has_children = out.has_children || directory.has_children;
    out.begins.push_back(begin);
    out.begins.push_back(directory.storage.data());
    // Aperio's first picture is the slide; levels and a thumbnail follow it, and a label.
    directory.is_page = directory.is_page && !is_aperio(out.description);
    if (directory.is_page) {
      if (out.pages.empty() || !describes_whole_file(directory.description.values)) {
        read_description(directory, source);
      }
      if (out.pages.empty()) {
        out.description = directory.storage.description;
        out.x_resolution = directory.x_resolution;
        out.y_resolution = directory.y_resolution;
        out.size = directory.storage.layout.size;
      }
      const bool claims = directory.storage.claims_planes();
      out.pages.push_back({begin, claims ? std::move(directory.storage) : TiffPixels{}});
    } else if (!out.reduced) {
      out.reduced = begin;
    }
  }
  out.directories = static_cast<int>(seen.size());
  std::ranges::sort(out.begins);
  return out;
}

}  // namespace

TiffPages find_tiff_pages(const ByteSource& source) {
  const Chain chain = read_chain(source);
  TiffPages out;
  out.has_children = chain.has_children;
  PlaneFinder planes(source, chain.begins);
  std::int64_t count = 0;
  for (const Chain::Page& page : chain.pages) {
    TiffPages::Run run{.directory = page.directory, .first = static_cast<int>(count), .planes = {}};
    if (page.storage.claims_planes()) {
      run.planes = planes.planes_of(page.storage, chain.pages.size() == 1);
    }
    count += run.planes.count;
    if (count > max_directories) fail("TIFF of more than ", max_directories, " pages");
    out.runs.push_back(run);
  }
  out.count = static_cast<int>(count);
  if (out.count > 0) {
    out.axes = described_axes(chain.description, count);
    out.measured = described_measures(chain.description, chain.x_resolution, chain.y_resolution);
    out.size = chain.size;
    out.series = described_series(chain.description);
    out.others = chain.directories - static_cast<int>(chain.pages.size());
    return out;
  }
  if (!chain.reduced) fail("damaged TIFF: no directory in it");
  // What calls itself reduced is the whole picture when there is no other.
  if (chain.has_children)
    fail("TIFF with its picture in a sub-directory (a raw photo?) is not supported");
  out.runs.push_back({.directory = *chain.reduced, .first = 0, .planes = {}});
  out.count = 1;
  return out;
}

TiffHeader read_tiff(const ByteSource& source, int page, const TiffPages* known) {
  TiffPages found;
  if (known == nullptr) {
    found = find_tiff_pages(source);
    known = &found;
  }
  if (page >= known->count) fail("it has no page ", page + 1);
  const auto after =
      std::upper_bound(known->runs.begin(), known->runs.end(), page,
                       [](int number, const TiffPages::Run& run) { return number < run.first; });
  const TiffPages::Run& run = *(after - 1);
  const Directory directory = read_directory(source, order_of_head(source), run.directory);
  TiffHeader header{.layout = directory.storage.layout,
                    .predictor = directory.storage.predictor,
                    .directory = run.directory,
                    .page = page,
                    .pages = known->count,
                    .axes = known->axes,
                    .measured = directory.storage.layout.size == known->size
                                    ? known->measured
                                    : std::vector<MeasuredAxis>(),
                    .series = known->series,
                    .plane = page - run.first,
                    .planes = run.planes,
                    .others = known->others,
                    .has_children = known->has_children,
                    .says_orientation = directory.says_orientation,
                    .xmp = {}};
  if (directory.xmp_offset > 0) {
    header.xmp = source.read_some(directory.xmp_offset, directory.xmp_bytes);
  }
  return header;
}

void TiffLayout::name_all_samples() {
  if (samples > colours() + extra.size() && samples <= max_channels) {
    extra.resize(samples - colours());
  }
}

int TiffLayout::alpha_sample() const {
  for (std::size_t i = 0; i < extra.size(); ++i) {
    if (extra[i] == tiff_associated_alpha || extra[i] == tiff_straight_alpha) {
      return static_cast<int>(colours() + i);
    }
  }
  return -1;
}

ImageType image_type_of(const TiffLayout& layout) {
  ImageType type = type_of_numbers(layout);
  check_colours(layout, type);
  check_samples(layout);
  type.alpha = layout.alpha_sample() >= 0;
  const auto others = static_cast<int>(layout.samples) - (type.alpha ? 1 : 0);
  type.channels = layout.is_gray() || layout.photometric == tiff_rgb ? others : 3;
  if (type.alpha && type.white == 0) refuse("of numbers without a white beside alpha");
  return type;
}

}  // namespace impipe::io
