// Connected components: tiles of 64x64 pixels in local memory, then their borders in global memory,
// then what is asked about each component.
//
// A word has 32 pixels of a column, the uppermost in bit 0; its runs are the stretches of set bits.
// Two runs of a word never begin in the same pair of rows, so a pair is a node of the forest, which
// stands for the run that begins in it. Nodes are numbered down the columns: the least node of a
// component is the one with its first pixel in column-major order.
//   $items      of a group
//   $rows       of words
//   $corners    whether pixels that touch by a corner are neighbours
//   $has_flags  whether it is known which component has a pixel with a flag; a peak that is none has one
//   $has_areas  whether the components' numbers of pixels are known
//   $bit        of pixel (x, y)
//   $kinds      of touches
//   $wide       items of that group
//   $keep       of the component with that root
//   $set        four bytes of the result

FUNCTION void join_global(GLOBAL uint* forest, const uint a, const uint b) {}

// -- part: runs
// Runs of a word, and where those of words side by side touch: for both levels of the forest.

// The row in which the run with row y begins; the first row after the run.
FUNCTION int run_begin(const uint word, const int y) {
  return 32 - LEADING_ZEROS(~word & ((1u << y) - 1u));
}
FUNCTION int lowest_bit(const uint bits) { return 31 - LEADING_ZEROS(bits & (0u - bits)); }
FUNCTION uint run_bits(const uint word, const int begin) {
  const uint after = ~word & (0xffffffffu << begin);
  const uint upto = after == 0u ? 0xffffffffu : (after & (0u - after)) - 1u;
  return upto & (0xffffffffu << begin);
}
FUNCTION uint run_begins(const uint word) { return word & ~(word << 1); }
// The row of the run that stands for node `pair` (0 to 15) of a word.
FUNCTION int begin_in_pair(const uint word, const int pair) {
  return 2 * pair + ((run_begins(word) >> (2 * pair) & 1u) == 0u ? 1 : 0);
}

// Rows of `right` at which one of its runs touches one of `left`, the column before it: side by
// side, or (the row over, the row under) by a corner only.
FUNCTION uint touch_beside(const uint left, const uint right) { return run_begins(left & right); }
FUNCTION uint touch_over(const uint left, const uint right) {
  return right & (left << 1) & ~left & ~(right << 1);
}
FUNCTION uint touch_under(const uint left, const uint right) {
  return right & (left >> 1) & ~left & ~(right >> 1);
}

// Links lead to smaller nodes; a root's to itself. Paths are halved on the way. In local memory all
// is done by atomic operations, so that tools that look for races find none; in global memory a
// link that is lost to halving is made again by whoever's minimum returned the old one.
#define LINK_LOCAL(link) OR_LOCAL(link, 0u)
#define HALVE_LOCAL(link, over) MIN_LOCAL(link, over)
#define LINK_GLOBAL(link) LOAD_GLOBAL(link)
#define HALVE_GLOBAL(link, over) STORE_GLOBAL(link, over)

// -- part: forest(name level = local, name space = IN_LOCAL, name where = LOCAL)
// One level of the forest: in local memory or in global.
FUNCTION uint find_$level($space uint* parent, uint i) {
  uint up = LINK_$where(&parent[i]);
  while (up != i) {
    const uint over = LINK_$where(&parent[up]);
    if (over == up) return up;
    HALVE_$where(&parent[i], over);
    i = over;
    up = LINK_$where(&parent[i]);
  }
  return i;
}
FUNCTION void join_$level($space uint* parent, uint a, uint b) {
  a = find_$level(parent, a);
  b = find_$level(parent, b);
  while (a != b) {
    const uint low = a < b ? a : b, high = a < b ? b : a;
    const uint before = MIN_$where(&parent[high], low);
    if (before == high) return;
    a = find_$level(parent, before);
    b = find_$level(parent, low);
  }
}

// -- part: words(int items, expr width, stmt unroll, expr height, expr bit, buffer words)
// A word of pixels a work-item.
KERNEL($items) void words(GLOBAL uint* $words) {
  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const int y0 = GROUP_Y * 32;
  uint word = 0u;
  $unroll
  for (int k = 0; k < 32; ++k) {
    const int y = y0 + k;
    if (y < $height && $bit) word |= 1u << k;
  }
  $words[(long)GROUP_Y * $width + x] = word;
}

