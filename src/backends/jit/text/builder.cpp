// Collects the parts of a program: parameters, buffers, functions, kernels and their launches.
#include "backends/jit/text/builder.hpp"

#include <algorithm>
#include <cstring>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"

namespace impipe::jit {
namespace {

int bytes_of(ParameterType type) {
  return type == ParameterType::int64 || type == ParameterType::float64 ? 8 : 4;
}

const char* name_of(ParameterType type) {
  static constexpr const char* names[] = {"long", "double", "float", "int"};
  return names[static_cast<int>(type)];
}

void put(std::vector<std::byte>& out, ParameterType type, double value) {
  const auto append = [&](auto typed) {
    const std::size_t at = out.size();
    out.resize(at + sizeof typed);
    std::memcpy(out.data() + at, &typed, sizeof typed);
  };
  switch (type) {
    case ParameterType::int64: return append(static_cast<std::int64_t>(value));
    case ParameterType::float64: return append(value);
    case ParameterType::float32: return append(static_cast<float>(value));
    case ParameterType::int32: return append(static_cast<std::int32_t>(value));
  }
}

}  // namespace

ShapeFunction launch_groups(std::int64_t groups, int items) {
  return [groups, items](const LaunchContext&) {
    return LaunchShape{{groups, 1, 1}, {items, 1, 1}};
  };
}

ShapeFunction launch_items(LaunchNumber count, int items) {
  return [count = std::move(count), items](const LaunchContext& at) {
    return LaunchShape{{(count(at) + items - 1) / items, 1, 1}, {items, 1, 1}};
  };
}

LaunchShape launch_tiles(Size size, std::int64_t across, std::int64_t down, int items) {
  return {{(size.width + across - 1) / across, (size.height + down - 1) / down, 1}, {items, 1, 1}};
}

ShapeFunction launch_tiles(const Operand& image, std::int64_t across, std::int64_t down,
                           int items) {
  return [image, across, down, items](const LaunchContext& at) {
    return launch_tiles(at.size_of(image), across, down, items);
  };
}

Builder::Builder(const KernelSpec& spec, Dialect dialect, const Tuning& tuning)
    : spec_(std::make_shared<KernelSpec>(spec)), dialect_(dialect), tuning_(tuning) {}

void Builder::fail(const std::string& why) const {
  throw Error("a kernel can't be generated: " + why + "\n" + spec_->key(), ExitCode::backend);
}

std::int64_t Builder::values(const Operand& operand) const {
  if (!operand.external) return node(operand.index).values;
  const KernelInput& input = spec_->inputs[operand.index];
  return input.values * input.channels;
}

// --- parameters

std::string Builder::parameter(ParameterType type, const std::string& name, ParameterValue value) {
  return array(type, name, 1, std::move(value));
}

std::string Builder::array(ParameterType type, const std::string& name, int count,
                           ParameterValue value) {
  if (count == 0) return "0";  // nothing reads it, and no member is as small
  if (std::ranges::find(fields_, name, &Field::name) != fields_.end()) return "params->" + name;
  if (has_buffer(name)) return buffer(name, name_of(type), {}, true);
  const int bytes = bytes_of(type) * count;
  if (count > 1 && field_bytes_ + bytes > tuning_.parameter_bytes / 2) {
    const std::string text =
        scratch(name, name_of(type), [bytes](const LaunchContext&) { return bytes; });
    ScratchPlan& plan = scratches_.back();
    plan.type = type;
    plan.count = count;
    plan.contents = std::move(value);
    return text;
  }
  field_bytes_ += bytes;
  fields_.push_back({type, name, count, std::move(value)});
  return "params->" + name;
}

std::string Builder::table(ParameterType type, const std::string& name, TableValues values) {
  if (!has_buffer(name)) {
    scratch(name, name_of(type), [](const LaunchContext&) { return 0; });
    scratches_.back().type = type;
    scratches_.back().table = std::move(values);
  }
  return buffer(name, name_of(type), {}, true);
}

std::string Builder::integer(const std::string& name, LaunchNumber value) {
  return parameter(ParameterType::int32, name,
                   [value = std::move(value)](const LaunchContext& at, int) {
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
  const bool single = real == "float";
  return parameter(single ? ParameterType::float32 : ParameterType::float64,
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
  const bool single = real == "float";
  return parameter(single ? ParameterType::float32 : ParameterType::float64,
                   "n" + std::to_string(n) + "_" + label,
                   [n, index](const LaunchContext& at, int) { return at.argument(n, index); });
}

// --- buffers

bool Builder::has_buffer(const std::string& name) const {
  return std::ranges::find(buffers_, name, &NamedBuffer::name) != buffers_.end();
}

std::string Builder::buffer(const std::string& name, const std::string& type, Buffer place,
                            bool written) {
  if (!has_buffer(name)) buffers_.push_back({name, type, place, written});
  return "buffers->" + name;
}

std::string Builder::scratch(const std::string& name, const std::string& type, LaunchNumber bytes,
                             bool cleared) {
  const Buffer place{Buffer::Kind::scratch, static_cast<int>(scratches_.size())};
  if (!has_buffer(name)) scratches_.push_back({.bytes = std::move(bytes), .cleared = cleared});
  return buffer(name, type, place, true);
}

std::string Builder::scratch_of_all(const std::string& name, const std::string& type,
                                    LaunchNumber bytes) {
  const std::size_t known = scratches_.size();
  std::string text = scratch(name, type, std::move(bytes));
  if (scratches_.size() > known) scratches_.back().of_all = true;
  return text;
}

std::string Builder::ticket() {
  const std::size_t known = scratches_.size();
  const std::string text =
      scratch("ticket", "uint", [](const LaunchContext&) { return row_alignment; });
  if (scratches_.size() > known) scratches_.back().kept = true;
  return text;
}

std::string Builder::measure(const Operand& operand) {
  if (operand.external) {
    return buffer(name(operand), "double", {Buffer::Kind::input, operand.index}, false);
  }
  for (std::size_t i = 0; i < spec_->outputs.size(); ++i) {
    if (spec_->outputs[i] == operand.index) {
      return buffer(name(operand), "double", {Buffer::Kind::output, static_cast<int>(i)}, true);
    }
  }
  const std::int64_t bytes = 8 * values(operand);
  return scratch(name(operand), "double", [bytes](const LaunchContext&) { return bytes; });
}

std::string PlaneText::pixel() const { return pointer + "[y * " + stride + " + x]"; }

std::string Builder::local_array(const std::string& name, const std::string& type, int count) {
  const std::string text = buffer(name, type, {}, true);
  buffers_.back().local = count;
  return text;
}

PlaneText Builder::plane_text(const std::string& name, const std::string& pointer, PixelClass cls,
                              ParameterValue stride_bytes) {
  const int bytes = impipe::bytes_of(cls);
  const std::string stride =
      parameter(ParameterType::int64, name + "_stride",
                [bytes, stride_bytes = std::move(stride_bytes)](const LaunchContext& at, int i) {
                  return stride_bytes(at, i) / bytes;
                });
  return {pointer, stride};
}

PlaneText Builder::scratch_plane(const std::string& name, PixelClass cls,
                                 std::function<Size(const LaunchContext&)> size) {
  const std::string pointer = scratch(name, type_of(cls), [cls, size](const LaunchContext& at) {
    return row_bytes(cls, size(at)) * size(at).height;
  });
  return plane_text(name, pointer, cls, [cls, size](const LaunchContext& at, int) {
    return static_cast<double>(row_bytes(cls, size(at)));
  });
}

PlaneText Builder::plane(const Operand& operand) {
  const std::string n = name(operand);
  const int index = operand.external ? operand.index : output_of(operand.index);
  if (!operand.external && index < 0) {
    return scratch_plane(n, cls(operand),
                         [operand](const LaunchContext& at) { return at.size_of(operand); });
  }
  const bool input = operand.external;
  const std::string pointer =
      buffer(n, type_of(cls(operand)), {input ? Buffer::Kind::input : Buffer::Kind::output, index},
             !input);
  return plane_text(n, pointer, cls(operand), [input, index](const LaunchContext& at, int) {
    return static_cast<double>((input ? at.input(index) : at.output(index)).stride);
  });
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
  pieces_.push_back({.code = std::move(code), .function = name});
}

void Builder::body_once(const std::string& name, const std::string& text) {
  if (bodies_.insert(name).second) body(text);
}

// --- kernels

std::int64_t Builder::ScratchPlan::step(const LaunchContext& at) const {
  if (contents || table || of_all) return 0;
  return (bytes(at) + row_alignment - 1) / row_alignment * row_alignment;
}

std::string Builder::place_of(const NamedBuffer& b) {
  const auto index = static_cast<std::size_t>(b.place.index);
  const bool written = b.place.kind == Buffer::Kind::output,
             scratch = b.place.kind == Buffer::Kind::scratch;
  int channel = own_channel, whole = 1;  // channels that the kernel sees of it
  if (written && !spec_->output_channels.empty()) channel = spec_->output_channels[index];
  if (!written && !scratch) {
    channel = spec_->inputs[index].channel;
    whole = spec_->inputs[index].channels;
  }
  const auto shape = [written, index](const LaunchContext& at) {
    return written ? at.output(static_cast<int>(index)) : at.input(static_cast<int>(index));
  };
  const auto bytes = [&](const std::string& what, ParameterValue value) {
    return parameter(ParameterType::int64, b.name + what, std::move(value));
  };
  std::string offset;
  if (scratch && tuning_.stacked) {
    offset = "GROUP_Z * " +
             bytes("_plane_step", [plan = scratches_[index]](const LaunchContext& at, int) {
               return static_cast<double>(plan.step(at));
             });
  } else if (!scratch && tuning_.stacked && channel == own_channel) {
    offset = "GROUP_Z * " + bytes("_plane_step", [shape, whole](const LaunchContext& at, int) {
               return static_cast<double>(shape(at).step * whole);
             });
  } else if (!scratch && tuning_.stacked) {
    const std::string planes =
        integer("planes", [](const LaunchContext& at) { return at.spec().planes; });
    offset = "(int)GROUP_Z / " + planes + " * " +
             bytes("_plane_step", [shape](const LaunchContext& at, int) {
               return static_cast<double>(shape(at).step * shape(at).channels);
             });
  }
  // Of the first channel too where there are others: the kernels that write them are then the same.
  const auto other = [](int c) { return c > 0; };
  const bool several =
      std::any_of(spec_->output_channels.begin(), spec_->output_channels.end(), other) ||
      std::any_of(spec_->inputs.begin(), spec_->inputs.end(),
                  [&](const KernelInput& input) { return other(input.channel); });
  if (channel != own_channel && several) {
    offset += (offset.empty() ? "" : " + ") +
              bytes("_plane_place", [shape, channel](const LaunchContext& at, int) {
                return static_cast<double>(shape(at).step * channel);
              });
  }
  if (offset.empty()) return b.name + "_buffer";
  const std::string qualified = std::string("GLOBAL ") + (b.written ? "" : "const ");
  return "(" + qualified + b.type + "*)((" + qualified + "char*)" + b.name + "_buffer + " + offset +
         ")";
}

void Builder::kernel(const std::string& name, int items, const std::string& text,
                     ShapeFunction shape, int groups, int local_bytes) {
  Piece piece;
  const std::size_t comment = comment_length(text);
  piece.code = code_of(text.substr(comment));
  const std::set<std::string> used = buffers_of(piece.code);
  std::string signature, arrays;
  std::vector<Buffer> places;
  for (const NamedBuffer& b : buffers_) {
    if (!used.contains(b.name)) continue;
    if (b.local > 0) {
      arrays += array_of("LOCAL " + b.type, b.name + "_array", b.local);
      piece.pointers[b.name] = b.name + "_array";
      continue;
    }
    piece.pointers[b.name] = place_of(b);
    // Work-items hand measurements to one another in a kernel, which `restrict` denies: a compiler
    // would move their loads before the barrier.
    const bool handed_on = b.written && b.type == "double";
    signature += std::string("GLOBAL ") + (b.written ? "" : "const ") + b.type +
                 (handed_on ? "* " : "* RESTRICT ") + b.name + "_buffer, ";
    places.push_back(b.place);
  }
  piece.buffers = buffers_.size();
  const std::string count = std::to_string(items);
  piece.head = after_line(text.substr(0, comment)) + "KERNEL" +
               (groups == 0 ? "(" + count : "_DENSE(" + count + ", " + std::to_string(groups)) +
               ") void " + name + "(" + signature + "PARAMETERS) ";
  piece.arrays = std::move(arrays);
  pieces_.push_back(std::move(piece));
  passes_.push_back({static_cast<int>(entries_.size()), std::move(shape), std::move(places)});
  entries_.push_back(name);
  local_bytes_.push_back(dialect_ == Dialect::cuda ? local_bytes : 0);
  if (dialect_ == Dialect::opencl_nvidia && groups > 0) {
    // The limit is the program's: that of the kernel that wants the most. Registers are given out
    // in eights.
    constexpr int registers_of_processor = 65536;
    max_registers_ = std::max(max_registers_, registers_of_processor / (items * groups) / 8 * 8);
  }
}

void Builder::kernel_before(const std::string& name, int items, const std::string& text,
                            ShapeFunction shape) {
  kernel(name, items, text, std::move(shape));
  std::rotate(passes_.begin(), passes_.end() - 1, passes_.end());
}

void Builder::repeat(int kernels, int most,
                     const std::function<LaunchShape(const LaunchContext&, int time)>& shape) {
  const std::size_t first = passes_.size() - static_cast<std::size_t>(kernels);
  for (int time = 0; time < most; ++time) {
    for (int k = 0; k < kernels; ++k) {
      PassPlan again = passes_[first + static_cast<std::size_t>(k)];
      again.shape = [shape, time](const LaunchContext& at) { return shape(at, time); };
      passes_.push_back(std::move(again));
    }
  }
}

void Builder::repeat(int kernels, int most) {
  const std::vector<PassPlan> again(passes_.end() - kernels, passes_.end());
  for (int time = 0; time < most; ++time) passes_.insert(passes_.end(), again.begin(), again.end());
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

// --- the program

std::vector<std::byte> Builder::packed(const std::vector<Field>& fields, const LaunchContext& at) {
  std::vector<std::byte> out;
  for (const Field& field : fields) {
    for (int i = 0; i < field.count; ++i) put(out, field.type, field.value(at, i));
  }
  out.resize((out.size() + 7) / 8 * 8);
  return out;
}

struct Builder::Launcher {
  std::shared_ptr<const KernelSpec> spec;
  std::vector<Field> fields;
  std::vector<ScratchPlan> scratches;
  std::vector<PassPlan> passes;

  LaunchPlan operator()(const LaunchValues& values) const {
    const LaunchContext at(values);
    LaunchPlan plan;
    plan.parameters = packed(fields, at);
    for (const ScratchPlan& s : scratches) {
      const bool each = values.count > 1 && !s.of_all;
      Scratch made{each ? s.step(at) * values.count : s.bytes(at), s.cleared, s.kept, {}};
      for (int i = 0; i < s.count; ++i) put(made.contents, s.type, s.contents(at, i));
      if (s.table) {
        for (const double value : s.table(at)) put(made.contents, s.type, value);
      }
      plan.scratch.push_back(std::move(made));
    }
    for (const PassPlan& pass : passes) {
      LaunchShape shape = pass.shape(at);
      if (shape.groups[0] <= 0 || shape.groups[1] <= 0 || shape.groups[2] <= 0) continue;
      shape.groups[2] *= values.count;
      plan.passes.push_back(
          {pass.entry, shape, pass.buffers,
           pass.fields.empty() ? std::vector<std::byte>() : packed(pass.fields, at)});
    }
    return plan;
  }
};

std::string Builder::text_of(const Piece& piece, const std::vector<std::string>& known) const {
  // The struct's members are all buffers of the program; those added later stay zero.
  std::string members;
  for (const NamedBuffer& b : buffers_) {
    const auto place = std::find(known.begin(), known.end(), b.name) - known.begin();
    if (static_cast<std::size_t>(place) >= piece.buffers) break;
    const auto pointer = piece.pointers.find(b.name);
    members += (members.empty() ? "" : ", ") +
               (pointer == piece.pointers.end() ? std::string("0") : pointer->second);
  }
  if (piece.head.empty()) return piece.code.text;
  std::string text =
      declared("const struct Parameters*", "params", "&all_parameters") + piece.arrays;
  if (!members.empty()) {
    text += declared("const struct Buffers", "all_buffers", listed(members)) +
            declared("const struct Buffers*", "buffers", "&all_buffers");
  }
  return piece.head + braced(text + piece.code.text);
}

std::optional<Renaming> Builder::same_kernel(std::size_t from, std::size_t to) const {
  std::map<std::string, const Piece*> functions;
  for (const Piece& piece : pieces_) {
    for (const std::string& name : piece.code.defines) functions[name] = &piece;
  }
  Renaming names;
  std::vector<std::pair<const Piece*, const Piece*>> pairs = {{&pieces_[from], &pieces_[to]}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [a, b] = pairs[i];
    if (!names.match(a->head, b->head) || !names.match(a->arrays, b->arrays) ||
        !names.match(a->code.text, b->code.text)) {
      return std::nullopt;
    }
    std::set<std::string> used = a->code.calls;  // and what macros are told the names of
    for (const auto& [name, other] : names.names()) used.insert(name);
    for (const std::string& name : used) {
      const auto its = functions.find(name), other = functions.find(names.of(name));
      if ((its == functions.end()) != (other == functions.end())) return std::nullopt;
      if (its == functions.end()) continue;
      const std::pair pair{its->second, other->second};
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
    }
  }
  const auto &its = pieces_[from].pointers, &other = pieces_[to].pointers;
  for (const auto& [name, pointer] : its) {
    const auto found = other.find(names.of(name));
    if (found == other.end() || !names.match(pointer, found->second)) return std::nullopt;
  }
  return its.size() == other.size() ? std::optional(names) : std::nullopt;
}

std::optional<std::map<std::string, ParameterValue>> Builder::own_parameters(
    const Renaming& names) const {
  const auto field = [&](const std::string& name) {
    return std::find_if(fields_.begin(), fields_.end(),
                        [&](const Field& f) { return f.name == name; });
  };
  std::map<std::string, ParameterValue> values;
  for (const auto& [from, to] : names.names()) {
    const auto its = field(from), own = field(to);
    if ((its == fields_.end()) != (own == fields_.end())) return std::nullopt;
    if (its == own) continue;
    if (its->type != own->type || its->count != own->count) return std::nullopt;
    values[from] = own->value;
  }
  return values;
}

void Builder::fold_kernels() {
  std::vector<std::size_t> kernels;  // the piece of each entry
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!pieces_[i].head.empty()) kernels.push_back(i);
  }
  std::vector<std::size_t> kept;  // entries
  for (std::size_t e = 0; e < kernels.size(); ++e) {
    std::optional<std::map<std::string, ParameterValue>> own;
    std::size_t place = 0;
    for (; place < kept.size(); ++place) {
      if (local_bytes_[kept[place]] != local_bytes_[e]) continue;
      const std::optional<Renaming> names = same_kernel(kernels[kept[place]], kernels[e]);
      if (names) own = own_parameters(*names);
      if (own) break;
    }
    for (PassPlan& pass : passes_) {
      if (pass.entry != static_cast<int>(e)) continue;
      pass.entry = static_cast<int>(place);
      if (own) pass.own = *own;
    }
    if (own) {
      pieces_[kernels[e]] = {};
    } else {
      kept.push_back(e);
    }
  }
  for (std::size_t place = 0; place < kept.size(); ++place) {
    entries_[place] = entries_[kept[place]];
    local_bytes_[place] = local_bytes_[kept[place]];
  }
  entries_.resize(kept.size());
  local_bytes_.resize(kept.size());
}

void Builder::drop_functions() {
  std::set<std::string> called;
  // A function is written before those that call it.
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    if (!piece->function.empty() && !called.contains(piece->function)) *piece = {};
    called.insert(piece->code.calls.begin(), piece->code.calls.end());
  }
  std::erase_if(pieces_, [](const Piece& piece) { return piece.code.text.empty(); });
}

void Builder::prune() {
  std::set<std::string> parameters, buffers;
  for (const Piece& piece : pieces_) {
    parameters.insert(piece.code.parameters.begin(), piece.code.parameters.end());
    buffers.insert(piece.code.buffers.begin(), piece.code.buffers.end());
    for (const auto& [name, pointer] : piece.pointers) {
      buffers.insert(name);
      const Code code = code_of(pointer);
      parameters.insert(code.parameters.begin(), code.parameters.end());
    }
  }
  std::erase_if(fields_, [&](const Field& field) { return !parameters.contains(field.name); });
  std::erase_if(buffers_, [&](const NamedBuffer& b) { return !buffers.contains(b.name); });
  // Memory that no pass is given.
  std::vector<int> place(scratches_.size(), -1);
  for (const PassPlan& pass : passes_) {
    for (const Buffer& b : pass.buffers) {
      if (b.kind == Buffer::Kind::scratch) place[static_cast<std::size_t>(b.index)] = 0;
    }
  }
  int kept = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    place[i] = kept++;
    if (static_cast<std::size_t>(place[i]) != i) {
      scratches_[static_cast<std::size_t>(place[i])] = std::move(scratches_[i]);
    }
  }
  scratches_.resize(static_cast<std::size_t>(kept));
  for (PassPlan& pass : passes_) {
    for (Buffer& b : pass.buffers) {
      if (b.kind == Buffer::Kind::scratch) b.index = place[static_cast<std::size_t>(b.index)];
    }
  }
}

Program Builder::finish() {
  std::vector<std::string> known;  // buffers, in their order
  for (const NamedBuffer& b : buffers_) known.push_back(b.name);
  fold_kernels();
  drop_functions();
  prune();
  // 8-byte members first, so that no compiler puts gaps in the struct.
  std::stable_sort(fields_.begin(), fields_.end(),
                   [](const Field& a, const Field& b) { return a.type < b.type; });
  if (fields_.empty())
    parameter(ParameterType::int64, "unused", [](const auto&, int) { return 0.0; });
  std::string members;
  int bytes = 0;
  for (const Field& field : fields_) {
    members += field.count > 1 ? array_of(name_of(field.type), field.name, field.count)
                               : statement(std::string(name_of(field.type)) + " " + field.name);
    bytes += bytes_of(field.type) * field.count;
  }
  if (bytes % 8 != 0) members += statement("int padding");
  std::string text = after_line(struct_of("Parameters", members));
  std::string pointers;
  for (const NamedBuffer& b : buffers_) {
    pointers += statement(std::string(b.local > 0 ? "IN_LOCAL " : "GLOBAL ") +
                          (b.written ? "" : "const ") + b.type + "* " + b.name);
  }
  if (!pointers.empty()) text += struct_of("Buffers", pointers);
  text += defined("PARAMS", "const struct Buffers* buffers, const struct Parameters* params") +
          defined("ARGS", "buffers, params");
  for (const Piece& piece : pieces_) text += text_of(piece, known);
  Program program;
  text = indented(text);
  for (PassPlan& pass : passes_) {
    if (pass.own.empty()) continue;
    pass.fields = fields_;
    for (Field& field : pass.fields) {
      const auto own = pass.own.find(field.name);
      if (own != pass.own.end()) field.value = own->second;
    }
  }
  program.source = "// impipe: generated from the plan\n//\n" + commented(spec_->key()) + "\n" +
                   prelude_of(dialect_, text) + text;
  program.entries = entries_;
  program.local_bytes = local_bytes_;
  program.max_registers = max_registers_;
  program.launch = Launcher{spec_, fields_, scratches_, passes_};
  return program;
}

}  // namespace impipe::jit
