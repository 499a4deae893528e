// Deflate (RFC 1951) of parts of at most 64 KB, a group each: a block of Huffman codes made for the
// part. Each part but a chunk's last ends with an empty stored block, on a byte, so that parts are
// joined as bytes. A part that does not shrink is left to be stored. Whatever order work-items run
// in, the same bits come out. GROUP_X and first_part are the part, of all chunks of all pictures.
#define $items 256
#define $coders 64
#define $copies 1
#define $near 3  // the distance of a pixel, 0: none

// -- part: blocks
// What is known of a part's block, in words: first how often literals and distances occur, then
// their codes, with their bits in the order of the file and above 16 bits how many they are; the
// bits of the whole block (before: what copies save of a sample); the bits of its head (what the
// sample takes without copies), and the head.
#define BLOCK_WORDS 512
#define BLOCK_DISTANCES 288
#define BLOCK_BITS 320
#define BLOCK_HEAD 322
// Tokens of a part, of 16 bits: a byte; 256 and a length less 3, behind which there is
// TOKEN_DISTANCE and a distance less 1. Never more than bytes.
#define TOKEN_DISTANCE 0x8000u
#define THIS_PART (all_parameters.first_part + GROUP_X)
struct Part {
  GLOBAL const uint* from;
  uint bytes;
  int is_last;  // of its chunk
};
FUNCTION struct Part part_at(const struct Parameters* p, GLOBAL const uint* filtered,
                             const int at) {
  const int which = at / p->parts, begin = at % p->parts * p->part_bytes;
  const struct Chunk chunk = chunk_at(p, which % p->chunks);
  struct Part part;
  part.from = filtered + (p->chunk_step * which + begin) / 4;
  part.bytes = bytes_of_part(p, &chunk, at % p->parts);
  part.is_last = begin + (int)part.bytes >= chunk.bytes;
  return part;
}
FUNCTION uint turned_bits(uint word) {
  word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
  word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
  word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
  word = (word >> 8 & 0x00ff00ffu) | (word & 0x00ff00ffu) << 8;
  return word >> 16 | word << 16;
}
// Bits that follow the symbol of a length, or of a distance.
FUNCTION uint bits_behind_literal(const int symbol) {
  return symbol < 265 || symbol > 284 ? 0u : (uint)(symbol - 261) / 4u;
}
FUNCTION uint bits_behind_distance(const int symbol) {
  return symbol < 4 ? 0u : (uint)(symbol - 2) / 2u;
}
FUNCTION uint bits_behind_run(const uint symbol) {
  return symbol < 16u ? 0u : symbol == 16u ? 2u : symbol == 17u ? 3u : 7u;
}

// -- part: count
// How often bytes occur, and what Adler-32 sums: bytes, and bytes by how many follow, themselves
// too. 64 words of a part of 64 KB keep the second sum below 2^32.
FUNCTION void count_word(IN_LOCAL uint* counts, const uint word, const int left, uint* first,
                         uint* second) {
  if (left >= 4) {
    const uint sum = add_bytes(word, 0u);
    *first += sum;
    *second += (uint)left * sum - (word >> 8 & 255u) - 2u * (word >> 16 & 255u) - 3u * (word >> 24);
    if (word == (word & 255u) * 0x1010101u) {
      ADD_LOCAL(counts + (word & 255u), 4u);
    } else {
      for (int k = 0; k < 4; ++k) ADD_LOCAL(counts + (word >> (8 * k) & 255u), 1u);
    }
  } else {
    for (int k = 0; k < left; ++k) {
      const uint byte = word >> (8 * k) & 255u;
      *first += byte;
      *second += byte * (uint)(left - k);
      ADD_LOCAL(counts + byte, 1u);
    }
  }
}
KERNEL($items) void count_bytes(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                GLOBAL uint4* all_parts, PARAMETERS) {
  LOCAL uint counts[256];
  LOCAL uint sums[$items / 16 * 17];
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  for (int i = ITEM; i < 256; i += $items) counts[i] = 0u;
  BARRIER;
  uint own_first = 0u, own_second = 0u, first, second;
  for (int i = ITEM; 16 * i < (int)part.bytes; i += $items) {
    const uint4 four = ((GLOBAL const uint4*)part.from)[i];
    const int left = (int)part.bytes - 16 * i;
    count_word(counts, four.x, left, &own_first, &own_second);
    count_word(counts, four.y, left - 4, &own_first, &own_second);
    count_word(counts, four.z, left - 8, &own_first, &own_second);
    count_word(counts, four.w, left - 12, &own_first, &own_second);
  }
  sums_before(sums, own_first, &first, $items);
  sums_before(sums, own_second % ADLER, &second, $items);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  for (int i = ITEM; i < BLOCK_BITS; i += $items) {
    block[i] = i < 256 ? counts[i] : i == 256 ? 1u : 0u;
  }
  if (ITEM == 0) {
    uint4 known;
    known.x = 0u;
    known.y = first % ADLER;
    known.z = second % ADLER;
    known.w = 0u;
    all_parts[THIS_PART] = known;
  }
}

