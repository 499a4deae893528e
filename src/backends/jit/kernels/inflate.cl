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
#define $items 128    // of a group
#define $piece 512    // bits
#define $lead 256     // bits
#define $copies 2048  // that a step may list; of one piece there are fewer

// Alone: what this file needs of the program's parameters.
struct Parameters {
  int chunks;  // of a picture
  int step;    // bytes from chunk to chunk, unpacked; a multiple of 16
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

// -- part: tables
// The codes of a block. An entry says of a code how many bits it has, how many more follow, what it
// is, and from the 16th bit on the literal, or the least length or distance.
#define LITERAL_BITS 10
#define DISTANCE_BITS 8
#define IS_LITERAL 0u
#define IS_COPY 1u
#define IS_END 2u
#define NO_CODE 3u
#define BITS_OF(entry) ((entry) & 31u)
#define MORE_OF(entry) ((entry) >> 5 & 15u)
#define KIND_OF(entry) ((entry) >> 9 & 3u)
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
  uint long_counts[$items / 32], longs[$items];
  uint sums[$items];
};

FUNCTION uint literal_entry(const uint symbol, const uint bits) {
  if (symbol < 256u) return bits | symbol << 16;
  if (symbol == 256u) return bits | IS_END << 9;
  if (symbol > 285u) return bits | NO_CODE << 9;
  const uint k = symbol - 257u;
  if (k < 8u) return bits | IS_COPY << 9 | (k + 3u) << 16;
  if (k == 28u) return bits | IS_COPY << 9 | 258u << 16;
  const uint more = (k - 4u) >> 2;
  return bits | more << 5 | IS_COPY << 9 | (((4u + (k & 3u)) << more) + 3u) << 16;
}
FUNCTION uint distance_entry(const uint symbol, const uint bits) {
  if (symbol > 29u) return bits | NO_CODE << 9;
  if (symbol < 4u) return bits | IS_COPY << 9 | (symbol + 1u) << 16;
  const uint more = (symbol - 2u) >> 1;
  return bits | more << 5 | IS_COPY << 9 | (((2u + (symbol & 1u)) << more) + 1u) << 16;
}
// The entry of the code at the beginning of `word`, of at least `from` bits.
FUNCTION uint find_entry(IN_LOCAL const struct Inflater* s, const int which, const uint word,
                         const int from) {
  const uint code = REVERSED_BITS(word) >> 17;
  uint found = 1u | NO_CODE << 9;
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

// -- part: heads
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

// -- part: walk
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
// From walk->at to `upto`. writes: literals from out[place] on, and copies from place `listed` of
// their list on.
FUNCTION void walk_codes(IN_LOCAL struct Inflater* s, const struct Source* source,
                         struct Walk* walk, const uint upto, const int writes, GLOBAL uchar* out,
                         const uint place, const uint listed) {
  struct Bits bits;
  begin_bits(&bits, source, walk->at);
  uint at = walk->at, bytes = 0u, copies = 0u;
  int stop = GOES_ON;
  while (at < upto && stop == GOES_ON) {
    uint word = next_bits(&bits), entry = literal_at(s, word), length = BITS_OF(entry);
    const uint kind = KIND_OF(entry);
    if (kind == IS_LITERAL) {
      if (writes) out[place + bytes] = (uchar)VALUE_OF(entry);
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
        if (writes) {
          if (distance > place + bytes) walk->is_far = 1;
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
// -- part: copies
// The copies of a step. One of up to 32 bytes is made by a work-item, which reads four bytes at
// once, as each answer takes hundreds of cycles; longer ones by the sub-group.
FUNCTION void copy_short(GLOBAL uchar* to, const uint count, const uint distance) {
  GLOBAL const uchar* from = to - distance;
  if (distance < 8u) {
    ulong bytes = 0ul;
    UNROLLED
    for (uint k = 0u; k < 7u; ++k) bytes |= k < distance ? (ulong)from[k] << (8u * k) : 0ul;
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
FUNCTION void make_copies(IN_LOCAL struct Inflater* s, GLOBAL uchar* out, const uint count) {
  GLOBAL_BARRIER;
  for (uint from = 0u; from < count; from += $items) {
    const uint which = from + (uint)ITEM;
    int is_open = which < count ? 1 : 0;
    const uint place = is_open ? s->copy_to[which] : 0u, what = is_open ? s->copy_what[which] : 0u;
    const uint length = what >> 16, distance = (what & 0xffffu) + 1u;
    const uint needs = distance < length ? place : place - distance + length;
    uint lowest = least_of_items(s->sums, is_open ? place : 0xffffffffu, $items);
    while (lowest != 0xffffffffu) {
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
      lowest = least_of_items(s->sums, is_open ? place : 0xffffffffu, $items);
    }
    BARRIER;
  }
}

// -- part: steps
// Pieces, until each begins where the one before it ends. Returns where one's own begins: at first
// where a walk comes to that begins $lead bits before the piece, but not before `first`.
FUNCTION uint agree(IN_LOCAL struct Inflater* s, const struct Source* source, const uint first,
                    struct Walk* walk) {
  const uint begin = first + (uint)ITEM * $piece, upto = begin + $piece;
  uint start = begin - first < $lead ? first : begin - $lead;
  int changed = 1, changes = 1;
  while (changes) {
    walk->at = changed ? start : walk->at;
    while (changed) {
      const int leads = start < begin ? 1 : 0;
      walk_codes(s, source, walk, leads ? begin : upto, 0, 0, 0u, 0u);
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
// A step of a block, from bit *at and byte *made on, which are both led on. Returns 1 where the
// block ends, 2 or more where it is wrong (2 and a fault).
FUNCTION uint inflate_step(IN_LOCAL struct Inflater* s, const struct Source* source, uint* at,
                           uint* made, const uint room, GLOBAL uchar* out) {
  struct Walk walk;
  walk.is_far = 0;
  const uint item = (uint)ITEM, start = agree(s, source, *at, &walk);
  const uint stopper =
      least_of_items(s->sums, walk.stop != GOES_ON ? item : $items, $items);
  uint copies, bytes;
  const uint listed = sum_before_item(s->sums, item <= stopper ? walk.copies : 0u, $items, &copies);
  // The first whose copies have no room in the list: the next step begins with it.
  const uint cut = least_of_items(
      s->sums, item <= stopper && listed + walk.copies > $copies ? item : $items, $items);
  const int is_in = item <= stopper && item < cut ? 1 : 0;
  if (item == cut) s->ends[0] = listed;
  const uint before = sum_before_item(s->sums, is_in ? walk.bytes : 0u, $items, &bytes);
  if (cut < $items) copies = s->ends[0];
  const int fits = bytes <= room - *made ? 1 : 0;
  const int stop = is_in ? walk.stop : GOES_ON;
  const uint end = walk.at;
  if (is_in && fits) {
    walk.at = start;
    walk_codes(s, source, &walk, end, 1, out, *made + before, listed);
  }
  const int is_wrong = any_of_items(s->sums, stop == AT_FAULT || walk.is_far ? 1 : 0);
  const int is_done = any_of_items(s->sums, stop == AT_END ? 1 : 0);
  const int is_last = item == stopper || item + 1u == cut || item == $items - 1 ? 1 : 0;
  *at = least_of_items(s->sums, is_in && is_last ? end : 0xffffffffu, $items);
  make_copies(s, out, is_wrong || !fits ? 0u : copies);
  *made += fits ? bytes : 0u;
  return !fits ? 2u + FAULT_LENGTH : is_wrong ? 2u + FAULT_CODES : is_done ? 1u : 0u;
}

// -- part: adler
// The Adler-32 of bytes, by all of a group. from: begins on 4 bytes.
#define ADLER_MODULUS 65521u
FUNCTION uint adler_of(IN_LOCAL uint* shared, GLOBAL const uchar* from, const uint count) {
  // sum: of bytes. turns: of the words' sums, each as often as there are words of this work-item
  // before it. rest: of the bytes, each as often as its place in the word.
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

// -- part: inflate
// A chunk a group. status: of a picture, 0 or why it is left to the host's decoder.
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
KERNEL($items) void inflate_chunks(GLOBAL const uint* data, GLOBAL uchar* unpacked,
                                   GLOBAL uint* status, PARAMETERS) {
  LOCAL struct Inflater inflater;
  IN_LOCAL struct Inflater* s = &inflater;
  GLOBAL const uint* chunk = data + (long)GROUP_X * CHUNK_HEAD;
  GLOBAL uchar* out = unpacked + (long)GROUP_X * all_parameters.step;
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
      const uint result = inflate_step(s, &source, &at, &made, room, out);
      if (result >= 2u) fault = result - 2u;
      steps = result == 0u ? 1 : 0;
      GLOBAL_BARRIER;
    }
    goes_on = !is_last && fault == 0u ? 1 : 0;
    GLOBAL_BARRIER;
  }
  const int is_whole = is_packed && fault == 0u ? 1 : 0;
  const uint wrong = fault_at_end(s->sums, &source, at, is_whole ? made : 0u, room, out);
  if (is_whole) fault = wrong;
  if (ITEM == 0 && fault != 0u) MAX_GLOBAL(&status[GROUP_X / all_parameters.chunks], fault);
}
