// Pictures in the order in which lossless formats store them: from planes to the bytes of chunks,
// the filters of TIFF, PNG and OpenEXR, and the chunks one behind the other. What a form says of
// its samples is constant in the text; sizes are parameters. GROUP_Y is the chunk and GROUP_Z the
// picture, unless a kernel says otherwise.
#define $pixel uchar       // in memory; uint for floats
#define $channels 3
#define $bits 8            // of a stored sample
#define $logical 0
#define $half 0
#define $inverted 0
#define $big_endian 0
#define $order 0           // 0: pixel by pixel, 1: row by row of each channel, 2: a channel a chunk
#define $differences 0     // TIFF's predictor 2
#define $float_differences 0
#define $png 1             // a filter byte before each row
#define $exr 0
#define $zlib 1
#define $filters 5         // of PNG that are tried

// -- part: parameters
// Of a launch. A chunk is cut into `parts` parts of `part_bytes` bytes, the last of them shorter.
struct Parameters {
  int pictures, chunks;
  int width, height;
  int chunk_width, chunk_height;
  int across, down;        // chunks that cover the picture, or one channel of it
  int padded;              // chunks at the borders are as large as the others
  int stride;              // of the planes: bytes from row to row
  int parts, part_bytes;
  int values;              // of a picture's numbers
  int first_part;          // of a launch that deflates
  int is_sample, reserved;
  long step;               // from plane to plane
  long chunk_step;         // from chunk to chunk where they are not packed yet
  long slot_step;          // from part to part where they are packed
  long room;               // bytes from picture to picture where the chunks are joined
};
// A part that is packed: its bytes (with PART_STORED where it is left as it is), the sums of
// Adler-32 over its bytes alone, and where in its chunk it begins.
#define PART_STORED 0x80000000u
#define ADLER 65521u

// -- part: geometry
// What a chunk covers. A row has all samples of the chunk that lie in one row of the picture.
struct Chunk {
  int x, y, width, height;
  int channel;       // the first of the stored ones
  int row_samples;
  int row_bytes;     // without PNG's filter byte
  int bytes;         // with them
};
FUNCTION struct Chunk chunk_at(const struct Parameters* p, const int which) {
  const int of_channel = p->across * p->down, at = which % of_channel;
  struct Chunk chunk;
  chunk.channel = which / of_channel;
  chunk.x = at % p->across * p->chunk_width;
  chunk.y = at / p->across * p->chunk_height;
  chunk.width = p->padded ? p->chunk_width : smaller(p->chunk_width, p->width - chunk.x);
  chunk.height = p->padded ? p->chunk_height : smaller(p->chunk_height, p->height - chunk.y);
  chunk.row_samples = chunk.width * ($order == 2 ? 1 : $channels);
  chunk.row_bytes = (chunk.row_samples * $bits + 7) / 8;
  chunk.bytes = chunk.height * (chunk.row_bytes + $png);
  return chunk;
}
FUNCTION uint bytes_of_part(const struct Parameters* p, const struct Chunk* chunk, const int part) {
  const int left = chunk->bytes - part * p->part_bytes;
  return (uint)(left < 0 ? 0 : smaller(left, p->part_bytes));
}
// Sums of what the work-items before this one have, and of all. memory: 17 words for each 16 items,
// free to be used again when all are back.
FUNCTION uint sums_before(IN_LOCAL uint* memory, const uint own, uint* all, const int items) {
  memory[ITEM] = own;
  BARRIER;
  if (ITEM < items / 16) {
    uint sum = 0u;
    for (int i = 0; i < 16; ++i) sum += memory[16 * ITEM + i];
    memory[items + ITEM] = sum;
  }
  BARRIER;
  uint before = 0u, total = 0u;
  for (int i = 0; i < items / 16; ++i) {
    before += i < ITEM / 16 ? memory[items + i] : 0u;
    total += memory[items + i];
  }
  for (int i = ITEM / 16 * 16; i < ITEM; ++i) before += memory[i];
  BARRIER;
  *all = total;
  return before;
}

