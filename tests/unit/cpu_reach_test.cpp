// Canny's hysteresis against a walk from pixel to pixel, on every instruction set: codes of every
// kind, long lines along rows, columns and diagonals, and snakes that turn back.
#include <gtest/gtest.h>

#include <functional>

#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

// See Label::Kind::reach.
SpecResult reached(const SpecImage& codes) {
  SpecResult out;
  out.image = codes;
  std::vector<std::pair<std::int64_t, std::int64_t>> open;
  const auto claim = [&](std::int64_t x, std::int64_t y) {
    if (x < 0 || y < 0 || x >= codes.width || y >= codes.height) return;
    if (codes.at(x, y, 0) == 0 || out.image.at(x, y, 0) == 1) return;
    out.image.at(x, y, 0) = 1;
    open.emplace_back(x, y);
  };
  for (double& value : out.image.values) value = 0;
  for (std::int64_t y = 0; y < codes.height; ++y) {
    for (std::int64_t x = 0; x < codes.width; ++x) {
      if (codes.at(x, y, 0) >= 16) claim(x, y);
      while (!open.empty()) {
        const auto [at_x, at_y] = open.back();
        open.pop_back();
        const int code = static_cast<int>(codes.at(at_x, at_y, 0));
        const bool slanted = (code & 10) != 0, level = (code & 12) != 0;
        const int dx = slanted || level ? 1 : 0, dy = !level ? 1 : slanted ? -1 : 0;
        claim(at_x + dx, at_y + dy);
        claim(at_x - dx, at_y - dy);
      }
    }
  }
  return out;
}

struct Codes {
  const char* name;
  std::function<int(std::int64_t x, std::int64_t y, std::mt19937& random)> code;
};

int rarely_strong(int code, std::mt19937& random) { return code + (random() % 50 == 0 ? 16 : 0); }

// A line to the right, two rows down, one to the left, and so on.
int snake(std::int64_t x, std::int64_t y) {
  constexpr std::int64_t width = 120;
  if (x >= width) return 0;
  const std::int64_t turn = y / 2 % 2 == 0 ? width - 1 : 0;
  if (y % 2 == 1) return x == turn ? 1 : 0;
  return x == turn || x == width - 1 - turn ? 1 : 4;
}

const Codes kinds[] = {
    {"all codes", [](auto, auto, auto& random) { return static_cast<int>(random() % 32); }},
    {"few strong ones",
     [](auto, auto, auto& random) {
       return rarely_strong(random() % 4 == 0 ? 0 : 1 << random() % 4, random);
     }},
    {"along rows",
     [](auto, auto, auto& random) { return rarely_strong(random() % 90 == 0 ? 0 : 4, random); }},
    {"along columns", [](auto, auto, auto& random) { return rarely_strong(1, random); }},
    {"down to the right", [](auto, auto, auto& random) { return rarely_strong(2, random); }},
    {"up to the right", [](auto, auto, auto& random) { return rarely_strong(8, random); }},
    {"snakes", [](auto x, auto y, auto&) { return snake(x, y) + (x == 3 && y == 0 ? 16 : 0); }},
    {"snakes from their middle",
     [](auto x, auto y, auto&) { return snake(x, y) + (x == 60 && y == 150 ? 16 : 0); }}};

TEST(CpuReach, WalksAlongEdges) {
  std::mt19937 random(39);
  KernelSpec spec;
  spec.inputs = {{.cls = PixelClass::uint8}};
  spec.nodes = {{.primitive = Label{Label::Kind::reach, 8},
                 .images = {{true, 0}},
                 .cls = PixelClass::logical,
                 .white = 1}};
  spec.outputs = {0};
  for (const Size size : {Size{1, 1}, Size{1, 300}, Size{300, 1}, Size{63, 40}, Size{64, 129},
                          Size{65, 128}, Size{200, 300}, Size{128, 256}}) {
    for (const Codes& kind : kinds) {
      SpecResult codes = random_image(random, PixelClass::uint8, 1, size, false);
      for (std::int64_t y = 0; y < size.height; ++y) {
        for (std::int64_t x = 0; x < size.width; ++x) {
          codes.image.at(x, y, 0) = kind.code(x, y, random);
        }
      }
      const SpecResult expected = reached(codes.image);
      for (const CpuLevel level : usable_levels()) {
        ASSERT_EQ(difference(run_spec(spec, {codes}, level, 3)[0], expected), "")
            << to_string(size) << ", " << kind.name << ", level " << static_cast<int>(level);
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
