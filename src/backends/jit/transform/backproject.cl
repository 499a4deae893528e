// The inverse Radon transform: a group filters two projections by their Fourier transform, then
// every pixel adds its samples of all projections.
//   $items    of a group
//   $width    projections
//   $height   samples of a projection
//   $samples  of a filtered one
//   $before   samples of it before the first of the projection

// -- part: transform(int items)
// What bits are in reversed order, and the transform itself.
FUNCTION int bits_reversed(const int value, const int bits) {
  int out = 0;
  for (int b = 0; b < bits; ++b) out |= (value >> b & 1) << (bits - 1 - b);
  return out;
}
// Butterflies of growing span; the data is in the order of reversed bits. sign: 1, or -1 for the
// inverse. All work-items of a group together.
FUNCTION void fourier_transform(GLOBAL double2* data, GLOBAL const double* roots, const int length,
                                const double sign) {
  for (int span = 1; span < length; span *= 2) {
    const int step = length / (2 * span);
    for (int i = ITEM; i < length / 2; i += $items) {
      const int k = i % span, at = i / span * 2 * span + k;
      const double re = roots[2 * k * step], im = sign * roots[2 * k * step + 1];
      const double2 low = data[at], high = data[at + span];
      const double turned_re = high.x * re - high.y * im, turned_im = high.x * im + high.y * re;
      double2 sum, difference;
      sum.x = low.x + turned_re;
      sum.y = low.y + turned_im;
      difference.x = low.x - turned_re;
      difference.y = low.y - turned_im;
      data[at] = sum;
      data[at + span] = difference;
    }
    GLOBAL_BARRIER;
  }
}

// -- part: filter(expr width, buffer data, expr length, int items, expr bits, expr height,
//    expr pixel, buffer roots, buffer response, expr samples, expr before, buffer filtered)
// Two projections at a time, as real and imaginary parts: the response is real and even.
KERNEL($items) void filter(GLOBAL double2* $data, GLOBAL const double* $roots,
                           GLOBAL const double* $response, GLOBAL double* $filtered) {
  const int first = 2 * GROUP_X, second = smaller(first + 1, $width - 1);
  GLOBAL double2* const data = $data + (long)GROUP_X * $length;
  for (int i = ITEM; i < $length; i += $items) {
    const int y = bits_reversed(i, $bits);
    double2 v;
    v.x = 0.0;
    v.y = 0.0;
    if (y < $height) {
      int x = first;
      v.x = (double)$pixel;
      x = second;
      v.y = (double)$pixel;
    }
    data[i] = v;
  }
  GLOBAL_BARRIER;
  fourier_transform(data, $roots, $length, 1.0);
  // Each pair of places once, so that the inverse finds its order of reversed bits.
  for (int i = ITEM; i < $length; i += $items) {
    const int other = bits_reversed(i, $bits);
    if (other < i) continue;
    double2 a = data[i], b = data[other];
    a.x *= $response[i];
    a.y *= $response[i];
    b.x *= $response[other];
    b.y *= $response[other];
    data[i] = b;
    data[other] = a;
  }
  GLOBAL_BARRIER;
  fourier_transform(data, $roots, $length, -1.0);
  const double scale = 1.0 / (double)$length;
  for (int i = ITEM; i <= $samples; i += $items) {
    const int y = i - $before;
    const bool inside = y >= 0 && y < $height;
    $filtered[(long)first * ($samples + 1) + i] = inside ? data[y].x * scale : 0.0;
    if (second != first) {
      $filtered[(long)second * ($samples + 1) + i] = inside ? data[y].y * scale : 0.0;
    }
  }
}

// -- part: copy(expr samples, int items, expr before, buffer filtered, expr height, expr pixel)
// Projections as they are.
KERNEL($items) void copy(GLOBAL double* $filtered) {
  const int x = GROUP_X;
  for (int i = ITEM; i <= $samples; i += $items) {
    const int y = i - $before;
    $filtered[(long)x * ($samples + 1) + i] = y >= 0 && y < $height ? (double)$pixel : 0.0;
  }
}

// -- part: smear(expr side, expr samples, expr width, buffer filtered, buffer turns, bool linear,
//    expr out = $result[y * $side + x], expr scale)
// A pixel (x, y) of the result, from its samples of all projections.
KERNEL($items) void smear(const int x, const int y, GLOBAL const double* $filtered,
                          GLOBAL const double* $turns, GLOBAL float* $result) {
  const int middle = ($side + 1) / 2, centre = $samples / 2;
  const double up = (double)($side - 1 - y - middle), right = (double)(x - middle + 1);
  double sum = 0.0;
  for (int a = 0; a < $width; ++a) {
    GLOBAL const double* const samples = $filtered + (long)a * ($samples + 1);
    const double start = up * $turns[2 * a + 1], step = right * $turns[2 * a];
#if $linear
    const double place = start + (double)centre + step;
    const int at = (int)place;
    sum += samples[at] + (samples[at + 1] - samples[at]) * (place - (double)at);
#else
    // Ties are decided before the middle is added, whose rounding would make more of them.
    sum += samples[(int)floor(start + step + 0.5) + centre];
#endif
  }
  $out = (float)(sum * $scale);
}
