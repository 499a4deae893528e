#include "io/metadata/geotiff.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "io/metadata/tiff_block.hpp"

namespace impipe::io {
namespace {

constexpr std::uint16_t pixel_scale = 33550, tie_points = 33922, transformation = 34264,
                        key_directory = 34735;
constexpr int double_type = 12;
constexpr size_t double_bytes = 8, tie_point = 6, matrix = 16, matrix_row = 4;

using Numbers = std::vector<double>;

// Empty where there is no such field, or it does not hold doubles.
Numbers numbers_of(const TiffBlock& b, std::uint16_t tag) {
  const size_t entry = b.entry(b.first(), tag);
  const size_t at = entry == 0 ? 0 : b.values_at(entry);
  if (at == 0 || b.number(entry + 2, 2) != double_type) return {};
  Numbers out;
  for (size_t i = 0; i < b.number(entry + 4, 4); ++i) {
    out.push_back(std::bit_cast<double>(b.number(at + double_bytes * i, double_bytes)));
  }
  return out;
}

void put_numbers(TiffBlock& b, size_t at, const Numbers& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    b.put(at + double_bytes * i, std::bit_cast<std::uint64_t>(numbers[i]), double_bytes);
  }
}
void put_numbers(TiffBlock& b, std::uint16_t tag, const Numbers& numbers) {
  put_numbers(b, b.values_at(b.entry(b.first(), tag)), numbers);
}

// Whether raster coordinates count from the middle of the first pixel, not from its corner
// (GTRasterTypeGeoKey is RasterPixelIsPoint).
bool counts_from_middle(const TiffBlock& b) {
  constexpr size_t key_bytes = 8;
  constexpr std::uint64_t raster_type = 1025, is_point = 2;
  const size_t entry = b.entry(b.first(), key_directory);
  const size_t at = entry == 0 ? 0 : b.values_at(entry);
  if (at == 0) return false;
  for (size_t i = key_bytes; i + key_bytes <= b.bytes_of_values(entry); i += key_bytes) {
    if (b.number(at + i, 2) == raster_type) return b.number(at + i + 6, 2) == is_point;
  }
  return false;
}

// The matrix from raster to map, of rows X, Y, Z and 1, when raster coordinates have moved.
Numbers moved(Numbers m, const AffinePlace& p) {
  for (size_t i = 0; i < matrix; i += matrix_row) {
    const double x = m[i], y = m[i + 1];
    m[i] = x * p.a + y * p.d;
    m[i + 1] = x * p.b + y * p.e;
    m[i + 3] += x * p.c + y * p.f;
  }
  return m;
}

// Of a tie point and the lengths of a pixel: rows go down the map.
Numbers matrix_of(const Numbers& tie, const Numbers& scale) {
  const double z = scale.size() > 2 ? scale[2] : 0;
  return {scale[0], 0, 0, tie[3] - tie[0] * scale[0], 0, -scale[1], 0, tie[4] + tie[1] * scale[1],
          0,        0, z, tie[5] - tie[2] * z,        0, 0,         0, 1};
}

// A matrix in the place of the tie point, its values behind all others.
void replace_by_matrix(std::string& block, const Numbers& numbers) {
  block.resize((block.size() + 1) / 2 * 2 + double_bytes * matrix);
  TiffBlock b(block);
  const size_t at = block.size() - double_bytes * matrix;
  b.retag(b.entry(b.first(), tie_points), transformation, double_type, matrix, at);
  put_numbers(b, at, numbers);
  b.remove_if(b.first(), [](std::uint16_t tag) { return tag == pixel_scale; });
  b.sort(b.first());
}

// Points of the raster whose places on the map are known lie elsewhere in it.
bool move_tie_points(TiffBlock& b, Numbers ties, const AffinePlace& p) {
  const double det = p.a * p.e - p.b * p.d;
  if (det == 0 || ties.size() % tie_point != 0) return false;
  for (size_t i = 0; i < ties.size(); i += tie_point) {
    const double x = ties[i] - p.c, y = ties[i + 1] - p.f;
    ties[i] = (p.e * x - p.b * y) / det;
    ties[i + 1] = (p.a * y - p.d * x) / det;
  }
  put_numbers(b, tie_points, ties);
  return true;
}

}  // namespace

bool follow_geotiff(std::string& block, const PixelChange& change) {
  TiffBlock b(block);
  const auto has = [&](std::uint16_t tag) { return b.entry(b.first(), tag) != 0; };
  if (!has(pixel_scale) && !has(tie_points) && !has(transformation)) return true;
  if (!change.place) return false;
  AffinePlace p = *change.place;
  if (!counts_from_middle(b)) {
    p.c += 0.5 * (1 - p.a - p.b);
    p.f += 0.5 * (1 - p.d - p.e);
  }
  const Numbers scale = numbers_of(b, pixel_scale), ties = numbers_of(b, tie_points),
                whole = numbers_of(b, transformation);
  if (has(transformation)) {
    if (whole.size() != matrix || has(tie_points) || has(pixel_scale)) return false;
    put_numbers(b, transformation, moved(whole, p));
    return true;
  }
  if (!has(pixel_scale)) return !ties.empty() && move_tie_points(b, ties, p);
  if (ties.size() != tie_point || scale.size() < 2) return false;
  const Numbers made = moved(matrix_of(ties, scale), p);
  if (p.b != 0 || p.d != 0 || p.a <= 0 || p.e <= 0) {
    replace_by_matrix(block, made);
    return true;
  }
  Numbers lengths = scale;
  lengths[0] *= p.a;
  lengths[1] *= p.e;
  put_numbers(b, pixel_scale, lengths);
  put_numbers(b, tie_points, {0, 0, ties[2], made[3], made[matrix_row + 3], ties[5]});
  return true;
}

}  // namespace impipe::io
