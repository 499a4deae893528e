// Transforms of pages: all rows, then all columns, some of which are gathered at a time.
#include "core/page_fourier.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/any_fft.hpp"
#include "core/page_operation.hpp"
#include "core/thread_pool.hpp"

namespace impipe {
namespace {

using Complex = std::complex<double>;

struct Grid {
  Size size;
  std::vector<Complex> values;  // row by row

  explicit Grid(Size of) : size(of), values(static_cast<std::size_t>(of.pixels())) {}
  Complex& at(std::int64_t x, std::int64_t y) {
    return values[static_cast<std::size_t>(y * size.width + x)];
  }
  std::span<Complex> row(std::int64_t y) {
    return {&at(0, y), static_cast<std::size_t>(size.width)};
  }
};

// Calls change(line) for each row, then change_column(line) for each column.
template <class Row, class Column>
void change_lines(Grid& grid, ThreadPool& pool, const Row& change_row,
                  const Column& change_column) {
  pool.for_each(grid.size.height, [&](std::int64_t y) { change_row(grid.row(y)); });
  constexpr std::int64_t together = 8;  // columns whose values share cache lines
  pool.for_each((grid.size.width + together - 1) / together, [&](std::int64_t group) {
    const std::int64_t first = group * together;
    const std::int64_t count = std::min(together, grid.size.width - first);
    const auto height = static_cast<std::size_t>(grid.size.height);
    std::vector<Complex> lines(height * static_cast<std::size_t>(count));
    const auto line = [&](std::int64_t i) {
      return std::span(lines).subspan(height * static_cast<std::size_t>(i), height);
    };
    for (std::size_t y = 0; y < height; ++y) {
      const Complex* from = &grid.at(first, static_cast<std::int64_t>(y));
      for (std::int64_t i = 0; i < count; ++i) line(i)[y] = from[i];
    }
    for (std::int64_t i = 0; i < count; ++i) change_column(line(i));
    for (std::size_t y = 0; y < height; ++y) {
      Complex* to = &grid.at(first, static_cast<std::int64_t>(y));
      for (std::int64_t i = 0; i < count; ++i) to[i] = line(i)[y];
    }
  });
}

void transform(Grid& grid, bool inverse, ThreadPool& pool) {
  const AnyFft along(grid.size.width), down(grid.size.height);
  const auto with = [inverse](const AnyFft& fft) {
    return [&fft, inverse](std::span<Complex> line) {
      inverse ? fft.backward(line) : fft.forward(line);
    };
  };
  change_lines(grid, pool, with(along), with(down));
}

// The real or the imaginary parts of a grid from a plane, whose pixel (x, y) is that of the grid
// `shift` before.
void load(const Plane& from, bool imaginary, Size shift, Grid& to, ThreadPool& pool) {
  const Size size = to.size;
  pool.for_each(size.height, [&](std::int64_t y) {
    std::vector<double> values(static_cast<std::size_t>(size.width));
    load_row(from, (y + shift.height) % size.height, values.data());
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double value = values[static_cast<std::size_t>((x + shift.width) % size.width)];
      Complex& pixel = to.at(x, y);
      pixel = imaginary ? Complex(pixel.real(), value) : Complex(value, 0);
    }
  });
}

double part_of(ComplexPart part, Complex value) {
  switch (part) {
    case ComplexPart::magnitude: return std::hypot(value.real(), value.imag());
    case ComplexPart::power: return std::norm(value);
    case ComplexPart::log: return std::log1p(std::hypot(value.real(), value.imag()));
    case ComplexPart::phase: return std::atan2(value.imag(), value.real());
    case ComplexPart::complex:
    case ComplexPart::real: break;
  }
  return value.real();
}

// One channel, or two of both parts, from `first` on. shift: as for load.
void store(Grid& from, ComplexPart part, Size shift, HostImage& to, std::size_t first,
           ThreadPool& pool) {
  const Size size = from.size;
  pool.for_each(size.height, [&](std::int64_t y) {
    std::vector<double> values(static_cast<std::size_t>(size.width)), others(values);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const Complex value =
          from.at((x + shift.width) % size.width, (y + shift.height) % size.height);
      values[static_cast<std::size_t>(x)] = part_of(part, value);
      others[static_cast<std::size_t>(x)] = value.imag();
    }
    store_row(values.data(), to.planes[first], y);
    if (part == ComplexPart::complex) store_row(others.data(), to.planes[first + 1], y);
  });
}

// Frequencies that are their own conjugates have no imaginary part, whatever rounding made of it.
void drop_imaginary(Grid& grid) {
  for (const std::int64_t y : {std::int64_t{0}, grid.size.height / 2}) {
    for (const std::int64_t x : {std::int64_t{0}, grid.size.width / 2}) {
      if (2 * y % grid.size.height != 0 || 2 * x % grid.size.width != 0) continue;
      Complex& value = grid.at(x, y);
      value = {value.real(), std::isnan(value.real()) ? value.real() : 0};
    }
  }
}

