// The kernels of distances, dithering, projections, tables of 3x3 windows,
// deviations, sums of very many weights and local statistics of two images.
#pragma once

#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

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
