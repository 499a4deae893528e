// Objects of an image of labels: sums over their pixels, outer outlines, and hulls. A record of
// words for each label; sums are whole numbers, so that no order counts. jit/components/objects.cpp
// says how the kernels follow one another.
// Alone: where label.cl has them.
//   $items      of a group
//   $count      objects
//   $id         a label that has a record
//   $slots      objects that a group sums in local memory
//   $whole      whether labels are of a class of whole numbers
//   $has_codes  whether sums of an image of integers are taken, too
//   $label      of pixel (x, y)
//   $fits       rows of objects that there is memory for
//   $grid_rows  rows of pixels that are on the grid
//   $size       numbers of a result
//   $gaps       whether objects may have more rows than pixels
//   $tallest    rows of an object that few items make the hull of
//   $lanes      items that make it
//   $number     of a label

FUNCTION uint find_global(GLOBAL uint* parent, const uint i) { return i; }
FUNCTION void join_global(GLOBAL uint* parent, const uint a, const uint b) {}

// -- part: functions
// Places of a record. Sums of 64 bits have two words, the lower one first; what is least is kept as
// the largest of what it leaves to a number that is larger, so that all begin as 0.
#define OF_PIXELS 0
#define OF_X 1
#define OF_Y 3
#define OF_XX 5
#define OF_YY 7
#define OF_XY 9
#define OF_LEFT 11
#define OF_RIGHT 12
#define OF_TOP 13
#define OF_BOTTOM 14
#define OF_QUARTERS 15
#define OF_EVEN 16
#define OF_ODD 17
#define OF_CORNERS 18
#define OF_PLACE 19  // of its rows: of the first one, and 1
#define OF_SUM 20
#define OF_SUM_X 22
#define OF_SUM_Y 24
#define OF_LEAST 26
#define OF_LARGEST 27
// Of record 0: pixels whose labels have no record, rows that are given away, nodes of the grid,
// pixels that may be the first of a piece beside the grid, and tall objects.
#define OF_UNNUMBERED 0
#define OF_ROWS 1
#define OF_NODES 2
#define OF_FIRSTS 3
#define OF_TALL 4  // objects of many rows that have memory for them
// Of all codes there are.
#define ABOVE_CODES 65536u
#define OF_WORDS 28u

// What a column has of an object: its windows' quarters, its pixels and sums of their rows, the first
// row and that after the last, and of codes.
struct Part {
  uint id, quarters, pixels, sum_y, sum_yy;
  int first, end;
  uint codes, codes_y, least, largest;
};

// Not inlined, like all that has atomic operations and is called in loops (kernels/opencl.clh).
FUNCTION void add_long(GLOBAL uint* words, const ulong value) {
  const uint low = (uint)value;
  const uint before = ADD_GLOBAL(&words[0], low);
  const uint high = (uint)(value >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0u) ADD_GLOBAL(&words[1], high);
}
FUNCTION int side_dx(const int side) { return side == 0 ? -1 : side == 2 ? 1 : 0; }
FUNCTION int side_dy(const int side) { return side == 1 ? -1 : side == 3 ? 1 : 0; }
// Quotients rounded down and up; b > 0. Those of words take a fraction of the time.
FUNCTION long floor_over(const long a, const long b) {
  if (a == (long)(int)a && b == (long)(int)b) {
    const int quotient = (int)a / (int)b;
    return (long)((int)a % (int)b < 0 ? quotient - 1 : quotient);
  }
  const long quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}
FUNCTION long ceil_over(const long a, const long b) { return -floor_over(-a, b); }

// -- part: label_at(type number, name label_at, expr width, expr height, expr label)
// The label of a pixel, 0 beside the image: read in any case, so that several are on their way.
FUNCTION $number $label_at(PARAMS, int x, int y) {
  const bool inside = (uint)x < (uint)$width && (uint)y < (uint)$height;
  x = replicate(x, $width);
  y = replicate(y, $height);
  const $number label = ($number)$label;
  return inside ? label : ($number)0;
}

// -- part: numbered(name numbered, type number, bool whole, expr count)
// A label's object. One that no record has is the background's.
FUNCTION uint $numbered(PARAMS, const $number label) {
#if $whole
  return label <= (uint)$count ? label : 0u;
#else
  const uint id = label > 0.0f && label <= (float)$count ? (uint)label : 0u;
  return (float)id == label ? id : 0u;
#endif
}

// -- part: object(name object, name numbered, name label_at)
// The object of a pixel, 0 beside the image.
FUNCTION uint $object(PARAMS, const int x, const int y) {
  return $numbered(ARGS, $label_at(ARGS, x, y));
}

