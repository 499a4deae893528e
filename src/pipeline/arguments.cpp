// Matches the arguments of one stage to its operator's parameters.
#include "pipeline/arguments.hpp"

#include <algorithm>
#include <cmath>

#include "core/expression.hpp"
#include "core/text.hpp"
#include "pipeline/parser.hpp"

namespace impipe::pipeline {
namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

bool takes_shape(const Parameter& p) {
  return p.takes == Takes::kernel || p.takes == Takes::element;
}

// The parameter's own spelling of a word, whatever the case it is written in; empty when it takes
// no such word.
std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::string_view word_of(const Parameter& p, std::string_view written) {
  const std::string wanted = lowered(written);
  const auto it = std::find_if(p.words.begin(), p.words.end(),
                               [&](std::string_view word) { return lowered(word) == wanted; });
  return it == p.words.end() ? std::string_view() : *it;
}

bool has_word(const Parameter& p, std::string_view word) { return !word_of(p, word).empty(); }

bool takes_special(const Numbers& numbers, double number) {
  return numbers.max_count > 0 &&
         ((numbers.or_inf && number == unlimited) || (numbers.or_nan && std::isnan(number)));
}
bool takes_special(const Parameter& p, std::string_view word) {
  const std::optional<double> number = special_number(word);
  return number && takes_special(p.numbers, *number);
}

bool in_range(const Numbers& numbers, double number) {
  if (takes_special(numbers, number)) return true;
  const bool whole = !numbers.integer || number == std::floor(number);
  const bool odd = !numbers.odd || std::fmod(std::fabs(number), 2) == 1;
  return number >= numbers.low && number <= numbers.high && whole && odd;
}

// "2 numbers from 0 to 1"; empty when there are none.
std::string expected_numbers(const Numbers& numbers) {
  if (numbers.max_count == 0) return "";
  const auto [max_count, min_count, integer, odd, or_inf, or_nan, low, high] = numbers;
  const std::string what = odd ? "odd whole number" : integer ? "whole number" : "number";
  std::string out = (odd ? "an " : "a ") + what;
  if (max_count > 1) {
    out = (min_count < max_count ? std::to_string(min_count) + " to " : "") +
          std::to_string(max_count) + " " + what + "s";
  }
  if (std::isfinite(low) && std::isfinite(high)) {
    out += " from " + number_text(low) + " to " + number_text(high);
  } else if (std::isfinite(low)) {
    out += " of " + number_text(low) + " or more";
  } else if (std::isfinite(high)) {
    out += " of " + number_text(high) + " or less";
  }
  return out + (or_inf ? " or inf" : "") + (or_nan ? " or NaN" : "");
}

// What a parameter takes, for messages: "2 numbers from 0 to 1, or stretchlim".
std::string expectation(const Parameter& p) {
  std::string out = expected_numbers(p.numbers);
  const auto add = [&](std::string_view text) {
    if (!out.empty()) out += ", or ";
    out += text;
  };
  if (p.takes == Takes::kernel) add("a kernel ([1 2 1]/4, fspecial:gaussian,5,1.2 or @file)");
  if (p.takes == Takes::element) add("a structuring element ([1 1; 0 1], disk,3 or @file)");
  if (p.takes == Takes::operand || p.takes == Takes::operands) add("an image (:name)");
  if (p.takes == Takes::file) add("a file (@file)");
  if (p.takes == Takes::text) add("a text ('…')");
  if (p.takes == Takes::expression) add("a quoted expression ('x + 1')");
  if (!p.words.empty()) add((p.lists_words ? "some of " : "") + listed(p.words));
  return out;
}

class Matcher {
 public:
  Matcher(const Script& script, const Stage& stage, const Operator& op)
      : script_(script), stage_(stage), op_(op) {}

