// Makes the planes of a kernel, a tile at a time: what each node must make of a tile is found from
// the last node to the first, then the nodes are evaluated in order.
#include "backends/cpu/tile_pass.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/geometry/permute.hpp"
#include "backends/cpu/geometry/window.hpp"
#include "backends/cpu/neighbourhood/stencil.hpp"
#include "backends/cpu/tile/border_view.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/side_by_side.hpp"
#include "backends/cpu/tile/tiles.hpp"
#include "core/plane_bytes.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

// One thread's part in a pass.
struct Worker {
  std::unique_ptr<Scratch> scratch;
  std::vector<PointProgram::State> points;  // one a node
  std::vector<StencilState> stencils;       // one a node
  std::vector<Region> needed;               // one a node: of the tile being made
  std::vector<TileImage> made;              // one a node
  std::vector<bool> there;                  // one a node: its part of the tile is made
};

// The value that never is the largest (or smallest).
double nothing_of(PixelClass cls, bool largest) {
  if (cls == PixelClass::single) return largest ? -HUGE_VAL : HUGE_VAL;
  return largest ? 0 : class_max(cls);
}

// Whether a stencil's expression computes with the pixel's place or the image's size.
bool reads_place(const Expression& expression) {
  const std::vector<std::string>& names = expression.variables();
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "row" || name == "col" || name == "width" || name == "height";
  });
}

// Bytes that are likely to lie in a cache since they were made.
constexpr std::int64_t near = 4 << 20;

std::int64_t size_of_all(const std::vector<const Plane*>& planes) {
  std::int64_t bytes = 0;
  for (const Plane* plane : planes) bytes += plane->size().height * plane->row_bytes();
  return bytes;
}

std::vector<const Plane*> outputs_of(const PlaneRuns& runs) {
  std::vector<const Plane*> planes;
  for (const PlaneRun& run : runs.nodes) {
    if (run.output != nullptr) planes.push_back(run.output);
  }
  return planes;
}

class TilePass {
 public:
  TilePass(PlaneRuns& runs, Size size)
      : runs_(runs),
        size_(size),
        far_(size_of_all(runs.inputs) > near),
        spills_(size_of_all(outputs_of(runs)) >= kept_in_caches) {
    std::vector<std::vector<std::size_t>> all(static_cast<std::size_t>(runs.graph.groups));
    std::vector<bool> wanted(all.size());
    for (std::size_t n = 0; n < runs.nodes.size(); ++n) {
      const auto group = static_cast<std::size_t>(runs.graph.nodes[n].group);
      all[group].push_back(n);
      wanted[group] = wanted[group] || is_wanted(n);
    }
    for (std::size_t g = 0; g < all.size(); ++g) {
      if (wanted[g]) groups_.push_back(std::move(all[g]));
    }
  }

  // Tiles of all groups are handed out together: no thread waits where one group ends.
  void run() {
    const auto groups = static_cast<std::int64_t>(groups_.size());
    grid_ = tiles_for(runs_.spec, size_, runs_.pool.helpers() + 1, groups);
    const std::int64_t tasks = groups * grid_.count();
    make_sinks(static_cast<int>(tasks));
    runs_.pool.for_each(tasks, [&](std::int64_t task) {
      const int number = take_worker();
      try {
        run_tile(groups_[task / grid_.count()], task % grid_.count(), number);
      } catch (...) {
        give_worker(number);
        throw;
      }
      give_worker(number);
    });
    for (const std::unique_ptr<Worker>& worker : workers_) {
      runs_.scratches.give(std::move(worker->scratch));
    }
  }

 private:
  bool is_wanted(std::size_t n) const { return runs_.is_root(n) && runs_.root_size(n) == size_; }

  void make_sinks(int workers) {
    for (std::size_t n = 0; n < runs_.nodes.size(); ++n) {
      PlaneRun& run = runs_.nodes[n];
      if (!run.is_sink() || !is_wanted(n)) continue;
      const Operand& image = runs_.images_of(n)[0];
      const SinkImage what{runs_.class_of(image), size_, runs_.white_of(image)};
      if (std::holds_alternative<Reduce>(run.node->primitive) && run.sink_images.size() == 2) {
        run.sink = make_difference_squares(grid_.count(), runs_.level);
      } else if (std::holds_alternative<Reduce>(run.node->primitive)) {
        run.sink = make_reduce(*run.node, run.arguments, what, grid_.count(), runs_.level);
      } else if (run.sink_images.size() == 2) {
        run.sink = make_pair_histogram(*run.node, runs_.nodes[image.index].arguments, workers);
      } else {
        run.sink = make_histogram(*run.node, what, workers, runs_.level);
      }
    }
  }

