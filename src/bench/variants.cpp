// Variants of GPU kernels by name.
#include "bench/variants.hpp"

#include <algorithm>
#include <sstream>

#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::bench {
namespace {

using Windows = KernelVariant::Windows;
using Loops = KernelVariant::Loops;
using Counts = KernelVariant::Counts;

// What a word sets; `number` is what stands behind its equals sign.
struct Word {
  const char* name;
  std::vector<int> numbers;  // that may stand there; none: it has no equals sign
  void (*set)(KernelVariant& variant, int number);
};
const std::vector<Word>& words() {
  static const std::vector<Word> all = {
      {"naive", {}, [](KernelVariant& v, int) { v.windows = Windows::pixels; }},
      {"local", {}, [](KernelVariant& v, int) { v.windows = Windows::local; }},
      {"aligned", {}, [](KernelVariant& v, int) { v.windows = Windows::aligned; }},
      {"conflicts", {}, [](KernelVariant& v, int) { v.windows = Windows::conflicts; }},
      {"rolled", {}, [](KernelVariant& v, int) { v.loops = Loops::rolled; }},
      {"unrolled", {}, [](KernelVariant& v, int) { v.loops = Loops::unrolled; }},
      {"atomic", {}, [](KernelVariant& v, int) { v.counts = Counts::atomic; }},
      {"tagged", {}, [](KernelVariant& v, int) { v.counts = Counts::tagged; }},
      {"pixels", {1, 2, 4, 8, 16}, [](KernelVariant& v, int n) { v.pixels = n; }},
      {"width", {1, 2, 4, 8, 16}, [](KernelVariant& v, int n) { v.copy_bytes = n; }},
  };
  return all;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, separator);) parts.push_back(one);
  if (text.empty() || text.back() == separator) parts.emplace_back();
  return parts;
}

void apply(const std::string& item, KernelVariant& variant) {
  const std::size_t equals = item.find('=');
  std::vector<std::string> names;
  for (const Word& word : words()) names.emplace_back(word.name);
  const Word& word = words()[static_cast<std::size_t>(
      cli::parse_choice("--variant", item.substr(0, equals), names))];
  if (word.numbers.empty()) {
    if (equals != std::string::npos) {
      throw Error("--variant: '" + item + "': " + word.name + " takes no number");
    }
    return word.set(variant, 0);
  }
  const std::string number = equals == std::string::npos ? "" : item.substr(equals + 1);
  std::string all;
  for (const int n : word.numbers) {
    if (number == std::to_string(n)) return word.set(variant, n);
    all += (all.empty() ? "" : n == word.numbers.back() ? " or " : ", ") + std::to_string(n);
  }
  throw Error("--variant: '" + item + "': " + word.name + "= takes " + all);
}

}  // namespace

KernelVariant parse_variant(const std::string& text) {
  KernelVariant variant;
  for (const std::string& item : split(text, '+')) apply(item, variant);
  return variant;
}

std::vector<std::string> parse_variants(const std::string& list) {
  std::vector<std::string> names;
  if (list == no_variants) return names;
  std::string key;  // of a number that follows others
  for (std::string name : split(list, ',')) {
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (number && !key.empty()) name = key + name;
    const std::size_t equals = name.rfind('=');
    key = equals == std::string::npos ? "" : name.substr(0, equals + 1);
    parse_variant(name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace impipe::bench
