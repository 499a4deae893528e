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

// The names of pages along c of a result, from those of its file.
inline std::vector<std::string> names_along(const std::vector<std::string>& of_file,
                                            std::span<const PageAxis> pages) {
  const auto axis = std::ranges::find(pages, 'c', &PageAxis::letter);
  if (axis == pages.end()) return of_file.size() == 1 ? of_file : std::vector<std::string>();
  std::vector<std::string> out;
  for (int i = 0; i < axis->count && axis->step != 0; ++i) {
    const double at = axis->first + axis->step * i;
    if (at < 0 || at >= static_cast<double>(of_file.size()) || at != std::floor(at)) return {};
    out.push_back(of_file[static_cast<std::size_t>(at)]);
  }
  return out;
}

// A unit of length or time, by OME-Zarr's name and OME-XML's symbol.
struct Unit {
  std::string_view name, symbol;
  double metres = 0;  // 0: it is none of length
};
inline constexpr std::array<Unit, 27> units{{{"micrometer", "µm", 1e-6},
                                             {"nanometer", "nm", 1e-9},
                                             {"millimeter", "mm", 1e-3},
                                             {"centimeter", "cm", 1e-2},
                                             {"meter", "m", 1},
                                             {"kilometer", "km", 1e3},
                                             {"picometer", "pm", 1e-12},
                                             {"angstrom", "Å", 1e-10},
                                             {"femtometer", "fm", 1e-15},
                                             {"decimeter", "dm", 0.1},
                                             {"hectometer", "hm", 100},
                                             {"megameter", "Mm", 1e6},
                                             {"gigameter", "Gm", 1e9},
                                             {"inch", "in", 0.0254},
                                             {"foot", "ft", 0.3048},
                                             {"yard", "yd", 0.9144},
                                             {"mile", "mi", 1609.344},
                                             {"second", "s"},
                                             {"millisecond", "ms"},
                                             {"microsecond", "µs"},
                                             {"nanosecond", "ns"},
                                             {"picosecond", "ps"},
                                             {"femtosecond", "fs"},
                                             {"minute", "min"},
                                             {"hour", "h"},
                                             {"day", "d"}}};

// Whether OME-Zarr has a unit of this name; its other units are those of UDUNITS, too.
inline bool is_unit(std::string_view name) {
  return std::ranges::find(units, name, &Unit::name) != units.end();
}
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
  if (text == "Angstrom") return "angstrom";
  for (const Unit& unit : units) {
    if (text == unit.symbol || text == unit.name) return std::string(unit.name);
  }
  return {};
}

}  // namespace impipe::io
