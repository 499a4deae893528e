// imcrop, impad: a part of the image, and the image with a frame around it.
#include <cmath>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

// A number of pixels, and the part of the image's width or height that is added to it.
struct Length {
  double pixels = 0, part = 0;
};

struct Direction {
  Length from, length;
};

std::vector<Arg> window_arguments(const Direction& x, const Direction& y) {
  std::vector<Arg> out;
  for (const Length& e : {x.from, x.length, y.from, y.length}) {
    out.emplace_back(e.pixels);
    out.emplace_back(e.part);
  }
  return out;
}

// The image's display window; what it has beyond the image is 0.
ImageValue shown(const Call& call, PlanBuilder& plan) {
  for (const std::string_view other : {"rect", "size", "at", "units", "origin"}) {
    if (call.given(other)) {
      call.fail(other, "the display window has its own place and size; leave this out");
    }
  }
  if (plan.has_moved()) {
    call.fail("window",
              "the display window is the file's; crop to it before other operators move "
              "pixels or change the size");
  }
  if (!plan.display()) return plan.current();
  const auto extent = [](std::int64_t pixels) {
    return Length{.pixels = static_cast<double>(pixels)};
  };
  const DisplayWindow& window = *plan.display();
  std::vector<Arg> arguments = window_arguments({extent(window.left), extent(window.size.width)},
                                                {extent(window.top), extent(window.size.height)});
  arguments.emplace_back(0.0);
  return plan.window({.border = Border::constant}, plan.current(), arguments);
}

ImageValue lower_imcrop(const Call& call, PlanBuilder& plan) {
  if (call.given("window")) return shown(call, plan);
  if (call.given("rect") == call.given("size")) {
    call.fail("it needs either rect=left,top,width,height, size=rows,columns or display");
  }
  const bool percent = call.word("units") == "percent";
  const auto extent = [&](double value) {
    return percent ? Length{.part = value / 100} : Length{.pixels = value};
  };
  Direction x, y;
  if (call.given("rect")) {
    if (call.given("at")) call.fail("at", "at is where a size lies; a rect has its own place");
    std::vector<double> rect = call.numbers("rect");
    if (call.number("origin") == 1) {
      if (percent) call.fail("origin", "origin=1 goes with pixels only");
      // From the rounded first to the rounded last pixel, both inside.
      for (const int first : {0, 1}) {
        const double from = std::round(rect[first]);
        rect[2 + first] = std::round(rect[first] + rect[2 + first]) - from + 1;
        rect[first] = from - 1;
      }
    }
    if (rect[2] <= 0 || rect[3] <= 0) call.fail("rect", "width and height must be above 0");
    x = {extent(rect[0]), extent(rect[2])};
    y = {extent(rect[1]), extent(rect[3])};
  } else {
    if (call.given("origin")) call.fail("origin", "origin goes with rect only");
    const std::vector<double>& size = call.numbers("size");
    if (size.front() <= 0 || size.back() <= 0) call.fail("size", "a size must be above 0");
    x.length = extent(size.back());
    y.length = extent(size.front());
    const std::string& at = call.word("at");
    // The part of what is left over that lies before the window.
    const double before_x = at.ends_with("west") ? 0 : at.ends_with("east") ? 1 : 0.5;
    const double before_y = at.starts_with("north") ? 0 : at.starts_with("south") ? 1 : 0.5;
    x.from = {-before_x * x.length.pixels, before_x * (1 - x.length.part)};
    y.from = {-before_y * y.length.pixels, before_y * (1 - y.length.part)};
  }
  return plan.window({.border = Border::absent}, plan.current(), window_arguments(x, y));
}

const RegisterOperator imcrop_operator{{
    .name = "imcrop",
    .help = "cut a rectangle out of the image",
    .parameters =
        {{.name = "rect",
          .help = "left,top,width,height: the rectangle, counted from 0 at the upper left",
          .numbers = {.max_count = 4, .min_count = 4, .low = -1e6, .high = 1e6}},
         {.name = "size",
          .help = "rows,columns instead of a rectangle, placed by `at`; one number: a square",
          .numbers = {.max_count = 2, .low = 0, .high = 1e6}},
         {.name = "at",
          .help = "where a size lies: centre, or a side or corner by its point of the compass",
          .words = {"centre", "north", "south", "west", "east", "northwest", "northeast",
                    "southwest", "southeast"},
          .fallback = "centre"},
         {.name = "units",
          .help = "of all numbers: pixels, or percent of the image's width and height",
          .words = {"pixels", "percent"},
          .fallback = "pixels"},
         {.name = "origin",
          .help = "of rect: 0, or 1 for MATLAB's rectangles, which count from 1 and have a pixel "
                  "more each way",
          .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1},
          .fallback = "0"},
         {.name = "window",
          .help = "display: the display window of an EXR, the original size of a DPX",
          .words = {"display"}}},
    .details =
        "The pixels with left <= column < left + width, top <= row < top + height. What "
        "lies outside\n"
        "the image is cut off; a rectangle with nothing of the image in it is an error. "
        "Places are\n"
        "rounded down, sizes half up. Alpha is cropped too. With origin=1 columns round(left) to\n"
        "round(left + width) counted from 1, rows alike.\n"
        "display makes the picture that is to be shown of an EXR or a DPX whose pixels are more "
        "than that\n"
        "(overscan) or a part of it, as oiiotool --croptofull does: what is not stored is 0, alpha "
        "too.\n"
        "The display window of other files is their picture. Filters may come before it, operators "
        "that\n"
        "move pixels may not.",
    .example = "imcrop size=128 at=centre",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "imcrop(A,rect) with origin=1 (10,20,100,50 is 9,19,101,51 without; size=: "
              "centerCropWindow2d)",
    .lower = lower_imcrop,
}};

