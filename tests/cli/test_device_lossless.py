"""--codec device: lossless pictures that the device decodes and encodes have the pixels, the metadata
and the errors that the processor's codecs give.
"""
import json
import os
import re
import unittest

import numpy as np
from program import ProgramTest, colour, ramp


class DeviceLossless(ProgramTest):
    def setUp(self):
        super().setUp()
        said = json.loads(self.impipe("devices", "--json").out)
        usable = [d["id"] for d in said if d["usable"] and not d["id"].startswith("cpu")]
        if not usable:
            self.skipTest("no other device than the processor")
        self.device = usable[0]

    def run_on(self, codec, *arguments, code=0):
        return self.impipe(*arguments, "--device", self.device, "--codec", codec, "-v", code=code)

    def numbers(self, said):
        line = [line for line in said.splitlines() if "--codec: " in line][0]
        return dict(zip(("decoded", "by_processor", "encoded"), map(int, re.findall(r"\d+", line))))

    def pictures(self):
        for i, (height, width) in enumerate([(1, 1), (3, 17), (120, 161), (333, 500)]):
            self.picture(f"in/colour-{i}.png", colour(height, width, i))
            self.picture(f"in/gray-{i}.png", ramp(height, width, i))
            wide = ramp(height, width, i).astype(np.uint16) * 257 - i
            self.picture(f"in/wide-{i}.png", wide)

    def test_pixels_are_the_same(self):
        self.pictures()
        for pipeline in ("imadd 0", "imgaussfilt 2 | imadjust"):
            host = self.run_on("cpu", pipeline, "in", "--hash")
            made = self.run_on("device", pipeline, "in", "--hash")
            self.assertEqual(made.out, host.out)
            self.assertEqual(self.numbers(made.err),
                             {"decoded": 12, "by_processor": 0, "encoded": 0})

    def test_files_hold_the_same_pixels(self):
        """Read back by Pillow, and by our own codec."""
        self.pictures()
        said = self.run_on("device", "imadd 3", "in", "-o", "made").err
        self.assertEqual(self.numbers(said), {"decoded": 12, "by_processor": 0, "encoded": 12})
        self.run_on("cpu", "imadd 3", "in", "-o", "host")
        for name in sorted(os.listdir(self.path("host"))):
            self.assertTrue(np.array_equal(self.pixels(f"made/{name}"),
                                           self.pixels(f"host/{name}")), name)

    def test_damaged_pictures_fail_alone_with_the_same_message(self):
        rng = np.random.default_rng(5)
        for i in range(30):
            self.picture(f"in/{i:02}.png", colour(80, 90, i))
            data = bytearray(self.read(f"in/{i:02}.png"))
            if i % 3 == 0:
                data = data[:len(data) - int(rng.integers(2, 900))]
            elif i % 3 == 1:
                for at in rng.integers(60, len(data) - 2, 3):
                    data[at] ^= 1 << int(rng.integers(8))
            self.write(f"in/{i:02}.png", bytes(data))
        host = self.run_on("cpu", "imgaussfilt 1", "in", "--hash", code=1)
        made = self.run_on("device", "imgaussfilt 1", "in", "--hash", code=1)
        self.assertEqual(made.out, host.out)
        told = [[line for line in one.err.splitlines() if ".png: " in line] for one in (made, host)]
        self.assertEqual(told[0], told[1])
        self.assertGreater(len(told[0]), 15)


if __name__ == "__main__":
    unittest.main()
