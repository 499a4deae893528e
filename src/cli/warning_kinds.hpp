// Warnings about files by their kinds, so that ten thousand files of one kind have one line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace impipe::cli {

// What a warning says of every file of its kind: names in quotes or parentheses, and numbers, are
// dots. "2 values, as -1.5" -> "… values, as …".
std::string kind_of(std::string_view warning);

class WarningKinds {
 public:
  // Counts a warning of the file with this index; false if one of its kind has come before.
  bool add(std::string_view warning, std::int64_t file);
  // How many files had one, by kind.
  const std::map<std::string, std::int64_t>& files() const { return files_; }

 private:
  std::map<std::string, std::int64_t> files_, last_;  // last: the index of the last file
};

}  // namespace impipe::cli