// Pixels on each side.
struct Frame {
  double top = 0, bottom = 0, left = 0, right = 0;
};

ImageValue framed(const Call& call, PlanBuilder& plan, const Frame& by) {
  const ImageValue image = plan.current();
  const BorderArgument outside = border_argument(call, "boundary", image.type.cls);
  std::vector<Arg> arguments =
      window_arguments({{-by.left}, {by.left + by.right, 1}}, {{-by.top}, {by.top + by.bottom, 1}});
  if (outside.border == Border::constant) arguments.emplace_back(outside.value);
  return plan.window({.border = outside.border}, image, arguments);
}

// On both sides of rows and columns, or on the side that `side` names.
ImageValue framed_on_side(const Call& call, PlanBuilder& plan, double rows, double columns) {
  const bool before = call.word("side") != "post", after = call.word("side") != "pre";
  return framed(call, plan,
                {before ? rows : 0, after ? rows : 0, before ? columns : 0, after ? columns : 0});
}

ImageValue lower_impad(const Call& call, PlanBuilder& plan) {
  const std::vector<double>& by = call.numbers("by");
  if (by.size() == 3) {
    call.fail("by", "it takes 1 number, 2 (rows,columns) or 4 (top,bottom,left,right)");
  }
  if (by.size() == 4) {
    if (call.given("side")) call.fail("side", "four numbers name their sides themselves");
    return framed(call, plan, {by[0], by[1], by[2], by[3]});
  }
  return framed_on_side(call, plan, by.front(), by.back());
}

ImageValue lower_padarray(const Call& call, PlanBuilder& plan) {
  const std::vector<double>& by = call.numbers("by");
  return framed_on_side(call, plan, by.front(), by.size() > 1 ? by.back() : 0);
}

const RegisterOperator impad_operator{{
    .name = "impad",
    .help = "put a frame around the image (copyMakeBorder, padarray)",
    .parameters = {{.name = "by",
                    .help = "pixels: all sides; rows,columns; or top,bottom,left,right",
                    .numbers = {.max_count = 4, .integer = true, .low = 0, .high = 1e6},
                    .required = true},
                   {.name = "boundary",
                    .help = "the frame: a number, replicate (aaa|abcd|ddd), symmetric "
                            "(cba|abcd|dcb), reflect (dcb|abcd|cba) or circular (bcd|abcd|abc)",
                    .numbers = {.max_count = 1},
                    .words = {"replicate", "symmetric", "reflect", "circular"},
                    .fallback = "0"},
                   {.name = "side",
                    .help = "both; pre: above and to the left only; post: below and to the right",
                    .words = {"both", "pre", "post"},
                    .fallback = "both"}},
    .details = "The frame may be larger than the image: mirrors and repetitions go on. A number is "
               "in the\n"
               "image's own units, rounded and saturated to its class, the same for every channel. "
               "Alpha is\n"
               "framed by the same rule; around a number's frame it is 0.",
    .example = "impad 16 symmetric",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "padarray(A,[rows columns],boundary,side) (same; OpenCV's copyMakeBorder with four "
              "numbers, its REFLECT_101 is reflect)",
    .lower = lower_impad,
}};

const RegisterOperator padarray_operator{{
    .name = "padarray",
    .help = "put a frame around the image: impad by MATLAB's name",
    .parameters = {{.name = "by",
                    .help = "rows,columns on both sides; one number: rows only, as in MATLAB",
                    .numbers = {.max_count = 2, .integer = true, .low = 0, .high = 1e6},
                    .required = true},
                   {.name = "boundary",
                    .help = "the frame: a number, replicate, symmetric, reflect or circular",
                    .numbers = {.max_count = 1},
                    .words = {"replicate", "symmetric", "reflect", "circular"},
                    .fallback = "0"},
                   {.name = "side",
                    .help = "both; pre: above and to the left only; post: below and to the right",
                    .words = {"both", "pre", "post"},
                    .fallback = "both"}},
    .details = "impad rows,columns boundary, on one side only with pre or post.",
    .example = "padarray 8,8 symmetric",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "padarray(A,[rows columns],boundary,side) (same)",
    .lower = lower_padarray,
}};

}  // namespace
}  // namespace impipe::ops
