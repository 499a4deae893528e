// Distance transforms as text: set rows of each column in words of 32, the nearest ones above and
// below each word, then each row from those of its columns.
//
// The nearest column moves right as the pixel does, whatever the metric (backends/cpu/
// distance_rows.inc says why). So a row's nearest columns are found at every 32nd pixel by halving,
// each between those of its neighbours, and then those of the 32 pixels between two. The candidates
// of a row add up to its width and a column for each point: the time does not depend on the
// picture.
#include <algorithm>
#include <bit>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

using Metric = Distance::Metric;

constexpr int pack_items = 128, carry_items = 256;
// Of squares in 32 bits: columns and rows that they suffice for, and what stands for "no set pixel
// in this column". The squares' largest sum, 2^26 + 2^28, is less.
constexpr std::int64_t max_narrow_width = 8192, max_narrow_height = 16384;
constexpr const char* far_square = "(1 << 30)";

// One way of doing the rows: with all of a group's sites in local memory, or in global memory.
struct RowsKind {
  int capacity = 0;  // sites in local memory; 0: all is in global memory
  bool narrow = false;
};

class DistanceText : WholeImageText<Distance> {
 public:
  DistanceText(Builder& builder, int n)
      : WholeImageText(builder, n), sub_groups_(max_sub_groups(builder.dialect())) {}

