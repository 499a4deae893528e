// Image kernels in which a work-item makes a block of pixels: wide loads, neighbourhoods held in
// registers, wide stores. Same results as one pixel a work-item.
#include "backends/jit/block.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wide_access.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

// Values of a window that registers hold.
constexpr int most_window = 112;
constexpr int most_taps = 49;
constexpr int most_runs = 24;
constexpr int most_ranked = 25;

template <class T>
const T* as(const Node& node) {
  return std::get_if<T>(&node.primitive);
}

// The neighbourhood of a node that a block can have; nothing for others.
std::optional<Footprint> footprint_of(const Node& node) {
  if (const auto* s = as<Stencil>(node)) {
    const bool moves = s->grow_x != 0 || s->grow_y != 0 || s->shift_x != 0 || s->shift_y != 0;
    const bool weights = s->body == nullptr && s->expression == nullptr;
    if (moves || (weights && s->taps.count() > most_taps)) return std::nullopt;
    return s->footprint();
  }
  if (const auto* s = as<Separable>(node)) {
    if (s->grow_x != 0 || s->grow_y != 0 || s->shift_x != 0 || s->shift_y != 0) return std::nullopt;
    return s->column.footprint();
  }
  if (const auto* e = as<Extremum>(node)) {
    const Footprint f = e->mask.footprint();
    if (f.left < 0 || f.right < 0 || f.up < 0 || f.down < 0) return std::nullopt;
    return f;
  }
  if (const auto* r = as<Rank>(node)) {
    if (r->mask.count() > most_ranked) return std::nullopt;
    return r->mask.footprint();
  }
  return std::nullopt;
}

struct Run {
  int y, x, length;
};
std::vector<Run> runs_of(const Mask& mask) {
  std::vector<Run> runs;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width;) {
      int end = x;
      while (end < mask.width && mask.at(end, y)) ++end;
      if (end > x) runs.push_back({y - mask.origin_y, x - mask.origin_x, end - x});
      x = end > x ? end : x + 1;
    }
  }
  return runs;
}

// What a block of a node is made of.
struct Parts {
  bool fits = true;
  int bytes = 1;     // of the widest class
  int channels = 1;  // most of a plane
  Footprint reach;   // of all neighbourhoods
  bool around = false;
};

void collect(const Builder& to, const IsStored& stored, const Operand& operand, bool inside,
             Parts& parts) {
  parts.bytes = std::max(parts.bytes, bytes_of(to.cls(operand)));
  parts.channels = std::max(parts.channels, to.channels(operand));
  if (operand.external || stored(operand.index)) return;
  const Node& node = to.node(operand.index);
  if (const auto* point = as<Point>(node)) {
    if (point->lookup) parts.fits = false;
    for (const Operand& image : node.images) collect(to, stored, image, inside, parts);
    return;
  }
  const std::optional<Footprint> f = footprint_of(node);
  if (!f || inside) {
    parts.fits = false;
    return;
  }
  parts.around = true;
  parts.reach = {std::max(parts.reach.left, f->left), std::max(parts.reach.right, f->right),
                 std::max(parts.reach.up, f->up), std::max(parts.reach.down, f->down)};
  if (const auto* e = as<Extremum>(node)) {
    if (static_cast<int>(runs_of(e->mask).size()) > most_runs) parts.fits = false;
  }
  if (as<Separable>(node) == nullptr) collect(to, stored, node.images[0], true, parts);
}

struct BlockSize {
  int px = 0, py = 0;
};

// The largest block whose window registers hold; nothing when there is none.
std::optional<BlockSize> block_size(const Parts& parts) {
  const Footprint& f = parts.reach;
  if (!parts.around) return BlockSize{16 / parts.bytes, 4};
  const int r = std::max({f.left, f.right, f.up, f.down});
  std::vector<BlockSize> sizes = {{4, 8}, {8, 4}, {4, 4}, {8, 2}, {4, 2}, {8, 1}, {4, 1}};
  if (f.up == 0 && f.down == 0) sizes = {{8, 4}, {8, 2}, {8, 1}, {4, 1}};
  else if (f.left == 0 && f.right == 0) sizes = {{4, 8}, {4, 4}, {2, 8}, {1, 16}};
  else if (parts.bytes == 4 && r == 1) sizes.insert(sizes.begin(), {4, 4});
  else if (parts.bytes < 4 && r == 1) sizes.insert(sizes.begin(), {8, 8});
  for (const BlockSize size : sizes) {
    if ((size.px + f.left + f.right) * (size.py + f.up + f.down) * parts.channels <= most_window) {
      return size;
    }
  }
  return std::nullopt;
}

