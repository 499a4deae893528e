#include "engine/batch/page_reducer.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/one_nan.hpp"

namespace impipe::engine {

PageReducer::PageReducer(const ImageReduction& reduction, Options options)
    : reduction_(reduction), options_(std::move(options)) {
  if (reduction_.across == ImageReduction::Across::window || reduction_.volume) return;
  if (reduction_.is_by_order()) {
    store_.emplace(options_.scratch, options_.pages, options_.memory);
  } else {
    running_.emplace(reduction_);
  }
}

void PageReducer::add(Page page, const Emit& emit) {
  const ImageKind kind = page.there.pixels ? ImageKind{page.image.type, page.there.pixels->size()}
                                           : kind_of(page.image);
  if (!kind_) kind_ = kind;
  if (kind != *kind_) {
    throw Error("it is " + to_string(kind) + ", and the pages before it are " + to_string(*kind_),
                ExitCode::file_failed);
  }
  const std::int64_t index = come_++;
  if (reduction_.volume) {
    if (index == 0) begin_volume();
    options_.check();
    if (page.there.pixels && on_device_ == nullptr) bring_to_host(page);
    if (page.there.pixels) {
      on_device_->add_there(std::exchange(page.there, {}).pixels);
    } else {
      volume_->add(std::exchange(page.image, {}), *options_.pool);
    }
    window_.push_back(std::move(page));
    emit_planes(emit);
    if (come_ == options_.pages && reduction_.volume->columns().empty()) volume_.reset();
    return;
  }
  if (reduction_.across != ImageReduction::Across::window) {
    if (running_) running_->add(page.image, *options_.pool);
    if (store_) store_->put(index, std::exchange(page.image, {}));
    page.image = {};
    if (index == 0) first_ = std::move(page);
    return;
  }
  window_.push_back(std::move(page));
  const std::int64_t after = reduction_.window - 1 - (reduction_.window - 1) / 2;
  if (index >= after) emit_window(emitted_, emit);
}

void PageReducer::begin_volume() {
  const VolumeOperation& volume = *reduction_.volume;
  if (options_.lanes != nullptr) {
    auto work = volume_on_device(*options_.lanes, volume,
                                 {.type = kind_->type,
                                  .size = kind_->size,
                                  .count = options_.pages,
                                  .stay = options_.stays,
                                  .together = options_.together});
    on_device_ = work.get();
    volume_ = std::move(work);
  }
  if (!volume_) volume_ = volume.begin(kind_->type, kind_->size, options_.pages);
}

void PageReducer::bring_to_host(Page& page) {
  const Lanes::Turn turn = options_.lanes->take();
  page.image.planes = turn.queue.download(*std::exchange(page.there, {}).pixels);
}

void PageReducer::emit_window(std::int64_t which, const Emit& emit) {
  const std::int64_t begin = which - (reduction_.window - 1) / 2;
  const auto page_at = [&](std::int64_t page) -> Page& {
    return window_[static_cast<std::size_t>(std::clamp<std::int64_t>(page, 0, come_ - 1) -
                                            window_begin_)];
  };
  std::vector<const HostImage*> images;
  for (int i = 0; i < reduction_.window; ++i) images.push_back(&page_at(begin + i).image);
  options_.check();
  const Page& at = page_at(which);
  Page out{reduced(reduction_, images, *options_.pool), at.source, at.which, at.number};
  ++emitted_;
  while (window_begin_ < begin + 1 && std::ssize(window_) > 1) {
    window_.pop_front();
    ++window_begin_;
  }
  emit(std::move(out));
}

// Planes that are more than the pages have the source of the last of those. Where they are not the
// pages' own, they are numbered anew.
void PageReducer::emit_planes(const Emit& emit) {
  for (; volume_->has_next(); ++emitted_) {
    options_.check();
    for (; window_begin_ < emitted_ && window_.size() > 1; ++window_begin_) window_.pop_front();
    const Page& of = window_.front();
    Page out{{}, of.source, of.which, of.number};
    if (on_device_ != nullptr && options_.stays) {
      out.image.type = kind_->type;
      out.there.pixels = on_device_->next_there();
    } else {
      out.image = volume_->next(*options_.pool);
      if (on_device_ == nullptr) {
        for (Plane& plane : out.image.planes) make_one_nan(plane);
      }
    }
    if (reduction_.across == ImageReduction::Across::pages) {
      out.number = 0;
      out.which = 0;
    } else if (reduction_.volume->planes(options_.pages) != options_.pages) {
      out.number = static_cast<int>(emitted_) + 1;
      out.which = static_cast<std::size_t>(emitted_);
    }
    emit(std::move(out));
  }
}

void PageReducer::finish(const Emit& emit) {
  if (reduction_.volume) {  // the last plane has brought the rest of the planes
    if (come_ == 0 || reduction_.volume->columns().empty()) return;
    Page& of = window_.front();
    return emit({.image = {}, .source = of.source, .table = volume_->table()});
  }
  if (reduction_.across == ImageReduction::Across::window) {
    while (emitted_ < come_) emit_window(emitted_, emit);
    return;
  }
  if (come_ == 0) return;
  first_.number = 0;
  first_.which = 0;
  first_.image = running_ ? running_->result(*options_.pool)
                          : store_->reduced(reduction_, *options_.pool, options_.check);
  emit(std::exchange(first_, {}));
}

}  // namespace impipe::engine
