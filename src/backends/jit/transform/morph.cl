// Tables of 3x3 windows, again and again, of images that have 32 pixels of a row in a word, bit k for
// the k-th. A launch makes several iterations of a tile with what is around it in local memory; once
// nothing changes launches do nothing. jit/transform/morph.cpp says how they follow one another.
//   $items       of a group
//   $outside     pixels outside the image
//   $most        iterations that are wanted
//   $at_once     iterations of a launch
//   $alternates  one table: two images may take turns
//   $made        the pixels that a table makes of a window
//   $iteration   steps and turns
//   $chosen      the pixels that may change
//   $put         what becomes of those that a table made

FUNCTION uint morph_table(const uint* around) { return around[0] | around[4]; }

// -- part: functions
// Words and rows of a tile, and of what is around it.
#define MORPH_WORDS 8
#define MORPH_ROWS 128
#define MORPH_HALO 32
#define MORPH_ACROSS (MORPH_WORDS + 2)
#define MORPH_SIZE (MORPH_ACROSS * (MORPH_ROWS + 2 * MORPH_HALO))
// State: launches and iterations done, whether that was all, where the result is (one of two images,
// or 2: the one before the last), the last iteration that changed a pixel, and the last whose image
// differs from that before the last.
#define MORPH_LAUNCHES 0
#define MORPH_COUNT 1
#define MORPH_DONE 2
#define MORPH_RESULT 3
#define MORPH_CHANGED 4
#define MORPH_DIFFERS 5
#define MORPH_STATE 6

// Iterations that are left, up to some.
FUNCTION int morph_left(const uint count, const double most, const int at_once) {
  const double left = most - (double)count;
  return left < (double)at_once ? (int)left : at_once;
}
// The pixels of a word that are in the image.
FUNCTION uint morph_inside(const int word, const int y, const int width, const int height) {
  const int pixels = width - 32 * word;
  if (word < 0 || y < 0 || y >= height || pixels <= 0) return 0u;
  return pixels >= 32 ? 0xffffffffu : (1u << pixels) - 1u;
}
// The window's pixels of a word: by rows, each a word of them.
FUNCTION void morph_around(IN_LOCAL const uint* words, const int column, uint* around) {
  for (int dy = -1; dy <= 1; ++dy) {
    IN_LOCAL const uint* const row = words + dy * MORPH_ACROSS;
    const uint before = column > 0 ? row[-1] : 0u;
    const uint after = column + 1 < MORPH_ACROSS ? row[1] : 0u;
    around[3 * dy + 3] = SHIFTED_WORD(before, row[0], 31);
    around[3 * dy + 4] = row[0];
    around[3 * dy + 5] = SHIFTED_WORD(row[0], after, 1);
  }
}
// What the iterations come to; by one work-item.
FUNCTION void morph_advance(GLOBAL uint* state, const int alternates, const int iterations,
                            const double most) {
  const uint launch = LOAD_GLOBAL(&state[MORPH_LAUNCHES]);
  const uint count = LOAD_GLOBAL(&state[MORPH_COUNT]) + (uint)iterations;
  const uint differs = LOAD_GLOBAL(&state[MORPH_DIFFERS]);
  const bool ends = LOAD_GLOBAL(&state[MORPH_CHANGED]) < count;
  // Where two images take turns it is the first that is like the one before the last.
  const uint first = differs < 1u ? 2u : differs + 1u;
  const bool turns = alternates != 0 && !ends && first <= count;
  STORE_GLOBAL(&state[MORPH_LAUNCHES], launch + 1u);
  STORE_GLOBAL(&state[MORPH_COUNT], count);
  STORE_GLOBAL(&state[MORPH_RESULT], turns && (count - first) % 2u != 0u ? 2u : (launch + 1u) & 1u);
  if (ends || turns || (double)count >= most) STORE_GLOBAL(&state[MORPH_DONE], 1u);
}

// -- part: begin(int items, expr width, buffer state, expr pixel, buffer images)
// The image as words.
KERNEL($items) void begin(GLOBAL uint* $images, GLOBAL uint* $state) {
  const int word = GROUP_X * $items + ITEM, y = GROUP_Y, across = ($width + 31) / 32;
  if (word == 0 && y == 0) {
    for (int k = 0; k < MORPH_STATE; ++k) STORE_GLOBAL(&$state[k], 0u);
  }
  if (word >= across) return;
  uint bits = 0u;
  for (int x = 32 * word; x < smaller(32 * word + 32, $width); ++x) {
    if ($pixel != 0u) bits |= 1u << (x & 31);
  }
  $images[(long)y * across + word] = bits;
}