Parts parts_of(const Builder& to, const IsStored& stored, int n) {
  // The node itself is stored, but made here.
  const IsStored others = [&](int other) { return other != n && stored(other); };
  Parts parts;
  collect(to, others, {false, n}, false, parts);
  return parts;
}

std::optional<BlockSize> row_block_size(const Builder& to, int n) {
  const Operand image = to.node(n).images[0];
  const Footprint f = as<Separable>(to.node(n))->row.footprint();
  return block_size({true, 4, to.channels(image), {f.left, f.right, 0, 0}, true});
}

// The image of codes that a node is a function of, code by code: unary points above one plane of
// bytes. Nothing for others.
std::optional<Operand> coded_by(const Builder& to, const IsStored& stored, const Operand& operand) {
  if (operand.external || stored(operand.index)) {
    const PixelClass cls = to.cls(operand);
    const bool bytes = cls == PixelClass::uint8 || cls == PixelClass::logical;
    return bytes ? std::optional(operand) : std::nullopt;
  }
  const Node& node = to.node(operand.index);
  const Point* point = as<Point>(node);
  if (point == nullptr || node.images.size() != 1 || point->lookup || point->mixes_channels ||
      to.channels(node.images[0]) != node.channels) {
    return std::nullopt;
  }
  const auto own = [](const Argument& a) { return a.per_channel; };
  if (std::any_of(node.arguments.begin(), node.arguments.end(), own)) return std::nullopt;
  if (point->expression != nullptr &&
      (point->expression->uses("col") || point->expression->uses("row"))) {
    return std::nullopt;
  }
  return coded_by(to, stored, node.images[0]);
}

class BlockWriter {
 public:
  BlockWriter(Builder& to, IsStored stored, BlockSize size, const Operand& sized)
      : to_(to), stored_(std::move(stored)), px_(size.px), py_(size.py), sized_(sized) {}

  // The array with a row of the block of an operand: [px][channels].
  std::string centre(const Operand& operand) {
    const std::string name = "b_" + Builder::name(operand);
    if (!made_.insert(name).second) return name;
    if (operand.external || stored_(operand.index)) {
      load_centre(operand, name);
    } else if (as<Point>(to_.node(operand.index)) != nullptr) {
      point_centre(operand.index, name);
    } else {
      around(operand.index, name);
    }
    return name;
  }

  // The row pass of separable node n as floats.
  std::string row_pass(int n, const std::string& name) {
    const Separable& separable = *as<Separable>(to_.node(n));
    const Operand image = to_.node(n).images[0];
    const std::string edge = Builder::name({false, n}) + "_row_edge";
    write_border(to_, edge, "float", to_.value(image, "x", "y", "c"), separable.border,
                 outside_value(to_, n, separable.border), to_.width(image), to_.height(image), true,
                 false);
    const Window w = window(image, separable.row.footprint(), "float", edge, "w_" + name);
    weighted(name, "float", w, separable.row,
             weights(to_, n, "row_weights", 0, separable.row.count()), to_.channels(image),
             PixelClass::single);
    return name;
  }

