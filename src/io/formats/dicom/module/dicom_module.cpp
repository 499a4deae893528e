// The codec module for DICOM: frames as they are stored, or packed, which gdcm unpacks.
#include <gdcmImage.h>
#include <gdcmSequenceOfFragments.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "io/formats/dicom/module/dicom_fields.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

// A frame's samples in the machine's byte order.
struct Frame {
  std::vector<char> samples;
  bool planar = false;
  bool is_ybr = false;
};

std::int64_t frame_bytes(const DicomPixels& pixels) {
  return pixels.info.stored.pixels() * pixels.samples * (pixels.allocated / 8);
}

// Two pixels of YBR_FULL_422 share their colours: Y Y Cb Cr.
Frame of_shared_colours(std::string_view data, const DicomPixels& pixels) {
  Frame out{.samples = {}, .is_ybr = true};
  out.samples.reserve(static_cast<std::size_t>(frame_bytes(pixels)));
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    for (const std::size_t y : {at, at + 1}) {
      out.samples.insert(out.samples.end(), {data[y], data[at + 2], data[at + 3]});
    }
  }
  out.samples.resize(static_cast<std::size_t>(frame_bytes(pixels)));
  return out;
}

Frame plain_frame(const DicomFile& file, const DicomPixels& pixels) {
  const std::string_view all = file.data.find(dicom_pixels_tag)->value;
  const bool shared = pixels.photometric == "YBR_FULL_422" && !pixels.planar;
  const auto bytes =
      static_cast<std::size_t>(shared ? pixels.info.stored.pixels() * 2 : frame_bytes(pixels));
  const std::size_t first = bytes * static_cast<std::size_t>(pixels.info.page);
  if (first > all.size() || bytes > all.size() - first) {
    fail("truncated DICOM: ", all.size(), " bytes of pixels");
  }
  const std::string_view data = all.substr(first, bytes);
  if (shared) return of_shared_colours(data, pixels);
  Frame out{{data.begin(), data.end()}, pixels.planar, pixels.is_ybr()};
  const int word = pixels.allocated / 8;
  const bool are_halves = file.data.find(dicom_pixels_tag)->is_words && word == 1;
  if (file.data.order().big_endian && are_halves) {
    for (std::size_t i = 0; i < bytes; ++i) {
      out.samples[i] = all[std::min((first + i) ^ 1, all.size() - 1)];
    }
  }
  if (file.data.order().big_endian && word > 1) {
    for (auto at = out.samples.begin(); at != out.samples.end(); at += word) {
      std::reverse(at, at + word);
    }
  }
  return out;
}

// The pieces of a page's frame: all of a file of one, one of as many as there are frames, else
// those between two offsets of the table in front of them.
std::vector<std::string_view> pieces_of_frame(const DicomFile& file, const DicomPixels& pixels) {
  std::vector<std::string_view> all = dicom_pieces(*file.data.find(dicom_pixels_tag));
  if (all.empty()) fail("truncated DICOM: its packed pixels are missing");
  const std::string_view table = all.front();
  all.erase(all.begin());
  const auto pages = static_cast<std::size_t>(pixels.info.pages),
             page = static_cast<std::size_t>(pixels.info.page);
  if (pages == 1) return all;
  if (all.size() == pages) return {all[page]};
  if (table.size() < 4 * pages) {
    fail("DICOM whose ", pages, " frames lie in ", all.size(), " pieces is not read");
  }
  const std::uint64_t begin = little_at(table, 4 * page, 4);
  const std::uint64_t end = page + 1 < pages ? little_at(table, 4 * page + 4, 4) : UINT64_MAX;
  std::vector<std::string_view> out;
  std::uint64_t at = 0;
  for (const std::string_view piece : all) {
    if (at >= begin && at < end) out.push_back(piece);
    at += 8 + piece.size();
  }
  return out;
}

// PackBits, a segment for each byte of each sample, that of the highest bits first (PS3.5 G).
Frame run_length_frame(const std::string& packed, const DicomPixels& pixels) {
  const int word = pixels.allocated / 8;
  const auto count = static_cast<std::size_t>(pixels.info.stored.pixels());
  const auto segments = static_cast<std::size_t>(word * pixels.samples);
  Frame out{std::vector<char>(count * segments), true, pixels.is_ybr()};
  if (little_at(packed, 0, 4) != segments || packed.size() < 64) fail("damaged DICOM: run lengths");
  for (std::size_t segment = 0; segment < segments; ++segment) {
    const auto w = static_cast<std::size_t>(word), sample = segment / w, byte = segment % w;
    char* to = out.samples.data() + sample * count * w + (w - 1 - byte);
    std::size_t at = little_at(packed, 4 + 4 * segment, 4), done = 0;
    while (done < count) {
      if (at + 1 >= packed.size()) fail("truncated DICOM: its run lengths end too early");
      const auto code = static_cast<signed char>(packed[at++]);
      if (code == -128) continue;
      const bool is_run = code < 0;
      const auto length = static_cast<std::size_t>(is_run ? 1 - code : 1 + code);
      if (!is_run && at + length > packed.size()) {
        fail("truncated DICOM: its run lengths end too early");
      }
      for (std::size_t i = 0; i < length && done < count; ++i) {
        to[w * done++] = packed[at + (is_run ? 0 : i)];
      }
      at += is_run ? 1 : length;
    }
  }
  return out;
}

