// hough, houghpeaks and houghlines: straight lines in a logical image.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interruption.hpp"
#include "core/plane_rows.hpp"
#include "core/shared_pool.hpp"
#include "ops/images.hpp"
#include "ops/outline/outline.hpp"

namespace impipe::ops {
namespace {

std::vector<Pixel> pixels_of(const Plane& plane) {
  std::vector<Pixel> out;
  with_pixel(plane.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      const T* row = plane.row_as<T>(y);
      for (std::int64_t x = 0; x < plane.size().width; ++x) {
        if (row[x] != 0) out.push_back({x, y});
      }
    }
  });
  return out;
}

// Which lines are counted: x cos theta + y sin theta = rho, theta in degrees.
struct Lines {
  double resolution = 1, rho = 1;

  explicit Lines(const Call& call)
      : resolution(call.number("resolution")), rho(call.number("rho")) {}
  double theta(std::int64_t column) const { return -90 + static_cast<double>(column) * resolution; }
  std::int64_t columns() const {
    auto n = static_cast<std::int64_t>(std::ceil(180 / resolution));
    while (n > 1 && theta(n - 1) >= 90) --n;
    while (theta(n) < 90) ++n;
    return n;
  }
  std::int64_t middle(Size size) const {  // the row of rho 0
    const auto w = static_cast<double>(size.width - 1), h = static_cast<double>(size.height - 1);
    return static_cast<std::int64_t>(std::ceil(std::sqrt(h * h + w * w) / rho));
  }
  // A column (theta) of the transform: gives the row (rho) of a pixel.
  class Column {
   public:
    Column(const Lines& lines, std::int64_t column, Size size)
        : cosine_(std::cos(lines.theta(column) * std::numbers::pi / 180)),
          sine_(std::sin(lines.theta(column) * std::numbers::pi / 180)),
          rho_(lines.rho),
          middle_(static_cast<double>(lines.middle(size))) {}
    std::int64_t row(Pixel p) const {
      const double distance = static_cast<double>(p.x) * cosine_ + static_cast<double>(p.y) * sine_;
      return static_cast<std::int64_t>(std::floor(distance / rho_ + middle_ + 0.5));
    }

   private:
    double cosine_, sine_, rho_, middle_;
  };
};

// Votes, column after column.
struct Votes {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> bins;

  Votes(const Lines& lines, const std::vector<Pixel>& pixels, Size size)
      : rows(2 * lines.middle(size) + 1),
        columns(lines.columns()),
        bins(static_cast<std::size_t>(rows * columns)) {
    for_each_shared(columns, [&](std::int64_t c) {
      const Lines::Column column(lines, c, size);
      std::int64_t* to = bins.data() + c * rows;
      for (const Pixel& pixel : pixels) ++to[column.row(pixel)];
    });
  }
};

struct Peak {
  std::int64_t row = 0, column = 0, votes = 0;
};

// The neighbourhood of a peak: rows and columns, odd.
std::pair<std::int64_t, std::int64_t> neighbourhood(const Call& call, const Votes& votes) {
  if (call.has("nhood")) {
    const std::vector<double>& sides = call.numbers("nhood");
    return {static_cast<std::int64_t>(sides.front()), static_cast<std::int64_t>(sides.back())};
  }
  const auto side = [](std::int64_t n) {
    return std::max<std::int64_t>(3, 2 * ((n + 99) / 100) + 1);
  };
  return {side(votes.rows), side(votes.columns)};
}

// Columns outside come back at the other end, where rho has the other sign.
void clear_around(Votes& votes, const Peak& peak, std::int64_t rows, std::int64_t columns) {
  rows = std::min(rows, 2 * votes.rows + 1);
  columns = std::min(columns, 2 * votes.columns + 1);
  for (std::int64_t i = -(columns / 2); i <= columns / 2; ++i) {
    for (std::int64_t j = -(rows / 2); j <= rows / 2; ++j) {
      std::int64_t column = peak.column + i, row = peak.row + j;
      if (row < 0 || row >= votes.rows) continue;
      while (column < 0 || column >= votes.columns) {
        column += column < 0 ? votes.columns : -votes.columns;
        row = votes.rows - 1 - row;
      }
      votes.bins[static_cast<std::size_t>(column * votes.rows + row)] = 0;
    }
  }
}