  int take_worker() {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const int number = idle_.back();
      idle_.pop_back();
      return number;
    }
    auto worker = std::make_unique<Worker>();
    worker->scratch = runs_.scratches.take();
    worker->points.resize(runs_.nodes.size());
    worker->stencils.resize(runs_.nodes.size());
    worker->needed.resize(runs_.nodes.size());
    worker->made.resize(runs_.nodes.size());
    worker->there.resize(runs_.nodes.size());
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

  void run_tile(const std::vector<std::size_t>& group, std::int64_t number, int worker_number) {
    Worker& worker = worker_of(worker_number);
    const Region tile = grid_.region(number);
    find_needed(group, tile, worker.needed);
    const ScratchScope scope(*worker.scratch);
    for (const std::size_t n : group) worker.there[n] = false;
    for (const std::size_t n : group) {
      const PlaneRun& run = runs_.nodes[n];
      if (worker.there[n]) continue;
      if (run.is_sink()) {
        if (!is_wanted(n)) continue;
        TileImage images[2];
        for (std::size_t i = 0; i < run.sink_images.size(); ++i) {
          images[i] = image_of(run.sink_images[i], worker);
        }
        run.sink->take(images, tile, number, worker_number, *worker.scratch);
      } else if (!run.node->is_measure && !worker.needed[n].empty()) {
        make(n, tile, worker);
      } else if (!run.node->is_measure) {
        // A window beside the image still asks for its size and class.
        worker.made[n] = {nullptr, 0, {}, run.size, run.node->cls};
      }
    }
    if (spills_) end_streams();
  }

  // What each node must make of the tile, from the last to the first.
  void find_needed(const std::vector<std::size_t>& group, const Region& tile,
                   std::vector<Region>& needed) const {
    for (const std::size_t n : group) needed[n] = {};
    const auto need = [&](const Operand& plane, const Region& region) {
      if (!plane.external) needed[plane.index] = hull(needed[plane.index], region);
    };
    for (std::size_t k = group.size(); k-- > 0;) {
      const std::size_t n = group[k];
      const PlaneRun& run = runs_.nodes[n];
      if (is_wanted(n)) {
        for (const Operand& plane : run.sink_images) need(plane, tile);
        if (run.output != nullptr) needed[n] = hull(needed[n], tile);
      }
      if (run.node->is_measure || needed[n].empty()) continue;
      if (run.table != nullptr) {
        need(run.table_source, needed[n]);
        continue;
      }
      for (const Operand& plane : runs_.images_of(n)) {
        need(plane, read_region(*run.node, needed[n], runs_.size_of(plane)));
      }
    }
  }

  TileImage image_of(const Operand& operand, const Worker& worker) const {
    if (!operand.external) return worker.made[operand.index];
    const Plane& plane = *runs_.inputs[operand.index];
    return {.data = plane.row(0),
            .stride = plane.stride(),
            .region = whole(plane.size()),
            .size = plane.size(),
            .cls = plane.cls(),
            .far = far_};
  }

  void make(std::size_t n, const Region& tile, Worker& worker) {
    const Region region = worker.needed[n];
    const std::vector<std::size_t> together = made_together(n, worker);
    if (together.size() > 1) {
      make_points(together, tile, worker);
    } else if (const TileOut out = place(n, tile, worker);
               std::holds_alternative<Point>(runs_.nodes[n].node->primitive)) {
      make_point(n, region, out, worker);
    } else {
      make_moved(n, region, out, worker);
    }
    for (const std::size_t k : together) hand_over(k, tile, worker);
  }

