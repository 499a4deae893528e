"""What is printed for other programs: rows of measurements, differences and plans."""
import csv
import io
import json
import os
import pty
import subprocess
import unittest

import numpy as np
from program import PROGRAM, ProgramTest, colour, ramp


class Rows(ProgramTest):
    def setUp(self):
        super().setUp()
        self.picture("in/a.png", np.array([[10, 20], [30, 40]], np.uint8))
        self.picture("in/b, \"two\".png", colour())
        self.picture("in/c.png", np.full((2, 2), 7, np.uint8))

    def table(self, *arguments):
        said = self.impipe(*arguments, "in", "--csv").out
        return list(csv.reader(io.StringIO(said, newline="")))

    def test_a_mixed_folder_is_one_table(self):
        rows = self.table("mean2 each")
        self.assertEqual(rows[0], ["file", "mean2", "mean2_r", "mean2_g", "mean2_b"])
        self.assertEqual([row[0] for row in rows[1:]],
                         ["in/a.png", "in/b, \"two\".png", "in/c.png"])
        self.assertEqual(rows[1], ["in/a.png", "25", "", "", ""])
        self.assertEqual(rows[2][1], "")
        for value, channel in zip(rows[2][2:], range(3)):
            self.assertAlmostEqual(float(value), colour()[..., channel].mean(), places=9)
        tabs = [line.split("\t") for line in self.impipe("mean2 each", "in").lines()]
        self.assertEqual([row[1:] for row in tabs], [row[1:] for row in rows])
        self.assertEqual(len(self.impipe("mean2 each", "in", "--csv", "--no-header").lines()), 3)

    def test_an_object_a_line(self):
        lines = self.impipe("mean2 each | std2", "in", "--json").lines()
        told = [json.loads(line) for line in lines]
        self.assertEqual([list(row) for row in told],
                         [["file", "mean2", "std2"],
                          ["file", "mean2_r", "mean2_g", "mean2_b", "std2"],
                          ["file", "mean2", "std2"]])
        self.assertEqual(told[0]["mean2"], 25)
        self.assertEqual(told[2], {"file": "in/c.png", "mean2": 7, "std2": 0})

    def test_hashes(self):
        plain = [line.split("\t")[1] for line in self.impipe("imcomplement", "in",
                                                             "--hash").lines()]
        self.assertEqual([row[1] for row in self.table("imcomplement", "--hash")], plain)
        told = self.impipe("imcomplement", "in", "--hash", "--json").lines()
        self.assertEqual([json.loads(line)["hash"] for line in told], plain[1:])
        self.assertEqual(plain[0], "hash")

    def test_they_exclude_each_other(self):
        self.assertEqual(self.impipe("mean2", "in", "--csv", "--json", code=2).err,
                         "impipe: --json and --csv exclude each other\n")


class Histograms(ProgramTest):
    """Without -o their numbers are printed, or it is said where they go."""

    def test_the_bins_of_imhist_are_columns(self):
        self.picture("a.png", ramp())
        head, row = [line.split("\t") for line in self.impipe("imhist", "a.png").lines()]
        self.assertEqual(head, ["file"] + [f"imhist_{i}" for i in range(1, 257)])
        expected = np.bincount(ramp().ravel(), minlength=256)
        self.assertEqual([int(v) for v in row[1:]], list(expected))
        told = json.loads(self.impipe("mean2 | imhist", "a.png", "--json").out)
        self.assertEqual(told["imhist"], list(expected))
        self.assertAlmostEqual(told["mean2"], ramp().mean(), places=9)

    def test_of_colour_and_gray(self):
        self.picture("in/a.png", ramp())
        self.picture("in/b.png", colour())
        rows = list(csv.reader(io.StringIO(self.impipe("histogram 'x' bins=256", "in",
                                                       "--csv").out)))
        self.assertEqual(len(rows[0]), 1 + 256 + 768)
        self.assertEqual(rows[0][257:259], ["histogram_r_1", "histogram_r_2"])
        self.assertEqual(rows[1][257:], [""] * 768)
        self.assertEqual(rows[2][1:257], [""] * 256)
        self.assertEqual(sum(float(v) for v in rows[2][257:513]), ramp().size)
        told = [json.loads(line) for line in self.impipe("imhist", "in", "--json").lines()]
        self.assertEqual(np.shape(told[0]["imhist"]), (256,))
        np.testing.assert_array_equal(
            told[1]["imhist"],
            [np.bincount(colour()[..., c].ravel(), minlength=256) for c in range(3)])

    def test_what_is_too_much_for_a_row(self):
        self.picture("a.png", ramp())
        said = self.impipe("jointhist :b", "a.png", "--with", "b=a.png")
        self.assertEqual(said.out, "")
        self.assertEqual(said.err, "impipe: jointhist: its 65,536 numbers a file are too many for "
                                   "a row: -o '{stem}.npy' saves them, --json prints them\n")
        told = json.loads(self.impipe("jointhist :b", "a.png", "--with", "b=a.png", "--json").out)
        expected = np.diag(np.bincount(ramp().ravel(), minlength=256))
        np.testing.assert_array_equal(told["jointhist"], expected)

    def test_a_file_takes_them(self):
        self.picture("a.png", ramp())
        said = self.impipe("imhist", "a.png", "-o", "h.npy")
        self.assertEqual((said.out, said.err), ("", ""))
        self.assertEqual(np.load(self.path("h.npy")).sum(), ramp().size)


