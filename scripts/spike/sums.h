// Sums over 32x32 cells: each column of a cell downward, the columns pairwise (a group is 8 cells
// side by side, a thread a column), then the cells pairwise in row-major order by one group.
#define SUMS(name, pixel, sum, map)                                                              \
  KERNEL void name##_cells(GLOBAL const pixel* in, GLOBAL sum* cells, const int width,           \
                           const int height) {                                                   \
    LOCAL sum columns[256];                                                                      \
    const long x = GLOBAL_X;                                                                     \
    const int first = (int)GLOBAL_Y * 32;                                                        \
    const int last = first + 32 < height ? first + 32 : height;                                  \
    sum total = 0;                                                                               \
    if (x < width) {                                                                             \
      for (int row = first; row < last; ++row) total += (sum)map(in[(long)row * width + x]);     \
    }                                                                                            \
    columns[LOCAL_X] = total;                                                                    \
    for (int step = 1; step < 32; step *= 2) {                                                   \
      BARRIER;                                                                                   \
      if (LOCAL_X % (2 * step) == 0) columns[LOCAL_X] += columns[LOCAL_X + step];                \
    }                                                                                            \
    const int cells_across = (width + 31) / 32;                                                  \
    if (LOCAL_X % 32 == 0 && x < width) {                                                        \
      cells[GLOBAL_Y * cells_across + x / 32] = columns[LOCAL_X];                                \
    }                                                                                            \
  }                                                                                              \
  KERNEL void name##_total(GLOBAL sum* cells, const int count) {                                 \
    for (int step = 1; step < count; step *= 2) {                                                \
      for (int i = LOCAL_X * 2 * step; i + step < count; i += SIZE_X * 2 * step) {               \
        cells[i] += cells[i + step];                                                             \
      }                                                                                          \
      BARRIER;                                                                                   \
    }                                                                                            \
  }
#define IDENTITY(value) (value)
SUMS(sum_float, float, double, square_float_value)
SUMS(sum_bytes, uchar, long, IDENTITY)
