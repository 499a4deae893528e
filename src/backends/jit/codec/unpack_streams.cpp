// Inflating of long streams: the passes before a picture's rows are known.
#include "backends/jit/codec/unpack_streams.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

constexpr int finders = 256, checkers = 128, orderers = 256, chainers = 64, followers = 256;
constexpr std::int64_t checking_groups = 1024, ordering_groups = 16, block_groups = 2048,
                       following_groups = 2048;
constexpr int most_passes = 5;  // of HOPS each; values_of goes on where that is not enough
constexpr std::int64_t adler_part = 65536;
constexpr std::size_t counters_before = 16;  // COUNT_CANDIDATES
constexpr std::int64_t block_bytes = 32;
constexpr std::int64_t found_a_candidate = 64;  // FOUND_ROOM
// Blocks of a stream are hardly ever shorter than this many bytes, but for the last.
constexpr std::int64_t bytes_a_candidate = 2048, more_candidates = 64;

enum Entry {
  find_heads,
  check_heads,
  order_blocks,
  count_blocks,
  chain_blocks,
  write_blocks,
  follow_origins,
  values_of,
  add_parts,
  compare_sums
};
enum Memory { streams, found, candidates, counters, blocks, firsts, state, origins, parts, all };

std::int64_t parts_of(std::int64_t whole, std::int64_t each) { return (whole + each - 1) / each; }

// See the kernels' part "streams".
struct Streams {
  std::vector<std::uint32_t> words;
  std::int64_t groups = 0, candidates = 0;
};

Streams streams_of(std::span<const PackedPicture* const> pictures) {
  Streams made;
  const auto put = [&] {
    made.words.push_back(static_cast<std::uint32_t>(made.groups));
    made.words.push_back(static_cast<std::uint32_t>(made.candidates));
  };
  for (const PackedPicture* picture : pictures) {
    const auto has = picture->data_bytes();
    for (std::int64_t i = 0; i < picture->form.chunks(); ++i) {
      put();
      const auto index = static_cast<std::size_t>(i);
      const bool exists = index < picture->chunks.size();
      const std::int64_t bytes =
          exists ? std::clamp<std::int64_t>(picture->chunks[index].bytes, 0, has) : 0;
      made.groups += parts_of(bytes + 4, 4 * finders);
      made.candidates += bytes / bytes_a_candidate + more_candidates;
    }
  }
  put();
  return made;
}

std::vector<Scratch> scratch_of(const Streams& made, std::int64_t count, std::int64_t step) {
  std::vector<Scratch> scratch(all);
  const auto* first = reinterpret_cast<const std::byte*>(made.words.data());
  scratch[streams].contents.assign(first, first + 4 * made.words.size());
  scratch[found].bytes = 8 * found_a_candidate * made.candidates;
  scratch[candidates].bytes = 4 * made.candidates;
  scratch[counters].bytes = 4 * (static_cast<std::int64_t>(counters_before) + count);
  scratch[counters].cleared = true;
  scratch[blocks].bytes = block_bytes * (made.candidates + 1);
  scratch[firsts].bytes = 4 * (count + 1);
  scratch[state].bytes = 8 * count;
  scratch[state].cleared = true;
  scratch[origins].bytes = 4 * step * count;
  scratch[parts].bytes = 4 * parts_of(step, adler_part) * count;
  return scratch;
}

LaunchShape shape(std::int64_t x, std::int64_t y, int items) { return {{x, y, 1}, {items, 1, 1}}; }

}  // namespace

std::vector<std::string> stream_entries() {
  return {"find_heads",   "check_heads",    "order_blocks", "count_blocks", "chain_blocks",
          "write_blocks", "follow_origins", "values_of",    "add_parts",    "compare_sums"};
}

StreamPlan inflate_streams(std::span<const PackedPicture* const> pictures,
                           const UnpackParameters& parameters, const StreamBuffers& buffers,
                           int first_entry, int first_scratch) {
  const std::int64_t count = parameters.streams;
  const Streams made = streams_of(pictures);
  StreamPlan plan;
  plan.scratch = scratch_of(made, count, parameters.step);
  const auto memory = [&](Memory which) {
    return Buffer{Buffer::Kind::scratch, first_scratch + which};
  };
  const auto add = [&](Entry entry, const LaunchShape& groups, std::vector<Buffer> taken) {
    plan.passes.push_back({first_entry + entry, groups, std::move(taken)});
  };
  const Buffer data = buffers.data, unpacked = buffers.unpacked;
  add(find_heads, shape(made.groups, 1, finders),
      {data, memory(streams), memory(found), memory(counters)});
  add(check_heads, shape(checking_groups, 1, checkers),
      {data, memory(streams), memory(found), memory(candidates), memory(counters)});
  add(order_blocks, shape(ordering_groups, count, orderers),
      {memory(streams), memory(candidates), memory(blocks), memory(counters), memory(firsts)});
  const LaunchShape by_blocks = shape(std::min(made.candidates, block_groups), 1, inflaters);
  add(count_blocks, by_blocks, {data, memory(blocks), memory(counters)});
  add(chain_blocks, shape(parts_of(count, chainers), 1, chainers),
      {data, memory(blocks), memory(firsts), memory(state)});
  add(write_blocks, by_blocks,
      {data, memory(blocks), memory(counters), memory(state), memory(origins)});
  const LaunchShape by_bytes =
      shape(std::clamp<std::int64_t>(following_groups / count, 1, 1024), count, followers);
  for (int pass = 0; pass < most_passes; ++pass) {
    add(follow_origins, by_bytes, {data, memory(state), memory(counters), memory(origins)});
    UnpackParameters own = parameters;
    own.pass = pass;
    plan.passes.back().parameters = bytes_of_parameters(own);
  }
  add(values_of, by_bytes, {data, memory(state), memory(origins), unpacked});
  add(add_parts, shape(parts_of(parameters.step, adler_part), count, inflaters),
      {data, memory(state), unpacked, memory(parts)});
  add(compare_sums, shape(parts_of(count, chainers), 1, chainers),
      {data, memory(state), memory(parts), buffers.status});
  plan.state = memory(state);
  return plan;
}

}  // namespace impipe::jit
