"""What a run may write over and what never: collisions, --in-place, saves, closed descriptors, pipes
and names that look like options."""
import os
import time
import re
import shutil
import stat
import subprocess
import unittest

import numpy as np
from PIL import Image, PngImagePlugin
from program import PROGRAM, RUN_TIMEOUT, ProgramTest, colour, ramp


class WithShell(ProgramTest):
    def shell(self, command, code=0, stdin=b""):
        """A line of bash, in which $impipe is the program."""
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, input=stdin,
                              capture_output=True, timeout=RUN_TIMEOUT,
                              env=self.environment({"impipe": PROGRAM}))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def snapshot(self):
        """All files with their content, to see that none was touched."""
        out = {}
        for name in self.tree():
            with open(self.path(name), "rb") as file:
                out[name] = file.read()
        return out

    def refused(self, arguments, message, **options):
        before = self.snapshot()
        result = self.impipe(*arguments, code=2, **options)
        self.assertEqual(result.err, f"impipe: {message}\n")
        self.assertEqual(self.snapshot(), before)


class Collisions(WithShell):
    def setUp(self):
        super().setUp()
        self.picture("in/a.png")
        self.picture("in/b.png", ramp(seed=1))

    def test_a_save_never_replaces_an_input(self):
        message = ("what `save` writes of 'in/a.png' would replace the input 'in/a.png'; choose "
                   "another name for `save`")
        for more in [[], ["--no-clobber"], ["-n"], ["-u"]]:
            with self.subTest(more):
                self.refused(["imcomplement | save '{dir}/{name}' | fliplr", "in", "-o", "out",
                              *more], message)

    def test_an_output_never_replaces_a_second_input(self):
        self.refused(["imlincomb 1 -1 :b", "in/a.png", "--with", "b=in/b.png", "-o", "in/b.png"],
                     "the output of 'in/a.png' would replace 'in/b.png' of --with b; choose "
                     "another -o")
        shutil.copytree(self.path("in"), self.path("other"))
        self.refused(["imlincomb 1 -1 :b", "in", "--with", "b=other", "-o", "other"],
                     "the output of 'in/a.png' would replace 'other/a.png' of --with b; choose "
                     "another -o")

    def test_links_hide_nothing(self):
        os.symlink("in/a.png", self.path("link.png"))
        self.refused(["imcomplement", "link.png", "-o", "in/a.png"],
                     "the output of 'link.png' would replace the input 'link.png', which is "
                     "'in/a.png' too; choose another -o, or --in-place")
        os.makedirs(self.path("out"))
        os.link(self.path("in/a.png"), self.path("out/a.png"))
        self.refused(["imcomplement", "in", "-o", "out"],
                     "the output of 'in/a.png' would replace the input 'in/a.png', which is "
                     "'out/a.png' too; choose another -o, or --in-place")

    def test_nor_the_files_of_the_run_itself(self):
        self.write("k.png", "1 2 1\n")
        self.refused(["conv2 @k.png", "in/a.png", "-o", "k.png"],
                     "the output of 'in/a.png' would replace 'k.png', which the pipeline reads; "
                     "choose another -o")
        self.write("p.png", "imcomplement\n")
        self.refused(["-f", "p.png", "in/a.png", "-o", "p.png"],
                     "the output of 'in/a.png' would replace 'p.png' of -f; choose another -o")
        self.write("list.png", "in/a.png\n")
        self.refused(["imcomplement", "--files-from", "list.png", "-o", "list.png"],
                     "the output of 'in/a.png' would replace 'list.png' of --files-from; choose "
                     "another -o")
        self.refused(["imcomplement", "in/a.png", "-o", "x.png", "--errors", "x.png"],
                     "'x.png' of --errors and the output of 'in/a.png' would both be written to "
                     "'x.png'")
        self.refused(["imcomplement", "in/a.png", "-o", "x.png", "--errors", "in/../in/a.png"],
                     "'in/../in/a.png' of --errors would replace the input 'in/a.png'")

    def test_two_saves_or_a_save_and_an_output_of_one_name(self):
        self.refused(["save x.png | imcomplement | save './x.png'", "in/a.png", "-o", "out"],
                     "what `save` writes of 'in/a.png' and what `save` writes of 'in/a.png' would "
                     "both be written to './x.png'; give them different names")
        self.refused(["save x.png | imcomplement", "in", "-o", "out"],
                     "what `save` writes of 'in/a.png' and what `save` writes of 'in/b.png' would "
                     "both be written to 'x.png'; save '{stem}_x.png' keeps them apart")
        self.refused(["save - | imcomplement", "in/a.png", "-o", "-"],
                     "the output of 'in/a.png' and what `save` writes of 'in/a.png' would both be "
                     "written to stdout; give them different names")

    def test_saves_of_the_other_inputs_count_too(self):
        self.refused(["save '{dir}/b.png' | imcomplement", "in/a.png", "in/b.png", "-o", "out"],
                     "what `save` writes of 'in/a.png' and what `save` writes of 'in/b.png' would "
                     "both be written to 'in/b.png'; save '{dir}/{index:05}_b.png' keeps them "
                     "apart")


