// The backends that were compiled in, the best first; a new one adds its line in registry.cpp.
#pragma once

#include <span>

#include "core/backend.hpp"

namespace impipe::backends {

std::span<const Backend> registry();
// Null when there is none of that name.
const Backend* find_backend(std::string_view name);

}  // namespace impipe::backends
