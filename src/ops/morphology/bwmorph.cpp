// bwmorph: operations on 3x3 windows of a logical image, once, several times, or until nothing
// changes.
#include <cmath>
#include <functional>

#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

IMPIPE_POINT_BODY(set_pixel, (x), (), { return x != real(0) ? real(1) : real(0); })
IMPIPE_POINT_BODY(number_everywhere, (x), (number), { return number; })
IMPIPE_POINT_BODY(first_without_second, (a, b), (),
                  { return a != real(0) && b == real(0) ? real(1) : real(0); })
IMPIPE_POINT_BODY(set_in_both, (a, b), (),
                  { return a != real(0) && b != real(0) ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// A window of 3x3 pixels: bit 3 (dy + 1) + dx + 1 is pixel (dx, dy).
struct Window3 {
  int bits = 0;

  bool at(int dx, int dy) const { return (bits >> (3 * dy + dx + 4) & 1) != 0; }
  bool centre() const { return at(0, 0); }
  // x1 to x8 of Guo and Hall: counter-clockwise from the right one.
  bool x(int k) const {
    constexpr int dx[] = {1, 1, 0, -1, -1, -1, 0, 1}, dy[] = {0, -1, -1, -1, 0, 1, 1, 1};
    return at(dx[(k - 1) % 8], dy[(k - 1) % 8]);
  }
  int around() const {
    int count = 0;
    for (int k = 1; k <= 8; ++k) count += x(k) ? 1 : 0;
    return count;
  }
  // Steps from 0 to 1 around the circle of neighbours.
  int steps() const {
    int count = 0;
    for (int k = 1; k <= 8; ++k) count += !x(k) && x(k + 1) ? 1 : 0;
    return count;
  }
  int beside() const { return x(1) + x(3) + x(5) + x(7); }
};

bool diagonal(const Window3& w) {
  bool out = w.centre();
  for (int k = 1; k <= 7; k += 2) out = out || (w.x(k) && w.x(k + 2) && !w.x(k + 1));
  return out;
}

// Groups of neighbours that touch each other by sides or corners, without the centre.
int groups_around(const Window3& w) {
  int groups = 0;
  // A side's pixel joins the corners next to it and the sides next to those.
  bool joined[8] = {};
  for (int k = 0; k < 8; ++k) {
    if (!w.x(k + 1) || joined[k]) continue;
    ++groups;
    std::function<void(int)> join = [&](int i) {
      joined[i] = true;
      for (const int step : {-2, -1, 1, 2}) {
        const int j = (i + step + 8) % 8;
        const bool touches = std::abs(step) == 1 || (i % 2 == 0 && j % 2 == 0);
        if (touches && w.x(j + 1) && !joined[j]) join(j);
      }
    };
    join(k);
  }
  return groups;
}

bool bridge(const Window3& w) {
  if (w.centre()) return true;
  for (int k = 2; k <= 8; k += 2) {  // the two corners of a side
    const int other = k == 8 ? 2 : k + 2;
    if (w.around() == 2 && w.x(k) && w.x(other)) return false;
  }
  return groups_around(w) >= 2;
}

bool hbreak(const Window3& w) {
  return w.centre() && w.bits != 0b111010111 && w.bits != 0b101111101;
}

// Whether the pixel's neighbours hold together without it as they do with it.
bool simple(const Window3& w) {
  int crossings = 0;
  for (int i = 1; i <= 4; ++i) crossings += !w.x(2 * i - 1) && (w.x(2 * i) || w.x(2 * i + 1));
  return crossings == 1;
}

bool thinned(const Window3& w, bool first) {
  int n1 = 0, n2 = 0;
  for (int i = 1; i <= 4; ++i) {
    n1 += w.x(2 * i - 1) || w.x(2 * i);
    n2 += w.x(2 * i) || w.x(2 * i + 1);
  }
  const int n = std::min(n1, n2);
  const bool kept =
      first ? (w.x(2) || w.x(3) || !w.x(8)) && w.x(1) : (w.x(6) || w.x(7) || !w.x(4)) && w.x(5);
  return w.centre() && !(simple(w) && n >= 2 && n <= 3 && !kept);
}

Morph::Table rule_table(const std::function<bool(const Window3&)>& rule) {
  Morph::Table table;
  for (int bits = 0; bits < 512; ++bits) table[static_cast<std::size_t>(bits)] = rule({bits});
  return table;
}

bool is_border(const Window3& w) { return w.centre() && w.beside() < 4; }
bool is_end(const Window3& w) { return w.centre() && w.around() == 1; }
// The rims of solid shapes and pixels that stand alone are ends, too.
bool is_endpoint(const Window3& w) { return w.centre() && w.steps() <= 1 && w.around() < 8; }
bool is_branchpoint(const Window3& w) { return w.centre() && w.steps() >= 3; }

// The operations that are tables.
Morph morph_named(std::string_view name) {
  const auto one = [](const auto& rule) { return Morph{.tables = {rule_table(rule)}}; };
  if (name == "clean") return one([](const Window3& w) { return w.centre() && w.around() > 0; });
  if (name == "fill") return one([](const Window3& w) { return w.centre() || w.beside() == 4; });
  if (name == "remove") return one(is_border);
  if (name == "majority") {
    return one([](const Window3& w) { return w.around() + (w.centre() ? 1 : 0) >= 5; });
  }
  if (name == "diag") return one(diagonal);
  if (name == "bridge") return one(bridge);
  if (name == "hbreak") return one(hbreak);
  if (name == "endpoints") return one(is_endpoint);
  if (name == "branchpoints") return one(is_branchpoint);
  if (name == "thin") {
    return {.tables = {rule_table([](const Window3& w) { return thinned(w, true); }),
                       rule_table([](const Window3& w) { return thinned(w, false); })}};
  }
  if (name == "spur") {
    return {.tables = {rule_table(is_end),
                       rule_table([](const Window3& w) { return w.centre() && !is_end(w); })},
            .in_fields = true,
            .outside = true};
  }
  const bool ends = name == "skel";
  return {.tables = {rule_table(is_border), rule_table([ends](const Window3& w) {
                       return w.centre() && !(simple(w) && !(ends && is_end(w)));
                     })},
          .in_fields = true};
}

// Dilations or erosions by 3x3 squares, so many at once as one larger square.
ImageValue grown(PlanBuilder& plan, ImageValue image, bool largest, int times) {
  constexpr int most = 250;
  for (; times > 0; times -= most) {
    const int side = 2 * std::min(times, most) + 1;
    image = plan.extremum({.largest = largest, .mask = rectangle_element(side, side)}, image);
  }
  return image;
}

// By squares of any size: the image's largest or smallest value everywhere.
ImageValue grown_fully(PlanBuilder& plan, const ImageValue& image, bool largest) {
  const MeasureValue end =
      plan.reduce({.kind = largest ? ReduceKind::max : ReduceKind::min}, image, {});
  return plan.point(bodies::number_everywhere, {image}, {Arg::measured(end, 0)}, logical_result);
}

ImageValue closed(PlanBuilder& plan, const ImageValue& image) {
  return grown(plan, grown(plan, image, true, 1), false, 1);
}
ImageValue opened(PlanBuilder& plan, const ImageValue& image) {
  return grown(plan, grown(plan, image, false, 1), true, 1);
}

// The operations that are dilations and erosions; n: 1 or more.
ImageValue by_squares(const Call& call, PlanBuilder& plan, ImageValue image, double n) {
  const std::string& name = call.word("operation");
  // Again they change nothing.
  if (name == "open") return opened(plan, image);
  if (name == "close") return closed(plan, image);
  if (name == "tophat") {
    return plan.point(bodies::first_without_second, {image, opened(plan, image)}, {},
                      logical_result);
  }
  if (name == "bothat") {
    constexpr double most = 100;
    if (n > most) {
      call.fail("n", "bothat may go to and fro for ever; n is at most " +
                         std::to_string(static_cast<int>(most)));
    }
    for (; n > 0; --n) {
      image = plan.point(bodies::first_without_second, {closed(plan, image), image}, {},
                         logical_result);
    }
    return image;
  }
  constexpr double most = 4000;
  if (std::isinf(n)) return grown_fully(plan, image, name == "dilate");
  if (n > most) {
    call.fail("n", "of dilate and erode n is at most " + std::to_string(static_cast<int>(most)) +
                       ", or inf");
  }
  return grown(plan, image, name == "dilate", static_cast<int>(n));
}

// Without side branches: pieces between branch points that have an end, touch a branch point and
// are shorter than `least`.
ImageValue pruned(PlanBuilder& plan, const ImageValue& skeleton, double least) {
  const auto both = [&](const ImageValue& a, const ImageValue& b) {
    return plan.point(bodies::set_in_both, {a, b}, {}, logical_result);
  };
  const auto without = [&](const ImageValue& a, const ImageValue& b) {
    return plan.point(bodies::first_without_second, {a, b}, {}, logical_result);
  };
  const auto by_table = [&](bool (*rule)(const Window3&)) {
    return plan.whole(Morph{.tables = {rule_table(rule)}}, {skeleton}, {1}, logical_result);
  };
  const ImageValue branches = by_table(is_branchpoint);
  const ImageValue pieces = without(skeleton, branches);
  const auto pieces_with = [&](const ImageValue& marker) {
    return plan.whole(Label{Label::Kind::reconstruct, 8}, {both(marker, pieces), pieces}, {},
                      logical_result);
  };
  const ImageValue large =
      plan.whole(Label{Label::Kind::large, 8}, {pieces}, {least}, logical_result);
  const ImageValue twigs =
      both(pieces_with(by_table(is_end)), pieces_with(grown(plan, branches, true, 1)));
  return without(skeleton, without(twigs, large));
}

ImageValue lower_bwskel(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  ImageValue image = plan.current();
  if (image.type.cls != PixelClass::logical) {
    image = plan.point(bodies::set_pixel, {image}, {}, logical_result);
  }
  const ImageValue skeleton = plan.whole(morph_named("thin"), {image}, {unlimited}, logical_result);
  const double least = call.number("minbranch");
  return least > 1 ? pruned(plan, skeleton, least) : skeleton;
}

ImageValue lower_bwmorph(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  ImageValue image = plan.current();
  if (image.type.cls != PixelClass::logical) {
    image = plan.point(bodies::set_pixel, {image}, {}, logical_result);
  }
  const double n = call.number("n");
  if (n == 0) return image;
  const std::string& name = call.word("operation");
  for (const std::string_view one : {"dilate", "erode", "open", "close", "tophat", "bothat"}) {
    if (name == one) return by_squares(call, plan, image, n);
  }
  return plan.whole(morph_named(name), {image}, {n}, logical_result);
}

const RegisterOperator bwmorph_operator{{
    .name = "bwmorph",
    .help = "operations on the 3x3 windows of a logical image: thin, skel, shrink, spur and others",
    .parameters =
        {{.name = "operation",
          .help = "what is done",
          .words = {"thin", "skel", "shrink", "spur", "clean", "fill", "remove", "majority", "diag",
                    "bridge", "hbreak", "dilate", "erode", "open", "close", "tophat", "bothat",
                    "endpoints", "branchpoints"},
          .required = true},
         {.name = "n",
          .letter = 'n',
          .help = "how often; inf: until nothing changes",
          .numbers = {.max_count = 1, .integer = true, .or_inf = true, .low = 0, .high = 1e6},
          .fallback = "1"}},
    .one_channel = true,
    .details =
        "Of a pixel c, its 8 neighbours and the 4 beside it; what is outside the image is 0.\n"
        "clean: c unless it stands alone. fill: c, or all 4 beside are 1. remove: c unless all 4\n"
        "are. majority: 5 of the 9. diag: c, or two beside that meet at a corner that is 0.\n"
        "bridge: c, or the neighbours are in two groups or more (not just the corners of one\n"
        "side). hbreak: c, but not the middle of an H. dilate, erode, open, close, tophat,\n"
        "bothat: with square,3, which ignores what is outside. thin: Guo and Hall's two half\n"
        "steps. skel, shrink: pixels of the border that nothing depends on are taken away in four\n"
        "fields (even and odd columns of even rows, then of odd ones); skel keeps ends of lines,\n"
        "both keep the number of objects and of holes. spur: ends of lines in the same fields;\n"
        "outside counts as 1. With inf majority stops where two images take turns. Around the\n"
        "circle of c's neighbours there are t steps from 0 to 1. endpoints: c with t of at most 1\n"
        "and a neighbour that is 0, so pixels that stand alone and the rims of solid shapes, too.\n"
        "branchpoints: c with t of 3 or more.",
    .example = "imbinarize | bwmorph thin inf",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwmorph(BW,operation,n) (skel, shrink and spur take other pixels of the same "
              "objects away; erode there goes in from the image's border; branchpoints there are "
              "by a table of its own)",
    .lower = lower_bwmorph,
}};

const RegisterOperator bwskel_operator{{
    .name = "bwskel",
    .help = "the skeleton of a logical image: lines one pixel wide, perhaps without twigs",
    .parameters = {{.name = "minbranch",
                    .letter = 'n',
                    .help = "pixels that a side branch has at least; shorter ones are left out",
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1e9},
                    .fallback = "0"}},
    .one_channel = true,
    .details =
        "`bwmorph thin inf`; with minbranch= without side branches: the skeleton without its\n"
        "branch points (`bwmorph branchpoints`) is in 8-connected pieces; those of fewer than\n"
        "minbranch pixels that have a pixel with one neighbour in the skeleton and touch a branch\n"
        "point are removed, all at once.",
    .example = "imbinarize | bwskel minbranch=10",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwskel(BW,'MinBranchLength',n) (there Lee's medial thinning: other pixels)",
    .lower = lower_bwskel,
}};

}  // namespace
}  // namespace impipe::ops
