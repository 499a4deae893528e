// Figures that papers state, beside what was measured here.
#include "bench/published.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace impipe::bench {
namespace {

using Table = std::vector<ComparedRow>;

const ComparedRow* find_row(const Table& table, const std::string& device, const char* variant) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const ComparedRow& r) {
    return r.device == device && r.variant == variant && r.error.empty();
  });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace

std::vector<PublishedHere> published_here(const std::vector<Table>& tables) {
  std::vector<PublishedHere> all;
  for (const Suite& suite : all_suites()) {
    for (const Published& published : suite.published) {
      const size_t first = all.size();
      for (const Table& table : tables) {
        if (table.empty() || table.front().suite != suite.name) continue;
        for (const ComparedRow& faster : table) {
          if (faster.variant != published.faster || !faster.error.empty()) continue;
          const ComparedRow* slower = find_row(table, faster.device, published.slower);
          if (slower == nullptr) continue;
          const double times = slower->result.device / faster.result.device;
          auto here = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                   [&](const auto& p) { return p.device == faster.device; });
          if (here == all.end()) {
            here = all.insert(all.end(), {&suite, &published, faster.device, times, times});
          }
          here->least = std::min(here->least, times);
          here->most = std::max(here->most, times);
          ++here->rows;
        }
      }
    }
  }
  return all;
}

std::string published_text(const PublishedHere& here) {
  return fmt::format("{}: {} ({}); {} here: {:.2f} to {:.2f}, {} over {}\n", here.published->what,
                     here.published->figure, here.published->source, here.device, here.least,
                     here.most, here.published->faster, here.published->slower);
}

nlohmann::ordered_json published_value(const std::vector<PublishedHere>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const PublishedHere& here : all) {
    list.push_back({{"suite", here.suite->name},
                    {"what", here.published->what},
                    {"figure", here.published->figure},
                    {"source", here.published->source},
                    {"faster", here.published->faster},
                    {"slower", here.published->slower},
                    {"device", here.device},
                    {"least", here.least},
                    {"most", here.most},
                    {"rows", here.rows}});
  }
  return list;
}

}  // namespace impipe::bench
