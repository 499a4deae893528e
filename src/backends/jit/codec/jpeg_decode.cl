// JPEGs of one form, as libjpeg-turbo decodes them: entropy-coded data to coefficients, to samples,
// to pixels.
//
// Codes have no marks of where they begin, but who begins anywhere soon falls into step with them
// (Klein and Wiseman 2003; Weissenborn and Schmidt 2021). So the data are cut into pieces of
// $piece bits, a work-item each, which begins as if a block began there. Then each takes for its
// beginning what the one before it has as its end, within a group, and between groups, until
// nothing changes. What is known of a piece then says by sums where its blocks lie and what their DC
// coefficients add to, and the coefficients are written.
//
// A place is that of a bit in its segment (the data between two restarts), of a block in its unit
// (the blocks of all components that go together) and of a coefficient in its block.
//   $items  of a group that decodes
//   $ahead  pieces before a group's own that it goes through as well
//   $all    both

// -- part: parameters
// `data` has for each picture its JPEG_HEAD words, then for each group its picture, then what those
// words say. Of a picture: where its bytes begin, its segments (where they begin, counted from its
// bytes, their bits, the first of their pieces; and the number of pieces at the end), how many there
// are, its codes, its first group, its groups, the units of a segment.
struct Parameters {
  int pictures, width, height, components;
  int across, down;  // pixels that a sample of a colour difference stands for
  int units_across;
  int blocks;   // of a picture
  int samples;  // of a picture's planes, one behind the other
  int stride;   // of the image: bytes from row to row
  long step;  // from plane to plane
};
#define JPEG_BYTES 0
#define JPEG_SEGMENTS 1
#define JPEG_SEGMENT_COUNT 2
#define JPEG_CODES 3
#define JPEG_FIRST_GROUP 4
#define JPEG_GROUPS 5
#define JPEG_UNITS 6
#define JPEG_HEAD 8
// Codes: of DC and AC of luminance, of DC and AC of colour differences, what the first
// JPEG_QUICK_BITS say: a symbol, and above it the bits of its code, 0 where they are more. Then of
// each the limits of codes of 11 to 16 bits, aligned to the left in 16, and what is to be added for
// the place of a symbol; then all symbols; then the steps of quantisation.
#define JPEG_QUICK_BITS 10
#define JPEG_QUICK_WORDS 2048
#define JPEG_LONG_WORDS 64
#define JPEG_SYMBOL_WORDS 256
#define JPEG_STEPS (JPEG_QUICK_WORDS + JPEG_LONG_WORDS + JPEG_SYMBOL_WORDS)
// Why a picture is left to others.
#define JPEG_NO_CODE 1
#define JPEG_MISSING 2
#define JPEG_LEFT_OVER 3
#define JPEG_LARGE 4

// -- part: codes
// The codes of a picture in local memory, and its bits.
struct Codes {
  IN_LOCAL const ushort* quick;
  IN_LOCAL const int* longer;
  GLOBAL const uchar* symbols;
};
FUNCTION struct Codes load_codes(GLOBAL const uint* from, IN_LOCAL uint* local_words,
                                 const int items) {
  for (int i = ITEM; i < JPEG_QUICK_WORDS + JPEG_LONG_WORDS; i += items) local_words[i] = from[i];
  BARRIER;
  struct Codes codes;
  codes.quick = (IN_LOCAL const ushort*)local_words;
  codes.longer = (IN_LOCAL const int*)(local_words + JPEG_QUICK_WORDS);
  codes.symbols = (GLOBAL const uchar*)(from + JPEG_QUICK_WORDS + JPEG_LONG_WORDS);
  return codes;
}

