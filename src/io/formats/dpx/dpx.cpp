// DPX (SMPTE 268M): pictures of film, 8 to 16 bits, behind a header of many fields, which goes on
// into a DPX made from one. Read and written without a codec module.
#include <algorithm>
#include <cstring>

#include "io/bytes/tiff_fields.hpp"
#include "io/formats/format_traits.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/windows.hpp"
#include "io/picture/pixel_rows.hpp"
#include "io/picture/wide_samples.hpp"

namespace impipe::io {

// How a DPX stores its picture, so that one made from it stores it alike, and what else it says.
struct DpxStorage {
  std::string header;  // all that stands before the pixels
  bool big_endian = true;
  int bits = 10, packing = 1;
};

namespace {

struct DpxHeader {
  ImageInfo info;
  bool big_endian = true;
  int bits = 10;
  int packing = 1;  // 0 packed, 1 filled (method A: spare bits below), 2 filled (method B: above)
  bool alpha_first = false;  // ABGR
  bool bottom_up = false, right_to_left = false;
  std::int64_t data = 0;       // offset of the pixels
  std::int64_t row_bytes = 0;  // from one row to the next
};

// Places of fields in the header, and their lengths.
constexpr std::int64_t header_bytes = 2048, first_element = 780, generic_bytes = 1664;
constexpr std::size_t creator_at = 160, project_at = 260, copyright_at = 460, text_bytes = 200;
constexpr std::size_t place_at = 1408, place_bytes = 24;  // in the original picture
constexpr std::size_t film_at = 1664, film_bytes = 256, time_code_at = 1920;
constexpr std::uint64_t longest_padding = 4096;  // of a row
constexpr std::uint64_t undefined = 0xffffffff;

// What the descriptor of an element says.
enum Descriptor { luma = 6, rgb = 50, rgba = 51, abgr = 52 };

std::string text_at(const std::string& header, std::size_t at, std::size_t bytes) {
  const std::string field = header.substr(std::min(at, header.size()), bytes);
  const std::string text = field.substr(0, field.find('\0'));
  const bool is_text =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return is_text ? text : std::string();
}

// Bytes of a row of so many samples: whole words of 32 bits.
std::int64_t row_bytes_of(std::int64_t samples, int bits, int packing) {
  constexpr std::int64_t word = 32;
  std::int64_t row = samples * bits;
  if (bits == 10 && packing != 0) row = (samples + 2) / 3 * word;
  if (bits == 12 && packing != 0) row = samples * 16;
  return (row + word - 1) / word * 4;
}

void set_kind(DpxHeader& header, std::uint64_t descriptor) {
  ImageType& type = header.info.type;
  type = type_of(header.bits == 8 ? PixelClass::uint8 : PixelClass::uint16, 3, false);
  if (descriptor == luma) {
    type.channels = 1;
  } else if (descriptor == rgba || descriptor == abgr) {
    type.alpha = true;
    header.alpha_first = descriptor == abgr;
  } else if (descriptor != rgb) {
    fail("DPX of elements of kind ", descriptor, ", which is not gray, RGB, RGBA or ABGR");
  }
}

// Samples of a row out of the words that hold them, and back. Words of 32 bits are in the file's
// byte order; those of 8 bits are bytes.
class SampleRow {
 public:
  explicit SampleRow(const DpxHeader& header) : header_(header) {}

