// Decoding of JPEGs, bit for bit as libjpeg-turbo does it: the program, and what its kernels read.
#include "backends/jit/codec/codec.hpp"

#include <algorithm>
#include <cstring>
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

constexpr int piece_bits = 1024, decoders = 128, ahead = 32, joiners = 256, transformers = 256,
              painters = 64;
constexpr int blocks_a_group = transformers / 8, pixels_an_item = 4;
constexpr std::size_t head_words = 8;
constexpr int quick_bits = 10, longest = 16;
constexpr std::int64_t sums_bytes = 20;

// As the kernels have it.
struct Parameters {
  int pictures, width, height, components;
  int across, down;
  int units_across;
  int blocks;
  int samples;
  int stride;
  std::int64_t step;
};

// Words as bytes, which a launch takes over as they are.
class Words {
 public:
  std::size_t size() const { return bytes_.size() / 4; }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  void append(const void* from, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + bytes);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  void push_back(std::uint32_t word) { append(&word, sizeof word); }
  void grow(std::size_t words) { bytes_.resize(bytes_.size() + 4 * words); }
  void set(std::size_t at, std::uint32_t word) {
    std::memcpy(bytes_.data() + 4 * at, &word, sizeof word);
  }
  std::uint32_t get(std::size_t at) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes_.data() + 4 * at, sizeof word);
    return word;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// What a table's codes say: of the first bits of each, and of the long ones.
struct Lookup {
  std::array<std::uint16_t, std::size_t{1} << quick_bits> quick{};
  std::array<std::uint32_t, 16> longer{};
};

Lookup lookup_of(const HuffmanCodes& codes) {
  Lookup made;
  std::size_t symbol = 0;
  std::uint32_t code = 0;  // the next, of `length` bits
  for (int length = 1; length <= longest; ++length) {
    code <<= 1;
    const std::size_t count = codes.counts[static_cast<std::size_t>(length)];
    if (length <= quick_bits) {
      const std::size_t each = std::size_t{1} << (quick_bits - length);
      for (std::size_t i = 0; i < count; ++i) {
        std::fill_n(made.quick.begin() + static_cast<std::ptrdiff_t>((code + i) * each), each,
                    static_cast<std::uint16_t>(length << 8 | codes.symbols[symbol + i]));
      }
    } else {
      const auto k = static_cast<std::size_t>(length - quick_bits - 1);
      made.longer[k] = static_cast<std::uint32_t>(code + count) << (longest - length);
      made.longer[8 + k] = static_cast<std::uint32_t>(symbol) - code;
    }
    code += static_cast<std::uint32_t>(count);
    symbol += count;
  }
  return made;
}

void append_tables(Words& to, const JpegTables& tables) {
  const std::array<const HuffmanCodes*, 4> codes = {&tables.dc[0], &tables.ac[0], &tables.dc[1],
                                                    &tables.ac[1]};
  std::array<Lookup, 4> lookups;
  for (std::size_t i = 0; i < codes.size(); ++i) lookups[i] = lookup_of(*codes[i]);
  for (const Lookup& lookup : lookups) to.append(lookup.quick.data(), sizeof lookup.quick);
  for (const Lookup& lookup : lookups) to.append(lookup.longer.data(), sizeof lookup.longer);
  for (const HuffmanCodes* one : codes) to.append(one->symbols.data(), one->symbols.size());
  for (const auto& steps : tables.steps) {
    for (const std::uint32_t place : jpeg_natural_order) to.push_back(place << 16 | steps[place]);
  }
}

std::size_t pieces_of(const CodedJpeg::Segment& segment) {
  constexpr std::int64_t piece_bytes = piece_bits / 8;
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, (segment.bytes + piece_bytes - 1) / piece_bytes));
}

// What the kernels read: see their parameters. The pictures' bytes stay where they are.
struct Data {
  Words words;
  std::vector<std::span<const std::byte>> behind;
  std::size_t groups = 0;
};

// What is read ahead behind the last picture.
constexpr std::array<std::byte, 32> padding{};

Data data_of(std::span<const CodedJpeg* const> jpegs) {
  Data made;
  std::vector<std::size_t> groups;
  std::size_t segments = 0;
  for (const CodedJpeg* jpeg : jpegs) {
    std::size_t pieces = 0;
    for (const auto& segment : jpeg->segments) pieces += pieces_of(segment);
    groups.push_back((pieces + decoders - 1) / decoders);
    segments += jpeg->segments.size();
  }
  Words& words = made.words;
  words.reserve(12 * segments + jpegs.size() * 16384);
  words.grow(head_words * jpegs.size());
  for (std::size_t p = 0; p < jpegs.size(); ++p) {
    for (std::size_t g = 0; g < groups[p]; ++g) words.push_back(static_cast<std::uint32_t>(p));
  }
  for (std::size_t p = 0; p < jpegs.size(); ++p) {
    const CodedJpeg& jpeg = *jpegs[p];
    const auto here = [&] { return static_cast<std::uint32_t>(words.size()); };
    const auto head = [&](std::size_t i, std::uint32_t word) {
      words.set(head_words * p + i, word);
    };
    head(2, static_cast<std::uint32_t>(jpeg.segments.size()));
    head(4, static_cast<std::uint32_t>(made.groups));
    head(5, static_cast<std::uint32_t>(groups[p]));
    head(6, static_cast<std::uint32_t>(jpeg.units_a_segment));
    made.groups += groups[p];
    if (p > 0 && jpeg.tables == jpegs[p - 1]->tables) {
      head(3, words.get(head_words * (p - 1) + 3));
    } else {
      head(3, here());
      append_tables(words, jpeg.tables);
    }
    head(1, here());
    std::size_t piece = 0;
    for (const auto& segment : jpeg.segments) {
      words.push_back(static_cast<std::uint32_t>(segment.begin / 4));
      words.push_back(static_cast<std::uint32_t>(8 * segment.bytes));
      words.push_back(static_cast<std::uint32_t>(piece));
      piece += pieces_of(segment);
    }
    for (const std::size_t word : {std::size_t{0}, std::size_t{0}, piece}) {
      words.push_back(static_cast<std::uint32_t>(word));
    }
  }
  std::size_t next = words.size();
  for (std::size_t p = 0; p < jpegs.size(); ++p) {
    words.set(head_words * p, static_cast<std::uint32_t>(next));
    const std::vector<std::byte>& bytes = jpegs[p]->bytes;
    if (!bytes.empty()) made.behind.emplace_back(bytes);
    next += bytes.size() / 4;
  }
  made.behind.emplace_back(padding);
  return made;
}

