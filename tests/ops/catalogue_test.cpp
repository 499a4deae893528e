// Walks over the catalogue: every operator is described fully, works on every class it is defined
// for at awkward sizes and at the ends of its parameters' ranges, and fuses without changing a bit.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/operator.hpp"
#include "core/text.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/operator_uses.hpp"
#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using test::operands_for;
using test::uses_of;

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};

HostImage with_alpha(HostImage image) {
  image.type.alpha = true;
  const HostImage alpha = test::test_image(image.type.cls, 1, image.size(), 77);
  image.alpha = alpha.planes.front();
  return image;
}

// The same image with other bytes between its rows.
HostImage padded(const HostImage& image, int byte) {
  HostImage out(image.type, image.size());
  out.type = image.type;
  const auto fill = [&](Plane& to, const Plane& from) {
    for (std::int64_t y = 0; y < from.size().height; ++y) {
      std::memcpy(to.row(y), from.row(y), static_cast<size_t>(from.row_bytes()));
      if (y + 1 < from.size().height) {
        std::memset(to.row(y) + from.row_bytes(), byte,
                    static_cast<size_t>(to.stride() - from.row_bytes()));
      }
    }
  };
  for (size_t c = 0; c < out.planes.size(); ++c) fill(out.planes[c], image.planes[c]);
  if (image.type.alpha) {
    out.alpha = Plane(image.alpha.cls(), image.size());
    fill(out.alpha, image.alpha);
  }
  return out;
}

// What an operator may say of some of the images: a window without the image, colour in a channel.
bool refuses_the_image(const Error& error) {
  const std::string_view said = error.what();
  return said.find("nothing is left of it") != std::string_view::npos ||
         said.find("cat: every image becomes one channel") != std::string_view::npos ||
         said.find("an image of indices has one channel") != std::string_view::npos ||
         said.find("watershed: the image has NaN") != std::string_view::npos ||
         said.find("a logical image takes salt only") != std::string_view::npos ||
         said.find("a logical image is multiplied by an image only") != std::string_view::npos;
}

// One use on one image, alone and between neighbours that fuse with it.
void check_use(const std::string& stage, const HostImage& image) {
  const auto operands = operands_for(image);
  const std::string where = "`" + stage + "` on " + test::describe(image);
  for (const std::string& text : {stage, "imcomplement | " + stage + " | map 'x + 1'"}) {
    test::Ran fused;
    try {
      fused = test::run(text, padded(image, 0x00), operands);
    } catch (const Error& error) {
      EXPECT_TRUE(refuses_the_image(error)) << where << ": " << error.what();
      continue;
    }
    const test::Ran apart = test::run(text, padded(image, 0xFF), operands, {.fuse = false});
    EXPECT_LE(fused.steps, apart.steps) << where;
    ASSERT_EQ(fused.columns.size(), apart.columns.size()) << where;
    if (!fused.columns.empty()) {
      EXPECT_EQ(0, std::memcmp(fused.columns.data(), apart.columns.data(),
                               fused.columns.size() * sizeof(double)))
          << where;
    }
    EXPECT_EQ(fused.measurement.size(), apart.measurement.size()) << where;
    if (fused.image.empty()) {
      EXPECT_TRUE(apart.image.empty()) << where;
      EXPECT_FALSE(fused.measurement.empty()) << where;
      continue;
    }
    EXPECT_EQ(test::difference(fused.image, apart.image), "") << where << " in `" << text << "`";
    if (fused.image.type.alpha) {
      EXPECT_EQ(fused.image.alpha.size(), fused.image.size()) << where;
    }
  }
}

