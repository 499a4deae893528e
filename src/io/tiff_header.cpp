// Reads TIFF directories. Compiled into the program and into the codec module.
#include "io/tiff_header.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace impipe::io {
namespace {

// At most as many as libtiff follows.
constexpr int max_directories = 65535;
// More than any packet that says how a picture is to be turned.
constexpr std::uint64_t max_xmp = 16 << 20;  // bytes

constexpr int tiff_type_bytes(std::uint64_t type) {
  constexpr int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

// One entry of a TIFF directory; `at` is the index-th of its values.
struct TiffEntry {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::string values;        // the first values, at most 64 bytes
  std::int64_t offset = -1;  // of all values, when they are not in the entry itself
  bool big_endian = false;
  std::uint64_t at(std::uint64_t index = 0) const {
    const int bytes = tiff_type_bytes(type);
    if (index >= count || index >= 64 || bytes == 0) return 0;
    return number_at(values, index * static_cast<size_t>(bytes), bytes, big_endian);
  }
};

// The directories of one file, one after another.
class Directories {
 public:
  explicit Directories(const ByteSource& source) : source_(source) {
    const std::string head = source.read(0, 8);
    big_endian_ = head[0] == 'M';
    big_tiff_ = number(head, 2, 2) == 43;
    next_ = big_tiff_ ? offset(source.read(8, 8), 0) : offset(head, 4);
  }

  std::int64_t next() const { return next_; }  // 0 after the last
  void go_to(std::int64_t begin) { next_ = begin; }

  // Calls visit(tag, entry) for the entries of the next directory, and goes on to the one after.
  template <class Visit>
  void visit(Visit visit) {
    const std::int64_t begin = next_;
    const int count_bytes = big_tiff_ ? 8 : 2;
    const std::uint64_t count = number(source_.read(begin, count_bytes), 0, count_bytes);
    if (count > 4096) {
      fail("damaged TIFF: its directory claims " + std::to_string(count) + " entries");
    }
    const int entry_bytes = big_tiff_ ? 20 : 12;
    const std::string entries =
        source_.read(begin + count_bytes, static_cast<std::int64_t>(count) * entry_bytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      const size_t at = i * static_cast<size_t>(entry_bytes);
      visit(number(entries, at, 2), entry_at(entries, at));
    }
    // The very end of a file may lack the zeros that end the chain.
    const std::string link = source_.read_some(
        begin + count_bytes + static_cast<std::int64_t>(entries.size()), big_tiff_ ? 8 : 4);
    next_ = offset(link, 0);
  }

 private:
  std::uint64_t number(const std::string& text, size_t at, int bytes) const {
    return number_at(text, at, bytes, big_endian_);
  }
  std::int64_t offset(const std::string& text, size_t at) const {
    return static_cast<std::int64_t>(number(text, at, big_tiff_ ? 8 : 4));
  }

  TiffEntry entry_at(const std::string& entries, size_t at) const {
    TiffEntry entry;
    entry.big_endian = big_endian_;
    entry.type = number(entries, at + 2, 2);
    entry.count = number(entries, at + 4, big_tiff_ ? 8 : 4);
    const size_t value_at = at + (big_tiff_ ? 12 : 8);
    const size_t inline_bytes = big_tiff_ ? 8 : 4;
    const std::uint64_t bytes = std::min<std::uint64_t>(entry.count, 64) *
                                static_cast<std::uint64_t>(tiff_type_bytes(entry.type));
    if (bytes <= inline_bytes) {
      entry.values = entries.substr(value_at, inline_bytes);
    } else {
      entry.offset = offset(entries, value_at);
      entry.values = source_.read_some(
          entry.offset, static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, 64)));
    }
    return entry;
  }

  const ByteSource& source_;
  bool big_endian_ = false;
  bool big_tiff_ = false;
  std::int64_t next_ = 0;
};

