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

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wave.hpp"
#include "backends/jit/wide_access.hpp"

namespace impipe::jit {
namespace {

using Metric = Distance::Metric;

constexpr int pack_items = 128, carry_items = 256;
// Of squares in 32 bits: columns and rows that they suffice for, and what stands for "no set pixel
// in this column". The squares' largest sum, 2^26 + 2^28, is less.
constexpr std::int64_t most_narrow_width = 8192, most_narrow_height = 16384;
constexpr const char* far_square = "(1 << 30)";

constexpr const char* pack_kernel = R"(  const int across = $pitch / 4;
  const int item = GROUP_X * $items + ITEM;
  const int band = item / across, x = item % across * 4;
  if (band >= $bands || x >= $width) return;
  uint words[4] = {0, 0, 0, 0};
  const int rows = smaller(32, $height - band * 32);
$unroll  for (int r = 0; r < rows; ++r) {
    const int y = band * 32 + r;
    $type v[4];
$load    for (int k = 0; k < 4; ++k) words[k] |= v[k] != 0 ? 1u << r : 0u;
  }
  for (int k = 0; k < 4; ++k) $words[(long)band * $pitch + x + k] = words[k];
)";

// A group takes 32 columns; each of its 8 waves a part of the words of them.
constexpr const char* carry_kernel = R"(  LOCAL int lasts[$items], firsts[$items];
  const int part = ITEM / 32, x = GROUP_X * 32 + ITEM % 32;
  const int a_part = ($bands + 7) / 8;
  const int from = part * a_part, to = smaller(from + a_part, $bands);
  int last = -$none, first = $height + $none;
  if (x < $width) {
$unroll    for (int b = from; b < to; ++b) {
      const uint word = $words[(long)b * $pitch + x];
      if (word != 0) {
        last = b * 32 + HIGHEST_BIT(word);
        first = smaller(first, b * 32 + LOWEST_BIT(word));
      }
    }
  }
  lasts[ITEM] = last;
  firsts[ITEM] = first;
  BARRIER;
  if (x >= $width) return;
  int over = -$none, under = $height + $none;
  for (int k = 0; k < 8; ++k) {
    const int other = k * 32 + ITEM % 32;
    if (k < part) over = larger(over, lasts[other]);
    if (k > part) under = smaller(under, firsts[other]);
  }
$unroll  for (int b = from; b < to; ++b) {
    const uint word = $words[(long)b * $pitch + x];
    $above[(long)b * $pitch + x] = over;
    if (word != 0) over = b * 32 + HIGHEST_BIT(word);
  }
$unroll  for (int b = to - 1; b >= from; --b) {
    const uint word = $words[(long)b * $pitch + x];
    $below[(long)b * $pitch + x] = under;
    if (word != 0) under = b * 32 + LOWEST_BIT(word);
  }
)";

// The nearest set row of a column, the upper one of two. word: the set rows of y's band.
constexpr const char* nearest_row = R"(
FUNCTION int nearest_row(const uint word, const int above, const int below, const int y) {
  const uint here = 1u << (y % 32);
  const uint upper = word & (here | (here - 1u)), lower = word & ~(here - 1u);
  const int over = upper != 0 ? y / 32 * 32 + HIGHEST_BIT(upper) : above;
  const int under = lower != 0 ? y / 32 * 32 + LOWEST_BIT(lower) : below;
  return y - over <= under - y ? over : under;
}
)";

// What pixel x pays for column j, of which `site` says how far its nearest set row is.
constexpr const char* cost_function = R"(
FUNCTION $number $name(const int x, const int j, const int site) {
  $cost
}
)";

