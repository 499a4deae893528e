// Pages that become one, or windows of which become pages, along one of the axes of their file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/batch/page_reducer.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::engine {

// Pages by their numbers, from 0, along these axes; no axes: they have no names.
struct PageList {
  std::vector<int> numbers;
  std::vector<io::PageAxis> axes;
};

// Pages that differ along one axis alone are a group.
struct PageGroups {
  std::vector<std::size_t> of_page;  // the group of each page
  PageList groups;                   // in the order of their first pages, along the other axes
};
PageGroups groups_along(char axis, const PageList& pages);
// What a reduction makes of pages: one, one of each group along its axis, or those of a volume.
PageList pages_after(const ImageReduction& reduction, const PageList& pages);

// A PageReducer of all pages or, where the reduction has an axis, one for each group of them. What
// those make comes in the order of the groups, or of the pages.
class AxisReducer {
 public:
  // pages: that will come.
  AxisReducer(const ImageReduction& reduction, PageReducer::Options options, const PageList& pages);
  void add(Page page, const PageReducer::Emit& emit);
  void finish(const PageReducer::Emit& emit);
  // Bytes that wait in files, and their folder.
  std::pair<std::int64_t, std::filesystem::path> on_disk() const { return on_disk_; }

 private:
  struct Group {
    std::unique_ptr<PageReducer> reducer;
    std::size_t left = 0;  // pages to come
  };
  void finish(std::size_t index, const PageReducer::Emit& emit);
  PageReducer::Emit in_order(std::size_t group, const PageReducer::Emit& emit);

  const ImageReduction reduction_;
  PageReducer::Options options_;  // of each
  const bool has_axis_;
  PageGroups groups_;
  std::vector<Group> all_;
  std::map<std::size_t, Page> early_;  // by what they follow
  std::size_t come_ = 0, emitted_ = 0;
  std::pair<std::int64_t, std::filesystem::path> on_disk_;
};

}  // namespace impipe::engine
