// Fourier transforms of whole images in double, with the CPU's bits: core/line_fft.hpp's stages in
// their order, each number made by the same sums, differences and products.
//
// A pass transforms lines, or every n-th number of lines that are too long for a group: a work-item
// has sixteen numbers of one or several butterflies in registers, which it loads from global memory
// before the first stage and stores there behind the last. Between stages a group exchanges them
// through local memory. Two stages that fit in sixteen numbers are one.
// What a line is made of, and what becomes of it, are functions of its own.
#define $items 256    // of a group
#define $held 4352    // numbers in local memory, with gaps
#define $unroll
#define $first 4      // radices of a stage, the second 1 where it is one stage
#define $second 4
#define $radix 16
#define $copied 0     // whether words are copied to registers
#define $many 1       // such butterflies of a work-item at most
#define $two 1
#define $makes
#define $half 2       // of an odd radix
#define $cosines 1.0, 0.309, -0.809, -0.809, 0.309
#define $sines 0.0, 0.951, 0.588, -0.588, -0.951
#define $base 0       // where the numbers of a pass are
#define $stores 1     // whether a function takes the numbers
#define NAMED_BY(line) spectrum_##line
#define NAMED(line) NAMED_BY(line)
#define $name NAMED(__LINE__)
#define $load(arguments, channel, line, x) *(GLOBAL double2*)$factors
#define $store(arguments, channel, line, x, re, im) (void)(x)
#define $put(...) (void)0
#define butterfly_$first butterfly_4
#define butterfly_$second butterfly_4
#define $value_type uchar
#define $is_single 0
#define $checked 0
#define $code 255.0
#define $plane ((GLOBAL uchar*)0)
#define $step 1000
#define $stride 100
#define $width 100
#define $height 70
#define $around 0     // the image: 1, zeros; 2, its mirror image
#define $rows 70      // of the transform
#define $columns 100
#define $kept 51      // columns of a spectrum
#define $lines 36     // of two rows
#define $column_lines 52
#define $scale 1.0
#define $white 255.0
#define $unfit ((GLOBAL uint*)0)
#define $shared 0     // the last flag of $unfit
#define $transfer ((GLOBAL double2*)0)
#define $down ((GLOBAL double2*)0)
#define $across ((GLOBAL double2*)0)
#define $psf_rows 7
#define $psf_columns 7
#define $sign 1.0
#define $noise 0.01
#define $damped_below 0.0
#define $normal 1.0
#define $part 0
#define $shifted 0
#define $channels 1
#define $two_parts 1
#define $each 2
#define $accelerated 1
#define $type_of_gain 0
#define $shape 0
#define $order 2.0
#define $cutoff 0.1
#define $second_cutoff 0.2
#define $doubles ((GLOBAL double*)0)
#define $betas ((GLOBAL double*)0)
#define $value(arguments, channel, y, x) (double)(x)
#define $pair_of(numbers, factor, k, n, second, by) (factor).x
#define $number_of(factor, k, a, b, c, d) (factor)
#define $result_of(v) (uchar)(v)
#define $low_pass(arguments, d, cutoff) (d)
#define $gain_of(arguments, d) (d)

