// Chunks of run lengths, TIFF's PackBits and OpenEXR's, a group each. One work-item reads the
// lengths, of which there are few to a byte of the picture, and all make the bytes.
//   $items  of a group
//   $runs   of a step

// Alone: what inflate.cl and unpack.cl say.
struct Parameters {
  int chunks;  // of a picture
  int step;    // bytes from chunk to chunk, unpacked
  int packing;
};
#define CHUNK_WORD 0
#define CHUNK_BYTES 1
#define CHUNK_FLAGS 2
#define CHUNK_ROOM 3
#define CHUNK_HEAD 4
#define IS_STORED 4u
#define IS_LEFT 8u
#define FAULT_LEFT 1u
#define FAULT_LENGTH 4u

// -- part: runs(int runs, int items)
// Runs of a step: where each begins and the byte it is read from, how long it is, and whether it
// repeats that byte. What is left of the chunk afterwards, and whether something is wrong.
#define EXR_RUNS 4
struct Runs {
  uint to[$runs], from[$runs], what[$runs];  // what: the length, and above it whether it repeats
  uint count, at, made, fault;
};
// By one work-item: at most so many runs, from byte `at` of `bytes`. Each length is followed by one
// byte to repeat or by as many as it says.
FUNCTION void read_runs(IN_LOCAL struct Runs* s, GLOBAL const uchar* from, const uint bytes,
                        const uint room, const int is_exr) {
  uint at = s->at, made = s->made, count = 0u, fault = 0u;
  while (count < $runs && at < bytes && fault == 0u) {
    const uint head = from[at];
    ++at;
    // PackBits says with 0 to 127 how many follow, OpenEXR how often one is repeated.
    const int is_low = head < 128u ? 1 : 0, repeats = is_exr ? is_low : !is_low;
    const uint length = is_low ? head + 1u : is_exr ? 256u - head : 257u - head;
    if (!is_exr && head == 128u) continue;
    const uint needs = repeats ? 1u : length;
    if (needs > bytes - at || length > room - made) {
      fault = FAULT_LENGTH;
    } else {
      s->to[count] = made;
      s->from[count] = at;
      s->what[count] = length | (repeats ? 256u : 0u);
      ++count;
      at += needs;
      made += length;
    }
  }
  s->at = at;
  s->made = made;
  s->count = count;
  s->fault = fault;
}
KERNEL($items) void expand_runs(GLOBAL const uint* data, GLOBAL uchar* unpacked,
                                GLOBAL uint* status, PARAMETERS) {
  LOCAL struct Runs runs;
  IN_LOCAL struct Runs* s = &runs;
  GLOBAL const uint* chunk = data + (long)GROUP_X * CHUNK_HEAD;
  GLOBAL uchar* out = unpacked + (long)GROUP_X * all_parameters.step;
  const uint flags = chunk[CHUNK_FLAGS], bytes = chunk[CHUNK_BYTES], room = chunk[CHUNK_ROOM];
  GLOBAL const uchar* from = (GLOBAL const uchar*)(data + chunk[CHUNK_WORD]) + (flags & 3u);
  const int is_packed = (flags & (IS_STORED | IS_LEFT)) == 0u ? 1 : 0;
  uint fault = flags & IS_LEFT ? FAULT_LEFT : 0u;
  if (ITEM == 0) s->at = s->made = 0u;
  int goes_on = is_packed;
  while (goes_on) {
    if (ITEM == 0) read_runs(s, from, bytes, room, all_parameters.packing == EXR_RUNS);
    BARRIER;
    for (uint k = (uint)ITEM / 32u; k < s->count; k += $items / 32) {
      const uint length = s->what[k] & 255u, repeats = s->what[k] >> 8;
      for (uint i = (uint)ITEM % 32u; i < length; i += 32u) {
        out[s->to[k] + i] = from[s->from[k] + (repeats ? 0u : i)];
      }
    }
    fault = s->fault;
    goes_on = fault == 0u && s->at < bytes ? 1 : 0;
    if (!goes_on && fault == 0u && s->made != room) fault = FAULT_LENGTH;
    BARRIER;
  }
  const int is_stored = (flags & (IS_STORED | IS_LEFT)) == IS_STORED ? 1 : 0;
  if (is_stored && bytes != room) fault = FAULT_LENGTH;
  for (uint i = (uint)ITEM; is_stored && i < bytes && i < room; i += $items) out[i] = from[i];
  if (ITEM == 0 && fault != 0u) MAX_GLOBAL(&status[GROUP_X / all_parameters.chunks], fault);
}
