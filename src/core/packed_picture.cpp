#include "core/packed_picture.hpp"

#include <fmt/format.h>

namespace impipe {

std::string to_string(const PackedForm& form) {
  const auto number = [](auto one) { return static_cast<int>(one); };
  std::string channels;
  for (const int channel : form.channel_of) channels += fmt::format(" {}", channel);
  return fmt::format("{} {} x{} packing {} filter {} sample {} of {} {}{} order {} of{} in {}{}",
                     name_of(form.cls), to_string(form.size), form.channels, number(form.packing),
                     number(form.filter), number(form.sample), form.bits,
                     form.big_endian ? "big" : "little", form.inverted ? " inverted" : "",
                     number(form.order), channels, to_string(form.chunk),
                     form.padded ? " padded" : "");
}

}  // namespace impipe
