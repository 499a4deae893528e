// Reads the metadata of Zarr 2 and 3, and of OME-Zarr 0.1 to 0.5 in them.
#include "io/formats/zarr/zarr_array.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace impipe::io {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t most_bytes = std::int64_t{1} << 31;  // of a chunk
constexpr std::size_t most_dimensions = 16;

const Json none;
// A member, or null.
const Json& member(const Json& of, const char* name) {
  if (!of.is_object()) return none;
  const auto found = of.find(name);
  return found == of.end() ? none : *found;
}
// A value in a message, however large it is.
std::string shown(const Json& value) {
  return value.is_primitive() ? value.dump().substr(0, 80) : std::string("a list or an object");
}
std::string text_in(const Json& of, const char* name) {
  const Json& text = member(of, name);
  return text.is_string() ? text.get<std::string>() : std::string();
}

std::vector<std::int64_t> sides_in(const Json& list, const std::string& what) {
  if (!list.is_array() || list.empty() || list.size() > most_dimensions) {
    fail("damaged Zarr: ", what, " is no list of 1 to ", most_dimensions, " numbers");
  }
  std::vector<std::int64_t> out;
  for (const Json& side : list) {
    if (!side.is_number_integer() || side < 0 || side > (std::int64_t{1} << 40)) {
      fail("damaged Zarr: ", what, " has ", shown(side));
    }
    out.push_back(side.get<std::int64_t>());
  }
  return out;
}

// NumPy's "<u2", or Zarr 3's "uint16".
ArrayType type_in(const Json& written) {
  const std::string text = written.is_string() ? written.get<std::string>() : shown(written);
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names{
      {{"bool", "|b1"},
       {"int8", "|i1"},
       {"uint8", "|u1"},
       {"int16", "<i2"},
       {"uint16", "<u2"},
       {"int32", "<i4"},
       {"uint32", "<u4"},
       {"int64", "<i8"},
       {"uint64", "<u8"},
       {"float16", "<f2"},
       {"float32", "<f4"},
       {"float64", "<f8"}}};
  std::string_view code = text;
  for (const auto& [name, own] : names) {
    if (text == name) code = own;
  }
  ImageInfo ignored;
  ArrayType out;
  if (code.size() == 3) out = {code[1], code[2] - '0', code[0] == '>'};
  if (code.size() != 3 || !set_type(ignored, out)) {
    fail("Zarr of type ", text,
         " is not supported (bool, integers of 8 to 64 bits and floats of 16 to 64 are)");
  }
  return out;
}

std::uint64_t bits_of(double number, int bytes) {
  if (bytes == 8) return std::bit_cast<std::uint64_t>(number);
  if (bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (std::isnan(number)) return 0x7e00;
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const auto code = static_cast<std::uint16_t>(half);
    if (half_to_float(code) == static_cast<float>(number)) return half;
  }
  fail("damaged Zarr: fill_value ", number, " is no float16");
}

// Whether a type of whole numbers or of truth values holds a number.
bool holds(const ArrayType& type, const Json& number) {
  const int bits = type.kind == 'b' ? 1 : 8 * type.bytes - (type.kind == 'i' ? 1 : 0);
  if (!number.is_number_unsigned()) {
    return type.kind == 'i' && number.get<std::int64_t>() >> bits == -1;
  }
  return bits == 64 || number.get<std::uint64_t>() >> bits == 0;
}

