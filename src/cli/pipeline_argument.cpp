// Reads and binds the pipeline's text.
#include "cli/pipeline_argument.hpp"

#include <filesystem>

#include "core/error.hpp"
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
    return bound(text, "pipeline", TextKind::command_line, sandbox);
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
