// The table of items of ISO/IEC 23008-12 (HEIF, AVIF): which of them the picture is made of.
#include "io/formats/heif/heif_items.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "io/bytes/boxes.hpp"
#include "io/formats/heif/hevc_size.hpp"
#include "io/module/library_codec.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::io {
namespace {

using Id = std::uint64_t;

struct Item {
  Id id = 0;
  std::string type;     // "hvc1"
  std::string content;  // of a "mime" item: its type
  bool hidden = false;
};

// "auxl" from a depth map to its picture, "dimg" from a grid to its tiles.
struct Reference {
  std::string type;
  Id from = 0;
  std::vector<Id> to;
};

struct Property {
  std::string kind;          // "ispe"
  std::string auxiliary;     // the URN of an auxiliary image
  Size size;                 // "ispe"
  CodedSize coded;           // of the stream that "hvcC" describes
  bool on_its_side = false;  // "irot" by 90 or 270 degrees
  bool is_gray = false;      // the stream that "hvcC" describes
};

struct Table {
  Id primary = 0;
  std::vector<Item> items;
  std::vector<Reference> references;
  std::vector<Property> kinds;
  std::map<Id, std::vector<size_t>> properties;  // of each item, among the kinds, from 1
  bool has_track = false;
};

std::string text_at(const std::string& text, size_t at) {
  if (at >= text.size()) return {};
  return text.substr(at, text.find('\0', at) - at);
}

void read_item(const std::string& box, Table& table) {
  const std::uint64_t version = big_at(box, 0, 1);
  if (version < 2) return;
  const int id_bytes = version == 2 ? 2 : 4;
  const size_t type_at = size_t{6} + static_cast<size_t>(id_bytes);
  if (box.size() < type_at + 4) return;
  Item item{.id = big_at(box, 4, id_bytes),
            .type = box.substr(type_at, 4),
            .content = {},
            .hidden = (big_at(box, 3, 1) & 1) != 0};
  const size_t name_at = type_at + 4;
  if (item.type == "mime") {
    item.content = text_at(box, name_at + text_at(box, name_at).size() + 1);
  }
  table.items.push_back(std::move(item));
}

void read_references(const ByteSource& source, const Box& box, Table& table) {
  const int id_bytes = big_at(source.read_some(box.begin, 4), 0, 1) == 0 ? 2 : 4;
  visit_boxes(source, box.begin + 4, box.end, [&](const Box& inner) {
    const std::string content = content_of(source, inner);
    Reference one{.type = inner.kind, .from = big_at(content, 0, id_bytes), .to = {}};
    const auto step = static_cast<size_t>(id_bytes);
    std::uint64_t left = big_at(content, step, 2);
    for (size_t at = step + 2; left > 0 && at + step <= content.size(); at += step, --left) {
      one.to.push_back(big_at(content, at, id_bytes));
    }
    table.references.push_back(std::move(one));
  });
}

// Which properties each item has.
void read_associations(const std::string& box, Table& table) {
  const int id_bytes = big_at(box, 0, 1) < 1 ? 2 : 4;
  const int index_bytes = (big_at(box, 3, 1) & 1) != 0 ? 2 : 1;
  const std::uint64_t mask = index_bytes == 2 ? 0x7fff : 0x7f;
  size_t at = 8;
  for (std::uint64_t left = big_at(box, 4, 4); left > 0 && at < box.size(); --left) {
    std::vector<size_t>& of_item = table.properties[big_at(box, at, id_bytes)];
    at += static_cast<size_t>(id_bytes);
    std::uint64_t count = big_at(box, at++, 1);
    for (; count > 0 && at < box.size(); --count, at += static_cast<size_t>(index_bytes)) {
      of_item.push_back(big_at(box, at, index_bytes) & mask);
    }
  }
}

void read_properties(const ByteSource& source, const Box& box, Table& table) {
  visit_boxes(source, box.begin, box.end, [&](const Box& part) {
    if (part.kind == "ipma") read_associations(content_of(source, part), table);
    if (part.kind != "ipco") return;
    visit_boxes(source, part.begin, part.end, [&](const Box& one) {
      Property property{.kind = one.kind, .auxiliary = {}};
      if (one.kind == "auxC") property.auxiliary = text_at(content_of(source, one), 4);
      if (one.kind == "irot") {
        property.on_its_side = (big_at(source.read_some(one.begin, 1), 0, 1) & 1) != 0;
      }
      if (one.kind == "ispe") {
        const std::string content = content_of(source, one);
        property.size = size_of(big_at(content, 4, 4), big_at(content, 8, 4));
      }
      if (one.kind == "hvcC") {
        const std::string content = content_of(source, one);
        constexpr size_t chroma_format_at = 16;
        property.coded = largest_coded_size(content);
        property.is_gray =
            content.size() > chroma_format_at && (big_at(content, chroma_format_at, 1) & 3) == 0;
      }
      table.kinds.push_back(std::move(property));
    });
  });
}

void read_items(const ByteSource& source, const Box& box, Table& table) {
  const bool wide = big_at(source.read_some(box.begin, 1), 0, 1) != 0;
  visit_boxes(source, box.begin + (wide ? 8 : 6), box.end, [&](const Box& entry) {
    if (entry.kind == "infe") read_item(content_of(source, entry), table);
  });
}

Table read_table(const ByteSource& source) {
  Table table;
  visit_boxes(source, 0, source.size(), [&](const Box& box) {
    if (box.kind == "moov") table.has_track = true;
    if (box.kind != "meta") return;
    visit_boxes(source, box.begin + 4, box.end, [&](const Box& part) {
      if (part.kind == "pitm") {
        const std::string content = content_of(source, part);
        table.primary = big_at(content, 4, big_at(content, 0, 1) == 0 ? 2 : 4);
      }
      if (part.kind == "iinf") read_items(source, part, table);
      if (part.kind == "iref") read_references(source, part, table);
      if (part.kind == "iprp") read_properties(source, part, table);
    });
  });
  return table;
}

// The properties of an item, in its own order.
std::vector<const Property*> properties_of(const Table& table, Id id) {
  std::vector<const Property*> out;
  const auto found = table.properties.find(id);
  if (found == table.properties.end()) return out;
  for (const size_t index : found->second) {
    if (index > 0 && index <= table.kinds.size()) out.push_back(&table.kinds[index - 1]);
  }
  return out;
}

// What an auxiliary image is, by its URN; nothing for alpha, which is read.
std::string name_of_auxiliary(const std::string& urn) {
  const std::string last = urn.substr(urn.rfind(':') + 1);
  const bool coded = urn.ends_with(":auxid:" + last);  // of HEVC and AVC, with numbers
  if (last == "alpha" || (coded && last == "1")) return {};
  if (last == "depth" || (coded && last == "2")) return "a depth map";
  if (last == "hdrgainmap") return "a gain map";
  return "auxiliary image '" + (coded ? urn : last) + "'";
}

class Unread {
 public:
  Unread(const Table& table, Format format) : table_(table), format_(format) {
    for (const Reference& one : table.references) {
      by_item_.insert({{one.from, one.type}, &one});
      if (one.type == "dimg") pieces_.insert(one.to.begin(), one.to.end());
    }
    for (const Item& item : table.items) {
      if (is_read_picture(item)) read_.insert(item.id);
    }
  }

