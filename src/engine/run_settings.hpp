// What a run settles from its options before it looks at any file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch/picture.hpp"
#include "engine/run_options.hpp"
#include "io/files/outputs.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

// How many files the inputs can be at most, where a glance tells; 0 where it does not, and for
// large files, which may hold many pictures.
std::int64_t max_files(const RunOptions& options);
// Where results go; nothing where none are written. Throws Error (usage) for unknown formats.
std::optional<io::OutputTarget> target_of(const RunOptions& options);

// Throws Error (usage) where --in-place does not go with the rest.
void check_in_place(const RunOptions& options, const pipeline::Pipeline& pipeline);

// Throws Error (usage) where what the plan makes can't go to the target, which may be null.
void check_target(const io::OutputTarget* target, const Plan& plan,
                  const pipeline::Pipeline& pipeline, const RunOptions& options);

// The files that the pipeline reads, apart from its images: kernels, tables.
std::vector<std::string> read_files(const pipeline::Pipeline& pipeline);

// The operator that ends the pipeline, for messages.
std::string last_operator(const pipeline::Pipeline& pipeline);

// What all files have in common but the devices. memory: bytes in flight.
void fill_settings(PictureSettings& settings, const RunOptions& options,
                   const pipeline::Pipeline& pipeline, std::int64_t memory);

}  // namespace impipe::engine
