// How large the pictures of an HEVC stream are, before a decoder takes memory for them.
#pragma once

#include <string>

#include "core/image.hpp"

namespace impipe::io {

struct CodedSize {
  Size whole;  // of whole blocks
  Size shown;  // without what is cut off
};
// Of the largest sequence parameter set in a decoder configuration record (ISO/IEC 14496-15,
// 8.3.3.1); 0x0 where there is none.
CodedSize largest_coded_size(const std::string& record);

}  // namespace impipe::io
