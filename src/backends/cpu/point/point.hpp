// Point nodes: rows of pixels through a body, an expression or a table.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "backends/cpu/point/fixed_sum.hpp"
#include "backends/cpu/point/luminance.hpp"
#include "backends/cpu/point/word_sum.hpp"
#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/code_table.hpp"
#include "backends/cpu/tile/scratch.hpp"
#include "backends/cpu/tile/tile_image.hpp"
#include "core/row_evaluator.hpp"

namespace impipe::cpu {

// What a point node reads: the class of each plane, the white of its first image.
struct PointInputs {
  std::vector<PixelClass> classes;
  double white = 0;
};

// A point node of one launch that makes a plane. Immutable; used by all threads.
class PointProgram {
 public:
  PointProgram(const Node& node, const Arguments& arguments, const PointInputs& inputs, Size size,
               CpuLevel level);

  // Whether a pixel's column or row is one of its values.
  bool reads_place() const;

  // Evaluators of an expression: one thread's own.
  struct State {
    std::unique_ptr<RowEvaluator<float>> single;
    std::unique_ptr<RowEvaluator<double>> in_double;
  };

  // Pixels [x, x + n) of row y. in: the planes' rows at pixel x; spills: see TileOut.
  void run(std::byte* out, std::span<const std::byte* const> in, std::int64_t x, std::int64_t y,
           std::int64_t n, bool spills, State& state, Scratch& scratch) const;

  // Whether it and another point of the same planes of codes need their pixels as numbers of the
  // same kind. Several such points have them made once: outs has a place each, for n pixels.
  bool shares_numbers(const PointProgram& other) const;
  static void run_together(std::span<const PointProgram* const> programs,
                           std::span<std::byte* const> outs, std::span<const std::byte* const> in,
                           std::int64_t n, bool spills, Scratch& scratch);

  // Whether it makes |a - b| of two planes of bytes.
  bool is_byte_difference() const { return difference_; }

  // The table over all codes of the only input, when there can be one: one integer input, computed
  // in double, nothing that depends on the place.
  std::optional<CodeTable> table(State& state, Scratch& scratch) const;

  // Whether it makes the values of `table`, its own, for every code when it computes in single, in
  // less time than they are looked up.
  bool can_replace(const CodeTable& table, State& state, Scratch& scratch) const;
  // Computes in single from now on.
  void replace_table() { in_double_ = false; }

 private:
  // Where an input row of the body or a variable of the expression comes from.
  struct Binding {
    enum class Kind { image, column, row, width, height, white, argument } kind = Kind::image;
    int image = 0;  // which, or which argument
  };
  static Binding::Kind kind_of(const std::string& name);
  CodeTable table_as_it_is(State& state, Scratch& scratch) const;
  void look_for_line(CodeTable& table) const;
  template <class real>
  void run_as(std::byte* out, std::span<const std::byte* const> in, std::int64_t x, std::int64_t y,
              std::int64_t n, bool spills, State& state, Scratch& scratch) const;
  template <class real>
  void evaluate(real* out, std::span<const real* const> rows, std::int64_t n, State& state) const;
  template <class real>
  void fill_place(real* out, Binding::Kind kind, std::int64_t x, std::int64_t y,
                  std::int64_t n) const;
  bool makes_singles() const;

  const Point* point_;
  const Arguments* arguments_;
  PointInputs inputs_;
  PixelClass cls_;
  Size size_;
  CpuLevel level_;
  std::vector<Binding> bindings_;
  bool in_double_ = false;
  bool difference_ = false;          // |a - b| of bytes gives the same codes
  std::optional<FixedSum> fixed_;    // gives the same codes
  std::optional<MeanWeights> mean_;  // likewise
  std::optional<WordSum> words_;     // likewise
};

}  // namespace impipe::cpu
