// JPEGs of images of one form, as libjpeg-turbo encodes them: pixels to coefficients, how many bits
// each block takes, and the bits. The host puts zeros behind bytes of ones. GROUP_Y is the picture.
//   $items  of a group of blocks

// -- part: parameters
// `data` has for each picture where its tables begin. A table: for DC and AC of luminance, DC and AC
// of colour differences, the code of each symbol, and below it how many bits it has; then the divisors
// of quantisation of each component, row by row; then, row by row, the place of each coefficient in
// the order of the file.
struct Parameters {
  int pictures;
  int width, height, components;
  int across, down;  // pixels that a sample of a colour difference stands for
  int units_across, blocks;
  int groups;    // of blocks of a picture
  uint most;     // bits that a picture has room for
  int stride;    // of the image: bytes from row to row
  long step;     // from plane to plane
  long words;    // that a picture has room for
};
#define JPEG_DIVISORS 1024
#define JPEG_PLACES 1216
// What is a picture's own.
#define OWN_TABLES(data) ((data) + (data)[GROUP_Y])
#define OWN_COEFFICIENTS(all) ((all) + 64l * all_parameters.blocks * GROUP_Y)
// Of each block a bit for each coefficient that is not 0.
#define OWN_MARKS(all) ((all) + 8l * all_parameters.blocks * GROUP_Y)
#define OWN_LENGTHS(all) ((all) + (long)all_parameters.blocks * GROUP_Y)
#define OWN_BITS(all) ((all) + (long)(all_parameters.groups + 1) * GROUP_Y)

// Where a block of the file lies.
struct Block {
  int component, x, y;  // in its component, in blocks
  int exists;           // else it is there to fill up its unit
};
FUNCTION struct Block block_at(const int which, const int components, const int across,
                               const int down, const int units_across, const int width,
                               const int height) {
  const int luminance = components == 1 ? 1 : across * down;
  const int blocks_a_unit = components == 1 ? 1 : luminance + 2;
  const int unit = which / blocks_a_unit, within = which % blocks_a_unit;
  const int unit_x = unit % units_across, unit_y = unit / units_across;
  const int is_first = within < luminance;
  struct Block block;
  block.component = is_first ? 0 : within - luminance + 1;
  block.x = is_first ? unit_x * across + within % across : unit_x;
  block.y = is_first ? unit_y * down + within / across : unit_y;
  const int own_across = is_first ? 8 : 8 * across, own_down = is_first ? 8 : 8 * down;
  block.exists = block.x < (width + own_across - 1) / own_across &&
                 block.y < (height + own_down - 1) / own_down;
  return block;
}
#define BLOCK_AT(which)                                                                     \
  block_at(which, all_parameters.components, all_parameters.across, all_parameters.down,    \
           all_parameters.units_across, all_parameters.width, all_parameters.height)

