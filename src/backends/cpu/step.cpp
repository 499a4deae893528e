// Runs a kernel on the CPU: what each node must make of a tile is found from the last node to the
// first, then the nodes are evaluated in order.
#include "backends/cpu/step.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "backends/cpu/border_view.hpp"
#include "backends/cpu/neighbourhood.hpp"
#include "backends/cpu/permute.hpp"
#include "backends/cpu/point.hpp"
#include "backends/cpu/select.hpp"
#include "backends/cpu/sink.hpp"
#include "backends/cpu/stencil.hpp"
#include "backends/cpu/tiles.hpp"
#include "backends/cpu/whole_image.hpp"
#include "backends/cpu/window.hpp"
#include "core/error.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.primitive);
}
bool is_sink(const Node& node) { return is<Reduce>(node) || is<Histogram>(node); }

// One thread's part in a launch.
struct Worker {
  std::unique_ptr<Scratch> scratch;
  std::vector<PointProgram::State> points;  // one a node
  std::vector<StencilState> stencils;       // one a node
  std::vector<Region> needed;               // one a node: of the tile being made
  std::vector<TileImage> made;              // one a node
};

class StepRun {
 public:
  StepRun(const KernelSpec& spec, const std::vector<StepValue>& inputs,
          const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
          CpuLevel level)
      : spec_(spec),
        inputs_(inputs),
        pool_(pool),
        scratches_(scratches),
        level_(level),
        count_(spec.nodes.size()),
        sizes_(count_),
        arguments_(count_),
        points_(count_),
        tables_(count_),
        table_source_(count_),
        sinks_(count_),
        sink_images_(count_),
        outputs_(count_),
        measures_(count_) {
    for (std::size_t i = 0; i < spec.outputs.size(); ++i) {
      const int node = spec.outputs[i];
      outputs_[node] = outputs[i].plane;
      if (outputs[i].measure != nullptr) measure_outputs_[node] = outputs[i].measure;
    }
  }

  void run() {
    find_sizes();
    for (std::size_t n = 0; n < count_; ++n) {
      if (!is<Scalar>(node(n))) prepare_node(n);
      const Node* pairs = counted_pairs(spec_, node(n));
      if (is_sink(node(n))) sink_images_[n] = pairs != nullptr ? pairs->images : node(n).images;
    }
    if (count_ == 1 && stands_alone(node(0).primitive) && !node(0).is_measure) {
      std::vector<const Plane*> images;
      for (const Operand& operand : node(0).images) images.push_back(inputs_[operand.index].plane);
      run_whole_image(node(0), arguments_[0], images, *outputs_[0], pool_, level_);
      return;
    }
    // Results of one size share a pass over the tiles.
    std::vector<Size> sizes;
    for (std::size_t n = 0; n < count_; ++n) {
      if (!is_root(n)) continue;
      const Size size = root_size(n);
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
    for (const Size size : sizes) run_pass(size);
    for (std::size_t n = 0; n < count_; ++n) finish_measure(n);
    for (const auto& [n, to] : measure_outputs_) *to = std::move(measures_[n]);
  }

 private:
  const Node& node(std::size_t n) const { return spec_.nodes[n]; }

  Size size_of(const Operand& operand) const {
    return operand.external ? inputs_[operand.index].plane->size() : sizes_[operand.index];
  }
  PixelClass class_of(const Operand& operand) const {
    return operand.external ? spec_.inputs[operand.index].cls : node(operand.index).cls;
  }
  int channels_of(const Operand& operand) const {
    return operand.external ? spec_.inputs[operand.index].channels : node(operand.index).channels;
  }
  double white_of(const Operand& operand) const {
    return operand.external ? spec_.inputs[operand.index].white : node(operand.index).white;
  }

  void find_sizes() {
    Size first;
    for (const StepValue& input : inputs_) {
      if (input.plane != nullptr && first.pixels() == 0) first = input.plane->size();
    }
    for (std::size_t n = 0; n < count_; ++n) {
      sizes_[n] = node(n).images.empty() ? first : result_size(node(n), size_of(node(n).images[0]));
    }
  }

  bool is_root(std::size_t n) const { return outputs_[n] != nullptr || is_sink(node(n)); }
  Size root_size(std::size_t n) const {
    return is_sink(node(n)) ? size_of(node(n).images[0]) : sizes_[n];
  }

  void evaluate(std::size_t n) {
    std::vector<MeasureView> views;
    for (const Operand& operand : node(n).measures) {
      if (operand.external) {
        const KernelInput& input = spec_.inputs[operand.index];
        views.push_back({inputs_[operand.index].measure->data(), input.channels, input.values});
      } else {
        const Node& from = node(operand.index);
        views.push_back({measures_[operand.index].data(), from.channels, from.values});
      }
    }
    const Size size = node(n).images.empty() ? sizes_[n] : size_of(node(n).images[0]);
    arguments_[n] = evaluate_arguments(node(n), views, size);
  }

  void prepare_node(std::size_t n) {
    evaluate(n);
    if (is<Point>(node(n))) prepare_point(n);
  }

  void prepare_point(std::size_t n) {
    const Point& point = std::get<Point>(node(n).primitive);
    const Operand& first = node(n).images[0];
    if (point.lookup) {
      tables_[n] = table_from(*inputs_[node(n).images[1].index].plane, class_of(first));
    } else {
      PointInputs inputs;
      for (const Operand& operand : node(n).images) {
        inputs.classes.push_back(class_of(operand));
        inputs.channels.push_back(channels_of(operand));
      }
      inputs.white = white_of(first);
      points_[n] =
          std::make_unique<PointProgram>(node(n), arguments_[n], inputs, sizes_[n], level_);
      // A table of 65,536 codes is dearer than a small image.
      constexpr std::int64_t cheap = 256;
      const std::int64_t elements = sizes_[n].pixels() * node(n).channels;
      if (node(n).images.size() == 1 && is_integer(inputs.classes[0]) &&
          codes_of(inputs.classes[0]) <= std::max(cheap, elements)) {
        std::unique_ptr<Scratch> scratch = scratches_.take();
        PointProgram::State state;
        tables_[n] = points_[n]->table(state, *scratch);
        scratches_.give(std::move(scratch));
      }
    }
    table_source_[n] = first;
    if (!tables_[n]) return;
    if (!first.external && tables_[first.index]) {
      tables_[n] = composed(*tables_[first.index], *tables_[n]);
      table_source_[n] = table_source_[first.index];
    }
    look_for_step(*tables_[n]);
  }

  static CodeTable table_from(const Plane& plane, PixelClass from) {
    CodeTable table{from, plane.cls(), {}, {}};
    std::vector<std::byte>& values = table.channels.emplace_back();
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      values.insert(values.end(), plane.row(y), plane.row(y) + plane.row_bytes());
    }
    const std::int64_t have = plane.size().pixels() * plane.channels();
    if (have != codes_of(from)) {
      throw Error("a table for " + std::string(name_of(from)) + " must have " +
                      std::to_string(codes_of(from)) + " values; this one has " +
                      std::to_string(have),
                  ExitCode::file_failed);
    }
    return table;
  }

