// Measurements of pixels wherever they lie, which may be those of all pages of a file.
#pragma once

#include "core/operator.hpp"

namespace impipe::ops {

// The pipeline puts the pages together (core/page_column.hpp); the operator does not see it.
inline Parameter across_parameter() {
  return {.name = "across",
          .help =
              "pages: one measurement of all pages of a file together; file: the same; last in "
              "the pipeline",
          .words = {"pages", "file"}};
}

}  // namespace impipe::ops
