// Runs the primitives that read their image as a whole: one call each.
#include "backends/cpu/whole_image.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "backends/cpu/components/label.hpp"
#include "backends/cpu/components/morph.hpp"
#include "backends/cpu/geometry/resample.hpp"
#include "backends/cpu/measure/between_tables.hpp"
#include "backends/cpu/measure/select.hpp"
#include "backends/cpu/measure/tile_tables.hpp"
#include "backends/cpu/neighbourhood/deviation.hpp"
#include "backends/cpu/neighbourhood/moments.hpp"
#include "backends/cpu/transform/backproject.hpp"
#include "backends/cpu/transform/diffuse.hpp"
#include "backends/cpu/transform/distance.hpp"
#include "backends/cpu/transform/fourier.hpp"
#include "backends/cpu/transform/project.hpp"
#include "core/error.hpp"
#include "core/object_table.hpp"
#include "core/one_of.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

namespace {

struct WholeImage {
  const Node& node;
  const Arguments& arguments;
  const std::vector<const Plane*> images;
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

// All channels together: they share the coordinates of their pixels.
void resample_channels(const PlaneRuns& runs) {
  std::vector<const Plane*> from;
  std::vector<Plane*> to;
  for (std::size_t p = 0; p < runs.nodes.size(); ++p) {
    from.push_back(runs.inputs_of(p).front());
    to.push_back(runs.nodes[p].output);
  }
  const PlaneRun& first = runs.nodes.front();
  run_resample(*first.node, from, first.arguments.last(), to, runs.pool, runs.level);
}

}  // namespace

void run_whole_images(const PlaneRuns& runs) {
  const PlaneRun& first = runs.nodes.front();
  const auto alike = [&](const PlaneRun& run) { return run.arguments.same_as(first.arguments); };
  if (std::holds_alternative<Resample>(first.node->primitive) &&
      std::ranges::all_of(runs.nodes, alike)) {
    return resample_channels(runs);
  }
  runs.pool.for_each(std::ssize(runs.nodes), [&](std::int64_t p) {
    const PlaneRun& run = runs.nodes[p];
    std::visit(
        WholeImage{*run.node, run.arguments, runs.inputs_of(p), *run.output, runs.pool, runs.level},
        run.node->primitive);
  });
}

std::vector<double> measured_whole(const PlaneRuns& runs, std::size_t p) {
  const Node& node = *runs.nodes[p].node;
  const std::vector<const Plane*> images = runs.inputs_of(p);
  if (std::holds_alternative<Objects>(node.primitive)) {
    const Plane* const intensities = images.size() > 1 ? images[1] : nullptr;
    const std::int64_t records = node.values / object_record::length(intensities != nullptr);
    return object_records(*images[0], intensities, records - 1);
  }
  if (const auto* tiles = std::get_if<Histogram>(&node.primitive)) {
    return tile_counts(*tiles, runs.white_of(runs.images_of(p)[0]), *images[0], runs.pool,
                       runs.level);
  }
  return select_values(*images[0], runs.nodes[p].arguments, runs.pool);
}

}  // namespace impipe::cpu
