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
#include <algorithm>
#include <functional>

#include "backends/jit/block/row.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/form.hpp"
#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/plan/point_plan.hpp"
#include "backends/jit/plan/strip_size.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int px = strip_px;
constexpr int ahead = 3;  // rows that are loaded before they are used

class StripWriter {
 public:
  StripWriter(Builder& builder, const KernelPlan& plan, int n)
      : builder_(builder),
        plan_(plan),
        n_(n),
        chain_(plan.form<StripChain>(n)->chain),
        heavy_(std::any_of(chain_.values.begin(), chain_.values.end(),
                           [](const StripValue& value) { return value.sums; })),
        iteration_rows_(heavy_ ? builder.tuning().sums_rows
                               : std::max(chain_.tallest, builder.tuning().strip_rows)),
        first_(chain_.up + chain_.down) {}

  void write() {
    const Operand self{false, n_};
    const std::string name = Builder::name(self), function = "strip_" + name;
    width_ = builder_.width(self);
    height_ = builder_.height(self);
    std::string arrays, begin, iteration, end, early, parameters, passed;
    for (const StripValue& value : chain_.values) {
      arrays += array(value);
      end += carried(value);
      made_.push_back(make(value));
      if (value.kind != StripValue::Kind::plane) continue;
      early += first_loads(value);
      parameters += ", const " + early_type(value) + "* early_" + value.name;
      passed += ", early_" + value.name;
    }
    write_rows(begin, iteration);
    const StripSize size{.iteration = iteration_rows_,
                         .around = first_,
                         .above = above(),
                         .processors = builder_.tuning().processors};
    const std::string iterations = builder_.of_size(
        name + "_iterations", self, [size](Size image) { return size.iterations(image); });
    builder_.function(
        function, function_of("void", function,
                              "PARAMS, IN_LOCAL float* shared, const int x0, int y0, "
                              "const int iterations" +
                                  parameters + ", const int edge",
                              text("strip", {{"arrays", arrays},
                                             {"pixel", type_of(builder_.cls(self))},
                                             {"out_row", builder_.plane(self).row("(y0 - $above)")},
                                             {"pointers", pointers()},
                                             {"begin", begin},
                                             {"iteration", iteration},
                                             {"carried", end}})));
    const std::string kernel =
        text("kernel", {{"entries", number(std::max(1, 256 * table_count_))},
                        {"across", number(strip_across)},
                        {"iterations", iterations},
                        {"sub_groups", number(strip_sub_groups)},
                        {"strip_rows", "(iterations * $rows - $above)"},
                        {"early_rows", early},
                        {"tables", tables_.empty() ? "" : tables_ + statement("BARRIER")},
                        {"up", number(chain_.up)},
                        {"below", number(chain_.down + ahead)},
                        {"function", function},
                        {"arguments", passed}});
    builder_.kernel(
        "store_" + name, strip_items, kernel,
        [self, size](const LaunchContext& at) { return size.groups(at.size_of(self)); },
        chain_.dense ? 5 : 4);
  }

 private:
  // The rows before the first iteration, and those of one. Unrolled row by row: no barrier stands
  // in a loop or behind a condition.
  void write_rows(std::string& begin, std::string& iteration) {
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
  }

  std::string text(std::string_view name, Replacements own = {}) const {
    return words_.filled(part(kernels::strip, name), own);
  }
  int above() const { return heavy_ ? first_ : 0; }

  // Where the next rows of planes are read.
  std::string pointers() {
    std::string text;
    for (const StripValue& value : chain_.values) {
      if (value.kind != StripValue::Kind::plane) continue;
      text += declared("GLOBAL const " + type_of(builder_.cls(value.operand)) + "*",
                       value.name + "_next",
                       builder_.plane(value.operand)
                               .row("(y0 + " + number(early_rows(value) - early_up(value)) + ")") +
                           " + x0");
    }
    return text;
  }

  // Emits the code for step t of a value, with row: of the strip, j: of the value's array, and y:
  // of the image.
  std::string step(const StripValue& value, int t, bool loads) {
    const int row = t - chain_.up - value.lag;
    if (row < -value.need.up) return "";
    row_ = row;
    const std::string text =
        loads ? load(value)
              : made_[static_cast<std::size_t>(&value - chain_.values.data())] + extended(value);
    if (text.empty()) return "";
    return braced(statement("const int row = " + number(row) +
                            ", j = " + number(row + value.need.up) + ", y = y0 + row") +
                  text);
  }

