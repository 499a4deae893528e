#include "support/made_packed.hpp"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <type_traits>

namespace impipe::testing {
namespace {

using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Bytes = std::vector<std::byte>;

// Stored samples, [k][y][x].
struct Stored {
  std::vector<std::uint32_t> all;
  Size size;
  std::uint32_t& at(std::int64_t k, std::int64_t y, std::int64_t x) {
    return all[static_cast<std::size_t>((k * size.height + y) * size.width + x)];
  }
};

std::uint32_t mask_of(int bits) { return bits == 32 ? 0xffffffffU : (1U << bits) - 1U; }

Stored stored_samples(const PackedForm& form, Samples samples, unsigned seed) {
  std::mt19937 random(seed);
  Stored made{{}, form.size};
  made.all.resize(static_cast<std::size_t>(form.samples() * form.size.pixels()));
  const std::uint32_t mask = mask_of(form.bits);
  const auto flat = static_cast<std::uint32_t>(random());
  for (int k = 0; k < form.samples(); ++k) {
    for (std::int64_t y = 0; y < form.size.height; ++y) {
      for (std::int64_t x = 0; x < form.size.width; ++x) {
        std::uint32_t v = 0;
        const double smooth = std::sin(0.05 * static_cast<double>(x + k)) +
                              std::cos(0.07 * static_cast<double>(y)) + 2;
        switch (samples) {
          case Samples::noise: v = static_cast<std::uint32_t>(random()); break;
          case Samples::natural:
            v = static_cast<std::uint32_t>(smooth * 0.2 * mask) +
                static_cast<std::uint32_t>(random() % 5);
            break;
          case Samples::flat: v = flat; break;
          case Samples::drawn: v = x / 9 % 5 == y / 7 % 3 ? 0x3c3c3c3cU : 0x40404040U; break;
        }
        made.at(k, y, x) = v & mask;
      }
    }
  }
  return made;
}

float value_of_half(std::uint32_t half) {
  const auto fraction = static_cast<float>(half & 0x3ffU);
  const int exponent = static_cast<int>(half >> 10 & 31U);
  const float sign = half >> 15 != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31 && fraction == 0) return sign * INFINITY;
  if (exponent == 31)
    return std::bit_cast<float>((half & 0x8000U) << 16 | 0x7f800000U | (half & 0x3ffU) << 13);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

float single_of(const PackedForm& form, std::uint32_t v) {
  using Sample = PackedForm::Sample;
  switch (form.sample) {
    case Sample::half: return value_of_half(v);
    case Sample::integer: return static_cast<float>(v);
    case Sample::signed_integer: {
      const auto value = static_cast<std::int64_t>(v), half = std::int64_t{1} << (form.bits - 1);
      return static_cast<float>(value >= half ? value - 2 * half : value);
    }
    default: return std::bit_cast<float>(v << (32 - form.bits));
  }
}

Planes planes_of(const PackedForm& form, Stored& stored) {
  Planes planes;
  for (int c = 0; c < form.channels; ++c) planes.emplace_back(form.cls, form.size);
  for (int k = 0; k < form.channels; ++k) {
    Plane& plane = planes[form.channel_of[static_cast<std::size_t>(k)]];
    for (std::int64_t y = 0; y < form.size.height; ++y) {
      for (std::int64_t x = 0; x < form.size.width; ++x) {
        const std::uint32_t v = stored.at(k, y, x);
        const std::uint32_t white = form.cls == PixelClass::logical ? 1
                                    : form.cls == PixelClass::uint8 ? 255
                                                                    : 65535;
        const std::uint32_t most = mask_of(form.bits);
        const bool is_inverted = form.inverted && k == 0;
        const std::uint32_t code = (is_inverted ? most - v : v) * (white / std::min(white, most));
        if (form.cls == PixelClass::single) {
          plane.row_as<float>(y)[x] = single_of(form, v);
        } else if (form.cls == PixelClass::uint16) {
          plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(code);
        } else {
          plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(code);
        }
      }
    }
  }
  return planes;
}

// Colours that were multiplied by alpha, the last plane, without it: integers are rounded to the
// nearest, halves up, and no larger than white.
template <class T>
T straight(T colour, T alpha) {
  if constexpr (std::is_same_v<T, float>) {
    return colour / alpha;
  } else {
    constexpr std::uint64_t white = std::numeric_limits<T>::max();
    return static_cast<T>(
        std::min(white, (2 * colour * white + alpha) / (2 * std::uint64_t{alpha})));
  }
}
template <class T>
void straighten(Planes& planes) {
  const Plane& alpha = planes.back();
  for (std::size_t c = 0; c + 1 < planes.size(); ++c) {
    for (std::int64_t y = 0; y < alpha.size().height; ++y) {
      T* row = planes[c].row_as<T>(y);
      const T* by = alpha.row_as<T>(y);
      for (std::int64_t x = 0; x < alpha.size().width; ++x) {
        if (by[x] != 0) row[x] = straight(row[x], by[x]);
      }
    }
  }
}
Planes straightened(const PackedForm& form, Planes planes) {
  if (form.alpha != PackedForm::Alpha::associated) return planes;
  if (form.cls == PixelClass::single) straighten<float>(planes);
  if (form.cls == PixelClass::uint16) straighten<std::uint16_t>(planes);
  if (form.cls == PixelClass::uint8) straighten<std::uint8_t>(planes);
  return planes;
}

std::vector<std::uint32_t> random_palette(unsigned seed) {
  std::mt19937 random(seed + 7);
  std::vector<std::uint32_t> palette(256);
  for (std::uint32_t& colour : palette) colour = static_cast<std::uint32_t>(random());
  return palette;
}
Planes planes_of_indices(const PackedForm& form, Stored& stored,
                         const std::vector<std::uint32_t>& palette) {
  Planes planes;
  for (int c = 0; c < form.channels; ++c) {
    Plane& plane = planes.emplace_back(form.cls, form.size);
    for (std::int64_t y = 0; y < form.size.height; ++y) {
      for (std::int64_t x = 0; x < form.size.width; ++x) {
        plane.row_as<std::uint8_t>(y)[x] =
            static_cast<std::uint8_t>(palette[stored.at(0, y, x)] >> (8 * c));
      }
    }
  }
  return planes;
}

// A row of samples as bytes, in the form's width and order of bytes.
Bytes row_bytes(const PackedForm& form, const std::vector<std::uint32_t>& row) {
  Bytes bytes((row.size() * static_cast<std::size_t>(form.bits) + 7) / 8);
  const auto width = static_cast<std::size_t>(form.bits / 8);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (form.bits < 8) {
      const std::size_t at = i * static_cast<std::size_t>(form.bits);
      const auto shift = 8 - static_cast<std::size_t>(form.bits) - at % 8;
      bytes[at / 8] |= static_cast<std::byte>(row[i] << shift);
      continue;
    }
    for (std::size_t b = 0; b < width; ++b) {
      const std::size_t place = form.big_endian ? width - 1 - b : b;
      bytes[i * width + place] = static_cast<std::byte>(row[i] >> (8 * b));
    }
  }
  return bytes;
}

// TIFF's predictor 3: the most significant bytes of a row first, then differences of bytes.
Bytes float_differences(const PackedForm& form, const std::vector<std::uint32_t>& row,
                        std::size_t samples) {
  const auto width = static_cast<std::size_t>(form.bits / 8);
  Bytes bytes(row.size() * width);
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t b = 0; b < width; ++b) {
      bytes[(width - 1 - b) * row.size() + i] = static_cast<std::byte>(row[i] >> (8 * b));
    }
  }
  for (std::size_t i = bytes.size(); i-- > samples;) {
    bytes[i] = static_cast<std::byte>(std::to_integer<int>(bytes[i]) -
                                      std::to_integer<int>(bytes[i - samples]));
  }
  return bytes;
}