  void unpack(const std::byte* row, std::span<std::uint16_t> out) const {
    const int bits = header_.bits;
    if (bits == 8) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::to_integer<std::uint16_t>(row[i]);
    } else if (bits == 16 || (bits == 12 && header_.packing != 0)) {
      const int shift = bits == 12 && header_.packing == 1 ? 4 : 0;
      const unsigned mask = (1u << bits) - 1;
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<std::uint16_t>(half(row + 2 * i) >> shift & mask);
      }
    } else if (header_.packing != 0) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<std::uint16_t>(word(row + i / 3 * 4) >> shift_of(i) & 1023);
      }
    } else {
      const unsigned mask = (1u << bits) - 1;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t bit = i * static_cast<std::size_t>(bits);
        std::uint64_t pair = word(row + bit / 32 * 4);
        if (bit % 32 + static_cast<std::size_t>(bits) > 32) {
          pair |= std::uint64_t{word(row + bit / 32 * 4 + 4)} << 32;
        }
        out[i] = static_cast<std::uint16_t>(pair >> bit % 32 & mask);
      }
    }
  }

  // The row is zero before.
  void pack(std::span<const std::uint16_t> samples, std::byte* row) const {
    const int bits = header_.bits;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::uint32_t value = samples[i];
      if (bits == 8) {
        row[i] = static_cast<std::byte>(value);
      } else if (bits == 16 || (bits == 12 && header_.packing != 0)) {
        put_half(row + 2 * i, value << (bits == 12 && header_.packing == 1 ? 4 : 0));
      } else if (header_.packing != 0) {
        put_word(row + i / 3 * 4, word(row + i / 3 * 4) | value << shift_of(i));
      } else {
        const std::size_t bit = i * static_cast<std::size_t>(bits);
        const std::uint64_t pair = std::uint64_t{value} << bit % 32;
        std::byte* const at = row + bit / 32 * 4;
        put_word(at, word(at) | static_cast<std::uint32_t>(pair));
        if (pair >> 32 != 0)
          put_word(at + 4, word(at + 4) | static_cast<std::uint32_t>(pair >> 32));
      }
    }
  }

 private:
  // Of 10 bits, three to a word: the first is the highest, but the lowest in a gray element.
  int shift_of(std::size_t i) const {
    const int slot = static_cast<int>(i % 3);
    const bool gray = stored_channels(header_.info.type) == 1;
    return 10 * (gray ? slot : 2 - slot) + (header_.packing == 1 ? 2 : 0);
  }
  std::uint32_t half(const std::byte* at) const {
    const auto byte = [&](int i) { return std::to_integer<std::uint32_t>(at[i]); };
    return header_.big_endian ? byte(0) << 8 | byte(1) : byte(1) << 8 | byte(0);
  }
  std::uint32_t word(const std::byte* at) const {
    const std::uint32_t first = half(at), second = half(at + 2);
    return header_.big_endian ? first << 16 | second : second << 16 | first;
  }
  void put_half(std::byte* at, std::uint32_t value) const {
    at[header_.big_endian ? 0 : 1] = static_cast<std::byte>(value >> 8);
    at[header_.big_endian ? 1 : 0] = static_cast<std::byte>(value);
  }
  void put_word(std::byte* at, std::uint32_t value) const {
    put_half(at + (header_.big_endian ? 0 : 2), value >> 16);
    put_half(at + (header_.big_endian ? 2 : 0), value & 0xffff);
  }

  const DpxHeader& header_;
};

// Where channel c of the image, its alpha the last, stands among a pixel's samples.
std::size_t place_of(const DpxHeader& header, std::size_t c) {
  const auto count = static_cast<std::size_t>(stored_channels(header.info.type));
  return header.alpha_first ? count - 1 - c : c;
}

// The picture's place in the original one, where these fields of a header say it.
std::optional<Windows> windows_of(const std::string& place, bool big_endian, Size picture) {
  constexpr std::size_t offsets = 0, sizes = 16;
  const auto number = [&](std::size_t at) { return number_at(place, at, 4, big_endian); };
  constexpr std::uint64_t most = 1 << 30;
  for (const std::size_t at : {offsets, offsets + 4, sizes, sizes + 4}) {
    if (number(at) > most || (at >= sizes && number(at) == 0)) return {};
  }
  const auto side = [&](std::size_t at) { return static_cast<int>(number(at)); };
  const auto width = static_cast<int>(picture.width), height = static_cast<int>(picture.height);
  return Windows{{side(0), side(4), side(0) + width - 1, side(4) + height - 1},
                 {0, 0, side(sizes) - 1, side(sizes + 4) - 1}};
}

// A header for a picture that was made from none: fields that say nothing are all ones.
std::string new_header() {
  std::string header(static_cast<std::size_t>(header_bytes), '\xff');
  const auto clear = [&](std::size_t at, std::size_t bytes) {
    std::fill_n(header.begin() + static_cast<std::ptrdiff_t>(at), bytes, '\0');
  };
  clear(8, 8);     // version
  clear(36, 624);  // names, times, owners
  clear(768, 4);   // orientation, number of elements
  for (std::size_t i = 0; i < 8; ++i) clear(first_element + 72 * i + 40, 32);  // descriptions
  clear(1432, 188);  // names of the source
  clear(1664, 48);   // of the film
  clear(1732, 132);  // of its frame
  header.replace(8, 4, "V1.0");
  return header;
}

