// The mean of codes that a body computes in double, in whole numbers: the body itself is left with
// what lies so close to a half that the rounded weights could decide.
//   $sum         holds a code times 2^$bits
//   $near        above the error of the weights
//   $parameters  those of the body

// -- part: mean(type pixel, name mean, list parameters, type sum = uint, expr weighted,
//    expr half, expr near, expr fraction, expr twice_near, expr exact, int bits)
// A code by rounded weights, or by the body where that could differ.
FUNCTION $pixel $mean(const uint c0, const uint c1, const uint c2, const int always $parameters) {
  const $sum sum = $weighted + $half;
  const uint rest = ((uint)sum + $near) & $fraction;
  if (always || rest < $twice_near) return $exact;
  return ($pixel)(sum >> $bits);
}
