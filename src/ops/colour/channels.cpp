// channel, cat, gray2rgb and imapplymatrix: channels taken apart, put together and mixed.
#include "ops/colour/channels.hpp"

#include "core/expression.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(channel_alone, (x), (), { return x; })
IMPIPE_POINT_BODY(gray_as_colour, (r, g, b), (), { return r; })
IMPIPE_POINT_BODY(weighted_channels, (r, g, b), (k1, k2, k3, add),
                  { return k1 * r + k2 * g + k3 * b + add; })

namespace impipe::ops {

ImageValue picked_channel(PlanBuilder& plan, const ImageValue& image, int channel) {
  const std::vector<std::string> name{channel < 3 ? std::string(1, "rgb"[channel])
                                                  : "channel." + std::to_string(channel)};
  const Expression expression = parse_expression(name[0], {.known = name}).with_variables(name);
  Result result = like(image);
  result.channels = 1;
  return plan.point(
      Point{.expression = std::make_shared<const Expression>(expression), .mixes_channels = true},
      {image}, {}, result);
}

ImageValue joined_channels(PlanBuilder& plan, const std::vector<ImageValue>& channels) {
  Result result = like(channels.front());
  result.channels = static_cast<int>(channels.size());
  return plan.point(Point{.body = &bodies::channel_alone, .mixes_channels = true}, channels, {},
                    result);
}

ImageValue weighted_channels(PlanBuilder& plan, const ImageValue& image, const Weights& weights,
                             Result result, bool in_double) {
  result.channels = 1;
  const auto& k = weights.k;
  return plan.point(
      Point{.body = &bodies::weighted_channels, .in_double = in_double, .mixes_channels = true},
      {image}, {k[0], k[1], k[2], weights.add}, result);
}

ImageValue mixed_channels(PlanBuilder& plan, const ImageValue& image,
                          const std::array<Weights, 3>& rows, Result result, bool in_double) {
  std::vector<ImageValue> channels;
  for (const Weights& row : rows) {
    channels.push_back(weighted_channels(plan, image, row, result, in_double));
  }
  return joined_channels(plan, channels);
}

namespace {

ImageValue lower_channel(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::string& word = call.word("k");
  if (word == "a") {
    if (image.alpha < 0) call.fail("k", "the image has no alpha");
    return plan.alpha_of(image);
  }
  const int channel = word.empty()  ? static_cast<int>(call.number("k")) - 1
                      : word == "r" ? 0
                      : word == "g" ? 1
                                    : 2;
  if (channel >= image.type.channels) {
    call.fail("k", "the image has " + std::to_string(image.type.channels) + " channel" +
                       (image.type.channels == 1 ? "" : "s"));
  }
  return image.type.channels == 1 ? image : picked_channel(plan, image, channel);
}

const RegisterOperator channel_operator{{
    .name = "channel",
    .help = "one channel of a colour image, as a gray image",
    .parameters =
        {{.name = "k",
          .help = "which: r, g, b, a (alpha), or its number from 1",
          .numbers = {.max_count = 1, .integer = true, .low = 1, .high = impipe::max_channels},
          .words = {"r", "g", "b", "a"},
          .required = true}},
    .details = "Class and white stay, and alpha beside a channel that is not alpha itself. Channel "
               "1 of a\n"
               "gray image is that image.",
    .example = "channel g",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "A(:,:,k) (same)",
    .lower = lower_channel,
}};

ImageValue lower_cat(const Call& call, PlanBuilder& plan) {
  std::vector<ImageValue> channels{plan.current()};
  for (const std::string& name : call.value("images").operands) {
    channels.push_back(plan.operand(call, name));
    const ImageType& type = channels.back().type;
    const ImageType& first = channels.front().type;
    if (type.cls != first.cls || type.white != first.white) {
      call.fail("images", "the current image is " + to_string(first) + ", :" + name + " is " +
                              to_string(type) + "; class and white must be equal");
    }
  }
  for (const ImageValue& one : channels) {
    if (one.type.channels == 1) continue;
    call.fail("every image becomes one channel, and " +
              (one.id == channels.front().id ? std::string("the current one")
                                             : std::string("one of those named")) +
              " has " + std::to_string(one.type.channels) + "; `channel r` takes one of them");
  }
  if (channels.size() > static_cast<std::size_t>(impipe::max_channels)) {
    call.fail("images", "an image has " + std::to_string(impipe::max_channels) +
                            " channels at most, not " + std::to_string(channels.size()));
  }
  return joined_channels(plan, channels);
}

const RegisterOperator cat_operator{{
    .name = "cat",
    .help = "gray images as the channels of one image, three of them as a colour image",
    .parameters = {{.name = "images",
                    .help = "the further channels: gray images of equal size, class and white",
                    .takes = Takes::operands,
                    .required = true}},
    .details =
        "The current image becomes the first channel, those named the further ones; of three they\n"
        "are red, green and blue. TIFF and NPY hold any number of channels, other formats 1 and 3.",
    .example = "channel r | as r | imgaussfilt 3 | cat :r :r",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "cat(3,A,B,...) (same)",
    .lower = lower_cat,
}};

const RegisterOperator gray2rgb_operator{{
    .name = "gray2rgb",
    .help = "a gray image as a colour image; colour passes through",
    .details = "The channel three times.",
    .example = "rgb2gray | gray2rgb",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "cat(3,A,A,A), repmat(A,[1 1 3]) (same)",
    .lower =
        [](const Call&, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          if (image.type.channels > 1) return image;
          Result result = like(image);
          result.channels = 3;
          return plan.point(Point{.body = &bodies::gray_as_colour, .mixes_channels = true}, {image},
                            {}, result);
        },
}};

ImageValue lower_imapplymatrix(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const Matrix matrix = kernel_argument(call, "matrix");
  if (matrix.columns != 3 || matrix.rows > impipe::max_channels) {
    call.fail("matrix", "a matrix of 3 columns and at most " +
                            std::to_string(impipe::max_channels) + " rows is needed, not " +
                            std::to_string(matrix.rows) + "x" + std::to_string(matrix.columns));
  }
  const std::vector<double> add =
      call.has("add") ? call.numbers("add") : std::vector<double>(1, 0.0);
  if (add.size() != 1 && add.size() != static_cast<std::size_t>(matrix.rows)) {
    call.fail("add", "there are " + std::to_string(add.size()) + " numbers for " +
                         std::to_string(matrix.rows) + " rows");
  }
  std::vector<ImageValue> channels;
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row) {
    const double* k = matrix.values.data() + 3 * row;
    channels.push_back(weighted_channels(
        plan, image, {{k[0], k[1], k[2]}, add[add.size() == 1 ? 0 : row]}, like(image), true));
  }
  return matrix.rows == 1 ? channels.front() : joined_channels(plan, channels);
}

const RegisterOperator imapplymatrix_operator{{
    .name = "imapplymatrix",
    .help = "each pixel's r, g, b times a matrix",
    .parameters = {{.name = "matrix",
                    .help = "3 columns for r, g, b; a row for each channel of the result: 3 make a "
                            "colour image, 1 a gray one",
                    .takes = Takes::kernel,
                    .required = true},
                   {.name = "add",
                    .help = "added to each row's sum, in the image's own units; one number: to all",
                    .numbers = {.max_count = impipe::max_channels}}},
    .colour = true,
    .details =
        "M (r, g, b)' + add in the image's own units, in double, then rounded half away from zero\n"
        "and saturated once. The class stays. TIFF and NPY hold any number of channels, other\n"
        "formats 1 and 3.",
    .example = "imapplymatrix [0.4 0.5 0.1; 0.3 0.6 0.1; 0.2 0.5 0.3]",
    .accuracy = "exact",
    .not_finite = nan_mixed,
    .matlab = "imapplymatrix(M,A,C) (same)",
    .lower = lower_imapplymatrix,
}};

}  // namespace
}  // namespace impipe::ops
