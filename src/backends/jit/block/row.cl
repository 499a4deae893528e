// A row of pixels, made of what a work-item has in registers: row r of its block.
//   $x  where an expression asks for the column

FUNCTION uchar row_of_floats(const int r) {
  // -- part: floats(type pixel, name name, int count, stmt unroll, expr of_value)
  // Floats as pixels.
  $pixel $name[$count];
  $unroll
  for (int k = 0; k < $count; ++k) $name[k] = $of_value;
  // -- end
  return $name[r];
}
FUNCTION uchar row_of_bytes(const int r) {
  // -- part: bytes(type pixel, name name, int count, int words, stmt unroll, expr value)
  // Floats as bytes: an instruction rounds where the code stays in its second byte.
  $pixel $name[$count];
  uint codes_$name[$count], words_$name[$words];
  $unroll
  for (int k = 0; k < $count; ++k) codes_$name[k] = ROUNDED_CODE(fmin(POSITIVE($value), 255.0f));
  $unroll
  for (int q = 0; q < $words; ++q) words_$name[q] = SECOND_BYTES(codes_$name + 4 * q);
  $unroll
  for (int k = 0; k < $count; ++k) $name[k] = (uchar)(codes_$name[k] >> 8);
  // -- end
  return $name[r] + (uchar)words_$name[0];
}
FUNCTION float row_of_sums(const int r) {
  // -- part: sums(name name, int count, stmt unroll, stmt taps)
  // Weighted sums of the window, taps in row-major order.
  float sums_$name[$count];
  $unroll
  for (int i = 0; i < $count; ++i) {
    const int k = i;
    float sum = 0.0f;
    $taps
    sums_$name[k] = sum;
  }
  // -- end
  return sums_$name[r];
}
FUNCTION uchar row_of_pixels(const int r) {
  // -- part: pixels(type pixel, name name, int count, stmt unroll, stmt x, expr of_value)
  // A pixel after the other.
  $pixel $name[$count];
  $unroll
  for (int i = 0; i < $count; ++i) {
    const int k = i;
    $x
    $name[k] = $of_value;
  }
  // -- end
  return $name[r];
}
