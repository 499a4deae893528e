// Reads and corrects ImageJ's "key=value" lines and tifffile's JSON. Compiled into the program and
// into the codec module.
#include "io/formats/tiff/tiff_description.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "io/formats/tiff/tiff_header.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

constexpr std::int64_t max_planes = std::int64_t{1} << 40;  // larger numbers are none

std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 && value <= max_planes ? value : 0;
}

// a b, or max_planes where that is more.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return b > max_planes / a ? max_planes : a * b;
}

bool is_imagej(std::string_view text) {
  return text.starts_with("ImageJ=") || text.starts_with("SCIFIO=");
}

// The lines "key=value" of ImageJ.
class ImagejText {
 public:
  explicit ImagejText(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      lines_.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // A positive number; 0 where there is none.
  std::int64_t number(std::string_view key) const {
    const auto line =
        std::ranges::find_if(lines_, [&](const std::string& one) { return is_of(one, key); });
    return line == lines_.end() ? 0 : number_in(std::string_view(*line).substr(key.size() + 1));
  }
  // The text behind the key; empty where there is no such line.
  std::string_view value(std::string_view key) const {
    const auto line =
        std::ranges::find_if(lines_, [&](const std::string& one) { return is_of(one, key); });
    return line == lines_.end() ? std::string_view()
                                : std::string_view(*line).substr(key.size() + 1);
  }
  // Without the line where the number is 1.
  void set(std::string_view key, std::int64_t number) {
    if (number == 1) return drop(key);
    set(key, std::to_string(number));
  }
  void set(std::string_view key, const std::string& value) {
    for (std::string& line : lines_) {
      if (is_of(line, key)) line = std::string(key) + '=' + value;
    }
  }
  void drop(std::string_view key) {
    std::erase_if(lines_, [&](const std::string& line) { return is_of(line, key); });
  }
  std::string text() const {
    std::string out;
    for (const std::string& line : lines_) out += line + '\n';
    return out;
  }

 private:
  static bool is_of(std::string_view line, std::string_view key) {
    return line.starts_with(key) && line.substr(key.size()).starts_with('=');
  }

  std::vector<std::string> lines_;
};

bool is_ome(std::string_view text) { return text.starts_with("<?xml") || text.starts_with("<OME"); }

// An attribute of a tag of XML; empty where it has none.
std::string_view attribute(std::string_view tag, const std::string& name) {
  const std::string begin = " " + name + "=\"";
  const size_t at = tag.find(begin);
  if (at == tag.npos) return {};
  const std::string_view value = tag.substr(at + begin.size());
  return value.substr(0, value.find('"'));
}

// The first element of this name behind `from`, without what is in it; moves `from` behind it.
std::string_view next_tag(std::string_view text, std::string_view name, size_t& from) {
  const size_t begin = text.find(name, from);
  const size_t end = begin == text.npos ? begin : text.find('>', begin);
  from = end;
  return end == text.npos ? std::string_view() : text.substr(begin, end - begin);
}

// The axes of the one image of an OME-XML whose planes lie in directories in the order that it
// names; none where the elements TiffData give them other places.
std::vector<PageAxis> ome_axes(std::string_view text, std::int64_t pages) {
  size_t from = 0;
  const std::string_view pixels = next_tag(text, "<Pixels ", from);
  if (pixels.empty() || text.substr(from).find("<Pixels ") != text.npos) return {};
  size_t in_channel = from;
  const std::string_view channel = next_tag(text, "<Channel ", in_channel);
  const std::int64_t samples =
      std::max<std::int64_t>(1, number_in(attribute(channel, "SamplesPerPixel")));
  const std::string_view order = attribute(pixels, "DimensionOrder");
  if (order.size() != 5 || !order.starts_with("XY")) return {};
  std::vector<PageAxis> out;  // the fastest first
  std::int64_t count = 1;
  for (const char letter : order.substr(2)) {
    std::int64_t along = number_in(attribute(pixels, std::string("Size") + letter));
    if (letter == 'C') along /= samples;
    if (along < 1 || along > pages) return {};
    out.push_back({static_cast<char>(letter - 'A' + 'a'), static_cast<int>(along)});
    count = product(count, along);
  }
  if (count != pages) return {};
  while (from != text.npos) {
    const std::string_view data = next_tag(text, "<TiffData", from);
    std::int64_t place = 0, below = 1;
    for (const PageAxis& axis : out) {
      const std::string first = std::string("First") + static_cast<char>(axis.letter - 'a' + 'A');
      place += number_in(attribute(data, first)) * below;
      below *= axis.count;
    }
    if (place != number_in(attribute(data, "IFD"))) return {};
  }
  std::erase_if(out, [](const PageAxis& axis) { return axis.count == 1; });
  std::ranges::reverse(out);
  return out;
}

double real_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) && value > 0 ? value : 0;
}

