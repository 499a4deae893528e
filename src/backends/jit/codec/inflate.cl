// zlib's streams (RFC 1950 and 1951), a group each.
//
// A block's codes have no marks of where they begin, but who begins anywhere soon falls into step
// with them. So a step takes $items pieces of $piece bits, a work-item each. Each begins $lead bits
// before its piece; where its beginning is not where the piece before it ends, it goes through the
// piece again. Sums then say where its bytes go. Literals are written at once, copies are listed
// and made in rounds: those first whose source lies before all that is still missing.
//
// Streams are as files have them, so any bit may be wrong: nothing is read beyond a stream's words
// or written beyond its room, and each turn of a loop takes a bit, makes a byte or ends.
//   $items   of a group
//   $piece   bits
//   $lead    bits
//   $copies  that a step may list; of one piece there are fewer

// Alone: what this file needs of the program's parameters.
struct Parameters {
  int chunks;  // of a picture
  int step;    // bytes from chunk to chunk, unpacked; a multiple of 16
  int streams, pass;
};

// -- part: chunks
// `data` begins with four words a chunk: the word in which its bytes begin; how many there are; the
// byte of the word at which they begin, with what is special about it; its bytes when unpacked.
#define CHUNK_WORD 0
#define CHUNK_BYTES 1
#define CHUNK_FLAGS 2
#define CHUNK_ROOM 3
#define CHUNK_HEAD 4
#define IS_STORED 4u
#define IS_LEFT 8u
// Why a picture is left to the host's decoder.
#define FAULT_LEFT 1u    // it is not as its form says
#define FAULT_HEADER 2u  // of a stream or of a block
#define FAULT_CODES 3u   // no such code, or a copy of what is not there
#define FAULT_LENGTH 4u  // too short or too long, packed or unpacked
#define FAULT_SUM 5u     // not the Adler-32 that the stream ends with
#define FAULT_FILTER 6u  // PNG has no such filter
#define FAULT_INEXACT 7u  // a single cannot hold one of its integers

// The bits of a chunk, from the first bit of its first word on, and a place in them. Behind the
// last word there are zeros.
struct Source {
  GLOBAL const uint* words;
  uint count, end;  // words, bits
};
struct Bits {
  uint low, high, ahead;  // the next three words
  uint next;              // the word after them
  uint shift;             // bits of the first that are behind
};
FUNCTION uint word_of_source(const struct Source* source, const uint i) {
  return i < source->count ? source->words[i] : 0u;
}
FUNCTION void begin_bits(struct Bits* bits, const struct Source* source, const uint at) {
  const uint first = at >> 5;
  bits->low = word_of_source(source, first);
  bits->high = word_of_source(source, first + 1u);
  bits->ahead = word_of_source(source, first + 2u);
  bits->next = first + 3u;
  bits->shift = at & 31u;
}
FUNCTION uint next_bits(const struct Bits* bits) {
  return SHIFTED_WORD(bits->low, bits->high, bits->shift);
}
// by: less than 32.
FUNCTION void skip_bits(struct Bits* bits, const struct Source* source, const uint by) {
  bits->shift += by;
  if (bits->shift >= 32u) {
    bits->shift -= 32u;
    bits->low = bits->high;
    bits->high = bits->ahead;
    bits->ahead = word_of_source(source, bits->next);
    ++bits->next;
  }
}
FUNCTION struct Source source_of(GLOBAL const uint* data, GLOBAL const uint* chunk) {
  const uint first = chunk[CHUNK_FLAGS] & 3u;
  struct Source source;
  source.words = data + chunk[CHUNK_WORD];
  source.count = (first + chunk[CHUNK_BYTES] + 3u) / 4u;
  source.end = 8u * (first + chunk[CHUNK_BYTES]);
  return source;
}
// A byte that begins at a bit.
FUNCTION uint byte_at(const struct Source* source, const uint at) {
  return word_of_source(source, at >> 5) >> (at & 31u) & 255u;
}

// -- part: tables(int items = 128, int copies)
// The codes of a block. An entry says of a code how many bits it has, how many more follow, what it
// is, and from the 16th bit on the literal, or the least length or distance.
#define LITERAL_BITS 10
#define DISTANCE_BITS 8
#define IS_LITERAL 0u  // of the bits 9 and 10
#define IS_COPY (1u << 9)
#define IS_END (2u << 9)
#define NO_CODE (3u << 9)
#define BITS_OF(entry) ((entry) & 31u)
#define MORE_OF(entry) ((entry) >> 5 & 15u)
#define KIND_OF(entry) ((entry) & 3u << 9)
#define VALUE_OF(entry) ((entry) >> 16)
// A code: the limits of each length, aligned to the left in 15 bits, and what is to be added for
// the place of a symbol.
struct Code {
  uint limits[16];
  int offsets[16];
};
// What a group has in local memory.
struct Inflater {
  // Entries by the next bits, of literals and lengths, then of distances; 0: the code is longer.
  uint quick[(1 << LITERAL_BITS) + (1 << DISTANCE_BITS)];
  struct Code codes[2];                // of literals and lengths, of distances
  uint entries[2 * 288];               // of each code's symbols, the shorter ones first
  uchar lengths[320];                  // of all codes, those of distances behind the others
  uchar first_codes[128];              // of the code of lengths: its bits, and above them a symbol
  uint counts[$items], totals[16];
  uint place, is_last, kind, literal_count, distance_count;  // what a block's head says
  uint ends[$items + 1];               // of pieces
  uint copy_to[$copies], copy_what[$copies];  // what: the length above 16 bits of distance less 1
  uint listed;                         // copies, where they are not counted before
  uint long_counts[$items / 32], longs[$items];
  uint sums[$items];
};

FUNCTION uint literal_entry(const uint symbol, const uint bits) {
  if (symbol < 256u) return bits | symbol << 16;
  if (symbol == 256u) return bits | IS_END;
  if (symbol > 285u) return bits | NO_CODE;
  const uint k = symbol - 257u;
  if (k < 8u) return bits | IS_COPY | (k + 3u) << 16;
  if (k == 28u) return bits | IS_COPY | 258u << 16;
  const uint more = (k - 4u) >> 2;
  return bits | more << 5 | IS_COPY | (((4u + (k & 3u)) << more) + 3u) << 16;
}
FUNCTION uint distance_entry(const uint symbol, const uint bits) {
  if (symbol > 29u) return bits | NO_CODE;
  if (symbol < 4u) return bits | IS_COPY | (symbol + 1u) << 16;
  const uint more = (symbol - 2u) >> 1;
  return bits | more << 5 | IS_COPY | (((2u + (symbol & 1u)) << more) + 1u) << 16;
}
// The entry of the code at the beginning of `word`, of at least `from` bits.
FUNCTION uint find_entry(IN_LOCAL const struct Inflater* s, const int which, const uint word,
                         const int from) {
  const uint code = REVERSED_BITS(word) >> 17;
  uint found = 1u | NO_CODE;
#pragma unroll 1
  for (int length = from; length < 16; ++length) {
    if (code < s->codes[which].limits[length]) {
      const int place = s->codes[which].offsets[length] + (int)(code >> (15 - length));
      found = s->entries[288 * which + place];
      length = 16;
    }
  }
  return found;
}
FUNCTION uint literal_at(IN_LOCAL const struct Inflater* s, const uint word) {
  const uint entry = s->quick[word & ((1u << LITERAL_BITS) - 1u)];
  return entry != 0u ? entry : find_entry(s, 0, word, LITERAL_BITS + 1);
}
FUNCTION uint distance_at(IN_LOCAL const struct Inflater* s, const uint word) {
  const uint entry = s->quick[(1 << LITERAL_BITS) + (word & ((1u << DISTANCE_BITS) - 1u))];
  return entry != 0u ? entry : find_entry(s, 1, word, DISTANCE_BITS + 1);
}

