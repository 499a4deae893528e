// The cache of compiled kernels under everything that can happen to a folder.
#include "backends/jit/runtime/disk_cache.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "backends/jit/runtime/binaries.hpp"
#include "core/error.hpp"
#include "support/fresh_process.hpp"

namespace impipe::jit {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

Bytes bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string text(const std::optional<Bytes>& b) {
  return b ? std::string(reinterpret_cast<const char*>(b->data()), b->size()) : "(nothing)";
}

const CacheKey key{"kernel text", "--fmad=false", "NVRTC 13.0", "sm_90", "580.1"};

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/impipe-cache-XXXXXX";
    root_ = mkdtemp(name);
    folder_ = root_ / "made" / "here";
  }
  void TearDown() override {
    fs::permissions(root_, fs::perms::owner_all);
    fs::remove_all(root_);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path());
    return all;
  }
  // Runs body as somebody whom file modes apply to.
  static void unprivileged(const std::function<void()>& body) {
    const bool root = geteuid() == 0;
    ASSERT_EQ(root ? seteuid(65534) : 0, 0);
    body();
    ASSERT_EQ(root ? seteuid(0) : 0, 0);
  }

  fs::path root_, folder_;
};

TEST_F(DiskCacheTest, GivesBackWhatWasStored) {
  DiskCache(folder_).store(key, bytes("cubin"), "conv2 7x7");
  DiskCache next_run(folder_);
  EXPECT_EQ(text(next_run.load(key)), "cubin");
  EXPECT_TRUE(next_run.take_warnings().empty());
  const auto entries = list_cache(folder_);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].title, "conv2 7x7");
}

TEST_F(DiskCacheTest, KeepsVerdictsBesideKernels) {
  const VerdictKey asked{.question = "parity", .device = "opencl:0 pocl", .driver = "3.1"};
  DiskCache cache(folder_);
  EXPECT_EQ(cache.load(asked), std::nullopt);
  cache.store(asked, "", "a verdict");
  cache.store(key, bytes("cubin"), "conv2 7x7");
  EXPECT_EQ(DiskCache(folder_).load(asked), "");
  for (const auto part : {&VerdictKey::question, &VerdictKey::device, &VerdictKey::driver}) {
    VerdictKey other = asked;
    other.*part += "x";
    EXPECT_EQ(cache.load(other), std::nullopt) << other.*part;
  }
  std::set<std::string> kinds;
  for (const CacheEntry& entry : list_cache(folder_)) {
    kinds.insert(entry.file.extension().string() + " " + entry.title);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{".kernel conv2 7x7", ".verdict a verdict"}));
  EXPECT_EQ(clear_cache(folder_), 2);
}

TEST_F(DiskCacheTest, EverythingThatDecidesABinaryIsPartOfItsKey) {
  DiskCache cache(folder_);
  cache.store(key, bytes("cubin"), "");
  std::string CacheKey::*const parts[] = {&CacheKey::source, &CacheKey::options,
                                          &CacheKey::compiler, &CacheKey::device,
                                          &CacheKey::driver};
  for (const auto part : parts) {
    CacheKey other = key;
    other.*part += "x";
    EXPECT_EQ(text(cache.load(other)), "(nothing)") << other.*part;
  }
  EXPECT_TRUE(cache.take_warnings().empty());
}

TEST_F(DiskCacheTest, WithoutACompilerTheOneThatMadeItDoesNotMatter) {
  DiskCache cache(folder_);
  cache.store(key, bytes("cubin"), "");
  CacheKey no_compiler = key;
  no_compiler.compiler.clear();
  EXPECT_EQ(text(cache.load(no_compiler)), "cubin");
}

TEST_F(DiskCacheTest, AnotherCompilersFileIsReplaced) {
  DiskCache cache(folder_);
  cache.store(key, bytes("old"), "");
  CacheKey newer = key;
  newer.compiler = "NVRTC 13.1";
  cache.store(newer, bytes("new"), "");
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(text(cache.load(newer)), "new");
}

