// One direction of a resize in kernel text: its numbers, found at the launch, and where an output's
// taps begin and what they weigh, by the same bodies in double as the CPU's.
#pragma once

#include <string>

#include "backends/jit/text/builder.hpp"
#include "core/placement.hpp"

namespace impipe::jit {

ResizeAxes resize_axes(const LaunchContext& at, int n);

class ResizeAxisText {
 public:
  // label: "x" or "y".
  ResizeAxisText(Builder& builder, int n, std::string label, ResizeAxis ResizeAxes::*which)
      : builder_(builder), n_(n), label_(std::move(label)), which_(which) {}

  using Number = std::function<double(const ResizeAxis&)>;
  std::string number(const std::string& what, Number number,
                     ParameterType type = ParameterType::int32) const;

  // Pixels of the input and of the result.
  std::string from() const {
    return number("from", [](const ResizeAxis& a) { return a.from; });
  }
  std::string size() const {
    return number("to", [](const ResizeAxis& a) { return a.to; });
  }
  std::string taps() const {
    return number("taps", [](const ResizeAxis& a) { return a.taps; });
  }
  // Whether each output is one input pixel.
  std::string copies() const {
    return number("copies", [](const ResizeAxis& a) { return a.copies; });
  }
  // Doubles, for output `k` and tap `t`. copied: of directions that copy; begin: of others.
  std::string copied(const std::string& k) const;
  std::string begin(const std::string& k) const;
  std::string weight(const std::string& k, const std::string& t) const;
  // Before `weight` is used: where weights are divided by their sums, the kernel that makes the
  // sums, by launches for which `wanted` holds. outputs: a multiple of so many have one.
  void write_sums(const LaunchTest& wanted, int multiple);

  ResizeAxis at(const LaunchContext& launch) const { return resize_axes(launch, n_).*which_; }

 private:
  std::string real(const std::string& what, Number value) const {
    return number(what, std::move(value), ParameterType::float64);
  }
  // Writes a body once, as a function of doubles.
  std::string body(const PointBody& body, const std::string& arguments) const;
  std::string undivided(const std::string& k, const std::string& t) const;

  Builder& builder_;
  int n_;
  std::string label_;
  ResizeAxis ResizeAxes::*which_;
  std::string sums_;  // of each output's weights; empty where they are not divided
};

}  // namespace impipe::jit