// -- part: bytes(int items, expr width, stmt unroll, expr height, buffer bytes,
//    expr stride = $stride, buffer words)
// Four words a work-item, from the bytes (0 or 1) of a logical image.
KERNEL($items) void bytes(GLOBAL const uchar* $bytes, const long $stride, GLOBAL uint* $words) {
  const int x = (GROUP_X * $items + ITEM) * 4;
  if (x >= $width) return;
  const int y0 = GROUP_Y * 32;
  uint eights[4];
  $unroll
  for (int part = 0; part < 4; ++part) {
    eights[part] = 0u;
    $unroll
    for (int k = 0; k < 8; ++k) {
      const int y = y0 + part * 8 + k;
      if (y < $height) eights[part] |= *(GLOBAL const uint*)($bytes + (long)y * $stride + x) << k;
    }
  }
  $unroll
  for (int k = 0; k < 4; ++k) {
    uint word = 0u;
    $unroll
    for (int part = 0; part < 4; ++part) {
      word |= (eights[part] >> 8 * k & 255u) << 8 * part;
    }
    if (x + k < $width) $words[(long)GROUP_Y * $width + x + k] = word;
  }
}

// -- part: tile(bool has_peaks = 0, expr peak, int items, bool has_flags, bool has_areas,
//    expr width, buffer words, bool corners, stmt unroll, stmt lost_flags, buffer flags,
//    expr halves, buffer forest, buffer areas, buffer roots)
// The components of a tile, and what is known of them. forest gets the root of each node of a run.
KERNEL($items) void tile(GLOBAL uint* $words, GLOBAL uint* $forest, GLOBAL uint* $roots,
                         GLOBAL uint* $flags, GLOBAL uint* $areas) {
#if $has_peaks
#define PEAK(x, y) $peak
#endif
  LOCAL uint parent[64 * 33];
  LOCAL uint words[$items];
  LOCAL uint roots[$items];
  // Runs that touch, then runs: two columns' words touch 31 times at most, two rows' twice.
  LOCAL ushort list[33 * $items];
  LOCAL uint counts[2];
#if $has_flags
  LOCAL uint flags[$items];
#endif
#if $has_areas
  LOCAL uint areas[64 * 33];
#endif
// The node of the run with that row of a word, and of what touches it: beside it, by a corner of
// the row over or under it in the column before, or over it: straight, left or right.
#define NODE(place, begin) (uint)((place) % 64 * 33 + (place) / 64 * 16 + (begin) / 2)
#define AROUND(place, y) NODE(place, run_begin(words[place], y))
#define TOUCHED(place, way, bit)                                                  \
  ((way) == 3 ? AROUND((place)-64 + ((bit) == 0 ? 0 : (bit) == 1 ? -1 : 1), 31) \
              : AROUND((place)-1, (bit) - ((way) == 1 ? 1 : 0) + ((way) == 2 ? 1 : 0)))
  const int column = ITEM % 64, row = ITEM / 64;
  const int x = GROUP_X * 64 + column, at_row = GROUP_Y * 2 + row;
  const uint word = x < $width ? $words[(long)at_row * $width + x] : 0u;
  words[ITEM] = word;
  roots[ITEM] = 0u;
#if $has_flags
  flags[ITEM] = 0u;
#endif
  if (ITEM < 2) counts[ITEM] = 0u;
  for (int i = ITEM; i < 64 * 33; i += $items) {
    parent[i] = i;
#if $has_areas
    areas[i] = 0u;
#endif
  }
  BARRIER;
  {
    const uint left = column > 0 ? words[ITEM - 1] : 0u;
    const uint beside = touch_beside(left, word);
    uint over = 0u, under = 0u, rows = 0u;
#if $corners
    over = touch_over(left, word);
    under = touch_under(left, word);
#endif
    if (row > 0 && (word & 1u) != 0u) {
      const bool has_left = column > 0 && words[ITEM - 65] >> 31 != 0u;
      if (words[ITEM - 64] >> 31 != 0u) {
        // Where the column before does the same, it is done.
        rows = has_left && (left & 1u) != 0u ? 0u : 1u;
      } else {
#if $corners
        rows = has_left && (left & 1u) == 0u ? 2u : 0u;
        if (column < 63 && (words[ITEM + 1] & 1u) == 0u && words[ITEM - 63] >> 31 != 0u) {
          rows |= 4u;
        }
#endif
      }
    }
    // A run's first link needs no search: it stands for itself, and what it touches comes before
    // it, but for the next column's. Every eighth column's is left out, so that ways to roots are
    // short.
    uint ways[4] = {beside, over, under, rows}, linked = 0u;
    int count = 0;
    $unroll
    for (int way = 0; way < 4; ++way) {
      uint rest = 0u;
      for (uint e = ways[way]; e != 0u; e &= e - 1u) {
        const int bit = lowest_bit(e), begin = way == 3 ? 0 : run_begin(word, bit);
        const bool before = way == 3 ? bit != 2 : column % 8 != 0;
        if (before && (linked >> begin & 1u) == 0u) {
          linked |= 1u << begin;
          parent[column * 33 + row * 16 + begin / 2] = TOUCHED(ITEM, way, bit);
        } else {
          rest |= e & (0u - e);
          ++count;
        }
      }
      ways[way] = rest;
    }
    uint at = 0u;
    if (count != 0) at = ADD_LOCAL(&counts[0], (uint)count);
    $unroll
    for (int way = 0; way < 4; ++way) {
      for (uint e = ways[way]; e != 0u; e &= e - 1u) {
        list[at++] = (ushort)(ITEM | lowest_bit(e) << 7 | way << 12);
      }
    }
  }
  BARRIER;
  const int touching = (int)counts[0];
  for (int i = ITEM; i < touching; i += $items) {
    const int entry = (int)list[i], place = entry & 127, bit = entry >> 7 & 31, way = entry >> 12;
    join_local(parent, TOUCHED(place, way, bit),
               NODE(place, run_begin(words[place], way == 3 ? 0 : bit)));
  }
#undef TOUCHED
#undef AROUND
#undef NODE
  BARRIER;
  const uint begins = run_begins(word);
  if (begins != 0u) {
    uint at = ADD_LOCAL(&counts[1], COUNT_BITS(begins));
    for (uint e = begins; e != 0u; e &= e - 1u) {
      list[at++] = (ushort)(ITEM | lowest_bit(e) << 7);
    }
  }
#if $has_flags
  // A run with a flag gives it to the first pixel of its root.
  {
#if $has_peaks
    $lost_flags
#else
    const uint given_flags = x < $width ? $flags[(long)at_row * $width + x] : 0u;
#endif
    for (uint f = given_flags & word; f != 0u;) {
      const int begin = run_begin(word, lowest_bit(f));
      const uint root = find_local(parent, (uint)(column * 33 + row * 16 + begin / 2));
      const int place = root % 33 / 16 * 64 + root / 33;
      OR_LOCAL(&flags[place], 1u << begin_in_pair(words[place], root % 33 % 16));
      f &= ~run_bits(word, begin);
    }
  }
#endif
#if $has_areas
  for (uint e = begins; e != 0u; e &= e - 1u) {
    const int begin = lowest_bit(e);
    const uint root = find_local(parent, (uint)(column * 33 + row * 16 + begin / 2));
    ADD_LOCAL(&areas[root], COUNT_BITS(run_bits(word, begin)));
  }
#endif
  BARRIER;
  const int runs = (int)counts[1];
  for (int i = ITEM; i < runs; i += $items) {
    const int entry = (int)list[i], place = entry & 127, begin = entry >> 7;
    const uint node = (uint)(place % 64 * 33 + place / 64 * 16 + begin / 2);
    // No link changes any more.
    uint root = node;
    for (uint up = parent[root]; up != root; up = parent[root]) root = up;
    const uint to = (uint)(GROUP_X * 64 + root / 33) * $halves + (uint)(GROUP_Y * 32 + root % 33);
    $forest[(uint)(GROUP_X * 64 + place % 64) * $halves +
            (uint)((GROUP_Y * 2 + place / 64) * 16 + begin / 2)] = to;
    if (root != node) continue;
    OR_LOCAL(&roots[place], 1u << begin);
#if $has_areas
    $areas[to] = areas[node];
#endif
  }
  BARRIER;
  if (x < $width) {
    $roots[(long)at_row * $width + x] = roots[ITEM];
#if $has_flags
    $flags[(long)at_row * $width + x] = flags[ITEM];
#endif
  }
#if $has_peaks
#undef PEAK
#endif
}

