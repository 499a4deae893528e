// Point nodes: rows of pixels through a body, an expression or a table.
#include "backends/cpu/point.hpp"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/exact_shortcut.hpp"
#include "backends/cpu/luminance.hpp"
#include "backends/cpu/rows.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t chunk = 512;  // pixels: the rows of a chunk stay in the first cache

template <class real>
const std::vector<real>& arguments_of(const Arguments& arguments, int channel) {
  if constexpr (std::is_same_v<real, float>) {
    return arguments.float_of(channel);
  } else {
    return arguments.of(channel);
  }
}

// Places, rounded and clamped to the table's ends, become the values there; NaN is the first place.
template <class real>
void look_up_places(real* values, std::int64_t n, std::span<const double> table) {
  const real last = static_cast<real>(table.size() - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const real place = bodies::to_code(values[i], last);
    values[i] = static_cast<real>(table[static_cast<std::size_t>(place)]);
  }
}

}  // namespace

PointProgram::PointProgram(const Node& node, const Arguments& arguments, const PointInputs& inputs,
                           Size size, CpuLevel level)
    : point_(&std::get<Point>(node.primitive)),
      arguments_(&arguments),
      inputs_(inputs),
      cls_(node.cls),
      channels_(node.channels),
      size_(size),
      level_(level) {
  in_double_ = point_->in_double ||
               (is_integer(cls_) && std::all_of(inputs.classes.begin(), inputs.classes.end(),
                                                [](PixelClass c) { return is_integer(c); }));
  if (point_->expression != nullptr) {
    using Kind = Binding::Kind;
    int image = point_->mixes_channels ? 1 : 0;  // the next image that is named
    for (const std::string& name : point_->expression->variables()) {
      Binding b;
      if (name == "col")
        b.kind = Kind::column;
      else if (name == "row")
        b.kind = Kind::row;
      else if (name == "width")
        b.kind = Kind::width;
      else if (name == "height")
        b.kind = Kind::height;
      else if (name == "white")
        b.kind = Kind::white;
      else if (point_->mixes_channels && (name == "r" || name == "g" || name == "b"))
        b.channel = name == "r" ? 0 : name == "g" ? 1 : 2;
      else if (!(point_->mixes_channels && name == "x"))
        b.image = image++;
      bindings_.push_back(b);
    }
  } else if (point_->mixes_channels) {
    for (int c = 0; c < point_->body->inputs; ++c) bindings_.push_back({.image = 0, .channel = c});
  } else {
    for (int i = 0; i < point_->body->inputs; ++i) bindings_.push_back({.image = i});
  }
  if (in_double_ && inputs.classes.size() == 2 && point_->body != nullptr &&
      !point_->mixes_channels && !arguments.differ()) {
    const ExactShortcut shortcut =
        exact_shortcut(*point_->body, arguments.of(0), inputs.classes[0], inputs.classes[1], cls_,
                       size.pixels() * channels_, level_);
    in_double_ = !shortcut.single;
    fixed_ = shortcut.fixed;
  }
  luminance_ = point_->body != nullptr && point_->mixes_channels && !point_->in_double &&
               !arguments.differ() && inputs.channels.at(0) == 3 &&
               has_luminance(*point_->body, inputs.classes[0], cls_, arguments.of(0), level_);
  planar_ = arguments.differ() || point_->mixes_channels;
  for (const int channels : inputs.channels) planar_ = planar_ || channels != channels_;
  if (planar_) fixed_.reset();
}

template <class real>
void PointProgram::fill_place(real* out, const Binding& binding, std::int64_t x, std::int64_t y,
                              std::int64_t n, int step) const {
  using Kind = Binding::Kind;
  if (binding.kind == Kind::column) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (int c = 0; c < step; ++c) out[i * step + c] = static_cast<real>(x + i);
    }
    return;
  }
  const real value = binding.kind == Kind::row      ? static_cast<real>(y)
                     : binding.kind == Kind::width  ? static_cast<real>(size_.width)
                     : binding.kind == Kind::height ? static_cast<real>(size_.height)
                                                    : static_cast<real>(inputs_.white);
  std::fill_n(out, n * step, value);
}

template <class real>
void PointProgram::evaluate(real* out, std::span<const real* const> rows, std::int64_t n,
                            int channel, State& state) const {
  if (point_->expression == nullptr) {
    const real* args = arguments_of<real>(*arguments_, channel).data();
    const int level = static_cast<int>(level_);
    if constexpr (std::is_same_v<real, float>) {
      point_->body->rows_float[level](out, rows.data(), n, args);
    } else {
      point_->body->rows_double[level](out, rows.data(), n, args);
    }
    return;
  }
  auto& evaluator = [&]() -> std::unique_ptr<RowEvaluator<real>>& {
    if constexpr (std::is_same_v<real, float>) {
      return state.single;
    } else {
      return state.in_double;
    }
  }();
  if (evaluator == nullptr) {
    evaluator = std::make_unique<RowEvaluator<real>>(*point_->expression, level_);
  }
  evaluator->run(out, rows, n);
}

