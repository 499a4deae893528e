"""Kernels of fspecial and the back projection, as the operators' definitions say, in double:
what scripts/make_cases.py expects of the program."""

import math

import numpy as np

from definitions import gaussian, rha


def centred(rows, columns):
    y = np.arange(rows) - (rows - 1) / 2
    x = np.arange(columns) - (columns - 1) / 2
    return y[:, None], x[None, :]


def laplacian_of_gaussian(rows, columns, sigma):
    y, x = centred(rows, columns)
    square = x ** 2 + y ** 2
    g = np.exp(-square / (2 * sigma ** 2))
    return (square - 2 * sigma ** 2) * g / (2 * np.pi * sigma ** 6 * g.sum())


def disk(radius):
    """The area of each pixel inside the disk, by the chords of many thin slices."""
    n = 2 * radius + 1
    if radius == 0:
        return np.ones((1, 1))
    slices = 20000
    y = -radius - 0.5 + (np.arange(n * slices) + 0.5) / slices
    half = np.sqrt(np.maximum(radius ** 2 - y ** 2, 0))
    k = np.zeros((n, n))
    for column in range(n):
        left = column - radius - 0.5
        inside = np.minimum(half, left + 1) - np.maximum(-half, left)
        k[:, column] = np.maximum(inside, 0).reshape(n, slices).mean(axis=1)
    return k / (np.pi * radius ** 2)


def motion(length, theta):
    n = length if length % 2 else length + 1
    if n == 1:
        return np.ones((1, 1))
    line = np.zeros((n, n))
    line[length // 2, :length] = 1
    turned = theta % 360
    if turned % 90 == 0:
        k = np.rot90(line, int(turned // 90))
        return k / k.sum()
    t = np.deg2rad(turned)
    turn = np.array([[math.cos(t), math.sin(t)], [-math.sin(t), math.cos(t)]])
    corners = np.array([(0, 0), (n - 1, 0), (n - 1, n - 1), (0, n - 1)], float).T
    spread = turn @ corners
    m = rha(spread.max(axis=1) - spread.min(axis=1)) + 1
    shift = (m + 1) / 2 - turn @ np.full(2, (n + 1) / 2)
    placed = turn @ (corners + 1) + shift[:, None]
    low, high = rha(placed.min(axis=1)).astype(int), rha(placed.max(axis=1)).astype(int)
    k = np.zeros((high[1] - low[1] + 1, high[0] - low[0] + 1))
    for i, j in np.ndindex(k.shape):
        x, y = turn.T @ (np.array([j + low[0], i + low[1]]) - shift)
        if not (1 <= x <= n and 1 <= y <= n):
            continue
        c, r = min(int(x), n - 1), min(int(y), n - 1)
        fx, fy = x - c, y - r
        window = line[r - 1:r + 1, c - 1:c + 1]
        k[i, j] = np.array([1 - fy, fy]) @ window @ np.array([1 - fx, fx])
    return k / k.sum()


def fspecial(kind, size=(3, 3), sigma=0.5, radius=5, length=9, theta=0, alpha=0.2):
    if kind == "average":
        return np.full(size, 1 / (size[0] * size[1]))
    if kind == "gaussian":
        return gaussian(*size, sigma)
    if kind == "log":
        return laplacian_of_gaussian(*size, sigma)
    if kind == "disk":
        return disk(radius)
    if kind == "motion":
        return motion(length, theta)
    a = alpha
    return {"laplacian": np.array([[a, 1 - a, a], [1 - a, -4, 1 - a], [a, 1 - a, a]]) / (a + 1),
            "unsharp": np.array([[-a, a - 1, -a], [a - 1, a + 5, a - 1], [-a, a - 1, -a]]) / (a + 1),
            "sobel": np.array([[1., 2, 1], [0, 0, 0], [-1, -2, -1]]),
            "prewitt": np.array([[1., 1, 1], [0, 0, 0], [-1, -1, -1]])}[kind]


def ramp(length, window):
    half = length // 2
    rho = np.concatenate([np.arange(half + 1), np.arange(half - 1, 0, -1)]) / half
    k = np.arange(length)
    if window in ("hann", "hamming"):
        floor = 0.5 if window == "hann" else 0.54
        rho = rho * np.fft.fftshift(floor - (1 - floor) * np.cos(2 * np.pi * k / (length - 1)))
    elif window == "cosine":
        rho = rho * np.fft.fftshift(np.sin(np.pi * k / length))
    elif window == "shepp-logan":
        rho = rho * np.sinc(np.minimum(k, length - k) / length)
    return rho


def iradon(sums, degrees, interp, window, size=None):
    p = sums.astype(np.float64)
    rows = p.shape[0]
    if window != "none":
        length = 2 * 2 ** math.ceil(math.log2(rows)) if rows > 1 else 2
        spectrum = np.fft.fft(p, length, axis=0) * ramp(length, window)[:, None]
        p = np.fft.ifft(spectrum, axis=0).real[:rows]
    n = size or 2 * math.floor(rows / (2 * math.sqrt(2)))
    lacking = math.ceil(n * math.sqrt(2)) + 1 - rows
    if lacking > 0:
        p = np.pad(p, ((math.ceil(lacking / 2),) * 2, (0, 0)))
    centre = (n + 1) // 2
    x = (np.arange(n) - centre + 1)[None, :]
    y = (np.arange(n - 1, -1, -1) - centre)[:, None]
    s = np.arange(p.shape[0]) - p.shape[0] // 2
    result = np.zeros((n, n))
    for column, angle in zip(p.T, np.deg2rad(degrees)):
        at = x * math.cos(angle) + y * math.sin(angle)
        if interp == "linear":
            result += np.interp(at, s, column, left=0, right=0)
        else:
            place = rha(at).astype(int) - s[0]
            inside = (place >= 0) & (place < len(s))
            result += np.where(inside, column[np.clip(place, 0, len(s) - 1)], 0)
    return result * np.pi / (2 * len(degrees))
