// The rows of `sweep` follow from the catalogue: what an operator's example gives it stays, and one
// parameter after the other takes the values of a useful range.
#include "bench/sweep_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/operator.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::bench {
namespace {

constexpr int usual_side = 4096;
constexpr int other_sides[] = {512, 1024, 2048, 8192};  // of what an operator's example gives it
constexpr const char* natural = "natural";

// A value of a parameter as text; where there is an order, its place on the axis.
struct SweptValue {
  std::string series;  // values of one series have an order
  std::string text;
  double place = 0;
};

struct Content {
  const char* name;
  const char* pipeline;  // of a gray image; {size} is its side
};
constexpr Content contents[] = {
    {"constant", "constant 0.5 size={size}"},
    {"noise", "noise {size}"},
    {"checkerboard", "checkerboard {size} side=1"},
    {"spiral",
     "constant 0 size={size} | im2single | map 'sin(sqrt((col - width / 2) * (col - width / 2) + "
     "(row - height / 2) * (row - height / 2)) / 4 + atan2(row - height / 2, col - width / 2)) / 2 "
     "+ 0.5' | im2uint8"},
};

// Of the operators that have it: an image with a value for each code.
constexpr const char* table_parameter = "lut";

// Useful ranges, in steps of less than 2.
constexpr double sides[] = {3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 21, 31, 45, 63};
constexpr double radii[] = {1, 2, 3, 4, 5, 6, 7, 10, 15, 22, 31};
constexpr double sigmas[] = {0.5, 0.7, 1, 1.5, 2, 3, 4.5, 7, 10, 14, 20};
constexpr double scales[] = {0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 4};
constexpr double angles[] = {0, 1, 5, 30, 45, 60, 90, 180};
constexpr double bins[] = {16, 32, 64, 128, 256, 512, 1024, 4096, 65536};
constexpr double counts[] = {1, 2, 3, 4, 6, 8, 10};

struct Range {
  std::string_view parameter;
  std::span<const double> values;
};
// By the parameter's name; those that the time does not depend on have none.
const Range ranges[] = {{"size", sides},   {"sigma", sigmas}, {"radius", radii},
                        {"scale", scales}, {"angle", angles}, {"rotate", angles},
                        {"bins", bins},    {"tiles", sides},  {"n", counts}};

std::vector<SweptValue> numbers_of(const Parameter& parameter) {
  const auto range = std::find_if(std::begin(ranges), std::end(ranges),
                                  [&](const Range& r) { return r.parameter == parameter.name; });
  const Numbers& numbers = parameter.numbers;
  if (numbers.max_count == 0 || numbers.min_count > 1 || range == std::end(ranges)) return {};
  std::vector<SweptValue> values;
  for (const double value : range->values) {
    if (value < numbers.low || value > numbers.high) continue;
    if (numbers.integer && value != std::floor(value)) continue;
    if (numbers.odd && std::fmod(value, 2) == 0) continue;
    values.push_back({std::string(parameter.name), fmt::format("{:g}", value), value});
  }
  return values;
}

std::vector<SweptValue> elements() {
  std::vector<SweptValue> values;
  const auto add = [&](const std::string& shape, const char* form, std::span<const double> sizes) {
    for (const double size : sizes) {
      values.push_back({shape, fmt::format(fmt::runtime(form), size), size});
    }
  };
  constexpr double threes[] = {3, 6, 9, 15, 21, 30};
  add("disk", "disk,{:g}", radii);
  add("square", "square,{:g}", sides);
  add("rectangle", "rectangle,3,{:g}", sides);
  add("diamond", "diamond,{:g}", radii);
  add("octagon", "octagon,{:g}", threes);
  add("line 0", "line,{:g},0", sides);
  add("line 45", "line,{:g},45", sides);
  return values;
}

std::vector<SweptValue> kernels() {
  std::vector<SweptValue> values;
  for (const double side : sides) {
    values.push_back({"average", fmt::format("fspecial:average,{:g}", side), side});
    values.push_back(
        {"gaussian", fmt::format("fspecial:gaussian,{:g},{:g}", side, side / 4), side});
  }
  for (const double radius : radii) {
    values.push_back({"disk", fmt::format("fspecial:disk,{:g}", radius), radius});
    values.push_back({"motion", fmt::format("fspecial:motion,{:g},30", 2 * radius + 1), radius});
  }
  return values;
}

std::vector<SweptValue> values_of(const Parameter& parameter) {
  std::vector<SweptValue> values;
  if (parameter.takes == Takes::element) values = elements();
  if (parameter.takes == Takes::kernel && parameter.name == "kernel") values = kernels();
  if (values.empty()) values = numbers_of(parameter);
  for (const std::string_view word : parameter.words) {
    values.push_back({"", std::string(word), 0});
  }
  return values;
}

// What the operator's example gives its parameters, by their names, as written.
using Given = std::map<std::string, std::string>;
std::optional<Given> example_of(const Operator& op) {
  const pipeline::Pipeline example = pipeline::bind(pipeline::parse(op.example));
  for (const pipeline::BoundStage& stage : example.stages) {
    if (!stage.call || stage.call->op().name != op.name) continue;
    Given given;
    for (const Parameter& parameter : op.parameters) {
      if (!stage.call->has(parameter.name) || !stage.call->given(parameter.name)) continue;
      const ParameterValue& value = stage.call->value(parameter.name);
      given[std::string(parameter.name)] =
          value.word.empty() && (value.numbers.size() > 1 || stage.waiting != nullptr)
              // `1 -1` has no name before it, and a measured number is not known here.
              ? fmt::format("{}", fmt::join(value.numbers, ","))
              : example.text.substr(static_cast<std::size_t>(value.span.begin),
                                    static_cast<std::size_t>(value.span.end - value.span.begin));
    }
    return given;
  }
  return {};
}

std::string text_of(const Operator& op, const Given& given) {
  std::string text(op.name);
  for (const auto& [name, value] : given) text += " " + name + "=" + value;
  return text;
}

class Sweep {
 public:
  void add(const Operator& op) {
    if (op.lower == nullptr || op.reduction != nullptr || op.example.empty()) return;
    const std::optional<Given> example = example_of(op);
    if (!example) return;
    const std::string base = text_of(op, *example);
    const auto table = example->find(table_parameter);
    table_ =
        table != example->end() && table->second.starts_with(':') ? table->second.substr(1) : "";
    for (const int channels : {1, 3}) add_classes(base, {"", "", 0}, channels, natural);
    for (const int side : other_sides) add_classes(base, {"", "", 0}, 1, natural, side);
    for (const Content& content : contents) add_classes(base, {"", "", 0}, 1, content.name);
    for (const Parameter& parameter : op.parameters) {
      for (const SweptValue& value : values_of(parameter)) {
        Given given = *example;
        given[std::string(parameter.name)] = value.text;
        SweptValue swept = value;
        if (!swept.series.empty()) swept.series = std::string(op.name) + " " + swept.series;
        for (const int channels : {1, 3}) add_classes(text_of(op, given), swept, channels, natural);
      }
    }
  }
  std::vector<SuiteRow> rows;

