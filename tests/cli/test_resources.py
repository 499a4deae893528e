"""Memory that does not grow with the number of files, and a profile that adds up."""
import json
import os
import resource
import unittest

import numpy as np
from program import LONG, SANITIZED, ProgramTest, ramp

CHAIN = "imadjust | conv2 k7 | edge prewitt"


@unittest.skipIf(SANITIZED, "a sanitizer keeps what was freed for a while")
class Memory(ProgramTest):
    def test_peak_does_not_grow_with_the_number_of_files(self):
        self.compare_peaks(1024)

    def test_nor_does_that_of_small_files(self):
        self.compare_peaks(256)

    def compare_peaks(self, side):
        many = 2000 if LONG else 400
        first = self.picture("few/0000.png", ramp(side, side))
        os.mkdir(self.path("many"))
        for i in range(many):
            os.link(first, self.path(f"many/{i:04}.png"))
        for i in range(1, 20):
            os.link(first, self.path(f"few/{i:04}.png"))
        # The higher of two: when the queues are full is a matter of luck over 20 files.
        few = max(self.peak_memory(CHAIN, "few", "-o", "out", "-j", 2) for _ in range(2))
        all_of_them = self.peak_memory(CHAIN, "many", "-o", "out2", "-j", 2)
        self.assertEqual(len(self.tree("out2")), many)
        # KiB; buffers that are kept for the next file may be a few more than 20 files needed.
        self.assertLess(all_of_them, few * 1.05 + 2048)

    def test_a_small_memory_limit_is_kept_and_all_is_done(self):
        for i in range(12):
            self.picture(f"in/{i}.png", ramp(1500, 1500, i % 2))
        free = self.peak_memory(CHAIN, "in", "-o", "out", "-j", 8)
        tight = self.peak_memory(CHAIN, "in", "-o", "out2", "-j", 8, "--memory", "24M")
        self.assertEqual(self.tree("out2"), self.tree("out"))
        self.assertLess(tight, free)


@unittest.skipIf(SANITIZED, "a sanitizer's time and memory say nothing")
class ThinImages(ProgramTest):
    """A row or a column costs about what its pixels cost."""
    PIPELINE = "imcomplement | conv2 k3 | medfilt2"

    def test_memory_follows_the_pixels(self):
        for name, shape in {"square": (1000, 1000), "tall": (1_000_000, 1),
                            "wide": (1, 1_000_000)}.items():
            np.save(self.path(name + ".npy"), ramp(1000, 1000).reshape(shape))
        peaks = {name: self.peak_memory(self.PIPELINE, name + ".npy", "-n", "-o", "out",
                                        "--device", "cpu") for name in ("square", "tall", "wide")}
        for name in ("tall", "wide"):
            self.assertLess(peaks[name], peaks["square"] + 16 * 1024, peaks)

    def test_what_memory_counts_is_what_a_picture_takes(self):
        # --memory goes by the estimate; the planes are counted as they are made.
        for shape in [(1_000_000, 1), (1, 1_000_000), (333_333, 3, 3), (1000, 1000),
                      (800, 1200, 3)]:
            np.save(self.path("a.npy"), np.resize(ramp(100, 100), shape))
            for pipeline in ("conv2 k3 | imadjust", "im2single | imgaussfilt 3 | imadjust",
                             "imgaussfilt 2 | medfilt2 3 | imcomplement"):
                with self.subTest(pipeline, shape=shape):
                    said = self.impipe(pipeline, "a.npy", "-o", "b.npy", "--device", "cpu",
                                       "--profile=json").err
                    told = json.loads(said[said.index("{"):])
                    ratio = told["peak_picture_bytes"] / told["estimated_picture_bytes"]
                    self.assertTrue(1 / 1.5 < ratio < 1.5, told)

    def test_time_grows_with_the_pixels(self):
        def seconds(rows):
            np.save(self.path("tall.npy"), np.resize(ramp(100, 100), (rows, 1)))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.impipe("conv2 k3", "tall.npy", "-n", "-o", "out", "--device", "cpu")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime - before.ru_utime
        # Four times the rows; time that grows with their square would be sixteen times as long.
        few, many = seconds(500_000), seconds(2_000_000)
        self.assertLess(many, 8 * few + 0.2)


def free_memory():
    """Bytes that a new process may take; none where it is not known."""
    try:
        with open("/proc/meminfo") as file:
            return 1024 * int(next(line for line in file if "MemAvailable" in line).split()[1])
    except (OSError, StopIteration):
        return 0


class LargeImage(ProgramTest):
    @unittest.skipIf(free_memory() < 2 << 30, "it needs 2 GB of memory")
    def test_sums_of_a_hundred_megapixels_of_sixteen_bits_are_exact(self):
        rows, columns = 10000, 10000
        pixels = np.lib.format.open_memmap(self.path("a.npy"), mode="w+", dtype=np.uint16,
                                           shape=(rows, columns))
        total = squares = 0
        for y in range(rows):
            # Mostly bright: 6.2e12, far beyond 32 bits, and no float32 sum comes near.
            row = (65535 - np.arange(columns, dtype=np.uint32) * (y + 7) % 9001).astype(np.uint16)
            pixels[y] = row
            total += int(row.sum(dtype=np.uint64))
            squares += int((row.astype(np.uint64) ** 2).sum())
        pixels.flush()
        del pixels
        said = self.impipe("sum | mean2 | std2 | min | max", "a.npy", "--no-header").out.split()
        values = [float(v) for v in said[-5:]]
        count = rows * columns
        deviation = ((squares - total * total / count) / (count - 1)) ** 0.5
        self.assertEqual(values[0], total)
        self.assertEqual(values[1], total / count)
        self.assertAlmostEqual(values[2] / deviation, 1, places=10)
        self.assertEqual(values[3:], [65535 - 9000, 65535])


class Profile(ProgramTest):
    def test_it_adds_up(self):
        for i in range(10):
            self.picture(f"in/{i}.png", ramp(900, 1200, i % 3))
        said = self.impipe(CHAIN, "in", "-o", "out", "-j", 2, "--profile=json")
        self.assertEqual(said.out, "")
        profile = json.loads(said.err[said.err.index("{"):said.err.rindex("}") + 1])
        threads = profile["thread_seconds"]
        self.assertLess(abs(threads["unaccounted"]), 0.05 * profile["thread_s"])
        self.assertGreater(min(threads[part] for part in threads
                               if part not in ("help", "unaccounted")), 0)
        self.assertAlmostEqual(sum(threads.values()), profile["thread_s"], places=6)
        self.assertEqual(profile["files"], 10)


if __name__ == "__main__":
    unittest.main()
