// The Radon transform: frames of the image, sums along strips that follow the rays, then bins.
// core/rays.hpp says what strips are, and transform/project.cpp when four frames are taken together.
//   $items    of a group
//   $margin   zeros on both sides of the rows of a frame
//   $pitch_0  of frames that are upright, and of transposed ones
//   $count    ways: directions of one frame, or of four
//   $slots    frames of a way
//   $pixels   or four of them
//   $band     rows of a band
//   $ahead    pixels
//   $near     strips that reach the bins of a group

// -- part: words
// What CUDA has instructions for.
#ifdef __CUDACC__
#define SATURATED(v) __saturatef(v)
// Sub-groups of a group share nothing.
#define OWN_BARRIER __syncwarp()
#else
#define OWN_BARRIER BARRIER
#define SATURATED(v) fmin(fmax(v, 0.0f), 1.0f)
#endif
FUNCTION double larger_double(const double a, const double b) { return a > b ? a : b; }

// -- part: pixel(name name_pixel, expr width, expr height, expr pixel)
// A pixel of the image, 0 outside it; from_x and from_y are counted from the picture's middle.
FUNCTION float $name_pixel(PARAMS, const int from_x, const int from_y) {
  const int x = from_x + ($width + 1) / 2 - 1, y = from_y + ($height + 1) / 2 - 1;
  const bool inside = x >= 0 && x < $width && y >= 0 && y < $height;
  return inside ? (float)$pixel : 0.0f;
}

// -- part: frame(int items, expr pitch_0, expr rows_0, expr pitch_1, expr rows_1, int margin,
//    expr height, expr width, buffer frames, name name_pixel)
// Frames one by one: 0 and 3 are the picture, 1 and 2 it transposed; their flips are signs of
// steps.
KERNEL($items) void frame(GLOBAL float* $frames) {
  const long item = (long)GROUP_X * $items + ITEM;
  const long upright = (long)$pitch_0 * $rows_0;
  const bool transposed = item >= upright;
  const long rest = transposed ? item - upright : item;
  const int pitch = transposed ? $pitch_1 : $pitch_0;
  const int row = (int)(rest / pitch), column = (int)(rest % pitch);
  if (transposed && row >= $rows_1) return;
  const int u = column - $margin - (transposed ? $height : $width) / 2;
  const int v = row - (transposed ? $width : $height) / 2;
  $frames[item] = $name_pixel(ARGS, transposed ? v : u, transposed ? u : v);
}

// -- part: four_frames(int items, expr pitch_0, expr rows_0, int margin, expr width, expr height,
//    name name_pixel, buffer frames)
// The frames four at a time: a pixel of each.
KERNEL($items) void four_frames(GLOBAL float4* $frames) {
  const int item = GROUP_X * $items + ITEM, row = item / $pitch_0, column = item % $pitch_0;
  if (row >= $rows_0) return;
  const int u = column - $margin - $width / 2, v = row - $height / 2;
  float4 pixel;
  pixel.x = $name_pixel(ARGS, u, -v);
  pixel.y = $name_pixel(ARGS, v, -u);
  pixel.z = $name_pixel(ARGS, -v, -u);
  pixel.w = $name_pixel(ARGS, -u, -v);
  $frames[item] = pixel;
}

// -- part: rows(expr frame_groups, int items, expr max_rows, expr count, buffer ways, expr half_v,
//    buffer quarters, buffer offsets, buffer places, expr step_u, expr step_v)
// Of each way and row: where its pixels lie along the projection, and where strip 0's is stored.
KERNEL($items) void rows(GLOBAL const double* $ways, GLOBAL float4* $quarters,
                         GLOBAL float* $offsets, GLOBAL int* $places) {
  const int item = (GROUP_X - $frame_groups) * $items + ITEM;
  const int way = item / $max_rows, row = item % $max_rows;
  if (way >= $count) return;
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_v = $half_v;
  if (row > 2 * half_v) return;
  const double down = across * (double)(row - half_v);
  const double shift = rint(-down / along), offset = along * shift + down;
  float4 quarters;
  quarters.x = (float)(offset + along * -0.25 + across * -0.25);
  quarters.y = (float)(offset + along * -0.25 + across * 0.25);
  quarters.z = (float)(offset + along * 0.25 + across * -0.25);
  quarters.w = (float)(offset + along * 0.25 + across * 0.25);
  const long at = (long)way * $max_rows + row;
  $quarters[at] = quarters;
  $offsets[at] = (float)offset;
  $places[at] = $step_u * (int)shift + $step_v * row;
}

