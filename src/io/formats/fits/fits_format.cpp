// FITS' row of the table of formats, and how a FITS is written: one picture, its cards as they were
// read.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "io/formats/by_module.hpp"
#include "io/formats/fits/fits_cards.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

constexpr std::size_t block = 2880, card_length = 80;

// How numbers of a type are stored: without a sign they are signed ones beside BZERO.
struct Stored {
  int bits = 8;            // BITPIX
  double zero = 0;         // BZERO
  std::uint64_t flip = 0;  // the bit by which the two differ
};
Stored stored_as(PixelClass cls, SampleType samples) {
  switch (samples) {
    case SampleType::int8: return {8, -128, 0x80};
    case SampleType::int16: return {.bits = 16};
    case SampleType::int32: return {.bits = 32};
    case SampleType::int64: return {.bits = 64};
    case SampleType::uint32: return {32, 2147483648.0, 0x80000000U};
    case SampleType::uint64: return {64, 9223372036854775808.0, 0x8000000000000000U};
    case SampleType::float64: return {.bits = -64};
    case SampleType::of_class: break;
  }
  if (cls == PixelClass::single) return {.bits = -32};
  return cls == PixelClass::uint16 ? Stored{16, 32768, 0x8000} : Stored{.bits = 8};
}

class Header {
 public:
  void add(std::string card) {
    card.resize(card_length, ' ');
    text_ += card;
  }
  void add(std::string_view key, std::string_view value, std::string_view comment) {
    add(fmt::format("{:<8}= {:>20} / {}", key, value, comment));
  }
  std::string finish() {
    add("END");
    text_.resize((text_.size() + block - 1) / block * block, ' ');
    return std::move(text_);
  }

 private:
  std::string text_;
};

std::string header_of(const HostImage& image, const Stored& stored,
                      const std::vector<std::string>& cards) {
  Header header;
  const Size size = image.size();
  const int channels = image.type.channels;
  header.add("SIMPLE", "T", "conforms to the FITS standard");
  header.add("BITPIX", std::to_string(stored.bits), "bits of a number");
  header.add("NAXIS", channels == 1 ? "2" : "3", "number of axes");
  header.add("NAXIS1", std::to_string(size.width), "columns");
  header.add("NAXIS2", std::to_string(size.height), "rows, from the lowest");
  if (channels > 1) header.add("NAXIS3", std::to_string(channels), "red, green, blue");
  if (stored.zero != 0) {
    header.add("BSCALE", "1", "numbers are BZERO + BSCALE x what is stored");
    header.add("BZERO", fmt::format("{:.0f}", stored.zero), "");
  }
  for (const std::string& card : cards) header.add(card);
  return header.finish();
}

// Numbers of one row, the byte of the highest bits first.
template <class Word>
void append_words(Bytes& out, const std::byte* row, std::int64_t count, std::uint64_t flip) {
  for (std::int64_t x = 0; x < count; ++x) {
    Word word;
    std::memcpy(&word, row + x * static_cast<std::int64_t>(sizeof word), sizeof word);
    word = static_cast<Word>(word ^ static_cast<Word>(flip));
    for (int shift = 8 * (static_cast<int>(sizeof word) - 1); shift >= 0; shift -= 8) {
      out.push_back(static_cast<std::byte>(word >> shift & 0xff));
    }
  }
}

void append_row(Bytes& out, const std::byte* row, std::int64_t count, const Stored& stored) {
  switch (std::abs(stored.bits)) {
    case 8: return append_words<std::uint8_t>(out, row, count, stored.flip);
    case 16: return append_words<std::uint16_t>(out, row, count, stored.flip);
    case 32: return append_words<std::uint32_t>(out, row, count, stored.flip);
    default: return append_words<std::uint64_t>(out, row, count, stored.flip);
  }
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& encoded) {
  const SampleType samples = samples_for(image, input.metadata, input.options, encoded);
  const Stored stored = stored_as(image.type.cls, samples);
  const std::vector<std::string> cards =
      cards_after(input.metadata.fits_cards, input.metadata.change, encoded.lost);
  const std::string header = header_of(image, stored, cards);
  const Size size = image.size();
  Bytes out;
  out.reserve(
      header.size() +
      static_cast<std::size_t>(size.pixels() * image.type.channels * (std::abs(stored.bits) / 8)) +
      block);
  const auto* begin = reinterpret_cast<const std::byte*>(header.data());
  out.insert(out.end(), begin, begin + header.size());
  Bytes numbers(samples == SampleType::of_class
                    ? 0
                    : static_cast<std::size_t>(size.width * bytes_of(samples)));
  for (const Plane& plane : image.planes) {
    for (std::int64_t y = size.height - 1; y >= 0; --y) {
      const std::byte* row = plane.row(y);
      if (samples != SampleType::of_class) {
        store_samples(samples, plane.row_as<float>(y), size.width, numbers.data());
        row = numbers.data();
      }
      append_row(out, row, size.width, stored);
    }
  }
  out.resize((out.size() + block - 1) / block * block, std::byte{0});
  return out;
}

void name_storage(const Metadata& metadata, Lost& lost) {
  const std::size_t count = metadata.fits_cards.size();
  if (count == 0) return;
  lost.push_back(std::to_string(count) + (count == 1 ? " card" : " cards") + " of the FITS header");
}

}  // namespace

const FormatTraits fits_format{
    .format = Format::fits,
    .name = "FITS",
    .extensions = "fits fit fts",
    .module = "impipe_codec_fits",
    .library = "cfitsio",
    .can = {Can::eight, Can::sixteen, Can::floats, Can::numbers},
    .pages = Pages::several,
    .sniff = [](std::string_view head) { return head.starts_with("SIMPLE  =  "); },
    .header = header_by_module,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = metadata_by_module,
    .with_metadata = lose_metadata,
    .read_rows = rows_by_module,
    .name_storage = name_storage,
};

}  // namespace impipe::io
