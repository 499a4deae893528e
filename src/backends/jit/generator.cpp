// Makes the program of a kernel: which nodes are stored, and which are computed where they are
// read.
#include "backends/jit/generator.hpp"

#include <algorithm>
#include <concepts>
#include <set>
#include <string>
#include <variant>

#include "backends/jit/block.hpp"
#include "backends/jit/block_writer.hpp"
#include "backends/jit/dialect.hpp"
#include "backends/jit/label.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/permute.hpp"
#include "backends/jit/rank_histogram.hpp"
#include "backends/jit/rectangle.hpp"
#include "backends/jit/reduce.hpp"
#include "backends/jit/resample.hpp"
#include "backends/jit/strip.hpp"
#include "backends/jit/tile.hpp"
#include "backends/jit/wide_histogram.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.primitive);
}

template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);

// Whether it reads a pixel of its image more than once.
bool reads_again(const Node& node) { return facts_of(node).reads_around || is<Select>(node); }

// Whether it is a point of more images than a block keeps windows of: channels that are mixed.
bool joins_neighbourhoods(const Node& node) { return is<Point>(node) && node.images.size() > 2; }

// Whether what lies outside the image comes from its other side.
bool is_circular(const Node& node) {
  const PrimitiveFacts facts = facts_of(node);
  return facts.reads_around && facts.border == Border::circular;
}

class Generator {
 public:
  Generator(const KernelSpec& spec, Dialect dialect, const Tuning& tuning)
      : to_(spec, dialect, tuning) {}

  Program run() {
    const int count = static_cast<int>(to_.spec().nodes.size());
    choose_strips(count);
    choose_points(count);
    for (int n = 0; n < count; ++n) {
      const bool image = !to_.node(n).is_measure && stored(n) && !strips_.contains(n);
      tiled_.push_back(to_.fast() && image ? tiled(n) : -1);
    }
    for (int n = 0; n < count; ++n) {
      if (in_strips_.contains(n) || only_in_tiles(n) || to_.is_made(n)) continue;
      std::visit(Writer{*this, n}, to_.node(n).primitive);
    }
    return to_.finish();
  }

 private:
  // What each primitive's kernels are written by. One that is named nowhere here, or in the writer
  // of pixels below, does not compile.
  struct Writer {
    Generator& of;
    int n;
    void operator()(const Reduce&) const { of.reduce(n); }
    void operator()(const Histogram&) const {
      if (of.to_.fast() && fits_wide_histogram(of.to_, n)) {
        write_wide_histogram(of.to_, of.is_stored_, n);
      } else {
        write_histogram(of.to_, n);
      }
    }
    void operator()(const Select&) const { write_select(of.to_, n); }
    void operator()(const Scalar&) const { write_scalar(of.to_, n); }
    void operator()(const Distance&) const { write_distance(of.to_, n); }
    void operator()(const Diffuse&) const { write_diffuse(of.to_, n); }
    void operator()(const Project&) const { write_project(of.to_, n); }
    void operator()(const Backproject&) const { write_backproject(of.to_, n); }
    void operator()(const Label&) const { write_label(of.to_, n); }
    void operator()(const Separable&) const {
      if (of.tiled_[index(n)] < 0 && !of.strips_.contains(n) && !of.in_block(n)) of.write_rows(n);
      of.write_image(n);
    }
    template <OneOf<Point, Permute, Window, Resample, Stencil, Extremum, Rank> Other>
    void operator()(const Other&) const {
      of.write_image(n);
    }
  };

  struct PixelWriter {
    Generator& of;
    int n;
    const std::string& name;
    void operator()(const Point&) const { write_point(of.to_, n, name); }
    void operator()(const Permute&) const { write_permute(of.to_, n, name); }
    void operator()(const Window&) const { write_window(of.to_, n, name); }
    void operator()(const Resample&) const { write_resample(of.to_, n, name); }
    void operator()(const Stencil&) const { write_stencil(of.to_, n, name); }
    void operator()(const Separable&) const { write_separable(of.to_, n, name); }
    void operator()(const Extremum&) const {
      write_extremum(of.to_, n, name, !of.to_.fast() || !fits_block(of.to_, of.is_stored_, n));
    }
    void operator()(const Rank&) const { write_rank(of.to_, n, name); }
    template <
        OneOf<Reduce, Histogram, Select, Scalar, Distance, Diffuse, Project, Backproject, Label>
            Other>
    void operator()(const Other&) const {
      of.to_.fail(std::string(name_of(of.to_.node(n).primitive)) + " is not made pixel by pixel");
    }
  };

  // A node's pixels, stored or as a function.
  void write_image(int n) {
    if (stored(n)) {
      store(n);
    } else {
      write_pixel(n, Builder::name({false, n}));
    }
  }

