// Measures objects: sums over their pixels in one pass, then outlines, hulls and what follows from
// the sums, object by object. Devices have the sums from backends/cpu/measure or a GPU's kernels.
#include "core/object_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "core/hull.hpp"

namespace impipe {
namespace {

using Wide = __int128;

template <class Take>
void read_row(const Plane& plane, std::int64_t y, const Take& take) {
  const std::int64_t width = plane.size().width;
  const auto all = [&](const auto* row) {
    for (std::int64_t x = 0; x < width; ++x) take(x, static_cast<double>(row[x]));
  };
  switch (plane.cls()) {
    case PixelClass::uint16: return all(plane.row_as<std::uint16_t>(y));
    case PixelClass::single: return all(plane.row_as<float>(y));
    case PixelClass::logical:
    case PixelClass::uint8: return all(plane.row_as<std::uint8_t>(y));
  }
}

// Labels as numbers from 1 on, without gaps; 0 is background.
class Labels {
 public:
  explicit Labels(const Plane& plane)
      : size_(plane.size()), ids_(static_cast<std::size_t>(size_.pixels())) {
    std::map<double, std::int32_t> known;
    each_run(plane, [&](std::int64_t, std::int64_t, double label) { known[label] = 0; });
    std::int32_t next = 0;
    for (auto& [label, id] : known) {
      id = ++next;
      labels_.push_back(label);
    }
    each_run(plane, [&](std::int64_t begin, std::int64_t end, double label) {
      std::fill(ids_.begin() + begin, ids_.begin() + end, known.at(label));
    });
  }
  // Labels that are numbers up to count; what is none of them is counted, and background.
  Labels(const Plane& plane, std::int64_t count)
      : size_(plane.size()), ids_(static_cast<std::size_t>(size_.pixels())) {
    each_run(plane, [&](std::int64_t begin, std::int64_t end, double label) {
      const double whole = std::floor(label);
      if (whole != label || label > static_cast<double>(count)) {
        unnumbered_ += end - begin;
      } else {
        std::fill(ids_.begin() + begin, ids_.begin() + end, static_cast<std::int32_t>(whole));
      }
    });
    for (std::int64_t i = 1; i <= count; ++i) labels_.push_back(static_cast<double>(i));
  }
  Size size() const { return size_; }
  std::size_t count() const { return labels_.size(); }
  std::int64_t unnumbered() const { return unnumbered_; }
  double label(std::size_t object) const { return labels_[object]; }
  // 0 beside the image, too.
  std::int32_t at(std::int64_t x, std::int64_t y) const {
    if (x < 0 || x >= size_.width || y < 0 || y >= size_.height) return 0;
    return ids_[static_cast<std::size_t>(y * size_.width + x)];
  }

 private:
  // Calls take(begin, end, label) for the pixels of each run of equal labels.
  template <class Take>
  static void each_run(const Plane& plane, const Take& take) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      const std::int64_t row = y * plane.size().width;
      std::int64_t begin = 0;
      double label = 0;
      const auto end_run = [&](std::int64_t x) {
        if (label > 0) take(row + begin, row + x, label);
      };
      read_row(plane, y, [&](std::int64_t x, double value) {
        if (value == label) return;
        end_run(x);
        begin = x;
        label = value;
      });
      end_run(plane.size().width);
    }
  }

  Size size_;
  std::vector<std::int32_t> ids_;
  std::vector<double> labels_;
  std::int64_t unnumbered_ = 0;
};

struct Object {
  std::int64_t pixels = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;  // sums
  std::int64_t left = std::numeric_limits<std::int64_t>::max(), right = -1;
  std::int64_t top = std::numeric_limits<std::int64_t>::max(), bottom = -1;
  std::int64_t quarters = 0;                         // four times the Euler number
  double even = 0, odd = 0, corners = 0;             // of the outlines
  std::int64_t hull = 0;                             // pixel centres in it
  double sum = 0, sum_x = 0, sum_y = 0;              // of intensities
  std::int64_t codes = 0, codes_x = 0, codes_y = 0;  // those sums of whole numbers
  double least = std::numeric_limits<double>::infinity(), largest = -least;
};