class Json(ProgramTest):
    def test_a_difference(self):
        one, other = ramp(), ramp()
        other[3, 5] ^= 255
        self.picture("a.png", one)
        self.picture("b.png", other)
        same = json.loads(self.impipe("diff", "a.png", "a.png", "--json").out)
        self.assertEqual(same, {"a": "a.png", "b": "a.png", "same": True, "mean": 0, "rms": 0,
                                "max": 0, "pixels": 2400, "failing": 0, "fail": 1e-6})
        told = json.loads(self.impipe("diff", "a.png", "b.png", "--json", code=1).out)
        self.assertFalse(told["same"])
        self.assertEqual(told["failing"], 1)
        self.assertEqual(told["max_at"], {"x": 5, "y": 3, "channel": 0})
        self.assertAlmostEqual(told["max"], abs(int(one[3, 5]) - int(other[3, 5])) / 255)
        self.picture("c.png", colour())
        told = json.loads(self.impipe("diff", "a.png", "c.png", "--json", code=1).out)
        self.assertEqual(set(told), {"a", "b", "same", "unlike"})

    def test_a_plan(self):
        pipeline = "imadjust | conv2 k7 | edge prewitt"
        self.picture("a.png", ramp(40, 60))
        told = json.loads(self.impipe("plan", pipeline, "a.png", "--json").out)
        text = self.impipe("plan", pipeline, "a.png").out
        self.assertEqual(told["pipeline"], pipeline)
        self.assertEqual((told["input"]["class"], told["input"]["width"], told["input"]["height"]),
                         ("uint8", 60, 40))
        self.assertEqual([stage["text"] for stage in told["stages"]], pipeline.split(" | "))
        self.assertEqual(told["stages"][-1]["makes"]["class"], "logical")
        self.assertIn(f"{len(told['steps'])} steps instead of {told['unfused_steps']}", text)
        for step in told["steps"]:
            self.assertIn(step["what"], text)
            self.assertIn(step["apart"], text)
            self.assertGreater(len(step["stages"]), 0)
        self.assertAlmostEqual(sum(step["bytes_per_pixel"] for step in told["steps"]),
                               told["bytes_per_pixel"])
        self.assertGreater(told["unfused_bytes_per_pixel"], told["bytes_per_pixel"])
        told = json.loads(self.impipe("plan", pipeline, "--json", "--device", "cuda").out)
        self.assertIn("cuda", told["device"])
        self.assertGreater(len(told["steps"][0]["kernel"]), 1)
        self.assertNotIn("width", told["input"])
        told = json.loads(self.impipe("plan", "bwdist", "--class", "logical", "--json").out)
        self.assertIsNone(told["stages"][0]["makes"]["white"])


