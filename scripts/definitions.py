"""What the operators are defined to compute, in plain numpy and double precision: a second opinion.

Written from the definitions (MATLAB's and Octave's documentation of each function, Octave's rules
where the two differ), not from the program. Images are arrays [rows, columns] or [rows, columns, 3]
of bool, uint8, uint16 or float32; every function works on one plane unless it says otherwise.
"""
import math

import numpy as np

WHITE = {"logical": 1, "uint8": 255, "uint16": 65535, "single": 1}


def class_of(a):
    return {"bool": "logical", "float32": "single", "float64": "double"}.get(a.dtype.name, a.dtype.name)


def turned(a, how, quarters=1):
    """transpose, fliplr, flipud, or rot90 by quarters counterclockwise; all planes."""
    return np.ascontiguousarray({"transpose": lambda: np.swapaxes(a, 0, 1),
                                 "fliplr": lambda: a[:, ::-1], "flipud": lambda: a[::-1],
                                 "rot90": lambda: np.rot90(a, quarters)}[how]())


def rha(x):
    """Rounds half away from zero."""
    t = np.trunc(x)
    return t + np.sign(x) * (np.abs(x - t) >= 0.5)


def cast(x, cls):
    """NaN to 0, rounded, saturated."""
    x = np.asarray(x, np.float64)
    if cls == "logical":
        return x != 0
    if cls == "single":
        return x.astype(np.float32)
    if cls == "double":
        return x
    x = np.where(np.isnan(x), 0, x)
    return rha(np.clip(x, -1, WHITE[cls] + 1)).clip(0, WHITE[cls]).astype(cls)


def unit(a):
    return a.astype(np.float64) / WHITE[class_of(a)]


def each_plane(function, a):
    if a.ndim == 2:
        return function(a)
    return np.stack([function(a[..., c]) for c in range(a.shape[2])], axis=-1)


# --- points

def stretchlim(a, low, high):
    s = np.sort(unit(a), axis=None)
    n = s.size
    lo = s[min(math.floor(low * n), n - 1)]
    hi = s[max(math.ceil(high * n) - 1, 0)]
    lo, hi = np.clip([lo, hi], 0, 1)
    return (0.0, 1.0) if lo == hi else (float(lo), float(hi))


def imadjust(a, limits, out, gamma):
    def plane(p):
        li, hi = limits or stretchlim(p, 0.01, 0.99)
        x = unit(p)
        y = out[0] + (out[1] - out[0]) * ((np.clip(x, li, hi) - li) / (hi - li)) ** gamma
        return cast(y * WHITE[class_of(a)], class_of(a))
    return each_plane(plane, a)


def rgb2gray(a):
    y = unit(a) @ np.array([0.298936, 0.587043, 0.114021])
    return cast(y * WHITE[class_of(a)], class_of(a))


def graythresh(a):
    if class_of(a) == "single":
        a = cast(np.asarray(a, np.float64) * 255, "uint8")
    n = WHITE[class_of(a)] + 1
    h = np.bincount(a.reshape(-1), minlength=n).astype(np.float64)
    i, total = np.arange(n), h.sum()
    b = np.cumsum(h)[:-1]
    w = total - b
    with np.errstate(all="ignore"):
        mb = np.cumsum(i * h)[:-1] / b
        mw = ((i * h).sum() - np.cumsum(i * h)[:-1]) / w
        s = (b / total) * (w / total) * (mb - mw) ** 2
    if np.all(np.isnan(s)):
        return 0.0
    return float(np.mean(np.flatnonzero(s == np.nanmax(s))) / (n - 1))


