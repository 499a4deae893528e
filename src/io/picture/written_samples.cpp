// Numbers that have no class of their own: as what type a file of TIFF or NPY stores them.
#include "io/picture/written_samples.hpp"

namespace impipe::io {

SampleType wanted_samples(const ImageType& stored, const Metadata& metadata,
                          const EncodeOptions& options) {
  if (options.asked || stored.cls != PixelClass::single) return SampleType::of_class;
  // What has a white is a picture that was made of whole numbers.
  const bool is_picture = metadata.samples != SampleType::float64 && stored.white != 0;
  return is_picture ? SampleType::of_class : metadata.samples;
}

SampleType samples_for(const HostImage& image, const Metadata& metadata,
                       const EncodeOptions& options, Encoded& out) {
  const SampleType wanted = wanted_samples(image.type, metadata, options);
  if (wanted == SampleType::of_class || holds(wanted, image)) return wanted;
  out.widened = wanted;
  return SampleType::of_class;
}

}  // namespace impipe::io
