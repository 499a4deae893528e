"""Documents, backgrounds, blocks, palettes and mosaics in plain numpy and double precision.

Written from the definitions, not from the program. Functions of one plane give reals that are not yet
cast; see definitions.py.
"""
import math

import numpy as np

import definitions as d
import definitions_places as places


# --- documents

def window_moments(p, window):
    """Mean and population deviation; of integers from exact sums."""
    values = d.window_values(p, np.ones(window, int), "symmetric", 0.0)
    n = values.shape[0]
    if d.class_of(p) == "single":
        mean = values.sum(axis=0) / n
        return mean, np.sqrt(((values - mean) ** 2).sum(axis=0) / n)
    values = values.astype(np.int64)
    total, squares = values.sum(axis=0), (values ** 2).sum(axis=0)
    return total / n, np.sqrt((n * squares - total ** 2).astype(np.float64)) / n


def document_threshold(op, p, window, k, full=0.5):
    mean, spread = window_moments(p, window)
    if op == "sauvola":
        return mean * (1 + k * (spread / (full * d.WHITE[d.class_of(p)]) - 1))
    if op == "niblack":
        return mean + k * spread
    relative = spread / spread.max() if spread.max() > 0 else 0
    return mean - k * (1 - relative) * (mean - p.astype(np.float64).min())


def ink_of(p, ink):
    if d.class_of(p) == "logical":
        return p == (ink == "bright")
    limit = d.graythresh(p) * d.WHITE[d.class_of(p)]
    return p.astype(np.float64) > limit if ink == "bright" else p.astype(np.float64) <= limit


def deskewangle(p, reach, step, ink):
    y, x = np.nonzero(ink_of(p, ink))
    if x.size == 0:
        return 0.0
    x, y = x - (p.shape[1] - 1) / 2, y - (p.shape[0] - 1) / 2
    scores = {}
    last = math.floor(reach / step + 1e-9)
    for k in range(-last, last + 1):
        angle = math.radians(k * step)
        bins = np.floor(y * math.cos(angle) + x * math.sin(angle) + 0.5).astype(int)
        h = np.concatenate([[0], np.bincount(bins - bins.min()), [0]])
        scores[k] = int((np.diff(h) ** 2).sum())
    best = max(scores, key=lambda k: (scores[k], -abs(k), k))
    return -(best * step) + 0.0


# --- backgrounds

def rollingball(p, radius):
    reach = math.floor(radius)
    x, result = p.astype(np.float64), np.full(p.shape, np.inf)
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            if i * i + j * j <= radius * radius:
                above = d.shifted(x, i, j, "constant", np.nan) + (
                    radius - math.sqrt(radius * radius - i * i - j * j))
                result = np.fmin(result, above)
    return result if d.class_of(p) == "single" else np.floor(result)


def imflatfield(a, sigma):
    n = 2 * math.ceil(2 * sigma) + 1
    across = d.gaussian(1, n, sigma)
    value = d.unit(a).max(axis=2) if a.ndim == 3 else d.unit(a)
    light = d.correlate(d.correlate(value, across, "symmetric"), across.T, "symmetric")
    mean = light[np.isfinite(light)].mean() if np.isfinite(light).any() else np.nan
    gain = mean / np.maximum(light, 1e-6)
    return a.astype(np.float64) * (gain[..., None] if a.ndim == 3 else gain)


# --- blocks