// The item that fill_value stands for.
std::string fill_in(const Json& value, const ArrayType& type) {
  const auto item = [&](std::uint64_t bits) {
    return number_text(bits, type.bytes, type.big_endian);
  };
  if (value.is_null()) return item(0);
  if (value.is_boolean()) return item(value.get<bool>() ? 1 : 0);
  if (type.kind == 'f') {
    if (value.is_number()) return item(bits_of(value.get<double>(), type.bytes));
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text == "NaN") return item(bits_of(std::nan(""), type.bytes));
    if (text == "Infinity") return item(bits_of(INFINITY, type.bytes));
    if (text == "-Infinity") return item(bits_of(-INFINITY, type.bytes));
    const char* const end = text.data() + text.size();
    std::uint64_t bits = 0;
    if (text.starts_with("0x") && text.size() == 2 + 2 * static_cast<std::size_t>(type.bytes) &&
        std::from_chars(text.data() + 2, end, bits, 16).ptr == end) {
      return item(bits);
    }
  } else if (value.is_number_integer() && holds(type, value)) {
    return item(static_cast<std::uint64_t>(value.get<std::int64_t>()));
  } else if (value.is_number() && value == 0) {
    return item(0);
  }
  fail("damaged Zarr: fill_value ", shown(value), " is none of its numbers");
}

[[noreturn]] void fail_packed(const std::string& by) {
  fail("Zarr packed by ", by, " is not supported (zlib, gzip, zstd and blosc are)");
}

ZarrPacking packing_of(const std::string& name) {
  if (name == "zlib" || name == "gzip") return ZarrPacking::inflate;
  if (name == "zstd" || name == "numcodecs.zstd") return ZarrPacking::zstd;
  if (name == "blosc") return ZarrPacking::blosc;
  if (name == "crc32c") return ZarrPacking::crc32c;
  fail_packed("'" + name + "'");
}

// The dimensions from the first to the last, the slowest first: C's order.
std::vector<int> plain_order(std::size_t rank) {
  std::vector<int> out;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(static_cast<int>(i));
  return out;
}

// Applies a `transpose` to an order.
void transpose(std::vector<int>& order, const Json& by) {
  const std::vector<int> before = order;
  if (by == "F") std::ranges::reverse(order);
  if (by == "F" || by == "C") return;
  std::vector<bool> seen(order.size());
  if (!by.is_array() || by.size() != order.size()) fail("damaged Zarr: an order of ", shown(by));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_one = by[i].is_number_unsigned() && by[i] < order.size();
    const std::size_t from = is_one ? by[i].get<std::size_t>() : 0;
    if (!is_one || seen[from]) fail("damaged Zarr: an order of ", shown(by));
    seen[from] = true;
    order[i] = before[from];
  }
}

void read_codecs(ZarrArray& out, const Json& codecs, bool in_shard);

void read_shards(ZarrArray& out, const Json& how) {
  ZarrArray::Shards shards{.shape = out.chunk, .index = {}};
  out.chunk = sides_in(member(how, "chunk_shape"), "chunk_shape of shards");
  for (const Json& codec : member(how, "index_codecs")) {
    const std::string name = text_in(codec, "name");
    if (name == "bytes" && text_in(member(codec, "configuration"), "endian") == "little") continue;
    if (name != "crc32c") fail("Zarr with an index of shards packed by '", name, "'");
    shards.index.push_back(ZarrPacking::crc32c);
  }
  shards.index_at_end = text_in(how, "index_location") != "start";
  read_codecs(out, member(how, "codecs"), true);
  out.shards = std::move(shards);
}

void read_codecs(ZarrArray& out, const Json& codecs, bool in_shard) {
  bool has_bytes = false;
  if (!codecs.is_array()) fail("damaged Zarr: no list of codecs");
  for (const Json& codec : codecs) {
    const std::string name = codec.is_string() ? codec.get<std::string>() : text_in(codec, "name");
    const Json& how = member(codec, "configuration");
    if (name == "transpose" && !has_bytes) {
      transpose(out.order, member(how, "order"));
    } else if (name == "bytes" && !has_bytes) {
      has_bytes = true;
      out.type.big_endian = text_in(how, "endian") == "big";
    } else if (name == "sharding_indexed" && !has_bytes && !in_shard &&
               out.order == plain_order(out.order.size())) {
      has_bytes = true;
      read_shards(out, how);
    } else if (has_bytes && !out.shards) {
      out.packings.push_back(packing_of(name));
    } else {
      fail_packed("'" + name + "' before its bytes, or in or around shards");
    }
  }
  if (!has_bytes) fail("damaged Zarr: its codecs make no bytes");
}

