// Conversions between the colour spaces of an OpenColorIO configuration, as curves, matrices,
// formulas and the tables of files.
#include <OpenColorIO/OpenColorIO.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

#include "io/module/library_codec.hpp"

namespace impipe::io {
namespace {

namespace OCIO = OCIO_NAMESPACE;
using Cpu = OCIO::ConstCPUProcessorRcPtr;

// Consecutive transforms of one kind; a table of a file and a fixed function are parts by
// themselves.
struct Part {
  enum class Kind { curves, matrix, table, functions } kind;
  OCIO::GroupTransformRcPtr transforms;
};

OCIO::CDLTransformRcPtr saturation_of(double by, OCIO::CDLStyle style,
                                      OCIO::TransformDirection direction) {
  const auto out = OCIO::CDLTransform::Create();
  out->setSat(by);
  out->setStyle(style);
  out->setDirection(direction);
  return out;
}

// The same steps with saturations on their own, which OpenColorIO then makes matrices of; its luma
// is that of Rec. 709 in both.
std::vector<OCIO::TransformRcPtr> separated(const OCIO::ConstTransformRcPtr& step) {
  std::vector<OCIO::TransformRcPtr> out{step->createEditableCopy()};
  if (const auto list = OCIO::DynamicPtrCast<OCIO::CDLTransform>(out[0])) {
    out.push_back(saturation_of(list->getSat(), list->getStyle(), list->getDirection()));
    if (list->getSat() == 1) out.pop_back();
    list->setSat(1);
  } else if (const auto grade = OCIO::DynamicPtrCast<OCIO::GradingPrimaryTransform>(out[0])) {
    OCIO::GradingPrimary rest = grade->getValue(), clamps(grade->getStyle());
    std::swap(rest.m_clampBlack, clamps.m_clampBlack);
    std::swap(rest.m_clampWhite, clamps.m_clampWhite);
    out.push_back(saturation_of(rest.m_saturation, OCIO::CDL_NO_CLAMP, grade->getDirection()));
    rest.m_saturation = 1;
    grade->setValue(rest);
    const auto end =
        OCIO::DynamicPtrCast<OCIO::GradingPrimaryTransform>(step->createEditableCopy());
    end->setValue(clamps);
    out.push_back(end);
  }
  if (step->getDirection() == OCIO::TRANSFORM_DIR_INVERSE) std::ranges::reverse(out);
  return out;
}

// given: limits, thresholds and a power. Scales are those by which a distance that is the limit
// becomes 1.
FixedFunction gamut_compression(const std::vector<double>& given, bool back) {
  FixedFunction out{FixedFunction::Kind::gamut_compression, back, {given.begin() + 3, given.end()}};
  const double power = given.at(6);
  for (std::size_t c = 0; c < 3; ++c) {
    const double room = given[c] - given[c + 3];
    const double part = std::pow((1 - given[c + 3]) / room, -power);
    out.numbers.push_back(room / std::pow(part - 1, 1 / power));
  }
  return out;
}

// The formulas, one after the other, that a fixed function is.
std::vector<FixedFunction> functions_of(const OCIO::FixedFunctionTransform& fixed) {
  using Kind = FixedFunction::Kind;
  const bool back = fixed.getDirection() == OCIO::TRANSFORM_DIR_INVERSE;
  std::vector<double> given(fixed.getNumParams());
  fixed.getParams(given.data());
  const auto red = [back](double scale, double degrees, double keeps_hue) -> FixedFunction {
    return {
        Kind::red_modifier, back, {1 - scale, 0.03, 720 / std::numbers::pi / degrees, keeps_hue}};
  };
  const auto surround = [back](std::vector<double> numbers, double gamma) -> FixedFunction {
    numbers.push_back((back ? 1 / gamma : gamma) - 1);
    return {Kind::surround, back, std::move(numbers)};
  };
  const FixedFunction uv{Kind::chromaticities, back, {4, 9, 1, 15, 3}}, luv{Kind::luv, back};
  switch (fixed.getStyle()) {
    case OCIO::FIXED_FUNCTION_ACES_GLOW_03: return {{Kind::glow, back, {0.075, 0.1}}};
    case OCIO::FIXED_FUNCTION_ACES_GLOW_10: return {{Kind::glow, back, {0.05, 0.08}}};
    case OCIO::FIXED_FUNCTION_ACES_RED_MOD_03: return {red(0.85, 120, 1)};
    case OCIO::FIXED_FUNCTION_ACES_RED_MOD_10: return {red(0.82, 135, 0)};
    case OCIO::FIXED_FUNCTION_ACES_DARK_TO_DIM_10:
      return {surround({0.27222871678091454, 0.67408176581114831, 0.053689517407937051, 1e-10},
                       0.9811)};
    case OCIO::FIXED_FUNCTION_REC2100_SURROUND:
      return {surround({0.2627, 0.678, 0.0593, 1e-4}, given.at(0))};
    case OCIO::FIXED_FUNCTION_ACES_GAMUT_COMP_13: return {gamut_compression(given, back)};
    case OCIO::FIXED_FUNCTION_RGB_TO_HSV: return {{Kind::hsv, back}};
    case OCIO::FIXED_FUNCTION_XYZ_TO_xyY: return {{Kind::chromaticities, back, {1, 1, 1, 1, 1}}};
    case OCIO::FIXED_FUNCTION_XYZ_TO_uvY: return {uv};
    case OCIO::FIXED_FUNCTION_XYZ_TO_LUV: return back ? std::vector{luv, uv} : std::vector{uv, luv};
    default:
      fail(std::string(OCIO::FixedFunctionStyleToString(fixed.getStyle())) +
           " has no formula here");
  }
}

class SpaceMaker {
 public:
  SpaceMaker(const SpaceRequest& request, ForEach for_each)
      : request_(request),
        for_each_(for_each),
        config_(OCIO::Config::CreateFromFile(request.config.c_str())) {}

