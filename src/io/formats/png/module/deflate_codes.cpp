// Two ways from counts to lengths of codes, and from lengths to codes.
#include "io/formats/png/module/deflate_codes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace impipe::io {
namespace {

// Lengths of the codes of a Huffman tree: each node's parent from the two smallest without one
// (both queues stay sorted), then the depths from the root downward.
void code_lengths(const SymbolCounts& counts, CodeLengths& lengths) {
  std::array<int, deflate_symbols> order;
  int used = 0;
  for (int s = 0; s < deflate_symbols; ++s) {
    if (counts[static_cast<size_t>(s)] > 0) order[static_cast<size_t>(used++)] = s;
  }
  const auto count_of = [&](int i) {
    return counts[static_cast<size_t>(order[static_cast<size_t>(i)])];
  };
  std::sort(order.begin(), order.begin() + used, [&](int a, int b) {
    const auto fa = counts[static_cast<size_t>(a)], fb = counts[static_cast<size_t>(b)];
    return fa != fb ? fa < fb : a < b;
  });
  std::array<std::uint64_t, deflate_symbols> sums;
  std::array<int, 2 * deflate_symbols> parents, depths;
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
      lengths[static_cast<size_t>(order[static_cast<size_t>(at++)])] = static_cast<std::uint8_t>(l);
    }
  }
}

DeflateCodes codes_of(const CodeLengths& lengths) {
  DeflateCodes codes;
  codes.length = lengths;
  unsigned next = 0;
  for (int l = 1; l <= longest_code; ++l, next <<= 1) {
    for (size_t s = 0; s < deflate_symbols; ++s) {
      if (lengths[s] != l) continue;
      unsigned reversed = 0;
      for (int b = 0; b < l; ++b) reversed |= (next >> b & 1U) << (l - 1 - b);
      codes.code[s] = static_cast<std::uint16_t>(reversed);
      ++next;
    }
  }
  return codes;
}

}  // namespace

DeflateCodes shortest_codes(const SymbolCounts& counts) {
  CodeLengths lengths;
  code_lengths(counts, lengths);
  return codes_of(lengths);
}

DeflateCodes codes_by_halves(const SymbolCounts& counts) {
  constexpr size_t middle = 16, middle_end = 240, rest = 256, halves = (middle_end - middle) / 16;
  constexpr size_t singles = rest - (middle_end - middle);
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double in_middle =
      std::accumulate(counts.begin() + middle, counts.begin() + middle_end, 0.0);
  // A half of the bytes between, and all that is no literal, has a node of so many bits.
  const int node =
      std::clamp(static_cast<int>(std::lround(-std::log2(in_middle / (all * halves)))), 5, 8);
  const int longest_single = node + 3;
  CodeLengths lengths;
  lengths.fill(static_cast<std::uint8_t>(longest_single));
  const auto longer = [&](size_t begin, size_t end, int bits) {
    std::fill(lengths.begin() + begin, lengths.begin() + end, static_cast<std::uint8_t>(bits));
  };
  longer(middle, middle_end, node + 4);
  longer(rest, rest + 2, node + 4);
  longer(rest + 2, deflate_symbols, node + 5);
  // The longest code of a single byte takes a share of what the nodes leave, each shorter one twice
  // as many as the next. Shares go to those who gain the most bits by one. Their number is 8 and a
  // multiple of 128: the rarest byte takes 8 at most, and so the others' always come out even.
  const auto symbol = [](size_t i) { return i < middle ? i : i + middle_end - middle; };
  std::array<float, singles> gains;  // bits by a share
  std::array<int, singles> costs;    // shares
  for (size_t i = 0; i < singles; ++i) gains[i] = static_cast<float>(counts[symbol(i)]);
  costs.fill(1);
  const auto rarest = static_cast<size_t>(std::ranges::min_element(gains) - gains.begin());
  int left = ((1 << node) - static_cast<int>(halves) - 1) * 8 - static_cast<int>(singles);
  while (left > 0) {
    size_t best = 0;
    float most = -1;
    for (size_t i = 0; i < singles; ++i) {
      if (gains[i] > most && costs[i] <= left) {
        most = gains[i];
        best = i;
      }
    }
    --lengths[symbol(best)];
    left -= costs[best];
    costs[best] *= 2;
    gains[best] = best == rarest && costs[best] == 8 ? -1 : gains[best] / 2;
  }
  return codes_of(lengths);
}

}  // namespace impipe::io
