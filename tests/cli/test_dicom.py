"""DICOM as pydicom writes it, and files of scanners that come with pydicom, against its pixels."""
import io
import os
import unittest

import numpy as np
import pydicom
import tifffile
from PIL import Image
from program import ProgramTest, colour, ramp
from pydicom.data import get_testdata_file
from pydicom.pixel_data_handlers.util import apply_modality_lut, apply_voi_lut
from pydicom.uid import (DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian,
                         ImplicitVRLittleEndian, JPEG2000Lossless, JPEGBaseline8Bit)

from dicom_writer import dicom

HEADER = r"impipe: .*: the result is without \d+ fields of the DICOM header(, resolution)?\n"
INVERTED = (HEADER[:-len("(, resolution)?") - 2] + ", that its smallest numbers are the brightest "
            r"\(MONOCHROME1\)\n")


class Dicom(ProgramTest):
    def made(self, values, **options):
        dicom(self.path("a.dcm"), values, **options)

    def read(self, *options, name="a.dcm", err=HEADER):
        run = self.impipe("rot90 0", name, "-o", "out.npy", *options)
        self.assertRegex(run.err, f"^{err}$")
        return np.load(self.path("out.npy"))

    def equal(self, got, expected):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected)

    def test_classes(self):
        rng = np.random.default_rng(1)
        for kind, stored, low, high, expected in (
                ("uint8", 8, 0, 256, "uint8"), ("uint16", 16, 0, 65536, "uint16"),
                ("uint16", 12, 0, 4096, "int16"), ("int16", 16, -32768, 32768, "int16"),
                ("int16", 12, -2048, 2048, "int16"), ("int8", 8, -128, 128, "int16")):
            with self.subTest(kind, stored=stored):
                values = rng.integers(low, high, (13, 17)).astype(kind)
                self.made(values, stored=stored)
                self.equal(self.read(), values.astype(expected))

    def test_bits_around_those_that_are_stored(self):
        values = np.arange(-100, 100, dtype=np.int16).reshape(10, 20)
        dirty = (values.astype(np.uint16) & 0x0fff | 0x5000).astype(np.uint16)
        self.made(dirty, stored=12, PixelRepresentation=1)
        self.equal(self.read(), values)

    def test_transfer_syntaxes(self):
        values = np.arange(-100, 100, dtype=np.int16).reshape(10, 20)
        for syntax in (ImplicitVRLittleEndian, ExplicitVRBigEndian,
                       DeflatedExplicitVRLittleEndian):
            with self.subTest(syntax.name):
                self.made(values, syntax=syntax)
                self.equal(self.read(), values)

    def test_without_a_preamble(self):
        """Part 10's preamble and its group of file elements, as older files lack both."""
        for kind, implicit in (("uint8", False), ("int16", True)):
            values = np.random.default_rng(2).integers(0, 100, (5, 7)).astype(kind)
            self.made(values)
            data = pydicom.dcmread(self.path("a.dcm"))
            data.SpecificCharacterSet = "ISO_IR 100"
            data.is_little_endian, data.is_implicit_VR = True, implicit
            del data.file_meta, data.preamble
            data.save_as(self.path("a.dcm"), write_like_original=True)
            self.equal(self.read(), values)

    def test_big_endian_without_a_preamble(self):
        values = np.random.default_rng(3).integers(-100, 100, (5, 7)).astype(np.int16)
        self.made(values, syntax=ExplicitVRBigEndian)
        data = pydicom.dcmread(self.path("a.dcm"))
        data.is_little_endian, data.is_implicit_VR = False, False
        del data.file_meta, data.preamble
        data.save_as(self.path("a.dcm"), write_like_original=True)
        self.equal(self.read(), values)

    def test_slices_are_in_the_order_of_their_positions(self):
        slices = np.stack([ramp(5, 7, seed) for seed in range(4)])
        for number, place in enumerate((2, 0, 3, 1)):  # by the normal of an oblique plane
            dicom(self.path(f"s{number}.dcm"), slices[place], ImageOrientationPatient=[0, 1, 0, 0, 0, 1],
                  ImagePositionPatient=[2.5 * place, 7, 9 - place], InstanceNumber=number + 1)
        names = [f"s{number}.dcm" for number in range(4)]
        run = self.impipe("rot90 0", *names, "-o", "out.tif")
        self.assertIn("the DICOMs follow each other as their slices lie, not by their names", run.err)
        np.testing.assert_array_equal(tifffile.imread(self.path("out.tif")), slices)
        self.assertNotIn("as their slices lie", self.impipe("rot90 0", *names, "-o", "out/").err)
        for number, place in enumerate((1, 0)):
            dicom(self.path(f"i{number}.dcm"), slices[place], InstanceNumber=place + 1)
        self.impipe("rot90 0", "i0.dcm", "i1.dcm", "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), slices[:2])

    def test_packed_frames(self):
        frames = np.stack([ramp(40, 60, seed) for seed in range(3)])
        for form, syntax in (("JPEG2000", JPEG2000Lossless), ("JPEG", JPEGBaseline8Bit)):
            with self.subTest(form):
                packed, expected = [], []
                for frame in frames:
                    file = io.BytesIO()
                    Image.fromarray(frame).save(
                        file, form, **({"no_jp2": True} if form == "JPEG2000" else {}))
                    packed.append(file.getvalue())
                    expected.append(np.asarray(Image.open(file)))
                self.made(frames, syntax=syntax, data=packed)
                got = self.read()
                self.assertLessEqual(np.abs(got.astype(int) - expected).max(), form == "JPEG")
                self.impipe("rot90 0", "a.dcm", "-o", "one.npy", "--pages", "2")
                np.testing.assert_array_equal(np.load(self.path("one.npy")), got[1])

    def test_files_of_scanners(self):
        for name in ("CT_small", "MR_small", "MR_small_RLE", "MR_small_bigendian",
                     "MR_small_implicit", "MR_small_jp2klossless", "rtdose", "rtdose_rle",
                     "SC_rgb_rle_16bit_2frame", "SC_rgb_small_odd", "image_dfl",
                     "ExplVR_BigEnd"):
            with self.subTest(name):
                path = get_testdata_file(name + ".dcm")
                ds = pydicom.dcmread(path)
                expected = pydicom.dcmread(get_testdata_file(
                    "MR_small.dcm" if name == "MR_small_jp2klossless" else name + ".dcm"))
                expected = expected.pixel_array
                slope, offset = ds.get("RescaleSlope", 1), ds.get("RescaleIntercept", 0)
                slope = ds.get("DoseGridScaling", slope)
                got = self.read(name=path)
                np.testing.assert_allclose(got, expected * float(slope) + float(offset), rtol=2e-7)

    def test_numbers_scaled_by_their_header(self):
        values = np.arange(200, dtype=np.uint16).reshape(10, 20)
        self.made(values, stored=12, RescaleSlope="1", RescaleIntercept="-1024")
        self.equal(self.read(), values.astype(np.int16) - 1024)
        self.made(values, stored=12, RescaleSlope="0.5", RescaleIntercept="-1")
        self.equal(self.read(), values.astype(np.float32) / 2 - 1)
        self.assertEqual(
            self.impipe("", "a.dcm", "-o", "a.png", code=1).err,
            "impipe: a.dcm: encode: it has numbers, and PNG holds pictures: --window file makes "
            "them by the file's own window, --window C,W by another, `mat2gray` by their range; "
            ".npy and .tif hold numbers\n")
        self.impipe("mat2gray", "a.dcm", "-o", "a.png")
        self.assertEqual((self.pixels("a.png").min(), self.pixels("a.png").max()), (0, 65535))

    def test_monochrome1(self):
        values = ramp(10, 20)
        self.made(values, photometric="MONOCHROME1")
        self.equal(self.read(), 255 - values)
        numbers = np.arange(200, dtype=np.uint16).reshape(10, 20)
        self.made(numbers, stored=12, photometric="MONOCHROME1", WindowCenter="100",
                  WindowWidth="200")
        self.equal(self.read(err=INVERTED), numbers.astype(np.int16))
        got = self.read("--window", "file")
        self.made(numbers, stored=12, WindowCenter="100", WindowWidth="200")
        self.equal(got, 255 - self.read("--window", "file"))

    def test_windows(self):
        values = np.arange(-1000, 1000, 5, dtype=np.int16).reshape(20, 20)
        x = values.astype(float)
        # PS3.3 C.11.2.1.2, C.11.2.1.3
        linear = np.clip((x - 39.5) / 399 + 0.5, 0, 1)
        exact = np.clip((x - 40) / 400 + 0.5, 0, 1)
        sigmoid = 1 / (1 + np.exp(-4 * (x - 40) / 400))
        for shape, expected in (("", linear), ("LINEAR", linear), ("LINEAR_EXACT", exact),
                                ("SIGMOID", sigmoid)):
            with self.subTest(shape):
                fields = {"VOILUTFunction": shape} if shape else {}
                self.made(values, WindowCenter=["40", "300"], WindowWidth=["400", "2000"],
                          **fields)
                self.impipe("", "a.dcm", "-o", "a.png", "--window", "file")
                np.testing.assert_array_equal(self.pixels("a.png"), np.floor(255 * expected + 0.5))
        self.made(values)
        self.impipe("", "a.dcm", "-o", "a.png", "--window", "40,400")
        np.testing.assert_array_equal(self.pixels("a.png"), np.floor(255 * linear + 0.5))
        self.assertIn("it has no window; give --window CENTRE,WIDTH",
                      self.impipe("", "a.dcm", "-o", "a.png", "--window", "file", code=1).err)

    def test_lookup_tables(self):
        """VOI LUTs as pydicom applies them: of bytes and words, signed first numbers, beyond both ends."""
        values = np.arange(-100, 300, 2, dtype=np.int16).reshape(10, 20)
        curve = np.round(4095 * np.linspace(0, 1, 256) ** 2).astype(np.uint16)
        for kind, first, bits, stored, fields in (
                ("int16", -50, 12, 16, {}), ("uint16", 20, 12, 16, {}), ("uint16", 20, 12, 12, {}),
                ("uint8", 10, 8, 8, {}), ("uint16", 30, 16, 16, {"photometric": "MONOCHROME1"}),
                ("uint8", 10, 8, 8, {"photometric": "MONOCHROME1"}),
                ("int16", 40, 12, 16, {"WindowCenter": "10", "WindowWidth": "20"}),
                ("uint16", -60, 12, 12, {"RescaleSlope": "1", "RescaleIntercept": "-100"})):
            with self.subTest(kind=kind, first=first, bits=bits, stored=stored, **fields):
                item = pydicom.Dataset()
                item.add_new("LUTDescriptor", "SS" if first < 0 else "US", [256, first, bits])
                table = np.minimum(curve.astype(np.uint32) * (2 ** bits - 1) // 4095, 65535).astype("<u2")
                item.add_new("LUTData", "OW", table.tobytes())
                pixels = (values + (0 if kind == "int16" else 100)).clip(0 if kind != "int16" else -100, 255)
                pixels = pixels.astype(kind)
                self.made(pixels, stored=stored, VOILUTSequence=[item], **fields)
                run = self.impipe("", "a.dcm", "-o", "a.png", "--window", "file")
                self.assertNotIn("VOI LUT", run.err)
                ds = pydicom.dcmread(self.path("a.dcm"))
                numbers = pixels.astype(np.int32) + int(ds.get("RescaleIntercept", 0))
                shown = apply_voi_lut(numbers, ds) / (2.0 ** bits - 1)
                if ds.PhotometricInterpretation == "MONOCHROME1":
                    shown = 1 - shown
                np.testing.assert_array_equal(self.pixels("a.png"), np.floor(255 * shown + 0.5))
                self.assertIn("VOI LUT", self.impipe("", "a.dcm", "-o", "a.npy").err)

    def test_tables_of_values(self):
        """Modality LUTs as pydicom applies them, alone, with a window and with a VOI LUT of what they give."""
        def lut(first, bits, entries, is_signed=False):
            item = pydicom.Dataset()
            item.add_new("LUTDescriptor", "SS" if is_signed else "US", [len(entries), first, bits])
            item.add_new("LUTData", "OW", entries.astype("<u2").tobytes())
            return item
        values = np.arange(200).reshape(10, 20)
        curve = (np.arange(128) ** 2 * 3 % 60000).astype(np.uint16)
        voi = lut(1000, 12, np.arange(0, 4096, 2))
        for kind, first, fields in (("uint16", 30, {}), ("int16", -50, {}), ("uint8", 60, {}),
                                    ("uint16", 30, {"WindowCenter": "9000", "WindowWidth": "20000"}),
                                    ("uint16", 30, {"VOILUTSequence": [voi]})):
            with self.subTest(kind=kind, first=first, **fields):
                pixels = (values - (100 if kind == "int16" else 0)).astype(kind)
                self.made(pixels, ModalityLUTSequence=[lut(first, 16, curve, first < 0)], **fields)
                ds = pydicom.dcmread(self.path("a.dcm"))
                numbers = apply_modality_lut(pixels, ds)
                run = self.impipe("", "a.dcm", "-o", "a.npy")
                self.assertNotIn("modality", run.err)
                np.testing.assert_array_equal(np.load(self.path("a.npy")), numbers)
                if not fields:
                    continue
                self.impipe("", "a.dcm", "-o", "a.png", "--window", "file")
                shown = apply_voi_lut(numbers, ds) / (4095 if "VOILUTSequence" in fields else 65535)
                # pydicom's window goes over the range of the stored numbers.
                if "WindowWidth" in fields:
                    shown = np.clip((numbers - 8999.5) / 19999 + 0.5, 0, 1)
                np.testing.assert_array_equal(self.pixels("a.png"), np.floor(255 * shown + 0.5))
        bad = lut(0, 16, curve)
        bad.LUTDescriptor = [999, 0, 16]
        self.made(values.astype(np.uint16), ModalityLUTSequence=[bad])
        self.assertEqual(self.impipe("", "a.dcm", "-o", "a.npy", code=1).err,
                         "impipe: a.dcm: decode: DICOM whose modality LUT is damaged or cut off\n")

    def test_windows_of_inverted_pixels(self):
        for kind, width in (("uint8", 100), ("uint16", 30000)):
            values = np.linspace(0, np.iinfo(kind).max, 200).astype(kind).reshape(10, 20)
            self.made(values, photometric="MONOCHROME1", WindowCenter="80", WindowWidth=str(width))
            self.impipe("", "a.dcm", "-o", "a.png", "--window", "file")
            shown = np.clip((values.astype(float) - 79.5) / (width - 1) + 0.5, 0, 1)
            np.testing.assert_array_equal(self.pixels("a.png"), np.floor(255 * (1 - shown) + 0.5))

    def test_bytes_in_words_of_the_other_order(self):
        values = colour(11, 21)
        self.made(values, photometric="RGB", syntax=ExplicitVRBigEndian)
        ds = pydicom.dcmread(self.path("a.dcm"))
        ds["PixelData"].VR = "OW"
        data = np.frombuffer(ds.PixelData, "u1").reshape(-1, 2)[:, ::-1].tobytes()
        ds.PixelData = data
        ds.save_as(self.path("a.dcm"))
        self.equal(self.read(), values)

    def test_a_folder_as_pictures(self):
        os.mkdir(self.path("in"))
        for i in range(3):
            dicom(self.path(f"in/IM{i:04}"), np.full((5, 7), 100 * i, np.int16),
                  WindowCenter="100", WindowWidth="201")
        self.impipe("", "in", "-o", "png/", "--window", "file", "--format", "png")
        got = [self.pixels(f"png/IM{i:04}.png")[0, 0] for i in range(3)]
        self.assertEqual(got, [1, 128, 255])

    def test_wrong_windows(self):
        self.made(ramp(10, 20))
        for window, reason in (("40", "it is 'file', or CENTRE,WIDTH as in --window 40,400"),
                               ("a,b", "it is 'file', or CENTRE,WIDTH as in --window 40,400"),
                               ("40,0", "the width is at least 1")):
            run = self.impipe("", "a.dcm", "-o", "a.png", "--window", window, code=2)
            self.assertEqual(run.err, f"impipe: --window {window}: {reason}\n")
        Image.fromarray(ramp()).save(self.path("a.png"))
        run = self.impipe("", "a.png", "-o", "b.png", "--window", "file", code=1)
        self.assertEqual(run.err, "impipe: a.png: decode: --window is of DICOM and NIfTI, and this "
                                  "is PNG; mat2gray LOW,HIGH does that\n")
        self.made(colour(10, 20), photometric="RGB")
        run = self.impipe("", "a.dcm", "-o", "b.png", "--window", "1,2", code=1)
        self.assertEqual(run.err, "impipe: a.dcm: decode: --window 1,2 is of gray pixels, and "
                                  "these are colours\n")

    def test_colours(self):
        values = colour(10, 20)
        self.made(values, photometric="RGB")
        self.equal(self.read(), values)
        self.made(np.ascontiguousarray(np.moveaxis(values, 2, 0)).reshape(10, 20, 3),
                  photometric="RGB", PlanarConfiguration=1)
        self.equal(self.read(), values)
        self.made(values, photometric="YBR_FULL")
        y, b, r = (values[..., i].astype(float) for i in range(3))
        rgb = [y + 1.402 * (r - 128), y - 0.344136 * (b - 128) - 0.714136 * (r - 128),
               y + 1.772 * (b - 128)]
        expected = np.clip(np.floor(np.stack(rgb, -1) + 0.5), 0, 255)
        self.assertLessEqual(np.abs(self.read().astype(int) - expected).max(), 1)

    def test_palettes(self):
        values = (np.arange(200) % 4).astype(np.uint8).reshape(10, 20) + 3
        tables = np.array([[0, 10, 20], [5, 100, 200], [7, 8, 9], [255, 0, 1]], np.uint8)
        fields = {"photometric": "PALETTE COLOR"}
        for i, name in enumerate(("Red", "Green", "Blue")):
            fields[f"{name}PaletteColorLookupTableDescriptor"] = [4, 3, 8]
            fields[f"{name}PaletteColorLookupTableData"] = tables[:, i].tobytes()
        self.made(values, **fields)
        self.equal(self.read(), tables[values - 3])

    def test_frames_are_pages_and_bits_are_logical(self):
        values = np.arange(3 * 5 * 7, dtype=np.int16).reshape(3, 5, 7)
        self.made(values)
        self.equal(self.read(), values)
        bits = (values % 3 == 0)
        packed = np.packbits(bits.ravel(), bitorder="little").tobytes()
        self.made(bits.astype(np.uint8), BitsAllocated=1, BitsStored=1, HighBit=0,
                  PixelData=packed + b"\0" * (len(packed) % 2))
        self.equal(self.read(), bits)

    def test_each_frame_of_an_enhanced_file_has_its_own_fields(self):
        values = np.arange(3 * 5 * 7, dtype=np.int16).reshape(3, 5, 7)
        frames = []
        for i in range(3):
            transform = pydicom.Dataset()
            transform.RescaleSlope, transform.RescaleIntercept = str(i + 1), "10"
            frame = pydicom.Dataset()
            frame.PixelValueTransformationSequence = [transform]
            frames.append(frame)
        measures = pydicom.Dataset()
        measures.PixelSpacing = ["0.5", "0.25"]
        shared = pydicom.Dataset()
        shared.PixelMeasuresSequence = [measures]
        self.made(values, PerFrameFunctionalGroupsSequence=frames,
                  SharedFunctionalGroupsSequence=[shared])
        expected = values * np.array([1, 2, 3])[:, None, None] + 10
        self.equal(self.read(), expected.astype(np.float32))
        self.assertIn("pixels of 0.25 x 0.5 mm", self.impipe("info", "a.dcm").out)

    def test_the_size_of_pixels(self):
        self.made(ramp(10, 20), PixelSpacing=["0.5", "0.25"])
        self.impipe("rot90 0", "a.dcm", "-o", "a.tif")
        with tifffile.TiffFile(self.path("a.tif")) as tif:
            tags = tif.pages[0].tags
            self.assertEqual([tags[i].value for i in (282, 283, 296)], [(40, 1), (20, 1), 3])

    def test_fields_are_named(self):
        overlay = pydicom.dataelem.DataElement(0x60000010, "US", 10)
        self.made(ramp(10, 20), overlay=overlay)
        run = self.impipe("rot90 0", "a.dcm", "-o", "a.png")
        self.assertRegex(run.err, r"without \d+ fields of the DICOM header, overlays\n$")

    def test_what_is_not_read(self):
        path = get_testdata_file("rtplan.dcm")
        run = self.impipe("", path, "-o", "a.png", code=1)
        self.assertIn("decode: DICOM without a picture (modality RTPLAN)\n", run.err)
        self.made(np.zeros((5, 7, 4), np.uint8), photometric="ARGB", SamplesPerPixel=4)
        self.assertIn("DICOM of 4 samples as 'ARGB' is not read",
                      self.impipe("", "a.dcm", "-o", "a.png", code=1).err)
        self.made(ramp(10, 20))
        with open(self.path("a.dcm"), "rb") as file:
            data = file.read()
        self.write("b.dcm", data[:-50])
        self.assertRegex(self.impipe("", "b.dcm", "-o", "a.png", code=1).err,
                         "impipe: b.dcm: decode: (truncated|damaged) DICOM")


if __name__ == "__main__":
    unittest.main()
