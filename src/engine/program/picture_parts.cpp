#include "engine/program/picture_parts.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/interruption.hpp"
#include "core/one_nan.hpp"
#include "engine/program/bands.hpp"

namespace impipe::engine {
namespace {

// Of a band: below it a transfer does not reach the link's speed, and a launch costs more than what
// overlaps.
constexpr std::int64_t enough_bytes = 8 << 20;
constexpr std::int64_t max_bands = 16;
// One band goes up while another is computed and a third comes down.
constexpr int lanes = 3;
// Rows that two bands compute are computed twice.
constexpr std::int64_t rows_a_row_of_halo = 8;

// Rows of a band; 0: the picture goes as a whole.
std::int64_t rows_of_bands(const Program& program, const Material& material,
                           const ExecuteOptions& options) {
  const Plan& plan = program.plan;
  const Size size = material.image.size();
  const PlanValue& result = plan.values[plan.result];
  const bool is_encoded = options.coded_output && plan.writes_image &&
                          options.coded_output(0, result.type, size, false).encoder != nullptr;
  if (material.is_coded() || options.stays || material.read.by > 1 || is_encoded ||
      plan.steps.empty() || plan.input_alpha || plan.result_alpha ||
      std::any_of(program.kernels.begin(), program.kernels.end(), is_compiling)) {
    return 0;
  }
  const std::int64_t bytes = size.pixels() * bytes_per_pixel(plan.values[0]);
  const std::int64_t bands = std::min(bytes / enough_bytes, max_bands);
  if (bands < 2) return 0;
  const std::int64_t rows = (size.height + bands - 1) / bands;
  const Banding banding = banding_of(program);
  const bool pays = rows >= rows_a_row_of_halo * (banding.halo.up + banding.halo.down);
  return banding.why_not.empty() && pays ? rows : 0;
}

class InParts {
 public:
  // The queue has others beside it.
  InParts(const Program& program, const HostImage& image, Queue& queue,
          const ExecuteOptions& options)
      : program_(program), plan_(program.plan), image_(image.planes), options_(options) {
    lanes_.push_back(&queue);
    for (int i = 0; i + 1 < lanes; ++i) lanes_.push_back(queue.beside(i));
    const ImageType& type = plan_.values[plan_.result].type;
    outcome_.image.type = type;
    outcome_.image.planes = new_planes(type.cls, type.channels, image.size());
  }

  bool reaches_result() { return lanes_.front()->reaches(outcome_.image.planes); }

  Outcome run(std::int64_t rows) {
    const std::int64_t height = outcome_.image.size().height;
    const Halo halo = banding_of(program_).halo;
    if (options_.timed) note_first();
    std::vector<std::vector<DeviceValue>> first;  // of each lane, what all its bands read
    for (Queue* queue : lanes_) {
      put_constants(plan_, first.emplace_back(plan_.values.size()), *queue);
    }
    size_t lane = 0;
    for (std::int64_t y = 0; y < height;) {
      const Band band = band_at(y, height, halo, rows, 1);
      compute(band, *lanes_[lane], first[lane]);
      lane = (lane + 1) % lanes_.size();
      y = band.y_end;
    }
    for (Queue* queue : lanes_) queue->wait();
    if (!has_one_nan()) {
      for (Plane& plane : outcome_.image.planes) make_one_nan(plane);
    }
    for (Queue* queue : lanes_) {
      if (!options_.timed) break;
      const std::vector<Activity> notes = queue->take_notes();
      outcome_.activity.insert(outcome_.activity.end(), notes.begin(), notes.end());
    }
    return std::move(outcome_);
  }

 private:
  // Whether the device sees to the result's NaNs.
  bool has_one_nan() const {
    return options_.one_nan != nullptr && outcome_.image.type.cls == PixelClass::single;
  }

  void note_first() {
    for (Queue* queue : lanes_) queue->begin_notes();
    outcome_.step_launches.resize(plan_.steps.size());
    const auto pixels = static_cast<double>(outcome_.image.size().pixels());
    for (const Step& step : plan_.steps) {
      double& bytes = outcome_.step_bytes.emplace_back();
      for (const std::vector<ValueId>& ids : {step.inputs, step.outputs}) {
        for (const ValueId id : ids) bytes += pixels * bytes_per_pixel(plan_.values[id]);
      }
    }
  }

  void compute(const Band& band, Queue& queue, std::vector<DeviceValue> values) {
    if (options_.stop()) throw Error("stopped", ExitCode::file_failed);
    queue.note_as(no_step);
    values[0].plane = queue.upload_rows(image_, band.input_y, band.input_end);
    const std::vector<Size> sizes = sizes_of(program_, values[0].plane->size(), {});
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const std::int64_t launches = queue.launches();
      queue.note_as(static_cast<int>(s));
      launch_step(program_, s, sizes, values, queue);
      if (options_.timed) outcome_.step_launches[s] += queue.launches() - launches;
      for (const ValueId id : program_.dead_after[s]) values[id] = {};
    }
    queue.note_as(no_step);
    const DeviceValue& result = values[plan_.result];
    if (has_one_nan()) {
      queue.run(*options_.one_nan, {.spec = nullptr, .inputs = {}, .outputs = {result}});
    }
    queue.download_rows(*result.plane, band.y - band.input_y, outcome_.image.planes, band.y,
                        band.y_end);
  }

  const Program& program_;
  const Plan& plan_;
  const Planes image_;
  const ExecuteOptions& options_;
  std::vector<Queue*> lanes_;
  Outcome outcome_;
};

}  // namespace

Outcome execute_in_parts(const Program& program, Material material, Queue& queue,
                         const ExecuteOptions& options) {
  const Interruptible interruptible(&options.stop);
  const std::int64_t rows = rows_of_bands(program, material, options);
  if (rows > 0 && queue.beside(0) != nullptr && queue.reaches(material.image.planes)) {
    InParts parts(program, material.image, queue, options);
    if (parts.reaches_result()) return parts.run(rows);
  }
  return execute(program, std::move(material), queue, options);
}

}  // namespace impipe::engine
