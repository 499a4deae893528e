// Rows of points, and of all that they are made of.
#include "backends/jit/block/block_parts.hpp"

#include <algorithm>
#include <utility>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/plan/packed_arithmetic.hpp"
#include "backends/jit/plan/point_plan.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"
#include "core/text.hpp"

namespace impipe::jit {

namespace {

// An earlier point whose table has the entries of node n's, which is of the codes of `source`; -1
// where there is none.
int table_alike(const Block& block, int n, const Operand& source) {
  const int first = block.builder.node(n).alike;
  if (first < 0 || !block.plan.node(first).codes) return -1;
  for (int a = n, b = first;;) {
    const Node &one = block.builder.node(a), &other = block.builder.node(b);
    if (one.alike != b || one.images.size() != other.images.size()) return -1;
    if (!std::equal(one.images.begin() + 1, one.images.end(), other.images.begin() + 1)) return -1;
    const Operand &from = one.images[0], &other_from = other.images[0];
    if (from == source) return other_from == block.plan.node(first).codes ? first : -1;
    if (from.external || other_from.external) return -1;
    a = from.index;
    b = other_from.index;
  }
}

}  // namespace

std::string row_name(const Operand& operand) { return "b_" + Builder::name(operand); }

RowPlaces BlockParts::add_once(const std::string& name, const std::function<MadeRow()>& made) {
  if (const auto known = made_.find(name); known != made_.end()) return known->second;
  const MadeRow row = made();
  text_ += row.text;
  return made_[name] = row.places;
}

void BlockParts::add(const Operand& operand, MadeRow row) {
  add_once(row_name(operand), [&] { return std::move(row); });
}

RowPlaces BlockParts::row_of(const Operand& operand, const Reading& reading) {
  const bool plane = block_.is_plane(operand);
  if (!plane && moves(block_.builder.node(operand.index))) {
    return row_of(block_.builder.node(operand.index).images[0], {.move = operand.index});
  }
  const int move = reading.move;
  const std::string name =
      row_name(operand) + (move < 0 ? "" : "_by_" + Builder::name({false, move}));
  return add_once(name, [&] {
    if (plane && move >= 0) return moved_row(block_, operand, move, name);
    if (plane) return loaded_row(block_, operand, name, reading.ahead);
    return as<Point>(block_.builder.node(operand.index)) != nullptr
               ? point_row(operand.index, name, reading)
               : neighbourhood_row(block_, windows_, operand.index, name);
  });
}

MadeRow BlockParts::point_row(int n, const std::string& name, const Reading& reading) {
  Builder& builder = block_.builder;
  const Node& node = builder.node(n);
  const NodePlan& plan = block_.plan.node(n);
  if (block_.size.packed && plan.rounds >= 0) {
    return packed_sums_row(block_, windows_, plan.rounds, name, true);
  }
  if (packed_points_.contains(n)) return packed_point_row(n, name);
  if (plan.codes) {
    const Reading of_codes{reading.move, block_.size.points};
    const std::string codes = row_of(*plan.codes, of_codes).array;
    const std::string value = table_of(n, *plan.codes) + "[" + codes + "[k]]";
    return made_row(name, row_of_pixels(builder, name, node.cls, block_.size.px, value));
  }
  if (const std::optional<RampText> ramp = ramp_text(builder, n)) {
    if (tables_.insert(n).second) text_.tables += ramp->numbers;
    const Reading of_codes{reading.move, block_.size.points};
    const std::string codes = row_of(node.images[0], of_codes).array;
    return {{name}, {.rows = ramp->row(name, block_.size.px, codes)}};
  }
  if (passes_on(builder.context(), n)) return {row_of(node.images[0], reading), {}};
  for (const Operand& image : pixel_images(node)) row_of(image, reading);
  const std::string value = point_value(
      builder, n, [&](const Operand& image) { return row_of(image, reading).array + "[k]"; },
      quotients_);
  return made_row(name,
                  row_of_pixels(builder, name, node.cls, block_.size.px, value, names_place(node)));
}

std::string BlockParts::table_of(int n, const Operand& source) {
  Builder& builder = block_.builder;
  if (const int first = table_alike(block_, n, source); first >= 0) {
    return table_of(first, block_.plan.node(first).codes.value());
  }
  std::string name = "table_" + Builder::name({false, n});
  if (!tables_.insert(n).second) return name;
  const std::string type = type_of(builder.node(n).cls);
  // What lies between the end of a row and the next may be any code.
  const int codes = builder.cls(source) == PixelClass::logical ? 2 : 256;
  text_.tables += builder.filled(part(kernels::block, "table"),
                                 {{"type", type},
                                  {"table", name},
                                  {"table_turns", number((256 + block_.items - 1) / block_.items)},
                                  {"items", number(block_.items)},
                                  {"codes", number(codes)},
                                  {"entry", code_value(builder, n, source)}});
  return name;
}

std::string BlockParts::packed_pixel(const Operand& operand) const {
  if (!block_.is_plane(operand)) {
    const auto known = made_.find(row_name(operand));
    return known == made_.end() ? "" : known->second.packed;
  }
  for (const KnownWindow& known : windows_.packed) {
    if (known.image == operand) {
      return "(" + known.window.array + "[" + known.window.place(0, 0, known.f.up) +
             "] & 0xff00ffu)";
    }
  }
  return "";
}

MadeRow BlockParts::packed_point_row(int n, const std::string& name) {
  Builder& builder = block_.builder;
  const Node& node = builder.node(n);
  for (const Operand& image : node.images) {
    if (!block_.is_plane(image)) row_of(image);
  }
  const std::vector<std::string> labels = names_in(as<Point>(node)->body->parameter_names);
  const std::string value =
      packed_point(
          node, [&](std::size_t image) { return packed_pixel(node.images[image]); },
          [&](std::size_t i) {
            return builder.argument(n, static_cast<int>(i), labels[i], "double");
          })
          .value();
  const std::string own = Builder::name({false, n}), made = "made_" + own;
  MadeRow row = row_of_packed(block_, n, name);
  row.text.pairs = filled(part(kernels::block, "packed_pixels"),
                          {{"own", own},
                           {"px", number(block_.size.px)},
                           {"make_pixels", for_each_pixel(builder, block_.size.px,
                                                          made + "[k] = " + value + ";")}}) +
                   row.text.pairs;
  row.places.packed = made + "[k]";
  return row;
}

std::string rows_by_reciprocals(const Block& block, int n, const PlaneText& plane) {
  Quotients quotients;
  Block apart = block;
  apart.root = n;
  apart.size = {.px = block.size.px, .py = block.size.py, .points = true};
  BlockParts parts(apart, {}, &quotients);
  const std::string array = parts.row_of({false, n}).array;
  return quick_rows(apart, quotients, parts.text().rows, array, plane);
}

std::string quick_rows(const Block& block, const Quotients& quotients, const std::string& text,
                       const std::string& array, const PlaneText& plane) {
  const Builder& builder = block.builder;
  const PixelClass cls = builder.node(block.root).cls;
  const int px = block.size.px;
  std::string ones;
  for (const std::string& unit : quotients.units) ones += " && " + unit + " == 1.0f";
  for (const std::string& v : quotients.moderate) ones += " && is_moderate(" + v + ")";
  return builder.filled(part(kernels::block, "by_reciprocals"),
                        {{"py", number(block.size.py)},
                         {"to_height", block.builder.height(block.sized)},
                         {"ones", ones},
                         {"stored", type_of(cls)},
                         {"all", number(block.size.py * px)},
                         {"make_row", text},
                         {"px", number(px)},
                         {"array", array},
                         {"quick_row", plane.row("(y0 + r)")},
                         {"store_all", wide_store(cls, "row", "(all + r * " + number(px) + ")", px,
                                                  builder.tuning().load_bytes)}});
}

}  // namespace impipe::jit
