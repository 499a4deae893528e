// What can be said of the connected components of bits: labels, sizes, holes, regional extrema.
#include "backends/cpu/components/label.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "backends/cpu/components/components.hpp"
#include "backends/cpu/tile/run_values.hpp"
#include "core/error.hpp"

namespace impipe::cpu {
namespace {

using Kind = Label::Kind;

constexpr std::int64_t rows_at_once = 32;

// Calls work(y) for all rows, many of them on one thread.
template <class Work>
void for_each_row(ThreadPool& pool, std::int64_t height, const Work& work) {
  pool.for_each((height + rows_at_once - 1) / rows_at_once, [&](std::int64_t part) {
    const std::int64_t end = std::min(height, (part + 1) * rows_at_once);
    for (std::int64_t y = part * rows_at_once; y < end; ++y) work(y);
  });
}

// The pixels that are not 0.
BitPlane set_pixels(const Plane& plane, ThreadPool& pool, CpuLevel level) {
  BitPlane set(plane.size());
  const std::int64_t width = plane.size().width;
  for_each_row(pool, plane.size().height, [&](std::int64_t y) {
    thread_local std::vector<std::uint8_t> bytes;
    bytes.resize(static_cast<std::size_t>(width));
    find_set(plane.cls(), plane.row(y), width, bytes.data(), level);
    pack_bits(bytes.data(), width, set.row(y), level);
  });
  return set;
}

// Adds the components whose kept value is at least `least`.
void add_components(const Components& components, std::uint64_t least, BitPlane& to,
                    ThreadPool& pool) {
  pool.for_each(components.strips(), [&](std::int64_t s) {
    for (std::int64_t y = components.first_row(s); y < components.first_row(s + 1); ++y) {
      for (std::uint32_t i = components.row_begin(y); i < components.row_end(y); ++i) {
        if (components.kept(components.root(i)) < least) continue;
        set_bits(to.row(y), components.run(i).begin, components.run(i).end);
      }
    }
  });
}

void write_bits(const BitPlane& bits, bool inverted, Plane& out, ThreadPool& pool, CpuLevel level) {
  for_each_row(pool, out.size().height, [&](std::int64_t y) {
    unpack_bits(bits.row(y), out.size().width, inverted, out.row_as<std::uint8_t>(y), level);
  });
}

// --- bwlabel

// Components are numbered by their first pixels, from left to right, in a column from top to
// bottom. These are bits of a plane of columns; a component's number is how many are set up to its
// own.
class Numbering {
 public:
  Numbering(Components& components, const BitPlane& set, ThreadPool& pool, CpuLevel level)
      : components_(components),
        set_(set),
        pool_(pool),
        level_(level),
        size_(set.size()),
        firsts_(static_cast<std::size_t>((size_.pixels() + 63) / 64)),
        before_(firsts_.size()) {}

  void run(Plane& out) {
    for_each_root([&](std::uint32_t root) {
      const std::uint64_t place = components_.kept(root);
      // Places of different strips may be in one word.
      std::atomic_ref(firsts_[place / 64])
          .fetch_or(std::uint64_t{1} << place % 64, std::memory_order_relaxed);
    });
    std::int64_t count = 0;
    for (std::size_t w = 0; w < firsts_.size(); ++w) {
      before_[w] = static_cast<std::uint32_t>(count);
      count += std::popcount(firsts_[w]);
    }
    constexpr std::int64_t most = 1 << std::numeric_limits<float>::digits;
    if (count > most) {
      throw Error("bwlabel: there are " + std::to_string(count) + " components; single counts to " +
                      std::to_string(most) + " only",
                  ExitCode::file_failed);
    }
    for_each_root([&](std::uint32_t root) {
      const std::uint64_t place = components_.kept(root);
      const std::uint64_t up_to = firsts_[place / 64] << (63 - place % 64);
      components_.keep(root, before_[place / 64] + static_cast<unsigned>(std::popcount(up_to)));
    });
    pool_.for_each(components_.strips(), [&](std::int64_t s) {
      std::vector<float> numbers;
      for (std::int64_t y = components_.first_row(s); y < components_.first_row(s + 1); ++y) {
        const std::uint32_t first = components_.row_begin(y), end = components_.row_end(y);
        numbers.resize(std::max<std::size_t>(numbers.size(), 1 + end - first + run_values_padding));
        for (std::uint32_t i = first; i < end; ++i) {
          numbers[1 + i - first] = static_cast<float>(components_.kept(components_.root(i)));
        }
        write_run_values(set_.row(y), numbers.data(), size_.width, out.row_as<float>(y), level_);
      }
    });
  }