std::vector<Peak> peaks_of(const Call& call, Votes& votes) {
  const auto [rows, columns] = neighbourhood(call, votes);
  double least = 0.5 * static_cast<double>(*std::ranges::max_element(votes.bins));
  if (call.has("threshold")) least = call.number("threshold");
  std::vector<Peak> peaks;
  while (std::ssize(peaks) < static_cast<std::int64_t>(call.number("n"))) {
    check_interruption();
    const auto best = std::ranges::max_element(votes.bins);
    if (*best == 0 || static_cast<double>(*best) < least) break;
    const auto place = static_cast<std::int64_t>(best - votes.bins.begin());
    peaks.push_back({place % votes.rows, place / votes.rows, *best});
    clear_around(votes, peaks.back(), rows, columns);
  }
  return peaks;
}

double rho_of(const Lines& lines, const Votes& votes, const Peak& peak) {
  return lines.rho * static_cast<double>(peak.row - votes.rows / 2);
}

std::vector<double> peak_rows(const Call& call, const Plane& image) {
  const Lines lines(call);
  Votes votes(lines, pixels_of(image), image.size());
  std::vector<double> rows;
  for (const Peak& peak : peaks_of(call, votes)) {
    rows.insert(rows.end(), {rho_of(lines, votes, peak), lines.theta(peak.column),
                             static_cast<double>(peak.votes)});
  }
  return rows;
}

// The pixels of a peak, along the direction in which they reach further.
std::vector<Pixel> along(const std::vector<Pixel>& pixels, const Lines::Column& column,
                         std::int64_t row) {
  std::vector<Pixel> out;
  std::ranges::copy_if(pixels, std::back_inserter(out),
                       [&](Pixel p) { return column.row(p) == row; });
  const auto [left, right] = std::ranges::minmax_element(out, {}, &Pixel::x);
  const auto [top, bottom] = std::ranges::minmax_element(out, {}, &Pixel::y);
  const bool down = bottom->y - top->y > right->x - left->x;
  std::ranges::sort(out, {},
                    [down](Pixel p) { return down ? std::pair(p.y, p.x) : std::pair(p.x, p.y); });
  return out;
}

std::vector<double> line_rows(const Call& call, const Plane& image) {
  const Lines lines(call);
  const std::vector<Pixel> pixels = pixels_of(image);
  Votes votes(lines, pixels, image.size());
  const double gap = call.number("fillgap"), shortest = call.number("minlength");
  const double origin = call.number("origin");
  std::vector<double> rows;
  for (const Peak& peak : peaks_of(call, votes)) {
    const Lines::Column column(lines, peak.column, image.size());
    const std::vector<Pixel> line = along(pixels, column, peak.row);
    const auto square = [](Pixel a, Pixel b) {
      return static_cast<double>((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
    };
    for (std::size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      end = begin + 1;
      while (end < line.size() && square(line[end - 1], line[end]) <= gap * gap) ++end;
      const Pixel a = line[begin], b = line[end - 1];
      if (square(a, b) < shortest * shortest) continue;
      rows.insert(rows.end(), {static_cast<double>(a.x) + origin, static_cast<double>(a.y) + origin,
                               static_cast<double>(b.x) + origin, static_cast<double>(b.y) + origin,
                               rho_of(lines, votes, peak), lines.theta(peak.column)});
    }
  }
  return rows;
}

std::vector<Parameter> bin_parameters() {
  return {{.name = "resolution",
           .help = "degrees from one angle to the next",
           .numbers = {.max_count = 1, .low = 0.01, .high = 180},
           .fallback = "1"},
          {.name = "rho",
           .help = "pixels from one distance to the next",
           .numbers = {.max_count = 1, .low = 0.01, .high = 1e6},
           .fallback = "1"}};
}

std::vector<Parameter> peak_parameters() {
  std::vector<Parameter> out{
      {.name = "n",
       .letter = 'n',
       .help = "peaks at most",
       .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1e6},
       .fallback = "1"},
      {.name = "threshold",
       .help = "votes that a peak has at least; default half of the most",
       .numbers = {.max_count = 1, .low = 0}},
      {.name = "nhood",
       .help = "rows,columns around a peak that take part in no other, odd; "
               "default 2 ceil(size / 100) + 1, at least 3",
       .numbers = {.max_count = 2, .integer = true, .odd = true, .low = 1, .high = 1000001}}};
  std::ranges::copy(bin_parameters(), std::back_inserter(out));
  return out;
}

std::vector<Parameter> line_parameters() {
  std::vector<Parameter> out = peak_parameters();
  out.push_back({.name = "fillgap",
                 .help = "pixels between two of a segment at most",
                 .numbers = {.max_count = 1, .low = 0},
                 .fallback = "20"});
  out.push_back({.name = "minlength",
                 .help = "pixels from end to end of a segment at least",
                 .numbers = {.max_count = 1, .low = 0},
                 .fallback = "40"});
  out.push_back(origin_parameter("1"));
  return out;
}

ImageValue report_lines(const Call& call, PlanBuilder& plan, std::vector<std::string> columns,
                        std::vector<double> (*rows)(const Call&, const Plane&)) {
  const ImageValue image = plan.current();
  plan.report_objects(call.op().name, {.labels = image.id,
                                       .columns = std::move(columns),
                                       .rows = [call, rows](const Plane& plane, const Plane*) {
                                         return rows(call, plane);
                                       }});
  return image;
}

const RegisterOperator hough_operator{{
    .name = "hough",
    .help = "the Hough transform of a mask: votes of its pixels for straight lines",
    .category = "transform",
    .parameters = bin_parameters(),
    .one_channel = true,
    .details =
        R"(Columns are the angles theta = -90, -90 + resolution, .. below 90 degrees; the rows rho k for k from -q
to q, q = ceil(sqrt((H-1)^2 + (W-1)^2) / rho). Each pixel (x, y) that is not 0, counted from 0, adds 1 in
each column to the row of floor((x cos theta + y sin theta) / rho + q + 1/2), in double. The result is
single and has no white. On the host.)",
    .example = "edge canny | hough | mat2gray",
    .accuracy = "exact; pixels halfway between two rows may be in either",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "hough(BW,'RhoResolution',rho,'Theta',-90:resolution:90-resolution) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const Lines lines(call);
          const auto make = [lines](std::span<const Planes> images, Planes& result) {
            const Plane& image = images.front().front();
            const Votes votes(lines, pixels_of(image), image.size());
            for (std::int64_t row = 0; row < votes.rows; ++row) {
              float* to = result.front().row_as<float>(row);
              for (std::int64_t c = 0; c < votes.columns; ++c) {
                to[c] =
                    static_cast<float>(votes.bins[static_cast<std::size_t>(c * votes.rows + row)]);
              }
            }
          };
          const auto size = [lines](std::span<const Size> of) {
            return Size{lines.columns(), 2 * lines.middle(of.front()) + 1};
          };
          return on_host(call, plan, {plan.current()}, single_result, {.size = size, .make = make});
        },
}};

