// Flooding against a queue of pixels by height and time, for heights of each class: plateaus, many
// different ones, both zeros, infinities.
#include <gtest/gtest.h>

#include <cmath>
#include <queue>
#include <tuple>

#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

// Down the columns.
std::vector<std::pair<int, int>> steps_of(int connectivity) {
  std::vector<std::pair<int, int>> steps;
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      const bool beside = dx == 0 || dy == 0;
      if ((dx != 0 || dy != 0) && (connectivity == 8 || beside)) steps.emplace_back(dx, dy);
    }
  }
  return steps;
}

SpecResult flooded(const SpecImage& heights, const SpecResult& labels, int connectivity) {
  using Entry = std::tuple<double, std::int64_t, std::int64_t, std::int64_t>;  // height, time, x, y
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  SpecResult out = labels;
  SpecImage& of = out.image;
  std::vector<bool> queued(of.values.size());
  std::int64_t time = 0;
  const auto around = [&](std::int64_t x, std::int64_t y, const auto& visit) {
    for (const auto& [dx, dy] : steps_of(connectivity)) {
      const std::int64_t at_x = x + dx, at_y = y + dy;
      if (at_x >= 0 && at_y >= 0 && at_x < of.width && at_y < of.height) visit(at_x, at_y);
    }
  };
  const auto queue_round = [&](std::int64_t x, std::int64_t y) {
    around(x, y, [&](std::int64_t at_x, std::int64_t at_y) {
      const auto place = static_cast<std::size_t>(at_y * of.width + at_x);
      if (labels.image.at(at_x, at_y, 0) != 0 || queued[place]) return;
      queued[place] = true;
      queue.emplace(heights.at(at_x, at_y, 0), time++, at_x, at_y);
    });
  };
  for (std::int64_t x = 0; x < of.width; ++x) {
    for (std::int64_t y = 0; y < of.height; ++y) {
      if (labels.image.at(x, y, 0) != 0) queue_round(x, y);
    }
  }
  while (!queue.empty()) {
    const auto [height, when, x, y] = queue.top();
    queue.pop();
    double label = 0;
    bool several = false;
    around(x, y, [&](std::int64_t at_x, std::int64_t at_y) {
      const double one = of.at(at_x, at_y, 0);
      several = several || (one != 0 && label != 0 && one != label);
      if (one != 0) label = one;
    });
    if (several || label == 0) continue;
    of.at(x, y, 0) = label;
    queue_round(x, y);
  }
  return out;
}

// `kind` 0: as they come; 1: few; 2: as they come, with both zeros and infinities among them.
SpecResult relief(std::mt19937& random, PixelClass cls, Size size, int kind) {
  SpecResult image = random_image(random, cls, 1, size, false);
  const double special[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, -1.5, 2.5};
  for (double& value : image.image.values) {
    if (kind == 1) value = static_cast<double>(random() % 3);
    if (kind == 2 && random() % 2 == 0) value = special[random() % 6];
  }
  return image;
}

TEST(CpuFlood, TakesPixelsByHeightAndTime) {
  std::mt19937 random(51);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{1, 9}, Size{150, 40}, Size{33, 170}, Size{130, 3}}) {
      for (int round = 0; round < 12; ++round) {
        const int kind = cls == PixelClass::single ? round % 3 : round % 2;
        const SpecResult heights = relief(random, cls, size, kind);
        SpecResult labels = random_image(random, PixelClass::single, 1, size, false);
        for (double& label : labels.image.values) {
          label = random() % 40 == 0 ? static_cast<double>(1 + random() % 30) : 0;
        }
        const int connectivity = round % 4 < 2 ? 8 : 4;
        KernelSpec spec;
        spec.inputs = {{.cls = cls}, {.cls = PixelClass::single}};
        spec.nodes = {{.primitive = Label{Label::Kind::flood, connectivity},
                       .images = {{true, 0}, {true, 1}},
                       .cls = PixelClass::single,
                       .white = 0}};
        spec.outputs = {0};
        ASSERT_EQ(difference(run_spec(spec, {heights, labels}, CpuLevel::baseline, 1)[0],
                             flooded(heights.image, labels, connectivity)),
                  "")
            << to_string(size) << ", " << name_of(cls) << ", kind " << kind << ", connectivity "
            << connectivity;
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
