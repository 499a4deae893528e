// The ways to make a node on the CPU are rows of a table: each offers its cost or cannot make the
// node, and the cheapest is taken, as among the forms of kernels on a GPU (jit/choose).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace impipe::cpu {

// Nanoseconds a pixel of one thread; none: the method cannot make the node.
using Cost = std::optional<double>;

template <class Method>
struct Offer {
  Method method{};
  std::string_view name;  // as `impipe plan --device cpu` prints it
  double cost = 0;
};

template <class Method, class Question>
struct MethodRow {
  Method method;
  std::string_view name;
  Cost (*cost)(const Question& question);
};

// The offers of all methods that can make the node, the cheapest first; among equals by row.
template <class Method, class Question, std::size_t count>
std::vector<Offer<Method>> offers_of(const MethodRow<Method, Question> (&rows)[count],
                                     const Question& question) {
  std::vector<Offer<Method>> offers;
  for (const auto& row : rows) {
    if (const Cost cost = row.cost(question)) offers.push_back({row.method, row.name, *cost});
  }
  std::ranges::stable_sort(offers, {}, &Offer<Method>::cost);
  return offers;
}

}  // namespace impipe::cpu
