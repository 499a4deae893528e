// Walks the steps of a plan: allocates what each makes, launches it, lets go of what is no longer
// read, and brings the results back to the host.
#include "engine/program/executor.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/host_work.hpp"
#include "core/object_shape.hpp"
#include "core/object_table.hpp"
#include "core/one_nan.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::engine {
namespace {

class Execution {
 public:
  Execution(const Program& program, Queue& queue, const ExecuteOptions& options)
      : program_(program),
        plan_(program.plan),
        queue_(queue),
        options_(options),
        values_(plan_.values.size()) {}

  std::vector<Outcome> run(std::vector<Material> materials) {
    count_ = materials.size();
    outcomes_.resize(count_);
    const Material& first = materials.front();
    std::map<std::string, Size> operand_sizes;
    for (const auto& [name, image] : first.operands) operand_sizes[name] = image.size();
    for (const auto& [name, image] : first.there) operand_sizes[name] = image.pixels->size();
    read_ = first.read;
    sizes_ = sizes_of(program_, read_.by > 1 ? read_.full : first.size(), operand_sizes);
    sizes_[0] = first.size();
    if (plan_.input_alpha && !first.is_coded() && !first.there.contains("")) {
      for (Material& material : materials) {
        if (material.image.alpha.cls() != plan_.values[*plan_.input_alpha].type.cls) {
          throw Error("its alpha has another class than its pixels", ExitCode::file_failed);
        }
        alphas_.push_back({std::move(material.image.alpha)});
      }
    }
    if (options_.timed) {
      queue_.begin_notes();
      queue_.note_as(no_step);
    }
    if (options_.kernels_first) {
      for (size_t s = 0; s < plan_.steps.size(); ++s) wait_for_kernel(s);
    }
    upload(std::move(materials));
    try {
      run_steps();
      collect();
    } catch (...) {
      find_not_decoded();
      if (any_not_decoded()) throw NotDecoded();
      throw;
    }
    find_not_decoded();
    if (count_ == 1 && any_not_decoded()) throw NotDecoded();
    if (options_.timed) outcomes_.front().activity = queue_.take_notes();
    return std::move(outcomes_);
  }

 private:
  static constexpr int no_step = -1;  // what is noted of uploads and downloads