// -- part: copies
// What a group finds copies with: where four bytes, or six, were last seen, hashed, as positions
// and 1; what bytes take by how often they occur, in sixteenths of bits.
#define TABLE_BITS 12
#define LONG_TABLE_BITS 11
#define MAX_COPY 258u
#define MAX_DISTANCE 32768u
struct Finder {
  uint4 few[$items / 16 + 1];  // of few_before
  uint table[1 << TABLE_BITS], long_table[1 << LONG_TABLE_BITS];
  uint counts[BLOCK_BITS];
  uint sums[$items / 16 * 17];
  uint entry;  // the first position of a step that no copy covers
  ushort next[$items], gains[$items + 1];
  uchar reached[$items], prices[256];
};
FUNCTION uint highest_bit(const uint word) { return (uint)(31 - LEADING_ZEROS(word)); }
// About 16 times the binary logarithm.
FUNCTION uint logarithm(const uint value) {
  const uint top = highest_bit(value);
  return 16u * top + (value << 4 >> top & 15u);
}
FUNCTION uint word_at(GLOBAL const uint* words, const uint at) {
  return SHIFTED_WORD(words[at >> 2], words[(at >> 2) + 1u], 8u * (at & 3u));
}
FUNCTION uint same_bytes(GLOBAL const uint* words, const uint at, const uint distance,
                         const uint most) {
  uint same = 0u, differ = 0u;
  while (same < most && differ == 0u) {
    differ = word_at(words, at + same) ^ word_at(words, at + same - distance);
    same += differ == 0u ? 4u : highest_bit(differ & (0u - differ)) / 8u;
  }
  return same < most ? same : most;
}
// What a copy saves: what its bytes take, of which the first eight are looked at, less what it
// takes.
FUNCTION uint saved_by(IN_LOCAL const uchar* prices, GLOBAL const uint* words, const uint at,
                       const uint length, const uint distance) {
  const uint looked = length < 8u ? length : 8u;
  const uint low = word_at(words, at), high = word_at(words, at + 4u);
  uint sum = 0u;
  for (uint k = 0u; k < 8u; ++k) {
    const uint byte = (k < 4u ? low >> (8u * k) : high >> (8u * (k - 4u))) & 255u;
    sum += k < looked ? prices[byte] : 0u;
  }
  sum = sum * length / looked;
  const uint bits = 11u + (distance > 4u ? highest_bit(distance - 1u) - 1u : 0u) +
                    (length > 10u ? highest_bit(length - 3u) - 2u : 0u);
  const uint gain = sum > 16u * bits ? sum - 16u * bits : 0u;
  return gain < 65535u ? gain : 65535u;
}
// Of a length less 3, and of a distance less 1.
FUNCTION int length_symbol(const uint length) {
  if (length == 255u) return 285;
  if (length < 8u) return 257 + (int)length;
  const uint behind = highest_bit(length) - 2u;
  return (int)(257u + 4u * (behind + 1u) + (length >> behind & 3u));
}
FUNCTION int distance_symbol(const uint distance) {
  if (distance < 4u) return (int)distance;
  const uint behind = highest_bit(distance) - 1u;
  return (int)(2u * (behind + 1u) + (distance >> behind & 1u));
}
struct Copy {
  uint length, distance, gain;  // length 0: none
};
FUNCTION void try_copy(IN_LOCAL const struct Finder* s, GLOBAL const uint* words, const uint at,
                       const uint end, const uint distance, struct Copy* best) {
  if (distance > at || distance > MAX_DISTANCE || best->length == MAX_COPY) return;
  const uint most = end - at < MAX_COPY ? end - at : MAX_COPY;
  const uint length = same_bytes(words, at, distance, most);
  if (length < 3u || length <= best->length) return;
  const uint gain = saved_by(s->prices, words, at, length, distance);
  if (gain <= best->gain) return;
  best->length = length;
  best->distance = distance;
  best->gain = gain;
}
// The best copy for a position, and what the tables know from now on. Positions of one step are put
// there after all have looked, and the last one stays.
FUNCTION void find_copy(IN_LOCAL struct Finder* s, GLOBAL const uint* words, const uint at,
                        const uint end, struct Copy* best) {
  const int is_first = at + 4u <= end, is_long = at + 8u <= end;
  const uint low = is_first ? word_at(words, at) : 0u;
  const uint high = is_long ? word_at(words, at + 4u) & 0xffffu : 0u;
  const uint hash = low * 2654435761u, place = hash >> (32 - TABLE_BITS);
  const uint long_place = (hash ^ high * 2246822519u) * 3266489917u >> (32 - LONG_TABLE_BITS);
  const uint seen = is_first ? s->table[place] : 0u;
  const uint long_seen = is_long ? s->long_table[long_place] : 0u;
  const uint entry = s->entry;
  BARRIER;
  if (is_first) MAX_LOCAL(s->table + place, at + 1u);
  if (is_long) MAX_LOCAL(s->long_table + long_place, at + 1u);
  best->length = 0u;
  best->distance = 0u;
  best->gain = 0u;
  if (is_first && (uint)ITEM >= entry) {
    try_copy(s, words, at, end, 1u, best);
    if ($near > 1) try_copy(s, words, at, end, $near, best);
    if (seen != 0u) try_copy(s, words, at, end, at + 1u - seen, best);
    if (long_seen != seen && long_seen != 0u) {
      try_copy(s, words, at, end, at + 1u - long_seen, best);
    }
  }
}
// Which positions of a step are reached from its entry, where each goes behind its copy or its
// byte; by ways of doubled length. The next step's entry.
FUNCTION void reach_positions(IN_LOCAL struct Finder* s, const uint length) {
  const uint entry = s->entry, onward = (uint)ITEM + (length == 0u ? 1u : length);
  uint to = onward;
  s->next[ITEM] = (ushort)onward;
  s->reached[ITEM] = (uint)ITEM == entry;
  BARRIER;
  for (int by = 1; by < $items; by *= 2) {
    const int is_reached = s->reached[ITEM];
    const uint further = to < $items ? s->next[to] : to;
    BARRIER;
    if (is_reached && to < $items) s->reached[to] = 1;
    s->next[ITEM] = (ushort)further;
    to = further;
    BARRIER;
  }
  if (s->reached[ITEM] && onward >= $items) s->entry = onward - $items;
  if (ITEM == 0 && entry >= $items) s->entry = entry - $items;
}
FUNCTION uint sum_of_first(const uint4 bytes, const int count) {
  uint sum = add_bytes(bytes.x & bytes_inside(0, count), 0u);
  sum = add_bytes(bytes.y & bytes_inside(4, count), sum);
  sum = add_bytes(bytes.z & bytes_inside(8, count), sum);
  return add_bytes(bytes.w & bytes_inside(12, count), sum);
}
// sums_before of numbers up to 15 as bytes, of 256 items.
FUNCTION uint few_before(IN_LOCAL uint4* memory, const uint own, uint* all) {
  IN_LOCAL uchar* bytes = (IN_LOCAL uchar*)memory;
  bytes[ITEM] = (uchar)own;
  BARRIER;
  if (ITEM < $items / 16) bytes[$items + ITEM] = (uchar)sum_of_first(memory[ITEM], 16);
  BARRIER;
  const uint4 sums = memory[$items / 16];
  const uint before = sum_of_first(sums, ITEM / 16) + sum_of_first(memory[ITEM / 16], ITEM % 16);
  *all = sum_of_first(sums, 16);
  BARRIER;
  return before;
}
FUNCTION void begin_finder(IN_LOCAL struct Finder* s, GLOBAL const uint* block, const uint bytes) {
  const uint all = bytes == 0u ? 0u : 1u << TABLE_BITS;
  for (uint i = (uint)ITEM; i < all; i += $items) s->table[i] = 0u;
  for (uint i = (uint)ITEM; i < all / 2u; i += $items) s->long_table[i] = 0u;
  for (int i = ITEM; i < 256; i += $items) {
    const int price = (int)logarithm(bytes + 256u) - (int)logarithm(block[i] + 1u);
    s->prices[i] = (uchar)smaller(larger(price, 16), 240);
  }
  for (int i = ITEM; i < BLOCK_BITS; i += $items) s->counts[i] = i == 256 ? 1u : 0u;
  if (ITEM == 0) {
    s->entry = 0u;
    s->gains[$items] = 0;
  }
}

