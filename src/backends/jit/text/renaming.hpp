// Texts that differ in the names of nodes and inputs alone.
#pragma once

#include <map>
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

}  // namespace impipe::jit
