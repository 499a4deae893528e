// Point nodes: rows of pixels through a body, an expression or a table.
#include "backends/cpu/point/point.hpp"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/point/exact_shortcut.hpp"
#include "backends/cpu/point/luminance.hpp"
#include "backends/cpu/tile/byte_difference.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/body_tree.hpp"
#include "core/expression.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t chunk = 512;  // pixels: the rows of a chunk stay in L1

template <class real>
const std::vector<real>& arguments_of(const Arguments& arguments) {
  if constexpr (std::is_same_v<real, float>) {
    return arguments.in_float;
  } else {
    return arguments.in_double;
  }
}

// Rows of this class are rows of numbers as they are.
template <class real>
bool is_number(PixelClass cls) {
  return std::is_same_v<real, float> && cls == PixelClass::single;
}

// Places, rounded and clamped to the table's ends, become the values there; NaN is the first place.
// What bodies::to_code computes, without its branches, which no processor can foresee here.
template <class real>
void look_up_places(real* values, std::int64_t n, std::span<const double> table) {
  const real last = static_cast<real>(table.size() - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const real positive = values[i] > real(0) ? values[i] : real(0);
    const real place = positive < last ? positive : last;
    const std::int32_t whole = static_cast<std::int32_t>(place);
    const std::int32_t rounded = whole + (place - static_cast<real>(whole) >= real(0.5) ? 1 : 0);
    values[i] = static_cast<real>(table[static_cast<std::size_t>(rounded)]);
  }
}

// Functions that take longer than a table, as powers do.
bool calls_functions(const Point& point) {
  if (point.body != nullptr) return traits_of(*point.body).functions;
  return std::ranges::any_of(point.expression->nodes(), [](const ExpressionNode& node) {
    using Op = ExpressionOp;
    return node.op == Op::power || node.op == Op::exp || node.op == Op::log || node.op == Op::sin ||
           node.op == Op::cos || node.op == Op::tan || node.op == Op::atan2;
  });
}

}  // namespace

PointProgram::Binding::Kind PointProgram::kind_of(const std::string& name) {
  using Kind = Binding::Kind;
  return name == "col"               ? Kind::column
         : name == "row"             ? Kind::row
         : name == "width"           ? Kind::width
         : name == "height"          ? Kind::height
         : name == "white"           ? Kind::white
         : argument_index(name) >= 0 ? Kind::argument
                                     : Kind::image;
}

PointProgram::PointProgram(const Node& node, const Arguments& arguments, const PointInputs& inputs,
                           Size size, CpuLevel level)
    : point_(&std::get<Point>(node.primitive)),
      arguments_(&arguments),
      inputs_(inputs),
      cls_(node.cls),
      size_(size),
      level_(level) {
  in_double_ = point_->in_double ||
               (is_integer(cls_) && std::all_of(inputs.classes.begin(), inputs.classes.end(),
                                                [](PixelClass c) { return is_integer(c); }));
  int image = 0;  // the next
  if (point_->expression != nullptr) {
    for (const std::string& name : point_->expression->variables()) {
      const Binding::Kind kind = kind_of(name);
      bindings_.push_back({kind, kind == Binding::Kind::image      ? image++
                                 : kind == Binding::Kind::argument ? argument_index(name)
                                                                   : 0});
    }
    return;
  }
  while (image < point_->body->inputs) bindings_.push_back({.image = image++});
  if (in_double_ && inputs.classes.size() == 2) {
    const ExactShortcut shortcut =
        exact_shortcut(*point_->body, arguments.in_double, inputs.classes[0], inputs.classes[1],
                       cls_, size.pixels(), level_);
    in_double_ = !shortcut.single;
    fixed_ = shortcut.fixed;
    difference_ = shortcut.difference;
  }
  if (!point_->in_table) {
    words_ = word_sum(*point_->body, inputs.classes, cls_, arguments.in_double, level_);
  }
  if (!words_ && !point_->in_double && !point_->in_table && inputs.classes.size() == 3) {
    mean_ = mean_weights(*point_->body, inputs.classes, cls_, arguments.in_double, level_);
  }
}

bool PointProgram::reads_place() const {
  return std::any_of(bindings_.begin(), bindings_.end(), [](const Binding& b) {
    return b.kind == Binding::Kind::column || b.kind == Binding::Kind::row;
  });
}

template <class real>
void PointProgram::fill_place(real* out, Binding::Kind kind, std::int64_t x, std::int64_t y,
                              std::int64_t n) const {
  using Kind = Binding::Kind;
  if (kind == Kind::column) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<real>(x + i);
    return;
  }
  const real value = kind == Kind::row      ? static_cast<real>(y)
                     : kind == Kind::width  ? static_cast<real>(size_.width)
                     : kind == Kind::height ? static_cast<real>(size_.height)
                                            : static_cast<real>(inputs_.white);
  std::fill_n(out, n, value);
}

