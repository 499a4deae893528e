// Blocks of deflate (RFC 1951) with codes of their own, of literals and runs of zeros.
#include "io/formats/png/module/literal_deflate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/body.hpp"
#include "core/has_v3.hpp"
#include "io/formats/png/module/deflate_codes.hpp"

// What a call would keep in memory instead of registers.
#define IMPIPE_ALWAYS_INLINE __attribute__((always_inline))

namespace impipe::io {
namespace {

using Byte = std::uint8_t;

constexpr int end_symbol = 256;
constexpr int longest_match = 258;
constexpr int shortest_match = 3;
// Runs of zeros begin at a whole word of so many bytes.
constexpr std::int64_t word = 8, vector_word = 16;

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

template <std::int64_t size>
IMPIPE_INLINE bool all_zero(const Byte* at) {
  std::array<std::uint64_t, static_cast<size_t>(size) / 8> words;
  std::memcpy(words.data(), at, sizeof(words));
  std::uint64_t any = 0;
  for (const std::uint64_t w : words) any |= w;
  return any == 0;
}

// Calls `words` for `word` bytes that are not all zero, `run` for zeros, `one` for what is left.
template <std::int64_t word, class Words, class Run, class One>
IMPIPE_INLINE void walk(const Byte* at, const Byte* end, Words words, Run run, One one) {
  while (end - at >= word) {
    if (!all_zero<word>(at)) {
      words(at);
      at += word;
      continue;
    }
    const Byte* from = at;
    for (at += word; end - at >= word && all_zero<word>(at);) at += word;
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

// How often a block has each symbol, a large one by one piece of so many; and once more, since
// what the rest has needs a code.
template <std::int64_t word>
SymbolCounts count(const Byte* begin, const Byte* end, bool zero_before, int pieces) {
  constexpr std::int64_t piece = 2048, large = 64 << 10;
  const std::int64_t step = end - begin > large ? pieces * piece : piece;
  // Four tables: equal bytes one after the other would wait for each other.
  std::array<std::array<std::uint32_t, 256>, 4> tables = {};
  SymbolCounts out;
  out.fill(1);
  for (const Byte* from = begin; from < end; from += std::min(step, end - from)) {
    walk<word>(
        from, from + std::min(piece, end - from),
        [&](const Byte* at) {
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
void put_header(BitWriter& writer, const DeflateCodes& codes, bool last) {
  constexpr std::array<int, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  const auto bits_of = [](int length) {
    return length > longest_code ? 0 : length == longest_code ? 3 : 4;
  };
  writer.put(last ? 5 : 4, 3);  // codes of its own
  writer.put(deflate_symbols - 257, 5);
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

// Puts the codes of bytes, by a table.
class TableLiterals {
 public:
  explicit TableLiterals(const DeflateCodes& codes) {
    for (size_t b = 0; b < literal_.size(); ++b) {
      literal_[b] = static_cast<std::uint32_t>(codes.code[b]) << 8 | codes.length[b];
    }
  }

  template <std::int64_t bytes>
  IMPIPE_INLINE void put(BitWriter& writer, const Byte* at) const {
    for (std::int64_t i = 0; i < bytes; i += 8) put_eight(writer, at + i);
  }

 private:
  struct Some {
    std::uint64_t code;
    unsigned bits;
  };
  IMPIPE_INLINE Some four_of(std::uint32_t bytes) const {
    const std::uint64_t a = literal_[bytes & 255], b = literal_[bytes >> 8 & 255],
                        c = literal_[bytes >> 16 & 255], d = literal_[bytes >> 24];
    const std::uint64_t two = a + b;
    const std::uint64_t low = a >> 8 | (b >> 8) << (a & 63);
    const std::uint64_t high = c >> 8 | (d >> 8) << (c & 63);
    return Some{low | high << (two & 63), static_cast<unsigned>((two + c + d) & 63)};
  }
  IMPIPE_INLINE void put_eight(BitWriter& writer, const Byte* at) const {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof(eight));
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    const Some low = four_of(static_cast<std::uint32_t>(eight));
    const Some high = four_of(static_cast<std::uint32_t>(eight >> 32));
    writer.put(low.code, static_cast<int>(low.bits));
    if (low.bits + high.bits > 56) writer.flush();
    writer.put(high.code, static_cast<int>(high.bits));
    writer.flush();
  }

  // The code of each byte above the bits of its length; sums of lengths stay below it.
  std::array<std::uint32_t, 256> literal_;
};

template <std::int64_t word, class Literals>
IMPIPE_INLINE void write_body(BitWriter& state, const DeflateCodes& codes, const Literals& literals,
                              const Byte* begin, const Byte* end, bool zero_before) {
  BitWriter writer = state;
  const auto put_literal = [&](Byte b) IMPIPE_ALWAYS_INLINE {
    writer.put(codes.code[b], codes.length[b]);
    writer.flush();
  };
  walk<word>(
      begin, end,
      [&](const Byte* at) IMPIPE_ALWAYS_INLINE { literals.template put<word>(writer, at); },
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

template <std::int64_t word>
void write_baseline(BitWriter& state, const DeflateCodes& codes, const Byte* begin, const Byte* end,
                    bool zero_before) {
  write_body<word>(state, codes, TableLiterals(codes), begin, end, zero_before);
}

#if defined(__x86_64__)
// Its shifts leave the flags alone.
IMPIPE_TARGET_v3 void write_v3(BitWriter& state, const DeflateCodes& codes, const Byte* begin,
                               const Byte* end, bool zero_before) {
  write_body<word>(state, codes, TableLiterals(codes), begin, end, zero_before);
}

// Puts the codes of bytes, sixteen at a time, by tables of their halves (codes_by_halves).
class HalvesLiterals {
 public:
  explicit HalvesLiterals(const DeflateCodes& codes) : begin_bits_(codes.length[16] - 4) {
    const auto take = [&](Part& part, size_t i, size_t symbol) {
      part.begin[i] = static_cast<Byte>(codes.code[symbol] & ((1U << begin_bits_) - 1));
      part.end[i] = static_cast<Byte>(codes.code[symbol] >> begin_bits_);
      part.bits[i] = codes.length[symbol];
    };
    for (size_t i = 0; i < 16; ++i) {
      take(low_, i, i);
      take(high_, i, 240 + i);
      if (i > 0 && i < 15) take(middle_, i, 16 * i);
      middle_.end[i] = static_cast<Byte>(codes.code[16 + i] >> begin_bits_);
    }
  }

  template <std::int64_t bytes>
  IMPIPE_INLINE void put(BitWriter& writer, const Byte* at) const {
    for (std::int64_t i = 0; i < bytes; i += 16) put_sixteen(writer, at + i);
  }

 private:
  using Bytes = Byte __attribute__((vector_size(16)));
  using Words = std::uint16_t __attribute__((vector_size(16)));
  using Pairs = std::uint32_t __attribute__((vector_size(16)));
  using Fours = std::uint64_t __attribute__((vector_size(16)));

  IMPIPE_INLINE void put_sixteen(BitWriter& writer, const Byte* at) const {
    Bytes all;
    std::memcpy(&all, at, sizeof(all));
    const Bytes lower = all & 15, upper = all >> 4;
    const Bytes is_low = std::bit_cast<Bytes>(upper == 0);
    const Bytes is_high = std::bit_cast<Bytes>(upper == 15);
    const Bytes is_middle = ~(is_low | is_high);
    const auto found = [&](Bytes low, Bytes high, Bytes middle) IMPIPE_ALWAYS_INLINE {
      return (is_low & __builtin_shuffle(low, lower)) | (is_high & __builtin_shuffle(high, lower)) |
             middle;
    };
    const Bytes begin = found(low_.begin, high_.begin, __builtin_shuffle(middle_.begin, upper));
    const Bytes bits = found(low_.bits, high_.bits, __builtin_shuffle(middle_.bits, upper));
    const Bytes end = found(low_.end, high_.end, is_middle & __builtin_shuffle(middle_.end, lower));
    // The bytes of each half, as words.
    const auto front = [](Bytes b) IMPIPE_ALWAYS_INLINE {
      return __builtin_shufflevector(b, Bytes{}, 0, 16, 1, 16, 2, 16, 3, 16, 4, 16, 5, 16, 6, 16, 7,
                                     16);
    };
    const auto back = [](Bytes b) IMPIPE_ALWAYS_INLINE {
      return __builtin_shufflevector(b, Bytes{}, 8, 16, 9, 16, 10, 16, 11, 16, 12, 16, 13, 16, 14,
                                     16, 15, 16);
    };
    put_eight(writer, front(begin), front(end), front(bits));
    put_eight(writer, back(begin), back(end), back(bits));
  }
  // Eight codes in words of 16 bits: their first bits, their last, their number.
  IMPIPE_INLINE void put_eight(BitWriter& writer, Bytes begin, Bytes end, Bytes bits) const {
    const Words one = std::bit_cast<Words>(begin) | std::bit_cast<Words>(end) << begin_bits_;
    const Pairs ones = std::bit_cast<Pairs>(one), one_bits = std::bit_cast<Pairs>(bits);
    const Pairs left_bits = one_bits & 0xffff;
    const Pairs two = (ones & 0xffff) | (ones >> 16) << left_bits;
    const Fours twos = std::bit_cast<Fours>(two);
    const Fours two_bits = std::bit_cast<Fours>(left_bits + (one_bits >> 16));
    const Fours low_bits = two_bits & 0xffffffff;
    const Fours four = (twos & 0xffffffff) | (twos >> 32) << low_bits;
    const Fours four_bits = low_bits + (two_bits >> 32);
    writer.put(four[0], static_cast<int>(four_bits[0]));
    if (four_bits[0] + four_bits[1] > 56) writer.flush();
    writer.put(four[1], static_cast<int>(four_bits[1]));
    writer.flush();
  }

  // What the first begin_bits_ of codes are, what follows, and how many both are.
  struct Part {
    Bytes begin = {}, end = {}, bits = {};
  };
  Part low_, high_, middle_;  // middle_: begin and bits by the upper half
  int begin_bits_;
};

IMPIPE_TARGET_v3 void write_halves(BitWriter& state, const DeflateCodes& codes, const Byte* begin,
                                   const Byte* end, bool zero_before) {
  write_body<vector_word>(state, codes, HalvesLiterals(codes), begin, end, zero_before);
}
#endif

using WriteBody = void (*)(BitWriter&, const DeflateCodes&, const Byte*, const Byte*, bool);
struct Writers {
  WriteBody shortest, by_halves;
};
Writers writers_of_this_machine() {
#if defined(__x86_64__)
  if (has_v3()) return {write_v3, write_halves};
#endif
  return {write_baseline<word>, write_baseline<vector_word>};
}

// Whether codes_by_halves are much longer than codes have to be: bytes of 12 bits that stand in 16
// have one lower half of each sixteen.
bool wasteful(const SymbolCounts& counts, const DeflateCodes& codes) {
  double all = 0, bits = 0, least = 0;
  for (size_t s = 0; s < counts.size(); ++s) {
    const double n = counts[s];
    all += n;
    bits += n * codes.length[s];
    least -= n * std::log2(n);
  }
  return bits > 1.15 * (least + all * std::log2(all));
}

}  // namespace

void LiteralDeflate::block(std::span<const std::uint8_t> bytes, bool last,
                           std::vector<std::byte>& out) {
  static const Writers writers = writers_of_this_machine();
  const Byte* begin = bytes.data();
  const Byte* end = begin + bytes.size();
  const bool zero_before = before_ == 0;
  const SymbolCounts counts = quick_ ? count<vector_word>(begin, end, zero_before, 16)
                                     : count<word>(begin, end, zero_before, 4);
  DeflateCodes codes = quick_ ? codes_by_halves(counts) : shortest_codes(counts);
  const bool by_halves = quick_ && !wasteful(counts, codes);
  if (quick_ && !by_halves) codes = shortest_codes(counts);
  memory_.resize(std::max(memory_.size(), bytes.size() * longest_code / 8 + 1024));
  BitWriter writer{bits_, count_, memory_.data()};
  put_header(writer, codes, last);
  (by_halves ? writers.by_halves : writers.shortest)(writer, codes, begin, end, zero_before);
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
