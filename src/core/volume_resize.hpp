// Volumes at another size.
#pragma once

#include "core/kernel_spec.hpp"
#include "core/volume.hpp"

namespace impipe {

// Along each axis what Resample::Kind::resize does, with weights divided by their sum, and without
// rounding between them; alpha, too.
// sizes: of the result; 0: the volume's times that of `scales`, rounded up.
Volume resize_volume(PerAxis<std::int64_t> sizes, PerAxis<double> scales, Resample::Method method,
                     bool antialias);

}  // namespace impipe
