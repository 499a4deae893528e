// Decodes, computes and encodes one picture.
#include "engine/batch/picture.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/interleave.hpp"
#include "core/kept_bytes.hpp"
#include "core/object_table.hpp"
#include "core/primitive_facts.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/batch/object_text.hpp"
#include "engine/batch/pixel_hash.hpp"
#include "io/codec.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/read_picture.hpp"
#include "io/formats/exr/exr_layout.hpp"
#include "io/formats/exr/exr_parts.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/jpeg_encoding.hpp"
#include "io/picture/orient.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/pixel_places.hpp"

namespace impipe::engine {
namespace {

// What rows of a GPU's planes start at multiples of, in bytes.
constexpr std::int64_t device_row_alignment = 128;

// What lies between a JPEG's data and its pixels on a device, and between the result's pixels and
// its data.
constexpr double coded_bytes_a_pixel = 16;
// How many copies there are of metadata at most, while they are put into a file.
constexpr double metadata_copies = 6;

constexpr double giga = 1 << 30;

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

HostImage black_image(const io::ImageInfo& info) {
  HostImage image(info.type, info.size());
  const auto blacken = [](Plane& plane) {
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      std::memset(plane.row(y), 0, static_cast<size_t>(plane.row_bytes()));
    }
  };
  for (Plane& plane : image.planes) blacken(plane);
  blacken(image.alpha);
  return image;
}

// Whether whatever moves the picture moves what it is a part of with it: imtranslate and others
// move it within that.
bool moves_canvas_along(const pipeline::Pipeline& pipeline) {
  constexpr std::string_view names[] = {"imcrop", "impad",  "padarray",  "imresize",
                                        "fliplr", "flipud", "transpose", "rot90"};
  return std::all_of(pipeline.stages.begin(), pipeline.stages.end(), [&](const auto& stage) {
    return !stage.call || stage.call->op().category != "geometry" ||
           std::find(std::begin(names), std::end(names), stage.call->op().name) != std::end(names);
  });
}

}  // namespace

std::vector<FileReport::Row> kinds_of_rows(const Plan& plan, const Picture& picture) {
  FileReport::Row row;
  std::vector<const PlanMeasurement*> tables;
  const PlanMeasurement* saved = nullptr;
  if (!plan.writes_image && !plan.measurements.empty()) saved = &plan.measurements.back();
  const bool takes_table = table_format(std::filesystem::path(picture.output)).has_value();
  for (const PlanColumn& column : plan.columns) row.columns.push_back(column.name);
  for (const PlanMeasurement& measurement : plan.measurements) {
    if (measurement.objects) tables.push_back(&measurement);
    if (measurement.objects || measurement.in_columns) continue;
    const bool is_saved = &measurement == saved && !takes_table;
    if (is_saved && !picture.output.empty()) continue;
    const PlanValue& value = plan.values[measurement.value];
    row.arrays.push_back(
        {measurement.name, value.channels, value.values, measurement.matrix_columns, is_saved, {}});
  }
  if (tables.empty()) return {row};
  std::vector<FileReport::Row> rows;
  for (const PlanMeasurement* table : tables) {
    rows.push_back(row);
    if (tables.size() > 1) rows.back().table = table->name;
    for (std::string& name : object_columns(table->objects->intensities.has_value())) {
      rows.back().columns.push_back(std::move(name));
    }
  }
  return rows;
}

const Picture::Failure Picture::out_of_memory{"decode", "out of memory"};

std::string Picture::Stream::Name::of(int frame) const {
  io::NameFields of_frame = fields;
  of_frame.page = frame;
  return name.expand(of_frame);
}

const std::map<std::string, ImageType>& Picture::partner_types() const {
  static const std::map<std::string, ImageType> none;
  return partners ? partners->types : none;
}

const std::map<std::string, Size>& Picture::partner_sizes() const {
  static const std::map<std::string, Size> none;
  return partners ? partners->sizes : none;
}

bool PictureWork::may_write(const std::filesystem::path& path) const {
  if (path == "-") return true;
  std::error_code error;
  if (settings_.no_clobber && std::filesystem::exists(path, error)) return false;
  if (!settings_.update || picture_.is_new) return true;
  return !io::is_up_to_date(path, sources(), settings_.maker);
}

std::vector<std::filesystem::path> PictureWork::sources() const {
  std::vector<std::filesystem::path> sources = settings_.pipeline_files;
  if (picture_.partners) {
    const auto& paths = picture_.partners->paths;
    sources.insert(sources.end(), paths.begin(), paths.end());
  }
  if (!picture_.is_stdin) sources.emplace_back(picture_.path);
  return sources;
}

