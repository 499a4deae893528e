"""A table of random cases for run_cases.py as it grows, and the list of what makes them."""
import json
import os

import numpy as np

import definitions as d

COLUMNS = ("id op params inputs expected class shape tol max_bad_frac tol_f32 max_bad_frac_f32 cap "
           "kind").split()
SIDES = [1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 70]
BORDERS = ["replicate", "symmetric", "circular"]


class Pages:
    """The pages of one file: an array pages x rows x columns, perhaps x channels."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def save(self, path):
        import tifffile
        photometric = "rgb" if self.array.ndim == 4 else "minisblack"
        with tifffile.TiffWriter(path) as file:
            for page in self.array:
                file.write(page, photometric=photometric, metadata=None)


class Cases:
    """Random inputs, and the table as it grows."""

    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        self.rows = []

    def begin(self, op, number, which=0):
        """`which`: of the op's makers."""
        self.op, self.name = op, f"{op}_{number}" + "_strange" * which
        self.rng = np.random.default_rng([self.seed, number, *op.encode()] + [which] * (which > 0))

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def real(self, low, high, digits=2):
        return round(float(self.rng.uniform(low, high)), digits)

    def size(self, least=1):
        sides = [s for s in SIDES if s >= least]
        return self.pick(*sides), self.pick(*sides)

    def image(self, cls, size=None, channels=1, levels=None):
        """Gradients, shapes and noise; few levels where plateaus are wanted."""
        rows, columns = size or self.size()
        y, x = np.mgrid[:rows, :columns] / max(rows, columns)
        scene = np.zeros((rows, columns, channels))
        for c in range(channels):
            scene[..., c] = 0.3 + 0.4 * x * self.rng.random() + 0.2 * np.sin(9 * y * self.rng.random())
            for _ in range(4):
                cy, cx, r = self.rng.random(3) * (1, 1, 0.3)
                scene[..., c][np.hypot(y - cy, x - cx) < r] = self.rng.random()
        scene += self.rng.normal(0, self.pick(0, 0.03, 0.2), scene.shape)
        scene = np.clip(scene, 0, 1)
        if levels:
            scene = np.floor(scene * levels) / levels
        scene = scene if channels > 1 else scene[..., 0]
        if cls == "logical":
            return scene > self.real(0.2, 0.8)
        return d.cast(scene * d.WHITE[cls], cls)

    def matrix(self, rows, columns):
        kernel = self.rng.integers(-3, 5, (rows, columns)).astype(float)
        kernel[self.rng.random(kernel.shape) < 0.2] = 0
        return kernel

    def emit(self, params, inputs, expected, cls, kind, ties=0, least_scale=1e-3):
        """kind: exact, round (within 1 for `ties` of the pixels and 3 % more), frag (1 % may be
        off) or a tolerance relative to the largest value, or to `least_scale`.

        Pages go into and come out of a TIFF; a dict is the GeoJSON that is expected."""
        name, paths = self.name, []
        for i, image in enumerate(inputs):
            pages = isinstance(image, Pages)
            paths.append(f"inputs/{name}_{i}." + ("tif" if pages else "npy"))
            path = os.path.join(self.folder, paths[-1])
            image.save(path) if pages else np.save(path, image)
        if isinstance(expected, dict):
            with open(os.path.join(self.folder, f"expected/{name}.geojson"), "w") as file:
                json.dump(expected, file)
            self.rows.append([name, self.op, params or "-", ",".join(paths),
                              f"expected/{name}.geojson", "text", "-", 0, 0, 0, 0, 0, kind])
            return
        pages = isinstance(expected, Pages)
        expected = np.asarray(expected.array if pages else expected)
        np.save(os.path.join(self.folder, f"expected/{name}.npy"), expected)
        tol = frac = tol32 = frac32 = 0
        cap = "Inf"
        if kind == "exact":
            cap = 0
        elif kind == "round":      # +-1 where the exact value lies at a tie
            frac = frac32 = ties + 0.03 + 6 / expected.size
            cap = 1
        elif kind == "frag":       # logical results of comparisons of floats
            frac = frac32 = 0.01 + 2 / max(expected.size, 1)
        else:
            finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
            scale = max(least_scale, finite.max() if finite.size else 0)
            tol, tol32 = 1e-9 * scale, kind * scale
        shape = "x".join(map(str, expected.shape))
        if pages:
            shape = shape.replace("x", "p", 1)
        self.rows.append([name, self.op, params or "-", ",".join(paths), f"expected/{name}.npy", cls,
                          shape, tol, frac, tol32, frac32, cap, "float" if kind not in
                          ("exact", "round", "frag") else kind])


def text(values):
    return ",".join(f"{v:g}" for v in values)


def matrix_text(kernel, divisor=1):
    inner = ";".join(text(row) for row in np.atleast_2d(kernel))
    return f"[{inner}]" + (f"/{divisor:g}" if divisor != 1 else "")


MAKERS = {}  # of each op, in the order of definition


def maker(*names):
    def add(function):
        for name in names:
            MAKERS.setdefault(name, []).append(function)
        return function
    return add
