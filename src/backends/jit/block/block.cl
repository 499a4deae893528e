// Blocks of pixels: a work-item makes several pixels side by side and below each other, from
// windows in registers, or from pixels that its group keeps in local memory.
//   $pixel          of the image
//   $px             pixels of a block, or of a vector that points make
//   $items          work-items of a group
//   $rule           of the border
//   $word           of a tile in local memory
//   $element        a pixel of it
//   $vector         four of them
//   $wide           pixels of a tile with its halo
//   $vectors        that points make
//   $across         of them in a row
//   $times          turns in which the group goes over them
//   $halo_pixels    pixels of the halo's columns
//   $from           the first column of the image that the block reads
//   $bytes          of a pixel
//   $loaded         words
//   $constant       whether what lies outside the image is one
//   $own_byte       of the block in its row
//   $first_at       of the window's first pixel
//   $fill           what lies outside, as a word
//   $apart          between rows that share words
//   $first          the block's first pixel in a row of its window
//   $margin         pixels of that row that are not read
//   $border_rows    whether the row pass of rows outside the image is a constant
//   $asked          whether the kernel asks for the tile's memory
//   $any_beside     whether vectors are left at the right of the first 32
//   $goes_on        whether a group makes one block after the other
//   $to_height      of the result
//   $folded         what runs have given
//   $stored         of the result
//   $skips          whether rows below the image are not made
//   $lines          rows of packed windows
//   $last           of them, before the first row of results
//   $some           whether a window has fewer rows than others
//   $three          whether an instruction takes three values
//   $weight_vectors  of a mask

FUNCTION uint word_a(GLOBAL const uchar* $image, const int x, const int y) {
  // -- part: word(expr height, expr width, expr row, expr fill)
  // Four bytes of a row from x on; those outside the image are the border's.
  const uint inside = y < 0 || y >= $height ? 0u : bytes_inside(x, $width);
  const int from = smaller(larger(x, 0), ($width - 1) / 4 * 4);
  return (*(GLOBAL const uint*)($row + from) & inside) | ($fill & ~inside);
  // -- end
}

KERNEL(256) void points(GLOBAL const uchar* $image) {
  // -- part: points(type word, name name, int count, stmt tables, expr left, expr top, int wide,
  //    expr width, int rows, expr height, stmt unroll, int times, int items, int vectors,
  //    int across, int px, stmt make, stmt keep, name rule = replicate, stmt keep_edge,
  //    type element, int halo_pixels, int reach, int reach_left, expr outside)
  // Vectors of the tile go over the group's work-items; in a group that lies inside the image with
  // all of its tile none of them is tested. Columns outside the image are then copied from inside,
  // by the border's rule, or get its value, and so do rows.
  LOCAL $word $name[$count];
  $tables
  {
    const int left = $left, top = $top;
    if (left >= 0 && left + $wide <= $width && top >= 0 && top + $rows <= $height) {
      $unroll
      for (int i = 0; i < $times; ++i) {
        const int vector = i * $items + ITEM;
        if (vector < $vectors) {
          const int x0 = left + vector % $across * $px, y0 = top + vector / $across, whole = 1;
          const int y = y0, x_load = x0, r = 0;
          $make
          $keep
        }
      }
    } else {
      for (int vector = ITEM; vector < $vectors; vector += $items) {
        const int x0 = left + vector % $across * $px, row = top + vector / $across;
        const int y0 = $rule(row, $height), whole = x0 + $px <= $width;
        if (x0 >= 0 && x0 < $width) {
          const int y = y0, x_load = x0, r = 0;
          $make
          $keep_edge
        }
      }
    }
    BARRIER;
    if (left < 0 || left + $wide > $width) {
      IN_LOCAL $element* const pixels = (IN_LOCAL $element*)$name;
      for (int k = ITEM; k < $halo_pixels; k += $items) {
        const int j = k % $reach, x = j < $reach_left ? j - $reach_left : $width + j - $reach_left;
        IN_LOCAL $element* const row = pixels + k / $reach * $wide - left;
        if (x >= left && x < left + $wide) row[x] = $outside;
      }
    }
  }
  BARRIER;
  // -- end
}

