"""pyclesperanto: OpenCL kernels on the first card that it finds, else on what OpenCL has."""
import numpy as np
import pyclesperanto as cle

from peers import Call
from peers.clocks import WallClock
from peers.table import colour, unit


class Peer:
    """Timed by the clock on the wall, all calls of a group given before the last is waited for."""

    where = "opencl"

    def __init__(self):
        cle.select_device("gpu" if any("NVIDIA" in name for name in cle.list_available_devices())
                          else "")
        cle.set_wait_for_kernel_finish(False)
        self.device = cle.get_device()
        # The queue is in order: what is read last comes when all is done.
        small = cle.push(np.zeros((1, 1), np.float32))
        self.clock = WallClock(finish=lambda: cle.pull(small), one_picture=False)

    def version(self):
        return f"pyclesperanto {cle.__version__}, {cle.get_backend_name()}, {self.device.name}"

    def put(self, array):
        return cle.push(array.astype(np.uint8) if array.dtype == np.bool_ else array)

    def get(self, result):
        return np.asarray(cle.pull(result)) if hasattr(result, "mtype") else np.asarray(result)

    def calls(self, kind):
        if colour(kind):
            return {}  # its third axis is depth
        if kind == "mask":
            return {"label": Call(lambda a, b: cle.connected_component_labeling(
                a, connectivity="box"))}
        if kind == "labels":
            return {"regionprops of 10,000": Call(
                lambda a, b: cle.statistics_of_labelled_pixels(b, a),
                see=lambda found: np.asarray(found.item()["area"]),
                note="other columns: no axes, perimeters or hulls")}
        if kind == "relief":
            return {}
        return {**self._filters(kind), **self._others(kind)}

    def _filters(self, kind):
        def radii(side):
            return {"radius_x": side // 2, "radius_y": side // 2, "radius_z": 0}

        def opening(a, side):
            low = cle.minimum_box(a, **radii(side))
            return cle.maximum_box(low, **radii(side))

        calls = {f"median {k}x{k}": Call(lambda a, b, k=k: cle.median_box(a, **radii(k)))
                 for k in (3, 5, 7)}
        calls.update({f"gaussian, sigma {s}": Call(
            lambda a, b, s=s: cle.gaussian_blur(a, sigma_x=s, sigma_y=s), note="longer, floats")
            for s in (1, 2, 5)})
        calls.update({
            "box 9x9": Call(lambda a, b: cle.mean_box(a, **radii(9)),
                            off=2 if unit(kind) == "u8" else None),
            "dilate square 5": Call(lambda a, b: cle.maximum_box(a, **radii(5))),
            "dilate square 31": Call(lambda a, b: cle.maximum_box(a, **radii(31))),
            "dilate disk 5": Call(lambda a, b: cle.maximum_sphere(a, **radii(11))),
            "open square 15": Call(lambda a, b: opening(a, 15)),
            "open disk 15": Call(lambda a, b: cle.maximum_sphere(
                cle.minimum_sphere(a, **radii(31)), **radii(31))),
            "standard deviation 9x9": Call(
                lambda a, b: cle.standard_deviation_box(a, **radii(9)), note="its own variance"),
        })
        return calls

    def _others(self, kind):
        calls = {
            "sobel magnitude": Call(lambda a, b: cle.sobel(a)),
            "weighted sum of two": Call(lambda a, b: cle.add_images_weighted(
                a, b, factor1=0.5, factor2=0.3)),
            "transpose": Call(lambda a, b: cle.transpose_xy(a)),
            "mean": Call(lambda a, b: cle.mean_of_all_pixels(a)),
            "rotate 30 bilinear": Call(lambda a, b: cle.rotate(
                a, angle_z=30, centered=True, interpolate=True, resize=False),
                note="its own centre and sense"),
        }
        if unit(kind) == "u8":
            calls["histogram"] = Call(
                lambda a, b: cle.histogram(a, num_bins=256, minimum_intensity=0,
                                           maximum_intensity=255))
            calls["otsu's threshold"] = Call(lambda a, b: cle.threshold_otsu(a),
                                             note="binarises as well")
            calls["clahe"] = Call(lambda a, b: cle.clahe(a, tile_size=max(8, a.shape[0] // 8)),
                                  note="its own tiles and limit")
        return calls
