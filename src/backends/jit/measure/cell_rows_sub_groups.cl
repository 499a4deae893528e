// The rows of a cell, made of another plane's rows around them and measured on the way. A work-item
// has four pixels of each row; what lies to their left and right comes from its sub-group, whose
// first and last work-item read the pixels beside it from memory.
//   $stores     whether they are stored
//   $stride     of what is made
//   $pixel      of the image
//   $up         rows above and below, and columns to the left and right, that are read
//   $around     rows above and below
//   $halo       columns on the side on which more of them are read
//   $wide       pixels of a row with its halo
//   $last       places in them: of the last to the left,
//   $next       of the pixel after the first,
//   $end        of the first to the right
//   $step       rows that are under way while others are made
//   $constant   whether what lies outside the image is one
//   $first_row  of those under way that is loaded

FUNCTION void $name_row(PARAMS, const $pixel* pixels, const $pixel* outer, const int x0, const int y,
                        const int at_side, float* wide);
KERNEL(256) void cell_rows(GLOBAL const float* $image, GLOBAL float* $result) {
  const int x0 = (GROUP_X * 256 + ITEM) * 4, inside = x0 < $width, down = GROUP_Y;
  float totals = 0.0f;
  // -- part: cell(expr width, expr height, type pixel, buffer image, int around, int step,
  //    int halo, int wide, int up, name name_row, stmt load_next, int window_count,
  //    stmt made = float made[4] = {window[r]};, bool stores, buffer result, expr stride,
  //    stmt accumulate)
  // The rows of a cell. Some of the image are loaded while the ones before them are used.
  {
    const int sub_item = ITEM % SUB_GROUP, first_x = x0 - 4 * sub_item, top = down * 32;
    const int at_side = first_x == 0 || first_x + 132 > $width;
    const int last_x = $width - 1, last_y = $height - 1;
    GLOBAL const $pixel* const column = $image + smaller(x0, last_x / 4 * 4);
    // What the outer work-items of the sub-group read beside its pixels.
    const int outer_x = sub_item == 0 ? x0 - 1 : x0 + 4, outward = sub_item == 0 ? -1 : 1;
    const int is_outer = sub_item == 0 || sub_item == SUB_GROUP - 1;
    $pixel next[4 * ($around + $step)], outer[$halo * ($around + $step)];
    float rows[($around + $step) * $wide];
    int from_row = top - $up;
    // -- part: load(int first_row, int around, int step, expr image_stride, type pixel,
    //    stmt load_pixels, int halo, buffer image)
    // Rows of the image, from row `from_row` on.
#pragma unroll
    for (int r = $first_row; r < $around + $step; ++r) {
      const long place = (long)larger(0, smaller(from_row + r, last_y)) * $image_stride;
      GLOBAL const $pixel* const from = column + place;
      $load_pixels
#pragma unroll
      for (int k = 0; k < $halo; ++k) {
        const int x = larger(0, smaller(outer_x + outward * k, last_x));
        if (is_outer) outer[$halo * r + k] = $image[place + x];
      }
    }
    // -- end
#pragma unroll
    for (int r = 0; r < $around; ++r) {
      $name_row(ARGS, next + 4 * r, outer + $halo * r, x0, from_row + r, at_side,
                rows + $wide * r);
    }
#pragma unroll 1
    for (int part = 0; part < 32; part += $step) {
      const int y0 = top + part;
#pragma unroll
      for (int r = $around; r < $around + $step; ++r) {
        $name_row(ARGS, next + 4 * r, outer + $halo * r, x0, from_row + r, at_side,
                  rows + $wide * r);
      }
      from_row += $step;
      $load_next
#pragma unroll
      for (int i = 0; i < $step; ++i) {
        if (y0 + i < $height) {
          const int r = 0;
          float window[$window_count];
#pragma unroll
          for (int k = 0; k < $window_count; ++k) window[k] = rows[i * $wide + k];
          $made
          const float* const p = made;
#if $stores
          if (inside) store_16_float($result + (long)(y0 + i) * $stride + x0, made);
#endif
          $accumulate
        }
      }
#pragma unroll
      for (int k = 0; k < $around * $wide; ++k) rows[k] = rows[$step * $wide + k];
    }
  }
  // -- end
  if (totals < 0.0f) $result[0] = totals;
}

// -- part: row(name name_row, type pixel, int left, bool constant, expr width, expr outside,
//    int right, int last, int end, int after, int next, expr height, int wide)
// A row with what stands beside it. at_side: whether the sub-group is at one of the image's.
FUNCTION void $name_row(PARAMS, const $pixel* pixels, const $pixel* outer, const int x0, const int y,
                        const int at_side, float* wide) {
#pragma unroll
  for (int k = 0; k < 4; ++k) wide[$left + k] = (float)pixels[k];
#if $constant
  if (at_side) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (x0 + k >= $width) wide[$left + k] = $outside;
  }
#endif
  exchange_columns(wide, $left, $right);
#pragma unroll
  for (int k = 0; k < $left; ++k)
    if (ITEM % SUB_GROUP == 0) wide[$last - k] = (float)outer[k];
#pragma unroll
  for (int k = 0; k < $right; ++k)
    if (ITEM % SUB_GROUP == SUB_GROUP - 1) wide[$end + k] = (float)outer[k];
  if (at_side) {
#if $constant
#pragma unroll
    for (int k = 0; k < $left; ++k)
      if (x0 == 0) wide[k] = $outside;
#pragma unroll
    for (int k = 0; k < $right; ++k)
      if (x0 + 4 + k >= $width) wide[$end + k] = $outside;
#else
#pragma unroll
    for (int k = 0; k < $left; ++k)
      if (x0 == 0) wide[$last - k] = wide[$left];
#pragma unroll
    for (int k = 0; k < $after; ++k)
      if (x0 + k + 1 >= $width) wide[$next + k] = wide[$left + k];
#endif
  }
#if $constant
  if (y < 0 || y >= $height) {
#pragma unroll
    for (int k = 0; k < $wide; ++k) wide[k] = $outside;
  }
#endif
}