  // The kernel, with the block in `array` stored to `plane`.
  void kernel(const std::string& name, const std::string& array, const PlaneText& plane,
              PixelClass cls, std::function<Size(const LaunchContext&)> size,
              const std::string& height) {
    constexpr int across = 32;
    const int down = to_.tuning().group / across;
    const int row = px_ * plane.channels;
    const std::string px = std::to_string(px_), py = std::to_string(py_);
    const std::string width = to_.width(sized_);
    const auto number = [](int i) { return std::to_string(i); };
    std::string text = tables_ + "  const int x0 = (GROUP_X * 32 + ITEM % 32) * " + px +
                       ";\n  const int y0 = (GROUP_Y * " + number(down) + " + ITEM / 32) * " + py +
                       ";\n  if (x0 >= " + width + " || y0 >= " + height + ") return;\n" +
                       "  const int whole = x0 + " + px + " <= " + width + ";\n";
    if (interior_) {
      text += "  const int interior = x0 >= " + number(reach_left_) + " && x0 + " +
              number(px_ + reach_.right) + " <= " + width + " &&\n      y0 >= " +
              number(reach_.up) + " && y0 + " + number(py_ + reach_.down) + " <= " + height + ";\n";
    }
    text += text_ + loop("r", py_) + "{\n    const int y = y0 + r;\n    if (y >= " + height +
            ") continue;\n" + row_text_ + "    GLOBAL " + type_of(cls) + "* const row = " +
            plane.row("y") + " + (long)x0 * " + number(plane.channels) +
            ";\n    if (whole) {\n" +
            wide_store(cls, "row", array, row, to_.tuning().load_bytes, "      ") +
            "    } else {\n" + loop("i", px_) + "for (int c = 0; c < " + number(plane.channels) +
            "; ++c) {\n        if (x0 + i < " + width + ") row[i * " + number(plane.channels) +
            " + c] = " + array + "[i * " + number(plane.channels) + " + c];\n      }\n    }\n  }\n";
    const int block_x = across * px_, block_y = down * py_, items = across * down;
    to_.kernel(name, items, text,
               [size = std::move(size), block_x, block_y, items](const LaunchContext& at) {
                 const Size s = size(at);
                 return LaunchShape{{(s.width + block_x - 1) / block_x,
                                     (s.height + block_y - 1) / block_y, 1},
                                    {items, 1, 1}};
               },
               interior_ ? 4 : 0);
  }

 private:
  // A neighbourhood of a block: [rows][width], whose element `first` is the block's first.
  struct Window {
    std::string array;
    int rows = 0, width = 0, first = 0;
    int channels = 1;
  };

  std::string loop(const std::string& variable, int count) const {
    return std::string(to_.tuning().unroll ? "#pragma unroll\n" : "") + "  for (int " + variable +
           " = 0; " + variable + " < " + std::to_string(count) + "; ++" + variable + ") ";
  }
  // Loops over the pixels and channels of the block's row r, with x, c and k, the place in the
  // row's array.
  std::string for_each_pixel(int channels, const std::string& step) const {
    const std::string c = std::to_string(channels);
    return loop("i", px_) + "{\n" + loop("c", channels) + "{\n      const int k = i * " + c +
           " + c;\n      " + step + "\n  }\n  }\n";
  }
  static bool names_place(const Node& node) {
    const auto* point = as<Point>(node);
    return point != nullptr && point->expression != nullptr;
  }

  void load_centre(const Operand& operand, const std::string& name) {
    const int channels = to_.channels(operand), row = px_ * channels;
    const PixelClass cls = to_.cls(operand);
    const std::string c = std::to_string(channels), from = "from_" + name;
    row_text_ += "  " + type_of(cls) + " " + name + "[" + std::to_string(row) + "];\n" +
                 "    GLOBAL const " + type_of(cls) + "* const " + from + " = " +
                 to_.plane(operand).row("y") + ";\n    if (whole) {\n" +
                 wide_load(cls, "(" + from + " + (long)x0 * " + c + ")", name, 0, row,
                           to_.tuning().load_bytes, "      ") +
                 "    } else {\n" + loop("i", px_) + "for (int c = 0; c < " + c +
                 "; ++c) {\n        " + name + "[i * " + c + " + c] = " + from +
                 "[smaller(x0 + i, " + to_.width(sized_) + " - 1) * " + c + " + c];\n      }\n    }\n";
  }

  // Node n's pixel for the code ITEM of its source.
  std::string code_value(int n, const Operand& source) {
    return point_value(to_, n, [&](const Operand& image, const std::string&) {
      return image == source ? "(" + type_of(to_.cls(source)) + ")ITEM"
                             : code_value(image.index, source);
    });
  }

