// Conversions between colour spaces, made for a pair of ICC profiles or of OpenColorIO's spaces.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/described_colours.hpp"

namespace impipe {

// ICC's rendering intents, by its numbers.
enum class RenderingIntent { perceptual = 0, relative = 1, saturation = 2, absolute = 3 };

struct ColourRequest {
  std::span<const std::byte> from;            // an ICC profile; empty: sRGB, or
  std::optional<DescribedColours> described;  // the colours that a file describes
  std::string_view to;                        // srgb, display-p3 or adobe-rgb; empty: `profile`
  std::span<const std::byte> profile;         // an ICC profile of RGB or gray
  RenderingIntent intent = RenderingIntent::relative;
  bool black_point = true;  // compensation
  int channels = 3;         // of the image: 1, 3 or 4 (CMYK)
};

// A formula across the channels of a pixel that OpenColorIO has as a fixed function, its numbers in
// the order of bodies' parameters (ops/colour/fixed_functions.cpp).
struct FixedFunction {
  enum class Kind { glow, red_modifier, surround, gamut_compression, hsv, chromaticities, luv };
  Kind kind;
  bool inverse = false;
  std::vector<double> numbers = {};
};

// Values are on the unit scale. Those of an image go, in this order and each where it is there,
// through the curves `in`, the cube, the curve from CIELAB, the matrix and the curves `out`. Of one
// channel `in` has a curve for each channel of the result, and nothing follows.
struct ColourMap {
  int channels = 3;  // of the result
  // Entries along each channel of a table of colours, the first channel the slowest; 0: none.
  int side = 0;
  bool trilinear = false;  // interpolation of three channels; else tetrahedral
  // The table has f(X), f(Y) and f(Z) of CIELAB; afterwards X, Y and Z.
  bool from_lab = false;
  bool has_matrix = false;
  std::array<std::array<double, 4>, 3> matrix{};  // with an offset in its fourth column
  // Curves at these values, all numbers of a curve behind those of the one before.
  using Curves = std::function<std::vector<double>(std::span<const double> values)>;
  Curves in, out;
  std::optional<FixedFunction> function;  // alone
  // A table for each channel of the result.
  std::function<std::vector<double>()> cube;
  std::vector<std::byte> profile;  // of the result
};

// Throws Error with the reason alone: a damaged profile, no Little CMS.
using MakeColourMap = ColourMap (*)(const ColourRequest&);
// Set once by io, which has the library, before any pipeline is lowered.
inline MakeColourMap make_colour_map = nullptr;

// Colour spaces of an OpenColorIO configuration.
struct SpaceRequest {
  std::string config;  // the path of its file
  std::string from, to;
  std::string view;  // of the display `to`; empty: `to` is a colour space
};
// Conversions one after the other, of RGB, without profiles. Each but a cube alone has `in` and a
// matrix. Throws Error with the reason alone.
using MakeColourMaps = std::vector<ColourMap> (*)(const SpaceRequest&);
inline MakeColourMaps make_space_maps = nullptr;
// The files that a configuration's tables are read from for these; the configuration itself is none
// of them.
using FindSpaceFiles = std::vector<std::string> (*)(const SpaceRequest&);
inline FindSpaceFiles find_space_files = nullptr;

}  // namespace impipe