// -- part: words(bool copied = $copied)
// A pass, as transform/spectrum.cpp writes it, with its stages behind it.
#if $copied
#define IN_WORDS
#else
#define IN_WORDS GLOBAL
#endif
struct SpectrumPass {
  int length;        // of its transforms
  int stages;
  int lines;         // of an image
  int apart;         // from one number of a transform to the next: transforms of a line
  int before;        // product of the lengths of the passes before it
  int parts;         // apart / before
  int each;          // transforms of a group, `side` at most
  int side;          // transforms side by side: of lines, or of a line
  int all;           // transforms
  int by_columns;    // the lines
  int by_lines;      // transforms side by side are of different lines
  int rounds;        // transforms one after the other: 2 of a convolution
  int start;         // factors that a line's numbers are multiplied by, or -1
  int middle;        // between the two, and then the parts are swapped
  int end;           // the same of the last pass of the first transform
  int swapped_end;   // of the last of the second: the parts are swapped before
  int own;           // numbers of a line
  int padded;        // and in the two buffers between passes
  int loaded;        // numbers of a line that are read, and written
  int stored;
  int from;          // 1: the function that gives them, 2 and 3: the buffers between passes
  int to;            // 1: the function that takes them, or the numbers where there is none
};
struct SpectrumStage {
  int radix;
  int step;          // from one number of a butterfly to the next
  int across;        // whether work-items side by side have butterflies of transforms side by side
  int many;          // butterflies of a work-item, from one to the next of which there are
  int next_butterfly, next_transform;
  int low, high;     // work-items side by side, and how many times
  int magic;         // of quotients by `low`
  int width;
  int width_magic;
  int parts;         // of the second stage
  int first, second; // where their factors are
};
// Where a work-item is: at number j of its butterfly q.
struct SpectrumPlace {
  int first_transform, first_butterfly, first_has;  // of its first butterfly
  int q, j;
  int transform;     // of the group
  int number;        // of the transform: before the stage, or behind it
  int has;           // whether the group has it; another one otherwise
  int line, begin;   // the transform's, and its first number there
};
FUNCTION int spectrum_quotient(const int a, const int magic) {
  return magic == 0 ? a : (int)HIGH_PRODUCT((uint)a, (uint)magic);
}
FUNCTION long spectrum_place(IN_WORDS const struct SpectrumPass* at, const int numbers,
                             const int channel, const int line, const int x) {
  return at->by_columns ? ((long)channel * numbers + x) * at->lines + line
                        : ((long)channel * at->lines + line) * numbers + x;
}
// The line that a transform of the group is of, and the number there that it begins with.
FUNCTION int spectrum_line(IN_WORDS const struct SpectrumPass* at, const int transform,
                           int* begin) {
  const int first = GROUP_X * at->each, row = first / at->side;
  const int aside = first - row * at->side + transform;
  const int next = aside >= at->side, low = next ? aside - at->side : aside;
  *begin = at->by_lines ? row + next : low;
  return at->by_lines ? low : row + next;
}
FUNCTION int spectrum_part(IN_WORDS const struct SpectrumPass* at, const int begin) {
  if (at->parts == 1) return 0;
  return at->before == 1 ? begin : begin / at->before;
}
// Goes to number 0 of butterfly q.
FUNCTION void spectrum_go(IN_WORDS const struct SpectrumPass* at,
                          IN_WORDS const struct SpectrumStage* stage, const int behind,
                          struct SpectrumPlace* place) {
  const int transform = place->first_transform + place->q * stage->next_transform;
  const int transforms = smaller(at->each, at->all - GROUP_X * at->each);
  place->has = place->first_has && place->q < stage->many && transform < transforms;
  place->transform = smaller(transform, transforms - 1);
  place->line = spectrum_line(at, place->transform, &place->begin);
  place->number = place->first_butterfly + place->q * stage->next_butterfly;
  if (behind) {
    place->number += spectrum_quotient(place->number, stage->width_magic) * (stage->radix - 1) *
                     stage->width;
  }
}
FUNCTION void spectrum_start(IN_WORDS const struct SpectrumPass* at,
                             IN_WORDS const struct SpectrumStage* stage, const int behind,
                             struct SpectrumPlace* place) {
  const int k = spectrum_quotient(ITEM, stage->magic), low = ITEM - k * stage->low;
  const int high = smaller(k, stage->high - 1);
  place->first_has = k < stage->high;
  place->first_transform = stage->across ? low : high;
  place->first_butterfly = stage->across ? high : low;
  place->q = place->j = 0;
  spectrum_go(at, stage, behind, place);
}
FUNCTION void spectrum_next(IN_WORDS const struct SpectrumPass* at,
                            IN_WORDS const struct SpectrumStage* stage, const int behind,
                            struct SpectrumPlace* place) {
  place->number += behind ? stage->width : stage->step;
  if (++place->j == stage->radix) {
    place->j = 0;
    ++place->q;
    spectrum_go(at, stage, behind, place);
  }
}
// Rows y and y + 8 are one line: the first row of a line, and the line of a row.
FUNCTION int spectrum_row(const int line) { return line + (line & ~7); }
FUNCTION int spectrum_packed(const int y) { return (y >> 4 << 3) + (y & 7); }
FUNCTION void spectrum_times(double* re, double* im, const double2 factor) {
  const double a = *re, b = *im;
  *re = a * factor.x - b * factor.y;
  *im = a * factor.y + b * factor.x;
}
FUNCTION void spectrum_swap(double* re, double* im) {
  const double a = *re;
  *re = *im;
  *im = a;
}
// Where a number is in local memory: side by side with that of the next transform, and with a gap
// behind each sixteen, so that banks differ whether work-items go along transforms or across.
FUNCTION int spectrum_held(IN_WORDS const struct SpectrumPass* at,
                           const struct SpectrumPlace* place) {
  const uint k = (uint)(place->number * at->each + place->transform);
  return (int)(k + k / 16u);
}
FUNCTION void butterfly_2(double* re, double* im, const int by) {
  const double a = re[0], b = im[0];
  re[0] = a + re[by];
  im[0] = b + im[by];
  re[by] = a - re[by];
  im[by] = b - im[by];
}
FUNCTION void butterfly_4(double* re, double* im, const int by) {
  const double a = re[0] + re[2 * by], b = im[0] + im[2 * by];
  const double c = re[0] - re[2 * by], d = im[0] - im[2 * by];
  const double e = re[by] + re[3 * by], f = im[by] + im[3 * by];
  const double g = re[by] - re[3 * by], h = im[by] - im[3 * by];
  re[0] = a + e;
  im[0] = b + f;
  re[by] = c + h;
  im[by] = d - g;
  re[2 * by] = a - e;
  im[2 * by] = b - f;
  re[3 * by] = c - h;
  im[3 * by] = d + g;
}

// -- part: odd(name name, list cosines = $cosines, list sines = $sines, int half = $half,
//    stmt unroll = $unroll)
// The butterfly of an odd radix.
FUNCTION void $name(double* re, double* im, const int by) {
  const double cosine[] = {$cosines};
  const double sine[] = {$sines};
  double sum_re[$half], sum_im[$half], apart_re[$half], apart_im[$half];
  $unroll
  for (int j = 0; j < $half; ++j) {
    const int a = (j + 1) * by, b = (2 * $half - j) * by;
    sum_re[j] = re[a] + re[b];
    sum_im[j] = im[a] + im[b];
    apart_re[j] = re[a] - re[b];
    apart_im[j] = im[a] - im[b];
  }
  const double first_re = re[0], first_im = im[0];
  $unroll
  for (int j = 0; j < $half; ++j) {
    re[0] += sum_re[j];
    im[0] += sum_im[j];
  }
  $unroll
  for (int k = 1; k <= $half; ++k) {
    double even_re = first_re, even_im = first_im, odd_re = 0.0, odd_im = 0.0;
    $unroll
    for (int j = 0; j < $half; ++j) {
      const int turns = (j + 1) * k % (2 * $half + 1);
      even_re += cosine[turns] * sum_re[j];
      even_im += cosine[turns] * sum_im[j];
      odd_re += sine[turns] * apart_re[j];
      odd_im += sine[turns] * apart_im[j];
    }
    re[k * by] = even_re + odd_im;
    im[k * by] = even_im - odd_re;
    re[(2 * $half + 1 - k) * by] = even_re - odd_im;
    im[(2 * $half + 1 - k) * by] = even_im + odd_re;
  }
}

