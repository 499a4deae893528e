// Values that spread: gray reconstruction and gray holes, by the heaviest spanning tree, and
// canny's hysteresis. components/reconstruction.cpp says how the tree grows.
//   $items      of a group
//   $corners    whether pixels that touch by a corner are neighbours
//   $skip       no neighbour
//   $leader     whether this is the first work-item of the first group
//   $codes      row y of them
//   $to_row     and of the result
//   $rows       of a tile
//   $done       flag of a pixel's number: its component is done
//   $inner      flag of a pixel's number: no other component touches it
//   $head       index in the state of the number of queue slots that were taken
//   $tail       index of the number of slots that were given
//   $open       index of the number of tiles that wait or are under way
//   $scanned    lines side by side
//   $pixels     of a line
//   $turns      over all kinds of lines, at most
//   $kinds      of lines: columns, rows, diagonals
//   $lines      lines of one kind; $count: pixels of a quarter of one
//   $place      index of the k-th of them; $mask_place: that of its mask
//   $step       from one pixel of a line to the next
//   $first      index in front of a line; $last: index behind it
//   $wraps      whether lines end at a side and go on at the other
//   $waits      state of a tile that is in the queue
//   $under_way  state of a tile that was taken from it
//   $max_depth  propagation depth of the worklist; longer paths are left to the tree
//   $begins     no tile has been gone through

// What spreads, in whole numbers: what a pixel may have at most, and what the source gives it.
// CODE: 1, 2, 4 and 8 for the direction of a weak pixel, 16 more for that of a strong one, else 0.
#define MASK(x, y) ((uint)((x) ^ (y)) & 255u)
#define SEED(x, y) ((uint)(x) & 255u)
#define RAISED(x, y) ((uint)(y) & 255u)  // what a pixel was raised to
#define CODE(x, y) (((x) ^ (y)) % 25)

// -- part: functions
// Numbers of edges, mixed so that edges of one weight come in no order along the image, and back.
FUNCTION uint mixed_edge(const uint edge) {
  const uint a = edge * 0x9e3779b1u;
  return (a ^ a >> 16) * 0x85ebca6bu;
}
FUNCTION uint edge_of(const uint mixed) {
  const uint a = mixed * 0xa5cb9243u;
  return (a ^ a >> 16) * 0x0e8b2f51u;
}
// The end of an edge that it does not belong to.
FUNCTION uint other_end(const uint edge, const uint width) {
  const uint from = edge >> 2, way = edge & 3u;
  return way == 3u ? from + 1u : from + width + way - 1u;
}
// The edge between two neighbours, which belongs to the upper one or the left one.
FUNCTION uint edge_between(const uint pixel, const int dx, const int dy, const uint width) {
  const int forward = dy > 0 || (dy == 0 && dx > 0);
  const uint owner = forward ? pixel : pixel + (uint)dx + (uint)dy * width;
  const int across = forward ? dx : -dx;
  return mixed_edge(owner * 4u + (dy == 0 ? 3u : (uint)(across + 1)));
}
FUNCTION uint min_of(const uint a, const uint b) { return a < b ? a : b; }
FUNCTION uint max_of(const uint a, const uint b) { return a > b ? a : b; }
// What a float is among floats, as a whole number; there is one zero, and NaN is below all.
FUNCTION uint key_of_float(const float v) {
  const uint bits = v != v ? 0xffffffffu : FLOAT_BITS(v + 0.0f);
  return bits ^ ((bits >> 31) != 0u ? 0xffffffffu : 0x80000000u);
}
FUNCTION float float_of_key(const uint key) {
  return BITS_FLOAT(key ^ ((key >> 31) != 0u ? 0x80000000u : 0xffffffffu));
}

// -- part: begin(const leader = GROUP_X == 0 && GROUP_Y == 0 && ITEM == 0, buffer state,
//    bool raises, const head = 3, const tail = 4, const open = 5, expr tiles, buffer queue,
//    buffer woken, buffer depths, int rows, expr width, expr height, buffer raised)
// What the source gives the pixels. Where tiles are raised, all of them wait for it, in their order.
KERNEL(256) void begin(GLOBAL uint* $state, GLOBAL $code* $raised, GLOBAL uint* $queue,
                       GLOBAL uint* $woken, GLOBAL uint* $depths) {
  if ($leader) {
    $state[0] = $state[1] = $state[2] = 1u - $raises;
#if $raises
    $state[$head] = 0u;
    $state[$tail] = $state[$open] = (uint)$tiles;
#endif
  }
#if $raises
  if (ITEM == 0) {
    const int tile = GROUP_Y * GROUPS_X + GROUP_X;
    $queue[tile] = (uint)tile;
    $woken[tile] = 1u;
    $depths[tile] = 0u;
  }
#endif
  const int x = GROUP_X * 64 + ITEM % 64;
  for (int row = ITEM / 64; row < $rows; row += 4) {
    const int y = GROUP_Y * $rows + row;
    if (x < $width && y < $height) $raised[(uint)y * (uint)$width + (uint)x] = SEED(x, y);
  }
}

