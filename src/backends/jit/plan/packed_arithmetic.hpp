// Arithmetic of bodies on whole numbers in the 16-bit halves of words, wherever their range shows
// that it is exact. A float computes such sums exactly too, so the results are the same bits.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/body_tree.hpp"
#include "core/kernel_spec.hpp"

namespace impipe::jit {

// Two whole numbers, as the text of a word: each is its half of the word, minus `bias`. The halves
// are in [0, high].
struct PackedSum {
  std::string text;
  int high = 255;
  int bias = 0;
};

// The packed numbers of a tap or name; nothing for others.
using PackedLeaf = std::function<std::optional<PackedSum>(const BodyTree&)>;

// Sums, differences and whole multiples of leaves. Nothing where a half could overflow.
std::optional<PackedSum> packed_sum(const BodyTree& tree, const PackedLeaf& leaf);

// The text of a condition that does not depend on the pixel; empty for others.
using UniformText = std::function<std::string(const BodyTree&)>;

// 1 in each half for which a condition on sums holds, else 0.
std::optional<std::string> packed_condition(const BodyTree& tree, const PackedLeaf& leaf,
                                            const UniformText& uniform);

// Sums as bytes: saturated.
std::string saturated_packed(const PackedSum& sum);

// A point of packed bytes, given the text of its images' by their place (the rest of which
// is 0; empty where there is none) and of its parameters. Nothing where its body is not for them.
using PackedImage = std::function<std::string(std::size_t image)>;
using TextOfParameter = std::function<std::string(std::size_t parameter)>;
std::optional<std::string> packed_point(const Node& node, const PackedImage& image,
                                        const TextOfParameter& parameter);

// The numbers a tree can be, given those of its names; `whole`: all of them are whole.
struct Range {
  double low = 0, high = 0;
  bool whole = false;
};
using LeafRange = std::function<std::optional<Range>(const BodyTree&)>;
std::optional<Range> range_of(const BodyTree& tree, const LeafRange& leaf);

// Whether the tree is a root of whole numbers below 2^24.
bool is_root_of_whole(const BodyTree& tree, const LeafRange& leaf);

// The tree in C, in the order of its operations. Such roots are regular_root(x).
std::string float_text(const BodyTree& tree, const LeafRange& leaf);

}  // namespace impipe::jit
