// bwperim, bwlookup, bwhitmiss, bweuler and bwselect: what is told from a few pixels of a logical
// image.
#include <algorithm>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"
#include "ops/morphology/element.hpp"
#include "ops/morphology/reconstructed.hpp"
#include "ops/table.hpp"

IMPIPE_POINT_BODY(is_object, (x), (), { return x != real(0) ? real(1) : real(0); })
// &: every comparison is made, so that vectors can make them.
IMPIPE_STENCIL_BODY(perimeter_4, (1, 1, 1, 1), (), {
  const bool inside = (at(-1, 0) != real(0)) & (at(1, 0) != real(0)) & (at(0, -1) != real(0)) &
                      (at(0, 1) != real(0));
  return (at(0, 0) != real(0)) & !inside ? real(1) : real(0);
})
IMPIPE_STENCIL_BODY(perimeter_8, (1, 1, 1, 1), (), {
  const bool beside = (at(-1, 0) != real(0)) & (at(1, 0) != real(0)) & (at(0, -1) != real(0)) &
                      (at(0, 1) != real(0));
  const bool corners = (at(-1, -1) != real(0)) & (at(1, -1) != real(0)) & (at(-1, 1) != real(0)) &
                       (at(1, 1) != real(0));
  return (at(0, 0) != real(0)) & !(beside & corners) ? real(1) : real(0);
})
IMPIPE_POINT_BODY(hit_and_missed, (lowest, highest), (),
                  { return lowest != real(0) && highest == real(0) ? real(1) : real(0); })
IMPIPE_POINT_BODY(hit, (lowest), (), { return lowest; })
IMPIPE_POINT_BODY(missed, (highest), (), { return real(1) - highest; })
IMPIPE_POINT_BODY(everywhere, (x), (), { return real(1); })

// in: how many 2x2 windows have each of the 16 patterns, upper pair first; args: 4 or 8.
IMPIPE_SCALAR_BODY(euler_number, {
  const double ones = in[1] + in[2] + in[4] + in[8];
  const double threes = in[7] + in[11] + in[13] + in[14];
  const double diagonals = in[6] + in[9];
  out[0] = (ones - threes + (args[0] > 4 ? -2.0 : 2.0) * diagonals) / 4;
})

// Whether the pixel is one of four points.
IMPIPE_POINT_BODY(at_points, (marked, col, row), (x1, y1, x2, y2, x3, y3, x4, y4), {
  const bool first = (col == x1 && row == y1) || (col == x2 && row == y2);
  const bool second = (col == x3 && row == y3) || (col == x4 && row == y4);
  return marked != real(0) || first || second ? real(1) : real(0);
})
IMPIPE_POINT_BODY(nothing_marked, (x), (), { return real(0); })
IMPIPE_POINT_BODY(marked_object, (marked, object), (),
                  { return marked != real(0) && object != real(0) ? real(1) : real(0); })

namespace impipe::ops {
namespace {

ImageValue logical_of(PlanBuilder& plan, const ImageValue& image) {
  if (image.type.cls == PixelClass::logical) return image;
  return plan.point(bodies::is_object, {image}, {}, logical_result);
}

const RegisterOperator bwperim_operator{{
    .name = "bwperim",
    .help = "pixels of objects that have a neighbour which is none",
    .parameters = {connectivity_parameter("4")},
    .one_channel = true,
    .details = "1 where the pixel is not 0 and not all of its 4 or 8 neighbours are; outside the\n"
               "image there is 0.",
    .example = "imbinarize | bwperim",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwperim(BW,conn) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const StencilBody& body =
              connectivity(call) == 4 ? bodies::perimeter_4 : bodies::perimeter_8;
          return plan.stencil({.body = &body}, logical_of(plan, plan.current()), {0.0},
                              logical_result);
        },
}};

// The number of each pixel's pattern: bit k of the window's cell k down the columns.
ImageValue patterns_of(PlanBuilder& plan, const ImageValue& image, int side) {
  Mask window = rectangle_element(side, side);
  std::vector<Arg> args;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) args.emplace_back(static_cast<double>(1 << (x * side + y)));
  }
  args.emplace_back(0.0);
  return plan.stencil({.taps = std::move(window)}, logical_of(plan, image), args,
                      {.cls = PixelClass::uint16, .white = 65535});
}

