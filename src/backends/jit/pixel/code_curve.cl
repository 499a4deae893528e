// Curves of 16-bit codes: a function of every code, computed once for all pixels.
//   $same   for all planes
//   $value  of `code`
//   $made   the table

// -- part: entry(type pixel, name name, expr made = ((GLOBAL const ushort*)0))
// The function of a code, made before.
FUNCTION $pixel $name(PARAMS, const uint code) {
  return $made[code];
}

// -- part: curve(int items, int same, buffer table, expr value)
// What the function makes of each code.
KERNEL($items) void curve(GLOBAL $pixel* $table) {
  const uint code = (uint)(GROUP_X * $items + ITEM);
  if (!$same || GROUP_Z == 0) $table[code] = $value;
}
