// Conversions between ICC profiles by Little CMS, as curves, matrices and tables.
#include <lcms2.h>
#include <lcms2_plugin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/module/library_codec.hpp"

namespace impipe::io {
namespace {

// Errors of Little CMS, of one conversion.
class Context {
 public:
  Context() : context_(cmsCreateContext(nullptr, this)) {
    if (context_ == nullptr) throw std::bad_alloc();
    cmsSetLogErrorHandlerTHR(context_, [](cmsContext of, cmsUInt32Number, const char* text) {
      static_cast<Context*>(cmsGetContextUserData(of))->reason_ = text;
    });
  }
  ~Context() { cmsDeleteContext(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  cmsContext get() const { return context_; }
  [[noreturn]] void fail_with(std::string what) const {
    io::fail(what, reason_.empty() ? "" : " (" + reason_ + ")");
  }

 private:
  cmsContext context_;
  std::string reason_;
};

struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
using Profile = std::unique_ptr<void, CloseProfile>;
using Transform = Made<void, cmsDeleteTransform>;
using Curve = Made<cmsToneCurve, cmsFreeToneCurve>;

struct NamedSpace {
  std::string_view name;
  const char* description;
  DescribedColours colours;
};
constexpr NamedSpace named_spaces[] = {
    {"srgb", "sRGB", {}},
    {"display-p3", "Display P3", {.primaries = {{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}}}},
    {"adobe-rgb",
     "Adobe RGB (1998)",
     {.primaries = {{{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}}}, .gamma = 563.0 / 256}},
};

// Four colours, and how the last three differ from the first: a column each.
using Points = std::array<std::array<float, 3>, 4>;
using Three = std::array<std::array<double, 3>, 3>;

Three differences(const Points& points) {
  Three out;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      out[r][c] = static_cast<double>(points[c + 1][r]) - static_cast<double>(points[0][r]);
    }
  }
  return out;
}

// By its cofactors; not finite where there is none.
Three inverse_of(const Three& m) {
  Three out;
  double determinant = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      out[c][r] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
    }
  }
  for (std::size_t c = 0; c < 3; ++c) determinant += m[0][c] * out[c][0];
  for (auto& row : out) {
    for (double& value : row) value /= determinant;
  }
  return out;
}

// The table of colours in a source profile, by its own nodes.
struct Grid {
  int side = 0;
  bool is_exact = false;                     // nothing but a line follows the table
  std::vector<Curve> curves;                 // before the table; none: straight
  std::array<std::vector<float>, 4> inks{};  // values of the device at the nodes of each channel
};

class Maker {
 public:
  Maker(const ColourRequest& request, ForEach for_each) : request_(request), for_each_(for_each) {}

  ColourMap make() {
    open();
    ColourMap out;
    out.channels = cmsGetColorSpace(state_->to.get()) == cmsSigGrayData ? 1 : 3;
    out.profile = request_.to.empty()
                      ? std::vector(request_.profile.begin(), request_.profile.end())
                      : saved(state_->to.get());
    const bool to_matrix = has_matrix(state_->to.get(), false);
    if (request_.channels == 1) {
      state_->transform = transform(state_->from.get(), state_->to.get());
      out.in = [state = state_, channels = out.channels](std::span<const double> values) {
        return gray_curves(*state, values, channels);
      };
    } else if (to_matrix && has_matrix(state_->from.get(), true)) {
      make_matrix(out);
    } else {
      take_grid(to_matrix);
      if (state_->grid.is_exact && make_light(out)) return out;
      take_grid(false);
      state_->transform = transform(state_->from.get(), state_->to.get());
      make_cube(out, false);
    }
    return out;
  }

 private:
  // The light of value 0 by each curve of a profile.
  using Black = std::array<double, 3>;

  // What the tables are made of, in the order in which it is made.
  struct State {
    Context context;
    Profile from, to;
    Transform transform;
    std::array<Curve, 3> in, out;
    Black from_black{}, to_black{};
    Grid grid;
  };

  Profile opened(std::span<const std::byte> bytes, const std::string& whose) const {
    Profile out(cmsOpenProfileFromMemTHR(state_->context.get(), bytes.data(),
                                         static_cast<cmsUInt32Number>(bytes.size())));
    if (!out) state_->context.fail_with(whose + " is damaged");
    const cmsProfileClassSignature kind = cmsGetDeviceClass(out.get());
    if (kind != cmsSigInputClass && kind != cmsSigDisplayClass && kind != cmsSigOutputClass &&
        kind != cmsSigColorSpaceClass) {
      fail(whose, " is of no device and no colour space");
    }
    return out;
  }

