"""Colour spaces and local statistics in plain numpy and double precision: a second opinion.

Written from the definitions, not from the program. Colour images are arrays [rows, columns, 3]; what
takes and gives other classes says so. See definitions.py.
"""
import math

import numpy as np

import definitions as d

XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169],
                [0.019334, 0.119193, 0.950227]])
RGB = np.array([[3.240479, -1.537150, -0.498535], [-0.969256, 1.875992, 0.041556],
                [0.055648, -0.204043, 1.057311]])
D65 = np.array([0.95047, 1, 1.08883])
LUMA = {601: (0.299, 0.114), 709: (0.2126, 0.0722), 2020: (0.2627, 0.0593)}


# --- colour

def rgb2hsv(a):
    u = d.unit(a)
    r, g, b = np.moveaxis(u, 2, 0)
    v, low = u.max(axis=2), u.min(axis=2)
    delta = v - low
    with np.errstate(all="ignore"):
        h = np.where(v == r, (g - b) / delta / 6,
                     np.where(v == g, 1 / 3 + (b - r) / delta / 6, 2 / 3 + (r - g) / delta / 6))
        s = np.where((delta == 0) | (v == 0), 0, 1 - low / v)
    h = np.where(delta == 0, 0, h)
    return np.stack([np.where(h < 0, h + 1, h), s, v], axis=2)


def hsv2rgb(a):
    h, s, v = np.moveaxis(d.unit(a), 2, 0)
    h = np.mod(h, 1)
    i = np.floor(6 * h).astype(int)
    f = 6 * h - i
    p, q, t = v * (1 - s), v * (1 - s * f), v * (1 - s * (1 - f))
    choices = [(v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q)]
    return np.stack([np.choose(np.minimum(i, 5), [c[k] for c in choices]) for k in range(3)], axis=2)


def to_light(u):
    x = np.abs(u)
    return np.sign(u) * np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def from_light(l):
    x = np.abs(l)
    return np.sign(l) * np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def rgb2xyz(a):
    u = d.unit(a)
    light = np.where(u <= 0.04045, u / 12.92, ((np.maximum(u, 0) + 0.055) / 1.055) ** 2.4)
    return light @ XYZ.T


def xyz2rgb(a):
    light = a.astype(np.float64) @ RGB.T
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


def rgb2lab(a):
    t = rgb2xyz(a) / D65
    f = np.where(t <= (6 / 29) ** 3, (29 / 3) ** 3 / 116 * t + 16 / 116, np.cbrt(t))
    fx, fy, fz = np.moveaxis(f, 2, 0)
    return np.stack([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)], axis=2)


def lab2rgb(a):
    lightness, across, along = np.moveaxis(a.astype(np.float64), 2, 0)
    fy = (lightness + 16) / 116
    f = np.stack([fy + across / 500, fy, fy - along / 200], axis=2)
    t = np.where(f ** 3 > (6 / 29) ** 3, f ** 3, (f - 16 / 116) / ((29 / 3) ** 3 / 116))
    return xyz2rgb(t * D65)


def ycbcr_matrix(standard):
    red, blue = LUMA[standard]
    green = 1 - red - blue
    return np.array([[red, green, blue],
                     [-red / (2 - 2 * blue), -green / (2 - 2 * blue), 0.5],
                     [0.5, -green / (2 - 2 * red), -blue / (2 - 2 * red)]])


YCBCR_SCALE = np.array([219, 224, 224]) / 255
YCBCR_SHIFT = np.array([16, 128, 128]) / 255


def rgb2ycbcr(a, standard):
    return (d.unit(a) @ ycbcr_matrix(standard).T) * YCBCR_SCALE + YCBCR_SHIFT


def ycbcr2rgb(a, standard):
    return ((d.unit(a) - YCBCR_SHIFT) / YCBCR_SCALE) @ np.linalg.inv(ycbcr_matrix(standard)).T


def ind2rgb(a, table):
    rows = a.astype(int) if a.dtype != np.float32 else d.rha(a.astype(np.float64)).astype(int) - 1
    return np.asarray(table)[np.clip(rows, 0, len(table) - 1)]


# --- means and deviations of neighbourhoods

def box_mean(x, size, border, value=0.0):
    return d.correlate(x, np.full(size, 1.0), border, value) / (size[0] * size[1])


def box_covariance(x, y, size, border):
    """Counted from the means of the images: double, too, loses what little stands beside much."""
    dx, dy = x.mean(), y.mean()
    p, q = x - dx, y - dy
    return (box_mean(p * q, size, border, dx * dy)
            - box_mean(p, size, border, -dx) * box_mean(q, size, border, -dy))


def stdfilt(a, domain):
    values = d.window_values(a, domain, "symmetric", 0)
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(a.shape)


