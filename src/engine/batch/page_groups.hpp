// Pages that become one, or windows of which become pages, along one of the axes of their file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch/page_reducer.hpp"
#include "io/picture/image_info.hpp"

namespace impipe::engine {

// Pages by their numbers, from 0, along these axes; no axes: they have no names.
struct PageList {
  std::vector<int> numbers;
  std::vector<io::PageAxis> axes;
  // The axes along which these pages alone lie, those of one page too; none where some are missing
  // between them.
  std::vector<io::PageAxis> own_axes() const;
};

// Pages that differ along one axis alone are a group.
struct PageGroups {
  std::vector<std::size_t> of_page;  // the group of each page
  PageList groups;                   // in the order of their first pages, along the other axes
};
PageGroups groups_along(char axis, const PageList& pages);
// The axis that a reduction goes along; 0: it takes all pages as they follow each other.
char axis_of(const ImageReduction& reduction, const PageList& pages);
// Why pages of so many channels cannot go along the axis of a reduction; empty where they can. An
// axis of one page has no letter.
std::string why_not_along(const ImageReduction& reduction, const PageList& pages, int channels);
// The planes that a reduction makes of volumes, where they are more or fewer than their pages.
struct NewPlanes {
  PageList pages;
  std::vector<std::vector<std::size_t>> of_group;  // where the planes of each volume are in `pages`
  bool empty() const { return of_group.empty(); }
};
NewPlanes new_planes_of(const ImageReduction& reduction, const PageList& pages);
// What a reduction makes of pages: one, one of each group along its axis, or those of volumes.
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
  const NewPlanes new_planes_;
  PageGroups groups_;
  std::vector<Group> all_;
  std::map<std::size_t, Page> early_;  // by what they follow
  std::size_t come_ = 0, emitted_ = 0;
  std::pair<std::int64_t, std::filesystem::path> on_disk_;
};

}  // namespace impipe::engine
