// Fourier transforms of whole images as text: rows, then columns, and back, with what an operator
// does between them. Nothing but the result leaves the device.
#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/spectrum_plan.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/host_work.hpp"
#include "core/line_fft.hpp"

namespace impipe::jit {
namespace {

using Kind = SpectralWork::Kind;

constexpr int of_item = 16;  // numbers of a work-item

std::int64_t packed_lines(std::int64_t rows) {
  return rows / 16 * 8 + std::min<std::int64_t>(rows % 16, 8);
}

// What follows from a launch's sizes.
struct SpectrumSizes {
  Operand image;
  Kind kind = Kind::forward;
  bool doubled = false;
  SpectrumGroups by;

  Size size(const LaunchContext& at) const {
    const Size own = at.size_of(image);
    return doubled ? Size{2 * own.width, 2 * own.height} : own;
  }
  std::int64_t kept(const LaunchContext& at) const { return size(at).width / 2 + 1; }
  SpectrumAxes axes(const LaunchContext& at) const {
    const Size of = size(at);
    const bool cosine = kind == Kind::cosine || kind == Kind::inverse_cosine;
    if (kind == Kind::inverse) {
      return {{{of.width, of.height, false}, {of.height, of.width, true}}};
    }
    return {{{of.width, packed_lines(of.height), false},
             {of.height, cosine ? packed_lines(of.width) : kept(at), true}}};
  }
  std::shared_ptr<const SpectrumPlan> plan(const LaunchContext& at) const {
    return spectrum_plan(axes(at), by);
  }
};

class SpectrumText : WholeImageText<OnHost> {
 public:
  SpectrumText(Builder& builder, int n)
      : WholeImageText(builder, n),
        work_(*what_.work->spectral),
        single_(builder.cls(image_) == PixelClass::single),
        checked_(single_ ||
                 (work_.kind == Kind::factors && builder.cls(factors()) == PixelClass::single)),
        channels_(work_.kind == Kind::inverse
                      ? std::max(1, builder.spec().inputs[image_.index].channels / 2)
                      : builder.spec().inputs[image_.index].channels),
        sizes_{.image = image_,
               .kind = work_.kind,
               .doubled = work_.around != SpectralWork::Around::circular,
               .by = groups_of(builder.tuning(), builder.dialect())},
        words_(words()) {}

  void write() {
    write_words();
    pixel_ = pixel_of(image_, "pixel");
    switch (work_.kind) {
      case Kind::forward: return write_forward();
      case Kind::inverse: return write_inverse();
      case Kind::cosine: return write_cosine();
      case Kind::inverse_cosine: return write_inverse_cosine();
      case Kind::lucy: return write_lucy();
      case Kind::gain:
      case Kind::factors:
      case Kind::wiener:
      case Kind::taper: return write_filter();
    }
  }

 private:
  // A group's numbers, their real and imaginary parts apart and with gaps, in local memory.
  static int held_of(int items) { return of_item * items * 17 / 16; }
  static SpectrumGroups groups_of(const Tuning& tuning, Dialect dialect) {
    const std::int64_t most =
        dialect == Dialect::cuda ? tuning.max_local_bytes : tuning.local_bytes;
    SpectrumGroups by{.pairs = dialect != Dialect::opencl,
                      .processors = tuning.processors,
                      .number_microseconds = 16 / tuning.bytes_a_microsecond,
                      .operation_microseconds = 1 / tuning.operations_a_microsecond,
                      .launch_microseconds = tuning.launch_microseconds};
    while (by.items > 16 && 16 * std::int64_t{held_of(by.items)} > most) by.items /= 2;
    return by;
  }
  const Operand& factors() const { return builder_.node(n_).images.at(1); }

