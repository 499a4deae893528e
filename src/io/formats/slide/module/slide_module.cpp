// The codec module for whole-slide images, which OpenSlide reads.
#include <openslide.h>
#include <tiffio.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <optional>

#include "io/formats/slide/slide_note.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

// Throws Error where a slide that is a TIFF has tiles of more than 2^26 pixels: OpenSlide ends the
// program where it has no memory for one, and most files do not say a tile's size in its
// properties.
void check_tiles(const std::string& file) {
  constexpr std::uint64_t most = 1 << 26;
  const Made<TIFF, TIFFClose> tiff(TIFFOpen(file.c_str(), "rm"));
  if (!tiff) return;
  do {
    std::uint32_t width = 0, height = 0;
    TIFFGetField(tiff.get(), TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff.get(), TIFFTAG_TILELENGTH, &height);
    if (std::uint64_t{width} * height > most) {
      fail("damaged slide: tiles of ", width, "x", height, " pixels");
    }
  } while (TIFFReadDirectory(tiff.get()) != 0);
}

class Slide {
 public:
  explicit Slide(const std::string& file) : slide_(openslide_open(file.c_str())) {
    check_tiles(file);
    if (!slide_) fail("no slide that OpenSlide ", openslide_get_version(), " reads");
    check();
  }
  openslide_t* get() const { return slide_.get(); }

  // After an error OpenSlide does nothing more with a slide.
  void check() const {
    if (const char* error = openslide_get_error(get())) fail("damaged slide: ", error);
  }
  // Empty: it has no such property.
  std::string property(const std::string& name) const {
    const char* value = openslide_get_property_value(get(), name.c_str());
    return value == nullptr ? "" : value;
  }
  std::optional<double> number(const std::string& name) const {
    const std::string text = property(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && value > 0 && std::isfinite(value);
    return is_number ? std::optional(value) : std::nullopt;
  }
  std::vector<std::string> names(const char* const* all) const {
    std::vector<std::string> out;
    for (; all != nullptr && *all != nullptr; ++all) out.emplace_back(*all);
    return out;
  }
  std::vector<std::string> images() const {
    return names(openslide_get_associated_image_names(get()));
  }

 private:
  Made<openslide_t, openslide_close> slide_;
};

// A level of the pyramid, or another image of the slide.
struct Part {
  int level = -1;     // -1: of no level
  std::string image;  // its name
  Size size, tile;
  // Where it begins in all that the level covers: scanners leave most of some slides out.
  std::int64_t x = 0, y = 0;
  double step = 1;  // pixels of level 0 a pixel
};

// A multiple of the side of the file's tiles that is worth a call.
std::int64_t block_side(std::optional<double> said, std::int64_t least) {
  constexpr double most = 4096;
  const auto side = said && *said >= 1 && *said <= most ? std::llround(*said) : least;
  return side * ((least + side - 1) / side);
}

// The part of a level that was scanned (openslide.bounds-x and the like), or all of it.
Part part_of_level(const Slide& slide, int level) {
  Part out{.level = level, .image = {}, .size = {}, .tile = {}};
  openslide_get_level_dimensions(slide.get(), level, &out.size.width, &out.size.height);
  out.step = openslide_get_level_downsample(slide.get(), level);
  const auto take_bounds = [&](const char* begin, const char* count, std::int64_t& at,
                               std::int64_t& side) {
    const double first = slide.number(std::string("openslide.bounds-") + begin).value_or(0);
    const double pixels = slide.number(std::string("openslide.bounds-") + count).value_or(0);
    const double all = static_cast<double>(side) * out.step;
    if (pixels < 1 || first >= all || pixels > all) return;
    at = std::min(static_cast<std::int64_t>(first / out.step), side - 1);
    const double end = std::ceil((first + pixels) / out.step);
    side = std::min(side, static_cast<std::int64_t>(end)) - at;
  };
  take_bounds("x", "width", out.x, out.size.width);
  take_bounds("y", "height", out.y, out.size.height);
  const std::string tile = message("openslide.level[", level, "].tile-");
  out.tile = {block_side(slide.number(tile + "width"), 1024),
              block_side(slide.number(tile + "height"), 256)};
  return out;
}

std::string levels_text(const Slide& slide) {
  std::string out;
  for (int i = 0; i < openslide_get_level_count(slide.get()); ++i) {
    out += (i == 0 ? "" : ", ") + text_of(part_of_level(slide, i).size);
  }
  return out;
}

std::string images_text(const Slide& slide) {
  std::string out;
  for (const std::string& image : slide.images()) out += (out.empty() ? "" : ", ") + image;
  return out;
}

Part part_of(const Slide& slide, const std::string& name) {
  const int levels = openslide_get_level_count(slide.get());
  int level = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), level);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  if (is_number && level >= 0 && level < levels) return part_of_level(slide, level);
  const std::vector<std::string> images = slide.images();
  if (is_number || std::ranges::find(images, name) == images.end()) {
    const std::string others = images_text(slide);
    fail("no '", name, "' in the slide: it has levels 0 to ", levels - 1, " (", levels_text(slide),
         ")", others.empty() ? "" : ", and the images " + others);
  }
  Part out{.image = name, .size = {}, .tile = {}};
  openslide_get_associated_image_dimensions(slide.get(), name.c_str(), &out.size.width,
                                            &out.size.height);
  return out;
}