KERNEL(256) void moved(GLOBAL const uchar* $image) {
  const int x_load = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  uint $words[$py * $words_a_row];
  // -- part: moved(expr from, int bytes, expr stride, bool constant, int px, expr width,
  //    int loaded, expr inside_rows, stmt unroll, int py, expr moved_row, bool of_floats,
  //    int words_a_row, name words, expr column, type pixel = uchar, int per_word,
  //    expr moved_pixel, int bits)
  // Rows of the image from any byte on. A block that reaches outside is read pixel by pixel, from
  // columns that are found once for all its rows.
  const int from = $from;
  const int first = from * $bytes, word = first >> 2;
  const int words = (int)($stride * $bytes / 4);
#if $constant
  if (from >= 0 && from + $px <= $width && word + $loaded <= words &&
      $inside_rows) {
#else
  if (from >= 0 && from + $px <= $width && word + $loaded <= words) {
#endif
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const uint* const line = (GLOBAL const uint*)($moved_row) + word;
#if $of_floats
      $unroll
      for (int k = 0; k < $words_a_row; ++k) $words[r * $words_a_row + k] = line[k];
#else
      const int shift = (first & 3) * 8;
      uint low = line[0];
      $unroll
      for (int k = 0; k < $words_a_row; ++k) {
        const uint high = line[k + 1];
        $words[r * $words_a_row + k] = SHIFTED_WORD(low, high, shift);
        low = high;
      }
#endif
    }
  } else {
    int columns[$px];
    $unroll
    for (int i = 0; i < $px; ++i) {
      const int x = from + i;
      columns[i] = $column;
    }
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const $pixel* const line = $moved_row;
      $unroll
      for (int k = 0; k < $words_a_row; ++k) {
        uint packed = 0;
        $unroll
        for (int j = 0; j < $per_word; ++j) {
          const int place = columns[k * $per_word + j];
          packed |= $moved_pixel << ($bits * j);
        }
        $words[r * $words_a_row + k] = packed;
      }
    }
  }
  // -- end
}

KERNEL(256) void packed_tile(GLOBAL const uchar* $image) {
  // -- part: packed_tile(name own, int tile_count, int group_x, int halo, int group_y, int up,
  //    int wide, expr width, int rows, int apart, expr height, stmt unroll, int times, int items,
  //    int tile_across, expr inside, expr inside_apart, expr edge, expr edge_apart)
  // The group's bytes with their halo, those of two rows in the 16-bit halves of words.
  LOCAL uint4 tile_$own[$tile_count];
  {
    const int left = GROUP_X * $group_x - $halo, top = GROUP_Y * $group_y - $up;
    const int within = left >= 0 && left + $wide <= $width && top >= 0 &&
                       top + $rows + $apart <= $height;
    $unroll
    for (int i = 0; i < $times; ++i) {
      const int k = i * $items + ITEM, row = k / $tile_across, vector = k % $tile_across;
      if (k < $tile_count) {
        uint a, b;
        if (within) {
          a = *(GLOBAL const uint*)($inside + left + 4 * vector);
          b = *(GLOBAL const uint*)($inside_apart + left + 4 * vector);
        } else {
          a = $edge;
          b = $edge_apart;
        }
        uint4 v;
        v.x = PACKED_BYTES(a, b, 0);
        v.y = PACKED_BYTES(a, b, 1);
        v.z = PACKED_BYTES(a, b, 2);
        v.w = PACKED_BYTES(a, b, 3);
        tile_$own[k] = v;
      }
    }
  }
  BARRIER;
  // -- end
  // -- part: walk_packed(name own, int sums, stmt unroll, expr nothing, int tall, int line,
  //    int half, int tile_across, stmt step)
  // Row after row of the packed tile into the extrema of all the block's pixels.
  uint sums_$own[$sums];
  $unroll
  for (int k = 0; k < $sums; ++k) sums_$own[k] = $nothing;
  $unroll
  for (int row = 0; row < $tall; ++row) {
    uint line[$line];
    $unroll
    for (int i = 0; i < $line / 4; ++i) {
      const uint4 v = tile_$own[(ITEM / 32 * $half + row) * $tile_across + ITEM % 32 + i];
      line[4 * i] = v.x;
      line[4 * i + 1] = v.y;
      line[4 * i + 2] = v.z;
      line[4 * i + 3] = v.w;
    }
    $step
  }
  // -- end
}

KERNEL(256) void windows(GLOBAL const uchar* $image, const int interior) {
  const int x0 = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  // -- part: window(type type, name own, int window_count, type pixel, name plane,
  //    expr window_row = $image + (long)(y0 - 1) * $stride, int first, stmt unroll,
  //    int window_rows, stmt load_row, expr stride, int reach_wide, int window_wide, int margin,
  //    expr window_edge)
  // A window of the image in registers, by wide loads where all of it lies inside.
  $type w_$own[$window_count];
  if (interior) {
    $pixel raw_$plane[$window_count];
    GLOBAL const $pixel* row_of_raw_$plane = $window_row + x0 - $first;
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $load_row
      row_of_raw_$plane += $stride;
    }
    $unroll
    for (int k = 0; k < $window_count; ++k) w_$own[k] = ($type)raw_$plane[k];
  } else {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $unroll
      for (int i = 0; i < $reach_wide; ++i)
        w_$own[r * $window_wide + $margin + i] = $window_edge;
    }
  }
  // -- end
  // -- part: both_passes(name own, int column_count, stmt unroll, int window_rows, stmt row_sums,
  //    bool border_rows, int up, int below, expr height, int px, expr outside_value)
  // The row pass of the window's rows; outside the image it is the border's value, not sums of it.
  float rows_$own[$column_count];
  $unroll
  for (int r = 0; r < $window_rows; ++r) {
    $row_sums
  }
#if $border_rows
  if (y0 < $up || y0 + $below > $height) {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      if (y0 + r - $up < 0 || y0 + r - $up >= $height) {
        $unroll
        for (int k = 0; k < $px; ++k) rows_$own[r * $px + k] = $outside_value;
      }
    }
  }