bool PictureWork::is_wanted() const {
  const bool apart = picture_.pages && !picture_.pages->outputs.empty();
  if (apart && may_write_any(picture_.pages->outputs)) return true;
  if (!apart && (picture_.output.empty() || may_write(picture_.output))) return true;
  return picture_.saves &&
         std::any_of(picture_.saves->begin(), picture_.saves->end(),
                     [&](const Picture::Save& save) { return may_write_any(save.files); });
}

void PictureWork::check_results(const std::vector<Size>& sizes) const {
  const Plan& plan = picture_.program->plan;
  const io::ImageInfo& info = *picture_.info;
  const auto check = [&](ValueId id, bool alpha, const io::OutputType& output) {
    const ImageType& type = plan.values[id].type;
    const bool named = output.format == io::Format::exr && info.format == io::Format::exr &&
                       type.channels == info.type.channels;
    io::check_encodable(type, sizes[static_cast<size_t>(id)], named, output.format, output.cls,
                        settings_.encode);
    if (alpha && !io::traits(output.format).alpha) check_losses({"alpha"}, true);
  };
  try {
    for (size_t i = 0; picture_.saves && i < plan.saves.size(); ++i) {
      const PlanSave& save = plan.saves[i];
      const Picture::Save& to = (*picture_.saves)[i];
      if (!may_write_any(to.files)) continue;
      check(save.value, save.alpha.has_value(),
            io::output_type(&info, plan.values[save.value].type, to.format, settings_.cls));
    }
    if (picture_.output.empty() || !plan.writes_image) return;
    check(plan.result, plan.result_alpha.has_value(),
          {picture_.output_format, picture_.output_class});
  } catch (const Error& error) {
    throw PartError(Part::encode, error);
  }
}

PictureWork::Needs PictureWork::needs() {
  std::vector<Size> sizes = pipeline::planned_sizes(
      settings_.lanes->pipeline(), picture_.program->lowered, picture_.info->size(),
      picture_.partner_sizes(), settings_.decode.max_pixels);
  check_results(sizes);
  sizes[0] = io::shrunk(sizes[0], shrink_of(*picture_.info));
  const bool on_cpu = settings_.lanes->first().device().id == "cpu";
  ImageBytes bytes = image_bytes(*picture_.program, sizes, on_cpu ? 0 : device_row_alignment);
  const bool coded = picture_.info->format == io::Format::jpeg && keeps_coded();
  const double on_device =
      bytes.on_device + (coded ? coded_bytes_a_pixel * static_cast<double>(sizes[0].pixels()) : 0);
  coded_fits_ = on_device <= settings_.max_memory;
  if (coded_fits_) bytes.on_device = on_device;
  std::error_code error;
  const auto file_bytes = picture_.content ? picture_.content->size()
                                           : std::filesystem::file_size(picture_.path, error);
  // What there is at the same time: the file and its image, then the plan's images, among them the
  // decoded one and the result, then the result and its file, which is no larger than its pixels.
  const double file = error ? 0 : static_cast<double>(file_bytes);
  const double decoding = file + (settings_.decode.by_opencv ? 2 : 1) * bytes.input;
  const double computing = (coded && coded_fits_ ? 3 * file : 0) + bytes.on_device + bytes.tables +
                           (on_cpu ? 0 : bytes.input + bytes.result);
  const double written = picture_.info->samples == io::SampleType::of_class
                             ? 1
                             : std::max(1.0, io::bytes_of(picture_.info->samples) / 4.0);
  const double encoding = (picture_.output.empty() ? 1 : 1 + written) * bytes.result;
  // Channels and parts of an EXR that go into the result are in the file, of which a copy is kept;
  // in the result they may be packed worse.
  const io::ImageInfo& info = *picture_.info;
  const double kept = (info.carried > 0 || has_pages() || has_other_parts() ? file : 0);
  // Metadata that are packed in the file; in the result's there are copies of them.
  const double metadata = settings_.decode.metadata ? static_cast<double>(info.metadata_bytes) : 0;
  double most = kept + metadata_copies * metadata +
                std::max({decoding, computing, encoding + info.carried_bytes + kept});
  if (info.type.alpha) most += 4 * static_cast<double>(sizes[0].pixels());
  return {static_cast<std::int64_t>(most), bytes.on_device};
}

std::string PictureWork::why_too_large() {
  if (picture_.failure || !is_wanted()) return "";
  const Needs all = needs();
  const bool fits = all.bytes <= settings_.memory && all.on_device <= settings_.max_memory;
  std::string why_not = fits ? "" : why_not_in_bands();
  if (why_not.empty()) return "";
  constexpr double mebi = 1 << 20;
  return fmt::format("it takes at least {:.0f} MiB as a whole, and --memory allows {:.0f}: {}",
                     static_cast<double>(all.bytes) / mebi,
                     static_cast<double>(settings_.memory) / mebi, why_not);
}

