// Atomic writes: a file is there whole or not at all, and nothing else is left behind.
#include "io/atomic_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "core/error.hpp"

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
  const AtomicFile alive(root_ / "b");
  std::ofstream(root_ / ".impipe-00000001-1-00000001.tmp") << "another machine's";
  std::ofstream(root_ / "a.tmp") << "the user's";
  EXPECT_EQ(sweep_stale_temporaries(root_), 1);
  EXPECT_EQ(names(),
            ".impipe-00000001-1-00000001.tmp " + alive.temporary().filename().string() + " a.tmp");
  EXPECT_EQ(sweep_stale_temporaries(root_ / "none"), 0);
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

TEST_F(AtomicFileTest, AClosedPipeIsAnError) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  try {
    write_descriptor(ends[1], bytes("x"), "stdout");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write 'stdout': Broken pipe");
  }
  close(ends[1]);
}

}  // namespace
}  // namespace impipe::io
