// Reads and binds the pipeline's text.
#include "cli/pipeline_argument.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "core/error.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::cli {
namespace {

std::string read_text(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw Error("-f " + file + ": is a directory");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error("-f " + file + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

pipeline::Pipeline take_pipeline(std::vector<std::string>& arguments, const std::string& file) {
  if (!file.empty()) {
    return pipeline::bind(pipeline::parse(read_text(file), file, pipeline::TextKind::file));
  }
  if (arguments.empty()) throw Error("no pipeline given: impipe PIPELINE INPUT... -o OUTPUT");
  const std::string text = arguments.front();
  arguments.erase(arguments.begin());
  try {
    return pipeline::bind(pipeline::parse(text));
  } catch (const Error&) {
    std::error_code error;
    if (!std::filesystem::exists(text, error)) throw;
    const bool folder = std::filesystem::is_directory(text, error);
    throw Error("the pipeline comes first, but '" + text + "' is a " +
                (folder ? "folder" : "file") + ": impipe PIPELINE " + text + " -o OUTPUT");
  }
}

}  // namespace impipe::cli
