// The kernels that find peaks, for regional extrema; label.cpp fills them in. Lines that begin with
// $corners are for 8 neighbours only.
#pragma once

namespace impipe::jit::label_kernels {

// Pixels that no neighbour exceeds: peaks with an equal neighbour in one plane, those without in the
// other. Outside the image the edge is repeated, so that its peaks count as having one.
inline constexpr const char* peaks_kernel = R"(  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const int left = larger(x - 1, 0), right = smaller(x + 1, $width - 1);
  const int y0 = GROUP_Y * 32;
  uint tied = 0u, single = 0u;
  if (y0 < $height) {
    $type own = PEAK(x, y0), beside = $further(PEAK(left, y0), PEAK(right, y0));
    const int before = larger(y0 - 1, 0);
    $type over = PEAK(x, before);
$corners    over = $further(over, $further(PEAK(left, before), PEAK(right, before)));
    // Eight rows are on their way at once.
$unroll    for (int block = 0; block < 32; block += 8) {
      $type owns[8], besides[8];
$unroll      for (int k = 0; k < 8; ++k) {
        const int next = smaller(y0 + block + k + 1, $height - 1);
        owns[k] = PEAK(x, next);
        besides[k] = $further(PEAK(left, next), PEAK(right, next));
      }
$unroll      for (int k = 0; k < 8; ++k) {
        $type under = owns[k], row = own;
$corners        under = $further(under, besides[k]);
$corners        row = $further(row, beside);
        const $type most = $further($further(over, under), beside);
        if (y0 + block + k < $height && own $reaches most) {
          if (own == most)
            tied |= 1u << (block + k);
          else
            single |= 1u << (block + k);
        }
        over = row;
        own = owns[k];
        beside = besides[k];
      }
    }
  }
  $words[(long)GROUP_Y * $width + x] = tied;
  $single[(long)GROUP_Y * $width + x] = single;
)";

// The same of bytes: four columns a work-item. Lanes are pixels 0 and 2, and 1 and 3, of a row's four.
inline constexpr const char* packed_peak_functions = R"(
// Four bytes from x on, the row's last one repeated. turn: all bits to turn them round.
FUNCTION uint peak_bytes(GLOBAL const uchar* row, const int x, const int width, const uint turn) {
  uint bytes = *(GLOBAL const uint*)(row + x);
  if (x + 4 > width) {
    const int inside = 8 * (width - x);
    const uint last = bytes >> (inside - 8) & 255u, stay = (1u << inside) - 1u;
    bytes = (bytes & stay) | (last * 0x01010101u & ~stay);
  }
  return bytes ^ turn;
}
// The byte before those and the one after them, as lanes.
FUNCTION uint peak_ends(GLOBAL const uchar* row, const int x, const int width, const uint bytes,
                        const uint turn) {
  const uint before = x > 0 ? row[x - 1] ^ (turn & 255u) : bytes & 255u;
  const uint after = x + 4 < width ? row[x + 4] ^ (turn & 255u) : bytes >> 24;
  return before | after << 16;
}
// Lanes of four bytes, and the larger of each one's neighbours in the row.
struct PeakRow {
  uint even, odd, beside_even, beside_odd;
};
FUNCTION struct PeakRow peak_row(const uint bytes, const uint ends) {
  struct PeakRow row;
  row.even = bytes & 0xff00ffu;
  row.odd = bytes >> 8 & 0xff00ffu;
  row.beside_even = larger_lanes((ends & 0xffffu) | row.odd << 16, row.odd);
  row.beside_odd = larger_lanes(row.even, (ends & 0xffff0000u) | row.even >> 16);
  return row;
}
)";
inline constexpr const char* packed_peaks_kernel = R"(  const int x = (GROUP_X * $items + ITEM) * 4;
  if (x >= $width) return;
  const int y0 = GROUP_Y * 32;
  // Bits of rows 0 to 15 and 16 to 31 of the lanes.
  uint tied_even[2] = {0u, 0u}, tied_odd[2] = {0u, 0u};
  uint single_even[2] = {0u, 0u}, single_odd[2] = {0u, 0u};
  if (y0 < $height) {
    GLOBAL const uchar* from = $bytes + (long)larger(y0 - 1, 0) * $stride;
    uint read = peak_bytes(from, x, $width, $turn);
    const struct PeakRow before = peak_row(read, peak_ends(from, x, $width, read, $turn));
    uint over_even = before.even, over_odd = before.odd;
$corners    over_even = larger_lanes(over_even, before.beside_even);
$corners    over_odd = larger_lanes(over_odd, before.beside_odd);
    from = $bytes + (long)y0 * $stride;
    read = peak_bytes(from, x, $width, $turn);
    struct PeakRow own = peak_row(read, peak_ends(from, x, $width, read, $turn));
    // Eight rows are on their way at once.
$unroll    for (int block = 0; block < 4; ++block) {
      uint bytes[8], ends[8];
$unroll      for (int k = 0; k < 8; ++k) {
        from = $bytes + (long)smaller(y0 + 8 * block + k + 1, $height - 1) * $stride;
        bytes[k] = peak_bytes(from, x, $width, $turn);
        ends[k] = peak_ends(from, x, $width, bytes[k], $turn);
      }
$unroll      for (int k = 0; k < 8; ++k) {
        const struct PeakRow next = peak_row(bytes[k], ends[k]);
        uint under_even = next.even, under_odd = next.odd, row_even = own.even, row_odd = own.odd;
$corners        under_even = larger_lanes(under_even, next.beside_even);
$corners        under_odd = larger_lanes(under_odd, next.beside_odd);
$corners        row_even = larger_lanes(row_even, own.beside_even);
$corners        row_odd = larger_lanes(row_odd, own.beside_odd);
        const uint most_even = larger_lanes(larger_lanes(over_even, under_even), own.beside_even);
        const uint most_odd = larger_lanes(larger_lanes(over_odd, under_odd), own.beside_odd);
        // Bit 8 of a lane says that it is not less, or that it is more.
        const uint reach_even = own.even + 0x1000100u - most_even;
        const uint reach_odd = own.odd + 0x1000100u - most_odd;
        const uint more_even = own.even + 0xff00ffu - most_even;
        const uint more_odd = own.odd + 0xff00ffu - most_odd;
        const int part = block / 2, bit = 8 * (block % 2) + k;
        tied_even[part] |= ((reach_even ^ more_even) >> 8 & 0x10001u) << bit;
        tied_odd[part] |= ((reach_odd ^ more_odd) >> 8 & 0x10001u) << bit;
        single_even[part] |= (more_even >> 8 & 0x10001u) << bit;
        single_odd[part] |= (more_odd >> 8 & 0x10001u) << bit;
        over_even = row_even;
        over_odd = row_odd;
        own = next;
      }
    }
  }
  const uint inside = $height - y0 >= 32 ? 0xffffffffu : $height <= y0 ? 0u : (1u << ($height - y0)) - 1u;
  const uint tied[4] = {LOW_HALVES(tied_even[0], tied_even[1]), LOW_HALVES(tied_odd[0], tied_odd[1]),
                        HIGH_HALVES(tied_even[0], tied_even[1]),
                        HIGH_HALVES(tied_odd[0], tied_odd[1])};
  const uint single[4] = {LOW_HALVES(single_even[0], single_even[1]),
                          LOW_HALVES(single_odd[0], single_odd[1]),
                          HIGH_HALVES(single_even[0], single_even[1]),
                          HIGH_HALVES(single_odd[0], single_odd[1])};