// -- part: strips(int sub_groups, int max_of_band, expr count, buffer ways, expr half_u,
//    expr half_v, type pixels, buffer frames, expr origin, expr step_u,
//    stmt totals = double total_all$k; double total_offsets$k; double total_first$k; double total_second$k;,
//    int band, expr max_rows, buffer offsets, buffer places, buffer quarters, stmt sums, int ahead,
//    stmt unroll, stmt carries)
// A sub-group keeps the places of a band's rows in local memory, and the sub-groups of a group take the bands
// together: their ways are close to one another, so that what one reads is in the cache for all.
// Several rows' pixels are on their way at once.
KERNEL(SUB_GROUP * $sub_groups) void strips(GLOBAL const $pixels* $frames, GLOBAL const double* $ways,
                                GLOBAL const float4* $quarters, GLOBAL const float* $offsets,
                                GLOBAL const int* $places, GLOBAL double* $totals_of_strips) {
  LOCAL float4 local_quarters[$sub_groups * $max_of_band];
  LOCAL float2 local_lines[$sub_groups * $max_of_band];
  const int sub_group = ITEM / SUB_GROUP, sub_item = ITEM % SUB_GROUP;
  const int wanted = GROUP_X * $sub_groups + sub_group, way = smaller(wanted, $count - 1);
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_u = $half_u, half_v = $half_v;
  const int most = (int)rint(across * (double)half_v / along);
  // Strips from the middle outwards: long ones first, so that the last groups end together.
  const int blocks = (2 * (half_u + most) + SUB_GROUP) / SUB_GROUP, turn = GROUP_Y / 2,
            part = GROUP_Y % 2;
  const int block = blocks / 2 + (turn % 2 != 0 ? -(turn + 1) / 2 : turn / 2);
  const int start = -half_u - most + block * SUB_GROUP, j = start + sub_item;
  const bool works = wanted < $count && turn < blocks;
  // The rows in which one of the sub-group's strips may meet the frame.
  const double slope = larger_double(across / along, 1e-9);
  const int first =
      half_v - (int)clamp_double((half_u - start + 2) / slope + 1.0, -half_v, (double)half_v);
  const int last = half_v + (int)clamp_double((half_u + start + 33) / slope + 1.0, -half_v - 1.0,
                                              (double)half_v);
  const double reach = along / 2.0 + (along + across) / 4.0;
  const double middle = along * (double)j, bin = floor(middle - reach);
  const float after_0 = (float)(middle - bin), after_1 = after_0 - 1.0f;
  GLOBAL const $pixels* const pixels = $frames + $origin + $step_u * j;
  IN_LOCAL float4* const quarters = local_quarters + sub_group * $max_of_band;
  IN_LOCAL float2* const lines = local_lines + sub_group * $max_of_band;
  $totals
  const int bands = larger((2 * half_v + 1) / $band, 1);
  const int max_bands = (larger($max_rows / $band, 1) + 1) / 2;
  const int first_band = part * ((bands + 1) / 2), end_band = part == 0 ? (bands + 1) / 2 : bands;
  for (int k = 0; k < max_bands; ++k) {
    const int band = first_band + k, begin = band * $band;
    const int end = band + 1 == bands ? 2 * half_v : begin + $band - 1;
    const int from = larger(first, begin), to = smaller(last, end);
    const bool meets = works && band < end_band && from <= to;
    OWN_BARRIER;
    if (meets) {
      for (int r = from + sub_item; r <= to; r += SUB_GROUP) {
        const long at = (long)way * $max_rows + r;
        float2 line;
        line.x = $offsets[at];
        line.y = BITS_FLOAT((uint)$places[at]);
        quarters[r - begin] = $quarters[at];
        lines[r - begin] = line;
      }
    }
    OWN_BARRIER;
    if (meets) {
      $sums
      const int past = to - begin + 1;
      int r = from - begin;
      for (; r + $ahead <= past; r += $ahead) {
        $pixels read[$ahead];
        $unroll
        for (int k = 0; k < $ahead; ++k) read[k] = pixels[(int)FLOAT_BITS(lines[r + k].y)];
        $unroll
        for (int k = 0; k < $ahead; ++k) {
          const $pixels v = read[k];
          const float4 q = quarters[r + k];
          const float offset = lines[r + k].x;
          // -- part: row
          // How much of a pixel, or of four, lies over two places of the strip.
          const float over_0 = (SATURATED(after_0 + q.x) + SATURATED(after_0 + q.y)) +
                               (SATURATED(after_0 + q.z) + SATURATED(after_0 + q.w));
          const float over_1 = (SATURATED(after_1 + q.x) + SATURATED(after_1 + q.y)) +
                               (SATURATED(after_1 + q.z) + SATURATED(after_1 + q.w));
          // -- end
        }
      }
      for (; r < past; ++r) {
        const $pixels v = pixels[(int)FLOAT_BITS(lines[r].y)];
        const float4 q = quarters[r];
        const float offset = lines[r].x;
        $row
      }
      $carries
    }
  }
  if (!works) return;
  const long strip = j + half_u + most;
  // -- part: end(expr count, int slots, int slot, buffer totals_of_strips, expr strips, name k)
  // The sums of a frame.
  {
    const long sum = ((long)part * $count + way) * $slots + $slot;
    GLOBAL double* const totals = $totals_of_strips + sum * 4 * $strips + strip;
    totals[0] = total_all$k;
    totals[$strips] = total_offsets$k;
    totals[2 * $strips] = total_first$k;
    totals[3 * $strips] = total_second$k;
  }
  // -- end
}

