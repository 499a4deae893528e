// FITS' row of the table of formats, and how a FITS is written: one picture, its cards as they were
// read.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/formats/by_module.hpp"
#include "io/formats/fits/fits_cards.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

constexpr std::size_t block = 2880;

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

// What the axes of a plane measure, whose rows go upward in the file.
std::vector<std::string> cards_of_plane(const Metadata& metadata, Size size) {
  const std::vector<MeasuredAxis> measured = measured_of_result(metadata);
  const MeasuredAxis *x = axis_named(measured, "x"), *y = axis_named(measured, "y");
  if (x == nullptr || y == nullptr) return {};
  std::vector<std::string> out = cards_of_axis(1, *x, 1, x->scale);
  for (std::string& card : cards_of_axis(2, *y, static_cast<double>(size.height), -y->scale)) {
    out.push_back(std::move(card));
  }
  return out;
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& encoded) {
  const SampleType samples = samples_for(image, input.metadata, input.options, encoded);
  const Stored stored = stored_as(image.type.cls, samples);
  std::vector<std::string> cards =
      cards_after(input.metadata.fits_cards, input.metadata.change, encoded.lost);
  if (!has_coordinates(input.metadata.fits_cards)) {
    for (std::string& card : cards_of_plane(input.metadata, image.size())) {
      cards.push_back(std::move(card));
    }
  }
  if (!input.metadata.is_page) {
    cards = cards_of_pages(std::move(cards), {});
    name_axes({}, of_pages(input.metadata.measured), encoded.lost);
  }
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

// The number of a card of a header that we have written; -1: it has none.
std::int64_t number_of(std::string_view header, std::string_view key) {
  for (std::size_t at = 0; at + card_length <= header.size(); at += card_length) {
    const std::string_view card = header.substr(at, card_length);
    if (card.starts_with("END     ")) break;
    if (card.starts_with(fmt::format("{:<8}= ", key))) {
      return std::stoll(std::string(card.substr(10, 20)));
    }
  }
  return -1;
}

// The cards that say how numbers are stored, and behind them all others up to the last one.
struct SplitHeader {
  std::string stored, others;
  std::size_t bytes = 0;  // of the header in the file
};
SplitHeader split_header(std::string_view file) {
  static constexpr std::string_view keys[] = {"SIMPLE", "BITPIX", "NAXIS", "BSCALE", "BZERO"};
  SplitHeader out;
  std::size_t at = 0;
  for (; !file.substr(at).starts_with("END     "); at += card_length) {
    const std::string_view card = file.substr(at, card_length);
    const bool is_stored = std::ranges::any_of(
        keys, [&](std::string_view key) { return out.others.empty() && card.starts_with(key); });
    (is_stored ? out.stored : out.others) += card;
  }
  out.bytes = (at + card_length + block - 1) / block * block;
  return out;
}

// The sizes of pixels are in its cards.
Bytes write_metadata(Bytes file, const Metadata& metadata, const PictureOfFile&, Lost& lost) {
  name_losses(metadata, !resolution_of(measured_of_result(metadata)), lost, true);
  return file;
}

// With the axes of pages that --axes gives, in the order of NumPy: FITS counts them from the last.
ImageInfo read_header(const HeaderInput& input) {
  ImageInfo info = header_by_module(input);
  const std::string& letters = input.reading.axes;
  if (letters.empty()) {
    if (!info.guessed_axes.empty()) info.detail += ", axes " + info.guessed_axes + " (guessed)";
    return info;
  }
  info.guessed_axes.clear();
  const std::string header =
      input.source.read_some(0, std::min<std::int64_t>(input.source.size(), 100 * block));
  const std::int64_t count = number_of(header, "NAXIS");
  if (count != std::ssize(letters) || !letters.ends_with("YX") || info.type.channels > 1) {
    fail("FITS of ", count, " axes, the last of which are YX, and --axes ", letters,
         " names other ones");
  }
  info.axes.clear();
  for (std::int64_t i = 0; i + 2 < count; ++i) {
    const auto along = static_cast<int>(number_of(header, fmt::format("NAXIS{}", count - i)));
    const auto letter = static_cast<char>(letters[static_cast<std::size_t>(i)] - 'A' + 'a');
    if (along > 1) info.axes.push_back({letter, along});
  }
  return info;
}

void name_storage(const Metadata& metadata, Lost& lost) {
  const std::size_t count = metadata.fits_cards.size();
  if (count == 0) return;
  lost.push_back(std::to_string(count) + (count == 1 ? " card" : " cards") + " of the FITS header");
}

}  // namespace