def rangefilt(a, domain):
    values = d.window_values(a, domain, "symmetric", 0)
    return values.max(axis=0) - values.min(axis=0)


def entropyfilt(a, domain):
    codes = a if a.dtype == bool else d.convert(a, "uint8")
    values = d.window_values(codes, domain, "symmetric", 0).astype(int)
    total = np.zeros(a.shape)
    for code in np.unique(codes):
        p = (values == int(code)).sum(axis=0) / len(values)
        total -= np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0)
    return total


def imbilatfilt(a, smoothing, sigma, size):
    x, r = a.astype(np.float64), size // 2
    total, weights = np.zeros(x.shape), np.zeros(x.shape)
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            q = d.shifted(x, dy, dx, "replicate")
            w = math.exp(-(dy * dy + dx * dx) / (2 * sigma ** 2)) * np.exp(-(q - x) ** 2 / (2 * smoothing))
            total, weights = total + w * q, weights + w
    return total / weights


def imguidedfilter(p, guide, size, smoothing):
    g, p = guide.astype(np.float64), p.astype(np.float64)

    def mean(x):
        return box_mean(x, size, "replicate")
    a = (box_covariance(g, p, size, "replicate")
         / (box_covariance(g, g, size, "replicate") + smoothing))
    b = mean(p) - a * mean(g)
    return mean(a) * g + mean(b)


def wiener2(a, size, noise):
    u = d.unit(a)
    m = box_mean(u, size, "constant")
    v = box_covariance(u, u, size, "constant")
    noise = v.mean() if noise is None else noise
    with np.errstate(all="ignore"):
        part = np.where(np.maximum(v, noise) > 0, np.maximum(0, v - noise) / np.maximum(v, noise), 0)
    return (m + part * (u - m)) * d.WHITE[d.class_of(a)]


def sharpened(u, radius, amount, threshold):
    side = 2 * math.ceil(2 * radius) + 1
    g = u - d.correlate(u, d.gaussian(side, side, radius), "replicate")
    if threshold > 0:
        g = np.where(np.abs(g) <= threshold * np.abs(g).max(), 0, g)
    return u + amount * g


def imsharpen(a, radius, amount, threshold):
    if a.ndim == 2:
        return sharpened(d.unit(a), radius, amount, threshold) * d.WHITE[d.class_of(a)]
    lab = rgb2lab(a)
    lab[..., 0] = sharpened(lab[..., 0] / 100, radius, amount, threshold) * 100
    return lab2rgb(lab) * d.WHITE[d.class_of(a)]


# --- histograms

