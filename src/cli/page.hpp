// Pages of HTML that need nothing but themselves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace impipe::cli {

// A page of `body`, in the common style, light and dark; `script` finds the data as JSON in the
// element `id` as `data`, and has at(id) and make(parent, name, attributes, text).
std::string html_page(const nlohmann::ordered_json& data, std::string_view id,
                      std::string_view body, std::string_view script);

}  // namespace impipe::cli
