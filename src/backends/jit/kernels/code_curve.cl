// Curves of 16-bit codes: a function of every code, computed once for all pixels.
#define $items 128
#define $same 1  // for all planes
#define $pixel ushort
#define $value (ushort)(code / 2u)  // of `code`
#define $name curve_of_code
FUNCTION $pixel at_code(GLOBAL const $pixel* const $table, const uint code) {
  // -- part: entry
  // Made before.
  return $table[code];
  // -- end
}

// -- part: curve
// What the function makes of each code.
KERNEL($items) void curve(GLOBAL $pixel* $table) {
  const uint code = (uint)(GROUP_X * $items + ITEM);
  if (!$same || GROUP_Z == 0) $table[code] = $value;
}
