// Expands the templates and compares the names.
#include "engine/save_names.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "engine/sandbox.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;

fs::path save_path(const PlanSave& save, const Picture& picture, const io::Input& input,
                   std::int64_t index) {
  const auto format = io::format_of_extension(save.name_template);
  const ImageType& type = picture.info->type;
  return io::NameTemplate::parse(save.name_template, "save")
      .expand({.input = input.path,
               .extension = std::string(io::extension_for(format.value_or(picture.info->format),
                                                          type.cls, type.channels)),
               .index = index,
               .frame = input.frame});
}

}  // namespace

void name_saves(std::span<const io::Input> inputs, std::vector<Picture>& pictures,
                const pipeline::Pipeline& pipeline, const io::OutputTarget* target,
                bool sandboxed) {
  const bool any = std::any_of(pictures.begin(), pictures.end(), [](const Picture& picture) {
    return picture.program && !picture.program->plan.saves.empty();
  });
  if (!any) return;
  io::FileIdentities identities;
  std::set<std::string> taken, read;
  for (size_t i = 0; i < pictures.size(); ++i) {
    const std::string& output = pictures[i].output;
    if (!output.empty() && output != "-") taken.insert(identities.of(output));
    if (!inputs[i].is_stdin && !pipeline.has_source()) read.insert(identities.of(inputs[i].path));
  }
  for (size_t i = 0; i < pictures.size(); ++i) {
    Picture& picture = pictures[i];
    if (!picture.program) continue;
    for (const PlanSave& save : picture.program->plan.saves) {
      const fs::path path = save_path(save, picture, inputs[i], static_cast<std::int64_t>(i) + 1);
      if (sandboxed) check_save(pipeline, save.stage, path, target);
      const std::string identity = identities.of(path);
      if (read.contains(identity)) {
        throw Error("save: '" + path.string() + "' is an input, which would be replaced");
      }
      if (!taken.insert(identity).second) {
        throw Error("save: two results would be written to '" + path.string() +
                    "'; use a field such as {stem}");
      }
      if (!picture.saves) picture.saves = std::make_unique<std::vector<fs::path>>();
      picture.saves->push_back(path);
    }
  }
}

}  // namespace impipe::engine
