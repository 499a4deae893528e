// Neighbourhoods of neighbourhoods in one kernel.
//
// The work-items of a wave lie side by side, four pixels each, and go down a strip of rows
// together. Of every value of the chain they keep the rows that are still needed in registers: each
// pixel of a strip is made once. What lies to the left and right comes from the neighbours; the
// first and the last work-item of a wave make pixels only for them. Rows above and below a strip
// are made again by the next one. Outside the image the reader's border rule is applied to the
// value's own pixels.
#include "backends/jit/strip.hpp"

#include <algorithm>
#include <map>

#include "backends/jit/block_writer.hpp"
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int px = 4;
constexpr int wave = 32;
constexpr int items = 128;
constexpr int ahead = 3;          // rows that are loaded before they are used
constexpr int most_values = 100;  // of all windows, in registers

std::string number(int i) { return std::to_string(i); }

// A step of the chain. A separable node has two: its row pass, and what its columns make.
struct Value {
  enum class Kind { plane, point, stencil, rows, columns } kind = Kind::plane;
  int node = -1;                     // but of planes
  Operand operand;                   // planes, and what the value is called after
  std::string name;                  // of its array
  std::vector<int> from = {};        // values
  Footprint reach = {};              // around a pixel of `from`
  Border border = Border::constant;  // of what is read
  // Rows above and below the strip, and columns to the left and right, that are needed of it.
  Footprint need = {};
  int lag = 0;  // rows by which it comes after the planes
  // How the neighbourhood that reads it reads it; -1: only points do.
  int reader = -1;
};

bool moves(int grow_x, int grow_y, int shift_x, int shift_y) {
  return grow_x != 0 || grow_y != 0 || shift_x != 0 || shift_y != 0;
}

// The values of a chain, each after those it is made from; empty when it does not fit.
class Chain {
 public:
  Chain(const Builder& to, const IsStored& stored, int n) : to_(to), stored_(stored), root_(n) {
    fits_ = add({false, n}) >= 0;
    if (fits_) measure();
  }
  bool fits() const { return fits_; }
  std::vector<Value> values;
  int up = 0, down = 0;  // rows above and below the strip that are read
  bool dense = false;    // few registers: more groups at once

 private:
  int add(const Operand& operand) {
    const std::string name = Builder::name(operand);
    if (const auto known = places_.find(name); known != places_.end()) return known->second;
    if (to_.channels(operand) != 1) return -1;
    const bool plane = operand.external || (operand.index != root_ && stored_(operand.index));
    Value value{.operand = operand, .name = "a_" + name};
    if (!plane && !add_node(operand.index, value)) return -1;
    return places_[name] = push(std::move(value));
  }

  IsStored others() const {
    return [this](int n) { return n != root_ && stored_(n); };
  }

  int push(Value value) {
    values.push_back(std::move(value));
    return static_cast<int>(values.size()) - 1;
  }

  bool add_node(int n, Value& value) {
    const Node& node = to_.node(n);
    value.node = n;
    if (const auto* point = as<Point>(node)) {
      value.kind = Value::Kind::point;
      if (point->lookup || point->mixes_channels || node.images.empty()) return false;
      if (const std::optional<Operand> source = coded_by(to_, others(), {false, n})) {
        value.from = {add(*source)};
        return value.from[0] >= 0;
      }
      for (const Operand& image : node.images) {
        value.from.push_back(add(image));
        if (value.from.back() < 0) return false;
      }
      return true;
    }
    int from = -1;
    if (const auto* stencil = as<Stencil>(node)) {
      if (moves(stencil->grow_x, stencil->grow_y, stencil->shift_x, stencil->shift_y)) return false;
      value.kind = Value::Kind::stencil;
      value.reach = stencil->footprint();
      value.border = stencil->border;
      from = add(node.images[0]);
    } else if (const auto* separable = as<Separable>(node)) {
      if (moves(separable->grow_x, separable->grow_y, separable->shift_x, separable->shift_y)) {
        return false;
      }
      Value rows{.kind = Value::Kind::rows,
                 .node = n,
                 .operand = value.operand,
                 .name = value.name + "_rows",
                 .from = {add(node.images[0])},
                 .reach = separable->row.footprint(),
                 .border = separable->border};
      if (!read_by_neighbourhood(rows.from[0], rows.reach, rows.border)) return false;
      from = push(std::move(rows));
      values[static_cast<std::size_t>(values.back().from[0])].reader = from;
      value.kind = Value::Kind::columns;
      value.reach = separable->column.footprint();
      value.border = separable->border;
    } else {
      return false;
    }
    if (!read_by_neighbourhood(from, value.reach, value.border)) return false;
    value.from = {from};
    values[static_cast<std::size_t>(from)].reader = static_cast<int>(values.size());
    return true;
  }