// -- part: coefficients
// A work-item for each row and then each column of a block, those of one component together. Beyond
// the image its last pixels are repeated, and below what a component has of it, its last row of
// samples.
struct Colour {
  int red, green, blue, more;
};
FUNCTION struct Colour colour_of(const int component) {
  struct Colour colour;
  colour.red = component == 0 ? 19595 : component == 1 ? -11059 : 32768;
  colour.green = component == 0 ? 38470 : component == 1 ? -21709 : -27439;
  colour.blue = component == 0 ? 7471 : component == 1 ? 32768 : -5329;
  colour.more = component == 0 ? 32768 : 8421375;
  return colour;
}
FUNCTION int in_colour(const struct Colour* colour, const int red, const int green,
                       const int blue) {
  return (colour->red * red + colour->green * green + colour->blue * blue + colour->more) >> 16;
}
FUNCTION int pixel_of(GLOBAL const uchar* at, const long step, const struct Colour* colour,
                      const int components) {
  if (components == 1) return at[0];
  return in_colour(colour, at[0], at[step], at[2 * step]);
}
#define BYTE_AT(word, i) ((int)((word) >> (8 * (i)) & 255u))
// Adds what eight samples have of a row. Whole words: all of its pixels are there.
FUNCTION void add_fours(int* sums, const uint red, const uint green, const uint blue,
                        const struct Colour* colour, const int components) {
  for (int i = 0; i < 4; ++i) {
    sums[i] += components == 1
                   ? BYTE_AT(red, i)
                   : in_colour(colour, BYTE_AT(red, i), BYTE_AT(green, i), BYTE_AT(blue, i));
  }
}
FUNCTION void add_pairs(int* sums, const uint red, const uint green, const uint blue,
                        const struct Colour* colour) {
  int four[4] = {0, 0, 0, 0};
  add_fours(four, red, green, blue, colour, 3);
  sums[0] += four[0] + four[1];
  sums[1] += four[2] + four[3];
}
FUNCTION void add_words(int* sums, GLOBAL const uchar* at, const long step, const int across,
                        const struct Colour* colour, const int components) {
  if (across == 2) {
    const uint4 red = *(GLOBAL const uint4*)at, green = *(GLOBAL const uint4*)(at + step);
    const uint4 blue = *(GLOBAL const uint4*)(at + 2 * step);
    add_pairs(sums, red.x, green.x, blue.x, colour);
    add_pairs(sums + 2, red.y, green.y, blue.y, colour);
    add_pairs(sums + 4, red.z, green.z, blue.z, colour);
    add_pairs(sums + 6, red.w, green.w, blue.w, colour);
    return;
  }
  const long next = components == 1 ? 0l : step;
  const uint2 red = *(GLOBAL const uint2*)at, green = *(GLOBAL const uint2*)(at + next);
  const uint2 blue = *(GLOBAL const uint2*)(at + 2 * next);
  add_fours(sums, red.x, green.x, blue.x, colour, components);
  add_fours(sums + 4, red.y, green.y, blue.y, colour, components);
}
FUNCTION void add_pixels(int* sums, GLOBAL const uchar* row, const long step, const int first,
                         const int last, const int across, const struct Colour* colour,
                         const int components) {
  for (int i = 0; i < 8; ++i) {
    const int left = smaller(first + across * i, last);
    sums[i] += pixel_of(row + left, step, colour, components);
    if (across == 2) {
      sums[i] += pixel_of(row + smaller(left + 1, last), step, colour, components);
    }
  }
}
FUNCTION void forward_line(int* line, const int is_second) {
  const int s0 = line[0] + line[7], d0 = line[0] - line[7];
  const int s1 = line[1] + line[6], d1 = line[1] - line[6];
  const int s2 = line[2] + line[5], d2 = line[2] - line[5];
  const int s3 = line[3] + line[4], d3 = line[3] - line[4];
  const int outer = s0 + s3, outer_less = s0 - s3, inner = s1 + s2, inner_less = s1 - s2;
  const int shift = is_second ? 15 : 11, rounding = 1 << (shift - 1);
  line[0] = is_second ? (outer + inner + 2) >> 2 : (outer + inner) * 4;
  line[4] = is_second ? (outer - inner + 2) >> 2 : (outer - inner) * 4;
  const int even = (inner_less + outer_less) * 4433;
  line[2] = (even + outer_less * 6270 + rounding) >> shift;
  line[6] = (even - inner_less * 15137 + rounding) >> shift;
  const int third = d3 + d1, fourth = d2 + d0, fifth = (third + fourth) * 9633;
  const int b1 = (d3 + d0) * -7373, b2 = (d2 + d1) * -20995;
  const int b3 = fifth - third * 16069, b4 = fifth - fourth * 3196;
  line[7] = (d3 * 2446 + b1 + b3 + rounding) >> shift;
  line[5] = (d2 * 16819 + b2 + b4 + rounding) >> shift;
  line[3] = (d1 * 25172 + b2 + b3 + rounding) >> shift;
  line[1] = (d0 * 12299 + b1 + b4 + rounding) >> shift;
}
KERNEL(256) void make_coefficients(GLOBAL const uint* all_data, GLOBAL const uchar* images,
                                   GLOBAL short* all_coefficients, GLOBAL uchar* all_marks,
                                   PARAMETERS) {
  LOCAL int lines[32 * 72];
  LOCAL short in_order[32 * 64];
  const int components = all_parameters.components;
  GLOBAL const uint* data = OWN_TABLES(all_data);
  GLOBAL const uchar* image = images + all_parameters.step * components * GROUP_Y;
  const int component = GROUP_Z, k = ITEM % 8;
  const int luminance = components == 1 ? 1 : all_parameters.across * all_parameters.down;
  const int blocks_a_unit = components == 1 ? 1 : luminance + 2;
  const int of_unit = component == 0 ? luminance : 1;  // blocks of this component
  const int at = GROUP_X * 32 + ITEM / 8;
  const int which = at / of_unit * blocks_a_unit +
                    (component == 0 ? at % of_unit : luminance + component - 1);
  IN_LOCAL int* own = lines + ITEM / 8 * 72;
  IN_LOCAL short* own_order = in_order + ITEM / 8 * 64;
  const struct Block block = BLOCK_AT(which);
  const int exists = which < all_parameters.blocks && block.exists;
  const int across = component == 0 ? 1 : all_parameters.across;
  const int down = component == 0 ? 1 : all_parameters.down;
  const long step = all_parameters.step;
  int line[8];
  if (exists) {
    const struct Colour colour = colour_of(component);
    const int last_x = all_parameters.width - 1, last_y = all_parameters.height - 1;
    const int y = down * smaller(8 * block.y + k, (all_parameters.height + down - 1) / down - 1);
    const int x = 8 * across * block.x;
    GLOBAL const uchar* upper = image + (long)y * all_parameters.stride;
    GLOBAL const uchar* lower =
        image + (long)smaller(y + 1, last_y) * all_parameters.stride;
    for (int i = 0; i < 8; ++i) line[i] = 0;
    if (x + 8 * across - 1 <= last_x) {
      add_words(line, upper + x, step, across, &colour, components);
      if (down == 2) add_words(line, lower + x, step, across, &colour, components);
    } else {
      add_pixels(line, upper, step, x, last_x, across, &colour, components);
      if (down == 2) add_pixels(line, lower, step, x, last_x, across, &colour, components);
    }
    for (int i = 0; i < 8; ++i) {
      // Halves go up and down in turns, but where two rows are one alone.
      const int sum = line[i], odd = i % 2;
      const int sample = across == 2 && down == 2 ? (sum + 1 + odd) >> 2
                         : across == 2            ? (sum + odd) >> 1
                         : down == 2              ? (sum + 1) >> 1
                                                  : sum;
      line[i] = sample - 128;
    }
    forward_line(line, 0);
    for (int i = 0; i < 8; ++i) own[9 * k + i] = line[i];
  }
  BARRIER;
  if (exists) {
    for (int i = 0; i < 8; ++i) line[i] = own[9 * i + k];
    forward_line(line, 1);
    GLOBAL const uint* divisors = data + JPEG_DIVISORS + 64 * component;
    for (int i = 0; i < 8; ++i) {
      const uint divisor = divisors[8 * i + k];
      const uint size = (uint)(line[i] < 0 ? -line[i] : line[i]);
      const int rounded = (int)((size + divisor / 2u) / divisor);
      own_order[data[JPEG_PLACES + 8 * i + k]] = (short)(line[i] < 0 ? -rounded : rounded);
    }
  }
  BARRIER;
  if (exists) {
    GLOBAL short* to = OWN_COEFFICIENTS(all_coefficients) + 64l * which + 8 * k;
    uint marks = 0u;
    for (int i = 0; i < 8; ++i) {
      to[i] = own_order[8 * k + i];
      marks |= own_order[8 * k + i] != 0 ? 1u << i : 0u;
    }
    OWN_MARKS(all_marks)[8l * which + k] = (uchar)marks;
  }
}

