// Meyer's flooding, one height after the other. The worklist is a queue; its order determines the
// labels. The finder of a pixel precedes it and sets the bit of the pixel's direction in its marks,
// so that counting marks yields the order of the pixels of one height: docs/decisions/0034.
//   $items       work-items of a group
//   $height_key  an integer ordered as the heights of (x, y)
//   $patience    polls of the first group for other groups to begin
//   $rounds      most rounds for the whole image

// -- part: around
// The neighbours, down the columns: k from 0 to 7.
FUNCTION int flood_dx(const int k) { return k < 3 ? -1 : k < 5 ? 0 : 1; }
FUNCTION int flood_dy(const int k) { return k < 3 ? k - 1 : k < 5 ? 2 * (k - 3) - 1 : k - 6; }
FUNCTION uint flood_key(const float v) { return key_of_single(v + 0.0f); }

// -- part: functions
// Pixels that have a label or are lines hold their sequence number; others this bit and the
// sequence number of their finder, or all ones.
#define FLOOD_WAITING 0x80000000u
#define FLOOD_NOT_FOUND 0xffffffffu
// State of a pixel that was taken from the queue: undecided, labelled, or a line.
#define FLOOD_OPEN 0u
#define FLOOD_LABEL 1u
#define FLOOD_LINE 2u
// Words of the control: groups that have begun, with FLOOD_WAITING once no more may; their number;
// how often they have met at a barrier; length and lowest height (bitwise complement, so that
// atomic max yields the minimum) of the two worklists; and from 16 on eight words for each of four
// rounds: marks of its height that it leaves; its first mark, complemented, and the end of its
// marks; the last sequence number that it takes, complemented as well.
#define FLOOD_BEGUN 0
#define FLOOD_GROUPS 1
#define FLOOD_MET 2
#define FLOOD_LENGTH 4
#define FLOOD_LOWEST 6
#define FLOOD_MARKS 0
#define FLOOD_FIRST 1
#define FLOOD_BEHIND 2
#define FLOOD_LAST 3
FUNCTION int flood_direction(const int dx, const int dy) {
  return dx < 0 ? dy + 1 : dx > 0 ? dy + 6 : dy < 0 ? 3 : 4;
}
// The pixel of a sequence number: first come those that had labels, down the columns.
FUNCTION uint flood_pixel(GLOBAL const uint* order, const uint place, const uint width,
                          const uint height) {
  const uint all = width * height;
  return place < all ? place % height * width + place / height : order[place - all];
}

// -- part: begin(int items, expr width, expr label, expr out = $labels[(long)y * $width + x],
//    buffer places, expr height)
// The labels that there are.
KERNEL($items) void begin(GLOBAL float* $labels, GLOBAL uint* $places) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width) return;
  const float label = one_zero($label);
  $out = label;
  $places[(uint)y * (uint)$width + (uint)x] =
      label != 0.0f ? (uint)x * (uint)$height + (uint)y : FLOOD_NOT_FOUND;
}

// -- part: border(int items, expr width, buffer places, bool corners, expr height, expr out,
//    expr height_key, buffer control, buffer waiting)
// The first worklist: neighbours of labelled pixels, each found by its first labelled neighbour.
KERNEL($items) void border(GLOBAL float* $labels, GLOBAL uint* $places, GLOBAL uint* $waiting,
                           GLOBAL uint* $control) {
  LOCAL uint count, first, lowest;
  if (ITEM == 0) {
    count = 0u;
    lowest = FLOOD_NOT_FOUND;
  }
  BARRIER;
  const int px = GROUP_X * $items + ITEM, py = GROUP_Y;
  const uint pixel = (uint)py * (uint)$width + (uint)px;
  uint place = FLOOD_NOT_FOUND, at = 0u;
  if (px < $width && $places[pixel] == FLOOD_NOT_FOUND) {
    for (int k = 0; k < 8; ++k) {
      const int x = px + flood_dx(k), y = py + flood_dy(k);
      if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
      if (x < 0 || x >= $width || y < 0 || y >= $height || $out == 0.0f) continue;
      const uint one = (uint)x * (uint)$height + (uint)y;
      place = one < place ? one : place;
    }
  }
  if (place != FLOOD_NOT_FOUND) {
    const int x = px, y = py;
    const uint key = $height_key;
    at = ADD_LOCAL(&count, 1u);
    MIN_LOCAL(&lowest, key);
  }
  BARRIER;
  if (ITEM == 0 && count != 0u) {
    first = ADD_GLOBAL($control + FLOOD_LENGTH, count);
    MAX_GLOBAL($control + FLOOD_LOWEST, ~lowest);
  }
  BARRIER;
  if (place == FLOOD_NOT_FOUND) return;
  // Neighbours look for labels alone, so that this place changes nothing for them.
  $places[pixel] = FLOOD_WAITING | place;
  $waiting[first + at] = pixel;
}

