// The chunks of lossless pictures, once they are inflated: predictions are taken back where the
// bytes lie, then samples become pixels.
//   $items       of a group
//   $pixel_step  PNG: bytes from a pixel to the next
//   $step_words  PNG: words of a step, which are some whole pixels

// Alone: what inflate.cl says of a chunk.
#define CHUNK_FLAGS 2
#define CHUNK_ROOM 3
#define CHUNK_HEAD 4
#define IS_STORED 4u
#define FAULT_FILTER 6u
#define FAULT_INEXACT 7u

// -- part: parameters
// Of all kernels. Packings, filters, orders and samples in the numbers of PackedForm.
struct Parameters {
  int pictures;
  int chunks;  // of a picture
  int step;    // bytes from chunk to chunk, unpacked; a multiple of 16
  int width, height;
  int chunk_width, chunk_height;
  int across, down;  // chunks of a picture, or of a channel where each has its own
  int padded;        // chunks at the borders are as large as the others
  int packing, filter, order, sample, bits;
  int big_endian, inverted;
  int channels;      // of the image and its alpha
  int samples;       // of a pixel, as they are stored
  int alpha;         // which of the channels has planes of its own; -1: none
  int palette;       // the sample is an index into the picture's palette
  int pixel_bytes;   // of the image
  int fully, scale;  // the largest pixel, and what the smallest step of a sample is
  int streams;       // chunks whose blocks were looked for: all or none
  int pass;          // of those that follow origins
  int stride;        // of the image: bytes from row to row
  int carried;       // bytes a pixel of a row's samples that are not the picture's
  int to_single;     // samples are integers, pixels singles
  long plane;        // from plane to plane
  ulong channel_of;  // four bits for each sample of a pixel
  ulong carried_before;  // of the carried bytes: 16 bits for each of the picture's samples
};
#define DIFFERENCES 1
#define FLOAT_DIFFERENCES 2
#define PNG_ROWS 3
#define EXR_BYTES 4
#define PXR24 5
#define BY_PIXEL 0
#define BY_ROW 1
#define BY_PLANE 2
#define INTEGERS 0
#define HALF_SAMPLES 1
#define SIGNED_INTEGERS 3

// -- part: forms
// How samples lie in a chunk.
//
// Samples of a pixel that lie behind each other.
#define SAMPLES (all_parameters.order == BY_PIXEL ? all_parameters.samples : 1)
#define BYTES_OF_ROW(width) (((width)*all_parameters.bits * SAMPLES + 7) / 8)
// Columns and rows of a chunk that is the `which`-th of a row or column of chunks.
FUNCTION int side_of_chunk(const int which, const int side, const int whole, const int padded) {
  const int left = whole - which * side;
  return padded || left > side ? side : left;
}
#define WIDTH_OF(column) \
  side_of_chunk(column, all_parameters.chunk_width, all_parameters.width, all_parameters.padded)
#define HEIGHT_OF(row) \
  side_of_chunk(row, all_parameters.chunk_height, all_parameters.height, all_parameters.padded)
FUNCTION uint swapped(const uint word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}
// A sample of some bytes, which lie behind each other.
FUNCTION uint whole_sample(GLOBAL const uchar* row, const int which, const int bytes,
                           const int big_endian) {
  if (bytes == 1) return row[which];
  if (bytes == 2) {
    const uint v = ((GLOBAL const ushort*)row)[which];
    return big_endian ? (v >> 8 | v << 8) & 0xffffu : v;
  }
  const uint v = ((GLOBAL const uint*)row)[which];
  return big_endian ? swapped(v) : v;
}
FUNCTION void store_sample(GLOBAL uchar* row, const int which, const int bytes,
                           const int big_endian, const uint v) {
  if (bytes == 1) row[which] = (uchar)v;
  if (bytes == 2) {
    ((GLOBAL ushort*)row)[which] = (ushort)(big_endian ? (v >> 8 & 255u) | v << 8 : v);
  }
  if (bytes == 4) ((GLOBAL uint*)row)[which] = big_endian ? swapped(v) : v;
}

