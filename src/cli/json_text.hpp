// JSON as the program prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace impipe::cli {

// One line, without its end. File names may hold any byte: what is not UTF-8 is replaced, and what
// a terminal would obey is written as \uNNNN.
std::string json_text(const nlohmann::ordered_json& json);

// JSON has no numbers for them: the strings "NaN", "Infinity" and "-Infinity", which Python's
// float(), JavaScript's Number() and NumPy read.
nlohmann::ordered_json json_number(double value);
nlohmann::ordered_json json_numbers(std::span<const double> values);

}  // namespace impipe::cli