// Bits from somewhere in a word on, the uppermost first.
struct Bits {
  GLOBAL const uint* next;
  uint high, low, ahead;  // the word, the one after it, and as it is in memory the next one
  uint shift;             // bits of the first that are behind
};
FUNCTION uint turned(const uint word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}
FUNCTION void begin_bits(struct Bits* bits, GLOBAL const uint* words, const uint at) {
  GLOBAL const uint* first = words + (at >> 5);
  bits->high = turned(first[0]);
  bits->low = turned(first[1]);
  bits->ahead = first[2];
  bits->next = first + 2;
  bits->shift = at & 31u;
}
FUNCTION uint word_of_bits(const struct Bits* bits) {
  return bits->high << bits->shift | bits->low >> 1 >> (31u - bits->shift);
}
// by: less than 32.
FUNCTION void skip_bits(struct Bits* bits, const uint by) {
  bits->shift += by;
  if (bits->shift >= 32u) {
    bits->shift -= 32u;
    bits->high = bits->low;
    bits->low = turned(bits->ahead);
    ++bits->next;
    bits->ahead = *bits->next;
  }
}

// A symbol of a table at the beginning of `word`, and how many bits its code has; 0: none.
FUNCTION int symbol_at(const struct Codes* codes, const int table, const uint word, int* length) {
  const uint quick = codes->quick[table << JPEG_QUICK_BITS | word >> (32 - JPEG_QUICK_BITS)];
  *length = (int)(quick >> 8);
  if (*length != 0) return (int)(quick & 255u);
  IN_LOCAL const int* longer = codes->longer + 16 * table;
  const int code = (int)(word >> 16);
  for (int k = 0; k < 6; ++k) {
    if (code < longer[k]) {
      *length = JPEG_QUICK_BITS + 1 + k;
      return codes->symbols[256 * table + longer[8 + k] + (code >> (5 - k))];
    }
  }
  return 0;
}
// The number that `size` bits behind a code of `length` say.
FUNCTION int number_behind(const uint word, const int length, const int size) {
  const int bits = (int)(word << length >> 1 >> (31 - size));
  return bits < (1 << size >> 1) ? bits - (1 << size) + 1 : bits;
}

// -- part: pieces(int piece)
// Where a piece lies, and what is known of one.
struct Piece {
  GLOBAL const uint* words;  // of its segment
  uint begin, end, bits;     // the piece's bits, and how many the segment has
  int segment;
  int is_first, is_last;  // of its segment
  int exists;
};
FUNCTION struct Piece piece_of(GLOBAL const uint* data, GLOBAL const uint* picture,
                               const uint which) {
  GLOBAL const uint* segments = data + picture[JPEG_SEGMENTS];
  int low = 0, high = (int)picture[JPEG_SEGMENT_COUNT];
  struct Piece piece;
  piece.exists = which < segments[3 * high + 2];
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (segments[3 * middle + 2] <= which) low = middle;
    else high = middle;
  }
  GLOBAL const uint* segment = segments + 3 * low;
  piece.segment = low;
  piece.words = data + picture[JPEG_BYTES] + segment[0];
  piece.begin = (which - segment[2]) * $piece;
  piece.end = piece.begin + $piece < segment[1] ? piece.begin + $piece : segment[1];
  piece.bits = segment[1];
  piece.is_first = which == segment[2];
  piece.is_last = which + 1u == segment[5];
  if (!piece.exists) piece.begin = piece.end = 0u;
  return piece;
}

#define PLACE(bit, block, coefficient) \
  ((ulong)(bit) << 16 | (ulong)(block) << 8 | (ulong)(coefficient))

// Blocks that end in a piece, and the sums of DC differences in it; or up to somewhere in it, and
// then also what is wrong.
struct Known {
  int blocks, first, second, third;
  int fault;
};
FUNCTION struct Known nothing_known(void) {
  struct Known known;
  known.blocks = known.first = known.second = known.third = known.fault = 0;
  return known;
}

