// Neighbourhoods of neighbourhoods, or one of points, in one kernel.
//
// The work-items of a sub-group lie side by side, four pixels each, and go down a strip of rows
// together. Of every value of the chain they keep the rows that are still needed in registers: each
// pixel of a strip is made once. What lies to the left and right comes from the neighbours; the
// first and the last work-item of a sub-group make pixels only for them. Rows above and below a
// strip are made again by the next one. Outside the image the reader's border rule is applied to
// the value's own pixels.
//
// After the rows above it a strip is made in iterations of a loop. An iteration is unrolled, so
// that registers need not be moved from row to row, and no longer than that takes: processors keep
// few instructions at hand. Weighted sums in two dimensions, of which what has been added so far is
// kept, take shorter iterations, which make the rows above as well.
#include "backends/jit/neighbourhood/strip.hpp"

#include <algorithm>

#include "backends/jit/block/row.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/plan/strip_size.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int px = strip_px;
constexpr int ahead = 3;  // rows that are loaded before they are used

class StripWriter {
 public:
  StripWriter(Builder& to, const KernelPlan& plan, int n)
      : to_(to),
        plan_(plan),
        n_(n),
        chain_(plan.form<StripChain>(n)->chain),
        heavy_(std::any_of(chain_.values.begin(), chain_.values.end(),
                           [](const StripValue& value) { return value.sums; })),
        iteration_rows_(heavy_ ? to.tuning().sums_rows
                               : std::max(chain_.tallest, to.tuning().strip_rows)),
        first_(chain_.up + chain_.down) {}

  void write() {
    const Operand self{false, n_};
    const std::string name = Builder::name(self), function = "strip_" + name;
    width_ = to_.width(self);
    height_ = to_.height(self);
    std::string arrays, begin, iteration, end, early, given, passed;
    for (const StripValue& value : chain_.values) {
      arrays += array(value);
      end += carried(value);
      made_.push_back(make(value));
      if (value.kind != StripValue::Kind::plane) continue;
      early += first_loads(value);
      given += ", const " + early_type(value) + "* early_" + value.name;
      passed += ", early_" + value.name;
    }
    // Unrolled row by row: no barrier stands in a loop or behind a condition.
    for (int t = -ahead; t < first_ + iteration_rows_; ++t) {
      std::string& text = t < first_ ? begin : iteration;
      for (const StripValue& value : chain_.values) {
        if (heavy_ && t < first_) {
          if (t == -ahead) text += started(value);
          continue;
        }
        if (value.kind == StripValue::Kind::plane) text += step(value, t + ahead, true);
        if (t >= 0) text += step(value, t, false);
      }
    }
    const StripSize size{.iteration = iteration_rows_,
                         .around = first_,
                         .above = heavy_ ? first_ : 0,
                         .processors = to_.tuning().processors};
    const std::string iterations = to_.parameter(
        ParameterType::int32, name + "_iterations", [self, size](const LaunchContext& at, int) {
          return static_cast<double>(size.iterations(at.size_of(self)));
        });
    const std::string rows =
        "(iterations * " + number(iteration_rows_) + " - " + number(size.above) + ")";
    to_.function(
        function,
        "FUNCTION void " + function +
            "(PARAMS, IN_LOCAL float* shared, const int x0, int y0, "
            "const int iterations" +
            given + ", const int edge) {\n" + arrays + begun() + begin +
            (heavy_ ? "  y0 -= " + number(first_) + ";\n" : "") +
            "#pragma unroll 1\n  for (int iteration = 0; iteration < iterations; ++iteration) {\n" +
            iteration + end + "  y0 += " + number(iteration_rows_) + ";\n  }\n}\n");
    const auto call = [&](const char* edge) {
      return function + "(ARGS, shared, x0, y0, iterations" + passed + ", " + edge + ");\n";
    };
    // By all work-items of a sub-group together: the compiler knows then that they stay together.
    const std::string text =
        "  LOCAL float shared[" + number(std::max(1, 256 * table_count_)) +
        "];\n  const int x0 = GROUP_X * " + number(strip_across) +
        " + ITEM % 32 * 4, iterations = " + iterations + ";\n  const int y0 = (GROUP_Y * " +
        number(strip_sub_groups) + " + ITEM / 32) * " + rows + ";\n" + early + tables_ +
        (tables_.empty() ? "" : "  BARRIER;\n") +
        "  if (all_of_sub_group(GROUP_X > 0 && GROUP_X + 1 < GROUPS_X && y0 >= " +
        number(chain_.up) + " && y0 + " + rows + " + " + number(chain_.down + ahead) +
        " <= " + height_ + ")) {\n    " + call("0") + "  } else {\n    " + call("1") + "  }\n";
    to_.kernel(
        "store_" + name, strip_items, text,
        [self, size](const LaunchContext& at) { return size.groups(at.size_of(self)); },
        chain_.dense ? 5 : 4);
  }