class Bounds(WithShell):
    """Nothing is written outside of what -o, or a `save`, begins with."""

    def setUp(self):
        super().setUp()
        self.picture("a/x.png")
        self.picture("a/s/y.png", ramp(seed=1))
        # What is here belongs to others; the runs are in "work", where "out/../a" is another's, too.
        self.write("work/a/x.tif", "somebody's")
        self.others = self.snapshot()
        self.folder = self.path("work")
        self.addCleanup(setattr, self, "folder", os.path.dirname(self.folder))

    def assert_others_are_untouched(self):
        for name, content in self.others.items():
            with open(self.path("..", name), "rb") as file:
                self.assertEqual(file.read(), content)
        self.assertEqual(sorted(os.listdir(self.path(".."))), ["a", "work"])

    def test_the_folder_of_an_input_lies_below_what_precedes_it(self):
        above, absolute = os.path.join("..", "a"), os.path.abspath(self.path("..", "a"))
        here = absolute[1:]
        for number, (inputs, template, expected) in enumerate([
                ([above, "-r"], "{dir}/{stem}.tif", ["a/s/y.tif", "a/x.tif"]),
                ([above, "-r"], "img_{dir}/{stem}.tif", ["img_a/s/y.tif", "img_a/x.tif"]),
                (["../work/../a/s/../x.png"], "{dir}/{name}", ["a/x.png"]),
                ([absolute + "/s"], "{dir}/{name}", [f"{here}/s/y.png"]),
                (["../*/s/*.png"], "{stem}/{dir}/{name}", ["y/a/s/y.png"]),
                (["--files-from", "list"], "{dir}/{index}.png",
                 sorted([f"{here}/1.png", "a/s/2.png"]))]):
            with self.subTest(inputs, template=template):
                self.write("list", f"{absolute}/x.png\n../a/s/y.png\n")
                self.impipe("fliplr", *inputs, "-o", f"out{number}/{template}")
                self.assertEqual(self.tree(f"out{number}"), expected)
        self.impipe("fliplr | save 'saves/{dir}/{name}'", above, "-r", "-o", "out")
        self.assertEqual(self.tree("saves"), ["a/s/y.png", "a/x.png"])
        self.assert_others_are_untouched()

    def test_two_folders_that_become_one(self):
        self.picture("a/x.png")
        self.refused(["fliplr", "a/x.png", "../a", "-o", "out/{dir}/{stem}.tif"],
                     "two inputs would be written to 'out/a/x.tif': 'a/x.png' and '../a/x.png'; "
                     "-o 'out/{dir}/{index:05}_{stem}.tif' keeps them apart")

    def test_names_that_go_up(self):
        self.picture("...png", format="PNG")  # whose stem is ".."
        why = "it goes up by '..'; give a name that begins with the folder it is to be in"
        for template, result, root in (
                ("out/{stem}/{index}.png", "out/../1.png", "'out/'"),
                ("{stem}/{index}.png", "../1.png", "this folder"),
                ("out/{index}/../../../{name}", "out/1/../../../...png", "'out/'")):
            with self.subTest(template):
                self.refused(["fliplr", "...png", "-o", template],
                             f"-o '{template}' would write the result of '...png' to '{result}', "
                             f"outside of {root}: {why}")
                self.refused([f"save '{template}' | fliplr", "...png", "-o", "o.png"],
                             f"save '{template}' would write the result of '...png' to "
                             f"'{result}', outside of {root}: {why}")
        self.assert_others_are_untouched()

    def test_a_pattern_that_goes_up_and_down(self):
        self.picture("b/x.png")
        os.mkdir(self.path("c"))
        self.impipe("fliplr", "c/../*/../b/*.png", "-o", "out")
        self.assertEqual(self.tree("out"), ["b/x.png"])
        self.impipe("fliplr", "*/../../a/s/*.png", "-o", "out2")
        self.assertEqual(self.tree("out2"), ["y.png"])
        self.assert_others_are_untouched()

    def test_symbolic_links_on_the_way(self):
        os.makedirs(self.path("out"))
        os.symlink("../../a", self.path("out/a"))
        os.symlink("out", self.path("link"))
        real = os.path.realpath(self.path("../a"))
        why = (f"'out/a' leads to '{real}'; give a name that begins with the folder it is to be in")
        self.refused(["fliplr", "../a", "-o", "out/{dir}/{stem}.tif"],
                     "-o 'out/{dir}/{stem}.tif' would write the result of '../a/x.png' to "
                     f"'out/a/x.tif', outside of 'out/': {why}")
        self.picture("in/a/x.png")
        self.refused(["fliplr", "in", "-r", "-o", "out"],
                     f"-o 'out' would write the result of 'in/a/x.png' to 'out/a/x.png', outside "
                     f"of 'out/': {why}")
        # One that the user names, and one that stays inside.
        self.impipe("fliplr", "in/a", "-o", "link/b/{stem}.png")
        os.symlink("b", self.path("out/c"))
        self.impipe("flipud", "in/a", "-o", "link/c/{name}")
        self.assertEqual(self.tree("out"), ["b/x.png"])
        self.assert_others_are_untouched()

    def test_beside_the_inputs_is_what_the_user_says(self):
        self.impipe("fliplr", "../a/s", "-o", "{dir}/../flipped/{name}")
        self.impipe("fliplr", "../a", "../a/s", "-o", "{dir}/{stem}_flipped.png")
        self.assertEqual(sorted(set(self.tree("..")) - set(self.others)),
                         ["a/flipped/y.png", "a/s/y_flipped.png", "a/x_flipped.png"])

    def test_with_shards_and_while_watching(self):
        os.makedirs(self.path("out/1"))
        os.symlink("../../../a", self.path("out/1/b"))
        self.picture("in/b/x.png")
        for arguments in (["in", "-r", "--shard", "1/1"], ["in", "-r", "-n"]):
            self.impipe("fliplr", *arguments, "-o", "out/1", code=2)
        run = self.impipe("fliplr", "--watch", "in", "-r", "-o", "out/1", "--idle", "0.5", code=1)
        self.assertRegex(run.err, "in/b/x.png: plan: -o 'out/1' would write .*, outside of 'out/1/'")
        self.assert_others_are_untouched()