// Goes on from a place to the end of a piece, and returns the place of the first symbol after it.
// writes: coefficients, in the order of the file, of no more blocks than `upto`.
FUNCTION ulong go_through(const struct Piece* piece, const struct Codes* codes, const ulong place,
                          const int luminance, const int blocks_a_unit, struct Known* known,
                          const int writes, GLOBAL short* coefficients, const int upto) {
  uint at = (uint)(place >> 16);
  int block = (int)(place >> 8 & 255ul), coefficient = (int)(place & 255ul);
  struct Bits bits;
  if (at >= piece->end) return place;
  begin_bits(&bits, piece->words, at);
  while (at < piece->end && (!writes || known->blocks < upto)) {
    const uint word = word_of_bits(&bits);
    int length;
    const int table = (block < luminance ? 0 : 2) + (coefficient == 0 ? 0 : 1);
    const int symbol = symbol_at(codes, table, word, &length);
    const int size = symbol & 15;
    if (writes && length == 0) known->fault = JPEG_NO_CODE;
    if (coefficient == 0) {
      const int number = size == 0 ? 0 : number_behind(word, length, size);
      known->first += block < luminance ? number : 0;
      known->second += block == luminance ? number : 0;
      known->third += block > luminance ? number : 0;
      if (writes) {
        const int sum = block < luminance    ? known->first
                        : block == luminance ? known->second
                                             : known->third;
        if (sum != (int)(short)sum) known->fault = JPEG_LARGE;
        coefficients[64l * known->blocks] = (short)sum;
      }
      coefficient = 1;
    } else if (size != 0) {
      coefficient += symbol >> 4;
      if (writes) {
        coefficients[64l * known->blocks + smaller(coefficient, 63)] =
            (short)number_behind(word, length, size);
      }
      ++coefficient;
    } else {
      coefficient += symbol == 0xf0 ? 16 : 64;
    }
    const int used = length == 0 ? 1 : length + size;
    at += (uint)used;
    skip_bits(&bits, (uint)used);
    if (coefficient > 63) {
      coefficient = 0;
      block = block + 1 == blocks_a_unit ? 0 : block + 1;
      ++known->blocks;
    }
  }
  return PLACE(at, block, coefficient);
}
// The same, of what is known of a piece.
#define GO_THROUGH(place) \
  go_through(&piece, &codes, place, luminance, blocks_a_unit, &known, 0, 0, 0)

// What a launch's pieces have in common.
#define THE_FORM                                                                          \
  const int blocks_a_unit = all_parameters.components == 1                                \
                                ? 1                                                       \
                                : all_parameters.across * all_parameters.down + 2;        \
  const int luminance = all_parameters.components == 1 ? 1 : blocks_a_unit - 2;
// Whether any work-item of a group says so; by all of them together.
FUNCTION int any_of_group(IN_LOCAL uint* shared, const int said) {
  BARRIER;
  if (ITEM == 0) *shared = 0u;
  BARRIER;
  if (said) OR_LOCAL(shared, 1u);
  BARRIER;
  return *shared != 0u;
}

// -- part: steps
// All that finding a place takes: of the first bits of a symbol how many it has with those of its
// number, and above them by how much it moves the coefficient; 0 where the code is longer.
FUNCTION uint step_of(const int symbol, const int length, const int is_first) {
  const int size = symbol & 15;
  const int by = is_first ? 1 : size != 0 || symbol == 0xf0 ? (symbol >> 4) + 1 : 64;
  return (uint)(by << 5 | (length == 0 ? 1 : length + size));
}
FUNCTION void make_steps(IN_LOCAL ushort* steps, IN_LOCAL const ushort* quick, const int items) {
  for (int i = ITEM; i < 4 << JPEG_QUICK_BITS; i += items) {
    const int length = quick[i] >> 8;
    const int is_first = (i >> JPEG_QUICK_BITS) % 2 == 0;
    steps[i] = (ushort)(length == 0 ? 0u : step_of(quick[i] & 255, length, is_first));
  }
  BARRIER;
}
// The end that go_through finds.
FUNCTION ulong end_of(const struct Piece* piece, const struct Codes* codes,
                      IN_LOCAL const ushort* steps, const ulong place, const int luminance,
                      const int blocks_a_unit) {
  uint at = (uint)(place >> 16);
  int block = (int)(place >> 8 & 255ul), coefficient = (int)(place & 255ul);
  struct Bits bits;
  if (at >= piece->end) return place;
  begin_bits(&bits, piece->words, at);
  while (at < piece->end) {
    const uint word = word_of_bits(&bits);
    const int table = (block < luminance ? 0 : 2) + (coefficient == 0 ? 0 : 1);
    uint step = steps[table << JPEG_QUICK_BITS | word >> (32 - JPEG_QUICK_BITS)];
    if (step == 0u) {
      int length;
      const int symbol = symbol_at(codes, table, word, &length);
      step = step_of(symbol, length, coefficient == 0);
    }
    at += step & 31u;
    skip_bits(&bits, step & 31u);
    coefficient += (int)(step >> 5);
    if (coefficient > 63) {
      coefficient = 0;
      block = block + 1 == blocks_a_unit ? 0 : block + 1;
    }
  }
  return PLACE(at, block, coefficient);
}