  std::vector<std::string> names() {
    std::set<Id> seen;
    for (const Item& item : table_.items) {
      if (seen.insert(item.id).second) look_at(item);
    }
    if (pictures_ > 0) lose("further pictures (" + std::to_string(pictures_) + ")");
    return std::move(out_.lost);
  }

 private:
  void lose(const std::string& name) { out_.lose(name); }

  const Reference* reference(Id from, const std::string& type) const {
    const auto found = by_item_.find({from, type});
    return found == by_item_.end() ? nullptr : found->second;
  }

  static bool is_picture(const Item& item) {
    static const std::set<std::string> types{"hvc1", "av01", "grid", "iden", "iovl"};
    return types.contains(item.type);
  }

  // libavif reads the primary picture, libheif all that stand for themselves.
  bool is_read_picture(const Item& item) const {
    if (item.id == table_.primary) return true;
    return format_ == Format::heif && stands_alone(item);
  }
  bool stands_alone(const Item& item) const {
    return is_picture(item) && !item.hidden && !pieces_.contains(item.id) &&
           reference(item.id, "auxl") == nullptr && reference(item.id, "thmb") == nullptr;
  }

  void look_at(const Item& item) {
    if (read_.contains(item.id)) return;
    const bool exif = item.type == "Exif";
    const bool xmp = item.type == "mime" && item.content == "application/rdf+xml";
    if (exif || xmp) return look_at_metadata(item, exif ? "EXIF" : "XMP");
    if (item.type == "mime" || item.type == "uri ") {
      return lose("metadata '" + (item.content.empty() ? item.type : item.content) + "'");
    }
    if (reference(item.id, "auxl") != nullptr) return lose(name_of_auxiliary(urn_of(item.id)));
    if (reference(item.id, "thmb") != nullptr) return lose("a thumbnail");
    if (item.type == "tmap") return lose("a gain map");
    if (pieces_.contains(item.id)) return;
    if (!is_picture(item)) return lose("an item '" + item.type + "'");
    if (stands_alone(item)) {
      ++pictures_;
    } else {
      lose("a hidden picture");
    }
  }

  // Each picture has the first block of each kind that describes it; those of pictures that are
  // not read go with them.
  void look_at_metadata(const Item& item, const std::string& name) {
    const Reference* described = reference(item.id, "cdsc");
    if (described == nullptr || described->to.empty()) return lose(name + " of no picture");
    bool taken = false, second = false;
    for (const Id id : described->to) {
      if (!read_.contains(id)) continue;
      (described_.insert({id, name}).second ? taken : second) = true;
    }
    if (second && !taken) lose("a second block of " + name);
  }

