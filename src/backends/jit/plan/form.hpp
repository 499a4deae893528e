// A form is one way in which kernels make an image that is stored. Forms are rows of a table
// (choose/all_forms.cpp). Each lies in its family's folder, with its writer, its kernel file and
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

// The rows, each defined in the file of its writer.
extern const FormRow transposition_form;  // through tiles in local memory
// Neighbourhoods of neighbourhoods, or one of points: nothing between them is stored.
extern const FormRow strip_form;
// Extrema over rectangles of any size, at a cost that does not grow with the sides.
extern const FormRow van_herk_form;
// Extrema over large masks that are no rectangles: discs, diamonds, lines. The cost grows with the
// rows of the mask, not with its cells.
extern const FormRow mask_runs_form;
// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory and
// reads the column pass there. Separable filters, and rectangles of extrema that are not small.
extern const FormRow two_passes_form;
// A work-item makes a block of pixels: wide loads, neighbourhoods held in registers, wide stores.
extern const FormRow blocks_form;
// Ranks of wide pixels: groups sort tiles, so that counts of some places in the order find a value
// of any class; for larger windows kernels sort blocks, and join them.
extern const FormRow rank_tiles_form, rank_blocks_form;
// Ranks of large windows: each work-item moves a window down a strip of a column and keeps a
// histogram of it in local memory.
extern const FormRow rank_histogram_form;
extern const FormRow affine_tiles_form, nearest_resize_form;
extern const FormRow whole_resize_form;  // by a ratio of whole numbers
extern const FormRow resize_tiles_form;  // launches whose columns local memory holds
// A pixel a work-item: what every image can be made by.
extern const FormRow pixels_form;

// Bytes of a node's pixel and of its images', each moved once.
double bytes_moved(const KernelContext& context, int n);

}  // namespace impipe::jit