// -- part: bins(int near, expr bins, int items, buffer ways, expr count, int slots, expr half_u,
//    expr half_v, buffer totals_of_strips, expr strips, expr out = $result)
// The strips that reach a group's bins become parts of bins in local memory, each once; then a bin
// adds up those of its own, from the first strip on.
KERNEL($items) void bins(GLOBAL const double* $ways, GLOBAL const double* $totals_of_strips,
                         GLOBAL float* $result) {
  LOCAL double parts[4 * $near];
  LOCAL int places[$near];
  const int chunks = ($bins + $items - 1) / $items;
  const int column = GROUP_X / chunks, start = GROUP_X % chunks * $items, r = start + ITEM;
  GLOBAL const double* const of_column = $ways + 3 * $count + 2 * column;
  const int sum = (int)of_column[0], way = sum / $slots;
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_u = $half_u, half_v = $half_v;
  const int most = (int)rint(across * (double)half_v / along), middle = $bins / 2;
  // Strips are counted from the first one, so that their bounds need no minus: ptxas 13.0 loses the
  // sign of one of three numbers whose maximum is taken (findings/ptxas-maximum-of-three.sh).
  const int middle_strip = half_u + most;
  const double reach = along / 2.0 + (along + across) / 4.0;
  const double wide = 1.0 / along;
  // With one to spare on either side.
#define FIRST(bin) ((int)floor(((double)((bin) - 3) + reach) * wide) - 1 + middle_strip)
  const int from = larger(FIRST(start - middle), 0);
  const int to = smaller(FIRST(start + $items - 1 - middle) + 9, 2 * middle_strip);
  GLOBAL const double* const upper = $totals_of_strips + (long)sum * 4 * $strips;
  GLOBAL const double* const lower = upper + (long)$count * $slots * $strips * 4;
  for (int i = ITEM; i <= to - from; i += $items) {
    const int strip = from + i, step = $strips;
    const double all = upper[strip] + lower[strip];
    const double offsets = upper[strip + step] + lower[strip + step];
    const double first = upper[strip + 2 * step] + lower[strip + 2 * step];
    const double second = upper[strip + 3 * step] + lower[strip + 3 * step];
    const double along_strip = along * (double)(strip - middle_strip);
    const double bin = floor(along_strip - reach);
    const double third = 4.0 * ((along_strip - bin) * all + offsets) - first - second;
    parts[4 * i] = (4.0 * all - first) / 4.0;
    parts[4 * i + 1] = (first - second) / 4.0;
    parts[4 * i + 2] = (second - third) / 4.0;
    parts[4 * i + 3] = third / 4.0;
    places[i] = (int)bin;
  }
  BARRIER;
  if (r >= $bins) return;
  const int guess = FIRST(r - middle), last = smaller(guess + 9, 2 * middle_strip);
#undef FIRST
  double total = 0.0;
  for (int j = larger(guess, from); j <= last; ++j) {
    const int place = r - middle - places[j - from];
    if (place >= 0 && place < 4) total += parts[4 * (j - from) + place];
  }
  const int y = of_column[1] != 0.0 ? $bins - 1 - r : r;
  ($out)[column] = (float)total;
}
