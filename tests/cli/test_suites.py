"""impipe-bench: suites on several devices, beside plain loops, and drawn on a page."""
import csv
import io
import json
import os
import re
import subprocess
import unittest

from program import ProgramTest
from test_profile import CHROMIUM

PAPERS = ["ipt", "dither", "skeleton", "separable", "simt", "jointhist", "edt"]  # have plain loops


class Suites(ProgramTest):
    def suite(self, name, *arguments, size=40, code=0, devices="cpu:1"):
        return self.impipe_bench("--suite", name, "--device", devices, "--size", size, "--repeat",
                           5, *arguments, code=code, env={"IMPIPE_CACHE_DIR": self.path("cache")})

    def needs_opencl(self):
        said = json.loads(self.impipe("devices", "--json").out)
        usable = any(d["usable"] and d["id"] == "opencl:0" for d in said)
        if not usable and "opencl" not in os.environ.get("IMPIPE_REQUIRE_BACKEND", ""):
            self.skipTest("no OpenCL device")
        self.assertTrue(usable, "opencl is required")

    def test_loops_and_devices_compute_the_same(self):
        for name in PAPERS:
            rows = json.loads(self.suite(name, "--naive", "--json").out)["results"]
            loops = [row for row in rows if row["device"] == "naive"]
            self.assertGreater(len(loops), 0, name)
            for row in rows:
                self.assertTrue(row["same_bits"], row)
                self.assertEqual(row["suite"], name)
                self.assertGreater(row["device_us"], 0)
                self.assertGreater(row["kernel_speedup"], 0)
            measured = {row["name"] for row in rows if row["device"] == "cpu:1"}
            self.assertLessEqual({row["name"] for row in loops}, measured)
            for row in loops:  # what the others are compared with
                self.assertEqual(row["kernel_speedup"], 1)

    def test_the_toolbox_functions(self):
        rows = json.loads(self.suite("ipt", "--json").out)["results"]
        self.assertEqual([row["name"] for row in rows],
                         "intlut imadjust imlincomb edge imregionalmax ordfilt2 conv2 mean2 imdilate "
                         "imerode bwdist radon dither".split())
        self.assertEqual({(row["width"], row["x"]) for row in rows}, {(40, 40)})

    def test_a_table(self):
        devices = ["cpu:1", "cpu"]
        lines = self.suite("ipt", "--naive", "--match", "im", devices=",".join(devices)).lines()
        self.assertRegex(lines[0], r"^ipt: thirteen toolbox functions, .*; impipe \S+, 20\d\d-\d\d-")
        self.assertEqual([line.split(":")[0].strip() for line in lines[1:3]], ["cpu", "cpu"])
        self.assertEqual(lines[3].split(), "row class size naive us cpu:1 us x cpu us x".split())
        table = [line.split() for line in lines[4:-2]]
        self.assertEqual([row[0] for row in table],
                         ["imadjust", "imlincomb", "imregionalmax", "imdilate", "imerode"])
        for row in table:
            self.assertEqual((row[1:3], len(row)), (["uint8", "40x40"], 8))
        for line in lines[-2:]:
            self.assertRegex(line, r"^cpu(:1)?: \d+\.\d\dx naive in the geometric mean of 5 rows$")
        markdown = self.suite("ipt", "--naive", "--match", "imdilate", "--markdown").out
        self.assertRegex(markdown, r"\n\| row \| class \| size \| naive us \| cpu:1 us \| x \|\n"
                                   r"\|---\|---\|---:\|---:\|---:\|---:\|\n\| imdilate \| uint8 \|")

    def test_csv_names_the_rows(self):
        out = self.suite("chain", "--csv").out
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([row["row"] for row in rows[:3]],
                         ["1 operators", "1 operators, --no-fuse", "2 operators"])
        self.assertEqual({row["suite"] for row in rows}, {"chain"})
        fused, apart = [row for row in rows if row["row"].startswith("10 operators")]
        self.assertEqual((fused["fused"], apart["fused"]), ("1", "0"))

    def test_formats_are_read_and_written(self):
        rows = json.loads(self.suite("io", "--json").out)["results"]
        names = {row["name"] for row in rows}
        for name in ("read png", "write png", "read jpg", "write exr", "read npy"):
            self.assertIn(name, names)
        self.assertEqual({row["device"] for row in rows}, {"host"})
        self.assertTrue(all("error" not in row for row in rows))

    def test_without_a_gpu_a_stack_is_one_image_after_the_other(self):
        rows = json.loads(self.suite("stack", "--match", "imadjust 0.1", "--json").out)["results"]
        self.assertEqual([row["stack"] for row in rows], [1, 4, 16, 64, 256, 1024])
        self.assertGreater(rows[-1]["device_us"], 20 * rows[0]["device_us"])

    def test_the_rows_of_a_suite(self):
        self.assertIn("primitives  ", self.impipe_bench("--suite").out)
        said = self.impipe_bench("--suite", "primitives", "--match", "imhist", "--size", 64,
                           "-j", 1, "--json")
        rows = json.loads(said.out)["results"]
        self.assertEqual([(row["name"], row["class"], row["size"]) for row in rows],
                         [("imhist", "uint8", 64), ("imhist, constant", "uint8", 64),
                          ("imhist", "uint16", 64)])
        said = self.impipe_bench("--suite", "edt", "--size", 40, "-j", 1).out
        for picture in ["random", "corner", "half", "circle", "natural", "inverse corner",
                        "inverse half", "inverse circle", "inverse natural"]:
            self.assertEqual(said.count(f" bwdist {picture}\n"), 1)
        self.assertRegex(said, r"worst over best at 40x40: \d+\.\d\d\n$")
        error = self.impipe_bench("--suite", "primitve", code=2).err
        self.assertRegex(error, "^impipe-bench: --suite: 'primitve' is none of [a-z, -]+; did you "
                                r"mean 'primitives'\?\n$")

    def test_refusals(self):
        for arguments, error in (
                ([], "no suite given: impipe-bench --suite NAME; impipe-bench --suite lists them"),
                (["--suite", "edt", "imcomplement"],
                 "--suite brings its own pipelines: 'imcomplement' is one too many"),
                (["--input", "a.png", "--suite", "edt"],
                 "--suite brings its own images: --input is one too many"),
                (["--match", "x", "imcomplement"], "--match chooses rows of a --suite"),
                (["--suites"], "unknown option '--suites'; did you mean '--suite'?"),
                (["--naive", "imcomplement"],
                 "--naive: the suites have plain loops: impipe-bench --suite NAME --naive"),
                (["--html", "a.html", "imcomplement"],
                 "--html draws suites: impipe-bench --suite NAME --html FILE")):
            self.assertEqual(self.impipe_bench(*arguments, code=2).err, f"impipe-bench: {error}\n")
        self.assertFalse(os.path.exists(self.path("a.html")))
        self.assertIn("  impipe-bench --suite NAME\n", self.impipe_bench("--help").out)
        said = self.impipe_bench("--suite", "ipt", "--html", "no/where.html", code=1).err
        self.assertEqual(said, "impipe-bench: no/where.html can't be written\n")

    # What a suite's variants are, of rows that are few; on an OpenCL device, as any GPU has them.
    VARIANTS = [
        ("ipt-pixels", "imlincomb", {"pixels=1", "pixels=2", "pixels=4", "pixels=8", "pixels=16"}),
        ("ipt-copy", "copy", {"width=1", "width=2", "width=4", "width=8", "width=16"}),
        ("skeleton", "erode", {"naive", "local"}),
        ("separable", "radius 2,", {"local+unrolled", "local+rolled", "naive+unrolled"}),
        ("simt", "5 weights", {"naive", "local", "aligned", "conflicts"}),
        ("jointhist", "random", {"atomic", "tagged"})]

    def test_variants_have_the_bits_of_the_usual_kernels(self):
        self.needs_opencl()
        for name, match, variants in self.VARIANTS:
            rows = json.loads(self.suite(name, "--match", match, "--json",
                                         devices="cpu:1,opencl:0").out)["results"]
            self.assertEqual({row.get("variant") for row in rows}, {None} | variants, name)
            for row in rows:
                self.assertTrue(row["same_bits"], row)
                self.assertGreater(row["device_us"], 0, row)
                self.assertGreater(row["bytes"], 0, row)
                if "variant" in row:
                    self.assertEqual(row["device"], "opencl:0")

    def test_what_a_paper_states_stands_beside_what_was_measured(self):
        self.needs_opencl()
        rows = self.suite("separable", "--match", "radius 2,", "--json", devices="opencl:0")
        stated = json.loads(rows.out)["published"]
        self.assertEqual([one["figure"] for one in stated],
                         ["2 and more", "more than 2 on a significant range of radii"])
        for one in stated:
            self.assertEqual((one["device"], one["rows"], one["least"]),
                             ("opencl:0", 1, one["most"]))
            self.assertGreater(one["least"], 0)
        text = self.suite("separable", "--match", "radius 2,", devices="opencl:0").out
        self.assertRegex(text, r"\nloops over the taps unrolled, against rolled ones: 2 and more "
                               r"\(Podlozhnyuk 2007, page 13, Unrolling Loops\); opencl:0 here: "
                               r"\d+\.\d\d to \d+\.\d\d, local\+unrolled over local\+rolled\n")

    def test_variants_of_any_pipeline(self):
        self.needs_opencl()
        rows = list(csv.DictReader(io.StringIO(self.impipe_bench(
            "--device", "opencl:0", "--size", 40, "--repeat", 5, "--csv", "--variant",
            "naive,pixels=1,2", "imcomplement | medfilt2 3").out)))
        self.assertEqual([(row["variant"], row["fused"]) for row in rows],
                         [("", "1"), ("", "0"), ("naive", "1"), ("pixels=1", "1"), ("pixels=2", "1")])
        self.assertEqual({row["same_bits"] for row in rows}, {"1"})
        table = self.suite("jointhist", "--match", "random", "--variant", "none",
                           devices="cpu:1,opencl:0").out
        self.assertNotIn("tagged", table)

    def test_variants_that_are_refused(self):
        for arguments, error in (
                (["--variant", "lokal", "imcomplement"],
                 "--variant: 'lokal' is none of naive, local, aligned, conflicts, rolled, unrolled, "
                 "atomic, tagged, pixels, width; did you mean 'local'?"),
                (["--variant", "pixels=3", "imcomplement"],
                 "--variant: 'pixels=3': pixels= takes 1, 2, 4, 8 or 16"),
                (["--variant", "naive", "--device", "cpu:1,cpu", "imcomplement"],
                 "--variant: kernels of GPUs and of OpenCL have variants, and the devices are "
                 "cpu:1,cpu")):
            self.assertEqual(self.impipe_bench(*arguments, code=2).err, f"impipe-bench: {error}\n")

    @unittest.skipIf(CHROMIUM is None, "Chromium is not installed: scripts/setup.sh test")
    def test_a_browser_draws_every_suite(self):
        devices = "cpu:1,cpu"
        self.suite("all", "--naive", "--match", "r", "--html", "page.html", devices=devices)
        shown = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
             f"--user-data-dir={self.path('chromium')}", "file://" + self.path("page.html")],
            capture_output=True, text=True, timeout=120)
        self.assertNotIn("CONSOLE", shown.stderr)  # no script failed
        dom = shown.stdout[:shown.stdout.index('<script type="application/json"')]
        names = [line.split("  ")[0] for line in self.impipe_bench("--suite").out.splitlines()]
        for name in names[:-1]:  # the last one is "all", which has neither of these
            if name in ("sweep", "colour"):
                continue
            section = re.search(f'<section data-suite="{name}">(.*?)</section>', dom, re.S)
            self.assertTrue(section, name)
            self.assertGreater(section.group(1).count("<circle "), 0, name)
        for device in ["naive", "host", *devices.split(",")]:
            self.assertIn(f"<b>{device}</b>", dom)
        self.assertNotIn("Not measured", dom)
        self.assertNotIn("NaN", dom)


if __name__ == "__main__":
    unittest.main()