 private:
  // Where the strip's rows are read and written, and whether the work-item's pixels are.
  std::string begun() {
    const Operand self{false, n_};
    std::string text =
        "  const int sub_item = ITEM % 32;\n  const int stores = edge ? x0 < " + width_ +
        " && (sub_item > 0 || GROUP_X == 0) && (sub_item < 31 || GROUP_X + 1 == GROUPS_X)\n" +
        "                          : sub_item > 0 && sub_item < 31;\n  GLOBAL " +
        type_of(to_.cls(self)) +
        "* to = " + to_.plane(self).row("(y0 - " + number(heavy_ ? first_ : 0) + ")") + " + x0;\n";
    for (const StripValue& value : chain_.values) {
      if (value.kind != StripValue::Kind::plane) continue;
      text += "  GLOBAL const " + type_of(to_.cls(value.operand)) + "* " + value.name + "_next = " +
              to_.plane(value.operand)
                  .row("(y0 + " + number(early_rows(value) - early_up(value)) + ")") +
              " + x0;\n";
    }
    return text;
  }

  // What is done about a value at time t, with row: of the strip, j: of the value's array, and y:
  // of the image.
  std::string step(const StripValue& value, int t, bool loads) {
    const int row = t - chain_.up - value.lag;
    if (row < -value.need.up) return "";
    row_ = row;
    const std::string text =
        loads ? load(value)
              : made_[static_cast<std::size_t>(&value - chain_.values.data())] + extended(value);
    if (text.empty()) return "";
    return "  {\n      const int row = " + number(row) + ", j = " + number(row + value.need.up) +
           ", y = y0 + row;\n" + text + "  }\n";
  }

  // What stands where rows made before the first iteration are kept, when there are none.
  std::string started(const StripValue& value) const {
    std::string text;
    const auto zero = [&](const std::string& name, int count) {
      text += to_.loop("k", count) + name + "[k] = 0;\n";
    };
    zero(value.name, before(value) * px);
    if (value.sums) zero(value.name + "_sums", begun_rows(value) * px);
    if (keeps_wide(value)) zero(value.name + "_wide", before(value) * width_of(value));
    if (value.kind != StripValue::Kind::plane) return text;
    const int from = before(value) - ahead;
    if (has_words(value)) {
      zero(value.name + "_words", from);
      return text + to_.loop("k", ahead) + value.name + "_words[k + " + number(from) +
             "] = early_" + value.name + "[k];\n" + to_.loop("k", ahead * px) + value.name +
             "[k + " + number(from * px) + "] = (" + type(value) + ")BYTE_OF(early_" + value.name +
             "[k / 4], k % 4);\n";
    }
    return text + to_.loop("k", ahead * px) + value.name + "[k + " + number(from * px) +
           "] = early_" + value.name + "[k];\n";
  }

  // Rows of a value that are made before the first iteration.
  int before(const StripValue& value) const {
    return std::max(0, first_ - chain_.up - value.lag + value.need.up) +
           (value.kind == StripValue::Kind::plane ? ahead : 0);
  }
  int rows_of(const StripValue& value) const { return before(value) + iteration_rows_; }
  // After a iteration: its rows are those before the next one.
  std::string carried(const StripValue& value) const {
    std::string text;
    const auto carry = [&](const std::string& name, int width) {
      text += to_.loop("k", before(value) * width) + name + "[k] = " + name + "[k + " +
              number(iteration_rows_ * width) + "];\n";
    };
    if (value.sums) {
      text += to_.loop("k", begun_rows(value) * px) + value.name + "_sums[k] = " + value.name +
              "_sums[k + " + number(iteration_rows_ * px) + "];\n";
    }
    if (before(value) == 0) return text;
    carry(value.name, px);
    if (has_words(value)) carry(value.name + "_words", 1);
    if (keeps_wide(value)) carry(value.name + "_wide", width_of(value));
    return text;
  }
  // Of sums: rows to which something is added before the first iteration.
  int begun_rows(const StripValue& value) const {
    return before(value) + value.reach.up + value.reach.down;
  }
  bool keeps_wide(const StripValue& value) const {
    return value.reader >= 0 && !reader_of(value).sums;
  }
  bool has_words(const StripValue& v) const {
    return v.kind == StripValue::Kind::plane && bytes_of(to_.cls(v.operand)) == 1;
  }
  const StripValue& reader_of(const StripValue& value) const {
    return chain_.values[static_cast<std::size_t>(value.reader)];
  }
  int width_of(const StripValue& value) const {
    const Footprint& f = reader_of(value).reach;
    return f.left + px + f.right;
  }
  bool is_table(const StripValue& value) const {
    return value.kind == StripValue::Kind::point && plan_.node(value.node).codes.has_value();
  }
  std::string type(const StripValue& value) const {
    if (value.kind == StripValue::Kind::rows || is_table(value)) return "float";
    return type_of(to_.cls(value.operand));
  }

