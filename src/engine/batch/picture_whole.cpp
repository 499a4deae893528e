#include "engine/batch/picture_whole.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/kept_bytes.hpp"
#include "core/unpacks.hpp"
#include "io/formats/exr/exr_layout.hpp"
#include "io/jpeg_encoding.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/packed_encoding.hpp"

namespace impipe::engine {
namespace {

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

}  // namespace

void WholePicture::decode() {
  const pipeline::Pipeline& pipeline = settings_.lanes->pipeline();
  io::FileStamp stamp;
  if (pipeline.has_source()) {
    material_.image = pipeline.make_source();
  } else if (picture_.missing_frame) {
    material_.image = black_image(*picture_.info);
    material_.display = picture_.info->display;
  } else {
    io::Bytes bytes = read_file(stamp);
    io::DecodeOptions options = settings_.decode;
    if (picture_.pages) options.page = picture_.pages->numbers.front();
    if (settings_.shrink_on_load) {
      options.shrink = [this](const io::ImageInfo& info) { return job_.shrink_of(info); };
    }
    options.keep_coded = coded_fits_ && job_.keeps_coded();
    if (coded_fits_ && job_.may_keep_packed()) {
      options.keep_packed = [this](const PackedForm& form) { return job_.keeps_packed(form); };
    }
    take(io::decode(bytes, options));
    if (job_.has_other_parts() || material_.is_coded()) {
      file_ = std::move(bytes);
    } else {
      keep_bytes(std::move(bytes));
    }
  }
  decode_operands(stamp);
}

void WholePicture::decode_on_host() {
  try {
    io::DecodeOptions options = settings_.decode;
    options.metadata = false;
    if (picture_.pages) options.page = picture_.pages->numbers.front();
    io::Decoded decoded = io::decode(file_, options);
    material_.image = std::move(decoded.image);
    job_.check_inexact(*decoded.info.inexact);
    result_.inexact.add(*decoded.info.inexact);
    const auto& exr = decoded.metadata.exr;
    if (exr && metadata_.exr) metadata_.exr->glows = exr->glows;
  } catch (const Error& error) {
    throw PartError(Part::decode, error);
  }
  material_.coded.reset();
  material_.packed.reset();
  result_.decoded_on_device = false;
}

CodecKernel& WholePicture::decoder_of(Session& session) const {
  return material_.coded ? session.jpeg_decoder() : session.unpacker();
}

CodedOutput WholePicture::coded_output(Session& session, const ImageType& type, Size size,
                                       bool glows) const {
  if (!job_.encodes_on_device() || session.device().id == "cpu") return {};
  CodedOutput out;
  if (job_.encodes_jpeg()) {
    out.jpeg = io::coded_output(type, size, metadata_, settings_.encode);
    if (out.jpeg) out.encoder = job_.kernel_of(session.jpeg_encoder(), session);
    return out;
  }
  out.packed = io::packed_output(type, size, metadata_,
                                 {picture_.output_format, picture_.output_class}, settings_.encode);
  out.glows = metadata_.exr && (metadata_.exr->glows || glows);
  if (out.packed && packs(*out.packed)) {
    const bool fast = settings_.encode.compression == io::Compression::fast;
    const auto effort = fast ? DeflateEffort::codes : DeflateEffort::copies;
    out.encoder = job_.kernel_of(session.packer(*out.packed, effort), session);
  }
  return out;
}

void WholePicture::compute(int lane) {
  const double begin = steady_seconds();
  if (host_decodes_) decode_on_host();
  const Lanes::Turn turn = settings_.lanes->take();
  if (material_.is_coded() && decoder_of(turn.session).kernel(job_.stop()) == nullptr) {
    decode_on_host();
  }
  result_.decoded_on_device = material_.is_coded();
  std::optional<size_t> device;
  try {
    device = compute_material(turn);
  } catch (const NotDecoded&) {
    decode_on_host();
    device = compute_material(turn);
  }
  image_computed({device, lane, begin});
}

void WholePicture::image_computed(const ComputedAt& turn) {
  computed(turn);
  if (metadata_.exr && !metadata_.exr->carried.empty() && !metadata_.exr->carried.file) {
    metadata_.exr->carried.file = std::shared_ptr<const io::Bytes>(
        new io::Bytes(std::exchange(file_, {})), [](io::Bytes* bytes) {
          keep_bytes(std::move(*bytes));
          delete bytes;
        });
  }
  if (outcome_.glows && metadata_.exr) metadata_.exr->glows = true;
  if (!job_.has_other_parts()) keep_bytes(std::exchange(file_, {}));
  add_row(picture_.only_page());
}

void WholePicture::decode_for_cpu() {
  if (material_.is_coded()) decode_on_host();
}

ExecuteOptions WholePicture::execute_options(Session& session) const {
  ExecuteOptions options = PictureWorker::execute_options(session);
  if (material_.is_coded()) options.decoder = decoder_of(session).kernel(job_.stop());
  options.coded_output = [this, &session](size_t, const ImageType& type, Size size, bool glows) {
    return coded_output(session, type, size, glows);
  };
  return options;
}

FileWork::Stack WholePicture::stack() const {
  if (material_.read.by > 1 || job_.measures_arguments()) return {};
  const Session& session = settings_.lanes->first();
  const auto pixels = static_cast<double>(material_.size().pixels());
  const double bytes = picture_.program->bytes_per_pixel * pixels;
  FileWork::Stack stack;
  // What goes to the device and comes back is small, and a few do more than the bus and the device
  // can take.
  constexpr int stacks_a_device = 4;
  const bool stays_there =
      material_.is_coded() && (job_.encodes_on_device() || !job_.writes_pixels());
  if (stays_there) stack.at_once = stacks_a_device * static_cast<int>(settings_.lanes->count());
  const double coded = bytes + job_.coded_bytes(pixels);
  stack.most = material_.packed
                   ? session.max_packed(*picture_.program, material_.packed->form, coded)
               : material_.coded ? session.max_coded(*picture_.program, coded)
                                 : session.max_stacked(*picture_.program, bytes);
  if (stack.most == 1) return stack;
  stack.key = to_string(material_.image.type) + " " + to_string(material_.size());
  if (material_.coded) {
    const JpegForm& form = material_.coded->form;
    stack.key += fmt::format(" coded {}x{}", form.across, form.down);
  }
  if (material_.packed) stack.key += " packed " + to_string(material_.packed->form);
  // They are encoded together, or none of them is.
  if (job_.encodes_jpeg()) {
    stack.key += io::may_be_coded(metadata_, settings_.encode) ? " to JPEG" : "";
    const auto& storage = metadata_.jpeg;
    if (storage) stack.key += fmt::format(" of {}x{}", storage->across, storage->down);
  }
  if (const auto& profile = material_.image.type.profile) {
    stack.key += fmt::format(" of {}", fmt::ptr(profile.get()));
  }
  if (material_.display && settings_.lanes->pipeline().reads_display()) {
    stack.key += "; display " + to_string(*material_.display);
  }
  for (const auto& [name, image] : material_.operands) {
    stack.key += "; " + to_string(image.type) + " " + to_string(image.size());
  }
  return stack;
}

std::vector<const FileWork*> WholePicture::compute_stack(int lane,
                                                         std::span<WholePicture* const> pictures) {
  const double begin = steady_seconds();
  const Lanes::Turn turn = settings_.lanes->take();
  const auto program =
      turn.session.program(material_.image.type, picture_.partner_types(), material_.display);
  std::vector<Material> materials;
  for (const WholePicture* one : pictures) materials.push_back(one->material_);
  ExecuteOptions options = execute_options(turn.session);
  options.coded_output = [&](size_t i, const ImageType& type, Size size, bool glows) {
    return pictures[i]->coded_output(turn.session, type, size, glows);
  };
  std::vector<Outcome> outcomes =
      execute_stack(*turn.session.stacked(program), std::move(materials), turn.queue, options);
  std::vector<const FileWork*> left;
  for (size_t i = 0; i < pictures.size(); ++i) {
    WholePicture& one = *pictures[i];
    if (outcomes[i].not_decoded) {
      one.host_decodes_ = true;
      left.push_back(one.job_.file);
      continue;
    }
    one.take_program(program);
    one.outcome_ = std::move(outcomes[i]);
    one.result_.decoded_on_device = one.material_.is_coded();
    one.image_computed({turn.device, lane, begin});
  }
  return left;
}

void WholePicture::encode() {
  const Plan& plan = picture_.program->plan;
  // Before an image of `save` is written.
  if (metadata_.exr && plan.writes_image && picture_.output_format == io::Format::exr) {
    const Size size = outcome_.coded.empty() ? outcome_.image.size() : outcome_.coded_size;
    io::check_carried(*metadata_.exr, change_of(*picture_.info, plan.result, size, job_.is_apart()),
                      size);
  }
  for (size_t i = 0; i < outcome_.saves.size(); ++i) {
    const Picture::Save& save = (*picture_.saves)[i];
    const HostImage image = std::move(outcome_.saves[i]);
    if (!job_.may_write(save.files.front())) continue;
    const io::OutputType type =
        io::output_type(picture_.info, image.type, save.format, settings_.cls);
    tell_file(save.files.front(), false);
    io::Encoded encoded =
        encode_image(image, {plan.saves[i].value, *picture_.info, image.size(), type, save.apart});
    write(save.files.front(), with_parts(type.format, std::move(encoded.bytes), save.apart));
  }
  if (picture_.output.empty() || !job_.may_write(picture_.output)) return;
  if (!plan.writes_image) return write(picture_.output, encode_measured(picture_.output));
  encode_result();
}

io::Encoded WholePicture::encoded_result() const {
  const io::OutputType type{picture_.output_format, picture_.output_class};
  if (outcome_.coded.empty()) {
    return io::encode(outcome_.image, metadata_, type.format, type.cls, settings_.encode);
  }
  const ImageType& image = outcome_.image.type;
  const Size size = outcome_.coded_size;
  return type.format == io::Format::jpeg
             ? io::encode_coded(outcome_.coded.front(), image, size, metadata_, settings_.encode)
             : io::encode_packed(outcome_.coded, image, size, metadata_, type, settings_.encode);
}

void WholePicture::encode_result() {
  const Plan& plan = picture_.program->plan;
  result_.encoded_on_device = !outcome_.coded.empty();
  const Size size = result_.encoded_on_device ? outcome_.coded_size : outcome_.image.size();
  tell_parts(job_.is_apart());
  tell_change(*picture_.info, plan.result, size, job_.is_apart());
  tell_file(picture_.output, picture_.joined);
  io::Encoded encoded = noted(encoded_result());
  if (picture_.joined) result_.axes = io::axes_of_result(metadata_);
  outcome_.image = {};
  outcome_.coded.clear();
  outcome_.coded_plane.reset();
  result_.common = std::move(encoded.common);
  result_.head = encoded.head;
  write(picture_.output,
        with_parts(picture_.output_format, std::move(encoded.bytes), job_.is_apart()));
}

}  // namespace impipe::engine