// -- part: find_copies
// The tokens of each part. First launched for samples of 8 KB, to find out where copies save a
// 32nd; then only those parts have tokens.
KERNEL($items) void find_copies(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                GLOBAL uint4* all_parts, GLOBAL ushort* all_tokens, PARAMETERS) {
  LOCAL struct Finder s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  GLOBAL ushort* tokens = all_tokens + (long)all_parameters.part_bytes * GROUP_X;
  const int is_sample = all_parameters.is_sample;
  const uint begin = is_sample && part.bytes > 8192u ? (part.bytes - 8192u) / 32u * 16u : 0u;
  const int pays = is_sample || block[BLOCK_BITS] * 32u > block[BLOCK_BITS + 1];
  const uint end = !pays ? 0u : is_sample && part.bytes > 8192u ? 8192u : part.bytes;
  GLOBAL const uint* words = part.from + begin / 4u;
  begin_finder(&s, block, pays ? part.bytes : 0u);
  BARRIER;
  uint count = 0u, saved = 0u, price = 0u;
  for (uint step = 0u; step < end; step += $items) {
    const uint at = step + (uint)ITEM;
    struct Copy copy;
    find_copy(&s, words, at, end, &copy);
    s.gains[ITEM] = (ushort)copy.gain;
    BARRIER;
    // A copy waits where the one behind it saves more.
    if (s.gains[ITEM + 1] > copy.gain) copy.length = 0u;
    reach_positions(&s, copy.length);
    const int is_token = s.reached[ITEM] && at < end;
    const uint byte = at < end ? word_at(words, at) & 255u : 0u;
    uint all, own = !is_token ? 0u : copy.length != 0u ? 2u : 1u;
    own = count + few_before(s.few, own, &all);
    count += all;
    price += at < end ? s.prices[byte] : 0u;
    if (is_token && copy.length != 0u) {
      saved += copy.gain;
      ADD_LOCAL(s.counts + length_symbol(copy.length - 3u), 1u);
      ADD_LOCAL(s.counts + BLOCK_DISTANCES + distance_symbol(copy.distance - 1u), 1u);
      if (!is_sample) tokens[own] = (ushort)(copy.length + 253u);
      if (!is_sample) tokens[own + 1u] = (ushort)(TOKEN_DISTANCE | (copy.distance - 1u));
    } else if (is_token) {
      ADD_LOCAL(s.counts + byte, 1u);
      if (!is_sample) tokens[own] = (ushort)byte;
    }
  }
  sums_before(s.sums, saved, &saved, $items);
  sums_before(s.sums, price, &price, $items);
  if (ITEM == 0 && is_sample) {
    block[BLOCK_BITS] = saved;
    block[BLOCK_BITS + 1] = price;
  }
  for (int i = ITEM; i < (is_sample || !pays ? 0 : BLOCK_BITS); i += $items) block[i] = s.counts[i];
  if (ITEM == 0 && !is_sample) all_parts[THIS_PART].w = count;
}

