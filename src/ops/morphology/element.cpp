// Structuring elements. Formulas: Octave's image package 2.14.
#include "ops/morphology/element.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "core/text.hpp"
#include "ops/catalogue.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/matrix_file.hpp"

namespace impipe::ops {
namespace {

constexpr double longest_side = 1001;

Mask empty_element(int rows, int columns) {
  return {.width = columns,
          .height = rows,
          .origin_x = (columns - 1) / 2,
          .origin_y = (rows - 1) / 2,
          .cells = std::vector<std::uint8_t>(static_cast<std::size_t>(rows) * columns, 0)};
}

// The cells about the centre of a square for which `inside(|x|, |y|)`.
template <class Inside>
Mask about_centre(int radius, Inside inside) {
  Mask m = empty_element(2 * radius + 1, 2 * radius + 1);
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      m.cells[(y + radius) * m.width + x + radius] = inside(std::abs(x), std::abs(y)) ? 1 : 0;
    }
  }
  return m;
}

Mask transposed(const Mask& m) {
  Mask out = empty_element(m.width, m.height);
  for (int y = 0; y < m.height; ++y) {
    for (int x = 0; x < m.width; ++x) out.cells[x * out.width + y] = m.cells[y * m.width + x];
  }
  return out;
}

Mask mirrored(const Mask& m) {
  Mask out = m;
  for (int y = 0; y < m.height; ++y) {
    std::reverse(out.cells.begin() + y * m.width, out.cells.begin() + (y + 1) * m.width);
  }
  return out;
}

Mask from_matrix(const Call& call, std::string_view parameter, const Matrix& matrix) {
  Mask m = empty_element(matrix.rows, matrix.columns);
  for (size_t i = 0; i < matrix.values.size(); ++i) {
    const double v = matrix.values[i];
    if (v != 0 && v != 1) {
      call.fail(parameter, "an element is made of 0 and 1, not " + number_text(v));
    }
    m.cells[i] = v != 0 ? 1 : 0;
  }
  if (m.count() == 0) call.fail(parameter, "the element has no cell that is 1");
  return m;
}

// The cells that one element reaches from the cells of the other.
Mask sum_of(const Mask& a, const Mask& b) {
  Mask out = empty_element(a.height + b.height - 1, a.width + b.width - 1);
  for (int y = 0; y < b.height; ++y) {
    for (int x = 0; x < b.width; ++x) {
      if (!b.at(x, y)) continue;
      for (int row = 0; row < a.height; ++row) {
        std::uint8_t* to = out.cells.data() + (row + y) * out.width + x;
        const std::uint8_t* from = a.cells.data() + row * a.width;
        for (int column = 0; column < a.width; ++column) to[column] |= from[column];
      }
    }
  }
  return out;
}

struct Shape {
  std::string_view name;
  size_t least, most;  // numbers
  std::string_view usage;
};
constexpr Shape shapes[] = {
    {"square", 1, 1, "square,side"},     {"rectangle", 2, 2, "rectangle,rows,columns"},
    {"disk", 1, 2, "disk,radius,lines"}, {"diamond", 1, 1, "diamond,radius"},
    {"octagon", 1, 1, "octagon,radius"}, {"line", 2, 2, "line,length,degrees"},
    {"pair", 2, 2, "pair,down,right"},   {"periodicline", 3, 3, "periodicline,count,down,right"},
};

class ShapeArguments {
 public:
  ShapeArguments(const Call& call, std::string_view parameter)
      : call_(call), parameter_(parameter), value_(call.value(parameter)) {
    for (const Shape& shape : shapes) {
      if (shape.name == value_.word) shape_ = &shape;
    }
    if (shape_ == nullptr) unknown();
    const size_t count = value_.numbers.size();
    if (count < shape_->least || count > shape_->most) {
      call_.fail(parameter_, "a " + value_.word + " is written " + std::string(shape_->usage));
    }
  }

  int whole(size_t index, double low, double high) const {
    const double v = value_.numbers[index];
    if (v != std::floor(v)) refuse("a whole number", v, low, high);
    return static_cast<int>(number(index, low, high, "a whole number"));
  }
  double number(size_t index, double low, double high, const char* what = "a number") const {
    const double v = value_.numbers[index];
    if (!(v >= low && v <= high)) refuse(what, v, low, high);
    return v;
  }