  Profile described(const DescribedColours& colours, bool gray, const char* name) const {
    const cmsContext context = state_->context.get();
    const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    const Curve curve(colours.gamma == 0 ? cmsBuildParametricToneCurve(context, 4, srgb)
                                         : cmsBuildGamma(context, colours.gamma));
    cmsToneCurve* curves[] = {curve.get(), curve.get(), curve.get()};
    const auto point = [](const DescribedColours::Chromaticity& at) {
      return cmsCIExyY{at.x, at.y, 1};
    };
    const cmsCIExyY white = point(colours.white);
    const auto& p = colours.primaries;
    const cmsCIExyYTRIPLE primaries{point(p[0]), point(p[1]), point(p[2])};
    const Profile out(gray ? cmsCreateGrayProfileTHR(context, cmsD50_xyY(), curve.get())
                           : cmsCreateRGBProfileTHR(context, &white, &primaries, curves));
    const Made<cmsMLU, cmsMLUfree> text(cmsMLUalloc(context, 1));
    if (!out || !text) fail("the primary colours in the file are those of no device");
    cmsMLUsetASCII(text.get(), "en", "US", name);
    cmsWriteTag(out.get(), cmsSigProfileDescriptionTag, text.get());
    return opened(saved(out.get()), "the profile");  // with the numbers that a file holds
  }
  Profile named(const NamedSpace& space, bool gray) const {
    const char* name = !gray                      ? space.description
                       : space.colours.gamma == 0 ? "Gray with sRGB's curve"
                                                  : "Gray with gamma 2.2";
    return described(space.colours, gray, name);
  }

  void open() {
    const bool gray = request_.channels == 1;
    state_->from = request_.described      ? described(*request_.described, gray, "described")
                   : request_.from.empty() ? named(named_spaces[0], gray)
                                           : opened(request_.from, "its ICC profile");
    if (!request_.to.empty()) {
      state_->to = named(*std::ranges::find(named_spaces, request_.to, &NamedSpace::name), gray);
      return;
    }
    state_->to = opened(request_.profile, "the ICC profile");
    const cmsColorSpaceSignature space = cmsGetColorSpace(state_->to.get());
    if (space != cmsSigRgbData && space != cmsSigGrayData) {
      fail("the ICC profile is of neither RGB nor gray, which results are");
    }
  }

  static cmsUInt32Number float_format(cmsHPROFILE profile) {
    const cmsColorSpaceSignature space = cmsGetColorSpace(profile);
    return space == cmsSigGrayData   ? TYPE_GRAY_FLT
           : space == cmsSigCmykData ? TYPE_CMYK_FLT
           : space == cmsSigLabData  ? TYPE_Lab_FLT
                                     : TYPE_RGB_FLT;
  }

  Transform transform(cmsHPROFILE from, cmsHPROFILE to) const {
    return transform(from, to, request_.intent, request_.black_point);
  }
  Transform transform(cmsHPROFILE from, cmsHPROFILE to, RenderingIntent intent,
                      bool black_point) const {
    const cmsUInt32Number black = black_point ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0;
    Transform out(cmsCreateTransformTHR(state_->context.get(), from, float_format(from), to,
                                        float_format(to), static_cast<cmsUInt32Number>(intent),
                                        cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE | black));
    if (!out) state_->context.fail_with("no conversion can be made of the ICC profiles");
    return out;
  }

  // Three curves and a matrix, and no table of colours that would be taken instead.
  static bool has_matrix(cmsHPROFILE profile, bool input) {
    constexpr cmsTagSignature inputs[] = {cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigAToB2Tag,
                                          cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag,
                                          cmsSigDToB3Tag},
                              outputs[] = {cmsSigBToA0Tag, cmsSigBToA1Tag, cmsSigBToA2Tag,
                                           cmsSigBToD0Tag, cmsSigBToD1Tag, cmsSigBToD2Tag,
                                           cmsSigBToD3Tag};
    return cmsGetColorSpace(profile) == cmsSigRgbData && cmsIsMatrixShaper(profile) != 0 &&
           std::ranges::none_of(input ? inputs : outputs,
                                [&](cmsTagSignature tag) { return cmsIsTag(profile, tag) != 0; });
  }

