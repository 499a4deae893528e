// JPEGs of all kinds that libjpeg writes.
#include "support/made_jpeg.hpp"

#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace impipe::testing {
namespace {

int value_of(JpegCase::Content content, std::int64_t x, std::int64_t y, int c,
             std::mt19937& random) {
  switch (content) {
    case JpegCase::Content::noise: return static_cast<int>(random() & 255U);
    case JpegCase::Content::flat: return 40 + 60 * c;
    case JpegCase::Content::natural: break;
  }
  const double wave = std::sin(0.07 * static_cast<double>(x) + c) *
                      std::cos(0.05 * static_cast<double>(y) - 0.4 * c);
  const int edge = (x / 23 + y / 17) % 3 == 0 ? 60 : 0;
  const int grain = static_cast<int>(random() % 13U);
  return std::min(255, static_cast<int>(90 + 80 * wave) + edge + grain);
}

}  // namespace

std::string to_string(const JpegCase& jpeg) {
  return impipe::to_string(jpeg.size) + " x" + std::to_string(jpeg.components) + ", " +
         std::to_string(jpeg.across) + "x" + std::to_string(jpeg.down) + ", quality " +
         std::to_string(jpeg.quality) + (jpeg.optimised ? ", optimised" : "") + ", restarts " +
         std::to_string(jpeg.restarts) + ", content " +
         std::to_string(static_cast<int>(jpeg.content));
}

std::vector<std::byte> made_jpeg(const JpegCase& jpeg, unsigned seed) {
  std::mt19937 random(seed);
  jpeg_error_mgr errors;
  jpeg_compress_struct to = {};
  to.err = jpeg_std_error(&errors);
  jpeg_create_compress(&to);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&to, &memory, &bytes);
  to.image_width = static_cast<JDIMENSION>(jpeg.size.width);
  to.image_height = static_cast<JDIMENSION>(jpeg.size.height);
  to.input_components = jpeg.components;
  to.in_color_space = jpeg.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&to);
  if (jpeg.rgb) jpeg_set_colorspace(&to, JCS_RGB);
  jpeg_set_quality(&to, jpeg.quality, TRUE);
  to.comp_info[0].h_samp_factor = jpeg.across;
  to.comp_info[0].v_samp_factor = jpeg.down;
  to.optimize_coding = jpeg.optimised ? TRUE : FALSE;
  to.restart_interval = static_cast<unsigned>(jpeg.restarts);
  if (jpeg.progressive) jpeg_simple_progression(&to);
  jpeg_start_compress(&to, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(jpeg.size.width * jpeg.components));
  for (std::int64_t y = 0; y < jpeg.size.height; ++y) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      row[i] = static_cast<JSAMPLE>(value_of(jpeg.content, at / jpeg.components, y,
                                             static_cast<int>(at % jpeg.components), random));
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&to, &pointer, 1);
  }
  jpeg_finish_compress(&to);
  jpeg_destroy_compress(&to);
  const auto* begin = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> made(begin, begin + bytes);
  std::free(memory);
  return made;
}

}  // namespace impipe::testing
