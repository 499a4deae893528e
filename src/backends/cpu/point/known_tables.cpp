// Tables of 65,536 codes that were made before.
#include "backends/cpu/point/known_tables.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace impipe::cpu {
namespace {

constexpr std::size_t remembered = 16;

struct Known {
  std::mutex mutex;
  std::deque<std::pair<TableOf, KnownTable>> tables;
};
Known& known() {
  static auto* tables = new Known;  // threads may outlive static destructors
  return *tables;
}

}  // namespace

std::optional<KnownTable> known_table(const TableOf& what) {
  std::lock_guard lock(known().mutex);
  for (const auto& [of, table] : known().tables) {
    if (of == what) return table;
  }
  return std::nullopt;
}

void remember_table(const TableOf& what, const KnownTable& table) {
  std::lock_guard lock(known().mutex);
  known().tables.emplace_back(what, table);
  if (known().tables.size() > remembered) known().tables.pop_front();
}

}  // namespace impipe::cpu
