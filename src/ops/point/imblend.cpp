// imblend and imoverlay: an image or a colour over the current image.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/plane_rows.hpp"
#include "ops/colour/channels.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

IMPIPE_POINT_BODY(blended, (x, over_it), (alpha), { return x + alpha * (over_it - x); })
IMPIPE_POINT_BODY(blended_by_mask, (x, over_it, mask), (alpha, white),
                  { return x + alpha * over(mask, white) * (over_it - x); })
// What is not seen of either image is left out, Inf and NaN, too.
IMPIPE_POINT_BODY(laid_over, (x, over_it, mask), (alpha, white), {
  const real w = alpha * over(mask, white);
  return w == real(0) ? x : w == real(1) ? over_it : x + w * (over_it - x);
})
IMPIPE_POINT_BODY(laid_over_alpha, (x, over_it, mask, below), (alpha, white, white_below), {
  const real w = alpha * over(mask, white);
  const real rest = (real(1) - w) * over(below, white_below);
  return w == real(0) ? x : rest == real(0) ? over_it : (w * over_it + rest * x) / (w + rest);
})
IMPIPE_POINT_BODY(covered, (below, mask), (alpha, white, white_below), {
  const real w = alpha * over(mask, white);
  return (w + (real(1) - w) * over(below, white_below)) * white_below;
})
IMPIPE_POINT_BODY(painted, (x, mask), (colour, alpha),
                  { return mask != real(0) ? x + alpha * (colour - x) : x; })
IMPIPE_POINT_BODY(black_or_white, (x), (), { return x != real(0) ? real(255) : real(0); })

namespace impipe::ops {
namespace {

// Where a smaller picture lies: so many pixels from the side or corner of the image that is named.
class Spot {
 public:
  explicit Spot(const Call& call) {
    const bool at = call.given("at");
    if (at == call.given("place")) call.fail("place", "at=X,Y says where, too; give one of them");
    if (call.given("mask")) {
      call.fail("mask", "a picture that is placed is weighed by its own alpha; leave this out");
    }
    const std::vector<double>& offset = call.numbers(at ? "at" : "place");
    if (!at) name_ = call.word("place");
    if (name_.empty()) {
      call.fail("place", "it takes a side or corner and two numbers, as in southeast,20,20");
    }
    if (!offset.empty()) x_ = static_cast<std::int64_t>(offset[0]);
    if (!offset.empty()) y_ = static_cast<std::int64_t>(offset[1]);
  }

  std::pair<std::int64_t, std::int64_t> of(Size picture, Size image) const {
    return {
        along(name_.ends_with("west"), name_.ends_with("east"), x_, image.width - picture.width),
        along(name_.starts_with("north"), name_.starts_with("south"), y_,
              image.height - picture.height)};
  }

 private:
  static std::int64_t along(bool first, bool last, std::int64_t offset, std::int64_t room) {
    if (first) return offset;
    return last ? room - offset : (room - (room < 0 ? 1 : 0)) / 2 + offset;
  }

