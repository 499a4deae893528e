// A Pipeline: operators with checked arguments, in order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/operator.hpp"

namespace impipe::pipeline {

struct Stage;

// One stage of the text: an operator, `as NAME` or `save TEMPLATE`.
struct BoundStage {
  std::optional<Call> call;   // an operator
  std::string keep_as;        // `as NAME`
  std::string measured_as;    // of an operator that measures: `mean2 as NAME`
  std::string save_template;  // `save TEMPLATE`
  Span span;
  std::string text;  // canonical, for reports
  // The stage as written where arguments are measured numbers (Measured), which each image has its
  // own of; null otherwise. `call` has numbers in range instead of them until they are measured.
  std::shared_ptr<const Stage> waiting = nullptr;
};

// Whether it takes the pages of a file, or files: not where it names images instead of them.
bool takes_several(const Call& call);

struct Pipeline {
  std::string text;    // as written
  std::string origin;  // where the text came from
  std::vector<BoundStage> stages;
  // Images that must come from --with: named by a stage before any `as` of that name.
  std::vector<std::string> operands;

  // The first stage makes the image: there are no inputs.
  bool has_source() const;
  // What the source makes, without making it; and its image. Only when has_source().
  MadeImage describe_source() const;
  HostImage make_source() const;
  // Whether it makes one image of several: project, stack, temporal.
  bool has_reduction() const;
  // The stage that makes one image of all files; null where there is none.
  const BoundStage* file_reduction() const;
  // Whether arguments of a stage are measured numbers; see measured_arguments.hpp.
  bool has_measured_arguments() const;
  // Whether it depends on the display window of its input: `imcrop display`.
  bool reads_display() const;
  // Whether it depends on the ICC profile of its input; and whether it converts colours by that.
  bool reads_profile() const;
  bool converts_colours() const;
};

}  // namespace impipe::pipeline