template <class real>
void PointProgram::run_as(std::byte* out, std::span<const std::byte* const> in, std::int64_t x,
                          std::int64_t y, std::int64_t n, State& state, Scratch& scratch) const {
  const ScratchScope scope(scratch);
  const std::size_t inputs = bindings_.size();
  const std::size_t images = inputs_.classes.size();
  const int step = planar_ ? 1 : channels_;
  constexpr int most_channels = 3;
  auto** rows = scratch.take<const real*>(static_cast<std::int64_t>(inputs));
  auto** loaded = scratch.take<real*>(static_cast<std::int64_t>(images) * most_channels);
  auto** places = scratch.take<real*>(static_cast<std::int64_t>(inputs));
  for (std::size_t i = 0; i < images; ++i) {
    // Planar: a row a channel; else one row of interleaved numbers.
    real* row = scratch.take<real>(chunk * inputs_.channels[i]);
    for (int c = 0; c < inputs_.channels[i]; ++c) {
      loaded[i * most_channels + c] = row + (planar_ ? c * chunk : 0);
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    if (bindings_[i].kind != Binding::Kind::image) places[i] = scratch.take<real>(chunk * step);
  }
  real* result = scratch.take<real>(chunk * channels_);
  real* planes[most_channels] = {result};
  for (int c = 0; planar_ && channels_ > 1 && c < channels_; ++c) {
    planes[c] = scratch.take<real>(chunk);
  }
  const std::int64_t out_pixel = bytes_of(cls_) * channels_;
  for (std::int64_t at = 0; at < n; at += chunk) {
    const std::int64_t count = std::min(chunk, n - at);
    for (std::size_t i = 0; i < images; ++i) {
      const int channels = inputs_.channels[i];
      const std::byte* from = in[i] + at * bytes_of(inputs_.classes[i]) * channels;
      real** to = loaded + i * most_channels;
      if (planar_ && channels == most_channels) {
        split_row(to, from, inputs_.classes[i], count, level_);
      } else {
        load_row(to[0], from, inputs_.classes[i], count * channels, level_);
      }
    }
    for (int c = 0; c < (planar_ ? channels_ : 1); ++c) {
      for (std::size_t i = 0; i < inputs; ++i) {
        const Binding& b = bindings_[i];
        if (b.kind == Binding::Kind::image) {
          const int channel =
              std::min(b.channel < 0 ? c : b.channel, inputs_.channels[b.image] - 1);
          rows[i] = loaded[b.image * most_channels + channel];
        } else {
          fill_place(places[i], b, x + at, y, count, step);
          rows[i] = places[i];
        }
      }
      evaluate<real>(planes[c], {rows, inputs}, count * step, c, state);
      if (point_->in_table) {
        const auto& tables = arguments_->tables;
        look_up_places(planes[c], count * step, tables[tables.size() > 1 ? c : 0]);
      }
    }
    if (planar_ && channels_ > 1) merge_row<real>(result, planes, count, level_);
    store_row(out + at * out_pixel, result, cls_, count * channels_, level_);
  }
}

void PointProgram::run(std::byte* out, std::span<const std::byte* const> in, std::int64_t x,
                       std::int64_t y, std::int64_t n, State& state, Scratch& scratch) const {
  if (fixed_) {
    run_fixed_sum(*fixed_, reinterpret_cast<std::uint8_t*>(out),
                  reinterpret_cast<const std::uint8_t*>(in[0]),
                  reinterpret_cast<const std::uint8_t*>(in[1]), n * channels_, level_);
  } else if (luminance_) {
    run_luminance(out, in[0], cls_, n, *point_->body, arguments_->of(0), level_);
  } else if (in_double_) {
    run_as<double>(out, in, x, y, n, state, scratch);
  } else {
    run_as<float>(out, in, x, y, n, state, scratch);
  }
}

std::optional<CodeTable> PointProgram::table(State& state, Scratch& scratch) const {
  if (inputs_.classes.size() != 1 || point_->mixes_channels ||
      !(is_integer(cls_) || point_->in_double) || !is_integer(inputs_.classes[0]) ||
      inputs_.channels[0] != channels_) {
    return std::nullopt;
  }
  for (const Binding& b : bindings_) {
    if (b.kind == Binding::Kind::column || b.kind == Binding::Kind::row) return std::nullopt;
  }
  const PixelClass from = inputs_.classes[0];
  const std::int64_t codes = codes_of(from);
  const std::int64_t bytes = bytes_of(from);
  std::vector<std::byte> all(codes * bytes);
  if (bytes == 1) {
    for (std::int64_t k = 0; k < codes; ++k) all[k] = static_cast<std::byte>(k);
  } else {
    auto* to = reinterpret_cast<std::uint16_t*>(all.data());
    for (std::int64_t k = 0; k < codes; ++k) to[k] = static_cast<std::uint16_t>(k);
  }
  CodeTable out{from, cls_, {}, {}};
  for (int c = 0; c < (arguments_->differ() ? channels_ : 1); ++c) {
    // The same program for one channel, with that channel's arguments.
    PointProgram one(*this);
    Arguments arguments;
    arguments.channels = {arguments_->of(c)};
    arguments.channels_float = {arguments_->float_of(c)};
    if (!arguments_->tables.empty()) {
      arguments.tables = {arguments_->tables[arguments_->tables.size() > 1 ? c : 0]};
    }
    one.arguments_ = &arguments;
    one.channels_ = 1;
    one.inputs_.channels = {1};
    one.planar_ = false;
    std::vector<std::byte>& table = out.channels.emplace_back(table_values(from) * bytes_of(cls_));
    const std::byte* row = all.data();
    one.run(table.data(), {&row, 1}, 0, 0, codes, state, scratch);
  }
  return out;
}

}  // namespace impipe::cpu