class NoNumbers(ProgramTest):
    """NaN and the infinities are told apart, by what other programs read."""

    def setUp(self):
        super().setUp()
        for name, value in [("nan", np.nan), ("high", np.inf), ("low", -np.inf), ("one", 1)]:
            np.save(self.path(f"{name}.npy"), np.full((4, 4), value, np.float32))
        self.expected = {"nan.npy": np.nan, "high.npy": np.inf, "low.npy": -np.inf, "one.npy": 1.0}

    def test_json(self):
        said = self.impipe("mean2", *self.expected, "--json").out
        self.assertNotIn("null", said)
        # Strict JSON: Python's reader takes NaN without quotes, others do not.
        rows = [json.loads(line, parse_constant=self.fail) for line in said.splitlines()]
        for row in rows:
            self.assertEqual(repr(float(row["mean2"])), repr(self.expected[row["file"]]))
        self.assertEqual({row["file"]: row["mean2"] for row in rows},
                         {"nan.npy": "NaN", "high.npy": "Infinity", "low.npy": "-Infinity",
                          "one.npy": 1})

    def test_lists(self):
        """A list of numbers has them too: of multithresh, beyond sixteen."""
        row = json.loads(self.impipe("multithresh 18", "nan.npy", "--json").out,
                         parse_constant=self.fail)
        self.assertEqual(row["multithresh"], [["NaN"] * 18])

    def test_tables(self):
        for flags, delimiter in [([], "\t"), (["--csv"], ",")]:
            said = self.impipe("mean2 | max", *self.expected, *flags).out
            numbers = np.genfromtxt(io.StringIO(said), delimiter=delimiter, skip_header=1,
                                    dtype=None, encoding="utf-8")
            for name, mean, _ in numbers:
                self.assertEqual(repr(float(mean)), repr(self.expected[name]))

    def test_files_of_objects(self):
        """The weighted centroid of an object without light is none; of infinite light, too."""
        np.save(self.path("mask.npy"), np.array([[1, 0, 1, 0, 1]], np.uint8) > 0)
        np.save(self.path("light.npy"), np.array([[0, 0, np.inf, 0, -np.inf]], np.float32))
        expected = {"MeanIntensity": [0, np.inf, -np.inf], "WeightedCentroid_x": [np.nan] * 3}
        for name in ["t.csv", "t.tsv", "t.json"]:
            self.impipe("regionprops image=:l", "mask.npy", "--with", "l=light.npy", "-o", name)
            with open(self.path(name), newline="") as file:
                if name == "t.json":
                    rows = json.load(file, parse_constant=self.fail)
                else:
                    rows = list(csv.DictReader(file, delimiter="," if name == "t.csv" else "\t"))
            for column, values in expected.items():
                np.testing.assert_array_equal([float(row[column]) for row in rows], values)

    def test_differences(self):
        told = json.loads(self.impipe("diff", "nan.npy", "one.npy", "--json", code=1).out)
        self.assertEqual((told["max"], told["mean"]), ("Infinity", "Infinity"))


class Terminals(ProgramTest):
    """Names of files do nothing to a terminal, and are told as they are elsewhere."""

    NAMES = ["a\x1b[31mred.png", "b\nc.png", "d\u202egnp.png", "e\x9b2J.png", "f\x7f.png",
             "g,\"h\".png", "caf\u00e9.png"]
    SHOWN = ["a\\x1b[31mred.png", "b\\nc.png", "d\\u202egnp.png", "e\\u009b2J.png", "f\\x7f.png",
             '"g,""h"".png"', "caf\u00e9.png"]

    def setUp(self):
        super().setUp()
        for name in self.NAMES:
            self.picture("in/" + name)

    def on_terminal(self, *arguments):
        """What the program writes to a terminal as stdout."""
        ours, theirs = pty.openpty()
        run = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=subprocess.DEVNULL, env=self.environment())
        os.close(theirs)
        said = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            said += more
        os.close(ours)
        self.assertEqual(run.wait(), 0)
        return said.replace(b"\r\n", b"\n").decode()

    def unsafe(self, text):
        return [c for c in text
                if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")]

    def test_csv(self):
        said = self.on_terminal("mean2", "in", "--csv", "--no-header")
        self.assertEqual(self.unsafe(said), [])
        self.assertEqual({line.rpartition(",")[0].replace("in/", "") for line in said.splitlines()},
                         set(self.SHOWN))
        piped = csv.reader(io.StringIO(self.impipe("mean2", "in", "--csv", "--no-header",
                                                   binary=True).out.decode(), newline=""))
        self.assertEqual({row[0] for row in piped}, {"in/" + name for name in self.NAMES})

    def test_tsv(self):
        said = self.on_terminal("mean2", "in")
        self.assertEqual([c for c in self.unsafe(said) if c != "\t"], [])
        self.assertEqual(said, self.impipe("mean2", "in").out)

    def test_json(self):
        for command in [["mean2", "in", "--json"], ["imcomplement", "in", "--hash", "--json"],
                        ["info", *("in/" + name for name in self.NAMES), "--json"]]:
            said = self.on_terminal(*command)
            self.assertEqual(self.unsafe(said), [])
            self.assertIn("caf\u00e9.png", said)
            self.assertEqual({json.loads(line)["file"] for line in said.splitlines()},
                             {"in/" + name for name in self.NAMES})

    def test_events(self):
        """Lines on stderr that programs read are JSON whatever the names are."""
        said = self.impipe("mean2", "in", "--progress", "json").err
        files = [json.loads(line) for line in said.splitlines()]
        self.assertEqual({event["file"] for event in files if event["event"] == "file"},
                         {"in/" + name for name in self.NAMES})


if __name__ == "__main__":
    unittest.main()