// -- part: iterate(int in_fields, buffer state, expr most, int at_once)
// Some iterations of a tile.
KERNEL($items) void iterate(GLOBAL uint* $images, GLOBAL uint* $tiles, GLOBAL uint* $state) {
  LOCAL uint words[(2 + $in_fields) * MORPH_SIZE];
  LOCAL uint tops[2];
  if (LOAD_GLOBAL(&$state[MORPH_DONE]) != 0u) return;
  const uint launch = LOAD_GLOBAL(&$state[MORPH_LAUNCHES]);
  const uint count = LOAD_GLOBAL(&$state[MORPH_COUNT]);
  const int iterations = morph_left(count, $most, $at_once);
  const int tile_x = GROUP_X, tile_y = GROUP_Y;
  // -- part: tile(expr width, expr tiles_across, buffer tiles, expr tiles_down, expr height,
  //    buffer images, expr outside, int items, bool alternates, stmt iteration, buffer state)
  // Iterations of a tile, unless nothing changed there and around it in the launch before.
  {
    const int across = ($width + 31) / 32, tile = tile_y * $tiles_across + tile_x;
    GLOBAL uint* const changed = $tiles + (long)(launch & 1u) * ($tiles_across * $tiles_down);
    bool active = launch == 0u;
    for (int k = 0; k < 9 && !active; ++k) {
      const int beside_x = tile_x + k % 3 - 1, beside_y = tile_y + k / 3 - 1;
      if (beside_x < 0 || beside_x >= $tiles_across || beside_y < 0 || beside_y >= $tiles_down) {
        continue;
      }
      active = $tiles[(1u - (launch & 1u)) * ($tiles_across * $tiles_down) +
                      beside_y * $tiles_across + beside_x] != 0u;
    }
    if (!active) {
      if (ITEM == 0) changed[tile] = 0u;
    } else {
      const long pixels = (long)across * $height;
      GLOBAL const uint* const from = $images + (long)(launch & 1u) * pixels;
      GLOBAL uint* const to = $images + (long)(1u - (launch & 1u)) * pixels;
      GLOBAL uint* const before = $images + 2 * pixels;
      const int first_word = tile_x * MORPH_WORDS - 1, first_row = tile_y * MORPH_ROWS - MORPH_HALO;
      const uint beside = $outside != 0u ? 0xffffffffu : 0u;
      for (int i = ITEM; i < MORPH_SIZE; i += $items) {
        const int word = first_word + i % MORPH_ACROSS, y = first_row + i / MORPH_ACROSS;
        const uint inside = morph_inside(word, y, $width, $height);
        const long at = (long)y * across + word;
        words[i] = inside == 0u ? beside : from[at] | (beside & ~inside);
#if $alternates
        words[MORPH_SIZE + i] = inside == 0u || count == 0u ? 0u : before[at];
#endif
      }
      if (ITEM < 2) tops[ITEM] = 0xffffffffu;
      BARRIER;
      uint top_changed = 0u, top_differs = 0u;
      int now = 0, reach = 0;
      for (int iteration = 0; iteration < iterations; ++iteration) {
        $iteration
      }
      // Local memory has the least of numbers: all bits are changed.
      if (top_changed != 0u) MIN_LOCAL(&tops[0], ~top_changed);
      if (top_differs != 0u) MIN_LOCAL(&tops[1], ~top_differs);
      BARRIER;
      if (ITEM == 0) {
        changed[tile] = ~tops[0];
        if (tops[0] != 0xffffffffu) MAX_GLOBAL(&$state[MORPH_CHANGED], ~tops[0]);
        if (tops[1] != 0xffffffffu) MAX_GLOBAL(&$state[MORPH_DIFFERS], ~tops[1]);
      }
      for (int i = ITEM; i < MORPH_SIZE; i += $items) {
        const int column = i % MORPH_ACROSS, row = i / MORPH_ACROSS - MORPH_HALO;
        const int word = first_word + column, y = first_row + i / MORPH_ACROSS;
        if (column == 0 || column > MORPH_WORDS || row < 0 || row >= MORPH_ROWS) continue;
        const uint inside = morph_inside(word, y, $width, $height);
        if (inside == 0u) continue;
        to[(long)y * across + word] = words[now * MORPH_SIZE + i] & inside;
#if $alternates
        before[(long)y * across + word] = words[(1 - now) * MORPH_SIZE + i] & inside;
#endif
      }
    }
  }
  // -- end
}

