// Frames of YUV4MPEG2, made into images and back.
#include "io/formats/y4m/y4m.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/kept_bytes.hpp"
#include "io/formats/format_traits.hpp"
#include "io/picture/pixel_rows.hpp"
#include "io/picture/ycbcr.hpp"

namespace impipe::io {

// How a Y4M stores its frames, so that one made from it stores them alike.
struct Y4mStorage {
  Y4mHeader header;
  std::string frame_line;  // "FRAME", with parameters of its own perhaps
  YcbcrMatrix matrix = YcbcrMatrix::bt601;
  std::shared_ptr<const Bytes> samples;  // of the frame: what stays the same keeps them
};

namespace {

// The planes of a frame behind its line: Y, Cb, Cr, alpha.
struct FramePlanes {
  explicit FramePlanes(const Y4mHeader& header) {
    const std::int64_t bytes = header.sample_bytes();
    const std::int64_t colour = header.mono ? 0 : header.chroma_width();
    const std::int64_t luma_plane = header.size.pixels() * bytes;
    const std::int64_t colour_plane = colour * header.chroma_height() * bytes;
    row_bytes = {header.size.width * bytes, colour * bytes, colour * bytes,
                 header.size.width * bytes};
    begin = {0, luma_plane, luma_plane + colour_plane, luma_plane + 2 * colour_plane};
  }
  std::array<std::int64_t, 4> begin, row_bytes;
};

// Copies rows of samples, which may be unaligned in the file. Values beyond the depth are clamped.
template <class T>
class SampleRows {
 public:
  SampleRows(std::span<const std::byte> samples, const Y4mHeader& header)
      : samples_(samples),
        planes_(header),
        largest_(header.bits < 16 ? (1 << header.bits) - 1 : 65535) {
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      rows_[p].resize(static_cast<std::size_t>(planes_.row_bytes[p]) / sizeof(T));
    }
  }
  // Until the next call for this plane.
  const T* row(std::size_t plane, std::int64_t y) {
    std::vector<T>& row = rows_[plane];
    const std::int64_t bytes = planes_.row_bytes[plane];
    std::memcpy(row.data(), samples_.data() + planes_.begin[plane] + y * bytes,
                static_cast<std::size_t>(bytes));
    if constexpr (sizeof(T) == 2) {
      for (T& value : row) value = std::min<T>(value, static_cast<T>(largest_));
    }
    return row.data();
  }

