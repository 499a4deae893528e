// Plans of the kernels that filter volumes.
#include "core/volume_ring.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/body.hpp"
#include "core/expression.hpp"
#include "core/plan_builder.hpp"

IMPIPE_POINT_BODY(ring_first, (x), (weight), { return fma(weight, x, real(0)); })
IMPIPE_POINT_BODY(ring_next, (sum, x), (weight), { return fma(weight, x, sum); })
IMPIPE_POINT_BODY(ring_quotient, (sum), (divisor), { return sum / divisor; })
IMPIPE_POINT_BODY(ring_half, (x), (), { return x >= real(0.5) ? real(1) : real(0); })
IMPIPE_POINT_BODY(ring_largest, (a, b), (), { return max(a, b); })
IMPIPE_POINT_BODY(ring_smallest, (a, b), (), { return min(a, b); })

namespace impipe {
namespace {

Mask line(int width, int height) {
  return {.width = width,
          .height = height,
          .origin_x = (width - 1) / 2,
          .origin_y = (height - 1) / 2,
          .cells = std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 1)};
}

Plan finished(PlanBuilder& plan, ImageValue result) {
  plan.set_current(result);
  return plan.finish();
}

// A plan of `count` held images, in this order.
struct RingPlan {
  RingPlan(const ImageType& held, std::size_t count) : builder(held, operands(held, count)) {
    // Operands are the values behind the input.
    for (std::size_t i = 0; i < count; ++i) images.push_back({static_cast<ValueId>(i), held});
  }
  PlanBuilder builder;
  std::vector<ImageValue> images;

 private:
  static std::map<std::string, ImageType> operands(const ImageType& held, std::size_t count) {
    std::map<std::string, ImageType> out;
    for (std::size_t i = 1; i < count; ++i) out[std::to_string(1000 + i)] = held;
    return out;
  }
};

Plan sums_of_plane(const ImageType& type, const std::vector<float>& across,
                   const std::vector<float>& down, bool any_order) {
  PlanBuilder plan(type, {});
  std::vector<Arg> weights(across.begin(), across.end());
  weights.insert(weights.end(), down.begin(), down.end());
  return finished(plan, plan.separable({.row = line(static_cast<int>(across.size()), 1),
                                        .column = line(1, static_cast<int>(down.size())),
                                        .border = Border::replicate,
                                        .any_order = any_order},
                                       plan.current(), std::move(weights),
                                       {.cls = PixelClass::single, .white = type.white}));
}

Plan mean_of_ring(const ImageType& type, const std::vector<float>& weights, float divisor) {
  RingPlan ring({.cls = PixelClass::single, .channels = type.channels, .white = type.white},
                weights.size());
  PlanBuilder& plan = ring.builder;
  const Result single{.cls = PixelClass::single, .white = type.white};
  const Result result_like{.cls = type.cls, .white = type.white};
  const bool is_logical = type.cls == PixelClass::logical;  // all but 0 would be 1
  const Result last = is_logical ? single : result_like;
  const auto result = [&](std::size_t i) {
    return divisor == 1 && i + 1 == weights.size() ? last : single;
  };
  ImageValue sum = plan.point(bodies::ring_first, {ring.images[0]}, {weights[0]}, result(0));
  for (std::size_t i = 1; i < weights.size(); ++i) {
    sum = plan.point(bodies::ring_next, {sum, ring.images[i]}, {weights[i]}, result(i));
  }
  if (divisor != 1) {
    Point quotient{.body = &bodies::ring_quotient, .expression = nullptr};
    quotient.in_double = type.cls != PixelClass::single;
    sum = plan.point(quotient, {sum}, {divisor}, last);
  }
  if (is_logical) sum = plan.point(bodies::ring_half, {sum}, {}, result_like);
  return finished(plan, sum);
}

std::vector<std::vector<PlaneRing::Held>> window_of_planes(std::int64_t planes, std::size_t side,
                                                           Outside outside) {
  std::vector<std::vector<PlaneRing::Held>> out;
  for (const std::vector<std::int64_t>& window :
       window_taps(planes, static_cast<int>(side), outside).sources) {
    auto& held = out.emplace_back();
    for (const std::int64_t plane : window) held.push_back({plane, 0});
  }
  return out;
}

// Row k of each of these images, one behind the other, then row k + 1: a window of the volume is
// one of that image, also at its mirrored ends.
ImageValue interleaved(PlanBuilder& plan, const std::vector<ImageValue>& images, Size size) {
  const auto count = std::ssize(images);
  const ImageType& type = images.front().type;
  const Result same{.cls = type.cls, .white = type.white, .channels = type.channels};
  std::vector<ImageValue> stretched;
  std::vector<std::string> variables;
  const std::string which =
      "row-" + std::to_string(count) + "*floor((row-1)/" + std::to_string(count) + ")";  // from 1
  std::string text;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    stretched.push_back(plan.whole(
        Resample{.method = Resample::Method::nearest}, {images[static_cast<std::size_t>(i)]},
        {static_cast<double>(size.width), static_cast<double>(count * size.height), 1.0,
         static_cast<double>(count)},
        same));
    variables.push_back(i == 0 ? "x" : "p" + std::to_string(i));
    text += i + 1 == count ? variables.back()
                           : which + "==" + std::to_string(i + 1) + "?" + variables.back() + ":";
  }
  variables.emplace_back("row");
  Point select{.body = nullptr, .expression = nullptr};
  select.expression = std::make_shared<const Expression>(
      parse_expression(text, {.known = variables, .others = true, .taps = false})
          .with_variables(variables));
  return plan.point(select, std::move(stretched), {}, same);
}