  void run_steps() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      if (options_.stop()) throw Error("stopped", ExitCode::file_failed);
      wait_for_kernel(s);
      if (options_.timed) {
        run_timed(s);
      } else {
        launch_step(program_, s, sizes_, values_, queue_, static_cast<int>(count_), read_);
      }
      for (const ValueId id : program_.dead_after[s]) values_[id] = {};
    }
  }

  // A kernel that is still being compiled is not the device's work.
  void wait_for_kernel(size_t step) {
    constexpr double ready = 1e-5;  // seconds that it takes to find it so
    const double start = steady_seconds();
    wait_for(program_.kernels[step], options_.stop);
    const double end = steady_seconds();
    if (end - start > ready) {
      outcomes_.front().kernel_waits.push_back({.begin = start, .end = end});
    }
  }

  void run_timed(size_t step) {
    Outcome& outcome = outcomes_.front();
    const std::int64_t launches = queue_.launches();
    queue_.note_as(static_cast<int>(step));
    launch_step(program_, step, sizes_, values_, queue_, static_cast<int>(count_), read_);
    queue_.note_as(no_step);
    outcome.step_launches.push_back(queue_.launches() - launches);
    for (Outcome& each : outcomes_) each.step_bytes.push_back(bytes_moved(plan_.steps[step]));
  }

  double bytes_moved(const Step& step) const {
    double bytes = 0;
    for (const std::vector<ValueId>& ids : {step.inputs, step.outputs}) {
      for (const ValueId id : ids) bytes += image_bytes(id);
    }
    return bytes;
  }

  double image_bytes(ValueId id) const {
    return static_cast<double>(sizes_[id].pixels() * bytes_per_pixel(plan_.values[id]));
  }

  std::shared_ptr<DevicePlane> upload_one(const std::vector<Planes>& images) {
    return count_ == 1 ? queue_.upload(images.front()) : queue_.upload_stack(images);
  }
  // image_of: of a material.
  template <class ImageOf>
  std::shared_ptr<DevicePlane> upload_one(const std::vector<Material>& materials,
                                          ImageOf image_of) {
    std::vector<Planes> images;
    for (const Material& material : materials) images.push_back(image_of(material).planes);
    return upload_one(images);
  }

  // All of them coded, and of one form.
  void decode(const std::vector<Material>& materials) {
    const int count = static_cast<int>(count_);
    const ImageType& type = plan_.values[0].type;
    Launch launch;
    double bytes = 0;  // that the device reads
    for (const Material& material : materials) {
      if (material.coded) {
        launch.jpegs.push_back(material.coded.get());
        bytes += static_cast<double>(material.coded->bytes.size());
      } else {
        launch.packed.push_back(material.packed.get());
        bytes += static_cast<double>(material.packed->data_bytes());
      }
    }
    values_[0].plane = queue_.allocate_stack(type.cls, type.channels, sizes_[0], count);
    faults_ = queue_.allocate_measure_stack(1, launch.packed.empty() ? 1 : 2, count);
    launch.outputs = {values_[0], {nullptr, faults_}};
    if (plan_.input_alpha) {
      DeviceValue& alpha = values_[*plan_.input_alpha];
      alpha.plane = queue_.allocate_stack(type.cls, 1, sizes_[0], count);
      launch.outputs.push_back(alpha);
    }
    keep_carried(launch);
    for (Outcome& each : outcomes_) each.decoding.bytes = bytes / count + image_bytes(0);
    outcomes_.front().decoding.launches = run_codec(*options_.decoder, launch, decoding_tag);
    if (plan_.input_alpha && !values_read(plan_)[*plan_.input_alpha]) {
      values_[*plan_.input_alpha] = {};
    }
  }

  // The chunks of pictures whose results have more channels than they.
  void keep_carried(Launch& launch) {
    if (launch.packed.empty() || launch.packed.front()->form.carried == 0) return;
    const PackedForm& form = launch.packed.front()->form;
    const std::vector<CodedOutput> outputs = coded_outputs();
    if (outputs.empty() || !outputs.front().packed ||
        !carries_alike(form, *outputs.front().packed)) {
      return;
    }
    const std::int64_t bytes =
        form.chunks() * form.chunk_step() * static_cast<std::int64_t>(count_);
    carried_ = {queue_.allocate(PixelClass::uint8, 1, {bytes, 1}), nullptr};
    launch.outputs.push_back(carried_);
  }

  // Returns the number of kernels.
  std::int64_t run_codec(const Kernel& codec, const Launch& launch, int tag) {
    const std::int64_t launches = queue_.launches();
    if (options_.timed) queue_.note_as(tag);
    queue_.run(codec, launch);
    if (options_.timed) queue_.note_as(no_step);
    return queue_.launches() - launches;
  }

  // Asked at the end, when it takes no time to wait for: what was computed of a picture that was
  // not decoded means nothing, and so does its error.
  void find_not_decoded() {
    if (!faults_) return;
    const auto faults = std::exchange(faults_, nullptr);
    const std::vector<double> numbers = queue_.download(*faults);
    const size_t each = numbers.size() / count_;
    for (size_t i = 0; i < count_; ++i) {
      outcomes_[i].not_decoded = numbers[each * i] != 0;
      outcomes_[i].glows = each > 1 && numbers[each * i + 1] != 0;
    }
  }
  bool any_not_decoded() const {
    return std::any_of(outcomes_.begin(), outcomes_.end(),
                       [](const Outcome& outcome) { return outcome.not_decoded; });
  }

  // Takes an image that is in the device's memory; false: there is none of the name.
  bool take_there(const Material& material, const std::string& name, ValueId pixels,
                  std::optional<ValueId> alpha) {
    const auto found = material.there.find(name);
    if (found == material.there.end()) return false;
    values_[pixels].plane = found->second.pixels;
    if (alpha) values_[*alpha].plane = found->second.alpha;
    return true;
  }

  void upload(std::vector<Material> materials) {
    const std::vector<bool> read = values_read(plan_);
    for (const auto& [name, image] : materials.front().there) {
      unchanged_.insert({image.pixels.get(), image.alpha.get()});
    }
    if (materials.front().is_coded()) {
      decode(materials);
    } else if (!take_there(materials.front(), "", 0, plan_.input_alpha) && read[0]) {
      values_[0].plane =
          upload_one(materials, [](const Material& m) -> const HostImage& { return m.image; });
    }
    if (!alphas_.empty() && read_by_steps(plan_)[*plan_.input_alpha]) {
      values_[*plan_.input_alpha].plane = upload_one(alphas_);
    }
    put_constants(plan_, values_, queue_, static_cast<int>(count_));
    for (const PlanOperand& operand : plan_.operands) {
      if (take_there(materials.front(), operand.name, operand.value, operand.alpha)) continue;
      if (!read[operand.value]) continue;
      values_[operand.value].plane = upload_one(
          materials,
          [&](const Material& m) -> const HostImage& { return m.operands.at(operand.name); });
    }
    for (const PlanOperand& operand : plan_.operands) {
      if (!operand.alpha || !read[*operand.alpha] || values_[*operand.alpha].plane) continue;
      std::vector<Planes> alphas;
      for (const Material& m : materials) alphas.push_back({m.operands.at(operand.name).alpha});
      if (alphas.front().front().cls() != plan_.values[*operand.alpha].type.cls) {
        throw Error(":" + operand.name + " has an alpha of another class than its pixels",
                    ExitCode::file_failed);
      }
      values_[*operand.alpha].plane = upload_one(alphas);
    }
  }

  // A value's planes for each of the stack. An alpha that no step changed never left the host.
  std::vector<Planes> planes_of(ValueId id) {
    if (is_on_host(id)) return alphas_;
    if (has_one_nan(id)) {
      values_[id].plane = changeable(values_[id].plane);
      queue_.run(*options_.one_nan, {.spec = nullptr, .inputs = {}, .outputs = {values_[id]}});
    }
    if (count_ > 1) return queue_.download_stack(*values_[id].plane);
    return {queue_.download(*values_[id].plane)};
  }

  // Whether it is an alpha as the host decoded it.
  bool is_on_host(ValueId id) const { return id == plan_.input_alpha && !alphas_.empty(); }

  // Whether the device sees to an image's NaNs.
  bool has_one_nan(ValueId id) const {
    return options_.one_nan != nullptr && !is_on_host(id) &&
           plan_.values[id].type.cls == PixelClass::single;
  }

  // As they leave the program, with one NaN.
  std::vector<HostImage> images_of(ValueId id, std::optional<ValueId> alpha) {
    std::vector<Planes> pixels = planes_of(id), alphas;
    if (alpha) alphas = planes_of(*alpha);
    std::vector<HostImage> images(count_);
    for (size_t i = 0; i < count_; ++i) {
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

  // The plane, or a copy where it is another's memory or a result already.
  std::shared_ptr<DevicePlane> changeable(std::shared_ptr<DevicePlane> plane) {
    return unchanged_.contains(plane.get()) ? queue_.joined({&plane, 1}) : plane;
  }

  // A result that stays on the device, with one NaN.
  std::shared_ptr<DevicePlane> plane_of(ValueId id) {
    if (is_on_host(id)) return queue_.upload(alphas_.front());
    const auto plane = changeable(values_[id].plane);
    if (has_one_nan(id)) {
      queue_.run(*options_.one_nan, {.spec = nullptr, .inputs = {}, .outputs = {{plane, nullptr}}});
    }
    unchanged_.insert(plane.get());
    return plane;
  }

  DeviceImage device_image_of(ValueId id, std::optional<ValueId> alpha, HostImage& image) {
    image.type = plan_.values[id].type;
    image.type.alpha = alpha.has_value();
    return {plane_of(id), alpha ? plane_of(*alpha) : nullptr};
  }

  void keep_on_device() {
    Outcome& outcome = outcomes_.front();
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
      found = downloaded_.emplace(id, queue_.download(*values_[id].measure)).first;
      make_one_nan(found->second);
    }
    return found->second;
  }

  // What the results are to become on the device; empty where any of them is not to.
  std::vector<CodedOutput> coded_outputs() const {
    std::vector<CodedOutput> outputs;
    const PlanValue& result = plan_.values[plan_.result];
    const bool has_like_alpha =
        !plan_.result_alpha || plan_.values[*plan_.result_alpha].type.cls == result.type.cls;
    if (!options_.coded_output || !has_like_alpha) return outputs;
    for (size_t i = 0; i < count_; ++i) {
      CodedOutput output =
          options_.coded_output(i, result.type, sizes_[plan_.result], outcomes_[i].glows);
      if (!output.encoder || (i > 0 && !output.is_like(outputs.front()))) return {};
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  // Encodes the results on the device; false where some are not.
  bool encode_results() {
    if (plan_.result_alpha) find_not_decoded();  // and which of them glow
    const std::vector<CodedOutput> outputs = coded_outputs();
    if (outputs.empty()) return false;
    const CodedOutput& first = outputs.front();
    const bool carries = first.packed && first.packed->carried > 0;
    if (carries && !carried_.plane) return false;
    const Kernel& encoder = *first.encoder;
    const int count = static_cast<int>(count_);
    const std::int64_t each = 2 + (first.packed ? first.packed->chunks() : 0);
    const std::int64_t bytes =
        first.packed ? packed_room(*first.packed) : jpeg_room(first.jpeg->form);
    const DeviceValue room{queue_.allocate_stack(PixelClass::uint8, 1, {bytes, 1}, count), nullptr};
    const auto measured = queue_.allocate_measure_stack(1, each, count);
    Launch launch{
        .spec = nullptr, .inputs = {values_[plan_.result]}, .outputs = {room, {nullptr, measured}}};
    for (const CodedOutput& one : outputs) {
      if (one.jpeg) launch.jpegs.push_back(one.jpeg.get());
      launch.glows.push_back(one.glows ? 1 : 0);
    }
    if (first.packed) launch.packing = &*first.packed;
    if (plan_.result_alpha) {
      DeviceValue& alpha = values_[*plan_.result_alpha];
      if (!alpha.plane) alpha.plane = upload_one(alphas_);
      launch.inputs.push_back(alpha);
    }
    if (carries) launch.inputs.push_back(carried_);
    CodecWork& work = outcomes_.front().encoding;
    work.launches = run_codec(encoder, launch, encoding_tag);
    const std::vector<double> numbers = queue_.download(*measured);
    const CodedPlaces places(numbers, static_cast<size_t>(each));
    if (places.size.height == 0) return false;
    const Launch taking{.spec = nullptr,
                        .inputs = {room, {nullptr, measured}},
                        .outputs = {{queue_.allocate(PixelClass::uint8, 1, places.size), nullptr}}};
    work.launches += run_codec(encoder, taking, encoding_tag);
    take_coded(places, numbers, queue_.download(*taking.outputs.front().plane).front());
    return std::all_of(outcomes_.begin(), outcomes_.end(),
                       [](const Outcome& outcome) { return !outcome.coded.empty(); });
  }

  // numbers: of each image its bytes, a flag, and the bytes of its chunks.
  void take_coded(const CodedPlaces& places, const std::vector<double>& numbers, Plane data) {
    const auto plane = std::make_shared<const Plane>(std::move(data));
    const size_t each = numbers.size() / count_;
    for (size_t i = 0; i < count_; ++i) {
      if (places.bytes[i] == 0) continue;
      Outcome& outcome = outcomes_[i];
      std::span<const std::byte> left{plane->row(0) + places.begins[i],
                                      static_cast<size_t>(places.bytes[i])};
      for (size_t chunk = 2; chunk < each; ++chunk) {
        const auto bytes = static_cast<size_t>(numbers[each * i + chunk]);
        outcome.coded.push_back(left.first(bytes));
        left = left.subspan(bytes);
      }
      if (each == 2) outcome.coded.push_back(left);
      outcome.encoding.bytes = image_bytes(plan_.result) + static_cast<double>(places.bytes[i]);
      outcome.coded_plane = plane;
      outcome.coded_size = sizes_[plan_.result];
      outcome.image.type = plan_.values[plan_.result].type;
    }
  }

  // Rows from what the device summed; where it could not, from the pixels.
  std::vector<Measurement> tables_of(const ObjectTable& table) {
    if (table.rows) return rows_of(table);
    if (table.intensities && sizes_[*table.intensities] != sizes_[table.labels]) {
      throw Error("regionprops: the labels are " + to_string(sizes_[table.labels]) +
                      ", the image is " + to_string(sizes_[*table.intensities]),
                  ExitCode::file_failed);
    }
    const bool with = table.intensities.has_value();
    std::vector<Planes> labels, intensities;
    if (needs_labels(table.columns)) labels = planes_of(table.labels);
    if (needs_intensities(table.columns)) intensities = planes_of(*table.intensities);
    std::vector<Measurement> tables(count_);
    const auto take = [&](size_t i, std::vector<double> rows) {
      if (!table.columns.empty()) {
        const auto plane = [&](const std::vector<Planes>& of) {
          return of.empty() ? nullptr : &of[i].front();
        };
        rows = chosen_columns(rows, table, {plane(labels), plane(intensities)});
      }
      tables[i].values = std::ssize(rows);
      tables[i].numbers = std::move(rows);
      tables[i].columns = static_cast<int>(columns_of(table).size());
    };
    if (table.records) {
      const std::vector<double>& records = numbers_of(*table.records);
      if (!has_faults(records)) {
        take(0, object_rows(records, with, table.scale));
        return tables;
      }
    }
    if (labels.empty()) labels = planes_of(table.labels);
    if (with && intensities.empty()) intensities = planes_of(*table.intensities);
    for (size_t i = 0; i < count_; ++i) {
      const Plane* beside = intensities.empty() ? nullptr : &intensities[i].front();
      take(i, measure_objects(labels[i].front(), beside, table.scale));
    }
    return tables;
  }

  // What the host makes of the images.
  std::vector<Measurement> rows_of(const ObjectTable& table) {
    const std::vector<Planes> images = planes_of(table.labels);
    std::vector<Planes> others;
    if (table.intensities) others = planes_of(*table.intensities);
    std::vector<Measurement> tables(count_);
    for (size_t i = 0; i < count_; ++i) {
      const Plane* beside = others.empty() ? nullptr : &others[i].front();
      tables[i].numbers = table.rows(images[i].front(), beside);
      tables[i].values = std::ssize(tables[i].numbers);
      tables[i].columns = static_cast<int>(table.columns.size());
    }
    return tables;
  }

  std::vector<Measurement> measured(const PlanMeasurement& of) {
    if (of.objects) return tables_of(*of.objects);
    const PlanValue& value = plan_.values[of.value];
    const std::vector<double>& numbers = numbers_of(of.value);
    const auto each = static_cast<std::ptrdiff_t>(numbers.size() / count_);
    std::vector<Measurement> out;
    for (size_t i = 0; i < count_; ++i) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i) * each;
      out.push_back({value.channels, value.values, {begin, begin + each}, of.matrix_columns});
    }
    return out;
  }

  // Of a stack: the images are then done one by one, and those that may be are.
  void refuse() {
    for (const PlanCheck& check : plan_.checks) {
      const std::vector<double>& numbers = numbers_of(check.value);
      if (std::any_of(numbers.begin(), numbers.end(), [](double number) { return number != 0; })) {
        if (check.on_cpu) throw OutOfDeviceMemory(check.problem);
        throw Error(check.problem, ExitCode::file_failed);
      }
    }
  }

  void collect() {
    refuse();
    for (const PlanColumn& column : plan_.columns) {
      const PlanValue& value = plan_.values[column.value];
      const std::vector<double>& numbers = numbers_of(column.value);
      for (size_t i = 0; i < count_; ++i) {
        const size_t channel =
            i * static_cast<size_t>(value.channels) + static_cast<size_t>(column.channel);
        outcomes_[i].columns.push_back(numbers[channel * static_cast<size_t>(value.values) +
                                               static_cast<size_t>(column.element)]);
      }
    }
    for (const PlanMeasurement& measurement : plan_.measurements) {
      std::vector<Measurement> made = measured(measurement);
      for (size_t i = 0; i < count_; ++i) outcomes_[i].measurements.push_back(std::move(made[i]));
    }
    downloaded_.clear();
    if (options_.stays) return keep_on_device();
    for (const PlanSave& save : plan_.saves) {
      std::vector<HostImage> images = images_of(save.value, save.alpha);
      for (size_t i = 0; i < count_; ++i) outcomes_[i].saves.push_back(std::move(images[i]));
    }
    if (plan_.writes_image && !encode_results()) {
      std::vector<HostImage> images = images_of(plan_.result, plan_.result_alpha);
      for (size_t i = 0; i < count_; ++i) {
        if (outcomes_[i].coded.empty()) outcomes_[i].image = std::move(images[i]);
      }
    }
  }

  const Program& program_;
  const Plan& plan_;
  Queue& queue_;
  const ExecuteOptions& options_;
  std::vector<DeviceValue> values_;
  std::shared_ptr<DeviceMeasure> faults_;   // of what was decoded here
  DeviceValue carried_;                     // what the files have besides their pictures
  std::vector<Planes> alphas_;              // of the input, a plane an image
  std::set<const DevicePlane*> unchanged_;  // memory that others read
  std::vector<Size> sizes_;
  Shrunk read_;
  size_t count_ = 1;  // images of the stack
  std::vector<Outcome> outcomes_;
  std::map<ValueId, std::vector<double>> downloaded_;
};

