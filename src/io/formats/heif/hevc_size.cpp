// The beginning of sequence parameter sets (ITU-T H.265, 7.3.2.2).
#include "io/formats/heif/hevc_size.hpp"

#include <algorithm>
#include <cstdint>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {
namespace {

// Bits of a NAL unit, the highest first. Behind its end there are zeros.
class BitReader {
 public:
  // Without the byte 3 that is put behind two zeros, so that no start code arises.
  explicit BitReader(const std::string& unit) {
    for (size_t i = 0; i < unit.size(); ++i) {
      const bool put_in = i >= 2 && unit[i] == 3 && unit[i - 1] == 0 && unit[i - 2] == 0;
      if (!put_in) bytes_ += unit[i];
    }
  }
  void skip(size_t bits) { at_ += bits; }
  std::uint64_t read(int bits) {
    std::uint64_t value = 0;
    for (; bits > 0; --bits, ++at_) {
      const std::uint64_t byte = big_at(bytes_, at_ / 8, 1);
      value = value << 1 | (byte >> (7 - at_ % 8) & 1);
    }
    return value;
  }
  // As many zeros, a one, as many bits.
  std::uint64_t read_exp_golomb() {
    int zeros = 0;
    while (zeros < 32 && read(1) == 0) ++zeros;
    return (std::uint64_t{1} << zeros) - 1 + read(zeros);
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

CodedSize size_in(const std::string& parameter_set) {
  BitReader bits(parameter_set);
  bits.skip(16 + 4);  // the unit's header, the video parameter set
  const auto sub_layers = static_cast<int>(bits.read(3));  // beside the first
  constexpr size_t profile = 88, level = 8;
  bits.skip(1 + profile + level);
  bool has_profile[8] = {}, has_level[8] = {};
  for (int i = 0; i < sub_layers; ++i) {
    has_profile[i] = bits.read(1) != 0;
    has_level[i] = bits.read(1) != 0;
  }
  if (sub_layers > 0) bits.skip(2 * static_cast<size_t>(8 - sub_layers));
  for (int i = 0; i < sub_layers; ++i) {
    bits.skip((has_profile[i] ? profile : 0) + (has_level[i] ? level : 0));
  }
  bits.read_exp_golomb();                               // its own number
  const std::uint64_t chroma = bits.read_exp_golomb();  // 0 gray, 1 4:2:0, 2 4:2:2, 3 4:4:4
  if (chroma == 3) bits.skip(1);
  constexpr std::uint64_t longest_side = 1 << 20;
  const auto side = [&] {
    return static_cast<std::int64_t>(std::min(bits.read_exp_golomb(), longest_side));
  };
  CodedSize size;
  size.whole.width = side();
  size.whole.height = side();
  size.shown = size.whole;
  if (bits.read(1) != 0) {  // in samples of chroma: left, right, above, below
    const int across = chroma == 1 || chroma == 2 ? 2 : 1, down = chroma == 1 ? 2 : 1;
    size.shown.width -= across * side();
    size.shown.width -= across * side();
    size.shown.height -= down * side();
    size.shown.height -= down * side();
  }
  return size;
}

}  // namespace

CodedSize largest_coded_size(const std::string& record) {
  constexpr std::uint64_t parameter_set = 33;
  CodedSize largest;
  size_t at = 23;
  for (std::uint64_t arrays = big_at(record, 22, 1); arrays > 0 && at < record.size(); --arrays) {
    const std::uint64_t kind = big_at(record, at, 1) & 63;
    std::uint64_t parts = big_at(record, at + 1, 2);
    for (at += 3; parts > 0 && at < record.size(); --parts) {
      const size_t length = big_at(record, at, 2);
      if (kind == parameter_set) {
        const CodedSize size = size_in(record.substr(at + 2, length));
        if (size.whole.pixels() > largest.whole.pixels()) largest = size;
      }
      at += 2 + length;
    }
  }
  return largest;
}

}  // namespace impipe::io