TEST(Catalogue, EveryOperatorIsDescribedFully) {
  const std::vector<std::string_view> categories{"point",     "colour", "geometry",   "filter",
                                                 "edge",      "order",  "morphology", "statistics",
                                                 "transform", "source", "pages",      "volume"};
  for (const Operator& op : catalogue()) {
    EXPECT_TRUE(is_name(op.name)) << op.name;
    EXPECT_NE(std::find(categories.begin(), categories.end(), op.category), categories.end())
        << op.name << ": " << op.category;
    for (const std::string_view text : {op.help, op.details, op.example, op.accuracy, op.matlab}) {
      EXPECT_FALSE(text.empty()) << op.name;
    }
    EXPECT_NE(op.not_finite.rule, NotFinite::Rule::unsaid) << op.name << ": NaN and Inf";
    EXPECT_EQ(text_of(op.not_finite).empty(), op.not_finite.rule == NotFinite::Rule::none)
        << op.name;
    EXPECT_EQ(op.help.find('\n'), std::string_view::npos) << op.name;
    // A reduction may have what it takes of each image made first.
    EXPECT_EQ((op.lower != nullptr && op.reduction == nullptr) + (op.make != nullptr) +
                  (op.reduction != nullptr),
              1)
        << op.name;
    EXPECT_EQ((op.describe == nullptr), (op.make == nullptr)) << op.name;
    for (const Parameter& p : op.parameters) {
      const std::string what = std::string(op.name) + " " + std::string(p.name);
      EXPECT_TRUE(is_name(p.name)) << what;
      EXPECT_FALSE(p.help.empty()) << what;
      EXPECT_FALSE(p.required && !p.fallback.empty()) << what;
      EXPECT_TRUE(p.numbers.max_count > 0 || !p.words.empty() || p.takes != Takes::nothing) << what;
      EXPECT_LE(p.numbers.low, p.numbers.high) << what;
    }
  }
}

// The files that examples name.
class ExampleFiles {
 public:
  ExampleFiles() {
    const std::filesystem::path data = IMPIPE_TEST_DATA;
    std::filesystem::create_directory(folder_);
    std::filesystem::copy_file(data / "colour/config.ocio", folder_ / "config.ocio",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder_ / "look.cube")
        << "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";
    std::filesystem::current_path(folder_);
  }
  ~ExampleFiles() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("examples-" + std::to_string(getpid()));
};