// -- part: scan(type code, const leader = GROUP_X == 0 && GROUP_Y == 0 && ITEM == 0, buffer state,
//    expr width, expr height, buffer raised)
// What the source gives each pixel of a tile of 64x60, and what scans of the tile raise that to:
// down and up its columns, right and left along its rows. The result stays the same, and more
// pixels are done at once. In local memory a row has its neighbours outside the tile at both ends.
KERNEL(64) void scan(GLOBAL uint* $state, GLOBAL $code* $raised) {
  LOCAL $code values[62 * 67], masks[60 * 65];
  if ($leader) $state[0] = $state[1] = $state[2] = 1u;
  const int left = GROUP_X * 64, top = GROUP_Y * 60;
  for (int i = ITEM; i < 62 * 66; i += 64) {
    const int x = left + i % 66 - 1, y = top + i / 66 - 1;
    const bool inside = x >= 0 && x < $width && y >= 0 && y < $height;
    values[i / 66 * 67 + i % 66] = inside ? SEED(x, y) : 0u;
  }
  const int x = left + ITEM, rows = x < $width ? smaller($height - top, 60) : 0;
  for (int row = 0; row < 60; ++row) {
    masks[row * 65 + ITEM] = row < rows ? MASK(x, top + row) : 0u;
  }
  BARRIER;
  // -- part: line(int scanned, expr start, expr start_mask, int stride, int pixels, bool corners,
  //    int next_line, int stride_mask)
  // A work-item goes along one of the lines of the tile, from the pixel at `here` on: each gets
  // from the one before it and, from the lines beside it, from those that touch it by a corner.
  {
    const bool works = ITEM < $scanned;
    int here = $start, mask = $start_mask;
    uint last = works ? values[here - ($stride)] : 0u;
    for (int k = 0; k < $pixels; ++k) {
      if (works) {
#if $corners
        const uint one = values[here - ($stride) - $next_line];
        const uint other = values[here - ($stride) + $next_line];
        last = one > last ? one : last;
        last = other > last ? other : last;
#endif
        const uint most = masks[mask], own = values[here];
        last = last < most ? last : most;
        last = own > last ? own : last;
        values[here] = last;
      }
      here += $stride;
      mask += $stride_mask;
#if $corners
      BARRIER;
#endif
    }
    BARRIER;
  }
  // -- end
  for (int row = 0; row < rows; ++row) {
    $raised[(uint)(top + row) * (uint)$width + (uint)x] = values[(row + 1) * 67 + ITEM + 1];
  }
}