  std::string name(const std::string& label) const { return name_ + "_" + label; }
  std::string whole(const std::string& label, LaunchNumber f) {
    return builder_.integer(name(label), std::move(f));
  }
  std::string real(const std::string& label, double value) {
    return builder_.parameter(ParameterType::float64, name(label),
                              [value](const LaunchContext&, int) { return value; });
  }
  // Scratch memory of so many numbers of `bytes` a channel.
  std::string memory(const std::string& label, const std::string& type, std::int64_t bytes,
                     LaunchNumber numbers, int channels, bool cleared = false) {
    return builder_.scratch(
        name(label), type,
        [numbers = std::move(numbers), bytes, channels](const LaunchContext& at) {
          return bytes * channels * numbers(at);
        },
        cleared);
  }
  std::string complex_memory(const std::string& label, int channels) {
    return memory(
        label, "double2", 16,
        [sizes = sizes_](const LaunchContext& at) {
          std::int64_t most = sizes.size(at).height * sizes.kept(at);
          for (const SpectrumAxis& axis : sizes.axes(at)) {
            most = std::max(most, axis.length * axis.lines);
          }
          return most;
        },
        channels);
  }
  // Two of them: of rows that are transformed, and of columns.
  std::string lines_memory() { return complex_memory("numbers_n0", channels_); }
  std::string spectrum_memory() { return complex_memory("numbers_n1", channels_); }
  std::string image_memory(const std::string& label, bool cleared = false) {
    return memory(
        label, "double", 8,
        [sizes = sizes_](const LaunchContext& at) { return sizes.size(at).pixels(); }, channels_,
        cleared);
  }
  std::string between(int which) {
    return memory(
        which == 0 ? "between" : "between_too", "double2", 16,
        [sizes = sizes_](const LaunchContext& at) {
          const auto plan = sizes.plan(at);
          const SpectrumAxes axes = sizes.axes(at);
          std::int64_t most = 1;
          for (std::size_t a = 0; a < axes.size(); ++a) {
            most = std::max(most, plan->padded[a] * axes[a].lines);
          }
          return most;
        },
        channels_);
  }
  std::string plan_words() {
    return builder_.table(
        ParameterType::int32, name("plan"),
        [sizes = sizes_](const LaunchContext& at) { return sizes.plan(at)->words; });
  }
  std::string plan_factors() {
    return builder_.table(ParameterType::float64, name("factors"),
                          [sizes = sizes_](const LaunchContext& at) {
                            std::vector<double> factors = sizes.plan(at)->factors;
                            factors.resize(std::max<std::size_t>(factors.size(), 2));
                            return factors;
                          });
  }
  std::string cosine_table(const std::string& label, bool down) {
    return "((GLOBAL const double2*)" +
           builder_.table(ParameterType::float64, name(label),
                          [sizes = sizes_, down](const LaunchContext& at) {
                            const Size of = sizes.size(at);
                            return cosine_factors(down ? of.height : of.width);
                          }) +
           ")";
  }
  std::string unfit() {
    return memory(
        "unfit", "uint", 4, [](const LaunchContext&) { return 1; }, channels_ + 1, true);
  }