// Whether the segments in front of a JPEG's data are whole and say what the DICOM says. gdcm ends
// the program by an assertion where libjpeg has a warning for them.
bool has_sound_header(std::string_view jpeg, const DicomPixels& pixels) {
  bool has_frame = false;
  for (std::size_t at = 2; at + 4 <= jpeg.size() && jpeg[at] == '\xff';) {
    const auto marker = static_cast<unsigned char>(jpeg[at + 1]);
    if (marker == 0xff) {  // fills the place
      ++at;
      continue;
    }
    constexpr unsigned char scan = 0xda, jfif = 0xe0, adobe = 0xee;
    if (marker == scan) return has_frame && jpeg.starts_with("\xff\xd8");
    const bool has_length = marker >= 0xc0 && (marker < 0xd0 || marker > 0xd9);
    const std::uint64_t length = big_at(jpeg, at + 2, 2);
    if (!has_length || length < 2 || at + 2 + length > jpeg.size()) return false;
    const std::string_view data = jpeg.substr(at + 4, length - 2);
    const bool is_frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame) {
      has_frame = big_at(data, 1, 2) == static_cast<std::uint64_t>(pixels.info.stored.height) &&
                  big_at(data, 3, 2) == static_cast<std::uint64_t>(pixels.info.stored.width) &&
                  big_at(data, 5, 1) == static_cast<std::uint64_t>(pixels.samples) &&
                  big_at(data, 0, 1) <= static_cast<std::uint64_t>(pixels.allocated);
      if (!has_frame) return false;
    }
    if (marker == jfif && data.starts_with("JFIF") && big_at(data, 5, 1) != 1) return false;
    if (marker == adobe && data.starts_with("Adobe") && big_at(data, 11, 1) > 1) return false;
    at += 2 + length;
  }
  return false;
}

// A JPEG with so many ends behind its own that no length in it leads behind them: there gdcm, which
// waits for more, ends the program by an assertion.
std::string with_many_ends(std::string jpeg, const DicomPixels& pixels) {
  if (!has_sound_header(jpeg, pixels)) fail("damaged DICOM: the header of its JPEG");
  constexpr std::string_view end = "\xff\xd9";
  constexpr std::size_t padding = 16, longest = 1 << 16;
  if (jpeg.find(end, jpeg.size() - std::min(jpeg.size(), padding)) == jpeg.npos) {
    fail("truncated DICOM: its JPEG has no end");
  }
  for (const std::size_t all = jpeg.size() + longest; jpeg.size() < all;) jpeg += end;
  return jpeg;
}

Frame frame_by_gdcm(const std::string& packed, const DicomFile& file, const DicomPixels& pixels) {
  const auto syntax = gdcm::TransferSyntax::GetTSType(file.syntax.c_str());
  gdcm::Image image;
  image.SetNumberOfDimensions(2);
  image.SetDimension(0, static_cast<unsigned>(pixels.info.stored.width));
  image.SetDimension(1, static_cast<unsigned>(pixels.info.stored.height));
  image.SetTransferSyntax(syntax);
  image.SetPixelFormat(gdcm::PixelFormat(
      static_cast<std::uint16_t>(pixels.samples), static_cast<std::uint16_t>(pixels.allocated),
      static_cast<std::uint16_t>(pixels.stored), static_cast<std::uint16_t>(pixels.high_bit),
      pixels.is_signed ? 1 : 0));
  image.SetPhotometricInterpretation(gdcm::PhotometricInterpretation(
      gdcm::PhotometricInterpretation::GetPIType(pixels.photometric.c_str())));
  image.SetPlanarConfiguration(pixels.planar ? 1 : 0);
  gdcm::SmartPointer<gdcm::SequenceOfFragments> fragments = new gdcm::SequenceOfFragments;
  gdcm::Fragment fragment;
  fragment.SetByteValue(packed.data(), static_cast<std::uint32_t>(packed.size()));
  fragments->AddFragment(fragment);
  gdcm::DataElement element(gdcm::Tag(0x7fe0, 0x0010));
  element.SetVLToUndefined();  // while its VR is none: gdcm asserts that
  element.SetVR(gdcm::VR::OB);
  element.SetValue(*fragments);
  image.SetDataElement(element);
  Frame out;
  out.samples.resize(image.GetBufferLength());
  if (std::ssize(out.samples) != frame_bytes(pixels) || !image.GetBuffer(out.samples.data())) {
    fail("damaged DICOM: its pixels cannot be unpacked (",
         gdcm::TransferSyntax::GetTSString(syntax), ")");
  }
  out.planar = image.GetPlanarConfiguration() == 1;
  const auto colours = image.GetPhotometricInterpretation();
  out.is_ybr = colours == gdcm::PhotometricInterpretation::YBR_FULL ||
               colours == gdcm::PhotometricInterpretation::YBR_FULL_422;
  return out;
}

