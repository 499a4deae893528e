// Reductions as text: exact sums of integers and extremes by streaming; the rest is in
// reduce_cells.cpp.
#include "backends/jit/measure/reduce.hpp"

#include <algorithm>

#include "backends/jit/measure/grid_stride.hpp"
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

const Reduce* reduction(const Node& node) { return std::get_if<Reduce>(&node.primitive); }

bool is_extreme(const Node& node) {
  const ReduceKind kind = reduction(node)->kind;
  return kind == ReduceKind::min || kind == ReduceKind::max;
}

// How a streamed reduction goes on.
struct Fold {
  std::string name;      // of its variables
  std::string type;      // of a total
  std::string first;     // what it begins with
  std::string of_chunk;  // statements that put 16 bytes `v` into the total
  std::string of_pixel;  // statements that put a pixel `p` into it
  bool sum = false, largest = false;
  std::string both(const std::string& a, const std::string& b) const {
    if (sum) return a + " + " + b;
    const std::string word = type == "float" ? (largest ? "fmax" : "fmin")
                             : largest       ? "larger"
                                             : "smaller";
    return word + "(" + a + ", " + b + ")";
  }
};

// Two bytes of each word in the halves of a word, and the other two.
constexpr const char* even = "(w & 0x00ff00ffu)";
constexpr const char* odd = "((w >> 8) & 0x00ff00ffu)";

std::string of_words(const std::string& step) {
  std::string text;
  for (const char* part : {"v.x", "v.y", "v.z", "v.w"}) {
    text += std::string("{ const uint w = ") + part + "; " + step + " } ";
  }
  return text;
}

// The sum of codes.
Fold sum_of_codes(PixelClass cls, const std::string& name) {
  const bool bytes = bytes_of(cls) == 1;
  return {.name = name,
          .type = "long",
          .first = "0",
          .of_chunk = "{ uint s = 0; " +
                      of_words(bytes ? "s = add_bytes(w, s);" : "s += (w & 0xffffu) + (w >> 16);") +
                      name + " += s; }",
          .of_pixel = name + " += p;",
          .sum = true};
}

// The sum of their squares.
Fold sum_of_squares(PixelClass cls, const std::string& name) {
  const std::string halves = name + " += (ulong)(w & 0xffffu) * (w & 0xffffu); " + name +
                             " += (ulong)(w >> 16) * (w >> 16);";
  return {.name = name,
          .type = "long",
          .first = "0",
          .of_chunk = bytes_of(cls) == 1 ? "{ uint s = 0; " + of_words("s = add_squares(w, s);") +
                                               name + " += s; }"
                                         : of_words(halves),
          .of_pixel = name + " += (uint)p * (uint)p;",
          .sum = true};
}

Fold extreme_of(const Builder& to, int n) {
  const Node& node = to.node(n);
  const PixelClass cls = to.cls(node.images[0]);
  const bool bytes = bytes_of(cls) == 1, single = cls == PixelClass::single;
  Fold fold{.name = "total_" + Builder::name({false, n})};
  fold.largest = reduction(node)->kind == ReduceKind::max;
  fold.type = single ? "float" : "int";
  fold.of_pixel = fold.name + " = " + fold.both(fold.name, "p") + ";";
  if (single) {
    fold.first = "NAN";
    for (const char* part : {"v.x", "v.y", "v.z", "v.w"}) {
      fold.of_chunk += fold.name + " = " + fold.both(fold.name, part) + "; ";
    }
    return fold;
  }
  fold.first = fold.largest ? "0" : std::to_string(static_cast<int>(class_max(cls)));
  const std::string pair = fold.largest ? "packed_max" : "packed_min", two = fold.name + "_two";
  const auto join = [&](const std::string& w) {
    return two + " = " + pair + "(" + two + ", " + w + ");";
  };
  fold.of_chunk = of_words(bytes ? join(even) + " " + join(odd) : join("w"));
  return fold;
}

// What reductions of one image fold, each sum once, and what they make of it.
struct Folds {
  std::vector<Fold> folds;
  std::vector<std::string> results;  // of the nodes, from the first element of each fold's array
};

