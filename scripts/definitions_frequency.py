"""Fourier transforms and what is defined by them, in plain numpy and double precision.

Written from the definitions, not from the program. Functions of one plane give reals that are not yet
cast; see definitions.py.
"""
import numpy as np

import definitions as d

EPS = 2.0 ** -52


def parted(spectrum, parts):
    """A list of planes: two of complex numbers, else one."""
    if parts == "complex":
        return [spectrum.real, spectrum.imag]
    size = np.abs(spectrum)
    return [{"real": lambda: spectrum.real, "magnitude": lambda: size,
             "power": lambda: spectrum.real ** 2 + spectrum.imag ** 2, "log": lambda: np.log1p(size),
             "phase": lambda: np.arctan2(spectrum.imag + 0.0, spectrum.real)}[parts]()]


def spectrum_of(p):
    """fft2 of a real plane: without imaginary part at frequencies that are their own conjugates."""
    if not np.isfinite(p).all():
        return np.full(p.shape, complex(np.nan, np.nan))
    spectrum = np.fft.fft2(p.astype(np.float64))
    rows, columns = p.shape
    for r in {0, rows // 2} if rows % 2 == 0 else {0}:
        for c in {0, columns // 2} if columns % 2 == 0 else {0}:
            spectrum[r, c] = complex(spectrum[r, c].real, 0.0)
    return spectrum


def stacked(planes):
    return planes[0] if len(planes) == 1 else np.stack(planes, axis=-1)


def planes_of(a):
    return [a] if a.ndim == 2 else list(np.moveaxis(a, 2, 0))


def fftshift(p, sign=1):
    rows, columns = p.shape
    return np.roll(p, (sign * (rows // 2), sign * (columns // 2)), (0, 1))


def fft2(a, parts="complex", shift=False):
    spectra = [spectrum_of(p) for p in planes_of(a)]
    spectra = [fftshift(f) for f in spectra] if shift else spectra
    return stacked([part for f in spectra for part in parted(f, parts)])


def ifft2(a, parts="real", shift=False):
    planes = [p.astype(np.float64) for p in planes_of(a)]
    if len(planes) > 1:
        planes = [re + 1j * im for re, im in zip(planes[::2], planes[1::2])]
    planes = [p if np.isfinite(p).all() else np.full(p.shape, complex(np.nan, np.nan)) for p in planes]
    planes = [fftshift(p, -1) for p in planes] if shift else planes
    return stacked([part for p in planes for part in parted(np.fft.ifft2(p), parts)])


def cosines(n):
    k, j = np.mgrid[:n, :n]
    m = np.sqrt(2 / n) * np.cos(np.pi * k * (2 * j + 1) / (2 * n))
    m[0] /= np.sqrt(2)
    return m


def dct2(p, inverse=False):
    down, across = cosines(p.shape[0]), cosines(p.shape[1])
    return down.T @ p @ across if inverse else down @ p @ across.T


def frequencies(n):
    """Cycles per pixel."""
    return np.array([k / n if k < (n + 1) // 2 else (k - n) / n for k in range(n)])


def low_pass(size, shape, f, order):
    fy, fx = frequencies(size[0])[:, None], frequencies(size[1])[None, :]
    distance = np.sqrt(fy ** 2 + fx ** 2)
    if shape == "gaussian":
        return np.exp(-distance ** 2 / (2 * f ** 2))
    if shape == "butterworth":
        with np.errstate(over="ignore"):
            return 1 / (1 + (distance / f) ** (2 * order))
    return (distance <= f) * 1.0


def transfer(size, kind, shape, cutoff, order):
    first = low_pass(size, shape, cutoff[0], order)
    if kind in ("low", "high"):
        return first if kind == "low" else 1 - first
    band = low_pass(size, shape, cutoff[1], order) * (1 - first)
    return band if kind == "band" else 1 - band


def filtered(p, t):
    return np.fft.ifft2(np.fft.fft2(p.astype(np.float64)) * t).real


def freqfilt(p, kind, shape, cutoff, order, boundary):
    rows, columns = p.shape
    if boundary == "circular":
        return filtered(p, transfer(p.shape, kind, shape, cutoff, order))
    large = np.zeros((2 * rows, 2 * columns))
    large[:rows, :columns] = p
    if boundary == "symmetric":
        large[rows:, :columns] = p[::-1]
        large[:, columns:] = large[:, columns - 1::-1]
    return filtered(large, transfer(large.shape, kind, shape, cutoff, order))[:rows, :columns]


def psf2otf(kernel, size):
    kernel = np.atleast_2d(kernel)
    large = np.zeros(size)
    large[:kernel.shape[0], :kernel.shape[1]] = kernel
    return np.fft.fft2(np.roll(large, (-(kernel.shape[0] // 2), -(kernel.shape[1] // 2)), (0, 1)))


def deconvwnr(p, psf, nsr):
    t = psf2otf(psf, p.shape)
    return filtered(d.unit(p), np.conj(t) / np.maximum(np.abs(t) ** 2 + nsr, 2.0 ** -26)) * d.WHITE[
        d.class_of(p)]


def deconvlucy(p, psf, n, damping, accelerate):
    u, t = d.unit(p), psf2otf(psf, p.shape)
    back = np.conj(t)
    w, j, before = np.maximum(u, 0), u, np.zeros(p.shape)
    g1, g2 = np.zeros(p.shape), np.zeros(p.shape)
    s = filtered(np.ones(p.shape), back) + 2.0 ** -26
    dd = damping ** 2 / 2
    for k in range(1, n + 1):
        step = np.clip((g1 * g2).sum() / ((g2 ** 2).sum() + EPS), 0, 1) if k > 2 and accelerate else 0
        y = np.maximum(j + step * (j - before), 0)
        b = filtered(y, t)
        b = np.where(b == 0, EPS, b)
        e = w / b + EPS
        if damping > 0:
            g = np.minimum((w * np.log(e) + b - w) / dd, 1)
            e = 1 + g ** 9 * (10 - 9 * g) * (e - 1)
        before = j
        j = np.maximum(y * filtered(e, back) / s, 0)
        g2 = g1
        g1 = j - y
    return j * d.WHITE[d.class_of(p)]


def taper(n, psf, axis):
    """beta of a dimension of n pixels."""
    if psf.shape[axis] == 1:
        return np.zeros(n)
    z = np.fft.ifft(np.abs(np.fft.fft(psf.sum(1 - axis), n - 1)) ** 2).real
    z = np.append(z, z[0])
    return z / z.max()


def edgetaper(p, psf):
    psf = np.atleast_2d(psf) / np.sum(psf)
    x = p.astype(np.float64)
    blurred = filtered(x, psf2otf(psf, p.shape))
    alpha = np.outer(1 - taper(p.shape[0], psf, 0), 1 - taper(p.shape[1], psf, 1))
    return np.clip(alpha * x + (1 - alpha) * blurred, x.min(), x.max())


def normxcorr2(p, t):
    """Loops over the windows."""
    (rows, columns), (h, w) = p.shape, t.shape
    x = np.pad(p.astype(np.float64), ((h - 1, h - 1), (w - 1, w - 1)))
    t = t.astype(np.float64) - t.mean(dtype=np.float64)
    of_template = 0 if (t == t.flat[0]).all() else (t ** 2).sum()
    least = 1e-10 * h * w * float(np.abs(p).max()) ** 2 if d.class_of(p) == "single" else 0
    result = np.zeros((rows + h - 1, columns + w - 1))
    for r in range(result.shape[0]):
        for c in range(result.shape[1]):
            window = x[r:r + h, c:c + w]
            if (window == window[0, 0]).all() or of_template == 0:
                continue
            spread = ((window - window.mean()) ** 2).sum()
            if spread > least:
                result[r, c] = (window * t).sum() / np.sqrt(spread * of_template)
    return np.clip(result, -1, 1)


def correlation_peak(c, template):
    c = np.round(c, 6)
    r, q = np.unravel_index(np.argmax(c), c.shape)
    return np.array([q - (template.shape[1] - 1), r - (template.shape[0] - 1), c[r, q]], float)


def imregcorr(a, b, window, steps):
    rows, columns = a.shape
    a, b = a.astype(np.float64), b.astype(np.float64)
    if window == "hann":
        w = [0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n) for n in a.shape]
        a, b = a * np.outer(*w), b * np.outer(*w)
    c = np.conj(np.fft.fft2(a)) * np.fft.fft2(b)
    c = c / np.maximum(np.abs(c), 1e-10 * np.abs(c).max())
    p = np.fft.ifft2(c).real
    r, q = np.unravel_index(np.argmax(p), p.shape)
    dy, dx = r if r <= rows // 2 else r - rows, q if q <= columns // 2 else q - columns
    if steps == 1:
        return np.array([dx, dy, p[r, q]], float)
    side = int(np.ceil(1.5 * steps))
    at = np.arange(side) - side // 2
    fy, fx = frequencies(rows), frequencies(columns)
    down = np.exp(2j * np.pi * np.outer(dy + at / steps, fy))
    across = np.exp(2j * np.pi * np.outer(fx, dx + at / steps))
    fine = np.abs(down @ c @ across) / (rows * columns)
    r, q = np.unravel_index(np.argmax(fine), fine.shape)
    # As scikit-image has it, there is no part of a pixel along a side of one.
    dx += at[q] / steps * (columns > 1)
    dy += at[r] / steps * (rows > 1)
    return np.array([dx, dy, fine[r, q]], float)
