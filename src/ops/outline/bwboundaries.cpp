// bwboundaries: the outlines of objects and of their holes, pixel after pixel.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/shared_pool.hpp"
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"
#include "ops/outline/outline.hpp"

IMPIPE_POINT_BODY(is_background, (x), (), { return x == real(0) ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// The pixels that are traced, with one more on each side of the image, which is none of them.
class Mask {
 public:
  explicit Mask(const Plane& labels)
      : stride_(labels.size().width + 2),
        cells_(static_cast<std::size_t>(stride_ * (labels.size().height + 2))) {
    for_each_shared(labels.size().height, [&](std::int64_t y) {
      const float* row = labels.row_as<float>(y);
      std::uint8_t* to = cells_.data() + (y + 1) * stride_ + 1;
      for (std::int64_t x = 0; x < labels.size().width; ++x) to[x] = row[x] != 0 ? 1 : 0;
    });
  }
  std::int64_t stride() const { return stride_; }
  const std::uint8_t* at(Pixel p) const { return cells_.data() + (p.y + 1) * stride_ + p.x + 1; }

 private:
  std::int64_t stride_;
  std::vector<std::uint8_t> cells_;
};

// The first pixel of each label down the columns; x is -1 where the label has none.
std::vector<Pixel> first_pixels(const Plane& labels) {
  const auto [width, height] = labels.size();
  // Floats from 0 on are ordered as their bits, whose maximum the compiler vectorises.
  std::vector<std::int32_t> largest(static_cast<std::size_t>(height));
  for_each_shared(height, [&](std::int64_t y) {
    const float* row = labels.row_as<float>(y);
    std::int32_t bits = 0;
    for (std::int64_t x = 0; x < width; ++x)
      bits = std::max(bits, std::bit_cast<std::int32_t>(row[x]));
    largest[static_cast<std::size_t>(y)] = bits;
  });
  const auto count =
      static_cast<std::size_t>(std::bit_cast<float>(*std::ranges::max_element(largest)));
  const std::int64_t none = width * height;
  std::vector<std::int64_t> first(count + 1, none);  // column * height + row
  for_each_shared(height, [&](std::int64_t y) {
    const float* row = labels.row_as<float>(y);
    for (std::int64_t x = 0; x < width; ++x) {
      if (row[x] == (x == 0 ? 0 : row[x - 1])) continue;
      const std::atomic_ref<std::int64_t> least(first[static_cast<std::size_t>(row[x])]);
      std::int64_t before = least.load(std::memory_order_relaxed);
      while (x * height + y < before &&
             !least.compare_exchange_weak(before, x * height + y, std::memory_order_relaxed)) {
      }
    }
  });
  std::vector<Pixel> pixels;
  for (const std::int64_t at : first) {
    pixels.push_back(at == none ? Pixel{-1, 0} : Pixel{at / height, at % height});
  }
  return pixels;
}

// Leaves out what reaches the image's border.
void drop_at_border(const Plane& labels, std::vector<Pixel>& first) {
  const Size size = labels.size();
  const auto drop = [&](std::int64_t x, std::int64_t y) {
    first[static_cast<std::size_t>(labels.row_as<float>(y)[x])].x = -1;
  };
  for (std::int64_t x = 0; x < size.width; ++x) {
    drop(x, 0);
    drop(x, size.height - 1);
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    drop(0, y);
    drop(size.width - 1, y);
  }
}

// Moore's neighbours: E SE S SW W NW N NE, clockwise on the screen; of 4-connected objects every
// other one.
class Tracer {
 public:
  Tracer(const Mask& mask, int conn) : mask_(mask), step_(conn == 4 ? 2 : 1) {
    for (int d = 0; d < 8; ++d) offset_[d] = dy[d] * mask.stride() + dx[d];
  }

  // Calls take(pixel) for each pixel of the outline that begins at an object's first pixel down
  // the columns, which comes at the end again.
  template <class Take>
  void trace(Pixel start, const Take& take) const {
    const std::uint8_t* const begin = mask_.at(start);
    const std::uint8_t* at = begin;
    Pixel pixel = start;
    take(pixel);
    const int first = next(at, step_ == 2 ? 6 : 5);
    if (first < 0) return take(pixel);
    int d = first;
    do {
      at += offset_[d];
      pixel = {pixel.x + dx[d], pixel.y + dy[d]};
      take(pixel);
      d = next(at, (step_ == 2 || d % 2 == 1 ? d + 6 : d + 7) % 8);
    } while (at != begin || d != first);
  }

 private:
  // The direction of the next pixel, searched clockwise from `d` on; -1: there is none.
  int next(const std::uint8_t* at, int d) const {
    for (int i = 0; i < 8; i += step_, d = (d + step_) % 8) {
      if (at[offset_[d]] != 0) return d;
    }
    return -1;
  }

  static constexpr int dx[8] = {1, 1, 0, -1, -1, -1, 0, 1}, dy[8] = {0, 1, 1, 1, 0, -1, -1, -1};
  const Mask& mask_;
  const int step_;
  std::int64_t offset_[8] = {};
};

class Boundaries {
 public:
  // Outlines of all labels. objects: the labels, where `labels` are those of holes.
  void add(const Plane& labels, int conn, const Plane* objects) {
    std::vector<Pixel> first = first_pixels(labels);
    if (objects != nullptr) drop_at_border(labels, first);
    const double kind = objects == nullptr ? 0 : 1;
    std::vector<Start> starts;
    for (std::size_t label = 1; label < first.size(); ++label) {
      const Pixel at = first[label];
      if (at.x < 0) continue;
      const double object =
          objects == nullptr ? static_cast<double>(label) : objects->row_as<float>(at.y)[at.x - 1];
      starts.push_back({at, object});
    }
    for (Traced& part : traced(labels, conn, starts)) {
      part.kind = kind;
      parts_.push_back(std::move(part));
    }
  }

  // The rows of all outlines, in memory that is reserved once: there are often millions.
  std::vector<double> rows(double origin) const {
    std::size_t points = 0;
    for (const Traced& part : parts_) points += part.points.size();
    std::vector<double> rows;
    rows.reserve(6 * points);
    double boundary = 0;
    for (const Traced& part : parts_) {
      std::size_t begin = 0;
      for (const auto& [object, end] : part.objects) {
        ++boundary;
        double index = 0;
        for (; begin < end; ++begin) {
          const Point& point = part.points[begin];
          rows.insert(rows.end(),
                      {boundary, object, part.kind, ++index, point.x + origin, point.y + origin});
        }
      }
    }
    return rows;
  }

 private:
  struct Start {
    Pixel at;
    double object = 0;
  };
  struct Point {
    std::int32_t x = 0, y = 0;
  };
  // Outlines, one behind the other.
  struct Traced {
    std::vector<std::pair<double, std::size_t>> objects;  // and where their outlines end
    std::vector<Point> points;
    double kind = 0;
  };

  static std::vector<Traced> traced(const Plane& labels, int conn,
                                    const std::vector<Start>& starts) {
    constexpr std::size_t at_once = 256;
    const Mask mask(labels);
    const Tracer tracer(mask, conn);
    std::vector<Traced> parts((starts.size() + at_once - 1) / at_once);
    for_each_shared(std::ssize(parts), [&](std::int64_t i) {
      Traced& part = parts[static_cast<std::size_t>(i)];
      const std::size_t begin = static_cast<std::size_t>(i) * at_once;
      for (std::size_t k = begin; k < std::min(begin + at_once, starts.size()); ++k) {
        tracer.trace(starts[k].at, [&](Pixel p) {
          part.points.push_back({static_cast<std::int32_t>(p.x), static_cast<std::int32_t>(p.y)});
        });
        part.objects.emplace_back(starts[k].object, part.points.size());
      }
    });
    return parts;
  }

  std::vector<Traced> parts_;
};

ImageValue lower_bwboundaries(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const int conn = connectivity(call), conn_of_holes = conn == 8 ? 4 : 8;
  const double origin = call.number("origin");
  const auto numbered = [&](const ImageValue& of, int connectivity) {
    return plan.whole(Label{Label::Kind::components, connectivity}, {of}, {}, single_result);
  };
  ObjectTable table{.labels = numbered(image, conn).id,
                    .columns = {"Boundary", "Object", "Kind", "Index", "X", "Y"}};
  if (call.word("holes") == "on") {
    const ImageValue background = plan.point(bodies::is_background, {image}, {}, logical_result);
    table.intensities = numbered(background, conn_of_holes).id;
  }
  table.rows = [=](const Plane& objects, const Plane* holes) {
    Boundaries boundaries;
    boundaries.add(objects, conn, nullptr);
    if (holes != nullptr) boundaries.add(*holes, conn_of_holes, &objects);
    return boundaries.rows(origin);
  };
  plan.report_objects("bwboundaries", table);
  return image;
}

const RegisterOperator bwboundaries_operator{{
    .name = "bwboundaries",
    .help = "outlines of objects and of their holes: a row for each pixel on them",
    .category = "statistics",
    .parameters = {connectivity_parameter("8"),
                   {.name = "holes",
                    .help = "whether holes are traced, too",
                    .words = {"on", "off"},
                    .fallback = "on"},
                   origin_parameter("1")},
    .one_channel = true,
    .table = true,
    .details =
        R"(Objects are the components of the pixels that are not 0, numbered as bwlabel does; their outlines
come first, then those of holes: components of 0 (4-connected where objects are 8-connected, else
8-connected) that do not reach the image's border, traced along their own pixels.
Moore tracing, clockwise on the screen from the first pixel down the columns, which is the last row
again; of a single pixel there are two equal rows. x goes to the right, y down.
Columns: Boundary Object Kind Index X Y. Kind is 0 of objects, 1 of holes, whose Object is the one to the
left of their first pixel. Rows go to stdout behind the file's name, or with -o '{stem}.csv', '.tsv',
'.json' or '.npy' to a file; -o '{stem}.geojson' writes a LineString for each outline. Components on the
device, outlines on the host.)",
    .example = "imbinarize | bwboundaries origin=0",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwboundaries(BW,conn) (same outlines, as one table; columns x, y instead of row, "
              "column)",
    .lower = lower_bwboundaries,
}};

}  // namespace
}  // namespace impipe::ops
