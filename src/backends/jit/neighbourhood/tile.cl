// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory, with
// the rows around it, and reads the column pass there. Sums of taps, or extrema.
//   $pixel         of the image
//   $width         of the image
//   $to_width      of the result
//   $tile_width    a tile
//   $vectors       of its row pass, four pixels each, of all tiles
//   $first_vector  of a tile of several
//   $asked         whether they are more than any kernel may have
//   $rows          of its row pass
//   $up            of them, above the tile and below
//   $tile_end      how far a tile reaches beyond its first pixel
//   $row_px        pixels of a work-item in the row pass
//   $items_a_row   work-items of a row of it
//   $px            of a work-item's block
//   $column_rows   that it reads
//   $across        blocks side by side
//   $turns         whether work-items take turns which of two vectors comes first
//   $first         pixels that a row's window has to the left of the work-item's
//   $wide          of that window
//   $left          pixels that it reads of them
//   $margin        and that it does not
//   $reach         from the first that it reads to the last
//   $end           from the work-item's first to the last
//   $constant      whether what lies outside the image is a constant
//   $rule          where it is not
//   $edge          pixel i, which may lie outside
//   $word          rows that are loaded before the first of them is made
//   $code          how a pixel is taken from a word
//   $vector        what points have made, four pixels each
//   $fixed         whether it cannot say what lies outside
//   $first_quad    of a long window, four pixels each
//   $all_taps      whether all pixels of the window are taps of all of the work-item's
//   $plain         whether weights are 1, of whole numbers
//   $once_for_all  that, where all pixels of the window are taps of all
//   $tap_count     of a long window or column
//   $edge_of_row   pixel n, which may lie outside
//   $sum           that whole numbers are added up in
//   $row_pass      where other passes follow