// -- part: raise(type code, int rows, int pitch, int mask_pitch, int turns, int kinds, expr width,
//    buffer queue, buffer state, const head = 3, expr tiles, const no_tile = 0xffffffffu,
//    const open = 5, buffer depths, buffer woken, const under_way = 2u, expr max_depth,
//    stmt unroll, expr height, buffer raised, bool corners, const waits = 1u, const tail = 4)
// Groups take tiles of 64 columns from a queue, one after the other, until none waits and none is
// under way. A group raises what the source gives the pixels of its tile as far as the tile and
// what stands around it tell, and puts those tiles beside it that this may raise further, and are
// not there, at the queue's end. A tile that is woken while it is under way is put there by its
// group. In local memory a tile has its neighbours around it. Beyond the image nothing is raised.
// Of lines of one kind: how many, pixels of a quarter, where the k-th of them and its mask lie, from
// one to the next, what lies before the first and behind the last; and whether lines end at a side
// and go on at the other, which the k-th pixel does then when coming on, or back.
KERNEL(256) void raise(GLOBAL uint* $state, GLOBAL $code* $raised, GLOBAL uint* $queue,
                       GLOBAL uint* $woken, GLOBAL uint* $depths) {
  LOCAL $code values[($rows + 2) * $pitch], masks[$rows * $mask_pitch];
  LOCAL $code ends[4 * 256];
  LOCAL uint moves[$turns * $kinds], next, depth, wakes;
  const int across = ($width + 63) / 64;
  const int line = ITEM % 64, quarter = ITEM / 64;
  // A work-item has a pixel of the tile's edge and the one across: of the top, the bottom, the left
  // and the right side. Those at the tile's corners are besides.
  const int at_rows = quarter < 2, is_far = quarter % 2, has_edge = at_rows || line < $rows;
  const int edge_x = at_rows ? line : is_far ? 63 : 0;
  const int edge_y = !at_rows ? line : is_far ? $rows - 1 : 0;
  const int out_x = at_rows ? 0 : is_far ? 1 : -1, out_y = !at_rows ? 0 : is_far ? 1 : -1;
  const int edge = (edge_y + 1) * $pitch + edge_x + 1;
  for (;;) {
    if (ITEM == 0) {
      GLOBAL uint* const slot = $queue + ADD_GLOBAL($state + $head, 1u) % (uint)$tiles;
      uint taken = $no_tile;
      do {
        if (LOAD_GLOBAL(slot) != $no_tile) taken = EXCHANGE_GLOBAL(slot, $no_tile);
      } while (taken == $no_tile && LOAD_GLOBAL($state + $open) != 0u);
      if (taken != $no_tile) {
        depth = LOAD_GLOBAL($depths + taken);
        EXCHANGE_GLOBAL($woken + taken, $under_way);
        FENCE;
      }
      next = taken;
      wakes = 0u;
    }
    if (ITEM < $turns * $kinds) moves[ITEM] = 0u;
    BARRIER;
    if (next == $no_tile) break;
    const int tile = (int)next;
    int raises = depth <= $max_depth;
    const int left = tile % across * 64, top = tile / across * $rows;
    if (raises) {
      $unroll
      for (int k = 0; k < $rows / 4; ++k) {
        const int row = k * 4 + quarter, x = left + line, y = top + row;
        const bool inside = x < $width && y < $height;
        masks[row * $mask_pitch + line] = inside ? MASK(x, y) : 0u;
        values[(row + 1) * $pitch + line + 1] = inside ? RAISED(x, y) : 0u;
      }
    } else if (ITEM < 3) {
      $state[ITEM] = 1u;
    }
    for (int k = 0; k < 2 && raises; ++k) {
      int x = edge_x + out_x, y = edge_y + out_y;
      if (k == 1) {
        x = ITEM % 2 == 0 ? -1 : 64;
        y = ITEM < 2 ? -1 : $rows;
      }
      if (k == 0 ? !has_edge : ITEM >= 4) continue;
      const int to_x = left + x, to_y = top + y;
      const bool inside = to_x >= 0 && to_x < $width && to_y >= 0 && to_y < $height;
      values[(y + 1) * $pitch + x + 1] = inside ? RAISED(to_x, to_y) : 0u;
    }
    BARRIER;
    const uint old = raises && has_edge ? values[edge] : 0u;
    int any = 0, pass = 0, quiet = 0;  // kinds of lines that are as they should be
    for (int turn = 0; turn < $turns && raises && quiet < $kinds; ++turn) {
      // -- part: quarters(int kinds, int count, int lines, stmt unroll, expr place,
      //    expr mask_place, bool wraps, expr wraps_on, expr step, expr wraps_back, expr first,
      //    expr last)
      // Along lines of one kind, a quarter of one each work-item, unless nothing has moved since they
      // were last gone along. Whatever comes into a quarter, what leaves it lies between a least and a
      // most value, and is what came in if that is between them.
      if (quiet < $kinds) {
        uint value[$count], mask[$count];
        uint min_on = 0u, max_on = 0xffffffffu, min_back = 0u, max_back = 0xffffffffu;
        const int works = line < $lines;
        $unroll
        for (int k = 0; k < $count; ++k) {
          value[k] = works ? values[$place] : 0u;
          mask[k] = works ? masks[$mask_place] : 0u;
        }
        $unroll
        for (int k = 0; k < $count; ++k) {
#if $wraps
          if ($wraps_on) min_on = max_on = values[$place - ($step)];
#endif
          min_on = min_of(mask[k], max_of(value[k], min_on));
          max_on = min_of(mask[k], max_of(value[k], max_on));
        }
        $unroll
        for (int k = $count - 1; k >= 0; --k) {
#if $wraps
          if ($wraps_back) min_back = max_back = values[$place + ($step)];
#endif
          min_back = min_of(mask[k], max_of(value[k], min_back));
          max_back = min_of(mask[k], max_of(value[k], max_back));
        }
        ends[ITEM] = min_on;
        ends[256 + ITEM] = max_on;
        ends[512 + ITEM] = min_back;
        ends[768 + ITEM] = max_back;
        BARRIER;
        if (works) {
          uint on = values[$first], back = values[$last], moved = 0u;
          $unroll
          for (int k = 0; k < 3; ++k) {
            const int there = k * 64 + line;
            if (k < quarter) on = min_of(ends[256 + there], max_of(ends[there], on));
          }
          $unroll
          for (int k = 3; k > 0; --k) {
            const int there = k * 64 + line;
            if (k > quarter) back = min_of(ends[768 + there], max_of(ends[512 + there], back));
          }
          $unroll
          for (int k = 0; k < $count; ++k) {
#if $wraps
            if ($wraps_on) on = values[$place - ($step)];
#endif
            on = min_of(mask[k], max_of(value[k], on));
            moved |= on ^ value[k];
            value[k] = on;
          }
          $unroll
          for (int k = $count - 1; k >= 0; --k) {
#if $wraps
            if ($wraps_back) back = values[$place + ($step)];
#endif
            back = min_of(mask[k], max_of(value[k], back));
            moved |= back ^ value[k];
            values[$place] = back;
          }
          if (moved != 0u) moves[pass] = 1u;
        }
        BARRIER;
        quiet = moves[pass] != 0u ? 1 : quiet + 1;
        any |= moves[pass] != 0u;
        ++pass;
      }
      // -- end
    }
    raises = raises && quiet < $kinds;
    if (any) {
      $unroll
      for (int k = 0; k < $rows / 4; ++k) {
        const int row = k * 4 + quarter, x = left + line, y = top + row;
        if (x < $width && y < $height) {
          $raised[(uint)y * (uint)$width + (uint)x] = values[(row + 1) * $pitch + line + 1];
        }
      }
    }
    const uint now = any && has_edge ? values[edge] : 0u;
    if (now > old) {
      for (int along = -$corners; along <= $corners; ++along) {
        const int x = edge_x + out_x + out_y * along, y = edge_y + out_y + out_x * along;
        const int to_x = left + x, to_y = top + y;
        if (to_x < 0 || to_x >= $width || to_y < 0 || to_y >= $height) continue;
        const uint there = values[(y + 1) * $pitch + x + 1];
        if (now <= there || MASK(to_x, to_y) <= there) continue;
        OR_LOCAL(&wakes, 1u << ((y < 0 ? 0 : y < $rows ? 3 : 6) + (x < 0 ? 0 : x < 64 ? 1 : 2)));
      }
    }
    FENCE;
    BARRIER;
    if (ITEM < 9) {
      const uint to = (uint)(tile + (ITEM / 3 - 1) * across + ITEM % 3 - 1);
      bool goes = false;
      if (ITEM != 4) {
        goes = (wakes >> ITEM & 1u) != 0u && OR_GLOBAL($woken + to, $waits) == 0u;
      } else if (raises || SWAP_GLOBAL($woken + to, $under_way, 0u) != $under_way) {
        EXCHANGE_GLOBAL($woken + to, $waits);
        goes = true;
      }
      if (goes) {
        STORE_GLOBAL($depths + to, depth + 1u);
        ADD_GLOBAL($state + $open, 1u);
        FENCE;
        GLOBAL uint* const slot = $queue + ADD_GLOBAL($state + $tail, 1u) % (uint)$tiles;
        while (SWAP_GLOBAL(slot, $no_tile, to) != $no_tile)
          ;
      }
    }
    BARRIER;
    if (ITEM == 0) ADD_GLOBAL($state + $open, 0xffffffffu);
  }
}

