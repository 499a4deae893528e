// Numbers measurements whose names are taken.
#include "core/report_columns.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "core/object_table.hpp"

namespace impipe {
namespace {

class Names {
 public:
  explicit Names(const Plan& plan) : values_(plan.values) {
    for (const PlanMeasurement& one : plan.measurements) {
      if (!one.objects) continue;
      for (const std::string& column : impipe::columns_of(*one.objects)) {
        columns_.insert(column);
      }
    }
  }

  // Of one stage.
  void give(std::span<PlanMeasurement> stage, const std::string* name) {
    std::vector<std::string> plain;
    for (const PlanMeasurement& one : stage) {
      plain.push_back(name == nullptr     ? one.name
                      : stage.size() == 1 ? *name
                                          : *name + "_" + one.name);
    }
    // Stages that begin alike would find the same numbers taken.
    int& number = numbers_[keys_of(stage.front(), plain.front()).front()];
    std::vector<std::string> columns, keys;
    do {
      ++number;
      columns.clear();
      keys.clear();
      for (std::size_t i = 0; i < stage.size(); ++i) {
        stage[i].name = number == 1 ? plain[i] : plain[i] + "." + std::to_string(number);
        for (const std::string& one : columns_of(stage[i], stage[i].name)) columns.push_back(one);
        for (const std::string& one : keys_of(stage[i], stage[i].name)) keys.push_back(one);
      }
    } while (is_any_in(columns_, columns) || is_any_in(keys_, keys));
    columns_.insert(columns.begin(), columns.end());
    keys_.insert(keys.begin(), keys.end());
  }

 private:
  static bool is_any_in(const std::set<std::string>& taken, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& one) { return taken.contains(one); });
  }

  // What a measurement's numbers are called in a table; nothing where they are too many. Of several
  // channels also what they are called in a table of gray pictures: one table may have pictures of
  // both kinds, and a column has the same measurement in all its rows.
  std::vector<std::string> columns_of(const PlanMeasurement& of, const std::string& name) const {
    if (of.objects) return {};  // those of all tables are taken
    const PlanValue& value = values_[static_cast<std::size_t>(of.value)];
    std::vector<std::string> names;
    for (std::int64_t e = 0; e < value.values && value.values <= max_in_a_row; ++e) {
      names.push_back(column_name(name, 1, 0, value.values, e));
      for (int c = 0; c < value.channels && value.channels > 1; ++c) {
        names.push_back(column_name(name, value.channels, c, value.values, e));
      }
    }
    return names;
  }

  // And in JSON, where an array has one name.
  std::vector<std::string> keys_of(const PlanMeasurement& of, const std::string& name) const {
    return of.in_columns && !of.objects ? columns_of(of, name) : std::vector{name};
  }

  const std::vector<PlanValue>& values_;
  std::set<std::string> columns_{"file", "page", "table", "hash"};  // taken; of every report
  std::set<std::string> keys_ = columns_;
  std::map<std::string, int> numbers_;  // the last that was tried, by the first key without one
};

}  // namespace

std::string column_name(std::string_view measurement, int channels, int channel,
                        std::int64_t values, std::int64_t element) {
  static constexpr const char* colours[] = {"_r", "_g", "_b"};
  std::string name(measurement);
  if (channels == 3) {
    name += colours[channel];
  } else if (channels > 1) {
    name += "_c" + std::to_string(channel + 1);
  }
  if (values > 1) name += "_" + std::to_string(element + 1);
  return name;
}

void name_measurements(Plan& plan, const std::map<int, std::string>& stage_names) {
  Names names(plan);
  std::vector<PlanMeasurement>& all = plan.measurements;
  // What the user says goes first.
  for (const bool named : {true, false}) {
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(
          begin, all.end(), [&](const PlanMeasurement& one) { return one.stage != begin->stage; });
      const auto name = stage_names.find(begin->stage);
      if ((name != stage_names.end()) == named) {
        names.give({begin, end}, named ? &name->second : nullptr);
      }
      begin = end;
    }
  }
  for (const PlanMeasurement& one : all) {
    if (one.objects || !one.in_columns) continue;
    const PlanValue& value = plan.values[static_cast<std::size_t>(one.value)];
    for (int c = 0; c < value.channels; ++c) {
      for (int e = 0; e < value.values; ++e) {
        plan.columns.push_back(
            {column_name(one.name, value.channels, c, value.values, e), one.value, e, c});
      }
    }
  }
}

}  // namespace impipe
