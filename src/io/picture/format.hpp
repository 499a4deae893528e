// The picture formats.
#pragma once

namespace impipe::io {

#define IMPIPE_FORMAT(name) name,
enum class Format {
#include "io/picture/format_list.inc"
};
#undef IMPIPE_FORMAT

}  // namespace impipe::io
