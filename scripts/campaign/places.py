#!/usr/bin/env python3
"""Geometric operators, and every pair of them, on files that say where their pixels lie or how large they are: what other
programs' readers (rasterio, ome-types, tifffile, astropy, OpenImageIO, Pillow) find in the result is compared with where the
pixels really come from, which is read from ramps of coordinates that went through the same pipeline. A field is right,
or the warning names it. Windows lie at whole pixels: of a resized image they are right to one. "unseen" are those of which
too little of the input is to be seen for a comparison.

    python3 scripts/campaign/places.py [IMPIPE]       needs rasterio, ome-types, tifffile, astropy, OpenImageIO, Pillow
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import OpenImageIO as oiio
import ome_types
import rasterio
import tifffile
from astropy.io import fits
from astropy.wcs import WCS
from PIL import Image
from PIL.PngImagePlugin import PngInfo

warnings.filterwarnings("ignore")
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/ci/src/cli/impipe")
H, W = 80, 120
OPERATORS = ["imcrop 4,3,40,30", "imresize 2", "imresize 0.5", "imresize 40,180", "impad 3", "padarray 2", "fliplr", "flipud",
             "transpose", "rot90", "rot90 2", "imrotate 20", "imrotate 20 crop", "imtranslate 2,3", "imwarp [1 0.1 0; 0 1 3]",
             "imwarp [0.9 0.3 0 ; -0.3 0.9 0]", "circshift 2,3"]


# What a stage does to the canvas that an EXR's or a DPX's picture lies on, from 0 to 1.
CANVAS = {"fliplr": lambda x, y: (1 - x, y), "flipud": lambda x, y: (x, 1 - y), "transpose": lambda x, y: (y, x),
          "rot90": lambda x, y: (y, 1 - x), "rot90 2": lambda x, y: (1 - x, 1 - y)}


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def sources(pipeline):
    """Some pixels (u, v) of the result with the pixel (x, y) of the input that each shows, and how that moves with u and v,
    by two ramps; none where no part of the result is a straight view of the input. Means of ramps ripple a little: where
    one affine map fits all of them, it tells the places."""
    ramps = []
    for name in ("x.npy", "y.npy"):
        if run(pipeline, name, "-o", "r.npy")[0] != 0:
            return None
        ramps.append(np.load("r.npy").astype(float))
    out = []
    for v, u in itertools.product(range(2, ramps[0].shape[0] - 2, 3), range(2, ramps[0].shape[1] - 2, 3)):
        parts = [ramp[v - 2:v + 3, u - 2:u + 3] for ramp in ramps]
        step = max(abs(np.diff(p, axis=axis)).max() for p in parts for axis in (0, 1))
        inside = all(3 + 2 * step < p.min() and p.max() < n - 4 - 2 * step for p, n in zip(parts, (W, H)))
        straight = all(abs(np.diff(p, 2, axis)).max() < 0.03 for p in parts for axis in (0, 1))
        if inside and straight and abs(np.diff(parts[0])).max() + abs(np.diff(parts[1])).max() > 0.01:
            out.append((u, v, parts[0][2, 2], parts[1][2, 2], [p[2, 3] - p[2, 2] for p in parts],
                        [p[3, 2] - p[2, 2] for p in parts]))
    places = np.array([(u, v, 1) for u, v, *_ in out])
    if len(out) < 3 or np.linalg.matrix_rank(places) < 3:
        return []
    fitted, *_ = np.linalg.lstsq(places, np.array([point[2:4] for point in out]), rcond=None)
    values = places @ fitted
    if abs(values - [point[2:4] for point in out]).max() > 0.03:
        return out
    return [(u, v, *value, fitted[0], fitted[1]) for (u, v, *_), value in zip(out, values)]


def geotiff(name):
    with rasterio.open(name) as file:
        matrix = file.transform
        return None if matrix.is_identity else lambda x, y: matrix @ (x + 0.5, y + 0.5) if hasattr(
            matrix, "__matmul__") else matrix * (x + 0.5, y + 0.5)


def sky(name):
    header = fits.getheader(name)
    if "CTYPE1" not in header:
        return None
    wcs = WCS(header)
    return lambda x, y: tuple(float(n) for n in wcs.wcs_pix2world(x, header["NAXIS2"] - 1 - y, 0))


def window(name):
    spec = oiio.ImageInput.open(name).spec()
    return lambda x, y: ((spec.x + x + 0.5 - spec.full_x) / spec.full_width,
                         (spec.y + y + 0.5 - spec.full_y) / spec.full_height)


def subject(name):
    """EXIF's SubjectArea: the middle of it, in pixels."""
    with Image.open(name) as file:
        area = file.getexif().get_ifd(34665).get(37396)
    return area and area[:2]


