#include "core/page_column.hpp"

#include <algorithm>
#include <utility>

#include "core/volume.hpp"

namespace impipe {
namespace {

constexpr std::int64_t most_pixels = std::int64_t{1} << 30, most_rows = (1 << 24) - 1;

class Column final : public VolumeWork {
 public:
  Column(const ImageType& type, Size size, std::int64_t planes)
      : image_(type, {size.width, size.height * planes}) {}

  void add(HostImage plane, ThreadPool&) override {
    for (std::size_t i = 0; i < image_.planes.size(); ++i) copy(plane.planes[i], image_.planes[i]);
    if (image_.type.alpha) copy(plane.alpha, image_.alpha);
    rows_ += plane.size().height;
  }
  bool has_next() const override { return !image_.empty() && rows_ == image_.size().height; }
  HostImage next(ThreadPool&) override { return std::exchange(image_, {}); }

 private:
  void copy(const Plane& from, Plane& to) const {
    for (std::int64_t y = 0; y < from.size().height; ++y) {
      std::copy_n(from.row(y), from.row_bytes(), to.row(rows_ + y));
    }
  }

  HostImage image_;
  std::int64_t rows_ = 0;
};

class Operation final : public VolumeOperation {
 public:
  std::int64_t planes(std::int64_t) const override { return 1; }
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    return static_cast<double>(size.pixels()) * static_cast<double>(planes) *
           (type.channels + (type.alpha ? 1 : 0)) * bytes_of(type.cls);
  }
  std::string held() const override { return "all"; }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    if (planes > most_rows / size.height || planes > most_pixels / size.pixels()) {
      throw Error("across=pages: its " + std::to_string(planes) + " pages of " + to_string(size) +
                      " are too many for one image",
                  ExitCode::file_failed);
    }
    return std::make_unique<Column>(type, size, planes);
  }
};

}  // namespace

const Operator& page_column() {
  static const Operator op{.name = "pages",
                           .help = "all pages of a file, one below the other",
                           .category = "pages",
                           .reduction = [](const Call&) {
                             ImageReduction out;
                             out.across = ImageReduction::Across::volume;
                             out.volume = std::make_shared<const Operation>();
                             return out;
                           }};
  return op;
}

}  // namespace impipe
