// imtile and montage: images side by side in one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plane_rows.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

void fill(Plane& plane, double value) {
  with_pixel(plane.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      std::fill_n(plane.row_as<T>(y), plane.size().width, static_cast<T>(value));
    }
  });
}

// Where images lie in the sheet.
class Grid {
 public:
  explicit Grid(const Call& call) : gap_(static_cast<std::int64_t>(call.number("gap"))) {
    if (!call.has("grid")) return;
    rows_ = static_cast<std::int64_t>(call.number("grid", 0));
    columns_ = static_cast<std::int64_t>(call.number("grid", 1));
  }

  Size size(Size cell, std::int64_t images) const {
    const auto [across, down] = cells(images);
    return {across * (cell.width + gap_) - gap_, down * (cell.height + gap_) - gap_};
  }

  // A plane of the image with this number, in the cell that it has, if it has one.
  void put(const Plane& image, std::int64_t number, Size cell, std::int64_t images,
           Plane& sheet) const {
    const auto [across, down] = cells(images);
    if (number >= across * down) return;
    const std::int64_t left = number % across * (cell.width + gap_);
    const std::int64_t top = number / across * (cell.height + gap_);
    with_pixel(image.cls(), [&]<class T>(T) {
      for (std::int64_t y = 0; y < image.size().height; ++y) {
        std::copy_n(image.row_as<T>(y), image.size().width, sheet.row_as<T>(top + y) + left);
      }
    });
  }

  std::string left_out(std::string_view name, std::int64_t images) const {
    const std::int64_t room = cells(images).pixels();
    if (images <= room) return "";
    return std::string(name) + ": the grid has " + std::to_string(room) + " cells for " +
           std::to_string(images) + " images; the rest is left out";
  }

 private:
  // Columns and rows; those of the most square grid where none was asked for.
  Size cells(std::int64_t images) const {
    if (rows_ > 0) return {columns_, rows_};
    const auto across = static_cast<std::int64_t>(std::ceil(std::sqrt(images)));
    return {across, (images + across - 1) / across};
  }

  std::int64_t rows_ = 0, columns_ = 0;
  const std::int64_t gap_;
};

Size largest_of(std::span<const Size> sizes) {
  Size cell;
  for (const Size& size : sizes) {
    cell = {std::max(cell.width, size.width), std::max(cell.height, size.height)};
  }
  return cell;
}

// Makes the sheet of images of any sizes, gray ones in each channel. Images that are not `seen`
// are replaced by white.
HostWork sheet_of(const Grid& grid, double background, double white, std::vector<bool> seen) {
  return {
      .size = [=](std::span<const Size> of) { return grid.size(largest_of(of), std::ssize(of)); },
      .make =
          [=](std::span<const Planes> images, Planes& sheet) {
            std::vector<Size> sizes;
            for (const Planes& image : images) sizes.push_back(image.front().size());
            for (std::size_t c = 0; c < sheet.size(); ++c) {
              fill(sheet[c], background);
              for (std::size_t k = 0; k < images.size(); ++k) {
                Plane plane = images[k][std::min(c, images[k].size() - 1)];
                if (!seen[k]) {
                  plane = Plane(sheet[c].cls(), sizes[k]);
                  fill(plane, white);
                }
                grid.put(plane, static_cast<std::int64_t>(k), largest_of(sizes), std::ssize(images),
                         sheet[c]);
              }
            }
          }};
}

// The alpha of the sheet: images without one and the background are opaque.
ImageValue sheet_of_alphas(const Call& call, PlanBuilder& plan,
                           const std::vector<ImageValue>& images) {
  std::vector<ImageValue> alphas;
  std::vector<bool> seen;
  ImageType type;
  bool alike = true;
  for (const ImageValue& image : images) {
    seen.push_back(image.alpha >= 0);
    alphas.push_back(seen.back() ? plan.alpha_of(image) : image.without_alpha());
    if (!seen.back()) continue;
    alike = alike && (type.white == 0 || type == alphas.back().type);
    type = alphas.back().type;
  }
  for (std::size_t k = 0; k < alphas.size() && !alike; ++k) {
    if (!seen[k]) continue;
    alphas[k] = to_unit_single(plan, alphas[k]);
    type = alphas[k].type;
  }
  HostWork work = sheet_of(Grid(call), type.white, type.white, std::move(seen));
  work.name = "alpha";
  return on_host(call, plan, alphas, {.cls = type.cls, .white = type.white, .channels = 1},
                 std::move(work));
}

