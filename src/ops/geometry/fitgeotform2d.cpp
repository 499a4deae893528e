// fitgeotform2d: the map of imwarp that takes some points to others.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

// The matrix is known before the image is; in: how many values each channel has.
IMPIPE_SCALAR_BODY(known_matrix, {
  for (int i = 0; i < 9; ++i) out[i] = args[i];
})

namespace impipe::ops {
namespace {

struct Point2 {
  double x = 0, y = 0;
};
using Points = std::vector<Point2>;
using Matrix3 = std::array<double, 9>;  // row by row
constexpr double negligible = 1e-12;

Point2 mean_of(const Points& points) {
  Point2 out;
  for (const Point2& p : points) out = {out.x + p.x, out.y + p.y};
  const auto n = static_cast<double>(points.size());
  return {out.x / n, out.y / n};
}

Points centred(Points points) {
  const Point2 mean = mean_of(points);
  for (Point2& p : points) p = {p.x - mean.x, p.y - mean.y};
  return points;
}

double squares_of(const Points& points) {
  double out = 0;
  for (const Point2& p : points) out += p.x * p.x + p.y * p.y;
  return out;
}

[[noreturn]] void fail_degenerate(const Call& call) {
  call.fail("moving", "no map is determined by these points: they coincide or lie on one line");
}

// The map with the linear part [a b; d e] that takes one mean to the other.
Matrix3 about_means(double a, double b, double d, double e, Point2 from, Point2 to) {
  return {a, b, to.x - a * from.x - b * from.y, d, e, to.y - d * from.x - e * from.y, 0, 0, 1};
}

Matrix3 affine(const Call& call, const Points& moving, const Points& fixed) {
  const Points p = centred(moving), q = centred(fixed);
  double xx = 0, xy = 0, yy = 0, ux = 0, uy = 0, vx = 0, vy = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    xx += p[i].x * p[i].x, xy += p[i].x * p[i].y, yy += p[i].y * p[i].y;
    ux += q[i].x * p[i].x, uy += q[i].x * p[i].y;
    vx += q[i].y * p[i].x, vy += q[i].y * p[i].y;
  }
  const double det = xx * yy - xy * xy;
  if (!(det > negligible * (xx + yy) * (xx + yy))) fail_degenerate(call);
  return about_means((ux * yy - uy * xy) / det, (uy * xx - ux * xy) / det,
                     (vx * yy - vy * xy) / det, (vy * xx - vx * xy) / det, mean_of(moving),
                     mean_of(fixed));
}

// A rotation about the means, and for a similarity a scale.
Matrix3 similarity(const Call& call, const Points& moving, const Points& fixed, bool is_rigid) {
  const Points p = centred(moving), q = centred(fixed);
  double dot = 0, cross = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    dot += p[i].x * q[i].x + p[i].y * q[i].y;
    cross += p[i].x * q[i].y - p[i].y * q[i].x;
  }
  const double scale = is_rigid ? std::hypot(dot, cross) : squares_of(p);
  if (!(scale > 0)) fail_degenerate(call);
  return about_means(dot / scale, -cross / scale, cross / scale, dot / scale, mean_of(moving),
                     mean_of(fixed));
}

using Matrix9 = std::array<std::array<double, 9>, 9>;

// Jacobi's rotations make the symmetric matrix diagonal; the columns of the result are the
// eigenvectors.
Matrix9 eigenvectors(Matrix9& m) {
  Matrix9 out{};
  for (std::size_t i = 0; i < 9; ++i) out[i][i] = 1;
  constexpr int sweeps = 60;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t p = 0; p < 9; ++p) {
      for (std::size_t q = p + 1; q < 9; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < 9; ++k) {
          const double a = m[k][p], b = m[k][q];
          m[k][p] = c * a - s * b, m[k][q] = s * a + c * b;
        }
        for (std::size_t k = 0; k < 9; ++k) {
          const double a = m[p][k], b = m[q][k];
          m[p][k] = c * a - s * b, m[q][k] = s * a + c * b;
          const double x = out[k][p], y = out[k][q];
          out[k][p] = c * x - s * y, out[k][q] = s * x + c * y;
        }
      }
    }
  }
  return out;
}

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) out[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
  return out;
}

// Moves the points' mean to 0 and scales their distances from it to sqrt 2 in the mean square.
struct Normalised {
  Points points;
  Matrix3 forward, back;

  Normalised(const Call& call, const Points& of) : points(centred(of)) {
    const double squares = squares_of(points);
    if (!(squares > 0)) fail_degenerate(call);
    const double s = std::sqrt(2 * static_cast<double>(of.size()) / squares);
    const Point2 mean = mean_of(of);
    for (Point2& p : points) p = {s * p.x, s * p.y};
    forward = {s, 0, -s * mean.x, 0, s, -s * mean.y, 0, 0, 1};
    back = {1 / s, 0, mean.x, 0, 1 / s, mean.y, 0, 0, 1};
  }
};

