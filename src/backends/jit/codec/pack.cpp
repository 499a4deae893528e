// Encoding of a picture's chunks: the program, and what its kernels read.
#include "backends/jit/codec/codec.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/coded_jpeg.hpp"

namespace impipe::jit {
namespace {

using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Sample = PackedForm::Sample;

// A stored block has at most 65,535 bytes, and parts begin at multiples of 16.
constexpr std::int64_t max_part = 65520;
// One work-item goes through a part of LZW, whose table is full behind some 6 KB of a photograph.
constexpr std::int64_t max_lzw_part = 16384;
constexpr std::int64_t block_words = 512;  // BLOCK_WORDS
// Parts whose tokens are in memory at the same time, 128 KB each.
constexpr std::int64_t parts_at_once = 2048;
constexpr int writers = 256, coders = 64, lzw_items = 32, orderers = 256, filterers = 128,
              measurers = 64, joiners = 256;

// As the kernels have it.
struct Parameters {
  int pictures = 0, chunks = 0;
  int width = 0, height = 0;
  int chunk_width = 0, chunk_height = 0;
  int across = 0, down = 0;
  int padded = 0;
  int stride = 0;
  int parts = 0, part_bytes = 0;
  int values = 0;
  int first_part = 0;
  int is_sample = 0, carried = 0;
  std::int64_t step = 0;
  std::int64_t chunk_step = 0;
  std::int64_t slot_step = 0;
  std::int64_t room = 0;
};

enum Entry {
  order_samples,  // order_rows where others are carried
  measure_chunks,
  place_chunks,
  join_parts,
  take_pictures,
  begin_parts,  // count_bytes; leave_parts of what is not packed; write_codes of LZW
  make_blocks,
  write_parts,
  find_copies
};

std::int64_t parts_of(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }
std::int64_t upto_16(std::int64_t bytes) { return parts_of(bytes, 16) * 16; }

bool is_filtered_apart(const PackedForm& form) {
  return form.filter == Filter::png || form.filter == Filter::exr;
}

bool has_alpha(const PackedForm& form) { return form.alpha != PackedForm::Alpha::none; }

// The parameters of the parts.
Substitutions words_of(const PackedForm& form, DeflateEffort effort) {
  using Text = std::function<std::string()>;
  const auto text = [](std::string value) -> Text { return [value] { return value; }; };
  const auto count = [text](int value) { return text(std::to_string(value)); };
  const auto yes = [text](bool is_so) { return text(is_so ? "1" : "0"); };
  const bool single = form.cls == PixelClass::single, words = form.cls == PixelClass::uint16;
  return Substitutions({
      {"pixel", text(single  ? "uint"
                     : words ? "ushort"
                             : "uchar")},
      {"channels", count(form.channels)},
      {"alpha", count(has_alpha(form) ? form.colours() : -1)},
      {"associated", yes(form.alpha == PackedForm::Alpha::associated)},
      {"bits", count(form.bits)},
      {"logical", yes(form.cls == PixelClass::logical)},
      {"half", yes(form.sample == Sample::half)},
      {"inverted", yes(form.inverted)},
      {"big_endian", yes(form.big_endian)},
      {"order", count(static_cast<int>(form.order))},
      {"differences", yes(form.filter == Filter::differences)},
      {"float_differences", yes(form.filter == Filter::float_differences)},
      {"png", yes(form.filter == Filter::png)},
      {"exr", yes(form.filter == Filter::exr)},
      {"zlib", yes(form.packing == Packing::zlib)},
      {"lzw", yes(form.packing == Packing::lzw)},
      {"carries", yes(form.carried > 0)},
      {"filters", text(form.bits == 1 ? "1" : "5")},  // PNG's advice
      {"items", count(writers)},
      {"coders", count(coders)},
      {"copies", yes(effort == DeflateEffort::copies)},
      {"near", count((form.order == Order::by_pixel ? form.channels : 1) * form.bits / 8)},
  });
}

Parameters parameters_of(const PackedForm& form, const LaunchValues& values) {
  Parameters p;
  p.pictures = values.inputs[0].count;
  p.chunks = static_cast<int>(form.chunks());
  p.width = static_cast<int>(form.size.width);
  p.height = static_cast<int>(form.size.height);
  p.chunk_width = static_cast<int>(form.chunk.width);
  p.chunk_height = static_cast<int>(form.chunk.height);
  p.across = static_cast<int>(form.chunks_across());
  p.down = static_cast<int>(form.chunks_down());
  p.padded = form.padded ? 1 : 0;
  p.stride = static_cast<int>(values.inputs[0].stride);
  const bool is_lzw = form.packing == Packing::lzw;
  const std::int64_t parts = parts_of(form.chunk_bytes(), is_lzw ? max_lzw_part : max_part);
  p.part_bytes = static_cast<int>(upto_16(parts_of(form.chunk_bytes(), parts)));
  p.parts = static_cast<int>(parts);
  p.values = 2 + p.chunks;
  p.step = values.inputs[0].step;
  p.carried = form.carried;
  p.chunk_step = form.chunk_step();
  p.slot_step = upto_16(is_lzw ? max_lzw_bytes(p.part_bytes) + 64 : p.part_bytes + 16);
  p.room = values.outputs[0].stride;
  return p;
}

template <class T>
std::vector<std::byte> bytes_of_words(const T* from, std::size_t count) {
  const auto* begin = reinterpret_cast<const std::byte*>(from);
  return {begin, begin + count * sizeof(T)};
}

constexpr Buffer image{Buffer::Kind::input, 0}, alpha{Buffer::Kind::input, 1},
    rooms{Buffer::Kind::output, 0}, numbers{Buffer::Kind::output, 1},
    channels{Buffer::Kind::scratch, 0}, unfit{Buffer::Kind::scratch, 1},
    sizes{Buffer::Kind::scratch, 2}, parts{Buffer::Kind::scratch, 3},
    ordered{Buffer::Kind::scratch, 4}, slots{Buffer::Kind::scratch, 5},
    blocks{Buffer::Kind::scratch, 6}, filtered{Buffer::Kind::scratch, 7},
    tokens{Buffer::Kind::scratch, 8};

// Of chunks with samples of other channels there are bytes already, the last input: the picture's
// own samples are put in their places.
Buffer ordered_of(const PackedForm& form) {
  return form.carried > 0 ? Buffer{Buffer::Kind::input, has_alpha(form) ? 2 : 1} : ordered;
}

// What PNG's rows were filtered from is of no use any more when parts are written.
const Buffer& slots_of(const PackedForm& form) {
  return form.filter == Filter::png ? ordered : slots;
}

std::vector<Scratch> scratch_of(const LaunchValues& values, const Parameters& p,
                                DeflateEffort effort) {
  const PackedForm& form = *values.packing;
  std::vector<std::uint32_t> channel_of(form.channel_of.begin(), form.channel_of.end());
  channel_of.insert(channel_of.end(), form.carried_before.begin(), form.carried_before.end());
  // Behind them a flag for each picture.
  channel_of.resize(channel_of.size() + static_cast<std::size_t>(p.pictures));
  std::ranges::copy(values.glows, channel_of.end() - p.pictures);
  const std::int64_t chunks = std::int64_t{p.chunks} * p.pictures, all_parts = chunks * p.parts;
  std::vector<Scratch> scratch(9);
  scratch[0].contents = bytes_of_words(channel_of.data(), channel_of.size());
  scratch[1].bytes = std::int64_t{4} * p.pictures;
  scratch[1].cleared = true;
  scratch[2].bytes = 16 * chunks;
  scratch[3].bytes = 16 * all_parts;
  scratch[4].bytes = form.carried > 0 ? 16 : p.chunk_step * chunks;
  const bool zlib = form.packing == Packing::zlib;
  scratch[5].bytes = scratch[6].bytes = scratch[7].bytes = 16;
  if (is_filtered_apart(form)) scratch[7].bytes = p.chunk_step * chunks;
  if (form.packing != Packing::none) {
    std::int64_t& bytes = scratch[static_cast<std::size_t>(slots_of(form).index)].bytes;
    bytes = std::max(bytes, p.slot_step * all_parts);
  }
  if (zlib) scratch[6].bytes = 4 * block_words * all_parts;
  const bool copies = zlib && effort == DeflateEffort::copies;
  scratch[8].bytes = copies ? 2 * p.part_bytes * std::min(all_parts, parts_at_once) : 16;
  return scratch;
}

LaunchShape shape(std::int64_t x, std::int64_t y, std::int64_t z, int items) {
  return {{x, y, z}, {items, 1, 1}};
}

// A group for each part of all chunks and pictures. What has tokens goes through in turns.
void add_deflate(std::vector<Pass>& passes, const Parameters& p, const Buffer& from,
                 const Buffer& to, DeflateEffort effort) {
  const std::int64_t all = std::int64_t{p.parts} * p.chunks * p.pictures;
  passes.push_back({begin_parts, shape(all, 1, 1, writers), {from, blocks, parts}});
  const bool copies = effort == DeflateEffort::copies;
  Parameters own = p;
  if (copies) {
    own.is_sample = 1;
    passes.push_back({find_copies,
                      shape(all, 1, 1, writers),
                      {from, blocks, parts, tokens},
                      bytes_of_words(&own, 1)});
    own.is_sample = 0;
  }
  const std::int64_t turn = copies ? parts_at_once : all;
  for (std::int64_t first = 0; first < all; first += turn) {
    const std::int64_t count = std::min(turn, all - first);
    own.first_part = static_cast<int>(first);
    const std::vector<std::byte> parameters = bytes_of_words(&own, 1);
    if (copies) {
      passes.push_back(
          {find_copies, shape(count, 1, 1, writers), {from, blocks, parts, tokens}, parameters});
    }
    passes.push_back({make_blocks, shape(count, 1, 1, coders), {from, blocks, parts}, parameters});
    passes.push_back(
        {write_parts, shape(count, 1, 1, writers), {from, blocks, parts, tokens, to}, parameters});
  }
}

std::vector<Pass> passes_of(const PackedForm& form, const Parameters& p, DeflateEffort effort) {
  const Buffer stored = ordered_of(form);
  const Buffer& from = is_filtered_apart(form) ? filtered : stored;
  const LaunchShape words =
      shape(parts_of(form.chunk_bytes(), 4 * orderers), p.chunks, p.pictures, orderers);
  const LaunchShape rows = shape(p.chunk_height, p.chunks, p.pictures, filterers);
  std::vector<Pass> passes{{order_samples,
                            form.carried > 0 ? rows : words,
                            {image, has_alpha(form) ? alpha : image, channels, stored, unfit}}};
  const int filter = 1 + (form.packing != Packing::zlib     ? begin_parts
                          : effort == DeflateEffort::copies ? find_copies
                                                            : write_parts);
  if (form.filter == Filter::png) {
    passes.push_back({filter, rows, {stored, filtered}});
  } else if (form.filter == Filter::exr) {
    passes.push_back({filter, words, {stored, filtered}});
  }
  if (form.packing == Packing::zlib) {
    add_deflate(passes, p, from, slots_of(form), effort);
  } else if (form.packing == Packing::lzw) {
    passes.push_back({begin_parts,
                      shape(std::int64_t{p.parts} * p.chunks * p.pictures, 1, 1, lzw_items),
                      {from, parts, slots_of(form)}});
  } else {
    passes.push_back(
        {begin_parts, shape(parts_of(p.parts, orderers), p.chunks, p.pictures, orderers), {parts}});
  }
  passes.push_back({measure_chunks, shape(p.chunks, p.pictures, 1, measurers), {parts, sizes}});
  passes.push_back({place_chunks, shape(1, p.pictures, 1, joiners), {sizes, unfit, numbers}});
  passes.push_back({join_parts,
                    shape(p.parts, p.chunks, p.pictures, joiners),
                    {stored, from, slots_of(form), parts, sizes, rooms}});
  return passes;
}

// Inputs: the rooms, and what was measured of them.
LaunchPlan taking(const LaunchValues& values) {
  const ValueShape &room = values.inputs[0], &to = values.outputs[0];
  Parameters p;
  p.pictures = values.inputs[1].count;
  p.values = static_cast<int>(values.inputs[1].step / static_cast<std::int64_t>(sizeof(double)));
  p.room = room.stride;
  LaunchPlan plan;
  plan.parameters = bytes_of_words(&p, 1);
  static_assert(CodedPlaces::step == std::int64_t{4} * joiners);
  plan.passes = {{take_pictures,
                  shape(parts_of(to.stride * to.size.height / 4, joiners), 1, 1, joiners),
                  {{Buffer::Kind::input, 0}, {Buffer::Kind::input, 1}, rooms}}};
  return plan;
}

LaunchPlan launch_of(const LaunchValues& values, DeflateEffort effort) {
  if (values.packing == nullptr) return taking(values);
  const PackedForm& form = *values.packing;
  const Parameters p = parameters_of(form, values);
  LaunchPlan plan;
  plan.parameters = bytes_of_words(&p, 1);
  plan.scratch = scratch_of(values, p, effort);
  plan.passes = passes_of(form, p, effort);
  return plan;
}

}  // namespace

Program packer(Dialect dialect, const PackedForm& form, DeflateEffort effort) {
  if (!packs(form)) throw std::logic_error("no device packs pictures of this form");
  const Substitutions words = words_of(form, effort);
  std::string text;
  const auto add = [&](std::string_view name) { text += words.filled(part(kernels::pack, name)); };
  const bool carries = form.carried > 0;
  for (const char* name :
       {"parameters", "geometry", "samples", "words", carries ? "order_rows" : "order", "measure",
        "place", "join", "join_bits", "join_parts", "take"}) {
    add(name);
  }
  Program program;
  program.entries = {carries ? "order_rows" : "order_samples", "measure_chunks", "place_chunks",
                     "join_parts", "take_pictures"};
  if (form.packing == Packing::none) {
    add("as_they_are");
    program.entries.emplace_back("leave_parts");
  } else if (form.packing == Packing::lzw) {
    for (const char* name : {"blocks", "lzw", "write_codes"}) add(name);
    program.entries.emplace_back("write_codes");
  } else {
    const bool copies = effort == DeflateEffort::copies;
    for (const std::string name : {"blocks", "count", "copies", "find_copies", "codes", "runs",
                                   "make_blocks", "strings", "write_parts"}) {
      if (copies || !name.ends_with("copies")) add(name);
    }
    for (const char* name : {"count_bytes", "make_blocks", "write_parts"}) {
      program.entries.emplace_back(name);
    }
    if (copies) program.entries.emplace_back("find_copies");
  }
  if (form.filter == Filter::png) {
    add("png");
    add("filter_rows");
    program.entries.emplace_back("filter_rows");
  } else if (form.filter == Filter::exr) {
    add("exr");
    program.entries.emplace_back("split_bytes");
  }
  program.source = prelude_of(dialect, text) + text;
  program.launch = [effort](const LaunchValues& values) { return launch_of(values, effort); };
  return program;
}

}  // namespace impipe::jit
