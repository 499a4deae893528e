// Numbers without a white that are shown as a picture: what is black, what is white.
#include "io/picture/value_window.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {
namespace {

bool read_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

double part_of_width(double value, const ValueWindow& window) {
  double part = 0;
  switch (window.shape) {
    case ValueWindow::Shape::linear: {
      const double centre = window.centre - 0.5, width = window.width - 1;
      if (width > 0) {
        part = (value - centre) / width + 0.5;
      } else {
        part = value > centre ? 1 : 0;
      }
      break;
    }
    case ValueWindow::Shape::linear_exact:
      part = (value - window.centre) / window.width + 0.5;
      break;
    case ValueWindow::Shape::sigmoid:
      part = 1 / (1 + std::exp(-4 * (value - window.centre) / window.width));
      break;
  }
  return part;
}

double looked_up(double value, const ValueWindow::Table& table) {
  const double last = static_cast<double>(table.entries.size() - 1);
  const double at = std::floor(value + 0.5) - static_cast<double>(table.first);
  return table.entries[static_cast<std::size_t>(std::clamp(at, 0.0, last))] / table.white;
}

// The part of white, from 0 to 1.
double shown(double value, const ValueWindow& window) {
  double part = 0;
  if (window.table) {
    part = std::isnan(value) ? value : looked_up(value, *window.table);
  } else {
    part = part_of_width(value, window);
  }
  if (std::isnan(part)) return 0;
  part = std::clamp(part, 0.0, 1.0);
  return window.inverted ? 1 - part : part;
}

template <class T>
void show_row(const T* from, std::uint8_t* to, std::int64_t count, const ValueWindow& window) {
  // Pictures have been inverted; windows are of the numbers as they were.
  const bool is_picture = window.inverted && std::is_integral_v<T>;
  for (std::int64_t x = 0; x < count; ++x) {
    const T number = is_picture ? static_cast<T>(window.numbers.white - from[x]) : from[x];
    to[x] = static_cast<std::uint8_t>(
        std::floor(255 * shown(static_cast<double>(number), window) + 0.5));
  }
}

}  // namespace

void check_window(const std::string& window) {
  if (window.empty() || window == "file") return;
  const std::size_t comma = window.find(',');
  double centre = 0, width = 0;
  const bool are_numbers = comma != window.npos &&
                           read_number(std::string_view(window).substr(0, comma), centre) &&
                           read_number(std::string_view(window).substr(comma + 1), width);
  if (!are_numbers) {
    throw Error("--window " + window + ": it is 'file', or CENTRE,WIDTH as in --window 40,400");
  }
  if (width < 1) throw Error("--window " + window + ": the width is at least 1");
}

void choose_window(ImageInfo& info, const std::string& window) {
  const bool is_gray = info.type.channels == 1;
  const std::optional<ValueWindow> of_file = std::exchange(info.window, std::nullopt);
  // A picture of the file's that needs no window.
  const bool is_shown = !is_gray || info.type.cls == PixelClass::logical ||
                        (!of_file && info.type.cls == PixelClass::uint8);
  if (window.empty() || (window == "file" && is_shown)) return;
  if (!is_gray) fail("--window ", window, " is of gray pixels, and these are colours");
  if (window == "file" && !of_file) fail("it has no window; give --window CENTRE,WIDTH");
  ValueWindow chosen = of_file.value_or(ValueWindow{});
  if (window != "file") {
    const std::size_t comma = window.find(',');
    read_number(std::string_view(window).substr(0, comma), chosen.centre);
    read_number(std::string_view(window).substr(comma + 1), chosen.width);
    chosen.shape = ValueWindow::Shape::linear;
    chosen.table.reset();
  }
  chosen.numbers = info.type;
  info.window = chosen;
  info.type = type_of(PixelClass::uint8, 1, false);
  info.samples = SampleType::of_class;
}

HostImage through_window(const HostImage& numbers, const ValueWindow& window) {
  const Size size = numbers.size();
  HostImage out(type_of(PixelClass::uint8, 1, false), size);
  const Plane& from = numbers.planes.front();
  for (std::int64_t y = 0; y < size.height; ++y) {
    auto* to = out.planes.front().row_as<std::uint8_t>(y);
    switch (from.cls()) {
      case PixelClass::uint16:
        show_row(from.row_as<std::uint16_t>(y), to, size.width, window);
        break;
      case PixelClass::single: show_row(from.row_as<float>(y), to, size.width, window); break;
      default: show_row(from.row_as<std::uint8_t>(y), to, size.width, window);
    }
  }
  return out;
}

}  // namespace impipe::io