  std::string urn_of(Id id) const {
    for (const Property* one : properties_of(table_, id)) {
      if (!one->auxiliary.empty()) return one->auxiliary;
    }
    return {};
  }

  const Table& table_;
  Format format_;
  std::map<std::pair<Id, std::string>, const Reference*> by_item_;
  std::set<Id> pieces_, read_;
  std::set<std::pair<Id, std::string>> described_;  // pictures with a block of this kind
  int pictures_ = 0;
  MetadataRead out_;
};

}  // namespace

std::vector<std::string> unread_items(const ByteSource& source, Format format) {
  const Table table = read_table(source);
  std::vector<std::string> names = Unread(table, format).names();
  // libavif reads the track where the file says that it is a sequence before all.
  if (table.has_track && source.read_some(8, 4) != "avis") {
    names.emplace_back("a sequence of images");
  }
  return names;
}

bool turned_before_its_size(const ByteSource& source, std::uint64_t item) {
  const Table table = read_table(source);
  bool turned = false, before = false;
  for (const Property* one : properties_of(table, item)) {
    if (one->on_its_side) turned = !turned;
    if (one->kind == "ispe") before = turned;
  }
  return before;
}

bool is_gray(const ByteSource& source, std::uint64_t item) {
  const Table table = read_table(source);
  // The pieces of a grid are all of one kind, unlike those of an overlay.
  const auto of_item = [&](const Reference& one) {
    return one.type == "dimg" && one.from == item && !one.to.empty();
  };
  const auto pieces = std::ranges::find_if(table.references, of_item);
  const bool is_grid = std::ranges::any_of(
      table.items, [&](const Item& one) { return one.id == item && one.type == "grid"; });
  const Id coded = is_grid && pieces != table.references.end() ? pieces->to.front() : item;
  return std::ranges::any_of(properties_of(table, coded),
                             [](const Property* one) { return one->is_gray; });
}

void check_pieces(const ByteSource& source) {
  const Table table = read_table(source);
  std::map<Id, std::vector<Id>> pieces;
  for (const Reference& one : table.references) {
    if (one.type == "dimg") {
      std::vector<Id>& to = pieces[one.from];
      to.insert(to.end(), one.to.begin(), one.to.end());
    } else if (one.type == "auxl") {  // a picture is decoded with its alpha
      for (const Id picture : one.to) pieces[picture].push_back(one.from);
    }
  }
  constexpr std::int64_t most = 1 << 16;
  std::map<Id, std::int64_t> counts;  // of the pieces of the pieces; 0: being counted
  const std::function<std::int64_t(Id)> count_of = [&](Id id) -> std::int64_t {
    const auto found = pieces.find(id);
    if (found == pieces.end()) return 1;
    const auto [count, is_new] = counts.try_emplace(id, 0);
    if (!is_new && count->second == 0) fail("damaged HEIF: a picture is made of itself");
    if (!is_new) return count->second;
    std::int64_t sum = 1;
    for (const Id piece : found->second) {
      sum += count_of(piece);
      if (sum > most) fail("damaged HEIF: a picture is made of more than ", most, " pieces");
    }
    return counts[id] = sum;
  };
  for (const auto& [id, of] : pieces) count_of(id);
}

void check_coded_sizes(const ByteSource& source) {
  const Table table = read_table(source);
  const auto refuse = [&](Size coded, Size said) {
    fail("damaged HEIF: a stream of ", text_of(coded), " for a picture of ", text_of(said));
  };
  // Streams are of whole blocks, and of tiles that may go beyond a small picture.
  constexpr std::int64_t margin = std::int64_t{4} << 20;  // pixels
  Size said, coded;
  for (const Property& one : table.kinds) {
    if (one.size.pixels() > said.pixels()) said = one.size;
    if (one.coded.whole.pixels() > coded.pixels()) coded = one.coded.whole;
  }
  if (coded.pixels() > 2 * said.pixels() + margin) refuse(coded, said);
  // What a smaller tile leaves of its picture nobody writes.
  for (const Item& item : table.items) {
    Size size;
    CodedSize stream;
    for (const Property* one : properties_of(table, item.id)) {
      if (one->kind == "ispe") size = one->size;
      if (one->kind == "hvcC") stream = one->coded;
    }
    if (stream.whole.pixels() == 0) continue;
    const bool smaller = stream.shown.width < size.width || stream.shown.height < size.height;
    if (smaller) refuse(stream.shown, size);
  }
}

std::optional<Format> format_of_brand(std::string_view head) {
  if (head.size() < 12 || head.substr(4, 4) != "ftyp") return {};
  const std::string_view brand = head.substr(8, 4);
  if (brand == "avif" || brand == "avis") return Format::avif;
  for (const std::string_view known : {"heic", "heix", "heim", "heis", "hevc", "hevx"}) {
    if (brand == known) return Format::heif;
  }
  // Of both kinds; the list of brands tells.
  if (brand == "mif1" || brand == "msf1") {
    return head.substr(12).find("avi") != head.npos ? Format::avif : Format::heif;
  }
  return {};
}

}  // namespace impipe::io
