// The headers of JPEGs as libjpeg-turbo reads them, as far as there is no doubt about their
// meaning; and their entropy-coded data without what is stuffed into them.
#include "io/formats/jpeg/jpeg_scan.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/jpeg_order.hpp"
#include "core/kept_bytes.hpp"
#include "io/formats/jpeg/jpeg_metadata.hpp"

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

constexpr int quantisation = 0xdb, restarts = 0xdd, huffman = 0xc4, baseline = 0xc0,
              extended = 0xc1, first_restart = 0xd0;
constexpr int max_pixels = 65500;                        // a side, of libjpeg's
constexpr std::size_t max_bytes = std::size_t{1} << 28;  // bits are counted in 32 bits
constexpr std::int64_t max_blocks = std::int64_t{1} << 24;

struct Component {
  int id = 0, across = 0, down = 0, steps = 0, dc = 0, ac = 0;
};

// Headers up to the scan; false where any of them is not as usual.
class Headers {
 public:
  bool read(std::string_view file) {
    if (file.size() < 4 || word_at(file, 0) != (0xff << 8 | start_of_image)) return false;
    for (at_ = 2; at_ + 4 <= file.size();) {
      if (byte_at(file, at_) != 0xff) return false;
      const int marker = byte_at(file, at_ + 1);
      const auto size = static_cast<std::size_t>(word_at(file, at_ + 2)) + 2;
      if (size < 4 || at_ + size > file.size()) return false;
      const std::string_view body = file.substr(at_ + 4, size - 4);
      at_ += size;
      if (marker == start_of_scan) return scan(body);
      if (!segment(marker, body)) return false;
    }
    return false;
  }
  // Where the scan's data begin.
  std::size_t end() const { return at_; }

  // What the headers say, of a picture whose components are as they should be.
  bool fill(CodedJpeg& to) const {
    const Component& first = components_.front();
    JpegForm& form = to.form;
    form.size = size_;
    form.components = static_cast<int>(components_.size());
    if (form.components == 3) {
      if (!is_ycbcr()) return false;
      const Component &blue = components_[1], &red = components_[2];
      if (blue.across != 1 || blue.down != 1 || red.across != 1 || red.down != 1) return false;
      if (first.across > 2 || first.down > 2) return false;
      if (blue.dc != red.dc || blue.ac != red.ac) return false;
      form.across = first.across;
      form.down = first.down;
    }
    for (std::size_t i = 0; i < components_.size(); ++i) {
      const Component& component = components_[i];
      const auto steps = static_cast<std::size_t>(component.steps);
      if (steps > 3 || !steps_[steps]) return false;
      to.tables.steps[i] = *steps_[steps];
      if (i == 2) break;
      const auto dc = static_cast<std::size_t>(component.dc);
      const auto ac = static_cast<std::size_t>(component.ac);
      if (dc > 3 || ac > 3 || !codes_[0][dc] || !codes_[1][ac]) return false;
      to.tables.dc[i] = *codes_[0][dc];
      to.tables.ac[i] = *codes_[1][ac];
      const auto& symbols = to.tables.dc[i].symbols;
      if (std::ranges::any_of(symbols, [](int s) { return s > 15; })) return false;
    }
    if (form.blocks() > max_blocks) return false;
    to.units_a_segment = interval_ == 0 ? form.units() : interval_;
    return true;
  }

 private:
  bool segment(int marker, std::string_view body) {
    switch (marker) {
      case quantisation: return read_steps(body);
      case huffman: return read_codes(body);
      case baseline:
      case extended: return frame(body);
      case restarts:
        if (body.size() != 2) return false;
        interval_ = word_at(body, 0);
        return true;
      case app0: jfif_ = jfif_ || (body.size() >= 14 && body.starts_with("JFIF\0"sv)); return true;
      case app14:
        if (body.size() >= 12 && body.starts_with("Adobe"sv)) adobe_ = byte_at(body, 11);
        return true;
      default: return marker == comment || (marker > app0 && marker <= app15);
    }
  }

