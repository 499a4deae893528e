#include "api/image_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/object_table.hpp"
#include "core/one_nan.hpp"
#include "core/volume_ring.hpp"
#include "engine/device/settled_program.hpp"
#include "engine/program/picture_parts.hpp"
#include "io/picture/convert.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::api {
namespace {

// An alpha that no step has changed still has the class of the input.
HostImage with_like_alpha(HostImage image) {
  const bool is_alike = image.alpha.empty() || image.alpha.cls() == image.type.cls;
  return is_alike ? std::move(image) : io::convert(image, image.type.cls);
}

std::string text_of(const std::vector<io::PageAxis>& axes) {
  std::string out;
  for (const io::PageAxis& axis : axes) out += axis.letter + std::to_string(axis.count);
  return out;
}

}  // namespace

ImageRun::ImageRun(BoundPipeline& pipeline, RunInput input, std::function<bool()> stop)
    : pipeline_(pipeline), input_(std::move(input)), stop_(std::move(stop)) {
  for (const auto& [name, image] : input_.operands) operand_types_[name] = image.type;
}

RunResult ImageRun::run() {
  program_ = pipeline_.lanes().program(input_.type, operand_types_);
  begin_parts();
  check_sizes();
  for (const int i : input_.pages.numbers) {
    try {
      pass_on(0, {.image = input_.there.contains("") ? HostImage() : input_.page(i),
                  .source = nullptr,
                  .which = static_cast<std::size_t>(i),
                  .number = has_pages() ? i + 1 : 0});
    } catch (const Error& error) {
      if (!has_pages() || stop_()) throw;
      throw Error(fmt::format("page {}: ", i + 1), error, error.code());
    }
  }
  for (std::size_t index = 0; index < reducers_.size(); ++index) {
    reducers_[index]->finish([&](engine::Page page) { pass_on(index + 1, std::move(page)); });
  }
  for (RunResult::Image& save : saves_) result_.images.push_back(std::move(save));
  for (const engine::OpenDevice& open : pipeline_.session().devices()) note(open.warning);
  for (const std::string& warning : pipeline_.lanes().take_warnings()) note(warning);
  return std::move(result_);
}

void ImageRun::begin_parts() {
  const auto check = [this] {
    if (stop_()) throw Error("stopped", ExitCode::file_failed);
  };
  pages_.push_back(input_.pages);
  for (const engine::Program* part = program_.get(); part->then; part = part->then->program.get()) {
    const ImageReduction& reduction = part->then->reduction;
    const auto count = std::ssize(pages_.back().numbers);
    const std::string why = engine::why_not_along(
        reduction, pages_.back(), part->plan.values[part->plan.result].type.channels);
    if (!why.empty()) throw Error(why, ExitCode::file_failed);
    if (reduction.volume) note(reduction.volume->left_out(count));
    engine::PageReducer::Options options{
        .memory = pipeline_.session().memory() / 2,
        .scratch = {},
        .pool = &pipeline_.session().pool(),
        .check = check,
        .lanes = &pipeline_.lanes(),
        .stays = input_.stays,
        .together = input_.stays && !part->then->program->then && is_identity(pages_.size())};
    reducers_.push_back(
        std::make_unique<engine::AxisReducer>(reduction, std::move(options), pages_.back()));
    pages_.push_back(engine::pages_after(reduction, pages_.back()));
    const bool is_of_all = reduction.across == ImageReduction::Across::pages && reduction.axis == 0;
    if (is_of_all) pages_.back().axes.clear();  // also those of a single page
  }
}

void ImageRun::check_sizes() const {
  std::map<std::string, Size> operand_sizes;
  for (const auto& [name, image] : input_.operands) operand_sizes[name] = image.size();
  for (const auto& [name, array] : input_.there) {
    operand_sizes[name] = {array->width, array->height};
  }
  Size size = input_.size;
  std::size_t index = 0;
  for (const engine::Program* part = program_.get();; part = part->then->program.get()) {
    const std::vector<Size> sizes = pipeline::planned_sizes(
        pipeline_.pipeline(), part->lowered, size, operand_sizes, pipeline::default_max_pixels);
    const engine::ImageBytes bytes = engine::image_bytes(*part, sizes, 0);
    const double most = std::max(bytes.input, bytes.on_device + bytes.tables);
    const auto memory = static_cast<double>(pipeline_.session().memory());
    if (most > memory) {
      throw OutOfSessionMemory(
          fmt::format("out of memory: the image takes at least {:.0f} bytes, and the session may "
                      "take {:.0f}",
                      most, memory));
    }
    size = sizes[static_cast<std::size_t>(part->plan.result)];
    if (!part->then || size.width < 1 || size.height < 1) return;
    const auto count = std::ssize(pages_[index++].numbers);
    if (const auto& volume = part->then->reduction.volume) {
      size = volume->size(size, count);
      pipeline::check_size(pipeline_.pipeline(), part->then->stage, size,
                           pipeline::default_max_pixels);
    }
  }
}