// The leftmost of the columns lo .. hi that are nearest to x; all lanes of a wave together.
constexpr const char* search_function = R"(
FUNCTION int $name(WAVE_GIVEN, $space const int* sites, const int lo, const int hi, const int x) {
  $number best = $most;
  int column = lo;
$unroll  for (int j = lo + ITEM % 32; j <= hi; j += 32) {
    const $number v = $cost(x, j, sites[j]);
    if (v < best) {
      best = v;
      column = j;
    }
  }
  const $number least = wave_least_$number(WAVE_GIVE, best);
  return wave_least_int(WAVE_GIVE, best == least ? column : 0x7fffffff);
}
)";

// `rows` rows a group, each worked on by $waves / rows waves, which share its points.
constexpr const char* rows_kernel = R"(  WAVE_MEMORY;
$memory  const int lane = ITEM % 32, wave = ITEM / 32;
  const int first = GROUP_X * $rows, band = first / 32;
  for (int x = ITEM; x < $pitch; x += $items) {
    const long at = (long)band * $pitch + x;
    const bool inside = x < $width;
    const uint word = inside ? $words[at] : 0u;
    const int above = inside ? $above[at] : -$none;
    const int below = inside ? $below[at] : $height + $none;
    for (int i = 0; i < $rows; ++i) {
      const int row = nearest_row(word, above, below, first + i);
      const int away = smaller(row < first + i ? first + i - row : row - first - i, $none);
      sites[i * $pitch + x] = $site;
    }
  }
  GLOBAL_BARRIER;
  const int sharing = $waves / $rows, part = wave % sharing, y = first + wave / sharing;
  $space const int* const row = sites + wave / sharing * $pitch;
  $space $point* const nearest = points + wave * $points_pitch;
  if (y >= $height) return;
  if (lane == 0) {
    nearest[0] = 0;
    nearest[$points] = ($point)($width - 1);
  }
  WAVE_BARRIER;
  // The points that part this wave's share from the others', then those of its share.
  int from = 0, to = $points;
  for (int bit = sharing / 2; bit > 0; bit /= 2) {
    const int k = (from + to) / 2, x = smaller(32 * k, $width - 1);
    const int column = $search(WAVE_GIVE, row, nearest[from], nearest[to], x);
    if (lane == 0) nearest[k] = ($point)column;
    WAVE_BARRIER;
    if ((part & bit) != 0) {
      from = k;
    } else {
      to = k;
    }
  }
  for (int step = (to - from) / 2; step > 0; step /= 2) {
    for (int k = from + step; k < to; k += 2 * step) {
      const int lo = nearest[k - step], hi = nearest[k + step];
      const int x = smaller(32 * k, $width - 1);
      const int column = lo == hi ? lo : $search(WAVE_GIVE, row, lo, hi, x);
      if (lane == 0) nearest[k] = ($point)column;
    }
    WAVE_BARRIER;
  }
  to = smaller(to, ($width + 31) / 32);
  for (int k = from; k < to; ++k) {
    const int x = 32 * k + lane, lo = nearest[k], hi = nearest[k + 1];
$choose    if (x < $width) ($out)[x] = $result;
  }
)";

constexpr const char* choose_least = R"(    $number best = $most;
    int column = lo;
    for (int j = lo; j <= hi; ++j) {
      const $number v = $cost(x, j, row[j]);
      if (v < best) {
        best = v;
        column = j;
      }
    }
)";

// Four columns at a time, in two chains; those before lo and after hi never win.
constexpr const char* choose_least_square = R"(    int best = 0x7fffffff, other = 0x7fffffff;
    for (int j = lo & ~3; j <= hi; j += 4) {
      const int4 s = *(IN_LOCAL const int4*)(row + j);
      const int way = -2 * x, start = way * j;
      best = smaller(smaller(best, s.x + start), s.y + (start + way));
      other = smaller(smaller(other, s.z + (start + 2 * way)), s.w + (start + 3 * way));
    }
    best = smaller(best, other) + x * x;
)";

constexpr const char* root_function = R"(
FUNCTION float $name(const $number square) {
  // Below 2^24 the square is exact in float, so that its root is rounded once.
  return square < (1 << 24) ? sqrt((float)square) : (float)sqrt((double)square);
}
)";

