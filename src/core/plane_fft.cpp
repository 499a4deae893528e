// Transforms rows, then columns, eight lines at a time. Sixteen rows of a real image are eight
// lines: two rows are the real and the imaginary part of one.
#include "core/plane_fft.hpp"

#include <algorithm>

#include "core/shared_pool.hpp"

namespace impipe {
namespace {

constexpr std::int64_t lines = LineNumbers::lines;

std::int64_t groups(std::int64_t count, std::int64_t of) { return (count + of - 1) / of; }

// Reads rows first, first + 1, ... as the lines of a transform; rows outside the image are 0.
void read_lines(const ReadRow& read, std::int64_t first, std::int64_t height,
                const LineBuffer& to) {
  const std::int64_t width = to.size();
  const LineBuffer memory(width);
  double* const rows = memory.data()->of.data();
  for (std::int64_t i = 0; i < lines; ++i) {
    first + i < height ? read(first + i, rows + i * width)
                       : void(std::fill_n(rows + i * width, width, 0.0));
  }
  for (std::int64_t k = 0; k < width; ++k) {
    double* numbers = to[static_cast<std::size_t>(k)].of.data();
    for (std::int64_t i = 0; i < lines; ++i) numbers[i] = rows[i * width + k];
  }
}

// Column k of the transforms of rows a and b, given the transform z of a + i b.
struct Parts {
  std::complex<double> a, b;
};
Parts parts_of(const FftLines& z, std::int64_t k, std::size_t line) {
  const std::int64_t width = z.re.size();
  const auto at = static_cast<std::size_t>(k),
             opposite = static_cast<std::size_t>((width - k) % width);
  const double re = z.re[at].of[line], im = z.im[at].of[line];
  const double other_re = z.re[opposite].of[line], other_im = z.im[opposite].of[line];
  return {{(re + other_re) / 2, (im - other_im) / 2}, {(im + other_im) / 2, (other_re - re) / 2}};
}

}  // namespace

void for_each_part(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  for_each_shared(count, body);
}

Spectrum::Spectrum(Size size, bool of_real)
    : re(groups(of_real ? size.width / 2 + 1 : size.width, lines) * size.height),
      im(re.size()),
      size_(size),
      columns_(of_real ? size.width / 2 + 1 : size.width) {
  // The last group may have fewer columns; whole vectors are computed all the same.
  re.clear((groups(columns_, lines) - 1) * size.height);
  im.clear((groups(columns_, lines) - 1) * size.height);
}

std::complex<double> Spectrum::at(std::int64_t row, std::int64_t column) const {
  const bool opposite = column >= columns_;
  if (opposite) row = (size_.height - row) % size_.height, column = size_.width - column;
  const std::size_t from = place(row, column);
  const auto line = static_cast<std::size_t>(column % lines);
  return {re[from].of[line], opposite ? -im[from].of[line] : im[from].of[line]};
}

void Spectrum::copy_row(std::int64_t row, double* to_re, double* to_im) const {
  for (std::int64_t l = 0; l < columns_; l += lines) {
    const std::size_t from = place(row, l);
    const std::int64_t count = std::min(lines, columns_ - l);
    std::copy_n(re[from].of.data(), count, to_re + l);
    std::copy_n(im[from].of.data(), count, to_im + l);
  }
  for (std::int64_t l = columns_; l < size_.width; ++l) {
    const std::complex<double> value = at(row, l);
    to_re[l] = value.real(), to_im[l] = value.imag();
  }
}

void Spectrum::clear_row(std::int64_t row) {
  for (std::int64_t l = 0; l < columns_; l += lines) {
    const std::size_t at = place(row, l);
    re[at].of.fill(0);
    im[at].of.fill(0);
  }
}

void multiply(Spectrum& spectrum, const Spectrum& factors, bool conjugate) {
  const double sign = conjugate ? -1 : 1;
  const std::int64_t height = spectrum.size().height;
  for_each_part(spectrum.re.size() / height, [&](std::int64_t block) {
    for (auto i = static_cast<std::size_t>(block * height), row = std::size_t{0};
         row < static_cast<std::size_t>(height); ++row, ++i) {
      for (std::size_t lane = 0; lane < static_cast<std::size_t>(lines); ++lane) {
        const double a = spectrum.re[i].of[lane], b = spectrum.im[i].of[lane];
        const double c = factors.re[i].of[lane], d = sign * factors.im[i].of[lane];
        spectrum.re[i].of[lane] = a * c - b * d;
        spectrum.im[i].of[lane] = a * d + b * c;
      }
    }
  });
}

void PlaneFft::transform_columns(Spectrum& spectrum, bool inverse) const {
  for_each_part(groups(spectrum.columns(), lines), [&](std::int64_t block) {
    FftLines columns(size_.height);
    auto& from_re = inverse ? spectrum.im : spectrum.re;
    auto& from_im = inverse ? spectrum.re : spectrum.im;
    LineNumbers* const re = from_re.data() + block * size_.height;
    LineNumbers* const im = from_im.data() + block * size_.height;
    std::copy_n(re, size_.height, columns.re.data());
    std::copy_n(im, size_.height, columns.im.data());
    down_.forward(columns);
    std::copy_n(columns.re.data(), size_.height, re);
    std::copy_n(columns.im.data(), size_.height, im);
  });
}

Spectrum PlaneFft::forward(const ReadRow& real, std::int64_t rows) const {
  Spectrum out(size_, true);
  const std::int64_t row_groups = groups(rows, 2 * lines);
  for (std::int64_t row = row_groups * 2 * lines; row < size_.height; ++row) out.clear_row(row);
  for_each_part(row_groups, [&](std::int64_t group) {
    const std::int64_t first = group * 2 * lines;
    FftLines z(size_.width);
    read_lines(real, first, size_.height, z.re);
    read_lines(real, first + lines, size_.height, z.im);
    along_.forward(z);
    for (std::int64_t k = 0; k < out.columns(); ++k) {
      const auto lane = static_cast<std::size_t>(k % lines);
      for (std::int64_t i = 0; i < lines && first + i < size_.height; ++i) {
        const Parts parts = parts_of(z, k, static_cast<std::size_t>(i));
        const std::size_t a = out.place(first + i, k);
        out.re[a].of[lane] = parts.a.real(), out.im[a].of[lane] = parts.a.imag();
        if (first + lines + i >= size_.height) continue;
        const std::size_t b = a + static_cast<std::size_t>(lines);
        out.re[b].of[lane] = parts.b.real(), out.im[b].of[lane] = parts.b.imag();
      }
    }
  });
  transform_columns(out, false);
  return out;
}

Spectrum PlaneFft::forward(const ReadRow& real, const ReadRow& imaginary) const {
  Spectrum out(size_, false);
  for_each_part(groups(size_.height, lines), [&](std::int64_t group) {
    const std::int64_t first = group * lines;
    FftLines z(size_.width);
    read_lines(real, first, size_.height, z.re);
    read_lines(imaginary, first, size_.height, z.im);
    along_.forward(z);
    for (std::int64_t k = 0; k < size_.width; ++k) {
      const auto at = static_cast<std::size_t>(k), lane = static_cast<std::size_t>(k % lines);
      for (std::int64_t i = 0; i < lines && first + i < size_.height; ++i) {
        const std::size_t to = out.place(first + i, k);
        out.re[to].of[lane] = z.re[at].of[static_cast<std::size_t>(i)];
        out.im[to].of[lane] = z.im[at].of[static_cast<std::size_t>(i)];
      }
    }
  });
  transform_columns(out, false);
  return out;
}

// Writes sixteen rows from `first` on: a line is row a + i times row b, and the frequencies of its
// columns above W/2 are conjugates.
void PlaneFft::write_rows(const Spectrum& spectrum, std::int64_t first,
                          const WriteRow& write) const {
  FftLines z(size_.width);
  const auto lanes = static_cast<std::size_t>(lines);
  for (std::int64_t k = 0; k < spectrum.columns(); ++k) {
    const auto at = static_cast<std::size_t>(k), lane = static_cast<std::size_t>(k % lines);
    const std::int64_t opposite = (size_.width - k) % size_.width;
    const bool own = opposite == k;  // a real number, whatever rounding made of it
    for (std::size_t i = 0; i < lanes && first + static_cast<std::int64_t>(i) < size_.height; ++i) {
      const std::size_t from = spectrum.place(first, k) + i;
      const bool has_b = first + lines + static_cast<std::int64_t>(i) < size_.height;
      const double a_re = spectrum.re[from].of[lane], a_im = own ? 0 : spectrum.im[from].of[lane];
      const double b_re = has_b ? spectrum.re[from + lanes].of[lane] : 0;
      const double b_im = has_b && !own ? spectrum.im[from + lanes].of[lane] : 0;
      z.re[at].of[i] = a_re - b_im, z.im[at].of[i] = a_im + b_re;
      if (own) continue;
      z.re[static_cast<std::size_t>(opposite)].of[i] = a_re + b_im;
      z.im[static_cast<std::size_t>(opposite)].of[i] = b_re - a_im;
    }
  }
  z.swap_parts();
  along_.forward(z);
  z.swap_parts();
  const double scale = 1 / static_cast<double>(size_.pixels());
  std::vector<double> row(static_cast<std::size_t>(size_.width));
  for (std::int64_t y = first; y < std::min(first + 2 * lines, size_.height); ++y) {
    const LineBuffer& from = y < first + lines ? z.re : z.im;
    const auto line = static_cast<std::size_t>((y - first) % lines);
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = from[x].of[line] * scale;
    write(y, row.data());
  }
}

void PlaneFft::backward(Spectrum spectrum, const WriteRow& write) const {
  transform_columns(spectrum, true);
  for_each_part(groups(size_.height, 2 * lines),
                [&](std::int64_t group) { write_rows(spectrum, group * 2 * lines, write); });
}

}  // namespace impipe
