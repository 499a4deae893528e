// Tables of 3x3 windows, again and again: some iterations by the whole device, which do nothing once
// nothing changes, then what is left by one group. jit/morph.cpp says how they follow one another.
#define $items 128   // of a group
#define $width 1000
#define $height 700
#define $table 0     // which
#define $outside 0u  // pixels beside the image
#define $pixel (uint)(x ^ y)
#define $most 10.0   // iterations
#define $alternates 1  // one table: two images may take turns
#define $turns 1       // passes of an iteration, where each is made of the one before
#define $in_fields 0
#define $field 0

// -- part: functions
// $state: which of the two images is the current one, whether a pixel changed in this iteration,
// whether one differs from the image before the last, iterations done, whether that was all.
#define MORPH_NOW 0
#define MORPH_CHANGED 1
#define MORPH_DIFFERS 2
#define MORPH_COUNT 3
#define MORPH_DONE 4

// The window's index.
FUNCTION uint morph_window(GLOBAL const uchar* image, const int width, const int height,
                           const uint outside, const int x, const int y) {
  uint index = 0u;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const int at_x = x + dx, at_y = y + dy;
      const bool inside = at_x >= 0 && at_x < width && at_y >= 0 && at_y < height;
      const uint bit = inside ? (uint)image[(long)at_y * width + at_x] : outside;
      index |= bit << (3 * dy + dx + 4);
    }
  }
  return index;
}
FUNCTION uint morph_entry(GLOBAL const uint* tables, const int table, const uint index) {
  return tables[table * 16 + (int)(index >> 5)] >> (index & 31u) & 1u;
}
// What the iteration comes to; by one work-item.
FUNCTION void morph_advance(GLOBAL uint* state, const int alternates, const int turns,
                            const double most) {
  const uint count = LOAD_GLOBAL(&state[MORPH_COUNT]) + 1u;
  const bool changed = LOAD_GLOBAL(&state[MORPH_CHANGED]) != 0u;
  const bool differs = LOAD_GLOBAL(&state[MORPH_DIFFERS]) != 0u;
  const bool back = alternates != 0 && count > 1u && !differs;
  STORE_GLOBAL(&state[MORPH_COUNT], count);
  STORE_GLOBAL(&state[MORPH_NOW], (LOAD_GLOBAL(&state[MORPH_NOW]) + (uint)turns) & 1u);
  STORE_GLOBAL(&state[MORPH_CHANGED], 0u);
  STORE_GLOBAL(&state[MORPH_DIFFERS], 0u);
  if (!changed || back || (double)count >= most) STORE_GLOBAL(&state[MORPH_DONE], 1u);
}

// -- part: begin
// The image as bytes of 0 and 1.
KERNEL($items) void begin(GLOBAL uchar* $images, GLOBAL uint* $state) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x == 0 && y == 0) {
    for (int k = 0; k < 5; ++k) STORE_GLOBAL(&$state[k], 0u);
  }
  if (x < $width) $images[(long)y * $width + x] = $pixel != 0u ? 1 : 0;
}

// -- part: whole
// A table for all pixels, into the other image.
KERNEL($items) void whole(GLOBAL uchar* $images, GLOBAL uint* $state, GLOBAL const uint* $tables) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width || LOAD_GLOBAL(&$state[MORPH_DONE]) != 0u) return;
  const long pixels = (long)$width * $height, at = (long)y * $width + x;
  const uint from = (LOAD_GLOBAL(&$state[MORPH_NOW]) + (uint)$table) & 1u;
  GLOBAL const uchar* const image = $images + (long)from * pixels;
  GLOBAL uchar* const to = $images + (long)(1u - from) * pixels;
  const uint made = morph_entry($tables, $table, morph_window(image, $width, $height, $outside, x, y));
  if (made != (uint)image[at]) STORE_GLOBAL(&$state[MORPH_CHANGED], 1u);
  if (made != (uint)to[at]) STORE_GLOBAL(&$state[MORPH_DIFFERS], 1u);
  to[at] = (uchar)made;
}

// -- part: candidates
// Which pixels may change.
KERNEL($items) void candidates(GLOBAL uchar* $images, GLOBAL uint* $state,
                               GLOBAL const uint* $tables) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width || LOAD_GLOBAL(&$state[MORPH_DONE]) != 0u) return;
  const long pixels = (long)$width * $height;
  $images[pixels + (long)y * $width + x] =
      (uchar)morph_entry($tables, 0, morph_window($images, $width, $height, $outside, x, y));
}