#endif
  // -- end
}

KERNEL(256) void columns(GLOBAL const float* $image, const int interior) {
  const int x0 = GROUP_X * 32 * $px + ITEM, y0 = GROUP_Y * $py;
  // -- part: columns(name own, int column_count, stmt unroll, int window_rows, expr window_row,
  //    stmt load_columns, int px, expr window_edge)
  // A window of the plane that the row pass has made.
  float w_$own[$column_count];
  if (interior) {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      GLOBAL const float* const row = $window_row + x0;
      $load_columns
    }
  } else {
    $unroll
    for (int r = 0; r < $window_rows; ++r) {
      $unroll
      for (int i = 0; i < $px; ++i) {
        w_$own[r * $px + i] = $window_edge;
      }
    }
  }
  // -- end
}

KERNEL(256) void tile(GLOBAL const uchar* $image) {
  // -- part: local_weights(name own, int weight_vectors, int items,
  //    expr weights_of_image = ((GLOBAL const float*)$image))
  // The mask's weights, rows of whole vectors.
  LOCAL float4 weights_$own[$weight_vectors];
  for (int k = ITEM; k < $weight_vectors; k += $items) {
    float4 w;
    w.x = $weights_of_image[4 * k];
    w.y = $weights_of_image[4 * k + 1];
    w.z = $weights_of_image[4 * k + 2];
    w.w = $weights_of_image[4 * k + 3];
    weights_$own[k] = w;
  }
  // -- end
  // -- part: tile(bool asked, type vector = float4, name own, int tile_vectors, expr left,
  //    expr top, int wide, expr width, int rows, expr height, stmt fill_inside, stmt fill_edge)
  // The group's pixels with their halo, in vectors of four.
#if $asked
  DYNAMIC_LOCAL($vector, tile_$own, $tile_vectors);
#else
  LOCAL $vector tile_$own[$tile_vectors];
#endif
  {
    const int left = $left, top = $top;
    if (left >= 0 && left + $wide <= $width && top >= 0 && top + $rows <= $height) {
      $fill_inside
    } else {
      $fill_edge
    }
  }
  BARRIER;
  // -- end
  const int left = $left, top = $top;
  // -- part: fill(bool any_beside, type vector, int beside_turns, stmt unroll, int items,
  //    int left_over, int across, int halo_pixels,
  //    stmt four = float4 v; v.x = v.y = v.z = v.w = (float)(left + top);, int times, int down,
  //    int rows, name own)
  // Work-items go over the rows 32 vectors at a time. What is left at the right is loaded before
  // that and stored after it, so that everything is on its way at once.
#if $any_beside
  $vector beside[$beside_turns];
  $unroll
  for (int t = 0; t < $beside_turns; ++t) {
    const int i = ITEM + t * $items, row = i / $left_over, vector = 32 + i % $left_over,
              k = row * $across + vector;
    if (i < $halo_pixels) {
      $four
      beside[t] = v;
    }
  }
#endif
  $unroll
  for (int i = 0; i < $times; ++i) {
    const int row = i * $down + ITEM / 32, vector = ITEM % 32, k = row * $across + vector;
    if (row < $rows) {
      $four
      tile_$own[k] = v;
    }
  }
#if $any_beside
  $unroll
  for (int t = 0; t < $beside_turns; ++t) {
    const int i = ITEM + t * $items, row = i / $left_over, vector = 32 + i % $left_over,
              k = row * $across + vector;
    if (i < $halo_pixels) {
      tile_$own[k] = beside[t];
    }
  }
#endif
  // -- end
  const int row = ITEM / 32, vector = ITEM % 32;
  {
    // -- part: four_inside(type pixel, stmt load_four, type vector)
    // Four pixels of a tile that lies inside the image,
    $pixel from[4];
    $load_four
    $vector v;
    v.x = from[0];
    v.y = from[1];
    v.z = from[2];
    v.w = from[3];
    // -- end
  }
  {
    // -- part: four_edge(type vector, expr edge_x, expr edge_y, expr edge_z, expr edge_w)
    // or of any.
    $vector v;
    v.x = $edge_x;
    v.y = $edge_y;
    v.z = $edge_z;
    v.w = $edge_w;
    // -- end
  }
  // -- part: walk(type type, name own, int sums, stmt unroll, expr nothing, stmt row_unroll,
  //    int tall, int line, int line_vectors, type vector, int py, int across, stmt step_of_sums)
  // Row after row of the tile into the results of all the block's pixels.
  $type sums_$own[$sums];
  $unroll
  for (int k = 0; k < $sums; ++k) sums_$own[k] = $nothing;
  {
    $type* const sums = sums_$own;
    $row_unroll
    for (int row = 0; row < $tall; ++row) {
      $type line[$line];
      $unroll
      for (int i = 0; i < $line_vectors; ++i) {
        const $vector v = tile_$own[(ITEM / 32 * $py + row) * $across + ITEM % 32 + i];
        line[4 * i] = v.x;
        line[4 * i + 1] = v.y;
        line[4 * i + 2] = v.z;
        line[4 * i + 3] = v.w;
      }
      $step_of_sums
    }
  }
  // -- end
}

