"""What a job on many machines needs: shares of the files, a summary, threads that it may use."""
import json
import os
import re
import shutil
import subprocess
import unittest

import numpy as np

from program import PROGRAM, ROOT, RUN_TIMEOUT, ProgramTest, ramp


class Shards(ProgramTest):
    def outputs(self, count, *arguments):
        """The outputs of each shard, which together are all, each once."""
        parts = []
        for shard in range(1, count + 1):
            self.impipe("imcomplement", "in", "-r", "-o", f"out{count}-{shard}", "--shard",
                        f"{shard}/{count}", *arguments)
            parts.append(sorted(self.tree(f"out{count}-{shard}")))
        together = sorted(name for part in parts for name in part)
        self.assertEqual(together, sorted(self.tree("in")))
        return parts

    def test_parts_have_as_many_files_but_for_one(self):
        for i in range(11):
            self.picture(f"in/{i % 3}/f{i:03}.png", ramp(3, 4, i))
        for count in (2, 3, 4, 11, 14):
            sizes = [len(part) for part in self.outputs(count)]
            self.assertLessEqual(max(sizes) - min(sizes), 1)
        by_order = self.outputs(3)
        self.assertEqual(by_order[0], sorted(self.tree("in"))[::3])

    def test_parts_have_about_as_many_bytes(self):
        sides = [300, 10, 10, 200, 150, 10, 150, 10, 90, 10]
        for i, side in enumerate(sides):
            np.save(self.make_parent(f"in/{i}.npy"), np.zeros((side, side), np.uint8))
        size = {name: os.path.getsize(self.path("in", name)) for name in self.tree("in")}
        parts = self.outputs(3, "--shard-by", "bytes")
        loads = [sum(size[name] for name in part) for part in parts]
        self.assertEqual(max(loads), size["0.npy"])  # which is alone
        self.assertLess(max(loads[1:]) / min(loads[1:]), 1.3)

    def test_a_name_stays_in_its_part(self):
        for i in range(20):
            self.picture(f"in/{i}.png", ramp(3, 4, i))
        before = self.outputs(4, "--shard-by", "name")
        self.picture("in/000.png", ramp(3, 4, 99))
        after = self.outputs(4, "--shard-by", "name")
        for old, new in zip(before, after):
            self.assertLessEqual(set(old), set(new))
        error = self.impipe("imcomplement", "in", "-o", "o", "--shard", "1/2", "--shard-by", "size",
                            code=2).err
        self.assertIn("--shard-by", error)


