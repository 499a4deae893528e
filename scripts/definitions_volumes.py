"""Stacks of pages and volumes of voxels, in plain numpy and double precision: a second opinion.

Written from the definitions, not from the program. Arrays are [pages, rows, columns], perhaps with
channels behind; sizes are in the order rows, columns, planes. See definitions.py.
"""
import itertools
import math

import numpy as np

import definitions as d

AXES = (1, 2, 0)  # of rows, columns, planes


def each_channel(function, v):
    if v.ndim == 3:
        return function(v)
    return np.stack([function(v[..., c]) for c in range(v.shape[3])], axis=-1)


def cast(x, cls):
    """As d.cast, but masks are where the value is at least a half."""
    return np.asarray(x) >= 0.5 if cls == "logical" else d.cast(x, cls)


# --- pages

def median(values):
    """Along the first axis; NaN is sorted last, and an even median is NaN where a middle is."""
    s, n = np.sort(values, axis=0), len(values)
    with np.errstate(invalid="ignore"):
        return s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2


def joined(values, operation):
    """max, min, mean, sum, std or median of doubles along the first axis, not rounded."""
    with np.errstate(all="ignore"):
        if operation == "median":
            return median(values)
        if operation in ("max", "min"):
            return np.sort(values, axis=0)[-1 if operation == "max" else 0]
        total = sum(values[1:], values[0])
        if operation == "sum":
            return total
        mean = total / len(values)
        if operation == "mean":
            return mean
        squares = sum(((v - mean) ** 2 for v in values), np.zeros(mean.shape))
        return np.sqrt(squares / (len(values) - 1)) if len(values) > 1 else np.zeros(mean.shape)


def class_after(operation, cls, wanted):
    return wanted or ("single" if operation in ("sum", "std") else cls)


def project(v, operation, wanted=None):
    cls = d.class_of(v)
    return cast(joined(v.astype(np.float64), operation), class_after(operation, cls, wanted))


def clipped(values, kappa, iterations, centre):
    """The mean of one pixel's values without outliers."""
    kept = [x for x in values.tolist() if math.isfinite(x)]
    for _ in range(iterations):
        if not kept:
            break
        c = float(np.median(kept)) if centre == "median" else sum(kept) / len(kept)
        mean = sum(kept) / len(kept)
        s = math.sqrt(sum((x - mean) ** 2 for x in kept) / len(kept))
        inner = [x for x in kept if c - kappa * s <= x <= c + kappa * s]
        if len(inner) == len(kept):
            break
        kept = inner
    return sum(kept) / len(kept) if kept else math.nan


def stack(images, operation, wanted=None, kappa=3, iterations=5, centre="median"):
    if operation != "clip":
        return project(images, operation, wanted)
    x = images.astype(np.float64)
    result = np.zeros(x.shape[1:])
    for place in np.ndindex(*result.shape):
        result[place] = clipped(x[(slice(None), *place)], kappa, iterations, centre)
    return cast(result, wanted or d.class_of(images))


def temporal(v, operation, n):
    first = (n - 1) // 2
    pages = []
    for z in range(len(v)):
        window = np.clip(np.arange(z - first, z - first + n), 0, len(v) - 1)
        pages.append(project(v[window], operation))
    return np.stack(pages)


# --- windows of voxels

def shifted(v, dz, dy, dx, border, value=0.0):
    """b(z, r, c) = v(z + dz, r + dy, c + dx)."""
    index = [d.outside(np.arange(n) + step, n, border) for n, step in zip(v.shape, (dz, dy, dx))]
    b = v[np.ix_(*(np.maximum(i, 0) for i in index))]
    for axis, i in enumerate(index):
        b = np.where((i < 0).reshape([-1 if k == axis else 1 for k in range(3)]), value, b)
    return b


def along(v, axis, weights, first):
    """Sums of weights times the voxels from `first` on along an axis; the border is replicated."""
    result = np.zeros(v.shape)
    for i, w in enumerate(weights):
        step = [0, 0, 0]
        step[axis] = first + i
        result = result + w * shifted(v, *step, "replicate")
    return result


def imgaussfilt3(v, sigmas):
    """Not rounded."""
    def one(x):
        for axis, sigma in zip(AXES, sigmas):
            half = math.ceil(2 * sigma)
            weights = [math.exp(-i * i / (2 * sigma * sigma)) for i in range(-half, half + 1)]
            x = along(x, axis, np.array(weights) / sum(weights), -half)
        return x
    return each_channel(one, v.astype(np.float64))