// Numbers a channel that a measurement has in this launch.
std::int64_t values_now(const PlanValue& value, const std::vector<DeviceValue>& made,
                        const std::vector<Size>& sizes, Queue& queue) {
  if (!value.counted_by) return value.values;
  const double largest = queue.download(*made[*value.counted_by].measure).front();
  return value.values * (1 + objects_numbered(largest, sizes[value.measured_image]));
}

void check_sizes(const OnHost& what, const Step& step, const std::vector<Size>& sizes) {
  std::vector<Size> of;
  for (const impipe::Operand& image : step.kernel.nodes.front().images) {
    of.push_back(sizes[step.inputs[static_cast<size_t>(image.index)]]);
  }
  if (what.work->check) what.work->check(of);
}

void make_on_host(const OnHost& what, const Plan& plan, const Step& step,
                  const std::vector<Size>& sizes, std::vector<DeviceValue>& values, Queue& queue) {
  std::vector<Planes> images;
  for (const impipe::Operand& image : step.kernel.nodes.front().images) {
    const ValueId id = step.inputs[static_cast<size_t>(image.index)];
    const bool is_read = images.size() >= what.work->unread;
    images.push_back(is_read ? queue.download(*values[id].plane) : Planes{});
  }
  const ValueId made = step.outputs.front();
  const ImageType& type = plan.values[made].type;
  Planes result = new_planes(type.cls, type.channels, sizes[made]);
  what.work->make(images, result);
  values[made].plane = queue.upload(result);
}

}  // namespace

