// NIfTI-1 and -2: the header (nifti.nimh.nih.gov), and planes of its volume.
#include "io/formats/nifti/nifti.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "io/bytes/byte_source.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

constexpr int axes = 7;  // x, y, z, t and three more
using Sides = std::array<std::int64_t, axes + 1>;

// Where fields lie in the two versions, and of how many bytes those are that differ.
struct Layout {
  std::int64_t bytes = 348;
  std::size_t dim = 40, type = 70, pixdim = 76, data = 108, slope = 112, offset = 116, units = 123,
              shown_most = 124, shown_least = 128, text = 148, qform = 252, sform = 254;
  int dim_bytes = 2, real_bytes = 4, code_bytes = 2, unit_bytes = 1;
};
constexpr Layout second{.bytes = 540,
                        .dim = 16,
                        .type = 12,
                        .pixdim = 104,
                        .data = 168,
                        .slope = 176,
                        .offset = 184,
                        .units = 500,
                        .shown_most = 192,
                        .shown_least = 200,
                        .text = 240,
                        .qform = 344,
                        .sform = 348,
                        .dim_bytes = 8,
                        .real_bytes = 8,
                        .code_bytes = 4,
                        .unit_bytes = 4};

class Fields {
 public:
  Fields(std::string_view head, const Layout& at, bool big_endian)
      : head_(head), at_(at), big_endian_(big_endian) {}
  std::int64_t whole(std::size_t at, int bytes) const {
    const std::uint64_t value = number_at(head_, at, bytes, big_endian_);
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  double real(std::size_t at) const {
    const std::uint64_t value = number_at(head_, at, at_.real_bytes, big_endian_);
    if (at_.real_bytes == 8) return std::bit_cast<double>(value);
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  }
  double real(std::size_t first, int i) const {
    return real(first + static_cast<std::size_t>(i * at_.real_bytes));
  }
  // Of a float the decimal number that was meant: 0.7, not 0.699999988.
  double length(std::size_t first, int i) const {
    const double value = real(first, i);
    return at_.real_bytes == 8 ? value : std::stod(short_text(static_cast<float>(value)));
  }
  std::int64_t side(int i) const {
    return whole(at_.dim + static_cast<std::size_t>(i * at_.dim_bytes), at_.dim_bytes);
  }

 private:
  std::string_view head_;
  const Layout& at_;
  bool big_endian_;
};

void read_sides(NiftiHeader& out, const Fields& fields) {
  const std::int64_t count = fields.side(0);
  if (count < 1 || count > axes) fail("damaged NIfTI: ", count, " axes");
  Sides sides;
  sides.fill(1);
  for (int i = 1; i <= count; ++i) sides[static_cast<std::size_t>(i)] = fields.side(i);
  out.info.stored = {sides[1], sides[2]};
  constexpr std::int64_t most = 1 << 30;
  std::int64_t pages = 1;
  for (int i = 3; i <= axes; ++i) {
    const std::int64_t side = sides[static_cast<std::size_t>(i)];
    if (side < 1 || side > most / pages) fail("damaged NIfTI: an axis of ", side);
    pages *= side;
    constexpr char letters[] = "zt";
    if (side > 1 && i < 5) {
      out.info.axes.insert(out.info.axes.begin(), {letters[i - 3], static_cast<int>(side)});
    } else if (side > 1) {
      // What lies along the three others has no letter of its own but the first of them.
      auto& all = out.info.axes;
      if (!all.empty() && all.front().letter == 'c') {
        all.front().count *= static_cast<int>(side);
      } else {
        all.insert(all.begin(), {'c', static_cast<int>(side)});
      }
    }
  }
  out.info.pages = static_cast<int>(pages);
}

// Whole numbers of 8 and 16 bits without a sign have their class, as in FITS.
void read_type(NiftiHeader& out, std::int64_t code) {
  ImageType& type = out.info.type;
  type = {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
  out.type = static_cast<NiftiType>(code);
  const auto numbers = [&](SampleType samples) {
    out.info.samples = samples;
    out.voxel_bytes = bytes_of(samples);
  };
  switch (out.type) {
    case NiftiType::uint8: type = type_of(PixelClass::uint8, 1, false); break;
    case NiftiType::rgb24: type = type_of(PixelClass::uint8, 3, false); break;
    case NiftiType::rgba32: type = type_of(PixelClass::uint8, 3, true); break;
    case NiftiType::uint16:
      type = type_of(PixelClass::uint16, 1, false);
      out.voxel_bytes = 2;
      break;
    case NiftiType::float32:
      type.white = 1;
      out.voxel_bytes = 4;
      break;
    case NiftiType::float64:
      type.white = 1;
      numbers(SampleType::float64);
      break;
    case NiftiType::int8: numbers(SampleType::int8); break;
    case NiftiType::int16: numbers(SampleType::int16); break;
    case NiftiType::int32: numbers(SampleType::int32); break;
    case NiftiType::uint32: numbers(SampleType::uint32); break;
    case NiftiType::int64: numbers(SampleType::int64); break;
    case NiftiType::uint64: numbers(SampleType::uint64); break;
    default:
      fail("NIfTI of data type ", code,
           " is not read (whole numbers of 8 to 64 bits, floats of 32 and 64 and colours are)");
  }
  if (type.channels > 1) out.voxel_bytes = type.alpha ? 4 : 3;
}

// Slope 0 is no scaling, and then the offset counts for nothing; colours are never scaled.
void read_scale(NiftiHeader& out, double slope, double offset) {
  if (slope == 0 || !std::isfinite(slope) || out.info.type.channels > 1) return;
  if (!std::isfinite(offset)) fail("damaged NIfTI: scl_inter is no number");
  out.scaled = slope != 1 || offset != 0;
  if (!out.scaled) return;
  out.slope = slope;
  out.offset = offset;
  out.info.type = {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
  out.info.samples = SampleType::of_class;
}

void read_place(NiftiHeader& out, const Fields& fields, const Layout& at) {
  const std::int64_t units = fields.whole(at.units, at.unit_bytes) & 7;
  constexpr double millimetres[] = {1, 1000, 1, 0.001};  // unknown, m, mm, um
  out.has_unit = units >= 1 && units <= 3;
  const double unit = millimetres[out.has_unit ? units : 0];
  const auto side = [&](int i) {
    const double length = std::abs(fields.length(at.pixdim, i)) * unit;
    return std::isfinite(length) ? length : 0;
  };
  out.pixel_width = side(1);
  out.pixel_height = side(2);
  std::vector<MeasuredAxis>& measured = out.info.measured;
  if (out.has_unit && out.pixel_width > 0 && out.pixel_height > 0) {
    measured = {{.name = "x", .unit = "millimeter", .scale = out.pixel_width},
                {.name = "y", .unit = "millimeter", .scale = out.pixel_height}};
    const double depth = side(3);
    if (depth > 0) measured.push_back({.name = "z", .unit = "millimeter", .scale = depth});
  }
  const std::int64_t clock = fields.whole(at.units, at.unit_bytes) & 0x38;
  const double interval = fields.length(at.pixdim, 4);
  if (clock >= 8 && clock <= 24 && std::isfinite(interval) && interval > 0) {
    constexpr const char* clocks[] = {"second", "millisecond", "microsecond"};
    measured.push_back({.name = "t", .unit = clocks[clock / 8 - 1], .scale = interval});
  }
  std::erase_if(measured, [&](const MeasuredAxis& axis) {  // of no such pages
    return (axis.name == "z" || axis.name == "t") && out.info.pages == 1;
  });
  out.has_place =
      fields.whole(at.qform, at.code_bytes) > 0 || fields.whole(at.sform, at.code_bytes) > 0;
}

std::string text_at(std::string_view head, std::size_t at) {
  constexpr std::size_t most = 80;
  const std::string_view text = head.substr(at, most);
  return std::string(text.substr(0, text.find('\0')));
}

// Whether the number in the first four bytes is that of a header, and of which byte order.
bool begins_with(std::string_view head, std::int64_t bytes, bool big_endian) {
  return head.size() >= 4 && number_at(head, 0, 4, big_endian) == static_cast<std::uint64_t>(bytes);
}

template <class Number>
Number value_at(const std::byte* from, bool swap) {
  std::array<std::byte, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), from, bytes.size());
  if (swap) std::ranges::reverse(bytes);
  return std::bit_cast<Number>(bytes);
}

template <class Number>
void put_numbers(const NiftiHeader& header, const std::byte* from, Plane& plane, Inexact& inexact) {
  const Size size = plane.size();
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x, from += sizeof(Number)) {
      const auto value = value_at<Number>(from, header.big_endian);
      if (header.scaled) {
        plane.row_as<float>(y)[x] =
            to_single(header.slope * static_cast<double>(value) + header.offset, inexact);
      } else if constexpr (sizeof(Number) <= 2 && std::is_unsigned_v<Number>) {
        plane.row_as<Number>(y)[x] = value;
      } else {
        plane.row_as<float>(y)[x] = to_single(value, inexact);
      }
    }
  }
}

}  // namespace

