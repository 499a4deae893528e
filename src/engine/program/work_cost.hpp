// How long a run's computing would take on the CPU and on a GPU, roughly: enough for `auto`.
#pragma once

#include "core/image.hpp"
#include "core/plan.hpp"
#include "core/volume_ring.hpp"

namespace impipe::engine {

// Seconds and bytes a second. The GPU's are an H200's, measured (docs/benchmarks/h200.md);
// the CPU's those of 16 threads of a Xeon beside an H100 (docs/benchmarks/h100/auto.txt). They only
// have to be right within a small factor: work that takes about as long on both may go to either.
struct CostModel {
  // cpu: one unit of pipeline/cost.hpp, which is about a byte moved to or from memory, on one of
  // many threads.
  double cpu_unit = 0.07e-9;
  double crowd = 0.6;        // of a thread's speed with files is left when all threads work
  double gpu_start = 0.2;    // the driver and a context
  double gpu_kernel = 0.05;  // making one kernel: from nothing 0.1 to 0.3, from the cache 0.005
  double gpu_launch = 2.6e-6;
  double gpu_unit = 1.0 / 4e12;
  double pcie = 55e9;        // bytes a second, pinned memory
  double staging = 8e9;      // bytes a second that a thread copies to pinned memory
  double gpu_coded = 5e-11;  // of a pixel of a JPEG that the GPU decodes or encodes
  // Of a byte of pixels of a PNG, TIFF or EXR that it does (docs/benchmarks/h200/files.txt).
  double gpu_packed = 7e-11;
  // So much later is a GPU there that is opened beside threads that compute.
  double gpu_held_up = 0.06;
};

// What a run computes, all its images together.
struct WorkCost {
  double units = 0;  // of pipeline/cost.hpp
  double launches = 0;
  double transfer_bytes = 0;  // to the device and back
  double images = 0;          // files, and frames of streams
  int kernels = 0;
  // Of one thread that decodes and encodes the files, and what is left of it where a GPU does what
  // it can; the pixels of JPEGs, and the bytes of other files' pixels, that this decodes or
  // encodes.
  double file_seconds = 0, file_seconds_beside_gpu = 0;
  double coded_pixels = 0, packed_bytes = 0;

  // A plan that runs so many times, on so many pixels in all.
  void add(const Plan& plan, double pixels, double runs);
  // A filter of volumes of this type: of so many voxels and planes in all.
  void add(const PlaneRing& ring, const ImageType& type, double voxels, double planes);
  double cpu_seconds(const CostModel& model, int threads) const;
  double gpu_seconds(const CostModel& model, int threads) const;
  // Of these, the driver and the kernels.
  double gpu_start_seconds(const CostModel& model) const;

 private:
  // is_ring: images that stand alone in kernels, which are resized ones, the CPU does without.
  void add_steps(const Plan& plan, double pixels, double runs, bool is_ring);
};

}  // namespace impipe::engine
