// The text of weighted sums whose group keeps its pixels in local memory.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

void BlockWriter::fill_tile(int n, const std::string& own, const Footprint& f, Border border,
                            const std::string& outside, const std::string& type, int halo,
                            int across) {
  const Operand image = to_.node(n).images[0];
  if (plan_.in_groups(image)) {
    const PointTile tile(4, group_size(), f);
    tables_ += points_in_tile(to_, plan_, root_, items_, tile, image, "tile_" + own, type, border,
                              outside);
    return;
  }
  const std::string edge = own + "_edge";
  write_border(to_, edge, type, to_.value(image, "x", "y"), border, outside, to_.width(image),
               to_.height(image));
  const int items = to_.tuning().group, down = items / 32, rows = down * py_ + f.up + f.down;
  const PixelClass cls = to_.cls(image);
  const std::string vector = type + "4", width = to_.width(image), height = to_.height(image);
  const int left_over = across - 32, beside = rows * left_over;
  const auto fill = [&](const std::string& four) {
    return filled(part(kernels::block, "fill"),
                  {{"any_beside", beside > 0 ? "1" : "0"},
                   {"vector", vector},
                   {"beside_turns", number((beside + items - 1) / items)},
                   {"unroll", to_.unroll()},
                   {"items", number(items)},
                   {"left_over", number(left_over)},
                   {"across", number(across)},
                   {"beside", number(beside)},
                   {"four", four},
                   {"own", own},
                   {"times", number((rows + down - 1) / down)},
                   {"down", number(down)},
                   {"rows", number(rows)}});
  };
  const auto at_edge = [&](int i) {
    return to_.call(edge, "left + 4 * vector + " + number(i), "top + row");
  };
  const std::string edge_text = filled(part(kernels::block, "four_edge"), {{"vector", vector},
                                                                           {"edge_x", at_edge(0)},
                                                                           {"edge_y", at_edge(1)},
                                                                           {"edge_z", at_edge(2)},
                                                                           {"edge_w", at_edge(3)}});
  const std::string load =
      wide_load(cls, "(" + to_.plane(image).row("(top + row)") + " + left + 4 * vector)", "from", 0,
                4, to_.tuning().load_bytes, "        ");
  const std::string inside =
      filled(part(kernels::block, "four_inside"),
             {{"pixel", type_of(cls)}, {"load_four", load}, {"vector", vector}});
  tables_ += filled(part(kernels::block, "tile"),
                    {{"vector", vector},
                     {"own", own},
                     {"tile_vectors", number(rows * across)},
                     {"left", "GROUP_X * " + number(32 * px_) + " - " + number(halo)},
                     {"top", "GROUP_Y * " + number(down * py_) + " - " + number(f.up)},
                     {"wide", number(4 * across)},
                     {"width", width},
                     {"rows", number(rows)},
                     {"height", height},
                     {"fill_inside", fill(inside)},
                     {"fill_edge", fill(edge_text)}});
}

void BlockWriter::weighted_tile(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const Stencil& stencil = *as<Stencil>(node);
  const Mask& mask = stencil.taps;
  const Footprint f = mask.footprint();
  const std::string own = Builder::name({false, n});
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4;
  const int across = 32 + halo / 2;
  fill_tile(n, own, f, stencil.border, outside_value(to_, n, stencil.border), "float", halo,
            across);

  // Every sum takes its taps in row-major order: rows of the tile come from the top down.
  const std::string weight = weights(to_, n, "weights", 0, mask.count());
  std::string taps;
  int k = 0;
  for (int y = 0; y < mask.height; ++y) {
    std::string row;
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      row += "        sum = fma(" + weight + "[" + number(k++) + "], line[i + " +
             number(halo + x - mask.origin_x) + "], sum);\n";
    }
    if (row.empty()) continue;
    taps += "      if (row - r == " + number(y) + ") {\n" + to_.loop("i", px_) +
            "{\n        float sum = sums[r * " + number(px_) + " + i];\n" + row +
            "        sums[r * " + number(px_) + " + i] = sum;\n      }\n      }\n";
  }
  walk_tile(n, own, name, "float", "0.0f", halo, across, f,
            to_.loop("r", py_) + "{\n" + taps + "    }\n", "float");
}

