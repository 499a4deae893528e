// PBM, PGM, PPM, PAM and PFM files, read and written without the codec module.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "core/printable.hpp"
#include "io/bytes/bits.hpp"
#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

struct PnmHeader {
  ImageInfo info;
  char kind = '5';             // the character after P
  std::int64_t maxval = 1;     // what displays as white; of PFM: unused
  bool little_endian = false;  // of PFM
  std::int64_t data = 0;       // offset of the pixels
};
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The words of a header: separated by white space; '#' begins a comment up to the end of the line,
// also right behind a word.
class Words {
 public:
  explicit Words(std::string text) : text_(std::move(text)), at_(2) {}

  std::string next(const char* what) {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ < text_.size()) ++at_;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '#') ++at_;
    const size_t end = at_;
    if (begin == end) fail("truncated PNM: its header has no ", what);
    // A comment right behind a word stands for the white space that ends it.
    if (at_ < text_.size() && text_[at_] == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    return text_.substr(begin, end - begin);
  }

  std::int64_t next_number(const char* what) {
    const std::string word = next(what);
    const bool digits = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || word.size() > 10) fail("damaged PNM: '", word, "' is no ", what);
    return std::stoll(word);
  }

  // The pixels begin after one character of white space.
  std::int64_t data() const { return static_cast<std::int64_t>(at_) + 1; }

 private:
  std::string text_;
  size_t at_;
};

// Bytes of the pixels in the file; of a plain one at least, with a blank between two numbers.
std::int64_t pixel_bytes(const PnmHeader& header) {
  const ImageType& type = header.info.type;
  const std::int64_t samples = header.info.stored.width * stored_channels(type);
  if (header.kind == '1') return samples * header.info.stored.height;
  if (header.kind <= '3') return 2 * samples * header.info.stored.height - 1;
  const std::int64_t row = header.kind == '4' ? (samples + 7) / 8 : samples * bytes_of(type.cls);
  return row * header.info.stored.height;
}

void check_complete(const PnmHeader& header, std::int64_t file_bytes) {
  const std::int64_t has = std::max<std::int64_t>(file_bytes - header.data, 0);
  const std::int64_t needs = pixel_bytes(header);
  if (has >= needs) return;
  fail("truncated ", name_of(header.info.format), ": ", has, " bytes of pixels, ", needs,
       " needed");
}

// One sample of a plain (text) file.
class PlainSamples {
 public:
  PlainSamples(std::span<const std::byte> bytes, std::int64_t at, bool bits)
      : text_(text_of(bytes)), at_(static_cast<size_t>(at)), bits_(bits) {}

  int next() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      ++at_;
    }
    if (at_ >= text_.size()) fail("truncated PNM: the text ends before the last pixel");
    int value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && value < 65536) {
      value = value * 10 + (text_[at_++] - '0');
      if (bits_) break;  // the bits of P1 need no space between them
    }
    if (at_ == begin) fail("damaged PNM: '", text_[at_], "' is no pixel");
    return value;
  }

 private:
  std::string_view text_;
  size_t at_;
  bool bits_;
};

HostImage decode_pfm(std::span<const std::byte> bytes, const PnmHeader& header) {
  check_complete(header, static_cast<std::int64_t>(bytes.size()));
  HostImage image(header.info.type, header.info.stored);
  const std::int64_t rows = header.info.stored.height;
  const std::int64_t row_bytes = stored_bytes(image.type, header.info.stored.width);
  std::vector<std::uint32_t> words(static_cast<size_t>(row_bytes / 4));
  RowSplitter splitter(image);
  for (std::int64_t y = 0; y < rows; ++y) {  // stored from the bottom up
    std::memcpy(words.data(), bytes.data() + header.data + y * row_bytes,
                static_cast<size_t>(row_bytes));
    if (!header.little_endian) {
      for (std::uint32_t& word : words) word = __builtin_bswap32(word);
    }
    splitter.put(words.data(), rows - 1 - y);
  }
  return image;
}

void check_maxval(const PnmHeader& header) {
  if (header.maxval >= 1 && header.maxval <= 65535) return;
  fail("damaged ", name_of(header.info.format), ": the largest value is ", header.maxval);
}

