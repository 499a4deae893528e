#!/usr/bin/env python3
"""Zarrs of version 3 for tests/data/zarr, each a ZIP of its folder; tests/cli/test_zarr.py reads them.

    make_zarr_samples.py DIR

Made with zarr 3.1.6 and ome-zarr 0.18, which Debian 12 has not: its python3-zarr knows version 2 alone.
"""
import os
import sys
import tempfile
import zipfile

import numpy as np


def values(shape, kind="uint16"):
    """Numbers without a pattern, the same everywhere."""
    count = int(np.prod(shape))
    mixed = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761)) >> np.uint64(8)
    mixed &= np.uint64(0xffffff)
    if kind == "bool":
        return (mixed % np.uint64(3) == 0).reshape(shape)
    if np.dtype(kind).kind == "f":
        return ((mixed % np.uint64(4001)).astype(kind) / 8 - 250).astype(kind).reshape(shape)
    return mixed.astype(kind).reshape(shape)


# Name, shape, type of the numbers, and how zarr is to store them.
SAMPLES = [
    ("default", (20, 30), "uint8", {"chunks": (7, 9)}),
    ("big_blosc", (20, 30), "uint16", {"chunks": (8, 8), "codecs": ("big", "blosc")}),
    ("gzip_volume", (5, 12, 14), "float32", {"chunks": (2, 5, 7), "codecs": ("little", "gzip")}),
    ("checksums", (9, 11), "int16", {"chunks": (4, 4), "codecs": ("little", "crc32c")}),
    ("shards", (40, 50), "uint16", {"chunks": (4, 8), "shards": (16, 16)}),
    ("shards_of_a_volume", (3, 20, 20), "uint8", {"chunks": (1, 8, 8), "shards": (2, 16, 24)}),
    ("turned", (6, 13, 17), "uint16", {"chunks": (3, 4, 5), "filters": "transpose"}),
    ("keys_of_2", (20, 30), "uint8", {"chunks": (7, 9), "keys": "v2"}),
    ("named", (4, 3, 8, 9), "uint8", {"chunks": (1, 1, 8, 9), "names": ("t", "c", "y", "x")}),
    ("logical", (15, 16), "bool", {"chunks": (8, 8)}),
    ("long_numbers", (5, 6), "int64", {"chunks": (5, 6)}),
    ("doubles", (5, 6), "float64", {"chunks": (5, 6)}),
    ("holes", (20, 30), "float32", {"chunks": (10, 10), "fill": float("nan"), "part": True}),
]


def zip_folder(folder, name):
    """The documents first, as zarr's own ZIPs begin."""
    files = [os.path.relpath(os.path.join(root, file), folder)
             for root, _, files in os.walk(folder) for file in files]
    with zipfile.ZipFile(name, "w", zipfile.ZIP_STORED) as out:
        for file in sorted(files, key=lambda file: (not file.endswith("zarr.json"), file)):
            with open(os.path.join(folder, file), "rb") as data:
                out.writestr(zipfile.ZipInfo(file), data.read())


def make_array(folder, shape, kind, how):
    import zarr
    from zarr.codecs import (BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec)
    options = {"chunks": how["chunks"], "shards": how.get("shards")}
    if "codecs" in how:
        order, packing = how["codecs"]
        options["serializer"] = BytesCodec(endian=order)
        options["compressors"] = {"blosc": BloscCodec(cname="zstd", shuffle="bitshuffle"),
                                  "gzip": GzipCodec(), "crc32c": Crc32cCodec()}[packing]
    if "filters" in how:
        options["filters"] = TransposeCodec(order=tuple(reversed(range(len(shape)))))
    if "keys" in how:
        options["chunk_key_encoding"] = {"name": how["keys"], "separator": "."}
    array = zarr.create_array(folder, shape=shape, dtype=kind, zarr_format=3,
                              fill_value=how.get("fill", 0), dimension_names=how.get("names"),
                              overwrite=True, **options)
    if how.get("part"):
        array[:10, 10:20] = values(shape, kind)[:10, 10:20]
    else:
        array[...] = values(shape, kind)


def make_ome(folder):
    """A pyramid of OME-Zarr 0.5."""
    import ome_zarr.writer
    import zarr
    group = zarr.open_group(folder, mode="w", zarr_format=3)
    ome_zarr.writer.write_image(
        values((2, 3, 40, 50), "uint8"), group, axes="czyx",
        scale={"c": 1.0, "z": 2.5, "y": 0.5, "x": 0.5},
        axes_units={axis: "micrometer" for axis in "zyx"},
        scale_factors=[2], storage_options={"chunks": (1, 1, 32, 32)})


def main():
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    for name, shape, kind, how in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            make_array(folder, shape, kind, how)
            zip_folder(folder, os.path.join(target, name + ".zip"))
    with tempfile.TemporaryDirectory() as folder:
        make_ome(folder)
        zip_folder(folder, os.path.join(target, "ome.zip"))


if __name__ == "__main__":
    main()