  // The kernel that makes the table of node n, and its copy in local memory; returns its name.
  std::string table(int n, const Operand& source) {
    const std::string name = "table_" + Builder::name({false, n});
    if (!made_.insert(name).second) return name;
    const Node& node = to_.node(n);
    const std::string type = type_of(node.cls);
    const int codes = to_.cls(source) == PixelClass::logical ? 2 : 256;
    const auto memory = [&] {
      return to_.scratch(name, type, [](const LaunchContext&) { return std::int64_t{1024}; });
    };
    const std::set<std::string> outer = to_.suspend();
    const std::string entry = code_value(n, source);
    const std::string count = std::to_string(codes);
    to_.kernel("make_" + name, codes, "  " + memory() + "[ITEM] = " + entry + ";\n",
               [codes](const LaunchContext&) {
                 return LaunchShape{{1, 1, 1}, {codes, 1, 1}};
               });
    to_.resume(outer);
    tables_ += "  LOCAL " + type + " " + name + "[" + count + "];\n  for (int i = ITEM; i < " +
               count + "; i += " + std::to_string(to_.tuning().group) + ") " + name + "[i] = " +
               memory() + "[i];\n  BARRIER;\n";
    return name;
  }

  // The source and table of node n, where a table is what makes it.
  std::optional<Operand> tabled(int n) const {
    return as<Point>(to_.node(n)) != nullptr ? coded_by(to_, stored_, {false, n}) : std::nullopt;
  }

  void point_centre(int n, const std::string& name) {
    const Node& node = to_.node(n);
    if (const std::optional<Operand> source = tabled(n)) {
      const std::string from = centre(*source);
      row_text_ += "  " + type_of(node.cls) + " " + name + "[" +
                   std::to_string(px_ * node.channels) + "];\n" +
                   for_each_pixel(node.channels,
                                  name + "[k] = " + table(n, *source) + "[" + from + "[k]];");
      return;
    }
    for (const Operand& image : node.images) centre(image);
    const std::string value =
        point_value(to_, n, [&](const Operand& image, const std::string& c) {
          const int channels = to_.channels(image);
          if (channels == node.channels && c == "c") return centre(image) + "[k]";
          return centre(image) + "[i * " + std::to_string(channels) + " + " +
                 (channels == 1 ? "0" : c) + "]";
        });
    row_text_ += "  " + type_of(node.cls) + " " + name + "[" +
                 std::to_string(px_ * node.channels) + "];\n" +
             for_each_pixel(node.channels,
                            (names_place(node) ? "const int x = x0 + i;\n      " : "") +
                                name + "[k] = " + value + ";");
  }

  // The native pixels of an operand around the block, which lies inside with its window.
  std::string raw_window(const Operand& operand, const Window& w, const Footprint& f,
                         std::string& text) {
    const std::string name = "raw_" + Builder::name(operand);
    const PixelClass cls = to_.cls(operand);
    const std::string declared = "    " + type_of(cls) + " " + name + "[" +
                                 std::to_string(w.rows * w.width) + "];\n";
    if (operand.external || stored_(operand.index)) {
      const int centre = px_ * w.channels;
      const std::string to = "(" + name + " + r * " + std::to_string(w.width) + ")";
      const int widest = to_.tuning().load_bytes;
      text += declared + loop("r", w.rows) + "{\n      GLOBAL const " + type_of(cls) +
              "* const row = " + to_.plane(operand).row("(y0 + r - " + std::to_string(f.up) + ")") +
              " + (long)x0 * " + std::to_string(w.channels) + " - " + std::to_string(w.first) +
              ";\n" + wide_load(cls, "row", to, 0, w.first, 4, "      ") +
              // The block's own pixels are aligned more widely than the window's first.
              wide_load(cls, "(row + " + std::to_string(w.first) + ")",
                        "(" + to + " + " + std::to_string(w.first) + ")", 0, centre, widest,
                        "      ") +
              wide_load(cls, "row", to, w.first + centre, w.width - w.first - centre, 4,
                        "      ") +
              "    }\n";
      return name;
    }
    const int n = operand.index;
    const Node& node = to_.node(n);
    if (const std::optional<Operand> source = tabled(n)) {
      const std::string codes = raw_window(*source, w, f, text);
      text += declared + loop("k", w.rows * w.width) + name + "[k] = " + table(n, *source) + "[" +
              codes + "[k]];\n";
      return name;
    }
    std::vector<std::string> from;
    for (const Operand& image : node.images) from.push_back(raw_window(image, w, f, text));
    const std::string value =
        point_value(to_, n, [&](const Operand& image, const std::string&) {
          const auto it = std::find(node.images.begin(), node.images.end(), image);
          return from[static_cast<std::size_t>(it - node.images.begin())] + "[k]";
        });
    text += declared + loop("k", w.rows * w.width) + name + "[k] = " + value + ";\n";
    return name;
  }

