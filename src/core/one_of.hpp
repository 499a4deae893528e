// A concept for visitors that answer several alternatives of a variant alike and name each of them.
#pragma once

#include <concepts>

namespace impipe {

template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);

}  // namespace impipe