  std::string array(const StripValue& value) const {
    std::string text =
        "  " + type(value) + " " + value.name + "[" + number(rows_of(value) * px) + "];\n";
    if (has_words(value)) {
      text += "  uint " + value.name + "_words[" + number(rows_of(value)) + "];\n";
    }
    if (value.sums) {
      text += "  float " + value.name + "_sums[" +
              number((begun_rows(value) + iteration_rows_) * px) + "];\n";
    }
    if (keeps_wide(value)) {
      text +=
          "  float " + value.name + "_wide[" + number(rows_of(value) * width_of(value)) + "];\n";
    }
    return text;
  }

  // A row of a plane as a pointer to where the work-item's pixels, or some inside the image, begin.
  std::string inside(const StripValue& value) const {
    return to_.plane(value.operand).row("replicate(y, " + height_ + ")") + " + smaller(x0, (" +
           width_ + " - 1) / 4 * 4)";
  }
  std::string loaded(const StripValue& value, const std::string& words) const {
    const PixelClass cls = to_.cls(value.operand);
    return has_words(value) ? "      load_4_bytes((GLOBAL const uchar*)from, " + words + " + j);\n"
                            : wide_load(cls, "from", "(" + words + " + j * 4)", 0, px,
                                        px * bytes_of(cls), "      ");
  }
  std::string early_type(const StripValue& value) const {
    return has_words(value) ? "uint" : type(value);
  }
  // Rows that are loaded before the first one is made; the rows above the strip they begin from.
  int early_rows(const StripValue& value) const {
    return heavy_ ? ahead : std::max(0, ahead - chain_.up + value.need.up);
  }
  int early_up(const StripValue& value) const { return heavy_ ? chain_.up : value.need.up; }
  // Those rows, while the tables are made.
  std::string first_loads(const StripValue& value) const {
    const std::string name = "early_" + value.name;
    const int rows = early_rows(value);
    std::string text = "  " + early_type(value) + " " + name + "[" +
                       number(std::max(1, has_words(value) ? rows : rows * px)) + "];\n";
    for (int j = 0; j < rows; ++j) {
      text += "  {\n      const int j = " + number(j) + ", y = y0 + " +
              number(j - early_up(value)) + ";\n      GLOBAL const " +
              type_of(to_.cls(value.operand)) + "* const from = " + inside(value) + ";\n" +
              loaded(value, name) + "  }\n";
    }
    return text;
  }

  // A row of a plane. Sub-groups that lie inside with all they read go from row to row.
  std::string load(const StripValue& value) {
    const std::string next = value.name + "_next", early = "early_" + value.name;
    const std::string words = has_words(value) ? value.name + "_words" : value.name;
    std::string text;
    if (!heavy_ && row_ + value.need.up < early_rows(value)) {
      text = has_words(value)
                 ? "      " + words + "[j] = " + early + "[j];\n"
                 : to_.loop("k", px) + words + "[j * 4 + k] = " + early + "[j * 4 + k];\n";
    } else {
      text = "      GLOBAL const " + type_of(to_.cls(value.operand)) + "* const from = edge ? " +
             inside(value) + " : " + next + ";\n      " + next +
             " += " + to_.plane(value.operand).stride + ";\n" + loaded(value, words);
    }
    if (!has_words(value)) return text;
    return text + to_.loop("k", px) + value.name + "[j * 4 + k] = (" + type(value) + ")BYTE_OF(" +
           words + "[j], k);\n";
  }

  std::string make(const StripValue& value) {
    switch (value.kind) {
      case StripValue::Kind::plane: return "";
      case StripValue::Kind::point: return make_point(value);
      default: return make_neighbourhood(value);
    }
  }

  // The pixel of row `row` of a value.
  std::string pixel(const StripValue& value) const {
    return value.name + "[(row + " + number(value.need.up) + ") * 4 + k]";
  }