KERNEL(256) void blocks(GLOBAL const uchar* $image) {
  // -- part: blocks(stmt first_tables, int px, expr width, bool loads_ahead, stmt load_arrays,
  //    bool goes_on, expr first_row, stmt loads, stmt tables, expr to_height, stmt block,
  //    int group_rows)
  // A block for each work-item. Groups that make tables have several blocks each; the first pixels
  // are on their way while the tables are made.
  $first_tables
  const int x0 = (GROUP_X * 32 + ITEM % 32) * $px;
  const int whole = x0 + $px <= $width;
#if $loads_ahead
  const int x_load = smaller(x0, ($width - 1) / $px * $px);
  $load_arrays
#endif
#if $goes_on
  int block = GROUP_Y, y0 = $first_row;
  $loads
  $tables
  for (;;) {
    if (x0 >= $width || y0 >= $to_height) break;
    $block
    block += GROUPS_Y;
    y0 = $first_row;
    if (block * $group_rows >= $to_height) break;
    $loads
  }
#else
  const int y0 = $first_row;
  if (x0 >= $width || y0 >= $to_height) return;
  $loads
  $block
#endif
  // -- end
}

KERNEL(256) void table(GLOBAL const uchar* $image) {
  // -- part: table(type type, name table, stmt unroll, int table_turns, int items, int codes,
  //    expr entry)
  // What a point makes of each code.
  LOCAL $type $table[256];
  $unroll
  for (int i = 0; i < $table_turns; ++i) {
    const int code = i * $items + ITEM;
    if (code < $codes) $table[code] = $entry;
  }
  BARRIER;
  // -- end
  const int x0 = GROUP_X * $px, y0 = GROUP_Y * $py;
  // -- part: interior(int interior_left, int interior_right, expr width, int interior_up,
  //    int interior_down, expr to_height)
  // Whether the block's windows lie inside the image, with all that wide loads reach.
  const int interior = x0 >= $interior_left && x0 + $interior_right <= $width &&
                       y0 >= $interior_up && y0 + $interior_down <= $to_height;
  // -- end
}

FUNCTION void rows_of_blocks(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  // -- part: rows(stmt unroll, int py, bool skips, expr to_height, stmt make_row,
  //    type stored = uchar, expr to_row = $image + (long)y * $stride, stmt store, stmt other_rows)
  // Row after row of a block. Rows below the image are made too where that reads nothing: without a
  // branch the compiler orders all rows' work.
  $unroll
  for (int r = 0; r < $py; ++r) {
    const int y = y0 + r;
#if $skips
    if (y >= $to_height) continue;
    $make_row
    GLOBAL $stored* const row = $to_row + x0;
    $store
#else
    GLOBAL $stored* const row = $to_row + x0;
    $make_row
    $store
#endif
    $other_rows
  }
  // -- end
  const int y = y0;
  GLOBAL uchar* const row = $to_row + x0;
  // -- part: store_beside(type stored, expr to_row, stmt store)
  // The row of another plane that the block makes.
  {
    GLOBAL $stored* const row = $to_row + x0;
    $store
  }
  // -- end
  // -- part: store_inside(expr to_height, stmt store)
  // No row is stored below the image.
  if (y < $to_height) {
    $store
  }
  // -- end
  // -- part: pack_row(int quads, stmt unroll, name array = made)
  // Four bytes a word.
  uint packed[$quads];
  $unroll
  for (int q = 0; q < $quads; ++q) packed[q] = FIRST_BYTES($array + 4 * q);
  // -- end
}

FUNCTION void pairs_of_rows(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  uint packed[32], packed_$own[32];
  // -- part: pairs(type stored, expr first_to_row = $image + (long)y0 * $stride, int rows_apart,
  //    expr to_stride, stmt unroll, int lines, stmt packed_rows, int last, stmt pair,
  //    stmt rows_of_pair)
  // Row after row of packed windows; rows r and r + py/2 of the block as soon as theirs are there.
  GLOBAL $stored* rows[2];
  rows[0] = $first_to_row + x0;
  rows[1] = rows[0] + $rows_apart * $to_stride;
  $unroll
  for (int line = 0; line < $lines; ++line) {
    $packed_rows
    if (line >= $last) {
      const int r = line - $last;
      $pair
      $rows_of_pair
    }
  }
  // -- end
  const int line = x0;
  // -- part: packed_row(int above, bool some, int count, stmt make_packed_row)
  // A row of a window.
  {
    const int row = line - $above;
#if $some
    if (row >= 0 && row < $count) {
      $make_packed_row
    }
#else
    $make_packed_row
#endif
  }
  // -- end
  const int r = 0;
  // -- part: rows_of_pair(stmt unroll, int rows_apart, type stored, expr to_stride, bool skips,
  //    expr to_height, stmt make_row, stmt store)
  // The two rows of a pair.
  $unroll
  for (int two = 0; two < 2; ++two) {
    const int y = y0 + r + two * $rows_apart;
    GLOBAL $stored* const row = rows[two];
    rows[two] += $to_stride;
#if $skips
    if (y >= $to_height) continue;
    $make_row
    $store
#else
    $make_row
    $store
#endif
  }
  // -- end
}

