// Histograms as text: counts of codes (integer classes) or bins, then bins as doubles.
#include <algorithm>

#include "backends/jit/block/row.hpp"
#include "backends/jit/measure/grid_stride.hpp"
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;  // of kernels that count in global memory

// The counters of 16 bytes, one statement each.
std::string each_of_chunk(PixelClass cls, const std::function<std::string(std::string)>& count) {
  std::string text;
  for (const char* part : {"v.x", "v.y", "v.z", "v.w"}) {
    const int bits = 8 * bytes_of(cls);
    const std::string word = part, mask = std::to_string((1u << bits % 32) - 1) + "u";
    if (bits == 32) text += count(word);
    for (int shift = 0; bits < 32 && shift < 32; shift += bits) {
      text += count("(" + word + " >> " + std::to_string(shift) + " & " + mask + ")");
    }
  }
  return text;
}

// Whether the pixels of `image` are made here, by a body from those of one plane in memory alone:
// that can then be read 16 bytes at a time.
bool is_point_of_plane(const Builder& builder, const CountedCodes& counted, const Operand& image) {
  if (!builder.tuning().fast || counted.image.in_memory) return false;
  const Node& node = builder.node(image.index);
  const auto* point = std::get_if<Point>(&node.primitive);
  return point != nullptr && point->body != nullptr && point->body->inputs == 1 && !point->lookup &&
         node.images.size() == 1 && node.images[0].external;
}

// The bin of a code that is counted: of the image, or of the plane whose codes make its pixels.
std::string bin_of_code(Builder& builder, int n, const std::optional<Operand>& plane,
                        const std::string& code) {
  const std::string bin = write_bin(builder, n);
  if (!plane) return bin + "(params, (double)" + code + ")";
  const std::string name = bin + "_of_code";
  if (!builder.has_function(name)) {
    const std::string value = code_value(builder, builder.node(n).images[0].index, *plane);
    builder.function(name, pixel_function("int", name,
                                          declared("const int", "code", "x") +
                                              returned(bin + "(params, (double)" + value + ")")));
  }
  return builder.call(name, code, "0");
}

// The bins of all codes, made once a launch, and read from local memory where there is enough.
struct BinTable {
  std::string name;         // its array in the kernels that count
  std::string load;         // text that brings it there
  int bytes_of_kernel = 0;  // of local memory
};

constexpr int table_codes = 65536;
constexpr int local_table_bytes = table_codes + 40 * 1024;  // with the counters

BinTable write_bin_table(Builder& builder, int n, const std::string& bin) {
  const std::string name = Builder::name({false, n}) + "_bins_of_codes";
  const auto memory = [&] {
    return builder.scratch(name, "uchar", [](const LaunchContext&) { return table_codes; });
  };
  builder.kernel("make_" + name, items,
                 declared("const int", "code", "GROUP_X * " + std::to_string(items) + " + ITEM") +
                     assigned(memory() + "[code]", "(uchar)" + bin + "(params, (double)code)"),
                 launch_groups(table_codes / items, items));
  if (builder.tuning().max_local_bytes < local_table_bytes) return {memory(), "", 0};
  const std::string words = name + "_words", here = name + "_here";
  return {here,
          filled(part(kernels::histogram, "bins_of_codes"),
                 {{"table_words", words},
                  {"vectors", std::to_string(table_codes / 16)},
                  {"items", std::to_string(builder.tuning().histogram_items)},
                  {"table", memory()},
                  {"table_here", here}}),
          table_codes};
}