class Frames(ProgramTest):
    def setUp(self):
        super().setUp()
        for i in (1, 2, 3, 4, 7, 10, 120):
            self.picture(f"in/shot2.{i:04}.png", ramp(6, 5, i))

    def done(self, *arguments, code=0):
        """The frames that a run did, as their names have them, and what it said."""
        run = self.impipe("imcomplement", *arguments, code=code)
        names = self.tree("out") if os.path.isdir(self.path("out")) else []
        for name in names:
            os.remove(self.path("out", name))
        return [int(name.split(".")[-2]) for name in names], run.err

    def test_frames_are_selected(self):
        for frames, expected in (("1-4", [1, 2, 3, 4]), ("2", [2]), ("1-7x3,120", [1, 4, 7, 120]),
                                 ("1-10:3", [1, 4, 7, 10]), ("120,4", [4, 120])):
            for inputs in (["in"], ["in/*.png"], ["in/shot2.1-120#.png", "--missingfile", "skip"]):
                with self.subTest(frames, inputs=inputs):
                    self.assertEqual(self.done(*inputs, "-o", "out", "--frames", frames),
                                     (expected, ""))

    def test_those_that_are_not_there_are_told_once(self):
        told = "--frames: no input has the frames 5-6, 8-9, 11\n"
        self.assertEqual(self.done("in", "-o", "out", "--frames", "3-11"),
                         ([3, 4, 7, 10], "impipe: " + told))
        self.assertEqual(self.done("in", "-o", "out", "--frames", "3-11", "--strict", code=3),
                         ([], "impipe: --strict: " + told))
        self.assertEqual(self.done("in", "-o", "out", "--frames", "3,5")[1],
                         "impipe: --frames: no input has frame 5\n")
        self.assertEqual(self.done("in", "-o", "out", "--frames", "50-60", code=3),
                         ([], "impipe: --frames: no input has one of the frames 50-60\n"))

    def test_a_file_without_a_number_is_left_out(self):
        self.picture("in/poster.png", ramp(6, 5))
        self.assertEqual(self.done("in", "-o", "out/{stem}.{frame:04}.png", "--frames", "1-2"),
                         ([1, 2], "impipe: --frames leaves out 1 file whose name has no number\n"))

    def test_shards_share_the_frames(self):
        parts = [self.done("in", "-o", "out", "--frames", "1-10", "--shard", f"{i}/3")[0]
                 for i in (1, 2, 3)]
        self.assertEqual(sorted(sum(parts, [])), [1, 2, 3, 4, 7, 10])
        self.assertEqual([len(part) for part in parts], [2, 2, 2])

    def test_a_broken_frame_beside_the_selection_is_none_of_it(self):
        self.write("in/shot2.0005.png", b"half")
        self.assertEqual(self.done("in", "-o", "out", "--frames", "3-4"), ([3, 4], ""))
        self.assertEqual(self.done("in", "-o", "out", "--frames", "4-5", code=1)[0], [4])

    def test_names_do_not_depend_on_the_selection(self):
        self.impipe("imcomplement", "in", "-o", "all/{index}.png")
        for frames in ("1-3", "4-200"):
            self.impipe("imcomplement", "in", "-o", "parts/{index}.png", "--frames", frames)
        self.assertEqual(self.tree("parts"), self.tree("all"))
        for name in self.tree("all"):
            self.assertTrue((self.pixels(f"all/{name}") == self.pixels(f"parts/{name}")).all())
        # Nor may one part replace what another one reads.
        error = self.impipe("imcomplement", "in", "-o", "in/shot2.{index:03}0.png", "--frames", "1",
                            code=2).err
        self.assertIn("would replace the input 'in/shot2.0010.png'", error)

    def test_wrong_lists(self):
        for text in ("", "a", "1-", "5-1", "1-9x0", "1,,2", "1-99999999"):
            run = self.impipe("imcomplement", "in", "-o", "out", "--frames", text, code=2)
            self.assertIn("--frames", run.err)
            self.assertFalse(os.path.exists(self.path("out")))
        self.assertIn("--shard",
                      self.impipe("imcomplement", "in", "-o", "out", "--shard", "", code=2).err)
        run = self.impipe("phantom", "-o", "out.png", "--frames", "1", code=2)
        self.assertIn("--frames selects among inputs", run.err)