  std::string make_point(const StripValue& value) {
    const Node& node = to_.node(value.node);
    if (const std::optional<Operand> source = plan_.node(value.node).codes) {
      // The plane that the codes come from is the first value of that name.
      const std::string name = "a_" + Builder::name(*source);
      const auto from = std::find_if(chain_.values.begin(), chain_.values.end(),
                                     [&](const StripValue& v) { return v.name == name; });
      return for_each_pixel(to_, px,
                            value.name + "[j * 4 + k] = OF_BYTE(shared + " +
                                table_of(value.node, *source) + ", " + from->name +
                                "_words[row + " + number(from->need.up) + "], k);");
    }
    const std::string text = point_value(to_, value.node, [&](const Operand& image) {
      const auto it = std::find(node.images.begin(), node.images.end(), image);
      return pixel(chain_.values[static_cast<std::size_t>(
          value.from[static_cast<std::size_t>(it - node.images.begin())])]);
    });
    return for_each_pixel(to_, px,
                          (names_place(node) ? "const int x = x0 + i;\n      " : "") + value.name +
                              "[j * 4 + k] = " + text + ";");
  }

  // Each group makes its own table of what a code becomes.
  std::string table_of(int n, const Operand& source) {
    const int codes = to_.cls(source) == PixelClass::logical ? 2 : 256;
    const std::string entry = code_value(to_, n, source);
    const std::string first = number(256 * table_count_++);
    tables_ += "  for (int code = ITEM; code < " + number(codes) +
               "; code += " + number(strip_items) + ") shared[" + first + " + code] = " + entry +
               ";\n";
    return first;
  }

  std::string make_neighbourhood(const StripValue& value) {
    const Node& node = to_.node(value.node);
    const StripValue& from = chain_.values[static_cast<std::size_t>(value.from[0])];
    const Footprint& f = value.reach;
    if (value.sums) {
      return row_of_floats(to_, "made", node.cls, px, value.name + "_sums[j * 4 + k]").text +
             to_.loop("k", px) + value.name + "[j * 4 + k] = made[k];\n";
    }
    Window w{"window", f.up + 1 + f.down, width_of(from), f.left};
    const std::string wide = number(w.width);
    Row row;
    if (value.kind == StripValue::Kind::stencil) {
      const Stencil& stencil = *as<Stencil>(node);
      const bool sums = stencil.body == nullptr && stencil.expression == nullptr;
      row = sums ? weighted_row(to_, "made", px, w, stencil.taps, weights_of(value), node.cls)
                 : body_row(to_, "made", px, w, value.node);
    } else {
      const Separable& separable = *as<Separable>(node);
      const int count = separable.row.count();
      const bool rows = value.kind == StripValue::Kind::rows;
      row = weighted_row(
          to_, "made", px, w, rows ? separable.row : separable.column,
          rows ? weights(to_, value.node, "row_weights", 0, count)
               : weights(to_, value.node, "column_weights", count, separable.column.count()),
          rows ? PixelClass::single : node.cls);
    }
    return "      float window[" + number(w.rows * w.width) + "];\n" +
           to_.loop("k", w.rows * w.width) + "window[k] = " + from.name + "_wide[(row + " +
           number(from.need.up - f.up) + ") * " + wide + " + k];\n      const int r = 0;\n" +
           row.text + to_.loop("k", px) + value.name + "[j * 4 + k] = made[k];\n";
  }

  std::string weights_of(const StripValue& value) {
    return weights(to_, value.node, "weights", 0, as<Stencil>(to_.node(value.node))->taps.count());
  }

  // What a row, as `wide`, adds to the sums that read it; their taps come in row-major
  // order, for the rows come from the top down.
  std::string added(const StripValue& sums) {
    const Mask& mask = as<Stencil>(to_.node(sums.node))->taps;
    const std::string weight = weights_of(sums);
    std::string text;
    int tap = 0;
    for (int y = 0; y < mask.height; ++y) {
      const int at = row_ - (y - mask.origin_y) + sums.need.up;
      std::string terms;
      for (int x = 0; x < mask.width; ++x) {
        if (!mask.at(x, y)) continue;
        terms += "        sum = fma(" + weight + "[" + number(tap++) + "], wide[i + " +
                 number(sums.reach.left + x - mask.origin_x) + "], sum);\n";
      }
      const bool first = y - mask.origin_y == -sums.reach.up;
      if (at < 0 || (terms.empty() && !first)) continue;
      const std::string place = sums.name + "_sums[" + number(at * px) + " + i]";
      text += to_.loop("i", px) + "{\n        float sum = " + (first ? "0.0f" : place) + ";\n" +
              terms + "        " + place + " = sum;\n      }\n";
    }
    return text;
  }