  // Whether the points before a neighbourhood can be computed for a whole window: they depend on
  // nothing but their pixel.
  bool simple_points(const Operand& operand, int channels) const {
    if (to_.channels(operand) != channels) return false;
    if (operand.external || stored_(operand.index)) return true;
    const Node& node = to_.node(operand.index);
    const Point& point = *as<Point>(node);
    if (point.mixes_channels || names_place(node)) return false;
    const auto own = [](const Argument& a) { return a.per_channel; };
    if (channels > 1 && std::any_of(node.arguments.begin(), node.arguments.end(), own)) {
      return false;
    }
    return std::all_of(node.images.begin(), node.images.end(), [&](const Operand& image) {
      return simple_points(image, channels);
    });
  }

  // The window of an operand as `type`; `edge`: the function that reads it anywhere.
  Window window(const Operand& operand, const Footprint& f, const std::string& type,
                const std::string& edge, const std::string& name) {
    const int channels = to_.channels(operand);
    const int bytes = bytes_of(to_.cls(operand));
    const auto aligned = [&](int pixels) { return (pixels * channels * bytes + 3) / 4 * 4 / bytes; };
    Window w{name, py_ + f.up + f.down, 0, aligned(f.left), channels};
    w.width = w.first + px_ * channels + aligned(f.right);
    const int left = f.left * channels;
    interior_ = true;
    reach_ = {std::max(reach_.left, f.left), std::max(reach_.right, f.right),
              std::max(reach_.up, f.up), std::max(reach_.down, f.down)};
    reach_left_ = std::max(reach_left_, (w.first + channels - 1) / channels);
    text_ += "  " + type + " " + name + "[" + std::to_string(w.rows * w.width) + "];\n";
    const std::string c = std::to_string(channels);
    const std::string at_edge =
        loop("r", w.rows) + "{\n" + loop("i", px_ + f.left + f.right) + "{\n" +
        loop("c", channels) + "{\n        " + name + "[r * " + std::to_string(w.width) + " + " +
        std::to_string(w.first - left) + " + i * " + c + " + c] = " +
        to_.call(edge, "x0 + i - " + std::to_string(f.left), "y0 + r - " + std::to_string(f.up),
                 "c") +
        ";\n  }\n  }\n  }\n";
    if (!simple_points(operand, channels)) {
      text_ += at_edge;
      return w;
    }
    std::string inside;
    const std::string raw = raw_window(operand, w, f, inside);
    inside += loop("k", w.rows * w.width) + name + "[k] = (" + type + ")" + raw + "[k];\n";
    text_ += "  if (interior) {\n" + inside + "  } else {\n" + at_edge + "  }\n";
    return w;
  }

  // Text of the place of the pixel in a window, from r, i, c.
  static std::string place_in(const Window& w, int dx, int dy, int up) {
    return "(r + " + std::to_string(up + dy) + ") * " + std::to_string(w.width) + " + " +
           std::to_string(w.first) + " + (i + " + std::to_string(dx) + ") * " +
           std::to_string(w.channels) + " + c";
  }

