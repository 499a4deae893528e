// Decodes the images of a stack on the device, and encodes its results there.
#include <algorithm>
#include <utility>

#include "engine/program/device_stack.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {
namespace {

// What the results are to become on the device; empty where any of them is not to.
std::vector<CodedOutput> coded_outputs(const DeviceStack& stack) {
  std::vector<CodedOutput> outputs;
  const Plan& plan = stack.plan;
  const PlanValue& result = plan.values[plan.result];
  const bool has_like_alpha =
      !plan.result_alpha || plan.values[*plan.result_alpha].type.cls == result.type.cls;
  if (!stack.options.coded_output || !has_like_alpha) return outputs;
  for (size_t i = 0; i < stack.count; ++i) {
    CodedOutput output = stack.options.coded_output(i, result.type, stack.sizes[plan.result],
                                                    stack.outcomes[i].glows);
    if (!output.encoder || (i > 0 && !output.is_like(outputs.front()))) return {};
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// The chunks of pictures whose results have more channels than they.
void keep_carried(DeviceStack& stack, Launch& launch) {
  if (launch.packed.empty() || launch.packed.front()->form.carried == 0) return;
  const PackedForm& form = launch.packed.front()->form;
  const std::vector<CodedOutput> outputs = coded_outputs(stack);
  if (outputs.empty() || !outputs.front().packed || !carries_alike(form, *outputs.front().packed)) {
    return;
  }
  const std::int64_t bytes =
      form.chunks() * form.chunk_step() * static_cast<std::int64_t>(stack.count);
  stack.carried = {stack.queue.allocate(PixelClass::uint8, 1, {bytes, 1}), nullptr};
  launch.outputs.push_back(stack.carried);
}

// numbers: of each image its bytes, a flag, and the bytes of its chunks.
void take_coded(DeviceStack& stack, const CodedPlaces& places, const std::vector<double>& numbers,
                Plane data) {
  const auto plane = std::make_shared<const Plane>(std::move(data));
  const size_t each = numbers.size() / stack.count;
  for (size_t i = 0; i < stack.count; ++i) {
    if (places.bytes[i] == 0) continue;
    Outcome& outcome = stack.outcomes[i];
    std::span<const std::byte> left{plane->row(0) + places.begins[i],
                                    static_cast<size_t>(places.bytes[i])};
    for (size_t chunk = 2; chunk < each; ++chunk) {
      const auto bytes = static_cast<size_t>(numbers[each * i + chunk]);
      outcome.coded.push_back(left.first(bytes));
      left = left.subspan(bytes);
    }
    if (each == 2) outcome.coded.push_back(left);
    outcome.encoding.bytes =
        stack.image_bytes(stack.plan.result) + static_cast<double>(places.bytes[i]);
    outcome.coded_plane = plane;
    outcome.coded_size = stack.sizes[stack.plan.result];
    outcome.image.type = stack.plan.values[stack.plan.result].type;
  }
}

}  // namespace

void decode(DeviceStack& stack, const std::vector<Material>& materials) {
  Queue& queue = stack.queue;
  const std::optional<ValueId> input_alpha = stack.plan.input_alpha;
  const int count = static_cast<int>(stack.count);
  const ImageType& type = stack.plan.values[0].type;
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
  stack.values[0].plane = queue.allocate_stack(type.cls, type.channels, stack.sizes[0], count);
  stack.faults = queue.allocate_measure_stack(1, launch.packed.empty() ? 1 : 2, count);
  launch.outputs = {stack.values[0], {nullptr, stack.faults}};
  if (input_alpha) {
    DeviceValue& alpha = stack.values[*input_alpha];
    alpha.plane = queue.allocate_stack(type.cls, 1, stack.sizes[0], count);
    launch.outputs.push_back(alpha);
  }
  keep_carried(stack, launch);
  for (Outcome& each : stack.outcomes) each.decoding.bytes = bytes / count + stack.image_bytes(0);
  stack.outcomes.front().decoding.launches =
      stack.launches_of(decoding_tag, [&] { queue.run(*stack.options.decoder, launch); });
  if (input_alpha && !values_read(stack.plan)[*input_alpha]) {
    stack.values[*input_alpha] = {};
  }
}

bool find_not_decoded(DeviceStack& stack) {
  if (const auto faults = std::exchange(stack.faults, nullptr)) {
    const std::vector<double> numbers = stack.queue.download(*faults);
    const size_t each = numbers.size() / stack.count;
    for (size_t i = 0; i < stack.count; ++i) {
      stack.outcomes[i].not_decoded = numbers[each * i] != 0;
      stack.outcomes[i].glows = each > 1 && numbers[each * i + 1] != 0;
    }
  }
  return std::ranges::any_of(stack.outcomes, &Outcome::not_decoded);
}

bool encode_results(DeviceStack& stack) {
  const Plan& plan = stack.plan;
  Queue& queue = stack.queue;
  if (plan.result_alpha) find_not_decoded(stack);  // and which of them glow
  const std::vector<CodedOutput> outputs = coded_outputs(stack);
  if (outputs.empty()) return false;
  const CodedOutput& first = outputs.front();
  const bool carries = first.packed && first.packed->carried > 0;
  if (carries && !stack.carried.plane) return false;
  const Kernel& encoder = *first.encoder;
  const int count = static_cast<int>(stack.count);
  const std::int64_t each = 2 + (first.packed ? first.packed->chunks() : 0);
  const std::int64_t bytes =
      first.packed ? packed_room(*first.packed) : jpeg_room(first.jpeg->form);
  const DeviceValue room{queue.allocate_stack(PixelClass::uint8, 1, {bytes, 1}, count), nullptr};
  const auto measured = queue.allocate_measure_stack(1, each, count);
  Launch launch{.spec = nullptr,
                .inputs = {stack.values[plan.result]},
                .outputs = {room, {nullptr, measured}}};
  for (const CodedOutput& one : outputs) {
    if (one.jpeg) launch.jpegs.push_back(one.jpeg.get());
    launch.glows.push_back(one.glows ? 1 : 0);
  }
  if (first.packed) launch.packing = &*first.packed;
  if (plan.result_alpha) {
    DeviceValue& alpha = stack.values[*plan.result_alpha];
    if (!alpha.plane) alpha.plane = stack.upload(stack.alphas);
    launch.inputs.push_back(alpha);
  }
  if (carries) launch.inputs.push_back(stack.carried);
  CodecWork& work = stack.outcomes.front().encoding;
  work.launches = stack.launches_of(encoding_tag, [&] { queue.run(encoder, launch); });
  const std::vector<double> numbers = queue.download(*measured);
  const CodedPlaces places(numbers, static_cast<size_t>(each));
  if (places.size.height == 0) return false;
  const Launch taking{.spec = nullptr,
                      .inputs = {room, {nullptr, measured}},
                      .outputs = {{queue.allocate(PixelClass::uint8, 1, places.size), nullptr}}};
  work.launches += stack.launches_of(encoding_tag, [&] { queue.run(encoder, taking); });
  take_coded(stack, places, numbers, queue.download(*taking.outputs.front().plane).front());
  return std::ranges::none_of(stack.outcomes,
                              [](const Outcome& outcome) { return outcome.coded.empty(); });
}

}  // namespace impipe::engine
