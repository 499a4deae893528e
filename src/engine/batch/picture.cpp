#include "engine/batch/picture.hpp"

#include <fmt/format.h>

#include "core/interleave.hpp"
#include "core/object_table.hpp"
#include "engine/batch/object_text.hpp"

namespace impipe::engine {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3;

}  // namespace

std::vector<FileReport::Row> kinds_of_rows(const Plan& plan, const Picture& picture) {
  FileReport::Row row;
  std::vector<const PlanMeasurement*> tables;
  const PlanMeasurement* saved = nullptr;
  if (!plan.writes_image && !plan.measurements.empty()) saved = &plan.measurements.back();
  const bool takes_table = table_format(std::filesystem::path(picture.output)).has_value();
  for (const PlanColumn& column : plan.columns) row.columns.push_back(column.name);
  for (const PlanMeasurement& measurement : plan.measurements) {
    if (measurement.objects) tables.push_back(&measurement);
    if (measurement.objects || measurement.in_columns) continue;
    const bool is_saved = &measurement == saved && !takes_table;
    if (is_saved && !picture.output.empty()) continue;
    const PlanValue& value = plan.values[measurement.value];
    row.arrays.push_back(
        {measurement.name, value.channels, value.values, measurement.matrix_columns, is_saved, {}});
  }
  if (tables.empty()) return {row};
  std::vector<FileReport::Row> rows;
  for (const PlanMeasurement* table : tables) {
    rows.push_back(row);
    if (tables.size() > 1) rows.back().table = table->name;
    for (std::string& name : object_columns(table->objects->intensities.has_value())) {
      rows.back().columns.push_back(std::move(name));
    }
  }
  return rows;
}

void PixelHash::mix(std::uint64_t byte) { hash_ = (hash_ ^ byte) * fnv_prime; }

void PixelHash::add(std::span<const Plane> planes, std::int64_t height) {
  const Size size = planes.front().size();
  if (!begun_) {
    mix(static_cast<std::uint64_t>(planes.front().cls()));
    mix(static_cast<std::uint64_t>(planes.size()));
    for (const std::int64_t side : {size.width, height}) {
      for (int shift = 0; shift < 64; shift += 8) {
        mix(static_cast<std::uint64_t>(side) >> shift & 255);
      }
    }
    begun_ = true;
  }
  // The channels of a pixel one after the other.
  const auto row_bytes = static_cast<size_t>(planes.front().row_bytes());
  std::vector<std::byte> row(row_bytes * planes.size());
  std::vector<const std::byte*> rows(planes.size());
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (size_t c = 0; c < planes.size(); ++c) rows[c] = planes[c].row(y);
    join_row(row.data(), rows.data(), static_cast<int>(rows.size()), bytes_of(planes.front().cls()),
             size.width);
    for (const std::byte byte : row) mix(static_cast<std::uint64_t>(byte));
  }
}

std::string PixelHash::text() const { return fmt::format("{:016x}", hash_); }

std::string pixel_hash(const HostImage& image) {
  PixelHash hash;
  hash.add(image.planes, image.size().height);
  if (!image.alpha.empty()) {
    hash.end_image();
    hash.add({&image.alpha, 1}, image.size().height);
  }
  return hash.text();
}

std::string text_hash(std::string_view text) {
  std::uint64_t hash = fnv_offset;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * fnv_prime;
  return fmt::format("{:016x}", hash);
}

const Picture::Failure Picture::out_of_memory{"decode", "out of memory"};

std::string Picture::Stream::Name::of(int frame) const {
  io::NameFields of_frame = fields;
  of_frame.page = frame;
  return name.expand(of_frame);
}

const std::map<std::string, ImageType>& Picture::partner_types() const {
  static const std::map<std::string, ImageType> none;
  return partners ? partners->types : none;
}

const std::map<std::string, Size>& Picture::partner_sizes() const {
  static const std::map<std::string, Size> none;
  return partners ? partners->sizes : none;
}

}  // namespace impipe::engine