 private:
  template <class Work>
  void for_each_root(const Work& work) {
    pool_.for_each(components_.strips(), [&](std::int64_t s) {
      for (const std::uint32_t i : components_.starts(s)) {
        if (components_.is_root(i)) work(i);
      }
    });
  }

  Components& components_;
  const BitPlane& set_;
  ThreadPool& pool_;
  CpuLevel level_;
  Size size_;
  std::vector<std::uint64_t> firsts_;  // bits, column after column
  std::vector<std::uint32_t> before_;  // how many are set before each word
};

// --- regional extrema

// Peaks have no larger neighbour. Two that touch are equal, so that plateaus are components of
// peaks; a plateau with an equal neighbour that is no peak is lost.
class Peaks {
 public:
  Peaks(const Plane& in, bool largest, int connectivity, ThreadPool& pool, CpuLevel level)
      : in_(in),
        kind_{in.cls(), largest, connectivity == 8},
        pool_(pool),
        level_(level),
        size_(in.size()),
        peaks_(size_),
        lost_(size_) {}

  void run(Plane& out) {
    const std::int64_t parts = (size_.height + part_rows - 1) / part_rows;
    pool_.for_each(parts, [&](std::int64_t part) {
      mark(part * part_rows, std::min(size_.height, (part + 1) * part_rows));
    });
    // Peaks that touch no other need no components.
    BitPlane joined(size_), found(size_);
    for_each_row(pool_, size_.height, [&](std::int64_t y) { part_row(y, joined, found); });
    const Components components(joined, &lost_, Components::Keep::flag, kind_.corners ? 8 : 4,
                                pool_);
    pool_.for_each(components.strips(), [&](std::int64_t s) {
      for (std::int64_t y = components.first_row(s); y < components.first_row(s + 1); ++y) {
        for (std::uint32_t i = components.row_begin(y); i < components.row_end(y); ++i) {
          if (components.kept(components.root(i)) != 0) continue;
          set_bits(found.row(y), components.run(i).begin, components.run(i).end);
        }
        unpack_bits(found.row(y), size_.width, false, out.row_as<std::uint8_t>(y), level_);
      }
    });
  }

 private:
  static constexpr std::int64_t part_rows = 64;

  // Rows with one more element at either end, the last few that were asked for.
  struct Window {
    std::vector<std::byte> pixels[4];
    std::vector<std::uint8_t> peaks[4];
  };

  void mark(std::int64_t y0, std::int64_t y1) {
    Window window;
    std::vector<std::uint8_t> lost(static_cast<std::size_t>(size_.width));
    for (auto& row : window.pixels) {
      row.resize(static_cast<std::size_t>((size_.width + 2) * bytes_of(in_.cls())));
    }
    for (auto& row : window.peaks) row.resize(static_cast<std::size_t>(size_.width) + 2);
    for (std::int64_t y = y0 - 2; y < y0 + 1; ++y) fetch(y, window);
    for (std::int64_t y = y0 - 1; y <= y1; ++y) {
      // Row y has its peaks when the row under it is there; row y - 1 loses some after that.
      if (y > y0 - 1) fetch(y + 1, window);
      find(y, window);
      if (y > y0) {
        mark_lost_peaks(kind_, rows(y - 1, window, lost.data()), level_);
        pack_bits(lost.data(), size_.width, lost_.row(y - 1), level_);
        pack_bits(window.peaks[(y - 1) & 3].data() + 1, size_.width, peaks_.row(y - 1), level_);
      }
    }
  }