// A code from the lengths of `count` symbols, by all of a group: a work-item each length and part
// of the symbols. No code is complete with one length less, but for one of a single bit and for
// none.
FUNCTION void make_code(IN_LOCAL struct Inflater* s, const int which,
                        IN_LOCAL const uchar* lengths, const int count) {
  const int length = ITEM % 16, part = ITEM / 16, parts = $items / 16;
  const int each = (count + parts - 1) / parts;
  const int begin = smaller(part * each, count), end = smaller(begin + each, count);
  uint found = 0u;
  for (int i = begin; i < end; ++i) found += lengths[i] == length ? 1u : 0u;
  s->counts[ITEM] = length == 0 ? 0u : found;
  BARRIER;
  if (ITEM < 16) {
    uint before = 0u;
    UNROLLED
    for (int k = 0; k < parts; ++k) {
      const uint here = s->counts[16 * k + ITEM];
      s->counts[16 * k + ITEM] = before;
      before += here;
    }
    s->totals[ITEM] = before;
  }
  BARRIER;
  uint shorter = 0u, limit = 0u, symbols = 0u, used = 0u;
#pragma unroll 1
  for (int l = 1; l < 16; ++l) {
    const uint total = s->totals[l];
    if (l < length) shorter += total;
    if (l <= length) limit += total << (15 - l);
    symbols += total;
    used += total << (15 - l);
  }
  if (part == 0) {
    const uint smallest = (limit - (s->totals[length] << (15 - length))) >> (15 - length);
    s->codes[which].limits[length] = limit;
    s->codes[which].offsets[length] = (int)shorter - (int)smallest;
  }
  const int is_code = used == 32768u || symbols == 0u || (symbols == 1u && used == 16384u);
  if (ITEM == 0 && !is_code) s->kind = 3u;
  uint next = shorter + s->counts[ITEM];
  for (int i = begin; i < end; ++i) {
    if (length == 0 || lengths[i] != length) continue;
    s->entries[288 * which + (int)next] = which == 0 ? literal_entry((uint)i, (uint)length)
                                                     : distance_entry((uint)i, (uint)length);
    ++next;
  }
  BARRIER;
}

// -- part: heads(int items)
// The head of a block.
//
// The code of the lengths of codes, from lengths of three bits each in the order of the file. By
// one work-item. Returns whether it is one.
FUNCTION int make_first_code(IN_LOCAL struct Inflater* s, const ulong packed) {
  // Of a symbol its place in the file: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15.
#define LENGTH_OF(k)                                                                     \
  ((uint)(packed >> (3 * ((k) >= 16  ? (k) - 16                                          \
                          : (k) == 0 ? 3                                                 \
                          : (k) >= 8 ? 4 + 2 * ((k) - 8)                                 \
                                     : 5 + 2 * (7 - (k))))) & 7u)
  ulong counts = 0ul, codes = 0ul;  // of each length, eight bits each
#pragma unroll 1
  for (int k = 0; k < 19; ++k) counts += 1ul << (8u * LENGTH_OF(k));
  uint code = 0u, used = 0u;
#pragma unroll 1
  for (int l = 1; l < 8; ++l) {
    const uint count = (uint)(counts >> (8 * l)) & 255u;
    code <<= 1;
    codes |= (ulong)(code & 255u) << (8 * l);
    code += count;
    used += count << (7 - l);
  }
  if (used != 128u) return 0;
#pragma unroll 1
  for (int k = 0; k < 19; ++k) {
    const uint length = LENGTH_OF(k);
    if (length != 0u) {
      const uint own = (uint)(codes >> (8u * length)) & 255u;
      codes += 1ul << (8u * length);
      for (uint i = REVERSED_BITS(own) >> (32u - length); i < 128u; i += 1u << length) {
        s->first_codes[i] = (uchar)(length | (uint)k << 3);
      }
    }
  }
  return 1;
}
// The lengths of a dynamic block's codes. By one work-item. `word`: the block's first bits. Returns
// whether there are such; `at` is led on behind them.
FUNCTION int read_lengths(IN_LOCAL struct Inflater* s, const struct Source* source, uint* at) {
  struct Bits bits;
  begin_bits(&bits, source, *at);
  const uint word = next_bits(&bits);
  const int literals = (int)(word >> 3 & 31u) + 257, distances = (int)(word >> 8 & 31u) + 1;
  const int firsts = (int)(word >> 13 & 15u) + 4;
  skip_bits(&bits, source, 17u);
  ulong packed = 0ul;
  for (int i = 0; i < firsts; ++i) {
    packed |= (ulong)(next_bits(&bits) & 7u) << (3 * i);
    skip_bits(&bits, source, 3u);
  }
  *at += 17u + 3u * (uint)firsts;
  s->literal_count = (uint)literals;
  s->distance_count = (uint)distances;
  int good = literals <= 286 && distances <= 30 && make_first_code(s, packed) ? 1 : 0;
  int i = 0;
  uint before = 0u;
  while (good && i < literals + distances) {
    const uint next = next_bits(&bits), code = s->first_codes[next & 127u];
    const uint length = code & 7u, symbol = code >> 3, behind = next >> length;
    uint more = 0u, value = symbol;
    int times = 1;
    if (symbol == 16u) {
      more = 2u, times = 3 + (int)(behind & 3u), value = before;
      good = i > 0 ? 1 : 0;
    } else if (symbol > 16u) {
      more = symbol == 17u ? 3u : 7u, value = 0u;
      times = symbol == 17u ? 3 + (int)(behind & 7u) : 11 + (int)(behind & 127u);
    }
    skip_bits(&bits, source, length + more);
    *at += length + more;
    if (i + times > literals + distances) good = 0;
    for (int k = 0; good && k < times; ++k) s->lengths[i + k] = (uchar)value;
    before = value;
    i += times;
  }
  return good && *at <= source->end && s->lengths[256] != 0;
}
// The head of the block at `at`, by all of a group. It leaves in s->place where the head ends, in
// s->is_last whether the block is the last one, and in s->kind 0 where it is stored, 1 or 2 where
// the tables have its codes, or 3 where it is none.
FUNCTION void read_head(IN_LOCAL struct Inflater* s, const struct Source* source, const uint at) {
  if (ITEM == 0) {
    struct Bits bits;
    begin_bits(&bits, source, at);
    const uint word = next_bits(&bits);
    uint place = at + 3u, kind = word >> 1 & 3u;
    s->literal_count = 288u;
    s->distance_count = 32u;
    if (kind == 2u) {
      place = at;
      if (!read_lengths(s, source, &place)) kind = 3u;
    }
    s->is_last = word & 1u;
    s->kind = at + 3u > source->end ? 3u : kind;
    s->place = place;
  }
  BARRIER;
  const int is_fixed = s->kind == 1u ? 1 : 0;
  for (int i = ITEM; is_fixed && i < 320; i += $items) {
    s->lengths[i] = (uchar)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5);
  }
  const int has_codes = is_fixed || s->kind == 2u ? 1 : 0;
  const int literals = has_codes ? (int)s->literal_count : 0;
  const int distances = has_codes ? (int)s->distance_count : 0;
  BARRIER;
