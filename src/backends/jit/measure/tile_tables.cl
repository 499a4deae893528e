// Tiles of an image in a mirrored frame: the counts of each, and pixels between the tables that are
// made of these.
//   $items     of a group
//   $left      of the frame, before the image
//   $wide      sides of a tile
//   $across    tiles
//   $strips    of a tile, a group each
//   $rows      of a strip
//   $counters  one a pixel value or one a bin
//   $copies    of each counter
//   $in_local  whether local memory holds them
//   $bin       of counter i
//   $count     all of 16 bytes
//   $made      of a pixel

FUNCTION int tile_bin(const double value, const double white, const double last);

// Alone: what stands in the kernels below.
#define first_row 0
#define count 8
#define inside 3
#define inside_end 50
KERNEL($items) void inside_of_tiles(GLOBAL const uchar* $image, GLOBAL uint* $totals) {
  LOCAL uint counts[$counters * $copies];
  const int copy = ITEM % $copies;
  {
    // -- part: bytes_inside(int items, expr height, buffer image, expr stride, stmt count,
    //    stmt count_pixel)
    // Sixteen bytes at a time, but at the ends.
    const uint own_byte = 4u * (uint)copy;
    const int vector = inside / 16, vectors = (inside_end + 15) / 16 - vector;
    for (int i = ITEM; i < vectors * count; i += $items) {
      const int y = symmetric(first_row + i / vectors, $height);
      const int x0 = (vector + i % vectors) * 16;
      if (x0 >= inside && x0 + 16 <= inside_end) {
        const uint4 v = ((GLOBAL const uint4*)($image + (long)y * $stride))[x0 / 16];
        $count
      } else {
        for (int x = larger(x0, inside); x < smaller(x0 + 16, inside_end); ++x) {
          $count_pixel
        }
      }
    }
    // -- end
    // -- part: wide_inside(expr height, int items, stmt count_pixel)
    // Pixels of a row side by side.
    for (int j = 0; j < count; ++j) {
      const int y = symmetric(first_row + j, $height);
      for (int x = inside + ITEM; x < inside_end; x += $items) {
        $count_pixel
      }
    }
    // -- end
    $totals[ITEM] = counts[ITEM];
  }
}
#undef first_row
#undef count
#undef inside
#undef inside_end

KERNEL($items) void between_pixels(GLOBAL const double* $tables, GLOBAL const uchar* $image,
                                   GLOBAL uchar* $result) {
  const int x = ITEM, y = GROUP_X;
  // -- part: between_pixel(expr left, expr wide, expr top, expr tall, int across, expr value,
  //    expr white, int bins, buffer tables, int down, expr out = $result[(long)y * $stride + x],
  //    expr converted)
  // A pixel between the tables of the four tiles whose centres are near.
  const int kx = (x + $left + $wide / 2) / $wide, ky = (y + $top + $tall / 2) / $tall;
  const int left = larger(kx - 1, 0), right = smaller(kx, $across - 1);
  const int bin = tile_bin($value, $white, (double)($bins - 1));
  GLOBAL const double* const upper = $tables + (long)larger(ky - 1, 0) * $across * $bins + bin;
  GLOBAL const double* const lower =
      $tables + (long)smaller(ky, $down - 1) * $across * $bins + bin;
  const double nx = (double)(kx == 0 || kx == $across ? $wide / 2 : $wide);
  const double ny = (double)(ky == 0 || ky == $down ? $tall / 2 : $tall);
  const double wx = (double)(x + $left - (kx == 0 ? 0 : kx * $wide - $wide / 2));
  const double wy = (double)(y + $top - (ky == 0 ? 0 : ky * $tall - $tall / 2));
  const double above = (nx - wx) * upper[left * $bins] + wx * upper[right * $bins];
  const double below = (nx - wx) * lower[left * $bins] + wx * lower[right * $bins];
  const double between = ((ny - wy) * above + wy * below) / (ny * nx);
  $out = $converted;
  // -- end
}

// -- part: functions
// The bin of a value, rounded; NaN is in the first. last: that of white.
FUNCTION int tile_bin(const double value, const double white, const double last) {
  const double known = value == value ? (value < 0.0 ? 0.0 : value > white ? white : value) : 0.0;
  return (int)floor(known * last / white + 0.5);
}
// sum / area, a half away from zero: what a product by the reciprocal gives is next to it at most.
FUNCTION uint rounded_quotient(const uint sum, const uint area, const float part) {
  const uint near = (uint)((float)sum * part + 0.5f);
  const int rest = 2 * (int)(sum - near * area);
  return near + (rest >= (int)area ? 1u : 0u) - (rest < -(int)area ? 1u : 0u);
}