void check_array(const ZarrArray& array) {
  if (array.chunk.size() != array.shape.size() ||
      (array.shards && array.shards->shape.size() != array.shape.size())) {
    fail("damaged Zarr: chunks have ", array.chunk.size(), " dimensions, and the array ",
         array.shape.size());
  }
  double bytes = array.type.bytes, chunks = 1;
  for (std::size_t i = 0; i < array.chunk.size(); ++i) {
    const std::int64_t side = array.chunk[i];
    bytes *= static_cast<double>(side);
    if (side < 1) fail("damaged Zarr: a chunk without items");
    if (!array.shards) continue;
    const std::int64_t whole = array.shards->shape[i];
    if (whole < side || whole % side != 0) fail("damaged Zarr: shards of no whole chunks");
    chunks *= static_cast<double>(whole / side);
  }
  if (bytes > most_bytes) fail("Zarr with chunks of more than 2 GiB");
  if (chunks > 1 << 24) fail("Zarr with shards of more than ", 1 << 24, " chunks");
}

ZarrArray array_of_2(const Json& of) {
  ZarrArray out;
  out.shape = sides_in(member(of, "shape"), "shape");
  out.chunk = sides_in(member(of, "chunks"), "chunks");
  out.type = type_in(member(of, "dtype"));
  out.fill = fill_in(member(of, "fill_value"), out.type);
  out.order = plain_order(out.shape.size());
  const Json &order = member(of, "order"), &separator = member(of, "dimension_separator");
  if (!order.is_null() && order != "C" && order != "F") {
    fail("damaged Zarr: an order of ", shown(order));
  }
  transpose(out.order, order.is_null() ? Json("C") : order);
  if (!separator.is_null() && separator != "/" && separator != ".") {
    fail("damaged Zarr: a dimension_separator ", shown(separator));
  }
  if (separator == "/") out.separator = '/';
  const Json& filters = member(of, "filters");
  if (filters.is_array() && !filters.empty()) {
    fail_packed("the filter '" + text_in(filters.front(), "id") + "'");
  }
  const Json& compressor = member(of, "compressor");
  if (compressor.is_object()) out.packings.push_back(packing_of(text_in(compressor, "id")));
  return out;
}

ZarrArray array_of_3(const Json& of) {
  ZarrArray out{.version = 3};
  out.shape = sides_in(member(of, "shape"), "shape");
  const Json& grid = member(of, "chunk_grid");
  if (text_in(grid, "name") != "regular") fail("Zarr with chunks of unlike sizes");
  out.chunk = sides_in(member(member(grid, "configuration"), "chunk_shape"), "chunk_shape");
  out.type = type_in(member(of, "data_type"));
  out.order = plain_order(out.shape.size());
  const Json& keys = member(of, "chunk_key_encoding");
  const bool as_in_2 = text_in(keys, "name") == "v2";
  out.key_begin = as_in_2 ? "" : "c";
  const std::string separator = text_in(member(keys, "configuration"), "separator");
  out.separator = separator.empty() ? (as_in_2 ? '.' : '/') : separator.front();
  if (!as_in_2) out.key_begin += out.separator;
  const Json& transformers = member(of, "storage_transformers");
  if (transformers.is_array() && !transformers.empty()) fail("Zarr with storage transformers");
  read_codecs(out, member(of, "codecs"), false);
  out.fill = fill_in(member(of, "fill_value"), out.type);
  for (const Json& name : member(of, "dimension_names")) {
    out.names.push_back(name.is_string() ? name.get<std::string>() : "");
  }
  return out;
}

// Whether brackets lie so deep in each other that no Zarr has them, and walking them is no matter
// of a few calls.
bool is_deep(std::string_view text) {
  constexpr int most = 100;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size() && depth <= most; ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
  }
  return depth > most;
}

// Reads the documents of a Zarr.
class Reader {
 public:
  explicit Reader(const ReadZarrKey& read) : read_(read) {}