void ImageRun::pass_on(std::size_t index, engine::Page page) {
  engine::Outcome outcome;
  if (!page.table) {
    outcome = compute(index, page, std::exchange(page.image, {}));
  }
  const engine::Program& part = engine::part_of(*program_, static_cast<int>(index));
  if (page.table) {
    const auto columns = std::ssize(columns_of(*part.plan.measurements.front().objects));
    const auto numbers = std::ssize(*page.table);
    outcome.measurements.push_back({.values = numbers,
                                    .numbers = std::move(*page.table),
                                    .columns = static_cast<int>(columns)});
  }
  keep(index, page, outcome);
  if (!part.then) return;
  page.image = std::move(outcome.image);
  page.there = std::move(outcome.there);
  const auto guest = pipeline_.session().as_guest();
  reducers_[index]->add(std::move(page),
                        [&](engine::Page made) { pass_on(index + 1, std::move(made)); });
}

engine::Outcome ImageRun::compute(std::size_t index, const engine::Page& page, HostImage image) {
  const auto guest = pipeline_.session().as_guest();
  const engine::Lanes::Turn turn = pipeline_.lanes().take();
  const bool is_there = page.there.pixels || (index == 0 && input_.there.contains(""));
  const bool goes_there = input_.stays && turn.session.device().id != "cpu" &&
                          !engine::part_of(*program_, static_cast<int>(index)).then;
  if (!is_there && !goes_there && is_identity(index) && !image.empty()) {
    engine::Outcome outcome;
    outcome.image = std::move(image);
    if (!has_one_nan(index)) {
      for (Plane& plane : outcome.image.planes) make_one_nan(plane);
    }
    return outcome;
  }
  if (goes_there && !is_there) image = with_like_alpha(std::move(image));
  engine::Material material{.image = std::move(image), .operands = input_.operands};
  material.read = {material.image.size(), 1};
  if (turn.session.device().id == "cpu") {
    return compute_on(turn.session, turn.queue, index, std::move(material));
  }
  if (input_.stays) return compute_there(turn, index, page, std::move(material));
  try {
    return compute_on(turn.session, turn.queue, index, material);
  } catch (const OutOfDeviceMemory& error) {
    engine::Session& cpu = turn.session.on_cpu(error);
    return compute_on(cpu, *cpu.make_queue(), index, std::move(material));
  }
}

engine::Outcome ImageRun::compute_there(const engine::Lanes::Turn& turn, std::size_t index,
                                        const engine::Page& page, engine::Material material) {
  if (page.there.pixels) {
    material.there[""] = page.there;
    material.read = {page.there.pixels->size(), 1};
  }
  for (const auto& [name, array] : input_.there) {
    if (name.empty() && index > 0) continue;  // that part's input is what the one before made
    const auto number = name.empty() ? static_cast<std::int64_t>(page.which) : 0;
    material.there[name] = image_there(turn, name, number);
    if (!name.empty()) continue;
    material.image.type = input_.type;
    material.read = {input_.size, 1};
  }
  if (passes_through(index, material)) {
    if (index == 0 && !pages_there_.value_or(nullptr)) turn.queue.wait();
    engine::Outcome outcome;
    outcome.image.type = material.image.type;
    outcome.there = material.there.at("");
    return outcome;
  }
  try {
    return compute_on(turn.session, turn.queue, index, std::move(material));
  } catch (...) {
    turn.queue.wait();  // for kernels that read the caller's memory
    throw;
  }
}

std::shared_ptr<DevicePlane> ImageRun::page_there(Queue& queue, std::int64_t page) {
  if (!pages_there_) {
    pages_there_ = nullptr;
    const impipe_image& array = *input_.there.at("");
    const DeviceArray pages = pages_there(array);
    if (pages.count > 1) {
      queue.wait_for_stream(array.stream);
      pages_there_ = queue.plane_in_place(pages);
      queue.wait();  // other lanes read it
    }
  }
  if (!*pages_there_) return nullptr;
  auto made = queue.part(*pages_there_, static_cast<int>(page), 1);
  if (!made) pages_there_ = nullptr;
  return made;
}

