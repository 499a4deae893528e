// The table of fields that describe pixels, and what each is bound to.
#include "io/metadata/stale_fields.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "io/metadata/descriptions.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/geotiff.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/tiff_block.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

// What a field is bound to: it holds as long as none of these has changed.
enum Bound : unsigned {
  places = 1,    // where each pixel lies
  size = 2,      // how many pixels there are
  frame = 4,     // what the whole of the picture shows
  scale = 8,     // the part of the scene that a pixel covers
  samples = 16,  // the type of samples in the file
  numbers = 32,  // what a number means: the white, and the scale
  channels = 64,
  pages = 128,     // which pages there are in the file
  values = 256,    // the values themselves
  colours = 1024,  // which colours values mean
  map = 512,       // where on a map a pixel lies, which follows places where it can
};
constexpr unsigned grid = places | size;

// Fields by their numbers: tags, or those of resources.
struct NumberRow {
  unsigned first, last;
  const char* name;
  unsigned bound;
};
constexpr NumberRow tiff_rows[] = {
    {286, 287, "XPosition and YPosition", grid},
    {290, 291, "a gray response curve", samples | numbers | channels},
    {300, 300, "a colour response unit", samples | channels},
    {343, 345, "a clipping path", grid},
    {433, 434, "Decode", samples | numbers | channels},
    {301, 301, "a transfer function", colours},
    {318, 319, "a white point and primary colours", colours},
    {532, 532, "a reference black and white", colours},
    {33300, 33301, "the size of the full image", grid},
    {33305, 33306, "the camera's matrices", grid},
    {33421, 33422, "the colour filter's pattern", grid | channels},
    {33445, 33448, "the scale of GEL values", samples | numbers},
    {33550, 33550, "GeoTIFF", map},
    {33628, 33631, "MetaMorph's tags", grid | scale | samples | channels | pages},
    {33918, 33920, "Intergraph's matrix", grid},
    {33922, 33922, "GeoTIFF", map},
    {34118, 34118, "Zeiss' scale", scale},
    {34264, 34264, "GeoTIFF", map},
    {34361, 34362, "FluoView's tags", grid | scale | samples | channels | pages},
    {34412, 34412, "Zeiss' LSM tag", grid | scale | samples | channels | pages},
    {34682, 34682, "FEI's scale", grid | scale},
    {34735, 34737, "GeoTIFF", map},
    {37439, 37439, "StoNits", samples | numbers},
    {37724, 37724, "Photoshop's layers", values | pages},
    {42112, 42112, "GDAL metadata", grid | numbers | channels},
    {42113, 42113, "GDAL's value for no data", numbers},
    {50710, 50711, "the colour filter's pattern", grid | channels},
    {50712, 50712, "a linearization table", samples | numbers},
    {50713, 50714, "BlackLevel", samples | numbers | channels},
    {50715, 50716, "BlackLevel", grid | samples | numbers},
    {50717, 50717, "WhiteLevel", samples | numbers | channels},
    {50718, 50718, "DefaultScale", grid},
    {50719, 50720, "DefaultCrop", grid},
    {50780, 50780, "BestQualityScale", grid},
    {50829, 50829, "ActiveArea", grid},
    {50830, 50830, "MaskedAreas", grid},
    {50838, 50839, "ImageJ's metadata", grid | samples | channels},
    {50844, 50844, "GeoTIFF's rational polynomials", grid},
    {50972, 50972, "a digest of its pixels", values},
    {51008, 51009, "opcode lists", grid | samples | numbers | channels},
    {51022, 51022, "opcode lists", grid | samples | numbers | channels},
    {51041, 51041, "a noise profile", samples | numbers | channels},
    {51089, 51091, "DefaultFinalSize", grid},
    {51111, 51111, "a digest of its pixels", values},
    {51123, 51123, "MicroManager's metadata", grid | scale | samples | channels},
    {51125, 51125, "DefaultUserCrop", frame},
};
constexpr std::uint16_t description_tag = 270, exif_tag = 34665, gps_tag = 34853, gdal_tag = 42112;
constexpr std::uint16_t resolution_tags[] = {282, 283, 296};

// Properties; a name that ends in ':' is all of that prefix.
struct XmpRow {
  std::string_view property;
  const char* name;
  unsigned bound;
};
constexpr XmpRow xmp_rows[] = {
    {"mwg-rs:Regions", "XMP regions", frame},
    {"MP:RegionInfo", "XMP regions", frame},
    {"Iptc4xmpExt:ImageRegion", "XMP regions", frame},
    {"exif:SubjectArea", "XMP SubjectArea", grid},
    {"exif:SubjectLocation", "XMP SubjectLocation", grid},
    {"GPano:", "XMP panorama (GPano)", grid},
    {"GDepth:", "XMP depth (GDepth)", frame},
    {"xmpNote:HasExtendedXMP", "extended XMP", frame},
};

