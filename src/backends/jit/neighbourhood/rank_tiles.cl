// Ranks in windows over wide pixels: a group sorts a tile, so that values have places in an order.
// A work-item slides a window down a strip, with counts of its cells in runs of 32 places, and looks
// through the run that the rank is in.
//
// Large windows: blocks of 64x64 pixels are sorted once, of all images that are read. The windows of
// 64x64 results lie in some of these blocks, whose orders a group joins first.
//   $to_width       of the result
//   $single         whether keys have 32 bits and their cells an array of their own
//   $full           whether the mask is a rectangle
//   $origin_x       of the mask
//   $across         results of a tile
//   $strips         side by side in a group, one column each
//   $strip          rows
//   $average        whether the value at the next rank is wanted, too
//   $inside         whether the tile is inside the image
//   $sets           words, of which each bit is a cell of the mask
//   $blocks_across  of the blocks that the windows of 64x64 results read
//   $sliders        work-items that slide windows
//   $has_columns    whether columns of the mask are taken apart from its cells
//   $packed         whether bytes hold the row and the column of a cell
//   $by_bytes       and the mask is a rectangle
//   $set_words      of a row of the mask

// -- part: sort(name own, bool single, stmt unroll)
// Batcher's bitonic network on the values of a group, 32 a work-item: those whose numbers differ in
// five bits from `shift` on meet in registers. The bits of what has to go downward are turned, so
// that all go upward.
// A word is left out after 32, so that no two work-items of a sub-group meet in a bank.
#define PLACE(number) ((number) + ((number) >> 5))
struct Values_$own {
  uint keys[32];
#if $single
  uint cells[32];
#endif
};
FUNCTION void order_values_$own(struct Values_$own* v, const int a, const int b) {
  const uint first = v->keys[a], second = v->keys[b];
#if $single
  const uint cell = v->cells[a], other = v->cells[b];
  const int turn = second < first;
  v->cells[a] = turn ? other : cell;
  v->cells[b] = turn ? cell : other;
#endif
  v->keys[a] = first < second ? first : second;
  v->keys[b] = first < second ? second : first;
}
FUNCTION void turn_values_$own(struct Values_$own* v, const int turned) {
  const uint bits = turned != 0 ? 0xffffffffu : 0u;
  $unroll
  for (int j = 0; j < 32; ++j) v->keys[j] ^= bits;
}
FUNCTION void merge_values_$own(struct Values_$own* v, const int most) {
  $unroll
  for (int step = 16; step > 0; step /= 2) {
    if (step > most) continue;
    $unroll
    for (int j = 0; j < 32; ++j) {
      if ((j & step) == 0) order_values_$own(v, j, j + step);
    }
  }
}
// The place of the first value of a work-item, and places from one to the next.
FUNCTION int first_place_$own(const int item, const int shift) {
  const int first = item >> shift << (shift + 5) | (item & ((1 << shift) - 1));
  return PLACE(first);
}
// What a work-item stores goes where it has loaded from.
FUNCTION void exchange_values_$own(struct Values_$own* v, IN_LOCAL uint* const words,
                              IN_LOCAL ushort* const cells, const int item, const int from,
                              const int to) {
  IN_LOCAL uint* const target = words + first_place_$own(item, from);
  IN_LOCAL const uint* const source = words + first_place_$own(item, to);
#if $single
  IN_LOCAL ushort* const cell_target = cells + first_place_$own(item, from);
  IN_LOCAL const ushort* const cell_source = cells + first_place_$own(item, to);
#endif
  $unroll
  for (int j = 0; j < 32; ++j) {
    target[j * PLACE(1 << from)] = v->keys[j];
#if $single
    cell_target[j * PLACE(1 << from)] = (ushort)v->cells[j];
#endif
  }
  BARRIER;
  $unroll
  for (int j = 0; j < 32; ++j) {
    v->keys[j] = source[j * PLACE(1 << to)];
#if $single
    v->cells[j] = cell_source[j * PLACE(1 << to)];
#endif
  }
}
FUNCTION void sort_values_$own(struct Values_$own* v, IN_LOCAL uint* const words,
                          IN_LOCAL ushort* const cells, const int item) {
  $unroll
  for (int k = 1; k < 5; ++k) {
    $unroll
    for (int step = 8; step > 0; step /= 2) {
      if (step >> k != 0) continue;
      $unroll
      for (int j = 0; j < 32; ++j) {
        if ((j & step) != 0) continue;
        const int down = j >> k & 1;
        order_values_$own(v, down ? j + step : j, down ? j : j + step);
      }
    }
  }
  turn_values_$own(v, item & 1);
  merge_values_$own(v, 16);
  turn_values_$own(v, (item ^ item >> 1) & 1);
  for (int k = 6; k <= 10; ++k) {
    exchange_values_$own(v, words, cells, item, 0, 5);
    merge_values_$own(v, 1 << (k - 6));
    exchange_values_$own(v, words, cells, item, 5, 0);
    merge_values_$own(v, 16);
    turn_values_$own(v, (item >> (k - 5) ^ item >> (k - 4)) & 1);
  }
  for (int k = 11; k <= 12; ++k) {
    exchange_values_$own(v, words, cells, item, 0, 7);
    merge_values_$own(v, 1 << (k - 8));
    exchange_values_$own(v, words, cells, item, 7, 5);
    merge_values_$own(v, 2);
    exchange_values_$own(v, words, cells, item, 5, 0);
    merge_values_$own(v, 16);
    turn_values_$own(v, (item >> (k - 5) ^ item >> (k - 4)) & 1);
  }
}
#undef PLACE

