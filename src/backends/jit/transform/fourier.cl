// Sums of very many weights by Fourier transforms of square tiles, two tiles at a time as real and
// imaginary parts: columns, then rows, times the spectrum of the weights, and back.
//
// A work-item has eight numbers of a line in registers, each an eighth of the line further than the
// last, and a stage of a transform makes eight numbers of them: its group's exchange of numbers
// between two stages goes through local memory. What a stage makes stands so that the last one's
// numbers are in order, again an eighth of a line apart.
//   $side     of a tile, pixels
//   $across   lines of a group
//   $twos     whether the first stage makes two numbers of two
//   $both     whether real and imaginary parts are exchanged at once
//   $pairs    of tiles
//   $count    tiles
//   $tiles    tiles side by side
//   $valid_x  pixels that a tile makes
//   $first_x  the pixel that a tile's first pixel is, of the first tile
//   $columns  weights
//   $width    of the result
//   $checked  whether pixels may be none that transforms take
//   $inside   a pixel of the image
//   $value    or of what lies around it
//   $table    the weights
//   $kept     numbers of a row
//   $filters  whether rows are multiplied, and transformed back

// -- part: transform(stmt unroll, bool both, int held, int side, bool twos)
// The transform of a line, of which work-item j has the numbers that are `side / 8` apart, from the
// j-th on, before and afterwards. With real and imaginary parts taken for each other it is the
// inverse, but for a factor.
FUNCTION void fourier_eighth(float* re, float* im) {
  const float root = 0.70710678118654752f;
  float a[8], b[8];
  // A radix-2 step: sums, and differences multiplied by the twiddle factors.
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
// Number k of a line is held at (k + k / 8) * by + at. The i-th goes to the line's place
// first + i % 4 * apart + i / 4 * four_apart. These are such that no i changes first / 8 but by whole
// eights, so that all that depends on i is a number the compiler knows.
#define HELD_APART(k) (((k) + (k) / 8) * by)
FUNCTION void fourier_exchange(float* re, float* im, IN_LOCAL float* held, const int j,
                               const int first, const int apart, const int four_apart,
                               const int by) {
  IN_LOCAL float* const to = held + HELD_APART((uint)first);
  IN_LOCAL const float* const from = held + HELD_APART((uint)j);
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int place = HELD_APART(i % 4 * apart + i / 4 * four_apart);
    to[place] = re[i];
#if $both
    to[place + $held] = im[i];
#endif
  }
  BARRIER;
  $unroll
  for (int i = 0; i < 8; ++i) {
    const int place = HELD_APART(i * ($side / 8));
    re[i] = from[place];
#if $both
    im[i] = from[place + $held];
#endif
  }
  BARRIER;
#if !$both
  $unroll
  for (int i = 0; i < 8; ++i) to[HELD_APART(i % 4 * apart + i / 4 * four_apart)] = im[i];
  BARRIER;
  $unroll
  for (int i = 0; i < 8; ++i) im[i] = from[HELD_APART(i * ($side / 8))];
  BARRIER;
#endif
}
#undef HELD_APART
// held: of this line. factors: of each stage that has some, in turn, the i-th number's behind those
// of the one before it.
FUNCTION void fourier_line(float* re, float* im, IN_LOCAL float* held,
                           GLOBAL const float2* factors, const int j, const int by) {
#if $twos
  $unroll
  for (int i = 0; i < 4; ++i) {
    const float r = re[i] - re[i + 4], m = im[i] - im[i + 4];
    re[i] = re[i] + re[i + 4];
    im[i] = im[i] + im[i + 4];
    re[i + 4] = r;
    im[i + 4] = m;
  }
  fourier_exchange(re, im, held, j, 2 * j, $side / 4, 1, by);
#endif
  $unroll
  for (int span = $twos ? 2 : 1; span < $side; span *= 8) {
    const int part = (int)((uint)j % (uint)span);
    if (span > 1) {
      GLOBAL const float2* const own = factors + part;
      $unroll
      for (int i = 1; i < 8; ++i) {
        const float2 factor = own[(i - 1) * span];
        const float r = re[i] * factor.x - im[i] * factor.y;
        im[i] = re[i] * factor.y + im[i] * factor.x;
        re[i] = r;
      }
      factors += 7 * span;
    }
    fourier_eighth(re, im);
    if (8 * span < $side) {
      fourier_exchange(re, im, held, j, 8 * j - 7 * part, span, 4 * span, by);
    }
  }
}

