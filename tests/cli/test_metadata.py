"""What a file has beside its pixels: each kind is carried by itself, and what is left out is named."""
import io
import struct
import unittest
import zlib

import numpy as np
import tifffile
from PIL import Image, ImageCms

from program import ProgramTest, colour, png_chunk, ramp

BAD_XMP = (b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-"
           b"syntax-ns#'><rdf:Description xmlns:tiff='http://ns.adobe.com/tiff/1.0/' "
           b"tiff:Make='A' tiff:Make='A' tiff:Orientation='6' tiff:ImageWidth='9'/></rdf:RDF></x:xmpmeta>")
IPTC = b"8BIM\x04\x04\0\0" + struct.pack(">I", 10) + b"\x1c\x02\x69\0\x05Title"


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def with_segments(jpeg, *segments):
    """After JFIF's header."""
    end = 4 + struct.unpack(">H", jpeg[4:6])[0]
    return jpeg[:end] + b"".join(segments) + jpeg[end:]


def segments_of(jpeg):
    found, at = [], 2
    while jpeg[at + 1] != 0xDA:
        size = struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        found.append((jpeg[at + 1], jpeg[at + 4:at + 2 + size]))
        at += 2 + size
    return found


def exif_block(order=">", thumbnail=b""):
    """Make, orientation 6, a maker note that is found by its offset, sizes, and a thumbnail."""
    def entry(tag, kind, count, value):
        return struct.pack(order + "HHI", tag, kind, count) + value

    def short(value):
        return struct.pack(order + "HH", value, 0)

    def long(value):
        return struct.pack(order + "I", value)
    exif_at, note_at = 8 + 2 + 3 * 12 + 4, 8 + 2 + 3 * 12 + 4 + 2 + 3 * 12 + 4
    ifd1_at = note_at + 16
    thumbnail_at = ifd1_at + 2 + 3 * 12 + 4
    out = (b"MM\0*" if order == ">" else b"II*\0") + long(8)
    out += struct.pack(order + "H", 3)
    out += entry(271, 2, 4, b"Cam\0") + entry(274, 3, 1, short(6))
    out += entry(34665, 4, 1, long(exif_at)) + long(ifd1_at if thumbnail else 0)
    out += struct.pack(order + "H", 3)
    out += entry(37500, 7, 16, long(note_at)) + entry(40962, 3, 1, short(60))
    out += entry(40963, 4, 1, long(40)) + long(0)
    out += b"NOTE" + long(note_at) + b"absolute"
    if thumbnail:
        out += struct.pack(order + "H", 3) + entry(259, 3, 1, short(6))
        out += entry(513, 4, 1, long(thumbnail_at)) + entry(514, 4, 1, long(len(thumbnail)))
        out += long(0) + thumbnail
    return out


def jpeg_of(pixels, **options):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", **options)
    return out.getvalue()


class MetadataTest(ProgramTest):
    def exif_of(self, name):
        with Image.open(self.path(name)) as picture:
            return picture.getexif()

    def chunks(self, name):
        with open(self.path(name), "rb") as file:
            data = file.read()
        found, at = [], 8
        while at < len(data):
            size = struct.unpack(">I", data[at:at + 4])[0]
            self.assertEqual(zlib.crc32(data[at + 4:at + 8 + size]),
                             struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0])
            found.append((data[at + 4:at + 8], data[at + 8:at + 8 + size]))
            at += 12 + size
        return found

    def full_jpeg(self, order=">", thumbnail=True):
        icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        small = jpeg_of(colour(20, 30)) if thumbnail else b""
        return with_segments(
            jpeg_of(colour(40, 60), icc_profile=icc, dpi=(300, 150)),
            segment(0xE1, b"Exif\0\0" + exif_block(order, small)),
            segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + BAD_XMP),
            segment(0xED, b"Photoshop 3.0\0" + IPTC), segment(0xEC, b"Ducky\0\1"),
            segment(0xFE, b"a comment")), icc


