#include "cli/serve/request.hpp"

#include <charconv>

#include "core/error.hpp"

namespace impipe::cli::serve {
namespace {

constexpr int most_umask = 0777;

[[noreturn]] void fail() { throw Error("the request is damaged"); }

// Takes strings off the front of a request.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::string_view text() {
    const std::size_t end = rest_.find('\0');
    if (end == rest_.npos) fail();
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }

  // As std::to_string writes it.
  std::size_t number(std::size_t most) {
    const std::string_view digits = text();
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc() || value > most || std::to_string(value) != digits) fail();
    return value;
  }

  std::vector<std::string> list() {
    std::vector<std::string> all;
    for (std::size_t count = number(rest_.size()); count > 0; --count) all.emplace_back(text());
    return all;
  }

  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string to_bytes(const Request& request) {
  std::string bytes;
  const auto add = [&](const std::string& text) { bytes.append(text.c_str(), text.size() + 1); };
  add(std::to_string(request.umask));
  for (const auto* list : {&request.process, &request.variables, &request.arguments}) {
    add(std::to_string(list->size()));
    for (const std::string& text : *list) add(text);
  }
  return bytes;
}

Request parse_request(std::string_view bytes) {
  Fields fields(bytes);
  Request request;
  request.umask = static_cast<int>(fields.number(most_umask));
  for (auto* list : {&request.process, &request.variables, &request.arguments}) {
    *list = fields.list();
  }
  fields.end();
  return request;
}

}  // namespace impipe::cli::serve
