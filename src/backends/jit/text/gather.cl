// Copies the pixels of an array of any strides to planes.

// -- part: parameters
// The array's offset and steps, the bytes of a row of the planes, their size, and a pixel's bytes.
struct Parameters {
  long offset, step_x, step_y, step_channel, stride;
  int width, height, groups_a_row, bytes;
};

// -- part: gather
// Copies one pixel a work-item; a group works on one row.
KERNEL(256) void gather(GLOBAL const uchar* RESTRICT from, GLOBAL uchar* RESTRICT to, PARAMETERS) {
  const int x = GROUP_X % all_parameters.groups_a_row * 256 + ITEM;
  const int row = GROUP_X / all_parameters.groups_a_row;  // of all planes
  if (x >= all_parameters.width) return;
  GLOBAL const uchar* pixel = from + all_parameters.offset + x * all_parameters.step_x +
                              row % all_parameters.height * all_parameters.step_y +
                              row / all_parameters.height * all_parameters.step_channel;
  GLOBAL uchar* copy = to + row * all_parameters.stride;
  if (all_parameters.bytes == 4) {
    ((GLOBAL uint*)copy)[x] = *(GLOBAL const uint*)pixel;
  } else if (all_parameters.bytes == 2) {
    ((GLOBAL ushort*)copy)[x] = *(GLOBAL const ushort*)pixel;
  } else {
    copy[x] = *pixel;
  }
}