class Kinds(MetadataTest):
    def test_a_packet_that_does_not_parse_harms_nothing(self):
        jpeg, icc = self.full_jpeg()
        self.write("a.jpg", jpeg)
        self.assertEqual(self.impipe("imcomplement", "a.jpg", "-o", "out/").err, "")
        with open(self.path("out/a.jpg"), "rb") as file:
            found = segments_of(file.read())
        bodies = [body for _, body in found]
        xmp = BAD_XMP.replace(b"Orientation='6'", b"Orientation='1'").replace(
            b"ImageWidth='9'", b"ImageWidth='40'")
        self.assertIn(b"http://ns.adobe.com/xap/1.0/\0" + xmp, bodies)
        self.assertIn(b"Photoshop 3.0\0" + IPTC, bodies)
        self.assertIn((0xEC, b"Ducky\0\1"), found)
        self.assertIn((0xFE, b"a comment"), found)
        with Image.open(self.path("out/a.jpg")) as picture:
            self.assertEqual(picture.size, (40, 60))
            self.assertEqual(picture.info["icc_profile"], icc)
            self.assertEqual(picture.info["dpi"], (150, 300))  # it was turned
        exif = self.exif_of("out/a.jpg")
        self.assertEqual((exif[271], exif[274]), ("Cam", 1))
        details = exif.get_ifd(34665)
        self.assertEqual((details[40962], details[40963]), (40, 60))

    def test_the_thumbnail_shows_the_result(self):
        jpeg, _ = self.full_jpeg()
        self.write("a.jpg", jpeg)
        self.impipe("map 'x*0+200'", "a.jpg", "-o", "out/")
        with open(self.path("out/a.jpg"), "rb") as file:
            body = next(b for m, b in segments_of(file.read()) if b.startswith(b"Exif"))
        at = body.index(b"\xff\xd8")
        with Image.open(io.BytesIO(body[at:])) as small:
            self.assertEqual(small.size, (20, 30))
            self.assertEqual(small.getpixel((7, 9)), (200, 200, 200))
        self.assertEqual(body.count(b"\xff\xd8\xff"), 1)  # nothing is left of the old one

    def test_tags_of_cameras_makers_stay_where_they_are(self):
        # Panasonic's titles; a block that was made anew would move what maker notes point at.
        small = jpeg_of(colour(20, 30))
        block = exif_block("<", small)
        title = struct.pack("<HHI4s", 50898, 7, 4, b"Tour")
        make = struct.pack("<HHI", 271, 2, 4) + b"Cam\0"
        self.assertIn(make, block)
        block = block.replace(make, title)
        self.write("a.jpg", with_segments(jpeg_of(colour(40, 60)),
                                          segment(0xE1, b"Exif\0\0" + block)))
        for ext in ("jpg", "png", "webp", "jxl"):
            with self.subTest(ext):
                run = self.impipe("imcomplement", "a.jpg", "-o", "b." + ext)
                self.assertEqual(run.err, "")
                with open(self.path("b." + ext), "rb") as file:
                    data = file.read()
                at = data.index(b"NOTE")
                begin = data.rindex(b"II*\0", 0, at)
                self.assertEqual(struct.unpack("<I", data[at + 4:at + 8])[0], at - begin)
                self.assertIn(title, data)
                self.assertEqual(data[begin:].count(b"\xff\xd8\xff"), 1)  # the thumbnail

    def test_to_every_format(self):
        jpeg, icc = self.full_jpeg()
        self.write("a.jpg", jpeg)
        expected = {"png": "the result is without APP12 'Ducky'",
                    "tif": "the result is without the EXIF thumbnail, a comment, APP12 'Ducky'",
                    "webp": "the result is without APP12 'Ducky', IPTC, a comment",
                    "bmp": "the result is without EXIF, ICC profile, XMP, IPTC, a comment, APP12 "
                           "'Ducky'",
                    "npy": "the result is without EXIF, ICC profile, XMP, IPTC, resolution, "
                           "a comment, APP12 'Ducky'"}
        for ext, warning in expected.items():
            with self.subTest(ext):
                name = f"out/a.{ext}"
                run = self.impipe("imcomplement", "a.jpg", "-o", name)
                self.assertEqual(run.err, f"impipe: a.jpg: {warning}\n")
                run = self.impipe("imcomplement", "a.jpg", "--strict", "-o", "no." + ext, code=1)
                self.assertEqual(run.err, "impipe: a.jpg: encode: --strict: the result would be "
                                          f"without {warning[22:]}\n")
                self.assertNotIn("no." + ext, self.tree())
                self.assertEqual(
                    self.impipe("imcomplement", "a.jpg", "--strip", "-o", "b." + ext).err, "")
                if ext in ("bmp", "npy"):
                    continue
                self.assertEqual(self.exif_of(name)[271], "Cam")
                with Image.open(self.path(name)) as picture:
                    self.assertEqual(picture.info["icc_profile"], icc)
                with open(self.path(name), "rb") as file:
                    self.assertIn(b"tiff:Make='A' tiff:Make='A'", file.read())

    def test_maker_notes_stay_at_their_offsets_in_a_tiff(self):
        for order in "<>":
            with self.subTest(order):
                jpeg, _ = self.full_jpeg(order, thumbnail=False)
                self.write("a.jpg", jpeg)
                self.impipe("imcomplement", "a.jpg", "-o", "a.tif")
                with open(self.path("a.tif"), "rb") as file:
                    data = file.read()
                at = data.index(b"NOTE")
                self.assertEqual(struct.unpack(order + "I", data[at + 4:at + 8])[0], at)
                self.impipe("imcomplement", "a.tif", "-o", "b.tif")
                self.impipe("imcomplement", "a.jpg", "-o", "a.png")
                self.impipe("imcomplement", "b.tif", "-o", "b.png")
                self.assertEqual(self.pixels("a.tif").tolist(), self.pixels("a.png").tolist())
                with Image.open(self.path("b.tif")) as picture:
                    self.assertEqual(picture.tag_v2[33723], b"\x1c\x02\x69\0\x05Title")
                    self.assertEqual(picture.tag_v2[282], 150)


