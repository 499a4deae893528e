// The mean of codes that a body computes in double, in whole numbers: the body itself is left with
// what lies so close to a half that the rounded weights could decide.
#define $sum uint     // holds a code times 2^$bits
#define $bits 24
#define $weighted 5015281u * c0 + 9848948u * c1 + 1912987u * c2
#define $half 0x800000u
#define $fraction 0xffffffu
#define $near 400u    // above the error of the weights
#define $twice_near 800u
#define $pixel uchar
#define $parameters   // those of the body
#define $exact c1

// -- part: mean
// A code by rounded weights, or by the body where that could differ.
FUNCTION $pixel $mean(const uint c0, const uint c1, const uint c2, const int always $parameters) {
  const $sum sum = $weighted + $half;
  const uint rest = ((uint)sum + $near) & $fraction;
  if (always || rest < $twice_near) return $exact;
  return ($pixel)(sum >> $bits);
}
