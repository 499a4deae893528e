// A file of several pages, one after the other, so that no more than one is in memory as pixels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/batch/picture_worker.hpp"

namespace impipe::engine {

class PagedPicture : public PictureWorker {
 public:
  using PictureWorker::PictureWorker;
  void decode() override;
  void compute(int lane) override;
  void encode() override;

 private:
  // The pages of one file, each encoded as a file; those of a stream are one behind the other in
  // the first.
  struct EncodedPages {
    std::vector<io::Bytes> files;
    std::string common;  // see io::Encoded
    std::size_t head = 0;
  };
  // False where a page has values that the type of those before it in the file does not hold.
  bool pages_are_alike(int lane, const std::map<std::string, HostImage>& operands);
  void begin_again_with_floats();
  // Encodes what was computed, of page `which` of those that are asked for; writes it where each
  // page has a file.
  // False where a file of pages is of a type that does not hold this one.
  [[nodiscard]] bool encode_page(size_t which, const io::ImageInfo& info);
  // The same of one image, which goes into `path`, or `pages` if they share a file.
  [[nodiscard]] bool encode_page_of(HostImage image, const PlanImage& of, EncodedPages& pages,
                                    const std::filesystem::path& path);
  // Puts a page of a stream behind those before it.
  static void append_page(io::Encoded encoded, EncodedPages& pages);
  void write_pages(const std::filesystem::path& path, io::Format format, EncodedPages pages,
                   bool is_image = true);

  bool as_floats_ = false;                   // whatever the type of the input's samples is
  EncodedPages encoded_;                     // the result
  std::vector<EncodedPages> encoded_saves_;  // and what `save` writes
  size_t pages_done_ = 0;
};

}  // namespace impipe::engine
