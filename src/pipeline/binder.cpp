// Gives a Script its meaning.
#include "pipeline/binder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/expression.hpp"
#include "core/page_column.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "ops/catalogue.hpp"
#include "pipeline/arguments.hpp"
#include "pipeline/hints.hpp"

namespace impipe::pipeline {
namespace {

std::vector<std::string> known_names() {
  std::vector<std::string> names{"as", "save"};
  for (const Operator& op : catalogue()) names.emplace_back(op.name);
  return names;
}

// The single word of `as NAME` and `save TEMPLATE`; empty when it is anything else.
std::string single_word(const Stage& stage) {
  if (stage.arguments.size() != 1 || !stage.arguments[0].key.empty() ||
      stage.arguments[0].items.size() != 1) {
    return "";
  }
  const auto& item = stage.arguments[0].items[0].value;
  if (const auto* word = std::get_if<Word>(&item); word != nullptr && word->argument.empty()) {
    return word->text;
  }
  if (const auto* letter = std::get_if<LetterNumber>(&item)) return letter->text;
  if (const auto* text = std::get_if<Quoted>(&item)) return text->text;
  return "";
}

// A word that stands alone; empty for other items.
std::string plain_word(const Item& item) {
  if (const auto* word = std::get_if<Word>(&item.value)) {
    return word->argument.empty() ? word->text : "";
  }
  const auto* letter = std::get_if<LetterNumber>(&item.value);
  return letter != nullptr ? letter->text : "";
}

std::string word_at(const Argument& argument) {
  if (!argument.key.empty() || argument.items.size() != 1) return "";
  return plain_word(argument.items.front());
}

// The names that a pipeline gives: those of images and those of measured numbers.
struct Names {
  std::set<std::string> images, numbers;
  std::set<std::string> tables;  // of the numbers, see Operator::table
  // Those of one page, or file, by the stage that has made one image of several since.
  std::map<std::string, std::string, std::less<>> ended;
  // The measurement before, if it is of all pages together.
  std::string across;

