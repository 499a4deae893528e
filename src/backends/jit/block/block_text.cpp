// Puts the parts of a block kernel together.
#include "backends/jit/block/block_text.hpp"

#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// How a row that the block has made goes to memory.
struct RowStore {
  std::string text;
  bool skips = false;  // what lies below the image is not made either
};

RowStore store_of(const Block& block, const BlockText& text, const StoredRow& stored) {
  const Builder& builder = block.builder;
  const auto& [array, words, packed_pixel] = stored.row;
  const int px = block.size.px, widest = builder.tuning().load_bytes;
  // Sums of a tile fill the registers by themselves.
  const bool bytes =
      bytes_of(stored.cls) == 1 && px % 4 == 0 && (block.size.packed || text.has_window);
  const bool halves = bytes_of(stored.cls) == 2 && !words.empty();
  const bool skips = text.reads_rows || (!block.size.packed && !bytes);
  if (bytes && !skips) {
    std::string of_words = words, packing;
    if (words.empty()) {
      of_words = "packed";
      packing = builder.filled(part(kernels::block, "pack_row"),
                               {{"quads", number(px / 4)}, {"array", array}});
    }
    return {
        packing + word_access(false, "row", of_words, 0, px, px, widest, "y < " + stored.height),
        false};
  }
  if (halves && !skips) {
    return {word_access(false, "((GLOBAL uchar*)row)", words, 0, 2 * px, 2 * px, widest,
                        "y < " + stored.height),
            false};
  }
  // Padding ends every row, so that whole blocks fit.
  const std::string whole = !words.empty() && !halves
                                ? word_access(false, "row", words, 0, px, px, widest)
                                : wide_store(stored.cls, "row", array, px, widest);
  if (skips) return {whole, true};
  return {filled(part(kernels::block, "store_inside"),
                 {{"to_height", stored.height}, {"store", whole}}),
          false};
}

// Each row of packed windows as soon as it can be made, and each pair of the block's rows as soon
// as those are there.
std::string pairs_text(const Block& block, const BlockText& text, const StoredRow& stored,
                       const std::string& rows) {
  const int half = block.size.py / 2;
  const int last = text.reach.up + text.reach.down, lines = half + last;
  std::string packed_rows;
  for (const PackedRows& made : text.packed_rows) {
    const int count = half + made.f.up + made.f.down;
    packed_rows +=
        filled(part(kernels::block, "packed_row"), {{"above", number(text.reach.up - made.f.up)},
                                                    {"some", count == lines ? "0" : "1"},
                                                    {"count", number(count)},
                                                    {"make_packed_row", made.text}});
  }
  return block.builder.filled(part(kernels::block, "pairs"),
                              {{"stored", type_of(stored.cls)},
                               {"first_to_row", stored.plane.row("y0")},
                               {"rows_apart", number(block.rows_apart())},
                               {"to_stride", stored.plane.stride},
                               {"lines", number(lines)},
                               {"packed_rows", packed_rows},
                               {"last", number(last)},
                               {"pair", text.pairs},
                               {"rows_of_pair", rows}});
}