// OpenEXR's PXR24: differences of samples, the most significant bytes of a row first.
Bytes pxr24_row(const PackedForm& form, std::vector<std::uint32_t> row) {
  for (std::size_t i = row.size(); i-- > 1;) row[i] -= row[i - 1];
  Bytes bytes;
  for (int shift = form.bits - 8; shift >= 0; shift -= 8) {
    for (const std::uint32_t sample : row) bytes.push_back(static_cast<std::byte>(sample >> shift));
  }
  return bytes;
}

// OpenEXR's: even bytes before odd ones, then differences and 128.
Bytes exr_bytes(const Bytes& from) {
  Bytes apart, made;
  for (std::size_t first : {0, 1}) {
    for (std::size_t i = first; i < from.size(); i += 2) apart.push_back(from[i]);
  }
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const int before = i == 0 ? 128 : std::to_integer<int>(apart[i - 1]);
    made.push_back(static_cast<std::byte>(std::to_integer<int>(apart[i]) - before + 128));
  }
  return made;
}

// One row of a chunk, of one channel or of all.
Bytes filtered_row(const PackedForm& form, std::vector<std::uint32_t> row) {
  const auto samples = static_cast<std::size_t>(form.order == Order::by_pixel ? form.samples() : 1);
  if (form.filter == Filter::float_differences) return float_differences(form, row, samples);
  if (form.filter == Filter::pxr24) return pxr24_row(form, std::move(row));
  if (form.filter == Filter::differences) {
    for (std::size_t i = row.size(); i-- > samples;) {
      row[i] = (row[i] - row[i - samples]) & mask_of(form.bits);
    }
  }
  return row_bytes(form, row);
}

