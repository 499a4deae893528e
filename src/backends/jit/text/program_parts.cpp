// Puts a program together: drops what no kernel uses, and writes the text and what launches it.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/program_parts.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

int bytes_of(ParameterType type) {
  return type == ParameterType::int64 || type == ParameterType::float64 ? 8 : 4;
}

const char* name_of(ParameterType type) {
  static constexpr const char* names[] = {"long", "double", "float", "int"};
  return names[static_cast<int>(type)];
}

std::int64_t ProgramParts::ScratchPlan::step(const LaunchContext& at) const {
  if (contents || table || of_all) return 0;
  return (bytes(at) + row_alignment - 1) / row_alignment * row_alignment;
}

namespace {

using Field = ProgramParts::Field;
using NamedBuffer = ProgramParts::NamedBuffer;
using Piece = ProgramParts::Piece;
using ScratchPlan = ProgramParts::ScratchPlan;

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

std::vector<std::byte> packed(const std::vector<Field>& fields, const LaunchContext& at) {
  std::vector<std::byte> out;
  for (const Field& field : fields) {
    for (int i = 0; i < field.count; ++i) put(out, field.type, field.value(at, i));
  }
  out.resize((out.size() + 7) / 8 * 8);
  return out;
}

// What a launch of the program is.
LaunchPlan launch_plan(const ProgramParts& parts, const LaunchValues& values) {
  const LaunchContext at(values);
  LaunchPlan plan;
  plan.parameters = packed(parts.fields, at);
  for (const ScratchPlan& s : parts.scratches) {
    const bool each = values.count > 1 && !s.of_all;
    Scratch made{each ? s.step(at) * values.count : s.bytes(at), s.cleared, s.kept, {}};
    for (int i = 0; i < s.count; ++i) put(made.contents, s.type, s.contents(at, i));
    if (s.table) {
      for (const double value : s.table(at)) put(made.contents, s.type, value);
    }
    plan.scratch.push_back(std::move(made));
  }
  for (const ProgramParts::PassPlan& pass : parts.passes) {
    LaunchShape shape = pass.shape(at);
    if (shape.groups[0] <= 0 || shape.groups[1] <= 0 || shape.groups[2] <= 0) continue;
    shape.groups[2] *= values.count;
    plan.passes.push_back(
        {pass.entry, shape, pass.buffers,
         pass.fields.empty() ? std::vector<std::byte>() : packed(pass.fields, at)});
  }
  return plan;
}

// Drops functions that no kernel calls.
void drop_functions(std::vector<Piece>& pieces) {
  std::set<std::string> called;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (!piece->function.empty() && !called.contains(piece->function)) *piece = {};
    called.insert(piece->code.calls.begin(), piece->code.calls.end());
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.code.text.empty(); });
}

// Drops parameters and buffers that no text names, and orders those that stay.
void drop_names(ProgramParts& parts) {
  std::set<std::string> parameters, buffers;
  for (const Piece& piece : parts.pieces) {
    parameters.insert(piece.code.parameters.begin(), piece.code.parameters.end());
    buffers.insert(piece.code.buffers.begin(), piece.code.buffers.end());
    for (const auto& [name, pointer] : piece.pointers) {
      buffers.insert(name);
      const Code code = code_of(pointer);
      parameters.insert(code.parameters.begin(), code.parameters.end());
    }
  }
  const auto arrange = [&](std::vector<Field>& fields) {
    std::erase_if(fields, [&](const Field& field) { return !parameters.contains(field.name); });
    // 8-byte members first, so that no compiler puts gaps in the struct.
    std::ranges::stable_sort(fields, {}, &Field::type);
  };
  arrange(parts.fields);
  for (ProgramParts::PassPlan& pass : parts.passes) arrange(pass.fields);
  std::erase_if(parts.buffers, [&](const NamedBuffer& b) { return !buffers.contains(b.name); });
}

// Drops memory that no pass is given.
void drop_scratches(ProgramParts& parts) {
  std::map<int, int> numbers;
  for (const ProgramParts::PassPlan& pass : parts.passes) {
    for (const Buffer& b : pass.buffers) {
      if (b.kind == Buffer::Kind::scratch) numbers[b.index] = 0;
    }
  }
  std::vector<ScratchPlan> kept;
  for (auto& [index, number] : numbers) {
    number = static_cast<int>(kept.size());
    kept.push_back(std::move(parts.scratches[static_cast<std::size_t>(index)]));
  }
  parts.scratches = std::move(kept);
  for (ProgramParts::PassPlan& pass : parts.passes) {
    for (Buffer& b : pass.buffers) {
      if (b.kind == Buffer::Kind::scratch) b.index = numbers[b.index];
    }
  }
}

std::string text_of(const Piece& piece, const std::vector<NamedBuffer>& buffers) {
  if (piece.entry.empty()) return piece.code.text;
  // The struct's members are all buffers of the program; those added later stay zero.
  std::string members;
  for (const NamedBuffer& b : buffers) {
    if (b.number >= piece.buffers) break;
    const auto pointer = piece.pointers.find(b.name);
    members += (members.empty() ? "" : ", ") +
               (pointer == piece.pointers.end() ? std::string("0") : pointer->second);
  }
  std::string text =
      declared("const struct Parameters*", "params", "&all_parameters") + piece.arrays;
  if (!members.empty()) {
    text += declared("const struct Buffers", "all_buffers", listed(members)) +
            declared("const struct Buffers*", "buffers", "&all_buffers");
  }
  return piece.head + braced(text + piece.code.text);
}

std::string text_of(const ProgramParts& parts) {
  std::string members;
  int bytes = 0;
  for (const Field& field : parts.fields) {
    members += field.count > 1 ? array_of(name_of(field.type), field.name, field.count)
                               : statement(std::string(name_of(field.type)) + " " + field.name);
    bytes += bytes_of(field.type) * field.count;
  }
  if (bytes % 8 != 0) members += statement("int padding");
  std::string text = after_line(struct_of("Parameters", members));
  std::string pointers;
  for (const NamedBuffer& b : parts.buffers) {
    pointers += statement(std::string(b.local > 0 ? "IN_LOCAL " : "GLOBAL ") +
                          (b.written ? "" : "const ") + b.type + "* " + b.name);
  }
  if (!pointers.empty()) text += struct_of("Buffers", pointers);
  text += defined("PARAMS", "const struct Buffers* buffers, const struct Parameters* params") +
          defined("ARGS", "buffers, params");
  for (const Piece& piece : parts.pieces) text += text_of(piece, parts.buffers);
  return indented(text);
}

}  // namespace

Program assembled(ProgramParts parts) {
  fold_kernels(parts);
  drop_functions(parts.pieces);
  drop_names(parts);
  drop_scratches(parts);
  if (parts.fields.empty()) {
    parts.fields = {{ParameterType::int64, "unused", 1, [](const auto&, int) { return 0.0; }}};
  }
  const std::string text = text_of(parts);
  Program program;
  program.source = "// impipe: generated from the plan\n//\n" + commented(parts.spec->key()) +
                   "\n" + prelude_of(parts.dialect, text) + text;
  for (const Piece& piece : parts.pieces) {
    if (piece.entry.empty()) continue;
    program.entries.push_back(piece.entry);
    program.local_bytes.push_back(piece.local_bytes);
  }
  program.max_registers = parts.max_registers;
  parts.pieces.clear();
  program.launch = [parts = std::move(parts)](const LaunchValues& values) {
    return launch_plan(parts, values);
  };
  return program;
}

}  // namespace impipe::jit