// -- part: field
// What becomes of the candidates of a field, none of which is beside another.
KERNEL($items) void field(GLOBAL uchar* $images, GLOBAL uint* $state, GLOBAL const uint* $tables) {
  const int x = (GROUP_X * $items + ITEM) * 2 + $field % 2, y = GROUP_Y * 2 + $field / 2;
  if (x >= $width || y >= $height || LOAD_GLOBAL(&$state[MORPH_DONE]) != 0u) return;
  const long pixels = (long)$width * $height, at = (long)y * $width + x;
  if ($images[pixels + at] == 0) return;
  const uint made =
      morph_entry($tables, 1, morph_window($images, $width, $height, $outside, x, y));
  if (made == (uint)$images[at]) return;
  $images[at] = (uchar)made;
  STORE_GLOBAL(&$state[MORPH_CHANGED], 1u);
}

// -- part: advance
// The end of an iteration.
KERNEL($items) void advance(GLOBAL uint* $state) {
  if (GROUP_X != 0 || GROUP_Y != 0 || ITEM != 0) return;
  if (LOAD_GLOBAL(&$state[MORPH_DONE]) == 0u) {
    morph_advance($state, $alternates, $turns, $most);
  }
}

// -- part: finish
// What is left, by one group.
KERNEL($items) void finish(GLOBAL uchar* $images, GLOBAL uint* $state,
                           GLOBAL const uint* $tables) {
  LOCAL uint all_done;
  const long pixels = (long)$width * $height;
  if (ITEM == 0) all_done = LOAD_GLOBAL(&$state[MORPH_DONE]);
  GLOBAL_BARRIER;
  while (all_done == 0u) {
#if $in_fields
    for (long at = ITEM; at < pixels; at += $items) {
      const int y = (int)(at / $width), x = (int)(at - (long)y * $width);
      $images[pixels + at] =
          (uchar)morph_entry($tables, 0, morph_window($images, $width, $height, $outside, x, y));
    }
    GLOBAL_BARRIER;
    for (int field = 0; field < 4; ++field) {
      for (long at = ITEM; at < pixels; at += $items) {
        const int y = (int)(at / $width), x = (int)(at - (long)y * $width);
        if (y % 2 * 2 + x % 2 == field && $images[pixels + at] != 0) {
          const uint made =
              morph_entry($tables, 1, morph_window($images, $width, $height, $outside, x, y));
          if (made != (uint)$images[at]) {
            $images[at] = (uchar)made;
            STORE_GLOBAL(&$state[MORPH_CHANGED], 1u);
          }
        }
      }
      GLOBAL_BARRIER;
    }
#else
    for (int table = 0; table < $turns; ++table) {
      const uint from = (LOAD_GLOBAL(&$state[MORPH_NOW]) + (uint)table) & 1u;
      GLOBAL const uchar* const image = $images + (long)from * pixels;
      GLOBAL uchar* const to = $images + (long)(1u - from) * pixels;
      for (long at = ITEM; at < pixels; at += $items) {
        const int y = (int)(at / $width), x = (int)(at - (long)y * $width);
        const uint made =
            morph_entry($tables, table, morph_window(image, $width, $height, $outside, x, y));
        if (made != (uint)image[at]) STORE_GLOBAL(&$state[MORPH_CHANGED], 1u);
        if (made != (uint)to[at]) STORE_GLOBAL(&$state[MORPH_DIFFERS], 1u);
        to[at] = (uchar)made;
      }
      GLOBAL_BARRIER;
    }
#endif
    if (ITEM == 0) {
      morph_advance($state, $alternates, $turns, $most);
      all_done = LOAD_GLOBAL(&$state[MORPH_DONE]);
    }
    GLOBAL_BARRIER;
  }
}

// -- part: store
// The current image.
#define $out $result[(long)y * $width + x]
KERNEL($items) void store(GLOBAL const uchar* $images, GLOBAL uint* $state,
                          GLOBAL uchar* $result) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width) return;
  const long pixels = (long)$width * $height;
  $out = $images[(long)LOAD_GLOBAL(&$state[MORPH_NOW]) * pixels + (long)y * $width + x];
}