std::optional<std::int64_t> PictureWork::prepare() {
  const FileAtWork at_work(picture_.path.c_str());
  if (picture_.failure) throw Error(picture_.failure->message, ExitCode::file_failed);
  if (!is_wanted()) return std::nullopt;
  const Needs all = needs();
  std::int64_t estimate = all.bytes;
  if (estimate > settings_.memory || all.on_device > settings_.max_memory) {
    const std::string why_not = why_not_in_bands();
    if (why_not.empty()) {
      // More rows than a few hundred MB hold gain nothing.
      estimate = plan_bands(std::min<std::int64_t>(settings_.memory / 2, 384 << 20));
    } else if (all.on_device > settings_.max_memory) {
      throw Error(fmt::format("out of memory: its images take {:.1f} GiB, and there are {:.1f}; {}",
                              all.on_device / giga, settings_.max_memory / giga, why_not),
                  ExitCode::file_failed);
    }
  }
  if (band_rows_ == 0 && prefers_bands(estimate)) estimate = plan_small_bands();
  std::int64_t known = settings_.largest;
  while (known < estimate && !settings_.largest.compare_exchange_weak(known, estimate)) {
  }
  return estimate;
}

void PictureWork::decode() {
  if (band_rows_ > 0) return;
  const FileAtWork at_work(picture_.path.c_str());
  const pipeline::Pipeline& pipeline = settings_.lanes->pipeline();
  io::FileStamp stamp;
  if (pipeline.has_source()) {
    material_.image = pipeline.make_source();
  } else if (picture_.missing_frame) {
    material_.image = black_image(*picture_.info);
    material_.display = picture_.info->display;
  } else {
    io::Bytes bytes =
        picture_.content ? std::move(*picture_.content) : io::read_picture(picture_.path, stamp);
    piped_ = picture_.content != nullptr;
    picture_.content.reset();
    if (has_pages()) {
      file_ = std::move(bytes);
    } else {
      io::DecodeOptions options = settings_.decode;
      if (picture_.pages) options.page = picture_.pages->numbers.front();
      if (settings_.shrink_on_load) {
        options.shrink = [this](const io::ImageInfo& info) { return shrink_of(info); };
      }
      options.keep_coded = keeps_coded();
      take(io::decode(bytes, options));
      if (has_other_parts() || material_.coded) file_ = std::move(bytes);
    }
  }
  stamps_ = settings_.pipeline_stamps;
  for (size_t i = 0; i < settings_.operands.size(); ++i) {
    Operand& operand = *settings_.operands[i];
    Operand::Decoded read = operand.decode(picture_.partners->paths[i], settings_.decode);
    const std::string name =
        "--with " + operand.name() + ": " + picture_.partners->paths[i].string();
    tell_inexact(read.inexact, name + ": ");
    if (read.inexact.count > 0) result_.notes.push_back(name + ": " + read.inexact.text());
    picture_.partners->types[operand.name()] = read.image.type;
    material_.operands[operand.name()] = std::move(read.image);
    stamps_.push_back(read.stamp);
  }
  if (!picture_.is_stdin) stamps_.push_back(stamp);
}

void PictureWork::compute_on(Session& session, Queue& queue, Material material) {
  const auto decoder = material.coded ? session.jpeg_decoder().kernel(stop()) : nullptr;
  // What was decoded decides, should a file have changed since its header was read.
  picture_.program = session.program(material.image.type, picture_.partner_types(),
                                     material.display, material.read.by > 1);
  outcome_ = execute(*picture_.program, std::move(material), queue,
                     [&](const KernelSpec& spec) { return session.kernel(spec); },
                     {.timed = settings_.timeline != nullptr,
                      .kernels_first = !session.device().is_gpu,
                      .stop = stop(),
                      .jpeg_decoder = decoder,
                      .jpeg_encoder = encoder_of(session),
                      .coded_output = [this](size_t, const ImageType& type, Size size) {
                        return io::coded_output(type, size, metadata_, settings_.encode);
                      }});
}

bool PictureWork::encodes_jpeg() const {
  return settings_.jpeg_codec != JpegCodec::cpu && !settings_.hash && !has_pages() &&
         !picture_.output.empty() && picture_.output_format == io::Format::jpeg &&
         picture_.output_class == PixelClass::uint8;
}