// -- part: find(name own, stmt unroll, bool full, int tall, int wide, bool average)
// Counts of four runs: of all, and the cell of the window at `row`, `column` that `rank` of its
// cells in the runs from word `at` on precede. A cell is its row << 8 | its column. For averages
// also, in the upper half, the next one in its run, or the same where there is none.
#define SUM(at) ((int)(words[2048 + (at) * 128 + item] * 0x01010101u >> 24))
FUNCTION uint find_cell_$own(IN_LOCAL const uint* const words, IN_LOCAL const uint* const sets,
                        const int item, const int column, const int row, int at, int rank) {
  for (int sum = SUM(at); sum <= rank; sum = SUM(at)) {
    rank -= sum;
    ++at;
  }
  const uint sums = words[2048 + at * 128 + item] * 0x01010101u, wanted = (uint)rank;
  // -- part: run_of_rank(stmt unroll)
  // Which of the four runs it is in, and its rank there.
  int run = 4 * at;
  uint before = 0;
  $unroll
  for (int k = 0; k < 3; ++k) {
    const uint sum = sums >> (8 * k) & 255u;
    if (sum <= wanted) {
      ++run;
      before = sum;
    }
  }
  const int left_over = (int)(wanted - before);
  // -- end
#if $full
  const uint low = (uint)(row << 8 | column) * 0x10001u;
  const uint high = (low + (($tall - 1) << 8 | ($wide - 1)) * 0x10001u) | 0x80808080u;
#endif
  int seen = 0, place = 0;
#if $average
  int place_after = 0;
#endif
  $unroll
  for (int k = 0; k < 16; ++k) {
    const uint two = words[k * 128 + run];
#if $full
    // -- part: count_two(bool average)
    // The upper bit of each byte stays where nothing is below the first or beyond the last.
    const uint inside = ((two | 0x80808080u) - low) & (high - two) & 0x80808080u;
    seen += (inside & 0xffffu) == 0x8080u ? 1 : 0;
    place += seen <= left_over ? 1 : 0;
#if $average
    place_after += seen <= left_over + 1 ? 1 : 0;
#endif
    seen += inside >> 16 == 0x8080u ? 1 : 0;
    place += seen <= left_over ? 1 : 0;
#if $average
    place_after += seen <= left_over + 1 ? 1 : 0;
#endif
    // -- end
#else
    $unroll
    for (int shift = 0; shift < 32; shift += 16) {
      const uint x = (two >> shift & 63u) - (uint)column, y = (two >> (shift + 8) & 63u) - (uint)row;
      if (x < $wide && y < $tall) seen += (int)(sets[2 * y + x / 32] >> (x & 31u) & 1u);
      place += seen <= left_over ? 1 : 0;
#if $average
      place_after += seen <= left_over + 1 ? 1 : 0;
#endif
    }
#endif
  }
  uint found = words[place / 2 * 128 + run] >> (16 * (place & 1)) & 0xffffu;
#if $average
  place_after = place_after > 31 ? place : place_after;
  found |= words[place_after / 2 * 128 + run] >> (16 * (place_after & 1)) << 16;
#endif
  return found;
}
// -- end

