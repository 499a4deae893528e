// Colours by the numbers of ITU-T H.273 (CICP), which AVIF and HEIF have in place of a profile.
#pragma once

#include <string>

namespace impipe::io {

// "colours of BT.2020, PQ (CICP 9/16)"; nothing for what everybody takes colours without a profile
// for. An image has no such numbers.
inline std::string name_of_colours(int primaries, int transfer) {
  const bool usual_primaries = primaries <= 2;  // BT.709, unspecified
  // BT.709's, BT.601's and BT.2020's curves are shown as sRGB's is.
  const bool usual_transfer = transfer <= 2 || transfer == 6 || transfer >= 13;
  const bool high_range = transfer == 16 || transfer == 18;
  if (usual_primaries && usual_transfer && !high_range) return {};
  const std::string of = primaries == 9                       ? "BT.2020, "
                         : primaries == 11 || primaries == 12 ? "P3, "
                         : primaries == 5 || primaries == 6   ? "BT.601, "
                                                              : "";
  const std::string curve = transfer == 16   ? "PQ "
                            : transfer == 18 ? "HLG "
                            : transfer == 8  ? "linear "
                                             : "";
  const std::string numbers = std::to_string(primaries) + "/" + std::to_string(transfer);
  std::string names = of + curve;
  if (names.ends_with(", ")) names.replace(names.size() - 2, 2, " ");
  return "colours of " + (names.empty() ? "CICP " + numbers : names + "(CICP " + numbers + ")");
}

}  // namespace impipe::io