// -- part: stage(int radix = $radix, stmt unroll = $unroll, int second = $second,
//    int first = $first, bool two = $two, int many = $many)
// A work-item's butterflies of one stage, or of two.
FUNCTION void make_$radix(IN_WORDS const struct SpectrumPass* at,
                          IN_WORDS const struct SpectrumStage* stage,
                          struct SpectrumPlace* place, GLOBAL const double2* factors, double* re,
                          double* im) {
  $unroll
  for (int q = 0; q < $many; ++q) {
    place->q = q;
    spectrum_go(at, stage, 0, place);
    if (place->has) {
      const int part = spectrum_part(at, place->begin) +
                       spectrum_quotient(place->number, stage->width_magic) * at->parts;
      double* const own_re = re + q * $radix;
      double* const own_im = im + q * $radix;
      $unroll
      for (int j = 0; j < $second; ++j) {
        GLOBAL const double2* const own =
            factors + stage->first + (part + j * stage->parts * at->parts) * ($first - 1);
        butterfly_$first(own_re + j, own_im + j, $second);
        $unroll
        for (int i = 1; i < $first; ++i) {
          spectrum_times(own_re + i * $second + j, own_im + i * $second + j, own[i - 1]);
        }
      }
#if $two
      GLOBAL const double2* const own = factors + stage->second + part * ($second - 1);
      double made_re[$radix], made_im[$radix];
      $unroll
      for (int i = 0; i < $first; ++i) {
        butterfly_$second(own_re + i * $second, own_im + i * $second, 1);
        $unroll
        for (int j = 0; j < $second; ++j) {
          const int k = i * $second + j;
          if (j > 0) spectrum_times(own_re + k, own_im + k, own[j - 1]);
          made_re[j * $first + i] = own_re[k];
          made_im[j * $first + i] = own_im[k];
        }
      }
      $unroll
      for (int k = 0; k < $radix; ++k) {
        own_re[k] = made_re[k];
        own_im[k] = made_im[k];
      }
#endif
    }
  }
}

// -- part: pixel(name name, expr around = $around, expr height = $height, expr width = $width,
//    type value_type = $value_type, expr plane = $plane, expr step = $step, expr stride = $stride,
//    bool checked = $checked, expr unfit = $unfit, expr shared = $shared)
// A pixel of the image, or of what lies around it.
FUNCTION double $name(PARAMS, const int channel, int y, int x) {
  if ($around > 0 && (y >= $height || x >= $width)) {
    if ($around == 1) return 0.0;
    y = y >= $height ? 2 * $height - 1 - y : y;
    x = x >= $width ? 2 * $width - 1 - x : x;
  }
  const $value_type v = ($plane)[(long)channel * $step + (long)y * $stride + x];
#if $checked
  if (!(fabs((float)v) < INFINITY)) OR_GLOBAL($unfit + $shared, 1u);
#endif
  return (double)v;
}

// -- part: psf(name name, expr psf_rows = $psf_rows, expr rows = $rows,
//    expr psf_columns = $psf_columns, expr columns = $columns, expr table = ((GLOBAL double*)0))
// A number of the point spread function, whose middle lies on pixel (0, 0).
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  const int row = (y + $psf_rows / 2) % $rows, column = (x + $psf_columns / 2) % $columns;
  return row < $psf_rows && column < $psf_columns ? ($table)[row * $psf_columns + column] : 0.0;
}

// -- part: pairs(name name, expr value = $value, expr rows = $rows)
// Two rows as one line of complex numbers.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int y = spectrum_row(line);
  double2 v;
  v.x = $value(ARGS, channel, y, x);
  v.y = y + 8 < $rows ? $value(ARGS, channel, y + 8, x) : 0.0;
  return v;
}

// -- part: halves(name name, expr from = ((GLOBAL double2*)0), expr lines = $lines,
//    expr columns = $columns)
// A number of the spectrum of row x, from that of two rows.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  GLOBAL const double2* const row =
      $from + ((long)channel * $lines + spectrum_packed(x)) * $columns;
  const double2 a = row[line], b = row[line == 0 ? 0 : $columns - line];
  double2 v;
  v.x = ((x & 8) == 0 ? a.x + b.x : a.y + b.y) / 2.0;
  v.y = ((x & 8) == 0 ? a.y - b.y : b.x - a.x) / 2.0;
  return v;
}

// -- part: whole(name name, expr from = ((GLOBAL double2*)0), expr rows = $rows,
//    expr columns = $columns)
// A number of a spectrum as it is.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  return ($from)[((long)channel * $rows + x) * $columns + line];
}

// -- part: swapped(name name, expr from = ((GLOBAL double2*)0), expr rows = $rows,
//    expr kept = $kept)
// A number of a spectrum with its parts exchanged, so that the transform is the inverse one.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const double2 v = ($from)[((long)channel * $rows + x) * $kept + line];
  double2 swapped;
  swapped.x = v.y;
  swapped.y = v.x;
  return swapped;
}