  std::map<std::string, ParameterValue, std::less<>> run() {
    for (const Argument& argument : stage_.arguments) {
      if (argument.key.empty()) {
        positional(argument);
      } else {
        assign(parameter_named(argument), argument.items, argument.value_span);
      }
    }
    for (const Parameter& p : op_.parameters) {
      if (const auto it = values_.find(p.name); it != values_.end()) {
        check_count(p, it->second);
      } else if (!p.fallback.empty()) {
        set_default(p);
      } else if (p.required) {
        fail(stage_.span, std::string(p.name) + " is missing: " + expectation(p));
      }
    }
    return std::move(values_);
  }

 private:
  [[noreturn]] void fail(Span span, const std::string& message) const {
    throw error_at(script_, span, std::string(op_.name) + ": " + message);
  }

  const Parameter& parameter_named(const Argument& argument) const {
    std::vector<std::string> names;
    for (const Parameter& p : op_.parameters) {
      if (lowered(p.name) == lowered(argument.key)) return p;
      names.emplace_back(p.name);
    }
    for (const Parameter& p : op_.parameters) {
      if (p.letter != 0 && argument.key == std::string_view(&p.letter, 1)) return p;
    }
    if (names.empty()) fail(argument.span, "it takes no arguments");
    std::string message = "there is no parameter " + in_quotes(argument.key);
    const std::string near = did_you_mean(argument.key, names);
    if (near.empty()) {
      message += "; it has ";
      for (size_t i = 0; i < names.size(); ++i) message += (i > 0 ? ", " : "") + names[i];
    }
    fail(argument.key_span, message + near);
  }

  bool unset(const Parameter& p) const { return !values_.contains(p.name); }

  // The first parameter for which `fits`, or null.
  template <class Fits>
  const Parameter* first(Fits fits) const {
    for (const Parameter& p : op_.parameters) {
      if (fits(p)) return &p;
    }
    return nullptr;
  }

  // A letter with a number: the parameter that declares the letter, or a word that looks like one.
  // Null when it was that of the letter, which then has the number.
  const Parameter* take_letter(const Argument& argument, const LetterNumber& letter) {
    const Parameter* target = first([&](const Parameter& p) { return p.letter == letter.letter; });
    if (target != nullptr) {
      if (!unset(*target)) fail(argument.span, std::string(target->name) + " is given twice");
      ParameterValue& value = values_[std::string(target->name)];
      add_number(*target, value, letter.value, argument.span);
      value.given = true;
      value.span = argument.span;
      return nullptr;
    }
    target = first([&](const Parameter& p) { return unset(p) && has_word(p, letter.text); });
    if (target == nullptr) {
      fail(argument.span, "there is no parameter with the letter " +
                              in_quotes(std::string_view(&letter.letter, 1)) + letters());
    }
    return target;
  }

  static bool is_word(const Item& item) { return std::holds_alternative<Word>(item.value); }

  const Parameter* target_of_word(const Argument& argument, const Word& word) const {
    const Parameter* target = nullptr;
    if (word.argument.empty()) {
      target = first([&](const Parameter& p) {
        const bool has_numbers = p.numbers.min_count > 1;  // behind the word
        return unset(p) && has_word(p, word.text) &&
               (p.lists_words || has_numbers || argument.items.size() == 1);
      });
    }
    if (target == nullptr && word.argument.empty()) {  // of a list: `0,inf`
      target = first([&](const Parameter& p) { return unset(p) && takes_special(p, word.text); });
    }
    if (target == nullptr && std::ranges::all_of(argument.items, is_word)) {
      target = first([&](const Parameter& p) {  // which says what is wrong with a word of its list
        return unset(p) && p.lists_words && argument.items.size() > 1;
      });
    }
    const bool taken = first([&](const Parameter& p) { return has_word(p, word.text); }) != nullptr;
    if (target == nullptr && !taken) {
      target = first([&](const Parameter& p) {
        return unset(p) && (takes_shape(p) || p.takes == Takes::text);
      });
    }
    if (target == nullptr) unknown_word(argument, word.text);
    return target;
  }