#pragma unroll 1
  for (int which = 0; which < 2; ++which) {
    make_code(s, which, s->lengths + which * literals, which == 0 ? literals : distances);
  }
  const int fills = s->kind == 1u || s->kind == 2u ? 1 : 0;
  const int all = fills ? (1 << LITERAL_BITS) + (1 << DISTANCE_BITS) : 0;
#pragma unroll 1
  for (int i = ITEM; i < all; i += $items) {
    const int which = i < 1 << LITERAL_BITS ? 0 : 1;
    const uint entry = find_entry(s, which, (uint)(i - (which << LITERAL_BITS)), 1);
    const uint longest = which == 0 ? LITERAL_BITS : DISTANCE_BITS;
    s->quick[i] = BITS_OF(entry) > longest ? 0u : entry;
  }
  BARRIER;
}

// -- part: walk(int copies)
// A walk through codes: where it is, what it has made so far, and why it stopped.
#define GOES_ON 0
#define AT_END 1  // of the block
#define AT_FAULT 2
struct Walk {
  uint at;
  uint bytes, copies;
  int stop;
  int is_far;  // a copy of what lies before the stream
};
// What a walk leaves behind: nothing; literals, and copies in their list; or for each byte where it
// comes from: its value, with the highest bit set, or the place of the byte that it repeats.
#define TO_COUNT 0
#define TO_BYTES 1
#define TO_ORIGINS 2
// The origins of a copy's bytes; those of a long one later, by more work-items than one.
FUNCTION void write_origins(IN_LOCAL struct Inflater* s, GLOBAL uint* origins, const uint place,
                            const uint count, const uint distance) {
  const uint slot = count > 24u ? ADD_LOCAL(&s->listed, 1u) : $copies;
  if (slot < $copies) {
    s->copy_to[slot] = place;
    s->copy_what[slot] = count << 16 | (distance - 1u);
    return;
  }
  uint from = place - distance;
  for (uint i = 0u; i < count; ++i) {
    origins[place + i] = from;
    from = from + 1u == place ? place - distance : from + 1u;
  }
}
// From walk->at to `upto`. The bytes begin at `place`, the copies at `listed` of their list.
FUNCTION void walk_codes(IN_LOCAL struct Inflater* s, const struct Source* source,
                         struct Walk* walk, const uint upto, const int mode, GLOBAL uchar* out,
                         GLOBAL uint* origins, const uint place, const uint listed) {
  struct Bits bits;
  begin_bits(&bits, source, walk->at);
  uint at = walk->at, bytes = 0u, copies = 0u;
  int stop = GOES_ON;
  while (at < upto && stop == GOES_ON) {
    uint word = next_bits(&bits), entry = literal_at(s, word), length = BITS_OF(entry);
    const uint kind = KIND_OF(entry);
    if (kind == IS_LITERAL) {
      if (mode == TO_BYTES) out[place + bytes] = (uchar)VALUE_OF(entry);
      if (mode == TO_ORIGINS) origins[place + bytes] = VALUE_OF(entry) | 0x80000000u;
      ++bytes;
    } else if (kind == IS_COPY) {
      uint more = MORE_OF(entry);
      const uint count = VALUE_OF(entry) + (word >> length & ((1u << more) - 1u));
      skip_bits(&bits, source, length + more);
      at += length + more;
      word = next_bits(&bits);
      entry = distance_at(s, word);
      length = BITS_OF(entry);
      more = MORE_OF(entry);
      const uint distance = VALUE_OF(entry) + (word >> length & ((1u << more) - 1u));
      length += more;
      if (KIND_OF(entry) == NO_CODE) {
        stop = AT_FAULT;
      } else {
        const int is_far = distance > place + bytes ? 1 : 0;
        if (mode != TO_COUNT && is_far) walk->is_far = 1;
        if (mode == TO_ORIGINS && !is_far) {
          write_origins(s, origins, place + bytes, count, distance);
        }
        if (mode == TO_BYTES) {
          s->copy_to[listed + copies] = place + bytes;
          s->copy_what[listed + copies] = count << 16 | (distance - 1u);
        }
        bytes += count;
        ++copies;
      }
    } else {
      stop = kind == IS_END ? AT_END : AT_FAULT;
    }
    skip_bits(&bits, source, length);
    at += length;
  }
  walk->at = at;
  walk->bytes = bytes;
  walk->copies = copies;
  walk->stop = at > source->end ? AT_FAULT : stop;
}
// -- part: copies(int copies, int items)
// The copies of a step. One of up to 32 bytes is made by a work-item, which reads four bytes at
// once, as each answer takes hundreds of cycles; longer ones by the sub-group.
FUNCTION void copy_short(GLOBAL uchar* to, const uint count, const uint distance) {
  GLOBAL const uchar* from = to - distance;
  if (distance < 8u) {
    // Those behind it may be another copy's, which is made meanwhile.
    const uint read = distance < count ? distance : count;
    ulong bytes = 0ul;
    UNROLLED
    for (uint k = 0u; k < 7u; ++k) bytes |= k < read ? (ulong)from[k] << (8u * k) : 0ul;
    for (uint i = 0u, k = 0u; i < count; ++i) {
      to[i] = (uchar)(bytes >> (8u * k));
      k = k + 1u == distance ? 0u : k + 1u;
    }
    return;
  }
  for (uint i = 0u; i < count; i += 4u) {
    uint four = 0u;
    UNROLLED
    for (uint k = 0u; k < 4u; ++k) four |= i + k < count ? (uint)from[i + k] << (8u * k) : 0u;
    UNROLLED
    for (uint k = 0u; k < 4u; ++k) {
      if (i + k < count) to[i + k] = (uchar)(four >> (8u * k));
    }
  }
}
FUNCTION void copy_longs(IN_LOCAL const struct Inflater* s, GLOBAL uchar* out) {
  const int sub_group = ITEM / 32;
  const int longs = (int)s->long_counts[sub_group];
  for (int k = 0; k < longs; ++k) {
    const uint which = s->longs[32 * sub_group + k];
    const uint place = s->copy_to[which], count = s->copy_what[which] >> 16;
    const uint distance = (s->copy_what[which] & 0xffffu) + 1u;
    GLOBAL uchar* to = out + place;
    for (uint i = (uint)ITEM % 32u; i < count; i += 32u) {
      to[i] = (to - distance)[i < distance ? i : i % distance];
    }
  }
}
// Of the origins of long copies, a sub-group each.
FUNCTION void make_origins(IN_LOCAL const struct Inflater* s, GLOBAL uint* origins) {
  const uint count = s->listed < $copies ? s->listed : $copies;
  for (uint k = (uint)ITEM / 32u; k < count; k += $items / 32) {
    const uint place = s->copy_to[k], length = s->copy_what[k] >> 16;
    const uint distance = (s->copy_what[k] & 0xffffu) + 1u;
    for (uint i = (uint)ITEM % 32u; i < length; i += 32u) {
      origins[place + i] = place - distance + (i < distance ? i : i % distance);
    }
  }
}
FUNCTION void make_copies(IN_LOCAL struct Inflater* s, GLOBAL uchar* out, const uint count) {
  GLOBAL_BARRIER;
  for (uint from = 0u; from < count; from += $items) {
    const uint which = from + (uint)ITEM;
    int is_open = which < count ? 1 : 0;
    const uint place = is_open ? s->copy_to[which] : 0u, what = is_open ? s->copy_what[which] : 0u;
    const uint length = what >> 16, distance = (what & 0xffffu) + 1u;
    const uint needs = distance < length ? place : place - distance + length;
    int goes_on = 1;
    while (goes_on) {
      const uint lowest = least_of_items(s->sums, is_open ? place : 0xffffffffu, $items);
      goes_on = lowest != 0xffffffffu ? 1 : 0;
      if (ITEM % 32 == 0) s->long_counts[ITEM / 32] = 0u;
      BARRIER_OF_32;
      const int is_ready = is_open && needs <= lowest ? 1 : 0;
      if (is_ready && length <= 32u) copy_short(out + place, length, distance);
      if (is_ready && length > 32u) {
        const uint slot = ADD_LOCAL(&s->long_counts[ITEM / 32], 1u);
        s->longs[32 * (ITEM / 32) + (int)slot] = which;
      }
      BARRIER_OF_32;
      copy_longs(s, out);
      is_open = is_ready ? 0 : is_open;
      GLOBAL_BARRIER;
    }
  }
}