// A sample whose bytes lie in rows of their own, the uppermost first.
FUNCTION uint sample_apart(GLOBAL const uchar* row, const int which, const int bytes,
                           const int samples) {
  uint v = 0u;
  for (int b = 0; b < bytes; ++b) v = v << 8 | row[b * samples + which];
  return v;
}
FUNCTION void store_apart(GLOBAL uchar* row, const int which, const int bytes, const int samples,
                          const uint v) {
  for (int b = 0; b < bytes; ++b) row[b * samples + which] = (uchar)(v >> 8 * (bytes - 1 - b));
}

// -- part: sum_rows
// TIFF's predictors 2 and 3, and PXR24: each sample, or each byte of a row, is the sum of those
// before it of the same channel. A row a group.
KERNEL(32) void sum_rows(GLOBAL uchar* unpacked, PARAMETERS) {
  LOCAL uint shared[32];
  const int chunk = GROUP_X / all_parameters.chunk_height;
  const int y = GROUP_X % all_parameters.chunk_height, samples = SAMPLES;
  const int is_apart = all_parameters.filter == PXR24;
  const int rows = is_apart ? all_parameters.samples : 1;
  const int in_plane = chunk % all_parameters.chunks %
                       (all_parameters.across * all_parameters.down);
  const int width = WIDTH_OF(in_plane % all_parameters.across);
  const int of_bytes = all_parameters.filter == FLOAT_DIFFERENCES;
  const int bytes = of_bytes ? 1 : all_parameters.bits / 8;
  const int big_endian = all_parameters.big_endian;
  const int count = y >= HEIGHT_OF(in_plane / all_parameters.across) ? 0
                    : of_bytes ? width * (all_parameters.bits / 8)
                               : width;
  GLOBAL uchar* first = unpacked + (long)chunk * all_parameters.step +
                        (long)y * rows * BYTES_OF_ROW(width);
  for (int k = 0; k < rows * samples; ++k) {
    const int channel = k % samples;
    GLOBAL uchar* row = first + k / samples * BYTES_OF_ROW(width);
    uint before = 0u;
    for (int from = 0; from < count; from += 128) {
      uint four[4], sum = 0u, all;
      UNROLLED
      for (int k = 0; k < 4; ++k) {
        const int i = from + 4 * ITEM + k;
        sum += i >= count ? 0u
               : is_apart ? sample_apart(row, i, bytes, width)
                          : whole_sample(row, i * samples + channel, bytes, big_endian);
        four[k] = sum;
      }
      const uint ahead = before + sum_before_item(shared, sum, 32, &all);
      UNROLLED
      for (int k = 0; k < 4; ++k) {
        const int i = from + 4 * ITEM + k;
        if (i >= count) continue;
        if (is_apart) store_apart(row, i, bytes, width, ahead + four[k]);
        if (!is_apart) store_sample(row, i * samples + channel, bytes, big_endian, ahead + four[k]);
      }
      before += all;
      BARRIER;
    }
  }
}

// -- part: sum_bytes(int items)
// OpenEXR's predictor: each byte of a chunk is the sum of those before it, less 128 each but for
// the first. A chunk a group.
KERNEL($items) void sum_bytes(GLOBAL const uint* data, GLOBAL uchar* unpacked, PARAMETERS) {
  LOCAL uint shared[$items];
  GLOBAL const uint* chunk = data + (long)GROUP_X * CHUNK_HEAD;
  const int count = chunk[CHUNK_FLAGS] & IS_STORED ? 0 : (int)chunk[CHUNK_ROOM];
  GLOBAL uchar* bytes = unpacked + (long)GROUP_X * all_parameters.step;
  uint before = 128u;
  for (int from = 0; from < count; from += 16 * $items) {
    const int begin = from + 16 * ITEM;
    uint words[4] = {0u, 0u, 0u, 0u}, sum = 0u, all;
    if (begin < count) load_16_bytes(bytes + begin, words);
    UNROLLED
    for (int k = 0; k < 4; ++k) {
      uint sums = 0u;
      UNROLLED
      for (int b = 0; b < 4; ++b) {
        sum += (words[k] >> (8 * b) & 255u) - 128u;
        sums |= (sum & 255u) << (8 * b);
      }
      words[k] = sums;
    }
    const uint ahead = (before + sum_before_item(shared, sum, $items, &all)) & 255u;
    // Byte by byte: 255 more than all of one byte carries nothing into the next.
    UNROLLED
    for (int k = 0; k < 4; ++k) {
      const uint odd = ((words[k] >> 8 & 0xff00ffu) + ahead * 0x10001u) & 0xff00ffu;
      words[k] = (((words[k] & 0xff00ffu) + ahead * 0x10001u) & 0xff00ffu) | odd << 8;
    }
    if (begin < count) store_16_bytes(bytes + begin, words);
    before += all;
  }
}

