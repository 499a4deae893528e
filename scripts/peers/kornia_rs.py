"""kornia-rs on the CPU."""
import kornia_rs
import numpy as np

from peers.clocks import WallClock
from peers.kornia_rows import kornia_calls


class Peer:
    where = "cpu"

    def __init__(self):
        self.clock = WallClock()

    def version(self):
        return f"kornia-rs {kornia_rs.__version__}"

    def put(self, array):
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
        return np.ascontiguousarray(array if array.ndim == 3 else array[:, :, None])

    def get(self, result):
        return np.asarray(result)

    def calls(self, kind):
        return kornia_calls(kind, on_card=False)
