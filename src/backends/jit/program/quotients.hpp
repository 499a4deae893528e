// Which quotients of a point's body have a divisor that is the same for every pixel, so that its
// reciprocal can stand for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "backends/jit/program/kernel_context.hpp"
#include "core/body_tree.hpp"

namespace impipe::jit {

// Whether a part of a body is a quotient by its parameter `white`.
bool is_over_white(const BodyTree& part);
// Whether a part of a point's body, which is computed in double, is a quotient of a code by the
// node's white, which a launch knows: white's reciprocal is a parameter.
bool is_code_over_white(const KernelContext& of, const Node& node, const BodyTree& part);
// Where the argument of a body's parameter `white` is, if a launch knows it.
std::optional<std::size_t> known_white(const Node& node, const PointBody& body);
// The body of a point of codes that is computed in floats, with its quotients by what needs no
// test: numbers that codes make stay far inside the range of floats.
struct CodeQuotients {
  bool found = false;
  bool all = true;        // of the quotients by what is the same for every pixel
  bool by_white = false;  // some take `white_reciprocal`, a parameter more
  std::string text;
};
CodeQuotients quotients_of_codes(const KernelContext& of, const Node& node);
// The argument `white` of point node n, where a launch knows it and floats are divided by nothing
// else: what a white of 1 makes needs no quotient.
std::optional<std::size_t> white_divided_by(const KernelContext& of, int n);
// Whether point node n has quotients, besides those, that reciprocals of what is the same for every
// pixel give first: of floats, and of codes in double.
bool divides_by_uniform(const KernelContext& of, int n);

constexpr int codes_of_16_bits = 65536;
// Whether point node n is computed in double, by a power, a logarithm or the like, of one image of
// 16-bit integers and of values known before the launch: it becomes a lookup table of all integers
// (pixel/code_curve.cl).
bool is_curve_of_codes(const KernelContext& of, int n);
// Whether a curve is the same for all planes of a stack: none of its numbers was measured.
bool is_same_for_planes(const KernelContext& of, int n);

// The text of a body that is a linear stretch with clamping, two operations in double for an
// integer pixel (pixel/ramp.cl).
struct Ramp {
  std::string line;     // without its limits
  std::string bound;    // above the size of what it adds and subtracts
  std::string ordered;  // its upper limit less the lower one; 0 where it has none
};

// Nothing for nodes that are not points of 16-bit integer pixels alone, computed in double, with a
// quotient; and for bodies that are more than sums, products and quotients with what is the same
// for every pixel and a limit to both sides.
std::optional<Ramp> ramp_of(const KernelContext& of, int n);

}  // namespace impipe::jit