// `bin`: the function of a value's bin; nothing where `table` has those of all codes.
void write_local(Builder& builder, const CountedCodes& counted, int n, int counters, bool codes,
                 const std::string& bin, const BinTable& table = {}) {
  const Node& node = builder.node(n);
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  const Operand image = node.images[0];
  const std::string name = Builder::name({false, n});
  const Tuning& tuning = builder.tuning();
  const auto number = [](std::int64_t i) { return std::to_string(i); };
  const bool one_launch = counted.one_launch;
  // The sums of the copies and the bins lie there as well, and the kernel's own words.
  constexpr std::int64_t words = 64;
  const std::int64_t beside = words + (one_launch ? 4 * (counters + histogram.bins) : 0);
  int copies = 32;
  while (copies > 1 && std::int64_t{4} * counters * copies + beside > tuning.local_bytes) {
    copies /= 2;
  }
  const int group = tuning.histogram_items;
  const std::optional<Operand>& plane = counted.image.codes;
  const bool points = !plane && is_point_of_plane(builder, counted, image);
  const Operand read = plane ? *plane : points ? builder.node(image.index).images[0] : image;
  const GridStride stream{read, plane || points || counted.image.in_memory, group,
                          tuning.groups_at_once(), 64};
  const int load = values_a_load(builder, stream);
  const auto groups = [stream, load](const LaunchContext& at) {
    return stream.groups_for(at, load);
  };
  const auto parts = [&] {
    return builder.scratch(name + "_parts", "uint",
                           [=](const LaunchContext& at) { return groups(at) * counters * 4; });
  };
  const auto count = [&](const std::string& of_pixel) {
    const std::string value =
        points ? point_value(builder, image.index, [&](const Operand&) { return of_pixel; })
               : of_pixel;
    const std::string place = "counts[(int)" + value + " * " + number(copies) + " + copy]";
    if (codes) return statement("ADD_LOCAL(&" + place + ", 1u)");
    if (!table.name.empty()) {
      return statement("ADD_LOCAL(&counts[" + table.name + "[(int)" + value + "] * " +
                       number(copies) + " + copy], 1u)");
    }
    return braced(declared("const int", "place", bin + "(params, (double)" + value + ")") +
                  "if (place >= 0) " +
                  statement("ADD_LOCAL(&counts[place * " + number(copies) + " + copy], 1u)"));
  };
  int span = 1;
  while (2 * span <= std::min(group, counters)) span *= 2;
  const std::string groups_text = builder.integer(name + "_groups", groups);
  const std::string bin_of_counter = codes ? bin_of_code(builder, n, plane, "i") : "i";
  const bool apart = counted.bins_apart;
  const auto counts = [&] {
    return builder.scratch(name + "_counts", "uint",
                           [counters](const LaunchContext&) { return std::int64_t{4} * counters; });
  };
  const auto end = [&] {
    return builder.filled(part(kernels::histogram, "local_end"),
                          {{"counters", number(counters)},
                           {"items", number(group)},
                           {"span", number(span)},
                           {"groups", groups_text},
                           {"apart", apart ? "1" : "0"},
                           {"codes", apart ? counts() : ""},
                           {"bins", number(histogram.bins)},
                           {"bin", apart ? "" : bin_of_counter},
                           {"parts", parts()},
                           {"out", apart ? "" : builder.measure({false, n})}});
  };
  const std::string chunk = codes && !points && bytes_of(builder.cls(read)) == 1
                                ? each_code_of_chunk(copies)
                                : each_of_chunk(builder.cls(read), count);
  const std::string rows = grid_stride_rows(builder, stream, chunk, count("p"));
  // Work-items for each counter, where there are more than counters.
  const int slices = one_launch ? std::min(copies, group / span) : 1;
  const std::string totals =
      one_launch ? "(" + builder.ticket() + " + " + number(ticket_words) + ")" : "";
  const std::string parts_text = one_launch ? "" : parts();
  const bool by_group = one_launch && any_by_group(builder, counted.scalars);
  const std::string memory = by_group ? group_memory(group) : "";
  std::string text =
      filled(part(kernels::histogram, "in_local"), {{"locals", memory + table.load},
                                                    {"counters", number(counters)},
                                                    {"copies", number(copies)},
                                                    {"bins", number(histogram.bins)},
                                                    {"one_launch", one_launch ? "1" : "0"},
                                                    {"totals", totals},
                                                    {"parts", parts_text},
                                                    {"items", number(group)},
                                                    {"rows", rows},
                                                    {"span", number(group / slices)},
                                                    {"slice", number(copies / slices)}});
  if (one_launch) {
    text += filled(part(kernels::histogram, "last_group"),
                   {{"ticket", builder.ticket()},
                    {"totals", totals},
                    {"counters", number(counters)},
                    {"bins", number(histogram.bins)},
                    {"items", number(group)},
                    {"bin", bin_of_counter},
                    {"out", builder.measure({false, n})},
                    {"scalars", scalars_at_end(builder, counted.scalars, group)}});
  }
  builder.kernel(
      name + "_parts_of_groups", group, text,
      [groups, group](const LaunchContext& at) {
        return LaunchShape{{groups(at), 1, 1}, {group, 1, 1}};
      },
      0, table.bytes_of_kernel);
  if (one_launch) return;
  builder.kernel(name + (apart ? "_counts_of_codes" : "_as_doubles"), group, end(),
                 launch_groups(1, group));
  if (apart) {
    write_bins_of_codes(builder, n, {.counts = counts(), .counters = counters, .plane = plane});
  }
}