 private:
  std::span<const std::byte> samples_;
  FramePlanes planes_;
  int largest_;
  std::array<std::vector<T>, 4> rows_;
};

// A copy in pooled memory.
std::shared_ptr<const Bytes> copy_of(std::span<const std::byte> samples) {
  const std::shared_ptr<Bytes> copy(new Bytes, [](Bytes* bytes) {
    keep_bytes(std::move(*bytes));
    delete bytes;
  });
  *copy = kept_bytes(samples.size());
  std::ranges::copy(samples, copy->begin());
  return copy;
}

YcbcrCode code_of(const Y4mHeader& header, YcbcrMatrix matrix) {
  return {matrix, header.bits, header.full_range};
}

template <class T>
HostImage image_of(std::span<const std::byte> samples, const Y4mHeader& header,
                   YcbcrMatrix matrix) {
  HostImage image(info_of(header).type, header.size);
  SampleRows<T> rows(samples, header);
  YcbcrReader<T> reader(code_of(header, matrix), header.across, header.size.width);
  for (std::int64_t y = 0; y < header.size.height; ++y) {
    if (header.mono) {
      reader.read_gray(rows.row(0, y), image.planes[0].row_as<T>(y));
      continue;
    }
    if (y % header.down == 0) {
      reader.set_chroma(rows.row(1, y / header.down), rows.row(2, y / header.down));
    }
    reader.read(rows.row(0, y), image.planes[0].row_as<T>(y), image.planes[1].row_as<T>(y),
                image.planes[2].row_as<T>(y));
    if (header.alpha) {
      std::memcpy(image.alpha.row(y), rows.row(3, y), static_cast<std::size_t>(header.size.width));
    }
  }
  return image;
}

// Which pixels of a row are those that the input had, and its samples.
template <class T>
class KeptSamples {
 public:
  explicit KeptSamples(const Y4mStorage& from)
      : rows_(*from.samples, from.header),
        reader_(code_of(from.header, from.matrix), from.header.across, from.header.size.width),
        down_(from.header.down),
        width_(from.header.size.width) {
    same_.resize(static_cast<std::size_t>(from.header.chroma_width() * from.header.across));
    for (std::vector<T>& colour : colours_) colour.resize(same_.size());
  }
  typename YcbcrWriter<T>::Kept row(std::int64_t y, const HostImage& image) {
    if (y % down_ == 0) {
      cb_ = rows_.row(1, y / down_);
      cr_ = rows_.row(2, y / down_);
      reader_.set_chroma(cb_, cr_);
    }
    const T* const luma = rows_.row(0, y);
    reader_.read(luma, colours_[0].data(), colours_[1].data(), colours_[2].data());
    const T* const r = image.planes[0].row_as<T>(y);
    const T* const g = image.planes[1].row_as<T>(y);
    const T* const b = image.planes[2].row_as<T>(y);
    const T* const red = colours_[0].data();
    const T* const green = colours_[1].data();
    const T* const blue = colours_[2].data();
    std::uint8_t* const same = same_.data();
    _Pragma("GCC ivdep") for (std::int64_t x = 0; x < width_; ++x) {
      same[x] =
          static_cast<std::uint8_t>((red[x] == r[x]) & (green[x] == g[x]) & (blue[x] == b[x]));
    }
    return {same_.data(), luma, cb_, cr_};
  }
  void gray_row(std::int64_t y, const T* gray, T* out) {
    const T* const luma = rows_.row(0, y);
    reader_.read_gray(luma, colours_[0].data());
    for (std::size_t x = 0; x < static_cast<std::size_t>(width_); ++x) {
      out[x] = colours_[0][x] == gray[x] ? luma[x] : out[x];
    }
  }

