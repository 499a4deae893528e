// Histograms as text: counts of codes (integer classes) or bins, then bins as doubles.
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int most_local = 2048;  // counters a group keeps for itself: 8 KB

constexpr const char* local_kernel = R"(  LOCAL uint counts[$counters];
  for (int c = 0; c < $channels; ++c) {
    for (int i = ITEM; i < $counters; i += $items) counts[i] = 0;
    BARRIER;
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
      for (int x = ITEM; x < $width; x += $items) {
        const int place = $place;
        if (place >= 0) ADD_LOCAL(&counts[place], 1u);
      }
    }
    BARRIER;
    for (int i = ITEM; i < $counters; i += $items) {
      if (counts[i] != 0) ADD_GLOBAL(&$counts[c * $counters + i], counts[i]);
    }
    BARRIER;
  }
)";

constexpr const char* global_kernel = R"(  for (int c = 0; c < $channels; ++c) {
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
      for (int x = ITEM; x < $width; x += $items) {
        const int place = $place;
        if (place >= 0) ADD_GLOBAL(&$counts[c * $counters + place], 1u);
      }
    }
  }
)";

constexpr const char* bins_kernel = R"(  const int code = GROUP_X * $items + ITEM;
  if (code >= $counters) return;
  const int bin = $bin;
  if (bin < 0) return;
  for (int c = 0; c < $channels; ++c) {
    ADD_GLOBAL(&$bins[c * $count + bin], $counts[c * $counters + code]);
  }
)";

constexpr const char* end_kernel = R"(  const int i = GROUP_X * $items + ITEM;
  if (i < $total) $out[i] = (double)$bins[i];
)";

// The function NAME_bin(given, v): the bin of a value, -1 for none.
std::string write_bin(Builder& to, int n) {
  const Node& node = to.node(n);
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  const std::string name = Builder::name({false, n}) + "_bin";
  const Operand image = node.images[0];
  std::string bin = "v";
  if (histogram.rule == BinRule::user) {
    std::vector<std::string> parameters, arguments;
    for (const std::string& v : histogram.expression->variables()) {
      parameters.push_back("v_" + v);
      arguments.push_back(v == "white" ? to.white(image, "double") : "v");
    }
    to.body("\n" +
            body_function(name + "_expression", "double", "", parameters,
                          "return " + expression_body(*histogram.expression, parameters) + ";"));
    bin = "floor(" + name + "_expression(" + joined(arguments) + "))";
  } else if (histogram.rule == BinRule::centred) {
    const double largest = class_max(to.cls(image));
    const std::string white =
        to.parameter(ParameterType::float64, Builder::name({false, n}) + "_white",
                     [image, largest](const LaunchContext& at, int) {
                       return at.white_of(image) > 0 ? at.white_of(image) : largest;
                     });
    bin = "floor(clamp_double(v, 0.0, " + white + ") * " + std::to_string(histogram.bins - 1) +
          ".0 / " + white + " + 0.5)";
  }
  to.body("\nFUNCTION int " + name + "(const struct Parameters* given, const double v) {\n" +
          "  const double bin = " + bin + ";\n  return bin >= 0.0 && bin < " +
          std::to_string(histogram.bins) + ".0 ? (int)bin : -1;\n}\n");
  return name;
}

}  // namespace

void write_histogram(Builder& to, int n) {
  const Node& node = to.node(n);
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  const Operand image = node.images[0];
  const std::string name = Builder::name({false, n});
  const int channels = to.channels(image);
  const bool codes = is_integer(to.cls(image));
  // What is counted first: the codes of an integer class, else bins at once.
  const int counters = codes ? static_cast<int>(class_max(to.cls(image))) + 1 : histogram.bins;
  const std::string bin = write_bin(to, n);
  const auto counts = [&](const std::string& suffix, int count) {
    return to.scratch(
        name + suffix, "uint",
        [=](const LaunchContext&) { return std::int64_t{4} * count * channels; }, true);
  };
  const std::string value = to.value(image, "x", "y", "c");
  const std::string place = codes ? "(int)" + value : bin + "(given, (double)" + value + ")";
  const int most = to.tuning().groups_at_once;
  to.kernel(name + "_counts_of_groups", items,
            filled(counters <= most_local ? local_kernel : global_kernel,
                   {{"counters", std::to_string(counters)},
                    {"channels", std::to_string(channels)},
                    {"items", std::to_string(items)},
                    {"width", to.width(image)},
                    {"height", to.height(image)},
                    {"place", place},
                    {"counts", counts("_counts", counters)}}),
            [image, most](const LaunchContext& at) {
              return LaunchShape{{std::min<std::int64_t>(most, at.size_of(image).height), 1, 1},
                                 {items, 1, 1}};
            });
  std::string bins = "_counts";
  if (codes) {
    bins = "_bins";
    to.kernel(name + "_bins_of_codes", items,
              filled(bins_kernel, {{"items", std::to_string(items)},
                                   {"counters", std::to_string(counters)},
                                   {"bin", bin + "(given, (double)code)"},
                                   {"channels", std::to_string(channels)},
                                   {"bins", counts("_bins", histogram.bins)},
                                   {"count", std::to_string(histogram.bins)},
                                   {"counts", counts("_counts", counters)}}),
              [counters](const LaunchContext&) {
                return LaunchShape{{(counters + items - 1) / items, 1, 1}, {items, 1, 1}};
              });
  }
  const int total = histogram.bins * channels;
  to.kernel(name + "_as_doubles", items,
            filled(end_kernel, {{"items", std::to_string(items)},
                                {"total", std::to_string(total)},
                                {"bins", counts(bins, histogram.bins)},
                                {"out", to.measure({false, n})}}),
            [total](const LaunchContext&) {
              return LaunchShape{{(total + items - 1) / items, 1, 1}, {items, 1, 1}};
            });
}

}  // namespace impipe::jit