void BlockWriter::walk_tile(int n, const std::string& own, const std::string& name,
                            const std::string& type, const std::string& start, int halo, int across,
                            const Footprint& f, const std::string& step, const std::string& real) {
  const Node& node = to_.node(n);
  const int width = px_ + 2 * halo;
  const std::string sums = "sums_" + own;
  text_ += filled(part(kernels::block, "walk"), {{"type", type},
                                                 {"vector", type + "4"},
                                                 {"own", own},
                                                 {"sums", number(py_ * px_)},
                                                 {"unroll", to_.unroll()},
                                                 {"nothing", start},
                                                 {"tall", number(py_ + f.up + f.down)},
                                                 {"line", number(width)},
                                                 {"line_vectors", number(width / 4)},
                                                 {"py", number(py_)},
                                                 {"across", number(across)},
                                                 {"step_of_sums", step}});
  const auto value_of = [&](const char* k) {
    return sums + "[r * " + number(px_) + " + " + k + "]";
  };
  if (!real.empty()) return add(name, row_of_floats(to_, name, node.cls, px_, value_of("k")));
  row_text_ += "  " + type_of(node.cls) + " " + name + "[" + number(px_) + "];\n" +
               to_.loop("k", px_) + name + "[k] = (" + type_of(node.cls) + ")" + value_of("k") +
               ";\n";
}

std::string BlockWriter::extremes_step(const Mask& mask, const std::string& type,
                                       const std::string& better, int most, const std::string& sums,
                                       int halo, int rows) const {
  const int width = px_ + 2 * halo;
  std::map<int, std::string> known = {{1, "line"}};
  std::string runs, folds;
  for (int y = 0; y < mask.height; ++y) {
    std::string best;
    for (const Run& run : runs_of(mask)) {
      if (run.y != y - mask.origin_y) continue;
      while (!known.contains(run.length)) {
        const int part = std::prev(known.upper_bound(run.length))->first;
        const int next = std::min(run.length, most * part);
        const auto at = [&](int i) { return known[part] + "[i + " + number(i) + "]"; };
        std::string value = better + "(" + at(0) + ", " + at(next - part) + ")";
        if (next > 2 * part) value = better + "(" + value + ", " + at(part) + ")";
        known[next] = "run" + number(next);
        runs += "    " + type + " " + known[next] + "[" + number(width) + "];\n" +
                to_.loop("i", width - next + 1) + known[next] + "[i] = " + value + ";\n";
      }
      best += "        best = " + better + "(best, " + known[run.length] + "[i + " +
              number(halo + run.x) + "]);\n";
    }
    if (best.empty()) continue;
    const std::string sum = sums + "[r * " + number(px_) + " + i]";
    folds += "      if (row - r == " + number(y) + ") {\n" + to_.loop("i", px_) + "{\n        " +
             type + " best = " + sum + ";\n" + best + "        " + sum +
             " = best;\n      }\n      }\n";
  }
  return runs + to_.loop("r", rows) + "{\n" + folds + "    }\n";
}

void BlockWriter::extremes_tile(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const bool single = node.cls == PixelClass::single;
  const std::string type = single ? "float" : "int";
  const std::string nothing = single             ? (extremum.largest ? "-INFINITY" : "INFINITY")
                              : extremum.largest ? "0"
                                                 : number(static_cast<int>(class_max(node.cls)));
  const std::string better =
      std::string(extremum.largest ? "larger" : "smaller") + (single ? "_float" : "");
  const std::string own = Builder::name({false, n});
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4;
  const int across = 32 + halo / 2;
  fill_tile(n, own, f, Border::absent, nothing, type, halo, across);

  walk_tile(n, own, name, type, nothing, halo, across, f,
            extremes_step(mask, type, better, 2, "sums", halo, py_), "");
}

}  // namespace impipe::jit
