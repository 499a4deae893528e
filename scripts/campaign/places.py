#!/usr/bin/env python3
"""Geometric operators, and every pair of them, on files that say where their pixels lie or how large they are: what other
programs' readers (rasterio, ome-types, tifffile, astropy, OpenImageIO) find in the result is compared with where the
pixels really come from, which is read from ramps of coordinates that went through the same pipeline. A field is right,
or the warning names it.

    python3 scripts/campaign/places.py [IMPIPE]       needs rasterio, ome-types, tifffile, astropy, OpenImageIO
"""
import itertools
import os
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

warnings.filterwarnings("ignore")
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/ci/src/cli/impipe")
H, W = 40, 60
OPERATORS = ["imcrop 4,3,40,30", "imresize 2", "imresize 0.5", "imresize 30,90", "impad 3", "padarray 2", "fliplr", "flipud",
             "transpose", "rot90", "rot90 2", "imrotate 20", "imrotate 20 crop", "imtranslate 2,3", "imwarp [1 0.1 0; 0 1 3]",
             "imwarp [0.9 0.3 0 ; -0.3 0.9 0]", "circshift 2,3"]


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def sources(pipeline):
    """Some pixels (u, v) of the result with the pixel (x, y) of the input that each shows, by two ramps; none where no
    part of the result is a straight view of the input."""
    ramps = []
    for name in ("x.npy", "y.npy"):
        if run(pipeline, name, "-o", "r.npy")[0] != 0:
            return None
        ramps.append(np.load("r.npy").astype(float))
    out = []
    for v, u in itertools.product(range(2, ramps[0].shape[0] - 2, 5), range(2, ramps[0].shape[1] - 2, 5)):
        parts = [ramp[v - 2:v + 3, u - 2:u + 3] for ramp in ramps]
        inside = all(5 < p.min() and p.max() < n - 6 for p, n in zip(parts, (W, H)))
        straight = all(abs(np.diff(p, 2, axis)).max() < 1e-3 for p in parts for axis in (0, 1))
        if inside and straight and abs(np.diff(parts[0])).max() + abs(np.diff(parts[1])).max() > 0.01:
            out.append((u, v, parts[0][2, 2], parts[1][2, 2], [p[2, 3] - p[2, 2] for p in parts],
                        [p[3, 2] - p[2, 2] for p in parts]))
    return out


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
    values = (x + y).astype(np.uint8)
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
        spec.x, spec.y, spec.full_width, spec.full_height = (5, 7, 100, 90) if name.endswith("exr") else (0, 0, W, H)
        file = oiio.ImageOutput.create(name)
        file.open(name, spec)
        file.write_image(np.repeat(values[..., None], 3, 2).astype(np.float32) / 255)
        file.close()


PLACES = {"geo.tif": (geotiff, "GeoTIFF"), "sky.fits": (sky, "world coordinates"), "window.exr": (window, "window"),
          "window.dpx": (window, "offset")}
SIZES = {"square.ome.tif": ome, "oblong.ome.tif": ome, "square_ij.tif": imagej, "oblong_ij.tif": imagej}


def judge(name, pipeline, points):
    output = "o." + name.split(".", 1)[1]
    code, said = run(pipeline, name, "-o", output)
    if code != 0:
        return "error: " + said.strip()
    if name in PLACES:
        read, named = PLACES[name]
        before, after = read(name), read(output)
        moves_canvas = any(word in pipeline for word in ("flip", "rot", "transpose"))
        if named in said or (read is window and ("place" in said or moves_canvas)):
            return "named"
        if after is None:
            return "LOST " + said.strip()
        for u, v, x, y, *_ in points:
            if not np.allclose(after(u, v), before(x, y), rtol=0, atol=2e-3 if read is not geotiff else 0.05):
                return f"WRONG {after(u, v)} for {before(x, y)}"
        return "right"
    sizes, after = SIZES[name](name), SIZES[name](output)
    if after is None:
        return "named" if "resolution" in said or "ImageJ's scale" in said or "OME-XML" in said else "LOST " + said.strip()
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
            for name in (*PLACES, *SIZES):
                verdict = judge(name, pipeline, points)
                kind = verdict.split()[0]
                counts[name, kind] = counts.get((name, kind), 0) + 1
                if kind not in ("right", "named"):
                    bad += 1
                    print(f"{name}: {pipeline}: {verdict[:200]}", flush=True)
        os.chdir("/")
    for (name, kind), count in sorted(counts.items()):
        print(f"{name:16} {kind:6} {count}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
