// ICC profiles as a part of an image's type: what its numbers mean as colours.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace impipe {

struct ColourProfile {
  enum class Space { gray, rgb, cmyk, other, unread };
  std::vector<std::byte> bytes;
  std::string name;  // its description, or "without a name"
  Space space = Space::other;
  bool is_srgb = false;  // by its name
};

// The profile of these bytes, the same object for equal bytes; null for none. Only its header and
// its name are read, and damage to these makes a profile of another space, without a name.
std::shared_ptr<const ColourProfile> colour_profile(std::span<const std::byte> bytes);
// Stands in plans for that of a file of which only the header was read.
std::shared_ptr<const ColourProfile> unread_profile();

}  // namespace impipe