// -- part: samples
// A sample as it is stored, of a pixel of the planes. Beyond the picture its last pixels are
// repeated.
struct Source {
  GLOBAL const uchar* image;
  GLOBAL const uint* channel_of;
  struct Chunk chunk;
  long step;
  int stride, last_x, last_y;
  uint unfit;  // 1: a finite number is beyond what halves hold
};
// Rounded to even, as OpenEXR does it.
FUNCTION uint half_of(const uint bits) {
  const uint size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
  if (size >= 0x7f800000u) {  // infinite, or no number, which it stays
    const uint rest = size >> 13 & 0x3ffu;
    return sign | 0x7c00u | (size == 0x7f800000u ? 0u : rest != 0u ? rest : 1u);
  }
  if (size > 0x477fefffu) return sign | 0x7c00u;
  if (size >= 0x38800000u) {
    return sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
  }
  if (size < 0x33000001u) return sign;
  const uint shift = 0x7eu - (size >> 23), mantissa = 0x800000u | (size & 0x7fffffu);
  const uint found = mantissa >> shift, rest = mantissa << (32u - shift);
  return sign | (found + (rest > 0x80000000u || (rest == 0x80000000u && (found & 1u)) ? 1u : 0u));
}
FUNCTION uint pixel_at(const struct Source* from, const int channel, const int x, const int y) {
  const int inner_x = smaller(from->chunk.x + x, from->last_x);
  const int inner_y = smaller(from->chunk.y + y, from->last_y);
  GLOBAL const uchar* row = from->image + from->step * channel + (long)inner_y * from->stride;
  return ((GLOBAL const $pixel*)row)[inner_x];
}
FUNCTION uint sample_at(struct Source* from, const int row, const int at) {
  const int width = from->chunk.width;
  const int k = $order == 0 ? at % $channels : $order == 1 ? at / width : from->chunk.channel;
  const int x = $order == 0 ? at / $channels : $order == 1 ? at - k * width : at;
  uint value = pixel_at(from, $channels == 1 ? 0 : (int)from->channel_of[k], x, row);
  if ($logical) value = value != 0u ? (uint)((1ul << $bits) - 1ul) : 0u;
  if ($half) {
    const uint size = value & 0x7fffffffu;
    from->unfit |= size > 0x477fe000u && size < 0x7f800000u ? 1u : 0u;
    value = half_of(value);
  }
  return $inverted ? (uint)((1ul << $bits) - 1ul) - value : value;
}
// Eight pixels, the first in the uppermost bit; behind the last pixel there are zeros.
FUNCTION uint bits_at(const struct Source* from, const int row, const int at) {
  uint byte = 0u;
  for (int i = 0; i < 8; ++i) {
    const int x = 8 * at + i;
    const uint bit = pixel_at(from, 0, x, row) != 0u ? 1u : 0u;
    byte = byte << 1 | (x < from->chunk.width ? bit ^ $inverted : 0u);
  }
  return byte;
}

// -- part: words
// What is stored from byte `within` of a row on: a sample of one, two or four bytes.
#define SAMPLE_BYTES ($bits < 8 ? 1 : $bits / 8)
#define BYTES_AT_ONCE ($float_differences ? 1 : SAMPLE_BYTES)
#define PIXEL_SAMPLES ($order == 0 ? $channels : 1)
FUNCTION uint turned_sample(const uint value) {
  if (SAMPLE_BYTES == 1) return value;
  if (SAMPLE_BYTES == 2) return (value >> 8 & 255u) | (value & 255u) << 8;
  return value >> 24 | (value >> 8 & 0xff00u) | (value << 8 & 0xff0000u) | value << 24;
}
// TIFF's predictor 3 has all first bytes of a row's samples before all second ones, the uppermost
// first.
FUNCTION uint byte_of_row(struct Source* from, const int row, const int within) {
  const int samples = from->chunk.row_samples, which = within / samples;
  const uint value = sample_at(from, row, within - which * samples);
  return value >> (8 * (SAMPLE_BYTES - 1 - which)) & 255u;
}
FUNCTION uint stored_at(struct Source* from, const int row, const int within) {
  if ($float_differences) {
    const uint byte = byte_of_row(from, row, within);
    const int before = within - PIXEL_SAMPLES;
    return (before < 0 ? byte : byte - byte_of_row(from, row, before)) & 255u;
  }
  if ($bits == 1) return bits_at(from, row, within);
  const int at = within / SAMPLE_BYTES;
  uint value = sample_at(from, row, at);
  if ($differences && at >= PIXEL_SAMPLES) value -= sample_at(from, row, at - PIXEL_SAMPLES);
  if (SAMPLE_BYTES < 4) value &= (1u << ($bits & 31)) - 1u;
  return $big_endian ? turned_sample(value) : value;
}