TEST_F(DiskCacheTest, ADamagedOrForeignFileIsAWarningAndIsMadeAnew) {
  DiskCache(folder_).store(key, bytes("the contents of a cubin"), "title");
  const fs::path path = files().at(0);
  std::string whole;
  {
    std::ifstream file(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<std::string> damaged = {"", "another program's file", whole.substr(0, 20),
                                      whole.substr(0, whole.size() - 1), whole + "x"};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    damaged.push_back(whole);
    damaged.back()[i] = static_cast<char>(damaged.back()[i] ^ 4);
  }
  for (const std::string& contents : damaged) {
    std::ofstream(path, std::ios::binary) << contents;
    DiskCache cache(folder_);
    EXPECT_EQ(text(cache.load(key)), "(nothing)");
    EXPECT_EQ(cache.take_warnings(),
              std::vector<std::string>{"the kernel cache has a damaged file, which is made anew: " +
                                       path.string()});
  }
  DiskCache cache(folder_);
  cache.store(key, bytes("again"), "");
  EXPECT_EQ(text(cache.load(key)), "again");
}

TEST_F(DiskCacheTest, IsMadeForItsUserAlone) {
  const mode_t before = umask(0);
  DiskCache(folder_).store(key, bytes("cubin"), "");
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  ASSERT_EQ(stat(files().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644u);
  EXPECT_EQ(text(DiskCache(folder_).load(key)), "cubin");
}

TEST_F(DiskCacheTest, AFolderThatOthersCanWriteIsNotUsedAndCostsOneWarning) {
  DiskCache(folder_).store(key, bytes("cubin"), "");
  for (const auto& [mode, shown] : {std::pair(0777, "0777"), {01777, "1777"}, {0770, "0770"}}) {
    ASSERT_EQ(chmod(folder_.c_str(), static_cast<mode_t>(mode)), 0);
    DiskCache cache(folder_);
    EXPECT_EQ(text(cache.load(key)), "(nothing)");
    EXPECT_EQ(text(cache.load(key)), "(nothing)");
    cache.store(key, bytes("new"), "");
    EXPECT_EQ(cache.not_kept(), 1);
    EXPECT_EQ(cache.take_warnings(),
              std::vector<std::string>{"the kernel cache is not used: " + folder_.string() +
                                       " can be written by others (mode " + shown + ")"});
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(text(DiskCache(folder_).load(key)), "cubin");  // which nobody replaced
}

TEST_F(DiskCacheTest, AFolderThatOthersCanExchangeIsNotUsed) {
  DiskCache(folder_).store(key, bytes("cubin"), "");
  const fs::path above = folder_.parent_path();
  ASSERT_EQ(chmod(above.c_str(), 0777), 0);
  DiskCache cache(folder_);
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  EXPECT_EQ(
      cache.take_warnings(),
      std::vector<std::string>{"the kernel cache is not used: " + folder_.string() + " lies in " +
                               above.string() + ", which everybody can write to (mode 0777)"});
  ASSERT_EQ(chmod(above.c_str(), 01777), 0);  // as /tmp
  EXPECT_EQ(text(DiskCache(folder_).load(key)), "cubin");
}

TEST_F(DiskCacheTest, ALinkToAFolderOfTheUsersIsFollowed) {
  DiskCache(folder_).store(key, bytes("cubin"), "");
  fs::create_directory_symlink(folder_, root_ / "link");
  EXPECT_EQ(text(DiskCache(root_ / "link").load(key)), "cubin");
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(text(DiskCache(root_ / "link").load(key)), "(nothing)");
}

TEST_F(DiskCacheTest, AnEntryThatOthersCanWriteOrThatIsALinkIsNotUsed) {
  DiskCache(folder_).store(key, bytes("cubin"), "");
  const fs::path path = files().at(0);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  {
    DiskCache cache(folder_);
    EXPECT_EQ(text(cache.load(key)), "(nothing)");
    EXPECT_EQ(cache.take_warnings(),
              std::vector<std::string>{"a file of the kernel cache is not used: " + path.string() +
                                       " can be written by others (mode 0666)"});
  }
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  fs::rename(path, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", path);
  DiskCache cache(folder_);
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  EXPECT_EQ(cache.take_warnings(),
            std::vector<std::string>{"the kernel cache can't be read: " + path.string() +
                                     ": Too many levels of symbolic links"});
}

TEST_F(DiskCacheTest, WhatBelongsToAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  DiskCache(folder_).store(key, bytes("cubin"), "");
  const fs::path path = files().at(0);
  ASSERT_EQ(chown(path.c_str(), 1234, 0), 0);
  DiskCache cache(folder_);
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  ASSERT_EQ(chown(folder_.c_str(), 1234, 0), 0);
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  EXPECT_EQ(cache.take_warnings(),
            (std::vector<std::string>{"a file of the kernel cache is not used: " + path.string() +
                                          " belongs to another user (1234)",
                                      "the kernel cache is not used: " + folder_.string() +
                                          " belongs to another user (1234)"}));
}

TEST(DiskCacheFolder, ARelativeOneIsNotUsed) {
  DiskCache cache("cache-of-here");
  cache.store(key, bytes("cubin"), "");
  EXPECT_FALSE(fs::exists("cache-of-here"));
  EXPECT_EQ(cache.take_warnings(),
            std::vector<std::string>{"the kernel cache is not used: cache-of-here is not an "
                                     "absolute path: code is not loaded from wherever impipe is "
                                     "run"});
}

TEST_F(DiskCacheTest, AReadOnlyFolderIsReadAndCostsOneWarning) {
  DiskCache(folder_).store(key, bytes("cubin"), "");
  fs::permissions(root_, fs::perms(0755));
  fs::permissions(folder_.parent_path(), fs::perms(0755));
  fs::permissions(folder_, fs::perms(0555));
  unprivileged([&] {
    DiskCache cache(folder_);
    EXPECT_EQ(text(cache.load(key)), "cubin");
    EXPECT_TRUE(cache.take_warnings().empty());
    CacheKey other = key;
    other.source += "2";
    cache.store(other, bytes("cubin"), "");
    cache.store(other, bytes("cubin"), "");
    EXPECT_EQ(cache.take_warnings(),
              std::vector<std::string>{"kernels can't be kept for the next run: " +
                                       folder_.string() + ": Permission denied"});
  });
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskCacheTest, AFolderThatCannotBeOneCostsAWarning) {
  std::ofstream(root_ / "file") << "x";
  DiskCache cache(root_ / "file" / "cache");
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  cache.store(key, bytes("cubin"), "");
  EXPECT_EQ(cache.take_warnings(),
            std::vector<std::string>{"kernels can't be kept for the next run: " +
                                     (root_ / "file" / "cache").string() + ": Not a directory"});
  DiskCache none("");
  EXPECT_EQ(text(none.load(key)), "(nothing)");
  none.store(key, bytes("cubin"), "");
  EXPECT_EQ(
      none.take_warnings(),
      std::vector<std::string>{"there is no folder for the kernel cache: set IMPIPE_CACHE_DIR"});
}

TEST_F(DiskCacheTest, AFullDiskCostsAWarningAndLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskCache cache(folder_);
    cache.store(key, Bytes(5000), "");
    const auto warnings = cache.take_warnings();
    _exit(warnings.size() == 1 && warnings[0] == "kernels can't be kept for the next run: " +
                                                     folder_.string() + ": File too large"
              ? 0
              : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(files().empty());
}

TEST_F(DiskCacheTest, ManyProcessesAtOnceSeeWholeEntriesOnly) {
  constexpr int processes = 6, rounds = 150;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      // A small capacity, so that they remove each other's entries too.
      DiskCache cache(folder_, 40000);
      for (int i = 0; i < rounds; ++i) {
        CacheKey mine = key;
        mine.source = "text " + std::to_string(i % 10);
        const Bytes contents(static_cast<std::size_t>(1000 + 700 * (i % 10)),
                             static_cast<std::byte>(i % 10));
        cache.store(mine, contents, "");
        const auto found = cache.load(mine);
        if (found && *found != contents) _exit(1);
      }
      _exit(cache.take_warnings().empty() ? 0 : 2);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : files()) EXPECT_EQ(file.extension(), ".kernel");
}

TEST_F(DiskCacheTest, BeyondItsCapacityTheLeastRecentlyUsedGo) {
  DiskCache cache(folder_, 10000);
  const auto entry = [&](int i) {
    CacheKey k = key;
    k.source = std::to_string(i);
    return k;
  };
  const auto age = [&](int hours) {
    for (const fs::path& file : files()) {
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(hours));
    }
  };
  for (int i = 0; i < 4; ++i) {
    cache.store(entry(i), Bytes(2000), "");
    age(1);
  }
  EXPECT_NE(text(cache.load(entry(0))), "(nothing)");  // used just now
  cache.store(entry(4), Bytes(2000), "");
  cache.store(entry(5), Bytes(2000), "");
  const auto kept = [&](int i) { return cache.load(entry(i)).has_value(); };
  EXPECT_EQ((std::vector{kept(0), kept(1), kept(2), kept(3), kept(4), kept(5)}),
            (std::vector{true, false, false, true, true, true}));  // 5 x 2.2 kB, down to 7.5 kB
}

TEST_F(DiskCacheTest, ClearTakesNothingThatIsNotTheCaches) {
  DiskCache cache(folder_);
  cache.store(key, bytes("cubin"), "");
  std::ofstream(folder_ / "notes.txt") << "mine";
  const std::string ours(32, 'a');
  std::ofstream(folder_ / (ours + ".kernel.1.0.part")) << "left behind";
  for (const std::string name : {"film.mkv.part", "linux.kernel", "x.kernel.1.0.part"}) {
    std::ofstream(folder_ / name) << "a download";
  }
  std::ofstream(folder_ / (ours + ".kernel.mkv.part")) << "a download";
  EXPECT_EQ(clear_cache(folder_), 2);
  EXPECT_EQ(files().size(), 5u);
  EXPECT_EQ(clear_cache(folder_ / "missing"), 0);
}

TEST_F(DiskCacheTest, APipeInAnEntrysPlaceIsNotWaitedFor) {
  DiskCache cache(folder_);
  cache.store(key, bytes("cubin"), "");
  const fs::path file = files().at(0);
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  alarm(20);  // ends the process
  EXPECT_EQ(text(cache.load(key)), "(nothing)");
  alarm(0);
  EXPECT_EQ(
      cache.take_warnings(),
      std::vector{"the kernel cache has a damaged file, which is made anew: " + file.string()});
}

TEST_F(DiskCacheTest, AFolderThatCannotBeReadIsOneWarningAndAnErrorForTheCommands) {
  DiskCache cache(folder_);
  CacheKey other = key;
  other.source = "another";
  cache.store(key, bytes("cubin"), "");
  cache.store(other, bytes("cubin"), "");
  fs::permissions(root_, fs::perms::owner_all | fs::perms::others_all);
  fs::permissions(folder_, fs::perms::none);
  unprivileged([&] {
    cache.load(key);
    cache.load(other);
    EXPECT_EQ(
        cache.take_warnings(),
        std::vector{"the kernel cache can't be read: " + folder_.string() + ": Permission denied"});
    EXPECT_EQ(cache.not_kept(), 0);
    cache.store(key, bytes("cubin"), "");
    EXPECT_EQ(cache.not_kept(), 1);
    for (const auto& act : {std::function<void()>([&] { list_cache(folder_); }),
                            std::function<void()>([&] { clear_cache(folder_); })}) {
      try {
        act();
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), folder_.string() + ": Permission denied");
        EXPECT_EQ(error.code(), ExitCode::file_failed);
      }
    }
  });
  fs::permissions(folder_, fs::perms::owner_all);
}

// In a process of its own: the process's cache, its counts and the dump folder are global.
TEST_F(DiskCacheTest, ABinaryIsCompiledOnceAndARefusedOneAgain) {
  EXPECT_EQ(
      impipe::testing::run_in_fresh_process("Binaries.*", {{"IMPIPE_CACHE_DIR", folder_.string()}}),
      0);
}

TEST(Binaries, DISABLED_AreCompiledOnceAndRefusedOnesAgain) {
  const auto expect_counts = [](int compiled, int cached) {
    EXPECT_EQ(compile_counts().compiled, compiled);
    EXPECT_EQ(compile_counts().cached, cached);
  };
  const fs::path dump = cache_folder() / "dump";
  dump_kernels_to(dump);
  const BinaryRequest request{.key = key,
                              .title = "t",
                              .extension = "cu",
                              .plan = "// n0 point: pixels\n// n1 reduce: a stream\n"};
  int compilations = 0, loads = 0;
  const auto compile = [&] { return ++compilations, bytes("binary"); };
  const auto take = [](std::span<const std::byte> b) { return b.size() == 6; };
  with_binary(request, compile, take);
  expect_counts(1, 0);
  with_binary(request, compile, take);
  EXPECT_EQ(compilations, 1);
  expect_counts(1, 1);
  with_binary(request, compile, [&](std::span<const std::byte>) { return ++loads > 1; });
  EXPECT_EQ(compilations, 2);
  expect_counts(2, 1);
  try {
    with_binary(request, compile, [](std::span<const std::byte>) { return false; });
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::backend);
    EXPECT_STREQ(error.what(), "sm_90: the driver refuses the kernel of t");
  }
  std::vector<std::string> dumped;
  for (const auto& entry : fs::directory_iterator(dump)) {
    EXPECT_EQ(entry.path().extension(), ".cu");
    std::ifstream file(entry.path());
    dumped.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  EXPECT_EQ(dumped, std::vector<std::string>{"// The plan of this kernel:\n// n0 point: pixels\n"
                                             "// n1 reduce: a stream\n" +
                                             key.source});
}

}  // namespace
}  // namespace impipe::jit