class Summary(ProgramTest):
    def summary(self, *arguments, code=0, **more):
        self.impipe(*arguments, "--summary", "s.json", code=code, **more)
        with open(self.path("s.json"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("\n"), 1)
        return json.loads(text)

    def test_what_a_run_did(self):
        for i in range(3):
            self.picture(f"in/{i}.png", ramp(30, 40, i))
        with open(self.path("in/bad.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\nnothing")
        told = self.summary("imcomplement", "in", "-o", "out", "-j", 2, "--shard", "1/1", code=1)
        self.assertEqual([told[key] for key in ("files", "done", "skipped", "failed", "exit")],
                         [4, 3, 0, 1, 1])
        self.assertEqual(sum(told["failures"].values()), 1)
        size = lambda folder: sum(os.path.getsize(self.path(folder, f"{i}.png")) for i in range(3))
        self.assertEqual((told["bytes_read"], told["bytes_written"]), (size("in"), size("out")))
        self.assertEqual((told["pipeline"], told["output"], told["threads"]),
                         ("imcomplement", "out", 2))
        self.assertEqual([device["id"] for device in told["devices"]], ["cpu"])
        for key in ("started", "ended"):
            self.assertRegex(told[key], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertGreater(told["seconds"], 0)
        self.assertTrue(told["version"] and told["host"])
        self.assertNotIn("error", told)

    def test_an_empty_part_has_one_too(self):
        self.picture("in/a.png", ramp(3, 4))
        told = self.summary("imcomplement", "in", "-o", "out", "--shard", "2/2")
        self.assertEqual((told["files"], told["done"], told["shard"], told["shards"]), (0, 0, 2, 2))

    def test_it_replaces_nothing_that_is_read(self):
        self.picture("a.png", ramp(3, 4))
        with open(self.path("a.png"), "rb") as file:
            before = file.read()
        self.impipe("imcomplement", "a.png", "-o", "b.png", "--summary", "a.png", code=2)
        with open(self.path("p.txt"), "w", encoding="utf-8") as file:
            file.write("imcomplement\n")
        self.impipe("-f", "p.txt", "a.png", "-o", "b.png", "--summary", "p.txt", code=2)
        with open(self.path("a.png"), "rb") as file:
            self.assertEqual(file.read(), before)
        with open(self.path("p.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "imcomplement\n")

    def test_failures_name_output_and_time(self):
        with open(self.make_parent("in/bad.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\nnothing")
        self.impipe("imcomplement", "in", "-o", "out", "--errors", "e.jsonl", code=1)
        with open(self.path("e.jsonl"), encoding="utf-8") as file:
            told = [json.loads(line) for line in file]
        self.assertEqual([(row["file"], row["stage"]) for row in told], [("in/bad.png", "decode")])
        self.assertRegex(told[0]["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_progress_has_an_end(self):
        for i in range(2):
            self.picture(f"in/{i}.png", ramp(3, 4, i))
        events = [json.loads(line) for line in
                  self.impipe("imcomplement", "in", "-o", "out", "--progress", "json").err.splitlines()
                  if line.startswith("{")]
        self.assertEqual([event["event"] for event in events], ["begin", "file", "file", "end"])
        self.assertEqual((events[-1]["done"], events[-1]["failed"], events[-1]["stopped"]),
                         (2, 0, False))


class OpenJobDescription(ProgramTest):
    """The lines are those that openjd-sessions 0.14 looks for: its regular expression and its limits."""
    LINE = re.compile(r"^openjd_(?:(?P<progress>progress)|(?P<status>status)|(?P<fail>fail)): (.+)$")

    def lines(self, *arguments, code=0):
        run = self.impipe(*arguments, "--progress", "openjd", code=code)
        told = []
        for line in run.lines():
            match = self.LINE.match(line)
            self.assertTrue(match, line)
            told.append((match.lastgroup or
                         next(k for k, v in match.groupdict().items() if v), match.groups()[-1]))
        return told, run

    def test_progress_and_status(self):
        for i in range(8):
            self.picture(f"in/{i}.png", ramp(3, 4, i))
        told, run = self.lines("imcomplement", "in", "-o", "out")
        self.assertEqual(told[0], ("status", "8 files"))
        progress = [float(text) for kind, text in told if kind == "progress"]
        self.assertEqual(progress, [0, 12.5, 25, 37.5, 50, 62.5, 75, 87.5, 100])
        self.assertEqual(told[-1][0], "status")
        self.assertRegex(told[-1][1], r"^8 of 8 files done, 0 skipped, 0 failed in [\d.]+ s$")
        self.assertEqual(run.err, "")

    def test_many_files_are_a_thousand_lines_at_most(self):
        self.picture("a.png", ramp(2, 2))
        os.makedirs(self.path("in"))
        for i in range(1500):
            os.link(self.path("a.png"), self.path(f"in/{i}.png"))
        told, _ = self.lines("imcomplement", "in", "-n", "-o", "out")
        progress = [float(text) for kind, text in told if kind == "progress"]
        self.assertEqual(progress, sorted(set(progress)))
        self.assertEqual((progress[0], progress[-1], len(progress)), (0, 100, 1001))

    def test_failures(self):
        self.picture("in/a.png", ramp(3, 4))
        self.write("in/b\nopenjd_env: A=1.png", b"\x89PNG\r\n\x1a\nnothing")
        told, run = self.lines("imcomplement", "in", "-o", "out", code=1)
        self.assertEqual([kind for kind, _ in told if kind != "progress"],
                         ["status", "status", "fail"])
        self.assertTrue(told[-1][1].startswith("in/b\\nopenjd_env: A=1.png: decode: "), told)
        self.write("in/c.png", b"")
        told, run = self.lines("imcomplement", "in", "-o", "out", code=1)
        self.assertTrue(told[-1][1].startswith("2 files failed; the first: in/b\\n"), told)
        self.assertIn("1 of 3 files done, 0 skipped, 2 failed", told[-2][1])

    def test_what_ends_a_run_is_told_in_one_line(self):
        self.picture("in/a.png", ramp(3, 4))
        told, run = self.lines("imcomplement | nothing", "in", "-o", "out", code=2)
        self.assertEqual(len(told), 1)
        self.assertEqual(told[0][0], "fail")
        self.assertIn("nothing", told[0][1])
        self.assertIn("^^^", run.err)
        told, _ = self.lines("imcomplement", "none*", "-o", "out", code=3)
        self.assertEqual(told, [("fail", "no argument matched any picture")])

    def test_no_picture_goes_between_the_lines(self):
        self.picture("a.png", ramp(3, 4))
        reason = "--progress openjd has stdout, and no picture may go there"
        told, _ = self.lines("imcomplement", "a.png", "-o", "-", "--format", "png", code=2)
        self.assertEqual(told, [("fail", reason + ": give -o FOLDER")])
        told, run = self.lines("imcomplement | save -", "a.png", "-o", "b.png", code=1)
        self.assertIn(("fail", reason), told)


class Manual(ProgramTest):
    """The commands of docs/farm.md."""
    SCRIPTS = {"farm": "scripts/test_farm.sh", "packaging": "scripts/test_packaging.sh"}

    def blocks(self):
        """The commands by the mark above them, which says who runs them: <!-- test: part -->."""
        with open(os.path.join(ROOT, "docs/farm.md"), encoding="utf-8") as file:
            text = file.read()
        found = re.findall(r"((?:<!-- .* -->\n)?)\n((?:^    .*\n)+)", text, re.MULTILINE)
        return {mark.strip()[5:-4]: re.sub("(?m)^    ", "", block) for mark, block in found}

    def test_each_command_is_run_by_a_test(self):
        run = {}
        for kind, path in self.SCRIPTS.items():
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                run[kind] = re.findall(r"(?m)^[^#\n]*\brun_block (\w+)", file.read())
        run["test"] = ["part", "frames", "watch", "again", "retries", "summaries", "parallel"]
        marks = [f"{kind}: {name}" for kind, names in run.items() for name in names]
        self.assertEqual(sorted(self.blocks()), sorted(set(marks)))

    def shell(self, text):
        path = os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]
        return subprocess.run(["sh", "-c", text], cwd=self.folder, capture_output=True, text=True,
                              env={**self.environment(), "PATH": path})

    def test_its_commands(self):
        for i in range(9):
            self.picture(f"renders/{i % 2}/{i}.png", ramp(6, 5, i))
        blocks = self.blocks()
        for name in ("part", "again", "retries"):
            block = blocks["test: " + name]
            for part in range(1, 9):
                run = self.shell(block.replace("2/8", f"{part}/8").replace("part-2", f"part-{part}"))
                self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        run = self.shell(blocks["test: frames"].replace("1-100x2,120", "1-7x2,8").replace("blurred", "some"))
        self.assertEqual((run.returncode, run.stderr[:8]), (0, "impipe: "), run.stderr)
        self.assertEqual(sorted(self.tree("some")),
                         ["0/8.png", "1/1.png", "1/3.png", "1/5.png", "1/7.png"])
        names = sorted(self.tree("renders"))
        self.assertEqual(sorted(self.tree("blurred")), names)
        run = self.shell("mv renders incoming; " + blocks["test: watch"].replace("600", "0.5") +
                         "mv incoming renders")
        self.assertEqual((run.returncode, sorted(self.tree("half"))), (0, names), run.stderr)
        with open(self.path("watch.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["done"], 9)
        self.assertEqual(json.loads(self.shell(blocks["test: summaries"]).stdout)["done"], 9)
        run = self.shell(blocks["test: parallel"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(self.tree("inverted")), names)


class HostileTexts(ProgramTest):
    """Texts that the tools which start parts would run, or change: each makes a marker where it is
    run by a shell, perl or make, and is a pipeline, which is to be done as it stands."""
    TEXTS = ["imcomplement | save 'm{{.}}{{= `touch ran1`; system(q(touch ran2)) =}}{{}}{{#}}{{%}}{stem}.png'",
             "imcomplement | save '$(touch ran3)$$(shell touch ran4)${{HOME}}$(shell touch ran5)_{stem}.png'",
             "imcomplement | save \"`touch ran6`'; touch ran7; '%s%d%%#IFRAME#_{stem}.png\"",
             "imcomplement\n  | save 'a;touch ran8;_{stem}.png'\n#'\n\n  | fliplr\n",
             "imcomplement'\r\ntouch ran9\ntouch ran10 #", "--help", "ops", "-f"]

    def setUp(self):
        super().setUp()
        for i in range(4):
            self.picture(f"in/{i}.png", ramp(6, 5, i))
        # Names get no special treatment either.
        self.names = {"INPUT": "in", "OUTPUT": "o'$(touch ran11)", "REPORTS": "reports"}

    def run_tool(self, command, env=None):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              timeout=RUN_TIMEOUT,
                              env={**self.environment(), "IMPIPE": PROGRAM, **(env or {})})

    def check(self, start):
        """start: runs a text in two parts and returns what the tool did."""
        for text in self.TEXTS:
            with self.subTest(text):
                self.write("text", text)
                alone = self.impipe("-f", "text", "in", "-o", "alone", code=None)
                saves = self.take_saves()
                run = start(text)
                self.assertEqual(run.returncode == 0, alone.code == 0, run.stderr + run.stdout)
                self.assertEqual(self.take_saves(), saves)
                self.assertEqual([name for name in self.tree()
                                  if re.search(r"(^|/)ran\d+$", name)], [])
                if alone.code == 0:
                    self.assertEqual(self.tree(self.names["OUTPUT"]), self.tree("in"))
                for name in ("alone", self.names["OUTPUT"], self.names["REPORTS"]):
                    shutil.rmtree(self.path(name), ignore_errors=True)

    def take_saves(self):
        names = [name for name in os.listdir(self.folder) if name.endswith(".png")]
        for name in names:
            os.remove(self.path(name))
        return sorted(names)

    def script(self, name, text, *more, env=None):
        return self.run_tool(["sh", os.path.join(ROOT, "packaging", name), "2", text,
                              *self.names.values(), *more], env)

    def test_parallel(self):
        self.names["REPORTS"] = "rep {.} {= `touch ran12` =}"
        self.check(lambda text: self.script("parallel/parts.sh", text, "-j", "2"))

    def test_make(self):
        self.check(lambda text: self.run_tool(
            ["make", "-f", os.path.join(ROOT, "packaging/make/Makefile"), "PARTS=2",
             f"IMPIPE={PROGRAM}", f"PIPELINE={text}",
             *(f"{key}={value}" for key, value in self.names.items())]))

    def test_opencue(self):
        # What cuecmd 1.37 does in a frame: a line of the file, by a shell.
        cuecmd = self.write("cuecmd", "#!/usr/bin/env python3\nimport subprocess, sys\n"
                                      "with open(sys.argv[1], encoding='utf-8') as file:\n"
                                      "    lines = [line.strip() for line in file if line.strip()]\n"
                                      "sys.exit(any([subprocess.run(line, shell=True).returncode\n"
                                      "              for line in lines]))\n")
        os.chmod(cuecmd, 0o755)
        self.check(lambda text: self.script("opencue/submit.sh", text, env={"CUECMD": cuecmd}))
        self.names["OUTPUT"] = "a\ntouch ran13"
        run = self.script("opencue/submit.sh", "imcomplement", env={"CUECMD": cuecmd})
        self.assertEqual((run.returncode, run.stderr),
                         (2, "submit.sh: names with line breaks cannot stand in cuecmd's file\n"))

    def test_slurm(self):
        numbers = {"JOB_ID": 7, "TASK_COUNT": 2, "TASK_MIN": 1, "TASK_MAX": 2}

        def both(text):
            for part in (1, 2):
                run = self.run_tool(
                    ["sh", os.path.join(ROOT, "scripts/farm/slurm.sh"), text, *self.names.values()],
                    {"SLURM_ARRAY_TASK_ID": str(part), **{f"SLURM_ARRAY_{key}": str(value)
                                                          for key, value in numbers.items()}})
            return run
        self.check(both)


class Billion(ProgramTest):
    """The commands of docs/scale.md, for ten pictures."""
    def blocks(self):
        with open(os.path.join(ROOT, "docs/scale.md"), encoding="utf-8") as file:
            text = file.read()
        return [re.sub("(?m)^    ", "", block) for block in
                re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)]

    def test_its_commands(self):
        for i in range(9):
            self.picture(f"data/in/0{i % 2}/{i}.jpg", ramp(6, 5, i))
        names = sorted(self.tree("data/in"))
        self.write("data/in/01/bad.jpg", "broken")
        self.write("data/nodes", ":\n")  # this machine
        self.write("lists/pipeline.txt", "imgaussfilt 1\n")
        for folder in ("node", "data/out"):
            os.makedirs(self.path(folder))
        here = {"/data": self.path("data"), "/lists": self.path("lists"),
                "PIPELINE": "'imgaussfilt 1'", "-l 10000": "-l 3", "000007": "000002",
                "$TMPDIR": self.path("node")}
        lists, archive, parallel, check = self.blocks()
        run = Manual.shell(self, f"cd {self.path('data')}; tar -cf part-000007.tar in".replace(
            "000007", here["000007"]))
        for block, code in ((lists, 0), (archive, 0), (parallel, 1), (check, 0)):
            for name, value in here.items():
                block = block.replace(name, value)
            run = Manual.shell(self, f"cd {self.path('data')}; {block}")
            if block.startswith("cd "):  # the third list has three of the ten files, in any order
                self.assertEqual(len(self.tree("lists")), 7, run.stderr)
                self.assertLessEqual(len(self.tree("data/out")), 3)
                continue
            self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(sorted(self.tree("data/out/in")), names)
        self.assertTrue(os.path.exists(self.path("data/out/part-000002.tar")))
        self.assertEqual(json.loads(run.stdout), {"files": 10, "failed": 1})
        with open(self.path("lists/again"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "in/01/bad.jpg\n")


class Slurm(ProgramTest):
    """The batch script as Slurm starts it; with Slurm itself scripts/test_farm.sh runs it."""
    SCRIPT = os.path.join(ROOT, "scripts/farm/slurm.sh")

    def task(self, part, *options, code=0, restarts=None, parts=4, **more):
        numbers = {"JOB_ID": 7, "TASK_ID": part, "TASK_COUNT": parts, "TASK_MIN": 1, "TASK_MAX": parts}
        env = {**self.environment(), "IMPIPE": PROGRAM, "SLURM_CPUS_PER_TASK": "1",
               **{f"SLURM_ARRAY_{key}": str(value) for key, value in numbers.items()},
               **{key: str(value) for key, value in more.items()}}
        if restarts is not None:
            env["SLURM_RESTART_COUNT"] = str(restarts)
        run = subprocess.run(["sh", self.SCRIPT, "imcomplement", "in", "out", "reports", *options],
                             cwd=self.folder, capture_output=True, text=True, env=env)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr

    def report(self, code=0):
        run = subprocess.run(["sh", self.SCRIPT, "--report", "reports/7"], cwd=self.folder,
                             capture_output=True, text=True, env=self.environment())
        self.assertEqual(run.returncode, code, run.stderr)
        with open(self.path("reports/7/failed.jsonl"), encoding="utf-8") as file:
            return json.loads(run.stdout), [json.loads(line)["file"] for line in file]

    def test_tries_are_added_up(self):
        for i in range(8):
            self.picture(f"in/{i}.png", ramp(5, 6, i))
        self.write("in/2.png", b"no picture")  # the first of part 3, as 6.png is its second
        self.task(1)
        self.task(3, code=1)
        told, failed = self.report(code=1)
        self.assertEqual((told["parts"], told["missing"]), (4, [2, 4]))
        for part in (2, 4):
            self.task(part)
        self.task(3, code=1, restarts=1)
        # A try that died while it wrote.
        self.write("reports/7/part-4.try-1.json", b'{"shard": 4, "dev')
        self.write("reports/7/part-1.try-1.jsonl", b'{"file": "in/0')
        told, failed = self.report()
        self.assertEqual([told[key] for key in ("files", "done", "skipped", "failed", "tries")],
                         [8, 6, 1, 1, 5])
        self.assertEqual((told["missing"], told["stopped"], failed), ([], [], ["in/2.png"]))
        self.picture("in/2.png", ramp(5, 6, 2))
        self.task(3, restarts=2)
        told, failed = self.report()
        self.assertEqual((told["failed"], failed), (0, []))
        self.assertEqual(sorted(self.tree("out")), sorted(self.tree("in")))

    def test_one_part_needs_their_number(self):
        self.picture("in/0.png", ramp(5, 6))
        one = {"SLURM_ARRAY_TASK_MIN": 3, "SLURM_ARRAY_TASK_MAX": 3, "SLURM_ARRAY_TASK_COUNT": 1}
        self.assertIn("PARTS=N", self.task(3, code=2, **one))
        self.task(3, PARTS=4, **one)
        with open(self.path("reports/7/part-3.try-0.json"), encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual([told[key] for key in ("shard", "shards", "threads")], [3, 4, 1])


class Limits(ProgramTest):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one processor alone")
    def test_threads_are_those_of_the_affinity(self):
        self.picture("a.png", ramp(3, 4))
        for wanted in (1, 2):
            one = set(sorted(os.sched_getaffinity(0))[:wanted])
            run = subprocess.run([PROGRAM, "-v", "imcomplement", "a.png", "-o", "b.png"],
                                 cwd=self.folder, capture_output=True, text=True,
                                 preexec_fn=lambda: os.sched_setaffinity(0, one))
            self.assertRegex(run.stderr, rf"\b{wanted} threads, at most")


if __name__ == "__main__":
    unittest.main()