Matrix3 projective(const Call& call, const Points& moving, const Points& fixed) {
  const Normalised from(call, moving), to(call, fixed);
  Matrix9 squares{};
  for (std::size_t i = 0; i < moving.size(); ++i) {
    const auto [x, y] = from.points[i];
    const auto [u, v] = to.points[i];
    for (const std::array<double, 9>& row :
         {std::array{x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y, -u},
          std::array{0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y, -v}}) {
      for (std::size_t a = 0; a < 9; ++a) {
        for (std::size_t b = 0; b < 9; ++b) squares[a][b] += row[a] * row[b];
      }
    }
  }
  const Matrix9 vectors = eigenvectors(squares);
  std::size_t least = 0;
  double largest = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    if (squares[i][i] < squares[least][least]) least = i;
    largest = std::max(largest, squares[i][i]);
  }
  Matrix3 map;
  for (std::size_t i = 0; i < 9; ++i) {
    if (i != least && squares[i][i] < negligible * largest) fail_degenerate(call);
    map[i] = vectors[i][least];
  }
  map = product(to.back, product(map, from.forward));
  if (std::abs(map[8]) < negligible) fail_degenerate(call);
  const double last = map[8];
  for (double& value : map) value /= last;
  return map;
}

Points points_of(const Call& call, std::string_view parameter) {
  const Matrix m = kernel_argument(call, parameter);
  if (m.columns != 2) call.fail(parameter, "points are written [x,y;x,y;...]");
  Points out;
  for (std::size_t i = 0; i < m.values.size(); i += 2) {
    out.push_back({m.values[i], m.values[i + 1]});
  }
  return out;
}

Matrix3 map_of(const Call& call) {
  const Points moving = points_of(call, "moving"), fixed = points_of(call, "fixed");
  if (moving.size() != fixed.size()) {
    call.fail("fixed", "there are " + std::to_string(fixed.size()) + " points, and " +
                           std::to_string(moving.size()) + " that move");
  }
  const std::string& type = call.word("type");
  const std::size_t needed = type == "translation"  ? 1
                             : type == "affine"     ? 3
                             : type == "projective" ? 4
                                                    : 2;
  if (moving.size() < needed) {
    call.fail("moving", type + " needs at least " + std::to_string(needed) + " points");
  }
  if (type == "translation") return about_means(1, 0, 0, 1, mean_of(moving), mean_of(fixed));
  if (type == "affine") return affine(call, moving, fixed);
  if (type == "projective") return projective(call, moving, fixed);
  return similarity(call, moving, fixed, type == "rigid");
}

ImageValue lower_fitgeotform2d(const Call& call, PlanBuilder& plan) {
  std::vector<Arg> numbers;
  for (const double value : map_of(call)) numbers.emplace_back(value);
  const MeasureValue count = plan.reduce({.kind = ReduceKind::count}, plan.current(), {});
  plan.report("fitgeotform2d", plan.scalar(bodies::known_matrix, {count}, numbers, 9, 1), 3,
              {"a", "b", "c", "d", "e", "f", "g", "h", "i"});
  return plan.current();
}

const RegisterOperator fitgeotform2d_operator{{
    .name = "fitgeotform2d",
    .help = "the matrix of the map that takes some points to others",
    .category = "statistics",
    .parameters =
        {{.name = "moving",
          .help = "points [x,y;x,y;...] of the image, counted from 0",
          .takes = Takes::kernel,
          .required = true},
         {.name = "fixed", .help = "where they go", .takes = Takes::kernel, .required = true},
         {.name = "type",
          .help = "of the map",
          .words = {"translation", "rigid", "similarity", "affine", "projective"},
          .fallback = "affine"}},
    .details =
        R"(The 3x3 matrix T, row by row, of which imwarp takes T (x,y,1)' to the fixed points with the least squared
distances; projective: the least squares of the linear equations of points that are centred and scaled
(Hartley and Zisserman), divided by the last number. It needs 1 (translation), 2 (rigid, similarity), 3
(affine) or 4 points. The image goes on unchanged; `fitgeotform2d ... as t`, then t.a to t.i in
expressions.)",
    .example = "fitgeotform2d moving=[0,0;9,0;0,9] fixed=[1,2;10,2;1,11]",
    .accuracy = "1e-9, projective 1e-7, relative to the largest coordinate",
    .not_finite = {NotFinite::Rule::other, "the image is not looked at"},
    .matlab = "fitgeotform2d(moving,fixed,type).A (there pixels count from 1)",
    .lower = lower_fitgeotform2d,
}};

}  // namespace
}  // namespace impipe::ops
