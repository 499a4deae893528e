// Reads and binds the pipeline's text.
#include "cli/pipeline_argument.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/shell_hints.hpp"
#include "core/error.hpp"
#include "core/operator.hpp"
#include "core/text_file.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::cli {
namespace {

std::string read_text(const std::string& file) {
  try {
    return file == "-" ? read_text_stdin() : read_text_file(file);
  } catch (const Error& error) {
    throw Error(std::string("-f ") + error.what());
  }
}

pipeline::Pipeline bound(const std::string& text, const std::string& origin,
                         pipeline::TextKind kind, const engine::Sandbox& sandbox) {
  pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text, origin, kind));
  engine::check_files(pipeline, sandbox);
  return pipeline;
}

// "photo.png", and no "0.5", "x.^2" or "@kernel.txt".
bool looks_like_file(const std::string& word) {
  const std::size_t dot = word.rfind('.');
  if (dot == word.npos || dot + 1 == word.size() || word.front() == '@') return false;
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(dot) + 1, word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; }) &&
         std::isalpha(static_cast<unsigned char>(word[dot + 1])) != 0;
}

// The first arguments that are no files: words of a pipeline whose quotes were forgotten.
std::vector<std::string> words_without_files(const std::vector<std::string>& arguments) {
  constexpr std::size_t most = 32;
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (words.size() == most || looks_like_file(argument)) break;
    if (std::filesystem::exists(argument, error)) break;
    const auto above = std::filesystem::path(argument).parent_path();
    if (std::filesystem::is_regular_file(above, error)) break;  // a picture in a slide
    words.push_back(argument);
  }
  return words;
}

bool is_pipeline(const std::string& text) {
  try {
    pipeline::bind(pipeline::parse(text, "pipeline", pipeline::TextKind::command_line));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Whether an argument looks like a part of a pipeline and not like a file: it has a number, a sign
// of the language, or is an operator or a word of one.
bool is_of_pipeline(const std::string& argument) {
  if (argument.find_first_of("0123456789|=,:[") != std::string::npos) return true;
  if (find_operator(argument) != nullptr || argument == "as") return true;
  for (const Operator& op : catalogue()) {
    for (const Parameter& parameter : op.parameters) {
      const auto& words = parameter.words;
      if (std::find(words.begin(), words.end(), argument) != words.end()) return true;
    }
  }
  return false;
}

// `imgaussfilt 2 photos` names no file '2', but is a pipeline with it: the whole text with as many
// of the arguments as make one; empty where they make none.
std::string unquoted_pipeline(const std::string& text, const std::vector<std::string>& arguments) {
  std::string whole, longer = text;
  if (arguments.empty() || !is_of_pipeline(arguments.front())) return whole;
  for (const std::string& word : words_without_files(arguments)) {
    longer += " " + word;
    if (is_pipeline(longer)) whole = longer;
  }
  return whole;
}

constexpr const char* in_quotes = "a pipeline is one argument, in quotes: impipe ";
constexpr const char* and_files = " INPUT... -o OUTPUT";

[[noreturn]] void fail_unquoted(const std::string& word, const std::string& quoted) {
  throw Error("'" + word + "' is no file; " + in_quotes + quoted + and_files +
              hint_of_pipe(quoted) + hint_of_redirection());
}

bool takes_expression(const Operator& op) {
  return std::any_of(op.parameters.begin(), op.parameters.end(), [](const Parameter& parameter) {
    return parameter.takes == Takes::expression;
  });
}

bool is_named_value(const Operator& op, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return name.size() < word.size() &&
         std::any_of(op.parameters.begin(), op.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

// The words behind an operator, of which an expression has quotes of its own.
std::string quoted_call(const Operator& op, const std::vector<std::string>& words) {
  const bool expression = takes_expression(op);
  std::string text(op.name), inner;
  std::size_t taken = 0;
  for (; expression && taken < words.size() && !is_named_value(op, words[taken]); ++taken) {
    inner += (inner.empty() ? "" : " ") + words[taken];
  }
  if (!inner.empty()) text += " '" + inner + "'";
  for (; taken < words.size(); ++taken) text += " " + words[taken];
  const bool open = text.find('[') != text.npos && text.find(']') == text.npos;
  if (open) text += "; …]";  // the shell ended the command at the semicolon
  return expression ? "\"" + text + "\"" : "'" + text + "'";
}

// An operator alone cannot do without what stands behind it, outside of its quotes: says so, for
// what words there are, `[1 2 1]`, `disk 3`, or an expression.
void check_operator_alone(const std::string& text, const std::vector<std::string>& arguments) {
  const Operator* op = find_operator(text);
  if (op == nullptr) return;
  const std::vector<std::string> words = words_without_files(arguments);
  if (!words.empty()) fail_unquoted(words.front(), quoted_call(*op, words));
  if (!takes_expression(*op)) return;
  throw Error(text + " needs an expression; " + in_quotes + "\"" + text + " '…'\"" + and_files +
              hint_of_redirection());
}

// `conv2 [1 2; 3 4] photos`: the shell ended the command at the semicolon, or parts are names.
void check_matrix(const std::string& text, const std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments.front().starts_with("[")) return;
  std::error_code error;
  const bool ends = arguments.front().find(']') != std::string::npos;
  if (ends || std::filesystem::exists(arguments.front(), error)) return;
  fail_unquoted(arguments.front(), "'" + text + " " + arguments.front() + " …; …]'");
}

// `mean2 photos across=pages`: an argument of the last operator behind the files.
void check_named_values(const std::string& text, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    std::error_code error;
    const std::string whole = text + " " + argument;
    const bool is_named = argument.find('=') != argument.npos;
    if (!is_named || std::filesystem::exists(argument, error) || !is_pipeline(whole)) continue;
    fail_unquoted(argument, "'" + whole + "'");
  }
}

}  // namespace

CLI::Option* add_sandbox(CLI::App* app, std::string& text) {
  // Without a value it is the word that stands for no folder.
  return app
      ->add_flag("--sandbox{on}", text,
                 "For a text that is not trusted: save only below -o's folder, @file only below "
                 "the folders of --sandbox=DIR,...")
      ->envname("IMPIPE_SANDBOX");
}

pipeline::Pipeline take_pipeline(std::vector<std::string>& arguments, const std::string& file,
                                 const engine::Sandbox& sandbox) {
  using pipeline::TextKind;
  if (!file.empty()) return bound(read_text(file), file, TextKind::file, sandbox);
  if (arguments.empty()) throw Error("no pipeline given: impipe PIPELINE INPUT... -o OUTPUT");
  const std::string text = arguments.front();
  arguments.erase(arguments.begin());
  try {
    pipeline::Pipeline pipeline = bound(text, "pipeline", TextKind::command_line, sandbox);
    const std::string whole = sandbox.on ? "" : unquoted_pipeline(text, arguments);
    if (!whole.empty()) fail_unquoted(arguments.front(), "'" + whole + "'");
    if (!sandbox.on) {
      check_matrix(text, arguments);
      check_named_values(text, arguments);
    }
    return pipeline;
  } catch (const Error&) {
    std::error_code error;
    // A text that is not trusted does not learn either whether a file is there.
    if (sandbox.on) throw;
    if (!std::filesystem::exists(text, error)) {
      check_operator_alone(text, arguments);
      throw;
    }
    const bool folder = std::filesystem::is_directory(text, error);
    throw Error("the pipeline comes first, but '" + text + "' is a " +
                (folder ? "folder" : "file") + ": impipe PIPELINE " + text + " -o OUTPUT");
  }
}

}  // namespace impipe::cli
