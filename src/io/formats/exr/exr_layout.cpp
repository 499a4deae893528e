// Finds the parts of an EXR that hold pictures, and the channels of a picture in its part.
#include "io/formats/exr/exr_layout.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>

#include "core/text.hpp"
#include "io/formats/exr/exr_header.hpp"
#include "io/metadata/windows.hpp"

namespace impipe::io {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string counted(size_t count, const char* word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

[[noreturn]] void fail_channels(const std::vector<ExrChannel>& channels) {
  std::map<std::string, std::vector<std::string>> layers;
  for (const ExrChannel& channel : channels) layers[channel.layer()].push_back(channel.name);
  std::vector<std::string> texts;
  for (const auto& [layer, names] : layers) texts.push_back(joined(names, " "));
  fail("EXR with ", counted(channels.size(), "channel"), " in ", counted(layers.size(), "layer"),
       " (", joined(texts, "; "),
       ") is not supported: impipe reads R G B or Y, with or without A, or Y RY BY, that have no "
       "layer or are of the only layer with them, or one channel of any name");
}

[[noreturn]] void fail_sampling(const ExrChannel& channel) {
  fail("EXR with channel ", channel.name, " of every ", channel.x_sampling, "x", channel.y_sampling,
       " pixels is not supported");
}

using Layer = std::map<std::string, const ExrChannel*>;  // by their names in it

bool has(const Layer& layer, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names, [&](auto name) { return layer.contains(name); });
}
bool has_colours(const Layer& layer) { return has(layer, {"R", "G", "B"}); }
// X Y Z are a place, a direction or a colour, of which Y alone is no picture.
bool has_luminance(const Layer& layer) { return has(layer, {"Y"}) && !has(layer, {"X"}); }

// The names of a file's Cryptomattes (identifiers of objects, as colours), which its attributes
// cryptomatte/NUMBER/name tell; layers and parts of them have names that begin so.
std::vector<std::string> cryptomattes_of(const std::vector<ExrPart>& parts) {
  std::vector<std::string> names;
  for (const ExrPart& part : parts) {
    for (const ExrAttribute& attribute : part.attributes) {
      const std::string& name = attribute.name;
      if (name.starts_with("cryptomatte/") && name.ends_with("/name") && !attribute.value.empty()) {
        names.push_back(attribute.value);
      }
    }
  }
  return names;
}

bool begins_with_one(const std::string& name, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](const std::string& one) { return name.starts_with(one); });
}

// The layer that the picture is in: the one without a name, else the only one with colours, else
// the only one with luminance; none where that leaves a choice.
std::optional<std::string> layer_of_picture(const std::map<std::string, Layer>& layers,
                                            const std::vector<std::string>& cryptomattes) {
  if (const auto top = layers.find(""); top != layers.end()) {
    if (has_colours(top->second) || has_luminance(top->second)) return "";
  }
  for (const auto makes_picture : {has_colours, has_luminance}) {
    std::vector<std::string> names;
    for (const auto& [name, layer] : layers) {
      if (makes_picture(layer) && !begins_with_one(name, cryptomattes)) names.push_back(name);
    }
    if (names.size() == 1) return names[0];
    if (names.size() > 1) break;
  }
  return std::nullopt;
}

std::map<std::string, Layer> layers_of(const std::vector<ExrChannel>& channels) {
  std::map<std::string, Layer> layers;
  for (const ExrChannel& channel : channels) layers[channel.layer()][channel.base()] = &channel;
  return layers;
}

// The type of a result like channels of these.
ExrType common_type(const std::vector<ExrType>& types) {
  for (const ExrType type : {ExrType::half, ExrType::whole}) {
    if (std::ranges::all_of(types, [&](ExrType t) { return t == type; })) return type;
  }
  return ExrType::single;
}

// Takes the channels of a picture, in this order.
void take_channels(const Layer& found, const std::vector<std::string>& order, ExrLayout& out) {
  for (const std::string& name : order) {
    const ExrChannel& channel = *found.at(name);
    const std::uint64_t step = out.luma_chroma && (name == "RY" || name == "BY") ? 2 : 1;
    if (channel.x_sampling != step || channel.y_sampling != step) fail_sampling(channel);
    if (out.luma_chroma && channel.type != ExrType::half) {
      fail("EXR with luminance and chroma of 32 bits is not supported");
    }
    out.channels.push_back(channel.name);
    out.types.push_back(channel.type);
  }
  out.storage.type = common_type(out.types);
}

