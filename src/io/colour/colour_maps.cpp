// Conversions between colour spaces, by the modules that have Little CMS and OpenColorIO.
#include "io/colour/colour_maps.hpp"

#include "io/module/module.hpp"
#include "io/module/module_call.hpp"

namespace impipe::io {
namespace {

constexpr std::string_view lcms_module = "impipe_codec_icc", ocio_module = "impipe_codec_ocio";

}  // namespace

ColourMap colour_map(const ColourRequest& request) {
  const CodecModule& module = codec_module(lcms_module);
  return from_module([&] { return module.colour_map(request); });
}

std::vector<ColourMap> space_maps(const SpaceRequest& request) {
  const CodecModule& module = codec_module(ocio_module);
  return from_module([&] { return module.colour_maps(request); });
}

std::vector<std::string> space_files(const SpaceRequest& request) {
  const CodecModule& module = codec_module(ocio_module);
  return from_module([&] { return module.colour_files(request); });
}

}  // namespace impipe::io
