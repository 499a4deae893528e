// A chain of neighbourhoods down a strip of rows. A work-item has four pixels of each row of every
// value of the chain, in registers; those to their left and right it gets from its sub-group.
#define $width 900
#define $height 600
#define $stride 1024
#define $unroll
#define $pixel uchar      // of the result, or of a plane
#define $up 2             // rows above the strip that are read
#define $below 5          // and below it, with those that are loaded early
#define $above 0          // rows above the strip that its iterations make too
#define $sums 0           // whether there are any
#define $rows 4           // of an iteration
#define $strip_rows (iterations * $rows - $above)
#define $across 120       // pixels of a sub-group
#define $sub_groups 4
#define $entries 256      // of tables in local memory
#define $iterations 8
#define $early_rows const uint* const early_a = 0;
#define $tables
#define iterations$arguments iterations
#define $function(args, shared, x0, y0, iterations, edge) shared[x0] = y0 + iterations + edge;
#define $next_row a_next
#define $out_row $image + (long)y0 * $stride
#define $arrays uchar a[32]; uint a_words[8]; float a_wide[48];
#define $pointers GLOBAL const uchar* a_next = $image;
#define $begin
#define $iteration a[0] = (uchar)y0;
#define $carried to += a[0];
#define $name a           // a value
#define $words a_words    // its rows as words
#define $inside $image + (long)replicate(y, $height) * $stride
#define $early 0          // whether a row was loaded before the others
#define $loaded load_4_bytes((GLOBAL const uchar*)from, $words + j);
#define $has_words 1
#define $left 1           // pixels that the value's reader reads to the left
#define $right 1
#define $reads_left 1     // whether it reads any there,
#define $reads_right 1
#define $beside 1         // whether it reads any on either side
#define $wide 6           // pixels of a row together with those to its left and right
#define $last 0           // indices into a wide row: of the last pixel to the left,
#define $next 2           // of the pixel after the first,
#define $end 5            // of the first to the right
#define $after 4
#define $constant 1       // whether pixels outside the image are a constant
#define $outside 0.0f
#define $outside_rows 1   // whether rows outside the image are that constant
#define $outside_row y >= $height
#define $repeats_below 0  // whether rows below the image repeat rows inside it
#define $repeats_above 0
#define $rows_above 1
#define $rows_wide a_wide // wide rows: the strip's pixels and those to their left and right
#define $kept $rows_wide[j * $wide] = wide[0];
#define $window_wide 6
#define $window_count 18
#define $from_row 1
#define $made float made[4] = {window[r]};
#define $out_words 1
#define $packed words[0] = FIRST_BYTES(($name + j * 4));
#define $store_if store_4_bytes_if
#define $own_rows

FUNCTION void strip_function(PARAMS, GLOBAL uchar* $image, IN_LOCAL float* shared, const int x0,
                             int y0, const int iterations, const int edge) {
  // -- part: strip
  // The rows before the strip's own, then iterations of some rows each, unrolled.
  $arrays
  const int sub_item = ITEM % 32;
  const int stores = edge ? x0 < $width && (sub_item > 0 || GROUP_X == 0) &&
                                (sub_item < 31 || GROUP_X + 1 == GROUPS_X)
                          : sub_item > 0 && sub_item < 31;
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
  const int j = row + 2, y = y0 + row, sub_item = ITEM % 32, stores = 1;
  $arrays
  // -- part: load
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
  // -- part: extend
  // The row with what its reader reads beside it.
  float wide[$wide];
  $unroll
  for (int k = 0; k < 4; ++k) wide[$left + k] = (float)$name[j * 4 + k];
#if $beside
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
      if (sub_item == 31) wide[$end + k] = $outside;
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
  // -- part: window
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
  // -- part: store
  // Stores a row. Rows are padded: four pixels can always be written where one is.
  uint words[$out_words];
  $packed
  $store_if(stores && $own_rows(!edge || y < $height), (GLOBAL uchar*)to, words);
  to += $stride;
  // -- end
}

KERNEL(128) void strip_kernel(GLOBAL uchar* $image) {
  // -- part: kernel
  // A strip for each sub-group. Its work-items call the same function together, so that the compiler
  // knows that they stay together.
  LOCAL float shared[$entries];
  const int x0 = GROUP_X * $across + ITEM % 32 * 4, iterations = $iterations;
  const int y0 = (GROUP_Y * $sub_groups + ITEM / 32) * $strip_rows;
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
