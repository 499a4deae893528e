// Finds the command that is meant, reads its arguments and runs it.
#include "cli/app.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>

#include "cli/help.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/text.hpp"

namespace impipe::cli {
namespace {

std::vector<std::string> visible_names(const CommandSet& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands.all()) {
    if (!command->hidden) names.push_back(command->app->get_name());
  }
  return names;
}

// `impipe PIPELINE …` is `impipe run PIPELINE …`; a lone word that is neither a command nor an
// operator is more likely a mistyped command than a pipeline when a command's name is near.
void insert_run(std::vector<std::string>& arguments, const CommandSet& commands) {
  const std::string& first = arguments.front();
  if (commands.find(first) != nullptr) return;
  if (is_name(first) && find_operator(first) == nullptr) {
    const std::string near = nearest(first, visible_names(commands));
    std::vector<std::string_view> operators;
    for (const Operator& op : catalogue()) operators.push_back(op.name);
    if (!near.empty() && nearest(first, operators).empty()) {
      throw Error("there is no command or operator '" + first + "'; did you mean 'impipe " + near +
                  "'?");
    }
  }
  arguments.insert(arguments.begin(), "run");
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void fail_unknown_option(const Command& command, const std::string& text) {
  std::error_code error;
  if (std::filesystem::exists(text, error)) {
    throw Error("unknown option '" + text + "'; names that begin with a dash follow after --");
  }
  const std::string name = text.substr(0, text.find('='));
  const std::vector<std::string> known = option_names(*command.app);
  if (text.find_first_not_of("-.0123456789") == text.npos) {
    throw Error("unknown option '" + text +
                "'; a pipeline with its numbers is one argument, in "
                "quotes: impipe 'imlincomb 1 -1 :b' INPUT... -o OUTPUT");
  }
  std::string hint = name.starts_with("--") ? hint_for_option(name, known) : "";
  if (hint.empty() && name.starts_with("--")) hint = did_you_mean(name, known);
  if (hint.empty()) hint = "; see " + command.called + " --help";
  throw Error("unknown option '" + name + "'" + hint);
}

// The arguments that may be options: what follows "--" are names.
std::span<const std::string> before_names(std::span<const std::string> arguments) {
  return arguments.first(
      static_cast<size_t>(std::find(arguments.begin(), arguments.end(), "--") - arguments.begin()));
}

bool wants_help(std::span<const std::string> arguments) {
  const std::span<const std::string> options = before_names(arguments);
  return std::any_of(options.begin(), options.end(),
                     [](const std::string& a) { return a == "--help" || a == "-h"; });
}

// `impipe help NAME` and `impipe NAME --help` are about a command, or an operator.
void name_what_helps(std::vector<std::string>& arguments, const CommandSet& commands) {
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    if (commands.find(arguments.front()) != nullptr) {
      arguments.emplace_back("--help");
    } else {
      arguments.insert(arguments.begin(), "ops");
    }
    return;
  }
  insert_run(arguments, commands);
  if (arguments.front() != "run" || arguments.size() < 2 || !is_name(arguments[1])) return;
  if (wants_help(arguments)) arguments = {"ops", arguments[1]};
}

// --backend and --device name the same thing: one on the command line counts, whatever the variable
// of the other says.
void prefer_arguments(std::span<const std::string> arguments) {
  const auto given = [&](const std::string& name) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& a) {
      return a == name || a.starts_with(name + "=");
    });
  };
  const bool backend = given("--backend"), device = given("--device");
  if (backend && !device) unsetenv("IMPIPE_DEVICE");
  if (device && !backend) unsetenv("IMPIPE_BACKEND");
}

// Gives the command what CLI11 has left over: the words that are no options.
void take_words(const Command& command) {
  bool names_only = false;
  for (const std::string& extra : command.app->remaining()) {
    if (!names_only && extra == "--") {
      names_only = true;
      continue;
    }
    if (!names_only && extra.size() > 1 && extra[0] == '-') fail_unknown_option(command, extra);
    if (command.words == nullptr || command.words->size() == command.max_words) {
      throw Error("unexpected argument '" + extra + "'; see " + command.called + " --help");
    }
    command.words->push_back(extra);
  }
}

bool is_given(const CLI::Option& option, std::span<const std::string> arguments) {
  return std::ranges::any_of(before_names(arguments), [&](const std::string& argument) {
    const bool is_long = argument.starts_with("--");
    const auto is_one = [&](const std::string& name) {
      if (is_long) return argument.substr(2, argument.find('=') - 2) == name;
      return argument.starts_with('-') && argument.find(name) != argument.npos;
    };
    return std::ranges::any_of(is_long ? option.get_lnames() : option.get_snames(), is_one);
  });
}