const RegisterOperator houghpeaks_operator{{
    .name = "houghpeaks",
    .help = "the lines that most pixels of a mask lie on: a row for each peak of its hough",
    .category = "statistics",
    .parameters = peak_parameters(),
    .one_channel = true,
    .table = true,
    .details =
        R"(Takes the mask itself, not the result of hough. n times the bin of most votes, the first down the
columns, is a peak, unless it has fewer than threshold or none; then its nhood is left out: rows beyond
the first and last one are dropped, columns beyond come back at the other end, upside down.
Columns: Rho Theta Votes; x cos Theta + y sin Theta = Rho, x and y from 0, Theta in degrees. Rows go to
stdout behind the file's name; -o '{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file. On the
host.)",
    .example = "edge canny | houghpeaks n=5",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "houghpeaks(hough(BW),n,'Threshold',threshold,'NHoodSize',nhood) (rho and theta "
              "instead of indices)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          return report_lines(call, plan, {"Rho", "Theta", "Votes"}, peak_rows);
        },
}};

const RegisterOperator houghlines_operator{{
    .name = "houghlines",
    .help = "straight segments in a mask: a row for each",
    .category = "statistics",
    .parameters = line_parameters(),
    .one_channel = true,
    .table = true,
    .details =
        R"(The pixels that voted for each peak of houghpeaks, along rows or columns, whichever they reach further
in, are cut where two neighbours are more than fillgap apart; what is at least minlength from end to end
is a segment. Columns: X1 Y1 X2 Y2 Rho Theta, with places from origin and houghpeaks' Rho and Theta.
Rows go to stdout behind the file's name; -o '{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file.
On the host.)",
    .example = "edge canny | houghlines n=5 fillgap=5 minlength=20",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "houghlines(BW,theta,rho,peaks,'FillGap',fillgap,'MinLength',minlength) (same, from "
              "the mask)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          return report_lines(call, plan, {"X1", "Y1", "X2", "Y2", "Rho", "Theta"}, line_rows);
        },
}};

}  // namespace
}  // namespace impipe::ops
