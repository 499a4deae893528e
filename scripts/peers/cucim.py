"""cuCIM: scikit-image's interface on the card, on CuPy."""
import warnings

import cupy
import cupyx.scipy.ndimage
import cucim
import cucim.skimage.color
import cucim.skimage.exposure
import cucim.skimage.feature
import cucim.skimage.filters
import cucim.skimage.measure
import cucim.skimage.metrics
import cucim.skimage.morphology
import cucim.skimage.restoration
import cucim.skimage.segmentation
import cucim.skimage.transform
from cucim.core.operations.morphology import distance_transform_edt

from peers.clocks import CupyClock
from peers.skimage_rows import SkimageRows


class Peer:
    where = "cuda"

    def __init__(self):
        warnings.simplefilter("ignore")
        cupy.zeros(1).sum().item()  # fails where there is no card
        self.clock = CupyClock()
        self.rows = SkimageRows(cucim.skimage, cupy, cupyx.scipy.ndimage, distance_transform_edt,
                                on_card=True)

    def version(self):
        return f"cuCIM {cucim.__version__} on CuPy {cupy.__version__}"

    def put(self, array):
        return cupy.asarray(array)

    def get(self, result):
        # A table comes to the host by itself: that is part of its time.
        return result if isinstance(result, dict) else cupy.asnumpy(result)

    def calls(self, kind):
        return self.rows.calls(kind)