  void weighted(const std::string& name, const std::string& type, const Window& w,
                const Mask& mask, const std::string& weight, int channels, PixelClass cls) {
    std::string sum = "float sum = 0.0f;\n";
    int k = 0;
    for (int y = 0; y < mask.height; ++y) {
      for (int x = 0; x < mask.width; ++x) {
        if (!mask.at(x, y)) continue;
        sum += "      sum = fma(" + weight + "[" + std::to_string(k++) + "], " + w.array + "[" +
               place_in(w, x - mask.origin_x, y - mask.origin_y, mask.origin_y) + "], sum);\n";
      }
    }
    row_text_ += "  " + type + " " + name + "[" + std::to_string(px_ * channels) + "];\n" +
             for_each_pixel(channels, sum + "      " + name + "[k] = " +
                                          converted(cls, "float", "sum") + ";");
  }

  void around(int n, const std::string& name) {
    const Node& node = to_.node(n);
    const std::string own = Builder::name({false, n});
    const Operand image = node.images[0];
    if (const auto* stencil = as<Stencil>(node)) {
      const std::string edge = own + "_edge";
      write_border(to_, edge, "float", to_.value(image, "x", "y", "c"), stencil->border,
                   outside_value(to_, n, stencil->border), to_.width(image), to_.height(image));
      const Window w = window(image, stencil->footprint(), "float", edge, "w_" + own);
      if (stencil->body == nullptr && stencil->expression == nullptr) {
        weighted(name, type_of(node.cls), w, stencil->taps,
                 weights(to_, n, "weights", 0, stencil->taps.count()), node.channels, node.cls);
      } else {
        stencil_body(n, name, w, stencil->footprint());
      }
    } else if (const auto* separable = as<Separable>(node)) {
      columns(n, *separable, name);
    } else if (const auto* extremum = as<Extremum>(node)) {
      extremes(n, *extremum, name);
    } else {
      ranked(n, *as<Rank>(node), name);
    }
  }

  void stencil_body(int n, const std::string& name, const Window& w, const Footprint& f) {
    const Node& node = to_.node(n);
    const std::string body = Builder::name({false, n}) + "_in_window";
    const std::string at = "at_place[(dy) * " + std::to_string(w.width) + " + (dx) * " +
                           std::to_string(w.channels) + "]";
    const std::string centre = w.array + "[" + place_in(w, 0, 0, f.up) + "]";
    std::string all = w.array + " + " + place_in(w, 0, 0, f.up);
    for (const std::string& argument :
         write_stencil_function(to_, n, body, "const float* at_place", at, centre)) {
      all += ", " + argument;
    }
    const auto* stencil = as<Stencil>(node);
    row_text_ += "  " + type_of(node.cls) + " " + name + "[" +
                 std::to_string(px_ * node.channels) + "];\n" +
             for_each_pixel(node.channels,
                            (stencil->expression ? "const int x = x0 + i;\n      "
                                                 : "") +
                                name + "[k] = " +
                                converted(node.cls, "float", body + "(" + all + ")") + ";");
  }

  // The column pass, on the plane that the row pass has made.
  void columns(int n, const Separable& separable, const std::string& name) {
    const Node& node = to_.node(n);
    const std::string rows = Builder::name({false, n}) + "_rows";
    const std::string edge = Builder::name({false, n}) + "_column_edge";
    const PlaneText plane = to_.scratch_plane(rows, PixelClass::single, node.channels, nullptr);
    write_border(to_, edge, "float", plane.pixel(), separable.border,
                 outside_value(to_, n, separable.border), to_.width({false, n}),
                 to_.height(node.images[0]), true, true);
    const Footprint f = separable.column.footprint();
    Window w{"w_" + rows, py_ + f.up + f.down, px_ * node.channels, 0, node.channels};
    interior_ = true;
    reach_ = {reach_.left, reach_.right, std::max(reach_.up, f.up), std::max(reach_.down, f.down)};
    to_.scratch_plane(rows, PixelClass::single, node.channels, nullptr);
    text_ += "  float " + w.array + "[" + std::to_string(w.rows * w.width) + "];\n  if (interior) {\n" +
             loop("r", w.rows) + "{\n      GLOBAL const float* const row = " +
             plane.row("(y0 + r - " + std::to_string(f.up) + ")") + " + (long)x0 * " +
             std::to_string(w.channels) + ";\n" +
             wide_load(PixelClass::single, "row",
                       "(" + w.array + " + r * " + std::to_string(w.width) + ")", 0, w.width,
                       to_.tuning().load_bytes, "      ") +
             "    }\n  } else {\n" + loop("r", w.rows) + "{\n" + loop("i", px_) + "{\n" +
             loop("c", w.channels) + "{\n        " + w.array + "[r * " + std::to_string(w.width) +
             " + i * " + std::to_string(w.channels) + " + c] = " +
             to_.call(edge, "x0 + i", "y0 + r - " + std::to_string(f.up), "c") +
             ";\n  }\n  }\n  }\n  }\n";
    weighted(name, type_of(node.cls), w, separable.column,
             weights(to_, n, "column_weights", separable.row.count(), separable.column.count()),
             node.channels, node.cls);
  }

