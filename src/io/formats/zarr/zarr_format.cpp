// Zarr's row of the table of formats. A Zarr is a folder; its bytes are a ZIP of its files, in
// which form it also is a file (.ozx). What is written is OME-Zarr.
#include "io/formats/zarr/zarr_format.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/formats/by_module.hpp"
#include "io/formats/zarr/zarr_array.hpp"
#include "io/formats/zarr/zip_archive.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/picture/pyramid.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

using Json = nlohmann::ordered_json;

// Whether a Zarr may have such a file: a document, or a chunk, "0/c/1/2" or "0.1".
bool is_zarr_key(std::string_view name) {
  return is_zarr_document(name) ||
         (!name.empty() && name.find_first_not_of("0123456789./c") == name.npos);
}

// By the name of the first file, which folders may come before.
bool sniff(std::string_view head) {
  constexpr std::size_t header_bytes = 30;
  while (head.size() > header_bytes && head.starts_with(std::string_view("PK\3\4", 4))) {
    const auto name_bytes = static_cast<std::size_t>(little_at(head, 26, 2));
    const std::string_view name = head.substr(header_bytes, name_bytes);
    if (!name.ends_with('/')) return is_zarr_key(name);
    if (!is_zarr_key(name) || little_at(head, 22, 4) != 0) return false;
    const std::size_t all = header_bytes + name_bytes + little_at(head, 28, 2);
    if (all + header_bytes >= head.size()) return true;
    head.remove_prefix(all);
  }
  return false;
}

ImageInfo header(const HeaderInput& input) {
  const ZipReader zip(input.source);
  const auto zarr = std::make_shared<const ZarrImage>(
      zarr_image([&](const std::string& key) { return zip.read(key, max_zarr_document); },
                 input.reading.axes));
  ImageInfo info = zarr->info;
  info.page = input.page.value_or(0);
  info.zarr = zarr;
  return info;
}

MetadataRead read_metadata(const MetadataInput& input) {
  const ZarrImage& zarr = *input.info.zarr;
  MetadataRead out;
  for (const std::string& name : zarr.lost) out.lose(name);
  ZarrStorage storage{.version = zarr.array.version};
  const auto along = [&](int dimension) { return static_cast<std::size_t>(dimension); };
  storage.chunk = std::max(zarr.array.chunk[along(zarr.x)], zarr.array.chunk[along(zarr.y)]);
  out.metadata.zarr = std::make_shared<const ZarrStorage>(storage);
  const MeasuredAxis &x = zarr.axes[along(zarr.x)], &y = zarr.axes[along(zarr.y)];
  if (x.scale != y.scale) {
    out.metadata.resolution = Resolution{.x = 1 / x.scale, .y = 1 / y.scale};
  }
  return out;
}

// Units of OME-Zarr are names of UDUNITS; others are lost.
void drop_unit(MeasuredAxis& axis, Lost& lost) {
  if (axis.unit.empty() || is_unit(axis.unit)) return;
  std::string name = "the unit of " + axis.name + " (" + axis.unit + ")";
  if (std::ranges::find(lost, name) == lost.end()) lost.push_back(std::move(name));
  axis.unit.clear();
}

// The axes of a plane: their units, and where its pixels lie.
struct PlaneAxes {
  MeasuredAxis y{.name = "y"}, x{.name = "x"};
};
PlaneAxes axes_of_plane(const Metadata& metadata, Lost& lost) {
  PlaneAxes out;
  Metadata followed;
  followed.resolution = metadata.resolution;
  followed.change = metadata.change;
  followed.measured = metadata.measured;
  follow_resolution(followed, lost);
  const std::vector<MeasuredAxis> measured = measured_of_result(metadata);
  const MeasuredAxis *x = axis_named(measured, "x"), *y = axis_named(measured, "y");
  if (x != nullptr && y != nullptr) {
    out = {*y, *x};
    drop_unit(out.x, lost);
    drop_unit(out.y, lost);
    return out;
  }
  x = axis_named(metadata.measured, "x");
  y = axis_named(metadata.measured, "y");
  if (followed.resolution) {
    const Resolution& r = *followed.resolution;
    const bool has_unit = r.unit != Resolution::Unit::none;
    const bool has_own = has_unit && x != nullptr && metres_of(x->unit) > 0;
    if (has_unit) out.x.unit = out.y.unit = has_own ? x->unit : "micrometer";
    const double metres = has_unit ? r.to_metre() * metres_of(out.x.unit) : 1;
    out.x.scale = 1 / (r.x * metres);
    out.y.scale = 1 / (r.y * metres);
  }
  if (x != nullptr && y != nullptr && (x->translation != 0 || y->translation != 0)) {
    lost.emplace_back("where pixels lie along x and y");
  }
  return out;
}