// -- part: sums(int slots, bool has_codes, int items, type id, expr height, type number,
//    name label_at, name numbered, buffer records, name object, expr width, expr code)
// Sums over pixels and windows of 2x2 pixels. A group has 128 columns of 32 rows, an item a column;
// objects that it meets have places in local memory, others are summed in global memory. There the
// words that are largest have all bits changed: local memory has the least of numbers.
KERNEL($items) void sums(GLOBAL uint* $records) {
#define SLOTS $slots
#if $has_codes
#define SLOT_WORDS 18
#else
#define SLOT_WORDS 11
#endif
#define ROWS 32
#define ACROSS ($items + 1)
#define ID(at_x, at_y) labels[((at_y) - y0 + 1) * ACROSS + (at_x) - x0 + 1]
  LOCAL uint ids[SLOTS];
  LOCAL uint slots[SLOTS * SLOT_WORDS];
  LOCAL $id labels[(ROWS + 1) * ACROSS];  // with the row above and the column to the left
  const int x0 = GROUP_X * $items, y0 = GROUP_Y * ROWS, x = x0 + ITEM;
  const int y_end = smaller(y0 + ROWS, $height + 1);
  for (int i = ITEM; i < SLOTS * SLOT_WORDS; i += $items) {
    const int word = i % SLOT_WORDS;
    slots[i] = (word >= 6 && word < 10) || word >= 16 ? 0xffffffffu : 0u;
  }
  for (int i = ITEM; i < SLOTS; i += $items) ids[i] = 0xffffffffu;
  BARRIER;
  // Of objects that want the same place the least gets it.
  {
    uint before = 0u, unnumbered = 0u;
#pragma unroll 11
    for (int row = 0; row <= ROWS; ++row) {
      const $number label = $label_at(ARGS, x, y0 - 1 + row);
      const uint id = $numbered(ARGS, label);
      labels[row * ACROSS + ITEM + 1] = ($id)id;
      unnumbered += row > 0 && id == 0u && label > 0 ? 1u : 0u;
      if (id != 0u && id != before) MIN_LOCAL(&ids[id % SLOTS], id);
      before = id;
    }
    if (unnumbered != 0u) ADD_GLOBAL(&$records[OF_UNNUMBERED], unnumbered);
    if (ITEM <= ROWS) {
      const uint id = $object(ARGS, x0 - 1, y0 - 1 + ITEM);
      labels[ITEM * ACROSS] = ($id)id;
      if (id != 0u) MIN_LOCAL(&ids[id % SLOTS], id);
    }
  }
  BARRIER;
  if (x <= $width) {
    uint over_left = ID(x - 1, y0 - 1), over = ID(x, y0 - 1);
    // What the column has of one object; of the one before, whose turn to be added comes when there
    // is a third or none: most columns add what they have together, at the end.
    struct Part now = {0u, 0u, 0u, 0u, 0u, 0, 0, 0u, 0u, 0u, 0u}, older = now;
    for (int y = y0; y < y_end; ++y) {
      const uint left = ID(x - 1, y), here = ID(x, y);
      const bool plain = over_left == here && over == here && left == here;
      uint most = here;
      bool one = true;
      if (!plain) {
        const uint above = over > over_left ? over : over_left, beside = left > here ? left : here;
        most = above > beside ? above : beside;
        one = (over_left == most || over_left == 0u) && (over == most || over == 0u) &&
              (left == most || left == 0u) && (here == most || here == 0u);
      }
      const uint owner = here != 0u ? here : one ? most : 0u;
      if (owner != 0u && owner != now.id) {
        if (older.id != 0u) {
          // -- part: run(expr width, expr height, bool has_codes, buffer records)
          // Adds what the column has of an object.
          const uint dx = (uint)ITEM, pixels_x = older.pixels * dx;
          if (ids[older.id % SLOTS] == older.id) {
            IN_LOCAL uint* const slot = &slots[older.id % SLOTS * SLOT_WORDS];
            if (older.quarters != 0u) ADD_LOCAL(&slot[10], older.quarters);
            if (older.pixels != 0u) {
              ADD_LOCAL(&slot[0], older.pixels);
              ADD_LOCAL(&slot[1], pixels_x);
              ADD_LOCAL(&slot[2], older.sum_y);
              ADD_LOCAL(&slot[3], pixels_x * dx);
              ADD_LOCAL(&slot[4], older.sum_yy);
              ADD_LOCAL(&slot[5], older.sum_y * dx);
              MIN_LOCAL(&slot[6], ~(uint)($width - x));
              MIN_LOCAL(&slot[7], ~((uint)x + 1u));
              MIN_LOCAL(&slot[8], ~(uint)($height - older.first));
              MIN_LOCAL(&slot[9], ~(uint)older.end);
#if $has_codes
              ADD_LOCAL(&slot[11], older.codes);
              ADD_LOCAL(&slot[12], older.codes * dx & 0xffffu);
              ADD_LOCAL(&slot[13], older.codes * dx >> 16);
              ADD_LOCAL(&slot[14], older.codes_y & 0xffffu);
              ADD_LOCAL(&slot[15], older.codes_y >> 16);
              MIN_LOCAL(&slot[16], ~older.least);
              MIN_LOCAL(&slot[17], ~older.largest);
#endif
            }
          } else {
            GLOBAL uint* const record = &$records[older.id * OF_WORDS];
            if (older.quarters != 0u) ADD_GLOBAL(&record[OF_QUARTERS], older.quarters);
            if (older.pixels != 0u) {
              const ulong n = older.pixels, column = (ulong)x, row = (ulong)y0;
              const ulong all_y = older.sum_y + n * row;
              ADD_GLOBAL(&record[OF_PIXELS], older.pixels);
              add_long(&record[OF_X], n * column);
              add_long(&record[OF_Y], all_y);
              add_long(&record[OF_XX], n * column * column);
              add_long(&record[OF_YY], older.sum_yy + 2u * row * older.sum_y + n * row * row);
              add_long(&record[OF_XY], all_y * column);
              MAX_GLOBAL(&record[OF_LEFT], (uint)($width - x));
              MAX_GLOBAL(&record[OF_RIGHT], (uint)x + 1u);
              MAX_GLOBAL(&record[OF_TOP], (uint)($height - older.first));
              MAX_GLOBAL(&record[OF_BOTTOM], (uint)older.end);
#if $has_codes
              add_long(&record[OF_SUM], older.codes);
              add_long(&record[OF_SUM_X], older.codes * column);
              add_long(&record[OF_SUM_Y], older.codes_y + older.codes * row);
              MAX_GLOBAL(&record[OF_LEAST], older.least);
              MAX_GLOBAL(&record[OF_LARGEST], older.largest);
#endif
            }
          }
          // -- end
        }
        older = now;
        now.id = owner;
        now.quarters = now.pixels = now.sum_y = now.sum_yy = 0u;
        now.first = y;
#if $has_codes
        now.codes = now.codes_y = now.least = now.largest = 0u;
#endif
      }
      if (here != 0u) {
        const uint dy = (uint)(y - y0);
        if (now.pixels == 0u) now.first = y;
        now.end = y + 1;
        ++now.pixels;
        now.sum_y += dy;
        now.sum_yy += dy * dy;
#if $has_codes
        const uint code = $code;
        now.codes += code;
        now.codes_y += code * dy;
        now.least = ABOVE_CODES - code > now.least ? ABOVE_CODES - code : now.least;
        now.largest = code > now.largest ? code : now.largest;
#endif
      }
      // The window's pixels in a circle. Of one object: 1 for one pixel, -1 for three, -2 for two
      // that are across, as two bits each for the 16 sets of them, 2 more than they are.
      if (!plain && one) {
        const uint set = (over_left == most ? 1u : 0u) | (over == most ? 2u : 0u) |
                         (here == most ? 4u : 0u) | (left == most ? 8u : 0u);
        now.quarters += (0x964b63beu >> 2u * set & 3u) - 2u;
      } else if (!plain) {
        // Each object once, by its first.
        const uint around[4] = {over_left, over, here, left};
        for (int k = 0; k < 4; ++k) {
          const uint id = around[k];
          bool earlier = id == 0u;
          uint alike = 0u;
          for (int other = 0; other < 4; ++other) {
            const bool same = around[other] == id;
            earlier = earlier || (same && other < k);
            alike += same ? 1u : 0u;
          }
          const bool diagonal = alike == 2u && around[(k + 2) % 4] == id;
          const uint quarters = alike == 1u ? 1u : alike == 3u ? 0u - 1u : diagonal ? 0u - 2u : 0u;
          if (earlier || quarters == 0u) continue;
          if (ids[id % SLOTS] == id) {
            ADD_LOCAL(&slots[id % SLOTS * SLOT_WORDS + 10], quarters);
          } else {
            ADD_GLOBAL(&$records[id * OF_WORDS + OF_QUARTERS], quarters);
          }
        }
      }
      over_left = left;
      over = here;
    }
    for (int turn = 0; turn < 2; ++turn) {
      if (older.id != 0u) {
        $run
      }
      older = now;
    }
  }
  BARRIER;
  for (int i = ITEM; i < SLOTS; i += $items) {
    if (ids[i] == 0xffffffffu) continue;
    const IN_LOCAL uint* const slot = &slots[i * SLOT_WORDS];
    GLOBAL uint* const record = &$records[ids[i] * OF_WORDS];
    const ulong n = slot[0], sx = slot[1], sy = slot[2];
    const ulong column = (ulong)x0, row = (ulong)y0;
    if (slot[10] != 0u) ADD_GLOBAL(&record[OF_QUARTERS], slot[10]);
    if (n == 0u) continue;
    ADD_GLOBAL(&record[OF_PIXELS], slot[0]);
    add_long(&record[OF_X], sx + n * column);
    add_long(&record[OF_Y], sy + n * row);
    add_long(&record[OF_XX], slot[3] + 2u * column * sx + n * column * column);
    add_long(&record[OF_YY], slot[4] + 2u * row * sy + n * row * row);
    add_long(&record[OF_XY], slot[5] + column * sy + row * sx + n * column * row);
    MAX_GLOBAL(&record[OF_LEFT], ~slot[6]);
    MAX_GLOBAL(&record[OF_RIGHT], ~slot[7]);
    MAX_GLOBAL(&record[OF_TOP], ~slot[8]);
    MAX_GLOBAL(&record[OF_BOTTOM], ~slot[9]);
#if $has_codes
    const ulong codes = slot[11];
    add_long(&record[OF_SUM], codes);
    add_long(&record[OF_SUM_X], slot[12] + ((ulong)slot[13] << 16) + codes * column);
    add_long(&record[OF_SUM_Y], slot[14] + ((ulong)slot[15] << 16) + codes * row);
    MAX_GLOBAL(&record[OF_LEAST], ~slot[16]);
    MAX_GLOBAL(&record[OF_LARGEST], ~slot[17]);
#endif
  }
#undef SLOTS
#undef SLOT_WORDS
#undef ROWS
#undef ACROSS
#undef ID
}