// -- part: order
// The samples of a chunk in the file's order, a word a work-item. unfit: for each picture.
KERNEL(256) void order_samples(GLOBAL const uchar* images, GLOBAL const uint* channel_of,
                               GLOBAL uint* all_ordered, GLOBAL uint* unfit, PARAMETERS) {
  struct Source from;
  from.chunk = chunk_at(&all_parameters, GROUP_Y);
  from.image = images + all_parameters.step * $channels * GROUP_Z;
  from.channel_of = channel_of;
  from.step = all_parameters.step;
  from.stride = all_parameters.stride;
  from.last_x = all_parameters.width - 1;
  from.last_y = all_parameters.height - 1;
  from.unfit = 0u;
  const int at = 4 * (GROUP_X * 256 + ITEM), row_bytes = from.chunk.row_bytes;
  if (at < from.chunk.height * row_bytes) {
    uint word = 0u;
    int row = at / row_bytes, within = at - row * row_bytes;
    for (int k = 0; k < 4; k += BYTES_AT_ONCE) {
      word |= stored_at(&from, row, within) << (8 * k);
      within += BYTES_AT_ONCE;
      if (within >= row_bytes) {
        within = 0;
        ++row;
      }
    }
    const long chunk = all_parameters.chunks * GROUP_Z + GROUP_Y;
    all_ordered[all_parameters.chunk_step / 4 * chunk + at / 4] = word;
    if ($half && from.unfit != 0u) OR_GLOBAL(unfit + GROUP_Z, 1u);
  }
}

// -- part: png
// PNG's filters: what is left of a byte by those to its left, above it and above that.
FUNCTION uint left_by_paeth(const uint byte, const uint left, const uint above, const uint corner) {
  const int a = (int)above - (int)corner, b = (int)left - (int)corner, c = a + b;
  const int from_left = a < 0 ? -a : a, from_above = b < 0 ? -b : b, from_corner = c < 0 ? -c : c;
  return byte - (from_left <= from_above && from_left <= from_corner ? left
                 : from_above <= from_corner                         ? above
                                                                     : corner);
}
FUNCTION void all_filtered_at(GLOBAL const uchar* row, const int at, const int row_bytes,
                              const int is_first, uint* found) {
  const int pixel = larger($channels * $bits / 8, 1);
  const uint byte = row[at], left = at >= pixel ? row[at - pixel] : 0u;
  const uint above = is_first ? 0u : row[at - row_bytes];
  const uint corner = is_first || at < pixel ? 0u : row[at - row_bytes - pixel];
  found[0] = byte;
  found[1] = byte - left;
  found[2] = byte - above;
  found[3] = byte - ((left + above) >> 1);
  found[4] = left_by_paeth(byte, left, above, corner);
}

// -- part: filter_rows
// The filter of a row, GROUP_X, is the one with the least sum of differences, and its number stands
// before what it leaves.
KERNEL(128) void filter_rows(GLOBAL const uchar* all_ordered, GLOBAL uchar* all_filtered,
                             PARAMETERS) {
  LOCAL uint sums[5 * 128];
  const struct Chunk chunk = chunk_at(&all_parameters, GROUP_Y);
  const int row = GROUP_X, bytes = row < chunk.height ? chunk.row_bytes : 0;
  const long begin = all_parameters.chunk_step * (all_parameters.chunks * GROUP_Z + GROUP_Y);
  GLOBAL const uchar* from = all_ordered + begin + (long)row * chunk.row_bytes;
  GLOBAL uchar* to = all_filtered + begin + (long)row * (chunk.row_bytes + 1);
  uint own[5] = {0u, 0u, 0u, 0u, 0u}, found[5];
  for (int i = ITEM; i < bytes; i += 128) {
    all_filtered_at(from, i, chunk.row_bytes, row == 0, found);
    for (int k = 0; k < 5; ++k) {
      const uint size = found[k] & 255u;
      own[k] += size < 128u ? size : 256u - size;
    }
  }
  for (int k = 0; k < 5; ++k) sums[128 * k + ITEM] = own[k];
  BARRIER;
  for (int by = 64; by > 0; by /= 2) {
    for (int i = ITEM; i < 5 * by; i += 128) {
      sums[i / by * 128 + i % by] += sums[i / by * 128 + i % by + by];
    }
    BARRIER;
  }
  int best = 0;
  for (int k = 1; k < $filters; ++k) best = sums[128 * k] < sums[128 * best] ? k : best;
  if (ITEM == 0 && bytes > 0) to[0] = (uchar)best;
  for (int i = ITEM; i < bytes; i += 128) {
    all_filtered_at(from, i, chunk.row_bytes, row == 0, found);
    uint left = found[0];
    for (int k = 1; k < 5; ++k) left = k == best ? found[k] : left;
    to[1 + i] = (uchar)left;
  }
}

