// regionfill and roifill: what is masked is filled smoothly from around it.
#include <algorithm>

#include "core/plane_rows.hpp"
#include "ops/filter/laplace.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

template <class T>
T cast_pixel(PixelClass cls, double value) {
  if (cls == PixelClass::logical) return value >= 0.5 ? 1 : 0;
  return static_cast<T>(cast_to(cls, value));
}

void fill_plane(const Plane& from, const std::vector<Hole>& holes, Plane& to) {
  const Size size = from.size();
  std::vector<double> values(static_cast<std::size_t>(size.pixels()));
  with_pixel(from.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      std::copy_n(from.row_as<T>(y), size.width, values.begin() + y * size.width);
      std::copy_n(from.row_as<T>(y), size.width, to.row_as<T>(y));
    }
    for (const Hole& hole : holes) {
      fill_hole(hole, values, size);
      for (std::size_t i = 0; i < hole.cells.size(); ++i) {
        if (hole.cells[i] == 0) continue;
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t x = hole.left + at % hole.width, y = hole.top + at / hole.width;
        to.row_as<T>(y)[x] =
            cast_pixel<T>(to.cls(), values[static_cast<std::size_t>(y * size.width + x)]);
      }
    }
  });
}

ImageValue lower_regionfill(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageValue mask = gray_operand(call, plan, call.value("mask").operands.front());
  return on_host(call, plan, {image, mask}, like(image),
                 {.make = [](std::span<const Planes> images, Planes& result) {
                   const std::vector<Hole> holes = holes_of(images[1].front());
                   for (std::size_t c = 0; c < result.size(); ++c) {
                     fill_plane(images[0][c], holes, result[c]);
                   }
                 }});
}

Operator described(std::string_view name, std::string_view help, std::string_view example,
                   std::string_view matlab) {
  return {
      .name = name,
      .help = help,
      .parameters = {{.name = "mask",
                      .help = "an image (:name) that is not 0 where the current one is filled",
                      .takes = Takes::operand,
                      .required = true}},
      .details =
          R"(Each pixel of the mask becomes the mean of its neighbours by sides inside the image (Laplace's
equation), all of them at once; other pixels stay. Solved in double by conjugate gradients over grids,
to 1e-6 of the difference of the values around a hole, and cast once; every channel for itself, alpha stays. A
mask of the whole image leaves it as it is. On the host.)",
      .example = example,
      .accuracy = "1e-4 of white",
      .not_finite = {NotFinite::Rule::other,
                     "around a hole they fill all of it: Inf with Inf, else NaN; in holes they "
                     "are replaced"},
      .matlab = matlab,
      .lower = lower_regionfill};
}

const RegisterOperator regionfill_operator{
    described("regionfill", "fills the pixels of a mask smoothly from those around them",
              "as a | imbinarize 0.9 | as m | im2uint8 | map 'a' | regionfill :m",
              "regionfill(I,mask) (same)")};
const RegisterOperator roifill_operator{described(
    "roifill", "fills the pixels of a mask smoothly: regionfill by another name",
    "as a | imbinarize 0.9 | as m | im2uint8 | map 'a' | roifill :m", "roifill(I,BW) (same)")};

}  // namespace
}  // namespace impipe::ops
