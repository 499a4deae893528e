// What a run that watches a folder settles before it begins and, file by file, while it goes on.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/output_names.hpp"
#include "engine/work_list.hpp"
#include "io/files/outputs.hpp"
#include "io/files/watch.hpp"

namespace impipe::engine {

// Throws Error (usage) for options that go with no watch, or not with this one.
void check_watch_options(const RunOptions& options, const pipeline::Pipeline& pipeline,
                         const io::OutputTarget* target);
// Throws Error (usage) when what the run writes would be taken for new pictures.
void check_feeding(const io::Watch& watch, const RunOptions& options,
                   const pipeline::Pipeline& pipeline, const io::OutputTarget* target);

// Work as large as what a watch may yet have to do, when `first` came first.
WorkCost cost_of_watch(WorkCost first);

// The names of all results of a watch.
class WatchedNames {
 public:
  explicit WatchedNames(const io::Watch& watch) : watch_(watch) {}

  // As name_outputs; but a picture that can have no name of its own, or is that of another input's
  // result, fails alone. Returns what the user should know, or nothing.
  std::string settle(WorkList& work, const NamingTask& task);
  // In whose folders what was left is swept.
  std::set<std::string>& swept() { return swept_; }

 private:
  void claim(Picture& picture);
  std::string why_not(const std::string& result, const std::string& input);
  void forget_gone();

  const io::Watch& watch_;
  std::map<std::string, std::string> inputs_;  // by result
  std::size_t enough_ = 1000;                  // results to look for those whose input is gone
  std::set<std::string> swept_;
};

}  // namespace impipe::engine
