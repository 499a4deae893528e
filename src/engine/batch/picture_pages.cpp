#include "engine/batch/picture_pages.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"

namespace impipe::engine {

void PagedPicture::decode() {
  io::FileStamp stamp;
  file_ = read_file(stamp);
  decode_operands(stamp);
}

void PagedPicture::compute(int lane) {
  const std::map<std::string, HostImage> operands = material_.operands;
  if (!pages_are_alike(lane, operands)) {
    begin_again_with_floats();
    pages_are_alike(lane, operands);
  }
  if (!job_.has_other_parts()) file_ = {};
}

void PagedPicture::begin_again_with_floats() {
  forget_results();
  as_floats_ = true;
  encoded_ = {};
  encoded_saves_.clear();
  pages_done_ = 0;
}

bool PagedPicture::pages_are_alike(int lane, const std::map<std::string, HostImage>& operands) {
  io::OpenPages open;  // of file_
  const bool in_one_file = picture_.pages->outputs.empty() && picture_.program->plan.writes_image &&
                           io::writes_pages(picture_.output_format);
  for (size_t i = 0; i < picture_.pages->numbers.size(); ++i) {
    if (job_.is_over()) return true;
    const int page = picture_.pages->numbers[i];
    try {
      io::DecodeOptions options = settings_.decode;
      options.page = page;
      options.open_pages = &open;
      if (in_one_file) options.pages_together = picture_.pages->numbers;
      io::Decoded decoded = io::decode(file_, options);
      const io::ImageInfo info = decoded.info;
      take(std::move(decoded));
      if (as_floats_) metadata_.samples = io::SampleType::of_class;
      material_.operands = operands;
      compute_image(lane);
      add_row(page + 1);
      if (!encode_page(i, info)) return false;
      ++pages_done_;
    } catch (const Error& error) {
      throw Error(fmt::format("page {}: ", page + 1), error, error.code());
    }
  }
  return true;
}

void PagedPicture::append_page(io::Encoded encoded, EncodedPages& pages) {
  if (pages.files.empty()) {
    pages.common = std::move(encoded.common);
    pages.head = encoded.head;
    pages.files.push_back(std::move(encoded.bytes));
  } else if (encoded.common != pages.common) {
    io::fail("it is ", encoded.common, ", and the pages before it are ", pages.common);
  } else {
    io::Bytes& all = pages.files.front();
    const auto begin = encoded.bytes.begin() + static_cast<std::ptrdiff_t>(encoded.head);
    all.insert(all.end(), begin, encoded.bytes.end());
  }
}

bool PagedPicture::encode_page_of(HostImage image, const PlanImage& of, EncodedPages& pages,
                                  const std::filesystem::path& path) {
  io::Encoded encoded = encode_image(image, of);
  image = {};
  if (of.apart) {
    write(path, std::move(encoded.bytes));
    return true;
  }
  const bool widens = encoded.widened != io::SampleType::of_class;
  if (widens && of.type.format != io::Format::exr) return false;
  if (io::writes_stream(of.type.format)) {
    append_page(std::move(encoded), pages);
  } else {
    pages.files.push_back(std::move(encoded.bytes));
  }
  return true;
}

bool PagedPicture::encode_page(size_t which, const io::ImageInfo& info) {
  const Plan& plan = picture_.program->plan;
  encoded_saves_.resize(plan.saves.size());
  for (size_t i = 0; i < plan.saves.size(); ++i) {
    HostImage& image = outcome_.saves[i];
    const Picture::Save& save = (*picture_.saves)[i];
    if (!job_.may_write(save.file_of(which))) continue;
    const PlanImage of{plan.saves[i].value, info, image.size(),
                       io::output_type(&info, image.type, save.format, settings_.cls), save.apart};
    if (!encode_page_of(std::move(image), of, encoded_saves_[i], save.file_of(which))) {
      return false;
    }
  }
  const std::vector<std::string>& pages = picture_.pages->outputs;
  const std::string& path = pages.empty() ? picture_.output : pages[which];
  if (path.empty() || !job_.may_write(path)) return true;
  if (plan.writes_image) {
    const HostImage& image = outcome_.image;
    const PlanImage of{
        plan.result, info, image.size(),
        io::output_type(&info, image.type, io::Format(picture_.output_format), settings_.cls),
        job_.is_apart()};
    return encode_page_of(std::exchange(outcome_, {}).image, of, encoded_, path);
  }
  io::Bytes bytes = encode_measured(path);
  outcome_ = {};
  if (pages.empty()) {
    encoded_.files.push_back(std::move(bytes));
  } else {
    write(path, std::move(bytes));
  }
  return true;
}

void PagedPicture::write_pages(const std::filesystem::path& path, io::Format format,
                               EncodedPages pages, bool is_image) {
  if (pages.files.empty()) return;
  result_.common = std::move(pages.common);
  result_.head = pages.head;
  write(path, io::writes_stream(format) ? std::move(pages.files.front())
                                        : joined(format, pages.files, is_image));
}

void PagedPicture::encode() {
  // A run that was stopped has not made all of them.
  if (pages_done_ < picture_.pages->numbers.size()) return;
  for (size_t i = 0; i < encoded_saves_.size(); ++i) {
    const Picture::Save& save = (*picture_.saves)[i];
    write_pages(save.files.front(), save.format, std::exchange(encoded_saves_[i], {}));
  }
  write_pages(picture_.output, picture_.output_format, std::exchange(encoded_, {}),
              picture_.program->plan.writes_image);
}

}  // namespace impipe::engine
