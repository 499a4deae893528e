// The Radon transform as text: sums along strips that follow the rays (core/rays.hpp), one strip a
// work-item, then strips to bins. No atomics; every sum has the CPU's order.
//
// Angles t, 90 - t, 90 + t and 180 - t see their frames of a square picture in the same way: where
// most of a launch's angles come in such fours, a pixel of each frame is read at once, and the
// weights, which are most of the work, serve all four.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/rays.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;       // of the kernels that go over pixels and bins
constexpr int waves = 4;         // of 32 strips, each of another angle: they read the same pixels
constexpr std::int64_t margin = 48;  // zeros on both sides of a frame's rows
constexpr std::int64_t largest_four = 4096;  // side; four frames take 16 bytes a pixel

// What a launch sums: directions, each of one frame or of four, and where columns come from.
struct RayPlan {
  struct Way {
    double along, across;
    int frame;  // 0 where all four are summed
  };
  std::vector<double> angles;
  std::vector<Way> ways[2];                  // of one frame; of four
  std::vector<std::pair<int, bool>> columns[2];  // the sum, way * 4 + frame, and whether reversed
};

RayPlan make_plan(std::vector<double> angles) {
  RayPlan plan;
  plan.angles = std::move(angles);
  for (const bool four : {false, true}) {
    std::map<std::tuple<double, double, int>, int> known;
    for (const double degrees : plan.angles) {
      const RayDirection d = ray_direction(degrees);
      const int frame = four ? 0 : d.frame;
      const auto [place, is_new] =
          known.try_emplace({d.along, d.across, frame}, static_cast<int>(known.size()));
      if (is_new) plan.ways[four].push_back({d.along, d.across, frame});
      plan.columns[four].emplace_back(four ? place->second * 4 + d.frame : place->second,
                                      d.reversed);
    }
  }
  return plan;
}

// The plan of the last launch serves the next one, which mostly has the same angles.
class RayPlans {
 public:
  std::shared_ptr<const RayPlan> of(const LaunchContext& at, int node, int count) {
    std::vector<double> angles;
    for (int i = 0; i < count; ++i) angles.push_back(at.argument(node, i));
    const std::lock_guard lock(mutex_);
    if (!last_ || last_->angles != angles) {
      last_ = std::make_shared<RayPlan>(make_plan(std::move(angles)));
    }
    return last_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const RayPlan> last_;
};

// Frame 0 and 3 are the picture, 1 and 2 it transposed; their flips are signs of steps.
constexpr const char* frame_kernel = R"(  const long item = (long)GROUP_X * $items + ITEM;
  const long upright = (long)$pitch_0 * $rows_0;
  const bool transposed = item >= upright;
  const long rest = transposed ? item - upright : item;
  const int pitch = transposed ? $pitch_1 : $pitch_0;
  const int row = (int)(rest / pitch), column = (int)(rest % pitch);
  if (transposed && row >= $rows_1) return;
  const int u = column - $margin - (transposed ? $height : $width) / 2;
  const int v = row - (transposed ? $width : $height) / 2;
  $frames[item] = $name_pixel(GIVE, transposed ? v : u, transposed ? u : v);
)";

constexpr const char* four_frames_kernel = R"(  const long item = (long)GROUP_X * $items + ITEM;
  const int row = (int)(item / $pitch_0), column = (int)(item % $pitch_0);
  if (row >= $rows_0) return;
  const int u = column - $margin - $width / 2, v = row - $height / 2;
  float4 pixel;
  pixel.x = $name_pixel(GIVE, u, -v);
  pixel.y = $name_pixel(GIVE, v, -u);
  pixel.z = $name_pixel(GIVE, -v, -u);
  pixel.w = $name_pixel(GIVE, -u, -v);
  $frames[item] = pixel;
)";

// x and y are counted from the picture's middle.
constexpr const char* pixel_function = R"(
FUNCTION float $name_pixel(GIVEN, const int from_x, const int from_y) {
  const int x = from_x + ($width + 1) / 2 - 1, y = from_y + ($height + 1) / 2 - 1;
  const bool inside = x >= 0 && x < $width && y >= 0 && y < $height;
  return inside ? (float)$pixel : 0.0f;
}
)";

