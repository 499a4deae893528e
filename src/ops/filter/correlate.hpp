// Weighted filters: a kernel laid over the image, in one pass or, for kernels of rank 1, in two.
#pragma once

#include <optional>
#include <string_view>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// Which part of the sums is kept: as large as the image, all that touch it, or only those that lie
// inside it wholly.
enum class Extent { same, full, valid };
Extent extent_named(std::string_view name);

// How the sums are made: weight by weight; by Fourier transforms of tiles; or by these where that
// takes less time, which the kernel's size says.
enum class Method { direct, fourier, automatic };

struct Correlation {
  Border border = Border::constant;
  double border_value = 0;  // of Border::constant, in the image's own units
  Extent extent = Extent::same;
  Result result;
  bool whole = false;  // of single: the kernel is ones, and sums are whole numbers up to 2^24
  bool moves = false;  // the kernel moves pixels by parts of them: alpha goes with them
  Method method = Method::direct;
};

// out(r,c) = sum K(i,j) * image(r + i - a_r, c + j - a_c), a = floor((k - 1) / 2), without the
// terms where K is 0.
ImageValue correlate(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                     const Correlation& how);

// The same, of colours: what an alpha hides has no part in them. Kernels without weights below 0,
// and those that move pixels, average alpha too; with Extent::full all that lies beside the image
// is transparent. Alpha stays as it is with others, whose sums show hidden colours unless their
// extent is the same.
ImageValue correlate_colours(PlanBuilder& plan, const ImageValue& image, const Matrix& kernel,
                             const Correlation& how);

// Turned by 180 degrees: correlating with it is convolving with the kernel.
Matrix rotated_half(const Matrix& kernel);

// The factors of a kernel of rank 1: kernel(i, j) = column[i] * row[j].
struct RankOne {
  std::vector<double> column, row;
};
// Nothing when the rank is not 1. docs/decisions/0004-linear-filters.md says how it is decided.
std::optional<RankOne> rank_one(const Matrix& kernel);

// The kernel that the call's parameter gives: a matrix, a named kernel or a file.
Matrix kernel_argument(const Call& call, std::string_view parameter);

// The `method` parameter of filters that have one, and what it says. Fails where transforms are
// asked for and the kernel or the result's class is not for them.
Parameter method_parameter();
Method method_argument(const Call& call, const Matrix& kernel, PixelClass result);

// A `boundary` or `pad` parameter: a word, or a number that goes through the image's class.
struct BorderArgument {
  Border border = Border::constant;
  double value = 0;
};
BorderArgument border_argument(const Call& call, std::string_view parameter, PixelClass cls);

}  // namespace impipe::ops
