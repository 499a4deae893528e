// The lines of YUV4MPEG2 files.
#include <algorithm>
#include <charconv>
#include <optional>

#include "io/formats/y4m/y4m.hpp"

namespace impipe::io {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return {};
  return value;
}

// "420jpeg", "422p10", "mono12", …: what the word that begins with C says.
bool set_colours(Y4mHeader& header, std::string_view text) {
  const auto take = [&](std::string_view word) {
    const bool has = text.starts_with(word);
    if (has) text.remove_prefix(word.size());
    return has;
  };
  if (take("mono")) {
    header.mono = true;
    header.across = header.down = 1;
  } else if (take("420")) {
    if (take("jpeg") || take("mpeg2") || take("paldv")) return text.empty();
  } else if (take("422")) {
    header.down = 1;
  } else if (take("411")) {
    header.across = 4;
    header.down = 1;
  } else if (take("444")) {
    header.across = header.down = 1;
    if (take("alpha")) {
      header.alpha = true;
      return text.empty();
    }
  } else {
    return false;
  }
  if (text.empty()) return true;
  if (!header.mono && !take("p")) return false;
  const std::optional<int> bits = whole(text);
  header.bits = bits.value_or(0);
  return header.bits > 8 && header.bits <= 16;
}

std::string chroma_text(const Y4mHeader& header) {
  if (header.mono) return "gray";
  if (header.across == 4) return "4:1:1";
  return header.across == 1 ? "4:4:4" : header.down == 1 ? "4:2:2" : "4:2:0";
}

// Where the line that begins at `at` ends; -1 when it is none.
std::int64_t line_end(const ByteSource& source, std::int64_t at) {
  const std::string text = source.read_some(at, y4m_longest_line);
  const std::size_t end = text.find('\n');
  return end == text.npos ? -1 : at + static_cast<std::int64_t>(end);
}

// Throws Error where a second word says what frames are, or other things than the first of the
// rate, fields, pixels' shape or range.
void check_words(const std::vector<std::string>& words) {
  static constexpr std::string_view kinds[] = {"W", "H", "C", "F", "I", "A", "XCOLORRANGE="};
  for (const std::string_view kind : kinds) {
    const std::string* first = nullptr;
    for (const std::string& word : words) {
      if (!word.starts_with(kind)) continue;
      const bool once = kind == "W" || kind == "H" || kind == "C";
      if (first != nullptr && (once || word != *first)) {
        fail("damaged Y4M: its header has '", *first, "' and '", word, "'");
      }
      first = &word;
    }
  }
}

}  // namespace

Y4mHeader parse_y4m_header(std::string_view line) {
  Y4mHeader header;
  header.words = words_of(line);
  if (header.words.empty() || header.words.front() != y4m_signature) fail("damaged Y4M: no header");
  header.words.erase(header.words.begin());
  check_words(header.words);
  std::optional<bool> full;
  for (const std::string& word : header.words) {
    const std::string_view text = std::string_view(word).substr(1);
    if (word[0] == 'W' || word[0] == 'H') {
      const std::optional<int> side = whole(text);
      if (!side || *side <= 0) fail("damaged Y4M: its header has '", word, "'");
      (word[0] == 'W' ? header.size.width : header.size.height) = *side;
    } else if (word[0] == 'C' && !set_colours(header, text)) {
      fail("Y4M of colours '", text,
           "', which are not known; known are 420, 422, 444 and 411, with p9 to p16, 444alpha and "
           "mono");
    } else if (word == "XCOLORRANGE=FULL" || word == "XCOLORRANGE=LIMITED") {
      full = word.ends_with("FULL");
    }
  }
  if (header.size.width == 0 || header.size.height == 0)
    fail("damaged Y4M: its header has no size");
  header.full_range = full.value_or(header.mono);
  return header;
}

void check_y4m_frame_line(std::string_view line, std::int64_t frame) {
  if (line == "FRAME" || line.starts_with("FRAME ")) return;
  fail("damaged Y4M: frame ", frame + 1, " does not begin where it should");
}

ImageInfo info_of(const Y4mHeader& header) {
  ImageInfo info{.format = Format::y4m};
  info.stored = header.size;
  const PixelClass cls = header.bits > 8 ? PixelClass::uint16 : PixelClass::uint8;
  info.type = type_of(cls, header.mono ? 1 : 3, header.alpha);
  info.detail = depth_text(header.bits) + ", " + chroma_text(header) +
                (header.full_range ? ", full range" : ", limited range");
  for (const std::string& word : header.words) {
    if (word[0] == 'F') info.detail += ", " + word.substr(1) + " frames/s";
    if (word[0] == 'A' && word != "A1:1" && word != "A0:0") {
      info.detail += ", pixels of " + word.substr(1);
    }
    if (word == "It" || word == "Ib" || word == "Im") info.detail += ", interlaced";
  }
  return info;
}

ImageInfo y4m_info(const ByteSource& source) {
  std::int64_t at = line_end(source, 0);
  if (at < 0 && source.size() <= static_cast<std::int64_t>(y4m_longest_line)) {
    fail("truncated Y4M: its header has no end");
  }
  if (at < 0) fail("damaged Y4M: its header is longer than ", y4m_longest_line);
  const Y4mHeader header = parse_y4m_header(source.read(0, at));
  ImageInfo info = info_of(header);
  if (info.stored.width > max_side || info.stored.height > max_side) return info;
  info.pages = 0;
  for (++at; at < source.size(); ++info.pages) {
    const std::int64_t end = line_end(source, at);
    if (end < 0) {
      ++info.pages;  // its line is cut or damaged, which reading it tells
      break;
    }
    at = end + 1 + header.frame_bytes();
  }
  if (info.pages == 0) fail("Y4M without frames");
  return info;
}

}  // namespace impipe::io