ImageValue lower_imtile(const Call& call, PlanBuilder& plan) {
  const ImageValue current = plan.current();
  if (!call.given("images")) return current;  // of each page
  std::vector<ImageValue> images{current};
  for (const std::string& name : call.value("images").operands) {
    point_operand(call, plan, name);
    images.push_back(plan.operand_with_alpha(call, name));
    if (images.back().type.cls != current.type.cls) {
      call.fail("the current image is " + std::string(name_of(current.type.cls)) + ", :" + name +
                " is " + std::string(name_of(images.back().type.cls)));
    }
  }
  Result result = like(current);
  result.channels = max_channels(images);
  for (const ImageValue& image : images) {
    if (image.type.channels == 1 || image.type.channels == result.channels) continue;
    call.fail("images of " + std::to_string(image.type.channels) + " and " +
              std::to_string(result.channels) + " channels make no sheet");
  }
  const Grid grid(call);
  const std::string left_out = grid.left_out(call.op().name, std::ssize(images));
  if (!left_out.empty()) plan.note(left_out);
  const double background = cast_to(current.type.cls, call.number("background"));
  const ImageValue sheet =
      on_host(call, plan, images, result,
              sheet_of(grid, background, 0, std::vector<bool>(images.size(), true)));
  const bool any = std::ranges::any_of(images, [](const ImageValue& i) { return i.alpha >= 0; });
  return any ? sheet.with_alpha(sheet_of_alphas(call, plan, images).id) : sheet;
}

// The sheet of the pages of a file.
class SheetWork : public VolumeWork {
 public:
  SheetWork(const Grid& grid, double background, const ImageType& type, Size cell,
            std::int64_t pages)
      : grid_(grid), cell_(cell), pages_(pages) {
    sheet_.type = type;
    sheet_.planes = new_planes(type.cls, type.channels, grid.size(cell, pages));
    for (Plane& plane : sheet_.planes) fill(plane, cast_to(type.cls, background));
  }
  void add(HostImage page, ThreadPool&) override {
    for (std::size_t c = 0; c < sheet_.planes.size(); ++c) {
      grid_.put(page.planes[c], added_, cell_, pages_, sheet_.planes[c]);
    }
    if (sheet_.type.alpha) {
      if (sheet_.alpha.empty()) {
        sheet_.alpha = Plane(page.alpha.cls(), grid_.size(cell_, pages_));
        fill(sheet_.alpha, class_max(page.alpha.cls()));
      }
      grid_.put(page.alpha, added_, cell_, pages_, sheet_.alpha);
    }
    ++added_;
  }
  bool has_next() const override { return added_ == pages_ && !sheet_.planes.empty(); }
  HostImage next(ThreadPool&) override { return std::exchange(sheet_, {}); }

 private:
  const Grid& grid_;
  const Size cell_;
  const std::int64_t pages_;
  std::int64_t added_ = 0;
  HostImage sheet_;
};

class SheetOfPages : public VolumeOperation {
 public:
  explicit SheetOfPages(const Call& call)
      : name_(call.op().name), grid_(call), background_(call.number("background")) {}
  Size size(Size of, std::int64_t planes) const override { return grid_.size(of, planes); }
  std::int64_t planes(std::int64_t) const override { return 1; }
  bool stretches() const override { return false; }
  std::string left_out(std::int64_t planes) const override { return grid_.left_out(name_, planes); }
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    return static_cast<double>(grid_.size(size, planes).pixels()) * type.channels *
           bytes_of(type.cls);
  }
  std::string held() const override { return "the sheet"; }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    return std::make_unique<SheetWork>(grid_, background_, type, size, planes);
  }

 private:
  const std::string_view name_;
  const Grid grid_;
  const double background_;
};

ImageReduction sheet_of_pages(const Call& call) {
  ImageReduction out = of_volume(std::make_shared<SheetOfPages>(call));
  out.across = ImageReduction::Across::pages;
  return out;
}

Operator described(std::string_view name, std::string_view help, std::string_view example,
                   std::string_view matlab) {
  return {
      .name = name,
      .help = help,
      .parameters =
          {{.name = "images",
            .help = "the images (:name) that follow the current one; all pages of the file when "
                    "none is named",
            .takes = Takes::operands},
           {.name = "grid",
            .help = "rows,columns; the most square grid that all images fit in when not given",
            .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = 1, .high = 10000},
            .takes_row = true},
           {.name = "gap",
            .help = "pixels between two cells",
            .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 10000},
            .fallback = "0"},
           {.name = "background",
            .help = "of gaps and empty cells, in the images' own units",
            .numbers = {.max_count = 1},
            .fallback = "0"}},
      .details =
          R"(Row by row: ceil(sqrt(n)) columns for n images, or the grid; images that it has no cell for are left
out with a warning. Cells are as high and wide as the largest image, each image at the upper left of its
own. A gray image beside coloured ones counts for each channel; classes must be equal, and pages in
size, too. Alpha goes along; images without one and the background are opaque. On the host.)",
      .example = example,
      .accuracy = "exact",
      .not_finite = {NotFinite::Rule::moved},
      .matlab = matlab,
      .lower = lower_imtile,
      .reduction = sheet_of_pages};
}

const RegisterOperator imtile_operator{
    described("imtile", "images, or all pages of a file, side by side in one image",
              "as a | imgaussfilt 4 | imtile :a gap=4 background=255",
              "imtile({A,B},'GridSize',[r c]) (there borders all around, and resized)")};
const RegisterOperator montage_operator{
    described("montage", "images side by side in one image: imtile by another name",
              "as a | imcomplement | montage :a grid=2,1",
              "montage({A,B}) (an image instead of a figure; there borders all around)")};

}  // namespace
}  // namespace impipe::ops