// -- part: first(buffer state, expr width, expr height, buffer raised, stmt unroll, expr skip,
//    buffer seeds, buffer weights, buffer edges, buffer forest, buffer components)
// Each pixel is a component, and chooses the heaviest of its edges to neighbours.
KERNEL($items) void first(GLOBAL uint* $state, GLOBAL $code* $raised, GLOBAL uint* $seeds,
                          GLOBAL uint* $weights, GLOBAL uint* $edges, GLOBAL uint* $forest, GLOBAL uint* $components) {
  if ($state[2] == 0u) return;
  // -- part: rows_of_item(int items, expr width, expr height)
  // The column and the rows of a work-item.
  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const int rows_each = ($height + GROUPS_Y - 1) / GROUPS_Y;
  const int begin_y = GROUP_Y * rows_each, end_y = smaller(begin_y + rows_each, $height);
  // -- end
  for (int y = begin_y; y < end_y; ++y) {
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    const uint own = MASK(x, y), seed = $raised[pixel];
    uint best = 0u, edge = 0u;
    if (seed < own) {
      $unroll
      for (int dy = -1; dy <= 1; ++dy) {
        $unroll
        for (int dx = -1; dx <= 1; ++dx) {
          const int to_x = x + dx, to_y = y + dy;
          if ($skip || to_x < 0 || to_x >= $width || to_y < 0 || to_y >= $height) continue;
          const uint there = MASK(to_x, to_y), weight = own < there ? own : there;
          if (weight < best) continue;
          const uint number = edge_between(pixel, dx, dy, (uint)$width);
          if (weight == best && number < edge) continue;
          best = weight;
          edge = number;
        }
      }
    }
    $seeds[pixel] = seed;
    $weights[pixel] = best;
    $edges[pixel] = edge;
    $forest[pixel] = pixel;
    $components[pixel] = pixel;
  }
}

// -- part: weigh(buffer state, const done = 0x80000000u, expr width, expr height,
//    buffer components, const inner = 0x40000000u, stmt unroll, expr skip, buffer seeds,
//    buffer weights)
// The largest weight of the edges that leave a component. Pixels without any become inner once they
// follow: until then their seeds, which no longer serve a pixel that does not speak for others, say
// so. A work-item joins what it has of one component before it tells the others.
KERNEL($items) void weigh(GLOBAL uint* $state, GLOBAL uint* $components, GLOBAL uint* $seeds,
                          GLOBAL uint* $weights) {
  if ($state[1] == 0u) return;
  uint of = $done, found = 0u;
  $rows_of_item
  for (int y = begin_y; y < end_y; ++y) {
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    const uint component = $components[pixel];
    if ((component & ($done | $inner)) != 0u) continue;
    const uint own = MASK(x, y);
    uint best = 0u;
    bool is_inner = true;
    // Pixels beside it of another component. An inner pixel is of its neighbours' component, and is
    // not kept up to date.
    $unroll
    for (int dy = -1; dy <= 1; ++dy) {
      $unroll
      for (int dx = -1; dx <= 1; ++dx) {
        const int to_x = x + dx, to_y = y + dy;
        if ($skip || to_x < 0 || to_x >= $width || to_y < 0 || to_y >= $height) continue;
        const uint other = $components[(uint)to_y * (uint)$width + (uint)to_x];
        if (other == component || (other & $inner) != 0u) continue;
        const uint there = MASK(to_x, to_y), weight = own < there ? own : there;
        if (weight > best) best = weight;
        is_inner = false;
      }
    }
    if (is_inner) {
      if (component != pixel) $seeds[pixel] = 1u;
      continue;
    }
    if (component == of) {
      found = best > found ? best : found;
      continue;
    }
    if (of != $done && found > LOAD_GLOBAL(&$weights[of])) MAX_GLOBAL(&$weights[of], found);
    of = component;
    found = best;
  }
  if (of != $done && found > LOAD_GLOBAL(&$weights[of])) MAX_GLOBAL(&$weights[of], found);
}