// Runs of bytes as TIFF's PackBits (TIFF 6.0, section 9) or OpenEXR says how long they are.
Bytes run_lengths(const Bytes& from, bool is_exr) {
  Bytes made;
  std::size_t at = 0;
  const auto repeats = [&](std::size_t i) {
    std::size_t count = 1;
    while (i + count < from.size() && count < 128 && from[i + count] == from[i]) ++count;
    return count;
  };
  while (at < from.size()) {
    std::size_t count = repeats(at);
    if (count >= 3) {
      made.push_back(static_cast<std::byte>(is_exr ? count - 1 : 257 - count));
      made.push_back(from[at]);
    } else {
      count = 1;
      while (at + count < from.size() && count < 128 && repeats(at + count) < 3) ++count;
      made.push_back(static_cast<std::byte>(is_exr ? 256 - count : count - 1));
      made.insert(made.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                  from.begin() + static_cast<std::ptrdiff_t>(at + count));
    }
    at += count;
    if (!is_exr && at % 7 == 0) made.push_back(std::byte{128});  // which says nothing
  }
  return made;
}

// TIFF's LZW (TIFF 6.0, section 13): codes from 9 bits on, the uppermost first, wider one entry
// before they have to be; the table is cleared at the beginning and when it has 4094 entries.
Bytes lzw_codes(const Bytes& from) {
  Bytes made;
  std::uint32_t waiting = 0;
  int bits = 0, width = 9;
  const auto put = [&](std::uint32_t code) {
    waiting = waiting << width | code;
    for (bits += width; bits >= 8; bits -= 8) {
      made.push_back(static_cast<std::byte>(waiting >> (bits - 8)));
    }
  };
  std::map<std::pair<std::uint32_t, std::byte>, std::uint32_t> table;
  std::uint32_t next = 258;
  put(256);
  std::uint32_t prefix = std::to_integer<std::uint32_t>(from[0]);
  for (std::size_t i = 1; i < from.size(); ++i) {
    const auto found = table.find({prefix, from[i]});
    if (found != table.end()) {
      prefix = found->second;
      continue;
    }
    put(prefix);
    table[{prefix, from[i]}] = next++;
    if (next == 512 || next == 1024 || next == 2048) ++width;
    if (next == 4095) {
      put(256);
      table.clear();
      next = 258;
      width = 9;
    }
    prefix = std::to_integer<std::uint32_t>(from[i]);
  }
  put(prefix);
  if (next == 511 || next == 1023 || next == 2047) ++width;
  put(257);
  if (bits > 0) made.push_back(static_cast<std::byte>(waiting << (8 - bits)));
  return made;
}

