// Distance transforms: set rows of each column in words of 32, the nearest ones above and below
// each word, then each row from those of its columns. transform/distance.cpp says how.
//   $items   of a group
//   $pitch   columns in memory
//   $bands   of 32 rows
//   $none    rows and columns to a pixel that there is none
//   $number  the type of distances
//   $space   of the sites of a row
//   $local   whether sites are in local memory: so many fours of them

// -- part: pack(expr pitch, int items, expr bands, expr width, expr height, stmt unroll, type type,
//    stmt load, buffer words)
// The set pixels of 32 rows of four columns, as words.
KERNEL($items) void pack(GLOBAL uint* $words) {
  const int across = $pitch / 4;
  const int item = GROUP_X * $items + ITEM;
  const int band = item / across, x = item % across * 4;
  if (band >= $bands || x >= $width) return;
  uint words[4] = {0, 0, 0, 0};
  const int rows = smaller(32, $height - band * 32);
  $unroll
  for (int r = 0; r < rows; ++r) {
    const int y = band * 32 + r;
    $type v[4];
    $load
    for (int k = 0; k < 4; ++k) words[k] |= v[k] != 0 ? 1u << r : 0u;
  }
  for (int k = 0; k < 4; ++k) $words[(long)band * $pitch + x + k] = words[k];
}

// -- part: carry(int items, expr bands, expr none, expr height, expr width, stmt unroll,
//    buffer words, expr pitch, buffer above, buffer below)
// A group takes 32 columns; each of its 8 sub-groups a part of their words.
KERNEL($items) void carry(GLOBAL const uint* $words, GLOBAL int* $above, GLOBAL int* $below) {
  LOCAL int lasts[$items], firsts[$items];
  const int part = ITEM / SUB_GROUP, x = GROUP_X * SUB_GROUP + ITEM % SUB_GROUP;
  const int a_part = ($bands + 7) / 8;
  const int from = part * a_part, to = smaller(from + a_part, $bands);
  int last = -$none, first = $height + $none;
  if (x < $width) {
    $unroll
    for (int b = from; b < to; ++b) {
      const uint word = $words[(long)b * $pitch + x];
      if (word != 0) {
        last = b * 32 + HIGHEST_BIT(word);
        first = smaller(first, b * 32 + LOWEST_BIT(word));
      }
    }
  }
  lasts[ITEM] = last;
  firsts[ITEM] = first;
  BARRIER;
  if (x >= $width) return;
  int over = -$none, under = $height + $none;
  for (int k = 0; k < 8; ++k) {
    const int other = k * SUB_GROUP + ITEM % SUB_GROUP;
    if (k < part) over = larger(over, lasts[other]);
    if (k > part) under = smaller(under, firsts[other]);
  }
  $unroll
  for (int b = from; b < to; ++b) {
    const uint word = $words[(long)b * $pitch + x];
    $above[(long)b * $pitch + x] = over;
    if (word != 0) over = b * 32 + HIGHEST_BIT(word);
  }
  $unroll
  for (int b = to - 1; b >= from; --b) {
    const uint word = $words[(long)b * $pitch + x];
    $below[(long)b * $pitch + x] = under;
    if (word != 0) under = b * 32 + LOWEST_BIT(word);
  }
}

// -- part: nearest_row
// The nearest set row of a column, the upper one of two. word: the set rows of y's band.
FUNCTION int nearest_row(const uint word, const int above, const int below, const int y) {
  const uint here = 1u << (y % 32);
  const uint upper = word & (here | (here - 1u)), lower = word & ~(here - 1u);
  const int over = upper != 0 ? y / 32 * 32 + HIGHEST_BIT(upper) : above;
  const int under = lower != 0 ? y / 32 * 32 + LOWEST_BIT(lower) : below;
  return y - over <= under - y ? over : under;
}

// -- part: cost(type number = int, name name = cost_alone, stmt cost)
// What pixel x pays for column j, of which `site` says how far its nearest set row is.
FUNCTION $number $name(const int x, const int j, const int site) {
  $cost
}

// -- part: search(name name = search_alone, name space = IN_LOCAL, type number, expr most,
//    stmt unroll, stmt cost)
// The leftmost of the columns lo .. hi that are nearest to x; by all of a sub-group together.
FUNCTION int $name(SUB_GROUP_PARAMS, $space const int* sites, const int lo, const int hi, const int x) {
  $number best = $most;
  int column = lo;
  $unroll
  for (int j = lo + ITEM % SUB_GROUP; j <= hi; j += SUB_GROUP) {
    const $number v = $cost(x, j, sites[j]);
    if (v < best) {
      best = v;
      column = j;
    }
  }
  const $number least = sub_group_min_$number(SUB_GROUP_ARGS, best);
  return sub_group_min_int(SUB_GROUP_ARGS, best == least ? column : 0x7fffffff);
}

