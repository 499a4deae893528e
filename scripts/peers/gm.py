"""GraphicsMagick's own benchmark of a command, less that of reading and dropping the picture."""
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image

from peers import Call
from peers.clocks import Time
from peers.table import colour


class Clock:
    """A call gives the command's arguments; gm repeats them by itself."""

    def copies(self, picture_bytes):
        return 1

    def measure(self, call, inputs, interim):
        picture = inputs[0][0]
        times = [self.seconds(picture, call.arguments) - self.seconds(picture, [])
                 for _ in range(3)]
        return Time([max(seconds, 0) * 1e6 for seconds in times], "wall, read off")

    def seconds(self, picture, arguments):
        run = subprocess.run(["gm", "benchmark", "-duration", "0.5", "convert", picture,
                              *arguments, "null:"], capture_output=True, text=True, check=True)
        # Results: 2 threads 40 iter 0.55s user 0.28s total 142.857 iter/s ...
        return 1 / float(re.search(r"([0-9.]+) iter/s", run.stderr + run.stdout)[1])


class Command(Call):
    def __init__(self, arguments, see=None, note="", **more):
        super().__init__(self._result, see, note, **more)
        self.arguments = arguments.split()

    def _result(self, picture, _):
        path = picture + ".result.pnm"
        subprocess.run(["gm", "convert", picture, *self.arguments, path], check=True,
                       capture_output=True)
        return path


class Peer:
    where = "cpu"

    def __init__(self):
        if not shutil.which("gm"):
            raise ImportError("gm is not installed")
        self.clock = Clock()
        self.folder = tempfile.TemporaryDirectory(prefix="impipe-gm-")
        self.count = 0

    def version(self):
        said = subprocess.run(["gm", "-version"], capture_output=True, text=True).stdout
        return " ".join(said.split()[:2]) + ", pictures read from PNM"

    def put(self, array):
        """A file of its simplest format, which the system keeps in memory."""
        self.count += 1
        path = os.path.join(self.folder.name, f"{self.count}.pnm")
        Image.fromarray(array).save(path)
        return path

    def get(self, result):
        return np.asarray(Image.open(result))

    def calls(self, kind):
        if kind not in ("gray-u8", "rgb-u8"):
            return {}
        calls = {
            "median 3x3": Command("-median 1", margin=1),
            "median 5x5": Command("-median 2", margin=2),
            "median 7x7": Command("-median 3", margin=3),
            "gaussian, sigma 1": Command("-gaussian 2x1"),
            "gaussian, sigma 2": Command("-gaussian 4x2"),
            "resize 0.5 bilinear": Command("-filter Triangle -resize 50%"),
            "resize 2 bilinear": Command("-filter Triangle -resize 200%"),
            "resize 2 bicubic": Command("-filter Catrom -resize 200%"),
            "rotate 30 bilinear": Command("-rotate -30", note="loose, by shears"),
            "equalise": Command("-equalize", note="256 levels of bytes"),
        }
        if colour(kind):
            calls["rgb to gray"] = Command("-colorspace GRAY -type Grayscale",
                                           note="other weights")
            calls.pop("equalise")
        return calls
