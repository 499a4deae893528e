// Finds kernels of a program that are the same but for their names.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "backends/jit/text/program_parts.hpp"

namespace impipe::jit {
namespace {

using Field = ProgramParts::Field;
using Piece = ProgramParts::Piece;

// From the names of kernel `from` to those of another that is the same; nothing where it is not.
std::optional<Renaming> same_kernel(const ProgramParts& parts, const Piece& from, const Piece& to) {
  std::map<std::string, const Piece*> functions;
  for (const Piece& piece : parts.pieces) {
    for (const std::string& name : piece.code.defines) functions[name] = &piece;
  }
  Renaming names;
  std::vector<std::pair<const Piece*, const Piece*>> pairs = {{&from, &to}};
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
  for (const auto& [name, pointer] : from.pointers) {
    const auto found = to.pointers.find(names.of(name));
    if (found == to.pointers.end() || !names.match(pointer, found->second)) return std::nullopt;
  }
  return from.pointers.size() == to.pointers.size() ? std::optional(names) : std::nullopt;
}

// The parameters of a pass of kernel `to` that is launched as kernel `from`, none where they are
// the same; nothing where the kernels differ in more than names.
std::optional<std::vector<Field>> own_parameters(const ProgramParts& parts, const Piece& from,
                                                 const Piece& to) {
  if (from.local_bytes != to.local_bytes) return std::nullopt;
  const std::optional<Renaming> names = same_kernel(parts, from, to);
  if (!names) return std::nullopt;
  const auto number = [&](const std::string& name) {
    return std::ranges::find(parts.fields, name, &Field::name) - parts.fields.begin();
  };
  std::vector<Field> own;
  for (const auto& [name, other] : names->names()) {
    const auto its = number(name), of_other = number(other);
    if (its == of_other) continue;
    if (std::max(its, of_other) == std::ssize(parts.fields)) return std::nullopt;
    const Field &field = parts.fields[its], &value = parts.fields[of_other];
    if (field.type != value.type || field.count != value.count) return std::nullopt;
    if (own.empty()) own = parts.fields;
    own[its].value = value.value;
  }
  return own;
}

}  // namespace

void fold_kernels(ProgramParts& parts) {
  std::vector<const Piece*> kernels;  // that stay
  int entry = 0;
  for (Piece& piece : parts.pieces) {
    if (piece.entry.empty()) continue;
    std::optional<std::vector<Field>> own;
    const auto same = std::ranges::find_if(kernels, [&](const Piece* kernel) {
      own = own_parameters(parts, *kernel, piece);
      return own.has_value();
    });
    for (ProgramParts::PassPlan& pass : parts.passes) {
      if (pass.entry != entry) continue;
      pass.entry = static_cast<int>(same - kernels.begin());
      if (own) pass.fields = *own;
    }
    if (own) {
      piece = {};
    } else {
      kernels.push_back(&piece);
    }
    ++entry;
  }
}

}  // namespace impipe::jit
