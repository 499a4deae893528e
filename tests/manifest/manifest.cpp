// Keeps results across changes of the kernels: makes a table of random pipelines, the images they
// run on and hashes of their results, and checks the results of this build against such a table.
//
//   manifest make COUNT [FIRST]                               the table, to standard output
//   manifest check TABLE [BACKEND [EVERY [OFFSET]]]           every EVERY-th row, from OFFSET on
//
// tests/data/manifest.tsv was made by the program as it was at 5b0e3c9, on the CPU, but for what is
// defined in another way since (decisions 0029, 0002 and 0056). A row is
// pipeline, class, channels, size, what is special about the image, seed and hash, with tabs
// between them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "support/pipeline_runner.hpp"
#include "support/random_pipeline.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

struct Row {
  std::string text;
  PixelClass cls = PixelClass::uint8;
  int channels = 1;
  Size size;
  bool alpha = false;     // an alpha plane
  bool specials = false;  // NaN and infinities (single)
  bool stack = false;     // three images, in one launch where the device takes stacks
  std::uint64_t seed = 0;
  std::string hash;
};

// FNV-1a (RFC draft-eastlake-fnv), 64 bits.
class Hash {
 public:
  void add(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      state_ = (state_ ^ (value >> (8 * i) & 0xff)) * 0x100000001b3u;
    }
  }
  // Every NaN is the same one: sign and payload are no part of a result.
  void add(float value) {
    add(std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value), 4);
  }
  void add(double value) {
    add(std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(value), 8);
  }
  std::string text() const {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(state_));
    return out;
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

// Row by row, the channels of a pixel one after the other.
void add(Hash& hash, const Planes& planes) {
  const Size size = planes.front().size();
  hash.add(static_cast<std::uint64_t>(size.width), 8);
  hash.add(static_cast<std::uint64_t>(size.height), 8);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (const Plane& plane : planes) {
        switch (plane.cls()) {
          case PixelClass::single: hash.add(plane.row_as<float>(y)[x]); break;
          case PixelClass::uint16: hash.add(plane.row_as<std::uint16_t>(y)[x], 2); break;
          default: hash.add(plane.row_as<std::uint8_t>(y)[x], 1);
        }
      }
    }
  }
}

void add(Hash& hash, const test::Ran& ran) {
  for (const double value : ran.columns) hash.add(value);
  for (const double value : ran.measurement) hash.add(value);
  const HostImage& image = ran.image;
  if (image.empty()) return;
  hash.add(static_cast<std::uint64_t>(image.type.cls), 1);
  hash.add(static_cast<std::uint64_t>(image.type.channels), 1);
  hash.add(image.type.white);
  add(hash, image.planes);
  if (image.type.alpha) add(hash, Planes{image.alpha});
}

HostImage image_of(const Row& row, std::uint64_t seed) {
  HostImage image = row.specials ? test::test_image_with_specials(row.channels, row.size, seed)
                                 : test::test_image(row.cls, row.channels, row.size, seed);
  if (row.alpha) {
    image.type.alpha = true;
    image.alpha = test::test_image(row.cls, 1, row.size, seed + 9).planes.front();
  }
  return image;
}

constexpr std::string_view refused = "refused";

// The hash of the results; "refused" and why, where the pipeline does not take the image.
std::string hash_of(const Row& row, const std::string& backend) {
  const int codes = static_cast<int>(class_max(row.cls)) + 1;
  const std::map<std::string, HostImage> operands{
      {"b", test::test_image(row.cls, row.channels, row.size, row.seed + 1)},
      {"lut", test::test_image(row.cls, 1, {codes, 1}, row.seed + 2)}};
  std::vector<HostImage> images{image_of(row, row.seed)};
  if (row.stack) {
    images.push_back(image_of(row, row.seed + 3));
    images.push_back(image_of(row, row.seed + 4));
  }
  const test::RunOptions options{.backend = backend, .compile_aside = false};
  Hash hash;
  try {
    std::vector<test::Ran> results;
    if (row.stack) results = test::run_stack(row.text, images, operands, options);
    if (results.empty()) {
      for (const HostImage& image : images) {
        results.push_back(test::run(row.text, image, operands, options));
      }
    }
    for (const test::Ran& ran : results) add(hash, ran);
  } catch (const Error& e) {
    return std::string(refused) + ": " + e.what();
  }
  return hash.text();
}

