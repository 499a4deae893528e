// Where the pixels of a window or of a resampled image come from: one answer for all backends.
#pragma once

#include <vector>

#include "core/affine_place.hpp"
#include "core/kernel_spec.hpp"

namespace impipe {

// The tiles of an image in the smallest mirrored frame that gives all of them equal even sides: how
// much of the frame stands before the image (half of it, rounded down), and the sides.
struct TileGrid {
  std::int64_t left = 0, top = 0, wide = 0, tall = 0;
};
TileGrid tile_grid(Size image, int across, int down);

// The input place that lies under output (0, 0) of a Window node, and the output's size.
struct WindowPlace {
  std::int64_t left = 0, top = 0;
  Size size;
};
WindowPlace window_place(const Node& node, Size input);

// The size of a Resample node's output.
Size resampled_size(const Node& node, Size input);

// One direction of a resize: `from` input pixels become `to`. Output k is the sum over t < taps, in
// order, each an fma into 0, of weight(k, t) times input first(k) + t, mirrored at the ends (edge
// pixel included); float32.
struct ResizeAxis {
  std::int64_t from = 1, to = 1;
  double scale = 1;
  double narrow = 1;  // below 1: the kernel is stretched by its inverse (antialiasing)
  int before = 0;     // taps before the pixel at or above the place
  int taps = 1;
  // Output k is one input pixel: nearest, or a scale of 1.
  bool copies = false;
};
struct ResizeAxes {
  ResizeAxis x, y;
};
ResizeAxes resize_axes(const Node& node, Size input);

// first: [to]; weights: [to][taps].
struct ResizeTaps {
  std::vector<std::int32_t> first;
  std::vector<float> weights;
};
ResizeTaps resize_taps(Resample::Method method, const ResizeAxis& axis);

// The resize with its ratio, if its scale is a ratio whose places and weights repeat themselves
// without rounding errors, and small enough for kernels that know it. scale: of both directions.
Resample with_whole_ratio(Resample resize, double scale);

// Whether the weights of an output are divided by their sum, in double.
bool normalises(Resample::Method method);

// The same for the run-time compilers, all in double: first from k with (scale, before), copied
// pixels from k with (scale, last pixel), weights (not yet divided) from k and t with (scale,
// narrow, before).
const PointBody& resize_first_body();
const PointBody& resize_copied_body();
const PointBody& resize_weight_body(Resample::Method method);

// Of an affine Resample.
AffinePlace affine_place(const Node& node, Size input);

// The input place of output (u, v) of any map, in double, each operation rounded by itself: with
// p = u - u0 and q = v - v0, x = (a p + b q + c) / w + x0 and y = (d p + e q + f) / w + y0, where w
// is g p + h q + i, and 1 of an affine map; left to right.
struct MappedPlace {
  double u0 = 0, v0 = 0, x0 = 0, y0 = 0;
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0, g = 0, h = 0, i = 1;
};
MappedPlace mapped_place(const Node& node, Size input);
// Maps whose places are found like that: all but the affine ones of `filled`, nearest and bilinear,
// whose places are two fma (affine_place).
bool is_plain_affine(const Resample& resample);

}  // namespace impipe
