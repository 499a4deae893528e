// The kernels of distances, dithering, projections, tables of 3x3 windows,
// deviations, sums of very many weights and local statistics of two images.
#pragma once

#include <string>
#include <variant>

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// What the writers of such a node have in common.
template <class Primitive>
struct WholeImageText {
  WholeImageText(Builder& to, int n)
      : to_(to),
        n_(n),
        what_(std::get<Primitive>(to.node(n).primitive)),
        self_{false, n},
        image_(to.node(n).images[0]),
        name_(Builder::name(self_)) {}

  Builder& to_;
  int n_;
  const Primitive& what_;
  Operand self_, image_;
  std::string name_;
};

// The kernels that make node n's image of an input, which they read as a whole.
void write_distance(Builder& to, int n);
void write_diffuse(Builder& to, int n);
void write_project(Builder& to, int n);
void write_backproject(Builder& to, int n);
void write_morph(Builder& to, int n);
void write_deviation(Builder& to, int n);
void write_fourier(Builder& to, int n);
void write_moments(Builder& to, int n);

}  // namespace impipe::jit
