// Random texts of the pipeline language: valid pipelines, their mutations, and token soup.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace impipe::test {

// The same seed gives the same texts on every machine.
class RandomText {
 public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  std::string valid_pipeline();
  std::string mutated_pipeline();  // a valid one with a few bytes or tokens changed
  std::string token_soup();
  std::string any();  // one of the three

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  template <std::size_t n>
  std::string pick(const char* const (&choices)[n]) {
    return choices[below(static_cast<int>(n))];
  }
  std::string name();
  std::string number();
  std::string item(int depth);
  std::string matrix();
  std::string expression(int depth);
  std::string stage();

  std::mt19937_64 random_;
};

}  // namespace impipe::test
