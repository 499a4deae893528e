// The elements of a DICOM as they lie in the file (PS3.5, PS3.10).
#include "io/formats/dicom/module/dicom_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {
namespace {

constexpr DicomTag item = 0xfffee000, item_end = 0xfffee00d, sequence_end = 0xfffee0dd;
constexpr std::uint64_t no_length = 0xffffffff;  // up to a delimiter
constexpr int max_depth = 40;                    // of sequences in sequences

// Reads what follows each other. Errors say that the file is truncated.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::size_t& at, DicomOrder order)
      : bytes_(bytes), at_(at), order_(order) {}
  bool is_at_end() const { return at_ >= bytes_.size(); }
  std::uint64_t number(int count) {
    need(static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return number_at(bytes_, at_ - static_cast<std::size_t>(count), count, order_.big_endian);
  }
  DicomTag tag() {
    const auto group = static_cast<DicomTag>(number(2));
    return group << 16 | static_cast<DicomTag>(number(2));
  }
  std::string_view take(std::uint64_t count) {
    need(count);
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  // As many as there are.
  std::string_view take_some(std::uint64_t count) {
    return take(std::min<std::uint64_t>(count, bytes_.size() - at_));
  }

 private:
  void need(std::uint64_t count) const {
    if (at_ > bytes_.size() || count > bytes_.size() - at_) {
      fail("truncated: the header ends at byte ", bytes_.size());
    }
  }
  std::string_view bytes_;
  std::size_t& at_;
  DicomOrder order_;
};

void skip_items(std::string_view bytes, std::size_t& at, DicomOrder order, int depth) {
  Cursor cursor(bytes, at, order);
  for (;;) {
    const DicomTag tag = cursor.tag();
    const std::uint64_t length = cursor.number(4);
    if (tag == sequence_end) return;
    if (tag != item) fail("damaged DICOM: a sequence without items");
    if (length != no_length) {
      cursor.take(length);
    } else {
      DicomData::read(bytes, at, order, depth + 1);
    }
  }
}

// The length of the element's value; and what it is, where the file says so.
std::uint64_t read_length(Cursor& cursor, DicomTag tag, DicomOrder& order, DicomElement& element) {
  constexpr DicomTag group_of_items = 0xfffe0000;
  if (order.implicit || (tag & 0xffff0000) == group_of_items) return cursor.number(4);
  const std::string_view kind = cursor.take(2);
  static constexpr std::string_view longer[] = {"OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                                "SV", "UC", "UN", "UR", "UT", "UV"};
  element.has_items = kind == "SQ";
  element.is_words = kind == "OW";
  if (std::ranges::find(longer, kind) == std::end(longer)) return cursor.number(2);
  cursor.number(2);
  const std::uint64_t length = cursor.number(4);
  // What was not known to a writer is as it came from an implicit file.
  if (kind == "UN" && length == no_length) order.implicit = true;
  return length;
}

std::string inflated(std::string_view packed) {
  constexpr std::size_t most = 256 << 20;
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size(), UINT32_MAX));
  std::string out;
  for (int status = Z_OK; status == Z_OK;) {
    const std::size_t done = out.size();
    if (done >= most) fail("a deflated DICOM of more than 256 MiB is not read");
    out.resize(std::min(most, std::max<std::size_t>(1 << 16, 2 * done)));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(out.size() - done);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_DATA_ERROR) fail("damaged DICOM: it cannot be inflated");
  }
  return out;
}

}  // namespace

