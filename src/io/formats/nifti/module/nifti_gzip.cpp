// Planes of a NIfTI in a gzip file, unpacked one after the other by zlib.
#include "io/formats/nifti/module/nifti_gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "io/formats/nifti/nifti.hpp"

namespace impipe::io {
namespace {

class Pages final : public PageDecoder {
 public:
  Pages(InputBytes bytes, MakeImage make_image) : bytes_(bytes), make_image_(make_image) {
    constexpr int gzip = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip) != Z_OK) throw std::bad_alloc();
    begin();
  }
  ~Pages() override { inflateEnd(&stream_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  HostImage decode(const ImageInfo& info) override {
    if (!header_) {
      std::string head(static_cast<std::size_t>(nifti_header_bytes), '\0');
      head.resize(unpack(reinterpret_cast<std::byte*>(head.data()), nifti_header_bytes));
      header_ = nifti_header(head);
    }
    check_header(header_->info.stored == info.stored && info.page < header_->info.pages, "NIfTI");
    const std::int64_t bytes = header_->plane_bytes(), first = header_->data + info.page * bytes;
    if (at_ > first) begin();
    Bytes skipped(1 << 16);
    while (at_ < first) {
      const auto step = std::min<std::int64_t>(first - at_, std::ssize(skipped));
      check_whole(unpack(skipped.data(), step), step);
    }
    plane_.resize(static_cast<std::size_t>(bytes));
    check_whole(unpack(plane_.data(), bytes), bytes);
    Inexact ignored;
    return nifti_plane(*header_, plane_.data(), info.inexact ? *info.inexact : ignored,
                       make_image_);
  }

 private:
  void begin() {
    inflateReset(&stream_);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes_.data()));
    left_ = bytes_.size();
    stream_.avail_in = 0;
    at_ = 0;
  }
  static void check_whole(std::size_t got, std::int64_t wanted) {
    if (static_cast<std::int64_t>(got) != wanted) {
      fail("truncated NIfTI: its gzip file ends within a plane");
    }
  }
  // The next bytes; fewer at the end.
  std::size_t unpack(std::byte* to, std::int64_t count) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const auto wanted = static_cast<std::size_t>(count);
    std::size_t done = 0;
    int status = Z_OK;
    while (done < wanted && status == Z_OK) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(std::min(left_, most));
        left_ -= stream_.avail_in;
      }
      const std::size_t room = std::min(wanted - done, most);
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = static_cast<uInt>(room);
      status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      // gzip files may follow each other.
      if (status == Z_STREAM_END && (stream_.avail_in > 0 || left_ > 0) && done < wanted) {
        status = inflateReset(&stream_);
      }
    }
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_DATA_ERROR) fail("damaged NIfTI: its gzip file cannot be unpacked");
    at_ += static_cast<std::int64_t>(done);
    return done;
  }

  InputBytes bytes_;
  MakeImage make_image_;
  z_stream stream_ = {};
  std::size_t left_ = 0;  // bytes of the file that zlib does not know of yet
  std::int64_t at_ = 0;   // bytes unpacked
  std::optional<NiftiHeader> header_;
  Bytes plane_;
};

}  // namespace

std::unique_ptr<PageDecoder> open_nifti_pages(InputBytes bytes, MakeImage make_image) {
  return std::make_unique<Pages>(bytes, make_image);
}

}  // namespace impipe::io