  PeakRows rows(std::int64_t y, const Window& window, std::uint8_t* out) const {
    PeakRows made{.out = out, .count = size_.width};
    for (int k = 0; k < 3; ++k) {
      made.pixels[k] = window.pixels[(y - 1 + k) & 3].data();
      made.peaks[k] = window.peaks[(y - 1 + k) & 3].data();
    }
    return made;
  }

  void fetch(std::int64_t y, Window& window) const {
    std::byte* row = window.pixels[y & 3].data();
    const std::int64_t pixel = bytes_of(in_.cls());
    const bool inside = y >= 0 && y < size_.height;
    if (inside) std::memcpy(row + pixel, in_.row(y), static_cast<std::size_t>(in_.row_bytes()));
    for (std::int64_t x = 0; x < size_.width + 2; x += inside ? size_.width + 1 : 1) {
      put_nothing(row + x * pixel);
    }
    if (inside && in_.cls() == PixelClass::single) replace_nan(reinterpret_cast<float*>(row) + 1);
  }

  // NaN exceeds nothing.
  void replace_nan(float* values) const {
    float nothing;
    put_nothing(reinterpret_cast<std::byte*>(&nothing));
    for (std::int64_t x = 0; x < size_.width; ++x) {
      values[x] = std::isnan(values[x]) ? nothing : values[x];
    }
  }

  // What no pixel is exceeded by.
  void put_nothing(std::byte* at) const {
    if (in_.cls() == PixelClass::single) {
      constexpr float infinity = std::numeric_limits<float>::infinity();
      const float value = kind_.largest ? -infinity : infinity;
      std::memcpy(at, &value, sizeof value);
    } else {
      std::memset(at, kind_.largest ? 0 : 0xff, static_cast<std::size_t>(bytes_of(in_.cls())));
    }
  }

  void find(std::int64_t y, Window& window) const {
    std::vector<std::uint8_t>& row = window.peaks[y & 3];
    row.front() = row.back() = 1;
    if (y < 0 || y >= size_.height) {
      std::fill(row.begin(), row.end(), std::uint8_t{1});
    } else {
      mark_peaks(kind_, rows(y, window, row.data() + 1), level_);
    }
  }

  // Peaks with a peak beside them, and those without that are not lost.
  void part_row(std::int64_t y, BitPlane& joined, BitPlane& found) const {
    const std::uint64_t* here = peaks_.row(y);
    const std::uint64_t* lost = lost_.row(y);
    const std::uint64_t* over = y > 0 ? peaks_.row(y - 1) : nullptr;
    const std::uint64_t* under = y + 1 < size_.height ? peaks_.row(y + 1) : nullptr;
    const auto beside = [&](const std::uint64_t* row, std::int64_t w) {
      const std::uint64_t left = w > 0 ? row[w - 1] >> 63 : 0;
      const std::uint64_t right = w + 1 < peaks_.words() ? row[w + 1] << 63 : 0;
      return (row[w] << 1 | left) | (row[w] >> 1 | right);
    };
    for (std::int64_t w = 0; w < peaks_.words(); ++w) {
      std::uint64_t touched = beside(here, w);
      for (const std::uint64_t* row : {over, under}) {
        if (row == nullptr) continue;
        touched |= kind_.corners ? row[w] | beside(row, w) : row[w];
      }
      joined.row(y)[w] = here[w] & touched;
      found.row(y)[w] = here[w] & ~touched & ~lost[w];
    }
  }

