"""The rows of compare_peers.py --device: what impipe runs, on which pictures, how near is equal."""
import numpy as np

KINDS = ("gray-u8", "rgb-u8", "gray-f32", "rgb-f32", "mask", "labels", "relief")
GRAY, COLOUR, BYTES = ("gray-u8", "gray-f32"), ("rgb-u8", "rgb-f32"), ("gray-u8", "rgb-u8")
PICTURES = ("gray-u8", "rgb-u8", "gray-f32", "rgb-f32")

KERNEL = np.round(np.random.default_rng(7).random((7, 7)) + 0.1, 3)
KERNEL_TEXT = "[" + ";".join(" ".join(f"{v:g}" for v in row) for row in KERNEL) + "]"
KERNEL_SUM = round(float(KERNEL.sum()), 3)
# Pixel (x, y) goes to (a x + b y + c, d x + e y + f).
AFFINE = np.array([[0.9, 0.1, 30.0], [-0.08, 1.05, -20.0]])
AFFINE_TEXT = "[" + ";".join(" ".join(f"{v:g}" for v in row) for row in AFFINE) + "]"
BILATERAL = {"u8": 650.0, "f32": 0.01}  # variance of the values that count as alike
BILATERAL_SIGMA = 1.5
HEIGHT = {"u8": 30, "f32": 0.12}  # of `imhmax`


def unit(kind):
    """u8, f32, or the kind itself where it has no other."""
    return kind.split("-")[-1]


def colour(kind):
    return kind.startswith("rgb")


class Row:
    """off: how far codes of bytes may be apart; single: how far floats; share: how many may be
    farther; margin: rows and columns at the edges where the definitions differ; labels: both
    number the same sets, in other orders; host: a part is done on the host, so that impipe's time
    is that from the device's memory to the result, not the queue's; ours: what of impipe's result
    is compared. {sigma}, {height}: of the picture's class."""

    def __init__(self, name, pipeline, kinds, off=0.0, single=1e-4, share=0.0, margin=0,
                 labels=False, host=False, ours=None):
        self.name, self.pipeline, self.kinds = name, pipeline, kinds
        self.off, self.single, self.share, self.margin = off, single, share, margin
        self.labels, self.host, self.ours = labels, host, ours

    def pipeline_for(self, kind):
        text = self.pipeline
        if "{" in text and kind in PICTURES:
            text = text.replace("{range}", f"{BILATERAL[unit(kind)]:g}")
            text = text.replace("{height}", f"{HEIGHT[unit(kind)]:g}")
        return text

    def tolerance(self, kind):
        return self.single if unit(kind) == "f32" else self.off


def areas(table):
    """The column of regionprops: pixels of each object."""
    return table[:, 1]


def _neighbourhood_rows():
    medians = [Row(f"median {k}x{k}", f"medfilt2 {k}", PICTURES if k < 7 else BYTES + GRAY[1:],
                   margin=k // 2, single=0) for k in (3, 5, 7, 15)]
    gaussians = [Row(f"gaussian, sigma {s}", f"imgaussfilt {s}", PICTURES, off=1,
                     margin=2 * s + 1) for s in (1, 2, 5)]
    return medians + gaussians + [
        Row("box 9x9", "imboxfilt 9", PICTURES, off=1, margin=4),
        Row("filter 7x7", f"imfilter {KERNEL_TEXT}/{KERNEL_SUM:g} symmetric", PICTURES, off=1,
            margin=3),
        Row("bilateral 5x5", f"imbilatfilt {{range}} {BILATERAL_SIGMA:g} 5", PICTURES, off=1,
            margin=2),
        Row("standard deviation 9x9", "stdfilt rectangle,9,9", GRAY, off=0.01, single=1e-3,
            margin=4),
        Row("sobel magnitude", "imgradient sobel", GRAY, off=1e-2, margin=1),
        Row("canny", "edge canny", GRAY, share=0.02, margin=4),
    ]


def _morphology_rows():
    return [
        Row("dilate square 5", "imdilate square,5", PICTURES, single=0),
        Row("dilate square 31", "imdilate square,31", PICTURES, single=0),
        Row("dilate disk 5", "imdilate disk,5", PICTURES, single=0),
        Row("open square 15", "imopen square,15", PICTURES, single=0, margin=15),
        Row("open disk 15", "imopen disk,15", PICTURES, single=0, margin=30),
        Row("regional maxima", "imregionalmax", ("gray-u8",)),
        Row("fill holes of a mask", "imfill", ("mask",)),
        Row("fill holes of gray", "imfill", ("gray-u8",)),
        Row("h-maxima (reconstruction)", "imhmax {height}", GRAY, single=1e-6),
        Row("label", "bwlabel", ("mask",), labels=True),
        Row("distance", "bwdist", ("mask",), off=1e-2),
        Row("thin", "bwmorph thin inf", ("mask",), share=0.01),
        Row("regionprops of 10,000", "regionprops", ("labels",), host=True, ours=areas),
        Row("watershed, 10,000 basins", "watershed", ("relief",), labels=True, host=True),
    ]


def _tone_rows():
    return [
        Row("stretch", "imadjust 0.2,0.8", PICTURES, off=1, single=1e-5),
        Row("weighted sum of two", "imlincomb 0.5 0.3 :b", PICTURES, off=1, single=1e-5),
        Row("transpose", "transpose", PICTURES, single=0),
        Row("mean", "mean2", GRAY, off=1e-3, single=1e-5),
        Row("histogram", "imhist", ("gray-u8",)),
        Row("equalise", "histeq", ("gray-u8",)),
        Row("clahe", "adapthisteq", ("gray-u8",)),
        Row("otsu's threshold", "graythresh", ("gray-u8",), off=0.005),
        Row("ssim", "ssim :b", GRAY, off=1e-3, single=1e-3),
        Row("rgb to gray", "rgb2gray", COLOUR, off=1, single=1e-3),
        Row("rgb to hsv", "rgb2hsv", COLOUR, off=1e-3, share=1e-3),
        Row("rgb to lab", "rgb2lab", COLOUR, off=0.05, single=0.05),
        Row("rgb to ycbcr", "rgb2ycbcr", COLOUR, off=1, single=1e-3),
    ]


def _geometry_rows():
    return [
        Row("resize 0.5 bilinear", "imresize 0.5 bilinear", PICTURES, off=1, margin=1),
        Row("resize 2 bilinear", "imresize 2 bilinear", PICTURES, off=1, margin=2),
        Row("resize 2 bicubic", "imresize 2", PICTURES, off=1, margin=4),
        # Libraries place pixels on grids of their own: OpenCV and Pillow to 1/32 and 1/65536.
        Row("rotate 30 bilinear", "imrotate 30 bilinear crop", PICTURES, off=4, single=0.02,
            share=0.01),
        Row("affine warp bilinear", f"imwarp {AFFINE_TEXT}", PICTURES, off=4, single=0.02,
            share=0.01),
    ]


ROWS = _neighbourhood_rows() + _morphology_rows() + _tone_rows() + _geometry_rows()