// -- part: unfilter
// PNG's rows, each behind a byte that says by which of the pixels to the left, above and between
// them it is predicted. A sub-group takes 32 rows, a band, and goes along them in steps of some
// pixels, each row a step behind the one above it. Bands are taken in order, and one whose first
// row looks up waits for the last row of the band above: for what a group has taken before it.
#define TILE_STEPS 8
FUNCTION uint predicted(const uint kind, const uint left, const uint up, const uint corner) {
  const int to_left = (int)up - (int)corner, to_up = (int)left - (int)corner;
  const int both = to_left + to_up;
  const int by_left = magnitude(to_left), by_up = magnitude(to_up), by_corner = magnitude(both);
  const uint nearest = by_left <= by_up && by_left <= by_corner ? left
                       : by_up <= by_corner                     ? up
                                                                : corner;
  return kind == 0u   ? 0u
         : kind == 1u ? left
         : kind == 2u ? up
         : kind == 3u ? (left + up) >> 1
                      : nearest;
}
struct Band {
  GLOBAL const uchar* from;  // the picture's filtered rows
  GLOBAL uint* to;           // its rows
  GLOBAL uint* progress;     // of each band of the picture, the steps that its last row has made
  int band;
};
FUNCTION int next_band(GLOBAL uint* progress, IN_LOCAL uint* shared) {
  BARRIER;
  if (ITEM == 0) *shared = ADD_GLOBAL(progress, 1u);
  BARRIER;
  return (int)*shared;
}