// -- part: codes
// What a group makes codes with: of literals, of distances, and of the runs in which the lengths of
// both are sent.
#define CODES_DISTANCES 288
#define CODES_RUNS 320
struct Coder {
  uint counts[340], codes[340];
  uchar lengths[340];
  // The tree of a code: symbols that occur by how often they do, those of equal numbers in order.
  uint keys[288], sorted[288], weights[288], symbols;
  ushort parents[576];
  uchar depths[576];
  uint of_length[16];  // symbols
  // A symbol, and above 5 bits what follows it.
  ushort runs[320];
  uint run_count, literals, distances;
  uint sums[$coders / 16 * 17];
};
// Lengths of codes. The tree is made by one work-item from two queues: symbols in order, and nodes,
// which come in order. Node i has the number `symbols` + i.
FUNCTION void make_tree(IN_LOCAL struct Coder* s) {
  const int n = (int)s->symbols;
  int leaf = 0, node = 0;
  uint next_leaf = s->sorted[0] >> 9, next_node = 0xffffffffu;
  for (int made = 0; made < n - 1; ++made) {
    uint sum = 0u;
    for (int both = 0; both < 2; ++both) {
      if (leaf < n && next_leaf <= next_node) {
        sum += next_leaf;
        s->parents[leaf++] = (ushort)(n + made);
        next_leaf = leaf < n ? s->sorted[leaf] >> 9 : 0xffffffffu;
      } else {
        sum += next_node;
        s->parents[n + node++] = (ushort)(n + made);
        next_node = node < made ? s->weights[node] : 0xffffffffu;
      }
    }
    s->weights[made] = sum;
    if (node == made) next_node = sum;
  }
  s->depths[2 * n - 2] = 0;
  for (int i = 2 * n - 3; i >= n; --i) s->depths[i] = (uchar)(s->depths[s->parents[i]] + 1);
}
// Numbers of symbols of each length until they are a whole code of at most `limit` bits: some grow
// longer where it is too short for them, and the longest shorter where there is room.
FUNCTION void limit_lengths(IN_LOCAL uint* of_length, const int limit) {
  uint sum = 0u;
  const uint whole = 1u << limit;
  for (int l = 1; l <= limit; ++l) sum += of_length[l] << (limit - l);
  while (sum > whole) {
    int l = limit - 1;
    while (of_length[l] == 0u) --l;
    --of_length[l];
    ++of_length[l + 1];
    sum -= 1u << (limit - l - 1);
  }
  while (sum < whole) {
    int l = limit;
    while (of_length[l] == 0u || 1u << (limit - l) > whole - sum) --l;
    --of_length[l];
    ++of_length[l - 1];
    sum += 1u << (limit - l);
  }
}
FUNCTION void sort_symbols(IN_LOCAL struct Coder* s, const int first, const int all) {
  if (ITEM == 0) s->symbols = 0u;
  if (ITEM < 16) s->of_length[ITEM] = 0u;
  for (int i = ITEM; i < all; i += $coders) {
    const uint count = s->counts[first + i];
    s->keys[i] = count != 0u ? count << 9 | (uint)i : 0xffffffffu;
    s->lengths[first + i] = 0;
  }
  BARRIER;
  for (int i = ITEM; i < all; i += $coders) {
    const uint key = s->keys[i];
    if (key != 0xffffffffu) {
      uint rank = 0u;
      for (int j = 0; j < all; ++j) rank += s->keys[j] < key ? 1u : 0u;
      s->sorted[rank] = key;
      ADD_LOCAL(&s->symbols, 1u);
    }
  }
  BARRIER;
}
FUNCTION void find_codes(IN_LOCAL struct Coder* s, const int first, const int all) {
  for (int i = ITEM; i < all; i += $coders) {
    const int length = s->lengths[first + i];
    uint code = 0u;
    for (int k = 1; k < length; ++k) code = (code + s->of_length[k]) << 1;
    for (int j = 0; j < i; ++j) code += s->lengths[first + j] == length ? 1u : 0u;
    s->codes[first + i] =
        length == 0 ? 0u : turned_bits(code) >> (32 - length) | (uint)length << 16;
  }
}