// -- part: border(int items, expr width, expr rows, expr halves, buffer words, bool corners,
//    buffer forest, int kinds)
// Runs that touch across the borders of tiles: first under every second row of words, then at every
// 64th column. Many of a group are of the same two components of tiles: one of them joins those.
KERNEL($items) void border(GLOBAL uint* $words, GLOBAL uint* $forest) {
  LOCAL uint chosen[2 * $items], firsts[$items], seconds[$items];
  const int across = ($width + $items - 1) / $items;
  const int tops = across * ($rows / 2 - 1);
  const long w = $width;
  uint from[3] = {0xffffffffu, 0xffffffffu, 0xffffffffu}, to[3] = {0u, 0u, 0u};
#define NODE(bits, at_x, at_row, y) \
  ((uint)(at_x) * $halves + (uint)((at_row) * 16 + run_begin(bits, y) / 2))
#define TOUCH(k, a, b) \
  {                    \
    from[k] = a;       \
    to[k] = b;         \
  }
  if (GROUP_X < tops) {
    const int x = GROUP_X % across * $items + ITEM, row = 2 + GROUP_X / across * 2;
    const uint word = x < $width ? $words[row * w + x] : 0u;
    if ((word & 1u) != 0u) {
      const uint up = $words[(row - 1) * w + x];
      const uint left = x > 0 ? $words[row * w + x - 1] : 0u;
      const uint up_left = x > 0 ? $words[(row - 1) * w + x - 1] : 0u;
      if (up >> 31 != 0u) {
        if (x % 64 == 0 || (left & 1u) == 0u || up_left >> 31 == 0u)
          TOUCH(0, NODE(up, x, row - 1, 31), NODE(word, x, row, 0))
      } else {
#if $corners
        const uint right = x + 1 < $width ? $words[row * w + x + 1] : 0u;
        const uint up_right = x + 1 < $width ? $words[(row - 1) * w + x + 1] : 0u;
        if ((left & 1u) == 0u && up_left >> 31 != 0u)
          TOUCH(0, NODE(up_left, x - 1, row - 1, 31), NODE(word, x, row, 0))
        if ((right & 1u) == 0u && up_right >> 31 != 0u)
          TOUCH(1, NODE(up_right, x + 1, row - 1, 31), NODE(word, x, row, 0))
#endif
      }
    }
  } else {
    // A pair of rows a work-item: it has one touch of a kind at most.
    const int sides = ($width - 1) / 64;
    const int which = (GROUP_X - tops) * $items + ITEM, pair = which % 16;
    if (which < sides * $rows * 16) {
      const int row = which / 16 % $rows, x = (which / 16 / $rows + 1) * 64;
      const uint left = $words[row * w + x - 1], word = $words[row * w + x];
      const uint mine = 3u << 2 * pair;
      const uint beside = touch_beside(left, word) & mine;
      if (beside != 0u) {
        const int y = lowest_bit(beside);
        TOUCH(0, NODE(left, x - 1, row, y), NODE(word, x, row, y))
      }
#if $corners
      const uint over = touch_over(left, word) & mine;
      if (over != 0u) {
        const int y = lowest_bit(over);
        TOUCH(1, NODE(left, x - 1, row, y - 1), NODE(word, x, row, y))
      }
      const uint under = touch_under(left, word) & mine;
      if (under != 0u) {
        const int y = lowest_bit(under);
        TOUCH(2, NODE(left, x - 1, row, y + 1), NODE(word, x, row, y))
      }
      if (row % 2 == 1 && pair == 0) {
        const uint up_left = $words[(row - 1) * w + x - 1], up = $words[(row - 1) * w + x];
        const bool has_up = up >> 31 != 0u, has_up_left = up_left >> 31 != 0u;
        const bool has = (word & 1u) != 0u, has_left = (left & 1u) != 0u;
        if (has && has_up_left && !has_up && !has_left)
          join_global($forest, NODE(up_left, x - 1, row - 1, 31), NODE(word, x, row, 0));
        if (has_left && has_up && !has_up_left && !has)
          join_global($forest, NODE(up, x, row - 1, 31), NODE(left, x - 1, row, 0));
      }
#endif
    }
  }
#undef TOUCH
#undef NODE
  for (int k = 0; k < $kinds; ++k) {
    const bool touches = from[k] != 0xffffffffu;
    const uint first = touches ? LINK_GLOBAL(&$forest[from[k]]) : 0u;
    const uint second = touches ? LINK_GLOBAL(&$forest[to[k]]) : 0u;
    const uint place = (first * 0x9e3779b1u ^ second * 0x85ebca6bu) >> 24;
    chosen[ITEM] = 0xffffffffu;
    chosen[ITEM + $items] = 0xffffffffu;
    firsts[ITEM] = first;
    seconds[ITEM] = second;
    BARRIER;
    if (touches) MIN_LOCAL(&chosen[place], (uint)ITEM);
    BARRIER;
    const uint by = touches ? chosen[place] : (uint)ITEM;
    const bool same = by != (uint)ITEM && firsts[by] == first && seconds[by] == second;
    BARRIER;
    if (touches && !same) join_global($forest, first, second);
  }
}