void add_pixels(const Labels& labels, std::vector<Object>& objects) {
  for (std::int64_t y = 0; y < labels.size().height; ++y) {
    for (std::int64_t x = 0; x < labels.size().width; ++x) {
      const std::int32_t id = labels.at(x, y);
      if (id == 0) continue;
      Object& o = objects[static_cast<std::size_t>(id) - 1];
      ++o.pixels;
      o.x += x;
      o.y += y;
      o.xx += x * x;
      o.yy += y * y;
      o.xy += x * y;
      o.left = std::min(o.left, x);
      o.right = std::max(o.right, x);
      o.top = std::min(o.top, y);
      o.bottom = std::max(o.bottom, y);
    }
  }
}

void add_intensities(const Labels& labels, const Plane& intensities, std::vector<Object>& objects) {
  const bool codes = is_integer(intensities.cls());
  for (std::int64_t y = 0; y < labels.size().height; ++y) {
    read_row(intensities, y, [&](std::int64_t x, double value) {
      const std::int32_t id = labels.at(x, y);
      if (id == 0) return;
      Object& o = objects[static_cast<std::size_t>(id) - 1];
      o.least = std::min(o.least, value);
      o.largest = std::max(o.largest, value);
      if (codes) {
        const auto code = static_cast<std::int64_t>(value);
        o.codes += code;
        o.codes_x += code * x;
        o.codes_y += code * y;
      } else {
        o.sum += value;
        o.sum_x += value * static_cast<double>(x);
        o.sum_y += value * static_cast<double>(y);
      }
    });
  }
  if (!codes) return;
  for (Object& o : objects) {
    o.sum = static_cast<double>(o.codes);
    o.sum_x = static_cast<double>(o.codes_x);
    o.sum_y = static_cast<double>(o.codes_y);
  }
}

// Windows of 2x2 pixels: with one pixel of an object, with three, and with two on a diagonal.
void add_windows(const Labels& labels, std::vector<Object>& objects) {
  for (std::int64_t y = -1; y < labels.size().height; ++y) {
    for (std::int64_t x = -1; x < labels.size().width; ++x) {
      const std::int32_t ids[4] = {labels.at(x, y), labels.at(x + 1, y), labels.at(x + 1, y + 1),
                                   labels.at(x, y + 1)};
      for (int k = 0; k < 4; ++k) {
        const std::int32_t id = ids[k];
        if (id == 0 || std::find(ids, ids + k, id) != ids + k) continue;
        const auto pixels = std::count(ids, ids + 4, id);
        const bool diagonal = pixels == 2 && ids[(k + 2) % 4] == id;
        objects[static_cast<std::size_t>(id) - 1].quarters += pixels == 1   ? 1
                                                              : pixels == 3 ? -1
                                                              : diagonal    ? -2
                                                                            : 0;
      }
    }
  }
}

// The outline of a piece as a closed walk of its pixels, from its first one down the columns.
class Outline {
 public:
  Outline(const Labels& labels, Place first) : labels_(labels), id_(labels.at(first.x, first.y)) {
    constexpr Place sides[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};  // clockwise
    Place at = first;
    int side = 0;
    do {
      take(at);
      const Place here = sides[side], next = sides[(side + 1) % 4];
      if (holds({at.x + here.x + next.x, at.y + here.y + next.y})) {
        at = {at.x + here.x + next.x, at.y + here.y + next.y};
        side = (side + 3) % 4;
      } else if (holds({at.x + next.x, at.y + next.y})) {
        at = {at.x + next.x, at.y + next.y};
      } else {
        side = (side + 1) % 4;
      }
    } while (!(at == first && side == 0));
    if (!(last_ == first)) step(first);
    if (steps_ > 0 && first_kind_ != kind_) ++corners_;
  }
  void add_to(Object& object) const {
    object.even += static_cast<double>(steps_ - odd_);
    object.odd += static_cast<double>(odd_);
    object.corners += static_cast<double>(corners_);
  }

