// What operators on outlines have in common.
#pragma once

#include <span>
#include <vector>

#include "core/host_work.hpp"
#include "core/plan_builder.hpp"
#include "ops/morphology/connectivity.hpp"

namespace impipe::ops {

struct Pixel {
  std::int64_t x = 0, y = 0;
};

inline Parameter origin_parameter(std::string_view fallback) {
  return {.name = "origin",
          .help = "number of the first row and column: 1 as in MATLAB, or 0",
          .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1},
          .fallback = fallback};
}

// Labels of the objects of an image: a logical one's components by `conn`, others' values.
inline ImageValue labelled(const Call& call, PlanBuilder& plan, const ImageValue& image) {
  if (image.type.cls != PixelClass::logical) return image;
  return plan.whole(Label{Label::Kind::components, connectivity(call)}, {image}, {},
                    {.cls = PixelClass::single, .white = 0});
}

// The image that the host makes of these, whatever the device. work: named where the stage has
// several.
inline ImageValue on_host(const Call& call, PlanBuilder& plan,
                          const std::vector<ImageValue>& images, Result result, HostWork work) {
  const Span span = call.span();
  const std::string part = work.name.empty() ? "" : " " + work.name;
  work.name = std::string(call.op().name) + part;
  work.text = call.text().substr(span.begin, span.end - span.begin) + part;
  return plan.whole(OnHost{std::make_shared<const HostWork>(std::move(work))}, images, {}, result);
}

}  // namespace impipe::ops
