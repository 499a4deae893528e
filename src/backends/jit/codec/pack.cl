// Pictures in the order in which lossless formats store them: from planes to the bytes of chunks,
// the filters of TIFF, PNG and OpenEXR, and the chunks one behind the other. What a form says of
// its samples is constant in the text; sizes are parameters. GROUP_Y is the chunk and GROUP_Z the
// picture, unless a kernel says otherwise.
//
// Deflate (RFC 1951) of parts of at most 64 KB, a group each: a block of Huffman codes made for the
// part. Each part but a chunk's last ends with an empty stored block, on a byte, so that parts are
// joined as bytes. A part that does not shrink is left to be stored. Whatever order work-items run
// in, the same bits come out. GROUP_X and first_part are the part, of all chunks of all pictures.
//   $pixel        in memory; uint for floats
//   $alpha        which of the channels has planes of its own; -1: none
//   $associated   colours are stored multiplied by alpha
//   $bits         of a stored sample
//   $order        0: pixel by pixel, 1: row by row of each channel, 2: a channel a chunk
//   $differences  TIFF's predictor 2
//   $png          a filter byte before each row
//   $carries      samples of other channels lie among those of a row
//   $filters      of PNG that are tried
//   $near         the distance of a pixel, 0: none

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
  int is_sample;
  int carried;             // bytes a pixel of a row's samples that are not the picture's
  long step;               // from plane to plane
  long chunk_step;         // from chunk to chunk where they are not packed yet
  long slot_step;          // from part to part where they are packed
  long room;               // bytes from picture to picture where the chunks are joined
};
// A part that is packed: its bytes (with PART_STORED where it is left as it is), the sums of
// Adler-32 over its bytes alone, and where in its chunk it begins. LZW's bytes are bits here.
#define PART_STORED 0x80000000u
#define ADLER 65521u

// -- part: geometry(int order, int channels, int bits, bool png)
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
  chunk.row_bytes = (chunk.row_samples * $bits + 7) / 8 + chunk.width * p->carried;
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