 private:
  void add_classes(const std::string& text, const SweptValue& value, int channels,
                   const std::string& content, int side = usual_side) {
    for (const PixelClass cls :
         {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      SuiteRow row{.name = text + (content == natural ? "" : " of " + content) +
                           (channels == 3 ? " x3" : ""),
                   .pipeline = text,
                   .cls = cls,
                   .size = side,
                   .series = value.series,
                   .x = value.place,
                   .channels = channels,
                   .content = content};
      if (!known_.insert({row.name, static_cast<int>(cls), side}).second) continue;
      if (!is_defined(text, cls, channels)) continue;
      for (const Content& one : contents) {
        if (content == one.name) row.images = {{"", one.pipeline + std::string(converted(cls))}};
      }
      if (!table_.empty()) {
        const int codes = cls == PixelClass::uint16 ? 65536 : 256;
        row.images.emplace_back(table_, fmt::format("gradient 1,{}{}", codes, converted(cls)));
      }
      rows.push_back(std::move(row));
    }
  }
  static const char* converted(PixelClass cls) {
    return cls == PixelClass::logical  ? " | map 'x > white / 2' class=logical"
           : cls == PixelClass::uint16 ? " | im2uint16"
           : cls == PixelClass::single ? " | im2single"
                                       : "";
  }

  std::string table_;  // the name of the operator's table, if it has one
  std::set<std::tuple<std::string, int, int>> known_;  // name, class, side
};

// --- cliffs

constexpr double max_jump = 2, max_class = 1.5, max_colour = 1.15, max_content = 1.5;

struct Cliff {
  double over;  // the bound
  std::string text;
};

double times_copy(const BenchRow& row) {
  return row.result.baseline_time > 0 ? row.result.device / row.result.baseline_time : 0;
}

std::string cell(const BenchRow& row) {
  return row.what.name + " " + std::string(name_of(row.what.cls));
}

Cliff cliff(const BenchRow& a, const BenchRow& b, double ratio, double most,
            const std::string& what) {
  return {ratio / most,
          fmt::format("{}: {} {:.1f} us, {} {:.1f} us, {:.2f} where {:.2f} is allowed", what,
                      cell(a), 1e6 * a.result.device, cell(b), 1e6 * b.result.device, ratio, most)};
}

using Rows = std::vector<const BenchRow*>;

// Groups of rows that `key` tells apart.
template <class Key>
std::map<std::string, Rows> grouped(const std::vector<BenchRow>& rows, const Key& key) {
  std::map<std::string, Rows> groups;
  for (const BenchRow& row : rows) {
    if (row.error.empty() && row.result.device > 0) groups[key(row)].push_back(&row);
  }
  return groups;
}

void add_jumps(const std::vector<BenchRow>& rows, std::vector<Cliff>& cliffs) {
  const auto groups = grouped(rows, [](const BenchRow& row) {
    return row.what.series.empty()
               ? std::string()
               : fmt::format("{}|{}|{}|{}", row.what.series, static_cast<int>(row.what.cls),
                             row.what.channels, row.what.size);
  });
  for (const auto& [key, found] : groups) {
    if (key.empty()) continue;
    Rows group = found;
    std::stable_sort(group.begin(), group.end(),
                     [](const BenchRow* a, const BenchRow* b) { return a->what.x < b->what.x; });
    for (std::size_t i = 1; i < group.size(); ++i) {
      const BenchRow &a = *group[i - 1], &b = *group[i];
      const double ratio = times_copy(b) / times_copy(a), jump = std::max(ratio, 1 / ratio);
      if (jump > max_jump) cliffs.push_back(cliff(a, b, jump, max_jump, "jump"));
    }
  }
}

void add_classes(const std::vector<BenchRow>& rows, std::vector<Cliff>& cliffs) {
  const auto groups = grouped(
      rows, [](const BenchRow& row) { return fmt::format("{}|{}", row.what.name, row.what.size); });
  for (const auto& [key, group] : groups) {
    const auto bytes = std::find_if(group.begin(), group.end(), [](const BenchRow* row) {
      return row->what.cls == PixelClass::uint8;
    });
    if (bytes == group.end()) continue;
    for (const BenchRow* row : group) {
      const double ratio = times_copy(*row) / times_copy(**bytes);
      if (ratio > max_class) cliffs.push_back(cliff(**bytes, *row, ratio, max_class, "class"));
    }
  }
}

void add_colours(const std::vector<BenchRow>& rows, std::vector<Cliff>& cliffs) {
  const auto groups = grouped(rows, [](const BenchRow& row) {
    return fmt::format("{}|{}|{}|{}", row.what.pipeline, row.what.content,
                       static_cast<int>(row.what.cls), row.what.size);
  });
  for (const auto& [key, group] : groups) {
    if (group.size() != 2) continue;
    const double ratio = group[1]->result.device / (3 * group[0]->result.device);
    if (ratio > max_colour) {
      cliffs.push_back(cliff(*group[0], *group[1], ratio, max_colour, "colour"));
    }
  }
}

void add_contents(const std::vector<BenchRow>& rows, std::vector<Cliff>& cliffs) {
  const auto groups = grouped(rows, [](const BenchRow& row) {
    return row.what.channels == 3 ? std::string()
                                  : fmt::format("{}|{}|{}", row.what.pipeline,
                                                static_cast<int>(row.what.cls), row.what.size);
  });
  for (const auto& [key, group] : groups) {
    if (key.empty() || group.size() < 2) continue;
    const auto [least, most] = std::minmax_element(
        group.begin(), group.end(),
        [](const BenchRow* a, const BenchRow* b) { return a->result.device < b->result.device; });
    const double ratio = (*most)->result.device / (*least)->result.device;
    if (ratio > max_content) {
      cliffs.push_back(cliff(**least, **most, ratio, max_content, "content"));
    }
  }
}

// Larger images may cost more a pixel where a copy of them does, as caches end.
void add_sizes(const std::vector<BenchRow>& rows, std::vector<Cliff>& cliffs) {
  const auto groups = grouped(rows, [](const BenchRow& row) {
    return fmt::format("{}|{}", row.what.name, static_cast<int>(row.what.cls));
  });
  const auto growth = [](double from, double to, const BenchRow& a, const BenchRow& b) {
    const double scale = static_cast<double>(b.what.size) / a.what.size;
    return from > 0 ? to / from / (scale * scale) : 1;
  };
  for (const auto& [key, found] : groups) {
    Rows group = found;
    std::stable_sort(group.begin(), group.end(), [](const BenchRow* a, const BenchRow* b) {
      return a->what.size < b->what.size;
    });
    for (std::size_t i = 1; i < group.size(); ++i) {
      const BenchRow &a = *group[i - 1], &b = *group[i];
      const engine::BenchmarkResult &one = a.result, &other = b.result;
      const double of_copy = std::max(1.0, growth(one.baseline_time, other.baseline_time, a, b));
      const double ratio = growth(one.device, other.device, a, b) / of_copy;
      if (ratio <= max_jump) continue;
      cliffs.push_back(
          {ratio / max_jump,
           fmt::format("size: {} {}x{} {:.1f} us, {}x{} {:.1f} us, {:.2f} a pixel "
                       "where {:.2f} is allowed",
                       cell(a), a.what.size, a.what.size, 1e6 * one.device, b.what.size,
                       b.what.size, 1e6 * other.device, ratio, max_jump)});
    }
  }
}

}  // namespace

std::vector<SuiteRow> sweep_rows() {
  Sweep sweep;
  for (const Operator& op : catalogue()) sweep.add(op);
  return std::move(sweep.rows);
}

std::vector<std::string> cliffs_in(const std::vector<BenchRow>& rows) {
  std::vector<Cliff> cliffs;
  add_jumps(rows, cliffs);
  add_classes(rows, cliffs);
  add_colours(rows, cliffs);
  add_contents(rows, cliffs);
  add_sizes(rows, cliffs);
  std::stable_sort(cliffs.begin(), cliffs.end(),
                   [](const Cliff& a, const Cliff& b) { return a.over > b.over; });
  std::vector<std::string> lines;
  for (Cliff& one : cliffs) lines.push_back(std::move(one.text));
  return lines;
}

}  // namespace impipe::bench
