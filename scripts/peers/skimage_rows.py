"""The rows of scikit-image's interface, which cuCIM has on the card as well."""
import math

import numpy as np

from peers import Call
from peers.table import AFFINE, BILATERAL, BILATERAL_SIGMA, HEIGHT, colour, unit

PROPERTIES = ("label", "area", "centroid", "bbox", "equivalent_diameter_area",
              "axis_major_length", "axis_minor_length", "eccentricity", "orientation", "perimeter",
              "extent", "solidity", "euler_number")


class SkimageRows:
    """lib has the packages (filters, morphology, ...) as attributes, ndi is scipy.ndimage or
    CuPy's, xp NumPy or CuPy; distance: the exact Euclidean distance transform."""

    def __init__(self, lib, xp, ndi, distance, on_card):
        self.lib, self.xp, self.ndi, self.distance = lib, xp, ndi, distance
        self.on_card = on_card

    def calls(self, kind):
        if kind == "mask":
            return self._of_masks()
        if kind == "labels":
            table = self.lib.measure.regionprops_table
            more = {"copy_output_to_host": True} if self.on_card else {}
            return {"regionprops of 10,000": Call(
                lambda a, b: table(a, properties=PROPERTIES, **more),
                see=lambda found: found["area"], graph=False)}
        if kind == "relief":
            return self._of_reliefs()
        calls = {**self._filters(kind), **self._morphology(kind), **self._geometry(kind)}
        calls.update(self._colours(kind) if colour(kind) else self._gray(kind))
        return calls

    def _of_masks(self):
        lib = self.lib
        return {
            "label": Call(lambda a, b: lib.measure.label(a, connectivity=2), graph=False),
            "distance": Call(lambda a, b: self.distance(~a), graph=False),
            "fill holes of a mask": Call(lambda a, b: self.ndi.binary_fill_holes(a),
                                         note="background by sides alone", graph=False),
            "thin": Call(lambda a, b: lib.morphology.thin(a), note="another order of its passes",
                         graph=False),
        }

    def _of_reliefs(self):
        if self.on_card:
            return {}
        watershed = self.lib.segmentation.watershed
        return {"watershed, 10,000 basins": Call(
            lambda a, b: watershed(a, connectivity=2, watershed_line=True),
            note="lines elsewhere")}

    def _filters(self, kind):
        lib = self.lib
        axis = -1 if colour(kind) else None

        def median(side):
            shape = (side, side, 1) if axis else (side, side)
            if self.on_card:
                return Call(lambda a, b: lib.filters.median(a, shape, mode="nearest"))
            return Call(lambda a, b: self.ndi.median_filter(a, size=shape, mode="nearest"))

        def gaussian(sigma):
            return Call(lambda a, b: lib.filters.gaussian(
                a, sigma, mode="nearest", truncate=2, preserve_range=True, channel_axis=axis))

        box = (9, 9, 1) if axis else (9, 9)
        calls = {f"median {k}x{k}": median(k) for k in (3, 5, 7, 15)}
        calls.update({f"gaussian, sigma {s}": gaussian(s) for s in (1, 2, 5)})
        calls["box 9x9"] = Call(lambda a, b: self.ndi.uniform_filter(a, size=box, mode="nearest"),
                                off=2 if unit(kind) == "u8" else None)
        if not self.on_card:
            near = math.sqrt(BILATERAL[unit(kind)])
            calls["bilateral 5x5"] = Call(
                lambda a, b: lib.restoration.denoise_bilateral(
                    a, win_size=5, sigma_color=near, sigma_spatial=BILATERAL_SIGMA, mode="edge",
                    channel_axis=axis), note="weights from a table, floats")
        return calls

    def _morphology(self, kind):
        lib, morphology = self.lib, self.lib.morphology
        if colour(kind):
            return {}

        def square(side):
            return morphology.footprint_rectangle((side, side), decomposition="separable")

        def disk(radius):
            return morphology.disk(radius)

        dilation, opening = morphology.dilation, morphology.opening
        small, large, wide = square(5), square(31), square(15)
        round5, round15 = disk(5), disk(15)
        calls = {
            "dilate square 5": Call(lambda a, b: dilation(a, small)),
            "dilate square 31": Call(lambda a, b: dilation(a, large)),
            "dilate disk 5": Call(lambda a, b: dilation(a, round5)),
            "open square 15": Call(lambda a, b: opening(a, wide)),
            "open disk 15": Call(lambda a, b: opening(a, round15)),
        }
        height = HEIGHT[unit(kind)]
        eight = self.xp.ones((3, 3), bool)

        def hmaxima(a):
            if unit(kind) == "u8":
                seed = a - self.xp.minimum(a, a.dtype.type(height))
            else:
                seed = self.xp.maximum(a - a.dtype.type(height), 0)
            return morphology.reconstruction(seed, a, footprint=eight)

        def holes(a):
            seed = self.xp.full_like(a, 255)
            seed[0], seed[-1], seed[:, 0], seed[:, -1] = a[0], a[-1], a[:, 0], a[:, -1]
            return morphology.reconstruction(seed, a, method="erosion")

        calls["h-maxima (reconstruction)"] = Call(lambda a, b: hmaxima(a), graph=False,
                                                  note="" if unit(kind) == "u8" else "clipped at 0")
        if unit(kind) == "u8":
            calls["regional maxima"] = Call(lambda a, b: morphology.local_maxima(a), graph=False)
            calls["fill holes of gray"] = Call(lambda a, b: holes(a), graph=False,
                                               note="background by sides and corners")
        return calls

    def _gray(self, kind):
        lib, xp = self.lib, self.xp
        white = 255 if unit(kind) == "u8" else 1.0

        def sobel(a):
            return lib.filters.sobel(a.astype(np.float32)) * np.float32(4 * math.sqrt(2))

        def deviation(a, side=9):
            values = a.astype(np.float32 if a.dtype == np.float32 else np.float64)
            count = side * side
            mean = self.ndi.uniform_filter(values, side, mode="reflect")
            squares = self.ndi.uniform_filter(values * values, side, mode="reflect")
            return xp.sqrt(xp.maximum(squares - mean * mean, 0) * (count / (count - 1)))

        def ssim(a, b):
            found = lib.metrics.structural_similarity(
                a, b, data_range=white, gaussian_weights=True, sigma=1.5,
                use_sample_covariance=False)
            return xp.asarray(found)

        calls = {
            "sobel magnitude": Call(lambda a, b: sobel(a)),
            "standard deviation 9x9": Call(lambda a, b: deviation(a)),
            "canny": Call(lambda a, b: lib.feature.canny(a, sigma=math.sqrt(2)),
                          note="other thresholds", graph=False),
            "ssim": Call(lambda a, b: ssim(a, b), note="leaves out a frame", graph=False),
            "mean": Call(lambda a, b: xp.mean(a, dtype=np.float64)),
        }
        if unit(kind) == "u8":
            exposure = lib.exposure
            calls.update({
                "histogram": Call(lambda a, b: exposure.histogram(a, source_range="dtype")[0],
                                  graph=False),
                "equalise": Call(lambda a, b: exposure.equalize_hist(a), note="256 levels",
                                 graph=False),
                "clahe": Call(lambda a, b: exposure.equalize_adapthist(a, clip_limit=0.01),
                              note="frames tiles in another way", graph=False),
                "otsu's threshold": Call(
                    lambda a, b: xp.asarray(lib.filters.threshold_otsu(a) / 255), graph=False),
            })
        return calls

    def _colours(self, kind):
        color = self.lib.color
        return {"rgb to gray": Call(lambda a, b: color.rgb2gray(a), note="other weights, floats"),
                "rgb to hsv": Call(lambda a, b: color.rgb2hsv(a)),
                "rgb to lab": Call(lambda a, b: color.rgb2lab(a)),
                "rgb to ycbcr": Call(
                    lambda a, b: color.rgb2ycbcr(a),
                    see=(lambda found: found / 255) if unit(kind) == "f32" else None)}

    def _geometry(self, kind):
        transform = self.lib.transform
        inverse = np.linalg.inv(np.vstack([AFFINE, [0, 0, 1]]))
        matrix = transform.AffineTransform(matrix=self.xp.asarray(inverse))

        def resized(factor, order, smooth):
            def run(a, b):
                shape = (int(a.shape[0] * factor), int(a.shape[1] * factor)) + a.shape[2:]
                return transform.resize(a, shape, order=order, anti_aliasing=smooth,
                                        preserve_range=True, mode="edge")
            return run

        return {
            "resize 0.5 bilinear": Call(resized(0.5, 1, True), note="a gaussian before it"),
            "resize 2 bilinear": Call(resized(2, 1, False)),
            "resize 2 bicubic": Call(resized(2, 3, False), note="splines"),
            "rotate 30 bilinear": Call(lambda a, b: transform.rotate(
                a, 30, order=1, preserve_range=True)),
            "affine warp bilinear": Call(lambda a, b: transform.warp(
                a, matrix, order=1, preserve_range=True)),
        }