// -- part: blocks(int items)
// The codes of a block: how many bits they are, and the bits.
struct Written {
  GLOBAL uint* words;
  ulong held;  // bits, from the uppermost down
  int count;
  int is_shared;  // the word has bits of the block before
  uint all;
};
FUNCTION uint turned(const uint word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}
FUNCTION void write_bits(struct Written* to, const uint bits, const int count, const int writes) {
  to->all += (uint)count;
  if (!writes) return;
  to->held |= (ulong)bits << (64 - to->count - count);
  to->count += count;
  if (to->count >= 32) {
    const uint word = turned((uint)(to->held >> 32));
    if (to->is_shared) OR_GLOBAL(to->words, word);
    else *to->words = word;
    to->is_shared = 0;
    to->held <<= 32;
    to->count -= 32;
    ++to->words;
  }
}
// A symbol and the bits of a number behind it.
FUNCTION void write_number(struct Written* to, GLOBAL const uint* codes, const int run,
                           const int number, const int writes) {
  const uint magnitude = (uint)(number < 0 ? -number : number);
  const int size = 32 - LEADING_ZEROS(magnitude);
  const uint code = codes[run << 4 | size];
  const uint bits = (uint)(number < 0 ? number - 1 : number) & ((1u << size) - 1u);
  write_bits(to, (code >> 8) << size | bits, (int)(code & 255u) + size, writes);
}
// The last block before this one in the unit that is no filling: the one whose DC that one has.
FUNCTION int dc_of(GLOBAL const short* coefficients, const int which, const int components,
                   const int across, const int down, const int units_across, const int width,
                   const int height) {
  int at = which;
  while (!block_at(at, components, across, down, units_across, width, height).exists) --at;
  return coefficients[64l * at];
}
#define DC_OF(which)                                                                           \
  dc_of(coefficients, which, all_parameters.components, all_parameters.across,                 \
        all_parameters.down, all_parameters.units_across, all_parameters.width,                \
        all_parameters.height)
