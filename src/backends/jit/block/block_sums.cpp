// The text of sums of packed bytes: the differences of gradients, means, and points of them.
#include <algorithm>
#include <cmath>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/packed_arithmetic.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

// The value outside the image of node n, a code of its bytes.
double outside_code(const LaunchContext& at, int n) {
  const Node& node = at.spec().nodes[static_cast<std::size_t>(n)];
  const double code = node.arguments.back().value;
  if (code >= 0 && code <= 255 && code == std::floor(code)) return code;
  throw Error(
      "a kernel can't be launched: what lies outside an image of bytes is none\n" + at.spec().key(),
      ExitCode::backend);
}

}  // namespace

void BlockWriter::sums_of_packed(int n, const std::string& name, bool rounded) {
  const Node& node = to_.node(n);
  const Stencil& stencil = *as<Stencil>(node);
  const std::string own = Builder::name({false, n});
  const Footprint f = stencil.footprint();
  std::string fill;
  if (stencil.border == Border::constant) {
    const std::string code =
        node.arguments.empty()
            ? "0"
            : to_.parameter(ParameterType::int32, own + "_outside_code",
                            [n](const LaunchContext& at, int) { return outside_code(at, n); });
    fill = "((uint)" + code + " * 0x1010101u)";
  }
  const Window w = packed_window(node.images[0], f, stencil.border, fill, own, true);

  // The sums of both rows, then the rest of the body for each of them.
  const BodySums sums = *sums_of_body(stencil);
  const LeafRange range = ranges_in(sums);
  const PackedLeaf leaf = [&](const BodyTree& tap) -> std::optional<PackedSum> {
    if (tap.kind != Kind::tap) return std::nullopt;
    return PackedSum{w.array + "[" + w.place(tap.dx, tap.dy, f.up) + "]", 255, 0};
  };
  std::string rest, made;
  std::vector<std::string> parameters, low, high;
  for (const auto& [local, tree] : sums.trees.locals) {
    if (!sums.sums.contains(local)) {
      rest += "const real " + local + " = " + float_text(tree, range) + "; ";
      continue;
    }
    const PackedSum sum = *packed_sum(tree, leaf);
    made += "const uint sum_" + local + " = " + sum.text + ";\n      ";
    const std::string bias = " - " + std::to_string(8388608 + sum.bias) + ".0f";
    parameters.push_back(local);
    low.push_back("LOW_HALF_FLOAT(sum_" + local + ")" + bias);
    high.push_back("HIGH_HALF_FLOAT(sum_" + local + ")" + bias);
  }
  int index = 0;
  for (const std::string& label : names_in(stencil.body->parameter_names)) {
    parameters.push_back(label);
    for (std::vector<std::string>* row : {&low, &high}) {
      row->push_back(to_.argument(n, index, label, "float"));
    }
    ++index;
  }
  const BodyTree& result = sums.trees.result;
  const std::string body = own + (rounded ? "_under_root" : "_of_sums");
  to_.body_once(
      body,
      "\n" + body_function(body, "float", "", parameters,
                           "{ " + rest + "return " +
                               float_text(rounded ? result.parts[0] : result, range) + "; }"));
  const int row = px_;
  const std::string count = std::to_string(row), both = (rounded ? "codes_" : "both_") + own;
  const auto value = [&](const std::vector<std::string>& arguments) {
    const std::string call = body + "(" + joined(arguments) + ")";
    return rounded ? "rounded_root(" + call + ")" : call;
  };
  pair_text_ += std::string("      ") + (rounded ? "uint " : "float ") + both + "[" +
                std::to_string(2 * row) + "];\n" +
                for_each_pixel(to_, px_,
                               made + both + "[k] = " + value(low) + ";\n      " + both + "[" +
                                   count + " + k] = " + value(high) + ";");
  if (rounded) return words_of_codes(name, both, "SECOND", row);
  row_text_ += "  " + type_of(node.cls) + " " + name + "[" + count + "];\n" + to_.loop("k", row) +
               name + "[k] = " + converted(node.cls, "float", both + "[two * " + count + " + k]") +
               ";\n";
}

