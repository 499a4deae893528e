// Values by tables with interpolation between entries: curves of each channel, and cubes of
// colours.
#pragma once

#include "core/plan_builder.hpp"

namespace impipe::ops {

// The values of a curve, whose first entry is `first`, between the two entries around positions:
// single, from 0 to entries - 1.
ImageValue on_curve(PlanBuilder& plan, const ImageValue& positions, const Arg& first,
                    Result result);

// The same of integer pixels, which are positions themselves.
ImageValue at_pixels(PlanBuilder& plan, const ImageValue& image, const Arg& first, Result result);

// Values from 0 to white as positions from 0 to `last`; others as the nearest of these.
ImageValue positions_of(PlanBuilder& plan, const ImageValue& image, double last);

// A cube of colours, `side` entries along each channel (the last one fastest), all of a result
// channel before those of the next.
struct Cube {
  MeasureValue table;
  int side = 2;
  bool trilinear = false;  // else tetrahedral
};
// positions: single, from 0 to side - 1, of three channels; of four the first one is the slowest in
// the table, and linear between two cubes of the others, as Little CMS interpolates.
ImageValue in_cube(PlanBuilder& plan, const ImageValue& positions, const Cube& cube, Result result);

}  // namespace impipe::ops