  // The plane that a node's result leaves the kernel in, where tiles of its size are made.
  Plane* leaves_in(std::size_t n) const {
    return runs_.nodes[n].size == size_ ? runs_.nodes[n].output : nullptr;
  }
  // What ranks write in many short pieces is streamed once it is there.
  bool streams_later(const PlaneRun& run) const {
    if (!spills_ || bytes_of(run.node->cls) == 1) return false;
    const auto* rank = std::get_if<Rank>(&run.node->primitive);
    return rank != nullptr && (rank->offsets || !streams_rows(*rank));
  }
  bool is_made_in_place(std::size_t n, const Region& tile, const Worker& worker) const {
    return leaves_in(n) != nullptr && worker.needed[n] == tile && !streams_later(runs_.nodes[n]);
  }

  // Where a node makes its part of the tile.
  TileOut place(std::size_t n, const Region& tile, Worker& worker) const {
    const PlaneRun& run = runs_.nodes[n];
    const Region region = worker.needed[n];
    const int pixel = bytes_of(run.node->cls);
    TileOut out;
    if (is_made_in_place(n, tile, worker)) {
      Plane& plane = *run.output;
      out = {plane.row(tile.y0) + tile.x0 * pixel, plane.stride(), spills_};
    } else {
      out.stride = plane_stride(region.width() * pixel);
      out.data = worker.scratch->take<std::byte>(out.stride * region.height());
    }
    worker.made[n] = {out.data, out.stride, region, run.size, run.node->cls};
    worker.there[n] = true;
    return out;
  }

  // What was not made where it leaves the kernel is copied there.
  void hand_over(std::size_t n, const Region& tile, const Worker& worker) const {
    Plane* plane = leaves_in(n);
    if (plane == nullptr || is_made_in_place(n, tile, worker)) return;
    const int pixel = bytes_of(runs_.nodes[n].node->cls);
    for (std::int64_t y = tile.y0; y < tile.y1; ++y) {
      std::byte* row = plane->row(y) + tile.x0 * pixel;
      const std::byte* made = worker.made[n].at(tile.x0, y);
      if (streams_later(runs_.nodes[n])) {
        stream_row(row, made, tile.width() * pixel, runs_.level);
      } else {
        std::memcpy(row, made, static_cast<std::size_t>(tile.width() * pixel));
      }
    }
  }

  // The node, and the points behind it that share its rows of numbers.
  std::vector<std::size_t> made_together(std::size_t n, const Worker& worker) const {
    std::vector<std::size_t> all{n};
    const auto group = runs_.graph.nodes[n].group;
    for (std::size_t k = n + 1; k < runs_.nodes.size(); ++k) {
      if (runs_.graph.nodes[k].group == group && shares_numbers(n, k) && !worker.there[k] &&
          worker.needed[k] == worker.needed[n] && runs_.images_of(k) == runs_.images_of(n)) {
        all.push_back(k);
      }
    }
    return all;
  }
  bool shares_numbers(std::size_t n, std::size_t other) const {
    const auto computes = [&](const PlaneRun& run) {
      return run.point != nullptr && run.table == nullptr;
    };
    const PlaneRun &a = runs_.nodes[n], &b = runs_.nodes[other];
    return computes(a) && computes(b) && a.point->shares_numbers(*b.point);
  }

