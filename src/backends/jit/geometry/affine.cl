// An affine map by tiles: a sub-group makes 8x4 pixels at once, so that the places they are taken
// from lie in few rows of the image however it is turned. What a tile reads is copied to local
// memory where it fits: rows of the image's in turn cost the cache more than the sums take.
//   $items         of a group
//   $across        pixels of a tile
//   $width         of the result
//   $row_x         what the row of a pixel gives of its place, and the place
//   $from          the output place that maps of any view count from
//   $origin        and that of the input
//   $a             of x along a row of the result, and along a column; of y
//   $low           the least place that has all its pixels
//   $reach         how far from the image's end those with all pixels end
//   $four          of four pixels
//   $copy_columns  of the image, in local memory
//   $slow          pixel (x, y), wherever it lies
//   $out           the result's first pixel

// -- part: fused_row(name row_x, expr slope, expr at)
// A coordinate of the places of a row of pixels, without what the column gives.
FUNCTION double $row_x(PARAMS, const double row) { return fma($slope, row, $at); }
// -- part: fused_place(name at_x, expr slope)
// The coordinate of a pixel's place: two fma together.
FUNCTION double $at_x(PARAMS, const double column, const double along) {
  return fma($slope, column, along);
}
// -- end
// -- part: viewed_row(name row_x = row_y_of, expr slope, expr from)
// The same of a map from one view to another, each operation rounded by itself.
FUNCTION double $row_x(PARAMS, const double row) { return $slope * (row - $from); }
// -- part: viewed_place(name at_x = at_y_of, expr slope, expr from, expr at, expr origin)
// The coordinate of a pixel's place, each operation rounded by itself.
FUNCTION double $at_x(PARAMS, const double column, const double along) {
  return $slope * (column - $from) + along + $at + $origin;
}
// -- end

