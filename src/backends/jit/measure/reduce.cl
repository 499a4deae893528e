// Reductions by streaming: exact sums of integers, and extremes. Each group has totals of its own;
// the last group that is done, or a launch of its own, puts those together.
//   $items          of a group
//   $groups         of a launch
//   $rows           what stream.cl has
//   $join_sub_group  the totals of a sub-group into one each

// Alone: what a stream of looked up values begins with.
KERNEL($items) void with_table(GLOBAL uchar* result) {
  LOCAL uchar $table[$codes];
  // -- part: table(int codes, int items, name table, expr value)
  // What points make of the codes of a plane.
  for (int code = ITEM; code < $codes; code += $items) $table[code] = $value;
  BARRIER;
  // -- end
  result[ITEM] = $table[ITEM % $codes];
}

// -- part: spread
// The sum of the squared deviations of n codes from their mean: core/code_spread.hpp has the same.
FUNCTION double spread_of_sums(const long sum, const long squares, const long n) {
  const long nearest = (2 * sum + n) / (2 * n), rest = sum - nearest * n;
  const long about_nearest = squares - nearest * sum - nearest * rest;
  return (double)about_nearest - (double)rest * (double)rest / (double)n;
}

// -- part: stream(stmt locals = LOCAL uint all[$items];, stmt begin = uint total = 0u;, stmt rows)
// Totals of the pixels of an image, or of the totals of all groups.
KERNEL($items) void stream(GLOBAL uint* $totals) {
  $locals
  {
    $begin
    $rows
    // -- part: all_groups(stmt unroll, expr groups, int items, stmt join)
    // The totals of all groups.
    $unroll
    for (int i = ITEM; i < $groups; i += $items) {
      $join
    }
    // -- end
    // -- part: group_end(stmt put, int items, stmt join, stmt out)
    // The totals of the work-items into one each, which the first has.
    BARRIER;
    $put
    for (int step = $items / 2; step > 0; step /= 2) {
      BARRIER;
      if (ITEM < step) {
        $join
      }
    }
    if (ITEM == 0) {
      $out
    }
    BARRIER;
    // -- end
    // -- part: group_end_of_sub_groups(stmt join_sub_group, stmt put, stmt join, stmt out)
    // The same where the work-items of a sub-group exchange registers.
    $join_sub_group
    if (ITEM % SUB_GROUP == 0) {
      $put
    }
    BARRIER;
    if (ITEM < SUB_GROUP) {
      $join
      if (ITEM == 0) {
        $out
      }
    }
    BARRIER;
    // -- end
  }
}

// -- part: last_group(buffer ticket, stmt total)
// What the last group does that is done.
KERNEL($items) void last_group(GLOBAL uint* $ticket, GLOBAL uint* $totals) {
  LOCAL int is_last;
  if (is_last_group($ticket, GROUPS_X, &is_last)) {
    $total
  }
}