// -- part: unfilter_by(int step_words, int pixel_step)
// The kernel of pixels that have so many bytes.
#undef TILE_WORDS
#define TILE_WORDS (TILE_STEPS * $step_words)
// A step of a row. before, above: the pixel to the left, and the one above that.
FUNCTION void unfilter_step_$pixel_step(const uint kind, const uint* raw, const uint* up,
                                        uint* before, uint* above, uint* words) {
  UNROLLED
  for (int i = 0; i < 4 * $step_words; ++i) {
    const int c = i % $pixel_step, shift = i % 4 * 8;
    const uint here = up[i / 4] >> shift & 255u;
    const uint v = ((raw[i / 4] >> shift) + predicted(kind, before[c], here, above[c])) & 255u;
    before[c] = v;
    above[c] = here;
    words[i / 4] = (i % 4 == 0 ? 0u : words[i / 4]) | v << shift;
  }
}
// The words of a tile: of each row of a band those of TILE_STEPS steps from `step` on, less the
// steps that the row is behind. Word i of the tile is of row i / TILE_WORDS.
FUNCTION void fetch_tile_$pixel_step(GLOBAL const uint* words, const uint count,
                                     const uint pitch, const int first, const int rows,
                                     const int step, uint* fetched) {
  UNROLLED
  for (int k = 0; k < TILE_WORDS; ++k) {
    const int i = 32 * k + ITEM, row = i / TILE_WORDS;
    const int word = (step - row) * $step_words + i % TILE_WORDS;
    const uint at = ((uint)(first + row) * pitch + 1u) / 4u + 1u + (uint)word;
    fetched[k] = word >= 0 && first + row < rows && at < count ? words[at] : 0u;
  }
}
FUNCTION void unfilter_band_$pixel_step(const struct Band* all, const int width_bytes,
                                        const int rows, IN_LOCAL uint* tile,
                                        IN_LOCAL uint* above_tile, IN_LOCAL uint* shared,
                                        GLOBAL uint* status) {
  const uint pitch = (uint)width_bytes + 1u, count = ((uint)rows * pitch + 3u) / 4u;
  const int steps = (width_bytes + 4 * $step_words - 1) / (4 * $step_words);
  const int words_of_row = (width_bytes + 15) / 16 * 4;
  const int band = all->band, first = 32 * band, row = first + ITEM, exists = row < rows;
  GLOBAL const uint* words = (GLOBAL const uint*)all->from;
  GLOBAL uint* to = all->to + (long)row * words_of_row;
  GLOBAL uint* above_row = all->to + (long)(first - 1) * words_of_row;
  const int waits = band > 0 && all->from[(uint)first * pitch] > 1 ? 1 : 0;
  const uint begin = (uint)row * pitch + 1u;
  uint kind = exists ? all->from[begin - 1u] : 0u;
  if (kind > 4u) {
    MAX_GLOBAL(status, FAULT_FILTER);
    kind = 0u;
  }
  uint carry = exists && begin / 4u < count ? words[begin / 4u] : 0u, seen = 0u;
  uint before[$pixel_step], above[$pixel_step], made[$step_words], fetched[TILE_WORDS];
  UNROLLED
  for (int k = 0; k < $pixel_step; ++k) before[k] = above[k] = 0u;
  UNROLLED
  for (int k = 0; k < $step_words; ++k) made[k] = 0u;
  fetch_tile_$pixel_step(words, count, pitch, first, rows, 0, fetched);
  for (int step = 0; step < steps + 31; step += TILE_STEPS) {
    BARRIER_OF_32;
    UNROLLED
    for (int k = 0; k < TILE_WORDS; ++k) {
      const int i = 32 * k + ITEM;
      tile[i / TILE_WORDS * (TILE_WORDS + 1) + i % TILE_WORDS] = fetched[k];
    }
    fetch_tile_$pixel_step(words, count, pitch, first, rows, step + TILE_STEPS, fetched);
    const uint needs = (uint)smaller(step + TILE_STEPS, steps);
    while (waits && seen < needs) seen = LOAD_GLOBAL(&all->progress[band - 1]);
    if (waits) FENCE;
    const int up_word = step * $step_words + ITEM;
    above_tile[ITEM] = waits && ITEM < TILE_WORDS && up_word < words_of_row
                           ? LOAD_GLOBAL(&above_row[up_word])
                           : 0u;
    BARRIER_OF_32;
#pragma unroll 1
    for (int q = 0; q < TILE_STEPS; ++q) {
      const int own = step + q - ITEM;
      uint up[$step_words], raw[$step_words];
      UNROLLED
      for (int k = 0; k < $step_words; ++k) {
        const uint word = of_item_before(shared, made[k]);
        up[k] = ITEM == 0 ? above_tile[q * $step_words + k] : word;
        const uint next = tile[ITEM * (TILE_WORDS + 1) + q * $step_words + k];
        raw[k] = SHIFTED_WORD(carry, next, begin % 4u * 8u);
        carry = own >= 0 ? next : carry;
      }
      if (exists && own >= 0 && own < steps) {
        unfilter_step_$pixel_step(kind, raw, up, before, above, made);
        UNROLLED
        for (int k = 0; k < $step_words; ++k) {
          const int word = own * $step_words + k;
          if (word >= words_of_row) continue;
          if (ITEM < 31) to[word] = made[k];
          if (ITEM == 31) STORE_GLOBAL(&to[word], made[k]);  // another group reads this row
        }
      }
    }
    const int own = step + TILE_STEPS - 1 - ITEM;
    if (ITEM == 31 && exists && own >= 0) {
      FENCE;
      STORE_GLOBAL(&all->progress[band], (uint)smaller(own + 1, steps));
    }
  }
}
// progress: the next band, then those of each picture.
KERNEL(32) void unfilter_$pixel_step(GLOBAL const uchar* unpacked, GLOBAL uint* rows,
                                     GLOBAL uint* progress, GLOBAL uint* status, PARAMETERS) {
  LOCAL uint tile[32 * (TILE_WORDS + 1)], above_tile[32], shared[32], ticket;
  const int bands = (all_parameters.height + 31) / 32, pictures = all_parameters.pictures;
  const int width_bytes = BYTES_OF_ROW(all_parameters.width);
  const long words = (long)(width_bytes + 15) / 16 * 4 * all_parameters.height;
  int next = next_band(progress, &ticket);
  while (next < bands * pictures) {
    const int picture = next % pictures;
    struct Band band;
    band.from = unpacked + (long)picture * all_parameters.step;
    band.to = rows + picture * words;
    band.progress = progress + 1 + picture * bands;
    band.band = next / pictures;
    unfilter_band_$pixel_step(&band, width_bytes, all_parameters.height, tile, above_tile, shared,
                  status + picture);
    next = next_band(progress, &ticket);
  }
}