// -- part: rows(int items, expr count, buffer records, expr height, expr gaps, expr fits,
//    int tallest, buffer tall, buffer ends)
// Gives each object memory for the ends of its rows, in no order, as zeros, and lists tall ones. The
// group writes the zeros of all its objects together: one of them may have most rows of the image.
KERNEL($items) void rows(GLOBAL uint* $records, GLOBAL uint* $ends, GLOBAL uint* $tall) {
  LOCAL uint places[$items], lengths[$items];
  const uint id = (uint)(GROUP_X * $items + ITEM) + 1u;
  uint place = 0u, rows = 0u;
  if (id <= (uint)$count && $records[id * OF_WORDS + OF_PIXELS] != 0u) {
    GLOBAL uint* const record = &$records[id * OF_WORDS];
    rows = record[OF_BOTTOM] + record[OF_TOP] - (uint)$height;
    // Where the sum of all might not fit a word, labels of rows without pixels are not for here.
    const bool is_dense = $gaps != 0 || rows <= record[OF_PIXELS];
    place = ADD_GLOBAL(&$records[OF_ROWS], is_dense ? rows : $fits + 1u);
    if (place > $fits || rows > $fits - place) {
      rows = 0u;
    } else {
      record[OF_PLACE] = place + 1u;
      if (rows > (uint)$tallest) $tall[ADD_GLOBAL(&$records[OF_TALL], 1u)] = id;
    }
  }
  places[ITEM] = 2u * place;
  lengths[ITEM] = 2u * rows;
  BARRIER;
  for (int i = 0; i < $items; ++i) {
    const uint end = lengths[i];
    for (uint k = (uint)ITEM; k < end; k += $items) $ends[places[i] + k] = 0u;
  }
}