// -- part: runs
// How lengths of codes are sent: zeros and what is repeated as runs.
FUNCTION void add_run(IN_LOCAL struct Coder* s, const uint symbol, const uint behind) {
  s->runs[s->run_count++] = (ushort)(symbol | behind << 5);
  ++s->counts[CODES_RUNS + symbol];
}
FUNCTION uint length_sent(IN_LOCAL const struct Coder* s, const int i) {
  return s->lengths[i < (int)s->literals ? i : CODES_DISTANCES + i - (int)s->literals];
}
FUNCTION uint last_used(IN_LOCAL const uchar* lengths, int last, const int least) {
  while (last > least && lengths[last - 1] == 0) --last;
  return (uint)last;
}
FUNCTION void find_runs(IN_LOCAL struct Coder* s) {
  s->literals = last_used(s->lengths, 286, 257);
  s->distances = last_used(s->lengths + CODES_DISTANCES, 30, 1);
  s->run_count = 0u;
  const int all = (int)(s->literals + s->distances);
  for (int i = 0; i < all;) {
    const uint length = length_sent(s, i);
    int same = 1;
    while (i + same < all && same < 138 && length_sent(s, i + same) == length) ++same;
    if (length == 0u && same >= 3) {
      if (same > 10) add_run(s, 18u, (uint)same - 11u);
      else add_run(s, 17u, (uint)same - 3u);
    } else {
      add_run(s, length, 0u);
      same = smaller(same - 1, 6);
      if (length != 0u && same >= 3) add_run(s, 16u, (uint)same - 3u);
      else same = 0;
      ++same;
    }
    i += same;
  }
  // A code has two symbols or more.
  const uint first = s->runs[0] & 31u;
  if (s->counts[CODES_RUNS + first] == s->run_count) {
    s->counts[CODES_RUNS + (first == 0u ? 1 : 0)] = 1u;
  }
}
// The order in which the lengths of the codes of lengths are sent.
FUNCTION uint order_of_runs(const int i) {
  return i < 3        ? 16u + (uint)i
         : i == 3     ? 0u
         : i % 2 == 0 ? 8u + (uint)(i - 4) / 2u
                      : 7u - (uint)(i - 5) / 2u;
}
struct Head {
  GLOBAL uint* to;
  ulong held;
  uint fill, bits;
};
FUNCTION void put_head(struct Head* head, const uint value, const uint count) {
  head->held |= (ulong)value << head->fill;
  head->fill += count;
  head->bits += count;
  if (head->fill >= 32u) {
    *head->to++ = (uint)head->held;
    head->held >>= 32;
    head->fill -= 32u;
  }
}
// The head of a block, as words; the bits of it.
FUNCTION uint write_head(IN_LOCAL const struct Coder* s, const int is_last, GLOBAL uint* to) {
  int sent = 19;
  while (sent > 4 && s->lengths[CODES_RUNS + order_of_runs(sent - 1)] == 0) --sent;
  struct Head head;
  head.to = to;
  head.held = 0ul;
  head.fill = 0u;
  head.bits = 0u;
  put_head(&head, (uint)is_last | 2u << 1, 3);  // 2: with codes of its own
  put_head(&head, s->literals - 257u, 5);
  put_head(&head, s->distances - 1u, 5);
  put_head(&head, (uint)sent - 4u, 4);
  for (int i = 0; i < sent; ++i) put_head(&head, s->lengths[CODES_RUNS + order_of_runs(i)], 3);
  for (int i = 0; i < (int)s->run_count; ++i) {
    const uint run = s->runs[i], code = s->codes[CODES_RUNS + (run & 31u)];
    put_head(&head, code & 0xffffu, code >> 16);
    put_head(&head, run >> 5, bits_behind_run(run & 31u));
  }
  *head.to = (uint)head.held;
  return head.bits;
}

