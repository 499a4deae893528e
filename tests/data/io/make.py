#!/usr/bin/env python3
"""Makes the pictures of this folder with Pillow, OpenCV, NumPy, vips, ImageMagick and oiiotool.

Every sample is (37 x + 91 y + 53 c + 11) mod 256, 7 pixels wide and 5 high; 16-bit samples are 257
times that, minus x; floats are it over 255. The tests know the same formula. The pictures are
checked in: run this only to add one.
"""
import os
import struct
import subprocess
import zlib

os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import cv2
import numpy as np
from PIL import Image, ImageCms, ImageOps

os.chdir(os.path.dirname(os.path.abspath(__file__)))
W, H = 7, 5


def sample(channels, w=W, h=H):
    y, x, c = np.mgrid[0:h, 0:w, 0:channels]
    return ((37 * x + 91 * y + 53 * c + 11) % 256).astype(np.uint8).squeeze()


def wide(channels):
    x = np.arange(W).reshape((1, W) + ((1,) if channels > 1 else ()))
    return (sample(channels).astype(np.int64) * 257 - x).clip(0, 65535).astype(np.uint16)


def bgr(a):
    return a[:, :, [2, 1, 0, 3][: a.shape[2]]]


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(
        ">I", zlib.crc32(kind + data))


def png(width, height, bits, colour, rows, extra=b""):
    return (b"\x89PNG\r\n\x1a\n"
            + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
            + extra + png_chunk(b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows)))
            + png_chunk(b"IEND", b""))


def put(name, data):
    with open(name, "wb") as f:
        f.write(data)


def bits_of(a):  # the rows of a logical picture, packed
    return [np.packbits(r).tobytes() for r in a]


gray, rgb, rgba, ga = sample(1), sample(3), sample(4), sample(2)
bit = gray > 127

# PNG
Image.fromarray(gray).save("gray8.png")
Image.fromarray(rgb).save("rgb8.png")
Image.fromarray(rgba).save("rgba8.png")
Image.fromarray(ga, "LA").save("gray_alpha8.png")
cv2.imwrite("gray16.png", wide(1))
cv2.imwrite("rgb16.png", bgr(wide(3)))
cv2.imwrite("rgba16.png", bgr(wide(4)))
put("gray_alpha16.png", png(W, H, 16, 4, [r.astype(">u2").tobytes() for r in wide(2)]))
Image.fromarray(bit).save("bit1.png")
put("gray4.png", png(W, H, 4, 0, [
    bytes((int(r[i]) >> 4) << 4 | (int(r[i + 1]) >> 4 if i + 1 < W else 0) for i in range(0, W, 2))
    for r in gray]))
put("gray_trns.png", png(W, H, 8, 0, [r.tobytes() for r in gray],
                         png_chunk(b"tRNS", struct.pack(">H", int(gray[0, 0])))))
colours = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [10, 20, 30]], np.uint8)
index = (gray % 4).astype(np.uint8)
palette = Image.fromarray(index, "P")
palette.putpalette(colours.tobytes())
palette.save("palette.png")
palette.save("palette_trns.png", transparency=b"\x00\x80\xff\xff")
palette.save("palette.tif")
subprocess.run(["convert", "rgb8.png", "-interlace", "PNG", "interlaced.png"], check=True)
subprocess.run(["convert", "rgba8.png", "-interlace", "PNG", "interlaced_alpha.png"], check=True)

