// What the header of a DICOM says of its pixels (PS3.3 C.7.6, C.8, C.11).
#include "io/formats/dicom/module/dicom_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "io/module/library_codec.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

// Fields of a page: those of an enhanced file's frame go before those that all frames share, and
// both before the file's own.
class Fields {
 public:
  Fields(const DicomData& all, int page) : all_(all) {
    constexpr DicomTag shared = 0x52009229, each = 0x52009230;
    add_groups(each, static_cast<std::size_t>(page));
    add_groups(shared, 0);
  }
  // Empty: there is none.
  std::string_view text(DicomTag tag) const {
    const DicomElement* element = find(tag);
    return element == nullptr ? std::string_view() : element->value;
  }
  // One of several texts, without spaces.
  std::string word(DicomTag tag, int i = 0) const {
    std::string all(text(tag));
    for (; i > 0; --i) {
      const std::size_t end = all.find('\\');
      if (end == all.npos) return {};
      all.erase(0, end + 1);
    }
    all.resize(std::min(all.find('\\'), all.size()));
    const auto is_space = [](char c) { return c == ' ' || c == '\0'; };
    while (!all.empty() && is_space(all.back())) all.pop_back();
    while (!all.empty() && is_space(all.front())) all.erase(0, 1);
    return all;
  }
  // Of a decimal text.
  std::optional<double> number(DicomTag tag, int i = 0) const {
    std::string said = word(tag, i);
    if (said.starts_with('+')) said.erase(0, 1);
    double value = 0;
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), value);
    if (error != std::errc() || end != said.data() + said.size()) return {};
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  // Of 16 bits.
  std::optional<int> whole(DicomTag tag, std::size_t i = 0) const {
    const std::string_view said = text(tag);
    if (said.size() < 2 * (i + 1)) return {};
    return static_cast<int>(number_at(said, 2 * i, 2, all_.order().big_endian));
  }
  bool has(DicomTag tag) const { return find(tag) != nullptr; }
  const DicomElement* find(DicomTag tag) const {
    for (const DicomData& group : groups_) {
      if (const DicomElement* element = group.find(tag)) return element;
    }
    return all_.find(tag);
  }

 private:
  void add_groups(DicomTag tag, std::size_t number) {
    const DicomElement* sequence = all_.find(tag);
    if (sequence == nullptr) return;
    const std::optional<DicomData> groups = dicom_item(*sequence, number, all_.order());
    if (!groups) return;
    for (const auto& [name, group] : groups->all()) {
      if (!group.has_items && !all_.order().implicit) continue;
      std::optional<DicomData> fields = dicom_item(group, 0, all_.order());
      if (fields) groups_.push_back(std::move(*fields));
    }
  }

  const DicomData& all_;
  std::vector<DicomData> groups_;
};

// A lookup table whose description and data have these tags; nothing where data are missing.
std::optional<DicomTable> table_of(const Fields& fields, DicomTag described, DicomTag data_tag,
                                   bool is_signed, bool big_endian) {
  const auto count = fields.whole(described), first = fields.whole(described, 1);
  const std::string_view data = fields.text(data_tag);
  const auto entries = static_cast<std::size_t>(count.value_or(0) == 0 ? 65536 : *count);
  if (!count || !first || data.size() < entries) return {};
  DicomTable table;
  table.first = is_signed ? static_cast<std::int16_t>(*first) : *first;
  const bool are_words = data.size() >= 2 * entries;
  const bool is_wide = fields.whole(described, 2).value_or(8) > 8;
  for (std::size_t i = 0; i < entries; ++i) {
    std::uint16_t entry = static_cast<std::uint8_t>(data[i]);
    if (are_words) entry = static_cast<std::uint16_t>(number_at(data, 2 * i, 2, big_endian));
    table.entries.push_back(is_wide ? entry : static_cast<std::uint16_t>(entry & 0xff));
  }
  return table;
}

