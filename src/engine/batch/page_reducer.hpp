// Pages of a file on their way through the stages that make one image of several of them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/volume.hpp"
#include "engine/batch/image_store.hpp"
#include "engine/device/volume_on_device.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/metadata.hpp"

namespace impipe::engine {

// What of a file an image comes from: of several pages the first.
struct PageSource {
  io::ImageInfo info;
  io::Metadata metadata;
};

struct Page {
  HostImage image;  // without planes where they stay on the device
  std::shared_ptr<const PageSource> source;
  std::size_t which = 0;  // of the pages that are processed
  int number = 0;         // in the file, from 1; 0: the file has one, or it is of several
  std::optional<std::vector<double>> table = {};  // instead of an image: see VolumeWork::table
  DeviceImage there = {};                         // instead of planes
};

// One thread at a time.
class PageReducer {
 public:
  struct Options {
    std::int64_t pages = 1;  // that will come
    std::int64_t memory = 0;
    std::filesystem::path scratch;
    ThreadPool* pool = nullptr;
    std::function<void()> check = [] {};
    Lanes* lanes = nullptr;  // whose devices may work on volumes
    bool stays = false;      // pages come from the device, and go back to it, where it does that
    bool together = false;   // these are the results of the run
  };
  using Emit = std::function<void(Page)>;

  PageReducer(const ImageReduction& reduction, Options options);
  // Emits those pages of the result that no page to come changes. Throws Error for a page of
  // another kind than those before it.
  void add(Page page, const Emit& emit);
  // The last page has come.
  void finish(const Emit& emit);
  const ImageStore* store() const { return store_ ? &*store_ : nullptr; }

 private:
  void begin_volume();
  void bring_to_host(Page& page);
  void emit_window(std::int64_t which, const Emit& emit);
  void emit_planes(const Emit& emit);

  const ImageReduction reduction_;
  const Options options_;
  std::optional<ImageKind> kind_;
  std::optional<RunningReduction> running_;
  std::optional<ImageStore> store_;
  std::unique_ptr<VolumeWork> volume_;
  VolumeOnDevice* on_device_ = nullptr;  // that, where it is one
  Page first_;                           // without its image
  // Pages that results are still to be made for; of a volume without their images. The first is
  // page `window_begin_` of those that have come.
  std::deque<Page> window_;
  std::int64_t window_begin_ = 0, come_ = 0, emitted_ = 0;
};

}  // namespace impipe::engine
