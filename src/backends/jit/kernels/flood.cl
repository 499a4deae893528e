// Meyer's flooding: one work-item takes pixel after pixel from a heap, in an order that the labels
// follow from. docs/decisions/0034 says why.
#define $items 32  // of a group
#define $width 1000
#define $height 700
#define $height_key (uint)(x ^ y)  // a whole number in the order of the heights of (x, y)
#define $label (float)(x & y)
#define $corners 1

// -- part: functions
// A heap of (height, sequence) and pixel: its least entry is the first.
FUNCTION uint flood_key(const float v) {
  const uint bits = FLOAT_BITS(v + 0.0f);
  return bits ^ ((bits >> 31) != 0u ? 0xffffffffu : 0x80000000u);
}
FUNCTION void flood_push(GLOBAL unsigned long* keys, GLOBAL uint* pixels, const int count,
                         const unsigned long key, const uint pixel) {
  int at = count;
  while (at > 0) {
    const int up = (at - 1) / 2;
    if (keys[up] <= key) break;
    keys[at] = keys[up];
    pixels[at] = pixels[up];
    at = up;
  }
  keys[at] = key;
  pixels[at] = pixel;
}
// Takes the first out; count: before.
FUNCTION uint flood_pop(GLOBAL unsigned long* keys, GLOBAL uint* pixels, const int count) {
  const uint first = pixels[0], pixel = pixels[count - 1];
  const unsigned long key = keys[count - 1];
  int at = 0;
  for (;;) {
    int below = 2 * at + 1;
    if (below >= count - 1) break;
    if (below + 1 < count - 1 && keys[below + 1] < keys[below]) ++below;
    if (key <= keys[below]) break;
    keys[at] = keys[below];
    pixels[at] = pixels[below];
    at = below;
  }
  keys[at] = key;
  pixels[at] = pixel;
  return first;
}
// The neighbours, down the columns: k from 0 to 7.
FUNCTION int flood_dx(const int k) { return k < 3 ? -1 : k < 5 ? 0 : 1; }
FUNCTION int flood_dy(const int k) { return k < 3 ? k - 1 : k < 5 ? 2 * (k - 3) - 1 : k - 6; }

// -- part: begin
// The labels that there are.
#define $out $labels[(long)y * $width + x]
KERNEL($items) void begin(GLOBAL float* $labels, GLOBAL uchar* $queued) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width) return;
  const float label = one_zero($label);
  $out = label;
  $queued[(long)y * $width + x] = label != 0.0f ? 1 : 0;
}

// -- part: flood
// All the others.
KERNEL($items) void flood(GLOBAL float* $labels, GLOBAL uchar* $queued,
                          GLOBAL unsigned long* $keys, GLOBAL uint* $pixels) {
  if (ITEM != 0) return;
  int count = 0;
  unsigned long sequence = 0;
  const int all = $width * $height;
  // First the neighbours of what has a label, down the columns; then pixels from the heap.
  for (int step = 0; step < all || count > 0; ++step) {
    int px, py;
    if (step < all) {
      px = step / $height;
      py = step - px * $height;
      const int x = px, y = py;
      if ($label == 0.0f) continue;
    } else {
      const uint pixel = flood_pop($keys, $pixels, count);
      --count;
      py = (int)(pixel / (uint)$width);
      px = (int)(pixel - (uint)py * (uint)$width);
      float label = 0.0f;
      bool several = false;
      for (int k = 0; k < 8; ++k) {
        const int x = px + flood_dx(k), y = py + flood_dy(k);
        if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
        if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
        const float one = $out;
        if (one == 0.0f) continue;
        several = several || (label != 0.0f && label != one);
        label = one;
      }
      if (several) continue;
      const int x = px, y = py;
      $out = label;
    }
    for (int k = 0; k < 8; ++k) {
      const int x = px + flood_dx(k), y = py + flood_dy(k);
      if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
      if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
      const uint at = (uint)y * (uint)$width + (uint)x;
      if ($queued[at] != 0) continue;
      $queued[at] = 1;
      flood_push($keys, $pixels, count, (unsigned long)$height_key << 32 | sequence, at);
      ++count;
      ++sequence;
    }
  }
}