// -- part: pixels
// Four pixels of each channel a work-item.
FUNCTION uint single_of_half(const uint half_bits) {
  const uint sign = (half_bits & 0x8000u) << 16, rest = half_bits & 0x7fffu;
  if (rest < 0x400u) return sign | FLOAT_BITS((float)rest * 5.9604644775390625e-8f);
  if (rest < 0x7c00u) return sign | ((rest << 13) + (112u << 23));
  return sign | 0x7f800000u | (rest & 0x3ffu) << 13;
}
// Where the byte is that was the `at`-th of a chunk of `count`; count is 0 where it is still there.
FUNCTION int place_of_byte(const int at, const int count) {
  return count == 0 ? at : at / 2 + (at % 2 == 0 ? 0 : (count + 1) / 2);
}
// The `which`-th sample of a row of `samples` that begins at byte `row` of a chunk. count: the
// bytes of the chunk, where the odd ones lie behind the even ones.
FUNCTION uint sample_at(GLOBAL const uchar* chunk, const int row, const int which,
                        const int samples, const int count, const int bits, const int big_endian,
                        const int is_apart) {
  if (bits < 8) {
    const int at = which * bits;
    return (uint)chunk[row + at / 8] >> (8 - bits - at % 8) & ((1u << bits) - 1u);
  }
  const int bytes = bits / 8;
  if (is_apart) return sample_apart(chunk + row, which, bytes, samples);
  if (count == 0) return whole_sample(chunk + row, which, bytes, big_endian);
  uint v = 0u;
  for (int b = 0; b < bytes; ++b) {
    const int place = row + bytes * which + (big_endian ? bytes - 1 - b : b);
    v |= (uint)chunk[place_of_byte(place, count)] << (8 * b);
  }
  return v;
}
// The single next to an integer of so many bits.
FUNCTION uint single_of_integer(const uint v, const int bits, const int is_signed) {
  if (!is_signed) return FLOAT_BITS((float)v);
  return FLOAT_BITS((float)((int)(v << (32 - bits)) >> (32 - bits)));
}
#define PIXEL_OF(v)                                                               \
  (all_parameters.sample == HALF_SAMPLES  ? single_of_half(v)                     \
   : all_parameters.to_single                                                    \
       ? single_of_integer(v, all_parameters.bits, all_parameters.sample == SIGNED_INTEGERS) \
   : all_parameters.bits == 24            ? (v) << 8                              \
   : all_parameters.inverted && k == 0    ? (uint)all_parameters.fully - (v) * scale \
                                          : (v) * scale)
