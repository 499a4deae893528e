// Where codec modules are looked for: never in a place that depends on the current folder.
#include "io/module/module_folders.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace impipe::io {
namespace {

TEST(CodecModule, IsLookedForBesideTheProgramAndWhereItIsInstalled) {
  const auto folders = codec_folders("", "/opt/impipe/bin/impipe");
  ASSERT_EQ(folders.size(), 5u);
  EXPECT_EQ(folders[0].lexically_normal(), "/opt/impipe/lib/impipe");
  EXPECT_EQ(folders[1], "/opt/impipe/bin");
  for (const auto& folder : folders) EXPECT_TRUE(folder.is_absolute()) << folder;
}

TEST(CodecModule, WithoutTheProgramsPlaceOnlyTheInstalledOneIsLeft) {
  const auto folders = codec_folders("", "");
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_TRUE(folders[0].is_absolute());
  EXPECT_EQ(codec_folders("", "bin/impipe"), folders);
}

TEST(CodecModule, ANamedFolderIsTheOnlyOneAndAbsolute) {
  EXPECT_EQ(codec_folders("/x/y", "/opt/bin/impipe"), std::vector<std::filesystem::path>{"/x/y"});
  try {
    codec_folders("../lib", "/opt/bin/impipe");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "IMPIPE_CODEC: '../lib' is not an absolute path: code is not loaded from wherever "
                 "impipe is run");
  }
}

TEST(CodecModule, TheProgramsPlaceIsAbsolute) { EXPECT_TRUE(program_path().is_absolute()); }

}  // namespace
}  // namespace impipe::io
