// The kernels of distances, dithering, projections, tables of 3x3 windows,
// deviations, sums of very many weights, Fourier transforms of images and local statistics of two
// images.
#pragma once

#include <string>
#include <variant>

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// What the writers of such a node have in common.
template <class Primitive>
struct WholeImageText {
  WholeImageText(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        what_(std::get<Primitive>(builder.node(n).primitive)),
        self_{false, n},
        image_(builder.node(n).images[0]),
        name_(Builder::name(self_)) {}

  Builder& builder_;
  int n_;
  const Primitive& what_;
  Operand self_, image_;
  std::string name_;
};

// The kernels that make node n's image of an input, which they read as a whole.
void write_distance(Builder& builder, int n);
void write_diffuse(Builder& builder, int n);
void write_project(Builder& builder, int n);
void write_backproject(Builder& builder, int n);
void write_morph(Builder& builder, int n);
void write_deviation(Builder& builder, int n);
void write_fourier(Builder& builder, int n);
void write_spectrum(Builder& builder, int n);
void write_moments(Builder& builder, int n);

}  // namespace impipe::jit