// -- part: make_blocks
// The codes of a part, the head of its block, and what it takes.
KERNEL($coders) void make_blocks(GLOBAL const uint* all_filtered, GLOBAL uint* blocks,
                                 GLOBAL uint4* all_parts, PARAMETERS) {
  LOCAL struct Coder s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  for (int i = ITEM; i < 340; i += $coders) {
    // A code has two symbols or more; of distances where there are none, too, so that any reader
    // takes it for one.
    const int is_distance = i == CODES_DISTANCES || i == CODES_DISTANCES + 1;
    const uint least = is_distance || (i == 0 && part.bytes == 0u) ? 1u : 0u;
    const uint count = i < BLOCK_BITS ? block[i] : 0u;
    s.counts[i] = count < least ? least : count;
  }
  BARRIER;
  for (int which = 0; which < 3; ++which) {
    const int first = which == 0 ? 0 : which == 1 ? CODES_DISTANCES : CODES_RUNS;
    const int all = which == 0 ? 286 : which == 1 ? 30 : 19, limit = which < 2 ? 15 : 7;
    sort_symbols(&s, first, all);
    if (ITEM == 0) make_tree(&s);
    BARRIER;
    for (int i = ITEM; i < (int)s.symbols; i += $coders) {
      ADD_LOCAL(s.of_length + smaller(s.depths[s.parents[i]] + 1, limit), 1u);
    }
    BARRIER;
    if (ITEM == 0) limit_lengths(s.of_length, limit);
    BARRIER;
    for (int i = ITEM; i < (int)s.symbols; i += $coders) {
      int longer = (int)s.of_length[limit], length = limit;
      while (i >= longer) longer += (int)s.of_length[--length];
      s.lengths[first + (int)(s.sorted[i] & 511u)] = (uchar)length;
    }
    BARRIER;
    find_codes(&s, first, all);
    if (ITEM == 0 && which == 1) find_runs(&s);
    BARRIER;
  }
  uint bits = ITEM == 0 ? write_head(&s, part.is_last, block + BLOCK_HEAD) : 0u, all_bits;
  if (ITEM == 0) block[BLOCK_BITS + 1] = bits;
  for (int i = ITEM; i < BLOCK_BITS; i += $coders) {
    const uint behind = i < CODES_DISTANCES ? bits_behind_literal(i)
                                            : bits_behind_distance(i - CODES_DISTANCES);
    bits += block[i] * ((s.codes[i] >> 16) + behind);
    block[i] = s.codes[i];
  }
  sums_before(s.sums, bits, &all_bits, $coders);
  if (ITEM == 0) {
    const uint deflated = part.is_last ? (all_bits + 7u) / 8u : (all_bits + 10u) / 8u + 4u;
    block[BLOCK_BITS] = all_bits;
    all_parts[THIS_PART].x = part.bytes == 0u             ? PART_STORED
                           : part.bytes + 5u <= deflated ? (part.bytes + 5u) | PART_STORED
                                                         : deflated;
  }
}