Size half(Size size) { return {size.width / 2, size.height / 2}; }
Size rest_of_half(Size size) {
  return {size.width - size.width / 2, size.height - size.height / 2};
}

ImageType numbers(int channels) {
  return {.cls = PixelClass::single, .channels = channels, .alpha = false, .white = 0};
}

// Makhoul's way by one transform of the same length: the even values, then the odd ones backwards.
struct Cosine {
  explicit Cosine(std::int64_t length) : fft(length) {
    for (std::int64_t k = 0; k < length; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(k) / (2 * static_cast<double>(length));
      quarter.emplace_back(std::cos(angle), -std::sin(angle));
    }
  }
  double scale(std::size_t k) const {
    return std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(quarter.size()));
  }
  // Where value j of the line stands.
  std::size_t place(std::size_t j) const { return j % 2 == 0 ? j / 2 : quarter.size() - 1 - j / 2; }
  void forward(std::span<Complex> line) const {
    std::vector<Complex> values(line.size());
    for (std::size_t j = 0; j < line.size(); ++j) values[place(j)] = line[j].real();
    fft.forward(values);
    for (std::size_t k = 0; k < line.size(); ++k) {
      line[k] = scale(k) * (values[k] * quarter[k]).real();
    }
  }
  void backward(std::span<Complex> line) const {
    std::vector<Complex> values(line.size());
    const std::size_t n = line.size();
    for (std::size_t k = 0; k < n; ++k) {
      const double real = line[k].real() / scale(k);
      const double other = k == 0 ? 0 : line[n - k].real() / scale(n - k);
      values[k] = std::conj(quarter[k]) * Complex(real, -other);
    }
    fft.backward(values);
    for (std::size_t j = 0; j < n; ++j) {
      line[j] = values[place(j)].real() / static_cast<double>(n);
    }
  }

  AnyFft fft;
  std::vector<Complex> quarter;  // exp(-pi i k / (2 n))
};

constexpr double bytes_of_grid = 24;

}  // namespace

Volume fourier_pages(ComplexPart part, bool shifted) {
  const int channels = part == ComplexPart::complex ? 2 : 1;
  return each_page({.type = [=](const ImageType& of) { return numbers(channels * of.channels); },
                    .size = {},
                    .make =
                        [=](const HostImage& page, HostImage& result, ThreadPool& pool) {
                          const Size size = page.size();
                          for (std::size_t c = 0; c < page.planes.size(); ++c) {
                            Grid grid(size);
                            load(page.planes[c], false, {}, grid, pool);
                            transform(grid, false, pool);
                            drop_imaginary(grid);
                            store(grid, part, shifted ? rest_of_half(size) : Size{}, result,
                                  c * static_cast<std::size_t>(channels), pool);
                          }
                        },
                    .bytes_a_pixel = bytes_of_grid});
}

Volume inverse_fourier_pages(ComplexPart part, bool shifted) {
  const int channels = part == ComplexPart::complex ? 2 : 1;
  return each_page(
      {.type =
           [=](const ImageType& of) { return numbers(channels * std::max(1, of.channels / 2)); },
       .size = {},
       .make =
           [=](const HostImage& page, HostImage& result, ThreadPool& pool) {
             const Size size = page.size(), shift = shifted ? half(size) : Size{};
             const double scale = 1 / static_cast<double>(size.pixels());
             for (std::size_t c = 0; c < std::max<std::size_t>(1, page.planes.size() / 2); ++c) {
               Grid grid(size);
               load(page.planes[2 * c], false, shift, grid, pool);
               if (page.planes.size() > 1) load(page.planes[2 * c + 1], true, shift, grid, pool);
               transform(grid, true, pool);
               for (Complex& value : grid.values) value *= scale;
               store(grid, part, {}, result, c * static_cast<std::size_t>(channels), pool);
             }
           },
       .bytes_a_pixel = bytes_of_grid});
}

Volume cosine_pages(bool inverse) {
  return each_page({.type = [](const ImageType& of) { return numbers(of.channels); },
                    .size = {},
                    .make =
                        [=](const HostImage& page, HostImage& result, ThreadPool& pool) {
                          const Cosine along(page.size().width), down(page.size().height);
                          const auto with = [inverse](const Cosine& cosine) {
                            return [&cosine, inverse](std::span<Complex> line) {
                              inverse ? cosine.backward(line) : cosine.forward(line);
                            };
                          };
                          for (std::size_t c = 0; c < page.planes.size(); ++c) {
                            Grid grid(page.size());
                            load(page.planes[c], false, {}, grid, pool);
                            change_lines(grid, pool, with(along), with(down));
                            store(grid, ComplexPart::real, {}, result, c, pool);
                          }
                        },
                    .bytes_a_pixel = bytes_of_grid});
}

}  // namespace impipe
