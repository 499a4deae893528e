// The text of a block's points, loads and windows, and of its kernel.
#include "backends/jit/block/block_writer.hpp"

#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

std::string BlockWriter::centre(const Operand& operand) {
  const bool plane = is_plane(operand);
  if (!plane && moves(to_.node(operand.index))) {
    move_ = operand.index;
    const std::string moved = centre(to_.node(operand.index).images[0]);
    move_ = -1;
    return moved;
  }
  const std::string name =
      "b_" + Builder::name(operand) + (move_ < 0 ? "" : "_by_" + Builder::name({false, move_}));
  if (!made_.insert(name).second) return name;
  if (plane && move_ >= 0) {
    load_moved(operand, name);
  } else if (plane) {
    load_centre(operand, name);
  } else if (as<Point>(to_.node(operand.index)) != nullptr) {
    point_centre(operand.index, name);
  } else {
    around(operand.index, name);
  }
  return name;
}

void BlockWriter::quickly(int n, const PlaneText& plane) {
  const PixelClass cls = to_.node(n).cls;
  const int row = px_;
  Quotients quotients;
  BlockWriter block(to_, plan_, n, {.px = px_, .py = py_, .points = true}, sized_);
  block.quotients_ = &quotients;
  const std::string array = block.centre({false, n});
  std::string ones;
  for (const std::string& unit : quotients.units) ones += " && " + unit + " == 1.0f";
  for (const std::string& v : quotients.moderate) ones += " && is_moderate(" + v + ")";
  const std::string type = type_of(cls), count = std::to_string(row);
  const auto to_row = [&](const std::string& r) {
    return "    GLOBAL " + type + "* const row = " + plane.row("(y0 + " + r + ")") + " + x0;\n";
  };
  quick_text_ =
      "  if (y0 + " + std::to_string(py_) + " <= " + to_.height(sized_) + ones + ") {\n  " + type +
      " all[" + std::to_string(py_ * row) +
      "];\n  struct Quotients quotients;\n  quotients.least = 0xffffffffu;\n"
      "  quotients.sum = 0.0f;\n" +
      to_.loop("r", py_) + "{\n    const int y = y0 + r;\n" + block.row_text_ + to_.loop("k", row) +
      "all[r * " + count + " + k] = " + array + "[k];\n  }\n" + "  if (all_exact(&quotients)) {\n" +
      to_.loop("r", py_) + "{\n" + to_row("r") +
      wide_store(cls, "row", "(all + r * " + count + ")", row, to_.tuning().load_bytes, "      ") +
      "    }\n    return;\n  }\n  }\n";
}

std::string BlockWriter::row_pass(int n, const std::string& name) {
  const Separable& separable = *as<Separable>(to_.node(n));
  const Operand image = to_.node(n).images[0];
  const Window w = window(image, separable.row.footprint(), separable.border, "float",
                          outside_value(to_, n, separable.border), name);
  add(name,
      weighted_row(to_, name, px_, w, separable.row,
                   weights(to_, n, "row_weights", 0, separable.row.count()), PixelClass::single));
  return name;
}

std::string BlockWriter::blocks_text(bool goes_on, const std::string& rows,
                                     const std::string& height) const {
  const int down = to_.tuning().group / 32;
  const std::string width = to_.width(sized_), block = goes_on ? "block" : "GROUP_Y";
  // Of packed rows all work-items have those of the low halves first, then those of the high ones.
  const std::string first_row =
      tile_ && packed_ ? block + " * " + number(down * py_) + " + ITEM / 32 * " + number(py_ / 2)
                       : "(" + block + " * " + number(down) + " + ITEM / 32) * " + number(py_);
  std::string interior;
  if (interior_) {
    interior =
        filled(part(kernels::block, "interior"), {{"interior_left", number(reach_left_)},
                                                  {"interior_right", number(px_ + reach_.right)},
                                                  {"width", width},
                                                  {"interior_up", number(reach_.up)},
                                                  {"interior_down", number(py_ + reach_.down)},
                                                  {"to_height", height}});
  }
  return filled(part(kernels::block, "blocks"),
                {{"goes_on", goes_on ? "1" : "0"},
                 {"first_tables", goes_on ? "" : tables_},
                 {"tables", tables_},
                 {"px", number(px_)},
                 {"width", width},
                 {"to_height", height},
                 {"loads_ahead", load_text_.empty() ? "0" : "1"},
                 {"load_arrays", load_arrays_},
                 {"loads", load_text_.empty() ? "" : "  {\n" + load_text_ + "  }\n"},
                 {"first_row", first_row},
                 {"group_rows", number(down * py_)},
                 {"block", interior + quick_text_ + text_ + rows}});
}