class OldExtensions(WithShell):
    def test_a_folder_with_both_formats_is_done(self):
        self.picture("in/x.jpg", ramp(seed=1))
        self.picture("in/x.png", ramp(seed=2))
        result = self.impipe("imadjust | conv2 k7 | edge prewitt", "in/", "-o", "edges/")
        self.assertEqual(self.tree("edges"), ["x.jpg.png", "x.png"])
        self.assertEqual(result.err,
                         "impipe: 'in/x.jpg' is written to 'edges/x.jpg.png', since 'edges/x.png' "
                         "is another input's; -o 'edges/{name}.{ext}' keeps them apart\n")
        # Each result is its own input's.
        for name in ["x.jpg", "x.png"]:
            self.impipe("imadjust | conv2 k7 | edge prewitt", "in/" + name, "-o", "one.png")
            result = {"x.jpg": "x.jpg.png", "x.png": "x.png"}[name]
            np.testing.assert_array_equal(self.pixels("one.png"), self.pixels("edges/" + result))

    def test_order_threads_and_shards_do_not_matter(self):
        names = ["x.jpg", "x.tif", "x.png", "x.jpg.png", "y.bmp", "y.tif"]
        for i, name in enumerate(names):
            self.picture("in/" + name, ramp(20 + i, 30))
        expected = {"x.jpg-2.png": 20, "x.tif.png": 21, "x.png": 22, "x.jpg.png": 23, "y.png": 24,
                    "y.tif.png": 25}
        runs = {"folder": [["in"]], "back": [[f"in/{name}" for name in reversed(names)]],
                "threads": [["in", "-j", "1"]],
                "shards": [["in", "--shard", f"{i}/4"] for i in range(1, 5)]}
        for folder, commands in runs.items():
            with self.subTest(folder):
                for command in commands:
                    self.impipe("imcomplement", *command, "--format", "png", "-o", folder)
                self.assertEqual({name: self.pixels(f"{folder}/{name}").shape[0]
                                  for name in self.tree(folder)}, expected)

    def test_templates_are_the_users_word(self):
        self.picture("in/x.jpg")
        self.picture("in/x.png")
        self.refused(["imcomplement", "in", "-o", "out/{stem}.png"],
                     "two inputs would be written to 'out/x.png': 'in/x.jpg' and 'in/x.png'; "
                     "-o 'out/{name}.png' keeps them apart")
        self.impipe("imcomplement", "in", "-o", "out/{name}.png")
        self.assertEqual(self.tree("out"), ["x.jpg.png", "x.png.png"])

    def test_equal_names_of_two_folders_need_one(self):
        self.picture("one/x.png")
        self.picture("two/x.png")
        self.refused(["imcomplement", "one", "two", "-o", "out"],
                     "two inputs would be written to 'out/x.png': 'one/x.png' and 'two/x.png'; "
                     "-o 'out/{dir}/{stem}.{ext}' keeps them apart")
        self.impipe("imcomplement", "one", "two", "-o", "out/{dir}/{stem}.{ext}")
        self.assertEqual(self.tree("out"), ["one/x.png", "two/x.png"])