std::vector<bool> read_by_steps(const Plan& plan) {
  std::vector<bool> read(plan.values.size());
  for (const Step& step : plan.steps) {
    for (const ValueId id : step.inputs) read[id] = true;
  }
  return read;
}

std::vector<bool> values_read(const Plan& plan) {
  std::vector<bool> read = read_by_steps(plan);
  for (const ValueId value : written_images(plan)) read[value] = true;
  for (const ValueId value : object_images(plan)) read[value] = true;
  return read;
}

void put_constants(const Plan& plan, std::vector<DeviceValue>& values, Queue& queue, int count) {
  if (plan.constants.empty()) return;
  const std::vector<bool> read = read_by_steps(plan);
  for (const PlanConstant& constant : plan.constants) {
    if (!read[constant.value]) continue;
    values[constant.value].measure = queue.upload_measure(
        constant.table->numbers(), plan.values[constant.value].channels, count);
  }
}

void launch_step(const Program& program, size_t step, const std::vector<Size>& sizes,
                 std::vector<DeviceValue>& values, Queue& queue, int count, const Shrunk& read) {
  const Plan& plan = program.plan;
  const Step& what = plan.steps[step];
  if (const auto* on_host = std::get_if<OnHost>(&what.kernel.nodes.front().primitive)) {
    check_sizes(*on_host, what, sizes);
    if (program.kernels[step].get() == nullptr) {
      return make_on_host(*on_host, plan, what, sizes, values, queue);
    }
  }
  const PlaneKernel& planes = program.planes[step];
  Launch launch{.spec = &planes.spec, .inputs = {}, .outputs = {}};
  for (const int input : planes.inputs) launch.inputs.push_back(values[what.inputs[input]]);
  for (const int output : planes.outputs) {
    const ValueId id = what.outputs[output];
    const PlanValue& value = plan.values[id];
    DeviceValue& made = values[id];
    if (value.is_measure && !made.measure) {
      made.measure = queue.allocate_measure_stack(value.channels,
                                                  values_now(value, values, sizes, queue), count);
    } else if (!value.is_measure && !made.plane) {
      made.plane = queue.allocate_stack(value.type.cls, value.type.channels, sizes[id], count);
    }
    launch.outputs.push_back(made);
  }
  KernelSpec sized;
  if (!program.sized[step].empty()) {
    sized = planes.spec;
    for (const SizedArgument& argument : program.sized[step]) {
      sized.nodes[argument.node].arguments[argument.place].value =
          value_of(argument.argument, sizes[argument.image]);
    }
    launch.spec = &sized;
  }
  const auto& ids = what.inputs;
  if (read.by > 1 && std::find(ids.begin(), ids.end(), 0) != ids.end()) {
    sized = *launch.spec;
    for (Node& node : sized.nodes) {
      if (std::holds_alternative<Resample>(node.primitive)) set_arguments(node, read);
    }
    launch.spec = &sized;
  }
  if (plan.values[what.outputs.front()].counted_by) {
    sized = planes.spec;
    sized.nodes.front().values = launch.outputs.front().measure->values();
    launch.spec = &sized;
  }
  const Kernel& kernel = *program.kernels[step].get();
  queue.run(kernel, launch);
}

Outcome execute(const Program& program, Material material, Queue& queue,
                const ExecuteOptions& options) {
  std::vector<Material> one;
  one.push_back(std::move(material));
  return std::move(Execution(program, queue, options).run(std::move(one)).front());
}

std::vector<Outcome> execute_stack(const Program& program, std::vector<Material> materials,
                                   Queue& queue, const ExecuteOptions& options) {
  return Execution(program, queue, options).run(std::move(materials));
}

}  // namespace impipe::engine