// -- part: counts(bool in_local, int counters, int copies, expr strips, int across, expr tall,
//    expr top, expr wide, expr left, expr width, expr rows, int items, stmt pixels_inside,
//    expr height, stmt count_pixel, buffer totals, int bins, expr bin)
// A strip of a tile: what lies inside the image, then what the frame mirrors beside it.
KERNEL($items) void counts(GLOBAL const uchar* $image, GLOBAL uint* $totals) {
#if $in_local
  LOCAL uint counts[$counters * $copies];
  const int copy = ITEM % $copies;
#endif
  {
    const int tile = GROUP_Y / $strips * $across + GROUP_X;
    const int tile_y = GROUP_Y / $strips * $tall - $top;
    const int first = GROUP_X * $wide - $left, end = first + $wide;
    const int inside = larger(first, 0), inside_end = smaller(end, $width);
    const int first_row = tile_y + GROUP_Y % $strips * $rows;
    const int count = smaller(first_row + $rows, tile_y + $tall) - first_row;
#if $in_local
    for (int i = ITEM; i < $counters * $copies; i += $items) counts[i] = 0;
    BARRIER;
#endif
    $pixels_inside
    const int before = larger(smaller(end, 0) - first, 0), behind = larger(first, $width);
    const int framed = before + larger(end - behind, 0);
    for (int i = ITEM; i < framed * count; i += $items) {
      const int column = i % framed;
      const int x = symmetric(column < before ? first + column : behind + column - before, $width);
      const int y = symmetric(first_row + i / framed, $height);
      $count_pixel
    }
#if $in_local
    BARRIER;
    for (int i = ITEM; i < $counters; i += $items) {
      uint sum = 0;
      for (int k = 0; k < $copies; ++k) sum += counts[i * $copies + (k + i) % $copies];
      if (sum != 0) ADD_GLOBAL(&$totals[tile * $bins + $bin], sum);
    }
    BARRIER;
#endif
  }
}

// -- part: as_doubles(int items, int total, expr out = $out, buffer totals, bool kept)
// The counts as a measurement. Where the memory is kept they leave zeros.
KERNEL($items) void as_doubles(GLOBAL uint* $totals, GLOBAL double* $out) {
  const int i = GROUP_X * $items + ITEM;
  if (i < $total) {
    $out[i] = (double)$totals[i];
#if $kept
    $totals[i] = 0u;
#endif
  }
}

// -- part: between(const codes = 256, expr strips, int items, int across, buffer tables, int bins,
//    int down, expr code_bin, expr wide, expr tall, expr left, expr top, expr width, expr rows,
//    expr height, buffer image, expr stride, stmt unroll, expr made, buffer result, expr to_stride)
// A strip of what lies between the centres of four tiles, of whole numbers: local memory has for
// each code what the four make of it.
KERNEL($items) void between(GLOBAL const double* $tables, GLOBAL const uchar* $image,
                            GLOBAL uchar* $result) {
  LOCAL uint tables[$codes];
  const int cell_x = GROUP_X, cell_y = GROUP_Y / $strips;
  for (int code = ITEM; code < $codes; code += $items) {
    const int left = larger(cell_x - 1, 0), right = smaller(cell_x, $across - 1);
    GLOBAL const double* const upper = $tables + (long)larger(cell_y - 1, 0) * $across * $bins;
    GLOBAL const double* const lower =
        $tables + (long)smaller(cell_y, $down - 1) * $across * $bins;
    const int bin = $code_bin;
    tables[code] = (uint)upper[left * $bins + bin] | (uint)upper[right * $bins + bin] << 8 |
                   (uint)lower[left * $bins + bin] << 16 | (uint)lower[right * $bins + bin] << 24;
  }
  BARRIER;
  // Where the centres' lines begin, and how far apart they are.
  const int nx = cell_x == 0 || cell_x == $across ? $wide / 2 : $wide;
  const int ny = cell_y == 0 || cell_y == $down ? $tall / 2 : $tall;
  const int from_x = (cell_x == 0 ? 0 : cell_x * $wide - $wide / 2) - $left;
  const int from_y = (cell_y == 0 ? 0 : cell_y * $tall - $tall / 2) - $top;
  const int first = larger(from_x, 0), end = smaller(from_x + nx, $width);
  const int strip = from_y + GROUP_Y % $strips * $rows, first_row = larger(strip, 0);
  const int count = smaller(smaller(strip + $rows, from_y + ny), $height) - first_row;
  const uint area = (uint)nx * (uint)ny;
  const float part = 1.0f / (float)area;
  const int vector = first / 16, vectors = (end + 15) / 16 - vector;
  for (int i = ITEM; i < vectors * count; i += $items) {
    const int y = first_row + i / vectors, x0 = (vector + i % vectors) * 16;
    const uint4 v = ((GLOBAL const uint4*)($image + (long)y * $stride))[x0 / 16];
    const uint words[4] = {v.x, v.y, v.z, v.w};
    const uint wy = (uint)(y - from_y);
    uint wx = (uint)(x0 - from_x);
    uint made[4];
    $unroll
    for (int w = 0; w < 4; ++w) {
      made[w] = 0u;
      $unroll
      for (int k = 0; k < 4; ++k) {
        const uint of = tables[BYTE_OF(words[w], k)];
        const uint upper_left = BYTE_OF(of, 0), upper_right = BYTE_OF(of, 1);
        const uint left = (uint)ny * upper_left + wy * (BYTE_OF(of, 2) - upper_left);
        const uint right = (uint)ny * upper_right + wy * (BYTE_OF(of, 3) - upper_right);
        const uint sum = (uint)nx * left + wx * (right - left);
        made[w] |= $made << (8 * k);
        wx += 1u;
      }
    }
    GLOBAL uchar* const to = $result + (long)y * $to_stride + x0;
    if (x0 >= first && x0 + 16 <= end) {
      uint4 all;
      all.x = made[0];
      all.y = made[1];
      all.z = made[2];
      all.w = made[3];
      ((GLOBAL uint4*)to)[0] = all;
    } else {
      $unroll
      for (int k = 0; k < 16; ++k)
        if (x0 + k >= first && x0 + k < end) to[k] = (uchar)(made[k / 4] >> (8 * (k % 4)));
    }
  }
}
