"""impipe export: the kernels in a C program of forty lines give the program's own results."""
import os
import subprocess
import unittest
from pathlib import Path

import numpy as np
from program import ProgramTest

MAIN = Path(__file__).resolve().parents[1] / "data/export/main.c"
rng = np.random.default_rng(7)
GRAY = rng.integers(0, 256, (203, 321), dtype=np.uint8)
COLOUR = rng.integers(0, 65536, (67, 130, 3), dtype=np.uint16)
FLOATS = rng.normal(1000, 300, (41, 53)).astype(np.float32)
FLOATS[3, 5:9] = [np.nan, np.inf, -np.inf, 1e-40]


class Export(ProgramTest):
    def export(self, pipeline, image, *options):
        np.save(self.path("in.npy"), image)
        return self.impipe("export", pipeline, "code", "--to", "opencl", "--like", "in.npy", *options)

    def build(self):
        for source in (self.path("code/pipeline.c"), MAIN):
            subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                            "-Wno-deprecated-declarations", "-Wno-unused-const-variable",
                            "-I", self.path("code"), "-c", source,
                            "-o", self.path(Path(source).stem + ".o")], check=True)
        subprocess.run(["cc", "-o", self.path("main"), self.path("main.o"), self.path("pipeline.o"),
                        "-l:libOpenCL.so.1"], check=True)

    def run_main(self, image):
        planes = image if image.ndim == 2 else np.moveaxis(image, 2, 0)
        return subprocess.run([self.path("main"), self.path("code")], input=planes.tobytes(),
                              capture_output=True, check=True).stdout

    def test_a_user_program_gives_the_same_pixels(self):
        for pipeline, image in (("imadjust | conv2 k7 | edge prewitt", GRAY),
                                ("medfilt2 3 | imgaussfilt 2", COLOUR),
                                ("imcomplement | imresize 0.5", FLOATS),
                                ("imbinarize 0.5 | bwlabel", GRAY)):
            with self.subTest(pipeline):
                self.export(pipeline, image)
                self.build()
                self.impipe(pipeline, "in.npy", "-o", "out.npy", "--backend", "cpu")
                wanted = np.load(self.path("out.npy"))
                got = np.frombuffer(self.run_main(image), wanted.dtype)
                if wanted.ndim == 3:
                    got = np.moveaxis(got.reshape(wanted.shape[2], *wanted.shape[:2]), 0, 2)
                np.save(self.path("got.npy"), got.reshape(wanted.shape))
                hashes = {self.impipe("", name, "-n", "--hash").out.split()[-1]
                          for name in ("out.npy", "got.npy")}
                self.assertEqual(len(hashes), 1)
                subprocess.run(["rm", "-r", self.path("code")], check=True)

    def test_inputs_and_outputs_are_named(self):
        self.export("imsubtract :b | mean2", GRAY)
        text = Path(self.path("code/pipeline.h")).read_text()
        for row in ('{"image", "uint8", 321, 203, 1, 384, 77952}',
                    '{":b", "uint8", 321, 203, 1, 384, 77952}', '{"mean2", "double", 1, 1, 1, 8, 8}'):
            self.assertIn(row, text)

    def test_cuda_is_written(self):
        np.save(self.path("in.npy"), GRAY)
        self.impipe("export", "imgaussfilt 2", "code", "--to", "cuda", "--like", "in.npy")
        self.assertIn("cuLaunchKernel", Path(self.path("code/pipeline.c")).read_text())
        self.assertIn("extern \"C\"", Path(self.path("code/step1.cu")).read_text())

    def test_what_the_host_does_is_refused(self):
        for pipeline, why in (("imbinarize 0.5 | regionprops", "a table of objects"),
                              ("bwconvhull", "computed by the host"), ("imcrop [1 1 5 5] |", "a stage is missing"),
                              ("noise 64 | imadjust", "makes its own image")):
            with self.subTest(pipeline):
                np.save(self.path("in.npy"), GRAY)
                run = self.impipe("export", pipeline, "code", "--to", "opencl", "--like", "in.npy",
                                  code=2)
                self.assertIn(why, run.err)
                self.assertFalse(os.path.exists(self.path("code")))

    def test_wrong_arguments(self):
        for options, why in ((("--to", "vulkan", "--size", "4x4"), "--to"),
                             (("--to", "opencl"), "--size WxH"),
                             (("--size", "4x4"), "--to opencl"),
                             (("--to", "opencl", "--size", "4by4"), "'4by4' is no size")):
            with self.subTest(options):
                self.assertIn(why, self.impipe("export", "imadjust", "code", *options, code=2).err)

    def test_nothing_is_overwritten(self):
        self.export("imcomplement", GRAY)
        run = self.impipe("export", "imcomplement", "code", "--to", "opencl", "--like", "in.npy",
                          code=1)
        self.assertIn("is there already", run.err)


if __name__ == "__main__":
    unittest.main()