// -- part: steps(int lead, int piece, int items, int copies)
// Pieces, until each begins where the one before it ends. Returns where one's own begins: at first
// where a walk comes to that begins $lead bits before the piece, but not before `first`.
FUNCTION uint agree(IN_LOCAL struct Inflater* s, const struct Source* source, const uint first,
                    const uint piece, struct Walk* walk) {
  const uint begin = first + (uint)ITEM * piece, upto = begin + piece;
  uint start = begin - first < $lead ? first : begin - $lead;
  int changed = 1, changes = 1;
  while (changes) {
    walk->at = changed ? start : walk->at;
    while (changed) {
      const int leads = start < begin ? 1 : 0;
      walk_codes(s, source, walk, leads ? begin : upto, TO_COUNT, 0, 0, 0u, 0u);
      if (leads && walk->stop != GOES_ON && walk->at < begin) ++walk->at;
      changed = leads;
      if (leads) start = walk->at;
    }
    s->ends[ITEM + 1] = walk->stop != GOES_ON ? 0xffffffffu : walk->at;
    BARRIER;
    const uint wanted = ITEM == 0 ? first : s->ends[ITEM];
    changed = wanted != 0xffffffffu && wanted != start ? 1 : 0;
    start = changed ? wanted : start;
    changes = any_of_items(s->sums, changed);
  }
  return start;
}
// A step of a block, from bit *at and byte *made on, which are both led on, in pieces of so many
// bits; $piece to bytes. Returns 1 where the block ends, 2 and a fault where it is wrong.
FUNCTION uint inflate_step(IN_LOCAL struct Inflater* s, const struct Source* source, uint* at,
                           uint* made, const uint room, const uint piece, const int mode,
                           GLOBAL uchar* out, GLOBAL uint* origins) {
  struct Walk walk;
  walk.is_far = 0;
  const uint item = (uint)ITEM, start = agree(s, source, *at, piece, &walk);
  const uint stopper =
      least_of_items(s->sums, walk.stop != GOES_ON ? item : $items, $items);
  uint copies = 0u, bytes, listed = 0u, cut = $items;
  if (mode == TO_BYTES) {
    listed = sum_before_item(s->sums, item <= stopper ? walk.copies : 0u, $items, &copies);
    // The first whose copies have no room in the list: the next step begins with it.
    cut = least_of_items(
        s->sums, item <= stopper && listed + walk.copies > $copies ? item : $items, $items);
    if (item == cut) s->ends[0] = listed;
  }
  if (ITEM == 0) s->listed = 0u;
  const int is_in = item <= stopper && item < cut ? 1 : 0;
  const uint before = sum_before_item(s->sums, is_in ? walk.bytes : 0u, $items, &bytes);
  if (cut < $items) copies = s->ends[0];
  const int fits = bytes <= room - *made ? 1 : 0;
  const int stop = is_in ? walk.stop : GOES_ON;
  const uint end = walk.at;
  if (mode != TO_COUNT && is_in && fits) {
    walk.at = start;
    walk_codes(s, source, &walk, end, mode, out, origins, *made + before, listed);
  }
  const int is_wrong = any_of_items(s->sums, stop == AT_FAULT || walk.is_far ? 1 : 0);
  const int is_done = any_of_items(s->sums, stop == AT_END ? 1 : 0);
  const int is_last = item == stopper || item + 1u == cut || item == $items - 1 ? 1 : 0;
  *at = least_of_items(s->sums, is_in && is_last ? end : 0xffffffffu, $items);
  if (mode == TO_BYTES) make_copies(s, out, is_wrong || !fits ? 0u : copies);
  if (mode == TO_ORIGINS) make_origins(s, origins);
  *made += fits ? bytes : 0u;
  return !fits ? 2u + FAULT_LENGTH : is_wrong ? 2u + FAULT_CODES : is_done ? 1u : 0u;
}

