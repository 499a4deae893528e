// Connected components on a GPU.
#pragma once

#include <string>

#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

// What the writers of a Label node's kernels have in common.
class LabelWriterBase {
 protected:
  static constexpr int items = 128;
  LabelWriterBase(Builder& builder, int n);
  bool is(Label::Kind kind) const { return label_.kind == kind; }
  // The node's own words, and those that all of its templates know.
  Substitutions with_common(Substitutions::Map words) const;

  Builder& builder_;
  const Node& node_;
  Label label_;
  Operand self_, image_;
  std::string name_;
};

// Functions over words of 32 pixels of a column, and forests in local and in global memory.
std::string label_functions();

// The kernels of Label node n, which stands alone: its image is stored in the end.
void write_label(Builder& builder, int n);
// Those whose values spread step by step: reach, and reconstruct and holes of gray images.
void write_reconstruction(Builder& builder, int n);
// Those of floods.
void write_flood(Builder& builder, int n);
// The kernels of Objects node n.
void write_objects(Builder& builder, int n);

}  // namespace impipe::jit