DicomData DicomData::read(std::string_view bytes, std::size_t& at, DicomOrder order, int depth) {
  if (depth > max_depth) fail("damaged DICOM: sequences in more than ", max_depth, " others");
  DicomData out;
  out.order_ = order;
  Cursor cursor(bytes, at, order);
  while (!cursor.is_at_end()) {
    const DicomTag tag = cursor.tag();
    DicomElement element_read;
    DicomOrder own = order;
    const std::uint64_t length = read_length(cursor, tag, own, element_read);
    if (tag == item_end || tag == sequence_end) break;
    DicomElement& element = out.elements_[tag] = element_read;
    element.has_items = element.has_items || length == no_length;
    if (length != no_length) {
      element.value = tag == dicom_pixels_tag ? cursor.take_some(length) : cursor.take(length);
      continue;
    }
    const std::size_t begin = at;
    if (tag == dicom_pixels_tag) {  // whose pieces dicom_pieces reads
      element.value = cursor.take_some(bytes.size() - at);
      break;
    }
    skip_items(bytes, at, own, depth);
    element.value = bytes.substr(begin, at - begin);
  }
  return out;
}

const DicomElement* DicomData::find(DicomTag tag) const {
  const auto found = elements_.find(tag);
  return found == elements_.end() ? nullptr : &found->second;
}

std::optional<DicomData> dicom_item(const DicomElement& sequence, std::size_t number,
                                    DicomOrder order) {
  std::size_t at = 0;
  Cursor cursor(sequence.value, at, order);
  while (!cursor.is_at_end()) {
    const DicomTag tag = cursor.tag();
    const std::uint64_t length = cursor.number(4);
    if (tag != item) break;
    if (length == no_length) {
      DicomData data = DicomData::read(sequence.value, at, order);
      if (number-- == 0) return data;
      continue;
    }
    const std::string_view value = cursor.take(length);
    std::size_t begin = 0;
    if (number-- == 0) return DicomData::read(value, begin, order);
  }
  return {};
}

std::vector<std::string_view> dicom_pieces(const DicomElement& pixels) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  Cursor cursor(pixels.value, at, {});
  // Of a file that is cut off the codec says what is missing.
  constexpr std::size_t head = 8;
  while (at + head <= pixels.value.size() && cursor.tag() == item) {
    out.push_back(cursor.take_some(cursor.number(4)));
  }
  return out;
}

DicomFile read_dicom(std::string_view bytes) {
  constexpr std::size_t preamble = 132;
  constexpr DicomTag syntax_tag = 0x00020010, group_of_file = 0x0002;
  DicomFile out;
  std::size_t at = bytes.substr(std::min(bytes.size(), preamble - 4), 4) == "DICM" ? preamble : 0;
  while (number_at(bytes, at, 2, false) == group_of_file) {
    Cursor cursor(bytes, at, {});
    const DicomTag tag = cursor.tag();
    DicomElement element;
    DicomOrder order;
    const std::string_view value = cursor.take(read_length(cursor, tag, order, element));
    if (tag == syntax_tag) out.syntax = value;
  }
  while (!out.syntax.empty() && (out.syntax.back() == '\0' || out.syntax.back() == ' ')) {
    out.syntax.pop_back();
  }
  if (out.syntax.empty() && at == preamble) {
    fail("damaged DICOM: it does not say how it is stored");
  }
  if (out.syntax.empty()) {  // by whether types of values follow the tags
    const auto is_letter = [&](std::size_t i) {
      return i < bytes.size() && bytes[i] >= 'A' && bytes[i] <= 'Z';
    };
    const bool has_types = is_letter(at + 4) && is_letter(at + 5);
    constexpr std::uint64_t first_group = 8;
    const bool big_endian = at == 0 && number_at(bytes, at, 2, true) == first_group;
    out.syntax = big_endian  ? "1.2.840.10008.1.2.2"
                 : has_types ? "1.2.840.10008.1.2.1"
                             : "1.2.840.10008.1.2";
  }
  if (out.syntax == "1.2.840.10008.1.2.1.99") {
    out.inflated = std::make_shared<const std::string>(inflated(bytes.substr(at)));
    bytes = *out.inflated;
    at = 0;
  }
  out.data = DicomData::read(bytes, at,
                             {.implicit = out.syntax == "1.2.840.10008.1.2",
                              .big_endian = out.syntax == "1.2.840.10008.1.2.2"});
  return out;
}

}  // namespace impipe::io
