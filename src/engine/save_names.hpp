// The files that `save TEMPLATE` writes, settled before any work.
#pragma once

#include <span>

#include "engine/picture.hpp"
#include "io/outputs.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

// Names them for each picture, whose outputs are named already. Throws Error when two results would
// have one name, when one would replace an input, and in a sandbox for what check_save refuses.
void name_saves(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                const pipeline::Pipeline& pipeline, const io::OutputTarget* target, bool sandboxed);

}  // namespace impipe::engine
