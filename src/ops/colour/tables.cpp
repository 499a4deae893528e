// Curves and cubes of colours as points that read tables.
#include "ops/colour/tables.hpp"

#include <optional>

#include "ops/colour/channels.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(unit_position, (x), (white, last),
                  { return clamp(over(x, white), real(0), real(1)) * last; })
IMPIPE_POINT_BODY(entry_below, (p), (), { return floor(p); })
IMPIPE_POINT_BODY(entry_above, (p), (), { return floor(p) + real(1); })
IMPIPE_POINT_BODY(between_entries, (low, high, p), (white),
                  { return fma(high - low, p - floor(p), low) * white; })

// A position in a cube is a cell and the fractions in it; the last cell ends at the last entry.
IMPIPE_POINT_BODY(cell_fraction, (p), (last_cell), { return p - min(floor(p), last_cell); })
IMPIPE_POINT_BODY(cell_entry, (r, g, b), (last_cell, side), {
  const real cr = min(floor(r), last_cell);
  const real cg = min(floor(g), last_cell);
  const real cb = min(floor(b), last_cell);
  return fma(fma(cr, side, cg), side, cb);
})
// From a cell's first corner along the channel of the largest fraction; along all but that of the
// smallest one. Of fractions that are equal either way leads to the same colour.
IMPIPE_POINT_BODY(second_corner, (r, g, b), (side), {
  const real other = g >= b ? side : real(1);
  return r >= g && r >= b ? side * side : other;
})
IMPIPE_POINT_BODY(third_corner, (r, g, b), (side), {
  const real all = side * side + side + real(1);
  const real other = g <= r ? side : side * side;
  return all - (b <= r && b <= g ? real(1) : other);
})
IMPIPE_POINT_BODY(corner, (cell, offset), (), { return cell + offset; })
// NaN of any channel stays.
IMPIPE_POINT_BODY(largest_fraction, (r, g, b), (),
                  { return max(max(r, g), b) + (r + g + b) * real(0); })
IMPIPE_POINT_BODY(middle_fraction, (r, g, b), (), { return max(min(r, g), min(max(r, g), b)); })
IMPIPE_POINT_BODY(smallest_fraction, (r, g, b), (), { return min(min(r, g), b); })
IMPIPE_POINT_BODY(in_tetrahedron, (c0, c1, c2, c3, w1, w2, w3), (white),
                  { return fma(c3 - c2, w3, fma(c2 - c1, w2, fma(c1 - c0, w1, c0))) * white; })
// Of four channels: the cube below the first one's position, and what lies between two of them.
IMPIPE_POINT_BODY(slice_entry, (p), (last_cell, entries),
                  { return min(floor(p), last_cell) * entries; })
IMPIPE_POINT_BODY(between_slices, (low, high, part), (white),
                  { return fma(high - low, part, low) * white; })
IMPIPE_POINT_BODY(in_cell, (c000, c001, c010, c011, c100, c101, c110, c111, r, g, b), (white), {
  const real c00 = fma(c001 - c000, b, c000);
  const real c01 = fma(c011 - c010, b, c010);
  const real c10 = fma(c101 - c100, b, c100);
  const real c11 = fma(c111 - c110, b, c110);
  const real c0 = fma(c01 - c00, g, c00);
  const real c1 = fma(c11 - c10, g, c10);
  return fma(c1 - c0, r, c0) * white;
})