 private:
  SampleRows<T> rows_;
  YcbcrReader<T> reader_;
  int down_;
  std::int64_t width_;
  const T *cb_ = nullptr, *cr_ = nullptr;
  std::vector<std::uint8_t> same_;
  std::array<std::vector<T>, 3> colours_;
};

// kept: the input frame's storage; unchanged pixels keep its samples. May be null.
template <class T>
void append_samples(Bytes& out, const HostImage& image, const Y4mHeader& header, YcbcrMatrix matrix,
                    const Y4mStorage* kept) {
  const std::size_t start = out.size();
  out.resize(start + static_cast<std::size_t>(header.frame_bytes()));
  const FramePlanes planes(header);
  const auto store = [&](std::size_t plane, std::int64_t y, const T* row) {
    const std::int64_t bytes = planes.row_bytes[plane];
    std::memcpy(out.data() + start + planes.begin[plane] + y * bytes, row,
                static_cast<std::size_t>(bytes));
  };
  YcbcrWriter<T> writer(code_of(header, matrix), header.across, header.size.width);
  std::optional<KeptSamples<T>> old;
  if (kept != nullptr) old.emplace(*kept);
  std::vector<T> luma(static_cast<std::size_t>(header.size.width));
  std::vector<T> cb(static_cast<std::size_t>(header.chroma_width())), cr(cb.size());
  for (std::int64_t y = 0; y < header.size.height; ++y) {
    const auto row = [&](std::size_t c) { return image.planes[c].row_as<T>(y); };
    if (header.mono) {
      writer.write_gray(row(0), luma.data());
      if (old) old->gray_row(y, row(0), luma.data());
      store(0, y, luma.data());
      continue;
    }
    writer.write(row(0), row(1), row(2), old ? old->row(y, image) : typename YcbcrWriter<T>::Kept{},
                 luma.data());
    store(0, y, luma.data());
    if ((y + 1) % header.down == 0 || y + 1 == header.size.height) {
      writer.end_chroma(cb.data(), cr.data());
      store(1, y / header.down, cb.data());
      store(2, y / header.down, cr.data());
    }
    if (header.alpha) store(3, y, image.alpha.row_as<T>(y));
  }
}

// The word that says how colours are stored.
std::string colours_word(const Y4mHeader& header) {
  const std::string deep = header.bits > 8 ? std::to_string(header.bits) : "";
  if (header.mono) return "Cmono" + deep;
  if (header.alpha) return "C444alpha";
  const std::string base = header.across == 4   ? "411"
                           : header.across == 1 ? "444"
                           : header.down == 1   ? "422"
                                                : "420";
  if (!deep.empty()) return "C" + base + "p" + deep;
  return base == "420" ? "C420jpeg" : "C" + base;
}

// Pixels keep their shape where the picture grew or shrank alike in both directions.
bool keeps_shape(Size before, Size after) {
  const std::int64_t skew = std::abs(before.width * after.height - before.height * after.width);
  return skew <= std::max(before.width, before.height);
}

bool stores_alike(const Y4mHeader& a, const Y4mHeader& b) {
  return a.across == b.across && a.down == b.down && a.bits == b.bits && a.mono == b.mono &&
         a.alpha == b.alpha && a.full_range == b.full_range;
}

// The words of the new header: those of the input's where they still hold, in their order.
void set_words(Y4mHeader& header, const Y4mHeader* from, const EncodeOptions& options,
               std::vector<std::string>& lost) {
  std::vector<std::string> words = {"F25:1", "Ip", "A1:1"};
  if (from != nullptr) words = from->words;
  const bool alike = from != nullptr && stores_alike(header, *from);
  const auto is = [](const std::string& word, std::string_view start) {
    return word.starts_with(start);
  };
  const auto drop = [&](std::string_view start) {
    std::erase_if(words, [&](const std::string& word) { return is(word, start); });
  };
  drop("W");
  drop("H");
  words.insert(words.begin(),
               {"W" + std::to_string(header.size.width), "H" + std::to_string(header.size.height)});
  if (from != nullptr && !keeps_shape(from->size, header.size)) {
    for (std::string& word : words) {
      if (!is(word, "A") || word == "A1:1" || word == "A0:0") continue;
      lost.push_back("the shape of its pixels (" + word.substr(1) + ")");
      word = "A0:0";
    }
  }
  if (!options.frame_rate.empty()) {
    drop("F");
    words.insert(words.begin() + 2, "F" + options.frame_rate);
  }
  if (!alike) {
    drop("C");
    drop("XYSCSS=");
    drop("XCOLORRANGE=");
    words.push_back(colours_word(header));
    words.push_back(header.full_range ? "XCOLORRANGE=FULL" : "XCOLORRANGE=LIMITED");
  }
  header.words = std::move(words);
}

Y4mHeader header_for(const HostImage& image, const Y4mStorage* from, const EncodeOptions& options,
                     std::vector<std::string>& lost) {
  const Y4mHeader* const old = from == nullptr ? nullptr : &from->header;
  Y4mHeader header;
  header.size = image.size();
  header.mono = image.type.channels == 1;
  header.bits = image.type.cls != PixelClass::uint16 ? 8
                : old != nullptr && old->bits > 8    ? old->bits
                                                     : 16;
  const bool same_kind = old != nullptr && old->mono == header.mono;
  header.full_range = same_kind ? old->full_range : header.mono;
  header.across = header.down = header.mono ? 1 : 2;
  if (same_kind) {
    header.across = old->across;
    header.down = old->down;
  }
  if (options.subsampling && !header.mono) {
    header.across = (*options.subsampling)[0];
    header.down = (*options.subsampling)[1];
  }
  const bool has_room = !header.mono && header.across == 1 && header.bits == 8;
  header.alpha = image.type.alpha && has_room;
  if (image.type.alpha && !has_room) lost.emplace_back("alpha");
  set_words(header, old, options, lost);
  return header;
}

HostImage decode(const DecodeInput& input, Decoded& out) {
  const std::span<const std::byte> bytes = input.file;
  const int page = input.options.page.value_or(0);
  const std::string_view text = text_of(bytes);
  std::size_t at = text.find('\n');
  if (at == text.npos) fail("truncated Y4M: its header has no end");
  Y4mStorage storage{.matrix = input.options.matrix};
  storage.header = parse_y4m_header(text.substr(0, at++));
  const auto needs = static_cast<std::size_t>(storage.header.frame_bytes());
  for (int frame = 0;; ++frame) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string name = "frame " + std::to_string(frame + 1);
    check_y4m_frame_line(text.substr(at, std::min(end - at, y4m_longest_line)), frame);
    if (end >= text.size() || text.size() - end - 1 < needs) {
      const std::size_t has = end >= text.size() ? 0 : text.size() - end - 1;
      fail("truncated Y4M: ", name, " has ", has, " of ", needs, " bytes");
    }
    if (frame == page) {
      storage.frame_line = text.substr(at, end - at);
      at = end + 1;
      break;
    }
    at = end + 1 + needs;
    if (at >= text.size()) fail("it has no page ", page + 1);
  }
  const std::span<const std::byte> samples = bytes.subspan(at, needs);
  const Y4mHeader& header = storage.header;
  storage.samples = copy_of(samples);
  HostImage image = header.bits > 8 ? image_of<std::uint16_t>(samples, header, storage.matrix)
                                    : image_of<std::uint8_t>(samples, header, storage.matrix);
  out.metadata.y4m = std::make_shared<const Y4mStorage>(std::move(storage));
  return image;
}

