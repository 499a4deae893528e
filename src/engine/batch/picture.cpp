#include "engine/batch/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/object_table.hpp"
#include "core/volume.hpp"
#include "engine/batch/object_text.hpp"

namespace impipe::engine {
namespace {

bool is_table(const ImageReduction& reduction) {
  return reduction.volume && !reduction.volume->columns().empty();
}

}  // namespace

bool is_written_outline(const PlanMeasurement& measurement, const Plan& plan,
                        const Picture& picture) {
  if (!measurement.objects || !has_outlines(columns_of(*measurement.objects))) return false;
  const bool is_apart = picture.pages && !picture.pages->outputs.empty();
  const std::filesystem::path output = is_apart ? picture.pages->outputs.front() : picture.output;
  if (plan.writes_image || output.empty()) return false;
  return &measurement == (table_format(output) ? last_table(plan) : &plan.measurements.back());
}

std::vector<FileReport::Row> kinds_of_rows(const Plan& plan, const Picture& picture) {
  FileReport::Row row;
  std::vector<const PlanMeasurement*> tables;
  const PlanMeasurement* saved = nullptr;
  if (!plan.writes_image && !plan.measurements.empty()) saved = &plan.measurements.back();
  const bool takes_table = table_format(std::filesystem::path(picture.output)).has_value();
  for (const PlanColumn& column : plan.columns) row.columns.push_back(column.name);
  for (const PlanMeasurement& measurement : plan.measurements) {
    if (is_written_outline(measurement, plan, picture)) continue;
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
    for (std::string& name : columns_of(*table->objects)) {
      rows.back().columns.push_back(std::move(name));
    }
  }
  return rows;
}

std::vector<const Program*> Picture::parts() const {
  std::vector<const Program*> out{&part_of(*program, first_part)};
  while (out.back()->then && out.back()->then->reduction.across != ImageReduction::Across::files) {
    out.push_back(out.back()->then->program.get());
  }
  return out;
}

PageList Picture::all_pages() const {
  return pages ? PageList{pages->numbers, pages->axes} : PageList{{0}, {}};
}

PageList Picture::pages_before(size_t part) const {
  PageList out = all_pages();
  const std::vector<const Program*> all = parts();
  for (size_t i = 0; i < part; ++i) {
    out = pages_after(all[i]->then->reduction, out);
  }
  return out;
}

bool Picture::is_one_image(size_t part) const {
  const std::vector<const Program*> all = parts();
  const bool has_several = pages && pages->numbers.size() > 1;
  for (size_t i = 0; i < part; ++i) {
    const ImageReduction& reduction = all[i]->then->reduction;
    const bool may_be_one = is_table(reduction) || (reduction.volume && has_several) ||
                            reduction.across == ImageReduction::Across::pages;
    if (may_be_one && pages_before(i + 1).numbers.size() == 1) return true;
  }
  return false;
}

int Picture::only_page() const {
  const bool is_one_of_many = pages && pages->numbers.size() == 1 && pages->others.empty();
  return is_one_of_many ? pages->numbers.front() + 1 : frame;
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
