// Where the results of every input go, settled before any work: no two in one place, and none in
// the place of something that the run reads.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/batch/picture.hpp"
#include "engine/run_options.hpp"
#include "io/files/inputs.hpp"
#include "io/files/outputs.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

// What names depend on, beside the inputs.
struct NamingTask {
  const io::OutputTarget* target = nullptr;  // null: only what `save` writes
  const pipeline::Pipeline& pipeline;
  std::span<const std::unique_ptr<Operand>> operands;
  const RunOptions& options;
};

// Whether the results of all inputs follow each other in one file or stream: an input that is named
// twice is in it twice.
bool takes_results_in_turn(const io::OutputTarget& target);

// Sets `output` with its format and class, and `saves` of the pictures, one an input. Returns what
// the user should know, or nothing. Throws Error (usage) that names both when two files collide.
std::string name_outputs(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                         const NamingTask& task);

// Takes away what runs that were killed have left in the folders that this one writes to, but for
// those that `swept` has already. in_place: a link's folder is that of the file it leads to.
void sweep_folders(const std::vector<Picture>& pictures, bool in_place,
                   std::set<std::string>& swept);

}  // namespace impipe::engine
