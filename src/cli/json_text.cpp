// Makes JSON safe to show.
#include "cli/json_text.hpp"

#include "core/printable.hpp"
#include "core/text.hpp"

namespace impipe::cli {

std::string json_text(const nlohmann::ordered_json& json) {
  const auto dump = [&json](bool ascii) {
    return json.dump(-1, ' ', ascii, nlohmann::ordered_json::error_handler_t::replace);
  };
  std::string text = dump(false);
  return printable(text) == text ? text : dump(true);
}

nlohmann::ordered_json json_number(double value) {
  const std::string_view word = json_word(value);
  return word.empty() ? nlohmann::ordered_json(value) : nlohmann::ordered_json(word);
}

nlohmann::ordered_json json_numbers(std::span<const double> values) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const double value : values) all.push_back(json_number(value));
  return all;
}

}  // namespace impipe::cli
