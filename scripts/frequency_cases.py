"""Makers of cases of Fourier transforms and of what is defined by them."""
import numpy as np

import definitions as d
import definitions_frequency as f
from case_table import maker, matrix_text, text
from strange_cases import CLASSES, image_of

COMPLEX = {"power": 2e-6, "log": 1e-4}
SWITCH = {True: "on", False: "off"}


def rounded_or(a, raw, tolerance):
    """Arguments of emit from the class on: within 1 at ties, or a tolerance."""
    cls = d.class_of(a)
    ties = np.mean(np.abs(np.mod(raw, 1) - 0.5) < 1e-3) if cls != "single" else 0
    return cls, tolerance if cls == "single" else "exact" if cls == "logical" else "round", ties


def kernel_of(case, size, most=9):
    """Positive weights, of sum 1 for the most part, no larger than an image of `size`."""
    rows, columns = [int(case.rng.integers(1, min(n, most) + 1)) for n in size]
    kernel = np.round(case.rng.random((rows, columns)) + 0.05, 3)
    return kernel, case.pick(1, float(f"{kernel.sum():g}"), float(f"{kernel.sum():g}"))


@maker("fft2", "ifft2")
def spectra(case, op):
    parts, shift = case.pick("complex", "magnitude", "power", "log"), case.pick(True, False)
    a = image_of(case, *CLASSES, wild=case.pick(True, False, False, False))
    if op == "ifft2":
        parts = case.pick(parts, "real")
        a = a[..., :2] if a.ndim == 3 else a
        a = a.astype(np.float32) if a.ndim == 3 else a
    with np.errstate(all="ignore"):
        result = (f.fft2 if op == "fft2" else f.ifft2)(a, parts, shift)
    case.emit(f"parts={parts};shift={SWITCH[shift]}", [a], result, "single", COMPLEX.get(parts, 1e-6),
              least_scale=0 if np.isfinite(result).all() else 1)


@maker("fft2")
def phases(case, op):
    """Of images whose frequencies are all well away from 0 and from the cut at pi."""
    size, shift = (case.pick(1, 2, 3, 5), case.pick(1, 2, 4, 5)), case.pick(True, False)
    while True:
        a = case.rng.integers(0, 256, size).astype(case.pick("uint8", "uint16", "float32"))
        spectrum = f.spectrum_of(a)
        if (np.abs(spectrum) > 1).all() and ((np.abs(spectrum.imag) > 1e-3) | (spectrum.imag == 0)).all():
            break
    case.emit(f"parts=phase;shift={SWITCH[shift]}", [a], f.fft2(a, "phase", shift), "single", 1e-6)


@maker("fftshift", "ifftshift")
def shifted(case, op):
    a = image_of(case, *CLASSES, wild=True)
    case.emit("", [a], d.each_plane(lambda p: f.fftshift(p, 1 if op == "fftshift" else -1), a),
              d.class_of(a), "exact")


@maker("dct2", "idct2")
def cosines(case, op):
    a = image_of(case, *CLASSES)
    result = d.each_plane(lambda p: f.dct2(p.astype(np.float64), op == "idct2"), a)
    case.emit("", [a], result, "single", 1e-6)


@maker("freqfilt")
def passed(case, op):
    a = case.image(case.pick(*CLASSES), channels=case.pick(1, 1, 3))
    kind, shape = case.pick("low", "high", "band", "stop"), case.pick("gaussian", "butterworth", "ideal")
    first = case.pick(0.05, 0.1, 0.25, case.real(0.01, 0.6, 3))
    cutoff = (first,) if kind in ("low", "high") else (first, round(first + case.real(0.01, 0.3), 3))
    boundary = case.pick("circular", "zeros", "symmetric")
    params = f"type={kind};shape={shape};cutoff={text(cutoff)};boundary={boundary}"
    order = case.pick(2, 1, 0.5, 10)
    params += f";order={order}" if shape == "butterworth" else ""
    with_margin(case, params, [a], lambda x: d.each_plane(
        lambda p: f.freqfilt(p, kind, shape, cutoff, order, boundary), x))


@maker("freqfilt")
def passed_by_image(case, op):
    a = case.image(case.pick(*CLASSES), channels=case.pick(1, 1, 3))
    h, shift = case.rng.random(a.shape[:2] + case.pick((), (2,))).astype(np.float32), case.pick(True, False)
    t = h if h.ndim == 2 else h[..., 0] + 1j * h[..., 1].astype(np.float64)
    t = f.fftshift(t, -1) if shift else t
    with_margin(case, f"h=input2;shift={SWITCH[shift]}", [a, h],
                lambda x: d.each_plane(lambda p: f.filtered(p, t), x))