// -- part: synchronise(int all, int items, int ahead)
// The pieces of a group, until they agree. Those before them have fallen into step by then, so that
// the first of its own hardly ever begins wrongly.
KERNEL($all) void synchronise(GLOBAL const uint* data, GLOBAL ulong* begins, GLOBAL ulong* ends,
                                GLOBAL int* known_of, PARAMETERS) {
  LOCAL uint code_words[JPEG_QUICK_WORDS + JPEG_LONG_WORDS];
  LOCAL ushort steps[4 << JPEG_QUICK_BITS];
  LOCAL ulong ends_here[$all];
  LOCAL uint shared;
  THE_FORM
  const uint which_picture = data[all_parameters.pictures * JPEG_HEAD + GROUP_X];
  GLOBAL const uint* picture = data + which_picture * JPEG_HEAD;
  const struct Codes codes = load_codes(data + picture[JPEG_CODES], code_words, $all);
  const struct Piece piece =
      piece_of(data, picture,
               ((uint)GROUP_X - picture[JPEG_FIRST_GROUP]) * $items + (uint)(ITEM - $ahead));
  make_steps(steps, codes.quick, $all);
  ulong place = PLACE(piece.begin, 0, 0);
  ulong end = end_of(&piece, &codes, steps, place, luminance, blocks_a_unit);
  const int follows = ITEM > 0 && piece.exists && !piece.is_first ? 1 : 0;
  int changes = 1;
  while (changes) {
    ends_here[ITEM] = end;
    BARRIER;
    const ulong wanted = follows ? ends_here[ITEM - follows] : place;
    const int changed = wanted != place ? 1 : 0;
    if (changed) {
      place = wanted;
      end = end_of(&piece, &codes, steps, place, luminance, blocks_a_unit);
    }
    changes = any_of_group(&shared, changed);
  }
  if (ITEM < $ahead) return;
  struct Known known = nothing_known();
  GO_THROUGH(place);
  const long at = (long)GROUP_X * $items + ITEM - $ahead;
  begins[at] = place;
  ends[at] = end;
  known_of[4 * at] = known.blocks;
  known_of[4 * at + 1] = known.first;
  known_of[4 * at + 2] = known.second;
  known_of[4 * at + 3] = known.third;
}

// -- part: join(int joiners, int items)
// The groups of a picture, until they agree: each goes on from the end of the one before it as far
// as something changes.
KERNEL($joiners) void join_groups(GLOBAL const uint* data, GLOBAL ulong* begins,
                                  GLOBAL ulong* ends, GLOBAL int* known_of, GLOBAL ulong* wanted,
                                  PARAMETERS) {
  LOCAL uint code_words[JPEG_QUICK_WORDS + JPEG_LONG_WORDS];
  LOCAL uint shared;
  THE_FORM
  GLOBAL const uint* picture = data + GROUP_X * JPEG_HEAD;
  const struct Codes codes = load_codes(data + picture[JPEG_CODES], code_words, $joiners);
  const int first_group = (int)picture[JPEG_FIRST_GROUP], groups = (int)picture[JPEG_GROUPS];
  int changes = 1;
  while (changes) {
    int changed = 0;
    for (int g = 1 + ITEM; g < groups; g += $joiners) {
      wanted[first_group + g] = ends[(long)(first_group + g) * $items - 1];
    }
    GLOBAL_BARRIER;
    for (int g = 1 + ITEM; g < groups; g += $joiners) {
      ulong place = wanted[first_group + g];
      for (int k = 0; k < $items; ++k) {
        const struct Piece piece = piece_of(data, picture, (uint)(g * $items + k));
        const long at = (long)(first_group + g) * $items + k;
        if (!piece.exists || piece.is_first || begins[at] == place) break;
        struct Known known = nothing_known();
        const ulong end = GO_THROUGH(place);
        begins[at] = place;
        known_of[4 * at] = known.blocks;
        known_of[4 * at + 1] = known.first;
        known_of[4 * at + 2] = known.second;
        known_of[4 * at + 3] = known.third;
        changed = 1;
        if (ends[at] == end) break;
        ends[at] = end;
        place = end;
      }
    }
    GLOBAL_BARRIER;
    changes = any_of_group(&shared, changed);
  }
}