// Alone: the value between two ranks.
FUNCTION uint mean_of_ranks(void) {
  // -- part: average(type type, expr found, expr found_after, expr cell_of_found,
  //    stmt value = const uint value = cell;, expr cell_of_after, expr mean)
  // The mean of the values at the rank and at the next, which a run mostly has both; else the other
  // is looked for.
  $type found = 0;
  {
    const uint two = $found;
    uint after = two >> 16;
    if (after == (two & 0xffffu)) after = ($found_after) & 0xffffu;
    {
      const uint cell = $cell_of_found;
      $value
      found = value;
    }
    {
      const uint cell = $cell_of_after;
      $value
      found = $mean;
    }
  }
  // -- end
  return found;
}

KERNEL(128) void rank_tiles(GLOBAL uchar* $image) {
  // -- part: kernel(bool full, int tall, expr sets, int across, int origin_x, int down,
  //    int origin_y, expr inside, name own, stmt unroll, bool single, int strip, expr to_height,
  //    int strips, expr to_width, int wide, stmt all, bool has_columns, stmt by_columns,
  //    stmt leaving, stmt entering, int rank, stmt result = const uint found = (uint)below;,
  //    expr stored)
  // A tile of 64x64 pixels. In local memory, first what is sorted; then the cells in their order,
  // those of a run in a column; the counters of all work-items, 128 bytes each; and for each cell
  // the counter of its run.
  const int item = ITEM;
  LOCAL uint words[6144];
  LOCAL ushort offsets[4224];
#if $full
  IN_LOCAL const uint* const sets = words;
#else
  LOCAL uint sets[2 * $tall];
  if (item < 2 * $tall) sets[item] = (uint)$sets;
#endif
  const int left = GROUP_X * $across - $origin_x, top = GROUP_Y * $down - $origin_y;
  const int inside = $inside;
  {
    struct Values_$own v;
    const int x = left + item % 64;
    $unroll
    for (int j = 0; j < 32; ++j) {
      // -- part: load_value(expr inner, expr outer, bool single)
      // A value as its key, and its place.
      const int y = top + 2 * j + item / 64;
      const uint key = inside ? $inner : $outer;
      const uint cell = (uint)((2 * j + item / 64) << 8 | item % 64);
#if $single
      v.keys[j] = key;
      v.cells[j] = cell;
#else
      v.keys[j] = key << 16 | cell;
#endif
      // -- end
    }
    sort_values_$own(&v, words, offsets, item);
    BARRIER;
    $unroll
    for (int j = 0; j < 32; j += 2) {
#if $single
      const uint first = v.cells[j], second = v.cells[j + 1];
#else
      const uint first = v.keys[j] & 0xffffu, second = v.keys[j + 1] & 0xffffu;
#endif
      words[j / 2 * 128 + item] = first | second << 16;
      offsets[(first >> 8) * 64 + (first & 255u)] = (ushort)(item / 4 * 512 + item % 4);
      offsets[(second >> 8) * 64 + (second & 255u)] = (ushort)(item / 4 * 512 + item % 4);
    }
    for (int k = 0; k < 32; ++k) words[2048 + k * 128 + item] = 0;
  }
  BARRIER;
  const int column = item % $across, first = item / $across * $strip;
  const int last = smaller(smaller(first + $strip, $down), $to_height - GROUP_Y * $down);
  const int x = GROUP_X * $across + column;
  if (item < $across * $strips && x < $to_width) {
    IN_LOCAL uchar* const counters = (IN_LOCAL uchar*)(words + 2048 + item);
#define COUNT(offset) counters[offset]
    // How many cells of the window are in runs before those of word `at`.
    int at = 0, below = 0;
    for (int row = first; row < last; ++row) {
      const int y = GROUP_Y * $down + row;
      const uint limit = (uint)at * 512u;
#if $full
#define OFFSET_AT(row, column) (uint)offsets[(row) * 64 + (column)]
      // Eight at a time are loaded before they are counted: stores of counters hold loads up.
      for (int dy = 0; dy < (row == first ? $tall : 0); ++dy) {
        $unroll
        for (int dx = 0; dx < $wide; dx += 8) {
          uint enters[8];
          $unroll
          for (int k = 0; k < 8 && dx + k < $wide; ++k) {
            enters[k] = OFFSET_AT(row + dy, column + dx + k);
          }
          $unroll
          for (int k = 0; k < 8 && dx + k < $wide; ++k) {
            COUNT(enters[k]) += 1;
            below += enters[k] < limit ? 1 : 0;
          }
        }
      }
      if (row != first) {
        $unroll
        for (int dx = 0; dx < $wide; dx += 8) {
          uint enters[8], leaves[8];
          $unroll
          for (int k = 0; k < 8 && dx + k < $wide; ++k) {
            enters[k] = OFFSET_AT(row + $tall - 1, column + dx + k);
            leaves[k] = OFFSET_AT(row - 1, column + dx + k);
          }
          $unroll
          for (int k = 0; k < 8 && dx + k < $wide; ++k) {
            COUNT(enters[k]) += 1;
            COUNT(leaves[k]) -= 1;
            below += (enters[k] < limit ? 1 : 0) - (leaves[k] < limit ? 1 : 0);
          }
        }
      }
#undef OFFSET_AT
#else
      if (row == first) {
        $all
      } else {
#if $has_columns
        IN_LOCAL const ushort* const here = offsets + row * 64 + column;
        $by_columns
#else
        $leaving
        $entering
#endif
      }
#endif
      while (below > $rank) below -= SUM(--at);
      for (int sum = SUM(at); below + sum <= $rank; sum = SUM(at)) {
        below += sum;
        ++at;
      }
      $result
      $stored;
    }
#undef COUNT
  }
  // -- end
}

