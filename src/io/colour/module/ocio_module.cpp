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

// Consecutive transforms of one kind.
struct Part {
  enum class Kind { curves, matrix, mixing } kind;
  OCIO::GroupTransformRcPtr transforms;
};

class SpaceMaker {
 public:
  SpaceMaker(const SpaceRequest& request, ForEach for_each)
      : request_(request),
        for_each_(for_each),
        config_(OCIO::Config::CreateFromFile(request.config.c_str())) {}

  std::vector<ColourMap> make() const {
    const auto exact = whole()->getOptimizedProcessor(OCIO::OPTIMIZATION_LOSSLESS);
    std::vector<ColourMap> out;
    for (const Part& part : parts_of(*exact->createGroupTransform())) {
      if (part.kind == Part::Kind::mixing) {
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

  Cpu processor_of(const OCIO::ConstTransformRcPtr& transform) const {
    return config_->getProcessor(transform)->getOptimizedCPUProcessor(OCIO::OPTIMIZATION_LOSSLESS);
  }

  Part::Kind kind_of(const OCIO::ConstTransformRcPtr& transform) const {
    if (transform->getTransformType() == OCIO::TRANSFORM_TYPE_MATRIX) return Part::Kind::matrix;
    return processor_of(transform)->hasChannelCrosstalk() ? Part::Kind::mixing : Part::Kind::curves;
  }

  // All from the first to the last transform that mixes channels is one part.
  std::vector<Part> parts_of(const OCIO::GroupTransform& all) const {
    std::vector<Part::Kind> kinds;
    for (int i = 0; i < all.getNumTransforms(); ++i) kinds.push_back(kind_of(all.getTransform(i)));
    const auto first = std::ranges::find(kinds, Part::Kind::mixing);
    const auto last = std::find(kinds.rbegin(), kinds.rend(), Part::Kind::mixing).base();
    if (first != kinds.end()) std::fill(first, last, Part::Kind::mixing);
    std::vector<Part> out;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (out.empty() || out.back().kind != kinds[i]) {
        out.push_back({kinds[i], OCIO::GroupTransform::Create()});
      }
      out.back().transforms->appendTransform(
          all.getTransform(static_cast<int>(i))->createEditableCopy());
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

  // A table by itself has its own nodes; others have theirs over the logarithm of values from 0 to
  // 4096, and are interpolated in the curve of CIELAB.
  ColourMap cube_of(const Part& part) const {
    ColourMap out = straight();
    const OCIO::ConstTransformRcPtr only = part.transforms->getTransform(0);
    const auto* table = dynamic_cast<const OCIO::Lut3DTransform*>(only.get());
    const bool is_table = table != nullptr && part.transforms->getNumTransforms() == 1;
    out.side = is_table ? static_cast<int>(table->getGridSize()) : logarithmic_side;
    out.from_lab = !is_table;
    if (!is_table) {
      out.in = [](std::span<const double> values) {
        std::vector<double> at;
        for (int c = 0; c < 3; ++c) {
          for (const double value : values)
            at.push_back(logarithmic(std::clamp(value, 0.0, bright)));
        }
        return at;
      };
    }
    out.cube = [cpu = processor_of(part.transforms), side = out.side, is_table,
                for_each = for_each_] { return entries_of(*cpu, side, is_table, for_each); };
    return out;
  }

  static constexpr int logarithmic_side = 65;
  static constexpr double dark = 1.0 / 256, bright = 4096;
  static double logarithmic(double value) {
    return std::log2(value / dark + 1) / std::log2(bright / dark + 1);
  }
  static double of_logarithm(double at) {
    return dark * (std::exp2(at * std::log2(bright / dark + 1)) - 1);
  }

  static std::vector<double> entries_of(const OCIO::CPUProcessor& cpu, int side, bool is_table,
                                        ForEach for_each) {
    const auto n = static_cast<std::size_t>(side);
    std::vector<float> colours(3 * n * n * n);
    for_each(side, [&](std::int64_t slice) {
      std::vector<float> part;
      for (std::size_t i = 0; i < n * n; ++i) {
        for (const std::size_t at : {static_cast<std::size_t>(slice), i / n, i % n}) {
          const double unit = static_cast<double>(at) / (side - 1);
          part.push_back(static_cast<float>(is_table ? unit : of_logarithm(unit)));
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
