// impipe cache: the folder with compiled kernels of the GPU backends.
#include <fmt/format.h>

#include <iterator>

#include "cli/command.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "engine/tools/kernel_cache.hpp"

namespace impipe::cli {
namespace {

struct CacheFlags {
  std::vector<std::string> arguments;
  engine::DeviceChoice device;
  std::string cls, sandbox;
  int channels = 0;
  bool no_fuse = false;
};

std::string list_text() {
  std::string out;
  for (const auto& entry : engine::list_cache(engine::cache_folder())) {
    fmt::format_to(std::back_inserter(out), "{:>10}  {}  {}\n", entry.bytes,
                   entry.file.stem().string().substr(0, 8),
                   entry.title.empty() ? "(damaged or another program's)" : printable(entry.title));
  }
  return out;
}

// Kernels for all kinds of images, or for those that the flags name.
int warm(CacheFlags& flags) {
  engine::WarmOptions options{.device = flags.device, .session = {}, .types = {}};
  options.session.fuse = !flags.no_fuse;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3}) {
      if (!flags.cls.empty() && cls != parse_class("--class", flags.cls)) continue;
      if (flags.channels != 0 && channels != flags.channels) continue;
      options.types.push_back({.cls = cls, .channels = channels, .white = class_max(cls)});
    }
  }
  const engine::WarmEnd end = engine::warm_cache(
      take_pipeline(flags.arguments, "", engine::make_sandbox(flags.sandbox)), options);
  for (const std::string& warning : end.warnings) {
    write_stderr("impipe: " + warning);
  }
  write_stdout(fmt::format("{}: compiled {}, cached {}, {:.1f} ms\n", end.device,
                           end.counts.compiled, end.counts.cached, 1e3 * end.counts.seconds));
  // Nobody has anything of kernels that are not kept.
  return static_cast<int>(end.not_kept > 0 ? ExitCode::file_failed : ExitCode::ok);
}

enum Action { show_path, show_list, remove_all, make_kernels };

int manage_cache(CacheFlags& flags) {
  if (flags.arguments.empty()) throw Error("cache takes one of path, list, clear, warm PIPELINE");
  const int action = parse_choice("cache", flags.arguments.front(), cache_actions());
  flags.arguments.erase(flags.arguments.begin());
  const size_t wanted = action == make_kernels ? 1 : 0;
  if (flags.arguments.size() != wanted) {
    throw Error(wanted == 1 ? "cache warm takes a pipeline" : "cache: too many arguments");
  }
  if (engine::cache_folder().empty()) {
    throw Error("there is no folder for the cache: set IMPIPE_CACHE_DIR");
  }
  switch (action) {
    case show_path: write_stdout(engine::cache_folder().string() + "\n"); break;
    case show_list: write_stdout(list_text()); break;
    case remove_all:
      write_stdout(fmt::format("{} files removed\n", engine::clear_cache(engine::cache_folder())));
      break;
    default: return warm(flags);
  }
  return 0;
}

}  // namespace

// In the order of Action.
std::vector<std::string> cache_actions() { return {"path", "list", "clear", "warm"}; }

void add_cache(CommandSet& commands) {
  Command& command = commands.add("cache");
  command.usage = fmt::format("impipe cache {} PIPELINE", fmt::join(cache_actions(), "|"));
  command.summary = "Show, empty or fill the folder of compiled kernels (IMPIPE_CACHE_DIR)";
  command.examples =
      "impipe cache warm 'imadjust | conv2 k7 | edge prewitt' --device cuda:0 --class uint8\n";
  auto flags = std::make_shared<CacheFlags>();
  CLI::App* app = command.app;
  command.takes(flags->arguments);
  option(app, "--backend", flags->device.backend, "NAME", "Whose kernels to make (warm)");
  option(app, "--device", flags->device.device, "ID", "Whose kernels to make (warm)")
      ->transform(auto_as_none);
  option(app, "--class", flags->cls, "CLASS", "Of the images (warm; default: each class)");
  option(app, "--channels", flags->channels, "N", "Of the images: 1 or 3 (warm; default: both)")
      ->check(one_or_three());
  flag(app, "--no-fuse", flags->no_fuse, "As for run (warm)");
  add_sandbox(app, flags->sandbox);
  command.run = [flags] { return manage_cache(*flags); };
}

}  // namespace impipe::cli