  // Whether none of these words is asked for, or one of them is given; not another of their kind.
  bool is_beside(const std::vector<std::string_view>& words) const {
    if (words.empty()) return true;
    const Parameter* kind = first([&](const Parameter& p) { return has_word(p, words.front()); });
    const auto given = values_.find(kind->name);
    return given == values_.end() ||
           std::find(words.begin(), words.end(), given->second.word) != words.end();
  }

  // Single numbers fill a parameter that still has room; a list is one parameter's. Null when there
  // is no room anywhere, or when the single number was added; `added` says which.
  const Parameter* take_number(const Argument& argument, bool& added) {
    const Item& head = argument.items.front();
    const bool single = argument.items.size() == 1 && std::holds_alternative<Number>(head.value);
    const auto takes_it = [&](const Parameter& p) {
      return p.numbers.max_count > 0 && is_beside(p.number_beside) &&
             (unset(p) || (single && filling_ == &p && room(p) && is_beside(p.numbers_beside)));
    };
    const Parameter* target = nullptr;
    // `edge canny 0.1,0.3 2`: thinning is 0 or 1, so 2 is sigma; `fspecial gaussian 5 1.5`: a side
    // is whole, so 1.5 is sigma. A parameter of numbers alone is not passed over before it has one:
    // `medfilt2 501` would have a border of 501.
    if (single) {
      const double number = std::get<Number>(head.value).fraction();
      target = first([&](const Parameter& p) {
        const bool has_one = !unset(p) && p.numbers.integer && number != std::floor(number);
        return takes_it(p) && (in_range(p.numbers, number) || (p.words.empty() && !has_one));
      });
      // `imbinarize 128` is about its level, not about what no number was meant for.
      if (target != nullptr && !in_range(target->numbers, number)) target = nullptr;
    }
    if (target == nullptr) target = first(takes_it);
    if (target == nullptr && single) {
      const std::string spelled = number_text(std::get<Number>(head.value).value);
      return first([&](const Parameter& p) { return unset(p) && has_word(p, spelled); });
    }
    if (target == nullptr || !single) return target;
    fill(*target, head, argument.span);
    added = true;
    return nullptr;
  }

  // inf and NaN fill a parameter as the numbers beside them do: `imresize 256 NaN`.
  bool take_special(const Argument& argument, const Word& word) {
    const std::optional<double> number = special_number(word.text);
    if (!number || !word.argument.empty() || argument.items.size() != 1) return false;
    if (first([&](const Parameter& p) { return unset(p) && has_word(p, word.text); })) return false;
    const Parameter* target = first([&](const Parameter& p) {
      return takes_special(p.numbers, *number) && (unset(p) || (filling_ == &p && room(p)));
    });
    if (target == nullptr) return false;
    fill(*target, argument.items.front(), argument.span);
    return true;
  }

  // The parameter gets a single number, and those that follow it while it has room.
  void fill(const Parameter& target, const Item& item, Span span) {
    filling_ = &target;
    ParameterValue& value = values_[std::string(target.name)];
    add_item(target, value, item);
    if (!value.given) value.span = span;
    value.span.end = span.end;
    value.given = true;
  }

  const Parameter* target_of_matrix(const Matrix& matrix) const {
    const Parameter* target = nullptr;
    if (matrix.rows == 0) {
      target = first([&](const Parameter& p) { return unset(p) && has_word(p, "[]"); });
    }
    if (target == nullptr && matrix.rows == 1) {
      target = first([&](const Parameter& p) {
        return unset(p) && p.takes_row && matrix.columns <= p.numbers.max_count;
      });
    }
    if (target == nullptr) {
      target = first([&](const Parameter& p) { return unset(p) && takes_shape(p); });
    }
    if (target == nullptr) {
      target = first([&](const Parameter& p) { return unset(p) && p.numbers.max_count > 0; });
    }
    return target;
  }