template <class real>
void PointProgram::evaluate(real* out, std::span<const real* const> rows, std::int64_t n,
                            State& state) const {
  if (point_->expression == nullptr) {
    const real* args = arguments_of<real>(*arguments_).data();
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
                          std::int64_t y, std::int64_t n, bool spills, State& state,
                          Scratch& scratch) const {
  const ScratchScope scope(scratch);
  const std::size_t inputs = bindings_.size();
  auto** rows = scratch.take<const real*>(static_cast<std::int64_t>(inputs));
  auto** own = scratch.take<real*>(static_cast<std::int64_t>(inputs));
  for (std::size_t i = 0; i < inputs; ++i) own[i] = scratch.take<real>(chunk);
  real* result = scratch.take<real>(chunk);
  for (std::int64_t at = 0; at < n; at += chunk) {
    const std::int64_t count = std::min(chunk, n - at);
    for (std::size_t i = 0; i < inputs; ++i) {
      const Binding::Kind kind = bindings_[i].kind;
      const auto image = bindings_[i].image;
      rows[i] = own[i];
      if (kind == Binding::Kind::argument) {
        std::fill_n(own[i], count,
                    arguments_of<real>(*arguments_)[static_cast<std::size_t>(image)]);
        continue;
      }
      if (kind != Binding::Kind::image) {
        fill_place(own[i], kind, x + at, y, count);
        continue;
      }
      // A plane may be there for several variables.
      const auto same = [&](const Binding& b) {
        return b.kind == kind && in[b.image] == in[image];
      };
      const std::size_t first = static_cast<std::size_t>(
          std::find_if(bindings_.begin(), bindings_.end(), same) - bindings_.begin());
      const PixelClass cls = inputs_.classes[image];
      const std::byte* from = in[image] + at * bytes_of(cls);
      if (first < i) {
        rows[i] = rows[first];
      } else if (is_number<real>(cls)) {
        rows[i] = reinterpret_cast<const real*>(from);
      } else {
        load_row(own[i], from, cls, count, level_);
      }
    }
    std::byte* place = out + at * bytes_of(cls_);
    const bool number = is_number<real>(cls_);
    real* to = number && !spills ? reinterpret_cast<real*>(place) : result;
    evaluate<real>(to, {rows, inputs}, count, state);
    if (point_->in_table) look_up_places(to, count, arguments_->table);
    if (number && spills) {
      stream_row(place, reinterpret_cast<const std::byte*>(result), count * bytes_of(cls_), level_);
    } else if (to == result) {
      store_row(place, result, cls_, count, level_);
    }
  }
}

// Of planes of codes, by way of rows of numbers.
bool PointProgram::makes_singles() const {
  return point_->body != nullptr && !point_->in_table && cls_ == PixelClass::single &&
         !in_double_ && !words_ && !mean_ &&
         std::ranges::all_of(inputs_.classes, [](PixelClass c) { return is_integer(c); });
}

bool PointProgram::shares_numbers(const PointProgram& other) const {
  return (makes_singles() && other.makes_singles()) || (mean_ && other.mean_);
}

void PointProgram::run_together(std::span<const PointProgram* const> programs,
                                std::span<std::byte* const> outs,
                                std::span<const std::byte* const> in, std::int64_t n, bool spills,
                                Scratch& scratch) {
  const ScratchScope scope(scratch);
  const PointProgram& first = *programs[0];
  const CpuLevel level = first.level_;
  if (first.mean_) {
    std::vector<MeanBody> means;
    for (const PointProgram* p : programs) {
      means.push_back({p->point_->body, &*p->mean_, &p->arguments_->in_double});
    }
    return run_means(outs, in.data(), n, means, level);
  }
  auto** rows = scratch.take<const float*>(static_cast<std::int64_t>(in.size()));
  auto** own = scratch.take<float*>(static_cast<std::int64_t>(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) own[i] = scratch.take<float>(chunk);
  auto* result = scratch.take<float>(chunk);
  State none;  // of a body
  for (std::int64_t at = 0; at < n; at += chunk) {
    const std::int64_t count = std::min(chunk, n - at);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto same =
          static_cast<std::size_t>(std::find(in.begin(), in.end(), in[i]) - in.begin());
      rows[i] = own[same];
      if (same < i) continue;
      const PixelClass cls = first.inputs_.classes[i];
      load_row(own[i], in[i] + at * bytes_of(cls), cls, count, level);
    }
    for (std::size_t p = 0; p < programs.size(); ++p) {
      std::byte* place = outs[p] + at * static_cast<std::int64_t>(sizeof(float));
      float* to = spills ? result : reinterpret_cast<float*>(place);
      programs[p]->evaluate<float>(to, {rows, in.size()}, count, none);
      if (!spills) continue;
      stream_row(place, reinterpret_cast<const std::byte*>(result),
                 count * static_cast<std::int64_t>(sizeof(float)), level);
    }
  }
}

void PointProgram::run(std::byte* out, std::span<const std::byte* const> in, std::int64_t x,
                       std::int64_t y, std::int64_t n, bool spills, State& state,
                       Scratch& scratch) const {
  const auto bytes = [&](std::size_t i) { return reinterpret_cast<const std::uint8_t*>(in[i]); };
  if (difference_) {
    byte_differences(reinterpret_cast<std::uint8_t*>(out), bytes(0), bytes(1), n, level_);
  } else if (fixed_) {
    run_fixed_sum(*fixed_, reinterpret_cast<std::uint8_t*>(out), bytes(0), bytes(1), n, level_);
  } else if (words_) {
    run_word_sum(out, in.data(), n, *words_, *point_->body, arguments_->in_double, level_);
  } else if (mean_) {
    const MeanBody mean{point_->body, &*mean_, &arguments_->in_double};
    run_means({&out, 1}, in.data(), n, {&mean, 1}, level_);
  } else if (in_double_) {
    run_as<double>(out, in, x, y, n, spills, state, scratch);
  } else {
    run_as<float>(out, in, x, y, n, spills, state, scratch);
  }
}

std::optional<CodeTable> PointProgram::table(State& state, Scratch& scratch) const {
  if (inputs_.classes.size() != 1 || !is_integer(inputs_.classes[0])) return std::nullopt;
  // A float that takes little is computed faster than it is looked up.
  if (!is_integer(cls_) && !point_->in_double && !calls_functions(*point_)) return std::nullopt;
  if (reads_place()) return std::nullopt;
  CodeTable out = table_as_it_is(state, scratch);
  look_for_line(out);
  return out;
}

CodeTable PointProgram::table_as_it_is(State& state, Scratch& scratch) const {
  const PixelClass from = inputs_.classes[0];
  const std::int64_t codes = codes_of(from);
  std::vector<std::byte> all(static_cast<std::size_t>(codes * bytes_of(from)));
  if (bytes_of(from) == 1) {
    for (std::int64_t k = 0; k < codes; ++k) all[k] = static_cast<std::byte>(k);
  } else {
    auto* to = reinterpret_cast<std::uint16_t*>(all.data());
    for (std::int64_t k = 0; k < codes; ++k) to[k] = static_cast<std::uint16_t>(k);
  }
  CodeTable out{from, cls_, {}, {}};
  out.values.resize(table_values(from) * bytes_of(cls_));
  const std::byte* row = all.data();
  run(out.values.data(), {&row, 1}, 0, 0, codes, false, state, scratch);
  return out;
}

// A line through what the body makes of two codes: the first and the last that are no longer what
// the ends are, at which a bound may have made the values.
void PointProgram::look_for_line(CodeTable& table) const {
  if (!in_double_ || point_->body == nullptr || point_->in_table || !is_integer(cls_)) return;
  const std::int64_t last = codes_of(table.from) - 1;
  const std::int64_t pixel = bytes_of(cls_);
  const auto same = [&](std::int64_t a, std::int64_t b) {
    const std::byte* values = table.values.data();
    return std::equal(values + a * pixel, values + (a + 1) * pixel, values + b * pixel);
  };
  std::int64_t low = 0, high = last;
  while (low < last && same(low + 1, 0)) ++low;
  while (high > low && same(high - 1, last)) --high;
  if (high - low < 3) return;
  const double codes[] = {static_cast<double>(low + 1), static_cast<double>(high - 1)};
  const double* rows[] = {codes};
  double values[2];
  point_->body->rows_double[static_cast<int>(level_)](values, rows, 2,
                                                      arguments_->in_double.data());
  const double slope = (values[1] - values[0]) / (codes[1] - codes[0]);
  const double offset = values[0] - slope * codes[0] + 0.5;
  // Ties all go up, or all down, by rounding errors that the line's own are not.
  for (const bool in_double : {false, true}) {
    const double unit = in_double ? 0x1p-36 : 0x1p-9;
    for (const double moved : {0.0, unit, -unit}) {
      if (take_line(table, {slope, offset + moved, in_double}, level_)) return;
    }
  }
}

bool PointProgram::can_replace(const CodeTable& table, State& state, Scratch& scratch) const {
  if (!in_double_ || point_->in_double || point_->in_table) return false;
  // Functions are computed one by one.
  if (point_->body == nullptr || traits_of(*point_->body).functions) return false;
  PointProgram in_single = *this;
  in_single.replace_table();
  return in_single.table_as_it_is(state, scratch).values == table.values;
}

}  // namespace impipe::cpu
