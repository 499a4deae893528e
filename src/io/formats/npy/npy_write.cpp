// Writes NumPy's .npy files: images, pages that make one array, and numbers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/kept_bytes.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

Bytes npy_begin(const std::string& type, std::span<const std::int64_t> shape,
                std::int64_t data_bytes) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape_text(shape) + "), }";
  // The pixels begin at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const std::string head = std::string("\x93NUMPY\x01\x00", 8) +
                           static_cast<char>(header.size() & 0xff) +
                           static_cast<char>(header.size() >> 8) + header;
  Bytes out = kept_room(head.size() + static_cast<size_t>(data_bytes));
  const auto* begin = reinterpret_cast<const std::byte*>(head.data());
  out.insert(out.end(), begin, begin + head.size());
  return out;
}

// How many pages the axes count; 1 without such axes.
std::int64_t pages_of(const NpyAxes& axes) {
  std::int64_t pages = 1;
  for (size_t i = 0; i < axes.letters.size(); ++i) {
    if (is_page_axis(axes.letters, axes.letters[i])) pages *= axes.shape[i];
  }
  return pages;
}

struct Axis {
  char letter = 'Y';
  std::int64_t count = 1;
};

// The axes of an array of one image, like those of the NPY that it was made from. Axes of pages
// are left out, unless they count one.
std::vector<Axis> axes_of(const ImageType& type, Size size, const NpyAxes* from) {
  const int channels = stored_channels(type);
  const bool is_row = from != nullptr && from->letters == "X" && size.height == 1;
  const std::string letters =
      is_row || (from != nullptr && from->letters != "X") ? from->letters : "YX";
  const char channel = channel_letter(letters);
  std::vector<Axis> axes;
  bool has_channels = channels == 1;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    if (letter == 'Y' || letter == 'X') {
      axes.push_back({letter, letter == 'Y' ? size.height : size.width});
    } else if (letter == channel && (channels > 1 || from->shape[i] == 1)) {
      axes.push_back({'C', channels});
      has_channels = true;
    } else if (letter != channel && pages_of(*from) == 1) {
      axes.push_back({letter, 1});
    }
  }
  if (!has_channels) axes.push_back({'C', channels});
  return axes;
}

// Distances between neighbours along each axis of an array in C order.
std::vector<std::int64_t> steps_of(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) steps[i] = step;
  return steps;
}

// Puts an array in C order into a larger one, in which neighbours along each axis are `steps` items
// apart. Returns what follows in `from`.
const std::byte* place(const std::byte* from, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> steps, std::int64_t item_bytes,
                       std::byte* to) {
  const bool whole = shape.size() == 1 && steps.front() == 1;
  if (shape.empty() || whole) {
    const std::int64_t bytes = item_bytes * (whole ? shape.front() : 1);
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return from + bytes;
  }
  for (std::int64_t i = 0; i < shape.front(); ++i) {
    from = place(from, shape.subspan(1), steps.subspan(1), item_bytes,
                 to + i * steps.front() * item_bytes);
  }
  return from;
}

std::string type_text(PixelClass cls, SampleType samples) {
  constexpr const char* types[] = {"|b1", "|u1", "<u2", "<f4"};
  if (samples == SampleType::of_class) return types[static_cast<int>(cls)];
  const int bytes = bytes_of(samples);
  return (bytes == 1 ? "|" : "<") + std::string(1, name_of(samples).front()) +
         std::to_string(bytes);
}

// How the pixels of an image lie in an array of its own.
struct ImageInArray {
  std::vector<std::int64_t> shape;
  std::int64_t step_x = 1, step_y = 1, step_channel = 1;
  // Rows lie one behind the other, each as other files have it.
  bool has_plain_rows(Size size, std::int64_t channels) const {
    return step_x == channels && (channels == 1 || step_channel == 1) &&
           (size.height == 1 || step_y == size.width * channels);
  }
};

ImageInArray image_in_array(const ImageType& type, Size size, const NpyAxes* from) {
  ImageInArray out;
  const std::vector<Axis> written = axes_of(type, size, from);
  for (const Axis& axis : written) out.shape.push_back(axis.count);
  const std::vector<std::int64_t> steps = steps_of(out.shape);
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].letter == 'X') out.step_x = steps[i];
    if (written[i].letter == 'Y') out.step_y = steps[i];
    if (written[i].letter == 'C') out.step_channel = steps[i];
  }
  return out;
}

}  // namespace

std::optional<Bytes> begin_npy_rows(const ImageType& type, Size size, const NpyAxes* axes,
                                    SampleType samples) {
  const ImageInArray array = image_in_array(type, size, axes);
  if (!array.has_plain_rows(size, stored_channels(type))) return {};
  return npy_begin(type_text(type.cls, samples), array.shape, 0);
}