  struct Node {
    std::optional<ZarrArray> array;
    Json attributes;
  };
  // What lies in a folder, "" or "0/"; none: nothing of Zarr.
  std::optional<Node> node(const std::string& folder) {
    Node out;
    if (const Json all = document(folder + "zarr.json", 3); !all.is_null()) {
      out.attributes = member(all, "attributes");
      if (text_in(all, "node_type") == "array") out.array = array_of_3(all);
    } else {
      const Json array = document(folder + ".zarray", 2);
      out.attributes = document(folder + ".zattrs");
      const bool is_group = !document(folder + ".zgroup", 2).is_null();
      if (!is_group && array.is_null() && out.attributes.is_null()) return {};
      if (!array.is_null()) out.array = array_of_2(array);
      for (const Json& name : member(out.attributes, "_ARRAY_DIMENSIONS")) {
        if (out.array) out.array->names.push_back(name.is_string() ? name.get<std::string>() : "");
      }
    }
    if (out.array) {
      check_array(*out.array);
      out.array->folder = folder;
      if (out.array->names.size() != out.array->shape.size()) out.array->names.clear();
    }
    return out;
  }
  std::vector<std::string> documents;

 private:
  // version: that it says it is of; 0: it says none.
  Json document(const std::string& key, int version = 0) {
    const std::optional<std::string> text = read_(key);
    if (!text) return none;
    documents.push_back(key);
    Json out = is_deep(*text) ? none : Json::parse(*text, nullptr, false);
    if (!out.is_object()) fail("damaged Zarr: ", key, " is no object of JSON");
    const Json& said = member(out, "zarr_format");
    if (version != 0 && said != version) {
      fail("damaged Zarr: ", key, " has zarr_format ", shown(said), ", which is ", version);
    }
    return out;
  }

  const ReadZarrKey& read_;
};

// The folder of the first array of a pyramid: names one below the other, and no way out.
std::string folder_of(const Json& dataset) {
  const std::string path = text_in(dataset, "path");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (name.empty() || name == "." || name == ".." || name.find('\0') != name.npos) break;
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  if (path.empty() || !rest.empty() || path.ends_with('/')) {
    fail("damaged Zarr: the path of its array is ", shown(member(dataset, "path")));
  }
  return path + "/";
}

// The numbers of a transformation of a kind, one a dimension; empty where there is none.
std::vector<double> numbers_of(const Json& of, const char* kind, std::size_t rank) {
  for (const Json& one : member(of, "coordinateTransformations")) {
    const Json& list = member(one, kind);
    if (text_in(one, "type") != kind || (list.is_null() && one.contains("path"))) continue;
    if (!list.is_array() || list.size() != rank) {
      fail("damaged Zarr: a ", kind, " that has not ", rank, " numbers");
    }
    std::vector<double> out;
    for (const Json& number : list) {
      const double value = number.is_number() ? number.get<double>() : std::nan("");
      if (!std::isfinite(value) || (value <= 0 && std::string_view(kind) == "scale")) {
        fail("damaged Zarr: a ", kind, " of ", shown(number));
      }
      out.push_back(value);
    }
    return out;
  }
  return {};
}

// Names, units and transformations of an OME-Zarr's dimensions.
void read_multiscale(ZarrImage& out, const Json& multiscale) {
  const std::size_t rank = out.array.shape.size();
  static const Json first_versions{"t", "c", "z", "y", "x"};
  const Json& written = member(multiscale, "axes");
  const Json& axes = written.is_array() ? written : first_versions;
  if (axes.size() != rank) fail("damaged Zarr: ", axes.size(), " axes of ", rank, " dimensions");
  out.axes.clear();
  for (const Json& axis : axes) {
    out.axes.push_back({.name = axis.is_string() ? axis.get<std::string>() : text_in(axis, "name"),
                        .unit = text_in(axis, "unit")});
    const std::string& name = out.axes.back().name;
    if (!name.empty() && std::ranges::count(out.axes, name, &MeasuredAxis::name) > 1) {
      fail("damaged Zarr: two of its axes are named ", shown(Json(name)));
    }
  }
  const auto apply = [&](const Json& of) {
    const std::vector<double> scale = numbers_of(of, "scale", rank),
                              translation = numbers_of(of, "translation", rank);
    for (std::size_t i = 0; i < rank; ++i) {
      MeasuredAxis& axis = out.axes[i];
      const double by = scale.empty() ? 1 : scale[i];
      axis.scale *= by;
      axis.translation = axis.translation * by + (translation.empty() ? 0 : translation[i]);
    }
  };
  apply(member(multiscale, "datasets").front());
  apply(multiscale);
}