std::shared_ptr<const Kernel> PictureWork::encoder_of(Session& session) const {
  if (!encodes_jpeg()) return nullptr;
  switch (settings_.jpeg_codec) {
    case JpegCodec::cpu: return nullptr;
    case JpegCodec::device: return session.jpeg_encoder().kernel(stop());
    case JpegCodec::automatic:
      return session.device().is_gpu ? session.jpeg_encoder().kernel_in_time() : nullptr;
  }
  return nullptr;
}

bool PictureWork::keeps_coded() const {
  if (settings_.jpeg_codec == JpegCodec::cpu || has_pages() || !coded_fits_) return false;
  if (shrink_of(*picture_.info) != 1) return false;
  Session& first = settings_.lanes->first();
  if (encodes_jpeg() && first.device().is_gpu) first.jpeg_encoder().begin();
  if (settings_.jpeg_codec == JpegCodec::device) {
    return first.jpeg_decoder().kernel(stop()) != nullptr;
  }
  return first.device().is_gpu && first.jpeg_decoder().kernel_in_time() != nullptr;
}

void PictureWork::decode_on_host() {
  try {
    material_.image = io::decode(file_, {.max_pixels = settings_.decode.max_pixels,
                                         .metadata = false,
                                         .page = {},
                                         .reading = {}})
                          .image;
  } catch (const Error& error) {
    throw PartError(Part::decode, error);
  }
  material_.coded.reset();
}

int PictureWork::shrink_of(const io::ImageInfo& info) const {
  return settings_.shrink_on_load ? shrink_for(picture_.program->lowered, info) : 1;
}

void PictureWork::take(io::Decoded decoded) {
  material_.image = std::move(decoded.image);
  material_.coded = std::move(decoded.coded);
  material_.display = decoded.info.display;
  material_.read = {decoded.info.size(), decoded.info.shrink};
  result_.shrink = decoded.info.shrink;
  metadata_ = std::move(decoded.metadata);
  if (as_floats_) metadata_.samples = io::SampleType::of_class;
  tell_inexact(*decoded.info.inexact);
  result_.inexact.add(*decoded.info.inexact);
  for (std::string& one : decoded.lost) {
    if (std::find(lost_.begin(), lost_.end(), one) == lost_.end()) lost_.push_back(std::move(one));
  }
}

void PictureWork::compute(int lane) {
  const FileAtWork at_work(picture_.path.c_str());
  if (has_pages()) return compute_pages(lane);
  if (band_rows_ > 0) return compute_bands(lane);
  compute_image(lane);
  add_row(picture_.frame);
}

void PictureWork::compute_pages(int lane) {
  const std::map<std::string, HostImage> operands = material_.operands;
  if (!pages_are_alike(lane, operands)) {
    begin_again_with_floats();
    pages_are_alike(lane, operands);
  }
  if (!has_other_parts()) file_ = {};
}

void PictureWork::begin_again_with_floats() {
  as_floats_ = true;
  encoded_ = {};
  encoded_saves_.clear();
  pages_done_ = 0;
  result_.rows.clear();
  result_.clipped = 0;
  result_.inexact = {};
}

bool PictureWork::pages_are_alike(int lane, const std::map<std::string, HostImage>& operands) {
  io::OpenPages open;  // of file_
  const bool in_one_file = picture_.pages->outputs.empty() && picture_.program->plan.writes_image &&
                           io::writes_pages(picture_.output_format);
  for (size_t i = 0; i < picture_.pages->numbers.size(); ++i) {
    if (is_over()) return true;
    const int page = picture_.pages->numbers[i];
    try {
      io::DecodeOptions options = settings_.decode;
      options.page = page;
      options.open_pages = &open;
      if (in_one_file) options.pages_together = picture_.pages->numbers;
      io::Decoded decoded = io::decode(file_, options);
      const io::ImageInfo info = decoded.info;
      take(std::move(decoded));
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

void PictureWork::tell_inexact(const io::Inexact& inexact, const std::string& of) const {
  if (inexact.count == 0 || (!settings_.in_place && !settings_.strict)) return;
  throw Error((settings_.strict ? "--strict: " : "--in-place: ") + of + inexact.text() +
                  (settings_.strict ? "" : "; give -o"),
              ExitCode::file_failed);
}

void PictureWork::note_widened(const io::Encoded& encoded) {
  if (encoded.widened != io::SampleType::of_class) result_.widened = encoded.widened;
}

void PictureWork::add_row(int page) {
  const Plan& plan = picture_.program->plan;
  std::vector<FileReport::Row> kinds = kinds_of_rows(plan, picture_);
  const std::string hash = settings_.hash && plan.writes_image ? pixel_hash(outcome_.image) : "";
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
    if (plan.measurements[i].objects) {
      add_objects(*kind++, numbers);
      continue;
    }
    const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const auto& one) {
      return one.name == plan.measurements[i].name;
    });
    if (array != arrays.end()) array->numbers = std::move(numbers);
  }
  if (result_.rows.size() == first) {  // no table, or no object in any
    kinds.front().table.clear();
    result_.rows.push_back(std::move(kinds.front()));
  }
  result_.rows[first].arrays = std::move(arrays);
}

