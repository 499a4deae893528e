// Output names: templates, mirrored folders, collisions; whole messages.
#include "io/outputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "core/error.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

Input input(const std::string& path, const std::string& relative = {}) {
  return {.path = path,
          .relative = relative.empty() ? fs::path(path).filename() : fs::path(relative)};
}

TEST(NameTemplate, Fields) {
  const NameFields fields{
      .input = "photos/holiday/cat.v2.jpg", .extension = "png", .index = 7, .frame = 12};
  const std::pair<const char*, const char*> rows[] = {
      {"out/{stem}.{ext}", "out/cat.v2.png"},
      {"{dir}/{name}.npy", "photos/holiday/cat.v2.jpg.npy"},
      {"{index}_{index:05}.png", "7_00007.png"},
      {"f.{frame:04}.exr", "f.0012.exr"},
      {"{{{stem}}}.png", "{cat.v2}.png"},
      {"plain.png", "plain.png"},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(NameTemplate::parse(text).expand(fields), expected) << text;
  }
  EXPECT_EQ(NameTemplate::parse("{dir}/x").expand({.input = "cat.jpg", .extension = "png"}), "./x");
  EXPECT_TRUE(NameTemplate::parse("{index}.png").has_fields());
  EXPECT_FALSE(NameTemplate::parse("{{x}}.{ext}").has_fields());
}

TEST(NameTemplate, ErrorsShowThePlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"out/{stm}.png",
       "-o:1:6: unknown field 'stm'; did you mean 'stem'?\n  out/{stm}.png\n       ^^^"},
      {"{photograph}.png",
       "-o:1:2: unknown field 'photograph'; fields are dir, stem, name, ext, index, frame\n"
       "  {photograph}.png\n   ^^^^^^^^^^"},
      {"a{stem.png", "-o:1:2: '{' without '}'; '{{' is a brace in the name\n  a{stem.png\n   ^"},
      {"a}.png", "-o:1:2: a lone '}'; '}}' is a brace in the name\n  a}.png\n   ^"},
      {"{stem:05}.png",
       "-o:1:6: 'stem' has no width; index and frame have\n  {stem:05}.png\n       ^^^"},
      {"{index:x}.png",
       "-o:1:7: the width of 'index' is a number such as 05\n  {index:x}.png\n        ^^"},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(error_of([&, t = text] { NameTemplate::parse(t); }), expected);
  }
  EXPECT_EQ(error_of([] {
              NameTemplate::parse("{frame}.png").expand({.input = "a.png", .extension = "png"});
            }),
            "'{frame}.png' has {frame}, but 'a.png' is of no frame range such as in.1-100#.png");
}

TEST(OutputTarget, WhatTheOptionMeans) {
  using Kind = OutputTarget::Kind;
  struct Row {
    const char* text;
    Kind kind;
    std::optional<Format> format;
  };
  const Row rows[] = {
      {"edges/", Kind::folder, {}},
      {"edges", Kind::folder, {}},
      {"v1.2", Kind::folder, {}},
      {"out.png", Kind::name_template, Format::png},
      {"OUT.TIFF", Kind::name_template, Format::tiff},
      {"{stem}", Kind::name_template, {}},
      {"{stem}.npy", Kind::name_template, Format::npy},
      {"a.png/", Kind::folder, {}},
      {"-", Kind::standard_output, {}},
  };
  for (const Row& row : rows) {
    const OutputTarget target = parse_target(row.text);
    EXPECT_EQ(target.kind, row.kind) << row.text;
    EXPECT_EQ(target.format, row.format) << row.text;
  }
  EXPECT_EQ(parse_target("out.png", false, Format::tiff).format, Format::tiff);
  EXPECT_EQ(parse_target("", true).kind, Kind::in_place);
  EXPECT_EQ(error_of([] { parse_target("x", true); }), "--in-place and -o exclude each other");
  EXPECT_EQ(error_of([] { parse_target(""); }),
            "no output: -o FOLDER, -o TEMPLATE, -o - or --in-place");
}

TEST(PlanOutputs, FoldersMirrorTheInputTree) {
  const std::vector<Input> inputs{input("in/a.png", "a.png"), input("in/s/b.JPG", "s/b.JPG"),
                                  input("in/scan.v2", "scan.v2"), input("-", "stdin")};
  const std::vector<std::string> extensions{"png", "JPG", "png", "png"};
  EXPECT_EQ(
      plan_outputs(inputs, extensions, parse_target("out")),
      (std::vector<fs::path>{"out/a.png", "out/s/b.JPG", "out/scan.v2.png", "out/stdin.png"}));
  EXPECT_EQ(plan_outputs(inputs, extensions, parse_target("-")),
            (std::vector<fs::path>{"-", "-", "-", "-"}));
  EXPECT_EQ(plan_outputs(std::span(inputs).first(2), extensions, parse_target("{index:02}.{ext}")),
            (std::vector<fs::path>{"01.png", "02.JPG"}));
}

