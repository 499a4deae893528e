// Plain loops over the pixels of one plane, one thread, nothing tuned: what a programmer without a
// library would write first, and what `impipe-bench --naive` compares the devices with.
// Each computes what the operator of its name computes; values of filters may differ in the last
// place. Images have one channel. A loop throws Error for a class that it does not know.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/program/executor.hpp"

namespace impipe::bench::naive {

using engine::Material;
using engine::Outcome;

using Loop = std::function<Outcome(const Material&)>;

// A rectangle of weights or of cells, row by row.
struct Window {
  int rows = 1, columns = 1;
  std::vector<float> weights;  // rows * columns; empty where only the cells count
};

// Whether a loop computed what a device did: codes at most one apart (and of masks one pixel in ten
// thousand, at a threshold), other numbers by a hundred-thousandth of the largest.
bool agrees(const Outcome& device, const Outcome& loop);

// Points: uint8 and single.
Loop table(const std::string& operand);                                   // intlut :operand; uint8
Loop adjust(double low, double high);                                     // imadjust low,high
Loop weighted_sum(double first, double second, const std::string& with);  // imlincomb
Loop threshold(double level);                                             // im2bw level

// Neighbourhoods: uint8 and single.
Loop correlate(const Window& window);               // imfilter, zeros outside; the class stays
Loop convolve_to_single(const Window& w);           // conv2, zeros outside; single
Loop separable(const std::vector<float>& weights);  // imfilter with their outer product
enum class Extreme { least, most, difference };
Loop extremum(const Window& cells, Extreme which);  // imerode, imdilate, imgradmorph
Loop rank(int side, int nth);                       // ordfilt2 of a square, zeros outside
Loop sobel_edges(double threshold);                 // edge sobel, thinned; uint8

// Measurements: uint8 and single.
Loop sum();
Loop mean();
Loop most();
Loop joint_histogram(const std::string& with);  // jointhist of 256 bins; uint8

// Whole images.
Loop regional_maxima();                                // imregionalmax, 8 neighbours; uint8
Loop distance();                                       // bwdist; logical
Loop projections(const std::vector<double>& degrees);  // radon; uint8 and single
Loop diffuse();                                        // dither; uint8

}  // namespace impipe::bench::naive
