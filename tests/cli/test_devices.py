"""Runs on OpenCL devices; PoCL stands in for GPUs, twice if need be."""
import json
import os
import signal
import time
import unittest

import numpy as np

from program import RUN_TIMEOUT, ProgramTest, colour, ramp

TWO = {"POCL_DEVICES": "pthread pthread"}


class OpenCLTest(ProgramTest):
    def setUp(self):
        super().setUp()
        said = json.loads(self.impipe("devices", "--json", env=TWO).out)
        self.usable = [d["id"] for d in said if d["usable"] and d["id"].startswith("opencl")]
        if not self.usable and "opencl" not in os.environ.get("IMPIPE_REQUIRE_BACKEND", ""):
            self.skipTest("no OpenCL device")
        self.assertTrue(self.usable, "opencl is required")
        for i in range(12):
            self.picture(f"in/{i:02}.png", (colour if i % 3 == 0 else ramp)(30 + i % 4, 50, i))


class Spectra(OpenCLTest):
    """Fourier transforms of whole images: kernels against the CPU's own transforms, bit for bit.
    OpenCL's CPUs leave them to the host, unless they are taken for GPUs."""
    SIDES = [*range(1, 65), 97, 128, 210, 1000, 1024, 1536]

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(7)
        for folder in ("all", "some"):
            os.makedirs(self.path(folder))
        for n in self.SIDES:
            partner = (1, 3, 17, 29)[n % 4]
            for shape in ((n, partner), (partner, n)):
                np.save(self.path("all", f"{shape[0]}x{shape[1]}.npy"),
                        (rng.random(shape) * 10 ** (n % 7 - 2)).astype(np.float32))
        far = (rng.random((50, 71)) + 1e5).astype(np.float32)
        no_number = np.where(np.eye(19, 23, 2) > 0, np.nan, 1).astype(np.float32)
        for name, image in (("far", far), ("no_number", no_number)):
            np.save(self.path("some", name + ".npy"), image)

    def check(self, pipeline, *inputs):
        with self.subTest(pipeline):
            cpu, opencl = (self.impipe(pipeline, *inputs, "--hash", "-j", 2, "--device", device,
                                       env={"IMPIPE_VENDOR": "generic"}).out
                           for device in ("cpu", "opencl:0"))
            self.assertEqual(opencl, cpu)

    def test_every_length(self):
        self.check("fft2", "all")

    def test_products_of_spectra(self):
        self.check("deconvwnr fspecial:gaussian,5,1.3 nsr=0.01", "some")


class WithoutDoubles(OpenCLTest):
    """A device without double precision computes in double by integers, with the CPU's bits."""
    OFF = {"IMPIPE_OPENCL_DOUBLES": "off"}
    # Coordinates, cells of sums, a function, bodies of pixels, thresholds and a table's root.
    PIPELINES = ("imresize 0.37", "std2", "map '0.5 + sin(x * 20) / 3'", "imadjust 0.2,0.8",
                 "imbinarize 0.5 | bwdist")

    def test_results_are_the_cpus(self):
        for depth in ("im2uint16", "im2single"):
            for pipeline in self.PIPELINES:
                text = f"noise 61,43 | {depth} | {pipeline}"
                with self.subTest(text):
                    hashes = [] if pipeline == "std2" else ["--hash"]
                    wanted = self.impipe(text, "-n", *hashes, "--device", "cpu").out
                    self.assertEqual(self.impipe(text, "-n", *hashes, "--device", "opencl:0",
                                                 env=self.OFF).out, wanted)

    def test_the_list_says_so(self):
        for env, doubles in ({}, True), (self.OFF, False):
            said = json.loads(self.impipe("devices", "--json", env=env).out)
            self.assertEqual({d["doubles"] for d in said if d["id"] == "opencl:0"}, {doubles})
        self.assertIn(", no double precision: computed by integers\n",
                      self.impipe("devices", env=self.OFF).out)

    def test_another_value_is_an_error(self):
        run = self.impipe("devices", env={"IMPIPE_OPENCL_DOUBLES": "on"}, code=2)
        self.assertEqual(run.err, "impipe: IMPIPE_OPENCL_DOUBLES: 'on' is not off\n")