def block(p, operation, h, w):
    rows, columns = math.ceil(p.shape[0] / h), math.ceil(p.shape[1] / w)
    result = np.zeros((rows, columns))
    for r in range(rows):
        for c in range(columns):
            v = np.sort(p[r * h:(r + 1) * h, c * w:(c + 1) * w].astype(np.float64), axis=None)  # NaN last
            n = v.size
            with np.errstate(invalid="ignore"):
                result[r, c] = {"mean": lambda: v.mean(), "sum": lambda: v.sum(), "max": lambda: v[-1],
                                "min": lambda: v[0], "median": lambda: (v[(n - 1) // 2] + v[n // 2]) / 2,
                                "std": lambda: v.std(ddof=1) if n > 1 else 0.0}[operation]()
    return result


def reduced(p, join, start, window, border, value):
    result = np.full(p.shape, float(start))
    for values in d.window_values(p, np.ones(window, int), border, value):
        result = join(result, values)
    return result


# --- palettes

def median_cut(a, n):
    """Boxes of distinct colours: each pixel's box, and the palette in 8 bits."""
    pixels = d.convert(a, "uint8").reshape(-1, 3).astype(int)
    colours, which, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    boxes = [np.arange(len(colours))]
    while len(boxes) < n:
        wide = [i for i, box in enumerate(boxes) if len(box) > 1]
        if not wide:
            break
        number = max(wide, key=lambda i: (counts[boxes[i]].sum(), -i))
        box = boxes[number]
        ranges = np.ptp(colours[box], axis=0)
        values, weights = colours[box, int(np.argmax(ranges))], counts[box]
        cut = min(v for v in values if 2 * weights[values <= v].sum() >= weights.sum())
        if cut == values.max():
            cut = values[values < cut].max()
        boxes[number] = box[values <= cut]
        boxes.append(box[values > cut])
    number_of = np.zeros(len(colours), int)
    palette = np.zeros((len(boxes), 3))
    for i, box in enumerate(boxes):
        number_of[box] = i
        palette[i] = d.rha((colours[box] * counts[box][:, None]).sum(axis=0) / counts[box].sum())
    return number_of[which.reshape(-1)].reshape(a.shape[:2]), palette


# --- mosaics and maps

def imtile(images, grid, gap, background):
    n = len(images)
    columns = math.ceil(math.sqrt(n))
    rows, columns = grid or (math.ceil(n / columns), columns)
    if any(a.ndim == 3 for a in images):
        images = [a if a.ndim == 3 else np.stack([a] * 3, axis=-1) for a in images]
    h, w = [max(a.shape[axis] for a in images) for axis in (0, 1)]
    size = (rows * h + (rows - 1) * gap, columns * w + (columns - 1) * gap)
    result = np.empty(size + images[0].shape[2:], images[0].dtype)
    result[:] = d.cast(np.array(float(background)), d.class_of(images[0]))
    for i, a in enumerate(images[:rows * columns]):
        r, c = i // columns * (h + gap), i % columns * (w + gap)
        result[r:r + a.shape[0], c:c + a.shape[1]] = a
    return result


def centred(points):
    """Points of root mean square distance sqrt 2 from 0, and the matrix that makes them so."""
    middle = points.mean(axis=0)
    scale = math.sqrt(2 / ((points - middle) ** 2).sum(axis=1).mean())
    matrix = np.array([[scale, 0, -scale * middle[0]], [0, scale, -scale * middle[1]], [0, 0, 1]])
    return (points - middle) * scale, matrix


def projective(moving, fixed):
    moving, first = centred(moving)
    fixed, second = centred(fixed)
    rows = []
    for (x, y), (u, v) in zip(moving, fixed):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, -u], [0, 0, 0, x, y, 1, -v * x, -v * y, -v]]
    matrix = np.linalg.svd(np.array(rows))[2][-1].reshape(3, 3)
    matrix = np.linalg.inv(second) @ matrix @ first
    return matrix / matrix[2, 2]


def fitgeotform2d(moving, fixed, kind):
    moving, fixed = np.asarray(moving, float), np.asarray(fixed, float)
    if kind == "projective":
        return projective(moving, fixed)
    a, b = moving.mean(axis=0), fixed.mean(axis=0)
    p, q = moving - a, fixed - b
    linear = np.eye(2)
    if kind == "affine":
        linear = np.linalg.lstsq(p, q, rcond=None)[0].T
    elif kind != "translation":
        dot, cross = (p * q).sum(), (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum()
        scale = math.hypot(dot, cross) if kind == "rigid" else (p ** 2).sum()
        linear = np.array([[dot, -cross], [cross, dot]]) / scale
    result = np.eye(3)
    result[:2, :2], result[:2, 2] = linear, b - linear @ a
    return result


def levelled(a, angle, method, loose, fill):
    return d.each_plane(lambda p: places.imrotate(p, angle, method, loose, fill), a)