// A file of one frame.
Bytes encode(HostImage& image, const EncodeInput& input, Encoded& encoded) {
  const Y4mStorage* from = input.metadata.y4m.get();
  const EncodeOptions& options = input.options;
  const Y4mHeader header = header_for(image, from, options, encoded.lost);
  const bool keeps = from != nullptr && from->samples && from->matrix == options.matrix &&
                     from->header.size == header.size && stores_alike(from->header, header);
  std::string text(y4m_signature);
  for (const std::string& word : header.words) text += " " + word;
  encoded.common = text;
  encoded.head = text.size() + 1;
  text += "\n" + (from == nullptr ? "FRAME" : from->frame_line) + "\n";
  Bytes out = kept_room(text.size() + static_cast<std::size_t>(header.frame_bytes()));
  append(out, text);
  if (header.bits > 8) {
    append_samples<std::uint16_t>(out, image, header, options.matrix, keeps ? from : nullptr);
  } else {
    append_samples<std::uint8_t>(out, image, header, options.matrix, keeps ? from : nullptr);
  }
  return out;
}

// Names what files of other formats do not say: the frame rate, fields, the shape of pixels.
void name_storage(const Metadata& metadata, Lost& lost) {
  if (!metadata.y4m) return;
  for (const std::string& word : metadata.y4m->header.words) {
    const std::string text = word.substr(1);
    if (word[0] == 'F' && text != "0:0") lost.push_back("the frame rate (" + text + ")");
    if (word == "It" || word == "Ib" || word == "Im") lost.emplace_back("that it is interlaced");
    if (word[0] == 'A' && text != "1:1" && text != "0:0") {
      lost.push_back("the shape of its pixels (" + text + ")");
    }
  }
}

}  // namespace

const FormatTraits y4m_format{
    .format = Format::y4m,
    .name = "Y4M",
    .extensions = "y4m",
    .can = {Can::eight, Can::sixteen, Can::alpha, Can::write_pages, Can::write_stream},
    .pages = Pages::frames,
    .sniff = [](std::string_view head) { return head.starts_with("YUV4MPEG2 "); },
    .header = [](const HeaderInput& input) { return y4m_info(input.source); },
    .decode = decode,
    .encode = encode,
    .read_metadata = no_metadata,
    .with_metadata = lose_metadata,
    .name_storage = name_storage,
};

}  // namespace impipe::io