// -- part: joined(name name, expr kept = $kept, expr columns = $columns,
//    expr from = ((GLOBAL double2*)0), expr rows = $rows)
// Two rows of a spectrum whose columns are transformed back, as one line; the parts are exchanged
// before and afterwards.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int y = spectrum_row(line), column = x < $kept ? x : $columns - x;
  const int own = (x == 0 || 2 * x == $columns);
  GLOBAL const double2* const row = $from + ((long)channel * $rows + y) * $kept + column;
  const double2 a = row[0];
  double2 b;
  b.x = 0.0;
  b.y = 0.0;
  if (y + 8 < $rows) b = row[8 * $kept];
  const double a_im = own ? 0.0 : a.x, b_im = own ? 0.0 : b.x;
  double2 v;
  v.y = x < $kept ? a.y - b_im : a.y + b_im;
  v.x = x < $kept ? a_im + b.y : b.y - a_im;
  return v;
}

// -- part: complex(name name, expr shifted = $shifted, expr rows = $rows, expr columns = $columns,
//    expr two_parts = $two_parts, expr value = $value)
// A number of a spectrum of the image's channels, with its parts exchanged.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int y = $shifted ? (line + $rows / 2) % $rows : line;
  const int column = $shifted ? (x + $columns / 2) % $columns : x;
  double2 v;
  v.x = $two_parts ? $value(ARGS, 2 * channel + 1, y, column) : 0.0;
  v.y = $value(ARGS, $two_parts ? 2 * channel : channel, y, column);
  return v;
}

// -- part: in_order(name name, expr columns = $columns, expr value = $value, expr rows = $rows)
// Two rows as one line whose even numbers come first and whose odd ones in reverse.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int from = 2 * x < $columns ? 2 * x : 2 * ($columns - 1 - x) + 1;
  const int y = spectrum_row(line);
  double2 v;
  v.x = $value(ARGS, channel, y, from);
  v.y = y + 8 < $rows ? $value(ARGS, channel, y + 8, from) : 0.0;
  return v;
}

// -- part: cosine(name name)
// Number k of n of the cosine transform of line i, from the transform of two lines.
FUNCTION double $name(GLOBAL const double2* numbers, const double2 factor, const int k,
                      const int n, const int second, const int by) {
  const int low = 2 * k <= n ? k : n - k, high = low == 0 ? 0 : n - low;
  const double2 p = numbers[(long)low * by], q = numbers[(long)high * by];
  const double x = second ? (p.y + q.y) / 2.0 : (p.x + q.x) / 2.0;
  const double y = second ? (q.x - p.x) / 2.0 : (p.y - q.y) / 2.0;
  return k == low && low != high ? factor.x * x - factor.y * y : factor.x * x + factor.y * y;
}

// -- part: cosine_columns(name name, expr rows = $rows, expr from = ((GLOBAL double2*)0),
//    expr lines = $lines, expr columns = $columns, expr pair_of = $pair_of, expr across = $across)
// Two columns of the rows' cosine transforms as one line in that order.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int y = 2 * x < $rows ? 2 * x : 2 * ($rows - 1 - x) + 1;
  const int column = spectrum_row(line);
  GLOBAL const double2* const row =
      $from + ((long)channel * $lines + spectrum_packed(y)) * $columns;
  const int second = (y & 8) != 0;
  double2 v;
  v.x = $pair_of(row, ($across)[column], column, $columns, second, 1);
  v.y = column + 8 < $columns
            ? $pair_of(row, ($across)[column + 8], column + 8, $columns, second, 1)
            : 0.0;
  return v;
}

// -- part: cosine_value(name name, expr from = ((GLOBAL double2*)0), expr rows = $rows,
//    expr column_lines = $column_lines, expr pair_of = $pair_of, expr down = $down)
// A pixel of a cosine transform, from the transforms of its columns.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  GLOBAL const double2* const column =
      $from + (long)channel * $rows * $column_lines + spectrum_packed(x);
  return $pair_of(column, ($down)[y], y, $rows, (x & 8) != 0, $column_lines);
}

// -- part: from_cosine(name name)
// Number k of the line whose transform has two lines of values in that order, from their cosine
// transforms: a and c their numbers k, b and d their numbers n - k; with its parts exchanged.
FUNCTION double2 $name(const double2 factor, const int k, const double a, const double b,
                       const double c, const double d) {
  const double times = k == 0 ? 1.0 : 0.5;
  const double re = factor.x * times, im = factor.y * times;
  const double x = re * a - im * b, y = -re * b - im * a;
  const double u = re * c - im * d, v = -re * d - im * c;
  double2 made;
  made.y = x - v;
  made.x = y + u;
  return made;
}

// -- part: from_cosine_rows(name name, expr rows = $rows, expr columns = $columns,
//    expr number_of = $number_of, expr across = $across, expr value = $value)
// Two rows of a cosine transform as one line.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int y = spectrum_row(line), has = y + 8 < $rows, other = $columns - x;
  return $number_of(($across)[x], x, $value(ARGS, channel, y, x),
                 x == 0 ? 0.0 : $value(ARGS, channel, y, other),
                 has ? $value(ARGS, channel, y + 8, x) : 0.0,
                 has && x > 0 ? $value(ARGS, channel, y + 8, other) : 0.0);
}

// -- part: row_value(name name, expr columns = $columns, expr from = ((GLOBAL double2*)0),
//    expr lines = $lines)
// Number x of row y, from the rows' transforms back.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  const int place = x % 2 == 0 ? x / 2 : $columns - 1 - x / 2;
  const double2 v = ($from)[((long)channel * $lines + spectrum_packed(y)) * $columns + place];
  return (y & 8) == 0 ? v.y : v.x;
}

// -- part: from_cosine_columns(name name, expr columns = $columns, expr rows = $rows,
//    expr number_of = $number_of, expr down = $down, expr value = $value)
// Two columns of such rows as one line.
FUNCTION double2 $name(PARAMS, const int channel, const int line, const int x) {
  const int column = spectrum_row(line), has = column + 8 < $columns, other = $rows - x;
  return $number_of(($down)[x], x, $value(ARGS, channel, x, column),
                 x == 0 ? 0.0 : $value(ARGS, channel, other, column),
                 has ? $value(ARGS, channel, x, column + 8) : 0.0,
                 has && x > 0 ? $value(ARGS, channel, other, column + 8) : 0.0);
}

