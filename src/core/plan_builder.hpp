// What an operator's `lower` builds a plan with: one call a primitive.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/display_window.hpp"
#include "core/operator.hpp"

namespace impipe {

// A launch argument, while a plan is built.
struct Arg {
  Argument argument;
  MeasureValue measure;  // when it is measured

  Arg(double value) : argument{.value = value} {}  // NOLINT: a number is an argument
  Arg(const Argument& a) : argument(a) {}          // NOLINT
  // Element `element` of a measurement, channel 0's.
  static Arg measured(MeasureValue m, int element);
  // Element `element` of the measurement for each channel its own.
  static Arg per_channel(MeasureValue m, int element);
};

// The result of an image primitive.
struct Result {
  PixelClass cls = PixelClass::uint8;
  double white = 255;  // 0: none
  int channels = 0;    // 0: as the first image
};

// Where the numbers of a name are that a parameter takes: elements of measurements, or columns of
// the row that the largest object has in a table, the first one where it has no areas.
struct MeasuredPlace {
  struct Element {
    ValueId value = 0;
    int channel = 0;
    int element = 0;
  };
  std::vector<Element> elements;
  int matrix_columns = 1;                 // see PlanMeasurement
  std::optional<std::size_t> table;       // of the plan's measurements
  std::vector<std::size_t> columns = {};  // of the table
};

class PlanBuilder {
 public:
  // A plan for an input image of this type; operands are the images of --with by name. display: the
  // input's display window where it is another than the image.
  PlanBuilder(const ImageType& input, const std::map<std::string, ImageType>& operands,
              const std::optional<DisplayWindow>& display = {});

  // --- the image that the pipeline carries
  ImageValue current() const { return current_; }
  // The result of a stage.
  void set_current(ImageValue image);
  // An image kept with `as NAME` or bound by --with; throws through `call` when there is none.
  ImageValue operand(const Call& call, std::string_view name) const;
  // The same with its alpha: operands lend their pixels only.
  ImageValue operand_with_alpha(const Call& call, std::string_view name) const;
  // The same image, whose numbers mean the colours of this profile.
  ImageValue with_profile(ImageValue image, std::shared_ptr<const ColourProfile> profile);
  void keep(std::string name, ImageValue image) { named_[std::move(name)] = image; }
  // In pixels of the input; those of the current image may lie elsewhere once one was moved.
  const std::optional<DisplayWindow>& display() const { return display_; }
  bool has_moved() const { return has_moved_; }
  void set_moved() { has_moved_ = true; }

  // --- primitives; each adds one step
  ImageValue point(const PointBody& body, std::vector<ImageValue> images, std::vector<Arg> args,
                   Result result);
  // The general form, for lookup, in_double, mixes_channels or an expression.
  ImageValue point(Point point, std::vector<ImageValue> images, std::vector<Arg> args,
                   Result result);
  ImageValue permute(Permute permute, ImageValue image);
  ImageValue window(Window window, ImageValue image, std::vector<Arg> args);
  ImageValue stencil(Stencil stencil, ImageValue image, std::vector<Arg> args, Result result);
  ImageValue separable(Separable separable, ImageValue image, std::vector<Arg> args, Result result);
  ImageValue extremum(Extremum extremum, ImageValue image);
  ImageValue rank(Rank rank, ImageValue image, std::vector<Arg> args);
  // Primitives that stand alone: Distance, Project, Diffuse, Label, Resample, …
  ImageValue whole(Primitive primitive, std::vector<ImageValue> images, std::vector<Arg> args,
                   Result result);
  MeasureValue reduce(Reduce reduce, ImageValue image, std::vector<Arg> args);
  MeasureValue histogram(Histogram histogram, ImageValue image);
  MeasureValue select(ImageValue image, std::vector<Arg> places);
  // results: values a channel of the result; channels: 1, or as many as the inputs have (the body
  // then runs once a channel, on that channel's values). groups: that a GPU may take for a body
  // that knows `group`; it has one measurement.
  MeasureValue scalar(const ScalarBody& body, std::vector<MeasureValue> measures,
                      std::vector<Arg> args, int results, int channels, int groups = 1);

  // A measurement of numbers that are known; `values` a channel, which `make` makes one channel
  // behind the other when they are first needed.
  MeasureValue constant(std::function<std::vector<double>()> make, std::int64_t values,
                        int channels);