// Of each way and row: where its pixels lie along the projection, and where strip 0's is stored.
constexpr const char* rows_kernel = R"(  const int item = GROUP_X * $items + ITEM;
  const int way = item / $most_rows, row = item % $most_rows;
  if (way >= $count) return;
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_v = $half_v;
  if (row > 2 * half_v) return;
  const double down = across * (double)(row - half_v);
  const double shift = rint(-down / along), offset = along * shift + down;
  float4 quarters;
  quarters.x = (float)(offset + along * -0.25 + across * -0.25);
  quarters.y = (float)(offset + along * -0.25 + across * 0.25);
  quarters.z = (float)(offset + along * 0.25 + across * -0.25);
  quarters.w = (float)(offset + along * 0.25 + across * 0.25);
  const long at = (long)way * $most_rows + row;
  $quarters[at] = quarters;
  $offsets[at] = (float)offset;
  $places[at] = $step_u * (int)shift + $step_v * row;
)";

// A wave keeps the places of a band's rows in local memory, and the waves of a group take the bands
// together: their ways are close to one another, so that what one reads is in the cache for all.
constexpr const char* strips_kernel = R"(  LOCAL float4 local_quarters[$waves * $most_of_band];
  LOCAL float2 local_lines[$waves * $most_of_band];
  const int wave = ITEM / 32, lane = ITEM % 32;
  const int wanted = GROUP_Y * $waves + wave, way = smaller(wanted, $count - 1);
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_u = $half_u, half_v = $half_v;
  const int most = (int)rint(across * (double)half_v / along);
  const int start = -half_u - most + GROUP_X * 32, j = start + lane;
  const bool works = wanted < $count && start <= half_u + most;
  // The rows in which one of the wave's strips may meet the frame.
  const double slope = larger_double(across / along, 1e-9);
  const int first =
      half_v - (int)clamp_double((half_u - start + 2) / slope + 1.0, -half_v, (double)half_v);
  const int last = half_v + (int)clamp_double((half_u + start + 33) / slope + 1.0, -half_v - 1.0,
                                              (double)half_v);
  const double reach = along / 2.0 + (along + across) / 4.0;
  const double middle = along * (double)j, bin = floor(middle - reach);
  const float after_0 = (float)(middle - bin), after_1 = after_0 - 1.0f;
  GLOBAL const $pixels* const pixels = $frames + $origin + $step_u * j;
  IN_LOCAL float4* const quarters = local_quarters + wave * $most_of_band;
  IN_LOCAL float2* const lines = local_lines + wave * $most_of_band;
$totals  const int bands = larger((2 * half_v + 1) / $band, 1);
  const int all_bands = larger($most_rows / $band, 1);
  for (int band = 0; band < all_bands; ++band) {
    const int begin = band * $band;
    const int end = band + 1 == bands ? 2 * half_v : begin + $band - 1;
    const int from = larger(first, begin), to = smaller(last, end);
    const bool meets = works && band < bands && from <= to;
    BARRIER;
    if (meets) {
      for (int r = from + lane; r <= to; r += 32) {
        const long at = (long)way * $most_rows + r;
        float2 line;
        line.x = $offsets[at];
        line.y = BITS_FLOAT((uint)$places[at]);
        quarters[r - begin] = $quarters[at];
        lines[r - begin] = line;
      }
    }
    BARRIER;
    if (meets) {
$sums$unroll    for (int r = from - begin; r <= to - begin; ++r) {
      const float4 q = quarters[r];
      const float offset = lines[r].x;
      const $pixels v = pixels[(int)FLOAT_BITS(lines[r].y)];
      const float over_0 = (SATURATED(after_0 + q.x) + SATURATED(after_0 + q.y)) +
                           (SATURATED(after_0 + q.z) + SATURATED(after_0 + q.w));
      const float over_1 = (SATURATED(after_1 + q.x) + SATURATED(after_1 + q.y)) +
                           (SATURATED(after_1 + q.z) + SATURATED(after_1 + q.w));
$adds    }
$carries    }
  }
  if (!works) return;
  const double base = middle - bin;
  const long strip = j + half_u + most;
$ends)";

constexpr const char* end_text = R"(  {
    const double way_4 = 4.0 * (base * total_all$k + total_offsets$k);
    const double third = way_4 - total_first$k - total_second$k;
    GLOBAL double* const part = $parts + (((long)way * $slots + $slot) * $strips + strip) * 4;
    part[0] = (4.0 * total_all$k - total_first$k) / 4.0;
    part[1] = (total_first$k - total_second$k) / 4.0;
    part[2] = (total_second$k - third) / 4.0;
    part[3] = third / 4.0;
  }
)";

