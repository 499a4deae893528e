// Puts together what the parts of a run have noted.
#include "engine/run_profile.hpp"

#include <sys/resource.h>

#include "backends/registry.hpp"
#include "engine/run_state.hpp"
#include "pipeline/explain.hpp"

namespace impipe::engine {
namespace {

// Bytes of the process that were in memory at most.
std::int64_t peak_process_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} << 10;
}

void add_times(Profile& profile, const BatchEnd& batch, const PictureSettings& settings) {
  profile.times = batch.times;
  const CompileCounts compiled = backends::compile_counts();
  profile.compiled = compiled.compiled;
  profile.cached = compiled.cached;
  profile.compile = compiled.seconds;
  for (const auto& [begin, end] : compiled.intervals) {
    settings.timeline->add({.kind = Slice::Kind::compile, .begin = begin, .end = end});
  }
  profile.sums = settings.timeline->sums();
  profile.start_up = profile.sums.wall_of(Slice::Kind::start_up);
  profile.steps = settings.step_times.steps();
  profile.uploaded = settings.step_times.uploaded();
  profile.downloaded = settings.step_times.downloaded();
  profile.copied_up = settings.step_times.copied_up();
  profile.copied_down = settings.step_times.copied_down();
}

}  // namespace

Profile make_profile(const BatchEnd& batch, const PictureSettings& settings,
                     const RunOptions& options, const std::vector<Picture>& pictures) {
  Profile profile;
  profile.pipeline = settings.lanes->pipeline().text;
  profile.fused = options.session.fuse;
  profile.inputs = options.inputs;
  profile.output = options.output;
  profile.threads = batch.threads;
  profile.files = batch.done;
  profile.failed = batch.failed;
  profile.skipped = batch.skipped;
  if (const Picture* planned = first_planned(pictures)) {
    const Program& program = *planned->program;
    profile.plan = pipeline::explain(settings.lanes->pipeline(), program.plan, program.lowered);
    profile.type = program.plan.values[0].type;
    if (planned->info != nullptr) profile.size = planned->info->size();
  }
  add_times(profile, batch, settings);
  profile.peak_memory = plane_memory().peak;
  profile.process_peak = peak_process_memory();
  profile.estimated = settings.largest;
  for (Lanes::Share& share : settings.lanes->shares()) {
    profile.devices.push_back({std::move(share.device), share.images, share.peak_memory, {}, {}});
  }
  if (options.profile_slices > 0) {
    profile.slices = settings.timeline->first();
    profile.slices_cut = settings.timeline->is_cut();
    for (const Picture& picture : pictures) profile.names.push_back(picture.path);
  }
  return profile;
}
void add_limits(Profile& profile, Lanes& lanes) {
  for (size_t d = 0; d < profile.devices.size(); ++d) {
    if (d < profile.sums.devices.size()) profile.devices[d].times = profile.sums.devices[d];
    if (d < lanes.count()) profile.devices[d].speed = lanes.session(d).speed(profile.threads);
  }
  const double copy = profile.devices.front().speed.copy;
  for (size_t s = 0; s < profile.steps.size(); ++s) {
    StepProfile& step = profile.steps[s];
    if (s < profile.sums.steps.size()) step.seconds = profile.sums.steps[s];
    step.floor = copy > 0 ? step.bytes / copy : 0;
  }
}

}  // namespace impipe::engine
