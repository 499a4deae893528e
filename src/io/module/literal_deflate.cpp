// Blocks of deflate (RFC 1951) with codes of their own, of literals and runs of zeros.
#include "io/module/literal_deflate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/body.hpp"

// What a call would keep in memory instead of registers.
#define IMPIPE_ALWAYS_INLINE __attribute__((always_inline))

namespace impipe::io {
namespace {

using Byte = std::uint8_t;

constexpr int symbols = 286;  // literals, the end, lengths
constexpr int end_symbol = 256;
constexpr int longest_code = 14;  // four codes and a byte's rest fit 64 bits
constexpr int longest_match = 258;
constexpr int shortest_match = 3;
constexpr std::int64_t word = 8;  // runs of zeros begin at a whole word

using Frequencies = std::array<std::uint32_t, symbols>;
using Lengths = std::array<Byte, symbols>;

// The symbol of a match's length, and the bits that follow it.
struct LengthCode {
  int symbol, extra_bits, extra;
};
LengthCode length_code(int length) {
  if (length == longest_match) return {285, 0, 0};
  if (length < 11) return {254 + length, 0, 0};
  const int above = length - 3;
  const int extra_bits = std::bit_width(static_cast<unsigned>(above)) - 3;
  return {257 + 4 * (extra_bits + 1) + (above >> extra_bits) - 4, extra_bits,
          above & ((1 << extra_bits) - 1)};
}

// Calls `words` for eight bytes that are not all zero, `run` for zeros, `one` for what is left.
template <class Words, class Run, class One>
IMPIPE_INLINE void walk(const Byte* at, const Byte* end, Words words, Run run, One one) {
  while (end - at >= word) {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof(eight));
    if (eight != 0) {
      words(at, eight);
      at += word;
      continue;
    }
    const Byte* from = at;
    for (at += word; end - at >= word; at += word) {
      std::memcpy(&eight, at, sizeof(eight));
      if (eight != 0) break;
    }
    while (at < end && *at == 0) ++at;
    run(from, at - from);
  }
  for (; at < end; ++at) one(*at);
}

// A run of n zeros as copies of the byte before: `literal` for a zero that cannot be a copy,
// `match` for a length. zero_before: whether there is a zero to copy.
template <class Literal, class Match>
IMPIPE_INLINE void cut_run(std::int64_t n, bool zero_before, Literal literal, Match match) {
  if (!zero_before) {
    literal();
    --n;
  }
  for (; n >= shortest_match; n -= std::min<std::int64_t>(n, longest_match)) {
    match(static_cast<int>(std::min<std::int64_t>(n, longest_match)));
  }
  for (; n > 0; --n) literal();
}

// Lengths of the codes of a Huffman tree: each node's parent from the two smallest without one
// (both queues stay sorted), then the depths from the root downward.
void code_lengths(const Frequencies& frequencies, Lengths& lengths) {
  std::array<int, symbols> order;
  int used = 0;
  for (int s = 0; s < symbols; ++s) {
    if (frequencies[static_cast<size_t>(s)] > 0) order[static_cast<size_t>(used++)] = s;
  }
  const auto count_of = [&](int i) {
    return frequencies[static_cast<size_t>(order[static_cast<size_t>(i)])];
  };
  std::sort(order.begin(), order.begin() + used, [&](int a, int b) {
    const auto fa = frequencies[static_cast<size_t>(a)], fb = frequencies[static_cast<size_t>(b)];
    return fa != fb ? fa < fb : a < b;
  });
  std::array<std::uint64_t, symbols> sums;
  std::array<int, 2 * symbols> parents, depths;
  int leaf = 0, inner = 0;
  for (int made = 0; made < used - 1; ++made) {
    std::uint64_t sum = 0;
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf =
          leaf < used && (inner >= made || count_of(leaf) <= sums[static_cast<size_t>(inner)]);
      sum += take_leaf ? count_of(leaf) : sums[static_cast<size_t>(inner)];
      parents[static_cast<size_t>(take_leaf ? leaf++ : used + inner++)] = used + made;
    }
    sums[static_cast<size_t>(made)] = sum;
  }
  std::array<int, longest_code + 1> of_length = {};
  depths[static_cast<size_t>(2 * used - 2)] = 0;
  for (int node = 2 * used - 3; node >= 0; --node) {
    const auto n = static_cast<size_t>(node);
    depths[n] = depths[static_cast<size_t>(parents[n])] + 1;
    if (node < used) ++of_length[static_cast<size_t>(std::min(depths[n], longest_code))];
  }
  // Where longer codes were cut there are too many: a shorter one each becomes two.
  std::int64_t taken = 0;
  for (size_t l = 1; l <= longest_code; ++l) {
    taken += static_cast<std::int64_t>(of_length[l]) << (longest_code - l);
  }
  for (; taken > 1 << longest_code; --taken) {
    size_t l = longest_code - 1;
    while (of_length[l] == 0) --l;
    --of_length[l];
    of_length[l + 1] += 2;
    --of_length[longest_code];
  }
  lengths.fill(0);
  int at = 0;
  for (size_t l = longest_code; l > 0; --l) {
    for (int i = 0; i < of_length[l]; ++i) {
      lengths[static_cast<size_t>(order[static_cast<size_t>(at++)])] = static_cast<Byte>(l);
    }
  }
}