 private:
  bool holds(Place place) const { return labels_.at(place.x, place.y) == id_; }
  void take(Place place) {
    if (begun_ && place == last_) return;
    if (begun_) step(place);
    last_ = place;
    begun_ = true;
  }
  // A corner lies between two steps of different kinds: along a column, along a row, diagonal.
  void step(Place to) {
    const int kind = to.x != last_.x && to.y != last_.y ? 2 : to.x != last_.x ? 1 : 0;
    if (steps_ == 0) {
      first_kind_ = kind;
    } else if (kind != kind_) {
      ++corners_;
    }
    kind_ = kind;
    odd_ += kind == 2 ? 1 : 0;
    ++steps_;
    last_ = to;
  }

  const Labels& labels_;
  std::int32_t id_;
  Place last_{};
  bool begun_ = false;
  std::int64_t steps_ = 0, odd_ = 0, corners_ = 0;
  int kind_ = 0, first_kind_ = 0;
};

// The outlines of all pieces whose pixels touch by sides or corners.
class Pieces {
 public:
  explicit Pieces(const Labels& labels)
      : labels_(labels), parent_(static_cast<std::size_t>(labels.size().pixels())) {
    std::iota(parent_.begin(), parent_.end(), std::int64_t{0});
  }

  void add_to(std::vector<Object>& objects) {
    const Size size = labels_.size();
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (std::int64_t y = 0; y < size.height; ++y) {
        const std::int32_t id = labels_.at(x, y);
        if (id == 0) continue;
        for (const Place before : {Place{x - 1, y - 1}, {x - 1, y}, {x - 1, y + 1}, {x, y - 1}}) {
          if (labels_.at(before.x, before.y) == id) join(index(before), index({x, y}));
        }
      }
    }
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (std::int64_t y = 0; y < size.height; ++y) {
        const std::int32_t id = labels_.at(x, y);
        if (id == 0 || find(index({x, y})) != index({x, y})) continue;
        Outline(labels_, {x, y}).add_to(objects[static_cast<std::size_t>(id) - 1]);
      }
    }
  }

 private:
  // Down the columns, so that the least of a piece is its first pixel.
  std::int64_t index(Place place) const { return place.x * labels_.size().height + place.y; }
  std::int64_t find(std::int64_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int64_t a, std::int64_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  const Labels& labels_;
  std::vector<std::int64_t> parent_;
};

// How many pixel centres lie in or on the hull of the sides' middles of an object's pixels.
std::int64_t hull_centres(const Labels& labels, std::int32_t id, const Object& object) {
  std::vector<RowSpan> rows;
  for (std::int64_t y = object.top; y <= object.bottom; ++y) {
    std::int64_t left = object.left, right = object.right;
    while (left <= object.right && labels.at(left, y) != id) ++left;
    if (left > object.right) continue;
    while (labels.at(right, y) != id) --right;
    rows.push_back({y, left, right});
  }
  std::int64_t count = 0;
  each_hull_row(
      convex_hull(side_points(rows)),
      [&](std::int64_t, std::int64_t left, std::int64_t right) { count += right - left + 1; });
  return count;
}

double orientation(double uxx, double uyy, double uxy, double k) {
  const bool tall = uyy > uxx;
  const double numerator = tall ? uyy - uxx + k : 2 * uxy;
  const double denominator = tall ? 2 * uxy : uxx - uyy + k;
  if (numerator == 0 && denominator == 0) return 0;
  if (denominator == 0) return 90;
  return std::atan(numerator / denominator) * 180 / std::numbers::pi;
}