def regions(name):
    """The middle of the one region of XMP, as a part of the picture, whose size it has to be of."""
    with open(name, "rb") as file:
        text = file.read()
    if b"mwg-rs:RegionList" not in text:
        return None
    number = lambda key: float(re.search(key + rb'="([^"]*)"', text)[1])
    with Image.open(name) as file:
        assert file.size == (number(b"stDim:w"), number(b"stDim:h"))
    return number(b"stArea:x"), number(b"stArea:y")


def crop(name):
    """DNG's DefaultCropOrigin."""
    with tifffile.TiffFile(name) as file:
        tag = file.pages[0].tags.get(50719)
        return tag and tuple(tag.value)


def ome(name):
    with tifffile.TiffFile(name) as file:
        pixels = ome_types.from_xml(file.ome_metadata).images[0].pixels
        assert (pixels.size_x, pixels.size_y) == (file.pages[0].imagewidth, file.pages[0].imagelength)
        return pixels.physical_size_x and (pixels.physical_size_x, pixels.physical_size_y)


def imagej(name):
    with tifffile.TiffFile(name) as file:
        if "unit" not in (file.imagej_metadata or {}):
            return None
        tags = [file.pages[0].tags[tag].value for tag in (282, 283)]
        return tuple(under / over for over, under in tags)


def make_files():
    y, x = np.mgrid[0:H, 0:W].astype(np.float32)
    np.save("x.npy", x)
    np.save("y.npy", y)
    values = ((x + y) / 2).astype(np.uint8)
    with rasterio.open("geo.tif", "w", driver="GTiff", width=W, height=H, count=1, dtype="uint8", crs="EPSG:32633",
                       transform=rasterio.Affine(10, 0, 4e5, 0, -12.5, 5e6)) as file:
        file.write(values, 1)
    sizes = {"PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeXUnit": "µm", "PhysicalSizeYUnit": "µm"}
    tifffile.imwrite("square.ome.tif", values, metadata={"axes": "YX", **sizes})
    tifffile.imwrite("oblong.ome.tif", values, metadata={"axes": "YX", **sizes, "PhysicalSizeY": 0.25})
    tifffile.imwrite("square_ij.tif", values, imagej=True, resolution=(2, 2), metadata={"unit": "um"})
    tifffile.imwrite("oblong_ij.tif", values, imagej=True, resolution=(2, 4), metadata={"unit": "um"})
    wcs = WCS(naxis=2)
    wcs.wcs.ctype, wcs.wcs.crval, wcs.wcs.crpix = ["RA---TAN", "DEC--TAN"], [10, 20], [30, 20]
    wcs.wcs.cd = [[-0.01, 0.002], [0.002, 0.01]]
    fits.PrimaryHDU(values[::-1], header=wcs.to_header()).writeto("sky.fits")
    for name in ("window.exr", "window.dpx"):
        spec = oiio.ImageSpec(W, H, 3, "half" if name.endswith("exr") else "uint8")
        spec.x, spec.y, spec.full_width, spec.full_height = (5, 7, 150, 130) if name.endswith("exr") else (0, 0, W, H)
        file = oiio.ImageOutput.create(name)
        file.open(name, spec)
        file.write_image(np.repeat(values[..., None], 3, 2).astype(np.float32) / 255)
        file.close()


    make_photographs(values)


XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#"><mwg-rs:Regions rdf:parseType="Resource">
<mwg-rs:AppliedToDimensions stDim:w="120" stDim:h="80" stDim:unit="pixel"/><mwg-rs:RegionList><rdf:Bag><rdf:li>
<rdf:Description mwg-rs:Name="Ada" mwg-rs:Type="Face"><mwg-rs:Area stArea:x="0.5" stArea:y="0.45" stArea:w="0.1"
stArea:h="0.2" stArea:unit="normalized"/></rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def make_photographs(values):
    picture = Image.fromarray(values)
    exif = Image.Exif()
    exif.get_ifd(34665)[37396] = (60, 36, 6, 8)
    picture.save("subject.jpg", exif=exif, quality=95)
    picture.save("regions.jpg", xmp=XMP.encode(), quality=95)
    tifffile.imwrite("regions.tif", values, extratags=[(700, 1, None, XMP.encode(), True)], metadata=None)
    picture.save("regions.png", pnginfo=png_text(XMP))
    # A DNG that holds colours, which is read as a TIFF.
    tifffile.imwrite("crop.tif", values, metadata=None, extratags=[
        (50706, 1, 4, (1, 4, 0, 0), True), (50719, 4, 2, (4, 2), True), (50720, 4, 2, (50, 30), True)])