// -- part: ends(int items, type id, name object, buffer records, expr height, buffer ends,
//    expr width, buffer firsts)
// The ends of each object's rows, and a list of pixels that may be the first of a piece whose outline
// no pixel of the grid is on.
KERNEL($items) void ends(GLOBAL uint* $records, GLOBAL uint* $ends, GLOBAL uint* $firsts) {
#define ROWS 8
#define ACROSS ($items + 2)
#define ID(at_x, at_y) labels[((at_y) - y0 + 1) * ACROSS + (at_x) - x0 + 1]
  LOCAL uint of_group[2];  // how many pixels of the list the group has, and where they begin
  LOCAL $id labels[(ROWS + 2) * ACROSS];  // with those around the group's
  const int x0 = GROUP_X * $items, y0 = GROUP_Y * ROWS, from_x = x0 + ITEM;
  if (ITEM == 0) of_group[0] = 0u;
#pragma unroll
  for (int row = 0; row < ROWS + 2; ++row) {
    labels[row * ACROSS + ITEM + 1] = ($id)$object(ARGS, from_x, y0 - 1 + row);
  }
  if (ITEM < 2 * (ROWS + 2)) {
    const int row = ITEM / 2, column = ITEM % 2 * ($items + 1);
    labels[row * ACROSS + column] = ($id)$object(ARGS, x0 - 1 + column, y0 - 1 + row);
  }
  BARRIER;
  uint rows = 0u;
  for (int row = 0; row < ROWS; ++row) {
    const int from_y = y0 + row;
    const uint id = ID(from_x, from_y);
    if (id == 0u) continue;
    const bool begins = ID(from_x - 1, from_y) != id, stops = ID(from_x + 1, from_y) != id;
    if (!begins && !stops) continue;
    GLOBAL const uint* const record = &$records[id * OF_WORDS];
    if (record[OF_PLACE] != 0u) {
      const uint of_object = (uint)from_y + record[OF_TOP] - (uint)$height;
      GLOBAL uint* const end = &$ends[2u * (record[OF_PLACE] - 1u + of_object)];
      if (begins) MAX_GLOBAL(&end[0], (uint)($width - from_x));
      if (stops) MAX_GLOBAL(&end[1], (uint)from_x + 1u);
    }
    if (begins && from_x % 32 != 0 && from_y % 32 != 0 && ID(from_x, from_y - 1) != id &&
        ID(from_x - 1, from_y - 1) != id && ID(from_x - 1, from_y + 1) != id) {
      rows |= 1u << row;
    }
  }
  uint at = rows != 0u ? ADD_LOCAL(&of_group[0], COUNT_BITS(rows)) : 0u;
  BARRIER;
  if (ITEM == 0) {
    of_group[1] = of_group[0] != 0u ? ADD_GLOBAL(&$records[OF_FIRSTS], of_group[0]) : 0u;
  }
  BARRIER;
  at += of_group[1];
  for (int row = 0; row < ROWS; ++row) {
    if ((rows >> row & 1u) != 0u) $firsts[at++] = (uint)(y0 + row) * (uint)$width + (uint)from_x;
  }
#undef ROWS
#undef ACROSS
#undef ID
}