 private:
  [[noreturn]] void refuse(const char* what, double v, double low, double high) const {
    call_.fail(parameter_, std::string(shape_->usage) + " takes " + what + " from " +
                               number_text(low) + " to " + number_text(high) + ", not " +
                               number_text(v));
  }
  [[noreturn]] void unknown() const {
    std::vector<std::string> names;
    std::string known;
    for (const Shape& shape : shapes) {
      names.emplace_back(shape.name);
      known += (known.empty() ? "" : ", ") + std::string(shape.name);
    }
    const std::string near = did_you_mean(value_.word, names);
    call_.fail(parameter_, "there is no element '" + value_.word + "'" +
                               (near.empty() ? "; known ones are " + known : near));
  }

  const Call& call_;
  std::string_view parameter_;
  const ParameterValue& value_;
  const Shape* shape_ = nullptr;
};

}  // namespace

Mask rectangle_element(int rows, int columns) {
  Mask m = empty_element(rows, columns);
  std::fill(m.cells.begin(), m.cells.end(), std::uint8_t{1});
  return m;
}

Mask disk_element(int radius) {
  return about_centre(radius, [&](int x, int y) { return x * x + y * y <= radius * radius; });
}

Mask disk_of_lines(int radius, int lines) {
  if (radius < 3) return disk_element(radius);
  struct Direction {
    int down, right;
  };
  static constexpr Direction four[] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}};
  static constexpr Direction six[] = {{1, 0}, {1, 2}, {2, 1}, {0, 1}, {-1, 2}, {-2, 1}};
  static constexpr Direction eight[] = {{1, 0}, {2, 1},  {1, 1},  {1, 2},
                                        {0, 1}, {-1, 2}, {-1, 1}, {-2, 1}};
  const std::span<const Direction> directions = lines == 4   ? std::span<const Direction>(four)
                                                : lines == 6 ? std::span<const Direction>(six)
                                                             : std::span<const Direction>(eight);
  const double theta = std::numbers::pi / (2 * lines);
  const double k = 2 * radius / (1 / std::tan(theta) + 1 / std::sin(theta));
  Mask out = rectangle_element(1, 1);
  for (const auto [down, right] : directions) {
    const int reach = static_cast<int>(std::floor(k / std::hypot(down, right)));
    out = sum_of(out, periodic_line_element(-reach, reach, down, right));
  }
  // Lines along rows and columns for what is missing to the sides.
  const int missing = radius - out.origin_x;
  if (missing >= 2) {
    out = sum_of(out, rectangle_element(1, 2 * missing - 1));
    out = sum_of(out, rectangle_element(2 * missing - 1, 1));
  }
  return out;
}

Mask diamond_element(int radius) {
  return about_centre(radius, [&](int x, int y) { return x + y <= radius; });
}

Mask octagon_element(int radius) {
  return about_centre(radius, [&](int x, int y) { return x + y <= radius + radius / 3; });
}

Mask line_element(double length, double degrees) {
  constexpr double radian = std::numbers::pi / 180;
  const double turn = degrees - 90 * std::floor(degrees / 90);
  const double angle = (turn > 45 ? 90 - turn : turn) * radian;
  const double ray = (length - 1) / 2;
  const int columns = static_cast<int>(std::round(ray * std::cos(angle))) + 1;
  const int rows = static_cast<int>(std::round(ray * std::sin(angle))) + 1;
  // One quarter: the ray from the centre (lower left) to the end (upper right).
  Mask m = empty_element(2 * rows - 1, 2 * columns - 1);
  const auto set = [&](int y, int x) { m.cells[y * m.width + x] = 1; };
  set(rows - 1, columns - 1);
  for (int x = 1; x < columns; ++x) {
    // At least the first row; Octave fails where the formula leaves the quarter.
    const int y = std::max(rows - static_cast<int>(std::tan(angle) * (x - 0.5)), 1);
    // (y, x) of the quarter counts from its top left, 1-based; the line falls from left to right
    // there, so it is the lower left quarter of the element, and turned by 180 degrees the upper
    // right one.
    set(rows - 1 + y - 1, x - 1);
    set(rows - 1 - (y - 1), m.width - x);
  }
  const double half_turn = degrees - 180 * std::floor(degrees / 180);
  switch (static_cast<int>(std::floor(half_turn / 45))) {
    case 1: return transposed(m);
    case 2: return mirrored(transposed(m));
    case 3: return mirrored(m);
    default: return m;
  }
}