// Adds what an axis measures, where both number and unit are known.
void add_measure(std::vector<MeasuredAxis>& to, std::string_view name, double scale,
                 const std::string& unit) {
  if (scale > 0 && std::isfinite(scale) && !unit.empty()) {
    to.push_back({.name = std::string(name), .unit = unit, .scale = scale});
  }
}

std::vector<MeasuredAxis> ome_measures(std::string_view text) {
  size_t from = 0;
  const std::string_view pixels = next_tag(text, "<Pixels ", from);
  if (pixels.empty() || text.substr(from).find("<Pixels ") != text.npos) return {};
  std::vector<MeasuredAxis> out;
  const auto add = [&](std::string_view name, const std::string& key, std::string_view usual) {
    const std::string_view unit = attribute(pixels, key + "Unit");
    add_measure(out, name, real_in(attribute(pixels, key)),
                unit_named(unit.empty() ? usual : unit));
  };
  add("x", "PhysicalSizeX", "µm");
  add("y", "PhysicalSizeY", "µm");
  add("z", "PhysicalSizeZ", "µm");
  add("t", "TimeIncrement", "s");
  return out;
}

std::vector<MeasuredAxis> imagej_measures(std::string_view description, double x, double y) {
  const ImagejText text(description);
  std::vector<MeasuredAxis> out;
  const auto unit = [&](std::string_view key) {
    const std::string_view own = text.value(key);
    return unit_named(own.empty() ? text.value("unit") : own);
  };
  add_measure(out, "x", 1 / x, unit("unit"));
  add_measure(out, "y", 1 / y, unit("yunit"));
  add_measure(out, "z", real_in(text.value("spacing")), unit("zunit"));
  const std::string_view time = text.value("tunit");
  add_measure(out, "t", real_in(text.value("finterval")), unit_named(time.empty() ? "sec" : time));
  return out;
}

// "... |AppMag = 20|MPP = 0.4990|...": micrometres a pixel.
std::vector<MeasuredAxis> aperio_measures(std::string_view description) {
  constexpr std::string_view key = "|MPP = ";
  const size_t begin = description.find(key);
  if (begin == description.npos) return {};
  std::string_view number = description.substr(begin + key.size());
  number = number.substr(0, number.find('|'));
  std::vector<MeasuredAxis> out;
  for (const std::string_view name : {"x", "y"}) {
    add_measure(out, name, real_in(number), unit_named("µm"));
  }
  return out;
}

// The line of each axis, the slowest first: the number of pages, and what lies between two.
struct ImagejAxis {
  char letter;
  std::string_view count, step;
};
constexpr ImagejAxis imagej_axes[] = {
    {'t', "frames", "finterval"}, {'z', "slices", "spacing"}, {'c', "channels", ""}};

// Whether ImageJ can say that pages lie so: t, z and c in this order.
bool are_of_imagej(std::span<const PageAxis> axes) {
  const auto* next = std::begin(imagej_axes);
  for (const PageAxis& axis : axes) {
    next = std::find_if(next, std::end(imagej_axes),
                        [&](const ImagejAxis& one) { return one.letter == axis.letter; });
    if (next == std::end(imagej_axes)) return false;
    ++next;
  }
  return !axes.empty();
}

void set_imagej_axes(ImagejText& text, std::span<const PageAxis> axes) {
  int wide = 0;
  for (const ImagejAxis& one : imagej_axes) {
    const auto axis = std::ranges::find(axes, one.letter, &PageAxis::letter);
    text.set(one.count, axis == axes.end() ? 1 : axis->count);
    if (axis == axes.end()) continue;
    wide += axis->count > 1 ? 1 : 0;
    const double step = real_in(text.value(one.step)) * axis->step;
    if (step > 0 && axis->step != 1) text.set(one.step, short_text(step));
    if (axis->step == 0 && !one.step.empty()) text.drop(one.step);
  }
  if (wide < 2) text.drop("hyperstack");
}

constexpr std::string_view dimensions[] = {"channels", "slices", "frames"};

std::int64_t imagej_planes(std::string_view description, const TiffLayout& l) {
  const ImagejText text(description);
  const auto count = [&](std::string_view key) {
    return std::max<std::int64_t>(1, text.number(key));
  };
  const std::int64_t others = product(count("slices"), count("frames"));
  // Bio-Formats counts the samples of a directory as channels where they lie apart.
  const bool channels_are_samples =
      l.planar == 2 && l.samples > 1 && static_cast<std::uint64_t>(count("channels")) == l.samples;
  if (channels_are_samples) return others;
  const std::int64_t images = text.number("images");
  return images > 0 ? images : product(others, count("channels"));
}