  // What most parts name.
  Substitutions::Map words() {
    const auto flag = [](bool holds) { return [holds] { return std::string(holds ? "1" : "0"); }; };
    const auto parameter = [this](const char* label, double value) {
      return [this, label, value] { return real(label, value); };
    };
    const auto size_of = [this](const char* label, auto value) {
      return [this, label, value] {
        return whole(label,
                     [sizes = sizes_, value](const LaunchContext& at) { return value(sizes, at); });
      };
    };
    using Sizes = const SpectrumSizes&;
    using At = const LaunchContext&;
    return {
        {"unroll", [this] { return sizes_.by.pairs ? builder_.unroll() : unroll_pragma(1); }},
        {"items", [this] { return number(sizes_.by.items); }},
        {"held", [this] { return number(held_of(sizes_.by.items)); }},
        {"rows", size_of("rows", [](Sizes s, At at) { return s.size(at).height; })},
        {"columns", size_of("columns", [](Sizes s, At at) { return s.size(at).width; })},
        {"kept", size_of("kept", [](Sizes s, At at) { return s.kept(at); })},
        {"lines", size_of("lines", [](Sizes s, At at) { return s.axes(at)[0].lines; })},
        {"column_lines",
         size_of("column_lines", [](Sizes s, At at) { return s.axes(at)[1].lines; })},
        {"width", [this] { return builder_.width(image_); }},
        {"height", [this] { return builder_.height(image_); }},
        {"scale",
         [this] {
           return builder_.parameter(ParameterType::float64, name("scale"),
                                     [sizes = sizes_](const LaunchContext& at, int) {
                                       return 1 / static_cast<double>(sizes.size(at).pixels());
                                     });
         }},
        {"around", [this] { return number(static_cast<int>(work_.around)); }},
        {"checked", flag(checked_)},
        {"unfit", [this] { return unfit(); }},
        {"channels", [this] { return number(channels_); }},
        {"value", [this] { return pixel_; }},
        {"shifted", flag(work_.shifted)},
        {"psf_rows", [this] { return number(work_.rows); }},
        {"psf_columns", [this] { return number(work_.columns); }},
        {"noise", parameter("noise", work_.noise)},
        {"white", parameter("white", work_.white)},
        {"damped_below", parameter("damped_below", work_.damped_below)},
        {"order", parameter("order", work_.gain.order)},
        {"cutoff", parameter("cutoff", work_.gain.cutoffs[0])},
        {"second_cutoff", parameter("second_cutoff", work_.gain.cutoffs[1])},
        {"normal", parameter("normal", std::accumulate(work_.psf.begin(), work_.psf.end(), 0.0) +
                                           root_epsilon)},
        {"type_of_gain", [this] { return number(static_cast<int>(work_.gain.type)); }},
        {"shape", [this] { return number(static_cast<int>(work_.gain.shape)); }},
        {"accelerated", flag(work_.accelerated)},
        {"across", [this] { return cosine_table("across", false); }},
        {"down", [this] { return cosine_table("down", true); }},
        {"pair_of", [this] { return name("cosine"); }},
        {"number_of", [this] { return name("from_cosine"); }},
        {"result_of", [this] { return result_; }},
        {"name", [this] { return own_name_; }}};
  }

  // A name with a number of its own. Kernels that differ by such numbers alone are one.
  std::string numbered(const std::string& label) {
    return name(label + "_n" + number(numbered_++));
  }
  // A function of this node, for texts that call it: its name.
  std::string function(const std::string& label, const char* part_name, Replacements own = {}) {
    own_name_ = numbered(label);
    const std::string made = own_name_;
    builder_.function(made, words_.filled(part(kernels::spectrum, part_name), own));
    return made;
  }
  // The same without buffers or parameters.
  void body(const std::string& label, const char* part_name, Replacements own = {}) {
    own_name_ = label;
    builder_.body_once(own_name_, words_.filled(part(kernels::spectrum, part_name), own));
  }

  void write_words() {
    builder_.body_once("sub_group", sub_group_words(builder_.dialect()));
    body("spectrum_words", "words", {{"copied", sizes_.by.pairs ? "1" : "0"}});
    body("spectrum_functions", "functions");
    for (const int radix : {3, 5, 7}) {
      std::string cosines, sines;
      for (int k = 0; k < radix; ++k) {
        const std::complex<double> root = turn(k, radix);
        cosines += (k > 0 ? ", " : "") + exact(root.real());
        sines += (k > 0 ? ", " : "") + exact(-root.imag());
      }
      body("butterfly_" + number(radix), "odd",
           {{"half", number(radix / 2)}, {"cosines", cosines}, {"sines", sines}});
    }
    for (const SpectrumStagePair& stage : stages()) {
      const std::string radix = number(stage.first * stage.second);
      body("make_" + radix, "stage",
           {{"radix", radix},
            {"first", number(stage.first)},
            {"second", number(stage.second)},
            {"two", stage.second > 1 ? "1" : "0"},
            {"many", number(spectrum_butterflies(stage.first * stage.second))}});
    }
  }
  std::vector<SpectrumStagePair> stages() const {
    std::vector<SpectrumStagePair> out;
    for (const SpectrumStagePair& stage : spectrum_stages) {
      if (stage.second == 1 || sizes_.by.pairs) out.push_back(stage);
    }
    return out;
  }
  static std::string exact(double value) {
    std::array<char, 32> digits{};
    const int count = std::snprintf(digits.data(), digits.size(), "%.17g", value);
    const std::string text(digits.data(), static_cast<std::size_t>(count));
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
  }