bool is_nifti(std::string_view head) {
  for (const bool big_endian : {false, true}) {
    const std::string_view magic = head.substr(std::min<std::size_t>(head.size(), 4), 3);
    if (begins_with(head, second.bytes, big_endian)) return magic == "n+2" || magic == "ni2";
    const std::uint64_t count = number_at(head, 40, 2, big_endian);
    if (begins_with(head, 348, big_endian)) return count >= 1 && count <= axes;
  }
  return false;
}

bool is_nifti_pair(std::string_view head) {
  if (!is_nifti(head)) return false;
  const std::size_t magic = head.substr(4, 3) == "ni2" ? 4 : 344;
  return head.size() > magic + 3 && head.substr(magic, 2) == "ni";
}

std::string nifti_of_pair(std::string_view head) {
  const bool is_second = head.substr(4, 3) == "ni2";
  const Layout layout = is_second ? second : Layout{};
  const bool big_endian = number_at(head, 0, 4, true) == static_cast<std::uint64_t>(layout.bytes);
  std::string out(head.substr(0, static_cast<std::size_t>(layout.bytes)));
  out.resize(static_cast<std::size_t>(layout.bytes) + 4);  // no extensions follow
  out[is_second ? 5 : 345] = '+';
  const Fields fields(out, layout, big_endian);
  const auto data = static_cast<float>(fields.real(layout.data) + static_cast<double>(out.size()));
  const std::uint64_t whole = static_cast<std::uint64_t>(fields.whole(layout.data, 8)) + out.size();
  return out.replace(layout.data, is_second ? 8 : 4,
                     is_second ? number_text(whole, 8, big_endian)
                               : number_text(std::bit_cast<std::uint32_t>(data), 4, big_endian));
}

