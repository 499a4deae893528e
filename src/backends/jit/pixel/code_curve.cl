// Curves of 16-bit codes: a function of every code, computed once for all pixels.
#define $items 128
#define $same 1  // for all planes
#define $pixel ushort
#define $value (ushort)(code / 2u)  // of `code`
#define $name curve_of_code
#define $made ((GLOBAL const ushort*)0)  // the table

// -- part: entry
// The function of a code, made before.
FUNCTION $pixel $name(PARAMS, const uint code) {
  return $made[code];
}

// -- part: curve
// What the function makes of each code.
KERNEL($items) void curve(GLOBAL $pixel* $table) {
  const uint code = (uint)(GROUP_X * $items + ITEM);
  if (!$same || GROUP_Z == 0) $table[code] = $value;
}