// -- part: adler(int items)
// The Adler-32 of bytes, by all of a group. from: begins on 4 bytes.
#define ADLER_MODULUS 65521u
FUNCTION uint adler_of(IN_LOCAL uint* shared, GLOBAL const uchar* from, const uint count) {
  // sum: of the bytes. The second sum weighs each byte by its index: turns adds each word's bytes
  // times the words before it of this work-item, rest each byte times its index in the word.
  uint sum = 0u, rest = 0u;
  ulong turns = 0ul;
  GLOBAL const uint* words = (GLOBAL const uint*)from;
  for (uint i = (uint)ITEM, turn = 0u; 4u * i < count; i += $items, ++turn) {
    const uint left = count - 4u * i;
    const uint word = words[i] & (left < 4u ? (1u << (8u * left)) - 1u : 0xffffffffu);
    const uint here = add_bytes(word, 0u);
    sum += here;
    turns += (ulong)here * turn;
    rest += (word >> 8 & 255u) + 2u * (word >> 16 & 255u) + 3u * (word >> 24);
  }
  const ulong places = 4ul * $items * turns + 4ul * (ulong)ITEM * sum + rest;
  uint all, all_places;
  sum_before_item(shared, sum % ADLER_MODULUS, $items, &all);
  sum_before_item(shared, (uint)(places % ADLER_MODULUS), $items, &all_places);
  const ulong low = (1ul + all) % ADLER_MODULUS;
  const ulong high = ((ulong)count + (ulong)count * all + (ulong)ADLER_MODULUS * $items -
                      all_places) % ADLER_MODULUS;
  return (uint)(high << 16 | low);
}

// -- part: chunk(int items, int piece)
// A chunk by a group.
FUNCTION int is_zlib_header(const struct Source* source, const uint at) {
  const uint first = byte_at(source, at), second = byte_at(source, at + 8u);
  return (first & 15u) == 8u && first >> 4 <= 7u && (second & 32u) == 0u &&
         (first * 256u + second) % 31u == 0u;
}
// The bytes of a stored block at *at, which is led on behind it. Returns 0 or a fault.
FUNCTION uint copy_stored(const struct Source* source, uint* at, uint* made, const uint room,
                          GLOBAL uchar* out) {
  const uint head = (*at + 7u) & ~7u;
  const uint count = byte_at(source, head) | byte_at(source, head + 8u) << 8;
  const uint inverse = byte_at(source, head + 16u) | byte_at(source, head + 24u) << 8;
  if ((count ^ inverse) != 0xffffu) return FAULT_HEADER;
  if (head + 32u + 8u * count > source->end || count > room - *made) return FAULT_LENGTH;
  for (uint i = (uint)ITEM; i < count; i += $items) {
    out[*made + i] = (uchar)byte_at(source, head + 32u + 8u * i);
  }
  *at = head + 32u + 8u * count;
  *made += count;
  return 0u;
}
// What is right or wrong once the last block is through: the length, and the Adler-32 behind it.
FUNCTION uint fault_at_end(IN_LOCAL uint* shared, const struct Source* source, const uint at,
                           const uint made, const uint room, GLOBAL const uchar* out) {
  const uint end = (at + 7u) & ~7u;
  const uint sum = adler_of(shared, out, made);
  const uint wanted = byte_at(source, end) << 24 | byte_at(source, end + 8u) << 16 |
                      byte_at(source, end + 16u) << 8 | byte_at(source, end + 24u);
  if (made != room || end + 32u != source->end) return FAULT_LENGTH;
  return sum == wanted ? 0u : FAULT_SUM;
}
// Bytes that are not packed. Returns 0 or a fault.
FUNCTION uint copy_chunk(const struct Source* source, const uint at, const uint room,
                         GLOBAL uchar* out) {
  if (source->end - at != 8u * room) return FAULT_LENGTH;
  for (uint i = (uint)ITEM; i < room; i += $items) out[i] = (uchar)byte_at(source, at + 8u * i);
  return 0u;
}
// Returns 0 or why the picture is left to the host's decoder.
FUNCTION uint inflate_chunk(IN_LOCAL struct Inflater* s, GLOBAL const uint* data,
                            GLOBAL const uint* chunk, GLOBAL uchar* out) {
  const struct Source source = source_of(data, chunk);
  const uint room = chunk[CHUNK_ROOM], flags = chunk[CHUNK_FLAGS];
  const int is_packed = (flags & (IS_STORED | IS_LEFT)) == 0u ? 1 : 0;
  uint at = 8u * (flags & 3u), made = 0u, fault = flags & IS_LEFT ? FAULT_LEFT : 0u;
  if (flags & IS_STORED) fault = copy_chunk(&source, at, room, out);
  if (is_packed && !is_zlib_header(&source, at)) fault = FAULT_HEADER;
  at += 16u;
  int goes_on = is_packed && fault == 0u ? 1 : 0;
  while (goes_on) {
    read_head(s, &source, at);
    const uint kind = s->kind, is_last = s->is_last;
    at = s->place;
    if (kind == 3u) fault = FAULT_HEADER;
    if (kind == 0u) fault = copy_stored(&source, &at, &made, room, out);
    int steps = kind == 1u || kind == 2u ? 1 : 0;
    while (steps) {
      const uint result = inflate_step(s, &source, &at, &made, room, $piece, TO_BYTES, out, 0);
      if (result >= 2u) fault = result - 2u;
      steps = result == 0u ? 1 : 0;
      GLOBAL_BARRIER;
    }
    goes_on = !is_last && fault == 0u ? 1 : 0;
    GLOBAL_BARRIER;
  }
  const int is_whole = is_packed && fault == 0u ? 1 : 0;
  const uint wrong = fault_at_end(s->sums, &source, at, is_whole ? made : 0u, room, out);
  return is_whole ? wrong : fault;
}

// -- part: streams
// Long streams, one a chunk, whose blocks are found first: a dynamic block's head is hardly ever
// seen where there is none, and blocks that do not follow the one before them are left out. Then
// all blocks are gone through at once, and bytes follow their origins. A stream that has other
// blocks is inflated as a chunk is.
//
// `streams`: of each stream its first group of the search and its first candidate; at the end how
// many there are of both. `found`: pairs of a stream and a bit. `state`: of each stream 0 where its
// blocks are all known, then, for each, a fault that its bytes' origins have.
#define STREAM_GROUP 0
#define STREAM_CANDIDATE 1
#define STREAM_HEAD 2
#define FOUND_ROOM(streams, count) (64u * streams[STREAM_HEAD * (count) + STREAM_CANDIDATE])
// Counters: of `found`, of blocks, of turns taken to count and to write; whether there are bytes
// left whose origin is no value, before each pass. Behind them each stream's candidates.
#define COUNT_FOUND 0
#define COUNT_BLOCKS 1
#define TURN_TO_COUNT 2
#define TURN_TO_WRITE 3
#define COUNT_OPEN 4
#define COUNT_CANDIDATES 16
// A block: its stream, where it begins and ends, its bytes and where they begin in the stream,
// whether it is the last, why it is none.
#define BLOCK_STREAM 0
#define BLOCK_BEGIN 1
#define BLOCK_END 2
#define BLOCK_BYTES 3
#define BLOCK_PLACE 4
#define BLOCK_LAST 5
#define BLOCK_FAULT 6
#define BLOCK_HEAD 8
#define NO_PLACE 0xffffffffu
FUNCTION int is_known(GLOBAL const uint* state, const int stream, const int streams) {
  return state[stream] == 0u && state[streams + stream] == 0u;
}
FUNCTION int take_turn(GLOBAL uint* counter, IN_LOCAL uint* shared) {
  BARRIER;
  if (ITEM == 0) *shared = ADD_GLOBAL(counter, 1u);
  BARRIER;
  return (int)*shared;
}

