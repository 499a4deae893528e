// Pixels whose channels lie side by side to a row for each channel, and back: loops that the
// compiler vectorises where the number of channels is known to it.
#include "core/interleave.hpp"

#include <cstring>
#include <utility>

#include "core/body.hpp"
#include "core/has_v3.hpp"

namespace impipe {
namespace {

template <class T, std::size_t... c>
IMPIPE_INLINE void split_body(std::byte* const* out, const std::byte* in, std::int64_t n,
                              std::index_sequence<c...>) {
  constexpr std::int64_t channels = sizeof...(c);
  const T* from = reinterpret_cast<const T*>(in);
  T* const to[] = {reinterpret_cast<T*>(out[c])...};
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) ((to[c][i] = from[channels * i + std::int64_t{c}]), ...);
}

template <class T, std::size_t... c>
IMPIPE_INLINE void join_body(std::byte* out, const std::byte* const* in, std::int64_t n,
                             std::index_sequence<c...>) {
  constexpr std::int64_t channels = sizeof...(c);
  T* to = reinterpret_cast<T*>(out);
  const T* const from[] = {reinterpret_cast<const T*>(in[c])...};
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) ((to[channels * i + std::int64_t{c}] = from[c][i]), ...);
}

// Any number of channels, one after the other.
template <class T>
void split_any(std::byte* const* out, const std::byte* in, int channels, std::int64_t n) {
  const T* from = reinterpret_cast<const T*>(in);
  for (int c = 0; c < channels; ++c) {
    T* to = reinterpret_cast<T*>(out[c]);
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[channels * i + c];
  }
}
template <class T>
void join_any(std::byte* out, const std::byte* const* in, int channels, std::int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  for (int c = 0; c < channels; ++c) {
    const T* from = reinterpret_cast<const T*>(in[c]);
    for (std::int64_t i = 0; i < n; ++i) to[channels * i + c] = from[i];
  }
}

using Split = void (*)(std::byte* const* out, const std::byte* in, std::int64_t n);
using Join = void (*)(std::byte* out, const std::byte* const* in, std::int64_t n);

#define IMPIPE_INTERLEAVE(level)                                                       \
  template <class T, int channels>                                                     \
  IMPIPE_TARGET_##level void split_##level(std::byte* const* out, const std::byte* in, \
                                           std::int64_t n) {                           \
    split_body<T>(out, in, n, std::make_index_sequence<channels>{});                   \
  }                                                                                    \
  template <class T, int channels>                                                     \
  IMPIPE_TARGET_##level void join_##level(std::byte* out, const std::byte* const* in,  \
                                          std::int64_t n) {                            \
    join_body<T>(out, in, n, std::make_index_sequence<channels>{});                    \
  }                                                                                    \
  template <class T>                                                                   \
  constexpr Split splits_##level[] = {split_##level<T, 2>, split_##level<T, 3>,        \
                                      split_##level<T, 4>};                            \
  template <class T>                                                                   \
  constexpr Join joins_##level[] = {join_##level<T, 2>, join_##level<T, 3>, join_##level<T, 4>};
IMPIPE_INTERLEAVE(baseline)
IMPIPE_INTERLEAVE(v3)  // wider vectors are no faster: memory is the limit
#undef IMPIPE_INTERLEAVE

template <class T>
void split(std::byte* const* out, const std::byte* in, int channels, std::int64_t n) {
  if (channels > 4) return split_any<T>(out, in, channels, n);
  (has_v3() ? splits_v3<T> : splits_baseline<T>)[channels - 2](out, in, n);
}
template <class T>
void join(std::byte* out, const std::byte* const* in, int channels, std::int64_t n) {
  if (channels > 4) return join_any<T>(out, in, channels, n);
  (has_v3() ? joins_v3<T> : joins_baseline<T>)[channels - 2](out, in, n);
}

}  // namespace

void split_row(std::byte* const* out, const std::byte* in, int channels, int bytes,
               std::int64_t n) {
  if (channels == 1) {
    std::memcpy(out[0], in, static_cast<std::size_t>(n * bytes));
  } else if (bytes == 1) {
    split<std::uint8_t>(out, in, channels, n);
  } else if (bytes == 2) {
    split<std::uint16_t>(out, in, channels, n);
  } else {
    split<std::uint32_t>(out, in, channels, n);
  }
}

void join_row(std::byte* out, const std::byte* const* in, int channels, int bytes, std::int64_t n) {
  if (channels == 1) {
    std::memcpy(out, in[0], static_cast<std::size_t>(n * bytes));
  } else if (bytes == 1) {
    join<std::uint8_t>(out, in, channels, n);
  } else if (bytes == 2) {
    join<std::uint16_t>(out, in, channels, n);
  } else {
    join<std::uint32_t>(out, in, channels, n);
  }
}

}  // namespace impipe