def convert(a, cls):
    """im2uint8, im2uint16, im2single."""
    have = class_of(a)
    if have == cls:
        return a
    if have == "single":
        return cast((a * np.float32(WHITE[cls])).astype(np.float64), cls)
    if cls == "single":
        return (a.astype(np.float64) / WHITE[have]).astype(np.float32)
    if have == "uint16" and cls == "uint8":
        return cast(a / 257.0, cls)
    return (a.astype(np.int64) * (WHITE[cls] // WHITE[have])).astype(cls)


# --- neighbourhoods

def outside(index, n, border):
    """Indices inside for indices anywhere; -1 where a constant stands."""
    if border == "replicate":
        return np.clip(index, 0, n - 1)
    if border == "circular":
        return index % n
    if border == "symmetric":
        m = index % (2 * n)
        return np.where(m < n, m, 2 * n - 1 - m)
    return np.where((index >= 0) & (index < n), index, -1)


def shifted(a, dy, dx, border, value=0.0):
    """b(r, c) = a(r + dy, c + dx)."""
    rows, columns = a.shape
    r = outside(np.arange(rows) + dy, rows, border)
    c = outside(np.arange(columns) + dx, columns, border)
    b = a[np.ix_(np.maximum(r, 0), np.maximum(c, 0))]
    return np.where((r < 0)[:, None] | (c < 0)[None, :], value, b)


def correlate(a, k, border, value=0.0, flip=False):
    """Not rounded; zero weights read nothing."""
    k = np.atleast_2d(k)
    ay, ax = (k.shape[0] - 1) // 2, (k.shape[1] - 1) // 2
    if flip:
        k = k[::-1, ::-1]
    total = np.zeros(a.shape)
    for (i, j), weight in np.ndenumerate(k):
        if weight != 0:
            total = total + weight * shifted(a.astype(np.float64), i - ay, j - ax, border, value)
    return total


def imfilter(a, k, border, flip):
    cls = class_of(a)
    constant = not isinstance(border, str)
    value = float(cast(np.array(border), cls)) if constant else 0.0
    return each_plane(lambda p: cast(correlate(p, k, "constant" if constant else border, value, flip),
                                     cls), a)


def conv2(a, k, shape):
    k = np.atleast_2d(k)
    (h, w), (kh, kw) = a.shape, k.shape
    full = np.zeros((h + kh - 1, w + kw - 1))
    for (i, j), weight in np.ndenumerate(k):
        if weight != 0:
            full[i:i + h, j:j + w] += weight * a.astype(np.float64)
    if shape == "full":
        return full
    if shape == "same":
        return full[kh // 2:kh // 2 + h, kw // 2:kw // 2 + w]
    return full[kh - 1:h, kw - 1:w]


def gaussian(rows, columns, sigma):
    y = np.arange(rows) - (rows - 1) / 2
    x = np.arange(columns) - (columns - 1) / 2
    g = np.exp(-(y[:, None] ** 2 + x[None, :] ** 2) / (2 * sigma ** 2))
    return g / g.sum()


def laplacian_of_gaussian(n, sigma):
    x = np.arange(n) - (n - 1) / 2
    r2 = x[:, None] ** 2 + x[None, :] ** 2
    g = np.exp(-r2 / (2 * sigma ** 2))
    return (r2 - 2 * sigma ** 2) * g / (2 * np.pi * sigma ** 6 * g.sum())


GRADIENTS = {"sobel": np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1.0]]),
             "prewitt": np.array([[1, 1, 1], [0, 0, 0], [-1, -1, -1.0]])}


def window_values(a, mask, border, value):
    """[cells, rows, columns]: what lies under each set cell."""
    oy, ox = (mask.shape[0] - 1) // 2, (mask.shape[1] - 1) // 2
    return np.stack([shifted(a.astype(np.float64), i - oy, j - ox, border, value)
                     for i, j in np.argwhere(mask)])


def ordfilt2(a, nth, mask, border, value=0.0, offsets=None):
    values = window_values(a, mask, border, value)
    if offsets is not None:
        values = values + offsets[mask != 0].reshape(-1, *[1] * (values.ndim - 1))
        if class_of(a) == "logical":  # saturated as codes are
            values = rha(values.clip(0, 1))
        else:
            values = cast(values, class_of(a)).astype(np.float64)
    s = np.sort(values, axis=0)
    return cast(s[min(nth, len(s)) - 1], class_of(a))


def erode(a, mask, heights=0):
    values = window_values(a, mask, "constant", np.inf)
    values = values - (heights * mask)[mask != 0].reshape(-1, *[1] * (values.ndim - 1))
    return np.nanmin(np.where(np.isnan(values), np.inf, values), axis=0)


def dilate(a, mask, heights=0):
    oy, ox = (mask.shape[0] - 1) // 2, (mask.shape[1] - 1) // 2
    heights = heights * mask
    cells = [shifted(a.astype(np.float64), -(i - oy), -(j - ox), "constant", -np.inf) + heights[i, j]
             for i, j in np.argwhere(mask)]
    values = np.stack(cells)
    return np.max(np.where(np.isnan(values), -np.inf, values), axis=0)