FUNCTION void quick_rows(GLOBAL uchar* $image, const int x0, const int y0) {
  uchar made[32];
  // -- part: by_reciprocals(int py, expr to_height, stmt ones, type stored, int all, stmt unroll,
  //    stmt make_row, int px, name array, expr quick_row = $image + (long)(y0 + r) * $stride,
  //    stmt store_all)
  // Quotients by reciprocals, if all of this block turn out to be exact.
  if (y0 + $py <= $to_height $ones) {
    $stored all[$all];
    struct Quotients quotients;
    quotients.least = 0xffffffffu;
    quotients.sum = 0.0f;
    $unroll
    for (int r = 0; r < $py; ++r) {
      const int y = y0 + r;
      $make_row
      $unroll
      for (int k = 0; k < $px; ++k) all[r * $px + k] = $array[k];
    }
    if (all_exact(&quotients)) {
      $unroll
      for (int r = 0; r < $py; ++r) {
        GLOBAL $stored* const row = $quick_row + x0;
        $store_all
      }
      return;
    }
  }
  // -- end
}

FUNCTION uchar row_of_words(GLOBAL const uchar* $image, const int x0, const int y, const int r) {
  const int y0 = y - r, x_load = x0;
  {
    // -- part: words_ahead(expr words_of_row = words, int all_words)
    // Words of the next block.
    uint $words_of_row[$all_words];
    // -- end
    // -- part: load_words_ahead(stmt unroll, int py, expr own_row_ahead, stmt load_words)
    // All rows of a block, as words.
    $unroll
    for (int r = 0; r < $py; ++r) {
      GLOBAL const uchar* const from = (GLOBAL const uchar*)($own_row_ahead + x_load);
      $load_words
    }
    // -- end
  }
  // -- part: load_words(expr words_of_row, int word_count,
  //    expr own_row = $image + (long)y * $stride, stmt load_words)
  // Bytes as words: an instruction takes a byte out of one.
  uint $words_of_row[$word_count];
  {
    GLOBAL const uchar* const from = $own_row + x0;
    $load_words
  }
  // -- end
  {
    // -- part: bytes_of_words(name name, int px, stmt unroll,
    //    expr place_of_words = (words + r * 2))
    // A byte a pixel.
    uchar $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = (uchar)BYTE_OF($place_of_words[k / 4], k % 4);
    // -- end
  }
  {
    // -- part: halves_of_words(name name, int px, stmt unroll, expr place_of_words)
    // Two 16-bit pixels a word.
    ushort $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) {
      $name[k] = (ushort)($place_of_words[k / 2] >> (16 * (k % 2)) & 0xffffu);
    }
    // -- end
  }
  // -- part: load_row_of_pixels(type pixel, name name, int px, expr own_row, stmt load_pixels)
  // A row of the image.
  $pixel $name[$px];
  GLOBAL const $pixel* const from_$name = $own_row;
  $load_pixels
  // -- end
  return $name[0];
}

FUNCTION void moved_rows(const int r) {
  // -- part: words_moved(name words, int all_words)
  // Words from where the pixels come.
  uint $words[$all_words];
  // -- end
  uint words[16];
  for (int k = 0; k < $all_words; ++k) words[k] = $words[k] = (uint)k;
  {
    // -- part: floats_moved(type pixel, name name, int px, stmt unroll, expr moved_word)
    // The words are the pixels.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = BITS_FLOAT($moved_word);
    // -- end
  }
  {
    // -- part: shorts_moved(type pixel, name name, int px, stmt unroll, expr moved_word,
    //    expr in_word)
    // Two pixels a word.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = (ushort)($moved_word >> ($in_word) * 16);
    // -- end
  }
  // -- part: bytes_moved(type pixel, name name, int px, stmt unroll, expr moved_word, expr in_word)
  // Four pixels a word.
  $pixel $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = (uchar)BYTE_OF($moved_word, $in_word);
  // -- end
  // -- part: words_turned(name name, int words_a_row, stmt unroll, expr words_of_row,
  //    int last_word)
  // The words of a row that is read backwards.
  uint turned_$name[$words_a_row];
  $unroll
  for (int q = 0; q < $words_a_row; ++q)
    turned_$name[q] = CHOSEN_BYTES($words_of_row[$last_word - q], 0x0123u);
  // -- end
}