  // Makes a measurement a part of the report: one column an element, named NAME, or NAME_1 … when
  // there are several elements (more than 16 are reported as an array); see report_columns.hpp.
  // The elements of a channel are a matrix when it has more than one column.
  // fields: what `as NAME` calls the elements of a channel; from 1 on when not given.
  void report(std::string_view name, MeasureValue measure, int matrix_columns = 1,
              std::vector<std::string> fields = {});
  // The same of a table, whose numbers have no names.
  void report_table(std::string_view name, MeasureValue measure, int matrix_columns = 1);
  // Records of the objects of an image of labels; codes: measured in them, or null.
  MeasureValue objects(ImageValue labels, const ImageValue* codes);
  // A row for each object of an image of labels (core/object_table.hpp).
  void report_objects(std::string_view name, ObjectTable table);

  // Images of which a number of the measurement is not 0 fail, with this text.
  void refuse_where(MeasureValue measure, std::string problem);
  // Such images are left to the CPU, for this reason.
  void leave_to_cpu_where(MeasureValue measure, std::string reason);

  bool reported() const { return reported_; }  // this stage has

  // Names what this stage reports, as `as NAME` of the stage, and keeps its numbers for
  // expressions. Returns why it cannot; empty when it can.
  std::string keep_measured(const std::string& name);
  bool is_measured(std::string_view name) const { return numbers_.contains(name); }
  // Whether its numbers are the host's, which arguments have as numbers.
  bool is_table(const std::string& name) const { return numbers_.at(name).table.has_value(); }
  // All that expressions may name, with fields.
  std::vector<std::string> measured_names() const;
  // The argument that a name with its fields stands for, in a kernel of `channels` channels; where
  // the expression mixes them, of one channel. Fails through `call` where it is none.
  Arg measured_argument(const Call& call, std::string_view parameter, const std::string& variable,
                        int channels, bool mixes);

  // What such a name is for a parameter: of several channels and fields the first field of all
  // channels goes before the second. Fails through `call` where it is none.
  MeasuredPlace measured_place(const Call& call, const std::string& variable) const;

  // The alpha of an image that has one, as an image of one channel.
  ImageValue alpha_of(const ImageValue& image) const;
  // The result of this stage has no alpha (one-channel results). Everything else keeps that of its
  // first image: points and windows of pixels leave it untouched, a Permute, a Window or a Resample
  // moves it, a filter that changes the size crops it or pads it with 0.
  void drop_alpha() { drops_alpha_ = true; }

  // Said once a run on stderr.
  void note(std::string text);
  // The stage that the following primitives belong to.
  void begin_stage(int stage);
  void save(std::string name_template);

  Plan finish();

 private:
  ImageValue add_image(Primitive primitive, const std::vector<ImageValue>& images,
                       const std::vector<Arg>& args, Result result);
  MeasureValue add_measure(Primitive primitive, const std::vector<ImageValue>& images,
                           const std::vector<MeasureValue>& measures, const std::vector<Arg>& args,
                           std::int64_t values, int channels);
  Step& add_step(Primitive primitive, const std::vector<ImageValue>& images,
                 const std::vector<MeasureValue>& measures, const std::vector<Arg>& args);
  // Adds the alpha of an input of this class.
  ValueId add_alpha(PixelClass cls);
  // The image's alpha after the primitive; -1 where it has none.
  ValueId moved_alpha(Primitive primitive, const ImageValue& image,
                      const std::vector<Arg>& args = {});
  void add_numbers(std::string_view name, MeasureValue measure, std::vector<std::string> fields);
  MeasuredPlace place_in_table(const Call& call, std::size_t table,
                               const std::string& variable) const;

  Plan plan_;
  std::optional<DisplayWindow> display_;
  bool has_moved_ = false;
  std::int64_t cells_ = 0;  // of all steps: masks' cells, weights and arguments
  std::map<std::string, ImageValue, std::less<>> named_;
  // Of one measurement the numbers of each channel, by their fields: "" where there is but one.
  struct Numbers {
    std::vector<std::pair<std::string, std::pair<MeasureValue, int>>> fields;
    std::optional<std::size_t> table;  // of objects, among the plan's measurements
  };
  std::map<std::string, Numbers, std::less<>> numbers_;  // by the names of `as`; tables have none
  std::map<int, std::string> stage_names_;               // those of `as`, by stage
  Numbers reported_numbers_;                             // of this stage
  bool reported_table_ = false;
  std::string first_report_;  // what the stage's first measurement is called
  ImageValue current_;
  int stage_ = 0;
  bool drops_alpha_ = false;
  bool reported_ = false;
};

}  // namespace impipe