  std::vector<ColourMap> make() const {
    const auto all = OCIO::GroupTransform::Create();
    const auto given = exact(whole());
    for (int i = 0; i < given->getNumTransforms(); ++i) {
      for (const auto& step : separated(given->getTransform(i))) all->appendTransform(step);
    }
    std::vector<ColourMap> out;
    for (const Part& part : parts_of(*exact(config_->getProcessor(all)))) {
      if (part.kind == Part::Kind::table) {
        out.push_back(cube_of(part));
      } else if (part.kind == Part::Kind::functions) {
        for (auto& one : functions_of(*fixed_function(part.transforms->getTransform(0)))) {
          out.emplace_back().function = std::move(one);
        }
      } else if (part.kind == Part::Kind::curves) {
        out.push_back(straight());
        out.back().in = [cpu = processor_of(part.transforms)](std::span<const double> values) {
          return curves_of(*cpu, values);
        };
      } else {
        if (out.empty() || !takes_matrix(out.back())) out.push_back(straight());
        out.back().matrix = matrix_of(*processor_of(part.transforms));
      }
    }
    if (out.empty()) out.push_back(straight());
    return out;
  }

  std::vector<std::string> files() const {
    const auto all = whole()->getProcessorMetadata();
    std::vector<std::string> out;
    for (int i = 0; i < all->getNumFiles(); ++i) out.emplace_back(all->getFile(i));
    return out;
  }

 private:
  OCIO::ConstProcessorRcPtr whole() const {
    if (request_.view.empty()) {
      return config_->getProcessor(request_.from.c_str(), request_.to.c_str());
    }
    return config_->getProcessor(request_.from.c_str(), request_.to.c_str(), request_.view.c_str(),
                                 OCIO::TRANSFORM_DIR_FORWARD);
  }

  static OCIO::GroupTransformRcPtr exact(const OCIO::ConstProcessorRcPtr& processor) {
    return processor->getOptimizedProcessor(OCIO::OPTIMIZATION_LOSSLESS)->createGroupTransform();
  }

  Cpu processor_of(const OCIO::ConstTransformRcPtr& transform) const {
    return config_->getProcessor(transform)->getOptimizedCPUProcessor(OCIO::OPTIMIZATION_LOSSLESS);
  }

  static OCIO::ConstFixedFunctionTransformRcPtr fixed_function(
      const OCIO::ConstTransformRcPtr& step) {
    return OCIO::DynamicPtrCast<const OCIO::FixedFunctionTransform>(step);
  }

  Part::Kind kind_of(const OCIO::ConstTransformRcPtr& step) const {
    if (step->getTransformType() == OCIO::TRANSFORM_TYPE_MATRIX) return Part::Kind::matrix;
    if (step->getTransformType() == OCIO::TRANSFORM_TYPE_LUT3D) return Part::Kind::table;
    if (!processor_of(step)->hasChannelCrosstalk()) return Part::Kind::curves;
    if (!fixed_function(step)) fail("a step mixes channels in a way that has no formula here");
    return Part::Kind::functions;
  }

  std::vector<Part> parts_of(const OCIO::GroupTransform& all) const {
    std::vector<Part> out;
    for (int i = 0; i < all.getNumTransforms(); ++i) {
      const auto step = all.getTransform(i);
      const Part::Kind kind = kind_of(step);
      const bool is_alone = kind == Part::Kind::table || kind == Part::Kind::functions;
      if (out.empty() || out.back().kind != kind || is_alone) {
        out.push_back({kind, OCIO::GroupTransform::Create()});
      }
      out.back().transforms->appendTransform(step->createEditableCopy());
    }
    return out;
  }