// What the samples of a PAM are, by its tuple type, and without one by their number alone.
ImageType pam_type(const std::string& tuple, std::int64_t depth, std::int64_t maxval) {
  struct Kind {
    std::string_view name;
    int channels;
    bool alpha;
  };
  static constexpr Kind kinds[] = {{"GRAYSCALE", 1, false},     {"GRAYSCALE_ALPHA", 1, true},
                                   {"RGB", 3, false},           {"RGB_ALPHA", 3, true},
                                   {"BLACKANDWHITE", 1, false}, {"BLACKANDWHITE_ALPHA", 1, true}};
  const auto is_this = [&](const Kind& kind) {
    return tuple.empty() ? kind.channels + (kind.alpha ? 1 : 0) == depth : kind.name == tuple;
  };
  const Kind* kind = std::ranges::find_if(kinds, is_this);
  if (kind == std::end(kinds)) {
    const std::string what =
        tuple.empty() ? std::to_string(depth) + " channels" : "the tuple type '" + tuple + "'";
    fail("PAM of ", what, " is not supported");
  }
  if (kind->channels + (kind->alpha ? 1 : 0) != depth) {
    fail("damaged PAM: ", tuple, " of ", depth, " channels");
  }
  const bool bits = tuple == "BLACKANDWHITE" && maxval == 1;
  const PixelClass cls = bits           ? PixelClass::logical
                         : maxval > 255 ? PixelClass::uint16
                                        : PixelClass::uint8;
  return type_of(cls, kind->channels, kind->alpha);
}

// A PAM's header is lines of a word and its value, up to ENDHDR; '#' begins a line of comment.
PnmHeader pam_header(const ByteSource& source, std::int64_t begin) {
  const std::string text = source.read_some(begin, 4096);
  PnmHeader header;
  header.kind = '7';
  header.info.format = Format::pam;
  std::int64_t depth = 0;
  std::string tuple;
  header.maxval = 0;
  const auto count = [](const std::string& word, const std::string& value) {
    const bool digits = value.find_first_not_of("0123456789") == value.npos;
    if (!digits || value.empty() || value.size() > 10) {
      fail("damaged PAM: '", printable(value), "' is no ", word);
    }
    return std::stoll(value);
  };
  for (size_t at = text.find('\n') + 1;;) {
    const size_t end = text.find('\n', at);
    if (at == 0 || end == text.npos) fail("damaged PAM: its header has no ENDHDR");
    std::istringstream line(text.substr(at, end - at));
    at = end + 1;
    std::string word, value;
    line >> word >> value;
    if (word == "ENDHDR") {
      header.data = begin + static_cast<std::int64_t>(at);
      break;
    }
    if (word == "WIDTH") header.info.stored.width = count(word, value);
    if (word == "HEIGHT") header.info.stored.height = count(word, value);
    if (word == "DEPTH") depth = count(word, value);
    if (word == "MAXVAL") header.maxval = count(word, value);
    if (word == "TUPLTYPE") tuple += (tuple.empty() ? "" : " ") + value;
  }
  check_maxval(header);
  header.info.type = pam_type(tuple, depth, header.maxval);
  header.info.detail = depth_text(header.maxval > 255 ? 16 : header.maxval == 1 ? 1 : 8);
  return header;
}

// The header of the picture that begins at `begin`.
PnmHeader header_at(const ByteSource& source, std::int64_t begin) {
  PnmHeader header;
  header.kind = source.read(begin + 1, 1)[0];
  if (header.kind == '7') return pam_header(source, begin);
  Words words(source.read_some(begin, 4096));
  const bool is_float = header.kind == 'f' || header.kind == 'F';
  ImageInfo& info = header.info;
  info.format = is_float ? Format::pfm : Format::pnm;
  info.stored.width = words.next_number("width");
  info.stored.height = words.next_number("height");
  const bool bits = header.kind == '1' || header.kind == '4';
  const bool colour = header.kind == '3' || header.kind == '6' || header.kind == 'F';
  PixelClass cls = PixelClass::logical;
  if (is_float) {
    header.little_endian = words.next("scale").starts_with('-');
    cls = PixelClass::single;
    info.detail = depth_text(32, true);
  } else if (!bits) {
    header.maxval = words.next_number("largest value");
    check_maxval(header);
    cls = header.maxval > 255 ? PixelClass::uint16 : PixelClass::uint8;
    info.detail = depth_text(header.maxval > 255 ? 16 : 8);
  } else {
    info.detail = depth_text(1);
  }
  info.type = type_of(cls, colour ? 3 : 1, false);
  if (header.kind <= '3') info.detail += ", plain";
  header.data = begin + words.data();
  return header;
}

