// NumPy's .npy files, read without the codec module. An array does not say what its axes are:
// --axes does, else they are guessed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "io/formats/format_traits.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/picture/array_items.hpp"
#include "io/picture/pixel_rows.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

struct NpyHeader {
  ImageInfo info;
  ArrayType item;
  int channels = 1;       // as stored, an alpha counted
  std::int64_t data = 0;  // offset of the pixels
  std::int64_t items = 0;
  int arrays = 1;  // one behind the other in the file
  NpyAxes axes;
  // Distances, in items, between neighbours along x, y, the channels, and each axis of pages.
  std::int64_t step_x = 1, step_y = 0, step_channel = 0;
  struct PageAxis {
    std::int64_t count = 1, step = 0;
  };
  std::vector<PageAxis> page_axes;
};

// The type of an array's items.
void read_type(NpyHeader& out, const std::string& type) {
  const bool known = type.size() == 5;
  out.item = {known ? type[2] : '?', known ? type[3] - '0' : 0, known && type[1] == '>'};
  if (set_type(out.info, out.item)) return;
  fail("NPY of type ", type,
       " is not supported (bool, integers of 8 to 64 bits and floats of 16 to 64 are)");
}

// The axes of an array, when nobody has named them.
std::string guessed_letters(const NpyArray& array) {
  constexpr std::int64_t most_channels = 4;
  const size_t axes = array.shape.size();
  const bool channels_last = axes >= 3 && array.shape.back() <= most_channels;
  if (axes == 1) return "X";
  if (axes == 2) return "YX";
  if (axes == 3) return channels_last ? "YXC" : "ZYX";
  if (axes == 4 && channels_last) return "ZYXC";
  if (axes == 0) fail("NPY without an axis: it is a number");
  fail("NPY of shape ", array.text(),
       " does not say what its axes are; give --axes, a letter for each, as TZCYX");
}

void set_axes(NpyHeader& out, const NpyArray& array, const std::string& letters) {
  out.axes = {letters, array.shape};
  const size_t count = array.shape.size();
  out.info.stored.height = 1;
  std::int64_t step = 1, pages = 1;
  std::vector<std::int64_t> steps(count);
  for (size_t k = 0; k < count; ++k) {
    const size_t i = array.fortran_order ? k : count - 1 - k;
    steps[i] = step;
    step *= array.shape[i];
  }
  for (size_t i = 0; i < count; ++i) {
    const std::int64_t n = array.shape[i];
    if (letters[i] == 'Y') {
      out.info.stored.height = n;
      out.step_y = steps[i];
    } else if (letters[i] == 'X') {
      out.info.stored.width = n;
      out.step_x = steps[i];
    } else if (is_page_axis(letters, letters[i])) {
      pages *= n;
      const char letter = static_cast<char>(letters[i] + ('a' - 'A'));
      if (n > 1 && n <= max_side) out.info.axes.push_back({letter, static_cast<int>(n)});
      out.page_axes.push_back({n, steps[i]});
    } else {
      if (n < 1 || n > max_channels) {
        fail("NPY of shape ", array.text(), " has ", n, " channels by its axes ", letters,
             ", and 1 to ", max_channels, " are read");
      }
      out.channels = static_cast<int>(n);
      out.step_channel = steps[i];
    }
  }
  constexpr std::int64_t max_pages = 1 << 30;
  if (pages < 1 || pages > max_pages) {
    fail("NPY of shape ", array.text(), " has ", pages, " pages by its axes ", letters);
  }
  out.info.pages = static_cast<int>(pages);
}

// Which of the channels is an alpha: the last one, where an axis says so.
void set_channels(NpyHeader& out, const NpyArray& array) {
  ImageType& type = out.info.type;
  type.alpha = channel_letter(out.axes.letters) == 'A';
  if (type.alpha && out.channels < 2) {
    fail("NPY of shape ", array.text(), ": the axis A of --axes ", out.axes.letters,
         " has 1, an alpha without a channel");
  }
  if (type.alpha && type.white == 0) {
    fail("--axes ", out.axes.letters, ": numbers of type ", array.type,
         " have no white, and so no alpha; say C for A");
  }
  type.channels = out.channels - (type.alpha ? 1 : 0);
}

// Says what was guessed, unless it is what everybody takes such an array for.
void note_guess(NpyHeader& out, const NpyArray& array) {
  const int pages = out.info.pages;
  const std::string& letters = out.axes.letters;
  const bool has_pages = !out.page_axes.empty();
  if (!has_pages && out.channels != 2 && out.channels != 4) return;
  out.info.guessed_axes = letters;
  out.info.guess = array.text() + " is read as " + letters + ", ";
  if (has_pages) {
    out.info.guess += std::to_string(pages) + (pages == 1 ? " page" : " pages") + " of " +
                      to_string(out.info.stored);
    if (out.channels > 1) out.info.guess += " x " + std::to_string(out.channels);
  } else {
    out.info.guess += std::to_string(out.channels) + " channels, none of them an alpha (YXA)";
  }
}