// Each object's row begins with the file's other numbers.
void PictureWork::add_objects(const FileReport::Row& kind, std::span<const double> numbers) {
  const std::size_t columns = kind.columns.size() - kind.values.size();
  for (; !numbers.empty(); numbers = numbers.subspan(columns)) {
    std::vector<double>& values = result_.rows.emplace_back(kind).values;
    values.insert(values.end(), numbers.begin(),
                  numbers.begin() + static_cast<std::ptrdiff_t>(columns));
  }
}

void PictureWork::compute_image(int lane) {
  const double begin = steady_seconds();
  if (host_decodes_) decode_on_host();
  const Lanes::Turn turn = settings_.lanes->take();
  result_.decoded_on_device = material_.coded != nullptr;
  std::optional<size_t> device;
  try {
    device = compute_material(turn);
  } catch (const NotDecoded&) {
    decode_on_host();
    result_.decoded_on_device = false;
    device = compute_material(turn);
  }
  computed({device, lane, begin});
}

std::optional<size_t> PictureWork::compute_material(const Lanes::Turn& turn) {
  if (material_.coded && turn.session.jpeg_decoder().kernel(stop()) == nullptr) {
    decode_on_host();
    result_.decoded_on_device = false;
  }
  if (turn.session.device().id == "cpu") {
    compute_on(turn.session, turn.queue, std::move(material_));
    return turn.device;
  }
  try {
    compute_on(turn.session, turn.queue, material_);
    return turn.device;
  } catch (const OutOfDeviceMemory& error) {
    Session& cpu = turn.session.on_cpu(error);
    if (material_.coded) decode_on_host();
    result_.decoded_on_device = false;
    compute_on(cpu, *cpu.make_queue(), std::move(material_));
    return {};
  }
}

void PictureWork::computed(const Turn& turn) {
  material_ = {};
  const bool goes_on = has_other_parts() || has_pages() || band_rows_ > 0;  // to read the file
  if (!goes_on) keep_bytes(std::exchange(file_, {}));
  if (settings_.timeline != nullptr) {
    settings_.lanes->add(turn.device);
    tell_times(turn, settings_.step_times.add(*picture_.program, settings_.stage_texts, outcome_));
  }
}

