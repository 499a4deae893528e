"""Help, version, the small commands, and the exit codes of usage errors."""
import json
import os
import pty
import pathlib
import re
import subprocess
import sys
import unittest

import numpy as np

from program import PROGRAM, ROOT, ProgramTest, colour, ramp

COMMANDS = ["PIPELINE INPUT...", "plan", "ops", "devices", "bench", "diff", "info", "completions"]


class Commands(ProgramTest):
    def test_help_names_every_command_and_goes_to_stdout(self):
        result = self.impipe("--help")
        self.assertEqual(result.err, "")
        for command in COMMANDS:
            self.assertRegex(result.out, rf"(?m)^  impipe {command}")

    def test_help_names_what_the_cache_command_does(self):
        for help_text in (self.impipe("--help").out, self.impipe("cache", "--help").out):
            self.assertIn("impipe cache path|list|clear|warm", help_text)

    def test_the_readme_names_every_operator_under_its_kind(self):
        readme = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8")
        table = readme.split("## The operators\n")[1].split("\n## ")[0]
        named = {}
        for line in table.splitlines():
            kind = re.match(r"\| (\w+) \| (`.*) \|$", line)
            if kind:
                named[kind[1]] = sorted(re.findall(r"`(\w+)`", kind[2]))
        kind, listed = None, {}
        for line in self.impipe("ops").out.splitlines():
            if re.match(r"^\w+:?$", line):
                kind = line.rstrip(":")
            elif kind and re.match(r"^  \w", line):
                listed.setdefault(kind, []).append(line.split()[0])
        self.assertEqual(named, {kind: sorted(names) for kind, names in listed.items()})

    def test_the_first_commands_run_as_they_are_written(self):
        for folder in ("photos", "a", "b", "day1", "day2"):
            self.impipe("noise 64 | gray2rgb | im2uint8", "-o", f"{folder}/a.png")
        self.impipe("phantom 48", "-o", "scan.tif")
        self.impipe("phantom 48", "-o", "in.png")
        readme = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8").split("\n## ")[0]
        env = dict(self.environment(), PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        for text in (readme, self.impipe("--help").out):
            commands = re.findall(r"(?m)^ {2,4}(impipe (?:plan )?'.*?)(?: {3,}.*)?$", text)
            self.assertGreater(len(commands), 4)
            for command in commands:
                done = subprocess.run(command, shell=True, cwd=self.path(), env=env, capture_output=True,
                                      timeout=100)
                self.assertEqual(done.returncode, 0, (command, done.stderr))

    def test_help_names_the_flags_of_a_run(self):
        shown = self.impipe("--help").out + self.impipe("run", "--help").out
        for flag in """--output --recursive --files-from --with --depth --format --strip --in-place
                --no-clobber --fail-fast --errors --shard --threads --memory --max-pixels --progress
                --profile --no-fuse --backend --strict --no-header --watch --idle""".split():
            self.assertIn(flag, shown)
        self.impipe("phantom 16", "-o", "p.png")
        names = self.impipe("mean2 | imcomplement | mean2", "p.png", "-q").lines()[0].split()
        self.assertIn(f"({names[-1]})", shown)

    def test_letters_of_help_take_numbers(self):
        for op in json.loads(self.impipe("ops", "--json").out):
            for p in op["parameters"]:  # kN, as in k7
                self.assertTrue("letter" not in p or "number" in p["takes"], (op["name"], p["name"]))

    def test_version(self):
        self.assertRegex(self.impipe("--version").out, r"^impipe \d+\.\d+\.\d+\n$")

    def test_ops_lists_operators_and_describes_one(self):
        listed = self.impipe("ops").out
        for name in "imadjust conv2 edge imdilate medfilt2 mean2 imhist transpose phantom".split():
            self.assertRegex(listed, rf"(?m)^\s*{name}\b")
        described = self.impipe("ops", "imadjust").out
        for word in ["in", "out", "gamma"]:
            self.assertRegex(described, rf"\b{word}\b")

    def test_ops_of_an_unknown_name_suggests_one(self):
        result = self.impipe("ops", "imajust", code=2)
        self.assertIn("imadjust", result.err)

    def test_help_of_a_name_is_that_of_an_operator_or_a_command(self):
        described = self.impipe("ops", "imadjust").out
        for arguments in (["help", "imadjust"], ["imadjust", "--help"], ["imadjust", "-h"],
                          ["run", "imadjust", "--help"], ["imadjust", "in", "-o", "out", "--help"]):
            self.assertEqual(self.impipe(*arguments).out, described, arguments)
        for command in ("plan", "diff"):
            self.assertEqual(self.impipe("help", command).out, self.impipe(command, "--help").out)
        self.assertEqual(self.impipe("help").out, self.impipe("--help").out)
        self.assertIn("--output", self.impipe("imadjust | edge", "--help").out)

    def test_ops_finds_operators_by_what_they_do(self):
        for words, expected in ((["blur"], ["imgaussfilt", "imboxfilt", "imfilter"]),
                                (["Color"], ["hsv2rgb", "ind2rgb"]),
                                (["grey"], ["rgb2gray"]),
                                (["rotate"], ["imrotate", "rot90"]),
                                (["thumbnail"], ["imresize"]),
                                (["connected", "components"], ["bwlabel"]),
                                (["remove", "noise"], ["medfilt2", "wiener2"]),
                                (["remove", "small", "objects"], ["imopen", "bwareafilt"]),
                                (["sharpen", "edges"], ["imsharpen", "edge"])):
            out = self.impipe("ops", *words).out
            found = re.findall(r"(?m)^  (\w+)", out)
            self.assertLessEqual(set(expected), set(found), words)
            self.assertLess(len(found), 40, words)
            listed = json.loads(self.impipe("ops", *words, "--json").out)
            self.assertEqual([op["name"] for op in listed], found)
        self.assertTrue(self.impipe("ops", "edge", "quagga").out.startswith(
            "no operator has all of 'edge quagga'; these have most of it\n\n  edge "))
        self.assertTrue(self.impipe("ops", "ordfilt3").out.startswith(
            "impipe has no ordfilt3; `ordfilt2` does each page by itself, and none like it works "
            "on volumes (3-D)\n"))

    def test_an_empty_pipeline_converts(self):
        self.picture("in/a.png", colour())
        self.picture("in/b/c.tif", ramp())
        for pipeline in ("", " \n"):
            self.impipe(pipeline, "in", "-r", "-o", "out", "--format", "png")
            self.assertEqual(self.tree("out"), ["a.png", "b/c.png"])
            np.testing.assert_array_equal(self.pixels("out/a.png"), colour())
            np.testing.assert_array_equal(self.pixels("out/b/c.png"), ramp())
        self.write("empty.pipe", "# nothing\n")
        self.assertIn("empty.pipe:1:1: the pipeline is empty",
                      self.impipe("-f", "empty.pipe", "in", "-o", "x", code=2).err)
        self.assertIn("x1, white 255", self.impipe("plan", "", "in/b/c.tif").out)

    def test_plan_touches_no_file(self):
        result = self.impipe("plan", "imadjust | conv2 k7 | edge prewitt")
        for name in ["imadjust", "conv2", "edge"]:
            self.assertIn(name, result.out)
        self.assertEqual(self.tree(), [])

    def test_plan_says_what_a_device_makes_of_each_step(self):
        pipeline = "imgaussfilt 2 | imadjust 0.1,0.9"
        for device in ["cpu", "cuda", "cuda:0", "opencl"]:
            planned = self.impipe("plan", pipeline, "--device", device).out
            self.assertRegex(planned, rf"\ndevice: {device.split(':')[0]}")
            self.assertRegex(planned, r"\n      n0 separable 9x9 replicate: .+\n         .+\n"
                                      r"      n1 point imadjust_linear: .+\n         .+\n")
        cuda = self.impipe("plan", pipeline, "--device", "cuda").out
        self.assertIn("both passes of n0 in tiles of ", cuda)
        self.assertIn("stored because it leaves the kernel; local memory holds the row pass", cuda)
        # As runs take it: the first of several, from the variable too.
        ranked = self.impipe("plan", "medfilt2 7 | imboxfilt 31", "--device", "cpu").out
        self.assertRegex(ranked, r"; \w[\w ]+, [\d.]+ ns a pixel; next \w[\w ]+, [\d.]+ ns a pixel\n")
        self.assertRegex(ranked, r"; (running box|rows of float32), [\d.]+ ns a pixel")
        several = self.impipe("plan", pipeline, "--device", "cuda,cpu").out
        self.assertEqual(several, cuda)
        self.assertEqual(self.impipe("plan", pipeline, env={"IMPIPE_DEVICE": "cuda"}).out, cuda)
        without = self.impipe("plan", pipeline).out
        self.assertNotIn("device:", without)
        # The rest is the same.
        kept = [line for line in cuda.splitlines(True)
                if not line.startswith(("device:", "      n", "         "))]
        self.assertEqual("".join(kept), without)

    def test_plan_of_a_device_that_is_none(self):
        said = self.impipe("plan", "imadjust", "--device", "cudo", code=4).err
        self.assertEqual(said, "impipe: --device: there is no backend 'cudo' in this build, which "
                               "has cpu, cuda, opencl; did you mean 'cuda'?\n")
        said = self.impipe("plan", "imadjust", "--device", "opencl:x", code=2).err
        self.assertEqual(said, "impipe: --device: 'opencl:x' is no device: cuda:0 is one\n")

    def test_info_says_size_class_and_channels(self):
        self.picture("a.png", ramp(40, 60))
        said = self.impipe("info", "a.png").out
        for word in ["60", "40", "uint8"]:
            self.assertIn(word, said)

    def test_diff_of_equal_and_different_pictures(self):
        self.picture("a.png", ramp())
        self.picture("b.png", ramp())
        self.picture("c.png", 255 - ramp())
        self.impipe("diff", "a.png", "b.png", code=0)
        self.impipe("diff", "a.png", "c.png", code=1)

    def test_diff_tells_trouble_from_a_difference(self):
        self.picture("a.png", ramp())
        self.write("broken.png", self.read("a.png")[:100])
        for names, said in ((["a.png", "none.png"], "none.png: no such file"),
                            (["broken.png", "a.png"], "broken.png: "), (["a.png"], "diff takes two"),
                            (["a.png", "a.png", "--fail", "-1"], "--fail: '-1' is no number from 0;"),
                            (["a.png", "a.png", "--hardfail", "nan"], "--hardfail: 'nan' is no number"),
                            (["a.png", "a.png", "--failpercent=101"], "'101' is no number from 0 to 100")):
            self.assertIn(said, self.impipe("diff", *names, code=2).err)
        self.impipe("diff", "a.png", "a.png", "--fail", "0", "--failpercent", "0.5", "--hardfail", "1")

    def test_info_and_diff_read_stdin(self):
        self.picture("a.png", ramp())
        data = self.read("a.png")
        self.assertEqual(self.impipe("info", "-", stdin=data).out[1:],
                         self.impipe("info", "a.png").out[len("a.png"):])
        self.impipe("diff", "a.png", "-", stdin=data)
        self.impipe("diff", "-", "a.png", stdin=b"x", code=2)

    def test_devices_lists_the_cpu(self):
        self.assertIn("cpu", self.impipe("devices").out)

    def test_the_cache_is_listed_and_cleared(self):
        env = {"IMPIPE_CACHE_DIR": self.path("cache")}
        self.assertEqual(self.impipe("cache", "path", env=env).out, self.path("cache") + "\n")
        self.assertEqual(self.impipe("cache", "list", env=env).out, "")
        os.mkdir(self.path("cache"))
        for name in ("a" * 32 + ".kernel", "notes.txt"):
            with open(self.path("cache", name), "w", encoding="utf-8") as file:
                file.write("mine")
        self.assertEqual(self.impipe("cache", "list", env=env).out,
                         "         4  aaaaaaaa  (damaged or another program's)\n")
        self.assertEqual(self.impipe("cache", "clear", env=env).out, "1 files removed\n")
        self.assertEqual(os.listdir(self.path("cache")), ["notes.txt"])

    def test_verbose_says_why_this_device(self):
        self.picture("a.png", ramp())
        run = self.impipe("-v", "imcomplement", "a.png", "--hash")
        self.assertRegex(run.err, "impipe: cpu: about .* of work, and a GPU would take 0.25 s")

    def test_bench_speaks_json(self):
        said = self.impipe("bench", "--json", "--size", 64, "--class", "uint8", "-j", 1, "imadjust")
        row = json.loads(said.out)["results"][0]
        self.assertGreater(row["median_ms"], 0)
        self.assertLessEqual(row["min_ms"], row["median_ms"])
        self.assertLessEqual(row["device_least_us"], row["device_us"])
        self.assertGreaterEqual(row["groups"], 5)
        # The histogram with its limits, the stretch; a gray byte in, a gray byte out.
        self.assertEqual((row["launches"], row["bytes"]), (2, 2 * 64 * 64))
        self.assertEqual(row["yardstick"], "copy")

    def test_bench_tells_what_it_measured(self):
        self.picture("a.png", colour(40, 60))
        for source in (["--input", "a.png", "imcomplement"], ["phantom 50 | imcomplement"]):
            row = json.loads(self.impipe("bench", "--json", "-j", 1, "--repeat", 3,
                                         *source).out)["results"][0]
            self.assertNotIn("size", row)
            self.assertEqual((row["class"], row["channels"], row["width"], row["height"]),
                             ("uint8", 3, 60, 40) if "a.png" in source else ("single", 1, 50, 50))

    def test_bench_measures_alpha_too(self):
        self.picture("a.png", np.dstack([colour(40, 60), ramp(40, 60)]))
        # Colours and alpha are read and written where a filter weighs by it; else the colours.
        for pipeline, bytes_a_pixel in (("imgaussfilt 1", 8), ("imcomplement", 6)):
            for stack in (1, 2):
                row = json.loads(self.impipe("bench", "--json", "-j", 1, "--stack", stack,
                                             "--input", "a.png", pipeline).out)["results"][0]
                self.assertEqual(row["bytes"], stack * bytes_a_pixel * 40 * 60)

    def test_bench_refuses_what_it_would_pass_over(self):
        self.picture("a.png", ramp())
        for arguments, error, code in (
                (["--device", "all", "imcomplement"],
                 "--device: one device is wanted here, not 'all'", 2),
                (["--input", "a.png", "--size", 9, "imcomplement"],
                 "--input has its own size, class and channels", 2),
                (["--suite", "edt"],
                 "unknown option '--suite'; it is an option of impipe-bench, which a build from "
                 "source has beside impipe", 2),
                (["imcomplement", "--naive"],
                 "unknown option '--naive'; it is an option of impipe-bench, which a build from "
                 "source has beside impipe", 2),
                (["--report", "no/where.json", "imcomplement"],
                 "--report: no/where.json can't be written", 1)):
            run = self.impipe("bench", *arguments, code=code)
            self.assertEqual((run.out, run.err), ("", f"impipe: {error}\n"))

    def test_bench_refuses_images_beyond_the_memory(self):
        run = self.impipe("bench", "--size", 65536, "--class", "single", "--channels", 3,
                          "--backend", "cpu", "imlincomb 1 1 1 1 1 :a :b :c :d", code=2)
        self.assertRegex(run.err, r"^impipe: --size: 65536x65536 pixels take about \d{4} GiB here, "
                                  r"and there are [0-9.]+\n$")

    def test_bench_measures_reductions_by_reading(self):
        said = self.impipe("bench", "--json", "--size", 64, "--class", "single", "-j", 1, "mean2")
        row = json.loads(said.out)["results"][0]
        self.assertEqual((row["yardstick"], row["bytes"]), ("read", 4 * 64 * 64))

    def test_adaptive_says_what_it_needs(self):
        self.picture("a.png")
        self.assertEqual(
            self.impipe("imbinarize adaptive", "a.png", "--hash", code=2).err.splitlines()[0],
            "impipe: pipeline:1:12: imbinarize: adaptive compares with the mean over "
            "window=ROWS,COLUMNS; MATLAB's own follows from the picture: 2*floor(size/16)+1, which "
            "is 135,241 for 1920x1080")
        self.assertIn("it belongs to adaptive",
                      self.impipe("imbinarize 0.5 window=31", "a.png", "--hash", code=2).err)
        for text in ("imbinarize adaptive window=31", "imbinarize adaptive 0.4 dark window=[5 31]"):
            self.impipe(text, "a.png", "--hash")

    def test_neighbours_come_from_a_file(self):
        self.write("sides.txt", b"0 1 0\n1 1 1\n0 1 0\n")
        self.write("none.txt", b"0 1 0\n0 1 0\n0 1 0\n")
        self.impipe("noise 40 seed=2 | imbinarize", "-o", "spots.png")
        hashes = [self.impipe(f"bwareaopen 5 {conn}", "spots.png", "--hash").out
                  for conn in ("conn=4", "conn=@sides.txt", "conn=8")]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])
        error = self.impipe("bwareaopen 5 conn=@none.txt", "spots.png", "--hash", code=2).err
        self.assertIn("conn is 4 or [0 1 0; 1 1 1; 0 1 0], 8 or [1 1 1; 1 1 1; 1 1 1]; other "
                      "neighbours are not supported\n", error)

    def test_bars_are_of_rows_that_the_suites_have(self):
        paths = sorted(pathlib.Path(ROOT, "docs/benchmarks/bars").glob("*.json"))
        self.assertTrue(paths)
        bars = [bar for path in paths for bar in json.loads(path.read_text())["bars"]]
        suites = {bar["suite"] for bar in bars}
        rows = set()
        for suite in suites:
            said = self.impipe_bench("--suite", suite, "--size", 320, "-j", 1, "--json").out
            rows |= {(suite, row["name"], row["class"]) for row in json.loads(said)["results"]}
        for bar in bars:
            if "row" in bar:
                self.assertIn((bar["suite"], bar["row"], bar["class"]), rows)
            if "other" in bar:
                self.assertIn((bar["suite"], bar["other"], bar["class"]), rows)

    def test_bars_are_compared_with_what_was_measured(self):
        result = {"name": "dither", "class": "uint8", "size": 64, "device_us": 12.0,
                  "times_yardstick": 1.5}
        report = {"suite": "algorithms", "device": {"name": "Card 1"}, "results": [result]}

        def compare(of, limit, card="Card 1"):
            bar = {"suite": "algorithms", "row": "dither", "class": "uint8", "size": 64, "of": of,
                   "at_most": limit}
            pathlib.Path(self.folder, "bars.json").write_text(
                json.dumps({"device": card, "bars": [bar]}))
            pathlib.Path(self.folder, "report.json").write_text(json.dumps(report))
            run = subprocess.run(
                [sys.executable, pathlib.Path(ROOT, "scripts/compare_bars.py"), "bars.json",
                 "report.json"], cwd=self.folder, capture_output=True, text=True)
            return run.returncode, run.stdout.splitlines()[-1], run.stderr

        met, missed = "1 bars met, 0 missed, 0 not measured", "0 bars met, 1 missed, 0 not measured"
        self.assertEqual(compare("device_us", 12), (0, met, ""))
        self.assertEqual(compare("device_us", 11.9), (1, missed, ""))
        self.assertEqual(compare("times_copy", 1.5), (0, met, ""))
        self.assertEqual(compare("times_copy", 1.4), (1, missed, ""))
        self.assertEqual(compare("device_us", 12, "Card 2"),
                         (1, met, "compare_bars.py: these bars are of one Card 2, but Card 1 was "
                                  "measured\n"))
        result["size"] = 32
        self.assertEqual(compare("device_us", 12), (2, "0 bars met, 0 missed, 1 not measured", ""))

    def test_completions_name_operators_and_flags(self):
        for shell in ["bash", "zsh", "fish"]:
            said = self.impipe("completions", shell).out
            self.assertIn("imadjust", said, shell)
            self.assertIn("recursive", said, shell)
        self.impipe("completions", "tcsh", code=2)

    def test_bash_completes_formats(self):
        self.write("complete.bash", self.impipe("completions", "bash").out)
        run = subprocess.run(
            ["bash", "-c", "source complete.bash; COMP_WORDS=(impipe imcomplement --format j); "
             "COMP_CWORD=3; _impipe; echo \"${COMPREPLY[@]}\""], cwd=self.path(""),
            capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout, "jpg jxl jp2\n")

    def test_a_pipeline_file_with_comments(self):
        self.picture("in/a.png")
        self.write("p.impipe", "# darker\nimadjust 0.1 0.9\n| imcomplement  # and negative\n")
        self.impipe("-f", "p.impipe", "in", "-o", "out")
        self.assertEqual(self.tree("out"), ["a.png"])


