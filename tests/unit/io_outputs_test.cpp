// Output names: templates, mirrored folders, collisions; whole messages.
#include "io/files/outputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
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

TEST(NameTemplate, MarksOfFrames) {
  const std::pair<const char*, const char*> rows[] = {
      {"out/f.####.exr", "out/f.0012.exr"},
      {"out/f.#.exr", "out/f.0012.exr"},
      {"f.##.exr", "f.12.exr"},
      {"f.@@@.exr", "f.012.exr"},
      {"f.%05d.exr", "f.00012.exr"},
      {"f_%d.exr", "f_12.exr"},
      {"a#b/f.#.exr", "a#b/f.0012.exr"},
      {"a#/f.exr", "a#/f.exr"},
      {"100%.exr", "100%.exr"},
      {"f#{frame:02}.exr", "f#12.exr"},
  };
  for (const auto& [text, expected] : rows) {
    const NameTemplate name = NameTemplate::parse(with_frame_field(text));
    EXPECT_EQ(name.expand({.input = "x.exr", .extension = "exr", .frame = 12}), expected) << text;
  }
}

TEST(NameTemplate, FoldersBelowOthers) {
  struct Row {
    const char *input, *text, *expected, *root;
  };
  const Row rows[] = {
      {"a/b/x.png", "out/{dir}/{name}", "out/a/b/x.png", "out/"},
      {"../a/x.png", "out/{dir}/{name}", "out/a/x.png", "out/"},
      {"../../x.png", "out/{dir}/{name}", "out/./x.png", "out/"},
      {"a/../../b/./x.png", "out/{dir}/{name}", "out/b/x.png", "out/"},
      {"/data/a/x.png", "out/{dir}/{name}", "out/data/a/x.png", "out/"},
      {"/x.png", "out_{dir}/{name}", "out_./x.png", ""},
      {"../a/x.png", "../o/i_{stem}/{dir}/{name}", "../o/i_x/a/x.png", "../o/"},
      {"x.png", "/{index}/{dir}/{name}", "/1/./x.png", "/"},
      // A {dir} at the beginning is where the input lies.
      {"../a/x.png", "{dir}/{name}", "../a/x.png", "../a/"},
      {"/data/a/x.png", "{dir}/../b/{stem}/{dir}", "/data/a/../b/x/data/a", "/data/a/../b/"},
      {"../a/x.png", "{dir}_b/{name}", "../a_b/x.png", "../a_b/"},
      {"../a/x.png", "{dir}_{name}", "../a_x.png", "../"},
      {"x.png", "{dir}/{name}", "./x.png", "./"},
  };
  for (const Row& row : rows) {
    const NameTemplate name = NameTemplate::parse(row.text);
    const NameFields fields{.input = row.input, .extension = "png"};
    EXPECT_EQ(name.expand(fields), row.expected) << row.text;
    EXPECT_EQ(name.root(fields), row.root) << row.text;
  }
}

TEST(NameTemplate, ErrorsShowThePlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"out/{stm}.png",
       "-o:1:6: unknown field 'stm'; did you mean 'stem'?\n  out/{stm}.png\n       ^^^"},
      {"{photograph}.png",
       "-o:1:2: unknown field 'photograph'; fields are dir, stem, name, ext, index, frame, page, "
       "z, t, c\n"
       "  {photograph}.png\n   ^^^^^^^^^^"},
      {"a{stem.png", "-o:1:2: '{' without '}'; '{{' is a brace in the name\n  a{stem.png\n   ^"},
      {"a}.png", "-o:1:2: a lone '}'; '}}' is a brace in the name\n  a}.png\n   ^"},
      {"{stem:05}.png",
       "-o:1:6: 'stem' has no width; index, frame, page, z, t and c have\n  {stem:05}.png\n       "
       "^^^"},
      {"{index:x}.png",
       "-o:1:7: the width of 'index' is a number such as 05\n  {index:x}.png\n        ^^"},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(error_of([&, t = text] { NameTemplate::parse(t); }), expected);
  }
  EXPECT_EQ(
      error_of([] {
        NameTemplate::parse("{frame}.png").expand({.input = "a.png", .extension = "png"});
      }),
      "'{frame}.png' has {frame}, but 'a.png' is of no frame range such as in.1-100#.png, nor is "
      "there --frames");
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
      plan_outputs(inputs, extensions, parse_target("out")).paths,
      (std::vector<fs::path>{"out/a.png", "out/s/b.JPG", "out/scan.v2.png", "out/stdin.png"}));
  EXPECT_EQ(plan_outputs(inputs, extensions, parse_target("-")).paths,
            (std::vector<fs::path>{"-", "-", "-", "-"}));
  EXPECT_EQ(
      plan_outputs(std::span(inputs).first(2), extensions, parse_target("{index:02}.{ext}")).paths,
      (std::vector<fs::path>{"01.png", "02.JPG"}));
}

