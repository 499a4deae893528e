// Input lists: arguments to files, in order.
#include "io/files/inputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "core/error.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, which is also the working folder.
class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    char name[] = "/tmp/impipe-inputs-XXXXXX";
    root_ = mkdtemp(name);
    fs::current_path(root_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(root_);
  }

  static void put(const fs::path& path, const std::string& content = "P5 1 1 255\n0") {
    if (path.has_parent_path()) fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  // "path>relative" of each input, separated by spaces.
  static std::string text(const InputList& list) {
    std::string out;
    for (const Input& input : list.inputs) {
      out += (out.empty() ? "" : " ") + input.path.string() + ">" + input.relative.string() +
             (input.missing_frame ? "(missing)" : "");
    }
    return out;
  }
  static InputList list(const std::vector<std::string>& arguments, bool recursive = false,
                        const fs::path& output = {}) {
    return list_inputs(arguments, {.recursive = recursive, .output_folder = output});
  }

  fs::path root_;

 private:
  fs::path before_;
};

TEST_F(Inputs, AFolderGivesItsPicturesByNameAndSkipsTheRest) {
  put("in/b.png");
  put("in/a.pgm");
  put("in/broken.jpg", "");          // the extension is known: to be reported, not skipped
  put("in/no_extension");            // the content is known
  put("in/notes.txt", "some text");  // neither
  put("in/.hidden.png");
  put("in/.impipe-0-1-2.tmp");
  put("in/deeper/c.png");
  const InputList found = list({"in"});
  EXPECT_EQ(text(found),
            "in/a.pgm>a.pgm in/b.png>b.png in/broken.jpg>broken.jpg "
            "in/no_extension>no_extension");
  EXPECT_EQ(found.skipped, 1);
  EXPECT_FALSE(found.inputs[0].named);
  EXPECT_EQ(text(list({"in"}, true)),
            "in/a.pgm>a.pgm in/b.png>b.png in/broken.jpg>broken.jpg in/deeper/c.png>deeper/c.png "
            "in/no_extension>no_extension");
}

TEST_F(Inputs, TheOutputFolderInsideTheInputIsLeftOut) {
  put("in/a.png");
  put("in/out/a.png");
  put("in/other/a.png");
  EXPECT_EQ(text(list({"in"}, true, "in/out")), "in/a.png>a.png in/other/a.png>other/a.png");
  EXPECT_EQ(text(list({"in"}, true, "in/../in/out/")), "in/a.png>a.png in/other/a.png>other/a.png");
}

TEST_F(Inputs, LoopsOfSymbolicLinksEnd) {
  put("in/a.png");
  fs::create_directory_symlink("..", "in/up");
  fs::create_directory_symlink(".", "in/self");
  EXPECT_EQ(text(list({"in"}, true)), "in/a.png>a.png");
}

TEST_F(Inputs, NamedFilesStayInOrderAndOnceEach) {
  put("b.png");
  put("a.png");
  const InputList found = list({"b.png", "gone.png", "./a.png", "a.png", "-"});
  EXPECT_EQ(text(found), "b.png>b.png gone.png>gone.png ./a.png>a.png ->stdin");
  EXPECT_TRUE(found.inputs[1].named);
  EXPECT_TRUE(found.inputs[3].is_stdin);
  EXPECT_TRUE(found.unmatched.empty());
}

TEST_F(Inputs, GlobsMirrorWhatIsBelowTheirFixedFolder) {
  put("shots/s1/x.png");
  put("shots/s2/x.png");
  put("shots/s2/y.jpg");
  EXPECT_EQ(text(list({"shots/*/x.png"})), "shots/s1/x.png>s1/x.png shots/s2/x.png>s2/x.png");
  put("odd[1].png");
  put("odd1.png");
  EXPECT_EQ(text(list({"odd[1].png"})), "odd[1].png>odd[1].png") << "a literal file wins";
  fs::remove("odd[1].png");
  EXPECT_EQ(text(list({"odd[1].png"})), "odd1.png>odd1.png");
}