void BlockWriter::kernel(const std::string& name, const std::string& array, const PlaneText& plane,
                         PixelClass cls, std::function<Size(const LaunchContext&)> size,
                         const std::string& height, LaunchTest wanted) {
  constexpr int across = 32;
  const int down = to_.tuning().group / across;
  const int block_x = across * px_, block_y = down * py_, items = across * down;
  // Groups that make tables have several blocks each.
  const bool goes_on = points_ && !tables_.empty();
  const std::string text = blocks_text(
      goes_on,
      packed_ ? pairs_text(array, plane, cls, height) : rows_text(array, plane, cls, height),
      height);
  // Four times the groups of some 60 registers a work-item that are at work at once: a table for a
  // few blocks costs little, and with fewer groups all read and write at the same time.
  const int most = goes_on ? to_.tuning().groups_at_once() : 0;
  to_.kernel(
      name, items, text,
      [size = std::move(size), wanted = std::move(wanted), block_x, block_y, items,
       most](const LaunchContext& at) {
        if (wanted && !wanted(at)) return LaunchShape{{0, 0, 0}, {items, 1, 1}};
        const Size s = size(at);
        const std::int64_t wide = (s.width + block_x - 1) / block_x;
        std::int64_t tall = (s.height + block_y - 1) / block_y;
        if (most > 0) {
          const std::int64_t groups = 2 * groups_of_plane(at, most);
          const std::int64_t each = (wide * tall + groups - 1) / groups;  // blocks of a group
          tall = (tall + each - 1) / each;
        }
        return LaunchShape{{wide, tall, 1}, {items, 1, 1}};
      },
      goes_on            ? 8
      : tile_ || around_ ? groups_
                         : 0);
}

std::string BlockWriter::rows_text(const std::string& array, const PlaneText& plane, PixelClass cls,
                                   const std::string& height) const {
  const std::string width = to_.width(sized_);
  const int row = px_;
  // Padding ends every row, so that whole blocks fit where their bytes divide it.
  const bool padded = row_alignment % (row * bytes_of(cls)) == 0;
  const std::string in_one =
      in_words_.contains(array) && padded
          ? word_access(false, "row", in_words_.at(array), 0, row, row, to_.tuning().load_bytes,
                        padded ? "    " : "      ")
          : wide_store(cls, "row", array, row, to_.tuning().load_bytes, padded ? "    " : "      ");
  const std::string stored = padded ? in_one
                                    : "    if (whole) {\n" + in_one + "    } else {\n" +
                                          to_.loop("i", px_) + "if (x0 + i < " + width +
                                          ") row[i] = " + array + "[i];\n    }\n";
  const std::string to_row =
      packed_ ? "    GLOBAL " + type_of(cls) +
                    "* const row = rows[two];\n    rows[two] += " + plane.stride + ";\n"
              : "    GLOBAL " + type_of(cls) + "* const row = " + plane.row("y") + " + x0;\n";
  const std::string each = packed_ ? to_.loop("two", 2) + "{\n    const int y = y0 + r + two * " +
                                         number(rows_apart()) + ";\n" + to_row
                                   : to_.loop("r", py_) + "{\n    const int y = y0 + r;\n";
  // Sums of a tile fill the registers by themselves.
  const bool bytes = padded && bytes_of(cls) == 1 && row % 4 == 0 && (packed_ || around_);
  if (reads_rows_ || (!packed_ && !bytes)) {
    return each + "    if (y >= " + height + ") continue;\n" + row_text_ + (packed_ ? "" : to_row) +
           stored + "  }\n";
  }
  // Rows below the image are made too: without a branch the compiler orders all rows' work.
  std::string conditional = "    if (y < " + height + ") {\n" + stored + "    }\n";
  if (bytes) {
    std::string words = "packed", packing;
    if (in_words_.contains(array)) {
      words = in_words_.at(array);
    } else {
      packing = "    uint packed[" + number(row / 4) + "];\n" + to_.loop("q", row / 4) +
                "packed[q] = " + "FIRST_BYTES(" + array + " + 4 * q);\n";
    }
    conditional = packing + word_access(false, "row", words, 0, row, row, to_.tuning().load_bytes,
                                        "    ", "y < " + height);
  }
  return each + (packed_ ? "" : to_row) + row_text_ + conditional + "  }\n";
}