void add_row(std::vector<double>& out, double label, const Object& o, bool intensities,
             const ObjectScale& scale) {
  const auto n = static_cast<double>(o.pixels);
  const double sx = scale.across, sy = scale.down, origin = scale.origin;
  const auto moment = [&](std::int64_t squares, std::int64_t a, std::int64_t b) {
    return static_cast<double>(Wide{o.pixels} * squares - Wide{a} * b) / (n * n);
  };
  const double uxx = (moment(o.xx, o.x, o.x) + 1.0 / 12) * sx * sx;
  const double uyy = (moment(o.yy, o.y, o.y) + 1.0 / 12) * sy * sy;
  const double uxy = 0.0 - moment(o.xy, o.x, o.y) * sx * sy;  // not -0
  const double k = std::sqrt((uxx - uyy) * (uxx - uyy) + 4 * uxy * uxy);
  const double major = 2 * std::numbers::sqrt2 * std::sqrt(uxx + uyy + k);
  const double minor = 2 * std::numbers::sqrt2 * std::sqrt(uxx + uyy - k);
  const auto width = static_cast<double>(o.right - o.left + 1);
  const auto height = static_cast<double>(o.bottom - o.top + 1);
  const double corner = origin / 2;  // the pixel's outer corner, or its number from 0
  const double ratio = minor / major;
  out.insert(
      out.end(),
      {label, n * sx * sy, (static_cast<double>(o.x) / n + origin) * sx,
       (static_cast<double>(o.y) / n + origin) * sy, static_cast<double>(o.left) + corner,
       static_cast<double>(o.top) + corner, width, height,
       std::sqrt(4 * n * sx * sy / std::numbers::pi), major, minor, std::sqrt(1 - ratio * ratio),
       orientation(uxx, uyy, uxy, k), (0.980 * o.even + 1.406 * o.odd - 0.091 * o.corners) * sx,
       n / (width * height), n / static_cast<double>(o.hull), static_cast<double>(o.quarters) / 4});
  if (!intensities) return;
  out.insert(out.end(), {o.sum / n, o.least, o.largest, (o.sum_x / o.sum + origin) * sx,
                         (o.sum_y / o.sum + origin) * sy});
}

std::vector<Object> objects_of(const Labels& labels, const Plane* intensities) {
  std::vector<Object> objects(labels.count());
  add_pixels(labels, objects);
  if (intensities != nullptr) add_intensities(labels, *intensities, objects);
  add_windows(labels, objects);
  Pieces(labels).add_to(objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].pixels == 0) continue;
    objects[i].hull = hull_centres(labels, static_cast<std::int32_t>(i) + 1, objects[i]);
  }
  return objects;
}

constexpr std::int64_t two_words = std::int64_t{1} << 32;

void put_record(double* record, const Object& o, bool intensities) {
  namespace of = object_record;
  const auto put = [&](int place, std::int64_t value) {
    record[place] = static_cast<double>(value);
  };
  const auto put_sum = [&](int place, std::int64_t value) {
    put(place, value / two_words);
    put(place + 1, value % two_words);
  };
  put(of::pixels, o.pixels);
  put(of::left, o.left);
  put(of::right, o.right + 1);
  put(of::top, o.top);
  put(of::bottom, o.bottom + 1);
  put(of::quarters, o.quarters);
  record[of::even] = o.even;
  record[of::odd] = o.odd;
  record[of::corners] = o.corners;
  put(of::hull, o.hull);
  put_sum(of::x, o.x);
  put_sum(of::y, o.y);
  put_sum(of::xx, o.xx);
  put_sum(of::yy, o.yy);
  put_sum(of::xy, o.xy);
  if (!intensities) return;
  record[of::least] = o.least;
  record[of::largest] = o.largest;
  put_sum(of::sum, o.codes);
  put_sum(of::sum_x, o.codes_x);
  put_sum(of::sum_y, o.codes_y);
}