  void positional(const Argument& argument) {
    const Item& head = argument.items.front();
    const Parameter* target = nullptr;
    bool added = false;  // to a parameter already
    if (const auto* letter = std::get_if<LetterNumber>(&head.value);
        letter != nullptr && argument.items.size() == 1) {
      target = take_letter(argument, *letter);
      added = target == nullptr;
    } else if (const auto* word = std::get_if<Word>(&head.value)) {
      added = take_special(argument, *word);
      if (!added) target = target_of_word(argument, *word);
    } else if (std::holds_alternative<Number>(head.value) ||
               std::holds_alternative<Range>(head.value)) {
      target = take_number(argument, added);
    } else if (const auto* matrix = std::get_if<Matrix>(&head.value)) {
      target = target_of_matrix(*matrix);
    } else if (std::holds_alternative<File>(head.value)) {
      target = first([&](const Parameter& p) {
        return unset(p) && (takes_shape(p) || p.takes == Takes::file);
      });
    } else if (std::holds_alternative<Measured>(head.value)) {
      target = first([&](const Parameter& p) {
        return unset(p) && (p.numbers.max_count > 0 || takes_shape(p));
      });
    } else if (std::holds_alternative<Quoted>(head.value)) {
      target = first([&](const Parameter& p) {
        return unset(p) && (p.takes == Takes::expression || p.takes == Takes::text);
      });
    } else if (std::holds_alternative<Operand>(head.value)) {
      target = first([&](const Parameter& p) {
        return p.takes == Takes::operands || (unset(p) && p.takes == Takes::operand);
      });
    }
    if (added) return;
    if (target == nullptr) {
      fail(argument.span, op_.parameters.empty() ? "it takes no arguments" : left_over(head));
    }
    assign(*target, argument.items, argument.span);
  }

  // Why no parameter takes an argument, with the spelling that was meant where it is known.
  std::string left_over(const Item& head) const {
    if (const auto* text = std::get_if<Quoted>(&head.value)) {
      // MATLAB's 'canny', and 'salt & pepper', which is salt.
      for (const std::string& word : {text->text, text->text.substr(0, text->text.find(" & "))}) {
        const Parameter* p = first([&](const Parameter& q) { return has_word(q, word); });
        if (p != nullptr) return "words stand without quotes: " + std::string(word_of(*p, word));
      }
    }
    if (const auto* number = std::get_if<Number>(&head.value)) {
      const Parameter* p = first([&](const Parameter& q) {  // `imdilate disk 3`
        const auto it = values_.find(q.name);
        return takes_shape(q) && it != values_.end() && !it->second.word.empty() &&
               it->second.numbers.empty();
      });
      if (p != nullptr) {
        const std::string& shape = values_.find(p->name)->second.word;
        return "the numbers of " + shape + " follow it with commas: " + shape + "," +
               number_text(number->fraction());
      }
    }
    return "no parameter is left for " + std::string(kind_of(head)) + " (see `impipe ops " +
           std::string(op_.name) + "`)";
  }

  std::string letters() const {
    std::string out;
    for (const Parameter& p : op_.parameters) {
      if (p.letter == 0) continue;
      out += out.empty() ? "; it has " : ", ";
      out += p.letter;
      out += " (" + std::string(p.name) + ")";
    }
    return out;
  }

  [[noreturn]] void unknown_word(const Argument& argument, const std::string& text) const {
    std::vector<std::string> words;
    for (const Parameter& p : op_.parameters) {
      if (!unset(p)) continue;
      for (const auto& word : p.words) {
        if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
      }
    }
    for (const Parameter& p : op_.parameters) {
      if (!unset(p) && has_word(p, text)) {
        fail(argument.span, std::string(p.name) + " is given twice");
      }
      if (p.name == text) {
        fail(argument.span, in_quotes(text) + " needs a value: " + text + "=" +
                                (p.words.empty() ? std::string("…") : std::string(p.words[0])));
      }
    }
    std::string message = "no parameter takes " + in_quotes(text);
    const std::string near = did_you_mean(text, words);
    const bool expression =
        first([&](const Parameter& p) { return unset(p) && p.takes == Takes::expression; });
    if (near.empty() && expression) {
      fail(argument.span, "an expression stands in quotes: " + in_quotes(text));
    }
    if (near.empty() && !words.empty()) {
      message += "; known words are " + listed({words.begin(), words.end()});
    }
    fail(argument.span, message + near);
  }

