// Views of a tile's input in which every row and column that a neighbourhood reads exists.
#include "backends/cpu/border_view.hpp"

#include <cstring>

#include "backends/cpu/rows.hpp"

namespace impipe::cpu {
namespace {

// Makes the rows of a view in `cls`: the image's own class, or single.
class ViewBuilder {
 public:
  ViewBuilder(const TileImage& image, const Region& wanted, const Outside& outside, PixelClass cls,
              Scratch& scratch, CpuLevel level)
      : image_(image), wanted_(wanted), outside_(outside), cls_(cls),
        pixel_(bytes_of(cls) * image.channels), scratch_(scratch), level_(level),
        sides_(wanted.x0 < 0 || wanted.x1 > image.size.width) {}

  const std::byte* const* rows(int left) {
    const std::int64_t height = wanted_.height();
    auto** rows = scratch_.take<const std::byte*>(height);
    const bool in_place = !sides_ && cls_ == image_.cls;
    // Each row of the image is made once, however often the border repeats it.
    if (!in_place && !image_.region.empty()) {
      made_ = scratch_.take<const std::byte*>(image_.region.height());
      std::fill_n(made_, image_.region.height(), nullptr);
    }
    for (std::int64_t i = 0; i < height; ++i) {
      const std::int64_t y = map_outside(wanted_.y0 + i, image_.size.height, outside_.border);
      const std::byte* row = nullptr;
      if (y < 0 || image_.region.empty()) {
        row = constant_row();
      } else if (in_place) {
        row = image_.at(wanted_.x0, y);
      } else {
        const std::byte*& made = made_[y - image_.region.y0];
        if (made == nullptr) made = make_row(y);
        row = made;
      }
      rows[i] = row + left * pixel_;
    }
    return rows;
  }

 private:
  const std::byte* constant_row() {
    if (constant_ == nullptr) {
      constant_ = scratch_.take<std::byte>(wanted_.width() * pixel_);
      fill_elements(constant_, cls_, outside_.value, wanted_.width() * image_.channels);
    }
    return constant_;
  }

  const std::byte* make_row(std::int64_t y) {
    std::byte* row = scratch_.take<std::byte>(wanted_.width() * pixel_);
    // Everything the view can read of this row, so that the sides find their pixels in `row`'s
    // own class; the sides may need columns that the view itself doesn't have.
    const std::int64_t from = std::max(wanted_.x0, image_.region.x0);
    const std::int64_t to = std::min(wanted_.x1, image_.region.x1);
    if (from < to) copy(row + (from - wanted_.x0) * pixel_, image_.at(from, y), to - from);
    if (sides_) {
      fill_side(row, y, wanted_.x0, std::min<std::int64_t>(wanted_.x1, 0));
      fill_side(row, y, std::max(wanted_.x0, image_.size.width), wanted_.x1);
    }
    return row;
  }

  void copy(std::byte* to, const std::byte* from, std::int64_t pixels) {
    if (cls_ == image_.cls) {
      std::memcpy(to, from, static_cast<std::size_t>(pixels * pixel_));
    } else {
      load_row(reinterpret_cast<float*>(to), from, image_.cls, pixels * image_.channels, level_);
    }
  }

  void fill_side(std::byte* row, std::int64_t y, std::int64_t from, std::int64_t to) {
    for (std::int64_t x = from; x < to; ++x) {
      const std::int64_t mapped = map_outside(x, image_.size.width, outside_.border);
      std::byte* place = row + (x - wanted_.x0) * pixel_;
      if (mapped < 0) {
        std::memcpy(place, constant_row(), static_cast<std::size_t>(pixel_));
      } else {
        copy(place, image_.at(mapped, y), 1);
      }
    }
  }

  const TileImage& image_;
  const Region& wanted_;
  const Outside& outside_;
  PixelClass cls_;
  std::int64_t pixel_;
  Scratch& scratch_;
  CpuLevel level_;
  bool sides_;
  const std::byte** made_ = nullptr;
  std::byte* constant_ = nullptr;
};

}  // namespace

const std::byte* const* native_rows(const TileImage& image, const Region& wanted, int left,
                                    const Outside& outside, Scratch& scratch) {
  return ViewBuilder(image, wanted, outside, image.cls, scratch, CpuLevel::baseline).rows(left);
}

const float* const* float_rows(const TileImage& image, const Region& wanted, int left,
                               const Outside& outside, Scratch& scratch, CpuLevel level) {
  // Pointers to rows of floats, all of them.
  return reinterpret_cast<const float* const*>(
      ViewBuilder(image, wanted, outside, PixelClass::single, scratch, level).rows(left));
}

}  // namespace impipe::cpu