Object object_of(const double* record, bool intensities) {
  namespace of = object_record;
  const auto get = [&](int place) { return static_cast<std::int64_t>(record[place]); };
  const auto get_sum = [&](int place) { return get(place) * two_words + get(place + 1); };
  Object o;
  o.pixels = get(of::pixels);
  o.left = get(of::left);
  o.right = get(of::right) - 1;
  o.top = get(of::top);
  o.bottom = get(of::bottom) - 1;
  o.quarters = get(of::quarters);
  o.even = record[of::even];
  o.odd = record[of::odd];
  o.corners = record[of::corners];
  o.hull = get(of::hull);
  o.x = get_sum(of::x);
  o.y = get_sum(of::y);
  o.xx = get_sum(of::xx);
  o.yy = get_sum(of::yy);
  o.xy = get_sum(of::xy);
  if (!intensities) return o;
  o.least = record[of::least];
  o.largest = record[of::largest];
  o.sum = static_cast<double>(get_sum(of::sum));
  o.sum_x = static_cast<double>(get_sum(of::sum_x));
  o.sum_y = static_cast<double>(get_sum(of::sum_y));
  return o;
}

}  // namespace

std::vector<std::string> object_columns(bool intensities) {
  std::vector<std::string> names{
      "Label",           "Area",          "Centroid_x",    "Centroid_y",    "BoundingBox_x",
      "BoundingBox_y",   "BoundingBox_w", "BoundingBox_h", "EquivDiameter", "MajorAxisLength",
      "MinorAxisLength", "Eccentricity",  "Orientation",   "Perimeter",     "Extent",
      "Solidity",        "EulerNumber"};
  if (intensities) {
    names.insert(names.end(), {"MeanIntensity", "MinIntensity", "MaxIntensity",
                               "WeightedCentroid_x", "WeightedCentroid_y"});
  }
  return names;
}

std::vector<std::string> columns_of(const ObjectTable& table) {
  return table.columns.empty() ? object_columns(table.intensities.has_value()) : table.columns;
}

std::int64_t objects_numbered(double largest, Size size) {
  // More than bytes and words can name only where an image has as many pixels.
  constexpr std::int64_t always = 65535, most = 1 << 22;
  const std::int64_t limit = std::min(std::max(always, size.pixels()), most);
  const bool numbered = largest > 0 && largest <= static_cast<double>(limit);
  return numbered ? static_cast<std::int64_t>(largest) : 0;
}

bool has_faults(std::span<const double> records) {
  return records[object_record::unnumbered] != 0 || records[object_record::no_memory] != 0;
}

std::vector<double> object_records(const Plane& labels, const Plane* intensities,
                                   std::int64_t count) {
  const bool with = intensities != nullptr;
  const auto each = static_cast<std::size_t>(object_record::length(with));
  const Labels of(labels, count);
  const std::vector<Object> objects = objects_of(of, intensities);
  std::vector<double> out((objects.size() + 1) * each);
  out[object_record::unnumbered] = static_cast<double>(of.unnumbered());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].pixels > 0) put_record(out.data() + (i + 1) * each, objects[i], with);
  }
  return out;
}

std::vector<double> object_rows(std::span<const double> records, bool intensities,
                                const ObjectScale& scale) {
  const auto each = static_cast<std::size_t>(object_record::length(intensities));
  std::vector<double> out;
  for (std::size_t id = 1; id < records.size() / each; ++id) {
    const Object object = object_of(records.data() + id * each, intensities);
    if (object.pixels > 0) add_row(out, static_cast<double>(id), object, intensities, scale);
  }
  return out;
}

std::vector<double> measure_objects(const Plane& labels, const Plane* intensities,
                                    const ObjectScale& scale) {
  const Labels of(labels);
  const std::vector<Object> objects = objects_of(of, intensities);
  std::vector<double> out;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    add_row(out, of.label(i), objects[i], intensities != nullptr, scale);
  }
  return out;
}

}  // namespace impipe
