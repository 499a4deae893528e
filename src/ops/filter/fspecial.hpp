// The kernels of fspecial, as Octave's image package defines them.
#pragma once

#include <span>
#include <string_view>

#include "core/operator.hpp"
#include "ops/catalogue.hpp"

namespace impipe::ops {

Matrix average_kernel(int rows, int columns);
Matrix gaussian_kernel(int rows, int columns, double sigma);
// False of the two above and of log_kernel where sigma is so small that every weight underflows.
bool has_weights(const Matrix& kernel);
Matrix laplacian_kernel(double alpha);
Matrix unsharp_kernel(double alpha);
Matrix sobel_kernel();
Matrix prewitt_kernel();
Matrix log_kernel(int rows, int columns, double sigma);
Matrix disk_kernel(int radius);
Matrix motion_kernel(int length, double degrees);

// `gaussian,5,1.2`: the type with its arguments in the order of fspecial, defaults for those that
// are missing. A size is one number (a square) or two (rows, columns). Errors show `parameter`.
Matrix named_kernel(const Call& call, std::string_view parameter, std::string_view type,
                    std::span<const double> arguments);

}  // namespace impipe::ops