  bool room(const Parameter& p) const {
    return static_cast<int>(values_.at(std::string(p.name)).numbers.size()) < p.numbers.max_count;
  }

  void assign(const Parameter& p, const std::vector<Item>& items, Span span) {
    ParameterValue& value = values_[std::string(p.name)];
    if (value.given && p.takes != Takes::operands) {
      fail(span, std::string(p.name) + " is given twice");
    }
    if (!value.given) value.span = span;
    value.span.end = span.end;
    value.given = true;
    stand_ins_.clear();
    for (const Item& item : items) add_item(p, value, item);
    place_stand_ins(p, stand_ins_, value.numbers);
  }

  [[noreturn]] void mismatch(const Parameter& p, Span span) const {
    fail(span, std::string(p.name) + " takes " + expectation(p));
  }

  void add_item(const Parameter& p, ParameterValue& value, const Item& item) {
    if (std::holds_alternative<Number>(item.value) || std::holds_alternative<Range>(item.value)) {
      // The arguments of a named shape, a number, or a word that is spelled as a number.
      if (takes_shape(p) && !value.word.empty()) {
        const auto* number = std::get_if<Number>(&item.value);
        if (number == nullptr) fail(item.span, "the numbers of " + value.word + " are no range");
        value.numbers.push_back(number->fraction());
      } else if (p.numbers.max_count > 0) {
        add_numbers(p, value, item);
      } else if (const auto* n = std::get_if<Number>(&item.value);
                 n != nullptr && has_word(p, number_text(n->value))) {
        value.word = number_text(n->value);
      } else {
        mismatch(p, item.span);
      }
    } else if (const auto* word = std::get_if<Word>(&item.value)) {
      add_word(p, value, *word, item.span);
    } else if (const auto* letter = std::get_if<LetterNumber>(&item.value)) {
      add_word(p, value, Word{letter->text, {}}, item.span);
    } else if (const auto* matrix = std::get_if<Matrix>(&item.value)) {
      if (matrix->rows == 0) {  // a word of its own: `imadjust [] [] 0.5`
        if (!has_word(p, "[]")) fail(item.span, "the matrix is empty");
        value.word = "[]";
      } else if (takes_shape(p) && !value.matrix) {
        if (std::max(matrix->rows, matrix->columns) > largest_matrix_side) {
          fail(item.span, "a matrix has at most " + std::to_string(largest_matrix_side) +
                              " rows and columns, not " + std::to_string(matrix->rows) + " and " +
                              std::to_string(matrix->columns));
        }
        value.matrix = impipe::Matrix{matrix->rows, matrix->columns, matrix->values()};
        for (const double element : value.matrix->values) {
          if (!std::isfinite(element)) fail(item.span, "the numbers of a matrix are finite");
        }
      } else if (p.numbers.max_count > 0 && (matrix->rows <= 2 || matrix->columns == 1)) {
        for (const double number : matrix->values()) add_number(p, value, number, item.span);
      } else {
        mismatch(p, item.span);
      }
    } else if (const auto* measured = std::get_if<Measured>(&item.value)) {
      add_measured(p, value, *measured, item.span);
    } else if (const auto* file = std::get_if<File>(&item.value)) {
      const bool takes_file = takes_shape(p) || p.takes == Takes::file;
      if (!takes_file || !value.path.empty()) mismatch(p, item.span);
      value.path = file->path;
    } else if (const auto* operand = std::get_if<Operand>(&item.value)) {
      const bool fits =
          p.takes == Takes::operands || (p.takes == Takes::operand && value.operands.empty());
      if (!fits) mismatch(p, item.span);
      value.operands.push_back(operand->name);
    } else if (const auto* text = std::get_if<Quoted>(&item.value)) {
      if (p.takes == Takes::expression && value.text.empty()) {
        value.text = text->text;
        if (p.names_images) value.operands = images_named(*text, item.span);
      } else {
        add_word(p, value, Word{text->text, {}}, item.span);
      }
    }
  }