// -- part: resolve(int items, expr width, buffer roots, expr halves, buffer forest, bool has_flags,
//    buffer flags, buffer words, bool has_areas, buffer areas)
// The roots of tiles lead straight to those of the image, and hand over what is known. A link that
// has been led on meanwhile leads there as well.
KERNEL($items) void resolve(GLOBAL uint* $words, GLOBAL uint* $roots, GLOBAL uint* $forest,
                            GLOBAL uint* $flags, GLOBAL uint* $areas) {
  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const long at = (long)GROUP_Y * $width + x;
  const uint before = $roots[at];
  uint roots = before;
  for (uint e = before; e != 0u; e &= e - 1u) {
    const int y = lowest_bit(e);
    const uint node = (uint)x * $halves + (uint)(GROUP_Y * 16 + y / 2);
    // Nothing is halved here: that could take back what the next line says of another node.
    uint root = node;
    for (uint up = LOAD_OLD(&$forest[root]); up != root; up = LOAD_OLD(&$forest[root])) root = up;
    if (root == node) continue;
    STORE_GLOBAL(&$forest[node], root);
    roots &= ~(1u << y);
#if $has_flags
    if ((LOAD_GLOBAL(&$flags[at]) >> y & 1u) != 0u) {
      const long place = (long)(root % $halves / 16u) * $width + (long)(root / $halves);
      const int bit = begin_in_pair($words[place], (int)(root % $halves % 16u));
      if ((LOAD_GLOBAL(&$flags[place]) >> bit & 1u) == 0u) OR_GLOBAL(&$flags[place], 1u << bit);
    }
#endif
#if $has_areas
    ADD_GLOBAL(&$areas[root], $areas[node]);
#endif
  }
  if (roots != before) $roots[at] = roots;
}