  bool frame(std::string_view body) {
    if (!components_.empty() || body.size() < 6) return false;
    const int count = byte_at(body, 5);
    size_ = {word_at(body, 3), word_at(body, 1)};
    if (byte_at(body, 0) != 8 || (count != 1 && count != 3)) return false;
    if (body.size() != static_cast<std::size_t>(6 + 3 * count)) return false;
    if (size_.width < 1 || size_.height < 1) return false;
    if (std::max(size_.width, size_.height) > max_pixels) return false;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(6 + 3 * i);
      const int sampling = byte_at(body, at + 1);
      Component one{byte_at(body, at), sampling >> 4, sampling & 15, byte_at(body, at + 2), 0, 0};
      if (one.across < 1 || one.across > 4 || one.down < 1 || one.down > 4) return false;
      for (const Component& other : components_) {
        if (other.id == one.id) return false;
      }
      components_.push_back(one);
    }
    return true;
  }

  bool read_steps(std::string_view body) {
    while (!body.empty()) {
      const int head = byte_at(body, 0), which = head & 15;
      const std::size_t each = (head >> 4) == 0 ? 1 : 2;
      if (head >> 4 > 1 || which > 3 || body.size() < 1 + 64 * each) return false;
      auto& table = steps_[static_cast<std::size_t>(which)].emplace();
      for (std::size_t i = 0; i < 64; ++i) {
        const int step = each == 1 ? byte_at(body, 1 + i) : word_at(body, 1 + 2 * i);
        if (step > 32767) return false;
        table[jpeg_natural_order[i]] = static_cast<std::uint16_t>(step);
      }
      body.remove_prefix(1 + 64 * each);
    }
    return true;
  }

  bool read_codes(std::string_view body) {
    while (!body.empty()) {
      if (body.size() < 17) return false;
      const int head = byte_at(body, 0), which = head & 15;
      if (head >> 4 > 1 || which > 3) return false;
      HuffmanCodes codes;
      std::size_t sum = 0;
      unsigned code = 0;  // the first that is free
      for (std::size_t length = 1; length <= 16; ++length) {
        codes.counts[length] = static_cast<std::uint8_t>(byte_at(body, length));
        sum += codes.counts[length];
        code = 2 * code + codes.counts[length];
        // None is all ones.
        if (codes.counts[length] != 0 && code >= 1u << length) return false;
      }
      if (sum > 256 || body.size() < 17 + sum) return false;
      for (std::size_t i = 0; i < sum; ++i) {
        codes.symbols[i] = static_cast<std::uint8_t>(byte_at(body, 17 + i));
      }
      const auto kind = static_cast<std::size_t>(head >> 4);
      codes_[kind][static_cast<std::size_t>(which)] = codes;
      body.remove_prefix(17 + sum);
    }
    return true;
  }

  bool scan(std::string_view body) {
    const std::size_t count = components_.size();
    if (count == 0 || body.size() != 4 + 2 * count) return false;
    if (static_cast<std::size_t>(byte_at(body, 0)) != count) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (byte_at(body, 1 + 2 * i) != components_[i].id) return false;
      components_[i].dc = byte_at(body, 2 + 2 * i) >> 4;
      components_[i].ac = byte_at(body, 2 + 2 * i) & 15;
    }
    const std::string_view range = body.substr(1 + 2 * count);
    return byte_at(range, 0) == 0 && byte_at(range, 1) == 63 && byte_at(range, 2) == 0;
  }

  bool is_ycbcr() const {
    if (jfif_) return true;
    if (adobe_) return *adobe_ == 1;
    return components_[0].id == 1 && components_[1].id == 2 && components_[2].id == 3;
  }

  std::size_t at_ = 0;
  Size size_;
  std::vector<Component> components_;
  std::array<std::optional<std::array<std::uint16_t, 64>>, 4> steps_;
  std::array<std::array<std::optional<HuffmanCodes>, 4>, 2> codes_;  // of DC, of AC
  std::int64_t interval_ = 0;
  bool jfif_ = false;
  std::optional<int> adobe_;  // the transform
};

// Copies the segments of a scan, of which there are `count`; false where they do not end as they
// should, or one has as many bytes too many as libjpeg would tell of.
bool copy_segments(std::string_view data, std::int64_t count, CodedJpeg& to) {
  constexpr std::size_t word = 4;
  std::vector<std::byte>& out = to.bytes;
  out = kept_room(data.size() + word * static_cast<std::size_t>(count));
  to.segments.reserve(static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t at = 0;;) {
    const void* found = std::memchr(data.data() + at, 0xff, data.size() - at);
    if (found == nullptr) return false;
    const auto next = static_cast<std::size_t>(static_cast<const char*>(found) - data.data());
    if (next + 1 >= data.size()) return false;
    const int code = byte_at(data, next + 1);
    const std::size_t run = next - at + (code == 0 ? 1 : 0);
    const auto* from = reinterpret_cast<const std::byte*>(data.data() + at);
    out.insert(out.end(), from, from + run);
    at = next + 2;
    if (code == 0) continue;
    to.segments.push_back(
        {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(out.size() - begin)});
    const auto done = static_cast<std::int64_t>(to.segments.size());
    out.resize((out.size() + word - 1) / word * word);
    if (done == count) return code == end_of_image;
    if (code != first_restart + (done - 1) % 8) return false;
    begin = out.size();
  }
}

}  // namespace

std::optional<CodedJpeg> scan_jpeg(std::span<const std::byte> file) {
  if (file.size() > max_bytes) return {};
  Headers headers;
  CodedJpeg made;
  if (!headers.read(text_of(file)) || !headers.fill(made)) return {};
  const std::int64_t segments =
      (made.form.units() + made.units_a_segment - 1) / made.units_a_segment;
  const std::string_view data = text_of(file).substr(headers.end());
  // A segment ends with a marker.
  if (segments > static_cast<std::int64_t>(data.size() / 2)) return {};
  if (!copy_segments(data, segments, made)) return {};
  return made;
}

}  // namespace impipe::io