class Devices(OpenCLTest):
    def hashes(self, *arguments, **settings):
        return self.impipe("imgaussfilt 1 | imcomplement", "in", "--hash", "-j", 2, *arguments,
                           **settings).out

    def test_a_list_of_devices_shares_the_files(self):
        run = self.impipe("imgaussfilt 1", "in", "-o", "out", "-j", 2, "--device", "cpu,opencl:0",
                          "--profile=json")
        devices = json.loads(run.err[run.err.index("{"):run.err.rindex("}") + 1])["devices"]
        self.assertEqual([d["id"] for d in devices], ["cpu", "opencl:0"])
        self.assertEqual(sum(d["images"] for d in devices), 12)
        self.assertGreater(min(d["images"] for d in devices), 0)
        self.assertEqual(self.hashes("--device", "cpu,opencl:0"), self.hashes("--device", "cpu"))

    def test_no_basins_of_what_is_no_number(self):
        np.save(self.path("nan.npy"), np.array([[0.5, np.nan, 0.25]], np.float32))
        np.save(self.path("good.npy"), np.array([[0.5, 1, 0.25]], np.float32))
        for device in ("cpu", "opencl:0"):
            run = self.impipe("watershed", "nan.npy", "good.npy", "-o", "out", "--device", device,
                              code=1)
            self.assertIn("nan.npy: compute: watershed: the image has NaN\n", run.err)
            np.testing.assert_equal(np.load(self.path("out/good.npy")), [[1, 0, 2]])

    def test_groups_share_no_local_memory(self):
        # Kernels of NVIDIA's row that hand local memory to functions, on several threads.
        for pipeline in ("noise 256 | im2uint16 | medfilt2 15",
                         "noise 256 | im2uint16 | ordfilt2 60 disk,8"):
            wanted = self.impipe(pipeline, "-n", "--hash", "--backend", "cpu").out
            for _ in range(3):
                run = self.impipe(pipeline, "-n", "--hash", "--backend", "opencl",
                                  env={"IMPIPE_VENDOR": "nvidia"})
                self.assertEqual(run.out, wanted)

    def test_all_devices_of_a_backend(self):
        if len(self.usable) < 2:
            self.skipTest("PoCL shows one device only")
        run = self.impipe("-v", "imgaussfilt 1 | imcomplement", "in", "--hash", "-j", 2,
                          "--backend", "opencl", "--device", "all", env=TWO)
        self.assertIn("impipe: opencl:0, opencl:1: --device all\n", run.err)
        self.assertEqual(run.out, self.hashes("--device", "cpu"))

    def test_equal_small_pictures_are_stacked(self):
        for i in range(40):
            self.picture(f"many/{i:02}.png", (colour if i % 4 == 0 else ramp)(48, 64, i))
        pipeline = "imadjust | imgaussfilt 1 | mean2"
        gpu = self.impipe(pipeline, "many", "-j", 2, "--backend", "opencl")
        self.assertEqual(gpu.out, self.impipe(pipeline, "many", "--backend", "cpu").out)
        bench = json.loads(self.impipe("bench", "--stack", 8, "--size", 64, "--backend", "opencl",
                                       "--json", "imfilter fspecial:average,3").out)["results"][0]
        self.assertEqual(bench["bytes"], 8 * 2 * 64 * 64)
        # A processor takes them one after the other.
        launches = []
        for stack in (1, 16):
            row = json.loads(self.impipe("bench", "--stack", stack, "--size", 64, "--backend",
                                         "cpu", "--json", "imcomplement").out)["results"][0]
            self.assertEqual(row["bytes"], stack * 2 * 64 * 64)
            launches.append(row["launches"])
        self.assertEqual(launches, [1, 16])

    def test_points_and_the_neighbourhood_that_reads_them_are_one_launch(self):
        pipelines = {"imcomplement | imfilter average,3": 2, "imcomplement | imdilate disk,3": 2,
                     "imadjust 0.1,0.9 | imgaussfilt 1 | imcomplement": 3}

        def launches(*arguments):
            said = self.impipe("bench", "--json", "--size", 64, "--backend", "opencl", *arguments,
                               *pipelines).out
            return [result["launches"] for result in json.loads(said)["results"]]

        self.assertEqual(launches(), [1, 1, 1])
        self.assertEqual(launches("--no-fuse"), list(pipelines.values()))

    def test_a_backend_is_its_first_device(self):
        run = self.impipe("-v", "imcomplement", "in", "--hash", "--device", "opencl", env=TWO)
        self.assertIn("impipe: opencl:0: --device opencl\n", run.err)

    def test_auto_is_what_it_is_without_the_option(self):
        for more in (["--device", "auto"], ["--device=auto", "--backend", "auto"]):
            run = self.impipe("-v", "imcomplement", "in", "--hash", *more)
            self.assertRegex(run.err, "impipe: cpu: about .* of work")

    def test_each_usable_device_has_a_measured_copy(self):
        for device in json.loads(self.impipe("devices", "--json").out):
            if device["usable"]:
                self.assertGreater(device["copy_bytes_per_s"], 1e8, device)

    def test_a_copy_is_measured_once(self):
        # Buffers beyond all caches take seconds, and a gigabyte.
        cache = {"IMPIPE_CACHE_DIR": self.path("c")}
        listed = [self.impipe("devices", "--json", env=cache).out for _ in range(2)]
        self.assertEqual(json.loads(listed[0]), json.loads(listed[1]))

    def test_no_more_of_its_memory_than_allowed(self):
        run = self.impipe("imgaussfilt 1 | imcomplement", "in", "--hash", "--backend", "opencl",
                          "--gpu-mem", "6K", "--profile")
        self.assertRegex(run.err, r"impipe: opencl:0: no memory for 1 MiB; 0 MiB are in use; such "
                                  r"images are computed on the CPU\n")
        self.assertEqual(run.err.count("impipe: "), 1, run.err)
        self.assertIn("  opencl:0: 0 images", run.err)
        self.assertIn("  cpu: 12 images", run.err)
        self.assertEqual(run.out, self.hashes("--device", "cpu"))

    def test_no_memory_for_the_comparison_with_the_cpu(self):
        # With a cache of its own: the device is compared anew.
        run = self.impipe("imgaussfilt 1 | imcomplement", "in", "--hash", "--backend", "opencl",
                          env={"IMPIPE_TEST_FAIL_ALLOC": "1", "IMPIPE_CACHE_DIR": self.path("c")})
        self.assertEqual(run.err, "")
        self.assertEqual(run.out, self.hashes("--device", "cpu"))

    def test_compiling_is_no_work_of_the_device(self):
        run = self.impipe("imgaussfilt 1 | imcomplement", "in/00.png", "--hash",
                          "--backend", "opencl", "--profile=json",
                          env={"IMPIPE_CACHE_DIR": self.path("c")})
        profile = json.loads(run.err)
        self.assertGreater(profile["kernels_compiled"], 0)
        self.assertGreater(profile["kernels_wait_s"], 0)
        self.assertLess(sum(step["seconds"] for step in profile["steps"]),
                        profile["kernels_wait_s"])

    def test_a_cache_that_keeps_nothing_is_not_warm(self):
        self.write("file", "")
        run = self.impipe("cache", "warm", "imcomplement", "--backend", "opencl", "--class",
                          "uint8", "--channels", 1, env={"IMPIPE_CACHE_DIR": self.path("file")},
                          code=1)
        self.assertEqual(run.err, "impipe: kernels can't be kept for the next run: "
                         f"{self.path('file')}: Not a directory\n")
        self.assertRegex(run.out, r"^opencl:0: compiled \d+, cached 0, [0-9.]+ ms\n$")

    def test_an_empty_environment_does_for_a_device(self):
        # But for what a sanitizer is told of PoCL's leaks.
        kept = [f"{name}={os.environ[name]}" for name in ("LSAN_OPTIONS", "TSAN_OPTIONS")
                if name in os.environ]
        run = self.impipe("imgaussfilt 1 | imcomplement", "in", "--hash", "--backend", "opencl",
                          wrap=lambda command: ["/usr/bin/env", "-i",
                                                "IMPIPE_CACHE_DIR=" + self.path("c"),
                                                "POCL_CACHE_DIR=" + self.make_parent("p/x"),
                                                *kept, *command])
        self.assertEqual(run.out, self.hashes("--device", "cpu"))

    def test_the_command_line_counts_before_variables(self):
        for arguments, variables in ((["--device", "cpu"], {"IMPIPE_BACKEND": "opencl"}),
                                     (["--backend=cpu"], {"IMPIPE_DEVICE": "opencl:0"})):
            run = self.impipe("-v", "imcomplement", "in", "--hash", *arguments, env=variables)
            self.assertTrue(run.err.startswith("impipe: cpu: --"), run.err)

    def test_what_no_device_is(self):
        for given, said in (
                ("gpu", "there is no device 'gpu'; see impipe devices; GPUs are cuda and opencl"),
                ("nonsense", "there is no device 'nonsense'; see impipe devices"),
                ("OPENCL:0", "there is no device 'OPENCL:0'; see impipe devices; did you mean "
                             "'opencl'?"),
                ("0", "there is no device '0'; see impipe devices")):
            self.assertEqual(self.hashes_error("--device", given, code=4),
                             f"impipe: --device: {said}\n")
        self.assertEqual(self.hashes_error("--device", "all,cpu"),
                         "impipe: --device: 'all' stands alone, not in 'all,cpu'\n")
        self.assertEqual(self.hashes_error("--device", ",cpu"),
                         "impipe: --device: ',cpu' has an empty name\n")
        twice = self.hashes_error("--device", "opencl:0,opencl:0")
        self.assertEqual(twice, "impipe: --device: opencl:0 is named twice in 'opencl:0,opencl:0'\n")
        self.assertIn("there is no device 'opencl:9'",
                      self.hashes_error("--device", "opencl:0,opencl:9", code=4))

    def hashes_error(self, *arguments, code=2):
        return self.impipe("imcomplement", "in", "--hash", *arguments, code=code).err


