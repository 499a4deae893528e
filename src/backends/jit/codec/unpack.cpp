// Decoding of lossless pictures: the program, and what its kernels read.
#include "backends/jit/codec/codec.hpp"

#include "backends/jit/codec/unpack_parameters.hpp"
#include "backends/jit/codec/unpack_streams.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/unpacks.hpp"

namespace impipe::jit {
namespace {

using Filter = PackedForm::Filter;
using Order = PackedForm::Order;
using Packing = PackedForm::Packing;
using Parameters = UnpackParameters;

constexpr int piece_bits = 512, lead_bits = 256;
constexpr int copies_a_step = 16 * inflaters, runs_a_step = 1024;
// PNG: bytes from a pixel to the next. Of each there is a kernel.
constexpr std::array<int, 6> png_steps = {1, 2, 3, 4, 6, 8};
constexpr int row_items = 32, painters = 64, pixels_an_item = 4, word_items = 128;
constexpr std::int64_t max_rows_at_once = 65535, max_bands_at_once = 2048;
// Places in a chunk are bits in 32 bits, and a step may look some beyond its end.
constexpr std::int64_t max_packed_bytes = (std::int64_t{1} << 29) - 65536;

// As the kernels have it; and its flags.
struct ChunkHead {
  std::uint32_t word, bytes, flags, room;
};
constexpr std::uint32_t is_stored = 4, is_left = 8;

// What may be read behind the last picture's bytes.
constexpr std::array<std::byte, 32> padding{};

// Bytes of the `which`-th chunk, unpacked.
std::int64_t bytes_of_chunk(const PackedForm& form, std::int64_t which) {
  if (form.padded) return form.chunk_bytes();
  const std::int64_t across = form.chunks_across();
  const std::int64_t in_plane = which % (across * form.chunks_down());
  const std::int64_t x = in_plane % across * form.chunk.width;
  const std::int64_t y = in_plane / across * form.chunk.height;
  PackedForm one = form;
  one.chunk = {std::min(form.chunk.width, form.size.width - x),
               std::min(form.chunk.height, form.size.height - y)};
  return one.chunk_bytes();
}

// The heads of a picture's chunks, of which the first byte is the `begin`-th of the kernels' data.
void append_heads(std::vector<ChunkHead>& to, const PackedPicture& picture, std::int64_t begin) {
  const PackedForm& form = picture.form;
  const std::int64_t has = picture.data_bytes();
  for (std::int64_t i = 0; i < form.chunks(); ++i) {
    PackedPicture::Chunk chunk;
    const auto index = static_cast<std::size_t>(i);
    if (index < picture.chunks.size()) chunk = picture.chunks[index];
    const bool lies_inside = index < picture.chunks.size() && chunk.begin >= 0 &&
                             chunk.bytes >= 0 && chunk.begin <= has &&
                             chunk.bytes <= has - chunk.begin && chunk.bytes <= max_packed_bytes;
    if (!lies_inside) chunk = {};
    const std::int64_t at = begin + chunk.begin;
    std::uint32_t flags = static_cast<std::uint32_t>(at % 4);
    if (chunk.stored || form.packing == Packing::none) flags |= is_stored;
    if (!lies_inside) flags = is_left;
    to.push_back({static_cast<std::uint32_t>(at / 4), static_cast<std::uint32_t>(chunk.bytes),
                  flags, static_cast<std::uint32_t>(bytes_of_chunk(form, i))});
  }
}

// What the kernels read: see their parts "chunks". The pictures' bytes stay where they are.
struct Data {
  std::vector<std::byte> heads;
  std::vector<std::span<const std::byte>> behind;
};

Data data_of(std::span<const PackedPicture* const> pictures) {
  const PackedForm& form = pictures.front()->form;
  std::vector<ChunkHead> heads;
  heads.reserve(pictures.size() * static_cast<std::size_t>(form.chunks()));
  auto begin = static_cast<std::int64_t>(heads.capacity() * sizeof(ChunkHead));
  Data made;
  for (const PackedPicture* picture : pictures) {
    append_heads(heads, *picture, begin);
    begin += picture->data_bytes();
    for (const auto& part : picture->data()) {
      if (!part.empty()) made.behind.push_back(part);
    }
  }
  made.behind.emplace_back(padding);
  const auto all = std::as_bytes(std::span(heads));
  made.heads.assign(all.begin(), all.end());
  return made;
}

// Those of the pictures, one behind the other.
std::vector<std::byte> palettes_of(std::span<const PackedPicture* const> pictures) {
  std::vector<std::byte> made;
  for (const PackedPicture* picture : pictures) {
    const auto one = std::as_bytes(std::span(picture->palette));
    made.insert(made.end(), one.begin(), one.end());
  }
  return made;
}

// Whether chunks are long streams, whose blocks are looked for.
bool has_streams(const PackedForm& form) {
  return form.packing == Packing::zlib && form.chunk_bytes() > least_stream_bytes;
}

// Whether samples are integers and pixels singles.
bool becomes_single(const PackedForm& form) {
  return form.cls == PixelClass::single && (form.sample == PackedForm::Sample::integer ||
                                            form.sample == PackedForm::Sample::signed_integer);
}

Parameters parameters_of(const PackedForm& form, const ValueShape& image) {
  std::uint64_t channel_of = 0, carried_before = 0;
  for (std::size_t k = 0; k < form.channel_of.size(); ++k) {
    channel_of |= std::uint64_t{form.channel_of[k]} << (4 * k);
  }
  for (std::size_t k = 0; k < form.carried_before.size(); ++k) {
    carried_before |= std::uint64_t{form.carried_before[k]} << (16 * k);
  }
  const int fully = static_cast<int>(class_max(form.cls));
  return {.pictures = image.count,
          .chunks = static_cast<int>(form.chunks()),
          .step = static_cast<int>(form.chunk_step()),
          .width = static_cast<int>(form.size.width),
          .height = static_cast<int>(form.size.height),
          .chunk_width = static_cast<int>(form.chunk.width),
          .chunk_height = static_cast<int>(form.chunk.height),
          .across = static_cast<int>(form.chunks_across()),
          .down = static_cast<int>(form.chunks_down()),
          .padded = form.padded ? 1 : 0,
          .packing = static_cast<int>(form.packing),
          .filter = static_cast<int>(form.filter),
          .order = static_cast<int>(form.order),
          .sample = static_cast<int>(form.sample),
          .bits = form.bits,
          .big_endian = form.big_endian ? 1 : 0,
          .inverted = form.inverted ? 1 : 0,
          .channels = form.channels,
          .samples = form.samples(),
          .alpha = form.alpha == PackedForm::Alpha::none ? -1 : form.colours(),
          .palette = form.palette ? 1 : 0,
          .pixel_bytes = bytes_of(form.cls),
          .fully = fully,
          .scale = form.bits < 8 && !form.palette ? fully / ((1 << form.bits) - 1) : 1,
          .streams = has_streams(form) ? image.count * static_cast<int>(form.chunks()) : 0,
          .pass = 0,
          .stride = static_cast<int>(image.stride),
          .carried = form.carried,
          .to_single = becomes_single(form) ? 1 : 0,
          .plane = image.step,
          .channel_of = channel_of,
          .carried_before = carried_before};
}

// Buffers of the launch, by their places in its scratch memory.
constexpr Buffer data{Buffer::Kind::scratch, 0}, unpacked{Buffer::Kind::scratch, 1},
    status{Buffer::Kind::scratch, 2}, rows{Buffer::Kind::scratch, 3},
    progress{Buffer::Kind::scratch, 4}, palettes{Buffer::Kind::scratch, 5},
    image{Buffer::Kind::output, 0}, result{Buffer::Kind::output, 1}, alpha{Buffer::Kind::output, 2};
// Kernels, by their places in the program.
enum Entry {
  inflate,
  expand_runs,
  expand_lzw,
  pixels_of,
  straighten,
  sum_rows,
  sum_bytes,
  keep_chunks,
  find_inexact,
  unfilter
};

std::int64_t parts(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }

// PNG: bands of rows, and bytes of a picture's rows once they are not filtered any more.
std::int64_t bands_of(const PackedForm& form) { return parts(form.size.height, row_items); }
std::int64_t rows_step(const PackedForm& form) {
  return parts(form.row_bytes(form.size.width), 16) * 16 * form.size.height;
}

// A word of a chunk a work-item.
LaunchShape by_words(const PackedForm& form, std::int64_t pictures) {
  const std::int64_t pieces = parts(form.chunk_step(), 4 * word_items);
  return {{pictures * form.chunks() * pieces, 1, 1}, {word_items, 1, 1}};
}

std::vector<Pass> passes_of(const PackedForm& form, std::int64_t pictures) {
  const auto shape = [](std::int64_t x, std::int64_t y, std::int64_t z, int items) {
    return LaunchShape{{x, y, z}, {items, 1, 1}};
  };
  const std::int64_t chunks = pictures * form.chunks();
  const LaunchShape by_chunks = shape(chunks, 1, 1, inflaters);
  std::vector<Pass> passes;
  switch (form.packing) {
    case Packing::none:
    case Packing::zlib:
      passes.push_back({inflate, by_chunks, {data, unpacked, status, status}});
      break;
    case Packing::packbits:
    case Packing::exr_rle:
      passes.push_back({expand_runs, by_chunks, {data, unpacked, status}});
      break;
    case Packing::lzw: passes.push_back({expand_lzw, by_chunks, {data, unpacked, status}}); break;
  }
  if (form.filter == Filter::exr) {
    passes.push_back({sum_bytes, shape(chunks, 1, 1, inflaters), {data, unpacked}});
  } else if (form.filter == Filter::png) {
    const std::int64_t bands = pictures * bands_of(form);
    const int step = std::max(1, form.samples() * form.bits / 8);
    const auto which = std::ranges::find(png_steps, step) - png_steps.begin();
    passes.push_back({unfilter + static_cast<int>(which),
                      shape(std::min(bands, max_bands_at_once), 1, 1, row_items),
                      {unpacked, rows, progress, status}});
  } else if (form.filter != Filter::none) {
    passes.push_back({sum_rows, shape(chunks * form.chunk.height, 1, 1, row_items), {unpacked}});
  }
  if (becomes_single(form) && form.bits == 32) {
    passes.push_back({find_inexact, by_words(form, pictures), {data, unpacked, status}});
  }
  const LaunchShape pixels =
      shape(parts(form.size.width, pixels_an_item * painters),
            std::min(form.size.height, max_rows_at_once), pictures, painters);
  const bool has_alpha = form.alpha != PackedForm::Alpha::none;
  passes.push_back({pixels_of,
                    pixels,
                    {data, form.filter == Filter::png ? rows : unpacked, status,
                     form.palette ? palettes : status, image, has_alpha ? alpha : image, result}});
  if (form.alpha == PackedForm::Alpha::associated) {
    passes.push_back({straighten, pixels, {image, alpha, result}});
  }
  return passes;
}

LaunchPlan launch_of(const LaunchValues& values) {
  const PackedForm& form = values.packed.front()->form;
  const auto pictures = static_cast<std::int64_t>(values.packed.size());
  const Parameters parameters = parameters_of(form, values.outputs[0]);
  Data made = data_of(values.packed);
  LaunchPlan plan;
  plan.parameters = bytes_of_parameters(parameters);
  plan.scratch.resize(form.palette ? 6 : form.filter == Filter::png ? 5 : 3);
  const auto scratch = [&](const Buffer& buffer) -> Scratch& {
    return plan.scratch[static_cast<std::size_t>(buffer.index)];
  };
  scratch(data).contents = std::move(made.heads);
  scratch(data).parts = std::move(made.behind);
  scratch(unpacked).bytes = pictures * form.chunks() * form.chunk_step();
  scratch(status).bytes = 4 * pictures;
  scratch(status).cleared = true;
  plan.passes = passes_of(form, pictures);
  const int outputs = form.alpha != PackedForm::Alpha::none ? 3 : 2;
  if (static_cast<int>(values.outputs.size()) > outputs) {
    const Buffer kept{Buffer::Kind::output, outputs};
    plan.passes.push_back({keep_chunks, by_words(form, pictures), {data, unpacked, kept}});
  }
  if (form.filter == Filter::png) {
    scratch(rows).bytes = pictures * rows_step(form);
    scratch(progress).bytes = 4 * (1 + pictures * bands_of(form));
    scratch(progress).cleared = true;
    Parameters of_rows = parameters;
    of_rows.step = static_cast<int>(rows_step(form));
    const auto reads_rows =
        std::ranges::find(plan.passes, static_cast<int>(pixels_of), &Pass::entry);
    reads_rows->parameters = bytes_of_parameters(of_rows);
  }
  if (form.palette) scratch(palettes).contents = palettes_of(values.packed);
  if (has_streams(form)) {
    StreamPlan streams = inflate_streams(values.packed, parameters, {data, unpacked, status},
                                         unfilter + static_cast<int>(png_steps.size()),
                                         static_cast<int>(plan.scratch.size()));
    std::ranges::move(streams.scratch, std::back_inserter(plan.scratch));
    plan.passes.front().buffers.back() = streams.state;
    plan.passes.insert(plan.passes.begin(), std::make_move_iterator(streams.passes.begin()),
                       std::make_move_iterator(streams.passes.end()));
  }
  return plan;
}

}  // namespace

Program unpacker(Dialect dialect) {
  Program program;
  const Substitutions words{{{"items", [] { return std::to_string(inflaters); }},
                             {"piece", [] { return std::to_string(piece_bits); }},
                             {"lead", [] { return std::to_string(lead_bits); }},
                             {"copies", [] { return std::to_string(copies_a_step); }},
                             {"runs", [] { return std::to_string(runs_a_step); }}}};
  std::string text = words.filled(part(kernels::unpack, "parameters"));
  for (const std::string& name : parts_of(kernels::inflate)) {
    text += words.filled(part(kernels::inflate, name));
  }
  text += words.filled(part(kernels::runs, "runs")) + words.filled(part(kernels::lzw, "lzw"));
  for (const char* name : {"forms", "sum_rows", "sum_bytes", "pixels", "find_inexact", "straighten",
                           "keep", "unfilter"}) {
    text += words.filled(part(kernels::unpack, name));
  }
  program.entries = {"inflate_chunks", "expand_runs", "expand_lzw",  "pixels_of",   "straighten",
                     "sum_rows",       "sum_bytes",   "keep_chunks", "find_inexact"};
  for (const int step : png_steps) {
    const std::string name = std::to_string(step);
    text +=
        filled(part(kernels::unpack, "unfilter_by"),
               {{"pixel_step", name}, {"step_words", std::to_string(step > 4 ? step / 2 : step)}});
    program.entries.push_back("unfilter_" + name);
  }
  const std::vector<std::string> more = stream_entries();
  program.entries.insert(program.entries.end(), more.begin(), more.end());
  program.source = prelude_of(dialect, text) + text;
  program.launch = launch_of;
  return program;
}

}  // namespace impipe::jit