// Counts in global memory. `place`: of the counter of pixel (x, y), -1 for none.
void write_global(Builder& builder, const Operand& image, const std::string& name,
                  const std::string& place, const std::string& counts) {
  const int most = builder.tuning().groups_at_once();
  const bool runs = builder.tuning().variant.counts == KernelVariant::Counts::usual;
  builder.kernel(name + "_counts_of_groups", items,
                 filled(part(kernels::histogram, "in_global"), {{"items", std::to_string(items)},
                                                                {"width", builder.width(image)},
                                                                {"height", builder.height(image)},
                                                                {"place", place},
                                                                {"runs", runs ? "1" : "0"},
                                                                {"counts", counts}}),
                 [image, most](const LaunchContext& at) {
                   return LaunchShape{
                       {std::min(groups_of_plane(at, most), at.size_of(image).height), 1, 1},
                       {items, 1, 1}};
                 });
}

// Counts in slices that local memory holds, each by groups of its own: nothing but tags keeps the
// work-items of a group apart. `place` likewise.
void write_tagged(Builder& builder, const Operand& image, const std::string& name,
                  const std::string& place, int counters, const std::string& counts) {
  constexpr int group = 32, largest_slice = 4096, groups = 64;
  const int slice = std::min(counters, largest_slice);
  const auto number = [](int i) { return std::to_string(i); };
  builder.kernel(name + "_counts_of_groups", group,
                 filled(part(kernels::histogram, "tagged"), {{"items", number(group)},
                                                             {"slice", number(slice)},
                                                             {"counters", number(counters)},
                                                             {"width", builder.width(image)},
                                                             {"height", builder.height(image)},
                                                             {"place", place},
                                                             {"counts", counts}}),
                 [slices = (counters + slice - 1) / slice](const LaunchContext&) {
                   return LaunchShape{{groups, slices, 1}, {group, 1, 1}};
                 });
}

// The bins in `bins` as the node's measurement.
void write_doubles(Builder& builder, int n, const std::string& bins) {
  const int total = std::get<Histogram>(builder.node(n).primitive).bins;
  builder.kernel(Builder::name({false, n}) + "_as_doubles", items,
                 filled(part(kernels::histogram, "end"), {{"items", std::to_string(items)},
                                                          {"total", std::to_string(total)},
                                                          {"bins", bins},
                                                          {"out", builder.measure({false, n})}}),
                 launch_groups((total + items - 1) / items, items));
}

}  // namespace

