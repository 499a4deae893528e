// Transpositions through tiles in local memory: rows of both images are read and written as rows.
#define $width 700   // of the result
#define $height 1000
#define $in_width 1000
#define $in_height 700
#define $to_x x      // or counted from the other end
#define $to_y y

// -- part: vector_tiles
// A tile of vectors of four pixels: a work-item loads four rows of one, turns them, and later
// stores a row. What lies beyond the image is read at its edge, and its place is not stored. Vector
// i of a row of the tile lies at i ^ row / 4, so that those side by side and those above one
// another are in different banks.
#define $vector uint
#define $side 128    // pixels of a tile
#define $across 32   // vectors of a row of it
#define $rows 8      // of vectors that a group reads at once
#define $unroll
#define $row_a $image + (long)from_y * $in_width
#define $row_b $image + (long)(from_y + 1) * $in_width
#define $row_c $image + (long)(from_y + 2) * $in_width
#define $row_d $image + (long)(from_y + 3) * $in_width
#define $out_row $result + (long)to_y * $width
#define $turn tile[place] = a ^ b ^ c ^ d;  // the four columns, into the tile
KERNEL(256) void vector_tiles(GLOBAL const uchar* $image, GLOBAL uchar* $result) {
  LOCAL $vector tile[$side * $across];
  const int column = ITEM % $across, first = ITEM / $across;
  const int from_x = smaller(GROUP_X * $side + column * 4, ($in_width - 1) / 4 * 4);
  $unroll
  for (int k = 0; k < $across / $rows; ++k) {
    const int i = first + k * $rows, from_y = GROUP_Y * $side + i * 4, last = $in_height - 1;
    const $vector a = *(GLOBAL const $vector*)($row_a + from_x);
    const $vector b = *(GLOBAL const $vector*)($row_b + from_x);
    const $vector c = *(GLOBAL const $vector*)($row_c + from_x);
    const $vector d = *(GLOBAL const $vector*)($row_d + from_x);
    const int place = column * 4 * $across + (i ^ column);
    $vector turned;
    $turn
  }
  BARRIER;
  const int x = GROUP_Y * $side + column * 4;
  $unroll
  for (int k = 0; k < $side / $rows; ++k) {
    const int i = first + k * $rows, y = GROUP_X * $side + i;
    if (x < $width && y < $height) {
      const int to_y = $to_y;
      *(GLOBAL $vector*)($out_row + x) = tile[i * $across + (column ^ (i / 4))];
    }
  }
}
