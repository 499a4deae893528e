// Sums of bytes by the weights of a launch, in whole numbers: the body itself, which computes in
// double, is left with what lies so close to a half that the rounded weights could decide.
#define $name made
#define $count 8
#define $quads 2
#define $weighted 3000000 * (int)a[k] + -1000000 * (int)b[k] + 2000000 * (int)c[k]
#define $start 2097552   // a half, what is added, and `near`, which is above the weights' error
#define $bits 22         // of a sum, behind the code
#define $twice_near 800  // none is far enough from a half where there are no bits
#define $pixel uchar
#define $exact (uchar)(c0 + scale)
#define $by_body sum_by_body
#define $parameters const uint c0, const uint c1, const uint c2, const double scale
#define $pixels a[k], b[k], c[k], 1.5
#define $unroll

// -- part: by_body
// The body itself, hardly ever.
FUNCTION_SELDOM $pixel $by_body($parameters) {
  return $exact;
}
// -- end

FUNCTION uint row_of_sums(const uchar* a, const uchar* b, const uchar* c) {
  // -- part: row_of_sums
  // Bytes of sums in whole numbers, or by the body where the rounded weights could decide.
  uint words_$name[$quads], nearest_$name = 0xffffffffu;
  $unroll
  for (int q = 0; q < $quads; ++q) {
    int sums[4];
    $unroll
    for (int i = 0; i < 4; ++i) {
      const int k = 4 * q + i;
      sums[i] = $start + $weighted;
      const uint rest = (uint)sums[i] & ((1u << $bits) - 1u);
      nearest_$name = rest < nearest_$name ? rest : nearest_$name;
      sums[i] >>= $bits;
    }
    words_$name[q] =
        pair_of_codes(sums[0], sums[1], pair_of_codes(sums[2], sums[3], 0u));
  }
  uchar $name[$count];
  $unroll
  for (int k = 0; k < $count; ++k) $name[k] = (uchar)BYTE_OF(words_$name[k / 4], k % 4);
  if (nearest_$name < (uint)$twice_near) {
    $unroll
    for (int k = 0; k < $count; ++k) $name[k] = $by_body($pixels);
    $unroll
    for (int q = 0; q < $quads; ++q) words_$name[q] = FIRST_BYTES(($name + 4 * q));
  }
  // -- end
  return words_$name[0];
}
