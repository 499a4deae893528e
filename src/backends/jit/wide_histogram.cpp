// Histograms of 65,536 codes in local memory: two counts of 16 bits a word, 134 KB for each group.
//
// A count that passes 0x8000 moves that much to the counts of the whole image in global memory; the
// work-item whose addition took it there does so. Between two barriers a group adds at most 32,768,
// so no count ever reaches its neighbour's bits: exact, whatever the content.
#include "backends/jit/wide_histogram.hpp"

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/pair_code.hpp"

namespace impipe::jit {
namespace {

constexpr int codes = 65536;
constexpr int words = codes / 512 * 267;
constexpr int pixels = 16;  // that a work-item takes at once

// Codes 32,768 apart share a word. Rows of 256 words begin 267 words, so 11 banks, apart: pairs of
// neighbouring values, as pictures have them, lie in different banks.
constexpr const char* add_function = R"(
FUNCTION void $add(IN_LOCAL uint* words, GLOBAL uint* totals, const uint code, const uint count) {
  const uint low = code & 0x7fffu, word = low + 11u * (low >> 8);
  const uint more = count << (code >> 15 << 4);
  const uint before = ADD_LOCAL(&words[word], more);
  // 0x8000 of the count that has passed it: no other changes in this bit.
  const uint passed = ((before + more) ^ before) & 0x80008000u;
  if (passed != 0u) {
    ADD_LOCAL(&words[word], 0u - passed);
    ADD_GLOBAL(&totals[code], 0x8000u);
  }
}
// Four codes, of the bytes of p and q: 256 * p + q.
FUNCTION void $add_four(IN_LOCAL uint* words, GLOBAL uint* totals, const uint p, const uint q) {
  const uint low = p & 0x7f7f7f7fu, high = p >> 7 & 0x01010101u;
  uint before[4], more[4], word[4], passed = 0u;
$unroll  for (int k = 0; k < 4; ++k) {
    more[k] = BYTE_OF(high, k) * 0xffffu + 1u;
    word[k] = BYTE_OF(low, k) * 267u + BYTE_OF(q, k);
    before[k] = ADD_LOCAL(&words[word[k]], more[k]);
    passed |= (before[k] + more[k]) ^ before[k];
  }
  if ((passed & 0x80008000u) != 0u) {
$unroll    for (int k = 0; k < 4; ++k) {
      const uint own = ((before[k] + more[k]) ^ before[k]) & 0x80008000u;
      if (own != 0u) {
        ADD_LOCAL(&words[word[k]], 0u - own);
        ADD_GLOBAL(&totals[BYTE_OF(p, k) << 8 | BYTE_OF(q, k)], 0x8000u);
      }
    }
  }
}
)";

constexpr const char* count_kernel = R"(  DYNAMIC_LOCAL(uint, $array, $words);
  const int across = ($width + $pixels - 1) / $pixels;
  const int step = GROUPS_X * $items, step_y = step / across, step_chunk = step % across;
  const int first = GROUP_X * $items + ITEM;
  for (int c = 0; c < $channels; ++c) {
    GLOBAL uint* const totals = $totals + c * $codes;
    for (int i = ITEM; i < $words; i += $items) $array[i] = 0;
    BARRIER;
    int y = first / across, chunk = first % across;
    for (int begin = GROUP_X * $items; begin < across * $height; begin += $between * step) {
$unroll      for (int k = 0; k < $between; ++k) {
        if (y < $height) {
          const int x0 = chunk * $pixels;
$count        }
        y += step_y;
        chunk += step_chunk;
        if (chunk >= across) {
          chunk -= across;
          ++y;
        }
      }
      BARRIER;
    }
    for (int i = ITEM; i < $codes / 2; i += $items) {
      const uint both = $array[i + 11 * (i >> 8)];
      if ((both & 0xffffu) != 0) ADD_GLOBAL(&totals[i], both & 0xffffu);
      if (both >> 16 != 0) ADD_GLOBAL(&totals[i + $codes / 2], both >> 16);
    }
    BARRIER;
  }
)";

constexpr const char* each_pixel =
    R"(        for (int x = x0; x < x0 + $pixels && x < $width; ++x) {
          $add, $code, 1u);
        }
)";

// Pairs of bytes, sixteen at once. Four equal ones are one addition, two that alternate are two;
// elsewhere neighbouring work-items begin at different bytes, so that regular patterns don't make
// all of them wait for one count.
constexpr const char* each_pair =
    R"(        const uint4 a = *(GLOBAL const uint4*)($first_row + x0);
        const uint4 b = *(GLOBAL const uint4*)($second_row + x0);
        if (x0 + $pixels <= $width) {
          const uint four_a[4] = {a.x, a.y, a.z, a.w}, four_b[4] = {b.x, b.y, b.z, b.w};
$unroll          for (int w = 0; w < 4; ++w) {
            uint p = four_a[w], q = four_b[w];
            if (p == ROTATE(p, 16) && q == ROTATE(q, 16)) {
              const uint p0 = p & 255u, p1 = p >> 8 & 255u, q0 = q & 255u, q1 = q >> 8 & 255u;
              const bool same = p0 == p1 && q0 == q1;
              $add, p0 * bins + q0, same ? 4u : 2u);
              if (!same) $add, p1 * bins + q1, 2u);
              continue;
            }
            p = ROTATE(p, 8 * (ITEM & 3));
            q = ROTATE(q, 8 * (ITEM & 3));
            if (bins == 256u) {
              $add_four, p, q);
            } else {
$unroll              for (int byte = 0; byte < 32; byte += 8) {
                $add, (p >> byte & 255u) * bins + (q >> byte & 255u), 1u);
              }
            }
          }
        } else {
          for (int x = x0; x < $width; ++x) {
            const uint p = ($first_row)[x], q = ($second_row)[x];
            $add, p * bins + q, 1u);
          }
        }
)";