  // Runs of the mask's rows: each length from half of itself, for the whole window.
  void extremes(int n, const Extremum& extremum, const std::string& name) {
    const Node& node = to_.node(n);
    const Operand image = node.images[0];
    const bool single = node.cls == PixelClass::single;
    const std::string type = single ? "float" : "int";
    const std::string nothing =
        single ? (extremum.largest ? "-INFINITY" : "INFINITY")
        : extremum.largest ? "0" : std::to_string(static_cast<int>(class_max(node.cls)));
    const std::string better = std::string(single ? (extremum.largest ? "fmax" : "fmin")
                                                  : extremum.largest ? "larger" : "smaller");
    const std::string own = Builder::name({false, n});
    const std::string edge = own + "_edge";
    write_border(to_, edge, type, to_.value(image, "x", "y", "c"), Border::absent, nothing,
                 to_.width(image), to_.height(image));
    const Footprint f = extremum.mask.footprint();
    const Window w = window(image, f, type, edge, "w_" + own);
    const std::vector<Run> runs = runs_of(extremum.mask);
    std::map<int, std::string> of_length = {{1, w.array}};
    const int all = w.rows * w.width;
    const auto make = [&](int length) {
      while (!of_length.contains(length)) {
        int known = std::prev(of_length.upper_bound(length))->first;
        const int next = std::min(length, 2 * known);
        const std::string array = "run" + std::to_string(next) + "_" + own;
        const int count = all - (next - 1) * w.channels;
        text_ += "  " + type + " " + array + "[" + std::to_string(all) + "];\n" +
                 loop("k", count) + array + "[k] = " + better + "(" + of_length[known] + "[k], " +
                 of_length[known] + "[k + " + std::to_string((next - known) * w.channels) +
                 "]);\n";
        of_length[next] = array;
      }
    };
    std::string fold = type + " best = " + nothing + ";\n";
    for (const Run& run : runs) {
      make(run.length);
      fold += "      best = " + better + "(best, " + of_length[run.length] + "[" +
              place_in(w, run.x, run.y, f.up) + "]);\n";
    }
    row_text_ += "  " + type_of(node.cls) + " " + name + "[" +
                 std::to_string(px_ * node.channels) + "];\n" +
             for_each_pixel(node.channels,
                            fold + "      " + name + "[k] = (" + type_of(node.cls) + ")best;");
  }