// -- part: tile(name name, expr tiles, int valid_x, int first_x, int valid_y, int first_y,
//    expr count, stmt unroll, expr image_width, int side, expr image_height, expr inside,
//    expr value, bool checked)
// Loads a work-item's eight pixels of a column of a tile, from row j on. NaN, infinities and
// numbers beyond 2^64 become 0, and `unfit` is set where there are any.
FUNCTION void $name(PARAMS, float* v, const int tile, const int column, const int j, int* unfit) {
  const int x = (int)((uint)tile % (uint)$tiles) * $valid_x + $first_x + column;
  const int first = (int)((uint)tile / (uint)$tiles) * $valid_y + $first_y + j;
  if (tile >= $count) {
    $unroll
    for (int i = 0; i < 8; ++i) v[i] = 0.0f;
  } else if (x >= 0 && x < $image_width && first >= 0 && first + 7 * ($side / 8) < $image_height) {
    $unroll
    for (int i = 0; i < 8; ++i) {
      const int y = first + i * ($side / 8);
      v[i] = (float)$inside;
    }
  } else {
    $unroll
    for (int i = 0; i < 8; ++i) {
      const int y = first + i * ($side / 8);
      v[i] = $value;
    }
  }
#if $checked
  $unroll
  for (int i = 0; i < 8; ++i) {
    const bool fits = fabs(v[i]) <= 18446744073709551616.0f;
    *unfit |= fits ? 0 : 1;
    v[i] = fits ? v[i] : 0.0f;
  }
#endif
}

// -- part: direct(name direct, int rows, int columns, expr table = ((GLOBAL const float*)0),
//    expr value)
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

// -- part: columns(bool both, int held, int across, expr pairs, int side, stmt unroll, int columns,
//    int rows, expr weights = $weights, name name, bool checked, buffer unfit,
//    expr factors = $factors, buffer data)
// A group transforms neighbouring columns of a pair of tiles; those behind the last pair are those
// of the weights.
KERNEL(512) void columns(GLOBAL float2* $data, GLOBAL const float2* $factors,
                            GLOBAL const float* $weights, GLOBAL uint* $unfit) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = (int)((uint)ITEM % $across), j = (int)((uint)ITEM / $across), pair = GROUP_Y;
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
    int unfit = 0;
    $name(ARGS, re, 2 * pair, column, j, &unfit);
    $name(ARGS, im, 2 * pair + 1, column, j, &unfit);
#if $checked
    if (unfit) OR_GLOBAL(&$unfit[pair], 1u);
#endif
  }
  fourier_line(re, im, held + line, $factors, j, $across);
  GLOBAL float2* const to = $data + ((long)pair * $side + j) * $side + column;
  $unroll
  for (int i = 0; i < 8; ++i) {
    float2 v;
    v.x = re[i];
    v.y = im[i];
    to[(long)i * ($side / 8) * $side] = v;
  }
}

// -- part: rows(bool both, int held, int side, expr pair, int across, buffer data, stmt unroll,
//    expr factors, bool filters, expr pairs, int kept)
// A group transforms neighbouring rows of a pair of tiles and multiplies them by the weights'
// spectrum; then back. The last pair is the first: caches still have it, and then the first for the
// kernel that follows.
KERNEL(512) void rows(GLOBAL float2* $data, GLOBAL const float2* $factors) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = (int)((uint)ITEM / ($side / 8)), j = (int)((uint)ITEM % ($side / 8));
  const int pair = $pair;
  const int row = GROUP_X * $across + line;
  IN_LOCAL float* const own = held + line * ($side + $side / 8);
  GLOBAL float2* const numbers = $data + ((long)pair * $side + row) * $side + j;
  float re[8], im[8];
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 v = numbers[i * ($side / 8)];
    re[i] = v.x;
    im[i] = v.y;
  }
  fourier_line(re, im, own, $factors, j, 1);
#if $filters
  GLOBAL const float2* const weights = $data + ((long)$pairs * $side + row) * $side + j;
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 w = weights[i * ($side / 8)];
    const float r = re[i] * w.x - im[i] * w.y;
    im[i] = re[i] * w.y + im[i] * w.x;
    re[i] = r;
  }
  fourier_line(im, re, own, $factors, j, 1);
#endif
  // What no pixel is made of is not kept.
  $unroll
  for (int i = 0; i < 8; ++i) {
    float2 v;
    v.x = re[i];
    v.y = im[i];
    if (j + i * ($side / 8) < $kept) numbers[i * ($side / 8)] = v;
  }
}

// -- part: results(bool both, int held, int across, buffer data, int side, stmt unroll,
//    expr factors, expr tiles, int valid_x, expr width, expr count, int valid_y, expr height,
//    bool checked, buffer unfit, expr direct_pixel, expr out = $result[(long)y * $width + x],
//    expr converted)
// A group transforms columns of a pair of tiles back, and stores the pixels that they make.
KERNEL(512) void results(GLOBAL const float2* $data, GLOBAL const float2* $factors,
                            GLOBAL const uint* $unfit, GLOBAL float* $result) {
  LOCAL float held[$both ? 2 * $held : $held];
  const int line = (int)((uint)ITEM % $across), j = (int)((uint)ITEM / $across), pair = GROUP_Y;
  const int column = GROUP_X * $across + line;
  GLOBAL const float2* const from = $data + ((long)pair * $side + j) * $side + column;
  float re[8], im[8];
  $unroll
  for (int i = 0; i < 8; ++i) {
    const float2 v = from[(long)i * ($side / 8) * $side];
    re[i] = v.x;
    im[i] = v.y;
  }
  fourier_line(im, re, held + line, $factors, j, $across);
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