  // Points of the same planes.
  void make_points(const std::vector<std::size_t>& nodes, const Region& tile, Worker& worker) {
    const Region region = worker.needed[nodes[0]];
    std::vector<TileImage> images;
    for (const Operand& plane : runs_.images_of(nodes[0]))
      images.push_back(image_of(plane, worker));
    std::vector<const PointProgram*> programs;
    std::vector<TileOut> places;
    bool spills = true;
    for (const std::size_t n : nodes) {
      programs.push_back(runs_.nodes[n].point.get());
      places.push_back(place(n, tile, worker));
      spills = spills && places.back().spills;
    }
    std::vector<const std::byte*> in(images.size());
    std::vector<std::byte*> outs(nodes.size());
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      for (std::size_t i = 0; i < images.size(); ++i) in[i] = images[i].at(region.x0, y);
      for (std::size_t k = 0; k < outs.size(); ++k) {
        outs[k] = places[k].data + (y - region.y0) * places[k].stride;
      }
      PointProgram::run_together(programs, outs, in, region.width(), spills, *worker.scratch);
    }
  }

  // A row through a table; what becomes singles and spills goes past the caches.
  void look_up(const CodeTable& table, TileOut out, const std::byte* in, std::int64_t n,
               Scratch& scratch) const {
    if (!out.spills || table.to != PixelClass::single) {
      return apply_table(table, out.data, in, n, runs_.level);
    }
    constexpr std::int64_t chunk = 1024, pixel = sizeof(float);
    const ScratchScope scope(scratch);
    std::byte* made = scratch.take<std::byte>(chunk * pixel);
    for (std::int64_t at = 0; at < n; at += chunk) {
      const std::int64_t count = std::min(chunk, n - at);
      apply_table(table, made, in + at * bytes_of(table.from), count, runs_.level);
      stream_row(out.data + at * pixel, made, count * pixel, runs_.level);
    }
  }

  void make_point(std::size_t n, const Region& region, TileOut out, Worker& worker) {
    const PlaneRun& run = runs_.nodes[n];
    const bool gapless = worker.made[n].gapless(region);
    if (run.table != nullptr) {
      const TileImage in = image_of(run.table_source, worker);
      const Region rows = as_rows(region, gapless && in.gapless(region));
      for (std::int64_t y = rows.y0; y < rows.y1; ++y) {
        look_up(*run.table, {out.data + (y - rows.y0) * out.stride, out.stride, out.spills},
                in.at(rows.x0, y), rows.width(), *worker.scratch);
      }
      return;
    }
    std::vector<TileImage> images;
    for (const Operand& plane : runs_.images_of(n)) images.push_back(image_of(plane, worker));
    const bool all = gapless && !run.point->reads_place() &&
                     std::all_of(images.begin(), images.end(),
                                 [&](const TileImage& image) { return image.gapless(region); });
    const Region part = as_rows(region, all);
    std::vector<const std::byte*> rows(images.size());
    for (std::int64_t y = part.y0; y < part.y1; ++y) {
      for (std::size_t i = 0; i < images.size(); ++i) rows[i] = images[i].at(part.x0, y);
      run.point->run(out.data + (y - part.y0) * out.stride, rows, part.x0, y, part.width(),
                     out.spills, worker.points[n], *worker.scratch);
    }
  }

  void make_moved(std::size_t n, const Region& region, TileOut out, Worker& worker) {
    const PlaneRun& run = runs_.nodes[n];
    const Node& what = *run.node;
    const TileImage in = image_of(runs_.images_of(n)[0], worker);
    if (const auto* permute = std::get_if<Permute>(&what.primitive)) {
      run_permute(*permute, in, region, out, runs_.level);
    } else if (std::holds_alternative<Window>(what.primitive)) {
      run_window(what, in, region, run.arguments.last(), out);
    } else {
      make_around(n, in, region, out, worker);
    }
  }

  // A neighbourhood; of a thin tall region parts side by side.
  void make_around(std::size_t n, const TileImage& in, const Region& region, TileOut out,
                   Worker& worker) {
    const PlaneRun& run = runs_.nodes[n];
    const PrimitiveFacts facts = facts_of(*run.node);
    const PartsPlan plan = plan_parts(facts, region);
    if (plan.parts < 2 || !can_be_parts(run, in, region)) {
      return make_neighbourhood(n, in, region, out, worker);
    }
    const int pixel = bytes_of(run.node->cls);
    for (std::int64_t y = region.y0; y < region.y1; y += plan.region_rows) {
      const ScratchScope scope(*worker.scratch);
      const Region part{region.x0, y, region.x1, std::min(y + plan.region_rows, region.y1)};
      const SideBySide parts(plan, facts, in, part, outside_of(run), *worker.scratch);
      TileOut made;
      made.stride = plane_stride(parts.results().width() * pixel);
      made.data = worker.scratch->take<std::byte>(made.stride * parts.results().height());
      make_neighbourhood(n, parts.image(), parts.results(), made, worker);
      parts.stack(made, {out.data + (y - region.y0) * out.stride, out.stride}, pixel);
    }
  }

  // Whether a pixel of the result is the same wherever what it reads lies.
  static bool can_be_parts(const PlaneRun& run, const TileImage& in, const Region& region) {
    if (in.region.empty()) return false;  // a window beside the image
    const Node& what = *run.node;
    const Outside outside = outside_of(run);
    const bool by_number = outside.border == Border::constant;
    if (const auto* stencil = std::get_if<Stencil>(&what.primitive)) {
      if (stencil->expression != nullptr && reads_place(*stencil->expression)) return false;
    } else if (std::holds_alternative<Separable>(what.primitive)) {
      // The border is that of the rows' sums, which a constant's rows are not.
      const Region read = under(facts_of(what), region);
      const bool beside = read.y0 < 0 || read.y1 > in.size.height;
      if (by_number && beside && outside.value != 0) return false;
    } else {
      return true;
    }
    return !by_number || is_code(outside.value, in.cls);
  }

  static Outside outside_of(const PlaneRun& run) {
    const auto* extremum = std::get_if<Extremum>(&run.node->primitive);
    return {facts_of(*run.node).border, extremum != nullptr
                                            ? nothing_of(run.node->cls, extremum->largest)
                                            : run.arguments.last()};
  }

  void make_neighbourhood(std::size_t n, const TileImage& in, const Region& region, TileOut out,
                          Worker& worker) {
    const PlaneRun& run = runs_.nodes[n];
    const Node& what = *run.node;
    Scratch& scratch = *worker.scratch;
    if (std::holds_alternative<Stencil>(what.primitive)) {
      run_stencil(what, run.arguments, in, region, runs_.white_of(runs_.images_of(n)[0]), out,
                  worker.stencils[n], scratch, runs_.level);
    } else if (std::holds_alternative<Separable>(what.primitive)) {
      run_separable(what, run.arguments, in, region, out, scratch, runs_.level);
    } else {
      make_ordered(run, in, region, out, scratch);
    }
  }

  // Extrema and ranks.
  void make_ordered(const PlaneRun& run, const TileImage& in, const Region& region, TileOut out,
                    Scratch& scratch) const {
    const ScratchScope scope(scratch);
    const Node& what = *run.node;
    const auto* extremum = std::get_if<Extremum>(&what.primitive);
    const auto* ranked = std::get_if<Rank>(&what.primitive);
    const Region wanted = under(facts_of(what), region);
    Region there = wanted;
    const bool in_place =
        extremum != nullptr ||
        (!ranked->offsets && knows_ends(*ranked, what.cls, region.width(), runs_.level));
    if (in_place) {  // no copies of rows that end at the image's sides
      there.x0 = std::max<std::int64_t>(wanted.x0, 0);
      there.x1 = std::min(wanted.x1, in.size.width);
    }
    const int left = static_cast<int>(region.x0 - there.x0);
    const Outside outside = outside_of(run);
    RowsView view{.rows = native_rows(in, there, left, outside, scratch),
                  .width = region.width(),
                  .height = region.height(),
                  .absent_left = there.x0 - wanted.x0,
                  .absent_right = wanted.x1 - there.x1,
                  .far = in.far};
    if (extremum != nullptr) {
      return run_extremum(*extremum, what.cls, view, out, scratch, runs_.level);
    }
    if (ranked->offsets) {
      return run_offset_rank(*ranked, run.arguments.in_float.data(), what.cls, view, out);
    }
    if (ranked->entropy) return run_entropy(*ranked, run.arguments.in_double, view, out, scratch);
    std::byte beside[sizeof(float)];
    fill_elements(beside, in.cls, outside.value, 1);
    const auto copies = [&](std::int64_t x) {
      const std::int64_t column = map_outside(x, in.size.width, outside.border);
      return column < 0 ? column : column - region.x0;
    };
    for (std::int64_t k = 0; in_place && k < view.absent_left; ++k) {
      view.left_copies[k] = copies(-1 - k);
    }
    for (std::int64_t k = 0; in_place && k < view.absent_right; ++k) {
      view.right_copies[k] = copies(in.size.width + k);
    }
    view.beside = beside;
    run_rank(*ranked, what.cls, view, out, scratch, runs_.level);
  }

  PlaneRuns& runs_;
  Size size_;
  bool far_;                                      // the inputs; see TileImage
  bool spills_;                                   // the outputs; see TileOut
  std::vector<std::vector<std::size_t>> groups_;  // the nodes of those with results of this size
  TileGrid grid_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> idle_;
};

}  // namespace

void run_tiles(PlaneRuns& runs, Size size) { TilePass(runs, size).run(); }

}  // namespace impipe::cpu
