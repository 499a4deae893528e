// The parameter `conn`: which pixels are neighbours.
#pragma once

#include "core/operator.hpp"

namespace impipe::ops {

inline Parameter connectivity_parameter(std::string_view fallback) {
  return {.name = "conn",
          .letter = 'c',
          .help = "neighbours: 4 (sides) or 8 (sides and corners)",
          .most_numbers = 1,
          .integer = true,
          .low = 4,
          .high = 8,
          .fallback = fallback};
}

inline int connectivity(const Call& call) {
  const int conn = static_cast<int>(call.number("conn"));
  if (conn != 4 && conn != 8) call.fail("conn", "conn is 4 or 8");
  return conn;
}

}  // namespace impipe::ops