// -- part: advance(buffer state, bool alternates, expr most, int at_once)
// What the iterations of a launch come to.
KERNEL($items) void advance(GLOBAL uint* $state) {
  if (GROUP_X != 0 || GROUP_Y != 0 || ITEM != 0) return;
  if (LOAD_GLOBAL(&$state[MORPH_DONE]) == 0u) {
    const uint count = LOAD_GLOBAL(&$state[MORPH_COUNT]);
    morph_advance($state, $alternates, morph_left(count, $most, $at_once), $most);
  }
}

// -- end
// Alone: an iteration's steps are put together by jit/transform/morph.cpp.
KERNEL($items) void steps(GLOBAL uint* images, const uint count, const int iteration,
                          const uint beside, const int first_word, const int first_row) {
  LOCAL uint words[2 * MORPH_SIZE];
  uint top_changed = 0u, top_differs = 0u;
  int now = 0, reach = 0;
  // -- part: step(int items, expr width, expr height, expr chosen, expr made, stmt put)
  // What becomes of each word, as far from the tile as what is around it is still true.
  ++reach;
  for (int i = ITEM + reach * MORPH_ACROSS; i < MORPH_SIZE - reach * MORPH_ACROSS; i += $items) {
    const int column = i % MORPH_ACROSS, row = i / MORPH_ACROSS;
    IN_LOCAL const uint* const at = &words[now * MORPH_SIZE + i];
    uint around[9];
    morph_around(at, column, around);
    const uint old = *at, inside = morph_inside(first_word + column, first_row + row, $width, $height);
    const uint chosen = $chosen;
    const uint made = (((($made) & chosen) | (old & ~chosen)) & inside) | (beside & ~inside);
    $put
  }
  BARRIER;
  // -- end
  const int i = ITEM, column = 1, row = MORPH_HALO;
  const uint made = 1u, old = 0u, inside = 1u;
  // -- part: image(bool alternates)
  // The words of an image; those of the tile itself say whether it is another one.
  IN_LOCAL uint* const place = &words[(1 - now) * MORPH_SIZE + i];
  if (column > 0 && column <= MORPH_WORDS && row >= MORPH_HALO && row < MORPH_HALO + MORPH_ROWS) {
    const uint number = count + (uint)iteration + 1u;
    if (made != old) top_changed = number;
#if $alternates
    if (((made ^ *place) & inside) != 0u) top_differs = number;
#endif
  }
  *place = made;
  // -- end
}

// -- part: finish(int in_fields, buffer state, expr most, int at_once, expr tiles_down,
//    expr tiles_across, bool alternates)
// What is left, by one group.
KERNEL($items) void finish(GLOBAL uint* $images, GLOBAL uint* $tiles, GLOBAL uint* $state) {
  LOCAL uint words[(2 + $in_fields) * MORPH_SIZE];
  LOCAL uint tops[2];
  LOCAL uint state[3];
  if (ITEM < 3) state[ITEM] = LOAD_GLOBAL(&$state[ITEM]);
  GLOBAL_BARRIER;
  while (state[MORPH_DONE] == 0u) {
    const uint launch = state[MORPH_LAUNCHES], count = state[MORPH_COUNT];
    const int iterations = morph_left(count, $most, $at_once);
    for (int tile_y = 0; tile_y < $tiles_down; ++tile_y) {
      for (int tile_x = 0; tile_x < $tiles_across; ++tile_x) {
        $tile
        GLOBAL_BARRIER;
      }
    }
    if (ITEM == 0) {
      morph_advance($state, $alternates, iterations, $most);
      for (int k = 0; k < 3; ++k) state[k] = LOAD_GLOBAL(&$state[k]);
    }
    GLOBAL_BARRIER;
  }
}

// -- part: store(int items, expr width, buffer images, buffer state, expr height,
//    expr out = $result[(long)y * $width + x])
// The image that is the result.
KERNEL($items) void store(GLOBAL const uint* $images, GLOBAL uint* $state, GLOBAL uchar* $result) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y, across = ($width + 31) / 32;
  if (x >= $width) return;
  GLOBAL const uint* const image =
      $images + (long)LOAD_GLOBAL(&$state[MORPH_RESULT]) * across * $height;
  $out = (uchar)(image[(long)y * across + x / 32] >> (x & 31) & 1u);
}