// -- part: samples(int alpha, type pixel, int order, int channels, bool associated, bool logical,
//    int bits, bool half, bool inverted)
// A sample as it is stored, of a pixel of the planes. Beyond the picture its last pixels are
// repeated.
struct Source {
  GLOBAL const uchar *image, *alpha;
  GLOBAL const uint* channel_of;
  struct Chunk chunk;
  long step;
  int stride, last_x, last_y;
  uint glows;  // 1: colours under an alpha of 0 stay as they are
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
  GLOBAL const uchar* plane = channel == $alpha ? from->alpha : from->image + from->step * channel;
  GLOBAL const uchar* row = plane + (long)inner_y * from->stride;
  return ((GLOBAL const $pixel*)row)[inner_x];
}
FUNCTION uint associated(const uint value, const uint alpha, const uint glows) {
  if ((alpha & 0x7fffffffu) == 0u) return glows != 0u ? value : 0u;
  return FLOAT_BITS(BITS_FLOAT(value) * BITS_FLOAT(alpha));
}
FUNCTION uint sample_at(struct Source* from, const int row, const int at) {
  const int width = from->chunk.width;
  const int k = $order == 0 ? at % $channels : $order == 1 ? at / width : from->chunk.channel;
  const int x = $order == 0 ? at / $channels : $order == 1 ? at - k * width : at;
  const int channel = $channels == 1 ? 0 : (int)from->channel_of[k];
  uint value = pixel_at(from, channel, x, row);
  if ($associated && channel != $alpha) {
    value = associated(value, pixel_at(from, $alpha, x, row), from->glows);
  }
  if ($logical) value = value != 0u ? (uint)((1ul << $bits) - 1ul) : 0u;
  // Files have one NaN (core/one_nan.hpp).
  if (($bits == 32 || $half) && (value & 0x7fffffffu) > 0x7f800000u) value = 0x7fc00000u;
  if ($half) {
    const uint size = value & 0x7fffffffu;
    from->unfit |= size > 0x477fe000u && size < 0x7f800000u ? 1u : 0u;
    value = half_of(value);
  }
  return $inverted && k == 0 ? (uint)((1ul << $bits) - 1ul) - value : value;
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

// -- part: words(int bits, bool float_differences, int order, int channels, bool differences,
//    bool big_endian, int alpha, bool carries)
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

// channel_of: behind it what glows is for each picture.
FUNCTION struct Source source_of(const struct Parameters* p, GLOBAL const uchar* images,
                                 GLOBAL const uchar* alphas, GLOBAL const uint* channel_of) {
  struct Source from;
  from.chunk = chunk_at(p, GROUP_Y);
  from.image = images + p->step * ($channels - ($alpha < 0 ? 0 : 1)) * GROUP_Z;
  from.alpha = alphas + p->step * GROUP_Z;
  from.glows = channel_of[($carries ? 2 : 1) * $channels + GROUP_Z];
  from.channel_of = channel_of;
  from.step = p->step;
  from.stride = p->stride;
  from.last_x = p->width - 1;
  from.last_y = p->height - 1;
  from.unfit = 0u;
  return from;
}

// -- part: order(bool half)
// The samples of a chunk in the file's order, a word a work-item. unfit: for each picture.
KERNEL(256) void order_samples(GLOBAL const uchar* images, GLOBAL const uchar* alphas,
                               GLOBAL const uint* channel_of, GLOBAL uint* all_ordered,
                               GLOBAL uint* unfit, PARAMETERS) {
  struct Source from = source_of(&all_parameters, images, alphas, channel_of);
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

// -- part: order_rows(int channels, bool half)
// The samples of a row of a chunk, GROUP_X, in their places among those of other channels, which are
// there. Behind channel_of lie the bytes of others before each sample of a pixel.
KERNEL(128) void order_rows(GLOBAL const uchar* images, GLOBAL const uchar* alphas,
                            GLOBAL const uint* channel_of, GLOBAL uchar* all_ordered,
                            GLOBAL uint* unfit, PARAMETERS) {
  struct Source from = source_of(&all_parameters, images, alphas, channel_of);
  const int row = GROUP_X, width = row < from.chunk.height ? from.chunk.width : 0;
  GLOBAL uchar* begin = all_ordered + (long)row * from.chunk.row_bytes +
                        all_parameters.chunk_step * (all_parameters.chunks * GROUP_Z + GROUP_Y);
  for (int k = 0; k < $channels; ++k) {
    GLOBAL uchar* to = begin + (long)width * (k * SAMPLE_BYTES + (int)channel_of[$channels + k]);
    for (int x = ITEM; x < width; x += 128) {
      const uint value = sample_at(&from, row, k * width + x);
      if (SAMPLE_BYTES == 2) {
        ((GLOBAL ushort*)to)[x] = (ushort)value;
      } else {
        ((GLOBAL uint*)to)[x] = value;
      }
    }
  }
  if ($half && from.unfit != 0u) OR_GLOBAL(unfit + GROUP_Z, 1u);
}

// -- part: png(int channels, int bits)
// PNG's filters: what is left of a byte by those to its left, above it and above that.
FUNCTION uint left_by_paeth(const uint byte, const uint left, const uint above, const uint corner) {
  const int a = (int)above - (int)corner, b = (int)left - (int)corner, c = a + b;
  const int from_left = magnitude(a), from_above = magnitude(b), from_corner = magnitude(c);
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

// -- part: filter_rows(int filters)
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

// -- part: measure(bool zlib, bool lzw, bool exr)
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
    bytes = $lzw ? (bytes + 7u) / 8u : bytes + ($zlib ? 4u : 0u);
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

// -- part: join_bits
// The bits of a part of LZW behind those of the parts before it. A byte that two parts share is
// written by the first of them; each part has more than 8 bits.
FUNCTION uint byte_of_bits(GLOBAL const uchar* from, const uint at) {
  return ((uint)from[at / 8u] << 8 | from[at / 8u + 1u]) >> (8u - (at & 7u)) & 255u;
}
FUNCTION void copy_bits(GLOBAL uchar* to, const uint begin, const uint bits,
                        GLOBAL const uchar* from, GLOBAL const uchar* next) {
  const uint end = begin + bits;
  for (uint i = (begin + 7u) / 8u + ITEM; 8u * i < end; i += 256u) {
    uint byte = byte_of_bits(from, 8u * i - begin);
    if (8u * i + 8u > end && next != from) byte |= next[0] >> (end - 8u * i);
    to[i] = (uchar)byte;
  }
}

// -- part: join_parts(bool lzw, bool zlib)
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
  } else if ($lzw) {
    GLOBAL const uchar* own = (GLOBAL const uchar*)slots + all_parameters.slot_step * index;
    if (bytes > 0) {
      copy_bits(rooms + chunk_to, part.w, part.x, own,
                own + (is_last ? 0l : all_parameters.slot_step));
    }
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

// -- part: blocks
// What is known of a part's block, in words: first how often literals and distances occur, then
// their codes, with their bits in the order of the file and above 16 bits how many they are; the
// bits of the whole block (before: what copies save of a sample); the bits of its head (what the
// sample takes without copies), and the head.
#define BLOCK_WORDS 512
#define BLOCK_DISTANCES 288
#define BLOCK_BITS 320
#define BLOCK_HEAD 322
// Tokens of a part, of 16 bits: a byte; 256 and a length less 3, behind which there is
// TOKEN_DISTANCE and a distance less 1. Never more than bytes.
#define TOKEN_DISTANCE 0x8000u
#define THIS_PART (all_parameters.first_part + GROUP_X)
struct Part {
  GLOBAL const uint* from;
  uint bytes;
  int is_last;  // of its chunk
};
FUNCTION struct Part part_at(const struct Parameters* p, GLOBAL const uint* filtered,
                             const int at) {
  const int which = at / p->parts, begin = at % p->parts * p->part_bytes;
  const struct Chunk chunk = chunk_at(p, which % p->chunks);
  struct Part part;
  part.from = filtered + (p->chunk_step * which + begin) / 4;
  part.bytes = bytes_of_part(p, &chunk, at % p->parts);
  part.is_last = begin + (int)part.bytes >= chunk.bytes;
  return part;
}
FUNCTION uint turned_bits(uint word) {
  word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
  word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
  word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
  word = (word >> 8 & 0x00ff00ffu) | (word & 0x00ff00ffu) << 8;
  return word >> 16 | word << 16;
}
// Bits that follow the symbol of a length, or of a distance.
FUNCTION uint bits_behind_literal(const int symbol) {
  return symbol < 265 || symbol > 284 ? 0u : (uint)(symbol - 261) / 4u;
}
FUNCTION uint bits_behind_distance(const int symbol) {
  return symbol < 4 ? 0u : (uint)(symbol - 2) / 2u;
}
FUNCTION uint bits_behind_run(const uint symbol) {
  return symbol < 16u ? 0u : symbol == 16u ? 2u : symbol == 17u ? 3u : 7u;
}

// -- part: lzw
// TIFF's LZW, most significant bit first. One work-item of a group goes through a part, and clears
// the table at its end unless the chunk ends there. A word of the table is a string: the code of
// what it begins with, its last byte, and its own code. The table is cleared before a code of 13
// bits would be needed.
#define LZW_CLEAR 256u
#define LZW_END 257u
#define LZW_FULL 4094u  // libtiff's decoder wants it cleared here
#define LZW_TABLE 8192
#define LZW_NONE 0xffffffffu
struct Codes {
  GLOBAL uint* to;
  ulong held;  // `fill` bits that are not written yet, in the lower part
  uint words, fill;
  uint string;   // the code of the bytes read last
  uint next;     // the next code of a string
  uint bits;     // of a code
};
FUNCTION uint turned_word(const uint word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}
FUNCTION void put_code(struct Codes* out, const uint code) {
  out->held = out->held << out->bits | code;
  out->fill += out->bits;
  if (out->fill >= 32u) {
    out->fill -= 32u;
    out->to[out->words++] = turned_word((uint)(out->held >> out->fill));
  }
}
// Writes the code of the string, behind which the table has one more. Returns whether it is full.
FUNCTION int put_string_code(struct Codes* out) {
  put_code(out, out->string);
  ++out->next;
  const int is_full = out->next == LZW_FULL;
  if (is_full) {
    put_code(out, LZW_CLEAR);
    out->next = LZW_END + 1u;
    out->bits = 9u;
  } else if (out->next == 1u << out->bits) {
    ++out->bits;
  }
  return is_full;
}
// Goes on from byte `at` until the table is full; the byte where it stops.
FUNCTION uint put_strings_until_full(IN_LOCAL uint* table, GLOBAL const uint* from, uint at,
                                     const uint bytes, struct Codes* out) {
  int is_full = 0;
  while (at < bytes && !is_full) {
    const uint byte = from[at / 4u] >> (8u * (at & 3u)) & 255u, key = out->string << 8 | byte;
    uint slot = (key * 2654435761u) >> 19;
    while (table[slot] != LZW_NONE && table[slot] >> 12 != key) slot = (slot + 1u) & (LZW_TABLE - 1);
    if (table[slot] != LZW_NONE) {
      out->string = table[slot] & 4095u;
    } else {
      table[slot] = key << 12 | out->next;
      is_full = put_string_code(out);
      out->string = byte;
    }
    ++at;
  }
  return at;
}

// -- part: write_codes
// A part in LZW into its slot, and its bits.
KERNEL(32) void write_codes(GLOBAL const uint* all_filtered, GLOBAL uint4* all_parts,
                            GLOBAL uint* slots, PARAMETERS) {
  LOCAL uint table[LZW_TABLE];
  LOCAL uint reached;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  struct Codes out;
  out.to = slots + all_parameters.slot_step / 4 * THIS_PART;
  out.held = 0ul;
  out.words = 0u;
  out.fill = 0u;
  out.string = part.from[0] & 255u;
  out.next = LZW_END + 1u;
  out.bits = 9u;
  if (THIS_PART % all_parameters.parts == 0) put_code(&out, LZW_CLEAR);
  if (ITEM == 0) reached = 1u;
  BARRIER;
  while (reached < part.bytes) {
    for (int i = ITEM; i < LZW_TABLE; i += 32) table[i] = LZW_NONE;
    BARRIER;
    if (ITEM == 0) reached = put_strings_until_full(table, part.from, reached, part.bytes, &out);
    BARRIER;
  }
  if (ITEM == 0) {
    const int is_cleared = put_string_code(&out);
    if (part.is_last) put_code(&out, LZW_END);
    if (!part.is_last && !is_cleared) put_code(&out, LZW_CLEAR);
    out.to[out.words] = turned_word((uint)(out.held << (32u - out.fill)));
    out.to[out.words + 1u] = 0u;
    uint4 size;
    size.x = part.bytes == 0u ? 0u : 32u * out.words + out.fill;
    size.y = 0u;
    size.z = 0u;
    size.w = 0u;
    all_parts[THIS_PART] = size;
  }
}

// -- part: count(int items = 256)
// How often bytes occur, and what Adler-32 sums: bytes, and bytes by how many follow, themselves
// too. 64 words of a part of 64 KB keep the second sum below 2^32.
FUNCTION void count_word(IN_LOCAL uint* counts, const uint word, const int left, uint* first,
                         uint* second) {
  if (left >= 4) {
    const uint sum = add_bytes(word, 0u);
    *first += sum;
    *second += (uint)left * sum - (word >> 8 & 255u) - 2u * (word >> 16 & 255u) - 3u * (word >> 24);
    if (word == (word & 255u) * 0x1010101u) {
      ADD_LOCAL(counts + (word & 255u), 4u);
    } else {
      for (int k = 0; k < 4; ++k) ADD_LOCAL(counts + (word >> (8 * k) & 255u), 1u);
    }
  } else {
    for (int k = 0; k < left; ++k) {
      const uint byte = word >> (8 * k) & 255u;
      *first += byte;
      *second += byte * (uint)(left - k);
      ADD_LOCAL(counts + byte, 1u);
    }
  }
}
KERNEL($items) void count_bytes(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                GLOBAL uint4* all_parts, PARAMETERS) {
  LOCAL uint counts[256];
  LOCAL uint sums[$items / 16 * 17];
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  for (int i = ITEM; i < 256; i += $items) counts[i] = 0u;
  BARRIER;
  uint own_first = 0u, own_second = 0u, first, second;
  for (int i = ITEM; 16 * i < (int)part.bytes; i += $items) {
    const uint4 four = ((GLOBAL const uint4*)part.from)[i];
    const int left = (int)part.bytes - 16 * i;
    count_word(counts, four.x, left, &own_first, &own_second);
    count_word(counts, four.y, left - 4, &own_first, &own_second);
    count_word(counts, four.z, left - 8, &own_first, &own_second);
    count_word(counts, four.w, left - 12, &own_first, &own_second);
  }
  sums_before(sums, own_first, &first, $items);
  sums_before(sums, own_second % ADLER, &second, $items);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  for (int i = ITEM; i < BLOCK_BITS; i += $items) {
    block[i] = i < 256 ? counts[i] : i == 256 ? 1u : 0u;
  }
  if (ITEM == 0) {
    uint4 known;
    known.x = 0u;
    known.y = first % ADLER;
    known.z = second % ADLER;
    known.w = 0u;
    all_parts[THIS_PART] = known;
  }
}

// -- part: copies(int items, int near)
// What a group finds copies with: where four bytes, or six, were last seen, hashed, as positions
// and 1; what bytes take by how often they occur, in sixteenths of bits.
#define TABLE_BITS 12
#define LONG_TABLE_BITS 11
#define MAX_COPY 258u
#define MAX_DISTANCE 32768u
struct Finder {
  uint4 few[$items / 16 + 1];  // of few_before
  uint table[1 << TABLE_BITS], long_table[1 << LONG_TABLE_BITS];
  uint counts[BLOCK_BITS];
  uint sums[$items / 16 * 17];
  uint entry;  // the first position of a step that no copy covers
  ushort next[$items], gains[$items + 1];
  uchar reached[$items], prices[256];
};
FUNCTION uint highest_bit(const uint word) { return (uint)(31 - LEADING_ZEROS(word)); }
// About 16 times the binary logarithm.
FUNCTION uint logarithm(const uint value) {
  const uint top = highest_bit(value);
  return 16u * top + (value << 4 >> top & 15u);
}
FUNCTION uint word_at(GLOBAL const uint* words, const uint at) {
  return SHIFTED_WORD(words[at >> 2], words[(at >> 2) + 1u], 8u * (at & 3u));
}
FUNCTION uint same_bytes(GLOBAL const uint* words, const uint at, const uint distance,
                         const uint most) {
  uint same = 0u, differ = 0u;
  while (same < most && differ == 0u) {
    differ = word_at(words, at + same) ^ word_at(words, at + same - distance);
    same += differ == 0u ? 4u : highest_bit(differ & (0u - differ)) / 8u;
  }
  return same < most ? same : most;
}
// What a copy saves: what its bytes take, of which the first eight are looked at, less what it
// takes.
FUNCTION uint saved_by(IN_LOCAL const uchar* prices, GLOBAL const uint* words, const uint at,
                       const uint length, const uint distance) {
  const uint looked = length < 8u ? length : 8u;
  const uint low = word_at(words, at), high = word_at(words, at + 4u);
  uint sum = 0u;
  for (uint k = 0u; k < 8u; ++k) {
    const uint byte = (k < 4u ? low >> (8u * k) : high >> (8u * (k - 4u))) & 255u;
    sum += k < looked ? prices[byte] : 0u;
  }
  sum = sum * length / looked;
  const uint bits = 11u + (distance > 4u ? highest_bit(distance - 1u) - 1u : 0u) +
                    (length > 10u ? highest_bit(length - 3u) - 2u : 0u);
  const uint gain = sum > 16u * bits ? sum - 16u * bits : 0u;
  return gain < 65535u ? gain : 65535u;
}
// Of a length less 3, and of a distance less 1.
FUNCTION int length_symbol(const uint length) {
  if (length == 255u) return 285;
  if (length < 8u) return 257 + (int)length;
  const uint behind = highest_bit(length) - 2u;
  return (int)(257u + 4u * (behind + 1u) + (length >> behind & 3u));
}
FUNCTION int distance_symbol(const uint distance) {
  if (distance < 4u) return (int)distance;
  const uint behind = highest_bit(distance) - 1u;
  return (int)(2u * (behind + 1u) + (distance >> behind & 1u));
}
struct Copy {
  uint length, distance, gain;  // length 0: none
};
FUNCTION void try_copy(IN_LOCAL const struct Finder* s, GLOBAL const uint* words, const uint at,
                       const uint end, const uint distance, struct Copy* best) {
  if (distance > at || distance > MAX_DISTANCE || best->length == MAX_COPY) return;
  const uint most = end - at < MAX_COPY ? end - at : MAX_COPY;
  const uint length = same_bytes(words, at, distance, most);
  if (length < 3u || length <= best->length) return;
  const uint gain = saved_by(s->prices, words, at, length, distance);
  if (gain <= best->gain) return;
  best->length = length;
  best->distance = distance;
  best->gain = gain;
}
// The best copy for a position, and what the tables know from now on. Positions of one step are put
// there after all have looked, and the last one stays.
FUNCTION void find_copy(IN_LOCAL struct Finder* s, GLOBAL const uint* words, const uint at,
                        const uint end, struct Copy* best) {
  const int is_first = at + 4u <= end, is_long = at + 8u <= end;
  const uint low = is_first ? word_at(words, at) : 0u;
  const uint high = is_long ? word_at(words, at + 4u) & 0xffffu : 0u;
  const uint hash = low * 2654435761u, place = hash >> (32 - TABLE_BITS);
  const uint long_place = (hash ^ high * 2246822519u) * 3266489917u >> (32 - LONG_TABLE_BITS);
  const uint seen = is_first ? s->table[place] : 0u;
  const uint long_seen = is_long ? s->long_table[long_place] : 0u;
  const uint entry = s->entry;
  BARRIER;
  if (is_first) MAX_LOCAL(s->table + place, at + 1u);
  if (is_long) MAX_LOCAL(s->long_table + long_place, at + 1u);
  best->length = 0u;
  best->distance = 0u;
  best->gain = 0u;
  if (is_first && (uint)ITEM >= entry) {
    try_copy(s, words, at, end, 1u, best);
    if ($near > 1) try_copy(s, words, at, end, $near, best);
    if (seen != 0u) try_copy(s, words, at, end, at + 1u - seen, best);
    if (long_seen != seen && long_seen != 0u) {
      try_copy(s, words, at, end, at + 1u - long_seen, best);
    }
  }
}
// Which positions of a step are reached from its entry, where each goes behind its copy or its
// byte; by ways of doubled length. The next step's entry.
FUNCTION void reach_positions(IN_LOCAL struct Finder* s, const uint length) {
  const uint entry = s->entry, onward = (uint)ITEM + (length == 0u ? 1u : length);
  uint to = onward;
  s->next[ITEM] = (ushort)onward;
  s->reached[ITEM] = (uint)ITEM == entry;
  BARRIER;
  for (int by = 1; by < $items; by *= 2) {
    const int is_reached = s->reached[ITEM];
    const uint further = to < $items ? s->next[to] : to;
    BARRIER;
    if (is_reached && to < $items) s->reached[to] = 1;
    s->next[ITEM] = (ushort)further;
    to = further;
    BARRIER;
  }
  if (s->reached[ITEM] && onward >= $items) s->entry = onward - $items;
  if (ITEM == 0 && entry >= $items) s->entry = entry - $items;
}
FUNCTION uint sum_of_first(const uint4 bytes, const int count) {
  uint sum = add_bytes(bytes.x & bytes_inside(0, count), 0u);
  sum = add_bytes(bytes.y & bytes_inside(4, count), sum);
  sum = add_bytes(bytes.z & bytes_inside(8, count), sum);
  return add_bytes(bytes.w & bytes_inside(12, count), sum);
}
// sums_before of numbers up to 15 as bytes, of 256 items.
FUNCTION uint few_before(IN_LOCAL uint4* memory, const uint own, uint* all) {
  IN_LOCAL uchar* bytes = (IN_LOCAL uchar*)memory;
  bytes[ITEM] = (uchar)own;
  BARRIER;
  if (ITEM < $items / 16) bytes[$items + ITEM] = (uchar)sum_of_first(memory[ITEM], 16);
  BARRIER;
  const uint4 sums = memory[$items / 16];
  const uint before = sum_of_first(sums, ITEM / 16) + sum_of_first(memory[ITEM / 16], ITEM % 16);
  *all = sum_of_first(sums, 16);
  BARRIER;
  return before;
}
FUNCTION void begin_finder(IN_LOCAL struct Finder* s, GLOBAL const uint* block, const uint bytes) {
  const uint all = bytes == 0u ? 0u : 1u << TABLE_BITS;
  for (uint i = (uint)ITEM; i < all; i += $items) s->table[i] = 0u;
  for (uint i = (uint)ITEM; i < all / 2u; i += $items) s->long_table[i] = 0u;
  for (int i = ITEM; i < 256; i += $items) {
    const int price = (int)logarithm(bytes + 256u) - (int)logarithm(block[i] + 1u);
    s->prices[i] = (uchar)smaller(larger(price, 16), 240);
  }
  for (int i = ITEM; i < BLOCK_BITS; i += $items) s->counts[i] = i == 256 ? 1u : 0u;
  if (ITEM == 0) {
    s->entry = 0u;
    s->gains[$items] = 0;
  }
}

// -- part: find_copies(int items)
// The tokens of each part. First launched for samples of 8 KB, to find out where copies save a
// 32nd; then only those parts have tokens.
KERNEL($items) void find_copies(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                GLOBAL uint4* all_parts, GLOBAL ushort* all_tokens, PARAMETERS) {
  LOCAL struct Finder s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  GLOBAL ushort* tokens = all_tokens + (long)all_parameters.part_bytes * GROUP_X;
  const int is_sample = all_parameters.is_sample;
  const uint begin = is_sample && part.bytes > 8192u ? (part.bytes - 8192u) / 32u * 16u : 0u;
  const int pays = is_sample || block[BLOCK_BITS] * 32u > block[BLOCK_BITS + 1];
  const uint end = !pays ? 0u : is_sample && part.bytes > 8192u ? 8192u : part.bytes;
  GLOBAL const uint* words = part.from + begin / 4u;
  begin_finder(&s, block, pays ? part.bytes : 0u);
  BARRIER;
  uint count = 0u, saved = 0u, price = 0u;
  for (uint step = 0u; step < end; step += $items) {
    const uint at = step + (uint)ITEM;
    struct Copy copy;
    find_copy(&s, words, at, end, &copy);
    s.gains[ITEM] = (ushort)copy.gain;
    BARRIER;
    // A copy waits where the one behind it saves more.
    if (s.gains[ITEM + 1] > copy.gain) copy.length = 0u;
    reach_positions(&s, copy.length);
    const int is_token = s.reached[ITEM] && at < end;
    const uint byte = at < end ? word_at(words, at) & 255u : 0u;
    uint all, own = !is_token ? 0u : copy.length != 0u ? 2u : 1u;
    own = count + few_before(s.few, own, &all);
    count += all;
    price += at < end ? s.prices[byte] : 0u;
    if (is_token && copy.length != 0u) {
      saved += copy.gain;
      ADD_LOCAL(s.counts + length_symbol(copy.length - 3u), 1u);
      ADD_LOCAL(s.counts + BLOCK_DISTANCES + distance_symbol(copy.distance - 1u), 1u);
      if (!is_sample) tokens[own] = (ushort)(copy.length + 253u);
      if (!is_sample) tokens[own + 1u] = (ushort)(TOKEN_DISTANCE | (copy.distance - 1u));
    } else if (is_token) {
      ADD_LOCAL(s.counts + byte, 1u);
      if (!is_sample) tokens[own] = (ushort)byte;
    }
  }
  sums_before(s.sums, saved, &saved, $items);
  sums_before(s.sums, price, &price, $items);
  if (ITEM == 0 && is_sample) {
    block[BLOCK_BITS] = saved;
    block[BLOCK_BITS + 1] = price;
  }
  for (int i = ITEM; i < (is_sample || !pays ? 0 : BLOCK_BITS); i += $items) block[i] = s.counts[i];
  if (ITEM == 0 && !is_sample) all_parts[THIS_PART].w = count;
}

// -- part: codes(int coders = 64)
// What a group makes codes with: of literals, of distances, and of the runs in which the lengths of
// both are sent.
#define CODES_DISTANCES 288
#define CODES_RUNS 320
struct Coder {
  uint counts[340], codes[340];
  uchar lengths[340];
  // The tree of a code: symbols that occur by how often they do, those of equal numbers in order.
  uint keys[288], sorted[288], weights[288], symbols;
  ushort parents[576];
  uchar depths[576];
  uint of_length[16];  // symbols
  // A symbol, and above 5 bits what follows it.
  ushort runs[320];
  uint run_count, literals, distances;
  uint sums[$coders / 16 * 17];
};
// Lengths of codes. The tree is made by one work-item from two queues: symbols in order, and nodes,
// which come in order. Node i has the number `symbols` + i.
FUNCTION void make_tree(IN_LOCAL struct Coder* s) {
  const int n = (int)s->symbols;
  int leaf = 0, node = 0;
  uint next_leaf = s->sorted[0] >> 9, next_node = 0xffffffffu;
  for (int made = 0; made < n - 1; ++made) {
    uint sum = 0u;
    for (int both = 0; both < 2; ++both) {
      if (leaf < n && next_leaf <= next_node) {
        sum += next_leaf;
        s->parents[leaf++] = (ushort)(n + made);
        next_leaf = leaf < n ? s->sorted[leaf] >> 9 : 0xffffffffu;
      } else {
        sum += next_node;
        s->parents[n + node++] = (ushort)(n + made);
        next_node = node < made ? s->weights[node] : 0xffffffffu;
      }
    }
    s->weights[made] = sum;
    if (node == made) next_node = sum;
  }
  s->depths[2 * n - 2] = 0;
  for (int i = 2 * n - 3; i >= n; --i) s->depths[i] = (uchar)(s->depths[s->parents[i]] + 1);
}
// Numbers of symbols of each length until they are a whole code of at most `limit` bits: some grow
// longer where it is too short for them, and the longest shorter where there is room.
FUNCTION void limit_lengths(IN_LOCAL uint* of_length, const int limit) {
  uint sum = 0u;
  const uint whole = 1u << limit;
  for (int l = 1; l <= limit; ++l) sum += of_length[l] << (limit - l);
  while (sum > whole) {
    int l = limit - 1;
    while (of_length[l] == 0u) --l;
    --of_length[l];
    ++of_length[l + 1];
    sum -= 1u << (limit - l - 1);
  }
  while (sum < whole) {
    int l = limit;
    while (of_length[l] == 0u || 1u << (limit - l) > whole - sum) --l;
    --of_length[l];
    ++of_length[l - 1];
    sum += 1u << (limit - l);
  }
}
FUNCTION void sort_symbols(IN_LOCAL struct Coder* s, const int first, const int all) {
  if (ITEM == 0) s->symbols = 0u;
  if (ITEM < 16) s->of_length[ITEM] = 0u;
  for (int i = ITEM; i < all; i += $coders) {
    const uint count = s->counts[first + i];
    s->keys[i] = count != 0u ? count << 9 | (uint)i : 0xffffffffu;
    s->lengths[first + i] = 0;
  }
  BARRIER;
  for (int i = ITEM; i < all; i += $coders) {
    const uint key = s->keys[i];
    if (key != 0xffffffffu) {
      uint rank = 0u;
      for (int j = 0; j < all; ++j) rank += s->keys[j] < key ? 1u : 0u;
      s->sorted[rank] = key;
      ADD_LOCAL(&s->symbols, 1u);
    }
  }
  BARRIER;
}
FUNCTION void find_codes(IN_LOCAL struct Coder* s, const int first, const int all) {
  for (int i = ITEM; i < all; i += $coders) {
    const int length = s->lengths[first + i];
    uint code = 0u;
    for (int k = 1; k < length; ++k) code = (code + s->of_length[k]) << 1;
    for (int j = 0; j < i; ++j) code += s->lengths[first + j] == length ? 1u : 0u;
    s->codes[first + i] =
        length == 0 ? 0u : turned_bits(code) >> (32 - length) | (uint)length << 16;
  }
}

// -- part: runs
// How lengths of codes are sent: zeros and what is repeated as runs.
FUNCTION void add_run(IN_LOCAL struct Coder* s, const uint symbol, const uint behind) {
  s->runs[s->run_count++] = (ushort)(symbol | behind << 5);
  ++s->counts[CODES_RUNS + symbol];
}
FUNCTION uint length_sent(IN_LOCAL const struct Coder* s, const int i) {
  return s->lengths[i < (int)s->literals ? i : CODES_DISTANCES + i - (int)s->literals];
}
FUNCTION uint last_used(IN_LOCAL const uchar* lengths, int last, const int least) {
  while (last > least && lengths[last - 1] == 0) --last;
  return (uint)last;
}
FUNCTION void find_runs(IN_LOCAL struct Coder* s) {
  s->literals = last_used(s->lengths, 286, 257);
  s->distances = last_used(s->lengths + CODES_DISTANCES, 30, 1);
  s->run_count = 0u;
  const int all = (int)(s->literals + s->distances);
  for (int i = 0; i < all;) {
    const uint length = length_sent(s, i);
    int same = 1;
    while (i + same < all && same < 138 && length_sent(s, i + same) == length) ++same;
    if (length == 0u && same >= 3) {
      if (same > 10) add_run(s, 18u, (uint)same - 11u);
      else add_run(s, 17u, (uint)same - 3u);
    } else {
      add_run(s, length, 0u);
      same = smaller(same - 1, 6);
      if (length != 0u && same >= 3) add_run(s, 16u, (uint)same - 3u);
      else same = 0;
      ++same;
    }
    i += same;
  }
  // A code has two symbols or more.
  const uint first = s->runs[0] & 31u;
  if (s->counts[CODES_RUNS + first] == s->run_count) {
    s->counts[CODES_RUNS + (first == 0u ? 1 : 0)] = 1u;
  }
}
// The order in which the lengths of the codes of lengths are sent.
FUNCTION uint order_of_runs(const int i) {
  return i < 3        ? 16u + (uint)i
         : i == 3     ? 0u
         : i % 2 == 0 ? 8u + (uint)(i - 4) / 2u
                      : 7u - (uint)(i - 5) / 2u;
}
struct Head {
  GLOBAL uint* to;
  ulong held;
  uint fill, bits;
};
FUNCTION void put_head(struct Head* head, const uint value, const uint count) {
  head->held |= (ulong)value << head->fill;
  head->fill += count;
  head->bits += count;
  if (head->fill >= 32u) {
    *head->to++ = (uint)head->held;
    head->held >>= 32;
    head->fill -= 32u;
  }
}
// The head of a block, as words; the bits of it.
FUNCTION uint write_head(IN_LOCAL const struct Coder* s, const int is_last, GLOBAL uint* to) {
  int sent = 19;
  while (sent > 4 && s->lengths[CODES_RUNS + order_of_runs(sent - 1)] == 0) --sent;
  struct Head head;
  head.to = to;
  head.held = 0ul;
  head.fill = 0u;
  head.bits = 0u;
  put_head(&head, (uint)is_last | 2u << 1, 3);  // 2: with codes of its own
  put_head(&head, s->literals - 257u, 5);
  put_head(&head, s->distances - 1u, 5);
  put_head(&head, (uint)sent - 4u, 4);
  for (int i = 0; i < sent; ++i) put_head(&head, s->lengths[CODES_RUNS + order_of_runs(i)], 3);
  for (int i = 0; i < (int)s->run_count; ++i) {
    const uint run = s->runs[i], code = s->codes[CODES_RUNS + (run & 31u)];
    put_head(&head, code & 0xffffu, code >> 16);
    put_head(&head, run >> 5, bits_behind_run(run & 31u));
  }
  *head.to = (uint)head.held;
  return head.bits;
}

// -- part: make_blocks(int coders)
// The codes of a part, the head of its block, and what it takes.
KERNEL($coders) void make_blocks(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                 GLOBAL uint4* all_parts, PARAMETERS) {
  LOCAL struct Coder s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  for (int i = ITEM; i < 340; i += $coders) {
    // A code has two symbols or more; of distances where there are none, too, so that any reader
    // takes it for one.
    const int is_distance = i == CODES_DISTANCES || i == CODES_DISTANCES + 1;
    const uint least = is_distance || (i == 0 && part.bytes == 0u) ? 1u : 0u;
    const uint count = i < BLOCK_BITS ? block[i] : 0u;
    s.counts[i] = count < least ? least : count;
  }
  BARRIER;
  for (int which = 0; which < 3; ++which) {
    const int first = which == 0 ? 0 : which == 1 ? CODES_DISTANCES : CODES_RUNS;
    const int all = which == 0 ? 286 : which == 1 ? 30 : 19, limit = which < 2 ? 15 : 7;
    sort_symbols(&s, first, all);
    if (ITEM == 0) make_tree(&s);
    BARRIER;
    for (int i = ITEM; i < (int)s.symbols; i += $coders) {
      ADD_LOCAL(s.of_length + smaller(s.depths[s.parents[i]] + 1, limit), 1u);
    }
    BARRIER;
    if (ITEM == 0) limit_lengths(s.of_length, limit);
    BARRIER;
    for (int i = ITEM; i < (int)s.symbols; i += $coders) {
      int longer = (int)s.of_length[limit], length = limit;
      while (i >= longer) longer += (int)s.of_length[--length];
      s.lengths[first + (int)(s.sorted[i] & 511u)] = (uchar)length;
    }
    BARRIER;
    find_codes(&s, first, all);
    if (ITEM == 0 && which == 1) find_runs(&s);
    BARRIER;
  }
  uint bits = ITEM == 0 ? write_head(&s, part.is_last, block + BLOCK_HEAD) : 0u, all_bits;
  if (ITEM == 0) block[BLOCK_BITS + 1] = bits;
  for (int i = ITEM; i < BLOCK_BITS; i += $coders) {
    const uint behind = i < CODES_DISTANCES ? bits_behind_literal(i)
                                            : bits_behind_distance(i - CODES_DISTANCES);
    bits += block[i] * ((s.codes[i] >> 16) + behind);
    block[i] = s.codes[i];
  }
  sums_before(s.sums, bits, &all_bits, $coders);
  if (ITEM == 0) {
    const uint deflated = part.is_last ? (all_bits + 7u) / 8u : (all_bits + 10u) / 8u + 4u;
    block[BLOCK_BITS] = all_bits;
    all_parts[THIS_PART].x = part.bytes == 0u             ? PART_STORED
                           : part.bytes + 5u <= deflated ? (part.bytes + 5u) | PART_STORED
                                                         : deflated;
  }
}

// -- part: strings(int items, bool copies)
// Four strings of bits of each work-item, of at most 60 bits each, one behind the other.
struct Writer {
  uint codes[BLOCK_BITS];
  uint sums[$items / 16 * 17];
  uint stage[8 * $items + 8];
};
// Whole words that are written, and bits in the first word of the stage.
struct Output {
  GLOBAL uint* to;
  uint words, fill;
};
FUNCTION void put_string(IN_LOCAL uint* stage, const ulong string, const uint count,
                         const uint at) {
  IN_LOCAL uint* to = stage + (at >> 5);
  const uint shift = at & 31u;
  const ulong shifted = string << shift;
  if (count != 0u) OR_LOCAL(to, (uint)shifted);
  if (shift + count > 32u) OR_LOCAL(to + 1, (uint)(shifted >> 32));
  if (shift + count > 64u) OR_LOCAL(to + 2, (uint)(string >> (64u - shift)));
}
FUNCTION void put_strings(IN_LOCAL struct Writer* s, const ulong* strings, const uint* counts,
                          struct Output* out) {
  uint all, at = out->fill;
  at += sums_before(s->sums, counts[0] + counts[1] + counts[2] + counts[3], &all, $items);
  for (int k = 0; k < 4; ++k) {
    put_string(s->stage, strings[k], counts[k], at);
    at += counts[k];
  }
  BARRIER;
  const int whole = (int)((out->fill + all) >> 5);
  const uint rest = s->stage[whole];
  for (int i = ITEM; i < whole; i += $items) out->to[out->words + (uint)i] = s->stage[i];
  BARRIER;
  for (int i = ITEM; i <= whole; i += $items) s->stage[i] = i == 0 ? rest : 0u;
  BARRIER;
  out->words += (uint)whole;
  out->fill = (out->fill + all) & 31u;
}
FUNCTION void string_of_word(IN_LOCAL const uint* codes, const uint word, const int left,
                             ulong* string, uint* count) {
  *string = 0ul;
  *count = 0u;
  for (int k = 0; k < 4; ++k) {
    if (k < left) {
      const uint code = codes[word >> (8 * k) & 255u];
      *string |= (ulong)(code & 0xffffu) << *count;
      *count += code >> 16;
    }
  }
}
#if $copies
// Tokens are read as the bytes that they are made of: two of them are a string.
FUNCTION void string_of_tokens(IN_LOCAL const uint* codes, const uint two, const int left,
                               ulong* string, uint* count) {
  *string = 0ul;
  *count = 0u;
  for (int k = 0; k < 2; ++k) {
    if (2 * k < left) {
      const uint token = two >> (16 * k) & 0xffffu, distance = token & 0x7fffu;
      const int is_distance = (token & TOKEN_DISTANCE) != 0u;
      const int symbol = is_distance    ? BLOCK_DISTANCES + distance_symbol(distance)
                         : token < 256u ? (int)token
                                        : length_symbol(token - 256u);
      const uint behind = is_distance ? bits_behind_distance(symbol - BLOCK_DISTANCES)
                                      : bits_behind_literal(symbol);
      const uint code = codes[symbol], length = code >> 16;
      const uint value = (is_distance ? distance : token & 255u) & ((1u << behind) - 1u);
      *string |= (ulong)(code & 0xffffu | value << length) << *count;
      *count += length + behind;
    }
  }
}
#define STRING_OF_TOKENS string_of_tokens
#else
#define STRING_OF_TOKENS string_of_word
#endif
// Behind the last one there is the end of the block.
FUNCTION void strings_of(IN_LOCAL const uint* codes, GLOBAL const uint* from, const int at,
                         const int bytes, const int are_tokens, ulong* strings, uint* counts) {
  const int left = bytes - at;
  const uint4 four = ((GLOBAL const uint4*)from)[left > 0 ? at / 16 : 0];
  const uint words[4] = {four.x, four.y, four.z, four.w};
  for (int k = 0; k < 4; ++k) {
    if (are_tokens) {
      STRING_OF_TOKENS(codes, words[k], left - 4 * k, strings + k, counts + k);
    } else {
      string_of_word(codes, words[k], left - 4 * k, strings + k, counts + k);
    }
  }
  if (left >= 0 && left < 16) {
    strings[3] |= (ulong)(codes[256] & 0xffffu) << counts[3];
    counts[3] += codes[256] >> 16;
  }
}

// -- part: write_parts(int items, bool copies)
// The bits of each part into its slot; of one that is stored, nothing.
KERNEL($items) void write_parts(GLOBAL const uint* all_filtered, GLOBAL const uint* blocks,
                                GLOBAL const uint4* all_parts, GLOBAL const ushort* all_tokens,
                                GLOBAL uint* slots, PARAMETERS) {
  LOCAL struct Writer s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL const uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  const int is_stored = (all_parts[THIS_PART].x & PART_STORED) != 0u;
  const uint head = is_stored ? 0u : block[BLOCK_BITS + 1];
  struct Output out;
  out.to = slots + all_parameters.slot_step / 4 * THIS_PART;
  out.words = head / 32u;
  out.fill = head % 32u;
  for (int i = ITEM; i < BLOCK_BITS; i += $items) s.codes[i] = block[i];
  for (int i = ITEM; i < (int)out.words; i += $items) out.to[i] = block[BLOCK_HEAD + i];
  for (int i = ITEM; i < 8 * $items + 8; i += $items) {
    s.stage[i] = i == 0 && out.fill != 0u ? block[BLOCK_HEAD + out.words] : 0u;
  }
  BARRIER;
  const int tokens = $copies ? (int)all_parts[THIS_PART].w : 0;
  const int bytes = is_stored ? -1 : tokens != 0 ? 2 * tokens : (int)part.bytes;
  GLOBAL const ushort* own_tokens = all_tokens + (long)all_parameters.part_bytes * GROUP_X;
  GLOBAL const uint* from = tokens != 0 ? (GLOBAL const uint*)own_tokens : part.from;
  for (int begin = 0; begin <= bytes; begin += 16 * $items) {
    ulong strings[4];
    uint counts[4];
    strings_of(s.codes, from, begin + 16 * ITEM, bytes, tokens != 0, strings, counts);
    put_strings(&s, strings, counts, &out);
  }
  if (ITEM == 0 && !is_stored) {
    // An empty stored block: three zeros, zeros up to a byte, no bytes, and the same inverted.
    const uint behind = (out.fill + 10u) / 8u * 8u, upper = behind & 31u;
    GLOBAL uint* to = out.to + out.words;
    const ulong end = part.is_last ? 0ul : (ulong)0xffff0000u << upper;
    const ulong low = (ulong)s.stage[0] | (behind < 32u ? end : end << 32);
    to[0] = (uint)low;
    to[1] = (uint)(low >> 32);
    if (behind >= 32u) to[2] = (uint)(end >> 32);
  }
}