// What the kernel does with the text of its rows. goes_on: a group makes one block after the other.
std::string kernel_text(const Block& block, const BlockText& text, const std::string& rows,
                        const std::string& height, bool goes_on) {
  const Builder& builder = block.builder;
  const int down = builder.tuning().group / 32, px = block.size.px, py = block.size.py;
  const std::string width = block.builder.width(block.sized), which = goes_on ? "block" : "GROUP_Y";
  // Of packed rows all work-items have those of the low halves first, then those of the high ones.
  const std::string first_row =
      block.size.tile && block.size.packed
          ? which + " * " + number(down * py) + " + ITEM / 32 * " + number(py / 2)
          : "(" + which + " * " + number(down) + " + ITEM / 32) * " + number(py);
  std::string interior;
  if (text.tests_interior) {
    interior =
        filled(part(kernels::block, "interior"), {{"interior_left", number(text.reach_left)},
                                                  {"interior_right", number(px + text.reach.right)},
                                                  {"width", width},
                                                  {"interior_up", number(text.reach.up)},
                                                  {"interior_down", number(py + text.reach.down)},
                                                  {"to_height", height}});
  }
  return filled(part(kernels::block, "blocks"),
                {{"goes_on", goes_on ? "1" : "0"},
                 {"first_tables", goes_on ? "" : text.tables},
                 {"tables", text.tables},
                 {"px", number(px)},
                 {"width", width},
                 {"to_height", height},
                 {"loads_ahead", text.loads.empty() ? "0" : "1"},
                 {"load_arrays", text.load_arrays},
                 {"loads", text.loads.empty() ? "" : braced(text.loads)},
                 {"first_row", first_row},
                 {"group_rows", number(down * py)},
                 {"block", interior + rows}});
}

}  // namespace

BlockText& BlockText::operator+=(const BlockText& more) {
  tables += more.tables;
  load_arrays += more.load_arrays;
  loads += more.loads;
  windows += more.windows;
  packed_rows.insert(packed_rows.end(), more.packed_rows.begin(), more.packed_rows.end());
  pairs += more.pairs;
  rows += more.rows;
  reads_rows |= more.reads_rows;
  has_window |= more.has_window;
  tests_interior |= more.tests_interior;
  reach = {std::max(reach.left, more.reach.left), std::max(reach.right, more.reach.right),
           std::max(reach.up, more.reach.up), std::max(reach.down, more.reach.down)};
  reach_left = std::max(reach_left, more.reach_left);
  return *this;
}

MadeRow made_row(const std::string& array, const Row& row) {
  return {{array, row.words}, {.rows = row.text}};
}

std::string rows_text(const Block& block, const BlockText& text, const StoredRow& stored) {
  const RowStore store = store_of(block, text, stored);
  std::string beside;
  for (const StoredRow& other : stored.beside) {
    beside += filled(part(kernels::block, "store_beside"),
                     {{"stored", type_of(other.cls)},
                      {"to_row", other.plane.row("y")},
                      {"store", store_of(block, text, other).text}});
  }
  const std::string rows =
      Substitutions({{"unroll", block.builder.unroll()},
                     {"py", number(block.size.py)},
                     {"rows_apart", number(block.rows_apart())},
                     {"stored", type_of(stored.cls)},
                     {"to_row", stored.plane.row("y")},
                     {"to_stride", stored.plane.stride},
                     {"to_height", stored.height},
                     {"skips", store.skips ? "1" : "0"},
                     {"make_row", text.rows},
                     {"store", store.text},
                     {"other_rows", beside}})
          .filled(part(kernels::block, block.size.packed ? "rows_of_pair" : "rows"));
  return block.size.packed ? pairs_text(block, text, stored, rows) : rows;
}

void write_kernel(const Block& block, const std::string& name, const BlockText& text,
                  const StoredRow& stored, std::function<Size(const LaunchContext&)> size,
                  LaunchTest wanted, const std::string& first) {
  constexpr int across = 32;
  const Tuning& tuning = block.builder.tuning();
  const int down = tuning.group / across, items = across * down;
  const int block_x = across * block.size.px, block_y = down * block.size.py;
  // Groups that make tables have several blocks each.
  const bool goes_on = block.size.points && !text.tables.empty();
  // Four times the groups of some 60 registers a work-item that are at work at once: a table for a
  // few blocks costs little, and with fewer groups all read and write at the same time.
  const int most = goes_on ? tuning.groups_at_once() : 0;
  const std::string rows = first + text.windows + rows_text(block, text, stored);
  block.builder.kernel(
      name, items, kernel_text(block, text, rows, stored.height, goes_on),
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
      goes_on                              ? 8
      : block.size.tile || text.has_window ? block.size.groups
                                           : 0,
      block.size.asked_bytes);
}

}  // namespace impipe::jit