  // Whether the node's pixels go through memory: an output, or read more than once a pixel.
  bool stored(int n) const {
    if (in_strips_.contains(n) || in_groups_.contains(n)) return false;
    if (to_.output_of(n) >= 0 || strip_planes_.contains(n) || rectangle(n) ||
        fits_rank_histogram(to_, n)) {
      return true;
    }
    const auto* turned = std::get_if<Permute>(&to_.node(n).primitive);
    if (to_.fast() && turned != nullptr && turned->transpose) return true;
    const std::vector<int> readers = readers_of(n);
    for (const int r : readers) {
      const Node& reader = to_.node(r);
      if (to_.fast() && keeps_plane_for(n, r)) return true;
      // Measurements go over pixels one by one, neighbourhoods over blocks (decisions/0023).
      if (to_.fast() && reader.is_measure && reads_again(to_.node(n))) return true;
      if (reads_again(reader)) return true;
      if (joins_neighbourhoods(reader) && reads_again(to_.node(n))) return true;
    }
    return readers.size() > 1 && reads_again(to_.node(n));
  }

  // Whether reader r of node n sends pixels to other places, and needs a plane for it.
  bool keeps_plane_for(int n, int r) const {
    const Node& reader = to_.node(r);
    if (!is<Permute>(reader) && !is<Window>(reader)) return false;
    return !moves(reader) || !can_be_moved(to_, others_than(is_stored_, n), r);
  }

  static std::size_t index(int n) { return static_cast<std::size_t>(n); }

  bool in_block(int n) const {
    return passes_in_block(to_, n) && stored(n) && fits_block(to_, is_stored_, n);
  }

  // The node with two passes inside stored node n, if its kernel is to make both.
  int tiled(int n) const {
    const int inner = two_passes_of(to_, is_stored_, n);
    const bool small =
        inner >= 0 && is<Extremum>(to_.node(inner)) && fits_block(to_, is_stored_, n);
    return small || in_block(n) ? -1 : inner;
  }

  // In their order, each as many times as it reads the node.
  std::vector<int> readers_of(int n) const {
    std::vector<int> readers;
    for (int r = 0; r < static_cast<int>(to_.spec().nodes.size()); ++r) {
      const auto& images = to_.node(r).images;
      readers.insert(
          readers.end(),
          static_cast<std::size_t>(std::count(images.begin(), images.end(), Operand{false, n})), r);
    }
    return readers;
  }

  // Which nodes are made in strips, and with them those before them that nothing else reads.
  void choose_strips(int count) {
    if (!to_.fast()) return;
    const IsStored kept = [this](int n) {
      const Node& node = to_.node(n);
      const bool known = is<Point>(node) || is<Stencil>(node) || is<Separable>(node);
      const std::vector<int> readers = readers_of(n);
      return to_.output_of(n) >= 0 || !known || strip_planes_.contains(n) ||
             std::set<int>(readers.begin(), readers.end()).size() != 1;
    };
    for (int n = count - 1; n >= 0; --n) {
      if (to_.node(n).is_measure || in_strips_.contains(n) || !stored(n)) continue;
      if (const std::optional<StripParts> parts = strip_parts(to_, kept, n)) {
        strips_.insert(n);
        in_strips_.insert(parts->inside.begin(), parts->inside.end());
        strip_planes_.insert(parts->planes.begin(), parts->planes.end());
      }
    }
  }

  // Which points the groups that read around them make for themselves.
  void choose_points(int count) {
    if (!to_.fast()) return;
    for (int n = 0; n < count; ++n) {
      if (!is<Point>(to_.node(n)) || to_.output_of(n) >= 0 || in_strips_.contains(n) ||
          strip_planes_.contains(n)) {
        continue;
      }
      const std::vector<int> readers = readers_of(n);
      if (readers.size() != 1 || !reads_again(to_.node(readers[0]))) continue;
      const Operand made{false, n};
      in_groups_.insert(n);
      if (!only_points(to_, is_stored_, made) || take_long(to_, is_stored_, made) ||
          !makes_points(readers[0])) {
        in_groups_.erase(n);
      }
    }
  }

  // Whether neighbourhood r, which reads points, is made in kernels of blocks or tiles alone: their
  // groups keep what the points make.
  bool makes_points(int r) const {
    if (is_circular(to_.node(r))) return false;
    int n = r;
    while (!stored(n)) {
      const std::vector<int> readers = readers_of(n);
      if (readers.size() != 1 || to_.node(readers[0]).is_measure) return false;
      n = readers[0];
    }
    if (strips_.contains(n) || rectangle(n) || fits_rank_histogram(to_, n) ||
        fits_tiles(to_, is_stored_, n)) {
      return false;
    }
    const int inner = tiled(n);
    return inner >= 0 ? inner == r : fits_block(to_, is_stored_, n);
  }