std::string imagej_of_pages(std::string_view description, std::int64_t pages,
                            std::span<const PageAxis> axes, std::vector<std::string>& lost) {
  ImagejText text(description);
  if (are_of_imagej(axes)) {
    text.set("images", pages);
    set_imagej_axes(text, axes);
    return text.text();
  }
  std::vector<std::string_view> used;
  std::string names;
  for (const std::string_view key : dimensions) {
    if (text.number(key) <= 1) continue;
    used.push_back(key);
    names += ' ' + std::string(key) + '=' + std::to_string(text.number(key));
  }
  text.set("images", pages);
  if (used.size() == 1) {
    text.set(used.front(), pages);
  } else if (!used.empty()) {
    for (const std::string_view key : used) text.drop(key);
    for (const ImagejAxis& axis : imagej_axes) {
      if (axis.step.empty() || text.value(axis.step).empty()) continue;
      names += ' ' + std::string(axis.step) + '=' + std::string(text.value(axis.step));
      text.drop(axis.step);
    }
    lost.push_back("ImageJ's" + names);
  }
  if (used.size() > 1 || pages == 1) text.drop("hyperstack");
  return text.text();
}

constexpr std::string_view axes_key = "\"axes\": \"";

// Where a text has the sizes of tifffile's array.
struct ShapeText {
  size_t begin = 0, end = 0;  // of what stands between the brackets
  std::vector<std::int64_t> sizes;
};

std::optional<ShapeText> shape_in(std::string_view text) {
  constexpr std::string_view json = "\"shape\":", old = "shape=";
  const bool is_old = text.starts_with(old);
  const size_t key = is_old ? 0 : text.starts_with('{') ? text.find(json) : text.npos;
  if (key == text.npos) return {};
  const size_t open = text.find_first_not_of(' ', key + (is_old ? old : json).size());
  if (open == text.npos || text[open] != (is_old ? '(' : '[')) return {};
  const size_t close = text.find(is_old ? ')' : ']', open);
  if (close == text.npos) return {};
  ShapeText out{.begin = open + 1, .end = close, .sizes = {}};
  for (size_t at = out.begin; at < close;) {
    const size_t end = std::min(text.find(',', at), close);
    const size_t digit = std::min(text.find_first_not_of(' ', at), end);
    const std::int64_t size = number_in(text.substr(digit, end - digit));
    if (size == 0 && digit < end) return {};
    if (size > 0) out.sizes.push_back(size);
    at = end + 1;
  }
  return out;
}

// How many of the last sizes are those of one page; 0 for none.
size_t page_sizes(const std::vector<std::int64_t>& sizes, const TiffLayout& l) {
  const auto samples = static_cast<std::int64_t>(std::min<std::uint64_t>(l.samples, 65535));
  if (l.size.width <= 0 || l.size.height <= 0) return 0;
  const std::int64_t wanted = product(product(l.size.width, l.size.height), samples);
  std::int64_t known = 1;
  for (size_t count = 1; count <= sizes.size(); ++count) {
    known = product(known, sizes[sizes.size() - count]);
    if (known == wanted && wanted < max_planes) return count;
  }
  return 0;
}

std::int64_t shape_planes(const ShapeText& shape, const TiffLayout& layout) {
  const size_t page = page_sizes(shape.sizes, layout);
  if (page == 0) return 1;
  std::int64_t planes = 1;
  for (size_t i = 0; i + page < shape.sizes.size(); ++i) planes = product(planes, shape.sizes[i]);
  return planes;
}

// The array of a page whose samples lay in planes apart, and are written side by side.
void put_samples_last(std::string& text, ShapeText shape) {
  const auto rotated = [](auto sizes) {
    std::rotate(sizes.end() - 3, sizes.end() - 2, sizes.end());
    return sizes;
  };
  if (const size_t at = text.find(axes_key); at != text.npos) {
    const size_t begin = at + axes_key.size(), end = text.find('"', begin);
    if (end != text.npos && end - begin == shape.sizes.size()) {
      text.replace(begin, end - begin, rotated(text.substr(begin, end - begin)));
    }
  }
  shape = *shape_in(text);
  std::string sizes;
  for (const std::int64_t size : rotated(shape.sizes)) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  text.replace(shape.begin, shape.end - shape.begin, sizes);
}

