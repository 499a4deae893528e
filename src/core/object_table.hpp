// What regionprops says of the objects of an image of labels: a row each, measured on the host.
#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"

namespace impipe {

// The names of a row's numbers.
std::vector<std::string> object_columns(bool intensities);

// [objects][columns], in the order of the labels, by semantics-2.md 1.1. labels: whole numbers, of
// any class; those that are not above 0 are background. intensities: of that size, or null. origin:
// what is added to the places of pixels, which count from 0 (boxes begin half a pixel before).
std::vector<double> measure_objects(const Plane& labels, const Plane* intensities, double origin);

}  // namespace impipe