FUNCTION void columns_of_tiles(IN_LOCAL const ushort* here, IN_LOCAL uchar* counters,
                               const uint limit, int below) {
#define COUNT(offset) counters[offset]
  {
    // -- part: load_offsets(int number, int entering_at, int leaving_at)
    // What enters and what leaves a column of the mask.
    const uint in_$number = here[$entering_at], out_$number = here[$leaving_at];
    // -- end
    // -- part: count_offsets(int number)
    // They are counted.
    COUNT(in_$number) += 1;
    COUNT(out_$number) -= 1;
    below += (in_$number < limit ? 1 : 0) - (out_$number < limit ? 1 : 0);
    // -- end
  }
#undef COUNT
}

// -- part: places(name own, stmt unroll, int sliders, bool packed, int blocks_across, bool average,
//    bool by_bytes, int tall, int wide, bool full, int set_words)
// How many of 4096 values in their order are `bound` at most. Pinned, a count is one product away
// from an address; the compiler would put every count together from all steps before it.
FUNCTION int count_up_to_$own(GLOBAL const uint* const values, const uint bound) {
  uint count = 0;
  $unroll
  for (int step = 2048; step > 0; step /= 2) {
    count += (values + count)[step - 1] <= bound ? (uint)step : 0u;
    PIN_WORD(count);
  }
  return (int)(count + (values[count] <= bound ? 1u : 0u));
}
// The place of the cell of the window at `row`, `column` that `rank` of its cells in the runs from
// word `at` on precede; for averages also, in the upper half, of the next one in its run, or the
// same where there is none. counts: of a work-item.
#define COUNTED(at) ((int)(counts[(at) * $sliders] * 0x01010101u >> 24))
#if $packed
#define ROW_OF(cell) ((cell) >> 8)
#define COLUMN_OF(cell) ((cell) & 255u)
#define CELL_OF(row, column) ((row) << 8 | (column))
#else
#define ROW_OF(cell) ((cell) / ($blocks_across * 64))
#define COLUMN_OF(cell) ((cell) % ($blocks_across * 64))
#define CELL_OF(row, column) ((row) * ($blocks_across * 64) + (column))
#endif
FUNCTION uint find_place_$own(IN_LOCAL const uint* const counts, IN_LOCAL const uint* const sets,
                              GLOBAL const ushort* const order, const int column, const int row,
                              int at, int rank) {
  for (int sum = COUNTED(at); sum <= rank; sum = COUNTED(at)) {
    rank -= sum;
    ++at;
  }
  const uint sums = counts[at * $sliders] * 0x01010101u, wanted = (uint)rank;
  $run_of_rank
  // Four loads, which work-items make at as many places.
  GLOBAL const uint4* const from = (GLOBAL const uint4*)(order + 32 * run);
  uint cells[16];
  $unroll
  for (int k = 0; k < 4; ++k) {
    const uint4 four = from[k];
    cells[4 * k] = four.x;
    cells[4 * k + 1] = four.y;
    cells[4 * k + 2] = four.z;
    cells[4 * k + 3] = four.w;
  }
  int seen = 0, place = 0;
#if $average
  int place_after = 0;
#endif
#if $by_bytes
  const uint low = (uint)(row << 8 | column) * 0x10001u;
  const uint high = (low + (($tall - 1) << 8 | ($wide - 1)) * 0x10001u) | 0x80808080u;
#endif
  $unroll
  for (int k = 0; k < 16; ++k) {
    const uint two = cells[k];
#if $by_bytes
    $count_two
#else
    $unroll
    for (int shift = 0; shift < 32; shift += 16) {
      const uint cell = two >> shift & 0xffffu;
      const uint x = COLUMN_OF(cell) - (uint)column, y = ROW_OF(cell) - (uint)row;
#if $full
      if (x < $wide && y < $tall) ++seen;
#else
      if (x < $wide && y < $tall) seen += (int)(sets[$set_words * y + x / 32] >> (x & 31u) & 1u);
#endif
      place += seen <= left_over ? 1 : 0;
#if $average
      place_after += seen <= left_over + 1 ? 1 : 0;
#endif
    }
#endif
  }
#if $average
  place_after = place_after > 31 ? place : place_after;
  return (uint)(32 * run + place) | (uint)(32 * run + place_after) << 16;
#else
  return (uint)(32 * run + place);
#endif
}
// -- end

