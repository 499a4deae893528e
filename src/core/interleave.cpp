// Splits rows into channels, and joins them.
#include "core/interleave.hpp"

namespace impipe {
namespace {

template <class T>
void take(const std::byte* from, int channels, int channel, std::int64_t count, std::byte* to) {
  const T* in = reinterpret_cast<const T*>(from) + channel;
  T* out = reinterpret_cast<T*>(to);
  if (channels == 3) {
    for (std::int64_t x = 0; x < count; ++x) out[x] = in[3 * x];
    return;
  }
  for (std::int64_t x = 0; x < count; ++x) out[x] = in[x * channels];
}

template <class T>
void put(const std::byte* from, int channels, int channel, std::int64_t count, std::byte* to) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to) + channel;
  if (channels == 3) {
    for (std::int64_t x = 0; x < count; ++x) out[3 * x] = in[x];
    return;
  }
  for (std::int64_t x = 0; x < count; ++x) out[x * channels] = in[x];
}

}  // namespace

void take_channel(const std::byte* interleaved, int channels, int channel, int bytes,
                  std::int64_t count, std::byte* plane) {
  if (bytes == 1) return take<std::uint8_t>(interleaved, channels, channel, count, plane);
  if (bytes == 2) return take<std::uint16_t>(interleaved, channels, channel, count, plane);
  take<std::uint32_t>(interleaved, channels, channel, count, plane);
}

void put_channel(const std::byte* plane, int channels, int channel, int bytes, std::int64_t count,
                 std::byte* interleaved) {
  if (bytes == 1) return put<std::uint8_t>(plane, channels, channel, count, interleaved);
  if (bytes == 2) return put<std::uint16_t>(plane, channels, channel, count, interleaved);
  put<std::uint32_t>(plane, channels, channel, count, interleaved);
}

}  // namespace impipe