class Saves(ProgramTest):
    def test_save_heeds_the_class_of_the_outputs(self):
        mask = np.zeros((8, 9), bool)
        mask[1, 1:3] = mask[4:6, 5] = True
        self.picture("m.png", mask)
        labels = mask.astype(int)
        labels[4:6, 5] = 2
        command = ["bwlabel | save labels.png | max", "m.png"]
        self.impipe(*command, code=1)
        self.impipe(*command, "-d", "uint16")
        self.assertIn("16-bit", self.impipe("info", "labels.png").out)
        np.testing.assert_array_equal(self.pixels("labels.png"), labels)
        run = self.impipe("im2single | save s.png | fliplr", "m.png", "-o", "o.exr", "-d", "half",
                          code=2)
        self.assertEqual(run.err, "impipe: -d half: only EXR holds floats of 16 bits, and m.png "
                                  "goes to PNG\n")

    def test_no_clobber_keeps_saves(self):
        self.picture("in/a.png")
        self.picture("mid/a.png", ramp(3, 3))
        command = ["imcomplement | save 'mid/{stem}.png' | fliplr", "in", "-o", "out",
                   "--no-clobber", "-v"]
        self.impipe(*command)
        self.assertEqual(self.pixels("mid/a.png").shape, (3, 3))
        np.testing.assert_array_equal(self.pixels("out/a.png"),
                                      255 - self.pixels("in/a.png")[:, ::-1])
        self.assertIn("impipe: out/a.png is there already: skipped\n", self.impipe(*command).err)
        # A save that is missing is made, and the result is left alone.
        os.remove(self.path("mid/a.png"))
        self.picture("out/a.png", ramp(2, 2))
        self.impipe(*command)
        np.testing.assert_array_equal(self.pixels("mid/a.png"), 255 - self.pixels("in/a.png"))
        self.assertEqual(self.pixels("out/a.png").shape, (2, 2))

    def test_measurements_are_told_although_saves_are_kept(self):
        self.picture("in/a.png")
        self.picture("mid/a.png", ramp(3, 3))
        lines = self.impipe("save 'mid/{stem}.png' | mean2", "in", "--no-clobber").lines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(self.pixels("mid/a.png").shape, (3, 3))

    def test_update_looks_at_saves(self):
        self.picture("in/a.png")
        command = ["imcomplement | save 'mid/{stem}.png' | fliplr", "in", "-o", "out", "-u"]
        now = time.time()
        os.utime(self.path("in/a.png"), (now - 300, now - 300))
        self.impipe(*command)
        for name, age in [("mid/a.png", 400), ("out/a.png", 200)]:
            os.utime(self.path(name), (now - age, now - age))
        before = os.stat(self.path("out/a.png")).st_mtime
        self.impipe(*command)  # the save is older than the input
        self.assertEqual(os.stat(self.path("out/a.png")).st_mtime, before)
        self.assertGreater(os.stat(self.path("mid/a.png")).st_mtime, before)

    def test_a_dry_run_makes_none(self):
        self.picture("in/a.png")
        self.impipe("save 'mid/{stem}.png' | fliplr", "in", "-o", "out", "-n")
        self.assertEqual(os.listdir(self.folder), ["in"])


