// Encoding of a JPEG's entropy-coded data: the program, and what its kernels read.
#include "backends/jit/codec/codec.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/coded_jpeg.hpp"
#include "core/jpeg_order.hpp"

namespace impipe::jit {
namespace {

constexpr int writers = 128, joiners = 256, transformers = 256, takers = 256;
constexpr int blocks_a_group = transformers / 8;

// As the kernels have it.
struct Parameters {
  int pictures = 0;
  int width = 0, height = 0, components = 0;
  int across = 0, down = 0;
  int units_across = 0, blocks = 0;
  int groups = 0;
  std::uint32_t most = 0;
  int stride = 0;
  std::int64_t step = 0;
  std::int64_t words = 0;
};

enum Entry { make_coefficients, measure_blocks, add_groups, write_blocks, take_words, clear_words };

std::vector<std::byte> bytes_of_words(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  return {begin, begin + bytes};
}

std::int64_t parts(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }

LaunchShape shape(std::int64_t groups, int items, std::int64_t pictures = 1) {
  return {{groups, pictures, 1}, {items, 1, 1}};
}

// The code of each symbol, and below it how many bits it has.
std::array<std::uint32_t, 256> codes_of(const HuffmanCodes& table) {
  std::array<std::uint32_t, 256> codes{};
  std::uint32_t code = 0;
  std::size_t symbol = 0;
  for (std::size_t length = 1; length <= 16; ++length) {
    code <<= 1;
    for (int i = 0; i < table.counts[length]; ++i) {
      codes[table.symbols[symbol++]] = code++ << 8 | static_cast<std::uint32_t>(length);
    }
  }
  return codes;
}

void append_tables(std::vector<std::uint32_t>& words, const JpegTables& tables) {
  for (const HuffmanCodes* table : {&tables.dc[0], &tables.ac[0], &tables.dc[1], &tables.ac[1]}) {
    const auto codes = codes_of(*table);
    words.insert(words.end(), codes.begin(), codes.end());
  }
  // The transform's results are 8 times as large.
  for (const auto& steps : tables.steps) {
    for (const std::uint16_t step : steps) words.push_back(std::max(1U, 8U * step));
  }
  std::array<std::uint32_t, 64> places{};
  for (std::uint32_t k = 0; k < places.size(); ++k) places[jpeg_natural_order[k]] = k;
  words.insert(words.end(), places.begin(), places.end());
}

std::vector<std::uint32_t> data_of(std::span<const CodedJpeg* const> jpegs) {
  std::vector<std::uint32_t> words(jpegs.size());
  for (std::size_t p = 0; p < jpegs.size(); ++p) {
    if (p > 0 && jpegs[p]->tables == jpegs[p - 1]->tables) {
      words[p] = words[p - 1];
      continue;
    }
    words[p] = static_cast<std::uint32_t>(words.size());
    append_tables(words, jpegs[p]->tables);
  }
  return words;
}

constexpr Buffer data{Buffer::Kind::scratch, 0}, coefficients{Buffer::Kind::scratch, 1},
    lengths{Buffer::Kind::scratch, 2}, group_bits{Buffer::Kind::scratch, 3},
    marks{Buffer::Kind::scratch, 4}, image{Buffer::Kind::input, 0}, bytes{Buffer::Kind::output, 0},
    result{Buffer::Kind::output, 1};

// Inputs: the room, and what was measured of it.
LaunchPlan taking(const LaunchValues& values) {
  const ValueShape &room = values.inputs[0], &to = values.outputs[0];
  Parameters parameters;
  parameters.pictures = values.inputs[1].count;
  parameters.words = room.stride / 4;
  LaunchPlan plan;
  plan.parameters = bytes_of_words(&parameters, sizeof parameters);
  static_assert(CodedPlaces::step == 4 * takers);
  plan.passes = {{take_words,
                  shape(parts(to.stride * to.size.height / 4, takers), takers),
                  {{Buffer::Kind::input, 0}, {Buffer::Kind::input, 1}, bytes}}};
  return plan;
}

std::vector<Pass> passes_of(const Parameters& p) {
  const std::int64_t pictures = p.pictures;
  const int luminance = p.across * p.down;
  const std::int64_t of_luminance =
      p.components == 1 ? p.blocks : std::int64_t{p.blocks} / (luminance + 2) * luminance;
  return {{clear_words, shape(parts(p.words * pictures, takers), takers), {bytes}},
          {make_coefficients,
           {{parts(of_luminance, blocks_a_group), pictures, p.components}, {transformers, 1, 1}},
           {data, image, coefficients, marks}},
          {measure_blocks,
           shape(p.groups, writers, pictures),
           {data, coefficients, marks, lengths, group_bits}},
          {add_groups, shape(1, joiners, pictures), {group_bits}},
          {write_blocks,
           shape(p.groups, writers, pictures),
           {data, coefficients, marks, lengths, group_bits, bytes, result}}};
}

LaunchPlan launch_of(const LaunchValues& values) {
  if (values.jpegs.empty()) return taking(values);
  const JpegForm& form = values.jpegs.front()->form;
  const std::int64_t blocks = form.blocks(), groups = parts(blocks, writers);
  const auto pictures = static_cast<std::int64_t>(values.jpegs.size());
  const Parameters parameters{.pictures = static_cast<int>(pictures),
                              .width = static_cast<int>(form.size.width),
                              .height = static_cast<int>(form.size.height),
                              .components = form.components,
                              .across = form.across,
                              .down = form.down,
                              .units_across = static_cast<int>(form.units_across()),
                              .blocks = static_cast<int>(blocks),
                              .groups = static_cast<int>(groups),
                              .most = static_cast<std::uint32_t>(8 * jpeg_room(form) - 64),
                              .stride = static_cast<int>(values.inputs[0].stride),
                              .step = values.inputs[0].step,
                              .words = values.outputs[0].stride / 4};
  const std::vector<std::uint32_t> words = data_of(values.jpegs);
  LaunchPlan plan;
  plan.parameters = bytes_of_words(&parameters, sizeof parameters);
  plan.scratch.resize(5);
  plan.scratch[0].contents = bytes_of_words(words.data(), 4 * words.size());
  plan.scratch[1].bytes = 128 * blocks * pictures;
  plan.scratch[2].bytes = 4 * blocks * pictures;
  plan.scratch[3].bytes = 4 * (groups + 1) * pictures;
  plan.scratch[4].bytes = 8 * blocks * pictures;
  plan.passes = passes_of(parameters);
  return plan;
}

}  // namespace

Program jpeg_encoder(Dialect dialect) {
  Program program;
  const Substitutions words{{{"items", [] { return std::to_string(writers); }},
                             {"joiners", [] { return std::to_string(joiners); }}}};
  std::string text;
  for (const std::string& name : parts_of(kernels::jpeg_encode)) {
    text += words.filled(part(kernels::jpeg_encode, name));
  }
  program.source = prelude_of(dialect, text) + text;
  program.entries = {"make_coefficients", "measure_blocks", "add_groups",
                     "write_blocks",      "take_words",     "clear_words"};
  program.launch = launch_of;
  return program;
}

}  // namespace impipe::jit
