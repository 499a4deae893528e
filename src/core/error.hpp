// The one error type of the project, and the exit codes a user sees.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace impipe {

// Exit codes, as documented in README.md; the first that matches wins, in the order of that list.
enum class ExitCode {
  ok = 0,
  file_failed = 1,    // some file failed, the others were done
  usage = 2,          // arguments, pipeline text, output collision, unusable output root
  nothing_found = 3,  // no argument matched any file
  backend = 4,        // the backend or device asked for is not usable
  sigint = 130,
  sigterm = 143,
};

// Thrown for anything that is the user's to mend. Caught per file in engine/batch (that file
// failed, the others go on) and in main (the message goes to stderr, the code to the shell).
// `what()` is the whole message without a trailing newline; it may have several lines.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::usage, bool may_pass = false)
      : std::runtime_error(message), code_(code), may_pass_(may_pass) {}
  // What `error` says, behind `before`.
  Error(const std::string& before, const Error& error, ExitCode code = ExitCode::file_failed)
      : Error(before + error.what(), code, error.may_pass_) {}
  ExitCode code() const { return code_; }
  // Whether the same may succeed a little later, as where a network or a disk fails (--retries).
  bool may_pass() const { return may_pass_; }

 private:
  ExitCode code_;
  bool may_pass_;
};

// What the system says of its error `number`, behind `before`; of a file (file_failed).
Error system_error(int number, const std::string& before = "");

// A half-open range of bytes of the pipeline text.
struct Span {
  int begin = 0;
  int end = 0;
  bool operator==(const Span&) const = default;
};

// An Error that shows the place: "impipe: pipeline:1:12: MESSAGE", the line, carets under the span.
// `origin` names where the text came from ("pipeline", or the file given with -f).
Error error_at(std::string_view text, Span span, std::string_view message,
               std::string_view origin = "pipeline");

}  // namespace impipe
