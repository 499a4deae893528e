// Channels that go from one EXR into another as they are, a few rows at a time.
#pragma once

#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfTiledInputFile.h>

#include <optional>

#include "io/formats/exr/module/streams.hpp"

namespace impipe::io {

class CarriedChannels {
 public:
  // in_tiles: read a level at a time, with the levels of a map.
  CarriedChannels(const ExrCarried& carried, bool in_tiles);

  // How many rows of lines are best read at a time: those that are unpacked together.
  std::int64_t rows() const;
  void add_to(Imf::Header& header) const;

  // Reads so many rows from this line on, and adds them to what is written. They stay until the
  // next call.
  void read_lines(int line, std::int64_t rows, Imf::FrameBuffer& written);
  // The same of a row of tiles, `rows` pixels high, of a level.
  struct TileRow {
    int number = 0, level_x = 0, level_y = 0;
    int line = 0;  // its first
    std::int64_t rows = 0;
  };
  void read_tiles(const TileRow& row, Imf::FrameBuffer& written);

 private:
  const Imf::Header& header() const { return tiles_ ? tiles_->header() : lines_->header(); }
  const Imf::Channel& channel(const std::string& name) const;
  // Room for the samples of these pixels of each channel.
  Imf::FrameBuffer buffer_of(const Imath::Box2i& box);

  std::vector<std::string> names_;
  Input bytes_;
  std::optional<Imf::InputFile> lines_;
  std::optional<Imf::TiledInputFile> tiles_;
  std::vector<Bytes> words_;  // of each channel
};

}  // namespace impipe::io
