// How an image goes into an EXR: its colours multiplied by alpha, stored like the EXR it was made
// from.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#include "io/formats/exr/exr_layout.hpp"
#include "io/metadata/windows.hpp"

namespace impipe::io {
namespace {

constexpr int zips = 2, zip = 3, pxr24 = 5, b44 = 6;

bool fits_half(const Plane& plane) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    const float* row = plane.row_as<float>(y);
    bool beyond = false;
    for (std::int64_t i = 0; i < plane.size().width; ++i) {
      const float size = std::abs(row[i]);
      beyond |= (size > largest_half) & (size <= std::numeric_limits<float>::max());
    }
    if (beyond) return false;
  }
  return true;
}

bool is_whole(const Plane& plane) {
  constexpr float beyond = 4294967296.0f;
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    const float* row = plane.row_as<float>(y);
    for (std::int64_t i = 0; i < plane.size().width; ++i) {
      if (!(row[i] >= 0 && row[i] < beyond) || row[i] != std::floor(row[i])) return false;
    }
  }
  return true;
}

// What is asked of the numbers in a result.
struct Wanted {
  ExrFloats floats;
  bool more_than_half;  // counts and the codes of uint16, which 11 bits do not hold
};

// The type like that of the input which holds the values of these planes.
ExrType type_for(ExrType input, const Planes& planes, const Wanted& wanted) {
  if (wanted.floats == ExrFloats::half) return ExrType::half;
  if (wanted.floats == ExrFloats::full || input == ExrType::single) return ExrType::single;
  if (input == ExrType::half && wanted.more_than_half) return ExrType::single;
  const bool fits = std::ranges::all_of(planes, input == ExrType::half ? fits_half : is_whole);
  return fits ? input : ExrType::single;
}

// Calls change(value, alpha) for each colour of each pixel.
template <class Change>
void for_colours(HostImage& image, Change change) {
  for (Plane& plane : image.planes) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      float* pixels = plane.row_as<float>(y);
      const float* alpha = image.alpha.row_as<float>(y);
      for (std::int64_t x = 0; x < plane.size().width; ++x) change(pixels[x], alpha[x]);
    }
  }
}

// Whether an attribute tells of the pixels themselves, whatever was done to them.
bool tells_of_pixels(const ExrAttribute& attribute) {
  constexpr std::string_view names[] = {"preview", "oiio:SHA-1", "oiio:AverageColor",
                                        "oiio:ConstantColor"};
  return std::ranges::find(names, attribute.name) != std::end(names);
}

// Moves the windows and the shape of pixels as the picture was moved. A display window that is the
// data window stays so; without a rule for the change both are the picture's.
void move_place(ExrStorage& storage, const PixelChange& change, Size size) {
  const std::array<int, 4> own{0, 0, static_cast<int>(size.width) - 1,
                               static_cast<int>(size.height) - 1};
  const bool has_windows = storage.data_window != storage.display_window;
  const auto moved = moved_windows({storage.data_window, storage.display_window}, change);
  storage.data_window = moved && has_windows ? moved->data : own;
  storage.display_window = moved && has_windows ? moved->display : own;
  if (!moved) {
    storage.pixel_aspect = 1.0f;
    return;
  }
  const double wide = storage.pixel_aspect;
  const double ratio = change.scale_y() / change.scale_x();
  storage.pixel_aspect = static_cast<float>(change.is_straight() ? ratio * wide : ratio / wide);
}

// Whether it tells where in a scene the pixels are.
bool tells_of_places(const ExrAttribute& attribute) {
  constexpr std::string_view names[] = {"screenWindowCenter", "screenWindowWidth", "worldToNDC",
                                        "envmap"};
  return std::ranges::find(names, attribute.name) != std::end(names);
}

}  // namespace

bool has_size(const ExrStorage& storage, Size size) {
  const auto& box = storage.data_window;
  return size.width == std::int64_t{box[2]} - box[0] + 1 &&
         size.height == std::int64_t{box[3]} - box[1] + 1;
}

bool unassociate_alpha(HostImage& image) {
  bool glows = false;
  for_colours(image, [&](float& value, float alpha) {
    if (alpha == 0) {
      glows = glows || value != 0;
    } else {
      value /= alpha;
    }
  });
  return glows;
}