  static ColourMap straight() {
    ColourMap out;
    out.has_matrix = true;
    for (std::size_t c = 0; c < 3; ++c) out.matrix[c][c] = 1;
    return out;
  }
  // Curves, which no matrix follows yet.
  static bool takes_matrix(const ColourMap& map) {
    return map.side == 0 && map.in && map.matrix == straight().matrix;
  }

  static std::vector<float> colours_by(const OCIO::CPUProcessor& cpu, std::vector<float> colours) {
    OCIO::PackedImageDesc pixels(colours.data(), static_cast<long>(colours.size() / 3), 1, 3);
    cpu.apply(pixels);
    return colours;
  }

  static double finite(float value) {
    return std::isfinite(value) ? std::clamp(static_cast<double>(value), -1e6, 1e6) : 0;
  }

  static std::array<std::array<double, 4>, 3> matrix_of(const OCIO::CPUProcessor& cpu) {
    const std::vector<float> made = colours_by(cpu, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
    std::array<std::array<double, 4>, 3> out{};
    for (std::size_t r = 0; r < 3; ++r) {
      out[r][3] = finite(made[r]);
      for (std::size_t c = 0; c < 3; ++c) out[r][c] = finite(made[3 * (c + 1) + r]) - out[r][3];
    }
    return out;
  }

  static std::vector<double> curves_of(const OCIO::CPUProcessor& cpu,
                                       std::span<const double> values) {
    std::vector<float> grays;
    for (const double value : values) grays.insert(grays.end(), 3, static_cast<float>(value));
    return planes_of(colours_by(cpu, std::move(grays)));
  }

  static std::vector<double> planes_of(const std::vector<float>& colours) {
    std::vector<double> out;
    out.reserve(colours.size());
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = c; i < colours.size(); i += 3) out.push_back(finite(colours[i]));
    }
    return out;
  }

  // With its own nodes.
  ColourMap cube_of(const Part& part) const {
    constexpr int inverse_side = 65;
    const auto table =
        OCIO::DynamicPtrCast<const OCIO::Lut3DTransform>(part.transforms->getTransform(0));
    const bool is_inverse = table->getDirection() == OCIO::TRANSFORM_DIR_INVERSE;
    const auto method = table->getInterpolation();
    ColourMap out = straight();
    out.side = is_inverse ? inverse_side : static_cast<int>(table->getGridSize());
    out.trilinear = method != OCIO::INTERP_TETRAHEDRAL && method != OCIO::INTERP_BEST;
    out.cube = [cpu = processor_of(part.transforms), side = out.side, for_each = for_each_] {
      return entries_of(*cpu, side, for_each);
    };
    return out;
  }

  static std::vector<double> entries_of(const OCIO::CPUProcessor& cpu, int side, ForEach for_each) {
    const auto n = static_cast<std::size_t>(side);
    std::vector<float> colours(3 * n * n * n);
    for_each(side, [&](std::int64_t slice) {
      std::vector<float> part;
      for (std::size_t i = 0; i < n * n; ++i) {
        for (const std::size_t at : {static_cast<std::size_t>(slice), i / n, i % n}) {
          part.push_back(static_cast<float>(static_cast<double>(at) / (side - 1)));
        }
      }
      std::ranges::copy(colours_by(cpu, std::move(part)),
                        colours.begin() + static_cast<std::ptrdiff_t>(3 * n * n) * slice);
    });
    return planes_of(colours);
  }

  const SpaceRequest& request_;
  ForEach for_each_;
  OCIO::ConstConfigRcPtr config_;
};

// As the files are now: OpenColorIO remembers those that the process has read.
template <class Make>
auto from_files(const Make& make) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  try {
    OCIO::ClearAllCaches();
    return make();
  } catch (const OCIO::Exception& error) {
    fail(error.what());
  }
}

class OcioModule final : public CodecModule {
 public:
  OcioModule() { OCIO::SetLoggingLevel(OCIO::LOGGING_LEVEL_NONE); }
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }
  std::vector<ColourMap> colour_maps(const SpaceRequest& request) const override {
    return from_files([&] { return SpaceMaker(request, for_each_).make(); });
  }
  std::vector<std::string> colour_files(const SpaceRequest& request) const override {
    return from_files([&] { return SpaceMaker(request, for_each_).files(); });
  }

 private:
  static inline ForEach for_each_ = nullptr;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(OcioModule)
