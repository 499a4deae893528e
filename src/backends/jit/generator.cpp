// Makes the program of a kernel: its plan, then the kernels of each node in the form it has there.
#include "backends/jit/generator.hpp"

#include <string>
#include <variant>

#include "backends/jit/block/block.hpp"
#include "backends/jit/choose/choose.hpp"
#include "backends/jit/components/label.hpp"
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/measure/reduce.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/one_of.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

class Generator {
 public:
  Generator(const KernelSpec& spec, Dialect dialect, const Tuning& tuning)
      : builder_(spec, dialect, tuning), plan_(choose(spec, tuning, dialect)) {}

  Program run() {
    for (int n = 0; n < static_cast<int>(plan_.nodes.size()); ++n) {
      std::visit(Writer{builder_, plan_, n}, plan_.node(n).form);
    }
    Program program = builder_.finish();
    program.plan = commented(to_text(plan_, builder_.spec()));
    return program;
  }

 private:
  // Writes a node's pixel as a function.
  struct PixelWriter {
    Builder& builder;
    const NodePlan& plan;
    int n;
    const std::string& name;
    const std::string& through;  // what reads a row pass or a framed tile, if not their plane
    void operator()(const Point&) const { write_point(builder, n, name); }
    void operator()(const Permute&) const { write_permute(builder, n, name); }
    void operator()(const Window&) const { write_window(builder, n, name); }
    void operator()(const Resample&) const { write_resample(builder, n, name); }
    void operator()(const Stencil&) const { write_stencil(builder, n, name, through); }
    void operator()(const Separable&) const { write_separable(builder, n, name, through); }
    void operator()(const Extremum&) const {
      write_extremum(builder, n, name, plan.rows.by == RowPass::By::pixels);
    }
    void operator()(const Rank& rank) const {
      write_rank(builder, n, name, ranks_by_network(builder.tuning(), rank, builder.node(n).cls));
    }
    template <class Other>
    void operator()(const Other& other) const {
      builder.fail(std::string(name_of(Primitive(other))) + " is not made pixel by pixel");
    }
  };

  // Writes the kernels that make a node as a whole. A primitive that is named nowhere here does not
  // compile.
  struct WholeWriter {
    Builder& builder;
    int n;
    void operator()(const Scalar&) const { write_scalar(builder, n); }
    void operator()(const Distance&) const { write_distance(builder, n); }
    void operator()(const Diffuse&) const { write_diffuse(builder, n); }
    void operator()(const Project& p) const {
      p.inverse ? write_backproject(builder, n) : write_project(builder, n);
    }
    void operator()(const Label&) const { write_label(builder, n); }
    void operator()(const Morph&) const { write_morph(builder, n); }
    void operator()(const Histogram&) const { write_tile_histogram(builder, n); }
    void operator()(const BetweenTables&) const { write_between_tables(builder, n); }
    void operator()(const Objects&) const { write_objects(builder, n); }
    void operator()(const Moments& m) const {
      m.body != nullptr ? write_moments(builder, n) : write_deviation(builder, n);
    }
    void operator()(const Stencil&) const { write_fourier(builder, n); }
    void operator()(const OnHost&) const { write_spectrum(builder, n); }
    template <OneOf<Point, Permute, Window, Resample, Separable, Extremum, Rank, Reduce, Histogram,
                    Select>
                  Other>
    void operator()(const Other& other) const {
      builder.fail(std::string(name_of(Primitive(other))) + " has no kernels of its own");
    }
  };

  // What each form is written by.
  struct Writer {
    Builder& builder;
    const KernelPlan& plan;
    int n;

    void operator()(const Inlined&) const { write_function(); }
    void operator()(const MadeInGroups&) const { write_function(); }
    void operator()(const MadeOnTheWay&) const {}
    void operator()(const MadeBeside&) const { load_function(); }
    void operator()(const Pixels& pixels) const {
      write_rows();
      if (pixels.tile) {
        store_from_tile(*pixels.tile);
      } else {
        store_pixels();
      }
      load_function();
    }
    void operator()(const Blocks&) const {
      write_rows();
      write_form();
    }
    void operator()(const StripChain&) const { write_form(); }
    void operator()(const TwoPasses&) const { write_form(); }
    void operator()(const FamilyForm&) const { write_form(); }
    void operator()(const Reductions& reductions) const { write_reductions(builder, reductions); }
    void operator()(const CountedCodes& counted) const {
      if (counted.way == CountedCodes::Way::two_bytes) {
        write_wide_histogram(builder, counted, n);
      } else {
        write_histogram(builder, counted, n);
      }
    }
    void operator()(const Selection& selection) const { write_select(builder, selection, n); }
    void operator()(const Scalars& scalars) const { write_scalars(builder, scalars.nodes); }
    void operator()(const WholeKernels&) const {
      std::visit(WholeWriter{builder, n}, builder.node(n).primitive);
    }