// A code, lowest bit first, above the bits of its length.
struct Codes {
  std::array<std::uint16_t, symbols> code;
  Lengths length;
};
Codes codes_of(const Frequencies& frequencies) {
  Codes codes;
  code_lengths(frequencies, codes.length);
  unsigned next = 0;
  for (int l = 1; l <= longest_code; ++l, next <<= 1) {
    for (size_t s = 0; s < symbols; ++s) {
      if (codes.length[s] != l) continue;
      unsigned reversed = 0;
      for (int b = 0; b < l; ++b) reversed |= (next >> b & 1U) << (l - 1 - b);
      codes.code[s] = static_cast<std::uint16_t>(reversed);
      ++next;
    }
  }
  return codes;
}

// Bits into memory that has room for them.
struct BitWriter {
  std::uint64_t bits;
  int count;
  Byte* to;

  IMPIPE_INLINE void put(std::uint64_t value, int n) {
    bits |= value << count;
    count += n;
  }
  // Leaves fewer than eight.
  IMPIPE_INLINE void flush() {
    std::uint64_t little = bits;
    if constexpr (std::endian::native == std::endian::big) little = __builtin_bswap64(little);
    std::memcpy(to, &little, sizeof(little));
    to += count >> 3;
    bits >>= count & 56;
    count &= 7;
  }
};

// How often a block has each symbol, a large one by a fourth of it; and once more, since what the
// rest has needs a code.
Frequencies count(const Byte* begin, const Byte* end, bool zero_before) {
  constexpr std::int64_t piece = 2048, large = 64 << 10;
  const std::int64_t step = end - begin > large ? 4 * piece : piece;
  // Four tables: equal bytes one after the other would wait for each other.
  std::array<std::array<std::uint32_t, 256>, 4> tables = {};
  Frequencies out;
  out.fill(1);
  for (const Byte* from = begin; from < end; from += std::min(step, end - from)) {
    walk(
        from, from + std::min(piece, end - from),
        [&](const Byte* at, std::uint64_t) {
          for (size_t i = 0; i < word; ++i) ++tables[i % 4][at[i]];
        },
        [&](const Byte* at, std::int64_t n) {
          cut_run(
              n, at > begin ? at[-1] == 0 : zero_before, [&] { ++out[0]; },
              [&](int length) { ++out[static_cast<size_t>(length_code(length).symbol)]; });
        },
        [&](Byte b) { ++out[b]; });
  }
  for (const auto& table : tables) {
    for (size_t b = 0; b < 256; ++b) out[b] += table[b];
  }
  return out;
}

// The lengths of the codes, each as it is: by a code of four bits, the longest by one of three.
void put_header(BitWriter& writer, const Codes& codes, bool last) {
  constexpr std::array<int, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  const auto bits_of = [](int length) {
    return length > longest_code ? 0 : length == longest_code ? 3 : 4;
  };
  writer.put(last ? 5 : 4, 3);  // codes of its own
  writer.put(symbols - 257, 5);
  writer.put(0, 5);  // one distance
  writer.put(order.size() - 4, 4);
  for (const int length : order) {
    writer.put(static_cast<std::uint64_t>(bits_of(length)), 3);
    writer.flush();
  }
  // The code of three bits comes first: 0; then those of four from 2 on.
  std::array<unsigned, longest_code + 1> code;
  unsigned three = 0, four = 2;
  for (int l = 0; l <= longest_code; ++l) {
    const bool is_three = bits_of(l) == 3;
    const unsigned c = is_three ? three++ : four++;
    unsigned reversed = 0;
    const int n = bits_of(l);
    for (int b = 0; b < n; ++b) reversed |= (c >> b & 1U) << (n - 1 - b);
    code[static_cast<size_t>(l)] = reversed;
  }
  const auto put_length = [&](size_t length) {
    writer.put(code[length], bits_of(static_cast<int>(length)));
    writer.flush();
  };
  for (const Byte length : codes.length) put_length(length);
  put_length(1);  // the distance 1, of one bit: 0
}