ImageInfo info_of(const Slide& slide, const Part& part) {
  ImageInfo info;
  info.format = Format::slide;
  info.type = type_of(PixelClass::uint8, 3, false);
  info.stored = part.size;
  if (part.tile.width <= part.size.width && part.tile.height <= part.size.height) {
    info.tile = part.tile;
  }
  info.detail = depth_text(8) + ", " + slide.property("openslide.vendor");
  if (const auto power = slide.number("openslide.objective-power"); power && part.level >= 0) {
    info.detail += ", objective " + short_text(*power) + "x";
  }
  if (part.level < 0) return info;
  info.detail += message(", level ", part.level, " of ", levels_text(slide));
  if (const std::string images = images_text(slide); !images.empty()) {
    info.detail += ", further images " + images;
  }
  for (const char* axis : {"x", "y"}) {
    const auto size = slide.number(std::string("openslide.mpp-") + axis);
    if (size) {
      const double scale = *size * part.step;
      const auto first = static_cast<double>(*axis == 'x' ? part.x : part.y);
      info.measured.push_back(
          {.name = axis, .unit = "micrometer", .scale = scale, .translation = scale * first});
    }
  }
  return info;
}

// Colour that is put under what the scanner has left out: 0xRRGGBB.
std::uint32_t background_of(const Slide& slide) {
  const std::string text = slide.property("openslide.background-color");
  std::uint32_t colour = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), colour, 16);
  return text.size() == 6 && error == std::errc() ? colour : 0xffffff;
}

class Rows final : public PictureRows {
 public:
  Rows(const SlidePart& named, const ImageInfo& info, MakeImage make_image, ForEach for_each)
      : slide_(named.file),
        part_(part_of(slide_, named.part)),
        background_(background_of(slide_)),
        type_(info.type),
        make_image_(make_image),
        for_each_(for_each) {
    check_header(part_.size == info.stored, "slide");
  }

  HostImage read(std::int64_t y, std::int64_t y_end) override {
    HostImage image = make_image_(type_, {part_.size.width, y_end - y});
    if (part_.level < 0) {
      std::vector<std::uint32_t> pixels(static_cast<std::size_t>(part_.size.pixels()));
      openslide_read_associated_image(slide_.get(), part_.image.c_str(), pixels.data());
      slide_.check();
      put(pixels, {0, 0}, part_.size, y, image);
      return image;
    }
    // Blocks begin at fixed places, so that bands have the pixels of the whole even where a level's
    // pixels are no whole number of the largest one's.
    const Size block = part_.tile;
    const std::int64_t across = (part_.size.width + block.width - 1) / block.width,
                       first = y / block.height,
                       down = (y_end + block.height - 1) / block.height - first;
    for_each_(across * down, [&](std::int64_t i) {
      read_block({i % across * block.width, (first + i / across) * block.height}, y, y_end, image);
    });
    return image;
  }

 private:
  struct Place {
    std::int64_t x, y;
  };

  void read_block(Place at, std::int64_t y, std::int64_t y_end, HostImage& image) const {
    const Size size{std::min(part_.tile.width, part_.size.width - at.x),
                    std::min(part_.tile.height, y_end - at.y)};
    std::vector<std::uint32_t> pixels(static_cast<std::size_t>(size.pixels()));
    const auto of_level_0 = [&](std::int64_t place) {
      return std::llround(static_cast<double>(place) * part_.step);
    };
    openslide_read_region(slide_.get(), pixels.data(), of_level_0(part_.x + at.x),
                          of_level_0(part_.y + at.y), part_.level, size.width, size.height);
    slide_.check();
    put(pixels, at, size, y, image);
  }

  // Pixels are alpha, red, green, blue from the highest byte on, multiplied by alpha.
  void put(const std::vector<std::uint32_t>& pixels, Place at, Size size, std::int64_t first_row,
           HostImage& image) const {
    const std::int64_t last = std::min(at.y + size.height, first_row + image.size().height);
    for (std::int64_t y = std::max(at.y, first_row); y < last; ++y) {
      const std::uint32_t* from = pixels.data() + (y - at.y) * size.width;
      for (int c = 0; c < 3; ++c) {
        const int shift = 16 - 8 * c;
        const std::uint32_t under = background_ >> shift & 0xff;
        auto* to = image.planes[static_cast<std::size_t>(c)].row_as<std::uint8_t>(y - first_row);
        for (std::int64_t x = 0; x < size.width; ++x) {
          const std::uint32_t clear = 255 - (from[x] >> 24);
          const std::uint32_t sum = (from[x] >> shift & 0xff) + (under * clear + 127) / 255;
          to[at.x + x] = static_cast<std::uint8_t>(std::min(sum, 255U));
        }
      }
    }
  }

  const Slide slide_;
  const Part part_;
  const std::uint32_t background_;
  const ImageType type_;
  const MakeImage make_image_;
  const ForEach for_each_;
};

class SlideModule final : public CodecModule {
 public:
  // OpenSlide leaves libtiff's messages on stderr; TIFFs are read with handlers of their own.
  SlideModule() {
    TIFFSetErrorHandler(nullptr);
    TIFFSetWarningHandler(nullptr);
  }
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }

  ImageInfo probe(InputBytes note, int) const override {
    const SlidePart named = part_of_note(note);
    const Slide slide(named.file);
    return info_of(slide, part_of(slide, named.part));
  }
  HostImage decode(InputBytes note, const ImageInfo& info, MakeImage make_image) const override {
    return Rows(part_of_note(note), info, make_image, for_each_).read(0, info.stored.height);
  }
  std::unique_ptr<PictureRows> open_rows(InputBytes note, const ImageInfo& info,
                                         MakeImage make_image) const override {
    return std::make_unique<Rows>(part_of_note(note), info, make_image, for_each_);
  }
  MetadataRead read_metadata(InputBytes note, int) const override {
    const Slide slide(part_of_note(note).file);
    const auto count = slide.names(openslide_get_property_names(slide.get())).size();
    MetadataRead out;
    out.lose(message(count, " properties of the slide"));
    return out;
  }

 private:
  mutable std::atomic<ForEach> for_each_;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(SlideModule)
