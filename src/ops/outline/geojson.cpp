#include "ops/outline/geojson.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.hpp"
#include "core/text.hpp"

namespace impipe::ops {
namespace {

// A value of JSON. Of texts escapes stay as they are: those that are read have none.
struct Json {
  enum class Kind { number, text, list, object, other } kind = Kind::other;
  double number = 0;
  std::string_view text;
  std::vector<Json> list;
  std::map<std::string_view, Json> members;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Json document() {
    Json out = value(0);
    skip_blanks();
    if (at_ < text_.size()) fail("something follows the JSON value");
    return out;
  }

 private:
  static constexpr int deepest = 100;

  [[noreturn]] void fail(const std::string& why) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Error(name_ + ", line " + std::to_string(line) + ": " + why);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail(std::string("no JSON: a '") + c + "' is missing");
  }

  Json value(int depth) {
    if (depth > deepest) fail("the JSON is nested too deeply");
    Json out;
    if (take('{')) {
      object(out, depth);
    } else if (take('[')) {
      out.kind = Json::Kind::list;
      if (take(']')) return out;
      do out.list.push_back(value(depth + 1));
      while (take(','));
      need(']');
    } else if (take('"')) {
      out.kind = Json::Kind::text;
      out.text = string();
    } else {
      word(out);
    }
    return out;
  }
  void object(Json& out, int depth) {
    out.kind = Json::Kind::object;
    if (take('}')) return;
    do {
      need('"');
      const std::string_view key = string();
      need(':');
      out.members[key] = value(depth + 1);
    } while (take(','));
    need('}');
  }
  std::string_view string() {
    const std::size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') return text_.substr(begin, at_++ - begin);
      if (text_[at_] == '\\') ++at_;
    }
    at_ = text_.size();
    fail("no JSON: a text does not end");
  }
  void word(Json& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n,:]}").find(text_[at_]) == text_.npos) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "true" || word == "false" || word == "null") return;
    const auto number = is_number(word) ? number_value(word) : std::nullopt;
    if (!number) fail("no JSON: '" + std::string(word.substr(0, 40)) + "' is no value");
    out.kind = Json::Kind::number;
    out.number = *number;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  void read(const Json& json) {
    const std::string_view type = member(json, "type").text;
    if (type == "FeatureCollection") {
      for (const Json& feature : member(json, "features").list) read(feature);
    } else if (type == "Feature") {
      const Json& geometry = member(json, "geometry");
      if (geometry.kind == Json::Kind::object) read(geometry);  // null: it has none
    } else if (type == "GeometryCollection") {
      for (const Json& geometry : member(json, "geometries").list) read(geometry);
    } else if (type == "MultiPolygon") {
      for (const Json& polygon : member(json, "coordinates").list) add(polygon);
    } else if (type == "Polygon") {
      add(member(json, "coordinates"));
    } else {
      fail("it holds a '" + std::string(type.substr(0, 40)) +
           "'; areas are those of Polygon and MultiPolygon");
    }
  }
  std::vector<Polygon> polygons;

 private:
  [[noreturn]] void fail(const std::string& why) const { throw Error(name_ + ": " + why); }

  const Json& member(const Json& json, std::string_view key) const {
    const auto found = json.members.find(key);
    if (found == json.members.end()) fail("no GeoJSON: '" + std::string(key) + "' is missing");
    return found->second;
  }
  void add(const Json& polygon) {
    Polygon& to = polygons.emplace_back();
    for (const Json& ring : polygon.list) {
      Ring& points = to.emplace_back();
      for (const Json& point : ring.list) {
        const std::vector<Json>& place = point.list;
        if (place.size() < 2 || place[0].kind != Json::Kind::number ||
            place[1].kind != Json::Kind::number) {
          fail("no GeoJSON: a point has no two numbers");
        }
        points.emplace_back(place[0].number, place[1].number);
      }
    }
  }

  const std::string& name_;
};

}  // namespace

std::vector<Polygon> read_polygons(std::string_view text, const std::string& name) {
  const Json json = Parser(text, name).document();
  Reader reader(name);
  reader.read(json);
  return std::move(reader.polygons);
}

}  // namespace impipe::ops