FUNCTION void word_windows(GLOBAL const uchar* $image, const int x0, const int y0,
                           const int interior, const int whole) {
  // -- part: words_window(name words_array = words, int words_count,
  //    expr top_row = $image + (long)(y0 - 1) * $stride, expr own_byte, stmt unroll, int word_rows,
  //    stmt load_word_row, expr stride, expr row_bytes, int first_byte, stmt words_at_edge)
  // Rows of bytes around the block as words.
  uint $words_array[$words_count];
  if (interior) {
    GLOBAL const uchar* row = $top_row + $own_byte;
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      $load_word_row
      row += $stride;
    }
  } else {
    const int count = $row_bytes, at = $own_byte - $first_byte;
    $words_at_edge
  }
  // -- end
  const int count = $width, at = x0 - $first_byte;
  {
    // -- part: words_filled(int row_words, stmt unroll, int word_rows,
    //    expr edge_row = $image + (long)$rule($word_y, $height) * $stride, expr word_y,
    //    expr height, name words_array, expr fill)
    // What lies outside has a value. Rows outside are read from inside all the same: every load is
    // independent of the others.
    int from[$row_words];
    uint inside[$row_words];
    $unroll
    for (int w = 0; w < $row_words; ++w) {
      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);
      inside[w] = bytes_inside(at + 4 * w, count);
    }
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row;
      const int outside = $word_y < 0 || $word_y >= $height;
      $unroll
      for (int w = 0; w < $row_words; ++w) {
        const uint keep = outside ? 0u : inside[w];
        $words_array[r * $row_words + w] =
            (*(GLOBAL const uint*)(row + from[w]) & keep) | ($fill & ~keep);
      }
    }
    // -- end
  }
  {
    // -- part: words_repeated(int row_words, stmt unroll, name repeated = places_repeated,
    //    int word_rows, expr edge_row, name words_array)
    // Outside are the pixels at the edge.
    int from[$row_words];
    uint places[$row_words];
    $unroll
    for (int w = 0; w < $row_words; ++w) {
      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);
      places[w] = $repeated(at + 4 * w, count);
    }
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row;
      $unroll
      for (int w = 0; w < $row_words; ++w)
        $words_array[r * $row_words + w] =
            CHOSEN_BYTES(*(GLOBAL const uint*)(row + from[w]), places[w]);
    }
    // -- end
  }
  // -- part: words_by_rule(stmt unroll, int word_rows, expr edge_row, expr own_byte,
  //    stmt load_own_words, stmt gather_left, stmt gather_right, stmt gather_all)
  // Outside are pixels by the border's rule; the block's own are loaded as words if they can be.
  if (whole) {
    $unroll
    for (int r = 0; r < $word_rows; ++r) {
      GLOBAL const uchar* const row = $edge_row + $own_byte;
      $load_own_words
    }
    $gather_left
    $gather_right
  } else {
    $gather_all
  }
  // -- end
  // -- part: words_gathered(int begin, int gathered, stmt unroll, name rule, expr first_at,
  //    expr width, int word_rows, type pixel, expr edge_pixels, stmt gather)
  // Words of single pixels, by the border's rule.
  int at_$begin[$gathered];
  $unroll
  for (int k = 0; k < $gathered; ++k) at_$begin[k] = $rule($first_at + k + $begin, $width);
  $unroll
  for (int r = 0; r < $word_rows; ++r) {
    GLOBAL const $pixel* const row = $edge_pixels;
    $gather
  }
  // -- end
}

FUNCTION void packed_windows(const int row) {
  uint words[64], packed_$own[64], shorter[64];
  for (int i = 0; i < 64; ++i) words[i] = shorter[i] = (uint)i;
  // -- part: packed_window_row(bool in_local, name own, int row_words, stmt unroll,
  //    name words_array, expr local_word, int half_apart, int packed_width,
  //    name packed_bytes = PACKED_BYTES, expr first_word, expr second_word, expr byte,
  //    int per_word)
  // Codes of two rows in the halves of words.
#if $in_local
  uint first_$own[$row_words], second_$own[$row_words];
  $unroll
  for (int w = 0; w < $row_words; ++w) {
    first_$own[w] = $words_array[$local_word + w];
    second_$own[w] = $words_array[$local_word + $half_apart + w];
  }
#endif
  $unroll
  for (int e = 0; e < $packed_width; ++e)
    packed_$own[row * $packed_width + e] = $packed_bytes($first_word, $second_word, $byte % $per_word);
  // -- end
  // -- part: packed_run(name run = run2, int window_count)
  // Runs of elements side by side.
  uint $run[$window_count];
  // -- end
  // -- part: packed_run_row(stmt unroll, int run_columns, bool three, name run, int packed_width,
  //    name better = larger, name shorter = shorter, int apart_by, int middle_by)
  // Extremes of several elements side by side, of those of fewer.
  $unroll
  for (int e = 0; e < $run_columns; ++e)
#if $three
    $run[row * $packed_width + e] =
        $better($better($shorter[row * $packed_width + e + 0],
                        $shorter[row * $packed_width + e + $apart_by]),
                $shorter[row * $packed_width + e + $middle_by]);
#else
    $run[row * $packed_width + e] = $better($shorter[row * $packed_width + e + 0],
                                            $shorter[row * $packed_width + e + $apart_by]);
#endif
  // -- end
}

