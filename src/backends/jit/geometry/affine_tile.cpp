// An affine map by tiles: a sub-group makes 8x4 pixels at once, so that the places they are taken
// from lie in few rows of the image however it is turned. A group copies what its tile reads to
// local memory; where that does not fit, or lies partly outside, work-items read the image itself.
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int across = 32, down = 32;  // of a tile
// Of the image, that local memory holds: a tile of this size is as large at most, turned by 45
// degrees. Rows of 52 pixels of any class begin in banks that lie apart.
constexpr int copy_columns = 52, copy_rows = 48;

std::string type_of_four(PixelClass cls) {
  const int bytes = bytes_of(cls);
  return bytes == 1 ? "uint" : bytes == 2 ? "uint2" : "uint4";
}

// A coordinate of places: the parameters of what it grows by in a row and in a column, and of the
// rest.
struct Coordinate {
  const char *axis, *along, *down, *at, *origin;
};
// The functions `name`_row_x and `name`_at_x, or those of y.
void write_place(Builder& builder, int n, const std::string& name, const Coordinate& c) {
  const std::string own = "params->" + Builder::name({false, n}) + "_";
  const std::string kind =
      is_plain_affine(std::get<Resample>(builder.node(n).primitive)) ? "fused" : "viewed";
  const auto write = [&](const std::string& what, const std::string& slope, const char* from) {
    const std::string called = name + (what == "row" ? "_row_" : "_at_") + c.axis;
    builder.function(called, Substitutions({{"row_x", called},
                                            {"at_x", called},
                                            {"slope", own + slope},
                                            {"at", own + c.at},
                                            {"from", own + from},
                                            {"origin", own + c.origin}})
                                 .filled(part(kernels::affine, kind + "_" + what)));
  };
  write("row", c.down, "v0");
  write("place", c.along, "u0");
}

// Launches with a tile for each processor. Of smaller results, such as 31x31 of a 4096x4096 image,
// a work-item's eight pixels take longer than eight work-items.
LaunchTest takes_tiles(const Tuning& tuning, const Operand& result) {
  const std::int64_t least = std::int64_t{across} * down * tuning.processors;
  return [result, least](const LaunchContext& at) {
    return at.size_of(result).pixels() * at.count() >= least;
  };
}

// Returns which launches take tiles.
LaunchTest write_affine_tiles(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self) + "_value";
  const LaunchTest is_large = takes_tiles(builder.tuning(), self);
  write_resample(builder, n, name);
  const Resample& resample = std::get<Resample>(node.primitive);
  const bool nearest = resample.method == Resample::Method::nearest;
  const PlaneText in = builder.plane(image), out = builder.plane(self);
  const std::string value = converted(
      node.cls, "float", node.cls == PixelClass::logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum");
  const std::string own = "params->" + Builder::name(self) + "_";
  write_place(builder, n, name, {"x", "a", "b", "c", "x0"});
  write_place(builder, n, name, {"y", "d", "e", "f", "y0"});
  // Beside the centres of the outer pixels is what stands outside.
  const bool on_image = resample.beside == Resample::Beside::on_image;
  builder.kernel("store_" + Builder::name(self), items,
                 filled(part(kernels::affine, "tiles"),
                        {{"items", std::to_string(items)},
                         {"across", std::to_string(across)},
                         {"down", std::to_string(down)},
                         {"width", builder.width(self)},
                         {"height", builder.height(self)},
                         {"in_width", builder.width(image)},
                         {"in_height", builder.height(image)},
                         {"pixel", type_of(node.cls)},
                         {"out_row", out.row("y")},
                         {"in_row", in.row("py")},
                         {"image", in.pointer},
                         {"out", out.pointer},
                         {"out_stride", out.stride},
                         {"four", type_of_four(node.cls)},
                         {"copy_columns", std::to_string(copy_columns)},
                         {"copy_rows", std::to_string(copy_rows)},
                         {"a", own + "a"},
                         {"b", own + "b"},
                         {"d", own + "d"},
                         {"e", own + "e"},
                         {"row_x", name + "_row_x"},
                         {"row_y", name + "_row_y"},
                         {"at_x", name + "_at_x"},
                         {"at_y", name + "_at_y"},
                         {"half", nearest ? " + 0.5" : ""},
                         {"low", nearest && on_image ? "0.5" : "0.0"},
                         {"reach", nearest ? (on_image ? "0.5" : "0.0") : "1.0"},
                         {"each", builder.unroll()},
                         {"once", builder.tuning().unroll ? unroll_pragma(1) : ""},
                         {"nearest", nearest ? "1" : "0"},
                         {"stride", in.stride},
                         {"value", value},
                         {"slow", builder.call(name, "x", "y")}}),
                 [self, is_large](const LaunchContext& at) {
                   return launch_tiles(is_large(at) ? at.size_of(self) : Size{}, across, down,
                                       items);
                 });
  return is_large;
}

Offer offer_affine_tiles(const FormQuestion& question) {
  const auto* resample = as<Resample>(question.node());
  if (resample == nullptr || resample->kind != Resample::Kind::affine ||
      resample->method == Resample::Method::bicubic) {
    return vetoed("no affine map");
  }
  return {
      .work = {.bytes = bytes_moved(question.context, question.n), .operations = 40, .launches = 1},
      .form = FamilyForm{&affine_tiles_form},
      .reason = "a sub-group reads few rows"};
}

}  // namespace

const FormRow affine_tiles_form = {"affine tiles", offer_affine_tiles,
                                   [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                     return write_affine_tiles(builder, n);
                                   }};

}  // namespace impipe::jit