  // --- tiles

  void run_pass(Size size) {
    const TileGrid grid = tiles_for(spec_, size, pool_.helpers() + 1);
    for (std::size_t n = 0; n < count_; ++n) {
      if (!is_sink(node(n)) || root_size(n) != size) continue;
      const Operand& image = node(n).images[0];
      const SinkImage what{class_of(image), channels_of(image), size, white_of(image)};
      if (is<Reduce>(node(n))) {
        sinks_[n] = make_reduce(node(n), arguments_[n], what, grid.count(), level_);
      } else if (sink_images_[n].size() == 2) {
        sinks_[n] = make_pair_histogram(node(n), arguments_[image.index], what.channels,
                                        static_cast<int>(grid.count()));
      } else {
        sinks_[n] = make_histogram(node(n), what, static_cast<int>(grid.count()), level_);
      }
    }
    pool_.for_each(grid.count(), [&](std::int64_t tile) {
      const int number = take_worker();
      try {
        run_tile(grid.region(tile), tile, size, number);
      } catch (...) {
        give_worker(number);
        throw;
      }
      give_worker(number);
    });
    for (const std::unique_ptr<Worker>& worker : workers_) {
      scratches_.give(std::move(worker->scratch));
    }
    workers_.clear();
    idle_.clear();
  }

