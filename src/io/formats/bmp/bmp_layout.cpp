// Reads the headers of BMP files, from OS/2's first to Windows' fifth.
#include "io/formats/bmp/bmp_layout.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace impipe::io {
namespace {

constexpr std::int64_t file_header_bytes = 14;
constexpr std::int64_t largest_header = 124;

// The fields of the header, as offsets from the beginning of the file. Headers are cut off at any
// of them: what a short one lacks is 0.
class Fields {
 public:
  explicit Fields(const ByteSource& source)
      : bytes_(static_cast<std::int64_t>(little_at(source.read(14, 4), 0, 4))) {
    const bool known =
        bytes_ == 12 || (bytes_ >= 16 && bytes_ <= 64) || bytes_ == 108 || bytes_ == 124;
    if (!known) fail("damaged BMP: no kind of BMP has a header of ", bytes_, " bytes");
    text_ = source.read(0, file_header_bytes + bytes_);
    text_.resize(file_header_bytes + largest_header, '\0');
  }
  std::int64_t header_bytes() const { return bytes_; }
  bool first_os2() const { return bytes_ == 12; }
  // OS/2's second header is longer or shorter than those of Windows; 40 bytes are both.
  bool second_os2() const {
    return bytes_ > 12 && bytes_ <= 64 && bytes_ != 40 && bytes_ != 52 && bytes_ != 56;
  }
  std::uint32_t at(size_t offset, int count = 4) const {
    return static_cast<std::uint32_t>(little_at(text_, offset, count));
  }
  std::int32_t signed_at(size_t offset) const { return static_cast<std::int32_t>(at(offset)); }

 private:
  std::int64_t bytes_;
  std::string text_;
};

void read_size(const Fields& fields, BmpHeader& header) {
  const bool os2 = fields.first_os2();
  const std::int64_t width = os2 ? std::int64_t{fields.at(18, 2)} : fields.signed_at(18);
  const std::int64_t height = os2 ? std::int64_t{fields.at(20, 2)} : fields.signed_at(22);
  const std::uint32_t planes = fields.at(os2 ? 22 : 26, 2);
  header.bits = static_cast<int>(fields.at(os2 ? 24 : 28, 2));
  if (width < 0) fail("damaged BMP: a width of ", width);
  if (planes > 1) fail("damaged BMP: ", planes, " planes, where a BMP has one");
  header.top_down = height < 0;
  header.info.stored = {width, height < 0 ? -height : height};
}

// Compressions by their numbers, with the bits a pixel that they are of; 0 is of any.
struct CodingRow {
  std::uint32_t number;
  BmpCoding coding;
  int bits, other_bits;
};
constexpr CodingRow coding_rows[] = {{0, BmpCoding::plain, 0, 0},   {1, BmpCoding::rle8, 8, 8},
                                     {2, BmpCoding::rle4, 4, 4},    {3, BmpCoding::plain, 16, 32},
                                     {4, BmpCoding::rle24, 24, 24}, {6, BmpCoding::plain, 16, 32}};

void read_coding(const Fields& fields, BmpHeader& header) {
  const std::uint32_t number = fields.at(30);
  const int bits = header.bits;
  const bool os2 = fields.second_os2();
  if (!os2 && (number == 4 || number == 5)) {
    fail("BMP with a ", number == 4 ? "JPEG" : "PNG", " for its pixels is not supported");
  }
  if (os2 && number == 3) fail("BMP with Huffman codes is not supported");
  const bool depth_known =
      bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!depth_known) fail("damaged BMP: ", bits, " bits a pixel");
  const auto row = std::ranges::find(coding_rows, number, &CodingRow::number);
  if (row == std::end(coding_rows)) fail("BMP with compression ", number, " is not supported");
  if (number != 0 && bits != row->bits && bits != row->other_bits) {
    fail("damaged BMP: compression ", number, " of ", bits, "-bit pixels");
  }
  header.coding = row->coding;
}

void check_mask(std::uint32_t mask, int bits, const char* name) {
  const bool inside = bits == 32 || mask < (std::uint64_t{1} << bits);
  const std::uint32_t ones = mask == 0 ? 0 : mask >> std::countr_zero(mask);
  if (!inside || (ones & (ones + 1)) != 0) fail("damaged BMP: the mask of ", name, " is ", mask);
}

