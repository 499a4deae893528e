// What every way of working on a picture has to know of its file, and of what is to be written.
#include "engine/batch/picture_job.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/unpacks.hpp"
#include "core/volume.hpp"
#include "io/files/atomic_file.hpp"
#include "io/picture/value_window.hpp"
#include "pipeline/image_sizes.hpp"

namespace impipe::engine {
namespace {

// What rows of a GPU's planes start at multiples of, in bytes.
constexpr std::int64_t device_row_alignment = 128;

// How many copies there are of metadata at most, while they are put into a file.
constexpr double metadata_copies = 6;

}  // namespace

void PictureJob::check_time() const {
  if (is_late()) throw Error("stopped", ExitCode::file_failed);  // the batch says why
}

bool PictureJob::may_write(const std::filesystem::path& path) const {
  if (path == "-") return true;
  std::error_code error;
  if (settings.no_clobber && std::filesystem::exists(path, error)) return false;
  // What is left of a part is seen when it is written.
  if (!settings.update || picture.is_new || settings.encode.zarr_part) return true;
  return !io::is_up_to_date(path, sources(), settings.maker);
}

std::vector<std::filesystem::path> PictureJob::sources() const {
  std::vector<std::filesystem::path> sources = settings.pipeline_files;
  if (picture.partners) {
    const auto& paths = picture.partners->paths;
    sources.insert(sources.end(), paths.begin(), paths.end());
  }
  if (picture.is_stack()) {
    sources.insert(sources.end(), settings.stack->paths().begin(), settings.stack->paths().end());
  } else if (!picture.is_stdin) {
    sources.emplace_back(picture.path);
  }
  return sources;
}

bool PictureJob::is_wanted() const {
  const bool apart = picture.pages && !picture.pages->outputs.empty();
  if (apart && may_write_any(picture.pages->outputs)) return true;
  if (!apart && (picture.output.empty() || may_write(picture.output))) return true;
  return picture.saves &&
         std::any_of(picture.saves->begin(), picture.saves->end(),
                     [&](const Picture::Save& save) { return may_write_any(save.files); });
}

std::vector<PictureJob::SizedPart> PictureJob::sized_parts() const {
  std::vector<SizedPart> out;
  Size size = picture.info->size();
  PageList pages = picture.all_pages();
  const int last = picture.first_part + static_cast<int>(picture.parts().size()) - 1;
  for (int at = 0; at <= last; ++at) {
    const Program& program = part_of(*picture.program, at);
    SizedPart part{&program,
                   pipeline::planned_sizes(settings.lanes->pipeline(), program.lowered, size,
                                           picture.partner_sizes(), settings.decode.max_pixels)};
    size = part.sizes[static_cast<size_t>(program.plan.result)];
    if (program.then && program.then->reduction.volume) {
      size = program.then->reduction.volume->size(size, std::ssize(pages.numbers));
    }
    if (program.then) pages = pages_after(program.then->reduction, pages);
    if (at >= picture.first_part) out.push_back(std::move(part));
  }
  return out;
}

void PictureJob::check_results(const std::vector<SizedPart>& parts) const {
  const io::ImageInfo& info = *picture.info;
  const auto check = [&](const SizedPart& part, ValueId id, bool alpha,
                         const io::OutputType& output) {
    const ImageType& type = part.program->plan.values[id].type;
    const bool is_shown = type.white != 0 || output.cls == PixelClass::single ||
                          io::traits(output.format).can[io::Can::numbers];
    if (!is_shown && io::takes_window(info.format) && !settings.encode.asked) {
      io::fail("it has numbers, and ", io::name_of(output.format),
               " holds pictures: --window file makes them by the file's own window, --window C,W "
               "by another, `mat2gray` by their range; .npy and .tif hold numbers");
    }
    const bool named = output.format == io::Format::exr && info.format == io::Format::exr &&
                       type.channels == info.type.channels;
    io::check_encodable(type, part.sizes[static_cast<size_t>(id)], named, output.format, output.cls,
                        settings.encode);
    const bool has_source = settings.lanes->pipeline().has_source();
    const PixelClass wanted =
        io::output_type(has_source ? nullptr : &info, type, output.format, settings.cls).wanted;
    if (settings.encode.lossless && output.cls < wanted) {
      io::fail(io::name_of(output.format), " cannot hold ", name_of(wanted),
               " pixels; --lossless needs another");
    }
    std::vector<std::string> lost;
    if (alpha && !io::traits(output.format).can[io::Can::alpha]) lost.emplace_back("alpha");
    io::name_lost_bits(output, settings.encode, lost);
    check_losses(lost, alpha);
  };
  try {
    size_t number = 0;
    for (const SizedPart& part : parts) {
      for (const PlanSave& save : part.program->plan.saves) {
        if (!picture.saves) break;
        const Picture::Save& to = (*picture.saves)[number++];
        if (!may_write_any(to.files)) continue;
        check(part, save.value, save.alpha.has_value(),
              io::output_type(&info, part.program->plan.values[save.value].type, to.format,
                              settings.cls));
      }
    }
    const Plan& plan = parts.back().program->plan;
    if (picture.output.empty() || !plan.writes_image) return;
    check(parts.back(), plan.result, plan.result_alpha.has_value(),
          {picture.output_format, picture.output_class});
  } catch (const Error& error) {
    throw PartError(Part::encode, error);
  }
}

// What the parts take at the same time, and what waits between them.
ImageBytes PictureJob::bytes_of_parts(const std::vector<SizedPart>& parts, double& waiting) const {
  const std::int64_t alignment =
      settings.lanes->first().device().id == "cpu" ? 0 : device_row_alignment;
  ImageBytes most;
  for (const SizedPart& part : parts) {
    const ImageBytes bytes = image_bytes(*part.program, part.sizes, alignment);
    most.on_device = std::max(most.on_device, bytes.on_device);
    most.input = std::max(most.input, bytes.input);
    most.result = std::max(most.result, bytes.result);
    most.tables = std::max(most.tables, bytes.tables);
    if (!part.program->then) continue;
    const ImageReduction& reduction = part.program->then->reduction;
    const double images = reduction.across == ImageReduction::Across::window
                              ? reduction.window
                              : static_cast<double>(picture.info->pages);
    const PlanValue& made = part.program->plan.values[part.program->plan.result];
    const Size size = part.sizes[static_cast<size_t>(part.program->plan.result)];
    if (reduction.volume) {
      waiting += reduction.volume->bytes(made.type, size, picture.info->pages);
      continue;
    }
    const auto pixels = static_cast<double>(size.pixels());
    const bool is_held =
        reduction.is_by_order() || reduction.across == ImageReduction::Across::window;
    // What is more than half of the memory waits in a file.
    waiting += is_held ? std::min(images * bytes.result, static_cast<double>(settings.memory) / 2)
                       : RunningReduction::bytes_a_pixel(reduction) * pixels * made.type.channels;
  }
  return most;
}

PictureJob::Needs PictureJob::needs() const {
  std::vector<SizedPart> parts = sized_parts();
  check_results(parts);
  Size& decoded = parts.front().sizes[0];
  decoded = io::shrunk(decoded, shrink_of(*picture.info));
  const bool on_cpu = settings.lanes->first().device().id == "cpu";
  double waiting = 0;
  ImageBytes bytes = bytes_of_parts(parts, waiting);
  const bool coded = picture.info->format == io::Format::jpeg ? keeps_coded() : may_keep_packed();
  const double on_device =
      bytes.on_device + (coded ? coded_bytes(static_cast<double>(decoded.pixels())) : 0);
  const bool coded_fits = on_device <= settings.max_memory;
  if (coded_fits) bytes.on_device = on_device;
  std::error_code error;
  const auto file_bytes =
      picture.content ? picture.content->size() : std::filesystem::file_size(picture.path, error);
  // What there is at the same time: the file and its image, then the plan's images, among them the
  // decoded one and the result, then the result and its file, which is no larger than its pixels.
  const double packed = error ? 0 : static_cast<double>(file_bytes);
  const double decoding = packed + (settings.decode.by_opencv ? 2 : 1) * bytes.input;
  const double computing = (coded && coded_fits ? 3 * packed : 0) + bytes.on_device + bytes.tables +
                           (on_cpu ? 0 : bytes.input + bytes.result);
  const double written = picture.info->samples == io::SampleType::of_class
                             ? 1
                             : std::max(1.0, io::bytes_of(picture.info->samples) / 4.0);
  const double encoding = (picture.output.empty() ? 1 : 1 + written) * bytes.result;
  // Channels and parts of an EXR that go into the result are in the file, of which a copy is kept;
  // in the result they may be packed worse.
  const io::ImageInfo& info = *picture.info;
  const double kept = (info.carried > 0 || is_paged() || has_other_parts() ? packed : 0);
  // Metadata that are packed in the file; in the result's there are copies of them.
  const double metadata = settings.decode.metadata ? static_cast<double>(info.metadata_bytes) : 0;
  double most = waiting + kept + metadata_copies * metadata +
                std::max({decoding, computing, encoding + info.carried_bytes + kept});
  if (info.type.alpha) most += 4 * static_cast<double>(decoded.pixels());
  return {static_cast<std::int64_t>(most), bytes.on_device, coded_fits};
}

double PictureJob::coded_bytes(double pixels) const {
  const io::ImageInfo& info = *picture.info;
  if (info.format == io::Format::jpeg) return coded_bytes_a_pixel * pixels;
  const int channels = info.type.channels + (info.type.alpha ? 1 : 0);
  return packed_bytes_a_byte * (bytes_of(info.type.cls) * channels * pixels + info.carried_bytes);
}

bool PictureJob::encodes_on_device() const {
  return settings.codec_place != CodecPlace::cpu && !settings.hash && !is_paged() &&
         !picture.output.empty() && !has_other_parts();
}

std::shared_ptr<const Kernel> PictureJob::kernel_of(CodecKernel& codec,
                                                    const Session& session) const {
  switch (settings.codec_place) {
    case CodecPlace::cpu: return nullptr;
    case CodecPlace::device: return codec.kernel(stop());
    case CodecPlace::automatic: return session.device().is_gpu ? codec.kernel_in_time() : nullptr;
  }
  return nullptr;
}

bool PictureJob::keeps_coded() const {
  if (settings.codec_place == CodecPlace::cpu || is_paged() || measures_arguments()) return false;
  if (shrink_of(*picture.info) != 1) return false;
  Session& first = settings.lanes->first();
  if (encodes_jpeg() && first.device().is_gpu) first.jpeg_encoder().begin();
  return kernel_of(first.jpeg_decoder(), first) != nullptr;
}

bool PictureJob::may_keep_packed() const {
  const DeviceInfo& device = settings.lanes->first().device();
  const bool wanted = settings.codec_place == CodecPlace::device ||
                      (settings.codec_place == CodecPlace::automatic && device.is_gpu);
  return wanted && device.id != "cpu" && !is_paged() && !measures_arguments() &&
         io::traits(picture.info->format).packed_form != nullptr;
}

bool PictureJob::keeps_packed(const PackedForm& form) const {
  Session& first = settings.lanes->first();
  return unpacks(form) && kernel_of(first.unpacker(), first) != nullptr;
}

bool PictureJob::measures_arguments() const {
  return settings.lanes->pipeline().has_measured_arguments();
}

int PictureJob::shrink_of(const io::ImageInfo& info) const {
  return settings.shrink_on_load && !is_paged() && !measures_arguments()
             ? shrink_for(picture.program->lowered, info)
             : 1;
}

bool PictureJob::writes_pixels() const {
  const Plan& plan = picture.program->plan;
  return plan.writes_image || !plan.saves.empty();
}

void PictureJob::check_losses(const std::vector<std::string>& lost, bool alpha) const {
  if (lost.empty() || (!settings.in_place && !settings.strict)) return;
  const std::string names = fmt::format("{}", fmt::join(lost, ", "));
  if (settings.strict) io::fail("--strict: the result would be without ", names);
  io::fail("--in-place would lose what the file has beside its picture: ", names, "; give -o",
           alpha ? "" : ", or --strip");
}

void PictureJob::check_inexact(const io::Inexact& inexact, const std::string& of) const {
  if (inexact.count == 0 || (!settings.in_place && !settings.strict)) return;
  io::fail(settings.strict ? "--strict: " : "--in-place: ", of, inexact.text(),
           settings.strict ? "" : "; give -o");
}

}  // namespace impipe::engine