[[noreturn]] void fail_sample(const PnmHeader& header, std::int64_t value) {
  fail("damaged ", name_of(header.info.format), ": a sample is ", value,
       ", and its header says that the largest is ", header.maxval);
}

// Whether a picture begins with P, such a character, and a space or a comment.
bool is_kind(std::string_view head, std::string_view kinds) {
  return head.size() >= 3 && head[0] == 'P' && kinds.find(head[1]) != kinds.npos &&
         std::string_view(" \t\r\n\v\f#").find(head[2]) != std::string_view::npos;
}

PnmHeader pnm_header(const ByteSource& source) {
  PnmHeader first = header_at(source, 0);
  // Raw pictures of a file follow one another without anything between them.
  PnmHeader last = first;
  while (last.kind >= '4' && last.info.stored.width <= max_side &&
         last.info.stored.height <= max_side) {
    const std::int64_t end = last.data + pixel_bytes(last);
    if (!is_kind(source.read_some(end, 3), "1234567fF")) break;
    last = header_at(source, end);
    ++first.info.pages;
  }
  return first;
}

HostImage decode(const DecodeInput& input, Decoded&) {
  const std::span<const std::byte> bytes = input.file;
  const PnmHeader header = pnm_header(ByteSource(bytes));
  if (header.info.format == Format::pfm) return decode_pfm(bytes, header);
  const Size size = header.info.stored;
  check_complete(header, static_cast<std::int64_t>(bytes.size()));
  HostImage image(header.info.type, size);
  const std::int64_t samples = size.width * stored_channels(image.type);
  const bool bits = header.kind == '1' || header.kind == '4';
  const bool wide = image.type.cls == PixelClass::uint16;
  const auto full = static_cast<std::int64_t>(class_max(image.type.cls));
  const auto scaled = [&](std::int64_t v) {
    if (v > header.maxval) fail_sample(header, v);
    return header.maxval == full ? v : (v * full * 2 + header.maxval) / (header.maxval * 2);
  };
  // A row as the file has it; the one that is not of the image's class stays empty.
  std::vector<std::uint8_t> row(wide ? 0 : static_cast<size_t>(samples));
  std::vector<std::uint16_t> wide_row(wide ? static_cast<size_t>(samples) : 0);
  RowSplitter splitter(image);
  const auto put = [&](std::int64_t y) {
    splitter.put(wide ? static_cast<const void*>(wide_row.data()) : row.data(), y);
  };
  if (header.kind <= '3') {
    PlainSamples plain(bytes, header.data, bits);
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::uint16_t& value : wide_row)
        value = static_cast<std::uint16_t>(scaled(plain.next()));
      for (std::uint8_t& value : row) {
        value = static_cast<std::uint8_t>(scaled(plain.next()));
        if (bits) value ^= 1;  // 1 is black
      }
      put(y);
    }
    return image;
  }
  const std::int64_t row_bytes = bits ? (samples + 7) / 8 : stored_bytes(image.type, size.width);
  for (std::int64_t y = 0; y < size.height; ++y) {
    const auto* from =
        reinterpret_cast<const std::uint8_t*>(bytes.data()) + header.data + y * row_bytes;
    if (header.maxval == 255 && !wide && !bits) {
      splitter.put(from, y);
      continue;
    }
    if (bits) {  // a set bit is black
      unpack_bits(from, row.data(), samples);
      for (std::uint8_t& value : row) value ^= 1;
    } else if (wide) {
      for (std::uint16_t& value : wide_row) {
        value = static_cast<std::uint16_t>(scaled(from[0] << 8 | from[1]));
        from += 2;
      }
    } else {
      for (std::uint8_t& value : row) value = static_cast<std::uint8_t>(scaled(*from++));
    }
    put(y);
  }
  return image;
}

