// Naive evaluation of a kernel.
#include "support/reference/spec.hpp"
#include "core/primitive_facts.hpp"
#include "support/reference/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>

namespace impipe::testing {
namespace {

double rounded_to(PixelClass cls, double v) {
  if (cls == PixelClass::single) return static_cast<float>(v);
  if (cls == PixelClass::logical) return v != 0 ? 1 : 0;
  if (std::isnan(v)) return 0;
  return std::round(std::clamp(v, 0.0, class_max(cls)));
}

// Index of the pixel read at `i`, -1 for none.
std::int64_t bordered(std::int64_t i, std::int64_t n, Border border) {
  if (border == Border::replicate) return std::clamp<std::int64_t>(i, 0, n - 1);
  while (border == Border::circular && i < 0) i += n;
  while (border == Border::circular && i >= n) i -= n;
  while (border == Border::reflect && (i < 0 || i >= n))
    i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
  while (border == Border::symmetric && (i < 0 || i >= n)) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i < 0 || i >= n ? -1 : i;
}

double read(const SpecImage& in, std::int64_t x, std::int64_t y, int c, Border border,
            double outside) {
  const std::int64_t mx = bordered(x, in.width, border), my = bordered(y, in.height, border);
  return mx < 0 || my < 0 ? outside : in.at(mx, my, c);
}

// Sum in pairs, padded with zeros to a power of two.
double paired(std::vector<double> v) {
  std::size_t n = 1;
  while (n < v.size()) n *= 2;
  v.resize(n, 0.0);
  for (; n > 1; n /= 2) {
    for (std::size_t i = 0; i < n / 2; ++i) v[i] = v[2 * i] + v[2 * i + 1];
  }
  return v[0];
}

double cell_sum(const SpecImage& in, int c, const std::function<double(double)>& map) {
  std::vector<double> cells;
  for (std::int64_t y0 = 0; y0 < in.height; y0 += 32) {
    for (std::int64_t x0 = 0; x0 < in.width; x0 += 32) {
      std::vector<double> columns;
      for (std::int64_t x = x0; x < std::min(x0 + 32, in.width); ++x) {
        double sum = 0;
        for (std::int64_t y = y0; y < std::min(y0 + 32, in.height); ++y) sum += map(in.at(x, y, c));
        columns.push_back(sum);
      }
      cells.push_back(paired(columns));
    }
  }
  return paired(cells);
}

// The squared deviations from the whole number nearest to the mean, less what that lies beside it.
double code_spread(const SpecImage& in, int c) {
  const std::int64_t n = in.width * in.height;
  std::int64_t sum = 0, about_nearest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += static_cast<std::int64_t>(in.values[i * in.channels + c]);
  }
  const std::int64_t nearest = (2 * sum + n) / (2 * n);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t apart = static_cast<std::int64_t>(in.values[i * in.channels + c]) - nearest;
    about_nearest += apart * apart;
  }
  const double rest = static_cast<double>(sum - nearest * n);
  return static_cast<double>(about_nearest) - rest * rest / static_cast<double>(n);
}

class Evaluation {
 public:
  Evaluation(const KernelSpec& spec, const std::vector<SpecResult>& inputs)
      : spec_(spec), inputs_(inputs) {}

  std::vector<SpecResult> run() {
    for (const Node& node : spec_.nodes) {
      SpecResult result;
      node_ = &node;
      if (!node.images.empty()) in_ = &of(node.images[0]).image;
      if (!node.is_measure) {
        const Size size = result_size(node, {in_->width, in_->height});
        result.image = {node.cls, node.channels, size.width, size.height, {}};
        result.image.values.resize(size.pixels() * node.channels);
      }
      std::visit([&](const auto& primitive) { make(primitive, result); }, node.primitive);
      results_.push_back(std::move(result));
    }
    return results_;
  }

 private:
  const SpecResult& of(const Operand& operand) const {
    return operand.external ? inputs_[operand.index] : results_[operand.index];
  }