  // What stands where rows made before the first iteration are kept, when there are none.
  std::string started(const StripValue& value) const {
    std::string text;
    const auto zero = [&](const std::string& name, int count) {
      text += builder_.loop("k", count) + assigned(name + "[k]", "0");
    };
    zero(value.name, before(value) * px);
    if (value.sums) zero(value.name + "_sums", begun_rows(value) * px);
    if (keeps_wide(value)) zero(value.name + "_wide", before(value) * width_of(value));
    if (value.kind != StripValue::Kind::plane) return text;
    const int from = before(value) - ahead;
    if (has_words(value)) {
      zero(value.name + "_words", from);
      return text + builder_.loop("k", ahead) +
             assigned(value.name + "_words[k + " + number(from) + "]",
                      "early_" + value.name + "[k]") +
             builder_.loop("k", ahead * px) +
             assigned(value.name + "[k + " + number(from * px) + "]",
                      "(" + type(value) + ")BYTE_OF(early_" + value.name + "[k / 4], k % 4)");
    }
    return text + builder_.loop("k", ahead * px) +
           assigned(value.name + "[k + " + number(from * px) + "]", "early_" + value.name + "[k]");
  }

  // Rows of a value that are made before the first iteration.
  int before(const StripValue& value) const {
    return std::max(0, first_ - chain_.up - value.lag + value.need.up) +
           (value.kind == StripValue::Kind::plane ? ahead : 0);
  }
  int rows_of(const StripValue& value) const { return before(value) + iteration_rows_; }
  // `count` elements of an array from so many further on.
  std::string carried_down(const std::string& array, int count, int from) const {
    return builder_.loop("k", count) +
           assigned(array + "[k]", array + "[k + " + number(from) + "]");
  }
  // After an iteration: its rows are those before the next one.
  std::string carried(const StripValue& value) const {
    std::string text;
    const auto carry = [&](const std::string& name, int width) {
      text += carried_down(name, before(value) * width, iteration_rows_ * width);
    };
    if (value.sums) {
      text += carried_down(value.name + "_sums", begun_rows(value) * px, iteration_rows_ * px);
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
    return v.kind == StripValue::Kind::plane && bytes_of(builder_.cls(v.operand)) == 1;
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
    return type_of(builder_.cls(value.operand));
  }

  std::string array(const StripValue& value) const {
    std::string text = array_of(type(value), value.name, rows_of(value) * px);
    if (has_words(value)) text += array_of("uint", value.name + "_words", rows_of(value));
    if (value.sums) {
      text += array_of("float", value.name + "_sums", (begun_rows(value) + iteration_rows_) * px);
    }
    if (keeps_wide(value)) {
      text += array_of("float", value.name + "_wide", rows_of(value) * width_of(value));
    }
    return text;
  }

  // A row of a plane as a pointer to where the work-item's pixels, or some inside the image, begin.
  std::string inside(const StripValue& value) const {
    return builder_.plane(value.operand).row("replicate(y, " + height_ + ")") + " + smaller(x0, (" +
           width_ + " - 1) / 4 * 4)";
  }
  std::string loaded(const StripValue& value, const std::string& words) const {
    const PixelClass cls = builder_.cls(value.operand);
    return has_words(value)
               ? statement("load_4_bytes((GLOBAL const uchar*)from, " + words + " + j)")
               : wide_load(cls, "from", "(" + words + " + j * 4)", 0, px, px * bytes_of(cls));
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
    std::string text =
        array_of(early_type(value), name, std::max(1, has_words(value) ? rows : rows * px));
    for (int j = 0; j < rows; ++j) {
      text += braced(
          statement("const int j = " + number(j) + ", y = y0 + " + number(j - early_up(value))) +
          declared("GLOBAL const " + type_of(builder_.cls(value.operand)) + "* const", "from",
                   inside(value)) +
          loaded(value, name));
    }
    return text;
  }

  // A row of a plane.
  std::string load(const StripValue& value) {
    const std::string words = has_words(value) ? value.name + "_words" : value.name;
    const bool early = !heavy_ && row_ + value.need.up < early_rows(value);
    const std::string from = "early_" + value.name;
    const std::string kept =
        has_words(value)
            ? assigned(words + "[j]", from + "[j]")
            : builder_.loop("k", px) + assigned(words + "[j * 4 + k]", from + "[j * 4 + k]");
    return text("load", {{"early", early ? "1" : "0"},
                         {"loaded", early ? kept : loaded(value, words)},
                         {"pixel", type_of(builder_.cls(value.operand))},
                         {"inside", inside(value)},
                         {"next_row", value.name + "_next"},
                         {"stride", builder_.plane(value.operand).stride},
                         {"has_words", has_words(value) ? "1" : "0"},
                         {"name", value.name},
                         {"words", words}});
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
    const Node& node = builder_.node(value.node);
    if (const std::optional<Operand> source = plan_.node(value.node).codes) {
      // A plane that the codes come from is the first value of that name.
      const std::string name = "a_" + Builder::name(*source);
      const auto from = std::find_if(chain_.values.begin(), chain_.values.end(),
                                     [&](const StripValue& v) { return v.name == name; });
      const std::string code = from->name + "_words[row + " + number(from->need.up) + "], k)";
      const std::string made =
          from->kind != StripValue::Kind::plane
              ? "shared[" + table_of(value.node, *source) + " + " + pixel(*from) + "]"
          : takes_few_steps(builder_.context(), value.node)
              ? point_value(builder_, value.node,
                            [&](const Operand&) { return "FLOAT_OF_BYTE(" + code; })
              : "OF_BYTE(shared + " + table_of(value.node, *source) + ", " + code;
      return for_each_pixel(builder_, px, assigned(value.name + "[j * 4 + k]", made));
    }
    const std::string text = point_value(builder_, value.node, [&](const Operand& image) {
      const auto it = std::find(node.images.begin(), node.images.end(), image);
      return pixel(chain_.values[static_cast<std::size_t>(
          value.from[static_cast<std::size_t>(it - node.images.begin())])]);
    });
    return for_each_pixel(builder_, px,
                          (names_place(node) ? declared("const int", "x", "x0 + i") : "") +
                              assigned(value.name + "[j * 4 + k]", text));
  }

  // Each group makes its own table of what a code becomes.
  std::string table_of(int n, const Operand& source) {
    const int codes = builder_.cls(source) == PixelClass::logical ? 2 : 256;
    const std::string entry = code_value(builder_, n, source);
    const std::string first = number(256 * table_count_++);
    tables_ += "for (int code = ITEM; code < " + number(codes) +
               "; code += " + number(strip_items) + ") " +
               assigned("shared[" + first + " + code]", entry);
    return first;
  }

  std::string make_neighbourhood(const StripValue& value) {
    const Node& node = builder_.node(value.node);
    const StripValue& from = chain_.values[static_cast<std::size_t>(value.from[0])];
    const Footprint& f = value.reach;
    if (value.sums) {
      return row_of_floats(builder_, "made", node.cls, px, value.name + "_sums[j * 4 + k]").text +
             builder_.loop("k", px) + assigned(value.name + "[j * 4 + k]", "made[k]");
    }
    if (goes_on(value)) return running(value, from);
    Window w{"window", f.up + 1 + f.down, width_of(from), f.left};
    Row row;
    if (value.kind == StripValue::Kind::stencil) {
      const Stencil& stencil = *as<Stencil>(node);
      const bool sums = stencil.body == nullptr && stencil.expression == nullptr;
      row = sums ? weighted_row(builder_, "made", px, w, stencil.taps, weights_of(value), node.cls)
                 : body_row(builder_, "made", px, w, value.node);
    } else if (value.kind == StripValue::Kind::columns &&
               sums_codes(builder_.context(), value.node)) {
      row = box_row(value, w);
    } else {
      const Separable& separable = *as<Separable>(node);
      const int count = separable.row.count();
      const bool rows = value.kind == StripValue::Kind::rows;
      row = weighted_row(
          builder_, "made", px, w, rows ? separable.row : separable.column,
          rows ? weights(builder_, value.node, "row_weights", 0, count)
               : weights(builder_, value.node, "column_weights", count, separable.column.count()),
          rows ? PixelClass::single : node.cls);
    }
    return text("window", {{"window_count", number(w.rows * w.width)},
                           {"window_wide", number(w.width)},
                           {"rows_wide", from.name + "_wide"},
                           {"from_row", number(from.need.up - f.up)},
                           {"made", row.text},
                           {"name", value.name}});
  }

  // Sums of a column of whole numbers times its weight.
  Row box_row(const StripValue& value, const Window& w) {
    const Separable& separable = *as<Separable>(builder_.node(value.node));
    std::string sum;
    for (int y = 0; y < separable.column.height; ++y) {
      sum += (y == 0 ? "" : " + ") + w.array + "[" + number(y * w.width + w.first) + " + k]";
    }
    const std::string weight = weights(builder_, value.node, "column_weights",
                                       separable.row.count(), separable.column.count());
    return row_of_floats(builder_, "made", builder_.node(value.node).cls, px,
                         "(" + sum + ") * " + weight + "[0]");
  }

  // Whether sums are running sums, which add the entering and subtract the leaving pixel: along
  // rows and down columns. Values outside the image must not change on the way.
  bool goes_on(const StripValue& value) const {
    const Node& node = builder_.node(value.node);
    const auto* separable = as<Separable>(node);
    if (separable == nullptr || !separable->any_order || node.cls != PixelClass::single) {
      return false;
    }
    return value.kind == StripValue::Kind::rows ||
           (!sums_codes(builder_.context(), value.node) &&
            chain_.values[static_cast<std::size_t>(value.from[0])].pure);
  }
  std::string running(const StripValue& value, const StripValue& from) const {
    const Footprint& f = value.reach;
    const int wide = width_of(from);
    const bool rows = value.kind == StripValue::Kind::rows;
    // Pixel k of `from` in the row that is so many below the first that is read.
    const auto pixel = [&](int below, const std::string& k) {
      return from.name + "_wide[(row + " + number(from.need.up - f.up + below) + ") * " +
             number(wide) + " + " + k + "]";
    };
    const auto all = [&](const std::function<std::string(int)>& term, int count) {
      std::string sum = term(0);
      for (int i = 1; i < count; ++i) sum += " + " + term(i);
      return sum;
    };
    const std::string own = value.name + "[j * 4 + ";
    if (!rows) {
      const int height = f.up + 1 + f.down;
      const std::string first = all([&](int i) { return pixel(i, "k"); }, height);
      const std::string next = value.name + "[(j - 1) * 4 + k] + (" + pixel(height - 1, "k") +
                               " - " + pixel(-1, "k") + ")";
      return for_each_pixel(builder_, px,
                            "if (j == 0) " + braced(assigned(own + "k]", first)) + "else " +
                                braced(assigned(own + "k]", next)));
    }
    const int width = f.left + 1 + f.right;
    std::string text = assigned(own + "0]", all([&](int i) { return pixel(0, number(i)); }, width));
    for (int k = 1; k < px; ++k) {
      text += assigned(own + number(k) + "]", own + number(k - 1) + "] + (" +
                                                  pixel(0, number(k + width - 1)) + " - " +
                                                  pixel(0, number(k - 1)) + ")");
    }
    return text;
  }

  std::string weights_of(const StripValue& value) {
    return weights(builder_, value.node, "weights", 0,
                   as<Stencil>(builder_.node(value.node))->taps.count());
  }

  // What a row, as `wide`, adds to the sums that read it; their taps come in row-major
  // order, for the rows come from the top down.
  std::string added(const StripValue& sums) {
    const Mask& mask = as<Stencil>(builder_.node(sums.node))->taps;
    const std::string weight = weights_of(sums);
    std::string text;
    int tap = 0;
    for (int y = 0; y < mask.height; ++y) {
      const int at = row_ - (y - mask.origin_y) + sums.need.up;
      std::string terms;
      for (int x = 0; x < mask.width; ++x) {
        if (!mask.at(x, y)) continue;
        terms += assigned("sum", "fma(" + weight + "[" + number(tap++) + "], wide[i + " +
                                     number(sums.reach.left + x - mask.origin_x) + "], sum)");
      }
      const bool first = y - mask.origin_y == -sums.reach.up;
      if (at < 0 || (terms.empty() && !first)) continue;
      const std::string place = sums.name + "_sums[" + number(at * px) + " + i]";
      text += builder_.loop("i", px) + braced(declared("float", "sum", first ? "0.0f" : place) +
                                              terms + assigned(place, "sum"));
    }
    return text;
  }

  // After a row is made: it is stored, or made wide for the neighbourhood that reads it.
  std::string extended(const StripValue& value) {
    const bool stored = value.node == n_ && value.kind != StripValue::Kind::rows;
    const std::string out = stored ? store(value) : "";
    if (value.reader < 0) return out;
    const StripValue& reader = reader_of(value);
    const Footprint& f = reader.reach;
    const int wide = width_of(value);
    const auto flag = [](bool is) { return is ? "1" : "0"; };
    const bool constant = reader.border == Border::constant;
    const std::string outside = outside_value(builder_, reader.node, reader.border);
    const bool repeats = !constant && !value.pure;
    const bool above = repeats && !reader.sums && f.up > 0 && (heavy_ || row_ <= 0);
    const std::string rows = value.name + "_wide";
    const std::string kept = reader.sums
                                 ? added(reader)
                                 : builder_.loop("k", wide) +
                                       assigned(rows + "[j * " + number(wide) + " + k]", "wide[k]");
    return out + text("extend", {{"name", value.name},
                                 {"wide", number(wide)},
                                 {"left", number(f.left)},
                                 {"right", number(f.right)},
                                 {"reads_left", flag(f.left > 0)},
                                 {"reads_right", flag(f.right > 0)},
                                 {"has_halo", flag(f.left > 0 || f.right > 0)},
                                 {"end", number(f.left + px)},
                                 {"last", number(f.left - 1)},
                                 {"next", number(f.left + 1)},
                                 {"after", number(wide - 1 - f.left)},
                                 {"constant", flag(constant)},
                                 {"outside", outside},
                                 {"outside_rows", flag(constant && (f.up > 0 || f.down > 0))},
                                 {"outside_row",
                                  heavy_ || row_ < 0 ? "y < 0 || y >= $height" : "y >= $height"},
                                 {"repeats_below", flag(repeats && f.down > 0)},
                                 {"repeats_above", flag(above)},
                                 {"rows_above", number(f.up)},
                                 {"rows_wide", rows},
                                 {"kept", kept}});
  }

  std::string store(const StripValue& value) {
    const PixelClass cls = builder_.node(n_).cls;
    const int bytes = px * bytes_of(cls);
    return text("store",
                {{"out_words", number(bytes / 4)},
                 {"packed", packed_words(cls, "words", value.name + "[j * 4 + ", bytes / 4)},
                 {"store_if", "store_" + number(bytes) + "_bytes_if"},
                 {"own_rows", heavy_ ? "iteration * $rows + row >= $above && " : ""},
                 {"stride", builder_.plane({false, n_}).stride}});
  }

  Builder& builder_;
  const KernelPlan& plan_;
  int n_;
  const Chain& chain_;
  // Its iterations make the rows above the strip too, as if they were the strip's.
  bool heavy_;
  int iteration_rows_;             // rows of an iteration of the loop
  int first_;                      // rows above and below the strip
  int row_ = 0;                    // of the strip: what is being written
  std::vector<std::string> made_;  // a text a value
  std::string width_, height_;
  std::string tables_;  // in local memory
  int table_count_ = 0;
  const Substitutions words_{{
      {"width", [this] { return width_; }},
      {"height", [this] { return height_; }},
      {"unroll", [this] { return builder_.unroll(); }},
      {"rows", [this] { return number(iteration_rows_); }},
      {"above", [this] { return number(above()); }},
      {"sums", [this] { return std::string(heavy_ ? "1" : "0"); }},
  }};
};

}  // namespace

// choose/materialise decides where chains end: no other form makes a chain, so this one offers
// nothing.
const FormRow strip_form = {"strips",
                            [](const FormQuestion&) { return vetoed("no chain ends here"); },
                            [](Builder& builder, const KernelPlan& plan, int n) -> LaunchTest {
                              StripWriter(builder, plan, n).write();
                              return nullptr;
                            }};

}  // namespace impipe::jit