$unroll  for (int k = 0; k < 4; ++k) {
    if (x + k >= $width) break;
    const long at = (long)GROUP_Y * $width + x + k;
    $words[at] = tied[k] & inside;
    $single[at] = single[k] & inside;
  }
)";

// Peaks with an equal neighbour that is none, and so has no bit: only neighbours without bits are
// looked at.
inline constexpr const char* lost_flags = R"(    uint given_flags = 0u;
    if (word != 0u) {
      uint known[3][3], all = 0xffffffffu;
$unroll      for (int side = 0; side < 3; ++side) {
        const int to_x = x + side - 1;
        const bool inside = to_x >= 0 && to_x < $width;
        const long place = (long)at_row * $width + to_x;
        const uint mid = inside ? $words[place] : 0xffffffffu;
        const uint up = inside && at_row > 0 ? $words[place - $width] : 0xffffffffu;
        const uint down = inside && at_row + 1 < $rows ? $words[place + $width] : 0xffffffffu;
        known[side][0] = mid << 1 | up >> 31;
        known[side][1] = mid;
        known[side][2] = mid >> 1 | down << 31;
        if ($eight || side == 1) all &= known[side][0] & known[side][2];
        all &= mid;
      }
      for (uint e = word & ~all; e != 0u; e &= e - 1u) {
        const int bit = lowest_bit(e), y = at_row * 32 + bit;
        const $type own = PEAK(x, y);
        bool lost = false;
$unroll        for (int side = 0; side < 3; ++side) {
$unroll          for (int down = 0; down < 3; ++down) {
            if (!$eight && side != 1 && down != 1) continue;
            if ((known[side][down] >> bit & 1u) != 0u || y + down > $height) continue;
            lost |= PEAK(x + side - 1, y + down - 1) == own;
          }
        }
        if (lost) given_flags |= 1u << bit;
      }
    }
)";

}  // namespace impipe::jit::label_kernels