// PNG's row of a filter type (W3C PNG, 9.2), behind the type.
Bytes png_row(int type, const Bytes& row, const Bytes& above, std::size_t step) {
  Bytes made{static_cast<std::byte>(type)};
  const auto at = [](const Bytes& bytes, std::size_t i, std::size_t back) {
    return i < back ? 0 : std::to_integer<int>(bytes[i - back]);
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int a = at(row, i, step), b = at(above, i, 0), c = at(above, i, step);
    const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
    const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    const int predicted[] = {0, a, b, (a + b) / 2, paeth};
    made.push_back(static_cast<std::byte>(std::to_integer<int>(row[i]) - predicted[type]));
  }
  return made;
}
Bytes png_rows(const PackedForm& form, const Bytes& bytes, unsigned seed) {
  std::mt19937 random(seed);
  const auto width = static_cast<std::size_t>(form.row_bytes(form.size.width));
  const auto step = static_cast<std::size_t>(std::max(1, form.bits * form.samples() / 8));
  Bytes above(width), made;
  for (auto row = bytes.begin(); row != bytes.end(); row += static_cast<std::ptrdiff_t>(width)) {
    const Bytes own(row, row + static_cast<std::ptrdiff_t>(width));
    // Every type; and for long runs of one, Paeth.
    const int type = random() % 3 == 0 ? 4 : static_cast<int>(random() % 5);
    const Bytes filtered = png_row(type, own, above, step);
    made.insert(made.end(), filtered.begin(), filtered.end());
    above = own;
  }
  return made;
}

struct Place {
  std::int64_t x, y;
  Size size;
  int first, end;  // channels
};

Bytes chunk_bytes(const PackedForm& form, Stored& stored, const Place& place, bool is_plain) {
  PackedForm plain = form;
  if (is_plain) plain.filter = Filter::none;
  const auto sample = [&](int k, std::int64_t y, std::int64_t x) {
    const bool inside = x < form.size.width && y < form.size.height;
    return inside ? stored.at(k, y, x)
                  : static_cast<std::uint32_t>(77 * x + y) & mask_of(form.bits);
  };
  Bytes bytes;
  const auto add = [&](std::vector<std::uint32_t> row) {
    const Bytes made = filtered_row(plain, std::move(row));
    bytes.insert(bytes.end(), made.begin(), made.end());
  };
  for (std::int64_t y = place.y; y < place.y + place.size.height; ++y) {
    std::vector<std::uint32_t> row;
    if (form.order == Order::by_pixel) {
      for (std::int64_t x = place.x; x < place.x + place.size.width; ++x) {
        for (int k = 0; k < form.samples(); ++k) row.push_back(sample(k, y, x));
      }
      add(std::move(row));
      continue;
    }
    for (int k = place.first; k < place.end; ++k) {
      std::vector<std::uint32_t> one;
      for (std::int64_t x = place.x; x < place.x + place.size.width; ++x) {
        one.push_back(sample(k, y, x));
      }
      add(std::move(one));
    }
  }
  return plain.filter == Filter::exr ? exr_bytes(bytes) : bytes;
}

std::vector<Place> places_of(const PackedForm& form) {
  std::vector<Place> places;
  const bool by_plane = form.order == Order::by_plane;
  for (int k = 0; k < (by_plane ? form.samples() : 1); ++k) {
    for (std::int64_t y = 0; y < form.size.height; y += form.chunk.height) {
      for (std::int64_t x = 0; x < form.size.width; x += form.chunk.width) {
        Size size = form.chunk;
        if (!form.padded) {
          size.width = std::min(size.width, form.size.width - x);
          size.height = std::min(size.height, form.size.height - y);
        }
        places.push_back({x, y, size, by_plane ? k : 0, by_plane ? k + 1 : form.samples()});
      }
    }
  }
  return places;
}

}  // namespace