  bool read_by_neighbourhood(int from, const Footprint& f, Border border) const {
    const bool known = border == Border::constant || border == Border::replicate;
    return from >= 0 && known && std::min({f.left, f.right, f.up, f.down}) >= 0 &&
           values[static_cast<std::size_t>(from)].reader < 0;
  }

  void measure() {
    int neighbourhoods = 0, registers = 0;
    for (std::size_t v = values.size(); v-- > 0;) {
      const Value& value = values[v];
      for (const int from : value.from) {
        Footprint& need = values[static_cast<std::size_t>(from)].need;
        need = {std::max(need.left, value.need.left + value.reach.left),
                std::max(need.right, value.need.right + value.reach.right),
                std::max(need.up, value.need.up + value.reach.up),
                std::max(need.down, value.need.down + value.reach.down)};
      }
      if (value.kind == Value::Kind::stencil || value.kind == Value::Kind::columns) {
        ++neighbourhoods;
      }
      registers += value.reach.up + value.reach.down == 0
                       ? 0
                       : (value.reach.up + 1 + value.reach.down) *
                             (px + value.reach.left + value.reach.right);
      fits_ = fits_ && std::max(value.need.left, value.need.right) <= px;
      up = std::max(up, value.need.up);
      down = std::max(down, value.need.down);
    }
    for (Value& value : values) {
      for (const int from : value.from) {
        value.lag =
            std::max(value.lag, values[static_cast<std::size_t>(from)].lag + value.reach.down);
      }
    }
    fits_ = fits_ && neighbourhoods >= 2 && registers <= most_values;
    dense = registers <= 60;
  }

  const Builder& to_;
  const IsStored& stored_;
  int root_;
  bool fits_ = false;
  std::map<std::string, int> places_;
};

class StripWriter : public BlockWriter {
 public:
  StripWriter(Builder& to, IsStored stored, int n, Chain chain)
      : BlockWriter(to, std::move(stored), {px, 1}, {false, n}),
        n_(n),
        // What is made of a row is written out: of heavy chains there is only room for shorter
        // strips where instructions are kept.
        strip_(chain.dense ? to.tuning().strip_rows : to.tuning().strip_rows / 2),
        chain_(std::move(chain)) {}

