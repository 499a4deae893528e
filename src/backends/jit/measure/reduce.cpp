// Reductions as text: exact sums of integers and extremes by streaming; the rest is in
// reduce_cells.cpp.
#include "backends/jit/measure/reduce.hpp"

#include <algorithm>

#include "backends/jit/block/row.hpp"
#include "backends/jit/measure/grid_stride.hpp"
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
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
    text += braced(declared("const uint", "w", part) + step);
  }
  return text;
}
// `step` adds to `s`, which is then added to the total.
std::string in_32_bits(const std::string& total, const std::string& step) {
  return braced(declared("uint", "s", "0") + of_words(step) + statement(total + " += s"));
}

// The sum of codes.
Fold sum_of_codes(PixelClass cls, const std::string& name) {
  const bool bytes = bytes_of(cls) == 1;
  return {.name = name,
          .type = "long",
          .first = "0",
          .of_chunk = in_32_bits(name, bytes ? assigned("s", "add_bytes(w, s)")
                                             : statement("s += (w & 0xffffu) + (w >> 16)")),
          .of_pixel = statement(name + " += p"),
          .sum = true};
}

// The sum of their squares.
Fold sum_of_squares(PixelClass cls, const std::string& name) {
  const std::string halves = statement(name + " += (ulong)(w & 0xffffu) * (w & 0xffffu)") +
                             statement(name + " += (ulong)(w >> 16) * (w >> 16)");
  return {.name = name,
          .type = "long",
          .first = "0",
          .of_chunk = bytes_of(cls) == 1 ? in_32_bits(name, assigned("s", "add_squares(w, s)"))
                                         : of_words(halves),
          .of_pixel = statement(name + " += (uint)p * (uint)p"),
          .sum = true};
}

Fold extreme_of(const Builder& builder, int n) {
  const Node& node = builder.node(n);
  const PixelClass cls = builder.cls(node.images[0]);
  const bool bytes = bytes_of(cls) == 1, single = cls == PixelClass::single;
  Fold fold{.name = "total_" + Builder::name({false, n})};
  fold.largest = reduction(node)->kind == ReduceKind::max;
  fold.type = single ? "float" : "int";
  const auto value = [&](const std::string& v) {
    if (!single) return v;
    const std::string one_zero = v + " + 0.0f";  // neither of 0 and -0 is the smaller
    return reduction(node)->finite ? v + " - " + v + " == 0.0f ? " + one_zero + " : NAN" : one_zero;
  };
  fold.of_pixel = assigned(fold.name, fold.both(fold.name, value("p")));
  if (single) {
    fold.first = "NAN";
    for (const char* part : {"v.x", "v.y", "v.z", "v.w"}) {
      fold.of_chunk += assigned(fold.name, fold.both(fold.name, value(part)));
    }
    return fold;
  }
  fold.first = fold.largest ? "0" : std::to_string(static_cast<int>(class_max(cls)));
  const std::string pair = fold.largest ? "packed_max" : "packed_min", two = fold.name + "_two";
  const auto join = [&](const std::string& w) {
    return assigned(two, pair + "(" + two + ", " + w + ")");
  };
  fold.of_chunk = of_words(bytes ? join(even) + join(odd) : join("w"));
  return fold;
}

// What reductions of one image fold, each sum once, and what they make of it.
struct Folds {
  std::vector<Fold> folds;
  std::vector<std::string> results;  // of the nodes, from the first element of each fold's array
};

Folds folds_of(Builder& builder, const std::vector<int>& nodes) {
  const Operand image = builder.node(nodes[0]).images[0];
  Folds made;
  std::string sum;  // the name of its fold
  const auto all = [](const std::string& fold) { return "all_" + fold + "[0]"; };
  for (const int n : nodes) {
    const std::string name = "total_" + Builder::name({false, n});
    const bool spread = reduction(builder.node(n))->kind == ReduceKind::spread;
    if (is_extreme(builder.node(n))) {
      made.folds.push_back(extreme_of(builder, n));
    } else if (sum.empty()) {
      sum = spread ? "sum_for_" + name : name;
      made.folds.push_back(sum_of_codes(builder.cls(image), sum));
    }
    if (spread) made.folds.push_back(sum_of_squares(builder.cls(image), name));
    made.results.push_back(spread ? "spread_of_sums(" + all(sum) + ", " + all(name) + ", (long)" +
                                        builder.width(image) + " * " + builder.height(image) + ")"
                                  : "(double)" + all(is_extreme(builder.node(n)) ? name : sum));
    if (spread)
      builder.body_once("spread_of_sums", after_line(filled(part(kernels::reduce, "spread"))));
  }
  return made;
}

