// Scalar nodes: the measurements are put side by side, then one work-item runs the body.
#define $items 128   // of a group
#define $channels 3
#define $first GROUP_X  // channel of the group, and how far its next one is
#define $apart GROUPS_X
#define $inputs 1    // measurements
#define $counts 256  // values of each
#define $arguments 1
#define $values 0.5
#define $results 2
FUNCTION void $body(GLOBAL const double* in, const long* count, const double* args,
                    GLOBAL double* out) {
  out[0] = in[count[0] - 1] * args[0];
}

// -- part: steps
// One work-item runs the body for each channel; by all work-items of a group.
#define $count 256
#define $at 0
#define $own c * 256
#define $in $inputs_of_all + c * 256
KERNEL($items) void steps(GLOBAL const double* $from, GLOBAL double* $inputs_of_all,
                          GLOBAL double* $out) {
  for (int c = $first; c < $channels; c += $apart) {
    GLOBAL double* in = $in;
    // -- part: gather
    // The values of a measurement, beside those of the others.
    for (int i = ITEM; i < $count; i += $items) {
      in[$at + i] = $from[$own + i];
    }
    // -- end
    GLOBAL_BARRIER;
    if (ITEM == 0) {
      const long count[$inputs] = {$counts};
      const double args[$arguments] = {$values};
      $body(in, count, args, $out + c * $results);
    }
    GLOBAL_BARRIER;
  }
}