// The rows of a raw file behind its header. bits: eight pixels to a byte, 1 is black.
Bytes with_rows(const std::string& head, const HostImage& image, bool bits) {
  const PixelClass cls = image.type.cls;
  const Size size = image.size();
  Bytes out;
  const std::int64_t row_bytes = bits ? (size.width + 7) / 8 : stored_bytes(image.type, size.width);
  out.reserve(head.size() + static_cast<size_t>(row_bytes * size.height));
  append(out, head);
  if (!bits && cls != PixelClass::uint16) {
    append_rows(out, image, 0, size.height, 1);
    return out;
  }
  RowJoiner joiner(image);
  for (std::int64_t y = 0; y < size.height; ++y) {
    const size_t begin = out.size();
    out.resize(begin + static_cast<size_t>(row_bytes));
    auto* to = reinterpret_cast<std::uint8_t*>(out.data() + begin);
    if (bits) {
      pack_bits(joiner.row<std::uint8_t>(y), to, size.width);
      for (std::int64_t i = 0; i < row_bytes; ++i) to[i] = static_cast<std::uint8_t>(~to[i]);
    } else {
      const auto* row = joiner.row<std::uint16_t>(y);
      for (std::int64_t x = 0; x < row_bytes / 2; ++x) {
        to[2 * x] = static_cast<std::uint8_t>(row[x] >> 8);
        to[2 * x + 1] = static_cast<std::uint8_t>(row[x]);
      }
    }
  }
  return out;
}

std::string largest_value(PixelClass cls) {
  return std::to_string(static_cast<int>(class_max(cls))) + "\n";
}

Bytes encode_pnm(HostImage& image, const EncodeInput&, Encoded&) {
  const bool bits = image.type.cls == PixelClass::logical;
  const std::string head = std::string(bits                       ? "P4\n"
                                       : image.type.channels == 3 ? "P6\n"
                                                                  : "P5\n") +
                           std::to_string(image.size().width) + " " +
                           std::to_string(image.size().height) + "\n" +
                           (bits ? "" : largest_value(image.type.cls));
  return with_rows(head, image, bits);
}

Bytes encode_pam(HostImage& image, const EncodeInput&, Encoded&) {
  const ImageType& type = image.type;
  const std::string head = "P7\nWIDTH " + std::to_string(image.size().width) + "\nHEIGHT " +
                           std::to_string(image.size().height) + "\nDEPTH " +
                           std::to_string(stored_channels(type)) + "\nMAXVAL " +
                           largest_value(type.cls) + "TUPLTYPE " +
                           (type.cls == PixelClass::logical ? "BLACKANDWHITE"
                            : type.channels == 3            ? "RGB"
                                                            : "GRAYSCALE") +
                           (type.alpha ? "_ALPHA" : "") + "\nENDHDR\n";
  return with_rows(head, image, false);
}

Bytes encode_pfm(HostImage& image, const EncodeInput&, Encoded&) {
  const Size size = image.size();
  Bytes out;
  append(out, std::string(image.type.channels == 3 ? "PF\n" : "Pf\n") + std::to_string(size.width) +
                  " " + std::to_string(size.height) + "\n-1.0\n");
  out.reserve(out.size() + static_cast<size_t>(stored_bytes(image.type, size.pixels())));
  append_rows(out, image, size.height - 1, size.height, -1);  // from the bottom
  return out;
}

ImageInfo read_header(const HeaderInput& input) { return pnm_header(input.source).info; }

}  // namespace

const FormatTraits pnm_format{
    .format = Format::pnm,
    .name = "PNM",
    .extensions = "pgm ppm pbm pnm",
    .can = {Can::one_bit, Can::eight, Can::sixteen},
    .sniff = [](std::string_view head) { return is_kind(head, "123456"); },
    .header = read_header,
    .decode = decode,
    .encode = encode_pnm,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
};

const FormatTraits pam_format{
    .format = Format::pam,
    .name = "PAM",
    .extensions = "pam",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::alpha},
    .sniff =
        [](std::string_view head) {
          return head.starts_with("P7\n") || head.starts_with("P7\r\n");
        },
    .header = read_header,
    .decode = decode,
    .encode = encode_pam,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
};

const FormatTraits pfm_format{
    .format = Format::pfm,
    .name = "PFM",
    .extensions = "pfm",
    .can = {Can::floats},
    .sniff = [](std::string_view head) { return is_kind(head, "fF"); },
    .header = read_header,
    .decode = decode,
    .encode = encode_pfm,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