void BlockWriter::load_centre(const Operand& operand, const std::string& name) {
  const int row = px_;
  const PixelClass cls = to_.cls(operand);
  const std::string from = "from_" + name;
  if (points_ && bytes_of(cls) == 1 && row_alignment % row == 0) {
    // As words: an instruction takes a byte out of one.
    const std::string words = "words_" + name, count = std::to_string(row / 4);
    const auto load = [&](const std::string& y, const std::string& x, const std::string& place) {
      return "      GLOBAL const uchar* const from = " + to_.plane(operand).row(y) + " + " + x +
             ";\n" +
             word_access(true, "from", place, 0, row, row, to_.tuning().load_bytes, "      ");
    };
    std::string place = words;
    if (ahead_) {
      place = "(" + words + " + r * " + count + ")";
      load_arrays_ += "  uint " + words + "[" + std::to_string(py_ * row / 4) + "];\n";
      load_text_ += to_.loop("r", py_) + "{\n" +
                    load("smaller(y0 + r, " + to_.height(operand) + " - 1)", "x_load", place) +
                    "    }\n";
    } else {
      row_text_ +=
          "    uint " + words + "[" + count + "];\n    {\n" + load("y", "x0", place) + "    }\n";
    }
    row_text_ += "    uchar " + name + "[" + std::to_string(row) + "];\n" + to_.loop("k", row) +
                 name + "[k] = (uchar)BYTE_OF(" + place + "[k / 4], k % 4);\n";
    return;
  }
  reads_rows_ = true;
  row_text_ += "  " + type_of(cls) + " " + name + "[" + std::to_string(row) + "];\n" +
               "    GLOBAL const " + type_of(cls) + "* const " + from + " = " +
               to_.plane(operand).row("y") + ";\n";
  const auto wide = [&](const std::string& indent) {
    return wide_load(cls, "(" + from + " + x0)", name, 0, row, to_.tuning().load_bytes, indent);
  };
  if (row_alignment % (row * bytes_of(cls)) == 0) {
    row_text_ += wide("    ");
    return;
  }
  row_text_ += "    if (whole) {\n" + wide("      ") + "    } else {\n" + to_.loop("i", px_) +
               name + "[i] = " + from + "[smaller(x0 + i, " + to_.width(sized_) +
               " - 1)];\n    }\n";
}

std::string BlockWriter::table(int n, const Operand& source) {
  const std::string name = "table_" + Builder::name({false, n});
  if (!made_.insert(name).second) return name;
  const Node& node = to_.node(n);
  const std::string type = type_of(node.cls);
  // What lies between the end of a row and the next may be any code.
  const std::string codes = to_.cls(source) == PixelClass::logical ? "2" : "256";
  const auto filled_with = [&](const std::string& entry) {
    return filled(part(kernels::block, "table"),
                  {{"type", type},
                   {"table", name},
                   {"unroll", to_.unroll()},
                   {"table_turns", number((256 + items_ - 1) / items_)},
                   {"items", number(items_)},
                   {"codes", codes},
                   {"entry", entry}});
  };
  if (points_) {
    tables_ += filled_with(code_value(to_, n, source));
    return name;
  }
  const auto memory = [&] {
    return to_.scratch(name, type, [](const LaunchContext&) { return std::int64_t{1024}; });
  };
  const std::string entry = code_value(to_, n, source);
  const int items = to_.cls(source) == PixelClass::logical ? 2 : 256;
  to_.kernel("make_" + name, items,
             "  const int code = ITEM;\n  " + memory() + "[code] = " + entry + ";\n",
             [items](const LaunchContext&) {
               return LaunchShape{{1, 1, 1}, {items, 1, 1}};
             });
  tables_ += filled_with(memory() + "[code]");
  return name;
}

