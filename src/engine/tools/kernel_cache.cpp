// Fills the cache.
#include "engine/tools/kernel_cache.hpp"

#include <algorithm>
#include <mutex>

#include "core/error.hpp"
#include "core/process_limits.hpp"
#include "core/unpacks.hpp"
#include "io/packed_encoding.hpp"

namespace impipe::engine {
namespace {

// What results of a program are in files: of the input's class, where they aren't logical.
ImageType written_type(const Plan& plan, const ImageType& input) {
  ImageType type = plan.values[plan.result].type;
  if (type.cls == PixelClass::logical) return type;
  type.cls = input.cls;
  type.white = class_max(input.cls);
  return type;
}

// A GPU's kernels beside those of programs: the codecs that decode, those that write results of
// these types in the formats that have them, and the one of NaNs.
std::vector<CodecKernel*> codecs_for(Session& session, const std::vector<ImageType>& results) {
  std::vector<CodecKernel*> codecs = {&session.jpeg_decoder(), &session.jpeg_encoder(),
                                      &session.unpacker(), &session.one_nan_maker()};
  for (const ImageType& type : results) {
    for (const io::Format format : {io::Format::png, io::Format::tiff, io::Format::exr}) {
      const auto form = io::packed_output(type, {64, 64}, {}, {format, type.cls}, {});
      if (form && packs(*form)) codecs.push_back(&session.packer(*form, DeflateEffort::copies));
    }
  }
  return codecs;
}

}  // namespace

WarmEnd warm_cache(pipeline::Pipeline pipeline, const WarmOptions& options) {
  ThreadPool pool(process_limits().threads - 1);
  DeviceChoice choice = options.device;
  if (is_automatic(choice)) {
    const std::vector<DeviceInfo> devices = all_devices();
    const auto gpu = std::ranges::find_if(
        devices, [](const DeviceInfo& info) { return info.usable && info.is_gpu; });
    if (gpu == devices.end()) {
      throw Error("cache warm: there is no GPU that can be used; see impipe devices",
                  ExitCode::backend);
    }
    choice.device = gpu->id;
  }
  Session session(std::move(pipeline), open_device(choice, pool), options.session);
  std::mutex mutex;
  std::vector<ImageType> results;
  pool.for_each(static_cast<std::int64_t>(options.types.size()), [&](std::int64_t i) {
    const ImageType& type = options.types[static_cast<size_t>(i)];
    std::map<std::string, ImageType> operands;
    for (const std::string& name : session.pipeline().operands) operands[name] = type;
    try {
      const auto program = session.program(type, operands);
      const std::lock_guard lock(mutex);
      if (program->plan.writes_image) results.push_back(written_type(program->plan, type));
    } catch (const Error& error) {
      if (error.code() == ExitCode::backend) throw;  // others: not defined for this type
    }
  });
  session.wait_for_kernels();
  if (session.device().is_gpu) {
    const std::vector<CodecKernel*> codecs = codecs_for(session, results);
    for (CodecKernel* codec : codecs) codec->begin();
    for (CodecKernel* codec : codecs) codec->kernel();
  }
  return {session.device().id, backends::compile_counts(), backends::kernels_not_kept(),
          session.take_warnings()};
}

}  // namespace impipe::engine