KERNEL(256) void both_passes(GLOBAL const uchar* $image, GLOBAL uchar* $result) {
  // -- part: kernel(bool asked, int vectors, stmt tables, int tile_width, int tile_height,
  //    stmt stored)
  // The row pass of a tile, then of its columns a block for each work-item.
#if $asked
  DYNAMIC_LOCAL(float4, tiles, $vectors);
#else
  LOCAL float4 tiles[$vectors];
#endif
  IN_LOCAL float4* const tile4 = tiles;
  IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
  $tables
  const int tile_x = GROUP_X * $tile_width, tile_y = GROUP_Y * $tile_height;
  // -- part: passes
  // The row pass, and after it the column pass.
  // -- part: row_pass(int first, int tile_end, expr width, int up, int tile_bottom, expr height,
  //    stmt once, int items_a_row, int rows, int rows_a_turn, int row_px, stmt unroll,
  //    int ahead_rows, int rows_at_once)
  // Inside the image a work-item loads several rows before it makes the first of them.
  if (tile_x >= $first && tile_x + $tile_end <= $width && tile_y >= $up &&
      tile_y + $tile_bottom <= $height) {
    $once
    for (int first = ITEM / $items_a_row; first < $rows; first += $rows_a_turn) {
      const int x0 = tile_x + ITEM % $items_a_row * $row_px;
      // -- part: rows_ahead(type pixel = uchar, name plane,
      //    expr first_row = $image + (long)(tile_y + first - $up) * $stride, int first,
      //    type word = uint, int ahead_words, stmt unroll, int ahead_rows, int rows_at_once,
      //    int rows, stmt load_ahead, expr stride)
      // Several rows of an image.
      GLOBAL const $pixel* from_$plane = $first_row + x0 - $first;
      $word ahead_$plane[$ahead_words];
      $unroll
      for (int u = 0; u < $ahead_rows; ++u) {
        if (first + u * $rows_at_once < $rows) {
          $load_ahead
        }
        from_$plane += $rows_at_once * $stride;
      }
      // -- end
      $unroll
      for (int u = 0; u < $ahead_rows; ++u) {
        const int j = first + u * $rows_at_once;
        if (j < $rows) {
          // -- part: row_ahead(int first_vector, name own, int wide, stmt unroll, type code,
          //    expr ahead_pixel, expr element, stmt pass)
          // The window of a row that has been loaded.
          {
            IN_LOCAL float4* const tile4 = tiles + $first_vector;
            float w_$own[$wide];
            $unroll
            for (int k = 0; k < $wide; ++k) {
              const $code code = ($code)$ahead_pixel;
              w_$own[k] = $element;
            }
            $pass
          }
          // -- end
        }
      }
    }
  } else {
    // -- part: any_rows(stmt once, int items_a_row, int rows, int rows_at_once, int row_px, int up,
    //    expr width, expr height, int down, bool constant, stmt unroll, int tile_width,
    //    expr outside, name rule, name own, int wide)
    // Rows outside the image are those of the row pass that the border's rule says.
    $once
    for (int j = ITEM / $items_a_row; j < $rows; j += $rows_at_once) {
      const int x0 = tile_x + ITEM % $items_a_row * $row_px, row_y = tile_y + j - $up;
      if (x0 >= $width || row_y >= $height + $down) continue;
#if $constant
      if (row_y < 0 || row_y >= $height) {
        $unroll
        for (int k = 0; k < $row_px; ++k)
          tile[j * $tile_width + ITEM % $items_a_row * $row_px + k] = $outside;
      } else {
        const int y = row_y;
#else
      {
        const int y = $rule(row_y, $height);
#endif
        float w_$own[$wide];
        // -- part: window(int first, int end, expr width, type pixel, name plane, int wide,
        //    expr row_from = $image + (long)y * $stride, stmt load, stmt unroll, type code,
        //    name own, expr element, int reach, int margin, expr edge)
        // What the work-item's pixels of the row are made of.
        if (x0 >= $first && x0 + $end <= $width) {
          $pixel raw_$plane[$wide];
          GLOBAL const $pixel* const from_raw_$plane = $row_from + x0 - $first;
          $load
          $unroll
          for (int k = 0; k < $wide; ++k) {
            const $code code = raw_$plane[k];
            w_$own[k] = $element;
          }
        } else {
          int edge_x = x0;
          NO_HOIST(edge_x);
          $unroll
          for (int i = 0; i < $reach; ++i) w_$own[$margin + i] = $edge;
        }
        // -- end
        // -- part: pass(stmt made, int tile_width, int items_a_row, int row_px, bool turns,
        //    stmt stores)
        // The work-item's pixels of the row into local memory.
        $made
        IN_LOCAL float4* const to =
            tile4 + (j * $tile_width + ITEM % $items_a_row * $row_px) / 4;
#if $turns
        const int turn = ITEM % $items_a_row / 4 & 1;
#endif
        $stores
        // -- end
      }
    }
    // -- end
  }
  // -- end
  BARRIER;
  // -- part: place(int across, int px, int py, expr to_width, expr to_height)
  // The work-item's block.
  const int x0 = tile_x + ITEM % $across * $px, first_row = ITEM / $across * $py;
  const int y0 = tile_y + first_row;
  if (x0 >= $to_width || y0 >= $to_height) return;
  const int whole = x0 + $px <= $to_width;
  // -- end
  // -- part: columns(name own, int block, int column_values, stmt unroll, int column_rows, int px,
  //    int tile_width, int across, stmt folds)
  // Extrema of columns of the row pass.
  float made_$own[$block];
  float column_$own[$column_values];
  $unroll
  for (int r = 0; r < $column_rows; ++r) {
    $unroll
    for (int k = 0; k < $px; ++k)
      column_$own[r * $px + k] =
          tile[first_row * $tile_width + ITEM % $across * $px + r * $tile_width + k];
  }
  $folds
  // -- end
  // -- end
  $stored
  // -- end
}

KERNEL(256) void other_parts(GLOBAL const $vector* points_$own, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int x0 = ITEM, first_row = ITEM, j = ITEM;
  float w_$own[$wide];
  // -- part: points(stmt unroll, int quads, type vector, name own, int points_across,
  //    int items_a_row, int row_quads, int shift, stmt elements, bool fixed, int left, int end,
  //    expr width, int wide, int first, expr outside)
  // What points have made of a row, in local memory too.
  $unroll
  for (int q = 0; q < $quads; ++q) {
    const $vector v =
        points_$own[j * $points_across + ITEM % $items_a_row * $row_quads + $shift + q];
    $elements
  }
#if $fixed
  if (x0 < $left || x0 + $end > $width) {
    $unroll
    for (int k = 0; k < $wide; ++k)
      if (x0 - $first + k < 0 || x0 - $first + k >= $width) w_$own[k] = $outside;
  }
#endif
  // -- end
  // -- part: column_sums(name own, int block, stmt unroll, stmt taps)
  // Sums of columns of the row pass: each of its rows is a tap of every row that is near.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
  // -- part: column_of_item(bool turns, int tile_width, int across, int px)
  // The work-item's columns of the row pass.
#if $turns
  IN_LOCAL const float4* const column =
      tile4 + first_row * $tile_width / 4 + (ITEM % $across ^ (ITEM % $across / 8 & 1));
#else
  IN_LOCAL const float4* const column =
      tile4 + (first_row * $tile_width + ITEM % $across * $px) / 4;
#endif
  // -- end
  $taps
  // -- end
  $result[ITEM] = made_$own[0] + w_$own[0];
}

KERNEL(256) void long_windows(GLOBAL const $pixel* $image, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int x0 = ITEM, y = ITEM, j = ITEM, first_row = ITEM;
  // -- part: long_row(int row_px, stmt unroll, int first, int end, expr width, type pixel,
  //    expr row_from, bool plain, stmt once, int reach, expr edge_of_row, int tap_count,
  //    expr weights = ((GLOBAL const float*)$image))
  // The work-item's pixels of a row, along a window of any length: what is loaded is a tap of each
  // of them.
  float made[$row_px];
  $unroll
  for (int i = 0; i < $row_px; ++i) made[i] = 0.0f;
  if (x0 >= $first && x0 + $end <= $width) {
    GLOBAL const $pixel* const from_row = $row_from + x0 - $first;
#if $plain
    // Of whole numbers, whose sums have no order: what is a tap of all of them is added once.
    float shared = 0.0f;
#endif
    // -- part: quads_of_row(stmt quad_unroll, int first_quad, int end_quad, type word,
    //    stmt load_four, stmt unroll, type code, expr pixel_of_four, expr element,
    //    bool once_for_all, int row_px, int margin, int all_taps, int tap_count, expr weights)
    // Four pixels at a time, each a tap of the pixels that it is near.
    $quad_unroll
    for (int q = $first_quad; q < $end_quad; ++q) {
      $word four[4];
      $load_four
      $unroll
      for (int n = 0; n < 4; ++n) {
        const $code code = $pixel_of_four;
        const float v = $element;
#if $once_for_all
        shared += v;
#else
        $unroll
        for (int i = 0; i < $row_px; ++i) {
          const int tap = 4 * q + n - $margin - i;
          if ($all_taps || (tap >= 0 && tap < $tap_count)) made[i] = fma($weights[tap], v, made[i]);
        }
#endif
      }
    }
    // -- end
#if $plain
    $unroll
    for (int i = 0; i < $row_px; ++i) made[i] += shared;
#endif
  } else {
    $once
    for (int n = 0; n < $reach; ++n) {
      const float v = $edge_of_row;
      $unroll
      for (int i = 0; i < $row_px; ++i) {
        const int tap = n - i;
        if (tap >= 0 && tap < $tap_count) made[i] = fma($weights[tap], v, made[i]);
      }
    }
  }
  // -- end
  $result[ITEM] = made[0];
  // -- part: long_columns(name own, int block, stmt unroll, int tile_width, stmt first_taps,
  //    stmt quad_unroll, int py, int tap_count, expr weights, stmt last_taps)
  // Sums of long columns of the row pass: the rows that are taps of all of the block's in a loop.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
  $column_of_item
  $first_taps
  $quad_unroll
  for (int row = $py - 1; row < $tap_count; ++row) {
    const float4 v0 = column[row * ($tile_width / 4)];
    const float v[4] = {v0.x, v0.y, v0.z, v0.w};
    $unroll
    for (int r = 0; r < $py; ++r) {
      const float weight = $weights[row - r];
      $unroll
      for (int k = 0; k < 4; ++k) made_$own[r * 4 + k] = fma(weight, v[k], made_$own[r * 4 + k]);
    }
  }
  $last_taps
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void running_sums(GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int first_row = ITEM;
  // -- part: running_columns(name own, int block, stmt unroll, stmt taps)
  // Sums of columns of the row pass, each from the one above it.
  float made_$own[$block];
  $unroll
  for (int k = 0; k < $block; ++k) made_$own[k] = 0.0f;
  $column_of_item
  $taps
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void box_sums(GLOBAL const float* $image, GLOBAL float* $result) {
  LOCAL float4 tile4[$vectors];
  const int first_row = ITEM;
  // -- part: box_columns(name own, int block, int tile_width, type sum, stmt quad_unroll,
  //    int tap_count, expr weights, stmt unroll, int py)
  // Sums of whole numbers down columns of the row pass, each from the one above it, times a weight.
  float made_$own[$block];
  $column_of_item
  {
    $sum sums[4] = {0, 0, 0, 0};
    $quad_unroll
    for (int row = 0; row < $tap_count; ++row) {
      const float4 v = column[row * ($tile_width / 4)];
      sums[0] += ($sum)v.x;
      sums[1] += ($sum)v.y;
      sums[2] += ($sum)v.z;
      sums[3] += ($sum)v.w;
    }
    const float weight = $weights[0];
    $unroll
    for (int r = 0; r < $py; ++r) {
      if (r > 0) {
        const float4 more = column[(r + $tap_count - 1) * ($tile_width / 4)];
        const float4 gone = column[(r - 1) * ($tile_width / 4)];
        sums[0] += ($sum)more.x - ($sum)gone.x;
        sums[1] += ($sum)more.y - ($sum)gone.y;
        sums[2] += ($sum)more.z - ($sum)gone.z;
        sums[3] += ($sum)more.w - ($sum)gone.w;
      }
      $unroll
      for (int k = 0; k < 4; ++k) made_$own[r * 4 + k] = (float)sums[k] * weight;
    }
  }
  // -- end
  $result[ITEM] = made_$own[0];
}

KERNEL(256) void passes_in_turn(GLOBAL const $pixel* $image, GLOBAL float* $result) {
  LOCAL float4 tiles[$vectors];
  IN_LOCAL float4* const tile4 = tiles;
  IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
  // -- part: own_tile(int first_vector, stmt row_pass)
  // In a tile of its own.
  {
    IN_LOCAL float4* const tile4 = tiles + $first_vector;
    IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
    $row_pass
  }
  // -- end
  BARRIER;
  // -- part: in_turn(type word, name own, int kept_words, int first_vector, int across, int py,
  //    stmt columns = float made_$own[$block]; made_$own[0] = tile[0];,
  //    stmt codes, stmt unroll, expr kept, name pin = PIN_WORD)
  // What columns make of one of the nodes that a point mixes is kept, until all are made.
  $word kept_$own[$kept_words];
  {
    IN_LOCAL float4* const tile4 = tiles + $first_vector;
    IN_LOCAL float* const tile = (IN_LOCAL float*)tile4;
    const int first_row = ITEM / $across * $py;
    $columns
    $codes
    $unroll
    for (int k = 0; k < $kept_words; ++k) {
      kept_$own[k] = $kept;
      $pin(kept_$own[k]);
    }
  }
  // -- end
  $result[ITEM] = kept_$own[0];
}