ImageValue lower_bwlookup(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const Matrix lut = kernel_argument(call, "lut");
  const std::size_t count = lut.values.size();
  if (count != 16 && count != 512) {
    call.fail("lut",
              "a table has 16 numbers (2x2) or 512 (3x3), this one " + std::to_string(count));
  }
  Result result = logical_result;
  if (call.has("class")) {
    const PixelClass cls = class_named(call.word("class"));
    result = {.cls = cls, .white = class_max(cls)};
  }
  std::vector<double> values;
  for (const double v : lut.values) values.push_back(cast_to(result.cls, v));
  return looked_up(plan, patterns_of(plan, plan.current(), count == 16 ? 2 : 3),
                   table_of(plan, values), result);
}

Operator lookup_operator(std::string_view name, std::string_view help, std::string_view example) {
  return {
      .name = name,
      .help = help,
      .parameters = {{.name = "lut",
                      .help = "16 numbers for 2x2 windows or 512 for 3x3 ones: a matrix or @file",
                      .takes = Takes::kernel,
                      .required = true},
                     {.name = "class",
                      .help = "the table's values themselves, in this class; else logical: which "
                              "are not 0",
                      .words = {"uint8", "uint16", "single"}}},
      .one_channel = true,
      .details =
          "A window's number is the sum of 2^k for its pixels that are not 0, k counted down the\n"
          "columns: [1 8 64; 2 16 128; 4 32 256] about the pixel, [1 4; 2 8] with the pixel at "
          "its\nupper left. 0 outside the image.",
      .example = example,
      .accuracy = "exact",
      .not_finite = {NotFinite::Rule::object},
      .matlab = "bwlookup(BW,lut) (same; there the result has the table's class)",
      .lower = lower_bwlookup,
  };
}

const RegisterOperator bwlookup_operator{
    lookup_operator("bwlookup", "look each 2x2 or 3x3 window of a logical image up in a table",
                    "imbinarize | bwlookup [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1]")};
const RegisterOperator applylut_operator{
    lookup_operator("applylut", "look each window up in a table: bwlookup by its older name",
                    "imbinarize | applylut [0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]")};

// The elements of 1s that must be set and of those that must not; empty ones ask for nothing.
struct HitMiss {
  Matrix hit, miss;
};

HitMiss elements_of(const Call& call) {
  if (call.has("interval")) {
    if (call.has("se1") || call.has("se2")) {
      call.fail("interval", "it needs either an interval, or se1 and se2");
    }
    const Matrix interval = kernel_argument(call, "interval");
    HitMiss out{interval, interval};
    for (double& v : out.hit.values) v = v == 1 ? 1 : 0;
    for (double& v : out.miss.values) v = v == -1 ? 1 : 0;
    return out;
  }
  if (!call.has("se1") || !call.has("se2")) {
    call.fail("it needs an interval of 1, -1 and 0, or se1 and se2");
  }
  return {kernel_argument(call, "se1"), kernel_argument(call, "se2")};
}

Mask mask_of(const Matrix& matrix) {
  Mask out = rectangle_element(matrix.rows, matrix.columns);
  for (std::size_t i = 0; i < matrix.values.size(); ++i) out.cells[i] = matrix.values[i] != 0;
  return out;
}

ImageValue lower_bwhitmiss(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const HitMiss wanted = elements_of(call);
  const ImageValue image = logical_of(plan, plan.current());
  const Mask hit = mask_of(wanted.hit), miss = mask_of(wanted.miss);
  const bool hits = hit.count() > 0, misses = miss.count() > 0;
  if (!hits && !misses) return plan.point(bodies::everywhere, {image}, {}, logical_result);
  std::vector<ImageValue> found;
  if (hits) found.push_back(plan.extremum({.largest = false, .mask = hit}, image));
  if (misses) found.push_back(plan.extremum({.largest = true, .mask = miss}, image));
  const PointBody& body = hits && misses ? bodies::hit_and_missed
                          : hits         ? bodies::hit
                                         : bodies::missed;
  return plan.point(body, found, {}, logical_result);
}

