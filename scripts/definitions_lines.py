"""Lines, circles and the statistics of gray levels, in plain numpy and double precision: a second
opinion.

Written from the definitions, not from the program. Images are arrays [rows, columns]; see
definitions.py.
"""
import itertools
import math

import numpy as np

import definitions as d


def hough(b, resolution, rho):
    """(votes, q, angles)"""
    rows, columns = b.shape
    q = math.ceil(math.sqrt((rows - 1) ** 2 + (columns - 1) ** 2) / rho)
    angles = list(itertools.takewhile(lambda t: t < 90, (-90 + j * resolution for j in itertools.count())))
    votes = np.zeros((2 * q + 1, len(angles)))
    for j, angle in enumerate(angles):
        for y, x in np.argwhere(b).tolist():
            votes[bin_of(x, y, angle, rho, q), j] += 1
    return votes, q, angles


def bin_of(x, y, angle, rho, q):
    t = angle * math.pi / 180
    return math.floor((x * math.cos(t) + y * math.sin(t)) / rho + q + 0.5)


def near_half(b, resolution, rho):
    """Whether a vote lies so near the border of two bins that rounding decides."""
    rows, columns = b.shape
    q = math.ceil(math.sqrt((rows - 1) ** 2 + (columns - 1) ** 2) / rho)
    y, x = np.nonzero(b)
    t = np.deg2rad(np.arange(-90, 90, resolution))[:, None]
    place = (x * np.cos(t) + y * np.sin(t)) / rho + q + 0.5
    return bool((np.abs(place - np.round(place)) < 1e-9).any())


def peaks(b, n, threshold, nhood, resolution, rho):
    """(row, column, votes) of each peak, and what hough gave."""
    votes, q, angles = hough(b, resolution, rho)
    if threshold is None:
        threshold = 0.5 * votes.max()
    sides = nhood or [max(3, 2 * math.ceil(side / 100) + 1) for side in votes.shape]
    work, found = votes.copy(), []
    for _ in range(n):
        column, row = divmod(int(np.argmax(work.T)), work.shape[0])
        most = work[row, column]
        if most < threshold or most == 0:
            break
        found.append((row, column, most))
        for dr in range(-(sides[0] // 2), sides[0] // 2 + 1):
            for dc in range(-(sides[1] // 2), sides[1] // 2 + 1):
                turns, c = divmod(column + dc, work.shape[1])
                r = row + dr if turns % 2 == 0 else 2 * q - (row + dr)
                if 0 <= row + dr < work.shape[0]:
                    work[r, c] = 0
    return found, q, angles


def houghpeaks(b, n, threshold, nhood, resolution, rho):
    found, q, angles = peaks(b, n, threshold, nhood, resolution, rho)
    rows = [[(row - q) * rho, angles[column], most] for row, column, most in found]
    return np.array(rows, float).reshape(-1, 3)


def houghlines(b, n, threshold, nhood, resolution, rho, gap, least, origin):
    found, q, angles = peaks(b, n, threshold, nhood, resolution, rho)
    rows = []
    for row, column, _ in found:
        pixels = [(x, y) for y, x in np.argwhere(b).tolist()
                  if bin_of(x, y, angles[column], rho, q) == row]
        xs, ys = [p[0] for p in pixels], [p[1] for p in pixels]
        upright = max(ys) - min(ys) > max(xs) - min(xs)
        pixels.sort(key=(lambda p: (p[1], p[0])) if upright else (lambda p: p))
        segments = [[pixels[0]]]
        for p in pixels[1:]:
            last = segments[-1][-1]
            if (p[0] - last[0]) ** 2 + (p[1] - last[1]) ** 2 > gap ** 2:
                segments.append([])
            segments[-1].append(p)
        for segment in segments:
            (x1, y1), (x2, y2) = segment[0], segment[-1]
            if (x2 - x1) ** 2 + (y2 - y1) ** 2 >= least ** 2:
                rows.append([x1 + origin, y1 + origin, x2 + origin, y2 + origin, (row - q) * rho,
                             angles[column]])
    return np.array(rows, float).reshape(-1, 6)


def imfindcircles(b, low, high, n, threshold, distance, origin):
    candidates = []
    for r in range(low, high + 1):
        span = range(-r - 1, r + 2)
        circle = [(dx, dy) for dx in span for dy in span
                  if math.floor(math.sqrt(dx * dx + dy * dy) + 0.5) == r]
        counts = sum(d.shifted(b.astype(int), dy, dx, "constant", 0).astype(int) for dx, dy in circle)
        candidates += [(-(counts[y, x] / len(circle)), r, x, y) for y, x in np.ndindex(*b.shape)
                       if counts[y, x] / len(circle) >= threshold]
    taken = []
    for score, r, x, y in sorted(candidates):
        if len(taken) == n:
            break
        if all((x - v[0]) ** 2 + (y - v[1]) ** 2 >= distance ** 2 for v in taken):
            taken.append((x, y, r, -score))
    return np.array([[x + origin, y + origin, r, s] for x, y, r, s in taken], float).reshape(-1, 4)


# --- gray levels

def graycomatrix(a, levels, offset, limits, symmetric):
    low, high = limits or (0, d.WHITE[d.class_of(a)])
    x, (dr, dc) = a.astype(np.float64), offset
    counts = np.zeros((levels, levels))

    def level(v):
        if high == low:
            return 0
        place = levels * (v - low) / (high - low)
        return 0 if place < 0 else levels - 1 if place >= levels else math.floor(place)

    for r, c in np.ndindex(*x.shape):
        if 0 <= r + dr < x.shape[0] and 0 <= c + dc < x.shape[1]:
            v, w = x[r, c], x[r + dr, c + dc]
            if not (math.isnan(v) or math.isnan(w)):
                counts[level(v), level(w)] += 1
    return counts + counts.T if symmetric else counts


def graycoprops(counts):
    if counts.sum() == 0:
        return [math.nan] * 4
    p = counts / counts.sum()
    i, j = np.mgrid[1:p.shape[0] + 1, 1:p.shape[1] + 1]
    mi, mj = (i * p).sum(), (j * p).sum()
    si, sj = math.sqrt(((i - mi) ** 2 * p).sum()), math.sqrt(((j - mj) ** 2 * p).sum())
    flat = (p.sum(axis=0) > 0).sum() == 1 or (p.sum(axis=1) > 0).sum() == 1
    correlation = math.nan if flat else ((i - mi) * (j - mj) * p).sum() / (si * sj)
    return [((i - j) ** 2 * p).sum(), correlation, (p ** 2).sum(), (p / (1 + abs(i - j))).sum()]


def entropy(a):
    if a.dtype == bool:
        counts = np.bincount(a.ravel().astype(int), minlength=2)
    else:
        if a.dtype == np.float32:
            a = np.where(np.isnan(a), np.float32(0), a)
        counts = np.bincount(d.convert(a, "uint8").ravel(), minlength=256)
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())