// Pairs that chunks are folded into, beside the totals.
bool has_pairs(const Fold& fold) { return fold.type == "int"; }

class StreamWriter {
 public:
  StreamWriter(Builder& builder, const Reductions& reductions)
      : builder_(builder),
        reductions_(reductions),
        nodes_(reductions.nodes),
        name_(Builder::name({false, nodes_[0]})),
        one_launch_(builder.context().ends_in_last_group()),
        // Where the last group ends the sums, few large ones leave it less to do.
        items_(one_launch_ ? 512 : 256),
        loads_of_group_(one_launch_ ? 96 : 128),
        image_(builder.node(nodes_[0]).images[0]),
        codes_(reductions.image.codes),
        stream_{codes_.value_or(image_), codes_ || reductions.image.in_memory, items_,
                builder.tuning().groups_at_once(), loads_of_group_},
        load_(values_a_load(builder, stream_)),
        folds_(folds_of(builder, nodes_)),
        sub_groups_(one_launch_ && builder.features().exchanges) {}

  void write() {
    const auto groups = this->groups();
    groups_text_ = builder_.integer(name_ + "_groups", groups);
    for (const Fold& fold : folds_.folds) add(fold);
    const std::string rows =
        codes_ ? rows_of_codes(*codes_) : grid_stride_rows(builder_, stream_, chunk_, pixel_);
    std::string text = pass(locals_, begin_, rows, "", pairs_ + end_of_group(out_parts_));
    if (one_launch_) {
      const std::string scalars = scalars_at_end(builder_, reductions_.scalars, items_);
      text += filled(part(kernels::reduce, "last_group"),
                     {{"ticket", builder_.ticket()}, {"total", total("") + scalars}});
    }
    // What only reads and folds has all its groups at work at once; of those of 128 work-items
    // that Tuning::groups_at_once counts, a processor has sixteen.
    const int at_once = stream_.wide(builder_) ? 16 * loads_of_group_ / items_ : 0;
    builder_.kernel(
        name_ + "_parts_of_groups", items_, text,
        [groups, items = items_](const LaunchContext& at) {
          return LaunchShape{{groups(at), 1, 1}, {items, 1, 1}};
        },
        at_once);
    if (one_launch_) return;
    builder_.kernel(name_ + "_total", items_, total(locals_),
                    [items = items_](const LaunchContext&) {
                      return LaunchShape{{1, 1, 1}, {items, 1, 1}};
                    });
  }

 private:
  LaunchNumber groups() const {
    return [stream = stream_, load = load_](const LaunchContext& at) {
      return stream.groups_for(at, load);
    };
  }
  // The rows of what a table has for the codes of a plane.
  std::string rows_of_codes(const Operand& plane) {
    const std::string type = type_of(builder_.cls(image_)), table = name_ + "_table";
    const auto pixel = [&](const std::string& code) {
      const std::string looked_up = declared("const " + type, "p", table + "[code_here]") + pixel_;
      return braced(declared("const uint", "code_here", code) + braced(looked_up));
    };
    const int codes = count_of_codes(builder_.cls(plane));
    locals_ += array_of("LOCAL " + type, table, number(codes));
    return filled(part(kernels::reduce, "table"),
                  {{"table", table},
                   {"codes", number(codes)},
                   {"items", number(items_)},
                   {"value", code_value(builder_, image_.index, plane)}}) +
           grid_stride_rows(builder_, stream_,
                            of_words(builder_.loop("k", 4) + pixel("w >> 8 * k & 0xffu")),
                            pixel("p"));
  }
  std::string parts(const Fold& fold) {
    return builder_.scratch(
        "parts_of_" + fold.name, fold.type,
        [groups = groups()](const LaunchContext& at) { return groups(at) * 8; });
  }
  // Text that puts the totals of a sub-group's work-items together, of which `of` have one.
  static std::string by_steps(const Fold& fold, int of) {
    return joined_in_sub_group({.type = fold.type,
                                .total = fold.name,
                                .both = fold.both(fold.name, "other"),
                                .from = "1",
                                .end = number(of)});
  }

