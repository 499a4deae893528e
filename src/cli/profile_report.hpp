// What --profile and --trace tell of a run: a table, JSON, a page of HTML and a trace.
#pragma once

#include <string>

#include "engine/batch/profile.hpp"

namespace impipe::cli {

// "bound by decoding: 16 threads busy 86 %, cuda:0 busy 6 %"
std::string profile_verdict(const engine::Profile& profile);
// "profile: 6 files in 0.156 s, 38.5 files/s: " and the verdict.
std::string profile_line(const engine::Profile& profile);
std::string profile_text(const engine::Profile& profile);
std::string profile_json(const engine::Profile& profile);  // one line

// One page that shows the profile without a network; the JSON is in it.
std::string profile_page(const engine::Profile& profile);
// Events as chrome://tracing and Perfetto read them: a process for the threads and one for each
// device, a thread for each of their lanes.
std::string profile_trace(const engine::Profile& profile);

}  // namespace impipe::cli
