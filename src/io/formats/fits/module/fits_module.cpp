// The codec module for FITS, through cfitsio, which reads them.
#include <fitsio.h>
extern "C" {
#include <fitsio2.h>  // fits_register_driver; not made for C++
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "io/formats/fits/fits_cards.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

[[noreturn]] void fail_fits(int status, size_t file_bytes) {
  if (status == MEMORY_ALLOCATION) throw std::bad_alloc();
  if (status == END_OF_FILE || status == READ_ERROR || status == SEEK_ERROR) {
    fail("truncated FITS: it ends at byte ", file_bytes);
  }
  char reason[FLEN_STATUS] = {};
  fits_get_errstatus(status, reason);
  fits_clear_errmsg();
  fail("damaged FITS: ", reason);
}

// What files in memory the library has open, by the numbers that are their names. Its own driver
// for memory reads beyond the end of damaged files.
class Memory {
 public:
  // Tells the library of the driver, once.
  static void add_driver() {
    static const int status = fits_register_driver(
        prefix.data(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, open, nullptr, nullptr,
        close, nullptr, size, nullptr, seek, read, nullptr);
    if (status != 0) fail("FITS cannot be read: no driver of files in memory");
  }
  // A name of the bytes, which stay as long as they are open.
  static std::string name_of(InputBytes bytes) {
    const std::lock_guard lock(mutex_);
    files_[++last_] = {bytes, 0};
    return std::string(prefix) + std::to_string(last_);
  }
  static void forget(const std::string& name) {
    const std::lock_guard lock(mutex_);
    files_.erase(std::atoi(name.c_str() + prefix.size()));
  }

 private:
  struct Open {
    InputBytes bytes;
    std::int64_t at = 0;
  };
  static Open* find(int handle) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(handle);
    return found == files_.end() ? nullptr : &found->second;
  }
  static int open(char* name, int, int* handle) {
    *handle = std::atoi(name);
    return find(*handle) == nullptr ? FILE_NOT_OPENED : 0;
  }
  static int close(int) { return 0; }
  static int size(int handle, LONGLONG* bytes) {
    *bytes = static_cast<LONGLONG>(find(handle)->bytes.size());
    return 0;
  }
  static int seek(int handle, LONGLONG to) {
    find(handle)->at = to;
    return 0;
  }
  static int read(int handle, void* to, long count) {
    Open& file = *find(handle);
    const auto has = static_cast<std::int64_t>(file.bytes.size());
    if (count < 0 || file.at < 0 || file.at > has || count > has - file.at) return END_OF_FILE;
    std::memcpy(to, file.bytes.data() + file.at, static_cast<size_t>(count));
    file.at += count;
    return 0;
  }

  static inline std::string prefix = "impipe-memory://";
  static inline std::mutex mutex_;
  static inline std::map<int, Open> files_;  // whose elements stay where they are
  static inline int last_ = 0;
};

// A picture is a plane of an image, or three planes as colours.
struct Picture {
  int hdu = 1;         // from 1
  LONGLONG plane = 0;  // the first, from 0
  int channels = 1;
  Size size;
  int type = BYTE_IMG;  // of the values as they are meant: BYTE_IMG, USHORT_IMG, FLOAT_IMG, …
  bool scaled = false;  // whole numbers that the header scales to others
  bool blanks = false;  // whole numbers of which one, BLANK, is none
};

// An open file. Errors are told with `check`.
class File {
 public:
  explicit File(InputBytes bytes) : bytes_(bytes) {
    Memory::add_driver();
    name_ = Memory::name_of(bytes);
    int status = 0;
    fits_open_file(&file_, name_.c_str(), READONLY, &status);
    if (status != 0) Memory::forget(name_);
    check(status);
  }
  ~File() {
    int status = 0;
    fits_close_file(file_, &status);
    Memory::forget(name_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  fitsfile* get() const { return file_; }
  void check(int status) const {
    if (status != 0) fail_fits(status, bytes_.size());
  }

  // All pictures of the file, in their order.
  std::vector<Picture> pictures() const {
    int count = 0, status = 0;
    fits_get_num_hdus(file_, &count, &status);
    check(status);
    std::vector<Picture> out;
    for (int hdu = 1; hdu <= count; ++hdu) append_pictures(hdu, out);
    if (out.empty()) fail("FITS without a picture: ", count, " headers");
    return out;
  }
  void go_to(int hdu) const {
    int status = 0;
    fits_movabs_hdu(file_, hdu, nullptr, &status);
    check(status);
  }

 private:
  void append_pictures(int hdu, std::vector<Picture>& out) const {
    constexpr int most = 9;
    std::array<LONGLONG, most> sides = {};
    int kind = 0, bits = 0, stored = 0, axes = 0, status = 0;
    fits_movabs_hdu(file_, hdu, &kind, &status);
    if (status == 0 && kind != IMAGE_HDU) return;
    // The library divides by what such headers say, and takes their counts for true.
    if (status == 0 && fits_is_compressed_image(file_, &status) != 0) {
      fail("FITS with compressed tiles is not read; funpack makes it plain");
    }
    fits_get_img_dim(file_, &axes, &status);
    check(status);
    if (axes < 2 || axes > most) return;
    fits_get_img_sizell(file_, most, sides.data(), &status);
    fits_get_img_equivtype(file_, &bits, &status);
    fits_get_img_type(file_, &stored, &status);
    check(status);
    LONGLONG planes = 1;
    for (int axis = 2; axis < axes; ++axis) {
      if (sides[static_cast<size_t>(axis)] <= 0) return;
      if (__builtin_mul_overflow(planes, sides[static_cast<size_t>(axis)], &planes)) return;
    }
    constexpr LONGLONG max_planes = 1 << 20;
    if (sides[0] <= 0 || sides[1] <= 0) return;
    if (planes > max_planes) fail("FITS of ", planes, " planes");
    Picture picture{.hdu = hdu, .size = {sides[0], sides[1]}, .type = bits};
    picture.scaled = bits < 0 && stored > 0;
    LONGLONG blank = 0;
    fits_read_key(file_, TLONGLONG, "BLANK", &blank, nullptr, &status);
    picture.blanks = status != KEY_NO_EXIST && stored > 0;
    if (status != KEY_NO_EXIST) check(status);
    fits_clear_errmsg();
    const bool colours = axes == 3 && planes == 3;
    picture.channels = colours ? 3 : 1;
    for (; picture.plane < planes; picture.plane += picture.channels) out.push_back(picture);
  }

  InputBytes bytes_;
  std::string name_;
  fitsfile* file_ = nullptr;
};

// Whole numbers of 16 bits and less with their full range as white; others, and those with blanks,
// are numbers without one, floats as they are in TIFF: white is 1.
ImageType type_of(const Picture& picture) {
  ImageType type{.cls = PixelClass::single, .channels = picture.channels, .alpha = false};
  type.white = 0;
  if (picture.blanks) return type;
  switch (picture.type) {
    case BYTE_IMG: type.cls = PixelClass::uint8; break;
    case USHORT_IMG: type.cls = PixelClass::uint16; break;
    case FLOAT_IMG:
    case DOUBLE_IMG: type.white = picture.scaled ? 0 : 1; return type;
    default: return type;
  }
  type.white = class_max(type.cls);
  return type;
}

// A row of numbers of which single may not hold some; blanks are NaN.
template <class Number>
void read_numbers(const File& file, int type, const Picture& picture, LONGLONG first,
                  Inexact& inexact, std::span<float> row) {
  const auto count = static_cast<LONGLONG>(row.size());
  std::vector<Number> numbers(row.size());
  std::vector<char> blank(row.size(), 0);
  int any = 0, status = 0;
  if (picture.type < 0 && !picture.scaled) {
    // Floats have NaN themselves. Looking for blanks the library takes infinities for some, and
    // makes 0 of the smallest numbers.
    fits_read_img(file.get(), type, first, count, nullptr, numbers.data(), &any, &status);
  } else {
    fits_read_imgnull(file.get(), type, first, count, numbers.data(), blank.data(), &any, &status);
  }
  file.check(status);
  for (size_t x = 0; x < row.size(); ++x) {
    row[x] =
        blank[x] != 0 ? std::numeric_limits<float>::quiet_NaN() : to_single(numbers[x], inexact);
  }
}

// A row of samples that become single.
void read_singles(const File& file, const Picture& picture, LONGLONG first, Inexact& inexact,
                  std::span<float> row) {
  switch (picture.type) {
    case LONGLONG_IMG: return read_numbers<LONGLONG>(file, TLONGLONG, picture, first, inexact, row);
    case ULONGLONG_IMG:
      return read_numbers<ULONGLONG>(file, TULONGLONG, picture, first, inexact, row);
    case LONG_IMG:  // 32 bits are exact in double
    case ULONG_IMG:
    case DOUBLE_IMG: return read_numbers<double>(file, TDOUBLE, picture, first, inexact, row);
    default: return read_numbers<float>(file, TFLOAT, picture, first, inexact, row);
  }
}

SampleType samples_of(const Picture& picture) {
  if (picture.scaled) return SampleType::of_class;
  switch (picture.type) {
    case SBYTE_IMG: return SampleType::int8;
    case SHORT_IMG: return SampleType::int16;
    case LONG_IMG: return SampleType::int32;
    case ULONG_IMG: return SampleType::uint32;
    case LONGLONG_IMG: return SampleType::int64;
    case ULONGLONG_IMG: return SampleType::uint64;
    case DOUBLE_IMG: return SampleType::float64;
    default: return SampleType::of_class;
  }
}

// The words of a header that say nothing of how pixels are stored.
bool is_told(const char* card) {
  static constexpr std::string_view stored[] = {
      "SIMPLE",   "BITPIX",   "NAXIS",    "EXTEND", "BSCALE",   "BZERO",   "BLANK",
      "END",      "XTENSION", "PCOUNT",   "GCOUNT", "ZIMAGE",   "ZBITPIX", "ZNAXIS",
      "ZCMPTYPE", "ZTILE",    "ZNAME",    "ZVAL",   "ZQUANTIZ", "ZDITHER", "TFIELDS",
      "TTYPE",    "TFORM",    "CHECKSUM", "DATASUM"};
  const std::string_view text(card);
  return text.find_first_not_of(' ') != text.npos && !text.starts_with("COMMENT   FITS") &&
         !text.starts_with("COMMENT   and Astrophysics") &&
         std::ranges::none_of(stored, [&](auto word) { return text.starts_with(word); });
}

// For a library that was built without locks of its own.
std::unique_lock<std::mutex> locked() {
  static std::mutex mutex;
  // It makes its own locks when it is first called, which nothing keeps two threads from doing.
  static const bool reentrant = fits_init_cfitsio() == 0 && fits_is_reentrant() != 0;
  return reentrant ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(mutex);
}

struct OpenFits {
  explicit OpenFits(InputBytes bytes) : file(bytes), pictures(file.pictures()) {}
  File file;
  std::vector<Picture> pictures;
};

// The value of a card of the current header; empty or 0 where there is none.
std::string text_of_card(const File& file, const std::string& key) {
  char value[FLEN_VALUE] = {};
  int status = 0;
  fits_read_key(file.get(), TSTRING, key.c_str(), value, nullptr, &status);
  fits_clear_errmsg();
  return status == 0 ? value : "";
}
double number_of_card(const File& file, const std::string& key) {
  double value = 0;
  int status = 0;
  fits_read_key(file.get(), TDOUBLE, key.c_str(), &value, nullptr, &status);
  fits_clear_errmsg();
  return status == 0 && std::isfinite(value) ? value : 0;
}

// The axes of planes of one header, and what they and those of a plane measure (CDELT, CUNIT).
void read_axes(const OpenFits& fits, const Picture& picture, ImageInfo& info) {
  fits.file.go_to(picture.hdu);
  constexpr int most = 9;
  const bool is_one = fits.pictures.front().hdu == fits.pictures.back().hdu;
  std::string letters;  // of the axes of pages
  bool is_guessed = false;
  for (int axis = 1; axis <= most; ++axis) {
    const std::string number = std::to_string(axis),
                      type = text_of_card(fits.file, "CTYPE" + number);
    const auto count = static_cast<int>(number_of_card(fits.file, "NAXIS" + number));
    char letter = axis == 1 ? 'x' : 'y';
    if (axis > 2) {
      if (count < 2 || !is_one || picture.channels > 1) continue;
      letter = free_letter(letter_of_type(type), letters);
      is_guessed = is_guessed || letter != letter_of_type(type);
      letters += letter;
      info.axes.insert(info.axes.begin(), {letter, count});
    }
    const double step = std::abs(number_of_card(fits.file, "CDELT" + number));
    const std::string unit = text_of_card(fits.file, "CUNIT" + number), known = unit_named(unit);
    if (step > 0 && !unit.empty()) {
      info.measured.push_back(
          {.name = std::string(1, letter), .unit = known.empty() ? unit : known, .scale = step});
    }
  }
  if (!is_guessed) return;
  for (const PageAxis& axis : info.axes)
    info.guessed_axes += static_cast<char>(axis.letter - 'a' + 'A');
  info.guessed_axes += "YX";
}

ImageInfo info_of(const OpenFits& fits, int page) {
  ImageInfo info{.format = Format::fits};
  info.pages = static_cast<int>(fits.pictures.size());
  if (page < 0 || page >= info.pages) fail("it has no page ", page + 1);
  const Picture& picture = fits.pictures[static_cast<size_t>(page)];
  info.type = type_of(picture);
  info.samples = samples_of(picture);
  info.stored = picture.size;
  info.page = page;
  info.detail = picture.type > 0 ? std::to_string(picture.type) + "-bit"
                                 : std::to_string(-picture.type) + "-bit float";
  if (picture.type == USHORT_IMG) info.detail = "16-bit";
  read_axes(fits, picture, info);
  return info;
}

// Rows [y_begin, y_end).
HostImage decode_rows(const OpenFits& fits, const ImageInfo& info, std::int64_t y_begin,
                      std::int64_t y_end, MakeImage make_image) {
  check_header(info.page < static_cast<int>(fits.pictures.size()), "FITS");
  const Picture& picture = fits.pictures[static_cast<size_t>(info.page)];
  check_header(type_of(picture) == info.type && picture.size == info.stored, "FITS");
  const File& file = fits.file;
  file.go_to(picture.hdu);
  HostImage image = make_image(info.type, {info.stored.width, y_end - y_begin});
  Inexact ignored;
  Inexact& inexact = info.inexact ? *info.inexact : ignored;
  const auto [width, height] = info.stored;
  for (int c = 0; c < picture.channels; ++c) {
    Plane& plane = image.planes[static_cast<size_t>(c)];
    for (std::int64_t row = 0; row < y_end - y_begin; ++row) {
      // The first row of a FITS is the lowest.
      const std::int64_t y = height - 1 - y_begin - row;
      const LONGLONG first = ((picture.plane + c) * height + y) * width + 1;
      if (plane.cls() == PixelClass::single) {
        read_singles(file, picture, first, inexact,
                     {plane.row_as<float>(row), static_cast<size_t>(width)});
        continue;
      }
      const int type = plane.cls() == PixelClass::uint8 ? TBYTE : TUSHORT;
      int any = 0, status = 0;
      fits_read_img(file.get(), type, first, width, nullptr, plane.row(row), &any, &status);
      file.check(status);
    }
  }
  return image;
}

HostImage decode_picture(const OpenFits& fits, const ImageInfo& info, MakeImage make_image) {
  return decode_rows(fits, info, 0, info.stored.height, make_image);
}

MetadataRead metadata_of(const OpenFits& fits, int page) {
  const File& file = fits.file;
  file.go_to(fits.pictures.at(static_cast<size_t>(page)).hdu);
  MetadataRead out;
  int count = 0, status = 0;
  fits_get_hdrspace(file.get(), &count, nullptr, &status);
  file.check(status);
  constexpr std::size_t card_length = 80;
  for (int i = 1; i <= count; ++i) {
    char card[FLEN_CARD] = {};
    fits_read_record(file.get(), i, card, &status);
    file.check(status);
    if (!is_told(card) || !out.takes(card_length, "cards of the FITS header")) continue;
    std::string& text = out.metadata.fits_cards.emplace_back(card);
    text.resize(card_length, ' ');
  }
  return out;
}

// A file that is read plane after plane, which is opened once.
class Planes final : public PageDecoder {
 public:
  Planes(InputBytes bytes, MakeImage make_image) : bytes_(bytes), make_image_(make_image) {
    const auto lock = locked();
    fits_.emplace(bytes);
    before_ = std::exchange(current_, this);
  }
  ~Planes() override {
    const auto lock = locked();
    current_ = before_;
    fits_.reset();
  }
  Planes(const Planes&) = delete;
  Planes& operator=(const Planes&) = delete;
  HostImage decode(const ImageInfo& info) override {
    const auto lock = locked();
    return decode_picture(*fits_, info, make_image_);
  }
  // What this thread has open of these bytes, which stay meanwhile; null: nothing.
  static const OpenFits* of(InputBytes bytes) {
    const bool same = current_ != nullptr && current_->bytes_.data() == bytes.data() &&
                      current_->bytes_.size() == bytes.size();
    return same ? &*current_->fits_ : nullptr;
  }

 private:
  static inline thread_local Planes* current_ = nullptr;
  InputBytes bytes_;
  MakeImage make_image_;
  std::optional<OpenFits> fits_;
  Planes* before_ = nullptr;
};

class Rows final : public PictureRows {
 public:
  Rows(InputBytes bytes, const ImageInfo& info, MakeImage make_image)
      : info_(info), make_image_(make_image) {
    const auto lock = locked();
    fits_.emplace(bytes);
  }
  ~Rows() override {
    const auto lock = locked();
    fits_.reset();
  }
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    const auto lock = locked();
    return decode_rows(*fits_, info_, y, y_end, make_image_);
  }

 private:
  const ImageInfo info_;
  MakeImage make_image_;
  std::optional<OpenFits> fits_;
};

// Calls use with the open file.
template <class Use>
auto with_fits(InputBytes bytes, Use use) {
  const auto lock = locked();
  if (const OpenFits* open = Planes::of(bytes)) return use(*open);
  return use(OpenFits(bytes));
}

class Cfitsio final : public CodecModule {
 public:
  ImageInfo probe(InputBytes bytes, int page) const override {
    return with_fits(bytes, [&](const OpenFits& fits) { return info_of(fits, page); });
  }
  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    return with_fits(bytes,
                     [&](const OpenFits& fits) { return decode_picture(fits, info, make_image); });
  }
  std::unique_ptr<PageDecoder> open_pages(InputBytes bytes, const ImageInfo&,
                                          MakeImage make_image) const override {
    return std::make_unique<Planes>(bytes, make_image);
  }
  std::unique_ptr<PictureRows> open_rows(InputBytes bytes, const ImageInfo& info,
                                         MakeImage make_image) const override {
    return std::make_unique<Rows>(bytes, info, make_image);
  }
  MetadataRead read_metadata(InputBytes bytes, int page) const override {
    return with_fits(bytes, [&](const OpenFits& fits) { return metadata_of(fits, page); });
  }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Cfitsio)