// What the element is at one plane's distance.
Mask mask_of(const std::vector<Element3::Run>& runs) {
  int left = 0, right = 0, up = 0, down = 0;
  for (const Element3::Run& run : runs) {
    left = std::min(left, run.begin);
    right = std::max(right, run.end - 1);
    up = std::min(up, run.row);
    down = std::max(down, run.row);
  }
  const int width = right - left + 1, height = down - up + 1;
  Mask out{width, height, -left, -up, {}};
  out.cells.resize(static_cast<std::size_t>(width * height));
  for (const Element3::Run& run : runs) {
    const auto row = out.cells.begin() + (run.row - up) * out.width;
    std::fill(row + (run.begin - left), row + (run.end - left), std::uint8_t{1});
  }
  return out;
}

}  // namespace

std::vector<PlaneRing> VolumeOperation::rings(const ImageType&, Size, std::int64_t) const {
  return {};
}

PlaneRing weighted_ring(const ImageType& type, const PerAxis<std::vector<float>>& weights,
                        float divisor, std::int64_t planes) {
  return {{sums_of_plane(type, weights[1], weights[0], false)},
          mean_of_ring(type, weights[2], divisor),
          window_of_planes(planes, weights[2].size(), Outside::replicate)};
}

PlaneRing integer_mean_ring(const ImageType& type, const PerAxis<int>& size, std::int64_t planes) {
  const auto ones = [](int count) {
    return std::vector<float>(static_cast<std::size_t>(count), 1);
  };
  const auto voxels = static_cast<float>(size[0] * size[1] * size[2]);
  return {{sums_of_plane(type, ones(size[1]), ones(size[0]), true)},
          mean_of_ring(type, ones(size[2]), voxels),
          window_of_planes(planes, static_cast<std::size_t>(size[2]), Outside::replicate)};
}

PlaneRing median_ring(const ImageType& type, const PerAxis<int>& window, Size size,
                      std::int64_t planes) {
  const int count = window[2], height = count * window[0], voxels = height * window[1];
  RingPlan ring(type, static_cast<std::size_t>(count));
  PlanBuilder& plan = ring.builder;
  ImageValue image = count == 1 ? ring.images[0] : interleaved(plan, ring.images, size);
  Mask mask = line(window[1], height);
  mask.origin_y = count * ((window[0] - 1) / 2) + (count - 1) / 2;
  image = plan.rank({.mask = std::move(mask),
                     .rank = (voxels - 1) / 2,
                     .average = voxels % 2 == 0,
                     .border = Border::symmetric},
                    image, {});
  if (count > 1) {
    image = plan.whole(
        Resample{.method = Resample::Method::nearest}, {image},
        {static_cast<double>(size.width), static_cast<double>(size.height), 1.0, 1.0 / count},
        {.cls = type.cls, .white = type.white, .channels = type.channels});
  }
  PlanBuilder own(type, {});
  return {{own.finish()},
          finished(plan, image),
          window_of_planes(planes, static_cast<std::size_t>(count), Outside::symmetric)};
}

PlaneRing extremum_ring(const ImageType& type, const Element3& element, bool largest,
                        std::int64_t planes) {
  std::map<int, std::vector<Element3::Run>> by_plane;
  for (Element3::Run run : element.runs) {
    const int plane = std::exchange(run.plane, 0);
    by_plane[plane].push_back(run);
  }
  PlaneRing out;
  std::vector<Mask> masks;
  std::vector<PlaneRing::Held> layers;  // planes from that of the result
  PlaneRing::Held own;
  for (const auto& [plane, runs] : by_plane) {
    const Mask mask = mask_of(runs);
    const auto image = static_cast<std::size_t>(std::ranges::find(masks, mask) - masks.begin());
    if (image == masks.size()) {
      masks.push_back(mask);
      PlanBuilder plan(type, {});
      out.of_plane.push_back(
          finished(plan, plan.extremum({.largest = largest, .mask = mask}, plan.current())));
    }
    layers.push_back({plane, image});
    if (plane == 0) own = layers.back();
  }
  for (std::int64_t z = 0; z < planes; ++z) {
    auto& held = out.sources.emplace_back();
    for (const auto& [plane, image] : layers) {
      // Planes outside the volume take no part: the own plane again changes nothing.
      const bool is_inside = z + plane >= 0 && z + plane < planes;
      held.push_back(is_inside ? PlaneRing::Held{z + plane, image} : PlaneRing::Held{z, own.image});
    }
  }
  RingPlan ring(type, layers.size());
  ImageValue result = ring.images[0];
  for (std::size_t i = 1; i < layers.size(); ++i) {
    result =
        ring.builder.point(largest ? bodies::ring_largest : bodies::ring_smallest,
                           {result, ring.images[i]}, {}, {.cls = type.cls, .white = type.white});
  }
  out.of_ring = finished(ring.builder, result);
  return out;
}

}  // namespace impipe
