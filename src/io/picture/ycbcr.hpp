// Colours as video has them, Y Cb Cr, to red, green, blue and back: rows of samples, computed in
// double and rounded once. Numerators and denominators are whole numbers, so that codes of 8 bits
// are the formula's value to the last bit, ties included.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

namespace impipe::io {

// Which weights red, green and blue have in Y: ITU-R BT.601, BT.709, BT.2020 (not of constant
// luminance).
enum class YcbcrMatrix : std::uint8_t { bt601, bt709, bt2020 };

// How numbers stand for colours.
struct YcbcrCode {
  YcbcrMatrix matrix = YcbcrMatrix::bt601;
  int bits = 8;
  bool full_range = false;  // Y over all codes; else 16 to 235 and Cb, Cr 16 to 240, of 8 bits
  bool operator==(const YcbcrCode&) const = default;
  int largest() const { return (1 << bits) - 1; }
};

// value = floor((sum of factors * samples + offset) / divisor); the offset has the half.
struct YcbcrSum {
  double y = 0, first = 0, second = 0;  // factors: of Y, Cb, Cr, or of red, green, blue
  double offset = 0;
  double divisor = 1;
};

// Makes rows of red, green and blue, 0 to white, of rows of samples. T: std::uint8_t for 8 bits,
// else std::uint16_t. across: pixels that a sample of Cb and Cr stands for.
template <class T>
class YcbcrReader {
 public:
  YcbcrReader(const YcbcrCode& code, int across, std::int64_t width);
  // The row of Cb and Cr for the rows of pixels that follow.
  void set_chroma(const T* cb, const T* cr);
  void read(const T* y, T* red, T* green, T* blue) const;
  void read_gray(const T* y, T* gray) const;

 private:
  int across_;
  std::int64_t width_, samples_;  // pixels of a row; samples of Cb
  double top_;
  YcbcrSum sums_[3], gray_;
  // What Cb and Cr, and the offset, add: a number a pixel. Of bytes, in parts of 73 and with a
  // bias.
  using Term = std::conditional_t<sizeof(T) == 1, std::uint16_t, double>;
  std::vector<Term> terms_[3];
};

// Makes rows of samples of rows of red, green and blue. Cb and Cr are means over blocks of pixels,
// those that there are at the edges, rounded once.
template <class T>
class YcbcrWriter {
 public:
  YcbcrWriter(const YcbcrCode& code, int across, std::int64_t width);
  // A row of pixels; Cb and Cr are collected. Where `kept` is given it has, of each pixel, whether
  // its samples are these ones: of that row of Y, and of a row of Cb and Cr.
  struct Kept {
    const std::uint8_t* same = nullptr;  // 0 or 1; of whole blocks, 0 beyond the row
    const T *y = nullptr, *cb = nullptr, *cr = nullptr;
  };
  void write(const T* red, const T* green, const T* blue, const Kept& kept, T* y);
  // The row of Cb and Cr of the rows since the last one.
  void end_chroma(T* cb, T* cr);
  void write_gray(const T* gray, T* y) const;

 private:
  void collect(const T* colour, const Kept& kept, const T* old, double scale,
               std::vector<double>& sums);
  void end(std::vector<double>& sums, double scale, T* out) const;

  YcbcrCode code_;
  int across_;
  std::int64_t width_;
  double top_;
  YcbcrSum luma_, gray_;
  double cb_scale_, cr_scale_;  // numerators are over scale * pixels of the block
  double chroma_factor_, weight_sum_;
  int rows_ = 0;  // since the last row of Cb and Cr
  std::vector<double> luma_sums_, parts_, cb_sums_, cr_sums_;
  std::vector<std::uint8_t> none_same_;  // zeros
};

extern template class YcbcrReader<std::uint8_t>;
extern template class YcbcrReader<std::uint16_t>;
extern template class YcbcrWriter<std::uint8_t>;
extern template class YcbcrWriter<std::uint16_t>;

}  // namespace impipe::io
