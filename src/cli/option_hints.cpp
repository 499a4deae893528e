// Finds options by the names that other tools give them.
#include "cli/help.hpp"

#include <algorithm>

#include "core/operator.hpp"
#include "pipeline/hints.hpp"

namespace impipe::cli {
namespace {

struct OptionHint {
  std::string_view name;    // without its dashes
  std::string_view option;  // ours
  std::string_view value;   // as the message has it
};

constexpr OptionHint hints[] = {
    {"bit-depth", "--depth", " CLASS"},
    {"bits", "--depth", " CLASS"},
    {"continue", "--update", ""},
    {"cores", "-j", " N"},
    {"cpus", "-j", " N"},
    {"cuda", "--device", " cuda"},
    {"destination", "-o", " PATH"},
    {"dtype", "--depth", " CLASS"},
    {"ext", "--format", " EXT"},
    {"extension", "--format", " EXT"},
    {"gpu", "--device", " cuda or --device opencl"},
    {"gpu-memory", "--gpu-mem", " SIZE"},
    {"gpus", "--device", " cuda:0,cuda:1 or --device all"},
    {"jobs", "-j", " N"},
    {"log", "--errors", " FILE"},
    {"log-file", "--errors", " FILE"},
    {"max-memory", "--memory", " SIZE"},
    {"max-threads", "-j", " N"},
    {"mem", "--memory", " SIZE"},
    {"memory-limit", "--memory", " SIZE"},
    {"monitor", "--progress", " lines"},
    {"no-metadata", "--strip", ""},
    {"no-overwrite", "--no-clobber", ""},
    {"nproc", "-j", " N"},
    {"num-threads", "-j", " N"},
    {"num-workers", "-j", " N"},
    {"opencl", "--device", " opencl"},
    {"out", "-o", " PATH"},
    {"out-dir", "-o", " FOLDER"},
    {"out-format", "--format", " EXT"},
    {"outdir", "-o", " FOLDER"},
    {"output-dir", "-o", " FOLDER"},
    {"output-file", "-o", " FILE"},
    {"output-folder", "-o", " FOLDER"},
    {"output-format", "--format", " EXT"},
    {"output-type", "--format", " EXT"},
    {"parallel", "-j", " N"},
    {"recurse", "--recursive", ""},
    {"resume", "--update", ""},
    {"silent", "--quiet", ""},
    {"simulate", "--dry-run", ""},
    {"skip-existing", "--no-clobber", ""},
    {"stats", "--profile", ""},
    {"strip-metadata", "--strip", ""},
    {"use-gpu", "--device", " cuda or --device opencl"},
    {"workers", "-j", " N"},
};

// Of impipe-bench.
constexpr std::string_view of_suites[] = {"match", "naive", "suite", "variant"};

}  // namespace

std::string hint_for_option(std::string_view name, std::span<const std::string> known) {
  std::string word(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  for (char& c : word) c = c == '_' ? '-' : c;
  const auto hint = std::find_if(std::begin(hints), std::end(hints),
                                 [&](const OptionHint& h) { return h.name == word; });
  if (hint != std::end(hints)) {
    const bool has = std::find(known.begin(), known.end(), hint->option) != known.end();
    return has ? "; " + std::string(hint->option) + std::string(hint->value) + " does that" : "";
  }
  if (std::find(std::begin(of_suites), std::end(of_suites), word) != std::end(of_suites)) {
    return "; it is an option of impipe-bench, which a build from source has beside impipe";
  }
  if (const Operator* op = find_operator(word)) {
    return "; " + std::string(op->name) + " is an operator, a word of the pipeline";
  }
  const std::string of_pipeline = pipeline::hint_for(word);
  return of_pipeline.empty() ? "" : "; in the pipeline " + of_pipeline;
}

}  // namespace impipe::cli