TEST(Catalogue, EveryExampleRuns) {
  const ExampleFiles files;
  const HostImage image = test::test_image(PixelClass::uint8, 3, {40, 30}, 3);
  const auto table = test::test_image(PixelClass::uint8, 1, {256, 1}, 4);
  for (const Operator& op : catalogue()) {
    const std::string text(op.example);
    EXPECT_NE(text.find(op.name), std::string::npos) << op.name << ": " << text;
    try {
      if (pipeline::bind(pipeline::parse(text)).has_source()) {
        test::run(text);
      } else {
        test::run(text, image, {{"curve", table}});
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Catalogue, EveryPlanIsExplained) {
  for (const Operator& op : catalogue()) {
    if (op.lower == nullptr || op.reduction != nullptr) continue;
    bool has_table = false;
    for (const std::string& stage : *uses_of(op)) {
      const pipeline::Pipeline used =
          pipeline::bind(pipeline::parse(std::string(op.name) + " " + stage));
      std::map<std::string, ImageType> operands;
      for (const std::string& name : used.operands) operands[name] = {};
      ImageType type{.channels = op.colour ? 3 : 1};
      if (!op.classes.uint8) type = {.cls = PixelClass::single, .channels = 3, .white = 1};
      const Plan plan = pipeline::lower(used, type, operands);
      const std::string text = explain(used, pipeline::fuse(plan), pipeline::without_unread(plan));
      EXPECT_NE(text.find("\nsteps:\n"), std::string::npos) << op.name << " " << stage;
      has_table |= !plan.writes_image &&
                   std::ranges::any_of(plan.measurements, [](const PlanMeasurement& one) {
                     return one.objects.has_value();
                   });
    }
    EXPECT_EQ(has_table, op.table) << op.name;
  }
}

TEST(Catalogue, EveryOperatorOnEveryClassAndSize) {
  const Size sizes[] = {{1, 1}, {1, 17}, {17, 1}, {31, 17}};
  std::uint64_t seed = 0;
  for (const Operator& op : catalogue()) {
    if (op.lower == nullptr || op.reduction != nullptr) continue;
    const auto* list = uses_of(op);
    ASSERT_NE(list, nullptr) << op.name << " has no row in the table of this test";
    for (const std::string& arguments : *list) {
      const std::string stage = std::string(op.name) + (arguments.empty() ? "" : " " + arguments);
      for (const PixelClass cls : classes) {
        for (const int channels : {1, 3}) {
          if (op.name == "ifft2" && channels == 3) continue;  // it takes pairs of channels
          for (const Size size : sizes) {
            const HostImage image = with_alpha(test::test_image(cls, channels, size, ++seed));
            if (op.colour && channels == 1) {
              const std::string error = test::error_of(stage, image, operands_for(image));
              EXPECT_NE(
                  error.find(op.classes.has(cls) ? "it takes a colour image, and this one is gray"
                                                 : "it is not defined for a "),
                  std::string::npos)
                  << stage << ": " << error;
            } else if (op.classes.has(cls)) {
              check_use(stage, image);
            } else if (size == sizes[0]) {
              const std::string error = test::error_of(stage, image, operands_for(image));
              EXPECT_NE(error.find(std::string(op.name) + ": it is not defined for a " +
                                   std::string(name_of(cls)) + " image"),
                        std::string::npos)
                  << stage << ": " << error;
            }
          }
        }
      }
    }
    const std::string first =
        std::string(op.name) + (list->front().empty() ? "" : " " + list->front());
    if (op.classes.uint8) {
      const int channels = op.colour ? 3 : 1;
      check_use(first, test::test_image(PixelClass::uint8, channels, {640, 480}, ++seed));
    }
  }
}

// Values, white and NaN of single images beyond what a file usually holds.
TEST(Catalogue, SpecialValuesAreTheSameFused) {
  for (const Operator& op : catalogue()) {
    if (op.lower == nullptr || op.reduction != nullptr || !op.classes.single) continue;
    if (op.name == "ordfilt2" || op.name == "medfilt2") continue;  // NaN has no place in an order
    for (const std::string& arguments : *uses_of(op)) {
      check_use(std::string(op.name) + (arguments.empty() ? "" : " " + arguments),
                test::test_image_with_specials(op.colour ? 3 : 1, {31, 17}, 12));
    }
  }
}

// `name=value` for both ends of each range, with what else the operator then needs.
TEST(Catalogue, BothEndsOfEveryRange) {
  const std::map<std::string, std::string> with{{"edge sigma", "log"},
                                                {"imadjust tol", ""},
                                                {"imbinarize sensitivity", "adaptive window=3"},
                                                {"imbinarize window", "adaptive"},
                                                {"constant value", ""},
                                                {"bwareaopen conn", "3"},
                                                {"imreconstruct conn", ":b"},
                                                {"ordfilt2 nth", "square,3"},
                                                {"stencil radius", "'x'"},
                                                {"reduce init", "'max(acc, x)'"},
                                                {"histogram bins", "'x'"},
                                                {"fspecial size", "gaussian"},
                                                {"fspecial sigma", "log"},
                                                {"fspecial radius", "disk"},
                                                {"fspecial len", "motion theta=30"},
                                                {"fspecial alpha", "unsharp"},
                                                {"noise size", ""},
                                                {"ssim radius", ":b"},
                                                {"imhistmatch bins", ":b"},
                                                {"imimposemin conn", ":gray"},
                                                {"imhmax conn", "3"},
                                                {"imhmin conn", "3"},
                                                {"imextendedmax conn", "3"},
                                                {"imextendedmin conn", "3"},
                                                {"bwselect conn", "columns=1 rows=1"},
                                                {"bwareafilt conn", "1"},
                                                {"bwmorph n", "thin"},
                                                {"roipoly origin", "[1,1; 9,2; 5,8]"},
                                                {"poly2mask size", "[1,1; 9,2; 5,8]"},
                                                {"poly2mask origin", "[1,1; 9,2; 5,8] size=9"},
                                                {"imfindcircles n", "3"},
                                                {"imfindcircles threshold", "3"},
                                                {"imfindcircles distance", "3"},
                                                {"imfindcircles origin", "3"},
                                                {"imblend alpha", ":b"},
                                                {"regionprops spacing", "Area"},
                                                {"imoverlay alpha", ":b"},
                                                {"imoverlay color", ":b"},
                                                {"adapthisteq bins", "tiles=2,3"},
                                                {"stack kappa", "clip"},
                                                {"stack iterations", "clip"},
                                                {"temporal n", "mean"},
                                                {"block size", "mean"},
                                                {"freqfilt order", "butterworth cutoff=0.1"},
                                                {"deconvwnr nsr", "[1]"},
                                                {"deconvlucy n", "[1]"},
                                                {"deconvlucy damping", "[1]"},
                                                {"imregcorr subpixel", ":gray"},
                                                {"reduce boundary", "'acc + x' window=3"}};
  // Images of terabytes, a window without the image, or another image is needed.
  const std::set<std::string> left_out{"imcrop rect",      "imcrop size",
                                       "impad by",         "imresize scale",
                                       "imresize fit",     "imresize size",
                                       "imwarp size",      "iradon size",
                                       "jointhist bins",   "padarray by",
                                       "channel k",        "adapthisteq tiles",
                                       "bwselect columns", "bwselect rows",
                                       "imnoise mean",     "imnoise variance",
                                       "imnoise density",  "imadjust in",
                                       "imadjust out",     "imcrop origin",
                                       "edge thresh",      "medfilt3 size",
                                       "rgb2ind n",        "imblend at",
                                       "imblend place",    "regionprops percentiles",
                                       "freqfilt cutoff",  "reduce window"};
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 5);
  // Canny's two thresholds are at most 1; one goes with the others.
  for (const std::string text : {"canny thresh=0,0", "canny thresh=1,1", "sobel thresh=0",
                                 "sobel thresh=1000000", "log thresh=1000000"}) {
    EXPECT_NO_THROW(test::run("edge " + text, image, operands_for(image))) << text;
  }
  for (const Operator& op : catalogue()) {
    for (const Parameter& p : op.parameters) {
      if (left_out.contains(std::string(op.name) + " " + std::string(p.name))) continue;
      if (p.numbers.max_count == 0 || !std::isfinite(p.numbers.low) ||
          !std::isfinite(p.numbers.high))
        continue;
      if (op.make != nullptr && (p.name == "size" && op.name != "fspecial")) continue;  // huge
      const auto it = with.find(std::string(op.name) + " " + std::string(p.name));
      for (const double end : {p.numbers.low, p.numbers.high}) {
        std::string text(op.name);
        if (it != with.end() && !it->second.empty()) text += " " + it->second;
        text += " " + std::string(p.name) + "=" + number_text(end);
        for (int i = 1; i < p.numbers.max_count; ++i) text += "," + number_text(end);
        if (op.name == "constant") text += " value=0.5";
        try {
          if (op.make != nullptr) {
            test::run(text + " | imcomplement | imcomplement");
          } else {
            test::run(text, image, operands_for(image));
          }
        } catch (const Error& error) {
          const bool no_white =
              op.name == "fspecial" &&
              std::string_view(error.what()).find("mat2gray") != std::string_view::npos;
          EXPECT_TRUE(no_white) << text << ": " << error.what();
        }
        // Just outside there is an error that names the range.
        const double step = p.numbers.odd       ? 2
                            : p.numbers.integer ? 1
                                                : 0.001 * std::max(1.0, std::fabs(end));
        const double outside = end == p.numbers.low ? end - step : end + step;
        std::string beyond(op.name);
        beyond += " " + std::string(p.name) + "=" + number_text(outside);
        const std::string message = test::error_of(beyond, image);
        EXPECT_NE(message.find(std::string(p.name) + " takes "), std::string::npos)
            << beyond << ": " << message;
      }
    }
  }
}

}  // namespace
}  // namespace impipe
