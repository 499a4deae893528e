// The pixel of any map, taken from the place (at_x, at_y) of the image.
//   $fill     outside the image
//   $u0       the output place that the map counts from
//   $x0       and that of the input
//   $by_rule  whether a rule says which pixels are read outside the image

FUNCTION uchar mapped(const int x, const int y) {
  // -- part: place(expr u0, expr v0, expr a, expr b, expr c, expr d, expr e, expr f,
  //    bool projective, expr g, expr h, expr i, expr x0, expr y0)
  // The place in the image that the map gives an output pixel.
  const double from_u = (double)x - $u0, from_v = (double)y - $v0;
  const double over_x = $a * from_u + $b * from_v + $c;
  const double over_y = $d * from_u + $e * from_v + $f;
#if $projective
  const double over = $g * from_u + $h * from_v + $i;
  const double at_x = over_x / over + $x0, at_y = over_y / over + $y0;
#else
  const double at_x = over_x + $x0, at_y = over_y + $y0;
#endif
  // -- end
  // -- part: outside(expr has_value, expr fill)
  // False of places that are NaN, too.
  if (!($has_value)) return $fill;
  // -- end
  // -- part: bicubic(bool by_rule, expr column_at, expr row_at, expr pixel, expr value)
  // Sixteen pixels, rows first.
  const double left = floor(at_x), top = floor(at_y);
  const int px = (int)left, py = (int)top;
  // Keys' kernel, a = -0.5, of the four pixels round a place t beyond the second.
  float weights[8];
  for (int k = 0; k < 8; k += 4) {
    const float t = (float)(k == 0 ? at_x - left : at_y - top), u = 1.0f - t;
    const float before = t + 1.0f, behind = u + 1.0f;
    weights[k] = ((-0.5f * before + 2.5f) * before - 4.0f) * before + 2.0f;
    weights[k + 1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    weights[k + 2] = (1.5f * u - 2.5f) * u * u + 1.0f;
    weights[k + 3] = ((-0.5f * behind + 2.5f) * behind - 4.0f) * behind + 2.0f;
  }
#if $by_rule
  int columns[4], rows[4];
  for (int k = 0; k < 4; ++k) {
    columns[k] = $column_at;
    rows[k] = $row_at;
  }
#endif
  float sum = 0.0f;
  for (int row = -1; row <= 2; ++row) {
    float line = 0.0f;
    for (int column = -1; column <= 2; ++column) {
      line = fma(weights[column + 1], $pixel, line);
    }
    sum = fma(weights[row + 5], line, sum);
  }
  return $value;
  // -- end
}
