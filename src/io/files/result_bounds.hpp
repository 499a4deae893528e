// Results stay in the folder that their -o or `save` begins with, whatever the inputs are called.
#pragma once

#include <string>
#include <unordered_map>

namespace impipe::io {

class ResultBounds {
 public:
  // Why a file of this name lies outside of `root`, a folder with which the name begins
  // (NameTemplate::root): by a ".." behind it, or a symbolic link. Empty when it lies inside.
  std::string why_outside(const std::string& path, const std::string& root);

 private:
  std::unordered_map<std::string, std::string> folders_;  // the answers, by root and folder
};

}  // namespace impipe::io
