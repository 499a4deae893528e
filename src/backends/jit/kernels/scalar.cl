// Scalar nodes: the measurements are put side by side, then one work-item runs the body.
#define $items 128   // of a group
#define $inputs 1    // measurements
#define $counts 256  // values of each
#define $arguments 1
#define $values 0.5
FUNCTION void $body(GLOBAL const double* in, const long* count, const double* args,
                    GLOBAL double* out) {
  out[0] = in[count[0] - 1] * args[0];
}

// -- part: steps
// By all work-items of a group.
#define $count 256
#define $at 0
#define $in $inputs_side_by_side
KERNEL($items) void steps(GLOBAL const double* $from, GLOBAL double* $inputs_side_by_side,
                          GLOBAL double* $out) {
  {
    GLOBAL double* in = $in;
    // -- part: gather
    // The values of a measurement, beside those of the others.
    for (int i = ITEM; i < $count; i += $items) {
      in[$at + i] = $from[i];
    }
    // -- end
    GLOBAL_BARRIER;
    if (ITEM == 0) {
      const long count[$inputs] = {$counts};
      const double args[$arguments] = {$values};
      $body(in, count, args, $out);
    }
    GLOBAL_BARRIER;
  }
}