NiftiHeader nifti_header(std::string_view head) {
  NiftiHeader out;
  out.big_endian = begins_with(head, 348, true) || begins_with(head, second.bytes, true);
  const bool is_second = begins_with(head, second.bytes, out.big_endian);
  const Layout layout = is_second ? second : Layout{};
  if (static_cast<std::int64_t>(head.size()) < layout.bytes) {
    fail("truncated: the header ends at byte ", head.size());
  }
  const std::string_view magic = head.substr(is_second ? 4 : 344, 4);
  if (magic.starts_with("ni")) {
    fail(
        "its pixels lie in another file (.img), which is read beside a plain .hdr alone; nibabel "
        "writes both as one .nii");
  }
  if (!magic.starts_with("n+"))
    fail("it is ANALYZE 7.5, which is not read; nibabel makes it NIfTI");
  const Fields fields(head, layout, out.big_endian);
  read_type(out, fields.whole(layout.type, 2));
  read_sides(out, fields);
  const double data =
      is_second ? static_cast<double>(fields.whole(layout.data, 8)) : fields.real(layout.data);
  if (!(data >= static_cast<double>(layout.bytes) && data < 1e15)) {
    fail("damaged NIfTI: vox_offset ", data);
  }
  out.data = static_cast<std::int64_t>(data);
  const bool is_float = out.type == NiftiType::float32 || out.type == NiftiType::float64;
  const int bits = out.info.type.channels > 1 ? 8 : 8 * out.voxel_bytes;
  out.info.detail = depth_text(bits, is_float);
  read_scale(out, fields.real(layout.slope), fields.real(layout.offset));
  if (out.scaled) out.info.detail += ", scaled";
  read_place(out, fields, layout);
  out.description = text_at(head, layout.text);
  const double least = fields.real(layout.shown_least), most = fields.real(layout.shown_most);
  if (std::isfinite(least) && std::isfinite(most) && most > least) {
    out.info.window = ValueWindow{.centre = (least + most) / 2,
                                  .width = most - least,
                                  .shape = ValueWindow::Shape::linear_exact};
  }
  const double needed =
      static_cast<double>(out.data) + static_cast<double>(out.plane_bytes()) * out.info.pages;
  out.info.min_bytes = whole_bytes(needed);
  return out;
}

HostImage nifti_plane(const NiftiHeader& header, const std::byte* plane, Inexact& inexact,
                      MakeImage make_image) {
  const ImageType& type = header.info.type;
  HostImage image = make_image(type, header.info.stored);
  if (type.channels > 1) {
    RowSplitter(image).put_all(plane,
                               static_cast<std::size_t>(stored_bytes(type, image.size().width)));
    return image;
  }
  Plane& to = image.planes.front();
  switch (header.type) {
    case NiftiType::uint16: put_numbers<std::uint16_t>(header, plane, to, inexact); break;
    case NiftiType::float32: put_numbers<float>(header, plane, to, inexact); break;
    case NiftiType::float64: put_numbers<double>(header, plane, to, inexact); break;
    case NiftiType::int8: put_numbers<std::int8_t>(header, plane, to, inexact); break;
    case NiftiType::int16: put_numbers<std::int16_t>(header, plane, to, inexact); break;
    case NiftiType::int32: put_numbers<std::int32_t>(header, plane, to, inexact); break;
    case NiftiType::uint32: put_numbers<std::uint32_t>(header, plane, to, inexact); break;
    case NiftiType::int64: put_numbers<std::int64_t>(header, plane, to, inexact); break;
    case NiftiType::uint64: put_numbers<std::uint64_t>(header, plane, to, inexact); break;
    default: put_numbers<std::uint8_t>(header, plane, to, inexact);
  }
  return image;
}

}  // namespace impipe::io