KERNEL(128) void sort_blocks(GLOBAL uint* $keys, GLOBAL ushort* $cells) {
  // -- part: sort_blocks(int origin_x, int origin_y, expr inside, name own, stmt unroll,
  //    bool single, buffer keys, buffer cells)
  // A block of 64x64 pixels, some of them outside the image: the values in their order, and where
  // they are in the block.
  const int item = ITEM;
  LOCAL uint words[4224];
  LOCAL ushort halves[4224];
  const int left = GROUP_X * 64 - $origin_x, top = GROUP_Y * 64 - $origin_y;
  const int inside = $inside;
  struct Values_$own v;
  const int x = left + item % 64;
  $unroll
  for (int j = 0; j < 32; ++j) {
    $load_value
  }
  sort_values_$own(&v, words, halves, item);
  BARRIER;
  $unroll
  for (int j = 0; j < 32; ++j) {
    words[33 * item + j] = v.keys[j];
#if $single
    halves[33 * item + j] = (ushort)v.cells[j];
#endif
  }
  BARRIER;
  const long block = ((long)GROUP_Y * GROUPS_X + GROUP_X) * 4096;
  for (int k = item; k < 4096; k += 128) {
    $keys[block + k] = words[k + k / 32];
#if $single
    $cells[block + k] = halves[k + k / 32];
#endif
  }
  // -- end
}

