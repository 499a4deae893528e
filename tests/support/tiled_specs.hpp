// Kernels whose groups share work, and sizes around those of their tiles.
#pragma once

#include <span>
#include <vector>

#include "core/backend.hpp"
#include "support/kernel_specs.hpp"

namespace impipe::testing {

std::vector<SpecCase> tiled_specs();
// Of them, weighted sums whose weights go through local memory.
std::vector<SpecCase> many_weight_specs();
// Sums and extremes by several groups, and those that share a pass.
std::vector<SpecCase> measured_specs();
// Neighbourhoods of neighbourhoods.
std::vector<SpecCase> chained_specs();

// Points before one neighbourhood, which a kernel makes of them.
std::vector<SpecCase> pointed_specs();
// The same where what the points make is stored.
std::vector<SpecCase> stored_point_specs();

// That every 16-bit code over white is what true division makes of it.
void expect_true_quotients_by_white(Device& device);
// That linear stretches with limits give every 16-bit pixel what the CPU gives it.
void expect_stretches_of_all_codes(Device& device);

// That quotients of what two codes make, and by numbers, are those of true division.
void expect_quotients_of_codes(Device& device);

// Rows that begin at any byte of the image's, and resampled images of uncommon kinds.
std::vector<SpecCase> moved_specs();

// Fourier transforms of images, of every kind.
std::vector<SpecCase> spectral_specs();

// Bytes in whole numbers.
std::vector<SpecCase> byte_specs();

// The kernels of all these tables but the transforms, each once.
std::vector<SpecCase> all_specs();

// That an infinite pixel, and one that is no number, are in no sum whose mask leaves them out.
void expect_numbers_beside_none(Device& device);

extern const std::vector<Size> tile_sizes;
extern const std::vector<Size> byte_sizes;
extern const std::vector<Size> pointed_sizes;
// More columns than a group takes, more cells than one work-item adds up.
extern const std::vector<Size> measured_sizes;

// Compares all of them with the CPU.
void expect_bits_of_the_cpu(const std::vector<SpecCase>& specs, const std::vector<Size>& sizes,
                            Device& device);

}  // namespace impipe::testing
