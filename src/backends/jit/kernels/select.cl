// Exact order statistics: a radix selection over ordered keys, eight bits a round.
#define $items 128   // of a group
#define $width 1000
#define $height 700
#define $places 2    // that are asked for, of each channel
#define $shift 16    // of the eight bits
#define $unroll

// -- part: count
// Of the keys that begin as the wanted one does, counts the next eight bits.
#define $value (float)(x ^ y)
#define $begins key >> 24 == begin >> 24
KERNEL($items) void count(GLOBAL const uint* $found, GLOBAL uint* $counts) {
  LOCAL uint counts[256];
  const int width = $width, height = $height;
  {
    for (int k = 0; k < $places; ++k) {
      const uint begin = $found[k];
      for (int i = ITEM; i < 256; i += $items) counts[i] = 0;
      BARRIER;
      for (int y = GROUP_X; y < height; y += GROUPS_X) {
        $unroll
        for (int x = ITEM; x < width; x += $items) {
          const uint key = key_of_single($value);
          if ($begins) ADD_LOCAL(&counts[(key >> $shift) & 255u], 1u);
        }
      }
      BARRIER;
      for (int i = ITEM; i < 256; i += $items) {
        if (counts[i] != 0) ADD_GLOBAL(&$counts[k * 256 + i], counts[i]);
      }
      BARRIER;
    }
  }
}

// -- part: choose
// The eight bits of each key that is looked for.
#define $first_places  // of the first round: the places, clamped
#define $rest $rests[at]
#define $last 1        // round
KERNEL($items) void choose(GLOBAL uint* $counts, GLOBAL uint* $found, GLOBAL long* $rests,
                           GLOBAL double* $out) {
  const int at = GROUP_X;
  $first_places
  if (ITEM != 0) return;
  long rest = $rest;
  uint digit = 0;
  while (digit < 255u && (long)$counts[at * 256 + digit] <= rest) {
    rest -= (long)$counts[at * 256 + digit];
    ++digit;
  }
  for (int i = 0; i < 256; ++i) $counts[at * 256 + i] = 0;
  $found[at] |= digit << $shift;
  $rests[at] = rest;
#if $last
  $out[at] = (double)single_of_key($found[at]);
#endif
}
