// impipe completions: scripts for bash, zsh and fish, from the flags and operators there are.
#include <algorithm>
#include <functional>

#include "cli/command.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/operator.hpp"
#include "engine/format_report.hpp"

namespace impipe::cli {
namespace {

// One flag as completions need it.
struct FlagText {
  std::vector<std::string> names;  // with dashes
  bool takes_value = false;
  bool takes_file = false;
  std::vector<std::string> choices;  // of "a|b|c"
  std::string help;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The usual extension of each format that is written.
std::vector<std::string> written_extensions() {
  std::vector<std::string> out;
  for (const engine::FormatReport& format : engine::report_formats()) {
    if (format.writes) out.push_back(format.extensions.front());
  }
  return out;
}

std::vector<FlagText> flags_of(const Command& command) {
  std::vector<FlagText> flags;
  for (const CLI::Option* option : command.app->get_options()) {
    if (option->get_lnames().empty()) continue;
    FlagText flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    const std::string value = option->get_type_name();
    flag.takes_value = option->get_type_size() > 0;
    flag.takes_file = value == "FILE" || value == "PATH" || value == "LIST" || value == "NAME=PATH";
    if (value == "CLASS") flag.choices = {"logical", "uint8", "uint16", "single"};
    if (value == "CLASS" && flag.names.front() == "-d") flag.choices.emplace_back("half");
    if (value == "EXT") flag.choices = written_extensions();
    if (value.find('|') != std::string::npos) flag.choices = split(value, '|');
    flag.help = option->get_description();
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const Operator& op : catalogue()) names.emplace_back(op.name);
  names.insert(names.end(), {"as", "save"});
  return names;
}

// Words that a command takes in place of files.
std::vector<std::string> words_of(const std::string& command) {
  if (command == "cache") return cache_actions();
  if (command == "completions") return {"bash", "zsh", "fish"};
  if (command == "ops") return operator_names();
  return {};
}

using Visible = std::vector<const Command*>;
Visible visible(const CommandSet& commands) {
  Visible out;
  for (const auto& command : commands.all()) {
    if (!command->hidden) out.push_back(command.get());
  }
  return out;
}

std::string bash_text(const Visible& commands) {
  std::vector<std::string> names, per_command;
  std::string values;
  for (const Command* command : commands) {
    const std::string name = command->app->get_name();
    names.push_back(name);
    std::vector<std::string> flags;
    for (const FlagText& flag : flags_of(*command)) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      if (!flag.takes_value) continue;
      const std::string then =
          !flag.choices.empty()
              ? "COMPREPLY=($(compgen -W '" + join(flag.choices, " ") + "' -- \"$cur\")); return"
          : flag.takes_file ? "COMPREPLY=($(compgen -f -- \"$cur\")); return"
                            : "COMPREPLY=(); return";
      for (const std::string& flag_name : flag.names) {
        values += "    " + name + ":" + flag_name + ") " + then + ";;\n";
      }
    }
    per_command.push_back("    " + name + ") flags='" + join(flags, " ") + "'; words='" +
                          join(words_of(name), " ") + "';;");
  }
  return R"(# bash completion for impipe; made by `impipe completions bash`
_impipe() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run flags words
  local operators=')" +
         join(operator_names(), " ") + R"('
  local commands=')" +
         join(names, " ") + R"('
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 1 && " $commands " == *" ${COMP_WORDS[1]} "* ]]; then
    command=${COMP_WORDS[1]}
  fi
  case "$command:$prev" in
)" + values +
         R"(  esac
  case "$command" in
)" + join(per_command, "\n") +
         R"(
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W '--help --version' -- "$cur"))
    return
  fi
  # Inside a quoted pipeline: the operator after the last '|'.
  if [[ $cur == [\'\"]* ]]; then
    local quote=${cur:0:1} last=${cur##*[| ]}
    last=${last#[\'\"]}
    local before=${cur:1:$((${#cur} - ${#last} - 1))}
    [[ ${#before} -lt 0 ]] && before=
    local word
    for word in $(compgen -W "$operators" -- "$last"); do COMPREPLY+=("$before$word"); done
    compopt -o nospace 2>/dev/null
    return
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  [[ $COMP_CWORD -eq 1 ]] && COMPREPLY=($(compgen -W "$commands $operators" -- "$cur"))
  COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _impipe impipe
)";
}

// For a zsh or fish text in single quotes, with `:` and brackets kept from _arguments.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':') {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_text(const Visible& commands) {
  std::string descriptions, cases;
  for (const Command* command : commands) {
    const std::string name = command->app->get_name();
    descriptions += "    '" + name + ":" + zsh_quoted(command->summary) + "'\n";
    cases += "    " + name + ")\n      _arguments -s \\\n";
    for (const FlagText& flag : flags_of(*command)) {
      const std::string others = "(" + join(flag.names, " ") + ")";
      for (const std::string& flag_name : flag.names) {
        std::string spec = others + flag_name + "[" + zsh_quoted(flag.help) + "]";
        if (flag.takes_value) {
          spec += ":value:";
          if (!flag.choices.empty()) spec += "(" + join(flag.choices, " ") + ")";
          if (flag.takes_file) spec += "_files";
        }
        cases += "        '" + spec + "' \\\n";
      }
    }
    const std::vector<std::string> words = words_of(name);
    const bool has_pipeline = name == "run" || name == "plan" || name == "bench";
    if (!words.empty()) {
      cases += "        '*:word:(" + join(words, " ") + ")'\n";
    } else if (has_pipeline) {
      cases += "        '1:pipeline:_impipe_pipeline' '*:file:_files'\n";
    } else {
      cases += "        '*:file:_files'\n";
    }
    cases += "      ;;\n";
  }
  return R"(#compdef impipe
# zsh completion for impipe; made by `impipe completions zsh`
_impipe_operators=()" +
         join(operator_names(), " ") + R"()

_impipe_pipeline() {
  # The operator after the last '|' of the pipeline.
  compset -P '*[| ]'
  _describe -t operators operator _impipe_operators
  _files
}

_impipe() {
  local -a commands
  commands=(
)" + descriptions +
         R"(  )
  local command=run
  if (( CURRENT > 2 )) && [[ -n ${commands[(r)$words[2]:*]} ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  elif (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
    _describe -t commands command commands
    _impipe_pipeline
    return
  fi
  case $command in
)" + cases +
         R"(  esac
}

if [[ $funcstack[1] == _impipe ]]; then
  _impipe "$@"
elif (( $+functions[compdef] )); then
  compdef _impipe impipe
fi
)";
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_text(const Visible& commands) {
  std::vector<std::string> names;
  for (const Command* command : commands) names.push_back(command->app->get_name());
  std::string out = "# fish completion for impipe; made by `impipe completions fish`\n";
  out += "set -g __impipe_commands " + join(names, " ") + "\n";
  out += "set -g __impipe_operators " + join(operator_names(), " ") + "\n";
  out += R"(function __impipe_command
  set -l words (commandline -opc)
  if test (count $words) -gt 1; and contains -- $words[2] $__impipe_commands
    echo $words[2]
  else
    echo run
  end
end
function __impipe_is
  test (__impipe_command) = $argv[1]
end
function __impipe_first
  test (count (commandline -opc)) -eq 1
end
# The operator after the last '|' of the pipeline.
function __impipe_pipeline
  set -l before (string replace -r '[^| ]*$' '' -- (commandline -ct | string trim -l -c "'\""))
  for name in $__impipe_operators
    echo "$before$name"
  end
end
)";
  for (const Command* command : commands) {
    const std::string name = command->app->get_name();
    out += "complete -c impipe -n __impipe_first -a " + name + " -d " +
           fish_quoted(command->summary) + "\n";
    for (const FlagText& flag : flags_of(*command)) {
      out += "complete -c impipe -n '__impipe_is " + name + "'";
      for (const std::string& flag_name : flag.names) {
        out += flag_name.starts_with("--") ? " -l " + flag_name.substr(2)
                                           : " -s " + flag_name.substr(1);
      }
      if (flag.takes_value) out += flag.takes_file ? " -r -F" : " -x";
      if (!flag.choices.empty()) out += " -a " + fish_quoted(join(flag.choices, " "));
      out += " -d " + fish_quoted(flag.help) + "\n";
    }
    const std::vector<std::string> words = words_of(name);
    if (!words.empty()) {
      out += "complete -c impipe -n '__impipe_is " + name + "' -f -a " +
             fish_quoted(join(words, " ")) + "\n";
    }
  }
  return out + "complete -c impipe -n __impipe_first -a '(__impipe_pipeline)'\n";
}

}  // namespace

void add_completions(CommandSet& commands) {
  Command& command = commands.add("completions");
  command.usage = "impipe completions bash|zsh|fish";
  command.summary = "Print a completion script for a shell";
  command.examples =
      "impipe completions bash > ~/.local/share/bash-completion/completions/impipe\n"
      "impipe completions zsh > ~/.zfunc/_impipe\n"
      "impipe completions fish > ~/.config/fish/completions/impipe.fish\n";
  auto shells = std::make_shared<std::vector<std::string>>();
  command.takes(*shells, 1);
  command.run = [shells, &commands] {
    const std::function<std::string(const Visible&)> texts[] = {bash_text, zsh_text, fish_text};
    const std::string shell = shells->empty() ? "" : shells->front();
    write_stdout(
        texts[parse_choice("completions", shell, {"bash", "zsh", "fish"})](visible(commands)));
    return 0;
  };
}

}  // namespace impipe::cli
