// A command of the program: what it is called, what it takes and what it does. Help, completions
// and the manual page are made from the same description.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace impipe::cli {

struct Command {
  std::string called;    // "impipe diff": what --help stands behind
  std::string usage;     // "impipe diff A B"
  std::string summary;   // one line
  std::string examples;  // lines of shell; may be empty
  std::string notes;     // what its values may look like, in lines; may be empty
  bool hidden = false;   // left out of help and completions
  bool wants_help = false;
  CLI::App* app = nullptr;
  std::vector<std::string> line;  // all arguments of the program, as they came
  std::function<int()> run;       // returns the exit code
  // Where what is no option goes, and how much of it there may be. Not left to CLI11, which takes
  // "[a,b]" for a list of two.
  std::vector<std::string>* words = nullptr;
  std::size_t max_words = 0;
  void takes(std::vector<std::string>& to, std::size_t most = std::size_t(-1)) {
    words = &to;
    max_words = most;
  }
};

// Commands, each with its flags.
class CommandSet {
 public:
  const std::vector<std::unique_ptr<Command>>& all() const { return commands_; }
  Command* find(const std::string& name) const;

  // Adds a command; its flags follow with `flag` and `option`. called: "impipe NAME" when empty.
  Command& add(const std::string& name, const std::string& called = "");

 private:
  std::vector<std::unique_ptr<CLI::App>> apps_;
  std::vector<std::unique_ptr<Command>> commands_;
};

// Every flag can also be set with IMPIPE_ and its long name, in capitals: IMPIPE_MAX_PIXELS.
// names: "-o,--output". Whatever `target` holds before is the default.
template <class T>
CLI::Option* option(CLI::App* app, const std::string& names, T& target, const std::string& value,
                    const std::string& help);
CLI::Option* flag(CLI::App* app, const std::string& names, bool& target, const std::string& help);
// Checks that say nothing in the help, which has the range in words.
CLI::Validator in_range(int low, int high);
CLI::Validator not_empty();  // where a script's unset variable would mean everything
CLI::Validator one_or_three();
// Of --device: auto is what it is without the option.
inline std::string auto_as_none(const std::string& text) { return text == "auto" ? "" : text; }
// "IMPIPE_OUTPUT" for "-o,--output".
std::string variable_of(const std::string& names);

template <class T>
CLI::Option* option(CLI::App* app, const std::string& names, T& target, const std::string& value,
                    const std::string& help) {
  return app->add_option(names, target, help)->envname(variable_of(names))->type_name(value);
}

// --axes, of every command that reads pictures.
inline CLI::Option* add_axes(CLI::App* app, std::string& axes) {
  return option(app, "--axes", axes, "LETTERS",
                "Of NPYs, FITS and Zarrs without names, a letter an axis: Y, X, C channels, A "
                "channels "
                "with an alpha, others pages")
      ->check(not_empty());
}

// What `impipe cache` does, by name; for its help, the completions and the help of all.
std::vector<std::string> cache_actions();

// All commands of impipe; and each, one file each.
void add_commands(CommandSet& commands);
void add_run(CommandSet& commands);
void add_serve(CommandSet& commands);
void add_plan(CommandSet& commands);
void add_export(CommandSet& commands);
void add_ops(CommandSet& commands);
void add_devices(CommandSet& commands);
void add_formats(CommandSet& commands);
void add_bench(CommandSet& commands);
void add_diff(CommandSet& commands);
void add_info(CommandSet& commands);
void add_cache(CommandSet& commands);
void add_completions(CommandSet& commands);
void add_man(CommandSet& commands);

}  // namespace impipe::cli
