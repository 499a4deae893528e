// Reductions as text: exact sums of integers and extremes by streaming; the rest is in
// reduce_cells.cpp.
#include "backends/jit/measure/reduce.hpp"

#include <algorithm>

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/measure/stream.hpp"
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

Fold fold_of(const Builder& to, int n) {
  const Node& node = to.node(n);
  const PixelClass cls = to.cls(node.images[0]);
  const bool bytes = bytes_of(cls) == 1, single = cls == PixelClass::single;
  Fold fold{.name = "total_" + Builder::name({false, n})};
  fold.sum = !is_extreme(node);
  fold.largest = reduction(node)->kind == ReduceKind::max;
  if (fold.sum) {
    fold.type = "long";
    fold.first = "0";
    fold.of_chunk = "{ uint s = 0; " +
                    of_words(bytes ? "s = add_bytes(w, s);" : "s += (w & 0xffffu) + (w >> 16);") +
                    fold.name + " += s; }";
    fold.of_pixel = fold.name + " += p;";
    return fold;
  }
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
  const std::string pair = fold.largest ? "larger_lanes" : "smaller_lanes",
                    two = fold.name + "_two";
  const auto join = [&](const std::string& w) {
    return two + " = " + pair + "(" + two + ", " + w + ");";
  };
  fold.of_chunk = of_words(bytes ? join(even) + " " + join(odd) : join("w"));
  return fold;
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
  const Stream stream{image, items, to.tuning().groups_at_once(), loads_of_group};
  const int load = values_a_load(to, stream);
  std::vector<Fold> folds;
  for (const int n : nodes) folds.push_back(fold_of(to, n));
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
  const bool waves = one_launch && to.dialect() != Dialect::opencl;
  // Of waves the first element is the group's, and theirs stand behind it.
  const std::string waves_text = std::to_string(items / 32);
  const std::string parts_of_group = waves ? "1 + " + waves_text : items_text;
  std::string locals, begin, pairs, chunk, pixel, put, join, join_wave, out, out_parts, first, from;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Fold& fold = folds[i];
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
    if (waves) {
      const auto by_steps = [&](int of) {
        return joined_in_wave({.type = fold.type,
                               .total = fold.name,
                               .both = fold.both(fold.name, "other"),
                               .from = "1",
                               .end = std::to_string(of)});
      };
      join_wave += by_steps(32);
      put += "      " + all + "[1 + ITEM / 32] = " + fold.name + ";\n";
      join += "      " + fold.name + " = " + all + "[1 + ITEM % " + waves_text + "];\n" +
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
    return filled(part(kernels::reduce, waves ? "group_end_of_waves" : "group_end"),
                  {{"put", put},
                   {"items", items_text},
                   {"join_wave", join_wave},
                   {"join", join},
                   {"out", out + result}});
  };
  const std::string rows = stream_rows(to, stream, chunk, pixel);
  // `begins`: the totals' declarations; `folds_in`: what goes into them; `ends`: the group's end.
  const auto pass = [&](const std::string& declared, const std::string& begins,
                        const std::string& of_pixels, const std::string& of_groups,
                        const std::string& ends) {
    return filled(part(kernels::reduce, "stream"), {{"locals", declared},
                                                    {"begin", begins},
                                                    {"rows", of_pixels},
                                                    {"all_groups", of_groups},
                                                    {"group_end", ends},
                                                    {"group_end_of_waves", ""}});
  };
  const auto total = [&](const std::string& declared) {
    std::string measured;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      measured += "      " + to.measure({false, nodes[i]}) + "[0] = (double)all_" + folds[i].name +
                  "[0];\n";
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

std::string joined_in_wave(const WaveJoin& join) {
  return filled(part(kernels::reduce_waves, "join"),
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