// The letter of an axis's name: X, Y, Z, T, C, or another.
char letter_of(const std::string& name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (lower == "channel" || lower == "band") return 'C';
  if (lower == "time") return 'T';
  if (lower.size() == 1 && lower[0] >= 'a' && lower[0] <= 'z') {
    return static_cast<char>(lower[0] - 32);
  }
  return 'P';
}

// Whether the channels of an OME-Zarr are those of colours, by their names.
bool has_colours(const Json& omero) {
  static constexpr std::array<std::string_view, 3> colours{"red", "green", "blue"};
  const Json& channels = member(omero, "channels");
  if (!channels.is_array() || channels.size() != 3) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    std::string label = text_in(channels[i], "label");
    if (!label.empty() && label[0] < 'a') label[0] = static_cast<char>(label[0] + 32);
    if (label != colours[i]) return false;
  }
  return true;
}

// The letters of arrays whose axes have no names, as in NPYs.
std::string guessed_letters(const std::vector<std::int64_t>& shape) {
  const bool channels_last = shape.size() >= 3 && shape.back() <= 4;
  switch (shape.size()) {
    case 2: return "YX";
    case 3: return channels_last ? "YXC" : "ZYX";
    case 4: return channels_last ? "ZYXC" : "";
    default: return "";
  }
}

std::string text_of_shape(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t side : shape) out += (out.empty() ? "" : ", ") + std::to_string(side);
  return "(" + out + ")";
}

// A letter for each dimension: by their names, by --axes, or guessed.
std::string letters_of(ZarrImage& image, const std::string& given) {
  std::string letters;
  for (const MeasuredAxis& axis : image.axes) letters += letter_of(axis.name);
  const auto is_single = [&](char letter) { return std::ranges::count(letters, letter) == 1; };
  if (is_single('X') && is_single('Y') && std::ranges::all_of(letters, is_single)) return letters;
  const std::vector<std::int64_t>& shape = image.array.shape;
  const std::string text = text_of_shape(shape);
  if (!given.empty() && given.size() != shape.size()) {
    fail("Zarr of shape ", text, " has ", shape.size(), " axes, and --axes ", given, " names ",
         given.size());
  }
  if (!given.empty()) return given;
  if (is_single('X') && is_single('Y')) {
    std::string names;
    for (const MeasuredAxis& axis : image.axes) names += (names.empty() ? "" : ", ") + axis.name;
    fail("Zarr whose axes (", names,
         ") are not told apart; give --axes, a letter for each, as TZCYX");
  }
  letters = guessed_letters(shape);
  if (letters.empty()) {
    fail("Zarr of shape ", text,
         " does not say what its axes are; give --axes, a letter for each, as TZCYX");
  }
  if (letters.size() > 2) {
    image.info.guessed_axes = letters;
    image.info.guess = text + " is read as " + letters;
  }
  return letters;
}