def morphology(op, a, mask, heights=0):
    """Saturating for the compounds; of logical images too."""
    cls = class_of(a)

    def stored(p):  # a window outside the image: the lowest or highest value of the class
        return p if cls == "single" else rha(np.clip(p, 0, WHITE[cls]))

    def opened(p):
        return stored(dilate(stored(erode(p, mask, heights)), mask, heights))

    def closed(p):
        return stored(erode(stored(dilate(p, mask, heights)), mask, heights))

    x = a.astype(np.float64)
    result = {"imerode": lambda: stored(erode(x, mask, heights)),
              "imdilate": lambda: stored(dilate(x, mask, heights)),
              "imopen": lambda: opened(x), "imclose": lambda: closed(x),
              "imtophat": lambda: x - opened(x), "imbothat": lambda: closed(x) - x,
              "imgradmorph": lambda: (stored(dilate(x, mask, heights)) -
                                      stored(erode(x, mask, heights)))}[op]()
    return cast(np.clip(result, 0, WHITE[cls]) if cls != "single" else result, cls)


def element(name, *sizes):
    if name in ("square", "rectangle"):
        return np.ones((sizes[0], sizes[-1]), int)
    r = sizes[0]
    y, x = np.mgrid[-r:r + 1, -r:r + 1]
    return ((abs(x) + abs(y) <= r) if name == "diamond" else (x * x + y * y <= r * r)).astype(int)


# --- edges

def ridge(s, t2):
    s = np.where(s <= t2, 0, s)
    at = lambda dy, dx: shifted(s, dy, dx, "constant")  # noqa: E731
    return ((s > at(0, -1)) & (s > at(0, 1))) | ((s > at(-1, 0)) & (s > at(1, 0)))


def edge_gradient(x, method, thresh, direction, thin):
    if method == "roberts":
        at = lambda dy, dx: shifted(x, dy, dx, "replicate")  # noqa: E731
        s = ((x - at(1, 1)) / 2) ** 2 + ((at(0, 1) - at(1, 0)) / 2) ** 2
    else:
        k = GRADIENTS[method] / np.abs(GRADIENTS[method]).sum()
        gh, gv = correlate(x, k, "replicate"), correlate(x, k.T, "replicate")
        s = {"horizontal": gh ** 2, "vertical": gv ** 2, "both": gh ** 2 + gv ** 2}[direction]
    t2 = (6 if method == "roberts" else 4) * s.mean() if thresh is None else thresh ** 2
    return ridge(s, t2) if thin else s > t2


def zero_crossings(x, k, thresh, factor):
    f = conv2(x, k, "same")
    t = factor * np.abs(f).mean() if thresh is None else thresh
    negative = f < 0
    near = np.zeros(f.shape, bool)
    for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        near |= shifted(negative.astype(float), dy, dx, "constant") > 0
    return (np.abs(f) > t) & (f >= 0) & near


def canny(x, thresh, sigma):
    n = 8 * math.ceil(sigma)
    g = gaussian(1, n, sigma)
    j = correlate(correlate(x, g, "replicate"), g.T, "replicate")
    jx = correlate(j, np.array([[0.5, 0, -0.5]]), "replicate")
    jy = correlate(j, np.array([[0.5], [0], [-0.5]]), "replicate")
    e = np.hypot(jx, jy)
    if e.max() > 0:
        e = e / e.max()
    o = np.pi - np.mod(np.arctan2(jy, jx) - np.pi, np.pi)
    high = e.mean() if thresh is None else thresh[-1]
    low = thresh[0] if thresh is not None and len(thresh) == 2 else 0.4 * high
    td = o[..., None] - np.deg2rad([0, 45, 90, 135])
    td = np.where(td > np.pi / 2, td - np.pi, td)
    kind = np.argmin(np.abs(td), axis=-1)
    beside = [((0, -1), (0, 1)), ((-1, 1), (1, -1)), ((-1, 0), (1, 0)), ((-1, -1), (1, 1))]
    along = [((-1, 0), (1, 0)), ((-1, -1), (1, 1)), ((0, -1), (0, 1)), ((-1, 1), (1, -1))]
    m = np.zeros_like(e)
    rows, columns = e.shape
    for r in range(1, rows - 1):
        for c in range(1, columns - 1):
            if all(e[r, c] > e[r + dy, c + dx] for dy, dx in beside[kind[r, c]]):
                m[r, c] = e[r, c]
    edges = m > high
    stack = list(map(tuple, np.argwhere(edges)))
    while stack:
        r, c = stack.pop()
        for dy, dx in along[kind[r, c]]:
            y, x_ = r + dy, c + dx
            if 0 <= y < rows and 0 <= x_ < columns and not edges[y, x_] and m[y, x_] > low:
                edges[y, x_] = True
                stack.append((y, x_))
    return edges