class InPlace(WithShell):
    def test_rights_and_symbolic_links_stay(self):
        path = self.picture("store/a.png")
        before = self.pixels("store/a.png")
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            os.chown(path, 1234, 4321)
        try:
            os.setxattr(path, "user.note", b"mine")
        except OSError:
            pass
        attributes = os.listxattr(path)
        os.mkdir(self.path("in"))
        os.symlink("../store/a.png", self.path("in/a.png"))
        old = os.stat(path)
        self.impipe("imcomplement", "in", "--in-place", umask=0o022)
        new = os.stat(path)
        np.testing.assert_array_equal(self.pixels("store/a.png"), 255 - before)
        self.assertTrue(os.path.islink(self.path("in/a.png")))
        self.assertEqual((new.st_mode, new.st_uid, new.st_gid),
                         (old.st_mode, old.st_uid, old.st_gid))
        self.assertEqual(os.listxattr(path), attributes)
        self.assertEqual(self.tree(), ["in/a.png", "store/a.png"])

    def test_hard_links_are_not_parted(self):
        self.picture("in/a.png")
        self.picture("in/c.png")
        os.link(self.path("in/a.png"), self.path("b.png"))
        before = self.snapshot()
        result = self.impipe("imcomplement", "in", "--in-place", code=1)
        self.assertEqual(result.err, "impipe: in/a.png: encode: --in-place cannot replace it: it "
                                     "has 2 names (hard links), and the others would keep the old "
                                     "picture\nimpipe: 1 of 2 files failed\n")
        after = self.snapshot()
        self.assertEqual(after["in/a.png"], before["in/a.png"])
        self.assertNotEqual(after["in/c.png"], before["in/c.png"])

    def test_one_file_by_two_names_is_refused(self):
        self.picture("a.png")
        os.symlink("a.png", self.path("b.png"))
        self.refused(["imcomplement", "a.png", "b.png", "--in-place"],
                     "--in-place: 'a.png' and 'b.png' are the same file")

    def test_what_else_it_refuses(self):
        self.picture("a.png")
        self.picture("b.png")
        self.refused(["imlincomb 1 -1 :b", "a.png", "b.png", "--with", "b=b.png", "--in-place"],
                     "the output of 'b.png' would replace 'b.png' of --with b; give -o instead of "
                     "--in-place")
        for flag in ["-u", "--no-clobber"]:
            self.refused(["imcomplement", "a.png", "--in-place", flag],
                         f"--in-place and {flag} exclude each other")

    def test_texts_and_resolution_stay(self):
        texts = PngImagePlugin.PngInfo()
        texts.add_text("Author", "somebody")
        texts.add_itxt("Title", "a ramp", "en")
        self.picture("a.png", colour(), pnginfo=texts, dpi=(300, 300))
        self.picture("a.jpg", colour(), comment=b"a ramp", dpi=(72, 72))
        self.impipe("imcomplement", "a.png", "a.jpg", "--in-place")
        with Image.open(self.path("a.png")) as picture:
            self.assertEqual(picture.text, {"Author": "somebody", "Title": "a ramp"})
            self.assertEqual(round(picture.info["dpi"][0]), 300)
            picture.load()
        with Image.open(self.path("a.jpg")) as picture:
            self.assertEqual(picture.info["comment"], b"a ramp")
            self.assertEqual(picture.info["dpi"], (72, 72))
            picture.load()
        self.impipe("imcomplement", "a.png", "-o", "bare.png", "--strip")
        with Image.open(self.path("bare.png")) as picture:
            self.assertEqual(picture.text, {})