Folds folds_of(Builder& to, const std::vector<int>& nodes) {
  const Operand image = to.node(nodes[0]).images[0];
  Folds made;
  std::string sum;  // the name of its fold
  const auto all = [](const std::string& fold) { return "all_" + fold + "[0]"; };
  for (const int n : nodes) {
    const std::string name = "total_" + Builder::name({false, n});
    const bool spread = reduction(to.node(n))->kind == ReduceKind::spread;
    if (is_extreme(to.node(n))) {
      made.folds.push_back(extreme_of(to, n));
    } else if (sum.empty()) {
      sum = spread ? "sum_for_" + name : name;
      made.folds.push_back(sum_of_codes(to.cls(image), sum));
    }
    if (spread) made.folds.push_back(sum_of_squares(to.cls(image), name));
    made.results.push_back(spread ? "spread_of_sums(" + all(sum) + ", " + all(name) + ", (long)" +
                                        to.width(image) + " * " + to.height(image) + ")"
                                  : "(double)" + all(is_extreme(to.node(n)) ? name : sum));
    if (spread) to.body_once("spread_of_sums", "\n" + std::string(part(kernels::reduce, "spread")));
  }
  return made;
}

// Pairs that chunks are folded into, beside the totals.
bool has_pairs(const Fold& fold) { return fold.type == "int"; }