  void write() {
    const Operand self{false, n_};
    const std::string name = Builder::name(self), function = "strip_" + name;
    width_ = to_.width(self);
    height_ = to_.height(self);
    std::string arrays, steps;
    const int rows = chain_.up + strip_ + chain_.down;
    std::vector<std::string> loads, made;
    for (const Value& value : chain_.values) {
      arrays += array(value);
      const bool plane = value.kind == Value::Kind::plane;
      loads.push_back(plane ? load(value) : "");
      made.push_back((plane ? "" : make(value)) + extended(value));
    }
    // Written out row by row: no barrier stands in a loop or behind a condition.
    for (int t = -ahead; t < rows; ++t) {
      for (std::size_t v = 0; v < chain_.values.size(); ++v) {
        steps += step(chain_.values[v], t + ahead, loads[v]);
        if (t >= 0) steps += step(chain_.values[v], t, made[v]);
      }
    }
    to_.function(function, "FUNCTION void " + function +
                               "(GIVEN, IN_LOCAL float* shared, const int x0, const int y0, "
                               "const int edge) {\n" +
                               arrays + steps + "}\n");
    to_.call(function, "", "", "");  // the kernel has its buffers
    const int across = (wave - 2) * px, waves = items / wave, down = waves * strip_;
    const std::string d = number(down), a = number(across);
    const auto call = [&](const char* edge) {
      return function + "(GIVE, shared, x0, y0, " + edge + ");\n";
    };
    const std::string text =
        "  LOCAL float shared[EXCHANGED(" + number(items * px) + ") + " +
        number(std::max(1, 256 * table_count_)) + "];\n" + tables_ +
        (tables_.empty() ? "" : "  BARRIER;\n") + "  const int x0 = GROUP_X * " + a +
        " + (ITEM % 32 - 1) * 4, y0 = GROUP_Y * " + d + " + ITEM / 32 * " + number(strip_) +
        ";\n  const int group_x = GROUP_X * " + a + " - 4, group_y = GROUP_Y * " + d +
        ";\n  if (INTERIOR(group_x >= 0 && group_x + " + number(wave * px) + " <= " + width_ +
        " && group_y >= " + number(chain_.up) + " && group_y + " + number(down + chain_.down) +
        " <= " + height_ + ")) {\n    " + call("0") + "  } else {\n    " + call("1") + "  }\n";
    to_.kernel(
        "store_" + name, items, text,
        [self, across, down](const LaunchContext& at) {
          const Size s = at.size_of(self);
          return LaunchShape{{(s.width + across - 1) / across, (s.height + down - 1) / down, 1},
                             {items, 1, 1}};
        },
        chain_.dense ? 5 : 4);
  }

 private:
  // `text` for row `row` of the strip, j of the value's array, y of the image, if it is wanted.
  std::string step(const Value& value, int t, const std::string& text) const {
    const int row = t - chain_.up - value.lag;
    if (text.empty() || row < -value.need.up || row >= strip_ + value.need.down) return "";
    return "  {\n      const int row = " + number(row) + ", j = " + number(row + value.need.up) +
           ", y = y0 + row;\n" + text + "  }\n";
  }

  int rows_of(const Value& value) const { return value.need.up + strip_ + value.need.down; }
  const Value& reader_of(const Value& value) const {
    return chain_.values[static_cast<std::size_t>(value.reader)];
  }
  int width_of(const Value& value) const {
    const Footprint& f = reader_of(value).reach;
    return f.left + px + f.right;
  }
  bool is_table(const Value& value) const {
    return value.kind == Value::Kind::point && tabled(value.node).has_value();
  }
  std::string type(const Value& value) const {
    if (value.kind == Value::Kind::rows || is_table(value)) return "float";
    return type_of(to_.cls(value.operand));
  }

  std::string array(const Value& value) const {
    std::string text =
        "  " + type(value) + " " + value.name + "[" + number(rows_of(value) * px) + "];\n";
    if (value.reader >= 0) {
      text +=
          "  float " + value.name + "_wide[" + number(rows_of(value) * width_of(value)) + "];\n";
    }
    return text;
  }

  // A row of a plane, from inside the image.
  std::string load(const Value& value) {
    const PixelClass cls = to_.cls(value.operand);
    return "      const int from_x = edge ? smaller(larger(x0, 0), (" + width_ +
           " - 1) / 4 * 4) : x0;\n      const int from_y = edge ? replicate(y, " + height_ +
           ") : y;\n      GLOBAL const " + type_of(cls) +
           "* const from = " + to_.plane(value.operand).row("from_y") + " + from_x;\n" +
           wide_load(cls, "from", "(" + value.name + " + j * 4)", 0, px, px * bytes_of(cls),
                     "      ");
  }