// The message with variables instead of the options that they have set.
std::string with_variables(std::string message, const CLI::App& app,
                           std::span<const std::string> arguments) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string& variable = option->get_envname();
    if (variable.empty() || std::getenv(variable.c_str()) == nullptr) continue;
    if (is_given(*option, arguments)) continue;
    for (const std::string& name : option->get_lnames()) {
      const std::string flag = "--" + name;
      for (size_t at = 0; (at = message.find(flag, at)) != message.npos; at += variable.size()) {
        const size_t end = at + flag.size();
        const char next = end < message.size() ? message[end] : ' ';
        const bool is_longer = next == '-' || std::isalnum(static_cast<unsigned char>(next)) != 0;
        if (!is_longer) message.replace(at, flag.size(), variable);
      }
    }
  }
  return message;
}

// CLI11's words, made to look like ours.
[[noreturn]] void fail_parse(const Command& command, const CLI::ParseError& error) {
  std::string message = error.what();
  const size_t newline = message.find('\n');
  if (newline != std::string::npos) message.resize(newline);
  throw Error(message + "; see " + command.called + " --help");
}

int parse_and_run(Command& command, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    command.app->parse(arguments);
  } catch (const CLI::ParseError& error) {
    fail_parse(command, error);
  }
  take_words(command);
  return command.run();
}

}  // namespace

void add_commands(CommandSet& commands) {
  add_run(commands);
  add_serve(commands);
  add_plan(commands);
  add_export(commands);
  add_ops(commands);
  add_devices(commands);
  add_formats(commands);
  add_bench(commands);
  add_diff(commands);
  add_info(commands);
  add_cache(commands);
  add_completions(commands);
  add_man(commands);
}

Command* CommandSet::find(const std::string& name) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [&](const auto& c) { return c->app->get_name() == name; });
  return found == commands_.end() ? nullptr : found->get();
}

Command& CommandSet::add(const std::string& name, const std::string& called) {
  commands_.push_back(std::make_unique<Command>());
  Command& command = *commands_.back();
  command.called = called.empty() ? "impipe " + name : called;
  // Each an application of its own: as one's subcommands, their names could not be files.
  apps_.push_back(std::make_unique<CLI::App>("", name));
  command.app = apps_.back().get();
  command.app->set_help_flag("");
  command.app->add_flag("-h,--help", command.wants_help, "This text");
  command.app->allow_extras();  // words, and unknown options, which get our message
  return command;
}

std::string variable_of(const std::string& names) {
  std::string out = "IMPIPE_";
  for (const char c : names.substr(names.find("--") + 2)) {
    if (c == ',') break;
    out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

CLI::Validator in_range(int low, int high) { return CLI::Range(low, high).description(""); }
CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "it is empty" : std::string(); }, "");
}
CLI::Validator one_or_three() { return CLI::IsMember({1, 3}).description(""); }

CLI::Option* flag(CLI::App* app, const std::string& names, bool& target, const std::string& help) {
  return app->add_flag(names, target, help)->envname(variable_of(names));
}

int run_command(Command& command, std::vector<std::string> arguments) {
  if (wants_help(arguments)) {
    write_stdout(command_help(command));
    return 0;
  }
  prefer_arguments(before_names(arguments));
  const std::vector<std::string> given = arguments;
  try {
    return parse_and_run(command, std::move(arguments));
  } catch (const Error& error) {
    throw Error(with_variables(error.what(), *command.app, given), error.code());
  }
}

int run_app(std::vector<std::string> arguments) {
  install_signal_handlers();
  if (arguments.empty()) {
    write_stderr("impipe: no pipeline given\n");
    std::fputs(main_help().c_str(), stderr);
    return static_cast<int>(ExitCode::usage);
  }
  if (arguments[0] == "--help" || arguments[0] == "-h" ||
      (arguments[0] == "help" && arguments.size() == 1)) {
    write_stdout(main_help());
    return 0;
  }
  if (arguments[0] == "--version" || arguments[0] == "-V") {
    const auto verbose = [](const std::string& a) { return a == "--verbose" || a == "-v"; };
    write_stdout(version_text(std::any_of(arguments.begin(), arguments.end(), verbose)));
    return 0;
  }
  CommandSet commands;
  add_commands(commands);
  const std::vector<std::string> line = arguments;
  name_what_helps(arguments, commands);
  Command& command = *commands.find(arguments.front());
  command.line = line;
  arguments.erase(arguments.begin());
  return run_command(command, std::move(arguments));
}

int report_errors(const std::string& program, const std::function<int()>& run) {
  try {
    return run();
  } catch (const Error& error) {
    write_stderr(program + ": " + error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    write_stderr(program + ": out of memory");
  } catch (const std::exception& error) {  // of a library: a mutex, a stream, a format
    write_stderr(program + ": " + error.what());
  }
  return static_cast<int>(ExitCode::file_failed);
}

int run_and_report(std::vector<std::string> arguments) {
  return report_errors("impipe", [&] { return run_app(std::move(arguments)); });
}

}  // namespace impipe::cli
