// Reads a matrix from a text file: `conv2 @kernel.txt`.
#pragma once

#include <string>
#include <string_view>

#include "core/operator.hpp"

namespace impipe::ops {

// Rows end with a line or a semicolon, numbers are separated by blanks or commas; what follows a
// '#' and empty lines are left out. `name` stands in messages. Throws Error, as for more rows than
// `most_rows`.
Matrix parse_matrix(std::string_view text, const std::string& name,
                    int most_rows = largest_matrix_side);
// The file's matrix; errors show `parameter` in the pipeline.
Matrix read_matrix_file(const Call& call, std::string_view parameter);

}  // namespace impipe::ops