  std::string name_ = "northwest";
  std::int64_t x_ = 0, y_ = 0;
};

// A plane of the image's size with the picture in it, or this value in its place, and 0 elsewhere.
void put(const Plane& picture, std::optional<double> value, const Spot& spot, Plane& to) {
  const Size size = to.size(), of = picture.size();
  const auto [x, y] = spot.of(of, size);
  const std::int64_t left = std::max<std::int64_t>(x, 0),
                     right = std::min(x + of.width, size.width);
  if (left >= right || y + of.height <= 0 || y >= size.height) {
    throw Error("imblend: the picture of " + to_string(of) + " pixels lies at " +
                    std::to_string(x) + "," + std::to_string(y) + ", outside the image of " +
                    to_string(size),
                ExitCode::file_failed);
  }
  with_pixel(to.cls(), [&]<class T>(T) {
    for (std::int64_t row = 0; row < size.height; ++row) {
      std::fill_n(to.row_as<T>(row), size.width, T{0});
      if (row < y || row >= y + of.height) continue;
      if (value) {
        std::fill_n(to.row_as<T>(row) + left, right - left, static_cast<T>(*value));
      } else {
        std::copy_n(picture.row_as<T>(row - y) + (left - x), right - left,
                    to.row_as<T>(row) + left);
      }
    }
  });
}

// `of` at its place in the image, or this value in its place.
ImageValue placed(const Call& call, PlanBuilder& plan, const ImageValue& of, Result result,
                  std::optional<double> value, std::string part) {
  const auto make = [spot = Spot(call), value](std::span<const Planes> images, Planes& to) {
    for (std::size_t c = 0; c < to.size(); ++c) put(images[1][c], value, spot, to[c]);
  };
  return on_host(call, plan, {plan.current().without_alpha(), of.without_alpha()}, result,
                 {.name = std::move(part),
                  .size = [](std::span<const Size> sizes) { return sizes.front(); },
                  .unread = 1,
                  .make = make});
}

// A smaller picture over the image, by its alpha.
ImageValue lower_placed(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::string& name = call.value("over").operands.front();
  point_operand(call, plan, name);
  const ImageValue picture = plan.operand_with_alpha(call, name);
  Result result = like(picture);
  result.channels = picture.type.channels;
  const ImageValue over_it = placed(call, plan, picture, result, {}, "picture");
  constexpr Result opaque{.cls = PixelClass::uint8, .white = 255, .channels = 1};
  ImageValue weight;
  if (picture.alpha < 0) {
    weight = placed(call, plan, picture, opaque, opaque.white, "weight");
  } else {
    const ImageValue alpha = plan.alpha_of(picture);
    result = like(alpha);
    result.channels = 1;
    weight = placed(call, plan, alpha, result, {}, "weight");
  }
  const double opacity = call.given("alpha") ? call.number("alpha") : 1;
  std::vector<Arg> arguments{opacity, weight.type.white};
  std::vector<ImageValue> images{image, over_it, weight};
  result = like(image);
  result.channels = max_channels(images);
  const bool in_double = is_integer(image.type.cls);
  if (image.alpha < 0) {
    return plan.point(Point{.body = &bodies::laid_over, .in_double = in_double}, images, arguments,
                      result);
  }
  const ImageValue alpha = plan.alpha_of(image);
  images.push_back(alpha);
  arguments.emplace_back(alpha.type.white);
  const ImageValue made = plan.point(
      Point{.body = &bodies::laid_over_alpha, .in_double = in_double}, images, arguments, result);
  return made.with_alpha(
      plan.point(Point{.body = &bodies::covered, .in_double = is_integer(alpha.type.cls)},
                 {alpha, weight}, arguments, like(alpha))
          .id);
}

ImageValue lower_imblend(const Call& call, PlanBuilder& plan) {
  if (call.given("at") || call.given("place")) return lower_placed(call, plan);
  const ImageValue image = plan.current();
  std::vector<ImageValue> images{image,
                                 point_operand(call, plan, call.value("over").operands.front())};
  std::vector<Arg> arguments{call.number("alpha")};
  const bool masked = call.has("mask");
  if (masked) {
    images.push_back(plan.operand(call, call.value("mask").operands.front()));
    need_white(call, images.back());
    arguments.emplace_back(images.back().type.white);
  }
  Result result = like(image);
  result.channels = max_channels(images);
  return plan.point(Point{.body = masked ? &bodies::blended_by_mask : &bodies::blended,
                          .in_double = is_integer(image.type.cls)},
                    images, arguments, result);
}

const Parameter opacity{.name = "alpha",
                        .help = "how much of what lies over the image is seen, from 0 to 1",
                        .numbers = {.max_count = 1, .low = 0, .high = 1},
                        .fallback = "0.5"};

const RegisterOperator imblend_operator{{
    .name = "imblend",
    .help = "another image over the current one",
    .parameters =
        {{.name = "over",
          .help = "the image (:name) that lies over the current one",
          .takes = Takes::operand,
          .required = true},
         opacity,
         {.name = "mask",
          .help = "an image (:name) that says where: its white is all of alpha, 0 nothing",
          .takes = Takes::operand},
         {.name = "at",
          .help = "X,Y, from 0: the column and row of a smaller picture's upper left",
          .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = -1e6, .high = 1e6}},
         {.name = "place",
          .help = "a side or corner that a smaller picture lies at, and how many pixels "
                  "X,Y from it: southeast,20,20",
          .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = -1e6, .high = 1e6},
          .words = {"northwest", "north", "northeast", "west", "center", "east", "southwest",
                    "south", "southeast"}}},
    .details =
        "x + w (over - x), w being alpha, or alpha times mask / white of the mask. Both images "
        "have\n"
        "one white; a gray one counts for each channel of the other, a gray mask for all. Integer\n"
        "classes in double, rounded half away from zero; single in float32. The class is the\n"
        "current image's.\n"
        "With `at` or `place` the picture, a watermark, has its own size, and its own alpha says\n"
        "where it is seen, times alpha, which is then 1 unless given. X and Y go inwards from the\n"
        "sides that `place` names, from the middle to the right and down. What lies outside the\n"
        "image is cut off; a picture wholly outside is an error. An image with an alpha a becomes\n"
        "(w over + (1 - w) a x) / b, with b = w + (1 - w) a as its alpha. It is put in its place "
        "on\n"
        "the host.",
    .example = "as a | imgaussfilt 8 | imblend :a alpha=0.3",
    .accuracy = "exact for integer classes; single 1e-7 of white",
    .not_finite = {NotFinite::Rule::propagated,
                   "an opaque picture at a place replaces what it covers"},
    .matlab = "imfuse(A,B,'blend') is alpha=0.5 (there scaled)",
    .lower = lower_imblend,
}};

