// icc: from the colours of the file's ICC profile to those of another.
#include "core/colour_map.hpp"
#include "core/colour_profile.hpp"
#include "core/text_file.hpp"
#include "ops/colour/conversion.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

using Profile = std::shared_ptr<const ColourProfile>;

[[noreturn]] void fail_of_file(const std::string& reason) {
  throw Error("icc: " + reason, ExitCode::file_failed);
}

void check_source(const Profile& profile, const ImageType& type) {
  using Space = ColourProfile::Space;
  if (!profile) return;
  const std::string name = "its ICC profile '" + profile->name + "'";
  if (profile->space == Space::other) {
    fail_of_file(profile->bytes.empty()
                     ? "its colours are those of " + profile->name + ", which no ICC profile has"
                     : name + " is damaged, or of neither RGB nor gray");
  }
  const bool fits =
      profile->space == Space::unread || (profile->space == Space::cmyk) == (type.channels == 4);
  const bool is_gray = profile->space == Space::gray;
  if (!fits || (is_gray && type.channels != 1)) {
    const char* space = is_gray ? "gray" : profile->space == Space::cmyk ? "CMYK" : "RGB";
    fail_of_file(name + " is of " + space + ", and the image has " + std::to_string(type.channels) +
                 (type.channels == 1 ? " channel" : " channels"));
  }
}

// Of inks whose profile is not known yet: a placeholder in plans.
ColourMap planned_map() {
  ColourMap out;
  out.side = 2;
  out.cube = [] { return std::vector<double>(3 * 16); };
  return out;
}

ColourMap map_for(const Call& call, const ImageType& type) {
  const ParameterValue& to = call.value("to");
  const std::string& intent = call.word("intent");
  ColourRequest request{.from = {},
                        .described = {},
                        .to = to.word,
                        .profile = {},
                        .black_point = call.word("bpc") == "on",
                        .channels = type.channels};
  request.intent = intent == "perceptual"   ? RenderingIntent::perceptual
                   : intent == "relative"   ? RenderingIntent::relative
                   : intent == "saturation" ? RenderingIntent::saturation
                                            : RenderingIntent::absolute;
  if (type.profile) {
    request.from = type.profile->bytes;
    request.described = described_colours(*type.profile);
  }
  if (to.path.empty()) {
    try {
      return make_colour_map(request);
    } catch (const Error& error) {
      fail_of_file(error.what());
    }
  }
  try {
    const std::string bytes = read_text_once(to.path);
    request.profile = std::as_bytes(std::span(bytes));
    return make_colour_map(request);
  } catch (const Error& error) {
    call.fail("to", to.path + ": " + error.what());
  }
}

ImageValue lower_icc(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const ImageType& type = image.type;
  need_white(call, image);
  if (type.channels != 1 && type.channels != 3 && type.channels != 4) {
    call.fail("the image has " + std::to_string(type.channels) + " channels, not 1, 3 or 4");
  }
  check_source(type.profile, type);
  if (!type.profile && type.channels == 4) {
    fail_of_file("there is no ICC profile, and inks mean no colours without one");
  }
  if (!type.profile) plan.note("icc: there is no ICC profile, colours are taken for sRGB");
  const bool is_unread = type.profile && type.profile->space == ColourProfile::Space::unread;
  const ColourMap map = is_unread && type.channels == 4 ? planned_map() : map_for(call, type);
  const ImageValue made = converted(plan, image, map, like(image));
  return plan.with_profile(made, colour_profile(map.profile));
}

const RegisterOperator icc_operator{{
    .name = "icc",
    .help = "the same colours in another colour space, by ICC profiles",
    .parameters =
        {{.name = "to",
          .help = "sRGB, Display P3, Adobe RGB (1998), or the ICC profile in a file: @profile.icc",
          .words = {"srgb", "display-p3", "adobe-rgb"},
          .takes = Takes::file,
          .required = true},
         {.name = "intent",
          .help = "the rendering intent, of profiles that have several",
          .words = {"perceptual", "relative", "saturation", "absolute"},
          .fallback = "relative"},
         {.name = "bpc",
          .help = "black point compensation",
          .words = {"on", "off"},
          .fallback = "on"}},
    .classes = no_logical,
    .profile = Operator::Profile::read,
    .details =
        "From the ICC profile in the file, or what a PNG, AVIF or EXIF says of its colours; where\n"
        "there is nothing, which is reported, from sRGB. Little CMS makes the conversion: curves, "
        "a\n"
        "matrix and curves; a table in the file's profile is interpolated as Little CMS does. "
        "Other\n"
        "profiles become a table of 65x65x65 colours, of CMYK 33 of 33x33x33. Tables take 0 to "
        "white,\n"
        "curves values and light of single images from -65504 to 65504; others are the nearest of "
        "these.\n"
        "The result carries the profile. A gray image stays gray, with the curve of the named "
        "space;\n"
        "by an RGB profile it becomes RGB.",
    .example = "icc to=srgb",
    .accuracy = "1 of 255 by a matrix; by tables 1 of CIEDE2000, 99 % within 0.1",
    .not_finite = {NotFinite::Rule::other,
                   "NaN in one channel of a pixel makes NaN of all three, Inf counts as 65504"},
    .matlab = "applycform(A,makecform('icc',src,dst)) (there colours are not interpolated alike)",
    .lower = lower_icc,
}};

}  // namespace
}  // namespace impipe::ops
