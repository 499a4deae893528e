// A form is one way in which kernels make an image that is stored. Forms are rows of a table
// (choose/all_forms.hpp). Each lies in its family's folder, with its writer, its kernel file and
// its numbers (docs/adding-a-form.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "backends/jit/plan/kernel_plan.hpp"

namespace impipe::jit {

class Builder;
class LaunchContext;

// What a form's kernels do for one pixel of the result. choose/cost_model makes microseconds of it
// by a device's coefficients.
struct Work {
  double bytes = 0;       // read from and written to device memory
  double operations = 0;  // 32-bit instructions of a work-item
  int launches = 1;
};

// A node whose pixels are stored, and what is stored besides.
struct FormQuestion {
  const KernelContext& context;
  const Planes& planes;
  int n;
  const Node& node() const { return context.node(n); }
  PixelClass cls() const { return node().cls; }
};

// What a form answers: its work and why it suits the node, or else why it cannot make it.
struct Offer {
  Work work;
  Form form;
  std::string reason;
  std::string veto;  // not empty: the form cannot make the node
};
inline Offer vetoed(std::string why) {
  return {.work = {}, .form = {}, .reason = {}, .veto = std::move(why)};
}

struct FormRow {
  std::string_view name;  // as `impipe plan --device` prints it
  Offer (*offer)(const FormQuestion& question);
  // Writes the kernels that make node n and store it. Returns which launches they take; a null
  // function: all. Work-items of one pixel take the others.
  std::function<bool(const LaunchContext&)> (*write)(Builder& builder, const KernelPlan& plan,
                                                     int n);
};

// Bytes of a node's pixel and of its images', each moved once.
double bytes_moved(const KernelContext& context, int n);

}  // namespace impipe::jit
