"""kornia-rs on the card: images that lie there, timed by the clock on the wall."""
import kornia_rs
import numpy as np

from peers.clocks import WallClock
from peers.kornia_rows import kornia_calls


class Peer:
    where = "cuda"

    def __init__(self):
        if not kornia_rs.cuda.is_available():
            raise ImportError("kornia-rs finds no card")
        self.stream = kornia_rs.cuda.Stream.default()
        self.clock = WallClock(finish=self.stream.synchronize, one_picture=False)

    def version(self):
        return f"kornia-rs {kornia_rs.__version__}, CUDA"

    def put(self, array):
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
        planes = np.ascontiguousarray(array if array.ndim == 3 else array[:, :, None])
        return kornia_rs.image.Image.from_numpy(planes).to_cuda(self.stream)

    def get(self, result):
        return np.asarray(result.numpy() if hasattr(result, "numpy") else result)

    def calls(self, kind):
        return kornia_calls(kind, on_card=True)
