// Atomic writes: a file is there whole or not at all, and nothing else is left behind.
#include "io/files/atomic_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/error.hpp"
#include "io/files/file_stamp.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/impipe-atomic-XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  std::string content(const std::string& name) const {
    std::ifstream file(root_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Names in the folder, sorted, separated by spaces.
  std::string names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(root_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    std::string out;
    for (const std::string& name : all) out += (out.empty() ? "" : " ") + name;
    return out;
  }
  static std::string error_of(const fs::path& target, std::string_view text = "x") {
    try {
      write_file(target, bytes(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file_failed);
      return error.what();
    }
    return "no error";
  }

  fs::path root_;
};

// Many programs write to one folder, and each of them sweeps it.
TEST_F(AtomicFileTest, IsNeverSweptWhileItIsWritten) {
  std::atomic<bool> done = false;
  std::thread sweeper([&] {
    while (!done) sweep_stale_temporaries(root_);
  });
  std::string failures;
  for (int i = 0; i < 3000; ++i) {
    const std::string error = error_of(root_ / "a.png");
    if (error != "no error") failures += error + "\n";
  }
  done = true;
  sweeper.join();
  EXPECT_EQ(failures, "");
  EXPECT_EQ(names(), "a.png");
}

TEST_F(AtomicFileTest, AppearsWholeAtTheCommit) {
  std::ofstream(root_ / "a") << "old";
  {
    AtomicFile file(root_ / "a");
    file.write(bytes("new "));
    EXPECT_EQ(content("a"), "old");
    EXPECT_TRUE(is_temporary_name(file.temporary().filename().string()));
    EXPECT_EQ(file.temporary().parent_path(), root_);
    file.write(bytes("content"));
    file.commit();
  }
  EXPECT_EQ(content("a"), "new content");
  EXPECT_EQ(names(), "a");
}

TEST_F(AtomicFileTest, IsRemovedWhenItIsGivenUp) {
  {
    AtomicFile file(root_ / "a");
    file.write(bytes("half"));
  }
  EXPECT_EQ(names(), "");
}

TEST_F(AtomicFileTest, MakesFoldersAndTakesTheModeOfTheUmask) {
  const mode_t before = umask(027);
  write_file(root_ / "d/e/a", bytes("x"));
  umask(before);
  struct stat status = {};
  ASSERT_EQ(stat((root_ / "d/e/a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, ErrorsNameTheFileAndTheReason) {
  fs::create_directories(root_ / "folder/inside");
  const std::string folder = (root_ / "folder").string();
  EXPECT_EQ(error_of(folder), "cannot write '" + folder + "': Is a directory");
  std::ofstream(root_ / "file") << "x";
  const std::string below = (root_ / "file/a").string();
  EXPECT_EQ(error_of(below), "cannot write '" + below + "': Not a directory");
  EXPECT_EQ(error_of("/proc/impipe-test"),
            "cannot write '/proc/impipe-test': No such file or directory");
  EXPECT_EQ(names(), "file folder");
}

TEST_F(AtomicFileTest, AFileThatDoesNotFitLeavesNothing) {
  // A limit on the size of files fails in the middle of a write, as a full disk does.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string target = (root_ / "a").string();
    _exit(error_of(target, std::string(1 << 20, 'x')) ==
                  "cannot write '" + target + "': File too large"
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), "");
}

TEST_F(AtomicFileTest, ASignalCanRemoveWhatIsBeingWritten) {
  AtomicFile one(root_ / "a"), two(root_ / "b");
  write_file(root_ / "done", bytes("x"));
  remove_temporaries();
  EXPECT_EQ(names(), "done");
}

TEST_F(AtomicFileTest, TemporariesOfDeadProcessesAreSwept) {
  const pid_t child = fork();
  if (child == 0) {  // dies while it writes
    const AtomicFile file(root_ / "a");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  AtomicFile alive(root_ / "b");
  std::ofstream(root_ / "a.tmp") << "the user's";
  EXPECT_EQ(sweep_stale_temporaries(root_), 1);
  EXPECT_EQ(names(), alive.temporary().filename().string() + " a.tmp");
  alive.commit();
  EXPECT_EQ(names(), "a.tmp b");
  EXPECT_EQ(sweep_stale_temporaries(root_ / "none"), 0);
}

// A live one is known by its lock, whoever's namespace of processes it is from.
TEST_F(AtomicFileTest, ALiveTemporaryOfAnotherProcessStays) {
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(root_ / "a");
    char byte = 0;
    bool good = write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1;
    file.write(bytes("whole"));
    file.commit();
    _exit(good ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(sweep_stale_temporaries(root_), 0);
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("a"), "whole");
  for (const int end : {ready[0], ready[1], go[0], go[1]}) close(end);
}

// Locks of another machine, or those from before its names had this form, may not be seen here.
TEST_F(AtomicFileTest, ForeignTemporariesAreSweptAfterADay) {
  const char* foreign[] = {".impipe-0000000000000001-0000000000000001.tmp",
                           ".impipe-00000001-1-00000001.tmp"};
  for (const char* name : foreign) std::ofstream(root_ / name) << "half";
  mkfifo((root_ / ".impipe-pipe.tmp").c_str(), 0600);
  EXPECT_EQ(sweep_stale_temporaries(root_), 0);
  for (const char* name : foreign) {
    fs::last_write_time(root_ / name, fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  EXPECT_EQ(sweep_stale_temporaries(root_), 2);
  EXPECT_EQ(names(), ".impipe-pipe.tmp");
}

TEST_F(AtomicFileTest, APipeIsWrittenInto) {
  const fs::path pipe = root_ / "pipe.png";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    write_file(pipe, bytes("x"));
    _exit(0);
  }
  EXPECT_EQ(content("pipe.png"), "x");
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), "pipe.png");
}

TEST_F(AtomicFileTest, AReplacedFileKeepsItsRights) {
  const fs::path file = root_ / "real/a";
  fs::create_directories(root_ / "real");
  std::ofstream(file) << "old";
  fs::create_symlink("real/a", root_ / "link");
  ASSERT_EQ(chmod(file.c_str(), 02640), 0);
  const bool attributes = setxattr(file.c_str(), "user.note", "mine", 4, 0) == 0;
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(lchown(file.c_str(), 1234, 4321), 0);
    ASSERT_EQ(chmod(file.c_str(), 02640), 0);  // the owner's change took the 2 away
  }
  const mode_t before = umask(077);
  replace_file(root_ / "link", bytes("new"));
  umask(before);
  EXPECT_EQ(content("real/a"), "new");
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 02640u);
  EXPECT_EQ(status.st_uid, root ? 1234u : geteuid());
  EXPECT_EQ(status.st_gid, root ? 4321u : getegid());
  char value[8] = {};
  EXPECT_EQ(getxattr(file.c_str(), "user.note", value, sizeof value), attributes ? 4 : -1);
  EXPECT_EQ(names(), "link real");
}

TEST_F(AtomicFileTest, WhatIsNotReplaced) {
  std::ofstream(root_ / "a") << "old";
  fs::create_hard_link(root_ / "a", root_ / "b");
  const std::string why = "it has 2 names (hard links), and the others would keep the old picture";
  EXPECT_EQ(why_not_replaceable(root_ / "a"), why);
  try {
    replace_file(root_ / "a", bytes("new"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot replace '" + (root_ / "a").string() + "': " + why);
  }
  EXPECT_EQ(content("a") + content("b"), "oldold");
  EXPECT_EQ(why_not_replaceable("/dev/null"), "it is no file, but a pipe or device");
  EXPECT_EQ(why_not_replaceable(root_ / "gone"), "");
}

TEST_F(AtomicFileTest, UpToDateMeansNotOlderThanAnyInput) {
  const auto touch = [&](const char* name, int second) {
    std::ofstream(root_ / name) << "x";
    fs::last_write_time(root_ / name, fs::file_time_type(std::chrono::seconds(second)));
    return root_ / name;
  };
  const fs::path old = touch("old", 100), middle = touch("middle", 200), recent = touch("new", 300);
  const fs::path inputs[] = {old, middle};
  EXPECT_TRUE(is_up_to_date(recent, inputs));
  EXPECT_TRUE(is_up_to_date(middle, inputs));
  EXPECT_FALSE(is_up_to_date(old, inputs));
  EXPECT_FALSE(is_up_to_date(root_ / "none", inputs));
}

TEST_F(AtomicFileTest, UpToDateMeansMadeOfTheInputsAsTheyAre) {
  std::ofstream(root_ / "input") << "x";
  const fs::path inputs[] = {root_ / "input"};
  const auto hour_ago = fs::last_write_time(inputs[0]) - std::chrono::hours(1);
  const auto at = [&](int second) {
    fs::last_write_time(inputs[0], hour_ago + std::chrono::seconds(second));
  };
  at(100);
  const FileStamp then[] = {stamp_of(inputs[0])};
  write_file(root_ / "made", bytes("x"), made_note("me", then));
  char noted[64];
  // A file system without attributes knows times alone.
  const bool by_time = getxattr((root_ / "made").c_str(), maker_attribute, noted, sizeof noted) < 0;
  EXPECT_TRUE(is_up_to_date(root_ / "made", inputs, "me"));
  EXPECT_EQ(is_up_to_date(root_ / "made", inputs, "you"), by_time);
  EXPECT_EQ(is_up_to_date(root_ / "made", {}, "me"), by_time);
  at(99);
  EXPECT_EQ(is_up_to_date(root_ / "made", inputs, "me"), by_time);
  at(101);
  EXPECT_EQ(is_up_to_date(root_ / "made", inputs, "me"), by_time);
  at(100);
  EXPECT_TRUE(is_up_to_date(root_ / "made", inputs, "me"));
  fs::resize_file(inputs[0], 2);
  at(100);
  EXPECT_EQ(is_up_to_date(root_ / "made", inputs, "me"), by_time);
}

}  // namespace
}  // namespace impipe::io
