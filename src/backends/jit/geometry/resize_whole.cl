// A resize by a whole number, up or down: $phases outputs stand to $step inputs, and so have the
// same weights everywhere. A group sums the columns under a tile of the result into local memory,
// then those sums along the rows; all places are known when the kernel is compiled.
//   $items    of a group
//   $width    of the image
//   $quads_x  runs of outputs side by side
//   $before   taps before the pixel at or above a place
//   $rows     of a tile
//   $across   runs of a tile
//   $run      outputs of a run
//   $lanes    places for the runs of a row
//   $fours    of columns of sums that local memory holds
//   $margin   columns of sums left of what stands under a tile
//   $columns  from a run to the next
//   $wide     columns of a load
//   $reads    loads of a run
//   $lead     the place of output 0, rounded down
//   $span     rows that a tile reads

// -- part: apart(name apart, int step, int phases, int lead)
// How many inputs lie between the first of output 0 and that of output i.
FUNCTION int $apart(const int i) {
  return (2 * $step * i + $phases + $step) / (2 * $phases) - $lead;
}

// -- part: whole(int rows, int fours, int span, expr across, expr quads_x, expr width, int columns,
//    int margin, int reads, int wide, int phases, int step, int lead, int before, expr height,
//    expr stride, stmt each, type pixel, buffer plane, stmt load, name apart, int taps,
//    expr weights = $weights, int items, int lanes, expr to_height, type vector = float4,
//    bool of_two, bool of_four, int run, expr out_row, stmt store)
// The tiles of the result. weights: [phase][tap].
KERNEL($items) void whole(GLOBAL const $pixel* $plane, GLOBAL const float* $weights,
                          GLOBAL $pixel* $result) {
  LOCAL float4 sums[$rows * $fours];
  LOCAL long lines[$span];
  const int quad0 = GROUP_X * $across, top = GROUP_Y * $rows;
  const int quads = smaller($across, $quads_x - quad0);
  const int width = $width;
  const int left = quad0 * $columns - $margin;
  const int fours = ((quads - 1) * $columns + $reads * $wide + 3) / 4;
  if (ITEM < $span) {
    const int y = top / $phases * $step + $lead - $before - 1 + ITEM;
    lines[ITEM] = (long)symmetric(y, $height) * $stride;
  }
  BARRIER;
  const int from = left + 4 * ITEM;
  if (ITEM < fours && from >= 0 && from < width) {
    float sum[4 * $rows];
    $each
    for (int k = 0; k < 4 * $rows; ++k) sum[k] = 0.0f;
    GLOBAL const $pixel* const columns = $plane + from;
    $each
    for (int u = 0; u < $span; ++u) {
      GLOBAL const $pixel* const line = columns + lines[u];
      float v[4];
      $load
      $each
      for (int r = 0; r < $rows; ++r) {
        const int t = u - $apart(r);
        if (t >= 0 && t < $taps) {
          const float weight = $weights[r % $phases * $taps + t];
          $each
          for (int k = 0; k < 4; ++k) sum[4 * r + k] = fma(weight, v[k], sum[4 * r + k]);
        }
      }
    }
    $each
    for (int r = 0; r < $rows; ++r) {
      float4 four;
      four.x = sum[4 * r];
      four.y = sum[4 * r + 1];
      four.z = sum[4 * r + 2];
      four.w = sum[4 * r + 3];
      sums[r * $fours + ITEM] = four;
    }
  }
  BARRIER;
  // Columns outside the image are those that mirrors show.
  if (left < 0 || left + 4 * fours > width) {
    IN_LOCAL float* const cells = (IN_LOCAL float*)sums;
    for (int i = ITEM; i < 4 * fours; i += $items) {
      if (left + i >= 0 && left + i < width) continue;
      const int mirrored = symmetric(left + i, width) - left;
      if (mirrored < 0 || mirrored >= 4 * fours) continue;
      for (int r = 0; r < $rows; ++r) {
        cells[4 * r * $fours + i] = cells[4 * r * $fours + mirrored];
      }
    }
    BARRIER;
  }
  $each
  for (int i = 0; i < $rows * $lanes / $items; ++i) {
    const int place = ITEM + i * $items, run = place % $lanes, quad = quad0 + run;
    const int r = place / $lanes, y = top + r;
    if (run >= quads || y >= $to_height) continue;
    IN_LOCAL const $vector* const from_sums =
        (IN_LOCAL const $vector*)(sums + r * $fours) + run * ($columns / $wide);
    float v[$wide * $reads];
    $each
    for (int u = 0; u < $reads; ++u) {
      const $vector some = from_sums[u];
#if $of_two
      v[$wide * u] = some.x;
      v[$wide * u + 1] = some.y;
#else
      v[u] = some;
#endif
#if $of_four
      v[$wide * u + 2] = some.z;
      v[$wide * u + 3] = some.w;
#endif
    }
    float sum[$run];
    $each
    for (int k = 0; k < $run; ++k) {
      sum[k] = 0.0f;
      $each
      for (int t = 0; t < $taps; ++t) {
        sum[k] = fma($weights[k % $phases * $taps + t],
                     v[$margin + $lead - $before - 1 + $apart(k) + t], sum[k]);
      }
    }
    GLOBAL $pixel* const row = $out_row;
    $store
  }
}
