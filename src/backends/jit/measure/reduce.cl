// Reductions by streaming: exact sums of integers, and extremes. Each group has totals of its own;
// the last group that is done, or a launch of its own, puts those together.
#define $items 512  // of a group
#define $groups 96  // of a launch
#define $unroll

// Alone: what a stream of looked up values begins with.
#define $codes 256
#define $table table
#define $value (uchar)(255 - code)
KERNEL($items) void with_table(GLOBAL uchar* $out) {
  LOCAL uchar $table[$codes];
  // -- part: table
  // What points make of the codes of a plane.
  for (int code = ITEM; code < $codes; code += $items) $table[code] = $value;
  BARRIER;
  // -- end
  $out[ITEM] = $table[ITEM % $codes];
}

// -- part: spread
// The sum of the squared deviations of n codes from their mean: core/code_spread.hpp has the same.
FUNCTION double spread_of_sums(const long sum, const long squares, const long n) {
  const long nearest = (2 * sum + n) / (2 * n), rest = sum - nearest * n;
  const long about_nearest = squares - nearest * sum - nearest * rest;
  return (double)about_nearest - (double)rest * (double)rest / (double)n;
}

// -- part: stream
// Totals of the pixels of an image, or of the totals of all groups.
#define $locals LOCAL uint all[$items];
#define $begin uint total = 0u;
#define $rows total += (uint)ITEM;  // what stream.cl has
KERNEL($items) void stream(GLOBAL uint* $totals) {
  $locals
  {
    $begin
    $rows
#define $join total += $totals[i];
    // -- part: all_groups
    // The totals of all groups.
    $unroll
    for (int i = ITEM; i < $groups; i += $items) {
      $join
    }
    // -- end
#undef $join
#define $put all[ITEM] = total;
#define $join all[ITEM] += all[ITEM + step];
#define $out $totals[GROUP_X] = all[0];
    // -- part: group_end
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
#undef $put
#undef $join
#define $join_sub_group  // the totals of a sub-group into one each
#define $put all[1 + ITEM / 32] = total;
#define $join total = all[1 + ITEM % ($items / 32)];
    // -- part: group_end_of_sub_groups
    // The same where the work-items of a sub-group exchange registers.
    $join_sub_group
    if (ITEM % 32 == 0) {
      $put
    }
    BARRIER;
    if (ITEM < 32) {
      $join
      if (ITEM == 0) {
        $out
      }
    }
    BARRIER;
    // -- end
  }
}

// -- part: last_group
// What the last group does that is done.
#define $total $totals[0] = 1u;
KERNEL($items) void last_group(GLOBAL uint* $ticket, GLOBAL uint* $totals) {
  LOCAL int is_last;
  if (is_last_group($ticket, GROUPS_X, &is_last)) {
    $total
  }
}
