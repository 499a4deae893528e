#include "engine/batch/picture_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/interruption.hpp"
#include "core/volume.hpp"
#include "engine/batch/free_memory.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/stale_fields.hpp"

namespace impipe::engine {
namespace {

bool is_read(ValueId value, const Plan& plan) {
  return std::ranges::count(written_images(plan), value) > 0 ||
         std::ranges::count(object_images(plan), value) > 0 ||
         std::ranges::any_of(plan.steps, [&](const Step& step) {
           return std::ranges::count(step.inputs, value) > 0;
         });
}

}  // namespace

void PagedPicture::decode() {
  io::FileStamp stamp;
  if (!picture_.is_stack()) file_ = read_file(stamp);
  decode_operands(stamp);
  if (!picture_.is_stack()) return;
  stamps_.pop_back();  // that of no file
  stamps_.insert(stamps_.end(), settings_.stack->stamps().begin(), settings_.stack->stamps().end());
}

io::FileStamp PagedPicture::read_by_page(size_t operand) {
  io::FileStamp stamp;
  operand_pages_.push_back(
      {.operand = operand, .file = io::read_picture(picture_.partners->paths[operand], stamp)});
  return stamp;
}

void PagedPicture::decode_operand_pages(int number) {
  io::DecodeOptions options = settings_.decode;
  options.page = number;
  for (OperandPages& pages : operand_pages_) {
    options.open_pages = &pages.open;
    const std::filesystem::path& path = picture_.partners->paths[pages.operand];
    take_operand(pages.operand,
                 settings_.operands[pages.operand]->decode_page(path, pages.file, options));
  }
  for (auto& [name, image] : std::exchange(material_.operands, {})) {
    operands_[name] = std::move(image);
  }
}

void PagedPicture::check_operand_pages(const Plan& plan) const {
  for (const OperandPages& pages : operand_pages_) {
    const std::string& name = settings_.operands[pages.operand]->name();
    const auto operand = std::ranges::find(plan.operands, name, &PlanOperand::name);
    if (operand == plan.operands.end() || !is_read(operand->value, plan)) continue;
    throw Error(fmt::format(
        "--with {}: {}: its {} pages go with those of the input, which a stage before it joins",
        name, picture_.partners->paths[pages.operand].string(), picture_.info->pages));
  }
}

void PagedPicture::compute(int lane) {
  const std::function<bool()> stop = job_.stop();
  const Interruptible interruptible(&stop);
  lane_ = lane;
  operands_ = std::exchange(material_.operands, {});
  if (picture_.is_stack()) {
    made_ = settings_.stack->result([this] { check_is_wanted(); });
    job_.check_inexact(settings_.stack->inexact());
    result_.inexact.add(settings_.stack->inexact());
  }
  if (!pages_are_alike()) {
    begin_again_with_floats();
    (void)pages_are_alike();
  }
  reducers_.clear();
  made_.clear();
  if (!job_.has_other_parts()) file_ = {};
}

void PagedPicture::begin_again_with_floats() {
  forget_results();
  as_floats_ = true;
  encoded_ = {};
  encoded_saves_.clear();
  pages_done_ = 0;
}

const std::vector<int>& PagedPicture::page_numbers() const {
  static const std::vector<int> first{0};
  return picture_.pages ? picture_.pages->numbers : first;
}

void PagedPicture::check_is_wanted() const {
  if (job_.is_over()) throw Error("stopped", ExitCode::file_failed);
}

void PagedPicture::begin_parts() {
  reducers_.clear();
  axes_.clear();
  const std::vector<const Program*> parts = picture_.parts();
  for (size_t index = 0; index < parts.size(); ++index) {
    if (index > 0) check_operand_pages(parts[index]->plan);
    axes_.push_back(picture_.pages_before(index).own_axes());
  }
  for (size_t index = 0; index + 1 < parts.size(); ++index) {
    const ImageReduction& reduction = parts[index]->then->reduction;
    const PageReducer::Options options{.memory = settings_.memory / 2,
                                       .scratch = settings_.scratch,
                                       .pool = settings_.pool,
                                       .check = [this] { check_is_wanted(); },
                                       .lanes = settings_.lanes};
    const PageList pages = picture_.pages_before(index);
    reducers_.push_back(std::make_unique<AxisReducer>(reduction, options, pages));
    if (!reduction.volume) continue;
    std::string left_out = reduction.volume->left_out(std::ssize(pages.numbers));
    if (!left_out.empty()) result_.notes.push_back(std::move(left_out));
  }
}

Page PagedPicture::decode_page(size_t which, io::OpenPages& open) {
  const int number = page_numbers()[which];
  const bool in_one_file = job_.has_pages() && picture_.pages->outputs.empty() &&
                           !picture_.has_one_result() && picture_.last_part().plan.writes_image &&
                           io::writes_pages(picture_.output_format);
  io::DecodeOptions options = settings_.decode;
  options.page = number;
  options.open_pages = &open;
  if (in_one_file) {
    const size_t made = picture_.pages_before(picture_.parts().size() - 1).numbers.size();
    options.pages_together = std::span(page_numbers()).first(std::min(made, page_numbers().size()));
    options.axes = axes_.back();
  }
  io::Decoded decoded;
  try {
    decoded = io::decode(file_, options);
  } catch (const Error& error) {
    if (job_.has_pages()) throw;
    throw PartError(Part::decode, error);
  }
  io::ImageInfo info = decoded.info;
  take(std::move(decoded));
  display_ = material_.display;
  return {std::exchange(material_.image, {}),
          std::make_shared<const PageSource>(PageSource{std::move(info), std::move(metadata_)}),
          which, job_.has_pages() ? number + 1 : 0};
}

bool PagedPicture::pages_are_alike() {
  begin_parts();
  io::OpenPages open;  // of file_
  for (size_t i = 0; i < page_numbers().size(); ++i) {
    if (job_.is_over()) return true;
    try {
      Page page;
      decode_operand_pages(page_numbers()[i]);
      if (!picture_.is_stack()) {
        page = decode_page(i, open);
      } else {
        page = made_[i];
      }
      if (!pass_on(0, std::move(page))) return false;
      ++pages_done_;
    } catch (const Error& error) {
      if (!job_.has_pages()) throw;
      throw Error(fmt::format("page {}: ", page_numbers()[i] + 1), error, error.code());
    }
  }
  return finish_parts();
}

bool PagedPicture::finish_parts() {
  bool alike = true;
  for (size_t index = 0; index < reducers_.size(); ++index) {
    check_is_wanted();
    reducers_[index]->finish(
        [&](Page page) { alike = alike && pass_on(index + 1, std::move(page)); });
    if (const auto& [bytes, folder] = reducers_[index]->on_disk(); bytes > 0) {
      result_.notes.push_back(
          fmt::format("its pages waited in {}, {}", folder.string(), memory_text(bytes)));
    }
  }
  return alike;
}

bool PagedPicture::is_identity() const {
  const Plan& plan = part().plan;
  return job_.has_reduction() && plan.steps.empty() && plan.measurements.empty() &&
         plan.checks.empty() && plan.saves.empty();
}

bool PagedPicture::pass_on(size_t index, Page page) {
  part_ = picture_.first_part + static_cast<int>(index);
  metadata_ = page.source->metadata;
  if (as_floats_) metadata_.samples = io::SampleType::of_class;
  for (const io::PageAxis& axis : axes_[index]) {
    const std::string name(1, axis.letter), lost = "where pixels lie along " + name;
    const bool has_step = io::axis_named(metadata_.measured, name) != nullptr;
    if (axis.step == 0 && has_step && std::ranges::find(lost_, lost) == lost_.end()) {
      lost_.push_back(lost);
    }
  }
  // Pages without axes are not evenly spaced along those of the file.
  metadata_.measured = io::measured_along(std::move(metadata_.measured), axes_[index]);
  metadata_.channel_names = io::names_along(metadata_.channel_names, axes_[index]);
  material_.image = std::exchange(page.image, {});
  if (page.table) {
    const auto numbers = std::ssize(*page.table);
    outcome_ = {};
    outcome_.measurements.push_back(
        {.values = numbers,
         .numbers = std::move(*page.table),
         .columns = static_cast<int>(part().plan.measurements.front().objects->columns.size())});
  } else if (is_identity()) {
    outcome_ = {};
    outcome_.image = std::exchange(material_.image, {});
  } else {
    material_.operands = operands_;
    material_.display = display_;
    material_.read = {material_.image.size(), 1};
    compute_image(lane_);
  }
  const int number = page.number > 0 ? page.number : picture_.only_page();
  add_row(picture_.is_one_image(index) ? 0 : number);
  if (!encode_saves(index, page)) return false;
  if (part().then) return reduce(index, std::move(page));
  return encode_page(index, page);
}

bool PagedPicture::reduce(size_t index, Page page) {
  page.image = std::exchange(outcome_, {}).image;
  if (index == reducers_.size()) {
    settings_.stack->add(job_.index, std::move(page));
    return true;
  }
  bool alike = true;
  reducers_[index]->add(std::move(page),
                        [&](Page made) { alike = alike && pass_on(index + 1, std::move(made)); });
  return alike;
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
  const auto index = static_cast<size_t>(part_ - picture_.first_part);
  const bool is_joined = picture_.joined && path == picture_.output;
  const bool is_first = pages.files.empty();
  const bool is_together = !of.apart && job_.has_pages();
  tell_file(path, is_joined || (is_together && !picture_.is_one_image(index)));
  if (is_together && is_first && settings_.decode.metadata) {
    metadata_.pages = axes_[index];
  } else if (is_together) {  // the first one says it of all
    metadata_.measured = io::measured_along(std::move(metadata_.measured), {});
  }
  io::Encoded encoded = encode_image(image, of);
  image = {};
  if (is_together && is_first) {
    pages.axes = io::axes_of_result(metadata_);
    pages.axes.pages = axes_[index];
    if (is_joined) io::name_axes(axes_[index], metadata_.measured, result_.lost);
    // Some pages between them are missing.
    if (axes_[index].empty()) io::name_axes(picture_.pages_before(index).axes, {}, result_.lost);
  }
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

bool PagedPicture::encode_saves(size_t index, const Page& page) {
  const std::vector<const Program*> parts = picture_.parts();
  size_t first = 0, all = 0;  // of the saves
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i < index) first += parts[i]->plan.saves.size();
    all += parts[i]->plan.saves.size();
  }
  encoded_saves_.resize(all);
  const Plan& plan = part().plan;
  const io::ImageInfo& info = page.source->info;
  for (size_t i = 0; i < plan.saves.size(); ++i) {
    HostImage& image = outcome_.saves[i];
    const Picture::Save& save = (*picture_.saves)[first + i];
    if (!job_.may_write(save.file_of(page.which))) continue;
    const PlanImage of{plan.saves[i].value, info, image.size(),
                       io::output_type(&info, image.type, save.format, settings_.cls), save.apart};
    if (!encode_page_of(std::move(image), of, encoded_saves_[first + i],
                        save.file_of(page.which))) {
      return false;
    }
  }
  return true;
}