HostImage associate_alpha(const HostImage& image, bool glows) {
  HostImage out = image;
  for (Plane& plane : out.planes) {
    const Plane from = plane;
    plane = Plane(PixelClass::single, from.size());
    for (std::int64_t y = 0; y < from.size().height; ++y) {
      std::memcpy(plane.row(y), from.row(y), static_cast<size_t>(from.row_bytes()));
    }
  }
  for_colours(out, [&](float& value, float alpha) {
    if (alpha != 0) {
      value *= alpha;
    } else if (!glows) {
      value = 0;
    }
  });
  return out;
}

bool fills_display(const ExrStorage& input, const PixelChange& change) {
  const auto moved = moved_windows({input.data_window, input.display_window}, change);
  return moved && moved->data == moved->display && input.pixel_aspect == 1.0f;
}

bool windows_follow(const ExrStorage& input, const PixelChange& change) {
  return moved_windows({input.data_window, input.display_window}, change).has_value();
}

void check_carried(const ExrStorage& input, const PixelChange& change, Size result) {
  if (!change.moved() && has_size(input, result)) return;
  std::string what;
  if (!input.carried.empty()) what = "channels (" + names_of(input.carried) + ")";
  if (!input.other_parts.empty()) {
    what += (what.empty() ? "" : " and ") + ("parts (" + names_of_parts(input) + ")");
  }
  if (what.empty()) return;
  fail("the pipeline moves pixels or changes the size, and the EXR's other ", what,
       " would stay as they were; process them too (--channels all), ",
       input.other_parts.empty() ? "" : "take some parts alone (--pages), ",
       "or write another format, which is without them");
}

bool has_place(const ExrStorage& storage) {
  return storage.data_window != storage.display_window || storage.pixel_aspect != 1.0f;
}

void clip_to_half(HostImage& image, std::int64_t& clipped) {
  const auto clip = [&](Plane& plane) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      float* row = plane.row_as<float>(y);
      for (std::int64_t x = 0; x < plane.size().width; ++x) {
        if (!std::isfinite(row[x]) || std::abs(row[x]) <= largest_half) continue;
        row[x] = std::copysign(largest_half, row[x]);
        ++clipped;
      }
    }
  };
  for (Plane& plane : image.planes) clip(plane);
  if (image.type.alpha) clip(image.alpha);
}

std::string attributes_lost(const ExrStorage& before, const ExrStorage& after) {
  std::string names;
  for (const ExrAttribute& attribute : before.attributes) {
    const auto& kept = after.attributes;
    if (std::ranges::find(kept, attribute) != kept.end()) continue;
    names += (names.empty() ? "" : ", ") + attribute.name;
  }
  return names;
}

ExrStorage exr_storage_for(const ImageType& type, Size size, const Planes& planes,
                           PixelClass made_as, const std::optional<ExrStorage>& input,
                           const PixelChange& change, const EncodeOptions& options) {
  ExrStorage out = input.value_or(ExrStorage{});
  check_carried(out, change, size);
  if (change.moved() || !has_size(out, size)) {
    move_place(out, change, size);
    std::erase_if(out.attributes, tells_of_places);
  }
  std::erase_if(out.attributes, tells_of_pixels);
  const bool counts = type.white == 0;  // labels, distances
  const Wanted wanted{options.exr_floats, counts || made_as == PixelClass::uint16};
  out.type = type_for(out.type, planes, wanted);
  if (out.named.size() != static_cast<size_t>(type.channels) || type.alpha) out.named.clear();
  for (size_t i = 0; i < out.named.size(); ++i) {
    const Planes own = planes.empty() ? Planes() : Planes{planes[i]};
    out.named[i].type = type_for(out.named[i].type, own, wanted);
  }
  out.means = !counts;
  if (options.compression != Compression::as_input && out.compression < zips) out.compression = zip;
  // Packed with loss once more, other channels would change.
  if (out.compression >= b44 && !out.carried.empty()) out.compression = zip;
  if (out.compression >= pxr24 && (counts || made_as == PixelClass::logical)) out.compression = zip;
  return out;
}

}  // namespace impipe::io