// -- part: column_value(name name, expr rows = $rows, expr from = ((GLOBAL double2*)0),
//    expr column_lines = $column_lines)
// A pixel of the image that a cosine transform is of, from the columns' transforms back.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  const int place = y % 2 == 0 ? y / 2 : $rows - 1 - y / 2;
  const double2 v =
      ($from)[((long)channel * $rows + place) * $column_lines + spectrum_packed(x)];
  return (x & 8) == 0 ? v.y : v.x;
}

// -- part: result(type value_type = $value_type, name name, bool is_single = $is_single,
//    expr code = $code)
// What a number becomes as a pixel.
FUNCTION $value_type $name(const double v) {
#if $is_single
  return v != v ? NAN : (float)v;
#else
  const double rounded = floor(v + 0.5);
  return rounded > 0.0 ? ($value_type)(rounded < $code ? rounded : $code) : ($value_type)0;
#endif
}

// -- part: functions
// The functions of core/spectral_work.cpp.
FUNCTION_SELDOM double natural_log(const double x) { return log_double(x); }
FUNCTION_SELDOM double log_of_one_plus(const double x) {
  const double sum = 1.0 + x, added = sum - 1.0;
  return added == 0.0 ? x : log_double(sum) * (x / added);
}
FUNCTION_SELDOM double phase_of(const double re, const double im) {
  return atan2_double(im + 0.0, re + 0.0);  // of no -0
}
FUNCTION_SELDOM double gaussian(const double d, const double cutoff) {
  return exp_double(-d * d / (2.0 * cutoff * cutoff));
}
FUNCTION_SELDOM double butterworth(const double d, const double cutoff, const double order) {
  return d > 0.0 ? 1.0 / (1.0 + pow_double(d / cutoff, 2.0 * order)) : 1.0;
}

// -- part: low_pass(name name, expr shape = $shape, expr order = $order)
// The factor of a low pass, d cycles per pixel from frequency 0: gaussian, butterworth or ideal.
FUNCTION double $name(PARAMS, const double d, const double cutoff) {
  if ($shape == 2) return d <= cutoff ? 1.0 : 0.0;
  return $shape == 0 ? gaussian(d, cutoff) : butterworth(d, cutoff, $order);
}

// -- part: gain(name name, expr low_pass = $low_pass, expr cutoff = $cutoff,
//    expr type_of_gain = $type_of_gain, expr second_cutoff = $second_cutoff)
// The factor of a frequency: low, high, band or stop.
FUNCTION double $name(PARAMS, const double d) {
  const double low = $low_pass(ARGS, d, $cutoff);
  if ($type_of_gain == 0) return low;
  if ($type_of_gain == 1) return 1.0 - low;
  const double band = $low_pass(ARGS, d, $second_cutoff) * (1.0 - low);
  return $type_of_gain == 2 ? band : 1.0 - band;
}


// -- part: put_part(name name, expr shifted = $shifted, expr rows = $rows,
//    expr columns = $columns, expr part = $part, expr plane = $plane, expr each = $each,
//    expr step = $step, expr stride = $stride, bool checked = $checked, expr unfit = $unfit,
//    expr shared = $shared)
// Complex numbers as channels: 0 both parts, 1 the real one, 2 magnitude, 3 power, 4 log, 5 phase.
FUNCTION void $name(PARAMS, const int channel, int y, int x, const double re, const double im) {
  if ($shifted) {
    y = (y + $rows / 2) % $rows;
    x = (x + $columns / 2) % $columns;
  }
  const double power = re * re + im * im;
  const double v = $part == 2 ? sqrt(power)
                 : $part == 3 ? power
                 : $part == 4 ? log_of_one_plus(sqrt(power))
                 : $part == 5 ? phase_of(re, im)
                              : re;
  GLOBAL float* const to =
      (GLOBAL float*)$plane + (long)channel * $each * $step + (long)y * $stride + x;
  const int unfit = $checked && ($unfit)[$shared] != 0u;
  *to = unfit ? NAN : (float)v;
  if ($part == 0) to[$step] = unfit ? NAN : (float)im;
}

// -- part: put_spectrum(name name, expr columns = $columns, expr rows = $rows, name put)
// Number x of column `line` of a real image's spectrum, and the one opposite.
FUNCTION void $name(PARAMS, const int channel, const int line, const int x, const double re,
                    double im) {
  const int alone = line == 0 || 2 * line == $columns;
  if (alone && 2 * x % $rows == 0) im = 0.0;
  $put(ARGS, channel, x, line, re, im);
  if (!alone) $put(ARGS, channel, x == 0 ? 0 : $rows - x, $columns - line, re, -im);
}

// -- part: put_inverse(name name, name put, expr scale = $scale)
// A number of an image that complex numbers are the spectrum of; the parts are exchanged.
FUNCTION void $name(PARAMS, const int channel, const int line, const int x, const double re,
                    const double im) {
  $put(ARGS, channel, x, line, im * $scale, re * $scale);
}

// -- part: put_rows(name name, name put, expr scale = $scale, expr rows = $rows)
// Two rows of an image that are transformed back; the parts are exchanged.
FUNCTION void $name(PARAMS, const int channel, const int line, const int x, const double re,
                    const double im) {
  const int y = spectrum_row(line);
  $put(ARGS, channel, y, x, im * $scale);
  if (y + 8 < $rows) $put(ARGS, channel, y + 8, x, re * $scale);
}

