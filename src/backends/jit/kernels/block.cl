// Blocks of pixels: a work-item makes several pixels side by side and below each other, from
// windows in registers, or from pixels that its group keeps in local memory.
#define $pixel uchar      // of the image
#define $width 900
#define $height 600
#define $stride 1024
#define $px 8             // pixels of a block, or of a vector that points make
#define $py 4
#define $items 256        // work-items of a group
#define $unroll
#define $rule replicate   // of the border
#define $row $image + (long)y * $stride
#define $word uint        // of a tile in local memory
#define $element uchar    // a pixel of it
#define $type float
#define $vector float4    // four of them
#define $name tile_a
#define $tables
#define $left GROUP_X * 256 - 4
#define $top GROUP_Y * 32 - 1
#define $up 1
#define $wide 264         // pixels of a tile with its halo
#define $rows 34
#define $count 2244
#define $vectors 1122     // that points make
#define $across 66        // of them in a row
#define $times 9          // turns in which the group goes over them
#define $make uchar made[8] = {(uchar)y0, (uchar)whole};
#define $keep tile_a[vector * 2] = FIRST_BYTES(made);
#define $keep_edge tile_a[vector * 2] = FIRST_BYTES(made) + (uint)(row - y0);
#define $beside 68        // pixels of the halo's columns
#define $reach 2
#define $reach_left 1
#define $outside row[$rule(x, $width)]
#define $from x_load      // the first column of the image that the block reads
#define $bytes 1          // of a pixel
#define $loaded 3         // words
#define $constant 1       // whether what lies outside the image is one
#define $inside_rows y0 >= 0 && y0 + $py <= $height
#define $load $words[r * $words_a_row] = SHIFTED_WORD(line[0], line[1], (first & 3) * 8);
#define $column replicate(x, $width)
#define $moved_row $image + (long)(y0 + r) * $stride
#define $per_word 4
#define $moved_pixel (uint)line[place]
#define $bits 8
#define $words words_a
#define $words_a_row 2
#define $fill 0u          // what lies outside, as a word
#define $tile_count 2448
#define $tile_across 36
#define $group_x 256
#define $group_y 64
#define $halo 4
#define $apart 32         // between rows that share words
#define $inside $image + (long)(top + row) * $stride
#define $inside_apart $image + (long)(top + row + $apart) * $stride
#define $edge word_a($image, left + 4 * vector, top + row)
#define $edge_apart word_a($image, left + 4 * vector, top + row + $apart)
#define $sums 32
#define $nothing 0u
#define $tall 6
#define $line 16
#define $half 4
#define $step sums_$own[0] += line[row];

FUNCTION uint word_a(GLOBAL const uchar* $image, const int x, const int y) {
  // -- part: word
  // Four bytes of a row from x on; those outside the image are the border's.
  const uint inside = y < 0 || y >= $height ? 0u : bytes_inside(x, $width);
  const int from = smaller(larger(x, 0), ($width - 1) / 4 * 4);
  return (*(GLOBAL const uint*)($row + from) & inside) | ($fill & ~inside);
  // -- end
}

KERNEL(256) void points(GLOBAL const uchar* $image) {
  // -- part: points
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
          $make
          $keep
        }
      }
    } else {
      for (int vector = ITEM; vector < $vectors; vector += $items) {
        const int x0 = left + vector % $across * $px, row = top + vector / $across;
        const int y0 = $rule(row, $height), whole = x0 + $px <= $width;
        if (x0 >= 0 && x0 < $width) {
          $make
          $keep_edge
        }
      }
    }
    BARRIER;
    if (left < 0 || left + $wide > $width) {
      IN_LOCAL $element* const pixels = (IN_LOCAL $element*)$name;
      for (int k = ITEM; k < $beside; k += $items) {
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
  // -- part: moved
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
      $load
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
  // -- part: packed_tile
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
  // -- part: walk_packed
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