  std::string make(const Value& value) {
    switch (value.kind) {
      case Value::Kind::plane:
        return "";
      case Value::Kind::point:
        return make_point(value);
      default:
        return make_neighbourhood(value);
    }
  }

  // The pixel of row `row` of a value.
  std::string pixel(const Value& value) const {
    return value.name + "[(row + " + number(value.need.up) + ") * 4 + k]";
  }

  std::string make_point(const Value& value) {
    const Node& node = to_.node(value.node);
    if (const std::optional<Operand> source = tabled(value.node)) {
      // The plane that the codes come from is the first value of that name.
      const std::string name = "a_" + Builder::name(*source);
      const auto from = std::find_if(chain_.values.begin(), chain_.values.end(),
                                     [&](const Value& v) { return v.name == name; });
      return for_each_pixel(1, value.name + "[j * 4 + k] = shared[" +
                                   table_of(value.node, *source) + " + " + pixel(*from) + "];");
    }
    const std::string text =
        point_value(to_, value.node, [&](const Operand& image, const std::string&) {
          const auto it = std::find(node.images.begin(), node.images.end(), image);
          return pixel(chain_.values[static_cast<std::size_t>(
              value.from[static_cast<std::size_t>(it - node.images.begin())])]);
        });
    return for_each_pixel(1, (names_place(node) ? "const int x = x0 + i;\n      " : "") +
                                 value.name + "[j * 4 + k] = " + text + ";");
  }

  std::string code(int n, const Operand& source) {
    return point_value(to_, n, [&](const Operand& image, const std::string&) {
      return image == source ? "(" + type_of(to_.cls(source)) + ")code" : code(image.index, source);
    });
  }
  // Each group makes its own table of what a code becomes.
  std::string table_of(int n, const Operand& source) {
    const int codes = to_.cls(source) == PixelClass::logical ? 2 : 256;
    const std::string entry = code(n, source);
    const std::string first =
        "EXCHANGED(" + number(items * px) + ") + " + number(256 * table_count_++);
    tables_ += "  for (int code = ITEM; code < " + number(codes) + "; code += " + number(items) +
               ") shared[" + first + " + code] = " + entry + ";\n";
    return first;
  }

  std::string make_neighbourhood(const Value& value) {
    const Node& node = to_.node(value.node);
    const Value& from = chain_.values[static_cast<std::size_t>(value.from[0])];
    const Footprint& f = value.reach;
    Window w{"window", f.up + 1 + f.down, width_of(from), f.left, 1};
    const std::string wide = number(w.width);
    std::string text = "      float window[" + number(w.rows * w.width) + "];\n" +
                       loop("k", w.rows * w.width) + "window[k] = " + from.name + "_wide[(row + " +
                       number(from.need.up - f.up) + ") * " + wide +
                       " + k];\n      const int r = 0;\n";
    if (value.kind == Value::Kind::stencil) {
      const Stencil& stencil = *as<Stencil>(node);
      if (stencil.body == nullptr && stencil.expression == nullptr) {
        weighted("made", w, stencil.taps,
                 weights(to_, value.node, "weights", 0, stencil.taps.count()), 1, node.cls);
      } else {
        stencil_body(value.node, "made", w, f);
      }
    } else {
      const Separable& separable = *as<Separable>(node);
      const int count = separable.row.count();
      const bool rows = value.kind == Value::Kind::rows;
      const PixelClass cls = rows ? PixelClass::single : node.cls;
      weighted("made", w, rows ? separable.row : separable.column,
               rows ? weights(to_, value.node, "row_weights", 0, count)
                    : weights(to_, value.node, "column_weights", count, separable.column.count()),
               1, cls);
    }
    text += std::exchange(row_text_, {}) + loop("k", px) + value.name + "[j * 4 + k] = made[k];\n";
    return text;
  }