// -- part: sums
// What is known of the pieces before one, from the beginning of its segment on.
struct Sums {
  int blocks, first, second, third;
  int is_whole;  // begins where a segment does
};
FUNCTION struct Sums sums_with(const struct Sums before, const struct Sums own) {
  struct Sums sums = own;
  if (!own.is_whole) {
    sums.blocks += before.blocks;
    sums.first += before.first;
    sums.second += before.second;
    sums.third += before.third;
    sums.is_whole = before.is_whole;
  }
  return sums;
}
// The sums up to each work-item of a group, with its own; by all of them together. Local memory has
// a place for each.
FUNCTION struct Sums sums_upto(IN_LOCAL struct Sums* local_sums, struct Sums own, const int items) {
  local_sums[ITEM] = own;
  BARRIER;
  for (int by = 1; by < items; by *= 2) {
    if (ITEM >= by) own = sums_with(local_sums[ITEM - by], own);
    BARRIER;
    local_sums[ITEM] = own;
    BARRIER;
  }
  return own;
}
// A segment's first piece knows how many blocks lie before it in the picture.
FUNCTION struct Sums sums_of_piece(GLOBAL const int* known_of, const long at,
                                   const struct Piece* piece, const int blocks_a_segment) {
  struct Sums sums;
  sums.blocks = known_of[4 * at];
  sums.first = known_of[4 * at + 1];
  sums.second = known_of[4 * at + 2];
  sums.third = known_of[4 * at + 3];
  sums.is_whole = piece->is_first;
  if (piece->is_first) sums.blocks += piece->segment * blocks_a_segment;
  return sums;
}

// -- part: add_pieces(int items)
// The sums of each group.
KERNEL($items) void add_pieces(GLOBAL const uint* data, GLOBAL const int* known_of,
                               GLOBAL struct Sums* group_sums, PARAMETERS) {
  LOCAL struct Sums local_sums[$items];
  THE_FORM
  const uint which_picture = data[all_parameters.pictures * JPEG_HEAD + GROUP_X];
  GLOBAL const uint* picture = data + which_picture * JPEG_HEAD;
  const struct Piece piece =
      piece_of(data, picture, ((uint)GROUP_X - picture[JPEG_FIRST_GROUP]) * $items + ITEM);
  const struct Sums own = sums_of_piece(known_of, (long)GROUP_X * $items + ITEM, &piece,
                                        (int)picture[JPEG_UNITS] * blocks_a_unit);
  const struct Sums sums = sums_upto(local_sums, own, $items);
  if (ITEM == $items - 1) group_sums[GROUP_X] = sums;
}

// -- part: add_groups(int joiners)
// The sums before each group, in place of its own.
KERNEL($joiners) void add_groups(GLOBAL const uint* data, GLOBAL struct Sums* group_sums,
                                 PARAMETERS) {
  LOCAL struct Sums local_sums[$joiners];
  GLOBAL const uint* picture = data + GROUP_X * JPEG_HEAD;
  const int first_group = (int)picture[JPEG_FIRST_GROUP], groups = (int)picture[JPEG_GROUPS];
  struct Sums before;
  before.blocks = before.first = before.second = before.third = 0;
  before.is_whole = 1;
  for (int begin = 0; begin < groups; begin += $joiners) {
    const int g = begin + ITEM;
    struct Sums own = before;
    if (g < groups) own = group_sums[first_group + g];
    if (ITEM == 0) own = sums_with(before, own);
    sums_upto(local_sums, own, $joiners);
    if (g < groups) group_sums[first_group + g] = ITEM == 0 ? before : local_sums[ITEM - 1];
    before = local_sums[$joiners - 1];
    BARRIER;
  }
}