  // The images that an expression names.
  std::vector<std::string> images_named(const Quoted& text, Span span) const {
    const std::vector<std::string> known(std::begin(pixel_names), std::end(pixel_names));
    const Expression expression =
        parse_expression(text.text, {.known = known, .others = true},
                         {.text = script_.text, .span = span, .origin = script_.origin});
    std::vector<std::string> out;
    for (const std::string& name : expression.variables()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) out.push_back(name);
    }
    return out;
  }

  void add_word(const Parameter& p, ParameterValue& value, const Word& word, Span span) {
    if (p.takes == Takes::text && word.argument.empty() && value.text.empty()) {
      value.text = word.text;
      return;
    }
    if (word.argument.empty() && takes_special(p, word.text)) {
      add_number(p, value, *special_number(word.text), span);
      return;
    }
    if (p.lists_words && word.argument.empty() && has_word(p, word.text)) {
      value.list.emplace_back(word_of(p, word.text));
      return;
    }
    if (!value.word.empty()) mismatch(p, span);
    if (word.argument.empty() && has_word(p, word.text)) {
      value.word = word_of(p, word.text);
      return;
    }
    if (!takes_shape(p)) {
      const std::vector<std::string> words(p.words.begin(), p.words.end());
      fail(span, std::string(p.name) + " takes " + expectation(p) + ", not " +
                     in_quotes(word.text) + did_you_mean(word.text, words));
    }
    // `disk,3`, `strel:disk,3` and `fspecial:gaussian,5` name the same kind of thing.
    value.word = lowered(word.text);
    const bool kernel = p.takes == Takes::kernel;
    const std::string_view maker = kernel ? "fspecial" : "strel";
    if (word.argument.empty() && value.word == maker) {
      fail(span, "what " + value.word + " makes follows it with a colon: " + value.word +
                     (kernel ? ":gaussian,5,1" : ":disk,3"));
    }
    if (!word.argument.empty()) {
      const auto* inner = std::get_if<Word>(&word.argument.front().value);
      if (inner == nullptr || !inner->argument.empty() || value.word != maker) {
        fail(span, std::string(p.name) + " takes " + expectation(p));
      }
      value.word = lowered(inner->text);
    }
  }

  void add_numbers(const Parameter& p, ParameterValue& value, const Item& item) {
    if (const auto* number = std::get_if<Number>(&item.value)) {
      add_number(p, value, number->fraction(), item.span);
      return;
    }
    for (const double number : std::get<Range>(item.value).values()) {
      add_number(p, value, number, item.span);
    }
  }

  // Gives the numbers that are not measured yet values in range, in ascending order among the
  // others, as levels and limits are: reals between their neighbours, whole numbers 1 where they
  // may.
  static void place_stand_ins(const Parameter& p, const std::vector<std::size_t>& places,
                              std::vector<double>& numbers) {
    const auto clamped = [&p](double number) {
      return std::clamp(number, p.numbers.low, p.numbers.high);
    };
    for (std::size_t first = 0, last = 0; first < places.size(); first = last) {
      while (last < places.size() && places[last] - places[first] == last - first) ++last;
      const std::size_t begin = places[first], end = places[last - 1] + 1;
      const bool has_next = end < numbers.size();
      const double low = begin > 0 ? numbers[begin - 1]
                                   : clamped(has_next ? std::min(0.0, numbers[end] - 1) : 0.0);
      const double high = has_next ? numbers[end] : clamped(begin > 0 ? low + 1 : 1);
      for (std::size_t i = begin; i < end; ++i) {
        const double part =
            static_cast<double>(i + 1 - begin) / static_cast<double>(end + 1 - begin);
        numbers[i] =
            p.numbers.integer ? std::max(low, std::min(high, 1.0)) : std::lerp(low, high, part);
      }
    }
  }