FUNCTION void store_pixels(GLOBAL uchar* to, uint* four, const int bytes) {
  if (bytes == 1) {
    *(GLOBAL uint*)to = four[0] | four[1] << 8 | four[2] << 16 | four[3] << 24;
  } else if (bytes == 2) {
    four[0] |= four[1] << 16;
    four[1] = four[2] | four[3] << 16;
    store_8_bytes(to, four);
  } else {
    store_16_bytes(to, four);
  }
}
// One channel of four pixels of a palette.
FUNCTION void colours_of(GLOBAL const uint* palette, const uint* indices, const int channel,
                         uint* four) {
  UNROLLED
  for (int i = 0; i < 4; ++i) four[i] = palette[indices[i]] >> (8 * channel) & 255u;
}
KERNEL(64) void pixels_of(GLOBAL const uint* data, GLOBAL const uchar* unpacked,
                          GLOBAL const uint* status, GLOBAL const uint* palettes,
                          GLOBAL uchar* image, GLOBAL uchar* alphas, GLOBAL double* result,
                          PARAMETERS) {
  const int picture = (int)GROUP_Z, begin = 4 * (GROUP_X * 64 + ITEM);
  const int channels = all_parameters.channels, order = all_parameters.order;
  const int samples = all_parameters.samples, alpha = all_parameters.alpha;
  const int colours = alpha < 0 ? channels : alpha;
  const int filter = all_parameters.filter, pixel_bytes = all_parameters.pixel_bytes;
  const int carried = all_parameters.carried;
  const uint scale = (uint)all_parameters.scale;
  if (begin == 0 && GROUP_Y == 0) {
    result[2 * picture] = (double)status[picture];
    result[2 * picture + 1] = 0.0;
  }
  if (begin >= all_parameters.width) return;
  for (int y = GROUP_Y; y < all_parameters.height; y += GROUPS_Y) {
    const int down = y / all_parameters.chunk_height;
    const int inner_y = y - down * all_parameters.chunk_height;
    for (int k = 0; k < samples; ++k) {
      const int of_plane = order == BY_PLANE ? k * all_parameters.down : 0;
      const int before =
          carried == 0 ? 0 : (int)(all_parameters.carried_before >> (16 * k) & 0xfffful);
      uint four[4];
      UNROLLED
      for (int i = 0; i < 4; ++i) {
        const int x = smaller(begin + i, all_parameters.width - 1);
        const int column = x / all_parameters.chunk_width, width = WIDTH_OF(column);
        const int inner_x = x - column * all_parameters.chunk_width;
        const long which = (long)picture * all_parameters.chunks +
                           (of_plane + down) * all_parameters.across + column;
        GLOBAL const uint* chunk = data + which * CHUNK_HEAD;
        const int is_exr = filter == EXR_BYTES && (chunk[CHUNK_FLAGS] & IS_STORED) == 0u;
        const int bytes = BYTES_OF_ROW(width);
        const int pitch = filter == PNG_ROWS ? (bytes + 15) / 16 * 16 : bytes;
        const int row = order == BY_ROW ? inner_y * (samples * pitch + width * carried) +
                                              k * pitch + width * before
                                        : inner_y * pitch;
        const uint v = sample_at(unpacked + which * all_parameters.step, row,
                                 order == BY_PIXEL ? inner_x * samples + k : inner_x,
                                 width * SAMPLES, is_exr ? (int)chunk[CHUNK_ROOM] : 0,
                                 all_parameters.bits, all_parameters.big_endian,
                                 filter == FLOAT_DIFFERENCES || filter == PXR24);
        four[i] = PIXEL_OF(v);
      }
      const int one = (int)(all_parameters.channel_of >> (4 * k) & 15ul);
      const long at = (long)y * all_parameters.stride + (long)begin * pixel_bytes;
      for (int c = 0; c < (all_parameters.palette ? channels : 1); ++c) {
        const int channel = all_parameters.palette ? c : one;
        const long plane = channel == alpha ? picture : picture * (long)colours + channel;
        uint own[4] = {four[0], four[1], four[2], four[3]};
        if (all_parameters.palette) colours_of(palettes + 256 * picture, four, c, own);
        store_pixels((channel == alpha ? alphas : image) + plane * all_parameters.plane + at, own,
                     pixel_bytes);
      }
    }
  }
}

