// A grid-stride loop over the pixels of an image: groups take bands of rows in turn.
#define $items 256   // of a group
#define $width 1000
#define $height 700
#define $across 64   // work-items side by side in a row
#define $pixel uchar
#define $vector uint4
#define $wide 16     // pixels of a vector
#define $load load_words_once
#define $row $image + (long)y * $width
#define $value (uchar)(x ^ y)
#define $chunk $sums[ITEM] += v.x;  // what is done with a vector v, and with a pixel p
#define $each $sums[ITEM] += p;

// -- part: wide_rows
// By vectors: four loads are under way before the first is used.
KERNEL($items) void wide_rows(GLOBAL const $pixel* $image, GLOBAL uint* $sums) {
  const int across = $across;
  for (int y = GROUP_X * ($items / across) + ITEM / across; y < $height;
       y += GROUPS_X * ($items / across)) {
    GLOBAL const $pixel* const row = $row;
    int x = ITEM % across * $wide;
    for (; x + (3 * across + 1) * $wide <= $width; x += 4 * across * $wide) {
      const $vector v0 = $load(row + x);
      const $vector v1 = $load(row + x + across * $wide);
      const $vector v2 = $load(row + x + 2 * across * $wide);
      const $vector v3 = $load(row + x + 3 * across * $wide);
      {
        const $vector v = v0;
        $chunk
      }
      {
        const $vector v = v1;
        $chunk
      }
      {
        const $vector v = v2;
        $chunk
      }
      {
        const $vector v = v3;
        $chunk
      }
    }
    for (; x + $wide <= $width; x += across * $wide) {
      const $vector v = $load(row + x);
      $chunk
    }
    for (; x < $width; ++x) {
      const $pixel p = row[x];
      $each
    }
  }
}

// -- part: narrow_rows
// By pixels.
KERNEL($items) void narrow_rows(GLOBAL uint* $sums) {
  const int across = $across;
  for (int y = GROUP_X * ($items / across) + ITEM / across; y < $height;
       y += GROUPS_X * ($items / across)) {
    for (int x = ITEM % across; x < $width; x += across) {
      const $pixel p = $value;
      $each
    }
  }
}
