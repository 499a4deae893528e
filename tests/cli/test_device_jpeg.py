"""--codec device: JPEGs that the device decodes have the pixels, the metadata and the errors that the
processor's decoder gives.
"""
import json
import os
import re
import unittest

import numpy as np
from program import ProgramTest, colour, ramp


class DeviceJpeg(ProgramTest):
    def setUp(self):
        super().setUp()
        said = json.loads(self.impipe("devices", "--json").out)
        usable = [d["id"] for d in said if d["usable"] and not d["id"].startswith("cpu")]
        if not usable:
            self.skipTest("no other device than the processor")
        self.device = usable[0]

    def both(self, *arguments, code=0):
        """What the two decoders lead to, and what -v says of the device's."""
        host = self.impipe(*arguments, "--device", self.device, "--codec", "cpu", code=code)
        made = self.impipe(*arguments, "--device", self.device, "--codec", "device", "-v",
                           code=code)
        said = [line for line in made.err.splitlines() if "--codec: " in line]
        self.assertEqual(len(said), 1, made.err)
        numbers = [int(word) for word in re.findall(r"\d+", said[0])]
        return host, made, dict(zip(("decoded", "by_processor", "encoded"), numbers))

    def test_a_jpeg_in_bands(self):
        """One that takes more than --memory is encoded by the processor, from bands."""
        self.picture("a.jpg", colour(600, 900), quality=90)
        for codec in ("cpu", "device"):
            self.impipe("imgaussfilt 2", "a.jpg", "-o", f"{codec}.jpg", "--memory", "300K",
                        "--device", self.device, "--codec", codec)
        with open(self.path("cpu.jpg"), "rb") as host, open(self.path("device.jpg"), "rb") as made:
            self.assertEqual(made.read(), host.read())

    def test_pixels_are_the_same(self):
        for i, (height, width) in enumerate([(1, 1), (9, 16), (17, 31), (120, 161), (333, 500)]):
            for name, option in (("444", 0), ("422", 1), ("420", 2)):
                self.picture(f"in/{name}-{i}.jpg", colour(height, width, i), quality=60 + 9 * i,
                             subsampling=option, optimize=i % 2 == 0)
            self.picture(f"in/gray-{i}.jpg", ramp(height, width, i), quality=90)
        self.picture("in/progressive.jpg", colour(50, 70), progressive=True)
        self.picture("in/other.png", colour(50, 70))
        for pipeline in ("imadd 0", "imgaussfilt 2 | imadjust", "rgb2gray | imrotate 90"):
            host, made, said = self.both(pipeline, "in", "--hash")
            self.assertEqual(made.out, host.out)
            self.assertEqual(said, {"decoded": 21, "by_processor": 1, "encoded": 0})

    def test_stacks_of_small_pictures(self):
        for i in range(40):
            self.picture(f"in/{i}.jpg", colour(40, 60, i), quality=50 + i)
        with open(self.path("in/7.jpg"), "r+b") as file:
            file.truncate(os.path.getsize(self.path("in/7.jpg")) - 300)
        host, made, said = self.both("imgaussfilt 1", "in", "--hash", "-j", 2, code=1)
        self.assertEqual(made.out, host.out)
        self.assertEqual(said, {"decoded": 39, "by_processor": 0, "encoded": 0})

    def test_metadata_and_orientation(self):
        for turned in (1, 6):
            self.picture(f"in/{turned}.jpg", colour(40, 60), exif=exif_of(turned), dpi=(72, 72),
                         comment="a comment")
        self.impipe("imadd 0", "in", "-o", "host", "--device", self.device)
        _, _, said = self.both("imadd 0", "in", "-o", "made")
        self.assertEqual(said, {"decoded": 1, "by_processor": 1, "encoded": 2})
        for turned in (1, 6):
            self.assertEqual(self.read(f"made/{turned}.jpg"), self.read(f"host/{turned}.jpg"))

    def test_damaged_pictures_fail_alone_with_the_same_message(self):
        rng = np.random.default_rng(5)
        for i in range(30):
            self.picture(f"in/{i:02}.jpg", colour(80, 90, i), quality=85)
            data = bytearray(self.read(f"in/{i:02}.jpg"))
            if i % 3 == 0:
                data = data[:len(data) - int(rng.integers(2, 900))]
            elif i % 3 == 1:
                for at in rng.integers(600, len(data) - 2, 3):
                    data[at] ^= 1 << int(rng.integers(8))
            self.write(f"in/{i:02}.jpg", bytes(data))
        host, made, _ = self.both("imgaussfilt 1", "in", "--hash",
                                  code=1)
        self.assertEqual(made.out, host.out)
        told = [line for line in made.err.splitlines() if ".jpg" in line]
        self.assertEqual(told, [line for line in host.err.splitlines() if ".jpg" in line])

    def test_files_are_the_same(self):
        for i, (height, width) in enumerate([(1, 1), (9, 16), (17, 31), (120, 161), (333, 500)]):
            for name, option in (("444", 0), ("422", 1), ("420", 2)):
                self.picture(f"in/{name}-{i}.jpg", colour(height, width, i), quality=90,
                             subsampling=option, icc_profile=b"an ICC profile" * 20)
            self.picture(f"in/gray-{i}.jpg", ramp(height, width, i), quality=90, dpi=(300, 300))
            self.picture(f"in/png-{i}.png", colour(height, width, i))
        self.picture("in/progressive.jpg", colour(50, 70), progressive=True)
        for pipeline, flags in (("imgaussfilt 1", ()), ("imresize 0.7", ("--quality", 60)),
                                ("rgb2gray", ("--quality", 100)),
                                ("imadd 3", ("--subsampling", 422)),
                                ("imadd 3", ("--compression", "small"))):
            for where, codec in (("host", "cpu"), ("made", "device")):
                said = self.impipe(pipeline, "in", "-o", where, "--format", "jpg", "--device",
                                   self.device, "--codec", codec, "-v", *flags).err
            encoded = int(re.search(r"encoded on the device (\d+)", said).group(1))
            small = "small" in flags
            self.assertEqual(encoded, 0 if small else 25, said)
            for name in sorted(os.listdir(self.path("host"))):
                self.assertEqual(self.read(f"made/{name}"), self.read(f"host/{name}"), name)

    def test_what_is_alike_is_done_together(self):
        for i in range(24):
            self.picture(f"in/{i:02}.jpg", colour(90, 70, i), quality=60 + i,
                         subsampling=i % 2)
        for i, cut in ((3, 200), (10, 700)):
            with open(self.path(f"in/{i:02}.jpg"), "r+b") as file:
                file.truncate(os.path.getsize(self.path(f"in/{i:02}.jpg")) - cut)
        flags = ("imgaussfilt 1", "in", "--device", self.device, "--profile=json")
        host = self.impipe(*flags, "-o", "host", "--codec", "cpu", code=1).err
        made = self.impipe(*flags, "-o", "made", "--codec", "device", "-j", 2, code=1).err
        failed = [[line for line in err.splitlines() if ".jpg: " in line] for err in (host, made)]
        self.assertEqual(failed[0], failed[1])
        self.assertEqual(len(failed[0]), 2)
        self.assertEqual(sorted(os.listdir(self.path("made"))),
                         sorted(os.listdir(self.path("host"))))
        for name in os.listdir(self.path("host")):
            self.assertEqual(self.read(f"made/{name}"), self.read(f"host/{name}"), name)
        steps = {step["stages"]: step for step in json.loads(made[made.index("{"):])["steps"]}
        # Single pictures would take seven launches each.
        self.assertLess(steps["decode"]["launches"], 7 * 24 / 2)

    def test_a_processor_has_no_device_codec(self):
        self.picture("in/a.jpg", colour(20, 30))
        self.picture("b.jpg", colour(20, 30), progressive=True)
        said = self.impipe("imadd 0", "in", "-o", "out", "--device", "cpu", "--codec", "device",
                           code=4).err
        self.assertIn("--codec device: the images are computed on the CPU, which decodes and encodes "
                      "them by its own codecs; give another device, or --codec cpu", said)
        said = self.impipe("imadd 0", "in", "-o", "out", "--codec", "device").err
        self.assertIn("--codec device: the images are computed on the CPU, which decodes and encodes "
                      "them by its own codecs\n", said)
        said = self.impipe("imadd 0", "in", "-o", "out", "-v", "--device", "cpu").err
        self.assertIn("--codec auto: pictures are decoded and encoded by the processor: it computes the "
                      "images, too\n", said)
        said = self.impipe("imadd 0", "in", "-o", "out", "-v", "--device", self.device).err
        self.assertIn("--codec auto: pictures ", said)
        head = "note: --codec auto: where a GPU computes, "
        self.assertIn(head + "it decodes this JPEG; it encodes a JPEG of the result, too\n",
                      self.impipe("plan", "imadd 0", "in/a.jpg").out)
        self.assertIn(head + "the processor decodes this JPEG, since it is progressive or of another "
                      "unusual form\n", self.impipe("plan", "mean2", "b.jpg").out)
        self.assertIn("; a JPEG of the result is encoded by the processor, since pixels are single\n",
                      self.impipe("plan", "im2single", "in/a.jpg").out)

    def test_fast_has_the_pixels_of_the_exact_codec(self):
        for i in range(3):
            self.picture(f"in/{i}.jpg", colour(90, 70 + i, i), quality=80, subsampling=i)
        for device in ("cpu", self.device):
            made = {}
            for codec in ("cpu", "fast"):
                made[codec] = self.impipe("imgaussfilt 1", "in", "-o", codec, "--device", device,
                                          "--codec", codec, "-v").err
                for name in os.listdir(self.path("cpu")):
                    self.assertEqual(self.read(f"{codec}/{name}"), self.read(f"cpu/{name}"), name)
            self.assertIn("--codec fast: nothing that is within one level of the exact codec is "
                          "faster; it is auto\n", made["fast"])
            self.assertIn("--codec auto: pictures ", made["fast"])
            self.assertNotIn("--codec fast", made["cpu"])
        self.picture("png/a.png", colour(20, 30))
        said = self.impipe("imadd 0", "png", "-o", "out", "--codec", "fast", "-v").err
        self.assertNotIn("--codec fast", said)

    def test_a_profile_lists_what_the_codec_did(self):
        for i in range(3):
            self.picture(f"in/{i}.jpg", colour(1100, 900, i), quality=90)
        flags = ("imgaussfilt 1", "in", "-o", "out", "--device", self.device, "--profile=json")
        steps = {}
        for codec in ("cpu", "device"):
            said = self.impipe(*flags, "--codec", codec).err
            told = json.loads(said[said.index("{"):])
            steps[codec] = {step["stages"]: step for step in told["steps"]}
        self.assertEqual(list(steps["cpu"]), ["imgaussfilt 1"])
        self.assertEqual(list(steps["device"]), ["decode", "imgaussfilt 1", "encode"])
        pixels = 3 * 1100 * 900
        for name in ("decode", "encode"):
            step = steps["device"][name]
            self.assertEqual(step["runs"], 3)
            self.assertGreater(step["launches"], 3)
            self.assertGreater(step["seconds"], 0)
            # The pixels, and the data, which are of this order.
            self.assertTrue(3 * pixels < step["bytes"] < 6 * pixels, step)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def exif_of(orientation):
    from PIL import Image
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


if __name__ == "__main__":
    unittest.main()
