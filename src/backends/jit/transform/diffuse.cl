// Error diffusion: a sub-group follows 64 rows as a slanted front, two rows a work-item, each two
// columns behind the one above; bands of 64 rows follow one another on many groups.
// transform/diffuse.cpp says how bands wait for one another.
//   $items         of a group
//   $first_feeder  work-items that read and write, and those that wait for the band above
//   $slots         pairs of pixels of a feeder
//   $rows          of a band
//   $steps         of a front, between two barriers
//   $pitch         doubles from the values of one step to those of the next
//   $lag           steps after the first until the last row starts

// -- part: take
// How bands are taken, and errors handed over.
FUNCTION int take_band(IN_LOCAL int* taken, GLOBAL uint* tickets) {
  BARRIER;
  if (ITEM == 0) *taken = (int)ADD_GLOBAL(tickets, 1u);
  GLOBAL_BARRIER;
  return *taken;
}
// Errors are never all ones, which would be a NaN that no arithmetic makes.
FUNCTION double await_error(GLOBAL volatile unsigned long* place) {
  unsigned long bits = *place;
  while (bits == 0) bits = *place;
  return BITS_DOUBLE(~bits);
}
FUNCTION void send_error(GLOBAL volatile unsigned long* place, const double error) {
  *place = ~DOUBLE_BITS(error);
}

// -- part: bands(int steps, int pitch, bool bytes, int items, expr white, int first_feeder,
//    int first_poller, expr width, int lag, buffer tickets, expr bands, buffer errors,
//    expr errors_pitch, type type = uchar, int slots, int feeders, int rows, expr height,
//    expr pixel = ($image + y * $width), stmt unroll, expr out, expr first, expr second,
//    int half_pitch, stmt step_at_edge)
// Bands of rows, by tickets. In turn of chunk, the front's values of some steps: read pixels into
// the chunk after it, write those of the chunk before it, work on it. Values lie as [chunk %
// 2][step][row].
KERNEL($items) void bands(GLOBAL const $type* $image, GLOBAL uchar* $result,
                          GLOBAL unsigned long* $errors, GLOBAL uint* $tickets) {
  SUB_GROUP_MEMORY;
  LOCAL double2 values[$steps * $pitch];
  LOCAL double over_bands[2 * $steps];
  LOCAL int taken;
#if $bytes
  LOCAL double scaled[256];
  for (int i = ITEM; i < 256; i += $items) scaled[i] = (double)i / $white;
#endif
  const int sub_item = ITEM % SUB_GROUP, feeder = ITEM - $first_feeder,
            poller = ITEM - $first_poller;
  const int chunks = ($width + $lag + $steps - 1) / $steps;
  for (int band = take_band(&taken, $tickets); band < $bands;
       band = take_band(&taken, $tickets)) {
    GLOBAL unsigned long* const errors = $errors + (long)band * $errors_pitch;
    GLOBAL unsigned long* const errors_over = errors - $errors_pitch;
    double here_a = 0.0, over_a = 0.0, left_a = 0.0, here_b = 0.0, over_b = 0.0, left_b = 0.0;
    double before = 0.0;
    if (ITEM == 0 && band > 0) over_a = await_error(errors_over);
    // Pixels of the next chunk: those of the first one, as far as there are any.
    $type held[2 * $slots];
    for (int k = 0; k < $slots; ++k) {
      const int i = feeder + k * $feeders;
      const int row = i / ($steps / 2), next = i % ($steps / 2) * 2 - 2 * row,
                y = band * $rows + row;
      const bool inside =
          feeder >= 0 && feeder < $feeders && y < $height && next >= 0 && next < $width;
      held[2 * k] = inside ? $pixel[next] : ($type)0;
      held[2 * k + 1] = inside ? $pixel[next + 1] : ($type)0;
    }
    for (int chunk = -1; chunk <= chunks; ++chunk) {
      if (feeder >= 0 && feeder < $feeders) {
        IN_LOCAL double* const other = (IN_LOCAL double*)values + (chunk + 1) % 2 * $steps * $pitch;
        $unroll
        for (int k = 0; k < $slots; ++k) {
          const int i = feeder + k * $feeders;
          const int row = i / ($steps / 2), s = i % ($steps / 2) * 2, y = band * $rows + row;
          IN_LOCAL double* const place = other + s * $pitch + row;
          const int last = (chunk - 1) * $steps + s - 2 * row;
          if (y < $height && last >= 0 && last < $width) {
            const double done = place[0], also_done = place[$pitch];
            const bool white = done >= 0.5, also_white = also_done >= 0.5;
            *(GLOBAL ushort*)($out + last) = (ushort)((white ? 1u : 0u) | (also_white ? 256u : 0u));
            if (row == $rows - 1 && band + 1 < $bands) {
              send_error(errors + last, white ? done - 1.0 : done);
              if (last + 1 < $width) {
                send_error(errors + last + 1, also_white ? also_done - 1.0 : also_done);
              }
            }
          }
          place[0] = $first;
          place[$pitch] = $second;
          // The pixels of the chunk after the next, which so have a chunk's time to come.
          const int next = (chunk + 2) * $steps + s - 2 * row;
          const bool inside = y < $height && next >= 0 && next < $width;
          held[2 * k] = inside ? $pixel[next] : ($type)0;
          held[2 * k + 1] = inside ? $pixel[next + 1] : ($type)0;
        }
      }
      if (poller >= 0 && poller < $steps) {
        const int column = (chunk + 1) * $steps + poller + 1;
        over_bands[(chunk + 1) % 2 * $steps + poller] =
            band > 0 && column < $width ? await_error(errors_over + column) : 0.0;
      }
      if (chunk >= 0 && chunk < chunks && ITEM < SUB_GROUP) {
        IN_LOCAL double2* const front =
            values + chunk % 2 * ($steps * $half_pitch) + sub_item;
        IN_LOCAL const double* const over_band = over_bands + chunk % 2 * $steps;
        if (chunk * $steps >= $lag && (chunk + 1) * $steps <= $width) {
          // -- part: step(stmt unroll, int steps, int half_pitch, bool edge, expr width)
          // A pixel of each of the two rows of a work-item, a over b. The order of the additions is
          // that of the raster loop.
          $unroll
          for (int s = 0; s < $steps; ++s) {
            const double right_a = sub_item == 0 ? over_band[s] : before, right_b = here_a;
            double2 v = front[s * $half_pitch];
            v.x = (((v.x + left_a * 0.0625) + over_a * 0.3125) + right_a * 0.1875) +
                  here_a * 0.4375;
            v.y = (((v.y + left_b * 0.0625) + over_b * 0.3125) + right_b * 0.1875) +
                  here_b * 0.4375;
            front[s * $half_pitch] = v;
            here_a = v.x >= 0.5 ? v.x - 1.0 : v.x;
            here_b = v.y >= 0.5 ? v.y - 1.0 : v.y;
#if $edge
            // A row that has not begun, or has ended, has no errors.
            const int column = chunk * $steps + s - 4 * sub_item;
            here_a = column >= 0 && column < $width ? here_a : 0.0;
            here_b = column >= 2 && column < $width + 2 ? here_b : 0.0;
#endif
            left_a = over_a;
            left_b = over_b;
            over_a = right_a;
            over_b = right_b;
            before = sub_group_lane_before(SUB_GROUP_ARGS, here_b, s % 2);
          }
          // -- end
        } else {
          $step_at_edge
        }
      }
      BARRIER;
    }
  }
}