constexpr const char* bins_kernel = R"(  const int chunks = ($bins + $items - 1) / $items;
  const int column = GROUP_X / chunks, r = GROUP_X % chunks * $items + ITEM;
  if (r >= $bins) return;
  GLOBAL const double* const of_column = $ways + 3 * $count + 2 * column;
  const int sum = (int)of_column[0], way = sum / $slots;
  const double along = $ways[3 * way], across = $ways[3 * way + 1];
  const int frame = (int)$ways[3 * way + 2], half_u = $half_u, half_v = $half_v;
  const int most = (int)rint(across * (double)half_v / along);
  const double reach = along / 2.0 + (along + across) / 4.0;
  const int bin = r - $bins / 2;
  const int guess = (int)floor(((double)(bin - 3) + reach) / along) - 1;
  const int last = smaller(guess + 9, half_u + most);
  GLOBAL const double* const parts = $parts + (long)sum * $strips * 4;
  double total = 0.0;
  for (int j = larger(guess, -half_u - most); j <= last; ++j) {
    const int place = bin - (int)floor(along * (double)j - reach);
    if (place >= 0 && place < 4) total += parts[(long)(j + half_u + most) * 4 + place];
  }
  const int y = of_column[1] != 0.0 ? $bins - 1 - r : r;
  ($out)[column] = (float)total;
)";

constexpr const char* words = R"(
#ifdef __CUDACC__
#define SATURATED(v) __saturatef(v)
#else
#define SATURATED(v) fmin(fmax(v, 0.0f), 1.0f)
#endif
FUNCTION double larger_double(const double a, const double b) { return a > b ? a : b; }
)";

class ProjectText {
 public:
  ProjectText(Builder& to, int n)
      : to_(to), n_(n), image_(to.node(n).images[0]), name_(Builder::name({false, n})),
        angles_(std::get<Project>(to.node(n).primitive).angles),
        plans_(std::make_shared<RayPlans>()) {}

  void write() {
    to_.body_once("rays", words);
    const PlaneText in = to_.plane(image_);
    to_.function(name_ + "_pixel", filled_here(pixel_function, false, {{"pixel", in.pixel()}}));
    for (const bool four : {false, true}) {
      to_.call(name_ + "_pixel", "x", "y", "c");  // its buffers
      write_frames(four);
      write_rows(four);
      write_strips(four);
      write_bins(four);
    }
  }

 private:
  // Takes the four frames together where that is less work.
  static bool takes_four(const RayPlan& plan, Size size) {
    return size.width == size.height && size.width <= largest_four &&
           plan.ways[0].size() >= 2 * plan.ways[1].size();
  }
  static std::int64_t pitch(Size size, bool transposed) {
    return 2 * ray_strips({.transposed = transposed}, size).half_u + 1 + 2 * margin;
  }
  static std::int64_t rows(Size size, bool transposed) {
    return 2 * ray_strips({.transposed = transposed}, size).half_v + 1;
  }
  static std::int64_t most_rows(Size size) { return std::max(rows(size, false), rows(size, true)); }
  // No strip is further from the middle than both halves together.
  static std::int64_t strips(Size size) {
    return (rows(size, false) + rows(size, true) + 63) / 32 * 32;
  }

  std::string number(const std::string& label, std::function<std::int64_t(Size)> value) {
    return to_.parameter(ParameterType::int32, name_ + "_" + label,
                         [image = image_, value = std::move(value)](const LaunchContext& at, int) {
                           return static_cast<double>(value(at.size_of(image)));
                         });
  }
  std::function<std::shared_ptr<const RayPlan>(const LaunchContext&)> plan() const {
    return [plans = plans_, n = n_, count = angles_](const LaunchContext& at) {
      return plans->of(at, n, count);
    };
  }
  static const char* suffix(bool four) { return four ? "_four" : ""; }
  // One copy to the device: along, across and frame of each way, then of each column its sum and
  // whether it is reversed.
  std::string table() {
    return to_.table(ParameterType::float64, name_ + "_plan",
                     [image = image_, plan = plan()](const LaunchContext& at) {
                       const auto made = plan(at);
                       const bool four = takes_four(*made, at.size_of(image));
                       std::vector<double> out;
                       for (const RayPlan::Way& way : made->ways[four]) {
                         out.insert(out.end(), {way.along, way.across,
                                                static_cast<double>(way.frame)});
                       }
                       for (const auto& [sum, reversed] : made->columns[four]) {
                         out.insert(out.end(), {static_cast<double>(sum), reversed ? 1.0 : 0.0});
                       }
                       return out;
                     });
  }
  std::string count(bool four) {
    return to_.parameter(ParameterType::int32, name_ + "_ways_count" + suffix(four),
                         [plan = plan(), four](const LaunchContext& at, int) {
                           return static_cast<double>(plan(at)->ways[four].size());
                         });
  }

