// Errors of the codec modules as the program's own.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

// Calls a codec module. What its libraries make of it when there is no memory is their own matter:
// a damaged file, metadata left out, a type of their own that they throw, or a success with a
// broken result (libwebp). errno, which malloc sets, tells.
template <class Call>
auto from_module(Call call) {
  errno = 0;
  const auto fail_by = [](std::string reason) {
    // Our own message says how much was needed.
    if (errno == ENOMEM && !reason.starts_with("out of memory: ")) throw std::bad_alloc();
    fail(reason);
  };
  try {
    auto result = call();
    if (errno == ENOMEM) throw std::bad_alloc();
    return result;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail_by(error.what());
    throw;
  } catch (...) {
    fail_by("the codec failed for a reason of its own");
    throw;
  }
}

}  // namespace impipe::io
