// Names that parameters take beside words of their own.
#pragma once

#include <string_view>
#include <vector>

namespace impipe::ops {

// "disk" of `imdilate disk,3`.
std::vector<std::string_view> element_shapes();
// "gaussian" of `imfilter fspecial:gaussian,5`.
const std::vector<std::string_view>& kernel_types();

}  // namespace impipe::ops
