// Reads amounts, shards, classes and choices.
#include "cli/values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/error.hpp"
#include "core/frame_list.hpp"
#include "core/process_limits.hpp"
#include "core/text.hpp"

namespace impipe::cli {

std::int64_t parse_amount(const std::string& flag, const std::string& text, std::int64_t kilo) {
  constexpr double most = 9e18;
  const std::string_view units = "KMGT";
  std::string number = text;
  double scale = 1;
  if (!number.empty()) {
    const char last = static_cast<char>(number.back() & ~0x20);  // capital
    const size_t unit = units.find(last);
    if (unit != units.npos) {
      number.pop_back();
      for (size_t i = 0; i <= unit; ++i) scale *= static_cast<double>(kilo);
    }
  }
  const std::optional<double> value = is_number(number) ? number_value(number) : std::nullopt;
  if (!value || *value <= 0 || *value * scale > most) {
    throw Error(flag + ": '" + text + "' is not an amount such as 512M or 2G");
  }
  return static_cast<std::int64_t>(*value * scale);
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    if (second.ec == std::errc() && second.ptr == end && shard.index >= 1 &&
        shard.index <= shard.count) {
      return shard;
    }
  }
  throw Error("--shard: '" + text + "' is not I/N with I from 1 to N, such as 2/8");
}

std::vector<engine::PageRange> parse_pages(const std::string& text) {
  const auto fail = [&] {
    return Error("--pages: '" + text + "' is no list of pages, from 1, such as 1,3-5");
  };
  std::vector<engine::PageRange> out;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](int& to) {
    const auto [after, error] = std::from_chars(at, end, to);
    if (error != std::errc() || to < 1) throw fail();
    at = after;
  };
  while (true) {
    engine::PageRange range;
    number(range.first);
    range.last = range.first;
    if (at != end && *at == '-') {
      ++at;
      range.last = std::numeric_limits<int>::max();
      if (at != end && *at != ',') number(range.last);
      if (range.last < range.first) throw fail();
    }
    out.push_back(range);
    if (at == end) return out;
    if (*at++ != ',') throw fail();
  }
}

double parse_seconds(const std::string& flag, const std::string& text) {
  constexpr double most = 1e9;
  const std::optional<double> value = is_number(text) ? number_value(text) : std::nullopt;
  if (!value || *value <= 0 || *value > most) {
    throw Error(flag + ": '" + text + "' is no number of seconds above 0, such as 2.5");
  }
  return *value;
}

std::string parse_frame_rate(const std::string& flag, const std::string& text) {
  constexpr std::size_t max_digits = 9;
  const auto is_whole = [](std::string_view digits) {
    return !digits.empty() && digits.size() <= max_digits &&
           digits.find_first_not_of("0123456789") == digits.npos &&
           digits.find_first_not_of('0') != digits.npos;
  };
  const std::string_view view(text);
  if (const size_t at = view.find_first_of("/:"); at != view.npos) {
    const std::string_view first = view.substr(0, at), second = view.substr(at + 1);
    if (is_whole(first) && is_whole(second)) return std::string(first) + ":" + std::string(second);
  } else if (const size_t point = view.find('.'); point != view.npos) {
    const std::string digits = std::string(view.substr(0, point)) + text.substr(point + 1);
    if (point > 0 && point + 1 < view.size() && is_whole(digits)) {
      return digits + ":1" + std::string(view.size() - point - 1, '0');
    }
  } else if (is_whole(view)) {
    return text + ":1";
  }
  throw Error(flag + ": '" + text + "' is no number of frames a second, such as 25 or 30000/1001");
}

std::vector<std::string> parse_names(const std::string& flag, const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    if (name.empty()) throw Error(flag + ": '" + text + "' has an empty name");
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw Error(flag + ": '" + text + "' has " + name + " twice");
    }
    names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

std::vector<std::int64_t> parse_frames(const std::string& text) {
  auto list = parse_frame_list(text);
  if (!list) {
    throw Error("--frames: '" + text +
                "' is no list of at most a million frames such as 1-100x2,120");
  }
  std::sort(list->frames.begin(), list->frames.end());
  list->frames.erase(std::unique(list->frames.begin(), list->frames.end()), list->frames.end());
  return std::move(list->frames);
}

int parse_choice(const std::string& flag, const std::string& text,
                 const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::string known;
  for (const std::string& word : words) known += (known.empty() ? "" : ", ") + word;
  throw Error(flag + ": '" + text + "' is none of " + known + did_you_mean(text, words));
}

PixelClass parse_class(const std::string& flag, const std::string& text) {
  constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                    PixelClass::single};
  std::vector<std::string> words;
  for (const PixelClass c : classes) words.emplace_back(name_of(c));
  return classes[parse_choice(flag, text, words)];
}

int parse_threads(int wanted) {
  constexpr int most = 1024;
  if (wanted < 0 || wanted > most) {
    throw Error("-j: " + std::to_string(wanted) +
                " is not a number of threads from 0 (all cores) to " + std::to_string(most));
  }
  // Looked at in any case: later on, memory may be out.
  const int usable = process_limits().threads;
  return wanted > 0 ? wanted : usable;
}

}  // namespace impipe::cli