  // Memory that a launch needs when it takes the four frames together (or not).
  std::string memory(const std::string& label, const std::string& type, bool four,
                     std::function<std::int64_t(Size, std::int64_t ways)> bytes) {
    return to_.scratch(name_ + "_" + label + suffix(four), type,
                       [image = image_, plan = plan(), four, bytes](const LaunchContext& at) {
                         const Size size = at.size_of(image);
                         const auto made = plan(at);
                         if (takes_four(*made, size) != four) return std::int64_t{16};
                         return bytes(size, static_cast<std::int64_t>(made->ways[four].size()));
                       });
  }
  std::string frames(bool four) {
    return memory("frames", four ? "float4" : "float", four, [four](Size size, std::int64_t) {
      const std::int64_t upright = pitch(size, false) * rows(size, false);
      return four ? 16 * upright : 4 * (upright + pitch(size, true) * rows(size, true));
    });
  }
  std::string row_memory(const std::string& label, const std::string& type, bool four, int bytes) {
    return memory(label, type, four, [bytes](Size size, std::int64_t ways) {
      return bytes * most_rows(size) * ways;
    });
  }
  std::string parts(bool four) {
    return memory("parts", "double", four, [four](Size size, std::int64_t ways) {
      return 32 * strips(size) * ways * (four ? 4 : 1);
    });
  }

