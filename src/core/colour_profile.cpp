// Reads the name and the colour space of ICC profiles, and interns them.
#include "core/colour_profile.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

#include "core/described_colours.hpp"
#include "core/fnv.hpp"
#include "core/printable.hpp"

namespace impipe {
namespace {

std::uint64_t big_at(std::string_view bytes, std::uint64_t at) {
  std::uint64_t out = 0;
  for (std::uint64_t i = at; i < at + 4; ++i) {
    out = out << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u);
  }
  return out;
}

// The text of a tag 'desc' (version 2) or 'mluc' (version 4), which has UTF-16 in its first record.
std::string text_of_tag(std::string_view tag) {
  constexpr std::size_t longest = 80;
  std::string out;
  if (tag.starts_with("desc")) {
    out = tag.substr(std::min<std::size_t>(12, tag.size())).substr(0, big_at(tag, 8));
  } else if (tag.starts_with("mluc") && big_at(tag, 8) > 0) {
    const std::uint64_t bytes = big_at(tag, 20), at = big_at(tag, 24);
    for (std::uint64_t i = at; i + 1 < std::min<std::uint64_t>(at + bytes, tag.size()); i += 2) {
      out += tag[i] == 0 ? tag[i + 1] : '?';
    }
  }
  out = out.substr(0, std::min(out.find('\0'), longest));
  while (out.ends_with(' ')) out.pop_back();
  return printable(out);
}

std::string name_in(std::string_view profile) {
  constexpr std::uint64_t table = 128, most_tags = 100;
  const std::uint64_t count = std::min(big_at(profile, table), most_tags);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = table + 4 + 12 * i, at = big_at(profile, entry + 4);
    if (entry + 12 > profile.size() || profile.substr(entry, 4) != "desc") continue;
    if (at >= profile.size()) continue;
    return text_of_tag(profile.substr(at, big_at(profile, entry + 8)));
  }
  return "";
}

ColourProfile read(std::span<const std::byte> bytes) {
  ColourProfile out{.bytes = {bytes.begin(), bytes.end()}, .name = "", .space = {}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view space = text.size() < 20 ? std::string_view() : text.substr(16, 4);
  using Space = ColourProfile::Space;
  out.space = space == "GRAY"   ? Space::gray
              : space == "RGB " ? Space::rgb
              : space == "CMYK" ? Space::cmyk
                                : Space::other;
  out.name = name_in(text);
  // "c2" and "c2ci" are the small profiles of sRGB that web services write.
  out.is_srgb =
      out.name.find("sRGB") != std::string::npos || out.name == "c2" || out.name == "c2ci";
  if (out.name.empty()) out.name = "without a name";
  return out;
}

}  // namespace

std::shared_ptr<const ColourProfile> unread_profile() {
  static const auto unread = std::make_shared<const ColourProfile>(ColourProfile{
      .bytes = {}, .name = "", .space = ColourProfile::Space::unread, .is_srgb = true});
  return unread;
}

std::shared_ptr<const ColourProfile> colour_profile(std::span<const std::byte> bytes) {
  static std::mutex mutex;
  static std::multimap<std::uint64_t, std::weak_ptr<const ColourProfile>> known;
  if (bytes.empty()) return nullptr;
  Fnv1a hash;
  hash.add(bytes);
  const std::lock_guard lock(mutex);
  auto [at, end] = known.equal_range(hash.value());
  while (at != end) {
    const auto profile = at->second.lock();
    if (profile && std::ranges::equal(profile->bytes, bytes)) return profile;
    at = profile ? std::next(at) : known.erase(at);
  }
  auto made = std::make_shared<const ColourProfile>(read(bytes));
  known.emplace(hash.value(), made);
  return made;
}

namespace {

struct Described {
  std::shared_ptr<const ColourProfile> profile;
  std::optional<DescribedColours> colours;
};
std::mutex described_mutex;
std::map<std::string, Described> described_by_name;

std::shared_ptr<const ColourProfile> without_bytes(const ColourProfile& profile,
                                                   const std::optional<DescribedColours>& colours) {
  const std::lock_guard lock(described_mutex);
  Described& known = described_by_name[profile.name];
  if (!known.profile) known = {std::make_shared<const ColourProfile>(profile), colours};
  return known.profile;
}

}  // namespace

std::shared_ptr<const ColourProfile> described_profile(
    const std::string& name, const std::optional<DescribedColours>& colours) {
  return without_bytes(
      {.bytes = {}, .name = name, .space = ColourProfile::Space::rgb, .is_srgb = !colours},
      colours);
}

std::shared_ptr<const ColourProfile> other_profile(const std::string& name) {
  return without_bytes({.bytes = {}, .name = name, .space = ColourProfile::Space::other}, {});
}

std::optional<DescribedColours> described_colours(const ColourProfile& profile) {
  const std::lock_guard lock(described_mutex);
  const auto known = described_by_name.find(profile.name);
  if (!profile.bytes.empty() || known == described_by_name.end()) return {};
  return known->second.colours;
}

}  // namespace impipe