// -- part: put_pixel(name name, expr height = $height, expr width = $width,
//    bool checked = $checked, expr unfit = $unfit, expr channels = $channels, expr plane = $plane,
//    expr step = $step, expr stride = $stride, expr result_of = $result_of)
// A number as a pixel of the result; what lies outside it is dropped.
FUNCTION void $name(PARAMS, const int channel, const int y, const int x, const double v) {
  if (y >= $height || x >= $width) return;
  const double own = $checked && (($unfit)[channel] | ($unfit)[$channels]) != 0u ? NAN : v;
  ($plane)[(long)channel * $step + (long)y * $stride + x] = $result_of(own);
}

// -- part: put_product(name name, expr kept = $kept, expr from = ((GLOBAL double2*)0),
//    expr rows = $rows)
// A frequency's number times a factor, in the spectrum.
FUNCTION void $name(PARAMS, const int channel, const int line, const int x, double re, double im) {
  const long place = (long)x * $kept + line;
  GLOBAL double2* const to = $from + (long)channel * $rows * $kept + place;
  double2 made;
  // -- part: by_transfer(expr transfer = $transfer, expr sign = $sign)
  // The transfer function, or its conjugate.
  {
    double2 factor = ($transfer)[place];
    factor.y = $sign * factor.y;
    spectrum_times(&re, &im, factor);
  }
  // -- end
  // -- part: by_wiener(expr transfer = $transfer, expr noise = $noise)
  // Wiener's filter.
  {
    double2 factor = ($transfer)[place];
    const double power = factor.x * factor.x + factor.y * factor.y + $noise;
    const double bound = power < 0x1p-26 ? 0x1p-26 : power;
    factor.y = -factor.y;
    spectrum_times(&re, &im, factor);
    re = re / bound;
    im = im / bound;
  }
  // -- end
  // -- part: by_gain(expr rows = $rows, expr columns = $columns, expr gain_of = $gain_of)
  // A factor by the distance from frequency 0.
  {
    const double fy = (double)(x < ($rows + 1) / 2 ? x : x - $rows) / (double)$rows;
    const int column = line < ($columns + 1) / 2 ? line : line - $columns;
    const double fx = (double)column / (double)$columns;
    double2 factor;
    factor.x = $gain_of(ARGS, sqrt(fy * fy + fx * fx));
    factor.y = 0.0;
    spectrum_times(&re, &im, factor);
  }
  // -- end
  // -- part: by_factors(expr shifted = $shifted, expr rows = $rows, expr columns = $columns,
  //    expr value = $value, expr two_parts = $two_parts)
  // The mean of an image's number there and of the conjugate of the opposite one.
  {
    const int shift_y = $shifted ? $rows / 2 : 0, shift_x = $shifted ? $columns / 2 : 0;
    const int y = (x + shift_y) % $rows, other_y = (x == 0 ? shift_y : $rows - x + shift_y) % $rows;
    const int own_x = (line + shift_x) % $columns;
    const int other_x = (line == 0 ? shift_x : $columns - line + shift_x) % $columns;
    double2 factor;
    factor.x = ($value(ARGS, 0, y, own_x) + $value(ARGS, 0, other_y, other_x)) / 2.0;
    factor.y = 0.0;
    if ($two_parts) {
      factor.y = ($value(ARGS, 1, y, own_x) + -$value(ARGS, 1, other_y, other_x)) / 2.0;
    }
    spectrum_times(&re, &im, factor);
  }
  // -- end
  made.x = re;
  made.y = im;
  *to = made;
}

// -- part: put_tapered(name name, expr betas = $betas, expr rows = $rows, expr value = $value,
//    expr extremes = ((GLOBAL uint*)0), name put)
// The mean of a pixel and its blurred one, between the image's least and largest pixel.
FUNCTION void $name(PARAMS, const int channel, const int y, const int x, const double v) {
  const double alpha = (1.0 - ($betas)[y]) * (1.0 - ($betas)[$rows + x]);
  const double mean = alpha * $value(ARGS, channel, y, x) + (1.0 - alpha) * v;
  const double least = (double)single_of_key(~($extremes)[2 * channel]);
  const double largest = (double)single_of_key(($extremes)[2 * channel + 1]);
  $put(ARGS, channel, y, x, mean < least ? least : mean > largest ? largest : mean);
}

// -- part: estimate(name name, expr rows = $rows, expr columns = $columns,
//    expr estimate = ((GLOBAL double*)0), bool accelerated = $accelerated,
//    expr lambda = ((GLOBAL double*)0), expr previous = ((GLOBAL double*)0))
// The estimate of deconvlucy along the last step.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  const long place = ((long)channel * $rows + y) * $columns + x;
  const double now = ($estimate)[place];
#if $accelerated
  const double v = now + ($lambda)[channel] * (now - ($previous)[place]);
#else
  const double v = now;
#endif
  return v > 0.0 ? v : 0.0;
}

// -- part: stored_value(name name, expr doubles = $doubles, expr rows = $rows,
//    expr columns = $columns)
// A number of an image of doubles.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  return ($doubles)[((long)channel * $rows + y) * $columns + x];
}

// -- part: put_value(name name, expr doubles = $doubles, expr rows = $rows,
//    expr columns = $columns)
// A number of an image of doubles.
FUNCTION void $name(PARAMS, const int channel, const int y, const int x, const double v) {
  ($doubles)[((long)channel * $rows + y) * $columns + x] = v;
}

// -- part: over_white(name name, expr value = $value, expr white = $white)
// A pixel in parts of white.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  return $value(ARGS, channel, y, x) / $white;
}

