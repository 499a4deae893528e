// Photoshop's image resources, in which IPTC lies: blocks "8BIM", a number, a name, data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace impipe::io {

// The data of the IPTC resource; empty without one.
std::string iptc_of(std::string_view resources);
// Resources that hold nothing but this.
std::string resources_of_iptc(std::string_view iptc);
// "IPTC", "Photoshop resources" or both, for messages.
std::string name_of_resources(std::string_view resources);
bool has_only_iptc(std::string_view resources);
bool has_resource_thumbnail(std::string_view resources);
// Without those for whose number is_stale is true.
std::string resources_without(std::string_view resources,
                              const std::function<bool(std::uint64_t id)>& is_stale);
// With this JPEG as its thumbnail, if it has one.
std::string resources_of_picture(std::string_view resources, std::string_view thumbnail);

}  // namespace impipe::io
