// Reads and binds the pipeline's text.
#include "cli/pipeline_argument.hpp"

#include <algorithm>
#include <filesystem>

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

// Whether an argument looks like a part of a pipeline and not like a file: it has a number, a sign
// of the language, or is an operator or a word of one.
bool is_of_pipeline(const std::string& argument) {
  if (argument.find_first_of("0123456789|=,:[") != std::string::npos) return true;
  if (find_operator(argument) != nullptr) return true;
  for (const Operator& op : catalogue()) {
    for (const Parameter& parameter : op.parameters) {
      const auto& words = parameter.words;
      if (std::find(words.begin(), words.end(), argument) != words.end()) return true;
    }
  }
  return false;
}

// The words of a pipeline whose quotes were forgotten: `imgaussfilt 2 photos` names no file '2',
// but is a pipeline with it. The whole text with as many of the arguments as belong to it; empty
// when the first argument is a file, or is no part of a pipeline either.
std::string unquoted_pipeline(const std::string& text, const std::vector<std::string>& arguments) {
  std::string whole, longer = text;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (std::filesystem::exists(argument, error) || !is_of_pipeline(argument)) break;
    longer += " " + argument;
    try {
      pipeline::bind(pipeline::parse(longer, "pipeline", pipeline::TextKind::command_line));
      whole = longer;
    } catch (const Error&) {
      if (argument != "|") break;  // more has to follow
    }
  }
  return whole;
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
    if (!whole.empty()) {
      throw Error("'" + arguments.front() +
                  "' is no file; a pipeline is one argument, in quotes: " + "impipe '" + whole +
                  "' INPUT... -o OUTPUT");
    }
    return pipeline;
  } catch (const Error&) {
    std::error_code error;
    // A text that is not trusted does not learn either whether a file is there.
    if (sandbox.on || !std::filesystem::exists(text, error)) throw;
    const bool folder = std::filesystem::is_directory(text, error);
    throw Error("the pipeline comes first, but '" + text + "' is a " +
                (folder ? "folder" : "file") + ": impipe PIPELINE " + text + " -o OUTPUT");
  }
}

}  // namespace impipe::cli