  std::vector<double> arguments(int channel) const {
    std::vector<double> out;
    for (const Argument& a : node_->arguments) {
      if (a.source != Argument::Source::measured) {
        out.push_back(a.value);
        continue;
      }
      const std::vector<double>& m = of(node_->measures[a.measure]).measure;
      out.push_back(m[a.per_channel ? channel * (m.size() / 3) + a.element : a.element]);
    }
    return out;
  }
  std::vector<float> float_arguments(int channel) const {
    const std::vector<double> a = arguments(channel);
    return {a.begin(), a.end()};
  }
  double last_argument() const {
    const std::vector<double> a = arguments(0);
    return a.empty() ? 0 : a.back();
  }

  template <class Function>
  static void each(SpecImage& image, Function function) {
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x) {
        for (int c = 0; c < image.channels; ++c) {
          image.at(x, y, c) = rounded_to(image.cls, function(x, y, c));
        }
      }
    }
  }

  void make(const Point& point, SpecResult& result) const {
    bool in_double = point.in_double || is_integer(node_->cls);
    for (const Operand& o : node_->images) {
      in_double = in_double && (point.in_double || is_integer(of(o).image.cls));
    }
    each(result.image, [&](std::int64_t x, std::int64_t y, int c) -> double {
      if (point.lookup) {
        return of(node_->images[1]).image.values[static_cast<std::size_t>(in_->at(x, y, c))];
      }
      std::vector<double> values;
      for (const Operand& o : node_->images) values.push_back(of(o).image.at(x, y, c));
      if (point.mixes_channels) values = {in_->at(x, y, 0), in_->at(x, y, 1), in_->at(x, y, 2)};
      if (in_double) {
        std::vector<const double*> rows;
        for (const double& v : values) rows.push_back(&v);
        double out;
        point.body->rows_double[0](&out, rows.data(), 1, arguments(c).data());
        return out;
      }
      std::vector<float> floats(values.begin(), values.end());
      std::vector<const float*> rows;
      for (const float& v : floats) rows.push_back(&v);
      float out;
      point.body->rows_float[0](&out, rows.data(), 1, float_arguments(c).data());
      return out;
    });
  }

  void make(const Permute& permute, SpecResult& result) const {
    SpecImage& out = result.image;
    each(out, [&](std::int64_t x, std::int64_t y, int c) {
      if (permute.flip_x) x = out.width - 1 - x;
      if (permute.flip_y) y = out.height - 1 - y;
      if (permute.transpose) std::swap(x, y);
      return in_->at(x, y, c);
    });
  }

  void make(const Stencil& stencil, SpecResult& result) const {
    const double outside = last_argument();
    const Footprint f = stencil.footprint();
    each(result.image, [&](std::int64_t x, std::int64_t y, int c) -> double {
      x += stencil.shift_x;
      y += stencil.shift_y;
      std::vector<std::vector<float>> patch;
      std::vector<const float*> rows;
      for (int dy = -f.up; dy <= f.down; ++dy) {
        patch.emplace_back();
        for (int dx = -f.left; dx <= f.right; ++dx) {
          patch.back().push_back(
              static_cast<float>(read(*in_, x + dx, y + dy, c, stencil.border, outside)));
        }
      }
      for (const auto& row : patch) rows.push_back(row.data() + f.left);
      const std::vector<float> args = float_arguments(c);
      float out = 0;
      if (stencil.body != nullptr) {
        stencil.body->rows[0](&out, rows.data(), 1, 1, args.data());
        return out;
      }
      if (stencil.combine == Combine::largest) out = -std::numeric_limits<float>::infinity();
      if (stencil.combine == Combine::smallest) out = std::numeric_limits<float>::infinity();
      std::size_t k = 0;
      for (int ty = 0; ty < stencil.taps.height; ++ty) {
        for (int tx = 0; tx < stencil.taps.width; ++tx) {
          if (!stencil.taps.at(tx, ty)) continue;
          const float weight = args[k++], v = patch[ty][tx];
          switch (stencil.combine) {
            case Combine::sum: out = std::fmaf(weight, v, out); break;
            case Combine::largest: out = v + weight > out ? v + weight : out; break;
            case Combine::smallest: out = v + weight < out ? v + weight : out; break;
          }
        }
      }
      return out;
    });
  }

  void make(const Separable& s, SpecResult& result) const {
    const double outside = last_argument();
    const std::vector<float> args = float_arguments(0);
    SpecImage rows{PixelClass::single, in_->channels, in_->width + s.grow_x, in_->height, {}};
    rows.values.resize(rows.width * rows.height * rows.channels);
    each(rows, [&](std::int64_t x, std::int64_t y, int c) {
      std::vector<float> values;
      for (int t = 0; t < s.row.width; ++t) {
        if (!s.row.at(t, 0)) continue;
        values.push_back(static_cast<float>(
            read(*in_, x + s.shift_x + t - s.row.origin_x, y, c, s.border, outside)));
      }
      return weighted_sum(values, args.data());
    });
    const float* weights = args.data() + s.row.count();
    each(result.image, [&](std::int64_t x, std::int64_t y, int c) {
      std::vector<float> values;
      for (int t = 0; t < s.column.height; ++t) {
        if (!s.column.at(0, t)) continue;
        values.push_back(static_cast<float>(
            read(rows, x, y + s.shift_y + t - s.column.origin_y, c, s.border, outside)));
      }
      if (s.any_order) return static_cast<float>(whole_sum(values)) * weights[0];
      return weighted_sum(values, weights);
    });
  }

  static float weighted_sum(std::span<const float> values, const float* weights) {
    float sum = 0;
    for (const float v : values) sum = std::fmaf(*weights++, v, sum);
    return sum;
  }
  static std::int64_t whole_sum(std::span<const float> values) {
    std::int64_t sum = 0;
    for (const float v : values) sum += static_cast<std::int64_t>(v);
    return sum;
  }
  std::vector<double> window(const Mask& mask, std::int64_t x, std::int64_t y, int c, Border border,
                             double outside) const {
    std::vector<double> out;
    for (int ty = 0; ty < mask.height; ++ty) {
      for (int tx = 0; tx < mask.width; ++tx) {
        if (!mask.at(tx, ty)) continue;
        out.push_back(
            read(*in_, x + tx - mask.origin_x, y + ty - mask.origin_y, c, border, outside));
      }
    }
    return out;
  }

  void make(const Extremum& extremum, SpecResult& result) const {
    const double infinity = std::numeric_limits<double>::infinity();
    double nothing = extremum.largest ? 0 : class_max(in_->cls);
    if (in_->cls == PixelClass::single) nothing = extremum.largest ? -infinity : infinity;
    each(result.image, [&](std::int64_t x, std::int64_t y, int c) {
      double best = nothing;
      for (const double v : window(extremum.mask, x, y, c, Border::absent, nothing)) {
        if (extremum.largest ? v > best : v < best) best = v;
      }
      return best;
    });
  }

  void make(const Rank& rank, SpecResult& result) const {
    each(result.image, [&](std::int64_t x, std::int64_t y, int c) {
      std::vector<double> v = window(rank.mask, x, y, c, rank.border, last_argument());
      for (std::size_t k = 0; rank.offsets && k < v.size(); ++k) {
        const double sum = v[k] + arguments(c)[k];
        v[k] = in_->cls == PixelClass::logical ? sum > 0 : rounded_to(in_->cls, sum);
      }
      if (rank.entropy) {
        std::map<double, std::size_t> counts;
        for (const double code : v) ++counts[code];
        const std::vector<double> table = arguments(c);
        double sum = table[v.size()];
        for (const auto& [code, count] : counts) sum -= table[count];
        return sum / (4294967296.0 * static_cast<double>(v.size()));
      }
      reference::sort_window(v);
      if (!rank.average) return v[rank.rank];
      return (v[rank.rank] + v[rank.rank + 1]) / 2;
    });
  }

  void make(const Reduce& reduce, SpecResult& result) const {
    for (int c = 0; c < in_->channels; ++c) {
      const double from = node_->arguments.empty() ? 0 : arguments(c)[0];
      double value = std::numeric_limits<double>::quiet_NaN();
      const auto counts = [&](double v) { return !reduce.finite || std::isfinite(v); };
      if (reduce.kind == ReduceKind::sum) {
        value = cell_sum(*in_, c, [&](double v) { return counts(v) ? v : 0; });
      } else if (reduce.kind == ReduceKind::absolute_sum) {
        value = cell_sum(*in_, c, [&](double v) { return counts(v) ? std::fabs(v) : 0; });
      } else if (reduce.kind == ReduceKind::count) {
        value = cell_sum(*in_, c, [&](double v) { return counts(v) ? 1 : 0; });
      } else if (reduce.kind == ReduceKind::spread) {
        value = code_spread(*in_, c);
      } else if (reduce.kind == ReduceKind::squared_deviation) {
        value = cell_sum(*in_, c, [&](double v) { return (v - from) * (v - from); });
      } else {
        for (std::size_t i = c; i < in_->values.size(); i += in_->channels) {
          const double v = in_->values[i];
          if (!counts(v)) continue;
          const bool better = reduce.kind == ReduceKind::min ? v < value : v > value;
          if (better || std::isnan(value)) value = v;
        }
      }
      result.measure.push_back(value);
    }
  }

  void make(const Histogram& histogram, SpecResult& result) const {
    const double white = node_->images[0].external ? spec_.inputs[node_->images[0].index].white
                                                   : spec_.nodes[node_->images[0].index].white;
    result.measure.assign(histogram.bins * in_->channels, 0);
    for (std::size_t i = 0; i < in_->values.size(); ++i) {
      const double v = in_->values[i];
      if (std::isnan(v)) continue;
      double bin = v;
      if (histogram.rule == BinRule::centred) {
        bin = std::floor(std::clamp(v, 0.0, white) * (histogram.bins - 1) / white + 0.5);
      }
      ++result.measure[i % in_->channels * histogram.bins + static_cast<std::size_t>(bin)];
    }
  }

  void make(const Select&, SpecResult& result) const {
    for (int c = 0; c < in_->channels; ++c) {
      std::vector<double> v;
      for (std::size_t i = c; i < in_->values.size(); i += in_->channels) {
        v.push_back(in_->values[i]);
      }
      std::sort(v.begin(), v.end(),
                [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
      for (const double place : arguments(c)) {
        result.measure.push_back(v[static_cast<std::size_t>(place)]);
      }
    }
  }

  // Those that stand alone have references of their own, in tests/support/reference.
  template <class StandsAlone>
  void make(const StandsAlone& primitive, SpecResult&) const {
    ADD_FAILURE() << "no naive evaluation of " << name_of(Primitive(primitive));
  }
  void make(const Scalar& scalar, SpecResult& result) const {
    const std::vector<double>& in = of(node_->measures[0]).measure;
    const std::int64_t count = static_cast<std::int64_t>(in.size()) / node_->channels;
    result.measure.resize(static_cast<std::size_t>(node_->values) * node_->channels);
    for (int c = 0; c < node_->channels; ++c) {
      scalar.body->run(in.data() + c * count, &count, arguments(c).data(),
                       result.measure.data() + c * node_->values);
    }
  }

  const KernelSpec& spec_;
  const std::vector<SpecResult>& inputs_;
  std::vector<SpecResult> results_;
  const Node* node_ = nullptr;
  const SpecImage* in_ = nullptr;
};

}  // namespace

std::vector<SpecResult> evaluate_spec(const KernelSpec& spec,
                                      const std::vector<SpecResult>& inputs) {
  return Evaluation(spec, inputs).run();
}

}  // namespace impipe::testing