// -- part: pieces(name object, buffer records, int items, buffer firsts, expr width, expr height)
// Outlines from those pixels, which have no earlier one if they are a piece's first.
KERNEL($items) void pieces(GLOBAL uint* $records, GLOBAL const uint* $firsts) {
#define ID(at_x, at_y) $object(ARGS, at_x, at_y)
  const uint firsts = $records[OF_FIRSTS], step = (uint)(GROUPS_X * $items);
  for (uint at = (uint)(GROUP_X * $items + ITEM); at < firsts; at += step) {
    const int from_x = (int)($firsts[at] % (uint)$width), from_y = (int)($firsts[at] / (uint)$width);
    const uint id = ID(from_x, from_y);
    GLOBAL uint* const record = &$records[id * OF_WORDS];
    const uint start = 4u * ((uint)from_x * (uint)$height + (uint)from_y);
    uint key = start, even = 0u, odd = 0u, corners = 0u;
    int x = from_x, y = from_y, side = 0, kind = -1, last = -1, opening = -1;
    bool on_grid = false;
    do {
      // -- part: step
      // One step of a walk along an outline: to the next pixel or, round this one, to its next side.
      {
        const int next = (side + 1) & 3;
        const int by_x = x + side_dx(next), by_y = y + side_dy(next);
        const int far_x = by_x + side_dx(side), far_y = by_y + side_dy(side);
        const bool far = ID(far_x, far_y) == id, by = ID(by_x, by_y) == id;
        kind = far ? 2 : by ? (next & 1) : -1;
        x = far ? far_x : by ? by_x : x;
        y = far ? far_y : by ? by_y : y;
        side = far ? (side + 3) & 3 : by ? side : next;
      }
      // -- end
      // -- part: counted
      // What the step counts.
      if (kind >= 0) {
        even += kind == 2 ? 0u : 1u;
        odd += kind == 2 ? 1u : 0u;
        corners += last >= 0 && kind != last ? 1u : 0u;
        last = kind;
      }
      // -- end
      opening = opening < 0 ? last : opening;
      on_grid = x % 32 == 0 || y % 32 == 0;
      key = 4u * ((uint)x * (uint)$height + (uint)y) + (uint)side;
    } while (!on_grid && key > start);
    if (on_grid || key != start) continue;
    corners += last != opening ? 1u : 0u;
    ADD_GLOBAL(&record[OF_EVEN], even);
    ADD_GLOBAL(&record[OF_ODD], odd);
    ADD_GLOBAL(&record[OF_CORNERS], corners);
  }
#undef ID
}