  // Transforms lines that `load` gives, into `numbers`, or by `store` where it is not empty.
  // `checked`: NaN and Inf among what `load` gives make the channel unfit.
  void transform(std::size_t axis, const std::string& load, const std::string& store,
                 const std::string& numbers, int channels, bool checked = false) {
    const int items = sizes_.by.items;
    std::string makes;
    for (const SpectrumStagePair& stage : stages()) {
      const std::string radix = number(stage.first * stage.second), head = "case " + radix + ": ";
      makes += statement(head + "make_" + radix + "(at, stage, &place, factors, re, im)") +
               statement("break");
    }
    for (int pass = 0; pass < max_spectrum_passes; ++pass) {
      builder_.kernel(
          numbered("transform"), items,
          words_.filled(part(kernels::spectrum, "transform"),
                        {{"plan", plan_words()},
                         {"factors", plan_factors()},
                         {"base", base(axis, pass)},
                         {"numbers", numbers},
                         {"between", between(0)},
                         {"between_too", between(1)},
                         {"makes", makes},
                         {"copied", sizes_.by.pairs ? "1" : "0"},
                         {"load", load},
                         {"stores", store.empty() ? "0" : "1"},
                         {"store", store},
                         {"checked", checked ? "1" : "0"}}),
          [sizes = sizes_, axis, pass, channels](const LaunchContext& at) {
            const auto plan = sizes.plan(at);
            const auto& passes = plan->passes[axis];
            const auto p = static_cast<std::size_t>(pass);
            return LaunchShape{{p < passes.size() ? passes[p].groups : 0, channels, 1},
                               {sizes.by.items, 1, 1}};
          },
          2, 16 * held_of(items));
    }
  }
  // Where the numbers of a pass are.
  std::string base(std::size_t axis, int pass) {
    return whole("base_n" + number(numbered_++),
                 [sizes = sizes_, axis, pass](const LaunchContext& at) {
                   const auto plan = sizes.plan(at);
                   const auto& passes = plan->passes[axis];
                   const auto p = static_cast<std::size_t>(pass);
                   return p < passes.size() ? std::int64_t{passes[p].place} : 0;
                 });
  }

