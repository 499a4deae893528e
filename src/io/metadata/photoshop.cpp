// Takes Photoshop's image resources apart and puts them together
// (Adobe, "Photoshop File Formats Specification", Image Resource Blocks).
#include "io/metadata/photoshop.hpp"

#include "io/bytes/byte_source.hpp"
#include "io/metadata/thumbnail.hpp"

namespace impipe::io {
namespace {

constexpr std::uint64_t iptc_id = 1028, old_thumbnail_id = 1033, thumbnail_id = 1036;

// Calls visit(id, whole block, data); what follows damage is one block of id 0.
template <class Visit>
void for_resources(std::string_view resources, Visit visit) {
  for (size_t at = 0; at < resources.size();) {
    const size_t name_bytes = static_cast<size_t>(big_at(resources, at + 6, 1)) + 1;
    const size_t size_at = at + 6 + name_bytes + name_bytes % 2;
    const size_t data_at = size_at + 4;
    const size_t bytes = big_at(resources, size_at, 4);
    const std::string_view kind = resources.substr(at, 4);
    const bool sound = kind == "8BIM" || kind == "MeSa" || kind == "PHUT";
    if (!sound || data_at > resources.size() || bytes > resources.size() - data_at) {
      visit(std::uint64_t{0}, resources.substr(at), std::string_view());
      return;
    }
    const size_t end = std::min(resources.size(), data_at + bytes + bytes % 2);
    visit(big_at(resources, at + 4, 2), resources.substr(at, end - at),
          resources.substr(data_at, bytes));
    at = end;
  }
}

std::string resource(std::uint64_t id, std::string_view data) {
  std::string out = "8BIM" + big(id, 2) + std::string(2, '\0') + big(data.size(), 4);
  out += data;
  if (data.size() % 2 != 0) out += '\0';
  return out;
}

std::string thumbnail_resource(std::string_view jpeg) {
  const Size size = jpeg_size(jpeg);
  const auto width = static_cast<std::uint64_t>(size.width);
  const auto height = static_cast<std::uint64_t>(size.height);
  const std::uint64_t row_bytes = (width * 24 + 31) / 32 * 4;
  return resource(thumbnail_id, big(1, 4) + big(width, 4) + big(height, 4) + big(row_bytes, 4) +
                                    big(row_bytes * height, 4) + big(jpeg.size(), 4) + big(24, 2) +
                                    big(1, 2) + std::string(jpeg));
}

}  // namespace

std::string iptc_of(std::string_view resources) {
  std::string iptc;
  for_resources(resources, [&](std::uint64_t id, std::string_view, std::string_view data) {
    if (id == iptc_id && iptc.empty()) iptc = data;
  });
  return iptc;
}

std::string resources_of_iptc(std::string_view iptc) { return resource(iptc_id, iptc); }

bool has_only_iptc(std::string_view resources) {
  bool only = true;
  for_resources(resources, [&](std::uint64_t id, std::string_view, std::string_view) {
    only = only && id == iptc_id;
  });
  return only;
}

std::string name_of_resources(std::string_view resources) {
  if (iptc_of(resources).empty()) return "Photoshop resources";
  return has_only_iptc(resources) ? "IPTC" : "IPTC and Photoshop resources";
}

bool has_resource_thumbnail(std::string_view resources) {
  bool has = false;
  for_resources(resources, [&](std::uint64_t id, std::string_view, std::string_view) {
    has = has || id == thumbnail_id || id == old_thumbnail_id;
  });
  return has;
}

std::string resources_without(std::string_view resources,
                              const std::function<bool(std::uint64_t id)>& is_stale) {
  std::string out;
  for_resources(resources, [&](std::uint64_t id, std::string_view block, std::string_view) {
    if (!is_stale(id)) out += block;
  });
  return out;
}

std::string resources_of_picture(std::string_view resources, std::string_view thumbnail) {
  std::string out;
  for_resources(resources, [&](std::uint64_t id, std::string_view block, std::string_view) {
    if (id != thumbnail_id && id != old_thumbnail_id) {
      out += block;
    } else if (!thumbnail.empty()) {
      out += thumbnail_resource(thumbnail);
    }
  });
  return out;
}

}  // namespace impipe::io