  int take_worker() {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const int number = idle_.back();
      idle_.pop_back();
      return number;
    }
    auto worker = std::make_unique<Worker>();
    worker->scratch = scratches_.take();
    worker->points.resize(count_);
    worker->stencils.resize(count_);
    worker->needed.resize(count_);
    worker->made.resize(count_);
    workers_.push_back(std::move(worker));
    return static_cast<int>(workers_.size()) - 1;
  }

  void give_worker(int number) {
    std::lock_guard lock(mutex_);
    idle_.push_back(number);
  }

  Worker& worker_of(int number) {
    std::lock_guard lock(mutex_);
    return *workers_[number];
  }

  void run_tile(const Region& tile, std::int64_t tile_number, Size size, int number) {
    Worker& worker = worker_of(number);
    find_needed(tile, size, worker.needed);
    const ScratchScope scope(*worker.scratch);
    for (std::size_t n = 0; n < count_; ++n) {
      if (is_sink(node(n))) {
        if (root_size(n) != size) continue;
        TileImage images[2];
        for (std::size_t i = 0; i < sink_images_[n].size(); ++i) {
          images[i] = image_of(sink_images_[n][i], worker);
        }
        sinks_[n]->take(images, tile, tile_number, number, *worker.scratch);
      } else if (!node(n).is_measure && !worker.needed[n].empty()) {
        make(n, tile, size, worker);
      }
    }
  }

  // What each node must make of the tile, from the last to the first.
  void find_needed(const Region& tile, Size size, std::vector<Region>& needed) const {
    std::fill(needed.begin(), needed.end(), Region{});
    const auto need = [&](const Operand& operand, const Region& region) {
      if (!operand.external) needed[operand.index] = hull(needed[operand.index], region);
    };
    for (std::size_t k = count_; k-- > 0;) {
      if (is_root(k) && root_size(k) == size) {
        for (const Operand& operand : sink_images_[k]) need(operand, tile);
        if (outputs_[k] != nullptr) needed[k] = hull(needed[k], tile);
      }
      if (node(k).is_measure || needed[k].empty()) continue;
      if (tables_[k]) {
        need(table_source_[k], needed[k]);
        continue;
      }
      for (const Operand& operand : node(k).images) {
        need(operand, read_region(node(k), needed[k], size_of(operand)));
      }
    }
  }

  TileImage image_of(const Operand& operand, const Worker& worker) const {
    if (!operand.external) return worker.made[operand.index];
    const Plane& plane = *inputs_[operand.index].plane;
    return {plane.row(0), plane.stride(), whole(plane.size()),
            plane.size(), plane.cls(),    plane.channels()};
  }

  void make(std::size_t n, const Region& tile, Size size, Worker& worker) {
    const Region region = worker.needed[n];
    const int pixel = bytes_of(node(n).cls) * node(n).channels;
    Plane* plane = sizes_[n] == size ? outputs_[n] : nullptr;
    const bool direct = plane != nullptr && region == tile;
    TileOut out;
    if (direct) {
      out = {plane->row(tile.y0) + tile.x0 * pixel, plane->stride()};
    } else {
      out.stride = (region.width() * pixel + 63) / 64 * 64;
      out.data = worker.scratch->take<std::byte>(out.stride * region.height());
    }
    worker.made[n] = {out.data, out.stride, region, sizes_[n], node(n).cls, node(n).channels};
    if (is<Point>(node(n))) {
      make_point(n, region, out, worker);
    } else {
      make_moved(n, region, out, worker);
    }
    if (plane != nullptr && !direct) {
      for (std::int64_t y = tile.y0; y < tile.y1; ++y) {
        std::memcpy(plane->row(y) + tile.x0 * pixel, worker.made[n].at(tile.x0, y),
                    static_cast<std::size_t>(tile.width() * pixel));
      }
    }
  }

  void make_point(std::size_t n, const Region& region, TileOut out, Worker& worker) {
    if (tables_[n]) {
      const TileImage in = image_of(table_source_[n], worker);
      for (std::int64_t y = region.y0; y < region.y1; ++y) {
        apply_table(*tables_[n], out.data + (y - region.y0) * out.stride, in.at(region.x0, y),
                    node(n).channels, region.width() * node(n).channels, level_);
      }
      return;
    }
    std::vector<TileImage> images;
    for (const Operand& operand : node(n).images) images.push_back(image_of(operand, worker));
    std::vector<const std::byte*> rows(images.size());
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      for (std::size_t i = 0; i < images.size(); ++i) rows[i] = images[i].at(region.x0, y);
      points_[n]->run(out.data + (y - region.y0) * out.stride, rows, region.x0, y, region.width(),
                      worker.points[n], *worker.scratch);
    }
  }

  void make_moved(std::size_t n, const Region& region, TileOut out, Worker& worker) {
    const Node& what = node(n);
    Scratch& scratch = *worker.scratch;
    const TileImage in = image_of(what.images[0], worker);
    if (const auto* permute = std::get_if<Permute>(&what.primitive)) {
      run_permute(*permute, in, region, out, level_);
    } else if (is<Window>(what)) {
      run_window(what, in, region, arguments_[n].last(), out);
    } else if (is<Stencil>(what)) {
      run_stencil(what, arguments_[n], in, region, white_of(what.images[0]), out,
                  worker.stencils[n], scratch, level_);
    } else if (is<Separable>(what)) {
      run_separable(what, arguments_[n], in, region, out, scratch, level_);
    } else {
      const ScratchScope scope(scratch);
      const PrimitiveFacts facts = facts_of(what);
      Outside outside{facts.border, arguments_[n].last()};
      const auto* extremum = std::get_if<Extremum>(&what.primitive);
      if (extremum != nullptr) outside.value = nothing_of(what.cls, extremum->largest);
      const Region wanted = under(facts, region);
      Region there = wanted;
      if (extremum != nullptr) {  // it needs no copies of rows that end at the image's sides
        there.x0 = std::max<std::int64_t>(wanted.x0, 0);
        there.x1 = std::min(wanted.x1, in.size.width);
      }
      const int left = static_cast<int>(region.x0 - there.x0);
      const RowsView view{native_rows(in, there, left, outside, scratch),
                          region.width(),
                          region.height(),
                          in.channels,
                          there.x0 - wanted.x0,
                          wanted.x1 - there.x1};
      if (extremum != nullptr) {
        run_extremum(*extremum, what.cls, view, out, scratch, level_);
      } else {
        const Rank& rank = std::get<Rank>(what.primitive);
        if (rank.offsets) {
          run_offset_rank(rank, arguments_[n].float_of(0).data(), what.cls, view, out);
        } else {
          run_rank(rank, what.cls, view, out, scratch, level_);
        }
      }
    }
  }

  // The value that never is the largest (or smallest).
  static double nothing_of(PixelClass cls, bool largest) {
    if (cls == PixelClass::single) return largest ? -HUGE_VAL : HUGE_VAL;
    return largest ? 0 : class_max(cls);
  }

  // --- measurements

  void finish_measure(std::size_t n) {
    if (!node(n).is_measure) return;
    if (is_sink(node(n))) {
      measures_[n] = sinks_[n]->finish();
    } else if (is<Select>(node(n))) {
      measures_[n] = select_values(*inputs_[node(n).images[0].index].plane, arguments_[n]);
    } else {
      evaluate(n);
      run_scalar(n);
    }
  }

  void run_scalar(std::size_t n) {
    const Scalar& scalar = std::get<Scalar>(node(n).primitive);
    const int channels = node(n).channels;
    measures_[n].resize(static_cast<std::size_t>(channels) * node(n).values);
    for (int c = 0; c < channels; ++c) {
      std::vector<double> in;
      std::vector<std::int64_t> counts;
      for (const Operand& operand : node(n).measures) {
        const std::vector<double>& values =
            operand.external ? *inputs_[operand.index].measure : measures_[operand.index];
        const int has = channels_of(operand);
        // One channel takes everything; else each takes its own.
        const bool all = channels == 1 || has != channels;
        const std::int64_t count = static_cast<std::int64_t>(values.size()) / (all ? 1 : has);
        const auto from = values.begin() + (all ? 0 : c * count);
        in.insert(in.end(), from, from + count);
        counts.push_back(count);
      }
      scalar.body->run(in.data(), counts.data(), arguments_[n].of(c).data(),
                       measures_[n].data() + c * node(n).values);
    }
  }

  const KernelSpec& spec_;
  const std::vector<StepValue>& inputs_;
  ThreadPool& pool_;
  ScratchPool& scratches_;
  CpuLevel level_;
  std::size_t count_;
  // One a node:
  std::vector<Size> sizes_;
  std::vector<Arguments> arguments_;
  std::vector<std::unique_ptr<PointProgram>> points_;
  std::vector<std::optional<CodeTable>> tables_;
  std::vector<Operand> table_source_;  // what the table is applied to
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<std::vector<Operand>> sink_images_;  // what a sink takes
  std::vector<Plane*> outputs_;
  std::vector<std::vector<double>> measures_;
  std::map<std::size_t, std::vector<double>*> measure_outputs_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> idle_;
};

}  // namespace

