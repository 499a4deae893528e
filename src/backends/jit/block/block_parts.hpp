// The rows of pixels that a block kernel's node is made of, each written once.
#pragma once

#include <map>
#include <set>
#include <string>

#include "backends/jit/block/block_text.hpp"
#include "backends/jit/block/windows.hpp"
#include "backends/jit/pixel/pixel.hpp"

namespace impipe::jit {

class BlockParts {
 public:
  // packed_points: the points that are made packed. quotients: where they are by reciprocals.
  explicit BlockParts(const Block& block, std::set<int> packed_points = {},
                      Quotients* quotients = nullptr)
      : block_(block), packed_points_(std::move(packed_points)), quotients_(quotients) {}

  // A row of an operand's pixels.
  RowPlaces row_of(const Operand& operand) { return row_of(operand, {}); }
  // Uses `row`, which was made elsewhere, as the row of that operand.
  void add(const Operand& operand, MadeRow row);

  const BlockText& text() const { return text_; }
  // The name of node n's table in local memory, of all codes of `source`, which every group makes.
  std::string table_of(int n, const Operand& source);

 private:
  // How the planes are read that a row is made of.
  struct Reading {
    int move = -1;       // from where that node sends their pixels
    bool ahead = false;  // before the first row
  };
  RowPlaces row_of(const Operand& operand, const Reading& reading);
  RowPlaces add_once(const std::string& name, const std::function<MadeRow()>& made);
  MadeRow point_row(int n, const std::string& name, const Reading& reading);
  MadeRow packed_point_row(int n, const std::string& name);
  // Pixel k of an operand with that of row r + py/2, the rest of which is 0; empty where it is not
  // there.
  std::string packed_pixel(const Operand& operand) const;

  Block block_;
  std::set<int> packed_points_, tables_;
  Quotients* quotients_;
  KnownWindows windows_;
  std::map<std::string, RowPlaces> made_;
  BlockText text_;
};

// The name of the array of an operand's row.
std::string row_name(const Operand& operand);

// The block of point node n with its quotients by reciprocals, stored if all are exact; what is
// written after it makes the others.
std::string rows_by_reciprocals(const Block& block, int n, const PlaneText& plane);
// The same of a block whose rows `text` makes, in the array NAME.
std::string quick_rows(const Block& block, const Quotients& quotients, const std::string& text,
                       const std::string& array, const PlaneText& plane);

}  // namespace impipe::jit