def clipped(h, limit, bins):
    """A tile's counts, cut off at the limit and given to the others."""
    h = [int(v) for v in h]
    excess = sum(max(v - limit, 0) for v in h)
    more = excess // bins
    upper = limit - more
    for m in range(bins):
        if h[m] > limit:
            h[m] = limit
        elif h[m] > upper:
            excess -= limit - h[m]
            h[m] = limit
        else:
            excess -= more
            h[m] += more
    k = 0
    while excess > 0:
        step = max(bins // excess, 1)
        for m in range(k, bins, step):
            if h[m] < limit:
                h[m] += 1
                excess -= 1
                if excess == 0:
                    break
        k = (k + 1) % bins
    return np.array(h)


def framed_for_tiles(a, tiles):
    by = []
    for n, count in zip(a.shape, tiles):
        more = -n % count
        if ((n + more) // count) % 2:
            more += count
        by.append((more // 2, more - more // 2))
    rows = d.outside(np.arange(-by[0][0], a.shape[0] + by[0][1]), a.shape[0], "symmetric")
    columns = d.outside(np.arange(-by[1][0], a.shape[1] + by[1][1]), a.shape[1], "symmetric")
    return a[np.ix_(rows, columns)], by[0][0], by[1][0]


def between_tiles(length, side, tiles):
    """(first tile, second tile, weight of the second, of how many) of each place."""
    y = np.arange(length)
    k = (y + side // 2) // side
    w = np.where(k == 0, y, (y + side // 2) % side)
    return (np.clip(k - 1, 0, tiles - 1), np.clip(k, 0, tiles - 1), w,
            np.where(k == 0, side // 2, side))


def adapthisteq(a, tiles, clip, bins):
    cls, white = d.class_of(a), d.WHITE[d.class_of(a)]
    x, top, left = framed_for_tiles(a, tiles)
    values = np.where(np.isnan(x.astype(np.float64)), 0, x.astype(np.float64))
    bin_of = np.floor(np.clip(values, 0, white) * (bins - 1) / white + 0.5).astype(int)
    th, tw = x.shape[0] // tiles[0], x.shape[1] // tiles[1]
    n = th * tw
    least = -(-n // bins)
    limit = least + int(d.rha(np.float64(clip * (n - least))))
    maps = np.zeros((*tiles, bins))
    for i in range(tiles[0]):
        for j in range(tiles[1]):
            tile = bin_of[i * th:(i + 1) * th, j * tw:(j + 1) * tw]
            h = clipped(np.bincount(tile.reshape(-1), minlength=bins), limit, bins)
            maps[i, j] = np.minimum(np.cumsum(h) * (white / n), white)
    if cls != "single":
        maps = d.rha(maps)
    uy, ly, wy, ny = [v[:, None] for v in between_tiles(x.shape[0], th, tiles[0])]
    ux, lx, wx, nx = [v[None, :] for v in between_tiles(x.shape[1], tw, tiles[1])]
    mixed = ((ny - wy) * ((nx - wx) * maps[uy, ux, bin_of] + wx * maps[uy, lx, bin_of]) +
             wy * ((nx - wx) * maps[ly, ux, bin_of] + wx * maps[ly, lx, bin_of])) / (ny * nx)
    return mixed[top:top + a.shape[0], left:left + a.shape[1]]


def imhistmatch(a, reference, bins):
    nn, hg = d.imhist(a, 256), d.imhist(reference, bins)
    total = nn.sum()
    cd, cum = np.cumsum(hg * total / hg.sum()), np.cumsum(nn)
    table = np.zeros(256)
    for k in range(256):
        tol = nn[k] / 2 if 0 < k < 255 else 0
        error = (cd - cum[k]) + tol
        error = np.where(error < -total * 2.0 ** -26, total, error)
        table[k] = int(np.argmin(error)) / (bins - 1)
    white = d.WHITE[d.class_of(a)]
    x = np.clip(a.astype(np.float64), 0, white)
    return table[np.floor(x * 255 / white + 0.5).astype(int)] * white


def multithresh(a, n):
    x = a.astype(np.float64)
    x = x[~np.isnan(x)]
    lo, hi = x.min(), x.max()
    if lo == hi:
        return np.full(n, lo)
    h = np.bincount(np.floor((x - lo) * 255 / (hi - lo) + 0.5).astype(int), minlength=256)
    count = np.concatenate([[0], np.cumsum(h)])
    first = np.concatenate([[0], np.cumsum(h * np.arange(256))])

    def gain(a, b):  # of a class of bins a .. b - 1
        return 0.0 if count[a] == count[b] else (first[b] - first[a]) ** 2 / (count[b] - count[a])
    gains = np.array([[gain(a, b) if a < b else -np.inf for b in range(257)] for a in range(257)])
    best = [gains[:, 256]]  # best[k][a]: of the bins from a on, with k cuts
    for _ in range(n):
        best.append(np.array([max(gains[a, b] + best[-1][b] for b in range(a, 257)) if a < 256
                              else -np.inf for a in range(257)]))
    cuts, start = [], 0
    for left in range(n, 0, -1):
        sums = [gains[start, b] + best[left - 1][b] for b in range(start, 257)]
        start += int(np.argmax(np.array(sums) >= max(sums) * (1 - 1e-12)))
        cuts.append(start)
    thresholds = []
    for c in cuts:
        empty = 0
        while c + empty < 256 and h[c + empty] == 0:
            empty += 1
        thresholds.append(lo + (c - 1 + empty / 2) / 255 * (hi - lo))
    return np.array(thresholds) if a.dtype == np.float32 else d.rha(np.array(thresholds))


# --- two images

def psnr(a, b):
    mse = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    return math.inf if mse == 0 else 10 * math.log10(d.WHITE[d.class_of(a)] ** 2 / mse)


def corr2(a, b):
    x, y = a.astype(np.float64), b.astype(np.float64)
    x, y = x - x.mean(), y - y.mean()
    if not x.any() or not y.any():
        return math.nan
    return (x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum())


def ssim(a, b, radius):
    white, side = d.WHITE[d.class_of(a)], 2 * math.ceil(3 * radius) + 1
    g = d.gaussian(side, side, radius)
    x, y = a.astype(np.float64), b.astype(np.float64)

    def mean(v):
        return d.correlate(v, g, "replicate")
    mx, my = mean(x), mean(y)
    p, q = x - x.mean(), y - y.mean()  # see box_covariance
    sx, sy = mean(p * p) - mean(p) ** 2, mean(q * q) - mean(q) ** 2
    sxy = mean(p * q) - mean(p) * mean(q)
    c1, c2 = (0.01 * white) ** 2, (0.03 * white) ** 2
    return ((2 * mx * my + c1) * (2 * sxy + c2) / ((mx ** 2 + my ** 2 + c1) * (sx + sy + c2))).mean()