DpxHeader dpx_header(const ByteSource& source) {
  const std::string head = source.read(0, generic_bytes);
  DpxHeader header;
  header.big_endian = head.starts_with("SDPX");
  const auto number = [&](std::size_t at, int bytes) {
    return number_at(head, at, bytes, header.big_endian);
  };
  const std::uint64_t orientation = number(768, 2), elements = number(770, 2);
  header.info.stored = size_of(number(772, 4), number(776, 4));
  if (elements != 1) fail("DPX of ", elements, " elements; one is read");
  if (orientation > 3) fail("DPX that is stored column by column (orientation ", orientation, ")");
  header.bottom_up = (orientation & 1) != 0;
  header.right_to_left = (orientation & 2) != 0;
  header.bits = static_cast<int>(number(first_element + 23, 1));
  header.packing = static_cast<int>(number(first_element + 24, 2));
  const int bits = header.bits;
  if (bits != 8 && bits != 10 && bits != 12 && bits != 16) fail("DPX of ", bits, " bits a sample");
  if (header.packing > 2) fail("DPX with packing ", header.packing);
  if (number(first_element, 4) == 1) fail("DPX of numbers with a sign");
  if (number(first_element + 26, 2) == 1) fail("DPX in run lengths");
  set_kind(header, number(first_element + 20, 1));
  const std::uint64_t own = number(first_element + 28, 4);
  header.data = static_cast<std::int64_t>(own == 0 || own == undefined ? number(4, 4) : own);
  if (header.data < generic_bytes) fail("damaged DPX: its pixels begin within its header");
  header.info.detail = std::string(bits == 16 ? "16-bit" : depth_text(bits)) +
                       (header.big_endian ? ", big-endian" : ", little-endian");
  if (header.info.stored.width > max_side || header.info.stored.height > max_side) return header;
  const auto windows =
      windows_of(head.substr(place_at, place_bytes), header.big_endian, header.info.stored);
  if (windows) header.info.display = display_of(*windows);
  const std::int64_t samples = header.info.stored.width * stored_channels(header.info.type);
  header.row_bytes = row_bytes_of(samples, bits, header.packing);
  const std::uint64_t padding = number(first_element + 32, 4);
  const bool in_words = bits == 10 || (bits == 12 && header.packing == 0);
  const std::int64_t unpadded = samples * (bits == 8 ? 1 : 2);
  const std::int64_t aligned_end = header.data + header.row_bytes * header.info.stored.height;
  if (padding != undefined && padding > 0 && padding <= longest_padding) {
    header.row_bytes =
        (in_words ? header.row_bytes : unpadded) + static_cast<std::int64_t>(padding);
  } else if (!in_words && source.size() < aligned_end) {
    header.row_bytes = unpadded;  // some programs do not begin rows at whole words
  }
  header.info.min_bytes = header.data + header.row_bytes * header.info.stored.height;
  const auto length = static_cast<std::int64_t>(number(16, 4));
  const bool has_next =
      length >= header.info.min_bytes && source.read_some(length, 4) == head.substr(0, 4);
  if (has_next) fail("several pictures follow each other, and a DPX of one is read");
  return header;
}

HostImage decode_dpx(std::span<const std::byte> bytes) {
  const DpxHeader header = dpx_header(ByteSource(bytes));
  HostImage image(header.info.type, header.info.stored);
  const auto channels = static_cast<std::size_t>(stored_channels(header.info.type));
  const auto width = static_cast<std::size_t>(header.info.stored.width);
  std::vector<std::uint16_t> samples(channels * width);
  const SampleRow row(header);
  for (std::int64_t y = 0; y < header.info.stored.height; ++y) {
    row.unpack(bytes.data() + header.data + y * header.row_bytes, samples);
    if (header.bits != 8 && header.bits != 16) widen(samples, header.bits);
    const std::int64_t to = header.bottom_up ? header.info.stored.height - 1 - y : y;
    for (std::size_t c = 0; c < channels; ++c) {
      Plane& plane = c < image.planes.size() ? image.planes[c] : image.alpha;
      const std::size_t place = place_of(header, c);
      const auto fill = [&](auto* out) {
        using Value = std::remove_reference_t<decltype(*out)>;
        for (std::size_t x = 0; x < width; ++x) {
          const std::size_t from = header.right_to_left ? width - 1 - x : x;
          out[x] = static_cast<Value>(samples[from * channels + place]);
        }
      };
      if (header.bits == 8) {
        fill(plane.row_as<std::uint8_t>(to));
      } else {
        fill(plane.row_as<std::uint16_t>(to));
      }
    }
  }
  return image;
}

