// NumPy's .npy files, read and written without the codec module.
#include <bit>
#include <cstring>

#include "io/headers.hpp"
#include "io/numbers.hpp"
#include "io/pixel_rows.hpp"

namespace impipe::io {
namespace {

// The value of a key of the header's Python dictionary, as text up to the end of the value.
std::string value_of(const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  if (at == header.npos) fail("damaged NPY: its header has no '" + key + "'");
  const size_t colon = header.find(':', at);
  const size_t begin = header.find_first_not_of(' ', std::min(colon, header.size() - 1) + 1);
  if (colon == header.npos || begin == header.npos) fail("damaged NPY: its header ends early");
  const size_t end =
      header[begin] == '(' ? header.find(')', begin) + 1 : header.find_first_of(",}", begin);
  return header.substr(begin, end - begin);
}

std::vector<std::int64_t> shape_of(const std::string& text) {
  std::vector<std::int64_t> shape;
  std::int64_t number = -1;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      if (number > (std::int64_t{1} << 50)) fail("damaged NPY: its shape is " + text);
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    } else {
      if (number >= 0) shape.push_back(number);
      number = -1;
    }
  }
  return shape;
}

template <class Word>
Word word_at(const std::byte* from, bool swap) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if (!swap) return word;
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
  return word;
}

// A number that no class but single takes in.
float single_at(const std::byte* from, const NpyHeader& h) {
  const bool swap = h.big_endian;
  const bool is_signed = h.kind == 'i';
  switch (h.item_bytes) {
    case 1: return static_cast<float>(static_cast<std::int8_t>(*from));
    case 2: {
      const auto word = word_at<std::uint16_t>(from, swap);
      return is_signed ? static_cast<float>(static_cast<std::int16_t>(word)) : half_to_float(word);
    }
    case 4: {
      const auto word = word_at<std::uint32_t>(from, swap);
      if (h.kind == 'f') return std::bit_cast<float>(word);
      return is_signed ? exact_single(static_cast<std::int32_t>(word)) : exact_single(word);
    }
    default: {
      const auto word = word_at<std::uint64_t>(from, swap);
      if (h.kind == 'f') return static_cast<float>(std::bit_cast<double>(word));
      return is_signed ? exact_single(static_cast<std::int64_t>(word)) : exact_single(word);
    }
  }
}

void store(Plane& plane, std::int64_t y, std::int64_t x, const std::byte* from,
           const NpyHeader& h) {
  switch (plane.cls()) {
    case PixelClass::logical:
      plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(*from) != 0;
      return;
    case PixelClass::uint8:
      plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(*from);
      return;
    case PixelClass::uint16:
      plane.row_as<std::uint16_t>(y)[x] = word_at<std::uint16_t>(from, h.big_endian);
      return;
    case PixelClass::single: plane.row_as<float>(y)[x] = single_at(from, h);
  }
}

Bytes npy_begin(const std::string& type, const std::string& shape, std::int64_t data_bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The pixels begin at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const std::string head = std::string("\x93NUMPY\x01\x00", 8) +
                           static_cast<char>(header.size() & 0xff) +
                           static_cast<char>(header.size() >> 8) + header;
  Bytes out;
  out.reserve(head.size() + static_cast<size_t>(data_bytes));
  const auto* begin = reinterpret_cast<const std::byte*>(head.data());
  out.insert(out.end(), begin, begin + head.size());
  return out;
}

// The type of an array's items. Numbers that no class holds become single without a white, as in
// TIFF (docs/decisions/0024-numbers-without-a-class.md).
void read_type(NpyHeader& out, const std::string& type) {
  const bool known = type.size() == 5;
  out.kind = known ? type[2] : '?';
  out.item_bytes = known ? type[3] - '0' : 0;
  out.big_endian = known && type[1] == '>';
  const int bytes = out.item_bytes;
  const bool up_to_64_bits = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  ImageType& image = out.info.type;
  if (out.kind == 'b' && bytes == 1) {
    image = {.cls = PixelClass::logical, .white = 1};
  } else if (out.kind == 'u' && bytes <= 2 && up_to_64_bits) {
    image = bytes == 1 ? ImageType{.cls = PixelClass::uint8, .white = 255}
                       : ImageType{.cls = PixelClass::uint16, .white = 65535};
  } else if (out.kind == 'f' && bytes > 1 && up_to_64_bits) {
    image = {.cls = PixelClass::single, .white = 1};
  } else if ((out.kind == 'u' || out.kind == 'i') && up_to_64_bits) {
    image = {.cls = PixelClass::single, .white = 0};
  } else {
    fail("NPY of type " + type +
         " is not supported (bool, integers of 8 to 64 bits and floats of 16 to 64 are)");
  }
}

