// The text of sums of packed bytes: the differences of gradients, means, and points of them.
#include <algorithm>
#include <cmath>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/packed_arithmetic.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

// The value outside the image of node n, a code of its bytes.
double outside_code(const LaunchContext& at, int n) {
  const double code = at.node(n).arguments.back().value;
  if (code >= 0 && code <= 255 && code == std::floor(code)) return code;
  throw Error("a kernel can't be launched: what lies outside an image of bytes is none" +
                  after_line(at.spec().key()),
              ExitCode::backend);
}

// The row NAME, and words, of two rows of `codes`; which: macro that takes a byte of each.
MadeRow row_of_codes(const Block& block, const std::string& name, const std::string& codes,
                     const char* which) {
  const int px = block.size.px;
  const bool second = std::string(which) == "SECOND_BYTES";
  const auto text = [&](const char* name_of_part) {
    return Substitutions({{"coded", codes},
                          {"half_px", number(px / 2)},
                          {"unroll", block.builder.unroll()},
                          {"bytes_of", which},
                          {"name", name},
                          {"px", number(px)},
                          {"shift", second ? " >> 8" : ""}})
        .filled(part(kernels::block, name_of_part));
  };
  return {{name, "(word_" + codes + " + two * " + number(px / 4) + ")"},
          {.pairs = text("words_of_codes"), .rows = text("row_of_codes")}};
}

// A body's packed sums, and the call of a function that makes the rest of the body of them.
struct SumsAndRest {
  std::string sums;       // text: `sum_NAME` for each
  std::string low, high;  // calls for the lower and the upper halves
};

SumsAndRest sums_and_rest(const Block& block, int n, const Window& w, bool rounded) {
  Builder& builder = block.builder;
  const Stencil& stencil = *as<Stencil>(builder.node(n));
  const std::string own = Builder::name({false, n});
  const BodySums sums = *sums_of_body(stencil);
  const LeafRange range = ranges_in(sums);
  const PackedLeaf leaf = [&](const BodyTree& tap) -> std::optional<PackedSum> {
    if (tap.kind != Kind::tap) return std::nullopt;
    return PackedSum{w.array + "[" + w.place(tap.dx, tap.dy, stencil.footprint().up) + "]", 255, 0};
  };
  std::string rest, made;
  std::vector<std::string> parameters, low, high;
  for (const auto& [local, tree] : sums.trees.locals) {
    if (!sums.sums.contains(local)) {
      rest += "const real " + local + " = " + float_text(tree, range) + "; ";
      continue;
    }
    const PackedSum sum = *packed_sum(tree, leaf);
    made += declared("const uint", "sum_" + local, sum.text);
    const std::string bias = " - " + number(8388608 + sum.bias) + ".0f";
    parameters.push_back(local);
    low.push_back("LOW_HALF_FLOAT(sum_" + local + ")" + bias);
    high.push_back("HIGH_HALF_FLOAT(sum_" + local + ")" + bias);
  }
  int index = 0;
  for (const std::string& label : names_in(stencil.body->parameter_names)) {
    parameters.push_back(label);
    for (std::vector<std::string>* row : {&low, &high}) {
      row->push_back(builder.argument(n, index, label, "float"));
    }
    ++index;
  }
  const BodyTree& result = sums.trees.result;
  const std::string body = own + (rounded ? "_under_root" : "_of_sums");
  builder.body_once(
      body, after_line(body_function(
                body, "float", "", parameters,
                rest + "return " + float_text(rounded ? result.parts[0] : result, range) + ";")));
  const auto call = [&](const std::vector<std::string>& arguments) {
    const std::string value = body + "(" + joined(arguments) + ")";
    return rounded ? "rounded_root(" + value + ")" : value;
  };
  return {made, call(low), call(high)};
}

}  // namespace

MadeRow packed_sums_row(const Block& block, KnownWindows& windows, int n, const std::string& name,
                        bool rounded) {
  Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Stencil& stencil = *as<Stencil>(node);
  const std::string own = Builder::name({false, n});
  std::string fill;
  if (stencil.border == Border::constant) {
    const std::string code =
        node.arguments.empty()
            ? "0"
            : builder.parameter(ParameterType::int32, own + "_outside_code",
                                [n](const LaunchContext& at, int) { return outside_code(at, n); });
    fill = "((uint)" + code + " * 0x1010101u)";
  }
  auto [w, text] = packed_window(block, windows, node.images[0], stencil.footprint(),
                                 stencil.border, fill, own, true);

  // The sums of both rows, then the rest of the body for each of them.
  const SumsAndRest made = sums_and_rest(block, n, w, rounded);
  const int px = block.size.px;
  const std::string both = (rounded ? "codes_" : "both_") + own;
  text.pairs = filled(
      part(kernels::block, "both_rows"),
      {{"both_type", rounded ? "uint" : "float"},
       {"both", both},
       {"two_px", number(2 * px)},
       {"make_both", for_each_pixel(builder, px,
                                    made.sums + assigned(both + "[k]", made.low) +
                                        assigned(both + "[" + number(px) + " + k]", made.high))}});
  MadeRow row{{name}, {}};
  if (rounded) {
    row = row_of_codes(block, name, both, "SECOND_BYTES");
  } else {
    row.text.rows = builder.filled(
        part(kernels::block, "row_of_both"),
        {{"pixel", type_of(node.cls)},
         {"name", name},
         {"px", number(px)},
         {"of_both", converted(node.cls, "float", both + "[two * " + number(px) + " + k]")}});
  }
  text += row.text;
  return {row.places, std::move(text)};
}

bool is_mean(const LaunchContext& at, int n) {
  const auto weight = [&](int i) { return static_cast<float>(at.argument(n, i)); };
  const auto& arguments = at.node(n).arguments;
  for (int i = 0; i < 6; ++i) {
    if (weight(i) != weight(i / 3 * 3)) return false;
  }
  const double each = static_cast<double>(weight(0)) * static_cast<double>(weight(3));
  return each * 9 > 1 - 1e-6 && each * 9 < 1 + 1e-6 && (arguments.size() <= 6 || weight(6) == 0);
}

// The floats' sum is within 0.001 of a ninth of S, the whole sum, and that is at least 1/18 away
// from where rounding turns. So is S * 7282 / 2^16, which is at most 0.008 off. 2^23 + S times that
// needs 2^23 - 128 * 7282 more to be 2^23 + S / 9, which an fma rounds to a whole number.
MadeRow packed_means_row(const Block& block, KnownWindows& windows, int n,
                         const std::string& name) {
  const Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Separable& separable = *as<Separable>(node);
  const std::string own = Builder::name({false, n}), codes = "codes_" + own;
  auto [w, text] = packed_window(block, windows, node.images[0], separable.footprint(),
                                 separable.border, "0u", own, true);
  const int px = block.size.px;
  text.pairs = builder.filled(part(kernels::block, "means"), {{"own", own},
                                                              {"packed_width", number(w.width)},
                                                              {"two_px", number(2 * px)},
                                                              {"packed_window", w.array},
                                                              {"first", number(w.first)},
                                                              {"px", number(px)}});
  const MadeRow row = row_of_codes(block, name, codes, "FIRST_BYTES");
  text += row.text;
  return {row.places, std::move(text)};
}

}  // namespace impipe::jit
