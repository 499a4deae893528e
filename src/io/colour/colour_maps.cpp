// Conversions between ICC profiles, by the module that has Little CMS.
#include "io/colour/colour_maps.hpp"

#include "io/module/module.hpp"
#include "io/module/module_call.hpp"

namespace impipe::io {
namespace {

constexpr std::string_view lcms_module = "impipe_codec_icc";

}  // namespace

ColourMap colour_map(const ColourRequest& request) {
  const CodecModule& module = codec_module(lcms_module);
  return from_module([&] { return module.colour_map(request); });
}

}  // namespace impipe::io
