// What a profile tells of a run that has ended.
#pragma once

#include <vector>

#include "engine/batch/picture.hpp"
#include "engine/run_end.hpp"
#include "engine/run_options.hpp"

namespace impipe::engine {

// Everything but the wall time and what the devices reach at best. `settings` has a timeline.
Profile make_profile(const BatchEnd& batch, const PictureSettings& settings,
                     const RunOptions& options, const std::vector<Picture>& pictures);

// What the devices reach at best. Measuring it is none of the profile's times: it comes after them.
void add_limits(Profile& profile, Lanes& lanes);

}  // namespace impipe::engine