Bytes zlib_stream(const Bytes& bytes, const Packer& packer) {
  Bytes made(bytes.size() + bytes.size() / 8 + 1000);
  if (packer.library == Packer::Library::libdeflate) {
    libdeflate_compressor* compressor = libdeflate_alloc_compressor(packer.level);
    made.resize(
        libdeflate_zlib_compress(compressor, bytes.data(), bytes.size(), made.data(), made.size()));
    libdeflate_free_compressor(compressor);
    return made;
  }
  z_stream stream{};
  deflateInit2(&stream, packer.level, Z_DEFLATED, 15, 8, packer.strategy);
  Bytes from = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::logic_error("no room to deflate");
  made.resize(stream.total_out);
  deflateEnd(&stream);
  return made;
}

Bytes inflated(const Bytes& stream, std::size_t count) {
  Bytes from = stream, made(count + 1);
  z_stream state{};
  inflateInit(&state);
  state.next_in = reinterpret_cast<Bytef*>(from.data());
  state.avail_in = static_cast<uInt>(from.size());
  state.next_out = reinterpret_cast<Bytef*>(made.data());
  state.avail_out = static_cast<uInt>(made.size());
  const int code = inflate(&state, Z_FINISH);
  const bool is_right = code == Z_STREAM_END && state.total_out == count;
  inflateEnd(&state);
  made.resize(is_right ? count : 0);
  return made;
}

MadePicture made_packed(const PackedForm& form, Samples samples, const Packer& packer,
                        unsigned seed, const std::function<bool(std::size_t)>& stored) {
  Stored all = stored_samples(form, samples, seed);
  MadePicture made;
  made.packed.form = form;
  if (form.palette) {
    made.packed.palette = random_palette(seed);
    made.expected = planes_of_indices(form, all, made.packed.palette);
  } else {
    made.expected = straightened(form, planes_of(form, all));
  }
  for (const Place& place : places_of(form)) {
    const bool is_stored = stored && stored(made.packed.chunks.size());
    Bytes bytes = chunk_bytes(form, all, place, is_stored);
    if (form.filter == Filter::png) bytes = png_rows(form, bytes, seed);
    if (form.packing == Packing::zlib && !is_stored) bytes = zlib_stream(bytes, packer);
    if (form.packing == Packing::packbits && !is_stored) bytes = run_lengths(bytes, false);
    if (form.packing == Packing::exr_rle && !is_stored) bytes = run_lengths(bytes, true);
    if (form.packing == Packing::lzw && !is_stored) bytes = lzw_codes(bytes);
    // Something else between the chunks, so that they begin at any byte.
    made.packed.bytes.resize(made.packed.bytes.size() + made.packed.chunks.size() % 5,
                             std::byte{0xa5});
    made.packed.chunks.push_back({static_cast<std::int64_t>(made.packed.bytes.size()),
                                  static_cast<std::int64_t>(bytes.size()), is_stored});
    made.packed.bytes.insert(made.packed.bytes.end(), bytes.begin(), bytes.end());
  }
  return made;
}

std::string difference(const Planes& planes, const Planes& expected) {
  if (planes.size() != expected.size()) return "channels";
  for (std::size_t c = 0; c < planes.size(); ++c) {
    const auto bytes = static_cast<std::size_t>(bytes_of(expected[c].cls()));
    const std::size_t width = bytes * static_cast<std::size_t>(expected[c].size().width);
    for (std::int64_t y = 0; y < expected[c].size().height; ++y) {
      const auto a = planes[c].row(y), b = expected[c].row(y);
      for (std::size_t x = 0; x < width; ++x) {
        if (a[x] == b[x]) continue;
        return "channel " + std::to_string(c) + " at " + std::to_string(x / bytes) + ", " +
               std::to_string(y);
      }
    }
  }
  return "";
}

}  // namespace impipe::testing