// The array of so many pages: their number in front of the sizes of a page.
void set_pages(std::string& text, const ShapeText& shape, size_t page, std::int64_t pages,
               std::vector<std::string>& lost) {
  const size_t before = shape.sizes.size() - page;
  const std::string old = text.substr(shape.begin, shape.end - shape.begin);
  std::string sizes = pages == 1 ? "" : std::to_string(pages) + ", ";
  for (size_t i = before; i < shape.sizes.size(); ++i) {
    sizes += std::to_string(shape.sizes[i]) + (i + 1 < shape.sizes.size() ? ", " : "");
  }
  const auto wide =
      std::count_if(shape.sizes.begin(), shape.sizes.begin() + static_cast<std::ptrdiff_t>(before),
                    [](std::int64_t size) { return size > 1; });
  if (wide > 1) lost.push_back("tifffile's shape (" + old + ")");
  if (const size_t at = text.find(axes_key); at != text.npos) {
    const size_t begin = at + axes_key.size(), end = text.find('"', begin);
    if (end != text.npos && end - begin == shape.sizes.size()) {
      std::string letters = text.substr(begin + before, page);
      // Q is tifffile's letter for a dimension that nobody knows.
      if (pages > 1) letters.insert(0, 1, before == 1 ? text[begin] : 'Q');
      text.replace(begin, end - begin, letters);
    }
  }
  const ShapeText now = *shape_in(text);
  text.replace(now.begin, now.end - now.begin, sizes);
}

}  // namespace

bool may_describe_stack(std::string_view begin) {
  return is_imagej(begin) || is_ome(begin) || begin.starts_with('{') || begin.starts_with("shape=");
}

bool describes_whole_file(std::string_view description) { return is_imagej(description); }

std::int64_t described_planes(std::string_view description, const TiffLayout& layout) {
  if (is_imagej(description)) return imagej_planes(description, layout);
  const auto shape = shape_in(description);
  return shape ? shape_planes(*shape, layout) : 1;
}

std::vector<PageAxis> described_axes(std::string_view description, std::int64_t pages) {
  if (is_ome(description)) return ome_axes(description, pages);
  if (!is_imagej(description)) return {};
  const ImagejText text(description);
  std::vector<PageAxis> out;
  std::int64_t count = 1;
  for (const auto& [letter, key, step] : imagej_axes) {
    const std::int64_t along = std::max<std::int64_t>(1, text.number(key));
    count = product(count, along);
    if (along > 1 && along <= pages) out.push_back({letter, static_cast<int>(along)});
  }
  return count == pages ? out : std::vector<PageAxis>();
}

bool is_aperio(std::string_view description) { return description.starts_with("Aperio"); }

std::vector<MeasuredAxis> described_measures(std::string_view description, double x_resolution,
                                             double y_resolution) {
  if (is_ome(description)) return ome_measures(description);
  if (is_aperio(description)) return aperio_measures(description);
  if (!is_imagej(description)) return {};
  return imagej_measures(description, x_resolution, y_resolution);
}

std::vector<std::string> described_channels(std::string_view description) {
  std::vector<std::string> out;
  if (!is_ome(description) || described_series(description) > 1) return out;
  for (size_t from = 0; from != description.npos;) {
    const std::string_view tag = next_tag(description, "<Channel ", from);
    if (tag.empty()) break;
    out.emplace_back(attribute(tag, "Name"));
    if (out.back().empty()) return {};
  }
  return out;
}

std::int64_t ome_planes(std::string_view description) {
  size_t from = 0;
  const std::string_view pixels = next_tag(description, "<Pixels ", from);
  const std::string_view channel = next_tag(description, "<Channel ", from);
  std::int64_t planes = 1;
  for (const char* size : {"SizeZ", "SizeC", "SizeT"}) {
    planes = product(planes, std::max<std::int64_t>(1, number_in(attribute(pixels, size))));
  }
  return planes / std::max<std::int64_t>(1, number_in(attribute(channel, "SamplesPerPixel")));
}

int described_series(std::string_view description) {
  if (!is_ome(description)) return 1;
  int count = 0;
  for (size_t from = 0; !next_tag(description, "<Pixels ", from).empty(); ++count) {
  }
  return std::max(count, 1);
}

std::string description_of_pages(std::string description, const TiffLayout& layout,
                                 std::int64_t pages, std::span<const PageAxis> axes,
                                 std::vector<std::string>& lost) {
  const std::int64_t described = described_planes(description, layout);
  if (is_imagej(description)) {
    return pages == described ? description : imagej_of_pages(description, pages, axes, lost);
  }
  auto shape = shape_in(description);
  if (!shape) return description;
  const size_t page = page_sizes(shape->sizes, layout);
  if (page == 3 && layout.planar == 2 && layout.samples > 1) {
    put_samples_last(description, *shape);
    shape = shape_in(description);
  }
  if (page > 0 && pages != described) set_pages(description, *shape, page, pages, lost);
  // tifffile's word for planes without directories, of its versions from 2023 and 2026.
  for (const std::string_view truncated : {"\"truncated\": true, ", ", \"truncated\": true"}) {
    const size_t at = description.find(truncated);
    if (at != description.npos) description.erase(at, truncated.size());
  }
  return description;
}

}  // namespace impipe::io