// -- part: nodes(name object, int items, buffer forest, buffer least, buffer records, buffer list)
// Nodes for the sides of the grid's pixels where outlines pass, each alone, and a list of them: few
// pixels of the grid have any, and those that go on from them are to be side by side.
KERNEL($items) void nodes(GLOBAL uint* $forest, GLOBAL uint* $least, GLOBAL uint* $list,
                          GLOBAL uint* $records) {
#define ID(at_x, at_y) $object(ARGS, at_x, at_y)
  LOCAL uint of_group[2];  // how many nodes the group has, and where they begin in the list
  if (ITEM == 0) of_group[0] = 0u;
  BARRIER;
  const uint place = (uint)(GROUP_X * $items + ITEM);
  // -- part: pixel_of_place(expr grid_rows, expr width, expr height)
  // The pixel of a place of the grid (every 32nd row, then every 32nd column), and its object.
  const uint of_rows = (uint)$grid_rows * (uint)$width;
  const bool in_row = place < of_rows;
  const uint beyond = place - of_rows;  // of a column's place
  const int from_x = in_row ? (int)(place % (uint)$width) : (int)(beyond / (uint)$height) * 32;
  const int from_y = in_row ? (int)(place / (uint)$width) * 32 : (int)(beyond % (uint)$height);
  const bool is_place = from_x < $width && from_y < $height && (in_row || from_y % 32 != 0);
  const uint id = is_place ? ID(from_x, from_y) : 0u;
  // -- end
  uint sides = 0u;
  for (int side = 0; side < 4 && id != 0u; ++side) {
    if (ID(from_x + side_dx(side), from_y + side_dy(side)) == id) continue;
    const uint node = 4u * place + (uint)side;
    $forest[node] = node;
    $least[node] = 0xffffffffu;
    sides |= 1u << side;
  }
  uint at = sides != 0u ? ADD_LOCAL(&of_group[0], COUNT_BITS(sides)) : 0u;
  BARRIER;
  if (ITEM == 0) {
    of_group[1] = of_group[0] != 0u ? ADD_GLOBAL(&$records[OF_NODES], of_group[0]) : 0u;
  }
  BARRIER;
  at += of_group[1];
  for (int side = 0; side < 4; ++side) {
    if ((sides >> side & 1u) != 0u) $list[at++] = 4u * place + (uint)side;
  }
#undef ID
}

// -- part: walks(name object, expr width, expr grid_rows, expr height, buffer records, int items,
//    buffer list, buffer forest, buffer keys, buffer counts)
// From each node to the next one of its outline, to which it is joined.
KERNEL($items) void walks(GLOBAL uint* $forest, GLOBAL uint* $keys, GLOBAL uint* $counts,
                          GLOBAL const uint* $list, GLOBAL const uint* $records) {
#define ID(at_x, at_y) $object(ARGS, at_x, at_y)
#define PLACE_OF(x, y)                                             \
  ((y) % 32 == 0 ? (uint)((y) / 32) * (uint)$width + (uint)(x)     \
                 : (uint)$grid_rows * (uint)$width + (uint)((x) / 32) * (uint)$height + (uint)(y))
  const uint nodes = $records[OF_NODES], step = (uint)(GROUPS_X * $items);
  for (uint at = (uint)(GROUP_X * $items + ITEM); at < nodes; at += step) {
    const uint node = $list[at], place = node / 4u;
    $pixel_of_place
    int x = from_x, y = from_y, side = (int)(node % 4u), kind = -1, last = -1;
    uint even = 0u, odd = 0u, corners = 0u, least = 0xffffffffu;
    do {
      const uint key = 4u * ((uint)x * (uint)$height + (uint)y) + (uint)side;
      least = key < least ? key : least;
      $step
      $counted
    } while (x % 32 != 0 && y % 32 != 0);
    join_global($forest, node, 4u * PLACE_OF(x, y) + (uint)side);
    // The corner after its last step belongs to it, too.
    for (kind = -1; last >= 0 && kind < 0;) {
      $step
      corners += kind >= 0 && kind != last ? 1u : 0u;
    }
    $keys[node] = least;
    $counts[3u * node] = even;
    $counts[3u * node + 1u] = odd;
    $counts[3u * node + 2u] = corners;
  }
#undef PLACE_OF
#undef ID
}

// -- part: outlines(buffer records, int items, buffer list, buffer least, buffer forest,
//    buffer keys)
// The least key of each outline, at its root: that of a piece's first pixel, passed on its left, is
// that of an outer one.
KERNEL($items) void outlines(GLOBAL uint* $forest, GLOBAL const uint* $keys, GLOBAL uint* $least,
                             GLOBAL const uint* $list, GLOBAL const uint* $records) {
  const uint nodes = $records[OF_NODES], step = (uint)(GROUPS_X * $items);
  for (uint at = (uint)(GROUP_X * $items + ITEM); at < nodes; at += step) {
    const uint node = $list[at];
    MIN_GLOBAL(&$least[find_global($forest, node)], $keys[node]);
  }
}

// -- part: lengths(name object, buffer records, int items, buffer list, buffer least,
//    buffer forest, buffer counts)
// What the outer outlines count.
KERNEL($items) void lengths(GLOBAL uint* $forest, GLOBAL const uint* $counts,
                            GLOBAL const uint* $least, GLOBAL const uint* $list,
                            GLOBAL uint* $records) {
#define ID(at_x, at_y) $object(ARGS, at_x, at_y)
  const uint nodes = $records[OF_NODES], step = (uint)(GROUPS_X * $items);
  for (uint at = (uint)(GROUP_X * $items + ITEM); at < nodes; at += step) {
    const uint node = $list[at], place = node / 4u;
    if ($least[find_global($forest, node)] % 4u != 0u) continue;
    const uint even = $counts[3u * node], odd = $counts[3u * node + 1u];
    const uint corners = $counts[3u * node + 2u];
    $pixel_of_place
    GLOBAL uint* const record = &$records[id * OF_WORDS];
    if (even != 0u) ADD_GLOBAL(&record[OF_EVEN], even);
    if (odd != 0u) ADD_GLOBAL(&record[OF_ODD], odd);
    if (corners != 0u) ADD_GLOBAL(&record[OF_CORNERS], corners);
  }
#undef ID
}

