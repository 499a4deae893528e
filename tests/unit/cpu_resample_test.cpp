// Resizes and affine maps on every instruction set against the definitions, pixel by pixel.
#include <gtest/gtest.h>

#include <cmath>

#include "core/placement.hpp"
#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

// Down the columns, then along the rows; numbers, not yet pixels.
std::vector<float> by_definition(const Node& node, const SpecImage& in) {
  const ResizeAxes axes = resize_axes(node, {in.width, in.height});
  const auto method = std::get<Resample>(node.primitive).method;
  const ResizeTaps x = resize_taps(method, axes.x), y = resize_taps(method, axes.y);
  const int channels = in.channels;
  std::vector<float> out;
  for (std::int64_t v = 0; v < axes.y.to; ++v) {
    const auto column = [&](std::int64_t place, int c) {
      float sum = 0;
      for (int t = 0; t < axes.y.taps; ++t) {
        const std::int64_t row = mirrored(y.first[v] + t, axes.y.from);
        sum =
            std::fma(y.weights[v * axes.y.taps + t], static_cast<float>(in.at(place, row, c)), sum);
      }
      return sum;
    };
    for (std::int64_t u = 0; u < axes.x.to; ++u) {
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int t = 0; t < axes.x.taps; ++t) {
          sum = std::fma(x.weights[u * axes.x.taps + t],
                         column(mirrored(x.first[u] + t, axes.x.from), c), sum);
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

double pixel_of(float v, PixelClass cls) {
  if (cls == PixelClass::single) return v;
  if (cls == PixelClass::logical) return v >= 0.5f ? 1 : 0;
  return std::floor(std::min(std::max(static_cast<double>(v), 0.0), class_max(cls)) + 0.5);
}

TEST(CpuResample, HasTheSumsOfItsTaps) {
  std::mt19937 random(5);
  const double scales[][2] = {{2, 2},      {1.01, 3.7}, {2.5, 0.4},  {0.3, 1.7}, {1, 2.2},
                              {0.55, 0.8}, {0.5, 0.5},  {0.27, 0.9}, {0.2, 1},   {0.98, 0.11}};
  const Size sizes[] = {{1, 1}, {1, 23}, {40, 1}, {31, 17}, {260, 9}};
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const SpecResult image = random_image(random, cls, channels, size, false);
        for (const auto& scale : scales) {
          const bool cubic = scale[0] != 2.5;
          SpecBuilder b;
          const Operand in = b.input(cls, channels);
          const Operand out = b.add(
              Resample{.method = cubic ? Resample::Method::bicubic : Resample::Method::bilinear},
              {in}, {0, 0, scale[0], scale[1]}, cls, channels);
          const KernelSpec spec = b.finish({out});
          const std::vector<float> wanted = by_definition(spec.nodes[0], image.image);
          for (const CpuLevel level : usable_levels()) {
            const SpecImage made = run_spec(spec, {image}, level, 2)[0].image;
            std::size_t i = 0;
            for (std::int64_t y = 0; y < made.height; ++y) {
              for (std::int64_t x = 0; x < made.width; ++x) {
                for (int c = 0; c < channels; ++c, ++i) {
                  ASSERT_EQ(static_cast<double>(made.at(x, y, c)), pixel_of(wanted[i], cls))
                      << to_string(size) << " by " << scale[0] << ", " << scale[1] << ", "
                      << name_of(cls) << " x" << channels << " at " << x << ", " << y << ", " << c;
                }
              }
            }
            ASSERT_EQ(i, wanted.size());
          }
        }
      }
    }
  }
}

// Halves of whole sizes are means of four pixels, whose ties go up; of odd ones an end is mirrored.
// Doubles are sixteenths of four pixels.
TEST(CpuResample, HalvesAndDoublesAreTheSumsOfTheirTaps) {
  std::mt19937 random(9);
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{2, 2}, Size{64, 6}, Size{262, 34}, Size{63, 34},
                            Size{62, 35}, Size{17, 1}}) {
      const SpecResult image = random_image(random, cls, 1, size, false);
      for (const auto& [scale, box] : {std::pair{0.5, true}, {0.5, false}, {2.0, false}}) {
        SpecBuilder b;
        const Operand in = b.input(cls, 1);
        const auto method = box ? Resample::Method::box : Resample::Method::bilinear;
        const Operand out =
            b.add(Resample{.method = method, .antialias = box}, {in}, {0, 0, scale, scale}, cls, 1);
        const KernelSpec spec = b.finish({out});
        const std::vector<float> wanted = by_definition(spec.nodes[0], image.image);
        for (const CpuLevel level : usable_levels()) {
          const SpecImage made = run_spec(spec, {image}, level, 2)[0].image;
          ASSERT_EQ(made.values.size(), wanted.size());
          for (std::size_t i = 0; i < wanted.size(); ++i) {
            ASSERT_EQ(made.values[i], pixel_of(wanted[i], cls))
                << to_string(size) << ", " << name_of(cls) << (box ? ", box" : ", bilinear")
                << " by " << scale << " at " << i << ", level " << static_cast<int>(level);
          }
        }
      }
    }
  }
}