// coefficients: two a word.
FUNCTION void write_block(struct Written* to, GLOBAL const uint* data,
                          IN_LOCAL const uint* coefficients, const uint2 marks,
                          const struct Block* block, const int difference, const int writes) {
  GLOBAL const uint* codes = data + (block->component == 0 ? 0 : 512);
  write_number(to, codes, 0, difference, writes);
  int last = 0;
  uint left = block->exists ? marks.x & ~1u : 0u, later = block->exists ? marks.y : 0u;
  int base = 0;
  while ((left | later) != 0u) {
    if (left == 0u) {
      left = later;
      later = 0u;
      base = 32;
    }
    const int k = base + 31 - LEADING_ZEROS(left & (0u - left));
    left &= left - 1u;
    const int number = (int)(short)(coefficients[k / 2] >> (16 * (k % 2)));
    int run = k - last - 1;
    last = k;
    for (; run > 15; run -= 16) {
      write_bits(to, codes[256 + 0xf0] >> 8, (int)(codes[256 + 0xf0] & 255u), writes);
    }
    write_number(to, codes + 256, run, number, writes);
  }
  if (last < 63) write_bits(to, codes[256] >> 8, (int)(codes[256] & 255u), writes);
}
// The blocks of a group in local memory, each a word longer than it is, so that work-items read from
// different banks.
FUNCTION void load_blocks(IN_LOCAL uint* to, GLOBAL const short* coefficients, const int first,
                          const int blocks) {
  GLOBAL const uint* from = (GLOBAL const uint*)coefficients + 32l * first;
  const int words = 32 * smaller($items, blocks - first);
  for (int i = ITEM; i < words; i += $items) to[i / 32 * 33 + i % 32] = from[i];
  BARRIER;
}
// The difference from the DC before it; a filling has none.
#define DIFFERENCE(difference)                                                               \
  int difference = 0;                                                                        \
  if (block.exists) {                                                                        \
    const int luminance = all_parameters.components == 1                                     \
                              ? 1                                                            \
                              : all_parameters.across * all_parameters.down;                 \
    const int blocks_a_unit = all_parameters.components == 1 ? 1 : luminance + 2;            \
    const int within = which % blocks_a_unit;                                                \
    const int before = within == 0          ? which - blocks_a_unit + luminance - 1          \
                       : within < luminance ? which - 1                                      \
                                            : which - blocks_a_unit;                         \
    difference = coefficients[64l * which] - (before < 0 ? 0 : DC_OF(before));               \
  }

// -- part: measure(int items)
// How many bits each block takes, and all of a group.
KERNEL($items) void measure_blocks(GLOBAL const uint* all_data,
                                   GLOBAL const short* all_coefficients,
                                   GLOBAL const uchar* all_marks, GLOBAL uint* all_lengths,
                                   GLOBAL uint* all_bits, PARAMETERS) {
  LOCAL uint sums[$items];
  LOCAL uint block_words[33 * $items];
  GLOBAL const uint* data = OWN_TABLES(all_data);
  GLOBAL const short* coefficients = OWN_COEFFICIENTS(all_coefficients);
  GLOBAL const uint2* marks = (GLOBAL const uint2*)OWN_MARKS(all_marks);
  GLOBAL uint* lengths = OWN_LENGTHS(all_lengths);
  const int which = GROUP_X * $items + ITEM;
  load_blocks(block_words, coefficients, GROUP_X * $items, all_parameters.blocks);
  struct Written measured;
  measured.words = 0;
  measured.held = 0;
  measured.count = 0;
  measured.is_shared = 0;
  measured.all = 0u;
  if (which < all_parameters.blocks) {
    const struct Block block = BLOCK_AT(which);
    DIFFERENCE(difference)
    write_block(&measured, data, block_words + 33 * ITEM, marks[which], &block, difference, 0);
    lengths[which] = measured.all;
  }
  sums[ITEM] = measured.all;
  BARRIER;
  for (int by = $items / 2; by > 0; by /= 2) {
    if (ITEM < by) sums[ITEM] += sums[ITEM + by];
    BARRIER;
  }
  if (ITEM == 0) OWN_BITS(all_bits)[GROUP_X] = sums[0];
}

// -- part: add
// Sums of bits up to each work-item of a group, with its own; by all of them together.
FUNCTION uint bits_upto(IN_LOCAL uint* sums, uint own, const int items) {
  sums[ITEM] = own;
  BARRIER;
  for (int by = 1; by < items; by *= 2) {
    if (ITEM >= by) own += sums[ITEM - by];
    BARRIER;
    sums[ITEM] = own;
    BARRIER;
  }
  return own;
}