std::string type_text(PixelClass cls, SampleType samples, int version) {
  static constexpr std::string_view classes[] = {"bool", "uint8", "uint16", "float32"};
  const std::string name(samples == SampleType::of_class ? classes[static_cast<int>(cls)]
                                                         : name_of(samples));
  if (version == 3) return name;
  const int bytes = samples == SampleType::of_class ? bytes_of(cls) : bytes_of(samples);
  return (bytes == 1 ? "|" : "<") + std::string(1, name.front()) + std::to_string(bytes);
}

Json blosc_of(const EncodeOptions& how, int item_bytes) {
  const bool is_small = how.compression == Compression::small;
  Json out{{"cname", is_small ? "zstd" : "lz4"}, {"clevel", level_of(how.compression, 1, 5, 9)}};
  if (how.zarr_version == 3) {
    out["shuffle"] = "shuffle";
    out["typesize"] = item_bytes;
    out["blocksize"] = 0;
    return {{"name", "blosc"}, {"configuration", out}};
  }
  out["shuffle"] = 1;
  out["blocksize"] = 0;
  out["id"] = "blosc";
  return out;
}

// What is written of one image, and what its documents say.
class Documents {
 public:
  Documents(const ImageType& type, Size size, PlaneAxes axes, const EncodeOptions& how)
      : type_(type), size_(size), axes_(std::move(axes)), how_(how) {
    item_bytes_ = how.samples == SampleType::of_class ? bytes_of(type.cls) : bytes_of(how.samples);
  }

