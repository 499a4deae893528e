// Reads and binds the pipeline's text.
#include "cli/pipeline_argument.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/error.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::cli {
namespace {

constexpr size_t most_bytes = size_t{16} << 20;

std::string read_text(const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) throw Error("-f " + file + ": is a directory");
    opened.open(file, std::ios::binary);
    if (!opened) throw Error("-f " + file + ": " + std::strerror(errno));
  }
  std::istream& stream = file == "-" ? std::cin : opened;
  std::string text;
  char piece[1 << 16];
  while (stream.read(piece, sizeof piece), stream.gcount() > 0) {
    text.append(piece, static_cast<size_t>(stream.gcount()));
    if (text.size() > most_bytes) {
      throw Error("-f " + file + ": more than 16 MiB, which is no pipeline");
    }
  }
  return text;
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