// -- part: count(int items, expr rows, expr width, buffer roots, buffer over, buffer columns)
// How many roots stand over each word in its column, and how many a column has.
KERNEL($items) void count(GLOBAL uint* $roots, GLOBAL uint* $over, GLOBAL uint* $columns) {
  LOCAL uint parts[$items];
  const int x = GROUP_X * 16 + ITEM % 16, part = ITEM / 16;
  const int each = ($rows + 7) / 8;
  const int first = part * each, last = smaller(first + each, $rows);
  uint total = 0u;
  if (x < $width) {
    for (int row = first; row < last; ++row) total += COUNT_BITS($roots[(long)row * $width + x]);
  }
  parts[ITEM] = total;
  BARRIER;
  if (x >= $width) return;
  uint over = 0u;
  for (int k = 0; k < part; ++k) over += parts[k * 16 + ITEM % 16];
  for (int row = first; row < last; ++row) {
    const long at = (long)row * $width + x;
    $over[at] = over;
    over += COUNT_BITS($roots[at]);
  }
  if (part == 7) $columns[x] = over;
}

// -- part: sum(int wide, expr width, buffer columns)
// By one group: from the roots in each column to those in the columns before it.
KERNEL($wide) void sum(GLOBAL uint* $columns) {
  LOCAL uint parts[$wide];
  const int each = ($width + $wide - 1) / $wide;
  const int first = ITEM * each, last = smaller(first + each, $width);
  uint total = 0u;
  for (int x = first; x < last; ++x) total += $columns[x];
  parts[ITEM] = total;
  BARRIER;
  for (int step = 1; step < $wide; step *= 2) {
    const uint over = ITEM >= step ? parts[ITEM - step] : 0u;
    BARRIER;
    parts[ITEM] += over;
    BARRIER;
  }
  uint before = parts[ITEM] - total;
  for (int x = first; x < last; ++x) {
    const uint own = $columns[x];
    $columns[x] = before;
    before += own;
  }
}

