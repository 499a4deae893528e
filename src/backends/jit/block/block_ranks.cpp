// The text of rank filters over the windows of a block: sorting networks without what nobody needs.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/block/networks.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

std::set<int> needed_ranks(const Rank& rank) {
  std::set<int> needed = {rank.rank};
  if (rank.average) needed.insert(rank.rank + 1);
  return needed;
}

}  // namespace

std::string BlockWriter::outside_rank(int n, const Rank& rank) {
  const Node& node = to_.node(n);
  if (rank.border != Border::constant || node.arguments.empty()) return "0";
  const int last = static_cast<int>(node.arguments.size()) - 1;
  return converted(node.cls, "double", to_.argument(n, last, "outside", "double"));
}

std::string BlockWriter::ranks_apart(const Rank& rank, const Window& w, const Order& order,
                                     const std::string& result) {
  const Mask& mask = rank.mask;
  const int count = mask.count();
  std::string text = order.type + " s[" + number(count) + "];\n";
  int k = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      text += "      s[" + number(k++) + "] = " + w.array + "[" +
              w.place(x - mask.origin_x, y - mask.origin_y, mask.origin_y) + "];\n";
    }
  }
  text += network_text(pruned(sort_network(count).steps, needed_ranks(rank)), order.sort, "      ",
                       [](int wire) { return "s[" + number(wire) + "]"; });
  const std::string value = "s[" + number(rank.rank) + "]";
  return for_each_pixel(
      to_, px_,
      text + "      " + result + " = " +
          (rank.average ? order.mean + "(" + value + ", s[" + number(rank.rank + 1) + "])"
                        : value) +
          ";");
}

// Two neighbouring outputs share all columns but one each. Columns 2q + 1 and 2q + 2 of the window
// are merged once for all outputs; five wide, two such lists are merged for two outputs; seven
// wide, two for four outputs, and these with a third for two. Each output then selects from what it
// shares and from its own column.
std::string BlockWriter::ranks_by_columns(const Rank& rank, const Window& w, const Order& order,
                                          const std::string& result, const std::string& own) {
  const Mask& mask = rank.mask;
  const int tall = mask.height, wide = mask.width;
  const int columns = px_ + wide - 1, pairs = (px_ + wide - 3) / 2;
  const int shared = (wide - 1) * tall;  // values that two outputs share
  std::vector<RankTerm> terms[2];
  std::set<int> needed;
  for (int i = 0; i < (rank.average ? 2 : 1); ++i) {
    terms[i] = rank_terms(rank.rank + i, shared, tall);
    for (const RankTerm& term : terms[i]) {
      if (term.first >= 0) needed.insert(term.first);
    }
  }
  const auto wires = [](int first, int count) {
    std::vector<int> out;
    for (int i = 0; i < count; ++i) out.push_back(first + i);
    return out;
  };
  const auto chosen = [](const std::vector<int>& order_of, const std::set<int>& ranks) {
    std::set<int> out;
    for (const int r : ranks) out.insert(order_of[static_cast<std::size_t>(r)]);
    return out;
  };
  const auto wire = [](int i) { return "t[" + number(i) + "]"; };
  const std::string sorted = "sorted_" + own, merged = "merged_" + own;

  // Columns, each sorted.
  const Network column = sort_network(tall);
  const std::string e = " * " + number(columns) + " + e]";
  std::string text = "    " + order.type + " " + sorted + "[" + number(tall * columns) + "];\n" +
                     to_.loop("e", columns) + "{\n";
  for (int j = 0; j < tall; ++j) {
    text += "      " + sorted + "[" + number(j) + e + " = " + w.array + "[(r + " + number(j) +
            ") * " + number(w.width) + " + " + number(w.first - mask.origin_x) + " + e];\n";
  }
  const auto in_column = [&](int i) { return sorted + "[" + number(i) + e; };
  if (tall == 3 && !order.sort3.empty()) {
    text += "      " + order.sort3 + "(&" + in_column(0) + ", &" + in_column(1) + ", &" +
            in_column(2) + ");\n";
  } else {
    text += network_text(column.steps, order.sort, "      ", in_column);
  }
  text += "  }\n";

  // Pairs of columns.
  std::vector<Comparator> steps;
  const std::vector<int> pair = merge_wires(wires(0, tall), wires(tall, tall), steps);
  std::set<int> kept = needed;
  if (wide >= 5) {
    kept.clear();
    for (int i = 0; i < 2 * tall; ++i) kept.insert(i);
  }
  const auto in_pair = [&](int k, const std::string& q) {
    return merged + "[(" + number(k * pairs) + " + " + q + ")]";
  };
  text += "    " + order.type + " " + merged + "[" + number(2 * tall * pairs) + "];\n" +
          to_.loop("q", pairs) + "{\n      " + order.type + " t[" + number(2 * tall) + "];\n";
  for (int j = 0; j < 2 * tall; ++j) {
    text += "      t[" + number(j) + "] = " + sorted + "[" + number(j % tall * columns) +
            " + (2 * q + " + number(1 + j / tall) + ")];\n";
  }
  text += network_text(pruned(steps, chosen(pair, kept)), order.sort, "      ", wire);
  for (const int k : kept) {
    text += "      " + in_pair(k, "q") + " = " + wire(pair[static_cast<std::size_t>(k)]) + ";\n";
  }
  text += "  }\n";

  // Two pairs for four outputs. `middle` of their values have as many others below and above them
  // that a rank of what two outputs share can be one of them.
  const int first = std::max(0, *needed.begin() - 2 * tall);
  const int middle = std::min(4 * tall - 1, *needed.rbegin()) - first + 1;
  const std::string quads = "quads_" + own, quarters = number(px_ / 4);
  if (wide == 7) {
    text += "    " + order.type + " " + quads + "[" + number(middle * (px_ / 4)) + "];\n" +
            to_.loop("four", px_ / 4) + "{\n      " + order.type + " t[" + number(4 * tall) +
            "];\n";
    for (int k = 0; k < 4 * tall; ++k) {
      text += "      t[" + number(k) +
              "] = " + in_pair(k % (2 * tall), k < 2 * tall ? "2 * four + 1" : "2 * four + 2") +
              ";\n";
    }
    steps.clear();
    const std::vector<int> quad = merge_wires(wires(0, 2 * tall), wires(2 * tall, 2 * tall), steps);
    std::set<int> used;
    for (int k = 0; k < middle; ++k) used.insert(first + k);
    text += network_text(pruned(steps, chosen(quad, used)), order.sort, "      ", wire);
    for (int k = 0; k < middle; ++k) {
      text += "      " + quads + "[" + number(k) + " * " + quarters +
              " + four] = " + wire(quad[static_cast<std::size_t>(first + k)]) + ";\n";
    }
    text += "  }\n";
  }

  // Two outputs at a time.
  text += to_.loop("two", px_ / 2) + "{\n";
  std::vector<int> places;
  if (wide == 7) {
    text += "      " + order.type + " t[" + number(2 * tall + middle) + "];\n";
    for (int k = 0; k < 2 * tall; ++k) {
      text += "      t[" + number(k) + "] = " + in_pair(k, "two + two % 2 * 2") + ";\n";
    }
    for (int k = 0; k < middle; ++k) {
      text += "      t[" + number(2 * tall + k) + "] = " + quads + "[" + number(k) + " * " +
              quarters + " + two / 2];\n";
    }
    steps.clear();
    places = merge_wires(wires(0, 2 * tall), wires(2 * tall, middle), steps);
    std::set<int> used;
    for (const int k : needed) used.insert(k - first);
    text += network_text(pruned(steps, chosen(places, used)), order.sort, "      ", wire);
    places.insert(places.begin(), static_cast<std::size_t>(first), -1);  // below all that is needed
  }
  if (wide == 5) {
    text += "      " + order.type + " t[" + number(4 * tall) + "];\n";
    for (int k = 0; k < 4 * tall; ++k) {
      text += "      t[" + number(k) +
              "] = " + in_pair(k % (2 * tall), k < 2 * tall ? "two" : "(two + 1)") + ";\n";
    }
    steps.clear();
    places = merge_wires(wires(0, 2 * tall), wires(2 * tall, 2 * tall), steps);
    text += network_text(pruned(steps, chosen(places, needed)), order.sort, "      ", wire);
  }
  const auto share = [&](int k) {
    return wide >= 5 ? wire(places[static_cast<std::size_t>(k)]) : in_pair(k, "two");
  };
  for (int output = 0; output < 2; ++output) {
    const auto alone = [&](int k) {
      return sorted + "[" + number(k * columns) + " + (2 * two + " + number(output * wide) + ")]";
    };
    std::string values[2];
    for (int i = 0; i < (rank.average ? 2 : 1); ++i) {
      for (const RankTerm& term : terms[i]) {
        const std::string value = term.first < 0    ? alone(term.second)
                                  : term.second < 0 ? share(term.first)
                                                    : order.larger + "(" + share(term.first) +
                                                          ", " + alone(term.second) + ")";
        values[i] = values[i].empty()
                        ? value
                        : order.smaller + "(" + value + ",\n          " + values[i] + ")";
      }
    }
    text += "      {\n        const int i = 2 * two + " + number(output) + ", k = i;\n        " +
            result + " = " +
            (rank.average ? order.mean + "(" + values[0] + ", " + values[1] + ")" : values[0]) +
            ";\n      }\n";
  }
  return text + "  }\n";
}

