// A file of several pages, one after the other, so that no more than one is in memory as pixels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch/page_groups.hpp"
#include "engine/batch/picture_worker.hpp"

namespace impipe::engine {

// Where pages become others, or files one, each goes on as soon as it is there.
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
    io::FileAxes axes;
  };
  // False where a page has values that the type of those before it in the file does not hold.
  bool pages_are_alike();
  void begin_again_with_floats();
  void begin_parts();
  void check_is_wanted() const;  // throws Error when the run stops
  // The page at `which` of those that are processed.
  Page decode_page(size_t which, io::OpenPages& open);
  // Reads the operands' files of pages; decodes a page of each.
  io::FileStamp read_by_page(size_t operand) override;
  void decode_operand_pages(int number);
  // Throws Error where the plan, of a part that follows one of all pages, reads such an operand.
  void check_operand_pages(const Plan& plan) const;
  // Computes part `index` of those that the picture goes through, and what follows. False as
  // pages_are_alike.
  bool pass_on(size_t index, Page page);
  bool is_identity() const;
  // Images of which `stack` makes one, or those of which a later part is made.
  bool reduce(size_t index, Page page);
  bool finish_parts();
  // Encodes what was computed of the page; writes it where each page has a file.
  // False where a file of pages is of a type that does not hold this one.
  [[nodiscard]] bool encode_page(size_t index, const Page& page);
  [[nodiscard]] bool encode_saves(size_t index, const Page& page);
  const std::vector<int>& page_numbers() const;
  // The same of one image, which goes into `path`, or `pages` if they share a file.
  [[nodiscard]] bool encode_page_of(HostImage image, const PlanImage& of, EncodedPages& pages,
                                    const std::filesystem::path& path);
  // Puts a page of a stream behind those before it.
  static void append_page(io::Encoded encoded, EncodedPages& pages);
  void write_pages(const std::filesystem::path& path, io::Format format, EncodedPages pages,
                   bool is_of_pages, bool is_image = true);

  int lane_ = 0;
  struct OperandPages {
    size_t operand = 0;
    io::Bytes file = {};
    io::OpenPages open = {};
  };
  std::vector<OperandPages> operand_pages_;
  std::map<std::string, HostImage> operands_;
  std::vector<Page> made_;                              // instead of a file's: those of `stack`
  std::vector<std::unique_ptr<AxisReducer>> reducers_;  // one a part but the last
  std::vector<std::vector<io::PageAxis>> axes_;         // of the pages that reach each part
  std::optional<DisplayWindow> display_;
  bool as_floats_ = false;                   // whatever the type of the input's samples is
  EncodedPages encoded_;                     // the result
  std::vector<EncodedPages> encoded_saves_;  // and what `save` writes
  size_t pages_done_ = 0;
};

}  // namespace impipe::engine
