// Runs the primitives that read and make their image as a whole: one call each.
#include "backends/cpu/whole_image.hpp"

#include <string>
#include <variant>

#include "backends/cpu/components/label.hpp"
#include "backends/cpu/components/morph.hpp"
#include "backends/cpu/geometry/resample.hpp"
#include "backends/cpu/measure/between_tables.hpp"
#include "backends/cpu/neighbourhood/deviation.hpp"
#include "backends/cpu/neighbourhood/moments.hpp"
#include "backends/cpu/transform/backproject.hpp"
#include "backends/cpu/transform/diffuse.hpp"
#include "backends/cpu/transform/distance.hpp"
#include "backends/cpu/transform/fourier.hpp"
#include "backends/cpu/transform/project.hpp"
#include "core/error.hpp"
#include "core/one_of.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

namespace {

struct WholeImage {
  const Node& node;
  const Arguments& arguments;
  const std::vector<const Plane*>& images;
  Plane& out;
  ThreadPool& pool;
  CpuLevel level;
  const Plane& in = *images.front();

  void operator()(const Distance& d) const { run_distance(d, in, out, pool, level); }
  void operator()(const Diffuse&) const {
    run_diffuse(in, arguments.in_double[0], out, pool, level);
  }
  void operator()(const Project& p) const {
    if (p.inverse) return run_backproject(p, arguments.in_double, in, out, pool);
    run_project(arguments.in_double, in, out, pool, level);
  }
  void operator()(const Label& l) const {
    run_label(l, arguments.last(), images, out, pool, level);
  }
  void operator()(const Morph& m) const { run_morph(m, arguments.in_double[0], in, out, pool); }
  void operator()(const BetweenTables& b) const {
    run_between_tables(b, arguments.table, node.white, in, out, pool, level);
  }
  void operator()(const Resample&) const {
    const Plane* const from[] = {&in};
    Plane* const to[] = {&out};
    run_resample(node, from, arguments.last(), to, pool, level);
  }
  void operator()(const Stencil& s) const {  // by Fourier transforms
    run_fourier(s, arguments.in_float, in, out, pool, level);
  }
  void operator()(const Moments& m) const {
    if (m.body == nullptr) return run_deviation(m, images, out, pool, level);
    run_moments(m, arguments.in_float, in, *images.at(1), out, pool, level);
  }
  // Made in tiles, or measured. A primitive that is named nowhere here does not compile.
  template <OneOf<Point, Permute, Separable, Extremum, Rank, Reduce, Histogram, Select, Scalar,
                  Window, Objects, OnHost>
                Other>
  void operator()(const Other&) const {
    throw Error("the cpu backend makes no whole image of " + std::string(name_of(node.primitive)),
                ExitCode::backend);
  }
};

}  // namespace

void run_whole_image(const Node& node, const Arguments& arguments,
                     const std::vector<const Plane*>& images, Plane& out, ThreadPool& pool,
                     CpuLevel level) {
  std::visit(WholeImage{node, arguments, images, out, pool, level}, node.primitive);
}

}  // namespace impipe::cpu