// -- part: choose(const leader = GROUP_X == 0 && GROUP_Y == 0 && ITEM == 0, buffer state,
//    const done = 0x80000000u, expr width, expr height, buffer components,
//    const inner = 0x40000000u, buffer weights, buffer seeds, stmt unroll, expr skip, buffer edges)
// Which of those edges: the one with the largest number.
KERNEL($items) void choose(GLOBAL uint* $state, GLOBAL uint* $components, GLOBAL uint* $seeds,
                           GLOBAL uint* $weights, GLOBAL uint* $edges) {
  if ($leader) $state[0] = $state[1];
  if ($state[1] == 0u) return;
  uint of = $done, found = 0u;
  $rows_of_item
  for (int y = begin_y; y < end_y; ++y) {
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    const uint component = $components[pixel];
    if ((component & ($done | $inner)) != 0u) continue;
    const uint own = MASK(x, y), most = $weights[component];
    if (own < most || $seeds[component] >= most) continue;
    uint edge = 0u;
    // Pixels beside it of another component. An inner pixel is of its neighbours' component, and is
    // not kept up to date.
    $unroll
    for (int dy = -1; dy <= 1; ++dy) {
      $unroll
      for (int dx = -1; dx <= 1; ++dx) {
        const int to_x = x + dx, to_y = y + dy;
        if ($skip || to_x < 0 || to_x >= $width || to_y < 0 || to_y >= $height) continue;
        const uint other = $components[(uint)to_y * (uint)$width + (uint)to_x];
        if (other == component || (other & $inner) != 0u) continue;
        const uint there = MASK(to_x, to_y), weight = own < there ? own : there;
        if (weight != most) continue;
        const uint number = edge_between(pixel, dx, dy, (uint)$width);
        if (number > edge) edge = number;
      }
    }
    if (component == of) {
      found = edge > found ? edge : found;
      continue;
    }
    if (of != $done && found > LOAD_GLOBAL(&$edges[of])) MAX_GLOBAL(&$edges[of], found);
    of = component;
    found = edge;
  }
  if (of != $done && found > LOAD_GLOBAL(&$edges[of])) MAX_GLOBAL(&$edges[of], found);
}

// -- part: link(const leader = GROUP_X == 0 && GROUP_Y == 0 && ITEM == 0, buffer state, expr width,
//    buffer components, buffer seeds, buffer weights, buffer forest, const done = 0x80000000u,
//    buffer edges)
// Components are linked to those at the other end, or are done if the source's edge weighs no less.
// Where two chose the same edge, the first stays.
KERNEL($items) void link(GLOBAL uint* $state, GLOBAL uint* $components, GLOBAL uint* $seeds,
                         GLOBAL uint* $weights, GLOBAL uint* $edges, GLOBAL uint* $forest) {
  if ($leader) $state[1] = 0u;
  if ($state[0] == 0u) return;
  $rows_of_item
  for (int y = begin_y; y < end_y; ++y) {
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    if ($components[pixel] != pixel) continue;
    const uint seed = $seeds[pixel];
    if (seed >= $weights[pixel]) {
      $forest[pixel] = pixel | $done;
      continue;
    }
    const uint number = $edges[pixel], edge = edge_of(number);
    const uint here = $components[edge >> 2];
    const uint other = here == pixel ? $components[other_end(edge, (uint)$width)] : here;
    if ((other & $done) != 0u)
      $forest[pixel] = pixel | $done;
    else if (pixel > other || $edges[other] != number || $seeds[other] >= $weights[other])
      $forest[pixel] = other;
  }
}

// -- part: link_tiles(buffer state, int items, expr width, expr height, const done = 0x80000000u,
//    buffer seeds, buffer weights, buffer edges, buffer forest, const doublings = 3)
// The links of the first round, in tiles of 64x64. Those inside a tile are led some times to
// where the next one leads, which takes time in local memory that it would take in global memory.
KERNEL($items) void link_tiles(GLOBAL uint* $state, GLOBAL uint* $seeds, GLOBAL uint* $weights,
                               GLOBAL uint* $edges, GLOBAL uint* $forest) {
  LOCAL ushort links[2 * 64 * 64];
  const int left = GROUP_X * 64, top = GROUP_Y * 64, x = left + ITEM % 64;
  const int rows = $state[2] != 0u ? 64 : 0;
  for (int row = ITEM / 64; row < rows; row += $items / 64) {
    const int y = top + row, place = row * 64 + ITEM % 64;
    links[place] = (ushort)place;
    if (x >= $width || y >= $height) continue;
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    uint link = pixel | $done;
    if ($seeds[pixel] < $weights[pixel]) {
      const uint number = $edges[pixel], edge = edge_of(number);
      const uint from = edge >> 2, to = other_end(edge, (uint)$width);
      const uint other = from == pixel ? to : from;
      const bool stays =
          pixel < other && $edges[other] == number && $seeds[other] < $weights[other];
      link = stays ? pixel : other;
      const int to_x = (int)(link % (uint)$width) - left, to_y = (int)(link / (uint)$width) - top;
      if (to_x >= 0 && to_x < 64 && to_y >= 0 && to_y < 64) {
        links[place] = (ushort)(to_y * 64 + to_x);
      }
    }
    $forest[pixel] = link;
  }
  BARRIER;
  for (int time = 0; time < $doublings; ++time) {
    const int from = time % 2 * 64 * 64, to = 64 * 64 - from;
    for (int place = ITEM; place < 64 * rows; place += $items) {
      links[to + place] = links[from + links[from + place]];
    }
    BARRIER;
  }
  for (int place = ITEM; place < 64 * rows; place += $items) {
    const int y = top + place / 64;
    const int up = links[$doublings % 2 * 64 * 64 + place];
    if (x >= $width || y >= $height || up == place) continue;
    $forest[(uint)y * (uint)$width + (uint)x] =
        (uint)(top + up / 64) * (uint)$width + (uint)(left + up % 64);
  }
}