  // A function that reads pixels of an image, and sets a flag of `unfit` at NaN and Inf.
  std::string pixel_of(const Operand& image, const std::string& label,
                       const std::string& flag = "") {
    const PlaneText in = builder_.plane(image);
    const bool checked = !flag.empty() && builder_.cls(image) == PixelClass::single;
    return function(label, "pixel",
                    {{"value_type", type_of(builder_.cls(image))},
                     {"plane", in.pointer},
                     {"stride", in.stride},
                     {"step", channel_step(image)},
                     {"checked", checked ? "1" : "0"},
                     {"shared", flag}});
  }
  std::string channel_step(const Operand& image) {
    const int bytes = bytes_of(builder_.cls(image));
    return builder_.integer(
        Builder::name(image) + "_channel",
        [place = builder_.place_of(image), bytes](const LaunchContext& at) {
          return at.shape_of(place).step / bytes;
        },
        ParameterType::int64);
  }
  // One that writes a pixel of the result.
  std::string put_pixel() {
    const PlaneText out = builder_.plane(self_);
    const PixelClass cls = builder_.node(n_).cls;
    const bool single = cls == PixelClass::single;
    result_ = function(
        "result", "result",
        {{"value_type", type_of(cls)},
         {"is_single", single ? "1" : "0"},
         {"code", single ? "" : number(static_cast<std::int64_t>(class_max(cls))) + ".0"}});
    return function(
        "put", "put_pixel",
        {{"plane", out.pointer}, {"stride", out.stride}, {"step", channel_step(self_)}});
  }
  // Both parts of complex numbers, or one function of them, as channels.
  std::string put_part(const std::string& flag) {
    const PlaneText out = builder_.plane(self_);
    static constexpr int numbers[] = {0, 1, 2, 3, 4, 5};  // of ComplexPart
    return function("put_part", "put_part",
                    {{"plane", out.pointer},
                     {"stride", out.stride},
                     {"step", channel_step(self_)},
                     {"shared", flag},
                     {"shifted", work_.shifted && work_.kind == Kind::forward ? "1" : "0"},
                     {"part", number(numbers[static_cast<std::size_t>(work_.part)])},
                     {"each", number(channels_of(work_.part))}});
  }

  // The spectrum of a real image of which `value` gives a pixel: in one of two images of lines.
  std::string rows_of(const std::string& value, int channels) {
    const std::string lines = lines_memory();
    transform(0, function("pairs", "pairs", {{"value", value}}), "", lines, channels,
              single_ && value == pixel_);
    return function("halves", "halves", {{"from", lines}});
  }
  // The spectrum of the point spread function.
  std::string transfer() {
    const std::string table =
        builder_.table(ParameterType::float64, name("psf_table"),
                       [psf = work_.psf](const LaunchContext&) { return psf; });
    const std::string halves = rows_of(function("psf", "psf", {{"table", table}}), 1);
    const std::string made = complex_memory("numbers_n2", 1);
    transform(1, halves, "", made, 1);
    return made;
  }
  // What multiplies the numbers of a spectrum: a part within put_product, and its text.
  struct Factor {
    std::string_view part;
    std::string text;
  };
  Factor factor_by(const char* by, Replacements own) const {
    return {by, words_.filled(part(kernels::spectrum, by), own)};
  }
  // Columns, a product, columns back, rows back.
  void filter(const std::string& halves, const Factor& factor, const std::string& put) {
    const std::string spectrum = spectrum_memory(), lines = lines_memory();
    const auto text = [&](std::string_view by) { return by == factor.part ? factor.text : ""; };
    const std::string product = function("product", "put_product",
                                         {{"from", spectrum},
                                          {"by_transfer", text("by_transfer")},
                                          {"by_wiener", text("by_wiener")},
                                          {"by_gain", text("by_gain")},
                                          {"by_factors", text("by_factors")}});
    transform(1, halves, product, spectrum, channels_);
    transform(1, function("swapped", "swapped", {{"from", spectrum}}), "", lines, channels_);
    transform(0, function("joined", "joined", {{"from", lines}}),
              function("put_rows", "put_rows", {{"put", put}}), spectrum, channels_);
  }

  void pixels(const std::string& label, const std::string& value, const std::string& put) {
    builder_.kernel(
        name(label), sizes_.by.items,
        words_.filled(part(kernels::spectrum, "pixels"), {{"value", value}, {"put", put}}),
        [sizes = sizes_, channels = channels_](const LaunchContext& at) {
          const std::int64_t all = sizes.size(at).pixels();
          return LaunchShape{{(all + sizes.by.items - 1) / sizes.by.items, channels, 1},
                             {sizes.by.items, 1, 1}};
        });
  }

  void write_forward() {
    const std::string halves = rows_of(pixel_, channels_);
    transform(1, halves, function("put_spectrum", "put_spectrum", {{"put", put_part("channel")}}),
              spectrum_memory(), channels_);
  }