// -- part: coefficients(int items)
// The coefficients of each piece, block after block, each in the order of the file. They were zeros.
KERNEL($items) void write_coefficients(GLOBAL const uint* data, GLOBAL const ulong* begins,
                                       GLOBAL const int* known_of,
                                       GLOBAL const struct Sums* group_sums,
                                       GLOBAL short* coefficients, GLOBAL int* status,
                                       PARAMETERS) {
  LOCAL uint code_words[JPEG_QUICK_WORDS + JPEG_LONG_WORDS];
  LOCAL struct Sums local_sums[$items];
  THE_FORM
  const uint which_picture = data[all_parameters.pictures * JPEG_HEAD + GROUP_X];
  GLOBAL const uint* picture = data + which_picture * JPEG_HEAD;
  const struct Codes codes = load_codes(data + picture[JPEG_CODES], code_words, $items);
  const struct Piece piece =
      piece_of(data, picture, ((uint)GROUP_X - picture[JPEG_FIRST_GROUP]) * $items + ITEM);
  const int blocks_a_segment = (int)picture[JPEG_UNITS] * blocks_a_unit;
  const long at = (long)GROUP_X * $items + ITEM;
  sums_upto(local_sums, sums_of_piece(known_of, at, &piece, blocks_a_segment), $items);
  struct Sums before = group_sums[GROUP_X];
  if (ITEM > 0) before = sums_with(before, local_sums[ITEM - 1]);
  struct Known known = nothing_known();
  if (piece.is_first) {
    known.blocks = piece.segment * blocks_a_segment;
  } else {
    known.blocks = before.blocks;
    known.first = before.first;
    known.second = before.second;
    known.third = before.third;
  }
  const int upto =
      smaller((piece.segment + 1) * blocks_a_segment, all_parameters.blocks);
  if (piece.exists && known.blocks < upto) {
    const ulong end = go_through(&piece, &codes, begins[at], luminance, blocks_a_unit, &known, 1,
                                 coefficients + 64l * all_parameters.blocks * which_picture, upto);
    const uint bit = (uint)(end >> 16);
    if (known.blocks < upto ? piece.is_last : bit > piece.bits) known.fault = JPEG_MISSING;
    if (known.blocks == upto && bit + 8u <= piece.bits) known.fault = JPEG_LEFT_OVER;
    if (known.fault != 0) MAX_GLOBAL(&status[which_picture], known.fault);
  }
}