  // After a row is made: it is stored, or made wide for the neighbourhood that reads it.
  std::string extended(const Value& value) {
    std::string text;
    if (value.node == n_ && value.kind != Value::Kind::rows) text += store(value);
    if (value.reader < 0) return text;
    const Value& reader = reader_of(value);
    const Footprint& f = reader.reach;
    const int wide = width_of(value);
    const std::string w = number(wide), row = value.name + "_wide";
    const bool constant = reader.border == Border::constant;
    const std::string outside = outside_value(to_, reader.node, reader.border);
    text += "      float wide[" + w + "];\n" + loop("k", px) + "wide[" + number(f.left) +
            " + k] = (float)" + value.name + "[j * 4 + k];\n";
    if (f.left > 0 || f.right > 0) {
      text += "      exchange_columns(wide, " + number(f.left) + ", " + number(f.right) +
              ", shared);\n      if (edge) {\n";
      if (constant) {
        text += loop("k", wide) + "if (x0 + k < " + number(f.left) + " || x0 + k >= " + width_ +
                " + " + number(f.left) + ") wide[k] = " + outside + ";\n";
      } else {
        if (f.left > 0) {
          text += loop("k", f.left) + "if (x0 - 1 - k < 0) wide[" + number(f.left - 1) +
                  " - k] = wide[" + number(f.left) + " - k];\n";
        }
        text += loop("k", wide - 1) + "if (x0 + k + 1 >= " + width_ + " + " + number(f.left) +
                ") wide[k + 1] = wide[k];\n";
      }
      text += "      }\n";
    }
    if (f.up > 0 || f.down > 0) {
      if (constant) {
        text += "      if (edge && (y < 0 || y >= " + height_ + ")) {\n" + loop("k", wide) +
                "wide[k] = " + outside + ";\n      }\n";
      } else if (f.down > 0) {
        text += "      if (edge && y >= " + height_ + " && j > 0) {\n" + loop("k", wide) +
                "wide[k] = " + row + "[(j - 1) * " + w + " + k];\n      }\n";
      }
    }
    text += loop("k", wide) + row + "[j * " + w + " + k] = wide[k];\n";
    if (!constant && f.up > 0) {
      text += "      if (edge && y == 0) {\n" + loop("above", f.up) + "if (j > above) {\n" +
              loop("k", wide) + row + "[(j - 1 - above) * " + w +
              " + k] = wide[k];\n      }\n      }\n";
    }
    return text;
  }

  std::string store(const Value& value) {
    const Operand self{false, n_};
    const PixelClass cls = to_.node(n_).cls;
    const std::string array = "(" + value.name + " + j * 4)", type = type_of(cls);
    // Rows are padded: four pixels can always be written where one is.
    return "      if (ITEM % 32 > 0 && ITEM % 32 < 31 && x0 < " + width_ + " && y < " + height_ +
           ") {\n        GLOBAL " + type + "* const to = " + to_.plane(self).row("y") + " + x0;\n" +
           wide_store(cls, "to", array, px, px * bytes_of(cls), "        ") + "      }\n";
  }

  int n_, strip_;
  Chain chain_;
  std::string width_, height_;
  int table_count_ = 0;
};

}  // namespace

std::optional<StripParts> strip_parts(const Builder& to, const IsStored& stored, int n) {
  if (to.tuning().strip_rows == 0) return std::nullopt;
  const Chain chain(to, stored, n);
  if (!chain.fits()) return std::nullopt;
  StripParts parts;
  for (const Value& value : chain.values) {
    if (value.kind != Value::Kind::plane) {
      if (value.node != n) parts.inside.push_back(value.node);
    } else if (!value.operand.external) {
      parts.planes.push_back(value.operand.index);
    }
  }
  return parts;
}

void write_strip_kernel(Builder& to, const IsStored& stored, int n) {
  const IsStored others = [&](int other) { return other != n && stored(other); };
  StripWriter(to, others, n, Chain(to, stored, n)).write();
}

}  // namespace impipe::jit