// Adds to `lost` what is left out of a header of more than max_metadata bytes.
std::shared_ptr<const DpxStorage> dpx_storage(std::span<const std::byte> bytes, Lost& lost) {
  const ByteSource source(bytes);
  const DpxHeader header = dpx_header(source);
  const bool fits = header.data <= max_metadata;
  if (!fits) lost.push_back(beyond_limit("its user's data"));
  return std::make_shared<const DpxStorage>(
      DpxStorage{source.read(0, fits ? header.data : header_bytes), header.big_endian, header.bits,
                 header.packing});
}

// Names the fields of a DPX header that other formats cannot store.
void name_storage(const Metadata& metadata, Lost& lost) {
  if (!metadata.dpx) return;
  const DpxStorage& storage = *metadata.dpx;
  const std::string& header = storage.header;
  const auto has_number = [&](std::size_t at) {
    const std::uint64_t value = number_at(header, at, 4, storage.big_endian);
    return at + 4 <= header.size() && value != undefined && value != 0;
  };
  if (!text_at(header, creator_at, 100).empty()) lost.emplace_back("its creator");
  if (!text_at(header, project_at, text_bytes).empty()) lost.emplace_back("its project");
  if (!text_at(header, copyright_at, text_bytes).empty()) lost.emplace_back("its copyright");
  bool has_film = false;
  for (std::size_t at = film_at; at < film_at + film_bytes; at += 4) {
    has_film = has_film || has_number(at);
  }
  if (has_film) lost.emplace_back("what it says of its film");
  if (has_number(time_code_at)) lost.emplace_back("its time code");
  const std::string_view own = std::string_view(header).substr(
      std::min(header.size(), static_cast<std::size_t>(header_bytes)));
  const bool says =
      own.find_first_not_of('\0') != own.npos && own.find_first_not_of('\xff') != own.npos;
  if (says) lost.emplace_back("its user's data");
}

// The offsets in the original picture, and its size: the fields of a header, moved as the picture
// was; all undefined where they do not say, or no rule is known.
std::string moved_place(const std::string& place, bool big_endian, const PixelChange& change,
                        const Size& before) {
  std::string out(place_bytes, '\xff');
  const std::optional<Windows> windows = windows_of(place, big_endian, before);
  const auto moved = windows ? moved_windows(*windows, change) : std::nullopt;
  if (!moved || moved->data[0] < 0 || moved->data[1] < 0) return out;
  const auto set = [&](std::size_t at, int value) {
    put_number(out, at, static_cast<std::uint64_t>(value), 4, big_endian);
  };
  for (std::size_t k = 0; k < 2; ++k) {
    set(4 * k, moved->data[k]);
    set(16 + 4 * k, moved->display[k + 2] + 1);
  }
  return out;
}

// What an image is stored as; a gray one with an alpha has its gray three times.
DpxHeader header_for(const HostImage& image, const DpxStorage* from) {
  DpxHeader header;
  header.info.type = image.type;
  if (image.type.alpha) header.info.type.channels = 3;
  header.info.stored = image.size();
  header.big_endian = from == nullptr || from->big_endian;
  const bool deep = image.type.cls == PixelClass::uint16;
  const bool as_before = from != nullptr && deep && from->bits > 8;
  header.bits = as_before ? from->bits : deep ? 16 : 8;
  header.packing = as_before ? from->packing : 0;
  header.row_bytes = row_bytes_of(image.size().width * stored_channels(header.info.type),
                                  header.bits, header.packing);
  return header;
}

