// Adds primitives to a plan, one step each, and keeps the types of what they make.
#include "core/plan_builder.hpp"

#include <algorithm>

#include "core/object_table.hpp"
#include "core/plan_limit.hpp"
#include "core/primitive_facts.hpp"
#include "core/report_columns.hpp"
#include "core/text.hpp"

// Of the values of all channels side by side.
IMPIPE_SCALAR_BODY(one_of_channels, { out[0] = in[(int)args[0]]; })

namespace impipe {
namespace {

std::int64_t cells_of(const Mask& mask) { return static_cast<std::int64_t>(mask.cells.size()); }

std::int64_t cells_of(const Primitive& primitive) {
  if (const auto* p = std::get_if<Stencil>(&primitive)) return cells_of(p->taps);
  if (const auto* p = std::get_if<Separable>(&primitive)) {
    return cells_of(p->row) + cells_of(p->column);
  }
  if (const auto* p = std::get_if<Extremum>(&primitive)) return cells_of(p->mask);
  if (const auto* p = std::get_if<Rank>(&primitive)) return cells_of(p->mask);
  if (const auto* p = std::get_if<Moments>(&primitive)) return cells_of(p->mask);
  return 0;
}

// The same change of size for the alpha plane: one tap of weight 1, zeros outside.
template <class Filter>
Stencil crop_or_pad(const Filter& filter) {
  return {.taps = {.width = 1, .height = 1, .cells = {1}},
          .grow_x = filter.grow_x,
          .grow_y = filter.grow_y,
          .shift_x = filter.shift_x,
          .shift_y = filter.shift_y};
}

// Whether pixels lie elsewhere than in the image. Of permutes and windows the operator says it, as
// it may move the image back (rangefilt).
bool moves_pixels(const Primitive& primitive) {
  const PrimitiveFacts facts = facts_of(primitive);
  return facts.shift_x != 0 || facts.shift_y != 0 || (facts.whole_image && facts.moves);
}

}  // namespace

Arg Arg::measured(MeasureValue m, int element) {
  Arg arg{Argument{.source = Argument::Source::measured, .element = element}};
  arg.measure = m;
  return arg;
}

Arg Arg::per_channel(MeasureValue m, int element) {
  Arg arg = measured(m, element);
  arg.argument.per_channel = m.channels > 1;
  return arg;
}

PlanBuilder::PlanBuilder(const ImageType& input, const std::map<std::string, ImageType>& operands,
                         const std::optional<DisplayWindow>& display)
    : display_(display) {
  plan_.values.push_back({.type = input, .channels = input.channels});
  current_ = {0, input};
  for (const auto& [name, type] : operands) {
    const ValueId id = static_cast<ValueId>(plan_.values.size());
    plan_.values.push_back({.type = type, .channels = type.channels});
    plan_.operands.push_back({name, id});
    named_[name] = ImageValue{id, type}.without_alpha();
    if (!type.alpha) continue;
    plan_.operands.back().alpha = add_alpha(type.cls);
    named_[name] = named_[name].with_alpha(*plan_.operands.back().alpha);
  }
  if (!input.alpha) return;
  plan_.input_alpha = add_alpha(input.cls);
  current_.alpha = *plan_.input_alpha;
}

ValueId PlanBuilder::add_alpha(PixelClass cls) {
  plan_.values.push_back({.type = {.cls = cls, .white = class_max(cls)}});
  return static_cast<ValueId>(plan_.values.size()) - 1;
}

void PlanBuilder::begin_stage(int stage) {
  stage_ = stage;
  drops_alpha_ = false;
  reported_ = false;
  reported_numbers_ = {};
  reported_table_ = false;
}

void PlanBuilder::set_current(ImageValue image) {
  if (image.id == current_.id) image = current_;
  current_ = drops_alpha_ ? image.without_alpha() : image;
}

ImageValue PlanBuilder::with_profile(ImageValue image,
                                     std::shared_ptr<const ColourProfile> profile) {
  image.type.profile = std::move(profile);
  plan_.values.at(image.id).type.profile = image.type.profile;
  return image;
}

ImageValue PlanBuilder::operand(const Call& call, std::string_view name) const {
  return operand_with_alpha(call, name).without_alpha();
}

ImageValue PlanBuilder::operand_with_alpha(const Call& call, std::string_view name) const {
  const auto it = named_.find(name);
  if (it == named_.end()) {
    call.fail("there is no image ':" + std::string(name) + "'; keep one with `as " +
              std::string(name) + "`, or give --with " + std::string(name) + "=PATH");
  }
  return it->second;
}

Step& PlanBuilder::add_step(Primitive primitive, const std::vector<ImageValue>& images,
                            const std::vector<MeasureValue>& measures,
                            const std::vector<Arg>& args) {
  cells_ += cells_of(primitive) + static_cast<std::int64_t>(args.size());
  if (cells_ > max_plan_cells) throw PlanTooLarge();
  has_moved_ = has_moved_ || moves_pixels(primitive);
  plan_.steps.emplace_back();
  Step& step = plan_.steps.back();
  step.stages = {stage_};
  Node node;
  node.primitive = std::move(primitive);
  const auto input = [&](ValueId id) {
    const auto it = std::find(step.inputs.begin(), step.inputs.end(), id);
    if (it != step.inputs.end()) return static_cast<int>(it - step.inputs.begin());
    const PlanValue& v = plan_.values.at(id);
    step.kernel.inputs.push_back({.is_measure = v.is_measure,
                                  .cls = v.type.cls,
                                  .channels = v.channels,
                                  .white = v.type.white,
                                  .values = v.values});
    step.inputs.push_back(id);
    return static_cast<int>(step.inputs.size()) - 1;
  };
  for (const ImageValue& image : images) node.images.push_back({true, input(image.id)});
  for (const MeasureValue& m : measures) node.measures.push_back({true, input(m.id)});
  for (const Arg& arg : args) {
    node.arguments.push_back(arg.argument);
    if (arg.argument.source != Argument::Source::measured) continue;
    const impipe::Operand operand{true, input(arg.measure.id)};
    auto it = std::find(node.measures.begin(), node.measures.end(), operand);
    if (it == node.measures.end()) it = node.measures.insert(it, operand);
    node.arguments.back().measure = static_cast<int>(it - node.measures.begin());
  }
  step.kernel.nodes.push_back(std::move(node));
  step.kernel.outputs = {0};
  step.outputs = {static_cast<ValueId>(plan_.values.size())};
  return step;
}

ImageValue PlanBuilder::add_image(Primitive primitive, const std::vector<ImageValue>& images,
                                  const std::vector<Arg>& args, Result result) {
  Node& node = add_step(std::move(primitive), images, {}, args).kernel.nodes.front();
  ImageType type = images.front().type;
  type.cls = result.cls;
  type.white = result.white;
  if (result.channels > 0) type.channels = result.channels;
  node.cls = type.cls;
  node.channels = type.channels;
  node.white = type.white;
  const ValueId id = static_cast<ValueId>(plan_.values.size());
  plan_.values.push_back({.type = type, .channels = type.channels});
  return {id, type, images.front().alpha};
}

MeasureValue PlanBuilder::add_measure(Primitive primitive, const std::vector<ImageValue>& images,
                                      const std::vector<MeasureValue>& measures,
                                      const std::vector<Arg>& args, std::int64_t values,
                                      int channels) {
  Node& node = add_step(std::move(primitive), images, measures, args).kernel.nodes.front();
  node.is_measure = true;
  node.cls = PixelClass::single;
  node.channels = channels;
  node.values = values;
  node.white = 0;
  ValueId measured = 0;
  if (!images.empty()) {
    measured = images.front().id;
  } else if (!measures.empty()) {
    measured = plan_.values.at(measures.front().id).measured_image;
  }
  const ValueId id = static_cast<ValueId>(plan_.values.size());
  plan_.values.push_back(
      {.is_measure = true, .channels = channels, .values = values, .measured_image = measured});
  return {id, channels, values};
}

ImageValue PlanBuilder::alpha_of(const ImageValue& image) const {
  return {image.alpha, plan_.values.at(image.alpha).type};
}

ValueId PlanBuilder::moved_alpha(Primitive primitive, const ImageValue& image,
                                 const std::vector<Arg>& args) {
  if (image.alpha < 0) return -1;
  const ImageValue alpha = alpha_of(image);
  return add_image(std::move(primitive), {alpha}, args,
                   {.cls = alpha.type.cls, .white = alpha.type.white})
      .id;
}

ImageValue PlanBuilder::point(const PointBody& body, std::vector<ImageValue> images,
                              std::vector<Arg> args, Result result) {
  return point(Point{.body = &body}, std::move(images), std::move(args), result);
}

ImageValue PlanBuilder::point(Point point, std::vector<ImageValue> images, std::vector<Arg> args,
                              Result result) {
  return add_image(std::move(point), images, args, result);
}

ImageValue PlanBuilder::permute(Permute permute, ImageValue image) {
  const ValueId alpha = moved_alpha(permute, image);
  return add_image(permute, {image}, {}, {.cls = image.type.cls, .white = image.type.white})
      .with_alpha(alpha);
}

ImageValue PlanBuilder::window(Window window, ImageValue image, std::vector<Arg> args) {
  std::vector<Arg> moved = args;
  if (window.border == Border::constant) moved.back() = 0;  // nothing is to be seen there
  const ValueId alpha = moved_alpha(window, image, moved);
  return add_image(window, {image}, args, {.cls = image.type.cls, .white = image.type.white})
      .with_alpha(alpha);
}

ImageValue PlanBuilder::stencil(Stencil stencil, ImageValue image, std::vector<Arg> args,
                                Result result) {
  if (stencil.grow_x != 0 || stencil.grow_y != 0) {
    image.alpha = moved_alpha(crop_or_pad(stencil), image, {1.0, 0.0});
  }
  return add_image(std::move(stencil), {image}, args, result);
}

ImageValue PlanBuilder::separable(Separable separable, ImageValue image, std::vector<Arg> args,
                                  Result result) {
  if (separable.grow_x != 0 || separable.grow_y != 0) {
    image.alpha = moved_alpha(crop_or_pad(separable), image, {1.0, 0.0});
  }
  return add_image(std::move(separable), {image}, args, result);
}

ImageValue PlanBuilder::extremum(Extremum extremum, ImageValue image) {
  return add_image(std::move(extremum), {image}, {},
                   {.cls = image.type.cls, .white = image.type.white});
}

ImageValue PlanBuilder::rank(Rank rank, ImageValue image, std::vector<Arg> args) {
  const Result result = rank.entropy ? Result{.cls = PixelClass::single, .white = 0}
                                     : Result{.cls = image.type.cls, .white = image.type.white};
  return add_image(std::move(rank), {image}, args, result);
}

ImageValue PlanBuilder::whole(Primitive primitive, std::vector<ImageValue> images,
                              std::vector<Arg> args, Result result) {
  if (const auto* resample = std::get_if<Resample>(&primitive)) {
    std::vector<Arg> moved = args;
    if (resample->kind != Resample::Kind::resize) moved.back() = 0;  // nothing is to be seen there
    images[0].alpha = moved_alpha(primitive, images[0], moved);
  }
  return add_image(std::move(primitive), images, args, result);
}

MeasureValue PlanBuilder::reduce(Reduce reduce, ImageValue image, std::vector<Arg> args) {
  return add_measure(std::move(reduce), {image}, {}, args, 1, image.type.channels);
}

MeasureValue PlanBuilder::histogram(Histogram histogram, ImageValue image) {
  const std::int64_t counts = std::int64_t{histogram.tiles()} * histogram.bins;
  return add_measure(std::move(histogram), {image}, {}, {}, counts, image.type.channels);
}

MeasureValue PlanBuilder::select(ImageValue image, std::vector<Arg> places) {
  const int count = static_cast<int>(places.size());
  return add_measure(Select{count}, {image}, {}, places, count, image.type.channels);
}

MeasureValue PlanBuilder::scalar(const ScalarBody& body, std::vector<MeasureValue> measures,
                                 std::vector<Arg> args, int results, int channels, int groups) {
  return add_measure(Scalar{&body, results, groups}, {}, measures, args, results, channels);
}

MeasureValue PlanBuilder::constant(std::function<std::vector<double>()> make, std::int64_t values,
                                   int channels) {
  const ValueId id = static_cast<ValueId>(plan_.values.size());
  plan_.values.push_back({.is_measure = true, .channels = channels, .values = values});
  plan_.constants.push_back({id, std::make_shared<PlanTable>(std::move(make))});
  return {id, channels, values};
}

void PlanBuilder::add_numbers(std::string_view name, MeasureValue measure,
                              std::vector<std::string> fields) {
  auto& all = reported_numbers_.fields;
  if (measure.values == 1) {
    // The second one of a stage makes fields of both.
    if (all.size() == 1 && all.front().first.empty()) all.front().first = first_report_;
    if (all.empty()) first_report_ = name;
    all.push_back({all.empty() ? "" : std::string(name), {measure, 0}});
    return;
  }
  for (int e = 0; e < measure.values; ++e) {
    const bool named = e < static_cast<int>(fields.size());
    all.push_back(
        {named ? fields[static_cast<std::size_t>(e)] : std::to_string(e + 1), {measure, e}});
  }
}

void PlanBuilder::report_table(std::string_view name, MeasureValue measure, int matrix_columns) {
  report(name, measure, matrix_columns);
  reported_table_ = true;
}

MeasureValue PlanBuilder::objects(ImageValue labels, const ImageValue* codes) {
  const MeasureValue largest = reduce({.kind = ReduceKind::max}, labels, {});
  std::vector<ImageValue> images{labels};
  if (codes != nullptr) images.push_back(*codes);
  const MeasureValue records =
      add_measure(Objects{}, images, {largest}, {}, object_record::length(codes != nullptr), 1);
  plan_.values[records.id].counted_by = largest.id;
  return records;
}

void PlanBuilder::report_objects(std::string_view name, ObjectTable table) {
  plan_.measurements.push_back({.name = std::string(name), .stage = stage_, .objects = table});
  reported_ = true;
  reported_table_ = true;
}

void PlanBuilder::refuse_where(MeasureValue measure, std::string problem) {
  plan_.checks.push_back({measure.id, std::move(problem)});
}

void PlanBuilder::leave_to_cpu_where(MeasureValue measure, std::string reason) {
  plan_.checks.push_back({measure.id, std::move(reason), true});
}

std::string PlanBuilder::keep_measured(const std::string& name) {
  if (!reported_) {
    return "it measures nothing; `| as " + name + "` behind it keeps the image";
  }
  stage_names_[stage_] = name;
  // Of several measurements of one stage (stats) the names are the fields.
  Numbers& numbers = numbers_[name] = reported_table_ ? Numbers{} : reported_numbers_;
  if (auto& table = plan_.measurements.back().objects) {
    numbers.table = plan_.measurements.size() - 1;
    // One number of the host's has the name that it is given, as those of reductions have.
    if (table->rows && table->columns.size() == 1) table->columns.front() = name;
  }
  return "";
}

std::vector<std::string> PlanBuilder::measured_names() const {
  std::vector<std::string> out;
  for (const auto& [name, numbers] : numbers_) {
    for (const auto& [field, number] : numbers.fields) {
      const std::string whole = field.empty() ? name : name + "." + field;
      out.push_back(whole);
      if (number.first.channels == 3) {
        for (const char* channel : {".r", ".g", ".b"}) out.push_back(whole + channel);
      }
    }
    if (numbers.table) {
      const std::vector<std::string> columns =
          columns_of(*plan_.measurements[*numbers.table].objects);
      for (const std::string& column : columns) out.push_back(name + "." + column);
      if (columns.size() != 1) continue;
    }
    // Where measured_argument says why not.
    if (numbers.fields.size() != 1) out.push_back(name);
  }
  return out;
}

Arg PlanBuilder::measured_argument(const Call& call, std::string_view parameter,
                                   const std::string& variable, int channels, bool mixes) {
  const auto found = numbers_.find(variable.substr(0, variable.find('.')));
  const std::string& name = found->first;
  for (const auto& [field, number] : found->second.fields) {
    const std::string whole = field.empty() ? name : name + "." + field;
    const auto& [measure, element] = number;
    for (int c = 0; c < 3 && measure.channels == 3; ++c) {
      if (variable != whole + "." + "rgb"[c]) continue;
      const MeasureValue one =
          scalar(bodies::one_of_channels, {measure},
                 {static_cast<double>(c) * static_cast<double>(measure.values) + element}, 1, 1);
      return Arg::measured(one, 0);
    }
    if (variable != whole) continue;
    if (measure.channels == 1) return Arg::measured(measure, element);
    if (mixes || measure.channels != channels) {
      call.fail(parameter, "'" + whole + "' has a number for each of " +
                               std::to_string(measure.channels) + " channels" +
                               (measure.channels == 3
                                    ? "; write " + whole + ".r, " + whole + ".g or " + whole + ".b"
                                    : ""));
    }
    return Arg::per_channel(measure, element);
  }
  if (found->second.fields.empty()) {
    call.fail(parameter, "'" + variable + "' is a table; expressions take single numbers");
  }
  std::string fields;
  for (const auto& [field, number] : found->second.fields) {
    fields += (fields.empty() ? "" : ", ") + name + "." + field;
  }
  call.fail(parameter, "'" + variable + "' has several numbers: " + fields);
}

MeasuredPlace PlanBuilder::measured_place(const Call& call, const std::string& variable) const {
  const std::string name = variable.substr(0, variable.find('.'));
  const Numbers& numbers = numbers_.find(name)->second;
  if (numbers.table) return place_in_table(call, *numbers.table, variable);
  MeasuredPlace place;
  std::vector<std::string> known;
  for (const auto& [field, number] : numbers.fields) {
    const std::string whole = field.empty() ? name : name + "." + field;
    const auto& [measure, element] = number;
    known.push_back(whole);
    for (int c = 0; c < measure.channels; ++c) {
      const bool is_one = measure.channels == 3 && variable == whole + "." + "rgb"[c];
      if (variable == name || variable == whole || is_one) {
        place.elements.push_back({measure.id, c, element});
      }
    }
  }
  if (numbers.fields.empty()) call.fail("'" + name + "' has too many numbers for an argument");
  if (place.elements.empty()) {
    call.fail("there is no number '" + variable + "'" + did_you_mean(variable, known));
  }
  const auto same = [&](const PlanMeasurement& one) {
    return one.value == place.elements.front().value;
  };
  const auto found = std::find_if(plan_.measurements.begin(), plan_.measurements.end(), same);
  if (variable == name) place.matrix_columns = found->matrix_columns;
  return place;
}

MeasuredPlace PlanBuilder::place_in_table(const Call& call, std::size_t table,
                                          const std::string& variable) const {
  const std::vector<std::string> columns = columns_of(*plan_.measurements[table].objects);
  MeasuredPlace place{.elements = {}, .table = table};
  const std::size_t dot = variable.find('.');
  const std::string column = dot == variable.npos ? "" : variable.substr(dot + 1);
  if (column.empty() && columns.size() == 1) place.columns.push_back(0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    // `BoundingBox` is BoundingBox_x, _y, _w and _h.
    const bool is_part = columns[i].starts_with(column + "_");
    if (columns[i] == column || (is_part && !column.empty())) place.columns.push_back(i);
  }
  if (place.columns.empty()) {
    const std::string shown = column.empty()
                                  ? "; write " + variable + "." + columns.front() + ", for example"
                                  : did_you_mean(column, columns);
    call.fail("'" + variable + "' is no column of the table" + shown);
  }
  return place;
}

void PlanBuilder::report(std::string_view name, MeasureValue measure, int matrix_columns,
                         std::vector<std::string> fields) {
  constexpr std::int64_t max_columns = 16;
  plan_.measurements.push_back({.name = std::string(name),
                                .stage = stage_,
                                .value = measure.id,
                                .matrix_columns = matrix_columns,
                                .in_columns = measure.values <= max_columns,
                                .objects = {}});
  reported_ = true;
  if (measure.values > max_columns + 4) {
    reported_table_ = true;  // more than anybody names
  } else {
    add_numbers(name, measure, std::move(fields));
  }
}

void PlanBuilder::note(std::string text) {
  if (std::find(plan_.notes.begin(), plan_.notes.end(), text) == plan_.notes.end()) {
    plan_.notes.push_back(std::move(text));
  }
}

void PlanBuilder::save(std::string name_template) {
  plan_.saves.push_back({std::move(name_template), current_.id, {}, stage_});
  if (current_.alpha >= 0) plan_.saves.back().alpha = current_.alpha;
}

Plan PlanBuilder::finish() {
  plan_.result = current_.id;
  plan_.values[current_.id].type.alpha = current_.type.alpha;
  if (current_.alpha >= 0) plan_.result_alpha = current_.alpha;
  plan_.writes_image = !reported_;
  name_measurements(plan_, stage_names_);
  return std::move(plan_);
}

}  // namespace impipe
