// A file that is written over in place while it is read is read again.
#include "io/files/read_picture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/error.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

class ReadPictureTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/impipe-read-XXXXXX";
    root_ = mkdtemp(name);
    path_ = root_ / "a.pgm";
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  static std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // What the file holds, and then what `next` does to it.
  ReadFile reader(std::function<void(int call)> next) {
    return [this, next = std::move(next)](int file, size_t size) {
      Bytes bytes(size);
      EXPECT_EQ(read(file, bytes.data(), size), static_cast<ssize_t>(size));
      next(++calls_);
      return bytes;
    };
  }

  fs::path root_, path_;
  int calls_ = 0;
};

TEST_F(ReadPictureTest, WhatIsWrittenMeanwhileIsReadAgain) {
  write("first");
  FileStamp stamp;
  const Bytes bytes = read_unchanged(path_, stamp, reader([&](int call) {
                                       if (call < 4)
                                         write("again");  // as long: only its time tells
                                     }));
  EXPECT_EQ(text_of(bytes), "again");
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(stamp, stamp_of(path_));
}

TEST_F(ReadPictureTest, AnErrorWhileItIsWrittenIsNoneOfTheFile) {
  write("first");
  FileStamp stamp;
  const ReadFile failing = [&](int, size_t) -> Bytes {
    if (++calls_ == 1) write("again");
    throw Error("empty file " + std::to_string(calls_), ExitCode::file_failed);
  };
  try {
    read_unchanged(path_, stamp, failing);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "empty file 2");
  }
}

TEST_F(ReadPictureTest, AFileThatIsAlwaysWrittenIsAnError) {
  write("first");
  FileStamp stamp;
  try {
    read_unchanged(path_, stamp, reader([&](int) { write("again"); }));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "it was written to while it was read, 5 times in a row");
    EXPECT_TRUE(error.may_pass());
  }
  EXPECT_EQ(calls_, 5);
}

TEST_F(ReadPictureTest, AnotherFileThatTakesTheNameIsNoChange) {
  write("first");
  FileStamp stamp;
  const Bytes bytes = read_unchanged(path_, stamp, reader([&](int) {
                                       std::ofstream(root_ / "b") << "other";
                                       fs::rename(root_ / "b", path_);
                                     }));
  EXPECT_EQ(text_of(bytes), "first");
  EXPECT_EQ(calls_, 1);
  EXPECT_NE(stamp, stamp_of(path_));
}

}  // namespace
}  // namespace impipe::io