// What the picture leaves.
void carry_others(const ExrPart& part, ExrLayout& out) {
  for (const ExrChannel& channel : part.channels) {
    const auto& taken = out.channels;
    if (std::ranges::find(taken, channel.name) != taken.end()) continue;
    if (channel.x_sampling == 0 || channel.y_sampling == 0) {
      fail("damaged EXR: channel ", channel.name, " has no samples");
    }
    out.storage.carried.names.push_back(channel.name);
    const int bytes = channel.type == ExrType::half ? 2 : 4;
    out.storage.carried.sample_bytes.push_back(
        static_cast<std::uint8_t>(channel.is_full() ? bytes : 0));
    const auto each = [](std::int64_t all, std::uint64_t step) {
      return static_cast<double>(all) / static_cast<double>(step);
    };
    out.info.carried_bytes +=
        bytes * each(part.width(), channel.x_sampling) * each(part.height(), channel.y_sampling);
  }
  out.info.carried = static_cast<int>(out.storage.carried.names.size());
}

// The channels of a part that somebody means who says "Z", or of a file of parts also "depth.Z", or
// "depth" for all of the part.
std::vector<std::string> channels_meant(const ExrPart& part, const std::string& said) {
  std::vector<std::string> all;
  for (const ExrChannel& channel : part.channels) {
    if (channel.name == said) return {said};
    if (!part.name.empty() && part.name + "." + channel.name == said) return {channel.name};
    all.push_back(channel.name);
  }
  return said == "all" || (!part.name.empty() && part.name == said) ? all
                                                                    : std::vector<std::string>();
}

