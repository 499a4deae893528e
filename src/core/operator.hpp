// An operator is data: its name, help, parameters, classes, and how it lowers to primitives. Help,
// range checks, the reference manual, completions and the conformance walk read this description.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/image_reduction.hpp"
#include "core/plan.hpp"

namespace impipe {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

// What a parameter takes besides numbers and words.
enum class Takes {
  nothing,
  kernel,      // a matrix, a named kernel (fspecial:gaussian,5,1.2) or @file
  element,     // a structuring element: a 0/1 matrix, shape,args (disk,3) or @file
  operand,     // one image by name, :a
  operands,    // any number of images by name
  expression,  // a quoted text, see core/expression.hpp
  file,        // @file
  text,        // any word or quoted text
};

// How many numbers a parameter takes, and which.
struct Numbers {
  int max_count = 0, min_count = 1;
  bool integer = false, odd = false;
  bool or_inf = false;                        // without an end
  bool or_nan = false;                        // it follows from the others
  double low = -unlimited, high = unlimited;  // each number's range, ends included
};

struct Parameter {
  std::string_view name;                     // the user's word, also in `key=value`
  char letter = 0;                           // `k7` is size=7; 0 when there is none
  std::string_view help;                     // one line, with the unit
  Numbers numbers = {};                      // none by default
  bool takes_row = false;                    // a matrix without a name, [a b], is this parameter's
  std::vector<std::string_view> words = {};  // the enumerated values it takes
  bool lists_words = false;                  // several of them, with commas
  // Words of another parameter: beside others a number without a name is not for this one, or not a
  // second one.
  std::vector<std::string_view> number_beside = {}, numbers_beside = {};
  Takes takes = Takes::nothing;
  bool names_images = false;       // an expression's names that are not of pixels are images
  std::string_view fallback = "";  // the default, as pipeline text; "" when unset
  bool required = false;
};

// Above it a kernel's plan alone takes seconds.
inline constexpr int largest_matrix_side = 1001;

struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;  // row major
  bool operator==(const Matrix&) const = default;
};

// A checked value of a parameter. Which members are set follows from what was written.
struct ParameterValue {
  bool given = false;             // written by the user (a default is not)
  Span span;                      // of the value in the pipeline's text
  std::vector<double> numbers;    // `3,5`; the arguments of a named kernel or element
  std::string word;               // an enumerated word; the name of a kernel or element
  std::vector<std::string> list;  // of words, where the parameter lists them
  std::optional<Matrix> matrix;
  std::string path;                   // @file, as written
  std::vector<std::string> operands;  // names without the colon
  std::string text;                   // an expression or a text, unquoted
};

class PlanBuilder;
struct Operator;

// One use of an operator with its checked arguments: what `lower` and `make` read.
class Call {
 public:
  Call(const Operator& op, std::map<std::string, ParameterValue, std::less<>> values,
       std::string text, std::string origin, Span span)
      : op_(&op),
        values_(std::move(values)),
        text_(std::move(text)),
        origin_(std::move(origin)),
        span_(span) {}

  const Operator& op() const { return *op_; }
  Span span() const { return span_; }
  bool given(std::string_view parameter) const { return value(parameter).given; }
  // Set: given, or with a default.
  bool has(std::string_view parameter) const;
  const ParameterValue& value(std::string_view parameter) const;
  double number(std::string_view parameter, int index = 0) const {
    return value(parameter).numbers.at(index);
  }
  const std::vector<double>& numbers(std::string_view parameter) const {
    return value(parameter).numbers;
  }
  const std::string& word(std::string_view parameter) const { return value(parameter).word; }

  // Errors that show the stage, or the value of one parameter, in the user's text. The message is
  // prefixed with the operator's name.
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail(std::string_view parameter, std::string_view message) const;

  // The pipeline's text, for errors inside an expression.
  const std::string& text() const { return text_; }
  const std::string& origin() const { return origin_; }

 private:
  const Operator* op_;
  std::map<std::string, ParameterValue, std::less<>> values_;
  std::string text_;
  std::string origin_;
  Span span_;
};

