// What a run settles from its options alone.
#include "engine/run_settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "backends/cuda/device.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;

TEST(RunSettings, FilesAreCountedAtAGlance) {
  const fs::path root = fs::temp_directory_path() / ("impipe-glance-" + std::to_string(getpid()));
  fs::create_directories(root / "in");
  fs::create_directories(root / "many");
  for (int i = 0; i < 5; ++i) std::ofstream(root / "in" / std::to_string(i));
  for (int i = 0; i < 201; ++i) std::ofstream(root / "many" / std::to_string(i));
  std::ofstream(root / "film.y4m");
  const std::string in = root / "in", file = root / "in/1", film = root / "film.y4m";
  RunOptions options;
  EXPECT_EQ(max_files(options), 1);  // a pipeline that makes its image
  options.inputs = {file};
  EXPECT_EQ(max_files(options), 1);
  options.inputs = {file, in, film};
  EXPECT_EQ(max_files(options), 7);
  for (const fs::path& unknown : {fs::path("-"), root / "in/*", root / "none", root / "many"}) {
    options.inputs = {file, unknown.string()};
    EXPECT_EQ(max_files(options), 0) << unknown;
  }
  options.inputs = {in};
  options.recursive = true;
  EXPECT_EQ(max_files(options), 0);
  options = {};
  options.files_from = "list";
  EXPECT_EQ(max_files(options), 0);
  options = {};
  options.inputs = {file, film};
  fs::resize_file(film, std::uintmax_t{600} << 20);  // many pictures, perhaps
  EXPECT_EQ(max_files(options), 0);
  fs::remove_all(root);
}

TEST(RunSettings, FewFilesHaveFewQueues) {
  constexpr const char* name = "CUDA_DEVICE_MAX_CONNECTIONS";
  const char* const before = getenv(name);
  const std::string kept = before != nullptr ? before : "";
  const auto said_for = [&](std::int64_t files) {
    cuda::prepare_process(files);
    const char* said = getenv(name);
    return said != nullptr ? std::string(said) : std::string();
  };
  for (const auto& [files, wanted] : {std::pair(0, "4"), {1, "1"}, {100, "1"}, {101, "4"}}) {
    unsetenv(name);
    EXPECT_EQ(said_for(files), wanted) << files;
  }
  setenv(name, "5", 1);
  EXPECT_EQ(said_for(1), "5");  // the user's
  if (before != nullptr) {
    setenv(name, kept.c_str(), 1);
  } else {
    unsetenv(name);
  }
}

}  // namespace
}  // namespace impipe::engine
