// Random pipelines from the operators' descriptions.
#include "support/random_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

#include "core/operator.hpp"
#include "core/text.hpp"
#include "support/test_image.hpp"

namespace impipe::test {
namespace {

class Maker {
 public:
  Maker(std::uint64_t seed, bool small) : random_(seed), small_(small) {}

  RandomRun make(std::uint64_t seed) {
    RandomRun out;
    constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint8,
                                      PixelClass::uint16, PixelClass::single};
    const PixelClass cls = classes[below(5)];
    const int channels = below(3) == 0 ? 3 : 1;
    const Size size = any_size();
    const int stages = 1 + below(3);
    for (int s = 0; s < stages; ++s) out.text += (s == 0 ? "" : " | ") + stage();
    const auto has = [&](const char* word) { return out.text.find(word) != std::string::npos; };
    // Where NaN has no place in the definition.
    const bool ordered = has("imregional") || has("imreconstruct") || has("imfill") ||
                         has("stats") || has("imhist") || has("watershed");
    const bool specials = cls == PixelClass::single && below(3) == 0 && !ordered;
    out.image = specials ? test_image_with_specials(channels, size, seed)
                         : test_image(cls, channels, size, seed);
    if (small_ && cls == PixelClass::single && below(3) == 0) spread(out.image);
    if (small_ && cls != PixelClass::logical && seed % 5 == 0) {
      out.image.type.alpha = true;
      out.image.alpha = test_image(cls, 1, size, seed + 9).planes.front();
    }
    const int codes = static_cast<int>(class_max(cls)) + 1;
    out.operands = {{"b", test_image(cls, channels, size, seed + 1)},
                    {"lut", test_image(cls, 1, {codes, 1}, seed + 2)}};
    return out;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class... T>
  std::string pick(T... choices) {
    const std::string all[] = {choices...};
    return all[below(sizeof...(T))];
  }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

  // Values from 2^-14 to 2^15 of either sign, as half floats have.
  void spread(HostImage& image) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      for (std::int64_t x = 0; x < image.size().width; ++x) {
        for (Plane& plane : image.planes) {
          float& value = plane.row_as<float>(y)[x];
          value = std::ldexp(value, below(30) - 14) * (below(2) == 0 ? 1.0f : -1.0f);
        }
      }
    }
  }

  // Single pixels, rows and columns, and sides just beside those of groups; some 600 pixels at
  // most.
  Size small_size() {
    constexpr Size sizes[] = {{1, 1},  {1, 2},  {2, 1},  {2, 2},   {2, 3},   {3, 2},  {5, 4},
                              {1, 33}, {33, 1}, {1, 65}, {65, 1},  {129, 1}, {1, 70}, {257, 2},
                              {7, 9},  {15, 4}, {16, 9}, {17, 17}, {31, 3},  {33, 5}, {9, 33},
                              {63, 7}, {65, 9}, {4, 65}, {129, 3}, {40, 15}};
    return sizes[below(static_cast<int>(std::size(sizes)))];
  }

  // Sides round every width of a vector or tile; never two long ones.
  Size any_size() {
    if (small_) return small_size();
    constexpr int medium[] = {31, 32, 33, 63, 64, 65, 127, 129};
    constexpr int large[] = {1023, 1025, 4097};
    const auto side = [&] { return below(2) == 0 ? 1 + below(9) : medium[below(8)]; };
    Size size{side(), side()};
    if (below(8) == 0) {
      size = {large[below(3)], 1 + below(9)};
      if (below(2) == 0) std::swap(size.width, size.height);
    }
    return size;
  }

  std::string number(const Parameter& p) {
    // Mostly small, sometimes an end of the range.
    constexpr double widest = 12;
    double low = std::max(p.numbers.low, p.numbers.high < widest ? p.numbers.low : -widest);
    low = std::isfinite(p.numbers.low) ? p.numbers.low : std::min(low, p.numbers.high - widest);
    const double high = std::min(p.numbers.high, low + (below(6) == 0 ? 3 * widest : widest));
    double v = between(low, high);
    if (below(5) == 0) v = below(2) == 0 ? low : high;
    if (p.numbers.integer) v = std::round(v);
    if (p.numbers.odd && std::fmod(std::fabs(v), 2) != 1) v = v + 1 <= high ? v + 1 : v - 1;
    if (!p.numbers.integer) v = std::round(v * 64) / 64;
    return number_text(std::clamp(v, p.numbers.low, p.numbers.high));
  }

  std::string matrix(int rows, int columns, bool element) {
    std::string text = "[";
    for (int i = 0; i < rows; ++i) {
      if (i > 0) text += "; ";
      for (int j = 0; j < columns; ++j) {
        const int v = element ? (below(3) > 0 ? 1 : 0) : below(9) - 3;
        text += (j > 0 ? " " : "") + std::to_string(v);
      }
    }
    return text + "]";
  }

