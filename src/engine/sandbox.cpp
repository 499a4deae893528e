// Compares paths with the folders that a text may use.
#include "engine/sandbox.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;

// Whether `path` lies below `folder`; both absolute and without "..".
bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() && rest != path.end();
}

// Absolute and normal, without a '/' at its end.
fs::path normal(const fs::path& path) {
  fs::path out = fs::absolute(path).lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

// The folder that -o names; nothing when it is another one for each input, or none.
std::optional<fs::path> output_folder(const io::OutputTarget* target) {
  if (target == nullptr) return {};
  if (target->kind == io::OutputTarget::Kind::folder) return target->folder;
  if (target->kind != io::OutputTarget::Kind::name_template) return {};
  const std::string text = target->name->text();
  const std::size_t slash = text.rfind('/');
  if (slash == text.npos) return ".";
  const std::string folder = text.substr(0, slash + 1);
  if (folder.find_first_of("{}") != folder.npos) return {};
  return folder;
}

}  // namespace

Sandbox make_sandbox(const std::string& text) {
  Sandbox sandbox;
  if (text.empty()) return sandbox;
  sandbox.on = true;
  if (text == "on") return sandbox;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    std::error_code error;
    const fs::path real = fs::canonical(name, error);
    if (name.empty() || error || !fs::is_directory(real, error)) {
      throw Error("--sandbox: '" + name + "' is no folder");
    }
    sandbox.folders.push_back(real);
    begin = end + 1;
  }
  return sandbox;
}

void check_files(const pipeline::Pipeline& pipeline, const Sandbox& sandbox) {
  if (!sandbox.on) return;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    if (!stage.call) continue;
    for (const Parameter& p : stage.call->op().parameters) {
      const std::string& path = stage.call->value(p.name).path;
      if (path.empty()) continue;
      // What is not there is no secret either, but whether it is there may be one.
      std::error_code error;
      const fs::path real = fs::weakly_canonical(fs::absolute(path), error);
      const bool allowed =
          !error && std::ranges::any_of(sandbox.folders, [&](const fs::path& folder) {
            return is_below(real, folder);
          });
      if (!allowed) {
        stage.call->fail(p.name, "@" + path +
                                     " may not be read in a sandbox: it lies in no folder that "
                                     "--sandbox=DIR names");
      }
    }
  }
}

void check_save(const pipeline::Pipeline& pipeline, int stage, const fs::path& path,
                const io::OutputTarget* target) {
  const auto fail = [&](const std::string& reason) {
    throw error_at(pipeline.text, pipeline.stages.at(static_cast<std::size_t>(stage)).span,
                   "save: " + reason, pipeline.origin);
  };
  const std::optional<fs::path> folder = output_folder(target);
  if (!folder) fail("a sandbox allows it only where -o names the one folder that it writes to");
  const fs::path root = normal(*folder);
  const fs::path absolute = fs::absolute(path);
  // A path that begins as -o does may have the ".." that -o has.
  const std::string prefix = (*folder / "").string();
  const bool begins_alike = path.string().starts_with(prefix);
  const fs::path below = begins_alike
                             ? fs::path(path.string().substr(prefix.size())).relative_path()
                             : absolute.lexically_normal().lexically_relative(root);
  const fs::path& checked = begins_alike ? below : absolute;
  const bool goes_up =
      std::ranges::any_of(checked, [](const fs::path& part) { return part == ".."; });
  if (goes_up || (!begins_alike && !is_below(absolute.lexically_normal(), root))) {
    fail("'" + path.string() + "' may not be written in a sandbox: it does not lie below '" +
         folder->string() + "', the folder of -o");
  }
  fs::path at = root;
  for (const fs::path& part : below) {
    at /= part;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(at, error))) {
      fail("'" + path.string() + "' may not be written in a sandbox: '" + at.string() +
           "' is a symbolic link");
    }
  }
}

}  // namespace impipe::engine