namespace impipe::ops {
namespace {

constexpr Result gray_single{.cls = PixelClass::single, .white = 1, .channels = 1};

ImageValue looked_up_in(PlanBuilder& plan, const PointBody& body, std::vector<ImageValue> places,
                        Arg first, Result result) {
  return plan.point(Point{.body = &body, .in_table = true}, std::move(places), {first}, result);
}

ImageValue across(PlanBuilder& plan, const PointBody& body, const ImageValue& of,
                  std::vector<Arg> args) {
  return plan.point(Point{.body = &body, .mixes_channels = true}, {of}, std::move(args),
                    gray_single);
}

// A corner of a cell: so many entries behind `from`; without it, behind the cell's first corner.
struct Corner {
  std::optional<ImageValue> from;
  int further = 0;
};

std::vector<Corner> all_corners(int side) {
  std::vector<Corner> out;
  for (const int r : {0, side * side}) {
    for (const int g : {0, side}) {
      for (const int b : {0, 1}) out.push_back({{}, r + g + b});
    }
  }
  return out;
}

// In the order of the fractions, the largest first.
std::vector<Corner> corners_of_tetrahedron(PlanBuilder& plan, const ImageValue& cell,
                                           const ImageValue& fractions, int side) {
  const auto moved = [&](const PointBody& body) {
    const ImageValue by = across(plan, body, fractions, {static_cast<double>(side)});
    return plan.point(bodies::corner, {cell, by}, {}, gray_single);
  };
  return {{{}, 0},
          {moved(bodies::second_corner), 0},
          {moved(bodies::third_corner), 0},
          {{}, side * side + side + 1}};
}

// What all reads of a cube have in common.
class CubeReads {
 public:
  CubeReads(PlanBuilder& plan, const ImageValue& positions, const Cube& cube)
      : plan_(plan), cube_(cube), last_cell_(cube.side - 2.0) {
    const auto part = [&](const ImageValue& of) {
      return plan_.point(bodies::cell_fraction, {of}, {last_cell_}, unit_single);
    };
    const ImageValue fractions = part(positions);
    cell_ = across(plan_, bodies::cell_entry, positions, {last_cell_, double(cube.side)});
    if (cube.trilinear) {
      corners_ = all_corners(cube.side);
      for (int c = 0; c < 3; ++c) weights_.push_back(picked_channel(plan_, fractions, c));
      return;
    }
    corners_ = corners_of_tetrahedron(plan_, cell_, fractions, cube.side);
    for (const PointBody* body :
         {&bodies::largest_fraction, &bodies::middle_fraction, &bodies::smallest_fraction}) {
      weights_.push_back(across(plan_, *body, fractions, {}));
    }
  }

  // A channel of the result, whose entries begin at `first`, so many further as each pixel of
  // `offset` says.
  ImageValue channel(int first, const std::optional<ImageValue>& offset, Result result) {
    std::vector<ImageValue> inputs;
    for (const Corner& corner : corners_) {
      ImageValue place = corner.from.value_or(cell_);
      if (offset) place = plan_.point(bodies::corner, {place, *offset}, {}, gray_single);
      inputs.push_back(looked_up_in(plan_, bodies::entry_below, {place},
                                    Arg::measured(cube_.table, first + corner.further),
                                    gray_single));
    }
    inputs.insert(inputs.end(), weights_.begin(), weights_.end());
    return plan_.point(cube_.trilinear ? bodies::in_cell : bodies::in_tetrahedron, inputs,
                       {result.white}, result);
  }

 private:
  PlanBuilder& plan_;
  const Cube& cube_;
  double last_cell_;
  ImageValue cell_;
  std::vector<Corner> corners_;
  std::vector<ImageValue> weights_;
};

}  // namespace

ImageValue positions_of(PlanBuilder& plan, const ImageValue& image, double last) {
  return plan.point(bodies::unit_position, {image}, {image.type.white, last}, unit_single);
}

ImageValue at_pixels(PlanBuilder& plan, const ImageValue& image, const Arg& first, Result result) {
  return looked_up_in(plan, bodies::entry_below, {image}, first, result);
}

ImageValue on_curve(PlanBuilder& plan, const ImageValue& positions, const Arg& first,
                    Result result) {
  const ImageValue low = looked_up_in(plan, bodies::entry_below, {positions}, first, unit_single);
  const ImageValue high = looked_up_in(plan, bodies::entry_above, {positions}, first, unit_single);
  return plan.point(bodies::between_entries, {low, high, positions}, {result.white}, result);
}

ImageValue in_cube(PlanBuilder& plan, const ImageValue& positions, const Cube& cube,
                   Result result) {
  const int entries = cube.side * cube.side * cube.side;
  const double last_cell = cube.side - 2.0;
  const bool has_slices = positions.type.channels == 4;
  ImageValue colours = positions, slice, part;
  if (has_slices) {
    std::vector<ImageValue> channels;
    for (int c = 0; c < 4; ++c) channels.push_back(picked_channel(plan, positions, c));
    colours = joined_channels(plan, {channels.begin() + 1, channels.end()});
    slice =
        plan.point(bodies::slice_entry, {channels[0]}, {last_cell, double(entries)}, gray_single);
    part = plan.point(bodies::cell_fraction, {channels[0]}, {last_cell}, gray_single);
  }
  CubeReads reader(plan, colours, cube);
  const int channels = result.channels;
  result.channels = 1;
  std::vector<ImageValue> made;
  for (int c = 0; c < channels; ++c) {
    if (!has_slices) {
      made.push_back(reader.channel(c * entries, {}, result));
      continue;
    }
    const int first = c * entries * cube.side;
    made.push_back(plan.point(bodies::between_slices,
                              {reader.channel(first, slice, gray_single),
                               reader.channel(first + entries, slice, gray_single), part},
                              {result.white}, result));
  }
  return channels == 1 ? made.front() : joined_channels(plan, made);
}

}  // namespace impipe::ops
