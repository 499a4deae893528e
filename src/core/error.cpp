// Renders an error with the line of the user's text it is about and carets under the place.
#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/printable.hpp"

namespace impipe {
namespace {

// Columns are counted in code points, so that the caret stands under what the user typed.
int display_width(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// A long line is shown in part: so many characters before the place, and from it on.
constexpr int shown_before = 60;
constexpr int shown_after = 100;

bool starts_character(char c) { return (c & 0xC0) != 0x80; }

// Errors that may pass without a change to the file: disks, networks, and exhausted resources of
// the system. A missing file or permission is none of them.
constexpr std::array passing_errors = {
    EIO,          EREMOTEIO, ESTALE,     ETIMEDOUT,    ENETDOWN,     ENETUNREACH, EHOSTDOWN,
    EHOSTUNREACH, ENOTCONN,  ECONNRESET, ECONNABORTED, ECONNREFUSED, EAGAIN,      EBUSY,
    EINTR,        ENOLCK,    ENOMEM,     ENFILE,       EMFILE,       ENOSPC,      EDQUOT};

}  // namespace

Error system_error(int number, const std::string& before) {
  const bool passes =
      std::find(passing_errors.begin(), passing_errors.end(), number) != passing_errors.end();
  return Error(before + std::strerror(number), ExitCode::file_failed, passes);
}

Error error_at(std::string_view text, Span span, std::string_view message,
               std::string_view origin) {
  const int size = static_cast<int>(text.size());
  const int begin = std::clamp(span.begin, 0, size);
  const int end = std::clamp(span.end, begin, size);
  const std::string_view before = text.substr(0, begin);
  const size_t newline = before.rfind('\n');
  const size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t line_end = std::min(text.find('\n', begin), text.size());
  const auto line_number = 1 + std::count(before.begin(), before.end(), '\n');
  size_t shown_begin = begin;
  for (int n = 0; n < shown_before && shown_begin > line_begin;) {
    n += starts_character(text[--shown_begin]);
  }
  size_t shown_end = begin;
  for (int n = 0; shown_end < line_end; ++shown_end) {
    n += starts_character(text[shown_end]);
    if (n > shown_after) break;
  }
  const std::string_view ellipsis = "\xE2\x80\xA6";
  std::string line(shown_begin > line_begin ? ellipsis : "");
  line += text.substr(shown_begin, shown_end - shown_begin);
  if (shown_end < line_end) line += ellipsis;
  // Tabs and other control characters would move the caret: each is shown as one character.
  line = printable_in_place(line);
  const int column = display_width(text.substr(line_begin, begin - line_begin));
  const int indent = display_width(text.substr(shown_begin, begin - shown_begin)) +
                     (shown_begin > line_begin ? 1 : 0);
  const size_t marked_end = std::clamp<size_t>(end, begin, shown_end);
  const int carets = std::max(1, display_width(text.substr(begin, marked_end - begin)));
  std::string out(origin);
  out += ":" + std::to_string(line_number) + ":" + std::to_string(column + 1) + ": ";
  out += message;
  out += "\n  " + line + "\n  " + std::string(indent, ' ') + std::string(carets, '^');
  return Error(out, ExitCode::usage);
}

}  // namespace impipe
