// Reads and writes lists of TIFF fields.
#include "io/bytes/tiff_fields.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace impipe::io {
namespace {

constexpr std::uint16_t exif_directory = 34665, gps_directory = 34853, interop_directory = 40965;
constexpr std::uint16_t long_type = 4, long8_type = 16;

bool names_directory(std::uint16_t tag) {
  return tag == exif_directory || tag == gps_directory || tag == interop_directory;
}

class FieldReader {
 public:
  FieldReader(const ByteSource& source, const TiffOrder& order,
              const std::function<bool(std::uint16_t)>& wanted, std::int64_t most)
      : source_(source), order_(order), wanted_(wanted), left_(source.size()), room_(most) {}

  // `depth` of EXIF's own directories is 1 or 2.
  TiffDirectory read(std::int64_t at, int depth) {
    TiffDirectory out;
    const TiffTable table(source_, order_, at);
    if (table.count() > TiffTable::most) fail("a directory that claims ", table.count(), " fields");
    table.visit([&](const TiffTable::Entry& entry) { add(out, entry, depth); });
    std::ranges::stable_sort(out.fields,
                             [](const TiffField& a, const TiffField& b) { return a.tag < b.tag; });
    return out;
  }

 private:
  void add(TiffDirectory& out, const TiffTable::Entry& entry, int depth) {
    TiffField field{.tag = static_cast<std::uint16_t>(entry.tag),
                    .type = static_cast<std::uint16_t>(entry.type),
                    .count = entry.count};
    if (depth == 0 && !wanted_(field.tag)) return;
    const auto item = static_cast<std::uint64_t>(tiff_type_bytes(field.type));
    // No two values share their bytes in a sound file, so all are no longer than it.
    if (item == 0 || field.count > static_cast<std::uint64_t>(left_) / item) {
      out.damaged = true;
      return;
    }
    const std::uint64_t bytes = field.count * item;
    if (bytes > static_cast<std::uint64_t>(room_)) {
      out.beyond.push_back(field.tag);
      return;
    }
    room_ -= static_cast<std::int64_t>(bytes);
    if (bytes <= entry.value.size()) {
      field.value = entry.value.substr(0, bytes);
    } else {
      const std::int64_t from = order_.offset(entry.value, 0);
      field.value = source_.read_some(from, static_cast<std::int64_t>(bytes));
      left_ -= static_cast<std::int64_t>(bytes);
    }
    if (field.value.size() != bytes) {
      out.damaged = true;
      return;
    }
    if (names_directory(field.tag) && depth < 2) {
      try {
        TiffDirectory child = read(static_cast<std::int64_t>(number_of(field, order_)), depth + 1);
        out.damaged = out.damaged || child.damaged;
        out.beyond.insert(out.beyond.end(), child.beyond.begin(), child.beyond.end());
        field.children = std::move(child.fields);
      } catch (const Error& error) {
        if (error.may_pass()) throw;
        out.damaged = true;
        return;
      }
    }
    out.fields.push_back(std::move(field));
  }

  const ByteSource& source_;
  const TiffOrder& order_;
  const std::function<bool(std::uint16_t)>& wanted_;
  std::int64_t left_;  // bytes of values that a sound file may still have
  std::int64_t room_;  // and that may still be read
};

// BigTIFF's types of 8 bytes are unknown elsewhere: the same numbers in 4. False when they do not
// fit.
bool made_classic(TiffField& field, bool big_endian) {
  if (field.type < long8_type) return true;
  TiffField narrow{.tag = field.tag,
                   .type = static_cast<std::uint16_t>(field.type == 17 ? 9 : long_type),
                   .count = field.count,
                   .children = std::move(field.children)};
  for (std::uint64_t i = 0; i < field.count; ++i) {
    const std::uint64_t number = number_at(field.value, 8 * i, 8, big_endian);
    const auto as_signed = static_cast<std::int64_t>(number);
    const bool fits =
        field.type == 17 ? as_signed == static_cast<std::int32_t>(as_signed) : number <= 0xffffffff;
    if (!fits) return false;
    narrow.value += number_text(number & 0xffffffff, 4, big_endian);
  }
  field = std::move(narrow);
  return true;
}

}  // namespace

TiffOrder tiff_order(const ByteSource& source) {
  const std::string head = source.read(0, 8);
  const std::uint64_t version = number_at(head, 2, 2, head[0] == 'M');
  const bool known = head.starts_with("II") || head.starts_with("MM");
  if (!known || (version != 42 && version != 43)) fail("no TIFF structure");
  return order_of_head(source);
}

const TiffField* field_of(const TiffFields& fields, std::uint16_t tag) {
  const auto found =
      std::ranges::find_if(fields, [&](const TiffField& field) { return field.tag == tag; });
  return found == fields.end() ? nullptr : &*found;
}

TiffField* field_of(TiffFields& fields, std::uint16_t tag) {
  return const_cast<TiffField*>(field_of(std::as_const(fields), tag));
}