// The first lookup table of a sequence, and how many bits its entries have.
struct Lut {
  DicomTable table;
  int bits = 16;
};
std::optional<Lut> first_lut(const DicomFile& file, const Fields& fields, DicomTag sequence_tag,
                             bool is_signed) {
  constexpr DicomTag described = 0x00283002, data = 0x00283006;
  const DicomElement* sequence = fields.find(sequence_tag);
  if (sequence == nullptr) return {};
  const std::optional<DicomData> item = dicom_item(*sequence, 0, file.data.order());
  if (!item) return {};
  const Fields of_item(*item, 0);
  auto table = table_of(of_item, described, data, is_signed, file.data.order().big_endian);
  if (!table) return {};
  return Lut{std::move(*table), std::clamp(of_item.whole(described, 2).value_or(16), 1, 16)};
}

constexpr DicomTag modality_luts = 0x00283000, voi_luts = 0x00283010;

// What stored numbers of gray mean, where no slope and offset say it.
std::optional<DicomTable> modality_table(const DicomFile& file, const Fields& fields,
                                         const DicomPixels& pixels) {
  if (!fields.has(modality_luts)) return {};
  auto lut = first_lut(file, fields, modality_luts, pixels.is_signed);
  if (!lut) fail("DICOM whose modality LUT is damaged or cut off");
  return std::move(lut->table);
}

std::optional<ValueWindow> window_of(const Fields& fields, bool inverted) {
  const auto centre = fields.number(0x00281050), width = fields.number(0x00281051);
  if (!centre || !width || *width <= 0) return {};
  ValueWindow window{.centre = *centre, .width = *width, .inverted = inverted};
  const std::string shape = fields.word(0x00281056);
  if (shape == "SIGMOID") window.shape = ValueWindow::Shape::sigmoid;
  if (shape == "LINEAR_EXACT") window.shape = ValueWindow::Shape::linear_exact;
  return window;
}

// The distances of rows and of columns, in millimetres.
std::optional<std::array<double, 2>> spacing_of(const Fields& fields) {
  // In the patient, and where a projection says nothing of that, on the detector.
  for (const DicomTag tag : {0x00280030U, 0x00181164U}) {
    const auto y = fields.number(tag), x = fields.number(tag, 1);
    if (y && x && *y > 0 && *x > 0) return std::array{*y, *x};
  }
  return {};
}

// Where a slice lies along the normal of its plane, in millimetres; its number in the series where
// the file does not say.
std::optional<double> slice_of(const Fields& fields) {
  std::array<double, 3> at{};
  std::array<double, 6> axes{1, 0, 0, 0, 1, 0};
  bool has_place = true;
  for (int i = 0; i < 3; ++i) {
    const auto number = fields.number(0x00200032, i);
    has_place = has_place && number;
    at[static_cast<std::size_t>(i)] = number.value_or(0);
  }
  if (!has_place) return fields.number(0x00200013);
  for (int i = 0; i < 6; ++i) {
    const auto number = fields.number(0x00200037, i);
    if (!number) break;
    axes[static_cast<std::size_t>(i)] = *number;
  }
  const auto [rx, ry, rz, cx, cy, cz] = axes;
  return at[0] * (ry * cz - rz * cy) + at[1] * (rz * cx - rx * cz) + at[2] * (rx * cy - ry * cx);
}

void read_samples(DicomPixels& out, const Fields& fields) {
  out.samples = fields.whole(0x00280002).value_or(1);
  out.photometric = fields.word(0x00280004);
  out.allocated = fields.whole(0x00280100).value_or(0);
  out.stored = fields.whole(0x00280101).value_or(out.allocated);
  out.high_bit = fields.whole(0x00280102).value_or(out.stored - 1);
  out.is_signed = fields.whole(0x00280103).value_or(0) == 1;
  out.planar = fields.whole(0x00280006).value_or(0) == 1;
  const bool is_known =
      out.allocated == 1 || out.allocated == 8 || out.allocated == 16 || out.allocated == 32;
  if (!is_known || out.stored < 1 || out.stored > out.allocated || out.high_bit < out.stored - 1 ||
      out.high_bit >= out.allocated) {
    fail("DICOM of ", out.stored, " bits in ", out.allocated,
         " is not read (1, 8, 16 and 32 bits are)");
  }
  static constexpr std::string_view read[] = {"MONOCHROME1", "MONOCHROME2", "PALETTE COLOR",
                                              "RGB",         "YBR_FULL",    "YBR_FULL_422",
                                              "YBR_ICT",     "YBR_RCT"};
  const bool is_colour = out.photometric == "RGB" || out.is_ybr();
  if (std::ranges::find(read, out.photometric) == std::end(read) ||
      out.samples != (is_colour ? 3 : 1)) {
    fail("DICOM of ", out.samples, " samples as '", out.photometric, "' is not read");
  }
  if (is_colour && (out.stored != out.allocated || out.allocated > 16 || out.is_signed ||
                    (out.is_ybr() && out.allocated != 8))) {
    fail("DICOM of colours of ", out.stored, " bits is not read (8 and 16 bits are)");
  }
}