ImageValue lower_imoverlay(const Call& call, PlanBuilder& plan) {
  ImageValue image = plan.current();
  need_white(call, image);
  if (image.type.channels != 1) need_colour(call, image);
  if (image.type.cls == PixelClass::logical) {
    image =
        plan.point(bodies::black_or_white, {image}, {}, {.cls = PixelClass::uint8, .white = 255});
  }
  const ImageValue mask = gray_operand(call, plan, call.value("mask").operands.front());
  Result result = like(image);
  result.channels = 1;
  std::vector<ImageValue> channels;
  for (int c = 0; c < 3; ++c) {
    const ImageValue channel = image.type.channels == 1 ? image : picked_channel(plan, image, c);
    channels.push_back(plan.point(
        Point{.body = &bodies::painted, .in_double = is_integer(image.type.cls)}, {channel, mask},
        {call.number("color", c) * image.type.white, call.number("alpha")}, result));
  }
  return joined_channels(plan, channels);
}

Parameter full_opacity() {
  Parameter out = opacity;
  out.fallback = "1";
  return out;
}

const RegisterOperator imoverlay_operator{{
    .name = "imoverlay",
    .help = "paint where a mask is set",
    .category = "colour",
    .parameters = {{.name = "mask",
                    .help = "the mask (:name): where it is not 0",
                    .takes = Takes::operand,
                    .required = true},
                   {.name = "color",
                    .help = "red,green,blue, from 0 to 1",
                    .numbers = {.max_count = 3, .min_count = 3, .low = 0, .high = 1},
                    .takes_row = true,
                    .fallback = "1,1,0"},
                   full_opacity()},
    .details =
        "x + alpha (color white - x) where the mask is not 0, else x; a gray image becomes a\n"
        "coloured one, a logical one a uint8 one. Integer classes in double, rounded half away\n"
        "from zero.",
    .example = "as m | imoverlay :m color=1,0,0",
    .accuracy = "exact for integer classes; single 1e-7 of white",
    .not_finite = {NotFinite::Rule::other,
                   "a mask is true where it is not 0, NaN too; colours by their formula, NaN is 0 "
                   "in integer classes"},
    .matlab = "imoverlay(A,BW,color) (same; there uint8)",
    .lower = lower_imoverlay,
}};

}  // namespace
}  // namespace impipe::ops
