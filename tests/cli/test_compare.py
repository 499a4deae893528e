"""impipe bench on several devices and against an older measurement, and run --compare."""
import csv
import io
import json
import os
import re
import unittest

from program import ProgramTest, ramp
from test_profile import CHAIN, DEVICES


class Bench(ProgramTest):
    LIST = ",".join(["cpu:1", *DEVICES])
    NAMES = [name + fuse for name in LIST.split(",") for fuse in ("", " --no-fuse")]

    def bench(self, *arguments, code=0):
        return self.impipe("bench", "--device", self.LIST, "--size", 256, "-j", 2, "--repeat", 5,
                           *arguments, code=code, env={"IMPIPE_CACHE_DIR": self.path("cache")})

    def test_a_table(self):
        lines = self.bench(CHAIN).lines()
        self.assertRegex(lines[0], r"^imadjust \| conv2 k7 \| edge prewitt: 256x256, 1 channel, uint8; "
                                   r"impipe \S+, 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        devices = [line for line in lines if line.startswith("  ")]
        self.assertEqual([line.split(":")[0].strip() for line in devices],
                         ["cpu"] + (["opencl"] if "opencl:0" in DEVICES else []))
        table = lines[1 + len(devices):]
        self.assertEqual(table[0].split(), "device threads kernel us +- speed-up cold ms overall "
                                           "ms +- speed-up bits".split())
        rows = table[1:1 + len(self.NAMES)]
        self.assertEqual([re.split(r"  +", row)[0] for row in rows], self.NAMES)
        for row in rows:
            self.assertTrue(row.endswith("  same"), row)
        self.assertEqual(re.split(r"  +", rows[0])[4], "1.00x")
        for line in table[1 + len(self.NAMES):]:
            self.assertRegex(line, r"^\S+ 0\.\dx overall: [\d.e+]+ [um]s of transfers"
                                   r"( and [\d.e+]+ [um]s of the host)? for [\d.e+]+ [um]s of work$|"
                                   r"^\S+ 1\.0x overall: ")

    def test_figures(self):
        told = json.loads(self.bench(CHAIN, "mean2", "--json").out)
        self.assertEqual((told["program"], len(told["results"])), ("impipe", 2 * len(self.NAMES)))
        self.assertTrue(told["version"])
        first = told["results"][0]
        for row in told["results"][:len(self.NAMES)]:
            self.assertTrue(row["same_bits"])
            self.assertGreaterEqual(row["runs"], 5)
            self.assertGreaterEqual(row["groups"], 5)
            self.assertAlmostEqual(row["kernel_speedup"], first["device_us"] / row["device_us"])
            self.assertAlmostEqual(row["overall_speedup"], first["median_ms"] / row["median_ms"])
            self.assertGreater(row["cold_ms"], 0)
            for key in ("device_deviation_us", "wall_deviation_ms", "transfer_ms"):
                self.assertGreaterEqual(row[key], 0)
            self.assertTrue(row["driver"] and row["device_name"])
        fused, unfused = told["results"][:2]
        self.assertLess(fused["launches"], unfused["launches"])
        self.assertEqual((fused["fused"], unfused["fused"]), (True, False))
        if "opencl:0" in DEVICES:
            self.assertGreater(told["results"][-1 - len(self.NAMES)]["transfer_ms"], 0)

    def test_other_forms(self):
        rows = list(csv.DictReader(io.StringIO(self.bench(CHAIN, "mean2", "--csv").out)))
        self.assertEqual(len(rows), 2 * len(self.NAMES))
        self.assertEqual({row["pipeline"] for row in rows}, {CHAIN, "mean2"})
        for row in rows:
            self.assertEqual((row["class"], row["width"], row["channels"], row["same_bits"],
                              row["error"]), ("uint8", "256", "1", "1", ""))
            self.assertGreater(float(row["device_us"]), 0)
        lines = self.bench("imcomplement", "--markdown").lines()
        self.assertTrue(lines[0].startswith("**imcomplement: 256x256"))
        table = [line for line in lines if line.startswith("|")]
        self.assertEqual({line.count("|") for line in table}, {11})
        self.assertEqual(len(table), 2 + len(self.NAMES))

    def test_a_device_that_is_not_here(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("there is a card")
        said = self.impipe("bench", "--device", "cpu:1,cuda:0", "--size", 64, "imcomplement", code=4)
        self.assertRegex(said.out, r"(?m)^cuda:0 .*cannot be used: ")
        self.assertRegex(said.out, r"(?m)^cpu:1 .*  same$")

    def test_usage(self):
        for arguments, message in (
                (["--device", "cpu:x"], "--device: 'cpu:x': cpu:4 is the CPU with four threads"),
                (["--device", "cpu,,cpu"], "--device: 'cpu,,cpu' has an empty name"),
                (["--json", "--csv"], "--json, --markdown and --csv exclude each other"),
                (["--device", "cpu,cpu:1", "--backend", "cpu"],
                 "--device names the backends: leave --backend out")):
            said = self.impipe("bench", "imcomplement", *arguments, code=2)
            self.assertEqual(said.err, f"impipe: {message}\n")

    def test_against_an_older_one(self):
        old = json.loads(self.bench("mean2", "--json").out)
        old["results"][0]["device_us"] *= 100
        old["results"][0]["device_deviation_us"] = 0
        self.write("old.json", json.dumps(old))
        said = self.bench("mean2", "--against", "old.json").out
        self.assertRegex(said, r"(?m)^faster [\d.]+x: cpu:1, kernels .*: mean2$")
        self.assertRegex(said, r"(?m)^\d+ figures within the noise$")
        said = self.bench("imcomplement", "--json", "--against", "old.json")
        self.assertEqual(said.err, f"0 figures within the noise, {len(self.NAMES)} rows that the "
                                   "file does not have\n")
        json.loads(said.out)
        self.write("bad.json", "{")
        self.assertEqual(self.bench("mean2", "--against", "bad.json", code=1).err,
                         "impipe: --against: bad.json is no JSON\n")
        self.assertEqual(self.bench("mean2", "--against", "none.json", code=1).err,
                         "impipe: --against: none.json: it cannot be read\n")
        one = self.impipe("bench", "mean2", "--size", 64, "--json").out
        self.write("one.json", one)
        said = self.impipe("bench", "mean2", "--size", 64, "--against", "one.json").out
        self.assertRegex(said.splitlines()[-1], r"^\d+ figures within the noise$")


class Run(ProgramTest):
    LIST = ",".join(["cpu:1", *DEVICES])

    def compare(self, *arguments, code=0):
        return self.impipe(*arguments, "--compare", self.LIST, "-j", 2, code=code,
                           env={"IMPIPE_CACHE_DIR": self.path("cache")})

    def test_a_folder_on_each_device(self):
        for i in range(3):
            self.picture(f"in/{i}.png", ramp(100, 140, i))
        told = json.loads(self.compare(CHAIN, "in", "--json").out)["results"]
        self.assertEqual([(row["device"], row["fused"]) for row in told],
                         [(name, fused) for name in self.LIST.split(",")
                          for fused in (True, False)])
        for row in told:
            self.assertTrue(row["same_bits"])
            self.assertEqual((row["runs"], row["width"], row["height"]), (5, 140, 100))
            self.assertLessEqual(row["device_us"], 1e3 * row["median_ms"] * row["threads"])
            self.assertGreater(row["device_us"], 0)
            self.assertAlmostEqual(row["overall_speedup"],
                                   told[0]["median_ms"] / row["median_ms"])
        self.assertEqual(self.tree(".")[-3:], ["in/0.png", "in/1.png", "in/2.png"])
        text = self.compare("mean2 | imhist", "in").out
        self.assertEqual(text.count("  same\n"), len(told))

    def test_usage(self):
        self.picture("in/a.png")
        self.assertEqual(self.compare("imcomplement", "in", "-o", "out", code=2).err,
                         "impipe: --compare writes nothing: leave -o and --in-place out\n")
        self.assertEqual(self.compare("imcomplement", "none", code=1).err,
                         "impipe: none: no such file\n")
        self.assertEqual(self.impipe("imcomplement", "in", "-n", "--markdown", code=2).err,
                         "impipe: --markdown is a form of --compare\n")


if __name__ == "__main__":
    unittest.main()