// -- part: exr
// OpenEXR's filter: the even bytes of a chunk, then the odd ones, as differences from the byte
// before and 128.
KERNEL(256) void split_bytes(GLOBAL const uchar* all_ordered, GLOBAL uint* all_filtered,
                             PARAMETERS) {
  const struct Chunk chunk = chunk_at(&all_parameters, GROUP_Y);
  const long begin = all_parameters.chunk_step * (all_parameters.chunks * GROUP_Z + GROUP_Y);
  GLOBAL const uchar* from = all_ordered + begin;
  const int at = 4 * (GROUP_X * 256 + ITEM), evens = (chunk.bytes + 1) / 2;
  if (at < chunk.bytes) {
    uint word = 0u;
    uint before = at == 0 ? 128u : from[at - 1 < evens ? 2 * at - 2 : 2 * (at - 1 - evens) + 1];
    for (int k = 0; k < 4; ++k) {
      const int i = smaller(at + k, chunk.bytes - 1);
      const uint byte = from[i < evens ? 2 * i : 2 * (i - evens) + 1];
      word |= ((byte - before + 128u) & 255u) << (8 * k);
      before = byte;
    }
    all_filtered[(begin + at) / 4] = word;
  }
}

// -- part: measure
// The bytes of each chunk, GROUP_X, of each picture, GROUP_Y, where its parts begin in it, and its
// Adler-32. chunk_sizes: bytes, where it begins in its picture (to be found), Adler-32, and 1 where
// its bytes are left unfiltered because nothing would be saved, as OpenEXR wants it.
KERNEL(64) void measure_chunks(GLOBAL uint4* all_parts, GLOBAL uint4* chunk_sizes, PARAMETERS) {
  LOCAL uint sums[68];
  const long which = (long)all_parameters.chunks * GROUP_Y + GROUP_X;
  const struct Chunk chunk = chunk_at(&all_parameters, GROUP_X);
  GLOBAL uint4* parts = all_parts + all_parameters.parts * which;
  uint bytes = $zlib ? 2u : 0u, first = 0u, second = 0u, all;
  for (int begin = 0; begin < all_parameters.parts; begin += 64) {
    const int at = begin + ITEM;
    const uint own = at < all_parameters.parts ? parts[at].x & ~PART_STORED : 0u;
    const uint before = sums_before(sums, own, &all, 64);
    if (at < all_parameters.parts) {
      const uint upto = (uint)at * (uint)all_parameters.part_bytes +
                        bytes_of_part(&all_parameters, &chunk, at);
      const uint behind = own == 0u ? 0u : ((uint)chunk.bytes - upto) % ADLER;
      first = (first + parts[at].y) % ADLER;
      second = (second + parts[at].z + parts[at].y * behind % ADLER) % ADLER;
      parts[at].w = bytes + before;
    }
    bytes += all;
  }
  sums_before(sums, first, &first, 64);
  sums_before(sums, second, &second, 64);
  if (ITEM == 0) {
    bytes += $zlib ? 4u : 0u;
    const uint is_stored = $exr && bytes >= (uint)chunk.bytes ? 1u : 0u;
    uint4 size;
    size.x = is_stored != 0u ? (uint)chunk.bytes : bytes;
    size.y = 0u;
    size.z = ((uint)chunk.bytes + second) % ADLER << 16 | (1u + first) % ADLER;
    size.w = is_stored;
    chunk_sizes[which] = size;
  }
}

// -- part: as_they_are
// Parts of what is not packed.
KERNEL(256) void leave_parts(GLOBAL uint4* all_parts, PARAMETERS) {
  const int at = GROUP_X * 256 + ITEM;
  const struct Chunk chunk = chunk_at(&all_parameters, GROUP_Y);
  if (at < all_parameters.parts) {
    uint4 part;
    part.x = bytes_of_part(&all_parameters, &chunk, at) | PART_STORED;
    part.y = 0u;
    part.z = 0u;
    part.w = 0u;
    all_parts[all_parameters.parts * (all_parameters.chunks * GROUP_Z + GROUP_Y) + at] = part;
  }
}

// -- part: place
// Where each chunk begins in its picture, GROUP_Y, and the picture's numbers.
KERNEL(256) void place_chunks(GLOBAL uint4* all_sizes, GLOBAL const uint* unfit,
                              GLOBAL double* numbers, PARAMETERS) {
  LOCAL uint sums[272];
  GLOBAL uint4* sizes = all_sizes + (long)all_parameters.chunks * GROUP_Y;
  GLOBAL double* own_numbers = numbers + (long)all_parameters.values * GROUP_Y;
  uint bytes = 0u, all;
  for (int begin = 0; begin < all_parameters.chunks; begin += 256) {
    const int at = begin + ITEM;
    const uint own = at < all_parameters.chunks ? sizes[at].x : 0u;
    const uint before = sums_before(sums, own, &all, 256);
    if (at < all_parameters.chunks) {
      sizes[at].y = bytes + before;
      own_numbers[2 + at] = (double)own;
    }
    bytes += all;
  }
  if (ITEM == 0) {
    own_numbers[0] = (double)bytes;
    own_numbers[1] = unfit[GROUP_Y] != 0u || (long)bytes > all_parameters.room ? 1.0 : 0.0;
  }
}