  static constexpr cmsTagSignature curve_tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag,
                                                   cmsSigBlueTRCTag};

  // The same profile with straight curves between the same ends, by which black points are
  // compensated: a conversion between two of them is affine.
  Profile linear(cmsHPROFILE profile, Black& black) const {
    const cmsContext context = state_->context.get();
    Profile out(cmsCreateProfilePlaceholder(context));
    if (!out) throw std::bad_alloc();
    cmsSetProfileVersion(out.get(), cmsGetProfileVersion(profile));
    cmsSetDeviceClass(out.get(), cmsGetDeviceClass(profile));
    cmsSetColorSpace(out.get(), cmsSigRgbData);
    cmsSetPCS(out.get(), cmsGetPCS(profile));
    for (const cmsTagSignature tag :
         {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag,
          cmsSigMediaWhitePointTag, cmsSigChromaticAdaptationTag}) {
      if (const void* value = cmsReadTag(profile, tag)) cmsWriteTag(out.get(), tag, value);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const auto* curve = static_cast<cmsToneCurve*>(cmsReadTag(profile, curve_tags[c]));
      if (curve == nullptr) state_->context.fail_with("a curve of an ICC profile is damaged");
      black[c] = static_cast<double>(cmsEvalToneCurveFloat(curve, 0));
      if (!(black[c] < 1)) fail("a curve of an ICC profile has no dark end");
      constexpr int with_offset = 6;
      const double line[] = {1, 1 - black[c], 0, black[c]};
      const Curve straight(black[c] == 0 ? cmsBuildGamma(context, 1)
                                         : cmsBuildParametricToneCurve(context, with_offset, line));
      if (!straight) throw std::bad_alloc();
      cmsWriteTag(out.get(), curve_tags[c], straight.get());
    }
    return out;
  }

  // The matrix by which colours of no light and of each channel alone become others.
  static void take_matrix(ColourMap& out, const Points& from, const Points& to) {
    const Three inverse = inverse_of(differences(from));
    const Three made = differences(to);
    for (std::size_t r = 0; r < 3; ++r) {
      out.matrix[r].fill(0);
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t k = 0; k < 3; ++k) out.matrix[r][c] += made[r][k] * inverse[k][c];
      }
      out.matrix[r][3] = to[0][r];
      for (std::size_t c = 0; c < 3; ++c) out.matrix[r][3] -= out.matrix[r][c] * from[0][c];
    }
    out.has_matrix = true;
  }

  void make_matrix(ColourMap& out) {
    const Profile from = linear(state_->from.get(), state_->from_black);
    const Profile to = linear(state_->to.get(), state_->to_black);
    const Transform affine = transform(from.get(), to.get());
    // Light below that of a curve's dark end is clipped, so not by corners where there is some.
    const bool is_clipped = state_->to_black != Black{} || state_->from_black != Black{};
    const float low = is_clipped ? 0.5f : 0, high = is_clipped ? 0.625f : 1;
    const Points given{{{low, low, low}, {high, low, low}, {low, high, low}, {low, low, high}}};
    Points made;
    cmsDoTransform(affine.get(), given.data(), made.data(), 4);
    take_matrix(out, given, made);
    for (const auto& row : out.matrix) {
      for (const double weight : row) {
        if (!std::isfinite(weight)) fail("the matrix of an ICC profile is not finite");
      }
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const auto* in = static_cast<cmsToneCurve*>(cmsReadTag(state_->from.get(), curve_tags[c]));
      if (in == nullptr) state_->context.fail_with("a curve of an ICC profile is damaged");
      state_->in[c].reset(cmsDupToneCurve(in));
      if (!state_->in[c]) throw std::bad_alloc();
    }
    out.in = [state = state_](std::span<const double> values) {
      return curves_of(state->in, values, {}, state->from_black);
    };
    take_out_curves(out);
  }

  void take_out_curves(ColourMap& out) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto* back = static_cast<cmsToneCurve*>(cmsReadTag(state_->to.get(), curve_tags[c]));
      if (back != nullptr) state_->out[c].reset(cmsReverseToneCurve(back));
      if (!state_->out[c]) state_->context.fail_with("a curve of an ICC profile has no inverse");
    }
    out.out = [state = state_](std::span<const double> values) {
      return curves_of(state->out, values, state->to_black);
    };
  }

  // By the nodes of the source profile's own table, between which Little CMS interpolates in XYZ or
  // Lab, as its connection space is: what follows is a matrix and curves. False where it is not.
  bool make_light(ColourMap& out) {
    const Profile to = linear(state_->to.get(), state_->to_black);
    state_->transform = transform(state_->from.get(), to.get());
    if (cmsGetPCS(state_->from.get()) == cmsSigLabData) {
      const Profile lab(cmsCreateLab4ProfileTHR(state_->context.get(), nullptr));
      if (!lab) throw std::bad_alloc();
      cmsSetProfileVersion(lab.get(), 2.4);  // later ones compensate black points unasked
      const RenderingIntent intent = request_.intent == RenderingIntent::absolute
                                         ? RenderingIntent::relative
                                         : request_.intent;
      Transform to_lab = transform(state_->from.get(), lab.get(), intent, false);
      if (!take_light_of_lab(out, to_lab.get())) return false;
      state_->transform = std::move(to_lab);
      out.from_lab = true;
    }
    make_cube(out, out.from_lab);
    take_out_curves(out);
    return true;
  }

  // Whether light is an affine function of X, Y and Z at colours of all kinds.
  bool take_light_of_lab(ColourMap& out, cmsHTRANSFORM to_lab) const {
    constexpr std::size_t count = 500;
    const auto given = static_cast<std::size_t>(request_.channels);
    const float most = given == 4 ? 100 : 1;
    std::vector<float> inks(count * given, 0.0f);
    for (std::size_t c = 0; c < 3; ++c) inks[(c + 1) * given + c] = most;
    for (std::size_t i = 4 * given; i < inks.size(); ++i) {  // scattered evenly
      inks[i] = most * static_cast<float>(std::fmod(static_cast<double>(i) * 0.6180339887, 1));
    }
    std::vector<std::array<float, 3>> xyz(count), light(count);
    cmsDoTransform(state_->transform.get(), inks.data(), light.data(), count);
    cmsDoTransform(to_lab, inks.data(), xyz.data(), count);
    for (auto& lab : xyz) {
      for (float& f : lab = lab_curved(lab)) {
        f = f > 6.0f / 29 ? f * f * f : (f - 16.0f / 116) * (108.0f / 841);
      }
    }
    take_matrix(out, {xyz[0], xyz[1], xyz[2], xyz[3]}, {light[0], light[1], light[2], light[3]});
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t r = 0; r < 3; ++r) {
        const auto& row = out.matrix[r];
        const double made = row[0] * xyz[i][0] + row[1] * xyz[i][1] + row[2] * xyz[i][2] + row[3];
        if (!(std::abs(made - static_cast<double>(light[i][r])) < 2e-5))
          return out.has_matrix = false;
      }
    }
    return true;
  }

  static std::array<float, 3> lab_curved(const std::array<float, 3>& lab) {
    const float y = (lab[0] + 16) / 116;
    return {y + lab[1] / 500, y, y - lab[2] / 200};
  }

  // A number that no damage of a profile makes infinite.
  static double moderate(float value) {
    return std::isfinite(value) ? std::clamp(static_cast<double>(value), -1e6, 1e6) : 0;
  }

  // before, after: values, or what is made of them, are from 0 to 1 where the curve's are from this
  // to 1.
  static std::vector<double> curves_of(std::span<const Curve> curves,
                                       std::span<const double> values,
                                       std::span<const double> before = {},
                                       std::span<const double> after = {}) {
    std::vector<double> out;
    out.reserve(curves.size() * values.size());
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const double low = before.empty() ? 0 : before[c], made_low = after.empty() ? 0 : after[c];
      for (const double value : values) {
        const auto at = static_cast<float>(low + (1 - low) * value);
        const auto made = static_cast<double>(cmsEvalToneCurveFloat(curves[c].get(), at));
        out.push_back(moderate(static_cast<float>((made - made_low) / (1 - made_low))));
      }
    }
    return out;
  }

  // Numbers of pixels as planes.
  static void take(std::span<const float> made, int channels, std::size_t first,
                   std::vector<double>& out) {
    const std::size_t plane = out.size() / static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::size_t channel = i % static_cast<std::size_t>(channels);
      out[channel * plane + first + i / static_cast<std::size_t>(channels)] = moderate(made[i]);
    }
  }

  static std::vector<double> gray_curves(const State& state, std::span<const double> values,
                                         int channels) {
    const std::size_t inputs = cmsGetColorSpace(state.from.get()) == cmsSigGrayData ? 1 : 3;
    std::vector<float> gray, made(values.size() * static_cast<std::size_t>(channels));
    for (const double value : values) gray.insert(gray.end(), inputs, static_cast<float>(value));
    cmsDoTransform(state.transform.get(), gray.data(), made.data(),
                   static_cast<cmsUInt32Number>(values.size()));
    std::vector<double> out(made.size());
    take(made, channels, 0, out);
    return out;
  }

  // The source's table as Little CMS reads it; null: there is none.
  cmsPipeline* table_of_source() const {
    cmsHPROFILE from = state_->from.get();
    for (const cmsTagSignature floats :
         {cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag}) {
      if (cmsIsTag(from, floats) != 0) return nullptr;
    }
    constexpr cmsTagSignature tags[] = {cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigAToB2Tag,
                                        cmsSigAToB1Tag};
    const cmsTagSignature tag = tags[static_cast<int>(request_.intent)];
    return static_cast<cmsPipeline*>(cmsReadTag(from, cmsIsTag(from, tag) ? tag : cmsSigAToB0Tag));
  }

  // Nodes of the table that is interpolated in: the source's own, or between these.
  void take_grid(bool may_be_exact) {
    const int most = request_.channels == 4 ? 33 : 65;
    Grid& grid = state_->grid = {};
    if (const cmsPipeline* pipeline = table_of_source()) {
      const cmsStage* stage = cmsPipelineGetPtrToFirstStage(pipeline);
      if (stage != nullptr && cmsStageType(stage) == cmsSigCurveSetElemType) {
        take_curves(stage);
        stage = cmsStageNext(stage);
      }
      grid.side = side_of(stage);
      grid.is_exact = may_be_exact && grid.side > 0 && grid.side <= most;
      for (; stage != nullptr && grid.is_exact; stage = cmsStageNext(stage)) {
        grid.is_exact = cmsStageType(stage) == cmsSigCLutElemType || is_straight(stage);
      }
    }
    if (grid.side == 0) grid.curves.clear();
    if (!grid.is_exact) {
      const int cells = std::max(grid.side - 1, 1);
      grid.side = std::max((most - 1) / cells, 1) * cells + 1;
      if (grid.side > most) grid.side = most;
    }
    take_inks();
  }

  static const _cmsStageToneCurvesData& curves_in(const cmsStage* stage) {
    return *static_cast<const _cmsStageToneCurvesData*>(cmsStageData(const_cast<cmsStage*>(stage)));
  }

  static bool is_straight(const cmsStage* stage) {
    if (cmsStageType(stage) != cmsSigCurveSetElemType) return false;
    const _cmsStageToneCurvesData& set = curves_in(stage);
    return std::all_of(set.TheCurves, set.TheCurves + set.nCurves,
                       [](const cmsToneCurve* curve) { return cmsIsToneCurveLinear(curve) != 0; });
  }

  // Of curves that rise from 0 to 1; others are a part of what the table is made of.
  void take_curves(const cmsStage* stage) {
    const _cmsStageToneCurvesData& set = curves_in(stage);
    const std::span curves(set.TheCurves, set.nCurves);
    for (const cmsToneCurve* curve : curves) {
      const bool rises =
          cmsIsToneCurveMonotonic(curve) != 0 && cmsIsToneCurveDescending(curve) == 0 &&
          cmsEvalToneCurveFloat(curve, 0) < 1e-4f && cmsEvalToneCurveFloat(curve, 1) > 1 - 1e-4f;
      if (!rises) return state_->grid.curves.clear();
      state_->grid.curves.emplace_back(cmsDupToneCurve(curve));
      if (!state_->grid.curves.back()) throw std::bad_alloc();
    }
    if (std::ssize(curves) != request_.channels) state_->grid.curves.clear();
  }

  // Nodes along each channel of a table; 0: a stage of another kind, or not as many along each.
  int side_of(const cmsStage* stage) const {
    if (stage == nullptr || cmsStageType(stage) != cmsSigCLutElemType) return 0;
    const auto* table =
        static_cast<const _cmsStageCLutData*>(cmsStageData(const_cast<cmsStage*>(stage)));
    const std::span nodes(table->Params->nSamples, table->Params->nInputs);
    const bool is_even = std::ssize(nodes) == request_.channels &&
                         std::ranges::all_of(nodes, [&](auto n) { return n == nodes[0]; });
    return is_even && nodes[0] >= 2 ? static_cast<int>(nodes[0]) : 0;
  }

  // Little CMS counts inks in percent.
  void take_inks() {
    Grid& grid = state_->grid;
    const double most = request_.channels == 4 ? 100 : 1;
    for (std::size_t c = 0; c < static_cast<std::size_t>(request_.channels); ++c) {
      for (int i = 0; i < grid.side; ++i) {
        const double at = static_cast<double>(i) / (grid.side - 1);
        const double ink = grid.curves.empty() ? at : where(grid.curves[c].get(), at);
        grid.inks[c].push_back(static_cast<float>(ink * most));
      }
    }
  }

  // Where a rising curve has this value.
  static double where(const cmsToneCurve* curve, double value) {
    double low = 0, high = 1;
    for (int i = 0; i < 24; ++i) {
      const double middle = (low + high) / 2;
      const bool is_below = cmsEvalToneCurveFloat(curve, static_cast<float>(middle)) < value;
      (is_below ? low : high) = middle;
    }
    return value <= 0 ? 0 : high;
  }

  void make_cube(ColourMap& out, bool is_lab) {
    out.side = state_->grid.side;
    if (!state_->grid.curves.empty()) {
      out.in = [state = state_](std::span<const double> values) {
        std::vector<double> made = curves_of(state->grid.curves, values);
        for (double& value : made) value = std::clamp(value, 0.0, 1.0);
        return made;
      };
    }
    const auto made = static_cast<std::size_t>(out.channels);
    const auto given = static_cast<std::size_t>(request_.channels);
    out.cube = [state = state_, made, given, is_lab, for_each = for_each_] {
      return cube_of(*state, given, made, is_lab, for_each);
    };
  }

  static std::vector<double> cube_of(const State& state, std::size_t given, std::size_t made,
                                     bool is_lab, ForEach for_each) {
    const auto side = static_cast<std::size_t>(state.grid.side);
    const std::size_t slice = side * side, slices = given == 4 ? slice : side;
    std::vector<double> out(slices * slice * made);
    for_each(static_cast<std::int64_t>(slices), [&](std::int64_t index) {
      const std::size_t first = static_cast<std::size_t>(index) * slice;
      std::vector<float> colours, results(slice * made);
      for (std::size_t i = first; i < first + slice; ++i) {
        std::size_t weight = given == 4 ? slice * side : slice;
        for (std::size_t c = 0; c < given; ++c, weight /= side) {
          colours.push_back(state.grid.inks[c][i / weight % side]);
        }
      }
      cmsDoTransform(state.transform.get(), colours.data(), results.data(),
                     static_cast<cmsUInt32Number>(slice));
      for (std::size_t i = 0; is_lab && i < results.size(); i += 3) {
        const auto f = lab_curved({results[i], results[i + 1], results[i + 2]});
        std::ranges::copy(f, results.begin() + static_cast<std::ptrdiff_t>(i));
      }
      take(results, static_cast<int>(made), first, out);
    });
    return out;
  }

  // With a date of its own, so that results have the same bytes on any day.
  static std::vector<std::byte> saved(cmsHPROFILE profile) {
    cmsUInt32Number bytes = 0;
    cmsSaveProfileToMem(profile, nullptr, &bytes);
    std::vector<std::byte> out(bytes);
    if (bytes < 128 || cmsSaveProfileToMem(profile, out.data(), &bytes) == 0) {
      fail("an ICC profile cannot be written");
    }
    constexpr unsigned char date[12] = {0x07, 0xd0, 0, 1, 0, 1};
    std::memcpy(out.data() + 24, date, sizeof date);
    return out;
  }

  const ColourRequest& request_;
  ForEach for_each_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class LcmsModule final : public CodecModule {
 public:
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }
  ColourMap colour_map(const ColourRequest& request) const override {
    return Maker(request, for_each_).make();
  }

 private:
  static inline ForEach for_each_ = nullptr;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(LcmsModule)
