#include "bench/codec_loops.hpp"

#include <memory>

#include "core/error.hpp"
#include "io/codec.hpp"

namespace impipe::bench {
namespace {

io::Format format_named(const std::string& extension) {
  const auto format = io::format_of_extension(extension);
  if (!format) throw Error("no codec writes ." + extension);
  return *format;
}

io::Bytes encoded(const HostImage& image, io::Format format) {
  return io::encode(image, {}, format, io::nearest_class(format, image.type.cls)).bytes;
}

}  // namespace

naive::Loop encode_loop(const std::string& extension) {
  return [format = format_named(extension)](const Material& material) {
    Outcome outcome;
    const io::Bytes file = encoded(material.image, format);
    outcome.measurements = {
        {.channels = 1, .values = 1, .numbers = {static_cast<double>(file.size())}}};
    return outcome;
  };
}

naive::Loop decode_loop(const std::string& extension) {
  return [format = format_named(extension),
          file = std::make_shared<io::Bytes>()](const Material& material) {
    if (file->empty()) *file = encoded(material.image, format);
    Outcome outcome;
    outcome.image = io::decode(*file).image;
    return outcome;
  };
}

}  // namespace impipe::bench
