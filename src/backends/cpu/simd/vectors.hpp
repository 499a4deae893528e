// The vocabulary of vector kernels for all instruction sets.
#pragma once

#include "backends/cpu/simd/baseline.hpp"
#include "backends/cpu/simd/v3.hpp"
#include "backends/cpu/simd/v4.hpp"