def png_text(xmp):
    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", xmp)
    return info


# Of each file: what reads its places, and what the warning calls them.
PLACES = {"geo.tif": (geotiff, "GeoTIFF"), "sky.fits": (sky, "world coordinates"), "window.exr": (window, "window"),
          "window.dpx": (window, "its place in the original picture")}
# Of each file: what reads a point of it, that point in pixels, and what the warning calls it.
POINTS = {"subject.jpg": (subject, (60, 36), "EXIF SubjectArea"), "crop.tif": (crop, (4, 2), "DefaultCrop"),
          **{f"regions.{ext}": (regions, (0.5 * W - 0.5, 0.45 * H - 0.5), "XMP regions") for ext in ("jpg", "tif", "png")}}
SIZES = {"square.ome.tif": ome, "oblong.ome.tif": ome, "square_ij.tif": imagej, "oblong_ij.tif": imagej}


def judge_point(name, output, points, said):
    """Whether a point is where the pixels under it went: of an affine map, which the points tell."""
    read, at, named = POINTS[name]
    after = read(output)
    if after is None:
        return "named" if named in said else "LOST " + said.strip()
    if not points:
        return "unseen"
    u, v, x, y, across, down = points[0]
    step = np.linalg.solve(np.transpose([across, down]), np.subtract(at, (x, y)))
    wanted = np.add((u, v), step)
    if read is regions:
        with Image.open(output) as file:
            wanted = (wanted + 0.5) / file.size
    return "right" if np.allclose(after, wanted, atol=1e-3 if read is regions else 1) else f"WRONG {after} for {wanted}"


def judge(name, pipeline, points):
    output = "o." + name.split(".", 1)[1]
    code, said = run(pipeline, name, "-o", output)
    if code != 0:
        return "error: " + said.strip()
    if name in POINTS:
        return judge_point(name, output, points, said)
    if name in PLACES:
        read, named = PLACES[name]
        before, after = read(name), read(output)
        if named in said:
            return "named"
        if after is None:
            return "LOST " + said.strip()
        if not points:
            return "unseen"
        tolerance = 0.4 if read is geotiff else 2e-3  # metres, 0.03 pixels of 12.5; degrees; parts of a window
        if read is window and "imresize" in pipeline:
            spec = oiio.ImageInput.open(output).spec()
            tolerance = 1 / min(spec.full_width, spec.full_height)
        for u, v, x, y, *_ in points:
            wanted = before(x, y)
            for stage in pipeline.split(" | ") if read is window else ():
                wanted = CANVAS.get(stage, lambda *at: at)(*wanted)
            if not np.allclose(after(u, v), wanted, rtol=0, atol=tolerance):
                return f"WRONG {after(u, v)} for {wanted}: {said.strip()}"
        return "right"
    sizes, after = SIZES[name](name), SIZES[name](output)
    if after is None:
        return "named" if "resolution" in said or "ImageJ's scale" in said or "OME-XML" in said else "LOST " + said.strip()
    if not points:
        return "unseen"
    for *_, across, down in points:
        wanted = [np.hypot(side[0] * sizes[0], side[1] * sizes[1]) for side in (across, down)]
        if not np.allclose(after, wanted, rtol=2e-3):
            return f"WRONG {after} for {wanted}"
    return "right"


def main():
    pipelines = OPERATORS + [" | ".join(pair) for pair in itertools.product(OPERATORS, OPERATORS)]
    counts, bad = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files()
        for pipeline in pipelines:
            points = sources(pipeline)
            if points is None:
                continue
            for name in (*PLACES, *SIZES, *POINTS):
                verdict = judge(name, pipeline, points)
                kind = verdict.split()[0]
                counts[name, kind] = counts.get((name, kind), 0) + 1
                if kind not in ("right", "named", "unseen"):
                    bad += 1
                    print(f"{name}: {pipeline}: {verdict[:200]}", flush=True)
        os.chdir("/")
    for (name, kind), count in sorted(counts.items()):
        print(f"{name:16} {kind:6} {count}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
