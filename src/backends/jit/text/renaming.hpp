// Texts that differ in the names of nodes and inputs alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace impipe::jit {

// One to one from the names in a text to those in another, as its parts are matched.
class Renaming {
 public:
  // Whether the texts are the same but for names, and these go with those matched before. Names may
  // differ by the numbers of nodes and inputs: `a_n8_rows` and `a_n13_rows`, not `smaller` and
  // `larger`. After a mismatch the renaming is of no use.
  bool match(std::string_view from, std::string_view to);
  // Of both texts' names that have such a number.
  const std::map<std::string, std::string, std::less<>>& names() const { return names_; }
  // What a name of the first text is in the other.
  std::string of(std::string_view name) const;

 private:
  bool match_names(std::string_view from, std::string_view to);

  std::map<std::string, std::string, std::less<>> names_, back_;
};

// The text of functions or of a kernel's body, with what it uses. Buffers and launch parameters are
// named in it as `buffers->NAME` and `params->NAME`, so that whatever text is put together uses
// what its parts use.
struct Code {
  std::string text;
  std::set<std::string> buffers, parameters;
  std::set<std::string> calls;    // names before a bracket
  std::set<std::string> defines;  // the functions in it
};
Code code_of(std::string text);

}  // namespace impipe::jit
