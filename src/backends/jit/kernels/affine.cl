// An affine map by tiles: a sub-group makes 8x4 pixels at once, so that the places they are taken
// from lie in few rows of the image however it is turned.
#define $items 128   // of a group
#define $across 32   // pixels of a tile
#define $down 16
#define $width 1000  // of the result
#define $height 700
#define $in_width 900
#define $in_height 600
#define $pixel uchar
#define $stride 2700
#define $a 1.0  // a pixel (x, y) is taken from (a x + b y + c, d x + e y + f)
#define $b 0.1
#define $c -3.0
#define $d -0.1
#define $e 1.0
#define $f 7.0
#define $half
#define $reach 1   // pixels of the image right of a place, or below it, that are read
#define $nearest 0
#define $each
#define $once
#define $value (uchar)sum
#define $slow (uchar)0  // pixel (x, y), wherever it lies
#define $in_row $image + (long)py * $stride
#define $out_row $result + (long)y * $width

// -- part: tiles
// A work-item makes four pixels of a row, side by side with seven others': where all four lie
// inside with their neighbours without tests, else one by one.
KERNEL($items) void tiles(GLOBAL const $pixel* $image, GLOBAL $pixel* $result) {
  const int sub_group = ITEM / 32, sub_item = ITEM % 32;
  const int x0 = GROUP_X * $across + sub_item % 8, y = GROUP_Y * $down + sub_group * 4 + sub_item / 8;
  if (x0 >= $width || y >= $height) return;
  GLOBAL $pixel* const row = $out_row;
  const double row_x = fma($b, (double)y, $c), row_y = fma($e, (double)y, $f);
  const double from_column = (double)x0;
  // The map is monotonous along a row: the outer two of the four say where the others lie.
  const double first_x = fma($a, from_column, row_x)$half;
  const double first_y = fma($d, from_column, row_y)$half;
  const double last_x = fma($a, from_column + 24.0, row_x)$half;
  const double last_y = fma($d, from_column + 24.0, row_y)$half;
  const double max_x = (double)($in_width - $reach), max_y = (double)($in_height - $reach);
  if (first_x >= 0.0 && first_x < max_x && last_x >= 0.0 && last_x < max_x && first_y >= 0.0 &&
      first_y < max_y && last_y >= 0.0 && last_y < max_y && x0 + 24 < $width) {
    $each
    for (int k = 0; k < 4; ++k) {
      const int x = x0 + 8 * k;
      const double column = from_column + 8.0 * k;
      const double at_x = fma($a, column, row_x)$half, at_y = fma($d, column, row_y)$half;
      double left, top;
      const int px = floor_inside(at_x, &left), py = floor_inside(at_y, &top);
      GLOBAL const $pixel* const from = $in_row + px;
#if $nearest
      row[x] = from[0];
#else
      const float across = (float)(at_x - left), down = (float)(at_y - top);
      const float a = (float)from[0], b = (float)from[1];
      const float d = (float)from[$stride], e = (float)from[$stride + 1];
      const float upper = fma(across, b, fma(-across, a, a));
      const float lower = fma(across, e, fma(-across, d, d));
      const float sum = fma(down, lower, fma(-down, upper, upper));
      row[x] = $value;
#endif
    }
  } else {
    $once
    for (int k = 0; k < 4; ++k) {
      const int x = x0 + 8 * k;
      if (x >= $width) break;
      row[x] = $slow;
    }
  }
}