  void end_at(const std::string& reduction) {
    for (const auto* names : {&images, &numbers}) {
      for (const std::string& name : *names) ended[name] = reduction;
    }
    for (auto* names : {&images, &numbers, &tables}) names->clear();
  }
};

// Throws the user's error where a name belongs to one page of several.
void check_ended(const Script& script, const Names& names, const Operator& op,
                 const std::string& name, Span span) {
  const auto found = names.ended.find(name.substr(0, name.find('.')));
  if (found == names.ended.end()) return;
  throw error_at(script, span,
                 std::string(op.name) + ": '" + found->first + "' is one of each image before " +
                     found->second + ", which makes others of them; keep one after " +
                     found->second + ", or bind an image with --with under another name");
}

// Whether a word of an argument has a meaning for the operator.
bool knows(const Operator& op, const Item& item, const std::string& text) {
  const auto* letter = std::get_if<LetterNumber>(&item.value);
  return std::ranges::any_of(op.parameters, [&](const Parameter& p) {
    return (letter != nullptr && p.letter == letter->letter) ||
           std::ranges::find(p.words, text) != p.words.end();
  });
}

// Whether an item names a structuring element or a kernel, whose numbers may follow it.
bool names_shape(const Operator& op, const Argument& argument, const Item& item,
                 const std::string& text) {
  if (&item != &argument.items.front()) return false;
  const auto is_among = [&](const auto& shapes) {
    return std::ranges::find(shapes, text) != shapes.end();
  };
  return std::ranges::any_of(op.parameters, [&](const Parameter& p) {
    if (p.numbers.max_count > 0 || (!argument.key.empty() && argument.key != p.name)) return false;
    return (p.takes == Takes::element && is_among(ops::element_shapes())) ||
           (p.takes == Takes::kernel && is_among(ops::kernel_types()));
  });
}

// Adds the numbers of tables that expressions name behind them. Returns whether there are any.
bool name_table_numbers(const Script& script, const Names& names, Argument& argument) {
  std::vector<Item> numbers;
  for (const Item& item : argument.items) {
    const auto* quoted = std::get_if<Quoted>(&item.value);
    if (quoted == nullptr) continue;
    const Expression expression =
        parse_expression(quoted->text, {.others = true, .taps = true},
                         {.text = script.text, .span = item.span, .origin = script.origin});
    for (const std::string& name : expression.variables()) {
      if (!names.tables.contains(name.substr(0, name.find('.')))) continue;
      numbers.push_back({item.span, Measured{.name = name, .numbers = {}, .count = 1}});
    }
  }
  argument.items.insert(argument.items.end(), numbers.begin(), numbers.end());
  return !numbers.empty();
}

// Makes measured numbers of the words that are names of them, and tells whether there are any.
bool name_numbers(const Script& script, const Names& names, const Operator& op, Stage& stage) {
  bool found = false;
  const bool has_expression = std::ranges::any_of(
      op.parameters, [](const Parameter& p) { return p.takes == Takes::expression; });
  for (Argument& argument : stage.arguments) {
    if (has_expression) found |= name_table_numbers(script, names, argument);
    for (Item& item : argument.items) {
      found |= std::holds_alternative<Measured>(item.value);
      const std::string text = plain_word(item);
      if (text.empty() || knows(op, item, text) || names_shape(op, argument, item, text)) continue;
      check_ended(script, names, op, text, item.span);
      if (!names.numbers.contains(text.substr(0, text.find('.')))) continue;
      // Of several items each is one number until it is known better.
      const std::size_t count = argument.items.size() > 1 ? 1 : 0;
      item.value = Measured{.name = text, .numbers = {}, .count = count};
      found = true;
    }
  }
  const bool has_operands = std::ranges::any_of(stage.arguments, [](const Argument& argument) {
    return std::ranges::any_of(argument.items, [](const Item& item) {
      return std::holds_alternative<Operand>(item.value);
    });
  });
  const bool takes_pages = op.reduction != nullptr && !has_operands;
  if (found && (takes_pages || op.lower == nullptr)) {
    throw error_at(script, stage.span,
                   std::string(op.name) + ": measured numbers are those of one image, and it " +
                       (takes_pages ? "takes several" : "takes none"));
  }
  return found;
}

// Throws the user's error for a stage that takes several images where there are none.
void check_reduction(const Script& script, const Pipeline& before, const Stage& stage,
                     const Call& call) {
  const std::string& name = stage.name;
  if (before.has_source()) {
    throw error_at(script, stage.span,
                   name + ": the pipeline makes its own image, and there are no others");
  }
  if (call.op().reduction(call).across == ImageReduction::Across::files &&
      before.file_reduction() != nullptr) {
    throw error_at(script, stage.span, name + ": there is one image left after the first " + name);
  }
}

// Takes `as NAME` off the end of an operator's arguments; empty where there is none.
std::string take_measured_name(const Script& script, Stage& stage, const Pipeline& pipeline,
                               const Names& names) {
  const std::size_t count = stage.arguments.size();
  if (count > 0 && word_at(stage.arguments.back()) == "as") {
    throw error_at(script, stage.arguments.back().span,
                   "as takes one name, as in `" + stage.name + " as m`");
  }
  if (count < 2 || word_at(stage.arguments[count - 2]) != "as") return "";
  const Argument& last = stage.arguments.back();
  const std::string name = word_at(last);
  if (!is_name(name)) {
    throw error_at(script, last.span, "as takes one name, as in `" + stage.name + " as m`");
  }
  if (is_expression_word(name)) {
    throw error_at(script, last.span,
                   "'" + name + "' has a meaning in expressions; choose another name");
  }
  const auto& needed = pipeline.operands;
  if (names.images.contains(name) || names.numbers.contains(name) ||
      std::find(needed.begin(), needed.end(), name) != needed.end()) {
    throw error_at(script, last.span, "'" + name + "' is used already");
  }
  stage.arguments.resize(count - 2);
  return name;
}

// The operator a stage names; `follows`: there are stages before it. Throws the user's error.
const Operator& operator_of(const Script& script, const Stage& stage, bool follows) {
  const Operator* op = find_operator(stage.name);
  if (op == nullptr) {
    const std::string hint = hint_for(stage.name);
    throw error_at(script, stage.name_span,
                   hint.empty() ? "unknown operator '" + stage.name + "'" +
                                      did_you_mean(stage.name, known_names())
                                : "impipe has no " + stage.name + "; " + hint);
  }
  if (op->make != nullptr && follows && op->lower == nullptr) {
    throw error_at(script, stage.span,
                   stage.name + " makes an image: it can only be the first stage");
  }
  return *op;
}

}  // namespace

bool Pipeline::has_source() const {
  return !stages.empty() && stages.front().call && stages.front().call->op().make != nullptr;
}

namespace {

bool reduces(const BoundStage& stage) { return stage.call && takes_several(*stage.call); }

}  // namespace

bool takes_several(const Call& call) {
  return call.op().reduction != nullptr &&
         std::ranges::none_of(call.op().parameters, [&](const Parameter& p) {
           return p.takes == Takes::operands && call.given(p.name);
         });
}

bool Pipeline::has_reduction() const { return std::any_of(stages.begin(), stages.end(), reduces); }

const BoundStage* Pipeline::file_reduction() const {
  const auto found = std::find_if(stages.begin(), stages.end(), [](const BoundStage& stage) {
    return reduces(stage) &&
           stage.call->op().reduction(*stage.call).across == ImageReduction::Across::files;
  });
  return found == stages.end() ? nullptr : &*found;
}

MadeImage Pipeline::describe_source() const {
  const Call& call = *stages.front().call;
  return call.op().describe(call);
}

HostImage Pipeline::make_source() const {
  const Call& call = *stages.front().call;
  return call.op().make(call);
}

bool Pipeline::reads_display() const {
  return std::any_of(stages.begin(), stages.end(), [](const BoundStage& stage) {
    return stage.call && stage.call->op().name == "imcrop" && stage.call->given("window");
  });
}

bool Pipeline::reads_profile() const {
  return std::ranges::any_of(stages, [](const BoundStage& stage) {
    return stage.call && stage.call->op().profile != Operator::Profile::ignored;
  });
}

bool Pipeline::converts_colours() const {
  return std::ranges::any_of(stages, [](const BoundStage& stage) {
    return stage.call && stage.call->op().profile == Operator::Profile::read;
  });
}

namespace {

// bwconncomp with the neighbours of a voxel is bwlabeln, as MATLAB's function takes both.
const Operator* of_volume(const Operator* op,
                          const std::map<std::string, ParameterValue, std::less<>>& values) {
  if (op->name != "bwconncomp") return op;
  const std::vector<double>& conn = values.at("conn").numbers;
  const bool is_volume = conn.size() == 1 && (conn[0] == 6 || conn[0] == 18 || conn[0] == 26);
  return is_volume ? find_operator("bwlabeln") : op;
}

// A measurement of all pages together is of one image that is made of them.
void gather_pages(const Script& script, const Stage& stage, Names& names, Pipeline& pipeline) {
  if (!std::exchange(names.across, stage.name).empty()) return;
  BoundStage& pages = pipeline.stages.emplace_back(
      BoundStage{.span = stage.span, .text = std::string(page_column().name)});
  pages.call.emplace(page_column(), std::map<std::string, ParameterValue, std::less<>>(),
                     script.text, script.origin, stage.span);
  check_reduction(script, pipeline, stage, *pages.call);
  names.end_at(stage.name);
}

// Gives a stage of an operator its call, and the pipeline the images that it needs.
void bind_operator(const Script& script, Stage& stage, Names& names, Pipeline& pipeline,
                   BoundStage& bound) {
  const Operator* op = &operator_of(script, stage, !pipeline.stages.empty());
  bound.measured_as = take_measured_name(script, stage, pipeline, names);
  if (name_numbers(script, names, *op, stage)) bound.waiting = std::make_shared<const Stage>(stage);
  auto values = match_arguments(script, stage, *op);
  op = of_volume(op, values);
  for (auto& [parameter, value] : values) {
    for (const std::string& name : value.operands) {
      check_ended(script, names, *op, name, value.span);
    }
    // What an expression names may be measured numbers.
    std::erase_if(value.operands, [&, &text = value.text](const std::string& name) {
      return !text.empty() && names.numbers.contains(name.substr(0, name.find('.')));
    });
    for (const std::string& name : value.operands) {
      if (names.numbers.contains(name)) {
        throw error_at(script, value.span,
                       std::string(op->name) + ": '" + name +
                           "' is a number, and not an image: write " + name);
      }
      if (name.find('.') == name.npos) continue;
      throw error_at(
          script, value.span,
          std::string(op->name) + ": there is no number '" + name + "'; `mean2 as m` makes one");
    }
  }
  const bool is_across = values.contains("across");
  bound.call.emplace(*op, std::move(values), script.text, script.origin, stage.span);
  if (is_across) gather_pages(script, stage, names, pipeline);
  const bool several = takes_several(*bound.call);
  if (several) check_reduction(script, pipeline, stage, *bound.call);
  for (const Parameter& p : op->parameters) {
    for (const std::string& name : bound.call->value(p.name).operands) {
      const auto& needed = pipeline.operands;
      if (!names.images.contains(name) &&
          std::find(needed.begin(), needed.end(), name) == needed.end()) {
        pipeline.operands.push_back(name);
      }
    }
  }
  if (several) names.end_at(stage.name);
}

// `deskew` without an angle has it measured by a stage of its own, before it.
void measure_angle(const Script& script, Stage& stage, Names& names, Pipeline& pipeline) {
  const Operator& op = operator_of(script, stage, true);
  Stage named = stage;
  name_numbers(script, names, op, named);
  const auto values = match_arguments(script, named, op);
  const bool has_angle = values.contains("angle");
  Stage measuring{stage.span, "deskewangle", stage.name_span, {}};
  for (const char* name : {"range", "step", "ink"}) {
    const ParameterValue& value = values.at(name);
    if (!value.given) continue;
    if (has_angle) {
      throw error_at(
          script, value.span,
          std::string("deskew: ") + name + " is of measuring the angle, which angle= gives");
    }
    const auto argument = std::ranges::find_if(named.arguments, [&](const Argument& one) {
      return one.span.begin <= value.span.begin && value.span.end <= one.span.end;
    });
    measuring.arguments.push_back(
        {argument->span, name, argument->span, argument->items, argument->span});
  }
  if (has_angle) return;
  BoundStage bound{.span = stage.span, .text = printable(print(measuring))};
  bind_operator(script, measuring, names, pipeline, bound);
  bound.measured_as = "deskewangle";
  while (names.numbers.contains(bound.measured_as) || names.images.contains(bound.measured_as)) {
    bound.measured_as += "_";
  }
  names.numbers.insert(bound.measured_as);
  const Item angle{stage.span, Measured{.name = bound.measured_as, .numbers = {}}};
  stage.arguments.push_back({stage.span, "angle", stage.span, {angle}, stage.span});
  pipeline.stages.push_back(std::move(bound));
}

}  // namespace

Pipeline bind(const Script& script) {
  Pipeline pipeline{.text = script.text, .origin = script.origin};
  Names names;
  for (Stage stage : script.stages) {
    BoundStage bound{.span = stage.span, .text = printable(print(stage))};
    if (stage.name == "as") {
      bound.keep_as = single_word(stage);
      if (!is_name(bound.keep_as)) {
        throw error_at(script, stage.span,
                       "as takes one name, as in `as a`; `:a` then means that image");
      }
      if (names.numbers.contains(bound.keep_as)) {
        throw error_at(script, stage.span, "'" + bound.keep_as + "' is used already");
      }
      names.images.insert(bound.keep_as);
      names.ended.erase(bound.keep_as);
    } else if (stage.name == "save") {
      bound.save_template = single_word(stage);
      if (bound.save_template.empty()) {
        throw error_at(script, stage.span,
                       "save takes one file name, as in `save steps/{stem}.png`");
      }
    } else {
      const Operator* op = find_operator(stage.name);
      if (op != nullptr && op->name == "deskew") measure_angle(script, stage, names, pipeline);
      bind_operator(script, stage, names, pipeline, bound);
    }
    if (!bound.measured_as.empty()) {
      names.numbers.insert(bound.measured_as);
      if (bound.call->op().table) names.tables.insert(bound.measured_as);
      names.ended.erase(bound.measured_as);
    }
    if (!names.across.empty() && !(bound.call && bound.call->given("across"))) {
      throw error_at(script, stage.span,
                     names.across +
                         " across=pages is of all pages as one image, which nothing follows but "
                         "other measurements across=pages; a second run may take the number that "
                         "this one prints");
    }
    pipeline.stages.push_back(std::move(bound));
  }
  return pipeline;
}

}  // namespace impipe::pipeline
