// Reads the headers of EXR files: attributes, channels, windows.
#include "io/exr_layout.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>

#include "core/text.hpp"

namespace impipe::io {
namespace {

constexpr std::uint32_t tiled_flag = 0x200, deep_flag = 0x800, parts_flag = 0x1000;
constexpr int max_attributes = 1 << 14;  // of a part
constexpr std::int64_t max_channel_bytes = 1 << 20;

constexpr int uint_type = 0, half_type = 1;

struct Compression {
  const char* name;
  int rows;  // that are stored together
};
constexpr Compression compressions[] = {
    {"no compression", 1}, {"RLE", 1},  {"ZIPS", 1},  {"ZIP", 16},  {"PIZ", 32},
    {"PXR24", 16},         {"B44", 32}, {"B44A", 32}, {"DWAA", 32}, {"DWAB", 256}};

struct Channel {
  std::string name;
  int type = 0;
  std::uint64_t x_sampling = 1, y_sampling = 1;
  // "diffuse." of diffuse.R, and R.
  std::string layer() const { return name.substr(0, base_at()); }
  std::string base() const { return name.substr(base_at()); }
  size_t base_at() const { return name.rfind('.') == name.npos ? 0 : name.rfind('.') + 1; }
};

// The header of one part.
struct Part {
  std::string name, type;
  std::vector<Channel> channels;
  std::array<int, 4> data_window{}, display_window{};
  bool has_data_window = false, has_channels = false;
  std::uint64_t compression = 0;
  float dwa_level = 45.0f, pixel_aspect = 1.0f;
  std::vector<ExrAttribute> attributes;                       // all others, as they are
  std::uint64_t tile_width = 0, tile_height = 0, levels = 0;  // levels: 1 mip map, 2 rip map
};

float float_at(const std::string& text) {
  const auto bits = static_cast<std::uint32_t>(little_at(text, 0, 4));
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::array<int, 4> box_at(const std::string& text) {
  std::array<int, 4> box{};
  for (size_t i = 0; i < 4; ++i) {
    box[i] = static_cast<std::int32_t>(little_at(text, 4 * i, 4));
  }
  return box;
}

std::vector<Channel> channels_in(const std::string& text) {
  std::vector<Channel> channels;
  for (size_t at = 0; at < text.size() && text[at] != '\0';) {
    Channel channel;
    channel.name = text.substr(at, text.find('\0', at) - at);
    at += channel.name.size() + 1;
    if (at + 16 > text.size()) fail("damaged EXR: its list of channels is cut off");
    channel.type = static_cast<int>(little_at(text, at, 4));
    channel.x_sampling = little_at(text, at + 8, 4);
    channel.y_sampling = little_at(text, at + 12, 4);
    if (channel.type < 0 || channel.type > 2) {
      fail("damaged EXR: channel " + channel.name + " is of no known type");
    }
    at += 16;
    channels.push_back(std::move(channel));
  }
  return channels;
}

// Reads one text that ends in 0, and goes past it.
std::string text_at(const ByteSource& source, std::int64_t& at) {
  const std::string text = source.read_some(at, 256);
  const size_t end = text.find('\0');
  if (end == text.npos) {
    if (text.size() < 256)
      fail("truncated: the header ends at byte " + std::to_string(source.size()));
    fail("damaged EXR: no name ends after byte " + std::to_string(at));
  }
  at += static_cast<std::int64_t>(end) + 1;
  return text.substr(0, end);
}

// Takes note of an attribute.
void take(Part& part, const std::string& name, const std::string& type, const ByteSource& source,
          std::int64_t at, std::int64_t bytes) {
  const auto value = [&](std::int64_t count) {
    if (bytes < count) fail("damaged EXR: its " + name + " is cut off");
    return source.read(at, count);
  };
  if (name == "channels") {
    if (bytes > max_channel_bytes) fail("damaged EXR: its list of channels is too long");
    part.channels = channels_in(value(bytes));
    part.has_channels = true;
  } else if (name == "dataWindow") {
    part.data_window = box_at(value(16));
    part.has_data_window = true;
  } else if (name == "displayWindow") {
    part.display_window = box_at(value(16));
  } else if (name == "compression") {
    part.compression = little_at(value(1), 0, 1);
  } else if (name == "pixelAspectRatio") {
    part.pixel_aspect = float_at(value(4));
  } else if (name == "dwaCompressionLevel") {
    part.dwa_level = float_at(value(4));
  } else if (name == "tiles") {
    const std::string tiles = value(9);
    part.tile_width = little_at(tiles, 0, 4);
    part.tile_height = little_at(tiles, 4, 4);
    part.levels = little_at(tiles, 8, 1) & 15;
  } else if (name == "name") {
    part.name = value(std::min<std::int64_t>(bytes, 255));
  } else if (name == "type") {
    part.type = value(std::min<std::int64_t>(bytes, 255));
  } else if (name != "lineOrder" && name != "chunkCount") {
    part.attributes.push_back({name, type, value(bytes)});
  }
}

// The part whose header begins at `at`, which then is the first byte after it; nothing for the
// empty header that ends a list of them.
std::optional<Part> part_at(const ByteSource& source, std::int64_t& at) {
  Part part;
  for (int count = 0; count < max_attributes; ++count) {
    const std::string name = text_at(source, at);
    if (name.empty()) return count == 0 ? std::nullopt : std::optional(std::move(part));
    const std::string type = text_at(source, at);
    const auto bytes = static_cast<std::int64_t>(little_at(source.read(at, 4), 0, 4));
    at += 4;
    if (bytes > source.size() - at) {
      fail("truncated: the header ends at byte " + std::to_string(source.size()));
    }
    take(part, name, type, source, at, bytes);
    at += bytes;
  }
  fail("damaged EXR: its header has no end");
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string counted(size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

// The one part that an image is made of.
Part only_part(const ByteSource& source, std::int64_t& header_end) {
  const auto flags = static_cast<std::uint32_t>(little_at(source.read(4, 4), 0, 4));
  std::int64_t at = 8;
  std::vector<Part> parts;
  do {
    std::optional<Part> part = part_at(source, at);
    if (!part) break;
    parts.push_back(std::move(*part));
    if (parts.size() > 4096) fail("damaged EXR: its parts have no end");
  } while ((flags & parts_flag) != 0);
  header_end = at;
  if (parts.empty()) fail("damaged EXR: its header is empty");
  if (parts.size() > 1) {
    std::vector<std::string> names;
    for (const Part& part : parts) names.push_back(part.name.empty() ? "without name" : part.name);
    fail("EXR with " + counted(parts.size(), "part") + " (" + joined(names, ", ") +
         ") is not supported: impipe reads files of one part");
  }
  if ((flags & deep_flag) != 0 || parts[0].type.starts_with("deep")) {
    fail("EXR with deep data (several samples a pixel) is not supported");
  }
  if ((flags & tiled_flag) == 0 && !parts[0].type.starts_with("tiled")) parts[0].tile_width = 0;
  if ((flags & tiled_flag) != 0 && parts[0].tile_width == 0) {
    fail("damaged EXR: its tiles have no size");
  }
  return std::move(parts[0]);
}

[[noreturn]] void fail_channels(const std::vector<Channel>& channels) {
  std::map<std::string, std::vector<std::string>> layers;
  for (const Channel& channel : channels) layers[channel.layer()].push_back(channel.name);
  std::vector<std::string> texts;
  for (const auto& [layer, names] : layers) texts.push_back(joined(names, " "));
  fail("EXR with " + counted(channels.size(), "channel") + " in " +
       counted(layers.size(), "layer") + " (" + joined(texts, "; ") +
       ") is not supported: impipe reads R G B or Y, with or without A, or Y RY BY, that have no "
       "layer or are of the only layer with them, or one channel of any name");
}

[[noreturn]] void fail_sampling(const Channel& channel) {
  fail("EXR with channel " + channel.name + " of every " + std::to_string(channel.x_sampling) +
       "x" + std::to_string(channel.y_sampling) + " pixels is not supported");
}

using Layer = std::map<std::string, const Channel*>;  // by their names in it

bool has(const Layer& layer, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(), [&](auto name) { return layer.contains(name); });
}
bool has_colours(const Layer& layer) { return has(layer, {"R", "G", "B"}); }
// X Y Z are a place, a direction or a colour, of which Y alone is no picture.
bool has_luminance(const Layer& layer) { return has(layer, {"Y"}) && !has(layer, {"X"}); }

// The layer that the picture is in: the one without a name, else the only one with colours, else
// the only one with luminance.
std::string layer_of_picture(const std::map<std::string, Layer>& layers,
                             const std::vector<Channel>& channels) {
  if (channels.size() == 1) return channels[0].layer();
  if (const auto top = layers.find(""); top != layers.end()) {
    if (has_colours(top->second) || has_luminance(top->second)) return "";
  }
  for (const auto makes_picture : {has_colours, has_luminance}) {
    std::vector<std::string> names;
    for (const auto& [name, layer] : layers) {
      if (makes_picture(layer)) names.push_back(name);
    }
    if (names.size() == 1) return names[0];
    if (names.size() > 1) break;
  }
  fail_channels(channels);
}

// Takes the channels of a picture, in this order.
void take_channels(const Layer& found, const std::vector<std::string>& order, ExrLayout& out) {
  out.storage.half = true;
  for (const std::string& name : order) {
    const Channel& channel = *found.at(name);
    const std::uint64_t step = out.luma_chroma && (name == "RY" || name == "BY") ? 2 : 1;
    if (channel.x_sampling != step || channel.y_sampling != step) fail_sampling(channel);
    if (out.luma_chroma && channel.type != half_type) {
      fail("EXR with luminance and chroma of 32 bits is not supported");
    }
    if (channel.type != half_type) out.storage.half = false;
    out.channels.push_back(channel.name);
    out.types.push_back(channel.type);
  }
}

// What the picture leaves.
void carry_others(const std::vector<Channel>& channels, ExrLayout& out) {
  for (const Channel& channel : channels) {
    const auto& taken = out.channels;
    if (std::find(taken.begin(), taken.end(), channel.name) != taken.end()) continue;
    if (channel.x_sampling != 1 || channel.y_sampling != 1) fail_sampling(channel);
    out.storage.carried.names.push_back(channel.name);
  }
  out.info.carried = static_cast<int>(out.storage.carried.names.size());
}

// Takes the channels of these names, in their order; {"all"}: all.
void choose_named(const std::vector<Channel>& channels, const std::vector<std::string>& named,
                  ExrLayout& out) {
  std::vector<std::string> known, names = named;
  for (const Channel& channel : channels) known.push_back(channel.name);
  const auto has_name = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  out.storage.half = true;
  if (named.size() == 1 && named[0] == "all" && !has_name("all")) names = known;
  for (const std::string& name : names) {
    if (!has_name(name)) {
      fail("EXR without a channel " + name + "; it has " + joined(known, ", ") +
           did_you_mean(name, known));
    }
    const Channel& channel = *std::find_if(channels.begin(), channels.end(),
                                           [&](const Channel& c) { return c.name == name; });
    if (channel.x_sampling != 1 || channel.y_sampling != 1) fail_sampling(channel);
    out.channels.push_back(name);
    out.types.push_back(channel.type);
    out.storage.named.push_back({name, channel.type == half_type});
    if (channel.type != half_type) out.storage.half = false;
  }
  if (names.size() > static_cast<size_t>(max_channels)) {
    fail("EXR with " + counted(names.size(), "channel") +
         " to take is not supported: " + std::to_string(max_channels) + " at most");
  }
  carry_others(channels, out);
  out.info.named = names;
  out.info.type = {.cls = PixelClass::single,
                   .channels = static_cast<int>(names.size()),
                   .alpha = false,
                   .white = 1};
}

// Finds the channels of the picture, red before green before blue before alpha, and those that are
// carried.
void choose_channels(const std::vector<Channel>& channels, ExrLayout& out) {
  std::map<std::string, Layer> layers;
  for (const Channel& channel : channels) layers[channel.layer()][channel.base()] = &channel;
  out.storage.layer = layer_of_picture(layers, channels);
  const Layer& found = layers[out.storage.layer];
  std::vector<std::string> order;
  if (has_colours(found)) {
    order = {"R", "G", "B"};
  } else if (has(found, {"Y", "RY", "BY"})) {
    out.luma_chroma = true;
    order = {"Y", "RY", "BY"};
  } else {
    order = {channels.size() == 1 ? channels[0].base() : "Y"};
    out.storage.gray = order[0];
  }
  const bool alpha = channels.size() > 1 && found.contains("A");
  if (alpha) order.push_back("A");
  take_channels(found, order, out);
  carry_others(channels, out);
  out.info.type = {.cls = PixelClass::single,
                   .channels = out.luma_chroma || order.size() > 2 ? 3 : 1,
                   .alpha = alpha,
                   .white = 1};
}

// Whether the file is long enough for the picture its header promises, before memory is taken.
void check_length(const Part& part, const ExrLayout& layout, const ByteSource& source,
                  std::int64_t header_end) {
  const Size size = layout.info.stored;
  const auto parts_of = [](std::int64_t all, std::uint64_t one) {
    const auto each = static_cast<std::int64_t>(std::max<std::uint64_t>(one, 1));
    return (all + each - 1) / each;
  };
  const std::int64_t blocks =
      part.tile_width == 0
          ? parts_of(size.height, static_cast<std::uint64_t>(compressions[part.compression].rows))
          : parts_of(size.width, part.tile_width) * parts_of(size.height, part.tile_height);
  // Each has a place in a table, its own place in the picture, and its length.
  std::int64_t needs = blocks * 16;
  if (part.compression == 0 && !layout.luma_chroma) {
    for (const Channel& channel : part.channels) {
      needs += size.pixels() * (channel.type == half_type ? 2 : 4);
    }
  }
  if (source.size() - header_end < needs) {
    fail("truncated EXR: " + std::to_string(source.size()) + " bytes, at least " +
         std::to_string(header_end + needs) + " needed");
  }
  // A tile is decoded as a whole.
  const double tile = static_cast<double>(part.tile_width) * static_cast<double>(part.tile_height);
  if (tile > std::max(16777216.0, 4.0 * static_cast<double>(size.pixels()))) {
    fail("damaged EXR: tiles of " + std::to_string(part.tile_width) + "x" +
         std::to_string(part.tile_height) + " pixels in a picture of " +
         std::to_string(size.width) + "x" + std::to_string(size.height));
  }
}

std::string box_text(const std::array<int, 4>& box) {
  const auto length = [&](size_t i) {
    return std::to_string(std::int64_t{box[i + 2]} - box[i] + 1);
  };
  return length(0) + "x" + length(1) + " at " + std::to_string(box[0]) + "," +
         std::to_string(box[1]);
}

std::string detail_of(const Part& part, const ExrLayout& layout) {
  const bool integers = std::all_of(layout.types.begin(), layout.types.end(),
                                    [](int type) { return type == uint_type; });
  std::string text = layout.storage.half ? "16-bit float" : integers ? "32-bit" : "32-bit float";
  text += std::string(", ") + compressions[part.compression].name;
  const std::string& layer = layout.storage.layer;
  if (layout.luma_chroma) text += ", luminance and chroma";
  if (layout.storage.named.size() > 8) {
    text += ", " + counted(layout.channels.size(), "channel");
  } else if (!layout.storage.named.empty()) {
    text += ", channels " + joined(layout.channels, ", ");
  } else if (layout.channels.size() == 1 && layout.channels[0] != "Y") {
    text += ", channel " + layout.channels[0];
  } else if (!layer.empty()) {
    text += ", layer " + layer.substr(0, layer.size() - 1);
  }
  const ExrCarried& carried = layout.storage.carried;
  if (carried.names.size() > 8) {
    text += ", beside " + counted(carried.names.size(), "channel");
  } else if (!carried.empty()) {
    text += ", beside " + names_of(carried);
  }
  if (part.tile_width != 0) {
    text +=
        ", tiles of " + std::to_string(part.tile_width) + "x" + std::to_string(part.tile_height);
    if (part.levels != 0) text += ", the largest of its levels";
  }
  if (part.data_window != part.display_window) {
    text += ", " + box_text(part.data_window) + " of a display of " + box_text(part.display_window);
  }
  return text;
}

}  // namespace

std::string names_of(const ExrCarried& carried) { return joined(carried.names, ", "); }

ExrLayout exr_layout(const ByteSource& source, const std::vector<std::string>& named) {
  std::int64_t header_end = 0;
  Part part = only_part(source, header_end);
  if (!part.has_channels || part.channels.empty()) fail("damaged EXR: it has no channels");
  if (!part.has_data_window) fail("damaged EXR: its header has no data window");
  if (part.compression >= std::size(compressions)) {
    fail("EXR with compression " + std::to_string(part.compression) + " is not supported");
  }
  ExrLayout layout;
  layout.info.format = Format::exr;
  const std::array<int, 4>& box = part.data_window;
  layout.info.stored = {std::int64_t{box[2]} - box[0] + 1, std::int64_t{box[3]} - box[1] + 1};
  if (named.empty()) {
    choose_channels(part.channels, layout);
  } else {
    choose_named(part.channels, named, layout);
  }
  layout.storage.compression = static_cast<int>(part.compression);
  layout.storage.dwa_level = part.dwa_level;
  layout.storage.pixel_aspect = part.pixel_aspect;
  layout.storage.data_window = part.data_window;
  layout.storage.display_window = part.display_window;
  // A screen window of its usual place and width says nothing.
  std::erase_if(part.attributes, [](const ExrAttribute& attribute) {
    const std::string& value = attribute.value;
    return (attribute.name == "screenWindowCenter" && value == std::string(8, '\0')) ||
           (attribute.name == "screenWindowWidth" && value.size() == 4 && float_at(value) == 1.0f);
  });
  layout.storage.attributes = std::move(part.attributes);
  constexpr std::int64_t longest = 1 << 24;  // what is longer is refused anyway
  const Size size = layout.info.stored;
  if (size.width > 0 && size.height > 0 && size.width < longest && size.height < longest) {
    check_length(part, layout, source, header_end);
  }
  layout.info.detail = detail_of(part, layout);
  layout.info.lossy = part.compression >= 6;  // B44 and DWA
  return layout;
}

}  // namespace impipe::io
