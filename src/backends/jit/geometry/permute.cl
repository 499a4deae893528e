// Transpositions through tiles in local memory: rows of both images are read and written as rows.
//   $width   of the result
//   $across  vectors of a row of a tile
//   $side    pixels of a tile
//   $rows    of vectors that a group reads at once
//   $turn    the four columns, into the tile

// Alone: what turns vectors.
FUNCTION void turn_bytes(const uint a, const uint b, const uint c, const uint d, IN_LOCAL uint* const tile,
                          const int place) {
  uint turned;
  // -- part: turned_bytes(int across)
  // Four rows of four bytes as four columns.
  const uint even_ab = LOW_BYTES(a, b), even_cd = LOW_BYTES(c, d);
  const uint odd_ab = HIGH_BYTES(a, b), odd_cd = HIGH_BYTES(c, d);
  turned = LOW_HALVES(even_ab, even_cd);
  tile[place + 0 * $across] = turned;
  turned = LOW_HALVES(odd_ab, odd_cd);
  tile[place + 1 * $across] = turned;
  turned = HIGH_HALVES(even_ab, even_cd);
  tile[place + 2 * $across] = turned;
  turned = HIGH_HALVES(odd_ab, odd_cd);
  tile[place + 3 * $across] = turned;
  // -- end
}

FUNCTION void turn_shorts(const uint2 a, const uint2 b, const uint2 c, const uint2 d, IN_LOCAL uint2* const tile,
                          const int place) {
  uint2 turned;
  // -- part: turned_shorts(int across)
  // The same of 16 bits.
  turned.x = LOW_HALVES(a.x, b.x);
  turned.y = LOW_HALVES(c.x, d.x);
  tile[place + 0 * $across] = turned;
  turned.x = HIGH_HALVES(a.x, b.x);
  turned.y = HIGH_HALVES(c.x, d.x);
  tile[place + 1 * $across] = turned;
  turned.x = LOW_HALVES(a.y, b.y);
  turned.y = LOW_HALVES(c.y, d.y);
  tile[place + 2 * $across] = turned;
  turned.x = HIGH_HALVES(a.y, b.y);
  turned.y = HIGH_HALVES(c.y, d.y);
  tile[place + 3 * $across] = turned;
  // -- end
}

FUNCTION void turn_floats(const float4 a, const float4 b, const float4 c, const float4 d, IN_LOCAL float4* const tile,
                          const int place) {
  float4 turned;
  // -- part: turned_floats(int across)
  // The same of floats.
  turned.x = a.x;
  turned.y = b.x;
  turned.z = c.x;
  turned.w = d.x;
  tile[place + 0 * $across] = turned;
  turned.x = a.y;
  turned.y = b.y;
  turned.z = c.y;
  turned.w = d.y;
  tile[place + 1 * $across] = turned;
  turned.x = a.z;
  turned.y = b.z;
  turned.z = c.z;
  turned.w = d.z;
  tile[place + 2 * $across] = turned;
  turned.x = a.w;
  turned.y = b.w;
  turned.z = c.w;
  turned.w = d.w;
  tile[place + 3 * $across] = turned;
  // -- end
}

// -- part: vector_tiles(type vector, int side, int across, expr in_width, stmt unroll, int rows,
//    expr in_height, expr row_a, expr row_b, expr row_c, expr row_d, stmt turn, expr width,
//    expr height, expr to_y, expr out_row)
// A tile of vectors of four pixels: a work-item loads four rows of one, turns them, and later
// stores a row. What lies beyond the image is read at its edge, and its place is not stored. Vector
// i of a row of the tile lies at i ^ row / 4, so that those side by side and those above one
// another are in different banks.
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
