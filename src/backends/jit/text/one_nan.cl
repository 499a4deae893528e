// One NaN for all that leaves a device.

// -- part: parameters
// How many words of 16 bytes there are.
struct Parameters { int words; };

// -- part: one_nan
// Gives every NaN of four floats a work-item the bits of one. Most images have none: nothing is
// written then.
KERNEL(256) void make_one_nan(GLOBAL uint4* image, PARAMETERS) {
  const int i = GROUP_X * 256 + ITEM;
  if (i >= all_parameters.words) return;
  uint4 v = image[i];
  const uint sign = 0x80000000u, infinity = 0x7f800000u, one = 0x7fc00000u;
  const int x = (v.x & ~sign) > infinity, y = (v.y & ~sign) > infinity;
  const int z = (v.z & ~sign) > infinity, w = (v.w & ~sign) > infinity;
  if (!(x || y || z || w)) return;
  if (x) v.x = one;
  if (y) v.y = one;
  if (z) v.z = one;
  if (w) v.w = one;
  image[i] = v;
}
