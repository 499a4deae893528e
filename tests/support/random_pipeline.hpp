// Random pipelines of every operator in the catalogue, made from the operators' descriptions, with
// images to run them on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/image.hpp"

namespace impipe::test {

struct RandomRun {
  std::string text;  // it may ask for what its operators refuse
  HostImage image;
  std::map<std::string, HostImage> operands;
};

// The same for the same seed and catalogue.
RandomRun random_run(std::uint64_t seed);
// Of single pixels, rows and columns, and at most some 600 pixels; of values that spread widely or
// with an alpha plane among them.
RandomRun small_random_run(std::uint64_t seed);

}  // namespace impipe::test