// -- part: numbers(int items, expr width, buffer words, buffer forest, expr halves, buffer columns,
//    buffer over, buffer roots, expr height, expr out = $pixels[y * $width + x])
// The number of each run of a tile, then the rows.
KERNEL($items) void numbers(GLOBAL uint* $words, GLOBAL uint* $roots, GLOBAL uint* $forest,
                            GLOBAL const uint* $over, GLOBAL const uint* $columns,
                            GLOBAL float* $pixels) {
  LOCAL float numbers[64 * 33];
  LOCAL ushort list[16 * $items];
  LOCAL uint words[$items], counts[1];
  const int column = ITEM % 64, row = ITEM / 64;
  const int x = GROUP_X * 64 + column, at_row = GROUP_Y * 2 + row;
  const uint word = x < $width ? $words[(long)at_row * $width + x] : 0u;
  words[ITEM] = word;
  if (ITEM == 0) counts[0] = 0u;
  BARRIER;
  const uint begins = run_begins(word);
  if (begins != 0u) {
    uint at = ADD_LOCAL(&counts[0], COUNT_BITS(begins));
    for (uint e = begins; e != 0u; e &= e - 1u) {
      list[at++] = (ushort)(ITEM | lowest_bit(e) / 2 << 7);
    }
  }
  BARRIER;
  const int runs = (int)counts[0];
  for (int i = ITEM; i < runs; i += $items) {
    const int entry = (int)list[i], place = entry & 127;
    const int c = place % 64, pair = place / 64 * 16 + (entry >> 7);
    const uint near_root =
        $forest[(uint)(GROUP_X * 64 + c) * $halves + (uint)(GROUP_Y * 32 + pair)];
    const uint root = $forest[near_root];
    const long at = (long)(root % $halves / 16u) * $width + (long)(root / $halves);
    const uint pairs = (1u << 2 * (int)(root % 16u)) - 1u;
    numbers[c * 33 + pair] =
        (float)(1u + $columns[root / $halves] + $over[at] + COUNT_BITS($roots[at] & pairs));
  }
  BARRIER;
  if (x >= $width) return;
  float number = 0.0f;
  for (int k = 0; k < 32; ++k) {
    const int y = at_row * 32 + k;
    if (y >= $height) return;
    if ((run_begins(word) >> k & 1u) != 0u) number = numbers[column * 33 + row * 16 + k / 2];
    $out = (word >> k & 1u) != 0u ? number : 0.0f;
  }
}

// -- part: first_areas(int items, expr width, buffer words, expr height, expr halves,
//    buffer forest, expr out = $result[(long)y * $width + x], buffer areas)
// A component's pixels at its first; 0 elsewhere.
KERNEL($items) void first_areas(GLOBAL uint* $words, GLOBAL uint* $forest,
                                GLOBAL const uint* $areas, GLOBAL float* $result) {
  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const uint begins = run_begins($words[(long)GROUP_Y * $width + x]);
  for (int k = 0; k < 32; ++k) {
    const int y = GROUP_Y * 32 + k;
    if (y >= $height) break;
    const uint node = (uint)x * $halves + (uint)(GROUP_Y * 16 + k / 2);
    const bool root = (begins >> k & 1u) != 0u && $forest[node] == node;
    $out = root ? (float)$areas[node] : 0.0f;
  }
}

// -- part: kept(int items, expr width, buffer words, expr halves, buffer forest, expr keep,
//    bool has_peaks, buffer single, stmt unroll, expr height, buffer bytes, expr stride, expr set)
// Which components stay. A work-item finds out for a word; a group writes rows, four bytes at once.
KERNEL($items) void kept(GLOBAL uint* $words, GLOBAL uint* $forest, GLOBAL const uint* $single,
                         GLOBAL uchar* $bytes, const long $stride) {
  LOCAL uint words[$items];
  const int x = GROUP_X * $items + ITEM;
  uint kept = 0u;
  if (x < $width) {
    const uint word = $words[(long)GROUP_Y * $width + x];
    for (uint e = run_begins(word); e != 0u; e &= e - 1u) {
      const int begin = lowest_bit(e);
      const uint node = (uint)x * $halves + (uint)(GROUP_Y * 16 + begin / 2);
      const uint root = $forest[$forest[node]];
      const long at = (long)(root % $halves / 16u) * $width + (long)(root / $halves);
      if ($keep) kept |= run_bits(word, begin);
    }
#if $has_peaks
    kept |= $single[(long)GROUP_Y * $width + x];
#endif
  }
  words[ITEM] = kept;
  BARRIER;
  const int to_x = GROUP_X * $items + ITEM % 32 * 4, part = ITEM / 32;
  if (to_x >= $width) return;
  uint eights = 0u;
  $unroll
  for (int k = 0; k < 4; ++k) {
    eights |= (words[ITEM % 32 * 4 + k] >> 8 * part & 255u) << 8 * k;
  }
  $unroll
  for (int k = 0; k < 8; ++k) {
    const int y = GROUP_Y * 32 + 8 * part + k;
    if (y < $height) *(GLOBAL uint*)($bytes + (long)y * $stride + to_x) = $set;
  }
}