constexpr NumberRow resource_rows[] = {
    {1006, 1007, "Photoshop's channels", channels}, {1032, 1032, "Photoshop's guides", grid},
    {1045, 1045, "Photoshop's channels", channels}, {1050, 1050, "Photoshop's slices", grid},
    {1053, 1053, "Photoshop's channels", channels}, {1064, 1064, "Photoshop's pixel ratio", scale},
    {1077, 1077, "Photoshop's channels", channels}, {2000, 2999, "Photoshop's paths", frame},
};

// Chunks and segments by the names that their readers give them.
struct PieceRow {
  std::string_view piece;
  unsigned bound;
};
constexpr PieceRow piece_rows[] = {
    {"calibration (oFFs)", grid},
    {"calibration (pCAL)", numbers},
    {"calibration (sCAL)", scale},
    {"chunk caNv", grid},
    {"chunk vpAg", grid},
    {"chunk sTER", grid},
    {"extended XMP", frame},
    {"", colours},
    {"gamma", colours},
    {"primary colours", colours},
    {"colour space (cICP)", colours},
    {"colour space (mDCV)", colours},
    {"colour space (mDCv)", colours},
    {"colour space (cLLI)", colours},
    {"colour space (cLLi)", colours},
};

unsigned changed(const Metadata& m, const ImageType& result) {
  const PixelChange& change = m.change;
  const ImageType& before = change.type_before;
  unsigned out = 0;
  const auto add = [&](unsigned bound, bool is_so) { out |= is_so ? bound : 0; };
  add(places, change.moved());
  add(size, change.resized());
  add(frame, !change.has_same_frame());
  add(scale, change.scaled());
  add(samples, before.cls != result.cls || !m.stored_as_decoded);
  // Without a white, numbers mean the same however they are stored.
  add(numbers, before.white != result.white || (!m.stored_as_decoded && before.white != 0));
  add(channels, before.channels != result.channels || before.alpha != result.alpha);
  add(pages, change.pages);
  add(values, change.values);
  add(colours, change.colours);
  return out;
}

class Dropper {
 public:
  Dropper(Metadata& metadata, const ImageType& result, Lost& lost)
      : m_(metadata), lost_(lost), changed_(changed(metadata, result)) {}

  void drop() {
    if (changed_ == 0) return;
    if (!m_.exif.empty()) drop_from_exif();
    if (!m_.xmp.empty()) drop_from_xmp();
    m_.photoshop = bytes_of_text(resources_without(
        text_of(m_.photoshop), [this](std::uint64_t id) { return is_lost(resource_rows, id); }));
    for (const PieceRow& row : piece_rows) {
      const auto is_it = [&](const Piece& piece) { return piece.name == row.piece; };
      if ((row.bound & changed_) == 0 || std::erase_if(m_.pieces, is_it) == 0) continue;
      if (!row.piece.empty()) lose(row.piece);
    }
  }

 private:
  void lose(std::string_view name) {
    if (std::ranges::find(lost_, name) == lost_.end()) lost_.emplace_back(name);
  }

  bool is_lost(std::span<const NumberRow> rows, std::uint64_t id) {
    return std::ranges::any_of(rows, [&](const NumberRow& row) {
      const bool is_so = id >= row.first && id <= row.last && (row.bound & changed_) != 0;
      if (is_so) lose(row.name);
      return is_so;
    });
  }

  void drop_from_exif() {
    std::string block(text_of(m_.exif));
    const std::string description = exif_text(block, description_tag);
    Lost lost;
    const std::string now = description_of(description,
                                           {.pixels = m_.change,
                                            .samples = (changed_ & (samples | numbers)) != 0,
                                            .channels = (changed_ & channels) != 0,
                                            .keeps_scale = keeps_scale()},
                                           lost);
    // ImageJ's unit is one of the resolution, which tells nothing without it.
    const bool no_scale = (changed_ & scale) != 0 && is_of_imagej(description) &&
                          (now.empty() || std::ranges::count(lost, "ImageJ's scale"));
    if (no_scale) m_.resolution.reset();
    for (const std::string& name : lost) lose(name);
    if (now != description) block = exif_with_text(std::move(block), description_tag, now);
    if ((changed_ & grid) != 0) {
      lost.clear();
      block = exif_of_moved(std::move(block), m_.change, lost);
      for (const std::string& name : lost) lose(name);
      if (!follow_geotiff(block, m_.change)) changed_ |= map;
    }
    if ((changed_ & values) != 0) drop_statistics(block);
    if ((changed_ & colours) != 0) {
      const auto profile = colour_profile(m_.icc);
      block = exif_with_colours(std::move(block), profile && profile->is_srgb);
    }
    block = exif_without(std::move(block), [&](std::uint16_t tag) {
      if (tag == description_tag) return now.empty() && !description.empty();
      const auto* end = std::end(resolution_tags);
      if (no_scale && std::ranges::find(resolution_tags, tag) != end) return true;
      return is_lost(tiff_rows, tag);
    });
    m_.exif = bytes_of_text(block);
  }

