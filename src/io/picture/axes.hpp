// The axes of pictures and of the pages of a file: how many pages lie along each, and what the
// distance between neighbours is.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace impipe::io {

// An axis along which pages lie: z, t, c or another letter.
struct PageAxis {
  char letter = 'z';
  int count = 1;
  // Page k of these is page first + step k along the axis of the file; step 0: they are not evenly
  // spaced.
  double step = 1, first = 0;
  bool operator==(const PageAxis&) const = default;
};

// What an axis measures: index k lies at translation + scale k.
struct MeasuredAxis {
  std::string name, unit;  // "z", and OME-Zarr's name of a unit: "micrometer"
  double scale = 1, translation = 0;
  bool operator==(const MeasuredAxis&) const = default;
};

inline const MeasuredAxis* axis_named(std::span<const MeasuredAxis> axes, std::string_view name) {
  const auto found = std::ranges::find(axes, name, &MeasuredAxis::name);
  return found == axes.end() ? nullptr : &*found;
}

// What axes of pages of a file measure along pages of a result; the others stay.
inline std::vector<MeasuredAxis> measured_along(std::vector<MeasuredAxis> of_file,
                                                std::span<const PageAxis> pages) {
  const auto is_lost = [&](MeasuredAxis& axis) {
    if (axis.name == "x" || axis.name == "y") return false;
    const auto page = std::ranges::find_if(pages, [&](const PageAxis& one) {
      return axis.name == std::string_view(&one.letter, 1) && one.step != 0;
    });
    if (page == pages.end()) return true;
    axis.translation += axis.scale * page->first;
    axis.scale *= page->step;
    return false;
  };
  std::erase_if(of_file, is_lost);
  return of_file;
}

// A unit of length or time, by OME-Zarr's name and OME-XML's symbol.
struct Unit {
  std::string_view name, symbol;
  double metres = 0;  // 0: it is none of length
};
inline constexpr std::array<Unit, 16> units{{{"micrometer", "µm", 1e-6},
                                             {"nanometer", "nm", 1e-9},
                                             {"millimeter", "mm", 1e-3},
                                             {"centimeter", "cm", 1e-2},
                                             {"meter", "m", 1},
                                             {"kilometer", "km", 1e3},
                                             {"picometer", "pm", 1e-12},
                                             {"angstrom", "Å", 1e-10},
                                             {"inch", "in", 0.0254},
                                             {"second", "s"},
                                             {"millisecond", "ms"},
                                             {"microsecond", "µs"},
                                             {"nanosecond", "ns"},
                                             {"minute", "min"},
                                             {"hour", "h"},
                                             {"day", "d"}}};

// Metres of a unit; 0: it is none of length.
inline double metres_of(std::string_view unit) {
  const auto found = std::ranges::find(units, unit, &Unit::name);
  return found == units.end() ? 0 : found->metres;
}
// The symbol of a unit, or its name where it has none.
inline std::string symbol_of(const std::string& unit) {
  const auto found = std::ranges::find(units, unit, &Unit::name);
  return found == units.end() ? unit : std::string(found->symbol);
}
// The name of a unit by what OME-XML and ImageJ call it; empty: it is none of these.
inline std::string unit_named(std::string_view text) {
  for (const std::string_view other : {"um", "micron", "microns", "\\u00B5m", "\u03bcm"}) {
    if (text == other) return "micrometer";
  }
  if (text == "sec") return "second";
  for (const Unit& unit : units) {
    if (text == unit.symbol || text == unit.name) return std::string(unit.name);
  }
  return {};
}

}  // namespace impipe::io
