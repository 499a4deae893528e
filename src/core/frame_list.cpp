// Reads and writes lists of frame numbers.
#include "core/frame_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/text.hpp"

namespace impipe {
namespace {

constexpr std::size_t max_digits = 12;
constexpr std::int64_t max_frames = 1'000'000;

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::size_t length = text.starts_with('-') ? 1 : 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, number);
  if (error != std::errc() || end != text.data() + length || length > max_digits) return {};
  text.remove_prefix(length);
  return number;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// A number or a range, from the front of `text`; false where there is none.
bool take_range(std::string_view& text, FrameList& list) {
  const auto first = take_number(text);
  std::optional<std::int64_t> last = first, step = 1;
  if (take(text, '-')) {
    last = take_number(text);
    list.has_range = true;
  }
  const bool complement = take(text, 'y');
  if (complement || take(text, 'x') || take(text, ':')) step = take_number(text);
  if (!first || !last || !step || *step <= 0 || *last < *first) return false;
  const auto there = static_cast<std::int64_t>(list.frames.size());
  const std::int64_t stride = complement ? 1 : *step;
  if ((*last - *first) / stride + 1 + there > max_frames) return false;
  for (std::int64_t frame = *first; frame <= *last; frame += stride) {
    if (!complement || (frame - *first) % *step != 0) list.frames.push_back(frame);
  }
  return true;
}

}  // namespace

std::optional<FrameList> parse_frame_list(std::string_view text) {
  FrameList list;
  do {
    if (!take_range(text, list)) return {};
    list.has_range = list.has_range || text.starts_with(',');
  } while (take(text, ','));
  if (!text.empty() || list.frames.empty()) return {};
  return list;
}

std::string frame_list_text(std::span<const std::int64_t> frames) {
  std::string out;
  for (std::size_t begin = 0; begin < frames.size();) {
    std::size_t end = begin + 1;
    while (end < frames.size() && frames[end] == frames[end - 1] + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(frames[begin]);
    if (end - begin > 1) out += "-" + std::to_string(frames[end - 1]);
    begin = end;
  }
  return out;
}

std::string frame_text(std::int64_t frame, int digits) {
  std::string text = std::to_string(std::abs(frame));
  const auto wanted = static_cast<std::size_t>(digits);
  if (text.size() < wanted) text.insert(0, wanted - text.size(), '0');
  return frame < 0 ? "-" + text : text;
}

std::optional<std::int64_t> frame_number(const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  const auto digit = [](char c) { return is_digit(c); };
  const auto last = std::find_if(name.rbegin(), name.rend(), digit);
  const auto first = std::find_if_not(last, name.rend(), digit);
  auto begin = static_cast<std::size_t>(name.rend() - first);
  const auto end = static_cast<std::size_t>(name.rend() - last);
  if (begin > 0 && name[begin - 1] == '-' && (begin == 1 || name[begin - 2] == '.')) --begin;
  std::int64_t number = 0;
  const auto [at, error] = std::from_chars(name.data() + begin, name.data() + end, number);
  if (begin == end || error != std::errc() || at != name.data() + end) return {};
  return number;
}

}  // namespace impipe