void PictureWork::tell_times(const Turn& turn, const StepTimes::Places& steps) const {
  using Kind = Slice::Kind;
  std::vector<Slice> slices;
  const auto device = static_cast<std::int16_t>(turn.device.value_or(settings_.lanes->count()));
  const std::int64_t file = index_;
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
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
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

FileWork::Stack PictureWork::stack() const {
  if (has_pages() || band_rows_ > 0 || material_.read.by > 1) return {};
  const Session& session = settings_.lanes->first();
  const auto pixels = static_cast<double>(material_.size().pixels());
  const double bytes = picture_.program->bytes_per_pixel * pixels;
  Stack stack;
  // What goes to the device and comes back is small, and a few do more than the bus and the device
  // can take.
  constexpr int stacks_a_device = 4;
  const bool stays_there = material_.coded && (encodes_jpeg() || !writes_pixels());
  if (stays_there) stack.at_once = stacks_a_device * static_cast<int>(settings_.lanes->count());
  stack.most = material_.coded
                   ? session.max_coded(*picture_.program, bytes + coded_bytes_a_pixel * pixels)
                   : session.max_stacked(*picture_.program, bytes);
  if (stack.most == 1) return stack;
  stack.key = to_string(material_.image.type) + " " + to_string(material_.size());
  if (material_.coded) {
    const JpegForm& form = material_.coded->form;
    stack.key += fmt::format(" coded {}x{}", form.across, form.down);
  }
  // They are encoded together, or none of them is.
  if (encodes_jpeg()) {
    stack.key += io::may_be_coded(metadata_, settings_.encode) ? " to JPEG" : "";
    const auto& storage = metadata_.jpeg;
    if (storage) stack.key += fmt::format(" of {}x{}", storage->across, storage->down);
  }
  if (material_.display && settings_.lanes->pipeline().reads_display()) {
    stack.key += "; display " + to_string(*material_.display);
  }
  for (const auto& [name, image] : material_.operands) {
    stack.key += "; " + to_string(image.type) + " " + to_string(image.size());
  }
  return stack;
}

bool PictureWork::writes_pixels() const {
  const Plan& plan = picture_.program->plan;
  return plan.writes_image || !plan.saves.empty();
}

std::vector<const FileWork*> PictureWork::compute_stack(int lane,
                                                        std::span<FileWork* const> files) {
  const double begin = steady_seconds();
  const Lanes::Turn turn = settings_.lanes->take();
  const auto program =
      turn.session.program(material_.image.type, picture_.partner_types(), material_.display);
  const auto picture = [&](size_t i) { return static_cast<PictureWork*>(files[i]); };
  std::vector<Material> materials;
  for (size_t i = 0; i < files.size(); ++i) materials.push_back(picture(i)->material_);
  const auto decoder = material_.coded ? turn.session.jpeg_decoder().kernel(stop()) : nullptr;
  std::vector<Outcome> outcomes =
      execute_stack(*turn.session.stacked(program), std::move(materials), turn.queue,
                    [&](const KernelSpec& spec) { return turn.session.kernel(spec); },
                    {.timed = settings_.timeline != nullptr,
                     .kernels_first = !turn.session.device().is_gpu,
                     .stop = stop(),
                     .jpeg_decoder = decoder,
                     .jpeg_encoder = encoder_of(turn.session),
                     .coded_output = [&](size_t i, const ImageType& type, Size size) {
                       return io::coded_output(type, size, picture(i)->metadata_, settings_.encode);
                     }});
  std::vector<const FileWork*> left;
  for (size_t i = 0; i < files.size(); ++i) {
    PictureWork& one = *picture(i);
    if (outcomes[i].not_decoded) {
      one.host_decodes_ = true;
      left.push_back(&one);
      continue;
    }
    one.picture_.program = program;
    one.outcome_ = std::move(outcomes[i]);
    one.result_.decoded_on_device = one.material_.coded != nullptr;
    one.computed({turn.device, lane, begin});
    one.add_row(0);
  }
  return left;
}

// What the last stage has measured; of several measurements the values one behind the other.
Measurement PictureWork::last_measurement() const {
  const std::vector<PlanMeasurement>& all = picture_.program->plan.measurements;
  std::size_t first = all.size() - 1;
  while (first > 0 && all[first - 1].stage == all.back().stage) --first;
  Measurement out = outcome_.measurements.back();
  if (first + 1 == all.size()) return out;
  const std::span parts = std::span(outcome_.measurements).subspan(first);
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

// values x channels, as MATLAB has a column a channel; one dimension for one channel. A matrix is
// rows x columns (x channels).
io::Bytes PictureWork::encode_measured(const std::filesystem::path& path) const {
  const Plan& plan = picture_.program->plan;
  if (const auto format = table_format(path)) {
    const PlanMeasurement* table = last_table(plan);
    const std::string text = table_text(
        object_columns(table->objects->intensities.has_value()),
        outcome_.measurements[static_cast<size_t>(table - plan.measurements.data())].numbers,
        *format);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
  }
  const Measurement m = last_measurement();
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

void PictureWork::check_time() const {
  if (is_late()) throw Error("stopped", ExitCode::file_failed);  // the batch says why
}

void PictureWork::write(const std::filesystem::path& path, io::Bytes bytes) {
  check_time();
  if (path == "-" || (picture_.joined && path == picture_.output)) {
    result_.bytes = std::move(bytes);  // told in the order of the inputs
    return;
  }
  if (settings_.dry_run) {
  } else if (settings_.in_place && path == picture_.output && !picture_.missing_frame) {
    io::replace_file(path, bytes, settings_.disks.get());
  } else {
    io::write_file(path, bytes, io::made_note(settings_.maker, stamps_), settings_.disks.get());
  }
  if (result_.encoded_on_device) keep_bytes(std::move(bytes));
}

void PictureWork::tell_losses(const io::Encoded& encoded) {
  std::vector<std::string>& lost = result_.lost;
  for (const std::vector<std::string>* some : {&std::as_const(lost_), &encoded.lost}) {
    for (const std::string& one : *some) {
      if (std::find(lost.begin(), lost.end(), one) == lost.end()) lost.push_back(one);
    }
  }
  check_losses(lost, encoded.alpha_dropped);
}

void PictureWork::check_losses(const std::vector<std::string>& lost, bool alpha) const {
  if (lost.empty() || (!settings_.in_place && !settings_.strict)) return;
  const std::string names = fmt::format("{}", fmt::join(lost, ", "));
  if (settings_.strict) {
    throw Error("--strict: the result would be without " + names, ExitCode::file_failed);
  }
  throw Error("--in-place would lose what the file has beside its picture: " + names + "; give -o" +
                  (alpha ? "" : ", or --strip"),
              ExitCode::file_failed);
}

PixelChange PictureWork::change_of(const io::ImageInfo& input, ValueId value, Size size,
                                   bool apart) const {
  const pipeline::Pipeline& pipeline = settings_.lanes->pipeline();
  const Plan& lowered = picture_.program->lowered;
  const std::vector<Size> sizes = pipeline::planned_sizes(
      pipeline, lowered, input.size(), picture_.partner_sizes(), settings_.decode.max_pixels);
  PixelChange change{.before = input.stored, .type_before = input.type, .after = size};
  change.place = pipeline::pixel_places(pipeline, lowered, sizes)[static_cast<size_t>(value)];
  if (change.place) {
    change.place = composed(io::oriented_place(input.orientation, input.size()), *change.place);
  }
  // An EXR and a DPX say where the picture lies on a canvas, which such operators do not move.
  const bool has_canvas = metadata_.exr || metadata_.dpx;
  if (has_canvas && change.moved() && !moves_canvas_along(pipeline)) change.place.reset();
  change.read_turned = input.orientation >= 5;
  change.values = value != 0;
  // A file of one picture has it wherever it is written.
  change.pages =
      input.pages > 1 &&
      (!has_pages() || apart || static_cast<int>(picture_.pages->numbers.size()) < input.pages);
  return change;
}

void PictureWork::tell_change(const io::ImageInfo& input, ValueId value, Size size, bool apart) {
  if (settings_.lanes->pipeline().has_source()) return;
  metadata_.change = change_of(input, value, size, apart);
}

void PictureWork::tell_parts(bool apart) {
  if (!metadata_.exr || !picture_.pages) return;
  std::vector<std::string> names;
  for (const int part : picture_.pages->others) {
    names.push_back(picture_.info->page_names[static_cast<size_t>(part)]);
  }
  if (apart && !names.empty()) {
    const std::string lost = fmt::format("parts ({})", fmt::join(names, ", "));
    if (std::find(lost_.begin(), lost_.end(), lost) == lost_.end()) lost_.push_back(lost);
    names.clear();
  }
  metadata_.exr->other_parts = std::move(names);
}

io::Encoded PictureWork::encode_image(const HostImage& image, const PlanImage& of) {
  tell_parts(of.apart);
  tell_change(of.input, of.value, of.size, of.apart);
  io::Encoded encoded = io::encode(image, metadata_, of.type.format, of.type.cls, settings_.encode);
  result_.clipped += encoded.clipped;
  tell_losses(encoded);
  note_widened(encoded);
  return encoded;
}

io::Bytes PictureWork::with_parts(io::Format format, io::Bytes bytes, bool apart) const {
  if (format != io::Format::exr || !has_other_parts() || apart) return bytes;
  return joined(format, std::vector<io::Bytes>{std::move(bytes)});
}

io::Bytes PictureWork::joined(io::Format format, std::span<const io::Bytes> pages,
                              bool is_image) const {
  if (format == io::Format::tiff) return io::join_tiff_pages(pages);
  if (format == io::Format::npy) {
    return io::join_npy_pages(pages, is_image ? metadata_.npy.get() : nullptr);
  }
  // The parts of an EXR in their order.
  const Picture::Pages& of = *picture_.pages;
  std::vector<int> numbers = of.numbers;
  if (has_other_parts()) numbers.insert(numbers.end(), of.others.begin(), of.others.end());
  std::sort(numbers.begin(), numbers.end());
  std::vector<io::ExrPartSource> parts;
  for (const int number : numbers) {
    const auto page = std::find(of.numbers.begin(), of.numbers.end(), number);
    if (page == of.numbers.end()) {
      parts.push_back({file_, number, "", settings_.decode.metadata});
    } else {
      parts.push_back({pages[static_cast<size_t>(page - of.numbers.begin())], 0,
                       fmt::format("page {}", number + 1)});
    }
  }
  return io::join_exr_parts(parts);
}

void PictureWork::append_page(io::Encoded encoded, EncodedPages& pages) {
  if (pages.files.empty()) {
    pages.common = std::move(encoded.common);
    pages.head = encoded.head;
    pages.files.push_back(std::move(encoded.bytes));
  } else if (encoded.common != pages.common) {
    throw Error(
        fmt::format("it is {}, and the pages before it are {}", encoded.common, pages.common),
        ExitCode::file_failed);
  } else {
    io::Bytes& all = pages.files.front();
    const auto begin = encoded.bytes.begin() + static_cast<std::ptrdiff_t>(encoded.head);
    all.insert(all.end(), begin, encoded.bytes.end());
  }
}

bool PictureWork::encode_page_of(HostImage image, const PlanImage& of, EncodedPages& pages,
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

bool PictureWork::encode_page(size_t which, const io::ImageInfo& info) {
  const Plan& plan = picture_.program->plan;
  encoded_saves_.resize(plan.saves.size());
  for (size_t i = 0; i < plan.saves.size(); ++i) {
    HostImage& image = outcome_.saves[i];
    const Picture::Save& save = (*picture_.saves)[i];
    if (!may_write(save.file_of(which))) continue;
    const PlanImage of{plan.saves[i].value, info, image.size(),
                       io::output_type(&info, image.type, save.format, settings_.cls), save.apart};
    if (!encode_page_of(std::move(image), of, encoded_saves_[i], save.file_of(which))) {
      return false;
    }
  }
  const std::vector<std::string>& pages = picture_.pages->outputs;
  const std::string& path = pages.empty() ? picture_.output : pages[which];
  if (path.empty() || !may_write(path)) return true;
  if (plan.writes_image) {
    const HostImage& image = outcome_.image;
    const PlanImage of{
        plan.result, info, image.size(),
        io::output_type(&info, image.type, io::Format(picture_.output_format), settings_.cls),
        is_apart()};
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

void PictureWork::write_pages(const std::filesystem::path& path, io::Format format,
                              EncodedPages pages, bool is_image) {
  if (pages.files.empty()) return;
  result_.common = std::move(pages.common);
  result_.head = pages.head;
  write(path, io::writes_stream(format) ? std::move(pages.files.front())
                                        : joined(format, pages.files, is_image));
}

void PictureWork::encode() {
  if (band_rows_ > 0) return;
  const FileAtWork at_work(picture_.path.c_str());
  const Plan& plan = picture_.program->plan;
  if (has_pages()) {
    // A run that was stopped has not made all of them.
    if (pages_done_ < picture_.pages->numbers.size()) return;
    for (size_t i = 0; i < encoded_saves_.size(); ++i) {
      const Picture::Save& save = (*picture_.saves)[i];
      write_pages(save.files.front(), save.format, std::exchange(encoded_saves_[i], {}));
    }
    write_pages(picture_.output, picture_.output_format, std::exchange(encoded_, {}),
                plan.writes_image);
    return;
  }
  // Before an image of `save` is written.
  if (metadata_.exr && plan.writes_image && picture_.output_format == io::Format::exr) {
    const Size size = outcome_.image.size();
    io::check_carried(*metadata_.exr, change_of(*picture_.info, plan.result, size, is_apart()),
                      size);
  }
  for (size_t i = 0; i < outcome_.saves.size(); ++i) {
    const Picture::Save& save = (*picture_.saves)[i];
    const HostImage image = std::move(outcome_.saves[i]);
    if (!may_write(save.files.front())) continue;
    const io::OutputType type =
        io::output_type(picture_.info, image.type, save.format, settings_.cls);
    io::Encoded encoded =
        encode_image(image, {plan.saves[i].value, *picture_.info, image.size(), type, save.apart});
    write(save.files.front(), with_parts(type.format, std::move(encoded.bytes), save.apart));
  }
  if (picture_.output.empty() || !may_write(picture_.output)) return;
  if (!plan.writes_image) return write(picture_.output, encode_measured(picture_.output));
  encode_result();
}

void PictureWork::encode_result() {
  const Plan& plan = picture_.program->plan;
  result_.encoded_on_device = !outcome_.coded.empty();
  const Size size = result_.encoded_on_device ? outcome_.coded_size : outcome_.image.size();
  tell_parts(is_apart());
  tell_change(*picture_.info, plan.result, size, is_apart());
  io::Encoded encoded = result_.encoded_on_device
                            ? io::encode_coded(outcome_.coded, outcome_.image.type,
                                               outcome_.coded_size, metadata_, settings_.encode)
                            : io::encode(outcome_.image, metadata_, picture_.output_format,
                                         picture_.output_class, settings_.encode);
  outcome_.image = {};
  outcome_.coded = {};
  outcome_.coded_plane.reset();
  result_.common = std::move(encoded.common);
  result_.head = encoded.head;
  result_.clipped += encoded.clipped;
  tell_losses(encoded);
  note_widened(encoded);
  write(picture_.output, with_parts(picture_.output_format, std::move(encoded.bytes), is_apart()));
}

void PictureWork::release() {
  material_ = {};
  outcome_ = {};
  metadata_ = {};
  file_ = {};
  encoded_ = {};
}

}  // namespace impipe::engine
