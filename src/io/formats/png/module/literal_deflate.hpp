// A deflate encoder for what hardly repeats but is far from even: the filtered rows of photographs.
// Bytes get codes by how often each block has them, runs of zeros are copied, and nothing else is
// looked for: as small as an encoder of matches makes such rows, in a fraction of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace impipe::io {

class LiteralDeflate {
 public:
  // quick: with codes_by_halves, which vectors write, where those are not much longer.
  explicit LiteralDeflate(bool quick = false) : quick_(quick) {}

  // Appends a block of these bytes to `out`: whole bytes of it; what is left of the last comes with
  // the next. 100 KB and more make the table of its codes worth nothing.
  void block(std::span<const std::uint8_t> bytes, bool last, std::vector<std::byte>& out);

 private:
  bool quick_;
  std::uint64_t bits_ = 0;   // not yet written, the first one lowest
  int count_ = 0;            // of them
  std::uint8_t before_ = 1;  // the byte before the block; at the beginning none that counts
  std::vector<std::uint8_t> memory_;
};

}  // namespace impipe::io