// -- part: find
// The bits at which a dynamic block may begin: by its kind, the numbers of its codes and the sum of
// the lengths' own code, which one in a thousand has. A word a work-item.
KERNEL(256) void find_heads(GLOBAL const uint* data, GLOBAL const uint* streams,
                            GLOBAL uint* found, GLOBAL uint* counters, PARAMETERS) {
  int low = 0, high = all_parameters.streams;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (streams[STREAM_HEAD * middle + STREAM_GROUP] <= (uint)GROUP_X) low = middle;
    else high = middle;
  }
  const struct Source source = source_of(data, data + (long)low * CHUNK_HEAD);
  const uint most = FOUND_ROOM(streams, all_parameters.streams);
  const uint i = ((uint)GROUP_X - streams[STREAM_HEAD * low + STREAM_GROUP]) * 256u + (uint)ITEM;
  const ulong a = word_of_source(&source, i) | (ulong)word_of_source(&source, i + 1u) << 32;
  const ulong b = word_of_source(&source, i + 2u) | (ulong)word_of_source(&source, i + 3u) << 32;
  // Where four bits are ones there are more codes than there may be.
  const ulong two = a & a >> 1, four = two & two >> 2;
  uint maybe = (uint)(~(a >> 1) & a >> 2 & ~(four >> 4) & ~(four >> 9));
  while (maybe != 0u) {
    const uint lowest = maybe & (0u - maybe);
    const int shift = 31 - LEADING_ZEROS(lowest);
    maybe ^= lowest;
    const uint firsts = ((uint)(a >> (shift + 13)) & 15u) + 4u;
    ulong lengths = (shift + 17 < 64 ? a >> (shift + 17) : 0ul) | b << (47 - shift);
    lengths &= (1ul << 3u * firsts) - 1ul;
    uint sum = 0u;
    for (int k = 0; k < 19; ++k) {
      const uint length = (uint)(lengths >> (3 * k)) & 7u;
      sum += length != 0u ? 128u >> length : 0u;
    }
    if (sum == 128u) {
      const uint at = ADD_GLOBAL(&counters[COUNT_FOUND], 1u);
      if (at < most) {
        found[2u * at] = (uint)low;
        found[2u * at + 1u] = 32u * i + (uint)shift;
      }
    }
  }
}

