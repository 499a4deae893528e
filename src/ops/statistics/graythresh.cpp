// graythresh: Otsu's threshold.
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"
#include "ops/statistics/otsu.hpp"

// in: a histogram h with one bin a code. The between-class variance of a cut before bin t is
// s(t) = (b/N) (w/N) (mb - mw)^2. args: those of `otsu`. out: where there are values of a
// threshold, it, as there; else the number of groups, and of each the largest s of its bins, at how
// many t it is, and the sum of those t - 1; -1, 0 and 0 where s is nowhere defined.
IMPIPE_GROUP_BODY(otsu_parts, {
  const int bins = (int)count[0];
  const int share = (bins + groups - 1) / groups;
  const int start = group * share < bins ? group * share : bins;
  const int stop = start + share < bins ? start + share : bins;
  double total = 0;
  double moment = 0;
  double below = 0;
  double moment_below = 0;
  if (groups > 1) {
    // All of the histogram: work-items side by side read side by side. `at` is i.
    double own_below = 0;
    double own_moment_below = 0;
    double at = item;
    int i = item;
    for (; i < start; i += items) {
      own_below += in[i];
      own_moment_below += at * in[i];
      at += items;
    }
    double own = own_below;
    double own_moment = own_moment_below;
    for (; i < bins; i += items) {
      own += in[i];
      own_moment += at * in[i];
      at += items;
    }
    sum_before(own, &total);
    sum_before(own_moment, &moment);
    sum_before(own_below, &below);
    sum_before(own_moment_below, &moment_below);
  }
  const int part = (share + items - 1) / items;
  const int first = start + item * part;
  const int end = first + part < stop ? first + part : stop;
  double part_sum = 0;
  double part_moment = 0;
  for (int i = first; i < end; ++i) {
    part_sum += in[i];
    part_moment += i * in[i];
  }
  double of_group;
  double moment_of_group;
  below += sum_before(part_sum, &of_group);
  moment_below += sum_before(part_moment, &moment_of_group);
  if (groups == 1) {
    total = of_group;
    moment = moment_of_group;
  }
  double best = -1;
  double places = 0;
  double sum_of_places = 0;
  for (int t = first + 1; t <= end && t < bins; ++t) {
    below += in[t - 1];
    moment_below += (t - 1) * in[t - 1];
    const double above = total - below;
    if (below > 0 && above > 0) {
      const double difference = moment_below / below - (moment - moment_below) / above;
      const double s = (below / total) * (above / total) * (difference * difference);
      if (s > best) {
        best = s;
        places = 0;
        sum_of_places = 0;
      }
      if (s == best) {
        places += 1;
        sum_of_places += t - 1;
      }
    }
  }
  const double best_of_all = largest_of_group(best);
  const int as_good = best_of_all >= 0 && best == best_of_all;
  double all_places;
  double sum_of_all;
  sum_before(as_good ? places : 0.0, &all_places);
  sum_before(as_good ? sum_of_places : 0.0, &sum_of_all);
  if (item == 0 && args[2] > 0) {
    const double threshold = all_places > 0 ? sum_of_all / all_places : 0.0;
    const double level = threshold / args[0];
    out[0] = level;
    if (args[2] > 1) out[1] = args[1] > 0 ? level * args[1] : threshold;
  }
  if (item == 0 && !(args[2] > 0)) {
    if (group == 0) out[0] = groups;
    out[1 + 3 * group] = best_of_all;
    out[2 + 3 * group] = all_places;
    out[3 + 3 * group] = sum_of_all;
  }
})

