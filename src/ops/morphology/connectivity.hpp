// The parameter `conn`: which pixels are neighbours.
#pragma once

#include <vector>

#include "core/operator.hpp"
#include "ops/matrix_file.hpp"

namespace impipe::ops {

inline Parameter connectivity_parameter(std::string_view fallback) {
  return {.name = "conn",
          .letter = 'c',
          .help = "neighbours: 4 (sides) or 8 (sides and corners); or the 3x3 matrix of them",
          .numbers = {.max_count = 1, .integer = true, .low = 4, .high = 8},
          .takes = Takes::kernel,
          .fallback = fallback};
}

inline int connectivity(const Call& call) {
  const ParameterValue& value = call.value("conn");
  if (!value.word.empty()) call.fail("conn", "no parameter takes '" + value.word + "'");
  if (value.matrix || !value.path.empty()) {
    const Matrix matrix = value.matrix ? *value.matrix : read_matrix_file(call, "conn");
    if (matrix == Matrix{3, 3, {0, 1, 0, 1, 1, 1, 0, 1, 0}}) return 4;
    if (matrix == Matrix{3, 3, std::vector<double>(9, 1)}) return 8;
    call.fail("conn",
              "conn is 4 or [0 1 0; 1 1 1; 0 1 0], 8 or [1 1 1; 1 1 1; 1 1 1]; other "
              "neighbours are not supported");
  }
  const int conn = value.numbers.size() == 1 ? static_cast<int>(value.numbers.front()) : 0;
  if (conn != 4 && conn != 8) call.fail("conn", "conn is 4 or 8");
  return conn;
}

}  // namespace impipe::ops