// -- part: hull
// The columns where the hull of an object's pixels' sides begins, row by row; with sign -1 where
// it ends, as in a mirror. In doubled places, so that all are whole numbers. A point stands for the
// side between two rows (even: row k / 2 - 1 and k / 2) or beside a pixel (odd).
FUNCTION long hull_point(GLOBAL const uint* ends, const uint k, const uint rows, const int width,
                         const int sign) {
  const long none = (long)1 << 40;
  long least = none;
  for (uint row = k / 2u - (k % 2u == 0u && k != 0u ? 1u : 0u); row <= k / 2u && row < rows; ++row) {
    const uint end = sign > 0 ? ends[2u * row] : ends[2u * row + 1u];
    if (end == 0u) continue;
    const long column = sign > 0 ? (long)width - (long)end : 1 - (long)end;
    const long at = 2 * column - (k % 2u == 0u ? 0 : 1);
    least = at < least ? at : least;
  }
  return least;
}

// -- part: hull_stacks
// The lower hull of the points from `first` up to `end`, whose places the stack has then; returns how
// many there are.
FUNCTION uint hull_of_points(GLOBAL const uint* ends, GLOBAL uint* stack, const uint first,
                             const uint end, const uint rows, const int width, const int sign) {
  uint count = 0u;
  // The last two points: rows and columns.
  long ka = 0, a = 0, kb = 0, b = 0;
  for (uint k = first; k < end; ++k) {
    // -- part: further_point
    // The stack takes the point k, if there is one: those before it go that are not below the line
    // from the one before them to it.
    {
      const long c = hull_point(ends, k, rows, width, sign);
      const bool is_point = c < (long)1 << 40;
      while (is_point && count >= 2u && (b - a) * ((long)k - ka) >= (c - a) * (kb - ka)) {
        --count;
        kb = ka;
        b = a;
        if (count < 2u) break;
        ka = (long)stack[count - 2u];
        a = hull_point(ends, (uint)ka, rows, width, sign);
      }
      if (is_point) {
        stack[count] = k;
        ++count;
        ka = kb;
        a = b;
        kb = (long)k;
        b = c;
      }
    }
    // -- end
  }
  return count;
}
// The same of the points of four hulls, each of which begins `length` behind the one before: the
// first one's stack has them then. Every `apart`-th of `counts` says how many a hull has.
FUNCTION uint hull_of_hulls(GLOBAL const uint* ends, GLOBAL uint* stack,
                            const IN_LOCAL uint* counts, const int apart, const uint length,
                            const uint rows, const int width, const int sign) {
  uint count = 0u;
  long ka = 0, a = 0, kb = 0, b = 0;
  for (int hull = 0; hull < 4; ++hull) {
    const uint begin = (uint)hull * length, end = begin + counts[hull * apart];
    for (uint at = begin; at < end; ++at) {
      const uint k = stack[at];
      $further_point
    }
  }
  return count;
}
// Where a hull begins in a row, whose middle is between two of its points: the least column, rounded
// up.
FUNCTION long hull_column(GLOBAL const uint* ends, GLOBAL const uint* stack, const uint corner,
                          const uint row, const uint rows, const int width, const int sign) {
  const long before = (long)stack[corner - 1u], length = (long)stack[corner] - before;
  const long from = hull_point(ends, (uint)before, rows, width, sign);
  const long to = hull_point(ends, stack[corner], rows, width, sign);
  const long at = 2 * (long)row + 1;
  return ceil_over(from * length + (at - before) * (to - from), 2 * length);
}