// -- part: follow(buffer state, const done = 0x80000000u, expr width, stmt unroll,
//    buffer components, const inner = 0x40000000u, buffer seeds, buffer forest, buffer weights,
//    buffer edges)
// Pixels learn their new component. Those of four rows look for it side by side, unless it is known
// from the row before them; on the way every link is led to where the next one leads. Words that
// many ask for are slow to write: nobody writes what is there already, or more often than must be.
KERNEL($items) void follow(GLOBAL uint* $state, GLOBAL uint* $components, GLOBAL uint* $seeds,
                           GLOBAL uint* $weights, GLOBAL uint* $edges, GLOBAL uint* $forest) {
  if ($state[0] == 0u) return;
  uint of = $done, end_of = 0u, end_up = 0u;
  bool remain = false;
  $rows_of_item
  for (int first_y = begin_y; first_y < end_y; first_y += 4) {
    const uint first = (uint)first_y * (uint)$width + (uint)x;
    uint before[4], at[4], up[4], links[4];
    $unroll
    for (int k = 0; k < 4; ++k) {
      const uint pixel = first + (uint)k * (uint)$width;
      before[k] = first_y + k < end_y ? $components[pixel] : $done;
      if ((before[k] & ($done | $inner)) == 0u && before[k] != pixel && $seeds[pixel] != 0u) {
        before[k] |= $inner;
        $components[pixel] = before[k];
      }
    }
    $unroll
    for (int k = 0; k < 4; ++k) {
      const bool wanted = (before[k] & ($done | $inner)) == 0u, known = before[k] == of;
      at[k] = !wanted ? 0u : known ? end_of : before[k];
      up[k] = !wanted ? 0u : known ? end_up : LOAD_GLOBAL(&$forest[at[k]]);
      links[k] = known ? 0u : 1u;
    }
    for (bool moves = true; moves;) {
      uint over[4];
      moves = false;
      $unroll
      for (int k = 0; k < 4; ++k) {
        over[k] = (up[k] & ~$done) == at[k] ? up[k] : LOAD_GLOBAL(&$forest[up[k]]);
      }
      $unroll
      for (int k = 0; k < 4; ++k) {
        if ((up[k] & ~$done) == at[k]) continue;
        if ((over[k] & ~$done) != up[k]) STORE_GLOBAL(&$forest[at[k]], over[k]);
        at[k] = up[k];
        up[k] = over[k];
        ++links[k];
        moves = true;
      }
    }
    $unroll
    for (int k = 0; k < 4; ++k) {
      if ((before[k] & ($done | $inner)) != 0u) continue;
      const uint pixel = first + (uint)k * (uint)$width;
      // Its second link was led on above.
      if (links[k] > 3u) STORE_GLOBAL(&$forest[before[k]], at[k]);
      if (up[k] != before[k]) $components[pixel] = up[k];
      if (before[k] != pixel) continue;
      if (at[k] != pixel) {
        const uint seed = $seeds[pixel];
        if (seed != 0u) {
          MAX_GLOBAL(&$seeds[at[k]], seed);
          $seeds[pixel] = 0u;
        }
      } else if (up[k] == pixel) {
        $weights[pixel] = 0u;
        $edges[pixel] = 0u;
        remain = true;
      } else {
        // Done: by the source's edge if that weighs no less. The seeds that join it weigh less.
        const uint seed = LOAD_GLOBAL(&$seeds[pixel]);
        if (seed > $weights[pixel]) $weights[pixel] = seed;
      }
    }
    if ((before[3] & ($done | $inner)) == 0u) {
      of = before[3];
      end_of = at[3];
      end_up = up[3];
    }
  }
  if (remain) $state[1] = 1u;
}

// -- part: spread(buffer state, expr width, buffer raised, buffer weights, buffer forest,
//    const done = 0x80000000u, expr out = $result[pixel], expr value)
// The lightest edge on the way to the source, or what the tiles were raised to if that is all.
KERNEL($items) void spread(GLOBAL uint* $state, GLOBAL $code* $raised, GLOBAL uint* $weights,
                           GLOBAL uint* $forest, GLOBAL uchar* $result) {
  const bool grew = $state[2] != 0u;
  $rows_of_item
  for (int y = begin_y; y < end_y; ++y) {
    const uint pixel = (uint)y * (uint)$width + (uint)x;
    uint value = grew ? 0xffffffffu : (uint)$raised[pixel], at = pixel;
    while (grew) {
      const uint weight = $weights[at], up = $forest[at];
      value = weight < value ? weight : value;
      if ((up & $done) != 0u || up == at) break;
      at = up;
    }
    $out = $value;
  }
}

