// Reads the channels of an EXR in the words that they have in it, whatever they mean.
#include "io/formats/exr/module/carried.hpp"

#include <OpenEXR/ImfChannelList.h>

namespace impipe::io {
namespace {

// The quotient, rounded down.
std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value >= 0 ? value / by : -((-value + by - 1) / by);
}

// The samples among so many pixels, of which every `step`-th has one: their first, and how many.
struct Samples {
  std::int64_t first = 0, count = 0;
  Samples(int begin, int last, int step)
      : first(-floor_div(-std::int64_t{begin}, step)), count(floor_div(last, step) - first + 1) {}
};

}  // namespace

CarriedChannels::CarriedChannels(const ExrCarried& carried, bool in_tiles)
    : names_(carried.names), bytes_(*carried.file) {
  if (in_tiles) {
    tiles_.emplace(bytes_, no_threads);
  } else {
    lines_.emplace(bytes_, no_threads);
  }
  if (!(tiles_ ? tiles_->isComplete() : lines_->isComplete())) {
    fail("truncated EXR: parts of its picture are missing");
  }
}

std::int64_t CarriedChannels::rows() const {
  return header().compression() == Imf::DWAB_COMPRESSION ? 256 : 32;
}

const Imf::Channel& CarriedChannels::channel(const std::string& name) const {
  const Imf::Channel* found = header().channels().findChannel(name);
  if (found == nullptr) fail("damaged EXR: contradictory headers");
  return *found;
}

void CarriedChannels::add_to(Imf::Header& header) const {
  for (const std::string& name : names_) {
    if (header.channels().findChannel(name) != nullptr) {
      fail("EXR would have two channels " + name + ": that of the input and the result's");
    }
    header.channels().insert(name, channel(name));
  }
}

Imf::FrameBuffer CarriedChannels::buffer_of(const Imath::Box2i& box) {
  words_.resize(names_.size());
  Imf::FrameBuffer buffer;
  for (size_t c = 0; c < names_.size(); ++c) {
    const Imf::Channel& its = channel(names_[c]);
    const std::int64_t bytes = its.type == Imf::HALF ? 2 : 4;
    const Samples x(box.min.x, box.max.x, its.xSampling), y(box.min.y, box.max.y, its.ySampling);
    const std::int64_t row_bytes = bytes * x.count;
    words_[c].resize(static_cast<size_t>(row_bytes * y.count));
    // Where the sample of the pixel 0, 0 would be.
    const auto origin =
        reinterpret_cast<std::intptr_t>(words_[c].data()) - x.first * bytes - y.first * row_bytes;
    buffer.insert(names_[c],
                  Imf::Slice(its.type, reinterpret_cast<char*>(origin), static_cast<size_t>(bytes),
                             static_cast<size_t>(row_bytes), its.xSampling, its.ySampling));
  }
  return buffer;
}

static void add_slices(const Imf::FrameBuffer& from, Imf::FrameBuffer& to) {
  for (auto slice = from.begin(); slice != from.end(); ++slice) {
    to.insert(slice.name(), slice.slice());
  }
}

void CarriedChannels::read_lines(int line, std::int64_t rows, Imf::FrameBuffer& written) {
  const Imath::Box2i window = header().dataWindow();
  const int last = line + static_cast<int>(rows) - 1;
  const Imf::FrameBuffer buffer = buffer_of({{window.min.x, line}, {window.max.x, last}});
  guarded("damaged EXR", [&] {
    lines_->setFrameBuffer(buffer);
    lines_->readPixels(line, last);
  });
  add_slices(buffer, written);
}

void CarriedChannels::read_tiles(const TileRow& row, Imf::FrameBuffer& written) {
  if (!tiles_->isValidLevel(row.level_x, row.level_y)) {
    fail("damaged EXR: contradictory headers");
  }
  const Imath::Box2i level = tiles_->dataWindowForLevel(row.level_x, row.level_y);
  const int last = row.line + static_cast<int>(row.rows) - 1;
  const Imf::FrameBuffer buffer = buffer_of({{level.min.x, row.line}, {level.max.x, last}});
  guarded("damaged EXR", [&] {
    tiles_->setFrameBuffer(buffer);
    const int across = tiles_->numXTiles(row.level_x);
    tiles_->readTiles(0, across - 1, row.number, row.number, row.level_x, row.level_y);
  });
  add_slices(buffer, written);
}

}  // namespace impipe::io