  void write(const WriteZarrKey& write) const {
    const auto add = [&](const std::string& name, const Json& document) {
      write(name, document.dump(2));
    };
    const Json attributes = root_attributes();
    const std::vector<Size> levels = zarr_levels(size_, how_);
    if (how_.zarr_version == 3) {
      add("zarr.json",
          {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", {{"ome", attributes}}}});
    } else {
      add(".zgroup", {{"zarr_format", 2}});
      add(".zattrs", attributes);
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::string folder = std::to_string(i) + "/";
      if (how_.zarr_version == 3) {
        add(folder + "zarr.json", array_of_3(levels[i]));
      } else {
        add(folder + ".zarray", array_of_2(levels[i]));
        add(folder + ".zattrs", {{"_ARRAY_DIMENSIONS", names()}});
      }
    }
  }

 private:
  bool has_channels() const { return type_.channels > 1; }
  // One value a dimension.
  Json list(const Json& channel, const Json& y, const Json& x) const {
    return has_channels() ? Json{channel, y, x} : Json{y, x};
  }
  Json names() const { return list("c", "y", "x"); }
  Json shape(Size size) const { return list(type_.channels, size.height, size.width); }
  Json chunk(Size size) const {
    return shape_of_chunk({std::min(size.width, how_.chunk), std::min(size.height, how_.chunk)});
  }
  Json shape_of_chunk(Size size) const { return list(1, size.height, size.width); }

  Json root_attributes() const {
    Json axes = Json::array();
    if (has_channels()) axes.push_back({{"name", "c"}, {"type", "channel"}});
    for (const MeasuredAxis* axis : {&axes_.y, &axes_.x}) {
      Json one{{"name", axis->name}, {"type", "space"}};
      if (!axis->unit.empty()) one["unit"] = axis->unit;
      axes.push_back(std::move(one));
    }
    Json datasets = Json::array();
    const std::size_t levels = zarr_levels(size_, how_).size();
    double by = 1;
    for (std::size_t i = 0; i < levels; ++i, by *= 2) {
      // The middle of the pixels that are one here.
      const double middle = how_.zarr_means ? (by - 1) / 2 : 0;
      const auto first = [&](const MeasuredAxis& axis) {
        return axis.translation + axis.scale * middle;
      };
      datasets.push_back(
          {{"path", std::to_string(i)},
           {"coordinateTransformations",
            {{{"type", "scale"}, {"scale", list(1.0, by * axes_.y.scale, by * axes_.x.scale)}},
             {{"type", "translation"},
              {"translation", list(0.0, first(axes_.y), first(axes_.x))}}}}});
    }
    Json multiscale{{"axes", axes}, {"datasets", datasets}};
    if (levels > 1) multiscale["type"] = how_.zarr_means ? "mean" : "nearest";
    Json out;
    if (how_.zarr_version == 3) {
      out["version"] = "0.5";
    } else {
      multiscale["version"] = "0.4";
    }
    out["multiscales"] = Json::array({std::move(multiscale)});
    if (type_.channels == 3) out["omero"] = colours();
    return out;
  }

  // By which the channels are known for those of colours.
  Json colours() const {
    Json channels = Json::array();
    for (const auto& [label, colour] :
         {std::pair{"Red", "FF0000"}, {"Green", "00FF00"}, {"Blue", "0000FF"}}) {
      const double end = type_.white != 0 ? type_.white : 1;
      channels.push_back({{"label", label},
                          {"color", colour},
                          {"active", true},
                          {"window", {{"start", 0}, {"min", 0}, {"end", end}, {"max", end}}}});
    }
    return {{"channels", channels}, {"rdefs", {{"model", "color"}}}};
  }

  Json array_of_2(Size size) const {
    return {{"zarr_format", 2},
            {"shape", shape(size)},
            {"chunks", chunk(size)},
            {"dtype", type_text(type_.cls, how_.samples, 2)},
            {"compressor", blosc_of(how_, item_bytes_)},
            {"fill_value", nullptr},
            {"order", "C"},
            {"filters", nullptr},
            {"dimension_separator", "/"}};
  }
  Json array_of_3(Size size) const {
    Json bytes{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}};
    const bool is_logical = type_.cls == PixelClass::logical;
    return {
        {"zarr_format", 3},
        {"node_type", "array"},
        {"shape", shape(size)},
        {"data_type", type_text(type_.cls, how_.samples, 3)},
        {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk(size)}}}}},
        {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
        {"fill_value", is_logical ? Json(false) : Json(0)},
        {"codecs", Json::array({std::move(bytes), blosc_of(how_, item_bytes_)})},
        {"attributes", Json::object()},
        {"dimension_names", names()}};
  }

  const ImageType type_;  // in the file
  const Size size_;
  const PlaneAxes axes_;
  const EncodeOptions& how_;
  int item_bytes_ = 1;
};

void add_all(ZipWriter& zip, const Bytes& of,
             const std::function<std::string(std::string_view)>& key) {
  const ZipReader reader{ByteSource(of)};
  for (const auto& [name, entry] : reader.entries()) {
    if (is_zarr_document(name)) continue;
    const std::int64_t begin = reader.begin_of(name, entry);
    zip.add(key(name), std::span(of).subspan(static_cast<std::size_t>(begin),
                                             static_cast<std::size_t>(entry.bytes)));
  }
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions how = zarr_options(input.original.type, input.metadata, input.options);
  how.samples = samples_for(image, input.metadata, input.options, out);
  ZipWriter zip;
  write_zarr_documents(
      {image.type, image.size(), input.metadata, how},
      [&](const std::string& key, const std::string& text) { zip.add(key, text); }, out.lost);
  add_all(zip, encode_with_options(image, input, how),
          [](std::string_view key) { return std::string(key); });
  return zip.finish();
}