FUNCTION uchar rows_of_windows(const int r) {
  float shorter[60], window[60];
  const int k_first = r;
  // -- part: run(type type, name run, int window_count, stmt unroll, int run_count, name better,
  //    name shorter, int apart_by)
  // Extremes of several elements side by side, of those of fewer.
  $type $run[$window_count];
  $unroll
  for (int k = 0; k < $run_count; ++k) $run[k] = $better($shorter[k], $shorter[k + $apart_by]);
  // -- end
  // -- part: row_of_runs(type pixel, name name, int px, stmt unroll, type type, expr nothing,
  //    stmt folds, expr folded)
  // The best of the mask's runs.
  $pixel $name[$px];
  $unroll
  for (int i = 0; i < $px; ++i) {
    const int k = i;
    $type best = $nothing;
    $folds
    $name[k] = ($pixel)$folded;
  }
  // -- end
  return $name[k_first];
}

FUNCTION float rows_of_tiles(const int row, IN_LOCAL const float4* const weights_$own) {
  float line[32], sums[32], shorter[32];
  // -- part: run_of_line(type type, name run, int line, stmt unroll, int run_count, bool three,
  //    name better, name shorter, int apart_by, int middle_by)
  // Extremes of several elements side by side, of those of fewer.
  $type $run[$line];
  $unroll
  for (int i = 0; i < $run_count; ++i)
#if $three
    $run[i] = $better($better($shorter[i + 0], $shorter[i + $apart_by]), $shorter[i + $middle_by]);
#else
    $run[i] = $better($shorter[i + 0], $shorter[i + $apart_by]);
#endif
  // -- end
  // -- part: step_of_mask(stmt unroll, int sum_rows, stmt mask_rows)
  // A row of the tile is another row of the mask for each row of the block.
  $unroll
  for (int r = 0; r < $sum_rows; ++r) {
    $mask_rows
  }
  // -- end
  const int r = 0, of_mask = row;
  // -- part: weigh_row(int mask_row)
  // A row of the mask.
  if (row - r == $mask_row) {
    // -- part: weigh_pixels(stmt unroll, int px, expr sum_of_pixel = sums[r * 8 + i],
    //    stmt taps_of_row)
    // Adds the taps to the sum of each pixel.
    $unroll
    for (int i = 0; i < $px; ++i) {
      float sum = $sum_of_pixel;
      $taps_of_row
      $sum_of_pixel = sum;
    }
    // -- end
  }
  // -- end
  // -- part: roll_rows(stmt unroll, int sum_rows, int mask_tall, stmt sets, stmt fours)
  // A row of the tile is another row of the mask for each row of the block.
  $unroll
  for (int r = 0; r < $sum_rows; ++r) {
    const int of_mask = row - r;
    if (of_mask >= 0 && of_mask < $mask_tall) {
      $sets
      $fours
    }
  }
  // -- end
  // -- part: weigh_four(name own, int fours_a_row, int four_of_row)
  // Four columns of the mask.
  {
    const float4 w = weights_$own[of_mask * $fours_a_row + $four_of_row];
    $weigh_pixels
  }
  // -- end
  // -- part: fold_row(int mask_row, stmt unroll, int px, type type, expr sum_of_pixel,
  //    stmt folds_of_row)
  // Runs of a row of the mask.
  if (row - r == $mask_row) {
    $unroll
    for (int i = 0; i < $px; ++i) {
      $type best = $sum_of_pixel;
      $folds_of_row
      $sum_of_pixel = best;
    }
  }
  // -- end
  return line[0] + sums[0] + run2[0];
}

FUNCTION uchar rows_of_sums(const int r) {
  float sums_$own[32];
  uint both[16], made_$own[16];
  {
    // -- part: packed_of_sums(name own, int px, stmt unroll)
    // A row of packed pixels, as the walk has found it.
    uint made_$own[$px];
    $unroll
    for (int k = 0; k < $px; ++k) made_$own[k] = sums_$own[r * $px + k];
    // -- end
  }
  {
    // -- part: packed_pixels(name own, int px, stmt make_pixels)
    // A row of packed pixels.
    uint made_$own[$px];
    $make_pixels
    // -- end
  }
  const int two = r;
  // -- part: words_of_packed(name own, int half_px, stmt unroll, int quarter)
  // Both rows as words.
  uint word_$own[$half_px];
  $unroll
  for (int q = 0; q < $quarter; ++q)
    rows_of_packed(made_$own + 4 * q, &word_$own[q], &word_$own[$quarter + q]);
  // -- end
  {
    // -- part: words_of_packed_halves(name own, int px, stmt unroll, int half_px)
    // Both rows as words of two pixels.
    uint word_$own[$px];
    $unroll
    for (int q = 0; q < $half_px; ++q) {
      word_$own[q] = LOW_HALVES(made_$own[2 * q], made_$own[2 * q + 1]);
      word_$own[$half_px + q] = HIGH_HALVES(made_$own[2 * q], made_$own[2 * q + 1]);
    }
    // -- end
  }
  // -- part: row_of_packed(type pixel, name name, int px, stmt unroll, name own)
  // Unpacks row `two` (0 or 1) of a pair whose pixels share 32-bit words.
  $pixel $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = ($pixel)(made_$own[k] >> (16 * two));
  // -- end
  return $name[0] + (uchar)both[0] + (uchar)word_$own[0];
}