int valid_orientation(std::uint64_t value) {
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

// A tag with one value for each sample, which have to be equal.
std::uint64_t common_value(const TiffEntry& entry, const char* what) {
  const std::uint64_t known = std::min<std::uint64_t>(entry.count, 32);
  std::string all;
  bool equal = true;
  for (std::uint64_t i = 0; i < known; ++i) {
    equal = equal && entry.at(i) == entry.at();
    all += (i == 0 ? "" : ", ") + std::to_string(entry.at(i));
  }
  if (!equal)
    fail("TIFF whose samples differ in " + std::string(what) + " (" + all + ") is not supported");
  return entry.at();
}

// A directory, as one of the chain: what it holds, and whether it is a page.
struct Directory {
  TiffLayout layout;
  bool is_page = true;
  bool has_children = false;  // sub-directories: a raw photo keeps its pixels there
  bool says_orientation = false;
  std::int64_t xmp_offset = 0, xmp_bytes = 0;  // of the XMP packet
};

Directory read_directory(Directories& directories) {
  Directory out;
  TiffLayout& l = out.layout;
  std::map<std::uint64_t, std::string> seen;
  directories.visit([&](std::uint64_t tag, const TiffEntry& entry) {
    const auto number = [&](std::uint64_t& to) { to = entry.at(); };
    const auto side = [&](std::int64_t& to) { to = static_cast<std::int64_t>(entry.at()); };
    switch (tag) {
      case 254: out.is_page = (entry.at() & 5) == 0; break;  // bit 0: reduced, bit 2: a mask
      case 255: out.is_page = out.is_page && entry.at() != 2; break;  // its elder: 2 is reduced
      case 256: side(l.size.width); break;
      case 257: side(l.size.height); break;
      case 258: l.bits = common_value(entry, "bits"); break;
      case 259: number(l.compression); break;
      case 262: number(l.photometric); break;
      case 274:
        l.orientation = valid_orientation(entry.at());
        out.says_orientation = true;
        break;
      case 277: number(l.samples); break;
      case 284: number(l.planar); break;
      case 322: side(l.tile.width); break;
      case 323: side(l.tile.height); break;
      case 330: out.has_children = true; return;
      case 332: number(l.ink_set); break;
      case 338:
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(entry.count, max_channels); ++i) {
          l.extra.push_back(entry.at(i));
        }
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
      fail("damaged TIFF: tag " + std::to_string(tag) + " stands twice in its directory");
    }
  });
  l.name_all_samples();
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
    fail("damaged TIFF: " + many(l.samples, l.samples == 1 ? "channel" : "channels") + ", where " +
         many(colours, words) + " are needed");
  }
  if (l.samples > static_cast<std::uint64_t>(max_channels)) {
    fail("TIFF of " + many(l.samples, "channels") + " is not supported: impipe reads " +
         std::to_string(max_channels) + " at most");
  }
  const std::uint64_t more = l.samples - colours;
  if (l.extra.size() > more) fail("damaged TIFF: more channels are declared than there are");
  if (more == 0 || l.is_gray() || l.photometric == tiff_rgb) return;
  if (more > 1 || l.alpha_sample() < 0 || l.is_ycbcr()) {
    fail("TIFF of " + many(l.samples, "channels") + ": " + many(colours, words) + " and " +
         (more == 1 && !l.is_ycbcr() ? "1 that is not declared as alpha" : many(more, "more")) +
         "; beside those impipe reads an alpha only");
  }
}

[[noreturn]] void refuse(const std::string& what) { fail("TIFF " + what + " is not supported"); }

// Class and white of the samples. Numbers that no class holds become single without a white:
// heights, counts and labels have none (docs/decisions/0024-numbers-without-a-class.md).
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
  const bool premultiplied =
      std::find(l.extra.begin(), l.extra.end(), tiff_associated_alpha) != l.extra.end();
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

TiffHeader header_of(Directory directory, std::int64_t begin, const ByteSource& source) {
  TiffHeader header{.layout = std::move(directory.layout),
                    .directory = begin,
                    .says_orientation = directory.says_orientation,
                    .xmp = {}};
  if (directory.xmp_offset > 0) {
    header.xmp = source.read_some(directory.xmp_offset, directory.xmp_bytes);
  }
  return header;
}

}  // namespace

TiffHeader read_tiff_page(const ByteSource& source, int page, const TiffPages* known) {
  if (known == nullptr || page >= static_cast<int>(known->begins.size())) {
    return read_tiff(source, page);
  }
  const std::int64_t begin = known->begins[static_cast<size_t>(page)];
  Directories directories(source);
  directories.go_to(begin);
  TiffHeader header = header_of(read_directory(directories), begin, source);
  header.pages = static_cast<int>(known->begins.size());
  header.others = known->others;
  header.has_children = known->has_children;
  return header;
}

TiffHeader read_tiff(const ByteSource& source, int page, TiffPages* found) {
  std::optional<TiffHeader> header;
  int pages = 0;
  Directories directories(source);
  std::set<std::int64_t> seen;
  std::optional<TiffHeader> reduced;  // the first directory, when it is no page
  bool has_children = false;
  while (directories.next() != 0) {
    const std::int64_t begin = directories.next();
    if (!seen.insert(begin).second) fail("damaged TIFF: its directories form a ring");
    if (seen.size() > max_directories) {
      fail("TIFF of more than " + std::to_string(max_directories) + " directories");
    }
    Directory directory;
    try {
      directory = read_directory(directories);
    } catch (const Error& error) {
      if (seen.size() == 1) throw;
      throw Error("damaged TIFF: directory " + std::to_string(seen.size()) + ": ", error);
    }
    has_children = has_children || directory.has_children;
    if (directory.is_page) {
      if (found != nullptr) found->begins.push_back(begin);
      if (pages++ == page) header = header_of(std::move(directory), begin, source);
    } else if (!reduced) {
      reduced = header_of(std::move(directory), begin, source);
    }
  }
  if (header) {
    header->pages = pages;
    header->others = static_cast<int>(seen.size()) - pages;
    header->has_children = has_children;
    if (found != nullptr) {
      found->others = header->others;
      found->has_children = has_children;
    }
    return *header;
  }
  if (page > 0) fail("it has no page " + std::to_string(page + 1));
  if (!reduced) fail("damaged TIFF: no directory in it");
  // What calls itself reduced is the whole picture when there is no other.
  if (has_children)
    fail("TIFF with its picture in a sub-directory (a raw photo?) is not supported");
  return *reduced;
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

int tiff_orientation(const ByteSource& source) {
  int orientation = 0;
  Directories(source).visit([&](auto tag, const TiffEntry& entry) {
    if (tag == 274) orientation = valid_orientation(entry.at());
  });
  return orientation;
}

}  // namespace impipe::io
