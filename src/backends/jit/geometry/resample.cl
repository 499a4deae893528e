// The pixel of an affine map, taken from the place (at_x, at_y) of the image.
//   $fill  outside the image
//   $a     the pixels round a place

FUNCTION uchar nearest_pixel(const double at_x, const double at_y) {
  // -- part: nearest(expr width, expr height, expr fill, expr nearest)
  // The pixel that the place lies in.
  const double px = at_x + 0.5, py = at_y + 0.5;
  if (!(px >= 0.0 && px < (double)$width && py >= 0.0 && py < (double)$height)) return $fill;
  return $nearest;
  // -- end
}
FUNCTION uchar bilinear_pixel(const double at_x, const double at_y) {
  // -- part: bilinear(expr width, expr height, expr fill, expr a, expr b, expr d, expr e,
  //    expr value)
  // Between the four pixels round the place. The test is for places that are NaN, too.
  if (!(at_x > -1.0 && at_x < (double)$width && at_y > -1.0 && at_y < (double)$height))
    return $fill;
  const double left = floor(at_x), top = floor(at_y);
  const int px = (int)left, py = (int)top;
  const float across = (float)(at_x - left), down = (float)(at_y - top);
  const float a = $a, b = $b, d = $d, e = $e;
  const float upper = fma(across, b, fma(-across, a, a));
  const float lower = fma(across, e, fma(-across, d, d));
  const float sum = fma(down, lower, fma(-down, upper, upper));
  return $value;
  // -- end
}
