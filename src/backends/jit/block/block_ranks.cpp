// Rank filters over the windows of a block: pruned sorting networks.
#include <algorithm>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/rank_windows.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/networks.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/window_ranks.hpp"

namespace impipe::jit {
namespace {

using Wires = std::vector<int>;

std::string wire(int i) { return "t[" + number(i) + "]"; }

Wires wires(int first, int count) {
  Wires out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

std::set<int> range(int first, int count) {
  std::set<int> out;
  for (int i = 0; i < count; ++i) out.insert(first + i);
  return out;
}

// Sorted lists of so many values on wires, merged as far as `ranks` of them need it.
struct Merge {
  int count = 0;        // of all
  Wires order;          // the wire of each rank
  std::string network;  // text

  Merge(std::initializer_list<int> lists, const std::set<int>& ranks, const std::string& sort)
      : Merge(std::vector<int>(lists), ranks, sort) {}
  Merge(const std::vector<int>& lists, const std::set<int>& ranks, const std::string& sort) {
    std::vector<Comparator> steps;
    for (const int list : lists) {
      order = count == 0 ? wires(0, list) : merge_wires(order, wires(count, list), steps);
      count += list;
    }
    std::set<int> chosen;
    for (const int r : ranks) chosen.insert(order[static_cast<std::size_t>(r)]);
    network = network_text(pruned(steps, chosen), sort, wire);
  }
  std::string of_rank(int rank) const { return wire(order[static_cast<std::size_t>(rank)]); }
};

// Ranks of windows of `wide` columns of `tall` pixels, for pairs of outputs. Two neighbouring
// outputs share all columns but one each. Columns 2q + 1 and 2q + 2 of the window are merged once
// for all outputs; four or five wide, these lists and the column that is left of four are merged
// for two outputs. Each output then selects from what it shares and from its own column.
class ColumnRanks {
 public:
  ColumnRanks(const Block& block, const Rank& rank, const Order& order, std::string own)
      : to_(block.to),
        px_(block.size.px),
        rank_(rank),
        order_(order),
        own_(std::move(own)),
        tall_(rank.mask.height),
        wide_(rank.mask.width),
        columns_(px_ + wide_ - 1),
        pairs_((px_ + wide_ - 3 - (wide_ + 1) % 2) / 2) {
    const int shared = (wide_ - 1) * tall_;  // values that two outputs share
    for (int i = 0; i < (rank.average ? 2 : 1); ++i) {
      terms_[i] = rank_terms(rank.rank + i, shared, tall_);
      for (const RankTerm& term : terms_[i]) {
        if (term.first >= 0) needed_.insert(term.first);
      }
    }
  }

  std::string text(const Window& w, const std::string& result) const {
    return sorted_columns(w) + pairs() + outputs(result);
  }

 private:
  std::string sorted() const { return "sorted_" + own_; }
  std::string in_column(int i) const {
    return sorted() + "[" + number(i) + " * " + number(columns_) + " + e]";
  }
  std::string in_pair(int k, const std::string& q) const {
    return "merged_" + own_ + "[(" + number(k * pairs_) + " + " + q + ")]";
  }

  std::string sorted_columns(const Window& w) const {
    std::string values;
    for (int j = 0; j < tall_; ++j) {
      values += assigned(in_column(j), w.array + "[(r + " + number(j) + ") * " + number(w.width) +
                                           " + " + number(w.first - rank_.mask.origin_x) + " + e]");
    }
    const std::string network = tall_ == 3 && !order_.sort3.empty()
                                    ? statement(order_.sort3 + "(&" + in_column(0) + ", &" +
                                                in_column(1) + ", &" + in_column(2) + ")")
                                    : network_text(sort_network(tall_).steps, order_.sort,
                                                   [this](int i) { return in_column(i); });
    return filled(part(kernels::block, "sorted_columns"),
                  {{"type", order_.type},
                   {"sorted", sorted()},
                   {"sorted_count", number(tall_ * columns_)},
                   {"unroll", to_.unroll()},
                   {"columns", number(columns_)},
                   {"column_values", values},
                   {"network", network}});
  }

  // An array of lists, `count` of them, each a merge of two; of each what `kept` says, by rank.
  std::string merged(const std::string& array, const std::string& turn, int count,
                     const Merge& merge, const std::string& values, int elements,
                     const std::string& kept) const {
    return filled(part(kernels::block, "merged"), {{"type", order_.type},
                                                   {"merged", array},
                                                   {"merged_count", number(elements)},
                                                   {"unroll", to_.unroll()},
                                                   {"turn", turn},
                                                   {"turns", number(count)},
                                                   {"wires", number(merge.count)},
                                                   {"wire_values", values},
                                                   {"network", merge.network},
                                                   {"kept", kept}});
  }

  std::string pairs() const {
    const std::set<int> kept = wide_ > 3 ? range(0, 2 * tall_) : needed_;
    const Merge pair({tall_, tall_}, kept, order_.sort);
    std::string values, results;
    for (int j = 0; j < 2 * tall_; ++j) {
      values += assigned(wire(j), sorted() + "[" + number(j % tall_ * columns_) + " + (2 * q + " +
                                      number(1 + j / tall_) + ")]");
    }
    for (const int k : kept) results += assigned(in_pair(k, "q"), pair.of_rank(k));
    return merged("merged_" + own_, "q", pairs_, pair, values, 2 * tall_ * pairs_, results);
  }

  // What two outputs share, merged where that is not there yet; and the text of its ranks.
  std::string shared(std::function<std::string(int)>& share) const {
    if (wide_ == 3) {
      share = [this](int k) { return in_pair(k, "two"); };
      return "";
    }
    std::string values;
    std::vector<int> lists;
    for (int q = 0; q < (wide_ - 1) / 2; ++q) {
      for (int k = 0; k < 2 * tall_; ++k) {
        values += assigned(wire(2 * tall_ * q + k), in_pair(k, "(two + " + number(q) + ")"));
      }
      lists.push_back(2 * tall_);
    }
    if (wide_ % 2 == 0) {
      for (int k = 0; k < tall_; ++k) {
        values += assigned(
            wire((wide_ - 2) * tall_ + k),
            sorted() + "[" + number(k * columns_) + " + (2 * two + " + number(wide_ - 1) + ")]");
      }
      lists.push_back(tall_);
    }
    const Merge merge(lists, needed_, order_.sort);
    share = [merge](int k) { return merge.of_rank(k); };
    return filled(part(kernels::block, "merged_for_two"), {{"type", order_.type},
                                                           {"wires", number(merge.count)},
                                                           {"wire_values", values},
                                                           {"network", merge.network}});
  }

  // Two outputs at a time.
  std::string outputs(const std::string& result) const {
    std::function<std::string(int)> share;
    std::string text = shared(share);
    for (int output = 0; output < 2; ++output) {
      const auto alone = [&](int k) {
        return sorted() + "[" + number(k * columns_) + " + (2 * two + " + number(output * wide_) +
               ")]";
      };
      std::string values[2];
      for (int i = 0; i < (rank_.average ? 2 : 1); ++i) {
        for (const RankTerm& term : terms_[i]) {
          const std::string value = term.first < 0    ? alone(term.second)
                                    : term.second < 0 ? share(term.first)
                                                      : order_.larger + "(" + share(term.first) +
                                                            ", " + alone(term.second) + ")";
          values[i] = values[i].empty()
                          ? value
                          : order_.smaller + "(" + value + "," + after_line(values[i]) + ")";
        }
      }
      text +=
          filled(part(kernels::block, "output_of_two"),
                 {{"output", number(output)},
                  {"result", result},
                  {"of_ranks", order_.of_one_zero(rank_.average ? order_.mean + "(" + values[0] +
                                                                      ", " + values[1] + ")"
                                                                : values[0])}});
    }
    return filled(part(kernels::block, "outputs"),
                  {{"unroll", to_.unroll()}, {"twos", number(px_ / 2)}, {"outputs_of_two", text}});
  }

  const Builder& to_;
  int px_;
  const Rank& rank_;
  const Order& order_;
  std::string own_;
  int tall_, wide_, columns_, pairs_;
  std::vector<RankTerm> terms_[2];
  std::set<int> needed_;  // ranks of what two outputs share
};

// By what the windows of a row share.
std::string shared_ranks(const Block& block, const Rank& rank, const Window& w, const Order& order,
                         const std::string& result) {
  const WindowRanks ranks(rank, block.size.px);
  const std::vector<WindowRanks::Value>& values = ranks.values();
  using enum WindowRanks::Value::Of;
  const auto text_of = [&](int i) {
    const WindowRanks::Value& value = values[static_cast<std::size_t>(i)];
    return value.of != cell ? "v" + number(i)
                            : w.array + "[(r + " + number(value.b) + ") * " + number(w.width) +
                                  " + " + number(w.first - rank.mask.origin_x + value.a) + "]";
  };
  std::string steps, results;
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const WindowRanks::Value& value = values[static_cast<std::size_t>(i)];
    if (value.of == cell || !ranks.is_needed(i)) continue;
    steps += declared("const " + order.type, "v" + number(i),
                      (value.of == smaller ? order.smaller : order.larger) + "(" +
                          text_of(value.a) + ", " + text_of(value.b) + ")");
  }
  for (int i = 0; i < block.size.px; ++i) {
    const std::vector<int>& found = ranks.of_window(i);
    const std::string value =
        rank.average ? order.mean + "(" + text_of(found[0]) + ", " + text_of(found[1]) + ")"
                     : text_of(found[0]);
    results += filled(
        part(kernels::block, "rank_of_window"),
        {{"k_of_window", number(i)}, {"result", result}, {"of_window", order.of_one_zero(value)}});
  }
  return filled(part(kernels::block, "shared_ranks"),
                {{"steps_of_ranks", steps}, {"ranks_of_windows", results}});
}

}  // namespace

std::string outside_rank(Builder& to, int n, const Rank& rank) {
  const Node& node = to.node(n);
  if (rank.border != Border::constant || node.arguments.empty()) return "0";
  const int last = static_cast<int>(node.arguments.size()) - 1;
  return converted(node.cls, "double", to.argument(n, last, "outside", "double"));
}

std::string ranks_of_row(const Block& block, const Rank& rank, const Window& w, const Order& order,
                         const std::string& result, const std::string& own) {
  return takes_sorted_columns(rank.mask) && block.size.px % 2 == 0
             ? ColumnRanks(block, rank, order, own).text(w, result)
             : shared_ranks(block, rank, w, order, result);
}

MadeRow ranked_row(const Block& block, int n, const std::string& name) {
  Builder& to = block.to;
  const Node& node = to.node(n);
  const Rank& rank = *as<Rank>(node);
  const bool single = node.cls == PixelClass::single;
  const Order floats{"float", "order_float", "smaller_float", "larger_or_nan", "mean_float",
                     "",      "one_zero"};
  const Order integers{"int", "order_int", "smaller", "larger", "mean_int"};
  const std::string own = Builder::name({false, n});
  auto [w, text] = loaded_window(block, node.images[0], rank.mask.footprint(), rank.border,
                                 single ? "float" : "int", outside_rank(to, n, rank), own);
  // NaN is the last: of floats by an instruction of NVIDIA's, elsewhere by keys.
  const bool by_keys = single && to.dialect() == Dialect::opencl;
  const auto row = [&](const char* name_of_part, const std::string& ranks) {
    return filled(part(kernels::block, name_of_part),
                  {{"pixel", type_of(node.cls)},
                   {"name", name},
                   {"px", number(block.size.px)},
                   {"own", own},
                   {"unroll", to.unroll()},
                   {by_keys ? "ranks" : "ranks_of_window", ranks}});
  };
  if (!by_keys) {
    text.rows = row("ranked_row",
                    ranks_of_row(block, rank, w, single ? floats : integers, name + "[k]", own));
    return {{name}, std::move(text)};
  }
  const Order keys{"int", "order_int", "smaller", "larger", "mean_of_signed_keys"};
  const Window window_of_keys{"keys_" + own, w.rows, w.width, w.first};
  text.windows += filled(part(kernels::block, "keys"), {{"own", own},
                                                        {"window", w.array},
                                                        {"window_count", number(w.rows * w.width)},
                                                        {"unroll", to.unroll()}});
  text.rows = row("row_of_keys",
                  ranks_of_row(block, rank, window_of_keys, keys, "key_" + own + "[k]", own));
  return {{name}, std::move(text)};
}

}  // namespace impipe::jit
