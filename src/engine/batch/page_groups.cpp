#include "engine/batch/page_groups.hpp"

#include <algorithm>
#include <numeric>

#include "core/volume.hpp"

namespace impipe::engine {

PageGroups groups_along(char axis, const PageList& pages) {
  std::int64_t below = 1, count = 1;  // pages between neighbours along the axis; its length
  const auto found = std::ranges::find(pages.axes, axis, &io::PageAxis::letter);
  for (auto after = found; after != pages.axes.end(); ++after) {
    (after == found ? count : below) *= after->count;
  }
  PageGroups out;
  out.groups.axes = pages.axes;
  std::erase_if(out.groups.axes, [&](const io::PageAxis& one) { return one.letter == axis; });
  std::map<std::int64_t, std::size_t> known;  // groups by their numbers
  for (const int page : pages.numbers) {
    const std::int64_t number = page / (below * count) * below + page % below;
    const auto [at, is_new] = known.try_emplace(number, known.size());
    if (is_new) out.groups.numbers.push_back(static_cast<int>(number));
    out.of_page.push_back(at->second);
  }
  return out;
}

PageList pages_after(const ImageReduction& reduction, const PageList& pages) {
  if (reduction.across == ImageReduction::Across::pages && reduction.axis != 0) {
    return groups_along(reduction.axis, pages).groups;
  }
  const std::int64_t made = images_made(reduction, std::ssize(pages.numbers));
  if (made == std::ssize(pages.numbers)) return pages;
  PageList out{std::vector<int>(static_cast<std::size_t>(made)), {}};
  std::iota(out.numbers.begin(), out.numbers.end(), 0);
  return out;
}

AxisReducer::AxisReducer(const ImageReduction& reduction, PageReducer::Options options,
                         const PageList& pages)
    : reduction_(reduction), options_(std::move(options)), has_axis_(reduction.axis != 0) {
  options_.pages = std::ssize(pages.numbers);
  if (has_axis_) {
    groups_ = groups_along(reduction.axis, pages);
  } else {
    groups_.of_page.resize(pages.numbers.size());
  }
  all_.resize(std::max<std::size_t>(groups_.groups.numbers.size(), 1));
  for (const std::size_t group : groups_.of_page) ++all_[group].left;
  options_.memory /= std::ssize(all_);
}

PageReducer::Emit AxisReducer::in_order(std::size_t group, const PageReducer::Emit& emit) {
  if (!has_axis_) return emit;
  return [this, group, &emit](Page page) {
    if (reduction_.across == ImageReduction::Across::pages) {
      page.which = group;
      page.number = all_.size() > 1 ? groups_.groups.numbers[group] + 1 : 0;
    }
    early_.emplace(page.which, std::move(page));
    for (; !early_.empty() && early_.begin()->first == emitted_; ++emitted_) {
      emit(std::move(early_.extract(early_.begin()).mapped()));
    }
  };
}

void AxisReducer::add(Page page, const PageReducer::Emit& emit) {
  const std::size_t index = groups_.of_page[come_++];
  Group& group = all_[index];
  if (!group.reducer) {
    PageReducer::Options options = options_;
    if (has_axis_) options.pages = static_cast<std::int64_t>(group.left);
    group.reducer = std::make_unique<PageReducer>(reduction_, options);
  }
  group.reducer->add(std::move(page), in_order(index, emit));
  if (--group.left == 0 && has_axis_) finish(index, emit);
}

void AxisReducer::finish(std::size_t index, const PageReducer::Emit& emit) {
  Group& group = all_[index];
  if (!group.reducer) return;
  group.reducer->finish(in_order(index, emit));
  if (const ImageStore* store = group.reducer->store(); store && store->bytes_on_disk() > 0) {
    on_disk_ = {on_disk_.first + store->bytes_on_disk(), store->folder()};
  }
  group.reducer.reset();
}

void AxisReducer::finish(const PageReducer::Emit& emit) {
  for (std::size_t index = 0; index < all_.size(); ++index) finish(index, emit);
}

}  // namespace impipe::engine