// -- part: find_inexact
// Finds integers of 32 bits that no single is equal to: the processor decodes such a picture, and
// says how many there are. A word of a chunk a work-item.
KERNEL(128) void find_inexact(GLOBAL const uint* data, GLOBAL const uchar* unpacked,
                              GLOBAL uint* status, PARAMETERS) {
  const int pieces = (all_parameters.step + 511) / 512, which = GROUP_X / pieces;
  const int at = GROUP_X % pieces * 128 + ITEM;
  if (4 * at >= (int)data[(long)which * CHUNK_HEAD + CHUNK_ROOM]) return;
  const uint v = whole_sample(unpacked + (long)which * all_parameters.step, at, 4,
                              all_parameters.big_endian);
  const int is_exact = all_parameters.sample == SIGNED_INTEGERS
                           ? (double)(float)(int)v == (double)(int)v
                           : (double)(float)v == (double)v;
  if (!is_exact) MAX_GLOBAL(&status[which / all_parameters.chunks], FAULT_INEXACT);
}

// -- part: straighten
// Colours that were multiplied by alpha, divided by it as the host's codecs do it; under an alpha
// of 0 they stay. The second number of a picture's result: some of those are not 0.
FUNCTION uint straight(const uint v, const uint alpha, const int is_float, const double fully) {
  if (is_float) return FLOAT_BITS((float)((double)BITS_FLOAT(v) / (double)BITS_FLOAT(alpha)));
  const double colour = (double)v * fully / (double)alpha;
  return (uint)((colour < fully ? colour : fully) + 0.5);
}
KERNEL(64) void straighten(GLOBAL uchar* image, GLOBAL const uchar* alphas, GLOBAL double* result,
                           PARAMETERS) {
  const int picture = (int)GROUP_Z, colours = all_parameters.alpha;
  const int bytes = all_parameters.pixel_bytes, is_float = bytes == 4;
  for (int y = GROUP_Y; y < all_parameters.height; y += GROUPS_Y) {
    const long at = (long)y * all_parameters.stride;
    GLOBAL const uchar* alpha_row = alphas + picture * all_parameters.plane + at;
    for (int i = 0; i < 4; ++i) {
      const int x = (4 * GROUP_X + i) * 64 + ITEM;
      if (x >= all_parameters.width) continue;
      const uint alpha = whole_sample(alpha_row, x, bytes, 0);
      const int is_hidden = (is_float ? alpha << 1 : alpha) == 0u;
      for (int c = 0; c < colours; ++c) {
        GLOBAL uchar* row = image + (picture * (long)colours + c) * all_parameters.plane + at;
        const uint v = whole_sample(row, x, bytes, 0);
        if (!is_hidden) {
          store_sample(row, x, bytes, 0, straight(v, alpha, is_float, (double)all_parameters.fully));
        } else if ((is_float ? v << 1 : v) != 0u) {
          result[2 * picture + 1] = 1.0;
        }
      }
    }
  }
}

// -- part: keep
// The bytes of chunks as the file has them, a word a work-item, for a result that has samples of
// other channels than the picture's.
KERNEL(128) void keep_chunks(GLOBAL const uint* data, GLOBAL const uchar* unpacked,
                             GLOBAL uint* kept, PARAMETERS) {
  const int pieces = (all_parameters.step + 511) / 512, which = GROUP_X / pieces;
  const int at = 4 * (GROUP_X % pieces * 128 + ITEM);
  GLOBAL const uint* chunk = data + (long)which * CHUNK_HEAD;
  const int bytes = (int)chunk[CHUNK_ROOM];
  const int is_apart =
      all_parameters.filter == EXR_BYTES && (chunk[CHUNK_FLAGS] & IS_STORED) == 0u;
  GLOBAL const uchar* from = unpacked + (long)which * all_parameters.step;
  if (at < bytes) {
    uint word = 0u;
    for (int b = 0; b < 4; ++b) {
      const int place = place_of_byte(smaller(at + b, bytes - 1), is_apart ? bytes : 0);
      word |= (uint)from[place] << (8 * b);
    }
    kept[((long)which * all_parameters.step + at) / 4] = word;
  }
}
