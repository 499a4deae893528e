// impipe completions: scripts for bash, zsh and fish, from the flags and operators there are.
#include <algorithm>
#include <functional>

#include "backends/registry.hpp"
#include "cli/command.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/operator.hpp"
#include "engine/tools/format_report.hpp"
#include "ops/catalogue.hpp"

namespace impipe::cli {
namespace {

// One flag as completions need it.
struct FlagText {
  std::vector<std::string> names;  // with dashes
  bool takes_value = false;
  bool takes_file = false, takes_folder = false;
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

std::vector<std::string> backend_names() {
  std::vector<std::string> out;
  for (const Backend& backend : backends::registry()) out.emplace_back(backend.name);
  return out;
}

// What a flag takes that has one of a few values.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string value = option.get_type_name();
  if (value == "CLASS" && option.check_lname("depth")) {
    return {"logical", "uint8", "uint16", "single", "half"};
  }
  if (value == "CLASS") return {"logical", "uint8", "uint16", "single"};
  if (value == "EXT") return written_extensions();
  if (value.find('|') != std::string::npos) return split(value, '|');
  std::vector<std::string> names;
  if (option.check_lname("backend") || option.check_lname("device")) {
    names = backend_names();
    names.emplace_back("auto");
    if (option.check_lname("device")) names.emplace_back("all");
  }
  return names;
}

std::vector<FlagText> flags_of(const Command& command) {
  std::vector<FlagText> flags;
  for (const CLI::Option* option : command.app->get_options()) {
    if (option->get_lnames().empty() || option->get_group().empty()) continue;
    FlagText flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    const std::string value = option->get_type_name();
    flag.takes_value = option->get_type_size() > 0 && !value.empty();
    flag.takes_file = value == "FILE" || value == "PATH" || value == "LIST" || value == "NAME=PATH";
    flag.takes_folder = value == "DIR";
    if (flag.takes_value) flag.choices = choices_of(*option);
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

bool takes_pipeline(const std::string& command) {
  return command == "run" || command == "plan" || command == "bench";
}

// What may stand behind an operator's name: words of its parameters, shapes, and `name=`.
std::vector<std::string> arguments_of(const Operator& op) {
  std::vector<std::string> out;
  const auto add = [&](std::string word) {
    if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(std::move(word));
  };
  for (const Parameter& parameter : op.parameters) {
    for (const std::string_view word : parameter.words) add(std::string(word));
    if (parameter.takes == Takes::element) {
      for (const std::string_view shape : ops::element_shapes()) add(std::string(shape) + ",");
    } else if (parameter.takes == Takes::kernel) {
      for (const std::string_view type : ops::kernel_types()) add(std::string(type) + ",");
    }
  }
  for (const Parameter& parameter : op.parameters) add(std::string(parameter.name) + "=");
  return out;
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

// The lines of a `case` over the command and the flag before the cursor.
std::string bash_values(const std::string& command, const std::vector<FlagText>& flags) {
  std::string out;
  for (const FlagText& flag : flags) {
    if (!flag.takes_value) continue;
    const std::string then =
        !flag.choices.empty()
            ? "COMPREPLY=($(compgen -W '" + join(flag.choices, " ") + "' -- \"$cur\")); return"
        : flag.takes_file   ? "COMPREPLY=($(compgen -f -- \"$cur\")); return"
        : flag.takes_folder ? "COMPREPLY=($(compgen -d -- \"$cur\")); return"
                            : "COMPREPLY=(); return";
    for (const std::string& name : flag.names) {
      out += "    " + command + ":" + name + ") " + then + ";;\n";
    }
  }
  return out;
}

// What is known of a command: variables of the script.
std::string bash_command(const std::string& name, const std::vector<FlagText>& flags) {
  std::vector<std::string> all, valued;
  for (const FlagText& flag : flags) {
    all.insert(all.end(), flag.names.begin(), flag.names.end());
    if (flag.takes_value) valued.insert(valued.end(), flag.names.begin(), flag.names.end());
  }
  return "    " + name + ") flags='" + join(all, " ") + "'; valued='" + join(valued, " ") +
         "'; words='" + join(words_of(name), " ") + "'" +
         (takes_pipeline(name) ? "; pipeline=1" : "") + ";;\n";
}

std::string bash_arguments() {
  std::string out;
  for (const Operator& op : catalogue()) {
    out += "    " + std::string(op.name) + ") offers='" + join(arguments_of(op), " ") + "';;\n";
  }
  return out;
}

constexpr const char* bash_end = R"(
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W '--help --version' -- "$cur"))
    return
  fi
  # How many words before this one are neither flags nor values of flags.
  local i others=0
  for ((i = first; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -* ]]; then
      if [[ ${COMP_WORDS[i + 1]} == = ]]; then
        ((i += 2))
      elif [[ " $valued " == *" ${COMP_WORDS[i]} "* ]]; then
        ((i++))
      fi
    else
      ((others++))
    fi
  done
  if [[ -n $pipeline && $others -eq 0 && $cur == [\'\"]* ]]; then
    _impipe_pipeline "${cur:1}"
    return
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  [[ $COMP_CWORD -eq 1 ]] && COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  [[ -n $pipeline && $others -eq 0 ]] && COMPREPLY+=($(compgen -W "$_impipe_operators" -- "$cur"))
  COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _impipe impipe
)";

std::string bash_text(const Visible& commands) {
  std::vector<std::string> names;
  std::string values, per_command;
  for (const Command* command : commands) {
    const std::string name = command->app->get_name();
    const std::vector<FlagText> flags = flags_of(*command);
    names.push_back(name);
    values += bash_values(name, flags);
    per_command += bash_command(name, flags);
  }
  if (per_command.ends_with('\n')) per_command.pop_back();
  return R"(# bash completion for impipe; made by `impipe completions bash`
_impipe_operators=')" +
         join(operator_names(), " ") + R"('

# The last word of a pipeline: an operator, or what may stand behind its name.
_impipe_pipeline() {
  local stage=${1##*|} last=${1##*[| ]} offers=$_impipe_operators word
  local before=${1%"$last"}
  stage=${stage#"${stage%%[! ]*}"}
  if [[ $stage == *' '* ]]; then
    offers=
    case ${stage%% *} in
)" + bash_arguments() +
         R"(    esac
    if [[ $last == *=* ]]; then
      before+=${last%%=*}=
      last=${last#*=}
    fi
  fi
  for word in $(compgen -W "$offers" -- "$last"); do COMPREPLY+=("$before$word"); done
  # Readline would close the quote behind the only offer.
  [[ ${#COMPREPLY[@]} -eq 1 ]] && COMPREPLY+=("${COMPREPLY[0]} ")
  compopt -o nospace +o filenames 2>/dev/null
}

_impipe() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run first=1
  local flags valued words pipeline
  local commands=')" +
         join(names, " ") + R"('
  COMPREPLY=()
  # --flag=value are three words.
  [[ $cur == = ]] && cur=
  [[ $prev == = && $COMP_CWORD -gt 2 ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
  if [[ $COMP_CWORD -gt 1 && " $commands " == *" ${COMP_WORDS[1]} "* ]]; then
    command=${COMP_WORDS[1]}
    first=2
  fi
  case "$command:$prev" in
)" + values +
         R"(  esac
  case "$command" in
)" + per_command +
         bash_end;
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

// An associative array: what may stand behind each operator's name.
std::string zsh_arguments() {
  std::string out;
  for (const Operator& op : catalogue()) {
    out += "  " + std::string(op.name) + " '" + join(arguments_of(op), " ") + "'\n";
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
          if (flag.takes_folder) spec += "_files -/";
        }
        cases += "        '" + spec + "' \\\n";
      }
    }
    const std::vector<std::string> words = words_of(name);
    if (!words.empty()) {
      cases += "        '*:word:(" + join(words, " ") + ")'\n";
    } else if (takes_pipeline(name)) {
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
typeset -gA _impipe_arguments=(
)" + zsh_arguments() +
         R"()

# The last word of a pipeline: an operator, or what may stand behind its name.
_impipe_pipeline() {
  local stage=${PREFIX##*\|}
  stage=${stage#${stage%%[^ ]*}}
  if [[ $stage == *' '* ]]; then
    local -a offers=(${=_impipe_arguments[${stage%% *}]})
    compset -P '*[| ]'
    compset -P '*='
    compadd -S '' -- $offers
    return
  fi
  if compset -P '*[| ]' || [[ -n $QIPREFIX ]]; then
    compadd -S '' -- $_impipe_operators
  else
    _describe -t operators operator _impipe_operators
    _files
  fi
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

std::string fish_command(const Command& command) {
  std::string out;
  const std::string name = command.app->get_name();
  out += "complete -c impipe -n __impipe_first -a " + name + " -d " + fish_quoted(command.summary) +
         "\n";
  for (const FlagText& flag : flags_of(command)) {
    out += "complete -c impipe -n '__impipe_is " + name + "'";
    for (const std::string& flag_name : flag.names) {
      out +=
          flag_name.starts_with("--") ? " -l " + flag_name.substr(2) : " -s " + flag_name.substr(1);
    }
    if (flag.takes_value) out += flag.takes_file ? " -r -F" : " -x";
    if (flag.takes_folder) out += " -a '(__fish_complete_directories)'";
    if (!flag.choices.empty()) out += " -a " + fish_quoted(join(flag.choices, " "));
    out += " -d " + fish_quoted(flag.help) + "\n";
  }
  const std::vector<std::string> words = words_of(name);
  if (!words.empty()) {
    out += "complete -c impipe -n '__impipe_is " + name + "' -f -a " +
           fish_quoted(join(words, " ")) + "\n";
  }
  return out;
}

constexpr const char* fish_functions = R"(function __impipe_command
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
# Whether all before this word are flags, values of flags and a command that takes a pipeline.
function __impipe_at_pipeline
  contains -- (__impipe_command) run plan bench; or return 1
  set -l words (commandline -opc)
  set -e words[1]
  contains -- "$words[1]" $__impipe_commands; and set -e words[1]
  while set -q words[1]
    if contains -- $words[1] $__impipe_valued
      set -e words[1]
    else if not string match -q -- '-*' $words[1]
      return 1
    end
    set -e words[1]
  end
  return 0
end
# The last word of a pipeline: an operator, or what may stand behind its name.
function __impipe_pipeline
  set -l text (commandline -ct | string trim -l -c "'\"")
  set -l before (string replace -r '[^| =]*$' '' -- $text)
  set -l stage (string trim -l -- (string replace -r '.*[|]' '' -- $text))
  set -l offers $__impipe_operators
  if string match -q '* *' -- $stage
    set offers (__impipe_arguments (string replace -r ' .*' '' -- $stage))
  end
  for name in $offers
    echo "$before$name"
  end
end
)";

std::string fish_text(const Visible& commands) {
  std::vector<std::string> names;
  for (const Command* command : commands) names.push_back(command->app->get_name());
  std::string out = "# fish completion for impipe; made by `impipe completions fish`\n";
  out += "set -g __impipe_commands " + join(names, " ") + "\n";
  std::vector<std::string> valued;
  for (const Command* command : commands) {
    for (const FlagText& flag : flags_of(*command)) {
      if (flag.takes_value) valued.insert(valued.end(), flag.names.begin(), flag.names.end());
    }
  }
  out += "set -g __impipe_valued " + join(valued, " ") + "\n";
  out += "set -g __impipe_operators " + join(operator_names(), " ") + "\n";
  out += fish_functions;
  out += "function __impipe_arguments\n  switch $argv[1]\n";
  for (const Operator& op : catalogue()) {
    out += "    case " + std::string(op.name) + "\n      string split ' ' '" +
           join(arguments_of(op), " ") + "'\n";
  }
  out += "  end\nend\n";
  for (const Command* command : commands) out += fish_command(*command);
  return out + "complete -c impipe -n __impipe_at_pipeline -a '(__impipe_pipeline)'\n";
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