engine::DeviceImage ImageRun::image_there(const engine::Lanes::Turn& turn, const std::string& name,
                                          std::int64_t page) {
  if (name.empty()) {
    if (auto made = page_there(turn.queue, page)) return {std::move(made), nullptr};
  }
  const impipe_image& array = *input_.there.at(name);
  turn.queue.wait_for_stream(array.stream);
  const auto plane = [&](const DeviceArray& of) {
    if (auto in_place = turn.queue.plane_in_place(of)) return in_place;
    note(
        fmt::format("{} copies {} first: it reads in place what is planes whose rows begin "
                    "at multiples of 128 bytes, each at the first one behind the row before",
                    turn.session.device().id, name.empty() ? "the image" : ":" + name));
    return turn.queue.gathered(of, *turn.session.gatherer().kernel(stop_));
  };
  return {plane(channels_there(array, page)),
          array.alpha != 0 ? plane(alpha_there(array, page)) : nullptr};
}

engine::Outcome ImageRun::compute_on(engine::Session& session, Queue& queue, std::size_t index,
                                     engine::Material material) {
  engine::ExecuteOptions options{.kernels_first = !session.device().is_gpu, .stop = stop_};
  const int part = static_cast<int>(index);
  program_ =
      engine::program_for(session, queue, {part, input_.type, operand_types_}, material, options);
  const engine::Program& program = engine::part_of(*program_, part);
  options.stays = input_.stays && keeps_there(index, material) && session.device().id != "cpu";
  options.one_nan = session.one_nan(program, options.stays);
  return engine::execute_in_parts(program, std::move(material), queue, options);
}

// Whether what a part makes is wanted on the device: the result, and planes of a volume that
// kernels work on.
bool ImageRun::keeps_there(std::size_t index, const engine::Material& material) {
  const engine::Program& part = engine::part_of(*program_, static_cast<int>(index));
  if (!part.then) return true;
  const auto& volume = part.then->reduction.volume;
  const ImageType& type = part.plan.values[part.plan.result].type;
  if (!volume || part.plan.result_alpha || !part.plan.saves.empty()) return false;
  const auto [known, is_new] = keeps_there_.try_emplace(index);
  if (is_new) known->second = !volume->rings(type, material.size(), 1).empty();
  return known->second;
}

// Whether a part before or behind a reduction makes nothing of its images.
bool ImageRun::is_identity(std::size_t index) const {
  const engine::Program& part = engine::part_of(*program_, static_cast<int>(index));
  const Plan& plan = part.plan;
  return (part.then || index > 0) && plan.steps.empty() && plan.measurements.empty() &&
         plan.checks.empty() && plan.saves.empty() && plan.writes_image;
}

// Whether NaNs of such a part's image are not its work: those of a volume's planes become one where
// planes are made.
bool ImageRun::has_one_nan(std::size_t index) const {
  const auto is_volume = [&](std::size_t before) {
    const auto& then = engine::part_of(*program_, static_cast<int>(before)).then;
    return then && then->reduction.volume && then->reduction.volume->columns().empty();
  };
  return is_volume(index) || (index > 0 && is_volume(index - 1));
}

// Whether such a part hands on an image in the device's memory, which others only read, or which is
// a volume's plane of our own.
bool ImageRun::passes_through(std::size_t index, const engine::Material& material) {
  if (!is_identity(index) || !material.there.contains("")) return false;
  const engine::Program& part = engine::part_of(*program_, static_cast<int>(index));
  return !part.then || keeps_there(index, material);
}

void ImageRun::keep(std::size_t index, const engine::Page& page, engine::Outcome& outcome) {
  const engine::Program& part = engine::part_of(*program_, static_cast<int>(index));
  const Plan& plan = part.plan;
  for (const std::string& text : plan.notes) note(text);
  const std::string axes = text_of(pages_[index].axes);
  outcome.saves_there.resize(outcome.saves.size());
  for (std::size_t i = 0; i < outcome.saves.size(); ++i) {
    saves_.push_back({plan.saves[i].name_template, with_like_alpha(std::move(outcome.saves[i])),
                      axes, std::move(outcome.saves_there[i])});
  }
  const bool is_of_all = has_pages() && pages_[index].numbers.size() == 1;
  for (std::size_t i = 0; i < outcome.measurements.size(); ++i) {
    const PlanMeasurement& of = plan.measurements[i];
    result_.measured.push_back({of.name, is_of_all ? -1 : static_cast<int>(page.which),
                                of.objects ? columns_of(*of.objects) : std::vector<std::string>(),
                                std::move(outcome.measurements[i])});
  }
  if (!part.then && plan.writes_image) {
    result_.images.push_back(
        {"", with_like_alpha(std::move(outcome.image)), axes, std::move(outcome.there)});
  }
}

void ImageRun::note(const std::string& text) {
  if (text.empty() || std::ranges::find(result_.notes, text) != result_.notes.end()) return;
  result_.notes.push_back(text);
}

}  // namespace impipe::api