class OtherKinds(MetadataTest):
    def test_files_of_both_byte_orders_make_one_tiff(self):
        for order in "<>":
            name = "le" if order == "<" else "be"
            exif = Image.Exif()
            exif.endian = order
            exif.update({0x10f: name, 0x8769: {0x829a: 0.125, 0xa002: 60}})
            self.picture(f"{name}.jpg", colour(seed=ord(order)), exif=exif)
            Image.fromarray(ramp().astype(np.uint16) + ord(order)).save(self.path(f"{name}.png"),
                                                                        exif=exif)
            tifffile.imwrite(self.path(f"{name}.tif"), ramp().astype(np.uint16) + ord(order),
                             byteorder=order, metadata=None)
        for kind in ("jpg", "tif", "png"):
            for names in (("le", "be"), ("be", "le")):
                with self.subTest(kind, names=names):
                    files = [f"{name}.{kind}" for name in names]
                    self.assertEqual(self.impipe("", *files, "-o", "a.tif").err, "")
                    with tifffile.TiffFile(self.path("a.tif")) as made:
                        for page, name in zip(made.pages, names, strict=True):
                            wanted = (self.pixels(f"{name}.{kind}") if kind != "jpg" else None)
                            if wanted is not None:
                                np.testing.assert_array_equal(page.asarray(), wanted)
                            if kind == "tif":
                                continue
                            self.assertEqual(page.tags[0x10f].value, name)
                            said = page.tags[34665].value
                            self.assertEqual((said["ExposureTime"], said["PixelXDimension"]),
                                             (0.125, 60))
        # Numbers in a maker note are in an order that nobody knows.
        jpeg = jpeg_of(colour())
        self.write("mm.jpg", with_segments(jpeg, segment(0xE1, b"Exif\0\0" + exif_block(">"))))
        self.write("ii.jpg", with_segments(jpeg, segment(0xE1, b"Exif\0\0" + exif_block("<"))))
        run = self.impipe("", "ii.jpg", "mm.jpg", "-o", "a.tif")
        self.assertEqual(run.err, "impipe: 'a.tif' is written without EXIF's maker note\n")
        self.assertEqual(self.impipe("", "mm.jpg", "mm.jpg", "-o", "a.tif").err, "")
        with tifffile.TiffFile(self.path("a.tif")) as made:
            self.assertEqual(made.byteorder, ">")

    def test_png_texts_gamma_and_resolution(self):
        data = (b"\x89PNG\r\n\x1a\n"
                + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0))
                + png_chunk(b"gAMA", struct.pack(">I", 100000))
                + png_chunk(b"pHYs", struct.pack(">IIB", 2835, 11811, 1))
                + png_chunk(b"bKGD", struct.pack(">HHH", 255, 0, 51))
                + png_chunk(b"tEXt", b"Title\0A title") + png_chunk(b"tEXt", b"Comment\0Words")
                + png_chunk(b"zTXt", b"Author\0\0" + zlib.compress(b"Somebody"))
                + png_chunk(b"IDAT", zlib.compress(b"\0abcdef")) + png_chunk(b"IEND", b""))
        self.write("a.png", data)
        self.assertEqual(self.impipe("imcomplement", "a.png", "-o", "b.png").err, "")
        found = self.chunks("b.png")
        for chunk in ((b"gAMA", struct.pack(">I", 100000)), (b"tEXt", b"Title\0A title"),
                      (b"bKGD", struct.pack(">HHH", 255, 0, 51)), (b"tEXt", b"Comment\0Words"),
                      (b"pHYs", struct.pack(">IIB", 2835, 11811, 1)),
                      (b"zTXt", b"Author\0\0" + zlib.compress(b"Somebody"))):
            self.assertIn(chunk, found)
        self.impipe("imcomplement | im2uint16", "a.png", "-d", "uint16", "-o", "c.png")
        self.assertIn((b"bKGD", struct.pack(">HHH", 65535, 0, 13107)), self.chunks("c.png"))
        run = self.impipe("imcomplement", "a.png", "-o", "b.jpg")
        self.assertEqual(run.err, "impipe: a.png: the result is without gamma, background colour, "
                                  "text 'Title', text 'Author'\n")
        with Image.open(self.path("b.jpg")) as picture:
            self.assertEqual(picture.info["dpi"], (72, 300))
            self.assertEqual(picture.info["comment"], b"Words")

    def test_png_chunks_of_a_wrong_length_are_named(self):
        kinds = [b"gAMA", b"cHRM", b"sRGB", b"bKGD", b"tIME", b"pHYs", b"oFFs", b"cICP"]
        self.write("a.png", b"\x89PNG\r\n\x1a\n"
                   + png_chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0))
                   + b"".join(png_chunk(kind, b"\0\0\0") for kind in kinds)
                   + png_chunk(b"IDAT", zlib.compress(b"\0abcdef")) + png_chunk(b"IEND", b""))
        run = self.impipe("imcomplement", "a.png", "-o", "b.png")
        self.assertEqual(run.err, "impipe: a.png: the result is without " + ", ".join(
            f"chunk {kind.decode()} that cannot be read" for kind in kinds) + "\n")
        self.assertEqual([kind for kind, _ in self.chunks("b.png") if kind in kinds], [])

    def test_resolutions_find_their_way_between_all_formats(self):
        pixels = ramp()
        for first in ("jpg", "png", "tif", "bmp"):
            self.picture("a." + first, pixels, dpi=(300, 300))
            for last in ("jpg", "png", "tif", "bmp"):
                with self.subTest(first + " to " + last):
                    self.impipe("imcomplement", "a." + first, "-o", "b." + last)
                    with Image.open(self.path("b." + last)) as picture:
                        self.assertAlmostEqual(float(picture.info["dpi"][0]), 300, delta=0.01)

    def test_densities_without_a_unit_stay_in_a_jpeg(self):
        jpeg = jpeg_of(colour(20, 30))
        for density in ((0, 300, 300), (0, 1, 1), (0, 2, 1), (1, 300, 300), (2, 118, 118)):
            with self.subTest(density):
                said = struct.pack(">BHH", *density)
                self.write("a.jpg", jpeg[:13] + said + jpeg[18:])
                self.impipe("imcomplement", "a.jpg", "-o", "b.jpg")
                with open(self.path("b.jpg"), "rb") as file:
                    self.assertEqual(file.read()[13:18], said)

    def test_a_profile_of_another_colour_space_is_named(self):
        icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        self.picture("a.png", colour(), icc_profile=icc)
        run = self.impipe("rgb2gray", "a.png", "-o", "b.png")
        self.assertEqual(run.err, "impipe: a.png: the result is without ICC profile of RGB\n")

    def test_what_follows_the_end_is_named(self):
        self.write("a.jpg", jpeg_of(colour(), quality=90) + b"a film")
        run = self.impipe("imcomplement", "a.jpg", "-o", "b.jpg")
        self.assertEqual(run.err, "impipe: a.jpg: the result is without what follows its end "
                                  "(6 bytes)\n")
        run = self.impipe("imcomplement", "a.jpg", "--in-place", code=1)
        self.assertEqual(run.err, "impipe: a.jpg: encode: --in-place would lose what the file has "
                                  "beside its picture: what follows its end (6 bytes); give -o, or "
                                  "--strip\n")

    def test_a_damaged_block_is_named_and_others_carried(self):
        jpeg = with_segments(jpeg_of(colour(), dpi=(200, 200)), segment(0xE1, b"Exif\0\0nonsense"),
                             segment(0xFE, b"words"))
        self.write("a.jpg", jpeg)
        run = self.impipe("imcomplement", "a.jpg", "-o", "b.jpg")
        self.assertEqual(run.err, "impipe: a.jpg: the result is without EXIF that cannot be read\n")
        with Image.open(self.path("b.jpg")) as picture:
            self.assertEqual((picture.info["comment"], picture.info["dpi"]), (b"words", (200, 200)))

    def test_no_garbage_in_metadata_breaks_a_picture(self):
        jpeg, _ = self.full_jpeg()
        head = jpeg.index(b"Exif")
        import random
        generator = random.Random(1)
        for i in range(60):
            damaged = bytearray(jpeg)
            for _ in range(4):
                damaged[generator.randrange(head + 6, head + 200)] = generator.randrange(256)
            self.write(f"in/{i}.jpg", bytes(damaged))
        for ext in ("jpg", "tif", "png", "webp"):
            self.impipe("imcomplement", "in", "-o", "out-" + ext, "--format", ext)
            for i in range(0, 60, 7):
                self.impipe("imcomplement", f"out-{ext}/{i}.{ext}", "-n", "--hash")


class JpegStorage(MetadataTest):
    def sampling(self, name):
        with Image.open(self.path(name)) as picture:
            return picture.layer[0][1:3], bool(picture.info.get("progressive"))

    def test_samples_of_colour_and_scans_are_kept(self):
        for kind, factors in ((0, (1, 1)), (1, (2, 1)), (2, (2, 2))):
            for progressive in (False, True):
                self.picture("a.jpg", colour(), subsampling=kind, progressive=progressive)
                self.impipe("imcomplement", "a.jpg", "-o", "b.jpg")
                self.assertEqual(self.sampling("b.jpg"), (factors, progressive))
        self.picture("a.png", colour())
        for kind, factors in (("444", (1, 1)), ("422", (2, 1)), ("420", (2, 2))):
            for name in ("a.jpg", "a.png"):
                self.impipe("imcomplement", name, "--subsampling", kind, "-o", "b.jpg")
                self.assertEqual(self.sampling("b.jpg")[0], factors)
        run = self.impipe("imcomplement", "a.png", "--subsampling", "411", "-o", "c.jpg", code=2)
        self.assertEqual(run.err.splitlines()[0],
                         "impipe: --subsampling: '411' is none of 444, 422, 420")


if __name__ == "__main__":
    unittest.main()