  // Whether the fields of the resolution, if there are any, can follow the pixels.
  bool keeps_scale() const {
    if (!m_.resolution) return true;
    PixelChange::Lengths in_file{1 / m_.resolution->x, 1 / m_.resolution->y};
    if (m_.change.read_turned) std::swap(in_file.x, in_file.y);
    return m_.change.pixel_lengths(in_file).has_value();
  }

  void drop_statistics(std::string& block) {
    const std::string text = exif_text(block, gdal_tag), now = gdal_without_statistics(text);
    if (now == text) return;
    lose("GDAL's statistics");
    block = exif_with_text(std::move(block), gdal_tag, now);
  }

  void drop_from_xmp() {
    std::optional<std::string> moved;
    if ((changed_ & frame) != 0) moved = xmp_of_moved(m_.xmp, m_.change);
    if (moved) m_.xmp = *moved;
    for (const XmpRow& row : xmp_rows) {
      const bool is_moved = moved && row.property == "mwg-rs:Regions";
      if ((row.bound & changed_) == 0 || is_moved) continue;
      std::string without = xmp_without(m_.xmp, row.property);
      if (without == m_.xmp) continue;
      m_.xmp = std::move(without);
      lose(row.name);
    }
  }

  Metadata& m_;
  Lost& lost_;
  unsigned changed_;
};

}  // namespace

namespace {

// The resolution of a page, which stays where both directions have grown alike, or of ImageJ's
// scene.
void follow_page(Metadata& m, bool is_scale, Lost& lost) {
  const PixelChange& change = m.change;
  if (m.resolution->x == m.resolution->y && !is_scale) return;
  Resolution& r = *m.resolution;
  if (change.read_turned) std::swap(r.x, r.y);  // as the file has them
  const auto lengths = change.pixel_lengths({1 / r.x, 1 / r.y});
  const bool is_known = lengths && (is_scale || change.is_straight() || change.is_transposed());
  // A ratio is one of pixels; lengths stay where both directions have grown alike.
  const bool grows = is_known && (is_scale || r.unit == Resolution::Unit::none ||
                                  std::abs(change.scale_x() / change.scale_y() - 1) > 0.01);
  if (!m.exif.empty()) {
    m.exif = bytes_of_text(exif_of_resolution_moved(std::string(text_of(m.exif)), change, grows));
  }
  if (!is_known) {
    m.resolution.reset();
    lost.emplace_back("resolution");
  } else if (grows) {
    r.x = 1 / lengths->x;
    r.y = 1 / lengths->y;
  } else if (change.is_transposed()) {
    std::swap(r.x, r.y);
  }
}

// x and y, both of which are there, after a change of the pixels.
std::vector<MeasuredAxis> measured_after(std::vector<MeasuredAxis> out, const PixelChange& change) {
  const auto at = [&](std::string_view name) {
    return std::ranges::find(out, name, &MeasuredAxis::name);
  };
  const auto x = at("x"), y = at("y");
  // Lengths of one kind alone are those of sides that are askew.
  const bool is_along = change.is_straight() || change.is_transposed();
  const auto lengths = change.pixel_lengths({x->scale, y->scale});
  if (!lengths || (!is_along && x->unit != y->unit)) {
    std::erase_if(out,
                  [](const MeasuredAxis& axis) { return axis.name == "x" || axis.name == "y"; });
    return out;
  }
  if (!is_along) {
    *x = {.name = "x", .unit = x->unit, .scale = lengths->x};
    *y = {.name = "y", .unit = y->unit, .scale = lengths->y};
    return out;
  }
  const AffinePlace& place = *change.place;
  // Along the file's x lies what the result has along its y where the two are transposed.
  const double at_x = x->translation + x->scale * place.c,
               at_y = y->translation + y->scale * place.f;
  if (change.is_transposed()) {
    std::swap(x->unit, y->unit);
    x->translation = at_y;
    y->translation = at_x;
  } else {
    x->translation = at_x;
    y->translation = at_y;
  }
  x->scale = lengths->x;
  y->scale = lengths->y;
  return out;
}

}  // namespace