// A set of classes.
struct Classes {
  bool logical = true, uint8 = true, uint16 = true, single = true;
  bool has(PixelClass c) const;
};
inline constexpr Classes any_class{};
inline constexpr Classes no_logical{.logical = false};

// An image or measurement of the plan being made.
struct ImageValue {
  ValueId id = -1;
  ImageType type;
  ValueId alpha = -1;  // the image of one channel that is its alpha; -1: it has none

  ImageValue with_alpha(ValueId of) const {
    ImageValue out = *this;
    out.alpha = of;
    out.type.alpha = of >= 0;
    return out;
  }
  ImageValue without_alpha() const { return with_alpha(-1); }
};
struct MeasureValue {
  ValueId id = -1;
  int channels = 1;
  std::int64_t values = 0;  // a channel
};

// What a source makes, known before any pixel is.
struct MadeImage {
  ImageType type;
  Size size;
};

// What an operator does with NaN and Inf, which images of single may hold: a rule, which tests hold
// as a law, and a text for what the rule leaves open.
struct NotFinite {
  enum class Rule {
    unsaid,
    none,        // there are none: sources, tables of codes
    moved,       // they are values like others, and stay as they are
    propagated,  // each pixel for itself, by its formula; in integer and logical results NaN is 0
    spread,      // NaN makes NaN of every pixel whose window reads it, and of no other
    left_out,    // NaN has no part in the result
    last,        // NaN is ordered behind all numbers
    zero,        // NaN counts as 0
    object,      // NaN is not 0: it belongs to the objects
    other,       // as the text says
  };
  Rule rule = Rule::unsaid;
  std::string_view text = "";
};
// The rule's words, then its own; empty where there are no such values.
std::string text_of(const NotFinite& not_finite);

struct Operator {
  std::string_view name;
  std::string_view help;  // one line
  // point, geometry, filter, edge, …; that of an operator that says none is the folder of its file.
  std::string_view category = "";
  std::vector<Parameter> parameters = {};
  Classes classes = any_class;
  // Defined on one channel: a colour image goes through rgb2gray first.
  bool one_channel = false;
  // Defined on three channels together: a gray image is an error.
  bool colour = false;
  // Measures a table whose numbers the host has: of objects, lines, a translation.
  bool table = false;
  // What it makes depends on what its input's numbers mean as colours: on the file's ICC profile.
  // srgb: its formula is that of sRGB, and an image of another profile is reported.
  enum class Profile { ignored, read, srgb };
  Profile profile = Profile::ignored;
  std::string_view details = "";   // meaning, formula and its source; several lines
  std::string_view example = "";   // a pipeline
  std::string_view accuracy = "";  // against the definition: "exact", "1e-6 relative"
  NotFinite not_finite = {};
  std::string_view matlab = "";  // the MATLAB call, and where it differs
  // The files that it reads and its text does not name.
  std::vector<std::string> (*files)(const Call& call) = nullptr;
  // Makes the operator's primitives and returns the image that goes on. Null for a source, and for
  // what takes several images.
  ImageValue (*lower)(const Call& call, PlanBuilder& plan) = nullptr;
  // Of an operator that makes one image of the pages of a file, of a window of them, or of files,
  // or takes the pages as the planes of a volume.
  ImageReduction (*reduction)(const Call& call) = nullptr;
  // Sources: what `make` would make, without computing it; then the image itself.
  MadeImage (*describe)(const Call& call) = nullptr;
  HostImage (*make)(const Call& call) = nullptr;
};

// Puts an operator in the catalogue; one static instance an operator.
struct RegisterOperator {
  explicit RegisterOperator(Operator op, std::string_view file = __builtin_FILE());
};
// All operators by name. Two parameters of one operator with the same letter or name, or two
// operators with one name, end the program at first use with a message: our own mistake.
const std::vector<Operator>& catalogue();
// Whatever the case of its letters is.
const Operator* find_operator(std::string_view written);

}  // namespace impipe