  void add_measured(const Parameter& p, ParameterValue& value, const Measured& measured,
                    Span span) {
    const bool known = !measured.numbers.empty();
    const std::size_t least =
        p.numbers.max_count == 0 ? 1 : static_cast<std::size_t>(std::max(1, p.numbers.min_count));
    std::vector<double> numbers = measured.numbers;
    if (!known) {
      numbers.assign(measured.count > 0 ? measured.count : least,
                     std::clamp(1.0, p.numbers.low, p.numbers.high));
    }
    if (p.takes == Takes::expression) {  // of a table that it names
      value.numbers.insert(value.numbers.end(), numbers.begin(), numbers.end());
      return;
    }
    if (takes_shape(p) && value.word.empty() && p.numbers.max_count == 0) {
      const int columns = std::max(1, measured.columns);
      if (!known) {  // the identity, which has an inverse as a map must
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % (columns + 1) == 0;
      }
      value.matrix =
          impipe::Matrix{static_cast<int>(numbers.size()) / columns, columns, std::move(numbers)};
      return;
    }
    for (const double number : numbers) {
      if (takes_shape(p)) {  // of a named shape
        value.numbers.push_back(number);
        continue;
      }
      try {
        if (!std::isfinite(number) && !takes_special(p.numbers, number)) mismatch(p, span);
        if (!known) stand_ins_.push_back(value.numbers.size());
        add_number(p, value, number, span);
      } catch (const Error&) {
        const std::string is =
            known ? " is " + numbers_text(measured.numbers)
                  : " is " + std::to_string(std::max<std::size_t>(1, measured.count)) + " numbers";
        fail(span,
             std::string(p.name) + " takes " + expectation(p) + ", and " + measured.name + is);
      }
    }
  }

  static std::string numbers_text(const std::vector<double>& numbers) {
    std::string out;
    for (const double number : numbers) out += (out.empty() ? "" : ", ") + number_text(number);
    return out;
  }

  void add_number(const Parameter& p, ParameterValue& value, double number, Span span) {
    const std::string shown = number_text(number);
    if (p.numbers.max_count == 0) mismatch(p, span);
    if (static_cast<int>(value.numbers.size()) == p.numbers.max_count) {
      fail(span,
           std::string(p.name) + " takes " + expectation(p) + ", " + shown + " is one too many");
    }
    if (!in_range(p.numbers, number)) {
      fail(span, std::string(p.name) + " takes " + expectation(p) + ", not " + shown);
    }
    value.numbers.push_back(number);
  }

  void check_count(const Parameter& p, const ParameterValue& value) const {
    const int count = static_cast<int>(value.numbers.size());
    if (count == 0 || takes_shape(p) || count >= p.numbers.min_count) return;
    fail(value.span,
         std::string(p.name) + " takes " + expectation(p) + ", not " + std::to_string(count));
  }

  void set_default(const Parameter& p) {
    const Script script = parse("x " + std::string(p.name) + "=" + std::string(p.fallback));
    ParameterValue value;
    for (const Item& item : script.stages.front().arguments.front().items) add_item(p, value, item);
    values_[std::string(p.name)] = std::move(value);
  }

  const Script& script_;
  const Stage& stage_;
  const Operator& op_;
  std::map<std::string, ParameterValue, std::less<>> values_;
  std::vector<std::size_t> stand_ins_;  // which of the argument's numbers are not measured yet
  const Parameter* filling_ = nullptr;  // the parameter that single numbers go to
};

}  // namespace

std::map<std::string, ParameterValue, std::less<>> match_arguments(const Script& script,
                                                                   const Stage& stage,
                                                                   const Operator& op) {
  return Matcher(script, stage, op).run();
}

}  // namespace impipe::pipeline
