// Brings what a program made of a stack of images back to the host.
#include <algorithm>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/object_shape.hpp"
#include "core/object_table.hpp"
#include "core/one_nan.hpp"
#include "engine/program/device_stack.hpp"

namespace impipe::engine {
namespace {

class StackResults {
 public:
  explicit StackResults(DeviceStack& stack) : stack_(stack) {}

  void collect() {
    refuse();
    for (size_t i = 0; i < stack_.count; ++i) {
      for (const PlanColumn& column : plan_.columns) {
        const PlanValue& value = plan_.values[column.value];
        const auto channel = static_cast<std::int64_t>(i) * value.channels + column.channel;
        stack_.outcomes[i].columns.push_back(
            numbers_of(column.value)[channel * value.values + column.element]);
      }
    }
    for (const PlanMeasurement& measurement : plan_.measurements) {
      for (size_t i = 0; i < stack_.count; ++i) {
        stack_.outcomes[i].measurements.push_back(measured(measurement, i));
      }
      planes_.clear();
    }
    downloaded_.clear();
    if (stack_.options.stays) return keep_on_device();
    for (const PlanSave& save : plan_.saves) {
      std::vector<HostImage> images = images_of(save.value, save.alpha);
      for (size_t i = 0; i < images.size(); ++i) {
        stack_.outcomes[i].saves.push_back(std::move(images[i]));
      }
    }
    if (plan_.writes_image && !encode_results(stack_)) {
      std::vector<HostImage> images = images_of(plan_.result, plan_.result_alpha);
      for (size_t i = 0; i < stack_.count; ++i) {
        if (stack_.outcomes[i].coded.empty()) stack_.outcomes[i].image = std::move(images[i]);
      }
    }
  }

 private:
  // A value's planes for each of the stack. An alpha that no step changed never left the host.
  std::vector<Planes> planes_of(ValueId id) {
    if (is_on_host(id)) return stack_.alphas;
    if (has_one_nan(id)) stack_.values[id].plane = own_plane(id);
    if (stack_.count > 1) return queue_.download_stack(*stack_.values[id].plane);
    return {queue_.download(*stack_.values[id].plane)};
  }

  // Whether it is an alpha as the host decoded it.
  bool is_on_host(ValueId id) const { return id == plan_.input_alpha && !stack_.alphas.empty(); }

  // Whether the device sees to an image's NaNs.
  bool has_one_nan(ValueId id) const {
    return stack_.options.one_nan != nullptr && !is_on_host(id) &&
           plan_.values[id].type.cls == PixelClass::single;
  }

  // As they leave the program, with one NaN.
  std::vector<HostImage> images_of(ValueId id, std::optional<ValueId> alpha) {
    std::vector<Planes> pixels = planes_of(id), alphas;
    if (alpha) alphas = planes_of(*alpha);
    std::vector<HostImage> images(stack_.count);
    for (size_t i = 0; i < stack_.count; ++i) {
      images[i].type = plan_.values[id].type;
      images[i].planes = std::move(pixels[i]);
      images[i].type.alpha = alpha.has_value();
      if (alpha) images[i].alpha = std::move(alphas[i].front());
      if (!has_one_nan(id)) {
        for (Plane& plane : images[i].planes) make_one_nan(plane);
      }
      if (alpha && !has_one_nan(*alpha)) make_one_nan(images[i].alpha);
    }
    return images;
  }

  // A value's plane with one NaN: a copy where it is another's memory or a result already.
  std::shared_ptr<DevicePlane> own_plane(ValueId id) {
    std::shared_ptr<DevicePlane> plane = stack_.values[id].plane;
    if (stack_.unchanged.contains(plane.get())) plane = queue_.joined({&plane, 1});
    if (has_one_nan(id)) {
      queue_.run(*stack_.options.one_nan,
                 {.spec = nullptr, .inputs = {}, .outputs = {{plane, nullptr}}});
    }
    return plane;
  }

  // A result that stays on the device.
  std::shared_ptr<DevicePlane> plane_of(ValueId id) {
    if (is_on_host(id)) return queue_.upload(stack_.alphas.front());
    const auto plane = own_plane(id);
    stack_.unchanged.insert(plane.get());
    return plane;
  }

