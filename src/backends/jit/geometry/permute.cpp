// Transpositions through tiles in local memory: rows of both images are read and written as rows.
#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int vector_items = 256;

// The vector of four pixels of a class, how many make a row of a tile, and the part that puts the
// four columns of vectors a, b, c and d into the tile.
struct Turned {
  const char* vector;
  int across;
  const char* part;
};

Turned turned(PixelClass cls) {
  switch (bytes_of(cls)) {
    case 1: return {"uint", 32, "turned_bytes"};
    case 2: return {"uint2", 16, "turned_shorts"};
    default: return {"float4", 16, "turned_floats"};
  }
}

void write_transpose_kernel(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const Operand self{false, n}, image = node.images[0];
  const PlaneText in = builder.plane(image), out = builder.plane(self);
  const Turned four = turned(node.cls);
  const int side = 4 * four.across;
  const Permute& permute = std::get<Permute>(node.primitive);
  const bool flips = permute.flip_y;
  const auto row = [&](int k) {
    const std::string place = "from_y + " + std::to_string(k);
    return in.row(permute.flip_x ? "larger(last - (" + place + "), 0)"
                                 : "smaller(" + place + ", last)");
  };
  const std::string across = std::to_string(four.across);
  builder.kernel("store_" + Builder::name(self), vector_items,
                 filled(part(kernels::permute, "vector_tiles"),
                        {{"vector", four.vector},
                         {"side", std::to_string(side)},
                         {"turn", filled(part(kernels::permute, four.part), {{"across", across}})},
                         {"across", across},
                         {"rows", std::to_string(vector_items / four.across)},
                         {"unroll", builder.unroll()},
                         {"in_width", builder.width(image)},
                         {"in_height", builder.height(image)},
                         {"row_a", row(0)},
                         {"row_b", row(1)},
                         {"row_c", row(2)},
                         {"row_d", row(3)},
                         {"width", builder.width(self)},
                         {"height", builder.height(self)},
                         {"to_y", flips ? builder.height(self) + " - 1 - y" : "y"},
                         {"out_row", out.row("to_y")}}),
                 launch_tiles(image, side, side, vector_items), 8);
}

Offer offer_transposition(const FormQuestion& question) {
  const auto* permute = as<Permute>(question.node());
  if (permute == nullptr || !permute->transpose ||
      !question.planes.has(question.node().images[0])) {
    return vetoed("it transposes no plane");
  }
  return {.work = {.bytes = bytes_moved(question.context, question.n), .operations = 8},
          .form = FamilyForm{&transposition_form},
          .reason = "both images are read and written as rows"};
}

}  // namespace

const FormRow transposition_form = {"transposed tiles", offer_transposition,
                                    [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                      write_transpose_kernel(builder, n);
                                      return nullptr;
                                    }};

}  // namespace impipe::jit
