// Sums of very many weights by Fourier transforms of square tiles, two tiles at a time as real and
// imaginary parts: columns, then rows, times the spectrum of the weights, and back.
//
// A work-item has eight numbers of a line in registers, each an eighth of the line further than the
// last, and a stage of a transform makes eight numbers of them: its group's exchange of numbers
// between two stages goes through local memory. What a stage makes stands so that the last one's
// numbers are in order, again an eighth of a line apart.
#define $side 512     // of a tile, pixels
#define $items 512    // of a group
#define $across 8     // lines of a group
#define $twos 0       // whether the first stage makes two numbers of two
#define $both 1       // whether real and imaginary parts are exchanged at once
#define $held (($side + $side / 8) * $across)
#define $unroll
#define $pairs 10     // of tiles
#define $count 19     // tiles
#define $tiles 4      // tiles beside each other
#define $valid_x 450  // pixels that a tile makes
#define $valid_y 450
#define $first_x -31  // the pixel that a tile's first pixel is, of the first tile
#define $first_y -31
#define $columns 63   // weights
#define $rows 63
#define $width 1700   // of the result
#define $height 1700
#define $checked 1    // whether pixels may be none that transforms take
#define $name fourier_pixel
#define $value (float)((x ^ y) & 255)
#define $one_pixel (float)((one_x ^ (one_y + i)) & 255)
#define $other_pixel (float)((other_x ^ (other_y + i)) & 255)
#define $direct fourier_direct
#define $direct_pixel v
#define $table ((GLOBAL const float*)0)  // the weights
#define $converted v
#define $pair GROUP_Y
#define $filters 1    // whether rows are multiplied, and transformed back
#define $out $result[(long)y * $width + x]

// -- part: transform
// The transform of a line, of which work-item j has the numbers that are `side / 8` apart, from the
// j-th on, before and afterwards. Number k of a line is `held` at (k + k / 8) * by + at. With real
// and imaginary parts taken for each other it is the inverse, but for a factor.
FUNCTION void fourier_eighth(float* re, float* im) {
  const float root = 0.70710678118654752f;
  float a[8], b[8];
  // Sums and differences of numbers that are four apart; the latter are turned.
  $unroll
  for (int i = 0; i < 4; ++i) {
    a[i] = re[i] + re[i + 4];
    b[i] = im[i] + im[i + 4];
    a[i + 4] = re[i] - re[i + 4];
    b[i + 4] = im[i] - im[i + 4];
  }
  const float a5 = root * (a[5] + b[5]), b5 = root * (b[5] - a[5]);
  const float a6 = b[6], b6 = -a[6];
  const float a7 = root * (b[7] - a[7]), b7 = -(root * (a[7] + b[7]));
  a[5] = a5;
  b[5] = b5;
  a[6] = a6;
  b[6] = b6;
  a[7] = a7;
  b[7] = b7;
  $unroll
  for (int h = 0; h < 2; ++h) {
    const float sr = a[4 * h] + a[4 * h + 2], si = b[4 * h] + b[4 * h + 2];
    const float dr = a[4 * h] - a[4 * h + 2], di = b[4 * h] - b[4 * h + 2];
    const float tr = a[4 * h + 1] + a[4 * h + 3], ti = b[4 * h + 1] + b[4 * h + 3];
    const float er = a[4 * h + 1] - a[4 * h + 3], ei = b[4 * h + 1] - b[4 * h + 3];
    re[h] = sr + tr;
    im[h] = si + ti;
    re[h + 2] = dr + ei;
    im[h + 2] = di - er;
    re[h + 4] = sr - tr;
    im[h + 4] = si - ti;
    re[h + 6] = dr - ei;
    im[h + 6] = di + er;
  }
}
// The i-th number goes to place first + i % 4 * apart + i / 4 * four_apart of its line.
FUNCTION void fourier_exchange(float* re, float* im, IN_LOCAL float* held, const int j,
                               const int first, const int apart, const int four_apart, const int by,
                               const int at) {
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int k = first + i % 4 * apart + i / 4 * four_apart, place = (k + k / 8) * by + at;
    held[place] = re[i];
#if $both
    held[place + $held] = im[i];
#endif
  }
  BARRIER;
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int k = j + i * ($side / 8), place = (k + k / 8) * by + at;
    re[i] = held[place];
#if $both
    im[i] = held[place + $held];
#endif
  }
  BARRIER;
#if !$both
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int k = first + i % 4 * apart + i / 4 * four_apart;
    held[(k + k / 8) * by + at] = im[i];
  }
  BARRIER;
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int k = j + i * ($side / 8);
    im[i] = held[(k + k / 8) * by + at];
  }
  BARRIER;
#endif
}
FUNCTION void fourier_line(float* re, float* im, IN_LOCAL float* held,
                           GLOBAL const float2* factors, const int j, const int by, const int at) {
#if $twos
  $unroll
  for (int i = 0; i < 4; ++i) {
    const float r = re[i] - re[i + 4], m = im[i] - im[i + 4];
    re[i] = re[i] + re[i + 4];
    im[i] = im[i] + im[i + 4];
    re[i + 4] = r;
    im[i + 4] = m;
  }
  fourier_exchange(re, im, held, j, 2 * j, $side / 4, 1, by, at);
#endif
  for (int span = $twos ? 2 : 1; span < $side; span *= 8) {
    const int part = j % span;
    if (span > 1) {
      const int step = part * ($side / 8 / span);
      $unroll
      for (int i = 1; i < 8; ++i) {
        const float2 factor = factors[i * step];
        const float r = re[i] * factor.x - im[i] * factor.y;
        im[i] = re[i] * factor.y + im[i] * factor.x;
        re[i] = r;
      }
    }
    fourier_eighth(re, im);
    if (8 * span < $side) {
      fourier_exchange(re, im, held, j, j / span * 8 * span + part, span, 4 * span, by, at);
    }
  }
}