Lost names_of_tiff_fields(std::string block, bool keeps_axes) {
  const std::string description = exif_text(block, description_tag);
  const TiffBlock b(block);
  const size_t first = b.first();
  // A photograph's EXIF has its camera and its date in the TIFF's own directory.
  const bool has_exif = b.entry(first, exif_tag) != 0 || b.entry(first, gps_tag) != 0;
  Lost out;
  std::string numbers;
  for (size_t i = 0; i < b.entries(first); ++i) {
    const auto tag = static_cast<std::uint16_t>(b.number(b.entry_at(first, i), 2));
    const auto* const row = std::ranges::find_if(
        tiff_rows, [&](const NumberRow& r) { return r.first <= tag && tag <= r.last; });
    if (std::ranges::find(resolution_tags, tag) != std::end(resolution_tags)) continue;
    if (tag == description_tag) {
      const std::string name = name_of_description(description);
      lose(out, name.empty() ? "ImageDescription"
                : keeps_axes ? name + " but for axes and sizes"
                             : name);
    } else if (row != std::end(tiff_rows)) {
      lose(out, row->name);
    } else if (has_exif) {
      lose(out, "EXIF");
    } else {
      numbers += " " + std::to_string(tag);
    }
  }
  if (numbers.empty()) return out;
  out.push_back((numbers.find(' ', 1) == numbers.npos ? "TIFF tag" : "TIFF tags") + numbers);
  return out;
}

std::vector<MeasuredAxis> of_pages(std::vector<MeasuredAxis> measured) {
  std::erase_if(measured,
                [](const MeasuredAxis& axis) { return axis.name == "x" || axis.name == "y"; });
  return measured;
}

std::optional<Resolution> resolution_of(std::span<const MeasuredAxis> measured) {
  const MeasuredAxis *x = axis_named(measured, "x"), *y = axis_named(measured, "y");
  if (x == nullptr || y == nullptr) return {};
  const double across = metres_of(x->unit) * x->scale, down = metres_of(y->unit) * y->scale;
  if (!(across > 0 && down > 0)) return {};
  constexpr double centimetre = 0.01;
  return Resolution{
      .x = centimetre / across, .y = centimetre / down, .unit = Resolution::Unit::centimetre};
}

void follow_resolution(Metadata& m, Lost& lost) {
  const bool is_known = m.change.before.pixels() > 0;
  const bool is_imagej = !m.wants_ome && is_of_imagej(exif_text(text_of(m.exif), description_tag));
  const bool has_scene = resolution_of(m.measured).has_value();
  if (is_known && m.resolution && (is_imagej || !has_scene)) follow_page(m, is_imagej, lost);
  const auto lose = [&](const char* name) {
    if (std::ranges::find(lost, name) == lost.end()) lost.emplace_back(name);
  };
  if (!has_scene) {
    const bool is_one =
        (axis_named(m.measured, "x") == nullptr) != (axis_named(m.measured, "y") == nullptr);
    if (is_one && measured_of_result(m).size() < m.measured.size()) lose("size of pixels");
    return;
  }
  // The sizes of pixels in the scene are the resolution of files that know no other.
  m.resolution = resolution_of(measured_of_result(m));
  if (!m.resolution) lose("resolution");
  if (m.exif.empty() || is_imagej) return;
  const std::string exif(text_of(m.exif));
  m.exif = bytes_of_text(m.resolution ? exif_with_resolution(exif, *m.resolution)
                                      : exif_without(exif, [](std::uint16_t tag) {
                                          return std::ranges::find(resolution_tags, tag) !=
                                                 std::end(resolution_tags);
                                        }));
}

std::vector<MeasuredAxis> measured_of_result(const Metadata& metadata) {
  const PixelChange& change = metadata.change;
  std::vector<MeasuredAxis> out = metadata.measured;
  const bool has_x = axis_named(out, "x") != nullptr, has_y = axis_named(out, "y") != nullptr;
  if ((!has_x && !has_y) || change.before.pixels() == 0) return out;
  if (has_x && has_y) return measured_after(std::move(out), change);
  // One axis alone follows as if the other was measured, too, in a unit of its own.
  out.push_back({.name = has_x ? "y" : "x", .unit = "unknown"});
  out = measured_after(std::move(out), change);
  const std::string_view unknown = has_x == change.is_transposed() ? "x" : "y";
  std::erase_if(out, [&](const MeasuredAxis& axis) { return axis.name == unknown; });
  return out;
}

FileAxes axes_of_result(const Metadata& metadata) {
  return {.pages = metadata.pages,
          .measured = measured_of_result(metadata),
          .channel_names = metadata.channel_names,
          .is_ome = metadata.is_ome || metadata.wants_ome};
}

void drop_stale_fields(Metadata& metadata, const ImageType& result, Lost& lost) {
  if (metadata.change.before.pixels() > 0) Dropper(metadata, result, lost).drop();
  follow_resolution(metadata, lost);
}

}  // namespace impipe::io