  // After a row is made: it is stored, or made wide for the neighbourhood that reads it.
  std::string extended(const StripValue& value) {
    std::string text;
    if (value.node == n_ && value.kind != StripValue::Kind::rows) text += store(value);
    if (value.reader < 0) return text;
    const StripValue& reader = reader_of(value);
    const Footprint& f = reader.reach;
    const int wide = width_of(value);
    const std::string w = number(wide), row = value.name + "_wide";
    const bool constant = reader.border == Border::constant;
    const std::string outside = outside_value(to_, reader.node, reader.border);
    text += "      float wide[" + w + "];\n" + to_.loop("k", px) + "wide[" + number(f.left) +
            " + k] = (float)" + value.name + "[j * 4 + k];\n";
    if (f.left > 0 || f.right > 0) {
      const std::string exchange = "      exchange_columns(wide, " + number(f.left) + ", " +
                                   number(f.right) + ");\n      if (edge) {\n";
      if (constant) {
        // What stands outside the image goes to the neighbours with the others' pixels.
        text += "      if (edge) {\n" + to_.loop("k", px) + "if (x0 + k >= " + width_ + ") wide[" +
                number(f.left) + " + k] = " + outside + ";\n      }\n" + exchange;
        if (f.left > 0)
          text += to_.loop("k", f.left) + "if (sub_item == 0) wide[k] = " + outside + ";\n";
        if (f.right > 0) {
          text += to_.loop("k", f.right) + "if (sub_item == 31) wide[" + number(f.left + px) +
                  " + k] = " + outside + ";\n";
        }
      } else {
        text += exchange;
        if (f.left > 0) {
          text += to_.loop("k", f.left) + "if (x0 == 0) wide[" + number(f.left - 1) +
                  " - k] = wide[" + number(f.left) + "];\n";
        }
        text += to_.loop("k", wide - 1 - f.left) + "if (x0 + k + 1 >= " + width_ + ") wide[" +
                number(f.left + 1) + " + k] = wide[" + number(f.left) + " + k];\n";
      }
      text += "      }\n";
    }
    if ((f.up > 0 || f.down > 0) && (constant || !value.pure)) {
      if (constant) {
        text += "      if (edge && (" + std::string(heavy_ || row_ < 0 ? "y < 0 || " : "") +
                "y >= " + height_ + ")) {\n" + to_.loop("k", wide) + "wide[k] = " + outside +
                ";\n      }\n";
      } else if (f.down > 0) {
        text += "      if (edge && y >= " + height_ + " && j > 0) {\n" + to_.loop("k", wide) +
                "wide[k] = " + row + "[(j - 1) * " + w + " + k];\n      }\n";
      }
    }
    if (reader.sums) return text + added(reader);
    text += to_.loop("k", wide) + row + "[j * " + w + " + k] = wide[k];\n";
    if (!constant && !value.pure && f.up > 0 && (heavy_ || row_ <= 0)) {
      text += "      if (edge && y == 0) {\n" + to_.loop("above", f.up) + "if (j > above) {\n" +
              to_.loop("k", wide) + row + "[(j - 1 - above) * " + w +
              " + k] = wide[k];\n      }\n      }\n";
    }
    return text;
  }

  std::string store(const StripValue& value) {
    const PixelClass cls = to_.node(n_).cls;
    const int bytes = px * bytes_of(cls);
    const std::string text =
        "      uint words[" + number(bytes / 4) + "];\n" +
        packed_words(cls, "words", value.name + "[j * 4 + ", bytes / 4, "      ");
    // Rows are padded: four pixels can always be written where one is.
    return text + "      store_" + number(bytes) + "_bytes_if(stores && " +
           (heavy_
                ? "iteration * " + number(iteration_rows_) + " + row >= " + number(first_) + " && "
                : "") +
           "(!edge || y < " + height_ +
           "), (GLOBAL uchar*)to, words);\n      to += " + to_.plane({false, n_}).stride + ";\n";
  }

  Builder& to_;
  const KernelPlan& plan_;
  int n_;
  const Chain& chain_;
  // Its iterations make the rows above the strip too, as if they were the strip's.
  bool heavy_;
  int iteration_rows_;             // rows of a iteration of the loop
  int first_;                      // rows above and below the strip
  int row_ = 0;                    // of the strip: what is being written
  std::vector<std::string> made_;  // a text a value
  std::string width_, height_;
  std::string tables_;  // in local memory
  int table_count_ = 0;
};

}  // namespace

void write_strip_kernel(Builder& to, const KernelPlan& plan, int n) {
  StripWriter(to, plan, n).write();
}

}  // namespace impipe::jit