  const Plane& in_;
  PeakKind kind_;
  ThreadPool& pool_;
  CpuLevel level_;
  Size size_;
  BitPlane peaks_, lost_;
};

// --- holes of logical images, and logical reconstruction

// What of the background is connected with the border; the rest is set.
void run_holes(int connectivity, const Plane& in, Plane& out, ThreadPool& pool, CpuLevel level) {
  BitPlane background = set_pixels(in, pool, level);
  BitPlane border(in.size());
  const std::int64_t width = in.size().width, height = in.size().height;
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint64_t* row = background.row(y);
    for (std::int64_t w = 0; w < background.words(); ++w) row[w] = ~row[w];
    row[background.words() - 1] &= background.last_word();
    set_bits(border.row(y), 0, y == 0 || y + 1 == height ? width : 1);
    set_bits(border.row(y), width - 1, width);
  }
  const Components components(background, &border, Components::Keep::flag, connectivity, pool);
  BitPlane outside(in.size());
  add_components(components, 1, outside, pool);
  write_bits(outside, true, out, pool, level);
}

void run_logical_reconstruct(int connectivity, const Plane& marker, const Plane& mask, Plane& out,
                             ThreadPool& pool, CpuLevel level) {
  const BitPlane set = set_pixels(mask, pool, level), marked = set_pixels(marker, pool, level);
  const Components components(set, &marked, Components::Keep::flag, connectivity, pool);
  BitPlane found(mask.size());
  add_components(components, 1, found, pool);
  write_bits(found, false, out, pool, level);
}

// How many pixels each component has, at the first of them down the columns.
void write_first_areas(const BitPlane& set, int connectivity, Plane& out, ThreadPool& pool) {
  const Components firsts(set, nullptr, Components::Keep::first, connectivity, pool);
  const Components areas(set, nullptr, Components::Keep::pixels, connectivity, pool);
  const auto height = static_cast<std::uint64_t>(out.size().height);
  for_each_row(pool, out.size().height,
               [&](std::int64_t y) { std::fill_n(out.row_as<float>(y), out.size().width, 0.0f); });
  // The same runs have the same roots.
  pool.for_each(firsts.strips(), [&](std::int64_t s) {
    for (const std::uint32_t i : firsts.starts(s)) {
      if (!firsts.is_root(i)) continue;
      const std::uint64_t place = firsts.kept(i);
      out.row_as<float>(static_cast<std::int64_t>(place % height))[place / height] =
          static_cast<float>(areas.kept(areas.root(i)));
    }
  });
}

}  // namespace

void run_label(const Label& label, double argument, const std::vector<const Plane*>& images,
               Plane& out, ThreadPool& pool, CpuLevel level) {
  const Plane& in = *images.front();
  const bool logical = in.cls() == PixelClass::logical;
  switch (label.kind) {
    case Kind::components: {
      const BitPlane set = set_pixels(in, pool, level);
      Components components(set, nullptr, Components::Keep::first, label.connectivity, pool);
      Numbering(components, set, pool, level).run(out);
      return;
    }
    case Kind::large: {
      const BitPlane set = set_pixels(in, pool, level);
      const Components components(set, nullptr, Components::Keep::pixels, label.connectivity, pool);
      BitPlane found(in.size());
      add_components(components, static_cast<std::uint64_t>(argument), found, pool);
      write_bits(found, false, out, pool, level);
      return;
    }
    case Kind::holes:
      if (logical) return run_holes(label.connectivity, in, out, pool, level);
      return run_gray_holes(label.connectivity, in, out, pool, level);
    case Kind::maxima:
    case Kind::minima:
      Peaks(in, label.kind == Kind::maxima, label.connectivity, pool, level).run(out);
      return;
    case Kind::reconstruct:
      if (logical) {
        return run_logical_reconstruct(label.connectivity, in, *images.at(1), out, pool, level);
      }
      return run_reconstruct(label.connectivity, in, *images.at(1), out, pool, level);
    case Kind::reach: return run_reach(in, out, pool, level);
    case Kind::flood: return run_flood(label.connectivity, in, *images.at(1), out);
    case Kind::first_areas:
      return write_first_areas(set_pixels(in, pool, level), label.connectivity, out, pool);
  }
}

}  // namespace impipe::cpu
