// What the shell may have taken of a pipeline that stands without its quotes: hints for messages.
#pragma once

#include <string>

namespace impipe::cli {

// Where a person typed `impipe imadjust | conv2 k7 photos/`: the program writes into a pipe, its
// messages come to a terminal. quoted: the pipeline, in quotes. Else empty.
std::string hint_of_pipe(const std::string& quoted);

// Where `map x>100` made the file "100". Else empty.
std::string hint_of_redirection();

}  // namespace impipe::cli