class Interrupted(OpenCLTest):
    """A signal while kernels are compiled, which takes PoCL seconds for a large median."""

    def start_compiling(self, *arguments):
        env = {"IMPIPE_CACHE_DIR": self.path("kernels"), "POCL_CACHE_DIR": self.path("pocl")}
        run = self.start("medfilt2 7", *arguments, "-o", "out", "--device", "opencl", "--progress",
                         "json", "--summary", "s", env=env)
        self.addCleanup(run.kill)
        self.assertIn(b'"event":"begin"', run.stderr.readline())  # behind the probe of the device
        return run

    def assert_ends_before_the_compiler(self, run, number):
        kernels = [name for name in self.tree("kernels") if name.endswith(".kernel")]
        run.send_signal(number)
        _, err = run.communicate(timeout=RUN_TIMEOUT)
        self.assertEqual(run.returncode, 128 + number, err)
        self.assertIn(f"impipe: stopped by {number.name}: 0 of 12 files are done\n", err.decode())
        # One that is compiled is kept for the next run.
        self.assertEqual([name for name in self.tree("kernels") if not name.endswith(".verdict")],
                         kernels)
        self.assertEqual(self.tree("out"), [])
        with open(self.path("s"), encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual([told[key] for key in ("exit", "done", "failed")], [128 + number, 0, 0])

    def test_a_run(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                run = self.start_compiling("in", "--errors", "e")
                self.assert_ends_before_the_compiler(run, number)
                self.assertEqual(os.path.getsize(self.path("e")), 0)

    def test_a_watch(self):
        for name in self.tree("in"):
            os.utime(self.path("in", name), (1e9, 1e9))
        run = self.start_compiling("--watch", "in")
        before = self.tree("pocl")
        end = time.monotonic() + RUN_TIMEOUT
        while self.tree("pocl") == before:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.assert_ends_before_the_compiler(run, signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