// -- part: check
// Which of them are whole heads: with complete codes and an end of the block.
//
// What is to be known of a code's lengths.
struct Kraft {
  uint literals, distances;  // how much of a code they take, of 2^15
  uint literal_count, distance_count;
  int has_end;
};
FUNCTION void add_lengths(struct Kraft* all, const int from, const int times, const uint length,
                          const int literals) {
  const int first = smaller(times, larger(literals - from, 0));
  all->literals += (uint)first * (32768u >> length);
  all->literal_count += (uint)first;
  all->distances += (uint)(times - first) * (32768u >> length);
  all->distance_count += (uint)(times - first);
  if (from <= 256 && from + times > 256) all->has_end = 1;
}
// The code of lengths as numbers: symbols in the order of their codes, five bits each, and how many
// there are of each length, eight bits each.
struct Packed {
  ulong first, second, counts;  // 12 symbols, the others
};
FUNCTION struct Packed packed_code(const ulong lengths) {
  struct Packed code;
  code.first = code.second = code.counts = 0ul;
  int n = 0;
  for (uint l = 1u; l < 8u; ++l) {
    for (int k = 0; k < 19; ++k) {
      const int place = k >= 16 ? k - 16 : k == 0 ? 3 : k >= 8 ? 4 + 2 * (k - 8) : 5 + 2 * (7 - k);
      if (((uint)(lengths >> (3 * place)) & 7u) != l) continue;
      if (n < 12) code.first |= (ulong)k << (5 * n);
      else code.second |= (ulong)k << (5 * (n - 12));
      ++n;
      code.counts += 1ul << (8u * l);
    }
  }
  return code;
}
// The symbol at the beginning of `word`, and its bits; 0 bits: none.
FUNCTION int packed_symbol(const struct Packed* all, uint word, uint* bits) {
  uint code = 0u, first = 0u, index = 0u;
  *bits = 0u;
  for (uint l = 1u; l < 8u; ++l) {
    code |= word & 1u;
    word >>= 1;
    const uint count = (uint)(all->counts >> (8u * l)) & 255u;
    if (code - first < count) {
      const uint k = index + code - first;
      *bits = l;
      return (int)((k < 12u ? all->first >> (5u * k) : all->second >> (5u * (k - 12u))) & 31ul);
    }
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  return 0;
}
FUNCTION int is_whole_head(const struct Source* source, const uint at) {
  struct Bits bits;
  begin_bits(&bits, source, at);
  const uint word = next_bits(&bits);
  const int literals = (int)(word >> 3 & 31u) + 257, all = literals + (int)(word >> 8 & 31u) + 1;
  const int firsts = (int)(word >> 13 & 15u) + 4;
  skip_bits(&bits, source, 17u);
  ulong lengths = 0ul;
  for (int i = 0; i < firsts; ++i) {
    lengths |= (ulong)(next_bits(&bits) & 7u) << (3 * i);
    skip_bits(&bits, source, 3u);
  }
  const struct Packed code = packed_code(lengths);
  struct Kraft kraft = {0u, 0u, 0u, 0u, 0};
  uint before = 0u;
  int i = 0, good = 1;
  while (good && i < all) {
    const uint next = next_bits(&bits);
    uint length, more = 0u;
    const int symbol = packed_symbol(&code, next, &length);
    const uint behind = next >> length;
    int times = 1;
    uint value = (uint)symbol;
    if (symbol == 16) more = 2u, times = 3 + (int)(behind & 3u), value = before;
    if (symbol == 17) more = 3u, times = 3 + (int)(behind & 7u), value = 0u;
    if (symbol == 18) more = 7u, times = 11 + (int)(behind & 127u), value = 0u;
    good = length != 0u && i + times <= all && (symbol != 16 || i > 0) ? 1 : 0;
    skip_bits(&bits, source, length + more);
    if (good && value != 0u) add_lengths(&kraft, i, times, value, literals);
    before = value;
    i += times;
    if (kraft.literals > 32768u || kraft.distances > 32768u) good = 0;
  }
  return good && kraft.has_end && (kraft.literals == 32768u || kraft.literal_count == 1u) &&
         (kraft.distances == 32768u || kraft.distance_count <= 1u);
}
KERNEL(128) void check_heads(GLOBAL const uint* data, GLOBAL const uint* streams,
                             GLOBAL const uint* found, GLOBAL uint* candidates,
                             GLOBAL uint* counters, PARAMETERS) {
  const uint most = FOUND_ROOM(streams, all_parameters.streams);
  const uint all = counters[COUNT_FOUND] < most ? counters[COUNT_FOUND] : most;
  for (uint i = (uint)(GROUP_X * 128 + ITEM); i < all; i += (uint)GROUPS_X * 128u) {
    const uint stream = found[2u * i], at = found[2u * i + 1u];
    const struct Source source = source_of(data, data + (long)stream * CHUNK_HEAD);
    if (!is_whole_head(&source, at)) continue;
    const uint first = streams[STREAM_HEAD * stream + STREAM_CANDIDATE];
    const uint room = streams[STREAM_HEAD * (stream + 1u) + STREAM_CANDIDATE] - first;
    const uint slot = ADD_GLOBAL(&counters[COUNT_CANDIDATES + stream], 1u);
    if (slot < room) candidates[first + slot] = at;
  }
}

// -- part: order
// Candidates as blocks, in their order, those of a stream behind those of the one before it. Groups
// of a stream.
FUNCTION uint candidates_of(GLOBAL const uint* streams, GLOBAL const uint* counters,
                            const int stream) {
  const uint room = streams[STREAM_HEAD * (stream + 1) + STREAM_CANDIDATE] -
                    streams[STREAM_HEAD * stream + STREAM_CANDIDATE];
  const uint count = counters[COUNT_CANDIDATES + stream];
  return count < room ? count : room;
}
KERNEL(256) void order_blocks(GLOBAL const uint* streams, GLOBAL const uint* candidates,
                              GLOBAL uint* blocks, GLOBAL uint* counters, GLOBAL uint* firsts,
                              PARAMETERS) {
  LOCAL uint shared[256];
  const int stream = (int)GROUP_Y;
  uint part = 0u, before;
  for (int i = ITEM; i < stream; i += 256) part += candidates_of(streams, counters, i);
  sum_before_item(shared, part, 256, &before);
  const uint count = candidates_of(streams, counters, stream);
  GLOBAL const uint* own = candidates + streams[STREAM_HEAD * stream + STREAM_CANDIDATE];
  if (ITEM == 0 && GROUP_X == 0) {
    firsts[stream] = before;
    if (stream + 1 == all_parameters.streams) {
      firsts[stream + 1] = before + count;
      counters[COUNT_BLOCKS] = before + count;
    }
  }
  for (uint i = (uint)(GROUP_X * 256 + ITEM); i < count; i += (uint)GROUPS_X * 256u) {
    uint rank = before;
    for (uint k = 0u; k < count; ++k) rank += own[k] < own[i] ? 1u : 0u;
    GLOBAL uint* block = blocks + (long)rank * BLOCK_HEAD;
    block[BLOCK_STREAM] = (uint)stream;
    block[BLOCK_BEGIN] = own[i];
    block[BLOCK_PLACE] = NO_PLACE;
  }
}

// -- part: blocks(int items, int piece)
// Each block by a group: how long it is; and once it is known where its bytes begin, their origins.
//
// Bits of a piece, so that a block of the length takes few steps.
FUNCTION uint piece_of_block(const uint begin, const uint end) {
  const uint each = end > begin ? (end - begin + $items - 1) / $items : 0u;
  return each < $piece ? $piece : each > 8192u ? 8192u : each;
}
KERNEL($items) void count_blocks(GLOBAL const uint* data, GLOBAL uint* blocks,
                                 GLOBAL uint* counters, PARAMETERS) {
  LOCAL struct Inflater inflater;
  IN_LOCAL struct Inflater* s = &inflater;
  const int all = (int)counters[COUNT_BLOCKS];
  int turn = take_turn(&counters[TURN_TO_COUNT], s->sums);
  while (turn < all) {
    GLOBAL uint* block = blocks + (long)turn * BLOCK_HEAD;
    GLOBAL const uint* chunk = data + (long)block[BLOCK_STREAM] * CHUNK_HEAD;
    const struct Source source = source_of(data, chunk);
    const int has_next =
        turn + 1 < all && block[BLOCK_HEAD + BLOCK_STREAM] == block[BLOCK_STREAM] ? 1 : 0;
    read_head(s, &source, block[BLOCK_BEGIN]);
    uint at = s->place, made = 0u, fault = s->kind == 2u ? 0u : FAULT_HEADER;
    const uint piece =
        piece_of_block(at, has_next ? block[BLOCK_HEAD + BLOCK_BEGIN] : source.end);
    int steps = fault == 0u ? 1 : 0;
    while (steps) {
      const uint result =
          inflate_step(s, &source, &at, &made, chunk[CHUNK_ROOM], piece, TO_COUNT, 0, 0);
      if (result >= 2u) fault = result - 2u;
      steps = result == 0u ? 1 : 0;
      BARRIER;
    }
    if (ITEM == 0) {
      block[BLOCK_END] = at;
      block[BLOCK_BYTES] = made;
      block[BLOCK_LAST] = s->is_last;
      block[BLOCK_FAULT] = fault;
    }
    turn = take_turn(&counters[TURN_TO_COUNT], s->sums);
  }
}
KERNEL($items) void write_blocks(GLOBAL const uint* data, GLOBAL const uint* blocks,
                                 GLOBAL uint* counters, GLOBAL uint* state, GLOBAL uint* origins,
                                 PARAMETERS) {
  LOCAL struct Inflater inflater;
  IN_LOCAL struct Inflater* s = &inflater;
  const int all = (int)counters[COUNT_BLOCKS];
  int turn = take_turn(&counters[TURN_TO_WRITE], s->sums);
  while (turn < all) {
    GLOBAL const uint* block = blocks + (long)turn * BLOCK_HEAD;
    const uint stream = block[BLOCK_STREAM];
    GLOBAL const uint* chunk = data + (long)stream * CHUNK_HEAD;
    const struct Source source = source_of(data, chunk);
    int is_wanted = block[BLOCK_PLACE] != NO_PLACE && state[stream] == 0u ? 1 : 0;
    uint fault = 0u;
    while (is_wanted) {
      read_head(s, &source, block[BLOCK_BEGIN]);
      uint at = s->place, made = block[BLOCK_PLACE];
      const uint piece = piece_of_block(at, block[BLOCK_END]);
      int steps = 1;
      while (steps) {
        const uint result =
            inflate_step(s, &source, &at, &made, chunk[CHUNK_ROOM], piece, TO_ORIGINS, 0,
                         origins + (long)stream * all_parameters.step);
        if (result >= 2u) fault = result - 2u;
        steps = result == 0u ? 1 : 0;
        BARRIER;
      }
      is_wanted = 0;
      BARRIER;
    }
    // Others still ask for the stream's state whether to begin.
    if (ITEM == 0 && fault != 0u) state[all_parameters.streams + stream] = fault;
    turn = take_turn(&counters[TURN_TO_WRITE], s->sums);
  }
}

// -- part: chain
// Which of a stream's blocks follow each other, from its first to its last one. A stream a
// work-item.
KERNEL(64) void chain_blocks(GLOBAL const uint* data, GLOBAL uint* blocks,
                             GLOBAL const uint* firsts, GLOBAL uint* state, PARAMETERS) {
  const int stream = GROUP_X * 64 + ITEM;
  if (stream >= all_parameters.streams) return;
  GLOBAL const uint* chunk = data + (long)stream * CHUNK_HEAD;
  const struct Source source = source_of(data, chunk);
  const uint flags = chunk[CHUNK_FLAGS], room = chunk[CHUNK_ROOM];
  uint at = 8u * (flags & 3u), place = 0u;
  const int is_zlib = is_zlib_header(&source, at);
  at += 16u;
  int is_whole = 0, goes_on = is_zlib && (flags & (IS_STORED | IS_LEFT)) == 0u ? 1 : 0;
  for (uint k = firsts[stream]; goes_on && k < firsts[stream + 1]; ++k) {
    GLOBAL uint* block = blocks + (long)k * BLOCK_HEAD;
    if (block[BLOCK_BEGIN] >= at) {
      goes_on = block[BLOCK_BEGIN] == at && block[BLOCK_FAULT] == 0u &&
                block[BLOCK_BYTES] <= room - place;
      if (goes_on) {
        block[BLOCK_PLACE] = place;
        place += block[BLOCK_BYTES];
        at = block[BLOCK_END];
        is_whole = block[BLOCK_LAST] != 0u ? 1 : 0;
        goes_on = !is_whole;
      }
    }
  }
  const uint end = (at + 7u) & ~7u;
  state[stream] = is_whole && place == room && end + 32u == source.end ? 0u : 1u;
}

// -- part: origins
// Bytes follow their origins, which lie before them: some at a time, as long as there are any whose
// origin is no value.
#define HOPS 16
KERNEL(256) void follow_origins(GLOBAL const uint* data, GLOBAL const uint* state,
                                GLOBAL uint* counters, GLOBAL uint* origins, PARAMETERS) {
  const int stream = (int)GROUP_Y;
  if (all_parameters.pass > 0 && counters[COUNT_OPEN + all_parameters.pass] == 0u) return;
  if (!is_known(state, stream, all_parameters.streams)) return;
  const uint count = data[(long)stream * CHUNK_HEAD + CHUNK_ROOM];
  GLOBAL uint* own = origins + (long)stream * all_parameters.step;
  int is_open = 0;
  for (uint i = (uint)(GROUP_X * 256 + ITEM); i < count; i += (uint)GROUPS_X * 256u) {
    uint from = own[i];
    if (from >> 31 != 0u) continue;
    for (int k = 0; k < HOPS && from >> 31 == 0u; ++k) from = own[from];
    own[i] = from;
    if (from >> 31 == 0u) is_open = 1;
  }
  if (is_open) counters[COUNT_OPEN + all_parameters.pass + 1] = 1u;
}
KERNEL(256) void values_of(GLOBAL const uint* data, GLOBAL const uint* state,
                           GLOBAL const uint* origins, GLOBAL uchar* unpacked, PARAMETERS) {
  const int stream = (int)GROUP_Y;
  if (!is_known(state, stream, all_parameters.streams)) return;
  const uint count = data[(long)stream * CHUNK_HEAD + CHUNK_ROOM];
  GLOBAL const uint* own = origins + (long)stream * all_parameters.step;
  GLOBAL uint* to = (GLOBAL uint*)(unpacked + (long)stream * all_parameters.step);
  for (uint i = (uint)(GROUP_X * 256 + ITEM); 4u * i < count; i += (uint)GROUPS_X * 256u) {
    uint word = 0u;
    for (uint k = 0u; k < 4u; ++k) {
      uint from = 4u * i + k < count ? own[4u * i + k] : 0x80000000u;
      while (from >> 31 == 0u) from = own[from];
      word |= (from & 255u) << (8u * k);
    }
    to[i] = word;
  }
}

// -- part: sums(int items)
// The Adler-32 of parts of a stream, a group each; then that of the whole.
#define ADLER_PART 65536u
KERNEL($items) void add_parts(GLOBAL const uint* data, GLOBAL const uint* state,
                              GLOBAL const uchar* unpacked, GLOBAL uint* parts, PARAMETERS) {
  LOCAL uint shared[$items];
  const int stream = (int)GROUP_Y;
  const uint count = data[(long)stream * CHUNK_HEAD + CHUNK_ROOM];
  const uint from = (uint)GROUP_X * ADLER_PART;
  const uint part = from < count ? (count - from < ADLER_PART ? count - from : ADLER_PART) : 0u;
  const uint sum = adler_of(shared, unpacked + (long)stream * all_parameters.step + from, part);
  if (ITEM == 0) parts[stream * GROUPS_X + GROUP_X] = sum;
}
KERNEL(64) void compare_sums(GLOBAL const uint* data, GLOBAL const uint* state,
                             GLOBAL const uint* parts, GLOBAL uint* status, PARAMETERS) {
  const int stream = GROUP_X * 64 + ITEM;
  if (stream >= all_parameters.streams) return;
  if (!is_known(state, stream, all_parameters.streams)) return;
  const struct Source source = source_of(data, data + (long)stream * CHUNK_HEAD);
  const uint count = data[(long)stream * CHUNK_HEAD + CHUNK_ROOM];
  const uint all = (count + ADLER_PART - 1u) / ADLER_PART;
  const uint room = ((uint)all_parameters.step + ADLER_PART - 1u) / ADLER_PART;
  uint low = 1u, high = 0u;
  for (uint k = 0u; k < all; ++k) {
    const uint part = parts[(uint)stream * room + k];
    const uint bytes = count - k * ADLER_PART < ADLER_PART ? count - k * ADLER_PART : ADLER_PART;
    // What was before counts once for each byte of the part.
    high = (high + (part >> 16) + (bytes % ADLER_MODULUS) * (ulong)(low + ADLER_MODULUS - 1u) %
                                      ADLER_MODULUS) % ADLER_MODULUS;
    low = (low + (part & 0xffffu) + ADLER_MODULUS - 1u) % ADLER_MODULUS;
  }
  const uint at = source.end - 32u;
  const uint wanted = byte_at(&source, at) << 24 | byte_at(&source, at + 8u) << 16 |
                      byte_at(&source, at + 16u) << 8 | byte_at(&source, at + 24u);
  if ((high << 16 | low) != wanted) {
    MAX_GLOBAL(&status[stream / all_parameters.chunks], FAULT_SUM);
  }
}

// -- part: inflate(int items)
// A chunk a group, but for streams whose blocks were found. status: of a picture, 0 or why it is
// left to the host's decoder.
KERNEL($items) void inflate_chunks(GLOBAL const uint* data, GLOBAL uchar* unpacked,
                                   GLOBAL uint* status, GLOBAL const uint* state, PARAMETERS) {
  LOCAL struct Inflater inflater;
  if (all_parameters.streams > 0 && is_known(state, GROUP_X, all_parameters.streams)) return;
  GLOBAL const uint* chunk = data + (long)GROUP_X * CHUNK_HEAD;
  const uint fault = inflate_chunk(&inflater, data, chunk,
                                   unpacked + (long)GROUP_X * all_parameters.step);
  if (ITEM == 0 && fault != 0u) MAX_GLOBAL(&status[GROUP_X / all_parameters.chunks], fault);
}