Bytes encode_npy(const HostImage& image, const NpyAxes* axes, SampleType samples) {
  const Size size = image.size();
  const std::int64_t channels = stored_channels(image.type);
  const ImageInArray array = image_in_array(image.type, size, axes);
  const bool of_class = samples == SampleType::of_class;
  const std::int64_t item = of_class ? bytes_of(image.type.cls) : bytes_of(samples);
  const std::int64_t row_items = size.width * channels;
  Bytes out =
      npy_begin(type_text(image.type.cls, samples), array.shape, item * row_items * size.height);
  if (of_class && array.has_plain_rows(size, channels)) {
    append_rows(out, image, 0, size.height, 1);
    return out;
  }
  const size_t head = out.size();
  out.resize(head + static_cast<size_t>(item * row_items * size.height));
  RowJoiner joiner(image);
  Bytes numbers(of_class ? 0 : static_cast<size_t>(item * row_items));
  for (std::int64_t y = 0; y < size.height; ++y) {
    const std::byte* row = joiner.row(y);
    if (!of_class) {
      store_samples(samples, joiner.row<float>(y), row_items, numbers.data());
      row = numbers.data();
    }
    const std::int64_t row_shape[] = {size.width, channels},
                       apart[] = {array.step_x, array.step_channel};
    place(row, row_shape, apart, item, out.data() + head + y * array.step_y * item);
  }
  return out;
}

Bytes encode_npy(std::span<const double> values, std::span<const std::int64_t> shape) {
  Bytes out = npy_begin("<f8", shape, static_cast<std::int64_t>(values.size_bytes()));
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  out.insert(out.end(), begin, begin + values.size_bytes());
  return out;
}

namespace {

// How pages lie in one array: its shape, and the distances along the axes that count pages and
// along those of a page.
struct PagesInArray {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> page_counts, page_steps, own_steps;
};

PagesInArray pages_in_array(const NpyArray& page, std::int64_t pages, const NpyAxes* axes) {
  std::string letters = axes == nullptr ? "" : axes->letters;
  std::vector<bool> counts_pages;
  PagesInArray out;
  size_t own = 0;
  const auto add = [&](std::int64_t count, bool is_page_axis) {
    out.shape.push_back(count);
    counts_pages.push_back(is_page_axis);
  };
  const bool has_all = axes != nullptr && pages_of(*axes) == pages;
  const auto own_axes = static_cast<size_t>(
      std::ranges::count_if(letters, [&](char letter) { return !is_page_axis(letters, letter); }));
  bool told = false;
  if (own_axes == letters.size()) add(pages, true);  // no axis counts pages
  for (size_t i = 0; i < letters.size(); ++i) {
    if (is_page_axis(letters, letters[i])) {
      if (has_all || !std::exchange(told, true)) add(has_all ? axes->shape[i] : pages, true);
    } else if (letters[i] != channel_letter(letters) || own_axes <= page.shape.size()) {
      add(page.shape[own++], false);
    }
  }
  while (own < page.shape.size()) add(page.shape[own++], false);  // channels that are new
  const std::vector<std::int64_t> steps = steps_of(out.shape);
  for (size_t i = 0; i < steps.size(); ++i) {
    (counts_pages[i] ? out.page_steps : out.own_steps).push_back(steps[i]);
    if (counts_pages[i]) out.page_counts.push_back(out.shape[i]);
  }
  return out;
}

}  // namespace

NpyAxes without(const PageAxis& axis, NpyAxes axes) {
  const size_t at = axes.letters.find(static_cast<char>(axis.letter - 'a' + 'A'));
  if (at == axes.letters.npos) return axes;
  axes.letters.erase(at, 1);
  axes.shape.erase(axes.shape.begin() + static_cast<std::ptrdiff_t>(at));
  return axes;
}

Bytes join_npy_pages(std::span<const Bytes> pages, const NpyAxes* axes) {
  const NpyArray first = npy_array(ByteSource(pages.front()));
  const std::int64_t item = first.type[3] - '0';
  const auto count = static_cast<std::int64_t>(pages.size());
  const PagesInArray array = pages_in_array(first, count, axes);
  Bytes out = npy_begin(first.type.substr(1, 3), array.shape, count * first.items * item);
  const size_t head = out.size();
  out.resize(head + static_cast<size_t>(count * first.items * item));
  for (size_t p = 0; p < pages.size(); ++p) {
    const NpyArray page = npy_array(ByteSource(pages[p]));
    if (page.type != first.type || page.shape != first.shape) {
      fail("an NPY holds pages of one shape and type, and the result of page ", p + 1, " is ",
           page.text(), " of ", page.type, ", those before it ", first.text(), " of ", first.type,
           "; -o '{stem}_{page}.npy' names each");
    }
    std::int64_t at = 0;
    auto rest = static_cast<std::int64_t>(p);
    for (size_t i = array.page_counts.size(); i-- > 0; rest /= array.page_counts[i]) {
      at += rest % array.page_counts[i] * array.page_steps[i];
    }
    place(pages[p].data() + page.data, page.shape, array.own_steps, item,
          out.data() + head + at * item);
  }
  return out;
}

}  // namespace impipe::io