TEST_F(Inputs, WhatMatchesNothingIsNamed) {
  put("empty/notes.txt", "text");
  fs::create_directories("bare");
  const InputList found = list({"x*.png", "empty", "bare", "in.1-3#.exr"});
  ASSERT_EQ(found.unmatched.size(), 4u);
  EXPECT_EQ(found.unmatched[0].reason, "no file matches 'x*.png'");
  EXPECT_EQ(found.unmatched[1].reason,
            "no picture in the folder 'empty' (1 other file); -r looks into its folders");
  EXPECT_EQ(found.unmatched[2].reason,
            "no picture in the folder 'bare'; -r looks into its folders");
  EXPECT_EQ(found.unmatched[3].reason, "no frame of 'in.1-3#.exr' exists");
  EXPECT_TRUE(found.inputs.empty());
}

TEST_F(Inputs, AFolderThatCannotBeReadIsAFailure) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  put("in/a.png");
  put("in/locked/b.png");
  fs::permissions("in/locked", fs::perms::none);
  const InputList found = list({"in"}, true);
  fs::permissions("in/locked", fs::perms::owner_all);
  EXPECT_EQ(text(found), "in/a.png>a.png");
  ASSERT_EQ(found.unreadable.size(), 1u);
  EXPECT_EQ(found.unreadable[0].subject, "in/locked");
  EXPECT_EQ(found.unreadable[0].reason, "Permission denied");
}

TEST_F(Inputs, FrameRangesListMissingFrames) {
  put("in.0001.exr");
  put("in.0003.exr");
  const InputList found = list({"in.1-3#.exr"});
  EXPECT_EQ(text(found),
            "in.0001.exr>in.0001.exr in.0002.exr>in.0002.exr(missing) "
            "in.0003.exr>in.0003.exr");
  EXPECT_EQ(found.inputs[2].frame, 3);
  put("in.1-3#.exr");
  EXPECT_EQ(text(list({"in.1-3#.exr"})), "in.1-3#.exr>in.1-3#.exr") << "a literal file wins";
}

TEST_F(Inputs, FrameRangeSpellings) {
  struct Row {
    const char* text;
    const char* expected;  // before|numbers|digits|after, or nothing
  };
  const Row rows[] = {
      {"in.1-5#.exr", "in.|1 2 3 4 5|4|.exr"},
      {"in.1-3%04d.exr", "in.|1 2 3|4|.exr"},
      {"in.1-3%d.exr", "in.|1 2 3|1|.exr"},
      {"in.1-9x4@@@.exr", "in.|1 5 9|3|.exr"},
      {"a/b_10-12##.png", "a/b_|10 11 12|2|.png"},
      {"in.1001-1004####.exr", "in.|1001 1002 1003 1004|4|.exr"},
      {"in.1-2,8-9#.png", "in.|1 2 8 9|4|.png"},
      {"in.1,3,5-7#.png", "in.|1 3 5 6 7|4|.png"},
      {"in.1-7y3#.png", "in.|2 3 5 6|4|.png"},
      {"in.-2-1#.png", "in.|-2 -1 0 1|4|.png"},
      {"plain.png", ""},
      {"50%.png", ""},
      {"in.1-3%s.png", ""},
      {"a#/b.png", ""},
      {"*/b#.png", ""},
      // Without numbers: those of --frames, or of the files that there are.
      {"in.%04d.exr", "in.||4|.exr"},
      {"in.%d.exr", "in.||1|.exr"},
      {"in.####.exr", "in.||4|.exr"},
      {"in.#.exr", "in.||4|.exr"},
      {"a#1/in_@@@@.exr", "a#1/in_||4|.exr"},
      {"in.7#.png", "in.7||4|.png"},
      {"in.5-1#.png", "in.5-1||4|.png"},
      {"in.1-3x0#.png", "in.1-3x0||4|.png"},
      {"shot-1-3#.png", "shot-|1 2 3|4|.png"},
  };
  for (const Row& row : rows) {
    std::string got;
    if (const auto range = parse_frame_range(row.text)) {
      got = range->before + "|";
      for (size_t i = 0; i < range->frames.size(); ++i) {
        got += (i == 0 ? "" : " ") + std::to_string(range->frames[i]);
      }
      got += "|" + std::to_string(range->digits) + "|" + range->after;
    }
    EXPECT_EQ(got, row.expected) << row.text;
  }
}

