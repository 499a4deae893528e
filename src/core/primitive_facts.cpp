// What every part of the program asks about a primitive, answered once.
#include "core/primitive_facts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/host_work.hpp"
#include "core/one_of.hpp"
#include "core/placement.hpp"

namespace impipe {
namespace {

// One answer a primitive; no default, so that none is forgotten.
struct Facts {
  PrimitiveFacts operator()(const Point&) const { return {.name = "point"}; }
  PrimitiveFacts operator()(const Permute&) const { return {.name = "permute", .moves = true}; }
  PrimitiveFacts operator()(const Stencil& s) const {
    if (s.fourier_side == 0) return filter("stencil", s);
    PrimitiveFacts facts = whole("fourier");
    facts.shift_x = s.shift_x, facts.shift_y = s.shift_y;
    return facts;
  }
  PrimitiveFacts operator()(const Separable& s) const { return filter("separable", s); }
  PrimitiveFacts operator()(const Extremum& e) const {
    return {.name = "extremum",
            .reads_around = true,
            .footprint = e.mask.footprint(),
            .border = Border::absent};
  }
  PrimitiveFacts operator()(const Rank& r) const {
    return {
        .name = "rank", .reads_around = true, .footprint = r.mask.footprint(), .border = r.border};
  }
  PrimitiveFacts operator()(const Reduce&) const { return {.name = "reduce", .measures = true}; }
  PrimitiveFacts operator()(const Histogram& h) const {
    return {.name = "histogram", .stands_alone = h.tiles() > 1, .measures = true};
  }
  PrimitiveFacts operator()(const Select&) const {
    return {.name = "select", .stands_alone = true, .measures = true};
  }
  PrimitiveFacts operator()(const Scalar&) const { return {.name = "scalar"}; }
  PrimitiveFacts operator()(const Distance&) const { return whole("distance"); }
  PrimitiveFacts operator()(const Project& p) const {
    return whole(p.inverse ? "backproject" : "project", true);
  }
  PrimitiveFacts operator()(const Diffuse&) const { return whole("diffuse"); }
  PrimitiveFacts operator()(const Label&) const { return whole("label"); }
  PrimitiveFacts operator()(const Resample&) const {
    return {.name = "resample", .stands_alone = true, .moves = true};
  }
  PrimitiveFacts operator()(const Morph&) const { return whole("morph"); }
  PrimitiveFacts operator()(const Moments&) const { return whole("moments"); }
  PrimitiveFacts operator()(const BetweenTables&) const { return whole("between_tables"); }
  PrimitiveFacts operator()(const Objects&) const {
    return {.name = "objects", .stands_alone = true, .measures = true};
  }
  PrimitiveFacts operator()(const OnHost& h) const {
    return whole(h.work->spectral ? "spectrum" : "on_host", h.work->size != nullptr);
  }
  PrimitiveFacts operator()(const Window& w) const {
    return {.name = "window", .moves = true, .border = w.border};
  }

 private:
  static PrimitiveFacts whole(std::string_view name, bool moves = false) {
    return {.name = name, .stands_alone = true, .whole_image = true, .moves = moves};
  }
  template <class Filter>
  static PrimitiveFacts filter(std::string_view name, const Filter& f) {
    return {.name = name,
            .reads_around = true,
            .footprint = f.footprint(),
            .border = f.border,
            .shift_x = f.shift_x,
            .shift_y = f.shift_y};
  }
};

struct ResultSize {
  const Node& node;
  Size input;

  Size operator()(const Permute& p) const {
    return p.transpose ? Size{input.height, input.width} : input;
  }
  template <OneOf<Stencil, Separable> Filter>
  Size operator()(const Filter& f) const {
    return {input.width + f.grow_x, input.height + f.grow_y};
  }
  // Of projections one row a distance from the centre: the diagonal's half, rounded up, on either
  // side and one more (semantics.md 8.1). Of their inverse the side that was asked for, or that of
  // the largest square whose projections fit.
  Size operator()(const Project& project) const {
    const double w = static_cast<double>(input.width), h = static_cast<double>(input.height);
    if (!project.inverse) {
      const double half = std::ceil(std::sqrt(w * w + h * h) / 2 + 1);
      return {project.angles, 2 * static_cast<std::int64_t>(half) + 1};
    }
    const std::int64_t side = static_cast<std::int64_t>(node.arguments.back().value);
    if (side != 0) return {side, side};
    const std::int64_t fits =
        2 * static_cast<std::int64_t>(std::floor(h / (2 * std::numbers::sqrt2)));
    return {fits, fits};
  }
  Size operator()(const Resample&) const { return resampled_size(node, input); }
  Size operator()(const OnHost& h) const {
    return h.work->size ? h.work->size({&input, 1}) : input;
  }
  Size operator()(const Window&) const { return window_place(node, input).size; }
  template <OneOf<Point, Extremum, Rank, Reduce, Histogram, Select, Scalar, Distance, Diffuse,
                  Label, Morph, BetweenTables, Objects, Moments>
                Other>
  Size operator()(const Other&) const {
    return input;
  }
};

}  // namespace

PrimitiveFacts facts_of(const Primitive& primitive) { return std::visit(Facts{}, primitive); }

std::string_view name_of(const Primitive& primitive) { return facts_of(primitive).name; }

bool stands_alone(const Primitive& primitive) { return facts_of(primitive).stands_alone; }

Size result_size(const Node& node, Size input) {
  return std::visit(ResultSize{node, input}, node.primitive);
}

double value_of(const Argument& argument, Size size) {
  const auto pixels = static_cast<double>(size.pixels());
  switch (argument.source) {
    case Argument::Source::width: return static_cast<double>(size.width);
    case Argument::Source::height: return static_cast<double>(size.height);
    case Argument::Source::pixels: return pixels;
    case Argument::Source::rank_floor:
      return std::min(std::floor(argument.value * pixels), pixels - 1);
    case Argument::Source::rank_ceil: return std::max(std::ceil(argument.value * pixels) - 1, 0.0);
    case Argument::Source::constant:
    case Argument::Source::measured: break;
  }
  return argument.value;
}

}  // namespace impipe