IMPIPE_INLINE void write_body(BitWriter& state, const Codes& codes, const Byte* begin,
                              const Byte* end, bool zero_before) {
  BitWriter writer = state;
  // The code of each byte above the bits of its length; sums of lengths stay below it.
  std::array<std::uint32_t, 256> literal;
  for (size_t b = 0; b < 256; ++b) {
    literal[b] = static_cast<std::uint32_t>(codes.code[b]) << 8 | codes.length[b];
  }
  const auto put_literal = [&](Byte b) IMPIPE_ALWAYS_INLINE {
    writer.put(codes.code[b], codes.length[b]);
    writer.flush();
  };
  struct Some {
    std::uint64_t code;
    unsigned bits;
  };
  const auto four_of = [&](std::uint32_t bytes) IMPIPE_ALWAYS_INLINE {
    const std::uint64_t a = literal[bytes & 255], b = literal[bytes >> 8 & 255],
                        c = literal[bytes >> 16 & 255], d = literal[bytes >> 24];
    const std::uint64_t two = a + b;
    const std::uint64_t low = a >> 8 | (b >> 8) << (a & 63);
    const std::uint64_t high = c >> 8 | (d >> 8) << (c & 63);
    return Some{low | high << (two & 63), static_cast<unsigned>((two + c + d) & 63)};
  };
  walk(
      begin, end,
      [&](const Byte*, std::uint64_t eight) IMPIPE_ALWAYS_INLINE {
        if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
        const Some low = four_of(static_cast<std::uint32_t>(eight));
        const Some high = four_of(static_cast<std::uint32_t>(eight >> 32));
        writer.put(low.code, static_cast<int>(low.bits));
        if (low.bits + high.bits > 56) writer.flush();
        writer.put(high.code, static_cast<int>(high.bits));
        writer.flush();
      },
      [&](const Byte* at, std::int64_t n) IMPIPE_ALWAYS_INLINE {
        cut_run(
            n, at > begin ? at[-1] == 0 : zero_before,
            [&]() IMPIPE_ALWAYS_INLINE { put_literal(0); },
            [&](int length) IMPIPE_ALWAYS_INLINE {
              const LengthCode code = length_code(length);
              const auto s = static_cast<size_t>(code.symbol);
              writer.put(codes.code[s], codes.length[s]);
              writer.put(static_cast<std::uint64_t>(code.extra), code.extra_bits);
              writer.put(0, 1);
              writer.flush();
            });
      },
      put_literal);
  writer.put(codes.code[end_symbol], codes.length[end_symbol]);
  writer.flush();
  state = writer;
}

using WriteBody = void (*)(BitWriter&, const Codes&, const Byte*, const Byte*, bool);
void write_baseline(BitWriter& state, const Codes& codes, const Byte* begin, const Byte* end,
                    bool zero_before) {
  write_body(state, codes, begin, end, zero_before);
}
// Its shifts leave the flags alone.
IMPIPE_TARGET_v3 void write_v3(BitWriter& state, const Codes& codes, const Byte* begin,
                               const Byte* end, bool zero_before) {
  write_body(state, codes, begin, end, zero_before);
}

WriteBody writer_of_this_machine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("fma")) {
    return write_v3;
  }
#endif
  return write_baseline;
}

}  // namespace

void LiteralDeflate::block(std::span<const std::uint8_t> bytes, bool last,
                           std::vector<std::byte>& out) {
  static const WriteBody write = writer_of_this_machine();
  const Byte* begin = bytes.data();
  const Byte* end = begin + bytes.size();
  const bool zero_before = before_ == 0;
  const Codes codes = codes_of(count(begin, end, zero_before));
  memory_.resize(std::max(memory_.size(), bytes.size() * longest_code / 8 + 1024));
  BitWriter writer{bits_, count_, memory_.data()};
  put_header(writer, codes, last);
  write(writer, codes, begin, end, zero_before);
  if (last && writer.count > 0) {
    writer.count = 8;
    writer.flush();
  }
  bits_ = writer.bits;
  count_ = writer.count;
  if (!bytes.empty()) before_ = bytes.back();
  const auto* from = reinterpret_cast<const std::byte*>(memory_.data());
  out.insert(out.end(), from, from + (writer.to - memory_.data()));
}

}  // namespace impipe::io