std::string BlockWriter::ranks_of_row(const Rank& rank, const Window& w, const Order& order,
                                      const std::string& result, const std::string& own) {
  const Mask& mask = rank.mask;
  const bool columns = takes_sorted_columns(mask) && px_ % (mask.width == 7 ? 4 : 2) == 0;
  return columns ? ranks_by_columns(rank, w, order, result, own)
                 : ranks_apart(rank, w, order, result);
}

void BlockWriter::ranked(int n, const Rank& rank, const std::string& name) {
  const Node& node = to_.node(n);
  const Operand image = node.images[0];
  const bool single = node.cls == PixelClass::single;
  const Order floats{"float", "order_float", "smaller_float", "larger_float", "mean_float"};
  const Order integers{"int", "order_int", "smaller", "larger", "mean_int"};
  const std::string own = Builder::name({false, n});
  Window w = window(image, rank.mask.footprint(), rank.border, single ? "float" : "int",
                    outside_rank(n, rank), own);
  row_text_ += "  " + type_of(node.cls) + " " + name + "[" + number(px_) + "];\n";
  if (!single || !orders_keys(rank.mask)) {
    row_text_ += ranks_of_row(rank, w, single ? floats : integers, name + "[k]", own);
    return;
  }
  // NaN has its place in the order of keys.
  const Order keys{"int", "order_int", "smaller", "larger", "mean_of_signed_keys"};
  const std::string values = w.array, made = "key_" + own, all = number(w.rows * w.width);
  w.array = "keys_" + own;
  text_ += "  int " + w.array + "[" + all + "];\n" + to_.loop("k", w.rows * w.width) + w.array +
           "[k] = signed_key_of_single(" + values + "[k]);\n";
  row_text_ += "  int " + made + "[" + number(px_) + "];\n" +
               ranks_of_row(rank, w, keys, made + "[k]", own) + to_.loop("k", px_) + name +
               "[k] = single_of_signed_key(" + made + "[k]);\n";
}

}  // namespace impipe::jit