std::string write_bin(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  const std::string name = Builder::name({false, n}) + "_bin";
  const Operand image = node.images[0];
  std::string bin = "v";
  if (histogram.rule == BinRule::user) {
    std::vector<std::string> parameters, arguments;
    for (const std::string& v : histogram.expression->variables()) {
      parameters.push_back("v_" + v);
      arguments.push_back(v == "white" ? builder.white(image, "double") : "v");
    }
    builder.body_once(name + "_expression",
                      after_line(body_function(
                          name + "_expression", "double", "", parameters,
                          "return " + expression_body(*histogram.expression, parameters) + ";")));
    bin = "floor(" + name + "_expression(" + joined(arguments) + "))";
  } else if (histogram.rule == BinRule::centred) {
    const double largest = class_max(builder.cls(image));
    const std::string white =
        builder.parameter(ParameterType::float64, Builder::name({false, n}) + "_white",
                          [image, largest](const LaunchContext& at, int) {
                            return at.white_of(image) > 0 ? at.white_of(image) : largest;
                          });
    bin = "floor(clamp_double(v, 0.0, " + white + ") * " + std::to_string(histogram.bins - 1) +
          ".0 / " + white + " + 0.5)";
  }
  builder.body_once(name, after_line(function_of(
                              "int", name, "const struct Parameters* params, const double v",
                              declared("const double", "bin", bin) +
                                  returned("bin >= 0.0 && bin < " + std::to_string(histogram.bins) +
                                           ".0 ? (int)bin : -1"))));
  return name;
}

void write_bins_of_codes(Builder& builder, int n, const CodeCounts& codes) {
  const std::string name = Builder::name({false, n});
  const int bins = std::get<Histogram>(builder.node(n).primitive).bins;
  const auto made = [&] {
    return builder.scratch(
        name + "_bins", "uint", [bins](const LaunchContext&) { return std::int64_t{4} * bins; },
        true);
  };
  builder.kernel(name + "_bins_of_codes", items,
                 filled(part(kernels::histogram, "bins"),
                        {{"items", std::to_string(items)},
                         {"counters", std::to_string(codes.counters)},
                         {"bin", bin_of_code(builder, n, codes.plane, "code")},
                         {"bins", made()},
                         {"kept", codes.kept ? "1" : "0"},
                         {"counts", codes.counts}}),
                 [counters = codes.counters](const LaunchContext&) {
                   return LaunchShape{{(counters + items - 1) / items, 1, 1}, {items, 1, 1}};
                 });
  write_doubles(builder, n, made());
}

std::string each_code_of_chunk(int copies) {
  std::string text;
  for (const char* part : {"v.x", "v.y", "v.z", "v.w"}) {
    for (int k = 0; k < 4; ++k) {
      text += statement("ADD_LOCAL((IN_LOCAL uint*)((IN_LOCAL char*)counts + times_byte(" +
                        std::string(part) + ", " + std::to_string(k) + ", " +
                        std::to_string(4 * copies) + "u, own_byte)), 1u)");
    }
  }
  return text;
}

void write_histogram(Builder& builder, const CountedCodes& counted, int n) {
  const Node& node = builder.node(n);
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  const Operand image = node.images[0];
  const std::string name = Builder::name({false, n});
  const PixelClass counted_class = builder.cls(counted.image.codes.value_or(image));
  const bool codes = is_integer(counted_class);
  // What is counted first: the codes of an integer class, else bins at once.
  const int counters = codes ? count_of_codes(counted_class) : histogram.bins;
  const std::string bin = write_bin(builder, n);
  const auto counts = [&](const std::string& suffix, int count) {
    return builder.scratch(
        name + suffix, "uint", [=](const LaunchContext&) { return std::int64_t{4} * count; }, true);
  };
  if (counted.way == CountedCodes::Way::local) {
    return write_local(builder, counted, n, counters, codes, bin);
  }
  if (counted.way == CountedCodes::Way::table) {
    return write_local(builder, counted, n, histogram.bins, false, bin,
                       write_bin_table(builder, n, bin));
  }
  const std::string value = builder.value(image, "x", "y");
  const std::string place = codes ? "(int)" + value : bin + "(params, (double)" + value + ")";
  const std::string counted_here = counts("_counts", counters);
  if (counted.way == CountedCodes::Way::tagged) {
    write_tagged(builder, image, name, place, counters, counted_here);
  } else {
    write_global(builder, image, name, place, counted_here);
  }
  if (counted.bins_apart) {
    return write_bins_of_codes(builder, n, {.counts = counted_here, .counters = counters});
  }
  write_doubles(builder, n, counted_here);
}

}  // namespace impipe::jit
