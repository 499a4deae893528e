// impipe ops: the operators, or one of them in full.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/operator_text.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "pipeline/hints.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;

struct OpsFlags {
  std::vector<std::string> words;  // an operator's name, or what it does; none: all
  bool json = false;
  bool markdown = false;
};

constexpr const char* ways_on =
    "impipe ops NAME shows one in full; impipe ops WORD... looks for words.\n";

void add_lines(std::string& out, const std::vector<const Operator*>& operators) {
  size_t width = 0;
  for (const Operator& op : catalogue()) width = std::max(width, op.name.size());
  for (const Operator* op : operators) {
    fmt::format_to(std::back_inserter(out), "  {:<{}}  {}\n", op->name, width, op->help);
  }
  out += "\n";
}

std::string operator_list() {
  std::string out;
  for (const auto& [category, operators] : operators_by_category()) {
    out += category + "\n";
    add_lines(out, operators);
  }
  return out + ways_on;
}

void add_parameters(std::string& out, const Operator& op) {
  size_t width = 0;
  for (const Parameter& p : op.parameters) width = std::max(width, p.name.size());
  for (const Parameter& p : op.parameters) {
    fmt::format_to(std::back_inserter(out), "  {:<{}}  {}", p.name, width, p.help);
    std::string facts = takes_of(p);
    if (p.letter != 0) facts += fmt::format("; also {0}N, as in {0}7", p.letter);
    if (p.required) facts += "; required";
    if (!p.fallback.empty()) facts += "; default " + std::string(p.fallback);
    fmt::format_to(std::back_inserter(out), "\n  {:<{}}  ({})\n", "", width, facts);
  }
}

std::string full_text(const Operator& op) {
  std::string out = std::string(op.name) + ": " + std::string(op.help) + "\n\n";
  out += "  " + usage_of(op) + "\n\n";
  if (!op.parameters.empty()) {
    add_parameters(out, op);
    out += "\n";
  }
  if (!op.details.empty()) out += std::string(op.details) + "\n\n";
  const auto add = [&](const char* name, std::string_view text) {
    if (!text.empty()) fmt::format_to(std::back_inserter(out), "{:<10}{}\n", name, text);
  };
  add("category", op.category);
  if (op.make == nullptr) add("classes", classes_text(op.classes));
  if (op.one_channel) add("channels", "one: a colour image goes through rgb2gray first");
  if (op.colour) add("channels", "three: colour images");
  add("accuracy", accuracy_text(op));
  add("NaN, Inf", text_of(op.not_finite));
  add("MATLAB", op.matlab);
  add("example", op.example);
  return out;
}

Json json_of(const Operator& op) {
  Json parameters = Json::array();
  for (const Parameter& p : op.parameters) {
    Json json{{"name", p.name}, {"help", p.help}, {"takes", takes_of(p)}};
    if (p.letter != 0) json["letter"] = std::string(1, p.letter);
    if (!p.words.empty()) json["words"] = p.words;
    if (p.numbers.max_count > 0) json["numbers"] = {p.numbers.min_count, p.numbers.max_count};
    if (p.numbers.low != -unlimited) json["low"] = p.numbers.low;
    if (p.numbers.high != unlimited) json["high"] = p.numbers.high;
    if (!p.fallback.empty()) json["default"] = p.fallback;
    json["required"] = p.required;
    parameters.push_back(std::move(json));
  }
  return {{"name", op.name},
          {"help", op.help},
          {"category", op.category},
          {"parameters", std::move(parameters)},
          {"classes", classes_text(op.classes)},
          {"one_channel", op.one_channel},
          {"colour", op.colour},
          {"source", op.make != nullptr},
          {"details", op.details},
          {"example", op.example},
          {"accuracy", accuracy_text(op)},
          {"not_finite", text_of(op.not_finite)},
          {"matlab", op.matlab}};
}

Json json_of(const std::vector<const Operator*>& operators) {
  Json all = Json::array();
  for (const Operator* op : operators) all.push_back(json_of(*op));
  return all;
}

// What the words of `flags` are for: a name that is not here, or what operators do.
void show_found(const OpsFlags& flags) {
  const std::string words = fmt::format("{}", fmt::join(flags.words, " "));
  const std::string hint = pipeline::hint_for(words);
  const auto& [found, has_all] = search_operators(flags.words);
  if (found.empty() && (hint.empty() || flags.json)) {
    std::vector<std::string> names;
    for (const Operator& known : catalogue()) names.emplace_back(known.name);
    std::string end = did_you_mean(words, names);
    if (!hint.empty()) end = "; " + hint;
    if (end.empty()) end = "; impipe ops lists them";
    throw Error("no operator has '" + words + "' in its name or description" + end);
  }
  if (flags.json) {
    write_stdout(json_of(found).dump(2) + "\n");
    return;
  }
  std::string out = hint.empty() ? "" : "impipe has no " + words + "; " + hint + "\n\n";
  if (!has_all) out += "no operator has all of '" + words + "'; these have most of it\n\n";
  if (!found.empty()) add_lines(out, found);
  write_stdout(out + ways_on);
}

int show_operators(const OpsFlags& flags) {
  if (flags.markdown) {
    write_stdout(operator_reference());
    return 0;
  }
  if (flags.words.empty()) {
    std::vector<const Operator*> all;
    for (const Operator& op : catalogue()) all.push_back(&op);
    write_stdout(flags.json ? json_of(all).dump(2) + "\n" : operator_list());
    return 0;
  }
  const Operator* op = flags.words.size() == 1 ? find_operator(flags.words.front()) : nullptr;
  if (op == nullptr) {
    show_found(flags);
  } else {
    write_stdout(flags.json ? json_of(*op).dump(2) + "\n" : full_text(*op));
  }
  return 0;
}

}  // namespace

void add_ops(CommandSet& commands) {
  Command& command = commands.add("ops");
  command.usage = "impipe ops [NAME|WORD...]";
  command.summary = "List the operators, show one in full, or look for words of what they do";
  command.examples = "impipe ops imgaussfilt\nimpipe ops blur\nimpipe ops connected components\n";
  auto flags = std::make_shared<OpsFlags>();
  command.takes(flags->words);
  flag(command.app, "--json", flags->json, "As JSON");
  flag(command.app, "--markdown", flags->markdown, "All of them, as docs/operators.md has them");
  command.run = [flags] { return show_operators(*flags); };
}

}  // namespace impipe::cli