// in: the values of `otsu_parts`. The result T is the mean of all t - 1 where s is largest, 0 when
// s is nowhere defined. args: the code of white; 0, or the image's white when the codes are not its
// own values; values of the result. out: T on the unit scale; and where there are two, in the
// image's own units.
IMPIPE_GROUP_BODY(otsu, {
  const int parts = (int)in[0];
  double best = -1;
  for (int i = item; i < parts; i += items) best = max(best, in[1 + 3 * i]);
  const double best_of_all = largest_of_group(best);
  double places = 0;
  double sum_of_places = 0;
  for (int i = item; i < parts; i += items) {
    places += in[1 + 3 * i] == best_of_all ? in[2 + 3 * i] : 0.0;
    sum_of_places += in[1 + 3 * i] == best_of_all ? in[3 + 3 * i] : 0.0;
  }
  double all_places;
  double sum_of_all;
  sum_before(places, &all_places);
  sum_before(sum_of_places, &sum_of_all);
  if (item == 0) {
    const double threshold = all_places > 0 ? sum_of_all / all_places : 0.0;
    const double level = threshold / args[0];
    out[0] = level;
    if (args[2] > 1) out[1] = args[1] > 0 ? level * args[1] : threshold;
  }
})

IMPIPE_POINT_BODY(otsu_code, (x), (scale), { return x * scale; })

namespace impipe::ops {

namespace {

// values: 1, or 2 with the threshold in the image's own units.
MeasureValue threshold_of(PlanBuilder& plan, const ImageValue& image, int values) {
  const bool is_single = image.type.cls == PixelClass::single;
  ImageValue codes = image;
  double largest = class_max(image.type.cls);
  if (is_single) {
    largest = 255;
    codes = plan.point(bodies::otsu_code, {image}, {largest / image.type.white},
                       {.cls = PixelClass::uint8, .white = largest});
  }
  const MeasureValue h =
      plan.histogram({.rule = BinRule::codes, .bins = static_cast<int>(largest) + 1}, codes);
  const double white = is_single ? largest : image.type.white;
  const double own_white = is_single ? image.type.white : 0.0;
  const double count = values;
  if (largest <= 255) {
    return plan.scalar(bodies::otsu_parts, {h}, {white, own_white, count}, values, 1);
  }
  // Of many codes several groups each take a part.
  constexpr int groups = 64;
  const MeasureValue parts =
      plan.scalar(bodies::otsu_parts, {h}, {white, own_white, 0.0}, 1 + 3 * groups, 1, groups);
  return plan.scalar(bodies::otsu, {parts}, {white, own_white, count}, values, 1);
}

ImageValue lower_otsu(const Call& call, PlanBuilder& plan, std::string_view column) {
  const ImageValue image = measured_image(call, plan);
  need_white(call, image);
  plan.report(column, threshold_of(plan, image, 1));
  return plan.current();
}

const RegisterOperator graythresh_operator{{
    .name = "graythresh",
    .help = "Otsu's threshold, on the unit scale",
    .parameters = {measured_image_parameter(), across_parameter()},
    .classes = no_logical,
    .one_channel = true,
    .details =
        "The threshold that maximises the variance between the two classes, from a histogram\n"
        "with one bin a code (256 for uint8, 65536 for uint16; single goes through im2uint8).\n"
        "Where several thresholds are equally good, their mean. A constant image: 0.",
    .example = "graythresh",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::zero, "Inf as white"},
    .matlab = "graythresh(A) (always 256 bins there: uint16 differs by less than 1/255)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return lower_otsu(call, plan, "graythresh"); },
}};

const RegisterOperator otsuthresh_operator{{
    .name = "otsuthresh",
    .help = "Otsu's threshold of the current image, on the unit scale: graythresh by another name",
    .parameters = {measured_image_parameter(), across_parameter()},
    .classes = no_logical,
    .one_channel = true,
    .details = "graythresh.",
    .example = "otsuthresh",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::zero, "Inf as white"},
    .matlab = "otsuthresh(imhist(A)) (there it takes the counts)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return lower_otsu(call, plan, "otsuthresh"); },
}};

}  // namespace

MeasureValue otsu_threshold(PlanBuilder& plan, const ImageValue& image) {
  return threshold_of(plan, image, 2);
}

}  // namespace impipe::ops
