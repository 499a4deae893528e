"""PyTorch on the card, with torchvision where that is there."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from peers import Call
from peers.clocks import TorchClock
from peers.table import AFFINE, KERNEL, KERNEL_SUM, colour, unit

try:
    import torchvision
    from torchvision.transforms.v2 import functional as vision
except ImportError:
    torchvision = None


def as_bytes(x):
    return x.round_().clamp_(0, 255).to(torch.uint8)


class Peer:
    """Pictures are [1, channels, rows, columns], as PyTorch's functions take them."""

    where = "cuda"

    def __init__(self):
        torch.zeros(1, device="cuda").item()  # fails where there is no card
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.set_grad_enabled(False)
        self.clock = TorchClock()

    def version(self):
        more = f", torchvision {torchvision.__version__}" if torchvision else ""
        return f"PyTorch {torch.__version__}{more}"

    def put(self, array):
        planes = array if array.ndim == 3 else array[:, :, None]
        return torch.from_numpy(np.ascontiguousarray(np.moveaxis(planes, -1, 0))[None]).cuda()

    def get(self, result):
        found = result.cpu().numpy()
        return np.moveaxis(found[0], 0, -1) if found.ndim == 4 else found

    def calls(self, kind):
        if kind in ("mask", "labels", "relief"):
            return {}
        calls = {**self._filters(kind), **self._points(kind), **self._geometry(kind)}
        if colour(kind):
            calls["rgb to gray"] = Call(lambda a, b: self._gray_of(a))
        else:
            calls.update(self._gray(kind))
        return calls

    def _rounded(self, kind):
        return as_bytes if unit(kind) == "u8" else (lambda x: x)

    def _gray_of(self, a):
        mixed = a[:, 0] * 0.298936 + a[:, 1] * 0.587043 + a[:, 2] * 0.114021
        return (as_bytes(mixed) if a.dtype == torch.uint8 else mixed)[:, None]

    def _filters(self, kind):
        rounded = self._rounded(kind)

        def each(a):  # one plane an image: filters take each channel by itself
            return a.float().transpose(0, 1)

        def gaussian(a, sigma):
            radius = math.ceil(2 * sigma)
            x = torch.arange(-radius, radius + 1, device="cuda", dtype=torch.float32)
            taps = torch.exp(-x * x / (2 * sigma * sigma))
            taps = taps / taps.sum()
            padded = F.pad(each(a), (radius,) * 4, mode="replicate")
            rows = F.conv2d(padded, taps.view(1, 1, 1, -1))
            return rounded(F.conv2d(rows, taps.view(1, 1, -1, 1)).transpose(0, 1))

        weights = torch.from_numpy((KERNEL / KERNEL_SUM).astype(np.float32)).cuda()[None, None]

        def largest(a, side):
            found = F.max_pool2d(each(a), side, 1, side // 2).transpose(0, 1)
            return found.to(a.dtype)

        def opening(a, side):
            low = -F.max_pool2d(-each(a), side, 1, side // 2)
            return F.max_pool2d(low, side, 1, side // 2).transpose(0, 1).to(a.dtype)

        def median(a, side):
            padded = F.pad(each(a), (side // 2,) * 4, mode="replicate")
            windows = padded.unfold(2, side, 1).unfold(3, side, 1)
            return windows.reshape(*windows.shape[:4], -1).median(-1)[0].transpose(0, 1)

        calls = {f"gaussian, sigma {s}": Call(lambda a, b, s=s: gaussian(a, s))
                 for s in (1, 2, 5)}
        calls.update({
            "median 3x3": Call(lambda a, b: median(a, 3)),
            "median 5x5": Call(lambda a, b: median(a, 5)),
            "box 9x9": Call(lambda a, b: rounded(
                F.avg_pool2d(F.pad(each(a), (4,) * 4, mode="replicate"), 9, 1).transpose(0, 1))),
            "filter 7x7": Call(lambda a, b: rounded(F.conv2d(
                F.pad(each(a), (3,) * 4, mode="reflect"), weights).transpose(0, 1)),
                margin=4),
            "dilate square 5": Call(lambda a, b: largest(a, 5)),
            "dilate square 31": Call(lambda a, b: largest(a, 31)),
            "open square 15": Call(lambda a, b: opening(a, 15)),
        })
        return calls

    def _points(self, kind):
        if unit(kind) == "u8":
            def stretch(a):
                return as_bytes(((a.float() - 51) * (1 / 0.6)))

            def added(a, b):
                return as_bytes((a.float() * 0.5).add_(b, alpha=0.3))
        else:
            def stretch(a):
                return ((a - 0.2) * (1 / 0.6)).clamp_(0, 1)

            def added(a, b):
                return (a * 0.5).add_(b, alpha=0.3)
        return {"stretch": Call(lambda a, b: stretch(a)),
                "weighted sum of two": Call(lambda a, b: added(a, b)),
                "transpose": Call(lambda a, b: a.transpose(2, 3).contiguous())}

    def _gray(self, kind):
        slope = torch.tensor([[1., 0, -1], [2, 0, -2], [1, 0, -1]], device="cuda")
        both = torch.stack([slope, slope.T])[:, None].contiguous()

        def sobel(a):
            found = F.conv2d(a.float(), both, padding=1)
            return torch.hypot(found[:, :1], found[:, 1:])

        def deviation(a, side=9):
            padded = F.pad(a.double(), (side // 2,) * 4, mode="replicate")
            count = side * side
            mean = F.avg_pool2d(padded, side, 1)
            squares = F.avg_pool2d(padded * padded, side, 1)
            return ((squares - mean * mean).clamp_(0) * (count / (count - 1))).sqrt_()

        calls = {"sobel magnitude": Call(lambda a, b: sobel(a)),
                 "standard deviation 9x9": Call(lambda a, b: deviation(a)),
                 "mean": Call(lambda a, b: a.sum(dtype=torch.int64).double() / a.numel()
                              if a.dtype == torch.uint8 else a.mean(dtype=torch.float64))}
        if unit(kind) == "u8":
            calls["histogram"] = Call(
                lambda a, b: torch.bincount(a.ravel(), minlength=256), graph=False)
            if torchvision:
                calls["equalise"] = Call(lambda a, b: vision.equalize(a), graph=False,
                                         note="256 levels of bytes")
        return calls

    def _geometry(self, kind):
        rounded = self._rounded(kind)

        def resized(factor, mode, smooth=False):
            def run(a, b):
                return rounded(F.interpolate(a.float(), scale_factor=factor, mode=mode,
                                             antialias=smooth, align_corners=False))
            return run

        def sampled(a, matrix):
            height, width = a.shape[2:]
            # From pixels to PyTorch's -1 .. 1 and back.
            to_unit = np.array([[2 / width, 0, 1 / width - 1], [0, 2 / height, 1 / height - 1],
                                [0, 0, 1]])
            theta = (to_unit @ matrix @ np.linalg.inv(to_unit))[None, :2]
            places = F.affine_grid(torch.from_numpy(theta.astype(np.float32)).to(
                "cuda", non_blocking=True), [1, 1, height, width], align_corners=False)
            return rounded(F.grid_sample(a.float(), places, mode="bilinear",
                                         padding_mode="zeros", align_corners=False))

        def turned(a):
            height, width = a.shape[2:]
            cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
            x, y = (width - 1) / 2, (height - 1) / 2
            return sampled(a, np.array([[cos, -sin, x - cos * x + sin * y],
                                        [sin, cos, y - sin * x - cos * y], [0, 0, 1]]))

        inverse = np.linalg.inv(np.vstack([AFFINE, [0, 0, 1]]))
        return {
            "resize 0.5 bilinear": Call(resized(0.5, "bilinear", True)),
            "resize 2 bilinear": Call(resized(2, "bilinear")),
            "resize 2 bicubic": Call(resized(2, "bicubic"), note="a = -0.75"),
            "rotate 30 bilinear": Call(lambda a, b: turned(a), graph=False),
            "affine warp bilinear": Call(lambda a, b: sampled(a, inverse), graph=False),
        }
