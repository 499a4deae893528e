"""The pictures of table.KINDS: photograph-like ones, a mask, 10,000 objects, a relief of basins."""
import numpy as np

from make_samples import landscape, photograph, to_gray, to_integer

MADE = 2048  # larger pictures are mirrored copies, made in a moment
OBJECTS = 100  # down and across


def _grown(picture, size):
    while picture.shape[0] < size:
        picture = np.concatenate([picture, picture[::-1]])
        picture = np.concatenate([picture, picture[:, ::-1]], axis=1)
    return np.ascontiguousarray(picture[:size, :size])


def _centres(size):
    """x and y of jittered centres, [100, 100] each."""
    step, rng = size / OBJECTS, np.random.default_rng(3)
    y, x = (np.mgrid[0:OBJECTS, 0:OBJECTS] + 0.5) * step
    jitter = (rng.random((2, OBJECTS, OBJECTS)) - 0.5) * step / 4
    return x + jitter[0], y + jitter[1]


def _nearest_centre(size):
    """Number of the centre of a pixel's cell, and the distance to it."""
    x, y = _centres(size)
    cell = np.minimum((np.arange(size) * OBJECTS) // size, OBJECTS - 1)
    rows, columns = cell[:, None], cell[None, :]
    at = np.arange(size, dtype=np.float32)
    distance = np.hypot(at[None, :] - x[rows, columns].astype(np.float32),
                        at[:, None] - y[rows, columns].astype(np.float32))
    return rows * OBJECTS + columns, distance


def labels(size):
    number, distance = _nearest_centre(size)
    return np.where(distance < size / OBJECTS * 0.3, number + 1, 0).astype(np.uint16)


def relief(size):
    """Distance to the centre of the cell, in whole pixels: 10,000 basins with plateaus."""
    return np.minimum(np.floor(_nearest_centre(size)[1]), 255).astype(np.uint8)


class Pictures:
    def __init__(self):
        self.made = [photograph(landscape, seed, MADE, MADE, noise=0.03) for seed in (1, 2)]

    def of(self, kind, size, which=0):
        """Picture a (0) or b (1)."""
        if kind in ("labels", "relief"):
            return labels(size) if kind == "labels" else relief(size)
        picture = self.made[which]
        if not kind.startswith("rgb"):
            picture = to_gray(picture)
        if kind == "mask":
            return _grown(picture > 0.5, size)
        picture = to_integer(picture, 255) if kind.endswith("u8") else picture.astype(np.float32)
        return _grown(picture, size)