// Returns the end of the masks, which follow a header that is too short to hold them.
std::int64_t read_masks(const Fields& fields, const ByteSource& source, BmpHeader& header) {
  const std::int64_t header_end = file_header_bytes + fields.header_bytes();
  if (header.bits != 16 && header.bits != 32) return header_end;
  const std::uint32_t number = fields.at(30);
  if (number != 3 && number != 6) {
    header.masks = header.bits == 16 ? std::array<std::uint32_t, 4>{0x7c00, 0x3e0, 0x1f, 0}
                                     : std::array<std::uint32_t, 4>{0xff0000, 0xff00, 0xff, 0};
    return header_end;
  }
  const int count = number == 6 || fields.header_bytes() >= 56 ? 4 : 3;
  const std::string text = source.read(54, 4 * count);
  constexpr const char* names[] = {"red", "green", "blue", "alpha"};
  for (int i = 0; i < count; ++i) {
    const auto mask = static_cast<std::uint32_t>(little_at(text, 4 * static_cast<size_t>(i), 4));
    check_mask(mask, header.bits, names[i]);
    header.masks[static_cast<size_t>(i)] = mask;
  }
  if ((header.masks[0] | header.masks[1] | header.masks[2]) == 0) {
    fail("damaged BMP: its masks have no colours");
  }
  return std::max<std::int64_t>(header_end, 54 + 4 * count);
}

// The palette lies between the header and the pixels; the offset of these is more often right than
// the number of colours.
void read_palette(const Fields& fields, const ByteSource& source, std::int64_t begin,
                  BmpHeader& header) {
  const std::int64_t entry = fields.first_os2() ? 3 : 4;
  const std::int64_t most = header.bits <= 8 ? std::int64_t{1} << header.bits : 0;
  std::int64_t count = fields.header_bytes() >= 36 ? fields.at(46) : 0;
  if (count == 0 || count > most) count = most;
  header.data = fields.at(10);
  if (header.data == 0) header.data = begin + count * entry;
  if (header.data < begin) {
    fail("damaged BMP: its pixels begin at byte ", header.data, ", inside its header");
  }
  count = std::min(count, (header.data - begin) / entry);
  const std::string text = source.read(begin, count * entry);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i * entry);
    const auto byte = [&](size_t k) { return static_cast<std::uint8_t>(text[at + k]); };
    header.palette.push_back({byte(2), byte(1), byte(0)});
  }
}

// A palette of grays makes a gray picture, and one of black and white a logical one.
void decide_type(BmpHeader& header) {
  ImageType& type = header.info.type;
  type = {.cls = PixelClass::uint8, .channels = 3, .alpha = header.masks[3] != 0, .white = 255};
  if (header.bits > 8) return;
  const auto is_gray = [](const BmpColour& c) { return c[0] == c[1] && c[0] == c[2]; };
  if (!std::ranges::all_of(header.palette, is_gray)) return;
  type.channels = 1;
  if (header.bits == 1 && header.palette.size() == 2 &&
      header.palette[0][0] + header.palette[1][0] == 255 && header.palette[0][0] % 255 == 0) {
    type.cls = PixelClass::logical;
    type.white = 1;
  }
}

}  // namespace

BmpHeader bmp_layout(const ByteSource& source) {
  const Fields fields(source);
  BmpHeader header;
  read_size(fields, header);
  read_coding(fields, header);
  read_palette(fields, source, read_masks(fields, source, header), header);
  decide_type(header);
  header.row_bytes = (header.info.stored.width * header.bits + 31) / 32 * 4;
  header.info.detail = depth_text(header.bits) + (header.bits <= 8 ? " palette" : "") +
                       (header.coding != BmpCoding::plain ? ", run lengths" : "");
  const auto length = static_cast<std::int64_t>(little_at(source.read_some(2, 4), 0, 4));
  if (length > header.data && source.read_some(length, 2) == "BM") {
    fail("several pictures follow each other, and a BMP of one is read");
  }
  return header;
}

}  // namespace impipe::io
