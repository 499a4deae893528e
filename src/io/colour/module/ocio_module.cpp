// Conversions between the colour spaces of an OpenColorIO configuration, as curves, matrices and
// tables.
#include <OpenColorIO/OpenColorIO.h>

#include <algorithm>
#include <cmath>

#include "io/module/library_codec.hpp"

namespace impipe::io {
namespace {

namespace OCIO = OCIO_NAMESPACE;
using Cpu = OCIO::ConstCPUProcessorRcPtr;

// Consecutive transforms of one kind; a table of a file is a part by itself.
struct Part {
  enum class Kind { curves, matrix, table, mixing } kind;
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

// 1 where colours get hue or chromaticities as coordinates, which no table of colours can
// interpolate; -1 where they lose them; 0 otherwise.
int coordinates_begun(const OCIO::ConstTransformRcPtr& step) {
  const auto fixed = OCIO::DynamicPtrCast<const OCIO::FixedFunctionTransform>(step);
  if (!fixed) return 0;
  switch (fixed->getStyle()) {
    case OCIO::FIXED_FUNCTION_RGB_TO_HSV:
    case OCIO::FIXED_FUNCTION_XYZ_TO_xyY:
    case OCIO::FIXED_FUNCTION_XYZ_TO_uvY:
    case OCIO::FIXED_FUNCTION_XYZ_TO_LUV:
      return step->getDirection() == OCIO::TRANSFORM_DIR_FORWARD ? 1 : -1;
    default: return 0;
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
      if (part.kind == Part::Kind::table || part.kind == Part::Kind::mixing) {
        out.push_back(cube_of(part));
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

  Part::Kind kind_of(const OCIO::ConstTransformRcPtr& transform) const {
    if (transform->getTransformType() == OCIO::TRANSFORM_TYPE_MATRIX) return Part::Kind::matrix;
    if (transform->getTransformType() == OCIO::TRANSFORM_TYPE_LUT3D) return Part::Kind::table;
    return processor_of(transform)->hasChannelCrosstalk() ? Part::Kind::mixing : Part::Kind::curves;
  }

  std::vector<Part> parts_of(const OCIO::GroupTransform& all) const {
    std::vector<Part> out;
    int coordinates = 0;
    for (int i = 0; i < all.getNumTransforms(); ++i) {
      const auto transform = all.getTransform(i);
      const Part::Kind kind = coordinates > 0 ? Part::Kind::mixing : kind_of(transform);
      coordinates += coordinates_begun(transform);
      if (coordinates < 0) break;
      if (out.empty() || out.back().kind != kind || kind == Part::Kind::table) {
        out.push_back({kind, OCIO::GroupTransform::Create()});
      }
      out.back().transforms->appendTransform(transform->createEditableCopy());
    }
    if (coordinates != 0) {
      fail(
          "from or to hue, saturation and value, or chromaticities, which are no colours to "
          "interpolate");
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
    return planes_of(colours_by(cpu, std::move(grays)), [](double value) { return value; });
  }

  template <class Change>
  static std::vector<double> planes_of(const std::vector<float>& colours, Change change) {
    std::vector<double> out;
    out.reserve(colours.size());
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = c; i < colours.size(); i += 3) out.push_back(change(finite(colours[i])));
    }
    return out;
  }

  // A table of a file has its own nodes. Others have theirs over a logarithm of values from -0.12
  // to 4096, 0 among them, and are interpolated in the curve of CIELAB.
  ColourMap cube_of(const Part& part) const {
    ColourMap out = straight();
    const bool is_table = part.kind == Part::Kind::table;
    out.from_lab = !is_table;
    if (is_table) {
      const auto table =
          OCIO::DynamicPtrCast<const OCIO::Lut3DTransform>(part.transforms->getTransform(0));
      const bool is_inverse = table->getDirection() == OCIO::TRANSFORM_DIR_INVERSE;
      const auto method = table->getInterpolation();
      out.side = is_inverse ? inverse_side : static_cast<int>(table->getGridSize());
      out.trilinear = method != OCIO::INTERP_TETRAHEDRAL && method != OCIO::INTERP_BEST;
    } else {
      out.side = logarithmic_side;
      out.in = [](std::span<const double> values) {
        std::vector<double> at;
        for (int c = 0; c < 3; ++c) {
          for (const double value : values) at.push_back(logarithmic(value));
        }
        return at;
      };
    }
    out.cube = [cpu = processor_of(part.transforms), side = out.side, is_table,
                for_each = for_each_] { return entries_of(*cpu, side, is_table, for_each); };
    return out;
  }

  static constexpr int inverse_side = 65, logarithmic_side = 81, dark_nodes = 16;
  static constexpr double dark = 1.0 / 256, bright = 4096;
  static double octaves(double value) {
    return std::copysign(std::log2(std::abs(value) / dark + 1), value);
  }
  static double logarithmic(double value) {
    const double step = octaves(bright) / (logarithmic_side - 1 - dark_nodes);
    return std::clamp((octaves(value) / step + dark_nodes) / (logarithmic_side - 1), 0.0, 1.0);
  }
  static double of_logarithm(int node) {
    const double step = octaves(bright) / (logarithmic_side - 1 - dark_nodes);
    const double at = (node - dark_nodes) * step;
    return std::copysign(dark * (std::exp2(std::abs(at)) - 1), at);
  }

  static std::vector<double> entries_of(const OCIO::CPUProcessor& cpu, int side, bool is_table,
                                        ForEach for_each) {
    const auto n = static_cast<std::size_t>(side);
    std::vector<float> colours(3 * n * n * n);
    for_each(side, [&](std::int64_t slice) {
      std::vector<float> part;
      for (std::size_t i = 0; i < n * n; ++i) {
        for (const std::size_t at : {static_cast<std::size_t>(slice), i / n, i % n}) {
          part.push_back(static_cast<float>(is_table ? static_cast<double>(at) / (side - 1)
                                                     : of_logarithm(static_cast<int>(at))));
        }
      }
      std::ranges::copy(colours_by(cpu, std::move(part)),
                        colours.begin() + static_cast<std::ptrdiff_t>(3 * n * n) * slice);
    });
    return planes_of(colours, [&](double value) {
      if (is_table) return value;
      return value > 216.0 / 24389 ? std::cbrt(value) : value * (841.0 / 108) + 16.0 / 116;
    });
  }

  const SpaceRequest& request_;
  ForEach for_each_;
  OCIO::ConstConfigRcPtr config_;
};

class OcioModule final : public CodecModule {
 public:
  OcioModule() { OCIO::SetLoggingLevel(OCIO::LOGGING_LEVEL_NONE); }
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }
  std::vector<ColourMap> colour_maps(const SpaceRequest& request) const override {
    try {
      return SpaceMaker(request, for_each_).make();
    } catch (const OCIO::Exception& error) {
      fail(error.what());
    }
  }

 private:
  static inline ForEach for_each_ = nullptr;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(OcioModule)