class UsageErrors(ProgramTest):
    def setUp(self):
        super().setUp()
        self.picture("in/a.png")

    def test_no_arguments(self):
        self.assertIn("--help", self.impipe(code=2).err)

    def test_a_number_that_no_parameter_takes(self):
        """The first one that takes numbers is named, not the last."""
        self.assertTrue(self.impipe("imbinarize 128", "in", "--hash", code=2).err.startswith(
            "impipe: pipeline:1:12: imbinarize: level takes a number from 0 to 1, or graythresh or adaptive, not 128\n"))

    def test_a_pipeline_without_its_quotes(self):
        for words, whole in [(["imgaussfilt", "2"], "imgaussfilt 2"),
                             (["edge", "canny"], "edge canny"),
                             (["imadjust", "|", "conv2", "k7"], "imadjust | conv2 k7")]:
            said = self.impipe(*words, "in", "--hash", code=2).err
            self.assertEqual(said, f"impipe: '{words[1]}' is no file; a pipeline is one argument, "
                                   f"in quotes: impipe '{whole}' INPUT... -o OUTPUT\n")
        for words, whole in [(["map", "x*2"], "\"map 'x*2'\""),
                             (["map", "x > 100"], "\"map 'x > 100'\""),
                             (["reduce", "max(acc,x)", "init=0"], "\"reduce 'max(acc,x)' init=0\""),
                             (["imfilter", "[1", "2", "1]"], "'imfilter [1 2 1]'"),
                             (["conv2", "[1", "2", "1"], "'conv2 [1 2 1; …]'"),
                             (["imdilate", "disk", "3"], "'imdilate disk 3'"),
                             (["mean2", "as", "m"], "'mean2 as m'")]:
            said = self.impipe(*words, "in", "--hash", code=2).err
            self.assertEqual(said, f"impipe: '{words[1]}' is no file; a pipeline is one argument, "
                                   f"in quotes: impipe {whole} INPUT... -o OUTPUT\n")
        self.assertEqual(self.impipe("mean2", "in", "across=pages", code=2).err,
                         "impipe: 'across=pages' is no file; a pipeline is one argument, in quotes: impipe "
                         "'mean2 across=pages' INPUT... -o OUTPUT\n")
        said = self.impipe("imlincomb", "1", "-1", ":b", "in", code=2).err
        self.assertEqual(said, "impipe: unknown option '-1'; a pipeline with its numbers is one "
                               "argument, in quotes: impipe 'imlincomb 1 -1 :b' INPUT... -o OUTPUT\n")
        # What the shell took: the pattern became a file's name, > a file, | another command.
        self.assertEqual(self.impipe("map", "in/a.png", "-o", "b.png", code=2).err,
                         "impipe: map needs an expression; a pipeline is one argument, in quotes: "
                         "impipe \"map '…'\" INPUT... -o OUTPUT\n")
        with open(self.path("100"), "w") as out:
            said = self.impipe("map", "x", "in", "-o", "b", code=2, stdout=out).err
        self.assertTrue(said.endswith("; a > outside of quotes is the shell's, which made the file "
                                      "'100'\n"), said)
        for words, whole in [(["imadjust"], "'imadjust | …'"), (["map", "x*2"], "\"map 'x*2' | …\"")]:
            self.assertIn(f"; a | outside of quotes is the shell's: impipe {whole} INPUT... -o OUTPUT",
                          self.said_to_a_terminal(*words))
        self.assertIn("missing.png: decode: no such file",
                      self.impipe("imadjust", "missing.png", "--hash", code=1).err)
        # A file of that name is an input, and a name that fits no operator is a missing file.
        os.rename(self.path("in/a.png"), self.path("2"))
        self.impipe("imgaussfilt", "2", "--hash")
        self.assertIn("decode: no such file",
                      self.impipe("imgaussfilt", "photo.png", "--hash", code=1).err)

    def said_to_a_terminal(self, *words):
        """What comes to a terminal when stdout is a pipe."""
        ours, theirs = pty.openpty()
        run = self.start(*words, stderr=theirs)
        run.communicate()
        os.close(theirs)
        said = os.read(ours, 10000).decode()
        os.close(ours)
        return said

    def test_unknown_option(self):
        result = self.impipe("imadjust", "in", "-o", "out", "--colour", code=2)
        self.assertIn("unknown option '--colour'", result.err)

    def test_pipeline_error_shows_the_place_and_the_nearest_name(self):
        result = self.impipe("imadjust | cnov2 k7", "in", "-o", "out", code=2)
        self.assertEqual(result.err, "impipe: pipeline:1:12: unknown operator 'cnov2'; did you "
                                     "mean 'conv2'?\n"
                                     "  imadjust | cnov2 k7\n"
                                     "             ^^^^^\n")
        self.assertNotIn("out", os.listdir(self.folder))

    def test_values_that_cannot_be(self):
        for arguments in [["-j", "many"], ["--shard", "3/2"], ["--shard", "x"],
                          ["--memory", "lots"], ["-d", "uint12"], ["--format", "docx"], ["--progress", "loud"]]:
            with self.subTest(arguments):
                result = self.impipe("imadjust", "in", "-o", "out", *arguments, code=2)
                self.assertNotEqual(result.err, "")
        self.assertNotIn("out", os.listdir(self.folder))

    def test_a_pipeline_that_writes_pictures_needs_an_output(self):
        self.assertIn("-o", self.impipe("imadjust", "in", code=2).err)

    def test_unusable_output_root(self):
        self.write("out", "a file")
        self.assertIn("out", self.impipe("imadjust", "in", "-o", "out", code=2).err)

    def test_a_backend_that_is_not_there(self):
        result = self.impipe("imadjust", "in", "-o", "out", "--backend", "cuda", code=4,
                             env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertIn("cuda", result.err)
        self.assertNotIn("out", os.listdir(self.folder))

    def test_nothing_found(self):
        os.mkdir(self.path("empty"))
        for inputs in [["empty"], ["in/*.tif"], ["in/x.1-5#.png"]]:
            with self.subTest(inputs):
                self.impipe("imadjust", *inputs, "-o", "out", code=3)

    def test_a_named_file_that_is_missing_fails_and_the_rest_is_done(self):
        result = self.impipe("imadjust", "in/a.png", "in/b.png", "-o", "out", code=1)
        self.assertIn("in/b.png", result.err)
        self.assertEqual(self.tree("out"), ["a.png"])

    def test_an_environment_variable_stands_for_a_flag(self):
        self.picture("out/a.png", ramp() * 0)
        self.impipe("imcomplement", "in", "-o", "out", env={"IMPIPE_NO_CLOBBER": "1"})
        self.assertEqual(self.pixels("out/a.png").max(), 0)

    def test_errors_name_the_variable_that_was_set(self):
        for variable, value, said in (
                ("THREADS", "x", "Could not convert: {} = x; see impipe run --help"),
                ("SERVE", "banana", "Could not convert: {} = banana; see impipe run --help"),
                ("MEMORY", "lots", "{}: 'lots' is not an amount such as 512M or 2G"),
                ("QUALITY", "400", "{}: Value 400 not in range 1 to 100; see impipe run --help")):
            flag = "--via" if variable == "SERVE" else "--" + variable.lower()
            run = self.impipe("imcomplement", "in", "-o", "out", env={"IMPIPE_" + variable: value}, code=2)
            self.assertEqual(run.err, f"impipe: {said.format('IMPIPE_' + variable)}\n")
            run = self.impipe("imcomplement", "in", "-o", "out", f"{flag}={value}",
                              env={"IMPIPE_" + variable: "1"}, code=2)
            self.assertEqual(run.err, f"impipe: {said.format(flag)}\n")


if __name__ == "__main__":
    unittest.main()