class ClosedDescriptors(WithShell):
    def test_no_picture_gets_messages(self):
        for i in range(4):
            self.picture(f"in/{i}.png", ramp(seed=i))
        self.write("in/broken.png", b"\x89PNG\r\n\x1a\nbroken")
        self.shell("$impipe imcomplement in -o good --errors errors", code=1)
        expected = self.snapshot()

        def failure(text):  # without what differs from run to run
            return re.sub(rb'"output":"[a-z]+/|"time":"[^"]*"', b"", text)

        for closed in ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 2>&-", "1>&- 2>&-",
                       "0<&- 1>&- 2>&-"]:
            with self.subTest(closed):
                self.shell("$impipe imcomplement in -o out --errors errors --progress lines -v "
                           + closed, code=1)
                with open(self.path("errors"), "rb") as file:  # the first file to be opened
                    self.assertEqual(failure(file.read()), failure(expected["errors"]))
                for i in range(4):
                    with open(self.path(f"out/{i}.png"), "rb") as file:
                        self.assertEqual(file.read(), expected[f"good/{i}.png"])
                shutil.rmtree(self.path("out"))

    def test_results_need_a_stdout(self):
        self.picture("a.png")
        for command in ["mean2 a.png", "imcomplement a.png -o -", "ops", "--help", "info a.png",
                        "--version", "run --help", "plan edge"]:
            with self.subTest(command):
                done = self.shell(f"$impipe {command} >&-", code=1)
                self.assertEqual(done.stderr, b"impipe: stdout: Bad file descriptor\n")
                done = self.shell(f"$impipe {command} >/dev/full", code=1)
                self.assertEqual(done.stderr, b"impipe: stdout: No space left on device\n")
                self.shell(f"$impipe {command} >&- 2>&- <&-", code=1)

    def test_a_closed_stdin_is_no_empty_one(self):
        done = self.shell("$impipe imcomplement - -o a.png <&-", code=1)
        self.assertEqual(done.stderr, b"impipe: -: decode: Bad file descriptor\n")


