// Extrema over masks as unions of runs.
//
// The extremum of a run of n pixels is that of two runs whose length is the largest power of two
// that is not above n, one at each end (Urbach and Wilkinson, "Efficient 2-D grayscale
// morphological transformations with arbitrary flat structuring elements", 2008). Registers hold
// the windows that are open, one a row of the mask; masks of many rows are taken in several
// kernels.
#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "backends/jit/block/row.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/form.hpp"
#include "backends/jit/text/builder.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int max_tall = 96;  // rows of a mask that registers hold the windows of
constexpr int max_rows = 8;   // of the image at a time
// Of a processor: registers for each work-item, if it had one group; bytes that groups share.
constexpr int registers_of_group = 65536 / items;
constexpr std::int64_t shared_bytes = 200 * 1024;
constexpr int min_strip = 16;

// The rows of a mask that a kernel takes, and what it keeps of the image's rows for them.
struct Pass {
  std::vector<Run> runs;    // by rows
  int first = 0, last = 0;  // of the mask's rows, from the pixel's own
  int left = 0, right = 0;  // how far they reach
  int levels = 1;
  int rows = 1;  // of the image at a time

  int tall() const { return last - first + 1; }
  static int fours(int pixels) { return (pixels + 3) / 4; }
  int words() const { return fours(left) + items / 4 + fours(right); }
  int tasks() const { return words() * rows; }
  int turns() const { return (tasks() + items - 1) / items; }
  // Groups whose registers a processor has.
  int groups() const { return std::clamp(registers_of_group / (tall() + 40), 1, 10); }
  std::int64_t local_bytes() const { return std::int64_t{16} * levels * tasks(); }
};

int level_of(const Run& run) { return std::bit_width(static_cast<unsigned>(run.length)) - 1; }

// As many rows at a time as keep all work-items busy, with few barriers.
void choose_rows(Pass& pass, std::int64_t max_bytes) {
  const std::int64_t most = std::min(max_bytes, shared_bytes / pass.groups());
  double least = 0;
  for (int rows = 1; rows <= max_rows; ++rows) {
    Pass tried = pass;
    tried.rows = rows;
    const double cost = (tried.turns() * items / static_cast<double>(pass.words()) + 1) / rows;
    if (rows > 1 && (tried.local_bytes() > most || cost >= least)) continue;
    least = cost;
    pass.rows = rows;
  }
}

std::vector<Pass> passes_of(const Mask& mask, std::int64_t max_bytes) {
  const std::vector<Run> all = runs_of(mask);
  const int first = all.front().y, count = all.back().y - first + 1;
  const int passes = (count + max_tall - 1) / max_tall, each = (count + passes - 1) / passes;
  std::vector<Pass> out;
  for (const Run& run : all) {
    if (out.empty() || run.y >= out.back().first + each) out.push_back({{}, run.y, run.y});
    Pass& pass = out.back();
    pass.runs.push_back(run);
    pass.last = run.y;
    pass.left = std::max(pass.left, -run.x);
    pass.right = std::max(pass.right, run.x + run.length - 1);
    pass.levels = std::max(pass.levels, level_of(run) + 1);
  }
  for (Pass& pass : out) choose_rows(pass, max_bytes);
  return out;
}

