// Matches the arguments of one stage to its operator's parameters.
#pragma once

#include <map>
#include <string>

#include "core/operator.hpp"
#include "pipeline/script.hpp"

namespace impipe::pipeline {

// The checked values by parameter name, defaults included. Rules (docs/architecture.md): `key=`
// names the parameter; a bare word goes to the first unset parameter that has that value; numbers
// fill the unset numeric parameters in order; a letter with a number is the parameter with that
// letter.
std::map<std::string, ParameterValue, std::less<>> match_arguments(const Script& script,
                                                                   const Stage& stage,
                                                                   const Operator& op);

}  // namespace impipe::pipeline