const RegisterOperator bwhitmiss_operator{{
    .name = "bwhitmiss",
    .help = "where a pattern of set and unset pixels lies",
    .parameters = {{.name = "interval",
                    .help = "1: must be set, -1: must not be, 0: either; a matrix or @file",
                    .takes = Takes::kernel},
                   {.name = "se1",
                    .help = "instead of an interval: not 0 where pixels must be set",
                    .takes = Takes::kernel},
                   {.name = "se2",
                    .help = "and not 0 where they must not be",
                    .takes = Takes::kernel}},
    .one_channel = true,
    .details =
        "imerode(A, se1) and imerode(not A, se2), the cell floor((k-1)/2) on the pixel; what lies\n"
        "outside the image meets both. An element without a 1 asks for nothing.",
    .example = "imbinarize | bwhitmiss [0 -1 -1; 1 1 -1; 0 1 0]",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwhitmiss(BW,interval), bwhitmiss(BW,SE1,SE2) (same)",
    .lower = lower_bwhitmiss,
}};

const RegisterOperator bweuler_operator{{
    .name = "bweuler",
    .help = "number of objects minus number of holes",
    .category = "statistics",
    .parameters = {connectivity_parameter("8"), measured_image_parameter()},
    .one_channel = true,
    .details =
        "Over the 2x2 windows of the image framed by 0: (Q1 - Q3 - 2 QD) / 4 for 8 neighbours,\n"
        "(Q1 - Q3 + 2 QD) / 4 for 4; Q1 and Q3 windows with one and three 1s, QD with two on a\n"
        "diagonal.",
    .example = "imbinarize | bweuler",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bweuler(BW,conn) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue object = logical_of(plan, measured_image(call, plan));
          const ImageValue windows = correlate(
              plan, object, {2, 2, {1, 2, 4, 8}},
              {.extent = Extent::full, .result = {.cls = PixelClass::uint8, .white = 255}});
          const MeasureValue counts = plan.histogram({.rule = BinRule::codes, .bins = 16}, windows);
          plan.report("bweuler", plan.scalar(bodies::euler_number, {counts},
                                             {static_cast<double>(connectivity(call))}, 1, 1));
          return plan.current();
        },
}};

ImageValue lower_bwselect(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  constexpr std::size_t at_once = 4;
  std::vector<double> columns = call.numbers("columns"), rows = call.numbers("rows");
  if (columns.size() != rows.size()) {
    call.fail("rows", "there are " + std::to_string(columns.size()) + " columns and " +
                          std::to_string(rows.size()) + " rows; a point has one of each");
  }
  // Nowhere, to fill the last point up.
  columns.resize((columns.size() + at_once - 1) / at_once * at_once, -1);
  rows.resize(columns.size(), -1);
  const ImageValue object = logical_of(plan, plan.current());
  const ImageValue col = place_image(plan, object, "col"), row = place_image(plan, object, "row");
  ImageValue marked = plan.point(bodies::nothing_marked, {object}, {}, logical_result);
  for (std::size_t i = 0; i < columns.size(); i += at_once) {
    std::vector<Arg> args;
    for (std::size_t k = i; k < i + at_once; ++k) {
      args.emplace_back(columns[k]);
      args.emplace_back(rows[k]);
    }
    marked = plan.point(bodies::at_points, {marked, col, row}, args, logical_result);
  }
  marked = plan.point(bodies::marked_object, {marked, object}, {}, logical_result);
  return reconstructed(plan, marked, object, connectivity(call));
}

Parameter places(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = help,
          .numbers = {.max_count = 256, .integer = true, .low = -1e6, .high = 1e6},
          .required = true};
}

const RegisterOperator bwselect_operator{{
    .name = "bwselect",
    .help = "the objects that some points lie in",
    .parameters = {places("columns", "of the points, counted from 0, to the right"),
                   places("rows", "of the points, counted from 0, downwards"),
                   connectivity_parameter("8")},
    .one_channel = true,
    .details = "Connected components with at least one of the points; points outside the image "
               "and on\npixels that are 0 are ignored.",
    .example = "imbinarize | bwselect 40,200 60,120",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwselect(BW,c,r,conn) (there points count from 1)",
    .lower = lower_bwselect,
}};

}  // namespace
}  // namespace impipe::ops
