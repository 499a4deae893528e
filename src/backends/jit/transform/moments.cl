// Local statistics of two images: means and variances of their sum and of their difference, of rows
// and then of columns, by differences from a pixel near by (core/kernel_spec.hpp, Moments).
//   $items   of a group
//   $tile    rows that it makes; columns: 32
//   $rows    rows that it reads
//   $run     pixels that count from one of them
//   $across  pixels that four pixels read in a row
//   $pitch   of the planes that rows make
//   $offset  that numbers are larger by

// -- part: tiles(int rows, int tile, int items, int reach, expr height, int across, expr width)
// Tiles: a work-item makes the moments of four pixels of a row, whose numbers lie in local memory so
// that neither these stores nor the loads of a column meet in a bank; then those of columns.
KERNEL($items) void moments_of_tiles(GLOBAL const float* $weights, GLOBAL float* $result) {
#define INDEX int
#define PLACE(x, y) ((y) * 40 + ((x) & 3) * 8 + ((x) >> 2))
  LOCAL float sums[$rows * 40], differences[$rows * 40];
  LOCAL float sum_variances[$rows * 40], difference_variances[$rows * 40];
  const int left = GROUP_X * 32, top = GROUP_Y * $tile;
  for (int item = ITEM; item < $rows * 8; item += $items) {
    const int x = item % 8 * 4, y = item / 8;
    const int row = replicate(top + y - $reach, $height);
    const int at_x = left + x - $reach;
    if (at_x >= 0 && at_x + $across <= $width) {
#define COLUMN(i) (at_x + (i))
      // -- part: row(stmt unroll, int run, int reach, expr x_number, expr y_number, int taps,
      //    expr offset)
      // The moments of four pixels of a row, of which at_x is the leftmost that is read.
      $unroll
      for (int part = 0; part < 4; part += $run) {
        float m[$run], d[$run], mm[$run], dd[$run];
        $unroll
        for (int k = 0; k < $run; ++k) m[k] = d[k] = mm[k] = dd[k] = 0.0f;
        float x_middle, y_middle;
        {
          const int column = COLUMN(part + $reach + ($run == 4 ? 2 : 0));
          x_middle = $x_number;
          y_middle = $y_number;
        }
        $unroll
        for (int i = 0; i < $taps + $run - 1; ++i) {
          const int column = COLUMN(part + i);
          const float dx = $x_number - x_middle, dy = $y_number - y_middle;
          const float s = dx + dy, t = dx - dy;
          const float ss = s * s, tt = t * t;
          // -- part: add_weighted(stmt unroll, int run, int taps, expr weights = $weights)
          // To the sums of each pixel whose window has them.
          $unroll
          for (int k = 0; k < $run; ++k) {
            if (i < k || i >= $taps + k) continue;
            const float w = $weights[i - k];
            m[k] = fma(w, s, m[k]);
            d[k] = fma(w, t, d[k]);
            mm[k] = fma(w, ss, mm[k]);
            dd[k] = fma(w, tt, dd[k]);
          }
          // -- end
        }
        x_middle -= $offset;
        y_middle -= $offset;
        $unroll
        for (int k = 0; k < $run; ++k) {
          const INDEX place = PLACE(x + part + k, y);
          sums[place] = (x_middle + y_middle) + m[k];
          differences[place] = (x_middle - y_middle) + d[k];
          sum_variances[place] = fma(-m[k], m[k], mm[k]);
          difference_variances[place] = fma(-d[k], d[k], dd[k]);
        }
      }
      // -- end
#undef COLUMN
    } else {
#define COLUMN(i) replicate(at_x + (i), $width)
      $row
#undef COLUMN
    }
  }
  BARRIER;
#define HELD(y) PLACE(x, y)
  for (int item = ITEM; item < $tile * 8; item += $items) {
    const int x = item % 32, y = item / 32 * 4;
    const int column = left + x;
    if (column >= $width || top + y >= $height) continue;
    // -- part: column(stmt unroll, int run, int reach, int taps, expr height,
    //    expr out = $result[(long)row * $width + column], expr made)
    // Those of four pixels of a column, and what the body makes of them.
    $unroll
    for (int part = 0; part < 4; part += $run) {
      float m[$run], d[$run], mm[$run], dd[$run];
      $unroll
      for (int k = 0; k < $run; ++k) m[k] = d[k] = mm[k] = dd[k] = 0.0f;
      const INDEX middle = HELD(y + part + $reach + ($run == 4 ? 2 : 0));
      const float middle_sum = sums[middle], middle_difference = differences[middle];
      $unroll
      for (int i = 0; i < $taps + $run - 1; ++i) {
        const INDEX held = HELD(y + part + i);
        const float s = sums[held] - middle_sum, t = differences[held] - middle_difference;
        const float ss = fma(s, s, sum_variances[held]), tt = fma(t, t, difference_variances[held]);
        $add_weighted
      }
      $unroll
      for (int k = 0; k < $run; ++k) {
        const int row = top + y + part + k;
        if (row >= $height) continue;
        const float sum = middle_sum + m[k], apart = middle_difference + d[k];
        const float sum_variance = fma(-m[k], m[k], mm[k]);
        const float apart_variance = fma(-d[k], d[k], dd[k]);
        $out = $made;
      }
    }
    // -- end
  }
#undef HELD
#undef PLACE
#undef INDEX
}

// -- part: rows(expr pitch, expr width, buffer sums, buffer differences, buffer sum_variances,
//    buffer difference_variances, int items, int reach)
// Of windows that are too large for tiles the rows alone, as planes.
KERNEL($items) void moments_of_rows(GLOBAL const float* $weights, GLOBAL float* $sums,
                                    GLOBAL float* $differences, GLOBAL float* $sum_variances,
                                    GLOBAL float* $difference_variances) {
#define INDEX long
#define PLACE(x, y) ((long)(y) * $pitch + (x))
#define COLUMN(i) replicate(at_x + (i), $width)
  GLOBAL float* const sums = $sums;
  GLOBAL float* const differences = $differences;
  GLOBAL float* const sum_variances = $sum_variances;
  GLOBAL float* const difference_variances = $difference_variances;
  const int x = (GROUP_X * $items + ITEM) * 4, y = GROUP_Y, row = y;
  const int at_x = x - $reach;
  if (x >= $width) return;
  $row
#undef COLUMN
#undef PLACE
#undef INDEX
}

// -- part: columns(int reach, expr height, expr pitch, buffer sums, buffer differences,
//    buffer sum_variances, buffer difference_variances, int items, expr width)
// The columns of such planes.
KERNEL($items) void moments_of_columns(GLOBAL const float* $weights, GLOBAL const float* $sums,
                                       GLOBAL const float* $differences,
                                       GLOBAL const float* $sum_variances,
                                       GLOBAL const float* $difference_variances,
                                       GLOBAL float* $result) {
#define INDEX long
#define HELD(y) ((long)replicate(top + (y) - $reach, $height) * $pitch + column)
  GLOBAL const float* const sums = $sums;
  GLOBAL const float* const differences = $differences;
  GLOBAL const float* const sum_variances = $sum_variances;
  GLOBAL const float* const difference_variances = $difference_variances;
  const int column = GROUP_X * $items + ITEM, top = GROUP_Y * 4, y = 0;
  if (column >= $width) return;
  $column
#undef HELD
#undef INDEX
}