  // Whether node n takes kernels of its own for the extrema of a large rectangle.
  bool rectangle(int n) const {
    // Words of several pixels gain by it even where the block's window would still fit.
    const PixelClass cls = to_.node(n).cls;
    const bool packed = cls == PixelClass::uint8 || cls == PixelClass::logical;
    return to_.fast() && is_rectangle(to_, n) && (packed || !fits_block(to_, is_stored_, n)) &&
           two_passes_of(to_, is_stored_, n) < 0;
  }

  // Whether nothing reads the node but kernels of tiles that make it: it has two passes, or such a
  // node before it.
  bool only_in_tiles(int n) const {
    const Node& node = to_.node(n);
    if (node.is_measure || stored(n) || two_passes_of(to_, is_stored_, n) < 0) return false;
    for (std::size_t r = index(n) + 1; r < to_.spec().nodes.size(); ++r) {
      const Node& reader = to_.spec().nodes[r];
      const bool reads = std::find(reader.images.begin(), reader.images.end(), Operand{false, n}) !=
                         reader.images.end();
      if (reads && tiled_[r] < 0 && !only_in_tiles(static_cast<int>(r))) return false;
    }
    return true;
  }

  void write_pixel(int n, const std::string& name) {
    std::visit(PixelWriter{*this, n, name}, to_.node(n).primitive);
  }

  // With those that share its pass over the image.
  void reduce(int n) {
    if (std::find(reduced_.begin(), reduced_.end(), n) != reduced_.end()) return;
    const std::vector<int> nodes = reductions_with(to_, n);
    write_reductions(to_, nodes);
    reduced_.insert(reduced_.end(), nodes.begin(), nodes.end());
  }

  void write_rows(int n) {
    if (to_.fast() && fits_block_rows(to_, n)) {
      write_block_rows(to_, is_stored_, n);
    } else {
      write_separable_rows(to_, n);
    }
  }

  // The kernels that store node n's pixels, and the function that reads them.
  void store(int n) {
    if (to_.fast() && fits_tiles(to_, is_stored_, n)) {
      write_transpose_kernel(to_, n);
    } else if (strips_.contains(n)) {
      write_strip_kernel(to_, is_stored_, n);
    } else if (rectangle(n)) {
      write_rectangle_kernels(to_, n);
    } else if (tiled_[index(n)] >= 0) {
      write_tile_kernel(to_, is_stored_, n, tiled_[index(n)]);
    } else if (to_.fast() && fits_block(to_, is_stored_, n)) {
      write_block_kernel(to_, is_stored_, n);
    } else if (fits_rank_histogram(to_, n)) {
      write_rank_histogram(to_, n);
    } else if (to_.fast() && is_affine(to_, n)) {
      write_affine_tiles(to_, n);
    } else if (to_.fast() && is_nearest_resize(to_, n)) {
      write_nearest_resize(to_, n);
    } else if (fits_resize_tiles(to_, n)) {
      const LaunchTest tiles = write_resize_tiles(to_, n);
      store_pixels(n, [tiles](const LaunchContext& at) { return !tiles(at); });
    } else {
      store_pixels(n);
    }
    load_function(n);
  }

  // One pixel a work-item; `wanted`: by launches for which it holds.
  void store_pixels(int n, const LaunchTest& wanted = nullptr) {
    const Operand self{false, n};
    const std::string name = Builder::name(self);
    if (wanted) {
      write_resample(to_, n, name + "_value", wanted);
    } else {
      write_pixel(n, name + "_value");
    }
    const std::string value = to_.call(name + "_value", "x", "y");
    to_.pixel_kernel(
        "store_" + name + (wanted ? "_pixels" : ""), to_.width(self), to_.height(self),
        [self, wanted](const LaunchContext& at) {
          return wanted && !wanted(at) ? Size{} : at.size_of(self);
        },
        "  " + to_.plane(self).pixel() + " = " + value + ";\n");
  }

  void load_function(int n) {
    const Operand self{false, n};
    const std::string name = Builder::name(self);
    to_.function(name, value_header(type_of(to_.node(n).cls), name) + "  return " +
                           to_.plane(self).pixel() + ";\n}\n");
  }

  Builder to_;
  std::vector<int> tiled_;  // one a node: what tiled() says
  std::vector<int> reduced_;
  std::set<int> strips_, in_strips_, strip_planes_;
  std::set<int> in_groups_;  // points that the groups of kernels make that read around them
  IsStored is_stored_ = [this](int n) { return stored(n); };
};

}  // namespace

Program generate(const KernelSpec& spec, Dialect dialect, const Tuning& tuning) {
  return Generator(spec, dialect, tuning).run();
}

}  // namespace impipe::jit
