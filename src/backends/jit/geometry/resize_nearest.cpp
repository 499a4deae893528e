// A nearest resize as text: a kernel finds each column's and row's input, another moves pixels, in
// blocks of some elements of four rows.
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/geometry/resize_axis.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int across = 32, down = items / across, rows = 4;

void write_nearest_resize(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const Operand self{false, n}, image = node.images[0];
  const ResizeAxisText x(builder, n, "x", &ResizeAxes::x), y(builder, n, "y", &ResizeAxes::y);
  const auto first = [&](const ResizeAxisText& axis, const std::string& label) {
    return builder.scratch(Builder::name(self) + "_first_" + label, "int",
                           [axis](const LaunchContext& at) { return axis.at(at).to * 4; });
  };
  builder.kernel(
      Builder::name(self) + "_places", items,
      filled(part(kernels::resize, "places"), {{"items", std::to_string(items)},
                                               {"to_x", x.size()},
                                               {"to_y", y.size()},
                                               {"first_x", first(x, "x")},
                                               {"first_y", first(y, "y")},
                                               {"copied_x", x.copied("k")},
                                               {"copied_y", y.copied("k")}}),
      launch_items([x, y](const LaunchContext& at) { return x.at(at).to + y.at(at).to; }, items));
  const int bytes = bytes_of(node.cls), count = bytes == 4 ? 4 : 8 / bytes;
  const PlaneText in = builder.plane(image), out = builder.plane(self);
  builder.kernel(
      "store_" + Builder::name(self), items,
      filled(
          part(kernels::resize, "nearest"),
          {{"across", std::to_string(across)},
           {"down", std::to_string(down)},
           {"rows", std::to_string(rows)},
           {"count", std::to_string(count)},
           {"to_x", x.size()},
           {"to_y", y.size()},
           {"first_x", first(x, "x")},
           {"first_y", first(y, "y")},
           {"each", builder.unroll()},
           {"pixel", type_of(node.cls)},
           {"in_row", in.row("from_y")},
           {"out_row", out.row("y")},
           // Padding ends every row, so that whole blocks fit.
           {"store", wide_store(node.cls, "(row + e0)", "v", count, builder.tuning().load_bytes)}}),
      launch_tiles(self, across * count, down * rows, items));
}

Offer offer_nearest_resize(const FormQuestion& question) {
  const auto* resample = as<Resample>(question.node());
  if (resample == nullptr || resample->kind != Resample::Kind::resize ||
      resample->method != Resample::Method::nearest) {
    return vetoed("no resize that moves pixels only");
  }
  return {
      .work = {.bytes = bytes_moved(question.context, question.n), .operations = 6, .launches = 2},
      .form = FamilyForm{&nearest_resize_form},
      .reason = "it moves pixels only"};
}

}  // namespace

const FormRow nearest_resize_form = {"indices, then blocks", offer_nearest_resize,
                                     [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                       write_nearest_resize(builder, n);
                                       return nullptr;
                                     }};

}  // namespace impipe::jit
