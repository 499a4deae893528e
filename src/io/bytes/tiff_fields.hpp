// Directories of a TIFF structure, TIFF files and EXIF blocks alike, as lists of fields that can be
// changed and written again.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/tiff_entry.hpp"

namespace impipe::io {

struct TiffField {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0;
  std::string value = {};  // all of it, in the byte order of its structure
  // What the value points at, of fields that name a directory (EXIF, GPS).
  std::vector<TiffField> children = {};
};
using TiffFields = std::vector<TiffField>;

TiffOrder tiff_order(const ByteSource& source);  // throws Error

// The field of a tag, or null.
const TiffField* field_of(const TiffFields& fields, std::uint16_t tag);
TiffField* field_of(TiffFields& fields, std::uint16_t tag);
// The index-th number of a field of whole numbers; 0 when there is none.
std::uint64_t number_of(const TiffField& field, const TiffOrder& order, std::uint64_t index = 0);
double rational_of(const TiffField& field, const TiffOrder& order);

struct TiffDirectory {
  TiffFields fields;
  bool damaged = false;               // some field's value lies outside the file, and is left out
  std::vector<std::uint16_t> beyond;  // tags of fields that are left out for `most`
};
// The fields that are wanted, of the directory that begins at `at`; EXIF's and GPS's directories as
// their children. most: bytes of values in all. Throws Error when there is no directory.
TiffDirectory read_fields(const ByteSource& source, const TiffOrder& order, std::int64_t at,
                          const std::function<bool(std::uint16_t tag)>& wanted,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Appends a directory, its children's first, to a structure; returns where it begins. Values that
// do not fit into the structure's offsets are an Error. base: bytes of the structure, an even
// number, that lie in front of those in `structure`.
std::uint64_t append_directory(std::string& structure, const TiffOrder& order, TiffFields fields,
                               std::uint64_t next = 0, std::uint64_t base = 0);
// Writes a number of 2, 4 or 8 bytes.
void put_number(std::string& structure, size_t at, std::uint64_t value, int bytes, bool big_endian);
TiffField numbers_field(std::uint16_t tag, std::uint16_t type,
                        const std::vector<std::uint64_t>& numbers, bool big_endian);
// The fraction of two numbers of 32 bits that is nearest to a positive number, or within 1e-10 of
// it.
std::array<std::uint64_t, 2> fraction_of(double value);
// The header of a classic structure whose first directory is still to be set.
std::string tiff_head(bool big_endian);
// A classic structure of one directory, as EXIF blocks are.
std::string tiff_block(bool big_endian, TiffFields fields);

}  // namespace impipe::io