// In the order of the names.
std::vector<std::string> channels_meant(const ExrPart& part,
                                        const std::vector<std::string>& named) {
  std::vector<std::string> out;
  for (const std::string& said : named) {
    for (std::string& name : channels_meant(part, said)) {
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
  }
  return out;
}

// Each name has to mean something in some part.
void check_named(const std::vector<const ExrPart*>& parts, const std::vector<std::string>& named) {
  std::vector<std::string> known;
  for (const ExrPart* part : parts) {
    for (const ExrChannel& channel : part->channels) {
      if (std::ranges::find(known, channel.name) == known.end()) {
        known.push_back(channel.name);
      }
    }
  }
  for (const std::string& said : named) {
    if (std::ranges::none_of(
            parts, [&](const ExrPart* part) { return !channels_meant(*part, said).empty(); })) {
      fail("EXR without a channel ", said, "; it has ", joined(known, ", "),
           did_you_mean(said, known));
    }
  }
}

// Takes the channels of these names, in their order.
void choose_named(const ExrPart& part, const std::vector<std::string>& named, ExrLayout& out) {
  const std::vector<std::string> names = channels_meant(part, named);
  for (const std::string& name : names) {
    const ExrChannel& channel =
        *std::ranges::find_if(part.channels, [&](const ExrChannel& c) { return c.name == name; });
    if (!channel.is_full()) fail_sampling(channel);
    out.channels.push_back(name);
    out.types.push_back(channel.type);
    out.storage.named.push_back({name, channel.type});
  }
  if (names.size() > static_cast<size_t>(max_channels)) {
    fail("EXR with ", counted(names.size(), "channel"), " to take is not supported: ", max_channels,
         " at most");
  }
  out.storage.type = common_type(out.types);
  carry_others(part, out);
  out.info.named = names;
  out.info.type = type_of(PixelClass::single, static_cast<int>(names.size()), false);
}

// Finds the channels of the picture, red before green before blue before alpha, and those that are
// carried.
void choose_channels(const ExrPart& part, const std::vector<std::string>& cryptomattes,
                     ExrLayout& out) {
  const std::vector<ExrChannel>& channels = part.channels;
  const bool one = channels.size() == 1;
  std::map<std::string, Layer> layers = layers_of(channels);
  const auto layer = one ? channels[0].layer() : layer_of_picture(layers, cryptomattes);
  if (!layer) fail_channels(channels);
  out.storage.layer = *layer;
  const Layer& found = layers[*layer];
  std::vector<std::string> order;
  if (has_colours(found)) {
    order = {"R", "G", "B"};
  } else if (has(found, {"Y", "RY", "BY"})) {
    out.luma_chroma = true;
    order = {"Y", "RY", "BY"};
  } else {
    order = {one ? channels[0].base() : "Y"};
    out.storage.gray = order[0];
  }
  const bool alpha = !one && found.contains("A");
  if (alpha) order.push_back("A");
  take_channels(found, order, out);
  carry_others(part, out);
  out.info.type = type_of(PixelClass::single, out.luma_chroma || order.size() > 2 ? 3 : 1, alpha);
}

std::string channels_text(const ExrPart& part) {
  if (part.is_deep) return "deep data";
  if (part.channels.size() > 8) return counted(part.channels.size(), "channel");
  std::vector<std::string> names;
  for (const ExrChannel& channel : part.channels) names.push_back(channel.name);
  return joined(names, " ");
}

// Of a file of several parts, those that hold a picture; the first that is to be read decides.
class Pictures {
 public:
  Pictures(const ExrHeaders& headers, const std::vector<std::string>& named)
      : headers_(headers), cryptomattes_(cryptomattes_of(headers.parts)) {
    std::vector<const ExrPart*> flat;
    for (const ExrPart& part : headers.parts) {
      if (!part.is_deep) flat.push_back(&part);
    }
    if (!named.empty() && !flat.empty()) check_named(flat, named);
    find([&](const ExrPart& part) {
      return named.empty() ? is_picture(part) : !channels_meant(part, named).empty();
    });
    // Depths and masks are pictures where there is nothing else.
    if (numbers_.empty() && named.empty()) {
      find([](const ExrPart& part) { return part.channels.size() == 1; });
    }
  }

  const std::vector<int>& numbers() const { return numbers_; }
  const std::vector<std::string>& cryptomattes() const { return cryptomattes_; }

  // The first, or the one of this number.
  int choose(std::optional<int> page) const {
    const std::vector<ExrPart>& parts = headers_.parts;
    if (page && *page >= static_cast<int>(parts.size())) fail("it has no page ", *page + 1);
    if (parts.size() == 1 && !parts[0].is_deep) return 0;
    if (parts.size() == 1 || (page && parts[static_cast<size_t>(*page)].is_deep)) {
      fail("EXR with deep data (several samples a pixel) is not supported");
    }
    if (page) return *page;
    if (numbers_.empty()) {
      std::vector<std::string> texts;
      for (const ExrPart& part : parts) texts.push_back(part.name + ": " + channels_text(part));
      fail("EXR with ", counted(parts.size(), "part"), ", none of which is a picture (",
           joined(texts, "; "), "), is not supported; --channels names channels to process");
    }
    return numbers_.front();
  }

 private:
  // A depth, a mask or another single channel is none beside others.
  bool is_picture(const ExrPart& part) const {
    return !begins_with_one(part.name, cryptomattes_) &&
           layer_of_picture(layers_of(part.channels), cryptomattes_).has_value();
  }
  template <class Predicate>
  void find(Predicate predicate) {
    for (size_t i = 0; i < headers_.parts.size(); ++i) {
      const ExrPart& part = headers_.parts[i];
      if (!part.is_deep && predicate(part)) numbers_.push_back(static_cast<int>(i));
    }
  }

  const ExrHeaders& headers_;
  std::vector<std::string> cryptomattes_;
  std::vector<int> numbers_;
};

// Whether the file is long enough for the picture its header promises, before memory is taken.
void check_length(const ExrPart& part, const ExrLayout& layout, const ByteSource& source,
                  std::int64_t header_end) {
  const Size size = layout.info.stored;
  const auto parts_of = [](std::int64_t all, std::uint64_t one) {
    const auto each = static_cast<std::int64_t>(std::max<std::uint64_t>(one, 1));
    return (all + each - 1) / each;
  };
  const std::int64_t blocks =
      part.tiles.empty()
          ? parts_of(size.height, static_cast<std::uint64_t>(part.rows()))
          : parts_of(size.width, part.tiles.width) * parts_of(size.height, part.tiles.height);
  // Each has a place in a table, its own place in the picture, and its length.
  std::int64_t needs = blocks * 16;
  if (part.compression == 0 && !layout.luma_chroma) {
    for (const ExrChannel& channel : part.channels) {
      if (channel.is_full()) needs += size.pixels() * (channel.type == ExrType::half ? 2 : 4);
    }
  }
  if (source.size() - header_end < needs) {
    fail("truncated EXR: ", source.size(), " bytes, at least ", header_end + needs, " needed");
  }
  // A tile is decoded as a whole.
  const ExrTiles& tiles = part.tiles;
  const double tile = static_cast<double>(tiles.width) * static_cast<double>(tiles.height);
  if (tile > std::max(16777216.0, 4.0 * static_cast<double>(size.pixels()))) {
    fail("damaged EXR: tiles of ", tiles.width, "x", tiles.height, " pixels in a picture of ",
         size.width, "x", size.height);
  }
}

std::string box_text(const std::array<int, 4>& box) {
  const auto length = [&](size_t i) {
    return std::to_string(std::int64_t{box[i + 2]} - box[i] + 1);
  };
  return length(0) + "x" + length(1) + " at " + std::to_string(box[0]) + "," +
         std::to_string(box[1]);
}

std::string detail_of(const ExrPart& part, const ExrLayout& layout) {
  const ExrType type = layout.storage.type;
  std::string text = type == ExrType::half    ? "16-bit float"
                     : type == ExrType::whole ? "32-bit"
                                              : "32-bit float";
  text += std::string(", ") + exr_compressions[part.compression].name;
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
  if (const ExrTiles& tiles = part.tiles; !tiles.empty()) {
    text += ", tiles of " + std::to_string(tiles.width) + "x" + std::to_string(tiles.height);
    if (tiles.levels != 0) text += tiles.levels == 1 ? ", a mip map" : ", a rip map";
  }
  if (part.data_window != part.display_window) {
    text += ", " + box_text(part.data_window) + " of a display of " + box_text(part.display_window);
  }
  return text;
}

// "part beauty, then diffuse, beside the parts depth, id".
std::string parts_text(const ExrHeaders& headers, const std::vector<int>& pictures, int page) {
  std::vector<std::string> then, beside;
  for (size_t i = 0; i < headers.parts.size(); ++i) {
    const int number = static_cast<int>(i);
    if (number == page) continue;
    const bool is_picture = std::ranges::find(pictures, number) != pictures.end();
    (is_picture ? then : beside).push_back(headers.parts[i].name);
  }
  const auto names = [](const std::vector<std::string>& list) {
    return list.size() > 8 ? std::to_string(list.size()) + " others" : joined(list, ", ");
  };
  std::string text = ", part " + headers.parts[static_cast<size_t>(page)].name;
  if (!then.empty()) text += ", then " + names(then);
  if (!beside.empty()) {
    text += (beside.size() == 1 ? ", beside the part " : ", beside the parts ") + names(beside);
  }
  return text;
}

void describe_storage(ExrPart& part, ExrStorage& storage) {
  storage.compression = static_cast<int>(part.compression);
  storage.dwa_level = part.dwa_level;
  storage.pixel_aspect = part.pixel_aspect;
  storage.data_window = part.data_window;
  storage.display_window = part.display_window;
  storage.line_order = part.line_order;
  storage.tiles = part.tiles;
  storage.name = part.name;
  storage.has_type = !part.type.empty();
  // A screen window of its usual place and width says nothing.
  std::erase_if(part.attributes, [](const ExrAttribute& attribute) {
    const std::string& value = attribute.value;
    return is_exr_structure(attribute.name) ||
           (attribute.name == "screenWindowCenter" && value == std::string(8, '\0')) ||
           (attribute.name == "screenWindowWidth" && value.size() == 4 && exr_float(value) == 1.0f);
  });
  storage.attributes = std::move(part.attributes);
}

}  // namespace