void BlockWriter::point_centre(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const int rounds = plan_.node(n).rounds;
  if (packed_ && rounds >= 0) return sums_of_packed(rounds, name, true);
  if (packed_points_.contains(n)) return point_of_packed(n, name);
  if (const std::optional<Operand> source = tabled(n)) {
    ahead_ = points_;
    const std::string from = centre(*source);
    ahead_ = false;
    return add(name,
               row_of_pixels(to_, name, node.cls, px_, table(n, *source) + "[" + from + "[k]]"));
  }
  for (const Operand& image : pixel_images(node)) centre(image);
  const std::string value = point_value(
      to_, n, [&](const Operand& image) { return centre(image) + "[k]"; }, quotients_);
  add(name, row_of_pixels(to_, name, node.cls, px_, value, names_place(node)));
}

void BlockWriter::add(const std::string& name, const Row& row) {
  made_.insert(name);
  row_text_ += row.text;
  if (!row.words.empty()) in_words_[name] = row.words;
}

void BlockWriter::reaches(const Footprint& f) {
  around_ = true;
  reach_ = {std::max(reach_.left, f.left), std::max(reach_.right, f.right),
            std::max(reach_.up, f.up), std::max(reach_.down, f.down)};
}

Window BlockWriter::window(const Operand& operand, const Footprint& f, Border border,
                           const std::string& type, const std::string& outside,
                           const std::string& own) {
  const std::string name = "w_" + own, edge = own + "_edge";
  if (plan_.in_groups(operand)) {
    return window_of_points(operand, f, border, type, outside, name);
  }
  write_border(to_, edge, type, to_.value(operand, "x", "y"), border, outside, to_.width(operand),
               to_.height(operand));
  const PixelClass cls = to_.cls(operand);
  const int bytes = bytes_of(cls);
  // Floats from wide neighbourhoods come by whole vectors.
  const int vector = bytes == 4 && px_ % 4 == 0 && std::max(f.left, f.right) > 1 ? 16 : 4;
  const auto aligned = [&](int pixels) {
    return (pixels * bytes + vector - 1) / vector * vector / bytes;
  };
  Window w{name, py_ + f.up + f.down, 0, aligned(f.left)};
  w.width = w.first + px_ + aligned(f.right);
  const int left = f.left;
  interior_ = true;
  reaches(f);
  reach_left_ = std::max(reach_left_, w.first);
  const std::string raw = "raw_" + Builder::name(operand), row = "row_of_" + raw;
  const std::string to = "(" + raw + " + r * " + number(w.width) + ")";
  const int widest = to_.tuning().load_bytes;
  const int beside = bytes == 4 && px_ % 4 == 0 && w.first % 4 == 0 ? widest : 4;
  const std::string load_row =
      // One load for several columns, though it reads a few that nobody needs.
      wide_load(cls, row, to, 0, w.first, left > 1 ? beside : 4, "      ") +
      // The block's own pixels are aligned more widely than the window's first.
      wide_load(cls, "(" + row + " + " + number(w.first) + ")",
                "(" + to + " + " + number(w.first) + ")", 0, px_, widest, "      ") +
      wide_load(cls, row, to, w.first + px_, w.width - w.first - px_, beside, "      ");
  text_ += filled(
      part(kernels::block, "window"),
      {{"type", type},
       {"own", own},
       {"window_count", number(w.rows * w.width)},
       {"pixel", type_of(cls)},
       {"plane", Builder::name(operand)},
       {"window_row", to_.plane(operand).row("(y0 - " + number(f.up) + ")")},
       {"first", number(w.first)},
       {"unroll", to_.unroll()},
       {"window_rows", number(w.rows)},
       {"load_row", load_row},
       {"stride", to_.plane(operand).stride},
       {"reach_wide", number(px_ + f.left + f.right)},
       {"window_wide", number(w.width)},
       {"margin", number(w.first - left)},
       {"window_edge", to_.call(edge, "x0 + i - " + number(f.left), "y0 + r - " + number(f.up))}});
  return w;
}

}  // namespace impipe::jit