Frame read_frame(const DicomFile& file, const DicomPixels& pixels) {
  if (!file.data.find(dicom_pixels_tag)->has_items) return plain_frame(file, pixels);
  std::string packed;
  for (const std::string_view piece : pieces_of_frame(file, pixels)) packed += piece;
  if (file.syntax == "1.2.840.10008.1.2.5") return run_length_frame(packed, pixels);
  static constexpr std::string_view jpegs[] = {"50", "51", "57", "70"};
  static constexpr std::string_view others[] = {"80", "81", "90", "91"};
  constexpr std::string_view family = "1.2.840.10008.1.2.4.";
  const bool is_of_family = file.syntax.starts_with(family);
  const std::string_view kind =
      std::string_view(file.syntax).substr(is_of_family ? family.size() : 0);
  const bool is_jpeg = std::ranges::find(jpegs, kind) != std::end(jpegs);
  const bool is_other = std::ranges::find(others, kind) != std::end(others);
  if (!is_of_family || (!is_jpeg && !is_other)) {
    fail("DICOM packed as ", file.syntax, " is not read (RLE, JPEG, JPEG-LS and JPEG 2000 are)");
  }
  return frame_by_gdcm(is_jpeg ? with_many_ends(std::move(packed), pixels) : packed, file, pixels);
}

// Numbers of `Word`, of which the bits around those that are stored may be anything.
template <class Word>
std::int64_t stored_number(const std::byte* from, const DicomPixels& pixels) {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  const int above = 63 - pixels.high_bit, below = 64 - pixels.stored;
  const std::uint64_t bits = static_cast<std::uint64_t>(word) << above;
  return pixels.is_signed ? static_cast<std::int64_t>(bits) >> below
                          : static_cast<std::int64_t>(bits >> below);
}

template <class Word, class Put>
void each_number(const std::vector<char>& frame, const DicomPixels& pixels, Put put) {
  const auto* from = reinterpret_cast<const std::byte*>(frame.data());
  const Size size = pixels.info.stored;
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x, from += sizeof(Word)) {
      put(y, x, stored_number<Word>(from, pixels));
    }
  }
}

void put_gray(Plane& plane, std::int64_t y, std::int64_t x, std::int64_t number,
              const DicomPixels& pixels, Inexact& inexact) {
  if (pixels.modality) {
    plane.row_as<float>(y)[x] = pixels.modality->at(number);
    return;
  }
  switch (plane.cls()) {
    case PixelClass::single:
      plane.row_as<float>(y)[x] =
          pixels.scaled()
              ? to_single(pixels.slope * static_cast<double>(number) + pixels.offset, inexact)
              : to_single(number, inexact);
      return;
    case PixelClass::uint16:
      plane.row_as<std::uint16_t>(y)[x] =
          static_cast<std::uint16_t>(pixels.inverted() ? 65535 - number : number);
      return;
    default:
      plane.row_as<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(pixels.inverted() ? 255 - number : number);
  }
}

template <class Word>
void put_numbers(HostImage& image, const std::vector<char>& frame, const DicomPixels& pixels,
                 const std::vector<DicomTable>& palette, Inexact& inexact) {
  each_number<Word>(frame, pixels, [&](std::int64_t y, std::int64_t x, std::int64_t number) {
    if (palette.empty()) return put_gray(image.planes.front(), y, x, number, pixels, inexact);
    for (std::size_t c = 0; c < palette.size(); ++c) {
      Plane& plane = image.planes[c];
      const std::uint16_t value = palette[c].at(number);
      if (plane.cls() == PixelClass::uint16) {
        plane.row_as<std::uint16_t>(y)[x] = value;
      } else {
        plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value);
      }
    }
  });
}