  std::string kernel() {
    if (below(4) == 0) {
      return pick("fspecial:gaussian,5,1.2", "fspecial:average,3,5", "fspecial:log,7,1",
                  "fspecial:sobel", "fspecial:disk,3", "fspecial:unsharp", "fspecial:motion,7,30");
    }
    return matrix(1 + below(7), 1 + below(7), false) + (below(2) == 0 ? "/10" : "");
  }

  std::string element() {
    const std::string r = std::to_string(below(8)), n = std::to_string(1 + below(12));
    switch (below(9)) {
      case 0: return "square," + n;
      case 1: return "rectangle," + n + "," + std::to_string(1 + below(40));
      case 2: return "disk," + r;
      case 3: return "diamond," + r;
      case 4: return "octagon," + std::to_string(3 * below(4));
      case 5: return "line," + n + "," + std::to_string(below(180));
      case 6: return "pair," + std::to_string(below(9) - 4) + "," + std::to_string(below(9) - 4);
      case 7: return "periodicline,2," + std::to_string(below(5) - 2) + ",1";
      default: return matrix(1 + below(6), 1 + below(6), true);
    }
  }

  std::string expression(std::string_view op) {
    if (op == "stencil") {
      return pick("'at(1,0) - at(-1,0)'", "'max(x, at(0,2)) + at(-1,-1) / 4'",
                  "'x + col - at(-3,1)'", "'min(at(0,-1), at(0,1)) * 2'");
    }
    if (op == "reduce") return pick("'max(acc, x)'", "'acc + x'", "'min(acc, x) + 1'");
    if (op == "histogram") return pick("'x * 7'", "'x / 9 + 1'", "'floor(x)'");
    return pick("'x / 2 + 1'", "'max(x, b) - row'", "'(r + g) / 3'", "'abs(x - white / 2)'",
                "'x * x / white + col'");
  }

  std::string value(const Operator& op, const Parameter& p) {
    if (p.takes == Takes::element) return element();
    if (p.takes == Takes::kernel && p.numbers.max_count == 0) return kernel();
    if (p.takes == Takes::operand) return op.name == "intlut" ? ":lut" : ":b";
    if (p.takes == Takes::operands) return pick(":b", ":b :b");
    if (p.takes == Takes::expression) return expression(op.name);
    if (!p.words.empty() && (p.numbers.max_count == 0 || below(2) == 0)) {
      return std::string(p.words[below(static_cast<int>(p.words.size()))]);
    }
    const int least = std::max(p.numbers.min_count, 1);
    // Six limits are those of a colour image.
    const int most = p.numbers.max_count == 6 ? least : std::min(p.numbers.max_count, 4);
    int count = least + below(most - least + 1);
    std::string text;
    while (count-- > 0) text += (text.empty() ? "" : ",") + number(p);
    return text;
  }

  // A table of colours or a configuration, which no text can hold.
  static bool needs_a_file(const Operator& op) {
    return std::ranges::any_of(op.parameters, [](const Parameter& p) {
      return p.required && (p.takes == Takes::file || p.takes == Takes::text);
    });
  }

  std::string stage() {
    const Operator* op = nullptr;
    while (op == nullptr || op->lower == nullptr || op->reduction != nullptr || needs_a_file(*op)) {
      op = &catalogue()[below(static_cast<int>(catalogue().size()))];
    }
    std::string text(op->name);
    std::string mask;
    for (const Parameter& p : op->parameters) {
      if (!p.required && below(2) == 0) continue;
      if (p.name == "heights" || p.name == "offsets") continue;
      if (p.takes == Takes::file && p.words.empty()) continue;
      if (op->name == "imwarp" && p.name == "view") continue;  // may be of any size
      const bool positional = p.required || p.takes == Takes::operands;
      std::string v = value(*op, p);
      // As large as the element before it.
      if (p.takes == Takes::element && (op->name == "ordfilt2" || below(4) == 0)) {
        if (below(3) == 0 && op->category != "filter") {
          const int rows = 1 + below(5), columns = 1 + below(5);
          v = "rectangle," + std::to_string(rows) + "," + std::to_string(columns);
          mask =
              (op->name == "ordfilt2" ? " offsets=" : " heights=") + matrix(rows, columns, false);
        }
      }
      text += " " + (positional ? "" : std::string(p.name) + "=") + v;
    }
    return text + mask;
  }

  std::mt19937_64 random_;
  bool small_;
};

}  // namespace

RandomRun random_run(std::uint64_t seed) { return Maker(seed, false).make(seed); }

RandomRun small_random_run(std::uint64_t seed) { return Maker(seed, true).make(seed); }

}  // namespace impipe::test
