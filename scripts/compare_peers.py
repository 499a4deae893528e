#!/usr/bin/env python3
"""Times impipe and the peers that are installed in turn, in one run, and checks that they agree.

    compare_peers.py [--impipe PATH] [--match TEXT]... [--threads N,N] [--rounds N] [--files N]
                     [--size N] [--no-folder]
    compare_peers.py --device ID [--impipe PATH] [--match TEXT]... [--peers NAME,...]
                     [--kinds KIND,...] [--sizes N,N] [--seconds N] [--row-seconds N]
                     [--json FILE] [--markdown] [--logs DIR]

Operators: decoded pixels to result on a photograph-like picture, against OpenCV with as many
threads. Folder: gray PNG to PNG on two cores, against a two-process OpenCV script and the command
lines of GraphicsMagick, ImageMagick, vips and G'MIC (whose stages are the nearest they have).
Ratio: the peer's time over impipe's; above 1 impipe is faster. Exit 1 when results disagree.

--device: pictures resident in the device's memory, beside every library of scripts/peers that is
here, on the card (NPP, CUB, CuPy, PyTorch, cuCIM, CV-CUDA, kornia-rs, pyclesperanto) and on the CPU
(OpenCV, scikit-image, kornia-rs, Pillow, vips, GraphicsMagick). What is not here is said. On CUDA
both sides are timed over inputs of 256 MB in turn, in a graph where a library's calls can be
recorded, else as called; the CPU's by wall time. At the end each row's fastest peer and the ratio;
`~` behind a time: another definition, or not checked; `*`: it disagrees.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import cv2
except ImportError:
    cv2 = None  # with --device one library of many
import numpy as np
from PIL import Image

from make_samples import landscape, photograph, to_gray, to_integer, write
from peers.run import compare_device
from run_cases import default_program

CHAIN = "imadjust | conv2 k7 | edge prewitt"
SIGMA = 7 / 6  # of `conv2 k7`
rng = np.random.default_rng(7)
KERNEL = np.round(rng.random((7, 7)) + 0.1, 3)
KERNEL_TEXT = "[" + ";".join(" ".join(f"{v:g}" for v in row) for row in KERNEL) + "]"
KERNEL_SUM = KERNEL.sum()


def disk(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return (x * x + y * y <= radius * radius).astype(np.uint8)


def square(side):
    return np.ones((side, side), np.uint8)


def stretch_table(image):
    """imadjust without limits, as a table: 1 % of the pixels saturate at each end."""
    counts = cv2.calcHist([image], [0], None, [256], [0, 256]).ravel()
    below = np.cumsum(counts)
    low = int(np.argmax(below > math.floor(0.01 * image.size)))
    high = int(np.argmax(below >= math.ceil(0.99 * image.size)))
    x = np.clip((np.arange(256) - low) / max(high - low, 1), 0, 1)
    return np.floor(x * 255 + 0.5).astype(np.uint8)


def opencv_chain(image):
    """The chain stage by stage, each with OpenCV's best function for it."""
    adjusted = cv2.LUT(image, stretch_table(image))
    taps = cv2.getGaussianKernel(7, SIGMA, cv2.CV_32F)
    smooth = cv2.sepFilter2D(adjusted, cv2.CV_32F, taps, taps, borderType=cv2.BORDER_CONSTANT)
    smooth *= np.float32(1 / 255)
    slope, box = np.array([-1, 0, 1], np.float32), np.ones(3, np.float32) / 6
    gx = cv2.sepFilter2D(smooth, cv2.CV_32F, slope, box, borderType=cv2.BORDER_REPLICATE)
    gy = cv2.sepFilter2D(smooth, cv2.CV_32F, box, slope, borderType=cv2.BORDER_REPLICATE)
    strength = cv2.add(cv2.multiply(gx, gx), cv2.multiply(gy, gy))
    _, strength = cv2.threshold(strength, 4 * cv2.mean(strength)[0], 0, cv2.THRESH_TOZERO)
    padded = cv2.copyMakeBorder(strength, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    middle = padded[1:-1, 1:-1]

    def above(a, b):
        return cv2.bitwise_and(cv2.compare(middle, a, cv2.CMP_GT),
                               cv2.compare(middle, b, cv2.CMP_GT))

    return cv2.bitwise_or(above(padded[1:-1, :-2], padded[1:-1, 2:]),
                          above(padded[:-2, 1:-1], padded[2:, 1:-1]))


def gradient_size(image):
    return cv2.magnitude(cv2.Sobel(image, cv2.CV_32F, 1, 0), cv2.Sobel(image, cv2.CV_32F, 0, 1))


class Row:
    """One operator on both sides. off: how far results may be apart; share: how many may be;
    margin: rows and columns at the edges where the definitions differ; labels: both number the
    same sets, but in other orders; seen: what of both results is compared."""

    def __init__(self, name, pipeline, peer, cls="uint8", off=0.0, share=0.0, margin=0,
                 labels=False, seen=None):
        self.name, self.pipeline, self.peer, self.cls = name, pipeline, peer, cls
        self.seen = seen or (lambda result: result)
        self.off, self.share, self.margin, self.labels = off, share, margin, labels


def regional_maxima(image):
    """scikit-image's, where that is installed."""
    from skimage.morphology import local_maxima
    return local_maxima(image)


ANGLES = np.arange(320) * 0.5625
RADON_SIDE = 512


def radon(image):
    """scikit-image's, where that is installed, which has two bins less at each end."""
    from skimage.transform import radon as transform
    sums = transform(image[:RADON_SIDE, :RADON_SIDE].astype(np.float64), ANGLES, circle=False,
                     preserve_range=True)
    return np.pad(sums, ((2, 2), (0, 0)))


def distance(image):
    nothing_there = cv2.threshold(image, 127, 1, cv2.THRESH_BINARY_INV)[1]
    return cv2.distanceTransform(nothing_there, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def rotated(image):
    """imwarp rotate=30: about the centre, what lies outside is 0."""
    height, width = image.shape
    turn = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 30, 1)
    return cv2.warpAffine(image, turn, (width, height), flags=cv2.INTER_LINEAR)


def block_means(dots):
    """Of 32x32 pixels: error diffusion places dots in its own way, but as many."""
    height, width = (side // 32 * 32 for side in dots.shape)
    return dots[:height, :width].reshape(height // 32, 32, -1, 32).mean((1, 3))


def large_sums(sums):
    """Projections a pixel apart differ at edges: four bins together, as parts of the largest."""
    together = sums[: len(sums) // 4 * 4].reshape(-1, 4, sums.shape[1]).sum(1)
    return together / together.max()


def rows():
    table = np.floor(np.clip((np.arange(256) / 255 - 0.2) / 0.6, 0, 1) * 255 + 0.5)
    table = table.astype(np.uint8)
    kernel = (KERNEL / KERNEL_SUM).astype(np.float32)
    flipped = np.ascontiguousarray(KERNEL[::-1, ::-1]).astype(np.float32)
    gaussian = f"imfilter fspecial:gaussian,7,{SIGMA!r} replicate"

    def blur(a, _):
        return cv2.GaussianBlur(a, (7, 7), SIGMA, borderType=cv2.BORDER_REPLICATE)

    return [
        Row("imadjust (a table)", "imadjust 0.2 0.8", lambda a, b: cv2.LUT(a, table)),
        Row("imlincomb of two", "imlincomb 0.5 0.3 :b",
            lambda a, b: cv2.addWeighted(a, 0.5, b, 0.3, 0), off=1),
        Row("binarize", "im2bw 0.5", lambda a, b: cv2.compare(a, 127, cv2.CMP_GT)),
        Row("transpose", "transpose", lambda a, b: cv2.transpose(a)),
        Row("imfilter 7x7 uint8", f"imfilter {KERNEL_TEXT}/{KERNEL_SUM:.3f} symmetric",
            lambda a, b: cv2.filter2D(a, -1, kernel, borderType=cv2.BORDER_REFLECT), off=1),
        Row("conv2 7x7 float32", f"conv2 {KERNEL_TEXT}",
            lambda a, b: cv2.filter2D(a, -1, flipped, borderType=cv2.BORDER_CONSTANT),
            cls="single", off=1e-4),
        Row("gaussian 7x7 uint8", gaussian, blur, off=1),
        Row("gaussian 7x7 float32", gaussian, blur, cls="single", off=1e-5),
        Row("sobel gradient", "imgradient sobel", lambda a, b: gradient_size(a), off=1e-3,
            margin=1),
        Row("dilate 5x5", "imdilate square,5", lambda a, b: cv2.dilate(a, square(5))),
        Row("dilate 31x31", "imdilate square,31", lambda a, b: cv2.dilate(a, square(31))),
        Row("dilate 101x101", "imdilate square,101", lambda a, b: cv2.dilate(a, square(101))),
        Row("erode disk 5", "imerode disk,5", lambda a, b: cv2.erode(a, disk(5))),
        Row("median 3x3", "medfilt2 3", lambda a, b: cv2.medianBlur(a, 3), margin=1),
        Row("median 5x5", "medfilt2 5", lambda a, b: cv2.medianBlur(a, 5), margin=2),
        Row("median 15x15", "medfilt2 15", lambda a, b: cv2.medianBlur(a, 15), margin=7),
        Row("median 31x31", "medfilt2 31", lambda a, b: cv2.medianBlur(a, 31), margin=15),
        Row("mean", "mean2", lambda a, b: np.array(cv2.mean(a)[0]), off=1e-9),
        Row("histogram", "imhist",
            lambda a, b: cv2.calcHist([a], [0], None, [256], [0, 256]).ravel()),
        Row("joint histogram", "jointhist :b",
            lambda a, b: cv2.calcHist([a, b], [0, 1], None, [256, 256], [0, 256, 0, 256])),
        Row("resize 2x bilinear", "imresize 2 bilinear",
            lambda a, b: cv2.resize(a, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR), off=1),
        Row("resize to 600x600 bilinear", "imresize size=600,600 bilinear antialiasing=off",
            lambda a, b: cv2.resize(a, (600, 600), interpolation=cv2.INTER_LINEAR), off=1),
        # OpenCV's kernel has a = -0.75: agrees only nearly.
        Row("resize 2x bicubic", "imresize 2 bicubic",
            lambda a, b: cv2.resize(a, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), off=6,
            share=0.01),
        Row("resize by 0.5 (Pillow)", "imresize 0.5 bilinear",
            lambda a, b: np.asarray(Image.fromarray(a).resize(
                (a.shape[1] // 2, a.shape[0] // 2), Image.BILINEAR)), off=1, margin=1),
        # OpenCV rounds places to 1/32 of a pixel.
        Row("rotation by 30 degrees", "imwarp rotate=30", lambda a, b: rotated(a), off=4,
            share=0.01),
        Row("regional maxima (skimage)", "imregionalmax", lambda a, b: regional_maxima(a)),
        Row("binarize and label", "im2bw 0.5 | bwlabel",
            lambda a, b: cv2.connectedComponents(cv2.threshold(a, 127, 1, cv2.THRESH_BINARY)[1])[1],
            labels=True),
        Row("distance, precise", "im2bw 0.5 | bwdist", lambda a, b: distance(a), off=1e-3),
        Row("radon 512x512 (skimage)", f"imcrop 0,0,{RADON_SIDE},{RADON_SIDE} | "
            "radon 0:0.5625:179.6", lambda a, b: radon(a), off=0.02, share=0.02, seen=large_sums),
        Row("dither (Pillow)", "dither", lambda a, b: np.asarray(Image.fromarray(a).convert("1")),
            off=0.03, seen=block_means),
        Row("the chain", CHAIN, lambda a, b: opencv_chain(a), share=0.002),
    ]


class Side:
    """Pictures on disk for impipe, and the same pixels in memory for the peers."""

    def __init__(self, program, folder, size):
        self.program, self.folder = program, folder
        gray = to_gray(photograph(landscape, 1, size, size, noise=0.03))
        other = to_gray(photograph(landscape, 2, size, size, noise=0.03))
        self.pixels, self.paths = {}, {}
        for name, picture in (("a", gray), ("b", other)):
            for cls, pixels in (("uint8", to_integer(picture, 255)), ("single", picture)):
                path = os.path.join(folder, f"{name}-{cls}.npy")
                np.save(path, np.ascontiguousarray(pixels))
                self.pixels[name, cls], self.paths[name, cls] = np.load(path), path

    def impipe_ms(self, row, threads):
        said = subprocess.run([self.program, "bench", "--json", "--in-cache", "-j", str(threads),
                               "--input", self.paths["a", row.cls], row.pipeline],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(said)["results"][0]["median_ms"]

    def peer_ms(self, row, seconds=0.5):
        a, b = self.pixels["a", row.cls], self.pixels["b", row.cls]
        row.peer(a, b)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            row.peer(a, b)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e3

    def disagreement(self, row):
        """What is wrong with impipe's result against the peer's; empty when nothing is."""
        output = os.path.join(self.folder, "result.npy")
        subprocess.run([self.program, row.pipeline, self.paths["a", row.cls], "--with",
                        "b=" + self.paths["b", row.cls], "-o", output, "-q"]
                       if ":b" in row.pipeline else
                       [self.program, row.pipeline, self.paths["a", row.cls], "-o", output, "-q"],
                       check=True, stdout=subprocess.DEVNULL)
        ours = np.load(output)
        theirs = row.peer(self.pixels["a", row.cls], self.pixels["b", row.cls])
        if ours.dtype == np.bool_:
            theirs = theirs != 0
        ours, theirs = np.squeeze(ours).astype(float), np.squeeze(theirs).astype(float)
        if ours.shape != theirs.shape:
            return f"shapes {ours.shape} and {theirs.shape}"
        ours, theirs = row.seen(ours), row.seen(theirs)
        if row.labels:
            pairs = len(np.unique(np.stack([ours.ravel(), theirs.ravel()]), axis=1).T)
            counts = {pairs, len(np.unique(ours)), len(np.unique(theirs))}
            return "" if len(counts) == 1 else f"other sets: {sorted(counts)}"
        if row.margin:
            inside = (slice(row.margin, -row.margin),) * 2
            ours, theirs = ours[inside], theirs[inside]
        off = np.abs(ours - theirs)
        share = np.count_nonzero(off > row.off) / off.size
        return "" if share <= row.share else f"{share:.2%} differ, by up to {off.max():g}"


def compare_operators(side, chosen, threads, rounds):
    """Prints the table; returns how many disagree."""
    wrong, ours_by_name = 0, {}
    print(f"{'operator':<26}{'threads':>8}{'impipe ms':>11}{'OpenCV ms':>11}{'ratio':>8}  agrees")
    for row in chosen:
        problem = side.disagreement(row)
        wrong += bool(problem)
        for count in threads:
            cv2.setNumThreads(count)
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append(side.impipe_ms(row, count))
                theirs.append(side.peer_ms(row))
            ours, theirs = statistics.median(ours), statistics.median(theirs)
            ours_by_name[row.name, count] = ours
            print(f"{row.name:<26}{count:>8}{ours:>11.3f}{theirs:>11.3f}{theirs / ours:>8.2f}  "
                  f"{problem or 'yes'}", flush=True)
    for count in threads:
        sides = [ours_by_name.get((f"dilate {n}x{n}", count)) for n in (31, 101)]
        if None not in sides:
            print(f"square element, side 101 over side 31, {count} threads: "
                  f"{sides[1] / sides[0]:.2f}")
    return wrong


OPENCV_SCRIPT = """
import sys, os, multiprocessing
sys.path.insert(0, {scripts!r})
import cv2
from compare_peers import opencv_chain
def work(name):
    image = cv2.imread(os.path.join({source!r}, name), cv2.IMREAD_UNCHANGED)
    cv2.imwrite(os.path.join({target!r}, name), opencv_chain(image))
if __name__ == "__main__":
    cv2.setNumThreads(1)
    with multiprocessing.Pool(2) as pool:
        pool.map(work, sorted(os.listdir({source!r})), chunksize=1)
"""


def folder_commands(program, source, target):
    """{name: argument list} for a whole folder on two cores, of what is installed."""
    def each(command):  # one file a process, two at a time
        return ["sh", "-c", f"cd {source} && ls | xargs -P 2 -I@ sh -c '{command}'"]

    out = f"{target}/@"
    script = OPENCV_SCRIPT.format(scripts=os.path.dirname(os.path.abspath(__file__)),
                                  source=source, target=target)
    commands = {"impipe": [program, CHAIN, source, "-o", target, "-j", "2"],
                "OpenCV, 2 processes": [sys.executable, "-c", script]}
    if shutil.which("gm"):
        commands["GraphicsMagick"] = each(
            f"gm convert @ -normalize -gaussian 3x{SIGMA:.2f} -edge 1 -threshold 12% {out}")
    if shutil.which("convert"):
        commands["ImageMagick"] = each(
            f"convert -limit thread 1 @ -contrast-stretch 1%x1% -gaussian-blur 3x{SIGMA:.2f} "
            f"-morphology Convolve Prewitt -threshold 12% {out}")
    if shutil.which("vips"):
        commands["vips"] = each(
            f"export VIPS_CONCURRENCY=1; vips hist_norm @ {target}/@.1.v && "
            f"vips gaussblur {target}/@.1.v {target}/@.2.v {SIGMA:.2f} && "
            f"vips sobel {target}/@.2.v {target}/@.3.v && "
            f"vips relational_const {target}/@.3.v {out} more 40; rm {target}/@.*.v")
    if shutil.which("gmic"):
        commands["G'MIC"] = each(
            f"gmic -v 0 @ normalize 0,255 blur {SIGMA:.2f} gradient_norm threshold 12% "
            f"mul 255 o {out}")
    return commands


def compare_folder(side, files, rounds, size):
    source, target = (os.path.join(side.folder, name) for name in ("pngs", "out"))
    os.makedirs(source)
    for i in range(files):
        picture = to_gray(photograph(landscape, 10 + i % 3, size, size, noise=0.03))
        write(os.path.join(source, f"{i:03}.png"), to_integer(picture, 255))
    times = {}
    for _ in range(rounds):
        for name, command in folder_commands(side.program, source, target).items():
            shutil.rmtree(target, ignore_errors=True)
            os.makedirs(target)
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True)
            seconds = time.perf_counter() - start
            if len(os.listdir(target)) != files:
                print(f"{name}: left out, it failed: {done.stderr.decode()[-200:]}")
                continue
            times.setdefault(name, []).append(seconds)
    ours = statistics.median(times["impipe"])
    print(f"\n{files} gray PNGs of {size}x{size}, 2 cores{'':<9}images/s   ratio")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:<42}{files / median:>8.2f}{median / ours:>8.2f}")


def start_up(program):
    print(f"\n{'start-up, median of 21':<42}{'ms':>8}")
    for arguments in (["--version"], ["ops"], ["plan", CHAIN]):
        times = []
        for _ in range(21):
            start = time.perf_counter()
            subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
        print(f"{'impipe ' + arguments[0]:<42}{statistics.median(times) * 1e3:>8.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impipe", default=default_program(), metavar="PATH")
    parser.add_argument("--match", action="append", default=[], metavar="TEXT",
                        help="only operators whose name contains this; repeats")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=12, help="of the folder")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--no-folder", action="store_true", help="operators only")
    parser.add_argument("--device", metavar="ID", help="impipe's device, beside all libraries")
    parser.add_argument("--peers", metavar="NAME,...", help="with --device: only these")
    parser.add_argument("--kinds", metavar="KIND,...", help="with --device: only these pictures")
    parser.add_argument("--sizes", default="2048,4096", help="with --device: sides of pictures")
    parser.add_argument("--seconds", type=float, default=450, help="with --device: in all")
    parser.add_argument("--row-seconds", type=float, default=15,
                        help="with --device: a row that takes longer is left")
    parser.add_argument("--json", metavar="FILE", help="with --device: written as rows come")
    parser.add_argument("--markdown", action="store_true", help="with --device: its table")
    parser.add_argument("--logs", metavar="DIR", help="with --device: what the libraries print")
    options = parser.parse_args()
    if options.device:
        return compare_device(options)
    if cv2 is None:
        sys.exit("compare_peers: OpenCV is not installed (python3-opencv)")
    chosen = [row for row in rows()
              if not options.match or any(text in row.name for text in options.match)]
    with tempfile.TemporaryDirectory(prefix="impipe-peers-") as folder:
        side = Side(options.impipe, folder, options.size)
        wrong = compare_operators(side, chosen, [int(n) for n in options.threads.split(",")],
                                  options.rounds)
        if not options.no_folder:
            compare_folder(side, options.files, options.rounds, options.size)
            start_up(options.impipe)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
