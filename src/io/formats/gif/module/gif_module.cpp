// The codec module for GIF: frames through giflib, put on each other as a viewer shows them.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "io/module/library_codec.hpp"

namespace impipe::io {
namespace {

struct Cursor {
  std::span<const std::byte> bytes;
  size_t at = 0;
};

int read_bytes(GifFileType* file, GifByteType* to, int count) {
  auto& cursor = *static_cast<Cursor*>(file->UserData);
  const size_t n = std::min(static_cast<size_t>(count), cursor.bytes.size() - cursor.at);
  std::memcpy(to, cursor.bytes.data() + cursor.at, n);
  cursor.at += n;
  return static_cast<int>(n);
}

[[noreturn]] void fail_gif(const GifFileType* file, int error) {
  const auto* cursor = file == nullptr ? nullptr : static_cast<const Cursor*>(file->UserData);
  if (cursor != nullptr && cursor->at == cursor->bytes.size()) {
    fail("truncated GIF: it ends at byte ", cursor->bytes.size());
  }
  const char* reason = GifErrorString(error);
  fail("damaged GIF: ", reason == nullptr ? "it cannot be read" : reason);
}

// What a viewer shows, frame after frame: four bytes a pixel.
class Screen {
 public:
  Screen(GifFileType* file, Size size)
      : file_(file), size_(size), pixels_(4 * static_cast<size_t>(size.pixels())) {}

  // Puts the next frame of the file on what is left of the one before it.
  void next() {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    for (;;) {
      skip_zeros();
      check(DGifGetRecordType(file_, &record));
      if (record == IMAGE_DESC_RECORD_TYPE) break;
      if (record != EXTENSION_RECORD_TYPE) fail("damaged GIF: a frame is missing");
      read_extension();
    }
    check(DGifGetImageDesc(file_));
    dispose();
    draw();
  }
  const std::uint8_t* pixel(std::int64_t x, std::int64_t y) const {
    return pixels_.data() + 4 * (y * size_.width + x);
  }

 private:
  // Zeros between blocks, which giflib minds and viewers do not.
  void skip_zeros() const {
    auto& cursor = *static_cast<Cursor*>(file_->UserData);
    while (cursor.at < cursor.bytes.size() && cursor.bytes[cursor.at] == std::byte{0}) ++cursor.at;
  }
  void check(int result) const {
    if (result != GIF_OK) fail_gif(file_, file_->Error);
  }
  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    check(DGifGetExtension(file_, &code, &block));
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr) {
      check(DGifExtensionToGCB(block[0], block + 1, &control_));
    }
    while (block != nullptr) check(DGifGetExtensionNext(file_, &block));
  }
  // The part of the frame that lies on the screen.
  Size shown() const {
    const GifImageDesc& f = file_->Image;
    return {std::clamp<std::int64_t>(f.Width, 0, std::max<std::int64_t>(size_.width - f.Left, 0)),
            std::clamp<std::int64_t>(f.Height, 0, std::max<std::int64_t>(size_.height - f.Top, 0))};
  }
  // Undoes the frame before as it asked for.
  void dispose() {
    if (disposal_ == DISPOSE_PREVIOUS) pixels_ = before_;
    if (disposal_ == DISPOSE_BACKGROUND) {
      for (std::int64_t y = 0; y < area_.height; ++y) {
        std::fill_n(pixels_.data() + 4 * ((top_ + y) * size_.width + left_), 4 * area_.width,
                    std::uint8_t{0});
      }
    }
    disposal_ = control_.DisposalMode;
    if (disposal_ == DISPOSE_PREVIOUS) before_ = pixels_;
    area_ = shown();
    left_ = file_->Image.Left;
    top_ = file_->Image.Top;
  }
  void draw() {
    const GifImageDesc& frame = file_->Image;
    const ColorMapObject* map = frame.ColorMap != nullptr ? frame.ColorMap : file_->SColorMap;
    if (map == nullptr) fail("damaged GIF: a frame without a palette");
    std::vector<GifPixelType> row(static_cast<size_t>(frame.Width));
    static constexpr int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (int pass = 0; pass < (frame.Interlace ? 4 : 1); ++pass) {
      const int step = frame.Interlace ? steps[pass] : 1;
      for (int y = frame.Interlace ? starts[pass] : 0; y < frame.Height; y += step) {
        check(DGifGetLine(file_, row.data(), frame.Width));
        if (y < area_.height) draw_row(row, y, *map);
      }
    }
    control_ = {DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR};
  }
  void draw_row(const std::vector<GifPixelType>& row, int y, const ColorMapObject& map) {
    std::uint8_t* to = pixels_.data() + 4 * ((top_ + y) * size_.width + left_);
    for (std::int64_t x = 0; x < area_.width; ++x, to += 4) {
      const int index = row[static_cast<size_t>(x)];
      if (index == control_.TransparentColor) continue;
      // Viewers show colours that the palette lacks as black.
      const GifColorType colour = index < map.ColorCount ? map.Colors[index] : GifColorType{};
      to[0] = colour.Red;
      to[1] = colour.Green;
      to[2] = colour.Blue;
      to[3] = 255;
    }
  }

  GifFileType* file_;
  Size size_;
  std::vector<std::uint8_t> pixels_, before_;
  GraphicsControlBlock control_{DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR};
  int disposal_ = DISPOSAL_UNSPECIFIED;  // of the frame before, which lies here:
  Size area_;
  std::int64_t left_ = 0, top_ = 0;
};

class Frames final : public PageDecoder {
 public:
  Frames(std::span<const std::byte> bytes, MakeImage make_image)
      : bytes_(bytes), make_image_(make_image) {}
  HostImage decode(const ImageInfo& info) override {
    if (!screen_ || info.page < next_) open(info.stored);
    for (; next_ <= info.page; ++next_) screen_->next();
    HostImage image = make_image_(info.type, info.stored);
    for (std::int64_t y = 0; y < info.stored.height; ++y) {
      for (std::int64_t x = 0; x < info.stored.width; ++x) {
        const std::uint8_t* pixel = screen_->pixel(x, y);
        for (size_t c = 0; c < 3; ++c) image.planes[c].row_as<std::uint8_t>(y)[x] = pixel[c];
        if (info.type.alpha) image.alpha.row_as<std::uint8_t>(y)[x] = pixel[3];
      }
    }
    return image;
  }

 private:
  void open(Size size) {
    cursor_ = {.bytes = bytes_};
    int error = 0;
    file_.reset(DGifOpen(&cursor_, read_bytes, &error));
    if (file_ == nullptr) fail_gif(nullptr, error);
    screen_.emplace(file_.get(), size);
    next_ = 0;
  }

  std::span<const std::byte> bytes_;
  MakeImage make_image_;
  Cursor cursor_;
  Made<GifFileType, [](GifFileType* file) { DGifCloseFile(file, nullptr); }> file_;
  std::optional<Screen> screen_;
  int next_ = 0;  // the frame that comes next
};

class Giflib final : public CodecModule {
 public:
  std::unique_ptr<PageDecoder> open_pages(std::span<const std::byte> bytes, const ImageInfo&,
                                          MakeImage make_image) const override {
    return std::make_unique<Frames>(bytes, make_image);
  }
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Giflib)