constexpr const char* end_kernel = R"(  const int i = GROUP_X * $items + ITEM;
  if (i < $total) $out[i] = (double)$totals[i / $bins * $codes + i % $bins];
$clear)";

// The point node that makes codes of two planes of bytes in memory; null when the codes come from
// elsewhere.
const Node* pair_in_memory(const Builder& to, const std::function<bool(int)>& stored,
                           const Operand& image) {
  if (image.external || stored(image.index)) return nullptr;
  const Node& node = to.node(image.index);
  const auto* point = std::get_if<Point>(&node.primitive);
  if (point == nullptr || point->body != &pair_code_body() || node.channels != 1) return nullptr;
  for (const Operand& of : node.images) {
    const bool bytes = bytes_of(to.cls(of)) == 1 && to.channels(of) == 1;
    if (!bytes || !(of.external || stored(of.index))) return nullptr;
  }
  return &node;
}

}  // namespace

bool fits_wide_histogram(const Builder& to, int n) {
  const Node& node = to.node(n);
  return std::get<Histogram>(node.primitive).rule == BinRule::codes &&
         to.cls(node.images[0]) == PixelClass::uint16 && to.tuning().most_local_bytes >= 4 * words;
}

void write_wide_histogram(Builder& to, const std::function<bool(int)>& stored, int n) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  const std::string name = Builder::name({false, n});
  const int channels = to.channels(image), bins = std::get<Histogram>(node.primitive).bins;
  const int group = to.tuning().wide_histogram_items, groups = to.tuning().wide_histogram_groups;
  const std::string unroll = to.tuning().unroll ? "#pragma unroll\n" : "";
  const auto number = [](std::int64_t i) { return std::to_string(i); };
  // Of one image they lie behind its ticket, are zeros there, and the second launch leaves zeros:
  // without a launch that clears them.
  const bool kept = channels == 1 && !to.tuning().stacked;
  const auto totals = [&] {
    if (kept) return "(" + to.ticket() + " + " + number(ticket_words) + ")";
    return to.scratch(
        name + "_totals", "uint",
        [channels](const LaunchContext&) { return std::int64_t{4} * codes * channels; }, true);
  };
  const std::string add = name + "_add", add_four = add + "_four";
  to.body(filled(add_function, {{"add", add}, {"add_four", add_four}, {"unroll", unroll}}));
  const std::string to_counts = "(" + name + "_words, totals";
  const std::string width = to.width(image);
  std::string count;
  if (const Node* pair = pair_in_memory(to, stored, image)) {
    const std::string side = "(uint)" + to.argument(image.index, 0, "bins", "double", "0");
    count = "        const uint bins = " + side + ";\n" +
            filled(each_pair, {{"first_row", to.plane(pair->images[0]).row("y")},
                               {"second_row", to.plane(pair->images[1]).row("y")},
                               {"pixels", number(pixels)},
                               {"width", width},
                               {"unroll", unroll},
                               {"add", add + to_counts},
                               {"add_four", add_four + to_counts}});
  } else {
    count = filled(each_pixel, {{"pixels", number(pixels)},
                                {"width", width},
                                {"code", "(uint)" + to.value(image, "x", "y", "c")},
                                {"add", add + to_counts}});
  }
  to.kernel(
      name + "_counts_of_groups", group,
      filled(count_kernel, {{"array", name + "_words"},
                            {"words", number(words)},
                            {"pixels", number(pixels)},
                            {"items", number(group)},
                            {"codes", number(codes)},
                            {"channels", number(channels)},
                            {"width", width},
                            {"height", to.height(image)},
                            {"totals", totals()},
                            {"between", number(32768 / (group * pixels))},
                            {"unroll", unroll},
                            {"count", count}}),
      [image, groups, group](const LaunchContext& at) {
        const Size s = at.size_of(image);
        const std::int64_t chunks = (s.width + pixels - 1) / pixels * s.height;
        return LaunchShape{{std::min<std::int64_t>(groups, (chunks + group - 1) / group), 1, 1},
                           {group, 1, 1}};
      },
      0, 4 * words);
  const int total = bins * channels;
  to.kernel(
      name + "_as_doubles", 128,
      filled(end_kernel,
             {{"items", "128"},
              {"total", number(total)},
              {"bins", number(bins)},
              {"codes", number(codes)},
              {"totals", totals()},
              {"clear", kept ? "  if (i < " + number(codes) + ") " + totals() + "[i] = 0;\n" : ""},
              {"out", to.measure({false, n})}}),
      [all = kept ? codes : total](const LaunchContext&) {
        return LaunchShape{{(all + 127) / 128, 1, 1}, {128, 1, 1}};
      });
}

}  // namespace impipe::jit
