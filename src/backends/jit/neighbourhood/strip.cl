// A chain of neighbourhoods down a strip of rows. A work-item has four pixels of each row of every
// value of the chain, in registers; those to their left and right it gets from its sub-group.
//   $pixel          of the result, or of a plane
//   $up             rows above the strip that are read
//   $below          and below it, with those that are loaded early
//   $above          rows above the strip that its iterations make too
//   $sums           whether there are any
//   $rows           of an iteration
//   $across         pixels of a sub-group
//   $entries        of tables in local memory
//   $name           a value
//   $words          its rows as words
//   $early          whether a row was loaded before the others
//   $left           pixels that the value's reader reads to the left
//   $reads_left     whether it reads any there,
//   $has_halo       whether it reads any on either side
//   $wide           pixels of a row together with those to its left and right
//   $last           indices into a wide row: of the last pixel to the left,
//   $next           of the pixel after the first,
//   $end            of the first to the right
//   $constant       whether pixels outside the image are a constant
//   $outside_rows   whether rows outside the image are that constant
//   $repeats_below  whether rows below the image repeat rows inside it
//   $rows_wide      wide rows: the strip's pixels and those to their left and right

FUNCTION void strip_function(PARAMS, IN_LOCAL float* shared, const int x0, int y0,
                             const int iterations, const int edge) {
  GLOBAL uchar* const $image = 0;
  // -- part: strip(stmt arrays = uchar a[32]; uint a_words[8]; float a_wide[48];, expr width,
  //    type pixel = uchar, expr out_row = $image + (long)y0 * $stride, stmt pointers, stmt begin,
  //    bool sums, int above, stmt iteration, stmt carried, int rows)
  // The rows before the strip's own, then iterations of some rows each, unrolled.
  $arrays
  const int sub_item = ITEM % SUB_GROUP;
  const int stores = edge ? x0 < $width && (sub_item > 0 || GROUP_X == 0) &&
                                (sub_item < SUB_GROUP - 1 || GROUP_X + 1 == GROUPS_X)
                          : sub_item > 0 && sub_item < SUB_GROUP - 1;
  GLOBAL $pixel* to = $out_row + x0;
  $pointers
  $begin
#if $sums
  y0 -= $above;
#endif
#pragma unroll 1
  for (int iteration = 0; iteration < iterations; ++iteration) {
    $iteration
    $carried
    y0 += $rows;
  }
  // -- end
}

FUNCTION void row_of_strip(GLOBAL uchar* $image, GLOBAL uchar* to, GLOBAL const uchar* a_next,
                           const int x0, const int y0, const int row, const int edge) {
  const int j = row + 2, y = y0 + row, sub_item = ITEM % SUB_GROUP, stores = 1;
  $arrays
  // -- part: load(bool early = 0, stmt loaded, type pixel, expr inside, name next_row = a_next,
  //    expr stride, bool has_words, stmt unroll, name name = a, name words = a_words)
  // Loads a row. Sub-groups that lie inside with all they read go from row to row.
#if $early
  $loaded
#else
  GLOBAL const $pixel* const from = edge ? $inside : $next_row;
  $next_row += $stride;
  $loaded
#endif
#if $has_words
  $unroll
  for (int k = 0; k < 4; ++k) $name[j * 4 + k] = ($pixel)BYTE_OF($words[j], k);
#endif
  // -- end
  // -- part: extend(int wide, stmt unroll, int left, name name, bool has_halo, bool constant,
  //    expr width, expr outside, int right, bool reads_left, bool reads_right, int end, int last,
  //    int after, int next, bool outside_rows, expr outside_row, bool repeats_below, expr height,
  //    name rows_wide = a_wide, stmt kept, bool repeats_above, int rows_above)
  // The row with what its reader reads beside it.
  float wide[$wide];
  $unroll
  for (int k = 0; k < 4; ++k) wide[$left + k] = (float)$name[j * 4 + k];
#if $has_halo
#if $constant
  // What stands outside the image goes to the neighbours with the others' pixels.
  if (edge) {
    $unroll
    for (int k = 0; k < 4; ++k)
      if (x0 + k >= $width) wide[$left + k] = $outside;
  }
#endif
  exchange_columns(wide, $left, $right);
  if (edge) {
#if $constant
#if $reads_left
    $unroll
    for (int k = 0; k < $left; ++k)
      if (sub_item == 0) wide[k] = $outside;
#endif
#if $reads_right
    $unroll
    for (int k = 0; k < $right; ++k)
      if (sub_item == SUB_GROUP - 1) wide[$end + k] = $outside;
#endif
#else
#if $reads_left
    $unroll
    for (int k = 0; k < $left; ++k)
      if (x0 == 0) wide[$last - k] = wide[$left];
#endif
    $unroll
    for (int k = 0; k < $after; ++k)
      if (x0 + k + 1 >= $width) wide[$next + k] = wide[$left + k];
#endif
  }
#endif
#if $outside_rows
  if (edge && ($outside_row)) {
    $unroll
    for (int k = 0; k < $wide; ++k) wide[k] = $outside;
  }
#endif
#if $repeats_below
  if (edge && y >= $height && j > 0) {
    $unroll
    for (int k = 0; k < $wide; ++k) wide[k] = $rows_wide[(j - 1) * $wide + k];
  }
#endif
  $kept
#if $repeats_above
  if (edge && y == 0) {
    $unroll
    for (int above = 0; above < $rows_above; ++above)
      if (j > above) {
        $unroll
        for (int k = 0; k < $wide; ++k) $rows_wide[(j - 1 - above) * $wide + k] = wide[k];
      }
  }
#endif
  // -- end
  // -- part: window(int window_count, stmt unroll, name rows_wide, int from_row, int window_wide,
  //    stmt made = float made[4] = {window[r]};, name name)
  // A row of a neighbourhood, from the rows of what it reads.
  float window[$window_count];
  $unroll
  for (int k = 0; k < $window_count; ++k)
    window[k] = $rows_wide[(row + $from_row) * $window_wide + k];
  const int r = 0;
  $made
  $unroll
  for (int k = 0; k < 4; ++k) $name[j * 4 + k] = made[k];
  // -- end
  // -- part: store(int out_words, stmt packed, name store_if = store_4_bytes_if, stmt own_rows,
  //    expr height, expr stride)
  // Stores a row. Rows are padded: four pixels can always be written where one is.
  uint words[$out_words];
  $packed
  $store_if(stores && $own_rows(!edge || y < $height), (GLOBAL uchar*)to, words);
  to += $stride;
  // -- end
}

KERNEL(128) void strip_kernel(GLOBAL uchar* $image) {
  // -- part: kernel(int entries, int across, expr iterations, int sub_groups, expr strip_rows,
  //    stmt early_rows, stmt tables, int up, int below, expr height,
  //    name function = strip_function, list arguments)
  // A strip for each sub-group. Its work-items call the same function together, so that the compiler
  // knows that they stay together.
  LOCAL float shared[$entries];
  const int x0 = GROUP_X * $across + ITEM % SUB_GROUP * 4, iterations = $iterations;
  const int y0 = (GROUP_Y * $sub_groups + ITEM / SUB_GROUP) * $strip_rows;
  $early_rows
  $tables
  if (all_of_sub_group(GROUP_X > 0 && GROUP_X + 1 < GROUPS_X && y0 >= $up &&
                       y0 + $strip_rows + $below <= $height)) {
    $function(ARGS, shared, x0, y0, iterations$arguments, 0);
  } else {
    $function(ARGS, shared, x0, y0, iterations$arguments, 1);
  }
  // -- end
}
