"""--profile in its forms, and --trace: times that add up, and the page in a browser."""
import json
import os
import re
import shutil
import subprocess
import unittest

from program import PROGRAM, SANITIZED, ProgramTest, ramp

CHAIN = "imadjust | conv2 k7 | edge prewitt"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def has_opencl():
    said = subprocess.run([PROGRAM, "devices", "--json"], capture_output=True, text=True).stdout
    return any(d["id"] == "opencl:0" and d["usable"] for d in json.loads(said))


DEVICES = ["cpu"] + (["opencl:0"] if has_opencl() else [])


class ProfileTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.cache = {"IMPIPE_CACHE_DIR": self.path("cache")}

    def pictures(self, count=6, shape=(700, 900)):
        for i in range(count):
            self.picture(f"in/{i}.png", ramp(*shape, i))

    def profile(self, *arguments, pipeline=CHAIN, env=None):
        said = self.impipe(pipeline, "in", "-o", "out", "-j", 2, "--profile=json", *arguments,
                           env={**self.cache, **(env or {})}).err
        return json.loads(said[said.index("{"):])


class Json(ProfileTest):
    def test_the_wall_clock_is_accounted_for(self):
        self.pictures()
        for device in DEVICES:
            with self.subTest(device):
                told = self.profile("--device", device)
                parts = [part["seconds"] for part in told["wall"].values()]
                self.assertAlmostEqual(sum(parts) - told["overlap_s"] + told["unaccounted_s"],
                                       told["wall_s"], places=6)
                self.assertLess(max(parts), told["wall_s"])
                self.assertLess(told["unaccounted_s"], 0.05 * told["wall_s"])
                self.assertGreaterEqual(told["unaccounted_s"], -1e-6)

    def test_a_device_is_busy_at_most_all_the_time(self):
        self.pictures()
        for device in DEVICES:
            with self.subTest(device):
                told = self.profile("--device", device)
                self.assertEqual([d["id"] for d in told["devices"]], [device])
                used = told["devices"][0]
                self.assertLessEqual(used["busy_s"], told["files_s"])
                self.assertLessEqual(used["busy_s"], used["kernels_s"] * (1 + 1e-9))
                self.assertLessEqual(used["kernels_s"], told["files_s"] * told["threads"])
                self.assertAlmostEqual(sum(step["seconds"] for step in told["steps"]),
                                       used["busy_s"], places=6)
                for step in told["steps"]:
                    self.assertLessEqual(step["share_of_copy"], 1)
                    self.assertEqual(step["runs"], 6)
                    self.assertAlmostEqual(step["us_per_image"] * 6, 1e6 * step["seconds"])

    def test_what_it_is_of(self):
        self.pictures(3)
        self.write("in/broken.png", "no picture")
        said = self.impipe(CHAIN, "in", "-o", "out", "--profile=json", "--device", "cpu", code=1,
                           env=self.cache).err
        told = json.loads(said[said.index("{"):])
        version = self.impipe("--version").out.split()[1]
        self.assertEqual((told["program"], told["version"]), ("impipe", version))
        self.assertEqual((told["pipeline"], told["inputs"], told["output"]), (CHAIN, ["in"], "out"))
        self.assertEqual((told["files"], told["failed"]), (3, 1))
        self.assertEqual(told["image"], {"class": "uint8", "channels": 1, "width": 900,
                                         "height": 700})
        self.assertRegex(told["date"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertTrue(told["devices"][0]["name"])
        self.assertTrue(told["devices"][0]["driver"])
        self.assertIn("apart", told["plan"])
        self.assertGreater(told["peak_process_bytes"], told["peak_picture_bytes"])

    def test_a_large_copy_is_measured_once(self):
        self.pictures(1)
        for device in DEVICES:
            with self.subTest(device):
                first, second = [self.profile("--device", device) for _ in range(2)]
                was, now = first["devices"][0], second["devices"][0]
                self.assertFalse(was["copy_from_cache"])
                self.assertTrue(now["copy_from_cache"])
                for key in ("copy_bytes_per_s", "copy_measured", "upload_bytes_per_s"):
                    self.assertEqual(now[key] if isinstance(now[key], str) else round(now[key]),
                                     was[key] if isinstance(was[key], str) else round(was[key]))
                self.assertGreater(now["copy_bytes_per_s"], 1e8)
                # 5 % of a run; of one that is over in a moment another program may take more.
                self.assertLess(first["unaccounted_s"], 0.05 * first["wall_s"] + 0.01)
                self.assertIn("speed of " + device, self.impipe("cache", "list",
                                                                env=self.cache).out)

    @unittest.skipIf("opencl:0" not in DEVICES, "there is no OpenCL device")
    def test_a_driver_that_compiles_at_the_first_launch(self):
        self.pictures(4)
        cold = {"POCL_CACHE_DIR": self.path("pocl")}
        os.mkdir(self.path("pocl"))
        first, second = [self.profile("--device", "opencl:0", pipeline="imcomplement", env=cold)
                         for _ in range(2)]
        self.assertGreater(first["wall"]["compile"]["seconds"],
                           2 * first["wall"]["kernels"]["seconds"])
        self.assertLess(first["devices"][0]["busy_s"], 10 * second["devices"][0]["busy_s"])
        self.assertTrue(first["verdict"].startswith("bound by compiling kernels: "), first["verdict"])
        self.assertGreater(second["devices"][0]["peak_bytes"], 0)
        self.assertGreaterEqual(second["uploaded_bytes"], 4 * 700 * 900)

    @unittest.skipIf(SANITIZED, "a sanitizer's times say nothing")
    def test_it_agrees_with_bench(self):
        # The same work, once over files and once in memory.
        self.picture("in/a.png", ramp(2048, 2048))
        for i in range(1, 5):
            os.link(self.path("in/a.png"), self.path(f"in/{i}.png"))
        for device in DEVICES:
            with self.subTest(device):
                ratios = []
                for _ in range(3):  # another program may take the processor meanwhile
                    said = self.impipe(CHAIN, "in", "-n", "-o", "out", "-j", 1, "--profile=json",
                                       "--device", device, env=self.cache).err
                    told = json.loads(said[said.index("{"):])
                    profiled = 1e6 * told["devices"][0]["busy_s"] / told["files"]
                    said = self.impipe("bench", CHAIN, "--input", "in/a.png", "--json", "-j", 1,
                                       "--device", device, env=self.cache).out
                    ratios.append(profiled / json.loads(said)["results"][0]["device_us"])
                self.assertTrue(any(0.6 < ratio < 1.7 for ratio in ratios), ratios)


class Text(ProfileTest):
    def test_the_first_line_is_a_verdict(self):
        self.pictures()
        for device in DEVICES:
            with self.subTest(device):
                said = self.impipe(CHAIN, "in", "-o", "out", "-j", 2, "--profile",
                                   "--device", device, env=self.cache).err
                busy = "" if device == "cpu" else rf", {device} busy \d+ %"
                self.assertRegex(said.splitlines()[0],
                                 r"^profile: 6 files in \d+\.\d{3} s, \d+\.\d files/s: bound by "
                                 rf"[a-zA-Z -]+(: nothing is busy half of the time)?: 2 threads busy \d+ %{busy}$")
                for word in ("start-up", "read and decode", "encode and write", "kernels",
                             "2 threads: ", "GB/s, a large copy", "overlap", "unaccounted",
                             "conv2 k7 | edge prewitt  [", "apart, because", "memory at most: "):
                    self.assertIn(word, said)
                if device != "cpu":
                    self.assertRegex(said, r"  upload +\d.*GB/s")

    def test_choices(self):
        self.picture("in/a.png")
        said = self.impipe("imcomplement", "in", "-o", "out", "--profile=jsn", code=2).err
        self.assertEqual(said, "impipe: --profile: 'jsn' is none of text, json, html:FILE; did you "
                               "mean 'json'?\n")
        said = self.impipe("imcomplement", "in", "-o", "out", "--profile=html:", code=2).err
        self.assertEqual(said, "impipe: --profile=html: no file is named: html:FILE\n")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_files_of_reports_replace_no_picture(self):
        self.picture("in/a.png")
        before = self.pixels("in/a.png").tobytes()
        for flags in (["--profile=html:in/a.png"], ["--trace", "in/a.png"]):
            self.impipe("imcomplement", "in", "-o", "out", *flags, code=2)
        self.assertEqual(self.pixels("in/a.png").tobytes(), before)

    def test_a_report_whose_folder_is_missing_is_said_before_the_run(self):
        self.picture("in/a.png")
        for flag, named in (("--trace=none/t.json", "--trace none/t.json"),
                            ("--summary=none/s.json", "--summary none/s.json"),
                            ("--profile=html:none/p.html", "--profile none/p.html")):
            said = self.impipe("imcomplement", "in", "-o", "out", flag, code=2).err
            self.assertEqual(said, f"impipe: {named}: No such file or directory\n")
        self.assertFalse(os.path.exists(self.path("out")))
        self.impipe("imcomplement", "in", "-o", "out", "--summary", "out/s.json")
        self.assertEqual(self.tree("out"), ["a.png", "s.json"])

    def test_a_report_that_cannot_be_written(self):
        self.picture("in/a.png")
        said = self.impipe("imcomplement", "in", "-o", "out", "--trace", "/dev/full", code=1,
                           env=self.cache).err
        self.assertEqual(said, "impipe: --trace /dev/full: No space left on device\n")
        self.assertEqual(self.tree("out"), ["a.png"])


class Trace(ProfileTest):
    def test_a_slice_a_file_and_step(self):
        self.pictures(4)
        for device in DEVICES:
            with self.subTest(device):
                self.impipe(CHAIN, "in", "-o", "out", "-j", 2, "--trace", "t.json",
                            "--device", device, env=self.cache)
                with open(self.path("t.json")) as file:
                    told = json.load(file)
                slices = [event for event in told["traceEvents"] if event["ph"] == "X"]
                lanes = {(event["pid"], event["tid"]): event["args"]["name"]
                         for event in told["traceEvents"] if event["name"] == "thread_name"}
                for event in slices:
                    self.assertGreaterEqual(event["ts"], 0)
                    self.assertGreaterEqual(event["dur"], 0)
                    self.assertIn((event["pid"], event["tid"]), lanes)
                names = {f"in/{i}.png" for i in range(4)}
                for what in ("read and decode", "compute", "encode and write"):
                    found = [event["args"]["file"] for event in slices if event["cat"] == what]
                    self.assertEqual(sorted(found), sorted(names), what)
                steps = {event["name"] for event in slices if event["cat"] == "kernels"}
                self.assertEqual(len(steps), 3)
                for step in steps:
                    self.assertEqual({event["args"]["file"] for event in slices
                                      if event["name"] == step and event["cat"] == "kernels"},
                                     names)
                self.assertTrue(told["otherData"]["complete"])


class Page(ProfileTest):
    HOSTILE = "</script><b id=\"bad\">&amp; 'x'.png"

    def page(self, device):
        self.pictures(2)
        os.rename(self.path("in/0.png"), self.path("in", self.HOSTILE.replace("/", "\\")))
        said = self.impipe(CHAIN, "in", "-o", "out", "-j", 2, "--profile=html:p.html",
                           "--device", device, env=self.cache).err
        self.assertRegex(said, r"^profile: 2 files in [^\n]*\n$")
        with open(self.path("p.html")) as file:
            return file.read()

    def test_it_needs_nothing_else_and_has_the_json(self):
        text = self.page("cpu")
        for word in ("http:", "https:", "src=", "@import", "url("):
            self.assertNotIn(word, text.replace("http://www.w3.org/2000/svg", ""))
        self.assertIn("prefers-color-scheme: dark", text)
        data = json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>',
                                    text, re.S).group(1))
        self.assertEqual(data["pipeline"], CHAIN)
        self.assertEqual(len(data["steps"]), 3)
        self.assertIn("steps instead of", data["plan"])
        self.assertTrue(any(self.HOSTILE.replace("/", "\\") in name for name in data["names"]))

    @unittest.skipIf(CHROMIUM is None, "Chromium is not installed: scripts/setup.sh test")
    def test_a_browser_draws_it(self):
        for device in DEVICES:
            with self.subTest(device):
                shutil.rmtree(self.path("in"), ignore_errors=True)
                text = self.page(device)
                shown = subprocess.run(
                    [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                     "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
                     f"--user-data-dir={self.path('chromium')}", "file://" + self.path("p.html")],
                    capture_output=True, text=True, timeout=120)
                self.assertNotIn("CONSOLE", shown.stderr)  # no script failed
                dom = shown.stdout[:shown.stdout.index('<script type="application/json"')]
                self.assertIn(f"<title>impipe: {CHAIN}</title>", dom)
                self.assertNotIn('id="bad"', dom.replace("&lt;b id", ""))
                self.assertRegex(dom, r'<h1 id="verdict">Bound by [^<]+</h1>')
                for part in ("start_up", "decode", "kernels", "encode", "unaccounted"):
                    self.assertIn(f'data-part="{part}"', dom)
                kinds = set(re.findall(r'<rect [^>]*data-kind="([a-z_]+)"', dom))
                self.assertLessEqual({"start_up", "decode", "kernels", "encode"}, kinds)
                self.assertEqual(dom.count("<circle "), 3)
                self.assertIn("a large copy on " + device, dom)
                self.assertIn(">" + device + "<", dom)
                self.assertEqual(len(re.findall(r"<tr>", dom)), 2 + 3 + 1)
                self.assertIn("3 steps instead of", dom)


if __name__ == "__main__":
    unittest.main()