// How the dimensions of a plane and the axes of pages lie in an array of all, in OME-Zarr's order.
class Layout {
 public:
  Layout(const std::vector<PageAxis>& axes, std::int64_t pages, bool has_channels) : axes_(axes) {
    std::int64_t count = 1;
    for (const PageAxis& axis : axes_) count *= axis.count;
    const auto is_known = [](const PageAxis& axis) {
      return axis.letter == 't' || axis.letter == 'c' || axis.letter == 'z';
    };
    if (count != pages) axes_ = {{'z', static_cast<int>(pages)}};
    if (const auto other = std::ranges::find_if_not(axes_, is_known); other != axes_.end()) {
      fail("a Zarr has pages along t, c and z, and its lie along ", other->letter,
           "; --axes calls those of an NPY so, -o '{stem}_{page}.zarr' names each");
    }
    const std::string own = has_channels ? "cyx" : "yx";
    for (const char letter : std::string_view("tczyx")) {
      const auto page = std::ranges::find(axes_, letter, &PageAxis::letter);
      const std::size_t at = own.find(letter);
      if (page != axes_.end() && at != own.npos) {
        fail(
            "its pages lie along c, and so do the channels of each; -o '{stem}_{c}.zarr' names "
            "each");
      }
      if (page != axes_.end())
        dimensions_.push_back({.page = static_cast<int>(page - axes_.begin())});
      if (at != own.npos) dimensions_.push_back({.own = static_cast<int>(at)});
    }
  }

  const std::vector<PageAxis>& axes() const { return axes_; }
  // A list of values a dimension of a plane becomes one of all; `of_page` gives those of axes.
  template <class OfPage>
  Json all(const Json& own, OfPage of_page) const {
    Json out = Json::array();
    for (const Dimension& dimension : dimensions_) {
      out.push_back(dimension.own >= 0
                        ? own[static_cast<std::size_t>(dimension.own)]
                        : Json(of_page(axes_[static_cast<std::size_t>(dimension.page)])));
    }
    return out;
  }
  // The key of a chunk of a page: "0/1/2" becomes "0/3/1/2".
  std::string key(std::string_view of, std::int64_t page) const {
    std::vector<std::int64_t> places(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0; page /= axes_[i].count) {
      places[i] = page % axes_[i].count;
    }
    std::vector<std::string_view> parts;
    for (std::string_view rest = of; !rest.empty();) {
      parts.push_back(rest.substr(0, rest.find('/')));
      rest.remove_prefix(std::min(rest.size(), parts.back().size() + 1));
    }
    const std::size_t own = parts.size() - (dimensions_.size() - axes_.size());
    std::string out;
    for (std::size_t i = 0; i < own; ++i) out += std::string(parts[i]) + "/";
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const Dimension& dimension = dimensions_[i];
      if (i > 0) out += '/';
      out += dimension.own >= 0 ? std::string(parts[own + static_cast<std::size_t>(dimension.own)])
                                : std::to_string(places[static_cast<std::size_t>(dimension.page)]);
    }
    return out;
  }

 private:
  struct Dimension {
    int own = -1, page = -1;
  };
  std::vector<PageAxis> axes_;
  std::vector<Dimension> dimensions_;
};

// The documents of one page as those of all.
class Joined {
 public:
  Joined(const Layout& layout, std::span<const MeasuredAxis> measured)
      : layout_(layout), measured_(measured) {}

  Json document(Json of) const {
    const auto spread = [&](Json& list, auto of_page) { list = layout_.all(list, of_page); };
    const auto count = [](const PageAxis& axis) { return axis.count; };
    const auto one = [](const PageAxis&) { return 1; };
    const auto name = [](const PageAxis& axis) { return std::string(1, axis.letter); };
    if (of.contains("shape")) spread(of["shape"], count);
    if (of.contains("chunks")) spread(of["chunks"], one);
    if (of.contains("chunk_grid")) spread(of["chunk_grid"]["configuration"]["chunk_shape"], one);
    if (of.contains("dimension_names")) spread(of["dimension_names"], name);
    if (of.contains("_ARRAY_DIMENSIONS")) spread(of["_ARRAY_DIMENSIONS"], name);
    if (of.contains("multiscales")) set_pyramid(of["multiscales"][0]);
    if (of.contains("node_type") && of["attributes"].contains("ome")) {
      set_pyramid(of["attributes"]["ome"]["multiscales"][0]);
    }
    return of;
  }