  void write() {
    builder_.body_once("sub_group", sub_group_words(builder_.dialect()));
    builder_.body(filled(part(kernels::distance, "nearest_row")));
    write_pack();
    write_carry();
    // Local memory that a smaller image does not need would keep groups from running.
    const std::vector<int> capacities = sub_groups_ == 1
                                            ? std::vector{1024, 4096}
                                            : std::vector{static_cast<int>(max_narrow_width)};
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      write_rows({capacities[i], true}, i == 0 ? 0 : capacities[i - 1]);
    }
    write_rows({}, capacities.back());
  }

 private:
  static std::int64_t pitch_of(Size size) { return (size.width + 31) / 32 * 32; }
  static std::int64_t bands_of(Size size) { return (size.height + 31) / 32; }

  std::string number(const std::string& name, std::function<std::int64_t(Size)> value) {
    return builder_.of_size(name_ + "_" + name, image_, std::move(value));
  }
  std::string pitch() { return number("pitch", pitch_of); }
  std::string bands() { return number("bands", bands_of); }
  std::string none() {
    return number("none", [](Size s) { return s.width + s.height; });
  }
  std::string unroll(int times) { return builder_.tuning().unroll ? unroll_pragma(times) : ""; }

  std::string words_like(const std::string& name, const std::string& type) {
    return builder_.scratch(name_ + "_" + name, type, [image = image_](const LaunchContext& at) {
      return 4 * pitch_of(at.size_of(image)) * bands_of(at.size_of(image));
    });
  }

  void write_pack() {
    const PlaneText in = builder_.plane(image_);
    const PixelClass cls = builder_.cls(image_);
    builder_.kernel(name_ + "_pack", pack_items,
                    filled(part(kernels::distance, "pack"),
                           {{"pitch", pitch()},
                            {"items", std::to_string(pack_items)},
                            {"bands", bands()},
                            {"width", builder_.width(image_)},
                            {"height", builder_.height(image_)},
                            {"unroll", unroll(8)},
                            {"type", type_of(cls)},
                            {"load", wide_load(cls, in.row("y") + " + x", "v", 0, 4, 16)},
                            {"words", words_like("words", "uint")}}),
                    launch_items(
                        [image = image_](const LaunchContext& at) {
                          return pitch_of(at.size_of(image)) / 4 * bands_of(at.size_of(image));
                        },
                        pack_items));
  }

  void write_carry() {
    builder_.kernel(
        name_ + "_carry", carry_items,
        filled(part(kernels::distance, "carry"), {{"items", std::to_string(carry_items)},
                                                  {"bands", bands()},
                                                  {"pitch", pitch()},
                                                  {"none", none()},
                                                  {"width", builder_.width(image_)},
                                                  {"height", builder_.height(image_)},
                                                  {"unroll", unroll(4)},
                                                  {"words", words_like("words", "uint")},
                                                  {"above", words_like("above", "int")},
                                                  {"below", words_like("below", "int")}}),
        [image = image_](const LaunchContext& at) {
          return LaunchShape{{pitch_of(at.size_of(image)) / 32, 1, 1}, {carry_items, 1, 1}};
        });
  }

  // Whether an image's rows are done in this way. over: the next smaller capacity.
  static bool takes(const RowsKind& kind, int over, Metric metric, Size size) {
    const bool fits = metric != Metric::euclidean || size.height <= max_narrow_height;
    if (kind.capacity == 0) return !fits || pitch_of(size) > over;
    return fits && pitch_of(size) > over && pitch_of(size) <= kind.capacity;
  }

  // The fewer rows a group has, the more groups work: half a thousand keep a large device busy.
  static std::int64_t rows_of(const RowsKind& kind, int sub_groups, Size size) {
    const std::int64_t most = std::min<std::int64_t>(kind.capacity / pitch_of(size),
                                                     std::max<std::int64_t>(size.height / 512, 1));
    return kind.capacity == 0 ? 1
                              : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(
                                    std::clamp<std::int64_t>(most, 1, sub_groups))));
  }

  // Intervals of 32 pixels, a power of two, at least one a sub-group.
  static std::int64_t points_of(int sub_groups, Size size) {
    const std::int64_t least = std::max<std::int64_t>(pitch_of(size) / 32, sub_groups);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
  }

  // The type of what is compared to find the nearest site.
  std::string type_of_cost(const RowsKind& kind) const {
    return what_.metric == Metric::quasi_euclidean             ? "double"
           : what_.metric == Metric::euclidean && !kind.narrow ? "long"
                                                               : "int";
  }
  static std::string largest_of(const std::string& type) {
    return type == "int"    ? "0x7fffffff"
           : type == "long" ? "0x7fffffffffffffff"
                            : "(double)INFINITY";
  }

  // The functions that a kernel of rows calls: what a site costs, and which costs least.
  void write_search(const std::string& kernel, const std::string& type, const std::string& space,
                    bool squares) {
    builder_.body(
        filled(part(kernels::distance, "cost"),
               {{"number", type}, {"name", kernel + "_cost"}, {"cost", cost_text(squares)}}));
    builder_.body(filled(part(kernels::distance, "search"), {{"name", kernel + "_search"},
                                                             {"space", space},
                                                             {"number", type},
                                                             {"most", largest_of(type)},
                                                             {"unroll", unroll(4)},
                                                             {"cost", kernel + "_cost"}}));
    if (!what_.index && what_.metric == Metric::euclidean) {
      builder_.body_once(type + "_root", filled(part(kernels::distance, "root"),
                                                {{"number", type}, {"name", type + "_root"}}));
    }
  }

  void write_rows(const RowsKind& kind, int over) {
    const bool local = kind.capacity > 0;
    const bool squares = what_.metric == Metric::euclidean && kind.narrow;
    const std::string kernel = name_ + (local ? "_rows_" + std::to_string(kind.capacity) : "_rows");
    const std::string space = local ? "IN_LOCAL" : "GLOBAL";
    const std::string type = type_of_cost(kind), most = largest_of(type);
    write_search(kernel, type, space, squares);
    const int sub_groups = sub_groups_, items = sub_group_items * sub_groups;
    const std::string point = local ? "ushort" : "int";
    const std::string points_pitch =
        local ? std::to_string(kind.capacity / sub_group_items + sub_groups + 1)
              : "(" + points() + " + 1)";
    std::string text =
        filled(part(kernels::distance, "rows"),
               {{"local", local ? "1" : "0"},
                {"fours", std::to_string(kind.capacity / 4)},
                {"all_sites", local ? "" : all_sites()},
                {"all_points", local ? "" : all_points()},
                {"rows", rows(kind)},
                {"items", std::to_string(items)},
                {"sub_groups", std::to_string(sub_groups)},
                {"pitch", pitch()},
                {"points", points()},
                {"points_pitch", points_pitch},
                {"point", point},
                {"space", space},
                {"width", builder_.width(image_)},
                {"height", builder_.height(image_)},
                {"none", none()},
                {"words", words_like("words", "uint")},
                {"above", words_like("above", "int")},
                {"below", words_like("below", "int")},
                {"site", !squares ? "away"
                                  : "(away < " + none() + " ? away * away : " + far_square +
                                        ") + x * x" + " + (inside ? 0 : 1 << 29)"},
                {"search", kernel + "_search"},
                {"by_squares", squares && !what_.index ? "1" : "0"},
                {"number", type},
                {"most", most},
                {"cost", kernel + "_cost"},
                {"out", builder_.plane({false, n_}).row("y")},
                {"result", result_text(squares, type)}});
    builder_.kernel(kernel, items, text,
                    [kind, over, sub_groups, items, metric = what_.metric,
                     image = image_](const LaunchContext& at) {
                      const Size size = at.size_of(image);
                      if (!takes(kind, over, metric, size))
                        return LaunchShape{{0, 1, 1}, {items, 1, 1}};
                      const std::int64_t rows = rows_of(kind, sub_groups, size);
                      return LaunchShape{{(size.height + rows - 1) / rows, 1, 1}, {items, 1, 1}};
                    });
  }

  std::string rows(const RowsKind& kind) {
    return number(
        "rows_" + std::to_string(kind.capacity),
        [kind, sub_groups = sub_groups_](Size s) { return rows_of(kind, sub_groups, s); });
  }
  std::string points() {
    return number("points",
                  [sub_groups = sub_groups_](Size s) { return points_of(sub_groups, s); });
  }

  // Bytes that a launch needs whose sites are in global memory.
  std::string in_global_memory(const std::string& label,
                               const std::function<std::int64_t(Size)>& bytes) {
    return builder_.scratch(
        name_ + label, "int",
        [image = image_, metric = what_.metric, over = sub_groups_ == 1 ? 4096 : 8192,
         bytes](const LaunchContext& at) {
          const Size size = at.size_of(image);
          return takes({}, over, metric, size) ? bytes(size) : 4;
        });
  }
  std::string all_sites() {
    return in_global_memory("_sites", [](Size s) { return 4 * pitch_of(s) * s.height; });
  }
  std::string all_points() {
    return in_global_memory("_nearest", [sub_groups = sub_groups_](Size s) {
      return 4 * sub_groups * (points_of(sub_groups, s) + 1) * s.height;
    });
  }

  std::string cost_text(bool squares) const {
    switch (what_.metric) {
      case Metric::euclidean:
        return returned(squares ? "site - 2 * x * j"
                                : "(long)(x - j) * (x - j) + (long)site * site");
      case Metric::cityblock: return returned("larger(x - j, j - x) + site");
      case Metric::chessboard: return returned("larger(larger(x - j, j - x), site)");
      case Metric::quasi_euclidean:
        return declared("const int", "across", "larger(x - j, j - x)") +
               returned(
                   "(double)larger(across, site) + "
                   "(double)smaller(across, site) * 0.41421356237309504880");
    }
    return "";
  }

  // Of `best` and `column`.
  std::string result_text(bool squares, const std::string& type) {
    std::string is_far = "best >= " + none();
    if (squares) {
      // The square that stands for the pixel's own column is still missing.
      is_far = std::string(what_.index ? "best + x * x >= " : "best >= ") + far_square;
    } else if (what_.metric == Metric::euclidean) {
      is_far = "best >= (long)" + none() + " * " + none();
    }
    if (what_.index) {
      const std::string at = "[(long)band * " + pitch() + " + column]";
      return is_far + " ? 0.0f : (float)((long)column * " + builder_.height(image_) +
             " + nearest_row(" + words_like("words", "uint") + at + ", " +
             words_like("above", "int") + at + ", " + words_like("below", "int") + at + ", y) + 1)";
    }
    const std::string distance =
        what_.metric == Metric::euclidean ? type + "_root(best)" : "(float)best";
    return is_far + " ? INFINITY : " + distance;
  }

  int sub_groups_;
};

}  // namespace

void write_distance(Builder& builder, int n) { DistanceText(builder, n).write(); }

}  // namespace impipe::jit