// -- part: root(name name = root_alone, type number)
// A correctly rounded root.
FUNCTION float $name(const $number square) {
  // Below 2^24 the square is exact in float, so that its root is rounded once.
  return square < (1 << 24) ? sqrt((float)square) : (float)sqrt((double)square);
}

// -- part: rows(bool local, int fours, int sub_groups, expr points_pitch = 265, buffer all_sites,
//    expr pitch, buffer all_points, expr rows, int items, expr width, buffer words, buffer above,
//    expr none, buffer below, expr height, expr site, name space, type point = ushort, expr points,
//    name search = search_alone, bool by_squares, type number, expr most, stmt cost,
//    expr out = $distances + y * $width, expr result)
// Some rows a group, each worked on by some of its sub-groups, which share the points of the row.
KERNEL($items) void rows(GLOBAL const uint* $words, GLOBAL const int* $above,
                         GLOBAL const int* $below, GLOBAL float* $distances) {
  SUB_GROUP_MEMORY;
#if $local
  LOCAL int4 four_sites[$fours];
  LOCAL ushort points[$sub_groups * $points_pitch];
  IN_LOCAL int* const sites = (IN_LOCAL int*)four_sites;
#else
  GLOBAL int* const sites = $all_sites + (long)GROUP_X * $pitch;
  GLOBAL int* const points = $all_points + (long)GROUP_X * $sub_groups * $points_pitch;
#endif
  const int sub_item = ITEM % SUB_GROUP, sub_group = ITEM / SUB_GROUP;
  const int first = GROUP_X * $rows, band = first / 32;
  for (int x = ITEM; x < $pitch; x += $items) {
    const long at = (long)band * $pitch + x;
    const bool inside = x < $width;
    const uint word = inside ? $words[at] : 0u;
    const int above = inside ? $above[at] : -$none;
    const int below = inside ? $below[at] : $height + $none;
    for (int i = 0; i < $rows; ++i) {
      const int row = nearest_row(word, above, below, first + i);
      const int away = smaller(row < first + i ? first + i - row : row - first - i, $none);
      sites[i * $pitch + x] = $site;
    }
  }
  GLOBAL_BARRIER;
  const int sharing = $sub_groups / $rows, part = sub_group % sharing, y = first + sub_group / sharing;
  $space const int* const row = sites + sub_group / sharing * $pitch;
  $space $point* const nearest = points + sub_group * $points_pitch;
  if (y >= $height) return;
  if (sub_item == 0) {
    nearest[0] = 0;
    nearest[$points] = ($point)($width - 1);
  }
  SUB_GROUP_BARRIER;
  // The points that part this sub-group's share from the others', then those of its share.
  int from = 0, to = $points;
  for (int bit = sharing / 2; bit > 0; bit /= 2) {
    const int k = (from + to) / 2, x = smaller(32 * k, $width - 1);
    const int column = $search(SUB_GROUP_ARGS, row, nearest[from], nearest[to], x);
    if (sub_item == 0) nearest[k] = ($point)column;
    SUB_GROUP_BARRIER;
    if ((part & bit) != 0) {
      from = k;
    } else {
      to = k;
    }
  }
  for (int step = (to - from) / 2; step > 0; step /= 2) {
    for (int k = from + step; k < to; k += 2 * step) {
      const int lo = nearest[k - step], hi = nearest[k + step];
      const int x = smaller(32 * k, $width - 1);
      const int column = lo == hi ? lo : $search(SUB_GROUP_ARGS, row, lo, hi, x);
      if (sub_item == 0) nearest[k] = ($point)column;
    }
    SUB_GROUP_BARRIER;
  }
  to = smaller(to, ($width + 31) / 32);
  for (int k = from; k < to; ++k) {
    const int x = 32 * k + sub_item, lo = nearest[k], hi = nearest[k + 1];
#if $by_squares
    // Four columns at a time, in two chains; those before lo and after hi never win.
    int best = 0x7fffffff, other = 0x7fffffff;
    for (int j = lo & ~3; j <= hi; j += 4) {
      const int4 s = *(IN_LOCAL const int4*)(row + j);
      const int way = -2 * x, start = way * j;
      best = smaller(smaller(best, s.x + start), s.y + (start + way));
      other = smaller(smaller(other, s.z + (start + 2 * way)), s.w + (start + 3 * way));
    }
    best = smaller(best, other) + x * x;
#else
    $number best = $most;
    int column = lo;
    for (int j = lo; j <= hi; ++j) {
      const $number v = $cost(x, j, row[j]);
      if (v < best) {
        best = v;
        column = j;
      }
    }
#endif
    if (x < $width) ($out)[x] = $result;
  }
}
