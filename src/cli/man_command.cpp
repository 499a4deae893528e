// impipe man: the manual page in roff, for the installation.
#include "cli/command.hpp"
#include "cli/operator_text.hpp"
#include "cli/standard_output.hpp"

namespace impipe::cli {
namespace {

// Text that roff takes as it is.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

void add_flags(std::string& out, const Command& command) {
  for (const CLI::Option* option : command.app->get_options()) {
    if (option->get_lnames().empty() || option->get_group().empty()) continue;
    std::string names;
    for (const std::string& name : option->get_snames()) names += "-" + name + ", ";
    names += "--" + option->get_lnames().front();
    out += ".TP\n\\fB" + plain(names) + "\\fR";
    if (option->get_type_size() > 0) out += " \\fI" + plain(option->get_type_name()) + "\\fR";
    out += "\n" + plain(option->get_description()) + "\n";
  }
}

std::string manual(const CommandSet& commands) {
  std::string out = ".TH IMPIPE 1 \"\" \"impipe " IMPIPE_VERSION "\" \"User Commands\"\n";
  out +=
      ".SH NAME\n"
      "impipe \\- pipelines of MATLAB\\-style image operators over files and folders\n";
  out += ".SH SYNOPSIS\n";
  for (const auto& command : commands.all()) {
    if (!command->hidden) out += ".B " + plain(command->usage) + "\n.br\n";
  }
  out +=
      ".SH DESCRIPTION\nA pipeline is a text such as \\fBimadjust | conv2 k7 | edge prewitt\\fR."
      " It is compiled: neighbouring operators become one pass over the image. Inputs are files,"
      " folders, globs, frame ranges (in.1\\-100#.exr), pipes and \\- for stdin. What follows "
      "\\-\\- is no option.\n";
  for (const auto& command : commands.all()) {
    if (command->hidden) continue;
    out += ".SH " + plain(command->app->get_name()) + "\n" + plain(command->summary) + ".\n";
    if (!command->examples.empty()) {
      out += ".PP\n.nf\n" + plain(command->examples) + ".fi\n";
    }
    if (!command->notes.empty()) out += ".PP\n.nf\n" + plain(command->notes) + ".fi\n";
    add_flags(out, *command);
  }
  out += ".SH OPERATORS\n";
  for (const auto& [category, operators] : operators_by_category()) {
    out += ".SS " + plain(category) + "\n";
    for (const Operator* op : operators) {
      out += ".TP\n\\fB" + plain(usage_of(*op)) + "\\fR\n" + plain(op->help) + "\n";
    }
  }
  out +=
      ".SH ENVIRONMENT\nEvery flag has a variable: \\-\\-max\\-pixels is IMPIPE_MAX_PIXELS."
      " IMPIPE_CACHE_DIR is the folder of compiled kernels.\n";
  out += ".SH EXIT STATUS\n";
  const std::pair<const char*, const char*> codes[] = {
      {"0", "done; skipped files count as done"},
      {"1", "some file failed, the others are done; pictures differ"},
      {"2", "wrong usage or pipeline, outputs that collide, an unusable output folder"},
      {"3", "no argument matched any picture"},
      {"4", "the backend or device asked for cannot be used"},
      {"130, 143", "stopped by SIGINT, SIGTERM"}};
  for (const auto& [code, meaning] : codes) {
    out += std::string(".TP\n\\fB") + code + "\\fR\n" + plain(meaning) + "\n";
  }
  out +=
      ".SH IN PROCESS\nPipelines also run on arrays in memory: by the Python package impipe,"
      " impipe.run('edge', photo), and by the C library libimpipe, whose header impipe.h says "
      "how.\n";
  return out;
}

}  // namespace

void add_man(CommandSet& commands) {
  Command& command = commands.add("man");
  command.usage = "impipe man";
  command.summary = "Print the manual page in roff";
  command.hidden = true;
  command.run = [&commands] {
    write_stdout(manual(commands));
    return 0;
  };
}

}  // namespace impipe::cli