class MaskRuns {
 public:
  MaskRuns(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        extremum_(std::get<Extremum>(builder.node(n).primitive)),
        cls_(builder.node(n).cls),
        image_(builder.node(n).images[0]) {}

  void write() {
    write_border(builder_, name_ + "_at", type_of(cls_), builder_.value(image_, "x", "y"),
                 Border::absent, nothing_of_pixel(), builder_.width(image_),
                 builder_.height(image_));
    const std::vector<Pass> passes = passes_of(extremum_.mask, builder_.tuning().local_bytes);
    for (std::size_t p = 0; p < passes.size(); ++p) write_kernel(passes[p], static_cast<int>(p));
  }

 private:
  bool single() const { return cls_ == PixelClass::single; }
  int strips() const { return single() ? 1 : 2; }
  std::string found() const { return extremum_.largest ? "largest_found" : "smallest_found"; }
  std::string better() const {
    if (single()) return extremum_.largest ? "fmax" : "fmin";
    return extremum_.largest ? "packed_max" : "packed_min";
  }
  std::string nothing_of_pixel() const {
    if (single()) return extremum_.largest ? "-INFINITY" : "INFINITY";
    return extremum_.largest ? "0" : number(static_cast<int>(class_max(cls_)));
  }
  std::string nothing() const {
    return single() ? nothing_of_pixel() : nothing_of_pixel() + " * 0x10001u";
  }
  std::string type() const { return single() ? "float" : "uint"; }
  std::string quad() const { return type() + "4"; }

  // The extremum of each run that the pass's rows have, as run_0, run_1 ...; those are named in
  // `names`.
  std::string runs_text(const Pass& pass, std::map<std::pair<int, int>, std::string>& names) const {
    std::string text;
    for (const Run& run : pass.runs) {
      const auto [name, is_new] =
          names.try_emplace({run.x, run.length}, "run_" + number(static_cast<int>(names.size())));
      if (!is_new) continue;
      const int level = level_of(run), end = run.x + run.length - (1 << level);
      const auto line = [&](int dx) {
        return "pixels[at + " + number(4 * level * pass.tasks() + dx) + "]";
      };
      text += declared(
          "const " + type(), name->second,
          end == run.x ? line(run.x) : better() + "(" + line(run.x) + ", " + line(end) + ")");
    }
    return text;
  }

  // Four pixels of a row as v, of a word or more of the image.
  std::string load_text() const {
    const PlaneText plane = builder_.plane(image_);
    const int bytes = 4 * bytes_of(cls_);
    const auto words = [&](const std::string& row, const std::string& array) {
      return word_access(true,
                         "(GLOBAL const uchar*)(" + plane.row("(long)(" + row + ")") + " + x)",
                         array, 0, bytes, bytes, builder_.tuning().load_bytes);
    };
    if (single()) {
      return array_of("float", "row0", 4) +
             wide_load(cls_, plane.row("(long)y") + " + x", "row0", 0, 4,
                       builder_.tuning().load_bytes) +
             each_of_four([](int i) { return "row0[" + number(i) + "]"; });
    }
    return statement("uint row0[" + number(bytes / 4) + "], row1[" + number(bytes / 4) + "]") +
           words("y", "row0") + words("y + strip", "row1") + each_of_four([this](int i) {
             const std::string rows = "row0[" + number(i / 2) + "], row1[" + number(i / 2) + "]";
             if (bytes_of(cls_) == 1) {
               return "CLEAN_PACKED_BYTES(row0[0], row1[0], " + number(i) + ")";
             }
             return std::string(i % 2 == 0 ? "LOW_HALVES(" : "HIGH_HALVES(") + rows + ")";
           });
  }
  // The same of pixels that are not all inside.
  std::string around_text() const {
    const std::string at = name_ + "_at";
    return each_of_four([&](int i) {
      const std::string x = i == 0 ? "x" : "x + " + number(i);
      if (single()) return builder_.call(at, x, "y");
      return "(uint)" + builder_.call(at, x, "y") + " | (uint)" +
             builder_.call(at, x, "y + strip") + " << 16";
    });
  }
  static std::string each_of_four(const std::function<std::string(int)>& value) {
    return four_elements("v", value);
  }

  // Two levels at a time from the ones before.
  std::string levels_text(const Pass& pass) const {
    const auto read = [&](int level) {
      return std::any_of(pass.runs.begin(), pass.runs.end(),
                         [level](const Run& run) { return level_of(run) == level; });
    };
    std::string text;
    for (int from = 0; from + 1 < pass.levels; from += 2) {
      const bool next = from + 2 < pass.levels;
      text += Substitutions({{"unroll", builder_.unroll()},
                             {"turns", number(pass.turns())},
                             {"items", number(items)},
                             {"words", number(pass.words())},
                             {"tasks", number(pass.tasks())},
                             {"quad", quad()},
                             {"better", better()},
                             {"apart", number((1 << from) / 4)},
                             {"from_level", number(from * pass.tasks())},
                             {"to_level", number((from + 1) * pass.tasks())},
                             {"to_next_level", number((from + 2) * pass.tasks())},
                             {"keeps", !next || read(from + 1) ? "1" : "0"},
                             {"next", next ? "1" : "0"}})
                  .filled(part(kernels::mask_runs, from == 0 ? "first" : "wider"));
    }
    return text;
  }

  // Takes the row into the windows that it is in; each moves on to be that of the next row.
  std::string windows_text(const Pass& pass,
                           const std::map<std::pair<int, int>, std::string>& names) const {
    std::string text;
    for (int k = 0; k < pass.tall(); ++k) {
      std::string best = k + 1 < pass.tall() ? "best[" + number(k + 1) + "]" : nothing();
      for (const Run& run : pass.runs) {
        if (run.y != pass.last - k) continue;
        const std::string& name = names.at({run.x, run.length});
        best = best == nothing() ? name : better() + "(" + best + ", " + name + ")";
      }
      text += assigned("best[" + number(k) + "]", best);
    }
    return text;
  }

  // Stores best[0]; `again`: beside what a pass before has stored.
  std::string store_text(bool again) const {
    const std::string stored = builder_.plane({false, n_}).pixel();
    const auto one = [&](const std::string& row, const std::string& value) {
      return filled(part(kernels::mask_runs, "store"),
                    {{"row", row},
                     {"height", builder_.height({false, n_})},
                     {"stored", stored},
                     {"pixel", type_of(cls_)},
                     {"value", again ? better() + "(" + value + ", " + stored + ")" : value}});
    };
    if (single()) return one("out_y", found() + "(best[0])");
    return one("out_y", "(best[0] & 0xffffu)") + one("out_y + strip", "(best[0] >> 16)");
  }

  void write_kernel(const Pass& pass, int number_of_pass) {
    const Operand self{false, n_};
    const std::string name = name_ + (number_of_pass > 0 ? "_" + number(number_of_pass + 1) : "");
    const int down = strips(), slots = pass.groups() * std::max(1, builder_.tuning().processors);
    // As many groups as the device has at once: a strip begins with a whole window.
    const int rows = pass.rows, before = pass.tall() - 1;
    const auto strip_of = [=](Size size) {
      const std::int64_t across = (size.width + items - 1) / items;
      const std::int64_t strips = std::max<std::int64_t>(1, slots / across) * down;
      const std::int64_t least =
          std::max<std::int64_t>((size.height + strips - 1) / strips, min_strip);
      return (least + before + rows - 1) / rows * rows - before;
    };
    const std::string strip = builder_.of_size(name + "_strip", self, strip_of);
    std::map<std::pair<int, int>, std::string> names;
    const std::string runs = runs_text(pass, names);
    const std::string text = builder_.filled(part(kernels::mask_runs, "kernel"),
                                             {{"items", number(items)},
                                              {"type", type()},
                                              {"quad", quad()},
                                              {"all", number(pass.levels * pass.tasks())},
                                              {"words", number(pass.words())},
                                              {"tasks", number(pass.tasks())},
                                              {"turns", number(pass.turns())},
                                              {"rows", number(pass.rows)},
                                              {"load", load_text()},
                                              {"around", around_text()},
                                              {"first", levels_text(pass)},
                                              {"wider", ""},
                                              {"strip", strip},
                                              {"strips", number(down)},
                                              {"tall", number(pass.tall())},
                                              {"nothing", nothing()},
                                              {"above", number(-pass.first)},
                                              {"below", number(pass.last)},
                                              {"left", number(4 * Pass::fours(pass.left))},
                                              {"two", single() ? "0" : "1"},
                                              {"runs", runs},
                                              {"windows", windows_text(pass, names)},
                                              {"width", builder_.width(self)},
                                              {"height", builder_.height(self)},
                                              {"store", store_text(number_of_pass > 0)}});
    builder_.kernel(
        "store_" + name, items, text,
        [self, strip_of, down](const LaunchContext& at) {
          const Size size = at.size_of(self);
          return launch_tiles(size, items, strip_of(size) * down, items);
        },
        pass.groups());
  }

  Builder& builder_;
  int n_;
  const Extremum& extremum_;
  PixelClass cls_;
  Operand image_;
  std::string name_ = Builder::name({false, n_});
};

Offer offer_mask_runs(const FormQuestion& question) {
  constexpr std::size_t max_runs = 512;
  const auto* extremum = as<Extremum>(question.node());
  if (extremum == nullptr) return vetoed("no extremum");
  const Mask& mask = extremum->mask;
  const Footprint f = mask.footprint();
  if (std::min({f.left, f.right, f.up, f.down}) < 0) return vetoed("its mask leaves the pixel out");
  const std::vector<Run> runs = runs_of(mask);
  const int levels = std::bit_width(static_cast<unsigned>(mask.width));
  const std::int64_t widest = std::int64_t{4} * (items + f.left + f.right);
  if (widest * levels > question.context.tuning.local_bytes || runs.size() > max_runs) {
    return vetoed("local memory does not hold its runs");
  }
  // Of each row of the mask: a rectangle's rows share their runs, those of a line are short.
  const double each = mask.full() || is_sparse(mask) ? 3 : 4.2;
  const double narrow = question.cls() == PixelClass::single ? 0 : 1;
  return {.work = {.bytes = bytes_moved(question.context, question.n),
                   .operations = 80 - 40 * narrow + each * mask.height + 0.5 * mask.width,
                   .launches = (mask.height + max_tall - 1) / max_tall},
          .form = FamilyForm{&mask_runs_form},
          .reason = "the cost grows with the rows of its mask"};
}

}  // namespace

const FormRow mask_runs_form = {"runs of the mask's rows", offer_mask_runs,
                                [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                  MaskRuns(builder, n).write();
                                  return nullptr;
                                }};

}  // namespace impipe::jit
