// Which colours the numbers of a file mean, by PNG's third edition (4.3), ITU-T H.273 and EXIF.
#include "io/metadata/colours.hpp"

#include <algorithm>

#include "core/described_colours.hpp"
#include "io/bytes/byte_source.hpp"
#include "io/metadata/exif.hpp"

namespace impipe::io {
namespace {

using Profile = std::shared_ptr<const ColourProfile>;

// The numbers of a chunk of this kind; empty: there is none.
std::string_view chunk_of(const Metadata& m, std::string_view kind) {
  constexpr std::size_t head = 8, tail = 4;
  if (m.pieces_of != Format::png) return {};
  for (const Piece& piece : m.pieces) {
    const std::string_view chunk = piece.bytes;
    if (chunk.size() >= head + tail && chunk.substr(4, 4) == kind) {
      return chunk.substr(head, chunk.size() - head - tail);
    }
  }
  return {};
}

// Nothing: colours of a kind that no ICC profile has a curve or primaries for.
std::optional<DescribedColours> colours_of(CodePoints cicp) {
  DescribedColours out;
  switch (cicp.primaries) {
    case 1:
    case 2: break;
    case 5: out.primaries = {{{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}}}; break;
    case 6:
    case 7: out.primaries = {{{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}}}; break;
    case 9: out.primaries = {{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}}}; break;
    case 11: out.white = {0.314, 0.351}; [[fallthrough]];
    case 12: out.primaries = {{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}}; break;
    default: return {};
  }
  switch (cicp.transfer) {
    case 4: out.gamma = 2.2; break;
    case 5: out.gamma = 2.8; break;
    case 8: out.gamma = 1; break;
    // Curves that are shown as sRGB's is.
    case 1:
    case 2:
    case 6:
    case 13:
    case 14:
    case 15: break;
    default: return {};
  }
  return out;
}

Profile profile_of_code_points(CodePoints cicp) {
  const std::string name =
      "CICP " + std::to_string(cicp.primaries) + "/" + std::to_string(cicp.transfer);
  const auto colours = colours_of(cicp);
  if (!colours) return other_profile(name);
  const bool is_srgb = cicp.primaries <= 2 && colours->gamma == 0;
  return described_profile(name, is_srgb ? std::nullopt : colours);
}

// gAMA and cHRM count from 0 to 100,000.
Profile profile_of_gamma(std::string_view gamma, std::string_view chromaticities) {
  DescribedColours out;
  const auto number = [](std::string_view chunk, std::size_t i) {
    return static_cast<double>(big_at(std::string(chunk), 4 * i, 4)) / 100000;
  };
  const double power = number(gamma, 0);
  if (power > 0.001 && power < 100) out.gamma = 1 / power;
  std::string name = "gAMA " + std::to_string(power);
  bool usual = std::abs(power - 0.45455) < 1e-6;  // is meant for sRGB's curve
  if (usual) out.gamma = 0;
  if (!chromaticities.empty()) {
    const DescribedColours srgb;
    DescribedColours::Chromaticity* points[] = {&out.white, &out.primaries[0], &out.primaries[1],
                                                &out.primaries[2]};
    name += ", cHRM";
    for (std::size_t i = 0; i < 4; ++i) {
      *points[i] = {number(chromaticities, 2 * i), number(chromaticities, 2 * i + 1)};
      name += " " + std::to_string(points[i]->x) + " " + std::to_string(points[i]->y);
    }
    const auto is_near = [](auto a, auto b) {
      return std::abs(a.x - b.x) < 1e-3 && std::abs(a.y - b.y) < 1e-3;
    };
    usual = usual && is_near(out.white, srgb.white) &&
            std::ranges::equal(out.primaries, srgb.primaries, is_near);
  }
  return described_profile(name, usual ? std::nullopt : std::optional(out));
}

DescribedColours adobe_rgb() {
  DescribedColours out;
  out.primaries = {{{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}}};
  out.gamma = 563.0 / 256;
  return out;
}

}  // namespace

Profile profile_of(const Metadata& metadata) {
  if (const auto code = chunk_of(metadata, "cICP"); code.size() == 4) {
    return profile_of_code_points(
        {static_cast<unsigned char>(code[0]), static_cast<unsigned char>(code[1])});
  }
  if (!metadata.icc.empty()) return colour_profile(metadata.icc);
  if (metadata.cicp && (metadata.cicp->primaries != 2 || metadata.cicp->transfer != 2))
    return profile_of_code_points(*metadata.cicp);
  if (!chunk_of(metadata, "sRGB").empty()) return described_profile("sRGB", {});
  if (const auto gamma = chunk_of(metadata, "gAMA"); gamma.size() == 4) {
    const std::string_view points = chunk_of(metadata, "cHRM");
    return profile_of_gamma(gamma, points.size() == 32 ? points : std::string_view());
  }
  switch (exif_colours(text_of(metadata.exif))) {
    case ExifColours::srgb: return described_profile("sRGB", {});
    case ExifColours::adobe_rgb: return described_profile("Adobe RGB (1998)", adobe_rgb());
    case ExifColours::unsaid: return nullptr;
  }
  return nullptr;
}

}  // namespace impipe::io