  // A sorting network (Batcher's odd-even merge) without the comparisons that nobody needs.
  void ranked(int n, const Rank& rank, const std::string& name) {
    const Node& node = to_.node(n);
    const Operand image = node.images[0];
    const bool single = node.cls == PixelClass::single;
    const std::string type = single ? "float" : "int";
    const std::string own = Builder::name({false, n});
    std::string outside = "0";
    if (rank.border == Border::constant && !node.arguments.empty()) {
      const int last = static_cast<int>(node.arguments.size()) - 1;
      outside = converted(node.cls, "double", to_.argument(n, last, "outside", "double", "0"));
    }
    const std::string edge = own + "_edge";
    write_border(to_, edge, type, to_.value(image, "x", "y", "c"), rank.border, outside,
                 to_.width(image), to_.height(image));
    const Footprint f = rank.mask.footprint();
    const Window w = window(image, f, type, edge, "w_" + own);
    const int count = rank.mask.count();
    std::string text = type + " s[" + std::to_string(count) + "];\n";
    int k = 0;
    for (int y = 0; y < rank.mask.height; ++y) {
      for (int x = 0; x < rank.mask.width; ++x) {
        if (!rank.mask.at(x, y)) continue;
        text += "      s[" + std::to_string(k++) + "] = " + w.array + "[" +
                place_in(w, x - rank.mask.origin_x, y - rank.mask.origin_y, f.up) + "];\n";
      }
    }
    std::vector<std::pair<int, int>> network;
    for (int p = 1; p < count; p *= 2) {
      for (int step = p; step >= 1; step /= 2) {
        for (int j = step % p; j + step < count; j += 2 * step) {
          for (int i = 0; i < step && i + j + step < count; ++i) {
            if ((i + j) / (2 * p) == (i + j + step) / (2 * p)) {
              network.emplace_back(i + j, i + j + step);
            }
          }
        }
      }
    }
    std::set<int> needed = {rank.rank};
    if (rank.average) needed.insert(rank.rank + 1);
    std::vector<std::pair<int, int>> kept;
    for (auto it = network.rbegin(); it != network.rend(); ++it) {
      if (!needed.contains(it->first) && !needed.contains(it->second)) continue;
      needed.insert({it->first, it->second});
      kept.push_back(*it);
    }
    const std::string order = single ? "order_float" : "order_int";
    for (auto it = kept.rbegin(); it != kept.rend(); ++it) {
      text += "      " + order + "(&s[" + std::to_string(it->first) + "], &s[" +
              std::to_string(it->second) + "]);\n";
    }
    const std::string a = "s[" + std::to_string(rank.rank) + "]";
    const std::string b = "s[" + std::to_string(rank.rank + 1) + "]";
    const std::string result = !rank.average ? a
                               : single      ? "(" + a + " + " + b + ") / 2.0f"
                                             : "(" + a + " + " + b + " + 1) / 2";
    row_text_ += "  " + type_of(node.cls) + " " + name + "[" +
                 std::to_string(px_ * node.channels) + "];\n" +
             for_each_pixel(node.channels, text + "      " + name + "[k] = (" +
                                               type_of(node.cls) + ")(" + result + ");");
  }

  Builder& to_;
  IsStored stored_;
  int px_, py_;
  Operand sized_;  // a value of the result's size
  std::string tables_;    // their copies in local memory
  std::string text_;      // the windows
  std::string row_text_;  // what each row r of the block is made of
  std::set<std::string> made_;
  bool interior_ = false;
  Footprint reach_;
  int reach_left_ = 0;  // pixels to the left that aligned loads reach
};

}  // namespace

bool fits_block(const Builder& to, const IsStored& stored, int n) {
  const Parts parts = parts_of(to, stored, n);
  return parts.fits && block_size(parts).has_value();
}

bool fits_block_rows(const Builder& to, int n) {
  const Separable& separable = *as<Separable>(to.node(n));
  return separable.grow_x == 0 && separable.grow_y == 0 && separable.shift_x == 0 &&
         separable.shift_y == 0 && row_block_size(to, n).has_value();
}

void write_block_rows(Builder& to, const IsStored& stored, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n}) + "_rows";
  BlockWriter block(to, stored, *row_block_size(to, n), image);
  const std::string array = block.row_pass(n, "b_rows");
  const auto size = [image](const LaunchContext& at) { return at.size_of(image); };
  block.kernel("store_" + name, array,
               to.scratch_plane(name, PixelClass::single, to.channels(image), size),
               PixelClass::single, size, to.height(image));
}

void write_block_kernel(Builder& to, const IsStored& stored, int n) {
  const Operand self{false, n};
  const IsStored others = [&](int other) { return other != n && stored(other); };
  BlockWriter block(to, others, *block_size(parts_of(to, stored, n)), self);
  const std::string array = block.centre(self);
  block.kernel("store_" + Builder::name(self), array, to.plane(self), to.node(n).cls,
               [self](const LaunchContext& at) { return at.size_of(self); }, to.height(self));
}

}  // namespace impipe::jit