// -- part: flood(int items, expr width, expr height, buffer control, const patience = 1000, buffer waiting,
//    expr height_key, buffer places, buffer order, buffer marks, buffer counts, buffer sums,
//    buffer firsts, buffer finders, buffer lines, bool corners, expr out, expr rounds)
// All the others. In each round all groups take the pixels that are marked, and mark those of the
// same height that they find, which are next; where there are none, those of the lowest height that
// wait. A pixel that would be followed at once by a lower one is the last of its round.
KERNEL($items) void flood(GLOBAL float* $labels, GLOBAL uint* $places, GLOBAL uint* $order,
                          GLOBAL uint* $finders, GLOBAL uint* $lines, GLOBAL uint* $marks,
                          GLOBAL uint* $counts, GLOBAL uint* $firsts, GLOBAL uint* $sums, GLOBAL uint* $waiting,
                          GLOBAL uint* $control) {
  LOCAL uint count, first, lowest, low, high, before, marked;
  LOCAL uint places[$items], held[$items];
  const uint all = (uint)$width * (uint)$height;
  // Groups that run take part: what begins when the first has looked long enough has no work.
  if (ITEM == 0) {
    before = ADD_GLOBAL($control + FLOOD_BEGUN, 1u);
    if (before == 0u) {
      for (int i = 0; i < $patience && LOAD_GLOBAL($control + FLOOD_BEGUN) < (uint)GROUPS_X; ++i)
        ;
      first = OR_GLOBAL($control + FLOOD_BEGUN, FLOOD_WAITING);
      STORE_GLOBAL($control + FLOOD_GROUPS, first);
    } else if (before < FLOOD_WAITING) {
      do {
        first = LOAD_GLOBAL($control + FLOOD_GROUPS);
      } while (first == 0u);
    }
  }
  BARRIER;
  const uint group = before, groups = first;
  BARRIER;
  if (group >= FLOOD_WAITING) return;
  uint met = 0u;
  uint base = all, from = all, height = 0u, list = 0u, found = 0u;
  uint length = LOAD_GLOBAL($control + FLOOD_LENGTH);
  for (uint round = 0u; found + length != 0u; ++round) {
    GLOBAL uint* const now = $control + 16 + round % 4u * 8u;
    uint begin = from, end = base;  // of the marks
    // Where there are none, those of the lowest height are marked, and the others wait in the other
    // list.
    const bool opens = found == 0u;
    const uint asked = opens ? length : 0u;
    if (opens) height = ~LOAD_GLOBAL($control + FLOOD_LOWEST + list);
    GLOBAL const uint* const waiting = $waiting + (list == 0u ? 0u : all);
    GLOBAL uint* const others = $waiting + (list == 0u ? all : 0u);
    if (ITEM == 0) lowest = low = high = FLOOD_NOT_FOUND;
    for (uint start = group * $items; start < asked; start += groups * $items) {
      if (ITEM == 0) count = 0u;
      BARRIER;
      const uint i = start + (uint)ITEM;
      uint pixel = 0u, at = 0u;
      bool stays = false;
      if (i < asked) {
        pixel = waiting[i];
        const int y = (int)(pixel / (uint)$width), x = (int)(pixel - (uint)y * (uint)$width);
        const uint key = $height_key;
        stays = key != height;
        if (stays) {
          at = ADD_LOCAL(&count, 1u);
          MIN_LOCAL(&lowest, key);
        } else {
          const uint place = $places[pixel] & ~FLOOD_WAITING;
          const uint finder = flood_pixel($order, place, (uint)$width, (uint)$height);
          const int fy = (int)(finder / (uint)$width),
                    fx = (int)(finder - (uint)fy * (uint)$width);
          const uint bit = 1u << flood_direction(x - fx, y - fy);
          OR_GLOBAL($marks + place / 4u, bit << (place % 4u * 8u));
          ADD_GLOBAL($counts + place / 256u, 1u);
          ADD_GLOBAL($sums + place / 65536u, 1u);
          MIN_LOCAL(&low, place);
          MIN_LOCAL(&high, ~place);
        }
      }
      BARRIER;
      if (ITEM == 0 && count != 0u) {
        first = ADD_GLOBAL($control + FLOOD_LENGTH + (1u - list), count);
      }
      BARRIER;
      if (stays) others[first + at] = pixel;
    }
    BARRIER;
    if (ITEM == 0) {
      if (lowest != FLOOD_NOT_FOUND) {
        MAX_GLOBAL($control + FLOOD_LOWEST + (1u - list), ~lowest);
      }
      if (low != FLOOD_NOT_FOUND) {
        MAX_GLOBAL(now + FLOOD_FIRST, ~low);
        MAX_GLOBAL(now + FLOOD_BEHIND, ~high + 1u);
      }
    }
    if (opens) {
      $meet
    }
    if (opens) {
      list = 1u - list;
      found = length - LOAD_GLOBAL($control + FLOOD_LENGTH + list);
      begin = ~LOAD_GLOBAL(now + FLOOD_FIRST);
      end = LOAD_GLOBAL(now + FLOOD_BEHIND);
    }
    // Where the marks of each chunk of 256 places begin, of as many chunks for each group.
    const uint chunks_end = (end - 1u) / 256u + 1u, chunks = chunks_end - begin / 256u;
    const uint my_begin = begin / 256u + (uint)((ulong)chunks * group / groups);
    const uint my_end = begin / 256u + (uint)((ulong)chunks * (group + 1u) / groups);
    uint sum = 0u;
    for (uint i = begin / 65536u + (uint)ITEM; i < my_begin / 256u; i += $items) sum += $sums[i];
    for (uint i = my_begin / 256u * 256u + (uint)ITEM; i < my_begin; i += $items) {
      sum += $counts[i];
    }
    if (ITEM == 0) before = 0u;
    BARRIER;
    if (sum != 0u) ADD_LOCAL(&before, sum);
    BARRIER;
    uint next = base + before;
    for (uint start = my_begin; start < my_end; start += $items) {
      const uint chunk = start + (uint)ITEM;
      const uint mine = chunk < my_end ? $counts[chunk] : 0u;
      $scan
      if (chunk < my_end) $firsts[chunk] = next + places[ITEM] - mine;
      next += places[$items - 1];
      BARRIER;
    }
    $meet
    // Chunks are taken in turn, since those with marks lie beside each other.
    for (uint turn = 0u; begin / 256u + turn * groups + group < chunks_end; ++turn) {
      const uint chunk = begin / 256u + turn * groups + group;
      if (turn % $items == 0u) {
        BARRIER;
        const uint ahead = chunk + (uint)ITEM * groups;
        held[ITEM] = ahead < chunks_end ? $counts[ahead] : 0u;
        BARRIER;
      }
      if (held[turn % $items] == 0u) continue;
      const uint place = chunk * 256u + (uint)ITEM;
      const uint bits = $marks[place / 4u] >> (place % 4u * 8u) & 255u;
      const uint mine = COUNT_BITS(bits);
      // -- part: scan(int items)
      // What the work-items before this one have of it, and its own.
      BARRIER;
      places[ITEM] = mine;
      BARRIER;
      for (int step = 1; step < $items; step *= 2) {
        const uint left = ITEM >= step ? places[ITEM - step] : 0u;
        BARRIER;
        places[ITEM] += left;
        BARRIER;
      }
      // -- end
      if (place % 4u == 0u) $marks[place / 4u] = 0u;
      uint at = $firsts[chunk] + places[ITEM] - mine;
      if (bits == 0u) continue;
      const uint finder = flood_pixel($order, place, (uint)$width, (uint)$height);
      const int fy = (int)(finder / (uint)$width), fx = (int)(finder - (uint)fy * (uint)$width);
      for (int k = 0; k < 8; ++k) {
        if ((bits >> k & 1u) == 0u) continue;
        const int px = fx + flood_dx(k), py = fy + flood_dy(k);
        const uint pixel = (uint)py * (uint)$width + (uint)px;
        $order[at - all] = pixel;
        $finders[at - all] = place;
        $places[pixel] = at;
        $lines[at - all] = FLOOD_OPEN;
        // The label of all neighbours that came before this round; 0 where they have several.
        float label = 0.0f;
        bool several = false;
        for (int j = 0; j < 8; ++j) {
          const int x = px + flood_dx(j), y = py + flood_dy(j);
          if (!$corners && flood_dx(j) != 0 && flood_dy(j) != 0) continue;
          if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
          if ($places[(uint)y * (uint)$width + (uint)x] >= base) continue;
          const float one = $out;
          several = several || (label != 0.0f && one != 0.0f && label != one);
          label = one != 0.0f ? one : label;
        }
        const int x = px, y = py;
        $out = several ? 0.0f : label;
        ++at;
      }
    }
    $meet
    // Of neighbours that are taken in the same round and would have different labels, a later one
    // is a line where an earlier one is none. What is earlier is decided by this group or another.
    const uint taken = base + found;
    for (uint start = base + group * $items; start < taken; start += groups * $items) {
      const uint place = start + (uint)ITEM;
      uint earlier[8], state = FLOOD_LABEL;
      bool lower = false;
      if (place < taken) {
        const uint pixel = $order[place - all];
        const int px = (int)(pixel % (uint)$width), py = (int)(pixel / (uint)$width);
        float label;
        {
          const int x = px, y = py;
          label = $out;
        }
        state = label == 0.0f ? FLOOD_LINE : FLOOD_OPEN;
        for (int k = 0; k < 8; ++k) {
          const int x = px + flood_dx(k), y = py + flood_dy(k);
          earlier[k] = FLOOD_NOT_FOUND;
          if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
          if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
          const uint at = $places[(uint)y * (uint)$width + (uint)x];
          lower = lower || (at == FLOOD_NOT_FOUND && $height_key < height);
          if (at < base || at >= place) continue;
          const float its = $out;
          if (its != 0.0f && its != label) earlier[k] = at;
        }
      }
      places[ITEM] = state;
      BARRIER;
      for (;;) {
        uint next = state == FLOOD_OPEN ? FLOOD_LABEL : state;
        for (int k = 0; k < 8 && state == FLOOD_OPEN; ++k) {
          const uint at = earlier[k];
          if (at == FLOOD_NOT_FOUND) continue;
          const uint its = at >= start ? places[at - start] : LOAD_GLOBAL($lines + (at - all));
          if (its == FLOOD_LABEL) next = FLOOD_LINE;
          if (its == FLOOD_OPEN && next == FLOOD_LABEL) next = FLOOD_OPEN;
        }
        if (ITEM == 0) count = 0u;
        BARRIER;
        state = next;
        places[ITEM] = state;
        if (state == FLOOD_OPEN) ADD_LOCAL(&count, 1u);
        BARRIER;
        const bool all_known = count == 0u;
        BARRIER;
        if (all_known) break;
      }
      if (place < taken) {
        STORE_GLOBAL($lines + (place - all), state);
        if (lower && state == FLOOD_LABEL) MAX_GLOBAL(now + FLOOD_LAST, ~place);
      }
    }
    for (uint i = my_begin + (uint)ITEM; i < my_end; i += $items) $counts[i] = 0u;
    for (uint i = begin / 65536u + group * $items + (uint)ITEM; i <= (end - 1u) / 65536u;
         i += groups * $items) {
      $sums[i] = 0u;
    }
    if (group == 0u && ITEM < 8) {
      $control[16u + (round + 2u) % 4u * 8u + (uint)ITEM] = 0u;
      if (opens && ITEM == 0) $control[FLOOD_LENGTH + (1u - list)] = $control[FLOOD_LOWEST + (1u - list)] = 0u;
    }
    $meet
    // Lines have no label; others find their neighbours, the first of several each.
    const uint limit = LOAD_GLOBAL(now + FLOOD_LAST);
    const uint last = limit == 0u ? taken - 1u : ~limit;
    for (uint place = base + group * $items + (uint)ITEM; place <= last; place += groups * $items) {
      const uint pixel = $order[place - all];
      const int px = (int)(pixel % (uint)$width), py = (int)(pixel / (uint)$width);
      if ($lines[place - all] == FLOOD_LINE) {
        const int x = px, y = py;
        $out = 0.0f;
        continue;
      }
      for (int k = 0; k < 8; ++k) {
        const int x = px + flood_dx(k), y = py + flood_dy(k);
        if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
        if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
        GLOBAL uint* const other = $places + ((uint)y * (uint)$width + (uint)x);
        if (LOAD_GLOBAL(other) > (FLOOD_WAITING | place)) MIN_GLOBAL(other, FLOOD_WAITING | place);
      }
    }
    $meet
    // What was found of this height is marked; what is higher waits, and all of it, with what was
    // not taken, where the round ended early.
    if (ITEM == 0) lowest = FLOOD_NOT_FOUND;
    for (uint chunk = base / 256u + group; chunk <= (taken - 1u) / 256u; chunk += groups) {
      if (ITEM == 0) count = marked = 0u;
      BARRIER;
      const uint place = chunk * 256u + (uint)ITEM;
      const bool is = place >= base && place < taken, back = is && place > last;
      uint marks = 0u, waits = 0u, at = 0u, pixel = 0u;
      int px = 0, py = 0;
      if (is) {
        pixel = $order[place - all];
        px = (int)(pixel % (uint)$width);
        py = (int)(pixel / (uint)$width);
      }
      if (back) {
        const int x = px, y = py;
        $out = 0.0f;
        $places[pixel] = FLOOD_WAITING | $finders[place - all];
        at = ADD_LOCAL(&count, 1u);
        MIN_LOCAL(&lowest, height);
      } else if (is && $lines[place - all] == FLOOD_LABEL) {
        for (int k = 0; k < 8; ++k) {
          const int x = px + flood_dx(k), y = py + flood_dy(k);
          if (!$corners && flood_dx(k) != 0 && flood_dy(k) != 0) continue;
          if (x < 0 || x >= $width || y < 0 || y >= $height) continue;
          if ($places[(uint)y * (uint)$width + (uint)x] != (FLOOD_WAITING | place)) continue;
          const uint key = $height_key;
          if (key == height && limit == 0u) {
            marks |= 1u << k;
          } else {
            waits |= 1u << k;
            MIN_LOCAL(&lowest, key);
          }
        }
        if (marks != 0u) ADD_LOCAL(&marked, COUNT_BITS(marks));
        if (waits != 0u) at = ADD_LOCAL(&count, COUNT_BITS(waits));
      }
      if (is) ((GLOBAL uchar*)$marks)[place] = (uchar)marks;
      BARRIER;
      if (ITEM == 0) {
        if (count != 0u) first = ADD_GLOBAL($control + FLOOD_LENGTH + list, count);
        if (marked != 0u) {
          ADD_GLOBAL($counts + chunk, marked);
          ADD_GLOBAL($sums + chunk / 256u, marked);
          ADD_GLOBAL(now + FLOOD_MARKS, marked);
        }
      }
      BARRIER;
      GLOBAL uint* to = $waiting + (list == 0u ? 0u : all) + first + at;
      if (back) *to = pixel;
      for (int k = 0; k < 8 && waits != 0u; ++k) {
        if ((waits >> k & 1u) == 0u) continue;
        *to++ = (uint)(py + flood_dy(k)) * (uint)$width + (uint)(px + flood_dx(k));
      }
    }
    BARRIER;
    if (ITEM == 0 && lowest != FLOOD_NOT_FOUND) MAX_GLOBAL($control + FLOOD_LOWEST + list, ~lowest);
    // -- part: meet(buffer control)
    // All groups have written what they write, and see what the others have.
    FENCE;
    GLOBAL_BARRIER;
    ++met;
    if (ITEM == 0) {
      ADD_GLOBAL($control + FLOOD_MET, 1u);
      while ((int)(LOAD_GLOBAL($control + FLOOD_MET) - met * groups) < 0)
        ;
      FENCE;
    }
    GLOBAL_BARRIER;
    // -- end
    from = base;
    base = last + 1u;
    found = LOAD_GLOBAL(now + FLOOD_MARKS);
    length = LOAD_GLOBAL($control + FLOOD_LENGTH + list);
    const float rounds = (float)round, part = (float)(base - all) / (float)all;
    if (rounds > $rounds || (rounds * 8.0f > $rounds && rounds > 2.0f * $rounds * part)) {
      // The processor is faster: it is told by what no label is.
      if (group == 0u && ITEM == 0) {
        const int x = 0, y = 0;
        $out = NAN;
      }
      found = length = 0u;
    }
  }
}

// -- part: heap
// A heap of (height, sequence) and pixel: its least entry is the first.
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

// -- part: begin_alone(int items, expr width, expr label, expr out, buffer queued)
// The labels that there are.
KERNEL($items) void begin_alone(GLOBAL float* $labels, GLOBAL uchar* $queued) {
  const int x = GROUP_X * $items + ITEM, y = GROUP_Y;
  if (x >= $width) return;
  const float label = one_zero($label);
  $out = label;
  $queued[(long)y * $width + x] = label != 0.0f ? 1 : 0;
}

// -- part: alone(expr width, expr height, expr label, buffer keys, buffer pixels, bool corners,
//    expr out, buffer queued, expr height_key)
// All the others where no group may wait for another: one work-item takes pixel after pixel from a
// heap.
KERNEL($items) void alone(GLOBAL float* $labels, GLOBAL uchar* $queued,
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