void BlockWriter::words_of_codes(const std::string& name, const std::string& codes,
                                 const std::string& place, int row) {
  const std::string words = "word_" + codes;
  pair_text_ += "      uint " + words + "[" + std::to_string(row / 2) + "];\n" +
                to_.loop("q", row / 2) + words + "[q] = " + place + "_BYTES(" + codes +
                " + 4 * q);\n";
  row_text_ += "  uchar " + name + "[" + std::to_string(row) + "];\n" + to_.loop("k", row) + name +
               "[k] = (uchar)(" + codes + "[two * " + std::to_string(row) + " + k]" +
               (place == "SECOND" ? " >> 8" : "") + ");\n";
  in_words_[name] = "(" + words + " + two * " + std::to_string(row / 4) + ")";
}

bool is_mean(const LaunchContext& at, int n) {
  const auto weight = [&](int i) { return static_cast<float>(at.argument(n, i)); };
  const auto& arguments = at.spec().nodes[static_cast<std::size_t>(n)].arguments;
  for (int i = 0; i < 6; ++i) {
    if (weight(i) != weight(i / 3 * 3)) return false;
  }
  const double each = static_cast<double>(weight(0)) * static_cast<double>(weight(3));
  return each * 9 > 1 - 1e-6 && each * 9 < 1 + 1e-6 && (arguments.size() <= 6 || weight(6) == 0);
}

// The floats' sum is within 0.001 of a ninth of S, the whole sum, and that is at least 1/18 away
// from where rounding turns. So is S * 7282 / 2^16, which is at most 0.008 off. 2^23 + S times that
// needs 2^23 - 128 * 7282 more to be 2^23 + S / 9, which an fma rounds to a whole number.
void BlockWriter::means_of_packed(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const Separable& separable = *as<Separable>(node);
  const std::string own = Builder::name({false, n});
  const Window w =
      packed_window(node.images[0], separable.footprint(), separable.border, "0u", own, true);
  const std::string width = std::to_string(w.width), columns = "columns_" + own;
  const auto at = [&](int row) {
    return w.array + "[(r + " + std::to_string(row) + ") * " + width + " + e]";
  };
  const auto column = [&](int x) {
    return columns + "[" + std::to_string(w.first) + " + (i + " + std::to_string(x) + ")]";
  };
  const int row = px_;
  const std::string count = std::to_string(row), codes = "codes_" + own;
  const auto ninth = [](const char* half) {
    return std::string("FLOAT_BITS(fma(") + half + "(sum), 0.111114501953125f, 7456512.0f))";
  };
  pair_text_ +=
      "      uint " + columns + "[" + width + "], " + codes + "[" + std::to_string(2 * row) +
      "];\n" + to_.loop("e", w.width) + columns + "[e] = " + at(0) + " + " + at(1) + " + " + at(2) +
      ";\n" +
      for_each_pixel(to_, px_,
                     "const uint sum = " + column(-1) + " + " + column(0) + " + " + column(1) +
                         ";\n      " + codes + "[k] = " + ninth("LOW_HALF_FLOAT") + ";\n      " +
                         codes + "[" + count + " + k] = " + ninth("HIGH_HALF_FLOAT") + ";");
  words_of_codes(name, codes, "FIRST", row);
}

std::string BlockWriter::packed_pixel(const Operand& operand) const {
  if (!is_plane(operand)) {
    const auto it = packed_pixels_.find(Builder::name(operand));
    return it == packed_pixels_.end() ? "" : it->second;
  }
  for (const PackedWindow& known : packed_windows_) {
    if (known.image == operand) {
      return "(" + known.window.array + "[" + known.window.place(0, 0, known.f.up) +
             "] & 0xff00ffu)";
    }
  }
  return "";
}

void BlockWriter::point_of_packed(int n, const std::string& name) {
  const Node& node = to_.node(n);
  for (const Operand& image : node.images) {
    if (!is_plane(image)) centre(image);
  }
  const std::vector<std::string> labels = names_in(as<Point>(node)->body->parameter_names);
  const std::string text =
      packed_point(
          node, [&](std::size_t image) { return packed_pixel(node.images[image]); },
          [&](std::size_t i) { return to_.argument(n, static_cast<int>(i), labels[i], "double"); })
          .value();
  const std::string own = Builder::name({false, n}), made = "made_" + own;
  pair_text_ += "      uint " + made + "[" + std::to_string(px_) + "];\n" +
                for_each_pixel(to_, px_, made + "[k] = " + text + ";");
  packed_pixels_[own] = made + "[k]";
  rows_of_made(n, name);
}

}  // namespace impipe::jit
