// Equal infos have equal names.
#include "engine/batch/image_infos.hpp"

#include <fmt/format.h>

#include <utility>

namespace impipe::engine {

const io::ImageInfo* ImageInfos::keep(io::ImageInfo info) {
  std::string names;
  for (const std::string& channel : info.named) names += ' ' + channel;
  for (const std::string& page : info.page_names) names += '\n' + page;
  for (const int page : info.pictures) names += ' ' + std::to_string(page);
  for (const io::PageAxis& axis : info.axes) names += axis.letter + std::to_string(axis.count);
  for (const io::MeasuredAxis& axis : info.measured) {
    names += fmt::format(" {} {} {} {}", axis.name, axis.unit, axis.scale, axis.translation);
  }
  if (info.slice) names += fmt::format(" {}", *info.slice);
  if (info.display) names += ' ' + to_string(*info.display);
  const std::string name =
      to_string(info.type) + ' ' + to_string(info.stored) + ' ' +
      std::to_string(static_cast<int>(info.format)) + ' ' + std::to_string(info.orientation) + ' ' +
      std::to_string(info.lossy) + ' ' + info.detail + ' ' + std::to_string(info.pages) + ' ' +
      std::to_string(info.page) + ' ' + std::to_string(info.carried_bytes) + names;
  std::lock_guard lock(mutex_);
  const auto [found, is_new] = by_name_.try_emplace(name);
  if (is_new) found->second = &kept_.emplace_back(std::move(info));
  return found->second;
}

}  // namespace impipe::engine
