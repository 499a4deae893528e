// What project, stack and temporal have in common.
#include "ops/pages/reduction.hpp"

#include <algorithm>
#include <array>

namespace impipe::ops {

ImageReduction reduction_of(const Call& call, ImageReduction::Across across) {
  // In the order of ImageReduction::Operation.
  static constexpr std::array<std::string_view, 7> operations = {"max", "min",    "mean", "sum",
                                                                 "std", "median", "clip"};
  ImageReduction out;
  out.across = across;
  const auto operation = std::ranges::find(operations, call.word("operation"));
  out.operation = static_cast<ImageReduction::Operation>(operation - operations.begin());
  if (call.has("axis")) out.axis = call.word("axis").front();
  const std::string& cls = call.has("class") ? call.word("class") : "";
  if (cls == "single") out.cls = PixelClass::single;
  if (cls == "uint8") out.cls = PixelClass::uint8;
  if (cls == "uint16") out.cls = PixelClass::uint16;
  return out;
}

}  // namespace impipe::ops
