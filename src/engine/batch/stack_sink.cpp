#include "engine/batch/stack_sink.hpp"

#include <utility>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

std::int64_t bytes_of(const ImageKind& kind) { return kind.row_bytes() * kind.size.height; }

}  // namespace

StackSink::Pages& StackSink::pages_at(std::size_t which) {
  while (pages_.size() <= which) {
    Pages& pages = *pages_.emplace_back(std::make_unique<Pages>());
    const std::int64_t memory = reduction_.is_by_order() ? options_.memory : 0;
    pages.store = std::make_unique<ImageStore>(options_.scratch, options_.files, memory);
    if (!reduction_.is_by_order()) pages.running.emplace(reduction_);
  }
  return *pages_[which];
}

void StackSink::read_by_bands(const ImageKind& kind, ReadRows read,
                              std::shared_ptr<const PageSource> source) {
  Pages& pages = pages_at(0);
  pages.kind = kind;
  pages.first.source = std::move(source);
  read_ = std::move(read);
}

void StackSink::add(std::int64_t file, Page page) {
  std::unique_lock lock(mutex_);
  Pages& pages = pages_at(page.which);
  const ImageKind kind = kind_of(page.image);
  if (!pages.kind) pages.kind = kind;
  if (kind != *pages.kind) {
    throw Error(
        "it is " + to_string(kind) + ", and other files of the stack are " + to_string(*pages.kind),
        ExitCode::file_failed);
  }
  HostImage image = std::exchange(page.image, {});
  if (file == 0) pages.first = std::move(page);
  if (!pages.running) {
    lock.unlock();
    return pages.store->put(file, std::move(image));
  }
  // Sums of floats depend on the order.
  if (file != pages.next) return hold(pages, file, std::move(image));
  pages.running->add(image, *options_.pool);
  for (++pages.next; !pages.waiting.empty(); ++pages.next) {
    const auto first = pages.waiting.begin();
    if (first->first != pages.next) break;
    const bool is_held = !first->second.empty();
    if (is_held) held_ -= bytes_of(kind);
    pages.running->add(is_held ? first->second : pages.store->take(pages.next), *options_.pool);
    pages.waiting.erase(first);
  }
}

void StackSink::hold(Pages& pages, std::int64_t file, HostImage image) {
  const std::int64_t bytes = bytes_of(*pages.kind);
  if (held_ + bytes <= options_.memory) {
    held_ += bytes;
  } else {
    pages.store->put(file, std::exchange(image, {}));
  }
  pages.waiting.emplace(file, std::move(image));
}

void StackSink::count(const io::Inexact& inexact) {
  const std::lock_guard lock(mutex_);
  inexact_.add(inexact);
}

std::pair<std::int64_t, std::filesystem::path> StackSink::on_disk() const {
  std::pair<std::int64_t, std::filesystem::path> out;
  for (const std::unique_ptr<Pages>& pages : pages_) {
    if (!pages->store || pages->store->bytes_on_disk() == 0) continue;
    out.first += pages->store->bytes_on_disk();
    out.second = pages->store->folder();
  }
  return out;
}

std::vector<Page> StackSink::result(const std::function<void()>& check) {
  std::vector<Page> out;
  for (const std::unique_ptr<Pages>& pages : pages_) {
    Page& page = out.emplace_back(std::exchange(pages->first, {}));
    if (read_) {
      page.image = reduced_by_bands(
          {reduction_, options_.files, *pages->kind, options_.memory, *options_.pool, check},
          read_);
    } else {
      page.image = pages->running ? pages->running->result(*options_.pool)
                                  : pages->store->reduced(reduction_, *options_.pool, check);
    }
    pages->running.reset();
    pages->store.reset();
  }
  return out;
}

}  // namespace impipe::engine
