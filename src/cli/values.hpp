// Values of flags that are more than a text or a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "engine/run.hpp"

namespace impipe::cli {

// "512M", "2G", "1.5G", "1000000"; a K is `kilo`. Throws Error naming the flag.
std::int64_t parse_amount(const std::string& flag, const std::string& text, std::int64_t kilo);

// "2/8". Throws Error.
struct Shard {
  int index = 1, count = 1;
};
Shard parse_shard(const std::string& text);

// "1,3-5" and "2-", which has no end. Throws Error.
std::vector<engine::PageRange> parse_pages(const std::string& text);

// "1.5"; above 0. Throws Error naming the flag.
double parse_seconds(const std::string& flag, const std::string& text);

// "25", "30000/1001", "29.97" as Y4M has it, "30000:1001". Throws Error naming the flag.
std::string parse_frame_rate(const std::string& flag, const std::string& text);

// "Z,diffuse.R": names behind commas, each once. Throws Error.
std::vector<std::string> parse_names(const std::string& flag, const std::string& text);

// "1-100x2,120"; sorted, none twice. Throws Error.
std::vector<std::int64_t> parse_frames(const std::string& text);

PixelClass parse_class(const std::string& flag, const std::string& text);

// The place of `text` in `words`. Throws Error with the nearest word.
int parse_choice(const std::string& flag, const std::string& text,
                 const std::vector<std::string>& words);

// As many threads as the process may use for 0, else the number itself. Throws Error.
int parse_threads(int wanted);

}  // namespace impipe::cli
