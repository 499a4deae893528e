// The text and the JSON of --profile.
#pragma once

#include <string>

#include "engine/profile.hpp"

namespace impipe::cli {

std::string profile_text(const engine::Profile& profile);
std::string profile_json(const engine::Profile& profile);  // one line

}  // namespace impipe::cli