// -- part: add_groups(int joiners)
// The bits before each group in place of its own, and behind them those of all.
KERNEL($joiners) void add_groups(GLOBAL uint* all_bits, PARAMETERS) {
  LOCAL uint sums[$joiners];
  GLOBAL uint* group_bits = OWN_BITS(all_bits);
  uint before = 0u;
  for (int begin = 0; begin < all_parameters.groups; begin += $joiners) {
    const int g = begin + ITEM;
    const uint own = g < all_parameters.groups ? group_bits[g] : 0u;
    const uint upto = bits_upto(sums, own, $joiners);
    if (g < all_parameters.groups) group_bits[g] = before + upto - own;
    before += sums[$joiners - 1];
    BARRIER;
  }
  if (ITEM == 0) group_bits[all_parameters.groups] = before;
}

// -- part: write(int items)
// The bits of each block. They were zeros; the last byte is filled up with ones.
KERNEL($items) void write_blocks(GLOBAL const uint* all_data,
                                 GLOBAL const short* all_coefficients,
                                 GLOBAL const uchar* all_marks, GLOBAL const uint* all_lengths,
                                 GLOBAL const uint* all_bits, GLOBAL uint* all_words,
                                 GLOBAL double* results, PARAMETERS) {
  LOCAL uint sums[$items];
  LOCAL uint block_words[33 * $items];
  GLOBAL const uint* data = OWN_TABLES(all_data);
  GLOBAL const short* coefficients = OWN_COEFFICIENTS(all_coefficients);
  GLOBAL const uint2* marks = (GLOBAL const uint2*)OWN_MARKS(all_marks);
  GLOBAL const uint* lengths = OWN_LENGTHS(all_lengths);
  GLOBAL const uint* group_bits = OWN_BITS(all_bits);
  GLOBAL uint* words = all_words + all_parameters.words * GROUP_Y;
  GLOBAL double* result = results + 2 * GROUP_Y;
  const int which = GROUP_X * $items + ITEM;
  const uint own = which < all_parameters.blocks ? lengths[which] : 0u;
  load_blocks(block_words, coefficients, GROUP_X * $items, all_parameters.blocks);
  const uint upto = group_bits[GROUP_X] + bits_upto(sums, own, $items);
  const uint all = group_bits[all_parameters.groups];
  if (which == 0) {
    result[0] = (double)((all + 7u) / 8u);
    result[1] = all > all_parameters.most ? 1.0 : 0.0;
  }
  if (which < all_parameters.blocks && all <= all_parameters.most) {
    const struct Block block = BLOCK_AT(which);
    DIFFERENCE(difference)
    const uint at = upto - own;
    struct Written written;
    written.words = words + (at >> 5);
    written.held = 0;
    written.count = (int)(at & 31u);
    written.is_shared = 1;
    written.all = 0u;
    write_block(&written, data, block_words + 33 * ITEM, marks[which], &block, difference, 1);
    if (which == all_parameters.blocks - 1 && (all & 7u) != 0u) {
      const int left = 8 - (int)(all & 7u);
      write_bits(&written, (1u << left) - 1u, left, 1);
    }
    if (written.count > 0) OR_GLOBAL(written.words, turned((uint)(written.held >> 32)));
  }
}

// -- part: clear
// Zeros, for bits.
KERNEL(256) void clear_words(GLOBAL uint* words, PARAMETERS) {
  const long at = (long)GROUP_X * 256 + ITEM;
  if (at < all_parameters.words * all_parameters.pictures) words[at] = 0u;
}

// -- part: take
// The beginning of what was written of each picture, one behind the other. Each begins where a group
// does; of one that had no room there is nothing.
KERNEL(256) void take_words(GLOBAL const uint* from, GLOBAL const double* results, GLOBAL uint* to,
                            PARAMETERS) {
  const long first = (long)GROUP_X * 256;
  long begin = 0, end = 0;
  int picture = -1;
  while (end <= first && picture + 1 < all_parameters.pictures) {
    ++picture;
    begin = end;
    const double bytes = results[2 * picture + 1] != 0.0 ? 0.0 : results[2 * picture];
    end = begin + ((long)bytes + 1023l) / 1024l * 256l;
  }
  const long at = first - begin + ITEM;
  if (first < end && at < all_parameters.words) {
    to[first + ITEM] = from[all_parameters.words * picture + at];
  }
}
