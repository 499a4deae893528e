// Objects of an image of labels as text. First sums over pixels, by tiles; then memory for the rows
// of each object, and their ends. Outlines are cut where they pass a grid of every 32nd row and
// column, each part is walked by a work-item, and what the parts count is added up where a forest
// says that their outline is an outer one; outlines between the grid's lines are walked as a whole.
// Where walks begin is listed before. At last hulls, by eight work-items an object, or by a group a
// tall one.
#include "backends/jit/components/label.hpp"

#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/backend.hpp"
#include "core/object_table.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128, record_words = 28, rows_of_tile = 32;
constexpr int tallest = 64;  // rows of an object whose hull few items make

class ObjectsWriter {
 public:
  ObjectsWriter(Builder& builder, int n)
      : builder_(builder),
        self_{false, n},
        labels_(builder.node(n).images[0]),
        has_codes_(builder.node(n).images.size() > 1),
        name_(Builder::name(self_)) {}

  void run() {
    builder_.body_once("label_functions", label_functions());
    builder_.body_once("object_functions", filled(part(kernels::objects, "functions")));
    for (const char* function : {"label_at", "numbered", "object"}) {
      builder_.function(name_ + "_" + function, words_.filled(part(kernels::objects, function)));
    }
    builder_.body_once("object_hull", filled(part(kernels::objects, "hull")));
    builder_.body_once("object_hulls", words_.filled(part(kernels::objects, "hull_stacks")));
    add("sums", [labels = labels_](const LaunchContext& at) {
      const Size size = at.size_of(labels);
      return LaunchShape{{size.width / items + 1, size.height / rows_of_tile + 1, 1},
                         {items, 1, 1}};
    });
    add("rows", each([n = self_.index](const LaunchContext& at) { return count_of(at, n); }));
    add("ends", launch_tiles(labels_, items, 8, items));
    // How many pixels and nodes a list has only the device knows.
    const std::int64_t at_once = std::int64_t{builder_.tuning().groups_at_once()} * items;
    add("pieces", each([labels = labels_, at_once](const LaunchContext& at) {
          return std::min(at.size_of(labels).pixels(), at_once);
        }));
    add("nodes",
        each([labels = labels_](const LaunchContext& at) { return places(at.size_of(labels)); }));
    for (const char* kernel : {"walks", "outlines", "lengths"}) {
      add(kernel, each([labels = labels_, at_once](const LaunchContext& at) {
            return std::min(places(at.size_of(labels)), at_once);
          }));
    }
    add("numbers",
        each([n = self_.index](const LaunchContext& at) { return count_of(at, n) + 1; }));
    add_hulls("hulls", 8,
              each([n = self_.index](const LaunchContext& at) { return count_of(at, n) * 8; }));
    add_hulls("tall_hulls", items,
              each([labels = labels_, n = self_.index](const LaunchContext& at) {
                return tall(at, labels, n) * items;
              }));
  }

 private:
  static std::int64_t count_of(const LaunchContext& at, int n) {
    const Node& now = at.node(n);
    return now.values / object_record::length(now.images.size() > 1) - 1;
  }
  // Pixels of the grid, those where its lines cross twice.
  static std::int64_t places(Size size) {
    return (size.height + 31) / 32 * size.width + (size.width + 31) / 32 * size.height;
  }
  // Rows of all objects together that there is memory for. Those of connected ones are no more than
  // their pixels, which seldom are all of the image's.
  static std::int64_t fits(const LaunchContext& at, const Operand& labels, int n) {
    constexpr std::int64_t always = 1 << 20;
    const Size size = at.size_of(labels);
    return std::max(size.pixels() / 2 + 1, std::min(always, count_of(at, n) * size.height));
  }

  // Objects of more than `tallest` rows, at most.
  static std::int64_t tall(const LaunchContext& at, const Operand& labels, int n) {
    return std::min(count_of(at, n), fits(at, labels, n) / tallest + 1);
  }

  static ShapeFunction each(LaunchNumber count) { return launch_items(std::move(count), items); }

  void add(const char* kernel, ShapeFunction shape) {
    builder_.kernel(name_ + "_" + kernel, items, words_.filled(part(kernels::objects, kernel)),
                    std::move(shape));
  }

  // By so many items an object.
  void add_hulls(const char* kernel, int lanes, ShapeFunction shape) {
    const std::string text =
        words_.filled(part(kernels::objects, "hulls"),
                      {{"lanes", std::to_string(lanes)}, {"is_tall", lanes == items ? "1" : "0"}});
    builder_.kernel(name_ + "_" + kernel, items, text, std::move(shape));
  }

  int id_bytes() const { return bytes_of(builder_.cls(labels_)); }