// All that stands before the pixels: the fields of the DPX that the image was made from where they
// still hold.
std::string header_text(DpxHeader& header, const DpxStorage* from, const PixelChange& change,
                        Lost& lost) {
  std::string text = from == nullptr ? new_header() : from->header;
  if (text.size() < static_cast<std::size_t>(header_bytes)) text.resize(header_bytes, '\xff');
  header.data = static_cast<std::int64_t>(text.size());
  const std::int64_t end = header.data + header.row_bytes * header.info.stored.height;
  if (end > static_cast<std::int64_t>(undefined)) fail("DPX holds 4 GiB; write .tif or .exr");
  const auto set = [&](std::size_t at, std::int64_t value, int bytes) {
    put_number(text, at, static_cast<std::uint64_t>(value), bytes, header.big_endian);
  };
  const auto number = [&](std::size_t at, int bytes) {
    return static_cast<std::int64_t>(number_at(text, at, bytes, header.big_endian));
  };
  const Size before{number(772, 4), number(776, 4)};
  if (from != nullptr && (change.moved() || !(before == header.info.stored))) {
    const std::string place = text.substr(place_at, place_bytes);
    const bool says = place.find_first_not_of('\xff') != place.npos &&
                      place.find_first_not_of('\0') != place.npos;
    const std::string moved = moved_place(place, header.big_endian, change, before);
    const bool is_known = moved.find_first_not_of('\xff') != moved.npos;
    if (says && !is_known) lost.emplace_back("its place in the original picture");
    text.replace(place_at, place_bytes, moved);
  }
  const bool other_codes = from != nullptr && from->bits != header.bits;
  for (std::size_t at = 4; other_codes && at < 20; at += 4) {  // codes of black and white
    set(first_element + at, static_cast<std::int64_t>(undefined), 4);
  }
  text.replace(0, 4, header.big_endian ? "SDPX" : "XPDS");
  set(4, header.data, 4);
  set(16, end, 4);
  if (from == nullptr) {
    set(24, generic_bytes, 4);
    set(28, header_bytes - generic_bytes, 4);
    set(32, 0, 4);
    set(first_element + 21, 0, 2);  // transfer and colours: the user's
  }
  set(768, 0, 2);
  set(770, 1, 2);
  set(772, header.info.stored.width, 4);
  set(776, header.info.stored.height, 4);
  set(first_element, 0, 4);
  const ImageType& type = header.info.type;
  set(first_element + 20, type.alpha ? rgba : type.channels == 1 ? luma : rgb, 1);
  set(first_element + 23, header.bits, 1);
  set(first_element + 24, header.packing, 2);
  set(first_element + 26, 0, 2);
  set(first_element + 28, header.data, 4);
  const std::int64_t unpadded =
      header.info.stored.width * stored_channels(header.info.type) * (header.bits == 8 ? 1 : 2);
  const bool in_words = header.bits == 10 || (header.bits == 12 && header.packing == 0);
  set(first_element + 32, in_words ? 0 : header.row_bytes - unpadded, 4);
  return text;
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& encoded) {
  const DpxStorage* from = input.metadata.dpx.get();
  DpxHeader header = header_for(image, from);
  const std::string text = header_text(header, from, input.metadata.change, encoded.lost);
  const Size size = image.size();
  const auto channels = static_cast<std::size_t>(stored_channels(header.info.type));
  const auto width = static_cast<std::size_t>(size.width);
  Bytes out(static_cast<std::size_t>(header.data + header.row_bytes * size.height));
  std::memcpy(out.data(), text.data(), text.size());
  std::vector<std::uint16_t> samples(channels * width);
  const SampleRow row(header);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::size_t c = 0; c < channels; ++c) {
      const bool is_alpha = image.type.alpha && c + 1 == channels;
      const Plane& plane =
          is_alpha ? image.alpha : image.planes[std::min(c, image.planes.size() - 1)];
      for (std::size_t x = 0; x < width; ++x) {
        samples[x * channels + c] = header.bits == 8 ? plane.row_as<std::uint8_t>(y)[x]
                                    : header.bits == 16
                                        ? plane.row_as<std::uint16_t>(y)[x]
                                        : narrowed(plane.row_as<std::uint16_t>(y)[x], header.bits);
      }
    }
    row.pack(samples, out.data() + header.data + y * header.row_bytes);
  }
  return out;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  if (input.options.metadata) out.metadata.dpx = dpx_storage(input.file, out.lost);
  return decode_dpx(input.file);
}

}  // namespace

const FormatTraits dpx_format{
    .format = Format::dpx,
    .name = "DPX",
    .extensions = "dpx",
    .can = {Can::eight, Can::sixteen, Can::alpha, Can::metadata},
    .sniff =
        [](std::string_view head) { return head.starts_with("SDPX") || head.starts_with("XPDS"); },
    .header = [](const HeaderInput& input) { return dpx_header(input.source).info; },
    .decode = decode,
    .encode = encode,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
    .name_storage = name_storage,
};

}  // namespace impipe::io
