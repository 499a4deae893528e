// What is one file, however it is named.
#include "io/files/written_names.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

class WrittenNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/impipe-names-XXXXXX";
    root_ = mkdtemp(name);
    fs::create_directories(root_ / "real/sub");
    fs::create_directory_symlink("real", root_ / "link");
    std::ofstream(root_ / "real/a.png") << "x";
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(WrittenNamesTest, ANameHasOneWriterHoweverItIsSpelled) {
  WrittenNames names;
  EXPECT_EQ(names.add(root_ / "real/new.png", 7), std::nullopt);
  for (const char* same : {"real/new.png", "link/new.png", "real/sub/../new.png", "./real//new.png",
                           "link/sub/../../real/new.png"}) {
    EXPECT_EQ(names.add(root_ / same, 8), 7) << same;
  }
  EXPECT_EQ(names.add(root_ / "not/yet/b.png", 9), std::nullopt);
  EXPECT_EQ(names.add(root_ / "not/../not/yet/./b.png", 10), 9);
  EXPECT_EQ(names.add(root_ / "real/sub/new.png", 11), std::nullopt);
  EXPECT_EQ(names.add(root_ / "real/NEW.png", 12), std::nullopt);
}

TEST_F(WrittenNamesTest, CapitalsAreOneWhereTheFolderSaysSo) {
  WrittenNames names([](const fs::path&) { return true; });
  EXPECT_EQ(names.add(root_ / "real/new.png", 1), std::nullopt);
  EXPECT_EQ(names.add(root_ / "real/NEW.PNG", 2), 1);
  EXPECT_EQ(names.add(root_ / "Not/Yet/a.png", 3), std::nullopt);
  EXPECT_EQ(names.add(root_ / "not/yet/A.png", 4), 3);
  EXPECT_FALSE(folds_case(root_ / "real"));
  EXPECT_FALSE(folds_case("/"));
}

TEST_F(WrittenNamesTest, AFileIsItsDeviceAndInode) {
  fs::create_symlink("real/a.png", root_ / "symbolic.png");
  fs::create_hard_link(root_ / "real/a.png", root_ / "hard.png");
  std::ofstream(root_ / "other.png") << "x";
  WrittenNames names;
  EXPECT_EQ(names.replacing(root_ / "real/a.png"), std::nullopt);
  names.add(root_ / "link/a.png", 5);
  for (const char* same : {"real/a.png", "symbolic.png", "hard.png"}) {
    EXPECT_EQ(names.replacing(root_ / same), 5) << same;
  }
  EXPECT_EQ(names.replacing(root_ / "other.png"), std::nullopt);
  EXPECT_EQ(names.replacing(root_ / "gone.png"), std::nullopt);
  names.add(root_ / "gone.png", 6);
  EXPECT_EQ(names.replacing(root_ / "real/../gone.png"), 6);
}

TEST_F(WrittenNamesTest, PipesAndDevicesAreNotReplaced) {
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  WrittenNames names;
  names.add(root_ / "real/a.png", 1);
  names.add(root_ / "pipe", 2);
  names.add("/dev/null", 3);
  EXPECT_EQ(names.replacing(root_ / "pipe"), std::nullopt);
  EXPECT_EQ(names.replacing("/dev/null"), std::nullopt);
}

}  // namespace
}  // namespace impipe::io