class Arguments(WithShell):
    def test_two_dashes_end_the_options(self):
        for name in ["-x.png", "--help", "-o"]:
            self.picture("x.png")
            os.rename(self.path("x.png"), self.path(name))
        self.shell("$impipe imcomplement -o out -- -x.png")
        self.shell("$impipe -o out2 -- imcomplement -x.png")
        self.assertEqual(self.tree("out") + self.tree("out2"), ["-x.png", "-x.png"])
        self.assertIn(b"60x40", self.shell("$impipe info -- -x.png --help -o").stdout)
        self.shell("$impipe diff -- -x.png --help")
        self.assertEqual(self.shell("$impipe imcomplement -x.png -o out", code=2).stderr,
                         b"impipe: unknown option '-x.png'; names that begin with a dash "
                         b"follow after --\n")

    def test_an_option_takes_one_value(self):
        self.picture("a.png")
        self.picture("b.png")
        self.shell("$impipe 'imlincomb 1 0 :b' --with b=b.png a.png -o o1.png")
        self.shell("$impipe 'imlincomb 1 0 0 :b :c' --with c=b.png --with=b=b.png a.png -o o2.png")
        self.assertEqual(self.tree(), ["a.png", "b.png", "o1.png", "o2.png"])

    def test_names_that_are_commands_or_lists_elsewhere(self):
        for name in ["ops", "plan", "run", "[a,b]", "++"]:
            self.picture(f"{name}/a.png")
            with self.subTest(name):
                self.impipe("imcomplement", name, "-o", "out-" + name)
                self.assertEqual(self.tree("out-" + name), ["a.png"])


class Pipes(WithShell):
    def setUp(self):
        super().setUp()
        self.picture("a.png")
        self.picture("b.png", ramp(seed=5))
        self.impipe("imlincomb 0.5 0.5 :b", "a.png", "--with", "b=b.png", "-o", "mixed.png")
        self.impipe("imcomplement", "a.png", "-o", "negative.png")

    def same(self, one, other):
        np.testing.assert_array_equal(self.pixels(one), self.pixels(other))

    def test_as_inputs(self):
        self.shell("$impipe imcomplement <(cat a.png) -o o1.png")
        self.shell("cat a.png | $impipe imcomplement /dev/stdin -o o2.png")
        self.shell("$impipe imcomplement /dev/stdin -o o3.png < a.png")
        self.shell("mkfifo f; (cat a.png > f) & $impipe imcomplement f -o o4.png; wait; rm f")
        self.shell("$impipe imcomplement --files-from <(echo a.png) -o lists")
        for name in ["o1.png", "o2.png", "o3.png", "o4.png", "lists/a.png"]:
            self.same(name, "negative.png")
        self.assertIn(b"60x40", self.shell("$impipe info <(cat a.png)").stdout)
        self.shell("$impipe diff <(cat a.png) a.png")
        self.assertIn(b"uint8", self.shell("$impipe plan edge <(cat a.png)").stdout)

    def test_several_at_once(self):
        self.shell("$impipe imcomplement <(cat a.png) <(cat b.png) -j 1 -o '{index}.png'")
        self.same("1.png", "negative.png")

    def test_as_second_inputs(self):
        self.shell("$impipe 'imlincomb 0.5 0.5 :b' a.png --with b=<(cat b.png) -o o1.png")
        self.shell("$impipe 'imlincomb 0.5 0.5 :b' a.png --with b=/dev/stdin -o o2.png < b.png")
        for name in ["o1.png", "o2.png"]:
            self.same(name, "mixed.png")

    def test_as_pipelines_and_matrices(self):
        self.shell("echo imcomplement | $impipe -f /dev/stdin a.png -o o1.png")
        self.shell("$impipe -f <(echo imcomplement) a.png -o o2.png")
        for name in ["o1.png", "o2.png"]:
            self.same(name, "negative.png")
        self.write("k.txt", "1 2 1\n")
        self.picture("c.png", colour())
        # Images of two types, each with a plan of its own.
        self.shell("$impipe 'conv2 @k.txt' a.png c.png -o file")
        self.shell("cat k.txt | $impipe 'conv2 @/dev/stdin' a.png c.png -o pipe")
        for name in ["a.png", "c.png"]:
            self.same("pipe/" + name, "file/" + name)

    def test_no_more_than_the_memory_allows(self):
        self.write("big.pgm", b"P5\n4000 1000\n255\n" + bytes(4_000_000))
        done = self.shell("cat big.pgm | $impipe imcomplement - -o o.pgm --memory 1M", code=1)
        self.assertEqual(done.stderr,
                         b"impipe: -: decode: a pipe gave more than fits into the memory for "
                         b"pictures (--memory)\n")
        done = self.shell("yes '1 1' | $impipe -f /dev/stdin a.png -o o.png", code=2)
        self.assertEqual(done.stderr,
                         b"impipe: -f /dev/stdin: is longer than 64 MiB, which is the most that is "
                         b"read of a text file\n")

    def test_as_outputs(self):
        self.shell("mkfifo p.png; (cat p.png > got) & $impipe imcomplement a.png -o p.png; wait")
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("p.png")).st_mode))
        with Image.open(self.path("got")) as picture:
            np.testing.assert_array_equal(np.asarray(picture), self.pixels("negative.png"))
        os.remove(self.path("p.png"))
        # `cat` ends after the program does; the shell gets what it wrote only then.
        self.shell("mkfifo end; $impipe imcomplement a.png -o >(cat > got2; echo > end); cat end")
        self.shell("$impipe imcomplement a.png -o /dev/stdout > got3")
        self.shell("echo before > got4; $impipe imcomplement a.png -o /dev/stdout >> got4; "
                   "(echo first; $impipe imcomplement a.png -o /dev/fd/7 7>&1) > got5; "
                   "tail -c +8 got4 > after4; tail -c +7 got5 > after5")
        for name in ["got2", "got3", "after4", "after5"]:
            with Image.open(self.path(name)) as picture:
                np.testing.assert_array_equal(np.asarray(picture), self.pixels("negative.png"))


