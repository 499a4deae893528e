// The program of one image, whose pipeline has arguments that are measured numbers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/device/session.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {

// Which part of the pipeline the image is the input of, and of which type.
struct PartInput {
  int part = 0;     // of the pipeline, which it is the input of
  ImageType first;  // what the first part takes
  std::map<std::string, ImageType> operands;
};

// Measures the numbers that stages of the part wait for, one after the other as they come, and
// makes the program in which they are constants. What stands before such a stage is computed once
// more with it. Throws Error (file_failed) where a parameter doesn't take its number.
std::shared_ptr<const Program> settled_program(Session& session, Queue& queue,
                                               const PartInput& input, const Material& material,
                                               const ExecuteOptions& options);

// The program of an image: the one of its type, or a settled one where arguments are measured.
std::shared_ptr<const Program> program_for(Session& session, Queue& queue, const PartInput& input,
                                           const Material& material, const ExecuteOptions& options);

}  // namespace impipe::engine