  // `each` words for each node of the grid.
  std::string of_nodes(const std::string& suffix, int each) {
    return builder_.scratch(name_ + suffix, "uint",
                            [labels = labels_, each](const LaunchContext& at) {
                              const Size size = at.size_of(labels);
                              if (size.pixels() >= std::int64_t{1} << 30) {
                                throw OutOfDeviceMemory("objects: " + to_string(size) +
                                                        " is too large for this device");
                              }
                              return std::int64_t{4} * each * 4 * places(size);
                            });
  }
  std::string of_rows(const std::string& suffix, int each) {
    return builder_.scratch(name_ + suffix, "uint",
                            [labels = labels_, n = self_.index, each](const LaunchContext& at) {
                              return std::int64_t{4} * each * fits(at, labels, n);
                            });
  }

  Builder& builder_;
  Operand self_, labels_;
  bool has_codes_;
  std::string name_;
  const Substitutions words_{{
      {"unroll", [this] { return builder_.unroll(); }},
      {"items", [] { return std::to_string(items); }},
      {"width", [this] { return builder_.width(labels_); }},
      {"height", [this] { return builder_.height(labels_); }},
      {"object", [this] { return name_ + "_object"; }},
      {"label_at", [this] { return name_ + "_label_at"; }},
      {"numbered", [this] { return name_ + "_numbered"; }},
      {"number", [this] { return std::string(id_bytes() < 4 ? "uint" : "float"); }},
      {"label", [this] { return builder_.value(labels_, "x", "y"); }},
      {"code",
       [this] {
         return "(uint)" + builder_.value(builder_.node(self_.index).images[1], "x", "y");
       }},
      // With labels as they are in the image, in the 32 KB that every device has.
      {"id",
       [this] { return id_bytes() < 4 ? type_of(builder_.cls(labels_)) : std::string("uint"); }},
      {"slots", [this] { return std::string(id_bytes() == 4 && has_codes_ ? "128" : "256"); }},
      {"whole",
       [this] { return std::string(builder_.cls(labels_) != PixelClass::single ? "1" : "0"); }},
      {"has_codes", [this] { return std::string(has_codes_ ? "1" : "0"); }},
      {"size", [this] { return std::to_string(object_record::length(has_codes_)); }},
      {"count",
       [this] {
         return builder_.integer(name_ + "_count",
                                 [n = self_.index](const auto& at) { return count_of(at, n); });
       }},
      {"fits",
       [this] {
         return "(uint)" + builder_.integer(name_ + "_fits",
                                            [labels = labels_, n = self_.index](const auto& at) {
                                              return fits(at, labels, n);
                                            });
       }},
      {"gaps",
       [this] {
         return builder_.integer(
             name_ + "_gaps", [labels = labels_, n = self_.index](const auto& at) {
               constexpr std::int64_t most = 0xffffffff;
               return count_of(at, n) * at.size_of(labels).height <= most ? 1 : 0;
             });
       }},
      {"grid_rows",
       [this] {
         return builder_.integer(name_ + "_grid_rows", [labels = labels_](const auto& at) {
           return (at.size_of(labels).height + 31) / 32;
         });
       }},
      {"records",
       [this] {
         return builder_.scratch(
             name_ + "_records", "uint",
             [n = self_.index](const LaunchContext& at) {
               return 4 * record_words * (count_of(at, n) + 1);
             },
             true);
       }},
      // Each pixel may be an object.
      {"firsts",
       [this] {
         return builder_.scratch(name_ + "_firsts", "uint",
                                 [labels = labels_](const LaunchContext& at) {
                                   return 4 * at.size_of(labels).pixels();
                                 });
       }},
      {"list", [this] { return of_nodes("_list", 1); }},
      {"forest", [this] { return of_nodes("_forest", 1); }},
      {"least", [this] { return of_nodes("_least", 1); }},
      {"keys", [this] { return of_nodes("_keys", 1); }},
      {"counts", [this] { return of_nodes("_counts", 3); }},
      {"ends", [this] { return of_rows("_ends", 2); }},
      {"stack", [this] { return of_rows("_stack", 6); }},
      {"tallest", [] { return std::to_string(tallest); }},
      {"tall",
       [this] {
         return builder_.scratch(name_ + "_tall", "uint",
                                 [labels = labels_, n = self_.index](const LaunchContext& at) {
                                   return 4 * tall(at, labels, n);
                                 });
       }},
      {"out", [this] { return builder_.measure(self_); }},
  }};
};

}  // namespace

void write_objects(Builder& builder, int n) { ObjectsWriter(builder, n).run(); }

}  // namespace impipe::jit