std::string flags_of(const Row& row) {
  std::string out;
  if (row.alpha) out += "alpha ";
  if (row.specials) out += "specials ";
  if (row.stack) out += "stack ";
  if (out.empty()) return "-";
  out.pop_back();
  return out;
}

int make(std::uint64_t count, std::uint64_t first) {
  for (std::uint64_t seed = first; count > 0; ++seed) {
    const test::RandomRun what =
        seed % 2 == 0 ? test::random_run(seed) : test::small_random_run(seed);
    Row row{.text = what.text,
            .cls = what.image.type.cls,
            .channels = what.image.type.channels,
            .size = what.image.size(),
            .alpha = seed % 5 == 0 && what.image.type.cls != PixelClass::logical,
            .specials = false,
            .stack = seed % 3 == 0,
            .seed = seed};
    for (std::int64_t y = 0; y < row.size.height && row.cls == PixelClass::single; ++y) {
      for (const Plane& plane : what.image.planes) {
        const float* values = plane.row_as<float>(y);
        row.specials = row.specials || !std::all_of(values, values + row.size.width,
                                                    [](float v) { return std::isfinite(v); });
      }
    }
    row.hash = hash_of(row, "cpu");
    if (row.hash.starts_with(refused)) continue;
    --count;
    std::cout << row.text << '\t' << name_of(row.cls) << '\t' << row.channels << '\t'
              << row.size.width << 'x' << row.size.height << '\t' << flags_of(row) << '\t'
              << row.seed << '\t' << row.hash << '\n';
  }
  return 0;
}

PixelClass class_named(const std::string& name) {
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    if (name_of(cls) == name) return cls;
  }
  throw Error("manifest: unknown class '" + name + "'");
}

Row parsed(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  if (fields.size() != 7) throw Error("manifest: not a row: " + line);
  const auto has = [&](const char* flag) { return fields[4].find(flag) != std::string::npos; };
  return {.text = fields[0],
          .cls = class_named(fields[1]),
          .channels = std::stoi(fields[2]),
          .size = {std::stoi(fields[3]), std::stoi(fields[3].substr(fields[3].find('x') + 1))},
          .alpha = has("alpha"),
          .specials = has("specials"),
          .stack = has("stack"),
          .seed = std::stoull(fields[5]),
          .hash = fields[6]};
}

int check(const std::string& table, const std::string& backend, std::uint64_t every,
          std::uint64_t offset) {
  std::ifstream in(table);
  std::uint64_t at = 0, equal = 0, failed = 0;
  for (std::string line; std::getline(in, line); ++at) {
    if (at % every != offset % every) continue;
    const Row row = parsed(line);
    const std::string found = hash_of(row, backend);
    if (found == row.hash) {
      ++equal;
      continue;
    }
    ++failed;
    std::cout << "row " << at + 1 << ": " << found << " instead of " << row.hash << ": `"
              << row.text << "` on " << name_of(row.cls) << " x" << row.channels << ' '
              << to_string(row.size) << ' ' << flags_of(row) << " seed " << row.seed << '\n';
  }
  test::close_devices();
  std::cout << equal << " passed, " << failed << " failed\n";
  return failed == 0 && equal > 0 ? 0 : 1;
}

}  // namespace
}  // namespace impipe

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return words.size() > i ? std::stoull(words[i]) : otherwise;
  };
  try {
    if (words.size() >= 2 && words[0] == "make") {
      return impipe::make(number(1, 0), number(2, 1));
    }
    if (words.size() >= 2 && words[0] == "check") {
      return impipe::check(words[1], words.size() > 2 ? words[2] : "cpu", number(3, 1),
                           number(4, 0));
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  std::cerr << "usage: manifest make COUNT [FIRST]\n"
               "       manifest check TABLE [BACKEND [EVERY [OFFSET]]]\n";
  return 2;
}