def with_margin(case, params, inputs, result):
    """Logical images whose results lie at a half pass nothing on: they become uint8."""
    a = inputs[0]
    raw = result(a)
    if a.dtype == bool and (np.abs(raw - 0.5) < 1e-6).any():
        a = a.astype(np.uint8) * 255
        raw = result(a)
    expected = raw >= 0.5 if a.dtype == bool else d.cast(raw, d.class_of(a))
    case.emit(params, [a, *inputs[1:]], expected, *rounded_or(a, raw, 1e-5))


@maker("psf2otf")
def transfers(case, op):
    size = (case.pick(1, 5, 9, 16, 31), case.pick(1, 4, 12, 17))
    kernel, divisor = kernel_of(case, size)
    shift = case.pick(True, False)
    spectrum = f.psf2otf(kernel / divisor, size)
    parts = case.pick("complex", "magnitude", "power", "log")
    result = f.stacked(f.parted(f.fftshift(spectrum) if shift else spectrum, parts))
    case.emit(f"kernel={matrix_text(kernel, divisor)};size={text(size)};parts={parts};"
              f"shift={SWITCH[shift]}", [], result, "single", COMPLEX.get(parts, 1e-6))


@maker("deconvwnr", "deconvlucy")
def restored(case, op):
    a = image_of(case, "uint8", "uint16", "single")
    kernel, divisor = kernel_of(case, a.shape[:2])
    psf = f"psf={matrix_text(kernel, divisor)}"
    if op == "deconvwnr":
        nsr = case.pick(0.001, 0.01, 0.1, 1)
        raw = d.each_plane(lambda p: f.deconvwnr(p, kernel / divisor, nsr), a)
        case.emit(f"{psf};nsr={nsr}", [a], d.cast(raw, d.class_of(a)), *rounded_or(a, raw, 1e-5))
        return
    n, damping, accelerate = case.pick(1, 2, 3, 5, 10), case.pick(0, 0, 0.05, 0.3), case.pick(True, False)
    raw = d.each_plane(lambda p: f.deconvlucy(p, kernel / divisor, n, damping, accelerate), a)
    case.emit(f"{psf};n={n};damping={damping};accelerate={SWITCH[accelerate]}", [a],
              d.cast(raw, d.class_of(a)), *rounded_or(a, raw, 1e-3))


@maker("edgetaper")
def tapered(case, op):
    a = case.image(case.pick("uint8", "uint16", "single"), case.size(2), channels=case.pick(1, 3))
    kernel, _ = kernel_of(case, [n // 2 for n in a.shape[:2]])
    raw = d.each_plane(lambda p: f.edgetaper(p, kernel), a)
    case.emit(f"psf={matrix_text(kernel)}", [a], d.cast(raw, d.class_of(a)), *rounded_or(a, raw, 1e-5))


@maker("normxcorr2")
def correlated(case, op):
    cls, size = case.pick(*CLASSES), (case.pick(1, 2, 5, 17, 24), case.pick(1, 3, 8, 20))
    a = case.image(cls, size, levels=case.pick(None, 3))
    t = case.image(cls, (case.pick(1, 2, 4, 7, 30), case.pick(1, 2, 5, 6)))
    if min(size) > 4 and case.pick(True, False):
        t = a[1:4, 2:5]
    result, out = f.normxcorr2(a, t), case.pick("image", "peak")
    case.emit(f"out={out}", [a, t], result if out == "image" else f.correlation_peak(result, t)[None],
              "single" if out == "image" else "double", 2e-5)


@maker("imregcorr")
def registered(case, op):
    """Shifts whose peak is one alone, so that no rounding chooses between two."""
    while True:
        cls, size = case.pick("uint8", "uint16", "single"), (case.pick(5, 16, 31), case.pick(4, 9, 40))
        a = case.rng.random(size)
        b = np.roll(a, case.rng.integers(-9, 10, 2), (0, 1)) + case.pick(0, 0.1) * case.rng.random(size)
        a, b = [d.cast(x * 0.9 * d.WHITE[cls], cls) for x in (a, b)]
        window, steps = case.pick("none", "hann"), case.pick(1, 1, 2, 10, 100)
        found = f.imregcorr(a, b, window, steps)
        near = f.imregcorr(a, d.cast(b.astype(np.float64) * (1 + 1e-6), "single"), window, steps)
        if np.array_equal(found[:2], near[:2]) and (found[:2] != 0).any():
            break
    case.emit(f"window={window};subpixel={steps}", [a, b], found[None], "double", 1e-4)