// Whole results of 16 bits and less that int16 holds, or int32.
SampleType samples_of(const DicomPixels& p) {
  if (p.slope != std::floor(p.slope) || p.offset != std::floor(p.offset)) {
    return SampleType::of_class;
  }
  const double range = std::ldexp(1.0, p.is_signed ? p.stored - 1 : p.stored);
  const double ends[] = {(p.is_signed ? -range : 0) * p.slope + p.offset,
                         (range - 1) * p.slope + p.offset};
  const auto [least, most] = std::ranges::minmax(ends);
  if (least >= -32768 && most <= 32767) return SampleType::int16;
  return least >= -0x1p31 && most < 0x1p31 ? SampleType::int32 : SampleType::of_class;
}

void read_type(DicomPixels& out, const DicomFile& file, const Fields& fields, bool wide_palette) {
  ImageInfo& info = out.info;
  if (out.has_palette()) {
    info.type = type_of(wide_palette ? PixelClass::uint16 : PixelClass::uint8, 3, false);
    return;
  }
  if (out.samples == 3) {
    info.type = type_of(out.allocated == 8 ? PixelClass::uint8 : PixelClass::uint16, 3, false);
    return;
  }
  out.modality = modality_table(file, fields, out);
  if (out.modality) {
    info.type = {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
    info.samples = SampleType::int32;
    return;
  }
  const auto dose = fields.number(0x3004000e);  // of a radiation plan
  out.slope = fields.number(0x00281053).value_or(dose.value_or(1));
  out.offset = fields.number(0x00281052).value_or(0);
  if (out.slope == 0) out.slope = 1;
  if (out.allocated == 1) {
    info.type = type_of(PixelClass::logical, 1, false);
    return;
  }
  const bool is_class = !out.is_signed && !out.scaled();
  if (is_class && out.stored == 8) {
    info.type = type_of(PixelClass::uint8, 1, false);
  } else if (is_class && out.stored == 16) {
    info.type = type_of(PixelClass::uint16, 1, false);
  } else {
    info.type = {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
    // Frames that are scaled each by itself have one type.
    const bool is_each = info.pages > 1 && fields.has(0x52009230) && fields.has(0x00281053);
    info.samples = is_each ? SampleType::of_class : samples_of(out);
  }
}

std::string detail_of(const DicomPixels& p) {
  std::string text = depth_text(p.stored);
  if (p.is_signed) text += " signed";
  text += ", " + p.photometric;
  if (p.scaled()) text += ", rescaled";
  if (p.modality) text += ", modality LUT";
  if (p.info.lossy) text += ", with loss";
  if (p.info.window && p.info.window->table) {
    text += ", VOI LUT";
  } else if (p.info.window) {
    text +=
        ", window " + short_text(p.info.window->centre) + "," + short_text(p.info.window->width);
  }
  return text;
}

}  // namespace

DicomPixels dicom_pixels(const DicomFile& file, int page) {
  const Fields fields(file.data, page);
  DicomPixels out;
  ImageInfo& info = out.info;
  info.format = Format::dicom;
  const auto rows = fields.whole(0x00280010), columns = fields.whole(0x00280011);
  if (!rows || !columns) {
    const std::string modality = fields.word(0x00080060);
    fail("DICOM without a picture", modality.empty() ? "" : " (modality " + modality + ")");
  }
  info.stored = {*columns, *rows};
  const double pages = fields.number(0x00280008).value_or(1);
  constexpr double most = 1 << 24;
  if (!(pages >= 1 && pages <= most)) fail("damaged DICOM: ", fields.word(0x00280008), " frames");
  info.pages = static_cast<int>(pages);
  if (page < 0 || page >= info.pages) fail("it has no page ", page + 1);
  info.page = page;
  if (info.pages == 1) info.slice = slice_of(fields);
  const bool is_time = fields.has(0x00181063) || fields.has(0x00181065);
  if (info.pages > 1) info.axes = {{is_time ? 't' : 'z', info.pages}};
  if (const auto spacing = spacing_of(fields)) {
    info.measured = {{.name = "x", .unit = "millimeter", .scale = (*spacing)[1]},
                     {.name = "y", .unit = "millimeter", .scale = (*spacing)[0]}};
  }
  const double between = fields.number(is_time ? 0x00181063 : 0x00180088).value_or(0);
  if (info.pages > 1 && between > 0) {
    info.measured.push_back({.name = is_time ? "t" : "z",
                             .unit = is_time ? "millisecond" : "millimeter",
                             .scale = between});
  }
  read_samples(out, fields);
  read_type(out, file, fields, fields.whole(0x00281101, 2).value_or(8) > 8);
  const DicomElement* data = file.data.find(dicom_pixels_tag);
  if (data == nullptr) fail("DICOM without pixels that are whole numbers");
  static constexpr std::string_view with_loss[] = {
      "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.81",
      "1.2.840.10008.1.2.4.91"};
  info.lossy = std::ranges::find(with_loss, file.syntax) != std::end(with_loss);
  if (info.type.channels == 1) {
    info.window = window_of(fields, out.inverted());
    // Numbers below 0 are there where pixels are signed, or an offset makes them so.
    const bool has_negative = !out.modality && (out.is_signed || out.offset < 0);
    if (auto lut = first_lut(file, fields, voi_luts, has_negative)) {
      if (!info.window) info.window = {.inverted = out.inverted()};
      info.window->table = std::make_shared<const ValueWindow::Table>(ValueWindow::Table{
          lut->table.first, std::ldexp(1.0, lut->bits) - 1, std::move(lut->table.entries)});
    }
  }
  if (!data->has_items && !file.inflated) {
    const bool shared = out.photometric == "YBR_FULL_422";
    info.min_bytes = whole_bytes(static_cast<double>(info.stored.pixels()) * info.pages *
                                 (shared ? 2 : out.samples) * out.allocated / 8);
  }
  info.detail = detail_of(out);
  return out;
}

std::vector<DicomTable> dicom_palette(const DicomFile& file, bool is_signed) {
  const Fields fields(file.data, 0);
  std::vector<DicomTable> out;
  for (DicomTag channel = 0; channel < 3; ++channel) {
    auto table = table_of(fields, 0x00281101 + channel, 0x00281201 + channel, is_signed,
                          file.data.order().big_endian);
    if (!table) fail("DICOM of a palette that is segmented or cut off, which is not read");
    out.push_back(std::move(*table));
  }
  return out;
}

MetadataRead dicom_metadata(const DicomFile& file, int page) {
  const Fields fields(file.data, page);
  MetadataRead out;
  const std::string_view icc = fields.text(0x00282000);
  if (!icc.empty() && out.takes(icc.size(), "ICC profile")) {
    out.metadata.icc = bytes_of_text(icc);
  }
  constexpr DicomTag pixels_group = 0x0028, data_group = 0x7fe0;
  std::int64_t others = 0;
  bool has_overlay = false;
  for (const auto& [tag, element] : file.data.all()) {
    const DicomTag group = tag >> 16;
    has_overlay = has_overlay || (group & 0xff00) == 0x6000;
    if (group != pixels_group && group != data_group) ++others;
  }
  out.lose(std::to_string(others) + " fields of the DICOM header");
  if (has_overlay) out.lose("overlays");
  if (fields.has(voi_luts)) out.lose("the table by which it is shown (VOI LUT)");
  return out;
}

}  // namespace impipe::io
