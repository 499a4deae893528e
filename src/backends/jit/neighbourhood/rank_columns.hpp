// Histograms of bytes under a mask that is no rectangle, by words of four rows.
#pragma once

#include <string>
#include <vector>

#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

// The plane of words: so many columns and rows around the image, of the size of the result.
struct ColumnWords {
  Operand result;
  int across = 0, down = 0;

  std::int64_t stride(const LaunchContext& at) const;
  std::int64_t quads(const LaunchContext& at) const;
};

class RankColumns {
 public:
  // name: of the window's functions, of which NAME_at is the image with what is round it. small:
  // whether counters are bytes.
  RankColumns(Builder& builder, int n, const std::string& name, bool small);
  RankColumns(const RankColumns&) = delete;
  RankColumns& operator=(const RankColumns&) = delete;

  // The kernel that makes the words.
  void write_words();
  // The loop over the rows of a strip, with what is done for each.
  std::string loop(const std::string& output) const;

 private:
  std::string text(std::string_view name, Replacements own = {}) const;
  std::string memory() const;
  std::string size(const char* which,
                   std::int64_t (ColumnWords::*of)(const LaunchContext&) const) const;
  std::string stride() const;
  std::string first_window() const;
  std::string row_pointers() const;
  std::string first_words() const;
  std::string row(int row, const std::string& output) const;
  std::string counted(int row) const;
  // The place of the cell that enters or leaves column k at row `row` of four: its row in the
  // words' plane, from the one that the four begin in.
  int place(std::size_t k, bool enters, int row) const;
  // The word that a cell at this place is in.
  std::string word(std::size_t k, int place) const;

  Builder& builder_;
  Operand self_, image_;
  const Mask& mask_;
  std::string name_;
  bool small_;
  std::vector<Run> columns_;
  bool keeps_;     // whether registers hold a word of each end of each column
  int left_, up_;  // around the image, in whole words
  ColumnWords words_;
  const Substitutions texts_;
};

}  // namespace impipe::jit
