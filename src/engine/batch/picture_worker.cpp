// What all ways of working on a picture share: computing of an image, its report and its file.
#include "engine/batch/picture_worker.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/kept_bytes.hpp"
#include "core/object_table.hpp"
#include "core/primitive_facts.hpp"
#include "core/volume.hpp"
#include "engine/batch/object_text.hpp"
#include "engine/batch/pixel_hash.hpp"
#include "engine/device/settled_program.hpp"
#include "engine/program/picture_parts.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/read_picture.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/exr/exr_parts.hpp"
#include "io/formats/fits/fits_cards.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/formats/zarr/zarr_format.hpp"
#include "io/metadata/colours.hpp"
#include "io/metadata/exif.hpp"
#include "io/picture/orient.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/pixel_places.hpp"

namespace impipe::engine {
namespace {

// What a device's clock is wrong by at least, seconds to add: its work lies between `begin` and
// now.
double clock_error(const std::vector<Activity>& activity, double begin) {
  if (activity.empty()) return 0;
  double first = activity.front().begin, last = activity.front().end;
  for (const Activity& a : activity) {
    first = std::min(first, a.begin);
    last = std::max(last, a.end);
  }
  return std::min(0.0, steady_seconds() - last) + std::max(0.0, begin - first);
}

// Whether whatever moves the picture moves what it is a part of with it: imtranslate and others
// move it within that.
bool moves_canvas_along(const pipeline::Pipeline& pipeline) {
  constexpr std::string_view names[] = {"imcrop", "impad",  "padarray",  "imresize",
                                        "fliplr", "flipud", "transpose", "rot90"};
  return std::ranges::all_of(pipeline.stages, [&](const auto& stage) {
    return !stage.call || stage.call->op().category != "geometry" ||
           std::ranges::find(names, stage.call->op().name) != std::end(names);
  });
}

// What the last stage has measured; of several measurements the values one behind the other.
Measurement last_measurement(const Plan& plan, const Outcome& outcome) {
  const std::vector<PlanMeasurement>& all = plan.measurements;
  std::size_t first = all.size() - 1;
  while (first > 0 && all[first - 1].stage == all.back().stage) --first;
  Measurement out = outcome.measurements.back();
  if (first + 1 == all.size()) return out;
  const std::span parts = std::span(outcome.measurements).subspan(first);
  out.values = 0;
  out.numbers.clear();
  for (const Measurement& part : parts) out.values += part.values;
  for (int c = 0; c < out.channels; ++c) {
    for (const Measurement& part : parts) {
      const auto begin = part.numbers.begin() + c * part.values;
      out.numbers.insert(out.numbers.end(), begin, begin + part.values);
    }
  }
  return out;
}

}  // namespace

io::Bytes PictureWorker::read_file(io::FileStamp& stamp) {
  if (!picture_.content) return io::read_picture(picture_.path, stamp);
  io::Bytes bytes = std::move(*picture_.content);
  picture_.content.reset();
  return bytes;
}

void PictureWorker::decode_operands(const io::FileStamp& stamp) {
  stamps_ = settings_.pipeline_stamps;
  for (size_t i = 0; i < settings_.operands.size(); ++i) {
    if (is_by_page(i)) {
      stamps_.push_back(read_by_page(i));
      continue;
    }
    Operand::Decoded read =
        settings_.operands[i]->decode(picture_.partners->paths[i], settings_.decode);
    stamps_.push_back(read.stamp);
    take_operand(i, std::move(read));
  }
  if (!picture_.is_stdin) stamps_.push_back(stamp);
}

bool PictureWorker::is_by_page(size_t operand) const {
  return picture_.pages && picture_.partners->infos[operand]->pages == picture_.info->pages;
}

io::FileStamp PictureWorker::read_by_page(size_t operand) {
  io::FileStamp stamp;
  io::DecodeOptions options = settings_.decode;
  options.page = picture_.pages->numbers.front();
  const std::filesystem::path& path = picture_.partners->paths[operand];
  const io::Bytes file = io::read_picture(path, stamp);
  take_operand(operand, settings_.operands[operand]->decode_page(path, file, options));
  return stamp;
}

void PictureWorker::take_operand(size_t operand, Operand::Decoded read) {
  const std::string& name = settings_.operands[operand]->name();
  const std::string origin = "--with " + name + ": " + picture_.partners->paths[operand].string();
  job_.check_inexact(read.inexact, origin + ": ");
  if (read.inexact.count > 0) add_note(origin + ": " + read.inexact.text());
  picture_.partners->types[name] = read.image.type;
  material_.operands[name] = std::move(read.image);
}

void PictureWorker::take(io::Decoded decoded) {
  material_.image = std::move(decoded.image);
  material_.coded = std::move(decoded.coded);
  material_.packed = std::move(decoded.packed);
  material_.display = decoded.info.display;
  material_.read = {decoded.info.size(), decoded.info.shrink};
  result_.shrink = decoded.info.shrink;
  metadata_ = std::move(decoded.metadata);
  job_.check_inexact(*decoded.info.inexact);
  result_.inexact.add(*decoded.info.inexact);
  for (std::string& one : decoded.lost) {
    if (std::ranges::find(lost_, one) == lost_.end()) lost_.push_back(std::move(one));
  }
}

std::shared_ptr<const Program> PictureWorker::program_on(Session& session, Queue& queue,
                                                         const Material& material) {
  // What was decoded decides, should a file have changed since its header was read.
  const ImageType first =
      part_ == 0 ? material.image.type : part_of(*picture_.program, 0).plan.values[0].type;
  return program_for(session, queue, {part_, first, picture_.partner_types()}, material,
                     execute_options(session));
}

void PictureWorker::compute_on(Session& session, Queue& queue, Material material) {
  const ExecuteOptions options = execute_options(session);
  take_program(program_on(session, queue, material));
  outcome_ = execute_in_parts(part(), std::move(material), queue, options);
}

ExecuteOptions PictureWorker::execute_options(Session& session) const {
  return {.timed = settings_.timeline != nullptr,
          .kernels_first = !session.device().is_gpu,
          .stop = job_.stop(),
          .one_nan = session.one_nan(part())};
}

void PictureWorker::compute_image(int lane) {
  const double begin = steady_seconds();
  const Lanes::Turn turn = settings_.lanes->take();
  computed({compute_material(turn), lane, begin});
}

std::optional<size_t> PictureWorker::compute_material(const Lanes::Turn& turn) {
  if (turn.session.device().id == "cpu") {
    compute_on(turn.session, turn.queue, std::move(material_));
    return turn.device;
  }
  try {
    compute_on(turn.session, turn.queue, material_);
    return turn.device;
  } catch (const OutOfDeviceMemory& error) {
    Session& cpu = turn.session.on_cpu(error);
    decode_for_cpu();
    compute_on(cpu, *cpu.make_queue(), std::move(material_));
    return {};
  }
}

void PictureWorker::computed(const ComputedAt& turn) {
  material_ = {};
  if (settings_.timeline != nullptr) {
    settings_.lanes->add(turn.device);
    tell_times(turn, settings_.step_times.add(part(), settings_.stage_texts, outcome_));
  }
}

void PictureWorker::tell_times(const ComputedAt& turn, const StepTimes::Places& steps) const {
  using Kind = Slice::Kind;
  std::vector<Slice> slices;
  const auto device = static_cast<std::int16_t>(turn.device.value_or(settings_.lanes->count()));
  const std::int64_t file = job_.index;
  const double shift = clock_error(outcome_.activity, turn.begin);
  for (const Activity& a : outcome_.activity) {
    constexpr Kind kinds[] = {Kind::upload, Kind::kernel, Kind::download, Kind::compile};
    slices.push_back({kinds[static_cast<int>(a.kind)], device, turn.lane, steps.of(a.tag), file,
                      a.begin + shift, a.end + shift});
  }
  for (const Activity& a : outcome_.kernel_waits) {
    slices.push_back({Kind::kernel_wait, -1, turn.lane, -1, file, a.begin, a.end});
  }
  if (slices.empty()) return;
  std::ranges::sort(slices, [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
  // What is left is the host's part.
  double done = turn.begin;
  slices.push_back({.begin = steady_seconds(), .end = 0});  // the end
  for (const Slice& slice : slices) {
    if (slice.begin > done) {
      settings_.timeline->add({Kind::host, -1, turn.lane, -1, file, done, slice.begin});
    }
    done = std::max(done, slice.end);
    if (slice.end > slice.begin) settings_.timeline->add(slice);
  }
}

void PictureWorker::add_row(int page) {
  const Plan& plan = part().plan;
  const bool is_last = !part().then;
  if (!is_last && plan.measurements.empty()) return;
  std::vector<FileReport::Row> kinds = kinds_of_rows(plan, picture_);
  const std::string hash =
      settings_.hash && plan.writes_image && is_last ? pixel_hash(outcome_.image) : "";
  for (FileReport::Row& kind : kinds) {
    kind.page = page;
    kind.values = outcome_.columns;
    kind.hash = hash;
  }
  auto arrays = std::exchange(kinds.front().arrays, {});
  for (FileReport::Row& kind : kinds) kind.arrays.clear();
  const std::size_t first = result_.rows.size();
  auto kind = kinds.begin();
  for (std::size_t i = 0; i < plan.measurements.size(); ++i) {
    std::vector<double>& numbers = outcome_.measurements[i].numbers;
    if (is_written_outline(plan.measurements[i], plan, picture_)) continue;
    if (plan.measurements[i].objects) {
      if (!numbers.empty()) result_.rows.emplace_back(*kind).objects = numbers;
      ++kind;
      continue;
    }
    const auto array = std::ranges::find_if(
        arrays, [&](const auto& one) { return one.name == plan.measurements[i].name; });
    if (array != arrays.end()) array->numbers = std::move(numbers);
  }
  if (result_.rows.size() == first) {  // no table, or no object in any
    kinds.front().table.clear();
    result_.rows.push_back(std::move(kinds.front()));
  }
  result_.rows[first].arrays = std::move(arrays);
}

// values x channels, as MATLAB has a column a channel; one dimension for one channel. A matrix is
// rows x columns (x channels).
io::Bytes PictureWorker::encode_measured(const std::filesystem::path& path) const {
  const Plan& plan = part().plan;
  if (const auto format = table_format(path)) {
    const PlanMeasurement* table = last_table(plan);
    return io::bytes_of_text(table_text(
        columns_of(*table->objects),
        outcome_.measurements[static_cast<size_t>(table - plan.measurements.data())].numbers,
        *format));
  }
  const Measurement m = last_measurement(plan, outcome_);
  std::vector<std::int64_t> shape{m.values};
  if (m.columns > 1) shape = {m.values / m.columns, m.columns};
  if (m.channels == 1) return io::encode_npy(m.numbers, shape);
  shape.push_back(m.channels);
  std::vector<double> rows;
  rows.reserve(m.numbers.size());
  for (std::int64_t v = 0; v < m.values; ++v) {
    for (int c = 0; c < m.channels; ++c) {
      rows.push_back(m.numbers[static_cast<size_t>(c * m.values + v)]);
    }
  }
  return io::encode_npy(rows, shape);
}

bool is_pooled(const Picture& picture, const PictureResult& result) {
  return result.encoded_on_device || picture.output_format == io::Format::npy ||
         picture.output_format == io::Format::y4m;
}

void PictureWorker::write(const std::filesystem::path& path, io::Bytes bytes) {
  job_.check_time();
  if (path == "-" || (picture_.joined && path == picture_.output)) {
    result_.bytes = std::move(bytes);  // told in the order of the inputs
    return;
  }
  if (settings_.dry_run) {
  } else if (settings_.in_place && path == picture_.output && !picture_.missing_frame) {
    io::replace_file(path, bytes, settings_.disks.get());
  } else {
    io::write_picture(path, bytes, io::made_note(settings_.maker, stamps_), settings_.disks.get());
  }
  if (path == picture_.output && is_pooled(picture_, result_)) keep_bytes(std::move(bytes));
}

void PictureWorker::tell_losses(const io::Encoded& encoded) {
  std::vector<std::string>& lost = result_.lost;
  for (const std::vector<std::string>* some : {&std::as_const(lost_), &encoded.lost}) {
    for (const std::string& one : *some) {
      if (std::ranges::find(lost, one) == lost.end()) lost.push_back(one);
    }
  }
  job_.check_losses(lost, encoded.alpha_dropped);
}

io::Encoded PictureWorker::noted(io::Encoded encoded) {
  result_.clipped += encoded.clipped;
  tell_losses(encoded);
  if (encoded.widened != io::SampleType::of_class) result_.widened = encoded.widened;
  return encoded;
}

// Of an image whose pixels are stretched over another size.
static AffinePlace resized_place(Size from, Size to) {
  const double across = static_cast<double>(from.width) / static_cast<double>(to.width);
  const double down = static_cast<double>(from.height) / static_cast<double>(to.height);
  return {across, 0, (across - 1) / 2, 0, down, (down - 1) / 2};
}

PixelChange PictureWorker::change_of(const io::ImageInfo& input, ValueId value, Size size,
                                     bool apart) const {
  const pipeline::Pipeline& pipeline = settings_.lanes->pipeline();
  PixelChange change{.before = input.stored, .type_before = input.type, .after = size};
  change.place = AffinePlace{};
  Size before = input.size();
  PageList pages = picture_.all_pages();
  for (int index = 0; index <= part_; ++index) {
    const Plan& lowered = part_of(*picture_.program, index).lowered;
    const std::vector<Size> sizes = pipeline::planned_sizes(
        pipeline, lowered, before, picture_.partner_sizes(), settings_.decode.max_pixels);
    const ValueId made = index == part_ ? value : lowered.result;
    const auto place = pipeline::pixel_places(pipeline, lowered, sizes)[static_cast<size_t>(made)];
    change.place =
        change.place && place ? std::optional(composed(*change.place, *place)) : std::nullopt;
    before = sizes[static_cast<size_t>(lowered.result)];
    const auto& then = part_of(*picture_.program, index).then;
    if (index == part_ || !then) continue;
    if (const VolumeOperation* volume = then->reduction.volume.get()) {
      const Size after = volume->size(before, std::ssize(pages.numbers));
      if (!volume->stretches()) change.place.reset();
      if (change.place && after != before) {
        change.place = composed(*change.place, resized_place(before, after));
      }
      before = after;
    }
    pages = pages_after(then->reduction, pages);
  }
  if (change.place) {
    change.place = composed(io::oriented_place(input.orientation, input.size()), *change.place);
  }
  // An EXR and a DPX say where the picture lies on a canvas, which such operators do not move.
  const bool has_canvas = metadata_.exr || metadata_.dpx;
  if (has_canvas && change.moved() && !moves_canvas_along(pipeline)) change.place.reset();
  change.read_turned = input.orientation >= 5;
  change.values = value != 0 || part_ > 0;
  // A file of one picture has it wherever it is written.
  change.pages =
      input.pages > 1 &&
      (!job_.has_pages() || apart ||
       std::ssize(picture_.pages_before(picture_.parts().size() - 1).numbers) != input.pages);
  return change;
}

void PictureWorker::tell_change(const io::ImageInfo& input, ValueId value, Size size, bool apart) {
  const bool other_colours = follow_profile(part().plan.values[value].type);
  if (settings_.lanes->pipeline().has_source()) return;
  metadata_.change = change_of(input, value, size, apart);
  metadata_.change.colours = other_colours;
}

bool PictureWorker::follow_profile(const ImageType& result) {
  if (!settings_.decode.profile) return false;
  const bool has_colours = result.cls != PixelClass::logical && result.white != 0;
  if (!settings_.decode.metadata) {
    if (!result.profile || result.profile->is_srgb || !has_colours) return false;
    add_note(
        fmt::format("its colours are those of {}'{}', which --strip leaves out: "
                    "they will be shown as others; `icc to=srgb` converts them",
                    result.profile->bytes.empty() ? "" : "the ICC profile ", result.profile->name));
    return false;
  }
  if (result.profile == io::profile_of(metadata_)) return false;
  metadata_.icc = result.profile ? result.profile->bytes : io::Bytes();
  metadata_.cicp = {};
  metadata_.icc_name = "icc";
  return true;
}

void PictureWorker::take_program(std::shared_ptr<const Program> program) {
  if (settings_.lanes->pipeline().reads_profile()) {
    const std::vector<std::string>& planned = part().plan.notes;
    for (const std::string& note : part_of(*program, part_).plan.notes) {
      if (std::ranges::find(planned, note) == planned.end()) add_note(note);
    }
  }
  picture_.program = std::move(program);
}

void PictureWorker::add_note(std::string note) {
  if (std::ranges::find(result_.notes, note) == result_.notes.end()) {
    result_.notes.push_back(std::move(note));
  }
}

void PictureWorker::tell_file(const std::filesystem::path& path, bool is_page) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  metadata_.wants_ome = name.ends_with(".ome.tif") || name.ends_with(".ome.tiff");
  metadata_.is_page = is_page;
  if (!picture_.joined || path != picture_.output || picture_.output_format != io::Format::tiff) {
    return;
  }
  // Pages of several files become pages of one byte order, that of the first if all have 8 bits.
  metadata_.big_endian = false;
  if (bytes_of(picture_.output_class) == 1) return;
  std::vector<std::string> lost;
  metadata_.exif =
      io::bytes_of_text(io::exif_in_order(std::string(io::text_of(metadata_.exif)), false, lost));
  for (std::string& one : lost) {
    if (std::ranges::find(lost_, one) == lost_.end()) lost_.push_back(std::move(one));
  }
}

void PictureWorker::tell_parts(bool apart) {
  if (!metadata_.exr || !picture_.pages) return;
  std::vector<std::string> names;
  for (const int part : picture_.pages->others) {
    names.push_back(picture_.info->page_names[static_cast<size_t>(part)]);
  }
  if (apart && !names.empty()) {
    const std::string lost = fmt::format("parts ({})", fmt::join(names, ", "));
    if (std::ranges::find(lost_, lost) == lost_.end()) lost_.push_back(lost);
    names.clear();
  }
  metadata_.exr->other_parts = std::move(names);
}

io::Encoded PictureWorker::encode_image(const HostImage& image, const PlanImage& of) {
  tell_parts(of.apart);
  tell_change(of.input, of.value, of.size, of.apart);
  return noted(io::encode(image, metadata_, of.type.format, of.type.cls, settings_.encode));
}

io::Bytes PictureWorker::with_parts(io::Format format, io::Bytes bytes, bool apart) {
  if (format != io::Format::exr || !job_.has_other_parts() || apart) return bytes;
  return joined(format, std::vector<io::Bytes>{std::move(bytes)}, true, {});
}

io::Bytes PictureWorker::joined_zarr(std::span<const io::Bytes> pages, const io::FileAxes& file) {
  if (!file.pages.empty()) return io::join_zarr_pages(pages, file, result_.lost);
  // Pages between which some of the file are missing.
  std::vector<io::PageAxis> axes = picture_.all_pages().axes;
  if (axes.empty()) return io::join_zarr_pages(pages, {}, result_.lost);
  axes.resize(axes.size() == 1 ? 1 : 0);
  for (io::PageAxis& axis : axes) axis.count = static_cast<int>(pages.size());
  result_.notes.push_back(
      fmt::format("its {} pages are not those of the file: they lie along {}, and the Zarr does "
                  "not say where (scale and translation of pages)",
                  pages.size(), axes.empty() ? 'z' : axes.front().letter));
  return io::join_zarr_pages(pages, {.pages = axes}, result_.lost);
}

io::Bytes PictureWorker::joined_npy(std::span<const io::Bytes> pages,
                                    const io::FileAxes& file) const {
  io::NpyAxes axes;
  if (metadata_.npy) axes = *metadata_.npy;
  for (const io::PageAxis& axis : metadata_.npy ? picture_.all_pages().axes : file.pages) {
    const auto found = std::ranges::find(file.pages, axis.letter, &io::PageAxis::letter);
    if (!metadata_.npy && axis.count == 1) continue;
    if (!metadata_.npy) {
      // C would be the channels of a pixel.
      axes.letters += axis.letter == 'c' ? 'P' : static_cast<char>(axis.letter - 'a' + 'A');
      axes.shape.push_back(axis.count);
    } else if (found == file.pages.end() && !file.pages.empty()) {
      axes = io::without(axis, std::move(axes));
    } else if (const size_t at = axes.letters.find(static_cast<char>(axis.letter - 'a' + 'A'));
               found != file.pages.end() && at != axes.letters.npos) {
      axes.shape[at] = found->count;
    }
  }
  if (axes.letters.empty()) return io::join_npy_pages(pages, nullptr);
  if (!metadata_.npy) {
    axes.letters += "YXC";
    axes.shape.resize(axes.letters.size(), 1);
  }
  return io::join_npy_pages(pages, &axes);
}

io::Bytes PictureWorker::joined(io::Format format, std::span<const io::Bytes> pages, bool is_image,
                                const io::FileAxes& file) {
  if (format == io::Format::tiff) {
    if (settings_.encode.tiff_storage >= io::TiffStorage::pyramid) {
      io::fail("--tiff pyramid and cog make a file of one picture, and this has ", pages.size(),
               " pages; -o '{stem}_{page}.tif' names each");
    }
    io::FileAxes said = file;
    if (!settings_.decode.metadata) said.pages.clear();
    io::Bytes joined = io::join_tiff_pages(pages, said, result_.lost);
    job_.check_losses(result_.lost, false);
    return joined;
  }
  if (format == io::Format::fits) {
    io::Bytes joined = io::join_fits_pages(pages, file, result_.lost);
    job_.check_losses(result_.lost, false);
    return joined;
  }
  if (format == io::Format::zarr) {
    io::Bytes joined = joined_zarr(pages, file);
    job_.check_losses(result_.lost, false);
    return joined;
  }
  if (format == io::Format::npy) {
    return is_image ? joined_npy(pages, file) : io::join_npy_pages(pages, nullptr);
  }
  // The parts of an EXR in their order.
  const Picture::Pages& of = *picture_.pages;
  std::vector<int> numbers = of.numbers;
  if (job_.has_other_parts()) numbers.insert(numbers.end(), of.others.begin(), of.others.end());
  if (job_.has_other_parts()) std::ranges::sort(numbers);
  std::vector<io::ExrPartSource> parts;
  for (const int number : numbers) {
    const auto page = std::ranges::find(of.numbers, number);
    if (page == of.numbers.end()) {
      parts.push_back({file_, number, "", settings_.decode.metadata});
    } else {
      parts.push_back({pages[static_cast<size_t>(page - of.numbers.begin())], 0,
                       fmt::format("page {}", number + 1)});
    }
  }
  return io::join_exr_parts(parts);
}

void PictureWorker::forget_results() {
  result_.rows.clear();
  result_.clipped = 0;
  result_.inexact = {};
}

}  // namespace impipe::engine