// One way of doing the rows: with all of a group's sites in local memory, or in global memory.
struct RowsKind {
  int capacity = 0;  // sites in local memory; 0: all is in global memory
  bool narrow = false;
};

class DistanceText {
 public:
  DistanceText(Builder& to, int n)
      : to_(to),
        n_(n),
        distance_(std::get<Distance>(to.node(n).primitive)),
        image_(to.node(n).images[0]),
        name_(Builder::name({false, n})),
        waves_(most_waves(to.dialect())) {}

  void write() {
    to_.body_once("wave", wave_words(to_.dialect()));
    to_.body(nearest_row);
    write_pack();
    write_carry();
    // Local memory that a smaller image does not need would keep groups from running.
    const std::vector<int> capacities =
        waves_ == 1 ? std::vector{1024, 4096} : std::vector{static_cast<int>(most_narrow_width)};
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      write_rows({capacities[i], true}, i == 0 ? 0 : capacities[i - 1]);
    }
    write_rows({}, capacities.back());
  }

 private:
  static std::int64_t pitch_of(Size size) { return (size.width + 31) / 32 * 32; }
  static std::int64_t bands_of(Size size) { return (size.height + 31) / 32; }

  std::string number(const std::string& name, std::function<std::int64_t(Size)> value) {
    return to_.parameter(ParameterType::int32, name_ + "_" + name,
                         [image = image_, value = std::move(value)](const LaunchContext& at, int) {
                           return static_cast<double>(value(at.size_of(image)));
                         });
  }
  std::string pitch() { return number("pitch", pitch_of); }
  std::string bands() { return number("bands", bands_of); }
  std::string none() {
    return number("none", [](Size s) { return s.width + s.height; });
  }
  std::string unroll(const std::string& times) {
    return to_.tuning().unroll ? "#pragma unroll " + times + "\n" : "";
  }

  std::string words_like(const std::string& name, const std::string& type) {
    return to_.scratch(name_ + "_" + name, type, [image = image_](const LaunchContext& at) {
      return 4 * pitch_of(at.size_of(image)) * bands_of(at.size_of(image));
    });
  }

  void write_pack() {
    const PlaneText in = to_.plane(image_);
    const PixelClass cls = to_.cls(image_);
    to_.kernel(
        name_ + "_pack", pack_items,
        filled(pack_kernel, {{"pitch", pitch()},
                             {"items", std::to_string(pack_items)},
                             {"bands", bands()},
                             {"width", to_.width(image_)},
                             {"height", to_.height(image_)},
                             {"unroll", unroll("8")},
                             {"type", type_of(cls)},
                             {"load", wide_load(cls, in.row("y") + " + x", "v", 0, 4, 16, "    ")},
                             {"words", words_like("words", "uint")}}),
        [image = image_](const LaunchContext& at) {
          const Size size = at.size_of(image);
          const std::int64_t items = pitch_of(size) / 4 * bands_of(size);
          return LaunchShape{{(items + pack_items - 1) / pack_items, 1, 1}, {pack_items, 1, 1}};
        });
  }

  void write_carry() {
    to_.kernel(name_ + "_carry", carry_items,
               filled(carry_kernel, {{"items", std::to_string(carry_items)},
                                     {"bands", bands()},
                                     {"pitch", pitch()},
                                     {"none", none()},
                                     {"width", to_.width(image_)},
                                     {"height", to_.height(image_)},
                                     {"unroll", unroll("4")},
                                     {"words", words_like("words", "uint")},
                                     {"above", words_like("above", "int")},
                                     {"below", words_like("below", "int")}}),
               [image = image_](const LaunchContext& at) {
                 return LaunchShape{{pitch_of(at.size_of(image)) / 32, 1, 1}, {carry_items, 1, 1}};
               });
  }

  // Whether an image's rows are done in this way. over: the next smaller capacity.
  static bool takes(const RowsKind& kind, int over, Metric metric, Size size) {
    const bool fits = metric != Metric::euclidean || size.height <= most_narrow_height;
    if (kind.capacity == 0) return !fits || pitch_of(size) > over;
    return fits && pitch_of(size) > over && pitch_of(size) <= kind.capacity;
  }

  // The fewer rows a group has, the more groups work: half a thousand keep a large device busy.
  static std::int64_t rows_of(const RowsKind& kind, int waves, Size size) {
    const std::int64_t most = std::min<std::int64_t>(kind.capacity / pitch_of(size),
                                                     std::max<std::int64_t>(size.height / 512, 1));
    return kind.capacity == 0 ? 1
                              : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(
                                    std::clamp<std::int64_t>(most, 1, waves))));
  }

  // Intervals of 32 pixels, a power of two, at least one a wave.
  static std::int64_t points_of(int waves, Size size) {
    const std::int64_t least = std::max<std::int64_t>(pitch_of(size) / 32, waves);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
  }

  void write_rows(const RowsKind& kind, int over) {
    const bool local = kind.capacity > 0;
    const bool squares = distance_.metric == Metric::euclidean && kind.narrow;
    const std::string kernel = name_ + (local ? "_rows_" + std::to_string(kind.capacity) : "_rows");
    const std::string space = local ? "IN_LOCAL" : "GLOBAL";
    const std::string type = distance_.metric == Metric::quasi_euclidean             ? "double"
                             : distance_.metric == Metric::euclidean && !kind.narrow ? "long"
                                                                                     : "int";
    const std::string most = type == "int"    ? "0x7fffffff"
                             : type == "long" ? "0x7fffffffffffffff"
                                              : "(double)INFINITY";
    to_.body(filled(cost_function,
                    {{"number", type}, {"name", kernel + "_cost"}, {"cost", cost_text(squares)}}));
    to_.body(filled(search_function, {{"name", kernel + "_search"},
                                      {"space", space},
                                      {"number", type},
                                      {"most", most},
                                      {"unroll", unroll("4")},
                                      {"cost", kernel + "_cost"}}));
    if (!distance_.index && distance_.metric == Metric::euclidean) {
      to_.body_once(type + "_root",
                    filled(root_function, {{"number", type}, {"name", type + "_root"}}));
    }
    const int waves = waves_, items = wave_items * waves;
    const std::string point = local ? "ushort" : "int";
    const std::string points_pitch =
        local ? std::to_string(kind.capacity / wave_items + waves + 1) : "(" + points() + " + 1)";
    std::string text =
        filled(rows_kernel,
               {{"memory", local ? local_memory(kind, points_pitch) : global_memory(points_pitch)},
                {"rows", rows(kind)},
                {"items", std::to_string(items)},
                {"waves", std::to_string(waves)},
                {"pitch", pitch()},
                {"points", points()},
                {"points_pitch", points_pitch},
                {"point", point},
                {"space", space},
                {"width", to_.width(image_)},
                {"height", to_.height(image_)},
                {"none", none()},
                {"words", words_like("words", "uint")},
                {"above", words_like("above", "int")},
                {"below", words_like("below", "int")},
                {"site", !squares ? "away"
                                  : "(away < " + none() + " ? away * away : " + far_square +
                                        ") + x * x" + " + (inside ? 0 : 1 << 29)"},
                {"search", kernel + "_search"},
                {"choose", filled(squares && !distance_.index ? choose_least_square : choose_least,
                                  {{"number", type}, {"most", most}, {"cost", kernel + "_cost"}})},
                {"out", to_.plane({false, n_}).row("y")},
                {"result", result_text(squares, type)}});
    to_.kernel(kernel, items, text,
               [kind, over, waves, items, metric = distance_.metric,
                image = image_](const LaunchContext& at) {
                 const Size size = at.size_of(image);
                 if (!takes(kind, over, metric, size)) return LaunchShape{{0, 1, 1}, {items, 1, 1}};
                 const std::int64_t rows = rows_of(kind, waves, size);
                 return LaunchShape{{(size.height + rows - 1) / rows, 1, 1}, {items, 1, 1}};
               });
  }

  std::string rows(const RowsKind& kind) {
    return number("rows_" + std::to_string(kind.capacity),
                  [kind, waves = waves_](Size s) { return rows_of(kind, waves, s); });
  }
  std::string points() {
    return number("points", [waves = waves_](Size s) { return points_of(waves, s); });
  }

  std::string local_memory(const RowsKind& kind, const std::string& points_pitch) const {
    return "  LOCAL int4 four_sites[" + std::to_string(kind.capacity / 4) +
           "];\n  LOCAL ushort points[" + std::to_string(waves_) + " * " + points_pitch +
           "];\n  IN_LOCAL int* const sites = (IN_LOCAL int*)four_sites;\n";
  }
  std::string global_memory(const std::string& points_pitch) {
    const auto takes_it = [metric = distance_.metric, over = waves_ == 1 ? 4096 : 8192](Size size) {
      return takes({}, over, metric, size);
    };
    const std::string sites =
        to_.scratch(name_ + "_sites", "int", [image = image_, takes_it](const LaunchContext& at) {
          const Size size = at.size_of(image);
          return takes_it(size) ? 4 * pitch_of(size) * size.height : 4;
        });
    const std::string points = to_.scratch(
        name_ + "_nearest", "int",
        [image = image_, takes_it, waves = waves_](const LaunchContext& at) {
          const Size size = at.size_of(image);
          return takes_it(size) ? 4 * waves * (points_of(waves, size) + 1) * size.height : 4;
        });
    return "  GLOBAL int* const sites = " + sites + " + (long)GROUP_X * " + pitch() +
           ";\n  GLOBAL int* const points = " + points + " + (long)GROUP_X * " +
           std::to_string(waves_) + " * " + points_pitch + ";\n";
  }

  std::string cost_text(bool squares) const {
    switch (distance_.metric) {
      case Metric::euclidean:
        if (squares) return "return site - 2 * x * j;";
        return "return (long)(x - j) * (x - j) + (long)site * site;";
      case Metric::cityblock: return "return larger(x - j, j - x) + site;";
      case Metric::chessboard: return "return larger(larger(x - j, j - x), site);";
      case Metric::quasi_euclidean:
        return "const int across = larger(x - j, j - x);\n"
               "  return (double)larger(across, site) +\n"
               "         (double)smaller(across, site) * 0.41421356237309504880;";
    }
    return "";
  }

  // Of `best` and `column`.
  std::string result_text(bool squares, const std::string& type) {
    std::string is_far = "best >= " + none();
    if (squares) {
      // The square that stands for the pixel's own column is still missing.
      is_far = std::string(distance_.index ? "best + x * x >= " : "best >= ") + far_square;
    } else if (distance_.metric == Metric::euclidean) {
      is_far = "best >= (long)" + none() + " * " + none();
    }
    if (distance_.index) {
      const std::string at = "[(long)band * " + pitch() + " + column]";
      return is_far + " ? 0.0f : (float)((long)column * " + to_.height(image_) + " + nearest_row(" +
             words_like("words", "uint") + at + ", " + words_like("above", "int") + at + ", " +
             words_like("below", "int") + at + ", y) + 1)";
    }
    const std::string distance =
        distance_.metric == Metric::euclidean ? type + "_root(best)" : "(float)best";
    return is_far + " ? INFINITY : " + distance;
  }

  Builder& to_;
  int n_;
  const Distance& distance_;
  Operand image_;
  std::string name_;
  int waves_;
};

}  // namespace

void write_distance(Builder& to, int n) { DistanceText(to, n).write(); }

}  // namespace impipe::jit