// Full range, ITU-R BT.601 (PS3.3 C.7.6.3.1.2).
void to_rgb(std::array<std::uint8_t, 3>& pixel) {
  const double y = pixel[0], b = pixel[1] - 128.0, r = pixel[2] - 128.0;
  const double rgb[] = {y + 1.402 * r, y - 0.344136 * b - 0.714136 * r, y + 1.772 * b};
  for (std::size_t c = 0; c < 3; ++c) {
    pixel[c] = static_cast<std::uint8_t>(std::clamp(std::floor(rgb[c] + 0.5), 0.0, 255.0));
  }
}

// Samples side by side, or the channels one behind the other.
template <class Word>
void put_colours(HostImage& image, const Frame& frame) {
  const Size size = image.size();
  const std::int64_t pixels = size.pixels();
  const auto sample = [&](std::int64_t pixel, std::int64_t c) {
    Word word = 0;
    const std::int64_t at = frame.planar ? c * pixels + pixel : 3 * pixel + c;
    std::memcpy(&word, frame.samples.data() + at * static_cast<std::int64_t>(sizeof word),
                sizeof word);
    return word;
  };
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      std::array<Word, 3> colours{};
      for (std::size_t c = 0; c < 3; ++c) {
        colours[c] = sample(y * size.width + x, static_cast<std::int64_t>(c));
      }
      if constexpr (sizeof(Word) == 1) {
        if (frame.is_ybr) to_rgb(colours);
      }
      for (std::size_t c = 0; c < 3; ++c) image.planes[c].row_as<Word>(y)[x] = colours[c];
    }
  }
}

// Frames of one bit a pixel follow each other without a gap, the lowest bit first.
HostImage bits_of(const DicomFile& file, const ImageInfo& info, MakeImage make_image) {
  const std::string_view data = file.data.find(dicom_pixels_tag)->value;
  const std::int64_t pixels = info.stored.pixels(), first = pixels * info.page;
  if (std::ssize(data) * 8 < first + pixels) fail("truncated DICOM: its pixels end too early");
  HostImage image = make_image(info.type, info.stored);
  for (std::int64_t i = 0; i < pixels; ++i) {
    const auto byte = static_cast<unsigned char>(data[static_cast<std::size_t>((first + i) / 8)]);
    image.planes.front().row_as<std::uint8_t>(i / info.stored.width)[i % info.stored.width] =
        static_cast<std::uint8_t>(byte >> ((first + i) % 8) & 1);
  }
  return image;
}

HostImage decode_frame(const DicomFile& file, const ImageInfo& info, MakeImage make_image) {
  const DicomPixels pixels = dicom_pixels(file, info.page);
  check_header(pixels.info.type == info.type && pixels.info.stored == info.stored, "DICOM");
  if (pixels.allocated == 1) return bits_of(file, info, make_image);
  const Frame frame = read_frame(file, pixels);
  HostImage image = make_image(info.type, info.stored);
  Inexact ignored;
  Inexact& inexact = info.inexact ? *info.inexact : ignored;
  if (pixels.samples == 3) {
    if (pixels.allocated == 8) {
      put_colours<std::uint8_t>(image, frame);
    } else {
      put_colours<std::uint16_t>(image, frame);
    }
    return image;
  }
  std::vector<DicomTable> palette;
  if (pixels.has_palette()) palette = dicom_palette(file, pixels.is_signed);
  switch (pixels.allocated) {
    case 8: put_numbers<std::uint8_t>(image, frame.samples, pixels, palette, inexact); break;
    case 16: put_numbers<std::uint16_t>(image, frame.samples, pixels, palette, inexact); break;
    default: put_numbers<std::uint32_t>(image, frame.samples, pixels, palette, inexact);
  }
  return image;
}

class Frames final : public PageDecoder {
 public:
  Frames(InputBytes bytes, MakeImage make_image)
      : file_(read_dicom(text_of(bytes))), make_image_(make_image) {}
  HostImage decode(const ImageInfo& info) override {
    return decode_frame(file_, info, make_image_);
  }

 private:
  DicomFile file_;
  MakeImage make_image_;
};

class Gdcm final : public CodecModule {
 public:
  Gdcm() {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
  }
  ImageInfo probe(InputBytes bytes, int page) const override {
    return dicom_pixels(read_dicom(text_of(bytes)), page).info;
  }
  std::unique_ptr<PageDecoder> open_pages(InputBytes bytes, const ImageInfo&,
                                          MakeImage make_image) const override {
    return std::make_unique<Frames>(bytes, make_image);
  }
  MetadataRead read_metadata(InputBytes bytes, int page) const override {
    return dicom_metadata(read_dicom(text_of(bytes)), page);
  }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Gdcm)