  void write_inverse() {
    const bool pairs = builder_.spec().inputs[image_.index].channels > 1;
    pixel_ = pixel_of(image_, "part");
    const std::string lines = lines_memory();
    transform(0, function("complex", "complex", {{"two_parts", pairs ? "1" : "0"}}), "", lines,
              channels_, single_);
    transform(1, function("whole", "whole", {{"from", lines}}),
              function("put_inverse", "put_inverse", {{"put", put_part("channel")}}),
              spectrum_memory(), channels_);
  }

  void write_cosine() {
    const std::string lines = lines_memory();
    const std::string columns = spectrum_memory();
    transform(0, function("in_order", "in_order"), "", lines, channels_, single_);
    body(name("cosine"), "cosine");
    transform(1, function("cosine_columns", "cosine_columns", {{"from", lines}}), "", columns,
              channels_);
    pixels("pixels", function("cosine_value", "cosine_value", {{"from", columns}}), put_pixel());
  }

  void write_inverse_cosine() {
    const std::string lines = lines_memory();
    const std::string columns = spectrum_memory();
    body(name("from_cosine"), "from_cosine");
    transform(0, function("from_rows", "from_cosine_rows"), "", lines, channels_, single_);
    const std::string value = function("row_value", "row_value", {{"from", lines}});
    transform(1, function("from_columns", "from_cosine_columns", {{"value", value}}), "", columns,
              channels_);
    pixels("pixels", function("column_value", "column_value", {{"from", columns}}), put_pixel());
  }

  void write_filter() {
    std::string put = put_pixel();
    if (work_.kind == Kind::taper) put = put_tapered(put);
    const Factor factor = factor_of_kind();  // whose rows lie where those of the image do then
    filter(rows_of(pixel_, channels_), factor, put);
  }
  Factor factor_of_kind() {
    switch (work_.kind) {
      case Kind::gain: {
        const std::string low_pass = function("low_pass", "low_pass");
        return factor_by("by_gain",
                         {{"gain_of", function("gain", "gain", {{"low_pass", low_pass}})}});
      }
      case Kind::factors: {
        const bool two = builder_.spec().inputs[factors().index].channels > 1;
        return factor_by("by_factors", {{"value", pixel_of(factors(), "factor", number(channels_))},
                                        {"two_parts", two ? "1" : "0"}});
      }
      case Kind::wiener: return factor_by("by_wiener", {{"transfer", transfer()}});
      default: return factor_by("by_transfer", {{"transfer", transfer()}, {"sign", "1.0"}});
    }
  }

  std::string put_tapered(const std::string& put) {
    const std::string extremes = memory(
        "extremes", "uint", 4, [](const LaunchContext&) { return 2; }, channels_, true);
    const std::string betas = builder_.table(
        ParameterType::float64, name("betas"), [sizes = sizes_, work = work_](const auto& at) {
          Taper taper = taper_of(work, sizes.size(at).height, sizes.size(at).width);
          taper.down.insert(taper.down.end(), taper.across.begin(), taper.across.end());
          return taper.down;
        });
    builder_.kernel(name("extremes_of"), sizes_.by.items,
                    words_.filled(part(kernels::spectrum, "extremes"), {{"extremes", extremes}}),
                    [sizes = sizes_, channels = channels_](const LaunchContext& at) {
                      const std::int64_t all = sizes.size(at).pixels();
                      const std::int64_t groups = (all + sizes.by.items - 1) / sizes.by.items;
                      return LaunchShape{
                          {std::min<std::int64_t>(groups, 4 * sizes.by.processors), channels, 1},
                          {sizes.by.items, 1, 1}};
                    });
    return function("put_tapered", "put_tapered",
                    {{"extremes", extremes}, {"betas", betas}, {"put", put}});
  }