  // The words that several kernels share; `more` are this one's own.
  std::string filled_here(std::string_view text, bool four,
                          std::vector<std::pair<std::string, std::string>> more) {
    const std::string width = to_.width(image_), height = to_.height(image_);
    const std::string upright = "(frame == 0 || frame == 3)";
    const auto halves = [&](const std::string& one, const std::string& other) {
      return four ? one + " / 2" : "(" + upright + " ? " + one + " : " + other + ") / 2";
    };
    const std::string pitch_0 = number("pitch_0", [](Size s) { return pitch(s, false); });
    const std::string pitch_1 = number("pitch_1", [](Size s) { return pitch(s, true); });
    const std::string rows_0 = number("rows_0", [](Size s) { return rows(s, false); });
    const std::string one_pitch = "(" + upright + " ? " + pitch_0 + " : " + pitch_1 + ")";
    // Flips of a frame are signs; the first row is then the last one in memory.
    const std::string step_v = four ? pitch_0 : "(frame == 1 ? 1 : -1) * " + one_pitch;
    const std::string origin =
        four ? std::string("half_u + ") + std::to_string(margin)
             : "(" + upright + " ? 0 : (long)" + pitch_0 + " * " + rows_0 +
                   ") + half_u + " + std::to_string(margin) + " + (frame == 1 ? 0 : 2 * half_v) * (long)" +
                   one_pitch;
    std::vector<std::pair<std::string, std::string>> all = {
        {"name_pixel", name_ + "_pixel"},
        {"items", std::to_string(items)},
        {"waves", std::to_string(waves)},
        {"margin", std::to_string(margin)},
        {"band", std::to_string(ray_band)},
        {"most_of_band", std::to_string(2 * ray_band)},
        {"width", width},
        {"height", height},
        {"half_u", halves(width, height)},
        {"half_v", halves(height, width)},
        {"pitch_0", pitch_0},
        {"pitch_1", pitch_1},
        {"rows_0", rows_0},
        {"rows_1", number("rows_1", [](Size s) { return rows(s, true); })},
        {"most_rows", number("most_rows", most_rows)},
        {"strips", number("strips", strips)},
        {"count", count(four)},
        {"slots", four ? "4" : "1"},
        {"pixels", four ? "float4" : "float"},
        {"step_u", four ? "1" : "(frame == 0 ? 1 : -1)"},
        {"step_v", step_v},
        {"origin", origin}};
    all.insert(all.end(), more.begin(), more.end());
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '$') {
        out += text[i++];
        continue;
      }
      std::size_t length = 0;
      while (i + 1 + length < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i + 1 + length])) != 0 ||
              text[i + 1 + length] == '_')) {
        ++length;
      }
      const std::string_view word = text.substr(i + 1, length);
      for (const auto& [from, value] : all) {
        if (from == word) out += value;
      }
      i += 1 + length;
    }
    return out;
  }

  ShapeFunction shape(bool four, int group,
                      std::function<std::array<std::int64_t, 2>(Size, const RayPlan&)> groups) {
    return [image = image_, plan = plan(), four, group, groups](const LaunchContext& at) {
      const Size size = at.size_of(image);
      const auto made = plan(at);
      if (takes_four(*made, size) != four) return LaunchShape{{0, 1, 1}, {group, 1, 1}};
      const auto [x, y] = groups(size, *made);
      return LaunchShape{{x, y, 1}, {group, 1, 1}};
    };
  }

  void write_frames(bool four) {
    to_.kernel(name_ + "_frames" + suffix(four), items,
               filled_here(four ? four_frames_kernel : frame_kernel, four,
                           {{"frames", frames(four)}}),
               shape(four, items, [four](Size size, const RayPlan&) {
                 std::int64_t pixels = pitch(size, false) * rows(size, false);
                 if (!four) pixels += pitch(size, true) * rows(size, true);
                 return std::array{(pixels + items - 1) / items, std::int64_t{1}};
               }));
  }

  void write_rows(bool four) {
    to_.kernel(name_ + "_rows" + suffix(four), items,
               filled_here(rows_kernel, four,
                           {{"ways", table()},
                            {"quarters", row_memory("quarters", "float4", four, 16)},
                            {"offsets", row_memory("offsets", "float", four, 4)},
                            {"places", row_memory("places", "int", four, 4)}}),
               shape(four, items, [four](Size size, const RayPlan& plan) {
                 const auto of_ways = static_cast<std::int64_t>(plan.ways[four].size());
                 return std::array{(most_rows(size) * of_ways + items - 1) / items,
                                   std::int64_t{1}};
               }));
  }

  void write_strips(bool four) {
    std::string totals, zeros, adds, carries, ends;
    for (const std::string& k : four ? std::vector<std::string>{"_x", "_y", "_z", "_w"}
                                    : std::vector<std::string>{""}) {
      const std::string v = four ? std::string("v.") + k[1] : "v";
      totals += "  double total_all" + k + " = 0.0, total_offsets" + k + " = 0.0, total_first" + k +
                " = 0.0, total_second" + k + " = 0.0;\n";
      zeros += "    float all" + k + " = 0.0f, offsets" + k + " = 0.0f, first" + k +
               "_sum = 0.0f, second" + k + "_sum = 0.0f;\n";
      adds += "      all" + k + " += " + v + ";\n      offsets" + k + " = fma(" + v + ", offset, offsets" +
              k + ");\n      first" + k + "_sum = fma(" + v + ", over_0, first" + k +
              "_sum);\n      second" + k + "_sum = fma(" + v + ", over_1, second" + k + "_sum);\n";
      carries += "    total_all" + k + " += (double)all" + k + ";\n    total_offsets" + k +
                 " += (double)offsets" + k + ";\n    total_first" + k + " += (double)first" + k +
                 "_sum;\n    total_second" + k + " += (double)second" + k + "_sum;\n";
      ends += filled_here(end_text, four,
                          {{"k", k},
                           {"slot", std::to_string(k.empty() ? 0 : std::string("xyzw").find(k[1]))},
                           {"parts", parts(four)}});
    }
    to_.kernel(name_ + "_strips" + suffix(four), 32 * waves,
               filled_here(strips_kernel, four,
                           {{"ways", table()},
                            {"frames", frames(four)},
                            {"quarters", row_memory("quarters", "float4", four, 16)},
                            {"offsets", row_memory("offsets", "float", four, 4)},
                            {"places", row_memory("places", "int", four, 4)},
                            {"totals", totals},
                            {"sums", zeros},
                            {"adds", adds},
                            {"carries", carries},
                            {"ends", ends},
                            {"unroll", to_.tuning().unroll ? "#pragma unroll 4\n" : ""}}),
               shape(four, 32 * waves, [four](Size size, const RayPlan& plan) {
                 const auto of_ways = static_cast<std::int64_t>(plan.ways[four].size());
                 return std::array{strips(size) / 32, (of_ways + waves - 1) / waves};
               }),
               four ? 6 : 8);
  }

  void write_bins(bool four) {
    const Operand self{false, n_};
    to_.kernel(name_ + "_bins" + suffix(four), items,
               filled_here(bins_kernel, four,
                           {{"bins", to_.height(self)},
                            {"ways", table()},
                            {"parts", parts(four)},
                            {"out", to_.plane(self).row("y")}}),
               shape(four, items, [node = to_.node(n_)](Size size, const RayPlan& plan) {
                 const std::int64_t chunks = (result_size(node, size).height + items - 1) / items;
                 return std::array{chunks * static_cast<std::int64_t>(plan.angles.size()),
                                   std::int64_t{1}};
               }));
  }

  Builder& to_;
  int n_;
  Operand image_;
  std::string name_;
  int angles_;
  std::shared_ptr<RayPlans> plans_;
};

}  // namespace

void write_project(Builder& to, int n) { ProjectText(to, n).write(); }

}  // namespace impipe::jit