void set_dimensions(ZarrImage& image, const std::string& letters, bool has_colours) {
  const std::vector<std::int64_t>& shape = image.array.shape;
  double pages = 1;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const int at = static_cast<int>(i);
    const char letter = letters[i];
    const bool is_channel = letter == 'S' || letter == 'A' || letter == 'C';
    const bool in_pixel = letter != 'C' || has_colours || i + 1 == letters.size();
    if (letter == 'X') {
      image.x = at;
    } else if (letter == 'Y') {
      image.y = at;
    } else if (is_channel && in_pixel && image.channel < 0) {
      image.channel = at;
      image.info.type.alpha = letter == 'A';
    } else {
      image.pages.push_back(at);
      pages *= static_cast<double>(shape[i]);
      if (shape[i] > 1 && shape[i] <= max_side) {
        image.info.axes.push_back({static_cast<char>(letter + 32), static_cast<int>(shape[i])});
      }
    }
  }
  if (pages < 1 || pages > 1 << 30) {
    fail("Zarr of shape ", text_of_shape(shape), ", which is ", static_cast<std::int64_t>(pages),
         " pages");
  }
  image.info.pages = static_cast<int>(pages);
}

// What the axes of a picture and of its pages measure, where the metadata say so of any.
void name_measures(ZarrImage& image) {
  std::vector<int> dimensions = image.pages;
  dimensions.insert(dimensions.end(), {image.y, image.x});
  bool any = false;
  for (const int dimension : dimensions) {
    MeasuredAxis axis = image.axes[static_cast<std::size_t>(dimension)];
    any = any || axis.scale != 1 || axis.translation != 0 || !axis.unit.empty();
    axis.name = dimension == image.x ? "x"
                : dimension == image.y
                    ? "y"
                    : std::string(1, static_cast<char>(letter_of(axis.name) + 32));
    image.info.measured.push_back(std::move(axis));
  }
  if (!any) image.info.measured.clear();
}

void set_info(ZarrImage& image) {
  const ZarrArray& array = image.array;
  ImageInfo& info = image.info;
  const bool alpha = info.type.alpha;
  set_type(info, array.type);
  const auto side = [&](const std::vector<std::int64_t>& of, int at) {
    return of[static_cast<std::size_t>(at)];
  };
  info.stored = {side(array.shape, image.x), side(array.shape, image.y)};
  const std::int64_t channels = image.channel < 0 ? 1 : side(array.shape, image.channel);
  if (channels < (alpha ? 2 : 1) || channels > max_channels) {
    fail("Zarr of shape ", text_of_shape(array.shape), " has ", channels, " channels");
  }
  info.type.alpha = alpha;
  info.type.channels = static_cast<int>(channels) - (alpha ? 1 : 0);
  double chunks = 1;  // of a page
  for (const int dimension : {image.x, image.y, image.channel}) {
    if (dimension < 0) continue;
    const std::int64_t whole = side(array.shape, dimension), part = side(array.chunk, dimension);
    chunks *= static_cast<double>((whole + part - 1) / part);
  }
  if (chunks > 1 << 22) fail("Zarr with more than ", 1 << 22, " chunks a page");
  info.tile = {side(array.chunk, image.x), 1};
  for (std::size_t i = 0; i < array.chunk.size(); ++i) {
    if (static_cast<int>(i) != image.x) info.tile.height *= array.chunk[i];
  }
  name_measures(image);
  info.detail = depth_text(array.type) + ", chunks of " +
                std::to_string(side(array.chunk, image.x)) + "x" +
                std::to_string(side(array.chunk, image.y)) + (array.shards ? " in shards" : "") +
                ", Zarr " + std::to_string(array.version);
}

// What is read of a Zarr, and what is said of it.
struct Found {
  ZarrArray array;
  Json attributes, multiscale;  // of the root; null where the array is the root itself
  Json omero;
  std::string version;  // of OME-Zarr
};

