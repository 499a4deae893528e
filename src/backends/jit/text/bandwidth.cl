// The plain copy and the plain read that other kernels are measured against.
//   $word  that a work-item copies

// -- part: parameters
// How many words there are.
struct Parameters { int words; };

// -- part: copy(type word)
// Copies a word a work-item.
KERNEL(256) void copy_words(GLOBAL const $word* RESTRICT from, GLOBAL $word* RESTRICT to,
                            PARAMETERS) {
  const int i = GROUP_X * 256 + ITEM;
  if (i < all_parameters.words) to[i] = from[i];
}

// -- part: read
// Reads 64 bytes a work-item. The store stays undone unless the words come to one value of 2^32,
// which no compiler can rule out.
KERNEL(256) void read_words(GLOBAL const uint4* RESTRICT from, GLOBAL uint* RESTRICT to,
                            PARAMETERS) {
  const int first = GROUP_X * 1024 + ITEM;
  uint mixed = 0;
  for (int k = 0; k < 4; ++k) {
    const int i = first + k * 256;
    if (i < all_parameters.words) {
      const uint4 v = from[i];
      mixed |= v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (mixed == 0x12345678u) to[0] = mixed;
}