  DeviceImage device_image_of(ValueId id, std::optional<ValueId> alpha, HostImage& image) {
    image.type = plan_.values[id].type;
    image.type.alpha = alpha.has_value();
    return {plane_of(id), alpha ? plane_of(*alpha) : nullptr};
  }

  void keep_on_device() {
    Outcome& outcome = stack_.outcomes.front();
    for (const PlanSave& save : plan_.saves) {
      HostImage& image = outcome.saves.emplace_back();
      outcome.saves_there.push_back(device_image_of(save.value, save.alpha, image));
    }
    if (plan_.writes_image) {
      outcome.there = device_image_of(plan_.result, plan_.result_alpha, outcome.image);
    }
    queue_.wait();
  }

  // All images' numbers of a measurement, [images][channels][values].
  const std::vector<double>& numbers_of(ValueId id) {
    auto found = downloaded_.find(id);
    if (found == downloaded_.end()) {
      found = downloaded_.emplace(id, queue_.download(*stack_.values[id].measure)).first;
      make_one_nan(found->second);
    }
    return found->second;
  }

  // Of image i, a plane that a table is made from; null for none.
  const Plane* table_plane(std::optional<ValueId> id, size_t i) {
    if (!id) return nullptr;
    const auto [planes, is_new] = planes_.try_emplace(*id);
    if (is_new) planes->second = planes_of(*id);
    return &planes->second[i].front();
  }

  // Rows from what the device summed; where it could not, from the pixels.
  std::vector<double> rows_of(const ObjectTable& table, size_t i) {
    const auto labels = [&] { return table_plane(table.labels, i); };
    const auto intensities = [&] { return table_plane(table.intensities, i); };
    if (table.rows) return table.rows(*labels(), intensities());
    const bool with = table.intensities.has_value();
    if (with && stack_.sizes[*table.intensities] != stack_.sizes[table.labels]) {
      throw Error("regionprops: the labels are " + to_string(stack_.sizes[table.labels]) +
                      ", the image is " + to_string(stack_.sizes[*table.intensities]),
                  ExitCode::file_failed);
    }
    const auto* records = table.records ? &numbers_of(*table.records) : nullptr;
    std::vector<double> rows = records != nullptr && !has_faults(*records)
                                   ? object_rows(*records, with, table.scale)
                                   : measure_objects(*labels(), intensities(), table.scale);
    if (table.columns.empty()) return rows;
    return chosen_columns(rows, table,
                          {needs_labels(table.columns) ? labels() : nullptr,
                           needs_intensities(table.columns) ? intensities() : nullptr});
  }

  Measurement measured(const PlanMeasurement& of, size_t i) {
    if (of.objects) {
      std::vector<double> rows = rows_of(*of.objects, i);
      const auto columns = static_cast<int>(columns_of(*of.objects).size());
      return {1, std::ssize(rows), std::move(rows), columns};
    }
    const PlanValue& value = plan_.values[of.value];
    const std::vector<double>& numbers = numbers_of(of.value);
    const auto each = std::ssize(numbers) / static_cast<std::ptrdiff_t>(stack_.count);
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i) * each;
    return {value.channels, value.values, {begin, begin + each}, of.matrix_columns};
  }

  // Of a stack: the images are then done one by one, and those that may be are.
  void refuse() {
    for (const PlanCheck& check : plan_.checks) {
      if (std::ranges::all_of(numbers_of(check.value), [](double n) { return n == 0; })) continue;
      if (check.on_cpu) throw OutOfDeviceMemory(check.problem);
      throw Error(check.problem, ExitCode::file_failed);
    }
  }

  DeviceStack& stack_;
  const Plan& plan_ = stack_.plan;
  Queue& queue_ = stack_.queue;
  std::map<ValueId, std::vector<double>> downloaded_;
  std::map<ValueId, std::vector<Planes>> planes_;  // of a table
};

}  // namespace

void collect_results(DeviceStack& stack) { StackResults(stack).collect(); }

}  // namespace impipe::engine