TEST_F(Inputs, APatternWithoutNumbersTakesTheFramesThatThereAre) {
  for (const char* name :
       {"in.0998.exr", "in.1001.exr", "in.1003.exr", "in.10000.exr", "in.01002.exr", "in.12.exr",
        "in.exr", "in.1-2.exr", "xin.1004.exr", "in.1005.exr.bak", "in.-0001.exr"}) {
    put(std::string("a/") + name);
  }
  const std::string all =
      "a/in.-0001.exr>in.-0001.exr a/in.0998.exr>in.0998.exr a/in.1001.exr>in.1001.exr "
      "a/in.1003.exr>in.1003.exr a/in.10000.exr>in.10000.exr";
  for (const char* pattern : {"a/in.%04d.exr", "a/in.####.exr", "a/in.@@@@.exr", "a/in.#.exr"}) {
    const InputList found = list({pattern});
    EXPECT_EQ(text(found), all) << pattern;
    EXPECT_EQ(found.inputs.front().frame, -1);
  }
  fs::remove("a/in.10000.exr");
  fs::remove("a/in.-0001.exr");
  EXPECT_EQ(list({"a/in.####.exr"}).gaps,
            (std::vector<std::string>{"'a/in.####.exr' has no frames 999-1000, 1002"}));
  const std::vector<std::string> arguments{"a/in.####.exr"};
  const InputList some = list_inputs(arguments, {.frames = {1001, 1002}});
  EXPECT_EQ(text(some), "a/in.1001.exr>in.1001.exr a/in.1002.exr>in.1002.exr(missing)");
  EXPECT_TRUE(some.gaps.empty());
  EXPECT_EQ(list_inputs(arguments, {.fill_gaps = true}).inputs.size(), 6u);
  put("a/in.####.exr");
  EXPECT_EQ(text(list({"a/in.####.exr"})), "a/in.####.exr>in.####.exr") << "a literal file wins";
  const InputList none = list({"b/in.%04d.exr"});
  ASSERT_EQ(none.unmatched.size(), 1u);
  EXPECT_EQ(none.unmatched[0].reason,
            "no frame of 'b/in.%04d.exr' exists, nor a file of that name");
}

TEST_F(Inputs, ListsOfNames) {
  put("list", "a/x.png\r\n\n./b/x.png\n../up.png\n/abs/z.png\n");
  InputList found;
  add_names(found, read_names("list", false));
  EXPECT_EQ(text(found), "a/x.png>a/x.png ./b/x.png>b/x.png ../up.png>up.png /abs/z.png>z.png");
  put("nul", std::string("with\nnewline.png\0b.png", 22));
  EXPECT_EQ(read_names("nul", true), (std::vector<std::string>{"with\nnewline.png", "b.png"}));
  try {
    read_names("none", false);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "--files-from none: No such file or directory");
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST_F(Inputs, NamesAreSharedOutAboutEvenly) {
  int counts[4] = {};
  for (int i = 0; i < 4000; ++i) {
    const int shard = shard_of("frame" + std::to_string(i) + ".png", 4);
    ASSERT_GE(shard, 1);
    ASSERT_LE(shard, 4);
    ++counts[shard - 1];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST_F(Inputs, AThousandFilesAreQuick) {
  for (int i = 0; i < 1000; ++i) put("in/" + std::to_string(i) + ".pgm");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(list({"in"}).inputs.size(), 1000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

}  // namespace
}  // namespace impipe::io
