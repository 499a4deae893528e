// The elements of a DICOM as they lie in the file (PS3.5, PS3.10). gdcm's own reader ends the
// program by assertions where a file is damaged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace impipe::io {

// "0028,0010" is 0x00280010.
using DicomTag = std::uint32_t;
constexpr DicomTag dicom_pixels_tag = 0x7fe00010;

struct DicomOrder {
  bool implicit = false;  // elements do not say what their values are
  bool big_endian = false;
};

struct DicomElement {
  std::string_view value;  // of a sequence: its items
  bool has_items = false;  // of pixels: they are packed, each item is a piece of them
  bool is_words = false;   // bytes of it are the halves of 16-bit words
};

// Elements that belong together: those of a file, or of an item of a sequence.
class DicomData {
 public:
  // Those in `bytes` from `at` on, up to a delimiter; `at` is moved behind it. Throws Error.
  static DicomData read(std::string_view bytes, std::size_t& at, DicomOrder order, int depth = 0);

  const DicomElement* find(DicomTag tag) const;
  const std::map<DicomTag, DicomElement>& all() const { return elements_; }
  DicomOrder order() const { return order_; }

 private:
  std::map<DicomTag, DicomElement> elements_;
  DicomOrder order_;
};

// An item of a sequence, from 0; nothing where there are fewer.
std::optional<DicomData> dicom_item(const DicomElement& sequence, std::size_t number,
                                    DicomOrder order);
// The values of the items of packed pixels, the table of offsets first.
std::vector<std::string_view> dicom_pieces(const DicomElement& pixels);

struct DicomFile {
  std::string syntax;  // how it is stored, a number such as 1.2.840.10008.1.2.1
  DicomData data;
  std::shared_ptr<const std::string> inflated;  // in which the values lie, where it was deflated
};
// The file's bytes stay meanwhile. Throws Error.
DicomFile read_dicom(std::string_view bytes);

}  // namespace impipe::io
