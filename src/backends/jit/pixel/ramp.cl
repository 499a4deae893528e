// Linear stretches of 16-bit pixels with clamping at both ends, two operations in double a pixel.
// Values so close to a half that the line's rounding could decide are computed by the body itself.
//   $value    the body
//   $line     the body without its limits
//   $bound    bound of the magnitudes of all terms
//   $ordered  upper limit minus lower limit

// Alone: a body.
FUNCTION double line_of_code(const double code) {
  return (code - 6553.5) / 52428.0 * 65535.0;
}
FUNCTION double value_of_code(const double code) {
  return fmin(fmax(line_of_code(code), 0.0), 65535.0);
}
FUNCTION double bound_of_code(const double code) {
  return code + 6553.5;
}
FUNCTION double less_of_limits(const double code) {
  return 65535.0 - code;
}

// -- part: ramp(type pixel, name own, list parameters, list arguments,
//    name line = line_of_code, name value = value_of_code, name bound = bound_of_code,
//    name ordered = less_of_limits, name converted = uint16_from_double)
// The body's result for a pixel, rounded once; and the line in steps of 2^-bits.
// Each operation of the body is monotone, so the codes at the ends are the least and the largest; a
// code beyond `from` and `to`, outside which the body has reached an end, is taken for one of them.
// In steps, the line and the body itself differ by less than one: by the bound, and what is rounded
// when the sum is made. So their floors are on the same side of a whole number unless they are
// within two steps of it.
FUNCTION_SELDOM $pixel exact_$own(const uint code $parameters) {
  return $converted($value(DOUBLE_OF_CODE(code) $arguments));
}
struct Ramp_$own {
  double slope, start;
  int from, to, least, largest, bits;
  uint rest;  // all bits that a step has; 0 where nothing but the body will do
};
FUNCTION double within_codes_$own(const double code) {
  return code > 0.0 ? (code < 65535.0 ? code : 65535.0) : 0.0;
}
FUNCTION struct Ramp_$own ramp_$own(const int code $parameters) {
  struct Ramp_$own ramp;
  const double first = $line(0.0 $arguments), last = $line(65535.0 $arguments);
  const double slope = (last - first) * (1.0 / 65535.0);
  const double begin = $value(0.0 $arguments), end = $value(65535.0 $arguments);
  const int a = (int)$converted(begin), b = (int)$converted(end);
  ramp.least = a < b ? a : b;
  ramp.largest = a < b ? b : a;
  const double inverse = slope != 0.0 ? 1.0 / slope : 0.0;
  const double from = floor(within_codes_$own((begin - first) * inverse - 1.0));
  const double to = ceil(within_codes_$own((end - first) * inverse + 1.0));
  const double size = fmax(fabs(fma(slope, from, first)), fabs(fma(slope, to, first)));
  // The most bits with which the steps stay below 2^31.
  const int bits = 156 - (int)(FLOAT_BITS((float)(size + 2.0)) >> 23);
  const double steps = (double)BITS_FLOAT((uint)(127 + (bits > 0 ? bits : 0)) << 23);
  ramp.from = (int)from;
  ramp.to = (int)to;
  ramp.slope = slope * steps;
  ramp.start = START_OF_STEPS((first + 0.5) * steps);
  const int known = bits >= 8 && $bound(65535.0 $arguments) * steps < 0x1p43 &&
                    $ordered(0.0 $arguments) >= 0.0;
  ramp.bits = known ? bits : 0;
  ramp.rest = (1u << ramp.bits) - 1u;
  return ramp;
}
// `near`: whether the body has to make it.
FUNCTION $pixel ramp_value_$own(const struct Ramp_$own* const ramp, const uint code, int* near) {
  const int inside = smaller(larger((int)code, ramp->from), ramp->to);
  const int steps = STEPS_OF_LINE(ramp->slope, (uint)inside, ramp->start);
  *near = ((uint)(steps + 2) & ramp->rest) < 4u;
  return ($pixel)smaller(larger(steps >> ramp->bits, ramp->least), ramp->largest);
}
// -- end

FUNCTION $pixel row_of_ramp(const struct Ramp_$own line, const ushort* codes, const int r $parameters) {
  // -- part: ramp_row(type pixel, name name, int count, name codes = codes, stmt unroll, name own,
  //    name numbers = line, list arguments)
  // A row by the line, then what the body has to make.
  $pixel $name[$count];
  {
    uint near = 0;
    $unroll
    for (int k = 0; k < $count; ++k) {
      int near_one;
      $name[k] = ramp_value_$own(&$numbers, (uint)$codes[k], &near_one);
      near |= near_one ? 1u << k : 0u;
    }
    if (near != 0) {
      $unroll
      for (int k = 0; k < $count; ++k) {
        if ((near >> k & 1u) != 0) $name[k] = exact_$own((uint)$codes[k] $arguments);
      }
    }
  }
  // -- end
  return $name[r];
}
