// What became of a picture's pixels between its file and a result: what decides which fields of the
// file's metadata are still true.
#pragma once

#include <optional>

#include "core/affine_place.hpp"
#include "core/image.hpp"

namespace impipe {

struct PixelChange {
  // The picture in its file, before its orientation is applied; of no pixels: nothing is known.
  Size before;
  ImageType type_before;
  Size after;
  // The place in the file's picture of each pixel of the result; none where no affine map tells it.
  std::optional<AffinePlace> place = AffinePlace{};
  bool read_turned = false;  // rows of the file are columns of what was read
  bool values = false;       // an operator made the result
  bool colours = false;      // they are of another ICC profile than the file's
  bool pages = false;        // the result's file has other pages than the input's

  // Rows and columns of the result are rows and columns of the file; or columns and rows.
  bool is_straight() const { return place && place->b == 0 && place->d == 0; }
  bool is_transposed() const { return place && place->a == 0 && place->e == 0; }
  // Pixels of the result for one of the file, along the result's rows and columns: of those two.
  double scale_x() const;
  double scale_y() const;
  // The sides of the result's pixels in the scene, where those of the file's have these lengths;
  // none where the result's pixels are no rectangles in it.
  struct Lengths {
    double x = 1, y = 1;
  };
  std::optional<Lengths> pixel_lengths(Lengths in_file) const;

  bool resized() const { return !(before == after); }
  // Some pixel lies elsewhere than in the file.
  bool moved() const { return place != AffinePlace{}; }
  // Pixels cover another part of the scene than in the file: more or less of it, or askew.
  bool scaled() const;
  // The result shows the whole of the file's picture upright and nothing else, be it of another
  // size.
  bool has_same_frame() const;
};

}  // namespace impipe
