// A Plan: typed steps for one kind of image. Lowering makes one with one primitive a step; fusion
// makes one with fewer, larger steps. A value, compared and printed in tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

using ValueId = int;

// An image or a measurement that some step makes. Value 0 is the input image; images named by
// `:NAME` that come from --with are values too, with no producer.
struct PlanValue {
  bool is_measure = false;
  ImageType type;           // images; alpha says that an alpha plane goes with it
  int channels = 1;         // measurements
  std::int64_t values = 0;  // measurements: doubles a channel
  // Measurements: the image they were made from, whose size an Argument of a Scalar step means.
  ValueId measured_image = 0;
  // Measurements: records of `values` numbers, one more than that measurement says (Objects).
  std::optional<ValueId> counted_by;
};

struct Step {
  KernelSpec kernel;
  std::vector<ValueId> inputs;   // one a kernel input
  std::vector<ValueId> outputs;  // one a kernel output
  std::vector<int> stages;       // the pipeline's stages it carries out, for reports
  std::string apart;  // why it was not fused with the step before it; empty if nothing to say
};

// A second input: `:NAME` bound by --with.
struct PlanOperand {
  std::string name;
  ValueId value = 0;
  std::optional<ValueId> alpha = {};  // as Plan::input_alpha
};

// A column of the report on stdout: a number of a measurement.
struct PlanColumn {
  std::string name;
  ValueId value = 0;
  int element = 0;
  int channel = 0;
};

// What must not be: an image of which a number of the measurement is not 0 has no result, or none
// of a device that is not the CPU.
struct PlanCheck {
  ValueId value = 0;
  std::string problem;  // what is said of it then: "watershed: the image has NaN"
  bool on_cpu = false;  // the CPU has a result
};

// Numbers that are known before a run, as a measurement. They are made when they are first read.
class PlanTable {
 public:
  explicit PlanTable(std::function<std::vector<double>()> make) : make_(std::move(make)) {}
  const std::vector<double>& numbers() {
    std::call_once(once_, [this] { numbers_ = std::exchange(make_, nullptr)(); });
    return numbers_;
  }

 private:
  std::once_flag once_;
  std::function<std::vector<double>()> make_;
  std::vector<double> numbers_;
};
struct PlanConstant {
  ValueId value = 0;  // with no producer
  std::shared_ptr<PlanTable> table;
};

// `save TEMPLATE`: an intermediate image that is written.
struct PlanSave {
  std::string name_template;
  ValueId value = 0;
  std::optional<ValueId> alpha;  // of one channel, in the class that the input's alpha has
  int stage = 0;
};

// What the numbers of objects are in.
struct ObjectScale {
  double origin = 1;            // the number of the first pixel: MATLAB's 1, or 0
  double across = 1, down = 1;  // the sides of a pixel
  bool is_square() const { return across == down; }
  bool operator==(const ObjectScale&) const = default;
};

// A row for each label of an image; see object_table.hpp.
struct ObjectTable {
  ValueId labels = 0;
  std::optional<ValueId> records;  // a measurement; without one the host measures
  std::optional<ValueId> intensities;
  ObjectScale scale = {};
  // The names of its columns where they are not all of object_columns.
  std::vector<std::string> columns = {};
  // Instead of what is measured of objects: the rows of `columns` that the host makes of the image
  // `labels`, and of `intensities` where there is one.
  std::function<std::vector<double>(const Plane& image, const Plane* beside)> rows = {};
};

// A measurement that is reported: numbers of an image, or a table of its objects.
struct PlanMeasurement {
  std::string name;        // its columns begin with it, and no other's do; see report_columns.hpp
  int stage = 0;           // of the pipeline; one may report several
  ValueId value = 0;       // of numbers
  int matrix_columns = 1;  // above 1: the values of a channel are a matrix of that many
  bool in_columns = true;  // its numbers are PlanColumns; otherwise it is reported as an array
  std::optional<ObjectTable> objects;  // of a table, each row of which is one of the report
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<Step> steps;
  std::vector<PlanOperand> operands;
  std::vector<PlanConstant> constants;
  std::vector<PlanMeasurement> measurements;  // in the order of the pipeline
  std::vector<PlanColumn> columns;            // of the measurements
  std::vector<PlanCheck> checks;
  std::vector<PlanSave> saves;
  std::vector<ImageType> stage_types;  // of the current image after each stage
  std::vector<std::string> notes;      // said once a run: "edge: colour image, rgb2gray applied"
  ValueId result = 0;                  // the image at the end
  std::optional<ValueId> result_alpha;
  std::optional<ValueId> input_alpha;  // a value with no producer, of an input that has an alpha
  bool writes_image = true;            // false when the pipeline ends in a measurement
};

// The images that are written at the end or on the way, with what is their alpha.
inline std::vector<ValueId> written_images(const Plan& plan) {
  std::vector<ValueId> out;
  const auto add = [&out](ValueId value, std::optional<ValueId> alpha) {
    out.push_back(value);
    if (alpha) out.push_back(*alpha);
  };
  if (plan.writes_image) add(plan.result, plan.result_alpha);
  for (const PlanSave& save : plan.saves) add(save.value, save.alpha);
  return out;
}

// The images that the plan's tables of objects are measured on.
inline std::vector<ValueId> object_images(const Plan& plan) {
  std::vector<ValueId> out;
  for (const PlanMeasurement& measurement : plan.measurements) {
    if (!measurement.objects) continue;
    out.push_back(measurement.objects->labels);
    if (measurement.objects->intensities) out.push_back(*measurement.objects->intensities);
  }
  return out;
}

// The measured values that the report is made of.
inline std::vector<ValueId> reported_values(const Plan& plan) {
  std::vector<ValueId> out;
  for (const PlanMeasurement& measurement : plan.measurements) {
    const auto& objects = measurement.objects;
    if (!objects) out.push_back(measurement.value);
    if (objects && objects->records) out.push_back(*objects->records);
  }
  return out;
}

// The last table of objects; null where there is none.
inline const PlanMeasurement* last_table(const Plan& plan) {
  const auto& all = plan.measurements;
  const auto found = std::find_if(
      all.rbegin(), all.rend(), [](const PlanMeasurement& one) { return one.objects.has_value(); });
  return found == all.rend() ? nullptr : &*found;
}

}  // namespace impipe