std::vector<std::byte> bytes_of_words(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  return {begin, begin + bytes};
}

Parameters parameters_of(const LaunchValues& values) {
  const JpegForm& form = values.jpegs.front()->form;
  const ValueShape& image = values.outputs[0];
  const std::int64_t planes = form.components == 1 ? 3 : form.blocks_a_unit();
  return {.pictures = static_cast<int>(values.jpegs.size()),
          .width = static_cast<int>(form.size.width),
          .height = static_cast<int>(form.size.height),
          .components = form.components,
          .across = form.across,
          .down = form.down,
          .units_across = static_cast<int>(form.units_across()),
          .blocks = static_cast<int>(form.blocks()),
          .samples = static_cast<int>(form.units() * 64 * planes),
          .stride = static_cast<int>(image.stride),
          .step = image.step};
}

// Buffers of the launch, by their places in its scratch memory.
constexpr Buffer data{Buffer::Kind::scratch, 0}, begins{Buffer::Kind::scratch, 1},
    ends{Buffer::Kind::scratch, 2}, known{Buffer::Kind::scratch, 3},
    group_sums{Buffer::Kind::scratch, 4}, wanted{Buffer::Kind::scratch, 5},
    coefficients{Buffer::Kind::scratch, 6}, status{Buffer::Kind::scratch, 7},
    planes{Buffer::Kind::scratch, 8}, image{Buffer::Kind::output, 0},
    result{Buffer::Kind::output, 1};

std::vector<Pass> passes_of(const Parameters& p, std::int64_t groups) {
  const auto shape = [](std::int64_t x, std::int64_t y, std::int64_t z, int items) {
    return LaunchShape{{x, y, z}, {items, 1, 1}};
  };
  const auto parts = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
  const LaunchShape by_pieces = shape(groups, 1, 1, decoders);
  const LaunchShape by_pictures = shape(p.pictures, 1, 1, joiners);
  const LaunchShape with_those_ahead = shape(groups, 1, 1, decoders + ahead);
  return {{0, with_those_ahead, {data, begins, ends, known}},
          {1, by_pictures, {data, begins, ends, known, wanted}},
          {2, by_pieces, {data, known, group_sums}},
          {3, by_pictures, {data, group_sums}},
          {4, by_pieces, {data, begins, known, group_sums, coefficients, status}},
          {5,
           shape(parts(p.width, 8 * blocks_a_group), parts(p.height, 8),
                 std::int64_t{p.pictures} * p.components, transformers),
           {data, coefficients, planes, status}},
          {6,
           shape(parts(p.width, pixels_an_item * painters), p.height, p.pictures, painters),
           {planes, status, image, result}}};
}

LaunchPlan launch_of(const LaunchValues& values) {
  Data made = data_of(values.jpegs);
  const Parameters parameters = parameters_of(values);
  const auto groups = static_cast<std::int64_t>(made.groups);
  const std::int64_t pieces = groups * decoders, pictures = parameters.pictures;
  LaunchPlan plan;
  plan.parameters = bytes_of_words(&parameters, sizeof parameters);
  plan.scratch.resize(9);
  const auto scratch = [&](const Buffer& buffer) -> Scratch& {
    return plan.scratch[static_cast<std::size_t>(buffer.index)];
  };
  scratch(data).contents = made.words.take();
  scratch(data).parts = std::move(made.behind);
  scratch(begins).bytes = scratch(ends).bytes = 8 * pieces;
  scratch(known).bytes = 16 * pieces;
  scratch(group_sums).bytes = sums_bytes * groups;
  scratch(wanted).bytes = 8 * groups;
  scratch(coefficients).bytes = 128 * std::int64_t{parameters.blocks} * pictures;
  scratch(status).bytes = 4 * pictures;
  scratch(coefficients).cleared = scratch(status).cleared = true;
  scratch(planes).bytes = std::int64_t{parameters.samples} * pictures;
  plan.passes = passes_of(parameters, groups);
  return plan;
}

}  // namespace

Program jpeg_decoder(Dialect dialect) {
  Program program;
  const Substitutions words{{{"piece", [] { return std::to_string(piece_bits); }},
                             {"items", [] { return std::to_string(decoders); }},
                             {"ahead", [] { return std::to_string(ahead); }},
                             {"all", [] { return std::to_string(decoders + ahead); }},
                             {"joiners", [] { return std::to_string(joiners); }}}};
  std::string text;
  for (const std::string& name : parts_of(kernels::jpeg_decode)) {
    text += words.filled(part(kernels::jpeg_decode, name));
  }
  program.source = prelude_of(dialect, text) + text;
  program.entries = {"synchronise",        "join_groups", "add_pieces", "add_groups",
                     "write_coefficients", "samples_of",  "pixels_of"};
  program.launch = launch_of;
  return program;
}

}  // namespace impipe::jit
