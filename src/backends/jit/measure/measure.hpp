// The kernels of histograms, selections and scalars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/plan/measure_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// The kernels that make node n's measurement.
void write_histogram(Builder& builder, const CountedCodes& counted, int n);
// The function NAME_bin(params, v), once a program; returns its name: Histogram node n's bin of a
// value, -1 for none.
std::string write_bin(Builder& builder, int n);
// The counts of codes.
struct CodeCounts {
  std::string counts;  // text of their memory
  int counters = 0;
  bool kept = false;                  // zeros stay there for the next launch
  std::optional<Operand> plane = {};  // whose codes they are; none: of the image
};
// The kernels that make bins of them for Histogram node n.
void write_bins_of_codes(Builder& builder, int n, const CodeCounts& codes);
void write_select(Builder& builder, const Selection& selection, int n);
// The code of each of 16 bytes `v` is counted: its counters are 4 * `copies` bytes, this
// work-item's `own_byte` further on.
std::string each_code_of_chunk(int copies);
void write_tile_histogram(Builder& builder, int n);
void write_scalar(Builder& builder, int n, LaunchTest wanted = {});
// Theirs, of which none is for a group: one after the other.
void write_scalars(Builder& builder, const std::vector<int>& nodes);

// Those that make node n's image of tables of such tiles.
void write_between_tables(Builder& builder, int n);

// What bodies for a group may call, once a program; by_group: by all its work-items, else by one.
void write_group_words(Builder& builder, bool by_group);

// Text by which one group, which has made their measurements, runs them too: they are made then.
std::string scalars_at_end(Builder& builder, const std::vector<int>& scalars, int items);
// Whether a group runs the body of one of them; its kernel declares this memory first.
bool any_by_group(const Builder& builder, const std::vector<int>& scalars);
std::string group_memory(int items);

// The kernels that count the 65,536 codes of Histogram node n's uint16 image in local memory, as
// the plan says.
void write_wide_histogram(Builder& builder, const CountedCodes& counted, int n);

}  // namespace impipe::jit