TEST(CpuResample, PicksTheNearestPixels) {
  std::mt19937 random(7);
  const double scales[][2] = {{2, 2}, {1.7, 0.6}, {0.5, 3}, {3, 1}, {0.3, 1.1}, {0.1, 0.2}};
  const Size sizes[] = {{1, 1}, {7, 5}, {40, 3}, {67, 17}, {260, 9}};
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : sizes) {
      const SpecResult image = random_image(random, cls, 2, size, false);
      for (const auto& scale : scales) {
        SpecBuilder b;
        const Operand in = b.input(cls, 2);
        const Operand out = b.add(Resample{.method = Resample::Method::nearest}, {in},
                                  {0, 0, scale[0], scale[1]}, cls, 2);
        const KernelSpec spec = b.finish({out});
        const std::vector<float> wanted = by_definition(spec.nodes[0], image.image);
        for (const CpuLevel level : usable_levels()) {
          const SpecImage made = run_spec(spec, {image}, level, 2)[0].image;
          std::size_t i = 0;
          for (std::int64_t y = 0; y < made.height; ++y) {
            for (std::int64_t x = 0; x < made.width; ++x) {
              for (int c = 0; c < 2; ++c, ++i) {
                ASSERT_EQ(static_cast<float>(made.at(x, y, c)), wanted[i])
                    << to_string(size) << " by " << scale[0] << ", " << scale[1] << ", "
                    << name_of(cls) << " at " << x << ", " << y << ", " << c;
              }
            }
          }
          ASSERT_EQ(i, wanted.size());
        }
      }
    }
  }
}

// Bilinear, from four pixels in float32 at a place in double.
double mapped(const AffinePlace& place, const SpecImage& in, std::int64_t u, std::int64_t v, int c,
              float fill) {
  const auto x =
      std::fma(place.a, static_cast<double>(u), std::fma(place.b, static_cast<double>(v), place.c));
  const auto y =
      std::fma(place.d, static_cast<double>(u), std::fma(place.e, static_cast<double>(v), place.f));
  const bool near =
      x > -1 && x < static_cast<double>(in.width) && y > -1 && y < static_cast<double>(in.height);
  if (!near) return pixel_of(fill, in.cls);
  const auto at = [&](double column, double row) {
    const bool inside = column >= 0 && column < static_cast<double>(in.width) && row >= 0 &&
                        row < static_cast<double>(in.height);
    return inside ? static_cast<float>(
                        in.at(static_cast<std::int64_t>(column), static_cast<std::int64_t>(row), c))
                  : fill;
  };
  const double left = std::floor(x), top = std::floor(y);
  const auto between = [](float t, float a, float b) { return std::fma(t, b, std::fma(-t, a, a)); };
  const auto across = static_cast<float>(x - left);
  return pixel_of(
      between(static_cast<float>(y - top), between(across, at(left, top), at(left + 1, top)),
              between(across, at(left, top + 1), at(left + 1, top + 1))),
      in.cls);
}

double nearest_to(const AffinePlace& place, const SpecImage& in, std::int64_t u, std::int64_t v,
                  int c, float fill) {
  const double down = static_cast<double>(v), across = static_cast<double>(u);
  const double x = std::floor(std::fma(place.a, across, std::fma(place.b, down, place.c)) + 0.5);
  const double y = std::floor(std::fma(place.d, across, std::fma(place.e, down, place.f)) + 0.5);
  const bool inside =
      x >= 0 && x < static_cast<double>(in.width) && y >= 0 && y < static_cast<double>(in.height);
  return inside ? static_cast<double>(
                      in.at(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), c))
                : pixel_of(fill, in.cls);
}

// All pixels of a map, by either definition.
std::vector<double> by_map(const AffinePlace& place, const SpecImage& in, const SpecImage& like,
                           bool nearest, float fill) {
  std::vector<double> wanted;
  for (std::int64_t y = 0; y < like.height; ++y) {
    for (std::int64_t x = 0; x < like.width; ++x) {
      for (int c = 0; c < like.channels; ++c) {
        wanted.push_back((nearest ? nearest_to : mapped)(place, in, x, y, c, fill));
      }
    }
  }
  return wanted;
}