bool PagedPicture::encode_page(size_t index, const Page& page) {
  const Plan& plan = part().plan;
  const bool is_apart = picture_.pages && !picture_.pages->outputs.empty();
  const std::string& path = is_apart ? picture_.pages->outputs[page.which] : picture_.output;
  if (path.empty() || !job_.may_write(path)) return true;
  if (plan.writes_image) {
    const HostImage& image = outcome_.image;
    const io::ImageInfo& info = page.source->info;
    const PlanImage of{
        plan.result, info, image.size(),
        io::output_type(&info, image.type, io::Format(picture_.output_format), settings_.cls),
        job_.is_apart() && !picture_.is_one_image(index)};
    return encode_page_of(std::exchange(outcome_, {}).image, of, encoded_, path);
  }
  io::Bytes bytes = encode_measured(path);
  outcome_ = {};
  if (is_apart) {
    write(path, std::move(bytes));
  } else {
    encoded_.files.push_back(std::move(bytes));
  }
  return true;
}

void PagedPicture::write_pages(const std::filesystem::path& path, io::Format format,
                               EncodedPages pages, bool is_of_pages, bool is_image) {
  if (pages.files.empty()) return;
  result_.common = std::move(pages.common);
  result_.head = pages.head;
  if (picture_.joined && path != "-" && path == picture_.output && pages.files.size() > 1) {
    result_.pages = std::move(pages.files);
    result_.axes = std::move(pages.axes);
    return;
  }
  const bool is_one = !is_of_pages && pages.files.size() == 1;
  const bool is_whole = io::writes_stream(format) || is_one;
  write(path, is_whole ? std::move(pages.files.front())
                       : joined(format, pages.files, is_image, pages.axes));
}

void PagedPicture::encode() {
  // A run that was stopped has not made all of them.
  if (pages_done_ < page_numbers().size()) return;
  const std::vector<const Program*> parts = picture_.parts();
  size_t number = 0;
  for (size_t index = 0; index < parts.size(); ++index) {
    const bool is_of_pages = job_.has_pages() && !picture_.is_one_image(index);
    for (size_t i = 0; i < parts[index]->plan.saves.size(); ++i, ++number) {
      if (number >= encoded_saves_.size()) return;
      const Picture::Save& save = (*picture_.saves)[number];
      write_pages(save.files.front(), save.format, std::exchange(encoded_saves_[number], {}),
                  is_of_pages);
    }
  }
  const bool is_of_pages = job_.has_pages() && !picture_.has_one_result();
  write_pages(picture_.output, picture_.output_format, std::exchange(encoded_, {}), is_of_pages,
              parts.back()->plan.writes_image);
}

}  // namespace impipe::engine
