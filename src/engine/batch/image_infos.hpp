// What is known of pictures before they are decoded, once for all that are alike: a folder of a
// million files mostly has a few kinds.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "io/codec.hpp"

namespace impipe::engine {

class ImageInfos {
 public:
  // The one that is equal; it stays where it is. Any thread may call this.
  const io::ImageInfo* keep(io::ImageInfo info);
  // Nothing more is to be kept.
  void finish() { by_name_.clear(); }
  std::size_t size() const { return kept_.size(); }

 private:
  std::mutex mutex_;
  std::deque<io::ImageInfo> kept_;
  std::map<std::string, const io::ImageInfo*> by_name_;
};

}  // namespace impipe::engine