TEST(CpuResample, HasThePixelsOfItsMap) {
  std::mt19937 random(6);
  const std::vector<double> maps[] = {
      {0.8, -0.6, 3, 0.6, 0.8, -4, 1},   {0.7, 0.1, 1.5, 0, 0.9, 2.25, 1},  // along rows
      {1.6, 0, -2.75, 0, 1.2, 0.5, 0},   {1, 0, 2.25, 0, 1, -1.5, 0},
      {0.01, 0.3, 20, -0.02, 0.1, 5, 0}, {-1, 0, 0, 0, -1, 0, 1},
      {4, -3, 150, 3, 4, -4, 1},         {90, 70, -4000, -80, 99, 9e3, 1}};
  const Size sizes[] = {{1, 1}, {3, 40}, {31, 17}, {90, 50}, {330, 210}};
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3}) {
      for (const Size size : sizes) {
        const SpecResult image = random_image(random, cls, channels, size, false);
        for (const std::vector<double>& map : maps) {
          for (const bool nearest : {false, true}) {
            SpecBuilder b;
            const Operand in = b.input(cls, channels);
            std::vector<double> arguments = {270, 0};
            arguments.insert(arguments.end(), map.begin(), map.end());
            arguments.push_back(1);
            const auto method = nearest ? Resample::Method::nearest : Resample::Method::bilinear;
            const Operand out = b.add(Resample{Resample::Kind::affine, method, false}, {in},
                                      arguments, cls, channels);
            const KernelSpec spec = b.finish({out});
            const AffinePlace place = affine_place(spec.nodes[0], size);
            std::vector<double> wanted;
            for (const CpuLevel level : usable_levels()) {
              const SpecImage made = run_spec(spec, {image}, level, 1)[0].image;
              if (wanted.empty()) wanted = by_map(place, image.image, made, nearest, 1);
              ASSERT_EQ(made.values.size(), wanted.size());
              for (std::size_t i = 0; i < wanted.size(); ++i) {
                ASSERT_EQ(made.values[i], wanted[i])
                    << to_string(size) << ", " << name_of(cls) << " x" << channels << " at " << i
                    << (nearest ? ", nearest" : "") << ", level " << static_cast<int>(level);
              }
            }
          }
        }
      }
    }
  }
}

// Random values with infinities and NaN among the floats, most of them in the first row and column.
SpecResult with_edges(std::mt19937& random, PixelClass cls, int channels, Size size) {
  SpecResult image = random_image(random, cls, channels, size, false);
  if (cls != PixelClass::single) return image;
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (int i = 0; i < 40; ++i) {
      const std::int64_t x = std::uniform_int_distribution<std::int64_t>(0, size.width - 1)(random);
      const std::int64_t y =
          std::uniform_int_distribution<std::int64_t>(0, size.height - 1)(random);
      const std::int64_t at[] = {y * size.width, x, y * size.width + x};
      image.image.values[static_cast<std::size_t>(at[i % 2] * channels)] = odd;
      if (i == 0) image.image.values[static_cast<std::size_t>(at[2] * channels)] = odd;
    }
  }
  return image;
}

void expect_map(const SpecResult& image, const std::vector<double>& map, bool nearest,
                double outside) {
  const PixelClass cls = image.image.cls;
  const int channels = image.image.channels;
  SpecBuilder b;
  const Operand in = b.input(cls, channels);
  std::vector<double> arguments = {310, 0};
  arguments.insert(arguments.end(), map.begin(), map.end());
  arguments.push_back(outside);
  const auto method = nearest ? Resample::Method::nearest : Resample::Method::bilinear;
  const Operand out =
      b.add(Resample{Resample::Kind::affine, method, false}, {in}, arguments, cls, channels);
  const KernelSpec spec = b.finish({out});
  const Size size{image.image.width, image.image.height};
  const AffinePlace place = affine_place(spec.nodes[0], size);
  std::vector<double> wanted;
  for (const CpuLevel level : usable_levels()) {
    const SpecImage made = run_spec(spec, {image}, level, 2)[0].image;
    if (wanted.empty()) {
      wanted = by_map(place, image.image, made, nearest, static_cast<float>(outside));
    }
    ASSERT_EQ(made.values.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool same = std::isnan(wanted[i]) ? std::isnan(made.values[i])
                                              : static_cast<double>(made.values[i]) == wanted[i];
      ASSERT_TRUE(same) << made.values[i] << " for " << wanted[i] << ", " << to_string(size) << ", "
                        << name_of(cls) << " x" << channels << " at " << i
                        << (nearest ? ", nearest" : "") << ", outside " << outside << ", level "
                        << static_cast<int>(level);
    }
  }
}