std::string names_of(const ExrCarried& carried) { return joined(carried.names, ", "); }
std::string names_of_parts(const ExrStorage& storage) { return joined(storage.other_parts, ", "); }

ExrLayout exr_layout(const ByteSource& source, std::optional<int> page,
                     const std::vector<std::string>& named) {
  ExrHeaders headers = read_exr_headers(source);
  const Pictures pictures(headers, named);
  ExrLayout layout;
  layout.info.format = Format::exr;
  layout.info.page = pictures.choose(page);
  ExrPart& part = headers.parts[static_cast<size_t>(layout.info.page)];
  if (headers.parts.size() > 1) {
    layout.info.pages = static_cast<int>(headers.parts.size());
    layout.info.pictures = pictures.numbers();
    for (const ExrPart& one : headers.parts) layout.info.page_names.push_back(one.name);
  }
  layout.info.stored = {part.width(), part.height()};
  layout.info.display = display_of({part.data_window, part.display_window});
  if (named.empty()) {
    choose_channels(part, pictures.cryptomattes(), layout);
  } else {
    if (channels_meant(part, named).empty()) check_named({&part}, named);
    choose_named(part, named, layout);
  }
  constexpr std::int64_t longest = 1 << 24;  // what is longer is refused anyway
  const Size size = layout.info.stored;
  if (size.width > 0 && size.height > 0 && size.width < longest && size.height < longest) {
    check_length(part, layout, source, headers.end);
  }
  layout.info.detail = detail_of(part, layout);
  if (headers.parts.size() > 1) {
    layout.info.detail += parts_text(headers, pictures.numbers(), layout.info.page);
  }
  layout.info.lossy = part.compression >= 6;  // B44 and DWA
  describe_storage(part, layout.storage);
  return layout;
}

}  // namespace impipe::io