void write_stream(Builder& to, const Reductions& reductions) {
  const std::vector<int>& nodes = reductions.nodes;
  const Operand image = to.node(nodes[0]).images[0];
  const std::string name = Builder::name({false, nodes[0]});
  // Where the last group ends the sums, few large ones leave it less to do.
  const bool one_launch = to.context().ends_in_last_group();
  const int items = one_launch ? 512 : 256;
  const std::string items_text = std::to_string(items);
  const int loads_of_group = one_launch ? 96 : 128;
  const GridStride stream{image, items, to.tuning().groups_at_once(), loads_of_group};
  const int load = values_a_load(to, stream);
  const auto [folds, results] = folds_of(to, nodes);
  const auto groups = [stream, load](const LaunchContext& at) {
    return stream.groups_for(at, load);
  };
  const std::string groups_text = to.parameter(
      ParameterType::int32, name + "_groups",
      [groups](const LaunchContext& at, int) { return static_cast<double>(groups(at)); });
  const auto parts = [&](const Fold& fold) {
    return to.scratch("parts_of_" + fold.name, fold.type,
                      [groups](const LaunchContext& at) { return groups(at) * 8; });
  };
  const bool sub_groups = one_launch && to.dialect() != Dialect::opencl;
  // Of sub-groups the first element is the group's, and theirs stand behind it.
  const std::string sub_groups_text = std::to_string(items / 32);
  const std::string parts_of_group = sub_groups ? "1 + " + sub_groups_text : items_text;
  std::string locals, begin, pairs, chunk, pixel, put, join, join_sub_group, out, out_parts, first,
      from;
  for (const Fold& fold : folds) {
    const std::string all = "all_" + fold.name, declared = "    " + fold.type + " " + fold.name;
    locals += "  LOCAL " + fold.type + " " + all + "[" + parts_of_group + "];\n";
    begin += declared + " = " + fold.first + ";\n";
    if (stream.wide(to) && has_pairs(fold)) {
      const int value = std::stoi(fold.first);
      begin += "    uint " + fold.name + "_two = " + std::to_string(value) + "u * 0x10001u;\n";
      for (const std::string half : {" & 0xffffu)", " >> 16)"}) {
        pairs += "    " + fold.name + " = " +
                 fold.both(fold.name, "(int)(" + fold.name + "_two" + half) + ";\n";
      }
    }
    chunk += fold.of_chunk + " ";
    pixel += fold.of_pixel + " ";
    if (sub_groups) {
      const auto by_steps = [&](int of) {
        return joined_in_sub_group({.type = fold.type,
                                    .total = fold.name,
                                    .both = fold.both(fold.name, "other"),
                                    .from = "1",
                                    .end = std::to_string(of)});
      };
      join_sub_group += by_steps(32);
      put += "      " + all + "[1 + ITEM / 32] = " + fold.name + ";\n";
      join += "      " + fold.name + " = " + all + "[1 + ITEM % " + sub_groups_text + "];\n" +
              by_steps(items / 32);
      out += "        " + all + "[0] = " + fold.name + ";\n";
    } else {
      put += "    " + all + "[ITEM] = " + fold.name + ";\n";
      join +=
          "        " + all + "[ITEM] = " + fold.both(all + "[ITEM]", all + "[ITEM + step]") + ";\n";
    }
    out_parts += "      " + parts(fold) + "[GROUP_X] = " + all + "[0];\n";
    first += declared + " = " + fold.first + ";\n";
    from += "      " + fold.name + " = " + fold.both(fold.name, parts(fold) + "[i]") + ";\n";
  }
  const auto end_of_group = [&](const std::string& result) {
    return filled(part(kernels::reduce, sub_groups ? "group_end_of_sub_groups" : "group_end"),
                  {{"put", put},
                   {"items", items_text},
                   {"join_sub_group", join_sub_group},
                   {"join", join},
                   {"out", out + result}});
  };
  const std::string rows = grid_stride_rows(to, stream, chunk, pixel);
  // `begins`: the totals' declarations; `folds_in`: what goes into them; `ends`: the group's end.
  const auto pass = [&](const std::string& declared, const std::string& begins,
                        const std::string& of_pixels, const std::string& of_groups,
                        const std::string& ends) {
    return filled(part(kernels::reduce, "stream"), {{"locals", declared},
                                                    {"begin", begins},
                                                    {"rows", of_pixels},
                                                    {"all_groups", of_groups},
                                                    {"group_end", ends},
                                                    {"group_end_of_sub_groups", ""}});
  };
  const auto total = [&](const std::string& declared) {
    std::string measured;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      measured += "      " + to.measure({false, nodes[i]}) + "[0] = " + results[i] + ";\n";
    }
    const std::string of_groups =
        filled(part(kernels::reduce, "all_groups"),
               {{"unroll", to.tuning().unroll ? "#pragma unroll 4\n" : ""},
                {"groups", groups_text},
                {"items", items_text},
                {"join", from}});
    return pass(declared, first, "", of_groups, end_of_group(measured));
  };
  std::string text = pass(locals, begin, rows, "", pairs + end_of_group(out_parts));
  if (one_launch) {
    const std::string scalars = scalars_at_end(to, reductions.scalars, items);
    text += filled(part(kernels::reduce, "last_group"),
                   {{"ticket", to.ticket()}, {"total", total("") + scalars}});
  }
  // What only reads and folds has all its groups at work at once; of those of 128 work-items that
  // Tuning::groups_at_once counts, a processor has sixteen.
  const int at_once = stream.wide(to) ? 16 * loads_of_group / items : 0;
  to.kernel(
      name + "_parts_of_groups", items, text,
      [groups, items](const LaunchContext& at) {
        return LaunchShape{{groups(at), 1, 1}, {items, 1, 1}};
      },
      at_once);
  if (one_launch) return;
  to.kernel(name + "_total", items, total(locals), [items](const LaunchContext&) {
    return LaunchShape{{1, 1, 1}, {items, 1, 1}};
  });
}

}  // namespace

std::string joined_in_sub_group(const SubGroupJoin& join) {
  return filled(part(kernels::reduce_sub_groups, "join"),
                {{"from", join.from},
                 {"end", join.end},
                 {"type", join.type},
                 {"total", join.total},
                 {"test", join.test.empty() ? "" : "if (" + join.test + ") "},
                 {"both", join.both}});
}

void write_reductions(Builder& to, const Reductions& reductions) {
  if (reductions.cells) {
    write_cells(to, reductions);
  } else {
    write_stream(to, reductions);
  }
}

}  // namespace impipe::jit
