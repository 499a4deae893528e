"""Moved and resized images in plain numpy and double precision: a second opinion.

Written from the definitions, not from the program. Each function works on one plane and gives reals;
see definitions.py.
"""
import math

import numpy as np

import definitions as d


def keys(h):
    h = np.abs(h)
    return np.where(h <= 1, 1.5 * h ** 3 - 2.5 * h ** 2 + 1,
                    np.where(h <= 2, -0.5 * h ** 3 + 2.5 * h ** 2 - 4 * h + 2, 0))


def sampled(p, v, u, method, border, fill=0.0):
    """Values at rows v and columns u; `border` says what stands outside the image."""
    def at(r, c):
        r, c = d.outside(r, p.shape[0], border), d.outside(c, p.shape[1], border)
        return np.where((r < 0) | (c < 0), fill, p[np.maximum(r, 0), np.maximum(c, 0)])
    if method == "nearest":
        return at(np.floor(v + 0.5).astype(int), np.floor(u + 0.5).astype(int))
    r, c = np.floor(v).astype(int), np.floor(u).astype(int)
    taps, weight = (range(2), lambda h: 1 - np.abs(h)) if method == "bilinear" else (range(-1, 3), keys)
    total = np.zeros(v.shape)
    for i in taps:
        for j in taps:
            total = total + weight(v - r - i) * weight(u - c - j) * at(r + i, c + j)
    return total


def imrotate(p, angle, method, loose, fill):
    rows, columns = p.shape
    quarters = angle % 360 / 90
    if quarters == int(quarters) and (loose or quarters % 2 == 0 or rows == columns):
        return np.rot90(p, int(quarters)).astype(np.float64)
    t = math.radians(angle % 360)
    exact = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (-1.0, 0.0), 3: (0.0, -1.0)}
    cosine, sine = exact.get(quarters, (math.cos(t), math.sin(t)))
    m, n = rows, columns
    if loose:
        m = int(d.rha(np.float64((columns - 1) * abs(sine) + (rows - 1) * abs(cosine)))) + 1
        n = int(d.rha(np.float64((columns - 1) * abs(cosine) + (rows - 1) * abs(sine)))) + 1
    down = (np.arange(m) - (m - 1) / 2)[:, None]
    across = (np.arange(n) - (n - 1) / 2)[None, :]
    x = cosine * across - sine * down + (columns - 1) / 2
    y = sine * across + cosine * down + (rows - 1) / 2
    beyond = 0.5 if method == "bicubic" else 0
    inside = ((x >= -beyond) & (x <= columns - 1 + beyond) & (y >= -beyond) & (y <= rows - 1 + beyond))
    x, y = np.where(inside, x, 0), np.where(inside, y, 0)
    return np.where(inside, sampled(p.astype(np.float64), y, x, method, "symmetric"), fill)


def imtranslate(p, x, y, method, full, fill):
    rows, columns = p.shape
    left, right, top, bottom = 0, columns, 0, rows
    if full:
        left, right = math.floor(min(0, x)), columns + max(0, math.ceil(x))
        top, bottom = math.floor(min(0, y)), rows + max(0, math.ceil(y))
    v, u = np.meshgrid(np.arange(top, bottom) - y, np.arange(left, right) - x, indexing="ij")
    return sampled(p.astype(np.float64), v, u, method, "constant", fill)


def lanczos(k):
    eps = 2.0 ** -52

    def value(x):
        up = np.sin(np.pi * x) * np.sin(np.pi * x / k) + eps
        return np.where(np.abs(x) < k, up / (np.pi ** 2 * x ** 2 / k + eps), 0)
    return value


def resized_axis(x, out, kernel, width, antialiasing):
    """Down the columns, weights divided by their sum."""
    n = x.shape[0]
    s = out / n
    if s == 1:
        return x
    scale = s if s < 1 and antialiasing else 1.0
    w = width / scale
    j = np.arange(1, out + 1)
    u = j / s + (1 - 1 / s) / 2
    places = np.floor(u - w / 2)[:, None] + np.arange(math.ceil(w) + 2)[None, :]
    weights = scale * kernel(scale * (u[:, None] - places))
    weights = weights / weights.sum(axis=1, keepdims=True)
    index = d.outside(places.astype(int) - 1, n, "symmetric")
    return np.einsum("ot,otc->oc", weights, x[index])


def imresize(p, size, method, antialiasing):
    """lanczos2, lanczos3: columns first, that is along rows."""
    k = int(method[-1])
    x = resized_axis(p.astype(np.float64).T, size[1], lanczos(k), 2 * k, antialiasing).T
    return resized_axis(x, size[0], lanczos(k), 2 * k, antialiasing)


def projected(p, matrix, method, size, fill):
    """Value at the place that the map (x, y, 1) -> places leads from."""
    inverse = np.linalg.inv(matrix)
    y, x = np.mgrid[:size[0], :size[1]].astype(np.float64)
    u, v, w = [row[0] * x + row[1] * y + row[2] for row in inverse]
    return sampled(p.astype(np.float64), v / w, u / w, method, "constant", fill)
