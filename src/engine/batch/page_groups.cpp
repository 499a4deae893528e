#include "engine/batch/page_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

namespace {

bool makes_one(const ImageReduction& reduction) {
  return reduction.across == ImageReduction::Across::pages ||
         (reduction.volume && !reduction.volume->columns().empty());
}

std::string text_of(const std::vector<io::PageAxis>& axes) {
  std::vector<std::string> out;
  for (const io::PageAxis& axis : axes)
    out.push_back(fmt::format("{} {}", axis.letter, axis.count));
  return fmt::format("{}", fmt::join(out, ", "));
}

// The indices of pages along an axis, in the order in which they come; neighbours along it are
// `below` pages apart.
struct Along {
  std::vector<std::int64_t> indices;
  std::int64_t below = 1;
};
std::vector<Along> indices_along(const std::vector<int>& pages,
                                 const std::vector<io::PageAxis>& axes) {
  std::vector<Along> out(axes.size());
  std::int64_t below = 1;
  for (std::size_t k = axes.size(); k-- > 0; below *= axes[k].count) {
    out[k].below = below;
    std::vector<bool> is_there(static_cast<std::size_t>(axes[k].count));
    for (const int page : pages) {
      const std::int64_t index = page / below % axes[k].count;
      if (!is_there[static_cast<std::size_t>(index)]) out[k].indices.push_back(index);
      is_there[static_cast<std::size_t>(index)] = true;
    }
  }
  return out;
}

// So many pages, numbered from 0.
PageList counted(std::int64_t count, std::vector<io::PageAxis> axes) {
  PageList out{std::vector<int>(static_cast<std::size_t>(count)), std::move(axes)};
  std::iota(out.numbers.begin(), out.numbers.end(), 0);
  return out;
}

}  // namespace

std::vector<io::PageAxis> PageList::own_axes() const {
  std::vector<io::PageAxis> out = axes;
  const std::vector<Along> all = indices_along(numbers, out);
  // Pages that are each combination of these indices, the last axis the fastest.
  std::size_t product = 1;
  for (const Along& along : all) product *= along.indices.size();
  if (product != numbers.size()) return {};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t number = 0;
    std::size_t rest = i;
    for (std::size_t k = all.size(); k-- > 0; rest /= all[k].indices.size()) {
      number += all[k].below * all[k].indices[rest % all[k].indices.size()];
    }
    if (number != numbers[i]) return {};
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::vector<std::int64_t>& at = all[k].indices;
    const std::int64_t step = at.size() > 1 ? at[1] - at[0] : 1;
    out[k].first += out[k].step * static_cast<double>(at.empty() ? 0 : at[0]);
    out[k].step *= static_cast<double>(step);
    for (std::size_t i = 1; i < at.size(); ++i) {
      if (at[i] - at[i - 1] != step || step < 0) out[k].step = 0;
    }
    out[k].count = static_cast<int>(at.size());
  }
  return out;
}

char axis_of(const ImageReduction& reduction, const PageList& pages) {
  if (!reduction.or_all_pages) return reduction.axis;
  if (pages.axes.empty()) return 0;
  const char first = pages.axes[0].letter;
  const bool may_be_volume = !reduction.volume || (first != 't' && first != 'c');
  return pages.axes.size() == 1 && may_be_volume ? first : reduction.axis;
}

std::string why_not_along(const ImageReduction& reduction, const PageList& pages, int channels) {
  const char axis = axis_of(reduction, pages);
  const auto count = pages.numbers.size();
  const bool has_axis =
      std::ranges::find(pages.axes, axis, &io::PageAxis::letter) != pages.axes.end();
  if (axis == 0 || has_axis) return "";
  if (axis == 'c' && channels > 1) {
    return fmt::format(
        "axis=c: its {} channels lie in each pixel, and not in pages; `map 'max(r,g)'` and "
        "imapplymatrix join such",
        channels);
  }
  if (count == 1) return "";
  if (pages.axes.empty()) {
    return fmt::format(
        "axis={}: its {} pages have no axes, but for an NPY --axes names them; without axis= all "
        "become one",
        axis, count);
  }
  const std::string lie = fmt::format("its {} pages lie along {}", count, text_of(pages.axes));
  if (!reduction.or_all_pages) return fmt::format("axis={}: {}", axis, lie);
  if (!reduction.volume) {
    return fmt::format("{}, and a window goes along {}; axis={} makes it go along that", lie, axis,
                       pages.axes[0].letter);
  }
  return fmt::format("{}, and planes of a volume along z; axis={} makes volumes along that", lie,
                     pages.axes[0].letter);
}

NewPlanes new_planes_of(const ImageReduction& reduction, const PageList& pages) {
  const char letter = axis_of(reduction, pages);
  if (!reduction.volume || makes_one(reduction)) return {};
  const PageGroups groups = groups_along(letter, pages);
  const std::size_t volumes = letter == 0 ? 1 : groups.groups.numbers.size();
  std::vector<std::int64_t> before(volumes), after;
  for (const std::size_t group : groups.of_page) ++before[letter == 0 ? 0 : group];
  for (const std::int64_t count : before) after.push_back(reduction.volume->planes(count));
  if (before == after) return {};
  NewPlanes out;
  std::vector<io::PageAxis> axes = pages.own_axes();
  const auto axis = std::ranges::find(axes, letter, &io::PageAxis::letter);
  if (axis == axes.end()) axes.clear();
  std::int64_t below = 1;  // pages between neighbours along the axis
  for (auto after_it = axes.empty() ? axes.end() : axis + 1; after_it != axes.end(); ++after_it) {
    below *= after_it->count;
  }
  std::size_t all = 0;
  for (std::size_t group = 0; group < volumes; ++group) {
    std::vector<std::size_t>& places = out.of_group.emplace_back();
    for (std::int64_t plane = 0; plane < after[group]; ++plane, ++all) {
      const auto g = static_cast<std::int64_t>(group);
      places.push_back(axes.empty() ? all
                                    : static_cast<std::size_t>(
                                          (g / below * after[group] + plane) * below + g % below));
    }
  }
  if (!axes.empty()) {
    const double by = static_cast<double>(axis->count) / static_cast<double>(after[0]);
    axis->first += axis->step * (by - 1) / 2;
    axis->step *= by;
    axis->count = static_cast<int>(after[0]);
  }
  out.pages = counted(static_cast<std::int64_t>(all), std::move(axes));
  return out;
}

PageList pages_after(const ImageReduction& reduction, const PageList& pages) {
  const char axis = axis_of(reduction, pages);
  if (makes_one(reduction)) {
    return axis != 0 ? groups_along(axis, pages).groups
                     : counted(images_made(reduction, std::ssize(pages.numbers)), {});
  }
  NewPlanes made = new_planes_of(reduction, pages);
  return made.empty() ? pages : std::move(made.pages);
}

AxisReducer::AxisReducer(const ImageReduction& reduction, PageReducer::Options options,
                         const PageList& pages)
    : reduction_(reduction),
      options_(std::move(options)),
      has_axis_(axis_of(reduction, pages) != 0),
      new_planes_(new_planes_of(reduction, pages)) {
  options_.pages = std::ssize(pages.numbers);
  if (has_axis_) {
    groups_ = groups_along(axis_of(reduction, pages), pages);
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
    if (makes_one(reduction_)) {
      page.which = group;
      page.number = all_.size() > 1 ? groups_.groups.numbers[group] + 1 : 0;
    } else if (!new_planes_.empty()) {
      page.which = new_planes_.of_group[group][page.which];
      page.number = static_cast<int>(page.which) + 1;
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
