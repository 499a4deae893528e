// A pipeline's kernels as source for other programs.
#pragma once

#include <filesystem>
#include <string>

#include "core/display_window.hpp"
#include "core/image.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

struct ExportOptions {
  ImageType type;  // of the image, and of every :NAME
  Size size;
  std::optional<DisplayWindow> display = {};
  bool is_cuda = false;
  std::string vendor;   // whose row of tuning numbers
  std::string program;  // "impipe 0.2.0", for the files' heads
};

// Writes the files of core/exported_code.hpp into `folder`, which is made where it is missing.
// Returns how many. Throws Error (usage) for a pipeline that needs the host on its way, and Error
// (file_failed) for a file that can't be written, or is there already.
int export_pipeline(const pipeline::Pipeline& pipeline, const ExportOptions& options,
                    const std::filesystem::path& folder);

}  // namespace impipe::engine
