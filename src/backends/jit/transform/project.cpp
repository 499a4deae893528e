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

#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/primitive_facts.hpp"
#include "core/rays.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;        // of the kernels that go over pixels and bins
constexpr int sub_groups = 4;     // of 32 strips, each of another angle: they read the same pixels
constexpr int near_strips = 200;  // that reach as many bins as a group has: sqrt(2) of them and 11
constexpr std::int64_t margin = 48;          // zeros on both sides of a frame's rows
constexpr std::int64_t largest_four = 4096;  // side; four frames take 16 bytes a pixel

// What a launch sums: directions, each of one frame or of four, and where columns come from.
struct RayPlan {
  struct Way {
    double along, across;
    int frame;  // 0 where all four are summed
  };
  std::vector<double> angles;
  std::vector<Way> ways[2];                      // of one frame; of four
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

class ProjectText : WholeImageText<Project> {
 public:
  ProjectText(Builder& builder, int n)
      : WholeImageText(builder, n), plans_(std::make_shared<RayPlans>()) {}

  void write() {
    builder_.body_once("rays", filled(part(kernels::project, "words")));
    const PlaneText in = builder_.plane(image_);
    builder_.function(name_ + "_pixel", words_of(false).filled(part(kernels::project, "pixel"),
                                                               {{"pixel", in.pixel()}}));
    for (const bool four : {false, true}) {
      write_frames(four);
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
  static std::int64_t max_rows(Size size) { return std::max(rows(size, false), rows(size, true)); }
  // No strip is further from the middle than both halves together.
  static std::int64_t strips(Size size) {
    return (rows(size, false) + rows(size, true) + 63) / 32 * 32;
  }

  std::string number(const std::string& label, std::function<std::int64_t(Size)> value) {
    return builder_.of_size(name_ + "_" + label, image_, std::move(value));
  }
  std::function<std::shared_ptr<const RayPlan>(const LaunchContext&)> plan() const {
    return [plans = plans_, n = n_, count = what_.angles](const LaunchContext& at) {
      return plans->of(at, n, count);
    };
  }
  static const char* suffix(bool four) { return four ? "_four" : ""; }
  // One copy to the device: along, across and frame of each way, then of each column its sum and
  // whether it is reversed.
  std::string table() {
    return builder_.table(
        ParameterType::float64, name_ + "_plan",
        [image = image_, plan = plan()](const LaunchContext& at) {
          const auto made = plan(at);
          const bool four = takes_four(*made, at.size_of(image));
          std::vector<double> out;
          for (const RayPlan::Way& way : made->ways[four]) {
            out.insert(out.end(), {way.along, way.across, static_cast<double>(way.frame)});
          }
          for (const auto& [sum, reversed] : made->columns[four]) {
            out.insert(out.end(), {static_cast<double>(sum), reversed ? 1.0 : 0.0});
          }
          return out;
        });
  }
  std::string count(bool four) {
    return builder_.integer(
        name_ + "_ways_count" + suffix(four),
        [plan = plan(), four](const LaunchContext& at) { return plan(at)->ways[four].size(); });
  }

  // Memory that a launch needs when it takes the four frames together (or not).
  std::string memory(const std::string& label, const std::string& type, bool four,
                     std::function<std::int64_t(Size, std::int64_t ways)> bytes) {
    return builder_.scratch(name_ + "_" + label + suffix(four), type,
                            [image = image_, plan = plan(), four, bytes](const LaunchContext& at) {
                              const Size size = at.size_of(image);
                              const auto made = plan(at);
                              if (takes_four(*made, size) != four) return std::int64_t{16};
                              return bytes(size,
                                           static_cast<std::int64_t>(made->ways[four].size()));
                            });
  }
  std::string frames(bool four) {
    return memory("frames", four ? "float4" : "float", four, [four](Size size, std::int64_t) {
      const std::int64_t upright = pitch(size, false) * rows(size, false);
      return four ? 16 * upright : 4 * (upright + pitch(size, true) * rows(size, true));
    });
  }
  std::string row_memory(const std::string& label, const std::string& type, bool four, int bytes) {
    return memory(label, type, four,
                  [bytes](Size size, std::int64_t ways) { return bytes * max_rows(size) * ways; });
  }
  // Of both halves of the rows: [half, way, frame, 4, strip].
  std::string totals_of_strips(bool four) {
    return memory("totals", "double", four, [four](Size size, std::int64_t ways) {
      return 2 * 32 * strips(size) * ways * (four ? 4 : 1);
    });
  }

  // The words of the kernels. Where frames are taken one by one, that of a way is `frame`; flips of
  // it are signs, the first row is then the last one in memory.
  Substitutions words_of(bool four) {
    const auto text = [](std::string t) { return [t = std::move(t)] { return t; }; };
    const auto size = [this](const char* label, std::function<std::int64_t(Size)> value) {
      return [this, label, value = std::move(value)] { return number(label, value); };
    };
    const auto rows_in = [this, four](const char* label, const char* type, int bytes) {
      return [=, this] { return row_memory(label, type, four, bytes); };
    };
    return Substitutions({
        {"name_pixel", text(name_ + "_pixel")},
        {"items", text(std::to_string(items))},
        {"sub_groups", text(std::to_string(sub_groups))},
        {"margin", text(std::to_string(margin))},
        {"band", text(std::to_string(ray_band))},
        {"max_of_band", text(std::to_string(2 * ray_band))},
        {"near", text(std::to_string(near_strips))},
        {"unroll", text(builder_.unroll())},
        {"slots", text(four ? "4" : "1")},
        {"pixels", text(four ? "float4" : "float")},
        {"width", [this] { return builder_.width(image_); }},
        {"height", [this] { return builder_.height(image_); }},
        {"pitch_0", size("pitch_0", [](Size s) { return pitch(s, false); })},
        {"pitch_1", size("pitch_1", [](Size s) { return pitch(s, true); })},
        {"rows_0", size("rows_0", [](Size s) { return rows(s, false); })},
        {"rows_1", size("rows_1", [](Size s) { return rows(s, true); })},
        {"max_rows", size("max_rows", max_rows)},
        {"strips", size("strips", strips)},
        {"upright", text("(frame == 0 || frame == 3)")},
        {"pitch", text("($upright ? $pitch_0 : $pitch_1)")},
        {"half_u", text(four ? "$width / 2" : "($upright ? $width : $height) / 2")},
        {"half_v", text(four ? "$height / 2" : "($upright ? $height : $width) / 2")},
        {"step_u", text(four ? "1" : "(frame == 0 ? 1 : -1)")},
        {"step_v", text(four ? "$pitch_0" : "(frame == 1 ? 1 : -1) * $pitch")},
        {"origin", text(four ? "half_u + $margin"
                             : "($upright ? 0 : (long)$pitch_0 * $rows_0) + half_u + $margin + "
                               "(frame == 1 ? 0 : 2 * half_v) * (long)$pitch")},
        {"count", [this, four] { return count(four); }},
        {"ways", [this] { return table(); }},
        {"frames", [this, four] { return frames(four); }},
        {"quarters", rows_in("quarters", "float4", 16)},
        {"offsets", rows_in("offsets", "float", 4)},
        {"places", rows_in("places", "int", 4)},
        {"totals_of_strips", [this, four] { return totals_of_strips(four); }},
    });
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

  // Frames, and in the groups after those what the rows of each way have in common.
  void write_frames(bool four) {
    const auto frame_groups = [four](Size size) {
      std::int64_t pixels = pitch(size, false) * rows(size, false);
      if (!four) pixels += pitch(size, true) * rows(size, true);
      return (pixels + items - 1) / items;
    };
    const std::string groups = number(std::string("frame_groups") + suffix(four), frame_groups);
    const Substitutions shared = words_of(four);
    const std::string frames_text =
        shared.filled(part(kernels::project, four ? "four_frames" : "frame"));
    const std::string rows_text =
        shared.filled(part(kernels::project, "rows"), {{"frame_groups", groups}});
    builder_.kernel(
        name_ + suffix(four) + "_frames", items,
        when("GROUP_X < " + groups, frames_text + statement("return")) + rows_text,
        shape(four, items, [four, frame_groups](Size size, const RayPlan& plan) {
          const auto of_ways = static_cast<std::int64_t>(plan.ways[four].size());
          const std::int64_t rows_items = max_rows(size) * of_ways;
          return std::array{frame_groups(size) + (rows_items + items - 1) / items, std::int64_t{1}};
        }));
  }

  void write_strips(bool four) {
    const Substitutions shared = words_of(four);
    const Part& end = part(kernels::project, "end");
    std::string totals, zeros, row = shared.filled(part(kernels::project, "row")), carries, ends;
    // Four frames' totals are too many for registers.
    const std::string kept = std::to_string(sub_group_items * sub_groups);
    if (four) totals = array_of("LOCAL double", "kept", "16 * " + kept);
    int total = 0;
    const auto total_of = [&](const std::string& what, const std::string& sum) {
      const std::string name = "total_" + what;
      if (four) {
        const std::string place = "kept[" + std::to_string(total++) + " * " + kept + " + ITEM]";
        totals += assigned(place, "0.0");
        carries += statement(place + " += (double)" + sum);
        ends += declared("const double", name, place);
      } else {
        totals += declared("double", name, "0.0");
        carries += statement(name + " += (double)" + sum);
      }
    };
    for (const std::string& k :
         four ? std::vector<std::string>{"_x", "_y", "_z", "_w"} : std::vector<std::string>{""}) {
      const std::string v = four ? std::string("v.") + k[1] : "v";
      const auto weighted = [&](const std::string& sum, const std::string& weight) {
        return assigned(sum + k, "fma(" + v + ", " + weight + ", " + sum + k + ")");
      };
      zeros += statement("float all" + k + " = 0.0f, offsets" + k + " = 0.0f, sum_first" + k +
                         " = 0.0f, sum_second" + k + " = 0.0f");
      row += statement("all" + k + " += " + v) + weighted("offsets", "offset") +
             weighted("sum_first", "over_0") + weighted("sum_second", "over_1");
      total_of("all" + k, "all" + k);
      total_of("offsets" + k, "offsets" + k);
      total_of("first" + k, "sum_first" + k);
      total_of("second" + k, "sum_second" + k);
      const std::size_t slot = k.empty() ? 0 : std::string("xyzw").find(k[1]);
      ends += shared.filled(end, {{"k", k}, {"slot", std::to_string(slot)}});
    }
    builder_.kernel(
        name_ + suffix(four) + "_strips", sub_group_items * sub_groups,
        shared.filled(part(kernels::project, "strips"),
                      {{"totals", totals},
                       {"sums", zeros},
                       {"row", row},
                       {"ahead", builder_.tuning().unroll ? "8" : "1"},
                       {"carries", carries},
                       {"end", ends}}),
        shape(four, sub_group_items * sub_groups,
              [four](Size size, const RayPlan& plan) {
                const auto of_ways = static_cast<std::int64_t>(plan.ways[four].size());
                return std::array{(of_ways + sub_groups - 1) / sub_groups, 2 * strips(size) / 32};
              }),
        four ? 6 : 8);
  }

  void write_bins(bool four) {
    const Operand self{false, n_};
    builder_.kernel(name_ + suffix(four) + "_bins", items,
                    words_of(four).filled(
                        part(kernels::project, "bins"),
                        {{"bins", builder_.height(self)}, {"out", builder_.plane(self).row("y")}}),
                    shape(four, items, [node = builder_.node(n_)](Size size, const RayPlan& plan) {
                      const std::int64_t chunks =
                          (result_size(node, size).height + items - 1) / items;
                      return std::array{chunks * static_cast<std::int64_t>(plan.angles.size()),
                                        std::int64_t{1}};
                    }));
  }

  std::shared_ptr<RayPlans> plans_;
};

}  // namespace

void write_project(Builder& builder, int n) { ProjectText(builder, n).write(); }

}  // namespace impipe::jit