// Maps that turn, whose blocks are made from copies: any angle, places on whole numbers (-1 among
// them, where the value outside stands alone), and values outside that are codes, none, or not 0.
TEST(CpuResample, TurnsBlocks) {
  std::mt19937 random(8);
  std::vector<std::vector<double>> maps = {
      {0, 1, -1, 1, 0, -1, 0},  {0, -1, 60, 1, 0, -1, 0},      {0, 1, -1, -1, 0, 60, 0},
      {1, 0, -1, 1, 1, -1, 0},  {1, 0.5, -70, 0, 1, -1, 0},    {0.5, 0, -1, 0.5, 0, -1, 0},
      {1, 1, -30, 1, 1, -1, 0}, {1, 1e-9, -1, 1e-9, 1, -1, 0}, {2, -2, 40, 2, 2, -90, 0},
      {1e4, 1, 0, 1, 1e4, 0, 0}};
  for (int i = 0; i < 6; ++i) {
    const double angle = std::uniform_real_distribution(0.0, 6.3)(random);
    const double scale = std::uniform_real_distribution(0.4, 1.6)(random);
    maps.push_back({std::cos(angle) * scale, std::sin(angle) * scale, 0, -std::sin(angle) * scale,
                    std::cos(angle) * scale, 0, 1});
  }
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3, 5}) {
      const SpecResult image = with_edges(random, cls, channels, {190, 75});
      for (const std::vector<double>& map : maps) {
        for (const double outside : {0.0, 1.0, 0.3, HUGE_VAL}) {
          if (std::isinf(outside) && cls != PixelClass::single) continue;
          for (const bool nearest : {false, true}) {
            expect_map(image, map, nearest, outside);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

float keys(float distance) {
  const float h = std::fabs(distance);
  return h <= 1 ? (1.5f * h - 2.5f) * h * h + 1.0f : ((-0.5f * h + 2.5f) * h - 4.0f) * h + 2.0f;
}

// The pixel at a place of any map, each operation in the definition's class and order.
class MappedPixel {
 public:
  MappedPixel(const Node& node, const SpecImage& in, float fill)
      : how_(std::get<Resample>(node.primitive)),
        place_(mapped_place(node, {in.width, in.height})),
        in_(in),
        fill_(fill) {}

  double at(std::int64_t u, std::int64_t v, int c) const {
    const MappedPlace& p = place_;
    const double across = static_cast<double>(u) - p.u0, down = static_cast<double>(v) - p.v0;
    const double x = p.a * across + p.b * down + p.c + p.x0;
    const double y = p.d * across + p.e * down + p.f + p.y0;
    if (!has_value(x, in_.width) || !has_value(y, in_.height)) return pixel_of(fill_, in_.cls);
    if (how_.method == Resample::Method::nearest) {
      return pixel_of(pixel(std::floor(x + 0.5), std::floor(y + 0.5), c), in_.cls);
    }
    const double left = std::floor(x), top = std::floor(y);
    const auto right = static_cast<float>(x - left), under = static_cast<float>(y - top);
    if (how_.method == Resample::Method::bilinear) {
      const auto between = [](float t, float a, float b) {
        return std::fma(t, b, std::fma(-t, a, a));
      };
      const auto line = [&](double row) {
        return between(right, pixel(left, row, c), pixel(left + 1, row, c));
      };
      return pixel_of(between(under, line(top), line(top + 1)), in_.cls);
    }
    const float distances[2][4] = {{right + 1, right, 1 - right, 1 - right + 1},
                                   {under + 1, under, 1 - under, 1 - under + 1}};
    float sum = 0;
    for (int j = 0; j < 4; ++j) {
      float line = 0;
      for (int i = 0; i < 4; ++i) {
        line = std::fma(keys(distances[0][i]), pixel(left + i - 1, top + j - 1, c), line);
      }
      sum = std::fma(keys(distances[1][j]), line, sum);
    }
    return pixel_of(sum, in_.cls);
  }

 private:
  bool has_value(double place, std::int64_t n) const {
    const double last = static_cast<double>(n - 1);
    const bool cubic = how_.method == Resample::Method::bicubic;
    if (how_.beside == Resample::Beside::on_image) {
      const double more = cubic ? 0.5 : 0;
      return place >= -more && place <= last + more;
    }
    return place > (cubic ? -2 : -1) && place < last + (cubic ? 2 : 1);
  }
  float pixel(double x, double y, int c) const {
    auto column = static_cast<std::int64_t>(x), row = static_cast<std::int64_t>(y);
    if (how_.beside == Resample::Beside::on_image) {
      column = mirrored(column, in_.width);
      row = mirrored(row, in_.height);
    }
    if (column < 0 || column >= in_.width || row < 0 || row >= in_.height) return fill_;
    return static_cast<float>(in_.at(column, row, c));
  }

  Resample how_;
  MappedPlace place_;
  const SpecImage& in_;
  float fill_;
};

void expect_mapped(const SpecResult& image, const Resample& how, const std::vector<double>& map,
                   double outside) {
  const PixelClass cls = image.image.cls;
  const int channels = image.image.channels;
  SpecBuilder b;
  const Operand in = b.input(cls, channels);
  std::vector<double> arguments = {how.view == Resample::View::given ? 210.0 : 0.0, 0};
  arguments.insert(arguments.end(), map.begin(), map.end());
  arguments.push_back(outside);
  const Operand out = b.add(how, {in}, arguments, cls, channels);
  const KernelSpec spec = b.finish({out});
  const MappedPixel pixels(spec.nodes[0], image.image, static_cast<float>(outside));
  std::vector<double> wanted;
  for (const CpuLevel level : usable_levels()) {
    const SpecImage made = run_spec(spec, {image}, level, 2)[0].image;
    for (std::int64_t i = std::ssize(wanted); i < std::ssize(made.values); ++i) {
      const std::int64_t place = i / channels;
      wanted.push_back(
          pixels.at(place % made.width, place / made.width, static_cast<int>(i % channels)));
    }
    ASSERT_EQ(made.values.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto value = static_cast<double>(made.values[i]);
      const bool same = std::isnan(wanted[i]) ? std::isnan(value) : value == wanted[i];
      ASSERT_TRUE(same) << value << " for " << wanted[i] << ", "
                        << to_string(Size{made.width, made.height}) << ", " << name_of(cls) << " x"
                        << channels << " at " << i << ", method " << static_cast<int>(how.method)
                        << ", beside " << static_cast<int>(how.beside) << ", view "
                        << static_cast<int>(how.view) << ", outside " << outside << ", level "
                        << static_cast<int>(level);
    }
  }
}

std::vector<std::vector<double>> turns(std::mt19937& random) {
  std::vector<std::vector<double>> maps = {{0, 1, 0, -1, 0, 0, 1},   {1, 0, 0, 0.3, 1, 0, 1},
                                           {1, 0.4, 0, 0, 1, 0, 1},  {1, 1e-9, 0, 1e-9, 1, 0, 1},
                                           {1, 1, -0.5, 1, 1, 2, 1}, {0.02, 1, 9, 0.9, 0.01, 3, 0}};
  for (int i = 0; i < 3; ++i) {
    const double angle = std::uniform_real_distribution(0.0, 6.3)(random);
    maps.push_back({std::cos(angle), std::sin(angle), 0, -std::sin(angle), std::cos(angle), 0, 1});
  }
  return maps;
}

// The same with other rules for what lies beside the image: mirrored pixels at its edges, a value
// outside between them, nothing beyond the outer pixels.
TEST(CpuResample, TurnsBlocksOfAnyRule) {
  using enum Resample::Method;
  using Beside = Resample::Beside;
  using View = Resample::View;
  const auto how = [](Resample::Method method, Beside beside, View view) {
    return Resample{Resample::Kind::affine, method, false, beside, view};
  };
  const Resample rules[] = {
      how(nearest, Beside::on_image, View::turned), how(bilinear, Beside::on_image, View::turned),
      how(bicubic, Beside::on_image, View::turned), how(bilinear, Beside::on_image, View::given),
      how(bicubic, Beside::filled, View::given),    how(nearest, Beside::filled, View::all),
      how(bilinear, Beside::filled, View::all),     how(bicubic, Beside::filled, View::all)};
  std::mt19937 random(10);
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 5}) {
      for (const Size size : {Size{1, 1}, Size{3, 140}, Size{110, 60}}) {
        const SpecResult image = with_edges(random, cls, channels, size);
        for (const std::vector<double>& map : turns(random)) {
          for (const Resample& rule : rules) {
            // turned and all have sizes that make no sense of a map that is hardly one.
            const double det = map[0] * map[4] - map[1] * map[3];
            if (rule.view == View::all && std::abs(det) < 0.1) continue;
            const double outsides[] = {0.0, 1.0, 0.3};
            expect_mapped(image, rule, map, outsides[random() % 3]);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