FUNCTION uchar rows_of_codes(const int two, const int r) {
  uint words[64];
  {
    // -- part: both_rows(type both_type, name both, int two_px, stmt make_both)
    // The sums of both rows, then the rest of the body for each of them.
    $both_type $both[$two_px];
    $make_both
    // -- end
  }
  {
    float both[16];
    // -- part: row_of_both(type pixel, name name, int px, stmt unroll, expr of_both)
    // One of the two rows, from floats.
    $pixel $name[$px];
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = $of_both;
    // -- end
  }
  // -- part: means(name own, int packed_width, int two_px, stmt unroll, name packed_window = words,
  //    int px, int first)
  // The means of both rows: sums of columns, then of three of those.
  uint columns_$own[$packed_width], codes_$own[$two_px];
  $unroll
  for (int e = 0; e < $packed_width; ++e)
    columns_$own[e] = $packed_window[(r + 0) * $packed_width + e] +
                      $packed_window[(r + 1) * $packed_width + e] +
                      $packed_window[(r + 2) * $packed_width + e];
  $unroll
  for (int i = 0; i < $px; ++i) {
    const int k = i;
    const uint sum = columns_$own[$first + (i + -1)] + columns_$own[$first + (i + 0)] +
                     columns_$own[$first + (i + 1)];
    codes_$own[k] = FLOAT_BITS(fma(LOW_HALF_FLOAT(sum), 0.111114501953125f, 7456512.0f));
    codes_$own[$px + k] = FLOAT_BITS(fma(HIGH_HALF_FLOAT(sum), 0.111114501953125f, 7456512.0f));
  }
  // -- end
  uint codes[16];
  for (int k = 0; k < 16; ++k) codes[k] = codes_$own[k];
  // -- part: words_of_codes(name coded = codes, int half_px, stmt unroll,
  //    name bytes_of = FIRST_BYTES)
  // Both rows as words, of a byte of each code.
  uint word_$coded[$half_px];
  $unroll
  for (int q = 0; q < $half_px; ++q) word_$coded[q] = $bytes_of($coded + 4 * q);
  // -- end
  // -- part: row_of_codes(name name, int px, stmt unroll, name coded, stmt shift)
  // One of the two rows.
  uchar $name[$px];
  $unroll
  for (int k = 0; k < $px; ++k) $name[k] = (uchar)($coded[two * $px + k]$shift);
  // -- end
  return $name[0] + (uchar)word_$coded[0];
}

FUNCTION float windows_of_points(IN_LOCAL const float4* points) {
  // -- part: window_of_points(type type, name window = window, int window_count, stmt unroll,
  //    int window_rows, int quads, type vector, name points = points, expr place_in_tile,
  //    stmt elements)
  // A window of what points have made in local memory.
  $type $window[$window_count];
  $unroll
  for (int row = 0; row < $window_rows; ++row) {
    $unroll
    for (int q = 0; q < $quads; ++q) {
      const $vector v = $points[$place_in_tile + q];
      $elements
    }
  }
  // -- end
  const int row = 0, y0 = 1;
  uchar made[8];
  // -- part: row_outside(stmt unroll, int px, name array, expr code_outside)
  // Rows outside have a value.
  if (row != y0) {
    $unroll
    for (int k = 0; k < $px; ++k) $array[k] = $code_outside;
  }
  // -- end
  return $window[0];
}

FUNCTION int ranks(const int r) {
  float window[60], sorted[30], result[16];
  // -- part: keys(name own, int window_count, stmt unroll, name window)
  // Floats as whole numbers in their order.
  int keys_$own[$window_count];
  $unroll
  for (int k = 0; k < $window_count; ++k) keys_$own[k] = signed_key_of_single($window[k]);
  // -- end
  {
    // -- part: ranked_row(type pixel, name name, int px, stmt ranks_of_window)
    // A rank of each window.
    $pixel $name[$px];
    $ranks_of_window
    // -- end
  }
  {
    // -- part: row_of_keys(type pixel, name name, int px, name own, stmt ranks, stmt unroll)
    // Ranks of keys, as floats.
    $pixel $name[$px];
    int key_$own[$px];
    $ranks
    $unroll
    for (int k = 0; k < $px; ++k) $name[k] = one_zero(single_of_signed_key(key_$own[k]));
    // -- end
  }
  // -- part: shared_ranks(stmt steps_of_ranks, stmt ranks_of_windows)
  // Ranks of windows side by side; what they share is ordered once.
  {
    $steps_of_ranks
    $ranks_of_windows
  }
  // -- end
  {
    // -- part: rank_of_window(int k_of_window, expr result = result[k], expr of_window)
    // Of one of them.
    {
      const int k = $k_of_window;
      $result = $of_window;
    }
    // -- end
  }
  return keys_$own[0] + (int)result[0];
}