def imboxfilt3(v, size):
    def one(x):
        for axis, n in zip(AXES, size):
            x = along(x, axis, np.ones(n), -((n - 1) // 2))
        return x / np.prod(size)
    return cast(each_channel(one, v.astype(np.float64)), d.class_of(v))


def window(size):
    """Offsets (dz, dy, dx) of a window of rows, columns, planes round its anchor."""
    rows, columns, planes = (range(-((n - 1) // 2), n - (n - 1) // 2) for n in size)
    return itertools.product(planes, rows, columns)


def medfilt3(v, size):
    def one(x):
        return median(np.stack([shifted(x, *step, "symmetric") for step in window(size)]))
    return cast(each_channel(one, v.astype(np.float64)), d.class_of(v))


# --- morphology

def element(kind, *sizes):
    """Offsets (dz, dy, dx) from the origin."""
    if kind in ("sphere", "ball"):
        r = sizes[0]
        span = range(-r, r + 1)
        return [p for p in itertools.product(span, span, span) if sum(i * i for i in p) <= r * r]
    rows = sizes[0]
    columns = sizes[1] if len(sizes) > 1 else rows
    planes = sizes[2] if len(sizes) > 2 else rows
    return list(window((rows, columns, planes)))


def dilate(v, offsets):
    """The reflected element; what lies outside and NaN are left out."""
    x = np.where(np.isnan(v), -np.inf, v)
    return np.max([shifted(x, -z, -y, -x_, "constant", -np.inf) for z, y, x_ in offsets], axis=0)


def erode(v, offsets):
    x = np.where(np.isnan(v), np.inf, v)
    return np.min([shifted(x, *step, "constant", np.inf) for step in offsets], axis=0)


def morphology(op, v, offsets):
    """imdilate3, imerode3, imopen3, imclose3"""
    def one(x):
        for step in {"imdilate3": (dilate,), "imerode3": (erode,), "imopen3": (erode, dilate),
                     "imclose3": (dilate, erode)}[op]:
            x = step(x, offsets)
        return x
    cls = d.class_of(v)
    result = each_channel(one, v.astype(np.float64))
    if cls == "single":
        return result.astype(np.float32)
    return cast(np.clip(result, 0, d.WHITE[cls]), cls)


# --- objects

def neighbours(conn):
    """Offsets (dz, dy, dx) of 6, 18 or 26 voxels."""
    most = {6: 1, 18: 2, 26: 3}[conn]
    return [p for p in itertools.product((-1, 0, 1), repeat=3) if 0 < sum(map(abs, p)) <= most]


def bwlabeln(v, conn):
    """1, 2, ... by first voxels down the columns, from left to right, page after page."""
    labels, count = np.zeros(v.shape), 0
    planes, rows, columns = v.shape
    for z, c, r in np.ndindex(planes, columns, rows):
        if not v[z, r, c] or labels[z, r, c]:
            continue
        count += 1
        labels[z, r, c] = count
        waiting = [(z, r, c)]
        while waiting:
            at = waiting.pop()
            for step in neighbours(conn):
                near = tuple(i + k for i, k in zip(at, step))
                if (all(0 <= i < n for i, n in zip(near, v.shape)) and v[near] and not labels[near]):
                    labels[near] = count
                    waiting.append(near)
    return labels


def regionprops3(v, conn, origin, image=None):
    """Rows Label Volume Centroid BoundingBox EquivDiameter, with image mean, min and max."""
    labels = bwlabeln(v, conn) if v.dtype == bool else v
    rows = []
    for label in [k for k in np.unique(labels) if k > 0]:
        z, y, x = np.nonzero(labels == label)
        n, places = len(z), (x, y, z)
        box = [p.min() + 0.5 * origin for p in places] + [np.ptp(p) + 1 for p in places]
        row = [label, n, *(p.mean() + origin for p in places), *box, (6 * n / math.pi) ** (1 / 3)]
        if image is not None:
            values = image[labels == label].astype(np.float64)
            row += [values.mean(), values.min(), values.max()]
        rows.append(row)
    return np.array(rows, float).reshape(-1, 12 if image is None else 15)


def bwdist3(v, spacing):
    objects = np.argwhere(v) * np.array([spacing[2], spacing[0], spacing[1]], float)
    result = np.full(v.shape, np.inf)
    for z, r, c in np.ndindex(*v.shape):
        if len(objects):
            at = np.array([z * spacing[2], r * spacing[0], c * spacing[1]])
            result[z, r, c] = math.sqrt(((objects - at) ** 2).sum(axis=1).min())
    return result.astype(np.float32)


# --- sizes

def resized_along(x, axis, n, scale, method, antialiasing):
    """One axis at n voxels; `scale` is n over the old number, or what the user gave."""
    old = x.shape[axis]
    weights = np.zeros((n, old))
    shrink = scale if scale < 1 and antialiasing else 1.0
    for j in range(n):
        if method == "nearest":
            place = (j + 0.5) / scale - 0.5
            weights[j, min(max(math.floor(place + 0.5), 0), old - 1)] = 1
            continue
        width = 2 / shrink
        u = (j + 1) / scale + (1 - 1 / scale) / 2
        left = math.floor(u - width / 2)
        taps = range(left, left + math.ceil(width) + 2)
        values = [shrink * max(1 - abs(shrink * (u - i)), 0) for i in taps]
        for i, w in zip(taps, values):
            if w:
                weights[j, int(d.outside(np.array([i - 1]), old, "symmetric")[0])] += w / sum(values)
    result = np.zeros((*x.shape[:axis], n, *x.shape[axis + 1:]))
    for j, i in np.argwhere(weights):
        at = [slice(None)] * 3
        at[axis] = j
        result[tuple(at)] += weights[j, i] * np.take(x, i, axis)
    return result


def imresize3(v, size, scales, method, antialiasing):
    """Rows, columns and planes; not rounded."""
    def one(x):
        for axis, n, scale in zip(AXES, size, scales):
            if n != x.shape[axis] or scale != 1:
                x = resized_along(x, axis, n, scale, method, antialiasing)
        return x
    return each_channel(one, v.astype(np.float64))