// -- part: tiles(int across, int down, expr in_width, expr reach, expr in_height, bool nearest,
//    type four, int copy_rows, int copy_columns, name at_x, expr a, name row_x, expr b,
//    name at_y = at_y_of, expr d, name row_y = row_y_of, expr e, expr width, expr height,
//    type pixel, buffer image, expr stride, int items, stmt each, expr out, expr out_stride,
//    expr value, stmt once, expr out_row, stmt half, expr low,
//    expr in_row = $image + (long)py * $stride, expr slow)
// A work-item makes four pixels of two rows each, side by side with seven others'.
KERNEL($items) void tiles(GLOBAL const $pixel* $image, GLOBAL $pixel* $result) {
  const int sub_group = ITEM / SUB_GROUP, sub_item = ITEM % SUB_GROUP;
  const int x0 = GROUP_X * $across + sub_item % 8, y0 = GROUP_Y * $down + sub_group * 4 + sub_item / 8;
  const double from_column = (double)x0;
  const double max_x = (double)($in_width - $reach), max_y = (double)($in_height - $reach);
#if !$nearest
  LOCAL $four copy[$copy_rows * $copy_columns / 4];
  const int tile_x = GROUP_X * $across, tile_y = GROUP_Y * $down;
  const double begin_x = (double)tile_x, end_x = begin_x + ($across - 1.0);
  const double begin_y = (double)tile_y, end_y = begin_y + ($down - 1.0);
  // The map is monotonous in both directions: corners of the tile have the outermost places.
  const double low_x = $at_x(ARGS, $a < 0.0 ? end_x : begin_x,
                             $row_x(ARGS, $b < 0.0 ? end_y : begin_y));
  const double high_x = $at_x(ARGS, $a < 0.0 ? begin_x : end_x,
                              $row_x(ARGS, $b < 0.0 ? begin_y : end_y));
  const double low_y = $at_y(ARGS, $d < 0.0 ? end_x : begin_x,
                             $row_y(ARGS, $e < 0.0 ? end_y : begin_y));
  const double high_y = $at_y(ARGS, $d < 0.0 ? begin_x : end_x,
                              $row_y(ARGS, $e < 0.0 ? begin_y : end_y));
  if (low_x >= 0.0 && high_x < max_x && low_y >= 0.0 && high_y < max_y &&
      tile_x + $across <= $width && tile_y + $down <= $height) {
    const int left = (int)low_x / 4 * 4, top = (int)low_y;
    const int fours = ((int)high_x + 1 - left) / 4 + 1, lines = (int)high_y + 2 - top;
    if (fours <= $copy_columns / 4 && lines <= $copy_rows) {
      const int four = ITEM % 16;
      if (four < fours) {
        const int line = ITEM / 16;
        GLOBAL const $pixel* const from = $image + (top + line) * $stride + left + 4 * four;
        // All loads are under way before the first is used.
        $four v[$copy_rows / ($items / 16)];
        $each
        for (int i = 0; i < $copy_rows / ($items / 16); ++i) {
          const int below = i * ($items / 16);
          if (line + below < lines) v[i] = *(GLOBAL const $four*)(from + below * $stride);
        }
        $each
        for (int i = 0; i < $copy_rows / ($items / 16); ++i) {
          const int below = i * ($items / 16);
          if (line + below < lines) copy[(line + below) * ($copy_columns / 4) + four] = v[i];
        }
      }
      BARRIER;
      const int origin = top * $copy_columns + left;
      GLOBAL $pixel* out = $out + y0 * $out_stride + x0;
      $each
      for (int r = 0; r < 2; ++r, out += $down / 2 * $out_stride) {
        const double line = (double)(y0 + r * ($down / 2));
        const double row_x = $row_x(ARGS, line), row_y = $row_y(ARGS, line);
        $each
        for (int k = 0; k < 4; ++k) {
          const double column = from_column + 8.0 * k;
          const double at_x = $at_x(ARGS, column, row_x), at_y = $at_y(ARGS, column, row_y);
          double left_of, above;
          const int px = floor_inside(at_x, &left_of), py = floor_inside(at_y, &above);
          IN_LOCAL const $pixel* const from =
              (IN_LOCAL const $pixel*)copy + (py * $copy_columns + px - origin);
          const float across = (float)(at_x - left_of), down = (float)(at_y - above);
          const float a = (float)from[0], b = (float)from[1];
          const float d = (float)from[$copy_columns], e = (float)from[$copy_columns + 1];
          const float upper = fma(across, b, fma(-across, a, a));
          const float lower = fma(across, e, fma(-across, d, d));
          const float sum = fma(down, lower, fma(-down, upper, upper));
          out[8 * k] = $value;
        }
      }
      return;
    }
  }
#endif
  // Where all four pixels of a row lie inside with their neighbours without tests, else one by one.
  $once
  for (int y = y0; y < y0 + $down && y < $height; y += $down / 2) {
    if (x0 >= $width) return;
    GLOBAL $pixel* const row = $out_row;
    const double row_x = $row_x(ARGS, (double)y), row_y = $row_y(ARGS, (double)y);
    // The map is monotonous along a row: the outer two of the four say where the others lie.
    const double first_x = $at_x(ARGS, from_column, row_x)$half;
    const double first_y = $at_y(ARGS, from_column, row_y)$half;
    const double last_x = $at_x(ARGS, from_column + 24.0, row_x)$half;
    const double last_y = $at_y(ARGS, from_column + 24.0, row_y)$half;
    if (first_x >= $low && first_x < max_x && last_x >= $low && last_x < max_x &&
        first_y >= $low && first_y < max_y && last_y >= $low && last_y < max_y &&
        x0 + 24 < $width) {
      $each
      for (int k = 0; k < 4; ++k) {
        const int x = x0 + 8 * k;
        const double column = from_column + 8.0 * k;
        const double at_x = $at_x(ARGS, column, row_x)$half;
        const double at_y = $at_y(ARGS, column, row_y)$half;
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
}