// -- part: reach_functions
// A code's direction: dx = 0, dx = dy, dy = 0 and dx = -dy.
FUNCTION int direction_of(const int code) {
  return ((code & 10) != 0 ? 1 : 0) + ((code & 12) != 0 ? 2 : 0);
}
// 32 pixels of a row are a word, bit k for the k-th; those of a tile of 64x64 lie side by side, two a
// row.
FUNCTION uint tiles_across(const int width) { return (uint)((width + 63) / 64); }
FUNCTION uint word_at(const int width, const uint x, const uint y) {
  return (y / 64u * tiles_across(width) + x / 64u) * 128u + y % 64u * 2u + x / 32u % 2u;
}
// Which of four bytes have one of the bits that `bits` has in each: four bits in front of those of
// the pixels before. Adding the others below the uppermost bit carries into it.
FUNCTION uint with_bits_of(const uint before, const uint codes, const uint bits) {
  const uint low = bits & 0x7f7f7f7fu;
  const uint found = ((codes & low) + 0x7f7f7f7fu) | (codes & bits);
  return before >> 4 | ((found & 0x80808080u) * 0x00204081u & 0xf0000000u);
}

// -- part: reach_tile(expr height, expr width, bool begins, buffer marks, buffer entering,
//    expr codes = (GLOBAL const uchar*)$marks + (long)y * 1024, stmt unroll)
// Hysteresis: an edge leads on to its two neighbours along its direction, and those that are edges
// to theirs. Here in a tile of 64x64 until nothing changes: a row a work-item, a column a bit. What
// leads out of the tile enters another one, which goes on from it in the next launch.
KERNEL(64) void reach_tile(GLOBAL uint* $marks, GLOBAL uint* $entering) {
  LOCAL ulong to_below[2 * 65], to_above[2 * 65], sides[2];
  LOCAL uint changed[3];
  const int left = GROUP_X * 64, y = GROUP_Y * 64 + ITEM;
  const int columns = y < $height ? smaller($width - left, 64) : 0;
  const uint first = word_at($width, (uint)left, (uint)y);
  if (ITEM < 2) to_below[ITEM * 65] = to_above[ITEM * 65 + 64] = 0u;
  if (ITEM < 3) changed[ITEM] = 0u;
  BARRIER;
  ulong before = 0u, fresh = 0u;
#if !$begins
  if (columns > 0) {
    before = (ulong)$marks[first + 1u] << 32 | $marks[first];
    fresh = (ulong)LOAD_GLOBAL(&$entering[first + 1u]) << 32 | LOAD_GLOBAL(&$entering[first]);
    fresh &= ~before;
  }
  if (fresh != 0u) OR_LOCAL(&changed[2], 1u);
  BARRIER;
  if (changed[2] == 0u) return;
#endif
  // The number of the direction has two bits. Rows are padded: all of a tile's can be read.
  ulong edges = 0u, strong = 0u, low = 0u, high = 0u;
  if (columns > 0) {
    GLOBAL const uchar* const from = $codes + left;
    uint codes[16];
    for (int k = 0; k < 16; k += 4) load_16_bytes(from + 4 * k, codes + k);
    for (int word = 0; word < 2; ++word) {
      uint edges_bits = 0u, strong_bits = 0u, low_bits = 0u, high_bits = 0u;
      $unroll
      for (int k = 0; k < 8; ++k) {
        const uint four = codes[8 * word + k];
        edges_bits = with_bits_of(edges_bits, four, 0xffffffffu);
        strong_bits = with_bits_of(strong_bits, four, 0xf0f0f0f0u);
        low_bits = with_bits_of(low_bits, four, 0x0a0a0a0au);
        high_bits = with_bits_of(high_bits, four, 0x0c0c0c0cu);
      }
      edges |= (ulong)edges_bits << 32 * word;
      strong |= (ulong)strong_bits << 32 * word;
      low |= (ulong)low_bits << 32 * word;
      high |= (ulong)high_bits << 32 * word;
    }
    const ulong inside = columns < 64 ? ((ulong)1 << columns) - 1u : ~(ulong)0;
    edges &= inside;
    strong &= inside;
  }
  // The directions are dx = 0, dx = dy, dy = 0 and dx = -dy.
  const ulong upright = edges & ~low & ~high, falling = edges & low & ~high;
  const ulong flat = edges & ~low & high, rising = edges & low & high;
  const ulong weak = edges & ~strong;
#if $begins
  fresh = strong;
#endif
  ulong reached = before | fresh;
  uint goes_on = 1u;
  for (int time = 0; goes_on != 0u; ++time) {
    const int here = time % 2 * 65;
    const ulong along = fresh & flat;
    to_below[here + ITEM + 1] = fresh & upright | (fresh & falling) << 1 | (fresh & rising) >> 1;
    to_above[here + ITEM] = fresh & upright | (fresh & falling) >> 1 | (fresh & rising) << 1;
    if (fresh != 0u) OR_LOCAL(&changed[time % 3], 1u);
    BARRIER;
    goes_on = changed[time % 3];
    if (ITEM == 0) changed[(time + 2) % 3] = 0u;
    const ulong beside = to_below[here + ITEM] | to_above[here + ITEM + 1];
    fresh = (along << 1 | along >> 1 | beside) & weak & ~reached;
    reached |= fresh;
  }
  if (columns > 0) {
    $marks[first] = (uint)reached;
    $marks[first + 1u] = (uint)(reached >> 32);
  }
  // What leads out of the tile above and below, a column a work-item, and by the ends of the rows.
  const ulong out = reached & ~before;
  if (ITEM == 0) sides[0] = out & upright | (out & falling) >> 1 | (out & rising) << 1;
  if (ITEM == 63) sides[1] = out & upright | (out & falling) << 1 | (out & rising) >> 1;
  BARRIER;
  for (int k = 0; k < 4; ++k) {
    const ulong bits = k < 2 ? sides[k] >> ITEM : (out & ~upright) >> (k == 2 ? 0 : 63);
    if ((bits & 1u) == 0u) continue;
    const int last = k == 3 ? 63 : 0;
    const int aside = (falling >> last & 1u) != 0u ? 1 : (rising >> last & 1u) != 0u ? -1 : 0;
    const int to_y = k < 2 ? GROUP_Y * 64 + 65 * k - 1 : k == 2 ? y - aside : y + aside;
    const int to_x = k < 2 ? left + ITEM : k == 2 ? left - 1 : left + 64;
    if (to_x < 0 || to_x >= $width || to_y < 0 || to_y >= $height) continue;
    const int code = (int)CODE(to_x, to_y);
    if (code < 1 || code > 15) continue;
    const uint word = word_at($width, (uint)to_x, (uint)to_y);
    OR_GLOBAL(&$entering[word], 1u << (to_x & 31));
  }
  // Groups may have returned above: without a barrier at the end, PoCL 3.1 lets the first work-item
  // choose for all where the loop is unrolled (findings/pocl-first-item-chooses.sh).
  BARRIER;
}