 private:
  void set_pyramid(Json& pyramid) const {
    const auto known = [&](const PageAxis& axis) {
      const MeasuredAxis* found = axis_named(measured_, std::string_view(&axis.letter, 1));
      return found != nullptr ? *found : MeasuredAxis{};
    };
    pyramid["axes"] = layout_.all(pyramid["axes"], [&](const PageAxis& axis) {
      Json out{{"name", std::string(1, axis.letter)},
               {"type", axis.letter == 't'   ? "time"
                        : axis.letter == 'c' ? "channel"
                                             : "space"}};
      if (const std::string unit = known(axis).unit; !unit.empty()) out["unit"] = unit;
      return out;
    });
    for (Json& dataset : pyramid["datasets"]) {
      Json& transformations = dataset["coordinateTransformations"];
      transformations[0]["scale"] = layout_.all(transformations[0]["scale"],
                                                [&](const PageAxis& a) { return known(a).scale; });
      transformations[1]["translation"] =
          layout_.all(transformations[1]["translation"],
                      [&](const PageAxis& a) { return known(a).translation; });
    }
  }

  const Layout& layout_;
  std::span<const MeasuredAxis> measured_;
};

Bytes write_metadata(Bytes file, const Metadata& metadata, const PictureOfFile&, Lost& lost) {
  name_losses(metadata, false, lost, true);
  return file;
}

}  // namespace

EncodeOptions zarr_options(const ImageType& original, const Metadata& metadata,
                           const EncodeOptions& options) {
  EncodeOptions how = options;
  const ZarrStorage* before = metadata.zarr.get();
  if (how.zarr_version == 0) how.zarr_version = before != nullptr ? before->version : 2;
  if (how.chunk == 0) how.chunk = before != nullptr ? before->chunk : default_chunk;
  how.zarr_means = original.white != 0;
  return how;
}

void write_zarr_documents(const ZarrResult& result, const WriteZarrKey& write,
                          std::vector<std::string>& lost) {
  Documents(result.type, result.size, axes_of_plane(result.metadata, lost), result.options)
      .write(write);
}

Bytes join_zarr_pages(std::span<const Bytes> pages, const FileAxes& file, Lost& lost) {
  const ZipReader first{ByteSource(pages.front())};
  const auto reader_of = [](const ZipReader& zip) {
    return [&zip](const std::string& key) { return zip.read(key, max_zarr_document); };
  };
  const ZarrImage image = zarr_image(reader_of(first), "");
  const Layout layout(file.pages, std::ssize(pages), image.axes.size() == 3);
  std::vector<MeasuredAxis> measured = file.measured;
  for (MeasuredAxis& axis : measured) {
    const bool is_of_pages = std::ranges::find(layout.axes(), axis.name.front(),
                                               &PageAxis::letter) != layout.axes().end();
    if (is_of_pages) drop_unit(axis, lost);
  }
  const Joined joined(layout, measured);
  ZipWriter zip;
  for (const char* root : {"zarr.json", ".zgroup", ".zattrs"}) {
    const auto text = first.read(root, max_zarr_document);
    if (text) zip.add(root, joined.document(Json::parse(*text)).dump(2));
  }
  for (const auto& [name, entry] : first.entries()) {
    if (!is_zarr_document(name) || name.find('/') == name.npos) continue;
    zip.add(name, joined.document(Json::parse(*first.read(name, max_zarr_document))).dump(2));
  }
  for (std::size_t page = 0; page < pages.size(); ++page) {
    const ZipReader of_page{ByteSource(pages[page])};
    const ZarrImage other = zarr_image(reader_of(of_page), "");
    if (other.info.type != image.info.type || other.info.samples != image.info.samples ||
        other.array.shape != image.array.shape) {
      fail("a Zarr holds pages of one size and type, and the result of page ", page + 1,
           " is another; -o '{stem}_{page}.zarr' names each");
    }
    add_all(zip, pages[page],
            [&](std::string_view key) { return layout.key(key, static_cast<std::int64_t>(page)); });
  }
  return zip.finish();
}

const FormatTraits zarr_format{
    .format = Format::zarr,
    .name = "Zarr",
    .extensions = "zarr ozx",
    .module = "impipe_codec_zarr",
    .library = "c-blosc, libzstd",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::floats, Can::any_channels, Can::numbers,
            Can::write_pages},
    .pages = Pages::alike,
    .sniff = sniff,
    .header = header,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata = read_metadata,
    .with_metadata = write_metadata,
};

}  // namespace impipe::io