std::uint64_t number_of(const TiffField& field, const TiffOrder& order, std::uint64_t index) {
  const int bytes = tiff_type_bytes(field.type);
  if (index >= field.count || bytes == 0) return 0;
  return number_at(field.value, index * static_cast<size_t>(bytes), bytes, order.big_endian);
}

double rational_of(const TiffField& field, const TiffOrder& order) {
  if (field.type != 5 || field.count < 1) return static_cast<double>(number_of(field, order));
  const std::uint64_t under = number_at(field.value, 4, 4, order.big_endian);
  const std::uint64_t over = number_at(field.value, 0, 4, order.big_endian);
  return under == 0 ? 0 : static_cast<double>(over) / static_cast<double>(under);
}

TiffDirectory read_fields(const ByteSource& source, const TiffOrder& order, std::int64_t at,
                          const std::function<bool(std::uint16_t tag)>& wanted, std::int64_t most) {
  return FieldReader(source, order, wanted, most).read(at, 0);
}

void put_number(std::string& structure, size_t at, std::uint64_t value, int bytes,
                bool big_endian) {
  structure.replace(at, static_cast<size_t>(bytes), number_text(value, bytes, big_endian));
}

TiffField numbers_field(std::uint16_t tag, std::uint16_t type,
                        const std::vector<std::uint64_t>& numbers, bool big_endian) {
  TiffField field{.tag = tag, .type = type, .count = numbers.size()};
  const bool rational = type == 5;  // pairs
  if (rational) field.count /= 2;
  const int bytes = rational ? 4 : tiff_type_bytes(type);
  for (const std::uint64_t number : numbers) field.value += number_text(number, bytes, big_endian);
  return field;
}

std::array<std::uint64_t, 2> fraction_of(double value) {
  constexpr double most = 4294967295.0, little = 1e-10;
  if (value * most <= 1) return {1, static_cast<std::uint64_t>(most)};
  // Convergents of the continued fraction, each from the two before it.
  double over = 1, under = 0, over_before = 0, under_before = 1, rest = value;
  while (true) {
    const double whole = std::floor(rest);
    const double next_over = whole * over + over_before, next_under = whole * under + under_before;
    if (next_over > most || next_under > most) break;
    over_before = std::exchange(over, next_over);
    under_before = std::exchange(under, next_under);
    if (std::abs(over / under - value) <= little * value || rest == whole) break;
    rest = 1 / (rest - whole);
  }
  if (under == 0) return {static_cast<std::uint64_t>(most), 1};
  return {static_cast<std::uint64_t>(over), static_cast<std::uint64_t>(under)};
}

std::string tiff_head(bool big_endian) {
  return (big_endian ? "MM" : "II") + number_text(42, 2, big_endian) +
         number_text(0, 4, big_endian);
}

std::string tiff_block(bool big_endian, TiffFields fields) {
  std::string block = tiff_head(big_endian);
  const std::uint64_t at = append_directory(block, {.big_endian = big_endian}, std::move(fields));
  put_number(block, 4, at, 4, big_endian);
  return block;
}

std::uint64_t append_directory(std::string& structure, const TiffOrder& order, TiffFields fields,
                               std::uint64_t next, std::uint64_t base) {
  const bool big = order.big_endian;
  const int offset_bytes = order.offset_bytes();
  if (!order.big_tiff) {
    std::erase_if(fields, [&](TiffField& field) { return !made_classic(field, big); });
  }
  for (TiffField& field : fields) {
    if (field.children.empty()) continue;
    const std::uint64_t at = append_directory(structure, order, std::move(field.children), 0, base);
    field = numbers_field(field.tag, order.big_tiff ? long8_type : long_type, {at}, big);
  }
  std::ranges::stable_sort(fields,
                           [](const TiffField& a, const TiffField& b) { return a.tag < b.tag; });
  std::string entries;
  entries += number_text(fields.size(), order.big_tiff ? 8 : 2, big);
  const auto even = [&] {
    if (structure.size() % 2 != 0) structure += '\0';
  };
  for (const TiffField& field : fields) {
    entries += number_text(field.tag, 2, big);
    entries += number_text(field.type, 2, big);
    entries += number_text(field.count, offset_bytes, big);
    std::string inside = field.value;
    if (inside.size() > static_cast<size_t>(offset_bytes)) {
      even();
      inside.clear();
      inside += number_text(base + structure.size(), offset_bytes, big);
      structure += field.value;
    }
    inside.resize(static_cast<size_t>(offset_bytes));
    entries += inside;
  }
  entries += number_text(next, offset_bytes, big);
  even();
  const std::uint64_t begin = base + structure.size();
  if (!order.big_tiff && begin + entries.size() > 0xffffffff) {
    fail("TIFF cannot hold more than 4 GiB");
  }
  structure += entries;
  return begin;
}

}  // namespace impipe::io
