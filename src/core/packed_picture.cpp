#include "core/packed_picture.hpp"

namespace impipe {

std::string to_string(const PackedForm& form) {
  std::string text =
      std::string(name_of(form.cls)) + " " + to_string(form.size) + " in " + to_string(form.chunk);
  const auto add = [&](auto one) { text += " " + std::to_string(static_cast<int>(one)); };
  add(form.packing);
  add(form.filter);
  add(form.sample);
  add(form.bits);
  add(form.big_endian);
  add(form.inverted);
  add(form.order);
  add(form.padded);
  add(form.alpha);
  add(form.palette);
  add(form.channels);
  for (const std::uint8_t channel : form.channel_of) add(channel);
  add(form.carried);
  for (const std::uint16_t bytes : form.carried_before) add(bytes);
  return text;
}

}  // namespace impipe
