// Entropy of the codes around each pixel: a work-item goes along some pixels of a row with counts of
// its own in local memory, and adds up their table's entries, whole numbers. Its loops are
// unrolled, so that codes are on their way while others are counted.
#define $items 64   // of a group
#define $run 32     // pixels of a work-item
#define $width 1000
#define $height 700
#define $cells 81   // of the window
#define $comes 9    // of them that come and go when it moves by a column
#define $unroll_some
#define $unroll_moves
#define $pixel (uint)((column ^ row) & 255)
#define $out $result[(long)y * $width + x]

// -- part: entropy
// The table's entry n is that of n equal codes. Offsets: dx, dy of each cell, of those that come and
// of those that go.
KERNEL($items) void entropy(GLOBAL const double* $table, GLOBAL const int* $offsets,
                            GLOBAL float* $result) {
#define COUNT(code) counts[(code) * $items + ITEM]
#define CODE_AT(at_x, cell, code)                                               \
  {                                                                             \
    const int column = symmetric((at_x) + $offsets[2 * (cell)], $width);        \
    const int row = symmetric(y + $offsets[2 * (cell) + 1], $height);           \
    code = $pixel;                                                              \
  }
  LOCAL ushort counts[256 * $items];
  for (int k = 0; k < 256; ++k) COUNT(k) = 0;
  const int first = (GROUP_X * $items + ITEM) * $run, y = GROUP_Y;
  if (first < $width) {
    const int last = smaller(first + $run, $width);
    double sum = 0.0;
    uint code;
    $unroll_some
    for (int cell = 0; cell < $cells; ++cell) {
      CODE_AT(first, cell, code)
      const int count = (int)COUNT(code);
      sum += $table[count + 1] - $table[count];
      COUNT(code) = (ushort)(count + 1);
    }
    for (int x = first;; ++x) {
      $out = (float)(($table[$cells] - sum) / ((double)$cells * 4294967296.0));
      if (x + 1 == last) break;
      $unroll_moves
      for (int cell = $cells + $comes; cell < $cells + 2 * $comes; ++cell) {
        CODE_AT(x, cell, code)
        const int count = (int)COUNT(code);
        sum += $table[count - 1] - $table[count];
        COUNT(code) = (ushort)(count - 1);
      }
      $unroll_moves
      for (int cell = $cells; cell < $cells + $comes; ++cell) {
        CODE_AT(x + 1, cell, code)
        const int count = (int)COUNT(code);
        sum += $table[count + 1] - $table[count];
        COUNT(code) = (ushort)(count + 1);
      }
    }
  }
#undef CODE_AT
#undef COUNT
}