Bytes join_fits_pages(std::span<const Bytes> pages, const FileAxes& file, Lost& lost) {
  const SplitHeader first = split_header(text_of(pages.front()));
  const std::int64_t bits = number_of(first.stored, "BITPIX"),
                     width = number_of(first.stored, "NAXIS1"),
                     height = number_of(first.stored, "NAXIS2");
  if (number_of(first.stored, "NAXIS3") > 0) {
    fail("a FITS of several pages in colour is not written; -o '{stem}_{page}.fits' names each");
  }
  FileAxes said = file;
  std::int64_t count = 1;
  for (const PageAxis& axis : said.pages) count *= axis.count;
  if (said.pages.empty() || count != std::ssize(pages)) {
    said.pages = {{'z', static_cast<int>(pages.size())}};
  } else {
    std::erase_if(said.pages, [](const PageAxis& axis) { return axis.count == 1; });
  }
  // Three planes of three axes would be colours.
  const bool are_three = said.pages.size() == 1 && pages.size() == 3;
  if (are_three) said.pages.push_back({'p', 1});
  Header header;
  for (std::size_t at = 0; at < first.stored.size(); at += card_length) {
    const std::string card = first.stored.substr(at, card_length);
    if (card.starts_with("NAXIS   =")) {
      header.add("NAXIS", std::to_string(2 + said.pages.size()), "number of axes");
      continue;
    }
    header.add(card);
    if (!card.starts_with("NAXIS2  =")) continue;
    for (std::size_t i = 0; i < said.pages.size(); ++i) {
      const PageAxis& axis = said.pages[said.pages.size() - 1 - i];
      header.add(fmt::format("NAXIS{}", 3 + i), std::to_string(axis.count),
                 axis.count == 1 ? "" : "pages");
    }
  }
  std::vector<std::string> others;
  for (std::size_t at = 0; at < first.others.size(); at += card_length) {
    others.push_back(first.others.substr(at, card_length));
  }
  for (std::string& card : cards_of_pages(std::move(others), said)) header.add(std::move(card));
  for (const PageAxis& axis : said.pages) {
    const std::string name(1, axis.letter);
    if (axis.step == 0 && axis_named(file.measured, name) == nullptr) {
      lose(lost, "where pixels lie along " + name);
    }
  }
  Bytes out = bytes_of_text(header.finish());
  const std::int64_t plane = width * height * (std::abs(bits) / 8);
  for (const Bytes& page : pages) {
    const SplitHeader own = split_header(text_of(page));
    if (own.stored != first.stored) {
      fail("pages of a FITS have one size and class; -o '{stem}_{page}.fits' names each");
    }
    const auto begin = page.begin() + static_cast<std::ptrdiff_t>(own.bytes);
    out.insert(out.end(), begin, begin + plane);
  }
  out.resize((out.size() + block - 1) / block * block, std::byte{0});
  return out;
}

const FormatTraits fits_format{
    .format = Format::fits,
    .name = "FITS",
    .extensions = "fits fit fts",
    .module = "impipe_codec_fits",
    .library = "cfitsio",
    .can = {Can::eight, Can::sixteen, Can::floats, Can::numbers, Can::write_pages},
    .pages = Pages::several,
    .sniff = [](std::string_view head) { return head.starts_with("SIMPLE  =  "); },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = metadata_by_module,
    .with_metadata = write_metadata,
    .read_rows = rows_by_module,
    .name_storage = name_storage,
};

}  // namespace impipe::io