Mask periodic_line_element(int first, int last, int down, int right) {
  const int reach = std::max(std::abs(first), std::abs(last));
  Mask m = empty_element(2 * reach * std::abs(down) + 1, 2 * reach * std::abs(right) + 1);
  for (int k = first; k <= last; ++k) {
    m.cells[(m.origin_y + k * down) * m.width + m.origin_x + k * right] = 1;
  }
  return m;
}

Mask element_argument(const Call& call, std::string_view parameter) {
  const ParameterValue& value = call.value(parameter);
  if (value.matrix) return from_matrix(call, parameter, *value.matrix);
  if (!value.path.empty()) {
    return from_matrix(call, parameter, read_matrix_file(call, parameter));
  }
  const ShapeArguments a(call, parameter);
  const double largest_radius = (longest_side - 1) / 2;
  if (value.word == "square") {
    const int side = a.whole(0, 1, longest_side);
    return rectangle_element(side, side);
  }
  if (value.word == "rectangle") {
    return rectangle_element(a.whole(0, 1, longest_side), a.whole(1, 1, longest_side));
  }
  if (value.word == "disk") {
    const int radius = a.whole(0, 0, largest_radius);
    const int lines = value.numbers.size() > 1 ? a.whole(1, 0, 8) : 0;
    if (lines == 0) return disk_element(radius);
    if (lines != 4 && lines != 6 && lines != 8) {
      call.fail(parameter, "a disk of lines has 4, 6 or 8 of them; disk,radius is exact");
    }
    return disk_of_lines(radius, lines);
  }
  if (value.word == "diamond") return diamond_element(a.whole(0, 0, largest_radius));
  if (value.word == "octagon") {
    const int radius = a.whole(0, 0, largest_radius);
    if (radius % 3 != 0) call.fail(parameter, "the radius of an octagon is a multiple of 3");
    return octagon_element(radius);
  }
  if (value.word == "pair") {
    return periodic_line_element(0, 1, a.whole(0, -largest_radius, largest_radius),
                                 a.whole(1, -largest_radius, largest_radius));
  }
  if (value.word == "periodicline") {
    const int count = a.whole(0, 0, largest_radius);
    const double largest = std::floor(largest_radius / std::max(count, 1));
    return periodic_line_element(-count, count, a.whole(1, -largest, largest),
                                 a.whole(2, -largest, largest));
  }
  // Beyond them a turn is lost in what doubles round.
  constexpr double largest_angle = 1e6;
  return line_element(a.whole(0, 1, longest_side), a.number(1, -largest_angle, largest_angle));
}

Mask reflected(const Mask& element) {
  Mask out = element;
  std::reverse(out.cells.begin(), out.cells.end());
  out.origin_x = element.width - 1 - element.origin_x;
  out.origin_y = element.height - 1 - element.origin_y;
  return out;
}

Matrix heights_argument(const Call& call, std::string_view parameter, const Mask& element) {
  Matrix heights = kernel_argument(call, parameter);
  if (heights.rows != element.height || heights.columns != element.width) {
    call.fail(parameter, "it is " + std::to_string(heights.rows) + "x" +
                             std::to_string(heights.columns) + ", the element " +
                             std::to_string(element.height) + "x" + std::to_string(element.width));
  }
  return heights;
}

std::vector<double> heights_of(const Matrix& heights, const Mask& element, PixelClass cls) {
  // Beyond twice the class every sum saturates; and floats hold these exactly.
  const double most = 2 * class_max(cls) + 1;
  std::vector<double> out;
  for (size_t i = 0; i < element.cells.size(); ++i) {
    if (element.cells[i] == 0) continue;
    const double v = heights.values[i];
    // A height of -0 is 0, so that sums with it have one zero.
    out.push_back(cls == PixelClass::single ? v + 0.0
                                            : std::floor(std::clamp(v, -most, most) + 0.5));
  }
  return out;
}

std::vector<std::string_view> element_shapes() {
  std::vector<std::string_view> names;
  for (const Shape& shape : shapes) names.push_back(shape.name);
  return names;
}

}  // namespace impipe::ops