   private:
    // The kernels of a row of the table of forms, and pixels for launches that they do not take.
    void write_form() const {
      if (const LaunchTest takes = plan.node(n).row->write(builder, plan, n)) {
        store_pixels([takes](const LaunchContext& at) { return !takes(at); });
      }
      load_function();
    }

    void write_pixel(const std::string& name, const std::string& through = "") const {
      std::visit(PixelWriter{builder, plan.node(n), n, name, through}, builder.node(n).primitive);
    }

    // The pixels where they are read.
    void write_function() const {
      write_rows();
      write_pixel(Builder::name({false, n}));
    }

    // The row pass of a separable node, where it has a kernel of its own.
    void write_rows() const {
      if (as<Separable>(builder.node(n)) == nullptr) return;
      const RowPass::By by = plan.node(n).rows.by;
      if (by == RowPass::By::blocks) write_block_rows(builder, plan, n);
      if (by == RowPass::By::pixels) write_separable_rows(builder, n, plan.node(n).rows.tile);
    }

    // One pixel a work-item; `wanted`: by launches for which it holds.
    void store_pixels(const LaunchTest& wanted = nullptr) const {
      const Operand self{false, n};
      const std::string name = Builder::name(self);
      if (!wanted) {
        write_pixel(name + "_value");
      } else if (!builder.has_function(name + "_value")) {
        write_resample(builder, n, name + "_value", wanted);
      }
      const std::string value = builder.call(name + "_value", "x", "y");
      builder.pixel_kernel(
          "store_" + name + (wanted ? "_pixels" : ""), builder.width(self), builder.height(self),
          [self, wanted](const LaunchContext& at) {
            return wanted && !wanted(at) ? Size{} : at.size_of(self);
          },
          assigned(builder.plane(self).pixel(), value));
    }

    // The same, with what it reads around in local memory.
    void store_from_tile(const PixelTile& tile) const {
      const Operand self{false, n};
      const std::string name = Builder::name(self), value = name + "_value";
      const bool columns = as<Separable>(builder.node(n)) != nullptr;
      const GroupTile local = columns       ? tile_of_rows(builder, tile, n)
                              : tile.framed ? framed_tile_of_image(builder, tile, n)
                                            : tile_of_image(builder, tile, n);
      const bool whole = columns || tile.framed;
      if (!whole) builder.read_through(builder.node(n).images[0], local.function());
      write_pixel(value, whole ? local.function() : "");
      builder.read_through(builder.node(n).images[0], "");
      builder.pixel_kernel(
          "store_" + name, builder.width(self), builder.height(self),
          [self](const LaunchContext& at) { return at.size_of(self); },
          assigned(builder.plane(self).pixel(), builder.call(value, "x", "y")), local.fill());
    }

    // The function that reads what is stored.
    void load_function() const {
      const Operand self{false, n};
      const std::string name = Builder::name(self);
      builder.function(name, pixel_function(type_of(builder.node(n).cls), name,
                                            returned(builder.plane(self).pixel())));
    }
  };

  Builder builder_;
  KernelPlan plan_;
};

}  // namespace

Program generate(const KernelSpec& spec, Dialect dialect, const Tuning& tuning) {
  return Generator(spec, dialect, tuning).run();
}

KernelForms kernel_forms(std::string device, Dialect dialect, const Tuning& tuning) {
  return {std::move(device), makes_chains(dialect, tuning),
          [dialect, tuning](const KernelSpec& spec) {
            Tuning numbers = tuning;
            numbers.stacked = spec.planes > 1;
            std::vector<NodeForm> forms;
            for (const NodePlan& node : choose(spec, numbers, dialect).nodes) {
              forms.push_back({describe(node), node.reason, node.costs});
            }
            return forms;
          }};
}

std::vector<std::string> compiler_options(Dialect dialect) {
  if (dialect != Dialect::cuda) {
    // -w: NVIDIA's and PoCL's compilers print "8 warnings generated." to stderr.
    return {"-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt", "-w"};
  }
  return {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"};
}

}  // namespace impipe::jit
