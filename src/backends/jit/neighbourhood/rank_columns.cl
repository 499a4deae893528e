// Ranks in windows of bytes under a mask of any shape, by a histogram for each work-item, which
// slides down a strip of rows (rank_histogram.cl). Of each column of the mask one cell enters and
// one leaves. Four rows of a column of the image are a word of a plane that is made first, with what
// is around the image: a word is loaded for four rows of the strip, and no border is asked for.
//   $width       of the image
//   $words_left  columns of the plane before the image's own, rows above them
//   $quads       rows of words
//   $row         of four

#define PLACE_OF_BYTE(word, k) times_byte(word, k, 1u, 0u)
#define FIELD_OF_BYTE(word, k) times_byte(word, k, 1u, 0u)
#define WORD_AT(place) (words + (place))

KERNEL(256) void make_words(GLOBAL uint* words_of_columns) {
  // -- part: words(expr words_stride, expr quads, int words_left, stmt unroll, int words_up,
  //    expr width, expr height, expr row_of_image, expr at, expr column_words = words_of_columns)
  // Words of four columns.
  const int x0 = (GROUP_X * 256 + ITEM) * 4;
  if (x0 < $words_stride) {
    for (int quad = GROUP_Y; quad < $quads; quad += GROUPS_Y) {
      const int x = x0 - $words_left;
      uint rows[4];
      $unroll
      for (int r = 0; r < 4; ++r) {
        const int y = 4 * quad + r - $words_up;
        if (x >= 0 && x + 4 <= $width && y >= 0 && y < $height) {
          rows[r] = *(GLOBAL const uint*)($row_of_image + x);
        } else {
          rows[r] = 0u;
          for (int k = 0; k < 4; ++k) rows[r] |= (uint)$at << (8 * k);
        }
      }
      uint columns[4];
      $unroll
      for (int k = 0; k < 4; ++k) {
        columns[k] = BYTE_OF(rows[0], k) | BYTE_OF(rows[1], k) << 8 | BYTE_OF(rows[2], k) << 16 |
                     BYTE_OF(rows[3], k) << 24;
      }
      uint4 four;
      four.x = columns[0];
      four.y = columns[1];
      four.z = columns[2];
      four.w = columns[3];
      *(GLOBAL uint4*)($column_words + (long)quad * $words_stride + x0) = four;
    }
  }
  // -- end
}

KERNEL(64) void rank_columns(GLOBAL uint* words_of_columns, GLOBAL uchar* bytes) {
  LOCAL uint words[256];
  const int x = ITEM, first = 0, last = $height;
  const int own = x;
  uint place = 0;
  int below = 0;
  // -- part: columns(expr column_words, expr words_stride, stmt all, stmt registers,
  //    stmt row_pointers, stmt first_words, stmt four_rows)
  // Begins with the window above the strip. Strips begin with a word.
  const uint own_place = (uint)(own * 4);
  GLOBAL const uint* from = $column_words + (long)(first / 4) * $words_stride + x;
  {
    GLOBAL const uchar* const bytes = (GLOBAL const uchar*)from;
    $all
  }
  $registers
  {
    $row_pointers
    $first_words
  }
  for (int y0 = first; y0 < last; y0 += 4) {
    $row_pointers
    $four_rows
    from += $words_stride;
  }
  // -- end
}

FUNCTION void row_of_columns(IN_LOCAL uint* words, const int y0, const int last,
                             const uint own_place, const uint place) {
  int below = 0;
  const uint enters_0 = 0u, leaves_0 = 0u;
  // -- part: row_of_columns(int row, expr high_times, stmt next_words, stmt kept_words,
  //    stmt output)
  // The words that the next row begins are loaded before its own cells are counted.
  {
    const int y = y0 + $row;
    const uint limit = own_place + place * $high_times;
    $next_words
    // -- part: count_column(name entering = enters_0, int entering_byte, name leaving = leaves_0,
    //    int leaving_byte)
    // What enters a column of the mask and what leaves it.
    {
      const uint in = PLACE_OF_BYTE($entering, $entering_byte);
      const uint out = PLACE_OF_BYTE($leaving, $leaving_byte);
      ADD_OWN(WORD_AT(in), 1u << FIELD_OF_BYTE($entering, $entering_byte));
      ADD_OWN(WORD_AT(out), 0xffffffffu << FIELD_OF_BYTE($leaving, $leaving_byte));
      below += (in < limit ? 1 : 0) - (out < limit ? 1 : 0);
    }
    // -- end
    $kept_words
    if (y < last) {
      $output
    }
  }
  // -- end
}
