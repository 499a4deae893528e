"""CuPy: cupyx.scipy.ndimage, its array functions, and element-wise kernels as its users write."""
import cupy
import cupyx.scipy.ndimage as ndi
import numpy as np

from peers import Call
from peers.clocks import CupyClock
from peers.table import AFFINE, KERNEL, KERNEL_SUM, colour, unit


def disk(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return x * x + y * y <= radius * radius


class Peer:
    where = "cuda"

    def __init__(self):
        cupy.zeros(1).sum().item()  # fails where there is no card
        self.clock = CupyClock()
        self.stretch_bytes = cupy.ElementwiseKernel(
            "uint8 x", "uint8 y",
            "y = (unsigned char)rintf(fminf(fmaxf((x / 255.f - .2f) / .6f, 0.f), 1.f) * 255.f)",
            "peers_stretch_bytes")
        self.stretch_floats = cupy.ElementwiseKernel(
            "float32 x", "float32 y", "y = fminf(fmaxf((x - .2f) / .6f, 0.f), 1.f)",
            "peers_stretch_floats")
        self.sum_bytes = cupy.ElementwiseKernel(
            "uint8 x, uint8 z", "uint8 y", "y = (unsigned char)rintf(.5f * x + .3f * z)",
            "peers_sum_bytes")
        self.sum_floats = cupy.ElementwiseKernel(
            "float32 x, float32 z", "float32 y", "y = .5f * x + .3f * z", "peers_sum_floats")

    def version(self):
        return f"CuPy {cupy.__version__}, runtime {cupy.cuda.runtime.runtimeGetVersion()}"

    def put(self, array):
        return cupy.asarray(array)

    def get(self, result):
        return cupy.asnumpy(result)

    def calls(self, kind):
        if kind == "mask":
            return {"label": Call(lambda a, b: ndi.label(a, np.ones((3, 3)))[0], graph=False),
                    "distance": Call(lambda a, b: ndi.distance_transform_edt(~a), graph=False),
                    "fill holes of a mask": Call(lambda a, b: ndi.binary_fill_holes(a),
                                                 note="background by sides alone", graph=False)}
        if kind in ("labels", "relief"):
            return {}
        calls = {**self._filters(kind), **self._points(kind), **self._geometry(kind)}
        if not colour(kind):
            calls.update(self._gray(kind))
        return calls

    def _filters(self, kind):
        def size(rows):
            return (rows, rows, 1) if colour(kind) else (rows, rows)

        def sigmas(sigma):
            return (sigma, sigma, 0) if colour(kind) else sigma

        def opening(a, side):
            low = ndi.minimum_filter(a, size(side), mode="nearest")
            return ndi.maximum_filter(low, size(side), mode="nearest")

        weights = cupy.asarray((KERNEL / KERNEL_SUM).astype(np.float32))
        weights = weights[:, :, None] if colour(kind) else weights
        flat = disk(5)[:, :, None] if colour(kind) else disk(5)
        round5 = cupy.asarray(flat)
        calls = {f"median {k}x{k}": Call(
            lambda a, b, k=k: ndi.median_filter(a, size=size(k), mode="nearest"))
            for k in (3, 5, 7, 15)}
        # Sums of bytes are rounded or cut off once a pass.
        calls.update({f"gaussian, sigma {s}": Call(
            lambda a, b, s=s: ndi.gaussian_filter(a, sigmas(s), mode="nearest", truncate=2),
            off=2 if unit(kind) == "u8" else None) for s in (1, 2, 5)})
        calls.update({
            "box 9x9": Call(lambda a, b: ndi.uniform_filter(a, size(9), mode="nearest"),
                            off=2 if unit(kind) == "u8" else None),
            "filter 7x7": Call(lambda a, b: ndi.correlate(a, weights, mode="reflect")),
            "dilate square 5": Call(
                lambda a, b: ndi.maximum_filter(a, size(5), mode="nearest")),
            "dilate square 31": Call(
                lambda a, b: ndi.maximum_filter(a, size(31), mode="nearest")),
            "dilate disk 5": Call(
                lambda a, b: ndi.maximum_filter(a, footprint=round5, mode="nearest")),
            "open square 15": Call(lambda a, b: opening(a, 15)),
        })
        return calls

    def _points(self, kind):
        stretch = self.stretch_bytes if unit(kind) == "u8" else self.stretch_floats
        added = self.sum_bytes if unit(kind) == "u8" else self.sum_floats
        return {"stretch": Call(lambda a, b: stretch(a)),
                "weighted sum of two": Call(lambda a, b: added(a, b)),
                "transpose": Call(
                    lambda a, b: cupy.ascontiguousarray(cupy.swapaxes(a, 0, 1)))}

    def _gray(self, kind):
        def sobel(a):
            values = a.astype(cupy.float32)
            return cupy.hypot(ndi.sobel(values, 1, mode="nearest"),
                              ndi.sobel(values, 0, mode="nearest"))

        def deviation(a, side=9):
            values = a.astype(cupy.float64)
            mean = ndi.uniform_filter(values, side, mode="reflect")
            squares = ndi.uniform_filter(values * values, side, mode="reflect")
            count = side * side
            return cupy.sqrt(cupy.maximum(squares - mean * mean, 0) * (count / (count - 1)))

        calls = {"sobel magnitude": Call(lambda a, b: sobel(a)),
                 "standard deviation 9x9": Call(lambda a, b: deviation(a)),
                 "mean": Call(lambda a, b: cupy.mean(a, dtype=cupy.float64))}
        if unit(kind) == "u8":
            calls["histogram"] = Call(
                lambda a, b: cupy.bincount(a.ravel(), minlength=256), graph=False)
        return calls

    def _geometry(self, kind):
        def zoomed(factor, order):
            zoom = (factor, factor, 1) if colour(kind) else factor
            return lambda a, b: ndi.zoom(a, zoom, order=order, mode="nearest", grid_mode=True)

        inverse = np.linalg.inv(np.vstack([AFFINE, [0, 0, 1]]))
        swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])  # rows before columns
        matrix = swap @ inverse @ swap
        if colour(kind):
            matrix = np.block([[matrix[:2, :2], np.zeros((2, 1)), matrix[:2, 2:]],
                               [np.zeros((1, 2)), 1, 0], [np.zeros((1, 3)), 1]])
        return {
            "resize 2 bilinear": Call(zoomed(2, 1)),
            "resize 2 bicubic": Call(zoomed(2, 3), note="splines"),
            "rotate 30 bilinear": Call(
                lambda a, b: ndi.rotate(a, 30, reshape=False, order=1)),
            "affine warp bilinear": Call(
                lambda a, b: ndi.affine_transform(a, matrix, order=1)),
        }