void check_is_whole(const NpyHeader& h, std::int64_t file_bytes) {
  const std::int64_t needs = h.items * h.item.bytes;
  const std::int64_t has = file_bytes - h.data;
  if (has >= needs) return;
  fail("truncated NPY: ", has, " bytes of pixels, ", needs, " needed");
}

// axes: see Reading.
NpyHeader npy_header(const ByteSource& source, const std::string& axes) {
  NpyArray array = npy_array(source);
  NpyHeader out;
  read_type(out, array.type);
  out.data = array.data;
  out.items = array.items;
  if (!axes.empty() && axes.size() != array.shape.size()) {
    fail("NPY of shape ", array.text(), " has ", array.shape.size(),
         array.shape.size() == 1 ? " axis" : " axes", ", and --axes ", axes, " names ",
         axes.size());
  }
  set_axes(out, array, axes.empty() ? guessed_letters(array) : axes);
  set_channels(out, array);
  if (axes.empty()) note_guess(out, array);
  if (out.info.pages > 1) check_is_whole(out, source.size());  // before pages are listed
  out.info.detail = depth_text(out.item) + (array.fortran_order ? ", Fortran order" : "");
  if (!axes.empty()) out.info.detail += ", axes " + axes;
  if (!out.info.guess.empty()) out.info.detail += ", axes " + out.info.guessed_axes + " (guessed)";
  // numpy.save appends to an open file.
  for (std::int64_t item = out.item.bytes; array.items > 0; ++out.arrays) {
    const std::int64_t end = array.data + array.items * item;
    if (source.read_some(end, 6) != "\x93NUMPY") break;
    array = npy_array(source, end);
    NpyHeader next;
    read_type(next, array.type);
    item = next.item.bytes;
  }
  if (out.arrays > 1) out.info.detail += ", " + std::to_string(out.arrays) + " arrays";
  return out;
}

// Rows [y_begin, y_end) of a page.
HostImage rows_of(const NpyHeader& h, std::span<const std::byte> bytes, std::int64_t page,
                  std::int64_t y_begin, std::int64_t y_end, Inexact& inexact) {
  if (h.arrays > 1) fail("it has ", h.arrays, " pictures, and a NPY of one is read");
  const Size size{h.info.stored.width, y_end - y_begin};
  check_is_whole(h, static_cast<std::int64_t>(bytes.size()));
  HostImage image(h.info.type, size);
  const std::byte* data = bytes.data() + h.data + y_begin * h.step_y * h.item.bytes;
  for (auto axis = h.page_axes.rbegin(); axis != h.page_axes.rend(); ++axis) {
    data += page % axis->count * axis->step * h.item.bytes;
    page /= axis->count;
  }
  const bool plain = (h.channels == 1 || h.step_channel == 1) && h.step_x == h.channels &&
                     h.item.is_of(image.type.cls);
  if (plain) {
    RowSplitter splitter(image);
    std::vector<std::byte> row(static_cast<size_t>(stored_bytes(image.type, size.width)));
    for (std::int64_t y = 0; y < size.height; ++y) {
      // The array may begin anywhere.
      std::memcpy(row.data(), data + y * h.step_y * h.item.bytes, row.size());
      splitter.put(row.data(), y);
    }
    return image;
  }
  for (int c = 0; c < h.channels; ++c) {
    Plane& plane = c < image.type.channels ? image.planes[static_cast<size_t>(c)] : image.alpha;
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        const std::int64_t item = y * h.step_y + x * h.step_x + c * h.step_channel;
        store_item(plane, y, x, data + item * h.item.bytes, h.item, inexact);
      }
    }
  }
  return image;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  const NpyHeader h = npy_header(ByteSource(input.file), input.options.reading.axes);
  HostImage image =
      rows_of(h, input.file, out.info.page, 0, h.info.stored.height, *out.info.inexact);
  out.metadata.npy = std::make_shared<const NpyAxes>(h.axes);
  return image;
}

HostImage read_rows(const RowsInput& input) {
  const NpyHeader h = npy_header(ByteSource(input.file), input.reading.axes);
  if (h.info.type != input.info.type || h.info.stored != input.info.stored) {
    fail("it was written to while it was read");
  }
  return rows_of(h, input.file, input.info.page, input.y, input.y_end, *input.info.inexact);
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  const SampleType samples = samples_for(image, input.metadata, input.options, out);
  return encode_npy(image, input.metadata.npy.get(), samples);
}

}  // namespace

NpyAxes npy_axes(const ByteSource& source, const std::string& axes) {
  return npy_header(source, axes).axes;
}

const FormatTraits npy_format{
    .format = Format::npy,
    .name = "NPY",
    .extensions = "npy",
    .can = {Can::one_bit, Can::eight, Can::sixteen, Can::floats, Can::any_channels, Can::alpha,
            Can::numbers, Can::write_pages},
    .pages = Pages::several,
    .sniff = [](std::string_view head) { return head.starts_with("\x93NUMPY"); },
    .header =
        [](const HeaderInput& input) { return npy_header(input.source, input.reading.axes).info; },
    .decode = decode,
    .encode = encode,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
    .read_rows = read_rows,
};

}  // namespace impipe::io