  void write_lucy() {
    const std::string transfer_of_psf = transfer();
    const std::string estimate = image_memory("image_n0"), ratio = image_memory("image_n1");
    const bool steps = work_.accelerated;
    const std::string previous = steps ? image_memory("previous", true) : "";
    const std::string move = steps ? image_memory("move", true) : "";
    const std::string last = steps ? image_memory("last", true) : "";
    const std::string lambda =
        steps ? memory(
                    "lambda", "double", 8, [](const LaunchContext&) { return 1; }, channels_, true)
              : "";
    const std::string sharp = function(
        "sharp", "estimate", {{"estimate", estimate}, {"lambda", lambda}, {"previous", previous}});
    const std::string put_ratio = function("put_ratio", "put_ratio", {{"doubles", ratio}});
    const std::string ratio_value = function("ratio_value", "stored_value", {{"doubles", ratio}});
    const std::string put_estimate = function("put_estimate", "put_estimate",
                                              {{"value", sharp},
                                               {"estimate", estimate},
                                               {"previous", previous},
                                               {"move", move},
                                               {"last", last}});
    const std::string checked_pixel = pixel_of(image_, "checked_pixel", "channel");
    pixels("begin", function("unit", "over_white", {{"value", checked_pixel}}),
           function("put_first", "put_value", {{"doubles", estimate}}));
    const Factor blurred =
        factor_by("by_transfer", {{"transfer", transfer_of_psf}, {"sign", real("sign_n0", 1)}});
    const Factor correlated =
        factor_by("by_transfer", {{"transfer", transfer_of_psf}, {"sign", real("sign_n1", -1)}});
    const auto iterate = [&] {
      filter(rows_of(sharp, channels_), blurred, put_ratio);
      filter(rows_of(ratio_value, channels_), correlated, put_estimate);
    };
    constexpr int of_iteration = 8 * max_spectrum_passes;
    iterate();
    const int plain = steps ? std::min(work_.iterations, 2) : work_.iterations;
    builder_.repeat(of_iteration, plain - 1);
    if (work_.iterations > plain) {
      write_lambda(move, last, lambda);
      iterate();
      builder_.repeat(of_iteration + 2, work_.iterations - plain - 1);
    }
    const std::string estimated = function("estimated", "times_white", {{"doubles", estimate}});
    pixels("end", estimated, put_pixel());
  }

  void write_lambda(const std::string& move, const std::string& last, const std::string& lambda) {
    const std::string products = memory(
        "products", "double", 16,
        [sizes = sizes_](const LaunchContext& at) { return sizes.size(at).height; }, channels_);
    body("spectrum_sum", "sum");
    builder_.kernel(name("products_of"), 64,
                    words_.filled(part(kernels::spectrum, "products"),
                                  {{"move", move}, {"last", last}, {"products", products}}),
                    [sizes = sizes_, channels = channels_](const LaunchContext& at) {
                      return LaunchShape{{sizes.size(at).height, channels, 1}, {64, 1, 1}};
                    });
    builder_.kernel(name("lambda_of"), 64,
                    words_.filled(part(kernels::spectrum, "lambda"),
                                  {{"products", products}, {"lambda", lambda}}),
                    [channels = channels_](const LaunchContext&) {
                      return LaunchShape{{1, channels, 1}, {64, 1, 1}};
                    });
  }

  const SpectralWork& work_;
  bool single_;   // the image
  bool checked_;  // whether pixels may be NaN or infinite
  int channels_;  // of complex numbers or of real ones
  SpectrumSizes sizes_;
  std::string own_name_;  // of the function that is written
  std::string pixel_;     // the function that reads the image
  std::string result_;    // the one that makes a pixel of a number
  int numbered_ = 0;      // names so far
  Substitutions words_;
};

}  // namespace

void write_spectrum(Builder& builder, int n) { SpectrumText(builder, n).write(); }

}  // namespace impipe::jit