TEST(PlanOutputs, CollisionsNameBothInputsAndATemplate) {
  const std::vector<Input> inputs{input("x/a.png"), input("y/b.png"), input("z/a.png")};
  const std::vector<std::string> extensions{"png", "png", "png"};
  const auto error = [&](size_t count, const char* output) {
    return error_of(
        [&] { plan_outputs(std::span(inputs).first(count), extensions, parse_target(output)); });
  };
  EXPECT_EQ(error(3, "out"),
            "two inputs would be written to 'out/a.png': 'x/a.png' and 'z/a.png'; "
            "-o 'out/{dir}/{stem}.{ext}' keeps them apart");
  EXPECT_EQ(error(3, "one.png"),
            "-o 'one.png' is one file, but there are 3 inputs, 'x/a.png' and 'y/b.png' among them; "
            "-o '{index:05}_one.png' keeps them apart");
  EXPECT_EQ(error(2, "one.{ext}"),
            "-o 'one.{ext}' is one file, but there are 2 inputs, 'x/a.png' and 'y/b.png'; "
            "-o '{stem}_one.{ext}' keeps them apart");
  const std::vector<Input> above{input("/p/a.png"), input("/q/a.png")};
  EXPECT_EQ(error_of([&] { plan_outputs(above, extensions, parse_target("out")); }),
            "two inputs would be written to 'out/a.png': '/p/a.png' and '/q/a.png'; "
            "-o 'out/{dir}/{stem}.{ext}' keeps them apart");
  // The same stem in two formats, when a template makes both PNG.
  const std::vector<Input> formats{input("a.jpg"), input("a.tif")};
  EXPECT_EQ(error_of([&] { plan_outputs(formats, extensions, parse_target("out/{stem}.png")); }),
            "two inputs would be written to 'out/a.png': 'a.jpg' and 'a.tif'; "
            "-o 'out/{name}.png' keeps them apart");
}

TEST(PlanOutputs, InAFolderOldExtensionsKeepNamesApart) {
  struct Row {
    std::vector<std::string> inputs, outputs;  // all become PNG
    const char* note;
  };
  const Row rows[] = {
      {{"x.jpg", "x.png"},
       {"x.jpg.png", "x.png"},
       "'x.jpg' is written to 'out/x.jpg.png', since 'out/x.png' is another input's; "
       "-o 'out/{name}.{ext}' keeps them apart"},
      {{"x.tif", "y.png", "x.jpg", "x.bmp"},
       {"x.tif.png", "y.png", "x.jpg.png", "x.png"},
       "'x.jpg' is written to 'out/x.jpg.png', since 'out/x.png' is another input's; 1 more like "
       "it; -o 'out/{name}.{ext}' keeps them apart"},
      // The longer name is an input's as well.
      {{"x.jpg", "x.jpg.png", "x.png"}, {"x.jpg-2.png", "x.jpg.png", "x.png"}, nullptr},
      {{"scan.v2", "scan.v2.png"}, {"scan.v2-2.png", "scan.v2.png"}, nullptr},
      {{"s/x.jpg", "t/x.png"}, {"s/x.png", "t/x.png"}, ""},
  };
  for (const Row& row : rows) {
    // Whatever the order, each input has the same name.
    std::vector<size_t> order(row.inputs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      std::vector<Input> inputs;
      for (const size_t i : order) inputs.push_back(input(row.inputs[i], row.inputs[i]));
      const std::vector<std::string> extensions(inputs.size(), "png");
      const PlannedOutputs planned = plan_outputs(inputs, extensions, parse_target("out"));
      for (size_t i = 0; i < order.size(); ++i) {
        EXPECT_EQ(planned.paths[i], "out/" + row.outputs[order[i]]) << inputs[i].path;
      }
      if (row.note != nullptr) {
        EXPECT_EQ(planned.note, row.note);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
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