// -- part: strings
// Four strings of bits of each work-item, of at most 60 bits each, one behind the other.
struct Writer {
  uint codes[BLOCK_BITS];
  uint sums[$items / 16 * 17];
  uint stage[8 * $items + 8];
};
// Whole words that are written, and bits in the first word of the stage.
struct Output {
  GLOBAL uint* to;
  uint words, fill;
};
FUNCTION void put_string(IN_LOCAL uint* stage, const ulong string, const uint count,
                         const uint at) {
  IN_LOCAL uint* to = stage + (at >> 5);
  const uint shift = at & 31u;
  const ulong shifted = string << shift;
  if (count != 0u) OR_LOCAL(to, (uint)shifted);
  if (shift + count > 32u) OR_LOCAL(to + 1, (uint)(shifted >> 32));
  if (shift + count > 64u) OR_LOCAL(to + 2, (uint)(string >> (64u - shift)));
}
FUNCTION void put_strings(IN_LOCAL struct Writer* s, const ulong* strings, const uint* counts,
                          struct Output* out) {
  uint all, at = out->fill;
  at += sums_before(s->sums, counts[0] + counts[1] + counts[2] + counts[3], &all, $items);
  for (int k = 0; k < 4; ++k) {
    put_string(s->stage, strings[k], counts[k], at);
    at += counts[k];
  }
  BARRIER;
  const int whole = (int)((out->fill + all) >> 5);
  const uint rest = s->stage[whole];
  for (int i = ITEM; i < whole; i += $items) out->to[out->words + (uint)i] = s->stage[i];
  BARRIER;
  for (int i = ITEM; i <= whole; i += $items) s->stage[i] = i == 0 ? rest : 0u;
  BARRIER;
  out->words += (uint)whole;
  out->fill = (out->fill + all) & 31u;
}
FUNCTION void string_of_word(IN_LOCAL const uint* codes, const uint word, const int left,
                             ulong* string, uint* count) {
  *string = 0ul;
  *count = 0u;
  for (int k = 0; k < 4; ++k) {
    if (k < left) {
      const uint code = codes[word >> (8 * k) & 255u];
      *string |= (ulong)(code & 0xffffu) << *count;
      *count += code >> 16;
    }
  }
}
#if $copies
// Tokens are read as the bytes that they are made of: two of them are a string.
FUNCTION void string_of_tokens(IN_LOCAL const uint* codes, const uint two, const int left,
                               ulong* string, uint* count) {
  *string = 0ul;
  *count = 0u;
  for (int k = 0; k < 2; ++k) {
    if (2 * k < left) {
      const uint token = two >> (16 * k) & 0xffffu, distance = token & 0x7fffu;
      const int is_distance = (token & TOKEN_DISTANCE) != 0u;
      const int symbol = is_distance    ? BLOCK_DISTANCES + distance_symbol(distance)
                         : token < 256u ? (int)token
                                        : length_symbol(token - 256u);
      const uint behind = is_distance ? bits_behind_distance(symbol - BLOCK_DISTANCES)
                                      : bits_behind_literal(symbol);
      const uint code = codes[symbol], length = code >> 16;
      const uint value = (is_distance ? distance : token & 255u) & ((1u << behind) - 1u);
      *string |= (ulong)(code & 0xffffu | value << length) << *count;
      *count += length + behind;
    }
  }
}
#define STRING_OF_TOKENS string_of_tokens
#else
#define STRING_OF_TOKENS string_of_word
#endif
// Behind the last one there is the end of the block.
FUNCTION void strings_of(IN_LOCAL const uint* codes, GLOBAL const uint* from, const int at,
                         const int bytes, const int are_tokens, ulong* strings, uint* counts) {
  const int left = bytes - at;
  const uint4 four = ((GLOBAL const uint4*)from)[left > 0 ? at / 16 : 0];
  const uint words[4] = {four.x, four.y, four.z, four.w};
  for (int k = 0; k < 4; ++k) {
    if (are_tokens) {
      STRING_OF_TOKENS(codes, words[k], left - 4 * k, strings + k, counts + k);
    } else {
      string_of_word(codes, words[k], left - 4 * k, strings + k, counts + k);
    }
  }
  if (left >= 0 && left < 16) {
    strings[3] |= (ulong)(codes[256] & 0xffffu) << counts[3];
    counts[3] += codes[256] >> 16;
  }
}