// The header of the array that begins at `begin`.
NpyHeader header_at(const ByteSource& source, std::int64_t begin) {
  const std::string head = source.read(begin, 12);
  const int version = head[6];
  const int length_bytes = version == 1 ? 2 : 4;
  const auto length = static_cast<std::int64_t>(little_at(head, 8, length_bytes));
  if (version < 1 || version > 3 || length > (1 << 20)) fail("damaged NPY: unknown version");
  const std::string header = source.read(begin + 8 + length_bytes, length);
  NpyHeader out;
  out.data = begin + 8 + length_bytes + length;
  const std::string type = value_of(header, "descr");
  read_type(out, type);
  out.fortran_order = value_of(header, "fortran_order").starts_with("True");
  const std::string shape_text = value_of(header, "shape");
  const std::vector<std::int64_t> shape = shape_of(shape_text);
  if (shape.empty() || shape.size() > 3 ||
      (shape.size() == 3 && (shape[2] < 1 || shape[2] > max_channels))) {
    fail("NPY of shape " + shape_text + " is no image (H x W, or H x W x 1 to " +
         std::to_string(max_channels) + ", is)");
  }
  out.channels = shape.size() == 3 ? static_cast<int>(shape[2]) : 1;
  out.info.format = Format::npy;
  out.info.stored = shape.size() == 1 ? Size{shape[0], 1} : Size{shape[1], shape[0]};
  // Gray or colour with an alpha, unless the numbers have no white, and so no alpha.
  out.info.type.alpha = (out.channels == 2 || out.channels == 4) && out.info.type.white != 0;
  out.info.type.channels = out.channels - (out.info.type.alpha ? 1 : 0);
  out.info.detail = depth_text(out.kind == 'b' ? 1 : 8 * out.item_bytes, out.kind == 'f') +
                    (out.kind == 'i' ? " signed" : "") +
                    (out.fortran_order ? ", Fortran order" : "");
  return out;
}

std::int64_t pixel_bytes(const NpyHeader& h) {
  return h.info.stored.pixels() * h.channels * h.item_bytes;
}

}  // namespace

NpyHeader npy_header(const ByteSource& source) {
  NpyHeader first = header_at(source, 0);
  // numpy.save appends to an open file.
  NpyHeader last = first;
  while (last.info.stored.width <= max_side && last.info.stored.height <= max_side) {
    const std::int64_t end = last.data + pixel_bytes(last);
    if (source.read_some(end, 6) != "\x93NUMPY") break;
    last = header_at(source, end);
    ++first.info.pages;
  }
  return first;
}

HostImage decode_npy(std::span<const std::byte> bytes) {
  const NpyHeader h = npy_header(ByteSource(bytes));
  const Size size = h.info.stored;
  const std::int64_t needs = pixel_bytes(h);
  const std::int64_t has = static_cast<std::int64_t>(bytes.size()) - h.data;
  if (has < needs) {
    fail("truncated NPY: " + std::to_string(has) + " bytes of pixels, " + std::to_string(needs) +
         " needed");
  }
  HostImage image(h.info.type, size);
  const std::byte* data = bytes.data() + h.data;
  const int colours = image.type.channels;
  // Distances, in items, between neighbours along each axis.
  const std::int64_t dx = h.fortran_order ? size.height : h.channels;
  const std::int64_t dy = h.fortran_order ? 1 : size.width * h.channels;
  const std::int64_t dc = h.fortran_order ? size.pixels() : 1;
  const bool plain = !h.fortran_order && !h.big_endian &&
                     (image.type.cls == PixelClass::single ? h.kind == 'f' : h.kind == 'u') &&
                     h.item_bytes == bytes_of(image.type.cls);
  if (plain) {
    RowSplitter splitter(image);
    std::vector<std::byte> row(static_cast<size_t>(stored_bytes(image.type, size.width)));
    for (std::int64_t y = 0; y < size.height; ++y) {
      // The array may begin anywhere.
      std::memcpy(row.data(), data + y * dy * h.item_bytes, row.size());
      splitter.put(row.data(), y);
    }
    return image;
  }
  for (int c = 0; c < h.channels; ++c) {
    Plane& plane = c < colours ? image.planes[static_cast<size_t>(c)] : image.alpha;
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        store(plane, y, x, data + (y * dy + x * dx + c * dc) * h.item_bytes, h);
      }
    }
  }
  return image;
}

Bytes encode_npy(const HostImage& image) {
  constexpr const char* types[] = {"|b1", "|u1", "<u2", "<f4"};
  const Size size = image.size();
  const int channels = stored_channels(image.type);
  std::string shape = std::to_string(size.height) + ", " + std::to_string(size.width);
  if (channels > 1) shape += ", " + std::to_string(channels);
  Bytes out = npy_begin(types[static_cast<int>(image.type.cls)], shape,
                        stored_bytes(image.type, size.pixels()));
  append_rows(out, image, 0, size.height, 1);
  return out;
}

Bytes encode_npy(std::span<const double> values, std::span<const std::int64_t> shape) {
  std::string text;
  for (std::int64_t n : shape) text += std::to_string(n) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  Bytes out = npy_begin("<f8", text, static_cast<std::int64_t>(values.size_bytes()));
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  out.insert(out.end(), begin, begin + values.size_bytes());
  return out;
}

}  // namespace impipe::io
