// TIFF's LZW, a chunk a group. The width of a code depends on nothing but how many there were since
// the table was cleared, so the codes up to the next clearing are read at once. A code above those
// of clearing and end repeats an earlier code and the first byte of the one after that: one
// work-item goes through the codes and says of each where its bytes begin and what the first one
// is, then all write bytes, each code from its last one back.
//   $items  of a group

// Alone: what inflate.cl and unpack.cl say.
struct Parameters {
  int chunks;  // of a picture
  int step;    // bytes from chunk to chunk, unpacked
};
#define CHUNK_WORD 0
#define CHUNK_BYTES 1
#define CHUNK_FLAGS 2
#define CHUNK_ROOM 3
#define CHUNK_HEAD 4
#define IS_STORED 4u
#define IS_LEFT 8u
#define FAULT_LEFT 1u
#define FAULT_CODES 3u
#define FAULT_LENGTH 4u

// -- part: lzw(int items)
// Codes since the table was cleared: a table is full after 3,838 of them.
#define LZW_CODES 3840
#define LZW_CLEAR 256u
#define LZW_END 257u
#define LZW_FIRST 258u
struct Lzw {
  ushort codes[LZW_CODES];
  uint places[LZW_CODES + 1];  // of their bytes in the chunk
  uchar firsts[LZW_CODES];
  uint count, fault;           // codes that make bytes
  int goes_on;                 // the table is cleared behind them
};
// Bits before the `which`-th code: nine a code, and one more for each behind 254, 766 and 1790.
FUNCTION uint bits_before(const uint which) {
  const int count = (int)which;
  return (uint)(9 * count + larger(count, 254) + larger(count, 766) + larger(count, 1790) -
                (254 + 766 + 1790));
}
// The code of `bits` bits at bit `at`, the uppermost first; an end where the bytes end.
FUNCTION uint lzw_code(GLOBAL const uchar* from, const uint bytes, const uint at,
                       const uint bits) {
  if (at + bits > 8u * bytes) return LZW_END;
  const uint first = at / 8u;
  const uint last = first + 2u < bytes ? from[first + 2u] : 0u;
  const uint three = (uint)from[first] << 16 | (uint)from[first + 1u] << 8 | last;
  return three >> (24u - at % 8u - bits) & ((1u << bits) - 1u);
}
// What the codes mean, by one work-item; the bytes before them are `made` of `room`.
FUNCTION void place_codes(IN_LOCAL struct Lzw* s, const uint made, const uint room) {
  uint place = made, fault = FAULT_CODES, count = 0u;
  int goes_on = 0, stops = 0;
  s->places[0] = made;
  for (uint i = 0u; i < LZW_CODES && !stops; ++i) {
    const uint code = s->codes[i], entry = code - LZW_FIRST;
    if (code == LZW_CLEAR || code == LZW_END) {
      goes_on = code == LZW_CLEAR ? 1 : 0;
      fault = 0u;
      stops = 1;
    } else if (code > LZW_END && entry >= i) {
      stops = 1;
    } else {
      const uint before = code < LZW_CLEAR ? 0u : s->places[entry + 1u] - s->places[entry];
      s->firsts[i] = code < LZW_CLEAR ? (uchar)code : s->firsts[entry];
      if (before + 1u > room - place) {
        fault = FAULT_LENGTH;
        stops = 1;
      } else {
        place += before + 1u;
        ++count;
        s->places[count] = place;
        if (place == room) fault = 0u, stops = 1;
      }
    }
  }
  s->count = count;
  s->fault = fault;
  s->goes_on = goes_on;
}
// The bytes of a code, from the last one back.
FUNCTION void write_code(IN_LOCAL const struct Lzw* s, const uint which, GLOBAL uchar* out) {
  uint at = s->places[which + 1u], code = s->codes[which];
  while (code > LZW_END) {
    --at;
    out[at] = s->firsts[code - LZW_FIRST + 1u];
    code = s->codes[code - LZW_FIRST];
  }
  out[at - 1u] = (uchar)code;
}
KERNEL($items) void expand_lzw(GLOBAL const uint* data, GLOBAL uchar* unpacked,
                               GLOBAL uint* status, PARAMETERS) {
  LOCAL struct Lzw lzw;
  IN_LOCAL struct Lzw* s = &lzw;
  GLOBAL const uint* chunk = data + (long)GROUP_X * CHUNK_HEAD;
  GLOBAL uchar* out = unpacked + (long)GROUP_X * all_parameters.step;
  const uint flags = chunk[CHUNK_FLAGS], bytes = chunk[CHUNK_BYTES], room = chunk[CHUNK_ROOM];
  GLOBAL const uchar* from = (GLOBAL const uchar*)(data + chunk[CHUNK_WORD]) + (flags & 3u);
  const int is_packed = (flags & (IS_STORED | IS_LEFT)) == 0u ? 1 : 0;
  uint fault = is_packed ? 0u : FAULT_LEFT, at = 9u, made = 0u;
  if (is_packed && lzw_code(from, bytes, 0u, 9u) != LZW_CLEAR) fault = FAULT_CODES;
  int goes_on = fault == 0u ? 1 : 0;
  while (goes_on) {
    for (uint i = (uint)ITEM; i < LZW_CODES; i += $items) {
      const uint begin = bits_before(i);
      s->codes[i] = (ushort)lzw_code(from, bytes, at + begin, bits_before(i + 1u) - begin);
    }
    BARRIER;
    if (ITEM == 0) place_codes(s, made, room);
    BARRIER;
    for (uint i = (uint)ITEM; i < s->count; i += $items) write_code(s, i, out);
    made = s->places[s->count];
    at += bits_before(s->count + 1u);
    fault = s->fault;
    goes_on = s->goes_on && fault == 0u ? 1 : 0;
    BARRIER;
  }
  if (fault == 0u && made != room) fault = FAULT_LENGTH;
  if (ITEM == 0 && fault != 0u) MAX_GLOBAL(&status[GROUP_X / all_parameters.chunks], fault);
}