class Temporaries(ProgramTest):
    LEFT = ".impipe-0000000000000001-0000000000000001.tmp"

    def leave(self, name, hours):
        path = self.write(name, "half")
        age = os.stat(path).st_mtime - 3600 * hours
        os.utime(path, (age, age))

    def test_they_are_swept_where_a_run_writes(self):
        self.picture("in/a.png")
        self.picture("in/sub/b.png")
        for folder in ["out", "out/sub", "out/foreign", "mid", "t/in"]:
            self.leave(f"{folder}/{self.LEFT}", 25)
        self.leave("out/.impipe-00000000000000ff-0000000000000001.tmp", 1)
        self.impipe("save 'mid/{stem}.png' | imcomplement", "in", "-r", "-o", "out")
        self.impipe("imcomplement", "in/a.png", "-o", "t/{dir}/{name}")
        self.assertEqual(self.tree("out"), [".impipe-00000000000000ff-0000000000000001.tmp",
                                            "a.png", f"foreign/{self.LEFT}", "sub/b.png"])
        self.assertEqual(self.tree("mid") + self.tree("t"), ["a.png", "b.png", "in/a.png"])
        self.leave(f"in/sub/{self.LEFT}", 25)
        self.impipe("imcomplement", "in", "-r", "--in-place")
        self.assertEqual(self.tree("in"), ["a.png", "sub/b.png"])

    def test_a_dry_run_sweeps_nothing(self):
        self.picture("in/a.png")
        self.leave(f"out/{self.LEFT}", 25)
        self.impipe("imcomplement", "in", "-o", "out", "-n")
        self.assertEqual(self.tree("out"), [self.LEFT])


if __name__ == "__main__":
    unittest.main()
