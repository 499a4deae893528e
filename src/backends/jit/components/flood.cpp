// Meyer's flooding as text. Its result follows from the order in which pixels are taken: where
// groups may wait for one another, all of them take those of one height together and keep the order
// by numbers (docs/decisions/0034); elsewhere one work-item takes them, and pictures with more
// pixels than that is good for are left to the CPU.
#include <algorithm>

#include "backends/jit/components/label.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

constexpr std::int64_t max_alone = 1 << 16;  // pixels of one work-item
// Places in the order, of pixels with and without labels, stay below the highest bit.
constexpr std::int64_t max_pixels = std::int64_t{1} << 30;
// Marks of places are bytes; they are counted in these many, and in as many of those.
constexpr int counted = 256;

// A round of all groups takes 30 to 50 us, in which a processor does some 500 pixels. Small images
// may take a round a pixel.
double most_rounds(Size size) {
  constexpr std::int64_t pixels_of_round = 512;
  const std::int64_t pixels = size.pixels();
  return static_cast<double>(pixels <= max_alone ? pixels : pixels / pixels_of_round);
}

class FloodWriter : LabelWriterBase {
 public:
  FloodWriter(Builder& builder, int n) : LabelWriterBase(builder, n) {}

  void write() {
    const bool waits = builder_.tuning().waiting_groups > 1;
    builder_.body_once("flood_around", filled(part(kernels::flood, "around")));
    builder_.body_once("flood_functions",
                       filled(part(kernels::flood, waits ? "functions" : "heap")));
    const ShapeFunction rows = launch_tiles(image_, counted, 1, counted);
    if (!waits) {
      kernel("begin_alone", "_begin", rows);
      return kernel("alone", "_flood", groups(1));
    }
    kernel("begin", "_begin", rows);
    kernel("border", "_border", rows);
    // Two groups a processor: they meet several times a round.
    const Tuning& tuning = builder_.tuning();
    kernel("flood", "_flood", groups(std::min(tuning.waiting_groups, 2 * tuning.processors)));
  }

 private:
  void kernel(const char* which, const char* suffix, const ShapeFunction& shape) {
    builder_.kernel(name_ + suffix, counted, words_.filled(part(kernels::flood, which)), shape);
  }
  static ShapeFunction groups(int count) { return launch_groups(count, counted); }

  static std::function<std::string()> text(const std::string& value) {
    return [value] { return value; };
  }

  std::string rounds() {
    return builder_.parameter(ParameterType::float32, name_ + "_rounds",
                              [heights = image_](const LaunchContext& at, int) {
                                return most_rounds(at.size_of(heights));
                              });
  }

  // `bytes` of each pixel, of images of no more pixels than `most`.
  std::function<std::string()> pixels(const char* suffix, const char* type, std::int64_t bytes,
                                      std::int64_t most) {
    return [=, this] {
      return builder_.scratch(name_ + suffix, type, [=, heights = image_](const LaunchContext& at) {
        const Size size = at.size_of(heights);
        if (size.pixels() > most) {
          throw OutOfDeviceMemory("watershed: one pixel follows from another, and " +
                                  to_string(size) + " has many");
        }
        return bytes * size.pixels();
      });
    };
  }

  // `bytes` for so many places each, and for some more; zeros.
  std::function<std::string()> counters(const char* suffix, std::int64_t places,
                                        std::int64_t bytes) {
    return [=, this] {
      return builder_.scratch(
          name_ + suffix, "uint",
          [=, heights = image_](const LaunchContext& at) {
            return bytes * (2 * at.size_of(heights).pixels() / places + counted);
          },
          true);
    };
  }

  const Substitutions words_ = with_common({
      {"items", text(std::to_string(counted))},
      {"corners", text(label_.connectivity == 8 ? "1" : "0")},
      {"rounds", [this] { return rounds(); }},
      {"label", [this] { return builder_.value(node_.images[1], "x", "y"); }},
      {"height_key",
       [this] {
         const std::string height = builder_.value(image_, "x", "y");
         const bool single = builder_.cls(image_) == PixelClass::single;
         return single ? "flood_key(" + height + ")" : "(uint)" + height;
       }},
      {"places", pixels("_places", "uint", 4, max_pixels)},
      {"order", pixels("_order", "uint", 4, max_pixels)},
      {"finders", pixels("_finders", "uint", 4, max_pixels)},
      {"lines", pixels("_lines", "uint", 4, max_pixels)},
      {"waiting", pixels("_waiting", "uint", 8, max_pixels)},
      {"marks", counters("_marks", 1, 1)},
      {"counts", counters("_counts", counted, 4)},
      {"firsts", counters("_firsts", counted, 4)},
      {"sums", counters("_sums", std::int64_t{counted} * counted, 4)},
      {"control", counters("_control", 2 * max_pixels, 4)},
      {"queued", pixels("_queued", "uchar", 1, max_alone)},
      {"keys", pixels("_keys", "unsigned long", 8, max_alone)},
      {"pixels", pixels("_pixels", "uint", 4, max_alone)},
  });
};

}  // namespace

void write_flood(Builder& builder, int n) { FloodWriter(builder, n).write(); }

}  // namespace impipe::jit
