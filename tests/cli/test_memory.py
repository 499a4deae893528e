"""Memory that is out, at any point, is the failure of a file; threads that cannot start are done
without."""
import os
import random
import resource
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from program import PROGRAM, ROOT, SANITIZED, ProgramTest, colour, ramp

sys.path.insert(0, os.path.join(ROOT, "scripts", "campaign"))
import failing_allocations as campaign  # noqa: E402

POINTS = 4  # of each command and mode: the campaign takes as many as it is told


@unittest.skipIf(SANITIZED, "a sanitizer has an allocator of its own")
class Memory(ProgramTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="impipe-memory-")
        cls.addClassCleanup(folder.cleanup)
        cls.library = campaign.build_library(folder.name)

    def disturbed(self, *arguments, code, **variables):
        env = {**{k: str(v) for k, v in variables.items()}, "LD_PRELOAD": self.library}
        return self.impipe(*arguments, code=code, env=env)

    def test_a_sample_of_all_allocations(self):
        chosen = ("^(png|png_exif|jpeg|jpeg_large|tiff|webp_exif|npy|measure|folder|"
                  "profile|save|operand|errors_file)$")
        rng = random.Random(1)
        for command in campaign.commands(PROGRAM, self.library, chosen):
            plain, count = command.count()
            known_from = command.known_from()
            self.assertGreater(count, known_from)
            self.assertGreater(known_from, 1000)
            for at in campaign.sample(count, POINTS, rng):
                for on in ("0", "1"):
                    with self.subTest(command.name, at=at, on=on):
                        run = command.run({"FAILING_ALLOC_AT": str(at), "FAILING_ALLOC_ON": on})
                        self.assertIsNone(command.fault(plain, run, at, known_from), run.err)

    def test_every_failure_after_the_pipeline_is_read_names_its_file(self):
        for command in campaign.commands(PROGRAM, self.library, "^(png_exif|plan|diff)$"):
            plain, count = command.count()
            known_from = command.known_from()
            for at in range(known_from, count, (count - known_from) // 25):
                for on in ("0", "1"):
                    with self.subTest(command.name, at=at, on=on):
                        run = command.run({"FAILING_ALLOC_AT": str(at), "FAILING_ALLOC_ON": on})
                        self.assertIsNone(command.fault(plain, run, at, known_from), run.err)

    def test_the_files_of_a_run_for_whose_plan_there_is_no_memory_are_named(self):
        self.picture("in/a.png")
        self.picture("in/\x1b[1mü.png")
        counted = self.path("count")
        arguments = ["imcomplement", "in", "-o", "out"]
        self.disturbed(*arguments, "--format", "none", code=2, FAILING_ALLOC_COUNT=counted)
        with open(counted, encoding="ascii") as count:
            start = int(count.read())
        said = {self.disturbed(*arguments, code=1, FAILING_ALLOC_AT=start + i,
                               FAILING_ALLOC_ON=1).err for i in range(5, 400, 15)}
        # Escaping takes memory, so that all but ASCII is "?".
        self.assertEqual(said - {"impipe: in: list: out of memory\n"},
                               {"impipe: in/?[1m??.png: plan: out of memory\n"
                                "impipe: in/a.png: plan: out of memory\n"})
        self.assertEqual(self.tree("out"), [])

    def test_a_picture_for_which_there_is_no_memory_is_named_and_the_others_are_done(self):
        self.picture("in/big.png", ramp(1500, 2000))
        self.picture("in/small.png", ramp())
        result = self.disturbed("imcomplement", "in", "-o", "out", code=1, FAILING_ALLOC_AT=1,
                                FAILING_ALLOC_ON=1, FAILING_ALLOC_MIN=2_900_000)  # more than the file has
        self.assertEqual(result.err, "impipe: in/big.png: decode: out of memory: an image of "
                         "3001500x1 needs 2 MiB\nimpipe: 1 of 2 files failed\n")
        self.assertEqual(self.tree("out"), ["small.png"])

    def test_an_encoder_without_memory_fails_its_file(self):
        # Noise makes a file for which the encoder's output has to grow, to 128 KiB and beyond.
        rng = np.random.default_rng(1)
        self.picture("in/a.npy", rng.integers(0, 256, (600, 700, 3), dtype=np.uint8))
        result = self.disturbed("imcomplement", "in", "-o", "out", "--format", "jpg", code=1,
                                FAILING_ALLOC_AT=1, FAILING_ALLOC_ON=1,
                                FAILING_ALLOC_MIN=1 << 17, FAILING_ALLOC_MAX=1 << 17)
        self.assertEqual(result.err, "impipe: in/a.npy: encode: out of memory\n")
        self.assertEqual(self.tree("out"), [])

    def test_a_webp_encoder_without_memory_writes_no_broken_file(self):
        # Without some hundred bytes libwebp says that all went well, and gives 38 bytes.
        pixels = np.load(os.path.join(ROOT, "tests", "data", "io", "rgb8.npy"))
        self.picture("in/a.npy", pixels)
        for at in range(1, 40):
            result = self.disturbed("imcomplement", "in", "-o", "out", "--format", "webp",
                                    code=None, FAILING_ALLOC_AT=at, FAILING_ALLOC_MIN=552,
                                    FAILING_ALLOC_MAX=568)
            if result.code == 0:
                np.testing.assert_array_equal(255 - self.pixels("out/a.webp"),
                                              self.pixels("in/a.npy"))
                os.remove(self.path("out/a.webp"))
            else:
                self.assertEqual(result.code, 1)
                self.assertIn("out of memory", result.err)
                self.assertEqual(self.tree("out") if os.path.isdir(self.path("out")) else [], [])

    def test_a_library_that_ends_the_process_without_memory_is_not_asked(self):
        y, x = np.mgrid[0:3000, 0:3000]
        self.picture("a.png", np.dstack([x // 12, y // 12, (x ^ y) % 256]).astype(np.uint8))
        self.impipe("rot90 0", "a.png", "-o", "a.jxl")
        codes = set()
        for limit in (180, 186, 192, 198, 204, 210, 800):  # MiB of addresses
            run = subprocess.run(
                [PROGRAM, "rot90 0", self.path("a.jxl"), "-o", self.path("b.png"), "-j", "1",
                 "--device", "cpu"], capture_output=True, text=True, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit << 20,) * 2))
            self.assertIn(run.returncode, (0, 1), (limit, run.stderr))
            codes.add(run.returncode)
        self.assertEqual(codes, {0, 1})

    def test_threads_that_cannot_start_are_done_without(self):
        for i in range(6):
            self.picture(f"in/{i}.png", colour(90, 70, i))
        arguments = ["imgaussfilt 1 | imadjust", "in", "-j", 4, "--profile"]
        self.impipe(*arguments, "-o", "all")
        for started in range(9):
            with self.subTest(started=started):
                result = self.disturbed(*arguments, "-o", f"out{started}", code=0,
                                        FAILING_THREADS_FROM=started)
                notes = [line for line in result.err.splitlines() if line.startswith("impipe: ")]
                # The headers are read by four threads before the four of the batch start.
                working = max(1, started - 4)
                self.assertEqual(notes, [f"impipe: the system let only {working} of 4 threads "
                                         "start"] if working < 4 else [])
                for name in self.tree("all"):
                    with open(self.path("all", name), "rb") as a, \
                            open(self.path(f"out{started}", name), "rb") as b:
                        self.assertEqual(a.read(), b.read())

    def test_nor_does_another_command_need_them(self):
        self.picture("a.png", ramp())
        for arguments in [["mean2", "a.png"], ["devices"], ["info", "a.png"],
                          ["bench", "--help"], ["medfilt2 15", "a.png", "-n"]]:
            with self.subTest(arguments):
                self.disturbed(*arguments, code=0, FAILING_THREADS_FROM=0)


if __name__ == "__main__":
    unittest.main()