# JPEG: smooth pictures, so that little is lost
yy, xx = np.mgrid[0:24, 0:32]
ramp = (xx * 4 + yy * 5).astype(np.uint8)
ramps = np.stack([ramp, 255 - ramp, (ramp // 2 + 64).astype(np.uint8)], axis=2)
Image.fromarray(ramp).save("gray.jpg", quality=95)
Image.fromarray(ramps).save("rgb.jpg", quality=95, subsampling=0)
Image.fromarray(ramps).save("progressive.jpg", quality=95, subsampling=0, progressive=True)
Image.fromarray(ramps).convert("CMYK").save("cmyk.jpg", quality=95, subsampling=0)

# TIFF
Image.fromarray(rgb).save("rgb8.tif", compression="tiff_lzw")
Image.fromarray(gray).save("gray8.tif")
cv2.imwrite("gray16.tif", wide(1))
cv2.imwrite("rgb16.tif", bgr(wide(3)))
Image.fromarray((gray / np.float32(255)).astype(np.float32)).save("float.tif")
Image.fromarray(bit).save("bit1.tif", compression="group4")
Image.fromarray(rgba).save("rgba8.tif")
premultiplied = np.array(rgba)
premultiplied[:, :, :3] = np.floor(rgba[:, :, :3] * (rgba[:, :, 3:] / 255.0) + 0.5)
Image.fromarray(premultiplied).save("associated.tif")
# Pillow says "unassociated" (2) of the extra sample: make it "associated" (1).
content = open("associated.tif", "rb").read()
unassociated = struct.pack("<HHII", 338, 3, 1, 2)
assert content.count(unassociated) == 1
put("associated.tif", content.replace(unassociated, struct.pack("<HHII", 338, 3, 1, 1)))
subprocess.run(["vips", "tiffsave", "rgb8.png", "tiled.tif", "--tile", "--tile-width", "16",
                "--tile-height", "16", "--compression", "deflate", "--bigtiff"], check=True)
subprocess.run(["convert", "rgb8.png", "-interlace", "plane", "planar.tif"], check=True)
Image.fromarray(ramps).convert("CMYK").save("cmyk.tif")

# Others
cv2.imwrite("gray8.bmp", gray)
cv2.imwrite("rgb8.bmp", bgr(rgb))
Image.fromarray(rgb).save("rgb8.webp", lossless=True, exact=True)
Image.fromarray(rgba).save("rgba8.webp", lossless=True, exact=True)
Image.fromarray(ramps).save("lossy.webp", quality=95)
cv2.imwrite("rgb.exr", bgr((rgb / np.float32(255)).astype(np.float32)))
cv2.imwrite("gray.exr", (gray / np.float32(255)).astype(np.float32))
for name, options in {"rle": ["-d", "half", "--compression", "rle"],
                      "pxr24": ["-d", "half", "--compression", "pxr24"],
                      "dwaa": ["-d", "half", "--compression", "dwaa"],
                      "piz_tiles": ["-d", "half", "--tile", "4", "2", "--compression", "piz"],
                      "piz_float": ["-d", "float", "--compression", "piz"]}.items():
    subprocess.run(["oiiotool", "rgb8.png", "--nosoftwareattrib", *options, "-o",
                    f"exr_{name}.exr"], check=True)
subprocess.run(["oiiotool", "rgb8.png", "--nosoftwareattrib", "-d", "half",
                "-otex:tilesize=4x4", "exr_mip.exr"], check=True)

# Deep EXRs by OpenEXR's own binding (PyPI: OpenEXR), and a file of flat and deep parts.
import OpenEXR

samples = np.empty((9, 12), dtype=object)
for y, x in np.ndindex(samples.shape):
    samples[y, x] = (np.arange((x + y) % 3) + x / 8).astype(np.float32) if (x + y) % 3 else None
for name, kind in (("lines", OpenEXR.deepscanline), ("tiles", OpenEXR.deeptile)):
    header = {"type": kind, "compression": OpenEXR.ZIPS_COMPRESSION}
    if name == "tiles":
        header["tiles"] = OpenEXR.TileDescription()
    with OpenEXR.File(header, {"Z": samples, "A": samples}) as file:
        file.write(f"exr_deep_{name}.exr")
for name, channels in (("beauty", "R,G,B,A"), ("depth", "Z"), ("diffuse", "R,G,B")):
    subprocess.run(["oiiotool", "--pattern", "noise:type=uniform:seed=1", "12x9",
                    str(len(channels.split(","))), "-d", "half", "--chnames", channels,
                    "--attrib", "oiio:subimagename", name,
                    *(["--tile", "8", "4"] if name == "diffuse" else []), "-o", f"{name}.exr"],
                   check=True)
subprocess.run(["exrmultipart", "-combine", "-i", "beauty.exr", "depth.exr", "exr_deep_lines.exr",
                "diffuse.exr", "exr_deep_tiles.exr", "-o", "exr_parts.exr"], check=True)
for name in ("beauty", "depth", "diffuse"):
    os.remove(f"{name}.exr")

# PNM and PFM
text = "\n".join(" ".join(str(v) for v in r.ravel()) for r in gray)
put("plain.pgm", f"P2\n# a comment\n{W} {H}\n255\n{text}\n".encode())
put("plain.ppm", ("P3 %d %d 255\n" % (W, H) + " ".join(map(str, rgb.ravel()))).encode())
put("plain.pbm", ("P1\n%d %d\n" % (W, H)
                  + "\n".join("".join("01"[not v] for v in r) for r in bit)).encode())
put("raw.pbm", b"P4\n%d %d\n" % (W, H) + b"".join(bits_of(~bit)))
put("raw.pgm", b"P5\n%d %d\n255\n" % (W, H) + gray.tobytes())
put("raw.ppm", b"P6\n%d %d\n255\n" % (W, H) + rgb.tobytes())
put("raw16.pgm", b"P5\n%d %d\n65535\n" % (W, H) + wide(1).astype(">u2").tobytes())
put("maxval100.pgm", b"P5 3 1 100\n" + bytes([0, 50, 100]))
flo = (gray / np.float32(255)).astype("<f4")
put("little.pfm", b"Pf\n%d %d\n-1.0\n" % (W, H) + flo[::-1].tobytes())
put("big.pfm", b"PF\n%d %d\n1.0\n" % (W, H)
    + (rgb / np.float32(255)).astype(">f4")[::-1].tobytes())

# NPY
np.save("gray8.npy", gray)
np.save("rgb8.npy", rgb)
np.save("rgba8.npy", rgba)
np.save("gray_alpha8.npy", ga)
np.save("one_channel.npy", gray[:, :, None])
np.save("gray16_big.npy", wide(1).astype(">u2"))
np.save("float32.npy", flo)
np.save("float64_big.npy", (gray / np.float32(255)).astype(">f8"))
np.save("bool.npy", bit)
np.save("fortran.npy", np.asfortranarray(rgb))
np.save("row.npy", gray[0])
np.save("int32.npy", gray.astype(np.int32))
np.save("four_d.npy", np.zeros((2, 1, 2, 8), np.uint8))
with open("version2.npy", "wb") as f:
    np.lib.format.write_array(f, gray, version=(2, 0))

# The same upright picture stored in each of the eight orientations
upright = Image.fromarray(gray)
undo = {1: None, 2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM,
        5: Image.TRANSPOSE, 6: Image.ROTATE_90, 7: Image.TRANSVERSE, 8: Image.ROTATE_270}
for number, method in undo.items():
    for source, kind in ((upright, "png"), (upright, "tif"), (Image.fromarray(rgba), "webp"),
                         (Image.fromarray(ramp), "jpg")):
        stored = source if method is None else source.transpose(method)
        exif = Image.Exif()
        exif[274] = number
        options = {"exif": exif} if kind != "tif" else {"tiffinfo": {274: number}}
        if kind == "webp":
            options.update(lossless=True, exact=True)
        if kind == "jpg":
            options.update(quality=95)
        name = f"orient{number}.{kind}"
        stored.save(name, **options)
        if kind in ("png", "jpg"):  # Pillow must agree
            turned = ImageOps.exif_transpose(Image.open(name))
            assert turned.size == source.size, name

# Metadata: EXIF with a camera, an ICC profile, an XMP packet
icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
exif = Image.Exif()
exif[271] = "Maker"
exif[272] = "Model 7"
exif[274] = 6
exif[0x8769] = {0x9003: "2024:05:06 07:08:09"}
xmp = (b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>'
       b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf='
       b'"http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
       b'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
       b'tiff:Orientation="6" dc:source="a test"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>')
Image.fromarray(ramps).save("metadata.jpg", quality=95, exif=exif, icc_profile=icc)
data = open("metadata.jpg", "rb").read()
app1 = b"http://ns.adobe.com/xap/1.0/\0" + xmp
put("metadata.jpg", data[:2] + b"\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + data[2:])

# Broken files
def cut(source, name, keep):
    content = open(source, "rb").read()
    put(name, content[: int(len(content) * keep)])


cut("rgb8.png", "broken_half.png", 0.6)
cut("rgb8.png", "broken_no_end.png", (os.path.getsize("rgb8.png") - 12) / os.path.getsize("rgb8.png"))
cut("rgb8.png", "broken_header.png", 0.1)
cut("rgb.jpg", "broken_half.jpg", 0.7)
cut("rgb.jpg", "broken_no_end.jpg", (os.path.getsize("rgb.jpg") - 2) / os.path.getsize("rgb.jpg"))
cut("rgb.jpg", "broken_header.jpg", 0.1)
cut("gray16.tif", "broken_half.tif", 0.5)
cut("gray8.tif", "broken_data.tif", 0.9)
cut("rgb8.bmp", "broken_half.bmp", 0.7)
cut("rgb8.webp", "broken_half.webp", 0.7)
cut("rgb.exr", "broken_half.exr", 0.8)
cut("raw.ppm", "broken_half.ppm", 0.7)
cut("plain.pgm", "broken_half.pgm", 0.7)
cut("little.pfm", "broken_half.pfm", 0.7)
cut("rgb8.npy", "broken_half.npy", 0.9)
crc = bytearray(open("rgb8.png", "rb").read())
crc[-20] ^= 1
put("broken_crc.png", bytes(crc))
put("empty.png", b"")
put("garbage.png", bytes((i * 73 + 5) % 256 for i in range(200)))
put("text.png", b"hello, I am no picture\n")
put("bomb.png", png(100000, 100000, 8, 0, [b"\0" * 8]))
put("bomb.npy", b"\x93NUMPY\x01\x00\x46\x00"
    + b"{'descr': '|u1', 'fortran_order': False, 'shape': (4000000, 4000000)}".ljust(70))
put("wide.pgm", b"P5 99999999 1 255\n0")