std::unique_ptr<Scratch> ScratchPool::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void ScratchPool::give(std::unique_ptr<Scratch> scratch) {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(scratch));
}

void check_runnable(const KernelSpec& spec) {
  const auto fail = [&](const std::string& why) {
    throw Error("cpu: a kernel can't be run: " + why + "\n" + spec.key(), ExitCode::backend);
  };
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    const Node& node = spec.nodes[n];
    for (const std::vector<Operand>* operands : {&node.images, &node.measures}) {
      for (const Operand& operand : *operands) {
        const int limit =
            operand.external ? static_cast<int>(spec.inputs.size()) : static_cast<int>(n);
        if (operand.index < 0 || operand.index >= limit) fail("an operand is not there yet");
      }
    }
    for (const Operand& operand : node.measures) {
      if (!operand.external && !is<Scalar>(node)) fail("an image waits for a measurement");
    }
    const auto* point = std::get_if<Point>(&node.primitive);
    if (point != nullptr && point->lookup && !node.images.at(1).external) {
      fail("a table is made inside it");
    }
    if (is<Select>(node) && !node.images.at(0).external) fail("select reads an intermediate");
  }
}

void run_step(const KernelSpec& spec, const std::vector<StepValue>& inputs,
              const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
              CpuLevel level) {
  StepRun(spec, inputs, outputs, pool, scratches, level).run();
}

}  // namespace impipe::cpu
