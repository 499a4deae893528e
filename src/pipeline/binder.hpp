// Gives a Script its meaning: finds the operators, matches arguments to parameters, checks ranges
// and expands aliases.
#pragma once

#include "pipeline/pipeline.hpp"
#include "pipeline/script.hpp"

namespace impipe::pipeline {

// Throws Error with the place in the text: unknown names (with the nearest known one), arguments
// that fit no parameter, values out of range, what is missing or given twice.
Pipeline bind(const Script& script);

}  // namespace impipe::pipeline