TEST(PlanOutputs, CollisionsNameBothInputs) {
  const std::vector<Input> inputs{input("x/a.png"), input("y/b.png"), input("z/a.png")};
  const std::vector<std::string> extensions{"png", "png", "png"};
  EXPECT_EQ(error_of([&] { plan_outputs(inputs, extensions, parse_target("out")); }),
            "two inputs would be written to 'out/a.png': 'x/a.png' and 'z/a.png'");
  EXPECT_EQ(error_of([&] { plan_outputs(inputs, extensions, parse_target("one.png")); }),
            "-o 'one.png' is one file, but there are 3 inputs, 'x/a.png' and 'y/b.png' among them; "
            "use a folder, or a field such as {stem}");
  EXPECT_EQ(error_of([&] {
              plan_outputs(std::span(inputs).first(2), extensions, parse_target("one.{ext}"));
            }),
            "-o 'one.{ext}' is one file, but there are 2 inputs, 'x/a.png' and 'y/b.png'; "
            "use a folder, or a field such as {stem}");
  // The same stem in two formats, when both become PNG.
  const std::vector<Input> formats{input("a.jpg"), input("a.tif")};
  EXPECT_EQ(error_of([&] { plan_outputs(formats, extensions, parse_target("out")); }),
            "two inputs would be written to 'out/a.png': 'a.jpg' and 'a.tif'");
}

TEST(PlanOutputs, AnInputIsNeverReplacedUnasked) {
  const std::vector<Input> inputs{input("x/a.png"), input("x/b.png")};
  const std::vector<std::string> extensions{"png", "png"};
  const char* message =
      "the output of 'x/a.png' would replace the input 'x/a.png'; choose another -o, or --in-place";
  EXPECT_EQ(error_of([&] { plan_outputs(inputs, extensions, parse_target("x")); }), message);
  EXPECT_EQ(error_of([&] { plan_outputs(inputs, extensions, parse_target("./y/../x/")); }),
            message);
  EXPECT_EQ(error_of([&] { plan_outputs(inputs, extensions, parse_target("{dir}/{name}")); }),
            message);
  EXPECT_EQ(plan_outputs(inputs, extensions, parse_target("", true)),
            (std::vector<fs::path>{"x/a.png", "x/b.png"}));
  const std::vector<Input> stream{{.path = "-", .relative = "stdin", .is_stdin = true}};
  EXPECT_EQ(error_of([&] { plan_outputs(stream, extensions, parse_target("", true)); }),
            "--in-place cannot write to stdin");
}

TEST(PlanOutputs, ASymbolicLinkToAFolderIsThatFolder) {
  char name[] = "/tmp/impipe-outputs-XXXXXX";
  const fs::path root = mkdtemp(name);
  fs::create_directories(root / "real");
  fs::create_directory_symlink("real", root / "link");
  const std::vector<Input> inputs{input((root / "real/a.png").string())};
  const std::vector<std::string> extensions{"png"};
  EXPECT_NE(
      error_of([&] { plan_outputs(inputs, extensions, parse_target((root / "link").string())); }),
      "no error");
  fs::remove_all(root);
}

TEST(OutputExtension, KeepsTheInputsSpelling) {
  struct Row {
    const char* input;
    OutputType type;
    int channels;
    const char* expected;
  };
  const Row rows[] = {
      {"a.JPEG", {Format::jpeg, PixelClass::uint8}, 3, "JPEG"},
      {"a.jpg", {Format::png, PixelClass::logical}, 1, "png"},
      {"a.tif", {Format::tiff, PixelClass::uint8}, 1, "tif"},
      {"a", {Format::tiff, PixelClass::uint8}, 1, "tif"},
      {"a.png", {Format::jpeg, PixelClass::uint8}, 1, "jpg"},
      {"a.ppm", {Format::pnm, PixelClass::uint8}, 1, "pgm"},
      {"a.pgm", {Format::pnm, PixelClass::logical}, 1, "pbm"},
      {"a.pnm", {Format::pnm, PixelClass::uint8}, 3, "pnm"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(output_extension(row.input, row.type, row.channels), row.expected) << row.input;
  }
}

TEST(PrepareFolder, SaysWhyNot) {
  char name[] = "/tmp/impipe-outputs-XXXXXX";
  const fs::path root = mkdtemp(name);
  prepare_folder(root / "a/b");
  EXPECT_TRUE(fs::is_directory(root / "a/b"));
  std::ofstream(root / "file") << "x";
  const std::string file = (root / "file").string();
  EXPECT_EQ(error_of([&] { prepare_folder(file); }),
            "cannot write into the folder '" + file + "': Not a directory");
  fs::remove_all(root);
}

}  // namespace
}  // namespace impipe::io