# --- measurements and histograms

def imhist(a, n):
    cls = class_of(a)
    if cls == "logical":
        return np.array([np.sum(~a), np.sum(a)], float)
    v = np.clip(a.astype(np.float64), 0, WHITE[cls])
    v = v[~np.isnan(v)]
    bins = np.floor(v * (n - 1) / WHITE[cls] + 0.5).astype(int)
    return np.bincount(bins.reshape(-1), minlength=n).astype(float)


def histeq(a, n):
    x = a.astype(np.float64)
    lo, hi = x.min(), x.max()
    v = np.clip(x, 0, 1) if hi == lo else (1 / (hi - lo)) * (x - lo)
    q = rha(v * (n - 1)).astype(int)
    d = 1 / (n - 1)
    level = np.empty(n)
    half = (n + 1) // 2
    level[:half] = np.arange(half) * d
    level[n - half:] = 1 - np.arange(half)[::-1] * d
    edges = level - (level[1] - level[0]) / 2
    bins = np.searchsorted(edges, np.minimum(v, edges[-1]), side="right") - 1
    h = np.bincount(bins.reshape(-1), minlength=n)
    return (np.cumsum(h) / v.size)[q]


def jointhist(a, b, n):
    top = WHITE[class_of(a)] + 1
    h = np.zeros((n, n))
    np.add.at(h, (a.astype(np.int64) * n // top, b.astype(np.int64) * n // top), 1)
    return h


# --- sets of pixels

def neighbours(connectivity):
    near = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    return near + [(1, 1), (1, -1), (-1, 1), (-1, -1)] if connectivity == 8 else near


def bwlabel(a, connectivity):
    """1, 2, ... in the order of first pixels down the columns."""
    labels, count = np.zeros(a.shape), 0
    rows, columns = a.shape
    for c, r in np.ndindex(columns, rows):
        if not a[r, c] or labels[r, c]:
            continue
        count += 1
        labels[r, c] = count
        stack = [(r, c)]
        while stack:
            y, x = stack.pop()
            for dy, dx in neighbours(connectivity):
                v, u = y + dy, x + dx
                if 0 <= v < rows and 0 <= u < columns and a[v, u] and not labels[v, u]:
                    labels[v, u] = count
                    stack.append((v, u))
    return labels


def bwareaopen(a, least, connectivity):
    labels = bwlabel(a, connectivity).astype(int)
    return (labels > 0) & (np.bincount(labels.reshape(-1))[labels] >= least)


def imreconstruct(marker, mask, connectivity):
    """Dilation under the mask until nothing changes."""
    top = mask.astype(np.float64)
    x = np.minimum(marker.astype(np.float64), top)
    while True:
        grown = x
        for dy, dx in neighbours(connectivity):
            grown = np.maximum(grown, shifted(x, dy, dx, "constant", -np.inf))
        grown = np.minimum(grown, top)
        if np.array_equal(grown, x):
            return cast(x, class_of(mask))
        x = grown


def imfill_holes(a, connectivity):
    """The complement, reconstructed from its frame."""
    high = WHITE[class_of(a)]
    mask = high - a.astype(np.float64)
    marker = np.full(a.shape, -np.inf)
    marker[[0, -1], :] = mask[[0, -1], :]
    marker[:, [0, -1]] = mask[:, [0, -1]]
    filled = imreconstruct(marker, mask, connectivity)
    return cast(high - filled.astype(np.float64), class_of(a))


def regional_maxima(a, connectivity):
    near = neighbours(connectivity)
    x = a.astype(np.float64)
    rows, columns = x.shape
    seen, result = np.zeros(x.shape, bool), np.zeros(x.shape, bool)
    for start in np.ndindex(x.shape):
        if seen[start]:
            continue
        seen[start] = True
        plateau, stack, top = [start], [start], True
        while stack:
            r, c = stack.pop()
            for dy, dx in near:
                y, z = r + dy, c + dx
                if 0 <= y < rows and 0 <= z < columns:
                    if x[y, z] > x[start]:
                        top = False
                    elif x[y, z] == x[start] and not seen[y, z]:
                        seen[y, z] = True
                        plateau.append((y, z))
                        stack.append((y, z))
        for place in plateau:
            result[place] = top
    return result


def bwdist(a, metric):
    if not a.any():
        return np.full(a.shape, np.inf, np.float32)
    sites = np.argwhere(a)
    y, x = np.mgrid[:a.shape[0], :a.shape[1]]
    best = np.full(a.shape, np.inf)
    for r, c in sites:
        dy, dx = abs(y - r), abs(x - c)
        d = {"euclidean": dy * dy + dx * dx, "cityblock": dy + dx, "chessboard": np.maximum(dy, dx),
             "quasi-euclidean": np.maximum(dy, dx) + (math.sqrt(2) - 1) * np.minimum(dy, dx)}[metric]
        best = np.minimum(best, d)
    return (np.sqrt(best) if metric == "euclidean" else best).astype(np.float32)


# --- transforms

def radon(a, angles):
    m, n = a.shape
    xc, yc = (m + 1) // 2, (n + 1) // 2
    w = np.repeat(np.repeat(a.astype(np.float64) / 4, 2, axis=0), 2, axis=1)
    x = (0.75 - xc + np.arange(2 * m) / 2)[:, None]
    y = (0.75 - yc + np.arange(2 * n) / 2)[None, :]
    b = math.ceil(math.sqrt(m * m + n * n) / 2 + 1)
    result = np.zeros((2 * b + 1, len(angles)))
    for i, degrees in enumerate(angles):
        t = np.deg2rad(degrees)
        place = -np.sin(t) * x + np.cos(t) * y + b + 1
        k = np.floor(place).astype(int)
        f = place - k
        np.add.at(result[:, i], k - 1, (1 - f) * w)
        np.add.at(result[:, i], np.minimum(k, 2 * b), f * w)
    return result


def resize_kernel(method, h):
    h = np.abs(h)
    if method == "bilinear":
        return np.maximum(1 - h, 0)
    return np.where(h <= 1, 1.5 * h ** 3 - 2.5 * h ** 2 + 1,
                    np.where(h <= 2, -0.5 * h ** 3 + 2.5 * h ** 2 - 4 * h + 2, 0))


def resize_axis(a, size, scale, method):
    """Along axis 0, in double."""
    n = a.shape[0]
    z = 0.5 + 0.5 / scale + np.arange(size) / scale
    if method == "nearest":
        return a[np.clip(rha(z).astype(int), 1, n) - 1]
    width, shrink = (4 if method == "bicubic" else 2), min(scale, 1.0)
    p = math.ceil(width / shrink / 2)
    i0 = np.floor(z)
    result = np.zeros((size, *a.shape[1:]))
    for step in range(1 - p, p + 1):
        weight = shrink * resize_kernel(method, shrink * (step - (z - i0)))
        index = outside((i0 + step - 1).astype(int), n, "symmetric")
        result += weight[:, None] * a[index]
    return result


def resized(p, size, scale, method):
    """Not rounded."""
    x = resize_axis(p.astype(np.float64).T, size[1], scale[1], method).T
    return resize_axis(x, size[0], scale[0], method)


def imresize(a, size, scale, method):
    return each_plane(lambda p: cast(resized(p, size, scale, method), class_of(a)), a)


def dither(a):
    w = unit(a)
    rows, columns = w.shape
    out = np.zeros(w.shape, bool)
    for r in range(rows):
        for c in range(columns):
            out[r, c] = w[r, c] >= 0.5
            e = w[r, c] - out[r, c]
            for dy, dx, part in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
                if r + dy < rows and 0 <= c + dx < columns:
                    w[r + dy, c + dx] += e * part / 16
    return out
