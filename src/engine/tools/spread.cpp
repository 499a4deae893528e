#include "engine/tools/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace impipe::engine {

Spread spread_of(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  const std::size_t half = numbers.size() / 2;
  const double median =
      numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
  return {numbers.front(), median, numbers.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

}  // namespace impipe::engine