Found find(Reader& reader) {
  auto root = reader.node("");
  if (!root) fail("no Zarr: it has neither zarr.json nor .zgroup or .zarray");
  Found out{.array = {}, .attributes = root->attributes};
  const Json& ome = member(root->attributes, "ome");
  const Json& attributes = ome.is_object() ? ome : root->attributes;
  const Json& multiscales = member(attributes, "multiscales");
  if (root->array) {
    out.array = std::move(*root->array);
    return out;
  }
  if (!multiscales.is_array() || multiscales.empty()) {
    fail("a Zarr group without a picture (multiscales); name a folder in it, as NAME.zarr/0");
  }
  out.multiscale = multiscales.front();
  out.omero = member(attributes, "omero");
  out.version = text_in(ome.is_object() ? ome : out.multiscale, "version");
  const Json& datasets = member(out.multiscale, "datasets");
  if (!datasets.is_array() || datasets.empty()) fail("damaged Zarr: a pyramid without arrays");
  auto level = reader.node(folder_of(datasets.front()));
  if (!level || !level->array) {
    fail("damaged Zarr: there is no array '", text_in(datasets.front(), "path"), "'");
  }
  out.array = std::move(*level->array);
  return out;
}

ZarrImage image_of(Found found, const std::string& axes) {
  ZarrImage out{.array = std::move(found.array)};
  const bool is_ome = !found.multiscale.is_null();
  out.axes.resize(out.array.shape.size());
  for (std::size_t i = 0; i < out.array.names.size(); ++i) out.axes[i].name = out.array.names[i];
  if (is_ome) read_multiscale(out, found.multiscale);
  const bool colours = has_colours(found.omero);
  set_dimensions(out, letters_of(out, axes), colours);
  set_info(out);
  if (is_ome) {
    out.info.detail += ", OME-Zarr" + (found.version.empty() ? "" : " " + found.version);
    if (found.omero.is_object() && !colours) out.lost.emplace_back("how it is shown (omero)");
  }
  static constexpr std::array<std::string_view, 5> known{"multiscales", "omero", "ome",
                                                         "_ARRAY_DIMENSIONS", "_creator"};
  if (!found.attributes.is_object()) return out;
  for (const auto& [name, value] : found.attributes.items()) {
    const bool is_known = std::ranges::find(known, name) != known.end();
    if (!is_known && out.lost.size() < 16) out.lost.push_back("attribute '" + name + "'");
  }
  return out;
}

// Calls `use` with what is found in a Zarr. Throws Error for JSON that is none of its.
template <class Use>
auto with_found(const ReadZarrKey& read, Use use) {
  Reader reader(read);
  try {
    return use(find(reader), reader);
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();
    fail("damaged Zarr: ", what.substr(std::min(what.size(), what.find("] ") + 2)));
  }
}

}  // namespace

ZarrImage zarr_image(const ReadZarrKey& read, const std::string& axes) {
  return with_found(read, [&](Found found, Reader&) { return image_of(std::move(found), axes); });
}

std::string zarr_of_level(const std::string& document, const std::string& level) {
  if (is_deep(document)) return {};
  Json all = Json::parse(document, nullptr, false);
  if (!all.is_object()) return {};
  Json* attributes = &all;
  for (const char* name : {"attributes", "ome"}) {
    if (attributes->contains(name) && (*attributes)[name].is_object()) {
      attributes = &(*attributes)[name];
    }
  }
  const Json& multiscales = member(*attributes, "multiscales");
  if (!multiscales.is_array()) return {};
  for (const Json& multiscale : multiscales) {
    const Json& datasets = member(multiscale, "datasets");
    if (!datasets.is_array()) continue;
    for (const Json& dataset : datasets) {
      if (text_in(dataset, "path") != level) continue;
      Json one = multiscale;
      one["datasets"] = Json::array({dataset});
      (*attributes)["multiscales"] = Json::array({std::move(one)});
      return all.dump();
    }
  }
  return {};
}

ZarrFiles zarr_files(const ReadZarrKey& read) {
  return with_found(read, [](const Found& found, const Reader& reader) {
    return ZarrFiles{reader.documents, found.array.folder};
  });
}

bool is_zarr_document(std::string_view key) {
  const std::string_view name = key.substr(key.rfind('/') + 1);
  return name == "zarr.json" || name == ".zgroup" || name == ".zattrs" || name == ".zarray";
}

}  // namespace impipe::io