// -- part: reach(expr width, expr height, int items, buffer entering, buffer marks, buffer next)
// What is left after the tiles: from each pixel that was entered a work-item goes on along its
// direction as long as that stays the same, and from the pixels in which it changes. Whoever sets a
// pixel's mark goes on from it; what is still to be gone on from is a list through the pixels.
KERNEL($items) void reach(GLOBAL uint* $marks, GLOBAL uint* $entering, GLOBAL uint* $next) {
  const uint across = tiles_across($width);
  const uint words = across * (uint)(($height + 63) / 64) * 128u;
  const uint step = (uint)(GROUPS_X * GROUPS_Y * $items);
  for (uint at = (uint)((GROUP_Y * GROUPS_X + GROUP_X) * $items + ITEM); at < words; at += step) {
    uint entered = $entering[at] & ~LOAD_GLOBAL(&$marks[at]);
    while (entered != 0u) {
      const uint lowest = entered & (0u - entered);
      entered &= entered - 1u;
      if ((OR_GLOBAL(&$marks[at], lowest) & lowest) != 0u) continue;
      uint open = 0xffffffffu;
      const uint tile = at / 128u;
      int at_x = (int)(tile % across * 64u + at % 2u * 32u) + 31 - LEADING_ZEROS(lowest);
      int at_y = (int)(tile / across * 64u + at % 128u / 2u);
      for (;;) {
        const int direction = direction_of((int)CODE(at_x, at_y));
        const int dx = direction == 0 ? 0 : 1;
        const int dy = direction == 0 || direction == 1 ? 1 : direction == 2 ? 0 : -1;
        for (int sign = -1; sign <= 1; sign += 2) {
          int to_x = at_x + sign * dx, to_y = at_y + sign * dy;
          while (to_x >= 0 && to_x < $width && to_y >= 0 && to_y < $height) {
            const int code = (int)CODE(to_x, to_y);
            if (code < 1 || code > 15) break;
            const uint word = word_at($width, (uint)to_x, (uint)to_y);
            const uint bit = 1u << (to_x & 31);
            if ((OR_GLOBAL(&$marks[word], bit) & bit) != 0u) break;
            if (direction_of(code) != direction) {
              const uint to = (uint)to_y * (uint)$width + (uint)to_x;
              $next[to] = open;
              open = to;
              break;
            }
            to_x += sign * dx;
            to_y += sign * dy;
          }
        }
        if (open == 0xffffffffu) break;
        at_x = (int)(open % (uint)$width);
        at_y = (int)(open / (uint)$width);
        open = $next[open];
      }
    }
  }
}

// -- part: reached(int items, expr width, expr height, buffer marks, stmt unroll,
//    expr to_row = (GLOBAL uchar*)$result + (long)y * 1024)
// The pixels that are marked, 16 a work-item; what is stored behind a row is padding.
KERNEL($items) void reached(GLOBAL const uint* $marks, GLOBAL uchar* $result) {
  const uint at = (uint)(GROUP_X * $items + ITEM), across = (uint)($width + 15) / 16u;
  if (at >= across * (uint)$height) return;
  const int x = (int)(at % across) * 16, y = (int)(at / across);
  const uint bits = $marks[word_at($width, (uint)x, (uint)y)] >> (x & 31);
  uint bytes[4];
  $unroll
  for (int k = 0; k < 4; ++k) bytes[k] = (bits >> 4 * k & 15u) * 0x00204081u & 0x01010101u;
  store_16_bytes($to_row + x, bytes);
}