// -- part: times_white(name name, expr doubles = $doubles, expr rows = $rows,
//    expr columns = $columns, expr white = $white)
// The same back.
FUNCTION double $name(PARAMS, const int channel, const int y, const int x) {
  return ($doubles)[((long)channel * $rows + y) * $columns + x] * $white;
}

// -- part: put_ratio(name name, expr value = $value, expr white = $white,
//    expr damped_below = $damped_below, expr doubles = $doubles, expr rows = $rows,
//    expr columns = $columns)
// The image over its blurred estimate.
FUNCTION void $name(PARAMS, const int channel, const int y, const int x, double b) {
  const double own = $value(ARGS, channel, y, x) / $white, w = own > 0.0 ? own : 0.0;
  if (b == 0.0) b = 0x1p-52;
  double e = w / b + 0x1p-52;
  const double damped_below = $damped_below;
  if (damped_below != 0.0) {
    const double gain = e > 0.0 ? (w * natural_log(e) + b - w) / damped_below : 1.0;
    const double g = gain < 1.0 ? gain : 1.0, cube = g * g * g;
    e = 1.0 + cube * cube * cube * (10.0 - 9.0 * g) * (e - 1.0);
  }
  ($doubles)[((long)channel * $rows + y) * $columns + x] = e;
}

// -- part: put_estimate(name name, expr rows = $rows, expr columns = $columns,
//    expr value = $value, expr normal = $normal, bool accelerated = $accelerated,
//    expr previous = ((GLOBAL double*)0), expr estimate = ((GLOBAL double*)0),
//    expr last = ((GLOBAL double*)0), expr move = ((GLOBAL double*)0))
// The next estimate.
FUNCTION void $name(PARAMS, const int channel, const int y, const int x, const double correction) {
  const long place = ((long)channel * $rows + y) * $columns + x;
  const double sharp = $value(ARGS, channel, y, x), v = sharp * correction / $normal;
  const double next = v > 0.0 ? v : 0.0;
#if $accelerated
  ($previous)[place] = ($estimate)[place];
  ($last)[place] = ($move)[place];
  ($move)[place] = next - sharp;
#endif
  ($estimate)[place] = next;
}

// -- part: transform(int held = $held, expr plan = $plan, expr base = $base,
//    expr factors = $factors, stmt unroll = $unroll, name load,
//    expr between = $between, expr between_too = $between_too, stmt makes = $makes,
//    bool stores = $stores, name store, expr numbers = $numbers, bool checked = $checked,
//    expr unfit = $unfit, bool copied = $copied)
// A pass: of the numbers that a function gives, or of those that the pass before it has left.
KERNEL($items) void transform(GLOBAL const int* $plan, GLOBAL const double* $factors,
                              GLOBAL double2* $numbers, GLOBAL double2* $between,
                              GLOBAL double2* $between_too) {
  DYNAMIC_LOCAL(double, held, 2 * $held);
  GLOBAL const struct SpectrumPass* const words =
      (GLOBAL const struct SpectrumPass*)($plan + $base);
  GLOBAL const struct SpectrumStage* const stages = (GLOBAL const struct SpectrumStage*)(words + 1);
#if $copied
  const struct SpectrumPass pass = *words;
  struct SpectrumStage of = stages[0];
  const struct SpectrumPass* const at = &pass;
  const struct SpectrumStage* const stage = &of;
#else
  GLOBAL const struct SpectrumPass* const at = words;
  GLOBAL const struct SpectrumStage* stage = stages;
#endif
  GLOBAL const double2* const factors = (GLOBAL const double2*)$factors;
  const int channel = GROUP_Y;
  double re[16], im[16];
  struct SpectrumPlace place;
  // Places first, and what is done with a number behind all loads: so none waits for another.
  int lines[16], own[16];
  spectrum_start(at, stage, 0, &place);
  $unroll
  for (int i = 0; i < 16; ++i) {
    lines[i] = place.line;
    own[i] = place.begin + place.number * at->apart;
    spectrum_next(at, stage, 0, &place);
  }
  if (at->from == 1) {
    int unfit = 0;
    $unroll
    for (int i = 0; i < 16; ++i) {
      const double2 v = $load(ARGS, channel, lines[i], smaller(own[i], at->loaded - 1));
      re[i] = v.x;
      im[i] = v.y;
      unfit |= !(fabs(v.x) < INFINITY && fabs(v.y) < INFINITY);
    }
#if $checked
    if (unfit) OR_GLOBAL($unfit + channel, 1u);
#endif
  } else {
    GLOBAL const double2* const from = at->from == 2 ? $between : $between_too;
    $unroll
    for (int i = 0; i < 16; ++i) {
      const double2 v = from[spectrum_place(at, at->padded, channel, lines[i],
                                            smaller(own[i], at->loaded - 1))];
      re[i] = v.x;
      im[i] = v.y;
    }
  }
  if (at->loaded < at->length * at->apart || at->start >= 0) {
    $unroll
    for (int i = 0; i < 16; ++i) {
      if (own[i] >= at->loaded) {
        re[i] = 0.0;
        im[i] = 0.0;
      } else if (at->start >= 0) {
        spectrum_times(re + i, im + i, factors[at->start + own[i]]);
      }
    }
  }
  const int all = at->rounds * at->stages;
  for (int s = 0; s < all; ++s) {
    if (s > 0) {
#if $copied
      of = stages[s % at->stages];
#else
      stage = stages + s % at->stages;
#endif
      spectrum_start(at, stage, 0, &place);
      $unroll
      for (int i = 0; i < 16; ++i) {
        const int from = smaller(spectrum_held(at, &place), $held - 1);
        re[i] = held[from];
        im[i] = held[from + $held];
        spectrum_next(at, stage, 0, &place);
      }
    }
    BARRIER;
    switch (stage->radix) {
      $makes
    }
    if (s + 1 < all) {
      const int middle = (s + 1) % at->stages == 0;
      spectrum_start(at, stage, 1, &place);
      $unroll
      for (int i = 0; i < 16; ++i) {
        if (place.has) {
          if (middle) {
            spectrum_times(re + i, im + i, factors[at->middle + place.number]);
            spectrum_swap(re + i, im + i);
          }
          const int to = spectrum_held(at, &place);
          held[to] = re[i];
          held[to + $held] = im[i];
        }
        spectrum_next(at, stage, 1, &place);
      }
    }
    BARRIER;
  }
  GLOBAL double2* const to = at->to == 1 ? $numbers : at->to == 2 ? $between : $between_too;
  const int own_numbers = at->to == 1 ? at->own : at->padded;
  const int ends = at->swapped_end || at->end >= 0;
  spectrum_start(at, stage, 1, &place);
  $unroll
  for (int i = 0; i < 16; ++i) {
    const int part = spectrum_part(at, place.begin);
    const int x = place.begin + (part * (at->length - 1) + place.number) * at->before;
    if (place.has && x < at->stored) {
      if (ends) {
        if (at->swapped_end) spectrum_swap(re + i, im + i);
        if (at->end >= 0) spectrum_times(re + i, im + i, factors[at->end + x]);
        if (at->end >= 0 && !at->swapped_end) spectrum_swap(re + i, im + i);
      }
#if $stores
      if (at->to == 1) $store(ARGS, channel, place.line, x, re[i], im[i]);
#endif
      if (at->to != 1 || !$stores) {
        double2 v;
        v.x = re[i];
        v.y = im[i];
        to[spectrum_place(at, own_numbers, channel, place.line, x)] = v;
      }
    }
    spectrum_next(at, stage, 1, &place);
  }
}