// -- part: join
// Bytes from whole words to anywhere, by a group of 256 together: words where they can be.
FUNCTION void copy_bytes(GLOBAL uchar* all_to, const long begin, GLOBAL const uint* from,
                         const int bytes) {
  GLOBAL uchar* to = all_to + begin;
  GLOBAL const uchar* single = (GLOBAL const uchar*)from;
  const int head = smaller((int)(-begin & 3l), bytes), words = (bytes - head) / 4;
  GLOBAL uint* whole = (GLOBAL uint*)(to + head);
  for (int i = ITEM; i < words; i += 256) {
    whole[i] = head == 0 ? from[i] : SHIFTED_WORD(from[i], from[i + 1], 8 * (uint)head);
  }
  const int tail = head + 4 * words;
  if (ITEM < head) to[ITEM] = single[ITEM];
  if (tail + ITEM < bytes) to[tail + ITEM] = single[tail + ITEM];
}

// -- part: join_parts
// Each part, GROUP_X, where it belongs in its picture, with what zlib has around a chunk.
KERNEL(256) void join_parts(GLOBAL const uint* all_ordered, GLOBAL const uint* all_filtered,
                            GLOBAL const uint* slots, GLOBAL const uint4* all_parts,
                            GLOBAL const uint4* sizes, GLOBAL uchar* rooms, PARAMETERS) {
  const long chunk_index = all_parameters.chunks * GROUP_Z + GROUP_Y;
  const long index = all_parameters.parts * chunk_index + GROUP_X;
  const uint4 size = sizes[chunk_index], part = all_parts[index];
  const struct Chunk chunk = chunk_at(&all_parameters, GROUP_Y);
  const int begin = GROUP_X * all_parameters.part_bytes;
  const int bytes = (int)bytes_of_part(&all_parameters, &chunk, GROUP_X);
  const long from = (all_parameters.chunk_step * chunk_index + begin) / 4;
  const long chunk_to = all_parameters.room * GROUP_Z + size.y;
  const int is_last = begin + bytes >= chunk.bytes;
  if (size.w != 0u) {
    copy_bytes(rooms, chunk_to + begin, all_ordered + from, bytes);
  } else {
    GLOBAL uchar* to = rooms + chunk_to + part.w;
    if ((part.x & PART_STORED) == 0u) {
      copy_bytes(rooms, chunk_to + part.w, slots + all_parameters.slot_step / 4 * index,
                 (int)part.x);
    } else {
      // A stored block has five bytes before its own.
      if ($zlib && ITEM < 5 && bytes > 0) {
        const uint length = (uint)bytes | ~(uint)bytes << 16;
        to[ITEM] = (uchar)(ITEM == 0 ? (uint)is_last : length >> (8 * (ITEM - 1)));
      }
      copy_bytes(rooms, chunk_to + part.w + ($zlib ? 5 : 0), all_filtered + from, bytes);
    }
    if ($zlib && ITEM < 2 && GROUP_X == 0) rooms[chunk_to + ITEM] = ITEM == 0 ? 0x78 : 0x01;
    if ($zlib && ITEM < 4 && GROUP_X == 0) {
      rooms[chunk_to + size.x - 4 + ITEM] = (uchar)(size.z >> (24 - 8 * ITEM));
    }
  }
}

// -- part: take
// The chunks of each picture, those of one picture behind those of the other. Each picture begins
// where a group does; of one that is left to the host there is nothing.
KERNEL(256) void take_pictures(GLOBAL const uint* from, GLOBAL const double* numbers,
                               GLOBAL uint* to, PARAMETERS) {
  const long first = (long)GROUP_X * 256;
  long begin = 0, end = 0;
  int picture = -1;
  while (end <= first && picture + 1 < all_parameters.pictures) {
    ++picture;
    begin = end;
    GLOBAL const double* own = numbers + (long)all_parameters.values * picture;
    const double bytes = own[1] != 0.0 ? 0.0 : own[0];
    end = begin + ((long)bytes + 1023l) / 1024l * 256l;
  }
  const long at = first - begin + ITEM;
  if (first < end && at < all_parameters.room / 4) {
    to[first + ITEM] = from[all_parameters.room / 4 * picture + at];
  }
}
