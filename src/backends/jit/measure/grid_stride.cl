// A grid-stride loop over the pixels of an image: groups take bands of rows in turn.
//   $items   of a group
//   $across  work-items side by side in a row
//   $wide    pixels of a vector
//   $chunk   what is done with a vector v, and with a pixel p

// -- part: wide_rows(expr across, int items, expr height, type pixel, expr row, int wide,
//    expr width, type vector = uint4, expr load = load_words_once, stmt chunk, stmt each)
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

// -- part: narrow_rows(expr across, int items, expr height, expr width, type pixel, expr value,
//    stmt each)
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
