"""NIfTI is read as it was written, field by field, here; what nibabel makes of such files was
compared when the writer was made (5.4.2, every type, version and byte order)."""
import base64
import os
import unittest

import numpy as np
import tifffile
from program import ProgramTest

from nifti_writer import gzipped, nifti, noise

TYPES = ("uint8", "int16", "int32", "float32", "float64", "int8", "uint16", "uint32", "int64",
         "uint64")

# A volume of 5x4x3 int16 with a scale of 0.5 and -3, as nibabel 5.4.2 saves it as .nii.gz.
BY_NIBABEL = base64.b64decode("""
H4sIAAAAAAAE/8WQNw7CUBBEn7FpSKIgVaSWCvkARuIalKTKhIpUINJ5OAIlqSJVpIp0Cv5HLjAFomNWq9HMaqWdzSn8BBUn
GiqKVfYlDf/L6BqCDF3XJWdA6vceZ+VcjCaCHaL/jK8nyAw2WLlsnhCZT0NqM5W2bEUEVcXvXLjx4MVHgCAhwkSIEiNOgiR5
ChQpUcakQpUadRo0adGmQ48+A4aMmDJjzoIlK9Zs2LJjz4EjJ85cuHLjzoMnU+poatgBAAA=
""")


class Nifti(ProgramTest):
    def read(self, data, name="a.nii", err="", *options):
        self.write(name, data)
        run = self.impipe("rot90 0", name, "-o", "out.npy", *options)
        self.assertEqual(run.err, err)
        return np.load(self.path("out.npy"))

    def test_types_versions_and_byte_orders(self):
        for kind in TYPES:
            values = noise((3, 5, 7), kind)
            for version in (1, 2):
                for order in "<>":
                    with self.subTest(kind, version=version, order=order):
                        got = self.read(nifti(values, version, order))
                        self.assertEqual(got.dtype, values.dtype)
                        np.testing.assert_array_equal(got, values.astype("f4") if
                                                      values.dtype.kind == "f" else values)

    def test_gzip_files(self):
        values = noise((6, 40, 50), "int16")
        packed = gzipped(nifti(values))
        np.testing.assert_array_equal(self.read(packed, "a.nii.gz"), values)
        half = gzipped(nifti(values)[:5000]), gzipped(nifti(values)[5000:])
        np.testing.assert_array_equal(self.read(b"".join(half), "b.nii.gz"), values)
        self.impipe("rot90 0", "a.nii.gz", "-o", "one.npy", "--pages", "2,5")
        np.testing.assert_array_equal(np.load(self.path("one.npy")), values[[1, 4]])
        self.assertIn("6 pages", self.impipe("info", "a.nii.gz").out)

    def test_a_folder_takes_gzip_files_by_what_they_hold(self):
        self.write("in/a.nii.gz", gzipped(nifti(noise((2, 5, 7), "uint8"))))
        self.write("in/b.csv.gz", gzipped(b"1,2,3\n" * 1000))
        run = self.impipe("mean2", "in")
        self.assertEqual({line.split("\t")[0] for line in run.lines()[1:]}, {"in/a.nii.gz"})
        self.impipe("project max", "in", "-o", "out", "--format", "png")
        self.impipe("project max", "in", "-o", "{stem}_max.png")
        self.assertEqual((self.tree("out"), os.path.exists(self.path("a_max.png"))), (["a.png"], True))

    def test_a_file_of_nibabel(self):
        z, y, x = np.mgrid[0:3, 0:4, 0:5]
        expected = 0.5 * (100 * z + 10 * y + x) - 3
        np.testing.assert_array_equal(
            self.read(BY_NIBABEL, "a.nii.gz",
                      "impipe: a.nii.gz: the result is without where its voxels lie (qform, sform), "
                      "where pixels lie along z, resolution\n"), expected)

    def test_slope_and_offset(self):
        values = noise((2, 5, 7), "int16")
        np.testing.assert_array_equal(self.read(nifti(values, slope=2.5, offset=-7)),
                                      values * 2.5 - 7)
        for slope in (0, np.nan, np.inf):  # none: and then the offset is none, too
            got = self.read(nifti(values, slope=slope, offset=-7))
            np.testing.assert_array_equal(got, values)
        got = self.read(nifti(values.astype(np.uint8), slope=1, offset=0))
        self.assertEqual(got.dtype, np.uint8)

    def test_colours(self):
        values = noise((2, 5, 7, 3), "uint8")
        np.testing.assert_array_equal(self.read(nifti(values, kind="rgb")), values)
        values = noise((2, 5, 7, 4), "uint8")
        np.testing.assert_array_equal(self.read(nifti(values, kind="rgba")), values)

    def test_axes_beyond_the_third_are_pages(self):
        values = noise((2, 3, 4, 5, 7), "int16")
        got = self.read(nifti(values), "a.nii",
                        "impipe: a.nii: the result is without the axes of its pages (c 2, t 3, z 4)\n")
        np.testing.assert_array_equal(got, values)
        np.testing.assert_array_equal(self.read(nifti(values[0, 0, 0])), values[0, 0, 0])

    def test_the_size_of_pixels(self):
        data = nifti(noise((1, 5, 7), "uint8")[0], pixdim=(0.5, 0.25), text=b"a head")
        self.write("a.nii", data)
        self.impipe("rot90 0", "a.nii", "-o", "a.tif")
        with tifffile.TiffFile(self.path("a.tif")) as tif:
            tags = tif.pages[0].tags
            self.assertEqual([tags[i].value for i in (282, 283)], [(20, 1), (40, 1)])
            self.assertEqual(tags[296].value, 3)  # a centimetre
        self.assertIn("0.5 x 0.25 mm", self.impipe("info", "a.nii").out)

    def test_what_says_where_voxels_lie_is_named(self):
        self.write("a.nii", nifti(noise((2, 5, 7), "uint8"), qform=1))
        self.assertIn("where its voxels lie", self.impipe("rot90 0", "a.nii", "-o", "a.tif").err)

    def test_distances_of_planes(self):
        self.write("a.nii", nifti(noise((2, 5, 7), "uint8"), pixdim=(1, 2, 3)))
        self.assertIn("pixels of 1 x 2 mm, 2 pages (z 2 by 3 mm)", self.impipe("info", "a.nii").out)
        self.assertEqual(self.impipe("rot90 0", "a.nii", "-o", "a.fits").err, "")
        self.assertIn("2 pages (z 2 by 3 mm)", self.impipe("info", "a.fits").out)
        self.assertEqual(self.impipe("rot90 0", "a.nii", "-o", "a.tif").err, "")
        with tifffile.TiffFile(self.path("a.tif")) as made:
            self.assertIn('PhysicalSizeZ="3" PhysicalSizeZUnit="mm"', made.ome_metadata)
            self.assertEqual(made.series[0].axes, "ZYX")

    def test_windows(self):
        values = np.arange(-100, 100, dtype=np.int16).reshape(2, 10, 10)
        self.write("a.nii", nifti(values, window=(-50, 50)))
        self.impipe("rot90 0", "a.nii", "-o", "{page}.png", "--window", "file")
        got = np.stack([self.pixels(f"{page}.png") for page in (1, 2)])
        expected = np.floor(255 * np.clip(values / 100 + 0.5, 0, 1) + 0.5)
        np.testing.assert_array_equal(got, expected)
        self.write("b.nii", nifti(values))
        run = self.impipe("rot90 0", "b.nii", "-o", "b.png", "--window", "file", code=1)
        self.assertEqual(run.err, "impipe: b.nii: decode: it has no window; give --window "
                                  "CENTRE,WIDTH\n")

    def test_pairs_of_files(self):
        # As nibabel 5.4.2 writes a Nifti1Pair and a Nifti2Pair: an offset of 0 into the other file.
        values = noise((3, 5, 7), "int16")
        for version, magic, at in ((1, b"ni1\0", 108), (2, b"ni2\0\r\n\x1a\n", 168)):
            for order in "<>":
                for skipped in (0, 16):
                    head = bytearray(nifti(values[:0], version, order, magic=magic))
                    head[:len(head) - 4] = nifti(values, version, order, magic=magic)[:len(head) - 4]
                    size = 4 if version == 1 else 8
                    head[at:at + size] = np.array(skipped, order + ("f4" if version == 1 else "i8")).tobytes()
                    self.write("in/a.img", b"x" * skipped + values.astype(order + "i2").tobytes())
                    self.write("in/a.hdr", bytes(head[:-4]))
                    run = self.impipe("rot90 0", "in/a.hdr", "-o", "out.npy")
                    self.assertEqual(run.err, "")
                    np.testing.assert_array_equal(np.load(self.path("out.npy")), values)
        self.assertIn("NIfTI, 7x5", self.impipe("info", "in/a.hdr").out)
        self.assertEqual(len(self.impipe("mean2", "in").lines()), 4)  # pages of one file
        os.truncate(self.path("in/a.img"), 100)
        run = self.impipe("mean2", "in/a.hdr", code=1)
        self.assertIn("truncated NIfTI", run.err)
        os.remove(self.path("in/a.img"))
        run = self.impipe("mean2", "in/a.hdr", code=1)
        self.assertIn("its voxels in 'in/a.img': no such file", run.err)
        self.write("elsewhere", values.tobytes())
        os.symlink(self.path("elsewhere"), self.path("in/a.img"))
        run = self.impipe("mean2", "in/a.hdr", code=1)
        self.assertIn("its voxels in 'in/a.img': is a link, and none is followed", run.err)
        os.remove(self.path("in/a.img"))
        os.mkfifo(self.path("in/a.img"))  # which nobody writes to
        for given in ("in/a.hdr", "in"):
            run = self.impipe("mean2", given, code=1)
            self.assertIn("its voxels in 'in/a.img': is no file", run.err)

    def test_what_is_not_read(self):
        values = noise((2, 5, 7), "int16")
        data = nifti(values)
        for changed, reason in (
                (gzipped(nifti(values, magic=b"ni1\0")),
                 "its pixels lie in another file (.img), which is read beside a plain .hdr alone; "
                 "nibabel writes both as one .nii"),
                (nifti(values, magic=b"\0\0\0\0"),
                 "it is ANALYZE 7.5, which is not read; nibabel makes it NIfTI"),
                (nifti(values.astype(np.complex64)),
                 "NIfTI of data type 32 is not read (whole numbers of 8 to 64 bits, floats of 32 "
                 "and 64 and colours are)"),
                (data[:-1], f"compute: page 1: truncated NIfTI: 7x5 needs at least {len(data)} "
                            f"bytes, and the file has {len(data) - 1}"),
                (data[:300], "truncated NIfTI: the header ends at byte 300"),
                (gzipped(b"x" * 5000), None),
                (gzipped(data[:-1]), "compute: page 2: truncated "
                                         "NIfTI: its gzip file ends within a plane")):
            with self.subTest(reason):
                self.write("a.nii", changed)
                run = self.impipe("rot90 0", "a.nii", "-o", "out.npy", code=1)
                if reason:
                    stage = "" if reason.startswith("compute") else "decode: "
                    self.assertEqual(run.err, f"impipe: a.nii: {stage}{reason}\n")
                else:
                    self.assertIn("not an image", run.err)
                self.assertFalse(os.path.exists(self.path("out.npy")))


if __name__ == "__main__":
    unittest.main()