KERNEL(128) void rank_blocks(GLOBAL const uint* $keys, GLOBAL const ushort* $cells,
                             GLOBAL ushort* $counters_of, GLOBAL ushort* $orders,
                             GLOBAL uchar* $image) {
  // -- part: rank_blocks(int blocks_across, int blocks_down, int sliders, bool full, int set_words,
  //    int tall, expr sets, expr tiles_across, buffer counters_of, buffer orders, expr tiles,
  //    buffer keys, bool single, buffer cells, stmt by_fours, name own, int origin_x, int origin_y,
  //    expr inside, expr to_height, expr to_width, stmt by_eights, int wide, stmt all,
  //    stmt leaving, stmt entering, int rank, stmt result, expr stored)
  // Tiles of 64x64 results, one after the other: the order of all cells around them, and the counter
  // of each cell.
  const int item = ITEM;
  LOCAL uint all_counts[$blocks_across * $blocks_down * 32 * $sliders];
#if $full
  IN_LOCAL const uint* const sets = all_counts;
#else
  LOCAL uint sets[$set_words * $tall];
  for (int k = item; k < $set_words * $tall; k += 128) sets[k] = (uint)$sets;
#endif
#define BLOCKS ($blocks_across * $blocks_down)
#define BLOCK_AT(block)                                                          \
  (((long)(tile_y + (block) / $blocks_across) * ($tiles_across + $blocks_across - 1) + \
    (tile_x + (block) % $blocks_across)) *                                       \
   4096)
  GLOBAL ushort* const counters_of = $counters_of + (long)GROUP_X * (BLOCKS * 4096);
  GLOBAL ushort* const order = $orders + (long)GROUP_X * (BLOCKS * 4096);
  for (int tile = GROUP_X; tile < $tiles; tile += GROUPS_X) {
    const int tile_x = tile % $tiles_across, tile_y = tile / $tiles_across;
    GLOBAL_BARRIER;
    for (int block = 0; block < BLOCKS; ++block) {
      for (int k = item; k < 4096; k += 128) {
        const long own = BLOCK_AT(block);
        const uint key = $keys[own + k];
#if $single
        const uint cell = $cells[own + k], high = key, low = key;
#else
        const uint cell = key & 0xffffu, high = key | 0xffffu, low = key & 0xffff0000u;
#endif
        // Equal values are in the order of their blocks.
        int place = k;
        $by_fours
        for (int k_other = 1; k_other < BLOCKS; ++k_other) {
          const int other = block + k_other < BLOCKS ? block + k_other : block + k_other - BLOCKS;
          const int count =
              count_up_to_$own($keys + BLOCK_AT(other), other < block ? high : low - 1u);
          place += other > block && low == 0u ? 0 : count;
        }
        const uint column = (uint)(block % $blocks_across * 64) + (cell & 63u);
        const uint row = (uint)(block / $blocks_across * 64) + (cell >> 8);
        // What windows count is the run of the place: a counter of a work-item's.
        counters_of[row * ($blocks_across * 64) + column] =
            (ushort)(place / 128 * (4 * $sliders) + place / 32 % 4);
        order[place] = (ushort)CELL_OF(row, column);
      }
    }
    GLOBAL_BARRIER;
    const int left = tile_x * 64 - $origin_x, top = tile_y * 64 - $origin_y;
    const int inside = $inside, last = smaller(64, $to_height - tile_y * 64);
    for (int column = item; item < $sliders && column < 64; column += $sliders) {
      const int x = tile_x * 64 + column;
      if (x >= $to_width) break;
      IN_LOCAL uint* const counts = all_counts + item;
      IN_LOCAL uchar* const counters = (IN_LOCAL uchar*)counts;
#define COUNT(counter) counters[counter]
#define COUNTER_AT(row, column) (uint)counters_of[(row) * ($blocks_across * 64) + (column)]
      for (int k = 0; k < BLOCKS * 32; ++k) counts[k * $sliders] = 0;
      // How many cells of the window are in runs before those of word `at`.
      int at = 0, below = 0;
      for (int row = 0; row < last; ++row) {
        const int y = tile_y * 64 + row;
        const uint limit = (uint)at * (4u * $sliders);
#if $full
        if (row == 0) {
          for (int dy = 0; dy < $tall; ++dy) {
            $by_eights
            for (int dx = 0; dx < $wide; ++dx) COUNT(COUNTER_AT(dy, column + dx)) += 1;
          }
        } else {
          // Two counters are read together, and what an equal one would have is added.
          $by_eights
          for (int dx = 0; dx < $wide; ++dx) {
            uint enters = COUNTER_AT(row + $tall - 1, column + dx);
            uint leaves = COUNTER_AT(row - 1, column + dx);
            // As words: 16 bits would be made 32 again to be compared.
            PIN_WORD(enters);
            PIN_WORD(leaves);
            const int more = COUNT(enters), less = COUNT(leaves);
            COUNT(enters) = (uchar)(more + 1);
            COUNT(leaves) = (uchar)(less + (enters == leaves ? 0 : 255));
            below += (enters < limit ? 1 : 0) - (leaves < limit ? 1 : 0);
          }
        }
#else
        if (row == 0) {
          $all
        } else {
          $leaving
          $entering
        }
#endif
        while (below > $rank) below -= COUNTED(--at);
        for (int sum = COUNTED(at); below + sum <= $rank; sum = COUNTED(at)) {
          below += sum;
          ++at;
        }
        $result
        $stored;
      }
#undef COUNT
#undef COUNTER_AT
    }
  }
#undef BLOCK_AT
#undef BLOCKS
  // -- end
}