// -- part: numbers(int items, expr count, buffer records, buffer out, int size, expr fits,
//    expr width, expr height, bool has_codes)
// All words of a record as numbers, without the pixels inside its hull: by an item an object.
KERNEL($items) void numbers(GLOBAL const uint* $records, GLOBAL double* $out) {
  const uint id = (uint)(GROUP_X * $items + ITEM);
  if (id > (uint)$count) return;
  GLOBAL const uint* const record = &$records[id * OF_WORDS];
  GLOBAL double* const out = $out + (long)id * $size;
  for (int k = 0; k < $size; ++k) out[k] = 0.0;
  if (id == 0u) {
    out[0] = (double)record[OF_UNNUMBERED];
    out[1] = record[OF_ROWS] > $fits ? 1.0 : 0.0;
    return;
  }
  if (record[OF_PIXELS] == 0u) return;
  out[0] = (double)record[OF_PIXELS];
  out[1] = (double)($width - (int)record[OF_LEFT]);
  out[2] = (double)record[OF_RIGHT];
  out[3] = (double)($height - (int)record[OF_TOP]);
  out[4] = (double)record[OF_BOTTOM];
  out[5] = (double)(int)record[OF_QUARTERS];
  out[6] = (double)record[OF_EVEN];
  out[7] = (double)record[OF_ODD];
  out[8] = (double)record[OF_CORNERS];
  for (int k = 0; k < 5; ++k) {
    out[10 + 2 * k] = (double)record[OF_X + 2 * k + 1];
    out[11 + 2 * k] = (double)record[OF_X + 2 * k];
  }
#if $has_codes
  out[20] = (double)(ABOVE_CODES - record[OF_LEAST]);
  out[21] = (double)record[OF_LARGEST];
  for (int k = 0; k < 3; ++k) {
    out[22 + 2 * k] = (double)record[OF_SUM + 2 * k + 1];
    out[23 + 2 * k] = (double)record[OF_SUM + 2 * k];
  }
#endif
}

// -- part: hulls(int items, int lanes, bool is_tall, buffer records, buffer tall, expr count,
//    expr height, int tallest, buffer ends, buffer stack, expr width, stmt unroll, buffer out,
//    int size)
// The pixels inside the hull of each object, by several items, half of them for each side:
// they make the hulls of a share of the points each, then every fourth the hull of four of them, until
// there is one. Tall objects are those of the list, others all that are not tall.
KERNEL($items) void hulls(GLOBAL const uint* $records, GLOBAL const uint* $ends,
                          GLOBAL uint* $stack, GLOBAL const uint* $tall, GLOBAL double* $out) {
  LOCAL uint counts[$items];
  LOCAL ulong insides[$items];
  const uint nth = (uint)(GROUP_X * ($items / $lanes) + ITEM / $lanes);
  const int lane = ITEM % $lanes, first_item = ITEM - lane;
#if $is_tall
  const uint id = nth < $records[OF_TALL] ? $tall[nth] : 0u;
#else
  const uint id = nth < (uint)$count ? nth + 1u : 0u;
#endif
  GLOBAL const uint* const record = &$records[id * OF_WORDS];
  const bool has_rows = id != 0u && record[OF_PIXELS] != 0u && record[OF_PLACE] != 0u;
  const uint all_rows = has_rows ? record[OF_BOTTOM] + record[OF_TOP] - (uint)$height : 0u;
  const uint rows = $is_tall || all_rows <= (uint)$tallest ? all_rows : 0u;
  const uint place = rows != 0u ? record[OF_PLACE] - 1u : 0u;
  GLOBAL const uint* const ends = $ends + 2u * place;
  GLOBAL uint* const stacks = $stack + 6u * place;
  const int sign = lane < $lanes / 2 ? 1 : -1, share = lane % ($lanes / 2);
  GLOBAL uint* const stack = sign > 0 ? stacks : stacks + 3u * rows;
  const uint points = rows != 0u ? 2u * rows + 1u : 0u;
  const uint length = (points + $lanes / 2 - 1) / ($lanes / 2);
  const uint first = smaller((uint)share * length, points), end = smaller(first + length, points);
  counts[ITEM] = hull_of_points(ends, &stack[first], first, end, rows, $width, sign);
  GLOBAL_BARRIER;
  $unroll
  for (int apart = 1; apart < $lanes / 2; apart *= 4) {
    if (share % (4 * apart) == 0) {
      counts[ITEM] = hull_of_hulls(ends, &stack[first], &counts[ITEM], apart, (uint)apart * length,
                                   rows, $width, sign);
    }
    GLOBAL_BARRIER;
  }
  ulong inside = 0u;
  for (uint row = (uint)lane; row < rows; row += $lanes) {
    long within = 1;
    for (int side = 0; side < 2; ++side) {
      GLOBAL const uint* const of_side = side == 0 ? stacks : stacks + 3u * rows;
      // The first corner that is not above the row's middle.
      uint least = 1u, most = counts[first_item + side * ($lanes / 2)] - 1u;
      while (least < most) {
        const uint middle = (least + most) / 2u;
        if (of_side[middle] < 2u * row + 1u) {
          least = middle + 1u;
        } else {
          most = middle;
        }
      }
      within -= hull_column(ends, of_side, least, row, rows, $width, side == 0 ? 1 : -1);
    }
    inside += within > 0 ? (ulong)within : 0u;
  }
  insides[ITEM] = inside;
  BARRIER;
  if (lane == 0 && rows != 0u) {
    ulong sum = 0u;
    for (int i = 0; i < $lanes; ++i) sum += insides[ITEM + i];
    ($out + (long)id * $size)[9] = (double)sum;
  }
}
