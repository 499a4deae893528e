// Converts planes to rows of doubles and complex numbers to channels; the spectrum of a kernel.
#include "ops/transform/spectra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/page_operation.hpp"

namespace impipe::ops {
ComplexPart part_argument(const Call& call) {
  const std::string& name = call.word("parts");
  if (name == "real") return ComplexPart::real;
  if (name == "magnitude") return ComplexPart::magnitude;
  if (name == "power") return ComplexPart::power;
  if (name == "log") return ComplexPart::log;
  if (name == "phase") return ComplexPart::phase;
  return ComplexPart::complex;
}

Parameter parts_parameter(std::string_view fallback) {
  Parameter out{.name = "parts",
                .help =
                    "complex: real and imaginary part as two channels; or one of magnitude, "
                    "power, log (ln(1 + magnitude)) and phase (radians)",
                .words = {"complex", "magnitude", "power", "log", "phase"},
                .fallback = fallback};
  if (fallback != "real") return out;
  out.help = "of the result's complex numbers; complex: two channels";
  out.words.insert(out.words.begin(), "real");
  return out;
}

Parameter shift_parameter(std::string_view help) {
  return {.name = "shift", .help = help, .words = {"on", "off"}, .fallback = "off"};
}

bool is_finite(const Plane& plane) {
  if (plane.cls() != PixelClass::single) return true;
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    const float* row = plane.row_as<float>(y);
    if (!std::all_of(row, row + plane.size().width, [](float v) { return std::isfinite(v); })) {
      return false;
    }
  }
  return true;
}

void fill_with_nan(Plane& plane) {
  const std::vector<double> row(static_cast<std::size_t>(plane.size().width),
                                std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t y = 0; y < plane.size().height; ++y) store_row(row.data(), plane, y);
}

ReadRow rows_of(const Plane& plane, Size size, Filling filling) {
  return [&plane, size, filling](std::int64_t y, double* row) {
    const Size own = plane.size();
    const bool mirrored = filling == Filling::symmetric;
    if (y >= own.height) {
      if (!mirrored) return std::fill_n(row, size.width, 0.0), void();
      y = 2 * own.height - 1 - y;
    }
    load_row(plane, y, row);
    for (std::int64_t x = own.width; x < size.width; ++x) {
      row[x] = mirrored ? row[2 * own.width - 1 - x] : 0;
    }
  };
}

WriteRow rows_to(Plane& plane) {
  return [&plane](std::int64_t y, const double* row) {
    if (y < plane.size().height) store_row(row, plane, y);
  };
}

void store_part(const CopyRow& copy_row, ComplexPart part, bool shifted, Planes& to,
                std::size_t first) {
  const Size size = to[first].size();
  for_each_part(size.height, [&](std::int64_t y) {
    const auto width = static_cast<std::size_t>(size.width);
    std::vector<double> re(width), im(width);
    copy_row(y, re.data(), im.data());
    if (part != ComplexPart::complex) {
      for (std::size_t x = 0; x < width; ++x) re[x] = part_of(part, re[x], im[x]);
    }
    if (shifted) {
      y = (y + size.height / 2) % size.height;
      for (std::vector<double>* row : {&re, &im}) {
        std::rotate(row->begin(), row->end() - size.width / 2, row->end());
      }
    }
    store_row(re.data(), to[first], y);
    if (part == ComplexPart::complex) store_row(im.data(), to[first + 1], y);
  });
}

void store_spectrum(const Spectrum& spectrum, ComplexPart part, bool shifted, Planes& to,
                    std::size_t first) {
  const Size size = spectrum.size();
  const auto copy_row = [&](std::int64_t y, double* re, double* im) {
    spectrum.copy_row(y, re, im);
    if (2 * y % size.height != 0) return;
    im[0] = 0;
    if (size.width % 2 == 0) im[size.width / 2] = 0;
  };
  store_part(copy_row, part, shifted, to, first);
}

Spectrum transfer_of(const Matrix& kernel, const PlaneFft& fft) {
  const Size size = fft.size();
  return fft.forward([&](std::int64_t y, double* row) {
    std::fill_n(row, size.width, 0.0);
    const std::int64_t from = (y + kernel.rows / 2) % size.height;
    if (from >= kernel.rows) return;
    for (std::int64_t i = 0; i < kernel.columns; ++i) {
      row[(i + size.width - kernel.columns / 2) % size.width] =
          kernel.values[static_cast<std::size_t>(from * kernel.columns + i)];
    }
  });
}

}  // namespace impipe::ops
