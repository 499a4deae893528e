// Random texts that name the catalogue's operators and parameters: with values inside and far
// outside their ranges, with every kind of item, whole and mutated.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "core/operator.hpp"
#include "support/random_text.hpp"

namespace impipe::test {

// The same seed gives the same texts on every machine with the same catalogue.
class CatalogueText {
 public:
  explicit CatalogueText(std::uint64_t seed) : random_(seed), plain_(seed) {}

  std::string pipeline();  // of stages that mostly bind
  std::string any();       // one, mutated or not, or a text of RandomText, or bytes

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  template <std::size_t n>
  std::string pick(const char* const (&choices)[n]) {
    return choices[below(static_cast<int>(n))];
  }
  std::string number(const Parameter& p);
  std::string matrix(bool element);
  std::string shape(const Parameter& p);
  std::string value(const Parameter& p);
  std::string stage();
  void mutate(std::string& text);

  std::mt19937_64 random_;
  RandomText plain_;
};

}  // namespace impipe::test
