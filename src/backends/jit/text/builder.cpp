// Collects the parts of a program: parameters, buffers, functions, kernels and their launches.
#include "backends/jit/text/builder.hpp"

#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "core/error.hpp"

namespace impipe::jit {
Builder::Builder(const KernelSpec& spec, Dialect dialect, const Tuning& tuning)
    : parts_{.spec = std::make_shared<KernelSpec>(spec), .dialect = dialect}, tuning_(tuning) {}

void Builder::fail(const std::string& why) const {
  throw Error("a kernel can't be generated: " + why + "\n" + spec().key(), ExitCode::backend);
}

std::int64_t Builder::values(const Operand& operand) const {
  if (!operand.external) return node(operand.index).values;
  const KernelInput& input = spec().inputs[operand.index];
  return input.values * input.channels;
}

// --- parameters

std::string Builder::parameter(ParameterType type, const std::string& name, ParameterValue value) {
  return array(type, name, 1, std::move(value));
}

std::string Builder::array(ParameterType type, const std::string& name, int count,
                           ParameterValue value) {
  if (count == 0) return "0";  // nothing reads it, and no member is as small
  std::vector<ProgramParts::Field>& fields = parts_.fields;
  if (std::ranges::find(fields, name, &ProgramParts::Field::name) != fields.end()) {
    return "params->" + name;
  }
  if (has_buffer(name)) return buffer(name, name_of(type), {}, true);
  const int bytes = bytes_of(type) * count;
  if (count > 1 && field_bytes_ + bytes > tuning_.parameter_bytes / 2) {
    return memory(name, name_of(type),
                  {.bytes = [bytes](const LaunchContext&) { return bytes; },
                   .type = type,
                   .count = count,
                   .contents = std::move(value)});
  }
  field_bytes_ += bytes;
  fields.push_back({type, name, count, std::move(value)});
  return "params->" + name;
}

std::string Builder::table(ParameterType type, const std::string& name, TableValues values) {
  return memory(
      name, name_of(type),
      {.bytes = [](const LaunchContext&) { return 0; }, .type = type, .table = std::move(values)});
}

std::string Builder::integer(const std::string& name, LaunchNumber value, ParameterType type) {
  return parameter(type, name, [value = std::move(value)](const LaunchContext& at, int) {
    return static_cast<double>(value(at));
  });
}

std::string Builder::of_size(const std::string& name, const Operand& image,
                             std::function<std::int64_t(Size)> value) {
  return integer(name, [image, value = std::move(value)](const LaunchContext& at) {
    return value(at.size_of(image));
  });
}

std::string Builder::width(const Operand& operand) {
  return of_size(name(operand) + "_width", operand, [](Size size) { return size.width; });
}

std::string Builder::height(const Operand& operand) {
  return of_size(name(operand) + "_height", operand, [](Size size) { return size.height; });
}

std::string Builder::white(const Operand& operand, const std::string& real) {
  return parameter(type_of_real(real),
                   name(operand) + "_white_" + real,  // an argument of its body may be `white`
                   [operand](const LaunchContext& at, int) { return at.white_of(operand); });
}

std::string Builder::argument(int n, int index, const std::string& label, const std::string& real) {
  const Node& from = node(n);
  const Argument& argument = from.arguments.at(static_cast<std::size_t>(index));
  if (argument.source == Argument::Source::measured) {
    const Operand& m = from.measures.at(static_cast<std::size_t>(argument.measure));
    const std::string text = measure(m) + "[" + std::to_string(argument.element) + "]";
    return real == "float" ? "(float)" + text : text;
  }
  return parameter(type_of_real(real), name({false, n}) + "_" + label,
                   [n, index](const LaunchContext& at, int) { return at.argument(n, index); });
}

// --- buffers

bool Builder::has_buffer(const std::string& name) const {
  return std::ranges::find(parts_.buffers, name, &ProgramParts::NamedBuffer::name) !=
         parts_.buffers.end();
}

std::string Builder::buffer(const std::string& name, const std::string& type, Buffer place,
                            bool written) {
  if (!has_buffer(name)) {
    parts_.buffers.push_back({name, type, place, written, parts_.buffers.size()});
  }
  return "buffers->" + name;
}

std::string Builder::memory(const std::string& name, const std::string& type,
                            ProgramParts::ScratchPlan plan) {
  const Buffer place{Buffer::Kind::scratch, static_cast<int>(parts_.scratches.size())};
  if (!has_buffer(name)) parts_.scratches.push_back(std::move(plan));
  return buffer(name, type, place, true);
}

std::string Builder::ticket() {
  return memory("ticket", "uint",
                {.bytes = [](const LaunchContext&) { return row_alignment; }, .kept = true});
}

Buffer Builder::place_of(const Operand& operand) const {
  if (operand.external) return {Buffer::Kind::input, operand.index};
  return {Buffer::Kind::output, output_of(operand.index)};
}

std::string Builder::measure(const Operand& operand) {
  const Buffer place = place_of(operand);
  if (place.index >= 0) return buffer(name(operand), "double", place, !operand.external);
  const std::int64_t bytes = 8 * values(operand);
  return scratch(name(operand), "double", [bytes](const LaunchContext&) { return bytes; });
}

std::string Builder::local_array(const std::string& name, const std::string& type, int count) {
  const std::string text = buffer(name, type, {}, true);
  parts_.buffers.back().local = count;
  return text;
}

PlaneText Builder::plane_text(const std::string& name, const std::string& pointer, PixelClass cls,
                              LaunchNumber stride_bytes) {
  const int bytes = impipe::bytes_of(cls);
  return {pointer, integer(
                       name + "_stride",
                       [bytes, stride_bytes = std::move(stride_bytes)](const LaunchContext& at) {
                         return stride_bytes(at) / bytes;
                       },
                       ParameterType::int64)};
}

PlaneText Builder::scratch_plane(const std::string& name, PixelClass cls,
                                 std::function<Size(const LaunchContext&)> size) {
  const std::string pointer = scratch(name, type_of(cls), [cls, size](const LaunchContext& at) {
    return row_bytes(cls, size(at)) * size(at).height;
  });
  return plane_text(name, pointer, cls,
                    [cls, size](const LaunchContext& at) { return row_bytes(cls, size(at)); });
}

PlaneText Builder::plane(const Operand& operand) {
  const std::string n = name(operand);
  const Buffer place = place_of(operand);
  if (place.index < 0) {
    return scratch_plane(n, cls(operand),
                         [operand](const LaunchContext& at) { return at.size_of(operand); });
  }
  return plane_text(n, buffer(n, type_of(cls(operand)), place, !operand.external), cls(operand),
                    [place](const LaunchContext& at) { return at.shape_of(place).stride; });
}

// --- functions

void Builder::load_function(const Operand& input) {
  const std::string n = name(input);
  if (has_function(n)) return;
  function(n, pixel_function(type_of(cls(input)), n, returned(plane(input).pixel())));
}

std::string Builder::call(const std::string& name, const std::string& x,
                          const std::string& y) const {
  if (!has_function(name)) fail("it calls " + name + ", which is not written");
  return name + "(ARGS, " + x + ", " + y + ")";
}

void Builder::read_through(const Operand& image, const std::string& function) {
  through_[name(image)] = function;
}

std::string Builder::value(const Operand& operand, const std::string& x, const std::string& y) {
  const auto through = through_.find(name(operand));
  if (through != through_.end() && !through->second.empty()) return call(through->second, x, y);
  if (operand.external) load_function(operand);
  return call(name(operand), x, y);
}

std::set<std::string> Builder::buffers_of(const Code& code) const {
  std::set<std::string> buffers = code.buffers;
  for (const std::string& called : code.calls) {
    const auto known = functions_.find(called);
    if (known != functions_.end()) buffers.insert(known->second.begin(), known->second.end());
  }
  return buffers;
}

void Builder::function(const std::string& name, const std::string& text) {
  Code code = code_of(after_line(text));
  functions_[name] = buffers_of(code);
  // A kernel that makes several images writes what they have in common once.
  if (!function_texts_.insert(text).second) return;
  parts_.pieces.push_back({.code = std::move(code), .function = name});
}

void Builder::body_once(const std::string& name, const std::string& text) {
  if (bodies_.insert(name).second) body(text);
}

// --- kernels

std::string Builder::pointer_of(const ProgramParts::NamedBuffer& b) {
  const auto index = static_cast<std::size_t>(b.place.index);
  const bool written = b.place.kind == Buffer::Kind::output,
             scratch = b.place.kind == Buffer::Kind::scratch;
  int channel = own_channel, whole = 1;  // channels that the kernel sees of it
  if (written && !spec().output_channels.empty()) channel = spec().output_channels[index];
  if (!written && !scratch) {
    channel = spec().inputs[index].channel;
    whole = spec().inputs[index].channels;
  }
  const auto shape = [place = b.place](const LaunchContext& at) { return at.shape_of(place); };
  const auto bytes = [&](const std::string& what, LaunchNumber value) {
    return integer(b.name + what, std::move(value), ParameterType::int64);
  };
  std::string offset;
  if (tuning_.stacked) {
    std::string plane = "GROUP_Z";
    LaunchNumber step = [shape, whole](const LaunchContext& at) { return shape(at).step * whole; };
    if (scratch) {
      step = [plan = parts_.scratches[index]](const LaunchContext& at) { return plan.step(at); };
    } else if (channel != own_channel) {
      plane = "(int)GROUP_Z / " +
              integer("planes", [](const LaunchContext& at) { return at.spec().planes; });
      step = [shape](const LaunchContext& at) { return shape(at).step * shape(at).channels; };
    }
    offset = plane + " * " + bytes("_plane_step", std::move(step));
  }
  // Of the first channel too where there are others: the kernels that write them are then the same.
  const auto other = [](int c) { return c > 0; };
  const bool several = std::ranges::any_of(spec().output_channels, other) ||
                       std::ranges::any_of(spec().inputs, other, &KernelInput::channel);
  if (channel != own_channel && several) {
    offset += (offset.empty() ? "" : " + ") +
              bytes("_plane_place",
                    [shape, channel](const LaunchContext& at) { return shape(at).step * channel; });
  }
  if (offset.empty()) return b.name + "_buffer";
  const std::string qualified = std::string("GLOBAL ") + (b.written ? "" : "const ");
  return "(" + qualified + b.type + "*)((" + qualified + "char*)" + b.name + "_buffer + " + offset +
         ")";
}

void Builder::kernel(const std::string& name, int items, const std::string& text,
                     ShapeFunction shape, int groups, int local_bytes) {
  const std::size_t comment = comment_length(text);
  ProgramParts::Piece piece{.code = code_of(text.substr(comment)),
                            .entry = name,
                            .buffers = parts_.buffers.size(),
                            .local_bytes = dialect() == Dialect::cuda ? local_bytes : 0};
  const std::set<std::string> used = buffers_of(piece.code);
  std::string signature;
  std::vector<Buffer> places;
  for (const ProgramParts::NamedBuffer& b : parts_.buffers) {
    if (!used.contains(b.name)) continue;
    if (b.local > 0) {
      piece.arrays += array_of("LOCAL " + b.type, b.name + "_array", b.local);
      piece.pointers[b.name] = b.name + "_array";
      continue;
    }
    piece.pointers[b.name] = pointer_of(b);
    // Work-items hand measurements to one another in a kernel, which `restrict` denies: a compiler
    // would move their loads before the barrier.
    const bool handed_on = b.written && b.type == "double";
    signature += std::string("GLOBAL ") + (b.written ? "" : "const ") + b.type +
                 (handed_on ? "* " : "* RESTRICT ") + b.name + "_buffer, ";
    places.push_back(b.place);
  }
  const std::string count = std::to_string(items);
  piece.head = after_line(text.substr(0, comment)) + "KERNEL" +
               (groups == 0 ? "(" + count : "_DENSE(" + count + ", " + std::to_string(groups)) +
               ") void " + name + "(" + signature + "PARAMETERS) ";
  const auto entry = std::ranges::count_if(
      parts_.pieces, [](const ProgramParts::Piece& before) { return !before.entry.empty(); });
  parts_.pieces.push_back(std::move(piece));
  parts_.passes.push_back({static_cast<int>(entry), std::move(shape), std::move(places)});
  if (dialect() == Dialect::opencl_nvidia && groups > 0) {
    // The limit is the program's: that of the kernel that wants the most. Registers are given out
    // in eights.
    constexpr int registers_of_processor = 65536;
    parts_.max_registers =
        std::max(parts_.max_registers, registers_of_processor / (items * groups) / 8 * 8);
  }
}

void Builder::kernel_before(const std::string& name, int items, const std::string& text,
                            ShapeFunction shape) {
  kernel(name, items, text, std::move(shape));
  std::rotate(parts_.passes.begin(), parts_.passes.end() - 1, parts_.passes.end());
}

void Builder::repeat(int kernels, int most,
                     const std::function<LaunchShape(const LaunchContext&, int time)>& shape) {
  const std::vector repeated(parts_.passes.end() - kernels, parts_.passes.end());
  for (int time = 0; time < most; ++time) {
    for (ProgramParts::PassPlan again : repeated) {
      if (shape) again.shape = [shape, time](const LaunchContext& at) { return shape(at, time); };
      parts_.passes.push_back(std::move(again));
    }
  }
}

void Builder::pixel_kernel(const std::string& name, const std::string& width,
                           const std::string& height,
                           std::function<Size(const LaunchContext&)> size, const std::string& text,
                           const std::string& before) {
  constexpr int across = 32;
  const int down = tuning_.group / across;
  const std::string d = std::to_string(down);
  const std::size_t comment = comment_length(text);
  kernel(name, across * down,
         text.substr(0, comment) + before + declared("const int", "x", "GROUP_X * 32 + ITEM % 32") +
             declared("const int", "y", "GROUP_Y * " + d + " + ITEM / 32") + "if (x >= " + width +
             " || y >= " + height + ") " + statement("return") + text.substr(comment),
         [size = std::move(size), down](const LaunchContext& at) {
           return launch_tiles(size(at), across, down, across * down);
         });
}

}  // namespace impipe::jit