// -- part: samples
// The slow integer transform of libjpeg (Loeffler, Ligtenberg and Moschytz 1989), a work-item for
// each column and then each row of a block. Vector units hold some of it in 16 bits, and what leaves
// these is not the same everywhere: such pictures are left to others.
#define BEYOND(number, most) ((uint)((number) + (most)) & ~(uint)(2 * (most) - 1))
FUNCTION uint transform_line(int* line, const int shift) {
  const int rounding = 1 << (shift - 1);
  const int z0 = line[2], z1 = line[6], even = (z0 + z1) * 4433;
  const int even2 = even - z1 * 15137, even3 = even + z0 * 6270;
  const int sum = line[0] + line[4], difference = line[0] - line[4];
  const int a0 = sum * 8192 + even3, a3 = sum * 8192 - even3;
  const int a1 = difference * 8192 + even2, a2 = difference * 8192 - even2;
  const int third = line[7] + line[3], fourth = line[5] + line[1];
  const int fifth = (third + fourth) * 9633;
  const int b3 = fifth - third * 16069, b4 = fifth - fourth * 3196;
  const int b1 = (line[7] + line[1]) * -7373, b2 = (line[5] + line[3]) * -20995;
  const int odd0 = line[7] * 2446 + b1 + b3, odd1 = line[5] * 16819 + b2 + b4;
  const int odd2 = line[3] * 25172 + b2 + b3, odd3 = line[1] * 12299 + b1 + b4;
  uint beyond = BEYOND(sum, 16384) | BEYOND(difference, 16384) | BEYOND(third, 16384) |
                BEYOND(fourth, 16384);
  for (int k = 0; k < 8; ++k) beyond |= BEYOND(line[k], 16384);
  line[0] = (a0 + odd3 + rounding) >> shift;
  line[7] = (a0 - odd3 + rounding) >> shift;
  line[1] = (a1 + odd2 + rounding) >> shift;
  line[6] = (a1 - odd2 + rounding) >> shift;
  line[2] = (a2 + odd1 + rounding) >> shift;
  line[5] = (a2 - odd1 + rounding) >> shift;
  line[3] = (a3 + odd0 + rounding) >> shift;
  line[4] = (a3 - odd0 + rounding) >> shift;
  return beyond;
}
FUNCTION uint sample_of(const int number) {
  const int sample = number + 128;
  return (uint)(sample < 0 ? 0 : sample > 255 ? 255 : sample);
}
// Where a component's samples begin, and how many there are from row to row.
FUNCTION int row_of_samples(const int component, const int units_across, const int across) {
  return 8 * units_across * (component == 0 ? across : 1);
}
FUNCTION long first_sample(const int component, const int across, const int down,
                           const int samples) {
  const int each = samples / (across * down + 2);
  return component == 0 ? 0l : (long)each * (across * down + component - 1);
}
KERNEL(256) void samples_of(GLOBAL const uint* data, GLOBAL const short* coefficients,
                            GLOBAL uchar* planes, GLOBAL int* status, PARAMETERS) {
  LOCAL int lines[32 * 72];
  THE_FORM
  const int components = all_parameters.components, across = all_parameters.across;
  const int down = all_parameters.down;
  const int component = (int)GROUP_Z % components, which_picture = (int)GROUP_Z / components;
  const int own_across = component == 0 ? 1 : across, own_down = component == 0 ? 1 : down;
  const int blocks_across = (all_parameters.width + 8 * own_across - 1) / (8 * own_across);
  const int blocks_down = (all_parameters.height + 8 * own_down - 1) / (8 * own_down);
  if (GROUP_X * 32 >= blocks_across || GROUP_Y >= blocks_down) return;
  const int x = GROUP_X * 32 + ITEM / 8, y = GROUP_Y, k = ITEM % 8;
  IN_LOCAL int* block = lines + ITEM / 8 * 72;
  uint beyond = 0u;
  if (x < blocks_across) {
    const int unit_x = component == 0 ? x / across : x, unit_y = component == 0 ? y / down : y;
    const int within = component == 0 ? y % down * across + x % across : luminance + component - 1;
    const long which = (long)all_parameters.blocks * which_picture +
                       (long)(unit_y * all_parameters.units_across + unit_x) * blocks_a_unit +
                       within;
    GLOBAL const uint* picture = data + which_picture * JPEG_HEAD;
    GLOBAL const uint* steps = data + picture[JPEG_CODES] + JPEG_STEPS + 64 * component + 8 * k;
    const uint4 eight = *((GLOBAL const uint4*)(coefficients + 64l * which) + k);
    const uint pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    for (int i = 0; i < 8; ++i) {
      const int coefficient = (int)(short)(pairs[i / 2] >> (16 * (i % 2)));
      const int place = (int)(steps[i] >> 16);
      block[place / 8 * 9 + place % 8] = coefficient * (int)(steps[i] & 0xffffu);
    }
  }
  BARRIER;
  int line[8];
  if (x < blocks_across) {
    for (int i = 0; i < 8; ++i) line[i] = block[9 * i + k];
    beyond = transform_line(line, 11);
    for (int i = 0; i < 8; ++i) block[9 * i + k] = line[i];
  }
  BARRIER;
  if (x < blocks_across) {
    for (int i = 0; i < 8; ++i) line[i] = block[9 * k + i];
    beyond |= transform_line(line, 18);
    uint2 row;
    row.x = sample_of(line[0]) | sample_of(line[1]) << 8 | sample_of(line[2]) << 16 |
            sample_of(line[3]) << 24;
    row.y = sample_of(line[4]) | sample_of(line[5]) << 8 | sample_of(line[6]) << 16 |
            sample_of(line[7]) << 24;
    for (int i = 0; i < 8; ++i) beyond |= BEYOND(line[i], 512);
    const int stride = row_of_samples(component, all_parameters.units_across, across);
    GLOBAL uchar* plane = planes + (long)all_parameters.samples * which_picture +
                          (component == 0 ? 0l
                                          : first_sample(component, across, down,
                                                         all_parameters.samples));
    *(GLOBAL uint2*)(plane + (long)(8 * y + k) * stride + 8 * x) = row;
    if (beyond != 0u) MAX_GLOBAL(&status[which_picture], JPEG_LARGE);
  }
}

