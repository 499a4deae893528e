// Rank filters over the windows of a block: minima and maxima that the windows of a row share.
#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/window_ranks.hpp"

namespace impipe::jit {

std::string ranks_of_row(const Block& block, const Rank& rank, const Window& w, const Order& order,
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

MadeRow ranked_row(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Rank& rank = *as<Rank>(node);
  const bool single = node.cls == PixelClass::single;
  const Order floats{"float", "smaller_float", "larger_or_nan", "mean_float", "one_zero"};
  const Order integers{"int", "smaller", "larger", "mean_int"};
  const std::string own = Builder::name({false, n});
  auto [w, text] = loaded_window(block, node.images[0], rank.mask.footprint(), rank.border,
                                 single ? "float" : "int", outside_rank(builder, n), own);
  // NaN is the last: of floats by an instruction, elsewhere by keys.
  const bool by_keys = single && !builder.features().orders_nan;
  const auto row = [&](const char* name_of_part, const std::string& ranks) {
    return Substitutions({{"pixel", type_of(node.cls)},
                          {"name", name},
                          {"px", number(block.size.px)},
                          {"own", own},
                          {"unroll", builder.unroll()},
                          {by_keys ? "ranks" : "ranks_of_window", ranks}})
        .filled(part(kernels::block, name_of_part));
  };
  if (!by_keys) {
    text.rows =
        row("ranked_row", ranks_of_row(block, rank, w, single ? floats : integers, name + "[k]"));
    return {{name}, std::move(text)};
  }
  const Order keys{"int", "smaller", "larger", "mean_of_signed_keys"};
  const Window window_of_keys{"keys_" + own, w.rows, w.width, w.first};
  text.windows += builder.filled(
      part(kernels::block, "keys"),
      {{"own", own}, {"window", w.array}, {"window_count", number(w.rows * w.width)}});
  text.rows =
      row("row_of_keys", ranks_of_row(block, rank, window_of_keys, keys, "key_" + own + "[k]"));
  return {{name}, std::move(text)};
}

}  // namespace impipe::jit