// -- part: pixels(int items = $items, expr rows = $rows, expr columns = $columns, name put,
//    expr value = $value)
// Each pixel by itself.
KERNEL($items) void pixels(GLOBAL const double2* $between) {
  const long k = (long)GROUP_X * $items + ITEM;
  if (k >= (long)$rows * $columns) return;
  const int y = (int)(k / $columns), x = (int)(k % $columns);
  $put(ARGS, GROUP_Y, y, x, $value(ARGS, GROUP_Y, y, x));
}

// -- part: extremes(expr rows = $rows, expr columns = $columns, int items = $items,
//    expr value = $value, expr extremes = $extremes)
// The least and the largest pixel of a channel, as keys of which the first is inverted.
KERNEL($items) void extremes(GLOBAL uint* $extremes) {
  LOCAL uint keys[2];
  if (ITEM < 2) keys[ITEM] = 0u;
  BARRIER;
  uint least = 0u, largest = 0u;
  const long all = (long)$rows * $columns, apart = (long)GROUPS_X * $items;
  for (long k = (long)GROUP_X * $items + ITEM; k < all; k += apart) {
    const double v = $value(ARGS, GROUP_Y, (int)(k / $columns), (int)(k % $columns));
    const uint key = key_of_single((float)v + 0.0f);
    least = ~key > least ? ~key : least;
    largest = key > largest ? key : largest;
  }
  MAX_LOCAL(&keys[0], least);
  MAX_LOCAL(&keys[1], largest);
  BARRIER;
  if (ITEM < 2) MAX_GLOBAL($extremes + 2 * GROUP_Y + ITEM, keys[ITEM]);
}

// -- part: sum
// The sum of a group's numbers, the second half added to the first again and again.
FUNCTION double spectrum_sum(IN_LOCAL double* sums, const double own) {
  sums[ITEM] = own;
  BARRIER;
  for (int apart = 32; apart > 0; apart /= 2) {
    if (ITEM < apart) sums[ITEM] += sums[ITEM + apart];
    BARRIER;
  }
  const double all = sums[0];
  BARRIER;
  return all;
}

// -- part: products(expr rows = $rows, expr move = $move, expr columns = $columns,
//    expr last = $last, expr products = $products)
// The sums of products of the last two steps of deconvlucy, row by row, and of the squares of
// the one before.
KERNEL(64) void products(GLOBAL const double* $move, GLOBAL const double* $last,
                         GLOBAL double* $products) {
  LOCAL double sums[64];
  const long row = (long)GROUP_Y * $rows + GROUP_X;
  GLOBAL const double* const a = $move + row * $columns;
  GLOBAL const double* const b = $last + row * $columns;
  double product = 0.0, square = 0.0;
  for (int x = ITEM; x < $columns; x += 64) {
    product += a[x] * b[x];
    square += b[x] * b[x];
  }
  product = spectrum_sum(sums, product);
  square = spectrum_sum(sums, square);
  if (ITEM == 0) {
    $products[2 * row] = product;
    $products[2 * row + 1] = square;
  }
}

// -- part: lambda(expr rows = $rows, expr products = $products, expr lambda = $lambda)
// How far the estimate goes on along the last step.
KERNEL(64) void lambda(GLOBAL const double* $products, GLOBAL double* $lambda) {
  LOCAL double sums[64];
  double product = 0.0, square = 0.0;
  for (int y = ITEM; y < $rows; y += 64) {
    const long row = (long)GROUP_Y * $rows + y;
    product += $products[2 * row];
    square += $products[2 * row + 1];
  }
  product = spectrum_sum(sums, product);
  square = spectrum_sum(sums, square);
  const double v = product / (square + 0x1p-52);
  if (ITEM == 0) $lambda[GROUP_Y] = v < 0.0 ? 0.0 : v > 1.0 ? 1.0 : v;
}
