// A cache of lookup tables of 65,536 entries, of which one takes as long to fill as a large image.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/tile/code_table.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// What a table depends on.
struct TableOf {
  const PointBody* body = nullptr;
  std::vector<double> args;
  PixelClass from = PixelClass::uint16, to = PixelClass::uint16;
  CpuLevel level = CpuLevel::baseline;
  bool operator==(const TableOf&) const = default;
};
struct KnownTable {
  std::shared_ptr<const CodeTable> table;
  bool replaceable = false;  // see PointProgram::can_replace
};

// The last few are remembered. Any thread.
std::optional<KnownTable> known_table(const TableOf& what);
void remember_table(const TableOf& what, const KnownTable& table);

}  // namespace impipe::cpu