// -- part: read
// A pixel of a tile; 0 instead of one that transforms do not take, of which there are `unfit`.
FUNCTION float $name(PARAMS, const int x, const int y, int* unfit) {
  const float v = $value;
#if $checked
  if (!(fabs(v) <= 18446744073709551616.0f)) {
    *unfit = 1;
    return 0.0f;
  }
#endif
  return v;
}

// -- part: direct
// A pixel of the result, weight by weight.
FUNCTION_SELDOM float $direct(PARAMS, const int at_x, const int at_y) {
  float sum = 0.0f;
  for (int row = 0; row < $rows; ++row) {
    for (int column = 0; column < $columns; ++column) {
      const float weight = $table[row * $columns + column];
      const int x = at_x + column, y = at_y + row;
      if (weight != 0.0f) sum = fma(weight, $value, sum);
    }
  }
  return sum;
}

// -- part: columns
// A group transforms neighbouring columns of a pair of tiles; those behind the last pair are those
// of the weights.
KERNEL($items) void columns(GLOBAL float2* $data, GLOBAL const float2* $factors,
                            GLOBAL const float* $weights, GLOBAL uint* $unfit) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = ITEM % $across, j = ITEM / $across, pair = GROUP_Y;
  const int column = GROUP_X * $across + line;
  float re[8], im[8];
  if (pair == $pairs) {
    const int from_x = ($side - column) % $side;
    $unroll
    for (int i = 0; i < 8; ++i) {
      const int from_y = ($side - (j + i * ($side / 8))) % $side;
      re[i] = from_x < $columns && from_y < $rows
                  ? $weights[from_y * $columns + from_x] * (1.0f / ((float)$side * (float)$side))
                  : 0.0f;
      im[i] = 0.0f;
    }
  } else {
    const int one = 2 * pair, other = one + 1;
    const int one_x = one % $tiles * $valid_x + $first_x + column;
    const int one_y = one / $tiles * $valid_y + $first_y + j;
    const int other_x = other % $tiles * $valid_x + $first_x + column;
    const int other_y = other / $tiles * $valid_y + $first_y + j;
    int unfit = 0;
    $unroll
    for (int i = 0; i < 8; ++i) {
      re[i] = $one_pixel;
      im[i] = other < $count ? $other_pixel : 0.0f;
    }
#if $checked
    if (unfit) OR_GLOBAL(&$unfit[pair], 1u);
#endif
  }
  fourier_line(re, im, held, $factors, j, $across, line);
  GLOBAL float2* const to = $data + ((long)pair * $side + j) * $side + column;
  $unroll
  for (int i = 0; i < 8; ++i) {
    float2 v;
    v.x = re[i];
    v.y = im[i];
    to[(long)i * ($side / 8) * $side] = v;
  }
}

// -- part: rows
// A group transforms neighbouring rows of a pair of tiles and multiplies them by the weights'
// spectrum; then back.
KERNEL($items) void rows(GLOBAL float2* $data, GLOBAL const float2* $factors) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = ITEM / ($side / 8), j = ITEM % ($side / 8), pair = $pair;
  const int row = GROUP_X * $across + line, at = line * ($side + $side / 8);
  GLOBAL float2* const numbers = $data + ((long)pair * $side + row) * $side + j;
  float re[8], im[8];
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 v = numbers[i * ($side / 8)];
    re[i] = v.x;
    im[i] = v.y;
  }
  fourier_line(re, im, held, $factors, j, 1, at);
#if $filters
  GLOBAL const float2* const weights = $data + ((long)$pairs * $side + row) * $side + j;
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 w = weights[i * ($side / 8)];
    const float r = re[i] * w.x - im[i] * w.y;
    im[i] = re[i] * w.y + im[i] * w.x;
    re[i] = r;
  }
  fourier_line(im, re, held, $factors, j, 1, at);
#endif
  $unroll
  for (int i = 0; i < 8; ++i) {
    float2 v;
    v.x = re[i];
    v.y = im[i];
    numbers[i * ($side / 8)] = v;
  }
}

// -- part: results
// A group transforms columns of a pair of tiles back, and stores the pixels that they make.
KERNEL($items) void results(GLOBAL const float2* $data, GLOBAL const float2* $factors,
                            GLOBAL const uint* $unfit, GLOBAL float* $result) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = ITEM % $across, j = ITEM / $across, pair = GROUP_Y;
  const int column = GROUP_X * $across + line;
  GLOBAL const float2* const from = $data + ((long)pair * $side + j) * $side + column;
  float re[8], im[8];
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 v = from[(long)i * ($side / 8) * $side];
    re[i] = v.x;
    im[i] = v.y;
  }
  fourier_line(im, re, held, $factors, j, $across, line);
  $unroll
  for (int part = 0; part < 2; ++part) {
    const int tile = 2 * pair + part;
    const int x = tile % $tiles * $valid_x + column;
    if (column >= $valid_x || x >= $width || tile >= $count) continue;
    $unroll
    for (int i = 0; i < 8; ++i) {
      const int in_tile = j + i * ($side / 8), y = tile / $tiles * $valid_y + in_tile;
      if (in_tile >= $valid_y || y >= $height) continue;
      float v = part == 0 ? re[i] : im[i];
#if $checked
      if ($unfit[pair] != 0u) v = $direct_pixel;
#endif
      $out = $converted;
    }
  }
}
