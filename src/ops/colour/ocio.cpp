// ocio: between the colour spaces of an OpenColorIO configuration.
#include <cstdlib>

#include "core/colour_map.hpp"
#include "ops/colour/conversion.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

std::string config_of(const Call& call) {
  if (const std::string& path = call.value("config").path; !path.empty()) return path;
  const char* path = std::getenv("OCIO");
  if (path == nullptr || *path == '\0') {
    call.fail("there is no configuration: config=@config.ocio names one, or $OCIO");
  }
  return path;
}

SpaceRequest request_of(const Call& call) {
  return {.config = config_of(call),
          .from = call.value("from").text,
          .to = call.value("to").text,
          .view = call.value("view").text};
}

// What is wrong with the configuration is said where the operator is lowered.
std::vector<std::string> files_of_ocio(const Call& call) try {
  const SpaceRequest request = request_of(call);
  std::vector<std::string> files{request.config};
  try {
    const std::vector<std::string> tables = find_space_files(request);
    files.insert(files.end(), tables.begin(), tables.end());
  } catch (const Error&) {
  }
  return files;
} catch (const Error&) {
  return {};
}

ImageValue lower_ocio(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const SpaceRequest request = request_of(call);
  std::vector<ColourMap> maps;
  try {
    maps = make_space_maps(request);
  } catch (const Error& error) {
    call.fail(request.config + ": " + error.what());
  }
  ImageValue made = image;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    made = converted(plan, made, maps[i], i + 1 < maps.size() ? unit_single : like(image));
  }
  return plan.with_profile(made, nullptr);
}

const RegisterOperator ocio_operator{{
    .name = "ocio",
    .help = "from one colour space of an OpenColorIO configuration to another",
    .parameters = {{.name = "from",
                    .help = "the colour space, a role or an alias: ACEScg, 'sRGB - Texture'",
                    .takes = Takes::text,
                    .required = true},
                   {.name = "to",
                    .help = "another one, or a display where view= is given",
                    .takes = Takes::text,
                    .required = true},
                   {.name = "view",
                    .help = "a view of the display: view='ACES 1.0 - SDR Video'",
                    .takes = Takes::text},
                   {.name = "config",
                    .help = "the configuration: @config.ocio; else the environment's $OCIO",
                    .takes = Takes::file}},
    .classes = no_logical,
    .colour = true,
    .profile = Operator::Profile::read,
    .details =
        "Curves, matrices, fixed functions (those of ACES 1 and 1.3, BT.2100's surround, hue and\n"
        "saturation, chromaticities) and 3-D tables of files are those of the configuration. "
        "Curves\n"
        "and fixed functions take values from -65504 to 65504, 3-D tables 0 to 1, others as the\n"
        "nearest of these. The result has no ICC profile.",
    .example = "ocio ACEScg 'sRGB - Display' config=@config.ocio",
    .accuracy = "0.1 of CIEDE2000; 0.3 % of light where a curve is steep",
    .not_finite = {NotFinite::Rule::other,
                   "NaN in a channel makes NaN of all that are mixed with it, Inf counts as 65504"},
    .matlab = "none",
    .files = files_of_ocio,
    .lower = lower_ocio,
}};

}  // namespace
}  // namespace impipe::ops