// -- part: write_parts
// The bits of each part into its slot; of one that is stored, nothing.
KERNEL($items) void write_parts(GLOBAL const uint* all_filtered, GLOBAL const uint* blocks,
                                GLOBAL const uint4* all_parts, GLOBAL const ushort* all_tokens,
                                GLOBAL uint* slots, PARAMETERS) {
  LOCAL struct Writer s;
  const struct Part part = part_at(&all_parameters, all_filtered, THIS_PART);
  GLOBAL const uint* block = blocks + (long)BLOCK_WORDS * THIS_PART;
  const int is_stored = (all_parts[THIS_PART].x & PART_STORED) != 0u;
  const uint head = is_stored ? 0u : block[BLOCK_BITS + 1];
  struct Output out;
  out.to = slots + all_parameters.slot_step / 4 * THIS_PART;
  out.words = head / 32u;
  out.fill = head % 32u;
  for (int i = ITEM; i < BLOCK_BITS; i += $items) s.codes[i] = block[i];
  for (int i = ITEM; i < (int)out.words; i += $items) out.to[i] = block[BLOCK_HEAD + i];
  for (int i = ITEM; i < 8 * $items + 8; i += $items) {
    s.stage[i] = i == 0 && out.fill != 0u ? block[BLOCK_HEAD + out.words] : 0u;
  }
  BARRIER;
  const int tokens = $copies ? (int)all_parts[THIS_PART].w : 0;
  const int bytes = is_stored ? -1 : tokens != 0 ? 2 * tokens : (int)part.bytes;
  GLOBAL const ushort* own_tokens = all_tokens + (long)all_parameters.part_bytes * GROUP_X;
  GLOBAL const uint* from = tokens != 0 ? (GLOBAL const uint*)own_tokens : part.from;
  for (int begin = 0; begin <= bytes; begin += 16 * $items) {
    ulong strings[4];
    uint counts[4];
    strings_of(s.codes, from, begin + 16 * ITEM, bytes, tokens != 0, strings, counts);
    put_strings(&s, strings, counts, &out);
  }
  if (ITEM == 0 && !is_stored) {
    // An empty stored block: three zeros, zeros up to a byte, no bytes, and the same inverted.
    const uint behind = (out.fill + 10u) / 8u * 8u, upper = behind & 31u;
    GLOBAL uint* to = out.to + out.words;
    const ulong end = part.is_last ? 0ul : (ulong)0xffff0000u << upper;
    const ulong low = (ulong)s.stage[0] | (behind < 32u ? end : end << 32);
    to[0] = (uint)low;
    to[1] = (uint)(low >> 32);
    if (behind >= 32u) to[2] = (uint)(end >> 32);
  }
}
