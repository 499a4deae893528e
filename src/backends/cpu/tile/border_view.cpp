// Views of a tile's input in which every row and column that a neighbourhood reads exists.
#include "backends/cpu/tile/border_view.hpp"

#include <cstring>

#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {
RowView::RowView(const TileImage& image, const Region& wanted, int left, const Outside& outside,
                 PixelClass cls, Scratch& scratch, CpuLevel level)
    : image_(image),
      wanted_(wanted),
      outside_(outside),
      cls_(cls),
      pixel_(bytes_of(cls)),
      scratch_(scratch),
      level_(level),
      sides_(wanted.x0 < 0 || wanted.x1 > image.size.width),
      in_place_(!sides_ && cls == image.cls),
      left_(left * pixel_) {
  unasked_ = std::max(wanted.y0, image.region.y0) + rows_ahead;
  if (in_place_ || image.region.empty()) return;
  // Only the rows that are read: a tall image has many more.
  const Region read = inside(wanted, image.size, outside.border);
  first_made_ = read.y0;
  made_ = scratch.take<const std::byte*>(read.height());
  std::fill_n(made_, read.height(), nullptr);
}

const std::byte* RowView::row(std::int64_t i) {
  const std::int64_t at = wanted_.y0 + i;
  if (image_.far) ask_for(at + rows_ahead);
  const bool there = at >= 0 && at < image_.size.height;
  const std::int64_t y = there ? at : map_outside(at, image_.size.height, outside_.border);
  if (y < 0 || image_.region.empty()) return constant_row() + left_;
  if (in_place_) return image_.at(wanted_.x0, y) + left_;
  const std::byte*& made = made_[y - first_made_];
  if (made == nullptr) made = make_row(y);
  return made + left_;
}

void RowView::ask_for(std::int64_t y) {
  if (y < unasked_ || y >= image_.region.y1) return;
  unasked_ = y + 1;
  const std::int64_t from = std::max(wanted_.x0, image_.region.x0);
  const std::int64_t to = std::min(wanted_.x1, image_.region.x1);
  cpu::ask_for(image_.at(from, y), (to - from) * bytes_of(image_.cls));
}

const std::byte* RowView::constant_row() {
  if (constant_ == nullptr) {
    constant_ = scratch_.take<std::byte>(wanted_.width() * pixel_);
    fill_elements(constant_, cls_, outside_.value, wanted_.width());
  }
  return constant_;
}

const std::byte* RowView::make_row(std::int64_t y) {
  std::byte* row = scratch_.take<std::byte>(wanted_.width() * pixel_);
  const std::int64_t from = std::max(wanted_.x0, image_.region.x0);
  const std::int64_t to = std::min(wanted_.x1, image_.region.x1);
  if (from < to) copy(row + (from - wanted_.x0) * pixel_, image_.at(from, y), to - from);
  if (sides_) {
    fill_side(row, y, wanted_.x0, std::min<std::int64_t>(wanted_.x1, 0));
    fill_side(row, y, std::max(wanted_.x0, image_.size.width), wanted_.x1);
  }
  return row;
}

void RowView::copy(std::byte* to, const std::byte* from, std::int64_t pixels) {
  if (cls_ == image_.cls) {
    std::memcpy(to, from, static_cast<std::size_t>(pixels * pixel_));
  } else {
    load_row(reinterpret_cast<float*>(to), from, image_.cls, pixels, level_);
  }
}

void RowView::fill_side(std::byte* row, std::int64_t y, std::int64_t from, std::int64_t to) {
  for (std::int64_t x = from; x < to; ++x) {
    const std::int64_t mapped = map_outside(x, image_.size.width, outside_.border);
    std::byte* place = row + (x - wanted_.x0) * pixel_;
    if (mapped < 0) {
      std::memcpy(place, constant_row(), static_cast<std::size_t>(pixel_));
    } else if (cls_ == PixelClass::single && image_.cls == cls_) {
      std::memcpy(place, image_.at(mapped, y), sizeof(float));
    } else {
      copy(place, image_.at(mapped, y), 1);
    }
  }
}

const std::byte* const* native_rows(const TileImage& image, const Region& wanted, int left,
                                    const Outside& outside, Scratch& scratch) {
  auto** rows = scratch.take<const std::byte*>(wanted.height());
  TileImage rows_of = image;
  // Where rows are not copied, whoever reads them asks for them.
  rows_of.far = image.far && (wanted.x0 < 0 || wanted.x1 > image.size.width);
  RowView view(rows_of, wanted, left, outside, image.cls, scratch, CpuLevel::baseline);
  for (std::int64_t i = 0; i < wanted.height(); ++i) rows[i] = view.row(i);
  return rows;
}

}  // namespace impipe::cpu
