// What the text of a pipeline may read and write when it is not trusted (--sandbox). Flags are the
// caller's own and are not restricted. docs/security.md tells what a text can do.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/files/outputs.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

struct Sandbox {
  bool on = false;
  std::vector<std::filesystem::path> folders;  // that @file may read below; real paths
};

// From "DIR,DIR"; the word "on" stands for no folder. Throws Error for what is no folder.
Sandbox make_sandbox(const std::string& text);

// Throws Error with the place in the text for an @file outside the folders. Nothing has been read
// then.
void check_files(const pipeline::Pipeline& pipeline, const Sandbox& sandbox);

// Throws Error with the place in the text unless the file that `save` of this stage is to write
// lies below the folder of -o, by a path without "..", and without symbolic links below that
// folder.
void check_save(const pipeline::Pipeline& pipeline, int stage, const std::filesystem::path& path,
                const io::OutputTarget* target);

}  // namespace impipe::engine