  // A fold's statements, in all the places where they stand.
  void add(const Fold& fold) {
    const std::string all = "all_" + fold.name;
    // Of sub-groups the first element is the group's, and theirs stand behind it.
    locals_ += array_of("LOCAL " + fold.type, all,
                        sub_groups_ ? "1 + " + number(items_ / sub_group_items) : number(items_));
    begin_ += declared(fold.type, fold.name, fold.first);
    if (!codes_ && stream_.wide(builder_) && has_pairs(fold)) {
      begin_ +=
          declared("uint", fold.name + "_two", number(std::stoi(fold.first)) + "u * 0x10001u");
      for (const std::string half : {" & 0xffffu)", " >> 16)"}) {
        pairs_ += assigned(fold.name, fold.both(fold.name, "(int)(" + fold.name + "_two" + half));
      }
    }
    chunk_ += fold.of_chunk;
    pixel_ += fold.of_pixel;
    if (sub_groups_) {
      join_sub_group_ += by_steps(fold, sub_group_items);
      put_ += assigned(all + "[1 + ITEM / SUB_GROUP]", fold.name);
      join_ += assigned(fold.name, all + "[1 + ITEM % " + number(items_ / sub_group_items) + "]") +
               by_steps(fold, items_ / sub_group_items);
      out_ += assigned(all + "[0]", fold.name);
    } else {
      put_ += assigned(all + "[ITEM]", fold.name);
      join_ += assigned(all + "[ITEM]", fold.both(all + "[ITEM]", all + "[ITEM + step]"));
    }
    out_parts_ += assigned(parts(fold) + "[GROUP_X]", all + "[0]");
    first_ += declared(fold.type, fold.name, fold.first);
    from_ += assigned(fold.name, fold.both(fold.name, parts(fold) + "[i]"));
  }

  std::string end_of_group(const std::string& result) const {
    return Substitutions({{"put", put_},
                          {"items", number(items_)},
                          {"join_sub_group", join_sub_group_},
                          {"join", join_},
                          {"out", out_ + result}})
        .filled(part(kernels::reduce, sub_groups_ ? "group_end_of_sub_groups" : "group_end"));
  }

  // `begins`: the totals' declarations; then what goes into them, and the group's end.
  static std::string pass(const std::string& locals, const std::string& begins,
                          const std::string& of_pixels, const std::string& of_groups,
                          const std::string& ends) {
    return filled(part(kernels::reduce, "stream"), {{"locals", locals},
                                                    {"begin", begins},
                                                    {"rows", of_pixels},
                                                    {"all_groups", of_groups},
                                                    {"group_end", ends},
                                                    {"group_end_of_sub_groups", ""}});
  }

  // The totals of all groups, and the results.
  std::string total(const std::string& locals) {
    std::string measured;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      measured += assigned(builder_.measure({false, nodes_[i]}) + "[0]", folds_.results[i]);
    }
    const std::string of_groups =
        filled(part(kernels::reduce, "all_groups"),
               {{"unroll", builder_.tuning().unroll ? unroll_pragma(4) : ""},
                {"groups", groups_text_},
                {"items", number(items_)},
                {"join", from_}});
    return pass(locals, first_, "", of_groups, end_of_group(measured));
  }

  Builder& builder_;
  const Reductions& reductions_;
  const std::vector<int>& nodes_;
  std::string name_;
  bool one_launch_;
  int items_, loads_of_group_;
  Operand image_;
  std::optional<Operand> codes_;  // that it is looked up by
  GridStride stream_;
  int load_;
  Folds folds_;
  bool sub_groups_;  // whose work-items exchange registers
  std::string groups_text_;
  // Statements of all folds. Of the pass over the pixels:
  std::string locals_, begin_, pairs_, chunk_, pixel_;
  // of the end of a group:
  std::string put_, join_sub_group_, join_, out_, out_parts_;
  // and of that over the totals of all groups.
  std::string first_, from_;
};

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

void write_reductions(Builder& builder, const Reductions& reductions) {
  if (reductions.cells) {
    write_cells(builder, reductions);
  } else {
    StreamWriter(builder, reductions).write();
  }
}

}  // namespace impipe::jit
