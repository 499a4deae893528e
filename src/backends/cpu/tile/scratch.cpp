// A thread's temporary memory.
#include "backends/cpu/tile/scratch.hpp"

#include <cstdlib>
#include <string>

#include "core/error.hpp"

namespace impipe::cpu {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector
constexpr std::size_t min_block = std::size_t{1} << 20;

}  // namespace

void Scratch::Free::operator()(std::byte* p) const { std::free(p); }

std::byte* Scratch::take_bytes(std::size_t bytes) {
  const std::size_t need = (bytes + alignment - 1) / alignment * alignment + alignment;
  while (mark_.block < blocks_.size()) {
    Block& block = blocks_[mark_.block];
    if (mark_.used + need <= block.size) {
      std::byte* p = block.memory.get() + mark_.used;
      mark_.used += need;
      return p;
    }
    ++mark_.block;
    mark_.used = 0;
  }
  std::size_t size = blocks_.empty() ? min_block : blocks_.back().size * 2;
  while (size < need) size *= 2;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (memory == nullptr) {
    throw Error("out of memory: a thread needs " + std::to_string(size >> 20) +
                    " MiB for intermediate values",
                ExitCode::file_failed);
  }
  blocks_.push_back({std::unique_ptr<std::byte, Free>(memory), size});
  mark_ = {blocks_.size() - 1, need};
  return memory;
}

}  // namespace impipe::cpu