// -- part: pixels
// Four pixels a work-item. Colour differences are interpolated as libjpeg does it: nearer samples
// count three times, and halves go up and down in turns.
FUNCTION int column_of(GLOBAL const uchar* near_row, GLOBAL const uchar* far_row, const int x) {
  return 3 * near_row[x] + far_row[x];
}
FUNCTION int difference_at(GLOBAL const uchar* plane, const int stride, const int width,
                           const int height, const int x, const int y, const int across,
                           const int down) {
  const int own_x = across == 2 ? x / 2 : x, own_y = down == 2 ? y / 2 : y;
  GLOBAL const uchar* row = plane + (long)own_y * stride;
  const int is_fine = down == 2 && across == 1 ? 1 : width > 2;
  if ((across == 1 && down == 1) || !is_fine) return row[own_x];
  const int beside = replicate(x % 2 == 1 ? own_x + 1 : own_x - 1, width);
  if (down == 1) {
    if (beside == own_x) return row[own_x];
    return (3 * row[own_x] + row[beside] + (x % 2 == 1 ? 2 : 1)) >> 2;
  }
  GLOBAL const uchar* far_row =
      plane + (long)replicate(y % 2 == 1 ? own_y + 1 : own_y - 1, height) * stride;
  const int here = column_of(row, far_row, own_x);
  if (across == 1) return (here + (y % 2 == 1 ? 2 : 1)) >> 2;
  return (3 * here + column_of(row, far_row, beside) + (x % 2 == 1 ? 7 : 8)) >> 4;
}
FUNCTION uint within_byte(const int v) { return (uint)(v < 0 ? 0 : v > 255 ? 255 : v); }
KERNEL(64) void pixels_of(GLOBAL const uchar* planes, GLOBAL const int* status,
                          GLOBAL uchar* image, GLOBAL double* result, PARAMETERS) {
  const int components = all_parameters.components, across = all_parameters.across;
  const int down = all_parameters.down, which_picture = (int)GROUP_Z;
  const int x = 4 * (GROUP_X * 64 + ITEM), y = GROUP_Y;
  if (x == 0 && y == 0) result[which_picture] = (double)status[which_picture];
  if (x >= all_parameters.width) return;
  GLOBAL const uchar* luminances = planes + (long)all_parameters.samples * which_picture;
  const uint four =
      *(GLOBAL const uint*)(luminances +
                            (long)y * row_of_samples(0, all_parameters.units_across, across) + x);
  const long step = all_parameters.step;
  GLOBAL uchar* to =
      image + step * components * which_picture + (long)y * all_parameters.stride + x;
  if (components == 1) {
    *(GLOBAL uint*)to = four;
    return;
  }
  const int stride = row_of_samples(1, all_parameters.units_across, across);
  const int width = (all_parameters.width + across - 1) / across;
  const int height = (all_parameters.height + down - 1) / down;
  GLOBAL const uchar* blues = luminances + first_sample(1, across, down, all_parameters.samples);
  GLOBAL const uchar* reds = luminances + first_sample(2, across, down, all_parameters.samples);
  uint red = 0u, green = 0u, blue = 0u;
  for (int k = 0; k < 4; ++k) {
    const int at = smaller(x + k, all_parameters.width - 1);
    const int luminance = (int)(four >> (8 * k) & 255u);
    const int cb = difference_at(blues, stride, width, height, at, y, across, down) - 128;
    const int cr = difference_at(reds, stride, width, height, at, y, across, down) - 128;
    red |= within_byte(luminance + ((91881 * cr + 32768) >> 16)) << (8 * k);
    green |= within_byte(luminance + ((-22554 * cb - 46802 * cr + 32768) >> 16)) << (8 * k);
    blue |= within_byte(luminance + ((116130 * cb + 32768) >> 16)) << (8 * k);
  }
  *(GLOBAL uint*)to = red;
  *(GLOBAL uint*)(to + step) = green;
  *(GLOBAL uint*)(to + 2 * step) = blue;
}
